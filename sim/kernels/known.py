"""Whether this is the numba whose inside is known. Ask before importing `sim.kernels.inner`, which builds on it."""

import numba

IS_KNOWN = numba.__version__.startswith("0.68.")
"""Any other version compiles every kernel by itself: slower to start, with the same results."""
