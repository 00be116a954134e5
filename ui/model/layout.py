"""Where everything stands in the window: rectangles from a size, a UI scale and a number of panels."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from ui.model.camera import fitted

Box = tuple[int, int, int, int]  # x, y, width, height

TOP_BAR = 44
TRANSPORT = 92
SIDEBAR = 296
SIDEBAR_HANDLE = 18  # width of what brings a hidden sidebar back
GAP = 8
HEADER = 34
HEADER_ROW = 28
HUD = 54
SMALL_HUD = 38
HUD_ROW = 42
COLUMNS_FROM = 280  # a panel as wide as this has room for numbers below their names, if they have two rows
TWO_ROWS_FROM = 400  # a narrower panel may have three
TWO_ROWS_BELOW = 900  # a panel as wide as this has room for most numbers below their names in one row
MIN_MAP = 96
SIDE_HUD = 206
LEAST_SIDE = 150  # high enough for some numbers, one below the other
ONE_ROW_FROM = 1000  # a narrower window has the line of time in a row of its own
TIME_ROW = 46
TIME_ROW_FROM = 480  # in a lower one it takes the room of the sliders instead
NEARLY_ALIKE = 1.08  # maps that differ in size by less
HOLLOW = 0.5  # of the room for a map, which is black where the map takes no more
NARROW_HEADER = 200  # has no room in one row for name, state and what tells it apart: a second is worth some map
LEGIBLE = 130  # a narrower panel cuts names, states and numbers: its map must be larger by as much to be worth that
MOST_PANELS = 8
NARROWEST_PANELS = 480  # with less room than this beside it, the sidebar is left out
NARROWEST_READ = 320  # the same while there is something in it to read beside the maps


@dataclass(frozen=True)
class PanelBoxes:
    """The parts of one panel."""

    whole: Box
    header: Box
    map: Box
    hud: Box
    has_side: bool = False  # the numbers stand beside the map, not below it


@dataclass(frozen=True)
class Layout:
    scale: float
    size: tuple[int, int]
    top_bar: Box
    sidebar: Box | None
    sidebar_handle: Box | None  # while the sidebar is hidden and there is room for it
    transport: Box
    panels: tuple[PanelBoxes, ...]

    def px(self, units: float) -> int:
        """Design units, pixels at 100 %, in real pixels."""
        return round(units * self.scale)


@lru_cache(maxsize=64)
def lay_out(
    size: tuple[int, int],
    scale: float,
    panels: int,
    *,
    map_size: tuple[int, int] = (4, 3),
    shows_sidebar: bool = True,
    bare: bool = False,
    is_read: bool = False,
) -> Layout:
    """The whole window. `bare` hides everything but the panels (F10). `is_read`: what stands in the sidebar speaks of
    the maps: a lesson, which over them would hide what it speaks of, or the algorithm in slow motion.
    """

    def px(units: float) -> int:
        return round(units * scale)

    width, height = size
    top = 0 if bare else px(TOP_BAR)
    has_time_row = width < px(ONE_ROW_FROM) and height >= px(TIME_ROW_FROM)
    foot = 0 if bare else px(TRANSPORT + TIME_ROW if has_time_row else TRANSPORT)
    beside = NARROWEST_READ if is_read else NARROWEST_PANELS
    has_room = not bare and width >= px(SIDEBAR + beside)
    side = px(SIDEBAR) if shows_sidebar and has_room else 0
    handle = px(SIDEBAR_HANDLE) if has_room and not side else 0
    gap = px(GAP)
    area = (gap, top + gap, width - side - handle - gap * (3 if side else 2), height - top - foot - 2 * gap)
    sidebar = (width - side - gap, top + gap, side, area[3]) if side else None
    return Layout(
        scale,
        size,
        (0, 0, width, top),
        sidebar,
        (width - handle, top + gap, handle - px(2), area[3]) if handle else None,
        (gap, height - foot, width - 2 * gap, foot - gap) if foot else (0, height, 0, 0),
        best_panels(area, panels, gap, scale, map_size),
    )


def best_panels(area: Box, count: int, gap: int, scale: float, map_size: tuple[int, int]) -> tuple[PanelBoxes, ...]:
    """The rows and columns, and the place of the numbers, in which maps come out largest.

    Panels too narrow for words count less. Where two come out nearly alike, the one with room for names; then with
    fewer empty tiles, with maps that fill their room, and with the numbers below them.
    """
    if count == 0:
        return ()
    plans = [
        tuple(make(box, scale, map_size) for box in tiles(area, count, columns, gap))
        for columns in range(1, count + 1)
        for make in (_panel, _panel_with_side)
    ]
    zooms = [min(_zoom(panel, map_size) for panel in plan) * _legible(plan[0], scale) for plan in plans]
    enough = max(zooms) / NEARLY_ALIKE
    good = [plan for plan, zoom in zip(plans, zooms, strict=True) if zoom >= enough]
    return min(good, key=lambda plan: (_is_crammed(plan[0], scale), *_oddness(plan, map_size)))


def _legible(panel: PanelBoxes, scale: float) -> float:
    """The share that it has of the width that words need."""
    return min(1.0, panel.whole[2] / (scale * LEGIBLE))


def _is_crammed(panel: PanelBoxes, scale: float) -> bool:
    """Whether its header has too little room."""
    return panel.whole[2] < scale * NARROW_HEADER and panel.header[3] <= round(HEADER * scale)


def _zoom(panel: PanelBoxes, map_size: tuple[int, int]) -> float:
    """Pixels a cell when all of the map is shown."""
    return fitted(*map_size, panel.map[2], panel.map[3]).zoom


def _oddness(plan: tuple[PanelBoxes, ...], map_size: tuple[int, int]) -> tuple[bool, bool, bool, float]:
    """Less is better: tiles left empty, maps that fill less than half of their room, numbers beside the map, room for
    the map that is not much used.
    """
    columns, rows = len({panel.whole[0] for panel in plan}), len({panel.whole[1] for panel in plan})
    room = min(panel.map[2] / map_size[0] + panel.map[3] / map_size[1] for panel in plan)
    return columns * rows > len(plan), _filled(plan[0], map_size) < HOLLOW, plan[0].has_side, -room


def _filled(panel: PanelBoxes, map_size: tuple[int, int]) -> float:
    """The share of its room that the map takes."""
    zoom = _zoom(panel, map_size)
    return zoom * map_size[0] * zoom * map_size[1] / (panel.map[2] * panel.map[3])


def tiles(area: Box, count: int, columns: int, gap: int) -> list[Box]:
    """Boxes for `count` panels, in rows of equal height."""
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


def _panel(box: Box, scale: float, map_size: tuple[int, int]) -> PanelBoxes:
    """The numbers below the map, in more than one row where the others cost the map nothing."""
    x, y, width, height = box
    header = round(HEADER * scale)
    hud = round(HUD * scale)
    higher = header + round(HEADER_ROW * scale)
    if width < round(NARROW_HEADER * scale) and height > 3 * higher:
        header = higher
    inset = max(1, round(scale))
    map_width = max(1, width - 2 * inset)
    hud += _more_rows((map_width, height - header - hud), scale, map_size) * round(HUD_ROW * scale)
    if height - header - hud < round(MIN_MAP * scale):
        hud = min(round(SMALL_HUD * scale), max(0, height - header - 40))
    return PanelBoxes(
        whole=box,
        header=(x, y, width, header),
        map=(x + inset, y + header, map_width, max(1, height - header - hud)),
        hud=(x, y + height - hud, width, hud),
    )


def _more_rows(room: tuple[int, int], scale: float, map_size: tuple[int, int]) -> int:
    """How many rows of numbers there may be below the first, where the map can do without their height: one where it is
    drawn as large without; two in a narrow panel, of which the first must leave it higher than wide. A wide panel has
    all numbers in one row.
    """
    width, height = room
    if width >= scale * TWO_ROWS_BELOW:
        return 0
    if width >= scale * TWO_ROWS_FROM:
        return int(_is_spared(room, scale * HUD_ROW, map_size))
    if height - scale * HUD <= width:
        return 0
    return 2 if width >= scale * COLUMNS_FROM and _is_spared(room, 2 * scale * HUD_ROW, map_size) else 1


def _is_spared(room: tuple[int, int], height: float, map_size: tuple[int, int]) -> bool:
    """Whether a map in this room is drawn as large with so much less height."""
    width, whole = room
    left = whole - round(height)
    return left > 0 and fitted(*map_size, width, left).zoom == fitted(*map_size, width, whole).zoom


def _panel_with_side(box: Box, scale: float, map_size: tuple[int, int]) -> PanelBoxes:
    """The numbers at the right of the map, where a panel is much wider than its map."""
    x, y, width, height = box
    header, side = round(HEADER * scale), round(SIDE_HUD * scale)
    if width < 2 * side or height - header < round(LEAST_SIDE * scale):
        return _panel(box, scale, map_size)
    inset = max(1, round(scale))
    rest = max(1, height - header - inset)
    return PanelBoxes(
        whole=box,
        header=(x, y, width, header),
        map=(x + inset, y + header, max(1, width - side - inset), rest),
        hud=(x + width - side, y + header, side, height - header),
        has_side=True,
    )


def contains(box: Box, position: tuple[int, int]) -> bool:
    return box[0] <= position[0] < box[0] + box[2] and box[1] <= position[1] < box[1] + box[3]
