"""Access to memory by address, for kernels that process many arrays of different types in one call.

A kernel is compiled for the types of its arguments, so it cannot take a list of arrays of different types. But it can
take a list of their addresses. The owner of that list must keep the arrays alive.
"""

import ctypes
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from sim.jit.decorators import IS_SIM_INTERPRETED

_WORDS = types.Array(types.uint64, 1, "C")


@intrinsic
def _compiled_memory_words_at(typing: Any, address: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, count = args
        array = context.make_array(_WORDS)(context, builder)
        data = builder.inttoptr(address, array.data.type)
        step = context.get_constant(types.intp, 8)
        shape, strides = cgutils.pack_array(builder, [count]), cgutils.pack_array(builder, [step])
        arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=step, meminfo=None)
        return array._getvalue()

    return _WORDS(types.intp, types.intp), generate


def _interpreted_memory_words_at(address: int, count: int) -> Any:
    words: Any = (ctypes.c_uint64 * int(count)).from_address(int(address))
    return np.frombuffer(words, np.uint64)


memory_words_at: Any = _interpreted_memory_words_at if IS_SIM_INTERPRETED else _compiled_memory_words_at
"""`memory_words_at(address, count)`: return an array of `count` uint64 words that is a view of the memory at `address`.
Only kernels can call this function."""
