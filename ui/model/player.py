"""Playback in the window: running, playing backwards, slow motion by single expansions, and "run until".

This module does not use pygame.
"""

import time
from collections.abc import Callable

from ui.model.session import Session
from ui.model.step_clock import AS_FAST_AS_POSSIBLE, StepClock

TICKING_SHARE = 0.5  # maximum share of the time of a frame for computing ticks
_MAX_TICKS_AT_ONCE = 64  # maximum ticks to compute between two checks of the deadline of the frame
# Maximum frames by which a due tick is postponed while a keyframe is being read: a tenth of a second.
MAX_POSTPONED_FRAMES = 6
# Number of postponed frames after which the thread that reads the keyframe stops yielding to the window.
MAX_YIELDING_FRAMES = 2


def _ignore_seek() -> None:
    """Do nothing: the default callback for seeks, while no video is being recorded."""


class Player:
    """Playback of a session: decides in every frame how many ticks pass."""

    def __init__(self, session: Session, speed: int) -> None:
        self.session = session
        self.step_clock = StepClock()
        self.speed = self.last_limited_speed = speed
        self.is_slow_motion = self.is_backwards = False
        # Number of expansions of the last tick that slow motion shows so far; None: all.
        self.slow_motion_expansions: int | None = None
        self.run_until_command_id: str | None = None  # id of the command that started the current "run until"
        # text shown instead of the playback state, for pictures that show the state of another window
        self.playback_state_override: str | None = None
        # Fixed value of `agent_interpolation` for pictures; None: computed from the clock.
        self.fixed_interpolation: float | None = None
        self.on_seek: Callable[[], None] = _ignore_seek  # callback before the user's seeks, for a video being recorded
        self._postponed_frames = 0  # number of consecutive frames in which due ticks were postponed
        self._has_reached_pause_tick = False  # whether this frame reached the tick at which the scenario pauses the run
        self.may_postpone_ticks = False
        """Whether a due tick may be postponed to a later frame while a keyframe is being read.

        Otherwise the tick would have to wait for the keyframe and would delay the frame. The value is False where each
        tick must come in its own frame.
        """

    # --- actions of the user ----------------------------------------------------------------------

    def play(self) -> None:
        self.step_clock.is_running = True
        self.is_backwards = False
        self.step_clock.ticks_per_second = max(1, self.speed)

    def pause(self) -> None:
        self.step_clock.is_running = self.is_backwards = False

    def play_backwards(self) -> None:
        self.play()
        self.is_backwards = True

    def pause_and_seek(self, tick: int) -> None:
        """Pause, and begin to seek to another tick; replaying the ticks before it may take several frames."""
        self.pause()
        self.slow_motion_expansions = None
        self.on_seek()
        self.session.begin_seek(tick)

    def set_speed(self, speed: int) -> None:
        self.speed = speed
        self.step_clock.ticks_per_second = max(1, speed)

    def run_until_condition(self, command_id: str, rule: str | None, tick: int | None = None) -> None:
        """Run until a stop rule is met or a tick is reached.

        Args:
            command_id: Id of the command that started the "run until".
            rule: Key of STOP_RULES; None if only `tick` counts.
            tick: Tick at which to pause; None if only `rule` counts.
        """
        self.session.set_stop_condition(rule, tick)
        self.run_until_command_id = command_id
        self.play()

    def is_running_until(self, command_id: str) -> bool:
        return self.run_until_command_id == command_id and self.session.stop_condition is not None

    def step_expansion(self) -> None:
        """Show the next expansion of the last tick in slow motion; after its last expansion, advance by a tick."""
        if self.slow_motion_expansions is not None and self.slow_motion_expansions < self.max_expansions_in_last_tick:
            self.slow_motion_expansions += 1
        else:
            self.session.advance_by_ticks(1)
            self.slow_motion_expansions = 1

    @property
    def max_expansions_in_last_tick(self) -> int:
        """Return the number of expansions in the last tick of the agent that expanded most."""
        return max(
            (int(p.walker_view.log_rows[-1].expanded) for p in self.session.run.panels if p.walker_view.log_rows.size),
            default=0,
        )

    @property
    def visible_expansions(self) -> int | None:
        """Return how many expansions of the last tick are shown; None means all."""
        return self.slow_motion_expansions if self.is_slow_motion else None

    @property
    def agent_interpolation(self) -> float:
        """Return where agents are drawn between their previous cell (0.0) and their current cell (1.0)."""
        if self.fixed_interpolation is not None:
            return self.fixed_interpolation
        return 1.0 if self.is_slow_motion else self.step_clock.tick_fraction

    @property
    def is_run_in_motion(self) -> bool:
        """Return whether another tick will be shown without further input: a run or a seek is in progress."""
        return self.step_clock.is_running or self.session.run.is_seeking

    def playback_state_text(self) -> str:
        """Return the playback state as one word, such as "running"."""
        if self.playback_state_override is not None:
            return self.playback_state_override
        if self.session.run.is_seeking:
            return "seeking"
        if self.session.run.is_over and self.session.tick:
            return "finished"
        if self.is_backwards:
            return "backwards"
        return "running" if self.step_clock.is_running else "paused"

    # --- each frame -------------------------------------------------------------------------------

    def update_frame(self, seconds: float, most_s: float) -> None:
        """Let the time of a frame pass: advance, seek or play backwards by the ticks that are due.

        Args:
            seconds: Time since the last frame.
            most_s: Maximum time in seconds that the ticks may take.
        """
        before = self.session.tick
        self._seek_or_advance(seconds, most_s)
        is_new = self.session.tick > before and not self.session.run.is_seeking
        self._has_reached_pause_tick = is_new and self.step_clock.is_running and self.session.is_at_pause_tick

    def _seek_or_advance(self, seconds: float, most_s: float) -> None:
        """Seek, play backwards, or advance the due ticks, depending on the playback state."""
        if self.session.run.is_seeking:
            self.session.continue_seek()
        elif self.is_backwards:
            self._play_ticks_backwards(self.step_clock.take_due_ticks(seconds))
        elif self.is_slow_motion:
            for _ in range(self.step_clock.take_due_ticks(seconds)):
                before = self.session.tick
                self.step_expansion()
                if self.session.tick > before and self.session.should_pause:
                    return
        elif self.step_clock.is_running and self.speed == AS_FAST_AS_POSSIBLE:
            advance_for_seconds(self.session, most_s)
        else:
            self._postponed_frames = self._postponed_frames + 1 if self._must_wait_for_keyframe else 0
            if self._postponed_frames >= MAX_YIELDING_FRAMES:
                self.session.run.stop_reader_yielding()
            self._advance_until_deadline(
                self.step_clock.take_due_ticks(seconds, is_held=self._postponed_frames > 0), most_s
            )

    @property
    def _must_wait_for_keyframe(self) -> bool:
        """Return whether due ticks have to wait another frame because a keyframe is being read."""
        return (
            self.may_postpone_ticks
            and self._postponed_frames < MAX_POSTPONED_FRAMES
            and self.session.run.is_reading_keyframe
        )

    def pause_if_run_ended(self) -> str | None:
        """Pause if the world is over, a "run until" has ended or the scenario pauses the run at this tick.

        Returns:
            Message to the user about the reason for the pause; None if there is none.
        """
        message = self._finish_run_until_if_met()
        until = self.session.run.scenario.stop_tick
        if self._has_reached_pause_tick and until is not None:
            self._has_reached_pause_tick = False
            self.pause()
            message = f"Paused at tick {until.tick:,}: {until.reason or 'the scenario says so'}"
        if (
            self.step_clock.is_running
            and not self.is_backwards
            and not self.session.run.is_seeking
            and self.session.run.is_over
        ):
            self.pause()
        return message

    def _advance_until_deadline(self, ticks: int, most_s: float) -> None:
        """Compute due ticks until the deadline of the frame; drop the other due ticks, so that no frame is late."""
        deadline = time.perf_counter() + most_s
        while ticks > 0 and time.perf_counter() < deadline:
            batch_size = min(ticks, _MAX_TICKS_AT_ONCE)
            if self.session.advance_by_ticks(batch_size) < batch_size or self.session.should_pause:
                return
            ticks -= batch_size

    def _play_ticks_backwards(self, ticks: int) -> None:
        """Seek back by the ticks that are due while playing backwards; pause at tick 0."""
        if ticks and self.session.tick == 0:
            self.pause()
        elif ticks:
            self.session.begin_seek(self.session.tick - ticks)

    def _finish_run_until_if_met(self) -> str | None:
        """End a "run until" whose condition is met or whose run is over; return the message to show, or None."""
        session, until = self.session, self.session.stop_condition
        is_met = session.is_stop_condition_met
        if until is None or not (is_met or session.run.is_over):
            return None
        session.stop_condition = None
        self.run_until_command_id = None
        self.pause()
        return f"Paused at tick {session.tick}: {until.name}" if is_met else f"The run ended before this: {until.name}"


def advance_for_seconds(session: Session, seconds: float) -> int:
    """Advance as many ticks as can be computed in `seconds`, in growing batches, and return how many passed."""
    deadline = time.perf_counter() + seconds
    passed, batch_size = 0, 1
    while time.perf_counter() < deadline:
        batch_start = time.perf_counter()
        batch_passed = session.advance_by_ticks(batch_size)
        passed += batch_passed
        if batch_passed < batch_size or session.should_pause:
            break
        batch_seconds = max(1e-6, time.perf_counter() - batch_start)
        batch_size = max(1, min(2048, int(batch_size * 0.5 * (deadline - batch_start) / batch_seconds)))
    return passed
