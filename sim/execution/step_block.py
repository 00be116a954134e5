"""Block of log rows of agents that acted together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class StepBlock:
    """Log rows that several agents wrote in consecutive ticks."""

    first_tick: int  # world tick of column 0 of `log_rows`
    index_by_id: Mapping[int, int]  # agent id -> index of the agent in this block
    log_rows: npt.NDArray[Any]  # log.ROW[agents, ticks]: log row of each agent and tick
    done: npt.NDArray[np.int64]  # [agents] number of ticks in which each agent acted; rows of later ticks are unused

    @property
    def end(self) -> int:
        """Return the world tick that follows the last of these ticks."""
        return self.first_tick + int(self.log_rows.shape[1])
