"""All panels of a scene: each its frame, its map, and the numbers around it; and the whole of a window."""

from collections.abc import Callable
from functools import partial

from ui.draw.picture import Hand
from ui.model.run import Panel
from ui.panels import agent_panel, badges, bridges, overlay, sidebar, top_bar, transport
from ui.panels.desk import Desk

NUMBERS = "numbers"  # group of what shows the tick and the numbers of that tick
Indicator = Callable[[int, int], int]
"""Draws what is being recorded, ending at an x, around a y; returns where it begins."""


def _no_hand(panel: Panel) -> Hand:
    return Hand()


def draw_panels(desk: Desk, hand: Callable[[Panel], Hand] = _no_hand) -> None:
    """`hand`: what the mouse is about to do in a panel."""
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
        with desk.canvas.clipped(boxes.whole if is_whole else boxes.map):  # elsewhere its edge still stands
            agent_panel.draw_over(desk, boxes, panel)
        desk.canvas.renewed.append(boxes.map)
    if not scene.shown_panels:
        box = overlay.panel_area(scene.layout)
        desk.canvas.part("no agents", box, partial(overlay.draw_no_agents, desk, box))


def draw_bars(desk: Desk, indicator: Indicator | None = None) -> None:
    """What stands around the panels of a window."""
    plan, part = desk.scene.layout, desk.canvas.part
    part("top bar", plan.top_bar, partial(top_bar.draw, desk, plan.top_bar, indicator))
    part("transport", plan.transport, partial(transport.draw, desk, plan.transport), NUMBERS)
    if plan.sidebar:
        part("sidebar", plan.sidebar, partial(sidebar.draw, desk, plan.sidebar))
    if plan.sidebar_handle:
        part("sidebar handle", plan.sidebar_handle, partial(sidebar.draw_handle, desk, plan.sidebar_handle))
