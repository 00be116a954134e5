"""The stage: a run drawn to a surface of its own, of a fixed size, for videos and pictures.

It draws with the window's own code, but for nobody's mouse, keyboard, focus or clock: what it shows depends on the
run, the look and the size alone. So the window and a command without one make the same pictures, pixel by pixel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pygame

from sim.world import WalkerView
from ui import layout, legend
from ui.app import App
from ui.camera import Camera
from ui.canvas import Canvas
from ui.clock import SPEEDS
from ui.layers import HEAT_NAMES, LAYERS
from ui.layout import Box, Layout, PanelBoxes
from ui.look import Look
from ui.panels import agent_panel, overlay, sidebar, top_bar, transport
from ui.session import Session
from ui.settings import Settings
from ui.theme import PALETTES

WINDOW, PANELS = "window", "panels"

USUAL_SIZE = {WINDOW: (1280, 720), PANELS: (1280, 720), "panel": (720, 540)}
"""At these sizes texts are as large as in a window at 100 %."""

LEAST_SCALE, MOST_SCALE = 0.75, 4.0

TITLE_HEIGHT = 38
NAME_HEIGHT = 30
LEGEND_ROW = 22
SMALLEST_WITH_TITLE = (260, 220)  # design units; a smaller picture is all map
SMALLEST_WITH_LEGEND = (420, 360)
MOST_LEGEND_ROWS = 2
MOST_CAPTIONS = 3
_NOT_IN_LEGEND = ("terrain", "grid")  # they show what they are


@dataclass(frozen=True)
class Part:
    """What of the window is drawn: all of it, the panels, or one panel (counted from 1)."""

    kind: str
    number: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind in (WINDOW, PANELS) else f"panel:{self.number}"


def scale_for(size: tuple[int, int], part: Part) -> float:
    """The size of texts and lines that suits a picture: in steps of an eighth, so that shapes stay clean."""
    usual = USUAL_SIZE[part.kind]
    fitting = min(size[0] / usual[0], size[1] / usual[1])
    return min(MOST_SCALE, max(LEAST_SCALE, round(fitting * 8) / 8))


class FrameClock:
    """What the window's clock is to a picture: agents stand where the frame wants them."""

    is_running = True
    ticks_per_second = 30.0

    def __init__(self) -> None:
        self.fraction = 1.0


class Painter(App):
    """The window's drawing without the window: one session, drawn to the whole of a surface."""

    is_picture = True  # buttons that only a mouse could use are left out

    def __init__(self, session: Session, surface: pygame.Surface, look: Look, part: Part, scale: float) -> None:
        self.part = part
        self._own_scale = scale
        self.area: Box | None = None  # where the panels stand; None: the layout of the window
        super().__init__(session, Settings(theme=look.theme, ui_scale=scale), surface)
        self.clock = FrameClock()  # type: ignore[assignment]
        self.canvas.takes_mouse = False
        self.wear(look)

    def _rebuild(self) -> None:
        """There are no widgets in a picture."""
        self.renderer.ui_scale = self.scale

    def wear(self, look: Look) -> None:
        """Draw with this look from now on."""
        self.look = look
        self.settings.theme = look.theme
        self.palette = PALETTES[look.theme]
        self.settings.shows_sidebar = look.tab is not None
        self.settings.sidebar_tab = look.tab or self.settings.sidebar_tab
        self.layers = look.layer_state()
        self.speed = min(SPEEDS, key=lambda speed: abs(speed - look.speed)) if look.speed else look.speed
        self.is_maximised = False

    # --- what is shown ----------------------------------------------------------------------------

    @property
    def shown_walkers(self) -> tuple[WalkerView, ...]:
        views = self._in_order()
        if self.part.kind == WINDOW:
            only = tuple(view for view in views if view.id == self.look.only)
            return only or views[:8]
        if self.part.kind == PANELS:
            return views[:8]
        return views[self.part.number - 1 : self.part.number]

    def _in_order(self) -> tuple[WalkerView, ...]:
        """The agents in the order of their panels; those that joined later come last."""
        places = {agent: i for i, agent in enumerate(self.look.order)}
        return tuple(sorted(self.session.snapshot.walkers, key=lambda view: places.get(view.id, len(places))))

    @property
    def layout(self) -> Layout:
        if self.area is None:
            return super().layout
        return _panels_in(self.area, self.window_size, self.scale, len(self.shown_walkers))

    def camera(self, agent_id: int, boxes: PanelBoxes) -> Camera:
        grid = self.session.world.grid
        size = (boxes.map[2], boxes.map[3])
        part = self.look.part_for(agent_id)
        camera = part.camera(size) if part else self.cameras.of(agent_id, size, (grid.width, grid.height))
        if self.look.follows and (walker := self.session.world.walker(agent_id)):
            x, y = grid.xy(walker.position)
            camera = camera.centred_on(x + 0.5, y + 0.5, *size)
        return camera

    def mode_word(self) -> str:
        return "finished" if self.session.is_over and self.session.tick else "running"

    # --- drawing ----------------------------------------------------------------------------------

    def begin_picture(self) -> None:
        self.canvas.begin(self.window, self.palette, self.scale, (-1, -1))
        self.window.fill(self.palette.window)
        self._refresh_cells()

    def draw_panels(self) -> None:
        views = self.session.snapshot.walkers
        colours = {view.id: i for i, view in enumerate(self._in_order())}
        for view, boxes in self.panels():
            agent_panel.draw_background(self, boxes)
            self._draw_map(view, boxes)
            agent_panel.draw(self, boxes, view, colours[view.id])
        if not views:
            overlay.draw_no_agents(self, self.layout)

    def draw_window(self) -> None:
        """The whole window, without messages, dialogs, tooltips and focus."""
        plan = self.layout
        self.draw_panels()
        top_bar.draw(self, plan.top_bar)
        transport.draw(self, plan.transport)
        if plan.sidebar:
            sidebar.draw(self, plan.sidebar)


class Stage:
    """One session, or several side by side, on one surface."""

    def __init__(
        self,
        sessions: Sequence[Session],
        size: tuple[int, int],
        part: Part,
        look: Look,
        *,
        names: Sequence[str] = (),
        has_legend: bool = True,
        has_title: bool = True,
    ) -> None:
        pygame.font.init()
        self.size, self.part, self.look = size, part, look
        self.scale = look.scale or scale_for(size, part)
        self.names = list(names) if len(sessions) > 1 else []
        self.has_legend, self.has_title = has_legend, has_title
        self.surface = pygame.Surface(size, 0, 32)
        self.canvas = Canvas()
        self.painters = [
            Painter(session, surface, look, part, self.scale) for session, surface in self._places(sessions)
        ]

    def _places(self, sessions: Sequence[Session]) -> list[tuple[Session, pygame.Surface]]:
        """A surface for each session: the stage's own, or columns beside each other."""
        if len(sessions) == 1:
            return [(sessions[0], self.surface)]
        width, count = self.size[0], len(sessions)
        edges = [round(i * width / count) for i in range(count + 1)]
        # Not parts of one surface: the kernels paint into whole ones only.
        return [
            (session, pygame.Surface((max(1, edges[i + 1] - edges[i]), self.size[1]), 0, 32))
            for i, session in enumerate(sessions)
        ]

    @property
    def sessions(self) -> list[Session]:
        return [painter.session for painter in self.painters]

    def replace_sessions(self, sessions: Sequence[Session]) -> None:
        """Other runs in the place of those so far."""
        self.painters = [
            Painter(session, painter.window, self.look, self.part, self.scale)
            for painter, session in zip(self.painters, sessions, strict=True)
        ]

    def wear(self, look: Look) -> None:
        """Another look from the next picture on; texts keep their size, for a video has one size."""
        self.look = look
        for painter in self.painters:
            painter.wear(look)

    # --- a picture --------------------------------------------------------------------------------

    def draw(self, glide: float = 1.0, captions: Sequence[str] = ()) -> pygame.Surface:
        """Draw the sessions as they are. `glide`: how far agents have got from their last cell to this one."""
        canvas = self.canvas
        plan = self._plan()
        for painter in self.painters:
            painter.clock.fraction = glide  # type: ignore[misc]
            self._draw_one(painter, plan)
        canvas.begin(self.surface, self.painters[0].palette, self.scale, (-1, -1))
        canvas.takes_mouse = False
        if len(self.painters) > 1:
            self._join()
        if plan.title:
            self._draw_title(plan.title)
        if plan.legend:
            self._draw_legend(plan.legend)
        self._draw_captions(captions)
        return self.surface

    def _draw_one(self, painter: Painter, plan: "_Plan") -> None:
        if self.part.kind == WINDOW and len(self.painters) == 1:
            painter.begin_picture()
            painter.draw_window()
            return
        _, y, _, height = plan.panels
        painter.area = (0, y, painter.window_size[0], height)
        painter.begin_picture()
        painter.draw_panels()

    def _plan(self) -> "_Plan":
        """Where title, names, panels and legend stand."""
        width, height = self.size
        if self.part.kind == WINDOW and len(self.painters) == 1:
            plan = self.painters[0].layout
            bottom = plan.transport[1] or height
            return _Plan(None, (0, plan.top_bar[3], width, bottom - plan.top_bar[3]), None)
        px = self.canvas_px
        top, foot = 0, height
        title = legend_box = None
        if self.has_title and self._has_room(SMALLEST_WITH_TITLE):
            title = (0, 0, width, px(TITLE_HEIGHT))
            top = title[3]
        if self.names:
            top += px(NAME_HEIGHT)
        if self.has_legend and self._has_room(SMALLEST_WITH_LEGEND):
            rows = len(self._legend_rows())
            foot = height - rows * px(LEGEND_ROW) - px(6)
            legend_box = (0, foot, width, height - foot)
        return _Plan(title, (0, top, width, foot - top), legend_box)

    def canvas_px(self, units: float) -> int:
        return round(units * self.scale)

    def _has_room(self, least: tuple[int, int]) -> bool:
        return self.size[0] >= self.canvas_px(least[0]) and self.size[1] >= self.canvas_px(least[1])

    def _join(self) -> None:
        """Put the columns of a side-by-side together, a name above each."""
        palette = self.painters[0].palette
        x, px = 0, self.canvas_px
        has_title = self.has_title and self._has_room(SMALLEST_WITH_TITLE)
        middle = (px(TITLE_HEIGHT) if has_title else 0) + px(NAME_HEIGHT) // 2
        for painter, name in zip(self.painters, self.names, strict=False):
            self.surface.blit(painter.window, (x, 0))
            width = painter.window_size[0]
            self.canvas.text((x + px(12), middle), name, size=15, face="bold", width=width - px(24), middle=True)
            if x:
                self.surface.fill(palette.edge, (x, 0, max(1, px(1)), self.size[1]))
            x += width

    # --- title ------------------------------------------------------------------------------------

    def _draw_title(self, box: Box) -> None:
        """What is shown and the tick, above the panels."""
        canvas, session = self.canvas, self.painters[0].session
        x, y, width, height = box
        middle = y + height // 2
        self.surface.fill(self.painters[0].palette.window, box)
        tick = f"tick {session.tick:,}"
        right = x + width - canvas.px(14)
        canvas.text((right, middle), tick, size=15, face="mono", align="right", middle=True)
        room = right - canvas.text_width(f"tick {session.tick:,}", 15, "mono") - canvas.px(24) - x
        canvas.text((x + canvas.px(14), middle), session.setup.title, size=16, face="bold", middle=True, width=room)

    # --- legend -----------------------------------------------------------------------------------

    def _legend_rows(self) -> list[list[tuple[str, str, int]]]:
        """The layers that are on, as (key, name, width), in rows that fit."""
        state, scale = self.look.layer_state(), self.scale
        names = [(layer.key, layer.name) for layer in LAYERS if state.visible[layer.key]]
        names = [(key, name) for key, name in names if key not in _NOT_IN_LEGEND]
        if state.heat.kind != "off":
            names.append(("heat", f"{HEAT_NAMES[state.heat.kind]} "))
        rows: list[list[tuple[str, str, int]]] = [[]]
        room = used = self.size[0] - 2 * self.canvas_px(14)
        for key, name in names:
            width = round(46 * scale) + self.canvas.fonts.width(name, "sans", round(12 * scale))
            width += round(110 * scale) if key == "heat" else 0
            if used + width > room:
                if rows[0]:
                    rows.append([])
                used = 0
            rows[-1].append((key, name, width))
            used += width
        return rows[:MOST_LEGEND_ROWS]

    def _draw_legend(self, box: Box) -> None:
        canvas, palette = self.canvas, self.painters[0].palette
        px = canvas.px
        self.surface.fill(palette.window, box)
        y = box[1]
        for row in self._legend_rows():
            x, middle = box[0] + px(14), y + px(LEGEND_ROW) // 2
            for key, name, width in row:
                if key == "heat":
                    self._draw_heat_bar(x, middle, name)
                else:
                    swatch = (x, middle - px(7), px(22), px(14))
                    legend.legend_swatch(self.surface, swatch, key, palette, self.scale)
                    canvas.text((x + px(28), middle), name, size=12, colour=palette.dim, middle=True)
                x += width
            y += px(LEGEND_ROW)

    def _draw_heat_bar(self, x: int, middle: int, name: str) -> None:
        """The bands of the heat with what the first and the last stand for."""
        canvas, painter = self.canvas, self.painters[0]
        px, dim = canvas.px, painter.palette.dim
        scale = painter.heat_scale
        x += canvas.text((x, middle), name, size=12, colour=dim, middle=True) + px(4)
        x += canvas.text((x, middle), scale.lowest, size=12, face="mono", colour=dim, middle=True) + px(5)
        legend.draw_colour_bar(self.surface, (x, middle - px(5), px(80), px(10)), scale, painter.palette)
        canvas.text((x + px(85), middle), scale.highest, size=12, face="mono", colour=dim, middle=True)

    # --- captions ---------------------------------------------------------------------------------

    def _draw_captions(self, captions: Sequence[str]) -> None:
        """The latest captions, one above the other, at the foot of the maps."""
        canvas, palette = self.canvas, self.painters[0].palette
        px = canvas.px
        maps = [boxes.map for painter in self.painters for _, boxes in painter.panels()]
        right = (
            max((box[0] + box[2] for box in maps), default=self.size[0]) if len(self.painters) == 1 else self.size[0]
        )
        bottom = max((box[1] + box[3] for box in maps), default=self.size[1]) - px(10)
        for text in reversed(list(captions)[-MOST_CAPTIONS:]):
            room = right - px(40)
            width = min(room, canvas.text_width(text, 16, "bold")) + px(28)
            height = px(34)
            place = ((right - width) // 2, bottom - height, width, height)
            canvas.fill(place, palette.text, 8)
            middle = (place[0] + width // 2, place[1] + height // 2)
            canvas.text(
                middle, text, size=16, face="bold", colour=palette.surface, align="centre", middle=True, width=room
            )
            bottom = place[1] - px(6)


@dataclass(frozen=True)
class _Plan:
    title: Box | None
    panels: Box
    legend: Box | None


def _panels_in(area: Box, size: tuple[int, int], scale: float, count: int) -> Layout:
    """A layout of panels alone, in a part of a picture."""
    x, y, width, height = area
    bare = layout.lay_out((max(1, width), max(1, height)), scale, count, bare=True)
    panels = tuple(
        PanelBoxes(*(_moved(box, x, y) for box in (each.whole, each.header, each.map, each.hud)))
        for each in bare.panels
    )
    return replace(bare, size=size, panels=panels)


def _moved(box: Box, dx: int, dy: int) -> Box:
    return (box[0] + dx, box[1] + dy, box[2], box[3])
