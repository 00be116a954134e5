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
from ui.commands.app_context import AppContext
from ui.dialogs.fault_box import FaultBox
from ui.model.faults import (
    MAX_CONSECUTIVE_FAULTS,
    Fault,
    ThreadFaults,
    fault_from_exception,
    fault_report,
    print_final_message,
    write_report_file,
)

COMMAND_PHASE = "carrying out a command"
TICK_PHASE = "advancing the run"
DRAW_PHASE = "drawing the window"
THREAD_PHASE = "working in the background"


class ErrorRecovery:
    """Recovery from errors in the phases of a frame, with the faults caught so far."""

    def __init__(self, window: AppContext, is_kept: Callable[[], bool]) -> None:
        """Create the error recovery, which does nothing until it is switched on.

        Args:
            window: Window in which errors are shown.
            is_kept: Callback that returns whether the session is being written to a journal.
        """
        self.window, self.is_session_journaled = window, is_kept
        self.is_recovery_on = False
        self.caught_faults: list[Fault] = []
        self.thread_faults = ThreadFaults()
        self._failed_frames_in_a_row = 0  # number of consecutive failed frames up to the previous frame
        self._has_frame_failed = False  # whether an error was caught in the current frame

    def switch_on_recovery(self) -> None:
        """Switch recovery on: catch errors in frames, and collect the errors of background threads."""
        self.is_recovery_on = True
        self.thread_faults.install_exception_hook()

    def run_frame_phase(self, doing: str, function: Callable[..., object], *args: Any) -> None:
        """Run one phase of a frame; catch and report its errors if recovery is on.

        Args:
            doing: Description of the phase for the report.
            function: Function to call.
            args: Arguments of the function.
        """
        if not self.is_recovery_on:
            function(*args)
            return
        try:
            function(*args)
        except ConfigError as error:  # invalid user input that no dialog has reported, so it is no bug
            self.window.show_error(error)
        except Exception as error:
            self.handle_error(doing, error)

    def report_thread_errors(self) -> None:
        """Report the errors that threads raised during the frame, and update the count of consecutive failed frames."""
        while (text := self.thread_faults.next_agent_error()) is not None:
            self.window.notify_user(f"A thread of an agent failed: {text}")
        error = self.thread_faults.next_exception()
        if error is not None and self.is_recovery_on:
            self.handle_error(THREAD_PHASE, error)
        self._failed_frames_in_a_row = self._failed_frames_in_a_row + 1 if self._has_frame_failed else 0
        self._has_frame_failed = False

    @property
    def should_abort_program(self) -> bool:
        return self._failed_frames_in_a_row >= MAX_CONSECUTIVE_FAULTS

    def handle_error(self, doing: str, error: BaseException) -> None:
        """Record an error of the program, restore the run, and show a report of the error.

        Further errors during this are ignored, because the frame counts as failed anyway.

        Args:
            doing: Description of the phase in which the error occurred.
            error: The error.
        """
        fault = fault_from_exception(doing, error)
        self.caught_faults.append(fault)
        self._has_frame_failed = True
        with suppress(Exception):
            self._restore_run()
        with suppress(Exception):
            self._show_fault_dialog(fault)

    def _restore_run(self) -> None:
        """Pause the run and recompute its last complete tick."""
        window, player = self.window, self.window.player
        player.pause()
        player.is_slow_motion, player.run_until_command_id = False, None
        window.session.stop_condition = None
        window.map_view.cells.clear()
        window.session.recover_worlds()

    def _show_fault_dialog(self, fault: Fault) -> None:
        """Show the error dialog, after closing the open dialog, which may have caused the error."""
        dialogs, session = self.window.dialogs, self.window.session
        try:
            dialogs.close_dialog()
        except Exception:
            dialogs.rebuild_widgets(dialogs.window_size)
        dialogs.open_dialog(FaultBox(dialogs, fault, lambda: fault_report(fault, session), self.is_session_journaled()))

    def write_crash_report(self) -> None:
        """Write the report of the last fault to disk and a message to the terminal, before the window closes."""
        fault = self.caught_faults[-1]
        print_final_message(
            fault.message, write_report_file(fault_report(fault, self.window.session)), self.is_session_journaled()
        )
