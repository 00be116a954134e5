"""Compilation of the kernels that the window needs: first those of the opened run, then all others in the background.

A part is a group of kernels that are compiled together, with a key and a title (sim/jit/ready.py).

`python -m ui.warmup` compiles everything. The window starts it as a subprocess and may write keys of parts to its
standard input, one a line; these parts are compiled next. When its standard input is closed, the subprocess ends after
the part that it is compiling.

`python -m ui.warmup pictures` compiles the drawing kernels of the first frame while the window compiles the
simulation. This keeps two processors busy and halves the time of a first start. The subprocess reads the kinds of the
run's agents from its standard input.
"""

import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TextIO

from agents.registry import AGENT_SPECS_BY_KEY
from agents.warm_up import (
    CROWD_KIND,
    agent_creation_kernel_set,
    agent_kernel_sets,
    all_agent_kernel_sets,
    build_tiny_world,
    world_kernel_set,
)
from sim.jit.decorators import ONLY_DRAWING_VARIABLE
from sim.jit.ready import KernelSet, compile_missing_kernel_sets, is_kernel_set_compiled
from sim.time.timeline import Timeline
from sim.world_commands import EditCells
from ui.maps.warm_pictures import (
    compile_all_picture_kernels,
    compile_crowd_picture_kernels,
    compile_first_picture_kernels,
)
from ui.model import subprocesses


def _first_picture_kernel_set(kind: str, key: str) -> KernelSet:
    return KernelSet(key, "map drawing", lambda: compile_first_picture_kernels(kind))


FIRST_PICTURE_KERNELS = _first_picture_kernel_set("tb-wa", "first-picture")
LEARNING_AGENT_PICTURE_KERNELS = _first_picture_kernel_set("lrta", "first-picture-learning")
CROWD_PICTURE_KERNELS = KernelSet("crowd-picture", "crowd drawing", compile_crowd_picture_kernels)
OTHER_DRAWING_KERNELS = KernelSet("drawing", "all other drawing", compile_all_picture_kernels)


def _compile_timeline_kernels() -> None:
    """Call the kernels of the timeline once, so that they are compiled."""
    line = Timeline(partial(build_tiny_world, watched=True))
    line.insert_command(1, EditCells(blocked_cells=(1,)))
    line.advance(3)


TIMELINE_KERNELS = KernelSet("time", "the timeline", _compile_timeline_kernels)


def first_picture_kernel_sets(agent_kinds: Iterable[str]) -> list[KernelSet]:
    """Return the groups of drawing kernels that the first frame of a run with these agents needs."""
    agent_kinds = list(agent_kinds)
    learns = any(AGENT_SPECS_BY_KEY[kind].keeps_h for kind in agent_kinds if kind in AGENT_SPECS_BY_KEY)
    return [
        FIRST_PICTURE_KERNELS,
        *([LEARNING_AGENT_PICTURE_KERNELS] if learns else []),
        *([CROWD_PICTURE_KERNELS] if CROWD_KIND in agent_kinds else []),
    ]


def first_frame_kernel_sets(agent_kinds: Iterable[str]) -> list[KernelSet]:
    """Return all groups of kernels that a run with these agents needs for its first frames."""
    agent_kinds = list(agent_kinds)
    return [
        world_kernel_set(),
        TIMELINE_KERNELS,
        *agent_kernel_sets(agent_kinds, watched=True),
        *first_picture_kernel_sets(agent_kinds),
    ]


class PictureKernelCompiler:
    """Subprocess that compiles the drawing kernels of the first frame while this process compiles the simulation.

    The subprocess starts before the run is known, because every run draws a map. Once the file is open, it gets the
    kinds of the run's agents and compiles the kernels that draw these agents.
    """

    def __init__(self) -> None:
        self._compiler_process: subprocess.Popen[bytes] | None = None
        self._start_process_if_kernels_missing(())

    def send_agent_kinds(self, agent_kinds: Iterable[str]) -> None:
        """Send the subprocess the kinds of the opened run's agents, after starting it if it is not running yet."""
        agent_kinds = list(agent_kinds)
        if self._compiler_process is None:
            self._start_process_if_kernels_missing(agent_kinds)
        if self._compiler_process is None or self._compiler_process.stdin is None:
            return
        with suppress(OSError):  # if the subprocess has ended, this process compiles the missing kernels itself
            self._compiler_process.stdin.write(" ".join(agent_kinds).encode() + b"\n")
            self._compiler_process.stdin.close()

    def stop_compiler_process(self) -> None:
        if self._compiler_process is None:
            return
        self._compiler_process.kill()
        self._compiler_process.communicate()  # wait for the end of the subprocess, and close the pipe to it
        self._compiler_process = None

    def _start_process_if_kernels_missing(self, agent_kinds: Sequence[str]) -> None:
        """Start the subprocess if drawing kernels are missing, and so are other kernels for this process to compile."""
        missing = [part.key for part in first_frame_kernel_sets(agent_kinds) if not is_kernel_set_compiled(part.key)]
        pictures = [part.key for part in first_picture_kernel_sets(agent_kinds) if part.key in missing]
        if pictures and len(missing) > len(pictures):
            self._compiler_process = subprocesses.start_detached_module(
                *("ui.warmup", "pictures"),
                variables={ONLY_DRAWING_VARIABLE: "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )


def compile_picture_kernels(kind_stream: TextIO) -> None:
    """Compile the drawing kernels that every run needs, then those for the agent kinds read from `kind_stream`.

    Args:
        kind_stream: Stream with one line of agent kinds, separated by spaces.
    """
    compile_missing_kernel_sets(first_picture_kernel_sets(()))
    compile_missing_kernel_sets(first_picture_kernel_sets(kind_stream.readline().split()))


def all_kernel_sets() -> list[KernelSet]:
    """Return all groups of kernels that the window may need, in the order in which they are compiled."""
    pictures = [FIRST_PICTURE_KERNELS, LEARNING_AGENT_PICTURE_KERNELS, CROWD_PICTURE_KERNELS]
    return [
        world_kernel_set(),
        TIMELINE_KERNELS,
        agent_creation_kernel_set(),
        *pictures,
        *all_agent_kernel_sets(watched=True),
        OTHER_DRAWING_KERNELS,
    ]


def are_all_kernels_compiled() -> bool:
    return all(is_kernel_set_compiled(part.key) for part in all_kernel_sets())


def compile_kernels_in_background(key_stream: TextIO) -> None:
    """Compile all missing groups of kernels, first those whose keys arrive on `key_stream`; stop when it is closed.

    Args:
        key_stream: Stream with one key in each line, such as standard input.
    """
    requested_keys: SimpleQueue[str | None] = SimpleQueue()
    threading.Thread(target=_read_requested_set_keys, args=(key_stream, requested_keys), daemon=True).start()
    missing = {part.key: part for part in all_kernel_sets() if not is_kernel_set_compiled(part.key)}
    while missing:
        key = next(iter(missing))
        try:
            while (requested_key := requested_keys.get_nowait()) is not None:
                key = requested_key if requested_key in missing else key
            return
        except Empty:
            compile_missing_kernel_sets([missing.pop(key)])


def _read_requested_set_keys(key_stream: TextIO, requested_keys: "SimpleQueue[str | None]") -> None:
    """Put each key that is read from the stream `key_stream` into a queue, and None when the stream is closed."""
    for line in key_stream:
        requested_keys.put(line.strip())
    requested_keys.put(None)


if __name__ == "__main__":
    if sys.argv[1:2] == ["pictures"]:
        compile_picture_kernels(sys.stdin)
    else:
        subprocesses.set_idle_priority()
        compile_kernels_in_background(sys.stdin)
