"""Number of due ticks as a function of elapsed time. Arithmetic only: this module reads no clock."""

from dataclasses import dataclass

SPEEDS = (1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 2500, 5000)
AS_FAST_AS_POSSIBLE = 0
"""Value of the speed that means: compute as many ticks as possible between two frames."""

MAX_LAG_S = 0.25
"""Maximum time, in seconds, for which ticks are caught up after a delay of the program; older time is dropped."""


@dataclass
class StepClock:
    """Clock that accumulates elapsed time and computes from it how many ticks are due; none while it is paused."""

    ticks_per_second: float = 30.0
    is_running: bool = False
    _owed_s: float = 0.0  # elapsed time in seconds for which no tick has become due yet

    def advance(self, seconds: float, *, is_held: bool = False) -> int:
        """Add elapsed time and return how many ticks are due; 0 while `is_held`, with the time kept for later calls."""
        if not self.is_running or self.ticks_per_second <= 0:
            self._owed_s = 0.0
            return 0
        self._owed_s = min(self._owed_s + seconds, MAX_LAG_S + 1.0 / self.ticks_per_second)
        if is_held:
            return 0
        due = int(self._owed_s * self.ticks_per_second + 1e-9)
        self._owed_s = max(0.0, self._owed_s - due / self.ticks_per_second)
        return due

    @property
    def fraction(self) -> float:
        """Return the elapsed fraction of the coming tick, for interpolating between cells; 1.0 while paused."""
        return min(1.0, self._owed_s * self.ticks_per_second) if self.is_running else 1.0


def faster(speed: int) -> int:
    """Return the next higher speed; after the highest comes AS_FAST_AS_POSSIBLE."""
    if speed == AS_FAST_AS_POSSIBLE:
        return speed
    return next((s for s in SPEEDS if s > speed), AS_FAST_AS_POSSIBLE)


def slower(speed: int) -> int:
    if speed == AS_FAST_AS_POSSIBLE:
        return SPEEDS[-1]
    return next((s for s in reversed(SPEEDS) if s < speed), SPEEDS[0])


def nearest(speed: int) -> int:
    """Return the speed of the slider nearest to `speed`; AS_FAST_AS_POSSIBLE is kept."""
    return min(SPEEDS, key=lambda known: abs(known - speed)) if speed > 0 else AS_FAST_AS_POSSIBLE
