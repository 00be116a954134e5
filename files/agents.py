"""Read and write agents and random changes in scenario files, such as {kind: rtb-wa, label: lazy, weight: 2}."""

from collections.abc import Callable, Mapping
from pathlib import Path

from files.document_fields import DocumentField, require_field
from files.movingai import read_scen, select_row_indices
from files.yaml import InlineList, InlineMap
from sim.agent_api import AgentSpec
from sim.agent_placing import ListedPlacing, Placing, RandomPlacing, Zone, group_member_config, place_group_members
from sim.changes import CHANGE_INTERVAL_PARAM, CHANGE_RATE_PARAM, CHANGES_REPEAT_PARAM, RandomChangeSchedule
from sim.grid import MAX_MAP_SIDE, Grid
from sim.params import ConfigError, Param, Value, did_you_mean_hint, parse_params, unknown_agent_hint, value_as_in_files
from sim.world_commands import BUDGET_PARAM, MAX_AGENTS, MAX_NAME_LENGTH, AgentConfig

AGENT_KEYS = ("kind", "label", "budget", "start", "goal", "group")
CROWD_KEYS = ("count", "placing")

COUNT_PARAM = Param("count", int, 1, "number of agents of this kind", 1, MAX_AGENTS)
SEED_PARAM = Param("seed", int, 0, "seed for drawing starts and goals", 0, (1 << 32) - 1)
MIN_COST_PARAM = Param("min_cost", float, 0.0, "minimum cost of the path from start to goal", 0.0, 1e9)

_PLACING_FORM = (
    "a placing: {pairs: random, seed: 7, min_cost: 100}, {from: [[0, 0], [9, 9]], to: [[50, 50], [59, 59]]} "
    "or {scen: file, rows: 0:500}"
)

FindFile = Callable[[str], Path | None]
"""Function that returns the real path of a file named in another file, or None if it must not be opened."""


def read_agents(
    entry: DocumentField, specs: Mapping[str, AgentSpec], shared_budget: int, grid: Grid | None, find: FindFile
) -> list[AgentConfig]:
    """Return the agents that one entry of a file describes: several agents if it has the key `count` or `placing`.

    Args:
        entry: the entry, a mapping.
        specs: known agents by key.
        shared_budget: budget of agents without a budget of their own.
        grid: the map; None if it is invalid. Then agents cannot be placed, but that is no problem of this entry.
        find: finds the file of a problem list.

    Returns:
        The agents; [] after reporting the problems of the entry.
    """
    size = (grid.width, grid.height) if grid else (MAX_MAP_SIDE, MAX_MAP_SIDE)
    config = read_agent(entry, specs, shared_budget, size)
    if not entry.is_mapping:  # read_agent() has already reported this problem
        return []
    fields = entry.read_mapping("an agent such as {kind: tb-wa, weight: 2}")
    count = fields["count"].read_integer(COUNT_PARAM) if "count" in fields else 1
    placing = _read_placing(fields["placing"], grid, find) if "placing" in fields else None
    if config is None or count is None or not _are_start_and_goal_valid(fields, config, grid):
        return []
    if "placing" in fields:
        return (
            []
            if placing is None or grid is None
            else _place_agents(entry, config, count, "count" in fields, placing, grid)
        )
    if count > 1:
        return [group_member_config(config, i) for i in range(count)]
    return [config]


def sets_own_start_or_goal(entry: object, key: str) -> bool:
    """Return whether an agent's entry, even an invalid one, sets an individual start or goal (the `key`)."""
    return isinstance(entry, Mapping) and (entry.get(key) is not None or "placing" in entry)


def _are_start_and_goal_valid(fields: Mapping[str, DocumentField], config: AgentConfig, grid: Grid | None) -> bool:
    """Return whether the start and goal of an agent's entry are free cells and not combined with `placing`."""
    wrong = []
    for key, pair in (("start", config.start), ("goal", config.goal)):
        if pair and "placing" in fields:
            wrong.append((fields[key], "is not allowed with placing, which sets it for each agent"))
        elif grid and pair and not grid.is_free(grid.cell(*pair)):
            wrong.append((fields[key], f"expected a free cell, got {list(pair)}, which is blocked"))
    for entry, text in wrong:
        entry.report_problem(text)
    return not wrong


def _place_agents(
    entry: DocumentField, config: AgentConfig, count: int, has_count: bool, placing: Placing, grid: Grid
) -> list[AgentConfig]:
    if isinstance(placing, ListedPlacing) and not has_count:
        count = len(placing.starts_and_goals)
    elif isinstance(placing, ListedPlacing) and count > len(placing.starts_and_goals):
        entry.report_problem(
            f"count: expected at most {len(placing.starts_and_goals):,}, the number of selected rows, got {count:,}"
        )
        return []
    try:
        return place_group_members(config, count, placing, grid)
    except ConfigError as error:
        for problem in error.problems:
            entry.report_problem(problem)
        return []


def _read_placing(entry: DocumentField, grid: Grid | None, find: FindFile) -> Placing | None:
    before = len(entry.problems.found)
    fields = entry.read_known_keys(("pairs", "seed", "min_cost", "from", "to", "scen", "rows"), _PLACING_FORM)
    if len(entry.problems.found) > before:
        return None
    given_keys = [key for key in ("pairs", "scen", "from") if key in fields]
    if (
        len(given_keys) != 1
        or ("rows" in fields and given_keys != ["scen"])
        or (("to" in fields) != (given_keys == ["from"]))
    ):
        entry.report_expected_value(_PLACING_FORM)
        return None
    if grid is None:
        return None
    if given_keys == ["scen"]:
        return _read_listed_starts_and_goals(fields, grid, find)
    if "pairs" in fields and fields["pairs"].value != "random":
        fields["pairs"].report_expected_value("random")
        return None
    seed = fields["seed"].read_integer(SEED_PARAM) if "seed" in fields else 0
    min_cost = fields["min_cost"].read_value(MIN_COST_PARAM) if "min_cost" in fields else 0.0
    zones = [_read_placement_zone(fields[key], grid) for key in ("from", "to") if key in fields]
    if seed is None or min_cost is None or None in zones:
        return None
    return RandomPlacing(seed, float(min_cost), *zones)


def _read_placement_zone(entry: DocumentField, grid: Grid) -> Zone | None:
    corners = entry.cells(grid.width, grid.height)
    if corners is not None and len(corners) != 2:
        entry.report_expected_value("two opposite corners such as [[0, 0], [9, 9]]")
        return None
    return None if corners is None else (corners[0], corners[1])


def _read_listed_starts_and_goals(
    fields: Mapping[str, DocumentField], grid: Grid, find: FindFile
) -> ListedPlacing | None:
    part = fields["scen"]
    name = part.read_text(1000)
    path = find(name) if name is not None else None
    if name is None or path is None:
        part.report_problem("expected a problem list inside a folder that is open to this file")
        return None
    try:
        scen = read_scen(path, grid)
        text = str(fields["rows"].value) if "rows" in fields else None
        rows = [scen.rows[number] for number in select_row_indices(text, len(scen.rows), name, "rows")]
    except ConfigError as error:
        for problem in error.problems:
            part.report_problem(problem)
        return None
    wrong = next((row for row in rows if row.problem is not None), None)
    if wrong is not None:
        part.report_problem(f"row {wrong.row_index}: {wrong.problem}")
        return None
    return ListedPlacing(tuple((row.start, row.goal) for row in rows))


def read_agent(
    entry: DocumentField,
    specs: Mapping[str, AgentSpec],
    shared_budget: int,
    size: tuple[int, int] = (MAX_MAP_SIDE, MAX_MAP_SIDE),
) -> AgentConfig | None:
    """Return the agent that a mapping such as {kind: tb-wa, weight: 2} describes.

    Args:
        entry: the mapping.
        specs: known agents by key.
        shared_budget: budget of agents without a budget of their own.
        size: width and height of the map; the maximum if the map is unknown.

    Returns:
        The agent; None after reporting all problems of the mapping.
    """
    fields = entry.read_mapping("an agent such as {kind: tb-wa, weight: 2}")
    before = len(entry.problems.found)
    kind = require_field(fields, "kind", entry, "the key of an agent")
    label = fields["label"].read_text(MAX_NAME_LENGTH) if "label" in fields else ""
    budget = fields["budget"].read_integer(BUDGET_PARAM) if "budget" in fields else None
    start, goal = (fields[key].cell(*size) if key in fields else None for key in ("start", "goal"))
    group = fields["group"].read_text(MAX_NAME_LENGTH) if "group" in fields else ""
    if kind is None:
        return None
    spec = specs.get(kind.value) if isinstance(kind.value, str) else None
    if spec is None:
        kind.report_problem(f"no agent {value_as_in_files(kind.value)}{unknown_agent_hint(kind.value, specs)}")
        return None
    others = {key: part for key, part in fields.items() if key not in (*AGENT_KEYS, *CROWD_KEYS)}
    params = _agent_params(entry, spec, others)
    config = AgentConfig(spec.key, label or "", params, budget, start, goal, group or "")
    if len(entry.problems.found) > before:
        return None
    full = parse_params(spec.params, params, "", [])
    if complaint := spec.check_budget(budget or shared_budget, full):
        entry.report_problem(complaint)
        return None
    return config


def _agent_params(entry: DocumentField, spec: AgentSpec, fields: dict[str, DocumentField]) -> dict[str, Value]:
    """Return the valid parameters of an agent's entry, by name; report a problem for each invalid parameter."""
    params: dict[str, Value] = {}
    for key, part in fields.items():
        param = spec.param(key)
        if param is None:
            names = [*AGENT_KEYS, *CROWD_KEYS, *(p.name for p in spec.params)]
            part.report_problem(f"{spec.key} has no such parameter{did_you_mean_hint(key, names)}")
        elif (value := part.read_value(param)) is not None:
            params[key] = value
    return params


def agent_config_data(config: AgentConfig) -> InlineMap:
    data = InlineMap(kind=config.kind)
    if config.label:
        data["label"] = config.label
    if config.budget is not None:
        data["budget"] = config.budget
    for key, pair in (("start", config.start), ("goal", config.goal)):
        if pair is not None:
            data[key] = InlineList(pair)
    if config.group:
        data["group"] = config.group
    data.update(config.params)
    return data


def read_random_changes(entry: DocumentField, *, may_be_one: bool = False) -> RandomChangeSchedule | None:
    """Return the random changes of the map, written {every: 10, rate: 5}; None after reporting a problem.

    Args:
        entry: the mapping.
        may_be_one: whether `repeat` is allowed, with which a scenario may have a single change.
    """
    known = ("every", "rate", "repeat") if may_be_one else ("every", "rate")
    parts = entry.read_known_keys(known, "random changes such as {every: 10, rate: 5}")
    every = require_field(parts, "every", entry, "the ticks between changes") if parts else None
    rate = require_field(parts, "rate", entry, "the percentage of cells that change") if parts else None
    if every is None or rate is None:
        return None
    ticks, percent = every.read_integer(CHANGE_INTERVAL_PARAM), rate.read_value(CHANGE_RATE_PARAM)
    repeats = parts["repeat"].read_value(CHANGES_REPEAT_PARAM) if "repeat" in parts else True
    return (
        None if ticks is None or percent is None else RandomChangeSchedule(ticks, float(percent), repeats is not False)
    )


def random_changes_data(changes: RandomChangeSchedule) -> InlineMap:
    data = InlineMap(every=changes.interval_ticks, rate=changes.changed_percent)
    if not changes.repeats:
        data["repeat"] = False
    return data
