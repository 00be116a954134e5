"""Making the data that agents need before a run, with a bar of progress."""

import time
from collections.abc import Iterable, Mapping

from cli.progress import Progress
from sim.agent_api import AgentSpec, Problem
from sim.commands import AgentConfig
from sim.grid import Grid
from sim.params import parse_params


def prepare(
    configs: Iterable[AgentConfig],
    specs: Mapping[str, AgentSpec],
    grid: Grid,
    ends: tuple[int, int],
    progress: Progress,
) -> None:
    """Databases and abstractions of these agents on this map. Interrupted, it keeps what it has finished."""
    for config in configs:
        spec = specs[config.kind]
        params = parse_params(spec.params, config.params, spec.key, [])
        for step in spec.prepare(Problem(grid, *ends), params, time.perf_counter):
            progress.show(f"{config.label or spec.name}: {step.text}", step.share)
