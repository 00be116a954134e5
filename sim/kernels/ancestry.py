"""Ancestors of a cell in a search tree, found in O(log n) steps instead of by following all parents.

In each tick an agent needs to know whether the path to the best open cell leads through its own cell, and to which
neighbour. On a large map, tracing the whole path would spend most of the time on cells far from the agent. So every
cell on such a path gets a link, once. A link has the depth of the cell in the tree, and one ancestor to jump to, chosen
so that any ancestor can be reached by a few jumps (Myers, "An applicative random-access stack", 1983).

Links require that closed cells keep their parents; a search that opens closed cells again must not use them. A flag in
the node of a cell shows whether the cell has its link. The node is read anyway, so links need no stamp and are half as
large, and a new search, which invalidates all nodes, invalidates all links too.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.search import Search, parent_of, stamped_table_of_nodes
from sim.kernels.stale import StampedTable
from sim.kernels.tiled import Table, new_table

LINK = np.dtype(
    [
        ("depth", "i4"),  # number of moves from the root
        ("jump", "i4"),  # cell of an ancestor to jump to, usually above the parent; the root jumps to itself
    ],
    align=True,
)


def new_ancestry_links(cells: int, is_reused: bool = False, tile_width: int = 0) -> Table:
    """Return an empty table of links, one for each cell. `tile_width`: width of the map for tiles, 0 for row order."""
    links: Table = new_table("links", cells, LINK, tile_width, is_reused)
    return links


def stamped_table_of_links(search: Search, links: Table) -> StampedTable:
    """Return the table of links together with the test for valid links, which the clearing of stale links needs.

    A link is valid if the node of its cell belongs to the current search and has `is_linked` set.
    """
    nodes = stamped_table_of_nodes(search)
    return nodes._replace(cleared_table=links, mask=nodes.mask | 0xFF << 24, number=nodes.number | 1 << 24)


@kernel
def link_ancestors(ground, search, links, scratch, end):
    """Create links (depth and jump) for `end` and for its ancestors without a link. Returns the number of new links.

    The parent of `end` must be final, so `end` must be closed or the next cell to be expanded. Writes: nodes, links,
    scratch.
    """
    found = 0
    s = np.int64(end)
    while s >= 0 and not search.nodes[s].is_linked:
        search.nodes[s].is_linked = True
        scratch[found] = s
        found += 1
        s = parent_of(ground, search, s)
    for i in range(found - 1, -1, -1):
        up = s
        s = np.int64(scratch[i])
        link = links[s]
        if up < 0:
            link.depth = 0
            link.jump = s
            continue
        above = links[up]
        jumped = links[above.jump]
        link.depth = above.depth + 1
        is_same_length = above.depth - jumped.depth == jumped.depth - links[jumped.jump].depth
        link.jump = jumped.jump if is_same_length else up
    return found


@kernel
def ancestor_at_depth(ground, search, links, s, depth):
    """Return the ancestor of the linked cell s at this depth of the tree; it is s itself if s has that depth."""
    while links[s].depth > depth:
        jump = np.int64(links[s].jump)
        s = jump if links[jump].depth >= depth else parent_of(ground, search, s)
    return s


@kernel
def next_cell_towards(ground, search, links, s, end):
    """Return the cell after s on the path from the root to `end`, or -1 if s is not on the path or is `end`.

    Both cells must be linked.
    """
    depth = links[s].depth + 1
    if links[end].depth < depth:
        return np.int64(-1)
    t = ancestor_at_depth(ground, search, links, np.int64(end), depth)
    return t if parent_of(ground, search, t) == s else np.int64(-1)
