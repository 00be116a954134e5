"""The layers of a map picture: each one file, which says everything about it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ui.draw.layers
from agents.registry import BY_KEY
from sim.agent_api import AgentSpec, AgentView
from sim.kernels import log
from sim.kernels.octile import DX, DY
from sim.kernels.search import is_known
from sim.params import Value
from ui.draw.kernels.flow import stamp_flow
from ui.draw.kernels.paint import Frame
from ui.draw.layers import LAYERS, control, layers_of
from ui.draw.layers.flow import arrows_of
from ui.draw.layers.records import records_of
from ui.model.layers import LayerState
from ui.model.trails import Trail

from .conftest import budget_for, drawn, make_world, settings_of
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


# --- which agents have something to show of which layer ------------------------------------------------

SPECIAL: dict[str, Callable[[AgentView, int], bool]] = {
    "tracing": lambda view, marks: view.tracing.size > 0,
    "detour": lambda view, marks: view.detour is not None,
    "groups": lambda view, marks: bool(view.groups),
    "regions": lambda view, marks: view.regions is not None,
    "waypoints": lambda view, marks: view.waypoints.size > 0,
    "records": lambda view, marks: records_of(view) is not None,
    "candidates": lambda view, marks: bool(view.candidates),
    "control": lambda view, marks: bool(marks & (log.CAP_HIT | log.REENTERED)),
    "contours": lambda view, marks: view.contours is not None,
}
MORE: dict[str, dict[str, Value]] = {"pr-lrta": {"level": 2, "depth_control": "database", "cap": 1}}


@pytest.mark.parametrize("spec", BY_KEY.values(), ids=BY_KEY)
def test_an_agent_shows_just_the_special_layers_that_it_declares(spec: AgentSpec) -> None:
    """In one tick or another, with one setting or another."""
    assert {layer.key for layer in LAYERS if layer.is_special} == set(SPECIAL)
    rows, start, goal = drawn(M1["map"])
    found = set()
    for params in [*settings_of(spec), MORE.get(spec.key, {})]:
        world = make_world(rows, start, goal, (spec.key, params), budget=budget_for(spec, params, 5))
        walker = world.walkers[0]
        for _ in range(60):
            if not world.advance(1):
                break
            view, marks = walker.agent.view(), int(walker.rows[-1].marks)
            found |= {key for key, shows in SPECIAL.items() if shows(view, marks)}
    assert found == spec.shows


def test_layers_are_those_of_all_agents_together_in_their_order() -> None:
    usual = [layer for layer in LAYERS if not layer.is_special]
    assert list(layers_of([BY_KEY["astar"]])) == usual
    assert [layer.key for layer in layers_of([])] == ["terrain", "trail", "edits", "ends", "agent", "grid"]
    assert [layer.key for layer in layers_of([BY_KEY["pra"], BY_KEY["tba"]]) if layer.is_special] == [
        "tracing",
        "detour",
        "groups",
        "regions",
    ]


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
