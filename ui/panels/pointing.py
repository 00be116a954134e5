"""Rings around the targets of a lesson or a note: cells, agents, goals, and frames around numbers below the maps."""

import pygame

from sim.lesson import Highlight
from sim.measures import MEASURES
from ui.model.layout import Box, PanelBoxes
from ui.model.run import Panel
from ui.panels.desk import ViewContext
from ui.widgets.canvas import HitRegion

MIN_RING = 15  # minimum radius of a ring in design units, large enough to surround the mark of an agent
ROUND_A_CELL = 0.8  # radius of a ring as a multiple of a cell's side, so that neighbouring cells remain visible
# Key of a measure -> full and short name of the number that panels show for this measure
_NAMES_BY_MEASURE = {measure.key: measure.panel for measure in MEASURES if measure.panel is not None}


def draw(desk: ViewContext, highlights: tuple[Highlight, ...]) -> None:
    """Draw the rings and frames of all highlights whose panels are on screen."""
    for panel, boxes in desk.scene.panels():
        for highlight in highlights:
            if highlight.agent == panel.view.label:
                _draw_one(desk, panel, boxes, highlight)


def _draw_one(desk: ViewContext, panel: Panel, boxes: PanelBoxes, highlight: Highlight) -> None:
    for cell in cells_of(panel, highlight):
        ring(desk, panel, boxes, cell)
    if highlight.what == "panel":
        frame(desk, boxes.whole)
    elif (spot := number_spot(desk, panel, highlight)) is not None:
        frame(desk, spot.box)


def number_spot(desk: ViewContext, panel: Panel, highlight: Highlight) -> HitRegion | None:
    """Return the hit region of the number that a highlight refers to; None if no such number is on screen."""
    shown = _NAMES_BY_MEASURE.get(highlight.what)
    names = (shown.name, shown.short) if shown is not None else ()
    spots = (desk.canvas.spot_named(f"hud:{panel.key}:{name}") for name in names)
    return next((spot for spot in spots if spot is not None), None)


def cells_of(panel: Panel, highlight: Highlight) -> list[int]:
    """Return the cells of a panel's map that a highlight refers to."""
    grid, view = panel.snapshot.grid, panel.view
    named = {"agent": view.position, "best": view.agent.best, "goal": view.goal, "start": view.start}
    cells = [named[highlight.what]] if highlight.what in named else []
    return [cell for cell in cells if cell >= 0] + [grid.cell(x, y) for x, y in highlight.cells]


def middle_of(desk: ViewContext, panel: Panel, boxes: PanelBoxes, cell: int) -> tuple[int, int]:
    """Return the position of a cell's centre in the window, in pixels."""
    x, y = panel.snapshot.grid.xy(cell)
    px, py = desk.scene.camera(panel.key, boxes).to_px(x + 0.5, y + 0.5)
    return boxes.map[0] + round(px), boxes.map[1] + round(py)


def radius(desk: ViewContext, panel: Panel, boxes: PanelBoxes) -> int:
    """Return the radius of a ring around a cell of a panel's map, in pixels."""
    return max(desk.canvas.px(MIN_RING), round(ROUND_A_CELL * desk.scene.camera(panel.key, boxes).zoom))


def ring(desk: ViewContext, panel: Panel, boxes: PanelBoxes, cell: int) -> None:
    """Draw a ring around a cell of a panel's map, clipped to the map."""
    canvas, palette = desk.canvas, desk.palette
    centre = middle_of(desk, panel, boxes, cell)
    outer = radius(desk, panel, boxes)
    with canvas.clipped(boxes.map):
        for more, colour in ((2, palette.casing_dark), (1, palette.casing_light)):
            pygame.draw.circle(canvas.surface, colour, centre, outer + canvas.px(more), canvas.px(3 + more))
        pygame.draw.circle(canvas.surface, palette.accent, centre, outer, canvas.px(3))


def frame(desk: ViewContext, box: Box) -> None:
    """Draw a highlighting frame around a rectangle of the window, such as a number or a panel."""
    x, y, width, height = box
    gap = desk.canvas.px(3)
    desk.canvas.outline((x - gap, y - gap, width + 2 * gap, height + 2 * gap), desk.palette.accent, 7, 2.5)
