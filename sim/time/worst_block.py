"""Search for the worst block: which cell or switch, blocked at which tick, costs an agent most.

    tasks = switch_block_tasks(timeline, ticks)    every switch at each of these ticks
    tasks = path_block_tasks(timeline, agents, ticks) every cell that these agents visited after each of these ticks
    search = WorstBlockSearch(timeline, agent, tasks)
    while not search.simulate_slice(work): ...     search in time slices or in a thread (it shares no mutable data)
    search.done, search.total                      progress; to cancel the search, stop calling simulate_slice()
    search.ranked_results()                        the results so far, most expensive first
    branch = open_result_as_branch(tree, number, result) open a result as a branch

Every candidate is simulated from its tick to the end with everything else unchanged: commands, agents and random
changes. So a branch created from a result reproduces its cost exactly.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sim.time.branches import Branch, BranchTree
from sim.time.keyframes import Keyframe, KeyframeStore, restore_world, take_keyframe
from sim.time.state_failures import StateError
from sim.time.timeline import Timeline
from sim.time.work_estimates import estimated_restore_us, estimated_work_of_ticks, total_expansions
from sim.world import World
from sim.world_commands import ApplyToGroup, Command, DefineSwitch, EditCells, MoveGoal, SetSwitch

NEVER_ARRIVED_COST = float("inf")

MAX_SIMULATED_TICKS = 50_000
"""Most ticks simulated after a block; an agent that takes longer counts as never arriving."""

_CHECK_EVERY_TICKS = 256  # maximum number of ticks simulated before checking whether the time slice is used up


@dataclass(frozen=True)
class BlockCandidate:
    """Cell or switch that the search tries to block."""

    name: str
    command: Command


BlockTask = tuple[int, BlockCandidate]
"""A tick and the block to try at it."""


@dataclass(frozen=True)
class SimulatedOutcome:
    """Result of a simulated run: whether, when and at what cost the agent arrived."""

    cost: float  # cost of the walk to the goal; infinite if the agent never arrived
    tick: int  # tick at which the agent arrived or the simulation was stopped


@dataclass(frozen=True)
class BlockResult:
    """Effect of blocking one cell or switch at one tick."""

    tick: int
    block_candidate: BlockCandidate
    outcome: SimulatedOutcome
    extra_cost: float  # cost of the agent's walk minus its cost without the block

    @property
    def never_arrives(self) -> bool:
        return self.outcome.cost == NEVER_ARRIVED_COST


# --- tasks ----------------------------------------------------------------------------------------


def evenly_spaced_ticks(first: int, last: int, count: int) -> list[int]:
    """Return up to `count` different ticks, spaced evenly from `first` to `last`."""
    return sorted({int(tick) for tick in np.linspace(first, last, max(1, count)).round()})


def switch_block_tasks(timeline: Timeline, ticks: Iterable[int]) -> list[BlockTask]:
    """Return tasks that block every switch at each of the ticks.

    A switch that a command creates during the run may not exist yet at one of the ticks. For such a switch, the tasks
    block its cells directly.
    """
    late = {entry.command.name for entry in timeline.command_log.entries if isinstance(entry.command, DefineSwitch)}
    blocks = [
        BlockCandidate(name, EditCells(blocked_cells=cells) if name in late else SetSwitch(name, True))
        for name, cells in timeline.world.switches.items()
    ]
    return [(tick, block) for tick in ticks for block in blocks]


def path_block_tasks(timeline: Timeline, agents: Iterable[int], ticks: Iterable[int]) -> list[BlockTask]:
    """Return tasks that block, at each of the ticks, every cell that one of these agents visited later.

    The cells on which the agents are at that tick are left out, because they cannot be blocked, and so is the goal,
    because blocking it would change the problem. Cells are in the order of the agents' visits.
    """
    agents = list(agents)
    return [(tick, block) for tick in ticks for block in _block_candidates_ahead(timeline, agents, tick)]


def _block_candidates_ahead(timeline: Timeline, agents: Sequence[int], tick: int) -> list[BlockCandidate]:
    """Return a candidate for each cell that one of the agents visited after `tick`.

    The goal and the cells of the agents at `tick` are left out.
    """
    world = timeline.world
    cells: dict[int, None] = {}
    for agent in agents:
        record = timeline.run_history.agent_records[agent]
        later_cells = record.log_rows[max(0, tick - record.joined_tick) :]["cell"].tolist()
        cells |= dict.fromkeys(later_cells)
    left_out = {world.goal, *(timeline.run_history.agent_records[agent].cell_at_tick(tick) for agent in agents)}
    return [BlockCandidate(_cell_name(world, cell), EditCells((cell,))) for cell in cells if cell not in left_out]


def _cell_name(world: World, cell: int) -> str:
    """Return the name of a blocked cell, such as (3, 4)."""
    x, y = world.grid.xy(cell)
    return f"({x}, {y})"


def _is_goal_move(command: Command) -> bool:
    return isinstance(command.command if isinstance(command, ApplyToGroup) else command, MoveGoal)


# --- search ---------------------------------------------------------------------------------------


class WorstBlockSearch:
    """Search in time slices for the cell or switch whose blocking costs one agent most."""

    def __init__(
        self, timeline: Timeline, agent: int, tasks: Iterable[BlockTask], max_ticks: int = MAX_SIMULATED_TICKS
    ) -> None:
        self.agent, self.max_ticks = agent, max_ticks
        self.block_tasks = sorted(tasks, key=lambda task: task[0])
        self.done, self.task_count = 0, len(self.block_tasks)
        self.outcome_without_block: SimulatedOutcome | None = None
        self._block_results: list[BlockResult] = []
        entries = timeline.command_log.entries
        self._last_goal_move_tick = max(
            (e.tick for e in entries if e.is_enabled and _is_goal_move(e.command)), default=0
        )
        # The fork has a keyframe store of its own, because another thread may use the timeline during the search.
        self._forked_timeline = timeline.fork(
            self.block_tasks[0][0] if self.block_tasks else 0,
            KeyframeStore(timeline.keyframe_saver.keyframe_store.budget_bytes),
        )
        self._task_slices = self._process_tasks()

    def simulate_slice(self, work: float = 4000.0) -> bool:
        """Simulate for about `work` microseconds (estimated, not timed); return whether all tasks are done."""
        spent = 0.0
        for piece in self._task_slices:
            spent += piece
            if spent >= work:
                return False
        return True

    def ranked_results(self) -> list[BlockResult]:
        """Return the results so far, most expensive first."""
        return sorted(self._block_results, key=lambda result: (-result.extra_cost, result.tick))

    def _process_tasks(self) -> Iterator[float]:
        """Process all tasks in time slices, and yield the estimated computing time of each slice in microseconds."""
        base: _WorldSource | None = None
        for tick, block in self.block_tasks:
            if base is None or base.tick != tick:
                yield from self._seek_fork(tick)
                base = _WorldSource(self._forked_timeline)
                if self.outcome_without_block is None:
                    self.outcome_without_block = yield from self._simulate_until_arrival(base.new_world(), base.tick)
            if base.tick == tick:  # otherwise the run ended before this tick: skip the task
                yield from self._simulate_block(base, tick, block)
            self.done += 1

    def _seek_fork(self, tick: int) -> Iterator[float]:
        """Seek the fork of the timeline to a tick in time slices, and yield the microseconds allowed for each slice."""
        self._forked_timeline.begin_seek(tick)
        while not self._forked_timeline.continue_seek(4000.0):
            yield 4000.0

    def _simulate_block(self, base: "_WorldSource", tick: int, block: BlockCandidate) -> Iterator[float]:
        """Simulate the run with one cell or switch blocked at `tick`, and store the result.

        Yields:
            The estimated computing time of each time slice, in microseconds.
        """
        assert self.outcome_without_block is not None
        world = base.new_world()
        yield base.estimated_work_us
        version = world.grid.version
        world.submit(replace(block.command))
        world.apply_due_changes()
        if world.grid.version == version:  # no effect, because the cell was blocked already or an agent is on it
            return
        outcome = yield from self._simulate_until_arrival(world, tick)
        self._block_results.append(
            BlockResult(tick, block, outcome, _cost_difference(outcome.cost, self.outcome_without_block.cost))
        )

    def _simulate_until_arrival(self, world: World, begin: int) -> Generator[float, None, SimulatedOutcome]:
        """Advance the world until the agent has arrived for good, or for at most `max_ticks` ticks.

        Yields:
            The estimated computing time of each time slice, in microseconds.
        """
        end = begin + self.max_ticks
        while world.tick < end and not self._has_agent_arrived(world):
            tick, expansions = world.tick, total_expansions(world)
            # Stop before each command, because it may remove the agent in the same tick in which the agent arrives.
            if not world.advance(min(_CHECK_EVERY_TICKS, end - world.tick, max(1, world.ticks_to_next_event()))):
                break
            yield estimated_work_of_ticks(world, world.tick - tick, total_expansions(world) - expansions)
        walker = world.walker_with_id(self.agent)
        has_arrived = walker is not None and self._has_agent_arrived(world)
        return SimulatedOutcome(
            float(walker.counts_record[0].cost) if walker is not None and has_arrived else NEVER_ARRIVED_COST,
            world.tick,
        )

    def _has_agent_arrived(self, world: World) -> bool:
        walker = world.walker_with_id(self.agent)
        if walker is None or not (walker.has_arrived and walker.is_done):
            return False
        # An arrival counts only after the last command that moves the goal was applied.
        return world.tick > self._last_goal_move_tick or (
            world.tick == self._last_goal_move_tick and not world.are_due_changes_pending
        )


class _WorldSource:
    """Source of any number of equal worlds, each at the present tick of a timeline."""

    def __init__(self, line: Timeline) -> None:
        self.line, self.tick = line, line.tick
        self.keyframe: Keyframe | None = None
        with suppress(StateError):
            self.keyframe = take_keyframe(line.world)

    @property
    def estimated_work_us(self) -> float:
        """Return the estimated time to create one of the worlds, in microseconds; 0 if unknown."""
        return estimated_restore_us(self.keyframe) if self.keyframe is not None else 0.0

    def new_world(self) -> World:
        """Return a new world at the source's tick: restored from a keyframe, or replayed if it cannot be stored."""
        if self.keyframe is not None:
            try:
                return restore_world(self.keyframe)
            except StateError:
                self.keyframe = None
        line = self.line.fork(self.tick)
        line.finish_seek()
        line.close()
        return line.world


def _cost_difference(cost: float, without: float) -> float:
    return 0.0 if cost == without else cost - without


def open_result_as_branch(tree: BranchTree, number: int, result: BlockResult) -> Branch:
    """Split branch `number`, block the cell or switch of a result in the new branch, and return the new branch."""
    branch = tree.create_branch(number, result.tick, f"{result.block_candidate.name} blocked at {result.tick}")
    branch.timeline.apply_command(replace(result.block_candidate.command), keeps_later=True)
    return branch
