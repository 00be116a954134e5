"""The scene: the maps of a run, drawn. Window, picture and film each have one, and differ in what they give it.

It knows which panels stand where, which part of the map each shows, and in what colours. It knows no mouse, no
keyboard, no clock and no control.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import pygame

from ui.draw.cells import CellWords, Shown, update_all
from ui.draw.heat import HeatScale, scale_for
from ui.draw.layers import Layer, layers_of
from ui.draw.picture import Hand
from ui.draw.renderer import MapRenderer
from ui.draw.theme import Palette
from ui.model import layout
from ui.model.camera import Camera
from ui.model.keys import PanelKey
from ui.model.layers import HeatSetting, LayerState
from ui.model.layout import Layout, PanelBoxes
from ui.model.run import Panel, Run

Size = tuple[int, int]


class Views(Protocol):
    """Which part of the map each panel shows."""

    @property
    def follows(self) -> bool:
        """Whether the camera stays on the agent."""

    def of(self, panel: PanelKey, size: Size, map_size: Size) -> Camera: ...


class Scene:
    def __init__(
        self,
        run: Callable[[], Run],
        palette: Palette,
        scale: float,
        layers: LayerState,
        views: Views,
        *,
        first: Callable[[], int],
        chosen: Callable[[], Sequence[Panel]],
        places: Callable[[int], Layout],
    ) -> None:
        """`run`: the one that is drawn now; `first`: the place of the panel that a heat map A - B takes for A;
        `chosen`: the panels that are shown; `places`: where so many panels, and what is around them, stand.
        """
        self._run, self.palette, self.scale, self.layers, self.views = run, palette, scale, layers, views
        self._first, self._chosen, self._places = first, chosen, places
        self.renderer = MapRenderer()
        self.cells: dict[PanelKey, CellWords] = {}
        self.heat_scale: HeatScale = scale_for(layers.heat)
        self.left_out: frozenset[str] = frozenset()  # layers that are on and not drawn all the same
        self.hides_heat = False  # in slow motion: heat would cover the cells that are being searched
        self.alone: int | None = None  # the place of a panel that stands without the others
        self._drawn: tuple[Run, object] | None = None  # the run whose cells are kept here, and its generation

    # --- what stands where ------------------------------------------------------------------------

    @property
    def run(self) -> Run:
        return self._run()

    @property
    def shown_panels(self) -> tuple[Panel, ...]:
        return tuple(self._chosen())

    @property
    def layout(self) -> Layout:
        return self._places(len(self.shown_panels))

    def panels(self) -> list[tuple[Panel, PanelBoxes]]:
        return list(zip(self.shown_panels, self.layout.panels, strict=False))

    @property
    def agent_layers(self) -> tuple[Layer, ...]:
        """Those that have something to show of the agents on screen; of a crowd if one of it is followed."""
        return layers_of(panel.view.spec for panel in self.shown_panels if self.run.followed(panel.key) is not None)

    def panel_at(self, position: Size) -> tuple[Panel, PanelBoxes] | None:
        """The panel whose map lies under a position."""
        return next((p for p in self.panels() if layout.contains(p[1].map, position)), None)

    def panel_of(self, key: PanelKey) -> tuple[Panel, PanelBoxes] | None:
        return next((p for p in self.panels() if p[0].key == key), None)

    @property
    def map_size(self) -> Size:
        grid = self.run.world.grid
        return grid.width, grid.height

    def camera(self, key: PanelKey, boxes: PanelBoxes) -> Camera:
        size = (boxes.map[2], boxes.map[3])
        camera = self.views.of(key, size, self.map_size)
        if self.views.follows and (walker := self.run.followed(key)):
            camera = camera.following(self.run.world.grid.xy(walker.position), self.map_size, size)
        return camera

    def point_at(self, panel: Panel, boxes: PanelBoxes, position: Size) -> tuple[int, int]:
        camera = self.camera(panel.key, boxes)
        return camera.cell_at(position[0] - boxes.map[0], position[1] - boxes.map[1])

    # --- heat -------------------------------------------------------------------------------------

    @property
    def heat(self) -> HeatSetting:
        """The heat that is drawn now: the chosen one, or none while it is hidden."""
        return replace(self.layers.heat, kind="off") if self.hides_heat else self.layers.heat

    # --- heat A - B -------------------------------------------------------------------------------

    def compared_panels(self) -> tuple[Panel, ...]:
        """The panels A and B while there is a heat map A - B, and none otherwise."""
        if self.heat.kind != "difference":
            return ()
        a, b = self._compared()
        return (self.run.panels[a], self.run.panels[b]) if a != b else ()

    def _compared(self) -> tuple[int, int]:
        """The places of A and B. A panel that stands alone is A if it would have no part in the comparison."""
        pair = self.run.compared(self._first())
        return pair if self.alone is None or self.alone in pair else self.run.compared(self.alone)

    # --- drawing ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Bring the cell words of every agent up to the snapshot; another world begins new ones."""
        self.renderer.ui_scale = self.scale
        drawn = self.run, self.run.generation
        if drawn != self._drawn:
            self.cells.clear()
            self._drawn = drawn
        panels = self.run.panels
        for gone in set(self.cells) - {panel.key for panel in panels}:
            del self.cells[gone]
        for panel in panels:
            self.cells.setdefault(panel.key, CellWords())
        self.heat_scale = update_all([self._shown(panel) for panel in panels], self.heat, self._compared())

    def _shown(self, panel: Panel) -> Shown:
        return Shown(self.cells[panel.key], panel.snapshot, panel.mind, self.run.trails[panel.key], panel.crowd)

    def draw_map(
        self,
        surface: pygame.Surface,
        panel: Panel,
        boxes: PanelBoxes,
        *,
        glide: float = 1.0,
        hover: int | None = None,
        hand: Hand = Hand(),  # noqa: B008 - it cannot be changed
        reveal: int | None = None,
    ) -> None:
        """One map. `glide`: how far agents have got to their cell; `hand`: what the mouse is about to do;
        `reveal`: so many expansions of the last tick are shown.
        """
        self.renderer.draw(
            surface,
            boxes.map,
            self.camera(panel.key, boxes),
            self._shown(panel),
            self.layers.without(self.left_out) if self.left_out else self.layers,
            self.palette,
            scale=self.heat_scale,
            glide=glide,
            edits=self.run.shown_edits(panel.key),
            hover=hover,
            hand=hand,
            reveal=reveal,
        )
