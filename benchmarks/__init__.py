"""Benches: measurements of speed and memory, also as ratios to a control that is measured in the same run.

`make bench ARGS="ticks --csv out.csv"` or `python -m benchmarks ticks --csv out.csv` runs them. They are for developers
and not part of the installed program.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path

from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks import bench_problems
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchTable, table_lines, write_csv_file
from cli.arguments import BENCHMARK_MAPS, CommandParser, add_maps_option, argparse_arguments_of_param
from cli.kernel_warm_up import warm_up_agents
from cli.outputs import check_output_paths
from cli.progress import ProgressBar
from sim.params import ConfigError, Param, did_you_mean_hint
from sim.world_commands import AgentConfig

ROUNDS = Param("rounds", int, 3, "how often each measurement is repeated; the best counts", low=1, high=100)

BENCHES = (
    "search",
    "ticks",
    "scaling",
    "crowd",
    "own-agent",
    "memory",
    "growth",
    "seek",
    "optimisations",
    "databases",
    "frames",
    "record",
    "experiment",
    "start",
)
"""Names of all benches, in the order in which they run.

Each bench is a module of this package with a function `run`. It is imported just before it runs, because some benches
open a window, and the others must not load the modules for it.
"""


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    chosen = _benches_in_run_order(args.benches)
    check_output_paths({"--csv": args.csv}, ())
    progress = ProgressBar()
    warm_up_agents([AgentConfig(key) for key in AGENT_SPECS_BY_KEY], progress)
    setup = BenchSetup(bench_problems.load_problems(Path(args.maps)), args.rounds, progress)
    if not setup.problems.is_from_list:
        lacking = (
            "no benchmark maps (--maps DIR)" if args.maps == BENCHMARK_MAPS else f"{args.maps}: no search-set.tsv there"
        )
        progress.print_line(f"{lacking}; using generated maps, so targets do not apply")
    tables = []
    for name in chosen:
        table: BenchTable = importlib.import_module(f"benchmarks.{name.replace('-', '_')}").run(setup)
        tables.append((name, table))
        progress.clear_bar()
        print("\n".join([*table_lines(table), ""]), flush=True)
    if args.csv:
        write_csv_file(args.csv, tables)
    return 0


def _parser() -> CommandParser:
    names = ", ".join(BENCHES)
    parser = CommandParser(
        "bench", "Measure speed and memory. A missed target is marked NO; it is not an error.", module="benchmarks"
    )
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=f"one or more of {names} (default: all)")
    parser.add_argument("--csv", metavar="FILE", help="write all rows to FILE")
    parser.add_argument("--rounds", metavar="N", **argparse_arguments_of_param(ROUNDS))
    add_maps_option(parser, "folder of maps with search-set.tsv; without it, maps are generated")
    return parser


def _benches_in_run_order(names: Sequence[str]) -> list[str]:
    """Return the named benches in the order of BENCHES, or all benches if none is named."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        raise ConfigError([f"bench: no bench '{name}'{did_you_mean_hint(name, BENCHES)}" for name in unknown])
    return [name for name in BENCHES if not names or name in names]
