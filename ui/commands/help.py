"""Commands for help, for Escape, and for moving the keyboard focus through the controls of the window."""

from ui.commands import menus
from ui.commands.window import AppContext
from ui.dialogs.command_palette import CommandPalette
from ui.dialogs.help import HelpOverlay
from ui.dialogs.message_box import MessageBox
from ui.model.command import CommandTopic

command = CommandTopic("Help")


@command("Ctrl+K", "Find a command by name")
def find_command(window: AppContext) -> None:
    window.show_dialog(CommandPalette(window.dialogs))


@command("? F1", "Show all keys", name="help")
def open_help(window: AppContext) -> None:
    window.show_dialog(HelpOverlay(window.dialogs))


@command("F8", "Show the description of this run", name="about")
def show_scenario_caption(window: AppContext) -> None:
    """Show the caption of the open scenario in a message box."""
    scenario = window.session.run.scenario
    if scenario.caption:
        box = MessageBox(window.dialogs, scenario.title, scenario.caption)
        box.command = "about"
        window.show_dialog(box)
    else:
        window.notify_user("This run has no description. A scenario file can have one as its caption.")


@command("Escape", "Cancel the current action", name="cancel")
def cancel_current_action(window: AppContext) -> None:
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
        window.state.clear_selection()
    elif window.state.pinned is not None:
        window.state.pinned = None
    elif window.state.cursor is not None:
        window.state.cursor = None
    elif window.state.has_hand or window.state.is_editing:
        window.state.leave_edit_mode()
    elif window.state.is_maximised:
        window.state.is_maximised = False
    elif window.state.is_bare:
        window.state.is_bare = False


@command("Ctrl+Tab F6", "Focus the next control", name="next_control")
def focus_next_control(window: AppContext) -> None:
    window.canvas.focus_next_control(1)


@command("Ctrl+Shift+Tab Shift+F6", "Focus the previous control", name="previous_control")
def focus_previous_control(window: AppContext) -> None:
    window.canvas.focus_next_control(-1)


@command("Menu Shift+F10", "Open the context menu of the cell cursor or the focused agent", name="open_menu")
def open_context_menu(window: AppContext) -> None:
    window.state.menu = menus.context_menu_for_menu_key(window)
    if window.state.menu is None:
        window.notify_user("There is no panel, so there is no context menu")
