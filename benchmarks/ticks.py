"""Bench `ticks`: expansions per second of whole worlds without a window, including agent, referee and measures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks.bench_problems import MapProblem, grouped_by_map
from benchmarks.bench_setup import BenchSetup
from benchmarks.search import control_solver
from benchmarks.table import BenchRow, BenchTable, BenchTarget, number_text
from benchmarks.timing import best_times
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.params import Value
from sim.world import World
from sim.world_commands import AgentConfig

_GROUP = "bg512"


@dataclass(frozen=True)
class TickCase:
    """Agent to run on the problems of a map."""

    name: str
    kind: str  # key of the agent
    params: Mapping[str, Value]
    budget: int  # expansions per tick
    target: BenchTarget | None = None  # minimum ratio of expansions per second to the control
    changes: RandomChangeSchedule | None = None  # random changes of the map; None: no changes
    problem_stride: int = 1  # stride: only every n-th problem of a map is run
    max_ticks: int = 10_000_000  # maximum number of ticks per problem
    extra_counter: str = ""  # name of a number in the view of the agent that is added to the expansions; empty: none


CASES = (
    TickCase("TB-WA* w=1 k=1", "tb-wa", {"weight": 1.0}, 1, BenchTarget(2.0)),
    TickCase("TB-WA* w=3 k=1", "tb-wa", {"weight": 3.0}, 1),
    TickCase("TB-GBFS k=1", "tb-gbfs", {}, 1),
    TickCase("TB-WA* w=1 k=64", "tb-wa", {"weight": 1.0}, 64),
    TickCase("TBA* R=10", "tba", {}, 10),
    TickCase("TBA* R=100", "tba", {}, 100),
    TickCase("LRTA* d=1", "lrta", {}, 1, BenchTarget(8.0)),
    TickCase("LRTA* d=8", "lrta", {"depth": 8}, 225, problem_stride=8),
    TickCase("P LRTA* Q=30", "p-lrta", {}, 31, problem_stride=4),
    TickCase("K LRTA* n=32", "k-lrta", {}, 32, problem_stride=4),
    TickCase("LSS-LRTA* n=32", "lss-lrta", {}, 32),
    TickCase(
        "LSS-LRTA* n=32, with the pops of its backup",
        "lss-lrta",
        {},
        32,
        BenchTarget(7.0),
        extra_counter="learning pops",
    ),
    TickCase("RTAA* n=32", "rtaa", {}, 32),
    TickCase("daRTAA* n=32", "da-rtaa", {}, 32),
    # This case has a limit of 1000 ticks, because an agent that restarts every ten moves may never arrive.
    TickCase(
        "RTB-WA* w=2 k=16, 1 % change each 10 ticks", "rtb-wa", {}, 16, None, RandomChangeSchedule(10, 1.0), 16, 1000
    ),
)


def run(setup: BenchSetup) -> BenchTable:
    groups = dict(setup.problems.iter_problem_groups())
    name = _GROUP if _GROUP in groups else next(iter(groups))
    batches = grouped_by_map(groups[name])
    table = BenchTable(f"ticks: {name}, one world per problem, its creation and all measures included")
    rate = control_expansion_rate(setup, batches)
    for case in CASES:
        _measure_case(setup, table, case, batches, rate)
    table.notes.append("control: the same A* as in `search`, on the same problems")
    return table


def control_expansion_rate(setup: BenchSetup, batches: list[list[MapProblem]]) -> float:
    """Return the expansions per second of the control."""
    seconds, expansions = 0.0, 0
    for batch in batches:
        setup.progress.update_bar(f"ticks: control, {batch[0].map_name}")
        work = control_solver(batch)
        expansions += work()
        seconds += best_times(setup.rounds, (work,))[0]
    return expansions / seconds


def _measure_case(
    setup: BenchSetup, table: BenchTable, case: TickCase, batches: list[list[MapProblem]], plain_rate: float
) -> None:
    seconds, expansions, ticks = 0.0, 0, 0
    for batch in batches:
        setup.progress.update_bar(f"ticks: {case.name}, {batch[0].map_name}")
        work = case_runner(case, batch[:: case.problem_stride])
        counted = work()
        expansions += counted[0]
        ticks += counted[1]
        seconds += best_times(setup.rounds, (work,))[0]
    rate = expansions / seconds
    target = case.target if setup.problems.is_from_list else None
    table.rows.append(BenchRow(case.name, rate, "expansions/s", plain_rate, rate / plain_rate, target))
    table.notes.append(
        f"{case.name}: {expansions:,} expansions in {ticks:,} ticks, {number_text(ticks / seconds)} ticks/s"
    )


def case_runner(case: TickCase, batch: list[MapProblem]) -> Callable[[], tuple[int, int]]:
    """Return a function that runs a case on all problems of one map and returns its expansions and ticks."""
    return partial(_run_agent_on_problems, case, batch)


def _run_agent_on_problems(case: TickCase, batch: list[MapProblem]) -> tuple[int, int]:
    expansions, ticks = 0, 0
    for problem in batch:
        grid = problem.grid if case.changes is None else Grid(problem.grid.terrain.copy())
        world = World(
            grid,
            *problem.start_and_goal_cells,
            AGENT_SPECS_BY_KEY,
            budget=case.budget,
            random_changes=case.changes,
            executor=BatchedExecutor,
        )
        walker = world.add(AgentConfig(case.kind, params=case.params))
        world.advance(case.max_ticks)
        expansions += world.metrics_of_walker(walker).expansions
        if case.extra_counter:
            expansions += int(walker.agent.view().numbers[case.extra_counter])
        ticks += world.tick
    return expansions, ticks
