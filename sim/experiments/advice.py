"""What to use on a map: candidates tried on random problems of it, and what is worth saying of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sim.agent_api import AgentSpec
from sim.experiments.columns import MEASURED, TIMES
from sim.experiments.plan import Job, Walk
from sim.experiments.problems import Case
from sim.experiments.runs import Line
from sim.experiments.statistics import pareto
from sim.experiments.totals import Totals
from sim.params import Value, parse_params

BUDGETS = (4, 16, 64, 256)
_KINDS: tuple[tuple[str, Mapping[str, Value]], ...] = (
    ("tba", {}),
    ("tba", {"switch": "longer"}),
    ("tb-wa", {"weight": 1.4}),
    ("tb-wa", {"weight": 2.0}),
    ("tb-wa", {"weight": 3.0}),
    ("tb-gbfs", {}),
    ("lss-lrta", {}),
    ("da-rtaa", {}),
)
_PATIENCE = 100  # moves for each move of an optimal path, after which a candidate is given up
_NAMES = [column.name for column in (*MEASURED, *TIMES)]


@dataclass
class Candidate:
    """A setting and what it did on the problems so far."""

    kind: str
    params: Mapping[str, Value]
    budget: int
    name: str
    totals: Totals = field(default_factory=Totals)
    is_out: bool = False  # some problem took it too long

    def take(self, line: Line) -> None:
        found: dict[str, Any] = dict(zip(_NAMES, line[1:], strict=True))
        self.is_out = self.is_out or found["outcome"] != "reached"
        if not self.is_out:
            self.totals.add(found)

    @property
    def is_measured(self) -> bool:
        return not self.is_out and self.totals.arrived > 0 and self.totals.ticks > 0

    @property
    def cost(self) -> float:
        """Mean of cost / optimal."""
        return self.totals.cost

    @property
    def tick_us(self) -> float:
        """Mean processor time of a tick of one unit."""
        return self.totals.tick_us

    @property
    def walk(self) -> Walk:
        return Walk(self.kind, self.params, self.budget, b"")


def candidates(specs: Mapping[str, AgentSpec], budget: int | None) -> list[Candidate]:
    """Settings worth a try, those that a budget allows."""
    found = []
    for kind, given in _KINDS:
        spec = specs[kind]
        params = parse_params(spec.params, given, kind, [])
        words = "".join(f" {name}={value}" for name, value in given.items())
        for k in BUDGETS if budget is None else (budget,):
            if spec.check_budget(k, params) is None:
                found.append(Candidate(kind, params, k, f"{spec.name}{words} k={k}"))
    return found


def job_for(candidate: Candidate, case: Case, length: float) -> Job:
    """A run of a candidate, which ends when it walks far too long."""
    most = int(_PATIENCE * (length + 10))
    return Job(case.start, case.goal, case.number, None, 1, most, 20 * most, False, (candidate.walk,))


@dataclass(frozen=True)
class Need:
    """How many units share how many milliseconds of a frame."""

    units: int
    budget_ms: float

    def fits(self, candidate: Candidate) -> bool:
        """Whether all units plan in time in the mean."""
        return self.units * candidate.tick_us <= 1000.0 * self.budget_ms


def front(tried: Iterable[Candidate]) -> list[Candidate]:
    """Candidates that no other beats in both time and cost, the cheapest walk first."""
    measured = [candidate for candidate in tried if candidate.is_measured]
    chosen = pareto([(candidate.tick_us, candidate.cost) for candidate in measured])
    return sorted((measured[i] for i in chosen), key=lambda candidate: candidate.cost)


def best_three(tried: Iterable[Candidate], need: Need) -> list[Candidate]:
    """Those that fit, the cheapest walk first; of each agent and its parameters only the best."""
    measured = sorted((c for c in tried if c.is_measured), key=lambda c: (not need.fits(c), c.cost, c.tick_us))
    return list(_different(measured))[:3]


def _different(tried: Iterable[Candidate]) -> Iterator[Candidate]:
    seen: set[str] = set()
    for candidate in tried:
        key = f"{candidate.kind} {sorted(candidate.params.items())}"
        if key not in seen:
            seen.add(key)
            yield candidate
