"""Commands for time: run, pause, step, seek, set the speed, run until a condition, and reset."""

from collections.abc import Callable, Sequence

from sim.time.agent_records import MarkKind
from sim.time.run_marks import next_mark_tick, previous_mark_tick
from sim.time.timeline import Timeline
from ui.commands.app_context import AppContext
from ui.dialogs.number_prompt import NumberPrompt
from ui.model import step_clock
from ui.model.ui_command import RUN_MODE, CommandTopic, ContextMenu, DisabledReason, ToggledState, requires

command = CommandTopic("Time")

MARK_KINDS_TO_SEEK = (MarkKind.EDIT, MarkKind.RESTART, MarkKind.NO_PATH, MarkKind.ARRIVAL)
"""Kinds of marks of the timeline at which the keys [ and ] stop. Back-moves are left out because there are too many of
them; the command `run_until_back_move` finds the next one."""


_NEEDS_PAST = requires(lambda view: view.session.tick > 0, "The run is at tick 0 already")
_NEEDS_PREPARED_AGENTS = requires(
    lambda view: not view.ui_state.kinds_in_preparation, "The data of an agent is still being prepared"
)


def _needs_mark(find: Callable[[Timeline, int, Sequence[MarkKind]], int | None]) -> DisabledReason:
    """Return a function that gives a reason unless `find` finds a mark; `find` gets timeline, tick and kinds."""
    return requires(
        lambda view: find(view.session.run.focused_branch_timeline, view.session.tick, MARK_KINDS_TO_SEEK) is not None,
        "No further edit, restart or arrival is recorded in that direction",
    )


@command(
    "Space P",
    "Run or pause; at the end of the run, replay from tick 0",
    is_on=lambda view: view.player.step_clock.is_running,
    synonyms=("play", "start", "stop"),
    name="play",
)
def run_or_pause(window: AppContext) -> None:
    if window.player.step_clock.is_running:
        window.player.pause()
        window.session.stop_condition = None
    else:
        if window.session.run.is_over and window.session.tick:
            window.player.pause_and_seek(0)
            window.notify_user("Replaying from tick 0. {key:reset} starts over.")
        window.player.play()


def _pause_and_step(window: AppContext, ticks: int) -> None:
    """Pause, and advance by a number of ticks; notify the user if the run cannot advance."""
    window.player.pause()
    if window.session.advance_by_ticks(ticks) == 0 and window.session.run.is_over:
        window.notify_user("The run is over: no agent can move any more")
    window.player.slow_motion_expansions = None


@command(". Right O", "Step one tick forward", repeats=True, disabled=_NEEDS_PREPARED_AGENTS, name="step")
def step_one_tick(window: AppContext) -> None:
    _pause_and_step(window, 1)


@command("Shift+Right", "Step ten ticks forward", repeats=True, disabled=_NEEDS_PREPARED_AGENTS)
def step_10(window: AppContext) -> None:
    _pause_and_step(window, 10)


@command("PageDown", "Step a hundred ticks forward", repeats=True, disabled=_NEEDS_PREPARED_AGENTS)
def step_100(window: AppContext) -> None:
    _pause_and_step(window, 100)


def _seek_by_ticks(window: AppContext, ticks: int) -> None:
    """Seek by a number of ticks from the current tick; a negative number seeks backwards."""
    window.player.pause_and_seek(window.session.tick + ticks)


@command(", Left", "Step one tick back", repeats=True, disabled=_NEEDS_PAST)
def step_back(window: AppContext) -> None:
    _seek_by_ticks(window, -1)


@command("Shift+Left", "Step ten ticks back", repeats=True, disabled=_NEEDS_PAST)
def step_back_10(window: AppContext) -> None:
    _seek_by_ticks(window, -10)


@command("PageUp", "Step a hundred ticks back", repeats=True, disabled=_NEEDS_PAST)
def step_back_100(window: AppContext) -> None:
    _seek_by_ticks(window, -100)


@command("Home", "Go to tick 0", disabled=_NEEDS_PAST, synonyms=("begin", "rewind"), name="to_start")
def seek_to_start(window: AppContext) -> None:
    window.player.pause_and_seek(0)


@command("End", "Go to the last recorded tick", name="to_end")
def seek_to_end(window: AppContext) -> None:
    window.player.pause_and_seek(window.session.run.last_reached_tick)


def _seek_to_mark(window: AppContext, tick: int | None) -> None:
    """Seek to the tick of a mark; None: do nothing."""
    if tick is not None:
        window.player.pause_and_seek(tick)


@command(
    "[",
    "Go to the previous edit, restart or arrival",
    mode=RUN_MODE,
    repeats=True,
    disabled=_needs_mark(previous_mark_tick),
    synonyms=("event",),
    name="previous_mark",
)
def seek_to_previous_mark(window: AppContext) -> None:
    _seek_to_mark(
        window, previous_mark_tick(window.session.run.focused_branch_timeline, window.session.tick, MARK_KINDS_TO_SEEK)
    )


@command(
    "]",
    "Go to the next edit, restart or arrival",
    mode=RUN_MODE,
    repeats=True,
    disabled=_needs_mark(next_mark_tick),
    synonyms=("event",),
    name="next_mark",
)
def seek_to_next_mark(window: AppContext) -> None:
    _seek_to_mark(
        window, next_mark_tick(window.session.run.focused_branch_timeline, window.session.tick, MARK_KINDS_TO_SEEK)
    )


@command("Shift+Space", "Play backwards", synonyms=("reverse",))
def play_backwards(window: AppContext) -> None:
    window.player.play_backwards()


@command("- <", "Slow down", repeats=True, name="slower")
def slow_down_playback(window: AppContext) -> None:
    window.player.set_speed(step_clock.next_lower_speed(window.player.speed))


@command("= + >", "Speed up", repeats=True, name="faster")
def speed_up_playback(window: AppContext) -> None:
    window.player.set_speed(step_clock.next_higher_speed(window.player.speed))


@command(
    "U",
    "Turn full speed on or off",
    mode=RUN_MODE,
    is_on=lambda view: view.player.speed == step_clock.AS_FAST_AS_POSSIBLE,
    synonyms=("fast",),
    name="full_speed",
)
def toggle_full_speed(window: AppContext) -> None:
    if window.player.speed == step_clock.AS_FAST_AS_POSSIBLE:
        window.player.set_speed(window.player.last_limited_speed)
    else:
        window.player.last_limited_speed = window.player.speed
        window.player.set_speed(step_clock.AS_FAST_AS_POSSIBLE)


@command(
    "S",
    "Turn slow motion on or off (one expansion at a time)",
    button="Slow motion",
    mode=RUN_MODE,
    is_on=lambda view: view.player.is_slow_motion,
    synonyms=("pseudocode",),
    name="slow_motion",
)
def toggle_slow_motion(window: AppContext) -> None:
    window.player.is_slow_motion = not window.player.is_slow_motion
    window.player.slow_motion_expansions = None
    if window.player.is_slow_motion:
        window.notify_if_sidebar_does_not_fit("the pseudocode")
        if window.map_view.layer_state.heat_setting.kind != "off":
            window.notify_user("Slow motion shows the search. The heat map comes back when slow motion ends.")


@command("Ctrl+.", "Step one expansion forward (slow motion)", repeats=True, disabled=_NEEDS_PREPARED_AGENTS)
def step_expansion(window: AppContext) -> None:
    window.player.pause()
    window.player.is_slow_motion = True
    window.player.step_expansion()


def _is_running_until(command_id: str) -> ToggledState:
    """Return a function that says whether the run continues until what this command waits for."""
    return lambda view: view.player.is_running_until(command_id)


@command(
    "Alt+M",
    "Run until the focused agent's next move",
    button="Move",
    is_on=_is_running_until("until_move"),
    synonyms=("stop",),
    name="until_move",
)
def run_until_move(window: AppContext) -> None:
    window.player.run_until_condition("until_move", "move")


@command(
    "Alt+B",
    "Run until the next back-move",
    button="Back-move",
    is_on=_is_running_until("until_back_move"),
    synonyms=("stop",),
    name="until_back_move",
)
def run_until_back_move(window: AppContext) -> None:
    window.player.run_until_condition("until_back_move", "back_move")


@command(
    "Alt+R",
    "Run until the next restart",
    button="Restart",
    is_on=_is_running_until("until_restart"),
    synonyms=("stop",),
    name="until_restart",
)
def run_until_restart(window: AppContext) -> None:
    window.player.run_until_condition("until_restart", "restart")


@command(
    "Alt+A",
    "Run until the next arrival",
    button="Arrival",
    is_on=_is_running_until("until_arrival"),
    synonyms=("stop",),
    name="until_arrival",
)
def run_until_arrival(window: AppContext) -> None:
    window.player.run_until_condition("until_arrival", "arrival")


@command(
    "Alt+T",
    "Run until a given tick",
    button="Tick ...",
    is_on=_is_running_until("until_tick"),
    menus={ContextMenu.TIME_LINE: 50},
    synonyms=("stop",),
    name="until_tick",
)
def run_until_tick(window: AppContext) -> None:
    def go(tick: int) -> None:
        window.player.run_until_condition("until_tick", None, tick)

    window.open_dialog(
        NumberPrompt(window.dialogs, "Run until tick", window.session.tick + 100, go, low=window.session.tick + 1)
    )


@command("R", "Start over at tick 0 on the original map", mode=RUN_MODE, synonyms=("reset", "restart"), name="reset")
def start_run_over(window: AppContext) -> None:
    window.session.start_over(keeps_map=False)
    window.player.slow_motion_expansions = None


@command("Ctrl+R", "Start over at tick 0 on the edited map", synonyms=("reset", "restart"), name="reset_keep_map")
def start_run_over_with_edited_map(window: AppContext) -> None:
    window.session.start_over(keeps_map=True)
    window.player.slow_motion_expansions = None
