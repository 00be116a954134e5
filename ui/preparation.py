"""Agents that cannot walk yet, because their kernels are being compiled beside the window."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress

from agents.warm import CROWD, has_kernels, part_key
from sim.kernels.ready import is_ready
from ui import child
from ui.model.run import Panel
from ui.warmup import is_all_ready


def needed_by(panels: Iterable[Panel]) -> Iterator[str]:
    """The kinds of the agents on screen."""
    for panel in panels:
        yield panel.view.spec.key
        if panel.crowd is not None:
            yield CROWD


class Preparation:
    """Knows which kinds of agents are ready. As long as no process is at work, all are: they compile when called."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: set[str] = set()
        self._asked: set[str] = set()

    def begin(self) -> None:
        """Compile what is missing in a process of its own, at the lowest priority."""
        if is_all_ready():
            return
        with suppress(OSError):  # then each kernel is compiled when it is needed
            self._process = child.start(
                "ui.warmup", is_idle=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    def missing(self, kinds: Iterable[str]) -> list[str]:
        """Those of the kinds that are not ready; each is made ready next."""
        if self._process is None:
            return []
        if self._process.poll() is not None:
            self.close()
            return []
        return [kind for kind in dict.fromkeys(kinds) if has_kernels(kind) and not self._is_ready(kind)]

    def _is_ready(self, kind: str) -> bool:
        key = part_key(kind, watched=True)
        if key not in self._ready and is_ready(key):
            self._ready.add(key)
        if key not in self._ready and key not in self._asked:
            self._ask_for(key)
        return key in self._ready

    def _ask_for(self, key: str) -> None:
        self._asked.add(key)
        pipe = self._process.stdin if self._process else None
        with suppress(OSError):
            if pipe is not None:
                pipe.write(f"{key}\n".encode())
                pipe.flush()

    def close(self) -> None:
        """Nobody waits any more; the process ends by itself after what it is at."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
