"""E2: TBA* against classic real-time search. "TBA*: Time-Bounded A*", figure 3.

There: the problems of E1; LRTA* with depths from 4 to 16, P LRTA*, K LRTA* and TBA*; quality against expansions per
move, without settings that ever expand more than 1000 cells in a move. Here: the problems of E1 at hand, and the
agents that came later, LSS-LRTA*, RTAA* and daRTAA*, beside them.
"""

from random import Random

from agents.registry import BY_KEY
from cli.experiments import e1
from cli.experiments.common import Setting, Settings, listed_problems, mean_ratio, print_table, run_all
from sim.params import Value

CUT_OFF = 1000
_FEW, _DRAWS = 36, 2000
LOOKAHEADS = (10, 40, 100, 1000)
MEASURED = {  # (agent, setting): (ratio, expansions per move) in algorithms.md, 36 problems
    ("lrta", 1): (76.0, 1),
    ("lrta", 4): (23.7, 45),
    ("lrta", 8): (12.7, 198),
    ("lrta", 16): (7.0, 764),
    ("p-lrta", 10): (18.0, 10),
    ("p-lrta", 40): (6.5, 37),
    ("p-lrta", 250): (3.0, 199),
    ("k-lrta", 10): (11.8, 10),
    ("k-lrta", 40): (4.2, 39),
    ("k-lrta", 100): (2.35, 91),
    ("k-lrta", 1000): (1.21, 495),
    ("tba", 10): (3.88, 6.0),
    ("tba", 25): (2.15, 10.8),
    ("tba", 100): (1.23, 20),
    ("tba", 1000): (1.02, 26),
}


def _spread(ratios: list[float]) -> str:
    """Where the mean of as many problems as the prototype had lies, nine times out of ten."""
    chance = Random(0)
    means = sorted(sum(chance.choices(ratios, k=_FEW)) / _FEW for _ in range(_DRAWS))
    return f"{means[_DRAWS // 20]:.3g} to {means[-_DRAWS // 20]:.3g}"


def run(settings: Settings) -> None:
    problems = [p for name in e1.MAPS for p in listed_problems(settings, name, settings.count(100), 230.0, 320.0)]
    print(f"E2: mean of cost / optimal against expansions per move, {len(problems)} problems of E1\n")
    rows = []
    for kind, letter, number, setting in _settings():
        runs = run_all(settings, f"E2: {kind} {letter}={number}", problems, setting)
        by_map = [[r for r, p in zip(runs, problems, strict=True) if p.map_name == name] for name in e1.MAPS]
        most = max(run.metrics.max_expansions for run in runs)
        assert most <= CUT_OFF, "the paper leaves such a setting out"
        moves = sum(run.metrics.moves for run in runs)
        anchor = MEASURED.get((kind, number))
        rows.append(
            [
                BY_KEY[kind].name.replace("*", "\\*"),
                f"{letter}={number}",
                mean_ratio(runs),
                *(mean_ratio(part) for part in by_map),
                sum(run.metrics.expansions for run in runs) / moves,
                most,
                1000.0 * sum(run.planning_ms for run in runs) / moves,
                f"{anchor[0]:g} at {anchor[1]:g}" if anchor else "",
                _spread([run.ratio for run in runs]) if anchor else "",
            ]
        )
    maps = (name.split("/")[1].removesuffix(".map") for name in e1.MAPS)
    effort = ("expansions / move", "most", "planning us / move")
    headings = ("agent", "", "cost / optimal", *maps, *effort, "prototype", "36 of ours")
    print_table(settings, headings, rows)


def _settings() -> list[tuple[str, str, int, Setting]]:
    """(kind, letter, number, setting), each family from little to much work."""
    depth: list[dict[str, Value]] = [{"depth": d} for d in (1, 4, 8, 12, 16)]
    found = [("lrta", "d", int(params["depth"]), Setting("lrta", params, CUT_OFF)) for params in depth]
    for room in (10, 20, 30, 40, 100, 250):
        found.append(("p-lrta", "Q", room, Setting("p-lrta", {"queue": room}, CUT_OFF)))
    for kind, letter in (("k-lrta", "n"), ("lss-lrta", "n"), ("rtaa", "n"), ("da-rtaa", "n")):
        found += [(kind, letter, n, Setting(kind, {}, n)) for n in LOOKAHEADS]
    return found + [("tba", "R", budget, Setting("tba", {}, budget)) for budget in (10, 25, 50, 100, 1000)]
