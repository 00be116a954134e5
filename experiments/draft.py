"""Draft an experiment from the run in the window: its map and agents, problems, and budgets or a sweep.

A sweep tries all combinations of values of two parameters of one agent. `write_experiment_files` creates the files
(map, list of problems and specification) for the command `experiment`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.specification import FORMAT, VERSION
from files.disk import create_folder, write_file_atomically
from files.movement import movement_data
from files.movingai import ScenRow, map_text, scen_text
from files.scenario import MAX_TITLE
from files.yaml import write_yaml
from sim.agent_api import AgentSpec
from sim.grid import Grid
from sim.params import ConfigError, Value, did_you_mean_hint, parse_params
from sim.world_commands import BUDGET_PARAM, AgentConfig, name_with_suffix

MAP_FILE, PROBLEMS_FILE, SPECIFICATION_FILE = "map.map", "map.map.scen", "experiment.yaml"
BUDGET_AXIS = "budget"
_MAX_VALUES = 12  # maximum number of values on an axis of a sweep, because a larger table would be unreadable


@dataclass(frozen=True)
class SweepAxis:
    """Axis of a sweep: a parameter of the agent, or its budget, with the values to try."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class ExperimentDraft:
    """Draft of an experiment: a map, agents with budgets or with a sweep, and how to choose the problems."""

    title: str  # title of the run from which the experiment is drafted
    grid: Grid  # map of all problems
    agents: tuple[AgentConfig, ...]  # agents with all of their parameters; the budget of an agent replaces `budgets`
    budgets: tuple[int, ...]  # budgets to try with each agent, in expansions per tick
    problem_count: int  # number of problems
    seed: int  # seed with which the problems are drawn
    listed_problems: tuple[ScenRow, ...] = ()  # problems to draw from; empty: random pairs of cells are drawn
    sweep: tuple[SweepAxis, ...] = ()  # the two axes of a sweep of the only agent; empty: no sweep


def parse_sweep_axis(text: str, spec: AgentSpec) -> SweepAxis:
    """Parse an axis of a sweep from a line such as `weight: 1 1.4 2 3` or `budget: 1 4 16`.

    Raises:
        ConfigError: The agent has no such parameter, or the values are illegal or too few or too many.
    """
    name, _, values_text = text.partition(":")
    name = name.strip()
    param = BUDGET_PARAM if name == BUDGET_AXIS else spec.param(name)
    if param is None:
        names = [BUDGET_AXIS, *(p.name for p in spec.params)]
        raise ConfigError(f"sweep: {spec.name} has no parameter '{name}'{did_you_mean_hint(name, names)}")
    words = re.split(r"[\s,]+", values_text.strip()) if values_text.strip() else []
    if not 2 <= len(words) <= _MAX_VALUES:
        raise ConfigError(f"sweep: {name}: expected 2 to {_MAX_VALUES} values, got {len(words)}")
    values = [param.parse_value(word, f"sweep: {name}") for word in words]
    return SweepAxis(name, tuple(dict.fromkeys(values)))


def parse_budgets(text: str) -> tuple[int, ...]:
    """Parse budgets such as `1 4 16`; raise a ConfigError if there are none or if one is illegal."""
    words = re.split(r"[\s,]+", text.strip()) if text.strip() else []
    if not words:
        raise ConfigError("budgets: expected numbers such as 1 4 16, got nothing")
    return tuple(dict.fromkeys(int(BUDGET_PARAM.parse_value(word, "budgets")) for word in words))


def write_experiment_files(sketch: ExperimentDraft, folder: Path, specs: Mapping[str, AgentSpec]) -> Path:
    """Write the map, the problem list and the specification of an experiment into a folder.

    Args:
        sketch: The draft of the experiment.
        folder: The folder, created if necessary.
        specs: All agents by their keys.

    Returns:
        The path of the specification.

    Raises:
        ConfigError: No budget is large enough for any agent, or a file cannot be written.
    """
    create_folder(folder)
    write_file_atomically(folder / MAP_FILE, map_text(sketch.grid).encode())
    if sketch.listed_problems:
        rows = (replace(row, map_name=MAP_FILE) for row in sketch.listed_problems)
        write_file_atomically(folder / PROBLEMS_FILE, scen_text(rows).encode())
    path = folder / SPECIFICATION_FILE
    write_file_atomically(path, write_yaml(drafted_specification_data(sketch, specs)).encode())
    return path


def drafted_specification_data(sketch: ExperimentDraft, specs: Mapping[str, AgentSpec]) -> dict[str, Any]:
    """Return the specification of a drafted experiment as plain data.

    For each agent, the budgets that are too small for that agent are left out.

    Raises:
        ConfigError: No budget is large enough for any agent.
    """
    agents = [_agent_specification_entry(config, sketch, specs[config.kind]) for config in sketch.agents]
    if not any(agent["budgets"] for agent in agents):
        raise ConfigError("budgets: no budget is large enough for any of the agents; add a larger one")
    problems: dict[str, Any] = {"map": [MAP_FILE], "random": sketch.problem_count, "seed": sketch.seed}
    if sketch.listed_problems:
        problems = {"scen": [PROBLEMS_FILE], "sample": sketch.problem_count, "seed": sketch.seed}
    problems |= movement_data(sketch.grid.movement)
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": name_with_suffix(sketch.title, ": experiment", MAX_TITLE),
        "problems": problems,
        "agents": [agent for agent in agents if agent["budgets"]],
        "slice": 10,  # number of problems per task; tasks are small, so that results arrive often
        "measures": False,
    }


def insufficient_budgets(
    sketch: ExperimentDraft, specs: Mapping[str, AgentSpec]
) -> list[tuple[AgentConfig, list[int]]]:
    """Return (agent, budgets that are too small for it) for each agent that cannot run with all of its budgets."""
    budgets_by_agent = [(config, _budgets_of_agent(config, sketch), specs[config.kind]) for config in sketch.agents]
    insufficient = [
        (config, [k for k in budgets if not _is_sufficient_budget(config, k, spec)])
        for config, budgets, spec in budgets_by_agent
    ]
    return [(config, budgets) for config, budgets in insufficient if budgets]


def _budgets_of_agent(config: AgentConfig, sketch: ExperimentDraft) -> list[int]:
    """Return the budgets to try with an agent: its own budget, else budgets of a sweep, else budgets of the draft."""
    if config.budget is not None:
        return [config.budget]
    swept = next((axis.values for axis in sketch.sweep if axis.name == BUDGET_AXIS), sketch.budgets)
    return [int(budget) for budget in swept]


def _is_sufficient_budget(config: AgentConfig, budget: int, spec: AgentSpec) -> bool:
    return spec.check_budget(budget, parse_params(spec.params, config.params, spec.key, [])) is None


def _agent_specification_entry(config: AgentConfig, sketch: ExperimentDraft, spec: AgentSpec) -> dict[str, Any]:
    """Return the entry of one agent in the specification, with the budgets that are large enough for the agent."""
    swept: Mapping[str, Any] = {axis.name: list(axis.values) for axis in sketch.sweep if axis.name != BUDGET_AXIS}
    budgets = [budget for budget in _budgets_of_agent(config, sketch) if _is_sufficient_budget(config, budget, spec)]
    label = {"label": config.label} if config.label else {}
    return {"kind": config.kind, **label, **config.params, **swept, "budgets": budgets}
