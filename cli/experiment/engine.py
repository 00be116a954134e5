"""Hands tasks to whoever does them and keeps what comes back. The only writer of the results.

A worker that dies takes others with it: nobody knows which of the tasks at hand was to blame. They are done again one
at a time; one that loses its worker alone is cut into single worlds, and a world that loses three is given up and told.
"""

import re
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass

from agents import own_files
from cli.experiment import worker
from cli.experiment.pools import ClusterLostError, InThisProcess, Pool
from cli.progress import Progress
from sim.experiments.plan import Task, split
from sim.experiments.store import Store
from sim.params import ConfigError
from sim.program import ROOT

_MOST_DEATHS = 3
_LOOK_S = 0.25
_QUIET_S = 60.0  # between two lines where no bar can be shown


@dataclass
class Suspect:
    """A task that was at hand when a worker died."""

    task: Task
    deaths: int = 0  # of workers that had nothing else to do


class Engine:
    def __init__(self, store: Store, pool: Pool, progress: Progress, tasks: Iterator[Task], total: int) -> None:
        """`total`: runs that are to be done."""
        self.store, self.pool, self.progress = store, pool, progress
        self.tasks, self.total = tasks, total
        self.done = self.failed = 0
        self._executor: Executor = pool.make()
        self._own = own_files.sent()
        self._running: dict[Future[bytes], Suspect] = {}
        self._suspects: deque[Suspect] = deque()
        self._began_s = self._told_s = time.monotonic()

    def run(self) -> None:
        """Do all tasks; a KeyboardInterrupt or a ClusterLostError ends it and keeps what workers have sent."""
        try:
            while self._fill():
                self._collect()
                self._tell()
        finally:
            self._end()

    def _fill(self) -> bool:
        """Hand over as much as there is room for. Suspects go one at a time. False when nothing is left."""
        if self._suspects:
            if not self._running:
                self._start(self._suspects.popleft())
            return True
        room = self.pool.room(self._executor)
        while len(self._running) < room and (task := next(self.tasks, None)) is not None:
            self._start(Suspect(task))
            if isinstance(self._executor, InThisProcess):
                break
        return bool(self._running)

    def _start(self, suspect: Suspect) -> None:
        try:
            self._running[self._executor.submit(worker.work_in_one_piece, suspect.task, self._own)] = suspect
        except BrokenExecutor:
            self._suspects.append(suspect)
            self._renew()

    def _collect(self) -> None:
        """Keep what is finished."""
        if not self._running:
            return
        finished, _ = wait(self._running, _LOOK_S, FIRST_COMPLETED)
        lost = []
        for future in finished:
            if future.cancelled():  # not by this engine, which cancels only at the end
                raise ClusterLostError
            suspect = self._running.pop(future)
            error = future.exception()
            if error is None:
                self._keep(worker.opened(future.result()))
            elif isinstance(error, ConfigError):
                raise error
            elif isinstance(error, ModuleNotFoundError):  # what an agent imports is caught where it is made
                raise ConfigError(f"a worker cannot load the program ({error}); start workers with PYTHONPATH={ROOT}")
            elif _is_death(error):
                lost.append(suspect)
            else:
                self._give_up(suspect.task, _reason(error))
        if lost:
            self._after_death(lost)

    def _keep(self, found: worker.Done) -> None:
        lines, failures = found
        self.store.add(lines, [(failure.key, failure.text) for failure in failures])
        self.done += len({line[0] for line in lines})
        self.failed += len(failures)

    def _give_up(self, task: Task, text: str) -> None:
        keys = [walk.key for job in task.jobs for walk in job.walks]
        self.store.add([], [(key, text) for key in keys])
        self.failed += len(keys)

    # --- workers that die ---

    def _after_death(self, lost: list[Suspect]) -> None:
        """A pool of this machine is broken as a whole; a cluster tells which task lost its workers."""
        is_clear = len(lost) == 1 and not self._running
        for suspect in [*lost, *self._running.values()]:
            self._judge(suspect, is_clear)
        self._running.clear()
        self._renew()

    def _judge(self, suspect: Suspect, is_clear: bool) -> None:
        suspect.deaths += is_clear
        if suspect.deaths < _MOST_DEATHS:
            parts = split(suspect.task) if is_clear and len(suspect.task.jobs) > 1 else []
            self._suspects.extend([Suspect(task) for task in parts] or [suspect])
        else:
            self._give_up(suspect.task, f"lost its worker {suspect.deaths} times")

    def _renew(self) -> None:
        self._executor.shutdown(wait=False)
        self._executor = self.pool.make()

    def _end(self) -> None:
        for future in self._running:
            future.cancel()
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        if self._running:  # interrupted: what they are at is of no use to anybody
            for process in processes:
                process.terminate()
        self._executor.shutdown(wait=not self._running)
        self.progress.clear()

    # --- saying how it goes ---

    def _tell(self) -> None:
        spent = time.monotonic() - self._began_s
        rate = self.done / spent if spent else 0.0
        left = f", {duration((self.total - self.done) / rate)} left" if rate else ""
        failed = f", {self.failed:,} failed" if self.failed else ""
        text = f"{self.done:,} of {self.total:,} runs, {rate:,.0f} a second{left}{failed}"
        self.progress.show(text, self.done / max(1, self.total))
        if not self.progress.is_on and time.monotonic() - self._told_s > _QUIET_S:
            self._told_s = time.monotonic()
            self.progress.say(text)


def _is_death(error: BaseException) -> bool:
    """Whether a worker was lost; Dask and submitit have words of their own for it, and need not be installed."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ in ("KilledWorker", "UncompletedJobError")


def _reason(error: BaseException) -> str:
    """In one line; of a whole log, the line that names the error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return named[-1] if len(lines) > 1 and named else f"{type(error).__name__}: {lines[0] if lines else ''}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
