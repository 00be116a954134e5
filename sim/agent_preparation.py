"""Computation, in steps, of all prepared data (prepared.py) that agents need on a map, before they are created."""

from collections.abc import Iterable, Iterator, Mapping

from sim.agent_api import AgentSpec, Problem
from sim.grid import Grid
from sim.params import parse_params
from sim.prepared_data import BuildProgress, Stopwatch
from sim.world_commands import AgentConfig


def iter_data_preparation(
    configs: Iterable[AgentConfig],
    specs: Mapping[str, AgentSpec],
    grid: Grid,
    start_and_goal: tuple[int, int],
    stopwatch: Stopwatch | None = None,
) -> Iterator[BuildProgress]:
    """Compute the prepared data of each agent in turn, and yield the progress.

    If the caller stops the iteration, data that is finished stays in the cache.

    Args:
        configs: agents that will be created.
        specs: known algorithms by key.
        grid: map.
        start_and_goal: shared start and goal.
        stopwatch: clock in seconds that measures the time of each computation; None: not measured.
    """
    for config in configs:
        spec = specs[config.kind]
        params = parse_params(spec.params, config.params, spec.key, [])
        goal = start_and_goal[1] if config.goal is None else grid.cell(*config.goal)
        for step in spec.prepare(Problem(grid, start_and_goal[0], goal), params, stopwatch):
            yield BuildProgress(f"{config.label or spec.name}: {step.work_name}", step.share)


def needs_prepared_data(configs: Iterable[AgentConfig], specs: Mapping[str, AgentSpec]) -> bool:
    """Return whether any of these agents needs data that is computed before the run."""
    return any(specs[config.kind].has_data for config in configs if config.kind in specs)
