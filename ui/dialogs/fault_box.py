"""Message about an error of the program itself, with a report to copy."""

from collections.abc import Callable

from pygame_gui.core.utility import clipboard_copy

from ui.dialogs.dialog_base import FOOTER_HEIGHT, HEADING_HEIGHT, MARGIN, Dialog, DialogHost
from ui.dialogs.question import text_height
from ui.model.faults import Fault
from ui.widgets.controls import TextLabel

_WIDTH = 560
_KEPT_TEXT = "Nothing is lost: all your actions are in the journal."
_NOT_KEPT_TEXT = "Your actions could not be written to the journal: save the session now."
_ADVICE_TEXT = (
    "The run is paused at its last complete tick. You can continue; if the window behaves oddly, save the session and "
    "restart Backmove. The report helps to fix the error; it contains nothing of your files but the title."
)


class FaultBox(Dialog):
    title = "Something went wrong"
    closes_on_outside_click = False

    def __init__(self, host: DialogHost, fault: Fault, report: Callable[[], str], is_kept: bool = True) -> None:
        self.fault, self.report = fault, report
        self.is_copied = False
        self.text = f"{fault.message}.\n\n{_KEPT_TEXT if is_kept else _NOT_KEPT_TEXT} {_ADVICE_TEXT}"
        self.size = (
            _WIDTH,
            HEADING_HEIGHT + FOOTER_HEIGHT + text_height(host, self.text, _WIDTH - 2 * MARGIN, 14) + 14,
        )
        super().__init__(host)

    def build_controls(self) -> None:
        self.add(TextLabel(self, self.area, self.text, size=14))
        copy = "Copied" if self.is_copied else "Copy report"
        buttons = self.add_footer_buttons(
            (copy, self._copy_report, ""),
            ("Save session ...", self._save_session, ""),
            ("Continue", self.cancel, "main"),
        )
        self._focused_index = self.controls.index(buttons[-1])

    def _copy_report(self) -> None:
        clipboard_copy(self.report())
        self.is_copied = True
        self.rebuild_widgets()

    def _save_session(self) -> None:
        self.host.close_dialog()
        self.host.save_session()

    def on_confirm(self) -> None:
        self.host.close_dialog()
