"""E7: time-bounded best-first search on maps that do not change. "Time-Bounded Best-First Search", figures 1 to 4.

There: all maps of three games and of rooms, 100 random problems on each. Here: those at hand.
"""

from collections.abc import Callable, Mapping, Sequence

from cli.bench.problems import MapProblem
from cli.experiments.common import Run, Setting, Settings, mean, mean_ratio, print_table, random_problems, run_all

GROUPS = {
    "bg512": ("bg512/AR0011SR.map", "bg512/AR0205SR.map", "bg512/AR0306SR.map", "bg512/AR0517SR.map"),
    "rooms": ("rooms/16room_000.map", "rooms/32room_000.map"),
    "sc1, 1024 x 1024": ("sc1/TheFrozenSea.map",),
}
SMALL_BUDGETS, LARGE_BUDGETS = (1, 4, 16, 64, 256), (1, 32, 128, 256, 512, 1024)
WEIGHTS = (1.0, 1.4, 1.8, 2.2, 2.6, 3.0)


def run(settings: Settings) -> None:
    for name, maps in GROUPS.items():
        problems = [p for map_name in maps for p in random_problems(settings, map_name, settings.count(40))]
        budgets = SMALL_BUDGETS if problems[0].grid.width <= 512 else LARGE_BUDGETS
        runs = {budget: _runs(settings, name, problems, budget) for budget in budgets}
        _print_expansions(settings, name, runs)
        for title, measure in _MEASURES:
            print(f"E7, {name}, {len(problems)} problems: {title}\n")
            print_table(settings, _HEADINGS, [[k, *(measure(agent) for agent in runs[k])] for k in budgets])


def _runs(settings: Settings, name: str, problems: Sequence[MapProblem], budget: int) -> list[list[Run]]:
    """The runs of each agent: every weight, then greedy."""
    agents = [Setting("tb-wa", {"weight": weight}, budget) for weight in WEIGHTS] + [Setting("tb-gbfs", {}, budget)]
    return [run_all(settings, f"E7: {name}, k={budget}, {a.kind} {a.params}", problems, a) for a in agents]


def _print_expansions(settings: Settings, name: str, runs: Mapping[int, list[list[Run]]]) -> None:
    """The search does not know how it is sliced, so one line stands for every k."""
    lines = [[mean(run.metrics.expansions for run in agent) for agent in agents] for agents in runs.values()]
    assert all(line == lines[0] for line in lines), lines
    print(f"E7, {name}: mean expansions\n")
    print_table(settings, _HEADINGS, [["any", *lines[0]]])


def _back_move_share(runs: Sequence[Run]) -> str:
    shares = [share for run in runs if (share := run.metrics.back_move_share) is not None]
    return f"{mean(shares):.0f} %" if shares else "-"


_HEADINGS = ("k", *(f"w={weight:g}" for weight in WEIGHTS), "GBFS")
_MEASURES: tuple[tuple[str, Callable[[Sequence[Run]], object]], ...] = (
    ("mean of cost / optimal", mean_ratio),
    ("mean milliseconds of planning in a run", lambda runs: mean(run.planning_ms for run in runs)),
    ("mean non-optimal moves", lambda runs: mean(run.metrics.nonoptimal_moves or 0 for run in runs)),
    ("mean share of back-moves in non-optimal moves", _back_move_share),
)
