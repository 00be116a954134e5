"""Numba kernels that paint cells and lines into pixels. sim/jit/__init__.py sets their cache folder."""

import sim.jit as _cache_is_chosen  # noqa: F401
