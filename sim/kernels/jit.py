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

import itertools
import os
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np

from sim.kernels.cache import with_cache
from sim.kernels.known import IS_KNOWN

if IS_KNOWN:  # importing it fails where the inside of numba is another
    from sim.kernels.inner import Interpreted, Kernel

JIT_ON = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

DRAWS_ONLY_VARIABLE = "BACKMOVE_DRAWS_ONLY"
DRAWS_ONLY = JIT_ON and IS_KNOWN and bool(os.environ.get(DRAWS_ONLY_VARIABLE))
"""Whether this process compiles only what draws. It runs a tiny world to have something to draw; the kernels of that
world are compiled by another process at the same time, so here they are Python code (see ui/warmup.py)."""

HAS_RECORDS = not JIT_ON or DRAWS_ONLY
"""Whether kernels of the simulation are Python code, which asks record arrays for their fields by name."""

_OPTIONS = {"nopython": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "boundscheck": None}


KERNELS: list[Any] = []
"""All that may be compiled, in the order in which they are defined."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, or take what an earlier start has compiled."""
    return _compiled(function, _OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel whose code stands where another one calls it: for what is called in every tick, from a place or two,
    with all the memory of an agent.

    Seven words say where an array lies and how large it is. TB-WA* handed two hundred of them from function to
    function, a tenth of what its tick costs.
    """
    return _compiled(function, {**_OPTIONS, "forceinline": True})


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    if not JIT_ON:
        return function
    if DRAWS_ONLY and function.__module__.startswith("sim."):
        return Interpreted(function, options)
    made = with_cache(Kernel(function, options) if IS_KNOWN else cast(Any, numba.jit)(**options)(function))
    KERNELS.append(made)
    return made


_FEW = 16
"""Calls after which it pays to find out what numba would find out in each. It takes up to a millisecond, so those who
begin together do it in different ticks."""

_BEGUN = itertools.count()


class Frequent:
    """A kernel that is called in every tick with arguments of the same types.

    numba looks at the types of all arguments in each call, array by array: 3 to 6 us for the memory of an agent, whose
    tick may be 1 us of work. Here that is done once, after a few calls, and from then on the machine code is called.
    Nobody looks any more then: whoever holds one of these makes another as soon as a type may be another.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._code = kernel
        self._left = _FEW + next(_BEGUN) % _FEW if _FEW and IS_KNOWN and type(kernel) is Kernel else 0

    def __call__(self, *arguments: Any) -> Any:
        if self._left:
            self._left -= 1
            if not self._left:
                self._code = code_of(self.kernel, *arguments)
        return self._code(*arguments)


_CODES: dict[Any, Any] = {}


def code_of(kernel: Any, *arguments: Any) -> Any:
    """The machine code of a kernel for arguments of just these types, as Python can call it.

    What numba says of their types takes half a millisecond; that is asked for once, and not for every agent.
    """
    kind = kernel, *map(_kind_of, arguments)
    if kind not in _CODES:
        types = tuple(kernel.typeof_pyval(argument) for argument in arguments)
        found = kernel.overloads.get(types)  # mostly there: it was called with these
        _CODES[kind] = found.entry_point if found else kernel.compile(types)
    return _CODES[kind]


def _kind_of(argument: Any) -> Any:
    """What numba's type of an argument hangs on."""
    if isinstance(argument, np.ndarray):
        flags, dtype = argument.flags, argument.dtype
        order = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
        return dtype, dtype.isalignedstruct, argument.ndim, order
    if isinstance(argument, tuple):
        return type(argument), *map(_kind_of, argument)
    return type(argument)


def bare(memory: Any) -> Any:
    """The same arrays, alone or in (named) tuples, as a call of a kernel takes them fastest.

    numba knows the type of a plain array at a glance. A record array, which Python code can ask for its fields by
    name, it takes to pieces in every call: a tick of TB-WA* waited for that twice as long as for the search itself.
    Without the compiler, kernels are Python code and need those names.
    """
    if HAS_RECORDS:
        return memory
    if isinstance(memory, np.ndarray):
        return memory.view(np.ndarray)
    if isinstance(memory, tuple):
        parts = [bare(part) for part in memory]
        return type(memory)(*parts) if hasattr(memory, "_fields") else tuple(parts)
    return memory
