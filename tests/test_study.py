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

from agents.registry import BY_KEY
from sim.agent_api import AgentSpec
from sim.commands import AgentConfig, SetBudget
from sim.experiments import sketch
from sim.experiments.sketch import Axis, Sketch, read_axis, read_budgets
from sim.experiments.spec import load_experiment
from sim.experiments.store import FILE, open_for_reading, open_for_writing
from sim.files.map import ScenRow
from sim.files.scenario import build_world
from sim.generate import generate
from sim.params import ConfigError
from ui.dialogs import experiment as sheets
from ui.dialogs.experiment import ExperimentSheet
from ui.dialogs.experiment_plots import SweepTable
from ui.model import agent_edits
from ui.model import study as studies
from ui.model.study import Study, setting_of
from ui.widgets.controls import Field, Text

from .experiments import run_all
from .filming import setup
from .window import ROOT, make_app, settle

AGENTS = (AgentConfig("tb-wa", params={"weight": 3.0}), AgentConfig("lrta"), AgentConfig("tba"))


def a_sketch(title: str = "rooms", **more: object) -> Sketch:
    grid = generate("rooms", {"width": 24, "height": 24, "seed": 2}).grid
    given = {"agents": AGENTS, "budgets": (1, 16), "count": 6, "seed": 3, **more}
    return Sketch(title, grid, **given)


class Ended:
    """A process that has done its work."""

    returncode = 0

    def poll(self) -> int:
        return 0

    def terminate(self) -> None:
        raise AssertionError("it has ended")


def done(wanted: Sketch, folder: Path) -> Study:
    """The same experiment, in this process."""
    path = sketch.write(wanted, folder, BY_KEY)
    run_all(path.read_text(), folder / "results", folders=[folder])
    study = Study(wanted, folder, Ended())
    assert study.poll() and not study.poll()
    return study


def test_two_that_begin_at_once_have_folders_of_their_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies.child, "start", lambda *words, **more: Ended())
    first, second = studies.begin(a_sketch()), studies.begin(a_sketch())
    assert first.folder != second.folder and first.folder.parent == second.folder.parent


def test_where_nothing_can_be_written_that_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "a-file"))
    (home / "a-file").write_text("")
    with pytest.raises(ConfigError, match="the experiment cannot be written: Not a directory"):
        studies.begin(a_sketch())


def test_results_that_are_torn_are_nothing_new(tmp_path: Path) -> None:
    study = done(a_sketch(count=2), tmp_path)
    path = study.results / FILE
    data = path.read_bytes()
    for torn in (b"", data[:100], data[: len(data) // 2], data[:3000] + bytes(len(data) - 3000)):
        path.write_bytes(torn)
        for left in study.results.glob(f"{FILE}-*"):
            left.unlink()
        assert not study.poll()


# --- what is written ------------------------------------------------------------------------------


def test_a_run_becomes_a_specification(tmp_path: Path) -> None:
    wanted = a_sketch()
    spec = load_experiment(sketch.write(wanted, tmp_path, BY_KEY), BY_KEY)
    part = spec.parts[0]
    assert len(part.cases) == 6 and (part.cases[0].board.grid.moves == wanted.grid.moves).all()
    found = {(s.kind, s.budget) for s in part.settings}
    assert found == {("tb-wa", 1), ("tb-wa", 16), ("lrta", 1), ("lrta", 16), ("tba", 16)}, "TBA* needs more than one"
    assert next(s for s in part.settings if s.kind == "tb-wa").params["weight"] == 3.0


@pytest.mark.parametrize(("title", "called"), [("rooms", "rooms: experiment"), ("t" * 120, f"{'t' * 108}: experiment")])
def test_it_is_called_after_the_run(title: str, called: str, tmp_path: Path) -> None:
    assert load_experiment(sketch.write(a_sketch(title), tmp_path, BY_KEY), BY_KEY).title == called


def test_an_agent_keeps_a_budget_of_its_own(tmp_path: Path) -> None:
    agents = AgentConfig("lrta", budget=7), AgentConfig("tb-wa")
    spec = load_experiment(sketch.write(a_sketch(agents=agents), tmp_path, BY_KEY), BY_KEY)
    assert {(s.kind, s.budget) for s in spec.parts[0].settings} == {("lrta", 7), ("tb-wa", 1), ("tb-wa", 16)}


def test_problems_of_a_list(tmp_path: Path) -> None:
    made = generate("rooms", {"width": 24, "height": 24, "seed": 2})
    free = [made.grid.xy(int(cell)) for cell in made.grid.free.nonzero()[0][::20]]
    rows = tuple(ScenRow(i, 0, "other.map", 24, 24, start, made.goal, 9.0) for i, start in enumerate(free))
    spec = load_experiment(sketch.write(a_sketch(rows=rows, count=4), tmp_path, BY_KEY), BY_KEY)
    cases = spec.parts[0].cases
    assert len(cases) == 4 and {case.goal for case in cases} == {made.goal}


def test_a_sweep_of_two_parameters(tmp_path: Path) -> None:
    axes = read_axis("weight: 1, 1.4 3", BY_KEY["tb-wa"]), read_axis("budget: 1 4", BY_KEY["tb-wa"])
    assert axes == (Axis("weight", (1.0, 1.4, 3.0)), Axis("budget", (1, 4)))
    study = done(a_sketch(agents=AGENTS[:1], sweep=axes), tmp_path)
    table = study.table()
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
def test_what_is_wrong_with_a_sweep_is_said(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_axis(text, BY_KEY["tb-wa"])


def test_what_is_wrong_with_budgets_is_said(tmp_path: Path) -> None:
    assert read_budgets("16, 1 16") == (16, 1)
    for text in ("", "one"):
        with pytest.raises(ConfigError, match="budgets: expected"):
            read_budgets(text)
    with pytest.raises(ConfigError, match="no budget is large enough"):
        sketch.write(a_sketch(agents=AGENTS[2:], budgets=(1,)), tmp_path, BY_KEY)


# --- what is read ---------------------------------------------------------------------------------


def test_points_are_the_means_of_the_table(tmp_path: Path) -> None:
    study = done(a_sketch(), tmp_path)
    assert study.done == study.whole == 6 * 5 and study.failures == 0
    by_setting = defaultdict(list)
    store = open_for_reading(study.results)
    for kind, budget, cost, moves, expansions in store.rows(
        ("agent", "budget", "suboptimality", "moves", "expansions")
    ):
        by_setting[kind, budget].append((cost, moves, expansions))
    store.close()
    assert len(study.points) == 5
    for point in study.points:
        runs = by_setting[point.kind, point.budget]
        assert point.cost == pytest.approx(fmean(cost for cost, _, _ in runs))
        assert point.is_whole and point.totals.runs == 6
        assert point.work == sum(e for _, _, e in runs) / sum(m for _, m, _ in runs)
    front = [study.points[i] for i in study.front()]
    assert front and not any(a.cost < b.cost and a.work < b.work for a in study.points for b in front)


def test_a_run_is_opened_as_it_was(tmp_path: Path) -> None:
    study = done(a_sketch(), tmp_path)
    point = study.points[0]
    world = build_world(study.scenario(point.row), BY_KEY)
    world.advance(100_000)
    store = open_for_reading(study.results)
    rows = dict(store.rows(("row", "suboptimality")))
    store.close()
    assert world.metrics(world.walkers[0]).suboptimality == rows[point.row]


def test_an_experiment_runs_beside_the_window_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "state_folder", lambda: tmp_path)
    started: list[tuple[str, ...]] = []

    def start(module: str, *words: str, **more: object) -> "subprocess.Popen[bytes]":
        started.append((module, *words))
        return subprocess.Popen(["sleep", "60"])

    monkeypatch.setattr(studies.child, "start", start)
    study = studies.begin(a_sketch())
    assert study.is_running and not study.poll()
    assert started[0][:2] == ("main", "experiment") and {"--nice", "--until-input-ends"} <= set(started[0])
    study.cancel()
    study.process.wait(10)
    assert not study.is_running and study.was_cancelled and not study.complaint


def processes_that_know(word: str) -> set[str]:
    """Of this system, those that have it in their environment; such as have ended have none."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if word.encode() in (place / "environ").read_bytes():
                found.add((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="nothing tells of all processes")
def test_an_experiment_and_its_workers_end_with_a_window_that_is_killed(tmp_path: Path) -> None:
    window = (
        "from tests.test_study import a_sketch; from ui.model import study;"
        "begun = study.begin(a_sketch(count=4000), 2); print(begun.folder, flush=True); input()"
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
        study = Study(a_sketch(), Path(process.stdout.readline().strip()), Ended())
        while not study.poll():
            assert process.poll() is None and processes_that_know(str(tmp_path))
            time.sleep(0.05)
        process.kill()
    deadline = time.monotonic() + 60.0  # only a limit: it takes half a second
    while (left := processes_that_know(str(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left
    study.poll()
    assert 0 < study.done < study.whole, "it was under way"
    open_for_writing(study.results).close()


# --- the sheet ------------------------------------------------------------------------------------


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExperimentSheet]:
    monkeypatch.setattr(sheets.studies, "begin", lambda wanted: done(wanted, tmp_path / "study"))
    app = make_app(setup(2, budget=16, script=()))
    app.window.run("experiment")
    settle(app)
    dialog = app.window.dialogs.dialog
    assert isinstance(dialog, ExperimentSheet)
    dialog.values["problems"] = 3
    yield dialog
    app.window.dialogs.close_dialog()


def test_the_sheet_shows_table_and_plot_and_opens_the_run_of_a_point(sheet: ExperimentSheet) -> None:
    host = sheet.host
    sheet._start()
    sheet.update(1.0)
    points = sheet.study.points if sheet.study is not None else []
    assert points and [item.value for item in sheet.rows.items] == points
    assert {id(point) for _, point in sheet.plot.places} == {id(point) for point in points}
    box, point = sheet.plot.places[-1]
    x, y = sheet.plot.element.rect.x + box.centerx, sheet.plot.element.rect.y + box.centery
    event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=(x, y))
    assert sheet.plot.mouse(event, (x, y))
    walkers = host.session.run.world.walkers
    assert [(w.spec.key, w.params) for w in walkers] == [(point.kind, point.params)]


def test_the_sheet_shows_a_sweep_as_a_coloured_table(sheet: ExperimentSheet) -> None:
    sheet._set_first_axis("weight: 1 3")
    sheet._set_second_axis("budget: 1 16 64")
    sheet._start()
    sheet.update(1.0)
    assert isinstance(sheet.plot, SweepTable) and len(sheet.plot.places) == 6
    colours = {tuple(sheet.plot.element.surface.get_at((box.x + 9, box.y + 9)))[:3] for box, _ in sheet.plot.places}
    assert len(colours) > 1


def test_the_sheet_says_which_agents_keep_budgets_of_their_own(sheet: ExperimentSheet) -> None:
    session = sheet.host.session
    key = session.run.panels[1].key
    session.do(SetBudget(5, key.agent))
    sheet.rebuild()
    labels = [control.text for control in sheet.controls if isinstance(control, Text)]
    assert f"Budgets, except for {session.run.panels[1].view.label} (5)" in labels
    sheet._set_budgets("4")
    sheet._start()
    assert sheet.study is not None and {point.budget for point in sheet.study.points} == {4, 5}


def test_the_sheet_says_which_agents_go_without_which_budgets(sheet: ExperimentSheet) -> None:
    """While budgets are typed, while it runs and after it: nobody has to miss a row of the table."""
    agent_edits.add(sheet.host.session, AgentConfig("tba", label="halves"))
    agent_edits.add(sheet.host.session, AgentConfig("delayed-astar", params={"share": 0.5}))
    told = "Not run, because the budget is too small: halves with k 1, Delayed A* with k 1"
    for text, words in (("1 9", told), ("9", ""), ("1 x", ""), ("1 9", told)):
        sheet._set_budgets(text)
        assert sheet.left_out.text == words
    sheet._start()
    assert sheet.left_out.text == told and sheet.study is not None
    ran = {(point.kind, point.budget) for point in sheet.study.points}
    assert ("tba", 9) in ran and not {("tba", 1), ("delayed-astar", 1)} & ran
    sheet._set_first_axis("share: 0.5 0.9")
    sheet._set_second_axis("budget: 1 64")
    assert sheet.left_out.text == told, "it is of what has run"


def test_the_sheet_says_what_is_wrong(sheet: ExperimentSheet) -> None:
    sheet._set_first_axis("weight: 1 3")
    sheet._start()
    assert "expected two parameters" in sheet.problem and sheet.study is None
    sheet._set_second_axis("weight: 1 2")
    sheet._start()
    assert "weight twice" in sheet.problem


@pytest.mark.parametrize("spec", BY_KEY.values(), ids=BY_KEY)
def test_the_example_of_a_sweep_can_be_typed(spec: AgentSpec) -> None:
    """Whatever agent has the focus."""
    example = sheets.example_of(spec.params)
    assert bool(example) == any(param.kind in (int, float) for param in spec.params)
    if example:
        assert len(read_axis(example.removeprefix("e.g. "), spec).values) > 1


def test_an_example_is_not_taken_for_an_entry(sheet: ExperimentSheet) -> None:
    hints = [control.element.placeholder_text for control in sheet.controls if isinstance(control, Field)]
    assert hints[-1] == "e.g. budget: 1 4 16 64"
    sheet._start()
    assert sheet.study is not None and not sheet.study.sketch.sweep


def test_enter_starts_what_was_not_started_yet(sheet: ExperimentSheet) -> None:
    sheet.confirm()
    assert sheet.study is not None and not sheet.problem


def test_settings_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    agents = AgentConfig("tb-wa", params={"weight": 1.0}), AgentConfig("tb-wa", params={"weight": 3.0}), AGENTS[1]
    points = done(a_sketch(agents=agents, budgets=(4,)), tmp_path).points
    assert [setting_of(point, points) for point in points] == ["TB-WA* weight=1", "TB-WA* weight=3", "LRTA*"]


def test_median_and_maximum_stand_beside_the_mean(tmp_path: Path) -> None:
    study = done(a_sketch(), tmp_path)
    with open_for_reading(study.results) as store:
        kept = list(store.rows(("agent", "budget", "suboptimality")))
    titles = [column.title for column in sheets.COLUMNS]
    for point in study.points:
        ratios = [ratio for kind, budget, ratio in kept if (kind, budget) == (point.kind, point.budget)]
        cells = dict(zip(titles, sheets._item(point, "", False).cells, strict=True))
        found = [cells[name] for name in ("Mean c / opt", "Median", "Max")]
        assert found == [f"{value:.3f}" for value in (fmean(ratios), median(ratios), max(ratios))]


def test_no_column_of_the_table_is_cut(sheet: ExperimentSheet, monkeypatch: pytest.MonkeyPatch) -> None:
    host = sheet.host
    sheet._start()
    sheet.update(1.0)
    monkeypatch.setattr(host, "window_size", (800, 600))
    sheet.rebuild()
    pen = sheet.pen
    assert 2 < len(sheet.rows.columns) < len(sheets.COLUMNS) and sheet.rows.items
    for column, (_, width) in zip(sheet.rows.columns, sheet.rows._column_spans(), strict=True):
        assert pen.text_width(column.title, 12) + 12 <= width, column.title
