"""Messages between the window and the film worker, over pipes.

The window sends pickled Python objects. The worker sends a progress report as a JSON line whenever the report changes.
Only data from the parent process is ever unpickled.
"""

from dataclasses import dataclass

from ui.film.film_options import FilmOptions
from ui.film.replay import ReplaySpec
from ui.model.appearance import Appearance


@dataclass(frozen=True)
class WorkerReport:
    """Progress report of a film worker."""

    frames: int = 0  # number of frames recorded so far
    seconds: float = 0.0  # seconds of video recorded so far
    bytes: int = 0  # size of the file so far, in bytes
    tick: int = -1  # last tick that was filmed; -1: no tick yet
    share: float = 0.0  # completed fraction of an export, or of converting the file at the end
    phase: str = "starting"  # state of the worker: "starting", "filming", "finishing" or "done"
    path: str = ""  # path of the finished file, even before that file exists
    problem: str = ""  # message that says why the recording failed; "": no failure
    is_cancelled: bool = False

    @property
    def is_done(self) -> bool:
        return self.phase == "done"


@dataclass(frozen=True)
class FilmJob:
    """First message to a worker: film the run of the window, starting at a tick."""

    path: str
    replay_spec: ReplaySpec
    tick: int
    film_options: FilmOptions
    appearance: Appearance


@dataclass(frozen=True)
class ExportJob:
    """First message to a worker: film a range of ticks of a run."""

    path: str
    replay_spec: ReplaySpec
    tick_range: tuple[int, int | None]
    film_options: FilmOptions
    appearance: Appearance


@dataclass(frozen=True)
class ReplaceRun:
    """Message that replaces the commands of the filmed run, or the run itself; another run is filmed from `tick` on."""

    replay_spec: ReplaySpec
    tick: int
    is_same_run: bool  # whether only commands changed; the message then has no scenario


@dataclass(frozen=True)
class LoadAgentFiles:
    """Message that lists the files of user-defined agents that the window has loaded."""

    files_json: str


@dataclass(frozen=True)
class FilmUntilTick:
    """Message to film all frames that are due before a tick."""

    tick: int


@dataclass(frozen=True)
class CutToTick:
    """Message to continue the video at another tick, without the ticks in between."""

    tick: int


@dataclass(frozen=True)
class SetViewSettings:
    """Message to change the view settings from the next frame on."""

    appearance: Appearance


@dataclass(frozen=True)
class StopFilm:
    """Message that ends a recording: film up to the current tick and finish the file."""


@dataclass(frozen=True)
class CancelFilm:
    """Message that ends a recording and deletes its file."""


WorkerMessage = (
    FilmJob
    | ExportJob
    | LoadAgentFiles
    | ReplaceRun
    | FilmUntilTick
    | CutToTick
    | SetViewSettings
    | StopFilm
    | CancelFilm
)
