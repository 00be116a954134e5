"""Messages between the window and the film worker, over pipes.

The window sends pickled Python objects; the worker replies with one JSON line for each change of its `Report`. Only
data from the parent process is ever unpickled.
"""

from dataclasses import dataclass

from ui.film.options import FilmOptions
from ui.film.replay import Replay
from ui.model.look import Look


@dataclass(frozen=True)
class Report:
    """Progress report of a film worker."""

    frames: int = 0  # number of frames recorded so far
    seconds: float = 0.0  # seconds of video recorded so far
    bytes: int = 0  # size of the file so far
    tick: int = -1  # last tick that was filmed
    share: float = 0.0  # completed fraction of an export, or of finishing the file
    phase: str = "starting"  # "starting", "filming", "finishing" or "done"
    path: str = ""  # path of the finished file, also while it does not exist yet
    problem: str = ""  # message that says why the recording failed; "": it has not failed
    is_cancelled: bool = False

    @property
    def is_done(self) -> bool:
        return self.phase == "done"


@dataclass(frozen=True)
class FilmJob:
    """First message to a worker: film the run of the window from a tick on."""

    path: str
    replay: Replay
    tick: int
    options: FilmOptions
    look: Look


@dataclass(frozen=True)
class ExportJob:
    """First message to a worker: film a range of ticks of a run."""

    path: str
    replay: Replay
    ticks: tuple[int, int | None]
    options: FilmOptions
    look: Look


@dataclass(frozen=True)
class Follow:
    """Message that replaces the commands of the run, or the run itself; another run begins at `tick`."""

    replay: Replay
    tick: int
    is_same_run: bool  # whether only commands changed; the scenario of the replay is then left out of the message


@dataclass(frozen=True)
class Named:
    """Message that lists the agent files loaded by the window; see `agents.own_files.named_so_far`."""

    files: str


@dataclass(frozen=True)
class RunTo:
    """Message to film all frames due before a tick."""

    tick: int


@dataclass(frozen=True)
class CutTo:
    """Message to continue the video at another tick, without the ticks in between."""

    tick: int


@dataclass(frozen=True)
class Wear:
    """Message to change the look from the next frame on."""

    look: Look


@dataclass(frozen=True)
class Stop:
    """Message that ends a film: film up to the current tick and finish the file."""


@dataclass(frozen=True)
class Cancel:
    """Message that ends a film and deletes its file."""


Message = FilmJob | ExportJob | Named | Follow | RunTo | CutTo | Wear | Stop | Cancel
