"""The movement rule: who asks for it, and that everybody obeys. Masks: test_grid.py; every agent: test_contract.py and
the oracles of each, which draw their rule; what a user sees of it: test_movement_window.py.
"""

import csv
import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

import main
from agents.registry import AGENT_SPECS_BY_KEY
from experiments.problems import random_start_goal_pairs
from files.map_source import MapRows
from files.movement import movement_data
from files.movingai import write_map
from files.scenario import Scenario, build_world, dump_scenario, parse_scenario
from sim.grid import Grid
from sim.kernels import octile
from sim.kernels.octile import DIAGONAL, h0
from sim.map_generators import component_labels, generate_map
from sim.movement import (
    CUT_ONE_CORNER,
    DEFAULT_MOVEMENT,
    EIGHT_NEIGHBOURS,
    FOUR_NEIGHBOURS,
    RULE_DESCRIPTIONS,
    SQUEEZE_BETWEEN_CORNERS,
    Movement,
)
from sim.params import ConfigError
from sim.world import World
from sim.world_commands import EditCells

from .conftest import MOVEMENTS, board_of, drawn, make_world, movements, problems, random_map_rows

every_rule = pytest.mark.parametrize("rule", RULE_DESCRIPTIONS)
HEAD = "format: backmove-scenario\nversion: 1\nagents: []\nstart: [0, 0]\ngoal: [2, 0]\n"
DIAMOND = drawn("""
    S.#..
    .#...
    #...#
    ...#.
    ..#.G
""")


def scipy_distances(grid: Grid, goal: int) -> np.ndarray:
    """True distances of all cells to the goal: Dijkstra by scipy, over arcs made here from the rows alone."""
    rows, movement = grid.text_rows(), grid.movement
    free = {(x, y) for y, row in enumerate(rows) for x, letter in enumerate(row) if letter == "."}
    arcs: list[tuple[int, int, float]] = []
    for x, y in free:
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            there = (x + dx, y + dy)
            blocked = ((x + dx, y) not in free) + ((x, y + dy) not in free)
            may_pass = (
                dx * dy == 0
                or blocked
                <= {FOUR_NEIGHBOURS: -1, EIGHT_NEIGHBOURS: 0, CUT_ONE_CORNER: 1, SQUEEZE_BETWEEN_CORNERS: 2}[
                    movement.rule
                ]
            )
            if there in free and may_pass:
                arcs.append((grid.cell(x, y), grid.cell(*there), movement.diagonal if dx * dy else 1.0))
    tails, heads, costs = zip(*arcs, strict=True)
    graph = csr_matrix((costs, (tails, heads)), shape=(grid.cells, grid.cells))
    found: np.ndarray = dijkstra(graph, directed=False, indices=goal)
    return found


@every_rule
@pytest.mark.parametrize("diagonal", [DIAGONAL, 1.0, 1.5, 2.0])
def test_astar_cost_equals_dijkstra_before_and_after_edits(rule: str, diagonal: float) -> None:
    for seed in range(4):
        movement = Movement(rule, diagonal)
        rows = random_map_rows(seed, 17, 14, 0.1 * seed + 0.1)
        free = [cell for cell, letter in enumerate("".join(rows)) if letter == "."]
        start, goal = free[0], free[-1]
        world = make_world(rows, start, goal, ("astar", {}), budget=10**6, movement=movement)
        walker, chance = world.walkers[0], random.Random(seed)
        assert world.optimal_cost == scipy_distances(world.grid, goal)[start]
        for _ in range(3):
            distances = scipy_distances(world.grid, goal)
            assert [world.optimality_tracker.true_distances.cost(cell) for cell in free_cells_of(world)] == distances[
                free_cells_of(world)
            ].tolist()
            before, left = world.metrics_of_walker(walker).cost, distances[walker.position]
            world.advance(2)
            walked = world.metrics_of_walker(walker).cost - before
            assert left == np.inf or walked == left - distances[walker.position]
            cells_now = tuple(chance.sample(range(world.grid.cells), 12))
            world.submit(
                EditCells(blocked_cells=tuple(c for c in cells_now[:6] if c != goal), freed_cells=cells_now[6:])
            )
            world.apply_due_changes()
        left = scipy_distances(world.grid, goal)[walker.position]
        before = world.metrics_of_walker(walker).cost
        world.advance(10_000)
        assert world.metrics_of_walker(walker).cost - before == (0.0 if left == np.inf else left)


def free_cells_of(world: World) -> list[int]:
    return [int(cell) for cell in np.flatnonzero(world.grid.free_mask)]


@pytest.mark.parametrize("diagonal", [1.0, octile.DIAGONAL, 1.75])
def test_every_cost_of_a_move_comes_from_the_movement_rule(diagonal: float) -> None:
    movement = Movement(EIGHT_NEIGHBOURS, diagonal)
    grid = Grid.from_text_rows(["..."] * 3, movement=movement)
    centre, expected = 4, [1.0] * 4 + [grid.movement.diagonal] * 4
    neighbours = [centre + int(step) for step in grid.map_arrays.step]
    assert grid.map_arrays.cost.tolist() == expected
    assert [octile.cost_between_neighbours(grid.map_arrays, centre, cell) for cell in neighbours] == expected
    assert [octile.cost_between_neighbours(grid.map_arrays, cell, centre) for cell in neighbours] == expected
    assert grid.movement.step_costs(octile.DX, octile.DY).tolist() == expected
    assert grid.movement.step_costs(np.array([0]), np.array([0])).tolist() == [0.0]


def test_each_movement_rule_extends_the_previous_one() -> None:
    masks = [Grid.from_text_rows(DIAMOND[0], movement=Movement(rule)).moves for rule in RULE_DESCRIPTIONS]
    for strict, lax in itertools.pairwise(masks):
        assert (strict & ~lax == 0).all() and (strict != lax).any()


def test_reachability_depends_on_the_movement_rule() -> None:
    optimal = {rule: make_world(*DIAMOND, movement=Movement(rule)).optimal_cost for rule in RULE_DESCRIPTIONS}
    assert (
        optimal[FOUR_NEIGHBOURS] == optimal[EIGHT_NEIGHBOURS] == optimal[CUT_ONE_CORNER] == np.inf
        and optimal[SQUEEZE_BETWEEN_CORNERS] < np.inf
    )
    around = drawn("S.\n.#\n.G")
    found = [make_world(*around, movement=Movement(rule)).optimal_cost for rule in RULE_DESCRIPTIONS]
    assert found == [3.0, 3.0, 1 + DIAGONAL, 1 + DIAGONAL]


def test_without_diagonals_the_heuristic_is_manhattan_distance() -> None:
    grid = Grid.from_text_rows(["...", "..."], movement=Movement(FOUR_NEIGHBOURS, 1.5))
    assert (
        grid.movement == Movement(FOUR_NEIGHBOURS) and grid.diagonal_cost == 2.0 and grid.movement.max_move_cost == 1.0
    )
    assert h0(7, 1, 2, 9, grid.diagonal_cost) == 13.0
    assert grid.max_path_cost == 6.0 and Grid.from_text_rows(["...", "..."]).max_path_cost == 6 * DIAGONAL


@given(problems(), movements)
def test_octile_distance_is_admissible_and_consistent(problem: tuple[list[str], int, int], movement: Movement) -> None:
    grid = Grid.from_text_rows(problem[0], movement=movement)
    board, goal = board_of(grid), problem[2]
    h = {place: h0(*place, *grid.xy(goal), grid.diagonal_cost) for place in board.land}
    assert all(h[place] == board.h(place, board.at(goal)) for place in board.land)
    assert all(h[place] <= distance for place, distance in board.distances(board.at(goal)).items())
    assert all(h[a] <= cost + h[b] for a in board.land for b, cost in board.successors(a))


@settings(max_examples=60)
@given(problems(side=9), movements)
def test_regions_are_the_connected_components_of_moves(problem: tuple[list[str], int, int], movement: Movement) -> None:
    grid = Grid.from_text_rows(problem[0], movement=movement)
    board, label = board_of(grid), component_labels(grid)
    for cell in np.flatnonzero(grid.free_mask).tolist():
        joined = {board.id(place) for place in board.distances(board.at(cell))}
        assert {other for other in np.flatnonzero(grid.free_mask).tolist() if label[other] == label[cell]} == joined


def test_random_pairs_are_solvable_under_the_movement_rule() -> None:
    rows = ["@.", ".@"]
    assert (
        random_start_goal_pairs(Grid.from_text_rows(rows, movement=Movement(CUT_ONE_CORNER)), 3, random.Random(1)) == []
    )
    assert (
        len(
            random_start_goal_pairs(
                Grid.from_text_rows(rows, movement=Movement(SQUEEZE_BETWEEN_CORNERS)), 3, random.Random(1)
            )
        )
        == 3
    )


def test_random_pairs_have_a_cost_within_the_limits_or_at_them() -> None:
    pairs = random_start_goal_pairs(Grid.from_text_rows(["." * 9]), 60, random.Random(1), (2.0, 5.0))
    assert {abs(start - goal) for start, goal in pairs} == {2, 3, 4, 5} and len(pairs) == 60


def test_grid_copy_keeps_or_replaces_the_movement_rule() -> None:
    grid = Grid.from_text_rows(["..", ".."], movement=Movement(CUT_ONE_CORNER, 1.5))
    grid.block_and_free([3], [])
    assert grid.copy().movement == Movement(CUT_ONE_CORNER, 1.5)
    other = grid.copy(Movement(FOUR_NEIGHBOURS))
    assert (
        other.movement == Movement(FOUR_NEIGHBOURS)
        and other.text_rows() == grid.text_rows()
        and other.original_terrain[1, 1] == ord(".")
    )
    assert (other.moves != grid.moves).any()


def test_start_without_legal_moves_gives_no_path() -> None:
    """Diagonals alone: who may not take them stands still, and says so; those that may, arrive."""
    rows = ["@@.", "@.@", ".@@"]
    agents = [(key, {}) for key in AGENT_SPECS_BY_KEY if AGENT_SPECS_BY_KEY[key].is_complete]
    for rule in RULE_DESCRIPTIONS:
        world = make_world(rows, 6, 2, *agents, movement=Movement(rule), budget=40)
        world.advance(200)
        words = {walker.agent.status.name for walker in world.walkers}
        assert words == ({"AT_GOAL"} if rule == SQUEEZE_BETWEEN_CORNERS else {"NO_PATH"}), (rule, words)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("movement", sorted({*MOVEMENTS}, key=str), ids=str)
def test_scenario_round_trips_the_movement_rule_and_omits_the_default(movement: Movement) -> None:
    scenario = Scenario(MapRows(("...", ".@."), movement), (0, 0), (2, 0))
    of_grid = scenario.grid.movement
    assert of_grid.rule == movement.rule and of_grid.diagonal == pytest.approx(movement.diagonal, abs=2e-7)
    text = dump_scenario(scenario)
    again = parse_scenario(text, "x", AGENT_SPECS_BY_KEY)
    assert again == scenario and again.grid.movement == of_grid
    assert ("movement:" in text) == (movement.rule != EIGHT_NEIGHBOURS)
    assert ("diagonal:" in text) == ("diagonal" in movement_data(movement))
    assert (movement_data(movement) == {}) == (movement == DEFAULT_MOVEMENT)
    assert build_world(again, AGENT_SPECS_BY_KEY).grid.movement == of_grid


@pytest.mark.parametrize(
    "source, words",
    [
        ("{rows: ['...'], movement: fuor}", "map.movement: expected .*, got 'fuor'; did you mean 'four'?"),
        ("{rows: ['...'], movement: 4}", "map.movement: expected"),
        ("{rows: ['...'], movement: four, diagonal: 1.5}", "map.diagonal: is allowed only with eight neighbours"),
        ("{generate: {kind: corner}, movement: [eight]}", "map.movement: expected"),
    ],
)
def test_invalid_movement_rule_is_refused(source: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_scenario(HEAD + f"map: {source}\n", "x.yaml", AGENT_SPECS_BY_KEY)


def test_every_map_source_accepts_a_movement_rule(tmp_path: Path) -> None:
    write_map(Grid.from_text_rows(["...", ".@."]), tmp_path / "a.map")
    for source in ("file: a.map", "rows: ['...', '.@.']", "generate: {kind: corner, size: 8}"):
        text = HEAD + f"map: {{{source}, movement: eight-cut, diagonal: 1.25}}\n"
        assert parse_scenario(text, "x", AGENT_SPECS_BY_KEY, tmp_path).grid.movement == Movement(CUT_ONE_CORNER, 1.25)
    assert generate_map("corner", {"size": 8}, movement=Movement(FOUR_NEIGHBOURS)).grid.movement == Movement(
        FOUR_NEIGHBOURS
    )


def test_changed_movement_rule_drops_the_listed_optimal_cost() -> None:
    listed = Scenario(MapRows(("...",)), (0, 0), (2, 0), listed_optimal=2.0)
    moved = listed.with_movement(Movement(FOUR_NEIGHBOURS))
    assert moved.listed_optimal is None and moved.map.movement == moved.grid.movement == Movement(FOUR_NEIGHBOURS)
    assert (
        moved.with_movement(DEFAULT_MOVEMENT).grid.movement == DEFAULT_MOVEMENT
        and listed.with_movement(DEFAULT_MOVEMENT).listed_optimal == 2.0
    )


# --- command line ---------------------------------------------------------------------------------


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> tuple[int, list[dict[str, Any]], str]:
        code = main.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, [json.loads(line) for line in captured.out.splitlines()], captured.err

    return call


@pytest.fixture
def corner_map(tmp_path: Path) -> Path:
    write_map(Grid.from_text_rows(["..", ".@", ".."]), tmp_path / "corner.map")
    (tmp_path / "corner.map.scen").write_text("version 1\n0 corner.map 2 3 0 0 1 2 3\n")
    return tmp_path / "corner.map"


@every_rule
def test_solve_accepts_a_movement_rule(rule: str, run: Any, corner_map: Path) -> None:
    given = ("--map", corner_map, "--from", "0,0", "--to", "1,2", "--agent", "astar", "--movement", rule)
    code, (line,), _ = run("solve", *given)
    assert code == 0 and line["outcome"] == "reached" and line["movement"] == rule
    assert line["cost"] == line["optimal"] == (3.0 if rule in (FOUR_NEIGHBOURS, EIGHT_NEIGHBOURS) else 1.0 + DIAGONAL)
    assert line["diagonal"] == (2.0 if rule == FOUR_NEIGHBOURS else DIAGONAL)


def test_solve_refuses_a_diagonal_cost_without_diagonal_moves(run: Any, corner_map: Path) -> None:
    given = ("solve", "--map", corner_map, "--from", "0,0", "--to", "1,2", "--agent", "astar")
    code, lines, told = run(*given, "--movement", "four", "--diagonal", "1.5")
    assert code == 2 and not lines and "--diagonal: goes with eight neighbours only" in told
    code, (line,), _ = run(*given, "--movement", "eight-cut", "--diagonal", "1.5")
    assert code == 0 and line["cost"] == 2.5 and line["diagonal"] == 1.5
    code, _, told = run(*given, "--movement", "eigth")
    assert code == 2 and "did you mean 'eight'" in told


def test_listed_lengths_are_compared_only_under_the_default_rule(run: Any, corner_map: Path) -> None:
    """The list says 3, right without cut corners; with them the cheapest path is shorter, and that is no fault."""
    given = ("solve", "--scen", f"{corner_map}.scen", "--agent", "astar")
    for rule, optimal in ((EIGHT_NEIGHBOURS, 3.0), (CUT_ONE_CORNER, 1.0 + DIAGONAL)):
        code, (line,), told = run(*given, "--movement", rule)
        assert (
            code == 0 and line["optimal"] == optimal and line["listed_optimal"] == 3.0 and "the file lists" not in told
        )


def test_experiment_compares_movement_rules(run: Any, tmp_path: Path, corner_map: Path) -> None:
    head = "format: backmove-experiment\nversion: 1\ntitle: Rules\nagents: [astar]\nbudgets: [9]\nparts:\n"
    parts = (f"  {rule}: {{problems: {{scen: [corner.map.scen], movement: {rule}}}}}\n" for rule in RULE_DESCRIPTIONS)
    spec = tmp_path / "rules.yaml"
    spec.write_text(head + "".join(parts))
    main.main(["experiment", str(spec), "-o", str(tmp_path / "out")])
    with open(tmp_path / "out" / "results.csv", newline="") as file:
        found = {line["part"]: float(line["optimal"]) for line in csv.DictReader(file)}
    assert found == {
        FOUR_NEIGHBOURS: 3.0,
        EIGHT_NEIGHBOURS: 3.0,
        CUT_ONE_CORNER: 1.0 + DIAGONAL,
        SQUEEZE_BETWEEN_CORNERS: 1.0 + DIAGONAL,
    }
