"""Timing of functions on a machine that also runs other programs."""

import time
from collections.abc import Callable, Sequence


def best_times(rounds: int, works: Sequence[Callable[[], object]]) -> list[float]:
    """Return the minimum time of each piece of work over several rounds, in seconds.

    The processor time of this thread is measured, so that other programs have little effect. Each round runs all pieces
    once, so that the remaining effects (shared caches, a slower processor clock) are the same for all of them.

    Args:
        rounds: The number of rounds.
        works: The pieces of work.
    """
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for index, work in enumerate(works):
            before = time.thread_time()
            work()
            best[index] = min(best[index], time.thread_time() - before)
    return best
