"""Bench `optimisations`: what each performance mechanism gains, as the ratio of the times without and with it.

Each mechanism is switched off by replacing one function or constant. Both variants run in turn, in the same process,
and both must give the same digests. docs/optimisations.md explains the mechanisms.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from agents import kernel_agent
from agents.registry import AGENT_SPECS_BY_KEY
from agents.warm_up import warm_up_batches
from benchmarks.bench_problems import random_start_goal_pairs
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable
from sim import agent_placing, walker, world
from sim.agent_placing import RandomPlacing, cheapest_cost_and_moves, place_group_members
from sim.batching import batch_plan, batched_executor
from sim.batching.crowd_world import build_crowd_world
from sim.grid import Grid
from sim.jit import decorators
from sim.kernels import search
from sim.kernels.memory import BUFFER_POOL
from sim.kernels.search import new_search
from sim.map_generators import generate_map
from sim.true_distances import MAX_EXPANSIONS_PER_TICK, UNLIMITED_EXPANSIONS
from sim.world import World
from sim.world_commands import AgentConfig, EditCells

_SIDE = 512  # side of the map in cells
_UNITS = 500  # number of units in a crowd
_CROWD_TICKS = 60
_WALK_TICKS = 400  # ticks of a single agent, each in a call of its own
_SHORT_PROBLEMS = 40
_DISPLAYED_SIDE = 1024
_expansions_per_tick = MAX_EXPANSIONS_PER_TICK  # of the search that measures moves; replaced to switch deferring off

Replacements = tuple[tuple[Any, str, Any], ...]
"""Attributes to replace to switch a mechanism off: the object, the name of its attribute, and the replacement."""

Measurement = tuple[float, object]
"""Seconds of a run, and its result, which must not depend on the mechanism."""


@dataclass(frozen=True)
class Mechanism:
    """Performance mechanism, how to switch it off, and a run in which it matters."""

    name: str
    replacements: Replacements
    run: Callable[[], Measurement]


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable("optimisations: time of a run with a mechanism, and without it (control)")
    grid = generate_map("caves", {"width": _SIDE, "height": _SIDE, "grain": 4, "seed": 3}).grid
    warm_up_batches()
    for mechanism in _mechanisms(grid):
        setup.progress.update_bar(f"optimisations: {mechanism.name}")
        used, unused = _best_seconds(mechanism, setup.rounds)
        table.rows.append(BenchRow(mechanism.name, used * 1000.0, "ms", unused * 1000.0, unused / used))
    table.notes.append("ratio: time without the mechanism / time with it")
    return table


def _best_seconds(mechanism: Mechanism, rounds: int) -> tuple[float, float]:
    """Return the minimum seconds with and without a mechanism. The first round only compiles kernels."""
    best = {True: float("inf"), False: float("inf")}
    results = set()
    for number in range(rounds + 1):
        for is_used in best:
            with _switched_off(() if is_used else mechanism.replacements):
                seconds, result = mechanism.run()
            results.add(result)
            if number:
                best[is_used] = min(best[is_used], seconds)
    assert len(results) == 1, f"{mechanism.name}: different results {results}"
    return best[True], best[False]


@contextmanager
def _switched_off(replacements: Replacements) -> Iterator[None]:
    with ExitStack() as stack:
        for target, name, value in replacements:
            stack.enter_context(patch.object(target, name, value))
        yield


def _mechanisms(grid: Grid) -> list[Mechanism]:
    def without_buckets(*sizes: Any, is_bucketed: bool = False, **options: Any) -> Any:
        return new_search(*sizes, **options)

    def unchanged(memory: Any) -> Any:
        return memory

    def no_batches(*_: object) -> list[Any]:
        return []

    def row_order(width: int) -> int:
        return 0

    def do_nothing(*_: object) -> None:
        return None

    plain = ((kernel_agent, "as_plain_arrays", unchanged), (walker, "as_plain_arrays", unchanged))
    crowd = _crowd_runner(grid, "tb-wa", {"weight": 2.5}, 25)
    small = _crowd_runner(grid, "lrta", {}, 1)
    return [
        Mechanism("batches, 500 TB-WA*", ((batch_plan, "form_batches", no_batches),), crowd),
        Mechanism("batches, 500 LRTA*", ((batch_plan, "form_batches", no_batches),), small),
        Mechanism("tables in tiles, 500 TB-WA*", ((world, "tile_width_if_compiled", row_order),), crowd),
        Mechanism(
            "pages touched before the first tick, 500 TB-WA*",
            ((batched_executor, "prefault_search_pages", do_nothing),),
            _crowd_runner(grid, "tb-wa", {"weight": 2.5}, 25, times_slowest=True),
        ),
        Mechanism("no type checks, LRTA*", ((decorators, "_CALLS_BEFORE_RESOLVING", 0),), _walk_runner(grid, "lrta")),
        Mechanism("no type checks, TB-WA*", ((decorators, "_CALLS_BEFORE_RESOLVING", 0),), _walk_runner(grid, "tb-wa")),
        Mechanism("plain arguments, TB-WA*", plain, _walk_runner(grid, "tb-wa")),
        Mechanism("reused memory, 40 short problems", ((BUFFER_POOL, "max_bytes", 0),), _short_problem_runner(grid)),
        Mechanism(
            "buckets instead of a heap, cheapest paths",
            ((agent_placing, "new_search", without_buckets),),
            _cheapest_path_runner(grid),
        ),
        Mechanism(
            "buckets instead of a heap, A*",
            ((search, "new_search", without_buckets),),
            _agent_runner(grid, "astar", 10_000),
        ),
        Mechanism(
            "deferred measures, slowest tick after an edit",
            ((sys.modules[__name__], "_expansions_per_tick", UNLIMITED_EXPANSIONS),),
            _edited_map_runner(),
        ),
    ]


def _crowd_runner(
    grid: Grid, kind: str, params: dict[str, Any], budget: int, times_slowest: bool = False
) -> Callable[[], Measurement]:
    """Return a run of a crowd; it measures all ticks, or only the slowest tick."""
    placed = place_group_members(AgentConfig(kind, params=params, budget=budget), _UNITS, RandomPlacing(7, 100.0), grid)

    def measure() -> Measurement:
        BUFFER_POOL.release_free_buffers()
        crowd = build_crowd_world(grid, AGENT_SPECS_BY_KEY, placed, budget)
        seconds = [_seconds_of(lambda: crowd.advance(1)) for _ in range(_CROWD_TICKS)]
        return max(seconds) if times_slowest else sum(seconds), crowd.compute_digest()

    return measure


def _walk_runner(grid: Grid, kind: str) -> Callable[[], Measurement]:
    """Return a run of a displayed agent, tick by tick."""
    start, goal = next(random_start_goal_pairs(grid, 1, Random(kind)))

    def measure() -> Measurement:
        run_world = World(grid, grid.cell(*start), grid.cell(*goal), AGENT_SPECS_BY_KEY, budget=1, watched=True)
        run_world.add(AgentConfig(kind))
        for _ in range(100):
            run_world.advance(1)

        def walk() -> None:
            for _ in range(_WALK_TICKS):
                run_world.advance(1)

        return _seconds_of(walk), run_world.compute_digest()

    return measure


def _short_problem_runner(grid: Grid) -> Callable[[], Measurement]:
    """Return a run of an agent on many problems with short paths, one world for each, as in an experiment."""
    placed = place_group_members(AgentConfig("tb-wa"), _SHORT_PROBLEMS, RandomPlacing(7, 10.0), grid)

    def solve(config: AgentConfig) -> str:
        start, goal = config.start, config.goal
        assert start is not None and goal is not None
        run_world = World(grid, grid.cell(*start), grid.cell(*goal), AGENT_SPECS_BY_KEY, budget=64)
        run_world.add(AgentConfig("tb-wa"))
        run_world.advance(100)
        return run_world.compute_digest()

    def measure() -> Measurement:
        BUFFER_POOL.release_free_buffers()
        digests: list[str] = []
        return _seconds_of(lambda: digests.extend(map(solve, placed))), tuple(digests)

    return measure


def _cheapest_path_runner(grid: Grid) -> Callable[[], Measurement]:
    pairs = [(grid.cell(*start), grid.cell(*goal)) for start, goal in random_start_goal_pairs(grid, 20, Random(1))]

    def measure() -> Measurement:
        costs: list[float] = []
        seconds = _seconds_of(lambda: costs.extend(cheapest_cost_and_moves(grid, *pair)[0] for pair in pairs))
        return seconds, tuple(round(cost, 6) for cost in costs)

    return measure


def _agent_runner(grid: Grid, kind: str, budget: int) -> Callable[[], Measurement]:
    """Return a run of an agent on ten problems; the result is the cost of each walk."""
    pairs = [(grid.cell(*start), grid.cell(*goal)) for start, goal in random_start_goal_pairs(grid, 10, Random(2))]

    def solve(start: int, goal: int) -> float:
        run_world = World(grid, start, goal, AGENT_SPECS_BY_KEY, budget=budget)
        walker = run_world.add(AgentConfig(kind))
        run_world.advance(100_000)
        return round(run_world.metrics_of_walker(walker).cost, 6)

    def measure() -> Measurement:
        costs: list[float] = []
        return _seconds_of(lambda: costs.extend(solve(*pair) for pair in pairs)), tuple(costs)

    return measure


def _edited_map_runner() -> Callable[[], Measurement]:
    """Return a run of a displayed agent on a large map that is edited; it measures the slowest tick after the edit."""
    made = generate_map("caves", {"width": _DISPLAYED_SIDE, "height": _DISPLAYED_SIDE, "grain": 4, "seed": 5})

    def measure() -> Measurement:
        grid = Grid(made.grid.terrain.copy())
        run_world = World(
            grid, grid.cell(*made.start), grid.cell(*made.goal), AGENT_SPECS_BY_KEY, budget=64, watched=True
        )
        run_world.optimality_tracker.expansion_limit = _expansions_per_tick
        run_world.add(AgentConfig("lrta"))
        run_world.advance(20)
        cells = np.random.default_rng(3).choice(grid.free_mask.nonzero()[0], 200, replace=False)
        free = [cell for cell in cells.tolist() if cell not in (run_world.start, run_world.goal)]
        run_world.submit(EditCells(blocked_cells=tuple(free)))
        return max(_seconds_of(lambda: run_world.advance(1)) for _ in range(30)), run_world.compute_digest()

    return measure


def _seconds_of(work: Callable[[], object]) -> float:
    before = time.thread_time()
    work()
    return time.thread_time() - before
