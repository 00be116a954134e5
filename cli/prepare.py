"""Making the data that agents need before a run, with a bar of progress."""

import time
from collections.abc import Iterable, Mapping

from cli.progress import Progress
from sim.agent_api import AgentSpec
from sim.commands import AgentConfig
from sim.grid import Grid
from sim.preparing import preparing


def prepare(
    configs: Iterable[AgentConfig],
    specs: Mapping[str, AgentSpec],
    grid: Grid,
    ends: tuple[int, int],
    progress: Progress,
) -> None:
    """Databases and abstractions of these agents on this map. Interrupted, it keeps what it has finished."""
    for step in preparing(configs, specs, grid, ends, time.perf_counter):
        progress.show(step.text, step.share)
