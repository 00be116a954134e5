"""Worker of an experiment, on this machine or on a cluster: takes a task and returns lines of results."""

import atexit
import os
import pickle
import signal
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from multiprocessing import parent_process

from agents.own_files import SentVersion, load_files_of_parent, register_received_agents
from agents.registry import AGENT_SPECS_BY_KEY
from agents.warm_up import has_agent_kernels, warm_up_agent
from experiments.code_version import code_version
from experiments.job_runner import ResultLine, RunFailure, agent_config_of_run, run_task
from experiments.plan import WorkerTask
from experiments.problems import CompressedMap
from sim.grid import Grid
from sim.params import ConfigError

TaskResult = tuple[list[ResultLine], list[RunFailure]]


load_files_of_parent()


def initialise_worker_process(niceness: int = 0) -> None:
    """Initialise a process of the pool.

    The process ignores Ctrl+C, which the driver (the process with the engine) handles, and exits when the driver exits.
    It exits without destroying the objects of the compiler, because the driver would wait a quarter of a second for
    that.

    Args:
        niceness: By how much the priority is lowered, from 0 to 19.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit.register(os._exit, 0)
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def compute_task(task: WorkerTask, own: Sequence[SentVersion] = ()) -> TaskResult:
    """Compute a task and return its lines of results and its failures.

    Times are processor times, so that other programs on the machine do not count. The time of prepared data includes
    all threads of this process.

    Args:
        task: The runs.
        own: The files of user-defined agents.

    Raises:
        ConfigError: This worker runs another version of the program than the driver.
    """
    if task.program_version != code_version():
        raise ConfigError(
            "a worker runs another version of the program; start all workers from the folder of this program"
        )
    register_received_agents(own)
    _warm_up_agents(task)
    return run_task(task, AGENT_SPECS_BY_KEY, time.thread_time, _unpacked_map(task.packed_map), time.process_time)


def compute_task_pickled(task: WorkerTask, own: Sequence[SentVersion] = ()) -> bytes:
    """Return the result of `compute_task` as pickled bytes.

    Dask would otherwise send every number of the result separately, which takes 3,600 messages per task.
    """
    return pickle.dumps(compute_task(task, own))


def unpickle_result(data: bytes) -> TaskResult:
    done: TaskResult = pickle.loads(data)
    return done


_WARMED_KERNELS: set[tuple[object, ...]] = set()
"""Agents that have already walked in this process, as (key of the agent, *its text and boolean parameters).

Text and boolean parameters may affect which kernels an agent uses; numeric parameters do not.
"""


def _warm_up_agents(task: WorkerTask) -> None:
    """Let each agent of a task walk once untimed, because loading its kernels takes 20 ms on its first walk."""
    for config in map(agent_config_of_run, task.jobs[0].agent_runs):
        options = (value for value in config.params.values() if isinstance(value, (str, bool)))
        kernels = (config.kind, *options)
        if kernels not in _WARMED_KERNELS and has_agent_kernels(config.kind):
            warm_up_agent(config)
        _WARMED_KERNELS.add(kernels)


@lru_cache(maxsize=4)
def _unpacked_map(board: CompressedMap) -> Grid:
    """Return the unpacked map of a task. The last four maps are cached for later tasks on the same map."""
    return board.decompress()
