"""Commands that save pictures, and that record and export videos."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sim.params import ConfigError
from ui.commands.window import Window
from ui.film import pictures
from ui.model.command import RUN, Topic
from ui.panels.dressing import ViewOverrides

command = Topic("Pictures")


@command("F9", "Start or stop recording a video", name="record")
def record(window: Window) -> None:
    window.recording.toggle()


def _take(window: Window, save: Callable[[ViewOverrides], Path]) -> None:
    """Save a picture, and notify the user of the path of the file, or of the error.

    Args:
        window: Window to draw.
        save: Function that draws and writes the picture, and returns the path of the new file.
    """
    try:
        window.say(f"Saved {save(window.dressing)}")
    except ConfigError as error:
        window.complain(error)


@command("F12 Ctrl+P", "Save a picture of the window (PNG)", name="picture_window")
def picture_window(window: Window) -> None:
    _take(window, pictures.save_window)


@command("Shift+F12", "Save a picture of the focused panel (PNG)", name="picture_panel")
def picture_panel(window: Window) -> None:
    _take(window, lambda dressing: pictures.save_panel(dressing, window.session.focused_key))


@command("Ctrl+F12", "Save a picture of the focused panel, four times as large (PNG)", name="picture_large")
def picture_large(window: Window) -> None:
    _take(window, lambda dressing: pictures.save_panel(dressing, window.session.focused_key, scale=4))


@command("Alt+F12", "Save a picture of the focused panel (SVG)", name="picture_svg")
def picture_svg(window: Window) -> None:
    _take(window, lambda dressing: pictures.save_svg(dressing, window.session.focused_key))


def _mark(window: Window, name: str, text: str) -> None:
    """Store the current tick as a limit of the range to export; the change can be undone.

    Args:
        window: Window with the current tick.
        name: Attribute of the state: "mark_in" or "mark_out".
        text: Description of the change for the undo history.
    """
    state, tick = window.state, window.session.tick
    window.session.history.set(f"{text}: {tick:,}", partial(setattr, state, name), getattr(state, name), tick)


@command("I", "Mark the first tick to export", mode=RUN, name="mark_in")
def mark_in(window: Window) -> None:
    _mark(window, "mark_in", "first tick to export")
    window.say(
        f"The export begins at tick {window.state.mark_in:,}. "
        "{key:mark_out} marks the last tick, {key:export_video} exports."
    )


@command("Shift+I", "Mark the last tick to export", mode=RUN, name="mark_out")
def mark_out(window: Window) -> None:
    _mark(window, "mark_out", "last tick to export")
    window.say(f"The export ends at tick {window.state.mark_out:,}. {{key:export_video}} exports.")


@command("Alt+E", "Export the marked ticks as a video")
def export_video(window: Window) -> None:
    window.recording.ask_export(window.state.mark_in or 0, window.state.mark_out)
