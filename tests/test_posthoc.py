"""Traces for Posthoc: what its published schema asks for holds, and the events tell the run."""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from cli import run, solve
from files.posthoc import _wall_boxes, numbered_trace_name, open_posthoc_trace
from files.scenario import build_world, load_scenario
from sim.grid import Grid
from sim.params import ConfigError, Value
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal
from tests.window import make_app, press, press_combination
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.message_box import MessageBox
from ui.dialogs.progress_dialog import ProgressDialog
from ui.model import background_job as job_module
from ui.model import branch_actions, cell_edits
from ui.model.background_job import BackgroundJob, JobCancelledError
from ui.model.posthoc_export import posthoc_trace_writer
from ui.model.session import Session

from .conftest import ROOT, random_map_rows, yaml_of
from .test_files import make_scenario

SHAPES = {"rect", "circle", "path", "polygon"}


def run_traced(
    path: Path, kind: str, ticks: int = 3000, *edits: tuple[int, Any], **params: Value
) -> tuple[World, Walker]:
    rows = random_map_rows(7, 24, 18, 0.25)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    world = World(Grid.from_text_rows(rows), 0, 24 * 18 - 1, AGENT_SPECS_BY_KEY, budget=3, watched=True)
    walker = world.add(AgentConfig(kind, params=params))
    world.queue_commands(edits)
    with open_posthoc_trace(path, world, walker) as trace:
        for _ in range(ticks):
            if not world.advance(1):
                break
            trace.write_tick()
    return world, walker


def events_of(path: Path) -> list[dict[str, Any]]:
    """The events of a trace that is as the schema of version 1.4.0 and Posthoc's code want it."""
    text = path.read_text()
    data = json.loads(text) if path.name.endswith(".json") else yaml_of(text)
    assert data["version"] == "1.4.0" and isinstance(data["views"]["main"], list)
    for item in data["views"]["main"]:
        assert item["$"] in SHAPES, "or `clear` would be lost"
    seen = set()
    for event in data["events"]:
        assert isinstance(event["type"], str) and isinstance(event["id"], str) and event["id"]
        assert event["pId"] != event["id"] and (event["pId"] is None or event["pId"] in seen), event
        seen.add(event["id"])
    assert data["events"]
    return list(data["events"])


def visible_cells(events: list[dict[str, Any]]) -> dict[str, set[str]]:
    """What is on the screen at the end, by the rule of `clear`."""
    shown: dict[str, set[str]] = {"expanding": set(), "generating": set()}
    for event in events:
        for cells in shown.values():
            if event["type"] == "forget":
                cells.discard(event["id"])
        if event["type"] in shown:
            shown[event["type"]].add(event["id"])
    return shown


@pytest.mark.parametrize("suffix", [".trace.yaml", ".trace.json"])
@pytest.mark.parametrize("kind", ["astar", "tba", "tb-wa", "tb-gbfs", "delayed-astar", "rtb-wa", "gbfs"])
def test_trace_has_the_expansions_and_moves_of_the_run(tmp_path: Path, kind: str, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    world, walker = run_traced(path, kind)
    events, metrics = events_of(path), world.metrics_of_walker(walker)
    kinds = [event["type"] for event in events]
    assert kinds.count("expanding") == metrics.expansions
    assert kinds.count("move") + kinds.count("back") == metrics.moves
    assert kinds.count("back") == metrics.back_moves
    assert events[-1]["type"] == "end" and events[-1]["outcome"] == walker.state_word == "arrived"
    at = {"x": 0.5, "y": 0.5}
    for event in events:
        if event["type"] in ("move", "back"):
            assert event["points"][0] == at
            at = event["points"][1]
    assert at == {"x": 23.5, "y": 17.5}


def test_trace_ends_with_the_cells_of_the_search(tmp_path: Path) -> None:
    path = tmp_path / "a.trace.yaml"
    edits = [(20, EditCells((60, 61, 62, 84, 108))), (45, EditCells((), (60, 61))), (60, MoveGoal(400))]
    world, walker = run_traced(path, "rtb-wa", 120, *edits, weight=1.5, restart="eager")
    assert world.metrics_of_walker(walker).restarts >= 2
    search = walker.agent.view().search
    assert search is not None
    nodes, number = search.nodes, int(search.control[0].search)
    known = {f"c{c % 24},{c // 24}": bool(nodes[c].place < 0) for c in np.flatnonzero(nodes["search"] == number)}
    shown = visible_cells(events_of(path))
    assert shown["expanding"] == {name for name, is_closed in known.items() if is_closed}
    assert shown["expanding"] | shown["generating"] == set(known)
    kinds = [event["type"] for event in events_of(path)]
    assert kinds.count("block") == 5 and kinds.count("unblock") == 2 and kinds.count("destination") == 2


@pytest.mark.parametrize("kind", sorted(AGENT_SPECS_BY_KEY))
def test_every_agent_can_be_traced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.trace.yaml"
    world, walker = run_traced(path, kind, 60)
    kinds = [event["type"] for event in events_of(path)]
    assert kinds.count("move") + kinds.count("back") == world.metrics_of_walker(walker).moves


@pytest.mark.parametrize("density", [0.0, 0.3, 0.7, 1.0])
def test_wall_boxes_cover_every_wall_once(density: float) -> None:
    grid = Grid.from_text_rows(random_map_rows(5, 31, 23, density))
    painted = np.zeros((23, 31), np.int8)
    for x, y, width, height in _wall_boxes(grid):
        painted[y : y + height, x : x + width] += 1
    assert np.array_equal(painted, ~grid.free_mask.reshape(23, 31))


def test_trace_file_name_unknown_to_posthoc_is_refused(tmp_path: Path) -> None:
    for name in ("a.yaml", "a.trace", "trace.yaml.gz"):
        with pytest.raises(ConfigError, match=r"ends in one of .trace.yaml"):
            solve.main(["--map", "x", "--from", "0,0", "--to", "1,1", "--agent", "tba", "--posthoc", name])
    assert numbered_trace_name("a/run.trace.json", 1) == "a/run.trace.json"
    assert numbered_trace_name("a/run.TRACE.yaml", 3) == "a/run-3.TRACE.yaml"


def test_tracing_leaves_the_digest_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = str(ROOT / "assets" / "scenarios" / "bridges.yaml")
    ends = ["--map", str(ROOT / "assets" / "maps" / "rooms-32.map"), "--from", "0,0", "--to", "31,31"]
    path = str(tmp_path / "a.trace.yaml")
    for command in (lambda *more: run.main([scenario, *more]), lambda *more: solve.main([*ends, *AGENTS, *more])):
        assert command() == 0
        plain = [json.loads(line)["digest"] for line in capsys.readouterr().out.splitlines()]
        assert command("--posthoc", path) == 0
        assert [json.loads(line)["digest"] for line in capsys.readouterr().out.splitlines()] == plain
        for number in range(1, len(plain) + 1):
            assert events_of(Path(numbered_trace_name(path, number)))[-1]["type"] == "end"


AGENTS = ("--agent", "tba", "--agent", "lss-lrta", "--agent", "lrta:label=x")


def test_missing_trace_folder_gives_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        run_traced(tmp_path / "none" / "a.trace.yaml", "astar")


def test_trace_shows_the_own_goal_of_the_agent(tmp_path: Path) -> None:
    path = tmp_path / "a.trace.yaml"
    world = World(Grid.from_text_rows(["." * 9] * 5), 0, 44, AGENT_SPECS_BY_KEY, budget=3, watched=True)
    walker = world.add(AgentConfig("tb-wa", start=(8, 0), goal=(0, 4)))
    world.submit(MoveGoal(world.grid.cell(0, 3), agent=walker.id), 2)
    world.submit(MoveGoal(world.grid.cell(4, 4)), 3)
    with open_posthoc_trace(path, world, walker) as trace:
        while world.advance(1):
            trace.write_tick()
    events = events_of(path)
    assert [(e["x"], e["y"]) for e in events if e["type"] == "destination"] == [(0, 4), (0, 3)]
    first = next(e for e in events if e["type"] == "expanding")
    assert (first["x"], first["y"], first["h"]) == (8, 0, pytest.approx(4 * 2**0.5 + 4, abs=1e-3))


def test_crowd_member_is_traced_like_a_single_agent(tmp_path: Path) -> None:
    path = ROOT / "assets" / "scenarios" / "crowd-bridge.yaml"
    scenario = load_scenario(path, AGENT_SPECS_BY_KEY, [ROOT / "assets"])
    world, plain = (build_world(scenario, AGENT_SPECS_BY_KEY, watched=watched) for watched in (True, False))
    world.instrument_agent(7)
    walker = world.walkers[7]
    with open_posthoc_trace(tmp_path / "a.trace.json", world, walker) as trace:
        for _ in range(25):
            world.advance(1)
            trace.write_tick()
    kinds = [event["type"] for event in events_of(tmp_path / "a.trace.json")]
    assert kinds.count("expanding") == world.metrics_of_walker(walker).expansions > 100
    plain.advance(25)
    assert plain.compute_digest() == world.compute_digest()
    session = Session(scenario)
    session.advance_by_ticks(25)
    posthoc_trace_writer(session.run.focused_branch_timeline, 7, tmp_path / "b.trace.json")(lambda share: None)
    assert [event["type"] for event in events_of(tmp_path / "b.trace.json")] == kinds


COMING_AND_GOING = """format: backmove-scenario
version: 1
map: {rows: ["............", "..........@@", "............"]}
budget: 2
start: [0, 0]
goal: [11, 2]
agents: [{kind: tb-wa, label: stays}, {kind: tba, label: goes}]
edits:
  - {tick: 3, remove: goes}
  - {tick: 5, add: {kind: lrta, label: comes, group: late}}
"""


def test_traces_begin_and_end_with_added_and_removed_agents(tmp_path: Path) -> None:
    scenario, path = tmp_path / "a.yaml", str(tmp_path / "a.trace.yaml")
    scenario.write_text(COMING_AND_GOING)
    assert run.main([str(scenario), "--posthoc", path]) == 0
    stays, goes, comes = (events_of(Path(numbered_trace_name(path, number))) for number in (1, 2, 3))
    assert (goes[-1]["tick"], goes[-1]["outcome"]) == (3, "removed")
    assert len([event for event in goes if event["type"] == "move"]) <= 3
    assert next(event for event in comes if event["type"] == "source")["tick"] == 5
    assert any(event["type"] == "expanding" for event in comes), "one of a group is watched for its trace"
    for events in (stays, comes):
        assert (events[-1]["outcome"], events[-1]["x"], events[-1]["y"]) == ("arrived", 11, 2)


def test_aborted_trace_keeps_the_previous_file(tmp_path: Path) -> None:
    path = tmp_path / "a.trace.json"
    world, walker = run_traced(path, "astar")
    before = path.read_bytes()
    with pytest.raises(KeyError), open_posthoc_trace(path, world, walker) as trace:
        trace.write_tick()
        raise KeyError
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == [path.name]


# --- from the window ------------------------------------------------------------------------------


def test_window_exports_a_trace_of_the_focused_agent_and_branch(tmp_path: Path) -> None:
    app = make_app(make_scenario())
    session = app.session
    session.advance_by_ticks(10)
    free = [cell for cell in (45, 46, 47, 48) if session.run.world.grid.is_free(cell)]
    cell_edits.block_or_free_cells(session, free, block=True)
    session.advance_by_ticks(5)
    branch_actions.create_branch_at_current_tick(session)
    session.advance_by_ticks(12)
    session.focus_panel(session.run.panels[-1].key)
    press_combination(app, "Ctrl+Alt+E")
    assert isinstance(app.window.dialogs.current_dialog, SaveFileDialog)
    app.window.dialogs.current_dialog.name = str(tmp_path / "mine")
    app.window.dialogs.current_dialog.on_confirm()
    assert app.window.dialogs.current_dialog is None
    events = events_of(tmp_path / "mine.trace.yaml")
    kinds = [event["type"] for event in events]
    metrics = session.focused_walker.counts_record
    assert kinds.count("move") + kinds.count("back") == metrics.moves > 0
    assert kinds.count("block") == len(free) > 0 and events[-1]["tick"] == session.tick


def test_long_job_shows_progress_and_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "PROGRESS_DELAY_S", 0.0)
    app = make_app(make_scenario())
    may_go_on, was_stopped = threading.Event(), threading.Event()

    def work(job: BackgroundJob[str]) -> str:
        job.report_progress(0.4)
        may_go_on.wait(30)
        try:
            job.report_progress(0.6)
        except JobCancelledError:
            was_stopped.set()
            raise
        return "made"

    made: list[str] = []
    app.window.dialogs.call_when_job_done("Working on it", BackgroundJob(work), made.append)
    assert isinstance(app.window.dialogs.current_dialog, ProgressDialog)
    app.run_frame(0.1)
    assert app.window.dialogs.current_dialog.progress_label.text.startswith("40%")
    press(app, pygame.K_ESCAPE)
    assert app.window.dialogs.current_dialog is None
    may_go_on.set()
    assert was_stopped.wait(30)
    app.window.dialogs.call_when_job_done("Working on it", BackgroundJob(work), made.append)
    while app.window.dialogs.current_dialog is not None:
        app.run_frame(0.1)
    assert made == ["made"], "only what was waited for"


def test_error_in_a_long_job_opens_a_message_box(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(job_module, "PROGRESS_DELAY_S", 0.0)
    app = make_app(make_scenario())
    (tmp_path / "wrong.map").write_text("nonsense")
    app.window.document_opener.open_path(tmp_path / "wrong.map")
    while isinstance(app.window.dialogs.current_dialog, ProgressDialog):
        app.run_frame(0.1)
    assert (
        isinstance(app.window.dialogs.current_dialog, MessageBox)
        and "wrong.map" in app.window.dialogs.current_dialog.title
    )
