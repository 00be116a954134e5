"""Layer "Edits": a cross on cells blocked during the run, a dotted square on freed cells; both shrink with time."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from math import ceil

import numpy as np
import numpy.typing as npt

from sim.world_view import WorldSnapshot
from ui.draw import marker_shapes
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour
from ui.model.run import EDIT_SHOWN_TICKS, Edits

MAX_EDIT_MARKS = 2000  # only this number of the latest edits is marked on the map
MIN_SPACING = 12  # minimum distance between marks in small cells, in design units, so that marks do not hide the map


@dataclass(frozen=True)
class EditMarks:
    """Recently edited cells to mark on the map, as parallel arrays with one entry per cell."""

    cells: npt.NDArray[np.int32]
    is_blocked: npt.NDArray[np.bool_]
    age_shares: npt.NDArray[np.float64]  # time since the edit, from 0 (this tick) to 1 (the mark disappears)

    @classmethod
    def from_edits(cls, edits: Edits, snapshot: WorldSnapshot, spacing: int) -> "EditMarks":
        """Return the marks of the latest edits: at most one of each kind per square of `spacing` x `spacing` cells."""
        now, width = snapshot.tick, snapshot.grid.width
        chosen: dict[tuple[int, int, bool], tuple[int, bool, float]] = {}
        for cell, (tick, is_blocked) in islice(reversed(edits.items()), MAX_EDIT_MARKS):
            if 0 <= now - tick <= EDIT_SHOWN_TICKS:
                square = cell % width // spacing, cell // width // spacing, is_blocked
                chosen.setdefault(square, (cell, is_blocked, (now - tick) / EDIT_SHOWN_TICKS))
        cells, blocked, age = zip(*chosen.values(), strict=True) if chosen else ((), (), ())
        return cls(np.array(cells, np.int32), np.array(blocked, np.bool_), np.array(age, np.float64))


def edit_marks_of(picture: MapPainter) -> EditMarks:
    """Return the marks of edited cells to draw, cached for all panels that show the same edits."""
    edits, snapshot = picture.transient_content.recent_edits, picture.snapshot
    spacing = 1 if picture.has_cell_symbols else ceil(picture.to_pixels(MIN_SPACING) / picture.zoom)
    key = (id(edits), len(edits), snapshot.tick, snapshot.grid.version, spacing)
    cached: tuple[tuple[int, ...], EditMarks] | None = picture.paint_buffers.layer_caches.get("edits")
    if cached is None or cached[0] != key:
        cached = picture.paint_buffers.layer_caches["edits"] = (key, EditMarks.from_edits(edits, snapshot, spacing))
    return cached[1]


def draw(picture: MapPainter) -> None:
    if not picture.transient_content.recent_edits:
        return
    marked, palette = edit_marks_of(picture), picture.palette
    cells = (picture.viewport, marked.cells, marked.is_blocked)
    if picture.has_cell_symbols:
        reach, width = (0.3 - 0.2 * marked.age_shares) * picture.zoom, picture.to_pixels(1 if picture.zoom < 16 else 2)
        strokes.stroke_edit_marks(*cells, reach, width, pack_colour(palette.text))
        return
    reach, width = np.full(marked.cells.size, 2.0 * picture.ui_scale), picture.to_pixels(1)
    walls = (picture.viewport, marked.cells[marked.is_blocked], marked.is_blocked[marked.is_blocked])
    # Only marks of blocked cells have a casing, because a casing around a freed cell would look like a wall.
    casing = pack_colour(marker_shapes.casing_colour_for(palette, palette.text))
    strokes.stroke_edit_marks(*walls, reach, width + 2 * picture.to_pixels(1), casing)
    strokes.stroke_edit_marks(*cells, reach, width, pack_colour(palette.text))


def draw_swatch(swatch: Swatch) -> None:
    half = swatch.width // 2
    swatch.draw_wall(0, half)
    reach = np.full(2, min(swatch.height, half) * 0.3)
    colour = pack_colour(swatch.palette.text)
    strokes.stroke_edit_marks(
        swatch.two_cell_viewport, STRIP[:2], np.array([True, False]), reach, swatch.to_pixels(1), colour
    )


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    crosses, squares = [], []
    for cell, (_, is_blocked) in drawing.recent_edits.items():
        x, y = drawing.point_of_cell(cell)
        if is_blocked:
            crosses.append(f"M{short_decimal_text(x - 0.3)} {short_decimal_text(y - 0.3)}l.6 .6m-.6 0l.6-.6")
        else:
            squares.append(f"M{short_decimal_text(x - 0.3)} {short_decimal_text(y - 0.3)}h.6v.6h-.6z")
    yield from drawing.line_with_casing("".join(crosses), drawing.palette.text, 0.8)
    yield from drawing.line_with_casing("".join(squares), drawing.palette.text, 0.8)


def svg_swatch(drawing: SvgPainter) -> str:
    ink = f'fill="none" stroke="{hex_code_of_colour(drawing.palette.text)}" stroke-width=".12"'
    return f'<path d="M.2 .2l.6 .6m-.6 0l.6-.6M1.2 .2h.6v.6h-.6z" {ink}/>'


LAYER = Layer(
    key="edits",
    name="Edits",
    list_position=10,
    drawing_depth=200,
    legend_text="cells that were blocked (x) or freed (dotted) during the run",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_for_single_agent=False,
)
