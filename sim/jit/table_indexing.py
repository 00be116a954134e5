"""Indexing of a class of tables in kernels: `table[s]` and `table[s] = value` for a named tuple that stores an array.

This module depends on numba's internals, so it is imported only with versions of numba that it supports
(numba_version.py).
"""

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from sim.jit.intrinsics import prefetch_record

_OPTIONS: Any = {"_nrt": False, "boundscheck": None}  # compile options, the same as for all kernels in decorators.py


def compile_table_indexing(
    table_class: type, index_in_records: Callable[..., Any], layout_of_itemsize: Callable[[int], int]
) -> None:
    """Let kernels index tables of a class with a field `records`, an array that contains all entries.

    Args:
        table_class: Named tuple class of the tables.
        index_in_records: Function that returns the index in `records` of entry s, called as (table, s, layout).
        layout_of_itemsize: Function that returns the argument `layout`, a constant, for the size of an entry in bytes.
    """
    index_of = register_jitable(**_OPTIONS)(index_in_records)

    def layout_of_type(table: Any) -> int | None:
        return _layout_of_type(table, table_class, layout_of_itemsize)

    @overload(operator.getitem, jit_options=_OPTIONS, strict=False)
    def _getitem(table: Any, s: Any) -> Any:
        layout = layout_of_type(table)
        return None if layout is None else lambda table, s: table.records[index_of(table, s, layout)]

    @overload(operator.setitem, jit_options=_OPTIONS, strict=False)
    def _setitem(table: Any, s: Any, value: Any) -> Any:
        if (layout := layout_of_type(table)) is None:
            return None

        def write(table: Any, s: Any, value: Any) -> None:
            table.records[index_of(table, s, layout)] = value

        return write


def compile_table_prefetching(
    prefetch_entry: Callable[..., None],
    table_class: type,
    index_in_records: Callable[..., Any],
    layout_of_itemsize: Callable[[int], int],
) -> None:
    """Let kernels call `prefetch_entry(table, s)`, which starts loading entry s into the processor's cache.

    The table is an array or a table of the class `table_class`; see `compile_table_indexing` for the other arguments.
    """
    index_of = register_jitable(**_OPTIONS)(index_in_records)

    @overload(prefetch_entry, jit_options=_OPTIONS, strict=False)
    def _prefetch(table: Any, s: Any) -> Any:
        layout = _layout_of_type(table, table_class, layout_of_itemsize)
        if layout is None:
            return lambda table, s: prefetch_record(table, np.uint64(s))
        return lambda table, s: prefetch_record(table.records, index_of(table, s, layout))


def _layout_of_type(table: Any, table_class: type, layout_of_itemsize: Callable[[int], int]) -> int | None:
    """Return the constant `layout` for tables of this numba type; None if they are not of the class."""
    if not isinstance(table, types.BaseNamedTuple) or cast(Any, table).instance_class is not table_class:
        return None
    dtype: Any = cast(Any, table).types[0].dtype
    return layout_of_itemsize(dtype.size if isinstance(dtype, types.Record) else dtype.bitwidth // 8)
