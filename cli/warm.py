"""Compiling the kernels before anything is timed."""

from collections.abc import Iterable, Mapping

from cli.progress import Progress
from sim.agent_api import AgentSpec
from sim.commands import AgentConfig, EditCells
from sim.grid import Grid
from sim.kernels import WAS_WARM
from sim.world import World


def warm_up(configs: Iterable[AgentConfig], specs: Mapping[str, AgentSpec], progress: Progress) -> None:
    """Let every agent walk over a tiny map once, so that its first real tick is no slower than the others."""
    if not WAS_WARM:
        progress.say("compiling the kernels; this happens once and takes half a minute")
    for config in configs:
        world = World(Grid.from_rows(["....", ".@..", "...."]), 0, 11, specs, budget=100)
        world.add(AgentConfig(config.kind, params=config.params))
        world.submit(EditCells(blocked=(6,)), 1)
        world.advance(10)
