"""Giving way: for a kernel that runs beside a window, in a thread like others.

A thread keeps its processor for 4 ms once it has it. Who gives way after each piece of its work keeps nobody waiting
for longer than that piece; where nobody waits it costs nothing. On a machine with more to do than it has processors it
comes back after 4 ms each time. So whoever has to wait for the result says so, and then no way is given any more.

A thread of the lowest rank (SCHED_IDLE) is no way out. Beside two programs that compute, one such was not done after
five seconds with what takes 15 ms, and a thread without privileges cannot be given its rank back.
"""

import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from sim.kernels.jit import HAS_RECORDS, kernel

Pace = npt.NDArray[np.uint8]


def new_pace() -> Pace:
    """The pace of one who gives way; with pace[0] = 1 they do not, from then on."""
    return np.zeros(1, np.uint8)


def hurried() -> Pace:
    """For one who has been waited for from the beginning."""
    return np.ones(1, np.uint8)


@intrinsic
def _compiled_give_way(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if sys.platform == "linux":
            yields = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield")
            builder.call(yields, [])
        return context.get_dummy_value()

    return types.void(), generate


def _give_way() -> None:
    if sys.platform == "linux":
        os.sched_yield()


give_way: Any = _give_way if HAS_RECORDS else _compiled_give_way


@kernel
def give_way_after(done, piece, pace):
    """To be called with a number that grows by one from call to call: each `piece` of them is a piece of work."""
    if done % piece == 0 and pace[0] == 0:
        give_way()
