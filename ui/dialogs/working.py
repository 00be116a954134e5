"""Progress dialog of a job, with a button to cancel it."""

import time
from collections.abc import Callable
from typing import Any

import pygame

from ui.dialogs.base import FOOTER, HEADING, SETTLE_S, Dialog, Host
from ui.model.job import Job
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Control, Drawn, Text

_SWEEP_S = 1.6  # seconds in which a bar of unknown progress moves once from left to right


class Working(Dialog):
    closes_outside = False

    def __init__(self, host: Host, title: str, job: Job[Any], finish: Callable[[Job[Any]], None]) -> None:
        """Show the progress of a running job; when the job is done, close the dialog and call `finish` with the job."""
        self.title, self.job, self.finish = title, job, finish
        self.began_s = time.monotonic()
        self.size = (480, HEADING + FOOTER + 46)
        super().__init__(host)
        self._settling_s = SETTLE_S  # ignore presses for a moment: the key that started the job must not press "Cancel"

    def build(self) -> None:
        area = self.area
        self.text = Text(self, pygame.Rect(area.x, area.y, area.width, self.px(22)), self._words(), role="dim")
        self.bar = _ProgressBar(self, pygame.Rect(area.x, area.y + self.px(28), area.width, self.px(8)))
        self.add(self.text)
        self.add(self.bar)
        self.add_footer(("Cancel", self.cancel, "main"))

    def _words(self) -> str:
        seconds = f"{time.monotonic() - self.began_s:.0f} s"
        return seconds if self.job.share is None else f"{self.job.share:.0%}, {seconds}"

    def update(self, seconds: float = 1 / 60) -> None:
        super().update(seconds)
        if self.job.is_done:
            self.host.close_dialog()
            self.finish(self.job)
            return
        self.text.set(self._words())
        self.bar.element.refresh()

    def close(self) -> None:
        self.job.give_up()
        super().close()


class _ProgressBar(Control):
    can_focus = False
    is_moving = True
    element: Drawn

    def __init__(self, dialog: Working, rect: pygame.Rect) -> None:
        super().__init__(dialog)
        self.working = dialog
        self.element = Drawn(dialog, rect, self._paint)
        self.element.refresh()

    def _paint(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        share = self.working.job.share
        if share is not None:
            pen.meter((0, 0, width, height), share, pen.palette.accent)
            return
        pen.meter((0, 0, width, height), 0.0, pen.palette.accent)
        along = (time.monotonic() - self.working.began_s) % _SWEEP_S / _SWEEP_S
        left = round(along * width * 0.75)
        pen.fill((left, 0, width // 4, height), pen.palette.accent, 3)
