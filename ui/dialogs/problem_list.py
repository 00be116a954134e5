"""List of the problems of an open .scen file, with sorting and search; Enter opens a problem."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygame

from files.movingai import ScenFile, ScenRow
from sim.params import ConfigError
from sim.plurals import count_with_noun
from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_left, cut_strip_from_top
from ui.dialogs.message_box import MessageBox
from ui.model import opened_files
from ui.model.start_over import current_agent_configs
from ui.widgets.controls import TextLabel
from ui.widgets.row_list import ListColumn, ListRow, RowList
from ui.widgets.text_field import TextField

_PROBLEM_LIST_COLUMNS = (
    ListColumn("#", 64, "right", "mono", "dim"),
    ListColumn("Bucket", 84, "right", "mono"),
    ListColumn("Start", 118, "right", "mono"),
    ListColumn("Goal", 118, "right", "mono"),
    ListColumn("Listed optimal", 136, "right", "mono"),
    ListColumn("Remark"),
)
_SORT_KEY_BY_COLUMN: tuple[Callable[[ScenRow], Any], ...] = (
    lambda row: row.row_index,
    lambda row: row.bucket,
    lambda row: row.start,
    lambda row: row.goal,
    lambda row: row.optimal,
    lambda row: row.problem or "",
)


class ProblemList(Dialog):
    size = (980, 660)
    command_id = "problems"

    def __init__(self, host: DialogHost) -> None:
        self.problem_file = host.benchmark_problems or ScenFile("no problem list", [])
        self.query = ""
        self.sort_order = (0, False)
        self.chosen_problem_number = 0
        bad = sum(row.problem is not None for row in self.problem_file.rows)
        self.title = Path(self.problem_file.name).name
        self.hint = count_with_noun(len(self.problem_file.rows), "problem") + (
            f", {bad:,} of them cannot be run" if bad else ""
        )
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.content_rect
        head = cut_strip_from_top(area, self.to_px(34), self.to_px(8))
        label = TextLabel(
            self, cut_strip_from_left(head, self.to_px(36), self.to_px(8)), "Find", role="dim", middle=True
        )
        self.search_field = TextField(
            self, cut_strip_from_left(head, self.to_px(220), self.to_px(14)), self.query, self._on_query_typed
        )
        note = TextLabel(
            self, head, "12: number 12...    b12: bucket 12    or words in the remark", role="dim", middle=True
        )
        self.shown_problems = self._matching_problems()
        self.problem_row_list = RowList(
            self,
            area,
            _PROBLEM_LIST_COLUMNS,
            [_problem_row(row) for row in self.shown_problems],
            index=self._selected_row_index(),
            chosen=self.on_confirm,
            selected=self._on_selected,
            sort_by=self.sort_order,
            sorted_by=self._on_sorted,
            empty="No problem matches",
        )
        self.controls = [self.search_field, self.problem_row_list, label, note]
        self.open_button = self.add_footer_buttons(
            ("Close", self.cancel, ""), ("Open problem", self.on_confirm, "main")
        )[1]
        self._on_selected(self.problem_row_list.selected_index)

    def _matching_problems(self) -> list[ScenRow]:
        column, is_descending = self.sort_order
        rows = [row for row in self.problem_file.rows if problem_matches_query(row, self.query)]
        return sorted(rows, key=_SORT_KEY_BY_COLUMN[column], reverse=is_descending)

    def _selected_row_index(self) -> int:
        return next((i for i, row in enumerate(self.shown_problems) if row.row_index == self.chosen_problem_number), 0)

    def _update_rows(self) -> None:
        self.shown_problems = self._matching_problems()
        self.problem_row_list.set_rows([_problem_row(row) for row in self.shown_problems], self._selected_row_index())
        self._on_selected(self.problem_row_list.selected_index)

    def _on_query_typed(self, text: str) -> None:
        self.query = text
        self._update_rows()

    def _on_sorted(self, column: int, is_descending: bool) -> None:
        self.sort_order = (column, is_descending)
        self._update_rows()

    def _on_selected(self, index: int) -> None:
        row = self.shown_problems[index] if 0 <= index < len(self.shown_problems) else None
        if row:
            self.chosen_problem_number = row.row_index
        self.open_button.set_enabled(row is not None and row.problem is None)

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        is_in_field = self.focused_control is self.search_field
        keys = (pygame.K_UP, pygame.K_DOWN, pygame.K_PAGEUP, pygame.K_PAGEDOWN)
        return (not is_in_field or event.key in keys) and self.problem_row_list.handle_key(event)

    def on_confirm(self) -> None:
        item = self.problem_row_list.selected_row
        if item is None or item.is_dim:
            return
        session = self.host.session
        agents = current_agent_configs(session.run) or list(opened_files.DEFAULT_AGENTS)
        try:
            scenario = opened_files.scenario_of_problem(self.problem_file, item.value, agents, session.run.world.budget)
            scenario = scenario.with_movement(session.run.world.grid.movement)
        except ConfigError as error:
            reasons = error.problems
            self.open_inner_dialog(lambda host: MessageBox(host, "The problem could not be opened", reasons))
            return
        self.host.close_dialog()
        self.host.open_scenario(scenario, keeps_view=True)  # keep layers, heat and tab, because the map is the same


def problem_matches_query(row: ScenRow, query: str) -> bool:
    """Return whether a problem of the list matches all words of a query.

    A number matches the problems whose number begins with it; "b12" matches the problems of bucket 12; any other word
    matches the problems whose remark, map name or text contains the word.
    """
    return all(_problem_matches_word(row, word) for word in query.lower().split())


def _problem_matches_word(row: ScenRow, word: str) -> bool:
    if word.isdigit():
        return str(row.row_index).startswith(word)
    if word[0] == "b" and word[1:].isdigit():
        return row.bucket == int(word[1:])
    return word in f"{row.problem or ''} {row.map_name} {row.text or ''}".lower()


def _problem_row(row: ScenRow) -> ListRow:
    if not row.is_readable:
        return ListRow((str(row.row_index), "", "", "", "", row.problem or ""), row, is_dim=True)
    cells = (
        str(row.row_index),
        str(row.bucket),
        _coordinates_text(row.start),
        _coordinates_text(row.goal),
        f"{row.optimal:.4f}",
    )
    return ListRow((*cells, row.problem or ""), row, is_dim=row.problem is not None)


def _coordinates_text(cell: tuple[int, int]) -> str:
    """Return the coordinates of a cell as text, such as "12, 7"."""
    return f"{cell[0]}, {cell[1]}"
