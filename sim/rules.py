"""The rules of the referee that an agent can break, and what becomes of one that did.

Moves, expansions and claims are checked as they are reported. Who breaks a rule stands still from then on, marked with
rule, tick and cell; the others walk on. What is checked in every tick costs next to nothing: the place of the agent,
the counts of its row, and, when it says that there is no path, a distance that the referee knows anyway.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sim.agent_api import Agent, AgentView, Status
from sim.grid import Grid, MapChange
from sim.metrics import OwnCounts
from sim.params import Value

T = TypeVar("T")


class AgentFailedError(Exception):
    """An agent's own code failed. The text says what and, where that is known, in which file and line."""


class AgentTooSlowError(AgentFailedError):
    """A call into an agent's own code did not return in time."""


class UserAgent:
    """An agent that runs code of the user's, of which anything may fail: to store or to load its state, too."""

    agent: Agent | None  # the user's own object; None after it failed to begin

    @property
    def code(self) -> str:
        """Name the code that runs, such as "mine 1a2b3c4d"."""
        raise NotImplementedError

    def run_user_code(self, do: Callable[[], T]) -> T:
        """Run code of the user's that stores or loads `agent`.

        Returns:
            What `do` returned.

        Raises:
            AgentFailedError: the code failed or did not return.
        """
        raise NotImplementedError


OFFENCE_WORDS = ("broke the rules", "failed")
"""What is said of who broke a rule, and of one whose code failed."""


@dataclass(frozen=True)
class Offence:
    """Why an agent was stopped."""

    what: str  # "moved from (1, 0) to (5, 5), which is no legal move"
    tick: int
    place: tuple[int, int]  # where it stands since then
    is_failure: bool = False  # its code failed; it broke no rule

    @property
    def word(self) -> str:
        return OFFENCE_WORDS[self.is_failure]

    def told(self, label: str) -> str:
        """One sentence, for messages that name their tick."""
        x, y = self.place
        return f"{label} {self.word} on ({x}, {y}): {self.what}"


class StoppedAgent:
    """Stands in the place of an agent that was stopped: it shows what that one showed last, and does nothing."""

    takes_bare_rows = True
    status = Status.GAVE_UP

    def __init__(self, agent: Agent) -> None:
        self.h_changes = int(getattr(agent, "h_changes", 0))
        self._view = agent.view()
        self._own_counts = agent.own_counts()

    def advance(self, budget: int, rows: np.ndarray) -> int:
        raise AssertionError("a stopped agent is not asked")

    def begin_trial(self, start: int) -> None:
        """It begins nothing."""

    def on_change(self, change: MapChange) -> None:
        """It stays where it is."""

    def set_goal(self, goal: int) -> None:
        """It stays where it is."""

    def set_param(self, name: str, value: Value) -> None:
        """It stays as it is."""

    def refused(self, cell: int) -> None:
        """It does not move."""

    def own_counts(self) -> OwnCounts:
        return self._own_counts

    def view(self) -> AgentView:
        return self._view


def wrong_count(count: object, asked: int) -> str | None:
    """What is wrong with the number of ticks that `advance` says it did, if anything."""
    if not isinstance(count, int | np.integer):
        return f"advance returned {count!r}; expected the number of ticks done"
    if not 0 < count <= asked:
        return f"advance returned {count}; expected 1 to {asked}, the ticks that it was asked for"
    return None


def wrong_row(grid: Grid, position: int, rows: np.ndarray, row: int) -> str:
    """What is wrong with a row that breaks a rule, of an agent that stands where the row before left it."""
    for name in ("expanded", "traced"):
        if rows[name][row] < 0:
            return f"reported {int(rows[name][row])} cells {name}; expected 0 or more"
    cell = int(rows["cell"][row])
    there = f"{grid.xy(cell)}" if 0 <= cell < grid.cells else f"cell {cell}, which is not on the map"
    return f"moved from {grid.xy(position)} to {there}, which is no legal move"
