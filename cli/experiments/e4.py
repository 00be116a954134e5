"""E4: the enhancements of TBA*: shortcut search, switch rule, bucketed open list. Section 4.3 of its paper."""

import time
from collections.abc import Sequence

from agents.registry import BY_KEY
from cli.bench.problems import MapProblem
from cli.experiments import e1
from cli.experiments.common import Setting, Settings, listed_problems, mean, mean_ratio, print_table, run_all
from sim.commands import AgentConfig
from sim.generate import generate
from sim.metrics import Metrics
from sim.world import World

BUDGETS = (10, 25, 50, 100, 200, 1000)


def run(settings: Settings) -> None:
    problems = [p for name in e1.MAPS for p in listed_problems(settings, name, settings.count(100), 230.0, 320.0)]
    print(f"E4: {len(problems)} problems of E1\n")
    _enhancements(settings, problems)
    _two_corridors(settings)
    _buckets(settings, problems)


def _enhancements(settings: Settings, problems: Sequence[MapProblem]) -> None:
    rows = []
    for budget in BUDGETS:
        basic, shortcut, longer = (
            run_all(settings, f"E4: R={budget}", problems, Setting("tba", params, budget))
            for params in ({}, {"shortcut": True}, {"switch": "longer"})
        )
        changed = sum(a.cost != b.cost for a, b in zip(basic, shortcut, strict=True))
        share = f"{100 * changed / len(problems):.1f} %"
        gains = _gain(basic, shortcut), _gain(basic, longer)
        back = mean(run.back_moves for run in basic), mean(run.back_moves for run in longer)
        rows.append(
            [budget, mean_ratio(basic), mean_ratio(shortcut), gains[0], share, mean_ratio(longer), gains[1], *back]
        )
    headings = ("R", "basic", "shortcut", "gain", "runs changed", "switch", "gain", "back-moves basic", "switch")
    print_table(settings, headings, rows)


def _gain(basic: Sequence[Metrics], other: Sequence[Metrics]) -> str:
    """How much less the other costs, in the mean."""
    return f"{100 * (1 - mean(run.cost for run in other) / mean(run.cost for run in basic)):.1f} %"


def _two_corridors(settings: Settings) -> None:
    """Figure 2 of the paper: basic TBA* walks back to the start, the enhanced agent does not."""
    rows = []
    for size in (16, 24, 48, 96):
        made = generate("two-corridors", {"size": size})
        problem = MapProblem("two-corridors", "two-corridors", made.grid, made.start, made.goal, None)
        costs = [
            run_all(settings, "E4: corridors", [problem], Setting("tba", params, 2 * size))[0]
            for params in ({}, {"shortcut": True})
        ]
        rows.append([size, 2 * size, costs[0].optimal, *(m.cost for m in costs), *(m.back_moves for m in costs)])
    headings = ("size", "R", "optimal", "cost basic", "cost shortcut", "back-moves basic", "back-moves shortcut")
    print_table(settings, headings, rows)


def _buckets(settings: Settings, problems: Sequence[MapProblem]) -> None:
    rows = []
    for budget in (10, 100, 1000):
        costs, expansions, seconds = zip(
            *(_timed(settings, problems, open_list, budget) for open_list in ("heap", "buckets")), strict=True
        )
        rows.append([budget, *costs, *expansions, *seconds])
    headings = ("R", "ratio heap", "buckets", "expansions heap", "buckets", "planning ms heap", "buckets")
    print_table(settings, headings, rows)


def _timed(settings: Settings, problems: Sequence[MapProblem], open_list: str, budget: int) -> tuple[float, ...]:
    """Mean ratio, expansions, and milliseconds of planning in a run."""
    ratios, expansions, seconds = [], [], []
    for problem in problems:
        settings.progress.show(f"E4: {open_list}, R={budget}")
        world = World(problem.grid, *problem.ends, BY_KEY, budget=budget, stopwatch=time.thread_time)
        walker = world.add(AgentConfig("tba", params={"open_list": open_list}))
        world.advance(10_000_000)
        metrics = world.metrics(walker)
        ratios.append(metrics.suboptimality or 0.0)
        expansions.append(metrics.expansions)
        seconds.append(1000 * world.planning_s[walker.id])
    return mean(ratios), mean(expansions), mean(seconds)
