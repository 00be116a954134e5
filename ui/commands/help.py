"""Help, Escape, and going through the controls of the window."""

from typing import TYPE_CHECKING

from ui.dialogs.help import HelpOverlay
from ui.dialogs.message import MessageBox
from ui.dialogs.palette import CommandPalette
from ui.model.command import Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Help")


@command("Ctrl+K", "Find a command by name")
def find_command(app: "App") -> None:
    app.show(CommandPalette(app))


@command("? F1", "All keys")
def help(app: "App") -> None:
    app.show(HelpOverlay(app))


@command("F8", "What this example shows")
def about(app: "App") -> None:
    """What the author of a scenario has to say about it."""
    scenario = app.session.scenario
    if scenario.caption:
        box = MessageBox(app, scenario.title, scenario.caption)
        box.command = "about"
        app.show(box)
    else:
        app.say("nothing is said about this run; scenario files can have a caption")


@command("Escape", "Cancel the stroke, the dialog, the tool")
def cancel(app: "App") -> None:
    """What Escape means depends on what is going on; it never quits."""
    if app.editor.cancel():
        app.pointer.editing_panel = None
    elif app.session.has_stop_rule:
        app.session.run_until(None)
        app.pause()
    elif app.pinned is not None:
        app.pinned = None
    elif app.cursor is not None:
        app.cursor = None
    elif app.has_hand or app.is_editing:
        app.leave_edit_mode()
    elif app.is_maximised:
        app.is_maximised = False
    elif app.is_bare:
        app.is_bare = False


@command("Ctrl+Tab F6", "Next control of the window")
def next_control(app: "App") -> None:
    app.canvas.focus_next(1)


@command("Ctrl+Shift+Tab Shift+F6", "Previous control")
def previous_control(app: "App") -> None:
    app.canvas.focus_next(-1)
