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
from experiments.plan import WorkerTask, split_task
from experiments.store import ResultStore
from sim.params import ConfigError
from sim.system.program import PROGRAM_FOLDER

_MAX_DEATHS = 3  # a task fails after so many workers have died while they ran it
_WAIT_S = 0.25  # maximum seconds to wait for a finished task before the progress bar is updated
_PROGRESS_LINE_S = 60.0  # seconds between two lines of progress if there is no progress bar


@dataclass
class SuspectTask:
    """Task, and the number of workers that died because of the task."""

    task: WorkerTask
    worker_deaths: int = 0  # number of workers that died while this task was the only one running


class ExperimentEngine:
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
        self.store, self.executor_factory, self.progress = store, pool, progress
        self.unsubmitted_tasks, self.total_runs = tasks, total
        self.done = self.failed_runs = 0  # numbers of runs with stored results, and of failed runs
        self._executor: Executor = pool.create_executor()
        self._agent_files = own_files.versions_to_send()
        self._running_tasks: dict[Future[bytes], SuspectTask] = {}
        self._suspect_tasks: deque[SuspectTask] = deque()
        self._start_time_s = self._last_progress_time_s = time.monotonic()

    def run_all_tasks(self) -> None:
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
        if self._suspect_tasks:
            if not self._running_tasks:
                self._submit_task(self._suspect_tasks.popleft())
            return True
        room = self.executor_factory.max_submitted(self._executor)
        while len(self._running_tasks) < room and (task := next(self.unsubmitted_tasks, None)) is not None:
            self._submit_task(SuspectTask(task))
            if isinstance(self._executor, InProcessExecutor):
                break
        return bool(self._running_tasks)

    def _submit_task(self, suspect: SuspectTask) -> None:
        """Submit a task; if the executor is broken, make the task a suspect and renew the executor."""
        try:
            self._running_tasks[self._executor.submit(worker.compute_task_pickled, suspect.task, self._agent_files)] = (
                suspect
            )
        except BrokenExecutor:
            self._suspect_tasks.append(suspect)
            self._replace_executor()

    def _collect_results(self) -> None:
        """Wait briefly for finished tasks, and store their results or handle their errors."""
        if not self._running_tasks:
            return
        finished, _ = wait(self._running_tasks, _WAIT_S, FIRST_COMPLETED)
        suspects = []
        for future in finished:
            if (
                future.cancelled()
            ):  # cancelled by the cluster, because this engine cancels futures only in `_shut_down_executor`
                raise ClusterLostError
            suspect = self._running_tasks.pop(future)
            error = future.exception()
            if error is None:
                self._store_results(worker.unpickle_result(future.result()))
            elif isinstance(error, ConfigError):
                raise error
            elif isinstance(error, ModuleNotFoundError):  # not from an agent, whose errors are caught earlier
                raise ConfigError(
                    f"a worker cannot load the program ({error}); start workers with PYTHONPATH={PROGRAM_FOLDER}"
                )
            elif _is_worker_death(error):
                suspects.append(suspect)
            else:
                self._store_failure_of_task(suspect.task, _error_line(error))
        if suspects:
            self._handle_worker_deaths(suspects)

    def _store_results(self, result: worker.TaskResult) -> None:
        """Store the results and failures of a finished task, and count its runs."""
        lines, failures = result
        self.store.add(lines, [(failure.key, failure.reason) for failure in failures])
        self.done += len({line[0] for line in lines})
        self.failed_runs += len(failures)

    def _store_failure_of_task(self, task: WorkerTask, text: str) -> None:
        """Store the same failure for all runs of a task."""
        keys = [walk.key for job in task.jobs for walk in job.agent_runs]
        self.store.add([], [(key, text) for key in keys])
        self.failed_runs += len(keys)

    # --- workers that die ---

    def _handle_worker_deaths(self, suspects: list[SuspectTask]) -> None:
        """Make all running tasks suspects and renew the executor.

        In a pool of processes all running tasks are lost together. A cluster reports which task lost its workers.
        """
        is_clear = len(suspects) == 1 and not self._running_tasks
        for suspect in [*suspects, *self._running_tasks.values()]:
            self._handle_death_of_suspect(suspect, is_clear)
        self._running_tasks.clear()
        self._replace_executor()

    def _handle_death_of_suspect(self, suspect: SuspectTask, is_clear: bool) -> None:
        """Count a death if the task ran alone, then queue the task again, split it, or give it up."""
        suspect.worker_deaths += is_clear
        if suspect.worker_deaths < _MAX_DEATHS:
            parts = split_task(suspect.task) if is_clear and len(suspect.task.jobs) > 1 else []
            self._suspect_tasks.extend([SuspectTask(task) for task in parts] or [suspect])
        else:
            self._store_failure_of_task(suspect.task, f"lost its worker {suspect.worker_deaths} times")

    def _replace_executor(self) -> None:
        """Replace the executor by a new one."""
        self._executor.shutdown(wait=False)
        self._executor = self.executor_factory.create_executor()

    def _shut_down_executor(self) -> None:
        """Cancel the tasks that have not finished, and shut down the executor."""
        for future in self._running_tasks:
            future.cancel()
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        if self._running_tasks:  # interrupted by a signal, so the results of running tasks are not needed any more
            for process in processes:
                process.terminate()
        self._executor.shutdown(wait=not self._running_tasks)
        self.progress.clear_bar()

    # --- progress ---

    def _show_progress(self) -> None:
        """Show the progress bar or, without a terminal, print a line of progress once a minute."""
        spent = time.monotonic() - self._start_time_s
        rate = self.done / spent if spent else 0.0
        time_left = f", {duration_text((self.total_runs - self.done) / rate)} left" if rate else ""
        failed = f", {self.failed_runs:,} failed" if self.failed_runs else ""
        text = f"{self.done:,} of {self.total_runs:,} runs, {rate:,.0f} per second{time_left}{failed}"
        self.progress.update_bar(text, self.done / max(1, self.total_runs))
        if not self.progress.is_terminal and time.monotonic() - self._last_progress_time_s > _PROGRESS_LINE_S:
            self._last_progress_time_s = time.monotonic()
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
