"""Commands that save pictures, and that record and export videos."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sim.params import ConfigError
from ui.commands.app_context import AppContext
from ui.commands.conditions import NEEDS_PANEL
from ui.film import picture_files
from ui.model.ui_command import RUN_MODE, CommandTopic, ContextMenu
from ui.panels.view_overrides import ViewOverrides

command = CommandTopic("Pictures")


@command("F9", "Start or stop recording a video", button="Record", synonyms=("film", "mp4", "gif"), name="record")
def toggle_recording(window: AppContext) -> None:
    window.recording_controller.toggle_recording()


def _save_picture_and_notify(window: AppContext, save: Callable[[ViewOverrides], Path]) -> None:
    """Save a picture, and notify the user of the path of the file, or of the error.

    Args:
        window: Window to draw.
        save: Function that draws and writes the picture, and returns the path of the new file.
    """
    try:
        window.notify_user(f"Saved {save(window.view_overrides)}")
    except ConfigError as error:
        window.show_error(error)


@command("F12 Ctrl+P", "Save a picture of the window (PNG)", synonyms=("screenshot", "image"), name="picture_window")
def save_picture_of_window(window: AppContext) -> None:
    _save_picture_and_notify(window, picture_files.save_window_picture)


@command(
    "Shift+F12",
    "Save a picture of the focused panel (PNG)",
    disabled=NEEDS_PANEL,
    menus={ContextMenu.AGENT: 80},
    synonyms=("screenshot", "image"),
    name="picture_panel",
)
def save_picture_of_panel(window: AppContext) -> None:
    _save_picture_and_notify(
        window, lambda overrides: picture_files.save_panel_picture(overrides, window.session.focused_key)
    )


@command(
    "Ctrl+F12",
    "Save a picture of the focused panel, four times as large (PNG)",
    disabled=NEEDS_PANEL,
    synonyms=("screenshot", "image"),
    name="picture_large",
)
def save_large_picture_of_panel(window: AppContext) -> None:
    _save_picture_and_notify(
        window, lambda overrides: picture_files.save_panel_picture(overrides, window.session.focused_key, scale=4)
    )


@command(
    "Alt+F12",
    "Save a picture of the focused panel (SVG)",
    disabled=NEEDS_PANEL,
    menus={ContextMenu.AGENT: 90},
    synonyms=("vector", "paper", "image"),
    name="picture_svg",
)
def save_svg_of_panel(window: AppContext) -> None:
    _save_picture_and_notify(
        window, lambda overrides: picture_files.save_panel_svg(overrides, window.session.focused_key)
    )


def _mark_export_limit(window: AppContext, name: str, text: str) -> None:
    """Store the current tick as a limit of the range to export; the change can be undone.

    Args:
        window: Window with the current tick.
        name: Attribute of the state: "mark_first_export_tick" or "mark_last_export_tick".
        text: Description of the change for the undo history.
    """
    state, tick = window.ui_state, window.session.tick
    window.session.undo_history.set_undoable_value(
        f"{text}: {tick:,}", partial(setattr, state, name), getattr(state, name), tick
    )


@command("I", "Mark the first tick to export", mode=RUN_MODE, menus={ContextMenu.TIME_LINE: 20}, name="mark_in")
def mark_first_export_tick(window: AppContext) -> None:
    _mark_export_limit(window, "mark_in", "first tick to export")
    window.notify_user(
        f"The export begins at tick {window.ui_state.mark_in:,}. "
        "{key:mark_out} marks the last tick, {key:export_video} exports."
    )


@command("Shift+I", "Mark the last tick to export", mode=RUN_MODE, menus={ContextMenu.TIME_LINE: 30}, name="mark_out")
def mark_last_export_tick(window: AppContext) -> None:
    _mark_export_limit(window, "mark_out", "last tick to export")
    window.notify_user(f"The export ends at tick {window.ui_state.mark_out:,}. {{key:export_video}} exports.")


@command(
    "Alt+E",
    "Export the marked ticks as a video",
    menus={ContextMenu.TIME_LINE: 40},
    synonyms=("film", "mp4", "gif"),
)
def export_video(window: AppContext) -> None:
    window.recording_controller.open_export_dialog(window.ui_state.mark_in or 0, window.ui_state.mark_out)
