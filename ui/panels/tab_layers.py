"""Sidebar tab with the layers, the heat map and the legend; layers that no agent on screen uses are at the end."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from sim.abstraction import ABSTRACTION_KIND, top_level_number
from ui.draw.layers import LAYERS, Layer
from ui.draw.theme import HEAT_MAPS
from ui.maps import legend_swatches
from ui.model.layer_state import HEAT_KINDS, HEAT_NAMES, compared_panel_names
from ui.model.layout import Box
from ui.panels import command_button, comparison_badges, map_legend
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

HEAT_TOOLTIPS = {
    "off": "No heat map",
    "scrub": "Scrubbing only: how often the agent revisited each cell or made a back-move onto it",
    "visits": "How often the agent visited each cell; a dot: once",
    "expansions": "How often each cell was expanded",
    "learned": "What a learning agent has added to its heuristic: h - h0",
    "g": "Cost of each known cell from the root of the search; D* Lite: cost to the goal. RIBS learns g",
    "depth": "Lookahead depth of the agent: at each cell that it visited, or as its database stores it for each region",
    "difference": "Visits in the focused panel (A) minus visits in B, which is the same agent in the parent branch or "
    "the next panel. Orange: more visits in A, blue: more in B",
}

EMPTY_HEAT_REASONS = {
    "scrub": "There is no agent",
    "visits": "There is no agent",
    "expansions": "No search has started yet",
    "learned": "None of these agents learns",
    "g": "No search has started yet",
    "depth": "No agent here chooses its depth",
    "difference": "There is only one panel",
}
"""Reasons for an empty heat map, by its kind."""

UNUSED_LAYERS_HEADING = "Not used by these agents"

HEAT_HIDDEN_IN_SLOW_MOTION = "Slow motion shows the search instead"
HEAT_UNAVAILABLE_FOR_CROWDS = "Crowds show only visits; click an agent"


def draw_layers_tab(desk: ViewContext, box: Box) -> int:
    """Draw the tab and return the bottom of its content."""
    x, y, width, height = box
    px = desk.canvas.to_px
    heat_height = px(150)
    layers = desk.map_view.agent_layers
    row = min(px(24), max(px(19), (height - heat_height) // (len(layers) + 1)))
    y = _draw_layer_rows(desk, (x, y, width, row), layers) + px(6)
    desk.canvas.draw_horizontal_line(x, y, width)
    y = _draw_heat_map_options(desk, (x, y + px(8), width, heat_height))
    if not desk.is_default_view():
        y = _draw_save_default_view_button(desk, (x, y, width, px(25)))
    y = map_legend.draw_map_legend(desk, (x, y, width, box[1] + height - y))
    return _draw_unused_layers(desk, (x, y + px(6), width, row), [layer for layer in LAYERS if layer not in layers])


def _draw_save_default_view_button(desk: ViewContext, box: Box) -> int:
    """Draw the button that stores the present view as the user's default, and return the top of the next section."""
    command_button.draw_command_button(desk, "keep_view", box, size=12)
    return box[1] + box[3] + desk.canvas.to_px(8)


def _draw_unused_layers(desk: ViewContext, box: Box, layers: Sequence[Layer]) -> int:
    """Draw the layers that do not apply to any agent on screen, and return the bottom of their list."""
    if not layers:
        return box[1]
    canvas, px = desk.canvas, desk.canvas.to_px
    x, y, width, row = box
    canvas.draw_horizontal_line(x, y, width)
    canvas.draw_text((x, y + px(8)), UNUSED_LAYERS_HEADING, size=12, face="bold", colour=desk.palette.dim, width=width)
    return _draw_layer_rows(desk, (x, y + px(30), width, row), layers)


def _draw_layer_rows(desk: ViewContext, first: Box, layers: Iterable[Layer]) -> int:
    """Draw one row per layer and return the bottom of the last row."""
    px = desk.canvas.to_px
    x, y, width, row = first
    for layer in layers:
        _draw_layer_row(desk, (x, y, width, row), layer)
        y += row
        if (
            layer.key == "regions"
            and desk.map_view.layer_state.is_layer_on(layer)
            and (top := highest_abstraction_level(desk))
        ):
            _draw_abstraction_level_slider(desk, (x + px(56), y, width - px(56), row), top)
            y += row
    return y


def _draw_layer_row(desk: ViewContext, box: Box, layer: Layer) -> None:
    canvas = desk.canvas
    x, y, width, height = box
    px, middle = canvas.to_px, y + height // 2
    is_on, command = desk.map_view.layer_state.is_layer_on(layer), f"layer_{layer.key}"
    key = desk.shortcut_of_command(command)
    run = partial(desk.run_command, command)
    canvas.draw_check_box(f"layer:{layer.key}", box, is_on, run, tip=layer.legend_text, command_ids=(command,))
    swatch = (x + px(24), middle - px(7), px(22), px(14))
    legend_swatches.draw_layer_swatch(canvas.surface, swatch, layer, desk.palette, desk.map_view.px_per_unit)
    canvas.draw_text((x + px(53), middle), layer.name, size=14, colour=None if is_on else desk.palette.dim, middle=True)
    canvas.draw_text(
        (x + width, middle), key, size=11, face="mono", colour=desk.palette.dim, align="right", middle=True
    )


def highest_abstraction_level(desk: ViewContext) -> int:
    """Return the highest abstraction level of all agents on screen; 0 if no agent has an abstraction."""
    prepared = (data for panel in desk.map_view.shown_panels for data in panel.walker_view.agent.prepared)
    return max((top_level_number(data.tables) for data in prepared if data.kind == ABSTRACTION_KIND), default=0)


def _draw_abstraction_level_slider(desk: ViewContext, box: Box, top: int) -> None:
    """Draw the slider for the abstraction level whose regions are drawn: each agent's own level, or one for all."""
    canvas, px = desk.canvas, desk.canvas.to_px
    x, y, width, height = box
    level = min(desk.map_view.layer_state.region_level, top)

    def choose(chosen: int) -> None:
        desk.map_view.layer_state.region_level = max(0, min(top, chosen))

    text = f"level {level}" if level else "agent's level"
    text_width = px(84)
    canvas.draw_text((x, y + height // 2), text, size=12, colour=desk.palette.dim, middle=True, width=text_width)
    canvas.draw_slider(
        "region_level",
        (x + text_width, y, width - text_width, height),
        level / top,
        lambda share: choose(round(share * top)),
        lambda steps: choose(level + steps),
        "Abstraction level whose regions are drawn; at the left end, the level on which the agent works",
    )


def _draw_heat_map_options(desk: ViewContext, box: Box) -> int:
    """Draw the choice of heat maps, their options and the colour bar, and return the top of the next section."""
    canvas = desk.canvas
    x, y, width, _ = box
    px = canvas.to_px
    heat = desk.map_view.layer_state.heat_setting
    canvas.draw_text((x, y), "Heat", size=12, face="bold", colour=desk.palette.dim)
    _draw_heat_scale_and_colours(desk, x, y, width)
    y += px(22)
    options = [(kind, HEAT_NAMES[kind], HEAT_TOOLTIPS[kind]) for kind in HEAT_KINDS]
    y = canvas.draw_segmented_control(
        "heat", (x, y, width, px(25)), options, heat.kind, desk.map_view.layer_state.set_heat_kind
    ) + px(8)
    if heat.kind == "off":
        return y + px(2)
    if not map_legend.shown_heat_map_count(desk):
        canvas.draw_text((x, y), _empty_heat_reason(desk, heat.kind), size=12, colour=desk.palette.dim, width=width)
        return y + px(26)
    _draw_heat_colour_bar(desk, (x, y, width, px(12)))
    y += px(38)
    if heat.kind == "difference":
        _draw_compared_names(desk, (x, y, width, px(16)))
        y += px(22)
    return y + px(6)


def _empty_heat_reason(desk: ViewContext, kind: str) -> str:
    """Return the reason why no panel shows a heat map although one is chosen."""
    if desk.map_view.is_heat_hidden:
        return HEAT_HIDDEN_IN_SLOW_MOTION
    has_crowd = any(panel.crowd is not None for panel in desk.map_view.shown_panels)
    return HEAT_UNAVAILABLE_FOR_CROWDS if has_crowd else EMPTY_HEAT_REASONS[kind]


def _draw_heat_scale_and_colours(desk: ViewContext, x: int, y: int, width: int) -> None:
    """Draw the heat map's scale (linear or log) and the name of its colours; a click on either switches to the next."""
    canvas = desk.canvas
    heat = desk.map_view.layer_state.heat_setting
    right = x + width
    for command, text in (("heat_scale", "log" if heat.is_log else "linear"), ("heat_colours", heat.colour_map)):
        text_width = canvas.text_width(text, 12)
        region_box = (right - text_width, y - canvas.to_px(2), text_width, canvas.to_px(18))
        is_hovered = canvas.add_hit_region(
            HitRegion(command, region_box, partial(desk.run_command, command), command_ids=(command,))
        )
        canvas.draw_text(
            (right, y), text, size=12, colour=desk.palette.text if is_hovered else desk.palette.accent, align="right"
        )
        right -= text_width + canvas.to_px(12)


def _draw_heat_colour_bar(desk: ViewContext, box: Box) -> None:
    """Draw the heat map's colour bands with the values of the first and last band; all panels share the scale."""
    canvas, scale = desk.canvas, desk.map_view.heat_scale
    x, y, width, height = box
    colours = scale.band_colours(desk.palette)
    count = len(colours)
    for i, (colour, label) in enumerate(zip(colours, scale.band_labels, strict=True)):
        left, right = x + i * width // count, x + (i + 1) * width // count
        canvas.fill_box((left, y, right - left, height), colour)
        canvas.add_hit_region(HitRegion(f"band:{i}", (left, y, right - left, height), None, label))
    label_y = y + height + canvas.to_px(4)
    canvas.draw_text((x, label_y), scale.lowest_label, size=12, face="mono", colour=desk.palette.dim)
    canvas.draw_text(
        (x + width, label_y), scale.highest_label, size=12, face="mono", colour=desk.palette.dim, align="right"
    )
    canvas.draw_text(
        (x + width // 2, label_y),
        map_legend.HEAT_UNIT_TEXTS[desk.map_view.layer_state.heat_setting.kind],
        size=12,
        colour=desk.palette.dim,
        align="centre",
    )


def _draw_compared_names(desk: ViewContext, box: Box) -> None:
    """Draw the names of the panels A and B, each to the right of its badge.

    If one name is short, the other name gets the remaining width.
    """
    canvas, px = desk.canvas, desk.canvas.to_px
    x, y, width, height = box
    names = compared_panel_names(*desk.map_view.compared_panels())
    minus = " - "
    names_width = width - 2 * (height + px(5)) - canvas.text_width(minus, 12)
    name_widths = [canvas.text_width(name, 12) for name in names]
    canvas.add_hit_region(
        HitRegion("compared", box, None, f"Orange: more visits by {names[0]}. Blue: more by {names[1]}")
    )
    for letter, name, other in zip("AB", names, reversed(name_widths), strict=True):
        comparison_badges.draw_comparison_badge(canvas, (x, y, height, height), letter)
        x += height + px(5)
        x += canvas.draw_text(
            (x, y + height // 2), name, size=12, width=max(names_width // 2, names_width - other), middle=True
        )
        if letter == "A":
            x += canvas.draw_text((x, y + height // 2), minus, size=12, colour=desk.palette.dim, middle=True)


def show_next_heat_map(desk: ViewContext) -> None:
    """Show the next kind of heat map in all panels, or no heat map after the last kind."""
    kinds = list(HEAT_KINDS)
    desk.map_view.layer_state.set_heat_kind(
        kinds[(kinds.index(desk.map_view.layer_state.heat_setting.kind) + 1) % len(kinds)]
    )


def use_next_heat_colours(desk: ViewContext) -> None:
    """Show heat maps in the next of the available sets of colours."""
    names = HEAT_MAPS
    after = names[(names.index(desk.map_view.layer_state.heat_setting.colour_map) + 1) % len(names)]
    desk.map_view.layer_state.heat_setting = replace(desk.map_view.layer_state.heat_setting, colour_map=after)
