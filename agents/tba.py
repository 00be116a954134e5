"""TBA*: Time-Bounded A*.

One A* search from the start, sliced over ticks. After each slice the agent heads for the best open cell along a path
traced back from that cell; if the agent is not on that path, it walks back along parents: back-moves.

Paper: "TBA*: Time-Bounded A*". The limit R of a tick is the budget: the share r of the budget pays for expansions, the
rest for tracing, where c trace steps cost as much as one expansion. Both enhancements of section 4.3 are parameters.
Known weakness: with a small budget the best open cell changes between distant cells, and the agent scrubs back and
forth.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.best_first import BestFirstAgent
from sim.agent_api import AgentSpec, AgentView, Problem, event_words
from sim.grid import MapChange
from sim.kernels import tba
from sim.kernels.route import new_route
from sim.kernels.search import Search, new_search
from sim.params import Param, Value

EXPANSION_SHARE_PARAM = Param(
    "share",
    float,
    0.9,
    "share of a tick's budget spent on expansions; the rest is spent on tracing",
    0.01,
    0.99,
    symbol="r",
)
TRACE_RATE_PARAM = Param(
    "trace_rate", float, 10.0, "trace steps that cost as much as one expansion", 1.0, 1000.0, symbol="c"
)

_EVENT_KEYS = {
    tba.GOAL_FOUND: "found",
    tba.PATH_TRACED: "trace",
    tba.PATH_ADOPTED: "path",
    tba.SOUGHT_SHORTCUT: "shortcut",
}


class Tba(BestFirstAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params, tba.STATE)
        memory = problem.grid.cells, problem.reuses_memory, self.tile_width
        self.followed_route, self.traced_route = new_route(*memory), new_route(*memory)
        self.detour_search = self._new_detour_search()
        self._reset_agent(problem.start)

    @property
    def tile_width(self) -> int:
        return self.problem.tile_width

    def _new_detour_search(self) -> Search:
        return new_search(
            self.problem.grid.cells if self.params["shortcut"] else 1, is_reused=self.problem.reuses_memory
        )

    def _reset_agent(self, start: int) -> None:
        st = self.state_record[0]
        st.share, st.trace_rate = self.params["share"], self.params["trace_rate"]
        st.cuts_trace = self.params["trace_check"]
        st.keeps_longer = self.params["switch"] == "longer"
        st.seeks_shortcut = self.params["shortcut"]
        tba.reset_agent(self.map_arrays, self.search, self.state_record, start, self.goal)

    def set_param(self, name: str, value: Value) -> None:
        self.params[name] = value
        self.detour_search = self._new_detour_search()
        super().set_param(name, value)

    @property
    def batch_kernel(self) -> Any:
        return None if self.params["shortcut"] else tba.run_batch

    @property
    def batch_map_change_kernel(self) -> Any:
        return tba.apply_map_change_to_batch

    derived_attributes = (*BestFirstAgent.derived_attributes, "_shortcut_budget")

    def _cache_state_views(self) -> None:
        super()._cache_state_views()
        self._shortcut_budget = self.state_record["shortcut_budget"]

    def kernel_arguments(self) -> tuple[Any, ...]:
        return (
            self.map_arrays,
            self.search,
            self.detour_search,
            self.followed_route,
            self.traced_route,
            self.state_record,
        )

    def advance(self, budget: int, rows: np.ndarray) -> int:
        self._shortcut_budget[0] = int(self.params["shortcut_budget"]) or budget
        return int(self.call_kernel(tba.run_ticks, budget, rows))

    def on_change(self, change: MapChange) -> None:
        tba.on_change(self.map_arrays, self.search, self.state_record, change.tails, change.rose)

    def searches_of_agent(self) -> tuple[Search, ...]:
        return self.search, self.detour_search

    def view(self) -> AgentView:
        st = self.state_record[0]
        return AgentView(
            search=self.displayed_search(),
            best=self.best(),
            root=int(st.root),
            path=self.followed_route.cells[: int(st.length)],
            head=int(st.head),
            tracing=self.traced_route.cells[: 0 if st.trace_done else int(st.trace_length)],
            detour=self.detour_search if self.params["shortcut"] else None,
            numbers={"shortcuts": int(st.shortcuts)},
            notes=event_words(_EVENT_KEYS, st.did),
        )


def check_tba_budget(budget: int, params: Mapping[str, Value]) -> str | None:
    """Return an error message if the budget allows no expansion or no trace step in a tick, else None."""
    expansions, steps = tba.split_budget(budget, float(params["share"]), float(params["trace_rate"]))
    if expansions >= 1 and steps >= 1:
        return None
    return (
        f"budget: expected one that leaves at least one expansion and one trace step a tick, got {budget}, "
        f"which at share {params['share']} and trace_rate {params['trace_rate']} leaves {expansions} and {steps}"
    )


SPEC = AgentSpec(
    key="tba",
    name="TBA*",
    paper="TBA*: Time-Bounded A*",
    summary="A* sliced over ticks; walks towards the best open cell while it searches.",
    make=Tba,
    params=(
        EXPANSION_SHARE_PARAM,
        TRACE_RATE_PARAM,
        Param(
            "open_list",
            str,
            "buckets",
            "open list: buckets, as the paper proposes, or a heap; both give the same walk",
            choices=("buckets", "heap"),
        ),
        Param(
            "switch",
            str,
            "any",
            "any: switch to every new path; longer: only to one at least as long as the last",
            choices=("any", "longer"),
        ),
        Param("shortcut", bool, False, "while walking back from a wrong path, search for a shortcut to the right one"),
        Param(
            "shortcut_budget",
            int,
            0,
            "maximum expansions of the search for a shortcut in a tick; 0: the whole budget",
            0,
            1_000_000,
        ),
        Param("trace_check", bool, True, "end a trace early when it reaches the agent's cell"),
    ),
    check_budget=check_tba_budget,
    shows=frozenset({"tracing", "detour"}),
    advised_settings=({}, {"switch": "longer"}),
)
