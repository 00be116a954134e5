"""An experiment made from a run that is open: its map, problems on it, its agents, some budgets, or a sweep of two
parameters of one agent.

    write(sketch, folder)     map, problem list and specification, ready for `experiment`
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sim.agent_api import AgentSpec
from sim.commands import BUDGET, AgentConfig, with_end
from sim.experiments.spec import FORMAT, VERSION
from sim.files.disk import make_folder, write_atomically
from sim.files.map import ScenRow, map_text, scen_text
from sim.files.movement import movement_data
from sim.files.scenario import MAX_TITLE
from sim.files.yaml import write_yaml
from sim.grid import Grid
from sim.params import ConfigError, Value, did_you_mean, parse_params

MAP, ROWS, SPECIFICATION = "map.map", "map.map.scen", "experiment.yaml"
BUDGET_AXIS = "budget"
_MOST_VALUES = 12  # of one axis: a table of more cannot be read


@dataclass(frozen=True)
class Axis:
    """A parameter, or the budget, and the values that it is given in turn."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Sketch:
    title: str  # of the run
    grid: Grid
    agents: tuple[AgentConfig, ...]  # with all of their parameters; one with a budget keeps that
    budgets: tuple[int, ...]
    count: int  # problems
    seed: int
    rows: tuple[ScenRow, ...] = ()  # the list that the problems are drawn from; none: random pairs
    sweep: tuple[Axis, ...] = ()  # none, or two, of the one agent


def read_axis(text: str, spec: AgentSpec) -> Axis:
    """A line such as `weight: 1 1.4 2 3` or `budget: 1 4 16`."""
    name, _, rest = text.partition(":")
    name = name.strip()
    param = BUDGET if name == BUDGET_AXIS else spec.param(name)
    if param is None:
        names = [BUDGET_AXIS, *(p.name for p in spec.params)]
        raise ConfigError(f"sweep: {spec.name} has no parameter '{name}'{did_you_mean(name, names)}")
    words = re.split(r"[\s,]+", rest.strip()) if rest.strip() else []
    if not 2 <= len(words) <= _MOST_VALUES:
        raise ConfigError(f"sweep: {name}: expected 2 to {_MOST_VALUES} values, got {len(words)}")
    values = [param.parse(word, f"sweep: {name}") for word in words]
    return Axis(name, tuple(dict.fromkeys(values)))


def read_budgets(text: str) -> tuple[int, ...]:
    """Numbers such as `1 4 16`."""
    words = re.split(r"[\s,]+", text.strip()) if text.strip() else []
    if not words:
        raise ConfigError("budgets: expected numbers such as 1 4 16, got nothing")
    return tuple(dict.fromkeys(int(BUDGET.parse(word, "budgets")) for word in words))


def write(sketch: Sketch, folder: Path, specs: Mapping[str, AgentSpec]) -> Path:
    """Everything that the experiment needs, in a folder of its own. Returns the specification."""
    make_folder(folder)
    write_atomically(folder / MAP, map_text(sketch.grid).encode())
    if sketch.rows:
        rows = (replace(row, map_name=MAP) for row in sketch.rows)
        write_atomically(folder / ROWS, scen_text(rows).encode())
    path = folder / SPECIFICATION
    write_atomically(path, write_yaml(data_of(sketch, specs)).encode())
    return path


def data_of(sketch: Sketch, specs: Mapping[str, AgentSpec]) -> dict[str, Any]:
    """The specification as plain data. An agent that cannot live on one of the budgets goes without it."""
    agents = [_agent(config, sketch, specs[config.kind]) for config in sketch.agents]
    if not any(agent["budgets"] for agent in agents):
        raise ConfigError("budgets: none of them is enough for any of the agents")
    problems: dict[str, Any] = {"map": [MAP], "random": sketch.count, "seed": sketch.seed}
    if sketch.rows:
        problems = {"scen": [ROWS], "sample": sketch.count, "seed": sketch.seed}
    problems |= movement_data(sketch.grid.movement)
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": with_end(sketch.title, ": experiment", MAX_TITLE),
        "problems": problems,
        "agents": [agent for agent in agents if agent["budgets"]],
        "slice": 10,  # results come in small pieces
        "measures": False,
    }


def too_small(sketch: Sketch, specs: Mapping[str, AgentSpec]) -> list[tuple[AgentConfig, list[int]]]:
    """Agents with the budgets that they cannot live on, and that they therefore go without."""
    wanted = [(config, _wanted(config, sketch), specs[config.kind]) for config in sketch.agents]
    found = [(config, [k for k in budgets if not _is_enough(config, k, spec)]) for config, budgets, spec in wanted]
    return [(config, budgets) for config, budgets in found if budgets]


def _wanted(config: AgentConfig, sketch: Sketch) -> list[int]:
    """The budgets that it is to have in turn: its own, those swept, or those of all."""
    if config.budget is not None:
        return [config.budget]
    swept = next((axis.values for axis in sketch.sweep if axis.name == BUDGET_AXIS), sketch.budgets)
    return [int(budget) for budget in swept]


def _is_enough(config: AgentConfig, budget: int, spec: AgentSpec) -> bool:
    return spec.check_budget(budget, parse_params(spec.params, config.params, spec.key, [])) is None


def _agent(config: AgentConfig, sketch: Sketch, spec: AgentSpec) -> dict[str, Any]:
    swept: Mapping[str, Any] = {axis.name: list(axis.values) for axis in sketch.sweep if axis.name != BUDGET_AXIS}
    budgets = [budget for budget in _wanted(config, sketch) if _is_enough(config, budget, spec)]
    label = {"label": config.label} if config.label else {}
    return {"kind": config.kind, **label, **config.params, **swept, "budgets": budgets}
