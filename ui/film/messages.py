"""What the window and the process that films for it say to each other, over pipes.

Python objects go in, one JSON line for each change of the state comes out. What is unpickled comes from the parent
process alone.
"""

from dataclasses import dataclass

from ui.film.options import FilmOptions
from ui.film.replay import Replay
from ui.model.look import Look


@dataclass(frozen=True)
class Report:
    """How the studio is doing."""

    frames: int = 0
    seconds: float = 0.0  # of video
    bytes: int = 0
    tick: int = -1  # the last one that was filmed
    share: float = 0.0  # of an export, or of finishing the file
    phase: str = "starting"  # then filming, finishing, done
    path: str = ""  # of the file; while it is being made, of what it will be
    problem: str = ""
    is_cancelled: bool = False

    @property
    def is_done(self) -> bool:
        return self.phase == "done"


@dataclass(frozen=True)
class FilmJob:
    """Film what the window does, from a tick on."""

    path: str
    replay: Replay
    tick: int
    options: FilmOptions
    look: Look


@dataclass(frozen=True)
class ExportJob:
    """Film some ticks of a run."""

    path: str
    replay: Replay
    ticks: tuple[int, int | None]
    options: FilmOptions
    look: Look


@dataclass(frozen=True)
class Follow:
    """Other commands for the same run, or another run altogether; the video goes on at the tick."""

    replay: Replay
    tick: int
    is_same_run: bool  # the scenario of the replay is the one sent before, and left out


@dataclass(frozen=True)
class Named:
    """Agents of the user's own joined the window; see own_files.named_so_far."""

    files: str


@dataclass(frozen=True)
class RunTo:
    tick: int


@dataclass(frozen=True)
class CutTo:
    tick: int


@dataclass(frozen=True)
class Wear:
    look: Look


@dataclass(frozen=True)
class Stop:
    """Film up to the present tick and finish."""


@dataclass(frozen=True)
class Cancel:
    """Throw everything away."""


Message = FilmJob | ExportJob | Named | Follow | RunTo | CutTo | Wear | Stop | Cancel
