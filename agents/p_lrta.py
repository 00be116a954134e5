"""P LRTA*: prioritized LRTA*.

LRTA* of depth 1 that propagates changes of h: when h of a cell changes, its neighbours are queued with the size of the
change as priority, and before each move the cells of highest priority are updated.

Paper: prioritized LRTA* (Rayner et al. 2007), as described in "TBA*: Time-Bounded A*". Expansions: updates, at most
`updates` + 1 a move, and never more than the budget. Deviations: docs/deviations.md.
Known weakness: a queue that is too short drops updates.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.learning_agent import ON_UNBLOCK_PARAM, LearningAgent
from sim.agent_api import AgentSpec, AgentView, Problem
from sim.grid import MapChange
from sim.kernels import p_lrta
from sim.kernels.labels import new_search_without_heap
from sim.metrics import OwnCounts
from sim.params import Param, Value


class PLrta(LearningAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params)
        # Search that records the updated cells for display only. Its size is 1 if the agent is not displayed.
        self.displayed_updates_search = new_search_without_heap(
            problem.grid.cells if problem.watched else 1, problem.watched
        )
        self._create_update_queue()

    def _max_updates_per_move(self) -> int:
        """Return the maximum number of updates before a move, not counting the update of the agent's own cell."""
        return int(self.params["updates"]) or int(self.params["queue"])

    def _create_update_queue(self) -> None:
        self.state_record[0].queued = self.state_record[0].closed = 0
        self.update_queue = p_lrta.new_update_queue(
            int(self.params["queue"]), self._max_updates_per_move(), self.problem.grid.cells
        )

    def _forget_learned_h(self) -> None:
        super()._forget_learned_h()
        p_lrta.clear_update_queue(self.update_queue, self.state_record)

    def set_param(self, name: str, value: Value) -> None:
        super().set_param(name, value)
        if name in ("queue", "updates"):
            self._create_update_queue()

    def on_change(self, change: MapChange) -> None:
        super().on_change(change)
        p_lrta.remove_blocked_cells(self.map_arrays, self.update_queue, self.state_record)

    def kernel_arguments(self) -> tuple[Any, ...]:
        return (
            self.map_arrays,
            self.learned_heuristic,
            self.update_queue,
            self.displayed_updates_search,
            self.state_record,
        )

    def advance(self, budget: int, rows: np.ndarray) -> int:
        updates = min(self._max_updates_per_move(), budget - 1)
        return int(self.call_kernel(p_lrta.run_ticks, updates, rows))

    def own_counts(self) -> OwnCounts:
        """Return the agent's count of memory: cells with learned h, and the capacity of the queue of updates."""
        return OwnCounts(memory=int(self.params["queue"]) + self.learned_cell_count())

    def view(self) -> AgentView:
        st = self.state_record[0]
        return AgentView(
            search=self.displayed_updates_search if self.problem.watched else None,
            best=int(st.best),
            learned=self.learned_heuristic,
            groups={
                "local space": self.update_queue.updated_cells[: int(st.closed)],
                "queued": self.update_queue.cells[: int(st.queued)],
            },
            numbers={"queued": float(st.queued), "h updates": float(st.updates)},
        )


SPEC = AgentSpec(
    key="p-lrta",
    name="P LRTA*",
    paper="Rayner et al. 2007; TBA*: Time-Bounded A*",
    summary="LRTA* that propagates what it learns to neighbouring cells, the largest changes first.",
    make=PLrta,
    params=(
        Param("queue", int, 30, "maximum number of cells waiting for an update", 1, 1000, symbol="Q"),
        Param(
            "updates", int, 0, "maximum updates from the queue before a move; 0: as many as fit in the queue", 0, 1000
        ),
        ON_UNBLOCK_PARAM,
    ),
    family="learning",
    keeps_h=True,
    shows=frozenset({"groups"}),
)
