"""Cell records of a Search for algorithms that have their own open list, or none: RIBS, D* Lite, IDA*.

Such an algorithm keeps g, the parent and whether a cell is open or closed in the same records as every best-first
search, so that all code that draws, counts or inspects a Search works for it.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.openlist import OPEN_LIST_ENTRY
from sim.kernels.search import Search, new_search

OPPOSITE_DIRECTION = np.array([2, 3, 0, 1, 6, 7, 4, 5], np.int64)
"""REVERSED[d] is the direction opposite to d, in the order N, E, S, W, NE, SE, SW, NW."""


def new_search_without_heap(cells: int, is_watched: bool, tile_width: int = 0) -> Search:
    """Return a Search whose heap has no room, because only its cell records are used.

    `tile_width` is the width of the map if the records are laid out in tiles (tiled.py), 0 for row order.
    """
    search = new_search(cells, counts_heat=is_watched, notes_order=is_watched, tile_width=tile_width)
    return search._replace(heap=lazily_allocated_zeros(1, OPEN_LIST_ENTRY).view(search.heap.__class__))


@kernel
def count_expansion(search, s):
    """Count one expansion of cell s. If the agent is displayed, also append s to `order`, the list of expanded cells.

    Algorithms of this kind expand a cell many times, so the list may fill up; it is then overwritten from its
    beginning. A reader detects missing entries by the count of expansions. Writes: search.control, heat, order.
    """
    control = search.control[0]
    control.expansions += 1
    if search.heat.size:
        search.heat[s] += 1
    if search.order.size:
        if control.noted >= search.order.size:
            control.noted = 0
        search.order[control.noted] = s
        control.noted += 1
