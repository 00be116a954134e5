"""State of the layers of a map picture: which are on, and which heat is shown. The layers are in ui/draw/layers/."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ui.model.run import Panel


class Switchable(Protocol):
    """Layer that can be switched on and off."""

    @property
    def key(self) -> str: ...
    @property
    def is_on(self) -> bool: ...  # whether the layer is on by default


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


HEAT_WORDS = HEAT_NAMES | {
    "scrub": "scrubbing",
    "expansions": "expansions",
    "learned": "learned h",
    "depth": "depth of lookahead",
}
"""Longer names of the heat kinds, for films and drawings, which have more room and no tooltips."""


@dataclass(frozen=True)
class HeatSetting:
    """Setting of the heat layer, shared by all panels so that they can be compared."""

    kind: str = "off"
    is_log: bool = True  # whether the colours are on a logarithmic scale
    colours: str = "inferno"


def compared_names(a: "Panel", b: "Panel") -> tuple[str, str]:
    """Return the names of the panels A and B of a heat map A - B: their agents, with the branches if these differ."""
    names = a.view.label, b.view.label
    if a.branch == b.branch:
        return names
    return f"{names[0]} ({a.branch})", f"{names[1]} ({b.branch})"


@dataclass
class LayerState:
    """Switched layers, shared by all panels; `visible` holds only values that differ from the defaults."""

    visible: dict[str, bool] = field(default_factory=dict)
    heat: HeatSetting = field(default_factory=HeatSetting)
    region_level: int = 0  # level of the abstraction whose regions are drawn; 0: the level that each agent uses

    def shows(self, layer: Switchable) -> bool:
        return self.visible.get(layer.key, layer.is_on)

    def toggle(self, layer: Switchable) -> None:
        wanted = not self.shows(layer)
        self.visible.pop(layer.key, None)
        if wanted != layer.is_on:
            self.visible[layer.key] = wanted

    def show_heat(self, kind: str) -> None:
        self.heat = replace(self.heat, kind=kind)

    def without(self, keys: Collection[str]) -> "LayerState":
        """Return this state with some layers off."""
        return LayerState({**self.visible, **dict.fromkeys(keys, False)}, self.heat, self.region_level)
