"""List of the lessons that are part of the program; other lessons are opened like any file."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from files.lesson_claims import Lesson
from sim.params import ConfigError
from sim.plurals import count_with_noun
from ui.dialogs.dialog_base import DialogHost
from ui.dialogs.list_dialog import FileListDialog
from ui.model import opened_files
from ui.widgets.row_list import ListRow


class LessonList(FileListDialog):
    title = "Lessons"
    hint = "guided runs: one idea per step, and a question before the run shows the answer"
    size = (820, 480)
    command_id = "lessons"
    opens_on_single_click = True
    empty_text = f"No lessons in {opened_files.LESSON_FOLDER}"
    left_button_label, main_button_label = "Other lesson ...", "Start lesson"

    def __init__(self, host: DialogHost, open_path: Callable[[Path], None]) -> None:
        self.open_path = open_path
        super().__init__(host)

    def items(self) -> list[ListRow]:
        return [_lesson_row(path) for path in opened_files.lesson_files()]

    def open_selected_value(self, value: Path) -> None:
        self.open_path(value)


def _lesson_row(path: Path) -> ListRow:
    try:
        lesson = _read_lesson(path, path.stat().st_mtime_ns)
    except (ConfigError, OSError) as error:
        return ListRow((path.stem, ""), path, detail_text=str(error).splitlines()[0], is_dim=True)
    return ListRow((lesson.title, count_with_noun(len(lesson.steps), "step")), path, detail_text=lesson.description)


@lru_cache(maxsize=64)
def _read_lesson(path: Path, changed_ns: int) -> Lesson:
    """Read a lesson from its file; the result is cached by path and modification time (in ns)."""
    return opened_files.read_lesson(path, is_played=False)
