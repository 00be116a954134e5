"""Time line: the recorded ticks, marks of events, and a handle that can be dragged to any tick."""

from functools import partial

import numpy as np
import numpy.typing as npt
import pygame

from sim.time.agent_records import MarkKind
from sim.time.run_marks import marks_of_run
from ui.draw.theme import Colour, mix_colours
from ui.model import script_entries
from ui.model.context_menu import TimeLineTarget
from ui.model.layout import Box
from ui.model.panel_texts import RunNames
from ui.model.script_entries import ScriptEntry
from ui.model.session import Session
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

# Maximum number of edits with a handle to drag them; if there are more, only the latest ones have one.
MAX_DRAGGABLE_EDITS = 60
# Height of the legend, and minimum height of a time line with a legend, in design units.
MARK_LEGEND_HEIGHT, MIN_HEIGHT_WITH_LEGEND = 16, 46
# A drag over less than this fraction of the time line counts as a click, because hands shake.
MAX_CLICK_DRAG_SHARE = 0.004

EVENT_MARK_NAMES = {
    MarkKind.EDIT: "edit",
    MarkKind.RESTART: "restart",
    MarkKind.BACK_MOVE: "back-move",
    MarkKind.NO_PATH: "no path",
    MarkKind.ARRIVAL: "arrival",
}


def event_mark_colour(desk: ViewContext, kind: MarkKind) -> Colour:
    palette = desk.palette
    return {
        MarkKind.EDIT: palette.warning,
        MarkKind.RESTART: palette.arrived,
        MarkKind.BACK_MOVE: mix_colours(palette.warning, palette.surface, 0.35),
        MarkKind.NO_PATH: palette.text,
        MarkKind.ARRIVAL: palette.accent,
    }[kind]


def draw_time_line(desk: ViewContext, box: Box) -> None:
    """Draw the time line as a bar with marks of events, and below the bar the legend of the marks."""
    session = desk.session
    canvas, palette = desk.canvas, desk.palette
    px = canvas.to_px
    x, y, width, height = box
    end = last_tick_of_time_line(desk)
    bar = (x + px(8), y + px(14), width - px(16), px(12))
    desk.ui_state.time_line_rect = bar
    canvas.fill_box(bar, palette.raised, 4)
    tick_x = bar[0] + round(bar[2] * session.tick / end)
    canvas.fill_box(
        (bar[0], bar[1], max(px(4), tick_x - bar[0]), bar[3]), mix_colours(palette.raised, palette.accent, 0.45), 4
    )
    _draw_export_range(desk, bar, end)
    _draw_event_marks(desk, session, bar, end)
    _draw_current_tick_handle(desk, tick_x, bar)
    canvas.add_hit_region(
        HitRegion(
            "scrubber",
            (x, y, width, px(34)),
            None,
            f"Tick {session.tick:,} of {_recorded_ticks_text(desk, end)}: drag to go to any tick",
            ("step_back", "step"),
            TimeLineTarget(),
            on_drag=partial(_seek_by_drag, desk, bar, end),
            on_wheel=lambda step: desk.player.pause_and_seek(session.tick + step),
        )
    )
    _draw_edit_handles(desk, bar, end)
    if height >= px(MIN_HEIGHT_WITH_LEGEND):
        _draw_mark_legend(desk, x + px(8), y + min(px(36), height - px(MARK_LEGEND_HEIGHT)), width - px(16), end)


def last_tick_of_time_line(desk: ViewContext) -> int:
    """Return the last tick of the time line: the end of the run or the current tick, but at least 1."""
    return max(desk.session.run.last_reached_tick, desk.session.tick, 1)


def _recorded_ticks_text(desk: ViewContext, end: int) -> str:
    """Return a text that says how many ticks of the time line are recorded.

    While a run is recomputed after an edit of its past, not all ticks are recorded.
    """
    run = desk.session.run
    return (
        f"{run.recorded_end_tick:,} of {end:,} recorded"
        if run.recorded_end_tick < run.last_reached_tick
        else f"{end:,} recorded"
    )


def tick_at_window_x(desk: ViewContext, x: int) -> int:
    """Return the tick at a horizontal position in the window, by the position of the time line in the last frame."""
    left, _, width, _ = desk.ui_state.time_line_rect
    return round(last_tick_of_time_line(desk) * min(1.0, max(0.0, (x - left) / max(1, width))))


def _draw_edit_handles(desk: ViewContext, bar: Box, end: int) -> None:
    """Add a handle for each edit of the script; dragging it moves the edit to another tick and recomputes the run."""
    canvas, px, session = desk.canvas, desk.canvas.to_px, desk.session
    for entry in script_entries.script_entries(session.run)[-MAX_DRAGGABLE_EDITS:]:
        at = bar[0] + round(bar[2] * min(entry.tick, end) / end)
        box = (at - px(6), bar[1] - px(11), px(12), px(11))
        change = entry.representative_command.describe_change(RunNames(session.run.focused_branch_timeline))
        tip = f"{change}, tick {entry.tick:,}: drag to another tick"
        drop = partial(_drop_edit_handle, desk, entry)
        canvas.add_hit_region(
            HitRegion(
                f"mark:{entry.first_log_entry_id}",
                box,
                None,
                tip,
                on_drag=partial(_drag_edit_handle, desk, entry.first_log_entry_id),
                on_drop=drop,
                menu=TimeLineTarget(),
            )
        )
    if desk.ui_state.dragged_script_entry is not None:
        tick = desk.ui_state.dragged_script_entry[1]
        at, size, top = bar[0] + round(bar[2] * tick / end), px(7), bar[1] - px(3)
        ink = desk.palette.accent
        pygame.draw.polygon(canvas.surface, ink, [(at - size, top - size), (at + size, top - size), (at, top + px(2))])
        canvas.draw_text((at, top - size - px(16)), f"{tick:,}", size=12, face="mono", align="centre")


def _drag_edit_handle(desk: ViewContext, deed_id: int, position: tuple[int, int]) -> None:
    desk.ui_state.dragged_script_entry = (deed_id, tick_at_window_x(desk, position[0]))


def _drop_edit_handle(desk: ViewContext, entry: ScriptEntry) -> None:
    """Move a dragged edit to the tick where it was dropped; after a click without a drag, seek to the edit's tick."""
    dragged, desk.ui_state.dragged_script_entry = desk.ui_state.dragged_script_entry, None
    if dragged is None or abs(dragged[1] - entry.tick) <= last_tick_of_time_line(desk) * MAX_CLICK_DRAG_SHARE:
        desk.player.pause_and_seek(entry.tick)
    else:
        script_entries.move_script_entry(desk.session, entry, dragged[1] - entry.tick)


def _seek_by_drag(desk: ViewContext, bar: Box, end: int, position: tuple[int, int]) -> None:
    share = (position[0] - bar[0]) / max(1, bar[2])
    desk.player.pause_and_seek(round(end * min(1.0, max(0.0, share))))


def _draw_event_marks(desk: ViewContext, session: Session, bar: Box, end: int) -> None:
    """Draw the marks of events: at most one of each kind per pixel column, because a long run has too many events."""
    surface = desk.canvas.surface
    px = desk.canvas.to_px
    timeline = session.run.focused_branch_timeline
    marks = marks_of_run(timeline, 0, timeline.run_history.end)
    x, y, width, height = bar
    if width < 1:
        return  # the window is too narrow for a time line
    for kind in (MarkKind.BACK_MOVE, MarkKind.RESTART, MarkKind.ARRIVAL, MarkKind.NO_PATH, MarkKind.EDIT):
        ticks = marks["tick"][marks["kind"] == kind]
        is_marked = np.zeros(width + 1, np.bool_)
        is_marked[np.minimum(np.round(ticks / end * width).astype(np.int64), width)] = True
        ink = event_mark_colour(desk, kind)
        if kind in (MarkKind.RESTART, MarkKind.BACK_MOVE):
            inset, thick = 0 if kind is MarkKind.RESTART else height // 3, max(1, px(1.5))
            for first, last in _marked_column_ranges(is_marked):
                left = x + first - (thick - 1) // 2
                surface.fill(ink, (left, y + inset, last - first + thick, height - 2 * inset))
            continue
        for column in (x + np.flatnonzero(is_marked)).tolist():
            if kind is not MarkKind.ARRIVAL:  # draw a triangle above the bar
                size = px(5)
                top = y - px(3)
                pygame.draw.polygon(
                    surface, ink, [(column - size, top - size), (column + size, top - size), (column, top + px(2))]
                )
            else:
                pygame.draw.circle(surface, ink, (column, y + height // 2), px(4))


def _marked_column_ranges(is_marked: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return (first column, last column) of each sequence of adjacent marked pixel columns.

    Adjacent marks are drawn as one rectangle, which is fast even if a crowd makes back-moves in almost every tick.
    """
    edges = np.flatnonzero(np.diff(is_marked, prepend=False, append=False)).tolist()
    return [(first, end - 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]


def _draw_export_range(desk: ViewContext, bar: Box, end: int) -> None:
    """Draw the range of ticks that is marked for export: brackets at its ends, and a line below the bar."""
    canvas, px, state = desk.canvas, desk.canvas.to_px, desk.ui_state
    if state.mark_in is None and state.mark_out is None:
        return
    first, last = state.mark_in or 0, end if state.mark_out is None else state.mark_out
    left, right = (bar[0] + round(bar[2] * min(tick, end) / end) for tick in (min(first, last), max(first, last)))
    top, height, ink = bar[1] - px(3), bar[3] + px(8), desk.palette.arrived
    canvas.fill_box((left, bar[1] + bar[3] + px(2), max(px(2), right - left), px(3)), ink)
    for x, direction in ((left, 1), (right, -1)):
        canvas.fill_box((x - px(1), top, px(2), height), ink)
        canvas.fill_box((min(x, x + direction * px(5)), top, px(5), px(2)), ink)


def _draw_current_tick_handle(desk: ViewContext, tick_x: int, bar: Box) -> None:
    canvas = desk.canvas
    px = canvas.to_px
    ink = desk.palette.text
    pygame.draw.line(canvas.surface, ink, (tick_x, bar[1] - px(5)), (tick_x, bar[1] + bar[3] + px(5)), max(2, px(2)))
    pygame.draw.circle(canvas.surface, ink, (tick_x, bar[1] - px(5)), px(5))


def _draw_mark_legend(desk: ViewContext, x: int, y: int, width: int, end: int) -> None:
    canvas = desk.canvas
    px = canvas.to_px
    left = x
    for kind in MarkKind:
        entry_width = canvas.text_width(EVENT_MARK_NAMES[kind], 12) + px(30)
        if left + entry_width > x + width - px(90):
            break
        pygame.draw.circle(canvas.surface, event_mark_colour(desk, kind), (left + px(4), y + px(9)), px(4))
        canvas.draw_text((left + px(13), y), EVENT_MARK_NAMES[kind], size=12, colour=desk.palette.dim)
        left += entry_width
    canvas.draw_text(
        (x + width, y), _recorded_ticks_text(desk, end), size=12, face="mono", colour=desk.palette.dim, align="right"
    )
