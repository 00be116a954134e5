"""The layers of a map picture: name, key, whether it is on at first, and what its legend says."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ui.model.session import Panel


@dataclass(frozen=True)
class Layer:
    key: str
    name: str
    shortcut: str  # as in keys.py
    legend: str  # what the mark means, one short sentence
    is_on: bool = True


LAYERS: tuple[Layer, ...] = (
    Layer("terrain", "Terrain", "Ctrl+1", "walls, trees, swamp and water; off: free and blocked only"),
    Layer("closed", "Closed", "Ctrl+2", "cells that the current search has expanded"),
    Layer("open", "Open frontier", "Ctrl+3", "cells generated but not yet expanded"),
    Layer("tracing", "Path being traced", "Ctrl+4", "parents followed so far, from the far end (TBA*)"),
    Layer("path", "Path followed", "Ctrl+5", "the way to the best open cell, thicker where it lies ahead"),
    Layer("trail", "Trail", "Ctrl+6", "where the agent has walked; older parts are thinner"),
    Layer(
        "back_moves", "Back-moves", "Ctrl+7", "moves back along parents, beside the way out; chevrons point backwards"
    ),
    Layer("tree", "Parent tree", "Ctrl+8", "from each known cell to the cell it was reached from", is_on=False),
    Layer("best", "Best open cell", "Ctrl+9", "the cell that would be expanded next"),
    Layer("edits", "Edits", "Ctrl+Shift+1", "cells that were blocked (x) or freed (dotted) during the run"),
    Layer("ends", "Start and goal", "Ctrl+Shift+2", "start: square; goal: ring with a dot"),
    Layer("agent", "Agent", "Ctrl+Shift+3", "where the agent is"),
    Layer("detour", "Shortcut search", "Ctrl+Shift+4", "TBA*'s search from the path to the agent"),
    Layer(
        "groups",
        "Marks of the agent",
        "Ctrl+Shift+5",
        "what the algorithm sets apart: local search space, queue, dead, redundant, inconsistent",
    ),
    Layer("grid", "Grid lines", "Ctrl+Shift+6", "from 12 pixels a cell"),
)
LAYER_BY_KEY = {layer.key: layer for layer in LAYERS}

REPLACED_BY_HEAT = ("closed", "detour")
"""A cell has one fill: where there is heat, these are not drawn."""

HEAT_KINDS = ("off", "visits", "expansions", "learned", "g", "difference")
HEAT_NAMES = {
    "off": "off",
    "visits": "visits",
    "expansions": "expand",
    "learned": "learn",
    "g": "g",
    "difference": "A - B",
}


@dataclass(frozen=True)
class HeatSetting:
    """What the heat layer shows. The same for all panels, or side by side would lie."""

    kind: str = "off"
    is_log: bool = True
    colours: str = "cividis"


def compared_names(a: "Panel", b: "Panel") -> tuple[str, str]:
    """What to call the panels A and B of a heat map A - B: by their agents, with the branch where those differ."""
    names = a.view.label, b.view.label
    if a.branch == b.branch:
        return names
    return f"{names[0]} ({a.branch})", f"{names[1]} ({b.branch})"


def default_visibility() -> dict[str, bool]:
    return {layer.key: layer.is_on for layer in LAYERS}


@dataclass
class LayerState:
    """What is switched on, for all panels."""

    visible: dict[str, bool] = field(default_factory=default_visibility)
    heat: HeatSetting = field(default_factory=HeatSetting)
