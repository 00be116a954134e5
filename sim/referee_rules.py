"""Rules that the referee checks, messages about broken rules, and the replacement of an agent that broke a rule.

The referee checks moves, expansions and statuses when an agent reports them. An agent that breaks a rule is stopped
for the rest of the run, with a record of the violation (what, tick and cell); the other agents continue. The checks
cost next to nothing: they need the cell of the agent, the counts in its row (log.ROW, its report about one tick),
and, if it reports that there is no path, a distance that the referee knows in most cases.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sim.agent_api import Agent, AgentDefaults, AgentView, Status
from sim.grid import Grid, MapChange
from sim.metrics import OwnCounts
from sim.params import Value

T = TypeVar("T")


class AgentFailedError(Exception):
    """Error in the code of a user's agent. The text describes the error, with file and line if they are known."""


class AgentTooSlowError(AgentFailedError):
    """Timeout: a call into the code of a user's agent did not return in time."""


class UserAgent:
    """Agent that runs a user's code. Every call of that code may fail, even a call to store or load its state."""

    agent: Agent | None  # object created by the user's code; None if its creation failed

    @property
    def user_code_label(self) -> str:
        """Return the name and version of the user's code, such as "mine 1a2b3c4d"."""
        raise NotImplementedError

    def run_user_code(self, do: Callable[[], T]) -> T:
        """Run a function that stores or loads `agent` and so calls the user's code.

        Args:
            do: function to call.

        Returns:
            The result of `do`.

        Raises:
            AgentFailedError: the code failed or did not return in time.
        """
        raise NotImplementedError


VIOLATION_WORDS = ("broke the rules", "failed")
"""Words for an agent that broke a rule, and for an agent whose code failed. Index: `Violation.is_failure`."""


@dataclass(frozen=True)
class Violation:
    """Reason why the referee stopped an agent: a broken rule or an error in its code."""

    description: str  # description of the violation, such as "moved from (1, 0) to (5, 5), which is not a legal move"
    tick: int  # world tick of the violation
    cell: tuple[int, int]  # cell (x, y) on which the agent was stopped
    is_failure: bool = False  # True: the agent's code failed; False: the agent broke a rule

    @property
    def state_word(self) -> str:
        return VIOLATION_WORDS[self.is_failure]

    def message_for_agent(self, label: str) -> str:
        """Return a sentence about the violation for a message. Every RunMessage has the tick, so it is left out."""
        x, y = self.cell
        return f"{label} {self.state_word} on ({x}, {y}): {self.description}"


class StoppedAgent(AgentDefaults):
    """Replacement for an agent that was stopped: it does nothing, and shows the last view of that agent."""

    takes_plain_rows = True  # never called, so that either form of rows would do
    status = Status.GAVE_UP

    def __init__(self, agent: Agent) -> None:
        self.h_changes = int(getattr(agent, "h_changes", 0))
        self._last_view = agent.view()
        self._own_counts = agent.own_counts()

    def advance(self, budget: int, rows: np.ndarray) -> int:
        raise AssertionError("a stopped agent is not asked")

    def begin_trial(self, start: int) -> None:
        """Do nothing, because a stopped agent makes no more trials."""

    def on_change(self, change: MapChange) -> None:
        """Do nothing, because a stopped agent does not react to map changes."""

    def set_goal(self, goal: int) -> None:
        """Do nothing, because a stopped agent does not react to a new goal."""

    def set_param(self, name: str, value: Value) -> None:
        """Do nothing, because parameters have no effect on a stopped agent."""

    def refused(self, cell: int) -> None:
        """Do nothing, because a stopped agent makes no moves."""

    def own_counts(self) -> OwnCounts:
        return self._own_counts

    def view(self) -> AgentView:
        return self._last_view


def describe_wrong_tick_count(count: object, requested: int) -> str | None:
    """Return an error message about the number of ticks that `advance` returned, or None if that number is possible.

    Args:
        count: return value of `Agent.advance`.
        requested: number of ticks for which `advance` was called.
    """
    if not isinstance(count, int | np.integer):
        return f"advance returned {count!r}; expected the number of ticks done"
    if not 0 < count <= requested:
        return f"advance returned {count}; expected 1 to {requested}, the number of ticks requested"
    return None


def describe_broken_rule(grid: Grid, position: int, rows: np.ndarray, row: int) -> str:
    """Return an error message about a log row that breaks a rule.

    Args:
        grid: true map.
        position: cell of the agent before this row.
        rows: rows written by the agent.
        row: index of the row that breaks a rule.
    """
    for name in ("expanded", "traced"):
        if rows[name][row] < 0:
            return f"reported {int(rows[name][row])} cells {name}; expected 0 or more"
    cell = int(rows["cell"][row])
    target = f"{grid.xy(cell)}" if 0 <= cell < grid.cells else f"cell {cell}, which is not on the map"
    return f"moved from {grid.xy(position)} to {target}, which is not a legal move"
