"""Layer "Regions": the regions of one level of the agent's abstraction, and lines between neighbouring regions.

Neighbouring regions have different colours.
"""

from collections.abc import Iterable

import numpy as np

from sim.abstraction import ABSTRACTION_KIND, RegionMap, region_map
from sim.agent_api import AgentView
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_colours import region_colours
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import Swatch
from ui.draw.theme import mix_colours, pack_colour

ALPHA = 64  # opacity of the tints of regions, 0 to 255
ARCS_FROM_PX = 2.0  # smallest side of a cell, in pixels, at which lines between regions are drawn


def regions_at_level(agent: AgentView, level: int) -> RegionMap | None:
    """Return the regions of one level of the agent's abstraction; level 0 means the level that the agent uses."""
    abstraction = next((data for data in agent.prepared if data.kind == ABSTRACTION_KIND), None)
    return region_map(abstraction, level) if level and abstraction is not None else agent.regions


def draw(picture: MapPainter) -> None:
    regions = (
        regions_at_level(picture.walker_view.agent, picture.transient_content.region_level)
        if picture.walker_view
        else None
    )
    if regions is None:
        return
    colours = region_colours(picture.palette)
    for number, cells in enumerate(regions.cells):
        picture.tint_cells(cells, colours[number % len(colours)], ALPHA)
    if picture.zoom >= ARCS_FROM_PX:
        colour = pack_colour(picture.palette.dim)
        strokes.stroke_graph_arcs(
            picture.viewport, regions.x, regions.y, regions.neighbour_pairs, picture.to_pixels(1), colour
        )


def draw_swatch(swatch: Swatch) -> None:
    """Draw three of the colours of regions next to each other."""
    palette = swatch.palette
    for i, colour in enumerate(region_colours(palette)[:3]):
        left, right = i * swatch.width // 3, (i + 1) * swatch.width // 3
        swatch.fill_columns(left, right, pack_colour(mix_colours(palette.free, colour, ALPHA / 255)))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    regions = regions_at_level(drawing.agent_view, drawing.layer_state.region_level)
    if regions is None:
        return
    colours = region_colours(drawing.palette)
    for number, cells in enumerate(regions.cells):
        mask = np.zeros(drawing.flags_by_cell.size, np.bool_)
        mask[cells] = True
        yield from drawing.cell_tint_elements(mask, colours[number % len(colours)])
    colour, width = hex_code_of_colour(drawing.palette.dim), short_decimal_text(0.4 * drawing.line_width)
    yield f'<path stroke="{colour}" stroke-width="{width}" d="{_svg_arcs_path(regions)}"/>'


def _svg_arcs_path(regions: RegionMap) -> str:
    """Return SVG path data of the lines between neighbouring regions; the origin is the middle of cell (0, 0)."""
    x, y = regions.x, regions.y
    return "".join(
        f"M{short_decimal_text(x[u])} {short_decimal_text(y[u])}L{short_decimal_text(x[v])} {short_decimal_text(y[v])}"
        for u, v in regions.neighbour_pairs.tolist()
    )


def svg_swatch(drawing: SvgPainter) -> str:
    if drawing.agent_view.regions is None:
        return ""
    colours = region_colours(drawing.palette)
    boxes = (
        f'<rect x="{i}" width="1" height="1" fill="{hex_code_of_colour(colours[i])}" fill-opacity=".4"/>'
        for i in range(2)
    )
    return drawing.box_swatch(drawing.palette.free) + "".join(boxes)


LAYER = Layer(
    key="regions",
    name="Regions",
    list_position=16,
    drawing_depth=15,
    legend_text="regions of one level of the agent's abstraction, with lines between neighbours",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_agent_specific=True,
    is_on_by_default=False,
)
