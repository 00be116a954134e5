"""What is kept while the window is open: runs that Ctrl+Z would bring back, what was done while a disk was full."""

import os
from pathlib import Path

import pygame
import pytest

from agents.registry import BY_KEY
from sim.files import journal as journal_file
from sim.files.journal import Journal, find_crashed
from tests.test_app import setup
from tests.test_saved_session import busy_session, digests, settled
from tests.window import make_app, press
from ui.dialogs.crashed import CrashedQuestion
from ui.model import agent_edits, painting, saving
from ui.model.keeper import AutosaveJournal, SettingsKeeper
from ui.model.session import Session
from ui.model.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "backmove" / "journals"


def kill(keeper: AutosaveJournal) -> None:
    for journal in (*keeper.left, keeper.journal):
        assert journal is not None
        for file in (journal._file, journal._lock):
            os.close(file)


def test_panels_stand_in_their_order_after_a_kill() -> None:
    session = busy_session()
    keeper = AutosaveJournal(session)
    keeper.keep()
    agent_edits.move_panel(session, session.run.panels[-1].key, -2)
    keeper._last_progress_s = 0.0
    keeper.keep()
    order = [panel.key for panel in session.run.panels]
    kill(keeper)
    [crashed] = find_crashed()
    saving.restore(session, journal_file.restore(crashed.path, BY_KEY))
    settled(session)
    assert [panel.key for panel in session.run.panels] == order != sorted(order)


def test_the_run_before_is_there_after_a_kill(folder: Path) -> None:
    session = busy_session()
    keeper = AutosaveJournal(session)
    keeper.keep()
    painting.paint(session, [30, 31], block=True)
    keeper._last_progress_s = 0.0
    keeper.keep()
    before = digests(session)
    session.reset(keeps_map=True)
    keeper.keep()
    session.advance(2)
    keeper._last_progress_s = 0.0
    keeper.keep()
    kill(keeper)
    for path in folder.iterdir():  # as on a quick disk: within one tick of its clock
        os.utime(path, (1.0, 1.0))
    assert len(find_crashed()) == 2
    app = make_app(setup())
    app.window.documents.offer_crashed()
    assert isinstance(app.window.dialogs.dialog, CrashedQuestion) and "started over" in app.window.dialogs.dialog.text
    press(app, pygame.K_LEFT)  # from "Restore" to "Previous run"
    press(app, pygame.K_RETURN)
    settled(app.session)
    assert digests(app.session) == before
    app.keeper = AutosaveJournal(app.session)
    app.frame(0.0)
    assert len(find_crashed()) == 1, "the other run is offered at the next start"
    app.keeper.close()


def test_going_back_to_the_run_before_keeps_that_one_alone(folder: Path) -> None:
    session = busy_session()
    keeper = AutosaveJournal(session)
    for _ in range(2):
        keeper.keep()
        session.reset(keeps_map=True)
    keeper.keep()
    assert len(keeper.left) == 2 and len(list(folder.glob("*.journal"))) == 3
    assert session.history.undo()
    keeper.keep()
    assert len(keeper.left) == 1 and len(list(folder.glob("*.journal"))) == 2
    session.open(setup())  # another file: nothing of what was open can come back
    keeper.keep()
    assert not keeper.left and len(list(folder.glob("*.journal"))) == 1
    keeper.close()
    assert not list(folder.iterdir())


def test_what_is_done_is_kept_again_when_there_is_room_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = busy_session()
    keeper = AutosaveJournal(session)
    keeper.keep()
    session.told.lasting.clear()
    is_full = True
    write = os.write

    def sometimes(handle: int, data: bytes) -> int:
        if is_full:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(journal_file.os, "write", sometimes)
    for cell in (40, 41, 42):
        painting.paint(session, [cell], block=True)
        keeper._last_progress_s = keeper._last_retry_s = 0.0
        keeper.keep()
    assert sum("not kept" in text for text in session.told.lasting) == 1
    assert len(list(folder.glob("*.journal"))) == 1, "the failed one still holds what was done before"
    is_full = False
    keeper._last_retry_s = 0.0
    keeper.keep()
    assert session.told.lasting[-1] == "The journal can be written again: your actions survive a crash"
    session.advance(3)
    keeper._last_progress_s = 0.0
    keeper.keep()
    kill(keeper)
    (crashed,) = find_crashed()
    saved = journal_file.restore(crashed.path, session.run.world.specs)
    edited = [cell for branch in saved.branches for entry in branch.state.entries for cell in cells_of(entry)]
    assert {40, 41, 42} <= set(edited)


def cells_of(entry: object) -> tuple[int, ...]:
    return getattr(entry.command, "blocked", ()) if hasattr(entry.command, "freed") else ()


def test_lines_are_brought_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(setup())
    keeper = AutosaveJournal(session)
    synced = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), sync(handle)))
    for _ in range(3):
        keeper._last_progress_s = 0.0
        keeper.keep()
        if keeper._disk_writer._job is not None:
            keeper._disk_writer._job.result()
    assert len(synced) == 1, "nothing new, nothing to do"
    session.advance(1)
    keeper._last_progress_s = 0.0
    keeper.keep()
    keeper.close()
    assert len(synced) == 2
    with pytest.raises(OSError, match="Bad file descriptor"):
        sync(synced[-1])


def test_a_resting_journal_writes_no_more(tmp_path: Path) -> None:
    session = busy_session()
    keeper = AutosaveJournal(session)
    keeper.keep()
    journal = keeper.journal
    assert isinstance(journal, Journal) and journal.path is not None
    journal.rest()
    before = journal.path.read_bytes()
    painting.paint(session, [40], block=True)
    assert journal.path.read_bytes() == before


def test_settings_are_kept_while_the_window_is_open(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    settings = Settings()
    keeper = SettingsKeeper(settings, lambda: None, path)
    keeper._looked_s = 0.0
    keeper.keep()
    assert not path.exists(), "nothing has changed"
    settings.remember("/some/river.map")
    settings.theme = "light"
    keeper._looked_s = 0.0
    keeper.keep()
    keeper._disk_writer._job.result()
    assert load_settings(path)[0] == settings, "a kill now loses nothing"
    settings.speed = 60
    keeper.close()
    assert load_settings(path)[0].speed == 60


def test_settings_that_cannot_be_written_are_told_and_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.write_text("a file stands where the folder should be")
    settings, told = Settings(), list[str]()
    keeper = SettingsKeeper(settings, lambda: None, folder / "settings.yaml", told.append)

    def keep() -> None:
        keeper._looked_s = 0.0
        keeper.keep()
        if keeper._disk_writer._job is not None:
            keeper._disk_writer._job.result()

    settings.theme = "light"
    for _ in range(4):
        keep()
    assert len(told) == 1 and told[0].startswith("Could not save the settings: ")
    folder.unlink()
    keep()
    keep()
    assert load_settings(folder / "settings.yaml")[0] == settings and len(told) == 1
    keeper.close()
