"""What every bench is given."""

from dataclasses import dataclass

from cli.bench.problems import ProblemSet
from cli.progress import Progress


@dataclass(frozen=True)
class Setup:
    """The problems, how often to repeat, and where to say how far it has got."""

    problems: ProblemSet
    rounds: int
    progress: Progress
