"""Numba code that paints cells and lines into pixels; sim/kernels/__init__.py chooses its cache folder too."""

import sim.kernels as _cache_is_chosen  # noqa: F401
