"""Placing of the agents of a group: starts and goals drawn at random, possibly from zones, or from a problem list.

A placing is a rule for these starts and goals. It is applied once, when a scenario is read; from then on every agent
has a start and a goal of its own. This module also computes cheapest paths.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.jit.decorators import as_plain_arrays
from sim.kernels.distance import mark_paths_near_changes, measure_cheapest_paths
from sim.kernels.memory import scratch_array
from sim.kernels.offline import find_cheapest_path
from sim.kernels.search import begin_search, new_search
from sim.params import ConfigError
from sim.system.load_progress import report_load_progress
from sim.world_commands import AgentConfig, CellXY, name_with_suffix

Zone = tuple[CellXY, CellXY]
"""Rectangle of cells, given by two opposite corner cells, which belong to the rectangle."""

# Number of pairs (start, goal) to try per agent before the placing is reported as impossible.
_MAX_PAIR_TRIES_PER_AGENT = 200
# Number of pairs to try in total, if none is suitable, before the placing is reported as impossible.
_MAX_TRIES_WITHOUT_SUCCESS = 2000
_TRIES_PER_PROGRESS_REPORT = 8  # number of pairs to try between two progress reports; each try may search the whole map


@dataclass(frozen=True)
class RandomPlacing:
    """Placing that draws starts and goals at random: pairs of free cells with a path between them."""

    seed: int = 0
    min_cost: float = 0.0  # minimum cost of the cheapest path from start to goal
    start_zone: Zone | None = None  # zone of starts; None: the whole map
    goal_zone: Zone | None = None  # zone of goals; None: the whole map


@dataclass(frozen=True)
class ListedPlacing:
    """Placing that takes starts and goals from a problem list."""

    starts_and_goals: tuple[tuple[CellXY, CellXY], ...]


Placing = RandomPlacing | ListedPlacing


def place_group_members(config: AgentConfig, count: int, placing: Placing, grid: Grid) -> list[AgentConfig]:
    """Return the configurations of a group: `count` copies of `config`, each with its own start and goal.

    The group is named after `config`. It has fewer than `count` agents if the problem list is shorter.

    Raises:
        ConfigError: not enough pairs of cells were found.
    """
    pairs = (
        placing.starts_and_goals
        if isinstance(placing, ListedPlacing)
        else list(_sample_start_goal_pairs(placing, count, grid))
    )
    return [
        replace(group_member_config(config, i), start=start, goal=goal) for i, (start, goal) in enumerate(pairs[:count])
    ]


def group_member_config(config: AgentConfig, index: int) -> AgentConfig:
    """Return the configuration of a member of the group named after `config`. `index`: index of the member, from 0."""
    group = config.label or config.kind
    return replace(config, label=name_with_suffix(group, f" {index + 1}"), group=group)


def adapt_agents_to_map(agents: Iterable[AgentConfig], grid: Grid, seed: int) -> list[AgentConfig]:
    """Adapt agents to another map, and return their new configurations.

    Members of groups with starts or goals of their own get new ones, drawn on the new map; groups of equal size get the
    same starts and goals. All other agents use the shared start and goal.

    Args:
        agents: agents of the old map.
        grid: new map.
        seed: seed of the draws.

    Raises:
        ConfigError: the new map has too few pairs of free cells with a path between them.
    """
    agents = list(agents)
    sizes = Counter(config.group for config in agents if _is_member_with_own_start(config))
    drawn = {size: _sample_far_pairs(size, grid, seed) for size in set(sizes.values())}
    pairs_by_group = {group: iter(drawn[size]) for group, size in sizes.items()}
    moved = []
    for config in agents:
        start, goal = next(pairs_by_group[config.group]) if _is_member_with_own_start(config) else (None, None)
        has_start, has_goal = config.start is not None, config.goal is not None
        moved.append(replace(config, start=start if has_start else None, goal=goal if has_goal else None))
    return moved


def _is_member_with_own_start(config: AgentConfig) -> bool:
    """Return whether an agent is a member of a group and has a start or goal of its own."""
    return bool(config.group) and (config.start is not None or config.goal is not None)


def _sample_far_pairs(count: int, grid: Grid, seed: int) -> list[tuple[CellXY, CellXY]]:
    """Draw pairs (start, goal) that are at least a quarter of the map's longer side apart; if too few, any pairs."""
    for min_cost in (max(grid.width, grid.height) / 4, 0.0):
        with suppress(ConfigError):
            return list(_sample_start_goal_pairs(RandomPlacing(seed, min_cost), count, grid))
    raise ConfigError(f"{grid.name}: expected free cells with paths between them for {count:,} agents, got too few")


def cheapest_path_cost(grid: Grid, start: int, goal: int) -> float:
    """Return the cost of the cheapest path between two free cells; infinity: there is no path."""
    return cheapest_cost_and_moves(grid, start, goal)[0]


def cheapest_cost_and_moves(grid: Grid, start: int, goal: int) -> tuple[float, int | None]:
    """Return cost and number of moves of the cheapest path between two free cells; (infinity, None): no path."""
    search = new_search(grid.cells, is_bucketed=True, is_reused=True)
    path = scratch_array("way", grid.cells, np.int32, is_reused=True)
    length, _ = find_cheapest_path(grid.map_arrays, as_plain_arrays(search), start, goal, path)
    return (float(search.nodes["g"][goal]), int(length) - 1) if length else (float("inf"), None)


def cheapest_costs_and_moves(grid: Grid, starts: Sequence[int], goal: int) -> list[tuple[float, int | None]]:
    """Return for each start the cost and number of moves of the cheapest path to one goal; (infinity, None): no path.

    If there are several starts, one backward search from the goal finds all paths.
    """
    if len(starts) <= 1:
        return [cheapest_cost_and_moves(grid, start, goal) for start in starts]
    search = as_plain_arrays(new_search(grid.cells, is_bucketed=True, is_reused=True))
    begin_search(grid.map_arrays, search, goal, -1, starts[0])
    costs, moves = np.zeros(len(starts)), np.zeros(len(starts), np.int64)
    measure_cheapest_paths(grid.map_arrays, search, np.array(starts, np.int64), costs, moves)
    return [
        (cost, count if cost < np.inf else None) for cost, count in zip(costs.tolist(), moves.tolist(), strict=True)
    ]


def possibly_changed_path_mask(
    grid: Grid, starts: Sequence[int], goals: Sequence[int], costs: Sequence[float], changed: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Return a mask of the cheapest paths that may be different after a map change.

    Args:
        grid: map after the change.
        starts: start of each path.
        goals: goal of each path.
        costs: cost of each path before the change.
        changed: cells that changed.

    Returns:
        bool[paths]. False: the path is certainly the same. True: it may have changed.
    """
    is_near = np.zeros(len(starts), np.bool_)
    starts_and_goals = np.array([starts, goals], np.int64)
    mark_paths_near_changes(
        grid.map_arrays, starts_and_goals[0], starts_and_goals[1], np.array(costs, np.float64), changed, is_near
    )
    return is_near


def _sample_start_goal_pairs(placing: RandomPlacing, count: int, grid: Grid) -> Iterator[tuple[CellXY, CellXY]]:
    """Yield `count` random pairs (start, goal) as the placing demands; raise a ConfigError if too few are found."""
    chance = random.Random(placing.seed)
    starts, goals = (_free_cells_of_zone(grid, zone) for zone in (placing.start_zone, placing.goal_zone))
    found, tried, dearest = 0, 0, 0.0
    while found < count and tried < (
        _MAX_PAIR_TRIES_PER_AGENT * count
        if found
        else min(_MAX_PAIR_TRIES_PER_AGENT * count, _MAX_TRIES_WITHOUT_SUCCESS)
    ):
        if not tried % _TRIES_PER_PROGRESS_REPORT:
            report_load_progress(found / count)
        tried += 1
        start, goal = chance.choice(starts), chance.choice(goals)
        cost = cheapest_path_cost(grid, start, goal)
        dearest = max(dearest, cost) if cost < float("inf") else dearest
        if start != goal and placing.min_cost <= cost < float("inf"):
            found += 1
            yield grid.xy(start), grid.xy(goal)
    if found < count:
        cost_text = f" of cost {placing.min_cost:g} or more" if placing.min_cost else ""
        best = f"the most expensive path among them costs {dearest:.1f}" if dearest else "none of them has a path"
        raise ConfigError(
            f"placing: expected {count:,} pairs of free cells with a path{cost_text} between them, found {found:,} in "
            f"{tried:,} tries; {best}"
        )


def _free_cells_of_zone(grid: Grid, zone: Zone | None) -> Sequence[int]:
    """Return the free cells of a zone, or of the whole map if `zone` is None; raise a ConfigError if there are none."""
    (x0, x1), (y0, y1) = (sorted(p) for p in zip(*zone, strict=True)) if zone else ((0, grid.width), (0, grid.height))
    ys, xs = grid.free_mask_2d[y0 : y1 + 1, x0 : x1 + 1].nonzero()
    cells: list[int] = ((ys + y0) * grid.width + xs + x0).tolist()
    if not cells:
        where = f"the zone {[list(pair) for pair in zone]}" if zone else "the map"
        raise ConfigError(f"placing: expected a free cell in {where}, got none")
    return cells
