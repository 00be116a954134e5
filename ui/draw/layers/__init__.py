"""The layers of a map picture: each in a file of its own, which is all there is to do for a new one."""

import importlib
import pkgutil
from collections.abc import Iterator

from ui.draw.layer import Layer

__all__ = ["BY_DEPTH", "LAYERS", "LAYER_BY_KEY", "Layer"]


def _found() -> Iterator[Layer]:
    """The LAYER of every module in this folder."""
    for module in pkgutil.iter_modules(__path__):
        layer = importlib.import_module(f"{__name__}.{module.name}").LAYER
        assert isinstance(layer, Layer) and layer.key == module.name, module.name
        yield layer


LAYERS: tuple[Layer, ...] = tuple(sorted(_found(), key=lambda layer: layer.place))
LAYER_BY_KEY = {layer.key: layer for layer in LAYERS}
BY_DEPTH = tuple(sorted(LAYERS, key=lambda layer: layer.depth))
