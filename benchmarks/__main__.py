"""Command line of the benches. Errors and signals are handled like those of main.py."""

import sys

from benchmarks import main
from cli.run_program import run_program
from cli.standard_streams import check_output_is_open


def _run_benches(arguments: list[str], has_output: bool) -> int:
    check_output_is_open("bench", has_output)
    return main(arguments)


if __name__ == "__main__":
    sys.exit(run_program(_run_benches, sys.argv[1:]))
