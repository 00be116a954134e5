"""Where the agents of a group begin and want to go: drawn by a seed, between zones, or rows of a problem list.

A placing is spread out once, when a scenario is read; from then on every agent has ends of its own.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sim.commands import AgentConfig, Pair, with_end
from sim.files.telling import tell
from sim.grid import Grid
from sim.kernels.distance import find_ways_near, ways_from
from sim.kernels.jit import bare
from sim.kernels.memory import scratch
from sim.kernels.offline import solve
from sim.kernels.search import begin, new_search
from sim.params import ConfigError

Zone = tuple[Pair, Pair]
"""Two opposite corners, both inside."""

_TRIES = 200  # for each agent, before a placing counts as impossible
_HOPELESS = 2000  # tries without a single pair, after which nobody has to wait for all the others
_TELL_EVERY = 8  # tries, each of which may search the whole map


@dataclass(frozen=True)
class Drawn:
    """Pairs of free cells with a way between them, drawn by a seed."""

    seed: int = 0
    min_cost: float = 0.0  # of the cheapest way from start to goal
    start_zone: Zone | None = None  # None: the whole map
    goal_zone: Zone | None = None


@dataclass(frozen=True)
class Listed:
    """Starts and goals as a problem list has them."""

    ends: tuple[tuple[Pair, Pair], ...]


Placing = Drawn | Listed


def spread(config: AgentConfig, count: int, placing: Placing, grid: Grid) -> list[AgentConfig]:
    """One agent made many, each with its own ends. They are a group of the name that the one had."""
    ends = placing.ends if isinstance(placing, Listed) else list(_drawn(placing, count, grid))
    return [replace(one_of(config, i), start=start, goal=goal) for i, (start, goal) in enumerate(ends[:count])]


def one_of(config: AgentConfig, place: int) -> AgentConfig:
    """The agent at a place, from 0, of the group that has the name of this one."""
    group = config.label or config.kind
    return replace(config, label=with_end(group, f" {place + 1}"), group=group)


def on_other_map(agents: Iterable[AgentConfig], grid: Grid, seed: int) -> list[AgentConfig]:
    """The same agents for another map. Those of groups that have ends of their own get others, which are drawn there,
    groups of one size the same; all others those of the map.
    """
    agents = list(agents)
    sizes = Counter(config.group for config in agents if _is_placed(config))
    drawn = {size: _far_pairs(size, grid, seed) for size in set(sizes.values())}
    ends = {group: iter(drawn[size]) for group, size in sizes.items()}
    moved = []
    for config in agents:
        start, goal = next(ends[config.group]) if _is_placed(config) else (None, None)
        has_start, has_goal = config.start is not None, config.goal is not None
        moved.append(replace(config, start=start if has_start else None, goal=goal if has_goal else None))
    return moved


def _is_placed(config: AgentConfig) -> bool:
    """Whether it is one of a group whose agents begin or end at places of their own."""
    return bool(config.group) and (config.start is not None or config.goal is not None)


def _far_pairs(count: int, grid: Grid, seed: int) -> list[tuple[Pair, Pair]]:
    """As far apart as a quarter of the map, where it has such cells."""
    for far in (max(grid.width, grid.height) / 4, 0.0):
        with suppress(ConfigError):
            return list(_drawn(Drawn(seed, far), count, grid))
    raise ConfigError(f"{grid.name}: expected free cells with ways between them for {count:,} agents, got too few")


def cheapest(grid: Grid, start: int, goal: int) -> float:
    """Cost of the cheapest way between two free cells, infinity where there is none."""
    return cheapest_way(grid, start, goal)[0]


def cheapest_way(grid: Grid, start: int, goal: int) -> tuple[float, int | None]:
    """The same, and how many moves it has; None where there is none."""
    search = new_search(grid.cells, is_bucketed=True, is_reused=True)
    way = scratch("way", grid.cells, np.int32, is_reused=True)
    length, _ = solve(grid.ground, bare(search), start, goal, way)
    return (float(search.nodes["g"][goal]), int(length) - 1) if length else (float("inf"), None)


def cheapest_ways(grid: Grid, starts: Sequence[int], goal: int) -> list[tuple[float, int | None]]:
    """The same from each of many cells to one, by one search from there backwards; from a single one straight there."""
    if len(starts) <= 1:
        return [cheapest_way(grid, start, goal) for start in starts]
    search = bare(new_search(grid.cells, is_bucketed=True, is_reused=True))
    begin(grid.ground, search, goal, -1, starts[0])
    costs, moves = np.zeros(len(starts)), np.zeros(len(starts), np.int64)
    ways_from(grid.ground, search, np.array(starts, np.int64), costs, moves)
    return [
        (cost, count if cost < np.inf else None) for cost, count in zip(costs.tolist(), moves.tolist(), strict=True)
    ]


def may_be_others(
    grid: Grid, starts: Sequence[int], goals: Sequence[int], costs: Sequence[float], changed: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Which cheapest ways of these costs may be others now that the map changed in these cells."""
    is_near = np.zeros(len(starts), np.bool_)
    ends = np.array([starts, goals], np.int64)
    find_ways_near(grid.ground, ends[0], ends[1], np.array(costs, np.float64), changed, is_near)
    return is_near


def _drawn(placing: Drawn, count: int, grid: Grid) -> Iterator[tuple[Pair, Pair]]:
    chance = random.Random(placing.seed)
    starts, goals = (_free_cells(grid, zone) for zone in (placing.start_zone, placing.goal_zone))
    found, tried, dearest = 0, 0, 0.0
    while found < count and tried < (_TRIES * count if found else min(_TRIES * count, _HOPELESS)):
        if not tried % _TELL_EVERY:
            tell(found / count)
        tried += 1
        start, goal = chance.choice(starts), chance.choice(goals)
        cost = cheapest(grid, start, goal)
        dearest = max(dearest, cost) if cost < float("inf") else dearest
        if start != goal and placing.min_cost <= cost < float("inf"):
            found += 1
            yield grid.xy(start), grid.xy(goal)
    if found < count:
        least = f" of cost {placing.min_cost:g} or more" if placing.min_cost else ""
        best = f"the dearest way among them costs {dearest:.1f}" if dearest else "none of them has a way"
        raise ConfigError(
            f"placing: expected {count:,} pairs of free cells with a way{least} between them, found {found:,} in "
            f"{tried:,} tries; {best}"
        )


def _free_cells(grid: Grid, zone: Zone | None) -> Sequence[int]:
    (x0, x1), (y0, y1) = (sorted(p) for p in zip(*zone, strict=True)) if zone else ((0, grid.width), (0, grid.height))
    ys, xs = grid.free_map[y0 : y1 + 1, x0 : x1 + 1].nonzero()
    cells: list[int] = ((ys + y0) * grid.width + xs + x0).tolist()
    if not cells:
        where = f"the zone {[list(pair) for pair in zone]}" if zone else "the map"
        raise ConfigError(f"placing: expected a free cell in {where}, got none")
    return cells
