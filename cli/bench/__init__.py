"""`bench`: how fast it is, as ratios to a control measured in the same run."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.registry import BY_KEY
from cli.arguments import Arguments, checked
from cli.bench import memory, problems, scaling, search, start, ticks
from cli.bench.setup import Setup
from cli.bench.table import Table, lines_of, write_csv
from cli.progress import Progress
from cli.warm import warm_up
from sim.commands import AgentConfig
from sim.params import ConfigError, Param, did_you_mean

MAPS = Path(__file__).resolve().parents[3] / "shared" / "maps"
ROUNDS = Param("rounds", int, 3, "how often each thing is measured; the best counts", low=1, high=100)


@dataclass(frozen=True)
class Bench:
    name: str
    run: Callable[[Setup], Table]


BENCHES = (
    Bench("search", search.run),
    Bench("ticks", ticks.run),
    Bench("scaling", scaling.run),
    Bench("memory", memory.run),
    Bench("start", start.run),
)
"""In the order in which they run."""


def main(argv: Sequence[str]) -> int:
    given = _parser().parse_args(argv)
    chosen = _chosen(given.benches)
    if given.csv:
        open(given.csv, "a", encoding="utf-8").close()  # say now, not after minutes, that it cannot be written
    progress = Progress()
    warm_up((AgentConfig(key) for key in BY_KEY), BY_KEY, progress)
    setup = Setup(problems.load(Path(given.maps)), given.rounds, progress)
    if not setup.problems.is_listed:
        progress.say(f"{given.maps}: no search-set.tsv there; generated maps instead, so targets do not apply")
    tables = []
    for bench in chosen:
        table = bench.run(setup)
        tables.append((bench.name, table))
        progress.clear()
        print("\n".join([*lines_of(table), ""]), flush=True)
    if given.csv:
        write_csv(given.csv, tables)
    return 0


def _parser() -> Arguments:
    names = ", ".join(bench.name for bench in BENCHES)
    parser = Arguments("bench", "Measure speed and memory. A target that is missed is marked NO, and is no error.")
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=f"one or more of {names}; all of them if left out")
    parser.add_argument("--csv", metavar="FILE", help="write all rows to FILE")
    parser.add_argument("--rounds", type=checked(ROUNDS), default=ROUNDS.default, metavar="N", help=ROUNDS.help)
    parser.add_argument(
        "--maps", default=os.environ.get("BACKMOVE_MAPS", MAPS), metavar="DIR", help="where search-set.tsv lies"
    )
    return parser


def _chosen(names: Sequence[str]) -> list[Bench]:
    """The benches with these names, in the order of the registry."""
    known = [bench.name for bench in BENCHES]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError([f"bench: no bench '{name}'{did_you_mean(name, known)}" for name in unknown])
    return [bench for bench in BENCHES if not names or bench.name in names]
