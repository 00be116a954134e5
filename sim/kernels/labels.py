"""A Search as the notebook of an algorithm with an open list of its own, or none: RIBS, D* Lite.

They keep g, the parent and whether a cell is open or closed in the same records as every best-first search, so that
whatever draws, counts or inspects a Search can do so with theirs.
"""

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.memory import zeros
from sim.kernels.openlist import ENTRY
from sim.kernels.search import Search, new_search

REVERSED = np.array([2, 3, 0, 1, 6, 7, 4, 5], np.int64)
"""REVERSED[d] is the direction back, for the order N, E, S, W, NE, SE, SW, NW."""


def new_labels(cells: int, is_watched: bool, tile_width: int = 0) -> Search:
    """The records of a search without its heap. `tile_width`: see tiled.py."""
    search = new_search(cells, counts_heat=is_watched, notes_order=is_watched, tile_width=tile_width)
    return search._replace(heap=zeros(1, ENTRY).view(search.heap.__class__))


@kernel
def count_expansion(search, s):
    """Count one expansion of cell s, and note it if somebody looks.

    These algorithms expand a cell many times, so the notes may fill up. Then they begin again; the reader sees from
    the count of expansions that some are missing. Writes: search.control, heat, order.
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
