"""Experiments from the window: what is written of a run that is open, what is read while it runs, the sheet."""

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import fmean, median

import pygame
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from experiments import draft
from experiments.draft import ExperimentDraft, SweepAxis, parse_budgets, parse_sweep_axis
from experiments.specification import load_experiment
from experiments.store import DATABASE_FILE, open_store_for_reading, open_store_for_writing
from files.movingai import ScenRow
from files.scenario import build_world
from sim.agent_api import AgentSpec
from sim.map_generators import generate_map
from sim.params import ConfigError
from sim.world_commands import AgentConfig, SetBudget
from ui.dialogs import experiment_dialog as sheets
from ui.dialogs import experiment_plots
from ui.dialogs.experiment_dialog import ExperimentDialog
from ui.dialogs.experiment_plots import SweepTable
from ui.model import agent_edits
from ui.model import background_experiment as studies
from ui.model.background_experiment import BackgroundExperiment, setting_name
from ui.widgets.canvas import Canvas
from ui.widgets.controls import TextLabel
from ui.widgets.text_field import TextField

from .experiments import run_all
from .filming import setup
from .window import ROOT, make_app, settle

AGENTS = (AgentConfig("tb-wa", params={"weight": 3.0}), AgentConfig("lrta"), AgentConfig("tba"))


def a_sketch(title: str = "rooms", **more: object) -> ExperimentDraft:
    grid = generate_map("rooms", {"width": 24, "height": 24, "seed": 2}).grid
    given = {"agents": AGENTS, "budgets": (1, 16), "problem_count": 6, "seed": 3, **more}
    return ExperimentDraft(title, grid, **given)


class EndedProcess:
    """A process that has done its work."""

    returncode = 0

    def poll(self) -> int:
        return 0

    def terminate(self) -> None:
        raise AssertionError("it has ended")


def done(wanted: ExperimentDraft, folder: Path) -> BackgroundExperiment:
    """The same experiment, in this process."""
    path = draft.write_experiment_files(wanted, folder, AGENT_SPECS_BY_KEY)
    run_all(path.read_text(), folder / "results", folders=[folder])
    study = BackgroundExperiment(wanted, folder, EndedProcess())
    assert study.read_new_results() and not study.read_new_results()
    return study


def test_study_without_results_yet_has_no_settings(tmp_path: Path) -> None:
    study = BackgroundExperiment(a_sketch(), tmp_path, EndedProcess())
    assert not study.read_new_results() and study.setting_results == [] and study.pareto_front() == []


def test_concurrent_studies_have_separate_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies.subprocesses, "start_detached_module", lambda *words, **more: EndedProcess())
    first, second = studies.begin_experiment(a_sketch()), studies.begin_experiment(a_sketch())
    assert (
        first.experiment_folder != second.experiment_folder
        and first.experiment_folder.parent == second.experiment_folder.parent
    )


def test_unwritable_study_folder_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "a-file"))
    (home / "a-file").write_text("")
    with pytest.raises(ConfigError, match="the experiment cannot be written: Not a directory"):
        studies.begin_experiment(a_sketch())


def test_poll_ignores_truncated_results(tmp_path: Path) -> None:
    study = done(a_sketch(problem_count=2), tmp_path)
    path = study.results_folder / DATABASE_FILE
    data = path.read_bytes()
    for torn in (b"", data[:100], data[: len(data) // 2], data[:3000] + bytes(len(data) - 3000)):
        path.write_bytes(torn)
        for left in study.results_folder.glob(f"{DATABASE_FILE}-*"):
            left.unlink()
        assert not study.read_new_results()


# --- what is written ------------------------------------------------------------------------------


def test_sketch_of_a_run_becomes_a_specification(tmp_path: Path) -> None:
    wanted = a_sketch()
    spec = load_experiment(draft.write_experiment_files(wanted, tmp_path, AGENT_SPECS_BY_KEY), AGENT_SPECS_BY_KEY)
    part = spec.parts[0]
    assert len(part.cases) == 6 and (part.cases[0].map_data.grid.moves == wanted.grid.moves).all()
    found = {(s.kind, s.budget) for s in part.settings}
    assert found == {("tb-wa", 1), ("tb-wa", 16), ("lrta", 1), ("lrta", 16), ("tba", 16)}, "TBA* needs more than one"
    assert next(s for s in part.settings if s.kind == "tb-wa").params["weight"] == 3.0


@pytest.mark.parametrize(("title", "called"), [("rooms", "rooms: experiment"), ("t" * 120, f"{'t' * 108}: experiment")])
def test_study_title_is_the_run_title(title: str, called: str, tmp_path: Path) -> None:
    assert (
        load_experiment(
            draft.write_experiment_files(a_sketch(title), tmp_path, AGENT_SPECS_BY_KEY), AGENT_SPECS_BY_KEY
        ).title
        == called
    )


def test_agent_with_own_budget_keeps_it(tmp_path: Path) -> None:
    agents = AgentConfig("lrta", budget=7), AgentConfig("tb-wa")
    spec = load_experiment(
        draft.write_experiment_files(a_sketch(agents=agents), tmp_path, AGENT_SPECS_BY_KEY), AGENT_SPECS_BY_KEY
    )
    assert {(s.kind, s.budget) for s in spec.parts[0].settings} == {("lrta", 7), ("tb-wa", 1), ("tb-wa", 16)}


def test_study_samples_problems_of_a_scen_list(tmp_path: Path) -> None:
    made = generate_map("rooms", {"width": 24, "height": 24, "seed": 2})
    free = [made.grid.xy(int(cell)) for cell in made.grid.free_mask.nonzero()[0][::20]]
    rows = tuple(ScenRow(i, 0, "other.map", 24, 24, start, made.goal, 9.0) for i, start in enumerate(free))
    spec = load_experiment(
        draft.write_experiment_files(a_sketch(listed_problems=rows, problem_count=4), tmp_path, AGENT_SPECS_BY_KEY),
        AGENT_SPECS_BY_KEY,
    )
    cases = spec.parts[0].cases
    assert len(cases) == 4 and {case.goal for case in cases} == {made.goal}


def test_sweep_of_two_parameters_gives_a_table(tmp_path: Path) -> None:
    axes = (
        parse_sweep_axis("weight: 1, 1.4 3", AGENT_SPECS_BY_KEY["tb-wa"]),
        parse_sweep_axis("budget: 1 4", AGENT_SPECS_BY_KEY["tb-wa"]),
    )
    assert axes == (SweepAxis("weight", (1.0, 1.4, 3.0)), SweepAxis("budget", (1, 4)))
    study = done(a_sketch(agents=AGENTS[:1], sweep=axes), tmp_path)
    table = study.sweep_table()
    assert [[(p.params["weight"], p.budget) for p in line if p] for line in table] == [
        [(w, k) for k in (1, 4)] for w in (1.0, 1.4, 3.0)
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wieght: 1 2", "no parameter 'wieght'; did you mean 'weight'"),
        ("weight: 1", "expected 2 to 12 values, got 1"),
        ("weight: 1 x", "sweep: weight: expected a number"),
        ("budget: 0 1", "sweep: budget: expected a whole number from 1"),
        ("", "no parameter ''"),
    ],
)
def test_wrong_sweep_axis_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_sweep_axis(text, AGENT_SPECS_BY_KEY["tb-wa"])


def test_wrong_budgets_are_refused(tmp_path: Path) -> None:
    assert parse_budgets("16, 1 16") == (16, 1)
    for text in ("", "one"):
        with pytest.raises(ConfigError, match="budgets: expected"):
            parse_budgets(text)
    with pytest.raises(ConfigError, match="no budget is large enough"):
        draft.write_experiment_files(a_sketch(agents=AGENTS[2:], budgets=(1,)), tmp_path, AGENT_SPECS_BY_KEY)


# --- what is read ---------------------------------------------------------------------------------


def test_study_points_are_means_of_the_results(tmp_path: Path) -> None:
    study = done(a_sketch(), tmp_path)
    assert study.done == study.run_count == 6 * 5 and study.failed_run_count == 0
    by_setting = defaultdict(list)
    store = open_store_for_reading(study.results_folder)
    for kind, budget, cost, moves, expansions in store.iter_rows(
        ("agent", "budget", "suboptimality", "moves", "expansions")
    ):
        by_setting[kind, budget].append((cost, moves, expansions))
    store.close()
    assert len(study.setting_results) == 5
    for point in study.setting_results:
        runs = by_setting[point.agent_kind, point.budget]
        assert point.mean_cost_ratio == pytest.approx(fmean(cost for cost, _, _ in runs))
        assert point.has_always_arrived and point.run_totals.run_count == 6
        assert point.expansions_per_move == sum(e for _, _, e in runs) / sum(m for _, m, _ in runs)
    front = [study.setting_results[i] for i in study.pareto_front()]
    assert front and not any(
        a.mean_cost_ratio < b.mean_cost_ratio and a.expansions_per_move < b.expansions_per_move
        for a in study.setting_results
        for b in front
    )


def test_study_point_opens_the_same_run(tmp_path: Path) -> None:
    study = done(a_sketch(), tmp_path)
    point = study.setting_results[0]
    world = build_world(study.scenario_of_row(point.representative_row), AGENT_SPECS_BY_KEY)
    world.advance(100_000)
    store = open_store_for_reading(study.results_folder)
    rows = dict(store.iter_rows(("row", "suboptimality")))
    store.close()
    assert world.metrics_of_walker(world.walkers[0]).suboptimality == rows[point.representative_row]


def test_study_runs_in_background_and_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "state_folder", lambda: tmp_path)
    started: list[tuple[str, ...]] = []

    def start(module: str, *words: str, **more: object) -> "subprocess.Popen[bytes]":
        started.append((module, *words))
        return subprocess.Popen(["sleep", "60"])

    monkeypatch.setattr(studies.subprocesses, "start_detached_module", start)
    study = studies.begin_experiment(a_sketch())
    assert study.is_running and not study.read_new_results()
    assert started[0][:2] == ("main", "experiment") and {"--nice", "--until-input-ends"} <= set(started[0])
    study.cancel()
    study.experiment_process.wait(10)
    assert not study.is_running and study.was_cancelled and not study.error_output


def processes_with_environment(word: str) -> set[str]:
    """Of this system, those that have it in their environment; such as have ended have none."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if word.encode() in (place / "environ").read_bytes():
                found.add((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="nothing tells of all processes")
def test_study_processes_end_when_the_window_is_killed(tmp_path: Path) -> None:
    window = (
        "from tests.test_study import a_sketch; from ui.model import background_experiment as study;"
        "begun = study.begin_experiment(a_sketch(problem_count=4000), 2); "
        "print(begun.experiment_folder, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", window],
        cwd=ROOT,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        study = BackgroundExperiment(a_sketch(), Path(process.stdout.readline().strip()), EndedProcess())
        while not study.read_new_results():
            assert process.poll() is None and processes_with_environment(str(tmp_path))
            time.sleep(0.05)
        process.kill()
    deadline = time.monotonic() + 60.0  # only a limit: it takes half a second
    while (left := processes_with_environment(str(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left
    study.read_new_results()
    assert 0 < study.done < study.run_count, "it was under way"
    open_store_for_writing(study.results_folder).close()


# --- the sheet ------------------------------------------------------------------------------------


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExperimentDialog]:
    monkeypatch.setattr(sheets.studies, "begin_experiment", lambda wanted: done(wanted, tmp_path / "study"))
    app = make_app(setup(2, budget=16, script=()))
    app.window.run_command("experiment")
    settle(app)
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, ExperimentDialog)
    dialog.values["problems"] = 3
    yield dialog
    app.window.dialogs.close_dialog()


def test_study_sheet_shows_table_and_plot_and_opens_a_run(sheet: ExperimentDialog) -> None:
    host = sheet.host
    sheet._start_experiment()
    sheet.update_dialog(1.0)
    points = sheet.current_experiment.setting_results if sheet.current_experiment is not None else []
    assert points and [item.value for item in sheet.result_list.items] == points
    assert {id(point) for _, point in sheet.result_chart.clickable_results} == {id(point) for point in points}
    box, point = sheet.result_chart.clickable_results[-1]
    x, y = sheet.result_chart.element.rect.x + box.centerx, sheet.result_chart.element.rect.y + box.centery
    event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=(x, y))
    assert sheet.result_chart.handle_mouse(event, (x, y))
    walkers = host.session.run.world.walkers
    assert [(w.spec.key, w.params) for w in walkers] == [(point.agent_kind, point.params)]


def test_study_sheet_shows_sweep_as_coloured_table(sheet: ExperimentDialog) -> None:
    sheet._set_first_axis_text("weight: 1 3")
    sheet._set_second_axis_text("budget: 1 16 64")
    sheet._start_experiment()
    sheet.update_dialog(1.0)
    assert isinstance(sheet.result_chart, SweepTable) and len(sheet.result_chart.clickable_results) == 6
    colours = {
        tuple(sheet.result_chart.element.surface.get_at((box.x + 9, box.y + 9)))[:3]
        for box, _ in sheet.result_chart.clickable_results
    }
    assert len(colours) > 1


def test_cells_of_the_sweep_table_show_mean_median_and_maximum(
    sheet: ExperimentDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(experiment_plots, "_draw_label_text", lambda pen, position, text, *_, **__: drawn.append(text))
    sheet._set_first_axis_text("weight: 1 3")
    sheet._set_second_axis_text("budget: 1 16")
    sheet._start_experiment()
    sheet.update_dialog(1.0)
    assert sheet.current_experiment is not None
    for point in sheet.current_experiment.setting_results:
        totals = point.run_totals
        text = f"{point.mean_cost_ratio:.3f} ({totals.median_cost_ratio:.2f}, {totals.max_cost_ratio:.2f})"
        assert text in drawn
    drawn.clear()
    monkeypatch.setattr(Canvas, "text_width", lambda *_: 10_000)
    sheet.result_chart.repaint()
    sheet.update_dialog(2.0)
    assert drawn and not any("(" in text for text in drawn)


def test_study_sheet_names_agents_with_own_budgets(sheet: ExperimentDialog) -> None:
    session = sheet.host.session
    key = session.run.panels[1].key
    session.submit_command(SetBudget(5, key.agent))
    sheet.rebuild_widgets()
    labels = [control.text for control in sheet.controls if isinstance(control, TextLabel)]
    assert f"Budgets, except for {session.run.panels[1].walker_view.label} (5)" in labels
    sheet._set_budgets_text("4")
    sheet._start_experiment()
    assert sheet.current_experiment is not None and {
        point.budget for point in sheet.current_experiment.setting_results
    } == {4, 5}


def test_study_sheet_names_agents_not_run_with_small_budgets(sheet: ExperimentDialog) -> None:
    """While budgets are typed, while it runs and after it: nobody has to miss a row of the table."""
    agent_edits.add_agent(sheet.host.session, AgentConfig("tba", label="halves"))
    agent_edits.add_agent(sheet.host.session, AgentConfig("delayed-astar", params={"share": 0.5}))
    told = "Not run, because the budget is too small: halves with k 1, Delayed A* with k 1"
    for text, words in (("1 9", told), ("9", ""), ("1 x", ""), ("1 9", told)):
        sheet._set_budgets_text(text)
        assert sheet.left_out_agents_label.text == words
    sheet._start_experiment()
    assert sheet.left_out_agents_label.text == told and sheet.current_experiment is not None
    ran = {(point.agent_kind, point.budget) for point in sheet.current_experiment.setting_results}
    assert ("tba", 9) in ran and not {("tba", 1), ("delayed-astar", 1)} & ran
    sheet._set_first_axis_text("share: 0.5 0.9")
    sheet._set_second_axis_text("budget: 1 64")
    assert sheet.left_out_agents_label.text == told, "it is of what has run"


def test_study_sheet_reports_mistakes(sheet: ExperimentDialog) -> None:
    sheet._set_first_axis_text("weight: 1 3")
    sheet._start_experiment()
    assert "expected two parameters" in sheet.problem and sheet.current_experiment is None
    sheet._set_second_axis_text("weight: 1 2")
    sheet._start_experiment()
    assert "weight twice" in sheet.problem


@pytest.mark.parametrize("spec", AGENT_SPECS_BY_KEY.values(), ids=AGENT_SPECS_BY_KEY)
def test_sweep_example_is_valid_input(spec: AgentSpec) -> None:
    """Whatever agent has the focus."""
    example = sheets.sweep_hint_text(spec.params)
    assert bool(example) == any(param.kind in (int, float) for param in spec.params)
    if example:
        assert len(parse_sweep_axis(example.removeprefix("e.g. "), spec).values) > 1


def test_placeholder_example_is_not_used_as_input(sheet: ExperimentDialog) -> None:
    hints = [control.placeholder for control in sheet.controls if isinstance(control, TextField)]
    assert hints[-1] == "e.g. budget: 1 4 16 64"
    sheet._start_experiment()
    assert sheet.current_experiment is not None and not sheet.current_experiment.draft.sweep


def test_enter_starts_the_study(sheet: ExperimentDialog) -> None:
    sheet.on_confirm()
    assert sheet.current_experiment is not None and not sheet.problem


def test_setting_labels_show_differing_parameters(tmp_path: Path) -> None:
    agents = AgentConfig("tb-wa", params={"weight": 1.0}), AgentConfig("tb-wa", params={"weight": 3.0}), AGENTS[1]
    points = done(a_sketch(agents=agents, budgets=(4,)), tmp_path).setting_results
    assert [setting_name(point, points) for point in points] == ["TB-WA* weight=1", "TB-WA* weight=3", "LRTA*"]


def test_study_table_shows_mean_median_and_maximum(tmp_path: Path) -> None:
    study = done(a_sketch(), tmp_path)
    with open_store_for_reading(study.results_folder) as store:
        kept = list(store.iter_rows(("agent", "budget", "suboptimality")))
    titles = [column.title for column in sheets.RESULT_COLUMNS]
    for point in study.setting_results:
        ratios = [ratio for kind, budget, ratio in kept if (kind, budget) == (point.agent_kind, point.budget)]
        cells = dict(zip(titles, sheets._result_row(point, "", False).cells, strict=True))
        found = [cells[name] for name in ("Mean c / opt", "Median", "Max")]
        assert found == [f"{value:.3f}" for value in (fmean(ratios), median(ratios), max(ratios))]


def test_study_table_columns_are_never_truncated(sheet: ExperimentDialog, monkeypatch: pytest.MonkeyPatch) -> None:
    host = sheet.host
    sheet._start_experiment()
    sheet.update_dialog(1.0)
    monkeypatch.setattr(host, "window_size", (800, 600))
    sheet.rebuild_widgets()
    pen = sheet.canvas
    assert 2 < len(sheet.result_list.columns) < len(sheets.RESULT_COLUMNS) and sheet.result_list.items
    for column, (_, width) in zip(sheet.result_list.columns, sheet.result_list._column_spans(), strict=True):
        assert pen.text_width(column.title, 12) + 12 <= width, column.title
