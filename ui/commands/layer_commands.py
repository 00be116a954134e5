"""Commands that switch the layers of the map view (such as the path or the open list) on and off, one per layer."""

from ui.commands.app_context import AppContext
from ui.draw.layers import LAYERS, Layer
from ui.model.ui_command import Action, CommandTopic

command = CommandTopic("Layers")


def _create_layer_toggle_action(layer: Layer) -> Action:
    def toggle(window: AppContext) -> None:
        window.map_view.layer_state.toggle_layer(layer)

    return toggle


for _layer in LAYERS:
    command(_layer.shortcut, f"Show or hide layer: {_layer.name.lower()}", name=f"layer_{_layer.key}")(
        _create_layer_toggle_action(_layer)
    )
