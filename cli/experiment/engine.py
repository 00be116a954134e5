"""Engine of an experiment: submits tasks to an executor and stores their results. It is the only writer of the store.

A worker that dies breaks the whole pool of processes, and it is unknown which task killed the worker. Therefore all
tasks that were running become suspects, which are repeated one at a time. A task whose worker dies while no other task
is running is split into tasks of one world each, and a world whose workers have died three times is reported as a
failure.
"""

import re
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass

from agents import own_files
from cli.experiment import worker
from cli.experiment.pools import ClusterLostError, ExecutorFactory, InProcessExecutor
from cli.progress import ProgressBar
from sim.experiments.plan import WorkerTask, split_task
from sim.experiments.store import ResultStore
from sim.params import ConfigError
from sim.program import ROOT

_MAX_DEATHS = 3  # a task fails after so many workers have died while they ran it
_WAIT_S = 0.25  # maximum seconds to wait for a finished task before the progress bar is updated
_PROGRESS_LINE_S = 60.0  # seconds between two lines of progress if there is no progress bar


@dataclass
class SuspectTask:
    """Task, and the number of workers that died because of the task."""

    task: WorkerTask
    deaths: int = 0  # number of workers that died while this task was the only one running


class Engine:
    """Driver of an experiment: keeps an executor supplied with tasks until all runs are stored or have failed."""

    def __init__(
        self, store: ResultStore, pool: ExecutorFactory, progress: ProgressBar, tasks: Iterator[WorkerTask], total: int
    ) -> None:
        """Create an engine and its executor.

        Args:
            store: Receives the results.
            pool: Creates executors.
            progress: Shows the progress bar.
            tasks: The tasks to compute.
            total: The number of runs in all tasks.
        """
        self.store, self.pool, self.progress = store, pool, progress
        self.tasks, self.total = tasks, total
        self.done = self.failed = 0  # numbers of runs with stored results, and of failed runs
        self._executor: Executor = pool.create_executor()
        self._agent_files = own_files.versions_to_send()
        self._running: dict[Future[bytes], SuspectTask] = {}
        self._suspects: deque[SuspectTask] = deque()
        self._began_s = self._progress_s = time.monotonic()

    def run(self) -> None:
        """Compute all tasks. Results that have arrived are kept if an exception ends this early.

        Raises:
            KeyboardInterrupt: A signal arrived.
            ClusterLostError: The connection to the cluster ended.
            ConfigError: A worker runs another version of the program, or cannot load it.
        """
        try:
            while self._submit_tasks():
                self._collect_results()
                self._show_progress()
        finally:
            self._shut_down_executor()

    def _submit_tasks(self) -> bool:
        """Submit as many tasks as the pool has room for; return False if no task is left.

        Suspects (tasks that may have killed a worker) come first, one at a time.
        """
        if self._suspects:
            if not self._running:
                self._submit_task(self._suspects.popleft())
            return True
        room = self.pool.max_submitted(self._executor)
        while len(self._running) < room and (task := next(self.tasks, None)) is not None:
            self._submit_task(SuspectTask(task))
            if isinstance(self._executor, InProcessExecutor):
                break
        return bool(self._running)

    def _submit_task(self, suspect: SuspectTask) -> None:
        """Submit a task; if the executor is broken, make the task a suspect and renew the executor."""
        try:
            self._running[self._executor.submit(worker.compute_task_pickled, suspect.task, self._agent_files)] = suspect
        except BrokenExecutor:
            self._suspects.append(suspect)
            self._replace_executor()

    def _collect_results(self) -> None:
        """Wait briefly for finished tasks, and store their results or handle their errors."""
        if not self._running:
            return
        finished, _ = wait(self._running, _WAIT_S, FIRST_COMPLETED)
        suspects = []
        for future in finished:
            if (
                future.cancelled()
            ):  # cancelled by the cluster, because this engine cancels futures only in `_shut_down_executor`
                raise ClusterLostError
            suspect = self._running.pop(future)
            error = future.exception()
            if error is None:
                self._store_results(worker.unpickle_result(future.result()))
            elif isinstance(error, ConfigError):
                raise error
            elif isinstance(error, ModuleNotFoundError):  # not from an agent, whose errors are caught earlier
                raise ConfigError(f"a worker cannot load the program ({error}); start workers with PYTHONPATH={ROOT}")
            elif _is_worker_death(error):
                suspects.append(suspect)
            else:
                self._fail_task(suspect.task, _error_line(error))
        if suspects:
            self._handle_worker_deaths(suspects)

    def _store_results(self, result: worker.TaskResult) -> None:
        """Store the results and failures of a finished task, and count its runs."""
        lines, failures = result
        self.store.add(lines, [(failure.key, failure.text) for failure in failures])
        self.done += len({line[0] for line in lines})
        self.failed += len(failures)

    def _fail_task(self, task: WorkerTask, text: str) -> None:
        """Store the same failure for all runs of a task."""
        keys = [walk.key for job in task.jobs for walk in job.agent_runs]
        self.store.add([], [(key, text) for key in keys])
        self.failed += len(keys)

    # --- workers that die ---

    def _handle_worker_deaths(self, suspects: list[SuspectTask]) -> None:
        """Make all running tasks suspects and renew the executor.

        In a pool of processes all running tasks are lost together. A cluster reports which task lost its workers.
        """
        is_clear = len(suspects) == 1 and not self._running
        for suspect in [*suspects, *self._running.values()]:
            self._handle_suspect(suspect, is_clear)
        self._running.clear()
        self._replace_executor()

    def _handle_suspect(self, suspect: SuspectTask, is_clear: bool) -> None:
        """Count a death if the task ran alone, then queue the task again, split it, or give it up."""
        suspect.deaths += is_clear
        if suspect.deaths < _MAX_DEATHS:
            parts = split_task(suspect.task) if is_clear and len(suspect.task.jobs) > 1 else []
            self._suspects.extend([SuspectTask(task) for task in parts] or [suspect])
        else:
            self._fail_task(suspect.task, f"lost its worker {suspect.deaths} times")

    def _replace_executor(self) -> None:
        """Replace the executor by a new one."""
        self._executor.shutdown(wait=False)
        self._executor = self.pool.create_executor()

    def _shut_down_executor(self) -> None:
        """Cancel the tasks that have not finished, and shut down the executor."""
        for future in self._running:
            future.cancel()
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        if self._running:  # interrupted by a signal, so the results of running tasks are not needed any more
            for process in processes:
                process.terminate()
        self._executor.shutdown(wait=not self._running)
        self.progress.clear_bar()

    # --- progress ---

    def _show_progress(self) -> None:
        """Show the progress bar or, without a terminal, print a line of progress once a minute."""
        spent = time.monotonic() - self._began_s
        rate = self.done / spent if spent else 0.0
        time_left = f", {duration_text((self.total - self.done) / rate)} left" if rate else ""
        failed = f", {self.failed:,} failed" if self.failed else ""
        text = f"{self.done:,} of {self.total:,} runs, {rate:,.0f} per second{time_left}{failed}"
        self.progress.update_bar(text, self.done / max(1, self.total))
        if not self.progress.is_on and time.monotonic() - self._progress_s > _PROGRESS_LINE_S:
            self._progress_s = time.monotonic()
            self.progress.print_line(text)


def _is_worker_death(error: BaseException) -> bool:
    """Return whether an error means that a worker died.

    The exceptions of Dask and submitit are recognised by name, because these packages may not be installed.
    """
    return isinstance(error, BrokenExecutor) or type(error).__name__ in ("KilledWorker", "UncompletedJobError")


def _error_line(error: BaseException) -> str:
    """Return an error as one line of text.

    If the text of the error is a log of several lines, the last line that names an exception is returned.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return named[-1] if len(lines) > 1 and named else f"{type(error).__name__}: {lines[0] if lines else ''}"


def duration_text(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
