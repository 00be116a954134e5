"""Opening, saving and leaving runs: asks about unsaved edits first, and shows errors. Long work runs in a thread."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from agents import own_files
from sim.commands import AgentConfig
from sim.files.journal import find_crashed
from sim.files.map import ScenFile
from sim.files.scenario import Scenario
from sim.files.session import Saved
from sim.files.telling import telling
from sim.grid import Grid
from sim.lesson import Lesson
from sim.params import ConfigError, printable
from ui.dialogs.base import Host
from ui.dialogs.crashed import CrashedQuestion
from ui.dialogs.file_browser import SaveFile
from ui.dialogs.own_agent import OwnAgentQuestion
from ui.dialogs.unsaved import UnsavedQuestion
from ui.model import files, saving
from ui.model.job import Job
from ui.model.lesson import LessonPlayer
from ui.model.own_agents import OwnAgents
from ui.model.preparing import agents_of, needs_data, prepare, prepare_agents
from ui.panels.desk import ViewContext
from ui.panels.dressing import ViewOverrides


def _nothing() -> None:
    """Do nothing. This is the default of callbacks that are called after opening or saving."""


def named_once(path: Path, problems: Sequence[str]) -> list[str]:
    """Remove the path of a file from the error messages about it: "line 3: ..." instead of "path:3: ...".

    The title of the message box already names the file.
    """
    head = f"{printable(str(path))}:"
    texts = [problem.removeprefix(head) for problem in problems]
    pairs = zip(problems, texts, strict=True)
    return [f"line {text}" if problem != text and text[:1].isdigit() else problem for problem, text in pairs]


class Documents:
    """Opening and saving of documents: scenarios, sessions, maps, problem lists, lessons and agents in Python files."""

    def __init__(self, desk: ViewContext, dressing: ViewOverrides, host: Host) -> None:
        self.desk, self.dressing, self.host = desk, dressing, host
        self.session = desk.session
        self.problems: ScenFile | None = None  # open list of benchmark problems, read from a .scen file
        self.own_agents = OwnAgents(desk.session)
        desk.session.when_ready = self.with_data
        # Callbacks that discard state of the old run; they are called when another run begins.
        self.forget: list[Callable[[], None]] = []

    # --- opening ----------------------------------------------------------------------------------

    def open_path(self, path: str | os.PathLike[str]) -> None:
        if Path(path).suffix.lower() == own_files.SUFFIX:
            self._add_own_agent(str(path))
        else:
            self.with_edits_kept(lambda: self._open_in_background(Path(path)))

    def _add_own_agent(self, path: str) -> None:
        """Add the agent in a user's Python file to the open run; ask before running a file that is not trusted yet."""
        try:
            own_files.key_of(own_files.place_of(path))
            if own_files.is_trusted(path):
                self.own_agents.take(path)
            else:
                self.host.show(OwnAgentQuestion(self.host, path, partial(self._trust_and_add, path)))
        except ConfigError as error:
            self.host.complain(error, f"{printable(Path(path).name)} cannot be run")

    def _trust_and_add(self, path: str) -> None:
        own_files.trust(path)
        self._add_own_agent(path)

    def look_at_agents(self) -> None:
        """Reload user-defined agents whose files have changed, and recompute their runs; called once per frame."""
        try:
            self.own_agents.look()
        except ConfigError as error:
            self.host.complain(error, "The saved file cannot be run; its previous version stays in use")

    def open_example(self, path: str | os.PathLike[str]) -> None:
        """Open an example of the gallery, after asking about unsaved edits, and start its run."""
        self.with_edits_kept(lambda: self._open_in_background(Path(path), self.desk.player.play))

    def _open_in_background(self, path: Path, then: Callable[[], None] = _nothing) -> None:
        name = printable(path.name)
        job = Job(lambda job: self._read_and_prepare(path, job))
        self.host.work(f"Opening {name}", job, partial(self._opened, path, then), f"{name} could not be opened")

    @staticmethod
    def _read_and_prepare(path: Path, job: Job[files.Opened]) -> files.Opened:
        """Read a file and prepare the data that its agents need; called in the thread of the job."""
        with telling(job.told):
            try:
                opened = files.open_any(path)
            except ConfigError as error:
                raise ConfigError(named_once(path, error.problems)) from error
        prepare(opened.scenario, job.told)
        return opened

    def _opened(self, path: Path, then: Callable[[], None], opened: files.Opened) -> None:
        """Begin the run of a file that a thread has read, then call `then`."""
        self.host.close_dialog()
        self._begin(opened.scenario)
        self.complete(opened)
        self.session.path = path
        self.desk.settings.remember(path)
        if opened.problems is not None:
            self.desk.run("problems")
        then()

    def complete(self, opened: files.Opened) -> None:
        """Apply the parts of an opened file other than its scenario: problem list, saved session, view and lesson."""
        self.problems = opened.problems
        if opened.saved is not None:
            saving.restore(self.session, opened.saved, opened.path)
        self.dressing.put_on(opened.scenario.view)
        if opened.lesson is not None:
            self._begin_lesson(opened.lesson)

    def _begin_lesson(self, lesson: Lesson) -> None:
        playing = LessonPlayer(lesson, lesson.ticks)
        playing.begin(self.session, self.desk.player)
        self.desk.state.lesson = playing
        self.look_as_in_lesson(playing)

    def look_as_in_lesson(self, playing: LessonPlayer) -> None:
        """Apply the view of a lesson's present step: heat, camera and focused panel."""
        camera = playing.lesson.camera_at(playing.place)
        seen = (
            {}
            if camera is None
            else {"camera": dict(zip(("x", "y", "cells"), camera, strict=True)) if camera else "fit"}
        )
        self.dressing.put_on({"heat": playing.lesson.heat_at(playing.place), **seen})
        shown = playing.shows(self.session)
        if shown is not None and self.session.focused_key not in shown:
            self.session.focus(min(shown))

    def end_lesson(self) -> None:
        """End the lesson, if any, and restore the default view. The run is not changed."""
        if self.desk.state.lesson is not None:
            self.desk.state.lesson.end(self.desk.player)
            self.desk.state.lesson = None
            self.dressing.take_off()

    def open_scenario(self, scenario: Scenario, *, keeps_view: bool = False) -> None:
        """Open a new run, after asking about unsaved edits.

        Args:
            scenario: Scenario of the new run.
            keeps_view: Whether layers, heat, speed and tab stay as they are, instead of returning to the defaults.
        """
        self.with_edits_kept(partial(self._prepare_and_begin, scenario, keeps_view=keeps_view))

    def _prepare_and_begin(self, scenario: Scenario, *, keeps_view: bool) -> None:
        """Begin a new run; if its agents need prepared data, compute the data in a thread first."""
        if needs_data(agents_of(scenario)):
            job = Job(lambda job: prepare(scenario, job.told))
            self.host.work(
                "Preparing data for the agents", job, lambda done: self._begin(scenario, keeps_view=keeps_view)
            )
        else:
            self._begin(scenario, keeps_view=keeps_view)

    def with_data(self, agents: Sequence[AgentConfig], grid: Grid, go_on: Callable[[], None]) -> None:
        """Call `go_on` when the prepared data of these agents is available; show progress if it must be computed.

        Args:
            agents: Agents that `go_on` will put on the map.
            grid: Map that the data is computed from.
            go_on: Callback, called in the main thread; at once if the agents need no prepared data.
        """
        if not needs_data(agents):
            go_on()
            return
        world = self.session.run.world
        ground, ends = grid.copy(), (world.start, world.goal)  # copy the map, because the run may edit it meanwhile
        job = Job(lambda job: prepare_agents(agents, ground, ends, job.told))
        title = "Preparing data for the agents" if len(agents) > 1 else "Preparing data for the agent"
        self.host.work(title, job, lambda done: go_on())

    def _begin(self, scenario: Scenario, *, keeps_view: bool = False) -> None:
        """Replace the open run by a new run, and reset all state of the window that belongs to the old run."""
        self.session.open(scenario)
        self.session.path = None
        self.dressing.forget_cameras()
        if not keeps_view:
            self.dressing.take_off()
        self.desk.state.forget_places()
        self.end_lesson()
        self.desk.state.notes = None
        for forget in self.forget:
            forget()
        self.desk.player.reveal = None
        self.desk.player.pause()

    # --- after a crash ----------------------------------------------------------------------------

    def offer_crashed(self) -> None:
        """Ask whether to restore a session that ended in a crash; do nothing if no journal of such a session exists."""
        crashed = find_crashed()
        if crashed:
            self.host.show(CrashedQuestion(self.host, self.restore, crashed))

    def restore(self, saved: Saved, journal: Path) -> None:
        """Restore a session from its journal, with the view settings that its file contains."""
        saving.restore(self.session, saved)
        self.session.crashed.append(journal)
        self.dressing.forget_cameras()
        self.dressing.put_on(saved.scenario.view)
        self.desk.player.pause()

    # --- saving and leaving -----------------------------------------------------------------------

    def with_edits_kept(self, go_on: Callable[[], None]) -> None:
        """Call `go_on`, which discards unsaved edits; ask first if edits would be lost."""
        if self.session.unsaved.is_worth_asking:
            self.host.show(UnsavedQuestion(self.host, go_on))
        else:
            go_on()

    def save_session(self, then: Callable[[], None] = _nothing) -> None:
        """Save the session to its file, or ask for a file name if it has none; then call `then`."""
        path = self.session.path
        if path is not None and not files.is_shipped(path) and files.is_session_file(path):
            try:
                self._save_session_to(path, then)
            except ConfigError as error:
                self.host.complain(error, "The session was not saved")
            return
        name = f"{self.session.run.scenario.title} session"
        save = partial(self._save_session_to, then=then)
        self.host.show(SaveFile(self.host, "Save the session", files.SCENARIO_SUFFIXES[0], name, save))

    def _save_session_to(self, path: Path, then: Callable[[], None]) -> None:
        self.session.path = saving.save(self.session, path, self.dressing.as_view())
        self.desk.settings.remember(self.session.path)
        self.desk.say(f"Saved {self.session.path.name}")
        then()
