"""Kernels that advance a batch of agents, all of one kind, in one call.

The agents are processed one after the other: each plans and acts for some ticks, and the referee judges the rows that
it reports. A separate call from Python costs ten times as much as the tick of the agent. Each agent has arrays of its
own, so a kernel takes `table`, which has a row of addresses for each agent, and `like`, the arrays of any one agent,
which give the type of the array at each address. The caller must ensure that all agents have arrays of the same sizes,
and must rebuild the table when an array is replaced (sim/agent_batch.py). These kernels exist only compiled: without
the compiler, agents are called separately.
"""

from typing import Any, cast

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from sim.kernels import dstar_lite, log, lrta, referee, tb_bfs, tba
from sim.kernels.jit import kernel
from sim.kernels.search import parent_of
from sim.kernels.tiled import prefetch_entry

RESULT = np.dtype([("budget", "i8"), ("done", "i8"), ("legal", "i8"), ("status", "i8")], align=True)
"""Input and output of the run_... kernels for each agent. Input: `budget`, the expansions allowed per tick. Output:
`done`, the number of ticks done; `legal`, the number of rows before the first illegal one; the agent's `status`."""

RULE = np.dtype([("policy", "i8"), ("heeds", "i8"), ("weight", "f8"), ("cell", "i8"), ("place", "i8")], align=True)
"""Reaction of an agent to a change of the map. `policy`, `heeds` and `weight` are arguments of tb_bfs.on_change();
other kinds of agents ignore them. `cell` and `place` are scratch of trace_routes(): the cell to be stored next, and its
index in the route."""

RULE_FIELDS = ("policy", "heeds", "weight")
"""Fields of a RULE record that the agent sets."""


@intrinsic
def _agent_arrays_at(typing: Any, like: Any, table: Any, place: Any) -> Any:
    """Return one agent's arrays: nested tuples with the types of `like`, at the addresses in row `place` of `table`.

    The columns of the table have the order in which a depth-first walk over the nested tuples of `like` meets arrays.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        addresses = context.make_array(signature.args[1])(context, builder, args[1])
        columns = cgutils.unpack_tuple(builder, addresses.shape, 2)[1]
        first = builder.mul(args[2], columns)
        seen = 0

        def moved(kind: Any, value: Any) -> Any:
            nonlocal seen
            if isinstance(kind, types.BaseTuple):
                parts = [moved(part, builder.extract_value(value, i)) for i, part in enumerate(cast(Any, kind).types)]
                return context.make_tuple(builder, kind, parts)
            if not isinstance(kind, types.Array):
                return value
            place_of = builder.add(first, context.get_constant(types.intp, seen))
            seen += 1
            array = context.make_array(kind)(context, builder, value)
            array.data = builder.inttoptr(builder.load(builder.gep(addresses.data, [place_of])), array.data.type)
            return array._getvalue()

        return moved(signature.args[0], args[0])

    return like(like, table, types.intp), generate


@kernel
def run_tb_bfs_batch(ground, like, table, results, tick, rows):
    """Advance a batch of TB-BFS agents: TB-WA*, TB-GBFS or one of their repeated versions for changing maps.

    Writes: rows, results, all arrays at the addresses in `table`.
    """
    for i in range(table.shape[0]):
        result = results[i]
        (search, route, links, state), metrics, visits = _agent_arrays_at(like, table, i)
        result.done = tb_bfs.run_ticks(ground, search, route, links, state, result.budget, rows[i])
        result.legal = referee.judge_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def run_lrta_batch(ground, like, table, results, tick, rows):
    """Advance a batch of LRTA* agents with depth 1. Writes: rows, results, all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        result = results[i]
        (learned, state), metrics, visits = _agent_arrays_at(like, table, i)
        result.done = lrta.run_ticks_at_depth_1(ground, learned, state, rows[i])
        result.legal = referee.judge_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def run_tba_batch(ground, like, table, results, tick, rows):
    """Advance a batch of TBA* agents without shortcuts. Writes: rows, results, all arrays at addresses in `table`."""
    for i in range(table.shape[0]):
        result = results[i]
        (search, detour, path, trace, state), metrics, visits = _agent_arrays_at(like, table, i)
        result.done = tba.run_ticks(ground, search, detour, path, trace, state, result.budget, rows[i])
        result.legal = referee.judge_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def run_dstar_lite_batch(ground, like, table, results, tick, rows):
    """Advance a batch of D* Lite agents in sliced mode. Writes: rows, results, all arrays at addresses in `table`."""
    for i in range(table.shape[0]):
        result = results[i]
        (search, memory, state), metrics, visits = _agent_arrays_at(like, table, i)
        result.done = dstar_lite.run_ticks(ground, search, memory, state, result.budget, rows[i])
        result.legal = referee.judge_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def read_digests(like, table, sums):
    """Read the two halves of each agent's digest from its metrics, at the address in `table`. Writes: sums."""
    for i in range(table.shape[0]):
        (metrics,) = _agent_arrays_at(like, table, i)
        sums[i, 0] = metrics[0].digest_a
        sums[i, 1] = metrics[0].digest_b


@kernel
def read_positions(like, table, cells):
    """Read the cell on which each agent is from its metrics, at the address in `table`. Writes: cells."""
    for i in range(table.shape[0]):
        (metrics,) = _agent_arrays_at(like, table, i)
        cells[i] = metrics[0].position


# --- changes of the map ---------------------------------------------------------------------------

ROUTES_AT_ONCE = 64
"""Number of agents whose routes are made in one round-robin, see trace_routes()."""


@kernel
def trace_routes(ground, like, table, rules, first, beyond):
    """Trace the routes of the lazy agents with indices from `first` up to `beyond` (exclusive) that have no route yet.

    The routes are the same as by route.trace_linked(), but are traced in a round-robin: one cell of each agent in turn.
    Following the parents of one agent waits for main memory at each cell. Here each agent prefetches its next cell, and
    the other agents are processed while that cell is loaded. With 500 agents, this cuts the time of the first map
    change to four tenths. Writes: rules, everything at the addresses.
    """
    for i in range(first, beyond):
        rule = rules[i]
        (search, route, _, state), _, _ = _agent_arrays_at(like, table, i)
        st = state[0]
        rule.cell = -1
        is_on_its_way = st.status == log.ACTIVE and st.end >= 0 and not search.control[0].reopens
        if rule.policy == tb_bfs.LAZY and is_on_its_way and st.length == 0:
            rule.cell = st.end
            rule.place = route.place[st.end].depth
            st.length = rule.place + 1
    left = beyond - first
    while left:
        left = 0
        for i in range(first, beyond):
            rule = rules[i]
            if rule.cell >= 0:
                (search, route, _, _), _, _ = _agent_arrays_at(like, table, i)
                route.cells[rule.place] = rule.cell
                rule.cell = parent_of(ground, search, rule.cell)
                rule.place -= 1
                left += 1
                if rule.cell >= 0:
                    prefetch_entry(search.nodes, rule.cell)


@kernel
def notify_tb_bfs_batch(ground, like, table, rules, tails, heads, rose):
    """Notify all agents of a TB-BFS batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        if i % ROUTES_AT_ONCE == 0:
            trace_routes(ground, like, table, rules, i, min(i + ROUTES_AT_ONCE, table.shape[0]))
        rule = rules[i]
        (search, route, _, state), _, _ = _agent_arrays_at(like, table, i)
        tb_bfs.on_change(ground, search, route, state, tails, heads, rose, rule.policy, rule.heeds, rule.weight)


@kernel
def notify_tba_batch(ground, like, table, rules, tails, heads, rose):
    """Notify all agents of a TBA* batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        (search, _, _, _, state), _, _ = _agent_arrays_at(like, table, i)
        tba.on_change(ground, search, state, tails, rose)


@kernel
def notify_dstar_lite_batch(ground, like, table, rules, tails, heads, rose):
    """Notify all agents of a D* Lite batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        (search, memory, state), _, _ = _agent_arrays_at(like, table, i)
        dstar_lite.on_change(ground, search, memory, state, tails, rose)
