"""Computation of how many ticks are due after some elapsed time. This module itself reads no clock."""

from dataclasses import dataclass

SPEEDS = (1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 2500, 5000)
AS_FAST_AS_POSSIBLE = 0
"""Value of the speed that means: compute as many ticks as possible between two frames."""

MAX_LAG_S = 0.25
"""Maximum time, in seconds, for which ticks are caught up after a delay of the program; older time is dropped."""


@dataclass
class StepClock:
    """Accumulator of elapsed time that computes how many ticks are due; none are due while it is paused."""

    ticks_per_second: float = 30.0
    is_running: bool = False
    _fraction_time_s: float = 0.0  # elapsed seconds that have not been turned into ticks yet

    def take_due_ticks(self, seconds: float, *, is_held: bool = False) -> int:
        """Add elapsed seconds and return how many ticks are due; while `is_held`, return 0 and keep the seconds."""
        if not self.is_running or self.ticks_per_second <= 0:
            self._fraction_time_s = 0.0
            return 0
        self._fraction_time_s = min(self._fraction_time_s + seconds, MAX_LAG_S + 1.0 / self.ticks_per_second)
        if is_held:
            return 0
        due = int(self._fraction_time_s * self.ticks_per_second + 1e-9)
        self._fraction_time_s = max(0.0, self._fraction_time_s - due / self.ticks_per_second)
        return due

    @property
    def tick_fraction(self) -> float:
        """Return the elapsed share of the next tick, for drawing agents between two cells; 1.0 while paused."""
        return min(1.0, self._fraction_time_s * self.ticks_per_second) if self.is_running else 1.0


def next_higher_speed(speed: int) -> int:
    """Return the next higher speed; after the highest comes AS_FAST_AS_POSSIBLE."""
    if speed == AS_FAST_AS_POSSIBLE:
        return speed
    return next((s for s in SPEEDS if s > speed), AS_FAST_AS_POSSIBLE)


def next_lower_speed(speed: int) -> int:
    if speed == AS_FAST_AS_POSSIBLE:
        return SPEEDS[-1]
    return next((s for s in reversed(SPEEDS) if s < speed), SPEEDS[0])


def nearest_speed(speed: int) -> int:
    """Return the speed in SPEEDS that is nearest to `speed`; AS_FAST_AS_POSSIBLE stays as it is."""
    return min(SPEEDS, key=lambda known: abs(known - speed)) if speed > 0 else AS_FAST_AS_POSSIBLE
