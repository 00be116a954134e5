"""Preparation of the data that agents need, in a background job before they are put on the map."""

import time
from collections.abc import Callable, Iterable

from agents.registry import AGENT_SPECS_BY_KEY
from files.scenario import Scenario
from sim import agent_preparation
from sim.agent_preparation import iter_data_preparation
from sim.grid import Grid
from sim.world_commands import AddAgent, AgentConfig

ReportProgress = Callable[[float], None]
"""Callback with the progress from 0 to 1. It raises an exception if the job was cancelled; finished parts are kept."""


def agents_of_scenario(scenario: Scenario) -> tuple[AgentConfig, ...]:
    """Return all agents of a scenario, including those that its commands add later."""
    scripted_commands = (edit.command for edit in scenario.timed_commands)
    return (*scenario.agents, *(command.config for command in scripted_commands if isinstance(command, AddAgent)))


def needs_prepared_data(agents: Iterable[AgentConfig]) -> bool:
    """Return whether any of the agents needs data, such as a database, that must be computed before it walks."""
    return agent_preparation.needs_prepared_data(agents, AGENT_SPECS_BY_KEY)


def prepare_data_of_scenario(scenario: Scenario, report_progress: ReportProgress) -> None:
    """Prepare all data that the agents of a scenario need on its map.

    Args:
        scenario: The scenario.
        report_progress: Callback that gets the progress from 0 to 1.
    """
    prepare_data_of_agents(
        agents_of_scenario(scenario), scenario.grid, (scenario.start_cell, scenario.goal_cell), report_progress
    )


def prepare_data_of_agents(
    agents: Iterable[AgentConfig], grid: Grid, start_and_goal: tuple[int, int], report_progress: ReportProgress
) -> None:
    """Prepare all data that these agents need on a map.

    Args:
        agents: The agents.
        grid: The map, which must not be edited meanwhile.
        start_and_goal: Cells of the shared start and goal.
        report_progress: Callback that gets the progress from 0 to 1.
    """
    for step in iter_data_preparation(agents, AGENT_SPECS_BY_KEY, grid, start_and_goal, time.perf_counter):
        report_progress(step.share)
