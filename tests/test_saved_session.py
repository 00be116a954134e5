"""Sessions of the window: saved, opened and taken up after a kill, to the same tick and digest."""

import os
from pathlib import Path

import numpy as np
import pygame
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from files.journal import find_crashed_journals
from files.movingai import write_map
from files.png import png_bytes
from files.scenario import MAX_TITLE, parse_scenario
from files.session import session_data
from files.yaml import count_values, read_yaml, write_yaml
from sim.params import ConfigError
from sim.time.branches import MAX_BRANCH_NAME_LENGTH
from sim.world_commands import MAX_NAME_LENGTH, AddAgent, AgentConfig
from tests.test_app import setup
from tests.window import ROOT, make_app, press, press_combination
from ui.dialogs.crash_question import CrashQuestion
from ui.draw.layers import LAYER_BY_KEY
from ui.model import (
    agent_edits,
    branch_actions,
    cell_edits,
    opened_files,
    panel_texts,
    session_saving,
    value_adjustments,
)
from ui.model.appearance import appearance_from_view
from ui.model.autosave import AutosaveJournal
from ui.model.panel_keys import PanelKey
from ui.model.session import Session
from ui.model.value_adjustments import toggle_map_switch


def make_busy_session() -> Session:
    """A run with edits, a changed parameter and a branch, not at its end."""
    session = Session(setup())
    session.advance_by_ticks(6)
    value_adjustments.toggle_map_switch(session, "gate")
    session.advance_by_ticks(4)
    agent_edits.set_agent_param(session, PanelKey(0, 1), "weight", 2.6)
    branch_actions.create_branch_at_current_tick(session)
    cell_edits.block_or_free_cells(session, [3, 4, 5], block=True)
    session.focus_panel(session.run.panels[-1].key)  # the second agent of the branch
    session.advance_by_ticks(7)
    return session


def finish_seek(session: Session) -> Session:
    while not session.continue_seek():
        pass
    return session


def digests(session: Session) -> list[tuple[int, int, str]]:
    return [(b.number, b.timeline.tick, b.timeline.world.compute_digest()) for b in session.run.shown_branches]


def test_saved_session_opens_with_same_ticks_and_digests(tmp_path: Path):
    session = make_busy_session()
    path = session_saving.save_session(session, tmp_path / "mine")
    assert path.suffix == ".yaml" and path.stat().st_size < 8000
    opened = opened_files.open_any_file(path)
    assert opened.saved_session is not None
    other = Session(opened.scenario)
    session_saving.restore_session(other, opened.saved_session, path)
    finish_seek(other)
    assert digests(other) == digests(session) and other.focused_key == session.focused_key
    assert [b.name for b in other.run.branch_tree.branches.values()] == [
        b.name for b in session.run.branch_tree.branches.values()
    ]
    assert [e.command for e in other.run.focused_branch_timeline.command_log.entries] == [
        e.command for e in session.run.focused_branch_timeline.command_log.entries
    ]


def test_saved_session_keeps_panel_order(tmp_path: Path):
    session = make_busy_session()
    agent_edits.move_panel_by_positions(session, session.run.panels[-1].key, -2)
    order = [panel.key for panel in session.run.panels]
    assert order != sorted(order)
    other = Session(setup())
    opened = opened_files.open_any_file(session_saving.save_session(session, tmp_path / "mine"))
    session_saving.restore_session(other, opened.saved_session)
    finish_seek(other)
    assert [panel.key for panel in other.run.panels] == order
    film = appearance_from_view(opened.scenario.view, LAYER_BY_KEY)
    assert [key for key in film.panel_order if key in order] == order


def test_saved_session_restores_its_view(tmp_path: Path):
    app = make_app(setup())
    usual = dict(app.window.map_view.layer_state.layer_visibility)
    press_combination(app, "Ctrl+8")  # the parent tree
    app.window.map_view.layer_state.set_heat_kind("visits")
    app.window.settings.sidebar_tab = "inspect"
    press_combination(app, "L")  # cameras of their own
    first, second = app.session.run.panels[0].key, app.session.run.panels[1].key
    app.session.focus_panel(second)
    press_combination(app, "Ctrl+=")
    app.draw_window()
    cameras = {
        panel.key: app.window.map_view.camera_of_panel(panel.key, boxes)
        for panel, boxes in app.window.map_view.panels_with_boxes()
    }
    assert cameras[first] != cameras[second]
    path = session_saving.save_session(app.session, tmp_path / "mine", app.window.view_overrides.current_view_section())

    other = make_app(setup())
    other.window.document_opener.open_path(path)
    other.run_frame(0.0)
    assert (
        other.window.map_view.layer_state.layer_visibility == {**usual, "tree": True}
        and other.window.map_view.layer_state.heat_setting.kind == "visits"
    )
    assert other.window.settings.sidebar_tab == "inspect" and not other.window.cameras.is_linked
    for panel, boxes in other.window.map_view.panels_with_boxes():
        camera = other.window.map_view.camera_of_panel(panel.key, boxes)
        assert camera.zoom == cameras[panel.key].zoom
        assert (camera.left, camera.top) == pytest.approx((cameras[panel.key].left, cameras[panel.key].top), abs=0.1)
    other.window.copy_window_state_to_settings()
    assert not other.window.settings.layers.get("tree") and other.window.settings.heat.kind == "off", "the user's own"
    other.window.document_opener.open_path(ROOT / "assets" / "scenarios" / "scrubbing.yaml")
    assert (
        other.window.map_view.layer_state.layer_visibility == usual
        and other.window.map_view.layer_state.heat_setting.kind == "scrub"
    ), "as the file says, not as the one before"


def test_saved_picture_opens_as_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    app = make_app(setup())
    app.session.advance_by_ticks(6)
    toggle_map_switch(app.session, "gate")
    app.session.advance_by_ticks(4)
    app.window.map_view.layer_state.set_heat_kind("visits")
    monkeypatch.setenv("BACKMOVE_RECORDINGS", str(tmp_path))
    press_combination(app, "F12")
    (path,) = tmp_path.glob("*.png")
    other = make_app(setup(agents=1))
    other.window.document_opener.open_path(path)
    finish_seek(other.session)
    assert (
        digests(other.session) == digests(app.session)
        and other.session.run.focused_branch_timeline.run_history.divergence_tick is None
    )
    assert other.window.map_view.layer_state.heat_setting.kind == "visits"
    for data, reason in ((png_bytes(np.zeros((4, 4), np.uint32)), "a map with a free cell"), (b"x", "not a PNG")):
        path.write_bytes(data)
        with pytest.raises(ConfigError, match=reason):
            opened_files.open_any_file(path)


def test_invalid_view_is_reported_and_file_opens(tmp_path: Path):
    path = tmp_path / "odd.yaml"
    text = (ROOT / "assets" / "scenarios" / "no-path.yaml").read_text()
    odd = text.replace("file: ../", f"file: {ROOT}/assets/").replace("view: {", "view: {layers: {trees: true}, ")
    path.write_text(odd)
    app = make_app(setup())
    app.window.document_opener.open_path(path)
    assert app.session.path == path and app.window.dialogs.current_dialog is None
    assert any(
        "layers.trees" in toast and "'tree'" in toast
        for toast in app.window.ui_state.message_queue.queued_message_texts()
    )


def test_session_file_contains_the_edited_map(tmp_path: Path):
    session = Session(setup())
    cell_edits.block_or_free_cells(session, [0, 1, 2], block=True)
    session.start_over(keeps_map=True)
    session.advance_by_ticks(9)
    opened = opened_files.open_any_file(session_saving.save_session(session, tmp_path / "mine"))
    other = Session(opened.scenario)
    session_saving.restore_session(other, opened.saved_session)
    assert digests(finish_seek(other)) == digests(session)
    other.seek_to_tick(0)
    cell_edits.remove_map_edits(other)
    assert not (other.run.world.grid.terrain != session.run.scenario.grid.original_terrain).any()


def test_session_with_wrong_digest_opens_and_shows_divergence(tmp_path: Path):
    session = make_busy_session()
    path = session_saving.save_session(session, tmp_path / "mine")
    last = session.run.focused_branch_timeline.world.compute_digest()
    assert last in path.read_text()
    path.write_text(path.read_text().replace(last, "f" * len(last)))
    app = make_app(setup())
    app.window.document_opener.open_path(path)
    while app.session.run.is_seeking:
        app.run_frame(0.0)
    assert app.session.run.focused_branch_timeline.run_history.divergence_tick is not None
    app.run_frame(0.0)
    told = " ".join(app.window.dialogs.current_dialog.problems)
    assert session.run.branch_tree[session.run.focused_branch_number].name in told and f"tick {session.tick}" in told
    assert "f" * len(last) in told and last in told, "both digests"
    app.window.dialogs.close_dialog()
    app.run_frame(0.0)
    assert app.window.dialogs.current_dialog is None, "once"
    assert app.window.canvas.hit_region_with_id("title:diverged") is not None
    app.window.settings.sidebar_tab = "time"
    app.draw_window()
    assert app.window.canvas.hit_region_with_id("diverged") is not None


def test_diverging_agent_is_named(tmp_path: Path):
    session = Session(setup())
    session.advance_by_ticks(9)
    path = session_saving.save_session(session, tmp_path / "mine")
    world = session.run.world
    text = path.read_text().replace(world.compute_digest(), "c" * 16)
    path.write_text(text.replace(world.walker_digest(world.walkers[1]), "d" * 16))
    opened = opened_files.open_any_file(path)
    other = Session(opened.scenario)
    session_saving.restore_session(other, opened.saved_session)
    finish_seek(other)
    divergence = other.run.focused_branch_timeline.run_history.divergence
    assert divergence.tick == 9 and divergence.agent_labels == (world.walkers[1].label,)
    assert world.walkers[1].label in other.user_messages.alert_messages[0]


def test_killed_session_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = make_busy_session()
    keeper = AutosaveJournal(session)
    keeper.update_journal()
    cell_edits.block_or_free_cells(session, [30, 31], block=True)
    session.advance_by_ticks(3)
    keeper.update_journal()
    journal = keeper.journal
    assert journal is not None and not find_crashed_journals(), "the program is alive"
    session.advance_by_ticks(2)
    keeper._last_progress_write_s = 0.0  # half a second later
    keeper.update_journal()
    for file in (journal._journal_descriptor, journal._lock_descriptor):  # what a kill does
        os.close(file)
    crashed = find_crashed_journals()
    assert len(crashed) == 1
    app = make_app(setup())
    app.window.document_opener.offer_crashed_session()
    assert isinstance(app.window.dialogs.current_dialog, CrashQuestion)
    press(app, pygame.K_RETURN)  # the main answer
    assert len(find_crashed_journals()) == 1, "as long as it is kept nowhere else"
    finish_seek(app.session)
    app.autosave_journal = AutosaveJournal(app.session)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", raise_disk_full)
        app.autosave_journal.update_journal()
        assert len(find_crashed_journals()) == 1, "nor is it when the disk is full"
    app.autosave_journal._last_retry_s = -1e9
    app.autosave_journal.update_journal()
    app.autosave_journal.update_journal()
    assert not find_crashed_journals()
    assert digests(app.session) == digests(session) and len(session.run.shown_branch_numbers) == 2
    assert (app.session.run.focused_branch_number, app.session.run.shown_branch_numbers) == (
        session.run.focused_branch_number,
        session.run.shown_branch_numbers,
    )
    assert app.session.focused_key == session.focused_key, "what is done now goes where it went before"
    assert app.session.unsaved_work.has_work_worth_saving, "nowhere is it saved"
    press_combination(app, "Ctrl+Q")
    assert app.window.is_window_open and app.window.dialogs.current_dialog is not None


def raise_disk_full(file: int, data: bytes) -> int:
    raise OSError(28, "No space left on device")


def test_closing_the_autosave_removes_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    keeper = AutosaveJournal(make_busy_session())
    keeper.update_journal()
    keeper.close()
    assert not find_crashed_journals() and not list(tmp_path.rglob("*.journal"))


def test_unwritable_state_folder_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    session = make_busy_session()
    keeper = AutosaveJournal(session)
    session.user_messages.persistent_messages.clear()
    for _ in range(3):
        keeper.update_journal()
        session.advance_by_ticks(1)
    assert sum("will not be restored" in text for text in session.user_messages.persistent_messages) == 1


# --- whatever the program calls things itself, it reads again -------------------------------------


def save_and_reopen(session: Session, folder: Path) -> Session:
    """The session from a file, and its scenario from another, which opens too."""
    opened_files.open_any_file(opened_files.save_session_scenario(session, folder / "scenario", {}))
    opened = opened_files.open_any_file(session_saving.save_session(session, folder / "mine"))
    assert opened.saved_session is not None
    other = Session(opened.scenario)
    session_saving.restore_session(other, opened.saved_session)
    return finish_seek(other)


def branch_names(session: Session) -> list[str]:
    return [branch.name for branch in session.run.branch_tree.branches.values()]


def test_kept_futures_have_short_names(tmp_path: Path):
    session = Session(setup())
    session.advance_by_ticks(20)
    for tick in (9, 8, 8, 7, 6, 5):
        session.seek_to_tick(tick)
        cell_edits.block_or_free_cells(session, [tick], block=True)
        branch_actions.show_branch(session, max(session.run.branch_tree.branches))
        session.seek_to_tick(20)
    assert branch_names(session)[1:4] == [f"run, before the change at {words}" for words in ("9", "8", "8 (2)")]
    assert branch_names(save_and_reopen(session, tmp_path)) == branch_names(session)


@pytest.mark.parametrize("name", ["x" * 300, "nine words and more " * 20])
def test_long_branch_name_is_truncated(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    session = Session(setup())
    branch_actions.rename_branch(session, 0, name)
    assert name.startswith(branch_names(session)[0]) and len(branch_names(session)[0]) == MAX_BRANCH_NAME_LENGTH
    assert branch_names(save_and_reopen(session, tmp_path)) == branch_names(session)


def test_session_with_overlong_names_opens(tmp_path: Path):
    """Versions before wrote some that they did not read."""
    session = Session(setup())
    text = session_saving.session_text(session.run, tmp_path)
    (tmp_path / "old.yaml").write_text(
        text.replace("name: run", f"name: {'y' * 300}").replace("title: ", f"title: {'z' * 150}"), "utf-8"
    )
    opened = opened_files.open_any_file(tmp_path / "old.yaml")
    assert (
        opened.saved_session is not None
        and opened.saved_session.branches[0].branch_state.name == "y" * MAX_BRANCH_NAME_LENGTH
    )
    assert opened.scenario.title.startswith("z" * MAX_TITLE) and len(opened.scenario.title) == MAX_TITLE


def test_title_of_map_with_long_name_can_be_reopened(tmp_path: Path):
    write_map(setup().grid, tmp_path / f"{'m' * 150}.map")
    session = Session(opened_files.open_any_file(tmp_path / f"{'m' * 150}.map").scenario)
    assert save_and_reopen(session, tmp_path).run.scenario.title == "m" * MAX_TITLE


def test_problem_on_map_with_long_name_can_be_reopened(tmp_path: Path):
    name = f"{'m' * 150}.map"
    write_map(setup().grid, tmp_path / name)
    (tmp_path / "of.scen").write_text(f"version 1\n0\t{name}\t24\t12\t0\t0\t9\t9\t9\n", "utf-8")
    session = Session(opened_files.open_any_file(tmp_path / "of.scen").scenario)
    assert save_and_reopen(session, tmp_path).run.scenario.title == "m" * MAX_TITLE


@pytest.mark.parametrize("limit", ["MAX_BYTES", "MAX_VALUES"])
def test_content_beyond_reader_limits_is_not_written(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    session = make_busy_session()
    path = opened_files.save_session_scenario(session, tmp_path / "mine", {})
    before = path.read_bytes()
    monkeypatch.setattr(f"files.scenario.{limit}", 20)
    for save in (
        lambda: opened_files.save_session_scenario(session, path, {}),
        lambda: session_saving.save_session(session, path),
    ):
        with pytest.raises(ConfigError, match=r"expected at most 20 .* it could not be opened again"):
            save()
    assert path.read_bytes() == before


def test_values_in_matches_the_count_of_the_reader(monkeypatch: pytest.MonkeyPatch):
    data = session_data(session_saving.session_content(make_busy_session().run))
    text = write_yaml(data)
    monkeypatch.setattr("files.yaml.MAX_VALUES", count_values(data))
    assert read_yaml(text, "whole").data["log"]
    monkeypatch.setattr("files.yaml.MAX_VALUES", count_values(data) - 1)
    with pytest.raises(ConfigError, match=r"more than .* values"):
        read_yaml(text, "whole")


def test_copied_agent_with_long_name_can_be_reopened(tmp_path: Path):
    session = Session(setup())
    for label in ("l" * MAX_NAME_LENGTH, "9" * MAX_NAME_LENGTH):
        agent_edits.rename_agent(session, session.focused_key, label)
        taken = {walker.label for walker in session.run.world.walkers}
        agent_edits.add_agent(session, AgentConfig("tba", panel_texts.next_free_label(label, taken)))
    labels = [walker.label for walker in save_and_reopen(session, tmp_path).run.world.walkers]
    assert labels == [walker.label for walker in session.run.world.walkers] and len({*labels}) == len(labels)


@pytest.mark.parametrize("placed", ["", ", placing: {pairs: random}"])
def test_crowd_with_long_name_can_be_reopened(placed: str, tmp_path: Path):
    agents = f"agents: [{{kind: tb-wa, label: {'u' * MAX_NAME_LENGTH}, count: 12{placed}}}]"
    text = (
        f"format: backmove-scenario\nversion: 1\nmap: {{rows: [....., .....]}}\nstart: [0, 0]\ngoal: [4, 1]\n{agents}"
    )
    session = Session(parse_scenario(text, "units.yaml", AGENT_SPECS_BY_KEY))
    labels = [walker.label for walker in save_and_reopen(session, tmp_path).run.world.walkers]
    assert labels == [walker.label for walker in session.run.world.walkers] and len({*labels}) == 12


def test_branch_count_is_limited_to_the_file_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sim.time.branches.MAX_BRANCHES", 3)
    session = Session(setup())
    session.advance_by_ticks(20)
    for cell in (3, 4):
        branch_actions.create_branch_at_current_tick(session)
        cell_edits.block_or_free_cells(session, [cell], block=True)
    entries = session.run.focused_branch_timeline.command_log.entries
    session.seek_to_tick(9)
    for more in (
        lambda: branch_actions.create_branch_at_current_tick(session),
        lambda: cell_edits.block_or_free_cells(session, [5], block=True),
    ):
        with pytest.raises(ConfigError, match="expected at most 3 branches"):
            more()
        session.undo_history.close_entry()
    assert (
        len(session.run.branch_tree.branches) == 3
        and session.run.focused_branch_timeline.command_log.entries == entries
    ), "nothing is lost"
    branch_actions.delete_branch(session, 1)
    cell_edits.block_or_free_cells(session, [5], block=True)
    assert len(session.run.branch_tree.branches) == 3


def test_agent_count_is_limited_to_the_file_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sim.world.MAX_AGENTS", 3)
    session = Session(setup())
    assert len(session.run.world.walkers) == 2
    assert agent_edits.add_agent(session, AgentConfig("tba")) and not agent_edits.add_agent(session, AgentConfig("tba"))
    session.submit_command(AddAgent(AgentConfig("tba")))
    assert len(session.run.world.walkers) == 3
    assert [text.split("expected")[1] for text in session.user_messages.messages_until_next_edit] == [
        " at most 3 agents, got one more"
    ] * 2
