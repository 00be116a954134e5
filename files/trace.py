"""Write trace files: one JSON object per tick and agent, each on its own line."""

import json
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import BinaryIO

from files.disk import open_file_atomically
from sim.kernels import log
from sim.params import ConfigError
from sim.walker import Walker
from sim.world import MAX_TICKS_PER_CALL, World


class TraceWriter:
    """Context manager that writes what agents do to a file; without a path it writes nothing.

    At the end of the context, also after an exception, the new file replaces an existing one. A writing error does not
    stop the run, because the run is worth more than its trace. The error is raised at the end of the context, and then
    the existing file stays.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._open_file_context = ExitStack()
        self._file: BinaryIO | None = None
        self._write_error: OSError | None = None
        self._refusal_counts: dict[int, int] = {}  # agent number -> number of refused moves at the last write_ticks()

    def __enter__(self) -> "TraceWriter":
        if self.path is not None:
            self._file = self._open_file_context.enter_context(open_file_atomically(self.path))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        failure = self._write_error
        with suppress(*([ConfigError] if error else [])):  # do not hide an exception of the run by a writing error
            self._open_file_context.__exit__(
                type(failure) if failure else None, failure, failure.__traceback__ if failure else None
            )

    @property
    def is_enabled(self) -> bool:
        return self._file is not None

    def max_ticks_between_writes(self, world: World) -> int:
        """Return the maximum number of ticks between two write_ticks(): 1 if moves can be refused, otherwise BULK."""
        return 1 if self.is_enabled and not all(w.spec.runs_in_bulk for w in world.walkers) else MAX_TICKS_PER_CALL

    def reset_refusal_counters(self) -> None:
        """Reset the counters of refused moves before the run of a new world."""
        self._refusal_counts = {}

    def write_ticks(self, world: World, **more: object) -> None:
        """Write a line for each tick of each agent in the last World.advance(), sorted by tick.

        Args:
            world: the world after the advance.
            more: further keys and values for every line.
        """
        if self._file is None or self._write_error is not None:
            return
        lines = [line for walker in world.walkers for line in self._agent_lines(world, walker, more)]
        lines.sort(key=lambda line: line[0])
        try:
            self._file.write("".join(f"{text}\n" for _, text in lines).encode())
        except OSError as error:
            self._write_error = error

    def _agent_lines(self, world: World, walker: Walker, more: dict[str, object]) -> list[tuple[int, str]]:
        """Return (tick, JSON text) of each trace line for one agent."""
        is_refused = walker.refused_moves > self._refusal_counts.get(walker.id, 0)
        self._refusal_counts[walker.id] = walker.refused_moves
        lines = []
        for tick, row in enumerate(walker.log_rows.tolist(), walker.recent_rows.tick):
            cell, expanded, _, marks, _ = row
            entry = {
                "tick": tick,
                "agent": walker.label,
                "cell": list(world.grid.xy(cell)),
                "expanded": expanded,
                "back": bool(marks & log.BACK_MOVE),
                "restarted": bool(marks & log.RESTARTED),
                "refused": is_refused,
                "id": walker.id,
                "trial": bool(marks & log.TRIAL_BEGAN),
                **more,
            }
            lines.append((tick, json.dumps(entry)))
        return lines
