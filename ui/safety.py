"""The net under the window: an error of ours in a frame is told, the run made whole again, and the next frame comes.

    safety.run(COMMAND, app.handle, event)     one piece of a frame
    safety.is_hopeless                         several frames in a row failed: the window has to end

After an error the run stands still at its last whole tick, computed anew from before: an error in the middle of a tick
leaves some agents a move ahead of the others. Where frame after frame fails, the window ends without a farewell to the
journal, so that the next start offers the session. Tests hang up no net: there, an error is to be seen.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sim.params import ConfigError
from ui.commands.window import Window
from ui.dialogs.fault import FaultBox
from ui.model.faults import MOST_IN_A_ROW, Fault, ThreadFaults, complain_on_terminal, fault_of, keep_report, report

COMMAND = "a command was carried out"
TICK = "time passed"
DRAW = "the window was drawn"
THREAD = "something was done beside the window"


class Safety:
    def __init__(self, window: Window, is_kept: Callable[[], bool]) -> None:
        """`is_kept`: whether what is done is in a journal by now."""
        self.window, self.is_kept = window, is_kept
        self.is_on = False
        self.faults: list[Fault] = []
        self.threads = ThreadFaults()
        self._in_a_row = 0
        self._has_failed = False  # in this frame

    def begin(self) -> None:
        """Hang up the net."""
        self.is_on = True
        self.threads.listen()

    def run(self, doing: str, do: Callable[..., object], *given: Any) -> None:
        """Do a piece of a frame."""
        if not self.is_on:
            do(*given)
            return
        try:
            do(*given)
        except ConfigError as error:  # something that the user gave, and that nobody has told of
            self.window.complain(error)
        except Exception as error:
            self.caught(doing, error)

    def end_frame(self) -> None:
        """A frame is over; a whole one makes hope."""
        while (text := self.threads.take_agent_error()) is not None:
            self.window.say(f"A thread of an agent failed: {text}")
        error = self.threads.take()
        if error is not None and self.is_on:
            self.caught(THREAD, error)
        self._in_a_row = self._in_a_row + 1 if self._has_failed else 0
        self._has_failed = False

    @property
    def is_hopeless(self) -> bool:
        return self._in_a_row >= MOST_IN_A_ROW

    def caught(self, doing: str, error: BaseException) -> None:
        """Tell of an error and make the run whole. What fails in here fails the frame once more."""
        fault = fault_of(doing, error)
        self.faults.append(fault)
        self._has_failed = True
        with suppress(Exception):
            self._stand_still()
        with suppress(Exception):
            self._tell(fault)

    def _stand_still(self) -> None:
        window, player = self.window, self.window.player
        player.pause()
        player.is_slow_motion, player.until_command = False, None
        window.session.until = None
        window.scene.cells.clear()
        window.session.make_whole()

    def _tell(self, fault: Fault) -> None:
        """The dialog that is open may be what failed: it is let go without being asked."""
        dialogs, session = self.window.dialogs, self.window.session
        try:
            dialogs.close_dialog()
        except Exception:
            dialogs.rebuild(dialogs.window_size)
        dialogs.show(FaultBox(dialogs, fault, lambda: report(fault, session), self.is_kept()))

    def last_words(self) -> None:
        """The window ends because of its faults."""
        fault = self.faults[-1]
        complain_on_terminal(fault.words, keep_report(report(fault, self.window.session)), self.is_kept())
