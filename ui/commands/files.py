"""Opening, saving, exporting, leaving."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sim.files.posthoc import SUFFIXES
from sim.params import ConfigError
from ui.dialogs.file_browser import OpenFile, SaveFile
from ui.dialogs.gallery import Gallery
from ui.dialogs.generator import GenerateMap
from ui.dialogs.problems import ProblemList
from ui.dialogs.recent import RecentFiles
from ui.model import files
from ui.model.command import RUN, Topic
from ui.model.job import Job
from ui.model.posthoc import posthoc_writer

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Files")


@command("G", "Gallery of examples", mode=RUN)
def gallery(app: "App") -> None:
    app.show(Gallery(app))


@command("Ctrl+O", "Open a scenario, a map or a problem list")
def open(app: "App") -> None:
    app.show(OpenFile(app))


@command("Ctrl+Shift+O", "Recent files")
def recent(app: "App") -> None:
    app.show(RecentFiles(app))


@command("Ctrl+L", "Problem list of the open .scen file")
def problems(app: "App") -> None:
    if app.problems is None:
        app.say("no problem list is open: open a .scen file (Ctrl+O)")
    else:
        app.show(ProblemList(app))


@command("Ctrl+N", "Generate a map")
def generate(app: "App") -> None:
    app.show(GenerateMap(app))


def _save(app: "App", write: Callable[[], object], done: str) -> None:
    """Save, and say so. What goes wrong is told by the dialog that asked for a name, where there is one."""
    try:
        write()
    except ConfigError as error:
        if isinstance(app.dialog, SaveFile):
            raise
        app.complain(error)
    else:
        app.say(done)


@command("Ctrl+S", "Save the map as .map")
def save_map(app: "App") -> None:
    path = app.session.path
    if path is not None and path.suffix == ".map" and not files.is_shipped(path):
        _save(app, lambda: files.save_map(app.session, path), f"saved {path.name}")
    else:
        save_map_as(app)


@command("Ctrl+Shift+S", "Save the map under another name")
def save_map_as(app: "App") -> None:
    app.show(
        SaveFile(
            app,
            "Save the map",
            ".map",
            app.session.world.grid.name,
            lambda path: _save(app, lambda: files.save_map(app.session, path), f"saved {path.name}"),
        )
    )


@command("Alt+S", "Save the session: everything, with branches and edits")
def save_session(app: "App") -> None:
    app.save_session()


@command("Ctrl+Alt+S", "Save map, agents and settings as a scenario")
def save_scenario(app: "App") -> None:
    app.show(
        SaveFile(
            app,
            "Save the scenario",
            ".yaml",
            app.session.scenario.title,
            lambda path: _save(
                app,
                lambda: files.save_session_scenario(app.session, path, app.dressing.as_view()),
                f"saved {path.name}",
            ),
        )
    )


@command("Ctrl+E", "Export the comparison as CSV")
def export_csv(app: "App") -> None:
    app.show(
        SaveFile(
            app,
            "Export the comparison",
            ".csv",
            f"{app.session.scenario.title} tick {app.session.tick}",
            lambda path: _save(app, lambda: files.export_csv(app.session, path), f"wrote {path.name}"),
        )
    )


@command("Ctrl+Alt+E", "Export the focused agent's run so far for Posthoc, a viewer of searches in a browser")
def export_posthoc(app: "App") -> None:
    walker = app.session.focused
    if walker is None:
        app.say("there is no agent whose run could be exported")
        return

    def save(path: Path) -> None:
        write = posthoc_writer(app.session.timeline, walker.id, path)
        app.work("Writing the trace for Posthoc", Job(lambda job: write(job.told)), app.say)

    app.show(SaveFile(app, "Export for Posthoc", SUFFIXES[0], f"{walker.label} tick {app.session.tick}", save))


@command("Ctrl+Q", "Quit")
def quit(app: "App") -> None:
    app.quit()
