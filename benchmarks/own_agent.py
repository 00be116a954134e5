"""Bench `own-agent`: speed of a user-defined agent in plain Python, compared with a compiled agent."""

import time

from agents import own_files
from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from cli.new_agent import EXAMPLE_AGENT_FILE
from sim.batching.batched_executor import BatchedExecutor
from sim.map_generators import GeneratedMap, generate_map
from sim.world import World
from sim.world_commands import AgentConfig

SIDE, BUDGET = 512, 16
TARGET = BenchTarget(30.0)  # minimum ticks per second: a window shows 30
_COMPILED_AGENT = "lrta"  # key of the agent that is the control
_TICKS = 2000


def run(setup: BenchSetup, side: int = SIDE, ticks: int = _TICKS) -> BenchTable:
    table = BenchTable(f"own agent: ticks per second on {side} x {side}, k={BUDGET}, one tick at a time, measures on")
    own = own_files.load_agent_file(EXAMPLE_AGENT_FILE).key
    setup.progress.update_bar("own agent: making a map")
    generated = generate_map("rooms", {"width": side, "height": side, "seed": 5, "room": 16})
    best = dict.fromkeys((own, _COMPILED_AGENT), 0.0)
    for _ in range(setup.rounds):
        for kind in best:  # both agents in every round, so that disturbances affect both alike
            setup.progress.update_bar(f"own agent: {AGENT_SPECS_BY_KEY[kind].name}")
            best[kind] = max(best[kind], ticks_per_second(generated, kind, ticks))
    name = f"{AGENT_SPECS_BY_KEY[own].name}, plain Python"
    table.rows.append(BenchRow(name, best[own], "ticks/s", best[_COMPILED_AGENT], target=TARGET))
    table.notes.append(
        f"control: {AGENT_SPECS_BY_KEY[_COMPILED_AGENT].name}, which is compiled; a window shows 30 ticks per second"
    )
    return table


def ticks_per_second(generated: GeneratedMap, kind: str, ticks: int) -> float:
    grid = generated.grid.copy()
    world = World(
        grid,
        grid.cell(*generated.start),
        grid.cell(*generated.goal),
        AGENT_SPECS_BY_KEY,
        budget=BUDGET,
        executor=BatchedExecutor,
    )
    world.add(AgentConfig(kind))
    before, passed = time.perf_counter(), 0
    while passed < ticks and world.advance(1):
        passed += 1
    return passed / (time.perf_counter() - before)
