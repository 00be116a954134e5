"""Layer "Start and goal": a square on the start, a ring with a dot on the goal; an arrow towards a goal out of view."""

from collections.abc import Iterable

import numpy as np

from ui.draw.drawing import SvgPainter
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import box, hexed, n
from ui.draw.swatch import Swatch
from ui.draw.theme import RED


def draw(picture: Picture) -> None:
    walker, snapshot = picture.walker, picture.snapshot
    start, goal = (snapshot.start, snapshot.goal) if walker is None else (walker.start, walker.goal)
    if walker is None and picture.crowd is not None:
        start, goal = picture.crowd.ends((start, goal))
    carried = picture.extras.carried
    if carried is not None:
        start, goal = (carried.cell, goal) if carried.kind == "start" else (start, carried.cell)
        if carried.is_refused:
            picture.tint(np.array([carried.cell], np.int32), RED, 230)
    for kind, cell in (("start", start), ("goal", goal)):
        if cell >= 0:
            picture.stamp_cell(kind, cell)
    if carried is not None and carried.is_refused:
        picture.cross_out(carried.cell, RED)
    if goal >= 0:
        picture.point_out(goal, picture.palette.path)


def swatch(swatch: Swatch) -> None:
    swatch.markers("start", "goal")


def svg(drawing: SvgPainter) -> Iterable[str]:
    start, goal = drawing.view.start, drawing.view.goal
    if not drawing.has_mind and drawing.crowd is not None:
        start, goal = drawing.crowd.ends((start, goal))
    ink, around = hexed(drawing.palette.path), drawing.around(drawing.palette.path)
    (sx, sy), (gx, gy) = drawing.xy(start), drawing.xy(goal)
    size = drawing.marker
    for colour, width in ((around, 2.4), (ink, 1.2)):
        stroke = f'stroke="{colour}" stroke-width="{n(width * drawing.line)}"'
        if start >= 0:
            yield f"<rect {box(sx - size, sy - size, 2 * size, 2 * size)} {stroke}/>"
        if goal >= 0:
            yield f'<circle cx="{gx}" cy="{gy}" r="{n(size * 1.25)}" {stroke}/>'
    if goal >= 0:
        yield f'<circle cx="{gx}" cy="{gy}" r="{n(size * 0.45)}" fill="{ink}" stroke="{around}"/>'


LAYER = Layer(
    key="ends",
    name="Start and goal",
    place=11,
    depth=220,
    legend="start: square; goal: ring with a dot; an arrow points to a goal out of view",
    draw=draw,
    swatch=swatch,
    svg=svg,
    is_of_mind=False,
)
