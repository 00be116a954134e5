"""Stepper control: a value between a minus and a plus button; the mouse wheel changes the value too."""

from collections.abc import Callable
from functools import partial

from ui.widgets.canvas import Canvas, HitRegion

_BUTTON_WIDTH, _VALUE_WIDTH, _HEIGHT = 22, 46, 28  # widths of a button and of the value, and height, in design units


def stepper_width(canvas: Canvas) -> int:
    return 2 * canvas.to_px(_BUTTON_WIDTH) + canvas.to_px(_VALUE_WIDTH)


def draw_stepper(
    canvas: Canvas,
    spot_id: str,
    right_top: tuple[int, int],
    text: str,
    step: Callable[[int], None],
    tip: str,
    command_ids: tuple[str, ...] = (),
) -> None:
    """Draw a stepper: the minus button, the value and the plus button.

    Args:
        canvas: Canvas to draw on.
        spot_id: Id of the hit region around the value, and prefix of the ids of the buttons.
        right_top: Top right corner in pixels.
        text: Value as text.
        step: Callback that gets the number of steps by which to change the value, negative to decrease it.
        tip: Tooltip.
        command_ids: Ids of the commands that change the value; the tooltip shows their keys.
    """
    px = canvas.to_px
    side, middle, height = px(_BUTTON_WIDTH), px(_VALUE_WIDTH), px(_HEIGHT)
    left, y = right_top[0] - stepper_width(canvas), right_top[1]
    less, more = partial(step, -1), partial(step, 1)
    canvas.draw_button(f"{spot_id}:less", (left, y, side, height), "-", less, tip=tip, command_ids=command_ids)
    box = (left + side, y, middle, height)
    canvas.add_hit_region(HitRegion(spot_id, box, None, tip, command_ids, on_wheel=step))
    canvas.draw_text((box[0] + middle // 2, y + height // 2), text, size=13, face="mono", align="centre", middle=True)
    right_box = (left + side + middle, y, side, height)
    canvas.draw_button(f"{spot_id}:more", right_box, "+", more, tip=tip, command_ids=command_ids)
