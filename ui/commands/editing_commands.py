"""Commands that edit the map with mouse tools or the cell cursor, that undo edits, and that set random changes."""

from sim.world_commands import SetRandomChanges
from ui.commands.app_context import AppContext
from ui.dialogs.history_list import HistoryList
from ui.model import cell_edits, value_adjustments
from ui.model.ui_command import EDIT_MODE, Action, CommandTopic

command = CommandTopic("Editing")


@command("M", "Turn edit mode on or off (letter keys choose tools)", name="edit_mode")
def toggle_edit_mode(window: AppContext) -> None:
    if window.ui_state.is_editing:
        window.ui_state.leave_edit_mode()
        return
    window.ui_state.is_editing, window.ui_state.is_hand_tool_active = True, False
    window.settings.sidebar_tab = "edit"


def _create_tool_action(name: str) -> Action:
    def choose(window: AppContext) -> None:
        window.ui_state.choose_tool(name)

    return choose


command("B", "Use the brush (block or free cells)", mode=EDIT_MODE, name="tool_brush")(_create_tool_action("brush"))
command("E", "Use the eraser (free cells)", mode=EDIT_MODE, name="tool_eraser")(_create_tool_action("eraser"))
command("L", "Use the line tool", mode=EDIT_MODE, name="tool_line")(_create_tool_action("line"))
command("R", "Use the rectangle tool", mode=EDIT_MODE, name="tool_rectangle")(_create_tool_action("rectangle"))
command("F", "Use flood fill", mode=EDIT_MODE, name="tool_fill")(_create_tool_action("fill"))
command(
    "S",
    "Use the Select tool (move, copy, mirror, rotate or name a part of the map)",
    mode=EDIT_MODE,
    name="tool_select",
)(_create_tool_action("select"))


@command("[", "Make the brush smaller", mode=EDIT_MODE, repeats=True, name="smaller_brush")
def shrink_brush(window: AppContext) -> None:
    window.ui_state.set_brush_size(window.ui_state.brush_size - 1)


@command("]", "Make the brush larger", mode=EDIT_MODE, repeats=True, name="larger_brush")
def enlarge_brush(window: AppContext) -> None:
    window.ui_state.set_brush_size(window.ui_state.brush_size + 1)


@command("Ctrl+Z", "Undo the last action", repeats=True, name="undo")
def undo_last_action(window: AppContext) -> None:
    if window.map_editor.cancel():
        window.notify_user("Stroke cancelled")
        return
    done = window.session.undo_history.undo_last_entry()
    window.notify_until_next_edit(f"Undid: {done}" if done else "There is nothing to undo")


@command("Ctrl+Y Ctrl+Shift+Z", "Redo the last undone action", repeats=True, name="redo")
def redo_last_action(window: AppContext) -> None:
    done = window.session.undo_history.redo_last_entry()
    window.notify_until_next_edit(f"Redid: {done}" if done else "There is nothing to redo")


@command("Alt+Z", "Show the undo history", name="history")
def open_undo_history(window: AppContext) -> None:
    window.open_dialog(HistoryList(window.dialogs))


@command("Ctrl+Delete", "Remove all map edits (can be undone)", name="clear_edits")
def remove_map_edits(window: AppContext) -> None:
    if not cell_edits.remove_map_edits(window.session):
        window.notify_until_next_edit("The map has no edits")


def _create_switch_action(number: int) -> Action:
    """Return the function of the command that blocks or frees a switch; `number` counts the map's switches from 1."""

    def flip(window: AppContext) -> None:
        names = list(window.session.run.world.switches)
        if number <= len(names):
            window.notify_until_next_edit(value_adjustments.toggle_map_switch(window.session, names[number - 1]))
        else:
            window.notify_user(f"This map has no switch {number}")

    return flip


for _n in range(1, 10):
    command(f"Shift+{_n}", f"Block or free switch {_n}", name=f"switch_{_n}")(_create_switch_action(_n))


def _create_cursor_action(dx: int, dy: int) -> Action:
    """Return the function of a command that moves the cell cursor, and with it the corner of a selection."""

    def move(window: AppContext) -> None:
        value_adjustments.move_cell_cursor(window.session, window.ui_state, dx, dy)
        if window.ui_state.cell_cursor is not None:
            window.map_editor.select_tool.extend_selection_to_cursor(window.ui_state.cell_cursor)

    return move


command("Ctrl+Left", "Move the cell cursor left", repeats=True, name="cursor_left")(_create_cursor_action(-1, 0))
command("Ctrl+Right", "Move the cell cursor right", repeats=True, name="cursor_right")(_create_cursor_action(1, 0))
command("Ctrl+Up", "Move the cell cursor up", repeats=True, name="cursor_up")(_create_cursor_action(0, -1))
command("Ctrl+Down", "Move the cell cursor down", repeats=True, name="cursor_down")(_create_cursor_action(0, 1))


@command("Ctrl+Return", "Block or free the cell at the cell cursor", name="paint_cursor")
def toggle_cell_at_cursor(window: AppContext) -> None:
    if window.ui_state.cell_cursor is not None:
        window.map_editor.toggle_cell(window.ui_state.cell_cursor)


@command("Ctrl+Shift+Return", "Move the start to the cell cursor (starts over at tick 0)", name="start_here")
def move_start_to_cursor(window: AppContext) -> None:
    if window.ui_state.cell_cursor is not None:
        window.map_editor.move_start_to(window.ui_state.cell_cursor)


@command("Alt+Return", "Move the goal to the cell cursor", name="goal_here")
def move_goal_to_cursor(window: AppContext) -> None:
    if window.ui_state.cell_cursor is not None:
        window.map_editor.move_goal_to(window.ui_state.cell_cursor)


@command("Alt+Shift+Return", "Move the goal of the focused crowd to the cell cursor", name="goal_of_crowd_here")
def move_crowd_goal_to_cursor(window: AppContext) -> None:
    if window.session.run.crowd_of_panel(window.session.focused_key) is None:
        window.notify_user("The focused panel shows a single agent, not a crowd")
    elif window.ui_state.cell_cursor is None:
        window.notify_user("There is no cell cursor yet. {key:cursor_right} shows it.")
    else:
        window.map_editor.move_goal_of_crowd_to(window.ui_state.cell_cursor)


@command("Alt+G", "Switch to the next movement rule (starts over at tick 0)", name="next_rule")
def switch_movement_rule(window: AppContext) -> None:
    value_adjustments.cycle_movement_rule(window.session, 1)


@command("Alt+C", "Turn random map changes on or off", name="random_changes")
def toggle_random_changes(window: AppContext) -> None:
    is_on = window.session.run.world.random_changes.changed_percent > 0
    window.session.submit_command(
        SetRandomChanges(window.ui_state.random_change_interval, 0.0 if is_on else window.ui_state.random_change_rate)
    )
    window.notify_user(
        "Random changes are off"
        if is_on
        else f"Random changes: {window.ui_state.random_change_rate:g} % "
        f"every {window.ui_state.random_change_interval} ticks"
    )


@command("Alt+=", "Increase the rate of random changes", name="more_changes")
def increase_change_rate(window: AppContext) -> None:
    value_adjustments.adjust_random_change_rate(window.session, window.ui_state, 1)


@command("Alt+-", "Decrease the rate of random changes", name="fewer_changes")
def decrease_change_rate(window: AppContext) -> None:
    value_adjustments.adjust_random_change_rate(window.session, window.ui_state, -1)
