"""Questions before unsaved work would be lost: save, discard, or cancel."""

from collections.abc import Callable
from pathlib import Path

from sim.counted import counted
from sim.files.maps import MAP_SUFFIX
from sim.params import ConfigError
from ui.dialogs.base import Host
from ui.dialogs.file_browser import SaveFile
from ui.dialogs.question import Answer, Question
from ui.model import files
from ui.model.script import deeds_of
from ui.model.session import Session
from ui.model.study import Study


class UnsavedQuestion(Question):
    """Question about unsaved edits. The main button saves the map if only the map was changed, else the session."""

    def __init__(self, host: Host, go_on: Callable[[], None]) -> None:
        self.go_on = go_on
        name = host.session.run.scenario.title
        answers: list[Answer] = [("Cancel", _nothing, ""), ("Discard", go_on, "danger")]
        if self._only_map_changed(host.session):
            text = f"The map of {name} has unsaved edits, which would be lost."
            answers += [("Save session ...", self._save_session, ""), ("Save map ...", self._save_map, "main")]
        else:
            told = _told(host.session)
            text = f"Not saved in {name}: {told}. A session file keeps everything, with all branches."
            if not told:
                text = f"{name}: the previous run was not saved. {{key:undo}} restores it."
            answers += [("Save session ...", self._save_session, "main")]
        super().__init__(host, "Unsaved work", text, answers)

    @staticmethod
    def _only_map_changed(session: Session) -> bool:
        """Return whether a map is open and only the map was changed."""
        is_map = session.path is None or session.path.suffix.lower() == MAP_SUFFIX
        return is_map and session.unsaved.is_map_alone

    def _save_session(self) -> None:
        self.host.save_session(self.go_on)

    def _save_map(self) -> None:
        path = self.host.session.path
        if path is not None and not files.is_shipped(path):
            try:
                self._save_map_to(path)
            except ConfigError as error:
                self.host.complain(error, "The map could not be saved")
        else:
            name = self.host.session.run.world.grid.name
            self.host.show(SaveFile(self.host, "Save the map", MAP_SUFFIX, name, self._save_map_to))

    def _save_map_to(self, path: Path) -> None:
        files.save_map(self.host.session, path)
        self.go_on()


class RunningQuestion(Question):
    """Question before quitting, which would stop a running experiment."""

    def __init__(self, host: Host, study: Study, go_on: Callable[[], None]) -> None:
        study.poll()
        far = f"{study.done:,} of {study.whole:,} runs are done" if study.whole else "no run is done yet"
        text = f"An experiment is running in the background: {far}. Quitting stops it; finished runs are kept in\n"
        answers: list[Answer] = [("Quit", go_on, "danger"), ("Keep running", _nothing, "main")]
        super().__init__(host, "Stop the experiment?", f"{text}{study.results}", answers)


def _told(session: Session) -> str:
    """Return a short summary of the unsaved changes, such as "3 changes in 2 branches"; "" if there are none."""
    by_hand = {e.id: e for b in session.run.tree.branches.values() for e in b.timeline.entries() if not e.is_scripted}
    edits = len(deeds_of(by_hand.values()))
    if not edits and len(session.run.tree.branches) == 1:
        return ""
    changes = counted(edits, "change")
    count = len(session.run.tree.branches)
    return changes if count == 1 else f"{changes} in {count} branches"


def _nothing() -> None:
    """Do nothing for the answers "Cancel" and "Keep running"."""
