"""Questions before unsaved work would be lost: save, discard, or cancel."""

from collections.abc import Callable
from pathlib import Path

from files.map_files import MAP_SUFFIX
from sim.params import ConfigError
from sim.plurals import count_with_noun
from ui.dialogs.dialog_base import DialogHost
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.question import QuestionAnswer, QuestionDialog
from ui.model import opened_files
from ui.model.background_experiment import BackgroundExperiment
from ui.model.script_entries import script_entries_of
from ui.model.session import Session


class UnsavedQuestion(QuestionDialog):
    """Question about unsaved edits. The main button saves the map if only the map was changed, else the session."""

    def __init__(self, host: DialogHost, on_continue: Callable[[], None]) -> None:
        self.continue_callback = on_continue
        name = host.session.run.scenario.title
        answers: list[QuestionAnswer] = [("Cancel", _keep_program_open, ""), ("Discard", on_continue, "danger")]
        if self._has_only_map_changed(host.session):
            text = f"The map of {name} has unsaved edits, which would be lost."
            answers += [("Save session ...", self._save_session, ""), ("Save map ...", self._save_map, "main")]
        else:
            changes_text = _unsaved_changes_text(host.session)
            text = f"Not saved in {name}: {changes_text}. A session file keeps everything, with all branches."
            if not changes_text:
                text = f"{name}: the previous run was not saved. {{key:undo}} restores it."
            answers += [("Save session ...", self._save_session, "main")]
        super().__init__(host, "Unsaved work", text, answers)

    @staticmethod
    def _has_only_map_changed(session: Session) -> bool:
        """Return whether a map is open and only the map was changed."""
        is_map = session.path is None or session.path.suffix.lower() == MAP_SUFFIX
        return is_map and session.unsaved_work.has_only_map_edits

    def _save_session(self) -> None:
        self.host.save_session(self.continue_callback)

    def _save_map(self) -> None:
        path = self.host.session.path
        if path is not None and not opened_files.is_shipped_file(path):
            try:
                self._save_map_to(path)
            except ConfigError as error:
                self.host.show_error(error, "The map could not be saved")
        else:
            name = self.host.session.run.world.grid.name
            self.host.open_dialog(SaveFileDialog(self.host, "Save the map", MAP_SUFFIX, name, self._save_map_to))

    def _save_map_to(self, path: Path) -> None:
        opened_files.save_map(self.host.session, path)
        self.continue_callback()


class RunningExperimentQuestion(QuestionDialog):
    """Question before quitting, which would stop a running experiment."""

    def __init__(self, host: DialogHost, study: BackgroundExperiment, on_continue: Callable[[], None]) -> None:
        study.read_new_results()
        progress_text = (
            f"{study.done:,} of {study.run_count:,} runs are done" if study.run_count else "no run is done yet"
        )
        text = f"An experiment is running in the background: {progress_text}. Quitting stops it; "
        text += "finished runs are kept in\n"
        answers: list[QuestionAnswer] = [("Quit", on_continue, "danger"), ("Keep running", _keep_program_open, "main")]
        super().__init__(host, "Stop the experiment?", f"{text}{study.results_folder}", answers)


def _unsaved_changes_text(session: Session) -> str:
    """Return a short summary of the unsaved changes, such as "3 changes in 2 branches"; "" if there are none."""
    user_entries = {
        e.id: e
        for b in session.run.branch_tree.branches.values()
        for e in b.timeline.command_log.entries
        if not e.is_scripted
    }
    edits = len(script_entries_of(user_entries.values()))
    if not edits and len(session.run.branch_tree.branches) == 1:
        return ""
    changes = count_with_noun(edits, "change")
    count = len(session.run.branch_tree.branches)
    return changes if count == 1 else f"{changes} in {count} branches"


def _keep_program_open() -> None:
    """Do nothing for the answers "Cancel" and "Keep running"."""
