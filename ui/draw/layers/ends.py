"""Layer "Start and goal": a square on the start, a ring with a dot on the goal; an arrow towards a goal out of view."""

from collections.abc import Iterable

import numpy as np

from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, rect_attributes, short_decimal_text
from ui.draw.swatch import Swatch
from ui.draw.theme import RED


def draw(picture: MapPainter) -> None:
    walker, snapshot = picture.walker_view, picture.snapshot
    start, goal = (snapshot.start, snapshot.goal) if walker is None else (walker.start, walker.goal)
    if walker is None and picture.crowd is not None:
        start, goal = picture.crowd.drawn_start_and_goal((start, goal))
    dragged_marker = picture.transient_content.dragged_marker
    if dragged_marker is not None:
        start, goal = (
            (dragged_marker.cell, goal) if dragged_marker.marker_name == "start" else (start, dragged_marker.cell)
        )
        if dragged_marker.is_refused:
            picture.tint_cells(np.array([dragged_marker.cell], np.int32), RED, 230)
    for kind, cell in (("start", start), ("goal", goal)):
        if cell >= 0:
            picture.draw_marker_in_cell(kind, cell)
    if dragged_marker is not None and dragged_marker.is_refused:
        picture.cross_out_cell(dragged_marker.cell, RED)
    if goal >= 0:
        picture.draw_arrow_to_cell(goal, picture.palette.path)


def draw_swatch(swatch: Swatch) -> None:
    swatch.draw_markers("start", "goal")


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    start, goal = drawing.walker_view.start, drawing.walker_view.goal
    if not drawing.has_shown_agent and drawing.crowd is not None:
        start, goal = drawing.crowd.drawn_start_and_goal((start, goal))
    ink, around = hex_code_of_colour(drawing.palette.path), drawing.casing_colour(drawing.palette.path)
    (sx, sy), (gx, gy) = drawing.point_of_cell(start), drawing.point_of_cell(goal)
    size = drawing.marker_radius
    for colour, width in ((around, 2.4), (ink, 1.2)):
        stroke = f'stroke="{colour}" stroke-width="{short_decimal_text(width * drawing.line_width)}"'
        if start >= 0:
            yield f"<rect {rect_attributes(sx - size, sy - size, 2 * size, 2 * size)} {stroke}/>"
        if goal >= 0:
            yield f'<circle cx="{gx}" cy="{gy}" r="{short_decimal_text(size * 1.25)}" {stroke}/>'
    if goal >= 0:
        yield f'<circle cx="{gx}" cy="{gy}" r="{short_decimal_text(size * 0.45)}" fill="{ink}" stroke="{around}"/>'


LAYER = Layer(
    key="ends",
    name="Start and goal",
    list_position=11,
    drawing_depth=220,
    legend_text="start: square; goal: ring with a dot; an arrow points to a goal out of view",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    is_for_single_agent=False,
)
