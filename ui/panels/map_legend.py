"""Legend below the layers in the sidebar: a sample of each mark visible on the maps, with its meaning."""

from ui.draw.cell_numbers import TEXT_FROM_PX
from ui.draw.kernels.cell_flags import SWAMP, TREES, WATER
from ui.draw.layers import LAYER_BY_KEY
from ui.draw.map_painter import HEAT_TRAILS_FROM_PX
from ui.draw.panel_content import terrain_flags_of
from ui.maps import legend_swatches
from ui.model.layout import Box
from ui.panels.view_context import ViewContext

HEAT_UNIT_TEXTS = {
    "scrub": "revisits, back-moves",
    "visits": "visits of a cell",
    "expansions": "expansions of a cell",
    "learned": "learned h - h0",
    "g": "cost from the root, g",
    "depth": "depth of lookahead",
    "difference": "visits, A - B",
}

TERRAIN_MEANINGS = {
    "trees": (TREES, "Trees: blocked like walls"),
    "swamp": (SWAMP, "Swamp: free, connected to other ground"),
    "water": (WATER, "Water: free, but not connected to the ground"),
}

CELL_GROUP_MEANINGS = {
    "local space": "Local search space: the cells that the agent searched before its last move",
    "queued": "Queued: cells whose learned values have not been propagated to their neighbours yet",
    "dead": "Dead: cells through which no other cell is reached best; never entered again",
    "redundant": "Redundant: cells that other cells can replace on every path; never entered again",
    "inconsistent": "Inconsistent: cells that are still to be repaired after a map change",
    "new contour": "New contour: cells that this iteration enters for the first time",
    "corridor": "Corridor: the part of the map in which the path is refined",
}
"""Meanings of the marks of agents, by name in sim.agent_api.GROUP_NAMES."""

CROWD_MEANING = (
    "Dots: agents on their way or arrived; crosses: agents without a path or stopped; tails: their latest positions"
)
CELL_NUMBERS_MEANING = "Numbers in cells: g at the upper left, h at the upper right, f below"
EXPANSION_MEANING = "Dot in a cell, in slow motion: the cell that was expanded last"


def draw_map_legend(desk: ViewContext, box: Box) -> int:
    """Draw the legend, and return its bottom edge, so that the sidebar knows how far it can scroll."""
    canvas, px = desk.canvas, desk.canvas.to_px
    x, y, width, _ = box
    canvas.draw_horizontal_line(x, y, width)
    y += px(8)
    for key, text in visible_legend_entries(desk):
        _draw_legend_swatch(desk, (x, y + px(1), px(22), px(14)), key)
        for line in canvas.wrap_text(text, width - px(30), 12):
            canvas.draw_text((x + px(30), y), line, size=12, colour=desk.palette.dim)
            y += px(18)
        y += px(4)
    return y


def _draw_legend_swatch(desk: ViewContext, box: Box, key: str) -> None:
    surface, palette, scale = desk.canvas.surface, desk.palette, desk.map_view.px_per_unit
    if key == "heat":
        legend_swatches.draw_colour_bar(surface, box, desk.map_view.heat_scale, palette)
    elif key in _TERRAIN_FLAG_BY_LEGEND_KEY:
        legend_swatches.draw_terrain_swatch(surface, box, _TERRAIN_FLAG_BY_LEGEND_KEY[key], palette)
    elif key in _GROUP_NAME_BY_LEGEND_KEY:
        legend_swatches.draw_group_swatch(surface, box, _GROUP_NAME_BY_LEGEND_KEY[key], palette, scale)
    elif key in _MARKERS_BY_LEGEND_KEY:
        legend_swatches.draw_marker_swatch(surface, box, _MARKERS_BY_LEGEND_KEY[key], palette, scale)
    elif key == "numbers":
        legend_swatches.draw_marker_swatch(surface, box, (), palette, scale)
        middle = (box[0] + box[2] // 2, box[1] + box[3] // 2)
        desk.canvas.draw_text(middle, "12", size=10, face="mono", align="centre", middle=True)
    else:
        legend_swatches.draw_layer_swatch(surface, box, LAYER_BY_KEY[key], palette, scale)


_TERRAIN_FLAG_BY_LEGEND_KEY = {f"terrain:{name}": flag for name, (flag, _) in TERRAIN_MEANINGS.items()}
_GROUP_NAME_BY_LEGEND_KEY = {f"groups:{name}": name for name in CELL_GROUP_MEANINGS}
_MARKERS_BY_LEGEND_KEY = {"crowd": ("unit", "unit there", "unit stuck"), "step": ("expansion",)}


def visible_legend_entries(desk: ViewContext) -> list[tuple[str, str]]:
    """Return (key of a layer or mark, meaning) of everything visible on the maps that needs an explanation."""
    heat_count = shown_heat_map_count(desk)
    is_all_heat = heat_count == len(desk.map_view.shown_panels) > 0
    entries = [("heat", _heat_legend_text(desk))] if heat_count else []
    if any(panel.crowd is not None for panel in desk.map_view.shown_panels):
        entries.append(("crowd", CROWD_MEANING))
    if _are_cell_numbers_visible(desk):
        entries.append(("numbers", CELL_NUMBERS_MEANING))
    if desk.player.is_slow_motion:
        entries.append(("step", EXPANSION_MEANING))
    for layer in desk.map_view.agent_layers:
        if not desk.map_view.layer_state.is_layer_on(layer) or (is_all_heat and layer.is_replaced_by_heat):
            continue
        if layer.key == "terrain":
            entries += [] if is_all_heat else _terrain_legend_entries(desk)
        elif layer.key == "groups":
            entries += _group_legend_entries(desk)
        elif layer.is_explained:
            entries.append((layer.key, f"{layer.name}: {layer.legend_text}"))
    return entries


def _terrain_legend_entries(desk: ViewContext) -> list[tuple[str, str]]:
    """Return (key, meaning) of each kind of terrain that occurs on the map."""
    map_flags = terrain_flags_of(desk.map_view.shown_run.world.grid).flags_of_any_cell
    return [(f"terrain:{name}", text) for name, (bit, text) in TERRAIN_MEANINGS.items() if map_flags & bit]


def _group_legend_entries(desk: ViewContext) -> list[tuple[str, str]]:
    """Return (key, meaning) of each group of cells that agents on screen use, even if it is empty in this tick."""
    names = {
        name for panel in desk.map_view.shown_panels if panel.drawn_agent for name in panel.drawn_agent.agent.groups
    }
    return [(f"groups:{name}", text) for name, text in CELL_GROUP_MEANINGS.items() if name in names]


def _are_cell_numbers_visible(desk: ViewContext) -> bool:
    min_zoom = TEXT_FROM_PX * desk.map_view.px_per_unit
    return any(
        desk.map_view.camera_of_panel(panel.key, boxes).zoom >= min_zoom
        for panel, boxes in desk.map_view.panels_with_boxes()
    )


def shown_heat_map_count(desk: ViewContext) -> int:
    """Return the number of panels on screen that show a heat map."""
    return sum(
        desk.map_view.cells[panel.key].heat_bands.size > 0
        for panel in desk.map_view.shown_panels
        if panel.key in desk.map_view.cells
    )


def _heat_legend_text(desk: ViewContext) -> str:
    kind, scale = desk.map_view.layer_state.heat_setting.kind, desk.map_view.heat_scale
    if kind == "difference":
        return "A - B: orange where A has more visits, blue where B has more"
    lines = (
        f"in cells below {HEAT_TRAILS_FROM_PX:.0f} pixels it is not covered by trails, and older back-moves are hidden"
    )
    dot = "; a dot: once" if scale.has_dots_in_lowest_band else ""
    return f"Heat: {HEAT_UNIT_TEXTS[kind]}, from {scale.lowest_label} to {scale.highest_label}{dot}; {lines}"
