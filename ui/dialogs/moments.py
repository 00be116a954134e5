"""What is worth seeing in the run so far; a click goes there."""

from collections.abc import Callable

import pygame

from ui.dialogs.base import Dialog, Host
from ui.model.moments import Moment, moments_of
from ui.widgets.lists import Col, Item, Rows


class Moments(Dialog):
    title = "Moments"
    hint = "what is worth seeing in the run so far; Enter or a click goes there"
    size = (760, 420)
    command = "moments"

    def __init__(self, host: Host, go_to: Callable[[Moment], None]) -> None:
        self.go_to = go_to
        self.moments = sorted(moments_of(host.session), key=lambda moment: moment.tick)
        self.at = 0
        super().__init__(host)

    def build(self) -> None:
        self.rows = Rows(
            self,
            self.area,
            [Col(), Col(width=120, align="right", face="mono", role="dim")],
            [_item(moment) for moment in self.moments],
            place=self.at,
            chosen=self.confirm,
            is_chosen_at_once=True,
            selected=self._selected,
            empty="nothing yet: let the run go on for a while",
        )
        self.add(self.rows)
        self.add_footer(("Close", self.cancel, ""), ("Go there", self.confirm, "main"))

    def _selected(self, place: int) -> None:
        self.at = place

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)

    def confirm(self) -> None:
        item = self.rows.item
        if item is not None:
            self.host.close_dialog()
            self.go_to(item.value)


def _item(moment: Moment) -> Item:
    return Item((moment.title, f"tick {moment.tick:,}"), moment, detail=moment.text)
