"""The data that agents need, made in a job before they are put on the map, so that the window stays alive."""

import time
from collections.abc import Callable, Iterable

from agents.registry import BY_KEY
from sim.commands import AddAgent, AgentConfig
from sim.files.scenario import Scenario
from sim.grid import Grid
from sim.preparing import is_anything_needed, preparing

Told = Callable[[float], None]
"""Hears how far it is, from 0 to 1, and ends it when nobody waits. What is finished is kept."""


def agents_of(scenario: Scenario) -> tuple[AgentConfig, ...]:
    """All agents of a run, those too that its edits put on the map later."""
    later = (edit.command for edit in scenario.edits)
    return (*scenario.agents, *(command.config for command in later if isinstance(command, AddAgent)))


def needs_data(agents: Iterable[AgentConfig]) -> bool:
    """Whether any of them computes something before it walks."""
    return is_anything_needed(agents, BY_KEY)


def prepare(scenario: Scenario, told: Told) -> None:
    """Make all that the agents of a run need on its map."""
    prepare_agents(agents_of(scenario), scenario.grid, (scenario.start_cell, scenario.goal_cell), told)


def prepare_agents(agents: Iterable[AgentConfig], grid: Grid, ends: tuple[int, int], told: Told) -> None:
    """Make all that these agents need on a map that nobody edits meanwhile."""
    for step in preparing(agents, BY_KEY, grid, ends, time.perf_counter):
        told(step.share)
