"""Decorators that compile a function with numba, with the options that all kernels share.

`nogil` lets the window draw while a search runs in another thread. `fastmath` is off: it assumes there
is no infinity, which is our "no cost known yet", and reorders sums, which would change ties. `parallel`
is off: ties would depend on timing.

`_nrt=False` leaves out numba's runtime for memory (reference counting). With the runtime, each time a kernel passes a
named tuple to another kernel, every array in it is reference-counted by an atomic operation, which took three quarters
of all time (TB-WA*, k = 1, referee included: 0.4 million ticks a second with the runtime, 1.7 million without). Kernels
work on arrays of their caller, so no counting is needed. The price is that kernels cannot allocate arrays: a kernel
that does, also by assigning one slice to another, fails to compile ("NRT required but not enabled"). Write a loop, or
pass the array in.

`no_cfunc_wrapper` leaves out the wrapper for calls from C: C never calls a kernel, and the wrapper takes a tenth of the
compile time.
"""

import itertools
import os
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np

from sim.kernels.cache import attach_cache
from sim.kernels.numba_version import IS_NUMBA_SUPPORTED

if IS_NUMBA_SUPPORTED:  # for another version of numba, whose internals differ, the import would fail
    from sim.kernels.inner import InterpretedKernel, Kernel

JIT_ON = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

ONLY_DRAWING_VARIABLE = "BACKMOVE_DRAWS_ONLY"
COMPILES_ONLY_DRAWING = JIT_ON and IS_NUMBA_SUPPORTED and bool(os.environ.get(ONLY_DRAWING_VARIABLE))
"""True in a process that compiles only the kernels that draw.

Such a process runs a tiny world to have something to draw. Another process compiles the kernels of that world at the
same time, so here they run as Python code (see ui/warmup.py)."""

IS_SIM_INTERPRETED = not JIT_ON or COMPILES_ONLY_DRAWING
"""True if kernels of the simulation run as Python code, which reads fields of record arrays by name."""

_OPTIONS = {"nopython": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "boundscheck": None}


KERNELS: list[Any] = []
"""All kernels that may be compiled, in the order of their definitions."""


def kernel(function: Callable[..., Any]) -> Any:
    """Return the function as a kernel, compiled at its first call or loaded from the cache of an earlier start."""
    return _make_kernel(function, _OPTIONS)


def inlined_kernel(function: Callable[..., Any]) -> Any:
    """Return the function as a kernel whose code is inlined into every kernel that calls it.

    Use it for kernels that run in every tick, are called from one or two kernels and take all arrays of an agent as
    arguments. A call passes an array as seven machine words (pointer, sizes, strides, ...): TB-WA* passed two hundred
    such words from function to function, which took a tenth of the time of its tick.
    """
    return _make_kernel(function, {**_OPTIONS, "forceinline": True})


def _make_kernel(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the kernel of a function; without the compiler, the function itself."""
    if not JIT_ON:
        return function
    if COMPILES_ONLY_DRAWING and function.__module__.startswith("sim."):
        return InterpretedKernel(function, options)
    made = attach_cache(Kernel(function, options) if IS_NUMBA_SUPPORTED else cast(Any, numba.jit)(**options)(function))
    KERNELS.append(made)
    return made


_CALLS_BEFORE_RESOLVING = 16
"""Number of calls of a `CachedDispatch` through numba's dispatcher before it looks up its machine code. The look-up
takes up to a millisecond. So up to `_CALLS_BEFORE_RESOLVING` - 1 calls are added, by the number of the instance:
instances that are made and called together look up their code in different ticks."""

_INSTANCE_NUMBERS = itertools.count()  # counter that numbers the instances of CachedDispatch


class CachedDispatch:
    """Callable that avoids numba's type dispatch, for a kernel that gets arguments of the same types in every tick.

    In each call, numba examines the types of all arguments, array by array: 3 to 6 us for the arrays of an agent, whose
    tick may take 1 us. After a few calls, a `CachedDispatch` looks up the machine code for these types once, and calls
    it directly from then on. Types are no longer checked then: the owner must make a new `CachedDispatch` whenever a
    type may change.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._callable = kernel
        self._calls_left = (
            _CALLS_BEFORE_RESOLVING + next(_INSTANCE_NUMBERS) % _CALLS_BEFORE_RESOLVING
            if _CALLS_BEFORE_RESOLVING and IS_NUMBA_SUPPORTED and type(kernel) is Kernel
            else 0
        )

    def __call__(self, *arguments: Any) -> Any:
        if self._calls_left:
            self._calls_left -= 1
            if not self._calls_left:
                self._callable = resolve_overload(self.kernel, *arguments)
        return self._callable(*arguments)


_RESOLVED_CODE: dict[Any, Any] = {}  # (kernel, types of its arguments) -> machine code, as a Python callable


def resolve_overload(kernel: Any, *arguments: Any) -> Any:
    """Return the machine code of a kernel for arguments of exactly these types, as a Python callable.

    Determining numba's types of the arguments takes half a millisecond; the result is cached and shared by all agents.
    """
    kind = kernel, *map(_type_key, arguments)
    if kind not in _RESOLVED_CODE:
        types = tuple(kernel.typeof_pyval(argument) for argument in arguments)
        found = kernel.overloads.get(types)  # usually exists, because the kernel was called with these types
        _RESOLVED_CODE[kind] = found.entry_point if found else kernel.compile(types)
    return _RESOLVED_CODE[kind]


def _type_key(argument: Any) -> Any:
    """Return everything that determines numba's type of an argument, as a hashable key."""
    if isinstance(argument, np.ndarray):
        flags, dtype = argument.flags, argument.dtype
        order = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
        return dtype, dtype.isalignedstruct, argument.ndim, order
    if isinstance(argument, tuple):
        return type(argument), *map(_type_key, argument)
    return type(argument)


def as_plain_arrays(memory: Any) -> Any:
    """Return an array, or all arrays of a (named) tuple, as plain arrays, which a kernel call unpacks fastest.

    numba recognises the type of a plain array immediately. A record array, whose fields Python code can read by name,
    is analysed in every call: a tick of TB-WA* spent twice as long on this analysis as on the search itself. Without
    the compiler, kernels are Python code and need the field names, so `memory` is returned unchanged.
    """
    if IS_SIM_INTERPRETED:
        return memory
    if isinstance(memory, np.ndarray):
        return memory.view(np.ndarray)
    if isinstance(memory, tuple):
        parts = [as_plain_arrays(part) for part in memory]
        return type(memory)(*parts) if hasattr(memory, "_fields") else tuple(parts)
    return memory
