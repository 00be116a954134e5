"""Command `advise`: recommend an agent and its settings for a map and a number of units.

A unit is one of many agents that walk on the map together. A candidate is an agent with parameters and a budget.
"""

import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from random import Random

from agents.registry import BY_KEY
from cli.arguments import Arguments, add_movement, checked, movement_of, option
from cli.progress import Progress
from cli.report.figures import save
from cli.warm import warm_up
from sim import coverage
from sim.commands import BUDGET, AgentConfig
from sim.experiments.advice import (
    IN_TURN,
    MAX_COMPARED_UNITS,
    MAX_MEASURED,
    NO,
    Candidate,
    Need,
    best_three,
    candidates,
    front,
    job_for,
    measured_together,
    most_that_fit,
    worth_a_crowd,
)
from sim.experiments.charts import Chart, Series, worded
from sim.experiments.problems import Case, board_of, random_pairs
from sim.experiments.runs import do_job
from sim.experiments.tables import Table, number, shown
from sim.files.disk import check_folder, make_folder
from sim.files.examples import MAPS, asked_file
from sim.files.map_source import MapFile
from sim.files.maps import MAP_KINDS, open_map
from sim.files.scenario import Scenario, save_scenario
from sim.grid import Grid
from sim.params import ConfigError, Param
from sim.prepared import fetch
from sim.program import NAME
from sim.world import World

UNITS = Param("units", int, 1, "number of agents that plan in every frame", 1, 1_000_000)
BUDGET_MS = Param("budget-ms", float, 2.0, "milliseconds per frame for planning, shared by all agents", 0.001, 10_000)
SECONDS = Param("seconds", float, 20.0, "seconds to spend on measurements", 0.5, 100_000)
_MAX_PROBLEMS = 500  # maximum number of random problems drawn on the map
_MIN_PROBLEMS = 3  # minimum number of problems that are run, even if they take longer than the time limit
_MIN_CROWDS = 8  # minimum number of settings measured with many units, even if they take longer than the time limit


def main(argv: Sequence[str]) -> int:
    given = _parser().parse_args(argv)
    file = asked_file(given.map, MAPS)
    grid = open_map(file, movement=movement_of(given))
    folder = Path(given.output or f"{Path(given.map).stem}-advice")
    board = board_of(Path(file).name, grid)
    pairs = random_pairs(grid, _MAX_PROBLEMS, Random(0))
    if not pairs:
        raise ConfigError(f"{given.map}: expected a map with a path between at least two cells, got none")
    cases = [Case(board, grid.xy(start), grid.xy(goal), None, i) for i, (start, goal) in enumerate(pairs)]
    check_folder(folder)  # before the long measurements, so that a bad output folder is reported at once
    tried, need = candidates(BY_KEY, given.budget), Need(given.units, given.budget_ms)
    progress = Progress()
    warm_up([AgentConfig(c.kind, params=c.params, group="units") for c in tried], progress)
    count = measure(tried, cases, given.seconds / 2, progress)
    measure_together(tried, cases, given.units, given.seconds / 2, progress)
    advice = advise(tried, cases, need, progress)
    answer(tried, need, given, count, advice)
    print(f"\n{records_line(grid)}")
    write(tried, need, cases[0], Path(file), folder)
    return 0


def _parser() -> Arguments:
    parser = Arguments("advise", "Try agents on random problems of a map, and recommend one.")
    parser.add_argument("--map", required=True, metavar="FILE", help=f"a map: {MAP_KINDS}, or the name of an example")
    add_movement(parser)
    parser.add_argument("--units", metavar="N", **option(UNITS))
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--budget-ms", metavar="B", **option(BUDGET_MS))
    limit.add_argument("--budget", type=checked(BUDGET), metavar="K", help=BUDGET.help)
    parser.add_argument("--seconds", metavar="S", **option(SECONDS))
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="where to write a figure and a scenario (default: MAP-advice)"
    )
    return parser


def measure(tried: Sequence[Candidate], cases: Sequence[Case], seconds: float, progress: Progress) -> int:
    """Run all candidates on the same problems until the time is up.

    Args:
        tried: The candidates; they receive the results.
        cases: The problems, used in this order.
        seconds: The time limit, checked before each problem after the first _MIN_PROBLEMS.
        progress: Shows the progress bar.

    Returns:
        The number of problems that were run.
    """
    began = time.monotonic()
    for index, case in enumerate(cases):
        spent = time.monotonic() - began
        if spent > seconds and index >= _MIN_PROBLEMS:
            return index
        progress.show(f"{index} problems, {len(tried)} settings", min(1.0, spent / seconds))
        grid = case.board.grid
        length = World(grid, grid.cell(*case.start), grid.cell(*case.goal), BY_KEY).optimal
        for candidate in tried:
            if not candidate.is_out:
                for line in do_job(job_for(candidate, case, length), grid, BY_KEY, time.thread_time)[0]:
                    candidate.take(line)
    return len(cases)


def measure_together(
    tried: Sequence[Candidate], cases: Sequence[Case], units: int, seconds: float, progress: Progress
) -> None:
    """Measure frame times with many units until the time is up; the most promising candidates are measured first.

    Args:
        tried: The candidates; the measured ones receive their frame times.
        cases: The problems of the units.
        units: The requested number of units; at most MAX_COMPARED_UNITS of them are measured.
        seconds: The time limit, checked before each candidate after the first _MIN_CROWDS.
        progress: Shows the progress bar.
    """
    chosen = worth_a_crowd(tried)
    began = time.monotonic()
    for index, candidate in enumerate(chosen):
        spent = time.monotonic() - began
        if spent > seconds and index >= _MIN_CROWDS:
            return
        progress.show(f"{min(units, MAX_COMPARED_UNITS):,} units at once, {candidate.name}", min(1.0, spent / seconds))
        candidate.together = measured_together(
            candidate, cases, BY_KEY, min(units, MAX_COMPARED_UNITS), time.thread_time
        )


# --- recommendation -------------------------------------------------------------------------------


def advise(tried: Sequence[Candidate], cases: Sequence[Case], need: Need, progress: Progress) -> str:
    """Return the recommendation as text.

    The recommended setting has been measured with the requested number of units, or with MAX_MEASURED if more were
    requested.

    Args:
        tried: The candidates with their frame times.
        cases: The problems of the units.
        need: The number of units, and the milliseconds per frame that they share.
        progress: Shows the progress bar.
    """
    units = min(need.units, MAX_MEASURED)
    while (best := best_three(tried, need)) and best[0].together and best[0].together.units < units:
        if need.fits(best[0]) == NO:
            break  # with fewer units than requested the best candidate is already too slow
        progress.show(f"{units:,} units at once, {best[0].name}")
        best[0].together = measured_together(best[0], cases, BY_KEY, units, time.thread_time)
    if not best:
        return ""
    nothing_fits = need.fits(best[0]) == NO
    chosen = min((c for c in tried if c.together), key=need.longest_ms) if nothing_fits else best[0]

    def longest_ms(units: int) -> float:
        progress.show(f"{units:,} units at once, {chosen.name}")
        return measured_together(chosen, cases, BY_KEY, units, time.thread_time).longest_ms

    most = most_that_fit(longest_ms, need.budget_ms, need.guess(chosen))
    progress.clear()
    return _nothing_fits_text(chosen, need, most) if nothing_fits else _advice_text(chosen, need, most)


def _nothing_fits_text(quickest: Candidate, need: Need, most: int) -> str:
    text = f"No setting fits {need.units:,} units into {need.budget_ms:g} ms"
    return (
        f"{text}, not even one unit."
        if not most
        else f"{text}; of the fastest, {quickest.name}, {_count_text(most)} fit."
    )


def _advice_text(best: Candidate, need: Need, most: int) -> str:
    mean, longest = number(need.frame_ms(best)), number(need.longest_ms(best))
    taken = f"{need.units:,} units take {mean} of {need.budget_ms:g} ms per frame on average"
    at_most = f"{longest} ms in the longest frame, when all start at once"
    if need.fits(best) == IN_TURN:
        return (
            f'Use {best.name} with "tick_ms: {need.budget_ms:g}" in a scenario, so that units plan in turn: '
            f"{taken}, but {at_most}.\n"
            + (f"Without tick_ms, {_count_text(most)} fit." if most else "Without tick_ms, no unit fits.")
        )
    # Print at least the requested number of units, because so many have fitted in an earlier measurement.
    # The search for the largest number may find fewer, if its measurements happen to be slower.
    return f"Use {best.name}: {taken}, {at_most}; {_count_text(max(most, need.units))} fit."


def _count_text(units: int) -> str:
    return f"{units:,} or more would" if units >= MAX_MEASURED else f"about {units:,} would"


def answer(tried: Sequence[Candidate], need: Need, given: Namespace, count: int, advice: str) -> None:
    units = "one unit" if need.units == 1 else f"{min(need.units, MAX_COMPARED_UNITS):,} units at once"
    print(f"{given.map}: {count} random problems, {len(tried)} settings; times are for {units}")
    print("Settings that no other setting beats in both cost and time, cheapest walk first:\n")
    _print_table(table_of(front(tried), need))
    print('\n  fits: "yes": in every frame; "in turn": on average, and in every frame if the scenario sets "tick_ms"')
    out = [candidate.name for candidate in tried if candidate.is_out]
    if out:
        print(f"\nLeft out, because the walk was far too long on some problem: {', '.join(out)}")
    if advice:
        print(f"\n{advice}")


def records_line(grid: Grid) -> str:
    """Return a line about the number of records that kNN LRTA* needs on a map.

    The agent kNN LRTA* itself is not tried, because its records must be computed for each map.
    """
    cap = next(param for param in BY_KEY["knn-lrta"].params if param.name == "cap").default
    share = float(fetch(coverage.recipe(int(cap)), grid).tables.share[0])
    fits = f"{share:.1%} of pairs can be climbed, and about N x {share**2:.2g} of N records fit a problem"
    return f"kNN LRTA* was not tried. {fits}: {coverage.wish(share)}."


def table_of(chosen: Sequence[Candidate], need: Need) -> Table:
    headings = (
        "setting",
        "cost / optimal, mean",
        "median",
        "maximum",
        "back-moves in 100",
        "most in a tick",
        "us / tick",
        "longest ms",
        "fits",
    )
    rows = tuple(
        (
            candidate.name,
            candidate.cost,
            candidate.totals.median_cost,
            candidate.totals.largest_cost,
            100.0 * candidate.totals.back_moves / max(1, candidate.totals.moves),
            candidate.totals.most,
            candidate.unit_us,
            need.longest_ms(candidate),
            need.fits(candidate),
        )
        for candidate in chosen
    )
    return Table("front", "", headings, rows)


def _print_table(table: Table) -> None:
    lines = [table.headings, *([shown(cell) for cell in row] for row in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.headings))]
    for line in lines:
        cells = [
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  " + "  ".join(cells).rstrip())


def chart_of(tried: Sequence[Candidate], need: Need) -> Chart:
    """Return the chart of cost against time per tick, with a series for each agent and the Pareto front.

    The title of the chart gives the time that each unit may take.
    """
    measured = [candidate for candidate in tried if candidate.together]
    series = []
    for name in dict.fromkeys(c.name.rsplit(" k=", 1)[0] for c in measured):
        points = sorted((c.unit_us, c.cost) for c in measured if c.name.rsplit(" k=", 1)[0] == name)
        series.append(Series(name, tuple(points)))
    best = sorted((c.unit_us, c.cost) for c in front(tried))
    series.append(Series("not beaten in both", tuple(best), is_line=False, is_quiet=True))
    limit = number(1000 * need.budget_ms / need.units)
    return Chart(
        "advice",
        f"{need.units:,} units have {limit} us each",
        "us / tick",
        worded("suboptimality"),
        tuple(series),
        "xy",
    )


def write(tried: Sequence[Candidate], need: Need, case: Case, path: Path, folder: Path) -> None:
    """Write the figure, and a scenario with the best three candidates; write nothing if there are no candidates.

    Args:
        tried: The candidates with their frame times.
        need: The number of units, and the milliseconds per frame that they share.
        case: The problem of the scenario.
        path: The map file.
        folder: The output folder.
    """
    best = best_three(tried, need)
    if not best:
        return
    make_folder(folder)
    for _ in save(chart_of(tried, need), folder):
        pass
    agents = tuple(AgentConfig(c.kind, c.name.rsplit(" k=", 1)[0], c.params, c.budget) for c in best)
    source = MapFile(path.name, path.resolve(), movement=case.board.grid.movement)
    scenario = Scenario(source, case.start, case.goal, agents, title=f"The best three on {path.name}")
    target = folder / "best.yaml"
    save_scenario(scenario, target)
    print(f"\nSee the best three side by side: {NAME} {target}")
    print(f"Cost against time: {folder / 'advice.svg'}")
