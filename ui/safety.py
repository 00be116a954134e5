"""Recovery from errors of the program in a frame: report the error, restore the run, continue with the next frame.

After an error the run is paused at its last complete tick. This tick is recomputed from an earlier keyframe, because an
error in the middle of a tick leaves some agents one move ahead of the others. If several frames in a row fail, the
window closes and leaves its journal on disk, so that the next start offers to restore the session. In tests recovery is
off, so that errors surface.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sim.params import ConfigError
from ui.commands.window import Window
from ui.dialogs.fault import FaultBox
from ui.model.faults import MAX_IN_A_ROW, Fault, ThreadFaults, complain_on_terminal, fault_of, keep_report, report

COMMAND = "carrying out a command"
TICK = "advancing the run"
DRAW = "drawing the window"
THREAD = "working in the background"


class Safety:
    """Recovery from errors in the phases of a frame, with the faults caught so far."""

    def __init__(self, window: Window, is_kept: Callable[[], bool]) -> None:
        """Create the error recovery, which does nothing until it is switched on.

        Args:
            window: Window in which errors are shown.
            is_kept: Callback that returns whether the session is being written to a journal.
        """
        self.window, self.is_kept = window, is_kept
        self.is_on = False
        self.faults: list[Fault] = []
        self.threads = ThreadFaults()
        self._failed_frames_in_a_row = 0  # number of consecutive failed frames up to the previous frame
        self._has_frame_failed = False  # whether an error was caught in the current frame

    def begin(self) -> None:
        """Switch recovery on: catch errors in frames, and collect the errors of background threads."""
        self.is_on = True
        self.threads.listen()

    def run(self, doing: str, do: Callable[..., object], *given: Any) -> None:
        """Run one phase of a frame; catch and report its errors if recovery is on.

        Args:
            doing: Description of the phase for the report.
            do: Function to call.
            given: Arguments of the function.
        """
        if not self.is_on:
            do(*given)
            return
        try:
            do(*given)
        except ConfigError as error:  # invalid user input that no dialog has reported, so it is no bug
            self.window.complain(error)
        except Exception as error:
            self.caught(doing, error)

    def end_frame(self) -> None:
        """Report the errors that threads raised during the frame, and update the count of consecutive failed frames."""
        while (text := self.threads.take_agent_error()) is not None:
            self.window.say(f"A thread of an agent failed: {text}")
        error = self.threads.take()
        if error is not None and self.is_on:
            self.caught(THREAD, error)
        self._failed_frames_in_a_row = self._failed_frames_in_a_row + 1 if self._has_frame_failed else 0
        self._has_frame_failed = False

    @property
    def should_abort(self) -> bool:
        return self._failed_frames_in_a_row >= MAX_IN_A_ROW

    def caught(self, doing: str, error: BaseException) -> None:
        """Record an error of the program, restore the run, and show a report of the error.

        Further errors during this are ignored, because the frame counts as failed anyway.

        Args:
            doing: Description of the phase in which the error occurred.
            error: The error.
        """
        fault = fault_of(doing, error)
        self.faults.append(fault)
        self._has_frame_failed = True
        with suppress(Exception):
            self._restore_run()
        with suppress(Exception):
            self._tell(fault)

    def _restore_run(self) -> None:
        """Pause the run and recompute its last complete tick."""
        window, player = self.window, self.window.player
        player.pause()
        player.is_slow_motion, player.until_command = False, None
        window.session.until = None
        window.scene.cells.clear()
        window.session.make_whole()

    def _tell(self, fault: Fault) -> None:
        """Show the error dialog, after closing the open dialog, which may have caused the error."""
        dialogs, session = self.window.dialogs, self.window.session
        try:
            dialogs.close_dialog()
        except Exception:
            dialogs.rebuild(dialogs.window_size)
        dialogs.show(FaultBox(dialogs, fault, lambda: report(fault, session), self.is_kept()))

    def last_words(self) -> None:
        """Write the report of the last fault to disk and a message to the terminal, before the window closes."""
        fault = self.faults[-1]
        complain_on_terminal(fault.words, keep_report(report(fault, self.window.session)), self.is_kept())
