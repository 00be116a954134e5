"""Operations that kernels need and numba lacks, as generators of LLVM code (intrinsics).

This module depends on numba's internals, so it is imported only with versions of numba that it supports
(numba_version.py). Only compiled kernels can call these functions.
"""

import sys
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import extending
from numba.core import cgutils, types
from numba.np import arrayobj

_WORDS = types.Array(types.uint64, 1, "C")


def _intrinsic(generator: Callable[..., Any]) -> Any:
    """Return the operation whose code the function generates; numba's own type of it does not fit calls in kernels."""
    return extending.intrinsic(generator)


@_intrinsic
def memory_words_at(typing: Any, address: Any, count: Any) -> Any:
    """Return an array of `count` uint64 words that is a view of the memory at `address`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, count = args
        array = context.make_array(_WORDS)(context, builder)
        data = builder.inttoptr(address, array.data.type)
        step = context.get_constant(types.intp, 8)
        shape, strides = cgutils.pack_array(builder, [count]), cgutils.pack_array(builder, [step])
        arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=step, meminfo=None)
        return array._getvalue()

    return _WORDS(types.intp, types.intp), generate


@_intrinsic
def agent_arrays_at(typing: Any, prototype: Any, table: Any, row: Any) -> Any:
    """Return the arrays whose addresses are in row `row` of `table`, as nested tuples of the types of `prototype`.

    The order of the addresses in a row is the order of the arrays in a depth-first traversal of `prototype`.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        addresses = context.make_array(signature.args[1])(context, builder, args[1])
        columns = cgutils.unpack_tuple(builder, addresses.shape, 2)[1]
        first = builder.mul(args[2], columns)
        array_count = 0

        def moved(kind: Any, value: Any) -> Any:
            nonlocal array_count
            if isinstance(kind, types.BaseTuple):
                parts = [moved(part, builder.extract_value(value, i)) for i, part in enumerate(cast(Any, kind).types)]
                return context.make_tuple(builder, kind, parts)
            if not isinstance(kind, types.Array):
                return value
            address_index = builder.add(first, context.get_constant(types.intp, array_count))
            array_count += 1
            array = context.make_array(kind)(context, builder, value)
            array.data = builder.inttoptr(builder.load(builder.gep(addresses.data, [address_index])), array.data.type)
            return array._getvalue()

        return moved(signature.args[0], args[0])

    return prototype(prototype, table, types.intp), generate


# Arguments of LLVM's prefetch instruction: read access, keep in all caches, data cache (not instruction cache).
_READ_ACCESS, _HIGHEST_LOCALITY, _DATA_CACHE = 0, 3, 1


@_intrinsic
def prefetch_record(typing: Any, records: Any, index: Any) -> Any:
    """Start loading records[index] into the processor's cache, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        byte = builder.bitcast(builder.gep(array.data, [args[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte.type], kind)
        builder.call(fetch, [byte, number(_READ_ACCESS), number(_HIGHEST_LOCALITY), number(_DATA_CACHE)])
        return context.get_dummy_value()

    return types.void(records, types.uint64), generate


@_intrinsic
def yield_to_other_threads(typing: Any) -> Any:
    """Let the operating system run another thread on this processor; do nothing on systems other than Linux."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if sys.platform == "linux":
            yields = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield")
            builder.call(yields, [])
        return context.get_dummy_value()

    return types.void(), generate
