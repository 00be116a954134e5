"""D* Lite: a search from the goal, kept true to a changing map by repairing only what a change made wrong.

Paper: Koenig and Likhachev 2002, "D* Lite", the version of its figure 3 (compute ends when the agent's cell is not
under-consistent). Each cell has g, the distance to the goal as last expanded, and rhs, what its successors say it is;
U holds exactly the cells where they differ. Keys (k1, k2) compare lexicographically, ties by smaller cell: sums of
costs are exact, so no tolerance is needed.

Here rhs is recomputed in full whenever a successor changed (at most 8 terms), not updated case by case as in the
optimised printing. A cell whose g and rhs are both infinite is forgotten: that is how every cell begins.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels import log
from sim.kernels.jit import kernel
from sim.kernels.labels import REVERSED, count_expansion
from sim.kernels.memory import zeros
from sim.kernels.octile import NOWHERE, h0_cells
from sim.kernels.search import CLOSED, forget, is_known
from sim.kernels.tiled import Table, new_table

ENTRY = np.dtype([("k1", "f8"), ("k2", "f8"), ("cell", "i8")], align=True)

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("last", "i8"),  # where the agent stood when km was last raised
        ("status", "i8"),
        ("marks", "i8"),
        ("found", "i8"),  # compute has ended since the last change: the way by g is optimal
        ("km", "f8"),  # what keys made later have to be larger by, since the agent has moved
        ("rekeyed", "i8"),  # entries of U that were given a newer key
        ("did", "i8"),  # in its last tick: HEEDED, LOWERED, RAISED, SETTLED
        ("has_news", "i8"),  # arcs came or went since then
    ],
    align=True,
)

# What a tick did, for those who show it. None of it is asked again by the search.
HEEDED = 1  # before it, the map changed
LOWERED = 2  # a g that was too large was brought down to rhs
RAISED = 4  # a g that was too small became infinite
SETTLED = 8  # nothing was left to repair of what matters


class Memory(NamedTuple):
    """Made with new_memory(). g, the place in U and the next cell on the way are in the records of the Search."""

    rhs: Table  # float64[cells], counts where the search knows the cell
    queue: np.ndarray  # ENTRY[cells + 1] U, a binary heap


def new_memory(cells: int, tile_width: int = 0) -> Memory:
    """`tile_width`: see tiled.py."""
    return Memory(new_table("rhs", cells, np.float64, tile_width), zeros(cells + 1, ENTRY).view(np.recarray))


@kernel
def reset(ground, search, memory, state, start, goal):
    """Know nothing but that the goal's distance to itself is 0. O(1)."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.last = start
    st.marks = 0
    st.found = 0
    st.km = 0.0
    st.rekeyed = 0
    st.did = 0
    st.has_news = 0
    st.status = log.AT_GOAL if start == goal else log.ACTIVE
    forget(ground, search, goal, start)
    search.control[0].root = goal
    learn(search, memory, goal, 0.0, NOWHERE)
    fix(ground, search, memory, st, goal)


@kernel
def run(ground, search, memory, state, expansions, rows):
    """Repair with up to `expansions` a tick, and walk when all that matters is repaired. Returns the ticks done."""
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        st.did = HEEDED if st.has_news else 0
        st.has_news = 0
        used = 0 if st.found else compute(ground, search, memory, st, expansions)
        phase = log.SEARCHING
        if st.found and rhs_of(search, memory, st.loc) == np.inf:
            st.status = log.NO_PATH
            phase = log.WAITING
        elif st.found:
            advance(ground, search, st)
            phase = log.FOLLOWING
        log.write_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def advance(ground, search, st):
    """One move along the cheapest way."""
    st.loc += ground.step[next_direction(ground, search, st.loc)]
    if st.loc == st.goal:
        st.status = log.AT_GOAL


@kernel
def next_direction(ground, search, s):
    """The direction to argmin over succ(s) of c + g; ties by larger c, then smaller cell. -1 if no g is finite."""
    best = np.int64(-1)
    best_cost = np.inf
    for d in range(8):
        if not ground.moves[s] >> d & 1:
            continue
        t = s + ground.step[d]
        cost = ground.cost[d] + g_of(search, t)
        if cost < best_cost:
            best, best_cost = np.int64(d), cost
        elif best >= 0 and cost == best_cost:
            is_longer = ground.cost[d] > ground.cost[best]
            if is_longer or (ground.cost[d] == ground.cost[best] and ground.step[d] < ground.step[best]):
                best = np.int64(d)
    return best


@kernel
def compute(ground, search, memory, st, expansions):
    """Process the least entries of U until the agent's cell is settled, or the budget is used up.

    Returns the expansions. Giving an entry a newer key is none. Writes: g, rhs, U, st.found.
    """
    control = search.control[0]
    used = 0
    while True:
        if not is_work_left(search, memory, st):
            st.found = 1
            st.did |= SETTLED
            break
        if used >= expansions:
            break
        entry = memory.queue[0]
        u = entry.cell
        k2 = min(g_of(search, u), memory.rhs[u])
        k1 = k2 + h0_cells(ground, st.loc, u) + st.km
        if precedes(entry.k1, entry.k2, u, k1, k2, u):
            put(memory.queue, search.nodes, control.open_size, 0, k1, k2, u)
            st.rekeyed += 1
            continue
        expand(ground, search, memory, st, u)
        used += 1
    return used


@kernel
def is_work_left(search, memory, st):
    """U.top_key < key(loc) or rhs[loc] > g[loc]."""
    if search.control[0].open_size == 0:
        return False
    g = g_of(search, st.loc)
    rhs = rhs_of(search, memory, st.loc)
    if rhs > g:
        return True
    top = memory.queue[0]
    k1 = min(g, rhs) + st.km  # h0(loc, loc) = 0
    return top.k1 < k1 or (top.k1 == k1 and top.k2 < min(g, rhs))


@kernel
def expand(ground, search, memory, st, u):
    """Make u consistent (g > rhs), or forget its g that was too small; tell its predecessors either way."""
    count_expansion(search, u)
    node = search.nodes[u]
    if node.g > memory.rhs[u]:
        node.g = memory.rhs[u]
        st.did |= LOWERED
        fix(ground, search, memory, st, u)
    else:
        node.g = np.inf
        st.did |= RAISED
        redo(ground, search, memory, st, u)
    for d in range(8):  # for p in pred(u): moves are undirected
        if ground.moves[u] >> d & 1:
            redo(ground, search, memory, st, u + ground.step[d])


@kernel
def redo(ground, search, memory, st, p):
    """rhs[p] = min over succ(p) of c + g, unless p is the goal; then U again holds p if and only if g differs."""
    if p != st.goal:
        d = next_direction(ground, search, p)
        if d >= 0:
            learn(search, memory, p, ground.cost[d] + g_of(search, p + ground.step[d]), REVERSED[d])
        elif is_known(search, p):
            learn(search, memory, p, np.inf, NOWHERE)
        else:
            return
    fix(ground, search, memory, st, p)


@kernel
def learn(search, memory, p, rhs, came):
    """Set rhs[p], and from where the search came to p: the next cell on the way to the goal."""
    node = search.nodes[p]
    if not is_known(search, p):
        node.search = search.control[0].search
        search.control[0].known += 1
        node.g = np.inf
        node.place = CLOSED
    node.came = came
    memory.rhs[p] = rhs


@kernel
def fix(ground, search, memory, st, u):
    """Insert u into U, give it its key, or take it out, as g and rhs say. Writes: U, the place and record of u."""
    control = search.control[0]
    node = search.nodes[u]
    rhs = memory.rhs[u]
    if node.g != rhs:
        k2 = min(node.g, rhs)
        place = np.int64(node.place)
        if place == CLOSED:
            place = control.open_size
            control.open_size += 1
        put(memory.queue, search.nodes, control.open_size, place, k2 + h0_cells(ground, st.loc, u) + st.km, k2, u)
        return
    if node.place != CLOSED:
        take_out(search, memory, np.int64(node.place))
        node.place = CLOSED
    if rhs == np.inf:
        node.search = 0  # as it was before anything was known of it
        control.most_known = max(control.most_known, control.known)
        control.known -= 1


@kernel
def g_of(search, s):
    return search.nodes[s].g if is_known(search, s) else np.inf


@kernel
def rhs_of(search, memory, s):
    return memory.rhs[s] if is_known(search, s) else np.inf


@kernel
def precedes(k1, k2, s, other_k1, other_k2, other):
    """The order of U."""
    if k1 != other_k1:
        return k1 < other_k1
    if k2 != other_k2:
        return k2 < other_k2
    return s < other


@kernel
def take_out(search, memory, place):
    """Take the entry at `place` out of U: the last one goes there, and then where it belongs."""
    control = search.control[0]
    control.open_size -= 1
    last = memory.queue[control.open_size]
    if place < control.open_size:
        put(memory.queue, search.nodes, control.open_size, place, last.k1, last.k2, last.cell)


@kernel
def put(queue, nodes, size, place, k1, k2, s):
    """Put an entry into the heap of `size` entries at `place`, or above or below it. Writes: queue, places."""
    i = place
    while i > 0 and precedes(k1, k2, s, queue[(i - 1) >> 1].k1, queue[(i - 1) >> 1].k2, queue[(i - 1) >> 1].cell):
        move_entry(queue, nodes, (i - 1) >> 1, i)
        i = (i - 1) >> 1
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and stands_before(queue, child + 1, child):
            child += 1
        if not precedes(queue[child].k1, queue[child].k2, queue[child].cell, k1, k2, s):
            break
        move_entry(queue, nodes, child, i)
        i = child
    entry = queue[i]
    entry.k1 = k1
    entry.k2 = k2
    entry.cell = s
    nodes[s].place = i


@kernel
def stands_before(queue, i, k):
    return precedes(queue[i].k1, queue[i].k2, queue[i].cell, queue[k].k1, queue[k].k2, queue[k].cell)


@kernel
def move_entry(queue, nodes, i, k):
    """Copy the entry at i to place k."""
    queue[k].k1 = queue[i].k1
    queue[k].k2 = queue[i].k2
    queue[k].cell = queue[i].cell
    nodes[queue[k].cell].place = k


@kernel
def on_change(ground, search, memory, state, tails, rose):
    """Arcs that leave the cells `tails` came or went: recompute what those cells say; repair in the next plan.

    The map is the new one already, so of several changed arcs none is seen as it was. An agent without a path wakes
    up when an arc is new; until then arcs that went only add to what there is to repair.
    """
    st = state[0]
    if st.status == log.AT_GOAL or tails.size == 0:
        return
    st.km += h0_cells(ground, st.last, st.loc)
    st.last = st.loc
    search.control[0].aim_x = st.loc % ground.width
    search.control[0].aim_y = st.loc // ground.width
    for i in range(tails.size):
        redo(ground, search, memory, st, np.int64(tails[i]))
        if not rose[i] and st.status == log.NO_PATH:
            st.status = log.ACTIVE
    st.found = 0
    st.has_news = 1


@kernel
def way_ahead(ground, search, state, way):
    """The cells that the agent will walk if nothing changes, its own first. Returns how many. Writes: way."""
    st = state[0]
    way[0] = st.loc
    length = 1
    while way[length - 1] != st.goal:
        s = np.int64(way[length - 1])
        way[length] = s + ground.step[next_direction(ground, search, s)]
        length += 1
    return length
