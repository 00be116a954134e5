"""Digests of the agents of a world, read from whole batches at once."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim.digest_table import DigestTable
from sim.walker import Walker


class DigestSource(Protocol):
    """Several agents whose digest numbers are read at once."""

    @property
    def agent_ids(self) -> tuple[int, ...]: ...

    def read_digest_halves(self) -> npt.NDArray[np.int64]:
        """Return an array [agents, 2] with the two digest numbers of each agent."""


class DigestColumns:
    """Digest table of a world whose columns are read from whole batches at once.

    The table is reused while agents, starts and goals remain the same, because creating the table for 500 agents takes
    longer than a tick.
    """

    def __init__(self, walkers: Sequence[Walker], batches: Sequence[DigestSource]) -> None:
        self._table = DigestTable(walkers)
        numbers = [walker.id for walker in self._table.walkers]
        self._batches_with_lines = [(batch, np.searchsorted(numbers, batch.agent_ids)) for batch in batches]
        batched = {number for batch in batches for number in batch.agent_ids}
        all_lines = enumerate(self._table.walkers)
        self._unbatched_walkers = [(line, walker) for line, walker in all_lines if walker.id not in batched]

    def read_digest_bytes(self) -> bytes:
        """Update the digest halves of all agents; return the used entries of the table as bytes."""
        for batch, lines in self._batches_with_lines:
            self._table.digest_halves[lines] = batch.read_digest_halves()
        for line, walker in self._unbatched_walkers:
            self._table.digest_halves[line] = walker.digest_halves
        return self._table.used_bytes()
