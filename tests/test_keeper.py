"""What is kept while the window is open: runs that Ctrl+Z would bring back, what was done while a disk was full."""

import os
from pathlib import Path

import pygame
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from files import journal as journal_file
from files.journal import Journal, find_crashed_journals
from tests.test_app import setup
from tests.test_saved_session import digests, finish_seek, make_busy_session
from tests.window import make_app, press
from ui.dialogs.crash_question import CrashQuestion
from ui.model import agent_edits, cell_edits, session_saving
from ui.model.autosave import AutosaveJournal, SettingsAutosave
from ui.model.session import Session
from ui.model.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "backmove" / "journals"


def kill(keeper: AutosaveJournal) -> None:
    for journal in (*keeper.suspended_journals, keeper.journal):
        assert journal is not None
        for file in (journal._journal_descriptor, journal._lock_descriptor):
            os.close(file)


def test_panel_order_is_restored_after_a_crash() -> None:
    session = make_busy_session()
    keeper = AutosaveJournal(session)
    keeper.update_journal()
    agent_edits.move_panel_by_positions(session, session.run.panels[-1].key, -2)
    keeper._last_progress_write_s = 0.0
    keeper.update_journal()
    order = [panel.key for panel in session.run.panels]
    kill(keeper)
    [crashed] = find_crashed_journals()
    session_saving.restore_session(session, journal_file.restore_session(crashed.path, AGENT_SPECS_BY_KEY))
    finish_seek(session)
    assert [panel.key for panel in session.run.panels] == order != sorted(order)


def test_previous_run_is_restored_after_a_crash(folder: Path) -> None:
    session = make_busy_session()
    keeper = AutosaveJournal(session)
    keeper.update_journal()
    cell_edits.block_or_free_cells(session, [30, 31], block=True)
    keeper._last_progress_write_s = 0.0
    keeper.update_journal()
    before = digests(session)
    session.start_over(keeps_map=True)
    keeper.update_journal()
    session.advance_by_ticks(2)
    keeper._last_progress_write_s = 0.0
    keeper.update_journal()
    kill(keeper)
    for path in folder.iterdir():  # as on a quick disk: within one tick of its clock
        os.utime(path, (1.0, 1.0))
    assert len(find_crashed_journals()) == 2
    app = make_app(setup())
    app.window.document_opener.offer_crashed_session()
    assert (
        isinstance(app.window.dialogs.current_dialog, CrashQuestion)
        and "started over" in app.window.dialogs.current_dialog.text
    )
    press(app, pygame.K_LEFT)  # from "Restore" to "Previous run"
    press(app, pygame.K_RETURN)
    finish_seek(app.session)
    assert digests(app.session) == before
    app.autosave_journal = AutosaveJournal(app.session)
    app.run_frame(0.0)
    assert len(find_crashed_journals()) == 1, "the other run is offered at the next start"
    app.autosave_journal.close()


def test_journals_of_undone_or_replaced_runs_are_deleted(folder: Path) -> None:
    session = make_busy_session()
    keeper = AutosaveJournal(session)
    for _ in range(2):
        keeper.update_journal()
        session.start_over(keeps_map=True)
    keeper.update_journal()
    assert len(keeper.suspended_journals) == 2 and len(list(folder.glob("*.journal"))) == 3
    assert session.undo_history.undo_last_entry()
    keeper.update_journal()
    assert len(keeper.suspended_journals) == 1 and len(list(folder.glob("*.journal"))) == 2
    session.open_scenario(setup())  # another file: nothing of what was open can come back
    keeper.update_journal()
    assert not keeper.suspended_journals and len(list(folder.glob("*.journal"))) == 1
    keeper.close()
    assert not list(folder.iterdir())


def test_journal_resumes_after_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_busy_session()
    keeper = AutosaveJournal(session)
    keeper.update_journal()
    session.user_messages.persistent_messages.clear()
    is_full = True
    write = os.write

    def write_unless_full(handle: int, data: bytes) -> int:
        if is_full:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(journal_file.os, "write", write_unless_full)
    for cell in (40, 41, 42):
        cell_edits.block_or_free_cells(session, [cell], block=True)
        keeper._last_progress_write_s = keeper._last_retry_s = 0.0
        keeper.update_journal()
    assert sum("will not be restored" in text for text in session.user_messages.persistent_messages) == 1
    assert len(list(folder.glob("*.journal"))) == 1, "the failed one still holds what was done before"
    is_full = False
    keeper._last_retry_s = 0.0
    keeper.update_journal()
    assert (
        session.user_messages.persistent_messages[-1]
        == "The journal can be written again: your actions survive a crash"
    )
    session.advance_by_ticks(3)
    keeper._last_progress_write_s = 0.0
    keeper.update_journal()
    kill(keeper)
    (crashed,) = find_crashed_journals()
    saved = journal_file.restore_session(crashed.path, session.run.world.agent_specs)
    edited = [cell for branch in saved.branches for entry in branch.branch_state.entries for cell in cells_of(entry)]
    assert {40, 41, 42} <= set(edited)


def cells_of(entry: object) -> tuple[int, ...]:
    return getattr(entry.command, "blocked_cells", ()) if hasattr(entry.command, "freed_cells") else ()


def test_journal_lines_are_synced_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(setup())
    keeper = AutosaveJournal(session)
    synced = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), sync(handle)))
    for _ in range(3):
        keeper._last_progress_write_s = 0.0
        keeper.update_journal()
        if keeper._disk_writer._last_write is not None:
            keeper._disk_writer._last_write.result()
    assert len(synced) == 1, "nothing new, nothing to do"
    session.advance_by_ticks(1)
    keeper._last_progress_write_s = 0.0
    keeper.update_journal()
    keeper.close()
    assert len(synced) == 2
    with pytest.raises(OSError, match="Bad file descriptor"):
        sync(synced[-1])


def test_suspended_journal_writes_nothing(tmp_path: Path) -> None:
    session = make_busy_session()
    keeper = AutosaveJournal(session)
    keeper.update_journal()
    journal = keeper.journal
    assert isinstance(journal, Journal) and journal.path is not None
    journal.suspend_writing()
    before = journal.path.read_bytes()
    cell_edits.block_or_free_cells(session, [40], block=True)
    assert journal.path.read_bytes() == before


def test_settings_are_saved_while_the_window_is_open(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    settings = Settings()
    keeper = SettingsAutosave(settings, lambda: None, path)
    keeper._last_check_s = 0.0
    keeper.save_settings_if_changed()
    assert not path.exists(), "nothing has changed"
    settings.add_recent_file("/some/river.map")
    settings.theme = "light"
    keeper._last_check_s = 0.0
    keeper.save_settings_if_changed()
    keeper._disk_writer._last_write.result()
    assert load_settings(path)[0] == settings, "a kill now loses nothing"
    settings.speed = 60
    keeper.close()
    assert load_settings(path)[0].speed == 60


def test_failed_settings_write_is_reported_once_and_retried(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.write_text("a file stands where the folder should be")
    settings, told = Settings(), list[str]()
    keeper = SettingsAutosave(settings, lambda: None, folder / "settings.yaml", told.append)

    def keep() -> None:
        keeper._last_check_s = 0.0
        keeper.save_settings_if_changed()
        if keeper._disk_writer._last_write is not None:
            keeper._disk_writer._last_write.result()

    settings.theme = "light"
    for _ in range(4):
        keep()
    assert len(told) == 1 and told[0].startswith("Could not save the settings: ")
    folder.unlink()
    keep()
    keep()
    assert load_settings(folder / "settings.yaml")[0] == settings and len(told) == 1
    keeper.close()
