"""Bench `databases`: what is computed before a run, and how fast agents walk that use it."""

from collections.abc import Callable
from functools import partial

import numpy as np

from cli.bench import plain
from cli.bench.control import FramedMap
from cli.bench.problems import MapProblem, by_map
from cli.bench.setup import Setup
from cli.bench.table import Row, Table, Target
from cli.bench.ticks import Case, case_work, control_rate
from cli.bench.timing import best_of
from sim import abstraction, databases
from sim.grid import Grid
from sim.prepared import Prepared, Recipe, fetch, made_now

_LEVEL = 3
_MOST_MAPS = 3  # of each size: the plain versions take seconds
WALKERS = (
    Case("D LRTA*, depth 1, level 3", "d-lrta", {"depth_control": "fixed"}, 1, Target(5.0)),
    Case("D LRTA*, level 3", "d-lrta", {}, 1, every=4),
    Case("PR LRTA*, level 4, depth 5", "pr-lrta", {"depth": 5}, 1, every=4),
    Case("PRA*", "pra", {"mode": "instant"}, 1, every=4),
    Case("DT LRTA*", "dt-lrta", {}, 1, every=16, most_ticks=20_000),
)


def run(setup: Setup) -> Table:
    table = Table("databases: abstraction and columns of subgoals, and the agents that use them")
    problems = by_map(setup.problems.problems)
    for side, limit in ((512, 0.3), (1024, 1.2)):
        chosen = [batch for batch in problems if max(batch[0].grid.width, batch[0].grid.height) == side]
        if chosen or not setup.problems.is_listed:
            _measure_abstraction(setup, table, (chosen or problems)[:_MOST_MAPS], side if chosen else 0, limit)
    _measure_column(setup, table, problems[:_MOST_MAPS])
    batches = by_map(next(iter(dict(setup.problems.groups()).values())))
    rate = control_rate(setup, batches)
    for case in WALKERS:
        _measure_walker(setup, table, case, batches, rate)
    table.notes.append("control: the same in plain Python; for walkers expansions of A* with heapq, as in `search`")
    return table


def _measure_abstraction(setup: Setup, table: Table, batches: list[list[MapProblem]], side: int, limit: float) -> None:
    name = f"abstraction of {side} x {side}" if side else "abstraction of generated maps"
    ours, plainly = 0.0, 0.0
    for batch in batches:
        setup.progress.show(f"databases: {name}, {batch[0].map_name}")
        grid, board = batch[0].grid, FramedMap(batch[0].grid)
        made: Prepared = made_now(abstraction.RECIPE, grid)
        assert np.diff(made.tables.first).tolist() == plain.abstraction(board), "they disagree"
        own, other = best_of(setup.rounds, (_making(abstraction.RECIPE, grid), partial(plain.abstraction, board)))
        ours, plainly = ours + own, plainly + other
    _add(table, name, ours / len(batches), plainly / len(batches), limit if side else None)


def _measure_column(setup: Setup, table: Table, batches: list[list[MapProblem]]) -> None:
    ours, plainly = 0.0, 0.0
    for batch in batches:
        setup.progress.show(f"databases: column, {batch[0].map_name}")
        grid, board = batch[0].grid, FramedMap(batch[0].grid)
        levels = fetch(abstraction.RECIPE, grid).tables
        region = databases.region_of(levels, batch[0].ends[1], _LEVEL)
        column = databases.recipe(databases.clipped(levels, _LEVEL), region, 0, "subgoals")
        source = board.cell(*grid.xy(int(levels.rep[region])))
        own, other = best_of(setup.rounds, (_making(column, grid), partial(plain.distances, board, source)))
        ours, plainly = ours + own, plainly + other
    limit = 0.006 if setup.problems.is_listed else None
    _add(table, f"column of level {_LEVEL}", ours / len(batches), plainly / len(batches), limit)


def _making(recipe: Recipe, grid: Grid) -> Callable[[], object]:
    return partial(made_now, recipe, grid)


def _add(table: Table, name: str, ours: float, plainly: float, limit: float | None) -> None:
    target = None if limit is None else Target(1000.0 * limit, is_upper=True)
    table.rows.append(Row(name, 1000.0 * ours, "ms", target=target))
    table.rows.append(Row(f"{name}, how often a second", 1.0 / ours, "1/s", 1.0 / plainly, plainly / ours))


def _measure_walker(setup: Setup, table: Table, case: Case, batches: list[list[MapProblem]], rate: float) -> None:
    seconds, expansions = 0.0, 0
    for batch in batches:
        setup.progress.show(f"databases: {case.name}, {batch[0].map_name}")
        work = case_work(case, batch[:: case.every])
        expansions += work()[0]  # the first time everything is prepared, which is not timed
        seconds += best_of(setup.rounds, (work,))[0]
    own = expansions / seconds
    target = case.target if setup.problems.is_listed else None
    table.rows.append(Row(case.name, own, "expansions/s", rate, own / rate, target))
