"""Export of a panel as an SVG file for papers. Files are small, because all cells of one kind form a single path.

The unit of length on the map is a cell. The layers (ui/draw/layers/) return their own elements; this module adds the
page with its title and legend, the background and walls, and the heat.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from sim.movement import DEFAULT_MOVEMENT
from ui.draw.heat_scale import HeatScale
from ui.draw.kernels import cell_flags as bits
from ui.draw.layer import Layer
from ui.draw.layers import LAYERS_BY_DRAWING_DEPTH, layers_for_agents
from ui.draw.map_colours import heat_band_colour, heat_dot_colour, heat_edge_colour
from ui.draw.panel_content import CellFlags, PanelContent, update_flags_and_heat_of_panels
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import Mask, hex_code_of_colour, rect_attributes, short_decimal_text
from ui.draw.theme import PALETTES, Colour, Palette
from ui.maps.map_renderer import DOT_SHARE
from ui.model import panel_texts
from ui.model.appearance import Appearance
from ui.model.layer_state import HEAT_LONG_NAMES, LayerState, compared_panel_names
from ui.model.panel_keys import PanelKey
from ui.model.run import Panel, Run
from ui.model.trails import Trail

FONT = "Noto Sans, Helvetica, Arial, sans-serif"
PAGE_WIDTH = 800.0  # width of the page, in SVG user units
TITLE_HEIGHT, LEGEND_ROW_HEIGHT = 34.0, 22.0  # heights of the title and of each legend row, in SVG user units
LINES_ACROSS = 260.0  # ratio of the shorter side of the visible map to the width of an ordinary line
MIN_LINE = 0.16  # minimum width of an ordinary line, as a fraction of a cell's side


def panel_svg(
    run: Run, key: PanelKey, appearance: Appearance, *, has_legend: bool = True, has_title: bool = True
) -> str:
    """Return an SVG drawing of one panel.

    Args:
        run: Run to draw.
        key: Panel to draw.
        appearance: Layers, heat, theme and part of the map.
        has_legend: Whether a legend is added below the map.
        has_title: Whether the agent's name and its main numbers are added above the map.

    Returns:
        The text of the SVG file.
    """
    panels = list(run.panels)
    panel = next(panel for panel in panels if panel.key == key)
    contents = [
        PanelContent(CellFlags(), p.snapshot, p.drawn_agent, run.trail_by_panel[p.key], p.crowd) for p in panels
    ]
    shown_index = panels.index(panel)
    compared = run.compared_panel_indices(shown_index)
    scale = update_flags_and_heat_of_panels(contents, appearance.heat_setting, compared)
    names = compared_panel_names(*(panels[index] for index in compared))
    page = _SvgPage(run, panel, contents[shown_index].cells, run.trail_by_panel[key], appearance, scale, names)
    return page.svg_text(has_legend, has_title)


@dataclass
class _SvgPage:
    """Writer of one SVG file: a panel with its title and legend."""

    run: Run
    panel: Panel
    cells: CellFlags
    trail: Trail
    appearance: Appearance
    heat_scale: HeatScale
    compared_panel_names: tuple[str, str]  # names of the panels A (this panel) and B of a heat map A - B

    def __post_init__(self) -> None:
        grid = self.panel.snapshot.grid
        self.width, self.height = grid.width, grid.height
        self.palette: Palette = PALETTES[self.appearance.theme_name]
        self.layer_state: LayerState = self.appearance.layer_state()
        self.walker_view = self.panel.displayed_agent
        part = self.appearance.map_part_for_panel(self.panel.key)
        self.visible_box = (0.0, 0.0, float(self.width), float(self.height))
        if part is not None:
            half = part.cells / 2
            left, top = max(0.0, part.x - half), max(0.0, part.y - half)
            right, bottom = min(self.width, part.x + half), min(self.height, part.y + half)
            if right > left and bottom > top:
                self.visible_box = (left, top, right - left, bottom - top)
        self.svg_painter = SvgPainter(
            self.panel.snapshot,
            self.walker_view,
            self.cells,
            self.trail,
            self.run.recent_edits_of_branch(self.panel.key),
            self.layer_state,
            self.heat_scale,
            self.palette,
            max(MIN_LINE, min(self.visible_box[2], self.visible_box[3]) / LINES_ACROSS),
            self.panel.crowd,
            self.panel.drawn_agent is not None,
        )

    def _visible_layers(self) -> list[Layer]:
        """Return the visible layers in ascending order of depth, without layers that are hidden by heat."""
        has_heat = self.svg_painter.has_heat
        return [
            layer
            for layer in LAYERS_BY_DRAWING_DEPTH
            if self.layer_state.is_layer_on(layer) and not (has_heat and layer.is_replaced_by_heat)
        ]

    # --- the file ---------------------------------------------------------------------------------

    def svg_text(self, has_legend: bool, has_title: bool) -> str:
        width, height = self.visible_box[2:]
        zoom = PAGE_WIDTH / width
        map_top = TITLE_HEIGHT if has_title else 0.0
        map_bottom = map_top + height * zoom
        rows = self._legend_rows(self._legend_entries()) if has_legend else []
        page_height = map_bottom + (LEGEND_ROW_HEIGHT * len(rows) + 8.0 if rows else 0.0)
        transform = (
            f"translate(0 {short_decimal_text(map_top)}) scale({short_decimal_text(zoom)}) translate("
            f"{short_decimal_text(-self.visible_box[0])}"
            f" {short_decimal_text(-self.visible_box[1])})"
        )
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<svg xmlns="http://www.w3.org/2000/svg" version="1.1" stroke="none" '
            f'width="{short_decimal_text(PAGE_WIDTH)}" height="{short_decimal_text(page_height)}" viewBox="0 0 '
            f'{short_decimal_text(PAGE_WIDTH)} {short_decimal_text(page_height)}" font-family="{FONT}">',
            f"<title>{escape(self._document_title())}</title>",
            f"<desc>{escape(self._document_description())}</desc>",
            *self._background_elements(page_height),
            *(self._title_elements() if has_title else ()),
            f'<g transform="{transform}">',
            *self._clip_group_start_tag(),
            *self._map_fill_elements(),
            f'<g transform="translate(.5 .5)" fill="none" stroke-linecap="round" stroke-linejoin="round" '
            f'stroke-width="{short_decimal_text(self.svg_painter.line_width)}">',
            *self._line_and_mark_elements(),
            "</g>",
            "</g>",
            "</g>",
            *self._legend_elements(rows, map_bottom + 6.0),
            "</svg>",
        ]
        return "\n".join(lines) + "\n"

    def _background_elements(self, height: float) -> Iterable[str]:
        """Yield a dark background for the dark theme, whose light text would not be readable on white paper."""
        if self.appearance.theme_name == "dark":
            yield (
                f'<rect {rect_attributes(0.0, 0.0, PAGE_WIDTH, height)} fill="'
                f'{hex_code_of_colour(self.palette.window)}"/>'
            )

    def _clip_group_start_tag(self) -> Iterable[str]:
        """Yield the start tag of the group of all map elements, with a clip path if a part of the map is shown."""
        if self.visible_box == (0.0, 0.0, float(self.width), float(self.height)):
            yield "<g>"  # a clip path is not needed for the whole map, and some simple viewers fail on it
        else:
            yield f'<defs><clipPath id="map"><rect {rect_attributes(*self.visible_box)}/></clipPath></defs>'
            yield '<g clip-path="url(#map)">'

    def _document_title(self) -> str:
        return f"{self.run.scenario.title}: {self.walker_view.label}, tick {self.panel.world.tick:,}"

    def _document_description(self) -> str:
        tick, digest = self.panel.world.tick, self.panel.world.compute_digest()
        movement = self.run.world.grid.movement
        rule = "" if movement == DEFAULT_MOVEMENT else f"{movement.description}, "
        agent = f"{self.walker_view.spec.key}, budget {self.walker_view.budget}"
        return f"Backmove; {agent}, {rule}tick {tick}, digest {digest}"

    def _title_elements(self) -> Iterable[str]:
        ink, metrics = hex_code_of_colour(self.palette.text), self.walker_view.metrics
        numbers = f"tick {self.panel.world.tick:,}, {panel_texts.count_text(metrics.moves)} moves"
        if metrics.suboptimality is not None:
            numbers += f", cost / optimal {panel_texts.ratio_text(metrics.suboptimality)}"
        label = escape(self.walker_view.label)
        yield f'<text x="4" y="22" font-weight="bold" font-size="18" fill="{ink}">{label}</text>'
        yield (
            f'<text x="{short_decimal_text(PAGE_WIDTH - 4)}" y="22" text-anchor="end" font-size="15" fill="{ink}">'
            f"{escape(numbers)}</text>"
        )

    # --- the map ----------------------------------------------------------------------------------

    def _map_fill_elements(self) -> Iterable[str]:
        palette, drawing = self.palette, self.svg_painter
        visible_layers = self._visible_layers()
        yield f'<rect width="{self.width}" height="{self.height}" fill="{hex_code_of_colour(palette.free)}"/>'
        if drawing.has_heat:  # while heat is shown, trees are drawn like walls, both with a thin outline
            yield from self._wall_elements(drawing.flags_by_cell & bits.PASSABLE == 0, heat_edge_colour(palette), 0.4)
            yield from self._heat_fill_elements()
            return
        is_rock = drawing.flags_by_cell & bits.TERRAIN == bits.ROCK
        yield from self._wall_elements(
            is_rock | (drawing.flags_by_cell & self._unfilled_blocked_flags() != 0), palette.wall, 0.6
        )
        for layer in visible_layers:
            yield from self._layer_fill_elements(layer)

    def _wall_elements(self, flat: Mask, edge: Colour, lines: float) -> Iterable[str]:
        """Yield the cells of a mask as walls: in the background colour, with an outline of `lines` line widths."""
        width = short_decimal_text(lines * self.svg_painter.line_width)
        stroke = f' stroke="{hex_code_of_colour(edge)}" stroke-width="{width}"'
        return self.svg_painter.cell_fill_elements(flat, self.palette.outside, stroke)

    def _unfilled_blocked_flags(self) -> int:
        """Return the flags of blocked cells (walls, trees) for which no visible layer has a fill."""
        unfilled_flags = bits.BLOCKED
        for layer in self._visible_layers():
            unfilled_flags &= ~layer.filled_flags
        return unfilled_flags

    def _layer_fill_elements(self, layer: Layer) -> Iterable[str]:
        return layer.svg_fill_elements(self.svg_painter) if layer.svg_fill_elements is not None else ()

    def _heat_fill_elements(self) -> Iterable[str]:
        bands, is_passable = self.cells.heat_bands, self.cells.flags & bits.PASSABLE != 0
        for band in range(1, bits.BANDS + 1 if bands.size else 1):
            colour = heat_band_colour(self.heat_scale, band, self.palette)
            if colour and band == 1 and self.heat_scale.has_dots_in_lowest_band:
                yield from self._dot_elements(
                    (bands == band) & is_passable, heat_dot_colour(self.palette, self.heat_scale)
                )
            elif colour:
                yield from self.svg_painter.cell_fill_elements((bands == band) & is_passable, colour)

    def _dot_elements(self, flat: Mask, colour: Colour) -> Iterable[str]:
        """Yield one path with a small square in the middle of each cell of a mask."""
        corner, side = short_decimal_text(0.5 - DOT_SHARE / 2), short_decimal_text(DOT_SHARE)
        points = (self.svg_painter.point_of_cell(int(cell)) for cell in flat.nonzero()[0])
        data = "".join(f"M{x} {y}m{corner} {corner}h{side}v{side}h-{side}z" for x, y in points)
        if data:
            yield f'<path fill="{hex_code_of_colour(colour)}" d="{data}"/>'

    def _line_and_mark_elements(self) -> Iterable[str]:
        for layer in self._visible_layers():
            if layer.svg_elements is not None:
                yield from layer.svg_elements(self.svg_painter)

    # --- legend -----------------------------------------------------------------------------------

    def _legend_entries(self) -> list[tuple[str, str]]:
        """Return (name, SVG sample) of each visible layer, and of the heat; samples fill a box of 2 x 1 units."""
        visible_layers = self._visible_layers()
        drawn = (
            (layer, layer.svg_swatch)
            for layer in layers_for_agents(
                [self.panel.walker_view.spec] if self.run.followed_walker(self.panel.key) is not None else []
            )
            if layer in visible_layers
        )
        swatches = ((layer.name, swatch(self.svg_painter)) for layer, swatch in drawn if swatch)
        entries = [(name, swatch) for name, swatch in swatches if swatch]
        if self.svg_painter.has_heat:
            entries.append((self._heat_legend_name(), self._heat_swatch()))
        return entries

    def _heat_legend_name(self) -> str:
        """Return the name of the heat in the legend, such as "visits, 1 to 12"."""
        name = (
            " - ".join(self.compared_panel_names)
            if self.heat_scale.is_difference_scale
            else HEAT_LONG_NAMES[self.heat_scale.heat_setting.kind]
        )
        return f"{name}, {self.heat_scale.lowest_label} to {self.heat_scale.highest_label}"

    def _heat_swatch(self) -> str:
        colours = self.heat_scale.band_colours(self.palette)
        step = 2.0 / len(colours)
        return "".join(
            f'<rect x="{short_decimal_text(i * step)}" width="{short_decimal_text(step)}" height="1" fill="'
            f'{hex_code_of_colour(colour)}"/>'
            for i, colour in enumerate(colours)
        )

    def _legend_rows(self, entries: list[tuple[str, str]]) -> list[list[tuple[float, str, str]]]:
        """Return the legend entries split into rows that fit the width of the page, each entry as (x, name, sample)."""
        rows: list[list[tuple[float, str, str]]] = []
        x = PAGE_WIDTH
        for name, drawing in entries:
            width = 46.0 + 7.2 * len(name)  # estimate of the text width, because the viewer's font is unknown
            if x + width > PAGE_WIDTH:
                rows.append([])
                x = 4.0
            rows[-1].append((x, name, drawing))
            x += width
        return rows

    def _legend_elements(self, rows: list[list[tuple[float, str, str]]], top: float) -> Iterable[str]:
        ink = hex_code_of_colour(self.palette.text)
        for number, row in enumerate(rows):
            y = top + LEGEND_ROW_HEIGHT * number
            for x, name, drawing in row:
                yield (
                    f'<g transform="translate({short_decimal_text(x)} {short_decimal_text(y)}) scale(13)">{drawing}</g>'
                )
                yield (
                    f'<text x="{short_decimal_text(x + 32)}" y="{short_decimal_text(y + 11)}" font-size="13" fill="'
                    f'{ink}">'
                    f"{escape(name)}</text>"
                )
