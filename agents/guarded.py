"""What stands between the world and an agent from a user's file: its errors and endless loops end with a message."""

import math
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from agents.watchdog import WATCHDOG, TooLongError
from sim.agent_api import GROUP_NAMES, Agent, AgentView, Problem, Status
from sim.grid import MapChange
from sim.metrics import OwnCounts
from sim.params import Value, printable
from sim.rules import AgentFailedError

T = TypeVar("T")

VERSION = "version"
"""The parameter that every agent of a user's has: which state of its file it is."""

PATIENCE_S = 1.0
"""How long a call may take; to begin, which may prepare something, ten times as long."""

MakeVersion = Callable[[str], Callable[[Problem, Mapping[str, Value]], Agent]]


class GuardedAgent:
    """An agent of the user's. After an error it does nothing any more, and tells it when it is asked to move."""

    def __init__(self, path: Path, versions: MakeVersion, problem: Problem, params: Mapping[str, Value]) -> None:
        self.path, self.versions, self.problem, self.params = path, versions, problem, dict(params)
        self.error = ""
        self._begin(problem)

    def _begin(self, problem: Problem) -> None:
        self.cell, self.goal = problem.start, problem.goal
        self.error = ""
        self.agent: Agent | None = None
        own = {name: value for name, value in self.params.items() if name != VERSION}
        make = self.versions(str(self.params[VERSION]))
        self.agent = self._call(lambda: make(problem, own), None, 10 * PATIENCE_S)

    def _call(self, do: Callable[[], T], otherwise: T, patience_s: float = PATIENCE_S) -> T:
        if self.error:
            return otherwise
        try:
            with WATCHDOG.watching(patience_s):
                return do()
        except TooLongError as error:
            self.error = f"{place_of(error, self.path)}: did not return within {patience_s:g} s, and was stopped there"
        except KeyboardInterrupt:  # Ctrl+C in the terminal means the program
            raise
        except BaseException as error:  # also `exit()`, which is not theirs to decide
            self.error = told(error, self.path)
        return otherwise

    # --- what the world asks ------------------------------------------------------------------------

    def advance(self, budget: int, rows: np.ndarray) -> int:
        agent = self.agent
        done = 0 if agent is None else self._call(lambda: agent.advance(budget, rows), 0)
        if self.error:
            raise AgentFailedError(self.error)
        self.cell = int(rows["cell"][0])
        return done

    def on_change(self, change: MapChange) -> None:
        self._tell("on_change", change)

    def set_goal(self, goal: int) -> None:
        self.goal = goal
        self._tell("set_goal", goal)

    def set_param(self, name: str, value: Value) -> None:
        self.params[name] = value
        if name == VERSION:
            problem = self.problem
            here = Problem(problem.grid, self.cell, self.goal, problem.seed, problem.budget, problem.watched)
            self._begin(here)
        else:
            self._tell("set_param", name, value)

    def begin_trial(self, start: int) -> None:
        self.cell = start
        self._tell("begin_trial", start)

    def refused(self, cell: int) -> None:
        self.cell = cell
        self._tell("refused", cell)

    def _tell(self, name: str, *given: Any) -> None:
        agent = self.agent
        self._call(lambda: getattr(agent, name)(*given), None)

    @property
    def status(self) -> Status:
        """Active where there is an error to tell."""
        agent = self.agent
        status = self._call(lambda: agent.status, Status.ACTIVE) if agent is not None else Status.ACTIVE
        return Status.ACTIVE if self.error or not isinstance(status, Status) else status

    @property
    def h_changes(self) -> int:
        return self._call(lambda: int(getattr(self.agent, "h_changes", 0)), 0)

    def own_counts(self) -> OwnCounts:
        agent = self.agent
        counts = self._call(agent.own_counts, OwnCounts()) if agent is not None else OwnCounts()
        return counts if isinstance(counts, OwnCounts) else OwnCounts()

    def view(self) -> AgentView:
        """What cannot be drawn is left out: it would take the drawing along."""
        agent = self.agent
        view = self._call(agent.view, AgentView()) if agent is not None else AgentView()
        return view if isinstance(view, AgentView) and _is_sound(view, self.problem.grid.cells) else AgentView()


def _is_sound(view: AgentView, cells: int) -> bool:
    """Whether it can be drawn: every list one of cells, every table as large as the map. Anything may be in it."""
    with suppress(Exception):
        lists = (view.path, view.tracing, view.waypoints, *view.groups.values())
        tables = [search.nodes for search in (view.search, view.detour) if search is not None]
        tables += [view.learned.h] if view.learned is not None else []
        tables += [view.depths] if view.depths is not None else []
        return (
            all(_are_cells(some, cells) for some in lists)
            and all(-1 <= int(cell) < cells for cell in (view.best, view.root, view.target))
            and 0 <= int(view.head) <= view.path.size
            and all(table.size in (1, cells) for table in tables)
            and set(view.groups) <= set(GROUP_NAMES)
            and all(math.isfinite(number) for number in view.numbers.values())
        )
    return False


def _are_cells(found: object, cells: int) -> bool:
    is_list = isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind in "iu"
    return is_list and bool(np.all((found >= 0) & (found < cells)))  # type: ignore[operator]


def told(error: BaseException, path: Path) -> str:
    """An error of the code in this file, in a line: where and what."""
    what = error.msg if isinstance(error, SyntaxError) else str(error)
    return printable(f"{place_of(error, path)}: {type(error).__name__}{f': {what}' if what else ''}")


def place_of(error: BaseException, path: Path) -> str:
    """File and line, the last ones in this file that led to the error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    return f"{path.name}:{lines[-1]}" if lines else path.name
