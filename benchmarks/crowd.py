"""Bench `crowd`: milliseconds of a tick with many units on one map, each with its own start and goal.

The time includes agents, referee and digest. It is processor time, so that other programs have little effect.
"""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from agents.registry import AGENT_SPECS_BY_KEY
from agents.warm_up import warm_up_batches
from benchmarks.bench_problems import grouped_by_map
from benchmarks.bench_setup import BenchSetup
from benchmarks.memory import resident_mb
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from sim.agent_placing import RandomPlacing, place_group_members
from sim.batching.crowd_world import build_crowd_world
from sim.grid import Grid
from sim.kernels.memory import BUFFER_POOL
from sim.map_generators import generate_map
from sim.params import Value
from sim.world_commands import AgentConfig, EditCells

SIZES = (10, 100, 500, 1000)  # numbers of units on the map, one run each
TICKS = 220  # number of ticks of a measured run
SIDE = 512  # side of a generated map in cells
MIN_COST = 100.0  # minimum cost of the cheapest path of a unit
BUDGET_MS = 3.0  # target: maximum median time of a tick of all units, in milliseconds
_GROUP = "bg512"  # set of problems from which the map is taken
_MEMORY_TARGET = BenchTarget(0.6, is_upper_limit=True)  # maximum megabytes per unit
_BULK_TARGET = BenchTarget(1.3, is_upper_limit=True)  # maximum ratio: time of single ticks / time in one call
EDITED_CELL_COUNTS = (3, 300, 3000)
"""Numbers of cells to edit. For each number, one edit that blocks cells and one that frees them are measured."""


@dataclass(frozen=True)
class CrowdCase:
    """Agent and settings of the units that are measured."""

    name: str
    kind: str  # key of the agent
    params: Mapping[str, Value]
    budget: int  # expansions per tick of each unit
    target_unit_count: int | None = None  # target: number of units whose median tick takes at most BUDGET_MS


CASES = (
    CrowdCase("TB-WA* w=2.5 k=25", "tb-wa", {"weight": 2.5}, 25, 500),
    CrowdCase("TBA* R=25", "tba", {}, 25),
    CrowdCase("LRTA* d=1", "lrta", {}, 1, 1000),
    CrowdCase("D* Lite k=25", "dstar-lite", {}, 25),
)


def run(setup: BenchSetup, sizes: tuple[int, ...] = SIZES, ticks: int = TICKS) -> BenchTable:
    grid = _choose_crowd_map(setup)
    table = BenchTable(
        f"crowd: time of a tick of units with own starts and goals on {grid.name}, paths of cost {MIN_COST:g} and more"
    )
    setup.progress.update_bar("crowd: preparing")
    warm_up_batches()  # compile the kernels first, as every command and the window do
    for case in CASES:
        medians = []
        for size in sizes:
            setup.progress.update_bar(f"crowd: {case.name}, {size} units")
            ms, megabytes = measure_ticks(case, grid, size, ticks)
            medians.append(float(np.median(ms)))
            name = f"{case.name}, {size:,} units"
            table.rows += _rows_of_crowd_size(name, case, size, ms, megabytes)
            if size == max(sizes[:3]):
                bulk, total = _milliseconds_in_single_advance(case, grid, size, ticks), float(ms.sum())
                target = _BULK_TARGET if case.target_unit_count else None
                table.rows.append(BenchRow(f"{name}: all ticks", total, "ms", bulk, total / bulk, target))
        table.rows.append(
            BenchRow(f"{case.name}: fit into {BUDGET_MS:g} ms", units_within_budget(sizes, medians), "units")
        )
    setup.progress.update_bar("crowd: edits")
    table.rows += _map_edit_rows(grid, max(sizes[:3]))
    table.notes.append("all ticks: the control runs the same ticks in one call, all ticks of one unit after the other")
    table.notes.append("edits: time to edit the map and to notify all lazy RTB-WA* units, which are on their way")
    table.notes.append(
        f"agents, referee and digest in {ticks} ticks; non-optimal moves are not counted, as each unit has its own goal"
    )
    return table


def _choose_crowd_map(setup: BenchSetup) -> Grid:
    """Return a map of the search set, or a generated map of SIDE x SIDE cells if there is none."""
    groups = dict(setup.problems.iter_problem_groups())
    if setup.problems.is_from_list and _GROUP in groups:
        return grouped_by_map(groups[_GROUP])[0][0].grid
    return generate_map("caves", {"width": SIDE, "height": SIDE, "grain": 4, "seed": 3}).grid


def _rows_of_crowd_size(
    name: str, case: CrowdCase, size: int, ms: np.ndarray, megabytes: float | None
) -> list[BenchRow]:
    has_target = size == case.target_unit_count
    rows = [
        BenchRow(
            f"{name}: median", float(np.median(ms)), "ms", target=BenchTarget(BUDGET_MS, True) if has_target else None
        ),
        BenchRow(
            f"{name}: p99",
            float(np.percentile(ms, 99)),
            "ms",
            target=BenchTarget(2 * BUDGET_MS, True) if has_target else None,
        ),
        BenchRow(f"{name}: first tick", float(ms[0]), "ms"),
    ]
    if megabytes is not None:
        rows.append(BenchRow(f"{name}: a unit", megabytes, "MB", target=_MEMORY_TARGET if has_target else None))
    return rows


def measure_ticks(case: CrowdCase, grid: Grid, size: int, ticks: int) -> tuple[np.ndarray, float | None]:
    """Run a number of units for some ticks, and measure their time and memory.

    Returns:
        The milliseconds of each tick, and the megabytes per unit after all ticks (None if the system does not report
        memory).
    """
    placed = _placed_units(case, grid, size)
    gc.collect()
    BUFFER_POOL.release_free_buffers()  # free cached memory: if units reused it, they would seem to take no memory
    before = resident_mb()
    world = build_crowd_world(grid, AGENT_SPECS_BY_KEY, placed, case.budget)
    ms = np.zeros(ticks)
    for tick in range(ticks):
        begun = time.thread_time()
        world.advance(1)
        world.compute_digest()
        ms[tick] = (time.thread_time() - begun) * 1000.0
    after = resident_mb()
    return ms, None if before is None or after is None else (after - before) / size


def _milliseconds_in_single_advance(case: CrowdCase, grid: Grid, size: int, ticks: int) -> float:
    """Return the milliseconds of all ticks in a single call of `advance`.

    In such a call each unit may run all of its ticks before the next unit does.
    """
    world = build_crowd_world(grid, AGENT_SPECS_BY_KEY, _placed_units(case, grid, size), case.budget)
    return _call_milliseconds(lambda: world.advance(ticks))


def _map_edit_rows(grid: Grid, size: int) -> list[BenchRow]:
    """Return rows with the time of map edits: for each of EDITS, an edit that blocks cells and one that frees them."""
    case = CrowdCase("RTB-WA* lazy", "rtb-wa", {"weight": 2.5, "restart": "lazy"}, 25)
    grid = Grid(grid.terrain.copy())
    world, chance = (
        build_crowd_world(grid, AGENT_SPECS_BY_KEY, _placed_units(case, grid, size), case.budget),
        np.random.default_rng(7),
    )
    rows = []
    for count in EDITED_CELL_COUNTS:
        world.advance(20)
        cells = tuple(
            chance.choice(grid.free_mask.nonzero()[0], min(count, grid.free_cell_count // 10), replace=False).tolist()
        )
        for word, edit in (("blocked", EditCells(blocked_cells=cells)), ("freed", EditCells(freed_cells=cells))):
            world.submit(edit)
            name = f"{case.name}, {size:,} units: {len(cells):,} cells {word}"
            rows.append(
                BenchRow(name, _call_milliseconds(world.apply_due_changes), "ms", target=BenchTarget(BUDGET_MS, True))
            )
            world.advance(3)
    return rows


def _call_milliseconds(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return (time.thread_time() - begun) * 1000.0


def _placed_units(case: CrowdCase, grid: Grid, size: int) -> list[AgentConfig]:
    return place_group_members(
        AgentConfig(case.kind, params=case.params, budget=case.budget), size, RandomPlacing(7, MIN_COST), grid
    )


def units_within_budget(sizes: tuple[int, ...], medians: list[float]) -> float:
    """Return the number of units whose median tick takes BUDGET_MS, interpolated between the measured sizes.

    If even the largest size takes less, the largest size is returned.
    """
    return float(np.interp(BUDGET_MS, np.maximum.accumulate(medians), sizes))
