"""Drawing of all panels of the window (frame, map and numbers of each) and of the bars around the panels."""

from collections.abc import Callable
from functools import partial

from ui.draw.map_painter import ToolPreview
from ui.model.run import Panel
from ui.panels import agent_panel, comparison_badges, overlay, sidebar, switch_names, top_bar, transport_bar
from ui.panels.view_context import ViewContext

# Group of cached regions that are redrawn in the same frame, so that they show the same tick.
NUMBERS_REDRAW_GROUP = "numbers"
DrawIndicatorCallback = Callable[[int, int], int]
"""Callback that draws the recording indicator, right-aligned at x and centred at y, and returns its left edge."""


def _no_tool_preview(panel: Panel) -> ToolPreview:
    return ToolPreview()


def draw_panels(desk: ViewContext, tool_preview_of: Callable[[Panel], ToolPreview] = _no_tool_preview) -> None:
    """Draw all panels of the window: header, map, texts on the map, and numbers.

    Args:
        desk: View context.
        tool_preview_of: Callback that returns the tool preview of a panel, which shows the effect of a click at the
            pointer.
    """
    scene, player = desk.map_view, desk.player
    scene.is_heat_hidden = player.is_slow_motion
    scene.update_cell_flags_and_heat()
    compared = {panel.key: letter for letter, panel in zip("AB", scene.compared_panels(), strict=False)}
    for panel, boxes in scene.panels_with_boxes():
        draw_header_and_numbers = partial(
            agent_panel.draw_panel_header_and_numbers, desk, boxes, panel, desk.session.panel_index(panel.key)
        )
        is_panel_drawn = desk.canvas.draw_cached_region(
            f"panel:{panel.key}", boxes.panel_box, draw_header_and_numbers, NUMBERS_REDRAW_GROUP
        )
        scene.draw_map(
            desk.canvas.surface,
            panel,
            boxes,
            glide=player.agent_interpolation,
            hover=desk.inspected_cell(),
            tool_preview=tool_preview_of(panel),
            reveal=player.visible_expansions,
        )
        if panel.key in compared:
            comparison_badges.draw_comparison_badge_on_map(
                desk.canvas, boxes.map_box, compared[panel.key], panel.branch_name
            )
        name_boxes = switch_names.draw_switch_names(desk, boxes, panel)
        # If only the map of the panel was redrawn in this frame, clip the following drawing to the map.
        # The border outside the map is still on screen from the last redraw of the panel.
        with desk.canvas.clip_drawing_to_box(boxes.panel_box if is_panel_drawn else boxes.map_box):
            agent_panel.draw_panel_overlays(desk, boxes, panel, name_boxes)
        desk.canvas.dirty_rects.append(boxes.map_box)
    if not scene.shown_panels:
        box = overlay.panels_area(scene.layout)
        desk.canvas.draw_cached_region("no agents", box, partial(overlay.draw_no_agents_hint, desk, box))


def draw_window_bars(desk: ViewContext, indicator: DrawIndicatorCallback | None = None) -> None:
    """Draw the bars around the panels: top bar, transport, sidebar."""
    plan, part = desk.map_view.layout, desk.canvas.draw_cached_region
    part("top bar", plan.top_bar, partial(top_bar.draw_top_bar, desk, plan.top_bar, indicator))
    part(
        "transport",
        plan.transport_bar,
        partial(transport_bar.draw_transport_bar, desk, plan.transport_bar),
        NUMBERS_REDRAW_GROUP,
    )
    if plan.sidebar_box:
        part("sidebar", plan.sidebar_box, partial(sidebar.draw_sidebar, desk, plan.sidebar_box))
    if plan.sidebar_handle:
        part("sidebar handle", plan.sidebar_handle, partial(sidebar.draw_sidebar_handle, desk, plan.sidebar_handle))
