"""The world: commands, random changes, the referee, digests; and that nothing depends on how time is dealt out."""

import itertools
import pickle
import re
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import AgentDefaults, AgentSpec, AgentView, Problem, Status
from sim.changes import RandomChangeSchedule
from sim.grid import Grid, MapChange
from sim.metrics import OwnCounts
from sim.params import ConfigError, Value
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import (
    AddAgent,
    AgentConfig,
    ApplyToGroup,
    Command,
    EditCells,
    MoveGoal,
    RemoveAgent,
    SetBudget,
    SetParam,
    SetRandomChanges,
    SetSwitch,
    SetTerrain,
)

from . import naive
from .conftest import (
    board_of,
    make_world,
    parameter_sets,
    problems,
    random_map_rows,
    run_python,
    smallest_accepted_budget,
    solo,
)

OPEN = ["......"] * 6


# --- agents made for tests ----------------------------------------------------------------------------------


class Scripted(AgentDefaults):
    """Goes where its script says, right or wrong, and remembers all that it is told."""

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        self.cell, self.goal = problem.start, problem.goal
        self.script: list[tuple[int, int]] = []  # (cell, expansions)
        self.told: list[object] = []

    def advance(self, budget: int, rows: np.ndarray) -> int:
        for row in rows:
            row.cell, row.expanded = self.script.pop(0) if self.script else (self.cell, 0)
            self.cell = int(row.cell)
        return len(rows)

    def on_change(self, change: MapChange) -> None:
        self.told.append(change)

    def set_goal(self, goal: int) -> None:
        self.goal = goal
        self.told.append(goal)

    def set_param(self, name: str, value: Value) -> None:
        self.told.append((name, value))

    def refused(self, cell: int) -> None:
        self.cell = cell
        self.told.append(f"refused on {cell}")

    @property
    def status(self) -> Status:
        return Status.AT_GOAL if self.cell == self.goal else Status.ACTIVE

    def own_counts(self) -> OwnCounts:
        return OwnCounts()

    def view(self) -> AgentView:
        return AgentView()


def make_scripted_world(script: list[tuple[int, int]], rows: list[str] = OPEN, **spec: Any) -> tuple[World, Scripted]:
    kind = AgentSpec("scripted", "Scripted", "", "For tests.", Scripted, runs_in_bulk=False, **spec)
    world = World(Grid.from_text_rows(rows), 0, len(rows) * len(rows[0]) - 1, {kind.key: kind}, budget=5)
    agent = world.add(AgentConfig("scripted")).agent
    assert isinstance(agent, Scripted)
    agent.script = script
    return world, agent


# --- the referee --------------------------------------------------------------------------------------------


def test_illegal_move_is_refused_and_reported_to_the_agent() -> None:
    world, agent = make_scripted_world([(1, 1), (20, 2), (2, 1), (2, 0), (9, 9)])
    walker = world.walkers[0]
    stood = [walker.position]
    for _ in range(5):
        world.advance(1)
        stood.append(walker.position)
    assert stood == [0, 1, 1, 2, 2, 9]
    assert agent.told == ["refused on 1"] and walker.refused_moves == 1
    m = world.metrics_of_walker(walker)
    assert (m.moves, m.waits, m.expansions, m.max_expansions, m.over_budget) == (3, 2, 13, 9, 1)
    assert m.cost == 2.0 + naive.SQRT2 and m.longest_stay == 1


def test_move_through_wall_or_corner_is_refused() -> None:
    for target, rows in ((1, [".@", ".."]), (3, [".@", ".."]), (3, [".W", ".."]), (4, ["..", "..", ".."])):
        world, agent = make_scripted_world([(target, 0)], rows)
        world.advance(1)
        assert agent.told == ["refused on 0"] and world.walkers[0].position == 0


def test_agent_over_budget_is_counted() -> None:
    rows = random_map_rows(1, 12, 12, 0.2)
    rows[0] = "." * 12
    for mode, is_over in (("instant", True), ("sliced", False)):
        world, walker = solo(rows, 0, 11, "astar", 2, mode=mode)
        world.advance(200)
        m = world.metrics_of_walker(walker)
        assert walker.agent.status is Status.AT_GOAL and m.expansions > 2
        assert (m.over_budget > 0, m.max_expansions > 2) == (is_over, is_over)


def test_budget_set_with_a_moved_goal_does_not_keep_an_arrived_agent_waiting() -> None:
    """Another agent is still under way, so the world is not over when the first has arrived."""
    world, walker = solo(["." * 40], 0, 4, "tb-wa")
    world.add(AgentConfig("tb-wa", goal=(39, 0)))
    world.advance(20)
    assert walker.position == 4
    for command in (MoveGoal(0), SetBudget(9)):
        world.submit(command)
    world.advance(30)
    assert (walker.position, world.budget) == (0, 9)


def test_measures_off_skips_nonoptimal_moves() -> None:
    rows = random_map_rows(2, 14, 14, 0.3)
    start, goal = rows[0].index("."), 13 * 14 + rows[13].index(".")
    counts, digests = [], set()
    for measures in (True, False):
        world = make_world(rows, start, goal, ("tb-wa", {}), budget=1, measures=measures)
        world.advance(1000)
        counts.append(world.metrics_of_walker(world.walkers[0]).nonoptimal_moves)
        digests.add((world.compute_digest(), world.optimal_cost, world.optimality_tracker.true_distances.cost(5)))
    assert counts[0] is not None and counts[0] > 0 and counts[1] is None and len(digests) == 1


# --- commands -----------------------------------------------------------------------------------------------


def test_commands_are_applied_at_their_tick_in_order() -> None:
    world, agent = make_scripted_world([])
    world.submit(EditCells(blocked_cells=(7,)), 3)
    world.submit(MoveGoal(30), 3)
    world.submit(EditCells(freed_cells=(7,)), 5)
    world.submit(MoveGoal(29), 2)
    world.advance(3)
    assert world.tick == 3 and world.goal == 29 and world.grid.is_free(7), "those of tick 3 have not come yet"
    world.apply_due_changes()
    assert world.goal == 30 and not world.grid.is_free(7) and world.tick == 3
    world.apply_due_changes()
    world.advance(10)
    kinds = [type(told).__name__ for told in agent.told]
    assert kinds == ["int", "MapChange", "int", "MapChange"]
    assert world.grid.is_free(7) and agent.told[0] == 29 and agent.told[2] == 30
    with pytest.raises(AssertionError):
        world.submit(MoveGoal(1), world.tick - 1)


def test_commands_change_switches_terrain_and_agents() -> None:
    world = make_world(OPEN, 0, 35, ("tb-wa", {}), switches={"bridge": (14, 15)})
    assert world.switch_states() == {"bridge": False}
    for command in (
        SetSwitch("bridge", True),
        SetTerrain((20, 21), "TW"),
        AddAgent(AgentConfig("tba", label="late", budget=20)),
        SetBudget(3),
        SetBudget(7, 1),
    ):
        world.submit(command)
    world.apply_due_changes()
    assert world.switch_states() == {"bridge": True}
    assert world.grid.text_rows()[3] == "..TW.." and not world.grid.is_free(20) and world.grid.is_free(21)
    assert [(w.id, w.label, w.position) for w in world.walkers] == [(0, "TB-WA*", 0), (1, "late", 0)]
    assert (world.budget, world.walkers[1].budget) == (3, 7)
    for command in (SetSwitch("bridge", False), RemoveAgent(0), SetBudget(None, 1), AddAgent(AgentConfig("astar"))):
        world.submit(command)
    world.advance(100)
    assert world.switch_states() == {"bridge": False}
    assert [w.id for w in world.walkers] == [1, 2] and world.walkers[0].budget is None
    assert world.is_over and not world.messages


@pytest.mark.parametrize(
    "command, words",
    [
        (AddAgent(AgentConfig("tb-wb")), "did you mean 'tb-wa'"),
        (AddAgent(AgentConfig("tba", params={"share": 7}, budget=9)), "share: expected a number from"),
        (AddAgent(AgentConfig("tba", budget=1)), "budget: expected one that leaves"),
        (SetParam(0, "share", 0.01), "budget: expected one that leaves"),
        (SetParam(0, "share", "much"), "share: expected a number from .*, got 'much'"),
        (SetBudget(1), "budget: expected one that leaves"),
        (MoveGoal(7), r"the goal cannot be at \(1, 1\): that cell is blocked"),
        (EditCells(blocked_cells=(0,)), r"\(0, 0\) stays free: TBA\* is on it"),
        (SetTerrain((0,), "@"), r"\(0, 0\) stays free: TBA\* is on it"),
        (EditCells(blocked_cells=(35,)), "the goal is blocked"),
    ],
)
def test_invalid_commands_leave_a_note(command: Any, words: str) -> None:
    world = make_world(["......", ".@....", *OPEN[2:]], 0, 35, ("tba", {}), budget=10)
    world.submit(command)
    world.apply_due_changes()
    assert len(world.messages) == 1
    note = world.messages[0]
    assert re.search(words, note.text) and note.tick == 0
    assert len(world.walkers) == 1 and world.budget == 10 and world.walkers[0].params["share"] == 0.9
    assert world.goal == 35 and world.grid.is_free(0)
    world.advance(100)


def test_passable_terrain_can_be_set_under_an_agent() -> None:
    world = make_world(OPEN, 0, 35, ("tb-wa", {}))
    world.submit(SetTerrain((0, 35), "GS"))
    world.apply_due_changes()
    assert world.messages == [] and world.grid.text_rows()[0] == "G....."


def test_invalid_start_and_goal_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        make_world(["@."], 0, 7)
    assert len(caught.value.problems) == 2
    assert "start: expected a free cell, got [0, 0]" in caught.value.problems[0]
    assert "goal: expected a cell of the map, got 7" in caught.value.problems[1]


@pytest.mark.parametrize("spec", AGENT_SPECS_BY_KEY.values(), ids=AGENT_SPECS_BY_KEY)
def test_agent_on_blocked_start_waits_until_it_is_freed(spec: AgentSpec) -> None:
    world = make_world(OPEN, 7, 35, budget=smallest_accepted_budget(spec, {}, 5))
    world.submit(EditCells(blocked_cells=(7,)))
    world.submit(AddAgent(AgentConfig(spec.key)), 1)
    world.submit(EditCells(freed_cells=(7,)), 40)
    world.advance(1000)
    walker = world.walkers[0]
    assert walker.agent.status is Status.AT_GOAL or not spec.is_complete
    assert world.tick > 40 and world.metrics_of_walker(walker).first_move == 40


def ring_around(world: World, cell: int) -> tuple[int, ...]:
    x, y = world.grid.xy(cell)
    return tuple(world.grid.cell(x + dx, y + dy) for dx, dy in naive.STEPS if world.grid.contains_point(x + dx, y + dy))


def enclose_and_free_cell(world: World, cell: int) -> None:
    """Wall a cell in at tick 1; see all agents stop, stay and wait; free it at tick 600; see them arrive."""
    walker = world.walkers[0]
    ring = ring_around(world, cell)
    world.submit(EditCells(blocked_cells=ring), 1)
    world.submit(EditCells(blocked_cells=(6,)), 580)  # a change that opens nothing wakes nobody
    world.submit(EditCells(freed_cells=ring), 600)
    world.advance(570 - world.tick)  # RIBS walks its proof
    assert walker.agent.status is Status.NO_PATH or not walker.spec.proves_no_path
    before = world.metrics_of_walker(walker)
    world.advance(30)
    after = world.metrics_of_walker(walker)
    if walker.spec.proves_no_path:
        assert (after.waits, after.expansions, after.restarts) == (
            before.waits + 30,
            before.expansions,
            before.restarts,
        )
    world.advance(500)
    assert walker.agent.status is Status.AT_GOAL or not walker.spec.is_complete


@pytest.mark.parametrize("spec", AGENT_SPECS_BY_KEY.values(), ids=AGENT_SPECS_BY_KEY)
def test_freeing_an_enclosed_goal_wakes_the_agents(spec: AgentSpec) -> None:
    enclose_and_free_cell(
        make_world(["......."] * 5, 14, 19, (spec.key, {}), budget=smallest_accepted_budget(spec, {}, 3)), 19
    )


@pytest.mark.parametrize("spec", AGENT_SPECS_BY_KEY.values(), ids=AGENT_SPECS_BY_KEY)
def test_enclosed_agent_wakes_when_freed(spec: AgentSpec) -> None:
    world = make_world(["......."] * 5, 14, 20, (spec.key, {}), budget=smallest_accepted_budget(spec, {}, 3))
    world.advance(1)
    enclose_and_free_cell(world, world.walkers[0].position)


# --- random changes -----------------------------------------------------------------------------------------


def make_crowd_world(rows: list[str], every: int, rate: float, **more: Any) -> World:
    free = [i for i, letter in enumerate("".join(rows)) if letter == "."]
    agents: list[tuple[str, dict[str, Value]]] = [("rtb-wa", {}), ("tba", {}), ("astar", {})]
    return make_world(
        rows, free[0], free[-1], *agents, budget=3, random_changes=RandomChangeSchedule(every, rate), seed=5, **more
    )


@pytest.mark.parametrize("rate", [1.0, 10.0, 60.0])
def test_random_changes_are_drawn_from_the_original_map(rate: float) -> None:
    rows = random_map_rows(9, 30, 30, 0.2)
    world = make_crowd_world(rows, 4, rate)
    original = np.array([letter == "." for letter in "".join(rows)])
    seen = set()
    for event in range(1, 20):
        world.advance(4 * event - world.tick)
        kept = {w.position for w in world.walkers} | {world.goal}
        world.apply_due_changes()
        free = world.grid.free_mask
        blocked, freed = np.flatnonzero(original & ~free), np.flatnonzero(~original & free)
        share = rate / 200.0
        assert len(blocked) in range(round(original.sum() * share) - len(kept), round(original.sum() * share) + 1)
        spared = sum(not original[c] for c in kept)  # freed by an event before, and an agent stands there
        assert 0 <= len(freed) - round((~original).sum() * share) <= spared
        assert not kept & set(blocked.tolist())
        seen.add((*blocked.tolist(), -1, *freed.tolist()))
    assert len(seen) == 19, "every event draws anew"


def test_random_changes_never_block_own_goals_of_agents() -> None:
    rows = ["." * 20] * 20
    world = make_world(rows, 0, 399, random_changes=RandomChangeSchedule(1, 100.0), seed=5)
    goals = [30 + 17 * i for i in range(8)]
    for goal in goals:
        world.add(AgentConfig("lrta", goal=(goal % 20, goal // 20)))
    for _ in range(20):
        world.advance(1)
        world.apply_due_changes()
        assert not world.grid.free_mask.all(), "half of all other cells are blocked"
        assert all(world.grid.is_free(goal) for goal in [*goals, world.goal])


def test_freed_cell_is_blocked_again_once_the_agent_leaves_it() -> None:
    """Such a cell misses the undoing of its event, and must not stay free for good."""
    rows = random_map_rows(3, 16, 16, 0.4)
    world = make_crowd_world(rows, 1, 40.0)
    original = np.array([letter == "." for letter in "".join(rows)])
    late = 0
    for _ in range(150):
        world.advance(1)
        world.apply_due_changes()
        positions = {w.position for w in world.walkers} | {world.goal}
        freed = set(np.flatnonzero(~original & world.grid.free_mask).tolist())
        late += len(freed) > round((~original).sum() * 0.2)
        assert len(freed - positions) <= round((~original).sum() * 0.2)
    assert late > 0, "it never came to this"


def test_user_edits_survive_random_changes() -> None:
    rows = random_map_rows(9, 20, 20, 0.3)
    world = make_crowd_world(rows, 2, 50.0)
    mine = [c for c in range(100, 140) if c not in {w.position for w in world.walkers} | {world.goal}]
    blocked, freed = tuple(mine[::2]), tuple(mine[1::2])
    world.submit(EditCells(blocked_cells=blocked, freed_cells=freed), 1)
    world.submit(SetRandomChanges(2, 0.0), 31)
    world.advance(30)
    world.apply_due_changes()
    last_event = {c for c in mine if world.grid.is_free(c) != (c in freed)}
    assert last_event, "events do draw over what a user drew"
    world.submit(SetRandomChanges(1, 0.001), 33)  # an event that changes nothing, but takes the last one back
    world.submit(EditCells(), 40)
    world.advance(40 - world.tick)
    stood_on = {w.position for w in world.walkers}
    assert [c for c in blocked if world.grid.is_free(c) and c not in stood_on] == []
    assert [c for c in freed if not world.grid.is_free(c)] == []


def test_each_tick_has_one_change_event_regardless_of_apply_now() -> None:
    """Changes that are switched on in the very tick in which they would be due begin with the next."""

    def run(looks: bool) -> str:
        world = make_crowd_world(random_map_rows(9, 20, 20, 0.2), 10, 0.0)
        world.submit(SetRandomChanges(5, 20.0), 10)
        for _ in range(40):
            if looks:
                world.apply_due_changes()
                world.apply_due_changes()
            world.advance(1)
        return world.compute_digest()

    assert run(looks=True) == run(looks=False)


def test_world_without_path_continues_while_changes_may_open_one() -> None:
    rows = ["..@..", "..@..", "..@.."]
    for rate, lives in ((0.0, False), (70.0, True)):
        world = make_world(rows, 0, 4, ("rtb-wa", {}), budget=5, random_changes=RandomChangeSchedule(5, rate))
        world.advance(400)
        assert (world.walkers[0].agent.status is Status.AT_GOAL) == lives
        assert world.is_over


@settings(max_examples=80)
@given(problems(side=8), st.integers(0, 999), st.sampled_from([5.0, 30.0, 100.0]))
def test_agents_are_notified_of_exactly_the_changed_arcs(
    problem: tuple[list[str], int, int], seed: int, rate: float
) -> None:
    rows, start, goal = problem
    kind = AgentSpec("scripted", "Scripted", "", "For tests.", Scripted)
    world = World(
        Grid.from_text_rows(rows),
        start,
        goal,
        {"scripted": kind},
        seed=seed,
        random_changes=RandomChangeSchedule(1, rate),
    )
    agent = world.add(AgentConfig("scripted")).agent
    assert isinstance(agent, Scripted)
    for _ in range(8):
        world.submit(EditCells(), world.tick + 1)
        board = board_of(world.grid)
        before, was_free = board.arcs(), world.grid.free_mask.copy()
        agent.told.clear()
        world.advance(1)
        world.apply_due_changes()
        want = naive.arc_difference(before, board_of(world.grid).arcs())
        assert len(agent.told) <= 1
        change = agent.told[0] if agent.told else None
        assert isinstance(change, MapChange) or want == (set(), set())
        if isinstance(change, MapChange):
            arcs = [(board.at(int(a)), board.at(int(b))) for a, b in zip(change.tails, change.heads, strict=True)]
            assert len(set(arcs)) == len(arcs)
            gone = {arc for arc, rose in zip(arcs, change.rose, strict=True) if rose}
            assert (gone, set(arcs) - gone) == want
            assert change.cells.tolist() == np.flatnonzero(was_free != world.grid.free_mask).tolist()


# --- digests ------------------------------------------------------------------------------------------------

SCRIPT = [
    (4, EditCells(blocked_cells=(40, 41, 42, 43))),
    (9, EditCells(blocked_cells=(77, 78), freed_cells=(41,))),
    (14, SetTerrain((60, 61), "W.")),
    (20, MoveGoal(9)),
    (26, EditCells(freed_cells=tuple(range(36, 84)))),
    (30, SetBudget(4)),
]


@pytest.mark.parametrize("kind", ["shared", "own", "own start", "goals of their own", "a common goal", "moved by all"])
@pytest.mark.parametrize("measures", [True, False])
@pytest.mark.parametrize("tick", [0, 7])
def test_edits_in_the_tick_of_a_goal_change_count_for_its_optimum(kind: str, measures: bool, tick: int) -> None:
    """By a script at tick 0 or by hand before the first tick: as if the map had been opened so."""
    rows, drawn = ["......", "......", "......"], ["......", ".@@@@.", ".....@"]
    walls = EditCells(tuple(i for i, letter in enumerate("".join(drawn)) if letter == "@"))

    def optima_after(rows: list[str], edits: list[Command]) -> list[object]:
        world = World(
            Grid.from_text_rows(rows), 0, 10 if tick else 16, AGENT_SPECS_BY_KEY, budget=50, measures=measures
        )
        ends = {"own": ((0, 2), (4, 2)), "own start": ((5, 0), None)}.get(kind, (None, None))
        walkers = [world.add(AgentConfig("tb-wa", start=ends[0], goal=ends[1])) for _ in range(2)]
        for _ in range(2 if "goal" in kind or "all" in kind else 0):
            goal = (4, 0) if tick and "common" not in kind else (4, 2)
            walkers.append(world.add(AgentConfig("tba", start=(0, 2), goal=goal, group="units")))
        for command in edits:
            world.submit(command, tick)
        world.advance(tick + 1)
        world.submit(EditCells((), (8, 9, 17)))
        world.advance(3)
        return [world.optimality_tracker.optimal_costs.shared_optimum, *(walker.own_optimum for walker in walkers)]

    moves: list[Command] = [MoveGoal(16), *(MoveGoal(16, agent) for agent in range(2) if kind == "own")] if tick else []
    moves += [ApplyToGroup("units", MoveGoal(16))] if tick or kind == "moved by all" else []
    assert optima_after(rows, [*moves, walls]) == optima_after(rows, [walls, *moves]) != optima_after(rows, moves)
    if not tick:
        assert optima_after(rows, [walls, *moves]) == optima_after(drawn, moves)


def test_optimum_search_is_spread_over_frames_while_drawing() -> None:
    line = Timeline(partial(make_world, ["." * 300] * 300, 0, 90_000 - 1, ("tb-wa", {})))
    line.world.optimality_tracker.expansion_limit = 50
    line.apply_command(EditCells(tuple(range(300 * 150, 300 * 151 - 1))))
    before, frames = line.world.optimal_cost, 0
    while line.continue_measuring():
        frames += 1
    assert frames > 1 and line.world.optimal_cost > before and not line.continue_measuring()


def test_own_optima_are_refreshed_one_per_frame_and_only_if_affected() -> None:
    rows = ["." * 40] * 40
    crossing, beside = ((5, 10), (5, 30)), ((30, 2), (38, 2))
    configs = [AgentConfig("tb-wa", start=start, goal=goal) for start, goal in (crossing, beside, crossing[::-1])]
    wall = EditCells(tuple(range(20 * 40, 20 * 40 + 20)))

    def make() -> World:
        world = make_world(rows, 0, 40 * 40 - 1)
        for config in configs:
            world.add(config)
        return world

    line, at_once = Timeline(make), make()
    line.world.optimality_tracker.expansion_limit = 50
    line.continue_measuring()
    line.apply_command(wall)
    before = [walker.own_optimum for walker in line.world.walkers]
    left = []
    while line.continue_measuring():
        left.append(sum(a.own_optimum == b for a, b in zip(line.world.walkers, before, strict=True)))
    assert left[-1] == 1 and set(left) >= {1, 2}, "the two that cross it, one after the other"
    at_once.submit(wall)
    at_once.advance(1)
    assert [w.own_optimum for w in line.world.walkers] == [w.own_optimum for w in at_once.walkers]


def test_optimum_is_measured_on_the_map_when_the_goal_was_set() -> None:
    world = make_world(["....", ".@@.", "...."], 0, 3, ("tb-wa", {}), budget=50)
    assert world.optimal_cost == 3.0
    world.submit(EditCells(blocked_cells=(1, 9)), 2)
    world.advance(3)
    assert world.optimal_cost == 3.0, "later edits do not count"
    world.submit(MoveGoal(11))
    world.advance(50)
    assert world.walkers[0].has_arrived
    assert not np.isfinite(world.optimal_cost), "from the start nothing leads there any more"
    assert world.metrics_of_walker(world.walkers[0]).suboptimality is None


def make_world_with_all_agents(changes: bool = True, watched: bool = False) -> World:
    """A small world with every agent in several settings, edits, a moving goal and random changes."""
    rows = random_map_rows(21, 12, 12, 0.22)
    rows[0], rows[-1] = "." * 12, "." * 12
    agents: list[tuple[str, Mapping[str, Value]]] = [(key, {}) for key in AGENT_SPECS_BY_KEY]
    agents += [
        (spec.key, setting) for spec in AGENT_SPECS_BY_KEY.values() for setting in parameter_sets(spec) if setting
    ]
    agents += [("tba", {"open_list": "buckets"}), ("tba", {"shortcut": True, "switch": "longer", "trace_rate": 100.0})]
    agents += [("rtb-wa", {"restart": "lazy", "reopen": True}), ("rtb-wa", {"lazy_rule": "printed", "weight": 1.37})]
    world = World(
        Grid.from_text_rows(rows),
        3,
        140,
        AGENT_SPECS_BY_KEY,
        budget=5,
        seed=11,
        random_changes=RandomChangeSchedule(7, 6.0) if changes else None,
        watched=watched,
    )
    for number, (key, params) in enumerate(agents):
        if key == "knn-lrta":  # without the compiler thousands of records take half a minute
            params = {**params, "records": min(int(params.get("records", 25)), 25)}
        if key == "oracle-lrta":  # which tries every depth before each move: four seconds for 20
            params = {**params, "dmax": min(int(params.get("dmax", 5)), 5)}
        least = (5, 2000)[number % 2]  # the second cuts no lookahead
        world.add(
            AgentConfig(key, params=params, budget=smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], params, least))
        )
    world.queue_commands(SCRIPT)
    return world


def digests_and_metrics(world: World) -> list[str]:
    return [
        world.compute_digest(),
        *(f"{w.label} {world.walker_digest(w)} {world.metrics_of_walker(w)}" for w in world.walkers),
    ]


def run_everything(watched: bool) -> str:
    """What comes of them all."""
    world = make_world_with_all_agents(watched=watched)
    world.advance(45)  # the script has come to its end, and the map has changed six times
    return "\n".join(digests_and_metrics(world))


@pytest.mark.parametrize("watched", [False, True])
def test_digests_are_equal_without_the_jit(watched: bool) -> None:
    """Also that the uncompiled kernels overflow nowhere: warnings are errors there."""
    code = f"from tests.test_world import run_everything; print(run_everything({watched}))"
    assert run_python(code, NUMBA_DISABLE_JIT="1").strip() == run_everything(watched)


def test_digests_are_equal_for_single_ticks_bulk_and_pickling() -> None:
    bulk = make_world_with_all_agents()
    bulk.advance(300)
    stops = []
    world = make_world_with_all_agents()
    for ticks in itertools.cycle((1, 1, 3, 11, 2)):
        if not world.advance(min(ticks, bulk.tick - world.tick)):
            break  # at the end of the world, or where the other stopped: a map may change faster than some can plan
        stops.append(world.tick)
        if len(stops) in (2, 8, 13):
            world = pickle.loads(pickle.dumps(world))
    assert digests_and_metrics(world) == digests_and_metrics(bulk)
    assert world.tick == bulk.tick and len(stops) > 13


def test_digests_match_stored_constants() -> None:
    """One fixed world for good: a change of these numbers breaks recordings, and must be meant."""
    rows = random_map_rows(21, 12, 12, 0.22)
    rows[0], rows[-1] = "." * 12, "." * 12
    agents = ("astar", "wastar", "gbfs", "delayed-astar", "tba", "tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs")
    world = make_world(rows, 3, 140, *((key, {}) for key in agents), budget=5, seed=11)
    world.queue_commands(SCRIPT)
    digests = []
    for ticks in (6, 12, 50):
        world.advance(ticks)
        digests.append(world.compute_digest())
    assert digests == ["e0b5bca9ac47690f", "7a2ada933e8a8600", "9091cbc3bfa14348"]
    assert [world.walker_digest(w) for w in world.walkers] == [
        "2dbb785b09ace616",
        "6ca42ae2688fda12",
        "3e87ab593195b76a",
        "12b24f5376ca8b4d",
        "35cef9021d4dd191",
        "48d789b5249cb92a",
        "050b55365496ac00",
        "6945081e4630ce1b",
        "253b2bd04cf6fd55",
    ]


def test_adding_an_agent_does_not_change_the_others() -> None:
    one, many = make_world_with_all_agents(), make_world_with_all_agents()
    for agent in many.walkers[1::2]:
        one.submit(RemoveAgent(agent.id))
    for world in (one, many):
        world.random_changes = RandomChangeSchedule(7, 0.0)  # events spare the cells that agents stand on
        waiting = world.replace_queued_commands([])
        world.queue_commands((tick, command) for tick, command in waiting if not isinstance(command, EditCells))
    one.submit(AddAgent(AgentConfig("delayed-astar")), 3)
    one.advance(300)
    many.advance(300)
    kept = {w.id: one.walker_digest(w) for w in one.walkers}
    for walker in many.walkers:
        if walker.id in kept:
            assert kept[walker.id] == many.walker_digest(walker), walker.label


@pytest.mark.parametrize("what", ["map", "seed", "budget", "goal"])
def test_digest_depends_on_map_goal_budget_and_seed(what: str) -> None:
    rows = random_map_rows(21, 12, 12, 0.22)
    rows[0], rows[-1] = "." * 12, "." * 12
    digests = set()
    for other in (False, True):
        world = make_world(
            rows,
            3,
            141 if other and what == "goal" else 140,
            ("delayed-astar", {}),
            budget=6 if other and what == "budget" else 5,
            seed=9 if other and what == "seed" else 4,
        )
        if other and what == "map":
            world.submit(EditCells(blocked_cells=(100,)))
        world.advance(8)
        digests.add(world.compute_digest())
    assert len(digests) == 2


# --- looking ------------------------------------------------------------------------------------------------


def test_snapshot_matches_the_world() -> None:
    world = make_world(OPEN, 0, 35, ("tb-wa", {"weight": 1.0}), ("astar", {}), budget=2, switches={"s": (8,)})
    world.advance(2)
    shot = world.create_snapshot()
    assert (shot.tick, shot.start, shot.goal, shot.budget, shot.switch_states) == (2, 0, 35, 2, {"s": False})
    runner, waiter = shot.walkers
    assert (runner.position, runner.status, len(runner.log_rows), runner.first_row_tick) == (14, Status.ACTIVE, 2, 0)
    assert runner.metrics.moves == 2 and waiter.metrics.waits == 2 and waiter.state_word == "searching"
    world.advance(100)
    assert [w.state_word for w in world.create_snapshot().walkers] == ["arrived", "arrived"]
    assert world.is_over and world.advance(5) == 0


def test_snapshot_contains_the_budget_of_the_last_tick() -> None:
    world, _ = solo(OPEN, 0, 35, "tba", budget=8)
    world.advance(2)
    world.submit(SetBudget(2))
    world.apply_due_changes()
    view = world.create_snapshot().walkers[0]
    assert (view.budget, view.last_budget) == (2, 8)
    world.submit(SetBudget(5, agent=0))
    world.advance(1)
    assert world.create_snapshot().walkers[0].last_budget == 5


def test_rows_of_bulk_advance_equal_rows_of_single_ticks() -> None:
    """Also over commands and random changes in between, which end a call of the kernel but not the rows."""

    def make_fresh_world() -> World:
        rows = random_map_rows(21, 12, 12, 0.22)
        rows[0], rows[-1] = "." * 12, "." * 12
        world = make_world(
            rows, 3, 140, ("tb-wa", {}), ("astar", {}), random_changes=RandomChangeSchedule(7, 5.0), budget=2
        )
        world.submit(EditCells(blocked_cells=(60, 61)), 5)
        world.advance(2)
        return world

    bulk, single = make_fresh_world(), make_fresh_world()
    bulk.advance(10)
    ticks: list[list[tuple[int, ...]]] = [[], []]
    for _ in range(10):
        single.advance(1)
        for walker, rows in zip(single.walkers, ticks, strict=True):
            assert (len(walker.log_rows), walker.recent_rows.tick) == (1, single.tick - 1)
            rows += walker.log_rows.tolist()
    assert [walker.log_rows.tolist() for walker in bulk.walkers] == ticks
    assert [walker.recent_rows.tick for walker in bulk.walkers] == [2, 2]


def test_true_distance_follows_edits_and_the_goal() -> None:
    world = make_world(OPEN, 0, 35, ("tb-wa", {}))
    for command in (None, EditCells(blocked_cells=(28, 29, 34)), MoveGoal(30), EditCells(freed_cells=(28,))):
        if command:
            world.submit(command)
            world.apply_due_changes()
        board = board_of(world.grid)
        away = board.distances(board.at(world.goal))
        for cell in range(world.grid.cells):
            want = away.get(board.at(cell), np.inf)
            assert world.optimality_tracker.true_distances.cost(cell) == want


def test_stopwatch_times_only_planning() -> None:
    world = make_world(OPEN, 0, 35, ("tb-wa", {}), stopwatch=time.perf_counter)
    world.advance(100)
    assert world.agent_times.planning_s.keys() == {0} and world.agent_times.planning_s[0] > 0.0
