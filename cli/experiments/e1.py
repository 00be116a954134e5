"""E1: TBA* against Delayed A*, which sets out only when it has the whole path. "TBA*: Time-Bounded A*", Table 1.

There: three maps of a real-time strategy game scaled to 512 x 512, 100 problems each with an optimal length from
230 to 320, r = 0.9, c = 10. Here: the two Warcraft III maps at hand, rows of their .scen files.
"""

from cli.experiments.common import Setting, Settings, listed_problems, mean, mean_ratio, print_table, run_all

MAPS = ("wc3maps512/battleground.map", "wc3maps512/riverrun.map")
PRINTED = {  # R: (early, late)
    10: (3.83, 4.21),
    25: (2.10, 2.32),
    50: (1.49, 1.64),
    75: (1.31, 1.43),
    100: (1.21, 1.30),
    200: (1.09, 1.15),
    500: (1.03, 1.06),
    1000: (1.01, 1.02),
}
TOLERANCE = 0.1


def run(settings: Settings) -> None:
    problems = [p for name in MAPS for p in listed_problems(settings, name, settings.count(100), 230.0, 320.0)]
    print(f"E1: mean of cost / optimal over {len(problems)} problems\n")
    rows, worst = [], 0.0
    for budget, printed in PRINTED.items():
        row: list[object] = [budget]
        for kind, number in zip(("tba", "delayed-astar"), printed, strict=True):
            runs = run_all(settings, f"E1: {kind}, R={budget}", problems, Setting(kind, {}, budget))
            ratio = mean_ratio(runs)
            row += [ratio, f"{number:.2f}", f"{100 * (ratio / number - 1):+.1f} %"]
            worst = max(worst, abs(ratio / number - 1))
        rows.append([*row, mean(run.metrics.expansions for run in runs)])
    headings = ("R", "early", "printed", "off by", "late", "printed", "off by", "expansions")
    print_table(settings, headings, rows)
    verdict = "within" if worst <= TOLERANCE else "NOT within"
    print(f"Largest deviation {100 * worst:.1f} %, {verdict} {100 * TOLERANCE:.0f} %.")
