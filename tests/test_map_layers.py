"""The layers of a map picture: each one file, which says everything about it."""

from pathlib import Path

import numpy as np
import pytest

import ui.draw.layers
from sim.kernels import log
from sim.kernels.octile import DX, DY
from sim.kernels.search import is_known
from sim.params import Value
from ui.draw.kernels.flow import stamp_flow
from ui.draw.kernels.paint import Frame
from ui.draw.layers import LAYERS, control
from ui.draw.layers.flow import arrows_of
from ui.model.layers import LayerState
from ui.model.trails import Trail

from .conftest import drawn, make_world
from .test_golden import M1

CONTROLLED = [
    ("d-lrta", {"goal_control": "global", "level": 2, "cap": 2}, log.CAP_HIT),
    ("d-lrta", {"depth_control": "fixed", "level": 5}, log.REENTERED),
    ("knn-lrta", {"records": 4, "cap": 1, "direct": False}, log.CAP_HIT),
]


def test_every_file_is_a_layer_with_a_place_and_a_depth_of_its_own() -> None:
    files = {path.stem for path in Path(ui.draw.layers.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {layer.key for layer in LAYERS}
    assert [layer.place for layer in LAYERS] == list(range(1, len(LAYERS) + 1))
    assert len({layer.depth for layer in LAYERS}) == len(LAYERS)
    assert len({layer.shortcut for layer in LAYERS}) == len(LAYERS)


@pytest.mark.parametrize(("kind", "params", "mark"), CONTROLLED, ids=["cap hits", "re-entries", "climbs"])
def test_cap_hits_and_reentries_are_drawn_where_they_were(kind: str, params: dict[str, Value], mark: int) -> None:
    """By the rows, and by the counts of the referee."""
    rows, start, goal = drawn(M1["map"])
    world = make_world(rows, start, goal, (kind, params))
    walker = world.walkers[0]
    trail, cells, marked = Trail(start, 0, world.grid), [start], []
    for _ in range(200):
        if not world.advance(1):
            break
        trail.append(walker.rows)
        marked += cells[-1:] if walker.rows[0].marks & mark else []
        cells.append(walker.position)
    metrics = world.metrics(walker)
    assert len(marked) == (metrics.reentries if mark == log.REENTERED else metrics.cap_hits) > 0
    assert control.cells_with(trail, mark).tolist() == sorted(set(marked))


def test_only_what_is_not_as_usual_is_noted() -> None:
    state = LayerState()
    for layer in LAYERS:
        assert state.shows(layer) == layer.is_on
        state.toggle(layer)
        assert state.shows(layer) != layer.is_on and state.visible == {layer.key: not layer.is_on}
        assert not state.without([layer.key]).shows(layer)
        state.toggle(layer)
        assert state.visible == {}


def test_flow_arrows_point_to_the_parent() -> None:
    """The tip of each arrow is nearer to the cell it was reached from than its tail."""
    arrows = arrows_of(15)
    for d in range(8):
        rows, columns = np.nonzero(arrows[d] > 200)
        across = np.abs((columns - 7) * DY[d] - (rows - 7) * DX[d])
        along = -(columns - 7) * DX[d] - (rows - 7) * DY[d]
        tip, tail = along > along.max() * 0.5, along < along.min() * 0.5
        assert across[tip].mean() < across[tail].mean() and tip.any() and tail.any()


def test_flow_arrows_stand_in_known_cells_only() -> None:
    world = make_world(["......", "......", "......"], 0, 17, ("tb-wa", {}), budget=2)
    world.advance(2)
    frame = Frame(np.zeros((60, 120), np.uint32), 0, 0, 120, 60, 20.0, 0.0, 0.0, 6, 3)
    search = world.walkers[0].agent.view().search
    stamp_flow(frame, search.nodes, int(search.control[0].search), arrows_of(15), 0xFFFFFF)
    for cell in range(18):
        y, x = divmod(cell, 6)
        has_arrow = bool(frame.pixels[y * 20 : y * 20 + 20, x * 20 : x * 20 + 20].any())
        assert has_arrow == (is_known(search, cell) and cell != 0), cell
