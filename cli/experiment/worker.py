"""What a worker does, on this machine or on a cluster: a task in, lines of results out."""

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
    """A process of the pool begins: Ctrl+C is the driver's, and without a driver there is nothing to do.

    It ends without taking the compiler's objects to pieces, for which the driver would wait a quarter of a second.
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
    """Do a task. Processor time is measured, so that others on the machine do not count; for data, of all threads."""
    if task.code != code_version():
        raise ConfigError("a worker runs another version of the program; start workers from the driver's own folder")
    receive(own)
    _warm_up(task)
    return do_task(task, BY_KEY, time.thread_time, _grid(task.board), time.process_time)


def work_in_one_piece(task: Task, own: Sequence[Sent] = ()) -> bytes:
    """What `work` has found, pickled. Dask would send each of its numbers by itself: 3,600 messages for a task."""
    return pickle.dumps(work(task, own))


def opened(found: bytes) -> Done:
    done: Done = pickle.loads(found)
    return done


_WARM: set[tuple[object, ...]] = set()
"""What has walked in this process. Numbers among the parameters choose no kernels, words and switches may."""


def _warm_up(task: Task) -> None:
    """Let agents walk once before they are timed: the first to do so in a process reads its kernels, for 20 ms."""
    for config in map(config_of, task.jobs[0].walks):
        words = (value for value in config.params.values() if isinstance(value, (str, bool)))
        kernels = (config.kind, *words)
        if kernels not in _WARM and has_kernels(config.kind):
            walk(config)
        _WARM.add(kernels)


@lru_cache(maxsize=4)
def _grid(board: Packed) -> Grid:
    """Maps of the last tasks, so that a map is not unpacked for every slice."""
    return board.unpack()
