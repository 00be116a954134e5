"""The sentence that says why an agent moved, against the oracles of naive*.py, and true for every agent there is."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS
from sim.agent_api import Status
from sim.kernels.log import BACK_MOVE
from sim.map_generators import generate_map
from sim.params import Value
from sim.world import World
from sim.world_commands import EditCells
from ui.model.move_explanation import NO_CELL, MoveExplanation, _AgentMove, _fork_cell_and_move_count, explain_move

from .conftest import board_of, make_world, problems, random_map_rows, smallest_accepted_budget
from .naive import Place, Tba, TbBfs
from .naive_databases import DLrta, PrLrta
from .naive_knn import Knn
from .naive_learning import Lrta
from .naive_ribs import Ribs

Problem = tuple[list[str], int, int]
small = problems(side=10, water=False)


def explain_run(
    problem: Problem, kind: str, budget: int, **params: Value
) -> Iterator[tuple[World, int, MoveExplanation]]:
    """After every tick: the world, the cell before it, and why."""
    rows, start, goal = problem
    world = make_world(rows, start, goal, (kind, params), budget=budget, watched=True)
    walker = world.walkers[0]
    before = walker.position
    while world.tick < 400 and world.advance(1):
        snapshot = world.create_snapshot()
        yield world, before, explain_move(snapshot, snapshot.walkers[0], before)
        before = walker.position


def first_on_path(path: list[Place], chain: list[Place]) -> Place | None:
    return next((a for a in chain if a in path), None)


@given(small, st.sampled_from([1.0, 1.6, 3.0]), st.sampled_from([1, 2, 5]))
def test_tb_wa_explanation_names_old_and_new_best_cell_and_fork(problem: Problem, weight: float, budget: int) -> None:
    _, start, goal = problem
    run = explain_run(problem, "tb-wa", budget, weight=weight)
    naive: TbBfs | None = None
    for world, _, said in run:
        board = board_of(world.grid)
        naive = naive or TbBfs(board, board.at(start), board.at(goal), budget, 1.0, weight)
        stood, was = naive.loc, naive.search.best()
        row = naive.tick()
        if naive.status != "active" or row.cell == stood:
            continue
        best = naive.search.best()
        assert best is not None and said.best_cell == board.id(best)
        if row.expanded and len(naive.search.order) > row.expanded:
            assert was is not None and said.previous_best_cell == board.id(was)
        assert row.back == (said.fork_cell != NO_CELL) == ("fork" in said.text)
        if row.back:
            fork = first_on_path(naive.path, naive.search.chain(stood))
            assert fork is not None and said.fork_cell == board.id(fork)
            assert f"the fork at {fork}" in said.text


@given(small, st.sampled_from([1, 3]))
def test_tb_wa_explanation_gives_the_right_f_values(problem: Problem, budget: int) -> None:
    for world, _, said in explain_run(problem, "tb-wa", budget, weight=2.0):
        board, search = board_of(world.grid), world.walkers[0].agent.view().search
        for x, y, f in re.findall(r"\((\d+), (\d+)\), f ([\d.]+)", said.text):
            place = int(x), int(y)
            value = float(search.nodes[board.id(place)].g) + 2.0 * board.h(place, board.at(world.goal))
            assert f == f"{value:.1f}"


@given(small, st.sampled_from([10, 20, 40]))
def test_tba_explanation_names_the_end_of_its_path(problem: Problem, budget: int) -> None:
    _, start, goal = problem
    naive: Tba | None = None
    for world, _, said in explain_run(problem, "tba", budget):
        board = board_of(world.grid)
        naive = naive or Tba(board, board.at(start), board.at(goal), budget)
        stood = naive.loc
        row = naive.tick()
        if naive.status != "active":
            continue
        if row.bounced:
            assert "to and fro" in said.text
        elif row.back and stood in naive.follow:
            assert "used up" in said.text and said.fork_cell == NO_CELL
        elif row.back:
            fork = first_on_path(naive.follow, naive.search.chain(stood))
            assert (
                fork is not None and said.fork_cell == board.id(fork) and said.best_cell == board.id(naive.follow[-1])
            )
        elif row.cell != stood:
            assert said.best_cell == board.id(naive.follow[-1])


@given(small, st.sampled_from([1, 2, 3]))
def test_lrta_explanation_gives_the_learned_h(problem: Problem, depth: int) -> None:
    _, start, goal = problem
    naive: Lrta | None = None
    for world, _, said in explain_run(problem, "lrta", 1, depth=depth):
        board = board_of(world.grid)
        naive = naive or Lrta(board, board.at(start), board.at(goal), depth)
        stood = naive.loc
        naive.tick()
        if naive.loc == stood:
            continue
        assert f"h of {stood} is {naive.h(stood):.1f} now" in said.text
        if depth == 1:
            assert said.best_cell == board.id(naive.loc)


@given(small)
def test_ribs_explanation_gives_the_reason_for_a_back_move(problem: Problem) -> None:
    _, start, goal = problem
    naive: Ribs | None = None
    for world, before, said in explain_run(problem, "ribs", 1):
        board = board_of(world.grid)
        naive = naive or Ribs(board, board.at(start), board.at(goal))
        row = naive.tick()
        if not row.back:
            continue
        left = board.at(before)
        assert ("dead" in said.text) == (left in naive.dead_cells)
        assert ("redundant" in said.text) == (left in naive.redundant_cells)


@settings(max_examples=30)
@given(problems(side=14, low=4, water=False), st.sampled_from([5, 30]), st.sampled_from([4, 250]))
def test_knn_lrta_explanation_names_its_record_and_target(problem: Problem, count: int, cap: int) -> None:
    _, start, goal = problem
    naive: Knn | None = None
    for world, _, said in explain_run(problem, "knn-lrta", 1, records=count, cap=cap, similar=4):
        board, agent = board_of(world.grid), world.walkers[0].agent
        if board.at(goal) not in board.distances(board.at(start)):
            return
        records: Any = agent.problem_records
        chains = itertools.pairwise(records.offsets.tolist())
        cells = [[board.at(c) for c in records.cells.tolist()[a:b]] for a, b in chains]
        naive = naive or Knn(board, board.at(start), board.at(goal), cells, 4, cap)
        naive.tick()
        target = naive.queue[0]
        assert f"the neighbour {naive.loc} is most promising" in said.text
        if len(naive.queue) > 1:
            record = next(r for r, verdict in naive.verdicts if verdict == "accepted")
            where = "the goal" if target == naive.goal else f"the subgoal {target}"
            assert f"It heads for {where}, by record {record};" in said.text
        elif target == naive.goal and len(naive.verdicts) == 4 and naive.verdicts[-1][1] != "accepted":
            assert "No record fits" in said.text
        elif not naive.verdicts and naive.quota == float("inf"):
            assert "greedy steps lead to the goal" in said.text


@settings(max_examples=30)
@given(problems(side=12, low=5, water=False), st.booleans(), st.booleans())
def test_d_lrta_explanation_names_its_subgoal_and_depth(problem: Problem, goals: bool, depths: bool) -> None:
    _, start, goal = problem
    choice = {True: "database", False: "global"}[goals], {True: "database", False: "fixed"}[depths]
    params: dict[str, Value] = {"goal_control": choice[0], "depth_control": choice[1], "level": 2, "depth": 2, "cap": 4}
    naive: DLrta | None = None
    for world, before, said in explain_run(problem, "d-lrta", 1, **params):
        board = board_of(world.grid)
        if board.at(goal) not in board.distances(board.at(start)):
            return
        naive = naive or DLrta(board, board.at(start), board.at(goal), 2, 2, 4, goals, depths)
        again = goals and naive.visits[naive.loc] > 1
        target, depth = naive.control()
        naive.tick()
        if board.id(naive.loc) == before:
            continue
        assert f"looking {depth} move{'s' if depth > 1 else ''} ahead" in said.text
        if again:
            assert f"had been at {board.at(before)} before" in said.text
        elif target == naive.real_goal:
            assert "It heads for the goal" in said.text
        else:
            assert f"head for {target}" in said.text


@settings(max_examples=30)
@given(problems(side=12, low=5, water=False))
def test_pr_lrta_explanation_names_the_end_of_its_leg(problem: Problem) -> None:
    _, start, goal = problem
    params: dict[str, Value] = {"level": 2, "depth": 2}
    naive: PrLrta | None = None
    for world, _, said in explain_run(problem, "pr-lrta", 1, **params):
        board = board_of(world.grid)
        if board.at(goal) not in board.distances(board.at(start)):
            return
        naive = naive or PrLrta(board, board.at(start), board.at(goal), 2, 2, 10, False, False, 1.0, False)
        begins = not naive.leg
        naive.tick()
        if not naive.leg or naive.status == "goal":
            continue
        end, left = naive.leg[-1], len(naive.leg)
        moves = "1 move left" if left == 1 else f"{left} moves left"
        assert moves in said.text and said.best_cell == board.id(end)
        if not begins:
            assert f"follows its leg to {end}" in said.text
        else:
            assert ("The goal is in its region" in said.text) == (end == naive.goal)


@given(small, st.sampled_from([1, 7]))
def test_dstar_lite_explanation_names_the_next_cell_and_path_cost(problem: Problem, budget: int) -> None:
    _, _, goal = problem
    for world, before, said in explain_run(problem, "dstar-lite", budget):
        board, walker = board_of(world.grid), world.walkers[0]
        if walker.agent.status is Status.NO_PATH:
            continue
        if walker.position == before:
            search = walker.agent.view()
            assert f"{len(search.groups['inconsistent'])} cell" in said.text and "inconsistent" in said.text
            continue
        here = board.at(walker.position)
        left = board.distances(board.at(goal))
        assert f"{here} is nearest to the goal" in said.text and f"= {left[board.at(before)]:.1f}" in said.text


@pytest.mark.parametrize("kind", ["ida", "pra", "astar"])
def test_explanation_of_a_waiting_agent_gives_reason_and_moves_left(kind: str) -> None:
    rows, start, goal = [".......", ".@@@@@.", "......."] * 3, 0, 62
    waited = walked = 0
    for world, before, said in explain_run((rows, start, goal), kind, 2):
        walker = world.walkers[0]
        if walker.position == before:
            waited += 1
            assert said.text.startswith("It waits")
        elif walker.agent.status is Status.ACTIVE:
            walked += 1
            assert re.search(r"to the goal: \d+ moves? left", said.text)
    assert waited and walked


def test_ida_explanation_gives_its_depth_or_the_end_of_an_iteration() -> None:
    made = generate_map("rooms", {"width": 32, "height": 32, "seed": 5, "room": 7}).grid
    texts = []
    for world, before, said in explain_run((made.text_rows(), 0, made.cells - 1), "ida", 20):
        if world.walkers[0].position == before:
            deep = world.walkers[0].agent.view().tracing.size - 1
            assert (f", now {deep} move" in said.text) == (deep >= 0)
            texts.append(said.text)
    assert any("the limit rises next" in text for text in texts) and not any("-1" in text for text in texts)


@pytest.mark.parametrize("key", ["d-lrta", "knn-lrta", "pra", "pr-lrta"])
def test_explanation_mentions_stale_data(key: str) -> None:
    rows = random_map_rows(3, 20, 20, 0.2)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    world = make_world(rows, 0, 399, (key, {"after_change": "rebuild"}), budget=9, watched=True)
    cells = [int(c) for c in np.flatnonzero(world.grid.free_mask)[150:154]]
    world.submit(EditCells(tuple(cells)), 3)
    before, texts = 0, []
    while world.tick < 200 and world.advance(1):
        snapshot = world.create_snapshot()
        texts.append(explain_move(snapshot, snapshot.walkers[0], before).text)
        before = world.walkers[0].position
    assert any("another map" in text or "rebuilt" in text for text in texts) or key in ("knn-lrta", "pr-lrta")
    assert all(text.endswith(".") for text in texts)


def test_explanation_of_a_stopped_agent_names_its_violation() -> None:
    world = make_world(["....."], 0, 4, ("lrta", {}), budget=1, watched=True)
    world.advance(1)
    world.referee.stop_agent(world.walkers[0], "moved from (1, 0) to (4, 0), which is not a legal move", 1)
    world.advance(1)
    snapshot = world.create_snapshot()
    said = explain_move(snapshot, snapshot.walkers[0], 1).text
    assert (
        said == "It broke the rules in tick 1, and was stopped: moved from (1, 0) to (4, 0), which is not a legal move."
    )


@pytest.mark.parametrize("spec", AGENT_SPECS, ids=lambda spec: spec.key)
def test_every_agent_has_an_explanation_after_every_tick(spec) -> None:
    rows = random_map_rows(5, 24, 24, 0.25)
    start, goal = 0, 24 * 24 - 1
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    world = make_world(rows, start, goal, (spec.key, {}), budget=smallest_accepted_budget(spec, {}, 4), watched=True)
    walker, before = world.walkers[0], start
    cells = np.flatnonzero(world.grid.free_mask)[40:44]
    world.submit(EditCells(tuple(int(c) for c in cells)), 8)
    world.submit(EditCells((), tuple(int(c) for c in cells)), 16)
    while world.tick < 60 and world.advance(1):
        snapshot = world.create_snapshot()
        text = explain_move(snapshot, snapshot.walkers[0], before).text
        assert text.endswith(".") and "nan" not in text
        if walker.position != before and "fork" in text:
            assert int(walker.log_rows[-1].marks) & BACK_MOVE
        before = walker.position
    world.advance(1_000_000)
    snapshot = world.create_snapshot()
    if walker.agent.status is Status.AT_GOAL and world.advance(1) == 0:
        assert explain_move(snapshot, snapshot.walkers[0], before).text


def test_fork_ignores_parents_of_an_earlier_search() -> None:
    """The cell that the agent left is unknown to the present search; its old parents lead off the map."""
    world = make_world([".....", "....."], 0, 4, ("tb-wa", {}), budget=1, watched=True)
    world.advance(3)
    snapshot = world.create_snapshot()
    view = snapshot.walkers[0]
    search = view.agent.search
    assert search is not None
    left = 9
    search.nodes["search"][left], search.nodes["came"][left] = int(search.control[0].search) - 1, 0
    shown = replace(view, agent=replace(view.agent, path=np.array([0], np.int32)))
    case = _AgentMove(snapshot, shown, left, view.log_rows[-1])
    assert _fork_cell_and_move_count(case) == (NO_CELL, 0)


def test_explanation_mentions_a_changed_best_cell_off_the_path() -> None:
    """In the first example the best cell jumps, off the path of the agent."""
    rows = generate_map("caves", {"width": 64, "height": 64, "seed": 5})
    problem = rows.grid.text_rows(), rows.grid.cell(*rows.start), rows.grid.cell(*rows.goal)
    texts = [said.text for _, _, said in explain_run(problem, "tb-wa", 1)]
    pattern = (
        r"Best open cell changed from \(\d+, \d+\), f [\d.]+, to \(\d+, \d+\), f [\d.]+: "
        r"the path there does not pass its cell; it (walks back to|is there at) the fork at \(\d+, \d+\)"
    )
    assert any(re.match(pattern, text) for text in texts)


@pytest.mark.parametrize("kind", ["astar", "tba", "tb-wa", "rtb-wa", "lss-lrta", "da-rtaa", "dstar-lite"])
def test_explanation_at_the_end_of_a_path_omits_moves_left(kind: str) -> None:
    rows = ["........", "..@@@@..", "......@.", "........"]
    for _, _, said in explain_run((rows, 0, 31), kind, 6):
        assert " 0 moves left" not in said.text
