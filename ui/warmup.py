"""What of the kernels the window needs: first what the opened run needs, then the rest beside the window.

`python -m ui.warmup` compiles everything. The window starts it as a process of its own and may name, on its standard
input, a part a line, what is wanted next. When its standard input ends, it ends, too, after the part it is at.

`python -m ui.warmup pictures` compiles the first pictures while the window compiles the simulation: two processors
are busy, and a first start takes half the time. On its standard input it is told the agents of the run.
"""

import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TextIO

from agents.registry import BY_KEY
from agents.warm import CROWD, agent_parts, all_agent_parts, beginnings_part, tiny_world, world_part
from sim.commands import EditCells
from sim.kernels.jit import DRAWS_ONLY_VARIABLE
from sim.kernels.ready import Part, is_ready, make_ready
from sim.time.timeline import Timeline
from ui import child
from ui.draw.warm_pictures import warm_crowd_picture, warm_first_picture, warm_pictures


def _first_picture_of(kind: str, key: str) -> Part:
    return Part(key, "the map as it is drawn", lambda: warm_first_picture(kind))


FIRST_PICTURE = _first_picture_of("tb-wa", "first-picture")
LEARNERS_PICTURE = _first_picture_of("lrta", "first-picture-learning")
CROWD_PICTURE = Part("crowd-picture", "crowds as they are drawn", warm_crowd_picture)
DRAWING = Part("drawing", "everything that can be drawn", warm_pictures)


def _keep_time() -> None:
    line = Timeline(partial(tiny_world, watched=True))
    line.insert(1, EditCells(blocked=(1,)))
    line.advance(3)


TIME = Part("time", "the line of time", _keep_time)


def first_pictures(kinds: Iterable[str]) -> list[Part]:
    kinds = list(kinds)
    learns = any(BY_KEY[kind].keeps_h for kind in kinds if kind in BY_KEY)
    return [FIRST_PICTURE, *([LEARNERS_PICTURE] if learns else []), *([CROWD_PICTURE] if CROWD in kinds else [])]


def first_parts(kinds: Iterable[str]) -> list[Part]:
    """What a run with these agents needs for its first frames."""
    kinds = list(kinds)
    return [world_part(), TIME, *agent_parts(kinds, watched=True), *first_pictures(kinds)]


class Painter:
    """Another process that compiles the first pictures while this one compiles the simulation.

    It begins before anybody knows what is to be opened, because every run needs the picture of a map; what this run
    needs beside that it is told later.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._begin_if_of_use(())

    def want(self, kinds: Iterable[str]) -> None:
        """The agents of the run that is opened."""
        kinds = list(kinds)
        if self._process is None:
            self._begin_if_of_use(kinds)
        if self._process is None or self._process.stdin is None:
            return
        with suppress(OSError):  # it has ended: what it left is compiled here
            self._process.stdin.write(" ".join(kinds).encode() + b"\n")
            self._process.stdin.close()

    def end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.communicate()  # which closes the pipe, too
        self._process = None

    def _begin_if_of_use(self, kinds: Sequence[str]) -> None:
        """Unless there is nothing else to do meanwhile."""
        missing = [part.key for part in first_parts(kinds) if not is_ready(part.key)]
        pictures = [part.key for part in first_pictures(kinds) if part.key in missing]
        if pictures and len(missing) > len(pictures):
            self._process = child.start(
                *("ui.warmup", "pictures"),
                variables={DRAWS_ONLY_VARIABLE: "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )


def compile_pictures(wanted: TextIO) -> None:
    """What every run draws, then what a run with agents of these kinds draws, once they are named."""
    make_ready(first_pictures(()))
    make_ready(first_pictures(wanted.readline().split()))


def all_parts() -> list[Part]:
    pictures = [FIRST_PICTURE, LEARNERS_PICTURE, CROWD_PICTURE]
    return [world_part(), TIME, beginnings_part(), *pictures, *all_agent_parts(watched=True), DRAWING]


def is_all_ready() -> bool:
    return all(is_ready(part.key) for part in all_parts())


def compile_beside(wanted: TextIO) -> None:
    """Compile everything, what is asked for first."""
    asked: SimpleQueue[str | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(wanted, asked), daemon=True).start()
    missing = {part.key: part for part in all_parts() if not is_ready(part.key)}
    while missing:
        key = next(iter(missing))
        try:
            while (asked_for := asked.get_nowait()) is not None:
                key = asked_for if asked_for in missing else key
            return
        except Empty:
            make_ready([missing.pop(key)])


def _listen(wanted: TextIO, asked: "SimpleQueue[str | None]") -> None:
    for line in wanted:
        asked.put(line.strip())
    asked.put(None)


if __name__ == "__main__":
    if sys.argv[1:2] == ["pictures"]:
        compile_pictures(sys.stdin)
    else:
        child.be_idle()
        compile_beside(sys.stdin)
