"""Bench `scaling`: time of a tick on maps of different sizes. The size of the map should not affect the time."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from sim.batching.batched_executor import BatchedExecutor
from sim.grid import Grid
from sim.map_generators import GeneratedMap, generate_map
from sim.params import Value
from sim.true_distances import MAX_EXPANSIONS_PER_TICK
from sim.world import World
from sim.world_commands import AgentConfig, EditCells

SIDES = (256, 512, 1024, 2048)
BUDGET = 64
TARGET = BenchTarget(1.5, is_upper_limit=True)
# Limit for the longest tick in ms, half a frame at 60 frames per second.
LONGEST_TARGET = BenchTarget(8.0, is_upper_limit=True)
MAPS: tuple[tuple[str, Mapping[str, Value]], ...] = (("rooms", {"room": 16}), ("caves", {"grain": 4}))
_CHUNK_TICKS = 32  # number of ticks that are timed together
_SEED = 5


@dataclass(frozen=True)
class ScalingCase:
    """Agent that the bench measures on maps of all sizes."""

    name: str
    kind: str  # key of the agent
    params: Mapping[str, Value]


CASES = (
    ScalingCase("TBA* heap", "tba", {"open_list": "heap"}),
    ScalingCase("TBA* buckets", "tba", {"open_list": "buckets"}),
    ScalingCase("TB-WA* w=1", "tb-wa", {"weight": 1.0}),
)


CHANGING_CASE = ScalingCase("RTB-WA* w=2, measures and edits", "rtb-wa", {"weight": 2.0, "restart": "lazy"})
CHANGING_TICKS, EDIT_EVERY, EDITED_CELL_COUNT = 400, 20, 20  # ticks of a run, ticks between two edits, cells per edit


def run(setup: BenchSetup, sides: tuple[int, ...] = SIDES) -> BenchTable:
    table = BenchTable(f"scaling: mean time of a tick with k={BUDGET} while the search lasts, corner to corner")
    for kind, values in MAPS:
        setup.progress.update_bar(f"scaling: making maps, {kind}")
        maps = [generate_map(kind, {**values, "width": side, "height": side, "seed": _SEED}) for side in sides]
        for case in CASES:
            setup.progress.update_bar(f"scaling: {case.name}, {kind}")
            table.rows += _map_size_rows(f"{case.name}, {kind}", case, maps, setup.rounds)
        setup.progress.update_bar(f"scaling: measures and changes, {kind}")
        table.rows += _changing_map_rows(f"{CHANGING_CASE.name}, {kind}", maps, setup.rounds)
    table.notes.append(
        f"measures and edits: {EDITED_CELL_COUNT} cells blocked or freed every {EDIT_EVERY} ticks; true distances are "
        "computed within the limit of a window per tick; the mean is for information, the longest tick has a target"
    )
    table.notes.append(
        f"control and ratio: compared with the map of {sides[0]} x {sides[0]}; each map has a new agent, so the first "
        "use of its memory counts, most of all on small maps"
    )
    return table


def _map_size_rows(name: str, case: ScalingCase, maps: list[GeneratedMap], rounds: int) -> Iterator[BenchRow]:
    """Yield a row for each map size after the smallest, which is the control; the largest size has a target."""
    best = [float("inf")] * len(maps)
    for _ in range(rounds):  # all sizes in every round, so that disturbances affect all sizes alike
        for index, generated in enumerate(maps):
            # runs on small maps are short, and need more repetitions for a reliable minimum
            repeats = max(1, maps[-1].grid.width // generated.grid.width // 2)
            best[index] = min(best[index], *(seconds_per_tick(case, generated) for _ in range(repeats)))
    for generated, seconds in zip(maps[1:], best[1:], strict=True):
        target = TARGET if generated is maps[-1] else None
        row_name = f"{name}, {generated.grid.width} x {generated.grid.height}"
        yield BenchRow(row_name, seconds * 1e6, "us/tick", best[0] * 1e6, seconds / best[0], target)


def _changing_map_rows(name: str, maps: list[GeneratedMap], rounds: int) -> Iterator[BenchRow]:
    """Yield rows with the mean and the longest tick on a changing map of each size, true distances included."""
    runs = [[tick_seconds_with_edits(generated) for generated in maps] for _ in range(rounds)]
    means = [min(run[index].mean() for run in runs) for index in range(len(maps))]
    longest = [min(run[index].max() for run in runs) for index in range(len(maps))]
    for generated, mean_s, longest_s in zip(maps[1:], means[1:], longest[1:], strict=True):
        size = f"{generated.grid.width} x {generated.grid.height}"
        yield BenchRow(f"{name}, {size}", mean_s * 1e6, "us/tick", means[0] * 1e6, mean_s / means[0])
        yield BenchRow(f"{name}, {size}: longest", longest_s * 1e3, "ms", longest[0] * 1e3, target=LONGEST_TARGET)


def tick_seconds_with_edits(generated: GeneratedMap) -> npt.NDArray[np.float64]:
    """Return the processor time of each tick of a run on a changing map, in seconds.

    The goal is so far away that the search continues during the whole run.
    """
    grid, chance = Grid(generated.grid.terrain.copy()), np.random.default_rng(_SEED)
    start_and_goal = grid.cell(*generated.start), grid.cell(*generated.goal)
    world = World(grid, *start_and_goal, AGENT_SPECS_BY_KEY, budget=BUDGET, watched=True, executor=BatchedExecutor)
    world.optimality_tracker.expansion_limit = MAX_EXPANSIONS_PER_TICK
    world.add(AgentConfig(CHANGING_CASE.kind, params=CHANGING_CASE.params))
    free = grid.free_mask.nonzero()[0]
    # edit cells near the start, where the agent is on maps of every size
    near_cells = free[
        np.hypot(free % grid.width - generated.start[0], free // grid.width - generated.start[1]) < SIDES[0] / 2
    ]
    spent, blocked = np.zeros(CHANGING_TICKS), ()
    for tick in range(CHANGING_TICKS):
        if tick % EDIT_EVERY == EDIT_EVERY - 1:
            freed, blocked = blocked, tuple(chance.choice(near_cells, EDITED_CELL_COUNT, replace=False).tolist())
            world.submit(EditCells(blocked_cells=blocked, freed_cells=freed))
        before = time.thread_time()
        world.advance(1)
        spent[tick] = time.thread_time() - before
    return spent


def seconds_per_tick(case: ScalingCase, generated: GeneratedMap) -> float:
    """Return the mean processor time of the ticks in which the agent still searches, in seconds."""
    grid = generated.grid
    world = World(
        grid,
        grid.cell(*generated.start),
        grid.cell(*generated.goal),
        AGENT_SPECS_BY_KEY,
        budget=BUDGET,
        measures=False,
        executor=BatchedExecutor,
    )
    walker = world.add(AgentConfig(case.kind, params=case.params))
    seconds, ticks, usual = 0.0, 0, 0
    while True:
        known, before = int(walker.counts_record[0].expansions), time.thread_time()
        passed = world.advance(_CHUNK_TICKS)
        spent = time.thread_time() - before
        expanded = int(walker.counts_record[0].expansions) - known
        if passed < _CHUNK_TICKS or expanded < usual:  # the search has ended
            return seconds / ticks if ticks else spent / passed
        usual = expanded
        seconds += spent
        ticks += passed
