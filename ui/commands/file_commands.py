"""Commands that open, save and export files, that open the experiment dialog, and that quit."""

from collections.abc import Callable
from pathlib import Path

from files.posthoc import TRACE_SUFFIXES
from sim.params import ConfigError
from ui.commands.app_context import AppContext
from ui.dialogs.experiment_dialog import ExperimentDialog
from ui.dialogs.file_dialogs import OpenFileDialog, SaveFileDialog
from ui.dialogs.gallery import Gallery
from ui.dialogs.map_generator_dialog import MapGeneratorDialog
from ui.dialogs.problem_list import ProblemList
from ui.dialogs.recent_files import RecentFiles
from ui.model import csv_export, opened_files
from ui.model.background_job import BackgroundJob
from ui.model.posthoc_export import posthoc_trace_writer
from ui.model.ui_command import RUN_MODE, CommandTopic, requires

command = CommandTopic("Files")


@command(
    "G", "Open the gallery of examples", button="Gallery", mode=RUN_MODE, synonyms=("demo", "scenario"), name="gallery"
)
def open_example_gallery(window: AppContext) -> None:
    window.open_dialog(Gallery(window.dialogs))


@command("Ctrl+O", "Open a scenario, session, map or problem list", button="Open", synonyms=("load",), name="open")
def open_file(window: AppContext) -> None:
    window.open_dialog(OpenFileDialog(window.dialogs))


@command("Ctrl+Shift+O", "Open a recent file", synonyms=("last",), name="recent")
def open_recent_files(window: AppContext) -> None:
    window.open_dialog(RecentFiles(window.dialogs))


@command("Ctrl+L", "Choose a problem from the open problem list", name="problems")
def open_problem_list(window: AppContext) -> None:
    if window.document_opener.benchmark_problems is None:
        window.notify_user("No problem list is open. Open a .scen file first ({key:open}).")
    else:
        window.open_dialog(ProblemList(window.dialogs))


@command("Ctrl+N", "Generate a map", button="Generate", synonyms=("new", "maze", "random"), name="generate")
def open_map_generator(window: AppContext) -> None:
    window.open_dialog(MapGeneratorDialog(window.dialogs))


def _save_and_notify(window: AppContext, write: Callable[[], object], done: str) -> None:
    """Call a function that writes a file, and notify the user of success or failure.

    Args:
        window: Window that shows the message.
        write: Function that writes the file.
        done: Message after success.

    Raises:
        ConfigError: Writing failed while the dialog that asked for the file name is open; the dialog shows the error.
    """
    try:
        write()
    except ConfigError as error:
        if isinstance(window.dialogs.current_dialog, SaveFileDialog):
            raise
        window.show_error(error)
    else:
        window.notify_user(done)


@command("Ctrl+S", "Save the map")
def save_map(window: AppContext) -> None:
    path = window.session.path
    if path is not None and path.suffix == ".map" and not opened_files.is_shipped_file(path):
        _save_and_notify(window, lambda: opened_files.save_map(window.session, path), f"Saved {path.name}")
    else:
        save_map_as(window)


@command("Ctrl+Shift+S", "Save the map under another name")
def save_map_as(window: AppContext) -> None:
    window.open_dialog(
        SaveFileDialog(
            window.dialogs,
            "Save the map under another name",
            ".map",
            window.session.run.world.grid.name,
            lambda path: _save_and_notify(
                window, lambda: opened_files.save_map(window.session, path), f"Saved {path.name}"
            ),
        )
    )


@command("Alt+S", "Save the session (run, branches and edits)", button="Save")
def save_session(window: AppContext) -> None:
    window.document_opener.save_session()


@command("Ctrl+Alt+S", "Save the run as a scenario (map, agents and settings)")
def save_scenario(window: AppContext) -> None:
    window.open_dialog(
        SaveFileDialog(
            window.dialogs,
            "Save the run as a scenario",
            ".yaml",
            window.session.run.scenario.title,
            lambda path: _save_and_notify(
                window,
                lambda: opened_files.save_session_scenario(
                    window.session, path, window.view_overrides.current_view_section()
                ),
                f"Saved {path.name}",
            ),
        )
    )


@command(
    "Ctrl+E",
    "Export the comparison table as CSV",
    button="Export CSV",
    disabled=requires(lambda view: view.session.run.panels, "There is no agent, so there is nothing to export"),
    synonyms=("spreadsheet", "numbers"),
)
def export_csv(window: AppContext) -> None:
    window.open_dialog(
        SaveFileDialog(
            window.dialogs,
            "Export the comparison table",
            ".csv",
            f"{window.session.run.scenario.title} tick {window.session.tick}",
            lambda path: _save_and_notify(
                window, lambda: csv_export.export_agents_csv(window.session, path), f"Saved {path.name}"
            ),
        )
    )


@command(
    "Ctrl+Alt+E",
    "Export the focused agent's search for Posthoc",
    disabled=requires(lambda view: view.session.focused_walker, "There is no agent whose search could be exported"),
    synonyms=("trace",),
)
def export_posthoc(window: AppContext) -> None:
    walker = window.session.focused_walker
    assert walker is not None, "the command is disabled without an agent"

    def save(path: Path) -> None:
        write = posthoc_trace_writer(window.session.run.focused_branch_timeline, walker.id, path)
        window.dialogs.call_when_job_done(
            "Writing the trace for Posthoc", BackgroundJob(lambda job: write(job.report_progress)), window.notify_user
        )

    window.open_dialog(
        SaveFileDialog(
            window.dialogs, "Export for Posthoc", TRACE_SUFFIXES[0], f"{walker.label} tick {window.session.tick}", save
        )
    )


@command("Alt+X", "Run an experiment with these agents on this map", synonyms=("benchmark", "study"), name="experiment")
def open_experiment_dialog(window: AppContext) -> None:
    window.open_dialog(ExperimentDialog(window.dialogs, window.ui_state))


@command("Ctrl+Q", "Quit", synonyms=("exit", "close"), name="quit")
def quit_program(window: AppContext) -> None:
    window.quit_after_asking()
