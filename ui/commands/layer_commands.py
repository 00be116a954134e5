"""Commands that switch the layers of the map view (such as the path or the open list) on and off, one per layer."""

from ui.commands.app_context import AppContext
from ui.draw.layers import LAYERS, Layer
from ui.model.ui_command import Action, CommandTopic, ToggledState

command = CommandTopic("Layers")

_KEY_PREFIXES = ("Ctrl+", "Ctrl+Shift+", "Ctrl+Alt+")  # prefixes of the keys of layers 1 to 9, 10 to 18 and 19 to 27


def default_layer_key(list_position: int) -> str:
    """Return the default key of the layer at a position, counted from 1; "" for layers after the 27th."""
    nines, digit = divmod(list_position - 1, 9)
    return f"{_KEY_PREFIXES[nines]}{digit + 1}" if nines < len(_KEY_PREFIXES) else ""


def _create_layer_toggle_action(layer: Layer) -> Action:
    def toggle(window: AppContext) -> None:
        window.map_view.layer_state.toggle_layer(layer)

    return toggle


def _is_layer_on(layer: Layer) -> ToggledState:
    return lambda view: view.map_view.layer_state.is_layer_on(layer)


def add_layer_command(topic: CommandTopic, layer: Layer) -> None:
    """Add the command that shows or hides a layer to a topic."""
    topic(
        default_layer_key(layer.list_position),
        f"Show or hide layer: {layer.name.lower()}",
        button=layer.name,
        is_on=_is_layer_on(layer),
        synonyms=("toggle", "view", layer.key),
        name=f"layer_{layer.key}",
    )(_create_layer_toggle_action(layer))


for _layer in LAYERS:
    add_layer_command(command, _layer)
