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

from agents.own_files import Sent, load_named_before, receive
from agents.registry import BY_KEY
from agents.warm import has_kernels, walk
from sim.experiments.code_version import code_version
from sim.experiments.plan import Task
from sim.experiments.problems import Packed
from sim.experiments.runs import Failure, Line, config_of, do_task
from sim.grid import Grid
from sim.params import ConfigError

Done = tuple[list[Line], list[Failure]]


load_named_before()


def begin(niceness: int = 0) -> None:
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
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(task: Task, own: Sequence[Sent] = ()) -> Done:
    """Compute a task and return its lines of results and its failures.

    Times are processor times, so that other programs on the machine do not count. The time of prepared data includes
    all threads of this process.

    Args:
        task: The runs.
        own: The files of user-defined agents.

    Raises:
        ConfigError: This worker runs another version of the program than the driver.
    """
    if task.code != code_version():
        raise ConfigError(
            "a worker runs another version of the program; start all workers from the folder of this program"
        )
    receive(own)
    _warm_up(task)
    return do_task(task, BY_KEY, time.thread_time, _grid(task.board), time.process_time)


def work_in_one_piece(task: Task, own: Sequence[Sent] = ()) -> bytes:
    """Return the result of `work` as pickled bytes.

    Dask would otherwise send every number of the result separately, which takes 3,600 messages per task.
    """
    return pickle.dumps(work(task, own))


def opened(found: bytes) -> Done:
    done: Done = pickle.loads(found)
    return done


_WARMED_KERNELS: set[tuple[object, ...]] = set()
"""Agents that have already walked in this process, as (key of the agent, *its text and boolean parameters).

Text and boolean parameters may affect which kernels an agent uses; numeric parameters do not.
"""


def _warm_up(task: Task) -> None:
    """Let each agent of a task walk once untimed, because loading its kernels takes 20 ms on its first walk."""
    for config in map(config_of, task.jobs[0].walks):
        words = (value for value in config.params.values() if isinstance(value, (str, bool)))
        kernels = (config.kind, *words)
        if kernels not in _WARMED_KERNELS and has_kernels(config.kind):
            walk(config)
        _WARMED_KERNELS.add(kernels)


@lru_cache(maxsize=4)
def _grid(board: Packed) -> Grid:
    """Return the unpacked map of a task. The last four maps are cached for later tasks on the same map."""
    return board.unpack()
