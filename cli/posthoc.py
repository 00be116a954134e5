"""`--posthoc FILE` of `solve` and `run`: a search trace of each agent, to be shown in a browser."""

from argparse import ArgumentTypeError
from contextlib import ExitStack
from types import TracebackType

from cli.arguments import Arguments
from cli.progress import Progress
from sim.files.posthoc import MANY_EVENTS, Posthoc, check_name, numbered, posthoc
from sim.params import ConfigError
from sim.world import BULK, World


def add_posthoc(parser: Arguments) -> None:
    what = "write a search trace for Posthoc to FILE (.trace.yaml); further agents to FILE-2 and so on"
    parser.add_argument("--posthoc", type=_name, metavar="FILE", help=what)


def _name(text: str) -> str:
    try:
        check_name(text)
    except ConfigError as error:
        raise ArgumentTypeError(str(error)) from None
    return text


class PosthocFiles:
    """A file for each agent of each world; without a name it writes nothing."""

    def __init__(self, path: str | None, progress: Progress) -> None:
        self.path, self.progress = path, progress
        self._open = ExitStack()
        self._traces: list[Posthoc] = []
        self._number = 0
        self._world: World | None = None

    @property
    def is_on(self) -> bool:
        return self.path is not None

    @property
    def longest_step(self) -> int:
        """How many ticks may pass between two calls of write()."""
        return 1 if self.is_on else BULK

    def __enter__(self) -> "PosthocFiles":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.__exit__(kind, error, at)
        self._tell()

    def begin(self, world: World) -> None:
        """A new world begins, and the one before has ended."""
        self._open.close()
        self._tell()
        self._world = world
        self.follow()

    def follow(self) -> None:
        """Before a tick, when its commands have been applied: who has come gets a file, that of who has gone ends."""
        if self.path is None or self._world is None:
            return
        present = {walker.id: walker for walker in self._world.walkers}
        for trace in self._traces:
            if present.get(trace.walker.id) is trace.walker:
                del present[trace.walker.id]
            else:
                trace.end("removed")
        for walker in present.values():
            self._world.single_out(walker.id)  # now: it must not have begun
            self._number += 1
            path = numbered(self.path, self._number)
            self._traces.append(self._open.enter_context(posthoc(path, self._world, walker)))

    def write(self) -> None:
        """What happened in the last tick."""
        for trace in self._traces:
            trace.write()

    def _tell(self) -> None:
        for trace in self._traces:
            if trace.events > MANY_EVENTS:
                self.progress.say(f"{trace.path}: {trace.events:,} events; Posthoc takes long to open so many")
        self._traces = []
