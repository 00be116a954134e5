"""From files to runs and back: what is opened is what the file says, what is saved opens again as it was."""

import csv
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from files.map_source import MapFile, MapRecipe, MapRows
from files.movingai import read_map
from files.scenario import Scenario
from files.shipped_files import SCENARIOS_FOLDER
from sim.agent_placing import cheapest_cost_and_moves
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.map_generators import GENERATOR_SPECS, generate_map
from sim.params import ConfigError
from sim.world_commands import AgentConfig, EditCells, MoveGoal
from tests.runs import changed, scenario_on, timed
from tests.window import App, make_app
from ui.model import agent_edits, cell_edits, csv_export, opened_files
from ui.model.distance_cache import MAX_REQUESTS_PER_FRAME
from ui.model.panel_keys import PanelKey
from ui.model.session import Session
from ui.panels import chart_export, charts

from .conftest import random_map_rows


def write_map_file(folder: Path, rows: list[str], name: str = "a.map") -> Path:
    path = folder / name
    path.write_text("\n".join(["type octile", f"height {len(rows)}", f"width {len(rows[0])}", "map", *rows, ""]))
    return path


def write_scen_file(folder: Path, rows: list[str], name: str = "problems.scen") -> Path:
    path = folder / name
    path.write_text("\n".join(["version 1", *rows, ""]))
    return path


def run_identically(first: Scenario, second: Scenario, ticks: int = 60) -> bool:
    """Whether two setups give the same digest and the same map."""
    sessions = Session(first), Session(second)
    for session in sessions:
        session.advance_by_ticks(ticks)
    one, two = (session.run.world for session in sessions)
    return one.compute_digest() == two.compute_digest() and np.array_equal(one.grid.terrain, two.grid.terrain)


# --- opening --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", opened_files.example_files(), ids=lambda path: path.stem)
def test_every_example_opens_and_runs(path: Path) -> None:
    opened = opened_files.open_any_file(path)
    assert opened.problem_list is None and opened.path == path
    assert opened.scenario.caption and opened.scenario.title and len(opened.scenario.agents) >= 2
    session = Session(opened.scenario)
    assert session.user_messages.messages_until_next_edit == []
    session.advance_by_ticks(50)


def test_examples_are_listed_in_order() -> None:
    names = [path.stem for path in opened_files.example_files()]
    assert names[0] == "scrubbing" and len(names) == len(set(names)) >= 8
    assert set(names) == {path.stem for path in SCENARIOS_FOLDER.glob("*.yaml")}


@pytest.mark.parametrize("path", sorted(opened_files.MAPS_FOLDER.glob("*.map")), ids=lambda path: path.stem)
def test_map_opens_with_default_agents_start_and_goal(path: Path) -> None:
    setup = opened_files.open_any_file(path).scenario
    assert [config.kind for config in setup.agents] == ["tba", "tb-wa", "tb-wa", "tb-gbfs"]
    session = Session(setup)
    assert session.user_messages.messages_until_next_edit == [] and len(session.run.world.walkers) == 4
    assert (
        np.isfinite(session.run.world.optimal_cost)
        and session.run.world.optimal_cost > min(setup.grid.width, setup.grid.height) / 3
    )
    assert opened_files.open_any_file(path).scenario.start == setup.start


def test_start_and_goal_are_in_the_largest_component(tmp_path: Path) -> None:
    path = write_map_file(tmp_path, ["..@.....", "..@.....", "@@@.....", ".@......"])
    setup = opened_files.open_any_file(path).scenario
    assert setup.start == (3, 0) and setup.goal == (7, 3)


def test_start_and_goal_are_on_water_only_without_ground(tmp_path: Path) -> None:
    mixed = opened_files.open_any_file(write_map_file(tmp_path, ["WWWW", "WW..", "WWWW"])).scenario
    assert [chr(mixed.grid.terrain.reshape(-1)[end]) for end in (mixed.start_cell, mixed.goal_cell)] == [".", "."]
    wet = opened_files.open_any_file(write_map_file(tmp_path, ["WWWW", "WW@@"])).scenario
    assert (wet.start_cell, wet.goal_cell) == (0, 3)


def test_map_without_free_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a map with a free cell"):
        opened_files.open_any_file(write_map_file(tmp_path, ["@@", "TT"]))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.mapp", r"ends in one of .yaml, .yml, .map, .scen, .png, .*, got 'a.mapp'; did you mean '.map'\?"),
        ("a.png", r"expected a PNG file"),
        ("noending", "got 'noending'"),
        ("none.map", "no such file"),
        ("none.yaml", "no such file"),
        ("folder", "expected a file, got a folder"),
        ("folder.map", "got a folder"),
    ],
)
def test_unopenable_path_is_reported_in_one_line(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.map").mkdir()
    if name.startswith("a."):
        (tmp_path / name).write_text("x")
    with pytest.raises(ConfigError, match=message) as caught:
        opened_files.open_any_file(tmp_path / name)
    assert len(caught.value.problems) == 1


def test_file_extensions_are_case_insensitive(tmp_path: Path) -> None:
    assert opened_files.open_any_file(write_map_file(tmp_path, ["...."], "A.MAP")).scenario.grid.width == 4


def test_opening_reports_every_problem_of_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("format: backmove-scenario\nversion: 1\nmap: {rows: [...., ....]}\nagents: [{kind: nobody}]\n")
    with pytest.raises(ConfigError) as caught:
        opened_files.open_any_file(path)
    assert len(caught.value.problems) == 3


# --- problem lists --------------------------------------------------------------------------------


def test_problem_list_opens_at_first_valid_row(tmp_path: Path) -> None:
    write_map_file(tmp_path, ["....", ".@..", "...."])
    path = write_scen_file(
        tmp_path,
        [
            "0 a.map 4 3 1 1 3 2 3.0",
            "1 a.map 9 9 0 0 3 2 3.0",
            "2 a.map 4 3 0 0 3 2 4.41",
            "nonsense",
            "3 b.map 4 3 0 0 1 0 1",
        ],
    )
    opened = opened_files.open_any_file(path)
    assert opened.problem_list is not None and len(opened.problem_list.rows) == 5
    reasons = [row.problem for row in opened.problem_list.rows]
    assert reasons[2] is None and all(reasons[i] for i in (0, 1, 3, 4))
    assert "start: expected a free cell" in str(reasons[0]) and "expected the map 'b.map'" in str(reasons[4])
    setup = opened.scenario
    assert (setup.start, setup.goal, setup.listed_optimal) == ((0, 0), (3, 2), 4.41)
    assert setup.map == MapFile("a.map", tmp_path / "a.map")


def test_problem_list_without_valid_row_is_refused_with_reasons(tmp_path: Path) -> None:
    write_map_file(tmp_path, ["..@"])
    with pytest.raises(ConfigError) as caught:
        opened_files.open_any_file(write_scen_file(tmp_path, ["0 a.map 3 1 0 0 2 0 2.0"]))
    assert "expected a problem that can be run" in caught.value.problems[0]
    assert "goal: expected a free cell" in caught.value.problems[1]


def test_opening_another_problem_keeps_agents(tmp_path: Path) -> None:
    write_map_file(tmp_path, ["....", "...."])
    problems = opened_files.open_any_file(write_scen_file(tmp_path, ["0 a.map 4 2 0 0 3 1 3.4"])).problem_list
    assert problems is not None
    agents = (AgentConfig("rtb-wa", "mine"),)
    setup = opened_files.scenario_of_problem(problems, problems.rows[0], agents, budget=5)
    assert setup.agents == agents and setup.budget == 5
    bad = replace(problems.rows[0], goal=(9, 9))
    with pytest.raises(ConfigError, match="problem 0: goal: expected a cell"):
        opened_files.scenario_of_problem(problems, bad)


# --- generated maps -------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", GENERATOR_SPECS, ids=lambda spec: spec.kind)
def test_generated_map_runs_and_is_saved_as_its_recipe(tmp_path: Path, spec) -> None:  # type: ignore[no-untyped-def]
    small = {"width": 40, "height": 32} if any(p.name == "width" for p in spec.params) else {}
    made = generate_map(spec.kind, small)
    setup = opened_files.scenario_from_generated(made, opened_files.DEFAULT_AGENTS, budget=9)
    assert setup.grid.is_free(setup.start_cell) and setup.grid.is_free(setup.goal_cell)
    assert {name: len(cells) for name, cells in setup.switches.items()} == {
        name: len(cells) for name, cells in made.switches.items()
    }
    session = Session(setup)
    path = opened_files.save_session_scenario(session, tmp_path / "made")
    assert path.name == "made.yaml"
    again = opened_files.open_any_file(path).scenario
    assert isinstance(again.map, MapRecipe) and again.switches == setup.switches
    assert run_identically(setup, again)


# --- scenarios from the open run ------------------------------------------------------------------


def make_scenario(**more: object) -> Scenario:
    rows = random_map_rows(4, 20, 20, 0.2)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    base = scenario_on(
        Grid.from_text_rows(rows),
        0,
        399,
        (AgentConfig("tba", "first"), AgentConfig("rtb-wa", params={"weight": 3.0}, budget=2)),
        budget=3,
        seed=11,
        switches={"gate": (210, 211)},
        title="A title: with signs",
        caption="Two\nlines",
    )
    return changed(base, **more)


def save_and_reopen(session: Session, folder: Path) -> Scenario:
    return opened_files.open_any_file(opened_files.save_session_scenario(session, folder / "saved")).scenario


def test_untouched_run_survives_saving_and_opening(tmp_path: Path) -> None:
    setup = make_scenario(
        changes=RandomChangeSchedule(4, 5.0), script=((6, EditCells(blocked_cells=(70, 71))), (9, MoveGoal(380)))
    )
    again = save_and_reopen(Session(setup), tmp_path)
    assert isinstance(again.map, MapRows)  # it came from nowhere
    assert (again.title, again.caption, again.switches, again.changes) == (
        setup.title,
        setup.caption,
        setup.switches,
        setup.changes,
    )
    assert again.agents == setup.agents
    assert run_identically(setup, again)


def test_saved_scenario_keeps_user_edits_but_not_random_changes(tmp_path: Path) -> None:
    path = write_map_file(tmp_path, random_map_rows(5, 20, 20, 0.1))
    opened = opened_files.open_any_file(path).scenario
    setup = changed(opened, changes=RandomChangeSchedule(2, 10.0), script=((3, EditCells(blocked_cells=(200,))),))
    session = Session(setup)
    session.advance_by_ticks(9)
    free = [c for c in range(100, 140) if session.run.scenario.grid.is_free(c)][:6]
    cell_edits.block_or_free_cells(session, free, block=True)
    weighted = session.run.world.walkers[1]
    agent_edits.set_agent_param(session, PanelKey(0, weighted.id), "weight", 2.5)
    scenario = opened_files.scenario_from_session(session)
    assert isinstance(scenario.map, MapFile)
    again = save_and_reopen(session, tmp_path)
    assert again.agents[1].params == {"weight": 2.5}
    expected = replace(
        setup,
        agents=again.agents,
        timed_commands=(*setup.timed_commands, *timed([(0, EditCells(blocked_cells=tuple(free)))])),
    )
    first = Session(expected)
    assert {c for c in range(400) if not first.run.world.grid.is_free(c)} == {
        c for c in range(400) if not Session(again).run.world.grid.is_free(c)
    }
    assert run_identically(again, save_and_reopen(Session(again), tmp_path))
    assert not session.has_unsaved_edits


def test_user_strokes_are_applied_after_script_edits_of_tick_0(tmp_path: Path) -> None:
    path = write_map_file(tmp_path, ["." * 20] * 20)
    setup = changed(opened_files.open_any_file(path).scenario, script=((0, EditCells(blocked_cells=(50, 51))),))
    session = Session(setup)
    assert not session.run.world.grid.is_free(50)
    cell_edits.block_or_free_cells(session, [50], block=False)
    again = Session(save_and_reopen(session, tmp_path))
    assert again.run.world.grid.is_free(50) and not again.run.world.grid.is_free(51)


def test_goal_on_edited_cell_embeds_the_map_in_the_file(tmp_path: Path) -> None:
    path = write_map_file(tmp_path, ["." * 8, "." * 7 + "@"])
    session = Session(opened_files.open_any_file(path).scenario)
    cell_edits.block_or_free_cells(session, [15], block=False)
    session.submit_command(MoveGoal(15))
    again = save_and_reopen(session, tmp_path)
    assert isinstance(again.map, MapRows) and again.goal_cell == 15


def test_heavily_edited_map_is_embedded_in_the_file(tmp_path: Path) -> None:
    path = write_map_file(tmp_path, ["." * 80] * 80)
    session = Session(opened_files.open_any_file(path).scenario)
    cell_edits.block_or_free_cells(session, range(100, 100 + opened_files.MAX_EDITED_CELLS + 1), block=True)
    again = save_and_reopen(session, tmp_path)
    assert isinstance(again.map, MapRows)
    assert np.array_equal(again.grid.terrain, session.run.world.grid.terrain)


@pytest.mark.parametrize("count", [70, opened_files.MAX_EDITED_CELLS + 1])
def test_edits_before_first_tick_change_optimum_in_session_and_file(tmp_path: Path, count: int) -> None:
    """However the file says what was drawn, as an edit or as the map."""
    session = Session(opened_files.open_any_file(write_map_file(tmp_path, ["." * 80] * 80)).scenario)
    start, goal = session.run.world.start, session.run.world.goal
    cells = [cell for cell in range(80 * 2, 80 * 2 + count) if cell not in (start, goal)]
    open_optimum = session.run.world.optimal_cost
    cell_edits.block_or_free_cells(session, cells, block=True)
    again = Session(save_and_reopen(session, tmp_path))
    optima = []
    for run in (session.run, again.run):
        run.advance_by_ticks(3)
        optima.append(run.world.optimal_cost)
    assert optima[0] == optima[1] != open_optimum


def test_reset_on_edited_map_saves_that_map(tmp_path: Path) -> None:
    path = write_map_file(tmp_path, ["." * 20] * 20)
    session = Session(opened_files.open_any_file(path).scenario)
    cell_edits.block_or_free_cells(session, [55, 56], block=True)
    session.start_over(keeps_map=True)
    again = Session(save_and_reopen(session, tmp_path))
    assert not again.run.world.grid.is_free(55)


# --- maps -----------------------------------------------------------------------------------------


def test_edited_map_is_equal_after_save_and_reload(tmp_path: Path) -> None:
    path = write_map_file(tmp_path, ["..T.", ".@S.", "W..."])
    session = Session(opened_files.open_any_file(path).scenario)
    cell_edits.block_or_free_cells(session, [1, 8], block=True)
    cell_edits.block_or_free_cells(session, [2, 5], block=False)
    assert session.has_unsaved_edits
    saved = opened_files.save_map(session, tmp_path / "other")
    assert saved.name == "other.map" and not session.has_unsaved_edits
    assert np.array_equal(read_map(saved).terrain, session.run.world.grid.terrain)


@pytest.mark.parametrize(
    "save",
    [
        opened_files.save_map,
        opened_files.save_session_scenario,
        csv_export.export_agents_csv,
        csv_export.export_ticks_csv,
    ],
)
def test_unwritable_save_path_is_reported(tmp_path: Path, save) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "file").write_text("")
    session = Session(make_scenario())
    for place in (tmp_path / "no folder" / "a", tmp_path / "file" / "a"):
        with pytest.raises(ConfigError, match="cannot be written"):
            save(session, place)
    assert os.listdir(tmp_path) == ["file"]


def test_file_extension_is_added_once() -> None:
    assert opened_files.path_with_suffix("a", ".map") == Path("a.map")
    assert opened_files.path_with_suffix("a.MAP", ".map") == Path("a.MAP")
    assert opened_files.path_with_suffix("a.b", (".yaml", ".yml")) == Path("a.b.yaml")
    assert opened_files.path_with_suffix("a.yml", (".yaml", ".yml")) == Path("a.yml")


def test_is_shipped_recognises_shipped_files() -> None:
    assert opened_files.is_shipped_file(opened_files.example_files()[0])
    assert not opened_files.is_shipped_file(Path.home() / "a.map")


# --- tables ---------------------------------------------------------------------------------------


def read_table(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_exported_comparison_matches_metrics(tmp_path: Path) -> None:
    session = Session(
        make_scenario(agents=(AgentConfig("tba", 'grüße, "x"'), AgentConfig("tb-wa"), AgentConfig("astar")))
    )
    session.advance_by_ticks(40)
    path = csv_export.export_agents_csv(session, tmp_path / "table")
    assert path.name == "table.csv" and b"\r" not in path.read_bytes()
    rows = read_table(path)
    assert [row["agent"] for row in rows] == ['grüße, "x"', "TB-WA*", "A*"]
    for row, walker in zip(rows, session.run.world.walkers, strict=True):
        metrics = session.run.world.metrics_of_walker(walker)
        assert float(row["cost"]) == metrics.cost and int(row["expansions"]) == metrics.expansions
        assert int(row["back_moves"]) == metrics.back_moves and row["tick"] == str(session.tick)
        assert float(row["suboptimality"]) == metrics.suboptimality
        assert row["first_move"] == ("" if metrics.first_move is None else str(metrics.first_move))
    assert rows[1]["params"] == "weight=1 reopen=false"


def test_undefined_measures_are_exported_empty(tmp_path: Path) -> None:
    session = Session(scenario_on(Grid.from_text_rows([".@."]), 0, 2, (AgentConfig("tb-wa"),), budget=2))
    session.advance_by_ticks(10)
    row = read_table(csv_export.export_agents_csv(session, tmp_path / "t"))[0]
    assert row["optimal"] == row["suboptimality"] == row["arrived"] == ""
    assert row["state"] == "no path"


def test_tick_export_has_one_row_per_agent_and_tick(tmp_path: Path) -> None:
    session = Session(make_scenario())
    session.advance_by_ticks(25)
    rows = read_table(csv_export.export_ticks_csv(session, tmp_path / "ticks"))
    for walker in session.run.world.walkers:
        own = [row for row in rows if row["agent"] == walker.label]
        assert [int(row["tick"]) for row in own] == list(range(len(own)))
        assert sum(int(row["expanded"]) for row in own) == session.run.world.metrics_of_walker(walker).expansions
        assert sum("back" in row["marks"] for row in own) == session.run.world.metrics_of_walker(walker).back_moves
        assert (int(own[-1]["x"]), int(own[-1]["y"])) == session.run.world.grid.xy(walker.position)
        assert float(own[-1]["cost"]) == pytest.approx(session.run.world.metrics_of_walker(walker).cost)


def test_exported_tables_escape_labels_against_formulas(tmp_path: Path) -> None:
    labels = ["=1+1", "+1", "-1", "@SUM(A1)", "plain"]
    session = Session(make_scenario(agents=tuple(AgentConfig("lrta", label) for label in labels)))
    session.advance_by_ticks(2)
    for write in (csv_export.export_agents_csv, csv_export.export_ticks_csv):
        rows = read_table(write(session, tmp_path / "t"))
        assert list(dict.fromkeys(row["agent"] for row in rows)) == ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "plain"]
        assert float(rows[0]["cost"]) >= 0, "numbers stay numbers"


def make_charted_app() -> App:
    """A window after 300 ticks, of which no frame has measured a distance; one agent has a goal of its own."""
    app = make_app(make_scenario(agents=(AgentConfig("lrta", "A"), AgentConfig("tb-wa", "B", goal=(19, 1))), budget=1))
    app.session.advance_by_ticks(300)
    return app


def test_saved_charts_contain_every_point_of_the_run(tmp_path: Path) -> None:
    app = make_charted_app()
    chart_export.save_charts(app.window.view_context, tmp_path / "charts.csv")
    rows = read_table(tmp_path / "charts.csv")
    run = app.session.run
    for panel in run.panels:
        trail = run.trail_by_panel[panel.key]
        assert np.unique(trail.cells).size > MAX_REQUESTS_PER_FRAME, "a frame does not measure all of them"
        for chart in charts.TICK_CHARTS:
            own = [row for row in rows if (row["chart"], row["agent"]) == (chart.key, panel.walker_view.label)]
            assert [int(row["tick"]) for row in own] == list(range(len(trail)))
            assert all(row["value"] for row in own), chart.key
        distances = [
            float(r["value"]) for r in rows if (r["chart"], r["agent"]) == ("distance", panel.walker_view.label)
        ]
        expected = [
            cheapest_cost_and_moves(run.world.grid, int(cell), panel.displayed_agent.goal)[0]
            for cell in trail.cells[::25]
        ]
        assert distances[::25] == pytest.approx(expected)


def test_missing_chart_values_are_exported_empty(tmp_path: Path) -> None:
    app = make_charted_app()
    trail = app.session.run.trail_by_panel[app.session.run.panels[0].key]
    left = next(
        cell for cell in trail.cells[1:].tolist() if cell not in (w.position for w in app.session.run.world.walkers)
    )
    app.session.submit_command(EditCells(blocked_cells=(left,)))
    chart_export.save_charts(app.window.view_context, tmp_path / "charts.csv")
    rows = [r for r in read_table(tmp_path / "charts.csv") if (r["chart"], r["agent"]) == ("distance", "A")]
    assert [r["tick"] for r in rows if not r["value"]] == [str(t) for t in np.flatnonzero(trail.cells == left)]


def test_saved_chart_drawing_has_every_point_of_its_lines(tmp_path: Path) -> None:
    app = make_charted_app()
    chart_export.save_charts(app.window.view_context, tmp_path / "charts.svg")
    text = (tmp_path / "charts.svg").read_text()
    counts = sorted(len(points.split()) for points in re.findall(r'points="([^"]*)"', text))
    trails = [len(app.session.run.trail_by_panel[panel.key]) for panel in app.session.run.panels]
    assert counts == sorted(trails * len(charts.TICK_CHARTS))


def test_exported_charts_escape_labels_against_formulas(tmp_path: Path) -> None:
    app = make_app(make_scenario(agents=(AgentConfig("lrta", "=1+1"), AgentConfig("lrta", "plain"))))
    app.session.advance_by_ticks(9)
    app.run_frame(0.0)
    chart_export.save_charts(app.window.view_context, tmp_path / "charts.csv")
    rows = read_table(tmp_path / "charts.csv")
    assert {row["agent"] for row in rows} == {"'=1+1", "plain"}
    ways = [float(row["value"]) for row in rows if row["chart"] == "cost" and row["agent"] == "plain"]
    assert ways[0] == 0 and ways == sorted(ways) and ways[-1] > 0
