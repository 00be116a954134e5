"""Check of numba's version, to be made before importing `sim.jit.inner`, which depends on numba's internals."""

import numba

IS_NUMBA_SUPPORTED = numba.__version__.startswith("0.68.")
"""True if inner.py supports this version of numba. With any other version, numba compiles every kernel separately:
compiling takes longer, but the kernels compute the same results."""
