"""Timing on a machine that others use too."""

import time
from collections.abc import Callable, Sequence


def best_of(rounds: int, works: Sequence[Callable[[], object]]) -> list[float]:
    """Least seconds that each piece of work took, all of them in turn, `rounds` times.

    Seconds are those that this thread had the processor for, so that other programs count little; taking turns
    lets what they still cost (shared caches, a slower clock) fall on all works alike.
    """
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for place, work in enumerate(works):
            before = time.thread_time()
            work()
            best[place] = min(best[place], time.thread_time() - before)
    return best
