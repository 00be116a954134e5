"""Autosave of the open window: the journal of the run, and the settings.

No frame waits for a disk. Lines of the journal are written to its file at once, so that they survive a kill of the
program. A background thread syncs the file to the disk, so that they also survive a crash of the machine. This module
does not use pygame.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

from files.journal import Journal, delete_journal
from ui.model.run import Run, run_from_state
from ui.model.session import Session
from ui.model.session_saving import scenario_with_view
from ui.model.settings import Settings, save_settings

_PROGRESS_INTERVAL_S = 0.5  # seconds between progress lines of the journal; a fast run writes one every 100 ticks
_RETRY_INTERVAL_S = 5.0  # seconds until the next attempt after a failed write, such as on a full disk
_SETTINGS_INTERVAL_S = 0.5  # seconds between two checks whether the settings have changed


class AutosaveJournal:
    """Writer of a journal for the open run, and owner of the journals of runs that undo could restore."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.journal: Journal | None = None
        # Suspended journals of the runs that restarts replaced, the oldest first.
        self.suspended_journals: list[Journal] = []
        self._disk_writer = _BackgroundWriter()
        self._has_reported_problem = False  # whether the user was notified of the current write error of the journal
        self._last_progress_write_s = self._last_retry_s = 0.0

    @property
    def is_journal_being_written(self) -> bool:
        """Return whether the journal is being written without errors, so that the user's actions survive a crash."""
        return self.journal is not None and self.journal.error_message is None

    def update_journal(self) -> None:
        """Bring the journal up to date; called once a frame.

        Begin a new journal if another run was opened, record the run's progress and what is on screen, and sync the
        file to the disk.
        """
        now = time.monotonic()
        if self.journal is None or self.journal.branch_tree is not self.session.run.branch_tree:
            self._begin_new_journal()
        elif self.journal.error_message and now - self._last_retry_s >= _RETRY_INTERVAL_S:
            self._retry_journal(self.journal)
            self._last_retry_s = now
        journal = self.journal
        assert journal is not None
        is_due = now - self._last_progress_write_s >= _PROGRESS_INTERVAL_S
        self._last_progress_write_s = now if is_due else self._last_progress_write_s
        journal.write_branch_ticks(self.session.run.shown_branch_numbers, now=is_due)
        run = self.session.run
        journal.write_view_state(
            run.shown_branch_numbers, run.focused_branch_number, self.session.focused_key.agent, run.panel_order
        )
        if is_due and self._disk_writer.is_idle and (handle := journal.unsynced_descriptor()) is not None:
            self._disk_writer.submit_write(lambda: _sync_and_close_file(handle))
        if journal.error_message and not self._has_reported_problem:
            self._has_reported_problem = True
            self._last_retry_s = now
            self.session.user_messages.persistent_messages.append(journal.error_message)
        if self.session.recovered_journals and journal.error_message is None:
            self._discard_recovered_journals()

    def _discard_recovered_journals(self) -> None:
        """Delete the journals that this run was restored from, because its own journal has replaced them."""
        for path in self.session.recovered_journals:
            delete_journal(path)
        self.session.recovered_journals.clear()

    def _begin_new_journal(self) -> None:
        """Begin a journal for the open run. Suspend the previous one if undo could restore its run, else close it.

        The new journal is written before the old one is closed, so that a kill in between loses nothing.
        """
        previous, self.journal = self.journal, self._create_journal(self.session.run, self.session.focused_key.agent)
        archived_runs = self.session.archived_runs
        if previous is not None and len(self.suspended_journals) < len(archived_runs):
            previous.suspend_writing()
            self.suspended_journals.append(previous)
        elif previous is not None:
            previous.close()
        while len(self.suspended_journals) > len(archived_runs):
            self.suspended_journals.pop().close()
        for run in archived_runs[
            len(self.suspended_journals) :
        ]:  # a single jump in the undo history can archive several runs
            self.suspended_journals.append(self._create_journal(run_from_state(run.run_state), run.focused_panel.agent))
            self.suspended_journals[-1].suspend_writing()

    @staticmethod
    def _create_journal(run: Run, agent: int) -> Journal:
        """Return a new journal of a run; `agent` is the focused agent of its front branch."""
        return Journal(scenario_with_view(run, agent=agent), run.branch_tree)

    def _retry_journal(self, failed: Journal) -> None:
        """Write a new journal from scratch after a failed write, and close the failed journal if that succeeds."""
        new_journal = self._create_journal(self.session.run, self.session.focused_key.agent)
        if new_journal.error_message:
            new_journal.close()
            return
        self.journal = new_journal
        failed.close()
        self._has_reported_problem = False
        self.session.user_messages.persistent_messages.append(
            "The journal can be written again: your actions survive a crash"
        )

    def close(self) -> None:
        for journal in (*self.suspended_journals, *([self.journal] if self.journal else [])):
            journal.close()
        self.journal, self.suspended_journals = None, []
        self._discard_recovered_journals()
        self._disk_writer.close()


class SettingsAutosave:
    """Writer of changed settings, so that a kill loses at most a few seconds of them."""

    def __init__(
        self,
        settings: Settings,
        collect: Callable[[], None],
        path: Path | None = None,
        notify_user: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Begin to watch the settings for changes.

        Args:
            settings: The settings, equal to those in the file.
            collect: Function that copies the current state of the window into `settings`.
            path: File of the settings; None for the user's default file.
            notify_user: Function that shows a message when writing failed.
        """
        self.settings, self.collect_window_settings, self.path, self.notify_user = settings, collect, path, notify_user
        self._disk_writer = _BackgroundWriter()
        self._written_settings = deepcopy(settings)
        self._last_check_s = time.monotonic()  # time of the last check whether the settings have changed
        self._write_problem: str | None = None  # message of the last failed write; None after a successful one
        self._has_reported_write_problem = False

    def save_settings_if_changed(self) -> None:
        """Write the settings in the background if they changed; called once a frame."""
        now = time.monotonic()
        problem = self._write_problem  # copied, because the background thread may change `_write_problem` meanwhile
        wait = _RETRY_INTERVAL_S if problem else _SETTINGS_INTERVAL_S
        if problem and not self._has_reported_write_problem:
            self.notify_user(problem)
        self._has_reported_write_problem = problem is not None
        if now - self._last_check_s < wait or not self._disk_writer.is_idle:
            return
        self._last_check_s = now
        self.collect_window_settings()
        if self.settings != self._written_settings:
            settings = deepcopy(self.settings)
            self._disk_writer.submit_write(lambda: self._write_settings(settings))

    def _write_settings(self, settings: Settings) -> None:
        """Write the settings; called in the background thread."""
        self._write_problem = save_settings(settings, self.path)
        if self._write_problem is None:
            self._written_settings = settings

    def close(self) -> None:
        self._disk_writer.close()
        self.collect_window_settings()
        save_settings(self.settings, self.path)


class _BackgroundWriter:
    """Background thread that runs one job at a time."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "disk")
        self._last_write: Future[Any] | None = None

    @property
    def is_idle(self) -> bool:
        return self._last_write is None or self._last_write.done()

    def submit_write(self, job: Callable[[], object]) -> None:
        if self._last_write is not None:
            self._last_write.result()  # raises the exception of the last job, if any
        self._last_write = self._executor.submit(job)

    def close(self) -> None:
        self._executor.shutdown()


def _sync_and_close_file(handle: int) -> None:
    """Sync a file to the disk and close its handle.

    Errors are ignored, because the journal notices failed writes itself.
    """
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
