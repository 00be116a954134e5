"""Commands that switch the layers of the map view (such as the path or the open list) on and off, one per layer."""

from ui.commands.window import Window
from ui.draw.layers import LAYERS, Layer
from ui.model.command import Action, Topic

command = Topic("Layers")


def _toggle_command(layer: Layer) -> Action:
    def toggle(window: Window) -> None:
        window.scene.layers.toggle(layer)

    return toggle


for _layer in LAYERS:
    command(_layer.shortcut, f"Show or hide layer: {_layer.name.lower()}", name=f"layer_{_layer.key}")(
        _toggle_command(_layer)
    )
