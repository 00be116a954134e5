"""Commands that select a part of the map, and that copy, mirror, rotate, name or save it."""

from pathlib import Path

from ui.commands.window import Window
from ui.dialogs.file_browser import SaveFile
from ui.dialogs.text_prompt import TextPrompt
from ui.model import turning
from ui.model.command import EDIT, Action, Topic
from ui.model.selecting import NOTHING
from ui.model.selection import LEFT, LEFT_RIGHT, RIGHT, TOP_BOTTOM

command = Topic("Selection")


def _say(window: Window, text: str) -> None:
    """Show a message about an edit of the selection, unless the text is empty."""
    if text:
        window.tell(text)


@command("Ctrl+A", "Select the whole map")
def select_all(window: Window) -> None:
    _say(window, window.editor.selecting.choose_all())


@command("Ctrl+Shift+A", "Select the cells painted last", name="select_stroke")
def select_stroke(window: Window) -> None:
    _say(window, window.editor.selecting.choose_last_stroke())


@command("Ctrl+Space", "Begin or end a selection at the cell cursor", mode=EDIT)
def select_from_cursor(window: Window) -> None:
    state, selecting = window.state, window.editor.selecting
    if state.anchor is not None:
        state.anchor = None
        return
    if state.cursor is None:
        turning.move_cursor(window.session, state, 0, 0)
    if state.cursor is not None:
        selecting.choose(None)
        state.anchor = state.cursor
        selecting.stretch(state.cursor)


@command("Ctrl+C", "Copy the selection", name="copy")
def copy(window: Window) -> None:
    _say(window, window.editor.selecting.copy())


@command("Ctrl+X", "Cut the selection", name="cut")
def cut(window: Window) -> None:
    _say(window, window.editor.selecting.cut())


@command("Ctrl+V", "Paste the copied cells", name="paste")
def paste(window: Window) -> None:
    _say(window, window.editor.selecting.paste())


@command("Return", "Place the pasted cells", mode=EDIT, name="put_down")
def put_down(window: Window) -> None:
    _say(window, window.editor.selecting.put_down())


def _turn(direction: str, participle: str) -> Action:
    """Return the function of a command that mirrors or rotates the selection.

    Args:
        direction: Kind of mirroring or rotation, such as `LEFT_RIGHT`.
        participle: Word for the message: "mirrored" or "rotated".
    """

    def turn(window: Window) -> None:
        _say(window, window.editor.selecting.turn(direction, participle))

    return turn


command("X", "Mirror the selection left to right", mode=EDIT, name="mirror_left_right")(_turn(LEFT_RIGHT, "mirrored"))
command("Y", "Mirror the selection top to bottom", mode=EDIT, name="mirror_top_bottom")(_turn(TOP_BOTTOM, "mirrored"))
command("Z", "Rotate the selection clockwise", mode=EDIT, name="turn_right")(_turn(RIGHT, "rotated"))
command("Shift+Z", "Rotate the selection counterclockwise", mode=EDIT, name="turn_left")(_turn(LEFT, "rotated"))


@command("Delete", "Free the selected cells", mode=EDIT)
def free_selected(window: Window) -> None:
    if window.state.selection is None:
        window.say(
            "Nothing is selected. Outside edit mode ({key:edit_mode}), {key:remove_agent} removes the focused agent."
        )
    else:
        _say(window, window.editor.selecting.fill(block=False))


@command("Insert", "Block the selected cells", mode=EDIT)
def block_selected(window: Window) -> None:
    _say(window, window.editor.selecting.fill(block=True))


@command("Ctrl+G", "Make the selection a switch")
def name_switch(window: Window) -> None:
    selecting = window.editor.selecting
    if window.state.selection is None:
        window.say(NOTHING)
        return

    def go(name: str) -> None:
        window.tell(selecting.why_no_switch(name) or selecting.name_switch(name))

    window.show(TextPrompt(window.dialogs, "Name of the switch", selecting.next_name(), go, selecting.why_no_switch))


@command("Ctrl+M", "Save the selection as a map")
def save_piece(window: Window) -> None:
    write = window.editor.selecting.saver()
    if write is None:
        window.say(NOTHING)
        return

    def save(path: Path) -> None:
        window.say(f"Saved {write(path).name}")

    name = f"{window.session.run.world.grid.name} {window.state.selection}"
    window.show(SaveFile(window.dialogs, "Save the selection as a map", ".map", name, save))
