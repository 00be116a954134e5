"""Layer "Candidates": the database records that the agent tried in its last choice, and why it refused them.

The accepted record is a bold line. Each refused record is a thin line. A dashed line shows the hill climb that failed,
with a cross at the cell that it did not reach. The climb leads from the agent to the record's first cell, or from the
record's last cell to the goal.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from sim.agent_api import ACCEPTED, GOAL_NOT_REACHED, NOT_REACHED, AgentView
from ui.draw.drawing import SvgPainter
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.layers.records import cells_of, records_of
from ui.draw.picture import Picture
from ui.draw.svg_paths import hexed, n
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import packed

Cells = npt.NDArray[np.int32]


def tried(agent: AgentView) -> Iterator[tuple[str, Cells]]:
    """Yield the verdict and the cells of each database record that the agent tried in its last choice."""
    records = records_of(agent)
    for candidate in agent.candidates if records is not None else ():
        if records is not None and candidate.verdict in (ACCEPTED, NOT_REACHED, GOAL_NOT_REACHED):
            yield candidate.verdict, cells_of(records, candidate.record)


def failed_climb(agent: AgentView, goal: int, verdict: str, cells: Cells) -> Cells:
    """Return the first and the last cell of the hill climb whose failure made the agent refuse a record."""
    ends = (agent.chosen_at, cells[0]) if verdict == NOT_REACHED else (cells[-1], goal)
    return np.array(ends, np.int32)


def draw(picture: Picture) -> None:
    if picture.walker is None:
        return
    agent, palette, frame = picture.walker.agent, picture.palette, picture.frame
    refused, taken = packed(palette.tracing), packed(palette.agent)
    for verdict, cells in tried(agent):
        if verdict == ACCEPTED:
            strokes.stroke_cells(frame, cells, picture.px(3), taken)
            continue
        climb = failed_climb(agent, picture.walker.goal, verdict, cells)
        strokes.stroke_cells(frame, cells, picture.px(1), refused)
        strokes.dash_cells(frame, climb, picture.px(1), refused, picture.px(2), picture.px(4))
        picture.stamp_cell("refused", int(climb[1]))


def swatch(swatch: Swatch) -> None:
    strokes.stroke_cells(swatch.frame, STRIP, swatch.px(1), packed(swatch.palette.tracing))
    swatch.markers("refused")


def svg(drawing: SvgPainter) -> Iterable[str]:
    palette, line = drawing.palette, drawing.line
    for verdict, cells in tried(drawing.agent):
        is_taken = verdict == ACCEPTED
        colour, width = hexed(palette.agent if is_taken else palette.tracing), n(line * (1.5 if is_taken else 0.5))
        yield f'<path stroke="{colour}" stroke-width="{width}" d="{_line_through(drawing, cells)}"/>'
        if not is_taken:
            climb = failed_climb(drawing.agent, drawing.view.goal, verdict, cells)
            dashes = f'stroke-dasharray="{n(line)} {n(2 * line)}"'
            yield f'<path stroke="{colour}" stroke-width="{width}" {dashes} d="{_line_through(drawing, climb)}"/>'
            yield f'<path stroke="{colour}" stroke-width="{n(line)}" d="{_cross_path(drawing, int(climb[1]))}"/>'


def _line_through(drawing: SvgPainter, cells: Cells) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in drawing.points(cells))


def _cross_path(drawing: SvgPainter, cell: int) -> str:
    (x, y), r = drawing.xy(cell), 0.6 * drawing.marker
    return f"M{n(x - r)} {n(y - r)}L{n(x + r)} {n(y + r)}M{n(x - r)} {n(y + r)}L{n(x + r)} {n(y - r)}"


def svg_swatch(drawing: SvgPainter) -> str:
    return drawing.line_swatch(drawing.palette.tracing, ".1") if drawing.agent.candidates else ""


LAYER = Layer(
    key="candidates",
    name="Candidates",
    place=19,
    depth=102,
    legend="records that were tried: the accepted one in bold, others with a cross at the cell not reached",
    draw=draw,
    swatch=swatch,
    svg=svg,
    svg_swatch=svg_swatch,
    is_special=True,
    is_on=False,
)
