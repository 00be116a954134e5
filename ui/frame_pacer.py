"""Frame pacing: 60 frames a second while anything moves, 5 while nothing does.

Drawing an idle window (paused, or at the end of its run) 60 times a second costs a sixth of a processor or more. That
drains the battery of a laptop and slows down an experiment that runs in the background.
"""

import time

import pygame

from sim.jit.loading import KernelLoader
from ui.app import FRAMES_PER_SECOND

FRAME_PERIOD_S = 1.0 / FRAMES_PER_SECOND

IDLE_FRAME_PERIOD_S = 0.2
"""Seconds between two frames of an idle window."""

FULL_RATE_AFTER_ACTIVITY_S = 1.0
"""Seconds for which the full frame rate is kept after the last activity. They are enough for a tooltip to appear, for
the settings to be saved, and for each of the bars and numbers that are redrawn in turn to be redrawn once."""

_MIN_KERNEL_LOAD_TIME_S = 0.008
"""Seconds that must remain until the next frame for another kernel to be loaded; nine kernels in ten load faster."""


def load_kernels_and_sleep_until(deadline: float, loader: KernelLoader) -> None:
    """Sleep until the deadline; while there is enough time left, load cached kernels that may be needed later.

    Args:
        deadline: Time of the next frame on the clock of `time.perf_counter`, in seconds.
        loader: Loader of the cached kernels.
    """
    while deadline - time.perf_counter() > _MIN_KERNEL_LOAD_TIME_S and loader.load_next_overload():
        pass
    time.sleep(max(0.0, deadline - time.perf_counter()))


class FramePacer:
    """Timer that keeps the window at an even frame rate, by sleeping until the next frame is due.

    `pygame.time.Clock.tick` is not used because it rounds to whole milliseconds; a frame lasts 16.7 ms.
    """

    def __init__(self) -> None:
        self._kernel_loader = KernelLoader("ui.draw")
        # start of the last frame, due time of the next frame, end of the last busy frame, in time.perf_counter seconds
        self._frame_start_s = self._next_frame_due_s = self._last_activity_s = time.perf_counter()

    def begin_frame(self) -> float:
        """Return the seconds since the previous frame began."""
        now = time.perf_counter()
        seconds, self._frame_start_s = now - self._frame_start_s, now
        return seconds

    def end_frame(self, *, is_idle: bool) -> None:
        """Wait until the next frame is due: a 60th of a second after this one, or longer if the window is idle."""
        now = time.perf_counter()
        if not is_idle:
            self._last_activity_s = now
        self._next_frame_due_s = max(self._next_frame_due_s + FRAME_PERIOD_S, now)
        load_kernels_and_sleep_until(self._next_frame_due_s, self._kernel_loader)
        if now - self._last_activity_s >= FULL_RATE_AFTER_ACTIVITY_S:
            self._wait_while_idle(now + IDLE_FRAME_PERIOD_S)

    def _wait_while_idle(self, end: float) -> None:
        """Wait until the time `end`, but return at once when an event arrives.

        After an event, only one frame of the wait counts as passed time. Otherwise a run that is started by the event
        would begin with all the ticks that were due during the wait.

        Args:
            end: Time on the clock of `time.perf_counter`, in seconds.
        """
        while time.perf_counter() < end:
            if pygame.event.peek():
                self._frame_start_s = time.perf_counter() - FRAME_PERIOD_S
                return
            load_kernels_and_sleep_until(time.perf_counter() + FRAME_PERIOD_S, self._kernel_loader)
