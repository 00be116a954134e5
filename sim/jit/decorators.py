"""Decorators that compile a function with numba, with the options that all kernels share.

`nogil` releases Python's global lock, so that the window can draw while a search runs in another thread. `fastmath` is
off: it assumes that no number is infinite, but an infinite cost means "no path known yet", and it reorders sums, so
that equal costs could become unequal. `parallel` is off: tie-breaking would depend on timing.

`_nrt=False` switches off numba's reference counting. With it, a kernel that passes a named tuple to another kernel
counts every array of the tuple by an atomic operation, which took three quarters of all time (TB-WA*, k = 1, referee
included: 0.4 million ticks a second with counting, 1.7 million without). Kernels need no counting, because they work on
arrays that their caller owns. The price is that a kernel cannot allocate arrays: the compiler rejects it with "NRT
required but not enabled". This includes assigning one slice to another. Write a loop, or pass the array in.

`no_cfunc_wrapper` omits the wrapper for calls from C. C code never calls a kernel, and compiling the wrapper takes a
tenth of the compile time.
"""

import itertools
import os
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np

from sim.jit import CACHE_FOLDER
from sim.jit.numba_version import IS_NUMBA_SUPPORTED
from sim.jit.sources import all_sources_stamp

if IS_NUMBA_SUPPORTED:  # with an unsupported version of numba, these imports could fail
    from sim.jit.cache import attach_cache
    from sim.jit.inner import InterpretedKernel, Kernel

JIT_ON = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

ONLY_DRAWING_VARIABLE = "BACKMOVE_DRAWS_ONLY"
COMPILES_ONLY_DRAWING = JIT_ON and IS_NUMBA_SUPPORTED and bool(os.environ.get(ONLY_DRAWING_VARIABLE))
"""True in a process that compiles only the kernels that draw.

Such a process runs a tiny world to have something to draw. Another process compiles the kernels of that world at the
same time, so here they run as Python code (see ui/warmup.py)."""

IS_SIM_INTERPRETED = not JIT_ON or COMPILES_ONLY_DRAWING
"""True if kernels of the simulation run as Python code, which reads fields of record arrays by name."""

HAS_INTRINSICS = IS_NUMBA_SUPPORTED and not IS_SIM_INTERPRETED
"""True if kernels of the simulation can use the operations of intrinsics.py and table_indexing.py.

Otherwise there are no batches of agents, and no tables in tiles."""

_NUMBA_OPTIONS = {"nopython": True, "nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "boundscheck": None}


KERNELS: list[Any] = []
"""All kernels that may be compiled, in the order of their definitions; empty with an unsupported version of numba."""


def kernel(function: Callable[..., Any]) -> Any:
    """Make the function a kernel: at its first call it is loaded from the cache on disk, or else compiled."""
    return _create_kernel(function, _NUMBA_OPTIONS)


def inlined_kernel(function: Callable[..., Any]) -> Any:
    """Make the function a kernel whose code is inlined into every kernel that calls it.

    Use this for a kernel that runs in every tick, that takes all arrays of an agent as arguments, and that only one or
    two kernels call. A call passes each array as seven machine words (pointer, sizes, strides, ...): in TB-WA*, passing
    two hundred such words from function to function took a tenth of the time of a tick.
    """
    return _create_kernel(function, {**_NUMBA_OPTIONS, "forceinline": True})


def _create_kernel(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a kernel made of the function; if numba is switched off, return the function itself."""
    if not JIT_ON:
        return function
    if COMPILES_ONLY_DRAWING and function.__module__.startswith("sim."):
        return InterpretedKernel(function, options)
    if not IS_NUMBA_SUPPORTED:
        return _compile_with_plain_numba(function)
    kernel = attach_cache(Kernel(function, options))
    KERNELS.append(kernel)
    return kernel


def _compile_with_plain_numba(function: Callable[..., Any]) -> Any:
    """Return a kernel that an unsupported version of numba compiles and stores in its own cache on disk.

    That cache does not notice edits of the kernels that a kernel calls. So it gets a new folder after each edit.
    """
    cast(Any, numba.config).CACHE_DIR = str(CACHE_FOLDER / f"plain-{all_sources_stamp()}")
    return numba.jit(nopython=True, nogil=True, cache=True)(function)


_CALLS_BEFORE_RESOLVING = 16
"""Minimum number of calls by `without_type_checks` before it looks up the machine code, which takes up to a
millisecond. The actual number is up to twice as large and differs from caller to caller. So callers that begin together
look up their code in different ticks."""

_CALLER_NUMBERS = itertools.count()  # numbers the callables made by without_type_checks(): 0, 1, 2, ...


def without_type_checks(kernel: Any) -> Callable[..., Any]:
    """Return a callable that runs a kernel for arguments that have the same types in every call.

    In each call of a kernel, numba examines the types of all arguments. For the arrays of an agent this takes 3 to
    6 us, although the agent's tick may take only 1 us. The callable looks up the machine code for the types of its
    arguments after a few calls, and from then on runs that code directly. Types are no longer checked then, so the
    owner must call this function again whenever a type may change.
    """
    if _CALLS_BEFORE_RESOLVING and IS_NUMBA_SUPPORTED and type(kernel) is Kernel:
        return _ResolvingCaller(kernel)
    return cast(Callable[..., Any], kernel)


class _ResolvingCaller:
    """Caller of a kernel that looks up the machine code for its arguments after a few calls."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._machine_code_or_kernel = kernel
        self._calls_left = _CALLS_BEFORE_RESOLVING + next(_CALLER_NUMBERS) % _CALLS_BEFORE_RESOLVING

    def __call__(self, *arguments: Any) -> Any:
        if self._calls_left:
            self._calls_left -= 1
            if not self._calls_left:
                self._machine_code_or_kernel = _machine_code_for(self.kernel, arguments)
        return self._machine_code_or_kernel(*arguments)


_MACHINE_CODE: dict[Any, Any] = {}  # (kernel, types of its arguments) -> callable that runs the machine code


def _machine_code_for(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """Return a callable that runs a kernel's machine code for arguments of exactly these types, without checking them.

    Finding the code takes half a millisecond. The result is cached, so all agents with the same types share it.
    """
    key = kernel, *map(_numba_type_key, arguments)
    if key not in _MACHINE_CODE:
        types = tuple(kernel.typeof_pyval(argument) for argument in arguments)
        found = kernel.overloads.get(types)  # None only if the kernel was never called with these types
        _MACHINE_CODE[key] = found.entry_point if found else kernel.compile(types)
    return _MACHINE_CODE[key]


def _numba_type_key(argument: Any) -> Any:
    """Return a hashable key that is equal for two arguments if numba treats them as the same type."""
    if isinstance(argument, np.ndarray):
        flags, dtype = argument.flags, argument.dtype
        order = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
        return dtype, dtype.isalignedstruct, argument.ndim, order
    if isinstance(argument, tuple):
        return type(argument), *map(_numba_type_key, argument)
    return type(argument)


def as_plain_arrays(memory: Any) -> Any:
    """Convert the record arrays in `memory`, an array or a (nested) tuple of arrays, to plain arrays for kernel calls.

    numba recognises the type of a plain array at once, but analyses a record array (whose fields are attributes) in
    every call: a tick of TB-WA* spent twice as long on this analysis as on the search itself. If kernels run as Python
    code, they need the attributes, so `memory` is returned unchanged.
    """
    if IS_SIM_INTERPRETED:
        return memory
    if isinstance(memory, np.ndarray):
        return memory.view(np.ndarray)
    if isinstance(memory, tuple):
        parts = [as_plain_arrays(part) for part in memory]
        return type(memory)(*parts) if hasattr(memory, "_fields") else tuple(parts)
    return memory
