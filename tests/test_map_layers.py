"""The layers of a map picture: each one file, which says everything about it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ui.draw.layers
from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import AgentSpec, AgentView
from sim.kernels import log
from sim.kernels.octile import DX, DY
from sim.kernels.search import is_known
from sim.params import Value
from ui.commands.layer_commands import default_layer_key
from ui.draw.kernels.paint import Viewport
from ui.draw.kernels.parent_arrows import stamp_parent_arrows
from ui.draw.layers import LAYERS, control, layers_for_agents
from ui.draw.layers.flow import parent_arrow_masks
from ui.draw.layers.records import records_of_agent
from ui.model.layer_state import LayerState
from ui.model.trails import Trail

from .conftest import drawn, make_world, parameter_sets, smallest_accepted_budget
from .test_golden import M1

CONTROLLED = [
    ("d-lrta", {"goal_control": "global", "level": 2, "cap": 2}, log.CAP_HIT),
    ("d-lrta", {"depth_control": "fixed", "level": 5}, log.REENTERED),
    ("knn-lrta", {"records": 4, "cap": 1, "direct": False}, log.CAP_HIT),
]


def test_every_layer_file_has_a_unique_index_depth_and_shortcut() -> None:
    files = {path.stem for path in Path(ui.draw.layers.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {layer.key for layer in LAYERS}
    assert [layer.list_position for layer in LAYERS] == list(range(1, len(LAYERS) + 1))
    assert len({layer.drawing_depth for layer in LAYERS}) == len(LAYERS)
    assert len({default_layer_key(layer.list_position) for layer in LAYERS}) == len(LAYERS)


# --- which agents have something to show of which layer ------------------------------------------------

SPECIAL: dict[str, Callable[[AgentView, int], bool]] = {
    "tracing": lambda view, marks: view.tracing.size > 0,
    "detour": lambda view, marks: view.detour is not None,
    "groups": lambda view, marks: bool(view.groups),
    "regions": lambda view, marks: view.regions is not None,
    "waypoints": lambda view, marks: view.waypoints.size > 0,
    "records": lambda view, marks: records_of_agent(view) is not None,
    "candidates": lambda view, marks: bool(view.candidates),
    "control": lambda view, marks: bool(marks & (log.CAP_HIT | log.REENTERED)),
    "contours": lambda view, marks: view.contours is not None,
}
MORE: dict[str, dict[str, Value]] = {"pr-lrta": {"level": 2, "depth_control": "database", "cap": 1}}


@pytest.mark.parametrize("spec", AGENT_SPECS_BY_KEY.values(), ids=AGENT_SPECS_BY_KEY)
def test_agent_shows_exactly_its_declared_special_layers(spec: AgentSpec) -> None:
    """In one tick or another, with one setting or another."""
    assert {layer.key for layer in LAYERS if layer.is_agent_specific} == set(SPECIAL)
    rows, start, goal = drawn(M1["map"])
    found = set()
    for params in [*parameter_sets(spec), MORE.get(spec.key, {})]:
        world = make_world(rows, start, goal, (spec.key, params), budget=smallest_accepted_budget(spec, params, 5))
        walker = world.walkers[0]
        for _ in range(60):
            if not world.advance(1):
                break
            view, marks = walker.agent.view(), int(walker.log_rows[-1].marks)
            found |= {key for key, shows in SPECIAL.items() if shows(view, marks)}
    assert found == spec.shows


def test_layers_of_several_agents_are_merged_in_order() -> None:
    usual = [layer for layer in LAYERS if not layer.is_agent_specific]
    assert list(layers_for_agents([AGENT_SPECS_BY_KEY["astar"]])) == usual
    assert [layer.key for layer in layers_for_agents([])] == ["terrain", "trail", "edits", "ends", "agent", "grid"]
    assert [
        layer.key
        for layer in layers_for_agents([AGENT_SPECS_BY_KEY["pra"], AGENT_SPECS_BY_KEY["tba"]])
        if layer.is_agent_specific
    ] == [
        "tracing",
        "detour",
        "groups",
        "regions",
    ]


@pytest.mark.parametrize(("kind", "params", "mark"), CONTROLLED, ids=["cap hits", "re-entries", "climbs"])
def test_cap_hits_and_reentries_are_drawn_at_their_cells(kind: str, params: dict[str, Value], mark: int) -> None:
    """By the rows, and by the counts of the referee."""
    rows, start, goal = drawn(M1["map"])
    world = make_world(rows, start, goal, (kind, params))
    walker = world.walkers[0]
    trail, cells, marked = Trail(start, 0, world.grid), [start], []
    for _ in range(200):
        if not world.advance(1):
            break
        trail.append_rows(walker.log_rows)
        marked += cells[-1:] if walker.log_rows[0].marks & mark else []
        cells.append(walker.position)
    metrics = world.metrics_of_walker(walker)
    assert len(marked) == (metrics.reentries if mark == log.REENTERED else metrics.cap_hits) > 0
    assert control.cells_with_event(trail, mark).tolist() == sorted(set(marked))


def test_layer_state_stores_only_differences_from_defaults() -> None:
    state = LayerState()
    for layer in LAYERS:
        assert state.is_layer_on(layer) == layer.is_on_by_default
        state.toggle_layer(layer)
        assert state.is_layer_on(layer) != layer.is_on_by_default and state.layer_visibility == {
            layer.key: not layer.is_on_by_default
        }
        assert not state.with_layers_off([layer.key]).is_layer_on(layer)
        state.toggle_layer(layer)
        assert state.layer_visibility == {}


def test_flow_arrows_point_to_the_parent() -> None:
    """The tip of each arrow is nearer to the cell it was reached from than its tail."""
    arrows = parent_arrow_masks(15)
    for d in range(8):
        rows, columns = np.nonzero(arrows[d] > 200)
        across = np.abs((columns - 7) * DY[d] - (rows - 7) * DX[d])
        along = -(columns - 7) * DX[d] - (rows - 7) * DY[d]
        tip, tail = along > along.max() * 0.5, along < along.min() * 0.5
        assert across[tip].mean() < across[tail].mean() and tip.any() and tail.any()


def test_flow_arrows_are_drawn_only_in_known_cells() -> None:
    world = make_world(["......", "......", "......"], 0, 17, ("tb-wa", {}), budget=2)
    world.advance(2)
    frame = Viewport(np.zeros((60, 120), np.uint32), 0, 0, 120, 60, 20.0, 0.0, 0.0, 6, 3)
    search = world.walkers[0].agent.view().search
    stamp_parent_arrows(frame, search.nodes, int(search.control[0].search), parent_arrow_masks(15), 0xFFFFFF)
    for cell in range(18):
        y, x = divmod(cell, 6)
        has_arrow = bool(frame.pixels[y * 20 : y * 20 + 20, x * 20 : x * 20 + 20].any())
        assert has_arrow == (is_known(search, cell) and cell != 0), cell
