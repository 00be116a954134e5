"""A pytest plugin for random mutants: record which lines each test executes, or run chosen tests in a given order.

BACKMOVE_RECORD_LINES=FILE    append a JSON object per test to FILE: id, processor seconds, whether it passed, lines
BACKMOVE_RUN_TESTS=FILE       run only the tests in FILE, a JSON list of [id, seconds], in that order

Lines are recorded with sys.monitoring, which reports each line once and then costs nothing. Python 3.11 has only
sys.settrace: there, a code object is traced until all of its lines were executed, or until MAX_REPEATS events in a row
were of known lines, since tracing every iteration of an uncompiled kernel would take hours. A line that a loop first
reaches after that is not recorded.
"""

import faulthandler
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
WATCHED = ("sim", "files", "experiments", "agents", "ui/model")
MAX_REPEATS = 2000  # events in a row without a new line
MAX_TRACED_S = 10.0  # of processor time: a test is traced no longer than that
MAX_RECORDED_S = 12.0  # of processor time: a test that takes longer uncompiled ends the process, and is left out
MAX_WAITED_S = 300.0  # the same by the clock, for a test that waits
_CLOCK_EVERY = 4096  # calls between two looks at the clock

_record_to = os.environ.get("BACKMOVE_RECORD_LINES", "")
_run_from = os.environ.get("BACKMOVE_RUN_TESTS", "")


class _Code:
    """The lines of one code object that a test has executed."""

    def __init__(self, code: CodeType, path: str) -> None:
        self.code, self.path = code, path  # a reference to the code, so that its id stays its own
        self.left = {line for _, _, line in code.co_lines() if line}
        self.hit: set[int] = set()
        self.repeats = 0
        self.is_done = False

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            line = frame.f_lineno
            if line in self.left:
                self.left.discard(line)
                self.hit.add(line)
                self.repeats = 0
            else:
                self.repeats += 1
            if not self.left or self.repeats > MAX_REPEATS:
                self.is_done = True
                frame.f_trace_lines = False
        return self.trace


class _Monitor:
    """The lines that one test executes, in all threads, by sys.monitoring (Python 3.12 and later)."""

    def __init__(self) -> None:
        self.masks: dict[str, int] = {}
        self.paths: dict[str, str] = {}

    def start(self) -> None:
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutants")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self.line)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
        monitoring.restart_events()  # lines that an earlier test executed are reported again

    def stop(self) -> None:
        monitoring = sys.monitoring
        monitoring.set_events(monitoring.COVERAGE_ID, 0)
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, None)
        monitoring.free_tool_id(monitoring.COVERAGE_ID)

    def line(self, code: CodeType, number: int) -> Any:
        name = code.co_filename
        if name not in self.paths:
            self.paths[name] = _watched_path(name)
        path = self.paths[name]
        if path:
            self.masks[path] = self.masks.get(path, 0) | 1 << number
        return sys.monitoring.DISABLE

    def lines(self) -> dict[str, str]:
        """Return the executed lines of each file as a bit mask in hexadecimal digits."""
        return {path: f"{mask:x}" for path, mask in self.masks.items()}


class _Tracer:
    """The lines that one test executes, in all threads that it starts, by sys.settrace (Python 3.11)."""

    def __init__(self) -> None:
        self.codes: dict[int, _Code | None] = {}
        self.calls = 0
        self.until = _processor_s() + MAX_TRACED_S

    def start(self) -> None:
        threading.settrace(self.call)
        sys.settrace(self.call)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def call(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.calls += 1
        if not self.calls % _CLOCK_EVERY and _processor_s() > self.until:
            sys.settrace(None)
            return None
        code = frame.f_code
        key = id(code)
        if key not in self.codes:
            path = _watched_path(code.co_filename)
            self.codes[key] = _Code(code, path) if path else None
        found = self.codes[key]
        return None if found is None or found.is_done else found.trace

    def lines(self) -> dict[str, str]:
        """Return the executed lines of each file as a bit mask in hexadecimal digits."""
        masks: dict[str, int] = {}
        for found in self.codes.values():
            if found is not None and found.hit:
                masks[found.path] = masks.get(found.path, 0) | sum(1 << line for line in found.hit)
        return {path: f"{mask:x}" for path, mask in masks.items()}


_PREFIXES = tuple(f"{ROOT / folder}{os.sep}" for folder in WATCHED)


def _watched_path(name: str) -> str:
    return Path(name).relative_to(ROOT).as_posix() if name.startswith(_PREFIXES) else ""


def _processor_s() -> float:
    """Return the processor time of this process and of the children that it has waited for: no load changes it."""
    return sum(os.times()[:4])


def _limit_processor(seconds: float) -> None:
    """End this process after so much processor time, by a signal that nobody handles; 0: not any more."""
    if hasattr(signal, "ITIMER_PROF"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _append(row: dict[str, Any]) -> None:
    with open(_record_to, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not _run_from:
        return
    ranks = {name: rank for rank, (name, _) in enumerate(json.loads(Path(_run_from).read_text(encoding="utf-8")))}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in ranks])
    items[:] = sorted((item for item in items if item.nodeid in ranks), key=lambda item: ranks[item.nodeid])


_failed: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed:
        _failed.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if _run_from:
        faulthandler.dump_traceback_later(_limits()[item.nodeid], exit=True)
    if not _record_to:
        result = yield
        faulthandler.cancel_dump_traceback_later()
        return result
    _append({"begun": item.nodeid})
    _limit_processor(MAX_RECORDED_S)
    faulthandler.dump_traceback_later(MAX_WAITED_S, exit=True)
    recorder, began = (_Monitor if hasattr(sys, "monitoring") else _Tracer)(), _processor_s()
    recorder.start()
    try:
        result = yield
    finally:
        recorder.stop()
        _limit_processor(0.0)
        faulthandler.cancel_dump_traceback_later()
    seconds = round(_processor_s() - began, 3)
    passed = item.nodeid not in _failed
    _append({"test": item.nodeid, "s": seconds, "passed": passed, "lines": recorder.lines() if passed else {}})
    return result


_read_limits: dict[str, float] = {}


def _limits() -> dict[str, float]:
    """Return after how many seconds each test is stopped, which ends the process: the mutant has made it endless."""
    if not _read_limits:
        rows = json.loads(Path(_run_from).read_text(encoding="utf-8"))
        _read_limits.update({name: 60.0 + 10.0 * seconds for name, seconds in rows})
    return _read_limits
