"""Memory by its address: for kernels that go through arrays of many kinds in one call.

A kernel is compiled for the types of its arguments, so a hundred arrays of different kinds cannot be handed to one;
a table of addresses can. Whoever makes such a table keeps the arrays alive.
"""

import ctypes
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from sim.kernels.jit import HAS_RECORDS

_WORDS = types.Array(types.uint64, 1, "C")


@intrinsic
def _compiled_words_at(typing: Any, address: Any, count: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, count = args
        array = context.make_array(_WORDS)(context, builder)
        data = builder.inttoptr(address, array.data.type)
        step = context.get_constant(types.intp, 8)
        shape, strides = cgutils.pack_array(builder, [count]), cgutils.pack_array(builder, [step])
        arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=step, meminfo=None)
        return array._getvalue()

    return _WORDS(types.intp, types.intp), generate


def _words_at(address: int, count: int) -> Any:
    words: Any = (ctypes.c_uint64 * int(count)).from_address(int(address))
    return np.frombuffer(words, np.uint64)


words_at: Any = _words_at if HAS_RECORDS else _compiled_words_at
"""An array of `count` words of 8 bytes that lies at `address`, for kernels only."""
