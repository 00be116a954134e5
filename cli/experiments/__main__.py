"""`python -m cli.experiments`: run experiments, and print their tables in Markdown."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.registry import BY_KEY
from cli.arguments import Arguments, checked
from cli.bench.problems import MAPS
from cli.experiments import e1, e2, e4, e6, e7, e8
from cli.experiments.common import Experiment, Settings
from cli.progress import Progress
from cli.warm import warm_up
from sim.commands import AgentConfig
from sim.params import ConfigError, Param

EXPERIMENTS: dict[str, Experiment] = {
    "e1": e1.run,
    "e2": e2.run,
    "e4": e4.run,
    "e6": e6.run,
    "e7": e7.run,
    "e8": e8.run,
}
PROBLEMS = Param("problems", int, 100, "problems on each map, instead of what each experiment thinks right", 1, 10_000)


def main(argv: Sequence[str]) -> int:
    parser = Arguments("experiments", "Repeat experiments of the papers; docs/experiments.md holds the results.")
    parser.prog = "python -m cli.experiments"
    parser.add_argument(
        "experiments", nargs="+", choices=EXPERIMENTS, metavar="EXPERIMENT", help=", ".join(EXPERIMENTS)
    )
    parser.add_argument("--problems", type=checked(PROBLEMS), metavar="N", help=PROBLEMS.help)
    parser.add_argument("--maps", default=os.environ.get("BACKMOVE_MAPS", MAPS), metavar="DIR")
    try:
        given = parser.parse_args(argv)
        settings = Settings(Path(given.maps), given.problems, Progress())
        warm_up([AgentConfig(key) for key in BY_KEY], settings.progress)
        for name in given.experiments:
            EXPERIMENTS[name](settings)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
