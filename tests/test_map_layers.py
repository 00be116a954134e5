"""The layers of a map picture: each one file, which says everything about it."""

from pathlib import Path

import ui.draw.layers
from ui.draw.layers import LAYERS
from ui.model.layers import LayerState


def test_every_file_is_a_layer_with_a_place_and_a_depth_of_its_own() -> None:
    files = {path.stem for path in Path(ui.draw.layers.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {layer.key for layer in LAYERS}
    assert [layer.place for layer in LAYERS] == list(range(1, len(LAYERS) + 1))
    assert len({layer.depth for layer in LAYERS}) == len(LAYERS)
    assert len({layer.shortcut for layer in LAYERS}) == len(LAYERS)


def test_only_what_is_not_as_usual_is_noted() -> None:
    state = LayerState()
    for layer in LAYERS:
        assert state.shows(layer) == layer.is_on
        state.toggle(layer)
        assert state.shows(layer) != layer.is_on and state.visible == {layer.key: not layer.is_on}
        assert not state.without([layer.key]).shows(layer)
        state.toggle(layer)
        assert state.visible == {}
