"""Opening, saving and leaving runs: asks about unsaved edits first, and shows errors. Long work runs in a thread."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from agents import own_files
from files.journal import find_crashed_journals
from files.lesson_claims import Lesson
from files.movingai import ScenFile
from files.scenario import Scenario
from files.session import SavedSession
from sim.grid import Grid
from sim.params import ConfigError, escape_unprintable
from sim.system.load_progress import send_progress_to
from sim.world_commands import AgentConfig
from ui.dialogs.crash_question import CrashQuestion
from ui.dialogs.dialog_base import DialogHost
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.own_agent_question import OwnAgentQuestion
from ui.dialogs.unsaved_question import UnsavedQuestion
from ui.model import opened_files, session_saving
from ui.model.agent_file_poller import AgentFilePoller
from ui.model.background_job import BackgroundJob
from ui.model.data_preparation import (
    agents_of_scenario,
    needs_prepared_data,
    prepare_data_of_agents,
    prepare_data_of_scenario,
)
from ui.model.lesson_player import LessonPlayer
from ui.panels.view_context import ViewContext
from ui.panels.view_overrides import ViewOverrides


def _continue_without_callback() -> None:
    """Do nothing. This is the default of callbacks that are called after opening or saving."""


def messages_without_file_path(path: Path, problems: Sequence[str]) -> list[str]:
    """Remove the path of a file from the error messages about it: "line 3: ..." instead of "path:3: ...".

    The title of the message box already names the file.
    """
    prefix = f"{escape_unprintable(str(path))}:"
    texts = [problem.removeprefix(prefix) for problem in problems]
    pairs = zip(problems, texts, strict=True)
    return [f"line {text}" if problem != text and text[:1].isdigit() else problem for problem, text in pairs]


class DocumentOpener:
    """Opening and saving of documents: scenarios, sessions, maps, problem lists, lessons and agents in Python files."""

    def __init__(self, desk: ViewContext, overrides: ViewOverrides, host: DialogHost) -> None:
        self.view_context, self.view_overrides, self.dialog_host = desk, overrides, host
        self.session = desk.session
        self.benchmark_problems: ScenFile | None = None  # open list of benchmark problems, read from a .scen file
        self.agent_file_poller = AgentFilePoller(desk.session)
        desk.session.call_when_prepared = self.call_when_data_ready
        # Callbacks that discard state of the old run; they are called when another run begins.
        self.run_replaced_callbacks: list[Callable[[], None]] = []

    # --- opening ----------------------------------------------------------------------------------

    def open_path(self, path: str | os.PathLike[str]) -> None:
        if Path(path).suffix.lower() == own_files.AGENT_FILE_SUFFIX:
            self._add_own_agent(str(path))
        else:
            self.ask_about_unsaved_edits(lambda: self._open_in_background(Path(path)))

    def _add_own_agent(self, path: str) -> None:
        """Add the agent in a user's Python file to the open run; ask before running a file that is not trusted yet."""
        try:
            own_files.agent_key_of_file(own_files.absolute_path(path))
            if own_files.is_file_trusted(path):
                self.agent_file_poller.load_and_add_agent(path)
            else:
                self.dialog_host.open_dialog(
                    OwnAgentQuestion(self.dialog_host, path, partial(self._trust_file_and_add_agent, path))
                )
        except ConfigError as error:
            self.dialog_host.show_error(error, f"{escape_unprintable(Path(path).name)} cannot be run")

    def _trust_file_and_add_agent(self, path: str) -> None:
        own_files.store_file_trust(path)
        self._add_own_agent(path)

    def reload_changed_agents(self) -> None:
        """Reload user-defined agents whose files have changed, and recompute their runs; called once per frame."""
        try:
            self.agent_file_poller.check_agent_files()
        except ConfigError as error:
            self.dialog_host.show_error(error, "The saved file cannot be run; its previous version stays in use")

    def open_example(self, path: str | os.PathLike[str]) -> None:
        """Open an example of the gallery, after asking about unsaved edits, and start its run."""
        self.ask_about_unsaved_edits(lambda: self._open_in_background(Path(path), self.view_context.player.play))

    def _open_in_background(self, path: Path, then: Callable[[], None] = _continue_without_callback) -> None:
        name = escape_unprintable(path.name)
        job = BackgroundJob(lambda job: self._read_and_prepare_file(path, job))
        self.dialog_host.call_when_job_done(
            f"Opening {name}", job, partial(self._on_file_read, path, then), f"{name} could not be opened"
        )

    @staticmethod
    def _read_and_prepare_file(path: Path, job: BackgroundJob[opened_files.OpenedFile]) -> opened_files.OpenedFile:
        """Read a file and prepare the data that its agents need; called in the thread of the job."""
        with send_progress_to(job.report_progress):
            try:
                opened = opened_files.open_any_file(path)
            except ConfigError as error:
                raise ConfigError(messages_without_file_path(path, error.problems)) from error
        prepare_data_of_scenario(opened.scenario, job.report_progress)
        return opened

    def _on_file_read(self, path: Path, then: Callable[[], None], opened: opened_files.OpenedFile) -> None:
        """Begin the run of a file that a thread has read, then call `then`."""
        self.dialog_host.close_dialog()
        self._begin_run(opened.scenario)
        self.apply_opened_file_parts(opened)
        self.session.path = path
        self.view_context.settings.add_recent_file(path)
        if opened.problem_list is not None:
            self.view_context.run_command("problems")
        then()

    def apply_opened_file_parts(self, opened: opened_files.OpenedFile) -> None:
        """Apply the parts of an opened file other than its scenario: problem list, saved session, view and lesson."""
        self.benchmark_problems = opened.problem_list
        if opened.saved_session is not None:
            session_saving.restore_session(self.session, opened.saved_session, opened.path)
        self.view_overrides.apply_file_view(opened.scenario.view)
        if opened.lesson is not None:
            self._begin_lesson(opened.lesson)

    def _begin_lesson(self, lesson: Lesson) -> None:
        playing = LessonPlayer(lesson, lesson.ticks)
        playing.begin_lesson(self.session, self.view_context.player)
        self.view_context.ui_state.lesson_player = playing
        self.apply_lesson_view(playing)

    def apply_lesson_view(self, playing: LessonPlayer) -> None:
        """Apply the view of a lesson's present step: heat, camera and focused panel."""
        camera = playing.lesson.camera_at_step(playing.step_index)
        camera_view = (
            {}
            if camera is None
            else {"camera": dict(zip(("x", "y", "cells"), camera, strict=True)) if camera else "fit"}
        )
        self.view_overrides.apply_file_view(
            {"heat": playing.lesson.heat_map_kind_at_step(playing.step_index), **camera_view}
        )
        shown_keys = playing.shown_panel_keys(self.session)
        if shown_keys is not None and self.session.focused_key not in shown_keys:
            self.session.focus_panel(min(shown_keys))

    def end_lesson(self) -> None:
        """End the lesson, if any, and restore the default view. The run is not changed."""
        if self.view_context.ui_state.lesson_player is not None:
            self.view_context.ui_state.lesson_player.end_lesson(self.view_context.player)
            self.view_context.ui_state.lesson_player = None
            self.view_overrides.restore_user_view()

    def open_scenario(self, scenario: Scenario, *, keeps_view: bool = False) -> None:
        """Open a new run, after asking about unsaved edits.

        Args:
            scenario: Scenario of the new run.
            keeps_view: Whether layers, heat, speed and tab stay as they are, instead of returning to the defaults.
        """
        self.ask_about_unsaved_edits(partial(self._prepare_and_begin_run, scenario, keeps_view=keeps_view))

    def _prepare_and_begin_run(self, scenario: Scenario, *, keeps_view: bool) -> None:
        """Begin a new run; if its agents need prepared data, compute the data in a thread first."""
        if needs_prepared_data(agents_of_scenario(scenario)):
            job = BackgroundJob(lambda job: prepare_data_of_scenario(scenario, job.report_progress))
            self.dialog_host.call_when_job_done(
                "Preparing data for the agents", job, lambda done: self._begin_run(scenario, keeps_view=keeps_view)
            )
        else:
            self._begin_run(scenario, keeps_view=keeps_view)

    def call_when_data_ready(self, agents: Sequence[AgentConfig], grid: Grid, on_ready: Callable[[], None]) -> None:
        """Call `on_ready` when the prepared data of these agents is available; show progress if it must be computed.

        Args:
            agents: Agents that `on_ready` will put on the map.
            grid: Map that the data is computed from.
            on_ready: Callback, called in the main thread; at once if the agents need no prepared data.
        """
        if not needs_prepared_data(agents):
            on_ready()
            return
        world = self.session.run.world
        grid_copy = grid.copy()  # the run may edit the map meanwhile
        start_and_goal = world.start, world.goal
        job = BackgroundJob(lambda job: prepare_data_of_agents(agents, grid_copy, start_and_goal, job.report_progress))
        title = "Preparing data for the agents" if len(agents) > 1 else "Preparing data for the agent"
        self.dialog_host.call_when_job_done(title, job, lambda done: on_ready())

    def _begin_run(self, scenario: Scenario, *, keeps_view: bool = False) -> None:
        """Replace the open run by a new run, and reset all state of the window that belongs to the old run."""
        self.session.open_scenario(scenario)
        self.session.path = None
        self.view_overrides.reset_cameras()
        if not keeps_view:
            self.view_overrides.restore_user_view()
        self.view_context.ui_state.clear_marked_cells_and_ticks()
        self.end_lesson()
        self.view_context.ui_state.tutorial_notes = None
        for callback in self.run_replaced_callbacks:
            callback()
        self.view_context.player.slow_motion_expansions = None
        self.view_context.player.pause()

    # --- after a crash ----------------------------------------------------------------------------

    def offer_crashed_session(self) -> None:
        """Ask whether to restore a session that ended in a crash; do nothing if no journal of such a session exists."""
        crashed = find_crashed_journals()
        if crashed:
            self.dialog_host.open_dialog(CrashQuestion(self.dialog_host, self.restore_session, crashed))

    def restore_session(self, saved: SavedSession, journal: Path) -> None:
        """Restore a session from its journal, with the view settings that its file contains."""
        session_saving.restore_session(self.session, saved)
        self.session.recovered_journals.append(journal)
        self.view_overrides.reset_cameras()
        self.view_overrides.apply_file_view(saved.scenario.view)
        self.view_context.player.pause()

    # --- saving and leaving -----------------------------------------------------------------------

    def ask_about_unsaved_edits(self, go_on: Callable[[], None]) -> None:
        """Call `go_on`, which discards unsaved edits; ask first if edits would be lost."""
        if self.session.unsaved_work.has_work_worth_saving:
            self.dialog_host.open_dialog(UnsavedQuestion(self.dialog_host, go_on))
        else:
            go_on()

    def save_session(self, then: Callable[[], None] = _continue_without_callback) -> None:
        """Save the session to its file, or ask for a file name if it has none; then call `then`."""
        path = self.session.path
        if path is not None and not opened_files.is_shipped_file(path) and opened_files.is_session_file(path):
            try:
                self._save_session_to(path, then)
            except ConfigError as error:
                self.dialog_host.show_error(error, "The session was not saved")
            return
        name = f"{self.session.run.scenario.title} session"
        save = partial(self._save_session_to, then=then)
        self.dialog_host.open_dialog(
            SaveFileDialog(self.dialog_host, "Save the session", opened_files.SCENARIO_SUFFIXES[0], name, save)
        )

    def _save_session_to(self, path: Path, then: Callable[[], None]) -> None:
        self.session.path = session_saving.save_session(self.session, path, self.view_overrides.current_view_section())
        self.view_context.settings.add_recent_file(self.session.path)
        self.view_context.show_message(f"Saved {self.session.path.name}")
        then()
