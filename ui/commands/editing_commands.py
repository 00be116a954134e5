"""Commands that edit the map with mouse tools or the cell cursor, that undo edits, and that set random changes."""

from sim.world_commands import SetRandomChanges
from ui.commands.app_context import AppContext
from ui.commands.conditions import NEEDS_CROWD
from ui.dialogs.history_list import HistoryList
from ui.model import cell_edits, value_adjustments
from ui.model.drawing_tools import MAX_BRUSH, TOOL_NAMES
from ui.model.ui_command import EDIT_MODE, Action, CommandTopic, DisabledReason, ToggledState, first_reason, requires

command = CommandTopic("Editing")

_NEEDS_CELL_CURSOR = requires(
    lambda view: view.ui_state.cell_cursor, "There is no cell cursor yet; {key:cursor_right} shows it"
)


@command(
    "M",
    "Turn edit mode on or off (letter keys choose tools)",
    button="Edit mode",
    is_on=lambda view: view.ui_state.is_editing,
    synonyms=("draw", "paint"),
    name="edit_mode",
)
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


def _is_tool_selected(name: str) -> ToggledState:
    return lambda view: view.ui_state.selected_tool == name


_TOOLS = (
    ("B", "brush", "Use the brush (block or free cells)", ("draw", "paint", "wall")),
    ("E", "eraser", "Use the eraser (free cells)", ("delete",)),
    ("L", "line", "Use the line tool", ()),
    ("R", "rectangle", "Use the rectangle tool", ("box",)),
    ("F", "fill", "Use flood fill", ("bucket",)),
    ("S", "select", "Use the Select tool (move, copy, mirror, rotate or name a part of the map)", ("region",)),
)
"""Key, tool, title and synonyms of the commands that choose a tool."""

for _key, _tool, _title, _words in _TOOLS:
    command(
        _key,
        _title,
        button=TOOL_NAMES[_tool],
        mode=EDIT_MODE,
        is_on=_is_tool_selected(_tool),
        synonyms=_words,
        name=f"tool_{_tool}",
    )(_create_tool_action(_tool))


@command(
    "[",
    "Make the brush smaller",
    mode=EDIT_MODE,
    repeats=True,
    disabled=requires(lambda view: view.ui_state.brush_size > 1, "The brush has its smallest size already"),
    name="smaller_brush",
)
def shrink_brush(window: AppContext) -> None:
    window.ui_state.set_brush_size(window.ui_state.brush_size - 1)


@command(
    "]",
    "Make the brush larger",
    mode=EDIT_MODE,
    repeats=True,
    disabled=requires(lambda view: view.ui_state.brush_size < MAX_BRUSH, "The brush has its largest size already"),
    name="larger_brush",
)
def enlarge_brush(window: AppContext) -> None:
    window.ui_state.set_brush_size(window.ui_state.brush_size + 1)


@command(
    "Ctrl+Z",
    "Undo the last action",
    button="Undo",
    repeats=True,
    disabled=requires(
        lambda view: (
            view.session.undo_history.done or view.session.undo_history.is_entry_open or view.ui_state.pasted_piece
        ),
        "There is nothing to undo",
    ),
    synonyms=("revert", "back"),
    name="undo",
)
def undo_last_action(window: AppContext) -> None:
    if window.map_editor.cancel():
        window.notify_user("Stroke cancelled")
        return
    done = window.session.undo_history.undo_last_entry()
    window.notify_until_next_edit(f"Undid: {done}")


@command(
    "Ctrl+Y Ctrl+Shift+Z",
    "Redo the last undone action",
    button="Redo",
    repeats=True,
    disabled=requires(lambda view: view.session.undo_history.undone_entries, "There is nothing to redo"),
    synonyms=("repeat",),
    name="redo",
)
def redo_last_action(window: AppContext) -> None:
    done = window.session.undo_history.redo_last_entry()
    window.notify_until_next_edit(f"Redid: {done}")


@command("Alt+Z", "Show the undo history", name="history")
def open_undo_history(window: AppContext) -> None:
    window.open_dialog(HistoryList(window.dialogs))


@command(
    "Ctrl+Delete", "Remove all map edits (can be undone)", button="Clear edits", synonyms=("reset",), name="clear_edits"
)
def remove_map_edits(window: AppContext) -> None:
    if not cell_edits.remove_map_edits(window.session):
        window.notify_until_next_edit("The map has no edits")


def _create_switch_action(number: int) -> Action:
    """Return the function of the command that blocks or frees a switch; `number` counts the map's switches from 1."""

    def flip(window: AppContext) -> None:
        name = list(window.session.run.world.switches)[number - 1]
        window.notify_until_next_edit(value_adjustments.toggle_map_switch(window.session, name))

    return flip


def _needs_switch(number: int) -> DisabledReason:
    return requires(lambda view: number <= len(view.session.run.world.switches), f"This map has no switch {number}")


for _n in range(1, 10):
    command(
        f"Shift+{_n}",
        f"Block or free switch {_n}",
        disabled=_needs_switch(_n),
        synonyms=("bridge", "door"),
        family=("Block or free switch", str(_n)),
        name=f"switch_{_n}",
    )(_create_switch_action(_n))


def _create_cursor_action(dx: int, dy: int) -> Action:
    """Return the function of a command that moves the cell cursor, and with it the corner of a selection."""

    def move(window: AppContext) -> None:
        value_adjustments.move_cell_cursor(window.session, window.ui_state, dx, dy)
        if window.ui_state.cell_cursor is not None:
            window.map_editor.select_tool.extend_selection_to_cursor(window.ui_state.cell_cursor)

    return move


for _arrow, _dx, _dy in (("Left", -1, 0), ("Right", 1, 0), ("Up", 0, -1), ("Down", 0, 1)):
    command(
        f"Ctrl+{_arrow}",
        f"Move the cell cursor {_arrow.lower()}",
        repeats=True,
        family=("Move the cell cursor", _arrow),
        name=f"cursor_{_arrow.lower()}",
    )(_create_cursor_action(_dx, _dy))


@command("Ctrl+Return", "Block or free the cell at the cell cursor", disabled=_NEEDS_CELL_CURSOR, name="paint_cursor")
def toggle_cell_at_cursor(window: AppContext) -> None:
    if window.ui_state.cell_cursor is not None:
        window.map_editor.toggle_cell(window.ui_state.cell_cursor)


@command(
    "Ctrl+Shift+Return",
    "Move the start to the cell cursor (starts over at tick 0)",
    disabled=_NEEDS_CELL_CURSOR,
    name="start_here",
)
def move_start_to_cursor(window: AppContext) -> None:
    if window.ui_state.cell_cursor is not None:
        window.map_editor.move_start_to(window.ui_state.cell_cursor)


@command(
    "Alt+Return",
    "Move the goal to the cell cursor",
    disabled=_NEEDS_CELL_CURSOR,
    synonyms=("target",),
    name="goal_here",
)
def move_goal_to_cursor(window: AppContext) -> None:
    if window.ui_state.cell_cursor is not None:
        window.map_editor.move_goal_to(window.ui_state.cell_cursor)


@command(
    "Alt+Shift+Return",
    "Move the goal of the focused crowd to the cell cursor",
    disabled=first_reason(NEEDS_CROWD, _NEEDS_CELL_CURSOR),
    synonyms=("target",),
    name="goal_of_crowd_here",
)
def move_crowd_goal_to_cursor(window: AppContext) -> None:
    if window.ui_state.cell_cursor is not None:
        window.map_editor.move_goal_of_crowd_to(window.ui_state.cell_cursor)


@command("Alt+G", "Switch to the next movement rule (starts over at tick 0)", name="next_rule")
def switch_movement_rule(window: AppContext) -> None:
    value_adjustments.cycle_movement_rule(window.session, 1)


@command(
    "Alt+C",
    "Turn random map changes on or off",
    button="Active",
    is_on=lambda view: view.session.run.world.random_changes.changed_percent > 0,
    synonyms=("dynamic",),
    name="random_changes",
)
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
