"""Numbers and trends on the public benchmark maps of shared/maps; skipped where that folder is absent."""

import csv
import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from experiments.problems import ProblemInstance
from experiments.specification import load_experiment
from files.movingai import read_map, read_scen
from sim.abstraction import fetch_abstraction, top_level_number
from sim.agent_api import Status
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.kernels.distance import UNLIMITED_EXPANSIONS
from sim.kernels.search import GOAL_ON_TOP, begin_search, expand_best_cells, new_search
from sim.metrics import Metrics
from sim.params import Value
from sim.world import World
from sim.world_commands import AgentConfig
from tools.papers import FOLDER

from . import naive
from .conftest import SHARED_MAPS, board_of

pytestmark = pytest.mark.skipif(
    not (SHARED_MAPS / "search-set.tsv").exists(), reason=f"the benchmark maps are not at {SHARED_MAPS}"
)

MAPS = sorted(SHARED_MAPS.glob("*/*.map"))


@functools.cache
def grid_of(name: str) -> Grid:
    """A map that nobody edits, read once."""
    return read_map(SHARED_MAPS / name)


@dataclass(frozen=True)
class ListedProblem:
    """One row of search-set.tsv."""

    map_name: str
    start: int
    goal: int
    optimal: float

    @property
    def grid(self) -> Grid:
        return grid_of(self.map_name)


@functools.cache
def load_search_set(name: str) -> tuple[ListedProblem, ...]:
    with open(SHARED_MAPS / "search-set.tsv", encoding="ascii", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["set"] == name]
    listed = []
    for row in rows:
        grid = grid_of(row["map"])
        start, goal = (grid.cell(int(row[f"{end}_x"]), int(row[f"{end}_y"])) for end in ("start", "goal"))
        listed.append(ListedProblem(row["map"], start, goal, float(row["optimal"])))
    return tuple(listed)


def is_near(length: float, listed: float) -> bool:
    return abs(length - listed) <= 0.01 + 1e-4 * listed


# --- A* -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", MAPS, ids=lambda path: path.name)
def test_astar_lengths_are_the_published_optima(path: Path) -> None:
    """Sixty rows, spread over the file.

    The .scen of battleground was made on a map that differs in a few cells: one row in twenty is shorter there by a
    corner, 44 of them by the one at (102, 298). And on the Warcraft maps some rows begin in a wall.
    """
    grid = read_map(path)
    rows = [row for row in read_scen(f"{path}.scen", grid).rows if row.problem is None]
    rows = [*rows[:: max(1, len(rows) // 60)], rows[-1]]
    search = new_search(grid.cells)
    off = []
    for row in rows:
        start, goal = grid.cell(*row.start), grid.cell(*row.goal)
        begin_search(grid.map_arrays, search, start, goal, goal)
        expand_best_cells(grid.map_arrays, search, UNLIMITED_EXPANSIONS)
        assert search.control[0].status == GOAL_ON_TOP
        length = float(search.nodes[goal].g)
        if not is_near(length, row.optimal):
            off.append((row.row_index, length, row.optimal))
    if path.name == "battleground.map":
        assert len(off) <= len(rows) / 15 and all(0.5 < length - listed < 1.0 for _, length, listed in off), off
    else:
        assert off == []


@pytest.mark.parametrize("name, total", [("bg512", 1_419_401), ("rooms", 2_948_351), ("sc1", 840_833)])
def test_expansion_totals_of_search_set_match_reference(name: str, total: int) -> None:
    """Two C++ programs have 2,948,349 and ...350 for the rooms; why we have one more, see the next test."""
    expansions = 0
    for problem in load_search_set(name):
        search = new_search(problem.grid.cells)
        begin_search(problem.grid.map_arrays, search, problem.start, problem.goal, problem.goal)
        expansions += int(expand_best_cells(problem.grid.map_arrays, search, UNLIMITED_EXPANSIONS))
        assert is_near(float(search.nodes[problem.goal].g), problem.optimal)
    assert expansions == total


@pytest.mark.parametrize("number", [35, 65, 68])
def test_rooms_totals_differ_by_ties_on_both_f_and_g(number: int) -> None:
    """Naive A* under several rules for such ties: "smaller id" is ours, the others differ by at most one expansion."""
    problem = load_search_set("rooms")[number]
    board = board_of(problem.grid)
    counts = naive.astar_expansions(
        board, board.at(problem.start), board.at(problem.goal), ("smaller id", "larger id", "last in", "first in")
    )
    search = new_search(problem.grid.cells)
    begin_search(problem.grid.map_arrays, search, problem.start, problem.goal, problem.goal)
    assert int(expand_best_cells(problem.grid.map_arrays, search, UNLIMITED_EXPANSIONS)) == counts["smaller id"]
    assert max(counts.values()) - min(counts.values()) == 1, counts


# --- published trends ------------------------------------------------------------------------------------------


def sample_problems(name: str, count: int) -> tuple[ListedProblem, ...]:
    whole = load_search_set(name)
    return whole[:: len(whole) // count][:count]


def mean_ratio_and_back_moves(
    problems: Iterable[ListedProblem], kind: str, budget: int, **params: Value
) -> dict[str, float]:
    """Suboptimality and back-moves of one agent, averaged over the problems."""
    ratios, back_moves = [], []
    for problem in problems:
        world = World(problem.grid, problem.start, problem.goal, AGENT_SPECS_BY_KEY, budget=budget, measures=False)
        walker = world.add(AgentConfig(kind, params=params))
        world.advance(10**6)
        assert walker.agent.status is Status.AT_GOAL
        m = world.metrics_of_walker(walker)
        ratios.append(m.cost / problem.optimal)
        back_moves.append(m.back_moves)
    return {"ratio": float(np.mean(ratios)), "back": float(np.mean(back_moves))}


@pytest.mark.parametrize("name", ["bg512", "rooms"])
def test_weight_and_greed_lower_cost_and_back_moves_at_small_budgets(name: str) -> None:
    """Figures 1 to 4 of the TB-BFS paper: cost and back-moves fall as w rises, most of all at small k."""
    problems = sample_problems(name, 40)
    table = {
        k: [mean_ratio_and_back_moves(problems, "tb-wa", k, weight=w) for w in (1.0, 1.8, 3.0)] for k in (1, 16, 64)
    }
    for k, row in table.items():
        costs, back = [entry["ratio"] for entry in row], [entry["back"] for entry in row]
        assert costs[0] > max(costs[1:]), (k, costs)  # between 1.8 and 3 it may rise a little for large k
        is_strict = k == 1 or (k == 16 and name == "bg512")
        assert not is_strict or costs == sorted(costs, reverse=True), (k, costs)
        assert back[0] > back[1] > back[2], (k, back)
    gains = [row[0]["ratio"] / row[-1]["ratio"] for row in table.values()]
    assert gains == sorted(gains, reverse=True), gains
    greedy = mean_ratio_and_back_moves(problems, "tb-gbfs", 1)
    assert greedy["ratio"] < min(entry["ratio"] for entry in table[1])
    assert greedy["back"] < min(entry["back"] for entry in table[1])


def test_literal_reopening_contradicts_published_weight_trend() -> None:
    problems = sample_problems("bg512", 40)
    costs = [mean_ratio_and_back_moves(problems, "tb-wa", 1, weight=w, reopen=True)["ratio"] for w in (1.0, 3.0)]
    assert costs[1] > costs[0]


@pytest.mark.parametrize("name", ["bg512", "rooms"])
def test_tba_beats_delayed_astar_at_each_limit(name: str) -> None:
    """Table 1 of the TBA* paper, and both fall as the limit rises."""
    problems = sample_problems(name, 40)
    early, late = (
        [mean_ratio_and_back_moves(problems, kind, r)["ratio"] for r in (10, 25, 50)]
        for kind in ("tba", "delayed-astar")
    )
    assert all(e < x for e, x in zip(early, late, strict=True)), (early, late)
    for costs in (early, late):
        assert all(b < a for a, b in itertools.pairwise(costs)), costs


def test_switch_rule_shortens_tba_walks() -> None:
    """Section 4.3 of the TBA* paper: shorter for small limits."""
    problems = sample_problems("bg512", 40)
    for limit in (10, 25, 50):
        assert (
            mean_ratio_and_back_moves(problems, "tba", limit, switch="longer")["ratio"]
            < mean_ratio_and_back_moves(problems, "tba", limit)["ratio"]
        )


@pytest.mark.parametrize("rate", [1.0, 5.0, 10.0])
def test_lazy_restarts_less_and_expands_less_than_eager(rate: float) -> None:
    """Figure 5 of the TB-BFS paper: 1000 x 1000, 10 % obstacles, changes every ten moves, k = infinity."""
    solid = np.random.default_rng(7).random((1000, 1000)) < 0.1
    restarts, expansions = np.zeros(2, int), np.zeros(2, int)
    for start, goal in (((305, 305), (695, 695)), ((500, 200), (480, 600))):
        for x, y in (start, goal):
            solid[y - 2 : y + 3, x - 2 : x + 3] = False
        grid = Grid(np.where(solid, ord("@"), ord(".")).astype(np.uint8))
        changes = RandomChangeSchedule(10, rate)
        ends = grid.cell(*start), grid.cell(*goal)
        world = World(grid, *ends, AGENT_SPECS_BY_KEY, budget=10**9, random_changes=changes, measures=False)
        for restart in ("lazy", "eager"):
            world.add(AgentConfig("rtb-wa", params={"weight": 1.4, "restart": restart}))
        world.advance(5000)
        assert all(walker.agent.status is Status.AT_GOAL for walker in world.walkers)
        numbers = [world.metrics_of_walker(walker) for walker in world.walkers]
        restarts += [m.restarts for m in numbers]
        expansions += [m.expansions for m in numbers]
    assert restarts[0] < restarts[1] and expansions[0] < expansions[1], (restarts, expansions)


# --- abstraction, databases, subgoals: numbers that a prototype came to, which shares no code with this ---------


@functools.cache
def problems_of_e1() -> tuple[ProblemInstance, ...]:
    """Two hundred problems on two maps of 512 x 512, their cheapest paths 230 to 320 long."""
    return load_experiment(FOLDER / "e3.yaml", AGENT_SPECS_BY_KEY, "full", [SHARED_MAPS]).parts[0].cases


def walk_all(
    cases: Iterable[ProblemInstance], kind: str, moves: int = 100_000, **params: Value
) -> tuple[list[Metrics], int]:
    """The numbers of all walks, and how many have not arrived after so many moves."""
    numbers, lost = [], 0
    for case in cases:
        grid = case.map_data.grid
        world = World(grid, grid.cell(*case.start), grid.cell(*case.goal), AGENT_SPECS_BY_KEY, budget=1000)
        walker = world.add(AgentConfig(kind, params=params))
        world.advance(moves)
        numbers.append(world.metrics_of_walker(walker))
        lost += walker.agent.status is not Status.AT_GOAL
    return numbers, lost


def mean_ratio(numbers: Iterable[Metrics]) -> float:
    return float(np.mean([m.suboptimality for m in numbers]))


def test_fixed_depth_subgoals_are_nearly_optimal_at_one_expansion_per_move() -> None:
    """LRTA*(F,PDB), level 3, depth 1; in the prototype 1.08."""
    numbers, lost = walk_all(problems_of_e1(), "d-lrta", depth_control="fixed", level=3)
    assert lost == 0 and {m.max_expansions for m in numbers} == {1}
    assert mean_ratio(numbers) == pytest.approx(1.08, abs=0.05)


def test_reentrance_detector_prevents_endless_d_lrta_runs() -> None:
    """Counted: a fifth of them. In the prototype 17 of 36."""
    _, lost = walk_all(problems_of_e1(), "d-lrta", depth_control="fixed", level=3, reentrance="never")
    assert lost == 40
    for rule in ("per cell", "for good"):
        assert walk_all(problems_of_e1(), "d-lrta", depth_control="fixed", level=3, reentrance=rule)[1] == 0


@pytest.mark.slow
def test_uncapped_d_lrta_level_3_is_within_7_percent_of_optimal() -> None:
    """LRTA*(PDB,PDB) as in table 3 of its paper; an implementation from the paper alone: 1.066 at 1.62 a move."""
    numbers, lost = walk_all(problems_of_e1()[::4], "d-lrta", level=3, cap=0)
    assert lost == 0 and mean_ratio(numbers) < 1.07
    assert mean_ratio(numbers) == pytest.approx(1.066, rel=0.1)
    assert 1.0 < np.mean([m.expansions / m.moves for m in numbers]) < 2.0


HARD_FORMS: list[tuple[dict[str, Value], float, float]] = [  # mean and maximum of cost / optimal cost
    ({"cap": 10}, 3.932, 69.01),
    ({"cap": 32}, 1.444, 10.61),
    ({"cap": 0}, 1.069, 1.82),
]


@pytest.mark.slow
@pytest.mark.parametrize("params, mean, most", HARD_FORMS, ids=str)
def test_uncapped_d_lrta_has_no_long_walks_on_a_hard_map(params: dict[str, Value], mean: float, most: float) -> None:
    """Forty-one problems of AR0205SR, level 3, some of them in loops between two regions."""
    grid = grid_of("bg512/AR0205SR.map")
    ratios = []
    for row in read_scen(SHARED_MAPS / "bg512" / "AR0205SR.map.scen").rows[16::31]:
        world = World(grid, grid.cell(*row.start), grid.cell(*row.goal), AGENT_SPECS_BY_KEY, budget=1000)
        walker = world.add(AgentConfig("d-lrta", params={"level": 3, **params}))
        world.advance(200_000)
        ratios.append(world.metrics_of_walker(walker).suboptimality or float("inf"))
    assert (np.mean(ratios), max(ratios)) == pytest.approx((mean, most), rel=0.1)


def test_pr_lrta_matches_cost_and_expansions_of_prototype() -> None:
    """PR LRTA* with l = 4, d = 5, gamma = 1: 1.28 within 0.1, at about 7 expansions a move."""
    numbers, lost = walk_all(problems_of_e1(), "pr-lrta", level=4, depth=5)
    assert lost == 0 and mean_ratio(numbers) == pytest.approx(1.28, abs=0.1)
    assert np.mean([m.expansions / m.moves for m in numbers]) == pytest.approx(7.1, abs=0.5)


def test_more_records_lower_knn_lrta_suboptimality() -> None:
    cases = load_experiment(FOLDER / "e5.yaml", AGENT_SPECS_BY_KEY, "full", [SHARED_MAPS]).parts[0].cases
    cases = tuple(case for case in cases if case.map_data.name.endswith("AR0011SR.map"))
    ratios = [mean_ratio(walk_all(cases, "knn-lrta", 200_000, records=count)[0]) for count in (30, 100, 300, 1000)]
    assert ratios == sorted(ratios, reverse=True) and ratios[-1] < 1.2, ratios


@pytest.mark.parametrize("name", ["bg512/AR0011SR.map", "wc3maps512/battleground.map", "wc3maps512/riverrun.map"])
def test_abstraction_regions_have_published_sizes(name: str) -> None:
    """From level to level two to four times fewer; on level 5 one hundred cells (a prototype: 175 to 182)."""
    levels = fetch_abstraction(grid_of(name)).tables
    counts = np.diff(levels.first)
    assert top_level_number(levels) > 6 and all(2.0 < a / b < 4.0 for a, b in itertools.pairwise(counts[:6].tolist()))
    assert 100 < counts[0] / counts[5] < 200
