"""Layer "Cap hits, re-entries": cells on which the agent reached a limit or dropped its subgoal.

A square is a cap hit: the lookahead had the largest depth of the database, or a hill climb had the maximum length. A
ring is a re-entry: the agent had been on that cell before, so it headed for its goal instead of a subgoal.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sim.kernels import log
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import Swatch
from ui.model.trails import Trail

_MARKS = (("cap hit", log.CAP_HIT), ("re-entry", log.REENTERED))  # (name of the marker, bit of the event in a trail)
_TINT = 120  # opacity of the tint of small cells, which are too small for markers, 0 to 255


def cells_with_event(trail: Trail | None, mark: int) -> npt.NDArray[np.int32]:
    """Return the distinct cells on which an agent was when an event of one kind occurred, such as log.CAP_HIT."""
    if trail is None:
        return np.empty(0, np.int32)
    # The events of trail entry i + 1 belong to the cell of entry i, because the agent acts before it moves.
    ticks = np.flatnonzero(trail.marks[1:] & mark)
    return np.unique(trail.cells[ticks])


def draw(picture: MapPainter) -> None:
    colours = {"cap hit": picture.palette.arrived, "re-entry": picture.palette.agent}
    for name, mark in _MARKS:
        cells = cells_with_event(picture.trail, mark)
        if not picture.has_cell_symbols:
            picture.tint_cells(cells, colours[name], _TINT)
            continue
        for cell in cells.tolist():
            picture.draw_marker_in_cell(name, cell)


def draw_swatch(swatch: Swatch) -> None:
    swatch.draw_markers(*(name for name, _ in _MARKS))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    r, width = 0.8 * drawing.marker_radius, short_decimal_text(0.6 * drawing.line_width)
    for x, y in drawing.points_of_cells(cells_with_event(drawing.trail, log.CAP_HIT)):
        style = f'fill="none" stroke="{hex_code_of_colour(drawing.palette.arrived)}" stroke-width="{width}"'
        yield (
            f'<rect x="{short_decimal_text(x - r)}" y="{short_decimal_text(y - r)}" width="{short_decimal_text(2 * r)}'
            '" height="'
            f'{short_decimal_text(2 * r)}" {style}/>'
        )
    for x, y in drawing.points_of_cells(cells_with_event(drawing.trail, log.REENTERED)):
        style = f'fill="none" stroke="{hex_code_of_colour(drawing.palette.agent)}" stroke-width="{width}"'
        yield f'<circle cx="{x}" cy="{y}" r="{short_decimal_text(r)}" {style}/>'


def svg_swatch(drawing: SvgPainter) -> str:
    if not any(cells_with_event(drawing.trail, mark).size for _, mark in _MARKS):
        return ""
    square = (
        f'<rect x=".2" y=".2" width=".6" height=".6" fill="none" stroke="{hex_code_of_colour(drawing.palette.arrived)}"'
    )
    ring = f'<circle cx="1.5" cy=".5" r=".3" fill="none" stroke="{hex_code_of_colour(drawing.palette.agent)}"'
    return f'{square} stroke-width=".12"/>{ring} stroke-width=".12"/>'


LAYER = Layer(
    key="control",
    name="Cap hits, re-entries",
    list_position=20,
    drawing_depth=207,
    legend_text=(
        "square: lookahead or hill climb reached its limit; ring: the agent came back here and dropped its subgoal"
    ),
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_agent_specific=True,
)
