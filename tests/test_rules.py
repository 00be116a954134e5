"""Agents that lie to the referee, in every way: each is stopped, with rule, tick and cell; the others walk on."""

import pickle
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pytest

from agents.registry import BY_KEY
from sim.agent_api import AgentSpec, AgentView, Problem, Status
from sim.commands import AgentConfig, EditCells
from sim.grid import Grid, MapChange, SeenGrid
from sim.kernels import log
from sim.metrics import OwnCounts
from sim.params import Value
from sim.results import outcome_of
from sim.rules import AgentFailedError
from sim.time.timeline import Timeline
from sim.world import World

ROWS = ["......", ".@@@..", "......"]
START, GOAL = 0, 5
HONEST_TICKS = 2


class Liar:
    """Walks to the right, and from its third tick on does what the subclass does."""

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        self.problem, self.cell, self.goal, self.ticks = problem, problem.start, problem.goal, 0
        self.claim: Status | None = None

    def advance(self, budget: int, rows: np.ndarray) -> int:
        for done, row in enumerate(rows):
            if self.status is not Status.ACTIVE:
                return done
            self.ticks += 1
            if self.ticks > HONEST_TICKS:
                return self.lie(rows, done)
            self.cell += 1
            log.write_row(row, self.cell, 1, 0, 0, log.SEARCHING)
        return len(rows)

    def lie(self, rows: np.ndarray, done: int) -> int:
        raise NotImplementedError

    def stay(self, row: Any, expanded: int = 1, traced: int = 0) -> None:
        log.write_row(row, self.cell, expanded, traced, 0, log.SEARCHING)

    def on_change(self, change: MapChange) -> None: ...

    def set_goal(self, goal: int) -> None: ...

    def set_param(self, name: str, value: Value) -> None: ...

    def refused(self, cell: int) -> None: ...

    def own_counts(self) -> OwnCounts:
        return OwnCounts()

    @property
    def status(self) -> Status:
        return self.claim or (Status.AT_GOAL if self.cell == self.goal else Status.ACTIVE)

    def view(self) -> AgentView:
        return AgentView()


class Arrived(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.stay(rows[done])
        self.claim = Status.AT_GOAL
        return done + 1


class NoPath(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.stay(rows[done])
        self.claim = Status.NO_PATH
        return done + 1


class Jumps(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        log.write_row(rows[done], 17, 1, 0, 0, 0)
        self.cell = 17
        return done + 1


class LeavesTheMap(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        log.write_row(rows[done], -7, 1, 0, 0, 0)
        return done + 1


class NegativeExpansions(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.stay(rows[done], expanded=-3)
        return done + 1


class NegativeTraced(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.stay(rows[done], traced=-1)
        return done + 1


class MissingExpansions(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        rows[done].cell = self.cell
        return done + 1


class Nothing(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        return 0


class Less(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        return -1


class TooMuch(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.stay(rows[done])
        return len(rows) + 1


class NoNumber(Liar):
    def lie(self, rows: np.ndarray, done: int) -> Any:
        self.stay(rows[done])


class WritesTheMap(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.stay(rows[done])
        for write in (
            lambda: self.problem.grid.moves.__setitem__(0, 255),
            lambda: self.problem.grid.ground.moves.__setitem__(0, 255),
            lambda: self.problem.grid.ground.cost.__setitem__(0, 0.0),
            lambda: self.problem.grid.terrain.__setitem__((1, 1), ord(".")),
            lambda: self.problem.grid.edit([], [7]),
            lambda: self.problem.grid.put_terrain([7], np.array([46], np.uint8)),
        ):
            with pytest.raises((ValueError, TypeError)):
                write()
        raise AgentFailedError("liar.py:12: ValueError: assignment destination is read-only")


LIES = {
    Arrived: "has arrived, but its goal is (5, 0)",
    NoPath: "there is no path, but there is one of cost 3",
    Jumps: "moved from (2, 0) to (5, 2), which is not a legal move",
    LeavesTheMap: "cell -7, which is not on the map",
    NegativeExpansions: "-3 cells expanded",
    NegativeTraced: "-1 cells traced",
    MissingExpansions: "-1 cells expanded",
    Nothing: "returned 0",
    Less: "returned -1",
    TooMuch: "returned 2; expected 1 to 1",
    NoNumber: "returned None",
    WritesTheMap: "liar.py:12",
}


def world_with(liar: type, **options: Any) -> World:
    spec = AgentSpec("liar", "Liar", "", "Lies.", liar, is_own=True, runs_in_bulk=False)
    world = World(Grid.from_rows(ROWS), START, GOAL, {**BY_KEY, "liar": spec}, budget=2, **options)
    world.add(AgentConfig("liar"))
    world.add(AgentConfig("lrta"))
    return world


@pytest.mark.parametrize("liar, told", LIES.items(), ids=[liar.__name__ for liar in LIES])
def test_every_lie_is_told_with_tick_and_cell_and_the_others_walk_on(liar: type, told: str) -> None:
    world = world_with(liar)
    before = world.grid.moves.copy()
    world.advance(50)
    caught, honest = world.walkers
    assert caught.offence is not None and told in caught.offence.what
    assert caught.offence.tick == HONEST_TICKS and caught.offence.place == (2, 0)
    assert caught.is_done and caught.state_word == ("failed" if liar is WritesTheMap else "broke the rules")
    assert outcome_of(world, caught, "stuck") == ("failed" if liar is WritesTheMap else "broke_rules")
    assert honest.has_arrived and honest.offence is None and world.is_over
    assert [note.text for note in world.notes] == [caught.offence.told("Liar")]
    assert "on (2, 0)" in world.notes[0].text and world.notes[0].tick == 2
    assert (world.grid.moves == before).all()
    assert world.metrics(caught).moves == 2 and world.metrics(caught).expansions >= 2
    world.submit(EditCells(blocked=(11,)))
    world.advance(1)
    assert caught.position == 2 and pickle.loads(pickle.dumps(world)).digest() == world.digest()


@pytest.mark.parametrize("liar", LIES, ids=[liar.__name__ for liar in LIES])
def test_a_lie_is_the_same_after_going_back(liar: type) -> None:
    line = Timeline(lambda: world_with(liar, watched=True))
    line.advance(8)
    digest, tick = line.world.digest(), line.tick
    for target in (1, 2, 3, 0, tick):
        line.seek(target)
        offence = line.world.walkers[0].offence
        assert (offence is not None) == (target > HONEST_TICKS)
    assert (line.world.digest(), line.diverged) == (digest, None)
    assert [note.text for note in line.notes()] == [line.world.walkers[0].offence.told("Liar")]


class Afterthought(Liar):
    """Arrives, and has an error to tell later, as a guarded agent has whose view has failed."""

    is_sorry = False

    def lie(self, rows: np.ndarray, done: int) -> int:
        if self.is_sorry:
            raise AgentFailedError("liar.py:12: IndexError")
        self.cell += 1
        self.stay(rows[done])
        return done + 1

    @property
    def status(self) -> Status:
        return Status.ACTIVE if self.is_sorry else super().status


def test_an_agent_of_the_users_is_asked_though_it_has_arrived() -> None:
    """Nobody has told it anything, and yet it may have something to do."""
    world = world_with(Afterthought)
    world.submit(EditCells(freed=(7,)), 40)
    world.advance(20)
    agent = cast(Afterthought, world.walkers[0].agent)
    assert agent.status is Status.AT_GOAL and world.tick == 20
    agent.is_sorry = True
    world.advance(5)
    assert world.walkers[0].offence is not None and world.walkers[0].offence.tick == 20
    world.advance(50)
    assert world.is_over


@pytest.mark.parametrize("liar, told", [(Jumps, "to (5, 2)"), (Arrived, "arrived"), (NegativeExpansions, "-3 cells")])
def test_agents_of_ours_are_held_to_the_same_rules(liar: type, told: str) -> None:
    """In bulk, where one call is thousands of ticks."""
    spec = AgentSpec("liar", "Liar", "", "Lies.", liar)
    world = World(Grid.from_rows(ROWS), START, GOAL, {"liar": spec}, budget=2)
    world.add(AgentConfig("liar"))
    world.advance(50)
    offence = world.walkers[0].offence
    assert offence is not None and told in offence.what and offence.tick == HONEST_TICKS and offence.place == (2, 0)


def test_a_true_no_path_is_believed() -> None:
    spec = AgentSpec("liar", "Liar", "", "Tells the truth.", NoPath, is_own=True, runs_in_bulk=False)
    world = World(Grid.from_rows(["...@..", "...@.."]), 0, 5, {"liar": spec})
    world.add(AgentConfig("liar"))
    world.advance(9)
    assert world.walkers[0].offence is None and world.walkers[0].agent.status is Status.NO_PATH


def look_at(grid: Grid) -> tuple[object, ...]:
    return grid.rows(), grid.moves.tolist(), grid.version, grid.free_count, grid.free.tolist(), grid.is_free(3)


@pytest.mark.parametrize("copy", [lambda pair: pair, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_the_map_that_an_agent_sees_follows_the_worlds_own(copy: Callable[[Any], Any]) -> None:
    grid = Grid.from_rows(ROWS)
    grid, seen = copy((grid, SeenGrid(grid)))
    grid.edit([3, 4], [8])
    assert look_at(seen) == look_at(grid) and seen.free_neighbours(2) == grid.free_neighbours(2)
    assert seen.cells == grid.cells and seen.xy(9) == grid.xy(9) and not seen.moves.flags.writeable
