"""How many ticks are due, from the time that has passed. Arithmetic only: no clock is read here."""

from dataclasses import dataclass

SPEEDS = (1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 2500, 5000)
AS_FAST_AS_POSSIBLE = 0
"""Instead of ticks a second: as many as fit between two frames."""

LONGEST_LAG_S = 0.25
"""Time owed beyond this is dropped: a program that was held up must not race to catch up."""


@dataclass
class StepClock:
    """Accumulates time and owes whole ticks. Paused it owes none; a single step is asked for by itself."""

    ticks_per_second: float = 30.0
    is_running: bool = False
    _owed_s: float = 0.0

    def advance(self, seconds: float, *, is_held: bool = False) -> int:
        """The whole ticks due after `seconds` more; while it is held they are owed and come later."""
        if not self.is_running or self.ticks_per_second <= 0:
            self._owed_s = 0.0
            return 0
        self._owed_s = min(self._owed_s + seconds, LONGEST_LAG_S + 1.0 / self.ticks_per_second)
        if is_held:
            return 0
        due = int(self._owed_s * self.ticks_per_second + 1e-9)
        self._owed_s = max(0.0, self._owed_s - due / self.ticks_per_second)
        return due

    @property
    def fraction(self) -> float:
        """How much of the coming tick has passed, for gliding between cells."""
        return min(1.0, self._owed_s * self.ticks_per_second) if self.is_running else 1.0


def faster(speed: int) -> int:
    """The next speed up; past the highest comes as fast as possible."""
    if speed == AS_FAST_AS_POSSIBLE:
        return speed
    return next((s for s in SPEEDS if s > speed), AS_FAST_AS_POSSIBLE)


def slower(speed: int) -> int:
    if speed == AS_FAST_AS_POSSIBLE:
        return SPEEDS[-1]
    return next((s for s in reversed(SPEEDS) if s < speed), SPEEDS[0])


def nearest(speed: int) -> int:
    """The speed of the slider that is nearest to one; no limit stays none."""
    return min(SPEEDS, key=lambda known: abs(known - speed)) if speed > 0 else AS_FAST_AS_POSSIBLE
