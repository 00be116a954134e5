"""Panel of an agent or a crowd: header, texts on its map, and the numbers around it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pygame

from sim.world_view import WalkerView
from ui.draw.theme import Colour, mix_colours
from ui.model import panel_texts
from ui.model.context_menu import AgentTarget
from ui.model.crowds import Crowd
from ui.model.layout import HUD_HEIGHT, HUD_ROW_HEIGHT, MIN_WIDTH_FOR_COLUMNS, MIN_WIDTH_FOR_ONE_ROW, Box, PanelBoxes
from ui.model.run import Panel
from ui.panels import highlights, minimap_drawer, panel_header
from ui.panels.command_button import focus_command_ids
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import Canvas, HitRegion

# Milliseconds per tick that a crowd's meter uses as limit if the scenario sets none; typical for pathfinding in games
TYPICAL_GAME_MS_PER_TICK = 3.0
MAP_MARKER_RADIUS = 12  # radius of the marks of starts, goals and agents on the map, in design units
# Minimum width of a panel that shows full names of its numbers, not short ones, in design units.
MIN_WIDTH_FOR_FULL_NAMES = 400


def draw_panel_header_and_numbers(desk: ViewContext, boxes: PanelBoxes, panel: Panel, index: int) -> None:
    """Draw the header and the numbers of a panel, but not the map between them, which MapView.draw_map draws."""
    _draw_panel_background(desk, boxes)
    focus = partial(desk.session.focus_panel, panel.key)
    desk.canvas.add_hit_region(
        HitRegion(
            f"panel:{panel.key}",
            boxes.header_box,
            focus,
            panel.walker_view.spec.summary,
            focus_command_ids(index),
            AgentTarget(panel.key),
        )
    )
    desk.canvas.add_hit_region(HitRegion(f"numbers:{panel.key}", boxes.hud_box, menu=AgentTarget(panel.key)))
    panel_header.draw_panel_header(desk, boxes.header_box, panel, index)
    _draw_panel_numbers(desk, boxes, panel)


def draw_panel_overlays(desk: ViewContext, boxes: PanelBoxes, panel: Panel, name_boxes: Sequence[Box]) -> None:
    """Draw everything of a panel that covers its map: name of the branch, warnings, and the border of the panel.

    Args:
        desk: View context.
        boxes: Rectangles of the panel.
        panel: Panel to draw.
        name_boxes: Rectangles of the names of switches, which nothing may hide.
    """
    canvas = desk.canvas
    is_focused = panel.key == desk.session.focused_key
    if panel.branch_name:
        _draw_branch_name(desk, boxes, panel, name_boxes)
    if panel.walker_view.violation is not None:
        _draw_violation_reason(canvas, boxes.map_box, panel)
    if panel.crowd is not None and panel.drawn_member is not None:
        _draw_followed_agent_name(canvas, boxes.map_box, panel.drawn_member)
    edge = canvas.palette.accent if is_focused and len(desk.map_view.shown_panels) > 1 else canvas.palette.edge
    canvas.draw_outline(boxes.panel_box, edge, 8, 1.5 if is_focused else 1)


def _draw_panel_background(desk: ViewContext, boxes: PanelBoxes) -> None:
    """Draw the backgrounds of a panel's header and numbers, with rounded corners."""
    extra = desk.canvas.to_px(10)
    x, y, width, height = boxes.header_box
    desk.canvas.fill_box((x, y, width, height + extra), desk.palette.surface, 8)
    x, y, width, height = boxes.hud_box
    if boxes.has_side_hud:
        desk.canvas.fill_box((x - extra, y - extra, width + extra, height + extra), desk.palette.surface, 8)
    else:
        desk.canvas.fill_box((x, y - extra, width, height + extra), desk.palette.surface, 8)


def _draw_branch_name(desk: ViewContext, boxes: PanelBoxes, panel: Panel, name_boxes: Sequence[Box]) -> None:
    """Draw the name of the branch in a corner of the map where it does not hide start, goal or agent."""
    canvas, px = desk.canvas, desk.canvas.to_px
    text_width = min(canvas.text_width(panel.branch_name, 12), boxes.map_box[2] - px(28))
    occupied = _rects_to_keep_visible(desk, boxes, panel) + [pygame.Rect(box) for box in name_boxes]
    box = _free_corner_of_map(desk, boxes, occupied, (text_width + px(14), px(20)))
    canvas.fill_box(box, mix_colours(canvas.palette.surface, canvas.palette.accent, 0.16), 10)
    canvas.draw_text(
        (box[0] + px(7), box[1] + px(10)),
        panel.branch_name,
        size=12,
        colour=canvas.palette.accent,
        width=text_width + 1,
        middle=True,
    )
    canvas.add_hit_region(HitRegion(f"branch_of:{panel.key}", box, None, f"Branch: {panel.branch_name}"))


def _free_corner_of_map(
    desk: ViewContext, boxes: PanelBoxes, occupied: list[pygame.Rect], size: tuple[int, int]
) -> Box:
    """Return the first free corner of the map: upper left, lower left, upper right or lower right.

    If no corner is free, return the upper left one.
    """
    gap, (x, y, map_width, map_height), (width, height) = desk.canvas.to_px(6), boxes.map_box, size
    right, bottom = x + map_width - width - gap, y + map_height - height - gap
    corners = [pygame.Rect(*at, width, height) for at in ((x + gap, y + gap), (x + gap, bottom), (right, y + gap))]
    corners.append(pygame.Rect(right, bottom, width, height))
    corner_rect = next((corner for corner in corners if corner.collidelist(occupied) < 0), corners[0])
    return corner_rect.x, corner_rect.y, width, height


def _rects_to_keep_visible(desk: ViewContext, boxes: PanelBoxes, panel: Panel) -> list[pygame.Rect]:
    """Return the rectangles that a text on the map must not hide.

    They are the marks of start, goal and agent, and the other texts drawn in corners.
    """
    px, (x, y, width, height) = desk.canvas.to_px, boxes.map_box
    # Add one cell to the radius, because the mark of an agent moves gradually from cell to cell between two ticks.
    radius = px(MAP_MARKER_RADIUS) + round(desk.map_view.camera_of_panel(panel.key, boxes).zoom)
    marks = [
        pygame.Rect(at[0] - radius, at[1] - radius, 2 * radius, 2 * radius)
        for cell in (panel.walker_view.start, panel.walker_view.goal, panel.walker_view.position)
        for at in (highlights.cell_centre_in_window(desk, panel, boxes, cell),)
    ]
    names: list[pygame.Rect] = []
    if panel.walker_view.violation is not None:
        names.append(pygame.Rect(x, y, width, height // 2))
    if panel.crowd is not None and panel.drawn_member is not None:
        names.append(pygame.Rect(x, y + height // 2, width, height))
    if panel.key in {compared.key for compared in desk.map_view.compared_panels()}:
        names.append(pygame.Rect(x + width // 2, y, width, height // 2))
    if minimap_drawer.needs_minimap(desk, boxes, desk.map_view.camera_of_panel(panel.key, boxes)):
        side = px(minimap_drawer.MAX_MINIMAP_SIDE + minimap_drawer.MINIMAP_EDGE_DISTANCE)
        names.append(pygame.Rect(x + width - side, y + height - side, side, side))
    return marks + names


def _draw_violation_reason(canvas: Canvas, box: Box, panel: Panel) -> None:
    """Draw the reason why the referee stopped the agent, or the error in the agent's file.

    The text is at the top of the map, because messages are at the bottom.
    """
    violation, px = panel.walker_view.violation, canvas.to_px
    assert violation is not None
    x, y = violation.cell
    text = f"Tick {violation.tick:,}, ({x}, {y}): {violation.description}"
    width = box[2] - px(12)
    lines = canvas.wrap_text(text, width - px(16), 13)[:4]
    height = len(lines) * px(18) + px(12)
    text_box = (box[0] + px(6), box[1] + px(6), width, height)
    canvas.fill_box(text_box, mix_colours(canvas.palette.surface, canvas.palette.warning, 0.16), 8)
    for number, line in enumerate(lines):
        middle = text_box[1] + px(6) + number * px(18) + px(9)
        canvas.draw_text((text_box[0] + px(8), middle), line, size=13, colour=canvas.palette.text, middle=True)
    canvas.add_hit_region(
        HitRegion(f"offence:{panel.key}", text_box, None, f"The agent {violation.state_word} and was stopped. {text}")
    )


def _draw_followed_agent_name(canvas: Canvas, box: Box, view: WalkerView) -> None:
    """Draw the name of the agent whose search a crowd's panel shows, in the lower left corner of the map."""
    px = canvas.to_px
    text = f"{view.label}: {view.state_word}, {panel_texts.ratio_text(view.metrics.suboptimality)} x optimal"
    if not panel_texts.has_arrived(view):
        text += panel_texts.SO_FAR
    text_width = min(canvas.text_width(text, 12), box[2] - px(28))
    name_box = (box[0] + px(6), box[1] + box[3] - px(26), text_width + px(14), px(20))
    canvas.fill_box(name_box, mix_colours(canvas.palette.surface, canvas.palette.accent, 0.16), 10)
    canvas.draw_text((name_box[0] + px(7), name_box[1] + px(10)), text, size=12, width=text_width + 1, middle=True)


# --- the numbers ----------------------------------------------------------------------------------


def _draw_panel_numbers(desk: ViewContext, boxes: PanelBoxes, panel: Panel) -> None:
    """Draw as many of the agent's numbers as fit, most important first, and the meter of its budget."""
    px, box = desk.canvas.to_px, boxes.hud_box
    if box[3] < px(30):
        return
    has_two_rows = box[3] >= px(HUD_HEIGHT + HUD_ROW_HEIGHT)
    if boxes.has_side_hud:
        _draw_number_list(desk, box, panel)
    elif box[2] >= px(MIN_WIDTH_FOR_COLUMNS if has_two_rows else MIN_WIDTH_FOR_ONE_ROW):
        _draw_number_columns(desk, box, panel)
    else:
        _draw_number_pairs(desk, box, panel)


def _draw_number_list(desk: ViewContext, box: Box, panel: Panel) -> None:
    """Draw the numbers to the right of the map, one name and number per line, and the meter below them."""
    canvas = desk.canvas
    px, y = canvas.to_px, box[1]
    left, right = box[0] + px(10), box[0] + box[2] - px(10)
    bottom = _draw_meter_at_bottom(desk, panel, (left, y, right - left, box[3] - px(8)))
    middle = y + px(16)
    for field in _numbers_of_panel(panel):
        if middle + px(10) > bottom:
            return
        number_box = (left, middle - px(10), right - left, px(20))
        canvas.add_hit_region(
            HitRegion(f"hud:{panel.key}:{field.name}", number_box, None, f"{field.name}: {field.tooltip}")
        )
        value_width = canvas.draw_text(
            (right, middle),
            field.value_text,
            size=13,
            face="mono",
            colour=_panel_number_colour(canvas, field),
            align="right",
            middle=True,
        )
        name_width = right - left - value_width - px(6)
        name = (
            field.displayed_measure_name
            if canvas.text_width(field.displayed_measure_name, 12) <= name_width
            else field.short_measure_name
        )
        canvas.draw_text((left, middle), name, size=12, colour=canvas.palette.dim, middle=True, width=name_width)
        middle += px(21)


def _draw_meter_at_bottom(desk: ViewContext, panel: Panel, box: Box) -> int:
    """Draw the meter at the bottom of a box, and return the top of the meter."""
    canvas, px = desk.canvas, desk.canvas.to_px
    x, y, width, height = box
    gauge = _meter_content(desk, panel)
    if gauge is None:
        return y + height
    top = y + height - px(26)
    canvas.draw_text((x, top), gauge.full_text, size=12, colour=canvas.palette.dim, width=width)
    canvas.draw_meter_bar((x, top + px(18), width, px(6)), gauge.share, _meter_colour(canvas, gauge))
    canvas.add_hit_region(HitRegion(f"meter:{panel.key}", (x, top, width, px(26)), None, gauge.tooltip))
    return top


def _draw_number_columns(desk: ViewContext, box: Box, panel: Panel) -> None:
    """Draw the numbers below the map in one or two rows, each number below its name, and the meter to their right."""
    canvas = desk.canvas
    x, y, width, height = box
    px = canvas.to_px
    is_tall = height >= px(50)
    value_below = px(17) if is_tall else px(14)
    top = y + (px(8) if is_tall else px(3))
    right = _draw_meter(desk, panel, x + width - px(10), top, top + value_below, width) - px(12)
    left = x + px(10)
    for field in _numbers_of_panel(panel):
        column = max(
            canvas.text_width(field.value_text, 14, "mono"), canvas.text_width(field.longest_measure_name, 12), px(46)
        )
        if left + column > right:
            left, right, top = x + px(10), x + width - px(10), top + px(HUD_ROW_HEIGHT)
            if top + px(36) > y + height or left + column > right:
                return
        canvas.add_hit_region(
            HitRegion(f"hud:{panel.key}:{field.name}", (left, top, column, px(36)), None, field.tooltip)
        )
        canvas.draw_text((left, top), field.displayed_measure_name, size=12, colour=canvas.palette.dim)
        canvas.draw_text(
            (left, top + value_below),
            field.value_text,
            size=14,
            face="mono",
            colour=_panel_number_colour(canvas, field),
        )
        left += column + px(14)


def _draw_number_pairs(desk: ViewContext, box: Box, panel: Panel) -> None:
    """Draw the numbers below the map, each to the right of its name, and the meter as a thin bar below all numbers."""
    canvas = desk.canvas
    x, y, width, height = box
    px = canvas.to_px
    first_middle, line_pitch = (px(14), px(18)) if height >= px(50) else (px(8), px(15))
    middles = range(y + first_middle, y + height - px(12), line_pitch)
    rights = [x + width - px(10)] * len(middles)
    rights[0] = _draw_thin_meter(desk, panel, box, middles[0]) - px(12)
    lefts = [x + px(10)] * len(middles)
    for field in _numbers_of_panel(panel):
        name = field.displayed_measure_name if width >= px(MIN_WIDTH_FOR_FULL_NAMES) else field.short_measure_name
        longest = field.longest_measure_name if width >= px(MIN_WIDTH_FOR_FULL_NAMES) else name
        begin = canvas.text_width(name, 12) + px(5)
        field_width = canvas.text_width(longest, 12) + px(5) + canvas.text_width(field.value_text, 12, "mono")
        line = next((i for i, right in enumerate(rights) if lefts[i] + field_width <= right), None)
        if line is None:
            continue
        left, middle = lefts[line], middles[line]
        number_box = (left, middle - px(7), field_width, px(14))
        canvas.add_hit_region(
            HitRegion(f"hud:{panel.key}:{field.name}", number_box, None, f"{field.name}: {field.tooltip}")
        )
        canvas.draw_text((left, middle), name, size=12, colour=canvas.palette.dim, middle=True)
        canvas.draw_text(
            (left + begin, middle + px(1)),
            field.value_text,
            size=12,
            face="mono",
            colour=_panel_number_colour(canvas, field),
            middle=True,
        )
        lefts[line] += field_width + px(12)


def _numbers_of_panel(panel: Panel) -> list[panel_texts.PanelNumber]:
    return (
        panel_texts.agent_panel_numbers(panel.walker_view)
        if panel.crowd is None
        else panel_texts.crowd_panel_numbers(panel.crowd)
    )


def _panel_number_colour(canvas: Canvas, field: panel_texts.PanelNumber) -> Colour:
    return canvas.palette.warning if field.is_warning else canvas.palette.text


# --- the meter ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _MeterContent:
    """Content of a meter, which is a bar with a text that compares a value with its limit."""

    full_text: str
    short_text: str  # shorter version of the text `full_text`, for narrow panels
    share: float  # value divided by its limit, which is the filled part of the bar; above 1 if the limit is exceeded
    is_warning: bool
    tooltip: str


def _meter_content(desk: ViewContext, panel: Panel) -> _MeterContent | None:
    """Return the content of a panel's meter, or None if there is nothing to measure.

    The meter of an agent compares the expansions of the last tick with the budget. The meter of a crowd compares the
    median milliseconds of the last ticks with the limit; it is None if the milliseconds were not measured.
    """
    if panel.crowd is not None:
        return _milliseconds_meter_content(panel, panel.crowd) if panel.crowd.recent_tick_ms else None
    view = panel.walker_view
    expanded, budget = last_tick_expansions_and_budget(desk, view)
    is_warning = expanded > budget or view.metrics.over_budget > 0
    short_text = f"{expanded:,} of {budget:,}"
    return _MeterContent(
        f"{short_text} this tick", short_text, expanded / budget, is_warning, _budget_meter_tooltip(view, budget)
    )


def _milliseconds_meter_content(panel: Panel, crowd: Crowd) -> _MeterContent:
    limit = panel.world.tick_time_limit_ms or TYPICAL_GAME_MS_PER_TICK
    tip = "Milliseconds per tick of all agents of this crowd together (median of the last ticks), compared with "
    tip += f"{limit:g} ms, "
    tip += (
        "the limit for all crowds" if panel.world.tick_time_limit_ms else "which games typically spend on pathfinding"
    )
    text = f"{crowd.median_tick_ms:.1f} / {limit:g} ms"
    return _MeterContent(text, text, crowd.median_tick_ms / limit, crowd.median_tick_ms > limit, tip)


def _meter_colour(canvas: Canvas, gauge: _MeterContent) -> Colour:
    return canvas.palette.warning if gauge.is_warning else canvas.palette.accent


def _draw_meter(desk: ViewContext, panel: Panel, right: int, label_y: int, value_y: int, panel_width: int) -> int:
    """Draw the meter to the right of the numbers, and return the left edge of the meter."""
    canvas, gauge = desk.canvas, _meter_content(desk, panel)
    if gauge is None:
        return right + canvas.to_px(12)
    width = max(canvas.text_width(gauge.full_text, 12, "mono"), min(canvas.to_px(110), panel_width // 5))
    left = right - width
    canvas.draw_text((left, label_y), gauge.full_text, size=12, face="mono", colour=canvas.palette.dim)
    bar = (left, value_y + canvas.to_px(6), width, canvas.to_px(7))
    canvas.draw_meter_bar(bar, gauge.share, _meter_colour(canvas, gauge))
    canvas.add_hit_region(
        HitRegion(f"meter:{panel.key}", (left, label_y, width, canvas.to_px(34)), None, gauge.tooltip)
    )
    return left


def _draw_thin_meter(desk: ViewContext, panel: Panel, box: Box, middle: int) -> int:
    """Draw the meter's bar at the bottom of the panel, and its text at the right end of the first line of numbers.

    Returns:
        Left edge of the text; if no text is drawn, the right edge of the line.
    """
    canvas, gauge = desk.canvas, _meter_content(desk, panel)
    px = canvas.to_px
    x, y, width, height = box
    right = x + width - px(10)
    if gauge is None:
        return right
    thick = px(4) if height >= px(50) else px(2)
    bar = (x + px(10), y + height - 2 * thick, width - px(20), thick)
    canvas.draw_meter_bar(bar, gauge.share, _meter_colour(canvas, gauge))
    canvas.add_hit_region(HitRegion(f"meter_bar:{panel.key}", bar, None, gauge.tooltip))
    if width < px(150):
        return right
    left = right - canvas.text_width(gauge.short_text, 12, "mono")
    canvas.draw_text((left, middle), gauge.short_text, size=12, face="mono", colour=canvas.palette.dim, middle=True)
    canvas.add_hit_region(
        HitRegion(f"meter:{panel.key}", (left, middle - px(7), right - left, px(14)), None, gauge.tooltip)
    )
    return left


def last_tick_expansions_and_budget(desk: ViewContext, view: WalkerView) -> tuple[int, int]:
    """Return the number of expansions in the last tick, and the budget of that tick.

    In slow motion, only the expansions that are already visible are counted.
    """
    if not view.log_rows.size:
        return 0, view.budget
    expanded = int(view.log_rows[-1].expanded)
    if desk.player.is_slow_motion and desk.player.slow_motion_expansions is not None:
        expanded = min(expanded, desk.player.slow_motion_expansions)
    return expanded, view.last_budget


def _budget_meter_tooltip(view: WalkerView, budget: int) -> str:
    tip = f"Cells expanded in the last tick, of a budget of {budget:,}"
    if budget != view.budget:
        tip += f"; the next tick has a budget of {view.budget:,}"
    if view.metrics.over_budget:
        tip += f"; exceeded in {view.metrics.over_budget:,} ticks: disqualified as a real-time agent"
    return tip
