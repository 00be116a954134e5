"""The data that the agents of a run need, made in a job before the run is opened, so that the window stays alive."""

import time
from collections.abc import Callable

from agents.registry import BY_KEY
from sim.files.scenario import Scenario
from sim.preparing import is_anything_needed, preparing


def needs_data(scenario: Scenario) -> bool:
    """Whether any agent of the run computes something before it."""
    return is_anything_needed(scenario.agents, BY_KEY)


def prepare(scenario: Scenario, told: Callable[[float], None]) -> None:
    """Make all of it; `told` hears how far it is, and ends it when nobody waits. What is finished is kept."""
    ends = scenario.start_cell, scenario.goal_cell
    for step in preparing(scenario.agents, BY_KEY, scenario.grid, ends, time.perf_counter):
        told(step.share)
