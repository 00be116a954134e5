"""World cursor: a world that moves along a timeline, with the estimated computing time of the run up to its tick."""

from dataclasses import dataclass, field

from sim.agent_api import Status
from sim.time.work_estimates import estimated_work_of_idle_ticks, estimated_work_of_ticks, total_expansions
from sim.world import World


@dataclass(eq=False)
class WorldCursor:
    """World that moves along a timeline, see the module docstring."""

    world: World
    replay_work_us: float = 0.0  # estimated computing time from tick 0 to the tick of the world, in microseconds
    # Value of `replay_work_us` when the last keyframe was taken or restored.
    last_keyframe_work_us: float = float("-inf")
    work_per_tick_us: float = 1000.0  # estimated computing time of a recent tick, in microseconds
    # Agent number -> status of the agent at `statuses_tick`, before the commands of this tick.
    agent_statuses: dict[int, Status] = field(default_factory=dict)
    statuses_tick: int = -1  # tick at which `agent_statuses` was read
    activity_version: int = -1  # value of World.activity_version when `agent_statuses` was read
    is_keyframe_due: bool = False  # whether the next frame of the window starts to save a keyframe
    is_stale: bool = False  # whether the past of this world was edited, so that the world must not be used any more

    def __post_init__(self) -> None:
        # Total number of expansions when `replay_work_us` was last updated.
        self.expansions = total_expansions(self.world)

    @property
    def tick(self) -> int:
        return self.world.tick

    @property
    def are_due_changes_pending(self) -> bool:
        return self.world.are_due_changes_pending

    def read_statuses(self) -> bool:
        """Read the statuses of all agents into `agent_statuses`, at most once per tick.

        A second read at the same tick would be wrong, because commands of the tick may have changed statuses since.

        Returns:
            Whether the state of any agent may have changed since the last read.
        """
        if self.statuses_tick == self.world.tick:
            return False
        self.statuses_tick = self.world.tick
        if self.activity_version == self.world.activity_version:
            return False
        self.activity_version = self.world.activity_version
        self.agent_statuses = {walker.id: walker.agent.status for walker in self.world.walkers}
        return True

    def add_work_of_ticks(self, ticks: int, has_activity: bool) -> None:
        """Add the estimated computing time of the last ticks to `replay_work_us`.

        Args:
            ticks: number of ticks, which were run in one call of World.advance.
            has_activity: whether any agent may have changed in these ticks.
        """
        work = estimated_work_of_idle_ticks()
        if has_activity:
            before, self.expansions = self.expansions, total_expansions(self.world)
            work = estimated_work_of_ticks(self.world, ticks, max(0, self.expansions - before))
        self.replay_work_us += work
        # The rate (time per tick) rises at once but falls slowly, so that time slices seldom take too long.
        self.work_per_tick_us = max(work / ticks, self.work_per_tick_us / 2)
