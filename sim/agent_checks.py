"""Checks before an agent is added to a world: free start and goal, known algorithm, legal parameters. Also its seed."""

from collections.abc import Mapping

import numpy as np

from sim.agent_api import AgentSpec
from sim.grid import Grid
from sim.params import ConfigError, Value, parse_params, unknown_agent_hint
from sim.world_commands import AgentConfig


def check_start_and_goal(grid: Grid, start: int, goal: int) -> None:
    """Raise a ConfigError if the shared start or goal is not a free cell of the map."""
    problems = []
    for word, cell in (("start", start), ("goal", goal)):
        if not 0 <= cell < grid.cells:
            problems.append(f"{grid.name}: {word}: expected a cell of the map, got {cell}")
        elif not grid.is_free(cell):
            x, y = grid.xy(cell)
            problems.append(f"{grid.name}: {word}: expected a free cell, got [{x}, {y}], which is blocked")
    if problems:
        raise ConfigError(problems)


def own_start_and_goal(grid: Grid, config: AgentConfig) -> tuple[int | None, int | None]:
    """Return the own start and the own goal cell of an agent; each is None if the agent uses the shared one.

    Raises:
        ConfigError: the own start or goal is not a free cell of the map.
    """
    cells: list[int | None] = []
    for word, pair in (("start", config.start), ("goal", config.goal)):
        if pair is not None and not (grid.contains_point(*pair) and grid.is_free(grid.cell(*pair))):
            raise ConfigError(f"agent: {word}: expected a free cell of the map, got {list(pair)}")
        cells.append(None if pair is None else int(grid.cell(*pair)))
    return cells[0], cells[1]


def check_agent_config(
    specs: Mapping[str, AgentSpec], config: AgentConfig, shared_budget: int, where: str
) -> tuple[AgentSpec, dict[str, Value], int]:
    """Return the spec of an agent, all of its parameters, and its own or the shared budget, after checking them.

    Args:
        specs: known algorithms by key.
        config: configuration of the agent.
        shared_budget: budget for agents without one of their own, in expansions per tick.
        where: text that begins each error message.

    Raises:
        ConfigError: the configuration is invalid. It lists all problems found.
    """
    spec = specs.get(config.kind)
    if spec is None:
        raise ConfigError(f"{where}: no agent '{config.kind}'{unknown_agent_hint(config.kind, specs)}")
    problems: list[str] = []
    params = parse_params(spec.params, config.params, where, problems)
    budget = config.budget or shared_budget
    if not problems and (complaint := spec.check_budget(budget, params)):
        problems.append(f"{where}.{complaint}")
    if problems:
        raise ConfigError(problems)
    return spec, params, budget


def seed_of_problem(seed: int, number: int) -> int:
    """Return the seed of the world for problem `number` of a list. Different problems get different seeds."""
    return (seed * 1_000_003 + number) & 0xFFFFFFFF


def seed_of_agent(seed: int, agent: int) -> int:
    """Return the seed of an agent, derived from its id so that adding an agent does not change other agents' seeds."""
    return int(np.random.SeedSequence([seed & 0xFFFFFFFF, agent]).generate_state(1)[0])
