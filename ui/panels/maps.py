"""Drawing of all panels of a scene (frame, map and numbers of each) and of the bars around them."""

from collections.abc import Callable
from functools import partial

from ui.draw.picture import ToolPreview
from ui.model.run import Panel
from ui.panels import agent_panel, badges, bridges, overlay, sidebar, top_bar, transport
from ui.panels.desk import ViewContext

NUMBERS = "numbers"  # group of regions (see Canvas.part) that show the tick or numbers of it
Indicator = Callable[[int, int], int]
"""Draw the recording indicator, right-aligned at x and centred at y; return its left edge."""


def _no_tool_preview(panel: Panel) -> ToolPreview:
    return ToolPreview()


def draw_panels(desk: ViewContext, hand: Callable[[Panel], ToolPreview] = _no_tool_preview) -> None:
    """Draw all panels of the scene.

    Args:
        desk: View context.
        hand: Callback that returns the tool preview of a panel: what the mouse is about to do there.
    """
    scene, player = desk.scene, desk.player
    scene.hides_heat = player.is_slow_motion
    scene.refresh()
    compared = {panel.key: letter for letter, panel in zip("AB", scene.compared_panels(), strict=False)}
    for panel, boxes in scene.panels():
        around = partial(agent_panel.draw_around, desk, boxes, panel, desk.session.panel_of(panel.key))
        is_whole = desk.canvas.part(f"panel:{panel.key}", boxes.whole, around, NUMBERS)
        scene.draw_map(
            desk.canvas.surface,
            panel,
            boxes,
            glide=player.glide,
            hover=desk.inspected_cell(),
            hand=hand(panel),
            reveal=player.revealed,
        )
        if panel.key in compared:
            badges.draw_map_badge(desk.canvas, boxes.map, compared[panel.key], panel.branch)
        bridges.draw(desk, boxes, panel)
        # If only the map was redrawn, clip to it: outside of it, the border from the last redraw is still there.
        with desk.canvas.clipped(boxes.whole if is_whole else boxes.map):
            agent_panel.draw_over(desk, boxes, panel)
        desk.canvas.renewed.append(boxes.map)
    if not scene.shown_panels:
        box = overlay.panel_area(scene.layout)
        desk.canvas.part("no agents", box, partial(overlay.draw_no_agents, desk, box))


def draw_bars(desk: ViewContext, indicator: Indicator | None = None) -> None:
    """Draw the bars around the panels: top bar, transport, sidebar."""
    plan, part = desk.scene.layout, desk.canvas.part
    part("top bar", plan.top_bar, partial(top_bar.draw, desk, plan.top_bar, indicator))
    part("transport", plan.transport, partial(transport.draw, desk, plan.transport), NUMBERS)
    if plan.sidebar:
        part("sidebar", plan.sidebar, partial(sidebar.draw, desk, plan.sidebar))
    if plan.sidebar_handle:
        part("sidebar handle", plan.sidebar_handle, partial(sidebar.draw_handle, desk, plan.sidebar_handle))
