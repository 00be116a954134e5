"""E8: time-bounded best-first search on a map that changes. "Time-Bounded Best-First Search", figures 5 and 6.

There: 1000 x 1000, 10 % random obstacles, a change every 10 moves, rates 1, 5 and 10, 100 problems for each. Here
the same with fewer problems: a change of rate 10 alters a hundred thousand cells. All agents of a problem walk in
one world, so they meet the same maps.
"""

from collections.abc import Iterator

from agents.registry import BY_KEY
from cli.experiments.common import Settings, drawn_problems, mean, print_table
from sim.agent_api import Status
from sim.changes import RandomChanges
from sim.commands import AgentConfig
from sim.generate import generate
from sim.grid import Grid
from sim.metrics import Metrics
from sim.params import Value
from sim.world import World

SIDE, DENSITY, EVERY = 1000, 10, 10
RATES = (1, 5, 10)
BUDGETS = (1, 4, 16, 64, 256)
WEIGHTS = (1.0, 1.4, 1.8, 2.2, 2.6, 3.0)
UNLIMITED = 1_000_000_000
_MOST_TICKS = 50_000

Runs = dict[str, list[Metrics]]


def run(settings: Settings) -> None:
    made = generate("random", {"width": 1008, "height": 1008, "density": DENSITY, "seed": 1}).grid
    grid = Grid(made.terrain[:SIDE, :SIDE].copy(), name="random")
    problems = drawn_problems(grid, "E8", settings.count(10))
    for rate in RATES:
        runs: Runs = {}
        for number, problem in enumerate(problems):
            settings.progress.show(f"E8: rate {rate}", number / len(problems))
            fresh = Grid(grid.terrain.copy())
            changes = RandomChanges(EVERY, rate)
            world = World(fresh, *problem.ends, BY_KEY, seed=number, random_changes=changes, measures=False)
            for config in _agents():
                world.add(config)
            _run(world, runs)
        _print(settings, rate, len(problems), runs)


def _agents() -> Iterator[AgentConfig]:
    """Lazy agents for every budget and weight, and eager ones for the comparison at unlimited budget."""
    for weight in WEIGHTS:
        for budget in (*BUDGETS, UNLIMITED):
            yield AgentConfig("rtb-wa", _label("lazy", budget, weight), {"weight": weight}, budget)
        params: dict[str, Value] = {"weight": weight, "restart": "eager"}
        yield AgentConfig("rtb-wa", _label("eager", UNLIMITED, weight), params, UNLIMITED)


def _label(policy: str, budget: int, weight: float) -> str:
    return f"{policy} {'inf' if budget == UNLIMITED else budget} {weight:g}"


def _run(world: World, runs: Runs) -> None:
    """Let all walk; those who have arrived leave, so that a change need not be told to them."""
    while world.walkers and world.tick < _MOST_TICKS:
        world.advance(EVERY)
        for walker in list(world.walkers):
            if walker.agent.status is Status.AT_GOAL:
                runs.setdefault(walker.label, []).append(world.metrics(walker))
                world.walkers.remove(walker)
    for walker in world.walkers:
        runs.setdefault(f"{walker.label} unfinished", []).append(world.metrics(walker))


def _print(settings: Settings, rate: int, count: int, runs: Runs) -> None:
    print(f"E8, rate {rate}, {count} problems: lazy against eager, k=inf\n")
    rows = []
    for weight in WEIGHTS:
        pair = [runs[_label(policy, UNLIMITED, weight)] for policy in ("lazy", "eager")]
        values = [
            mean(getattr(m, name) for m in agent) for name in ("restarts", "expansions", "cost") for agent in pair
        ]
        rows.append([weight, *values])
    headings = ("w", "restarts lazy", "eager", "expansions lazy", "eager", "cost lazy", "eager")
    print_table(settings, headings, rows)
    for title, name in (("cost", "cost"), ("restarts", "restarts"), ("expansions", "expansions")):
        print(f"E8, rate {rate}: mean {title}, lazy\n")
        print_table(
            settings,
            ("k", *(f"w={weight:g}" for weight in WEIGHTS)),
            [
                ["inf" if k == UNLIMITED else k, *(_cell(runs, _label("lazy", k, w), name) for w in WEIGHTS)]
                for k in (*BUDGETS, UNLIMITED)
            ],
        )


def _cell(runs: Runs, label: str, name: str) -> object:
    """The mean over those who arrived, and how many did not."""
    arrived, lost = runs.get(label, []), len(runs.get(f"{label} unfinished", []))
    if not arrived:
        return "never arrives"
    value = mean(getattr(metrics, name) for metrics in arrived)
    return value if not lost else f"{value:,.0f} ({lost} not arrived)"
