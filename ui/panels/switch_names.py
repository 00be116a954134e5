"""Names of switches on the maps; a click on a name blocks or frees the switch.

A switch is a named set of cells, such as a bridge, that are blocked and freed together.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pygame

from ui.draw.theme import mix_colours
from ui.model import value_adjustments
from ui.model.context_menu import SwitchTarget
from ui.model.layout import Box, PanelBoxes
from ui.model.panel_keys import PanelKey
from ui.model.run import Panel
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

# Minimum side in design units of a map that shows the names of its switches, which would hide most of a smaller map
MIN_MAP_SIDE_FOR_NAMES = 240


def toggle_switch_and_notify(desk: ViewContext, name: str) -> None:
    """Block a free switch of the focused branch, or free a blocked one, and show a message."""
    # Ignore a click on a name of the last frame if another run, without this switch, was opened since.
    if name in desk.session.run.world.switch_states():
        desk.show_message_until_edit(value_adjustments.toggle_map_switch(desk.session, name))


def _toggle_switch_in_branch(desk: ViewContext, key: PanelKey, name: str) -> None:
    """Focus a panel, and block or free a switch in the branch that the panel shows."""
    desk.session.focus_panel(key)
    toggle_switch_and_notify(desk, name)


def draw_switch_names(desk: ViewContext, boxes: PanelBoxes, panel: Panel) -> list[Box]:
    """Draw the name of each switch on a panel's map, and a box around the switch that is hovered in the sidebar.

    Returns:
        Rectangles of the names.
    """
    states = panel.world.switch_states()
    if not states or desk.draws_into_picture:
        return []
    has_names = min(boxes.map_box[2:]) >= desk.canvas.to_px(MIN_MAP_SIDE_FOR_NAMES)
    used_boxes: list[Box] = []
    with desk.canvas.clip_drawing_to_box(boxes.map_box):
        for name, is_blocked in states.items():
            switch_box = _switch_box(desk, boxes, panel, name)
            if name == desk.ui_state.hovered_switch:
                gap = desk.canvas.to_px(4)
                around = (switch_box[0] - gap, switch_box[1] - gap, switch_box[2] + 2 * gap, switch_box[3] + 2 * gap)
                desk.canvas.draw_outline(around, desk.palette.accent, 4, 2)
            if has_names:
                box = _switch_name_box(desk, boxes.map_box, name, switch_box, used_boxes)
                used_boxes.append(box)
                _draw_switch_name(desk, panel, name, box, is_blocked)
    return used_boxes


def _switch_box(desk: ViewContext, boxes: PanelBoxes, panel: Panel, name: str) -> Box:
    """Return the bounding box of a switch's cells on a panel's map, in window pixels."""
    camera, cells = desk.map_view.camera_of_panel(panel.key, boxes), np.asarray(panel.world.switches[name])
    xs, ys = cells % panel.world.grid.width, cells // panel.world.grid.width
    left, top = camera.map_to_px(int(xs.min()), int(ys.min()))
    right, bottom = camera.map_to_px(int(xs.max()) + 1, int(ys.max()) + 1)
    return boxes.map_box[0] + round(left), boxes.map_box[1] + round(top), round(right - left), round(bottom - top)


def _switch_name_box(desk: ViewContext, area: Box, name: str, switch_box: Box, used_boxes: Sequence[Box]) -> Box:
    """Return the rectangle for a switch's name: next to the switch, inside the map, and if possible over no other name.

    Args:
        desk: View context.
        area: Rectangle of the map.
        name: Name of the switch.
        switch_box: Bounding box of the switch's cells.
        used_boxes: Rectangles of the names that are already drawn.
    """
    px = desk.canvas.to_px
    height, gap = px(17), px(6)
    width = min(desk.canvas.text_width(name, 11) + px(12), area[2] - 2 * gap)
    x, y, switch_width, switch_height = switch_box
    middle = y + switch_height // 2 - height // 2, x + switch_width // 2 - width // 2
    max_left = area[0] + area[2] - width - gap
    # Left edge in pixels of a name above or below the switch, clamped so that the name does not leave the map
    name_left = max(area[0] + gap, min(middle[1], max_left))
    sides = [
        pygame.Rect(left, top, width, height)
        for left, top in (
            (x + switch_width + gap, middle[0]),
            (x - width - gap, middle[0]),
            (name_left, y - height - gap),
            (name_left, y + switch_height + gap),
        )
    ]
    inside = [side for side in sides if pygame.Rect(area).contains(side)]
    others = [pygame.Rect(box).inflate(gap, gap) for box in used_boxes]
    free = [side for side in inside if side.collidelist(others) < 0]
    chosen = (free or inside or [sides[0].clamp(area)])[0]
    return chosen.x, chosen.y, chosen.width, chosen.height


def _draw_switch_name(desk: ViewContext, panel: Panel, name: str, box: Box, is_blocked: bool) -> None:
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    tip = f"{'Free' if is_blocked else 'Block'} {name}"
    region_id = f"bridge:{panel.key}:{name}"
    toggle = partial(_toggle_switch_in_branch, desk, panel.key, name)
    is_hovered = canvas.add_hit_region(HitRegion(region_id, box, toggle, tip, menu=SwitchTarget(name)))
    tone = palette.warning if is_blocked else palette.accent
    is_pointed = name == desk.ui_state.hovered_switch
    ground = mix_colours(palette.surface, tone, 0.4 if is_hovered or is_pointed else 0.12)
    canvas.fill_box(box, canvas.shade_if_pressed(ground, region_id, is_hovered), 8)
    canvas.draw_text((box[0] + px(6), box[1] + box[3] // 2), name, size=11, width=box[2] - px(11), middle=True)
