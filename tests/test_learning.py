"""The learning agents against slow versions of themselves, and what their papers prove of them."""

import itertools
import os
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import Status
from sim.grid import Grid
from sim.kernels import learned, log, octile
from sim.movement import FOUR_NEIGHBOURS, Movement
from sim.params import Value
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal, SetMaxTrials

from . import naive_learning
from .conftest import (
    board_of,
    drawn,
    make_world,
    movements,
    problems,
    random_map_rows,
    run_python,
    solo,
    ticks_of,
    yaml_of,
)
from .naive import Board
from .test_golden import M1, assert_golden, row_id

LEARNERS = ("lrta", "p-lrta", "k-lrta", "lss-lrta", "rtaa", "da-rtaa")
LOCAL = ("k-lrta", "lss-lrta", "rtaa", "da-rtaa")
CONSISTENT = ("k-lrta", "lss-lrta", "rtaa", "da-rtaa", "p-lrta")
GOLDEN: dict[str, Any] = yaml_of((Path(__file__).parent / "golden" / "learning.yaml").read_text())

every_learner = pytest.mark.parametrize("key", LEARNERS)
Params = dict[str, Value]

VARIANTS: list[tuple[str, Params, int]] = [
    ("lrta", {}, 1),
    ("lrta", {"depth": 2}, 1),
    ("lrta", {"depth": 5, "on_unblock": "reset"}, 1),
    ("lrta", {"lookahead_by": "cost", "gmax": 1.5}, 1),
    ("lrta", {"lookahead_by": "cost", "gmax": 3.9}, 1),
    ("p-lrta", {"queue": 1, "on_unblock": "reset"}, 3),
    ("p-lrta", {"queue": 6}, 20),
    ("p-lrta", {"queue": 9, "updates": 4}, 30),
    *((key, {"on_unblock": policy}, n) for key in LOCAL for policy, n in (("keep", 1), ("keep", 7), ("reset", 20))),
    *((key, {"moves": "one"}, 6) for key in LOCAL[1:]),
    ("lss-lrta", {"lookahead": 3}, 8),
    ("rtaa", {"lookahead": 100}, 4),
]


def make_naive_learner(
    key: str, params: Params, budget: int, board: Board, start: int, goal: int
) -> naive_learning.Learner:
    whole = {p.name: p.default for p in AGENT_SPECS_BY_KEY[key].params} | params
    ends, resets = (board.at(start), board.at(goal)), whole["on_unblock"] == "reset"
    if key == "lrta":
        reach = max(0.0, float(whole["gmax"]) - board.dearest) if whole["lookahead_by"] == "cost" else None
        return naive_learning.Lrta(board, *ends, int(whole["depth"]), reach, resets)
    if key == "p-lrta":
        updates = min(int(whole["updates"]) or int(whole["queue"]), budget - 1)
        return naive_learning.PLrta(board, *ends, int(whole["queue"]), updates, resets)
    n = min(int(whole["lookahead"]) or budget, budget)
    backup = "adaptive" if key.endswith("rtaa") else "dijkstra"
    exits = "excess" if key == "da-rtaa" else "f"
    return naive_learning.LocalSearch(board, *ends, n, backup, exits, whole.get("moves") == "all", resets)


def h_values(walker: Walker) -> np.ndarray:
    """All of h, whether looked at or not."""
    table: learned.LearnedHeuristic = walker.agent.view().learned  # type: ignore[assignment]
    return np.array([float(table.h[s]) or float(learned.initial_h(table.target, s)) for s in range(table.h.size)])


def cells_in_group(walker: Walker, name: str) -> list[int]:
    return [int(cell) for cell in walker.agent.view().groups[name]]


def true_h(world: World) -> np.ndarray:
    board = board_of(world.grid)
    distances = board.distances(board.at(world.goal))
    return np.array([distances.get(board.at(s), np.inf) for s in range(world.grid.cells)])


# --- the golden table ------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", GOLDEN["rows"], ids=row_id)
def test_metrics_on_m1_match_golden_table(row: dict[str, Any]) -> None:
    world, walker = solo(*drawn(M1["map"]), row["kind"], row["budget"], **row.get("params", {}))
    world.advance(5000)
    assert walker.agent.status is Status.AT_GOAL
    m = world.metrics_of_walker(walker)
    assert_golden(row, {"moves": m.moves, "cost": m.cost, "expansions": m.expansions})


@pytest.mark.parametrize("row", GOLDEN["rows"], ids=row_id)
def test_naive_version_on_m1_matches_golden_table(row: dict[str, Any]) -> None:
    rows, start, goal = drawn(M1["map"])
    board = Board(rows)
    agent = make_naive_learner(row["kind"], row.get("params", {}), row["budget"], board, start, goal)
    walk, expansions = [agent.loc], 0
    while agent.status == "active":
        expansions += agent.tick().expanded
        walk.append(agent.loc)
    assert_golden(row, {"moves": len(walk) - 1, "cost": board.length(walk), "expansions": expansions})


# --- step by step against the slow versions --------------------------------------------------------------


@pytest.mark.parametrize("key, params, budget", VARIANTS, ids=lambda v: str(v) if not isinstance(v, dict) else None)
@settings(max_examples=12)
@given(problem=problems(side=9), movement=movements, seed=st.integers(0, 999), watched=st.booleans())
def test_every_tick_matches_naive_version(
    key: str,
    params: Params,
    budget: int,
    problem: tuple[list[str], int, int],
    movement: Movement,
    seed: int,
    watched: bool,
) -> None:
    """The same cells, expansions, values and ends, while the map changes and afterwards."""
    world = make_world(*problem, (key, params), budget=budget, movement=movement, watched=watched)
    walker = world.walkers[0]
    board = board_of(world.grid)
    slow = make_naive_learner(key, params, budget, board, world.start, world.goal)
    chance = random.Random(seed)
    for tick in range(60):
        if chance.random() < 0.15:
            places = [*range(world.grid.cells), *4 * [world.goal], *world.grid.free_neighbours(walker.position)]
            cells = chance.sample(places, min(3, len(places)))
            before = board.arcs()
            world.submit(EditCells(blocked_cells=tuple(cells[:2]), freed_cells=tuple(cells[2:])))
            world.apply_due_changes()
            board = slow.board = board_of(world.grid)
            after = board.arcs()
            slow.change(before - after, after - before)
        if slow.status == "active":
            row = slow.tick()
            assert world.advance(1) == 1
            assert (walker.position, walker.log_rows[0].expanded) == (board.id(row.cell), row.expanded), f"tick {tick}"
            assert bool(walker.log_rows[0].marks & log.RESTARTED) == row.restarted
        else:
            world.advance(1)
        assert walker.agent.status == {"active": Status.ACTIVE, "goal": Status.AT_GOAL}.get(slow.status, Status.NO_PATH)
        assert h_values(walker).tolist() == [slow.h(board.at(s)) for s in range(world.grid.cells)]
        if isinstance(slow, naive_learning.PLrta):
            assert cells_in_group(walker, "queued") == [board.id(s) for s in sorted(slow.queue, key=slow.urgency)]
        if slow.status == "active" and (watched or key != "lrta"):
            assert cells_in_group(walker, "local space") == [board.id(s) for s in slow.last_plan] or key == "lrta"
            assert set(cells_in_group(walker, "local space")) == {board.id(s) for s in slow.last_plan}


def test_closed_cell_is_reopened_for_a_cheaper_path() -> None:
    """What was learned on the old map is more than the true distance on the new one, so h is not consistent there."""
    rows = [".....@", ".@..@.", "@@@.@.", ".@...@", ".@@@.."]
    world = make_world(rows, 15, 24, ("rtaa", {}), budget=9)
    slow = make_naive_learner("rtaa", {}, 9, board_of(world.grid), 15, 24)
    walker = world.walkers[0]
    for tick in range(60):
        if tick == 9:
            before = slow.board.arcs()
            world.submit(EditCells(freed_cells=(10,)))
            world.apply_due_changes()
            slow.board = board_of(world.grid)
            slow.change(before - slow.board.arcs(), slow.board.arcs() - before)
        row = slow.tick()
        world.advance(1)
        assert (walker.position, walker.log_rows[0].expanded) == (slow.board.id(row.cell), row.expanded), f"tick {tick}"


# --- what the papers prove -------------------------------------------------------------------------------


@every_learner
@pytest.mark.parametrize("budget", [1, 3, 12, 60])
@settings(max_examples=15)
@given(problem=problems(side=11, low=3))
def test_h_is_monotone_admissible_and_consistent(key: str, budget: int, problem: tuple[list[str], int, int]) -> None:
    params: Params = {"depth": {1: 1, 3: 2, 12: 4, 60: 7}[budget]} if key == "lrta" else {}
    world = make_world(*problem, (key, params), budget=budget)
    walker, h_star = world.walkers[0], true_h(world)
    free = [s for s in range(world.grid.cells) if world.grid.is_free(s)]
    arcs = [(s, int(t)) for s in free for t in world.grid.free_neighbours(s)]
    tails, heads = [s for s, _ in arcs], [t for _, t in arcs]
    costs = np.array([1.0 if s % world.grid.width == t % world.grid.width or s // world.grid.width == t //
                      world.grid.width else world.grid.diagonal_cost for s, t in arcs])  # fmt: skip
    before = h_values(walker)
    for _ in range(80):
        if not world.advance(1):
            break
        after = h_values(walker)
        assert (after >= before).all() and (after[free] <= h_star[free]).all()
        if key in CONSISTENT or params == {"depth": 1}:
            assert (after[tails] <= costs + after[heads]).all()
        before = after


@settings(max_examples=25)
@given(problem=problems(side=11, low=3), n=st.integers(1, 30))
def test_rtaa_h_is_at_most_lss_lrta_h_after_one_episode(problem: tuple[list[str], int, int], n: int) -> None:
    world = make_world(*problem, ("rtaa", {}), ("lss-lrta", {}), budget=n)
    world.advance(1)
    rtaa, lss = (h_values(walker) for walker in world.walkers)
    assert (rtaa <= lss).all()


@settings(max_examples=25)
@given(problem=problems(side=10, low=2))
def test_all_learners_equal_lrta_with_one_expansion(problem: tuple[list[str], int, int]) -> None:
    """A local space of one cell: the backup of each is the same, and so is the move."""
    agents: list[tuple[str, Params]] = [("lrta", {}), ("k-lrta", {}), ("lss-lrta", {}), ("rtaa", {})]
    world = make_world(*problem, *agents, ("lrta", {"lookahead_by": "cost"}), ("p-lrta", {"queue": 5}), budget=1)
    for _ in range(200):
        if not world.advance(1):
            break
        assert len({walker.position for walker in world.walkers}) == 1
    assert len({world.walker_digest(walker) for walker in world.walkers}) == 1
    tables = [h_values(walker).tolist() for walker in world.walkers]
    assert all(table == tables[0] for table in tables)


@pytest.mark.parametrize("depth", [1, 2, 4, 7])
def test_lookahead_by_depth_expands_the_expected_cells(depth: int) -> None:
    """(2d - 1)^2 where nothing is in the way; over the budget, so that the referee marks it."""
    world, walker = solo(["." * 40] * 40, 820, 839, "lrta", budget=10, depth=depth)
    world.advance(1)
    assert walker.log_rows[0].expanded == (2 * depth - 1) ** 2 == AGENT_SPECS_BY_KEY["lrta"].needed(walker.params)
    assert (world.metrics_of_walker(walker).over_budget == 1) == ((2 * depth - 1) ** 2 > 10)


@pytest.mark.parametrize("gmax, expansions", [(1.0, 1), (1.5, 1), (2.42, 5), (2.83, 9)])
def test_lookahead_by_cost_expands_the_expected_cells(gmax: float, expansions: int) -> None:
    """A cell is expanded if all its successors are within gmax."""
    world, walker = solo(["." * 40] * 40, 820, 839, "lrta", budget=10, lookahead_by="cost", gmax=gmax)
    world.advance(1)
    assert walker.log_rows[0].expanded == expansions <= AGENT_SPECS_BY_KEY["lrta"].needed(walker.params)


@pytest.mark.parametrize("key", LOCAL)
def test_lookahead_stays_within_the_budget(key: str) -> None:
    for lookahead, budget, most in ((0, 7, 7), (3, 7, 3), (50, 7, 7)):
        world, walker = solo(*drawn(M1["map"]), key, budget, lookahead=lookahead)
        world.advance(5000)
        assert world.metrics_of_walker(walker).max_expansions == most


def test_p_lrta_limits_its_updates_to_the_budget() -> None:
    for queue, updates, budget, most in ((5, 0, 40, 6), (5, 0, 3, 3), (5, 9, 40, 10), (5, 2, 40, 3)):
        world, walker = solo(*drawn(M1["map"]), "p-lrta", budget, queue=queue, updates=updates)
        world.advance(5000)
        assert world.metrics_of_walker(walker).max_expansions == most


def test_depth_1_kernel_equals_the_general_kernel() -> None:
    """Watched worlds use the general kernel, others the short one; also where diagonals cost as much as straight."""
    for seed, diagonal in itertools.product(range(6), (1.0, 1.5, 2.0)):
        grid = Grid.from_text_rows(random_map_rows(seed, 14, 11, 0.25), movement=Movement(diagonal=diagonal))
        free = np.flatnonzero(grid.free_mask)
        worlds = []
        for watched in (False, True):
            world = World(grid, int(free[0]), int(free[-1]), AGENT_SPECS_BY_KEY, watched=watched)
            world.add(AgentConfig("lrta"))
            world.advance(3000)
            worlds.append(world)
        assert worlds[0].compute_digest() == worlds[1].compute_digest()
        assert h_values(worlds[0].walkers[0]).tolist() == h_values(worlds[1].walkers[0]).tolist()


def test_h_equal_to_the_limit_does_not_prove_that_there_is_no_path() -> None:
    """The limit on a map with four free cells is 4. Watched worlds use the general kernel, others that for depth 1."""
    for watched in (False, True):
        world = make_world(["..@.."], 0, 4, ("lrta", {}), movement=Movement(FOUR_NEIGHBOURS), watched=watched)
        walker = world.walkers[0]
        heights = []
        for _ in ticks_of(world, 20):
            heights.append(h_values(walker).max())
        assert walker.agent.status is Status.NO_PATH
        assert heights[0] == 4.0 and [h > 4.0 for h in heights] == [False] * (len(heights) - 1) + [True]


@every_learner
def test_search_numbers_may_wrap_around(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches are numbered with 16 bits."""
    params: Params = {"depth": 2} if key == "lrta" else {}
    digests = []
    for first in (0, 65_530):
        world, walker = solo(*drawn(M1["map"]), key, 6, **params)
        agent: Any = walker.agent
        if key in LOCAL:
            agent.local_space.search.control[0].search = first
        elif key == "lrta":
            agent.lookahead_ball.search.control[0].search = first
        world.advance(5000)
        digests.append(world.compute_digest())
    assert digests[0] == digests[1]


# --- no path, changes, goals -----------------------------------------------------------------------------


@every_learner
@pytest.mark.parametrize("budget", [1, 4, 500])
def test_no_path_is_proved_and_a_new_arc_wakes_the_agent(key: str, budget: int) -> None:
    rows, start, goal = drawn("S....#...\n.....#.G.\n.....#...")
    world, walker = solo(rows, start, goal, key, budget)
    world.advance(20_000)
    assert walker.agent.status is Status.NO_PATH
    if key in LOCAL and budget == 500:
        assert world.metrics_of_walker(walker).expansions == 15, "one look at all that can be reached"
    world.submit(EditCells(freed_cells=(14,)))
    world.advance(20_000)
    assert walker.agent.status is Status.AT_GOAL
    assert world.metrics_of_walker(walker).restarts >= 1


@pytest.mark.parametrize("moves", ["all", "one"])
@pytest.mark.parametrize("key", LOCAL[1:])
def test_planned_path_is_shown_until_the_map_cuts_it(key: str, moves: str) -> None:
    world, walker = solo(["." * 9] * 3, 9, 17, key, 20, moves=moves)
    world.advance(1)
    path = walker.agent.view().path.tolist()
    beside = next(cell for cell in range(18, 27) if cell not in path)
    for blocked, shown in ((beside, path), (path[3], [])):
        world.submit(EditCells(blocked_cells=(blocked,)))
        world.apply_due_changes()
        assert walker.agent.view().path.tolist() == shown


@every_learner
def test_blocked_goal_gives_no_path_within_two_ticks(key: str) -> None:
    world, walker = solo(*drawn(M1["map"]), key, 5)
    world.advance(3)
    world.submit(EditCells(blocked_cells=(world.goal,)))
    world.advance(2)
    assert walker.agent.status is Status.NO_PATH
    world.submit(EditCells(freed_cells=(world.goal,)))
    world.advance(5000)
    assert walker.agent.status is Status.AT_GOAL


@every_learner
def test_moved_goal_resets_h(key: str) -> None:
    world, walker = solo(*drawn(M1["map"]), key, 5)
    world.advance(9)
    world.submit(MoveGoal(0))
    world.apply_due_changes()
    board = board_of(world.grid)
    assert h_values(walker).tolist() == [board.h(board.at(s), (0, 0)) for s in range(world.grid.cells)]
    world.advance(5000)
    assert walker.position == 0


@pytest.mark.parametrize("key", ["lss-lrta", "rtaa", "da-rtaa"])
def test_only_a_wall_on_the_path_triggers_replanning(key: str) -> None:
    for is_ahead in (True, False):
        world, walker = solo(["." * 12] * 4, 12, 23, key, 6)
        world.advance(1)
        path = walker.agent.view().path.tolist()
        world.submit(EditCells(blocked_cells=(path[3] if is_ahead else 35,)))
        world.advance(1)
        assert (walker.log_rows[0].expanded > 0) == is_ahead
        assert world.metrics_of_walker(walker).restarts == is_ahead


@every_learner
def test_on_unblock_reset_discards_h_and_keep_retains_it(key: str) -> None:
    for policy in ("keep", "reset"):
        world, walker = solo(*drawn(M1["map"]), key, 5, on_unblock=policy)
        world.advance(12)
        before = h_values(walker)
        world.submit(EditCells(freed_cells=(5 * 20 + 10,)))
        world.apply_due_changes()
        is_same = (h_values(walker) == before).all()
        assert is_same == (policy == "keep")
        world.submit(EditCells(blocked_cells=(5 * 20 + 10,)))
        world.advance(5000)
        assert walker.agent.status is Status.AT_GOAL


@pytest.mark.parametrize(
    "key", [spec.key for spec in AGENT_SPECS_BY_KEY.values() if spec.keeps_h and spec.family == "learning"]
)
def test_resetting_h_counts_as_one_change_per_table(key: str) -> None:
    """Else a trial in which all was forgotten counts as converged, or changes of other tables count twice."""
    params: dict[str, Value] = {"records": 5} if key == "knn-lrta" else {}
    world, walker = solo(*drawn(M1["map"]), key, 5, **params)
    agent = cast(Any, walker.agent)
    for goal in (0, 40, 1):
        world.advance(12)
        before = agent.h_changes
        world.submit(MoveGoal(goal))
        world.apply_due_changes()
        tables = 2 if key == "pr-lrta" else 1  # of cells, and of regions
        assert agent.h_changes == before + tables
    assert before >= 3, "it had learned something in between"


# --- trials ----------------------------------------------------------------------------------------------


def test_goal_moved_after_arrival_extends_the_trial() -> None:
    """The agent arrives twice in one trial; the shorter walk that was noted first must go."""
    world = make_world(["." * 20], 0, 9, ("lrta", {}), budget=3, trials=1)
    walker = world.walkers[0]
    world.advance(100)
    assert [(trial.trial_number, trial.moves, trial.cost) for trial in walker.trials] == [(1, 9, 9.0)]
    world.submit(MoveGoal(19))
    world.advance(100)
    assert walker.has_arrived and walker.position == 19
    assert [(trial.trial_number, trial.moves, trial.cost) for trial in walker.trials] == [(1, 19, 19.0)]


@every_learner
@settings(max_examples=10)
@given(problem=problems(side=9, low=2), budget=st.sampled_from([1, 5, 30]))
def test_trials_converge_to_an_optimal_path(key: str, problem: tuple[list[str], int, int], budget: int) -> None:
    world = make_world(*problem, (key, {}), budget=budget, trials=10_000)
    assume(world.optimal_cost < np.inf)
    walker = world.walkers[0]
    world.advance(2_000_000)
    assert walker.is_converged and world.is_over
    last = walker.trials[-1]
    assert last.h_changes == 0
    if AGENT_SPECS_BY_KEY[key].converges_to_optimal:
        assert last.cost == world.optimal_cost
    assert [trial.trial_number for trial in walker.trials] == list(range(1, len(walker.trials) + 1))
    assert all(trial.h_changes > 0 and trial.cost >= world.optimal_cost for trial in walker.trials[:-1])
    metrics = world.metrics_of_walker(walker)
    assert sum(trial.cost for trial in walker.trials) == metrics.cost
    assert sum(trial.moves for trial in walker.trials) == metrics.moves
    assert sum(trial.expansions for trial in walker.trials) == metrics.expansions
    assert metrics.waits == len(walker.trials) - 1, "a tick to put it back on the start"
    assert metrics.suboptimality == last.suboptimality(world.optimal_cost)
    assert int(walker.visit_counts.sum()) == metrics.moves + len(walker.trials)


def trial_world(key: str, trials: int = 6) -> World:
    rows, start, goal = drawn(M1["map"])
    world = make_world(rows, start, goal, (key, {}), ("tb-wa", {}), budget=5, trials=trials)
    world.submit(EditCells(blocked_cells=(5 * 20 + 3,)), 40)
    world.submit(EditCells(freed_cells=(5 * 20 + 10,)), 90)
    world.submit(MoveGoal(19), 200)
    return world


def trial_state(world: World) -> tuple[object, ...]:
    return (
        world.compute_digest(),
        world.tick,
        [(w.trials, w.trial_number, w.is_converged, world.metrics_of_walker(w)) for w in world.walkers],
    )


@every_learner
def test_unreachable_edit_does_not_wake_an_enclosed_agent(key: str) -> None:
    world = make_world(["..@...", "..@...", "..@..."], 0, 5, (key, {}), budget=4)
    walker = world.walkers[0]
    world.advance(5000)
    assert walker.agent.status is Status.NO_PATH

    def facts() -> tuple[int, int, float]:
        return (
            int(walker.counts_record[0].expansions),
            int(walker.counts_record[0].restarts),
            float(walker.agent.state_record[0].limit),
        )

    before = facts()
    for blocked, freed in (((10,), ()), ((), (10,)), ((16,), ()), ((), (16,))):
        world.submit(EditCells(blocked, freed), world.tick)
        world.advance(50)
        assert walker.agent.status is Status.NO_PATH
    assert facts() == before
    world.submit(EditCells(freed_cells=(8,)))
    world.advance(5000)
    assert walker.has_arrived and facts()[1] == before[1] + 1


@every_learner
def test_trials_are_independent_of_advance_steps(key: str) -> None:
    bulk = trial_world(key)
    bulk.advance(100_000)
    for step in (1, 37):
        world = trial_world(key)
        while world.advance(step):
            if world.tick // step == 3:
                world = pickle.loads(pickle.dumps(world))
        assert trial_state(world) == trial_state(bulk)
    assert not bulk.walkers[1].trials, "an agent that learns no h walks once"


def test_trials_give_the_same_digest_with_and_without_jit() -> None:
    code = (
        "from tests.test_learning import LEARNERS, trial_world\n"
        "for key in LEARNERS:\n"
        "    world = trial_world(key, 3)\n"
        "    world.advance(100_000)\n"
        "    print(world.compute_digest(), len(world.walkers[0].trials))\n"
    )
    here = []
    for key in LEARNERS:
        world = trial_world(key, 3)
        world.advance(100_000)
        here.append(f"{world.compute_digest()} {len(world.walkers[0].trials)}")
    other = "1" if os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" else "0"
    assert run_python(code, NUMBA_DISABLE_JIT=other).split("\n")[:-1] == here


def test_return_to_start_is_marked_and_not_counted_as_a_move() -> None:
    world = make_world(*drawn(M1["map"]), ("lss-lrta", {}), budget=9, trials=2)
    walker = world.walkers[0]
    world.advance(10_000)
    placed = np.flatnonzero(walker.log_rows.marks & log.TRIAL_BEGAN)
    assert placed.size == 1 and len(walker.trials) == 2
    row = walker.log_rows[placed[0]]
    assert (row.cell, row.expanded, row.phase) == (world.start, 0, log.WAITING)
    assert walker.log_rows[placed[0] - 1].cell == world.goal
    board = board_of(world.grid)
    cells = [board.at(int(cell)) for cell in walker.log_rows.cell]
    first, second = [board.at(world.start), *cells[: placed[0]]], cells[placed[0] :]
    assert [board.length(first), board.length(second)] == [trial.cost for trial in walker.trials]


def test_next_trial_waits_while_the_start_is_blocked() -> None:
    world = make_world(*drawn(M1["map"]), ("lss-lrta", {}), budget=9, trials=2)
    walker = world.walkers[0]
    while not walker.trials:
        world.advance(1)
    world.submit(EditCells(blocked_cells=(world.start,)))
    world.advance(5)
    assert walker.position == world.goal and walker.trial_number == 1
    world.submit(EditCells(freed_cells=(world.start,)))
    world.advance(1)
    assert walker.position == world.start and walker.trial_number == 2


def test_changed_trial_count_restarts_or_ends_a_learner() -> None:
    world = make_world(*drawn(M1["map"]), ("lss-lrta", {}), ("tb-wa", {}), budget=9)
    walker, other = world.walkers
    world.advance(10_000)
    assert walker.trial_number == 1 and walker.state_word == "arrived"
    world.submit(SetMaxTrials(10_000))
    world.advance(1)
    assert walker.position == world.start and walker.trial_number == 2 and other.has_arrived
    world.submit(SetMaxTrials(1))
    world.advance(10_000)
    assert len(walker.trials) == 2 and walker.has_arrived
    world.submit(SetMaxTrials(10_000))
    world.advance(10_000)
    assert walker.is_converged and walker.state_word == "converged" and len(other.trials) == 0
    late = world.add(AgentConfig("lrta"))
    assert late.max_trials == 10_000


def test_start_on_the_goal_is_converged_after_one_trial() -> None:
    world = make_world(["..", ".."], 3, 3, ("lrta", {}), trials=9)
    walker = world.walkers[0]
    assert world.advance(10) == 0 and world.is_over
    assert walker.is_converged and len(walker.trials) == 1


# --- the table of learned values -------------------------------------------------------------------------


@pytest.mark.parametrize("watched", [True, False], ids=["ball", "fast path"])
def test_equal_path_max_values_prefer_the_neighbour_nearest_to_goal(watched: bool) -> None:
    """Cells that became free leave values that are too high; the longer step led away from the goal then."""
    rows = ["....@", "..@..", ".@.@.", "....@", "..@@@", ".@..."]
    grid = Grid.from_text_rows(rows)
    world = World(grid, grid.cell(1, 4), grid.cell(3, 1), AGENT_SPECS_BY_KEY, budget=1, watched=watched)
    walker = world.add(AgentConfig("lrta"))
    freed = tuple(grid.cell(x, y) for x, y in ((2, 1), (1, 2), (3, 2), (3, 4), (4, 4), (4, 0)))
    world.submit(EditCells(freed_cells=freed), 8)
    world.advance(100)
    assert world.metrics_of_walker(walker).moves == 10


def test_neighbour_ties_are_broken_by_list_order() -> None:
    """Larger g, then smaller cell, for both kinds of diagonal costs."""
    for dearer, order in ((1, [7, 4, 6, 5, 0, 3, 1, 2]), (0, [7, 0, 4, 3, 1, 6, 2, 5])):
        packed = int(octile.TIE_ORDERED_SUCCESSORS[dearer << 8 | 255])
        assert [(packed >> 4 * i & 15) - 1 for i in range(8)] == order


def test_excess_is_h_minus_initial_h() -> None:
    world, walker = solo(*drawn(M1["map"]), "lss-lrta", 9)
    for _ in ticks_of(world, 5000):
        table: Any = walker.agent.view().learned
        h0 = [float(learned.initial_h(table.target, s)) for s in range(world.grid.cells)]
        assert [learned.learned_h_excess(table, s) for s in range(world.grid.cells)] == (h_values(walker) - h0).tolist()


def test_free_count_is_updated_by_every_edit() -> None:
    grid = Grid.from_text_rows(["..W", ".@.", "S.T"])
    chance = random.Random(3)
    steps: list[Callable[[], object]] = [
        lambda: grid.block_and_free(chance.choices(range(9), k=3), chance.choices(range(9), k=3)),
        lambda: grid.set_terrain(chance.sample(range(9), 3), np.frombuffer(b"W@.", np.uint8)),
        lambda: grid.set_terrain([4, 4, 4], np.frombuffer(b".@W", np.uint8)),
    ]
    for _ in range(200):
        chance.choice(steps)()
        assert grid.free_cell_count == int(grid.free_mask.sum())
