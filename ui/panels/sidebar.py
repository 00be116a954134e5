"""The bar at the right: four tabs of what to show, what to change, what is under the pointer, how they compare."""

from functools import partial
from typing import TYPE_CHECKING

from ui.canvas import HotSpot
from ui.keys import shown_keys
from ui.layout import Box
from ui.panels import tab_compare, tab_edit, tab_inspect, tab_layers

if TYPE_CHECKING:
    from ui.app import App

TABS = (
    ("layers", "Layers", tab_layers.draw),
    ("edit", "Edit", tab_edit.draw),
    ("inspect", "Inspect", tab_inspect.draw),
    ("compare", "Compare", tab_compare.draw),
)


def draw(app: "App", box: Box) -> None:
    canvas, palette = app.canvas, app.palette
    canvas.fill(box, palette.surface, 8)
    canvas.outline(box, palette.edge, 8)
    x, y, width, height = box
    px = canvas.px
    tab_height = px(36)
    inner = width - px(20)
    for i, (key, name, _) in enumerate(TABS):
        left = x + px(10) + i * inner // len(TABS)
        tab = (left, y, inner // len(TABS), tab_height)
        is_chosen = app.settings.sidebar_tab == key
        command = f"tab_{key}"
        hot = canvas.spot(HotSpot(command, tab, partial(app.run, command), app.tip_of(command), shown_keys(command)))
        ink = palette.text if is_chosen or hot else palette.dim
        canvas.text(
            (left + tab[2] // 2, y + tab_height // 2),
            name,
            size=14,
            face="bold" if is_chosen else "sans",
            colour=ink,
            align="centre",
            middle=True,
        )
        if is_chosen:
            canvas.fill((left + px(6), y + tab_height - px(2), tab[2] - px(12), px(2)), palette.accent)
    canvas.hline(x + px(1), y + tab_height, width - px(2))
    _draw_body(app, (x + px(1), y + tab_height + px(1), width - px(2), height - tab_height - px(3)))


def _draw_body(app: "App", box: Box) -> None:
    """The chosen tab, scrolled by the wheel when it is higher than its room."""
    canvas, px = app.canvas, app.canvas.px
    x, y, width, height = box
    key = app.settings.sidebar_tab
    draw_tab = next(function for name, _, function in TABS if name == key)
    canvas.spot(HotSpot("sidebar", box, None, wheel=partial(scroll, app, key)))
    offset = app.sidebar_scroll.get(key, 0)
    inner = (x + px(11), y + px(8) - offset, width - px(22), height - px(16))
    with canvas.clipped(box):
        bottom = draw_tab(app, inner)
    hidden = max(0, bottom + offset + px(8) - (y + height))
    app.sidebar_hidden = hidden
    app.sidebar_scroll[key] = min(offset, hidden)
    if hidden:
        _draw_scroll_bar(app, box, offset, hidden)


def scroll(app: "App", key: str, steps: int) -> None:
    """Move the tab by wheel steps; up is positive."""
    moved = app.sidebar_scroll.get(key, 0) - steps * app.canvas.px(48)
    app.sidebar_scroll[key] = max(0, min(app.sidebar_hidden, moved))


def _draw_scroll_bar(app: "App", box: Box, offset: int, hidden: int) -> None:
    x, y, width, height = box
    size = max(app.canvas.px(24), height * height // (height + hidden))
    top = y + (height - size) * offset // hidden
    bar = app.canvas.px(4)
    app.canvas.fill((x + width - bar - app.canvas.px(2), top, bar, size), app.palette.hover, 2)
