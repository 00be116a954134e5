"""Crowds: all agents of a group in one panel, and the one of them that the user follows.

This module does not use pygame.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentView, Status
from sim.crowd import CrowdCounts
from sim.kernels import log
from sim.time.timeline import Timeline
from sim.walker import Walker
from sim.world import World
from sim.world_view import WalkerView

TAIL_TICKS = 24
"""Number of recent ticks whose cells form the tail drawn behind an agent's dot."""

# Maximum ticks added to the visit counts in one update; after a longer gap, all counts are rebuilt.
_MAX_UPDATE_TICKS = 256
_MEDIAN_TICKS = 30  # number of recent ticks whose median computing time is shown
MAX_RECORDED_TIMES = 600
"""Maximum number of recent tick times that are kept."""


@dataclass(frozen=True)
class Crowd:
    """Content of the panel of a crowd (all agents of a group together) at one tick."""

    name: str
    agent_ids: tuple[int, ...]
    agent_goals: npt.NDArray[np.int32]
    counts: CrowdCounts
    visit_counts: npt.NDArray[np.uint32]  # number of visits of each map cell, by all agents of the crowd together
    change_counter: int  # version counter that is incremented whenever `visit_counts` or `tail_cells` change
    tail_cells: npt.NDArray[np.int32]  # int32[agents, ticks]: recent cells of each agent, the current cell last
    # Computing times of recent ticks in ms, each for all agents of the crowd together.
    recent_tick_ms: tuple[float, ...]
    drawn_agent: int | None = None  # agent whose search, path and trail are drawn
    followed_agent: int | None = None  # agent that the user chose to follow

    @property
    def has_own_goals(self) -> bool:
        return bool(self.agent_goals.size)

    def drawn_start_and_goal(self, shared: tuple[int, int]) -> tuple[int, int]:
        """Return the start and goal cells to draw while no agent is followed; -1 for a start or goal that is not drawn.

        If the agents have no starts and goals of their own, the `shared` ones are drawn. Otherwise only a goal that
        all agents have in common is drawn, because hundreds of starts and goals would hide everything.
        """
        if not self.has_own_goals:
            return shared
        is_one = self.agent_goals.size == len(self.agent_ids) and bool((self.agent_goals == self.agent_goals[0]).all())
        return -1, int(self.agent_goals[0]) if is_one else -1

    @property
    def max_tick_ms(self) -> float:
        return max(self.recent_tick_ms, default=0.0)

    @property
    def median_tick_ms(self) -> float:
        return float(np.median(self.recent_tick_ms[-_MEDIAN_TICKS:])) if self.recent_tick_ms else 0.0

    def nearest_agent(self, width: int, x: float, y: float, max_distance: float) -> int | None:
        """Return the agent whose dot is nearest to the map coordinates (x, y); None if none is within `max_distance`.

        Args:
            width: Width of the map, in cells.
            x: Map coordinate in cells.
            y: Map coordinate in cells.
            max_distance: Maximum distance in cells.
        """
        cells = self.counts.cells
        distances = np.hypot(cells % width + 0.5 - x, cells // width + 0.5 - y)
        index = int(distances.argmin())
        return self.agent_ids[index] if distances[index] <= max_distance else None


@dataclass(eq=False)
class CrowdTracker:
    """Recorder of a crowd, updated tick by tick: the visits of each map cell, and the recent cells of each agent."""

    agent_ids: tuple[int, ...] = ()
    followed_agent: int | None = None  # agent that the user chose to follow
    hovered_agent: int | None = None  # agent under the mouse pointer
    tick: int = -1  # last tick included in `visit_counts` and `tail_cells`; -1 before the first update
    change_counter: int = 0  # version counter that is incremented whenever `visit_counts` or `tail_cells` change
    visit_counts: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    tail_cells: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 1), np.int32))
    recent_tick_ms: "deque[float]" = field(default_factory=lambda: deque(maxlen=MAX_RECORDED_TIMES))
    # `Timeline.past_version` for which `visit_counts` and `tail_cells` are valid; -1: rebuild both.
    _timeline_generation: int = -1

    @property
    def drawn_agent(self) -> int | None:
        return self.followed_agent if self.hovered_agent is None else self.hovered_agent

    def update_to_timeline(self, timeline: Timeline, walkers: list[Walker]) -> None:
        """Update visits and tails to the current tick of a timeline, which must not be seeking."""
        agents = tuple(walker.id for walker in walkers)
        if agents != self.agent_ids:
            self.agent_ids, self._timeline_generation = agents, -1
        is_continuous = (
            self._timeline_generation == timeline.past_version and 0 <= timeline.tick - self.tick <= _MAX_UPDATE_TICKS
        )
        if not is_continuous:
            self._reset_visits_and_tails(timeline, walkers)
        if timeline.tick > self.tick:
            self._count_new_ticks(timeline)
            self._record_tick_time(timeline.world, walkers)

    def _reset_visits_and_tails(self, timeline: Timeline, walkers: list[Walker]) -> None:
        """Reset visits and tails to the start cells of the agents."""
        self._timeline_generation, self.tick = (
            timeline.past_version,
            min((walker.added_tick for walker in walkers), default=0),
        )
        self.visit_counts = np.zeros(timeline.world.grid.cells, np.uint32)
        starts = np.array([walker.start for walker in walkers], np.int32)
        self._count_visits(starts)
        self.tail_cells = starts[:, None].copy()
        self.change_counter += 1

    def _count_new_ticks(self, timeline: Timeline) -> None:
        """Add the moves of all ticks since the last update to visits and tails."""
        cells = timeline.run_history.cells(self.agent_ids, self.tick, timeline.tick, self.tail_cells[:, -1])
        self._count_visits(cells[:, 1:][cells[:, 1:] != cells[:, :-1]])
        self.tail_cells = np.ascontiguousarray(np.concatenate([self.tail_cells, cells[:, 1:]], axis=1)[:, -TAIL_TICKS:])
        self.tick = timeline.tick
        self.change_counter += 1

    def _count_visits(self, cells: npt.NDArray[np.int32]) -> None:
        """Add a visit to each of these cells."""
        np.add.at(self.visit_counts, cells, np.uint32(1))

    def _record_tick_time(self, world: World, walkers: list[Walker]) -> None:
        """Record the computing time of the crowd per tick, averaged over the ticks of the last advance.

        If several advances happen between two frames, only the last one is recorded.
        """
        members = {walker.id for walker in walkers}
        timings = [timing for timing in world.executor.agent_timings(world) if timing.walkers[0].id in members]
        ticks = max((timing.ticks for timing in timings), default=0)
        seconds = sum(timing.seconds for timing in timings)
        if ticks and seconds:
            self.recent_tick_ms.append(1000.0 * seconds / ticks)

    def current_crowd(self, world: World, walkers: list[Walker]) -> Crowd:
        """Return the content of the group's panel at the current tick."""
        own_goals = [world.goal_of_walker(walker) for walker in walkers if walker.has_own_start_or_goal]
        return Crowd(
            walkers[0].config.group,
            self.agent_ids,
            np.array(own_goals, np.int32),
            CrowdCounts.from_walkers(world, walkers),
            self.visit_counts,
            self.change_counter,
            self.tail_cells,
            tuple(self.recent_tick_ms),
            self.drawn_agent,
            self.followed_agent,
        )


def arrival_count_text(arrived: int, count: int) -> str:
    return f"{arrived:,} of {count:,} arrived"


def _crowd_status(numbers: CrowdCounts) -> Status:
    """Return the status of the crowd as a whole, which is active as long as any of its agents can still walk."""
    not_arrived = numbers.agent_count - numbers.arrived_count
    if not not_arrived:
        return Status.AT_GOAL
    if not_arrived > numbers.no_path_count + numbers.stopped_count:
        return Status.ACTIVE
    return Status.NO_PATH if numbers.no_path_count else Status.GAVE_UP


def crowd_totals_as_walker_view(world: World, leader: Walker, crowd: Crowd) -> WalkerView:
    """Return a crowd in the form of a single agent, with its name and total numbers, for tables and panel headers."""
    numbers = crowd.counts
    return WalkerView(
        leader.id,
        crowd.name,
        leader.spec,
        leader.params,
        leader.budget or world.budget,
        leader.position,
        _crowd_status(numbers),
        arrival_count_text(numbers.arrived_count, numbers.agent_count),
        numbers.combined_metrics(),
        crowd.visit_counts,
        log.new_tick_log(0),
        0,
        AgentView(),
        last_budget=leader.budget or world.budget,
        start=leader.start,
        goal=world.goal_of_walker(leader),
        group=crowd.name,
        has_own_start_or_goal=leader.own_optimum is not None,
    )
