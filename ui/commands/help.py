"""Commands for help, for Escape, and for moving the keyboard focus through the controls of the window."""

from ui.commands import menus
from ui.commands.window import Window
from ui.dialogs.help import HelpOverlay
from ui.dialogs.message import MessageBox
from ui.dialogs.palette import CommandPalette
from ui.model.command import Topic

command = Topic("Help")


@command("Ctrl+K", "Find a command by name")
def find_command(window: Window) -> None:
    window.show(CommandPalette(window.dialogs))


@command("? F1", "Show all keys", name="help")
def help(window: Window) -> None:
    window.show(HelpOverlay(window.dialogs))


@command("F8", "Show the description of this run", name="about")
def about(window: Window) -> None:
    """Show the caption of the open scenario in a message box."""
    scenario = window.session.run.scenario
    if scenario.caption:
        box = MessageBox(window.dialogs, scenario.title, scenario.caption)
        box.command = "about"
        window.show(box)
    else:
        window.say("This run has no description. A scenario file can have one as its caption.")


@command("Escape", "Cancel the current action", name="cancel")
def cancel(window: Window) -> None:
    """Close or cancel the first of these that is active: menu, stroke, note, "run until", selection, and so on."""
    if window.state.menu is not None:
        window.state.menu = None
        return
    if window.editor.cancel() or (window.state.notes is not None and window.state.notes.close()):
        return
    if window.session.until is not None:
        window.session.until = None
        window.player.pause()
    elif window.state.selection is not None:
        window.state.deselect()
    elif window.state.pinned is not None:
        window.state.pinned = None
    elif window.state.cursor is not None:
        window.state.cursor = None
    elif window.state.has_hand or window.state.is_editing:
        window.state.put_tools_away()
    elif window.state.is_maximised:
        window.state.is_maximised = False
    elif window.state.is_bare:
        window.state.is_bare = False


@command("Ctrl+Tab F6", "Focus the next control", name="next_control")
def next_control(window: Window) -> None:
    window.canvas.focus_next(1)


@command("Ctrl+Shift+Tab Shift+F6", "Focus the previous control", name="previous_control")
def previous_control(window: Window) -> None:
    window.canvas.focus_next(-1)


@command("Menu Shift+F10", "Open the context menu of the cell cursor or the focused agent", name="open_menu")
def open_menu(window: Window) -> None:
    window.state.menu = menus.menu_by_key(window)
    if window.state.menu is None:
        window.say("There is no panel, so there is no context menu")
