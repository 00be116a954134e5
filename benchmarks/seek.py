"""Bench `seek`: time to go to any tick of a long run, and to go back by one tick.

Each run has 20,000 ticks of four agents on a map of 512 x 512 cells, with edits and a moving goal, so that no agent
ever finishes. A seek restores the nearest keyframe (a stored state of the run) and replays the ticks after it. A step
back also adds keyframes near the current tick.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from cli.progress import ProgressBar
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.map_generators import GeneratedMap, generate_map
from sim.params import Value
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal

SIDE, TICKS = 512, 20_000  # side of the map in cells, and ticks of a run
# targets: median and longest seek in milliseconds, and time with recording / time without
MEDIAN_TARGET, LONGEST_TARGET, RECORDING_TARGET = (
    BenchTarget(100.0, is_upper_limit=True),
    BenchTarget(150.0, is_upper_limit=True),
    BenchTarget(2.0, is_upper_limit=True),
)
AGENTS = (
    AgentConfig("tba"),
    AgentConfig("tb-wa", params={"weight": 1.0}),
    AgentConfig("rtb-wa", "lazy", {"restart": "lazy"}),
    AgentConfig("rtb-wa", "eager", {"restart": "eager"}),
)
_SEEK_COUNT, _STEP_COUNT = 150, 100  # number of measured seeks to random ticks, and of steps back
_RUNS = 3  # number of runs with recording, and of runs without it; the median time of each kind counts
_FRAME_TICKS = 4  # number of ticks per frame of a window
_EDIT_EVERY, _GOAL_EVERY = 400, 1500  # ticks between two edits, and between two moves of the goal
_PROGRESS_TICKS = 500  # ticks between two updates of the progress bar
_SEED = 11


@dataclass(frozen=True)
class SeekCase:
    """Run in which the bench measures seeks, on a generated map."""

    name: str
    kind: str  # kind of the generated map
    params: Mapping[str, Value]  # parameters of the generated map
    budget: int  # expansions per tick
    changes: RandomChangeSchedule | None = None


CASES = (
    SeekCase("rooms, k=16", "rooms", {"room": 16}, 16),
    SeekCase("caves, k=256", "caves", {"grain": 4}, 256),
    SeekCase(
        "rooms, k=16, 1 % of the map changes every 20 ticks", "rooms", {"room": 16}, 16, RandomChangeSchedule(20, 1.0)
    ),
)


def run(setup: BenchSetup, ticks: int = TICKS, side: int = SIDE) -> BenchTable:
    table = BenchTable(f"seek: to random ticks of {ticks:,}, and one tick back, with four agents on {side} x {side}")
    for case in CASES:
        setup.progress.update_bar(f"seek: {case.name}")
        generated = generate_map(case.kind, {**case.params, "width": side, "height": side, "seed": _SEED})
        table.rows += _rows_of_case(case, generated, ticks, setup.progress)
    table.notes.append("milliseconds of processor time of one seek; the first seeks of a run, without warm-up")
    table.notes.append(
        "recording: a run in steps of one frame with keyframes, compared with the same run in one call without "
        f"keyframes; the median of {_RUNS}"
    )
    return table


def _rows_of_case(case: SeekCase, generated: GeneratedMap, ticks: int, progress: ProgressBar) -> Iterator[BenchRow]:
    create_world = _world_factory(case, generated, ticks)
    plain_s, live_s = [], []
    for _ in range(_RUNS):
        plain_s.append(_time_call_s(partial(create_world().advance, ticks)))
        line = Timeline(create_world)
        live_s.append(_time_call_s(partial(_advance_recorded_timeline, line, ticks, progress)))
    end, live, once = line.tick, float(np.median(live_s)), float(np.median(plain_s))
    yield BenchRow(
        f"{case.name}: recording", live / end * 1e6, "us/tick", once / end * 1e6, live / once, RECORDING_TARGET
    )
    chance = random.Random(_SEED)
    seeks = [_seek_ms(line, chance.randrange(end)) for _ in range(_SEEK_COUNT)]
    yield from _distribution_rows(f"{case.name}: any tick", seeks)
    line.seek(end * 3 // 4)
    steps = [_seek_ms(line, line.tick - 1) for _ in range(_STEP_COUNT)]
    yield from _distribution_rows(f"{case.name}: one back", steps)
    yield BenchRow(f"{case.name}: keyframes", float(line.keyframe_saver.keyframe_store.keyframe_count), "")
    limit = BenchTarget(200.0, is_upper_limit=True)
    yield BenchRow(
        f"{case.name}: their memory", line.keyframe_saver.keyframe_store.used_bytes / 1e6, "MB", target=limit
    )
    differs_at = line.run_history.divergence_tick
    assert differs_at is None, f"{case.name}: a replay differs from the run at tick {differs_at}"


def _world_factory(case: SeekCase, generated: GeneratedMap, ticks: int) -> Callable[[], World]:
    """Return a function that builds the world at tick 0, with all edits and moves of the goal in its queue."""
    terrain, free = generated.grid.terrain.copy(), np.flatnonzero(generated.grid.free_mask)
    chance = np.random.default_rng(_SEED)
    edits = [(tick, EditCells(tuple(chance.choice(free, 40).tolist()))) for tick in range(50, ticks, _EDIT_EVERY)]
    goals = [(tick, MoveGoal(int(chance.choice(free)))) for tick in range(_GOAL_EVERY, ticks, _GOAL_EVERY)]

    def build() -> World:
        grid = Grid(terrain.copy())
        start, goal = grid.cell(*generated.start), grid.cell(*generated.goal)
        world = World(
            grid,
            start,
            goal,
            AGENT_SPECS_BY_KEY,
            budget=case.budget,
            seed=_SEED,
            random_changes=case.changes,
            watched=True,
            executor=BatchedExecutor,
        )
        for config in AGENTS:
            world.add(config)
        world.queue_commands([*edits, *goals])
        world.submit(EditCells(), ticks)  # an empty edit at the last tick, so that the run does not end before it
        return world

    return build


def _advance_recorded_timeline(line: Timeline, ticks: int, progress: ProgressBar) -> None:
    """Advance a timeline to a tick in steps of one frame, as a window does."""
    while line.tick < ticks and line.advance(min(_FRAME_TICKS, ticks - line.tick)):
        if line.tick % _PROGRESS_TICKS < _FRAME_TICKS:
            progress.update_bar(f"seek: tick {line.tick:,}", line.tick / ticks)


def _seek_ms(line: Timeline, tick: int) -> float:
    return 1000 * _time_call_s(lambda: line.seek(max(0, tick)))


def _time_call_s(work: Callable[[], object]) -> float:
    before = time.thread_time()
    work()
    return time.thread_time() - before


def _distribution_rows(name: str, times_ms: list[float]) -> Iterator[BenchRow]:
    """Yield rows with the median, the 99th percentile and the maximum of times."""
    yield BenchRow(f"{name}, median", float(np.median(times_ms)), "ms", target=MEDIAN_TARGET)
    yield BenchRow(f"{name}, p99", float(np.percentile(times_ms, 99)), "ms")
    yield BenchRow(f"{name}, longest", max(times_ms), "ms", target=LONGEST_TARGET)
