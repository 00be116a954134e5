"""Worlds with many agents that have starts and goals of their own."""

from collections.abc import Iterable, Mapping

from sim.agent_api import AgentSpec
from sim.batching.batched_executor import BatchedExecutor
from sim.grid import Grid
from sim.world import World
from sim.world_commands import AgentConfig


def build_crowd_world(grid: Grid, specs: Mapping[str, AgentSpec], configs: Iterable[AgentConfig], budget: int) -> World:
    """Return a new world with agents of these configurations, prepared for its first tick.

    All agents must have a start and goal of their own, because the shared start and goal are an arbitrary free cell.
    """
    unused = int(grid.free_mask.nonzero()[0][0])
    world = World(grid, unused, unused, specs, budget=budget, measures=False, executor=BatchedExecutor)
    for config in configs:
        world.add(config)
    world.prepare_first_tick()
    return world
