"""Layer "Candidates": the database records that the agent tried in its last choice, and why it refused them.

The accepted record is a bold line. Each refused record is a thin line. A dashed line shows the hill climb that failed,
with a cross at the cell that it did not reach. The climb leads from the agent to the record's first cell, or from the
record's last cell to the goal.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from sim.agent_api import ACCEPTED, GOAL_NOT_REACHED, NOT_REACHED, AgentView
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.layers.records import cells_of_record, records_of_agent
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour

Cells = npt.NDArray[np.int32]


def tried_records(agent: AgentView) -> Iterator[tuple[str, Cells]]:
    """Yield the verdict and the cells of each database record that the agent tried in its last choice."""
    records = records_of_agent(agent)
    for candidate in agent.candidates if records is not None else ():
        if records is not None and candidate.verdict in (ACCEPTED, NOT_REACHED, GOAL_NOT_REACHED):
            yield candidate.verdict, cells_of_record(records, candidate.record)


def ends_of_failed_climb(agent: AgentView, goal: int, verdict: str, cells: Cells) -> Cells:
    """Return the first and the last cell of the hill climb whose failure made the agent refuse a record."""
    ends = (agent.chosen_at, cells[0]) if verdict == NOT_REACHED else (cells[-1], goal)
    return np.array(ends, np.int32)


def draw(picture: MapPainter) -> None:
    if picture.walker_view is None:
        return
    agent, palette, frame = picture.walker_view.agent, picture.palette, picture.viewport
    refused, accepted = pack_colour(palette.tracing), pack_colour(palette.agent)
    for verdict, cells in tried_records(agent):
        if verdict == ACCEPTED:
            strokes.stroke_cell_path(frame, cells, picture.to_pixels(3), accepted)
            continue
        climb = ends_of_failed_climb(agent, picture.walker_view.goal, verdict, cells)
        strokes.stroke_cell_path(frame, cells, picture.to_pixels(1), refused)
        strokes.dash_cell_path(frame, climb, picture.to_pixels(1), refused, picture.to_pixels(2), picture.to_pixels(4))
        picture.draw_marker_in_cell("refused", int(climb[1]))


def draw_swatch(swatch: Swatch) -> None:
    strokes.stroke_cell_path(swatch.viewport, STRIP, swatch.to_pixels(1), pack_colour(swatch.palette.tracing))
    swatch.draw_markers("refused")


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    palette, line = drawing.palette, drawing.line_width
    for verdict, cells in tried_records(drawing.agent_view):
        is_accepted = verdict == ACCEPTED
        colour, width = (
            hex_code_of_colour(palette.agent if is_accepted else palette.tracing),
            short_decimal_text(line * (1.5 if is_accepted else 0.5)),
        )
        yield f'<path stroke="{colour}" stroke-width="{width}" d="{_svg_line_through_cells(drawing, cells)}"/>'
        if not is_accepted:
            climb = ends_of_failed_climb(drawing.agent_view, drawing.walker_view.goal, verdict, cells)
            dashes = f'stroke-dasharray="{short_decimal_text(line)} {short_decimal_text(2 * line)}"'
            yield (
                f'<path stroke="{colour}" stroke-width="{width}" {dashes} d="{_svg_line_through_cells(drawing, climb)}'
                '"/>'
            )
            yield (
                f'<path stroke="{colour}" stroke-width="{short_decimal_text(line)}" d="'
                f'{_svg_cross_path(drawing, int(climb[1]))}"/>'
            )


def _svg_line_through_cells(drawing: SvgPainter, cells: Cells) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in drawing.points_of_cells(cells))


def _svg_cross_path(drawing: SvgPainter, cell: int) -> str:
    (x, y), r = drawing.point_of_cell(cell), 0.6 * drawing.marker_radius
    return (
        f"M{short_decimal_text(x - r)} {short_decimal_text(y - r)}L{short_decimal_text(x + r)} "
        f"{short_decimal_text(y + r)}M"
        f"{short_decimal_text(x - r)} {short_decimal_text(y + r)}L{short_decimal_text(x + r)} "
        f"{short_decimal_text(y - r)}"
    )


def svg_swatch(drawing: SvgPainter) -> str:
    return drawing.line_swatch(drawing.palette.tracing, ".1") if drawing.agent_view.candidates else ""


LAYER = Layer(
    key="candidates",
    name="Candidates",
    list_position=19,
    drawing_depth=102,
    legend_text="records that were tried: the accepted one in bold, others with a cross at the cell not reached",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_agent_specific=True,
    is_on_by_default=False,
)
