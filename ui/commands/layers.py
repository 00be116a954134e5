"""A command for each layer, made from the layer itself."""

from typing import TYPE_CHECKING

from ui.draw.layers import LAYERS, Layer
from ui.model.command import Action, Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Layers")


def _toggle(layer: Layer) -> Action:
    def toggle(app: "App") -> None:
        app.layers.toggle(layer)

    return toggle


for _layer in LAYERS:
    command(_layer.shortcut, f"Layer: {_layer.name.lower()}", name=f"layer_{_layer.key}")(_toggle(_layer))
