"""Layers of the map, one module each. Every module in ui/draw/layers/ is imported automatically and defines a layer."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator

from sim.agent_api import AgentSpec
from ui.draw.layer import Layer

__all__ = ["LAYERS", "LAYERS_BY_DRAWING_DEPTH", "LAYER_BY_KEY", "Layer", "layers_for_agents"]


def _import_layers() -> Iterator[Layer]:
    """Import every module in ui/draw/layers/ and yield its LAYER."""
    for module in pkgutil.iter_modules(__path__):
        layer = importlib.import_module(f"{__name__}.{module.name}").LAYER
        assert isinstance(layer, Layer) and layer.key == module.name, module.name
        yield layer


LAYERS: tuple[Layer, ...] = tuple(sorted(_import_layers(), key=lambda layer: layer.list_position))
LAYER_BY_KEY = {layer.key: layer for layer in LAYERS}
LAYERS_BY_DRAWING_DEPTH = tuple(sorted(LAYERS, key=lambda layer: layer.drawing_depth))


def layers_for_agents(agent_specs: Iterable[AgentSpec]) -> tuple[Layer, ...]:
    """Return the layers that apply to these kinds of agents; without agents, only layers that need no agent."""
    specs = list(agent_specs)
    shown_keys = frozenset[str]().union(*(spec.shows for spec in specs))
    applicable = (layer for layer in LAYERS if specs or not layer.is_for_single_agent)
    return tuple(layer for layer in applicable if not layer.is_agent_specific or layer.key in shown_keys)
