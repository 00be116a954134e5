"""Executors for the tasks of an experiment: this process, several processes, a Dask scheduler or a Slurm queue.

All of them are executors in the sense of concurrent.futures. `ExecutorFactory.max_submitted` returns the number of
tasks that should be submitted but unfinished at any time. It is large enough to keep all workers busy, but not larger,
so that little work is lost if the experiment is stopped.
"""

import logging
import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cli.experiment import worker
from sim.params import ConfigError, Param
from sim.system.program import PROGRAM_FOLDER

JOBS = Param("jobs", int, 1, "number of processes on this machine", 1, 1024)
_CONNECT_S = 10.0  # timeout for connecting to a scheduler, in seconds
_CLOSE_S = 1.0  # timeout for closing a client whose scheduler has died, in seconds


class ClusterLostError(Exception):
    """Error raised if the connection to a cluster ends while tasks are running."""


@dataclass(frozen=True)
class ExecutorFactory:
    """Factory of executors, and the number of tasks to submit to them.

    Attributes:
        make: Creates an executor; called again if the previous executor is broken.
        room: Returns the number of tasks that an executor should have at a time.
        words: Describes the executor in messages.
    """

    create_executor: Callable[[], Executor]
    max_submitted: Callable[[Executor], int]
    description: str


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_executor_factory(cluster: str | None, jobs: int, folder: Path, niceness: int = 0) -> ExecutorFactory:
    """Return the pool that the command line asks for.

    Args:
        cluster: The address of a Dask scheduler, "slurm", or "slurm-local", which runs Slurm jobs as local processes;
            None for processes of this machine.
        jobs: The number of processes of this machine.
        folder: The results folder; the files of Slurm jobs are kept in a folder inside.
        niceness: By how much the priority of processes is lowered, from 0 to 19.

    Raises:
        ConfigError: The cluster cannot be reached, or a package for it is missing.
    """
    if cluster is None:
        return _local_executor_factory(jobs, niceness)
    if cluster.startswith(("tcp://", "tls://")):
        return _dask_executor_factory(cluster)
    if cluster in ("slurm", "slurm-local"):
        return _slurm_executor_factory(folder, cluster)
    raise ConfigError(f"experiment: --cluster: expected tcp://HOST:PORT or slurm, got {cluster!r}")


def _local_executor_factory(jobs: int, niceness: int) -> ExecutorFactory:
    if jobs == 1 and not niceness:
        return ExecutorFactory(InProcessExecutor, lambda executor: 1, "in this process")
    context = multiprocessing.get_context("spawn")

    def make() -> Executor:
        return ProcessPoolExecutor(jobs, context, worker.initialise_worker_process, (niceness,))

    return ExecutorFactory(make, lambda executor: jobs + 1, f"{jobs} processes")


class InProcessExecutor(Executor):
    """Executor that runs each task in `submit`, which avoids the overhead of a second process if only one is wanted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # a future stores any exception, and raises it in `result()`
            future.set_exception(error)
        return future


def _dask_executor_factory(address: str) -> ExecutorFactory:
    executors = [_DaskExecutor(address)]  # connected now, so that a missing scheduler is reported before any work

    def make() -> Executor:
        return executors.pop() if executors else _DaskExecutor(address)

    def room(executor: Executor) -> int:
        assert isinstance(executor, _DaskExecutor)
        return max(2, 3 * executor.thread_count())

    return ExecutorFactory(make, room, f"the scheduler at {address}")


@dataclass(frozen=True)
class _DeferredCall:
    """Call that is run by unpickling it: `pickle.loads` of its pickle returns the result of `deferred_function`."""

    deferred_function: Callable[[], Any]

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return self.deferred_function, ()


class _DaskExecutor(Executor):
    """Executor that submits to a Dask scheduler. It owns the connection and closes it in `shutdown`."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ConfigError("experiment: --cluster: pip install -r requirements-cluster.txt first") from None
        connect: Any = Client
        _silence_client()
        try:
            self._client = connect(address, timeout=_CONNECT_S, set_as_default=False)
        except OSError as error:
            raise ConfigError(f"experiment: --cluster: no scheduler answers at {address}: {error}") from None
        self._executor: Executor = self._client.get_executor(pure=False)

    def thread_count(self) -> int:
        """Return the number of threads of all current workers; workers may join and leave at any time."""
        with self._reporting_lost_connection():
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
            return sum(int(worker["nthreads"]) for worker in workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submit a call as pickled bytes, so that the scheduler need not be able to import this program."""
        with self._reporting_lost_connection():
            return self._executor.submit(pickle.loads, pickle.dumps(_DeferredCall(partial(fn, *args, **kwargs))))

    @contextmanager
    def _reporting_lost_connection(self) -> Iterator[None]:
        """Raise a ClusterLostError in place of any exception that the client raises after its connection has ended."""
        try:
            yield
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, OSError):
                raise
            raise ClusterLostError from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if self._client.status != "running":
            with suppress(OSError):  # raised by the client if it is still trying to reconnect
                self._client.close(timeout=_CLOSE_S)
            return
        self._executor.shutdown(wait)  # cancels running tasks if `wait` is False
        self._client.close()


def _silence_client() -> None:
    """Turn off the log messages of the Dask client, because the engine reports a lost connection in one line."""
    for name in list(logging.root.manager.loggerDict):  # each logger has its own level
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _slurm_executor_factory(folder: Path, cluster: str) -> ExecutorFactory:
    try:
        import submitit
    except ImportError:
        raise ConfigError("experiment: --cluster: pip install -r requirements-cluster.txt first") from None
    if cluster == "slurm" and submitit.SlurmExecutor.affinity() < 0:
        raise ConfigError("experiment: --cluster slurm: expected a machine with Slurm, got one without srun")

    paths = [str(PROGRAM_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # jobs inherit the variable, so that they can import this program

    def make() -> Executor:
        queue = submitit.AutoExecutor(folder / "slurm", cluster="local" if cluster == "slurm-local" else "slurm")
        queue.update_parameters(timeout_min=24 * 60, name="backmove", cpus_per_task=1)
        return _SlurmExecutor(queue)

    return ExecutorFactory(make, lambda executor: 200 if cluster == "slurm" else 2, cluster)


class _SlurmExecutor(Executor):
    """Executor for a queue of submitit; a thread polls its jobs and completes their futures."""

    _POLL_INTERVAL_S = 0.5  # interval of polling in seconds

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._unfinished_jobs: list[tuple[Any, Future[Any]]] = []
        self._lock = threading.Lock()
        self._is_open = True
        threading.Thread(target=self._poll_jobs, daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        job = self._queue.submit(fn, *args, **kwargs)
        with self._lock:
            self._unfinished_jobs.append((job, future))
        return future

    def _poll_jobs(self) -> None:
        while self._is_open:
            time.sleep(self._POLL_INTERVAL_S)
            with self._lock:
                done = [pair for pair in self._unfinished_jobs if pair[0].done()]
                self._unfinished_jobs = [pair for pair in self._unfinished_jobs if pair not in done]
            for job, future in done:
                _complete_future(job, future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        self._is_open = False
        with self._lock:
            for job, _ in self._unfinished_jobs:
                job.cancel()


def _complete_future(job: Any, future: "Future[Any]") -> None:
    """Complete a future with the result or the exception of a finished job."""
    try:
        future.set_result(job.result())
    except Exception as error:  # a job on a cluster may raise exceptions of any kind
        future.set_exception(error)
