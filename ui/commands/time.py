"""Commands for time: run, pause, step, seek, set the speed, run until a condition, and reset."""

from sim.time.recorded import MarkKind
from ui.commands.window import Window
from ui.dialogs.number import NumberPrompt
from ui.model import clock
from ui.model.command import RUN, Topic

command = Topic("Time")

MAIN_MARKS = (MarkKind.EDIT, MarkKind.RESTART, MarkKind.NO_PATH, MarkKind.ARRIVAL)
"""Kinds of marks of the timeline at which the keys [ and ] stop. Back-moves are left out because there are too many of
them; the command `until_back_move` finds the next one."""


@command("Space P", "Run or pause; at the end of a run, replay it from tick 0")
def play(window: Window) -> None:
    if window.player.clock.is_running:
        window.player.pause()
        window.session.until = None
    else:
        if window.session.run.is_over and window.session.tick:
            window.player.seek(0)
            key = window.desk.key_of("reset")
            window.say("Replaying from tick 0." + (f" Press {key} to begin a new run." if key else ""))
        window.player.play()


def _step(window: Window, ticks: int) -> None:
    """Pause, and advance by a number of ticks; notify the user if the run cannot advance."""
    window.player.pause()
    if window.state.preparing:
        window.say("an agent is still being prepared")
        return
    if window.session.advance(ticks) == 0 and window.session.run.is_over:
        window.say("nothing can happen any more: every agent is at its end")
    window.player.reveal = None


@command(". Right O", "One tick forward", repeats=True)
def step(window: Window) -> None:
    _step(window, 1)


@command("Shift+Right", "Ten ticks forward", repeats=True)
def step_10(window: Window) -> None:
    _step(window, 10)


@command("PageDown", "A hundred ticks forward", repeats=True)
def step_100(window: Window) -> None:
    _step(window, 100)


def _seek_by_ticks(window: Window, ticks: int) -> None:
    """Seek by a number of ticks from the current tick; a negative number seeks backwards."""
    if ticks < 0 and window.session.tick == 0:
        window.say("this is tick 0")
    window.player.seek(window.session.tick + ticks)


@command(", Left", "One tick back", repeats=True)
def step_back(window: Window) -> None:
    _seek_by_ticks(window, -1)


@command("Shift+Left", "Ten ticks back", repeats=True)
def step_back_10(window: Window) -> None:
    _seek_by_ticks(window, -10)


@command("PageUp", "A hundred ticks back", repeats=True)
def step_back_100(window: Window) -> None:
    _seek_by_ticks(window, -100)


@command("Home", "To tick 0")
def to_start(window: Window) -> None:
    window.player.seek(0)


@command("End", "To the end of what was recorded")
def to_end(window: Window) -> None:
    window.player.seek(window.session.run.end)


def _seek_to_mark(window: Window, tick: int | None) -> None:
    """Seek to the tick of a mark; None: notify the user that there is no further mark."""
    if tick is None:
        window.say("no further edit, restart or arrival is recorded in that direction")
    else:
        window.player.seek(tick)


@command("[", "Back to the previous edit, restart or end", mode=RUN, repeats=True)
def previous_mark(window: Window) -> None:
    _seek_to_mark(window, window.session.run.timeline.previous_mark(window.session.tick, MAIN_MARKS))


@command("]", "On to the next mark", mode=RUN, repeats=True)
def next_mark(window: Window) -> None:
    _seek_to_mark(window, window.session.run.timeline.next_mark(window.session.tick, MAIN_MARKS))


@command("Shift+Space", "Play backwards")
def play_backwards(window: Window) -> None:
    window.player.play_backwards()


@command("- <", "Slower", repeats=True)
def slower(window: Window) -> None:
    window.player.set_speed(clock.slower(window.player.speed))


@command("= + >", "Faster", repeats=True)
def faster(window: Window) -> None:
    window.player.set_speed(clock.faster(window.player.speed))


@command("U", "As fast as possible, or back", mode=RUN)
def full_speed(window: Window) -> None:
    if window.player.speed == clock.AS_FAST_AS_POSSIBLE:
        window.player.set_speed(window.player.last_speed)
    else:
        window.player.last_speed = window.player.speed
        window.player.set_speed(clock.AS_FAST_AS_POSSIBLE)


@command("S", "Slow motion, one expansion at a time", mode=RUN)
def slow_motion(window: Window) -> None:
    window.player.is_slow_motion = not window.player.is_slow_motion
    window.player.reveal = None
    if window.player.is_slow_motion:
        window.say_if_too_narrow("the lines of the algorithm")
        if window.scene.layers.heat.kind != "off":
            window.say("slow motion shows the search; the heat comes back when it ends")


@command("Ctrl+.", "One expansion forward (slow motion)", repeats=True)
def step_expansion(window: Window) -> None:
    window.player.pause()
    window.player.is_slow_motion = True
    if not window.state.preparing:
        window.player.step_expansion()


@command("Alt+M", "Run until the focused agent's next move")
def until_move(window: Window) -> None:
    window.player.run_until("until_move", "move")


@command("Alt+B", "Run until any next back-move")
def until_back_move(window: Window) -> None:
    window.player.run_until("until_back_move", "back_move")


@command("Alt+R", "Run until any next restart")
def until_restart(window: Window) -> None:
    window.player.run_until("until_restart", "restart")


@command("Alt+A", "Run until the next arrival")
def until_arrival(window: Window) -> None:
    window.player.run_until("until_arrival", "arrival")


@command("Alt+T", "Run until a given tick")
def until_tick(window: Window) -> None:
    def go(tick: int) -> None:
        window.player.run_until("until_tick", None, tick)

    window.show(
        NumberPrompt(window.dialogs, "Run until tick", window.session.tick + 100, go, low=window.session.tick + 1)
    )


@command("R", "Begin again at tick 0, on the map as it was then", mode=RUN)
def reset(window: Window) -> None:
    window.session.reset(keeps_map=False)
    window.player.reveal = None


@command("Ctrl+R", "Begin again at tick 0, on the map as edited")
def reset_keep_map(window: Window) -> None:
    window.session.reset(keeps_map=True)
    window.player.reveal = None
