"""Message about an error of the program itself, with a report to copy."""

from collections.abc import Callable

from ui.dialogs.dialog_base import CARD_MARGIN, FOOTER_HEIGHT, HEADING_HEIGHT, Dialog, DialogHost
from ui.dialogs.question import wrapped_text_height
from ui.model.faults import Fault
from ui.widgets.clipboard import copy_text_to_clipboard
from ui.widgets.controls import TextLabel

_BOX_WIDTH = 560
_ACTIONS_KEPT_TEXT = "Nothing is lost: all your actions are in the journal."
_ACTIONS_NOT_KEPT_TEXT = "Your actions could not be written to the journal: save the session now."
_ADVICE_TEXT = (
    "The run is paused at its last complete tick. You can continue; if the window behaves oddly, save the session and "
    "restart Backmove. The report helps to fix the error; it contains nothing of your files but the title."
)


class FaultBox(Dialog):
    title = "Something went wrong"
    closes_on_outside_click = False

    def __init__(self, host: DialogHost, fault: Fault, report: Callable[[], str], is_kept: bool = True) -> None:
        self.fault, self.report_callback = fault, report
        self.is_report_copied = False
        self.text = f"{fault.message}.\n\n{_ACTIONS_KEPT_TEXT if is_kept else _ACTIONS_NOT_KEPT_TEXT} {_ADVICE_TEXT}"
        self.size = (
            _BOX_WIDTH,
            HEADING_HEIGHT
            + FOOTER_HEIGHT
            + wrapped_text_height(host, self.text, _BOX_WIDTH - 2 * CARD_MARGIN, 14)
            + 14,
        )
        super().__init__(host)

    def build_controls(self) -> None:
        self.add(TextLabel(self, self.content_rect, self.text, size=14))
        copy = "Copied" if self.is_report_copied else "Copy report"
        buttons = self.add_footer_buttons(
            (copy, self._copy_report, ""),
            ("Save session ...", self._save_session, ""),
            ("Continue", self.cancel, "main"),
        )
        self._focused_index = self.controls.index(buttons[-1])

    def _copy_report(self) -> None:
        self.is_report_copied = copy_text_to_clipboard(self.report_callback())
        self.rebuild_widgets()

    def _save_session(self) -> None:
        self.host.close_dialog()
        self.host.save_session()

    def on_confirm(self) -> None:
        self.host.close_dialog()
