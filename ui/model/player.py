"""How time passes in the window: running, backwards, expansion by expansion, until something. No pygame."""

import time
from collections.abc import Callable

from ui.model.clock import AS_FAST_AS_POSSIBLE, StepClock
from ui.model.session import Session

TICKING_SHARE = 0.5  # part of a frame that ticks may take
_MOST_AT_ONCE = 64  # ticks between two looks at the time
MOST_PUT_OFF = 6  # frames that a tick may wait for a keyframe: a tenth of a second
PATIENCE = 2  # of these, until nobody else comes before what reads it


def _nobody_films() -> None:
    """There is nothing to cut."""


class Player:
    def __init__(self, session: Session, speed: int) -> None:
        self.session = session
        self.clock = StepClock()
        self.speed = self.last_speed = speed
        self.is_slow_motion = self.is_backwards = False
        self.reveal: int | None = None  # expansions of the last tick that slow motion shows
        self.until_command: str | None = None  # that began the present "run until"
        self.word: str | None = None  # said instead of what it does, in pictures of another window
        self.held_glide: float | None = None  # where pictures want agents to stand, whatever the clock says
        self.cut: Callable[[], None] = _nobody_films  # called when the user goes to another tick
        self._put_off = 0  # for so many frames
        self._has_stopped = False  # in this frame, where the file of the run says so
        self.may_put_off = False
        """Whether a tick may come a frame late, where otherwise the frame would: while a keyframe is being read, which
        the tick must wait for. Who counts frames wants each tick in its own."""

    # --- what the user asks for -------------------------------------------------------------------

    def play(self) -> None:
        self.clock.is_running = True
        self.is_backwards = False
        self.clock.ticks_per_second = max(1, self.speed)

    def pause(self) -> None:
        self.clock.is_running = self.is_backwards = False

    def play_backwards(self) -> None:
        self.play()
        self.is_backwards = True

    def seek(self, tick: int) -> None:
        """Show another tick; the replay goes on over some frames if it has to."""
        self.pause()
        self.reveal = None
        self.cut()
        self.session.begin_seek(tick)

    def set_speed(self, speed: int) -> None:
        self.speed = speed
        self.clock.ticks_per_second = max(1, speed)

    def run_until(self, command_id: str, rule: str | None, tick: int | None = None) -> None:
        self.session.run_until(rule, tick)
        self.until_command = command_id
        self.play()

    def is_running_until(self, command_id: str) -> bool:
        return self.until_command == command_id and self.session.until is not None

    def step_expansion(self) -> None:
        """Slow motion: show one expansion more of this tick, or go on to the next tick."""
        if self.reveal is not None and self.reveal < self.last_expansions:
            self.reveal += 1
        else:
            self.session.advance(1)
            self.reveal = 1

    @property
    def last_expansions(self) -> int:
        """Most expansions of an agent in the last tick."""
        return max((int(p.view.rows[-1].expanded) for p in self.session.run.panels if p.view.rows.size), default=0)

    @property
    def revealed(self) -> int | None:
        """How many expansions of the last tick are shown; None: all."""
        return self.reveal if self.is_slow_motion else None

    @property
    def glide(self) -> float:
        """How far agents have got from their last cell to this one."""
        if self.held_glide is not None:
            return self.held_glide
        return 1.0 if self.is_slow_motion else self.clock.fraction

    @property
    def is_going(self) -> bool:
        """Whether another tick will be shown without anybody asking for it."""
        return self.clock.is_running or self.session.run.is_seeking

    def doing(self) -> str:
        """In a word, what time does."""
        if self.word is not None:
            return self.word
        if self.session.run.is_seeking:
            return "winding"
        if self.session.run.is_over and self.session.tick:
            return "finished"
        if self.is_backwards:
            return "backwards"
        return "running" if self.clock.is_running else "paused"

    # --- a frame ----------------------------------------------------------------------------------

    def pass_time(self, seconds: float, most_s: float) -> None:
        """Let the ticks pass that are due, for at most so many seconds of work."""
        before = self.session.tick
        self._pass_time(seconds, most_s)
        is_new = self.session.tick > before and not self.session.run.is_seeking
        self._has_stopped = is_new and self.clock.is_running and self.session.is_at_pause

    def _pass_time(self, seconds: float, most_s: float) -> None:
        if self.session.run.is_seeking:
            self.session.continue_seek()
        elif self.is_backwards:
            self._wind_back(self.clock.advance(seconds))
        elif self.is_slow_motion:
            for _ in range(self.clock.advance(seconds)):
                before = self.session.tick
                self.step_expansion()
                if self.session.tick > before and self.session.has_come_to_a_stop:
                    return
        elif self.clock.is_running and self.speed == AS_FAST_AS_POSSIBLE:
            advance_for(self.session, most_s)
        else:
            self._put_off = self._put_off + 1 if self._must_wait else 0
            if self._put_off >= PATIENCE:
                self.session.run.hurry()
            self._advance(self.clock.advance(seconds, is_held=self._put_off > 0), most_s)

    @property
    def _must_wait(self) -> bool:
        """Whether a tick now would wait for a keyframe, and may come later; on a busy machine not for ever."""
        return self.may_put_off and self._put_off < MOST_PUT_OFF and self.session.run.is_being_read

    def look_for_the_end(self) -> str | None:
        """Stop when there is nothing left to run for, and where the file of the run says so; returns what to say about
        that, or about a "run until" that ended.
        """
        told = self._end_of_run_until()
        until = self.session.run.scenario.until
        if self._has_stopped and until is not None:
            self._has_stopped = False
            self.pause()
            told = f"stopped at tick {until.tick:,}: {until.why or 'the file of this run says so'}"
        if (
            self.clock.is_running
            and not self.is_backwards
            and not self.session.run.is_seeking
            and self.session.run.is_over
        ):
            self.pause()
        return told

    def _advance(self, ticks: int, most_s: float) -> None:
        """Due ticks, but never so many that a frame is lost; what is left over is dropped."""
        deadline = time.perf_counter() + most_s
        while ticks > 0 and time.perf_counter() < deadline:
            bulk = min(ticks, _MOST_AT_ONCE)
            if self.session.advance(bulk) < bulk or self.session.has_come_to_a_stop:
                return
            ticks -= bulk

    def _wind_back(self, ticks: int) -> None:
        """Play backwards; at the start it ends."""
        if ticks and self.session.tick == 0:
            self.pause()
        elif ticks:
            self.session.begin_seek(self.session.tick - ticks)

    def _end_of_run_until(self) -> str | None:
        session, until = self.session, self.session.until
        is_met = session.is_stopped_by_rule
        if until is None or not (is_met or session.run.is_over):
            return None
        session.until = None
        self.until_command = None
        self.pause()
        return f"stopped at tick {session.tick}: {until.name}" if is_met else f"the run ended before: {until.name}"


def advance_for(session: Session, seconds: float) -> int:
    """As many ticks as fit into the time."""
    deadline = time.perf_counter() + seconds
    passed, bulk = 0, 1
    while time.perf_counter() < deadline:
        before = time.perf_counter()
        done = session.advance(bulk)
        passed += done
        if done < bulk or session.has_come_to_a_stop:
            break
        spent = max(1e-6, time.perf_counter() - before)
        bulk = max(1, min(2048, int(bulk * 0.5 * (deadline - before) / spent)))
    return passed
