"""E4: the enhancements of TBA*: shortcut search, switch rule, bucketed open list. Section 4.3 of its paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agents.registry import BY_KEY
from cli.bench.problems import MapProblem
from cli.experiments import e1
from cli.experiments.common import Run, Setting, Settings, listed_problems, mean, mean_ratio, print_table, run_all
from sim.commands import AgentConfig
from sim.generate import generate
from sim.kernels.search import parent
from sim.world import Walker, World

BUDGETS = (10, 25, 50, 100, 200, 1000)


def run(settings: Settings) -> None:
    problems = [p for name in e1.MAPS for p in listed_problems(settings, name, settings.count(100), 230.0, 320.0)]
    print(f"E4: {len(problems)} problems of E1\n")
    _switch_rule(settings, problems)
    _shortcuts(settings, problems)
    _two_corridors(settings)
    _buckets(settings, problems)


def _tba(settings: Settings, problems: Sequence[MapProblem], budget: int, **params: bool | str) -> list[Run]:
    return run_all(settings, f"E4: R={budget} {params}", problems, Setting("tba", params, budget))


def _saving(basic: Sequence[Run], other: Sequence[Run]) -> str:
    """How much less the other walks, in the mean."""
    return f"{100 * (1 - mean(r.metrics.cost for r in other) / mean(r.metrics.cost for r in basic)):.1f} %"


def _switch_rule(settings: Settings, problems: Sequence[MapProblem]) -> None:
    rows = []
    for budget in BUDGETS:
        basic, longer = _tba(settings, problems, budget), _tba(settings, problems, budget, switch="longer")
        back_moves = (mean(run.metrics.back_moves for run in runs) for runs in (basic, longer))
        rows.append([budget, mean_ratio(basic), mean_ratio(longer), _saving(basic, longer), *back_moves])
    print("Switch only to a path at least as long\n")
    print_table(settings, ("R", "ratio basic", "switch", "saved", "back-moves basic", "switch"), rows)


# --- shortcuts ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """How an agent stood when it had the path to the goal traced."""

    is_off_path: bool
    walk_back: float  # cost of what basic TBA* will walk from here: back along parents to the path, then along it
    shortest: float  # true distance to the goal


def _shortcuts(settings: Settings, problems: Sequence[MapProblem]) -> None:
    rows = []
    for budget in BUDGETS:
        basic, shortcut = _tba(settings, problems, budget), _tba(settings, problems, budget, shortcut=True)
        found = sum(a.metrics.cost != b.metrics.cost for a, b in zip(basic, shortcut, strict=True))
        findings = [_finding(settings, problem, budget) for problem in problems]
        off_path = [f for f in findings if f.is_off_path]
        useful = [f for f in off_path if f.shortest < f.walk_back]
        possible = sum(f.walk_back - f.shortest for f in useful) / sum(run.metrics.cost for run in basic)
        rows.append([budget, len(off_path), len(useful), f"{100 * possible:.2f} %", found, _saving(basic, shortcut)])
    print(f"Shortcuts, of {len(problems)} runs each\n")
    headings = ("R", "off the path when it is traced", "a shorter way exists", "could save", "cost changed", "saved")
    print_table(settings, headings, rows)


def _finding(settings: Settings, problem: MapProblem, budget: int) -> Finding:
    settings.progress.show(f"E4: shortcuts, R={budget}")
    world = World(problem.grid, *problem.ends, BY_KEY, budget=budget, measures=False)
    walker = world.add(AgentConfig("tba"))
    while not _has_path_to_goal(world, walker):
        world.advance(1)
    back = _walk_back(world, walker)
    return Finding(len(back) > 1, _cost_ahead(world, walker, back), world.true_distance(walker.position))


def _has_path_to_goal(world: World, walker: Walker) -> bool:
    path = walker.agent.view().path
    return bool(path.size) and int(path[-1]) == world.goal


def _walk_back(world: World, walker: Walker) -> list[int]:
    """The cells from the agent back along parents to the first one on its path."""
    view, cells = walker.agent.view(), [walker.position]
    path = set(view.path.tolist())
    while cells[-1] not in path:
        cells.append(int(parent(world.grid.ground, view.search, cells[-1])))
    return cells


def _cost_ahead(world: World, walker: Walker, back: list[int]) -> float:
    path = walker.agent.view().path.tolist()
    walk = back[:-1] + path[path.index(back[-1]) :]
    costs = {
        abs(int(step)): float(cost) for step, cost in zip(world.grid.ground.step, world.grid.ground.cost, strict=True)
    }
    return sum(costs[abs(b - a)] for a, b in pairwise(walk))


def _two_corridors(settings: Settings) -> None:
    """Figure 2 of the paper: basic TBA* walks back to the start, the enhanced agent does not."""
    rows = []
    for size in (16, 24, 48, 96):
        made = generate("two-corridors", {"size": size})
        problem = MapProblem("two-corridors", "two-corridors", made.grid, made.start, made.goal, None)
        pair = [_tba(settings, [problem], 2 * size, shortcut=chosen)[0].metrics for chosen in (False, True)]
        rows.append([size, 2 * size, pair[0].optimal, *(m.cost for m in pair), *(m.back_moves for m in pair)])
    print("Two corridors\n")
    headings = ("size", "R", "optimal", "cost basic", "shortcut", "back-moves basic", "shortcut")
    print_table(settings, headings, rows)


def _buckets(settings: Settings, problems: Sequence[MapProblem]) -> None:
    rows = []
    for budget in (10, 100, 1000):
        pair = [_tba(settings, problems, budget, open_list=chosen) for chosen in ("heap", "buckets")]
        ratios = (mean_ratio(runs) for runs in pair)
        expansions = (mean(run.metrics.expansions for run in runs) for runs in pair)
        times = (mean(run.planning_ms for run in runs) for runs in pair)
        rows.append([budget, *ratios, *expansions, *times])
    print("Buckets for the open list\n")
    headings = ("R", "ratio heap", "buckets", "expansions heap", "buckets", "planning ms heap", "buckets")
    print_table(settings, headings, rows)
