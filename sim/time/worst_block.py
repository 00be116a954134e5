"""Find the worst block: what single block, at what moment, costs an agent most?

    tasks = switch_tasks(timeline, ticks)       every switch at each of these ticks
    tasks = path_tasks(timeline, agents, ticks) every cell that these agents still came by after each of them
    search = WorstBlock(timeline, agent, tasks)
    while not search.step(work): ...            in pieces, or in a thread: it shares nothing that changes
    search.done, search.total                   progress; to cancel it, leave off
    search.results()                            dearest first, as far as it has got
    branch = open_what_if(tree, number, result) any of them as a branch

Every candidate is the whole run from its tick on, with everything else as it is: same commands, same agents, same
random changes. So what a result says is what its branch shows.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from sim.commands import Command, EditCells, MoveGoal, NameSwitch, SetSwitch, ToGroup
from sim.time.branches import Branch, BranchTree
from sim.time.failures import StateError
from sim.time.keyframes import Keyframe, KeyframeStore, restore, take
from sim.time.timeline import Timeline, expansions_of, restoring_work, work_of
from sim.world import World

NEVER = float("inf")

MOST_TICKS = 50_000
"""Ticks after its block that an agent may still walk; one that walks longer counts as one that never arrives."""

_PIECE = 256  # ticks between two looks at the work done


@dataclass(frozen=True)
class Block:
    """Something that may be blocked."""

    name: str
    command: Command


Task = tuple[int, Block]
"""A block and the tick to try it at."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended for the agent."""

    cost: float  # walked until it arrived, infinite when it never did
    tick: int  # at which it arrived or was given up


@dataclass(frozen=True)
class Result:
    tick: int
    block: Block
    outcome: Outcome
    extra: float  # cost beyond that of the run without the block

    @property
    def never_arrives(self) -> bool:
        return self.outcome.cost == NEVER


# --- what to try ----------------------------------------------------------------------------------


def spread_ticks(first: int, last: int, count: int) -> list[int]:
    """So many ticks, spread evenly from one to the other."""
    return sorted({int(tick) for tick in np.linspace(first, last, max(1, count)).round()})


def switch_tasks(timeline: Timeline, ticks: Iterable[int]) -> list[Task]:
    """Every switch at each of the ticks; the cells of one that is named later than that."""
    late = {entry.command.name for entry in timeline.entries() if isinstance(entry.command, NameSwitch)}
    blocks = [
        Block(name, EditCells(blocked=cells) if name in late else SetSwitch(name, True))
        for name, cells in timeline.world.switches.items()
    ]
    return [(tick, block) for tick in ticks for block in blocks]


def path_tasks(timeline: Timeline, agents: Iterable[int], ticks: Iterable[int]) -> list[Task]:
    """Every cell that one of these agents came by after each of the ticks, in the order of their coming.

    The cell it stands on at that tick cannot be blocked; blocking the goal would make it another problem.
    """
    agents = list(agents)
    return [(tick, block) for tick in ticks for block in _blocks_ahead(timeline, agents, tick)]


def _blocks_ahead(timeline: Timeline, agents: Sequence[int], tick: int) -> list[Block]:
    world = timeline.world
    cells: dict[int, None] = {}
    for agent in agents:
        record = timeline.records[agent]
        ahead = record.rows[max(0, tick - record.joined) :]["cell"].tolist()
        cells |= dict.fromkeys(ahead)
    left_out = {world.goal, *(timeline.records[agent].cell_at(tick) for agent in agents)}
    return [Block(_name(world, cell), EditCells((cell,))) for cell in cells if cell not in left_out]


def _name(world: World, cell: int) -> str:
    x, y = world.grid.xy(cell)
    return f"({x}, {y})"


def _moves_goal(command: Command) -> bool:
    return isinstance(command.command if isinstance(command, ToGroup) else command, MoveGoal)


# --- trying it ------------------------------------------------------------------------------------


class WorstBlock:
    """The search for the worst block for one agent, in pieces."""

    def __init__(self, timeline: Timeline, agent: int, tasks: Iterable[Task], most_ticks: int = MOST_TICKS) -> None:
        self.agent, self.most_ticks = agent, most_ticks
        self.tasks = sorted(tasks, key=lambda task: task[0])
        self.done, self.total = 0, len(self.tasks)
        self.baseline: Outcome | None = None
        self._results: list[Result] = []
        entries = timeline.entries()
        self._last_goal = max((e.tick for e in entries if e.is_enabled and _moves_goal(e.command)), default=0)
        # A store of its own: the timeline goes on meanwhile, perhaps in another thread.
        self._fork = timeline.fork(self.tasks[0][0] if self.tasks else 0, KeyframeStore(timeline.store.budget))
        self._running = self._run()

    def step(self, work: float = 4000.0) -> bool:
        """Go on for about so many microseconds of simulation; whether all is done."""
        spent = 0.0
        for piece in self._running:
            spent += piece
            if spent >= work:
                return False
        return True

    def results(self) -> list[Result]:
        """What has been found, the dearest first."""
        return sorted(self._results, key=lambda result: (-result.extra, result.tick))

    def _run(self) -> Iterator[float]:
        """Yields the work of each piece."""
        base: _Base | None = None
        for tick, block in self.tasks:
            if base is None or base.tick != tick:
                yield from self._go_to(tick)
                base = _Base(self._fork)
                if self.baseline is None:
                    self.baseline = yield from self._outcome(base.world(), base.tick)
            if base.tick == tick:  # else the run is over before that
                yield from self._try(base, tick, block)
            self.done += 1

    def _go_to(self, tick: int) -> Iterator[float]:
        self._fork.begin_seek(tick)
        while not self._fork.continue_seek(4000.0):
            yield 4000.0

    def _try(self, base: "_Base", tick: int, block: Block) -> Iterator[float]:
        assert self.baseline is not None
        world = base.world()
        yield base.work
        version = world.grid.version
        world.submit(replace(block.command))
        world.apply_now()
        if world.grid.version == version:  # blocked already, or somebody stands there
            return
        outcome = yield from self._outcome(world, tick)
        self._results.append(Result(tick, block, outcome, _extra(outcome.cost, self.baseline.cost)))

    def _outcome(self, world: World, begin: int) -> Generator[float, None, Outcome]:
        """Let the world go on until the agent has arrived for good, or never will."""
        end = begin + self.most_ticks
        while world.tick < end and not self._has_arrived(world):
            tick, expansions = world.tick, expansions_of(world)
            # Not past a command: it may take the agent away just when it has come to the goal.
            if not world.advance(min(_PIECE, end - world.tick, max(1, world.ticks_to_next_event()))):
                break
            yield work_of(world, world.tick - tick, expansions_of(world) - expansions)
        walker = world.walker(self.agent)
        has_arrived = walker is not None and self._has_arrived(world)
        return Outcome(float(walker.metrics[0].cost) if walker is not None and has_arrived else NEVER, world.tick)

    def _has_arrived(self, world: World) -> bool:
        walker = world.walker(self.agent)
        if walker is None or not (walker.has_arrived and walker.is_done):
            return False
        # The goal may still move on; at the very tick, it has not moved before its commands are applied.
        return world.tick > self._last_goal or (world.tick == self._last_goal and not world.is_before_commands)


class _Base:
    """A tick of a run, and as many worlds of that tick as are wanted."""

    def __init__(self, line: Timeline) -> None:
        self.line, self.tick = line, line.tick
        self.frame: Keyframe | None = None
        with suppress(StateError):
            self.frame = take(line.world)

    @property
    def work(self) -> float:
        """What a world takes, in microseconds, as far as that is known."""
        return restoring_work(self.frame) if self.frame is not None else 0.0

    def world(self) -> World:
        """Return a world of its own: from a keyframe, or computed again where the state of an agent cannot be kept."""
        if self.frame is not None:
            try:
                return restore(self.frame)
            except StateError:
                self.frame = None
        line = self.line.fork(self.tick)
        line.settle()
        line.close()
        return line.world


def _extra(cost: float, without: float) -> float:
    return 0.0 if cost == without else cost - without


def open_what_if(tree: BranchTree, number: int, result: Result) -> Branch:
    """The result as a branch of the one that was searched."""
    branch = tree.branch(number, result.tick, f"{result.block.name} blocked at {result.tick}")
    branch.timeline.do(replace(result.block.command), keeps_later=True)
    return branch
