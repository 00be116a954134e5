"""Table from which the digest of a world is computed."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from sim.walker import Walker


class DigestTable:
    """Table with one line per agent, in the order of ids, from which the digest of a world is computed.

    A line has the id of the agent and the two halves of its digest, `Walker.digest_halves`. If the agent has a start or
    goal of its own, its start and its goal follow (goal -1: the shared goal). The caller fills in `digest_halves`.
    """

    def __init__(self, walkers: Sequence[Walker]) -> None:
        # Sorted by id, because the digest must not depend on the order of walkers, which the user can change.
        in_order = sorted(walkers, key=attrgetter("id"))
        self.walkers = in_order
        self._table = np.zeros((len(in_order), 5), np.int64)
        self._table[:, 0] = [walker.id for walker in in_order]
        self._table[:, 3] = [walker.start for walker in in_order]
        self._table[:, 4] = [-1 if walker.own_goal is None else walker.own_goal for walker in in_order]
        self._is_in_digest = np.ones(self._table.shape, np.bool_)
        self._is_in_digest[[not walker.has_own_start_or_goal for walker in in_order], 3:] = False
        self.digest_halves = self._table[:, 1:3]  # [agents, 2] both halves of each agent's digest, in the order of ids

    def used_bytes(self) -> bytes:
        """Return the used entries of the table as bytes."""
        return self._table[self._is_in_digest].tobytes()
