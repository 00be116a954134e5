"""Commands that edit the map with mouse tools or the cell cursor, that undo edits, and that set random changes."""

from sim.commands import SetChanges
from ui.commands.window import Window
from ui.dialogs.history import HistoryList
from ui.model import painting, turning
from ui.model.command import EDIT, Action, Topic

command = Topic("Editing")


@command("M", "Turn edit mode on or off (letter keys choose tools)", name="edit_mode")
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


command("B", "Use the brush (block or free cells)", mode=EDIT, name="tool_brush")(_tool_command("brush"))
command("E", "Use the eraser (free cells)", mode=EDIT, name="tool_eraser")(_tool_command("eraser"))
command("L", "Use the line tool", mode=EDIT, name="tool_line")(_tool_command("line"))
command("R", "Use the rectangle tool", mode=EDIT, name="tool_rectangle")(_tool_command("rectangle"))
command("F", "Use flood fill", mode=EDIT, name="tool_fill")(_tool_command("fill"))
command(
    "S", "Use the Select tool (move, copy, mirror, rotate or name a part of the map)", mode=EDIT, name="tool_select"
)(_tool_command("select"))


@command("[", "Make the brush smaller", mode=EDIT, repeats=True, name="smaller_brush")
def smaller_brush(window: Window) -> None:
    window.state.set_brush(window.state.brush - 1)


@command("]", "Make the brush larger", mode=EDIT, repeats=True, name="larger_brush")
def larger_brush(window: Window) -> None:
    window.state.set_brush(window.state.brush + 1)


@command("Ctrl+Z", "Undo the last action", repeats=True, name="undo")
def undo(window: Window) -> None:
    if window.editor.cancel():
        window.say("Stroke cancelled")
        return
    done = window.session.history.undo()
    window.tell(f"Undid: {done}" if done else "There is nothing to undo")


@command("Ctrl+Y Ctrl+Shift+Z", "Redo the last undone action", repeats=True, name="redo")
def redo(window: Window) -> None:
    done = window.session.history.redo()
    window.tell(f"Redid: {done}" if done else "There is nothing to redo")


@command("Alt+Z", "Show the undo history", name="history")
def history(window: Window) -> None:
    window.show(HistoryList(window.dialogs))


@command("Ctrl+Delete", "Remove all map edits (can be undone)", name="clear_edits")
def clear_edits(window: Window) -> None:
    if not painting.take_edits_back(window.session):
        window.tell("The map has no edits")


def _switch_command(number: int) -> Action:
    """Return the function of the command that blocks or frees a switch; `number` counts the map's switches from 1."""

    def flip(window: Window) -> None:
        names = list(window.session.run.world.switches)
        if number <= len(names):
            window.tell(turning.flip_switch(window.session, names[number - 1]))
        else:
            window.say(f"This map has no switch {number}")

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


command("Ctrl+Left", "Move the cell cursor left", repeats=True, name="cursor_left")(_cursor(-1, 0))
command("Ctrl+Right", "Move the cell cursor right", repeats=True, name="cursor_right")(_cursor(1, 0))
command("Ctrl+Up", "Move the cell cursor up", repeats=True, name="cursor_up")(_cursor(0, -1))
command("Ctrl+Down", "Move the cell cursor down", repeats=True, name="cursor_down")(_cursor(0, 1))


@command("Ctrl+Return", "Block or free the cell at the cell cursor", name="paint_cursor")
def paint_cursor(window: Window) -> None:
    if window.state.cursor is not None:
        window.editor.toggle(window.state.cursor)


@command("Ctrl+Shift+Return", "Move the start to the cell cursor (starts over at tick 0)", name="start_here")
def start_here(window: Window) -> None:
    if window.state.cursor is not None:
        window.editor.drop_start(window.state.cursor)


@command("Alt+Return", "Move the goal to the cell cursor", name="goal_here")
def goal_here(window: Window) -> None:
    if window.state.cursor is not None:
        window.editor.drop_goal(window.state.cursor)


@command("Alt+Shift+Return", "Move the goal of the focused crowd to the cell cursor", name="goal_of_crowd_here")
def goal_of_crowd_here(window: Window) -> None:
    if window.session.run.crowd(window.session.focused_key) is None:
        window.say("The focused panel shows a single agent, not a crowd")
    elif window.state.cursor is None:
        window.say("There is no cell cursor yet. {key:cursor_right} shows it.")
    else:
        window.editor.drop_goal_of_crowd(window.state.cursor)


@command("Alt+G", "Switch to the next movement rule (starts over at tick 0)", name="next_rule")
def next_rule(window: Window) -> None:
    turning.turn_rule(window.session, 1)


@command("Alt+C", "Turn random map changes on or off", name="random_changes")
def random_changes(window: Window) -> None:
    is_on = window.session.run.world.random_changes.rate > 0
    window.session.do(SetChanges(window.state.change_interval, 0.0 if is_on else window.state.change_rate))
    window.say(
        "Random changes are off"
        if is_on
        else f"Random changes: {window.state.change_rate:g} % every {window.state.change_interval} ticks"
    )


@command("Alt+=", "Increase the rate of random changes", name="more_changes")
def more_changes(window: Window) -> None:
    turning.turn_change_rate(window.session, window.state, 1)


@command("Alt+-", "Decrease the rate of random changes", name="fewer_changes")
def fewer_changes(window: Window) -> None:
    turning.turn_change_rate(window.session, window.state, -1)
