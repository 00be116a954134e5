"""Layer "Trail": lines along the moves of the agent, wider for recent moves.

While heat is shown in small cells, only moves between cells without heat are drawn.
"""

from collections.abc import Iterable

import numpy as np

from sim.kernels import log
from ui.draw.kernels import strokes
from ui.draw.kernels.crowd_strokes import stroke_crowd_tails
from ui.draw.layer import Layer
from ui.draw.map_painter import RECENT_TICKS, MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import Point, path_through_points
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import mix_colours, pack_colour
from ui.model.crowds import Crowd
from ui.model.trails import Trail


def draw(picture: MapPainter) -> None:
    if picture.crowd is not None:
        _draw_crowd_tails(picture, picture.crowd)
    trail, moves = picture.visible_trail, picture.cells.moves
    if picture.walker_view is None:
        return
    if trail is None:
        colour = pack_colour(picture.palette.trail)
        strokes.stroke_moves_without_heat(
            picture.viewport,
            picture.cells.heat_bands,
            moves.cells,
            moves.move_directions,
            moves.move_count,
            picture.to_pixels(1),
            colour,
        )
        return
    cells, recent_marks = trail.cells[-RECENT_TICKS - 1 :], trail.marks[-RECENT_TICKS - 1 :]
    width = picture.thin_line_width
    recent_width = width + (picture.to_pixels(1) if picture.has_casings else 0)
    for extra, colour in picture.thin_strokes_with_casing(picture.palette.trail):
        strokes.stroke_moves(
            picture.viewport, moves.cells, moves.move_directions, moves.move_count, width + extra, colour
        )
        strokes.stroke_recent_moves(picture.viewport, cells, recent_marks, recent_width + extra, colour)


def _draw_crowd_tails(picture: MapPainter, crowd: Crowd) -> None:
    """Draw the recent moves of all agents of a crowd; older moves are fainter."""
    if crowd.tail_cells.shape[1] < 2:
        return
    palette, width = picture.palette, picture.to_pixels(picture.line_width_units)
    faded = [pack_colour(mix_colours(palette.free, palette.trail, share)) for share in (0.25, 0.5, 0.75, 1.0)]
    stroke_crowd_tails(picture.viewport, crowd.tail_cells, width, np.array(faded, np.uint32))


def draw_swatch(swatch: Swatch) -> None:
    for extra, colour in swatch.strokes_with_casing(swatch.palette.trail):
        strokes.stroke_cell_path(swatch.viewport, STRIP, swatch.to_pixels(2) + extra, colour)


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    data = "".join(path_through_points(line) for line in walked_lines(drawing.trail, drawing.width))
    return drawing.line_with_casing(data, drawing.palette.trail, 1.0)


def walked_lines(trail: Trail, width: int) -> list[list[Point]]:
    """Return the moves of a trail, except back-moves, joined to lines; repeated and reversed moves are dropped."""
    cells, marks = trail.cells.tolist(), trail.marks.tolist()
    seen: set[tuple[int, int]] = set()
    lines: list[list[Point]] = []
    open_line: list[Point] = []
    for before, after, mark in zip(cells, cells[1:], marks[1:], strict=False):
        edge = (min(before, after), max(before, after))
        is_new = before != after and not mark & (log.BACK_MOVE | log.TRIAL_BEGAN) and edge not in seen
        if is_new:
            seen.add(edge)
            start = (before % width, before // width)
            if not open_line or open_line[-1] != start:
                open_line = [start]
                lines.append(open_line)
            open_line.append((after % width, after // width))
    return lines


LAYER = Layer(
    key="trail",
    name="Trail",
    list_position=6,
    drawing_depth=110,
    legend_text="where the agent has walked; older parts are thinner",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=lambda drawing: drawing.line_swatch(drawing.palette.trail),
    is_for_single_agent=False,
)
