"""Where everything stands in the window: rectangles from a size, a UI scale and a number of panels."""

from dataclasses import dataclass
from math import ceil

Box = tuple[int, int, int, int]  # x, y, width, height

TOP_BAR = 44
TRANSPORT = 92
SIDEBAR = 296
GAP = 8
HEADER = 34
HUD = 54
SMALL_HUD = 38
HUD_ROW = 42
TWO_ROWS_BELOW = 440
MIN_MAP = 96
MOST_PANELS = 8
NARROWEST_PANELS = 480  # with less room than this beside it, the sidebar is left out


@dataclass(frozen=True)
class PanelBoxes:
    """The parts of one panel."""

    whole: Box
    header: Box
    map: Box
    hud: Box


@dataclass(frozen=True)
class Layout:
    scale: float
    size: tuple[int, int]
    top_bar: Box
    sidebar: Box | None
    transport: Box
    panels: tuple[PanelBoxes, ...]

    def px(self, units: float) -> int:
        """Design units, pixels at 100 %, in real pixels."""
        return round(units * self.scale)


def lay_out(
    size: tuple[int, int], scale: float, panels: int, *, shows_sidebar: bool = True, bare: bool = False
) -> Layout:
    """The whole window. `bare` hides everything but the panels (F10)."""

    def px(units: float) -> int:
        return round(units * scale)

    width, height = size
    top = 0 if bare else px(TOP_BAR)
    foot = 0 if bare else px(TRANSPORT)
    side = px(SIDEBAR) if shows_sidebar and not bare and width >= px(SIDEBAR + NARROWEST_PANELS) else 0
    gap = px(GAP)
    area = (gap, top + gap, width - side - gap * (3 if side else 2), height - top - foot - 2 * gap)
    boxes = tuple(_panel(box, scale) for box in tiles(area, panels, gap))
    sidebar = (width - side - gap, top + gap, side, area[3]) if side else None
    return Layout(
        scale,
        size,
        (0, 0, width, top),
        sidebar,
        (gap, height - foot, width - 2 * gap, foot - gap) if foot else (0, height, 0, 0),
        boxes,
    )


def tiles(area: Box, count: int, gap: int) -> list[Box]:
    """Boxes for `count` panels, in rows of equal height, as near to a 4 : 3 map as the area allows."""
    if count == 0:
        return []
    columns = min(range(1, count + 1), key=lambda n: _tile_badness(area, count, n, gap))
    rows = ceil(count / columns)
    x, y, width, height = area
    boxes = []
    for i in range(count):
        row, column = divmod(i, columns)
        left = x + column * (width + gap) // columns
        right = x + (column + 1) * (width + gap) // columns - gap
        upper = y + row * (height + gap) // rows
        lower = y + (row + 1) * (height + gap) // rows - gap
        boxes.append((left, upper, max(1, right - left), max(1, lower - upper)))
    return boxes


def _tile_badness(area: Box, count: int, columns: int, gap: int) -> tuple[float, int]:
    """Less is better: the smaller side of a map that a tile can hold, and empty tiles."""
    rows = ceil(count / columns)
    width = (area[2] + gap) / columns - gap
    height = (area[3] + gap) / rows - gap - HEADER - HUD
    shown = min(width, height * 1.15)
    return -shown, rows * columns - count


def _panel(box: Box, scale: float) -> PanelBoxes:
    x, y, width, height = box
    header = round(HEADER * scale)
    hud = round(HUD * scale)
    if width < round(TWO_ROWS_BELOW * scale) and height - header - 2 * hud > width:
        hud = round(HUD_ROW * scale) + hud  # narrow and high: a second row of numbers costs the map nothing
    if height - header - hud < round(MIN_MAP * scale):
        hud = min(round(SMALL_HUD * scale), max(0, height - header - 40))
    inset = max(1, round(scale))
    return PanelBoxes(
        whole=box,
        header=(x, y, width, header),
        map=(x + inset, y + header, max(1, width - 2 * inset), max(1, height - header - hud)),
        hud=(x, y + height - hud, width, hud),
    )


def contains(box: Box, position: tuple[int, int]) -> bool:
    return box[0] <= position[0] < box[0] + box[2] and box[1] <= position[1] < box[1] + box[3]
