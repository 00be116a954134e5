"""Commands that open, save and export files, that open the experiment dialog, and that quit."""

from collections.abc import Callable
from pathlib import Path

from sim.files.posthoc import SUFFIXES
from sim.params import ConfigError
from ui.commands.window import Window
from ui.dialogs.experiment import ExperimentSheet
from ui.dialogs.file_browser import OpenFile, SaveFile
from ui.dialogs.gallery import Gallery
from ui.dialogs.generator import GenerateMap
from ui.dialogs.problems import ProblemList
from ui.dialogs.recent import RecentFiles
from ui.model import files, tables
from ui.model.command import RUN, Topic
from ui.model.job import Job
from ui.model.posthoc import posthoc_writer

command = Topic("Files")


@command("G", "Open the gallery of examples", mode=RUN, name="gallery")
def gallery(window: Window) -> None:
    window.show(Gallery(window.dialogs))


@command("Ctrl+O", "Open a scenario, session, map or problem list", name="open")
def open(window: Window) -> None:
    window.show(OpenFile(window.dialogs))


@command("Ctrl+Shift+O", "Open a recent file", name="recent")
def recent(window: Window) -> None:
    window.show(RecentFiles(window.dialogs))


@command("Ctrl+L", "Choose a problem from the open problem list", name="problems")
def problems(window: Window) -> None:
    if window.documents.problems is None:
        window.say("No problem list is open. Open a .scen file first ({key:open}).")
    else:
        window.show(ProblemList(window.dialogs))


@command("Ctrl+N", "Generate a map", name="generate")
def generate(window: Window) -> None:
    window.show(GenerateMap(window.dialogs))


def _save(window: Window, write: Callable[[], object], done: str) -> None:
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
        if isinstance(window.dialogs.dialog, SaveFile):
            raise
        window.complain(error)
    else:
        window.say(done)


@command("Ctrl+S", "Save the map")
def save_map(window: Window) -> None:
    path = window.session.path
    if path is not None and path.suffix == ".map" and not files.is_shipped(path):
        _save(window, lambda: files.save_map(window.session, path), f"Saved {path.name}")
    else:
        save_map_as(window)


@command("Ctrl+Shift+S", "Save the map under another name")
def save_map_as(window: Window) -> None:
    window.show(
        SaveFile(
            window.dialogs,
            "Save the map under another name",
            ".map",
            window.session.run.world.grid.name,
            lambda path: _save(window, lambda: files.save_map(window.session, path), f"Saved {path.name}"),
        )
    )


@command("Alt+S", "Save the session (run, branches and edits)")
def save_session(window: Window) -> None:
    window.documents.save_session()


@command("Ctrl+Alt+S", "Save the run as a scenario (map, agents and settings)")
def save_scenario(window: Window) -> None:
    window.show(
        SaveFile(
            window.dialogs,
            "Save the run as a scenario",
            ".yaml",
            window.session.run.scenario.title,
            lambda path: _save(
                window,
                lambda: files.save_session_scenario(window.session, path, window.dressing.as_view()),
                f"Saved {path.name}",
            ),
        )
    )


@command("Ctrl+E", "Export the comparison table as CSV")
def export_csv(window: Window) -> None:
    window.show(
        SaveFile(
            window.dialogs,
            "Export the comparison table",
            ".csv",
            f"{window.session.run.scenario.title} tick {window.session.tick}",
            lambda path: _save(window, lambda: tables.export_csv(window.session, path), f"Saved {path.name}"),
        )
    )


@command("Ctrl+Alt+E", "Export the focused agent's search for Posthoc")
def export_posthoc(window: Window) -> None:
    walker = window.session.focused
    if walker is None:
        window.say("There is no agent whose search could be exported")
        return

    def save(path: Path) -> None:
        write = posthoc_writer(window.session.run.timeline, walker.id, path)
        window.dialogs.work("Writing the trace for Posthoc", Job(lambda job: write(job.told)), window.say)

    window.show(
        SaveFile(window.dialogs, "Export for Posthoc", SUFFIXES[0], f"{walker.label} tick {window.session.tick}", save)
    )


@command("Alt+X", "Run an experiment with these agents on this map", name="experiment")
def experiment(window: Window) -> None:
    window.show(ExperimentSheet(window.dialogs, window.state))


@command("Ctrl+Q", "Quit", name="quit")
def quit(window: Window) -> None:
    window.quit()
