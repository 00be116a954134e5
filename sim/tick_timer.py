"""Timer for the time limit of a tick: decides how many agents plan before the clock is read again, and when to stop.

A turn is the planning of one agent in one tick. To serve an agent is to give it its turn.
"""

from collections.abc import Callable

# Factor by which an estimate is increased or reduced after each measurement, so that it approaches the median.
_ESTIMATE_FACTOR = 1.1


class TickTimer:
    """Timer that divides the time of a tick among agents that plan in round-robin order.

    Reading the clock and starting a kernel call cost 5 to 10 us; a turn takes 1 us to several ms. Between two readings,
    half of the turns are served for which there should be time, so that the last readings are one turn apart. The tick
    ends within half a turn of its limit, and the number of readings grows with the logarithm of the number of agents.
    """

    def __init__(self) -> None:
        # Mean planning time per agent in this tick, or, at first, in the last tick; 0: unknown.
        self._mean_planning_s = 0.0
        self._closing_s = 0.0  # estimated seconds from the last reading of the clock in a tick to the end of the tick
        self._begin_s = self._first_planning_s = self._last_reading_s = self._end_s = 0.0
        self._agent_count = 0

    def begin_tick(self, clock: Callable[[], float], limit_s: float) -> None:
        """Start the timer for a tick that may take `limit_s` seconds."""
        self._clock, self._limit_s = clock, limit_s
        self._begin_s = clock()
        self._first_planning_s, self._agent_count = 0.0, 0

    def next_agent_count(self, served: int) -> int:
        """Return how many agents may plan before the next call of this method; 0: the time is up.

        `served`: number of agents that have planned in this tick so far.
        """
        now = self._last_reading_s = self._clock()
        if not served:
            self._first_planning_s = now
        else:
            self._mean_planning_s = (now - self._first_planning_s) / served
        left_s = self._begin_s + self._limit_s - self._closing_s - now
        if served and left_s <= self._mean_planning_s / 2:
            return 0
        if self._mean_planning_s > 0.0:
            self._agent_count = max(1, int(left_s / self._mean_planning_s / 2))
        else:
            self._agent_count = max(1, 2 * self._agent_count)
        return self._agent_count

    def end(self) -> None:
        """Measure the time since the last reading of the clock, because the next tick has to reserve that time."""
        closing_s = self._clock() - self._last_reading_s
        if not self._closing_s:
            self._closing_s = closing_s
        else:
            self._closing_s *= _ESTIMATE_FACTOR if closing_s > self._closing_s else 1.0 / _ESTIMATE_FACTOR
        self._closing_s = min(self._closing_s, self._limit_s / 2)
