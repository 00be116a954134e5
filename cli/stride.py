"""How many ticks a command advances between two looks at signals and progress."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sim.world import BULK

_SHORT_S, _LONG_S = 0.01, 0.1  # a step that took less becomes longer, one that took more becomes shorter
_STRIDE_FACTOR = 4


@dataclass
class Stride:
    """Ticks of the next step of a run: few at first, then as many as take about 0.01 to 0.1 s between two looks.

    Results do not depend on it, since a world gives the same result in steps of any length.
    """

    clock: Callable[[], float] = time.perf_counter
    ticks: int = _STRIDE_FACTOR
    _last_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._last_s = self.clock()

    def __call__(self) -> int:
        now = self.clock()
        spent, self._last_s = now - self._last_s, now
        if spent < _SHORT_S:
            self.ticks = min(BULK, self.ticks * _STRIDE_FACTOR)
        elif spent > _LONG_S:
            self.ticks = max(1, self.ticks // _STRIDE_FACTOR)
        return self.ticks
