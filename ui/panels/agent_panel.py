"""One panel: header with the agent and its parameters, the map, and the numbers below it."""

from functools import partial
from typing import TYPE_CHECKING

import pygame

from sim.agent_api import Status
from sim.params import Param, Value
from sim.world import WalkerView
from ui import wording
from ui.canvas import Canvas, HotSpot
from ui.layout import HUD_ROW, Box, PanelBoxes
from ui.session import Panel
from ui.theme import SERIES, Colour, mix

if TYPE_CHECKING:
    from ui.app import App


def draw(app: "App", boxes: PanelBoxes, panel: Panel, place: int) -> None:
    """The frame around the map. The map itself is drawn by MapRenderer."""
    canvas, view = app.canvas, panel.view
    is_focused = view.id == app.session.focused_id
    canvas.spot(HotSpot(f"panel:{view.id}", boxes.header, partial(app.session.focus, view.id), view.spec.summary))
    _draw_header(app, boxes.header, view, place)
    _draw_hud(app, boxes.hud, view)
    if panel.branch:
        _draw_branch(canvas, boxes.map, panel)
    edge = canvas.palette.accent if is_focused and len(app.shown_panels) > 1 else canvas.palette.edge
    canvas.outline(boxes.whole, edge, 8, 1.5 if is_focused else 1)


def draw_background(app: "App", boxes: PanelBoxes) -> None:
    """Header and foot with rounded corners; the map is painted over what lies between them."""
    extra = app.canvas.px(10)
    x, y, width, height = boxes.header
    app.canvas.fill((x, y, width, height + extra), app.palette.surface, 8)
    x, y, width, height = boxes.hud
    app.canvas.fill((x, y - extra, width, height + extra), app.palette.surface, 8)


def _draw_branch(canvas: Canvas, box: Box, panel: Panel) -> None:
    """The branch, in the upper left corner of the map."""
    px = canvas.px
    room = min(canvas.text_width(panel.branch, 12), box[2] - px(28))
    place = (box[0] + px(6), box[1] + px(6), room + px(14), px(20))
    canvas.fill(place, mix(canvas.palette.surface, canvas.palette.accent, 0.16), 10)
    canvas.text(
        (place[0] + px(7), place[1] + px(10)),
        panel.branch,
        size=12,
        colour=canvas.palette.accent,
        width=room + 1,
        middle=True,
    )
    canvas.spot(HotSpot(f"branch_of:{panel.key}", place, None, f"Branch: {panel.branch}"))


# --- header ---------------------------------------------------------------------------------------


def _draw_header(app: "App", box: Box, view: WalkerView, place: int) -> None:
    """From the left: colour, name, parameters; from the right: icons, state. What has no room is left out."""
    canvas = app.canvas
    x, y, width, height = box
    px, middle = canvas.px, y + height // 2
    left = x + px(10)
    canvas.fill((left, middle - px(8), px(8), px(16)), SERIES[place % len(SERIES)], 2)
    left += px(15)
    right = _draw_icons(app, x + width - px(8), middle, view, width)
    right = _state_chip(canvas, view, left + px(40), right - px(2), middle, width) - px(8)
    name_width = max(0, min(canvas.text_width(view.label, 15, "bold"), right - left))
    canvas.spot(
        HotSpot(
            f"name:{view.id}",
            (left, y, name_width, height),
            partial(app.edit_agent, view.id),
            f"{view.spec.name}: {view.spec.summary}",
            "E",
            wheel=partial(_next_kind, app, view),
        )
    )
    left += canvas.text((left, middle), view.label, size=15, face="bold", width=name_width, middle=True) + px(10)
    _draw_chips(app, view, left, right, middle)


def _draw_icons(app: "App", right: int, middle: int, view: WalkerView, width: int) -> int:
    px = app.canvas.px
    if app.is_picture:
        return right
    if width >= px(190):
        right = _icon(
            app,
            f"remove:{view.id}",
            right,
            middle,
            "close",
            partial(app.remove_agent, view.id),
            "Remove this agent",
            "Delete",
        )
    if width >= px(140):
        right = _icon(
            app,
            f"edit:{view.id}",
            right,
            middle,
            "dots",
            partial(app.edit_agent, view.id),
            "Agent and all its parameters",
            "E",
        )
    return right


def _next_kind(app: "App", view: WalkerView, step: int) -> None:
    app.cycle_kind(view.id, -step)


def _icon(
    app: "App", spot_id: str, right: int, middle: int, shape: str, action: "partial[None]", tip: str, key: str
) -> int:
    """A small icon button that ends at `right`; returns where the next thing may end."""
    canvas = app.canvas
    side = canvas.px(20)
    box = (right - side, middle - side // 2, side, side)
    hot = canvas.spot(HotSpot(spot_id, box, action, tip, key))
    if hot:
        canvas.fill(box, canvas.palette.hover, 5)
    ink = canvas.palette.text if hot else canvas.palette.dim
    centre_x, centre_y = box[0] + side // 2, middle
    if shape == "dots":
        for offset in (-5, 0, 5):
            pygame.draw.circle(canvas.surface, ink, (centre_x + canvas.px(offset), centre_y), max(1, canvas.px(1.6)))
    else:
        arm = canvas.px(4)
        for sign in (-1, 1):
            pygame.draw.line(
                canvas.surface,
                ink,
                (centre_x - arm, centre_y - sign * arm),
                (centre_x + arm, centre_y + sign * arm),
                max(1, canvas.px(1.6)),
            )
    return box[0] - canvas.px(2)


def state_colour(canvas: Canvas, view: WalkerView) -> Colour:
    palette = canvas.palette
    if view.status is Status.AT_GOAL:
        return palette.arrived
    if view.status in (Status.NO_PATH, Status.GAVE_UP) or view.state_word in ("walking back", "to and fro"):
        return palette.warning
    return palette.accent


def _state_chip(canvas: Canvas, view: WalkerView, left: int, right: int, middle: int, header_width: int) -> int:
    """The state in words, in a rounded chip that ends at `right`; nothing when it would begin before `left`."""
    word = view.state_word
    room = min(canvas.text_width(word, 12), header_width // 3, right - left - canvas.px(16))
    if room < canvas.px(24):
        return right
    height = canvas.px(20)
    width = room + canvas.px(16)
    box = (right - width, middle - height // 2, width, height)
    colour = state_colour(canvas, view)
    canvas.fill(box, mix(canvas.palette.surface, colour, 0.16), 10)
    canvas.text(
        (box[0] + width // 2, middle), word, size=12, colour=colour, align="centre", width=room + 1, middle=True
    )
    canvas.spot(HotSpot(f"state:{view.id}", box, None, _state_tip(view)))
    return box[0]


def _state_tip(view: WalkerView) -> str:
    if view.status is Status.NO_PATH:
        return "No path exists on the map as it is (proved); the agent wakes up when a change may open one"
    over = " Over budget: disqualified as a real-time agent." if view.metrics.over_budget else ""
    return f"What the agent did in the last tick: {view.state_word}.{over}"


def _draw_chips(app: "App", view: WalkerView, left: int, right: int, middle: int) -> None:
    """Budget and parameters, as many as fit; the three dots hold the rest."""
    left = _chip(
        app,
        f"chip:{view.id}:budget",
        f"k {view.budget:,}",
        left,
        right,
        middle,
        True,
        partial(app.edit_agent, view.id),
        partial(app.step_budget, view.id),
        f"Budget: expansions a tick, {view.budget:,}. Wheel: change it for this agent",
        "K",
    )
    for param in view.spec.params:
        if left < 0:
            return
        value = view.params[param.name]
        is_on = value is not False
        left = _chip(
            app,
            f"chip:{view.id}:{param.name}",
            wording.param_chip(param, value),
            left,
            right,
            middle,
            is_on,
            partial(app.flip_param, view.id, param),
            partial(_step, app, view.id, param),
            _param_tip(param, value),
            "W" if param.name == "weight" else "",
        )


def _step(app: "App", agent_id: int, param: Param, step: int) -> None:
    app.step_param(agent_id, param, step)


def _param_tip(param: Param, value: Value) -> str:
    how = "Click: edit, wheel: change" if param.kind in (int, float) else "Click: change"
    shown = ("on" if value else "off") if param.kind is bool else f"{value}"
    return f"{param.name.replace('_', ' ')} = {shown}: {param.help}. {how}"


def _chip(
    app: "App",
    spot_id: str,
    label: str,
    left: int,
    right: int,
    middle: int,
    is_on: bool,
    action: "partial[None]",
    wheel: "partial[None]",
    tip: str,
    key: str,
) -> int:
    """One parameter; returns where the next may begin, or -1 when this one had no room."""
    canvas = app.canvas
    width = canvas.text_width(label, 12, "mono") + canvas.px(10)
    height = canvas.px(20)
    if left + width > right:
        return -1
    box = (left, middle - height // 2, width, height)
    hot = canvas.spot(HotSpot(spot_id, box, action, tip, key, wheel=wheel))
    canvas.fill(box, canvas.palette.hover if hot else canvas.palette.raised, 5)
    ink = canvas.palette.text if is_on else mix(canvas.palette.dim, canvas.palette.surface, 0.35)
    canvas.text((left + width // 2, middle), label, size=12, face="mono", colour=ink, align="centre", middle=True)
    return left + width + canvas.px(4)


# --- the numbers ----------------------------------------------------------------------------------


def _draw_hud(app: "App", box: Box, view: WalkerView) -> None:
    """The numbers, most important first, in one row or two, as many as fit; the budget's meter at the right."""
    canvas = app.canvas
    x, y, width, height = box
    px = canvas.px
    if height < px(30):
        return
    is_tall = height >= px(50)
    value_below = px(17) if is_tall else px(14)
    top = y + (px(8) if is_tall else px(3))
    right = _draw_meter(canvas, view, x + width - px(10), top, top + value_below, width) - px(12)
    left = x + px(10)
    for name, value, emphasis, tip in wording.hud_fields(view):
        column = max(canvas.text_width(value, 14, "mono"), canvas.text_width(name, 12), px(46))
        if left + column > right:
            left, right, top = x + px(10), x + width - px(10), top + px(HUD_ROW)
            if top + px(36) > y + height or left + column > right:
                return
        ink = canvas.palette.warning if emphasis == "warning" else canvas.palette.text
        canvas.spot(HotSpot(f"hud:{view.id}:{name}", (left, top, column, px(36)), None, tip))
        canvas.text((left, top), name, size=12, colour=canvas.palette.dim)
        canvas.text((left, top + value_below), value, size=14, face="mono", colour=ink)
        left += column + px(14)


def _draw_meter(canvas: Canvas, view: WalkerView, right: int, label_y: int, value_y: int, panel_width: int) -> int:
    """Expansions of the last tick against the budget. Returns its left end."""
    used = int(view.rows[-1].expanded) if view.rows.size else 0
    label = f"{used:,} / {view.budget:,}"
    if panel_width < canvas.px(150):
        return right
    width = max(canvas.text_width(label, 12, "mono"), min(canvas.px(110), panel_width // 5))
    left = right - width
    is_over = used > view.budget
    colour = canvas.palette.warning if is_over or view.metrics.over_budget else canvas.palette.accent
    canvas.text((left, label_y), label, size=12, face="mono", colour=canvas.palette.dim)
    canvas.meter((left, value_y + canvas.px(6), width, canvas.px(7)), used / max(1, view.budget), colour)
    tip = f"cells expanded in this tick, against the budget of {view.budget:,}"
    if view.metrics.over_budget:
        tip += f"; over it in {view.metrics.over_budget:,} ticks: disqualified as a real-time agent"
    canvas.spot(HotSpot(f"meter:{view.id}", (left, label_y, width, canvas.px(34)), None, tip))
    return left
