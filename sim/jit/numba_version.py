"""Check of numba's version, to be made before importing a module that depends on numba's internals.

These modules are cache.py, inner.py, intrinsics.py and table_indexing.py, all in this package. They are imported only
under `if IS_NUMBA_SUPPORTED`. All other code uses only the parts of numba that its documentation describes.
"""

import numba

NUMBA_VERSION: str = numba.__version__

IS_NUMBA_SUPPORTED = NUMBA_VERSION.startswith("0.68.")
"""True if sim/jit supports the internals of this version of numba.

With any other version, `numba.jit` compiles every kernel. The kernels compute the same results, but compile and run
more slowly, and agents are not advanced in batches (docs/optimisations.md)."""
