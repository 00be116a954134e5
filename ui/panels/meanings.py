"""Legend below the layers in the sidebar: a sample of each mark visible on the maps, with its meaning."""

from ui.draw import legend
from ui.draw.cells import terrain_of
from ui.draw.kernels.cellwords import SWAMP, TREES, WATER
from ui.draw.layers import LAYER_BY_KEY
from ui.draw.picture import HEAT_TRAILS_FROM_PX
from ui.draw.values import TEXT_FROM_PX
from ui.model.layout import Box
from ui.panels.desk import ViewContext

HEAT_UNITS = {
    "scrub": "revisits, back-moves",
    "visits": "visits of a cell",
    "expansions": "expansions of a cell",
    "learned": "learned h - h0",
    "g": "cost from the root, g",
    "depth": "depth of lookahead",
    "difference": "visits, A - B",
}

TERRAIN = {
    "trees": (TREES, "Trees: blocked like walls"),
    "swamp": (SWAMP, "Swamp: free, connected to other ground"),
    "water": (WATER, "Water: free, but not connected to the ground"),
}

GROUPS = {
    "local space": "Local search space: the cells that the agent searched before its last move",
    "queued": "Queued: cells whose learned values have not been propagated to their neighbours yet",
    "dead": "Dead: cells through which no other cell is reached best; never entered again",
    "redundant": "Redundant: cells that other cells can replace on every path; never entered again",
    "inconsistent": "Inconsistent: cells that are still to be repaired after a map change",
    "new contour": "New contour: cells that this iteration enters for the first time",
    "corridor": "Corridor: the part of the map in which the path is refined",
}
"""Meanings of the marks of agents, by name in sim.agent_api.GROUP_NAMES."""

CROWD = "Dots: agents on their way or arrived; crosses: agents without a path or stopped; tails: their latest positions"
NUMBERS = "Numbers in cells: g at the upper left, h at the upper right, f below"
STEP = "Dot in a cell, in slow motion: the cell that was expanded last"


def draw(desk: ViewContext, box: Box) -> int:
    """Draw the legend, and return its bottom edge, so that the sidebar knows how far it can scroll."""
    canvas, px = desk.canvas, desk.canvas.px
    x, y, width, _ = box
    canvas.hline(x, y, width)
    y += px(8)
    for key, text in meanings(desk):
        _draw_swatch(desk, (x, y + px(1), px(22), px(14)), key)
        for line in canvas.wrap_lines(text, width - px(30), 12):
            canvas.text((x + px(30), y), line, size=12, colour=desk.palette.dim)
            y += px(18)
        y += px(4)
    return y


def _draw_swatch(desk: ViewContext, box: Box, key: str) -> None:
    surface, palette, scale = desk.canvas.surface, desk.palette, desk.scene.scale
    kind, _, name = key.partition(":")
    if key == "heat":
        legend.draw_colour_bar(surface, box, desk.scene.heat_scale, palette)
    elif kind == "terrain":
        legend.terrain_swatch(surface, box, TERRAIN[name][0], palette)
    elif kind == "groups":
        legend.group_swatch(surface, box, name, palette, scale)
    elif kind in ("crowd", "step"):
        legend.marker_swatch(surface, box, _MARKERS[kind], palette, scale)
    elif kind == "numbers":
        legend.marker_swatch(surface, box, (), palette, scale)
        middle = (box[0] + box[2] // 2, box[1] + box[3] // 2)
        desk.canvas.text(middle, "12", size=10, face="mono", align="centre", middle=True)
    else:
        legend.legend_swatch(surface, box, LAYER_BY_KEY[key], palette, scale)


_MARKERS = {"crowd": ("unit", "unit there", "unit stuck"), "step": ("expansion",)}


def meanings(desk: ViewContext) -> list[tuple[str, str]]:
    """Return (key of a layer or mark, meaning) of everything visible on the maps that needs an explanation."""
    heat_count = hot_panels(desk)
    is_all_heat = heat_count == len(desk.scene.shown_panels) > 0
    found = [("heat", _heat_meaning(desk))] if heat_count else []
    if any(panel.crowd is not None for panel in desk.scene.shown_panels):
        found.append(("crowd", CROWD))
    if _shows_cell_numbers(desk):
        found.append(("numbers", NUMBERS))
    if desk.player.is_slow_motion:
        found.append(("step", STEP))
    for layer in desk.scene.agent_layers:
        if not desk.scene.layers.shows(layer) or (is_all_heat and layer.is_replaced_by_heat):
            continue
        if layer.key == "terrain":
            found += [] if is_all_heat else _terrain(desk)
        elif layer.key == "groups":
            found += _groups(desk)
        elif layer.is_explained:
            found.append((layer.key, f"{layer.name}: {layer.legend}"))
    return found


def _terrain(desk: ViewContext) -> list[tuple[str, str]]:
    """Return (key, meaning) of each kind of terrain that occurs on the map."""
    seen = terrain_of(desk.scene.run.world.grid).kinds
    return [(f"terrain:{name}", text) for name, (bit, text) in TERRAIN.items() if seen & bit]


def _groups(desk: ViewContext) -> list[tuple[str, str]]:
    """Return (key, meaning) of each group of cells that agents on screen use, even if it is empty in this tick."""
    names = {name for panel in desk.scene.shown_panels if panel.mind for name in panel.mind.agent.groups}
    return [(f"groups:{name}", text) for name, text in GROUPS.items() if name in names]


def _shows_cell_numbers(desk: ViewContext) -> bool:
    least = TEXT_FROM_PX * desk.scene.scale
    return any(desk.scene.camera(panel.key, boxes).zoom >= least for panel, boxes in desk.scene.panels())


def hot_panels(desk: ViewContext) -> int:
    """Return the number of panels on screen that show a heat map."""
    return sum(
        desk.scene.cells[panel.key].bands.size > 0 for panel in desk.scene.shown_panels if panel.key in desk.scene.cells
    )


def _heat_meaning(desk: ViewContext) -> str:
    kind, scale = desk.scene.layers.heat.kind, desk.scene.heat_scale
    if kind == "difference":
        return "A - B: orange where A has more visits, blue where B has more"
    lines = (
        f"in cells below {HEAT_TRAILS_FROM_PX:.0f} pixels it is not covered by trails, and older back-moves are hidden"
    )
    dot = "; a dot: once" if scale.has_dots else ""
    return f"Heat: {HEAT_UNITS[kind]}, from {scale.lowest} to {scale.highest}{dot}; {lines}"
