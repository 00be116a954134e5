"""Layer "Agent": a disc that moves smoothly from cell to cell; in a crowd, a dot for each agent."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sim.agent_api import Status
from sim.crowd import CrowdCounts
from sim.world_view import WalkerView
from ui.draw import marker_shapes
from ui.draw.kernels.crowd_strokes import stamp_agents_of_kind
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import Swatch
from ui.model.crowds import Crowd

WALKING, ARRIVED, STUCK = 0, 1, 2
"""States of agents in a crowd, each drawn with its own marker: walking, arrived, stopped without arriving."""


def draw(picture: MapPainter) -> None:
    if picture.crowd is not None:
        _draw_crowd(picture, picture.crowd)
    if picture.walker_view is not None:
        x, y = _map_point_of_agent(picture, picture.walker_view)
        picture.draw_marker("agent", x, y)
        picture.draw_arrow_to_cell(picture.walker_view.position, picture.palette.agent)


def _draw_crowd(picture: MapPainter, crowd: Crowd) -> None:
    """Draw a marker for each agent of a crowd. Walking agents are drawn last, on top of stopped agents."""
    states, glide = agent_states_of_crowd(crowd.counts), float(picture.transient_content.glide_progress)
    for state, name in ((ARRIVED, "unit there"), (STUCK, "unit stuck"), (WALKING, "unit")):
        for mask, colour in marker_shapes.marker_masks(name, picture.zoom, picture.ui_scale, picture.palette):
            stamp_agents_of_kind(picture.viewport, mask, crowd.tail_cells, glide, states, state, colour)


def agent_states_of_crowd(numbers: CrowdCounts) -> npt.NDArray[np.uint8]:
    """Return the state of each agent of a crowd: WALKING, THERE (arrived) or STUCK (stopped without arriving)."""
    states = np.where(numbers.arrived_mask, ARRIVED, np.where(numbers.agent_statuses == Status.ACTIVE, WALKING, STUCK))
    return states.astype(np.uint8)


def _map_point_of_agent(picture: MapPainter, walker: WalkerView) -> tuple[float, float]:
    """Return the map point at which to draw the agent, interpolated between two cells during an animated move."""
    grid, trail, glide = picture.snapshot.grid, picture.trail, picture.transient_content.glide_progress
    x, y = grid.xy(walker.position)
    if trail is not None and len(trail) > 1 and glide < 1.0 and trail.last_tick == picture.snapshot.tick:
        before_x, before_y = grid.xy(int(trail.cells[-2]))
        if max(abs(before_x - x), abs(before_y - y)) <= 1:
            return before_x + (x - before_x) * glide + 0.5, before_y + (y - before_y) * glide + 0.5
    return x + 0.5, y + 0.5


def draw_swatch(swatch: Swatch) -> None:
    swatch.draw_markers("agent")


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    if drawing.crowd is not None:
        yield from _crowd_elements(drawing, drawing.crowd)
        if not drawing.has_shown_agent:
            return
    x, y = drawing.point_of_cell(drawing.walker_view.position)
    fill, edge = hex_code_of_colour(drawing.palette.agent), hex_code_of_colour(drawing.palette.casing_dark)
    yield (
        f'<circle cx="{x}" cy="{y}" r="{short_decimal_text(drawing.marker_radius * 1.05)}" fill="{fill}" stroke="'
        f'{edge}"/>'
    )


def _crowd_elements(drawing: SvgPainter, crowd: Crowd) -> Iterable[str]:
    """Yield SVG paths with a dot for each agent of a crowd; all dots of one colour form a single path."""
    has_arrived = crowd.counts.arrived_mask
    for chosen, colour in ((has_arrived, drawing.palette.arrived), (~has_arrived, drawing.palette.agent)):
        dots = "".join(f"M{x} {y}h0" for x, y in drawing.points_of_cells(crowd.counts.cells[chosen]))
        for extra, ink in ((0.3, hex_code_of_colour(drawing.palette.casing_dark)), (0.0, hex_code_of_colour(colour))):
            width = short_decimal_text(drawing.marker_radius * (1.2 + extra))
            if dots:
                yield f'<path d="{dots}" stroke="{ink}" stroke-width="{width}" stroke-linecap="round"/>'


LAYER = Layer(
    key="agent",
    name="Agent",
    list_position=12,
    drawing_depth=230,
    legend_text="position of the agent; an arrow points to it if it is out of view",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    is_for_single_agent=False,
)
