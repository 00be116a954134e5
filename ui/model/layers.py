"""Which layers of a map picture are on, and which heat is shown. The layers themselves are in ui/draw/layers/."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ui.model.run import Panel


class Switchable(Protocol):
    """A layer, as far as switching it goes."""

    @property
    def key(self) -> str: ...
    @property
    def is_on(self) -> bool: ...  # at first


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
"""The same where there is room, and nobody to point at it: in films and drawings."""


@dataclass(frozen=True)
class HeatSetting:
    """What the heat layer shows. The same for all panels, or side by side would lie."""

    kind: str = "off"
    is_log: bool = True
    colours: str = "inferno"


def compared_names(a: "Panel", b: "Panel") -> tuple[str, str]:
    """What to call the panels A and B of a heat map A - B: by their agents, with the branch where those differ."""
    names = a.view.label, b.view.label
    if a.branch == b.branch:
        return names
    return f"{names[0]} ({a.branch})", f"{names[1]} ({b.branch})"


@dataclass
class LayerState:
    """What is switched on, for all panels. Only what differs from the usual is noted."""

    visible: dict[str, bool] = field(default_factory=dict)
    heat: HeatSetting = field(default_factory=HeatSetting)
    region_level: int = 0  # of the abstraction whose regions are drawn; 0: that on which the agent works

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
        """The same with these layers off."""
        return LayerState({**self.visible, **dict.fromkeys(keys, False)}, self.heat, self.region_level)
