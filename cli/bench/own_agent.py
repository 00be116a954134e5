"""Bench `own-agent`: speed of a user-defined agent in plain Python, compared with a compiled agent."""

import time

from agents import own_files
from agents.registry import BY_KEY
from cli.bench.setup import Setup
from cli.bench.table import Row, Table, Target
from cli.new_agent import EXAMPLE
from sim.commands import AgentConfig
from sim.generate import Generated, generate
from sim.world import World

SIDE, BUDGET = 512, 16
TARGET = Target(30.0)  # minimum ticks per second: a window shows 30
_COMPILED_AGENT = "lrta"  # key of the agent that is the control
_TICKS = 2000


def run(setup: Setup, side: int = SIDE, ticks: int = _TICKS) -> Table:
    table = Table(f"own agent: ticks per second on {side} x {side}, k={BUDGET}, one tick at a time, measures on")
    own = own_files.load(EXAMPLE).key
    setup.progress.show("own agent: making a map")
    made = generate("rooms", {"width": side, "height": side, "seed": 5, "room": 16})
    best = dict.fromkeys((own, _COMPILED_AGENT), 0.0)
    for _ in range(setup.rounds):
        for kind in best:  # both agents in every round, so that disturbances affect both alike
            setup.progress.show(f"own agent: {BY_KEY[kind].name}")
            best[kind] = max(best[kind], ticks_per_second(made, kind, ticks))
    name = f"{BY_KEY[own].name}, plain Python"
    table.rows.append(Row(name, best[own], "ticks/s", best[_COMPILED_AGENT], target=TARGET))
    table.notes.append(
        f"control: {BY_KEY[_COMPILED_AGENT].name}, which is compiled; a window shows 30 ticks per second"
    )
    return table


def ticks_per_second(made: Generated, kind: str, ticks: int) -> float:
    grid = made.grid.copy()
    world = World(grid, grid.cell(*made.start), grid.cell(*made.goal), BY_KEY, budget=BUDGET)
    world.add(AgentConfig(kind))
    before, passed = time.perf_counter(), 0
    while passed < ticks and world.advance(1):
        passed += 1
    return passed / (time.perf_counter() - before)
