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
    body = (x + px(12), y + tab_height + px(8), width - px(24), height - tab_height - px(16))
    draw_tab = next(function for key, _, function in TABS if key == app.settings.sidebar_tab)
    draw_tab(app, body)


def heading(app: "App", x: int, y: int, text: str) -> int:
    """A small heading of a section; returns where its content begins."""
    app.canvas.text((x, y), text, size=12, face="bold", colour=app.palette.dim)
    return y + app.canvas.px(21)
