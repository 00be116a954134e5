"""Numbers of all agents from which the digest of a world is computed, in columns."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim.walker import Walker


class DigestSource(Protocol):
    """Several agents whose digest numbers are read at once."""

    @property
    def agent_ids(self) -> tuple[int, ...]: ...

    def read_digest_halves(self) -> npt.NDArray[np.int64]:
        """Return an array [agents, 2] with the two digest numbers of each agent."""


class DigestColumns:
    """Table from which the digest of a world is computed, with one line per agent in the order of ids.

    A line has the id of the agent and its two digest numbers, `Walker.digest_numbers`. If the agent has a start or goal
    of its own, its start and its goal follow (goal -1: the shared goal). The table is reused while agents, starts and
    goals remain the same, because creating the table for 500 agents takes longer than a tick.
    """

    def __init__(self, walkers: Sequence[Walker], batches: Sequence[DigestSource] = ()) -> None:
        # Sorted by id, because the digest must not depend on the order of walkers, which the user can change.
        in_order = sorted(walkers, key=attrgetter("id"))
        numbers = [walker.id for walker in in_order]
        self._digest_table = np.zeros((len(in_order), 5), np.int64)
        self._digest_table[:, 0] = numbers
        self._digest_table[:, 3] = [walker.start for walker in in_order]
        self._digest_table[:, 4] = [-1 if walker.own_goal is None else walker.own_goal for walker in in_order]
        self._is_in_digest = np.ones(self._digest_table.shape, np.bool_)
        self._is_in_digest[[not walker.has_own_start_or_goal for walker in in_order], 3:] = False
        self._batches_with_table_rows = [(batch, np.searchsorted(numbers, batch.agent_ids)) for batch in batches]
        batched = {number for batch in batches for number in batch.agent_ids}
        self._unbatched_walkers = [(index, walker) for index, walker in enumerate(in_order) if walker.id not in batched]

    def read_digest_bytes(self) -> bytes:
        """Update the digest numbers of all agents; return the used entries of the table as bytes."""
        for batch, indices in self._batches_with_table_rows:
            self._digest_table[indices, 1:3] = batch.read_digest_halves()
        for index, walker in self._unbatched_walkers:
            self._digest_table[index, 1:3] = walker.digest_halves
        return self._digest_table[self._is_in_digest].tobytes()
