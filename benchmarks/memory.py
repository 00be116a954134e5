"""Bench `memory`: memory of one agent on a large map. Each kind of agent is measured in its own process."""

import gc
import json
import os
import subprocess
import sys

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from sim.batching.batched_executor import BatchedExecutor
from sim.map_generators import generate_map
from sim.params import ConfigError
from sim.system.program import PROGRAM_FOLDER
from sim.world import World
from sim.world_commands import AgentConfig

SIDE = 1024  # side of the map in cells
TARGET = BenchTarget(2.0, is_upper_limit=True)  # maximum megabytes of an agent before its first tick
_AGENTS = 16  # number of agents over which the memory is averaged
_TICKS = 100  # number of ticks before the second measurement
_BUDGET = 64  # expansions per tick


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable(f"memory: resident megabytes of one agent on {SIDE} x {SIDE}, mean of {_AGENTS}")
    if resident_mb() is None:
        table.notes.append("not measured: this system has no /proc/self/statm")
        return table
    for spec in AGENT_SPECS:
        setup.progress.update_bar(f"memory: {spec.name}")
        idle, later = _measure_agent_in_subprocess(spec.key)
        table.rows.append(BenchRow(f"{spec.name}, idle", idle, "MB", target=TARGET))
        table.rows.append(BenchRow(f"{spec.name}, after {_TICKS} ticks of {_BUDGET}", later, "MB"))
    table.notes.append("in a watched world, as in a window, after an earlier world was created and deleted")
    return table


def _measure_agent_in_subprocess(key: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", key],
        cwd=PROGRAM_FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ConfigError(f"memory: {key}: the measuring process failed: {done.stderr.strip().splitlines()[-1:]}")
    idle, later = json.loads(done.stdout)
    return idle, later


def measure_agent_mb(key: str, side: int = SIDE) -> tuple[float, float]:
    """Return the megabytes that one agent of a kind adds: right after it was added, and after some ticks."""
    generated = generate_map("caves", {"width": side, "height": side, "grain": 4, "seed": 3})
    free = generated.grid.free_mask.nonzero()[0]
    middle = int(free[free.size // 2])  # a start in a corner would hide the memory that large pages waste

    def new_world() -> World:
        return World(
            generated.grid,
            middle,
            generated.grid.cell(*generated.goal),
            AGENT_SPECS_BY_KEY,
            budget=_BUDGET,
            watched=True,
            executor=BatchedExecutor,
        )

    first = new_world()  # compiles the kernels, and leaves memory that the measured world may reuse
    first.add(AgentConfig(key))
    first.advance(_TICKS)
    del first
    gc.collect()
    world = new_world()
    before = resident_mb() or 0.0
    for _ in range(_AGENTS):
        world.add(AgentConfig(key))
    idle = (resident_mb() or 0.0) - before
    world.advance(_TICKS)
    return idle / _AGENTS, ((resident_mb() or 0.0) - before) / _AGENTS


def resident_mb() -> float | None:
    """Return the resident memory of this process in megabytes, or None if the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return None


if __name__ == "__main__":
    print(json.dumps(measure_agent_mb(sys.argv[1])))
