"""Division of a world's walkers into batches (`AgentBatch`) and unbatched walkers, and the digest columns of all."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter

import numpy as np

from sim.crew import AgentBatch, BatchSlot, crews_of
from sim.kernels import log
from sim.walker import Walker


class BatchPlan:
    """Division of a world's walkers into batches (`crews`) and walkers that advance alone (`alone`)."""

    def __init__(self, walkers: Sequence[Walker], able: Iterable[Walker]) -> None:
        """Form batches from the walkers in `able`; all other walkers advance alone."""
        self._list, self._of, self._walkers = walkers, _signs(walkers), tuple(walkers)  # `walkers` may grow later
        self.crews = crews_of(able)
        joined = [walker for crew in self.crews for walker in crew.walkers]
        numbers = {walker.id for walker in joined}
        self.alone = [walker for walker in walkers if walker.id not in numbers]
        self.refresh_runnable()

    def refresh_runnable(self) -> None:
        """Refresh which unbatched walkers can act (`awake`) and which wait because there is no path (`stuck`).

        These lists are cached, because often most walkers have arrived and checking all in every tick would be slow.
        Call this method after everything that may make a walker active again, and when a walker is done. Agents from
        a user's file are always in `awake`: their status may change, or their code may fail, without a notification.
        """
        self.awake = [walker for walker in self.alone if walker.spec.is_own or not walker.is_done]
        self.stuck = [walker for walker in self.alone if not walker.spec.is_own and walker.agent.status == log.NO_PATH]
        self.are_any_awake = bool(self.awake or self.stuck or self.crews)

    @cached_property
    def seats(self) -> dict[int, BatchSlot]:
        """Return the seat (batch and index) of every batched walker, by agent id."""
        return {number: BatchSlot(crew, place) for crew in self.crews for number, place in crew.places.items()}

    def contiguous_prefix_length(self, queue: Sequence[Walker]) -> int:
        """Return how many walkers at the front of `queue` have consecutive indices in one batch.

        The result is 0 if the first walker is unbatched.
        """
        first = self.seats.get(queue[0].id)
        if first is None:
            return 0
        seats = (self.seats.get(walker.id) for walker in queue)
        return next((n for n, seat in enumerate(seats) if seat != (first.crew, first.place + n)), len(queue))

    @cached_property
    def sums(self) -> "DigestColumns":
        """Return the digest columns of all walkers, cached until `forget_sums`."""
        return DigestColumns(self._walkers, self.crews)

    def forget_sums(self) -> None:
        """Invalidate the digest columns, because a walker has another start or goal."""
        self.__dict__.pop("sums", None)

    def are_of(self, walkers: Sequence[Walker]) -> bool:
        """Return whether this division was made for these walkers with the same maximum of trials each."""
        is_same_list = walkers is self._list and len(walkers) == len(self._of)
        return is_same_list or self._of == _signs(walkers)

    def refresh_addresses(self) -> bool:
        """Refresh the memory addresses in all batches; return False if a batch has become invalid."""
        return all(crew.refresh_addresses() for crew in self.crews)


class DigestColumns:
    """Columns from which the digest of a world is computed, one row per agent in the order of ids.

    A row has the id and the two digest numbers of the agent, and, if the agent has a start or goal of its own, the
    start and the goal (-1: the world's). The table is laid out once and reused while agents, starts and goals remain
    the same: with 500 agents the layout takes longer than a tick.
    """

    def __init__(self, walkers: Sequence[Walker], crews: Sequence[AgentBatch] = ()) -> None:
        in_order = sorted(walkers, key=attrgetter("id"))  # panels, and with them walkers, may be in any order
        numbers = [walker.id for walker in in_order]
        self._columns = np.zeros((len(in_order), 5), np.int64)
        self._columns[:, 0] = numbers
        self._columns[:, 3] = [walker.start for walker in in_order]
        self._columns[:, 4] = [-1 if walker.own_goal is None else walker.own_goal for walker in in_order]
        self._is_said = np.ones(self._columns.shape, np.bool_)
        self._is_said[[not walker.has_own_ends for walker in in_order], 3:] = False
        self._crews = [(crew, np.searchsorted(numbers, crew.ids)) for crew in crews]
        together = {number for crew in crews for number in crew.ids}
        self._alone = [(place, walker) for place, walker in enumerate(in_order) if walker.id not in together]

    def read(self) -> bytes:
        """Refresh the digest numbers and return the bytes of all rows."""
        for crew, places in self._crews:
            self._columns[places, 1:3] = crew.sums()
        for place, walker in self._alone:
            self._columns[place, 1:3] = walker.sums
        return self._columns[self._is_said].tobytes()


def _signs(walkers: Iterable[Walker]) -> list[tuple[int, int]]:
    """Return a cache key of the division: walkers with more than one trial cannot be batched."""
    return [(id(walker), walker.most_trials) for walker in walkers]


class BatchPlanCache:
    """Cache of a world's `BatchPlan`. Code that may invalidate the division sets `is_old` or `is_void`."""

    def __init__(self) -> None:
        self.turns: BatchPlan | None = None  # last division found
        self.is_old = False  # needs a refresh: a walker may be active again, or have other memory, rules or budget
        self.is_void = False  # needs a rebuild: a walker may have become able or unable to be in a batch

    def __reduce__(self) -> tuple[type["BatchPlanCache"], tuple[()]]:
        """Pickle as an empty cache, because the memory of a copied world has other addresses."""
        return BatchPlanCache, ()

    def goals_changed(self) -> None:
        """Note that a walker got a goal of its own: it may be active again, and digests contain own goals."""
        self.is_old = True
        if self.turns is not None:
            self.turns.forget_sums()

    def now(self, walkers: Sequence[Walker], able: Callable[[], Iterable[Walker]]) -> BatchPlan:
        """Return the present division, refreshed or rebuilt if it may have changed.

        Args:
            walkers: all walkers of the world.
            able: returns the walkers that may be in a batch; called only for a rebuild.
        """
        kept = self.turns
        if kept is not None and not self.is_old and not self.is_void and kept.are_of(walkers):
            return kept
        if (kept := self.right(walkers)) is not None:
            kept.refresh_runnable()
        else:
            for walker in walkers:
                walker.leave_crew()
            kept = self.turns = BatchPlan(walkers, able())
        self.is_old = self.is_void = False
        return kept

    def settled(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        """Return the division if it is up to date and every batch holds the rows of its walkers, else None.

        With such a division, callers need to visit only the unbatched walkers one by one.
        """
        kept = self.turns
        if kept is None or self.is_old or self.is_void or not kept.are_of(walkers):
            return None
        return kept if all(crew.are_seated for crew in kept.crews) else None

    def right(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        """Return the division if its batches are still valid, with refreshed memory addresses, else None."""
        kept = self._of(walkers)
        return kept if kept is not None and (not self.is_old or kept.refresh_addresses()) else None

    def sums(self, walkers: Sequence[Walker]) -> DigestColumns:
        """Return the digest columns of these walkers, from the cache while the division is valid."""
        kept = self._of(walkers)
        return DigestColumns(walkers) if kept is None else kept.sums

    def _of(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        kept = self.turns
        return kept if kept is not None and not self.is_void and kept.are_of(walkers) else None
