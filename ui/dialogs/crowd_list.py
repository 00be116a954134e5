"""List of the agents of a crowd, with search by number or state, sorting, and selection of the agent to follow."""

import numpy as np
import numpy.typing as npt
import pygame

from sim.agent_api import Status
from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_left, cut_strip_from_top
from ui.draw.theme import mix_colours
from ui.model import panel_texts
from ui.model.crowds import Crowd
from ui.model.panel_keys import PanelKey
from ui.widgets.canvas import Canvas
from ui.widgets.controls import PaintedArea, TextLabel
from ui.widgets.row_list import ListColumn, ListRow, RowList
from ui.widgets.text_field import TextField

_REFRESH_INTERVAL_S = 0.5  # seconds between two updates of the list
_HISTOGRAM_HEIGHT = 110  # height of the histogram of costs, in design units
_HISTOGRAM_BAR_COUNT = 40  # number of bars of the histogram of costs
_SEARCH_HINT = "12: agent 12    or part of a state: no path, on its way"
_ROW_LIST_KEYS = (pygame.K_UP, pygame.K_DOWN, pygame.K_PAGEUP, pygame.K_PAGEDOWN)
_STATE_NAMES = {
    Status.ACTIVE: "on its way",
    Status.AT_GOAL: "at goal",
    Status.NO_PATH: "no path",
    Status.GAVE_UP: "stopped",
}

_CROWD_LIST_COLUMNS = (
    ListColumn("Agent"),
    ListColumn("State", 120),
    ListColumn("Cost / opt.", 100, "right", "mono"),
    ListColumn("Moves", 90, "right", "mono"),
    ListColumn("Back", 80, "right", "mono"),
    ListColumn("Expanded", 110, "right", "mono"),
    ListColumn("Restarts", 90, "right", "mono"),
)


class CrowdList(Dialog):
    size = (900, 680)
    command_id = "crowd"

    def __init__(self, host: DialogHost, key: PanelKey) -> None:
        self.panel_key = key
        self.query = ""
        self.sort_order = (2, True)
        self._refresh_timer_s = _REFRESH_INTERVAL_S
        self._shown_crowd_version = -1
        crowd = host.session.run.crowd_of_panel(key)
        self.title = crowd.name if crowd else "Crowd"
        self.selected_agent = crowd.followed_agent if crowd else None
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.content_rect
        self.histogram_area = PaintedArea(
            self, cut_strip_from_top(area, self.to_px(_HISTOGRAM_HEIGHT), self.to_px(10)), self._paint_histogram
        )
        head = cut_strip_from_top(area, self.to_px(34), self.to_px(8))
        label = TextLabel(
            self, cut_strip_from_left(head, self.to_px(36), self.to_px(8)), "Find", role="dim", middle=True
        )
        self.search_field = TextField(
            self, cut_strip_from_left(head, self.to_px(220), self.to_px(14)), self.query, self._on_query_typed
        )
        self.match_count_label = TextLabel(self, head, "", role="dim", middle=True)
        self.agent_list = RowList(
            self,
            area,
            _CROWD_LIST_COLUMNS,
            self._agent_rows(),
            index=self._selected_row_index(),
            chosen=self.on_confirm,
            selected=self._on_selected,
            sort_by=self.sort_order,
            sorted_by=self._on_sorted,
            empty="No agent matches",
        )
        self.controls = [self.search_field, self.agent_list, self.histogram_area, label, self.match_count_label]
        buttons = self.add_footer_buttons(
            ("Stop following", self._stop_following, ""),
            ("Close", self.cancel, ""),
            ("Follow agent", self.on_confirm, "main"),
        )
        self.follow_button = buttons[-1]
        self._update_texts()

    def _update_texts(self) -> None:
        crowd = self._current_crowd()
        if crowd is not None:
            fields = panel_texts.crowd_panel_numbers(crowd)[:4]
            self.set_title(self.title, ",  ".join(f"{field.name} {field.value_text}" for field in fields))
            self.match_count_label.set_text(
                _SEARCH_HINT if not self.query else f"{len(self._listed_agents):,} of {len(crowd.agent_ids):,}"
            )
        self.follow_button.set_enabled(self.agent_list.selected_row is not None)

    def _current_crowd(self) -> Crowd | None:
        return self.host.session.run.crowd_of_panel(self.panel_key)

    # --- rows ---------------------------------------------------------------------------------------

    def _agent_rows(self) -> list[ListRow]:
        crowd = self._current_crowd()
        if crowd is None:
            return []
        self._shown_crowd_version = crowd.change_counter
        values, labels = _sort_keys_by_column(crowd), self.host.session.run.labels_of_crowd(self.panel_key)
        order = np.argsort(values[self.sort_order[0]], kind="stable").tolist()
        if self.sort_order[1]:
            order.reverse()
        order = [
            index for index in order if agent_matches_query(labels[index], _agent_state_name(crowd, index), self.query)
        ]
        order.sort(key=lambda index: not contains_agent_number(labels[index], self.query))
        self._listed_agents = [crowd.agent_ids[index] for index in order]
        return [_agent_row(crowd, labels[index], values, index) for index in order]

    def _selected_row_index(self) -> int:
        """Return the index of the selected agent's row; 0 if the search has filtered the agent out."""
        return self._listed_agents.index(self.selected_agent) if self.selected_agent in self._listed_agents else 0

    def _on_selected(self, index: int) -> None:
        self.selected_agent = self._listed_agents[index]

    def _on_query_typed(self, text: str) -> None:
        self.query = text
        self.agent_list.set_rows(self._agent_rows(), 0)
        self._update_texts()

    def _on_sorted(self, column: int, is_descending: bool) -> None:
        self.sort_order = (column, is_descending)
        self.agent_list.set_rows(self._agent_rows(), 0)

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        """Update the list while the run continues, at most once every _REFRESH_INTERVAL_S seconds."""
        super().update_dialog(seconds)
        self._refresh_timer_s -= seconds
        crowd = self._current_crowd()
        if self._refresh_timer_s <= 0.0 and crowd is not None and crowd.change_counter != self._shown_crowd_version:
            self._refresh_timer_s = _REFRESH_INTERVAL_S
            items = self._agent_rows()
            self.agent_list.set_rows(items, self._selected_row_index(), notifies=False)
            self.histogram_area.repaint()
            self._update_texts()

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        """Pass a key to the list, unless the search field has the focus and uses the key itself."""
        is_for_rows = self.focused_control is not self.search_field or event.key in _ROW_LIST_KEYS
        return is_for_rows and self.agent_list.handle_key(event)

    def on_confirm(self) -> None:
        """Follow the agent of the selected row: show its search in the crowd's panel, and close the dialog."""
        if self.agent_list.selected_row is None:
            return
        self.host.session.run.follow_crowd_agent(self.panel_key, self.agent_list.selected_row.value)
        self.host.close_dialog()

    def _stop_following(self) -> None:
        self.host.session.run.follow_crowd_agent(self.panel_key, None)
        self.host.close_dialog()

    # --- the distribution ---------------------------------------------------------------------------

    def _paint_histogram(self, pen: Canvas) -> None:
        """Draw a histogram of the agents that have arrived, by the ratio of their cost to the optimal cost."""
        crowd, palette, px = self._current_crowd(), pen.palette, pen.to_px
        width, height = pen.surface.get_size()
        ratios = crowd.counts.cost_ratios if crowd else np.zeros(0)
        pen.draw_text((0, 0), "Cost / optimal of the agents that have arrived", size=13, colour=palette.dim)
        plot = (0, px(20), width, height - px(38))
        pen.fill_box(plot, mix_colours(palette.surface, palette.window, 0.7), 5)
        if not ratios.size:
            pen.draw_text(
                (width // 2, height // 2), "None yet", size=13, colour=palette.dim, align="centre", middle=True
            )
            return
        low, top = histogram_range(ratios)
        counts, _ = np.histogram(ratios, _HISTOGRAM_BAR_COUNT, (low, top))
        _draw_histogram_bars(pen, plot, counts)
        pen.draw_text((0, height - px(15)), panel_texts.ratio_text(low), size=12, face="mono", colour=palette.dim)
        pen.draw_text(
            (width, height - px(15)),
            panel_texts.ratio_text(top),
            size=12,
            face="mono",
            colour=palette.dim,
            align="right",
        )
        pen.draw_text((width, 0), f"max {counts.max():,}", size=12, face="mono", colour=palette.dim, align="right")


def histogram_range(ratios: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return (lower limit, upper limit) of the histogram: the range of the ratios, extended to contain 1 and 1.05.

    A ratio of cost to optimal cost can be below 1 if cells were freed while the agent walked.
    """
    return min(1.0, float(ratios.min())), max(1.05, float(ratios.max()))


def _draw_histogram_bars(pen: Canvas, plot: tuple[int, int, int, int], counts: npt.NDArray[np.int64]) -> None:
    x, y, width, height = plot
    max_count = max(1, int(counts.max()))
    for i, count in enumerate(counts.tolist()):
        left, right = x + i * width // counts.size, x + (i + 1) * width // counts.size
        bar_height = max(pen.to_px(2), round(count / max_count * (height - pen.to_px(6)))) if count else 0
        pen.fill_box((left + 1, y + height - bar_height, max(1, right - left - 2), bar_height), pen.palette.accent, 1)


def _sort_keys_by_column(crowd: Crowd) -> list[npt.NDArray[np.float64]]:
    """Return the sort keys of the agents: for each column of the list, an array with one number per agent."""
    numbers = crowd.counts
    optimal = np.where(numbers.optimal_costs > 0.0, numbers.optimal_costs, np.inf)
    ratio = np.where(np.isfinite(optimal), numbers.counts_by_agent["cost"] / optimal, 0.0)
    counted = [
        numbers.counts_by_agent[name].astype(float) for name in ("moves", "back_moves", "expansions", "restarts")
    ]
    return [np.arange(numbers.agent_count, dtype=float), numbers.agent_statuses.astype(float), ratio, *counted]


def agent_matches_query(label: str, state: str, query: str) -> bool:
    """Return whether an agent matches all words of a query.

    Args:
        label: Name of the agent, with its number.
        state: State of the agent, as shown in the list.
        query: Words separated by spaces. A word matches if a word of the label starts with it; a word that is not a
            number also matches if the state contains it.
    """
    return all(
        any(part.startswith(word) for part in label.lower().split()) or (not word.isdigit() and word in state)
        for word in query.lower().split()
    )


def contains_agent_number(label: str, query: str) -> bool:
    """Return whether a word of the query is exactly the number of an agent; such an agent is listed first."""
    return any(word.isdigit() and word in label.split() for word in query.split())


def _agent_state_name(crowd: Crowd, index: int) -> str:
    return _STATE_NAMES[Status(int(crowd.counts.agent_statuses[index]))]


def _agent_row(crowd: Crowd, label: str, values: list[npt.NDArray[np.float64]], index: int) -> ListRow:
    state = _agent_state_name(crowd, index)
    counted = tuple(f"{int(column[index]):,}" for column in values[3:])
    cells = (label, state, f"{values[2][index]:.3f}", *counted)
    roles = {1: "warning"} if crowd.counts.agent_statuses[index] in (Status.NO_PATH, Status.GAVE_UP) else {}
    return ListRow(cells, crowd.agent_ids[index], colour_names=roles)
