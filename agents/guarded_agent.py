"""Guard against agents from user files: their errors and endless loops end with a message instead of a crash.

Every call into user code goes through `call_user_code_guarded`. The text of an exception is computed by user code too
(`__str__`, the name of its class), so `describe_user_code_error` computes it under the same guard.
"""

import math
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from agents.watchdog import WATCHDOG, CallTimeoutError, run_watched_thread
from sim.agent_api import GROUP_NAMES, Agent, AgentDefaults, AgentView, Problem, Status
from sim.grid import MapChange
from sim.metrics import OwnCounts
from sim.params import Value, escape_unprintable, value_as_in_python
from sim.referee_rules import AgentFailedError, AgentTooSlowError, UserAgent

T = TypeVar("T")

VERSION_PARAM_NAME = "version"
"""Name of the parameter of every user-defined agent that selects the version of its file."""

CALL_TIME_LIMIT_S = 1.0
"""Seconds that a call into user code may take; the call that creates the agent may take ten times as long."""

STATE_CALL_TIME_LIMIT_S = 5.0
"""Seconds for storing the state of an agent in a keyframe or loading it; longer, because the state may be large."""

MAX_MESSAGE_LENGTH = 300
"""Maximum number of characters shown of an exception's message."""

FactoryOfVersion = Callable[[str], Callable[[Problem, Mapping[str, Value]], Agent]]
"""Function from the version of a user file to the factory of its agents."""


def call_user_code_guarded(do: Callable[[], T], path: Path, patience_s: float) -> T:
    """Run user code under the watchdog.

    Args:
        do: Function that calls the user code.
        path: File of the user code, for messages.
        patience_s: Seconds that the call may take.

    Returns:
        The value that `do` returned.

    Raises:
        AgentFailedError: The code raised any error or did not return in time. The text is plain and short.
        KeyboardInterrupt: Ctrl+C in the terminal, which is meant for the program.
    """
    try:
        with WATCHDOG.watch_call(patience_s):
            return do()
    except CallTimeoutError as error:
        text = f"{error_position_in_file(error, path)}: did not return within {patience_s:g} s, and was stopped there"
        failure: AgentFailedError = AgentTooSlowError(text)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also catches SystemExit, because an agent must not end the program
        failure = AgentFailedError(describe_user_code_error(error, path))
    raise failure


class GuardedAgent(UserAgent, AgentDefaults):
    """Wrapper of a user-defined agent, which calls its methods under the guard.

    After an error the code of the user is not called any more, and the next `advance` raises the error.
    """

    def __init__(self, path: Path, versions: FactoryOfVersion, problem: Problem, params: Mapping[str, Value]) -> None:
        self.path, self.factory_of_version, self.problem, self.params = path, versions, problem, dict(params)
        self.error_text = ""
        self._create_agent(problem)

    def _create_agent(self, problem: Problem) -> None:
        """Create the user's agent by the version of its file that the parameters select."""
        self.cell, self.goal = problem.start, problem.goal
        self.error_text = ""
        self.agent: Agent | None = None
        own = {name: value for name, value in self.params.items() if name != VERSION_PARAM_NAME}
        make = self.factory_of_version(str(self.params[VERSION_PARAM_NAME]))
        self.agent = self._call_user_code(lambda: make(problem, own), None, 10 * CALL_TIME_LIMIT_S)

    def _call_user_code(self, do: Callable[[], T], otherwise: T, patience_s: float | None = None) -> T:
        if self.error_text:
            return otherwise
        try:
            return call_user_code_guarded(do, self.path, CALL_TIME_LIMIT_S if patience_s is None else patience_s)
        except AgentFailedError as error:
            self.error_text = str(error)
        return otherwise

    # --- storing and loading (sim/referee_rules.py) ---------------------------------------------------------

    @property
    def user_code_label(self) -> str:
        return f"{self.path.stem} {self.params[VERSION_PARAM_NAME]}"

    def run_user_code(self, do: Callable[[], T]) -> T:
        return call_user_code_guarded(do, self.path, STATE_CALL_TIME_LIMIT_S)

    # --- the agent contract -------------------------------------------------------------------------

    def advance(self, budget: int, rows: np.ndarray) -> int:
        agent = self.agent
        done = 0 if agent is None else self._call_user_code(lambda: _plain_tick_count(agent.advance(budget, rows)), 0)
        if self.error_text:
            raise AgentFailedError(self.error_text)
        self.cell = int(rows["cell"][0])
        return done

    def on_change(self, change: MapChange) -> None:
        self._notify_agent("on_change", change)

    def set_goal(self, goal: int) -> None:
        self.goal = goal
        self._notify_agent("set_goal", goal)

    def set_param(self, name: str, value: Value) -> None:
        self.params[name] = value
        if name == VERSION_PARAM_NAME:
            problem = self.problem
            problem_here = Problem(problem.grid, self.cell, self.goal, problem.seed, problem.budget, problem.watched)
            self._create_agent(problem_here)
        else:
            self._notify_agent("set_param", name, value)

    def begin_trial(self, start: int) -> None:
        self.cell = start
        self._notify_agent("begin_trial", start)

    def refused(self, cell: int) -> None:
        self.cell = cell
        self._notify_agent("refused", cell)

    def _notify_agent(self, name: str, *arguments: Any) -> None:
        """Call a method of the user's agent under the guard."""
        agent = self.agent
        self._call_user_code(lambda: getattr(agent, name)(*arguments), None)

    @property
    def status(self) -> Status:
        """Return the status of the agent; ACTIVE after an error, so that `advance` is called and reports it."""
        agent = self.agent
        status = (
            self._call_user_code(lambda: _plain_status(agent.status), Status.ACTIVE)
            if agent is not None
            else Status.ACTIVE
        )
        return Status.ACTIVE if self.error_text else status

    @property
    def h_changes(self) -> int:
        return self._call_user_code(lambda: int(getattr(self.agent, "h_changes", 0)), 0)

    def own_counts(self) -> OwnCounts:
        agent = self.agent
        return (
            OwnCounts()
            if agent is None
            else self._call_user_code(lambda: _plain_own_counts(agent.own_counts()), OwnCounts())
        )

    def view(self) -> AgentView:
        """Return the agent's view; an empty one if it is invalid, because drawing it would fail."""
        agent, cells = self.agent, self.problem.grid.cells
        return (
            AgentView()
            if agent is None
            else self._call_user_code(lambda: _plain_view(agent.view(), cells), AgentView())
        )


# --- conversion of results of user code to plain values, whose use calls no user code -------------------------------


class _InvalidValue:
    """Stands for an invalid value that user code returned; keeps only its text, for the referee's message."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _plain_tick_count(count: object) -> int:
    """Return the number of ticks done as an int. Any other value is returned as its text, which the referee rejects."""
    if isinstance(count, int | np.integer):
        return int(count)
    return _InvalidValue(_plain_str(value_as_in_python(count)))  # type: ignore[return-value]


def _plain_status(status: object) -> Status:
    return status if type(status) is Status else Status.ACTIVE


def _plain_own_counts(counts: object) -> OwnCounts:
    if not isinstance(counts, OwnCounts):
        return OwnCounts()
    return OwnCounts(**{each.name: int(getattr(counts, each.name)) for each in fields(OwnCounts)})


_VIEW_FIELDS = tuple(each.name for each in fields(AgentView))


def _plain_view(view: object, cells: int) -> AgentView:
    if not isinstance(view, AgentView) or not _is_drawable_view(view, cells):
        return AgentView()
    values = {name: getattr(view, name) for name in _VIEW_FIELDS}
    for name in ("path", "tracing", "waypoints"):
        values[name] = np.asarray(values[name])
    for name in ("head", "best", "root", "target", "chosen_at"):
        values[name] = int(values[name])
    values["groups"] = {_plain_str(name): np.asarray(group) for name, group in view.groups.items()}
    values["numbers"] = {_plain_str(name): float(number) for name, number in view.numbers.items()}
    return AgentView(**values)


def _plain_str(text: str) -> str:
    """Return a text as a plain str, even if it is of a user-defined subclass; raise a TypeError for other values."""
    return str.__getitem__(text, slice(None))


def _is_drawable_view(view: AgentView, cells: int) -> bool:
    """Return whether a view can be drawn: all lists contain cells of the map, all tables have the size of the map.

    The fields of the view may have any type, so every exception counts as False.
    """
    with suppress(Exception):
        lists = (view.path, view.tracing, view.waypoints, *view.groups.values())
        tables = [search.nodes for search in (view.search, view.detour) if search is not None]
        tables += [view.learned.h] if view.learned is not None else []
        tables += [view.depths] if view.depths is not None else []
        return (
            all(_are_valid_cells(some, cells) for some in lists)
            and all(-1 <= int(cell) < cells for cell in (view.best, view.root, view.target))
            and 0 <= int(view.head) <= view.path.size
            and all(table.size in (1, cells) for table in tables)
            and set(view.groups) <= set(GROUP_NAMES)
            and all(math.isfinite(number) for number in view.numbers.values())
        )
    return False


def _are_valid_cells(found: object, cells: int) -> bool:
    is_list = isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind in "iu"
    return is_list and bool(np.all((found >= 0) & (found < cells)))  # type: ignore[operator]


# --- exceptions as text -----------------------------------------------------------------------------


def describe_user_code_error(error: BaseException, path: Path) -> str:
    """Return one line that describes an error of user code: file and line, class and message."""
    found: list[str] = []
    run_watched_thread(partial(_collect_error_texts, error, found), CALL_TIME_LIMIT_S)
    match found:
        case [name]:
            what = f"{name}, whose message could not be read"
        case [name, message]:
            what = f"{name}: {message}" if message else name
        case _:
            what = "an error whose class and message could not be read"
    return escape_unprintable(f"{error_position_in_file(error, path)}: {what}")


def _collect_error_texts(error: BaseException, found: list[str]) -> None:
    """Append the class name of an error to `found`, then its message. User code computes both, and may fail."""
    found.append(_as_one_line(type(error).__name__))
    found.append(_as_one_line(cast(SyntaxError, error).msg if issubclass(type(error), SyntaxError) else str(error)))


def _as_one_line(text: str) -> str:
    """Return the first `MAX_MESSAGE_LENGTH` characters of a text, perhaps of a user's subclass of str, as one line."""
    begin = str.__getitem__(text, slice(MAX_MESSAGE_LENGTH + 1))
    line = " ".join(begin.split())
    return line if len(begin) <= MAX_MESSAGE_LENGTH else line[: MAX_MESSAGE_LENGTH - 3] + "..."


def user_file_traceback_lines(error: BaseException, path: Path) -> list[int]:
    """Return the line numbers of a user file in the traceback of an error, without running user code."""
    trace = vars(BaseException)["__traceback__"].__get__(error)
    return [line for frame, line in traceback.walk_tb(trace) if frame.f_code.co_filename == str(path)]


def error_position_in_file(error: BaseException, path: Path) -> str:
    """Return the position of an error in a user file: its last line in the traceback, written as "mine.py:12"."""
    lines = user_file_traceback_lines(error, path)
    if type(error) in (SyntaxError, IndentationError, TabError):
        assert isinstance(error, SyntaxError)
        filename, line = error.filename, error.lineno
        lines += [line] if type(filename) is str and filename == str(path) and type(line) is int else []
    return f"{path.name}:{lines[-1]}" if lines else path.name
