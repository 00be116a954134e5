"""Setup shared by all benches."""

from dataclasses import dataclass

from cli.bench.problems import ProblemSet
from cli.progress import Progress


@dataclass(frozen=True)
class Setup:
    """Problems to solve, number of repetitions, and the progress bar."""

    problems: ProblemSet
    rounds: int  # number of times that each measurement is repeated; the best counts
    progress: Progress
