"""Bench `growth`: whether memory stays flat over long use. Each load runs in a process of its own.

A row is what the second half of a load adds to the resident memory: caches and pools have their size after the first.
Garbage is collected after each twentieth, since what waits for the collector is no leak. The record of what each agent
did in each tick is kept on purpose, and subtracted; undo entries add what the target allows.
"""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

from agents.registry import BY_KEY
from cli.bench.frames import Case, make_app
from cli.bench.memory import resident_mb
from cli.bench.setup import Setup
from cli.bench.table import Row, Table, Target
from sim.commands import AgentConfig, EditCells, MoveGoal
from sim.files.map_source import rows_of
from sim.files.scenario import Scenario
from sim.generate import generate
from sim.kernels import log
from sim.params import ConfigError
from sim.program import ROOT
from sim.time.timeline import Timeline
from sim.world import World
from ui.model import branching, painting
from ui.model.session import Session

TICKS, BRANCHES, HEATS = 1_000_000, 300, 500
TARGET = Target(8.0, is_upper=True)
SIDE = 48
AGENTS = (AgentConfig("tba"), AgentConfig("rtb-wa"), AgentConfig("lrta"))
_GOAL_EVERY = 2000
_BLOCK = 10_000
_BUDGET = 8
_PARTS = 20  # of a load, after each of which garbage is collected


def run(setup: Setup) -> Table:
    table = Table("growth: resident megabytes that the second half of a load adds")
    if resident_mb() is None:
        table.notes.append("not measured: this system has no /proc/self/statm")
        return table
    for key, words in NAMES.items():
        setup.progress.show(f"growth: {words}")
        added, held = _probe_apart(key)
        table.rows.append(Row(words, added, "MB", held, target=TARGET))
    table.notes.append("control: megabytes of the process at the end")
    return table


def _probe_apart(key: str) -> tuple[float, float]:
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    command = [sys.executable, "-m", "cli.bench.growth", key]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(f"growth: {key}: the measuring process failed: {done.stderr.strip().splitlines()[-1:]}")
    added, held = json.loads(done.stdout.splitlines()[-1])
    return added, held


def probe(key: str, count: int) -> tuple[float, float]:
    """Return the megabytes that the second half of a load adds, and those of the process at its end."""
    middle = held = 0.0
    collected = 0
    for done in LOADS[key](count):
        if done * _PARTS // count > collected:
            collected = done * _PARTS // count
            gc.collect()
        if not middle and done * 2 >= count:
            middle = _settled_mb()
        if done >= count:  # inside the loop: what the load holds is there only until its end
            held = _settled_mb()
    return held - middle - KEPT_MB.get(key, 0.0) * (count - count // 2), held


def _settled_mb() -> float:
    gc.collect()
    return resident_mb() or 0.0


# --- loads: each yields how much of it is done ------------------------------------------------------------


def advance_ticks(count: int) -> Iterator[int]:
    """Let agents walk between two corners, recorded as in the window."""
    made = generate("rooms", {"width": SIDE, "height": SIDE, "room": 8, "seed": 3})
    ends = made.grid.cell(*made.start), made.grid.cell(*made.goal)
    goals = [(tick, MoveGoal(ends[tick // _GOAL_EVERY % 2 - 1])) for tick in range(_GOAL_EVERY, count, _GOAL_EVERY)]

    def build() -> World:
        world = World(made.grid.copy(), *ends, BY_KEY, budget=_BUDGET, watched=True)
        for config in AGENTS:
            world.add(config)
        world.submit_all(goals)
        world.submit(EditCells(), count)  # so that time goes on to the end
        return world

    line = Timeline(build)
    while line.tick < count and line.advance(min(_BLOCK, count - line.tick)):
        yield line.tick


def make_branches(count: int) -> Iterator[int]:
    """Branch, walk on, edit and delete the branch again."""
    session = Session(_scenario())
    session.advance(60)
    for done in range(1, count + 1):
        session.seek(30)
        number = branching.branch_here(session).number
        painting.paint(session, [SIDE * 20 + done % SIDE], block=True)
        session.advance(10)
        branching.delete(session, number)
        yield done


def change_heat(count: int) -> Iterator[int]:
    """Go through the kinds of heat in a window, a frame for each."""
    app = make_app(Case(len(AGENTS), 256, (1280, 720), agents=AGENTS))
    app.session.advance(200)
    for done in range(1, count + 1):
        app.window.run("next_heat")
        app.draw()
        yield done


def _scenario() -> Scenario:
    made = generate("rooms", {"width": SIDE, "height": SIDE, "room": 8, "seed": 3})
    return Scenario(rows_of(made.grid), made.start, made.goal, AGENTS, budget=_BUDGET, grid=made.grid)


LOADS: dict[str, Callable[[int], Iterator[int]]] = {
    "ticks": advance_ticks,
    "branches": make_branches,
    "heat": change_heat,
}
KEPT_MB = {"ticks": log.ROW.itemsize * len(AGENTS) / 2**20}  # per tick: a row of each agent
COUNTS = {"ticks": TICKS, "branches": BRANCHES, "heat": HEATS}
NAMES = {
    "ticks": f"{TICKS:,} ticks of {len(AGENTS)} agents",
    "branches": f"{BRANCHES} branches, made and deleted",
    "heat": f"{HEATS} changes of heat in a window",
}

if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], COUNTS[sys.argv[1]])))
