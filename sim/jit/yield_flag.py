"""Yield flags, which control whether a kernel in a background thread yields the processor to other threads.

The operating system lets a running thread keep its processor for 4 ms, so the window might wait that long. So a
background kernel yields the processor after each small piece of work (yielding takes no time if no other thread is
waiting). But if there are more running threads than processors, the kernel waits 4 ms at each yield. So if the window
needs the result at once, it sets the yield flag, and the kernel stops yielding.

A lower priority for the thread (the scheduling class SCHED_IDLE) is no alternative. With two other programs computing
on the machine, a thread of that class did not finish 15 ms of work within five seconds, and a process without
privileges cannot raise the priority again.
"""

import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.jit.decorators import HAS_INTRINSICS, IS_SIM_INTERPRETED, kernel

YieldFlag = npt.NDArray[np.uint8]


def new_yield_flag() -> YieldFlag:
    """Return a flag with which a kernel yields the processor regularly. Set flag[0] = 1 to stop the yielding."""
    return np.zeros(1, np.uint8)


def never_yield_flag() -> YieldFlag:
    """Return a flag with which a kernel never yields the processor, for a caller that waits for the kernel."""
    return np.ones(1, np.uint8)


def _yield_in_python() -> None:
    """Let the operating system run another thread on this processor, if the system is Linux."""
    if sys.platform == "linux":
        os.sched_yield()


@kernel
def _do_not_yield():
    """Do nothing. Kernels that an unsupported version of numba compiles cannot yield the processor."""


yield_to_other_threads: Any
if HAS_INTRINSICS:
    from sim.jit import intrinsics

    yield_to_other_threads = intrinsics.yield_to_other_threads
else:
    yield_to_other_threads = _yield_in_python if IS_SIM_INTERPRETED else _do_not_yield


@kernel
def yield_after_steps(done, piece, pace):
    """Yield the processor if `done` is a multiple of `piece`, unless the yield flag `pace` is set to 1.

    Call this after each step of the work; `done` is the number of steps done so far.
    """
    if done % piece == 0 and pace[0] == 0:
        yield_to_other_threads()
