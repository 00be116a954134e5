"""List of notable moments of the recorded run. A click on a moment seeks to its tick."""

from collections.abc import Callable

from ui.dialogs.base import Host
from ui.dialogs.listing import Listing
from ui.model.moments import Moment, moments_of
from ui.widgets.lists import Col, Item


class Moments(Listing):
    title = "Moments"
    hint = "notable events of the run so far; Enter or a click goes to the tick"
    size = (760, 420)
    command = "moments"
    second = Col(width=120, align="right", face="mono", role="dim")
    is_chosen_at_once = True
    empty = "No moments yet; let the run continue for a while"
    word = "Go to tick"

    def __init__(self, host: Host, go_to: Callable[[Moment], None]) -> None:
        self.go_to = go_to
        self.moments = sorted(moments_of(host.session), key=lambda moment: moment.tick)
        super().__init__(host)

    def items(self) -> list[Item]:
        return [_item(moment) for moment in self.moments]

    def go(self, value: Moment) -> None:
        self.go_to(value)


def _item(moment: Moment) -> Item:
    return Item((moment.title, f"tick {moment.tick:,}"), moment, detail=moment.text)
