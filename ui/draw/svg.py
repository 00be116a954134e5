"""A panel as an SVG drawing for papers: sharp at any size, and small, because what belongs together is one path.

On the map the unit is a cell. Walls and other fills are outlines around all cells of a kind, not rectangles: no seams
between neighbours in any viewer, and a tenth of the bytes. Lines go through the middles of cells, straight runs in one
piece, each stretch once however often the agent walked it. No pygame here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from sim.kernels import log
from sim.kernels.octile import DX, DY, NOWHERE
from sim.world import WalkerView
from ui.draw.cells import CellWords, HeatScale, Shown, update_all
from ui.draw.kernels import cellwords as bits
from ui.draw.map_colours import band_colour, detour_colour, group_colours
from ui.draw.theme import PALETTES, Colour, Palette
from ui.model import wording
from ui.model.layers import HEAT_NAMES, LAYER_BY_KEY, REPLACED_BY_HEAT, LayerState, compared_names
from ui.model.look import Look
from ui.model.session import Panel, Session
from ui.model.trails import Trail

Cells = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

FONT = "Noto Sans, Helvetica, Arial, sans-serif"
PAGE = 800.0  # width of the drawing
TITLE_HEIGHT, LEGEND_ROW = 34.0, 22.0
LINES_ACROSS = 260.0  # so many line widths make the shorter side of the drawing
LEAST_LINE = 0.16  # of a cell
TINT = 0.43  # how much of a colour shows where it is laid over others
_FILLS = ("closed", "open", "detour", "groups")
_LEGEND_LAYERS = (*_FILLS, "tracing", "path", "trail", "back_moves", "tree", "best", "edits")


def panel_svg(session: Session, panel_key: int, look: Look, *, has_legend: bool = True, has_title: bool = True) -> str:
    """The drawing of one panel, with the layers, theme and map part of a look."""
    panels = list(session.panels)
    panel = next(panel for panel in panels if panel.key == panel_key)
    shown = [Shown(CellWords(), p.snapshot, p.view, session.trails[p.key]) for p in panels]
    here = panels.index(panel)
    compared = session.compared(here)
    scale = update_all(shown, look.heat, compared)
    names = compared_names(*(panels[place] for place in compared))
    drawing = _Drawing(session, panel, shown[here].cells, session.trails[panel_key], look, scale, names)
    return drawing.text(has_legend, has_title)


# --- shapes of cells ------------------------------------------------------------------------------


def outline_path(mask: Mask) -> str:
    """The outlines around all set cells of a mask [row, column], as path data to be filled by the even-odd rule."""
    across, down = _edges(mask), _edges(mask.T)
    # Along rows the inside lies to the right of the way, along columns to its left: turned round, they join up.
    next_across = _by_start((x0, y, x1, y) if right else (x1, y, x0, y) for y, x0, x1, right in across)
    next_down = _by_start((x, y1, x, y0) if right else (x, y0, x, y1) for x, y0, y1, right in down)
    parts = []
    while next_across:
        start = next(iter(next_across))
        parts.append(_loop(start, next_across, next_down))
    return "".join(parts)


def _edges(mask: Mask) -> list[tuple[int, int, int, bool]]:
    """The straight stretches of border along rows: (row line, from, to, whether the inside lies below)."""
    height, width = mask.shape
    padded = np.zeros((height + 2, width), np.int8)
    padded[1:-1] = mask
    change = np.diff(padded, axis=0)  # 1: the inside begins below this line, -1: it ends above
    found = []
    for kind in (1, -1):
        hits = np.zeros((height + 1, width + 2), np.int8)
        hits[:, 1:-1] = change == kind
        turns = np.diff(hits, axis=1)
        starts, ends = np.argwhere(turns == 1), np.argwhere(turns == -1)
        found += [(int(y), int(x0), int(x1), kind == 1) for (y, x0), (_, x1) in zip(starts, ends, strict=True)]
    return found


Point = tuple[int, int]


def _by_start(edges: Iterable[tuple[int, int, int, int]]) -> dict[Point, list[Point]]:
    """Where each stretch ends, by where it starts; two start at a corner where cells touch."""
    found: dict[Point, list[Point]] = {}
    for x0, y0, x1, y1 in edges:
        found.setdefault((x0, y0), []).append((x1, y1))
    return found


def _loop(start: Point, next_across: dict[Point, list[Point]], next_down: dict[Point, list[Point]]) -> str:
    """One closed outline; takes its stretches out of the tables."""
    parts = [f"M{start[0]} {start[1]}"]
    here = start
    while True:
        x, y = _take(next_across, here)
        parts.append(f"h{x - here[0]}")
        here = _take(next_down, (x, y))
        if here == start:
            break
        parts.append(f"v{here[1] - y}")
    return "".join(parts) + "z"


def _take(table: dict[Point, list[Point]], start: Point) -> Point:
    ends = table[start]
    end = ends.pop()
    if not ends:
        del table[start]
    return end


# --- lines ----------------------------------------------------------------------------------------


def line_path(points: Sequence[Point]) -> str:
    """A line through neighbouring cells, straight runs in one piece."""
    if len(points) < 2:
        return ""
    parts = [f"M{points[0][0]} {points[0][1]}"]
    run_x = run_y = 0
    last = (0, 0)
    for (x0, y0), (x1, y1) in pairwise(points):
        step = (x1 - x0, y1 - y0)
        if step == last or last == (0, 0):
            run_x, run_y = run_x + step[0], run_y + step[1]
        else:
            parts.append(_piece(run_x, run_y))
            run_x, run_y = step
        last = step if step != (0, 0) else last
    return "".join([*parts, _piece(run_x, run_y)])


def _piece(dx: int, dy: int) -> str:
    if dy == 0:
        return f"h{dx}" if dx else ""
    return f"v{dy}" if dx == 0 else f"l{dx} {dy}"


def walked_lines(trail: Trail, width: int) -> list[list[Point]]:
    """The ways of an agent without its back-moves: every stretch once, in lines as long as they go."""
    cells, marks = trail.cells.tolist(), trail.marks.tolist()
    seen: set[tuple[int, int]] = set()
    lines: list[list[Point]] = []
    open_line: list[Point] = []
    for before, now, mark in zip(cells, cells[1:], marks[1:], strict=False):
        edge = (min(before, now), max(before, now))
        is_new = before != now and not mark & (log.BACK_MOVE | log.TRIAL) and edge not in seen
        if is_new:
            seen.add(edge)
            here = (before % width, before // width)
            if not open_line or open_line[-1] != here:
                open_line = [here]
                lines.append(open_line)
            open_line.append((now % width, now // width))
    return lines


def back_runs(trail: Trail, width: int) -> list[tuple[Point, Point]]:
    """The back-moves as straight runs (from, to), each stretch once."""
    cells, marks = trail.cells.tolist(), trail.marks.tolist()
    seen: set[tuple[int, int]] = set()
    runs: list[tuple[Point, Point]] = []
    for before, now, mark in zip(cells, cells[1:], marks[1:], strict=False):
        if before == now or not mark & log.BACK_MOVE or (before, now) in seen:
            continue
        seen.add((before, now))
        here, there = (before % width, before // width), (now % width, now // width)
        if runs and runs[-1][1] == here and _way(*runs[-1]) == _way(here, there):
            runs[-1] = (runs[-1][0], there)
        else:
            runs.append((here, there))
    return runs


def _way(a: Point, b: Point) -> Point:
    return int(np.sign(b[0] - a[0])), int(np.sign(b[1] - a[1]))


# --- the drawing ----------------------------------------------------------------------------------


@dataclass
class _Drawing:
    session: Session
    panel: Panel
    cells: CellWords
    trail: Trail
    look: Look
    scale: HeatScale
    compared: tuple[str, str]  # names of the panels A, which is this one, and B of a heat map A - B

    def __post_init__(self) -> None:
        grid = self.panel.snapshot.grid
        self.width, self.height = grid.width, grid.height
        self.palette: Palette = PALETTES[self.look.theme]
        self.layers: LayerState = self.look.layer_state()
        self.view: WalkerView = self.panel.view
        part = self.look.part_for(self.panel.key)
        self.box = (0.0, 0.0, float(self.width), float(self.height))
        if part is not None:
            half = part.cells / 2
            left, top = max(0.0, part.x - half), max(0.0, part.y - half)
            right, bottom = min(self.width, part.x + half), min(self.height, part.y + half)
            if right > left and bottom > top:
                self.box = (left, top, right - left, bottom - top)
        self.line = max(LEAST_LINE, min(self.box[2], self.box[3]) / LINES_ACROSS)

    def shows(self, layer: str) -> bool:
        return self.layers.visible[layer]

    # --- the file ---------------------------------------------------------------------------------

    def text(self, has_legend: bool, has_title: bool) -> str:
        width, height = self.box[2:]
        zoom = PAGE / width
        above = TITLE_HEIGHT if has_title else 0.0
        below = above + height * zoom
        rows = self._legend_rows(self._legend()) if has_legend else []
        whole = below + (LEGEND_ROW * len(rows) + 8.0 if rows else 0.0)
        place = f"translate(0 {_n(above)}) scale({_n(zoom)}) translate({_n(-self.box[0])} {_n(-self.box[1])})"
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<svg xmlns="http://www.w3.org/2000/svg" version="1.1" stroke="none" '
            f'width="{_n(PAGE)}" height="{_n(whole)}" viewBox="0 0 {_n(PAGE)} {_n(whole)}" font-family="{FONT}">',
            f"<title>{escape(self._name())}</title>",
            f"<desc>{escape(self._description())}</desc>",
            *self._ground(whole),
            *(self._title() if has_title else ()),
            f'<g transform="{place}">',
            *self._clip(),
            *self._fills(),
            f'<g transform="translate(.5 .5)" fill="none" stroke-linecap="round" stroke-linejoin="round" '
            f'stroke-width="{_n(self.line)}">',
            *self._lines(),
            *self._marks(),
            "</g>",
            "</g>",
            "</g>",
            *self._drawn_legend(rows, below + 6.0),
            "</svg>",
        ]
        return "\n".join(lines) + "\n"

    def _ground(self, height: float) -> Iterable[str]:
        """Texts stand beside the map, on whatever the paper is; light ones need a dark ground."""
        if self.look.theme == "dark":
            yield f'<rect {_box(0.0, 0.0, PAGE, height)} fill="{_hex(self.palette.window)}"/>'

    def _clip(self) -> Iterable[str]:
        """The group of everything on the map; cut off at the edges where only a part of the map is shown."""
        if self.box == (0.0, 0.0, float(self.width), float(self.height)):
            yield "<g>"  # simple viewers stumble over a clip
        else:
            yield f'<defs><clipPath id="map"><rect {_box(*self.box)}/></clipPath></defs>'
            yield '<g clip-path="url(#map)">'

    def _name(self) -> str:
        return f"{self.session.setup.title}: {self.view.label}, tick {self.session.tick:,}"

    def _description(self) -> str:
        digest = self.session.world.digest()
        return f"Backmove; {self.view.spec.key}, budget {self.view.budget}, tick {self.session.tick}, digest {digest}"

    def _title(self) -> Iterable[str]:
        ink, metrics = _hex(self.palette.text), self.view.metrics
        numbers = f"tick {self.session.tick:,}, {wording.whole(metrics.moves)} moves"
        if metrics.suboptimality is not None:
            numbers += f", {wording.ratio(metrics.suboptimality)} x optimal"
        yield f'<text x="4" y="22" font-weight="bold" font-size="18" fill="{ink}">{escape(self.view.label)}</text>'
        yield (
            f'<text x="{_n(PAGE - 4)}" y="22" text-anchor="end" font-size="15" fill="{ink}">{escape(numbers)}</text>'
        )

    # --- fills ------------------------------------------------------------------------------------

    def _fills(self) -> Iterable[str]:
        palette, words = self.palette, self.cells.words
        yield f'<rect width="{self.width}" height="{self.height}" fill="{_hex(palette.free)}"/>'
        yield from self._fill(words & bits.TERRAIN == bits.ROCK, palette.rock)
        if self.shows("terrain"):
            for bit, colour in ((bits.SWAMP, palette.swamp), (bits.WATER, palette.water), (bits.TREES, palette.trees)):
                yield from self._fill(words & bit != 0, colour)
        solid = bits.WALL if self.shows("terrain") else bits.BLOCKED
        yield from self._fill(words & solid != 0, palette.wall)
        yield from self._known(words)
        if self.shows("groups"):
            yield from self._groups()

    def _known(self, words: npt.NDArray[np.uint8]) -> Iterable[str]:
        """What the search knows, or the heat in its place."""
        palette, bands = self.palette, self.cells.bands
        if bands.size:
            for band in range(1, bits.BANDS + 1):
                colour = band_colour(self.scale, band)
                if colour:
                    yield from self._fill((bands == band) & (words & bits.PASSABLE != 0), colour)
        elif self.shows("closed"):
            yield from self._fill(words & bits.CLOSED != 0, palette.closed)
        if self.shows("detour") and not bands.size:
            yield from self._fill(words & bits.DETOUR != 0, detour_colour(palette))
        if self.shows("open"):
            yield from self._fill(words & bits.OPEN != 0, palette.open)

    def _groups(self) -> Iterable[str]:
        """The cells that an algorithm sets apart, tinted."""
        colours = group_colours(self.palette)
        for name, cells in self.view.agent.groups.items():
            mask = np.zeros(self.cells.words.size, np.bool_)
            mask[cells] = True
            yield from self._fill(mask, colours[name], f' fill-opacity="{_n(TINT)}"')

    def _fill(self, flat: Mask, colour: Colour, more: str = "") -> Iterable[str]:
        data = outline_path(flat.reshape(self.height, self.width))
        if data:
            yield f'<path fill="{_hex(colour)}" fill-rule="evenodd"{more} d="{data}"/>'

    # --- lines ------------------------------------------------------------------------------------

    def _points(self, cells: Cells) -> list[Point]:
        return [(int(cell) % self.width, int(cell) // self.width) for cell in cells]

    def _lines(self) -> Iterable[str]:
        palette, agent = self.palette, self.view.agent
        if self.shows("tree"):
            yield from self._tree()
        if self.shows("trail"):
            data = "".join(line_path(line) for line in walked_lines(self.trail, self.width))
            yield from self._cased(data, palette.trail, 1.0)
        if self.shows("back_moves"):
            yield from self._cased(self._back_moves(), palette.back_move, 1.0)
        if self.shows("path") and agent.path.size > 1:
            walked, ahead = agent.path[: agent.head + 1], agent.path[agent.head :]
            yield from self._cased(line_path(self._points(walked)), palette.path, 1.0)
            yield from self._cased(line_path(self._points(ahead)), palette.path, 2.0)
        if self.shows("tracing") and agent.tracing.size > 1:
            dashes = f' stroke-dasharray="{_n(4 * self.line)} {_n(3 * self.line)}" stroke-linecap="butt"'
            yield from self._cased(line_path(self._points(agent.tracing)), palette.tracing, 1.5, dashes)

    def _cased(self, data: str, colour: Colour, width: float, more: str = "") -> Iterable[str]:
        """A line in its colour, on a wider one that sets it off from any background."""
        if data:
            casing = self.palette.casing_dark if _is_light(colour) else self.palette.casing_light
            wide, narrow = _n((width + 0.9) * self.line), _n(width * self.line)
            yield f'<path stroke="{_hex(casing)}" stroke-width="{wide}"{more} d="{data}"/>'
            yield f'<path stroke="{_hex(colour)}" stroke-width="{narrow}"{more} d="{data}"/>'

    def _back_moves(self) -> str:
        """Each run beside the way out, to its right, with a head where it leads."""
        parts = []
        aside, arm = 0.28, max(0.22, 2.2 * self.line)
        for (ax, ay), (bx, by) in back_runs(self.trail, self.width):
            wx, wy = _way((ax, ay), (bx, by))
            length = (wx * wx + wy * wy) ** 0.5
            ox, oy = -wy / length * aside, wx / length * aside
            ux, uy = wx / length, wy / length
            x, y = bx + ox - ux * 0.2, by + oy - uy * 0.2
            parts.append(f"M{_n(ax + ox + ux * 0.2)} {_n(ay + oy + uy * 0.2)}L{_n(x)} {_n(y)}")
            for side in (1.0, -1.0):
                tip_x, tip_y = x - (ux - side * uy) * arm * 0.7, y - (uy + side * ux) * arm * 0.7
                parts.append(f"M{_n(x)} {_n(y)}L{_n(tip_x)} {_n(tip_y)}")
        return "".join(parts)

    def _tree(self) -> Iterable[str]:
        search = self.view.agent.search
        if search is None:
            return
        nodes, number = search.nodes, int(search.control[0]["search"])
        known = np.flatnonzero((nodes["search"] == number) & (nodes["came"] != NOWHERE))
        parts = []
        for cell in known.tolist():
            way = int(nodes[cell]["came"])
            parts.append(f"M{cell % self.width} {cell // self.width}{_piece(-int(DX[way]), -int(DY[way]))}")
        if parts:
            colour, width = _hex(self.palette.tree), _n(0.5 * self.line)
            yield f'<path stroke="{colour}" stroke-width="{width}" d="{"".join(parts)}"/>'

    # --- markers ----------------------------------------------------------------------------------

    def _marks(self) -> Iterable[str]:
        snapshot, agent = self.panel.snapshot, self.view.agent
        if self.shows("edits"):
            yield from self._edits()
        size = max(0.34, 3.2 * self.line)
        if self.shows("best") and agent.best >= 0:
            x, y = self._xy(agent.best)
            r = size * 0.8
            data = f"M{_n(x - r)} {y}L{x} {_n(y - r)}L{_n(x + r)} {y}L{x} {_n(y + r)}z"
            yield f'<path fill="{_hex(self.palette.best)}" stroke="{self._around(self.palette.best)}" d="{data}"/>'
        if self.shows("ends"):
            yield from self._ends(self._xy(snapshot.start), self._xy(snapshot.goal), size)
        if self.shows("agent"):
            x, y = self._xy(self.view.position)
            fill, edge = _hex(self.palette.agent), _hex(self.palette.casing_dark)
            yield f'<circle cx="{x}" cy="{y}" r="{_n(size * 1.05)}" fill="{fill}" stroke="{edge}"/>'

    def _ends(self, start: Point, goal: Point, size: float) -> Iterable[str]:
        ink, around = _hex(self.palette.path), self._around(self.palette.path)
        (sx, sy), (gx, gy) = start, goal
        for colour, width in ((around, 2.4), (ink, 1.2)):
            stroke = f'stroke="{colour}" stroke-width="{_n(width * self.line)}"'
            yield f"<rect {_box(sx - size, sy - size, 2 * size, 2 * size)} {stroke}/>"
            yield f'<circle cx="{gx}" cy="{gy}" r="{_n(size * 1.25)}" {stroke}/>'
        yield f'<circle cx="{gx}" cy="{gy}" r="{_n(size * 0.45)}" fill="{ink}" stroke="{around}"/>'

    def _edits(self) -> Iterable[str]:
        crosses, squares = [], []
        for cell, (_, is_blocked) in self.session.shown_edits(self.panel.key).items():
            x, y = self._xy(cell)
            if is_blocked:
                crosses.append(f"M{_n(x - 0.3)} {_n(y - 0.3)}l.6 .6m-.6 0l.6-.6")
            else:
                squares.append(f"M{_n(x - 0.3)} {_n(y - 0.3)}h.6v.6h-.6z")
        yield from self._cased("".join(crosses), self.palette.text, 0.8)
        yield from self._cased("".join(squares), self.palette.text, 0.8)

    def _xy(self, cell: int) -> Point:
        return cell % self.width, cell // self.width

    def _around(self, colour: Colour) -> str:
        return _hex(self.palette.casing_dark if _is_light(colour) else self.palette.casing_light)

    # --- legend -----------------------------------------------------------------------------------

    def _legend(self) -> list[tuple[str, str]]:
        """(name, drawing in a box of 2 x 1 units at the origin) of the layers that are on."""
        entries = []
        for key in _LEGEND_LAYERS:
            is_hidden = self.cells.bands.size and key in REPLACED_BY_HEAT
            if self.shows(key) and not is_hidden and (key != "groups" or self.view.agent.groups):
                entries.append((LAYER_BY_KEY[key].name, self._swatch(key)))
        if self.cells.bands.size:
            entries.append((self._heat_name(), self._heat_swatch()))
        return entries

    def _heat_name(self) -> str:
        name = " - ".join(self.compared) if self.scale.is_difference else HEAT_NAMES[self.scale.setting.kind]
        return f"{name}, {self.scale.lowest} to {self.scale.highest}"

    def _swatch(self, key: str) -> str:
        palette = self.palette
        fills = {"closed": palette.closed, "open": palette.open, "detour": detour_colour(palette)}
        if key in fills:
            return f'<rect width="2" height="1" fill="{_hex(fills[key])}"/>'
        if key == "groups":
            tint = f'fill="{_hex(palette.agent)}" fill-opacity="{_n(TINT)}"'
            return f'<rect width="2" height="1" fill="{_hex(palette.free)}"/><rect width="2" height="1" {tint}/>'
        if key == "best":
            edge = f'stroke="{self._around(palette.best)}" stroke-width=".08"'
            return f'<path d="M.6 .5L1 .1L1.4 .5L1 .9z" fill="{_hex(palette.best)}" {edge}/>'
        if key == "edits":
            ink = f'fill="none" stroke="{_hex(palette.text)}" stroke-width=".12"'
            return f'<path d="M.2 .2l.6 .6m-.6 0l.6-.6M1.2 .2h.6v.6h-.6z" {ink}/>'
        lines = {"trail": palette.trail, "path": palette.path, "tracing": palette.tracing, "tree": palette.tree}
        colour = lines.get(key, palette.back_move)
        dashes = ' stroke-dasharray=".4 .25"' if key == "tracing" else ""
        data = "M2 .5H.1M.5 .2L.1 .5L.5 .8" if key == "back_moves" else "M0 .5H2"
        width = ".3" if key == "path" else ".16"
        return f'<path d="{data}" fill="none" stroke="{_hex(colour)}" stroke-width="{width}"{dashes}/>'

    def _heat_swatch(self) -> str:
        colours = self.scale.colours
        step = 2.0 / len(colours)
        return "".join(
            f'<rect x="{_n(i * step)}" width="{_n(step)}" height="1" fill="{_hex(colour)}"/>'
            for i, colour in enumerate(colours)
        )

    def _legend_rows(self, entries: list[tuple[str, str]]) -> list[list[tuple[float, str, str]]]:
        """Rows of (place, name, drawing), as many as it takes."""
        rows: list[list[tuple[float, str, str]]] = []
        x = PAGE
        for name, drawing in entries:
            width = 46.0 + 7.2 * len(name)  # of an average sans-serif; a viewer may have another font
            if x + width > PAGE:
                rows.append([])
                x = 4.0
            rows[-1].append((x, name, drawing))
            x += width
        return rows

    def _drawn_legend(self, rows: list[list[tuple[float, str, str]]], top: float) -> Iterable[str]:
        ink = _hex(self.palette.text)
        for number, row in enumerate(rows):
            y = top + LEGEND_ROW * number
            for x, name, drawing in row:
                yield f'<g transform="translate({_n(x)} {_n(y)}) scale(13)">{drawing}</g>'
                yield f'<text x="{_n(x + 32)}" y="{_n(y + 11)}" font-size="13" fill="{ink}">{escape(name)}</text>'


def _n(value: float) -> str:
    """A number with three digits after the point at most, without what it does not need."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    if text in ("-0", ""):
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'


def _is_light(colour: Colour) -> bool:
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue > 110
