"""E7: time-bounded best-first search on maps that do not change. "Time-Bounded Best-First Search", figures 1 to 4.

There: all maps of three games and of rooms, 100 random problems on each. Here: those at hand.
"""

from collections.abc import Callable, Sequence

from cli.bench.problems import MapProblem
from cli.experiments.common import Setting, Settings, mean, mean_ratio, print_table, random_problems, run_all
from sim.metrics import Metrics

MAPS = {
    "bg512": ("bg512/AR0011SR.map", "bg512/AR0205SR.map", "bg512/AR0306SR.map", "bg512/AR0517SR.map"),
    "rooms": ("rooms/16room_000.map", "rooms/32room_000.map"),
}
BUDGETS = (1, 4, 16, 64, 256)
WEIGHTS = (1.0, 1.4, 1.8, 2.2, 2.6, 3.0)


def run(settings: Settings) -> None:
    for name, maps in MAPS.items():
        problems = [p for map_name in maps for p in random_problems(settings, map_name, settings.count(40))]
        runs = {budget: _runs(settings, name, problems, budget) for budget in BUDGETS}
        for title, measure in _MEASURES:
            print(f"E7, {name}, {len(problems)} problems: {title}\n")
            rows = [[budget, *(measure(agent) for agent in runs[budget])] for budget in BUDGETS]
            print_table(settings, ("k", *(f"w={weight:g}" for weight in WEIGHTS), "GBFS"), rows)


def _runs(settings: Settings, name: str, problems: Sequence[MapProblem], budget: int) -> list[list[Metrics]]:
    """The runs of each agent: every weight, then greedy."""
    agents = [Setting("tb-wa", {"weight": weight}, budget) for weight in WEIGHTS] + [Setting("tb-gbfs", {}, budget)]
    return [run_all(settings, f"E7: {name}, k={budget}, {a.kind} {a.params}", problems, a) for a in agents]


def _mean_nonoptimal(runs: Sequence[Metrics]) -> float:
    return mean(run.nonoptimal_moves or 0 for run in runs)


def _back_move_share(runs: Sequence[Metrics]) -> str:
    shares = [share for run in runs if (share := run.back_move_share) is not None]
    return f"{mean(shares):.0f} %" if shares else "-"


_MEASURES: tuple[tuple[str, Callable[[Sequence[Metrics]], object]], ...] = (
    ("mean of cost / optimal", mean_ratio),
    ("mean expansions", lambda runs: mean(run.expansions for run in runs)),
    ("mean non-optimal moves", _mean_nonoptimal),
    ("mean share of back-moves in non-optimal moves", _back_move_share),
)
