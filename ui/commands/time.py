"""Time: running, stepping, winding, and when to stop."""

from typing import TYPE_CHECKING

from sim.time.recorded import MarkKind
from ui.dialogs.number import NumberPrompt
from ui.model import clock
from ui.model.command import RUN, Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Time")

MAIN_MARKS = (MarkKind.EDIT, MarkKind.RESTART, MarkKind.NO_PATH, MarkKind.ARRIVAL)
"""Where [ and ] stop. Back-moves are too many to stop at each; "run until" finds the next."""


@command("Space P", "Run or pause")
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
    if app.unprepared():
        app.say("an agent is still being prepared")
        return
    if app.session.advance(ticks) == 0 and app.session.is_over:
        app.say("nothing can happen any more: every agent is at its end")
    app.reveal = None


@command(". Right O", "One tick forward", repeats=True)
def step(app: "App") -> None:
    _step(app, 1)


@command("Shift+Right", "Ten ticks forward", repeats=True)
def step_10(app: "App") -> None:
    _step(app, 10)


@command("PageDown", "A hundred ticks forward", repeats=True)
def step_100(app: "App") -> None:
    _step(app, 100)


def _seek_by(app: "App", ticks: int) -> None:
    if ticks < 0 and app.session.tick == 0:
        app.say("this is tick 0")
    app.seek(app.session.tick + ticks)


@command(", Left", "One tick back", repeats=True)
def step_back(app: "App") -> None:
    _seek_by(app, -1)


@command("Shift+Left", "Ten ticks back", repeats=True)
def step_back_10(app: "App") -> None:
    _seek_by(app, -10)


@command("PageUp", "A hundred ticks back", repeats=True)
def step_back_100(app: "App") -> None:
    _seek_by(app, -100)


@command("Home", "To tick 0")
def to_start(app: "App") -> None:
    app.seek(0)


@command("End", "To the end of what was recorded")
def to_end(app: "App") -> None:
    app.seek(app.session.recorded_end)


def _seek_mark(app: "App", tick: int | None) -> None:
    if tick is None:
        app.say("no further edit, restart or arrival is recorded in that direction")
    else:
        app.seek(tick)


@command("[", "Back to the previous edit, restart or end", mode=RUN, repeats=True)
def previous_mark(app: "App") -> None:
    _seek_mark(app, app.session.timeline.previous_mark(app.session.tick, MAIN_MARKS))


@command("]", "On to the next mark", mode=RUN, repeats=True)
def next_mark(app: "App") -> None:
    _seek_mark(app, app.session.timeline.next_mark(app.session.tick, MAIN_MARKS))


@command("Shift+Space", "Play backwards")
def play_backwards(app: "App") -> None:
    app.play_backwards()


@command("- <", "Slower", repeats=True)
def slower(app: "App") -> None:
    app.set_speed(clock.slower(app.speed))


@command("= + >", "Faster", repeats=True)
def faster(app: "App") -> None:
    app.set_speed(clock.faster(app.speed))


@command("U", "As fast as possible, or back", mode=RUN)
def full_speed(app: "App") -> None:
    if app.speed == clock.AS_FAST_AS_POSSIBLE:
        app.set_speed(app.last_speed)
    else:
        app.last_speed = app.speed
        app.set_speed(clock.AS_FAST_AS_POSSIBLE)


@command("S", "Slow motion, one expansion at a time", mode=RUN)
def slow_motion(app: "App") -> None:
    app.is_slow_motion = not app.is_slow_motion
    app.reveal = None


@command("Ctrl+.", "One expansion forward (slow motion)", repeats=True)
def step_expansion(app: "App") -> None:
    app.pause()
    app.is_slow_motion = True
    if not app.unprepared():
        app.step_expansion()


@command("Alt+M", "Run until the focused agent's next move")
def until_move(app: "App") -> None:
    app.run_until("until_move", "move")


@command("Alt+B", "Run until any next back-move")
def until_back_move(app: "App") -> None:
    app.run_until("until_back_move", "back_move")


@command("Alt+R", "Run until any next restart")
def until_restart(app: "App") -> None:
    app.run_until("until_restart", "restart")


@command("Alt+A", "Run until the next arrival")
def until_arrival(app: "App") -> None:
    app.run_until("until_arrival", "arrival")


@command("Alt+T", "Run until a given tick")
def until_tick(app: "App") -> None:
    def go(tick: int) -> None:
        app.run_until("until_tick", None, tick)

    app.show(NumberPrompt(app, "Run until tick", app.session.tick + 100, go, low=app.session.tick + 1))


@command("R", "Begin again at tick 0, on the map as it was then", mode=RUN)
def reset(app: "App") -> None:
    app.session.reset(keeps_map=False)
    app.reveal = None


@command("Ctrl+R", "Begin again at tick 0, on the map as edited")
def reset_keep_map(app: "App") -> None:
    app.session.reset(keeps_map=True)
    app.reveal = None
