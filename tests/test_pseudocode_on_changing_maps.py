"""The line at hand in slow motion, tick by tick against slow versions, while the map changes under the agent."""

import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.dt_lrta import DtLrta
from files.depth_tree_file import shipped_tree
from sim.agent_api import Status
from sim.params import Value
from sim.world import World
from sim.world_commands import EditCells, MoveGoal
from sim.world_view import WalkerView
from ui.model.executed_pseudocode import ExecutedPseudocode, executed_pseudocode

from .conftest import board_of, make_world, problems
from .naive import Arc, Board, Place, Row, arc_difference
from .naive_databases import Chooser, Pra
from .naive_dstar_lite import DstarLite
from .naive_learning import LocalSearch, Lrta, PLrta
from .test_databases import make_leaf_tree
from .test_dstar_lite import toggle_random_cells
from .test_ida import PATIENCE
from .test_learning import make_naive_learner
from .test_pseudocode import (
    INSTANT,
    RecordsLearning,
    current_line_key,
    executed_line_keys,
    make_problem_with_open_corners,
)

Problem = tuple[list[str], int, int]
Keys = set[str]
small, seeds = problems(side=8, water=False), st.integers(0, 2**32)


class ChangingRun:
    """A world with one agent whose map changes now and then."""

    def __init__(self, problem: Problem, kind: str, budget: int, seed: int, **params: Value) -> None:
        rows, start, goal = problem
        self.world: World = make_world(rows, start, goal, (kind, params), budget=budget, watched=True)
        self.walker, self.chance = self.world.walkers[0], random.Random(seed)
        self.board = board_of(self.world.grid)

    def changes(self, ticks: int) -> Iterator[tuple[set[Arc], set[Arc]]]:
        """Before each tick, the arcs that went and those that came."""
        for _ in range(ticks):
            before = self.board.arcs()
            if self.chance.random() < 0.15:
                toggle_random_cells(self.world, self.walker, self.chance, most=2)
                self.board = board_of(self.world.grid)
            yield arc_difference(before, self.board.arcs())

    def tick(self) -> tuple[WalkerView, Callable[..., ExecutedPseudocode | None]]:
        """The agent after the next tick, and what slow motion says of it after so many expansions."""
        before, tick = self.walker.position, self.world.tick
        assert self.world.advance(1) == 1
        view = self.world.create_snapshot().walkers[0]
        return view, lambda shown=None: executed_pseudocode(view, before, shown, tick + 1)


def assert_expansion_lines(said: Callable[..., ExecutedPseudocode | None], lines: list[str]) -> None:
    """At these lines, one for each expansion of the tick."""
    for shown, line in enumerate(lines):
        assert current_line_key(said(shown)) == line, shown


# --- those that learn -------------------------------------------------------------------------------------


class NotingLrta(RecordsLearning, Lrta):
    def did(self, row: Row) -> Keys:
        return {"expand", *({"choose", "learn"} if self.learns else ())} if row.expanded else set()

    goes = "move"


class NotingPLrta(RecordsLearning, PLrta):
    def did(self, row: Row) -> Keys:
        chooses = {"choose"} if self.status != "no path" else set()
        return {"expand", "learn", *chooses, *({"spread"} if row.expanded > 1 else ())} if row.expanded else set()

    goes = "move"


class NotingSearch(RecordsLearning, LocalSearch):
    def did(self, row: Row) -> Keys:
        plans = {"choose", "path"} if self.status != "no path" else set()
        return {"expand", *plans, *({"learn"} if self.learns else ())} if row.expanded else set()

    goes = "follow"


LEARNERS: dict[str, type] = {"lrta": NotingLrta, "p-lrta": NotingPLrta} | dict.fromkeys(
    ("k-lrta", "lss-lrta", "rtaa", "da-rtaa"), NotingSearch
)
SETTINGS: tuple[tuple[str, dict[str, Value]], ...] = (
    *((kind, {}) for kind in LEARNERS),
    ("lrta", {"depth": 3}),
    ("p-lrta", {"queue": 5, "updates": 3}),
    ("rtaa", {"moves": "one"}),
)


@pytest.mark.parametrize("kind, params", SETTINGS, ids=str)
@settings(max_examples=25)
@given(small, st.sampled_from([1, 4, 20]), st.sampled_from(["keep", "reset"]), seeds)
def test_pseudocode_of_learners_matches_naive_version(
    kind: str, params: dict[str, Value], problem: Problem, budget: int, unblock: str, seed: int
) -> None:
    params = params | {"on_unblock": unblock}
    run = ChangingRun(problem, kind, budget, seed, **params)
    naive: Any = make_naive_learner(kind, params, budget, run.board, run.world.start, run.world.goal)
    naive.__class__ = LEARNERS[kind]
    for gone, came in run.changes(60):
        naive.board = run.board
        naive.change(gone, came)
        if naive.status != "active":
            continue
        naive.learns = False
        row = naive.tick()
        _, said = run.tick()
        ends = {"no_path"} if naive.status == "no path" else {naive.goes}
        assert executed_line_keys(said()) == naive.did(row) | ends | ({"restart"} if row.restarted else set())
        first = ["expand"] * row.expanded if kind != "p-lrta" else ["expand", *(row.expanded - 1) * ["spread"]]
        assert_expansion_lines(said, first if row.expanded else [])


class NotingChooser(RecordsLearning, Chooser):
    """LRTA* of a depth that is found out before each move, with how much the looking around for it cost."""

    probed = 0
    depth_of: Callable[["NotingChooser"], tuple[int, int]]

    def plan_and_act(self) -> int:
        self.depth, self.probed = self.depth_of(self)
        return super().plan_and_act()


def depth_from_oracle(naive: NotingChooser) -> tuple[int, int]:
    return naive.label(), 0


def depth_from_tree(naive: NotingChooser) -> tuple[int, int]:
    return 2, naive.first_move(shipped_tree().presearch_depth)[2]


@pytest.mark.parametrize("kind, depth_of", [("oracle-lrta", depth_from_oracle), ("dt-lrta", depth_from_tree)])
@settings(max_examples=20)
@given(small, st.sampled_from([2, 4]), st.sampled_from(["keep", "reset"]), seeds)
def test_pseudocode_of_depth_choosers_asks_for_the_depth_first(
    kind: str, depth_of: Any, problem: Problem, dmax: int, unblock: str, seed: int
) -> None:
    run = ChangingRun(problem, kind, 1, seed, dmax=dmax, on_unblock=unblock)
    if isinstance(run.walker.agent, DtLrta):  # a tree that always says 2
        run.walker.agent.depth_tree = replace(shipped_tree(), decision_tree=make_leaf_tree(2))
    naive = NotingChooser(run.board, run.board.at(run.world.start), run.board.at(run.world.goal), dmax, 1)
    naive.resets, naive.depth_of = unblock == "reset", depth_of
    asked = {"probe", "ask"} if kind == "dt-lrta" else {"ask"}
    for gone, came in run.changes(40):
        naive.board = run.board
        naive.change(gone, came)
        if naive.status != "active":
            continue
        naive.learns, naive.probed = False, 0
        row = naive.tick()
        view, said = run.tick()
        assert int(view.log_rows[-1].expanded) == row.expanded + naive.probed
        looked = {"expand", *asked, *({"choose", "learn"} if naive.learns else ())} if row.expanded else set()
        ends = {"no_path"} if naive.status == "no path" else {"move"}
        assert executed_line_keys(said()) == looked | ends | ({"restart"} if row.restarted else set())
        assert_expansion_lines(said, naive.probed * ["probe"] + row.expanded * ["expand"])
        search = view.agent.search
        if row.expanded and search is not None and int(search.control[0].noted) > naive.probed:
            cells = [naive.board.at(int(cell)) for cell in search.order[: int(search.control[0].noted)]]
            assert cells[naive.probed :] == naive.last_plan, "the pre-search is shown first"


# --- those that wait for their path -----------------------------------------------------------------------


class Sliced:
    """What an algorithm comes to, one event after the other, a slice a tick: as many expansions as there is room for,
    and what follows the last of them before the next.
    """

    EXPANSIONS = frozenset({"expand"})

    def __init__(self, events: Iterator[str]) -> None:
        self.events, self.next = events, next(events, "")

    def slice(self, room: float) -> list[str]:
        done: list[str] = []
        while self.next and (self.next not in self.EXPANSIONS or room):
            room -= self.next in self.EXPANSIONS
            done.append(self.next)
            self.next = next(self.events, "")
        return done


def ida_events(board: Board, start: Place, goal: Place, way: list[Place]) -> Iterator[str]:
    """Recursive IDA*: each step of it; at its end the path is in `way`. A limit that rises expands the root."""
    limits = [board.h(start, goal)]

    def visit(g: float, root: str = "expand") -> Generator[str, None, tuple[bool, float]]:
        yield root
        beyond, here = float("inf"), way[-1]
        for child, cost in board.successors(here):
            f = g + cost + board.h(child, goal)
            if child in way:
                continue
            if f > limits[-1]:
                beyond = min(beyond, f)
                continue
            way.append(child)
            if child == goal:
                yield "found"
                return True, beyond
            found, least = yield from visit(g + cost)
            beyond = min(beyond, least)
            if found:
                return True, beyond
        way.pop()
        yield "back"
        return False, beyond

    while True:
        way[:] = [start]
        found, beyond = yield from visit(0.0, "limit" if len(limits) > 1 else "expand")
        if found:
            return
        if beyond == float("inf"):
            yield "no_path"
            return
        limits.append(beyond)


class NaiveIda(Sliced):
    EXPANSIONS = frozenset({"expand", "limit"})

    def __init__(self, board: Board, start: Place, goal: Place) -> None:
        self.way, self.start, self.loc = list[Place](), start, start
        super().__init__(ida_events(board, start, goal, self.way))
        self.goal, self.expanded, self.status = goal, 0, "goal" if start == goal else "active"
        self.has_begun = False

    def tick(self, room: float) -> tuple[Keys, str, int]:
        """What it did, how it ended, and its expansions."""
        done = [] if not self.next else self.slice(min(room, PATIENCE + 1))
        used = sum(event in self.EXPANSIONS for event in done)
        self.expanded, self.has_begun = self.expanded + used, True
        if done and done[-1] == "no_path":
            self.status = "no path"
            return {"expand", *done}, "no_path", used
        if self.next:
            return {"expand", *done}, "back" if done[-1] == "back" else "expand", used
        self.loc = self.way[self.way.index(self.loc) + 1]
        self.status = "goal" if self.loc == self.goal else "active"
        return {*done, "follow", *({"expand"} if done else ())}, "follow", used


@settings(max_examples=40)
@given(problems(side=6, water=False), st.sampled_from([1, 3, 50]), st.sampled_from(["sliced", "instant"]), seeds)
def test_pseudocode_of_ida_star_matches_naive_version(problem: Problem, budget: int, mode: str, seed: int) -> None:
    run = ChangingRun(problem, "ida", budget, seed, mode=mode)
    goal = run.board.at(run.world.goal)
    naive, restarted = NaiveIda(run.board, run.board.at(run.world.start), goal), False
    for gone, came in run.changes(40):
        wakes = naive.status == "no path" and run.walker.agent.status is Status.ACTIVE
        if wakes or (naive.status == "active" and naive.has_begun and (gone or came)):
            naive, restarted = NaiveIda(run.board, naive.loc, goal), True
        elif not naive.has_begun:
            naive = NaiveIda(run.board, naive.loc, goal)
        if naive.status != "active":
            continue
        did, end, used = naive.tick(INSTANT if mode == "instant" else budget)
        if naive.expanded > PATIENCE:
            return
        view, said = run.tick()
        assert int(view.log_rows[-1].expanded) == used
        assert (
            executed_line_keys(said()) == did | ({"restart"} if restarted else set())
            and current_line_key(said()) == end
        )
        assert_expansion_lines(said, used * ["expand"])
        restarted = False


def test_pseudocode_of_ida_star_shows_when_it_gives_up() -> None:
    run = ChangingRun((["." * 12] * 5 + ["@" * 11 + "."] + ["." * 12] * 6, 0, 12 * 11), "ida", 1000, 1, most=5000)
    while run.walker.agent.status is Status.ACTIVE:
        _, said = run.tick()
    reading = said()
    assert (
        current_line_key(reading) == "give up"
        and reading is not None
        and "5,000" in reading.lines[reading.current_line_index].text
    )


class NotingG(dict[Place, float]):
    """The table g of D* Lite, with what was done to it."""

    did: Keys

    def __setitem__(self, s: Place, value: float) -> None:
        self.did.add("raise" if value == float("inf") else "lower")
        super().__setitem__(s, value)


@settings(max_examples=40)
@given(small, st.sampled_from([1, 3, 30]), st.sampled_from(["sliced", "instant"]), seeds)
def test_pseudocode_of_dstar_lite_matches_naive_version(problem: Problem, budget: int, mode: str, seed: int) -> None:
    run = ChangingRun(problem, "dstar-lite", budget, seed, mode=mode)
    naive = DstarLite(run.board, run.board.at(run.world.start), run.board.at(run.world.goal))
    g = naive.g = NotingG()
    has_changed = False
    for gone, came in run.changes(40):
        naive.board = run.board
        naive.change(gone, came)
        has_changed |= bool(gone or came)
        if naive.status != "active":
            continue
        g.did, had_found = set(), naive.found
        row = naive.tick(INSTANT if mode == "instant" else budget)
        _, said = run.tick()
        settled = {"settled"} if naive.found and not had_found else set()
        end = "no_path" if naive.status == "no path" else "follow" if naive.found else "expand"
        change = {"change"} if has_changed else set()
        assert executed_line_keys(said()) == g.did | settled | {end} | change | ({"expand"} if row.expanded else set())
        assert current_line_key(said()) == end
        assert_expansion_lines(said, row.expanded * ["expand"])
        has_changed = False


def test_pseudocode_of_dstar_lite_restarts_only_for_a_new_goal() -> None:
    run = ChangingRun((["....", "....", "...."], 0, 3), "dstar-lite", 30, 1)
    run.tick()
    run.world.submit(EditCells((11,)))
    _, said = run.tick()
    assert executed_line_keys(said()) >= {"change"} and "restart" not in executed_line_keys(said())
    run.world.submit(MoveGoal(7))
    _, said = run.tick()
    assert executed_line_keys(said()) >= {
        "restart",
        "expand",
        "settled",
        "follow",
    } and "change" not in executed_line_keys(said())


class NotingPra(Pra):
    """The oracle, a step after the other; on another map than that of its regions it is A*."""

    def __init__(self, board: Board, start: Place, goal: Place, has_regions: bool, **options: Any) -> None:
        super().__init__(board, start, goal, **options)
        self.has_regions, self.events = has_regions, list[str]()

    def first_level(self, loc: Place) -> int | None:
        self.events.append("begin" if self.has_regions else "without data")
        return super().first_level(loc) if self.has_regions else 0

    def way_among(self, level: int, loc: Place, inside: set[int] | None, end: int | None) -> list[int]:
        before = self.expansions
        way = super().way_among(level, loc, inside, end)
        self.events += (self.expansions - before) * ["expand"] + ["refine"]
        return way

    def steps(self, loc: Place) -> tuple[list[str], list[Place]]:
        """Those of one plan, and its path; none where there is no path."""
        self.events = []
        reached = self.board.distances(loc)
        if not self.has_regions and self.goal not in reached:
            return ["without data", *len(reached) * ["cells"], "no_path"], []
        path = self.plan(loc)
        if path is None:
            return ["begin", "no_path"], []
        among = self.events.count("expand")
        used = self.expansions if not among else self.expansions - among
        self.expansions = 0
        return [*self.events, *used * ["cells"], "path"], path


class SlicedPra(Sliced):
    EXPANSIONS = frozenset({"expand", "cells"})


PLANS: tuple[dict[str, Any], ...] = ({}, {"wide": False, "keep": 2}, {"level": 1}, {"enough": True, "level": 3})
SLOW_NAMES = {"wide": "is_wide", "enough": "has_enough"}


@pytest.mark.parametrize("params", PLANS, ids=str)
@settings(max_examples=20)
@given(
    problems(side=13, low=5, water=False), st.sampled_from([1, 4, 1000]), st.sampled_from(["sliced", "instant"]), seeds
)
def test_pseudocode_of_pra_star_matches_naive_version(
    params: dict[str, Value], problem: Problem, budget: int, mode: str, seed: int
) -> None:
    run = ChangingRun(problem, "pra", budget, seed, mode=mode, **params)
    first, goal = run.board.arcs(), run.board.at(run.world.goal)
    options = {SLOW_NAMES.get(name, name): value for name, value in params.items()}
    state: Any = run.walker.agent
    loc, plan, path, restarts = run.board.at(run.world.start), None, list[Place](), 0
    for _ in run.changes(40):
        if int(state.state_record[0].restarts) > restarts:
            plan, path, restarts = None, [], restarts + 1
        if run.walker.agent.status is not Status.ACTIVE:
            continue
        if plan is None:
            naive = NotingPra(run.board, loc, goal, run.board.arcs() == first, **options)
            events, path = naive.steps(loc)
            plan = SlicedPra(iter(events))
        done = plan.slice(INSTANT if mode == "instant" else budget)
        view, said = run.tick()
        keys = executed_line_keys(said()) - {"restart"}
        if "no_path" in done:
            assert keys == set(done) and current_line_key(said()) == "no_path"
            plan = None
        elif not plan.next:
            loc = path[path.index(loc) + 1]
            assert keys == {*done, "follow"} and run.board.at(view.position) == loc
            plan = None if loc == path[-1] else plan
        else:
            assert keys == set(done) and current_line_key(said()) == done[-1]
        assert_expansion_lines(said, [event for event in done if event in plan.EXPANSIONS] if plan else [])


def test_pseudocode_of_pra_star_waits_for_rebuilt_regions() -> None:
    run = ChangingRun(make_problem_with_open_corners(3, 30), "pra", 200, 1, after_change="rebuild")
    run.world.submit(EditCells((next(cell for cell in range(400, 900) if run.world.grid.is_free(cell)),)))
    said_restart, waited = False, 0
    while True:
        _, said = run.tick()
        keys = executed_line_keys(said())
        said_restart |= "restart" in keys
        if "rebuild" not in keys:
            break
        assert current_line_key(said()) == "rebuild" and keys <= {"restart", "rebuild"}
        waited += 1
    assert said_restart and waited > 2 and {"begin", "expand"} <= keys
