"""Kernels that advance a batch of agents, all of one kind, in one call.

One call saves time: calling each agent from Python would take ten times as long as the agent's tick itself. The agents
are processed one after the other. Each agent plans and acts for some ticks, and the referee judges the rows (one for
each tick) that the agent reports.

Each agent has its own arrays. A kernel finds them through `table`, which has one row for each agent: the addresses of
the agent's arrays. The argument `like` contains the arrays of any one agent, which tell the compiler the type of the
array at each address. The caller must ensure that the arrays of all agents have the same sizes, and must rebuild the
table when an array is replaced (sim/agent_batch.py). If numba is switched off, these kernels cannot run, and each agent
is called separately.
"""

from typing import Any, cast

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from sim.jit.decorators import kernel
from sim.kernels import dstar_lite, log, lrta, referee, tb_bfs, tba
from sim.kernels.search import parent_of
from sim.kernels.tiled import prefetch_table_entry

BATCH_RESULT = np.dtype([("budget", "i8"), ("done", "i8"), ("legal", "i8"), ("status", "i8")], align=True)
"""Input and output of the run_... kernels, one record for each agent. Input: `budget`, the maximum number of expansions
in a tick. Output: `done`, the number of ticks done; `legal`, the number of rows before the first illegal row; `status`
of the agent."""

MAP_CHANGE_RULE = np.dtype(
    [("policy", "i8"), ("heeds", "i8"), ("weight", "f8"), ("cell", "i8"), ("place", "i8")], align=True
)
"""Settings for an agent's reaction to a map change. `policy`, `heeds` and `weight` are passed to tb_bfs.on_change();
only TB-BFS agents use them. `cell` and `place` are local variables of trace_missing_routes(): the next cell to be
stored in the agent's route, and its index in the route."""

MAP_CHANGE_RULE_FIELDS = ("policy", "heeds", "weight")
"""Fields of a RULE record that the caller fills with the settings of the agent."""


@intrinsic
def _agent_arrays_at(typing: Any, prototype: Any, table: Any, row: Any) -> Any:
    """Return the arrays of the agent in row `row` of `table`, as nested tuples of the same types as `prototype`.

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


@kernel
def run_tb_bfs_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of TB-BFS agents (TB-WA*, TB-GBFS, or their variants that restart after map changes).

    Writes: rows, results, all arrays at the addresses in `table`.
    """
    for i in range(table.shape[0]):
        result = results[i]
        (search, route, links, state), metrics, visits = _agent_arrays_at(prototype, table, i)
        result.done = tb_bfs.run_ticks(ground, search, route, links, state, result.budget, rows[i])
        result.legal = referee.judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def run_lrta_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of LRTA* agents with depth 1. Writes: rows, results, all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        result = results[i]
        (learned, state), metrics, visits = _agent_arrays_at(prototype, table, i)
        result.done = lrta.run_ticks_at_depth_1(ground, learned, state, rows[i])
        result.legal = referee.judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def run_tba_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of TBA* agents without shortcuts. Writes: rows, results, arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        result = results[i]
        (search, detour, path, trace, state), metrics, visits = _agent_arrays_at(prototype, table, i)
        result.done = tba.run_ticks(ground, search, detour, path, trace, state, result.budget, rows[i])
        result.legal = referee.judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def run_dstar_lite_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of D* Lite agents that spread each search over several ticks.

    Writes: rows, results, all arrays at the addresses in `table`.
    """
    for i in range(table.shape[0]):
        result = results[i]
        (search, memory, state), metrics, visits = _agent_arrays_at(prototype, table, i)
        result.done = dstar_lite.run_ticks(ground, search, memory, state, result.budget, rows[i])
        result.legal = referee.judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def collect_agent_digests(prototype, table, sums):
    """Write both halves of each agent's digest to its row of `sums`. `table` has the addresses of the agents' metrics.

    Writes: sums.
    """
    for i in range(table.shape[0]):
        (metrics,) = _agent_arrays_at(prototype, table, i)
        sums[i, 0] = metrics[0].digest_a
        sums[i, 1] = metrics[0].digest_b


@kernel
def collect_agent_positions(prototype, table, cells):
    """Write the present cell of each agent to `cells`. `table` has the addresses of the agents' metrics.

    Writes: cells.
    """
    for i in range(table.shape[0]):
        (metrics,) = _agent_arrays_at(prototype, table, i)
        cells[i] = metrics[0].position


# --- changes of the map ---------------------------------------------------------------------------

ROUTES_TRACED_PER_CALL = 64
"""Number of agents whose routes one call of trace_missing_routes() traces."""


@kernel
def trace_missing_routes(ground, prototype, table, rules, first, beyond):
    """Trace the missing routes of the agents `first` to `beyond` - 1, if their policy is LAZY.

    A route is traced from its last cell to the root of the search, from parent to parent. The results are the same as
    those of route.trace_changed_route(), but the agents take turns: one cell of each agent, round-robin. Tracing one
    agent at a time would wait for main memory at every cell. Here the next cell of an agent is prefetched while the
    other agents are processed. With 500 agents, this reduces the time of the first map change to 40 %.
    Writes: rules, all arrays at the addresses in `table`.
    """
    for i in range(first, beyond):
        rule = rules[i]
        (search, route, _, state), _, _ = _agent_arrays_at(prototype, table, i)
        st = state[0]
        rule.cell = -1
        is_on_its_way = st.status == log.ACTIVE and st.end >= 0 and not search.control[0].reopens
        if rule.policy == tb_bfs.LAZY_RESTART and is_on_its_way and st.length == 0:
            rule.cell = st.end
            rule.place = route.place[st.end].depth
            st.length = rule.place + 1
    left = beyond - first
    while left:
        left = 0
        for i in range(first, beyond):
            rule = rules[i]
            if rule.cell >= 0:
                (search, route, _, _), _, _ = _agent_arrays_at(prototype, table, i)
                route.cells[rule.place] = rule.cell
                rule.cell = parent_of(ground, search, rule.cell)
                rule.place -= 1
                left += 1
                if rule.cell >= 0:
                    prefetch_table_entry(search.nodes, rule.cell)


@kernel
def apply_map_change_to_tb_bfs_batch(ground, prototype, table, rules, tails, heads, rose):
    """Notify all agents of a TB-BFS batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        if i % ROUTES_TRACED_PER_CALL == 0:
            trace_missing_routes(ground, prototype, table, rules, i, min(i + ROUTES_TRACED_PER_CALL, table.shape[0]))
        rule = rules[i]
        (search, route, _, state), _, _ = _agent_arrays_at(prototype, table, i)
        tb_bfs.on_change(ground, search, route, state, tails, heads, rose, rule.policy, rule.heeds, rule.weight)


@kernel
def apply_map_change_to_tba_batch(ground, prototype, table, rules, tails, heads, rose):
    """Notify all agents of a TBA* batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        (search, _, _, _, state), _, _ = _agent_arrays_at(prototype, table, i)
        tba.on_change(ground, search, state, tails, rose)


@kernel
def apply_map_change_to_dstar_lite_batch(ground, prototype, table, rules, tails, heads, rose):
    """Notify all agents of a D* Lite batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        (search, memory, state), _, _ = _agent_arrays_at(prototype, table, i)
        dstar_lite.on_change(ground, search, memory, state, tails, rose)
