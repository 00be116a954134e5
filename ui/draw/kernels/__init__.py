"""The numba code that paints cells and lines into pixels; sim/kernels/__init__.py keeps its compiled form too."""

import sim.kernels as _cache_is_chosen  # noqa: F401
