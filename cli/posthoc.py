"""Option `--posthoc FILE` of `solve` and `run`: writes a search trace of each agent for a viewer in the browser."""

from argparse import ArgumentTypeError
from contextlib import AbstractContextManager
from types import TracebackType

from cli.arguments import CommandParser
from cli.progress import ProgressBar
from files.posthoc import MANY_EVENTS, PosthocWriter, check_trace_name, numbered_trace_name, open_posthoc_trace
from sim.params import ConfigError
from sim.walker import Walker
from sim.world import MAX_TICKS_PER_CALL, World


def add_posthoc_option(parser: CommandParser) -> None:
    what = (
        "write a search trace for Posthoc, a viewer in the browser, to FILE (.trace.yaml); further agents get FILE-2..."
    )
    parser.add_argument("--posthoc", type=_checked_file_name, metavar="FILE", help=what)


def _checked_file_name(text: str) -> str:
    try:
        check_trace_name(text)
    except ConfigError as error:
        raise ArgumentTypeError(str(error)) from None
    return text


class PosthocFiles:
    """Open search traces: a file for each agent of each world. If `path` is None, no file is written.

    A file that cannot be written does not stop the run or the other files; its error is raised when the context ends.
    """

    def __init__(self, path: str | None, progress: ProgressBar) -> None:
        self.path, self.progress = path, progress
        self._open_traces: dict[PosthocWriter, AbstractContextManager[PosthocWriter]] = {}
        self._failure_messages: list[str] = []
        self._opened_count = 0  # number of trace files opened so far
        self._world: World | None = None

    @property
    def is_enabled(self) -> bool:
        return self.path is not None

    @property
    def max_ticks_per_step(self) -> int:
        """Return the maximum number of ticks between two calls of `write_tick`."""
        return 1 if self.is_enabled else MAX_TICKS_PER_CALL

    def __enter__(self) -> "PosthocFiles":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for trace in list(self._open_traces):
            self._close_trace(trace, error)
        if self._failure_messages and error is None:
            raise ConfigError(self._failure_messages)

    def open_files_for_world(self, world: World) -> None:
        """Close the files of the previous world, and open files for the agents of a new world."""
        for trace in list(self._open_traces):
            self._close_trace(trace)
        self._world = world
        self.open_and_close_agent_files()

    def open_and_close_agent_files(self) -> None:
        """Open files for agents that have been added, and close the files of agents that have been removed.

        Call this before each tick, after the commands of the tick have been applied.
        """
        if self.path is None or self._world is None:
            return
        present = {walker.id: walker for walker in self._world.walkers}
        for trace in list(self._open_traces):
            if present.get(trace.walker.id) is not trace.walker:
                trace.outcome = "removed"
                self._close_trace(trace)
        open_ids = {trace.walker.id for trace in self._open_traces}
        for walker in present.values():
            if walker.id not in open_ids and walker.added_tick == self._world.tick:
                self._open_trace_file(self.path, self._world, walker)

    def _open_trace_file(self, path: str, world: World, walker: Walker) -> None:
        world.instrument_agent(walker.id)  # `instrument_agent` must be called before the first tick of the agent
        self._opened_count += 1
        file = open_posthoc_trace(numbered_trace_name(path, self._opened_count), world, walker)
        try:
            self._open_traces[file.__enter__()] = file
        except ConfigError as error:
            self._failure_messages += error.problems

    def write_tick(self) -> None:
        """Write the last tick of all agents to their files."""
        for trace in list(self._open_traces):
            try:
                trace.write_tick()
            except ConfigError as error:
                self._close_trace(trace, error)
                self._failure_messages += error.problems

    def _close_trace(self, trace: PosthocWriter, error: BaseException | None = None) -> None:
        """Close a trace file and move it to its path; after an error, discard it and keep an existing file there."""
        file = self._open_traces.pop(trace)
        try:
            file.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)
        except ConfigError as failure:
            self._failure_messages += [] if error else failure.problems
        if trace.event_count > MANY_EVENTS:
            self.progress.print_line(
                f"{trace.path}: {trace.event_count:,} events; Posthoc takes long to open so many events"
            )
