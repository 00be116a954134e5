"""Command `recommendation_text`: recommend an agent and its settings for a map and a number of units.

A unit is one of many agents that walk on the map together. A candidate is an agent with parameters and a budget.
"""

import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from random import Random

from agents.registry import AGENT_SPECS_BY_KEY
from cli.arguments import (
    CommandParser,
    add_movement_options,
    argparse_arguments_of_param,
    movement_of_arguments,
    param_converter,
)
from cli.kernel_warm_up import warm_up_agents
from cli.progress import ProgressBar
from experiments.advice import (
    DOES_NOT_FIT,
    FITS_ON_AVERAGE,
    MAX_COMPARED_UNITS,
    MAX_MEASURED_UNITS,
    AgentCandidate,
    FrameRequirement,
    best_candidates,
    candidates_in_measurement_order,
    create_candidate_job,
    create_candidates,
    find_max_fitting_units,
    measure_crowd_timing,
    pareto_candidates,
)
from experiments.job_runner import run_job
from experiments.problems import ProblemInstance, create_map_data, random_start_goal_pairs
from experiments.report_charts import ChartData, ChartSeries, measure_label
from experiments.report_figures import save_chart
from experiments.table_formats import ReportTable, cell_text, number_text
from files.disk import check_folder_creatable, create_folder
from files.map_files import MAP_KINDS, open_map
from files.map_source import MapFile
from files.scenario import Scenario, save_scenario
from files.shipped_files import MAPS, require_shipped_file
from sim import climb_coverage
from sim.grid import Grid
from sim.params import ConfigError, Param
from sim.prepared_data import fetch_data
from sim.system.program import PROGRAM_COMMAND
from sim.world import World
from sim.world_commands import BUDGET_PARAM, AgentConfig

UNITS = Param("units", int, 1, "number of agents that plan in every frame", 1, 1_000_000)
BUDGET_MS = Param("budget-ms", float, 2.0, "milliseconds per frame for planning, shared by all agents", 0.001, 10_000)
SECONDS = Param("seconds", float, 20.0, "seconds to spend on measurements", 0.5, 100_000)
_MAX_PROBLEMS = 500  # maximum number of random problems drawn on the map
_MIN_PROBLEMS = 3  # minimum number of problems that are run, even if they take longer than the time limit
_MIN_CROWDS = 8  # minimum number of settings measured with many units, even if they take longer than the time limit


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    file = require_shipped_file(args.map, MAPS)
    grid = open_map(file, movement=movement_of_arguments(args))
    folder = Path(args.output or f"{Path(args.map).stem}-advice")
    board = create_map_data(Path(file).name, grid)
    pairs = random_start_goal_pairs(grid, _MAX_PROBLEMS, Random(0))
    if not pairs:
        raise ConfigError(f"{args.map}: expected a map with a path between at least two cells, got none")
    cases = [ProblemInstance(board, grid.xy(start), grid.xy(goal), None, i) for i, (start, goal) in enumerate(pairs)]
    check_folder_creatable(folder)  # before the long measurements, so that a bad output folder is reported at once
    tried, need = create_candidates(AGENT_SPECS_BY_KEY, args.budget), FrameRequirement(args.units, args.budget_ms)
    progress = ProgressBar()
    warm_up_agents([AgentConfig(c.kind, params=c.params, group="units") for c in tried], progress)
    count = run_candidates_on_problems(tried, cases, args.seconds / 2, progress)
    measure_frame_times(tried, cases, args.units, args.seconds / 2, progress)
    advice = recommendation_text(tried, cases, need, progress)
    print_advice(tried, need, args, count, advice)
    print(f"\n{recommended_records_line(grid)}")
    write_advice_files(tried, need, cases[0], Path(file), folder)
    return 0


def _parser() -> CommandParser:
    parser = CommandParser("advise", "Try agents on random problems of a map, and recommend one.")
    parser.add_argument("--map", required=True, metavar="FILE", help=f"a map: {MAP_KINDS}, or the name of an example")
    add_movement_options(parser)
    parser.add_argument("--units", metavar="N", **argparse_arguments_of_param(UNITS))
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--budget-ms", metavar="B", **argparse_arguments_of_param(BUDGET_MS))
    limit.add_argument("--budget", type=param_converter(BUDGET_PARAM), metavar="K", help=BUDGET_PARAM.help)
    parser.add_argument("--seconds", metavar="S", **argparse_arguments_of_param(SECONDS))
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="where to write a figure and a scenario (default: MAP-advice)"
    )
    return parser


def run_candidates_on_problems(
    tried: Sequence[AgentCandidate], cases: Sequence[ProblemInstance], seconds: float, progress: ProgressBar
) -> int:
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
        progress.update_bar(f"{index} problems, {len(tried)} settings", min(1.0, spent / seconds))
        grid = case.map_data.grid
        length = World(grid, grid.cell(*case.start), grid.cell(*case.goal), AGENT_SPECS_BY_KEY).optimal_cost
        for candidate in tried:
            if not candidate.is_rejected:
                for line in run_job(
                    create_candidate_job(candidate, case, length), grid, AGENT_SPECS_BY_KEY, time.thread_time
                )[0]:
                    candidate.add_result(line)
    return len(cases)


def measure_frame_times(
    tried: Sequence[AgentCandidate], cases: Sequence[ProblemInstance], units: int, seconds: float, progress: ProgressBar
) -> None:
    """Measure frame times with many units until the time is up; the most promising candidates are measured first.

    Args:
        tried: The candidates; the measured ones receive their frame times.
        cases: The problems of the units.
        units: The requested number of units; at most MAX_COMPARED_UNITS of them are measured.
        seconds: The time limit, checked before each candidate after the first _MIN_CROWDS.
        progress: Shows the progress bar.
    """
    chosen = candidates_in_measurement_order(tried)
    began = time.monotonic()
    for index, candidate in enumerate(chosen):
        spent = time.monotonic() - began
        if spent > seconds and index >= _MIN_CROWDS:
            return
        progress.update_bar(
            f"{min(units, MAX_COMPARED_UNITS):,} units at once, {candidate.name}", min(1.0, spent / seconds)
        )
        candidate.crowd_timing = measure_crowd_timing(
            candidate, cases, AGENT_SPECS_BY_KEY, min(units, MAX_COMPARED_UNITS), time.thread_time
        )


# --- recommendation -------------------------------------------------------------------------------


def recommendation_text(
    tried: Sequence[AgentCandidate], cases: Sequence[ProblemInstance], need: FrameRequirement, progress: ProgressBar
) -> str:
    """Return the recommendation as text.

    The recommended setting has been measured with the requested number of units, or with MAX_MEASURED_UNITS if more
    were requested.

    Args:
        tried: The candidates with their frame times.
        cases: The problems of the units.
        need: The number of units, and the milliseconds per frame that they share.
        progress: Shows the progress bar.
    """
    units = min(need.units, MAX_MEASURED_UNITS)
    while (best := best_candidates(tried, need)) and best[0].crowd_timing and best[0].crowd_timing.units < units:
        if need.fit_level(best[0]) == DOES_NOT_FIT:
            break  # with fewer units than requested the best candidate is already too slow
        progress.update_bar(f"{units:,} units at once, {best[0].name}")
        best[0].crowd_timing = measure_crowd_timing(best[0], cases, AGENT_SPECS_BY_KEY, units, time.thread_time)
    if not best:
        return ""
    nothing_fits = need.fit_level(best[0]) == DOES_NOT_FIT
    chosen = min((c for c in tried if c.crowd_timing), key=need.max_frame_ms) if nothing_fits else best[0]

    def longest_ms(units: int) -> float:
        progress.update_bar(f"{units:,} units at once, {chosen.name}")
        return measure_crowd_timing(chosen, cases, AGENT_SPECS_BY_KEY, units, time.thread_time).max_frame_ms

    max_units = find_max_fitting_units(longest_ms, need.budget_ms, need.estimate_max_units(chosen))
    progress.clear_bar()
    return _nothing_fits_text(chosen, need, max_units) if nothing_fits else _advice_text(chosen, need, max_units)


def _nothing_fits_text(quickest: AgentCandidate, need: FrameRequirement, max_units: int) -> str:
    text = f"No setting fits {need.units:,} units into {need.budget_ms:g} ms"
    return (
        f"{text}, not even one unit."
        if not max_units
        else f"{text}; of the fastest, {quickest.name}, {_unit_count_text(max_units)} fit."
    )


def _advice_text(best: AgentCandidate, need: FrameRequirement, max_units: int) -> str:
    mean, longest = number_text(need.mean_frame_ms(best)), number_text(need.max_frame_ms(best))
    mean_text = f"{need.units:,} units take {mean} of {need.budget_ms:g} ms per frame on average"
    longest_text = f"{longest} ms in the longest frame, when all start at once"
    if need.fit_level(best) == FITS_ON_AVERAGE:
        return (
            f'Use {best.name} with "tick_ms: {need.budget_ms:g}" in a scenario, so that units plan in turn: '
            f"{mean_text}, but {longest_text}.\n"
            + (
                f"Without tick_ms, {_unit_count_text(max_units)} fit."
                if max_units
                else "Without tick_ms, no unit fits."
            )
        )
    # Print at least the requested number of units, because so many have fitted in an earlier measurement.
    # The search for the largest number may find fewer, if its measurements happen to be slower.
    return f"Use {best.name}: {mean_text}, {longest_text}; {_unit_count_text(max(max_units, need.units))} fit."


def _unit_count_text(units: int) -> str:
    return f"{units:,} or more would" if units >= MAX_MEASURED_UNITS else f"about {units:,} would"


def print_advice(
    tried: Sequence[AgentCandidate], need: FrameRequirement, args: Namespace, count: int, advice: str
) -> None:
    units = "one unit" if need.units == 1 else f"{min(need.units, MAX_COMPARED_UNITS):,} units at once"
    print(f"{args.map}: {count} random problems, {len(tried)} settings; times are for {units}")
    print("Settings that no other setting beats in both cost and time, cheapest walk first:\n")
    _print_aligned_table(candidate_table(pareto_candidates(tried), need))
    print('\n  fits: "yes": in every frame; "in turn": on average, and in every frame if the scenario sets "tick_ms"')
    out = [candidate.name for candidate in tried if candidate.is_rejected]
    if out:
        print(f"\nLeft out, because the walk was far too long on some problem: {', '.join(out)}")
    if advice:
        print(f"\n{advice}")


def recommended_records_line(grid: Grid) -> str:
    """Return a line about the number of records that kNN LRTA* needs on a map.

    The agent kNN LRTA* itself is not tried, because its records must be computed for each map.
    """
    defaults = {param.name: param.default for param in AGENT_SPECS_BY_KEY["knn-lrta"].params}
    share = float(fetch_data(climb_coverage.climb_coverage_recipe(int(defaults["cap"])), grid).tables.share[0])
    return f"kNN LRTA* was not tried. {climb_coverage.describe_expected_fits(int(defaults['records']), share)}."


def candidate_table(chosen: Sequence[AgentCandidate], need: FrameRequirement) -> ReportTable:
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
            candidate.totals.median_cost_ratio,
            candidate.totals.max_cost_ratio,
            100.0 * candidate.totals.back_moves / max(1, candidate.totals.moves),
            candidate.totals.max_tick_expansions,
            candidate.crowd_unit_us,
            need.max_frame_ms(candidate),
            need.fit_level(candidate),
        )
        for candidate in chosen
    )
    return ReportTable("front", "", headings, rows)


def _print_aligned_table(table: ReportTable) -> None:
    lines = [table.headings, *([cell_text(cell) for cell in row] for row in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.headings))]
    for line in lines:
        cells = [
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  " + "  ".join(cells).rstrip())


def cost_time_chart_of_candidates(tried: Sequence[AgentCandidate], need: FrameRequirement) -> ChartData:
    """Return the chart of cost against time per tick, with a series for each agent and the Pareto front.

    The title of the chart gives the time that each unit may take.
    """
    measured = [candidate for candidate in tried if candidate.crowd_timing]
    series = []
    for name in dict.fromkeys(c.name.rsplit(" k=", 1)[0] for c in measured):
        points = sorted((c.crowd_unit_us, c.cost) for c in measured if c.name.rsplit(" k=", 1)[0] == name)
        series.append(ChartSeries(name, tuple(points)))
    best = sorted((c.crowd_unit_us, c.cost) for c in pareto_candidates(tried))
    series.append(ChartSeries("not beaten in both", tuple(best), has_lines=False, is_background=True))
    limit = number_text(1000 * need.budget_ms / need.units)
    return ChartData(
        "advice",
        f"{need.units:,} units have {limit} us each",
        "us / tick",
        measure_label("suboptimality"),
        tuple(series),
        "xy",
    )


def write_advice_files(
    tried: Sequence[AgentCandidate], need: FrameRequirement, case: ProblemInstance, path: Path, folder: Path
) -> None:
    """Write the figure, and a scenario with the best three candidates; write nothing if there are no candidates.

    Args:
        tried: The candidates with their frame times.
        need: The number of units, and the milliseconds per frame that they share.
        case: The problem of the scenario.
        path: The map file.
        folder: The output folder.
    """
    best = best_candidates(tried, need)
    if not best:
        return
    create_folder(folder)
    for _ in save_chart(cost_time_chart_of_candidates(tried, need), folder):
        pass
    agents = tuple(AgentConfig(c.kind, c.name.rsplit(" k=", 1)[0], c.params, c.budget) for c in best)
    source = MapFile(path.name, path.resolve(), movement=case.map_data.grid.movement)
    scenario = Scenario(source, case.start, case.goal, agents, title=f"The best three on {path.name}")
    target = folder / "best.yaml"
    save_scenario(scenario, target)
    print(f"\nSee the best three side by side: {PROGRAM_COMMAND} {target}")
    print(f"Cost against time: {folder / 'advice.svg'}")
