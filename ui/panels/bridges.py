"""The names of switches on the maps, such as bridges: a click on one blocks or frees it."""

from functools import partial

import numpy as np

from ui.draw.theme import mix
from ui.model import turning
from ui.model.keys import PanelKey
from ui.model.layout import Box, PanelBoxes
from ui.model.session import Panel
from ui.panels.desk import Desk
from ui.widgets.canvas import HotSpot

LEAST_MAP = 240  # a smaller map would be all names


def flip(desk: Desk, name: str) -> None:
    if name in desk.session.world.switch_states():  # what is drawn may be a frame old, and another run open
        desk.say(turning.flip_switch(desk.session, name))


def _flip_in(desk: Desk, key: PanelKey, name: str) -> None:
    """In the branch of that panel."""
    desk.session.focus(key)
    flip(desk, name)


def draw(desk: Desk, boxes: PanelBoxes, panel: Panel) -> None:
    """Beside each switch its name, for every panel; a box around the one whose row is under the pointer."""
    states = panel.world.switch_states()
    if not states or desk.is_picture:
        return
    camera, pointed = desk.scene.camera(panel.key, boxes), desk.state.pointed_switch
    has_names = min(boxes.map[2:]) >= desk.canvas.px(LEAST_MAP)
    with desk.canvas.clipped(boxes.map):
        for name, is_blocked in states.items():
            cells = np.asarray(panel.world.switches[name])
            xs, ys = cells % panel.world.grid.width, cells // panel.world.grid.width
            left, top = camera.to_px(int(xs.min()), int(ys.min()))
            right, bottom = camera.to_px(int(xs.max()) + 1, int(ys.max()) + 1)
            place = (boxes.map[0] + round(left), boxes.map[1] + round(top), round(right - left), round(bottom - top))
            if name == pointed:
                gap = desk.canvas.px(4)
                around = (place[0] - gap, place[1] - gap, place[2] + 2 * gap, place[3] + 2 * gap)
                desk.canvas.outline(around, desk.palette.accent, 4, 2)
            if has_names:
                _draw_name(desk, boxes.map, panel, name, place, is_blocked, name == pointed)


def _draw_name(desk: Desk, area: Box, panel: Panel, name: str, place: Box, is_blocked: bool, is_pointed: bool) -> None:
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.px
    width, height = canvas.text_width(name, 11) + px(12), px(17)
    left = place[0] + place[2] + px(6)
    if left + width > area[0] + area[2]:
        left = place[0] - width - px(6)
    box = (left, place[1] + place[3] // 2 - height // 2, width, height)
    tip = f"{'Free' if is_blocked else 'Block'} {name}"
    hot = canvas.spot(HotSpot(f"bridge:{panel.key}:{name}", box, partial(_flip_in, desk, panel.key, name), tip))
    ground = palette.warning if is_blocked else palette.accent
    canvas.fill(box, mix(palette.surface, ground, 0.4 if hot or is_pointed else 0.12), 8)
    canvas.text((left + px(6), box[1] + height // 2), name, size=11, middle=True)
