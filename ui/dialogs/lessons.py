"""List of the lessons that are part of the program; other lessons are opened like any file."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from sim.counted import counted
from sim.lesson import Lesson
from sim.params import ConfigError
from ui.dialogs.base import Host
from ui.dialogs.listing import FileListing
from ui.model import files
from ui.widgets.lists import Item


class Lessons(FileListing):
    title = "Lessons"
    hint = "guided runs: one idea per step, and a question before the run shows the answer"
    size = (820, 480)
    command = "lessons"
    is_chosen_at_once = True
    empty = f"No lessons in {files.LESSON_FOLDER}"
    other, word = "Other lesson ...", "Start lesson"

    def __init__(self, host: Host, open_path: Callable[[Path], None]) -> None:
        self.open_path = open_path
        super().__init__(host)

    def items(self) -> list[Item]:
        return [_item(path) for path in files.lessons()]

    def go(self, value: Path) -> None:
        self.open_path(value)


def _item(path: Path) -> Item:
    try:
        lesson = _read(path, path.stat().st_mtime_ns)
    except (ConfigError, OSError) as error:
        return Item((path.stem, ""), path, detail=str(error).splitlines()[0], is_dim=True)
    return Item((lesson.title, counted(len(lesson.steps), "step")), path, detail=lesson.about)


@lru_cache(maxsize=64)
def _read(path: Path, changed_ns: int) -> Lesson:
    """Read a lesson from its file; the result is cached by path and modification time (in ns)."""
    return files.read_lesson(path, is_played=False)
