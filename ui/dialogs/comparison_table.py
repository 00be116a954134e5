"""Comparison: a sortable table with the numbers of all agents of the run, and its export as CSV."""

import math
from pathlib import Path

import pygame

from files.csv_text import CsvCell
from sim.world_view import WalkerView
from ui.dialogs.dialog_base import FOOTER_HEIGHT, HEADING_HEIGHT, Dialog, DialogHost
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.model import csv_export, panel_texts
from ui.model.comparison_columns import COLUMNS, params_text
from ui.model.run import Panel
from ui.model.start_over import user_commands
from ui.widgets.row_list import LIST_HEADER_HEIGHT, TALL_ROW_HEIGHT, ListColumn, ListRow, RowList

_HEIGHT_WITHOUT_ROWS = HEADING_HEIGHT + FOOTER_HEIGHT + LIST_HEADER_HEIGHT + 26
_REFRESH_INTERVAL_S = 0.25  # seconds between two updates of the table

SHOWN_COLUMNS = tuple(column for column in COLUMNS if column.is_shown)


class ComparisonTable(Dialog):
    title = "Comparison"
    command_id = "compare_table"

    def __init__(self, host: DialogHost) -> None:
        self.sort_order = (-1, False)  # (column index, whether descending); column -1 for the order of the panels
        self.selected_index = 0  # index of the selected row
        self._refresh_timer_s = _REFRESH_INTERVAL_S  # seconds until the next update of the table
        # Cache key of the rows: generation, tick and number of manual edits of the run.
        self._rows_cache_key: object = None
        rows = min(8, max(3, len(host.session.run.panels)))
        self.size = (1330, _HEIGHT_WITHOUT_ROWS + rows * TALL_ROW_HEIGHT)
        super().__init__(host)

    def build_controls(self) -> None:
        columns = [
            ListColumn(c.title, c.width, "left" if c.is_text else "right", "sans" if c.is_text else "mono")
            for c in SHOWN_COLUMNS
        ]
        self.agent_list = RowList(
            self,
            self.content_rect,
            columns,
            self._table_rows(),
            index=self.selected_index,
            chosen=self.on_confirm,
            selected=self._on_selected,
            sort_by=self.sort_order,
            sorted_by=self._on_sorted,
            empty="No agent on this map",
        )
        self.add(self.agent_list)
        self.add_footer_buttons(
            ("Export every tick ...", self._export_tick_table, ""),
            ("Export CSV ...", self._export_comparison_table, ""),
            ("Close", self.cancel, "main"),
        )
        self._update_title()

    def _update_title(self) -> None:
        session = self.host.session
        optimal = session.run.world.optimal_cost
        text = f"{session.run.scenario.title}, tick {session.tick:,}"
        if math.isfinite(optimal):
            text += f", optimal cost {optimal:,.2f}"
        if session.run.scenario.listed_optimal is not None:
            text += f" (listed: {session.run.scenario.listed_optimal:,.2f})"
        self.set_title(self.title, f"{text}.  Left and Right sort by another column")

    def _table_rows(self) -> list[ListRow]:
        session = self.host.session
        panels = list(session.run.panels)
        if self.sort_order[0] >= 0:
            column, is_descending = SHOWN_COLUMNS[self.sort_order[0]], self.sort_order[1]
            keyed = [(_cell_sort_key(column.value_of_panel(session.run, panel)), panel) for panel in panels]
            # Put agents without a value last, both in ascending and in descending order.
            keyed.sort(key=lambda pair: pair[0][1], reverse=is_descending)
            keyed.sort(key=lambda pair: pair[0][0])
            panels = [panel for _, panel in keyed]
        self._rows_cache_key = (
            session.picture_generation,
            session.tick,
            len(user_commands(session.run.focused_branch_timeline)),
        )
        return [
            ListRow(
                tuple(
                    _cell_value_text(column.value_of_panel(session.run, panel), column.decimal_places)
                    for column in SHOWN_COLUMNS
                ),
                panel.key,
                detail_text=_agent_detail_text(panel, session.panel_index(panel.key)),
                colour_names=_warning_colours(panel.walker_view),
            )
            for panel in panels
        ]

    def _on_sorted(self, column: int, is_descending: bool) -> None:
        self.sort_order = (column, is_descending)
        self.agent_list.set_rows(self._table_rows(), 0)

    def _on_selected(self, index: int) -> None:
        self.selected_index = index

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        """Update the table while the run continues, at most once every _REFRESH_INTERVAL_S seconds."""
        super().update_dialog(seconds)
        self._refresh_timer_s -= seconds
        session = self.host.session
        if self._refresh_timer_s > 0.0 or self._rows_cache_key == (
            session.picture_generation,
            session.tick,
            len(user_commands(session.run.focused_branch_timeline)),
        ):
            return
        self._refresh_timer_s = _REFRESH_INTERVAL_S
        chosen = self.agent_list.selected_row.value if self.agent_list.selected_row else None
        items = self._table_rows()
        index = next((i for i, item in enumerate(items) if item.value == chosen), 0)
        self.agent_list.set_rows(items, index, notifies=False)
        self._update_title()

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return self.agent_list.handle_key(event)

    def on_confirm(self) -> None:
        """Focus the agent of the selected row, and close the dialog."""
        if self.agent_list.selected_row is not None:
            self.host.session.focus_panel(self.agent_list.selected_row.value)
        self.host.close_dialog()

    def _export_comparison_table(self) -> None:
        self._ask_for_export_file("", csv_export.export_agents_csv)

    def _export_tick_table(self) -> None:
        self._ask_for_export_file(" every tick", csv_export.export_ticks_csv)

    def _ask_for_export_file(self, suffix: str, write) -> None:  # type: ignore[no-untyped-def]
        host = self.host

        def save(path: Path) -> None:
            host.show_message(f"Saved {write(host.session, path).name}")

        name = f"{host.session.run.scenario.title}{suffix}"
        self.open_inner_dialog(lambda inner: SaveFileDialog(inner, "Export as CSV", csv_export.CSV_SUFFIX, name, save))


def _agent_detail_text(panel: Panel, index: int) -> str:
    spec = panel.walker_view.spec
    text = f"panel {index + 1}: {spec.name}   {params_text(spec, panel.walker_view.params, '  ')}"
    if panel.crowd is None:
        return text
    return f"{text}   {panel_texts.crowd_costs_text(panel.crowd, panel.walker_view.metrics.suboptimality)}"


def _warning_colours(view: WalkerView) -> dict[int, str]:
    """Return column index -> "warning" (a text colour) for bad values, such as expansions above the budget."""
    return {index: "warning" for index, column in enumerate(SHOWN_COLUMNS) if column.is_warning(view)}


def _cell_sort_key(value: CsvCell) -> tuple[bool, str | float]:
    if value is None:
        return True, 0.0
    return False, value.lower() if isinstance(value, str) else float(value)


def _cell_value_text(value: CsvCell, digits: int) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else value
