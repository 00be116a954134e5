"""Batch plan: which walkers of a world advance in batches, and which advance alone; and the world's digest columns.

A batch (`AgentBatch`, agent_batch.py) advances many walkers in one kernel call. A walker outside all batches is called
"unbatched". A slot is a batch with the index of a walker in it. Digest columns are the numbers from which the
world's digest is computed.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter

import numpy as np

from sim.agent_batch import AgentBatch, BatchSlot, form_batches
from sim.kernels import log
from sim.walker import Walker


class BatchPlan:
    """Assignment of a world's walkers to batches (`batches`); the other walkers advance alone (`unbatched`)."""

    def __init__(self, walkers: Sequence[Walker], able: Iterable[Walker]) -> None:
        """Assign walkers to batches of agents of the same kind.

        Args:
            walkers: all walkers of the world.
            able: walkers that may be in a batch. Those that fit in no batch, and all others, advance alone.
        """
        # `_walkers` is a copy, because the world's list `walkers` may grow after this plan was formed.
        self._walker_list, self._cache_key, self._walkers = walkers, _plan_key(walkers), tuple(walkers)
        self.batches = form_batches(able)
        joined = [walker for batch in self.batches for walker in batch.walkers]
        numbers = {walker.id for walker in joined}
        self.unbatched = [walker for walker in walkers if walker.id not in numbers]
        self.refresh_runnable_walkers()

    def refresh_runnable_walkers(self) -> None:
        """Recompute the lists of unbatched walkers: of those that can act, and of those that have no path.

        The lists are cached, because often most walkers have arrived, and checking all walkers in every tick would be
        slow. Call this method after every change that may make a walker active again, and when a walker is done. Agents
        from a user's file count as able to act, because their status may change or their code may fail at any time.
        """
        self.runnable = [walker for walker in self.unbatched if walker.spec.is_own or not walker.is_done]
        self.without_path = [
            walker for walker in self.unbatched if not walker.spec.is_own and walker.agent.status == log.NO_PATH
        ]
        self.has_runnable = bool(self.runnable or self.without_path or self.batches)

    @cached_property
    def slot_by_id(self) -> dict[int, BatchSlot]:
        """Return the slot (batch, and index in the batch) of every batched walker, by agent id."""
        return {
            number: BatchSlot(batch, index) for batch in self.batches for number, index in batch.index_by_id.items()
        }

    def contiguous_queue_length(self, queue: Sequence[Walker]) -> int:
        """Return how many walkers at the front of `queue` can advance in one kernel call; 0: the first is unbatched.

        These walkers have consecutive indices in one batch.
        """
        first = self.slot_by_id.get(queue[0].id)
        if first is None:
            return 0
        slots = (self.slot_by_id.get(walker.id) for walker in queue)
        return next((n for n, slot in enumerate(slots) if slot != (first.batch, first.place + n)), len(queue))

    @cached_property
    def digest_columns(self) -> "DigestColumns":
        """Return the table from which the world's digest is computed; `invalidate_digest_columns` clears this cache."""
        return DigestColumns(self._walkers, self.batches)

    def invalidate_digest_columns(self) -> None:
        """Invalidate the cached digest columns after a walker has got another goal, which is one of the columns."""
        self.__dict__.pop("digest_columns", None)

    def is_for_walkers(self, walkers: Sequence[Walker]) -> bool:
        """Return whether this plan was formed for these walkers, with the maximum number of trials each has now."""
        is_same_list = walkers is self._walker_list and len(walkers) == len(self._cache_key)
        return is_same_list or self._cache_key == _plan_key(walkers)

    def refresh_array_addresses(self) -> bool:
        """Refresh the addresses of agents' arrays in all batches; return whether all batches are still valid.

        `AgentBatch.refresh_array_addresses` says what makes a batch invalid.
        """
        return all(batch.refresh_array_addresses() for batch in self.batches)


class DigestColumns:
    """Table from which the digest of a world is computed, with one line per agent in the order of ids.

    A line has the id of the agent and its two digest numbers, `Walker.digest_numbers`. If the agent has a start or goal
    of its own, its start and its goal follow (goal -1: the shared goal). The table is created once and reused while
    agents, starts and goals remain the same, because with 500 agents creating it takes longer than a tick.
    """

    def __init__(self, walkers: Sequence[Walker], batches: Sequence[AgentBatch] = ()) -> None:
        # Sorted by id, because the order of walkers changes when the user reorders panels, and the digest must not.
        in_order = sorted(walkers, key=attrgetter("id"))
        numbers = [walker.id for walker in in_order]
        self._columns = np.zeros((len(in_order), 5), np.int64)
        self._columns[:, 0] = numbers
        self._columns[:, 3] = [walker.start for walker in in_order]
        self._columns[:, 4] = [-1 if walker.own_goal is None else walker.own_goal for walker in in_order]
        self._is_in_digest = np.ones(self._columns.shape, np.bool_)
        self._is_in_digest[[not walker.has_own_start_or_goal for walker in in_order], 3:] = False
        self._batches_with_rows = [(batch, np.searchsorted(numbers, batch.ids)) for batch in batches]
        batched = {number for batch in batches for number in batch.ids}
        self._unbatched = [(index, walker) for index, walker in enumerate(in_order) if walker.id not in batched]

    def read_digest_bytes(self) -> bytes:
        """Refresh the digest numbers of all agents and return the table as bytes, without unused entries."""
        for batch, indices in self._batches_with_rows:
            self._columns[indices, 1:3] = batch.digest_numbers()
        for index, walker in self._unbatched:
            self._columns[index, 1:3] = walker.digest_numbers
        return self._columns[self._is_in_digest].tobytes()


def _plan_key(walkers: Iterable[Walker]) -> list[tuple[int, int]]:
    """Return the cache key of a batch plan: identity and maximum number of trials of each walker.

    The key contains the maximum number of trials, because only walkers with one trial can be batched.
    """
    return [(id(walker), walker.max_trials) for walker in walkers]


class BatchPlanCache:
    """Cache of a world's `BatchPlan`. Code that changes walkers marks it by `needs_refresh` or `needs_rebuild`."""

    def __init__(self) -> None:
        self.cached_plan: BatchPlan | None = None  # cached plan, possibly out of date; None: none has been formed yet
        # Whether the plan needs a refresh, because a walker may be active again or have other arrays, rules or budget.
        self.needs_refresh = False
        # Whether the plan must be formed again, because a walker may now belong in a batch or no longer belong there.
        self.needs_rebuild = False

    def __reduce__(self) -> tuple[type["BatchPlanCache"], tuple[()]]:
        """Pickle as an empty cache, because arrays of a copied world have other addresses."""
        return BatchPlanCache, ()

    def on_goals_changed(self) -> None:
        """Mark the plan for a refresh, because a walker that got a goal of its own may be active again.

        The digest columns are invalidated too, because they contain own goals.
        """
        self.needs_refresh = True
        if self.cached_plan is not None:
            self.cached_plan.invalidate_digest_columns()

    def up_to_date_plan(self, walkers: Sequence[Walker], able: Callable[[], Iterable[Walker]]) -> BatchPlan:
        """Return an up-to-date batch plan of the present walkers: the cached plan, a refreshed one, or a new one.

        Args:
            walkers: all walkers of the world.
            able: function that returns the walkers that may be in a batch; called only if a new plan is formed.
        """
        plan = self.cached_plan
        if plan is not None and not self.needs_refresh and not self.needs_rebuild and plan.is_for_walkers(walkers):
            return plan
        if (plan := self.right(walkers)) is not None:
            plan.refresh_runnable_walkers()
        else:
            for walker in walkers:
                walker.leave_batch_during_advance()
            plan = self.cached_plan = BatchPlan(walkers, able())
        self.needs_refresh = self.needs_rebuild = False
        return plan

    def plan_with_stored_rows(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        """Return the cached plan if it is up to date and its batches store the rows of all their walkers; else None.

        With such a plan, callers can read batched walkers from the arrays of their batch, and have to visit only the
        unbatched walkers one by one.
        """
        plan = self.cached_plan
        if plan is None or self.needs_refresh or self.needs_rebuild or not plan.is_for_walkers(walkers):
            return None
        return plan if all(batch.is_storing_rows for batch in plan.batches) else None

    def right(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        """Return the cached plan, with refreshed array addresses, if all of its batches are still valid; else None.

        Unlike in the result of `plan_with_stored_rows`, its lists of unbatched walkers may be out of date.
        """
        plan = self._plan_for_walkers(walkers)
        return plan if plan is not None and (not self.needs_refresh or plan.refresh_array_addresses()) else None

    def digest_columns(self, walkers: Sequence[Walker]) -> DigestColumns:
        """Return the table for the digest of these walkers, from the cached plan if it was formed for them."""
        plan = self._plan_for_walkers(walkers)
        return DigestColumns(walkers) if plan is None else plan.digest_columns

    def _plan_for_walkers(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        plan = self.cached_plan
        return plan if plan is not None and not self.needs_rebuild and plan.is_for_walkers(walkers) else None
