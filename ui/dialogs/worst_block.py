"""Search for the worst block: the switch or cell, and the tick, at which blocking costs the focused agent most.

The blocks are tried in a thread, on copies of the run that share no mutable state with the run in the window.
"""

import threading
from collections.abc import Callable
from functools import partial

import pygame

from sim.time.branches import Branch
from sim.time.worst_block import (
    BlockResult,
    BlockTask,
    evenly_spaced_ticks,
    open_result_as_branch,
    path_block_tasks,
    switch_block_tasks,
)
from sim.time.worst_block import WorstBlockSearch as Search
from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_top
from ui.model import branching
from ui.widgets.controls import Button, TextLabel
from ui.widgets.lists import ListColumn, ListRow, RowList

BLOCK_TICK_COUNT = 8  # number of ticks of the run at which the search tries to block each switch or cell
MAX_LISTED_RESULTS = 500  # maximum number of listed results
_WORK_BETWEEN_CHECKS_US = 20_000.0  # work between two checks for cancellation, in estimated microseconds of simulation
_REFRESH_S = 0.25  # seconds between two updates of the results

SWITCHES, CELLS = "switches", "cells"


class WorstBlockDialog(Dialog):
    title = "Find the worst block"
    size = (720, 560)
    command = "worst_block"

    def __init__(self, host: DialogHost) -> None:
        self.agent = host.session.focused_key.agent
        walker = host.session.focused_walker
        self.hint = f"the block that costs {walker.label} most" if walker else "no agent is focused"
        self.kind = SWITCHES if host.session.run.world.switches else CELLS
        self.search: Search | None = None
        self._cancelled = threading.Event()  # set by the dialog to stop the worker thread
        self._worker: threading.Thread | None = None
        self._refresh_timer_s = 0.0  # seconds until the next update of the results
        self._shown_count = -1  # number of blocks that had been tried at the last update of the results
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.area
        self.add(TextLabel(self, cut_strip_from_top(area, self.to_px(26)), self._explanation_text(), role="dim"))
        self.progress_label = TextLabel(self, cut_strip_from_top(area, self.to_px(26)), "", role="text")
        self.add(self.progress_label)
        columns = [
            ListColumn("Block"),
            ListColumn("At tick", 90, "right", "mono"),
            ListColumn("Extra cost", 120, "right", "mono"),
        ]
        self.rows = RowList(self, area, columns, self._result_rows(), chosen=self.on_confirm, empty="No results yet")
        self.add(self.rows)
        other = "cells on the path" if self.kind == SWITCHES else "switches"
        buttons: list[tuple[str, Callable[[], None], str]] = [("Close", self.cancel, "")]
        if self.host.session.run.world.switches:
            buttons.append((f"Try {other} instead", self._change_block_kind, ""))
        has_results = self.search is not None
        search = ("Search", self._start_or_stop_search, "" if has_results else "main")
        buttons.append(("Stop", self._start_or_stop_search, "danger") if self._is_running else search)
        buttons.append(("Open as branch", self.on_confirm, "main" if has_results else ""))
        footer_buttons: list[Button] = self.add_footer_buttons(*buttons)
        self._focused_index = self.controls.index(footer_buttons[-2])
        self._update_progress_text()

    def _explanation_text(self) -> str:
        tried_blocks = "every switch" if self.kind == SWITCHES else "every cell of the agent's path"
        return (
            f"Blocks {tried_blocks} at {BLOCK_TICK_COUNT} ticks of the recorded run, and simulates each case to its "
            "end."
        )

    # --- the search -------------------------------------------------------------------------------

    @property
    def _is_running(self) -> bool:
        return self._worker is not None and self._worker.is_alive()

    @property
    def is_unchanging(self) -> bool:
        return super().is_unchanging and not self._is_running

    def _search_tasks(self) -> list[BlockTask]:
        """Return the combinations of a block (switch or cell) and a tick that the search tries."""
        timeline = self.host.session.run.timeline
        ticks = evenly_spaced_ticks(0, max(1, timeline.recorded_end - 1), BLOCK_TICK_COUNT)
        if self.kind == SWITCHES:
            return switch_block_tasks(timeline, ticks)
        return path_block_tasks(timeline, [self.agent], ticks)

    def _start_or_stop_search(self) -> None:
        if self._is_running:
            self._cancelled.set()
        elif self.host.session.focused_walker is not None:
            self._cancelled.clear()
            self.search = Search(self.host.session.run.timeline, self.agent, self._search_tasks())
            self._worker = threading.Thread(target=self._run_search, args=(self.search,), daemon=True)
            self._worker.start()
        self.rebuild_widgets()

    def _run_search(self, search: Search) -> None:
        """Run the search until it is done or cancelled; called in the worker thread."""
        while not self._cancelled.is_set() and not search.simulate_slice(_WORK_BETWEEN_CHECKS_US):
            pass

    def _change_block_kind(self) -> None:
        self._cancelled.set()
        self.kind = CELLS if self.kind == SWITCHES else SWITCHES
        self.search = None
        self.rebuild_widgets()

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        super().update_dialog(seconds)
        self._refresh_timer_s -= seconds
        done = self.search.done if self.search else 0
        if self._refresh_timer_s > 0.0 or (done == self._shown_count and self._is_running):
            return
        self._refresh_timer_s = _REFRESH_S
        if done != self._shown_count:
            self._shown_count = done
            self.rows.set(self._result_rows(), max(0, self.rows.place), notifies=False)
            self._update_progress_text()
        if self.search and not self._is_running and self._worker is not None:
            self._worker = None
            self.rebuild_widgets()

    def _update_progress_text(self) -> None:
        search = self.search
        if search is None:
            self.progress_label.set("Press Search to start.", "dim")
            return
        state = "Trying" if self._is_running else "Stopped" if search.done < search.total else "Done"
        base = f"; cost without a block: {search.baseline.cost:,.1f}" if search.baseline else ""
        self.progress_label.set(f"{state}: {search.done:,} of {search.total:,}{base}", "text")

    def _result_rows(self) -> list[ListRow]:
        results = self.search.ranked_results()[:MAX_LISTED_RESULTS] if self.search else []
        return [
            ListRow(_result_row_texts(result), result, colour_names={2: "warning"} if result.never_arrives else {})
            for result in results
        ]

    # --- ending -----------------------------------------------------------------------------------

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)

    def on_confirm(self) -> None:
        """Open the selected result as a branch of the run; without results, start or stop the search."""
        item = self.rows.selected_row
        if item is None:
            self._start_or_stop_search()
            return
        session, number, result = self.host.session, self.host.session.run.front, item.value
        self.host.close_dialog()
        session.seek(result.tick)
        make: Callable[[], Branch] = partial(open_result_as_branch, session.run.tree, number, result)
        branch = branching.create_and_show_branch(session, f"what if: {result.block.name} blocked", make, self.agent)
        self.host.show_message_until_edit(f'Opened "{branch.name}" next to the original run; {{key:play}} runs both')

    def close(self) -> None:
        self._cancelled.set()
        super().close()


def _result_row_texts(result: BlockResult) -> tuple[str, ...]:
    extra = "never arrives" if result.never_arrives else f"{result.extra_cost:+,.1f}"
    return result.block.name, f"{result.tick:,}", extra
