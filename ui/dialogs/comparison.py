"""Comparison: a sortable table with the numbers of all agents of the run, and its export as CSV."""

import math
from pathlib import Path

import pygame

from sim.files.csv_text import Cell
from sim.walker import WalkerView
from ui.dialogs.base import FOOTER, HEADING, Dialog, Host
from ui.dialogs.file_browser import SaveFile
from ui.model import tables, wording
from ui.model.beginning import done_by_hand
from ui.model.columns import COLUMNS, params_text
from ui.model.run import Panel
from ui.widgets.lists import HEAD, TALL_ROW, Col, Item, Rows

_HEIGHT_WITHOUT_ROWS = HEADING + FOOTER + HEAD + 26
_REFRESH_S = 0.25  # seconds between two updates of the table

SHOWN = tuple(column for column in COLUMNS if column.is_shown)


class ComparisonTable(Dialog):
    title = "Comparison"
    command = "compare_table"

    def __init__(self, host: Host) -> None:
        self.sort_by = (-1, False)  # (column index, whether descending); column -1 for the order of the panels
        self.place_of = 0  # index of the selected row
        self._rest_s = _REFRESH_S  # seconds until the next update of the table
        self._state: object = None  # cache key of the rows: generation, tick and number of manual edits of the run
        rows = min(8, max(3, len(host.session.run.panels)))
        self.size = (1330, _HEIGHT_WITHOUT_ROWS + rows * TALL_ROW)
        super().__init__(host)

    def build(self) -> None:
        columns = [
            Col(c.title, c.width, "left" if c.is_text else "right", "sans" if c.is_text else "mono") for c in SHOWN
        ]
        self.rows = Rows(
            self,
            self.area,
            columns,
            self._items(),
            place=self.place_of,
            chosen=self.confirm,
            selected=self._selected,
            sort_by=self.sort_by,
            sorted_by=self._sorted,
            empty="No agent on this map",
        )
        self.add(self.rows)
        self.add_footer(
            ("Export every tick ...", self._export_ticks, ""),
            ("Export CSV ...", self._export, ""),
            ("Close", self.cancel, "main"),
        )
        self._say()

    def _say(self) -> None:
        session = self.host.session
        optimal = session.run.world.optimal
        text = f"{session.run.scenario.title}, tick {session.tick:,}"
        if math.isfinite(optimal):
            text += f", optimal cost {optimal:,.2f}"
        if session.run.scenario.listed_optimal is not None:
            text += f" (listed: {session.run.scenario.listed_optimal:,.2f})"
        self.set_title(self.title, f"{text}.  Left and Right sort by another column")

    def _items(self) -> list[Item]:
        session = self.host.session
        panels = list(session.run.panels)
        if self.sort_by[0] >= 0:
            column, is_descending = SHOWN[self.sort_by[0]], self.sort_by[1]
            keyed = [(_sort_key(column.value(session.run, panel)), panel) for panel in panels]
            # Put agents without a value last, both in ascending and in descending order.
            keyed.sort(key=lambda pair: pair[0][1], reverse=is_descending)
            keyed.sort(key=lambda pair: pair[0][0])
            panels = [panel for _, panel in keyed]
        self._state = (session.generation, session.tick, len(done_by_hand(session.run.timeline)))
        return [
            Item(
                tuple(_shown(column.value(session.run, panel), column.digits) for column in SHOWN),
                panel.key,
                detail=_detail_text(panel, session.panel_of(panel.key)),
                roles=_warnings(panel.view),
            )
            for panel in panels
        ]

    def _sorted(self, column: int, is_descending: bool) -> None:
        self.sort_by = (column, is_descending)
        self.rows.set(self._items(), 0)

    def _selected(self, index: int) -> None:
        self.place_of = index

    def update(self, seconds: float = 1 / 60) -> None:
        """Update the table while the run continues, at most once every _REFRESH_S seconds."""
        super().update(seconds)
        self._rest_s -= seconds
        session = self.host.session
        if self._rest_s > 0.0 or self._state == (
            session.generation,
            session.tick,
            len(done_by_hand(session.run.timeline)),
        ):
            return
        self._rest_s = _REFRESH_S
        chosen = self.rows.item.value if self.rows.item else None
        items = self._items()
        place = next((i for i, item in enumerate(items) if item.value == chosen), 0)
        self.rows.set(items, place, tells=False)
        self._say()

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)

    def confirm(self) -> None:
        """Focus the agent of the selected row, and close the dialog."""
        if self.rows.item is not None:
            self.host.session.focus(self.rows.item.value)
        self.host.close_dialog()

    def _export(self) -> None:
        self._save("", tables.export_csv)

    def _export_ticks(self) -> None:
        self._save(" every tick", tables.export_ticks_csv)

    def _save(self, what: str, write) -> None:  # type: ignore[no-untyped-def]
        host = self.host

        def save(path: Path) -> None:
            host.say(f"Saved {write(host.session, path).name}")

        name = f"{host.session.run.scenario.title}{what}"
        self.ask(lambda inner: SaveFile(inner, "Export as CSV", tables.CSV_SUFFIX, name, save))


def _detail_text(panel: Panel, index: int) -> str:
    words = f"panel {index + 1}: {panel.view.spec.name}   {params_text(panel.view.spec, panel.view.params, '  ')}"
    if panel.crowd is None:
        return words
    return f"{words}   {wording.crowd_costs(panel.crowd, panel.view.metrics.suboptimality)}"


def _warnings(view: WalkerView) -> dict[int, str]:
    """Return column index -> "warning" (a text colour) for bad values, such as expansions above the budget."""
    return {index: "warning" for index, column in enumerate(SHOWN) if column.is_warning(view)}


def _sort_key(value: Cell) -> tuple[bool, str | float]:
    if value is None:
        return True, 0.0
    return False, value.lower() if isinstance(value, str) else float(value)


def _shown(value: Cell, digits: int) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else value
