"""The bar at the right: tabs of what to show, what to change, what is under the pointer, how they compare, and time."""

from functools import partial

from ui.model.layout import Box
from ui.panels import tab_compare, tab_edit, tab_inspect, tab_layers, tab_time
from ui.panels.desk import Desk
from ui.widgets.canvas import HotSpot
from ui.widgets.scrolling import LEAST_THUMB, ScrollBar

TABS = (
    ("layers", "Layers", tab_layers.draw),
    ("edit", "Edit", tab_edit.draw),
    ("inspect", "Inspect", tab_inspect.draw),
    ("compare", "Compare", tab_compare.draw),
    ("time", "Time", tab_time.draw),
)


def draw(desk: Desk, box: Box) -> None:
    canvas, palette = desk.canvas, desk.palette
    canvas.fill(box, palette.surface, 8)
    canvas.outline(box, palette.edge, 8)
    x, y, width, height = box
    px = canvas.px
    tab_height = px(36)
    names = [name for _, name, _ in TABS]
    gap = (width - px(12) - sum(canvas.text_width(name, 13, "bold") for name in names)) / len(TABS)
    left: float = x + px(6.0)
    for key, name, _ in TABS:
        tab = (round(left), y, round(canvas.text_width(name, 13, "bold") + gap) - 1, tab_height)
        _draw_tab(desk, tab, key, name)
        left += canvas.text_width(name, 13, "bold") + gap
    canvas.hline(x + px(1), y + tab_height, width - px(2))
    _draw_body(desk, (x + px(1), y + tab_height + px(1), width - px(2), height - tab_height - px(3)))


def _draw_tab(desk: Desk, box: Box, key: str, name: str) -> None:
    canvas, palette = desk.canvas, desk.palette
    x, y, width, height = box
    is_chosen = desk.settings.sidebar_tab == key
    command = f"tab_{key}"
    hot = canvas.spot(HotSpot(command, box, partial(desk.run, command), desk.tip_of(command), desk.key_of(command)))
    ink = palette.text if is_chosen or hot else palette.dim
    face = "bold" if is_chosen else "sans"
    canvas.text((x + width // 2, y + height // 2), name, size=13, face=face, colour=ink, align="centre", middle=True)
    if is_chosen:
        bar = canvas.px(2)
        canvas.fill((x + canvas.px(5), y + height - bar, width - canvas.px(10), bar), palette.accent)


def _draw_body(desk: Desk, box: Box) -> None:
    """The chosen tab, scrolled by the wheel when it is higher than its room."""
    canvas, px = desk.canvas, desk.canvas.px
    x, y, width, height = box
    key = desk.settings.sidebar_tab
    draw_tab = next(function for name, _, function in TABS if name == key)
    canvas.spot(HotSpot("sidebar", box, None, wheel=partial(scroll, desk, key)))
    offset = desk.state.sidebar_scroll.get(key, 0)
    inner = (x + px(11), y + px(8) - offset, width - px(22), height - px(16))
    with canvas.clipped(box):
        bottom = draw_tab(desk, inner)
    hidden = max(0, bottom + offset + px(8) - (y + height))
    desk.state.sidebar_hidden = hidden
    desk.state.sidebar_scroll[key] = min(offset, hidden)
    if hidden:
        _draw_scroll_bar(desk, key, box, offset, hidden)


def scroll(desk: Desk, key: str, steps: int) -> None:
    """Move the tab by wheel steps; up is positive."""
    moved = desk.state.sidebar_scroll.get(key, 0) - steps * desk.canvas.px(48)
    desk.state.sidebar_scroll[key] = max(0, min(desk.state.sidebar_hidden, moved))


def _draw_scroll_bar(desk: Desk, key: str, box: Box, offset: int, hidden: int) -> None:
    """The bar of dialogs' lists, at the edge of the sidebar; it can be dragged."""
    canvas = desk.canvas
    x, y, width, height = box
    bar = ScrollBar(height, height + hidden, offset)
    right, strip = x + width - canvas.px(2), canvas.px(ScrollBar.WIDTH)

    def drag(position: tuple[int, int]) -> None:
        bar.centre_on(position[1] - y, canvas.px(LEAST_THUMB))
        desk.state.sidebar_scroll[key] = round(bar.position)

    canvas.spot(HotSpot("sidebar:bar", (right - strip, y, strip, height), None, drag=drag))
    bar.paint(canvas, right, y)
