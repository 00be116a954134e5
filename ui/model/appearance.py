"""Appearance of a picture of a run: theme, layers, heat map, visible part of the map.

Plain data, so that it can be sent and saved. It comes from the window (ui/panels/view_overrides.py), or from the `view`
of a scenario file (`appearance_from_view`):

    view:
      theme: light
      layers: {tree: true, grid: false}
      heat: {kind: visits, is_log: true, colours: cividis}
      camera: {x: 48, y: 40, cells: 60}     # centre, and number of cells along the shorter side; or: fit, follow
      cameras: {0: fit, 1: {x: 9, y: 9, cells: 12}}      # of panels with another view, by their number
      scale: 1.25                           # size of texts and lines; default: chosen by the size of the picture
      sidebar: compare                      # or false; only used if the whole window is drawn
      speed: 120                            # ticks a second in the window, until the next file is opened

This module does not use pygame.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from files.session import FOCUSED_AGENT_KEY, PANEL_ORDER_KEY, SHOWN_BRANCHES_KEY, panels_of_view
from sim.params import ConfigError, Param, did_you_mean_hint, value_as_in_files
from ui.model.camera import MAX_ZOOM, MIN_ZOOM, Camera, camera_fitting_map
from ui.model.layer_state import HeatSetting, LayerState
from ui.model.panel_keys import PanelKey
from ui.model.settings import HEAT_COLOURS, HEAT_IS_LOG, HEAT_KIND, SIDEBAR_TABS, SPEED, THEME
from ui.model.ui_command import NO_COMMANDS, CommandTable

TEXT_SCALE = Param("scale", float, 1.0, "size of texts and lines", 0.5, 8.0)
CAMERA_X = Param("x", float, 0.0, "map position in the middle of a panel", -10_000, 10_000)
CAMERA_CELLS = Param("cells", float, 64.0, "cells that fit into the shorter side of a panel", 1.0, 20_000)

REGION_LEVEL = Param("region_level", int, 0, "level of the regions drawn; 0: that of each agent", 0, 30)

VIEW_KEYS = ("theme", "layers", "heat", "region_level", "camera", "cameras", "scale", "sidebar", "speed")
# Keys that a session adds to the `view` (ui/model/session_saving.py).
SESSION_VIEW_KEYS = SHOWN_BRANCHES_KEY, FOCUSED_AGENT_KEY, PANEL_ORDER_KEY


@dataclass(frozen=True)
class MapPart:
    """Visible part of the map, independent of the size in pixels: its centre, and the cells along the shorter side."""

    x: float
    y: float
    cells: float

    def to_camera(self, size: tuple[int, int]) -> Camera:
        zoom = min(MAX_ZOOM, max(MIN_ZOOM, min(size) / self.cells))
        if zoom >= 3.0:
            zoom = float(round(zoom))  # whole pixels per cell, as in the window, so that all cells have equal size
        return Camera(zoom).centred_on_point(self.x, self.y, *size)


def map_part_of_camera(camera: Camera, size: tuple[int, int], map_size: tuple[int, int]) -> MapPart | None:
    """Return the part of the map that a camera shows; None if it shows the whole map as large as possible."""
    if camera == camera_fitting_map(*map_size, *size):
        return None
    x, y = camera.px_to_map(size[0] / 2, size[1] / 2)
    return MapPart(x, y, min(size) / camera.zoom)


@dataclass(frozen=True)
class Appearance:
    """Appearance of a picture of a run: theme, layers, cameras, panels and sidebar."""

    theme_name: str = "dark"
    # Layer -> whether it is on, if that is not the default.
    layer_visibility: Mapping[str, bool] = field(default_factory=dict)
    heat_setting: HeatSetting = field(default_factory=HeatSetting)
    region_level: int = 0  # level of the abstraction whose regions are drawn; 0: the level that each agent uses
    shared_map_part: MapPart | None = None  # part of the map visible in every panel; None: the whole map
    # panel -> visible part of the map, for panels that do not show `shared_map_part`
    map_part_by_panel: Mapping[PanelKey, MapPart | None] = field(default_factory=dict)
    is_following_agents: bool = False  # whether the camera of each panel follows its agent
    # Factor for the size of texts and lines; None: derived from the size of the picture.
    text_scale: float | None = None
    sidebar_tab: str | None = "layers"  # shown tab of the sidebar; None: no sidebar
    panel_order: tuple[PanelKey, ...] = ()  # keys of the first panels in display order; all other panels follow
    first_compared_index: int = 0  # index of panel A in a heat map of the difference A - B
    only_panel: PanelKey | None = None  # key of the one panel that is shown; None: all panels
    ticks_per_second: int = 30  # ticks a second on the speed slider, if the whole window is drawn
    pinned_cell: tuple[int, int] | None = None  # cell shown in the inspector
    # commands whose buttons a picture of the whole window shows, with the user's keys
    command_table: CommandTable = NO_COMMANDS
    playback_state: str | None = None  # playback state that the window shows; None: "running", until the run is over
    hidden_layers: frozenset[str] = frozenset()  # layers that are switched on but not drawn on the maps

    def layer_state(self) -> LayerState:
        return LayerState(dict(self.layer_visibility), self.heat_setting, self.region_level)

    def map_part_for_panel(self, panel: PanelKey) -> MapPart | None:
        return self.map_part_by_panel.get(panel, self.shared_map_part)


# --- the view of a scenario -----------------------------------------------------------------------


def appearance_from_view(view: Mapping[str, Any], layers: Collection[str], path: str = "view") -> Appearance:
    """Return the appearance that the `view` of a scenario describes.

    Args:
        view: The `view` of the scenario.
        layers: Keys of all layers.
        path: Name of `view` in messages.

    Raises:
        ConfigError: Some entries are not valid; the error names all of them.
    """
    reader = _AppearanceReader(path, layers)
    appearance = reader.read_appearance(view)
    if reader.problems:
        raise ConfigError(reader.problems)
    return appearance


class _AppearanceReader:
    def __init__(self, path: str, layers: Collection[str]) -> None:
        self.view_path, self.known_layer_keys = path, tuple(layers)
        self.problems: list[str] = []

    def read_appearance(self, view: Mapping[str, Any]) -> Appearance:
        self._report_unknown_keys(
            {key: value for key, value in view.items() if key not in SESSION_VIEW_KEYS}, VIEW_KEYS, ""
        )
        base = Appearance()
        part, follows = self._read_map_part_and_follow_flag(view.get("camera", "fit"))
        return Appearance(
            theme_name=self._read_param_value(view, THEME, base.theme_name),
            layer_visibility=self._read_layer_visibility(view.get("layers", {})),
            panel_order=tuple(PanelKey(*pair) for pair in panels_of_view(view)),
            heat_setting=self._read_heat_setting(view.get("heat", {})),
            region_level=self._read_param_value(view, REGION_LEVEL, base.region_level),
            shared_map_part=part,
            map_part_by_panel=self._read_panel_cameras(view.get("cameras", {})),
            is_following_agents=follows,
            text_scale=self._read_param_value(view, TEXT_SCALE, None),
            sidebar_tab=self._read_sidebar_tab(view.get("sidebar", base.sidebar_tab)),
            ticks_per_second=int(self._read_param_value(view, SPEED, base.ticks_per_second)),
        )

    def _report_unknown_keys(self, data: Mapping[str, Any], known: tuple[str, ...], path: str) -> None:
        self.problems += [
            f"{self.view_path}{path}.{key}: no such key{did_you_mean_hint(key, known)}"
            for key in data
            if key not in known
        ]

    def _read_mapping(self, data: Any, path: str) -> Mapping[str, Any]:
        if isinstance(data, dict):
            return data
        self.problems.append(f"{self.view_path}{path}: expected a mapping, got {value_as_in_files(data)}")
        return {}

    def _read_param_value(self, data: Mapping[str, Any], param: Param, default: Any, path: str = "") -> Any:
        if param.name not in data:
            return default
        try:
            return param.parse_value(data[param.name], f"{self.view_path}{path}.{param.name}")
        except ConfigError as error:
            self.problems += error.problems
            return default

    def _read_layer_visibility(self, data: Any) -> dict[str, bool]:
        layers = self._read_mapping(data, ".layers")
        self._report_unknown_keys(layers, self.known_layer_keys, ".layers")
        params = {key: Param(key, bool, True, "") for key in layers if key in self.known_layer_keys}
        return {key: bool(self._read_param_value(layers, param, True, ".layers")) for key, param in params.items()}

    def _read_heat_setting(self, data: Any) -> HeatSetting:
        if isinstance(data, str):
            data = {"kind": data}
        heat, base = self._read_mapping(data, ".heat"), HeatSetting()
        self._report_unknown_keys(heat, ("kind", "is_log", "colours"), ".heat")
        return HeatSetting(
            self._read_param_value(heat, HEAT_KIND, base.kind, ".heat"),
            self._read_param_value(heat, HEAT_IS_LOG, base.is_log, ".heat"),
            self._read_param_value(heat, HEAT_COLOURS, base.colour_map, ".heat"),
        )

    def _read_panel_cameras(self, data: Any) -> dict[PanelKey, MapPart | None]:
        cameras = self._read_mapping(data, ".cameras")
        wrong = [key for key in cameras if not str(key).isdecimal()]
        self.problems += [
            f"{self.view_path}.cameras: expected the number of a panel, got {value_as_in_files(key)}" for key in wrong
        ]
        return {
            _panel_key_of_number(int(k)): self._read_map_part_and_follow_flag(part, f".cameras.{k}")[0]
            for k, part in cameras.items()
            if k not in wrong
        }

    def _read_map_part_and_follow_flag(self, data: Any, path: str = ".camera") -> tuple[MapPart | None, bool]:
        if data in ("fit", "follow"):
            return None, data == "follow"
        if not isinstance(data, dict):
            wanted = "fit, follow, or a part of the map such as {x: 48, y: 40, cells: 60}"
            self.problems.append(f"{self.view_path}{path}: expected {wanted}, got {value_as_in_files(data)}")
            return None, False
        self._report_unknown_keys(data, ("x", "y", "cells", "follow"), path)
        follows = bool(self._read_param_value(data, Param("follow", bool, False, ""), False, path))
        missing = [key for key in ("x", "y", "cells") if key not in data and not (follows and key != "cells")]
        self.problems += [f"{self.view_path}{path}.{key}: expected a number, got nothing" for key in missing]
        x, y = (
            float(self._read_param_value(data, _copy_param_with_name(CAMERA_X, key), 0.0, path)) for key in ("x", "y")
        )
        return MapPart(x, y, float(self._read_param_value(data, CAMERA_CELLS, CAMERA_CELLS.default, path))), follows

    def _read_sidebar_tab(self, data: Any) -> str | None:
        if data is False or data is None:
            return None
        if data in SIDEBAR_TABS:
            return str(data)
        self.problems.append(
            f"{self.view_path}.sidebar: expected false or one of {', '.join(SIDEBAR_TABS)}, "
            f"got {value_as_in_files(data)}"
        )
        return None


def _copy_param_with_name(param: Param, name: str) -> Param:
    return Param(name, param.kind, param.default, param.help, param.low, param.high)


def view_mapping_of_appearance(appearance: Appearance) -> dict[str, Any]:
    """Return an appearance as the `view` mapping of a scenario, without values that are defaults."""
    defaults = Appearance()
    view: dict[str, Any] = {}
    if appearance.theme_name != defaults.theme_name:
        view["theme"] = appearance.theme_name
    if appearance.layer_visibility:
        view["layers"] = dict(appearance.layer_visibility)
    if appearance.heat_setting != defaults.heat_setting:
        view["heat"] = {
            "kind": appearance.heat_setting.kind,
            "is_log": appearance.heat_setting.is_log,
            "colours": appearance.heat_setting.colour_map,
        }
    if appearance.region_level:
        view["region_level"] = appearance.region_level
    if appearance.shared_map_part is not None:
        camera = _mapping_of_map_part(appearance.shared_map_part)
        view["camera"] = {**camera, "follow": True} if appearance.is_following_agents else camera
    elif appearance.is_following_agents:
        view["camera"] = "follow"
    if appearance.map_part_by_panel:
        view["cameras"] = {
            _number_of_panel_key(key): _mapping_of_map_part(part) if part else "fit"
            for key, part in appearance.map_part_by_panel.items()
        }
    if appearance.sidebar_tab != defaults.sidebar_tab:
        view["sidebar"] = appearance.sidebar_tab or False
    return view


_PANEL_NUMBERS_PER_BRANCH = 4096
"""Offset of panel numbers per branch: in a file, the number of a panel is branch * 4096 + agent."""


def _number_of_panel_key(key: PanelKey) -> int:
    return key.branch * _PANEL_NUMBERS_PER_BRANCH + key.agent


def _panel_key_of_number(number: int) -> PanelKey:
    return PanelKey(*divmod(number, _PANEL_NUMBERS_PER_BRANCH))


def _mapping_of_map_part(part: MapPart) -> dict[str, Any]:
    return {"x": round(part.x, 3), "y": round(part.y, 3), "cells": round(part.cells, 3)}
