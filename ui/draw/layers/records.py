"""Layer "Records": problems solved before the run, each as a thin line from its start via its subgoals to its goal."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentView
from sim.kernels.records import Records
from sim.prepared import Prepared
from sim.records import RECORDS
from ui.draw.drawing import SvgPainter
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import hexed, n
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import packed

Lines = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32]]


def records_of(agent: AgentView) -> Prepared | None:
    """Return the database of solved problems (records) of an agent; None if the agent has no such database."""
    return next((data for data in agent.prepared if data.kind == RECORDS), None)


def cells_of(records: Prepared, record: int) -> npt.NDArray[np.int32]:
    """Return the cells of one record, a problem solved before the run: its start, subgoals and goal."""
    tables: Records = records.tables
    cells: npt.NDArray[np.int32] = tables.cells[tables.offsets[record] : tables.offsets[record + 1]]
    return cells


@lru_cache(maxsize=8)
def lines_of(records: Prepared, width: int) -> Lines:
    """Return the lines of all records: the x and the y of their cells, and the pairs of cell indices to join."""
    tables: Records = records.tables
    cells = tables.cells.astype(np.int64)
    # indices of all cells that have a next cell in their record
    tails = np.delete(np.arange(cells.size), tables.offsets[1:] - 1)
    arcs = np.stack([tails, tails + 1], axis=1).astype(np.int32)
    return (cells % width).astype(np.float64), (cells // width).astype(np.float64), arcs


def draw(picture: Picture) -> None:
    records = records_of(picture.walker.agent) if picture.walker else None
    if records is None:
        return
    lines = lines_of(records, picture.snapshot.grid.width)
    strokes.stroke_arcs(picture.frame, *lines, picture.px(1), packed(picture.palette.dim))


def swatch(swatch: Swatch) -> None:
    strokes.stroke_cells(swatch.frame, STRIP, swatch.px(1), packed(swatch.palette.dim))


def svg(drawing: SvgPainter) -> Iterable[str]:
    records = records_of(drawing.agent)
    if records is None:
        return
    x, y, arcs = lines_of(records, drawing.width)
    data = "".join(f"M{n(x[u])} {n(y[u])}L{n(x[v])} {n(y[v])}" for u, v in arcs.tolist())
    yield f'<path stroke="{hexed(drawing.palette.dim)}" stroke-width="{n(0.4 * drawing.line)}" d="{data}"/>'


def svg_swatch(drawing: SvgPainter) -> str:
    return drawing.line_swatch(drawing.palette.dim, ".08") if records_of(drawing.agent) else ""


LAYER = Layer(
    key="records",
    name="Records",
    place=18,
    depth=101,
    legend="problems solved before the run, each from its start via its subgoals to its goal",
    draw=draw,
    swatch=swatch,
    svg=svg,
    svg_swatch=svg_swatch,
    is_special=True,
    is_on=False,
)
