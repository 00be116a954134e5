"""Pictures and videos."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.params import ConfigError
from ui.model.command import RUN, Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Pictures")


@command("F9", "Record a video, or stop")
def record(app: "App") -> None:
    app.recording.toggle()


def _picture(app: "App", save: Callable[[Any], Path]) -> None:
    from ui.film import pictures  # not sooner: it draws with an App of its own

    try:
        app.say(f"saved {save(pictures)}")
    except ConfigError as error:
        app.complain(error)


@command("F12 Ctrl+P", "Picture of the window as PNG")
def picture_window(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_window(app))


@command("Shift+F12", "Picture of the focused panel as PNG")
def picture_panel(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_panel(app, app.session.focused_key))


@command("Ctrl+F12", "Picture of the focused panel, four times as large")
def picture_large(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_panel(app, app.session.focused_key, scale=4))


@command("Alt+F12", "The focused panel as SVG, for papers")
def picture_svg(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_svg(app, app.session.focused_key))


@command("I", "Mark the first tick to export", mode=RUN)
def mark_in(app: "App") -> None:
    app.mark_in = app.session.tick
    app.say(f"export from tick {app.mark_in:,} on; Shift+I marks the end, Alt+E exports")


@command("Shift+I", "Mark the last tick to export", mode=RUN)
def mark_out(app: "App") -> None:
    app.mark_out = app.session.tick
    app.say(f"export up to tick {app.mark_out:,}; Alt+E exports")


@command("Alt+E", "Export the marked ticks as a video")
def export_video(app: "App") -> None:
    app.recording.ask_export(app.mark_in or 0, app.mark_out)
