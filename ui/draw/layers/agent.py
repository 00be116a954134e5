"""Agent: a disc where the agent is, gliding from cell to cell."""

from collections.abc import Iterable

from sim.world import WalkerView
from ui.draw.drawing import Drawing
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import hexed, n
from ui.draw.swatch import Swatch


def draw(picture: Picture) -> None:
    if picture.walker is not None:
        x, y = _place(picture, picture.walker)
        picture.stamp("agent", x, y)
        picture.point_out(picture.walker.position, picture.palette.agent)


def _place(picture: Picture, walker: WalkerView) -> tuple[float, float]:
    """Where the agent is between its last cell and this one; map position of its middle."""
    grid, trail, glide = picture.snapshot.grid, picture.trail, picture.moment.glide
    x, y = grid.xy(walker.position)
    if trail is not None and len(trail) > 1 and glide < 1.0 and trail.last_tick == picture.snapshot.tick:
        before_x, before_y = grid.xy(int(trail.cells[-2]))
        if max(abs(before_x - x), abs(before_y - y)) <= 1:
            return before_x + (x - before_x) * glide + 0.5, before_y + (y - before_y) * glide + 0.5
    return x + 0.5, y + 0.5


def swatch(swatch: Swatch) -> None:
    swatch.markers("agent")


def svg(drawing: Drawing) -> Iterable[str]:
    x, y = drawing.xy(drawing.view.position)
    fill, edge = hexed(drawing.palette.agent), hexed(drawing.palette.casing_dark)
    yield f'<circle cx="{x}" cy="{y}" r="{n(drawing.marker * 1.05)}" fill="{fill}" stroke="{edge}"/>'


LAYER = Layer(
    key="agent",
    name="Agent",
    place=12,
    depth=230,
    legend="where the agent is",
    draw=draw,
    swatch=swatch,
    svg=svg,
    is_explained=False,
)
