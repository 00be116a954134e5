"""Commands that edit the map with mouse tools or the cell cursor, that undo edits, and that set random changes."""

from sim.commands import SetChanges
from ui.commands.window import Window
from ui.dialogs.history import HistoryList
from ui.model import painting, turning
from ui.model.command import EDIT, Action, Topic

command = Topic("Editing")


@command("M", "Edit mode: letters choose tools")
def edit_mode(window: Window) -> None:
    if window.state.is_editing:
        window.state.put_tools_away()
        return
    window.state.is_editing, window.state.has_hand = True, False
    window.settings.sidebar_tab = "edit"


def _tool_command(name: str) -> Action:
    def choose(window: Window) -> None:
        window.state.choose_tool(name)

    return choose


command("B", "Brush: first cell decides, block or free", mode=EDIT, name="tool_brush")(_tool_command("brush"))
command("E", "Eraser: free cells", mode=EDIT, name="tool_eraser")(_tool_command("eraser"))
command("L", "Line", mode=EDIT, name="tool_line")(_tool_command("line"))
command("R", "Rectangle", mode=EDIT, name="tool_rectangle")(_tool_command("rectangle"))
command("F", "Flood fill", mode=EDIT, name="tool_fill")(_tool_command("fill"))
command("S", "Select: a piece of the map, to move, copy, mirror, turn, name", mode=EDIT, name="tool_select")(
    _tool_command("select")
)


@command("[", "Smaller brush", mode=EDIT, repeats=True)
def smaller_brush(window: Window) -> None:
    window.state.set_brush(window.state.brush - 1)


@command("]", "Larger brush", mode=EDIT, repeats=True)
def larger_brush(window: Window) -> None:
    window.state.set_brush(window.state.brush + 1)


@command("Ctrl+Z", "Undo the last thing done, whatever it was", repeats=True)
def undo(window: Window) -> None:
    if window.editor.cancel():
        window.say("the stroke was taken back")
        return
    done = window.session.history.undo()
    window.tell(f"taken back: {done}" if done else "nothing to undo")


@command("Ctrl+Y Ctrl+Shift+Z", "Redo", repeats=True)
def redo(window: Window) -> None:
    done = window.session.history.redo()
    window.tell(f"done again: {done}" if done else "nothing to redo")


@command("Alt+Z", "History: everything done, to go back to any of it")
def history(window: Window) -> None:
    window.show(HistoryList(window.dialogs))


@command("Ctrl+Delete", "Take all edits back (can be undone)")
def clear_edits(window: Window) -> None:
    if not painting.take_edits_back(window.session):
        window.tell("the map is as it was opened")


def _switch_command(number: int) -> Action:
    """Return the function of the command that blocks or frees a switch; `number` counts the map's switches from 1."""

    def flip(window: Window) -> None:
        names = list(window.session.run.world.switches)
        if number <= len(names):
            window.tell(turning.flip_switch(window.session, names[number - 1]))
        else:
            window.say(f"this map has no switch {number}")

    return flip


for _n in range(1, 10):
    command(f"Shift+{_n}", f"Block or free switch {_n}", name=f"switch_{_n}")(_switch_command(_n))


def _cursor(dx: int, dy: int) -> Action:
    """Return the function of a command that moves the cell cursor, and with it the corner of a selection."""

    def move(window: Window) -> None:
        turning.move_cursor(window.session, window.state, dx, dy)
        if window.state.cursor is not None:
            window.editor.selecting.stretch(window.state.cursor)

    return move


command("Ctrl+Left", "Cell cursor left", repeats=True, name="cursor_left")(_cursor(-1, 0))
command("Ctrl+Right", "Cell cursor right", repeats=True, name="cursor_right")(_cursor(1, 0))
command("Ctrl+Up", "Cell cursor up", repeats=True, name="cursor_up")(_cursor(0, -1))
command("Ctrl+Down", "Cell cursor down", repeats=True, name="cursor_down")(_cursor(0, 1))


@command("Ctrl+Return", "Block or free the cell under the cursor")
def paint_cursor(window: Window) -> None:
    if window.state.cursor is not None:
        window.editor.toggle(window.state.cursor)


@command("Ctrl+Shift+Return", "Start at the cell cursor (back to tick 0)")
def start_here(window: Window) -> None:
    if window.state.cursor is not None:
        window.editor.drop_start(window.state.cursor)


@command("Alt+Return", "Goal at the cell cursor")
def goal_here(window: Window) -> None:
    if window.state.cursor is not None:
        window.editor.drop_goal(window.state.cursor)


@command("Alt+Shift+Return", "Goal of the whole focused crowd at the cell cursor")
def goal_of_crowd_here(window: Window) -> None:
    if window.session.run.crowd(window.session.focused_key) is None:
        window.say("the focused panel shows one agent, not a crowd")
    elif window.state.cursor is None:
        window.say("there is no cell cursor yet: {key:cursor_right} shows it")
    else:
        window.editor.drop_goal_of_crowd(window.state.cursor)


@command("Alt+G", "Next movement rule: four neighbours, eight, corners cut, squeezed through (back to tick 0)")
def next_rule(window: Window) -> None:
    turning.turn_rule(window.session, 1)


@command("Alt+C", "Random changes of the map on or off")
def random_changes(window: Window) -> None:
    is_on = window.session.run.world.random_changes.rate > 0
    window.session.do(SetChanges(window.state.change_interval, 0.0 if is_on else window.state.change_rate))
    window.say(
        "random changes off"
        if is_on
        else f"random changes: {window.state.change_rate:g} % every {window.state.change_interval} ticks"
    )


@command("Alt+=", "Higher rate of random changes")
def more_changes(window: Window) -> None:
    turning.turn_change_rate(window.session, window.state, 1)


@command("Alt+-", "Lower rate of random changes")
def fewer_changes(window: Window) -> None:
    turning.turn_change_rate(window.session, window.state, -1)
