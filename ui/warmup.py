"""Runs every kernel once on a tiny map, so that none has to be compiled in the middle of a run."""

from agents.registry import BY_KEY, SPECS
from sim.changes import RandomChanges
from sim.commands import AgentConfig, EditCells
from sim.grid import Grid
from sim.world import World


def warm_kernels() -> None:
    rows = ["........", "..@@@@..", "..@..@..", "........"]
    grid = Grid.from_rows(rows)
    world = World(grid, 0, grid.cells - 1, BY_KEY, budget=4, random_changes=RandomChanges(5, 5.0), watched=True)
    for spec in SPECS:
        world.add(AgentConfig(spec.key))
    world.add(AgentConfig("tba", params={"open_list": "buckets", "shortcut": True, "switch": "longer"}))
    world.advance(2)
    world.submit(EditCells(blocked=(19,)))
    world.advance(2)
    world.submit(EditCells(freed=(19,)))
    world.advance(30)
    world.snapshot()
