"""Rings around the targets of a lesson or a note: cells, agents, goals, and frames around numbers below the maps."""

import pygame

from files.lesson_claims import StepHighlight
from sim.measures import MEASURES
from ui.model.layout import Box, PanelBoxes
from ui.model.run import Panel
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

MIN_RING_RADIUS = 15  # minimum radius of a ring in design units, large enough to surround the mark of an agent
RING_RADIUS_CELLS = 0.8  # radius of a ring as a multiple of a cell's side, so that neighbouring cells remain visible
# Key of a measure -> full and short name of the number that panels show for this measure
_NUMBER_NAMES_BY_MEASURE = {
    measure.key: measure.panel_measure for measure in MEASURES if measure.panel_measure is not None
}


def draw_highlights(desk: ViewContext, highlights: tuple[StepHighlight, ...]) -> None:
    """Draw the rings and frames of all highlights whose panels are on screen."""
    for panel, boxes in desk.map_view.panels_with_boxes():
        for highlight in highlights:
            if highlight.agent == panel.walker_view.label:
                _draw_highlight(desk, panel, boxes, highlight)


def _draw_highlight(desk: ViewContext, panel: Panel, boxes: PanelBoxes, highlight: StepHighlight) -> None:
    for cell in highlighted_cells(panel, highlight):
        draw_ring_around_cell(desk, panel, boxes, cell)
    if highlight.part_or_measure == "panel":
        draw_highlight_frame(desk, boxes.panel_box)
    elif (region := highlighted_number_region(desk, panel, highlight)) is not None:
        draw_highlight_frame(desk, region.box)


def highlighted_number_region(desk: ViewContext, panel: Panel, highlight: StepHighlight) -> HitRegion | None:
    """Return the hit region of the number that a highlight refers to; None if no such number is on screen."""
    panel_measure = _NUMBER_NAMES_BY_MEASURE.get(highlight.part_or_measure)
    names = (panel_measure.name, panel_measure.short_name) if panel_measure is not None else ()
    regions = (desk.canvas.hit_region_with_id(f"hud:{panel.key}:{name}") for name in names)
    return next((region for region in regions if region is not None), None)


def highlighted_cells(panel: Panel, highlight: StepHighlight) -> list[int]:
    """Return the cells of a panel's map that a highlight refers to."""
    grid, view = panel.snapshot.grid, panel.walker_view
    cells_by_name = {"agent": view.position, "best": view.agent.best, "goal": view.goal, "start": view.start}
    cells = [cells_by_name[highlight.part_or_measure]] if highlight.part_or_measure in cells_by_name else []
    return [cell for cell in cells if cell >= 0] + [grid.cell(x, y) for x, y in highlight.cells]


def cell_centre_in_window(desk: ViewContext, panel: Panel, boxes: PanelBoxes, cell: int) -> tuple[int, int]:
    """Return the position of a cell's centre in the window, in pixels."""
    x, y = panel.snapshot.grid.xy(cell)
    px, py = desk.map_view.camera_of_panel(panel.key, boxes).map_to_px(x + 0.5, y + 0.5)
    return boxes.map_box[0] + round(px), boxes.map_box[1] + round(py)


def ring_radius(desk: ViewContext, panel: Panel, boxes: PanelBoxes) -> int:
    """Return the radius of a ring around a cell of a panel's map, in pixels."""
    return max(
        desk.canvas.to_px(MIN_RING_RADIUS),
        round(RING_RADIUS_CELLS * desk.map_view.camera_of_panel(panel.key, boxes).zoom),
    )


def draw_ring_around_cell(desk: ViewContext, panel: Panel, boxes: PanelBoxes, cell: int) -> None:
    """Draw a ring around a cell of a panel's map, clipped to the map."""
    canvas, palette = desk.canvas, desk.palette
    centre = cell_centre_in_window(desk, panel, boxes, cell)
    outer = ring_radius(desk, panel, boxes)
    with canvas.clip_drawing_to_box(boxes.map_box):
        for more, colour in ((2, palette.casing_dark), (1, palette.casing_light)):
            pygame.draw.circle(canvas.surface, colour, centre, outer + canvas.to_px(more), canvas.to_px(3 + more))
        pygame.draw.circle(canvas.surface, palette.accent, centre, outer, canvas.to_px(3))


def draw_highlight_frame(desk: ViewContext, box: Box) -> None:
    """Draw a highlighting frame around a rectangle of the window, such as a number or a panel."""
    x, y, width, height = box
    gap = desk.canvas.to_px(3)
    desk.canvas.draw_outline((x - gap, y - gap, width + 2 * gap, height + 2 * gap), desk.palette.accent, 7, 2.5)
