"""Setup shared by all benches."""

from dataclasses import dataclass

from benchmarks.bench_problems import ProblemSet
from cli.progress import ProgressBar


@dataclass(frozen=True)
class BenchSetup:
    """Problems to solve, number of repetitions, and the progress bar."""

    problems: ProblemSet
    rounds: int  # number of times that each measurement is repeated; the best counts
    progress: ProgressBar
