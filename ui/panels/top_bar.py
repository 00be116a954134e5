"""The bar at the top: what is open, and the commands that open something else."""

from functools import partial
from typing import TYPE_CHECKING

from ui.canvas import HotSpot
from ui.keys import shown_keys
from ui.layout import Box

if TYPE_CHECKING:
    from ui.app import App

BUTTONS = (
    ("help", "Help"),
    ("theme", "Theme"),
    ("record", "Record"),
    ("save_session", "Save"),
    ("generate", "Generate"),
    ("gallery", "Gallery"),
    ("open", "Open"),
)
"""From the right; the last ones go first when the window is narrow."""


def draw(app: "App", box: Box) -> None:
    canvas = app.canvas
    x, y, width, height = box
    px, middle = canvas.px, y + height // 2
    canvas.fill(box, app.palette.surface)
    canvas.hline(x, y + height - 1, width)
    left = x + px(14)
    left += canvas.text((left, middle), "Backmove", size=17, face="bold", middle=True) + px(12)
    right = _draw_buttons(app, left, x + width - px(10), middle)
    right = app.recording.draw(right, middle)
    title = app.session.setup.title + (" *" if app.session.has_unsaved_edits else "")
    room = max(0, right - left - px(12))
    used = canvas.text((left, middle), title, size=14, middle=True, width=room)
    caption = app.session.setup.caption
    if not used:
        return
    canvas.spot(HotSpot("title", (left, y, used, height), None, f"{title}\n{caption}" if caption else title))
    left += used + px(14)
    if caption and right - left > px(120):
        first_sentence = caption.split("\n")[0]
        canvas.text(
            (left, middle), first_sentence, size=13, colour=app.palette.dim, middle=True, width=right - left - px(12)
        )
        canvas.spot(HotSpot("caption", (left, y, right - left - px(12), height), None, caption))


def _draw_buttons(app: "App", left: int, right: int, middle: int) -> int:
    """The buttons from the right, as many as fit; returns where they begin."""
    canvas = app.canvas
    height = canvas.px(28)
    for command, label in BUTTONS:
        key = shown_keys(command)
        width = canvas.text_width(label, 13) + canvas.text_width(key, 11, "mono") + canvas.px(30)
        if right - width < left:
            break
        box = (right - width, middle - height // 2, width, height)
        canvas.button(
            f"top:{command}", box, label, partial(app.run, command), tip=app.tip_of(command), key=key, shows_key=True
        )
        right = box[0] - canvas.px(6)
    return right
