"""Layer "Best open cell": a diamond on the cell that the search would expand next."""

from collections.abc import Iterable

from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import Swatch


def draw(picture: MapPainter) -> None:
    if picture.walker_view is not None and picture.walker_view.agent.best >= 0:
        picture.draw_marker_in_cell("best", picture.walker_view.agent.best)


def draw_swatch(swatch: Swatch) -> None:
    swatch.draw_markers("best")


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    if drawing.agent_view.best >= 0:
        x, y = drawing.point_of_cell(drawing.agent_view.best)
        r, colour = drawing.marker_radius * 0.8, drawing.palette.best
        data = (
            f"M{short_decimal_text(x - r)} {y}L{x} {short_decimal_text(y - r)}L{short_decimal_text(x + r)} {y}L{x} "
            f"{short_decimal_text(y + r)}z"
        )
        yield f'<path fill="{hex_code_of_colour(colour)}" stroke="{drawing.casing_colour(colour)}" d="{data}"/>'


def svg_swatch(drawing: SvgPainter) -> str:
    colour = drawing.palette.best
    edge = f'stroke="{drawing.casing_colour(colour)}" stroke-width=".08"'
    return f'<path d="M.6 .5L1 .1L1.4 .5L1 .9z" fill="{hex_code_of_colour(colour)}" {edge}/>'


LAYER = Layer(
    key="best",
    name="Best open cell",
    list_position=9,
    drawing_depth=210,
    legend_text="the cell that the search would expand next",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
)
