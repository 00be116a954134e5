"""Yield flags: let a kernel in a background thread of the window yield the processor between pieces of its work.

A running thread keeps its processor for 4 ms. A kernel that yields after each piece delays other threads by at most one
piece; when no other thread is ready to run, yielding costs nothing. On a machine with more threads than processors, a
kernel that yields continues 4 ms later each time. So a caller that has to wait for the result sets the flag, and the
kernel stops yielding.

The lowest scheduling class (SCHED_IDLE) is no alternative. With two computing programs on the machine, a thread of that
class had not finished 15 ms of work after five seconds, and without privileges its class cannot be raised again.
"""

import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from sim.kernels.jit import IS_SIM_INTERPRETED, kernel

YieldFlag = npt.NDArray[np.uint8]


def new_yield_flag() -> YieldFlag:
    """Return a flag that makes a kernel yield, until the caller sets pace[0] = 1."""
    return np.zeros(1, np.uint8)


def never_yield_flag() -> YieldFlag:
    """Return a flag that makes a kernel never yield, for a caller that waits for its result from the beginning."""
    return np.ones(1, np.uint8)


@intrinsic
def _compiled_yield(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if sys.platform == "linux":
            yields = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield")
            builder.call(yields, [])
        return context.get_dummy_value()

    return types.void(), generate


def _interpreted_yield() -> None:
    if sys.platform == "linux":
        os.sched_yield()


yield_processor: Any = _interpreted_yield if IS_SIM_INTERPRETED else _compiled_yield


@kernel
def yield_after_steps(done, piece, pace):
    """Yield the processor after every `piece` steps of a kernel's work, unless pace[0] is 1.

    The kernel calls this after each step; `done` is the number of steps done, which grows by one from call to call.
    """
    if done % piece == 0 and pace[0] == 0:
        yield_processor()
