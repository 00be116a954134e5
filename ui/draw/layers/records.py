"""Layer "Records": problems solved before the run, each as a thin line from its start via its subgoals to its goal."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentView
from sim.kernels.records import ProblemRecords
from sim.prepared_data import PreparedData
from sim.problem_records import RECORDS_KIND
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour

Lines = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32]]


def records_of_agent(agent: AgentView) -> PreparedData | None:
    """Return the database of solved problems (records) of an agent; None if the agent has no such database."""
    return next((data for data in agent.prepared if data.kind == RECORDS_KIND), None)


def cells_of_record(records: PreparedData, record: int) -> npt.NDArray[np.int32]:
    """Return the cells of one record, a problem solved before the run: its start, subgoals and goal."""
    tables: ProblemRecords = records.tables
    cells: npt.NDArray[np.int32] = tables.cells[tables.offsets[record] : tables.offsets[record + 1]]
    return cells


@lru_cache(maxsize=8)
def lines_of_records(records: PreparedData, width: int) -> Lines:
    """Return the lines of all records: the x and the y of their cells, and the pairs of cell indices to join."""
    tables: ProblemRecords = records.tables
    cells = tables.cells.astype(np.int64)
    # indices of all cells that have a next cell in their record
    tails = np.delete(np.arange(cells.size), tables.offsets[1:] - 1)
    arcs = np.stack([tails, tails + 1], axis=1).astype(np.int32)
    return (cells % width).astype(np.float64), (cells // width).astype(np.float64), arcs


def draw(picture: MapPainter) -> None:
    records = records_of_agent(picture.walker_view.agent) if picture.walker_view else None
    if records is None:
        return
    lines = lines_of_records(records, picture.snapshot.grid.width)
    strokes.stroke_graph_arcs(picture.viewport, *lines, picture.to_pixels(1), pack_colour(picture.palette.dim))


def draw_swatch(swatch: Swatch) -> None:
    strokes.stroke_cell_path(swatch.viewport, STRIP, swatch.to_pixels(1), pack_colour(swatch.palette.dim))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    records = records_of_agent(drawing.agent_view)
    if records is None:
        return
    x, y, arcs = lines_of_records(records, drawing.width)
    data = "".join(
        f"M{short_decimal_text(x[u])} {short_decimal_text(y[u])}L{short_decimal_text(x[v])} {short_decimal_text(y[v])}"
        for u, v in arcs.tolist()
    )
    yield (
        f'<path stroke="{hex_code_of_colour(drawing.palette.dim)}" stroke-width="'
        f'{short_decimal_text(0.4 * drawing.line_width)}" d="{data}'
        '"/>'
    )


def svg_swatch(drawing: SvgPainter) -> str:
    return drawing.line_swatch(drawing.palette.dim, ".08") if records_of_agent(drawing.agent_view) else ""


LAYER = Layer(
    key="records",
    name="Records",
    list_position=18,
    drawing_depth=101,
    legend_text="problems solved before the run, each from its start via its subgoals to its goal",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_agent_specific=True,
    is_on_by_default=False,
)
