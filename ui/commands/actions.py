"""What each command of the key table does. One small function a command, named after its id."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim import commands
from sim.params import ConfigError
from sim.time.recorded import MarkKind
from ui.commands.keys import BY_ID
from ui.dialogs.agent_editor import AgentEditor
from ui.dialogs.comparison import ComparisonTable
from ui.dialogs.file_browser import OpenFile, SaveFile
from ui.dialogs.gallery import Gallery
from ui.dialogs.generator import GenerateMap
from ui.dialogs.help import HelpOverlay
from ui.dialogs.message import MessageBox
from ui.dialogs.number import NumberPrompt
from ui.dialogs.palette import CommandPalette
from ui.dialogs.problems import ProblemList
from ui.dialogs.recent import RecentFiles
from ui.dialogs.split import SplitPolicy
from ui.dialogs.text_prompt import TextPrompt
from ui.dialogs.worst_block import WorstBlock
from ui.draw.layers import LAYERS, Layer
from ui.model import clock, files, wording
from ui.model.cameras import PAN_STEP_PX
from ui.panels import tab_layers

if TYPE_CHECKING:
    from ui.app import App

Action = Callable[["App"], None]
ACTIONS: dict[str, Action] = {}
MAIN_MARKS = (MarkKind.EDIT, MarkKind.RESTART, MarkKind.NO_PATH, MarkKind.ARRIVAL)
"""Where [ and ] stop. Back-moves are too many to stop at each; "run until" finds the next."""


def action(function: Action) -> Action:
    """Register a function as the action of the command with its name."""
    assert function.__name__ in BY_ID, function.__name__
    ACTIONS[function.__name__] = function
    return function


def perform(app: "App", command_id: str) -> None:
    ACTIONS[command_id](app)


# --- time -----------------------------------------------------------------------------------------


@action
def play(app: "App") -> None:
    if app.clock.is_running:
        app.pause()
        app.session.run_until(None)
    else:
        if app.session.is_over and app.session.tick:
            app.session.reset(keeps_map=True)
        app.play()


def _step(app: "App", ticks: int) -> None:
    app.pause()
    if app.session.advance(ticks) == 0 and app.session.is_over:
        app.say("nothing can happen any more: every agent is at its end")
    app.reveal = None


@action
def step(app: "App") -> None:
    _step(app, 1)


@action
def step_10(app: "App") -> None:
    _step(app, 10)


@action
def step_100(app: "App") -> None:
    _step(app, 100)


def _seek_by(app: "App", ticks: int) -> None:
    if ticks < 0 and app.session.tick == 0:
        app.say("this is tick 0")
    app.seek(app.session.tick + ticks)


@action
def step_back(app: "App") -> None:
    _seek_by(app, -1)


@action
def step_back_10(app: "App") -> None:
    _seek_by(app, -10)


@action
def step_back_100(app: "App") -> None:
    _seek_by(app, -100)


@action
def to_start(app: "App") -> None:
    app.seek(0)


@action
def to_end(app: "App") -> None:
    app.seek(app.session.recorded_end)


@action
def previous_mark(app: "App") -> None:
    _seek_mark(app, app.session.timeline.previous_mark(app.session.tick, MAIN_MARKS))


@action
def next_mark(app: "App") -> None:
    _seek_mark(app, app.session.timeline.next_mark(app.session.tick, MAIN_MARKS))


def _seek_mark(app: "App", tick: int | None) -> None:
    if tick is None:
        app.say("no further edit, restart or arrival is recorded in that direction")
    else:
        app.seek(tick)


@action
def play_backwards(app: "App") -> None:
    app.play_backwards()


@action
def slower(app: "App") -> None:
    app.set_speed(clock.slower(app.speed))


@action
def faster(app: "App") -> None:
    app.set_speed(clock.faster(app.speed))


@action
def full_speed(app: "App") -> None:
    if app.speed == clock.AS_FAST_AS_POSSIBLE:
        app.set_speed(app.last_speed)
    else:
        app.last_speed = app.speed
        app.set_speed(clock.AS_FAST_AS_POSSIBLE)


@action
def slow_motion(app: "App") -> None:
    app.is_slow_motion = not app.is_slow_motion
    app.reveal = None


@action
def step_expansion(app: "App") -> None:
    app.pause()
    app.is_slow_motion = True
    app.step_expansion()


@action
def until_move(app: "App") -> None:
    app.run_until("until_move", "move")


@action
def until_back_move(app: "App") -> None:
    app.run_until("until_back_move", "back_move")


@action
def until_restart(app: "App") -> None:
    app.run_until("until_restart", "restart")


@action
def until_arrival(app: "App") -> None:
    app.run_until("until_arrival", "arrival")


@action
def until_tick(app: "App") -> None:
    def go(tick: int) -> None:
        app.run_until("until_tick", None, tick)

    app.show(NumberPrompt(app, "Run until tick", app.session.tick + 100, go, low=app.session.tick + 1))


@action
def reset(app: "App") -> None:
    app.session.reset(keeps_map=False)
    app.reveal = None


@action
def reset_keep_map(app: "App") -> None:
    app.session.reset(keeps_map=True)
    app.reveal = None


# --- panels ---------------------------------------------------------------------------------------


def _focus_number(number: int) -> Action:
    def focus(app: "App") -> None:
        walkers = app.session.snapshot.walkers
        if number <= len(walkers):
            app.session.focus(walkers[number - 1].id)

    return focus


ACTIONS |= {f"focus_{n}": _focus_number(n) for n in range(1, 9)}


def _focus_by(app: "App", step: int) -> None:
    walkers = app.session.snapshot.walkers
    if walkers:
        here = app.session.panel_of(app.session.focused_id)
        app.session.focus(walkers[(here + step) % len(walkers)].id)


@action
def next_panel(app: "App") -> None:
    _focus_by(app, 1)


@action
def previous_panel(app: "App") -> None:
    _focus_by(app, -1)


@action
def edit_agent(app: "App") -> None:
    if app.session.focused:
        app.edit_agent(app.session.focused_id)


def _has_room(app: "App") -> bool:
    if len(app.session.panels) < 8:
        return True
    app.say("eight panels are the most; remove one first (Delete)")
    return False


@action
def add_agent(app: "App") -> None:
    if _has_room(app):
        app.show(AgentEditor(app, None))


@action
def duplicate_agent(app: "App") -> None:
    walker = app.session.focused
    if walker and _has_room(app):
        label = wording.next_label(walker.label, {other.label for other in app.session.world.walkers})
        app.session.add_agent(commands.AgentConfig(walker.spec.key, label, dict(walker.params), walker.budget))


@action
def remove_agent(app: "App") -> None:
    if app.session.focused:
        app.remove_agent(app.session.focused_id)


@action
def move_panel_left(app: "App") -> None:
    app.session.move_panel(app.session.focused_id, -1)


@action
def move_panel_right(app: "App") -> None:
    app.session.move_panel(app.session.focused_id, 1)


@action
def maximise(app: "App") -> None:
    app.is_maximised = not app.is_maximised


def _step_weight(app: "App", step: int) -> None:
    walker = app.session.focused
    param = walker.spec.param("weight") if walker else None
    if walker is None or param is None:
        app.say("the focused agent has no weight")
        return
    app.step_param(walker.id, param, step)


@action
def raise_weight(app: "App") -> None:
    _step_weight(app, 1)


@action
def lower_weight(app: "App") -> None:
    _step_weight(app, -1)


@action
def raise_budget(app: "App") -> None:
    app.set_budget(app.session.world.budget * 2)


@action
def lower_budget(app: "App") -> None:
    app.set_budget(app.session.world.budget // 2)


# --- view -----------------------------------------------------------------------------------------


@action
def fit(app: "App") -> None:
    app.cameras.follows = False
    app.cameras.fit(app.session.focused_id)


@action
def zoom_reset(app: "App") -> None:
    fit(app)


@action
def zoom_in(app: "App") -> None:
    app.zoom(1.25)


@action
def zoom_out(app: "App") -> None:
    app.zoom(0.8)


@action
def pan_left(app: "App") -> None:
    app.pan(PAN_STEP_PX, 0)


@action
def pan_right(app: "App") -> None:
    app.pan(-PAN_STEP_PX, 0)


@action
def pan_up(app: "App") -> None:
    app.pan(0, PAN_STEP_PX)


@action
def pan_down(app: "App") -> None:
    app.pan(0, -PAN_STEP_PX)


@action
def link_cameras(app: "App") -> None:
    app.cameras.toggle_link(app.session.focused_id)
    app.say("cameras linked" if app.cameras.is_linked else "every panel has its own camera")


@action
def follow(app: "App") -> None:
    app.cameras.follows = not app.cameras.follows
    app.say("the camera follows the agents" if app.cameras.follows else "the camera stays")


@action
def hand(app: "App") -> None:
    app.has_hand = not app.has_hand


@action
def next_heat(app: "App") -> None:
    tab_layers.next_heat(app)


@action
def heat_scale(app: "App") -> None:
    app.layers.heat = replace(app.layers.heat, is_log=not app.layers.heat.is_log)


@action
def heat_colours(app: "App") -> None:
    tab_layers.next_colours(app)


@action
def theme(app: "App") -> None:
    app.set_theme("light" if app.palette.name == "dark" else "dark")


@action
def ui_larger(app: "App") -> None:
    app.set_scale(app.next_scale(1))


@action
def ui_smaller(app: "App") -> None:
    app.set_scale(app.next_scale(-1))


@action
def hide_ui(app: "App") -> None:
    app.is_bare = not app.is_bare


@action
def full_screen(app: "App") -> None:
    app.toggle_full_screen()


def _tab(key: str) -> Action:
    def choose(app: "App") -> None:
        is_same = app.settings.sidebar_tab == key and app.settings.shows_sidebar
        app.settings.shows_sidebar = not is_same
        app.settings.sidebar_tab = key
        if app.settings.shows_sidebar and not app.is_bare and app.layout.sidebar is None:
            app.say("the window is too narrow for the sidebar at this text size")

    return choose


ACTIONS |= {f"tab_{key}": _tab(key) for key in ("layers", "edit", "inspect", "compare", "time")}


@action
def pin_cell(app: "App") -> None:
    point = app.pointer.hover or app.cursor
    if point is not None:
        app.pin(point)
    elif app.pinned is not None:
        app.pinned = None
    else:
        app.say("nothing to pin: point at a cell, or choose one with Ctrl and the arrow keys")


@action
def compare_table(app: "App") -> None:
    app.show(ComparisonTable(app))


def _layer(layer: Layer) -> Action:
    return lambda app: app.layers.toggle(layer)


ACTIONS |= {f"layer_{layer.key}": _layer(layer) for layer in LAYERS}


# --- branches -------------------------------------------------------------------------------------


@action
def branch(app: "App") -> None:
    made = app.session.branch_here()
    app.settings.sidebar_tab = "time"
    app.say(f'"{made.name}" begins at tick {made.at:,}; edits go to the focused branch')


@action
def branch_always(app: "App") -> None:
    branch(app)


@action
def split_policy(app: "App") -> None:
    if app.session.focused is not None:
        app.show(SplitPolicy(app))


@action
def next_branch(app: "App") -> None:
    numbers = list(app.session.tree.branches)
    here = numbers.index(app.session.branch)
    app.session.show_branch(numbers[(here + 1) % len(numbers)])


@action
def compare_branch(app: "App") -> None:
    if app.session.compare_with_parent():
        app.set_heat_kind("difference")
    else:
        app.say("the first branch has no parent")


@action
def hide_branch(app: "App") -> None:
    app.session.hide_branch(app.session.branch)


@action
def rename_branch(app: "App") -> None:
    chosen = app.session.tree[app.session.branch]
    app.show(
        TextPrompt(app, "Rename the branch", chosen.name, lambda name: app.session.rename_branch(chosen.number, name))
    )


@action
def delete_branch(app: "App") -> None:
    try:
        app.session.delete_branch(app.session.branch)
    except ConfigError as error:
        app.say(error.problems[0])


@action
def worst_block(app: "App") -> None:
    app.show(WorstBlock(app))


# --- editing --------------------------------------------------------------------------------------


@action
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


ACTIONS |= {f"tool_{name}": _tool(name) for name in ("brush", "eraser", "line", "rectangle", "fill")}


@action
def smaller_brush(app: "App") -> None:
    app.set_brush(app.editor.size - 1)


@action
def larger_brush(app: "App") -> None:
    app.set_brush(app.editor.size + 1)


@action
def undo(app: "App") -> None:
    if not app.session.undo():
        app.say("nothing to undo")


@action
def redo(app: "App") -> None:
    if not app.session.redo():
        app.say("nothing to redo")


@action
def clear_edits(app: "App") -> None:
    app.session.take_edits_back()


def _switch(number: int) -> Action:
    def flip(app: "App") -> None:
        names = list(app.session.setup.switches)
        if number <= len(names):
            app.flip_switch(names[number - 1])
        else:
            app.say(f"this map has no switch {number}")

    return flip


ACTIONS |= {f"switch_{n}": _switch(n) for n in range(1, 10)}


def _cursor(dx: int, dy: int) -> Action:
    def move(app: "App") -> None:
        app.move_cursor(dx, dy)

    return move


ACTIONS |= {
    "cursor_left": _cursor(-1, 0),
    "cursor_right": _cursor(1, 0),
    "cursor_up": _cursor(0, -1),
    "cursor_down": _cursor(0, 1),
}


@action
def paint_cursor(app: "App") -> None:
    if app.cursor is not None:
        app.editor.toggle(app.cursor)


@action
def start_here(app: "App") -> None:
    if app.cursor is not None:
        app.editor.drop_start(app.cursor)


@action
def goal_here(app: "App") -> None:
    if app.cursor is not None:
        app.editor.drop_goal(app.cursor)


@action
def random_changes(app: "App") -> None:
    is_on = app.session.world.random_changes.rate > 0
    app.session.do(commands.SetChanges(app.change_interval, 0.0 if is_on else app.change_rate))
    app.say(
        "random changes off" if is_on else f"random changes: {app.change_rate:g} % every {app.change_interval} ticks"
    )


@action
def more_changes(app: "App") -> None:
    app.step_change_rate(1)


@action
def fewer_changes(app: "App") -> None:
    app.step_change_rate(-1)


@action
def more_trials(app: "App") -> None:
    app.step_trials(1)


@action
def fewer_trials(app: "App") -> None:
    app.step_trials(-1)


# --- pictures -------------------------------------------------------------------------------------


def _picture(app: "App", save: Callable[[Any], Path]) -> None:
    from ui.film import pictures  # not sooner: it draws with an App of its own

    try:
        app.say(f"saved {save(pictures)}")
    except ConfigError as error:
        app.complain(error)


@action
def record(app: "App") -> None:
    app.recording.toggle()


@action
def picture_window(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_window(app))


@action
def picture_panel(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_panel(app, app.session.focused_id))


@action
def picture_large(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_panel(app, app.session.focused_id, scale=4))


@action
def picture_svg(app: "App") -> None:
    _picture(app, lambda pictures: pictures.save_svg(app, app.session.focused_id))


@action
def mark_in(app: "App") -> None:
    app.mark_in = app.session.tick
    app.say(f"export from tick {app.mark_in:,} on; Shift+I marks the end, Alt+E exports")


@action
def mark_out(app: "App") -> None:
    app.mark_out = app.session.tick
    app.say(f"export up to tick {app.mark_out:,}; Alt+E exports")


@action
def export_video(app: "App") -> None:
    app.recording.ask_export(app.mark_in or 0, app.mark_out)


# --- files ----------------------------------------------------------------------------------------


@action
def gallery(app: "App") -> None:
    app.show(Gallery(app))


@action
def open(app: "App") -> None:
    app.show(OpenFile(app))


@action
def recent(app: "App") -> None:
    app.show(RecentFiles(app))


@action
def problems(app: "App") -> None:
    if app.problems is None:
        app.say("no problem list is open: open a .scen file (Ctrl+O)")
    else:
        app.show(ProblemList(app))


@action
def generate(app: "App") -> None:
    app.show(GenerateMap(app))


@action
def save_map(app: "App") -> None:
    path = app.session.path
    if path is not None and path.suffix == ".map" and not files.is_shipped(path):
        _save(app, lambda: files.save_map(app.session, path), f"saved {path.name}")
    else:
        save_map_as(app)


@action
def save_map_as(app: "App") -> None:
    app.show(
        SaveFile(
            app,
            "Save the map",
            ".map",
            app.session.world.grid.name,
            lambda path: _save(app, lambda: files.save_map(app.session, path), f"saved {path.name}"),
        )
    )


@action
def save_scenario(app: "App") -> None:
    app.show(
        SaveFile(
            app,
            "Save the scenario",
            ".yaml",
            app.session.setup.title,
            lambda path: _save(
                app,
                lambda: files.save_session_scenario(app.session, path, app.dressing.as_view()),
                f"saved {path.name}",
            ),
        )
    )


@action
def save_session(app: "App") -> None:
    app.save_session()


@action
def export_csv(app: "App") -> None:
    app.show(
        SaveFile(
            app,
            "Export the comparison",
            ".csv",
            f"{app.session.setup.title} tick {app.session.tick}",
            lambda path: _save(app, lambda: files.export_csv(app.session, path), f"wrote {path.name}"),
        )
    )


def _save(app: "App", write: Callable[[], None], done: str) -> None:
    """Save, and say so. What goes wrong is told by the dialog that asked for a name, where there is one."""
    try:
        write()
    except ConfigError as error:
        if isinstance(app.dialog, SaveFile):
            raise
        app.complain(error)
    else:
        app.say(done)


# --- help -----------------------------------------------------------------------------------------


@action
def help(app: "App") -> None:
    app.show(HelpOverlay(app))


@action
def about(app: "App") -> None:
    """What the author of a scenario has to say about it."""
    setup = app.session.setup
    if setup.caption:
        box = MessageBox(app, setup.title, setup.caption)
        box.command = "about"
        app.show(box)
    else:
        app.say("nothing is said about this run; scenario files can have a caption")


@action
def find_command(app: "App") -> None:
    app.show(CommandPalette(app))


@action
def cancel(app: "App") -> None:
    """What Escape means depends on what is going on; it never quits."""
    if app.editor.cancel():
        app.pointer.editing_panel = None
    elif app.session.has_stop_rule:
        app.session.run_until(None)
        app.pause()
    elif app.pinned is not None:
        app.pinned = None
    elif app.cursor is not None:
        app.cursor = None
    elif app.has_hand or app.is_editing:
        app.leave_edit_mode()
    elif app.is_maximised:
        app.is_maximised = False
    elif app.is_bare:
        app.is_bare = False


@action
def quit(app: "App") -> None:
    app.quit()


@action
def next_control(app: "App") -> None:
    app.canvas.focus_next(1)


@action
def previous_control(app: "App") -> None:
    app.canvas.focus_next(-1)


_MISSING = set(BY_ID) - set(ACTIONS)
assert not _MISSING, f"commands without an action: {sorted(_MISSING)}"
