"""Golden values (golden/*.yaml), for the agents and for naive.py alike, and what must happen on eleven tiny maps."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import AgentSpec, Status
from sim.grid import Grid
from sim.kernels.log import RESTARTED
from sim.world import World
from sim.world_commands import EditCells

from . import naive
from .conftest import UNLIMITED, board_of, drawn, smallest_accepted_budget, solo, ticks_of, yaml_of

GOLDEN = Path(__file__).parent / "golden"
M1: dict[str, Any] = yaml_of((GOLDEN / "m1.yaml").read_text())
TINY: dict[str, str] = yaml_of((GOLDEN / "tiny.yaml").read_text())
MEASURED = ("moves", "cost", "back", "nonoptimal", "expansions")

WALKERS = ("tba", "tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs")
searchers = pytest.mark.parametrize("key", ["astar", "wastar", "gbfs", "delayed-astar", *WALKERS])
walkers = pytest.mark.parametrize("key", WALKERS)


def assert_golden(row: dict[str, Any], measured: dict[str, float]) -> None:
    """Cost within 1e-5 (the table has exact roots, we the 24-bit one), all else exactly; shows both sides."""
    wanted = {name: row[name] for name in MEASURED if name in row}
    have = {name: measured[name] for name in wanted}
    is_equal = all(have[n] == pytest.approx(v, abs=1e-5 if n == "cost" else 0) for n, v in wanted.items())
    assert is_equal, f"{row['kind']} {row.get('params', {})} budget {row['budget']}\nwanted {wanted}\n  have {have}"


def row_id(row: dict[str, Any]) -> str:
    return "-".join([row["kind"], str(row["budget"]), *(str(v) for v in row.get("params", {}).values())])


@pytest.mark.parametrize("row", M1["rows"], ids=row_id)
def test_metrics_on_m1_match_golden_table(row: dict[str, Any]) -> None:
    world, walker = solo(*drawn(M1["map"]), row["kind"], row["budget"], **row.get("params", {}))
    assert round(world.optimal_cost, 5) == 19.65685 and int(world.grid.free_mask.sum()) == 199
    world.advance(5000)
    assert walker.agent.status is Status.AT_GOAL
    m = world.metrics_of_walker(walker)
    measured = (m.moves, m.cost, m.back_moves, m.nonoptimal_moves or 0, m.expansions)
    assert_golden(row, dict(zip(MEASURED, measured, strict=True)))


@pytest.mark.parametrize("row", M1["rows"], ids=row_id)
def test_naive_version_on_m1_matches_golden_table(row: dict[str, Any]) -> None:
    """The oracle itself is held to the table, so that the two can not be wrong together."""
    rows, start, goal = drawn(M1["map"])
    board = naive.Board(rows)
    ends = board.at(start), board.at(goal)
    weights = (0.0, 1.0) if row["kind"].endswith("gbfs") else (1.0, row.get("params", {}).get("weight", 1.0))
    agent: naive.TbBfs | naive.Tba
    if row["kind"] == "tba":
        agent = naive.Tba(board, *ends, row["budget"], trace_check=False)
    else:
        waits = not row["kind"].startswith("tb")
        agent = naive.TbBfs(board, *ends, UNLIMITED if waits else row["budget"], *weights)
    walk, back = [ends[0]], 0
    while agent.status == "active":
        done = agent.tick()
        walk.append(done.cell)
        back += done.back
    numbers = naive.walk_numbers([board] * len(walk), ends[1], walk)
    measured = {**numbers, "back": back, "nonoptimal": numbers["nonoptimal_moves"]}
    assert_golden(row, {**measured, "expansions": len(agent.search.order)})


# --- the tiny maps --------------------------------------------------------------------------------------


def tiny(name: str, key: str, budget: int = 1, **params: Any) -> tuple[World, Any]:
    return solo(*drawn(TINY[name]), key, smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], params, budget), **params)


def run_to_end(world: World, limit: int = 20_000) -> list[int]:
    """The cells that the first agent stands on, tick by tick."""
    walker = world.walkers[0]
    trail = [walker.position]
    for _ in ticks_of(world, limit):
        trail.append(walker.position)
    return trail


def cells_off_path(world: World) -> list[int]:
    """The cells from the agent back along parents, up to and without the first one on its path."""
    view, board = world.walkers[0].agent.view(), board_of(world.grid)
    assert view.search is not None
    path, chain = set(view.path.tolist()), [world.walkers[0].position]
    while chain[-1] not in path:
        x, y = board.at(chain[-1])
        dx, dy = naive.STEPS[int(view.search.nodes[chain[-1]].came)]
        chain.append(board.id((x - dx, y - dy)))
    return chain[:-1]


def test_shortcut_turns_through_the_opening_between_corridors() -> None:
    """Figure 2: basic TBA* walks back to the start; with the shortcut it turns through the opening."""
    moves = {}
    for shortcut in (False, True):
        world, walker = tiny("two corridors with an opening", "tba", 23, shortcut=shortcut)
        start = walker.position
        trail = run_to_end(world)
        assert walker.agent.status is Status.AT_GOAL
        assert (start in trail[1:]) == (not shortcut)
        moves[shortcut] = world.metrics_of_walker(walker).moves
    assert moves == {False: 43, True: 35}


@searchers
def test_real_time_agents_walk_into_the_u_trap(key: str) -> None:
    world, walker = tiny("u trap", key)
    run_to_end(world)
    m = world.metrics_of_walker(walker)
    assert walker.agent.status is Status.AT_GOAL and m.cost >= world.optimal_cost
    if AGENT_SPECS_BY_KEY[key].is_real_time:
        assert m.moves > 3 * m.optimal / 2, "at the least budget nobody gets by the trap without walking into it"
    if key == "astar":
        assert (m.cost, m.back_moves, m.nonoptimal_moves) == (m.optimal, 0, 0)


@searchers
def test_sealed_goal_is_proved_with_one_expansion_per_reachable_cell(key: str) -> None:
    """The proof needs exactly one expansion of each cell that can be reached."""
    world, walker = tiny("sealed goal", key, 3)
    run_to_end(world)
    assert walker.agent.status is Status.NO_PATH
    board = board_of(world.grid)
    assert world.metrics_of_walker(walker).expansions == len(naive.component(board, board.at(world.start)))
    assert world.metrics_of_walker(walker).suboptimality is None


@walkers
def test_corridor_of_width_1_needs_no_back_moves(key: str) -> None:
    """One expansion a tick (TBA*: R = 2) is enough: nothing to choose, so no back-move and no detour."""
    world, walker = tiny("corridor of width 1", key)
    run_to_end(world)
    m = world.metrics_of_walker(walker)
    assert (m.back_moves, m.bounces, m.nonoptimal_moves, m.cost) == (0, 0, 0, m.optimal)


@searchers
def test_blocked_diagonal_shoulder_forces_one_restart(key: str) -> None:
    """A shoulder of a diagonal ahead is blocked: the arc is gone though both its ends are free."""
    world, walker = tiny("cut diagonal", key, 1000)
    world.advance(1)
    board = board_of(world.grid)
    corner = (board.id((3, 0)), board.id((4, 1)))
    assert corner in itertools.pairwise(walker.agent.view().path.tolist())
    world.submit(EditCells(blocked_cells=(board.id((4, 0)),)))
    trail = run_to_end(world)
    assert corner[0] in trail and corner[1] in trail and corner not in itertools.pairwise(trail)
    m = world.metrics_of_walker(walker)
    assert (m.restarts, m.moves, m.cost) == (1, 8, 8.0)


def test_wall_next_to_the_path_restarts_by_rule() -> None:
    """A wall beside the path: eager and the listing as printed begin again, the arcs to be walked do not care."""
    restarts = {}
    for restart, rule in (("lazy", "arc"), ("lazy", "printed"), ("eager", "arc")):
        world, walker = tiny("neighbour of the path", "rtb-wa", 1000, restart=restart, lazy_rule=rule)
        world.advance(1)
        board = board_of(world.grid)
        world.submit(EditCells(blocked_cells=(board.id((4, 0)),)))
        run_to_end(world)
        m = world.metrics_of_walker(walker)
        restarts[restart, rule] = m.restarts
        assert m.cost == m.optimal == 6.0
    assert restarts == {("lazy", "arc"): 0, ("lazy", "printed"): 1, ("eager", "arc"): 1}


@pytest.mark.parametrize("rule", ["arc", "printed"])
@pytest.mark.parametrize("key", ["rtb-wa", "rtb-gbfs"])
@pytest.mark.parametrize("budget", [5, 7, 9])
def test_blocked_backtrack_chain_is_noticed(key: str, rule: str, budget: int) -> None:
    """The goal is found while the agent is deep in the chamber, and the way back is blocked behind it.

    No cell beside the new wall is on the path, so the listing as printed would not notice, and walk into it.
    """
    world, walker = tiny("chamber", key, budget, lazy_rule=rule, **({"weight": 1.0} if key == "rtb-wa" else {}))
    while not walker.agent.state_record[0].found:
        world.advance(1)
    chain = cells_off_path(world)
    assert len(chain) > 3
    world.submit(EditCells(blocked_cells=(chain[2],)))
    world.advance(1)
    assert walker.log_rows[0].marks & RESTARTED
    run_to_end(world)
    assert walker.agent.status is Status.NO_PATH
    world.submit(EditCells(freed_cells=(chain[2],)))
    run_to_end(world)
    assert walker.agent.status is Status.AT_GOAL


@searchers
def test_reopened_goal_wakes_an_agent_with_no_path(key: str) -> None:
    world, walker = tiny("gate", key, 4)
    gate = board_of(world.grid).id((4, 1))
    world.submit(EditCells(blocked_cells=(gate,)), 1)
    world.advance(100)
    assert walker.agent.status is Status.NO_PATH
    assert walker.state_word == "no path"
    stood, before = walker.position, world.metrics_of_walker(walker)
    world.submit(EditCells(freed_cells=(gate,)), world.tick + 10)
    world.advance(1000)
    after = world.metrics_of_walker(walker)
    assert walker.agent.status is Status.AT_GOAL
    assert after.waits >= before.waits + 10 and after.restarts >= before.restarts + 1
    assert after.moves > before.moves and stood != walker.position


@searchers
@pytest.mark.parametrize("budget", [1, 100])
def test_start_adjacent_to_the_goal_takes_one_move(key: str, budget: int) -> None:
    world, walker = tiny("adjacent", key, budget)
    run_to_end(world)
    m = world.metrics_of_walker(walker)
    assert walker.agent.status is Status.AT_GOAL
    if key != "delayed-astar":  # shuttles until it is told
        assert (m.moves, m.cost, m.expansions, m.suboptimality) == (1, 1.0, 1, 1.0)


@pytest.mark.parametrize("spec", AGENT_SPECS_BY_KEY.values(), ids=AGENT_SPECS_BY_KEY)
def test_start_on_the_goal_takes_no_moves(spec: AgentSpec) -> None:
    world, walker = solo(["..", ".."], 3, 3, spec.key, smallest_accepted_budget(spec, {}))
    assert world.advance(10) == 0
    m = world.metrics_of_walker(walker)
    assert walker.agent.status is Status.AT_GOAL
    assert (m.moves, m.expansions, m.cost, m.suboptimality, m.first_move) == (0, 0, 0.0, 1.0, None)


@walkers
def test_empty_room_is_crossed_straight_at_minimum_budget(key: str) -> None:
    """Straight ahead at the least budget."""
    world, walker = tiny("long empty room", key)
    trail = run_to_end(world)
    assert trail == list(range(30, 60))
    m = world.metrics_of_walker(walker)
    assert (m.back_moves, m.expansions, m.cost) == (0, 29, 29.0)


def test_tiny_maps_have_free_start_and_goal() -> None:
    for picture in TINY.values():
        rows, start, goal = drawn(picture)
        grid = Grid.from_text_rows(rows)
        assert grid.is_free(start) and grid.is_free(goal)
