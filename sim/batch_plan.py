"""Batch plan: which walkers of a world advance in batches, and which advance one by one.

A walker is an agent in the world. A batch (class `AgentBatch`, agent_batch.py) advances many walkers in one kernel
call. A walker that is in no batch is "unbatched". The slot of a walker is its batch and its index in this batch. Digest
columns are the numbers of all agents from which the digest of the world is computed.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter

import numpy as np

from sim.agent_batch import AgentBatch, BatchSlot, form_batches
from sim.kernels import log
from sim.walker import Walker


class BatchPlan:
    """Assignment of a world's walkers to batches. Walkers that are in no batch advance one by one (`unbatched`)."""

    def __init__(self, walkers: Sequence[Walker], batchable: Iterable[Walker]) -> None:
        """Assign walkers to batches of agents of the same kind.

        Args:
            walkers: all walkers of the world.
            batchable: walkers that may be in a batch. A walker for which no batch is formed advances alone.
        """
        # `_walkers` is a copy, because the world may add walkers to its list after this plan was formed.
        self._walker_list, self._cache_key, self._walkers = walkers, _plan_key(walkers), tuple(walkers)
        self.batches = form_batches(batchable)
        batched = [walker for batch in self.batches for walker in batch.walkers]
        numbers = {walker.id for walker in batched}
        self.unbatched = [walker for walker in walkers if walker.id not in numbers]
        self.refresh_runnable_walkers()

    def refresh_runnable_walkers(self) -> None:
        """Recompute which unbatched walkers can act (`runnable`) and which have no path (`without_path`).

        Both lists are cached: often most walkers have arrived, and checking all walkers in every tick would be slow.
        Call this method when a walker is done, and after every change that may make a walker active again. Agents from
        a user's file are always in `runnable`, because their status may change or their code may fail at any time.
        """
        self.runnable = [walker for walker in self.unbatched if walker.spec.is_own or not walker.is_done]
        self.without_path = [
            walker for walker in self.unbatched if not walker.spec.is_own and walker.agent.status == log.NO_PATH
        ]
        self.has_runnable = bool(self.runnable or self.without_path or self.batches)

    @cached_property
    def slot_by_id(self) -> dict[int, BatchSlot]:
        """Return the slots of all batched walkers: agent id -> (batch, index in the batch)."""
        return {
            number: BatchSlot(batch, index) for batch in self.batches for number, index in batch.index_by_id.items()
        }

    def queue_prefix_length_for_one_call(self, queue: Sequence[Walker]) -> int:
        """Return how many walkers at the front of `queue` can advance in one kernel call.

        These walkers have consecutive indices in one batch. 0: the first walker is unbatched.
        """
        first = self.slot_by_id.get(queue[0].id)
        if first is None:
            return 0
        slots = (self.slot_by_id.get(walker.id) for walker in queue)
        return next((n for n, slot in enumerate(slots) if slot != (first.batch, first.place + n)), len(queue))

    @cached_property
    def digest_columns(self) -> "DigestColumns":
        """Return the table from which the world's digest is computed. It is created once and then cached."""
        return DigestColumns(self._walkers, self.batches)

    def invalidate_digest_columns(self) -> None:
        """Discard the cached digest columns, because they contain goals and the goal of a walker has changed."""
        self.__dict__.pop("digest_columns", None)

    def is_formed_for_walkers(self, walkers: Sequence[Walker]) -> bool:
        """Return whether the plan is for these walkers, and none of their maximum numbers of trials has changed."""
        is_same_list = walkers is self._walker_list and len(walkers) == len(self._cache_key)
        return is_same_list or self._cache_key == _plan_key(walkers)

    def refresh_array_addresses(self) -> bool:
        """Refresh the array addresses that batches store; return whether all batches are still valid.

        A batch is no longer valid if an agent needs another kernel, or if the sizes of its arrays have changed.
        """
        return all(batch.refresh_array_addresses() for batch in self.batches)


class DigestColumns:
    """Table from which the digest of a world is computed, with one line per agent in the order of ids.

    A line has the id of the agent and its two digest numbers, `Walker.digest_numbers`. If the agent has a start or goal
    of its own, its start and its goal follow (goal -1: the shared goal). The table is reused while agents, starts and
    goals remain the same, because creating the table for 500 agents takes longer than a tick.
    """

    def __init__(self, walkers: Sequence[Walker], batches: Sequence[AgentBatch] = ()) -> None:
        # Sorted by id, because the digest must not depend on the order of walkers, which the user can change.
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
        """Update the digest numbers of all agents; return the used entries of the table as bytes."""
        for batch, indices in self._batches_with_rows:
            self._columns[indices, 1:3] = batch.digest_numbers()
        for index, walker in self._unbatched:
            self._columns[index, 1:3] = walker.digest_numbers
        return self._columns[self._is_in_digest].tobytes()


def _plan_key(walkers: Iterable[Walker]) -> list[tuple[int, int]]:
    """Return the cache key of a batch plan: object id and maximum number of trials of each walker.

    The key contains the maximum number of trials, because walkers with several trials cannot be batched.
    """
    return [(id(walker), walker.max_trials) for walker in walkers]


class BatchPlanCache:
    """Cache of a world's batch plan. Code that changes walkers sets `needs_refresh` or `needs_rebuild`."""

    def __init__(self) -> None:
        self.cached_plan: BatchPlan | None = None  # cached plan, which may be out of date; None: no plan yet
        # Whether the plan must be refreshed: walkers may be active again, or have other arrays, rules or budgets.
        self.needs_refresh = False
        # Whether a new plan must be formed: a walker may have to join or leave a batch.
        self.needs_rebuild = False

    def __reduce__(self) -> tuple[type["BatchPlanCache"], tuple[()]]:
        """Pickle as an empty cache, because the arrays of an unpickled world have other addresses."""
        return BatchPlanCache, ()

    def on_goals_changed(self) -> None:
        """Mark the plan for a refresh, because a walker that got a goal of its own may be active again.

        The digest columns are discarded too, because they contain the goals.
        """
        self.needs_refresh = True
        if self.cached_plan is not None:
            self.cached_plan.invalidate_digest_columns()

    def up_to_date_plan(self, walkers: Sequence[Walker], find_batchable: Callable[[], Iterable[Walker]]) -> BatchPlan:
        """Return an up-to-date batch plan of the present walkers: the cached plan, a refreshed one, or a new one.

        Args:
            walkers: all walkers of the world.
            find_batchable: function that returns the walkers that may be in a batch; called only to form a new plan.
        """
        plan = self.cached_plan
        if (
            plan is not None
            and not self.needs_refresh
            and not self.needs_rebuild
            and plan.is_formed_for_walkers(walkers)
        ):
            return plan
        if (plan := self.right(walkers)) is not None:
            plan.refresh_runnable_walkers()
        else:
            for walker in walkers:
                walker.leave_batch_during_advance()
            plan = self.cached_plan = BatchPlan(walkers, find_batchable())
        self.needs_refresh = self.needs_rebuild = False
        return plan

    def plan_with_stored_rows(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        """Return the cached plan if it is up to date and its batches store the rows of all their walkers; else None.

        With such a plan, callers can read batched walkers from the arrays of their batches. Only unbatched walkers have
        to be visited one by one.
        """
        plan = self.cached_plan
        if plan is None or self.needs_refresh or self.needs_rebuild or not plan.is_formed_for_walkers(walkers):
            return None
        return plan if all(batch.is_storing_rows for batch in plan.batches) else None

    def right(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        """Return the cached plan, with up-to-date array addresses, if all of its batches are valid; else None.

        The lists of runnable walkers and of walkers without a path may be out of date in this plan.
        """
        plan = self._plan_for_walkers(walkers)
        return plan if plan is not None and (not self.needs_refresh or plan.refresh_array_addresses()) else None

    def digest_columns(self, walkers: Sequence[Walker]) -> DigestColumns:
        """Return the digest columns of these walkers: those of the cached plan if it is for them, else new ones."""
        plan = self._plan_for_walkers(walkers)
        return DigestColumns(walkers) if plan is None else plan.digest_columns

    def _plan_for_walkers(self, walkers: Sequence[Walker]) -> BatchPlan | None:
        plan = self.cached_plan
        return plan if plan is not None and not self.needs_rebuild and plan.is_formed_for_walkers(walkers) else None
