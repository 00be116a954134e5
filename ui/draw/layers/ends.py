"""Start and goal."""

from collections.abc import Iterable

from ui.draw.drawing import Drawing
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import box, hexed, n
from ui.draw.swatch import Swatch


def draw(picture: Picture) -> None:
    snapshot = picture.snapshot
    picture.stamp_cell("start", snapshot.start)
    picture.stamp_cell("goal", snapshot.goal)
    picture.point_out(snapshot.goal, picture.palette.path)


def swatch(swatch: Swatch) -> None:
    swatch.markers("start", "goal")


def svg(drawing: Drawing) -> Iterable[str]:
    ink, around = hexed(drawing.palette.path), drawing.around(drawing.palette.path)
    (sx, sy), (gx, gy) = drawing.xy(drawing.snapshot.start), drawing.xy(drawing.snapshot.goal)
    size = drawing.marker
    for colour, width in ((around, 2.4), (ink, 1.2)):
        stroke = f'stroke="{colour}" stroke-width="{n(width * drawing.line)}"'
        yield f"<rect {box(sx - size, sy - size, 2 * size, 2 * size)} {stroke}/>"
        yield f'<circle cx="{gx}" cy="{gy}" r="{n(size * 1.25)}" {stroke}/>'
    yield f'<circle cx="{gx}" cy="{gy}" r="{n(size * 0.45)}" fill="{ink}" stroke="{around}"/>'


LAYER = Layer(
    key="ends",
    name="Start and goal",
    place=11,
    depth=220,
    legend="start: square; goal: ring with a dot",
    draw=draw,
    swatch=swatch,
    svg=svg,
)
