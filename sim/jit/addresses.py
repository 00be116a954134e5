"""Access to memory by address, for kernels that process many arrays of different types in one call.

A kernel is compiled for the types of its arguments, so it cannot take a list of arrays of different types. But it can
take a list of their addresses. The owner of that list must keep the arrays alive.

- `memory_words_at(address, count)`: return an array of `count` uint64 words that is a view of the memory at `address`.
- `agent_arrays_at(prototype, table, row)`: return the arrays of one agent, see intrinsics.py.

Only kernels can call these functions.
"""

import ctypes
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from sim.jit.decorators import HAS_INTRINSICS, IS_SIM_INTERPRETED, kernel


def _memory_words_at_in_python(address: int, count: int) -> Any:
    words: Any = (ctypes.c_uint64 * int(count)).from_address(int(address))
    return np.frombuffer(words, np.uint64)


@intrinsic
def _pointer_to(typing: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(numba.types.voidptr))

    return numba.types.voidptr(numba.types.intp), generate


@kernel
def _memory_words_at_with_plain_numba(address, count):
    """Return `count` words at `address`, with documented functions of numba that need its reference counting."""
    return numba.carray(_pointer_to(address), (count,), np.uint64)


def _agent_arrays_at_in_python(prototype: Any, table: Any, row: int) -> Any:
    raise NotImplementedError("batches of agents need compiled kernels and a supported version of numba")


memory_words_at: Any
agent_arrays_at: Any
if HAS_INTRINSICS:
    from sim.jit import intrinsics

    memory_words_at, agent_arrays_at = intrinsics.memory_words_at, intrinsics.agent_arrays_at
else:
    memory_words_at = _memory_words_at_in_python if IS_SIM_INTERPRETED else _memory_words_at_with_plain_numba
    agent_arrays_at = _agent_arrays_at_in_python
