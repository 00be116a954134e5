"""Layer "Back-moves": moves from a cell to its parent, drawn next to the trail with chevrons in their direction."""

from collections.abc import Iterable

import numpy as np

from sim.kernels import log
from ui.draw import marker_shapes
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import RECENT_TICKS, MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import Point, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour
from ui.model.trails import Trail

CHEVRONS_FROM_PX = 10  # smallest side of a cell, in pixels, at which back-moves have chevrons
LATEST_TICKS = 24  # while heat is shown in small cells, only back-moves of the latest 24 ticks are drawn
CASED_FROM_PX = 4.0  # smallest side of a cell, in pixels, at which back-moves on top of heat have casings
_BACK_MOVE_TO_THE_LEFT = 8 + 3  # code of a listed move: direction 3 (left) of octile.py, plus 8 for a back-move


def draw(picture: MapPainter) -> None:
    trail, moves, frame = picture.visible_trail, picture.cells.moves, picture.viewport
    if picture.walker_view is None:
        return
    if trail is None:
        _draw_latest_back_moves(picture)
        return
    cells, recent_marks = trail.cells[-RECENT_TICKS - 1 :], trail.marks[-RECENT_TICKS - 1 :]
    width = picture.thin_line_width
    recent_width = width + (0 if picture.has_casings else picture.to_pixels(1))
    arm = _chevron_arm_length(picture)
    for extra, colour in picture.thin_strokes_with_casing(picture.palette.back_move):
        strokes.stroke_back_moves(
            frame,
            moves.cells,
            moves.move_directions,
            moves.move_count,
            moves.listed_directions,
            width,
            extra,
            colour,
            arm,
        )
        strokes.stroke_recent_back_moves(frame, cells, recent_marks, recent_width, extra, colour, arm)


def _draw_latest_back_moves(picture: MapPainter) -> None:
    """Draw only the latest back-moves, for small cells with heat, because all back-moves would hide the heat."""
    trail, width = picture.trail, picture.to_pixels(1)
    if trail is None:
        return
    cells, recent_marks = trail.cells[-LATEST_TICKS - 1 :], trail.marks[-LATEST_TICKS - 1 :]
    colour = picture.palette.back_move
    around = picture.to_pixels(1) if picture.zoom >= CASED_FROM_PX else 0
    for extra, ink in ((2 * around, marker_shapes.casing_colour_for(picture.palette, colour)), (0, colour)):
        strokes.stroke_recent_back_moves(picture.viewport, cells, recent_marks, width, extra, pack_colour(ink), 0.0)


def _chevron_arm_length(picture: MapPainter) -> float:
    """Return the length of the arms of chevrons in pixels; 0 in small cells, where chevrons are not drawn."""
    if picture.zoom < CHEVRONS_FROM_PX:
        return 0.0
    return min(max(3.0, 0.2 * picture.zoom), 7.0 * picture.ui_scale)


def draw_swatch(swatch: Swatch) -> None:
    """Draw two back-moves to the left, like those on the map, but in the middle of the swatch."""
    frame = swatch.viewport._replace(top=swatch.viewport.top - strokes.BACK_MOVE_OFFSET)
    directions, listed_directions = np.full(2, _BACK_MOVE_TO_THE_LEFT, np.uint8), np.zeros(STRIP.size, np.uint16)
    width, arm = swatch.to_pixels(2), float(swatch.to_pixels(3))
    for extra, colour in swatch.strokes_with_casing(swatch.palette.back_move):
        strokes.stroke_back_moves(frame, STRIP[1:], directions, 2, listed_directions, width, extra, colour, arm)


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    """Yield SVG paths with an arrow for each straight run of back-moves, shifted to the right of its direction."""
    parts = []
    aside, arm = 0.28, max(0.22, 2.2 * drawing.line_width)
    for (ax, ay), (bx, by) in straight_back_move_runs(drawing.trail, drawing.width):
        wx, wy = direction_between((ax, ay), (bx, by))
        length = (wx * wx + wy * wy) ** 0.5
        ox, oy = -wy / length * aside, wx / length * aside
        ux, uy = wx / length, wy / length
        x, y = bx + ox - ux * 0.2, by + oy - uy * 0.2
        parts.append(
            f"M{short_decimal_text(ax + ox + ux * 0.2)} {short_decimal_text(ay + oy + uy * 0.2)}L"
            f"{short_decimal_text(x)} "
            f"{short_decimal_text(y)}"
        )
        for side in (1.0, -1.0):
            tip_x, tip_y = x - (ux - side * uy) * arm * 0.7, y - (uy + side * ux) * arm * 0.7
            parts.append(
                f"M{short_decimal_text(x)} {short_decimal_text(y)}L{short_decimal_text(tip_x)} "
                f"{short_decimal_text(tip_y)}"
            )
    return drawing.line_with_casing("".join(parts), drawing.palette.back_move, 1.0)


def straight_back_move_runs(trail: Trail, width: int) -> list[tuple[Point, Point]]:
    """Return the distinct back-moves of a trail, joined to straight runs given as (first point, last point)."""
    cells, event_marks = trail.cells.tolist(), trail.marks.tolist()
    seen: set[tuple[int, int]] = set()
    runs: list[tuple[Point, Point]] = []
    for before, after, mark in zip(cells, cells[1:], event_marks[1:], strict=False):
        if before == after or not mark & log.BACK_MOVE or (before, after) in seen:
            continue
        seen.add((before, after))
        start, end = (before % width, before // width), (after % width, after // width)
        if runs and runs[-1][1] == start and direction_between(*runs[-1]) == direction_between(start, end):
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def direction_between(a: Point, b: Point) -> Point:
    """Return the direction from point a to point b, as -1, 0 or 1 for x and for y."""
    return int(np.sign(b[0] - a[0])), int(np.sign(b[1] - a[1]))


LAYER = Layer(
    key="back_moves",
    name="Back-moves",
    list_position=7,
    drawing_depth=120,
    legend_text="moves back along parents, drawn next to the outward path; chevrons show their direction",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=lambda drawing: drawing.line_swatch(drawing.palette.back_move, data="M2 .5H.1M.5 .2L.1 .5L.5 .8"),
)
