"""Numba kernels that paint cells and lines into pixels. sim/kernels/__init__.py sets their cache folder."""

import sim.kernels as _cache_is_chosen  # noqa: F401
