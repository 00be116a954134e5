"""Editing the map, by mouse tools and by the cell cursor, and what changes it by itself."""

from typing import TYPE_CHECKING

from sim.commands import SetChanges
from ui.model.command import EDIT, Action, Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Editing")


@command("M", "Edit mode: letters choose tools")
def edit_mode(app: "App") -> None:
    if app.is_editing:
        app.leave_edit_mode()
        return
    app.is_editing, app.has_hand = True, False
    app.settings.sidebar_tab = "edit"


def _tool(name: str) -> Action:
    def choose(app: "App") -> None:
        app.set_tool(name)

    return choose


command("B", "Brush: first cell decides, block or free", mode=EDIT, name="tool_brush")(_tool("brush"))
command("E", "Eraser: free cells", mode=EDIT, name="tool_eraser")(_tool("eraser"))
command("L", "Line", mode=EDIT, name="tool_line")(_tool("line"))
command("R", "Rectangle", mode=EDIT, name="tool_rectangle")(_tool("rectangle"))
command("F", "Flood fill", mode=EDIT, name="tool_fill")(_tool("fill"))


@command("[", "Smaller brush", mode=EDIT, repeats=True)
def smaller_brush(app: "App") -> None:
    app.set_brush(app.editor.size - 1)


@command("]", "Larger brush", mode=EDIT, repeats=True)
def larger_brush(app: "App") -> None:
    app.set_brush(app.editor.size + 1)


@command("Ctrl+Z", "Undo the last stroke", repeats=True)
def undo(app: "App") -> None:
    if not app.session.undo():
        app.say("nothing to undo")


@command("Ctrl+Y Ctrl+Shift+Z", "Redo", repeats=True)
def redo(app: "App") -> None:
    if not app.session.redo():
        app.say("nothing to redo")


@command("Ctrl+Delete", "Take all edits back (can be undone)")
def clear_edits(app: "App") -> None:
    app.session.take_edits_back()


def _switch(number: int) -> Action:
    def flip(app: "App") -> None:
        names = list(app.session.scenario.switches)
        if number <= len(names):
            app.flip_switch(names[number - 1])
        else:
            app.say(f"this map has no switch {number}")

    return flip


for _n in range(1, 10):
    command(f"Shift+{_n}", f"Block or free switch {_n}", name=f"switch_{_n}")(_switch(_n))


def _cursor(dx: int, dy: int) -> Action:
    def move(app: "App") -> None:
        app.move_cursor(dx, dy)

    return move


command("Ctrl+Left", "Cell cursor left", repeats=True, name="cursor_left")(_cursor(-1, 0))
command("Ctrl+Right", "Cell cursor right", repeats=True, name="cursor_right")(_cursor(1, 0))
command("Ctrl+Up", "Cell cursor up", repeats=True, name="cursor_up")(_cursor(0, -1))
command("Ctrl+Down", "Cell cursor down", repeats=True, name="cursor_down")(_cursor(0, 1))


@command("Ctrl+Return", "Block or free the cell under the cursor")
def paint_cursor(app: "App") -> None:
    if app.cursor is not None:
        app.editor.toggle(app.cursor)


@command("Ctrl+Shift+Return", "Start at the cell cursor (back to tick 0)")
def start_here(app: "App") -> None:
    if app.cursor is not None:
        app.editor.drop_start(app.cursor)


@command("Alt+Return", "Goal at the cell cursor")
def goal_here(app: "App") -> None:
    if app.cursor is not None:
        app.editor.drop_goal(app.cursor)


@command("Alt+C", "Random changes of the map on or off")
def random_changes(app: "App") -> None:
    is_on = app.session.world.random_changes.rate > 0
    app.session.do(SetChanges(app.change_interval, 0.0 if is_on else app.change_rate))
    app.say(
        "random changes off" if is_on else f"random changes: {app.change_rate:g} % every {app.change_interval} ticks"
    )


@command("Alt+=", "Higher rate of random changes")
def more_changes(app: "App") -> None:
    app.step_change_rate(1)


@command("Alt+-", "Lower rate of random changes")
def fewer_changes(app: "App") -> None:
    app.step_change_rate(-1)
