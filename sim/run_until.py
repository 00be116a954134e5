"""Loop that advances a world until a condition holds. `solve`, `run`, experiments, lessons and `advise` all use it."""

import math
from collections.abc import Callable, Iterator

from sim.world import MAX_TICKS_PER_CALL, World


def run_until(
    world: World,
    is_done: Callable[[], bool] = lambda: False,
    *,
    max_ticks: float = math.inf,
    next_step: Callable[[], float] = lambda: MAX_TICKS_PER_CALL,
    advance: Callable[[int], int] | None = None,
) -> Iterator[int]:
    """Advance a world step by step, and yield the number of ticks passed after each step.

    The iteration ends when the run is over, `is_done` returns True or the world has reached `max_ticks`.

    Args:
        world: the world.
        is_done: function that is called before each step; True ends the iteration.
        max_ticks: last tick to reach.
        next_step: function that returns the maximum number of ticks of the next step.
        advance: function that advances the world by a number of ticks and returns how many have passed, for callers
            that measure its time; None: `world.advance`.
    """
    advance = world.advance if advance is None else advance
    while world.tick < max_ticks and not world.is_over and not is_done():
        yield advance(int(min(next_step(), max_ticks - world.tick)))
