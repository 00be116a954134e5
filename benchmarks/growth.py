"""Bench `growth`: growth of memory over long use, which should be zero. Each load runs in its own process.

A row gives the resident memory that the second half of a load adds; caches and pools have reached their size after the
first half. Garbage is collected after each twentieth of a load, because objects that wait for the collector are not a
leak. The record of the ticks of every agent is kept on purpose, so its size is subtracted. The target allows for the
memory of undo entries.
"""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks.bench_setup import BenchSetup
from benchmarks.frames import FrameCase, create_app
from benchmarks.memory import resident_mb
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from files.map_source import map_rows_of_grid
from files.scenario import Scenario
from sim.batching.batched_executor import BatchedExecutor
from sim.kernels import log
from sim.map_generators import generate_map
from sim.params import ConfigError
from sim.system.program import PROGRAM_FOLDER
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal
from ui.model import branch_actions, cell_edits
from ui.model.session import Session

TICKS, BRANCHES, HEATS = 1_000_000, 300, 500  # number of repetitions of each load
TARGET = BenchTarget(8.0, is_upper_limit=True)  # megabytes by which memory may grow in the second half of a load
SIDE = 48  # side of the map in cells
AGENTS = (AgentConfig("tba"), AgentConfig("rtb-wa"), AgentConfig("lrta"))
_GOAL_EVERY = 2000  # ticks between two moves of the goal
_TICKS_PER_CALL = 10_000  # number of ticks advanced in one call
_BUDGET = 8  # expansions per tick
_PARTS = 20  # number of parts of a load; garbage is collected after each part


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable("growth: resident megabytes that the second half of a load adds")
    if resident_mb() is None:
        table.notes.append("not measured: this system has no /proc/self/statm")
        return table
    for key, description in NAMES.items():
        setup.progress.update_bar(f"growth: {description}")
        added_mb, total_mb = _measure_load_in_subprocess(key)
        table.rows.append(BenchRow(description, added_mb, "MB", total_mb, target=TARGET))
    table.notes.append("control: megabytes of the process at the end")
    return table


def _measure_load_in_subprocess(key: str) -> tuple[float, float]:
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    command = [sys.executable, "-m", "benchmarks.growth", key]
    done = subprocess.run(command, cwd=PROGRAM_FOLDER, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(f"growth: {key}: the measuring process failed: {done.stderr.strip().splitlines()[-1:]}")
    added_mb, total_mb = json.loads(done.stdout.splitlines()[-1])
    return added_mb, total_mb


def measure_load_memory(key: str, count: int) -> tuple[float, float]:
    """Run a load and measure the resident memory of this process.

    Args:
        key: The name of the load.
        count: The number of its repetitions.

    Returns:
        The megabytes that the second half of the load adds, and the megabytes of the process at its end.
    """
    middle_mb = end_mb = 0.0
    collected = 0
    for done in LOAD_FUNCTIONS[key](count):
        if done * _PARTS // count > collected:
            collected = done * _PARTS // count
            gc.collect()
        if not middle_mb and done * 2 >= count:
            middle_mb = _resident_mb_after_gc()
        if done >= count:  # measured inside the loop, because a load frees its objects after its last repetition
            end_mb = _resident_mb_after_gc()
    return end_mb - middle_mb - KEPT_MB.get(key, 0.0) * (count - count // 2), end_mb


def _resident_mb_after_gc() -> float:
    gc.collect()
    return resident_mb() or 0.0


# --- loads; each load yields the number of repetitions that are done ------------------------------------------


def advance_ticks(count: int) -> Iterator[int]:
    """Let agents walk between two corners, with a timeline that records the run as in the window."""
    generated = generate_map("rooms", {"width": SIDE, "height": SIDE, "room": 8, "seed": 3})
    start_and_goal = generated.grid.cell(*generated.start), generated.grid.cell(*generated.goal)
    goals = [
        (tick, MoveGoal(start_and_goal[tick // _GOAL_EVERY % 2 - 1])) for tick in range(_GOAL_EVERY, count, _GOAL_EVERY)
    ]

    def build() -> World:
        world = World(
            generated.grid.copy(),
            *start_and_goal,
            AGENT_SPECS_BY_KEY,
            budget=_BUDGET,
            watched=True,
            executor=BatchedExecutor,
        )
        for config in AGENTS:
            world.add(config)
        world.queue_commands(goals)
        world.submit(EditCells(), count)  # an empty edit at the last tick, so that the run does not end before it
        return world

    line = Timeline(build)
    while line.tick < count and line.advance(min(_TICKS_PER_CALL, count - line.tick)):
        yield line.tick


def create_and_delete_branches(count: int) -> Iterator[int]:
    """Create a branch, edit the map in it, advance, and delete the branch; repeat this `count` times."""
    session = Session(_create_corner_scenario())
    session.advance_by_ticks(60)
    for done in range(1, count + 1):
        session.seek_to_tick(30)
        number = branch_actions.create_branch_at_current_tick(session).number
        cell_edits.block_or_free_cells(session, [SIDE * 20 + done % SIDE], block=True)
        session.advance_by_ticks(10)
        branch_actions.delete_branch(session, number)
        yield done


def switch_heat_maps(count: int) -> Iterator[int]:
    """Switch through the kinds of heat map in a window, and draw a frame with each."""
    app = create_app(FrameCase(len(AGENTS), 256, (1280, 720), agents=AGENTS))
    app.session.advance_by_ticks(200)
    for done in range(1, count + 1):
        app.window.run_command("next_heat")
        app.draw_window()
        yield done


def _create_corner_scenario() -> Scenario:
    generated = generate_map("rooms", {"width": SIDE, "height": SIDE, "room": 8, "seed": 3})
    return Scenario(
        map_rows_of_grid(generated.grid), generated.start, generated.goal, AGENTS, budget=_BUDGET, grid=generated.grid
    )


LOAD_FUNCTIONS: dict[str, Callable[[int], Iterator[int]]] = {
    "ticks": advance_ticks,
    "branches": create_and_delete_branches,
    "heat": switch_heat_maps,
}
# name of a load -> megabytes kept on purpose per repetition: the record of one tick of each agent
KEPT_MB = {"ticks": log.ROW.itemsize * len(AGENTS) / 2**20}
COUNTS = {"ticks": TICKS, "branches": BRANCHES, "heat": HEATS}
NAMES = {
    "ticks": f"{TICKS:,} ticks of {len(AGENTS)} agents",
    "branches": f"{BRANCHES} branches, made and deleted",
    "heat": f"{HEATS} changes of heat in a window",
}

if __name__ == "__main__":
    print(json.dumps(measure_load_memory(sys.argv[1], COUNTS[sys.argv[1]])))
