"""The one decorator for kernels.

`nogil` lets the window draw while a search runs in another thread. No `fastmath`: it assumes there
is no infinity, which is our "no cost known yet", and reorders sums, which would change ties. No
`parallel`: ties would depend on timing.

`_nrt=False` leaves out numba's run-time for memory. With it, each time a kernel hands a named tuple to another,
every array in it is counted by an atomic operation: three quarters of all time (TB-WA*, k = 1, referee included:
0.4 against 1.7 million ticks a second). Kernels work on arrays of their caller, so there is nothing to count. The
price is that they cannot make any: one that does, also by assigning one slice to another, does not compile ("NRT
required but not enabled"). Write a loop, or hand the array in.

No wrapper for C is made: nobody calls kernels from C, and it takes a tenth of the time that compiling does.
"""

import os
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np

from sim.kernels.cache import with_cache
from sim.kernels.inner import IS_KNOWN, Kernel

JIT_ON = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

_OPTIONS = {"nopython": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "boundscheck": None}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, or take what an earlier start has compiled."""
    if not JIT_ON:
        return function
    return with_cache(Kernel(function, _OPTIONS) if IS_KNOWN else cast(Any, numba.njit)(**_OPTIONS)(function))


def bare(memory: Any) -> Any:
    """The same arrays, alone or in (named) tuples, as a call of a kernel takes them fastest.

    numba knows the type of a plain array at a glance. A record array, which Python code can ask for its fields by
    name, it takes to pieces in every call: a tick of TB-WA* waited for that twice as long as for the search itself.
    Without the compiler, kernels are Python code and need those names.
    """
    if not JIT_ON:
        return memory
    if isinstance(memory, np.ndarray):
        return memory.view(np.ndarray)
    if isinstance(memory, tuple):
        parts = [bare(part) for part in memory]
        return type(memory)(*parts) if hasattr(memory, "_fields") else tuple(parts)
    return memory
