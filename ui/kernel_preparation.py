"""Background compilation of the kernels of agents, which cannot move before their kernels are compiled."""

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress

from agents.warm_up import CROWD_KIND, has_agent_kernels, kernel_set_key
from sim.jit.ready import is_kernel_set_compiled
from ui.model import subprocesses
from ui.model.run import Panel
from ui.warmup import are_all_kernels_compiled


def agent_kinds_of_panels(panels: Iterable[Panel]) -> Iterator[str]:
    """Yield the agent kinds whose kernels these panels need, including `CROWD_KIND` if a panel shows a crowd."""
    for panel in panels:
        yield panel.walker_view.spec.key
        if panel.crowd is not None:
            yield CROWD_KIND


class KernelPreparation:
    """Background process that compiles the kernels of agents, with a record of the kernels that are ready.

    While no process is running, the kernels of all agents count as ready, because each kernel is then compiled at its
    first call.
    """

    def __init__(self) -> None:
        self._compiler_process: subprocess.Popen[bytes] | None = None
        # Keys of compiled parts; a part is a group of kernels compiled together.
        self._compiled_set_keys: set[str] = set()
        self._requested_set_keys: set[str] = set()  # keys of kernel groups that the process was asked to compile next

    def start_compiling_process(self) -> None:
        """Start a process at idle priority that compiles all missing kernels."""
        if are_all_kernels_compiled():
            return
        with suppress(OSError):  # without the process each kernel is compiled at its first call
            self._compiler_process = subprocesses.start_detached_module(
                "ui.warmup", is_idle=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )

    def agent_kinds_without_kernels(self, agent_kinds: Iterable[str]) -> list[str]:
        """Return those of the given agent kinds whose kernels are not compiled yet, and request them next."""
        if self._compiler_process is None:
            return []
        if self._compiler_process.poll() is not None:
            self.close()
            return []
        return [
            kind
            for kind in dict.fromkeys(agent_kinds)
            if has_agent_kernels(kind) and not self._are_kernels_of_kind_ready(kind)
        ]

    def _are_kernels_of_kind_ready(self, kind: str) -> bool:
        key = kernel_set_key(kind, watched=True)
        if key not in self._compiled_set_keys and is_kernel_set_compiled(key):
            self._compiled_set_keys.add(key)
        if key not in self._compiled_set_keys and key not in self._requested_set_keys:
            self._request_kernels(key)
        return key in self._compiled_set_keys

    def _request_kernels(self, key: str) -> None:
        self._requested_set_keys.add(key)
        pipe = self._compiler_process.stdin if self._compiler_process else None
        with suppress(OSError):
            if pipe is not None:
                pipe.write(f"{key}\n".encode())
                pipe.flush()

    def close(self) -> None:
        """Close the pipe to the process, which then ends once the kernels that it is compiling are complete."""
        process, self._compiler_process = self._compiler_process, None
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
