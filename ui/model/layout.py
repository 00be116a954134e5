"""Layout of the window: rectangles computed from its size, the UI scale and the number of panels.

Constants are in design units, which are pixels at 100 % UI scale; rects are in pixels.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from ui.model.camera import camera_fitting_map

Box = tuple[int, int, int, int]  # rect in pixels: x, y, width, height

TOP_BAR_HEIGHT = 44
TRANSPORT_HEIGHT = 92
SIDEBAR_WIDTH = 296
SIDEBAR_HANDLE_WIDTH = 18  # width of the handle that reopens a hidden sidebar
PANEL_GAP = 8
HEADER_HEIGHT = 34
HEADER_ROW_HEIGHT = 28
HUD_HEIGHT = 54
SMALL_HUD_HEIGHT = 38
HUD_ROW_HEIGHT = 42
MIN_WIDTH_FOR_COLUMNS = 280  # minimum panel width for several rows of numbers in columns, each number below its name
# Panel width from which at most two rows of numbers are used; narrower panels use up to three.
MIN_WIDTH_FOR_TWO_ROWS = 400
MIN_WIDTH_FOR_ONE_ROW = 900  # panel width below which the numbers may need two rows; wider panels have all in one row
MIN_MAP_HEIGHT = 96
SIDE_HUD_WIDTH = 206
MIN_SIDE_HUD_HEIGHT = 150  # minimum height of a column of numbers to the right of the map, as wide panels have
# Window width from which the time line shares a row with the buttons, instead of its own row.
MIN_WINDOW_WIDTH_FOR_SHARED_ROW = 1000
TIME_ROW_HEIGHT = 46
# Window height from which the time line can have its own row; below, it replaces the sliders.
MIN_WINDOW_HEIGHT_FOR_TIME_ROW = 480
EQUAL_SIZE_RATIO = 1.08  # ratio of map sizes up to which two arrangements of the panels count as equally good
MIN_FILLED_SHARE = 0.5  # share of a panel's map area that the map should fill at least; the rest of that area is black
# Panel width below which name and state need two header rows, even if the map gets smaller.
MIN_WIDTH_FOR_ONE_HEADER_ROW = 200
MIN_LEGIBLE_WIDTH = 130  # panel width below which texts are cut off; arrangements with narrower panels are rated lower
MAX_PANELS = 8
MIN_PANELS_WIDTH = 480  # minimum width of all panels next to the sidebar; with less, the sidebar is hidden
MIN_PANELS_WIDTH_READING = 320  # replaces MIN_PANELS_WIDTH while the sidebar shows a text to read, as in a lesson


@dataclass(frozen=True)
class PanelBoxes:
    """Rects of the parts of one panel."""

    panel_box: Box
    header_box: Box
    map_box: Box
    hud_box: Box
    has_side_hud: bool = False  # whether the numbers are at the side of the map; otherwise they are below the map


@dataclass(frozen=True)
class Layout:
    """Rects of everything in the window, for one size, scale and number of panels."""

    scale: float
    size: tuple[int, int]
    top_bar: Box
    sidebar_box: Box | None
    sidebar_handle: Box | None  # None unless the sidebar is hidden and there is room for it
    transport_bar: Box
    panel_boxes: tuple[PanelBoxes, ...]

    def to_px(self, units: float) -> int:
        """Convert design units, which are pixels at 100 %, to pixels."""
        return round(units * self.scale)


@lru_cache(maxsize=64)
def lay_out_window(
    size: tuple[int, int],
    scale: float,
    panels: int,
    *,
    map_size: tuple[int, int] = (4, 3),
    shows_sidebar: bool = True,
    is_bare: bool = False,
    is_read: bool = False,
) -> Layout:
    """Return the layout of the whole window.

    Args:
        size: Width and height of the window, in pixels.
        scale: UI scale; 1.0 is 100 %.
        panels: Number of panels.
        map_size: Width and height of the map, in cells.
        shows_sidebar: Show the sidebar if there is room.
        is_bare: Hide everything but the panels (F10).
        is_read: The sidebar shows text about the maps: a lesson or, in slow motion, the algorithm. The sidebar is then
            shown even in narrow windows, because a lesson drawn over the maps would hide what it explains.
    """

    def px(units: float) -> int:
        return round(units * scale)

    width, height = size
    top = 0 if is_bare else px(TOP_BAR_HEIGHT)
    has_time_row = width < px(MIN_WINDOW_WIDTH_FOR_SHARED_ROW) and height >= px(MIN_WINDOW_HEIGHT_FOR_TIME_ROW)
    transport_height = 0 if is_bare else px(TRANSPORT_HEIGHT + TIME_ROW_HEIGHT if has_time_row else TRANSPORT_HEIGHT)
    min_panels_width = MIN_PANELS_WIDTH_READING if is_read else MIN_PANELS_WIDTH
    has_room = not is_bare and width >= px(SIDEBAR_WIDTH + min_panels_width)
    side = px(SIDEBAR_WIDTH) if shows_sidebar and has_room else 0
    handle = px(SIDEBAR_HANDLE_WIDTH) if has_room and not side else 0
    gap = px(PANEL_GAP)
    area = (gap, top + gap, width - side - handle - gap * (3 if side else 2), height - top - transport_height - 2 * gap)
    sidebar = (width - side - gap, top + gap, side, area[3]) if side else None
    return Layout(
        scale,
        size,
        (0, 0, width, top),
        sidebar,
        (width - handle, top + gap, handle - px(2), area[3]) if handle else None,
        (gap, height - transport_height, width - 2 * gap, transport_height - gap)
        if transport_height
        else (0, height, 0, 0),
        best_panel_arrangement(area, panels, gap, scale, map_size),
    )


def best_panel_arrangement(
    area: Box, count: int, gap: int, scale: float, map_size: tuple[int, int]
) -> tuple[PanelBoxes, ...]:
    """Return the arrangement of panels that shows the largest maps.

    Candidates are all numbers of columns, each with the agent's numbers below or to the right of the map.

    Arrangements with panels too narrow for their texts are rated lower. Among arrangements with nearly equal maps,
    prefer headers with enough room, then no empty tiles, maps that fill at least half of their area, and numbers below
    the map.
    """
    if count == 0:
        return ()
    plans = [
        tuple(make(box, scale, map_size) for box in panel_tiles(area, count, columns, gap))
        for columns in range(1, count + 1)
        for make in (_panel_with_hud_below, _panel_with_side_hud)
    ]
    zooms = [
        min(_zoom_of_whole_map(panel, map_size) for panel in plan) * _legible_width_ratio(plan[0], scale)
        for plan in plans
    ]
    enough = max(zooms) / EQUAL_SIZE_RATIO
    good_plans = [plan for plan, zoom in zip(plans, zooms, strict=True) if zoom >= enough]
    return min(
        good_plans, key=lambda plan: (_is_header_crammed(plan[0], scale), *_layout_defects_sort_key(plan, map_size))
    )


def _legible_width_ratio(panel: PanelBoxes, scale: float) -> float:
    """Return the ratio of the panel's width to the width that its texts need, at most 1."""
    return min(1.0, panel.panel_box[2] / (scale * MIN_LEGIBLE_WIDTH))


def _is_header_crammed(panel: PanelBoxes, scale: float) -> bool:
    """Return whether the panel is too narrow for name and state in its one-row header."""
    return panel.panel_box[2] < scale * MIN_WIDTH_FOR_ONE_HEADER_ROW and panel.header_box[3] <= round(
        HEADER_HEIGHT * scale
    )


def _zoom_of_whole_map(panel: PanelBoxes, map_size: tuple[int, int]) -> float:
    """Return the zoom in pixels per cell at which the panel shows the whole map."""
    return camera_fitting_map(*map_size, panel.map_box[2], panel.map_box[3]).zoom


def _layout_defects_sort_key(plan: tuple[PanelBoxes, ...], map_size: tuple[int, int]) -> tuple[bool, bool, bool, float]:
    """Return a sort key for the defects of an arrangement of panels; smaller is better.

    The key says whether there are empty tiles, whether maps fill less than half of their area, and whether numbers are
    at the side of the map. Its last part is the negated room for the map.
    """
    columns, rows = len({panel.panel_box[0] for panel in plan}), len({panel.panel_box[1] for panel in plan})
    map_scale = min(panel.map_box[2] / map_size[0] + panel.map_box[3] / map_size[1] for panel in plan)
    return (
        columns * rows > len(plan),
        _filled_share_of_map_area(plan[0], map_size) < MIN_FILLED_SHARE,
        plan[0].has_side_hud,
        -map_scale,
    )


def _filled_share_of_map_area(panel: PanelBoxes, map_size: tuple[int, int]) -> float:
    """Return the share of a panel's map area that the whole map fills."""
    zoom = _zoom_of_whole_map(panel, map_size)
    return zoom * map_size[0] * zoom * map_size[1] / (panel.map_box[2] * panel.map_box[3])


def panel_tiles(area: Box, count: int, columns: int, gap: int) -> list[Box]:
    """Return the rects of `count` panels, in rows of equal height."""
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


def _panel_with_hud_below(box: Box, scale: float, map_size: tuple[int, int]) -> PanelBoxes:
    """Return the rects of a panel with the numbers below the map, in several rows if the map stays as large."""
    x, y, width, height = box
    header = round(HEADER_HEIGHT * scale)
    hud = round(HUD_HEIGHT * scale)
    higher = header + round(HEADER_ROW_HEIGHT * scale)
    if width < round(MIN_WIDTH_FOR_ONE_HEADER_ROW * scale) and height > 3 * higher:
        header = higher
    inset = max(1, round(scale))
    map_width = max(1, width - 2 * inset)
    hud += _extra_number_row_count((map_width, height - header - hud), scale, map_size) * round(HUD_ROW_HEIGHT * scale)
    if height - header - hud < round(MIN_MAP_HEIGHT * scale):
        hud = min(round(SMALL_HUD_HEIGHT * scale), max(0, height - header - 40))
    return PanelBoxes(
        panel_box=box,
        header_box=(x, y, width, header),
        map_box=(x + inset, y + header, map_width, max(1, height - header - hud)),
        hud_box=(x, y + height - hud, width, hud),
    )


def _extra_number_row_count(size: tuple[int, int], scale: float, map_size: tuple[int, int]) -> int:
    """Return how many rows of numbers to add below the first one.

    A wide panel has all numbers in one row. A panel of medium width gets a second row if the map stays as large. A
    narrow panel gets a second row if its map area stays higher than wide, and a third if the map stays as large.
    """
    width, height = size
    if width >= scale * MIN_WIDTH_FOR_ONE_ROW:
        return 0
    if width >= scale * MIN_WIDTH_FOR_TWO_ROWS:
        return int(_fits_without_shrinking(size, scale * HUD_ROW_HEIGHT, map_size))
    if height - scale * HUD_HEIGHT <= width:
        return 0
    return (
        2
        if width >= scale * MIN_WIDTH_FOR_COLUMNS
        and _fits_without_shrinking(size, 2 * scale * HUD_ROW_HEIGHT, map_size)
        else 1
    )


def _fits_without_shrinking(size: tuple[int, int], height: float, map_size: tuple[int, int]) -> bool:
    """Return whether a map drawn in this room stays as large with `height` pixels less."""
    width, full_height = size
    remaining_height = full_height - round(height)
    return (
        remaining_height > 0
        and camera_fitting_map(*map_size, width, remaining_height).zoom
        == camera_fitting_map(*map_size, width, full_height).zoom
    )


def _panel_with_side_hud(box: Box, scale: float, map_size: tuple[int, int]) -> PanelBoxes:
    """Return the rects of a panel with the numbers to the right of the map, for panels much wider than their map.

    A panel that is too small for that has its numbers below the map.
    """
    x, y, width, height = box
    header, side = round(HEADER_HEIGHT * scale), round(SIDE_HUD_WIDTH * scale)
    if width < 2 * side or height - header < round(MIN_SIDE_HUD_HEIGHT * scale):
        return _panel_with_hud_below(box, scale, map_size)
    inset = max(1, round(scale))
    map_height = max(1, height - header - inset)
    return PanelBoxes(
        panel_box=box,
        header_box=(x, y, width, header),
        map_box=(x + inset, y + header, max(1, width - side - inset), map_height),
        hud_box=(x + width - side, y + header, side, height - header),
        has_side_hud=True,
    )


def box_contains_position(box: Box, position: tuple[int, int]) -> bool:
    return box[0] <= position[0] < box[0] + box[2] and box[1] <= position[1] < box[1] + box[3]
