"""Commands for help, for Escape, and for moving the keyboard focus through the controls of the window."""

from ui.commands import context_menus
from ui.commands.app_context import AppContext
from ui.commands.conditions import NEEDS_PANEL
from ui.dialogs.command_palette import CommandPalette
from ui.dialogs.help_overlay import HelpOverlay
from ui.dialogs.message_box import MessageBox
from ui.model.ui_command import CommandTopic, requires

command = CommandTopic("Help")


@command("Ctrl+K", "Find a command by name", synonyms=("search", "palette"))
def find_command(window: AppContext) -> None:
    window.open_dialog(CommandPalette(window.dialogs))


@command("? F1", "Show all keys", button="Help", synonyms=("shortcuts",), name="help")
def open_help(window: AppContext) -> None:
    window.open_dialog(HelpOverlay(window.dialogs))


@command(
    "F8",
    "Show the description of this run",
    disabled=requires(
        lambda view: view.session.run.scenario.caption,
        "This run has no description; a scenario file can have one as its caption",
    ),
    synonyms=("about", "caption"),
    name="about",
)
def show_scenario_caption(window: AppContext) -> None:
    """Show the caption of the open scenario in a message box."""
    scenario = window.session.run.scenario
    box = MessageBox(window.dialogs, scenario.title, scenario.caption)
    box.command_id = "about"
    window.open_dialog(box)


@command("Escape", "Cancel the current action", name="cancel")
def cancel_current_action(window: AppContext) -> None:
    """Close or cancel the first of these that is active: menu, stroke, note, "run until", selection, and so on."""
    if window.ui_state.context_menu is not None:
        window.ui_state.context_menu = None
        return
    if window.map_editor.cancel() or (
        window.ui_state.tutorial_notes is not None and window.ui_state.tutorial_notes.close()
    ):
        return
    if window.session.stop_condition is not None:
        window.session.stop_condition = None
        window.player.pause()
    elif window.ui_state.selected_cells is not None:
        window.ui_state.clear_selection()
    elif window.ui_state.pinned_cell is not None:
        window.ui_state.pinned_cell = None
    elif window.ui_state.cell_cursor is not None:
        window.ui_state.cell_cursor = None
    elif window.ui_state.is_hand_tool_active or window.ui_state.is_editing:
        window.ui_state.leave_edit_mode()
    elif window.ui_state.is_maximised:
        window.ui_state.is_maximised = False
    elif window.ui_state.are_bars_hidden:
        window.ui_state.are_bars_hidden = False


@command("Ctrl+Tab F6", "Focus the next control", name="next_control")
def focus_next_control(window: AppContext) -> None:
    window.canvas.focus_next_control(1)


@command("Ctrl+Shift+Tab Shift+F6", "Focus the previous control", name="previous_control")
def focus_previous_control(window: AppContext) -> None:
    window.canvas.focus_next_control(-1)


@command(
    "Menu Shift+F10",
    "Open the context menu of the cell cursor or the focused agent",
    disabled=NEEDS_PANEL,
    synonyms=("right click",),
    name="open_menu",
)
def open_context_menu(window: AppContext) -> None:
    window.ui_state.context_menu = context_menus.context_menu_for_menu_key(window)
