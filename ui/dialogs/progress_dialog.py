"""Progress dialog of a job, with a button to cancel it."""

import time
from collections.abc import Callable
from typing import Any

import pygame

from ui.dialogs.dialog_base import BUTTON_SETTLE_S, FOOTER_HEIGHT, HEADING_HEIGHT, Dialog, DialogHost
from ui.model.background_job import BackgroundJob
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Control, PaintedElement, TextLabel

_BAR_SWEEP_PERIOD_S = 1.6  # seconds in which a bar of unknown progress moves once from left to right


class ProgressDialog(Dialog):
    closes_on_outside_click = False

    def __init__(
        self, host: DialogHost, title: str, job: BackgroundJob[Any], finish: Callable[[BackgroundJob[Any]], None]
    ) -> None:
        """Show the progress of a running job; when it is done, close the dialog and call `on_finished` with the job."""
        self.title, self.job, self.on_finished = title, job, finish
        self.start_time_s = time.monotonic()
        self.size = (480, HEADING_HEIGHT + FOOTER_HEIGHT + 46)
        super().__init__(host)
        # Ignore presses for a moment: the key that started the job must not press "Cancel".
        self._settle_timer_s = BUTTON_SETTLE_S

    def build_controls(self) -> None:
        area = self.content_rect
        self.progress_label = TextLabel(
            self, pygame.Rect(area.x, area.y, area.width, self.to_px(22)), self._progress_text(), role="dim"
        )
        self.progress_bar = _ProgressBar(self, pygame.Rect(area.x, area.y + self.to_px(28), area.width, self.to_px(8)))
        self.add(self.progress_label)
        self.add(self.progress_bar)
        self.add_footer_buttons(("Cancel", self.cancel, "main"))

    def _progress_text(self) -> str:
        seconds = f"{time.monotonic() - self.start_time_s:.0f} s"
        return seconds if self.job.share is None else f"{self.job.share:.0%}, {seconds}"

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        super().update_dialog(seconds)
        if self.job.is_done:
            self.host.close_dialog()
            self.on_finished(self.job)
            return
        self.progress_label.set_text(self._progress_text())
        self.progress_bar.element.repaint()

    def close(self) -> None:
        self.job.cancel()
        super().close()


class _ProgressBar(Control):
    can_focus = False
    is_animated = True
    element: PaintedElement

    def __init__(self, dialog: ProgressDialog, rect: pygame.Rect) -> None:
        super().__init__(dialog)
        self.progress_dialog = dialog
        self.element = PaintedElement(dialog, rect, self._paint_progress_bar)
        self.element.repaint()

    def _paint_progress_bar(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        share = self.progress_dialog.job.share
        if share is not None:
            pen.draw_meter_bar((0, 0, width, height), share, pen.palette.accent)
            return
        pen.draw_meter_bar((0, 0, width, height), 0.0, pen.palette.accent)
        along = (time.monotonic() - self.progress_dialog.start_time_s) % _BAR_SWEEP_PERIOD_S / _BAR_SWEEP_PERIOD_S
        left = round(along * width * 0.75)
        pen.fill_box((left, 0, width // 4, height), pen.palette.accent, 3)
