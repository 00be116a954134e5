"""Badges "A" and "B" that mark the two panels which the heat map of differences (visits in A minus B) compares."""

from ui.draw.theme import colour_from_hex
from ui.model.layout import Box
from ui.widgets.canvas import Canvas

BADGE_COLOURS = {"A": colour_from_hex("#A84A00"), "B": colour_from_hex("#0B5FA5")}
BADGE_TEXT_COLOUR = colour_from_hex("#FFFFFF")


def draw_comparison_badge(canvas: Canvas, box: Box, letter: str) -> None:
    """Draw the badge A or B, in the colour of the cells that its panel's agent has visited more often."""
    canvas.fill_box(box, BADGE_COLOURS[letter], 4)
    middle = (box[0] + box[2] // 2, box[1] + box[3] // 2 + canvas.to_px(1))
    size = 0.65 * box[3] / canvas.scale
    canvas.draw_text(middle, letter, size=size, face="bold", colour=BADGE_TEXT_COLOUR, align="centre", middle=True)


def draw_comparison_badge_on_map(canvas: Canvas, box: Box, letter: str, branch: str) -> None:
    """Draw the badge of a panel in the upper right corner of its map.

    If the name of the branch is in that corner, the badge is below the name.
    """
    px = canvas.to_px
    side = px(20)
    x, y, width, height = box
    if width < 2 * side or height < 2 * side:
        return
    top = px(6)
    if branch and canvas.text_width(branch, 12) + px(6 + 14 + 6 + 6) + side > width:
        top += px(26)
    draw_comparison_badge(canvas, (x + width - side - px(6), y + top, side, side), letter)
