"""Batch plan: which walkers of a world advance in batches, and which advance one by one.

A walker is an agent in the world. A batch (class `AgentBatch`, agent_batch.py) advances many walkers in one kernel
call. A walker that is in no batch is "unbatched". Digest columns (digest_columns.py) are the numbers of all agents from
which the digest of the world is computed.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from sim.batching.agent_batch import AgentBatch, form_batches
from sim.batching.digest_columns import DigestColumns
from sim.sequential_executor import is_waiting_for_path, may_walker_act
from sim.walker import Walker


class BatchPlan:
    """Assignment of a world's walkers to batches. Those in `unbatched_walkers` advance one by one."""

    def __init__(self, walkers: Sequence[Walker], batchable: Iterable[Walker], min_batch_size: int) -> None:
        """Assign walkers to batches of agents of the same kind.

        Args:
            walkers: all walkers of the world.
            batchable: walkers that may be in a batch. A walker for which no batch is formed advances alone.
            min_batch_size: minimum number of agents in a batch.
        """
        self._all_walkers = tuple(walkers)  # a copy, because the world may add walkers to its list later
        self.batches = form_batches(batchable, min_batch_size)
        batched = [walker for batch in self.batches for walker in batch.walkers]
        numbers = {walker.id for walker in batched}
        self.unbatched_walkers = [walker for walker in walkers if walker.id not in numbers]
        self.refresh_runnable_walkers()

    def refresh_runnable_walkers(self) -> None:
        """Recompute `runnable_walkers`, the unbatched walkers that can act, and `walkers_without_path`.

        Both lists are cached: often most walkers have arrived, and checking all walkers in every tick would be slow.
        Call this method when a walker is done, and after every change that may make a walker active again. Agents from
        a user's file are always in `runnable_walkers`, because their status may change or their code may fail at any
        time.
        """
        self.runnable_walkers = [walker for walker in self.unbatched_walkers if may_walker_act(walker)]
        self.walkers_without_path = [walker for walker in self.unbatched_walkers if is_waiting_for_path(walker)]
        self.has_runnable_walkers = bool(self.runnable_walkers or self.walkers_without_path or self.batches)

    @cached_property
    def batch_places(self) -> dict[int, tuple[AgentBatch, int]]:
        """Return the places of all batched walkers: agent id -> (batch, index in the batch)."""
        return {number: (batch, index) for batch in self.batches for number, index in batch.index_by_id.items()}

    def queue_prefix_length_for_one_call(self, queue: Sequence[Walker]) -> int:
        """Return how many walkers at the front of `queue` can advance in one kernel call.

        These walkers have consecutive indices in one batch. 0: the first walker is unbatched.
        """
        first = self.batch_places.get(queue[0].id)
        if first is None:
            return 0
        batch, index = first
        found = (self.batch_places.get(walker.id) for walker in queue)
        return next((n for n, place in enumerate(found) if place != (batch, index + n)), len(queue))

    @cached_property
    def digest_columns(self) -> DigestColumns:
        """Return the table from which the world's digest is computed. It is created once and then cached."""
        return DigestColumns(self._all_walkers, self.batches)

    def invalidate_digest_columns(self) -> None:
        """Discard the cached digest columns, because they contain goals and the goal of a walker has changed."""
        self.__dict__.pop("digest_columns", None)

    def refresh_array_addresses(self) -> bool:
        """Refresh the array addresses that batches store; return whether all batches are still valid.

        A batch is no longer valid if an agent needs another kernel, or if the sizes of its arrays have changed.
        """
        return all(batch.refresh_array_addresses() for batch in self.batches)
