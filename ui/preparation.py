"""Background compilation of the kernels of agents, which cannot move before their kernels are compiled."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress

from agents.warm import CROWD, has_kernels, part_key
from sim.kernels.ready import is_ready
from ui import child
from ui.model.run import Panel
from ui.warmup import is_all_ready


def needed_by(panels: Iterable[Panel]) -> Iterator[str]:
    """Yield the kind of each panel's agent, and `CROWD` for a panel with a crowd."""
    for panel in panels:
        yield panel.view.spec.key
        if panel.crowd is not None:
            yield CROWD


class Preparation:
    """Process that compiles kernels in the background, and the agent kinds whose kernels are ready.

    While no process is running, all kinds count as ready, because their kernels are compiled when they are first
    called.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: set[str] = set()  # keys of parts (groups of kernels) that are compiled
        self._requested_keys: set[str] = set()  # keys of parts that the process was asked to compile next

    def begin(self) -> None:
        """Start a process at idle priority that compiles all missing kernels."""
        if is_all_ready():
            return
        with suppress(OSError):  # without the process each kernel is compiled at its first call
            self._process = child.start(
                "ui.warmup", is_idle=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    def missing(self, kinds: Iterable[str]) -> list[str]:
        """Return the kinds that are not ready, and ask the process to compile them next."""
        if self._process is None:
            return []
        if self._process.poll() is not None:
            self.close()
            return []
        return [kind for kind in dict.fromkeys(kinds) if has_kernels(kind) and not self._is_kind_ready(kind)]

    def _is_kind_ready(self, kind: str) -> bool:
        key = part_key(kind, watched=True)
        if key not in self._ready and is_ready(key):
            self._ready.add(key)
        if key not in self._ready and key not in self._requested_keys:
            self._ask_for(key)
        return key in self._ready

    def _ask_for(self, key: str) -> None:
        self._requested_keys.add(key)
        pipe = self._process.stdin if self._process else None
        with suppress(OSError):
            if pipe is not None:
                pipe.write(f"{key}\n".encode())
                pipe.flush()

    def close(self) -> None:
        """Close the pipe to the process, which then ends by itself after the part that it is compiling."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
