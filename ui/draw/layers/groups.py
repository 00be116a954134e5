"""Marks of the agent: the cells that an algorithm sets apart, tinted."""

from collections.abc import Iterable

import numpy as np

from ui.draw.drawing import TINT, Drawing
from ui.draw.layer import Layer
from ui.draw.map_colours import group_colours
from ui.draw.picture import Picture
from ui.draw.svg_paths import hexed, n
from ui.draw.swatch import Swatch
from ui.draw.theme import mix, packed

GROUP_ALPHA = 110  # of 255


def draw(picture: Picture) -> None:
    if picture.walker is None:
        return
    colours = group_colours(picture.palette)
    for name, cells in picture.walker.agent.groups.items():
        if cells.size:
            picture.tint(cells, colours[name], GROUP_ALPHA)


def swatch(swatch: Swatch) -> None:
    """Two of the tints, side by side."""
    palette = swatch.palette
    for i, colour in enumerate((palette.agent, palette.trail)):
        left, right = i * swatch.width // 2, (i + 1) * swatch.width // 2
        swatch.fill(left, right, packed(mix(palette.free, colour, TINT)))


def svg(drawing: Drawing) -> Iterable[str]:
    colours = group_colours(drawing.palette)
    for name, cells in drawing.agent.groups.items():
        mask = np.zeros(drawing.words.size, np.bool_)
        mask[cells] = True
        yield from drawing.lay_over(mask, colours[name])


def svg_swatch(drawing: Drawing) -> str:
    if not drawing.agent.groups:
        return ""
    palette = drawing.palette
    tint = f'fill="{hexed(palette.agent)}" fill-opacity="{n(TINT)}"'
    return f'{drawing.box_swatch(palette.free)}<rect width="2" height="1" {tint}/>'


LAYER = Layer(
    key="groups",
    name="Marks of the agent",
    place=14,
    depth=20,
    legend="what the algorithm sets apart: local search space, queue, dead, redundant, inconsistent",
    draw=draw,
    swatch=swatch,
    svg=svg,
    svg_swatch=svg_swatch,
)
