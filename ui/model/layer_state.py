"""State of the map layers: which layers are switched on, and what the heat map shows.

The layers themselves are in ui/draw/layers/.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ui.model.run import Panel


class SwitchableLayer(Protocol):
    """Layer that can be switched on and off."""

    @property
    def key(self) -> str: ...
    @property
    def is_on_by_default(self) -> bool: ...  # whether the layer is on by default


HEAT_KINDS = ("off", "scrub", "visits", "expansions", "learned", "g", "depth", "difference")
HEAT_COLOUR_NAMES = ("inferno", "cividis", "viridis", "greys", "magma")
HEAT_NAMES = {
    "off": "off",
    "scrub": "scrub",
    "visits": "visits",
    "expansions": "expand",
    "learned": "learn",
    "g": "g",
    "depth": "depth",
    "difference": "A - B",
}


HEAT_LONG_NAMES = HEAT_NAMES | {
    "scrub": "scrubbing",
    "expansions": "expansions",
    "learned": "learned h",
    "depth": "depth of lookahead",
}
"""Longer names of the heat kinds, for films and drawings, which have more room and no tooltips."""


@dataclass(frozen=True)
class HeatSetting:
    """Setting of the heat map layer, shared by all panels so that their colours can be compared."""

    kind: str = "off"
    is_log: bool = True  # whether the colour scale is logarithmic
    colour_map: str = "inferno"


def compared_panel_names(a: "Panel", b: "Panel") -> tuple[str, str]:
    """Return the labels of the panels A and B of a heat map A - B: agent names, with branch names if they differ."""
    names = a.walker_view.label, b.walker_view.label
    if a.branch_name == b.branch_name:
        return names
    return f"{names[0]} ({a.branch_name})", f"{names[1]} ({b.branch_name})"


@dataclass
class LayerState:
    """State of the layers, shared by all panels; `layer_visibility` has only those not in their default state."""

    layer_visibility: dict[str, bool] = field(default_factory=dict)
    heat_setting: HeatSetting = field(default_factory=HeatSetting)
    region_level: int = 0  # level of the abstraction whose regions are drawn; 0: the level that each agent uses

    def is_layer_on(self, layer: SwitchableLayer) -> bool:
        return self.layer_visibility.get(layer.key, layer.is_on_by_default)

    def toggle_layer(self, layer: SwitchableLayer) -> None:
        wanted = not self.is_layer_on(layer)
        self.layer_visibility.pop(layer.key, None)
        if wanted != layer.is_on_by_default:
            self.layer_visibility[layer.key] = wanted

    def set_heat_kind(self, kind: str) -> None:
        self.heat_setting = replace(self.heat_setting, kind=kind)

    def with_layers_off(self, keys: Collection[str]) -> "LayerState":
        """Return a copy of this state in which the layers with these keys are switched off."""
        return LayerState({**self.layer_visibility, **dict.fromkeys(keys, False)}, self.heat_setting, self.region_level)
