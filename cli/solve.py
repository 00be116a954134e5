"""Command `solve`: run agents on one problem of a map, or on rows of a .scen file."""

import math
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.registry import AGENT_SPECS_BY_KEY
from cli.adaptive_stride import AdaptiveStride
from cli.arguments import (
    CommandParser,
    add_movement_options,
    argparse_arguments_of_param,
    help_with_default,
    movement_of_arguments,
    param_converter,
    parse_cell,
)
from cli.data_preparation import prepare_agent_data
from cli.interrupts import InterruptFlag
from cli.kernel_warm_up import warm_up_agents
from cli.outputs import check_output_paths
from cli.posthoc import PosthocFiles, add_posthoc_option
from cli.progress import ProgressBar
from cli.result_lines import print_result
from files.agent_text import parse_agent_text
from files.disk import collect_read_paths
from files.map_files import MAP_KINDS, describe_maps_with_setting, open_map
from files.movingai import (
    ScenFile,
    ScenRow,
    are_path_lengths_equal,
    find_map_of_scen,
    read_scen,
    row_problem_on_grid,
    select_row_indices,
)
from files.picture_map import THRESHOLD_PARAM
from files.scenario import SEED_PARAM
from files.shipped_files import MAPS, require_shipped_file
from files.trace import TraceWriter
from sim.agent_checks import seed_of_problem
from sim.grid import Grid
from sim.movement import DEFAULT_MOVEMENT
from sim.params import ConfigError, Param
from sim.result_lines import (
    INTERRUPTED,
    MOVE_LIMIT,
    STUCK,
    agent_result_line,
    outcome_of_walker,
    run_single_agent,
    trial_result_line,
)
from sim.walker import Walker
from sim.world import World
from sim.world_commands import BUDGET_PARAM, TRIALS_PARAM, AgentConfig

MOVES = Param("max-moves", int, 10_000_000, "maximum number of moves per problem", 1, 1_000_000_000_000)


@dataclass(frozen=True)
class SolveTask:
    """Problem to solve: a map, a start, a goal and the row of the .scen file that it comes from, if any."""

    grid: Grid
    map_name: str
    start: tuple[int, int]
    goal: tuple[int, int]
    scen_row: ScenRow | None = None


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    problems: list[str] = []
    configs = _parse_agents(args, problems)
    with collect_read_paths() as inputs:
        tasks = _collect_tasks(args, problems)
    if problems:
        raise ConfigError(problems)
    check_output_paths({"--trace": args.trace, "--posthoc": args.posthoc}, inputs)
    return _ProblemSolver(args, configs).solve_all_tasks(tasks)


def _parser() -> CommandParser:
    parser = CommandParser("solve", "Solve problems; one JSON line per agent and problem on standard output.")
    parser.add_argument(
        "--map", metavar="FILE", help=f"a map: {MAP_KINDS}, or the name of an example; optional with --scen"
    )
    threshold = help_with_default(f"if --map is a picture: {THRESHOLD_PARAM.help}", THRESHOLD_PARAM.default)
    parser.add_argument("--threshold", type=param_converter(THRESHOLD_PARAM), metavar="N", help=threshold)
    add_movement_options(parser)
    parser.add_argument("--from", dest="start", type=parse_cell, metavar="X,Y", help="start cell")
    parser.add_argument("--to", dest="goal", type=parse_cell, metavar="X,Y", help="goal cell")
    parser.add_argument("--scen", metavar="FILE", help="a .scen file with problems")
    parser.add_argument(
        "--rows", metavar="ROWS", help="rows of the .scen file, such as 0,5,10:20, where 20 is excluded (default: all)"
    )
    parser.add_argument(
        "--agent",
        action="extend",
        nargs="+",
        required=True,
        metavar="SPEC",
        help="keys of agents, optionally with parameters, such as tba tb-wa:weight=3; may be repeated",
    )
    parser.add_argument("--budget", metavar="K", **argparse_arguments_of_param(BUDGET_PARAM))
    parser.add_argument("--max-moves", metavar="N", **argparse_arguments_of_param(MOVES))
    parser.add_argument(
        "--trials",
        type=param_converter(TRIALS_PARAM),
        default=None,
        metavar="N",
        help=help_with_default(f"{TRIALS_PARAM.help}, one line each", int(TRIALS_PARAM.default)),
    )
    seeds = f"{SEED_PARAM.help}; each row of a .scen file gets its own seed, derived from this one"
    parser.add_argument(
        "--seed",
        type=param_converter(SEED_PARAM),
        default=SEED_PARAM.default,
        metavar="N",
        help=help_with_default(seeds, SEED_PARAM.default),
    )
    parser.add_argument("--trace", metavar="FILE", help="write one JSON line per tick and agent to FILE")
    add_posthoc_option(parser)
    return parser


# --- problems to solve ----------------------------------------------------------------------------


def _parse_agents(args: Namespace, problems: list[str]) -> list[AgentConfig]:
    configs = []
    for text in args.agent:
        try:
            configs.append(parse_agent_text(text, AGENT_SPECS_BY_KEY, args.budget))
        except ConfigError as error:
            problems += error.problems
    return configs


def _collect_tasks(args: Namespace, problems: list[str]) -> list[SolveTask | str]:
    """Return the problems to solve, in order; a problem that cannot be run is replaced by a message.

    Mistakes in the arguments or files are appended to `problems`.
    """
    try:
        _check_option_combination(args)
        return _scen_tasks(args) if args.scen else [_task_from_options(args)]
    except ConfigError as error:
        problems += error.problems
        return []


def _check_option_combination(args: Namespace) -> None:
    movement_of_arguments(args)  # raise its ConfigError here, once, instead of for each row
    if args.threshold is not None and (maps := describe_maps_with_setting(THRESHOLD_PARAM, args.map or "")):
        raise ConfigError(f"solve: --threshold: expected {maps} as --map with it, got {args.map or 'none'}")
    given_options = [name for name, value in (("--from", args.start), ("--to", args.goal)) if value is not None]
    if args.scen and given_options:
        raise ConfigError(f"solve: expected --scen or {' and '.join(given_options)}, got both")
    if args.scen:
        return
    if args.rows is not None:
        raise ConfigError("solve: --rows: expected --scen FILE with it")
    missing = [name for name in ("--from", "--to") if name not in given_options]
    if args.map is None:
        raise ConfigError("solve: expected --map FILE with --from X,Y and --to X,Y, or --scen FILE")
    if missing:
        raise ConfigError(f"solve: expected {' and '.join(missing)} as X,Y, or --scen FILE")


def _task_from_options(args: Namespace) -> SolveTask:
    grid = _open_grid(args.map, args)
    row = ScenRow(0, 0, grid.name, grid.width, grid.height, args.start, args.goal, 0.0)
    problem = row_problem_on_grid(row, grid)
    if problem:
        raise ConfigError(f"{args.map}: {problem.replace('start:', '--from:').replace('goal:', '--to:')}")
    return SolveTask(grid, args.map, args.start, args.goal)


def _open_grid(path: str, args: Namespace) -> Grid:
    return open_map(
        require_shipped_file(path, MAPS),
        movement=movement_of_arguments(args),
        threshold=args.threshold or int(THRESHOLD_PARAM.default),
    )


def _scen_tasks(args: Namespace) -> list[SolveTask | str]:
    scen = read_scen(args.scen)
    rows = [scen.rows[number] for number in select_row_indices(args.rows, len(scen.rows), args.scen)]
    maps = _ScenRowMapCache(args, scen)
    return [_task_of_row(scen, row, maps) for row in rows]


def _task_of_row(scen: ScenFile, row: ScenRow, maps: "_ScenRowMapCache") -> SolveTask | str:
    problem_or_map = row.problem or maps.map_of_row(row)
    problem = problem_or_map if isinstance(problem_or_map, str) else row_problem_on_grid(row, problem_or_map[0])
    if problem is not None or isinstance(problem_or_map, str):
        return f"{scen.name}:{row.line}: row {row.row_index}: {problem}"
    grid, path = problem_or_map
    return SolveTask(grid, path, row.start, row.goal, row)


class _ScenRowMapCache:
    """Cache of the maps of rows: the map given by --map, or the map that the row names, each opened once."""

    def __init__(self, args: Namespace, scen: ScenFile) -> None:
        self._arguments, self._scen_file = args, scen
        self._map_of_all_rows = (_open_grid(args.map, args), args.map) if args.map else None
        self._opened_maps: dict[str, tuple[Grid, str] | str] = {}

    def map_of_row(self, row: ScenRow) -> tuple[Grid, str] | str:
        """Return (map of a row, path of the map), or a message if the map cannot be opened.

        The message is cached as well, and is reported for every row that names the map.
        """
        if self._map_of_all_rows is not None:
            return self._map_of_all_rows
        if row.map_name not in self._opened_maps:
            try:
                path = _shown_path(find_map_of_scen(self._scen_file.name, row.map_name))
                self._opened_maps[row.map_name] = _open_grid(path, self._arguments), path
            except ConfigError as error:
                self._opened_maps[row.map_name] = error.problems[0].removeprefix(f"{self._scen_file.name}: ")
        return self._opened_maps[row.map_name]


def _shown_path(path: Path) -> str:
    """Return a path relative to the working directory if the file is below that, otherwise unchanged."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


# --- solving --------------------------------------------------------------------------------------


class _ProblemSolver:
    """Driver of the command: runs every agent on every problem.

    Each run has its own world, so that the end of one run does not affect the others.
    """

    def __init__(self, args: Namespace, configs: list[AgentConfig]) -> None:
        self.budget: int = args.budget
        self.max_moves: int = args.max_moves
        self.max_trials: int | None = args.trials
        self.seed: int = args.seed
        self.trace_writer = TraceWriter(args.trace)
        self.progress = ProgressBar()
        self.posthoc_files = PosthocFiles(args.posthoc, self.progress)
        self.agent_configs = configs
        self.interrupts = InterruptFlag()
        self.exit_code = 0  # exit code that follows from the results so far; a signal replaces it

    def solve_all_tasks(self, tasks: list[SolveTask | str]) -> int:
        """Print all results and return the exit code; the codes are listed in README.md."""
        with self.interrupts:
            if self.interrupts.run_interruptibly(lambda: warm_up_agents(self.agent_configs, self.progress)):
                with self.trace_writer, self.posthoc_files:
                    self._solve_until_interrupted(tasks)
        self.progress.clear_bar()
        return self.interrupts.exit_code or self.exit_code

    def _solve_until_interrupted(self, tasks: list[SolveTask | str]) -> None:
        for done, task in enumerate(tasks):
            if isinstance(task, str):
                self.progress.print_line(task)
                self.exit_code = 2
                continue
            for config in self.agent_configs:
                self._solve_problem(task, config, done / len(tasks))
                if self.interrupts.exit_code:
                    return

    def _solve_problem(self, task: SolveTask, config: AgentConfig, share: float) -> None:
        """Run an agent on a problem and print its result; print nothing if a signal arrives before its first tick.

        Args:
            task: The problem.
            config: The agent.
            share: The share of problems that are already done, for the progress bar.
        """
        start_and_goal = task.grid.cell(*task.start), task.grid.cell(*task.goal)
        if not self.interrupts.run_interruptibly(
            lambda: prepare_agent_data([config], AGENT_SPECS_BY_KEY, task.grid, start_and_goal, self.progress)
        ):
            return
        world = World(
            task.grid,
            *start_and_goal,
            AGENT_SPECS_BY_KEY,
            budget=self.budget,
            seed=seed_of_problem(self.seed, task.scen_row.row_index) if task.scen_row else self.seed,
            stopwatch=time.perf_counter,
            trials=self.max_trials or 1,
            watched=self.posthoc_files.is_enabled,
        )
        # .scen files assume the default movement rule.
        listed = task.scen_row if task.grid.movement == DEFAULT_MOVEMENT else None
        if config is self.agent_configs[0] and (warning := _length_warning(listed, world.optimal_cost)):
            self.progress.print_line(warning)
        walker = world.add(config)
        outcome = self._run_walker(world, walker, task, share)
        for note in world.messages:
            self.progress.print_line(f"{_row_prefix(task.scen_row)}tick {note.tick:,}: {note.text}")
        self._print_results(world, walker, outcome, task)
        if walker.violation is not None:
            self.exit_code = max(self.exit_code, 1)

    def _run_walker(self, world: World, walker: Walker, task: SolveTask, share: float) -> str:
        """Advance the world until the agent is done, a limit is reached or a signal arrives; return the outcome."""
        self.trace_writer.reset_refusal_counters()
        self.posthoc_files.open_files_for_world(world)
        longest, stride = (
            min(self.trace_writer.max_ticks_between_writes(world), self.posthoc_files.max_ticks_per_step),
            AdaptiveStride(),
        )
        more = {"row": task.scen_row.row_index} if task.scen_row else {}
        for _ in run_single_agent(world, walker, self.max_moves, lambda: min(longest, stride())):
            self.trace_writer.write_ticks(world, **more)
            self.posthoc_files.write_tick()
            self.progress.update_bar(
                f"{_row_prefix(task.scen_row)}{walker.label}: {walker.counts_record[0].moves:,} moves", share
            )
            if self.interrupts.exit_code:
                return outcome_of_walker(world, walker, INTERRUPTED)
        is_out_of_moves = world.metrics_of_walker(walker).moves >= self.max_moves
        return outcome_of_walker(world, walker, MOVE_LIMIT if is_out_of_moves else STUCK)

    def _print_results(self, world: World, walker: Walker, outcome: str, task: SolveTask) -> None:
        row = task.scen_row
        proved = walker.recent_rows.tick + walker.log_rows.size - 1
        more = {"row": row.row_index, "listed_optimal": row.optimal} if row else {}
        line = agent_result_line(world, walker, outcome, task.map_name, proved, seed=world.seed, **more)
        if self.max_trials is None or not walker.spec.keeps_h:
            print_result(line, self.progress)
            return
        for trial in walker.trials:
            print_result(trial_result_line(line, trial), self.progress)
        if not walker.has_arrived:
            print_result(trial_result_line(line, world.referee.unfinished_trial(walker), outcome), self.progress)


def _row_prefix(row: ScenRow | None) -> str:
    """Return the beginning of a message about a row of a .scen file; it is empty if there is no row."""
    return f"row {row.row_index}, " if row else ""


def _length_warning(row: ScenRow | None, optimal: float) -> str | None:
    """Return a warning if the listed length of a row differs from the computed length of the cheapest path, else None.

    Some published .scen files have such rows. Results use the computed length.
    """
    if row is None or (math.isfinite(optimal) and are_path_lengths_equal(optimal, row.optimal)):
        return None
    computed = f"has length {optimal:.8g}, which results use" if math.isfinite(optimal) else "does not exist"
    return f"row {row.row_index}: the file lists the length {row.optimal:.8g}, but the cheapest path {computed}"
