"""Drawing of all maps of a run (the scene). The window, each exported picture and each video have their own scene.

A scene knows the rectangle, the visible part of the map and the colours of each panel. It does not handle the mouse,
the keyboard, time or controls.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import pygame

from ui.draw.heat_scale import HeatScale, heat_scale_for_peak
from ui.draw.layers import Layer, layers_for_agents
from ui.draw.map_painter import ToolPreview
from ui.draw.panel_content import CellFlags, PanelContent, update_flags_and_heat_of_panels
from ui.draw.theme import Palette
from ui.maps.map_renderer import MapRenderer
from ui.model import layout
from ui.model.camera import Camera
from ui.model.layer_state import HeatSetting, LayerState
from ui.model.layout import Layout, PanelBoxes
from ui.model.panel_keys import PanelKey
from ui.model.run import Panel, Run

Size = tuple[int, int]


class PanelCameras(Protocol):
    """Cameras of the panels: the part of the map that each panel shows."""

    @property
    def is_following_agents(self) -> bool:
        """Return whether cameras stay centred on the agents of their panels."""

    @property
    def is_linked(self) -> bool:
        """Return whether all panels show the same part of the map."""

    def camera_of_panel(self, panel: PanelKey, size: Size, map_size: Size) -> Camera: ...


class MapView:
    """Scene: all maps of a run, with the layout of the panels, and the cameras and colours for drawing them."""

    def __init__(
        self,
        run: Callable[[], Run],
        palette: Palette,
        scale: float,
        layers: LayerState,
        panel_cameras: PanelCameras,
        *,
        first: Callable[[], int],
        panels_to_show: Callable[[], Sequence[Panel]],
        layout_of_panels: Callable[[int], Layout],
    ) -> None:
        """Create a scene. In each frame, update its cells once, and then draw the map of each panel.

        Args:
            run: Callback that returns the run to draw.
            palette: Colours of the theme.
            scale: Pixels per design unit.
            layers: Visible layers, and the kind of heat.
            panel_cameras: Cameras of the panels.
            first: Callback that returns the index of the panel that is A in a heat map A - B.
            panels_to_show: Callback that returns the panels to show.
            layout_of_panels: Callback that returns the layout for a given number of panels.
        """
        self._get_run, self.palette, self.px_per_unit, self.layer_state, self.panel_cameras = (
            run,
            palette,
            scale,
            layers,
            panel_cameras,
        )
        self._get_first_compared_index, self._get_panels_to_show, self._get_layout = (
            first,
            panels_to_show,
            layout_of_panels,
        )
        self.renderer = MapRenderer()
        self.cells: dict[PanelKey, CellFlags] = {}
        self.heat_scale: HeatScale = heat_scale_for_peak(layers.heat_setting)
        # Keys of layers that this scene never draws, even if they are on.
        self.suppressed_layers: frozenset[str] = frozenset()
        # Whether heat is hidden, as in slow motion, where it would cover the expanded cells.
        self.is_heat_hidden = False
        # Index of the panel if a single panel is in view; None: several panels.
        self.only_panel_index: int | None = None
        # Run and generation counter to which the cell flags belong.
        self._flags_source: tuple[Run, object] | None = None

    # --- panels and their rectangles --------------------------------------------------------------

    @property
    def shown_run(self) -> Run:
        return self._get_run()

    @property
    def shown_panels(self) -> tuple[Panel, ...]:
        return tuple(self._get_panels_to_show())

    @property
    def layout(self) -> Layout:
        return self._get_layout(len(self.shown_panels))

    def panels_with_boxes(self) -> list[tuple[Panel, PanelBoxes]]:
        return list(zip(self.shown_panels, self.layout.panel_boxes, strict=False))

    @property
    def agent_layers(self) -> tuple[Layer, ...]:
        """Return the layers that apply to the agents on screen. Of a crowd, only the selected agent counts."""
        return layers_for_agents(
            panel.walker_view.spec
            for panel in self.shown_panels
            if self.shown_run.followed_walker(panel.key) is not None
        )

    def panel_at_position(self, position: Size) -> tuple[Panel, PanelBoxes] | None:
        """Return the panel whose map contains a pixel position; None if no map does."""
        return next((p for p in self.panels_with_boxes() if layout.box_contains_position(p[1].map_box, position)), None)

    def panel_with_key(self, key: PanelKey) -> tuple[Panel, PanelBoxes] | None:
        return next((p for p in self.panels_with_boxes() if p[0].key == key), None)

    @property
    def map_size(self) -> Size:
        grid = self.shown_run.world.grid
        return grid.width, grid.height

    def camera_of_panel(self, key: PanelKey, boxes: PanelBoxes) -> Camera:
        """Return the camera of a panel, centred on the agent if cameras follow agents."""
        size = (boxes.map_box[2], boxes.map_box[3])
        camera = self.panel_cameras.camera_of_panel(key, size, self.map_size)
        if self.panel_cameras.is_following_agents and (walker := self.shown_run.followed_walker(key)):
            camera = camera.centred_on_cell(self.shown_run.world.grid.xy(walker.position), self.map_size, size)
        return camera

    def map_cell_at(self, panel: Panel, boxes: PanelBoxes, position: Size) -> tuple[int, int]:
        """Return the column and the row of the cell at a pixel position, which may be outside the map."""
        camera = self.camera_of_panel(panel.key, boxes)
        return camera.cell_at(position[0] - boxes.map_box[0], position[1] - boxes.map_box[1])

    # --- heat -------------------------------------------------------------------------------------

    @property
    def heat_setting(self) -> HeatSetting:
        """Return the heat setting to draw: the setting of the user, but of kind "off" while heat is hidden."""
        return (
            replace(self.layer_state.heat_setting, kind="off") if self.is_heat_hidden else self.layer_state.heat_setting
        )

    # --- heat A - B -------------------------------------------------------------------------------

    def compared_panels(self) -> tuple[Panel, ...]:
        """Return the panels A and B of a heat map A - B; an empty tuple if another kind of heat is shown."""
        if self.heat_setting.kind != "difference":
            return ()
        a, b = self._compared_panel_indices()
        return (self.shown_run.panels[a], self.shown_run.panels[b]) if a != b else ()

    def _compared_panel_indices(self) -> tuple[int, int]:
        """Return the indices of the panels A and B of a heat map A - B; a maximised panel is one of them."""
        pair = self.shown_run.compared_panel_indices(self._get_first_compared_index())
        return (
            pair
            if self.only_panel_index is None or self.only_panel_index in pair
            else self.shown_run.compared_panel_indices(self.only_panel_index)
        )

    # --- drawing ----------------------------------------------------------------------------------

    def update_cell_flags_and_heat(self) -> None:
        """Update the flags and the heat of all cells to the current tick; rebuild them if the run was replaced."""
        self.renderer.ui_scale = self.px_per_unit
        drawn = self.shown_run, self.shown_run.picture_cache_key
        if drawn != self._flags_source:
            self.cells.clear()
            self._flags_source = drawn
        panels = self.shown_run.panels
        for key in set(self.cells) - {panel.key for panel in panels}:
            del self.cells[key]
        for panel in panels:
            self.cells.setdefault(panel.key, CellFlags())
        self.heat_scale = update_flags_and_heat_of_panels(
            [self._content_of_panel(panel) for panel in panels], self.heat_setting, self._compared_panel_indices()
        )

    def _content_of_panel(self, panel: Panel) -> PanelContent:
        return PanelContent(
            self.cells[panel.key],
            panel.snapshot,
            panel.drawn_agent,
            self.shown_run.trail_by_panel[panel.key],
            panel.crowd,
        )

    def draw_map(
        self,
        surface: pygame.Surface,
        panel: Panel,
        boxes: PanelBoxes,
        *,
        glide: float = 1.0,
        hover: int | None = None,
        tool_preview: ToolPreview = ToolPreview(),  # noqa: B008 - it cannot be changed
        reveal: int | None = None,
    ) -> None:
        """Draw the map of one panel.

        Args:
            surface: Surface to draw on.
            panel: Panel to draw.
            boxes: Rectangles of the panel on the surface.
            glide: Progress of the animated move from the previous cell to the current one, 0 to 1.
            hover: Cell under the mouse.
            tool_preview: Preview of the effect of the selected tool at the mouse position.
            reveal: Number of expansions of the last tick shown so far in slow motion; None: all.
        """
        self.renderer.draw_map(
            surface,
            boxes.map_box,
            self.camera_of_panel(panel.key, boxes),
            self._content_of_panel(panel),
            self.layer_state.with_layers_off(self.suppressed_layers) if self.suppressed_layers else self.layer_state,
            self.palette,
            scale=self.heat_scale,
            glide=glide,
            edits=self.shown_run.recent_edits_of_branch(panel.key),
            hover=hover,
            tool_preview=tool_preview,
            reveal=reveal,
        )
