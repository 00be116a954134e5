"""Adaptive number of ticks that a command advances before it checks signals and shows progress."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sim.world import MAX_TICKS_PER_CALL

# limits in seconds: the next step has more ticks after a step below _SHORT_S, fewer after a step above _LONG_S
_SHORT_S, _LONG_S = 0.01, 0.1
_STRIDE_FACTOR = 4  # factor by which the number of ticks changes; also the first number of ticks


@dataclass
class AdaptiveStride:
    """Number of ticks of the next step of a run: small at first, then adapted so that a step takes 0.01 to 0.1 s.

    Results do not depend on the length of steps.
    """

    clock: Callable[[], float] = time.perf_counter
    next_step_ticks: int = _STRIDE_FACTOR
    _last_call_time_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._last_call_time_s = self.clock()

    def __call__(self) -> int:
        now = self.clock()
        spent, self._last_call_time_s = now - self._last_call_time_s, now
        if spent < _SHORT_S:
            self.next_step_ticks = min(MAX_TICKS_PER_CALL, self.next_step_ticks * _STRIDE_FACTOR)
        elif spent > _LONG_S:
            self.next_step_ticks = max(1, self.next_step_ticks // _STRIDE_FACTOR)
        return self.next_step_ticks
