"""Offscreen renderer of a run, at a fixed size, for videos and pictures.

It uses the drawing code of the window without mouse, keyboard, focus and clock. A picture depends only on the run, the
view settings and the size, so the window and a command without a window draw identical pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pygame

from ui.draw.layers import LAYER_BY_KEY, Layer
from ui.draw.theme import PALETTES
from ui.film.film_options import PANELS, WINDOW, WindowPart
from ui.maps import legend_swatches
from ui.maps.map_view import MapView
from ui.model import layout
from ui.model.appearance import Appearance
from ui.model.camera import Camera, camera_fitting_map
from ui.model.layer_state import HEAT_LONG_NAMES, compared_panel_names
from ui.model.layout import Box, Layout
from ui.model.panel_keys import PanelKey
from ui.model.player import Player
from ui.model.run import Panel, Run
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.step_clock import SPEEDS
from ui.model.ui_state import UiState
from ui.panels import panels_and_bars
from ui.panels.view_context import ViewContext, window_layout
from ui.widgets.canvas import Canvas

REFERENCE_SIZE = {WINDOW: (1280, 720), PANELS: (1280, 720), "panel": (720, 540)}
"""Part of the window -> picture size in pixels at which texts are as large as in a window at a UI scale of 100 %."""

MIN_SCALE, MAX_SCALE = 0.75, 4.0  # limits of the scale of texts and lines; 1 corresponds to a UI scale of 100 %

TITLE_HEIGHT = 38  # height of the title in pixels at scale 1
LEGEND_ROW_HEIGHT = 22  # height of one row of the legend in pixels at scale 1
MIN_SIZE_WITH_TITLE = (260, 220)  # minimum width and height, in pixels at scale 1, of a picture with a title
MIN_SIZE_WITH_LEGEND = (420, 360)  # minimum width and height, in pixels at scale 1, of a picture with a legend
LEGEND_SHARE = 0.16  # maximum height of the legend, as a fraction of the picture's height
MAX_CAPTIONS = 3  # maximum number of captions that are visible at once


def text_scale_for_picture_size(size: tuple[int, int], part: WindowPart) -> float:
    """Return the scale of texts and lines that suits a picture size, rounded to eighths so that shapes stay sharp."""
    usual = REFERENCE_SIZE[part.kind]
    fitting = min(size[0] / usual[0], size[1] / usual[1])
    return min(MAX_SCALE, max(MIN_SCALE, round(fitting * 8) / 8))


class ViewCameras:
    """Cameras of the panels in a picture, as given by view settings (a look)."""

    def __init__(self, appearance: Appearance) -> None:
        self.appearance = appearance

    @property
    def is_following_agents(self) -> bool:
        return self.appearance.is_following_agents

    @property
    def is_linked(self) -> bool:
        return not self.appearance.map_part_by_panel

    def camera_of_panel(self, panel: PanelKey, size: tuple[int, int], map_size: tuple[int, int]) -> Camera:
        part = self.appearance.map_part_for_panel(panel)
        return part.to_camera(size) if part else camera_fitting_map(*map_size, *size)


class OffscreenRenderer:
    """Offscreen renderer of one run: of a session with the user's focus, or of a run without a focus."""

    def __init__(
        self,
        source: Session | Run,
        size: tuple[int, int],
        part: WindowPart,
        appearance: Appearance,
        *,
        has_legend: bool = True,
        has_title: bool = True,
        scale: float | None = None,
    ) -> None:
        """Create the surface and the view.

        Args:
            source: Session whose focus is shown, or a run to show without focus.
            size: Width and height of the picture in pixels.
            part: Part of the window to draw.
            appearance: View settings.
            has_legend: Whether to draw a legend if the picture is large enough.
            has_title: Whether to draw a title if the picture is large enough.
            scale: Scale of texts and lines; None: the scale of the view settings, or the scale that suits the size.
        """
        has_commands = len(appearance.command_table) > 0
        assert part.kind != WINDOW or has_commands, "a picture of the whole window needs the commands of its buttons"
        pygame.font.init()
        self.size, self.window_part, self.appearance = size, part, appearance
        self.text_scale = scale or appearance.text_scale or text_scale_for_picture_size(size, part)
        self.has_legend, self.has_title = has_legend, has_title
        self.surface = pygame.Surface(size, 0, 32)
        self.canvas = Canvas()
        self.canvas.accepts_mouse_input = False
        self.set_shown_run(source)

    def set_shown_run(self, source: Session | Run) -> None:
        """Show another run, with the same picture size, part of the window and view settings."""
        self.session = session = Session.create_read_only_session(source) if isinstance(source, Run) else source
        self.map_view = MapView(
            lambda: session.run,
            PALETTES[self.appearance.theme_name],
            self.text_scale,
            self.appearance.layer_state(),
            ViewCameras(self.appearance),
            first=lambda: session.panel_index(session.focused_key),
            panels_to_show=self._panels_to_draw,
            layout_of_panels=self._layout_of_panels,
        )
        if self.window_part.kind not in (WINDOW, PANELS):
            self.map_view.only_panel_index = self.window_part.panel_number - 1
        settings = Settings(theme=self.appearance.theme_name, ui_scale=self.text_scale)
        player = Player(session, self.appearance.ticks_per_second)
        self.view_context = ViewContext(
            session, settings, UiState(), player, self.map_view, self.canvas, draws_into_picture=True
        )
        self.set_view_settings(self.appearance)
        self.canvas.begin_frame(self.surface, self.map_view.palette, self.text_scale, (-1, -1))

    def set_view_settings(self, appearance: Appearance) -> None:
        """Change the view settings from the next picture on, except the scale, which is fixed during a video."""
        self.appearance = appearance
        scene, desk, player = self.map_view, self.view_context, self.view_context.player
        scene.palette, scene.layer_state, scene.panel_cameras = (
            PALETTES[appearance.theme_name],
            appearance.layer_state(),
            ViewCameras(appearance),
        )
        scene.suppressed_layers = appearance.hidden_layers
        self.session.set_first_compared_panel(appearance.first_compared_index)
        desk.settings.shows_sidebar = appearance.sidebar_tab is not None
        desk.settings.sidebar_tab = appearance.sidebar_tab or desk.settings.sidebar_tab
        desk.command_table = appearance.command_table
        desk.ui_state.pinned_cell = appearance.pinned_cell if self.window_part.kind == WINDOW else None
        player.playback_state_override = appearance.playback_state
        player.step_clock.is_running = appearance.playback_state in (None, "running")
        player.speed = (
            min(SPEEDS, key=lambda speed: abs(speed - appearance.ticks_per_second))
            if appearance.ticks_per_second
            else appearance.ticks_per_second
        )

    # --- panels and layout ------------------------------------------------------------------------

    def _panels_to_draw(self) -> Sequence[Panel]:
        panels = self.session.run.panels
        if self.window_part.kind == WINDOW:
            maximised = tuple(panel for panel in panels if panel.key == self.appearance.only_panel)
            return maximised or self.session.panels_that_fit_in_window
        if self.window_part.kind == PANELS:
            return self.session.panels_that_fit_in_window
        return panels[self.window_part.panel_number - 1 : self.window_part.panel_number]

    def _layout_of_panels(self, count: int) -> Layout:
        """Return the layout of the picture for this number of panels."""
        area = self._picture_layout().panels_box
        if area is None:
            size, desk = self.size, self.view_context
            return window_layout(size, self.text_scale, count, self.map_view.map_size, desk.settings, desk.ui_state)
        return _panel_layout(area, self.size, self.text_scale, count, self.map_view.map_size)

    # --- drawing ----------------------------------------------------------------------------------

    def draw_picture(self, glide: float = 1.0, captions: Sequence[str] = ()) -> pygame.Surface:
        """Draw the current state of the run.

        Args:
            glide: Interpolation of agents between their previous cell (0) and their current cell (1).
            captions: Captions to draw, the latest last.

        Returns:
            The stage's surface, which the next call overwrites.
        """
        plan = self._picture_layout()
        self.view_context.player.fixed_interpolation = glide
        self.canvas.begin_frame(self.surface, self.map_view.palette, self.text_scale, (-1, -1))
        self.surface.fill(self.map_view.palette.window)
        panels_and_bars.draw_panels(self.view_context)
        if self.window_part.kind == WINDOW:
            panels_and_bars.draw_window_bars(self.view_context)
        if plan.title_box:
            self._draw_title(plan.title_box)
        if plan.legend_box:
            self._draw_legend(plan.legend_box)
        self._draw_captions(captions)
        return self.surface

    def _picture_layout(self) -> "_PictureLayout":
        """Return the rectangles of title, panels and legend in the picture."""
        if self.window_part.kind == WINDOW:
            return _PictureLayout(None, None, None)
        width, height = self.size
        top, bottom = 0, height
        title = legend_box = None
        if self.has_title and self._is_picture_large_enough(MIN_SIZE_WITH_TITLE):
            title = (0, 0, width, self.to_pixels(TITLE_HEIGHT))
            top = title[3]
        if self.has_legend and self._is_picture_large_enough(MIN_SIZE_WITH_LEGEND):
            bottom = height - len(self._legend_rows()) * self.to_pixels(LEGEND_ROW_HEIGHT) - self.to_pixels(6)
            legend_box = (0, bottom, width, height - bottom)
        return _PictureLayout(title, (0, top, width, bottom - top), legend_box)

    def to_pixels(self, units: float) -> int:
        """Convert a length at scale 1 to pixels of the picture."""
        return round(units * self.text_scale)

    def _is_picture_large_enough(self, min_size: tuple[int, int]) -> bool:
        return self.size[0] >= self.to_pixels(min_size[0]) and self.size[1] >= self.to_pixels(min_size[1])

    # --- title ------------------------------------------------------------------------------------

    def _draw_title(self, box: Box) -> None:
        """Draw the title of the scenario and the tick above the panels."""
        canvas, session = self.canvas, self.session
        x, y, width, height = box
        middle = y + height // 2
        self.surface.fill(self.map_view.palette.window, box)
        tick = f"tick {session.tick:,}"
        right = x + width - canvas.to_px(14)
        canvas.draw_text((right, middle), tick, size=15, face="mono", align="right", middle=True)
        max_width = right - canvas.text_width(f"tick {session.tick:,}", 15, "mono") - canvas.to_px(24) - x
        canvas.draw_text(
            (x + canvas.to_px(14), middle),
            session.run.scenario.title,
            size=16,
            face="bold",
            middle=True,
            width=max_width,
        )

    # --- legend -----------------------------------------------------------------------------------

    def _legend_rows(self) -> list[list[tuple[str, str, int]]]:
        """Return the entries of the legend (visible layers, heat map), split into rows that fit the picture.

        Returns:
            Rows of entries (key of the layer, name, width in pixels).
        """
        state, scale = self.appearance.layer_state(), self.text_scale
        layers = self.map_view.agent_layers
        names = [(layer.key, layer.name) for layer in layers if state.is_layer_on(layer) and self._is_in_legend(layer)]
        if state.heat_setting.kind != "off":
            names.append(("heat", f"{self._heat_map_name()} "))
        rows: list[list[tuple[str, str, int]]] = [[]]
        row_width = used = self.size[0] - 2 * self.to_pixels(14)
        for key, name in names:
            width = round(46 * scale) + self.canvas.font_cache.width(name, "sans", round(12 * scale))
            width += round(110 * scale) if key == "heat" else 0
            if used + width > row_width:
                if rows[0]:
                    rows.append([])
                used = 0
            rows[-1].append((key, name, width))
            used += width
        return rows[: max(1, int(LEGEND_SHARE * self.size[1] / self.to_pixels(LEGEND_ROW_HEIGHT)))]

    def _is_in_legend(self, layer: Layer) -> bool:
        """Return whether a layer has an entry in the legend; layers hidden by the heat map have none.

        The result depends only on the view settings, so the legend is equal in all frames of a video.
        """
        is_hovered = self.appearance.heat_setting.kind not in ("off", "difference")
        return layer.is_in_legend and not (is_hovered and layer.is_replaced_by_heat)

    def _heat_map_name(self) -> str:
        """Return the name of the heat map; for A - B, the names of the two compared panels."""
        pair = self.map_view.compared_panels()
        if not pair:
            return HEAT_LONG_NAMES[self.appearance.heat_setting.kind]
        max_width = self.size[0] // 4
        return " - ".join(self.canvas.shorten_text(name, max_width, 12) for name in compared_panel_names(*pair))

    def _draw_legend(self, box: Box) -> None:
        canvas, palette = self.canvas, self.map_view.palette
        px = canvas.to_px
        self.surface.fill(palette.window, box)
        y = box[1]
        for row in self._legend_rows():
            x, middle = box[0] + px(14), y + px(LEGEND_ROW_HEIGHT) // 2
            for key, name, width in row:
                if key == "heat":
                    self._draw_heat_bar(x, middle, name)
                else:
                    swatch = (x, middle - px(7), px(22), px(14))
                    legend_swatches.draw_layer_swatch(self.surface, swatch, LAYER_BY_KEY[key], palette, self.text_scale)
                    canvas.draw_text((x + px(28), middle), name, size=12, colour=palette.dim, middle=True)
                x += width
            y += px(LEGEND_ROW_HEIGHT)

    def _draw_heat_bar(self, x: int, middle: int, name: str) -> None:
        """Draw the colour bar of the heat map with its lowest and highest value."""
        canvas, palette = self.canvas, self.map_view.palette
        px, dim = canvas.to_px, palette.dim
        scale = self.map_view.heat_scale
        x += canvas.draw_text((x, middle), name, size=12, colour=dim, middle=True) + px(4)
        x += canvas.draw_text((x, middle), scale.lowest_label, size=12, face="mono", colour=dim, middle=True) + px(5)
        legend_swatches.draw_colour_bar(self.surface, (x, middle - px(5), px(80), px(10)), scale, palette)
        canvas.draw_text((x + px(85), middle), scale.highest_label, size=12, face="mono", colour=dim, middle=True)

    # --- captions ---------------------------------------------------------------------------------

    def _draw_captions(self, captions: Sequence[str]) -> None:
        """Draw the latest captions at the bottom of the maps, one above the other."""
        canvas, palette = self.canvas, self.map_view.palette
        px = canvas.to_px
        maps = [boxes.map_box for _, boxes in self.map_view.panels_with_boxes()]
        right = max((box[0] + box[2] for box in maps), default=self.size[0])
        bottom = max((box[1] + box[3] for box in maps), default=self.size[1]) - px(10)
        for text in reversed(list(captions)[-MAX_CAPTIONS:]):
            max_width = right - px(40)
            width = min(max_width, canvas.text_width(text, 16, "bold")) + px(28)
            height = px(34)
            rect = ((right - width) // 2, bottom - height, width, height)
            canvas.fill_box(rect, palette.text, 8)
            middle = (rect[0] + width // 2, rect[1] + height // 2)
            canvas.draw_text(
                middle, text, size=16, face="bold", colour=palette.surface, align="centre", middle=True, width=max_width
            )
            bottom = rect[1] - px(6)


@dataclass(frozen=True)
class _PictureLayout:
    """Rectangles of title, panels and legend in a picture, in pixels; None for elements that are not drawn."""

    title_box: Box | None
    panels_box: Box | None  # None: panels are where the layout of the window puts them
    legend_box: Box | None


def _panel_layout(area: Box, size: tuple[int, int], scale: float, count: int, map_size: tuple[int, int]) -> Layout:
    """Return a layout with panels but without bars, inside a rectangle of the picture.

    Args:
        area: Rectangle of the panels, in pixels.
        size: Size of the whole picture, in pixels.
        scale: Scale of texts and lines.
        count: Number of panels.
        map_size: Width and height of the map in cells.
    """
    x, y, width, height = area
    bare = layout.lay_out_window((max(1, width), max(1, height)), scale, count, map_size=map_size, is_bare=True)
    panels = tuple(
        replace(
            boxes,
            panel_box=_shifted_box(boxes.panel_box, x, y),
            header_box=_shifted_box(boxes.header_box, x, y),
            map_box=_shifted_box(boxes.map_box, x, y),
            hud_box=_shifted_box(boxes.hud_box, x, y),
        )
        for boxes in bare.panel_boxes
    )
    return replace(bare, size=size, panel_boxes=panels)


def _shifted_box(box: Box, dx: int, dy: int) -> Box:
    """Return a rectangle shifted by (dx, dy) pixels."""
    return (box[0] + dx, box[1] + dy, box[2], box[3])
