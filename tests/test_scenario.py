"""Scenario files: read, written, refused with all of their problems, and what the shipped ones show."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from files.map_source import MapFile, MapRecipe, MapRows
from files.movingai import write_map
from files.scenario import Scenario, build_world, dump_scenario, load_scenario, parse_scenario, save_scenario
from sim import world_commands
from sim.agent_api import Status
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.metrics import Metrics
from sim.params import ConfigError, Value
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, TimedCommand

from .conftest import ROOT

SHIPPED = sorted((ROOT / "assets" / "scenarios").glob("*.yaml"))
BAD = sorted((ROOT / "tests" / "bad" / "scenarios").glob("*.yaml"))

BASE = """\
format: backmove-scenario
version: 1
title: A sample
caption: |
  Two lines
  of it
map:
  rows: |
    .....
    .@.@.
    ..T..
seed: 9
budget: 20
start: [0, 0]
goal: [4, 0]
agents:
  - {kind: rtb-wa, label: lazy, weight: 2}
  - {kind: tba, budget: 30}
switches:
  gate: [[2, 1], [2, 0]]
changes: {every: 7, rate: 2.5}
edits:
  - {tick: 9, free: gate}
  - {tick: 1, block: gate}
  - {tick: 2, block: [[0, 2]], free: [[1, 1], [3, 1]]}
  - {tick: 3, terrain: {cells: [[0, 1], [4, 1]], letters: "@W"}}
  - {tick: 4, goal: [4, 2]}
  - {tick: 4, budget: 25}
  - {tick: 5, agent: lazy, budget: 3}
  - {tick: 5, agent: lazy, budget: null}
  - {tick: 6, agent: tba, set: {shortcut: true, share: 0.5}}
  - {tick: 7, add: {kind: tb-gbfs, label: late, budget: 2}}
  - {tick: 8, remove: late}
  - {tick: 8, agent: 7, add: {kind: astar}}
  - {tick: 8, agent: 0, set: {weight: 3}}
  - {tick: 8, changes: {every: 3, rate: 0}}
view: {layers: [open, closed], zoom: 2.5}
"""


def parse(text: str, name: str = "x.yaml") -> Scenario:
    return parse_scenario(text, name, AGENT_SPECS_BY_KEY)


def parse_problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    return caught.value.problems


# --- reading --------------------------------------------------------------------------------------


def test_parser_reads_every_part_of_a_scenario() -> None:
    scenario = parse(BASE)
    assert scenario.title == "A sample" and scenario.caption == "Two lines\nof it\n"
    assert scenario.map == MapRows((".....", ".@.@.", "..T.."))
    assert (scenario.seed, scenario.budget, scenario.start, scenario.goal) == (9, 20, (0, 0), (4, 0))
    assert scenario.agents == (AgentConfig("rtb-wa", "lazy", {"weight": 2.0}), AgentConfig("tba", budget=30))
    assert scenario.switches == {"gate": ((2, 1), (2, 0))}
    assert scenario.changes == RandomChangeSchedule(7, 2.5)
    assert scenario.view == {"layers": ["open", "closed"], "zoom": 2.5}


def test_cell_lists_accept_single_cells_and_runs() -> None:
    one_by_one, runs = "[[1, 2], [2, 2], [0, 0]]", "{runs: '1-2,2 0,0'}"
    for line in ("gate: CELLS", "gate: [[2, 1]]\nedits:\n  - {tick: 1, block: CELLS}",
                 "gate: [[2, 1]]\nedits:\n  - {tick: 1, switches: {gate: CELLS}}",
                 "gate: [[2, 1]]\nedits:\n  - {tick: 1, terrain: {cells: CELLS, letters: TTW}}"):  # fmt: skip
        text = BASE[: BASE.index("  gate: ")] + f"  {line}\n"
        assert parse(text.replace("CELLS", runs)) == parse(text.replace("CELLS", one_by_one)) != parse(BASE)
        (problem,) = parse_problems(text.replace("CELLS", "{runs: '3-5,1'}"))
        assert problem.endswith("expected runs within the map, which is 5 x 3, got '3-5,1'")
    in_quotes = 'expected cells such as [[3, 4]] or, in quotes, {runs: "3-9,4"}, got '
    for wrong, said in (
        ("{runs: 1-2,2}", in_quotes),  # YAML takes the 2 for another key
        ("{cells: 3}", in_quotes),
        ("{runs: ''}", "expected at least one cell"),
        ("7", "expected a list of cells"),
    ):
        assert said in parse_problems(BASE.replace("[[2, 1], [2, 0]]", wrong))[0]


@pytest.mark.parametrize("last", ["{kind: tba}", "{kind: tba, count: 2}"])
def test_scenario_has_at_most_the_maximum_of_agents(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = BASE.split("switches:")[0].replace("{kind: tba, budget: 30}", last)
    most = len(parse(text).agents)
    monkeypatch.setattr("files.scenario.MAX_AGENTS", most)
    assert len(parse(text).agents) == most
    (problem,) = parse_problems(text + "  - {kind: lrta}\n")
    assert f"expected at most {most} agents" in problem and f"got {most + 1}" in problem


def test_parser_reads_every_command_in_tick_order() -> None:
    assert parse(BASE).timed_commands == (
        TimedCommand(1, world_commands.SetSwitch("gate", True)),
        TimedCommand(2, world_commands.EditCells((10,), (6, 8))),
        TimedCommand(3, world_commands.SetTerrain((5, 9), "@W")),
        TimedCommand(4, world_commands.MoveGoal(14)),
        TimedCommand(4, world_commands.SetBudget(25)),
        TimedCommand(5, world_commands.SetBudget(3, 0)),
        TimedCommand(5, world_commands.SetBudget(None, 0)),
        TimedCommand(6, world_commands.SetParam(1, "shortcut", True)),
        TimedCommand(6, world_commands.SetParam(1, "share", 0.5)),
        TimedCommand(7, world_commands.AddAgent(AgentConfig("tb-gbfs", "late", budget=2))),
        TimedCommand(8, world_commands.RemoveAgent(2)),
        TimedCommand(8, world_commands.AddAgent(AgentConfig("astar"), 7)),
        TimedCommand(8, world_commands.SetParam(0, "weight", 3.0)),
        TimedCommand(8, world_commands.SetRandomChanges(3, 0.0)),
        TimedCommand(9, world_commands.SetSwitch("gate", False)),
    )


def test_agent_numbers_in_edits_match_the_world() -> None:
    """An agent that a file calls by its label is the one that the command reaches."""
    text = BASE.split("changes:")[0] + (
        "edits:\n"
        "  - {tick: 5, add: {kind: tb-wa, label: second}}\n"
        "  - {tick: 3, add: {kind: tb-wa, label: first}}\n"
        "  - {tick: 4, remove: first}\n"
        "  - {tick: 6, agent: second, set: {weight: 7}}\n"
        "  - {tick: 7, agent: 6, add: {kind: tb-wa, label: sixth}}\n"
        "  - {tick: 8, add: {kind: tb-wa, label: first}}\n"
        "  - {tick: 9, agent: first, set: {weight: 8}}\n"
    )
    world = build_world(parse(text), AGENT_SPECS_BY_KEY)
    world.submit(world_commands.SetRandomChanges(1, 0.0), 50)  # keeps time running
    world.advance(20)
    assert [walker.label for walker in world.walkers] == ["lazy", "TBA*", "second", "sixth", "first"]
    assert [walker.id for walker in world.walkers] == [0, 1, 3, 6, 7]
    assert [walker.params["weight"] for walker in world.walkers[2:]] == [7.0, 1.0, 8.0]
    assert not world.messages


def test_generated_map_provides_start_goal_and_switches() -> None:
    head = "format: backmove-scenario\nversion: 1\nagents: []\n"
    scenario = parse(head + "map: {generate: {kind: river, width: 48, height: 32, seed: 3}}\n")
    assert isinstance(scenario.map, MapRecipe) and scenario.map.values["bridges"] == 2
    grid = scenario.grid
    assert grid.is_free(grid.cell(*scenario.start)) and grid.is_free(grid.cell(*scenario.goal))
    assert list(scenario.switches) == ["north bridge", "south bridge"]
    moved = parse(head + "map: {generate: {kind: river, width: 48, height: 32, seed: 3}}\nswitches: {}\ngoal: [0, 0]\n")
    assert moved.switches == {} and moved.goal == (0, 0) and moved.start == scenario.start
    assert parse(dump_scenario(moved)) == moved


def test_diagonal_and_swamp_settings_apply_to_the_grid(tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    write_map(Grid.from_text_rows([".S."]), tmp_path / "maps" / "swamp.map")
    text = (
        "format: backmove-scenario\nversion: 1\nagents: []\nstart: [0, 0]\ngoal: [2, 0]\n"
        "map: {file: ../maps/swamp.map, swamp: blocked, diagonal: 1.5}\n"
    )
    scenario = parse_scenario(text, "x", AGENT_SPECS_BY_KEY, tmp_path / "scenarios")
    assert scenario.grid.text_rows() == [".T."] and scenario.grid.diagonal_cost == 1.5
    assert parse_scenario(dump_scenario(scenario), "x", AGENT_SPECS_BY_KEY, tmp_path / "scenarios") == scenario


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_scenario_files_report_all_problems(path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario(path, AGENT_SPECS_BY_KEY)
    got = str(caught.value).replace(f"{path.parent}{os.sep}", "").replace(str(ROOT), "ROOT")
    assert got + "\n" == Path(f"{path}.expected").read_text(encoding="utf-8")


def test_shared_budget_concerns_only_agents_that_have_no_own_budget_at_its_tick() -> None:
    text = BASE.split("edits:")[0] + "edits:\n"
    own, shared = "  - {tick: 1, agent: second, budget: 30}\n", "  - {tick: 2, budget: 1}\n"
    text = text.replace("{kind: tba, budget: 30}", "{kind: tba, label: second}")
    assert parse(text + own + shared).timed_commands == (
        TimedCommand(1, world_commands.SetBudget(30, 1)),
        TimedCommand(2, world_commands.SetBudget(1)),
    )
    for edits in (shared, own + own.replace("30", "null") + shared):
        assert "agent 1 (second)" in parse_problems(text + edits)[0]


def test_one_error_causes_no_follow_up_errors() -> None:
    """One wrong agent, or a wrong map, does not make the commands that speak of it wrong."""
    one_agent = parse_problems(BASE.replace("weight: 2}", "weight: none}"))
    assert one_agent == ["x.yaml:17: agents[0].weight: expected a number from 1 to 100, got 'none'"]
    recipe = BASE.replace("  rows: |\n    .....\n    .@.@.\n    ..T..\n", "  generate: {kind: rivr}\n")
    no_map = parse_problems(
        recipe.replace("start: [0, 0]\ngoal: [4, 0]\n", "").replace("switches:\n  gate: [[2, 1], [2, 0]]\n", "")
    )
    assert no_map == ["x.yaml:8: map.generate.kind: no generator 'rivr'; did you mean 'river'?"]


def test_scenario_reads_maps_only_from_allowed_folders(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home" / "scenarios", tmp_path / "elsewhere"
    for folder in (home, tmp_path / "home" / "maps", elsewhere):
        folder.mkdir(parents=True)
    for folder in (tmp_path / "home" / "maps", elsewhere):
        write_map(Grid.from_text_rows(["...."]), folder / "a.map")
    (tmp_path / "home" / "maps" / "link.map").symlink_to(elsewhere / "a.map")
    (elsewhere / "secret.txt").write_text("secret")
    (tmp_path / "home" / "maps" / "secret.map").symlink_to(elsewhere / "secret.txt")
    text = "format: backmove-scenario\nversion: 1\nagents: []\nstart: [0, 0]\ngoal: [3, 0]\nmap: {file: NAME}\n"

    def load(name: object, **options: object) -> Scenario:
        (home / "x.yaml").write_text(text.replace("NAME", str(name)))
        return load_scenario(home / "x.yaml", AGENT_SPECS_BY_KEY, **options)

    assert load("../maps/a.map").grid.width == 4
    assert load(tmp_path / "home" / "maps" / "a.map").grid.width == 4
    linked = load("../maps/link.map")
    assert linked.grid.width == 4
    assert save_scenario(linked, home / "saved.yaml").map == linked.map, "named as it was, and opened again"
    assert load_scenario(home / "saved.yaml", AGENT_SPECS_BY_KEY).grid.width == 4
    for outside in ("../../elsewhere/a.map", elsewhere / "a.map", "../maps/secret.map", "/dev/zero"):
        with pytest.raises(
            ConfigError, match="must lead to a .map file" if "secret" in str(outside) else "which is outside"
        ):
            load(outside)
    assert load("../../elsewhere/a.map", allowed_folders=[elsewhere]).grid.width == 4
    with pytest.raises(ConfigError, match="which is outside"):
        parse(text.replace("NAME", str(elsewhere / "a.map")))


@pytest.mark.parametrize("name", ["missing.yaml", ""])
def test_missing_scenario_file_gives_one_problem(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario(tmp_path / name, AGENT_SPECS_BY_KEY)
    assert len(caught.value.problems) == 1


@settings(max_examples=150)
@given(st.data())
def test_mutated_scenario_parses_or_raises_config_error(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([BASE, *(path.read_text(encoding="utf-8") for path in SHIPPED[:3])]))
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 12)))
        new = data.draw(
            st.text(max_size=6) | st.sampled_from([" -1", "[]", "{}", ": ", "\n", "null", "99999", "[[0, 0]]"])
        )
        text = text[:begin] + new + text[end:]
    assert_parses_or_raises_config_error(text)


@given(st.binary(max_size=120) | st.text(max_size=120))
def test_random_bytes_parse_or_raise_config_error(source: bytes | str) -> None:
    assert_parses_or_raises_config_error(source)
    assert_parses_or_raises_config_error(
        BASE.encode() + (source if isinstance(source, bytes) else source.encode("utf-8", "replace"))
    )


def assert_parses_or_raises_config_error(source: bytes | str) -> None:
    try:
        scenario = parse_scenario(source, "x.yaml", AGENT_SPECS_BY_KEY, ROOT / "assets" / "scenarios")
    except ConfigError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.startswith("x.yaml:") and "\n" not in problem and len(problem) < 1500
        return
    again = parse_scenario(dump_scenario(scenario), "x.yaml", AGENT_SPECS_BY_KEY, ROOT / "assets" / "scenarios")
    assert again == scenario
    build_world(scenario, AGENT_SPECS_BY_KEY).advance(10)


# --- writing --------------------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
cells = st.integers(0, 14)


def param_values() -> st.SearchStrategy[tuple[str, dict[str, Value]]]:
    """An agent with some of its parameters off their defaults."""

    def values(key: str) -> st.SearchStrategy[tuple[str, dict[str, Value]]]:
        options = {}
        for param in AGENT_SPECS_BY_KEY[key].params:
            if param.kind is bool:
                options[param.name] = st.booleans()
            elif param.choices:
                options[param.name] = st.sampled_from(param.choices)
            elif param.kind is int:
                options[param.name] = st.integers(int(param.low or 0), int(param.high or 100))
        return st.tuples(st.just(key), st.fixed_dictionaries({}, optional=options))

    return st.sampled_from([spec.key for spec in AGENT_SPECS]).flatmap(values)


configs = st.builds(
    lambda kind, label, budget: AgentConfig(kind[0], label, kind[1], budget),
    param_values(),
    names | st.just(""),
    st.none() | st.integers(20, 99),
)
timed = st.tuples(
    st.integers(0, 50),
    st.one_of(
        st.builds(world_commands.EditCells, st.lists(cells).map(tuple), st.lists(cells).map(tuple)),
        st.lists(st.tuples(cells, st.sampled_from(".@TSGWOB"))).map(
            lambda parts: world_commands.SetTerrain(tuple(c for c, _ in parts), "".join(letter for _, letter in parts))
        ),
        st.builds(world_commands.SetSwitch, st.sampled_from(["gate", "7", "a: b"]), st.booleans()),
        st.builds(
            world_commands.DefineSwitch, st.sampled_from(["gate", "8", "c: d"]), st.lists(cells, min_size=1).map(tuple)
        ),
        st.builds(world_commands.DefineSwitch, st.just("ended"), st.just(())),
        st.builds(world_commands.MoveGoal, cells),
        st.builds(world_commands.SetBudget, st.integers(20, 99)),
        st.builds(world_commands.SetBudget, st.none() | st.integers(20, 99), st.integers(0, 1)),
        st.builds(world_commands.SetParam, st.just(0), st.just("weight"), st.floats(1, 100)),
        st.builds(world_commands.AddAgent, configs, st.none() | st.sampled_from([500, 600, 700])),
        st.builds(world_commands.SetRandomChanges, st.integers(1, 99), st.floats(0, 100)),
        st.builds(world_commands.SetMaxTrials, st.integers(1, 99)),
    ),
).map(lambda pair: TimedCommand(*pair))


@given(names, st.lists(configs, max_size=3), st.lists(timed, max_size=6), st.booleans())
def test_random_scenario_round_trips(
    label: str, more: list[AgentConfig], edits: list[TimedCommand], ends_removed: bool
) -> None:
    agents = (AgentConfig("tb-wa", label), AgentConfig("tb-gbfs", label), *more)
    numbers = [edit.command.agent for edit in edits if isinstance(edit.command, world_commands.AddAgent)]
    assume(all(numbers.count(number) == 1 for number in numbers if number is not None))
    ordered = sorted(edits, key=lambda edit: edit.tick)
    if ends_removed:
        ordered.append(TimedCommand(60, world_commands.RemoveAgent(1)))
    scenario = Scenario(
        MapRows((".....", ".@.@.", "..T..")),
        (0, 0),
        (4, 0),
        agents,
        budget=20,
        switches={"gate": ((2, 1),), "7": ((0, 2),), "a: b": ((0, 1), (4, 2))},
        timed_commands=tuple(ordered),
        view={"layers": {"open": True}, "zoom": 1.0},
    )
    assert parse(dump_scenario(scenario)) == scenario


def test_dumped_scenario_uses_compact_yaml() -> None:
    text = dump_scenario(parse(BASE))
    assert "  - {kind: rtb-wa, label: lazy, weight: 2.0}\n" in text
    assert "  gate: [[2, 1], [2, 0]]\n" in text and "  rows: |\n    .....\n" in text
    assert "  - {tick: 2, block: [[0, 2]], free: [[1, 1], [3, 1]]}\n" in text
    assert "  - {tick: 8, remove: late}\n" in text
    assert "&" not in text and "!!" not in text


def test_saving_in_another_folder_keeps_the_map(tmp_path: Path) -> None:
    scenario = load_scenario(ROOT / "assets" / "scenarios" / "reopening.yaml", AGENT_SPECS_BY_KEY)
    here = tmp_path / "mine" / "scenarios"
    here.mkdir(parents=True)
    far = save_scenario(scenario, here / "far.yaml")
    assert isinstance(far.map, MapRows), "a map outside the tree of the new file is drawn in it"
    assert load_scenario(here / "far.yaml", AGENT_SPECS_BY_KEY) == far
    assert far.grid.text_rows() == scenario.grid.text_rows()
    write_map(scenario.grid, tmp_path / "mine" / "river.map")
    near = Scenario(MapFile("?", tmp_path / "mine" / "river.map"), scenario.start, scenario.goal)
    saved = save_scenario(near, here / "near.yaml")
    assert isinstance(saved.map, MapFile) and saved.map.file == "../river.map"
    assert load_scenario(here / "near.yaml", AGENT_SPECS_BY_KEY) == saved
    assert sorted(path.name for path in here.iterdir()) == ["far.yaml", "near.yaml"]


def test_worlds_of_one_scenario_have_separate_maps() -> None:
    scenario = parse(BASE)
    first, second = build_world(scenario, AGENT_SPECS_BY_KEY), build_world(scenario, AGENT_SPECS_BY_KEY)
    before = second.grid.text_rows()
    first.advance(5)
    assert (
        first.grid.text_rows() != before and second.grid.text_rows() == before and scenario.grid.text_rows() == before
    )


# --- the shipped ones -----------------------------------------------------------------------------


def run_example(name: str, most_ticks: int = 1600) -> dict[str, tuple[Walker, Metrics]]:
    """The agents of a shipped scenario at the end of its run, by label."""
    world = build_world(
        load_scenario(ROOT / "assets" / "scenarios" / f"{name}.yaml", AGENT_SPECS_BY_KEY), AGENT_SPECS_BY_KEY
    )
    assert 90 <= run_to_end(world) <= most_ticks
    assert not world.messages
    return {walker.label: (walker, world.metrics_of_walker(walker)) for walker in world.walkers}


def run_to_end(world: World) -> int:
    world.advance(5_000)
    assert world.is_over
    return world.tick


def metrics_of_example(name: str, most_ticks: int = 1600) -> dict[str, Metrics]:
    found = run_example(name, most_ticks)
    assert all(walker.agent.status is Status.AT_GOAL for walker, _ in found.values())
    return {label: metrics for label, (_, metrics) in found.items()}


def test_at_least_eight_scenarios_are_shipped() -> None:
    assert len(SHIPPED) >= 8


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenarios_load_run_and_round_trip(path: Path) -> None:
    scenario = load_scenario(path, AGENT_SPECS_BY_KEY)
    panels = {config.group or config.label for config in scenario.agents}
    assert scenario.title and len(scenario.caption) > 80 and 2 <= len(panels) <= 4
    assert max(scenario.grid.terrain.shape) <= 128
    labels = [config.label for config in scenario.agents]
    assert all(labels) and len(set(labels)) == len(labels)
    assert parse_scenario(dump_scenario(scenario), "again", AGENT_SPECS_BY_KEY, path.parent) == scenario
    digests = {_digest_in_steps(scenario, step) for step in (5_000, 7)}
    assert len(digests) == 1


def _digest_in_steps(scenario: Scenario, step: int) -> str:
    world = build_world(scenario, AGENT_SPECS_BY_KEY)
    while world.advance(step):
        pass
    return world.compute_digest()


def test_scrubbing_example_shows_costly_back_moves() -> None:
    found = metrics_of_example("scrubbing")
    one, sixteen, waits = found["one cell a tick"], found["sixteen"], found["waits"]
    assert one.expansions == sixteen.expansions == waits.expansions
    assert one.cost > 10 * waits.cost and one.back_moves > 300
    assert sixteen.cost < 2 * waits.cost


def test_weights_example_lowers_cost_with_weight() -> None:
    found = metrics_of_example("weights")
    costs = [found[label].cost for label in ("w = 1", "w = 1.8", "w = 3", "greedy")]
    backs = [found[label].back_moves for label in ("w = 1", "w = 1.8", "w = 3", "greedy")]
    assert np.all(np.diff(costs) < -0.2 * np.array(costs[1:])) and np.all(np.diff(backs) < 0)


def test_reopening_example_costs_more_with_reopening() -> None:
    found = metrics_of_example("reopening")
    assert found["re-opening"].cost > 1.5 * found["closed stay closed"].cost
    assert found["re-opening"].expansions > 1.5 * found["closed stay closed"].expansions


def test_two_corridors_example_is_cheaper_with_shortcut() -> None:
    found = run_example("two-corridors")
    plain, shortcut = found["walks back"], found["shortcut"]
    assert plain[1].cost > 1.25 * shortcut[1].cost and plain[1].back_moves > 3 * shortcut[1].back_moves
    assert shortcut[0].agent.view().numbers["shortcuts"] == 1


def test_indecision_example_is_cheaper_with_the_switch_rule() -> None:
    found = metrics_of_example("indecision")
    assert found["any path"].cost > 1.3 * found["only longer ones"].cost
    assert found["any path"].back_moves > 4 * found["only longer ones"].back_moves


def test_bridges_example_restarts_less_with_lazy_agents() -> None:
    found = metrics_of_example("bridges")
    assert found["lazy"].restarts <= 1 and found["eager"].restarts >= 5
    assert found["eager"].cost > 1.3 * found["lazy"].cost and found["eager"].expansions > 2 * found["lazy"].expansions


def test_non_repeating_random_change_round_trips() -> None:
    scenario = parse(BASE.replace("rate: 2.5}", "rate: 2.5, repeat: false}"))
    assert scenario.changes == RandomChangeSchedule(7, 2.5, repeats=False)
    assert parse(dump_scenario(scenario)) == scenario


def test_random_changes_example_restarts_less_with_lazy_agents() -> None:
    found = metrics_of_example("random-changes")
    assert 0 < 2 * found["lazy"].restarts <= found["eager"].restarts
    assert found["lazy"].expansions < 0.8 * found["eager"].expansions
    assert found["lazy, w = 1"].cost > 1.2 * found["lazy"].cost


def test_no_path_example_arrives_unless_the_agent_gives_up() -> None:
    found = run_example("no-path")
    statuses = {label: walker.agent.status for label, (walker, _) in found.items()}
    assert statuses.pop("gives up") is Status.GAVE_UP
    assert set(statuses.values()) == {Status.AT_GOAL}
    assert all(metrics.waits > 50 for label, (_, metrics) in found.items() if label != "gives up")


def test_rooms() -> None:
    found = metrics_of_example("rooms")
    assert found["w = 1"].cost > 5 * found["w = 3"].cost > 5 * found["greedy"].cost
    assert found["greedy"].back_moves < found["w = 3"].back_moves


def test_acting_early_example_is_cheaper_than_acting_late() -> None:
    found = metrics_of_example("acting-early")
    early, late, waits = found["acts early"], found["acts late"], found["waits"]
    assert early.cost < 0.85 * late.cost
    assert early.moves < late.moves and early.moves < waits.moves + waits.waits


def test_corner_example_is_costlier_for_lrta_and_ribs() -> None:
    found = metrics_of_example("corner", 4000)
    lrta, ribs, tba = found["LRTA*"], found["RIBS"], found["TBA*"]
    assert lrta.revisits > 10 * tba.revisits and lrta.cost > 5 * tba.cost
    assert ribs.cost > 5 * tba.cost


def test_learning_example_converges_faster_with_lookahead() -> None:
    found = run_example("learning", 5000)
    assert all(walker.is_converged and metrics.suboptimality == 1.0 for walker, metrics in found.values())
    counts = {label: len(walker.trials) for label, (walker, _) in found.items()}
    assert counts["LRTA*"] > 3 * counts["LSS-LRTA*"] and counts["LRTA*"] > 3 * counts["RTAA*"]
    costs = np.array([trial.cost for trial in found["LRTA*"][0].trials])
    assert np.any(np.diff(costs) > 0), "the caption says that the cost may rise"


def test_lookahead_example_lowers_cost_and_longest_stay() -> None:
    found = metrics_of_example("lookahead")
    one, four, sixteen = found["one"], found["four"], found["sixteen"]
    assert one.cost > four.cost > sixteen.cost
    assert one.longest_stay > four.longest_stay > sixteen.longest_stay


def test_dstar_lite_example_exceeds_the_budget_or_waits() -> None:
    found = metrics_of_example("dstar-lite")
    dstar, lazy = found["D* Lite"], found["RTB-WA* lazy"]
    assert dstar.over_budget or dstar.waits > lazy.waits
    assert lazy.max_expansions <= 32 and not lazy.over_budget
