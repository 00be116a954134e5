"""Crowds: agents with starts and goals of their own, placed by the hundred."""

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from cli import run as cli_run
from files.scenario import Scenario, build_world, dump_scenario, parse_scenario
from sim.agent_placing import (
    RandomPlacing,
    adapt_agents_to_map,
    cheapest_cost_and_moves,
    cheapest_path_cost,
    place_group_members,
    possibly_changed_path_mask,
)
from sim.grid import Grid
from sim.jit.decorators import JIT_ON
from sim.movement import RULE_DESCRIPTIONS, Movement
from sim.params import ConfigError
from sim.result_lines import milliseconds_by_group
from sim.system.load_progress import send_progress_to
from sim.world import World
from sim.world_commands import AddAgent, AgentConfig, MoveGoal
from ui.model.background_job import JobCancelledError

from .conftest import board_of, problems, random_map_rows, smallest_accepted_budget

Problem = tuple[list[str], int, int]

ROWS = ["." * 12, "." * 12, "@@@@@@@@@@..", "." * 12]
HEAD = "format: backmove-scenario\nversion: 1\nmap:\n  rows: |\n" + "".join(f"    {row}\n" for row in ROWS)
HEAD += "start: [0, 0]\ngoal: [11, 3]\nagents:\n"


def parse_agents(*agents: str, folder: Path | None = None) -> Scenario:
    return parse_scenario(
        HEAD + "".join(f"  - {agent}\n" for agent in agents), "crowd.yaml", AGENT_SPECS_BY_KEY, folder
    )


@settings(max_examples=60)
@given(problems(side=9), st.sampled_from(sorted(AGENT_SPECS_BY_KEY)), st.integers(1, 9))
def test_agent_with_own_start_and_goal_walks_like_one_with_the_worlds(problem: Problem, key: str, budget: int) -> None:
    rows, start, goal = problem
    grid, budget = Grid.from_text_rows(rows), smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], {}, budget)
    ends = grid.xy(start), grid.xy(goal)
    plain = World(grid, start, goal, AGENT_SPECS_BY_KEY, budget=budget, trials=2)
    alone = plain.add(AgentConfig(key))
    other = World(Grid.from_text_rows(rows), goal, start, AGENT_SPECS_BY_KEY, budget=budget, trials=2)
    own = other.add(AgentConfig(key, start=ends[0], goal=ends[1]))
    for _ in range(60):
        plain.advance(1)
        other.advance(1)
        assert alone.log_rows.tolist() == own.log_rows.tolist()
    m, n = plain.metrics_of_walker(alone), other.metrics_of_walker(own)
    assert (m.cost, m.moves, m.optimal, m.suboptimality) == (n.cost, n.moves, n.optimal, n.suboptimality)
    assert n.nonoptimal_moves is None, "nobody counts them for a goal of its own"
    view = other.create_snapshot().walkers[0]
    assert (view.start, view.goal, view.has_own_start_or_goal) == (start, goal, True)


@given(problems(), st.integers(0, 80), st.integers(0, 80))
def test_cheapest_cost_matches_naive_distances(problem: Problem, a: int, b: int) -> None:
    grid = Grid.from_text_rows(problem[0])
    free = grid.free_mask.nonzero()[0].tolist()
    start, goal = free[a % len(free)], free[b % len(free)]
    board = board_of(grid)
    assert cheapest_path_cost(grid, start, goal) == board.distances(board.at(goal)).get(board.at(start), float("inf"))


@pytest.mark.parametrize("corners", [((2, 1), (5, 3)), ((5, 3), (2, 1)), ((5, 1), (2, 3))])
def test_random_placing_includes_both_corners_of_a_zone(corners: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """All of its cells are drawn, the last column and row included, and no others."""
    placing = RandomPlacing(seed=1, start_zone=corners, goal_zone=((0, 5), (11, 5)))
    agents = place_group_members(AgentConfig("tba", "units"), 400, placing, Grid.from_text_rows(["." * 12] * 6))
    assert {config.start for config in agents} == {(x, y) for x in range(2, 6) for y in range(1, 4)}
    assert {config.goal for config in agents} == {(x, 5) for x in range(12)}


def test_own_goal_is_unaffected_by_a_moved_world_goal() -> None:
    grid = Grid.from_text_rows(ROWS)
    world = World(grid, 0, 11, AGENT_SPECS_BY_KEY, budget=4)
    shared, own = world.add(AgentConfig("tb-wa")), world.add(AgentConfig("tb-wa", goal=(5, 3)))
    world.submit(MoveGoal(grid.cell(5, 1)))
    world.advance(200)
    assert grid.xy(shared.position) == (5, 1) and grid.xy(own.position) == (5, 3)
    assert world.goal_of_walker(own) == grid.cell(5, 3) and shared.has_arrived and own.has_arrived


def test_random_pairs_are_reproducible_and_respect_min_cost() -> None:
    text = "{kind: tb-wa, weight: 2, count: 40, label: units, placing: {pairs: random, seed: %d, min_cost: 9}}"
    one, same, other = parse_agents(text % 7), parse_agents(text % 7), parse_agents(text % 8)
    assert one.agents == same.agents != other.agents
    assert len(one.agents) == 40 and {config.group for config in one.agents} == {"units"}
    assert [config.label for config in one.agents[:2]] == ["units 1", "units 2"]
    world = build_world(one, AGENT_SPECS_BY_KEY)
    for walker in world.walkers:
        assert walker.own_optimum is not None and 9 <= walker.own_optimum[0] < float("inf")
    world.advance(500)
    assert all(walker.has_arrived for walker in world.walkers)


def test_starts_and_goals_lie_within_their_zones() -> None:
    made = parse_agents("{kind: astar, count: 30, placing: {from: [[3, 1], [0, 0]], to: [[8, 3], [11, 3]], seed: 1}}")
    for config in made.agents:
        assert config.start and config.goal
        assert config.start[0] <= 3 and config.start[1] <= 1 and config.goal[0] >= 8 and config.goal[1] == 3


def test_placing_from_a_scen_file_uses_the_selected_rows(tmp_path: Path) -> None:
    rows = "".join(f"0\trows\t12\t4\t{i}\t0\t{11 - i}\t3\t20\n" for i in range(6))
    (tmp_path / "some.scen").write_text("version 1\n" + rows)
    made = parse_agents("{kind: tba, placing: {scen: some.scen, rows: '1,3:5'}}", folder=tmp_path)
    assert [config.start for config in made.agents] == [(1, 0), (3, 0), (4, 0)]
    assert [config.goal for config in made.agents] == [(10, 3), (8, 3), (7, 3)]


def test_world_start_and_goal_are_optional_if_every_agent_has_its_own() -> None:
    def of(*agents: str) -> Scenario:
        head = HEAD.replace("start: [0, 0]\ngoal: [11, 3]\n", "")
        return parse_scenario(head + "".join(f"  - {agent}\n" for agent in agents), "crowd.yaml", AGENT_SPECS_BY_KEY)

    made = of("{kind: astar, start: [3, 1], goal: [4, 0]}", "{kind: tb-wa, count: 9, placing: {pairs: random}}")
    assert (made.start, made.goal) == ((3, 1), (4, 0))
    with pytest.raises(ConfigError, match=r"start: expected a cell as \[x, y\], because not every agent sets its own"):
        of("{kind: astar, start: [3, 1], goal: [4, 0]}", "{kind: tb-wa, goal: [5, 0]}")
    with pytest.raises(ConfigError) as caught:
        of("{kind: tb-wa, count: 9, placing: {pairs: randm}}")
    assert len(caught.value.problems) == 1, "who is to be placed may have ends, once that is right"


def test_impossible_placing_stops_after_a_limited_number_of_tries() -> None:
    """Each try may search the whole map: five hundred agents would be 100,000 of them."""
    with pytest.raises(ConfigError, match="found 0 in 2,000 tries"):
        place_group_members(AgentConfig("tba"), 500, RandomPlacing(min_cost=900.0), Grid.from_text_rows(ROWS))


def test_every_placing_error_is_reported_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_agents(
            "{kind: tb-wa, coutn: 3, placing: {pairs: random, mincost: 4}}",
            "{kind: tb-wa, count: 3, placing: {from: [[-1, 0], [1, 1]], to: [[0, 0], [1, 1]]}}",
            "{kind: tb-wa, count: 3, placing: random}",
        )
    words = ["coutn", "did you mean 'min_cost'", "from[0]: expected a cell", "expected a placing"]
    assert len(caught.value.problems) == len(words)
    assert all(word in problem for word, problem in zip(words, caught.value.problems, strict=True))


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("{kind: tb-wa, start: [0, 2]}", "expected a free cell"),
        ("{kind: tb-wa, start: [12, 2]}", "a cell of the map, which is 12 x 4"),
        ("{kind: tb-wa, count: 0}", "count"),
        ("{kind: tb-wa, count: 6000}", "count"),
        ("{kind: tb-wa, count: 3, placing: {pairs: randm}}", "random"),
        ("{kind: tb-wa, count: 3, placing: {pair: random}}", "did you mean 'pairs'"),
        ("{kind: tb-wa, count: 3, placing: {pairs: random, min_cost: 900}}", "900 or more between them, found 0"),
        ("{kind: tb-wa, count: 3, placing: {from: [[0, 0], [1, 1]]}}", "a placing"),
        ("{kind: tb-wa, count: 3, placing: {from: [[0, 0]], to: [[1, 1], [2, 1]]}}", "two opposite corners"),
        (
            "{kind: tb-wa, count: 3, placing: {pairs: random, min_cost: 900}}",
            "600 tries; the most expensive path among them costs",
        ),
        (
            "{kind: tb-wa, count: 3, placing: {from: [[0, 2], [9, 2]], to: [[0, 0], [1, 0]]}}",
            "[[0, 2], [9, 2]], got none",
        ),
        ("{kind: tb-wa, count: 3, placing: {from: [[1, 0], [1, 0]], to: [[1, 0], [1, 0]]}}", "none of them has a path"),
        ("{kind: tb-wa, placing: {scen: /etc/passwd}}", "open to this file"),
        ("{kind: tb-wa, count: 3, placing: 7}", "a placing"),
    ],
)
def test_invalid_placing_is_reported_with_its_line(agent: str, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_agents("{kind: astar}", agent)
    problems = error.value.problems
    assert any(words in problem for problem in problems) and all(p.startswith("crowd.yaml:13: ") for p in problems)


def test_invalid_crowd_causes_no_follow_up_errors() -> None:
    """Not that nobody of it is there, whom later lines name by its group, its name or its number."""
    text = HEAD + "  - {kind: tb-wa, label: units, count: 999999, placing: {pairs: random}}\nedits:\n"
    for line in (
        "group: units, budget: 9",
        "agent: units 3, set: {weight: 2}",
        "remove: units 4",
        "agent: 7, budget: 3",
    ):
        text += f"  - {{tick: 4, {line}}}\n"
    with pytest.raises(ConfigError, match="count") as caught:
        parse_scenario(text, "crowd.yaml", AGENT_SPECS_BY_KEY)
    assert len(caught.value.problems) == 1
    with pytest.raises(ConfigError, match="no agent 'unit 3'; did you mean 'units'") as caught:
        parse_scenario(text.replace("agent: units 3", "agent: unit 3"), "crowd.yaml", AGENT_SPECS_BY_KEY)
    assert len(caught.value.problems) == 2


def test_crowd_round_trips_through_a_scenario_file(tmp_path: Path) -> None:
    made = parse_agents("{kind: lrta, count: 5, budget: 3, placing: {pairs: random}}", "{kind: tba, goal: [4, 3]}")
    again = parse_scenario(dump_scenario(made), "again.yaml", AGENT_SPECS_BY_KEY, tmp_path)
    assert again.agents == made.agents
    one, other = build_world(made, AGENT_SPECS_BY_KEY), build_world(again, AGENT_SPECS_BY_KEY)
    one.advance(50)
    other.advance(50)
    assert one.compute_digest() == other.compute_digest()


def test_agents_added_by_edits_may_have_own_ends_but_no_count() -> None:
    text = HEAD + "  - {kind: astar}\nedits:\n  - {tick: 3, add: {kind: tba, start: [2, 3], goal: [3, 0]}}\n"
    made = parse_scenario(text, "crowd.yaml", AGENT_SPECS_BY_KEY)
    assert made.timed_commands[0].command == AddAgent(AgentConfig("tba", start=(2, 3), goal=(3, 0)))
    with pytest.raises(ConfigError, match="an edit can add only one agent"):
        parse_scenario(text.replace("start: [2, 3]", "count: 4"), "crowd.yaml", AGENT_SPECS_BY_KEY)


def test_run_summary_has_one_line_per_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "crowd.yaml"
    agents = "  - {kind: tb-wa, label: units, count: 6, placing: {pairs: random}}\n  - {kind: tba}\n  - {kind: tba}\n"
    path.write_text(HEAD + agents)
    assert cli_run.main([str(path), "--summary"]) == 0
    units, *others = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (units["group"], units["count"], units["arrived"]) == ("units", 6, 6)
    assert units["worst_suboptimality"] >= units["mean_suboptimality"] >= 1.0
    assert units["worst_suboptimality"] >= units["median_suboptimality"] >= 1.0
    assert units["tick_ms_p99"] >= units["tick_ms_median"] > 0.0
    assert [line["count"] for line in others] == [1, 1]
    for line in (units, *others):
        assert line["group_ms_p99"] >= line["group_ms_median"] >= 0.0


def test_group_times_count_only_the_work_of_the_group() -> None:
    """By a clock that strikes whenever somebody looks at it: a crew is one piece of work, others one each."""
    units, few = (
        "{kind: tb-wa, label: units, count: 20, placing: {pairs: random}}",
        "{kind: lrta, label: few, count: 2}",
    )
    world = build_world(parse_agents(units, "{kind: tba}", "{kind: lrta}", few), AGENT_SPECS_BY_KEY)
    strikes = itertools.count()
    world.agent_times.clock = lambda: float(next(strikes))
    world.advance(1)
    taken = milliseconds_by_group(world)
    crew = 1000.0 if JIT_ON else 20_000.0
    assert sorted(taken.values()) == sorted([crew, 1000.0, 1000.0, 2000.0])
    assert taken["units", "tb-wa"] == crew and taken["few", "lrta"] == 2000.0
    world.advance(1)
    assert milliseconds_by_group(world) == taken, "of the last advance"


def test_group_times_exclude_ticks_without_planning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Units that arrived long ago take next to nothing: counted, they would make every group look cheap."""
    path = tmp_path / "crowd.yaml"
    crowd = "{kind: tb-wa, label: units, budget: 99, count: 20, placing: {pairs: random}}"
    late = "{kind: lrta, label: late, count: 2, placing: {pairs: random}}"
    path.write_text(HEAD + f"  - {crowd}\n  - {late}\n  - {{kind: tba, label: at once, start: [2, 3], goal: [2, 3]}}\n")
    assert cli_run.main([str(path)]) == 0
    by_label: dict[str, int] = {}
    for line in map(json.loads, capsys.readouterr().out.splitlines()):
        by_label[line["label"].split()[0]] = max(line["ticks"], by_label.get(line["label"].split()[0], 0))
    assert cli_run.main([str(path), "--summary"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["group_ticks"] for line in lines] == [by_label["units"], by_label["late"], by_label["at"]]
    assert all(line["ticks"] == max(by_label.values()) > by_label["at"] for line in lines)
    for line in lines:
        assert line["tick_ms_worst"] >= line["tick_ms_p99"]
        assert line["group_ms_worst"] is None or line["group_ms_worst"] >= line["group_ms_p99"]


def test_random_placing_can_be_cancelled() -> None:
    def listen(share: float) -> None:
        raise JobCancelledError

    with send_progress_to(listen), pytest.raises(JobCancelledError):
        parse_agents("{kind: lrta, count: 400, placing: {pairs: random, min_cost: 1000000}}")


def test_on_other_map_places_crowds_anew_and_resets_single_agents() -> None:
    here, there = (Grid.from_text_rows(random_map_rows(seed, 20, 20, 0.2)) for seed in (1, 2))
    lazy, eager = (
        place_group_members(AgentConfig("rtb-wa", name), 30, RandomPlacing(7), here) for name in ("lazy", "eager")
    )
    lone = AgentConfig("tba", start=here.xy(int(here.free_mask.nonzero()[0][0])))
    moved = adapt_agents_to_map([*lazy, lone, *eager], there, seed=3)
    assert moved == adapt_agents_to_map([*lazy, lone, *eager], there, seed=3)
    assert [config.label for config in moved] == [config.label for config in (*lazy, lone, *eager)]
    assert moved[30] == AgentConfig("tba")
    ends = [(config.start, config.goal) for config in moved]
    assert ends[:30] == ends[31:], "two crowds are compared on the same problems"
    assert all(cheapest_path_cost(there, there.cell(*start), there.cell(*goal)) >= 5 for start, goal in ends[:30])
    narrow = Grid.from_text_rows(["..@@", "@@@@"])
    assert len(adapt_agents_to_map(lazy, narrow, 0)) == 30, "nearer, where nothing is so far apart"
    alone = Grid.from_text_rows([".@.@"])
    with pytest.raises(ConfigError, match="too few"):
        adapt_agents_to_map(lazy, alone, 0)
    three = [AgentConfig("tba", f"tba {i}", group="tba") for i in range(3)]
    assert adapt_agents_to_map(three, alone, 0) == three, "who has no ends of its own needs no place for them"


def test_group_start_and_goal_errors_are_reported_with_the_others() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_agents(
            "{kind: tba, count: 3, start: [0, 2]}",
            "{kind: tba, start: [0, 0], goal: [1, 1], placing: {pairs: random}}",
            "{kind: tbaa}",
        )
    lines = str(raised.value).splitlines()
    assert lines[0] == "crowd.yaml:12: agents[0].start: expected a free cell, got [0, 2], which is blocked"
    for line, key in zip(lines[1:3], ("start", "goal"), strict=True):
        assert line == f"crowd.yaml:13: agents[1].{key}: is not allowed with placing, which sets it for each agent"
    assert len(lines) == 4 and "did you mean 'tba'" in lines[3]


@settings(max_examples=150)
@given(
    st.integers(0, 10**6),
    st.sampled_from([Movement(), Movement(diagonal=1.9), *(Movement(rule) for rule in RULE_DESCRIPTIONS)]),
    st.lists(st.integers(0, 20 * 14 - 1), min_size=1, max_size=12),
)
def test_optimal_path_outside_may_have_changed_is_unchanged(seed: int, movement: Movement, flips: list[int]) -> None:
    """Whatever is blocked and freed: who is spared a search would have found the same."""
    grid = Grid.from_text_rows(random_map_rows(seed, 20, 14, 0.2), movement=movement)
    chance, free = random.Random(seed), grid.free_mask.nonzero()[0].tolist()
    pairs = [tuple(chance.choices(free, k=2)) for _ in range(20)]
    ways = [cheapest_cost_and_moves(grid, *pair) for pair in pairs]
    ends = {cell for pair in pairs for cell in pair}
    cells = np.array([cell for cell in set(flips) if cell not in ends], np.int32)
    change = grid.block_and_free(cells[grid.free_mask[cells]], cells[~grid.free_mask[cells]])
    starts, goals = zip(*pairs, strict=True)
    are_near = possibly_changed_path_mask(grid, starts, goals, [cost for cost, _ in ways], change.cells)
    for pair, way, is_near in zip(pairs, ways, are_near.tolist(), strict=True):
        assert is_near or cheapest_cost_and_moves(grid, *pair) == way


def test_distant_wall_does_not_trigger_a_new_optimal_path_search() -> None:
    grid = Grid.from_text_rows(["." * 60] * 60)
    near, far = (0, 5), (3000, 3010)
    starts, goals = zip(near, far, strict=True)
    costs = [cheapest_path_cost(grid, *pair) for pair in (near, far)]
    change = grid.block_and_free(np.array([2, 62, 122], np.int32), np.empty(0, np.int32))
    assert possibly_changed_path_mask(grid, starts, goals, costs, change.cells).tolist() == [True, False]
