"""E6: RIBS against LRTA* on the corner map.

"Real-Time Heuristic Search for Pathfinding in Video Games", figures 14 and 15. There: a
square with an inner corner that the heuristic leads into, diagonals of cost 1.5; RIBS about 10 x and LRTA* about
0.14 x^1.5 expansions over x states, crossing near 1,500 states. Here: the same map from 8 to 640 cells a side.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from agents.registry import BY_KEY
from cli.experiments.common import Settings, print_table
from sim.commands import AgentConfig
from sim.generate import generate
from sim.grid import Grid
from sim.kernels.octile import DIAGONAL
from sim.params import Value
from sim.world import World

SMALL = (8, 12, 16, 24, 32, 40, 56, 80, 112, 160)  # what a test can wait for
LARGE = (*SMALL, 240, 320, 480, 640)
FIT_FROM = 500  # states; on smaller maps the walls are a large part
PUBLISHED_DIAGONAL = 1.5
_AT_ONCE = 1 << 16  # ticks; a world keeps the rows of one advance


def corner(size: int, diagonal: float = PUBLISHED_DIAGONAL) -> tuple[Grid, int, int]:
    """The map, its start and its goal."""
    made = generate("corner", {"size": size})
    grid = Grid.from_rows(made.grid.rows(), f"corner {size}", diagonal)
    return grid, grid.cell(*made.start), grid.cell(*made.goal)


def expansions(kind: str, size: int, diagonal: float = PUBLISHED_DIAGONAL, **params: Value) -> tuple[int, int]:
    """(states, expansions) of one walk to the goal."""
    grid, start, goal = corner(size, diagonal)
    world = World(grid, start, goal, BY_KEY, measures=False)
    walker = world.add(AgentConfig(kind, params=params))
    while world.advance(_AT_ONCE):
        pass
    assert walker.position == goal, (kind, size)
    return int(grid.free.sum()), int(walker.metrics[0].expansions)


def fit(points: Iterable[tuple[int, int]]) -> tuple[float, float]:
    """(factor, exponent) of the power law through (states, expansions), by least squares of the logarithms."""
    states, counts = np.log(np.array([p for p in points if p[0] >= FIT_FROM], np.float64)).T
    exponent, intercept = np.polyfit(states, counts, 1)
    return float(np.exp(intercept)), float(exponent)


def crossing(diagonal: float = PUBLISHED_DIAGONAL, sizes: Sequence[int] = range(20, 61)) -> int:
    """The states of the smallest map from which on RIBS expands less than LRTA*."""
    ahead = []
    for size in sizes:
        (states, ribs), (_, lrta) = (expansions(kind, size, diagonal) for kind in ("ribs", "lrta"))
        ahead.append((states, ribs < lrta))
    return next(states for i, (states, _) in enumerate(ahead) if all(is_less for _, is_less in ahead[i:]))


def run(settings: Settings) -> None:
    for diagonal, name in ((PUBLISHED_DIAGONAL, "1.5"), (DIAGONAL, "sqrt(2)")):
        print(f"E6: the corner map, diagonals of cost {name}\n")
        _growth(settings, diagonal)
    print("E6: RIBS with and without its pruning rules, diagonals of cost 1.5\n")
    _pruning(settings)


def _growth(settings: Settings, diagonal: float) -> None:
    rows: list[list[object]] = []
    runs: dict[str, list[tuple[int, int]]] = {"ribs": [], "lrta": []}
    for number, size in enumerate(LARGE):
        settings.progress.show(f"E6: n={size}", number / len(LARGE))
        for kind, points in runs.items():
            points.append(expansions(kind, size, diagonal))
        (states, ribs), (_, lrta) = runs["ribs"][-1], runs["lrta"][-1]
        rows.append(
            [size, f"{states:,}", f"{ribs:,}", f"{ribs / states:.2f}", f"{lrta:,}", f"{lrta / states**1.5:.3f}"]
        )
    headings = ("n", "states x", "RIBS", "of x", "LRTA*", "of x^1.5")
    print_table(settings, headings, rows)
    for words, sizes in (("8 to 160", SMALL), ("8 to 640", LARGE)):
        fits = [f"{kind} {a:.3f} x^{b:.3f}" for kind, (a, b) in _fits(runs, len(sizes)).items()]
        print(f"Power laws for n = {words} (from {FIT_FROM} states): {', '.join(fits)}.")
    print(f"From {crossing(diagonal):,} states on RIBS expands less.\n")


def _fits(runs: Mapping[str, Sequence[tuple[int, int]]], count: int) -> dict[str, tuple[float, float]]:
    return {kind: fit(points[:count]) for kind, points in runs.items()}


def _pruning(settings: Settings) -> None:
    rows: list[list[object]] = []
    for size in (10, 20, 40, 56, 80, 112, 160):
        row: list[object] = [size]
        for dead, redundant in ((True, True), (True, False), (False, True), (False, False)):
            settings.progress.show(f"E6: pruning, n={size}", 0.0)
            row.append(f"{expansions('ribs', size, dead=dead, redundant=redundant)[1]:,}")
        rows.append(row)
    print_table(settings, ("n", "both", "dead only", "redundant only", "neither"), rows)
