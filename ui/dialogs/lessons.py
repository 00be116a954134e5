"""The lessons that ship, to begin one; a teacher's own are opened like any file."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pygame

from sim.lesson import Lesson
from sim.params import ConfigError
from ui.dialogs.base import Dialog, Host
from ui.model import files
from ui.widgets.lists import Col, Item, Rows


class Lessons(Dialog):
    title = "Lessons"
    hint = "guided runs: one idea a step, and a question before the run shows the answer"
    size = (820, 480)
    command = "lessons"

    def __init__(self, host: Host, open_path: Callable[[Path], None]) -> None:
        self.open_path = open_path
        self.at = 0
        super().__init__(host)

    def build(self) -> None:
        self.rows = Rows(
            self,
            self.area,
            [Col(), Col(width=110, align="right", role="dim")],
            [_item(path) for path in files.lessons()],
            place=self.at,
            chosen=self.confirm,
            is_chosen_at_once=True,
            selected=self._selected,
            empty=f"no lessons in {files.LESSON_FOLDER}",
        )
        self.add(self.rows)
        self.add_footer(("Your own ...", self._browse, ""), ("Begin", self.confirm, "main"))

    def _selected(self, place: int) -> None:
        self.at = place

    def _browse(self) -> None:
        self.host.close_dialog()
        self.host.run("open")

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)

    def confirm(self) -> None:
        item = self.rows.item
        if item is not None and not item.is_dim:
            self.host.close_dialog()
            self.open_path(item.value)


def _item(path: Path) -> Item:
    try:
        lesson = _read(path, path.stat().st_mtime_ns)
    except (ConfigError, OSError) as error:
        return Item((path.stem, ""), path, detail=str(error).splitlines()[0], is_dim=True)
    return Item((lesson.title, f"{len(lesson.steps)} steps"), path, detail=lesson.about)


@lru_cache(maxsize=64)
def _read(path: Path, changed_ns: int) -> Lesson:
    """A lesson, read once as long as its file does not change."""
    return files.read_lesson(path, is_played=False)
