"""Computation of the data that agents need before a run, with a progress bar."""

import time
from collections.abc import Iterable, Mapping

from cli.progress import ProgressBar
from sim.agent_api import AgentSpec
from sim.agent_preparation import iter_data_preparation
from sim.grid import Grid
from sim.world_commands import AgentConfig


def prepare_agent_data(
    configs: Iterable[AgentConfig],
    specs: Mapping[str, AgentSpec],
    grid: Grid,
    start_and_goal: tuple[int, int],
    progress: ProgressBar,
) -> None:
    """Compute the databases and abstractions of some agents on a map.

    If the computation is interrupted, the data that is already finished remains stored.

    Args:
        configs: The agents.
        specs: All agents by their keys.
        grid: The map.
        start_and_goal: The shared start and goal cells; an agent with its own goal uses that instead.
        progress: Shows the progress bar.
    """
    for step in iter_data_preparation(configs, specs, grid, start_and_goal, time.perf_counter):
        progress.update_bar(step.work_name, step.share)
