"""Access to the arrays of many agents of one kind, so that one kernel call can advance all of them.

One call saves time: calling each agent from Python would take ten times as long as the agent's tick itself. Each kind
of agent that can be in a batch has a kernel `run_batch` next to its other kernels, for example in tba.py. `run_batch`
processes the agents one after the other. Each agent plans and acts for some ticks, and the referee judges the rows (one
for each tick) that the agent reports. Most kinds also have `apply_map_change_to_batch`.

Each agent has its own arrays. A kernel finds them through `table`, which has one row for each agent: the addresses of
the agent's arrays. The argument `prototype` contains the arrays of any one agent, which tell the compiler the type of
the array at each address. The caller must ensure that the arrays of all agents have the same sizes, and must rebuild
the table when an array is replaced (sim/batching/agent_batch.py). If numba is switched off, these kernels cannot run,
and each agent is called separately.
"""

from typing import Any, cast

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from sim.jit.decorators import kernel

BATCH_RESULT = np.dtype([("budget", "i8"), ("done", "i8"), ("legal", "i8"), ("status", "i8")], align=True)
"""Input and output of `run_batch`, one record for each agent. Input: `budget`, the maximum number of expansions
in a tick. Output: `done`, the number of ticks done; `legal`, the number of rows before the first illegal row; `status`
of the agent."""


@intrinsic
def arrays_at_addresses(typing: Any, prototype: Any, table: Any, row: Any) -> Any:
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
def collect_agent_digests(prototype, table, sums):
    """Write both halves of each agent's digest to its row of `sums`. `table` has the addresses of the agents' metrics.

    Writes: sums.
    """
    for i in range(table.shape[0]):
        (metrics,) = arrays_at_addresses(prototype, table, i)
        sums[i, 0] = metrics[0].digest_a
        sums[i, 1] = metrics[0].digest_b


@kernel
def collect_agent_positions(prototype, table, cells):
    """Write the present cell of each agent to `cells`. `table` has the addresses of the agents' metrics.

    Writes: cells.
    """
    for i in range(table.shape[0]):
        (metrics,) = arrays_at_addresses(prototype, table, i)
        cells[i] = metrics[0].position
