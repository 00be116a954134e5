"""Commands that select a part of the map, and that copy, mirror, rotate, name or save it."""

from pathlib import Path

from ui.commands.app_context import AppContext
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.text_prompt import TextPrompt
from ui.model import value_adjustments
from ui.model.select_tool import NOTHING_SELECTED_MESSAGE
from ui.model.selection import MIRROR_LEFT_RIGHT, MIRROR_TOP_BOTTOM, ROTATE_LEFT, ROTATE_RIGHT
from ui.model.ui_command import EDIT_MODE, Action, CommandTopic, ContextMenu, requires

command = CommandTopic("Selection")

_NEEDS_SELECTION = requires(lambda view: view.ui_state.selected_cells, NOTHING_SELECTED_MESSAGE)
_NEEDS_SELECTION_OR_PIECE = requires(
    lambda view: view.ui_state.selected_cells or view.ui_state.pasted_piece,
    "Nothing is selected, and no cells are being pasted",
)


def _notify_unless_empty(window: AppContext, text: str) -> None:
    """Show a message about an edit of the selection, unless the text is empty."""
    if text:
        window.notify_until_next_edit(text)


@command("Ctrl+A", "Select the whole map", button="All")
def select_all(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.select_whole_map())


@command("Ctrl+Shift+A", "Select the cells painted last", button="Last stroke", name="select_stroke")
def select_last_stroke(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.select_last_stroke())


@command("Ctrl+Space", "Begin or end a selection at the cell cursor", mode=EDIT_MODE)
def select_from_cursor(window: AppContext) -> None:
    state, selecting = window.ui_state, window.map_editor.select_tool
    if state.selection_anchor is not None:
        state.selection_anchor = None
        return
    if state.cell_cursor is None:
        value_adjustments.move_cell_cursor(window.session, state, 0, 0)
    if state.cell_cursor is not None:
        selecting.set_selection(None)
        state.selection_anchor = state.cell_cursor
        selecting.extend_selection_to_cursor(state.cell_cursor)


@command(
    "Ctrl+C",
    "Copy the selection",
    button="Copy",
    disabled=_NEEDS_SELECTION,
    menus={ContextMenu.SELECTION: 10},
    name="copy",
)
def copy_selection(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.copy_selection())


@command(
    "Ctrl+X",
    "Cut the selection",
    button="Cut",
    disabled=_NEEDS_SELECTION,
    menus={ContextMenu.SELECTION: 20},
    name="cut",
)
def cut_selection(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.cut_selection())


@command(
    "Ctrl+V",
    "Paste the copied cells",
    button="Paste",
    disabled=requires(lambda view: view.ui_state.copied_piece, "Nothing was copied yet"),
    name="paste",
)
def paste_cells(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.paste_piece())


@command(
    "Return",
    "Place the pasted cells",
    mode=EDIT_MODE,
    disabled=requires(
        lambda view: view.ui_state.pasted_piece,
        "There are no pasted cells to place; paste copied cells first ({key:paste})",
    ),
    name="put_down",
)
def place_pasted_cells(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.put_down_piece())


def _create_mirror_or_rotate_action(direction: str, participle: str) -> Action:
    """Return the function of a command that mirrors or rotates the selection.

    Args:
        direction: Kind of mirroring or rotation, such as `MIRROR_LEFT_RIGHT`.
        participle: Word for the message: "mirrored" or "rotated".
    """

    def turn(window: AppContext) -> None:
        _notify_unless_empty(window, window.map_editor.select_tool.mirror_or_rotate_selection(direction, participle))

    return turn


_TURNS = (
    ("X", "mirror_left_right", "Mirror the selection left to right", "Mirror <>", MIRROR_LEFT_RIGHT, "mirrored"),
    ("Y", "mirror_top_bottom", "Mirror the selection top to bottom", "Mirror ^v", MIRROR_TOP_BOTTOM, "mirrored"),
    ("Z", "turn_right", "Rotate the selection clockwise", "Rotate", ROTATE_RIGHT, "rotated"),
    ("Shift+Z", "turn_left", "Rotate the selection counterclockwise", "", ROTATE_LEFT, "rotated"),
)
"""Key, id, title, short title, direction and participle of the commands that mirror or rotate the selection."""

for _position, (_key, _id, _title, _button, _direction, _participle) in enumerate(_TURNS):
    command(
        _key,
        _title,
        button=_button,
        mode=EDIT_MODE,
        disabled=_NEEDS_SELECTION_OR_PIECE,
        menus={ContextMenu.SELECTION: 30 + _position},
        synonyms=("flip", "turn"),
        name=_id,
    )(_create_mirror_or_rotate_action(_direction, _participle))


@command(
    "Delete",
    "Free the selected cells",
    button="Free",
    mode=EDIT_MODE,
    disabled=requires(
        lambda view: view.ui_state.selected_cells,
        "Nothing is selected. Outside edit mode ({key:edit_mode}), {key:remove_agent} removes the focused agent",
    ),
    menus={ContextMenu.SELECTION: 50},
    synonyms=("erase", "clear"),
)
def free_selected(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.fill_selection(block=False))


@command(
    "Insert",
    "Block the selected cells",
    button="Block",
    mode=EDIT_MODE,
    disabled=_NEEDS_SELECTION,
    menus={ContextMenu.SELECTION: 40},
    synonyms=("wall", "fill"),
)
def block_selected(window: AppContext) -> None:
    _notify_unless_empty(window, window.map_editor.select_tool.fill_selection(block=True))


@command(
    "Ctrl+G",
    "Make the selection a switch",
    button="Switch ...",
    disabled=_NEEDS_SELECTION,
    menus={ContextMenu.SELECTION: 60},
    synonyms=("bridge", "door", "name"),
)
def name_switch(window: AppContext) -> None:
    selecting = window.map_editor.select_tool

    def go(name: str) -> None:
        window.notify_until_next_edit(selecting.switch_name_error(name) or selecting.name_switch(name))

    window.open_dialog(
        TextPrompt(
            window.dialogs, "Name of the switch", selecting.unused_switch_name(), go, selecting.switch_name_error
        )
    )


@command(
    "Ctrl+M",
    "Save the selection as a map",
    button="Save ...",
    disabled=_NEEDS_SELECTION,
    menus={ContextMenu.SELECTION: 70},
)
def save_piece(window: AppContext) -> None:
    write = window.map_editor.select_tool.selection_save_function()
    assert write is not None, "the command is disabled without a selection"

    def save(path: Path) -> None:
        window.notify_user(f"Saved {write(path).name}")

    name = f"{window.session.run.world.grid.name} {window.ui_state.selected_cells}"
    window.open_dialog(SaveFileDialog(window.dialogs, "Save the selection as a map", ".map", name, save))
