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
from ui.model import branch_actions
from ui.widgets.controls import Button, TextLabel
from ui.widgets.row_list import ListColumn, ListRow, RowList

BLOCK_TICK_COUNT = 8  # number of ticks of the run at which the search tries to block each switch or cell
MAX_LISTED_RESULTS = 500  # maximum number of listed results
_WORK_BETWEEN_CHECKS_US = 20_000.0  # work between two checks for cancellation, in estimated microseconds of simulation
_REFRESH_INTERVAL_S = 0.25  # seconds between two updates of the results

SWITCH_BLOCKS, CELL_BLOCKS = "switches", "cells"


class WorstBlockDialog(Dialog):
    title = "Find the worst block"
    size = (720, 560)
    command_id = "worst_block"

    def __init__(self, host: DialogHost) -> None:
        self.searched_agent = host.session.focused_key.agent
        walker = host.session.focused_walker
        self.hint = f"the block that costs {walker.label} most" if walker else "no agent is focused"
        self.block_kind = SWITCH_BLOCKS if host.session.run.world.switches else CELL_BLOCKS
        self.search: Search | None = None
        self._cancel_event = threading.Event()  # set by the dialog to stop the worker thread
        self._search_thread: threading.Thread | None = None
        self._refresh_timer_s = 0.0  # seconds until the next update of the results
        self._shown_tried_count = -1  # number of blocks that had been tried at the last update of the results
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.content_rect
        self.add(TextLabel(self, cut_strip_from_top(area, self.to_px(26)), self._explanation_text(), role="dim"))
        self.progress_label = TextLabel(self, cut_strip_from_top(area, self.to_px(26)), "", role="text")
        self.add(self.progress_label)
        columns = [
            ListColumn("Block"),
            ListColumn("At tick", 90, "right", "mono"),
            ListColumn("Extra cost", 120, "right", "mono"),
        ]
        self.result_list = RowList(
            self, area, columns, self._result_rows(), chosen=self.on_confirm, empty="No results yet"
        )
        self.add(self.result_list)
        other = "cells on the path" if self.block_kind == SWITCH_BLOCKS else "switches"
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
        tried_blocks = "every switch" if self.block_kind == SWITCH_BLOCKS else "every cell of the agent's path"
        return (
            f"Blocks {tried_blocks} at {BLOCK_TICK_COUNT} ticks of the recorded run, and simulates each case to its "
            "end."
        )

    # --- the search -------------------------------------------------------------------------------

    @property
    def _is_running(self) -> bool:
        return self._search_thread is not None and self._search_thread.is_alive()

    @property
    def is_unchanging(self) -> bool:
        return super().is_unchanging and not self._is_running

    def _search_tasks(self) -> list[BlockTask]:
        """Return the combinations of a block (switch or cell) and a tick that the search tries."""
        timeline = self.host.session.run.focused_branch_timeline
        ticks = evenly_spaced_ticks(0, max(1, timeline.run_history.recorded_end - 1), BLOCK_TICK_COUNT)
        if self.block_kind == SWITCH_BLOCKS:
            return switch_block_tasks(timeline, ticks)
        return path_block_tasks(timeline, [self.searched_agent], ticks)

    def _start_or_stop_search(self) -> None:
        if self._is_running:
            self._cancel_event.set()
        elif self.host.session.focused_walker is not None:
            self._cancel_event.clear()
            self.search = Search(
                self.host.session.run.focused_branch_timeline, self.searched_agent, self._search_tasks()
            )
            self._search_thread = threading.Thread(target=self._run_search, args=(self.search,), daemon=True)
            self._search_thread.start()
        self.rebuild_widgets()

    def _run_search(self, search: Search) -> None:
        """Run the search until it is done or cancelled; called in the worker thread."""
        while not self._cancel_event.is_set() and not search.simulate_slice(_WORK_BETWEEN_CHECKS_US):
            pass

    def _change_block_kind(self) -> None:
        self._cancel_event.set()
        self.block_kind = CELL_BLOCKS if self.block_kind == SWITCH_BLOCKS else SWITCH_BLOCKS
        self.search = None
        self.rebuild_widgets()

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        super().update_dialog(seconds)
        self._refresh_timer_s -= seconds
        done = self.search.done if self.search else 0
        if self._refresh_timer_s > 0.0 or (done == self._shown_tried_count and self._is_running):
            return
        self._refresh_timer_s = _REFRESH_INTERVAL_S
        if done != self._shown_tried_count:
            self._shown_tried_count = done
            self.result_list.set_rows(self._result_rows(), max(0, self.result_list.selected_index), notifies=False)
            self._update_progress_text()
        if self.search and not self._is_running and self._search_thread is not None:
            self._search_thread = None
            self.rebuild_widgets()

    def _update_progress_text(self) -> None:
        search = self.search
        if search is None:
            self.progress_label.set_text("Press Search to start.", "dim")
            return
        state = "Trying" if self._is_running else "Stopped" if search.done < search.task_count else "Done"
        base = (
            f"; cost without a block: {search.outcome_without_block.cost:,.1f}" if search.outcome_without_block else ""
        )
        self.progress_label.set_text(f"{state}: {search.done:,} of {search.task_count:,}{base}", "text")

    def _result_rows(self) -> list[ListRow]:
        results = self.search.ranked_results()[:MAX_LISTED_RESULTS] if self.search else []
        return [
            ListRow(_result_row_texts(result), result, colour_names={2: "warning"} if result.never_arrives else {})
            for result in results
        ]

    # --- ending -----------------------------------------------------------------------------------

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return self.result_list.handle_key(event)

    def on_confirm(self) -> None:
        """Open the selected result as a branch of the run; without results, start or stop the search."""
        item = self.result_list.selected_row
        if item is None:
            self._start_or_stop_search()
            return
        session, number, result = self.host.session, self.host.session.run.focused_branch_number, item.value
        self.host.close_dialog()
        session.seek_to_tick(result.tick)
        make: Callable[[], Branch] = partial(open_result_as_branch, session.run.branch_tree, number, result)
        branch = branch_actions.create_and_show_branch(
            session, f"what if: {result.block_candidate.name} blocked", make, self.searched_agent
        )
        self.host.show_message_until_edit(f'Opened "{branch.name}" next to the original run; {{key:play}} runs both')

    def close(self) -> None:
        self._cancel_event.set()
        super().close()


def _result_row_texts(result: BlockResult) -> tuple[str, ...]:
    extra = "never arrives" if result.never_arrives else f"{result.extra_cost:+,.1f}"
    return result.block_candidate.name, f"{result.tick:,}", extra
