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


@command("Space P", "Run or pause; at the end of the run, replay from tick 0", name="play")
def play(window: Window) -> None:
    if window.player.clock.is_running:
        window.player.pause()
        window.session.until = None
    else:
        if window.session.run.is_over and window.session.tick:
            window.player.seek(0)
            key = window.desk.key_of("reset")
            window.say("Replaying from tick 0." + (f" Press {key} to start over." if key else ""))
        window.player.play()


def _step(window: Window, ticks: int) -> None:
    """Pause, and advance by a number of ticks; notify the user if the run cannot advance."""
    window.player.pause()
    if window.state.preparing:
        window.say("The data of an agent is still being prepared")
        return
    if window.session.advance(ticks) == 0 and window.session.run.is_over:
        window.say("The run is over: no agent can move any more")
    window.player.reveal = None


@command(". Right O", "Step one tick forward", repeats=True, name="step")
def step(window: Window) -> None:
    _step(window, 1)


@command("Shift+Right", "Step ten ticks forward", repeats=True)
def step_10(window: Window) -> None:
    _step(window, 10)


@command("PageDown", "Step a hundred ticks forward", repeats=True)
def step_100(window: Window) -> None:
    _step(window, 100)


def _seek_by_ticks(window: Window, ticks: int) -> None:
    """Seek by a number of ticks from the current tick; a negative number seeks backwards."""
    if ticks < 0 and window.session.tick == 0:
        window.say("The run is at tick 0 already")
    window.player.seek(window.session.tick + ticks)


@command(", Left", "Step one tick back", repeats=True)
def step_back(window: Window) -> None:
    _seek_by_ticks(window, -1)


@command("Shift+Left", "Step ten ticks back", repeats=True)
def step_back_10(window: Window) -> None:
    _seek_by_ticks(window, -10)


@command("PageUp", "Step a hundred ticks back", repeats=True)
def step_back_100(window: Window) -> None:
    _seek_by_ticks(window, -100)


@command("Home", "Go to tick 0", name="to_start")
def to_start(window: Window) -> None:
    window.player.seek(0)


@command("End", "Go to the last recorded tick", name="to_end")
def to_end(window: Window) -> None:
    window.player.seek(window.session.run.end)


def _seek_to_mark(window: Window, tick: int | None) -> None:
    """Seek to the tick of a mark; None: notify the user that there is no further mark."""
    if tick is None:
        window.say("No further edit, restart or arrival is recorded in that direction")
    else:
        window.player.seek(tick)


@command("[", "Go to the previous edit, restart or arrival", mode=RUN, repeats=True, name="previous_mark")
def previous_mark(window: Window) -> None:
    _seek_to_mark(window, window.session.run.timeline.previous_mark(window.session.tick, MAIN_MARKS))


@command("]", "Go to the next edit, restart or arrival", mode=RUN, repeats=True, name="next_mark")
def next_mark(window: Window) -> None:
    _seek_to_mark(window, window.session.run.timeline.next_mark(window.session.tick, MAIN_MARKS))


@command("Shift+Space", "Play backwards")
def play_backwards(window: Window) -> None:
    window.player.play_backwards()


@command("- <", "Slow down", repeats=True, name="slower")
def slower(window: Window) -> None:
    window.player.set_speed(clock.slower(window.player.speed))


@command("= + >", "Speed up", repeats=True, name="faster")
def faster(window: Window) -> None:
    window.player.set_speed(clock.faster(window.player.speed))


@command("U", "Turn full speed on or off", mode=RUN, name="full_speed")
def full_speed(window: Window) -> None:
    if window.player.speed == clock.AS_FAST_AS_POSSIBLE:
        window.player.set_speed(window.player.last_speed)
    else:
        window.player.last_speed = window.player.speed
        window.player.set_speed(clock.AS_FAST_AS_POSSIBLE)


@command("S", "Turn slow motion on or off (one expansion at a time)", mode=RUN, name="slow_motion")
def slow_motion(window: Window) -> None:
    window.player.is_slow_motion = not window.player.is_slow_motion
    window.player.reveal = None
    if window.player.is_slow_motion:
        window.say_if_too_narrow("the pseudocode")
        if window.scene.layers.heat.kind != "off":
            window.say("Slow motion shows the search. The heat map comes back when slow motion ends.")


@command("Ctrl+.", "Step one expansion forward (slow motion)", repeats=True)
def step_expansion(window: Window) -> None:
    window.player.pause()
    window.player.is_slow_motion = True
    if not window.state.preparing:
        window.player.step_expansion()


@command("Alt+M", "Run until the focused agent's next move", name="until_move")
def until_move(window: Window) -> None:
    window.player.run_until("until_move", "move")


@command("Alt+B", "Run until the next back-move", name="until_back_move")
def until_back_move(window: Window) -> None:
    window.player.run_until("until_back_move", "back_move")


@command("Alt+R", "Run until the next restart", name="until_restart")
def until_restart(window: Window) -> None:
    window.player.run_until("until_restart", "restart")


@command("Alt+A", "Run until the next arrival", name="until_arrival")
def until_arrival(window: Window) -> None:
    window.player.run_until("until_arrival", "arrival")


@command("Alt+T", "Run until a given tick", name="until_tick")
def until_tick(window: Window) -> None:
    def go(tick: int) -> None:
        window.player.run_until("until_tick", None, tick)

    window.show(
        NumberPrompt(window.dialogs, "Run until tick", window.session.tick + 100, go, low=window.session.tick + 1)
    )


@command("R", "Start over at tick 0 on the original map", mode=RUN, name="reset")
def reset(window: Window) -> None:
    window.session.reset(keeps_map=False)
    window.player.reveal = None


@command("Ctrl+R", "Start over at tick 0 on the edited map", name="reset_keep_map")
def reset_keep_map(window: Window) -> None:
    window.session.reset(keeps_map=True)
    window.player.reveal = None
