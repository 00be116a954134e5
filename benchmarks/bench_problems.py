"""Problems for the benches: the search set in a folder of benchmark maps, or generated problems if it is missing."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from random import Random

from files.movingai import read_map
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.params import ConfigError

_GENERATED_KINDS = (("caves", {"grain": 4}), ("rooms", {"room": 16}), ("random", {"density": 30}))
_GENERATED_SIDE = 256  # side of each map in cells
_GENERATED_PROBLEMS = 12  # number of problems on each map


@dataclass(frozen=True)
class MapProblem:
    """Problem that benches solve: a start and a goal on a map."""

    group: str  # name of the set that the problem belongs to
    map_name: str
    grid: Grid
    start: tuple[int, int]
    goal: tuple[int, int]
    optimal: float | None  # cost of the cheapest path in the list of problems; None for a generated problem

    @property
    def start_and_goal_cells(self) -> tuple[int, int]:
        return self.grid.cell(*self.start), self.grid.cell(*self.goal)


@dataclass(frozen=True)
class ProblemSet:
    """Problems on which the benches run."""

    problems: tuple[MapProblem, ...]
    is_from_list: bool  # whether they are the search set, for which targets and total expansions are known

    def iter_problem_groups(self) -> Iterator[tuple[str, list[MapProblem]]]:
        """Yield each set as its name and its problems."""
        for name, group in groupby(self.problems, key=lambda problem: problem.group):
            yield name, list(group)


def grouped_by_map(problems: Iterable[MapProblem]) -> list[list[MapProblem]]:
    """Return the problems grouped by map."""
    return [list(group) for _, group in groupby(problems, key=lambda problem: problem.map_name)]


def load_problems(maps: Path) -> ProblemSet:
    """Return the search set in a folder of benchmark maps, or generated problems if the folder has none.

    Raises:
        ConfigError: The list of problems has mistakes.
    """
    listing = maps / "search-set.tsv"
    if not listing.is_file():
        return ProblemSet(tuple(_generated_problems()), is_from_list=False)
    return ProblemSet(tuple(_read_problem_list(maps, listing)), is_from_list=True)


def _read_problem_list(maps: Path, listing: Path) -> Iterator[MapProblem]:
    grids: dict[str, Grid] = {}
    with open(listing, newline="", encoding="utf-8") as file:
        for line, row in enumerate(csv.DictReader(file, delimiter="\t"), start=2):
            try:
                name = row["map"]
                grid = grids.setdefault(name, grids.get(name) or read_map(maps / name))
                start = int(row["start_x"]), int(row["start_y"])
                goal = int(row["goal_x"]), int(row["goal_y"])
                yield MapProblem(row["set"], name, grid, start, goal, float(row["optimal"]))
            except (KeyError, TypeError, ValueError) as error:
                if isinstance(error, ConfigError):
                    raise
                raise ConfigError(f"{listing}:{line}: expected set, map, start, goal and length: {error}") from None


def _generated_problems() -> Iterator[MapProblem]:
    for kind, values in _GENERATED_KINDS:
        generated = generate_map(kind, {**values, "width": _GENERATED_SIDE, "height": _GENERATED_SIDE, "seed": 1})
        for start, goal in random_start_goal_pairs(generated.grid, _GENERATED_PROBLEMS, Random(kind)):
            yield MapProblem(f"{kind} (generated)", kind, generated.grid, start, goal, None)


def random_start_goal_pairs(
    grid: Grid, count: int, chance: Random
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield random pairs of free cells that are at least a quarter of the map's larger side apart."""
    free = grid.free_mask.nonzero()[0].tolist()
    while count:
        start, goal = grid.xy(chance.choice(free)), grid.xy(chance.choice(free))
        if max(abs(start[0] - goal[0]), abs(start[1] - goal[1])) >= max(grid.width, grid.height) // 4:
            count -= 1
            yield start, goal
