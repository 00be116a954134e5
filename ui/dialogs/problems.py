"""List of the problems of an open .scen file, with sorting and search; Enter opens a problem."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygame

from sim.counted import counted
from sim.files.map import ScenFile, ScenRow
from sim.params import ConfigError
from ui.dialogs.base import Dialog, Host, take_left, take_top
from ui.dialogs.message import MessageBox
from ui.model import files
from ui.model.beginning import configs_of
from ui.widgets.controls import Field, Text
from ui.widgets.lists import Col, Item, Rows

_COLUMNS = (
    Col("#", 64, "right", "mono", "dim"),
    Col("Bucket", 84, "right", "mono"),
    Col("Start", 118, "right", "mono"),
    Col("Goal", 118, "right", "mono"),
    Col("Listed optimal", 136, "right", "mono"),
    Col("Remark"),
)
_KEYS: tuple[Callable[[ScenRow], Any], ...] = (
    lambda row: row.number,
    lambda row: row.bucket,
    lambda row: row.start,
    lambda row: row.goal,
    lambda row: row.optimal,
    lambda row: row.problem or "",
)


class ProblemList(Dialog):
    size = (980, 660)
    command = "problems"

    def __init__(self, host: Host) -> None:
        self.problems = host.problems or ScenFile("no problem list", [])
        self.query = ""
        self.sort_by = (0, False)
        self.chosen_number = 0
        bad = sum(row.problem is not None for row in self.problems.rows)
        self.title = Path(self.problems.name).name
        self.hint = counted(len(self.problems.rows), "problem") + (f", {bad:,} of them cannot be run" if bad else "")
        super().__init__(host)

    def build(self) -> None:
        area = self.area
        head = take_top(area, self.px(34), self.px(8))
        label = Text(self, take_left(head, self.px(36), self.px(8)), "Find", role="dim", middle=True)
        self.field = Field(self, take_left(head, self.px(220), self.px(14)), self.query, self._typed)
        note = Text(self, head, "12: number 12...    b12: bucket 12    or words in the remark", role="dim", middle=True)
        self.shown = self._found()
        self.rows = Rows(
            self,
            area,
            _COLUMNS,
            [_item(row) for row in self.shown],
            place=self._place(),
            chosen=self.confirm,
            selected=self._selected,
            sort_by=self.sort_by,
            sorted_by=self._sorted,
            empty="No problem matches",
        )
        self.controls = [self.field, self.rows, label, note]
        self.open_button = self.add_footer(("Close", self.cancel, ""), ("Open problem", self.confirm, "main"))[1]
        self._selected(self.rows.place)

    def _found(self) -> list[ScenRow]:
        column, is_descending = self.sort_by
        rows = [row for row in self.problems.rows if matches(row, self.query)]
        return sorted(rows, key=_KEYS[column], reverse=is_descending)

    def _place(self) -> int:
        return next((i for i, row in enumerate(self.shown) if row.number == self.chosen_number), 0)

    def _refill(self) -> None:
        self.shown = self._found()
        self.rows.set([_item(row) for row in self.shown], self._place())
        self._selected(self.rows.place)

    def _typed(self, text: str) -> None:
        self.query = text
        self._refill()

    def _sorted(self, column: int, is_descending: bool) -> None:
        self.sort_by = (column, is_descending)
        self._refill()

    def _selected(self, index: int) -> None:
        row = self.shown[index] if 0 <= index < len(self.shown) else None
        if row:
            self.chosen_number = row.number
        self.open_button.enable(row is not None and row.problem is None)

    def key(self, event: pygame.event.Event) -> bool:
        is_in_field = self.focused is self.field
        keys = (pygame.K_UP, pygame.K_DOWN, pygame.K_PAGEUP, pygame.K_PAGEDOWN)
        return (not is_in_field or event.key in keys) and self.rows.key(event)

    def confirm(self) -> None:
        item = self.rows.item
        if item is None or item.is_dim:
            return
        session = self.host.session
        agents = configs_of(session.run) or list(files.DEFAULT_AGENTS)
        try:
            scenario = files.scenario_of_row(self.problems, item.value, agents, session.run.world.budget)
            scenario = scenario.moved_by(session.run.world.grid.movement)
        except ConfigError as error:
            reasons = error.problems
            self.ask(lambda host: MessageBox(host, "The problem could not be opened", reasons))
            return
        self.host.close_dialog()
        self.host.open_scenario(scenario, keeps_view=True)  # keep layers, heat and tab, because the map is the same


def matches(row: ScenRow, query: str) -> bool:
    """Return whether a problem of the list matches all words of a query.

    A number matches the problems whose number begins with it; "b12" matches the problems of bucket 12; any other word
    matches the problems whose remark, map name or text contains the word.
    """
    return all(_matches_word(row, word) for word in query.lower().split())


def _matches_word(row: ScenRow, word: str) -> bool:
    if word.isdigit():
        return str(row.number).startswith(word)
    if word[0] == "b" and word[1:].isdigit():
        return row.bucket == int(word[1:])
    return word in f"{row.problem or ''} {row.map_name} {row.text or ''}".lower()


def _item(row: ScenRow) -> Item:
    if not row.is_readable:
        return Item((str(row.number), "", "", "", "", row.problem or ""), row, is_dim=True)
    cells = (str(row.number), str(row.bucket), _pair(row.start), _pair(row.goal), f"{row.optimal:.4f}")
    return Item((*cells, row.problem or ""), row, is_dim=row.problem is not None)


def _pair(cell: tuple[int, int]) -> str:
    """Return the coordinates of a cell as text, such as "12, 7"."""
    return f"{cell[0]}, {cell[1]}"
