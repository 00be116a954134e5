"""Mark of a panel: its number on the colour of its lines in the charts; the key with that number focuses the panel."""

from ui.draw.theme import SERIES, Colour
from ui.widgets.canvas import Canvas

WIDTH, HEIGHT = 16, 18  # size of the mark in design units

_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)
_MAX_DARK_LUMINANCE = 0.18  # luminance below which white text has more contrast than black text


def draw(canvas: Canvas, left: int, middle: int, place: int) -> int:
    """Draw the mark of the panel with index `place` and return its right edge."""
    px = canvas.px
    colour = SERIES[place % len(SERIES)]
    canvas.fill((left, middle - px(HEIGHT) // 2, px(WIDTH), px(HEIGHT)), colour, 3)
    number = f"{place + 1}"
    centre = (left + px(WIDTH) // 2, middle)
    canvas.text(centre, number, size=12, face="bold", colour=ink_on(colour), align="centre", middle=True)
    return left + px(WIDTH)


def ink_on(ground: Colour) -> Colour:
    """Return black or white, whichever has more contrast with the background."""
    return _WHITE if luminance(ground) < _MAX_DARK_LUMINANCE else _BLACK


def luminance(colour: Colour) -> float:
    """Return the relative luminance of a colour as defined by WCAG, from 0 to 1."""
    parts = [c / 255 for c in colour]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
