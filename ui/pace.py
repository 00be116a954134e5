"""When the next frame comes: sixty a second while anything moves, five while nothing does.

A window that stands, paused or at the end of its run, was drawn sixty times a second for nothing: a sixth of a
processor and more, which the battery of a laptop pays for, and which an experiment beside the window misses.
"""

import time

import pygame

from sim.kernels.loading import Loader
from ui.app import FRAMES_PER_SECOND

FRAME_S = 1.0 / FRAMES_PER_SECOND

RESTING_S = 0.2
"""How long a picture stands while nothing changes by itself."""

AWAKE_S = 1.0
"""How long frames go on at their usual pace after something has stirred. By then a tooltip has come, settings are
kept, and bars and numbers that are drawn in turn have all had theirs."""

_LOAD_S = 0.008
"""What a frame has to leave over for another kernel to be read: nine in ten take less."""


def wait_until(deadline: float, loader: Loader) -> None:
    """Wait for the next frame; while there is time enough, read a kernel that may be wanted later."""
    while deadline - time.perf_counter() > _LOAD_S and loader.load_next():
        pass
    time.sleep(max(0.0, deadline - time.perf_counter()))


class Pace:
    """That of the frames of a window. It sleeps to a deadline, because Clock.tick rounds to whole milliseconds."""

    def __init__(self) -> None:
        self._loader = Loader("ui.draw")
        self._last = self._deadline = self._stirred = time.perf_counter()

    def begin_frame(self) -> float:
        """Seconds since the frame before."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds

    def end_frame(self, *, is_idle: bool) -> None:
        """Wait until the next one is due."""
        now = time.perf_counter()
        if not is_idle:
            self._stirred = now
        self._deadline = max(self._deadline + FRAME_S, now)
        wait_until(self._deadline, self._loader)
        if now - self._stirred >= AWAKE_S:
            self._rest(now + RESTING_S)

    def _rest(self, end: float) -> None:
        """Let the picture stand until the user does something: a run that begins then owes nothing for the rest."""
        while time.perf_counter() < end:
            if pygame.event.peek():
                self._last = time.perf_counter() - FRAME_S
                return
            wait_until(time.perf_counter() + FRAME_S, self._loader)
