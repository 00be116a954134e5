"""Agents that lie to the referee, in every way: each is stopped, with rule, tick and cell; the others walk on."""

import pickle
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import AgentDefaults, AgentSpec, AgentView, Problem, Status
from sim.grid import Grid, MapChange, ReadOnlyGrid
from sim.kernels import log
from sim.metrics import OwnCounts
from sim.params import Value
from sim.referee_rules import AgentFailedError
from sim.result_lines import outcome_of_walker
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig, EditCells

ROWS = ["......", ".@@@..", "......"]
START, GOAL = 0, 5
HONEST_TICKS = 2


class Liar(AgentDefaults):
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
            log.write_tick_row(row, self.cell, 1, 0, 0, log.SEARCHING)
        return len(rows)

    def lie(self, rows: np.ndarray, done: int) -> int:
        raise NotImplementedError

    def write_stay_row(self, row: Any, expanded: int = 1, traced: int = 0) -> None:
        log.write_tick_row(row, self.cell, expanded, traced, 0, log.SEARCHING)

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


class ClaimsArrival(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.write_stay_row(rows[done])
        self.claim = Status.AT_GOAL
        return done + 1


class ClaimsNoPath(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.write_stay_row(rows[done])
        self.claim = Status.NO_PATH
        return done + 1


class Jumps(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        log.write_tick_row(rows[done], 17, 1, 0, 0, 0)
        self.cell = 17
        return done + 1


class MovesOffTheMap(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        log.write_tick_row(rows[done], -7, 1, 0, 0, 0)
        return done + 1


class NegativeExpansions(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.write_stay_row(rows[done], expanded=-3)
        return done + 1


class NegativeTraced(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.write_stay_row(rows[done], traced=-1)
        return done + 1


class MissingExpansions(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        rows[done].cell = self.cell
        return done + 1


class ReturnsNoRows(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        return 0


class ReturnsNegativeCount(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        return -1


class ReturnsTooManyRows(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.write_stay_row(rows[done])
        return len(rows) + 1


class ReturnsNone(Liar):
    def lie(self, rows: np.ndarray, done: int) -> Any:
        self.write_stay_row(rows[done])


class WritesTheMap(Liar):
    def lie(self, rows: np.ndarray, done: int) -> int:
        self.write_stay_row(rows[done])
        for write in (
            lambda: self.problem.grid.moves.__setitem__(0, 255),
            lambda: self.problem.grid.map_arrays.moves.__setitem__(0, 255),
            lambda: self.problem.grid.map_arrays.cost.__setitem__(0, 0.0),
            lambda: self.problem.grid.terrain.__setitem__((1, 1), ord(".")),
            lambda: self.problem.grid.block_and_free([], [7]),
            lambda: self.problem.grid.set_terrain([7], np.array([46], np.uint8)),
        ):
            with pytest.raises((ValueError, TypeError)):
                write()
        raise AgentFailedError("liar.py:12: ValueError: assignment destination is read-only")


LIES = {
    ClaimsArrival: "has arrived, but its goal is (5, 0)",
    ClaimsNoPath: "there is no path, but there is one of cost 3",
    Jumps: "moved from (2, 0) to (5, 2), which is not a legal move",
    MovesOffTheMap: "cell -7, which is not on the map",
    NegativeExpansions: "-3 cells expanded",
    NegativeTraced: "-1 cells traced",
    MissingExpansions: "-1 cells expanded",
    ReturnsNoRows: "returned 0",
    ReturnsNegativeCount: "returned -1",
    ReturnsTooManyRows: "returned 2; expected 1 to 1",
    ReturnsNone: "returned None",
    WritesTheMap: "liar.py:12",
}


def make_world_with(liar: type, **options: Any) -> World:
    spec = AgentSpec("liar", "Liar", "", "Lies.", liar, is_own=True, runs_in_bulk=False)
    world = World(Grid.from_text_rows(ROWS), START, GOAL, {**AGENT_SPECS_BY_KEY, "liar": spec}, budget=2, **options)
    world.add(AgentConfig("liar"))
    world.add(AgentConfig("lrta"))
    return world


@pytest.mark.parametrize("liar, told", LIES.items(), ids=[liar.__name__ for liar in LIES])
def test_violation_is_reported_with_tick_and_cell_and_others_continue(liar: type, told: str) -> None:
    world = make_world_with(liar)
    before = world.grid.moves.copy()
    world.advance(50)
    caught, honest = world.walkers
    assert caught.violation is not None and told in caught.violation.description
    assert caught.violation.tick == HONEST_TICKS and caught.violation.cell == (2, 0)
    assert caught.is_done and caught.state_word == ("failed" if liar is WritesTheMap else "broke the rules")
    assert outcome_of_walker(world, caught, "stuck") == ("failed" if liar is WritesTheMap else "broke_rules")
    assert honest.has_arrived and honest.violation is None and world.is_over
    assert [note.text for note in world.messages] == [caught.violation.message_for_agent("Liar")]
    assert "on (2, 0)" in world.messages[0].text and world.messages[0].tick == 2
    assert (world.grid.moves == before).all()
    assert world.metrics_of_walker(caught).moves == 2 and world.metrics_of_walker(caught).expansions >= 2
    world.submit(EditCells(blocked_cells=(11,)))
    world.advance(1)
    assert caught.position == 2 and pickle.loads(pickle.dumps(world)).compute_digest() == world.compute_digest()


@pytest.mark.parametrize("liar", LIES, ids=[liar.__name__ for liar in LIES])
def test_violation_is_the_same_after_seeking_back(liar: type) -> None:
    line = Timeline(lambda: make_world_with(liar, watched=True))
    line.advance(8)
    digest, tick = line.world.compute_digest(), line.tick
    for target in (1, 2, 3, 0, tick):
        line.seek(target)
        offence = line.world.walkers[0].violation
        assert (offence is not None) == (target > HONEST_TICKS)
    assert (line.world.compute_digest(), line.run_history.divergence_tick) == (digest, None)
    assert [note.text for note in line.run_history.run_messages] == [
        line.world.walkers[0].violation.message_for_agent("Liar")
    ]


class FailsAfterArrival(Liar):
    """Arrives, and has an error to tell later, as a guarded agent has whose view has failed."""

    is_sorry = False

    def lie(self, rows: np.ndarray, done: int) -> int:
        if self.is_sorry:
            raise AgentFailedError("liar.py:12: IndexError")
        self.cell += 1
        self.write_stay_row(rows[done])
        return done + 1

    @property
    def status(self) -> Status:
        return Status.ACTIVE if self.is_sorry else super().status


def test_arrived_user_agent_is_still_advanced() -> None:
    """Nobody has told it anything, and yet it may have something to do."""
    world = make_world_with(FailsAfterArrival)
    world.submit(EditCells(freed_cells=(7,)), 40)
    world.advance(20)
    agent = cast(FailsAfterArrival, world.walkers[0].agent)
    assert agent.status is Status.AT_GOAL and world.tick == 20
    agent.is_sorry = True
    world.advance(5)
    assert world.walkers[0].violation is not None and world.walkers[0].violation.tick == 20
    world.advance(50)
    assert world.is_over


@pytest.mark.parametrize(
    "liar, told", [(Jumps, "to (5, 2)"), (ClaimsArrival, "arrived"), (NegativeExpansions, "-3 cells")]
)
def test_built_in_agents_are_checked_in_bulk_runs(liar: type, told: str) -> None:
    """In bulk, where one call is thousands of ticks."""
    spec = AgentSpec("liar", "Liar", "", "Lies.", liar)
    world = World(Grid.from_text_rows(ROWS), START, GOAL, {"liar": spec}, budget=2)
    world.add(AgentConfig("liar"))
    world.advance(50)
    offence = world.walkers[0].violation
    assert (
        offence is not None and told in offence.description and offence.tick == HONEST_TICKS and offence.cell == (2, 0)
    )


def test_true_no_path_claim_is_no_violation() -> None:
    spec = AgentSpec("liar", "Liar", "", "Tells the truth.", ClaimsNoPath, is_own=True, runs_in_bulk=False)
    world = World(Grid.from_text_rows(["...@..", "...@.."]), 0, 5, {"liar": spec})
    world.add(AgentConfig("liar"))
    world.advance(9)
    assert world.walkers[0].violation is None and world.walkers[0].agent.status is Status.NO_PATH


def grid_state(grid: Grid) -> tuple[object, ...]:
    return (
        grid.text_rows(),
        grid.moves.tolist(),
        grid.version,
        grid.free_cell_count,
        grid.free_mask.tolist(),
        grid.is_free(3),
    )


@pytest.mark.parametrize("copy", [lambda pair: pair, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_agent_map_view_follows_edits_of_the_world(copy: Callable[[Any], Any]) -> None:
    grid = Grid.from_text_rows(ROWS)
    grid, seen = copy((grid, ReadOnlyGrid(grid)))
    grid.block_and_free([3, 4], [8])
    assert grid_state(seen) == grid_state(grid) and seen.free_neighbours(2) == grid.free_neighbours(2)
    assert seen.cells == grid.cells and seen.xy(9) == grid.xy(9) and not seen.moves.flags.writeable
