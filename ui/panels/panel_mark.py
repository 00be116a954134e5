"""Mark of a panel: the panel's number on the colour of its lines in charts; that number key focuses the panel."""

from ui.draw.theme import SERIES, Colour
from ui.widgets.canvas import Canvas

MARK_WIDTH, MARK_HEIGHT = 16, 18  # width and height of a panel's mark, in design units

_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)
_MAX_DARK_LUMINANCE = 0.18  # relative luminance of a background below which white text has more contrast than black


def draw_panel_mark(canvas: Canvas, left: int, middle: int, index: int) -> int:
    """Draw the mark of the panel with index `index`, and return the right edge of the mark."""
    px = canvas.to_px
    colour = SERIES[index % len(SERIES)]
    canvas.fill_box((left, middle - px(MARK_HEIGHT) // 2, px(MARK_WIDTH), px(MARK_HEIGHT)), colour, 3)
    number = f"{index + 1}"
    centre = (left + px(MARK_WIDTH) // 2, middle)
    canvas.draw_text(
        centre, number, size=12, face="bold", colour=contrasting_text_colour(colour), align="centre", middle=True
    )
    return left + px(MARK_WIDTH)


def contrasting_text_colour(ground: Colour) -> Colour:
    """Return the text colour, black or white, that has more contrast with a background colour."""
    return _WHITE if relative_luminance(ground) < _MAX_DARK_LUMINANCE else _BLACK


def relative_luminance(colour: Colour) -> float:
    """Return the relative luminance of a colour as defined by WCAG, from 0 to 1."""
    parts = [c / 255 for c in colour]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
