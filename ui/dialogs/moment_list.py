"""List of notable moments of the recorded run. A click on a moment seeks to its tick."""

from collections.abc import Callable

from ui.dialogs.dialog_base import DialogHost
from ui.dialogs.list_dialog import ListDialog
from ui.model.notable_moments import Moment, notable_moments
from ui.widgets.row_list import ListColumn, ListRow


class MomentList(ListDialog):
    title = "Moments"
    hint = "notable events of the run so far; Enter or a click goes to the tick"
    size = (760, 420)
    command_id = "moments"
    second_column = ListColumn(width=120, text_align="right", font_face="mono", colour_name="dim")
    opens_on_single_click = True
    empty_text = "No moments yet; let the run continue for a while"
    main_button_label = "Go to tick"

    def __init__(self, host: DialogHost, go_to: Callable[[Moment], None]) -> None:
        self.on_moment_chosen = go_to
        self.moments = sorted(notable_moments(host.session), key=lambda moment: moment.tick)
        super().__init__(host)

    def items(self) -> list[ListRow]:
        return [_moment_row(moment) for moment in self.moments]

    def open_selected_value(self, value: Moment) -> None:
        self.on_moment_chosen(value)


def _moment_row(moment: Moment) -> ListRow:
    return ListRow((moment.title, f"tick {moment.tick:,}"), moment, detail_text=moment.text)
