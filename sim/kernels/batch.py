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

import numpy as np

from sim.jit.addresses import agent_arrays_at
from sim.jit.decorators import kernel

BATCH_RESULT = np.dtype([("budget", "i8"), ("done", "i8"), ("legal", "i8"), ("status", "i8")], align=True)
"""Input and output of `run_batch`, one record for each agent. Input: `budget`, the maximum number of expansions
in a tick. Output: `done`, the number of ticks done; `legal`, the number of rows before the first illegal row; `status`
of the agent."""


@kernel
def collect_agent_digests(prototype, table, sums):
    """Write both halves of each agent's digest to its row of `sums`. `table` has the addresses of the agents' metrics.

    Writes: sums.
    """
    for i in range(table.shape[0]):
        (metrics,) = agent_arrays_at(prototype, table, i)
        sums[i, 0] = metrics[0].digest_a
        sums[i, 1] = metrics[0].digest_b


@kernel
def collect_agent_positions(prototype, table, cells):
    """Write the present cell of each agent to `cells`. `table` has the addresses of the agents' metrics.

    Writes: cells.
    """
    for i in range(table.shape[0]):
        (metrics,) = agent_arrays_at(prototype, table, i)
        cells[i] = metrics[0].position
