"""What all experiments share: problems, runs, tables."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from agents.registry import BY_KEY
from cli.bench.problems import MapProblem
from cli.progress import Progress
from sim.commands import AgentConfig
from sim.files.map import read_map, read_scen
from sim.grid import Grid
from sim.metrics import Metrics
from sim.params import ConfigError, Value
from sim.world import World

_MOST_TICKS = 20_000_000


@dataclass(frozen=True)
class Settings:
    """What the command line said."""

    maps: Path
    problems: int | None  # on each map; None: what the experiment thinks right
    progress: Progress

    def count(self, usual: int) -> int:
        return usual if self.problems is None else self.problems


def listed_problems(
    settings: Settings, name: str, count: int, low: float = 0.0, high: float = float("inf")
) -> list[MapProblem]:
    """Up to `count` rows of a map's .scen file with an optimal length from low to high, drawn with a fixed seed."""
    grid = _grid(settings.maps, name)
    rows = [row for row in read_scen(settings.maps / f"{name}.scen", grid).rows if not row.problem]
    fitting = [row for row in rows if low <= row.optimal <= high]
    chosen = sorted(Random(name).sample(fitting, min(count, len(fitting))), key=lambda row: row.number)
    return [MapProblem(name, name, grid, row.start, row.goal, row.optimal) for row in chosen]


def random_problems(settings: Settings, name: str, count: int) -> list[MapProblem]:
    """`count` solvable problems between free cells of a map, drawn evenly with a fixed seed."""
    return drawn_problems(_grid(settings.maps, name), name, count)


def drawn_problems(grid: Grid, name: str, count: int) -> list[MapProblem]:
    """`count` solvable problems on a grid, drawn evenly from all pairs of free cells with a seed from `name`."""
    chance = Random(name)
    free = grid.free.nonzero()[0].tolist()
    found: list[MapProblem] = []
    while len(found) < count:
        start, goal = chance.sample(free, 2)
        length = World(grid, start, goal, BY_KEY, measures=False).optimal
        if length < float("inf"):
            found.append(MapProblem(name, name, grid, grid.xy(start), grid.xy(goal), length))
    return found


def _grid(maps: Path, name: str) -> Grid:
    if not (maps / name).is_file():
        raise ConfigError(f"experiments: {maps / name}: no such map; the experiments need the benchmark maps")
    return read_map(maps / name)


@dataclass(frozen=True)
class Setting:
    """An agent, its parameters, its budget."""

    kind: str
    params: Mapping[str, Value]
    budget: int


@dataclass(frozen=True)
class Run:
    """What one agent did on one problem, and the processor time that its planning took."""

    metrics: Metrics
    planning_ms: float

    @property
    def ratio(self) -> float:
        """Cost / optimal."""
        assert self.metrics.suboptimality is not None
        return self.metrics.suboptimality


def run_alone(problem: MapProblem, setting: Setting, seed: int = 0) -> Run:
    """One agent on one problem of a map that does not change."""
    grid = problem.grid
    world = World(grid, *problem.ends, BY_KEY, budget=setting.budget, seed=seed, stopwatch=time.thread_time)
    walker = world.add(AgentConfig(setting.kind, params=setting.params))
    world.advance(_MOST_TICKS)
    assert walker.position == world.goal, (problem, setting)
    return Run(world.metrics(walker), 1000.0 * world.planning_s[walker.id])


def run_all(settings: Settings, what: str, problems: Sequence[MapProblem], setting: Setting) -> list[Run]:
    """One run for each problem."""
    done = []
    for number, problem in enumerate(problems):
        settings.progress.show(what, number / len(problems))
        done.append(run_alone(problem, setting, seed=number))
    return done


def mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept)


def mean_ratio(runs: Iterable[Run]) -> float:
    """Mean of cost / optimal."""
    return mean(run.ratio for run in runs)


def print_table(settings: Settings, headings: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """A table in Markdown, to be pasted into docs/experiments.md."""
    settings.progress.clear()
    for line in (headings, ["--:"] * len(headings), *rows):
        print("| " + " | ".join(_shown(cell) for cell in line) + " |")
    print(flush=True)


def _shown(cell: object) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}" if abs(cell) < 0.1 else f"{cell:.2f}"


Experiment = Callable[[Settings], None]
