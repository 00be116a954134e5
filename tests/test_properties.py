"""What the papers prove or claim, on random small maps; and every tick against naive.py."""

import itertools
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import Status
from sim.kernels.log import BACK_MOVE, BOUNCED, RESTARTED
from sim.movement import Movement
from sim.params import Value
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, EditCells

from . import naive
from .conftest import (
    UNLIMITED,
    board_of,
    drawn,
    make_world,
    movements,
    problems,
    smallest_accepted_budget,
    solo,
    yaml_of,
)
from .naive import SQRT2, Board, Place

Problem = tuple[list[str], int, int]
LIMIT = 3000  # ticks; no agent here needs a tenth of them

budgets = st.sampled_from([1, 1, 2, 3, 4, 7, 16, 1000])
weights = st.sampled_from([1.0, 1.4, 2.0, 2.6, 3.0, 10.0])
seeds = st.integers(0, 2**32)


def ticks(world: World) -> Iterator[Any]:
    """The row of the first agent, tick by tick, to the end."""
    for _ in range(LIMIT):
        if not world.advance(1):
            return
        yield world.walkers[0].log_rows[0]
    raise AssertionError("it never ends")


def apply_random_edit(world: World, chance: random.Random, most: int) -> tuple[set[naive.Arc], set[naive.Arc]]:
    """Toggle a few cells now; returns the arcs that went and came, by brute force."""
    before = board_of(world.grid).arcs()
    stood_on = {w.position for w in world.walkers}
    cells = chance.sample(range(world.grid.cells), min(world.grid.cells, chance.randint(1, most)))
    if chance.random() < 0.9:
        stood_on.add(world.goal)
    free = [c for c in cells if world.grid.is_free(c) and c not in stood_on]
    world.submit(EditCells(blocked_cells=tuple(free), freed_cells=tuple(c for c in cells if not world.grid.is_free(c))))
    world.apply_due_changes()
    return naive.arc_difference(before, board_of(world.grid).arcs())


def remaining_path(walker: Walker) -> list[int]:
    """The cells from the agent to the end of its path, when it stands on it."""
    path = walker.agent.view().path.tolist()
    return path[path.index(walker.position) :]


# --- tick by tick against naive code ----------------------------------------------------------------------


@given(problems(), movements, budgets, weights, st.booleans(), st.booleans())
def test_every_tick_matches_naive_tb_bfs(
    problem: Problem, movement: Movement, k: int, weight: float, reopen: bool, is_greedy: bool
) -> None:
    params: dict[str, Value] = {} if is_greedy else {"weight": weight, "reopen": reopen}
    world, walker = solo(*problem, "tb-gbfs" if is_greedy else "tb-wa", k, movement, **params)
    board = board_of(world.grid)
    order = (0.0, 1.0) if is_greedy else (1.0, weight)
    agent = naive.TbBfs(board, board.at(world.start), board.at(world.goal), k, *order, reopen and not is_greedy)
    for row in ticks(world):
        want = agent.tick()
        assert (board.at(int(row.cell)), row.expanded, bool(row.marks & BACK_MOVE)) == (
            want.cell,
            want.expanded,
            want.back,
        )
        assert agent.status != "active" or walker.agent.view().path.tolist() == naive.ids(board, agent.path)
    assert agent.status == {Status.AT_GOAL: "goal", Status.NO_PATH: "no path"}[walker.agent.status]


TBA_PARAMS = st.fixed_dictionaries(
    {
        "share": st.sampled_from([0.9, 0.9, 0.5, 0.3, 0.7]),
        "trace_rate": st.sampled_from([10.0, 1.0, 2.0, 3.5, 1.7]),
        "trace_check": st.booleans(),
        "switch": st.sampled_from(["any", "longer"]),
        "shortcut": st.booleans(),
        "shortcut_budget": st.sampled_from([0, 0, 1, 5, 100]),
    }
)


def make_naive_tba(world: World, params: dict[str, Any]) -> naive.Tba:
    board = board_of(world.grid)
    return naive.Tba(
        board,
        board.at(world.start),
        board.at(world.goal),
        world.budget,
        params["share"],
        params["trace_rate"],
        params["trace_check"],
        params["switch"] == "longer",
        params["shortcut"],
        params["shortcut_budget"] or None,
    )


@given(problems(), movements, st.integers(1, 20), TBA_PARAMS)
def test_every_tick_matches_naive_tba(problem: Problem, movement: Movement, least: int, params: dict[str, Any]) -> None:
    """Moves, expansions, trace steps, shortcuts; and neither ever exceeds the resource limit of the tick."""
    limit = smallest_accepted_budget(AGENT_SPECS_BY_KEY["tba"], params, least)
    world, walker = solo(*problem, "tba", limit, movement, **params)
    agent = make_naive_tba(world, params)
    at = agent.board.at
    for row in ticks(world):
        want = agent.tick()
        assert (at(int(row.cell)), row.expanded, row.traced) == (want.cell, want.expanded, want.traced)
        assert (bool(row.marks & BACK_MOVE), bool(row.marks & BOUNCED)) == (want.back, want.bounced)
        assert row.expanded + row.traced / params["trace_rate"] <= limit + 1e-9
    assert agent.status == {Status.AT_GOAL: "goal", Status.NO_PATH: "no path"}[walker.agent.status]
    assert walker.agent.view().numbers["shortcuts"] == len(agent.shortcuts)


@given(problems(), movements, st.integers(1, 20), st.sampled_from([0.9, 0.5]), st.sampled_from([10.0, 1.7]))
def test_every_tick_matches_naive_delayed_astar(
    problem: Problem, movement: Movement, least: int, share: float, rate: float
) -> None:
    params = {"share": share, "trace_rate": rate}
    limit = smallest_accepted_budget(AGENT_SPECS_BY_KEY["delayed-astar"], params, least)
    world, walker = solo(*problem, "delayed-astar", limit, movement, **params)
    board = board_of(world.grid)
    start, neighbours = board.at(world.start), world.grid.free_neighbours(world.start)
    aside = int(walker.agent.state_record[0].aside)  # type: ignore[attr-defined]
    assert aside in neighbours if neighbours else aside == -1
    agent = naive.DelayedAstar(board, start, board.at(world.goal), board.at(aside), limit, share, rate)
    for row in ticks(world):
        want = agent.tick()
        assert (board.at(int(row.cell)), row.expanded, row.traced) == (want.cell, want.expanded, want.traced)
    assert agent.status == {Status.AT_GOAL: "goal", Status.NO_PATH: "no path"}[walker.agent.status]


@given(
    problems(),
    movements,
    budgets,
    weights,
    st.booleans(),
    st.sampled_from(["rtb-wa", "rtb-wa", "rtb-gbfs", "tb-wa"]),
    st.sampled_from([("lazy", "arc"), ("lazy", "printed"), ("eager", "arc")]),
    seeds,
)
def test_every_tick_matches_naive_repeated_tb_bfs(
    problem: Problem,
    movement: Movement,
    k: int,
    weight: float,
    reopen: bool,
    key: str,
    restart: tuple[str, str],
    seed: int,
) -> None:
    """Edits now and then; naive code decides on restarts by a brute-force difference of all arcs."""
    params: dict[str, Value] = {} if key == "rtb-gbfs" else {"weight": weight, "reopen": reopen}
    when, rule = ("eager", "arc") if key == "tb-wa" else restart
    if key != "tb-wa":
        params |= {"restart": when, "lazy_rule": rule}
    order = (0.0, 1.0) if key == "rtb-gbfs" else (1.0, weight)
    world, walker = solo(*problem, key, k, movement, **params)
    board = board_of(world.grid)
    ends = board.at(world.start), board.at(world.goal)
    agent = naive.TbBfs(board, *ends, k, *order, reopen and key != "rtb-gbfs", when, rule)
    chance = random.Random(seed)
    rate, most = chance.choice([0.1, 0.3, 1.0]), chance.choice([1, 2, 6])
    for tick in range(LIMIT):
        if tick < 60 and chance.random() < rate:
            change = apply_random_edit(world, chance, most)
            board.land = board_of(world.grid).land
            agent.change(*change)
        passed = world.advance(1)
        if agent.status == "no path":
            assert walker.agent.status is Status.NO_PATH and not passed
            if tick >= 60:
                break
        elif agent.status == "goal":
            assert walker.agent.status is Status.AT_GOAL and not passed
            break
        else:
            row, want = walker.log_rows[0], agent.tick()
            got = board.at(int(row.cell)), row.expanded, bool(row.marks & BACK_MOVE), bool(row.marks & RESTARTED)
            assert got == (want.cell, want.expanded, want.back, want.restarted), tick
    else:
        raise AssertionError("it never ends")


# --- the referee -------------------------------------------------------------------------------------------


@given(
    problems(side=8), movements, st.sampled_from(sorted(AGENT_SPECS_BY_KEY)), st.integers(1, 6), seeds, st.booleans()
)
def test_metrics_match_naive_referee(
    problem: Problem, movement: Movement, key: str, least: int, seed: int, has_edits: bool
) -> None:
    world, walker = solo(*problem, key, smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], {}, least), movement)
    chance = random.Random(seed)
    first = board_of(world.grid)
    at = first.at
    boards, walk, expanded = [], [at(world.start)], []
    for tick in range(150):
        if has_edits and tick < 30 and chance.random() < 0.2:
            apply_random_edit(world, chance, 2)
        boards.append(board_of(world.grid))
        first = boards[-1] if not world.tick else first  # with what is drawn before anybody plans
        passed = world.advance(1)
        walk.append(at(walker.position))
        expanded += [int(row.expanded) for row in walker.log_rows]
        if not passed:
            walk.pop()
            if tick >= 30 or not has_edits:
                break
            boards.pop()
    m = world.metrics_of_walker(walker)
    want = naive.walk_numbers(boards, at(world.goal), walk)
    have = {name: getattr(m, name) for name in want}
    assert have == want
    assert m.expansions == sum(expanded) and m.max_expansions == max(expanded, default=0)
    assert m.optimal == first.distances(at(world.goal)).get(at(world.start), math.inf)
    assert m.suboptimality is None or m.optimal == 0.0 or m.suboptimality == m.cost / m.optimal
    moved = [i for i, (a, b) in enumerate(itertools.pairwise(walk)) if a != b]
    assert (m.first_move is None) == (not moved)
    assert m.back_move_share is None or m.back_move_share == 100.0 * m.back_moves / want["nonoptimal_moves"]
    assert walker.visit_counts.sum() == m.moves + 1


# --- TB-BFS: lemmas 1 and 2, theorem 2 ---------------------------------------------------------------------


@given(problems(), st.sampled_from([1, 2, 3, 5, 9]), weights, st.booleans())
def test_tb_wa_cost_satisfies_the_published_bounds(problem: Problem, k: int, weight: float, reopen: bool) -> None:
    world, walker = solo(*problem, "tb-wa", k, weight=weight, reopen=reopen)
    before_found = cost = 0.0
    for _ in ticks(world):
        if not walker.agent.state_record[0].found:  # type: ignore[attr-defined]
            before_found = world.metrics_of_walker(walker).cost
    m = world.metrics_of_walker(walker)
    if walker.agent.status is Status.AT_GOAL:
        cost = m.cost
        expanded = m.expansions + 1  # the goal counts in the paper
        assert before_found <= (expanded - 1) // k * SQRT2, "lemma 1"
        assert cost - before_found <= 2 * weight * m.optimal * (1 + 1e-12), "lemma 2"
        assert cost <= (expanded - 1) // k * SQRT2 + 2 * weight * m.optimal * (1 + 1e-12), "theorem 2"


@given(problems(), st.sampled_from([1, 2, 3, 5]), st.sampled_from(["tba", "tb-wa", "tb-gbfs"]), weights, st.booleans())
def test_every_back_move_lowers_g(problem: Problem, k: int, key: str, weight: float, reopen: bool) -> None:
    params: dict[str, Value] = {"weight": weight, "reopen": reopen} if key == "tb-wa" else {}
    world, walker = solo(*problem, key, smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], {}, k), **params)
    stood = world.start
    for row in ticks(world):
        if row.marks & BACK_MOVE:
            nodes = walker.agent.view().search.nodes  # type: ignore[union-attr]
            assert nodes[row.cell].g < nodes[stood].g
        stood = walker.position


@given(problems(), budgets)
def test_tb_wa_with_weight_1_expands_as_many_cells_as_astar(problem: Problem, k: int) -> None:
    world = make_world(*problem, ("tb-wa", {"weight": 1.0}), ("astar", {}), ("wastar", {"weight": 1.0}), budget=k)
    world.advance(LIMIT)
    numbers = [world.metrics_of_walker(w) for w in world.walkers]
    assert len({m.expansions for m in numbers}) == 1
    assert len({w.agent.status for w in world.walkers}) == 1
    if world.walkers[1].agent.status is Status.AT_GOAL:
        astar = numbers[1]
        assert astar.cost == astar.optimal == numbers[2].cost
        assert (astar.back_moves, astar.nonoptimal_moves, astar.revisits) == (0, 0, 0)


@given(problems(), weights, st.booleans())
def test_weighted_astar_cost_is_within_its_weight(problem: Problem, weight: float, reopen: bool) -> None:
    world, walker = solo(*problem, "wastar", 50, weight=weight, reopen=reopen)
    world.advance(LIMIT)
    m = world.metrics_of_walker(walker)
    assert walker.agent.status is Status.NO_PATH or m.cost <= weight * m.optimal * (1 + 1e-12)


# --- TBA* (section 1.6 to 1.9) -----------------------------------------------------------------------------


@given(problems(), st.integers(2, 40), st.booleans(), st.sampled_from(["heap", "buckets"]))
def test_tba_expands_as_many_cells_as_astar_at_any_limit(
    problem: Problem, limit: int, check: bool, open_list: str
) -> None:
    """And it never stands still once it has moved, nor bounces in its first tick."""
    world, walker = solo(*problem, "tba", limit, trace_check=check, open_list=open_list)
    stood, rows = world.start, []
    for row in ticks(world):
        assert row.cell != stood or walker.agent.status is Status.NO_PATH
        rows.append(row.copy())
        stood = walker.position
    assert not rows or not rows[0].marks & (BOUNCED | BACK_MOVE)
    other, astar = solo(*problem, "astar", 1000)
    other.advance(LIMIT)
    m, reference = world.metrics_of_walker(walker), other.metrics_of_walker(astar)
    assert m.expansions == reference.expansions
    if walker.agent.status is Status.AT_GOAL and world.start != world.goal:
        assert walker.agent.view().search.nodes[world.goal].g == reference.cost  # type: ignore[union-attr]


@given(problems(), st.sampled_from(["heap", "buckets"]), st.sampled_from(["any", "longer"]), st.booleans())
def test_tba_with_a_large_limit_follows_the_astar_path(
    problem: Problem, open_list: str, switch: str, shortcut: bool
) -> None:
    world, walker = solo(*problem, "tba", 10_000, open_list=open_list, switch=switch, shortcut=shortcut)
    trail = [world.start] + [int(row.cell) for row in ticks(world)]
    other, _ = solo(*problem, "astar", UNLIMITED)
    if walker.agent.status is Status.AT_GOAL:
        assert world.metrics_of_walker(walker).cost == world.optimal_cost
        assert trail == [other.start] + [int(row.cell) for row in ticks(other)]


@given(problems(), st.integers(2, 30), st.booleans(), st.sampled_from([0.9, 0.6]), st.sampled_from([10.0, 2.0]))
def test_tba_cost_satisfies_the_published_bounds(
    problem: Problem, least: int, check: bool, share: float, rate: float
) -> None:
    """Invariant (8) of section 1.6, and (5): after the goal is traced at most back to the start and then the path."""
    params: dict[str, Value] = {"share": share, "trace_rate": rate, "trace_check": check}
    limit = smallest_accepted_budget(AGENT_SPECS_BY_KEY["tba"], params, least)
    world, walker = solo(*problem, "tba", limit, **params)
    state = walker.agent.state_record[0]  # type: ignore[attr-defined]
    longest, before_traced, g_then = 0, 0.0, 0.0
    stood = world.start
    for _ in ticks(world):
        longest = max(longest, int(state.trace_length) - 1)
        if not state.traced:
            before_traced = world.metrics_of_walker(walker).cost
            stood = walker.position
            g_then = float(walker.agent.view().search.nodes[stood].g)  # type: ignore[union-attr]
    m = world.metrics_of_walker(walker)
    if walker.agent.status is Status.AT_GOAL:
        expansions = naive.floor(limit * share)
        steps = naive.floor((limit - expansions) * rate)
        slices = math.ceil(m.expansions / expansions) + 2 * math.ceil(longest / steps) + 2
        assert m.cost <= slices * SQRT2 + 2 * m.optimal
        assert m.cost - before_traced <= g_then + m.optimal <= 2 * m.optimal


@given(problems(), st.integers(2, 30), st.booleans())
def test_tba_switch_rule_adopts_only_longer_paths(problem: Problem, limit: int, check: bool) -> None:
    world, walker = solo(*problem, "tba", limit, switch="longer", trace_check=check)
    state = walker.agent.state_record[0]  # type: ignore[attr-defined]
    end_g, is_unfinished, end = 0.0, False, -1
    for _ in ticks(world):
        path = walker.agent.view().path.tolist() or [-1]
        if path[-1] != end and is_unfinished and path[-1] != world.goal:
            assert state.end_g >= end_g
        end, end_g, is_unfinished = path[-1], float(state.end_g), state.head < state.length


@given(problems(side=14, low=8), st.sampled_from([5, 9, 14, 20, 30]))
def test_tba_shortcut_is_the_optimal_remaining_path(problem: Problem, limit: int) -> None:
    check_shortcuts(problem, limit)


def test_tba_finds_shortcuts_between_corridors() -> None:
    corridors = yaml_of((Path(__file__).parent / "golden" / "tiny.yaml").read_text())
    problem = drawn(corridors["two corridors with an opening"])
    assert sum(check_shortcuts(problem, limit) for limit in range(20, 60)) > 20


def check_shortcuts(problem: Problem, limit: int) -> int:
    """Whenever one is found, the way left is the cheapest there is. Returns how many were found."""
    world, walker = solo(*problem, "tba", limit, shortcut=True)
    board = board_of(world.grid)
    away = board.distances(board.at(world.goal))
    stood, found = world.start, 0
    for row in ticks(world):
        if (now := int(walker.agent.view().numbers["shortcuts"])) > found:
            found = now
            places: list[Place] = [board.at(stood), *(board.at(c) for c in remaining_path(walker))]
            assert board.length(places) == away[board.at(stood)]
            assert not row.marks & BACK_MOVE
        stood = walker.position
    assert found <= 1
    return found


# --- repeated TB-WA*: theorem 3 as section 1.13 proves it ----------------------------------------------------


def remaining_length(world: World, walker: Walker, board: Board) -> float:
    return board.length([board.at(c) for c in remaining_path(walker)])


@given(problems(side=9), weights, st.sampled_from(["lazy", "eager"]), seeds)
def test_remaining_cost_is_bounded_by_theorem_3(problem: Problem, weight: float, restart: str, seed: int) -> None:
    """With unlimited expansions the way left costs at most w times the cheapest one after every (re)start.

    A lazy agent that lets a cheaper arc through without a restart may owe (w - 1) times what it walked since;
    with w = 1 that is nothing: its way is the cheapest after every single step.
    """
    world, walker = solo(*problem, "rtb-wa", UNLIMITED, weight=weight, restart=restart)
    chance = random.Random(seed)
    slack, lets_through = 0.0, False
    for tick in range(200):
        board = board_of(world.grid)
        came: set[naive.Arc] = set()
        if tick < 40 and chance.random() < 0.5:
            _, came = apply_random_edit(world, chance, 3)
            board = board_of(world.grid)
        stood, spent = walker.position, world.metrics_of_walker(walker).cost
        passed = world.advance(1)
        if not passed:
            if tick >= 40 or walker.agent.status is Status.AT_GOAL:
                break
            continue
        walked = world.metrics_of_walker(walker).cost - spent
        has_restarted = bool(walker.log_rows[0].marks & RESTARTED)
        if has_restarted:
            slack, lets_through = 0.0, False
        elif came:
            lets_through = True
        if walker.agent.status is Status.NO_PATH:
            assert board.at(stood) not in board.distances(board.at(world.goal))
            continue
        away = board.distances(board.at(world.goal))
        left = remaining_length(world, walker, board)
        if has_restarted or not lets_through:
            assert walked + left <= weight * away[board.at(stood)] * (1 + 1e-12)
        slack += walked if lets_through else 0.0
        assert left <= (weight * away[board.at(walker.position)] + (weight - 1.0) * slack) * (1 + 1e-12)
        if weight == 1.0:
            assert left == away[board.at(walker.position)]


@given(problems(side=10), st.sampled_from([1, 3, 8, UNLIMITED]), weights, st.sampled_from(["arc", "printed"]), seeds)
def test_lazy_agent_never_restarts_more_often_than_eager_agent(
    problem: Problem, k: int, weight: float, rule: str, seed: int
) -> None:
    """Side by side on the same changes: eager restarts at every one that finds it planning, lazy never more often."""
    world = make_world(
        *problem,
        ("rtb-wa", {"weight": weight, "restart": "lazy", "lazy_rule": rule}),
        ("rtb-wa", {"weight": weight, "restart": "eager"}),
        budget=k,
    )
    lazy, eager = world.walkers
    chance, events, since = random.Random(seed), 0, 0
    for tick in range(60):
        gone, came = apply_random_edit(world, chance, 2) if tick and chance.random() < 0.4 else (set(), set())
        if gone or came:
            events, since = events + 1, since + 1
        world.advance(1)
        if lazy.is_done or eager.is_done:
            break
        assert world.metrics_of_walker(eager).restarts == events
        assert world.metrics_of_walker(lazy).restarts <= events
        if lazy.log_rows[0].marks & RESTARTED:
            assert since > 0, "a restart without a change since the last"
            since = 0


@given(problems(side=9), st.sampled_from(sorted(AGENT_SPECS_BY_KEY)), seeds)
def test_edit_without_effect_causes_no_restart(problem: Problem, key: str, seed: int) -> None:
    """Edits that change nothing (blocking walls, freeing floors) are not noticed by anybody."""
    world, walker = solo(*problem, key, smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], {}, 3))
    quiet, other = solo(*problem, key, smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], {}, 3))
    chance = random.Random(seed)
    for _ in range(LIMIT):
        some = chance.sample(range(world.grid.cells), min(3, world.grid.cells))
        walls = tuple(c for c in some if not world.grid.is_free(c))
        world.submit(EditCells(blocked_cells=walls, freed_cells=tuple(set(some) - set(walls))))
        if not world.advance(1):
            break
    quiet.advance(LIMIT)
    assert (
        world.metrics_of_walker(walker) == quiet.metrics_of_walker(other)
        and world.compute_digest() == quiet.compute_digest()
    )


@pytest.mark.parametrize("key", [spec.key for spec in AGENT_SPECS_BY_KEY.values() if spec.param("no_path")])
def test_agent_that_gave_up_stays_idle(key: str) -> None:
    world = make_world([".@."], 0, 2, budget=5)
    walker = world.add(AgentConfig(key, params={"no_path": "give-up"}))
    world.advance(10)
    world.submit(EditCells(freed_cells=(1,)))
    world.advance(10)
    assert walker.agent.status is Status.GAVE_UP and walker.position == 0
