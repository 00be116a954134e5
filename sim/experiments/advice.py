"""What to use on a map: candidates tried on random problems of it, and what is worth saying of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from math import isqrt
from typing import Any

from sim.agent_api import AgentSpec
from sim.commands import AgentConfig
from sim.crowd import peopled
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
MOST_TOGETHER = 200
"""Maximum number of units that walk together while all settings are compared; what more take is extrapolated."""

MAX_MEASURED = 2000
"""Maximum number of units that walk together to verify the answer; memory and time grow with them."""

_MOST_STEPS = 10  # measurements in the search for the number of units that fit
_PRECISION = 1.1  # ratio of the smallest number that did not fit to the largest that did, at which the search ends

_TOUCHED = 20  # ticks that units walk first: in a game their memory has been there before, and is used again here
_FEWEST_TOGETHER = 32  # units on whom a mean is built; fewer walk several times, each time on other ways
_NAMES = [column.name for column in (*MEASURED, *TIMES)]


@dataclass
class Together:
    """Frame times of units that set out at the same moment, each with memory of its own.

    Frames count while at least half of the units are on their way: the frames after that cost next to nothing, and a
    mean over them says little of a crowd that walks.
    """

    units: int
    frames_ms: float = 0.0
    unit_ticks: int = 0  # units on their way, summed over the frames
    longest_ms: float = 0.0

    @property
    def unit_us(self) -> float:
        """Mean processor time of a tick of one unit."""
        return 1000.0 * self.frames_ms / max(1, self.unit_ticks)


@dataclass
class Candidate:
    """A setting and what it did on the problems so far."""

    kind: str
    params: Mapping[str, Value]
    budget: int
    name: str
    totals: Totals = field(default_factory=Totals)
    is_out: bool = False  # some problem took it too long
    together: Together | None = None  # nobody has let many walk yet

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
    def alone_us(self) -> float:
        """Mean processor time of a tick of one unit that has the machine to itself."""
        return self.totals.tick_us

    @property
    def unit_us(self) -> float:
        """The same of one of many; infinite where that was not measured."""
        return self.together.unit_us if self.together else float("inf")

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


def measured_together(
    candidate: Candidate,
    cases: Sequence[Case],
    specs: Mapping[str, AgentSpec],
    units: int,
    clock: Callable[[], float],
) -> Together:
    """Let so many units of a setting walk over the map at once, and return what their frames took."""
    found = Together(units)
    ways = cycle(cases)
    for _ in range(-(-_FEWEST_TOGETHER // found.units)):
        _add_frames(found, candidate, list(islice(ways, found.units)), specs, clock)
    return found


def _add_frames(
    found: Together,
    candidate: Candidate,
    cases: Sequence[Case],
    specs: Mapping[str, AgentSpec],
    clock: Callable[[], float],
) -> None:
    grid, kind, params = cases[0].board.grid, candidate.kind, candidate.params
    units = [AgentConfig(kind, params=params, start=case.start, goal=case.goal) for case in cases]
    peopled(grid, specs, units, candidate.budget).advance(_TOUCHED)
    world = peopled(grid, specs, units, candidate.budget)
    while 2 * (active := sum(not walker.is_done for walker in world.walkers)) >= len(units):
        before = clock()
        world.advance(1)
        frame_ms = 1000.0 * (clock() - before)
        found.frames_ms += frame_ms
        found.longest_ms = max(found.longest_ms, frame_ms)
        found.unit_ticks += active


def most_that_fit(measure: Callable[[int], float], budget_ms: float, guess: int) -> int:
    """Return about the largest number of units whose longest frame fits; `measure`: its milliseconds for a number.

    The number returned has itself been measured to fit, so that asking for it gets the answer that it fits. 0: not
    even one unit does.
    """
    fits, fits_not, units = 0, MAX_MEASURED + 1, max(1, min(MAX_MEASURED, guess))
    for _ in range(_MOST_STEPS):
        longest_ms = measure(units)
        if longest_ms <= budget_ms:
            fits = units
        else:
            fits_not = units
        if fits_not <= max(fits + 1, _PRECISION * fits):
            break
        aim = int(units * budget_ms / max(longest_ms, 1e-6))  # right where a frame takes as long as it has units
        if not fits:
            units = max(1, min(aim, fits_not // 2))
        elif fits_not > MAX_MEASURED:
            units = min(MAX_MEASURED, max(aim, 2 * fits))
        else:
            units = max(fits + 1, isqrt(fits * fits_not))
    return fits


YES, IN_TURN, NO = "yes", "in turn", "no"
"""Answers to whether units fit: in every frame; only if they plan in turn (`tick_ms`); not at all."""


@dataclass(frozen=True)
class Need:
    """How many units share how many milliseconds of a frame."""

    units: int
    budget_ms: float

    def frame_ms(self, candidate: Candidate) -> float:
        """Return what a frame takes in the mean while all units are on their way."""
        return self.units * candidate.unit_us / 1000.0

    def longest_ms(self, candidate: Candidate) -> float:
        """Return what the longest frame takes when all units set out at once; extrapolated where fewer walked."""
        together = candidate.together
        return together.longest_ms * max(1.0, self.units / together.units) if together else float("inf")

    def fits(self, candidate: Candidate) -> str:
        """Return YES where the longest frame keeps the limit, IN_TURN where only the mean does, NO otherwise."""
        if self.longest_ms(candidate) <= self.budget_ms:
            return YES
        return IN_TURN if self.frame_ms(candidate) <= self.budget_ms else NO

    def guess(self, candidate: Candidate) -> int:
        """Return how many units keep the limit in the longest frame, extrapolated from those that walked."""
        return int(self.units * min(self.budget_ms / max(self.longest_ms(candidate), 1e-6), 1e6))


def worth_a_crowd(tried: Iterable[Candidate]) -> list[Candidate]:
    """Those that arrived on every problem: first whom nobody beats in both time and cost, the cheapest walk first."""
    measured = sorted((c for c in tried if c.is_measured), key=lambda candidate: candidate.cost)
    best = pareto([(candidate.alone_us, candidate.cost) for candidate in measured])
    return [measured[i] for i in sorted(best)] + [c for i, c in enumerate(measured) if i not in best]


def front(tried: Iterable[Candidate]) -> list[Candidate]:
    """Candidates that no other beats in both time and cost, the cheapest walk first."""
    measured = [candidate for candidate in tried if candidate.together]
    chosen = pareto([(candidate.unit_us, candidate.cost) for candidate in measured])
    return sorted((measured[i] for i in chosen), key=lambda candidate: candidate.cost)


def best_three(tried: Iterable[Candidate], need: Need) -> list[Candidate]:
    """Return those that fit in every frame, then those that fit in turn, each the cheapest walk first.

    Of each agent and its parameters only the best is returned.
    """
    order = (YES, IN_TURN, NO)
    measured = sorted((c for c in tried if c.together), key=lambda c: (order.index(need.fits(c)), c.cost, c.unit_us))
    return list(_different(measured))[:3]


def _different(tried: Iterable[Candidate]) -> Iterator[Candidate]:
    seen: set[str] = set()
    for candidate in tried:
        key = f"{candidate.kind} {sorted(candidate.params.items())}"
        if key not in seen:
            seen.add(key)
            yield candidate
