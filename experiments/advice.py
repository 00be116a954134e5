"""Recommend agents for a map: measure candidates on random problems, and rank them by path cost and processor time.

A candidate is an agent with parameters and a budget. A unit is one of many agents that walk on the map together.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from math import isqrt
from typing import Any

from experiments.columns import MEASURED_COLUMNS, PROCESSOR_TIME_COLUMNS
from experiments.job_runner import ResultLine
from experiments.plan import AgentRun, WorldJob
from experiments.problems import ProblemInstance
from experiments.run_totals import RunTotals
from experiments.statistics import pareto_indices
from sim.agent_api import AgentSpec
from sim.batching.crowd_world import build_crowd_world
from sim.params import Value, parse_params
from sim.run_until import run_until
from sim.world_commands import AgentConfig

BUDGETS = (4, 16, 64, 256)  # budgets tried with each agent, in expansions per tick
_MAX_MOVES_PER_COST = 100  # a candidate is stopped after this many moves per unit of the cheapest path's cost
MAX_COMPARED_UNITS = 200
"""Maximum number of units that walk together when settings are compared; times of more units are extrapolated."""

MAX_MEASURED_UNITS = 2000
"""Maximum number of units that walk together when the recommendation is verified; limits memory and time."""

_MAX_FIT_MEASUREMENTS = 10  # maximum number of crowd sizes measured to find the largest crowd that fits into a frame
_SEARCH_FACTOR = 4  # minimum factor between two numbers of units, until one fits and one does not; 2 takes too many
_MAX_FIT_RATIO = 1.1  # the search for the largest crowd ends if (smallest that misfits) / (largest that fits) <= this

# Ticks of an unmeasured warm-up run, after which the measured run causes no page faults.
# The warm-up is realistic, because the units of a game also reuse memory of earlier units.
_WARM_UP_TICKS = 20
_MIN_COMPARED_UNITS = 32  # minimum number of walks averaged per candidate; smaller worlds are measured several times
_RESULT_NAMES = [column.name for column in (*MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS)]


@dataclass
class CrowdTiming:
    """Frame times of units that all start in the same tick, each with its own memory.

    Only frames in which at least half of the units are still walking count. Later frames take almost no time and would
    make the mean of a walking crowd too small.
    """

    units: int  # number of units that walk in the same world
    total_frames_ms: float = 0.0  # processor time of all counted frames together, in milliseconds
    unit_ticks: int = 0  # number of walking units, summed over all counted frames
    max_frame_ms: float = 0.0  # processor time of the longest frame, in milliseconds

    @property
    def mean_unit_us(self) -> float:
        """Return the mean processor time of one unit per tick, in microseconds."""
        return 1000.0 * self.total_frames_ms / max(1, self.unit_ticks)


@dataclass
class AgentCandidate:
    """Agent with parameters and a budget that may be recommended, with its results on the problems run so far."""

    kind: str  # key of the agent, such as tb-wa
    params: Mapping[str, Value]
    budget: int  # expansions per tick
    name: str  # displayed name of the candidate: agent, parameters and budget
    totals: RunTotals = field(default_factory=RunTotals)
    is_rejected: bool = False  # whether the candidate is rejected, because it did not reach the goal of some problem
    crowd_timing: CrowdTiming | None = None  # frame times with many units, None until they are measured

    def add_result(self, line: ResultLine) -> None:
        found: dict[str, Any] = dict(zip(_RESULT_NAMES, line[1:], strict=True))
        self.is_rejected = self.is_rejected or found["outcome"] != "reached"
        if not self.is_rejected:
            self.totals.add(found)

    @property
    def is_measured(self) -> bool:
        return not self.is_rejected and self.totals.arrived_count > 0 and self.totals.ticks > 0

    @property
    def cost(self) -> float:
        """Return the mean of (cost of the walk / cost of the cheapest path) over the problems run so far."""
        return self.totals.cost

    @property
    def single_unit_us(self) -> float:
        """Return the mean processor time per tick of a single unit in a world, in microseconds."""
        return self.totals.us_per_tick

    @property
    def crowd_unit_us(self) -> float:
        """Return the mean processor time per tick of one of many units, in microseconds; infinite if not measured."""
        return self.crowd_timing.mean_unit_us if self.crowd_timing else float("inf")

    @property
    def agent_run(self) -> AgentRun:
        return AgentRun(self.kind, self.params, self.budget, b"")


def create_candidates(specs: Mapping[str, AgentSpec], budget: int | None) -> list[AgentCandidate]:
    """Return all candidates (agents with parameters and budgets) to be measured.

    Args:
        specs: All agents by their keys; each declares the parameters to try (`AgentSpec.advised_settings`).
        budget: The only budget to try, or None for all of BUDGETS. An agent is left out for budgets that are too small.
    """
    candidates = []
    settings = [(spec, values) for spec in specs.values() for values in spec.advised_settings]
    for spec, values in settings:
        params = parse_params(spec.params, values, spec.key, [])
        settings_text = "".join(f" {name}={value}" for name, value in values.items())
        for k in BUDGETS if budget is None else (budget,):
            if spec.check_budget(k, params) is None:
                candidates.append(AgentCandidate(spec.key, params, k, f"{spec.name}{settings_text} k={k}"))
    return candidates


def create_candidate_job(candidate: AgentCandidate, case: ProblemInstance, length: float) -> WorldJob:
    """Return the job (simulation order) that runs a candidate on a problem, with limits on moves and ticks.

    The limits are proportional to the length of the cheapest path.

    Args:
        candidate: The setting.
        case: The problem.
        length: The cost of the cheapest path.
    """
    max_moves = int(_MAX_MOVES_PER_COST * (length + 10))
    return WorldJob(
        case.start, case.goal, case.problem_number, None, 1, max_moves, 20 * max_moves, False, (candidate.agent_run,)
    )


def measure_crowd_timing(
    candidate: AgentCandidate,
    cases: Sequence[ProblemInstance],
    specs: Mapping[str, AgentSpec],
    units: int,
    clock: Callable[[], float],
) -> CrowdTiming:
    """Simulate many units of one candidate in the same world and return their frame times.

    Args:
        candidate: The candidate.
        cases: The problems of the units, used in turn; they are used again if there are more units than problems.
        specs: All agents by their keys.
        units: The number of units.
        clock: Returns the current time in seconds.
    """
    timing = CrowdTiming(units)
    problems = cycle(cases)
    for _ in range(-(-_MIN_COMPARED_UNITS // timing.units)):
        _measure_world_frames(timing, candidate, list(islice(problems, timing.units)), specs, clock)
    return timing


def _measure_world_frames(
    timing: CrowdTiming,
    candidate: AgentCandidate,
    cases: Sequence[ProblemInstance],
    specs: Mapping[str, AgentSpec],
    clock: Callable[[], float],
) -> None:
    """Simulate one world until fewer than half of its units walk, and add its frame times to `timing`."""
    grid, kind, params = cases[0].map_data.grid, candidate.kind, candidate.params
    units = [AgentConfig(kind, params=params, start=case.start, goal=case.goal) for case in cases]
    build_crowd_world(grid, specs, units, candidate.budget).advance(_WARM_UP_TICKS)
    world = build_crowd_world(grid, specs, units, candidate.budget)

    def active_units() -> int:
        return sum(not walker.is_done for walker in world.walkers)

    def advance_timed(ticks: int) -> int:
        active, before = active_units(), clock()
        passed = world.advance(ticks)
        frame_ms = 1000.0 * (clock() - before)
        timing.total_frames_ms += frame_ms
        timing.max_frame_ms = max(timing.max_frame_ms, frame_ms)
        timing.unit_ticks += active
        return passed

    for _ in run_until(world, lambda: 2 * active_units() < len(units), next_step=lambda: 1, advance=advance_timed):
        pass


def find_max_fitting_units(measure: Callable[[int], float], budget_ms: float, guess: int) -> int:
    """Return approximately the largest number of units whose longest frame is within a limit.

    The result is 0 if not even one unit fits. Any other result has itself been measured to fit, so a later request for
    that number of units is answered with YES.

    Args:
        measure: Returns the longest frame in milliseconds for a number of units.
        budget_ms: The limit for the longest frame, in milliseconds.
        guess: The number of units to measure first.
    """
    fits, fits_not, units = 0, MAX_MEASURED_UNITS + 1, max(1, min(MAX_MEASURED_UNITS, guess))
    for _ in range(_MAX_FIT_MEASUREMENTS):
        longest_ms = measure(units)
        if longest_ms <= budget_ms:
            fits = units
        else:
            fits_not = units
        if fits_not <= max(fits + 1, _MAX_FIT_RATIO * fits):
            break
        # estimate of the number of units that fit, assuming that frame time is proportional to their number
        aim = int(units * budget_ms / max(longest_ms, 1e-6))
        if not fits:
            units = max(1, min(aim, fits_not // _SEARCH_FACTOR))
        elif fits_not > MAX_MEASURED_UNITS:
            units = min(MAX_MEASURED_UNITS, max(aim, _SEARCH_FACTOR * fits))
        else:
            units = max(fits + 1, isqrt(fits * fits_not))
    return fits


FITS_AT_ONCE, FITS_ON_AVERAGE, DOES_NOT_FIT = "yes", "in turn", "no"
"""Answers to whether the planning of all units fits into a frame.

FITS_AT_ONCE: in every frame. FITS_ON_AVERAGE: in the mean frame, so that units must plan in turn (scenario key
`tick_ms`). DOES_NOT_FIT: neither.
"""


@dataclass(frozen=True)
class FrameRequirement:
    """Requirement of the user: the planning of `units` units must fit into `budget_ms` milliseconds per frame."""

    units: int
    budget_ms: float

    def mean_frame_ms(self, candidate: AgentCandidate) -> float:
        """Return the mean processor time of a frame in which all units walk, in milliseconds."""
        return self.units * candidate.crowd_unit_us / 1000.0

    def max_frame_ms(self, candidate: AgentCandidate) -> float:
        """Return the processor time of the longest frame if all units start at once, in milliseconds.

        The time is extrapolated if fewer units were measured, and infinite if no units were measured.
        """
        together = candidate.crowd_timing
        return together.max_frame_ms * max(1.0, self.units / together.units) if together else float("inf")

    def fit_level(self, candidate: AgentCandidate) -> str:
        """Return FITS_AT_ONCE if the longest frame is within the limit, FITS_ON_AVERAGE if the mean is, else NO."""
        if self.max_frame_ms(candidate) <= self.budget_ms:
            return FITS_AT_ONCE
        return FITS_ON_AVERAGE if self.mean_frame_ms(candidate) <= self.budget_ms else DOES_NOT_FIT

    def estimate_max_units(self, candidate: AgentCandidate) -> int:
        """Estimate how many units could start at once within the frame limit, by scaling the measured longest frame."""
        return int(self.units * min(self.budget_ms / max(self.max_frame_ms(candidate), 1e-6), 1e6))


def candidates_in_measurement_order(tried: Iterable[AgentCandidate]) -> list[AgentCandidate]:
    """Return the candidates that reached every goal, most promising first, for measuring crowds in this order.

    A crowd is a world with many units.

    Pareto-optimal candidates (in time and cost) come first, then all others, both sorted by the cost of their walks.
    """
    measured = sorted((c for c in tried if c.is_measured), key=lambda candidate: candidate.cost)
    best = pareto_indices([(candidate.single_unit_us, candidate.cost) for candidate in measured])
    return [measured[i] for i in sorted(best)] + [c for i, c in enumerate(measured) if i not in best]


def pareto_candidates(tried: Iterable[AgentCandidate]) -> list[AgentCandidate]:
    """Return the candidates that are Pareto-optimal in processor time and walk cost, sorted by walk cost."""
    measured = [candidate for candidate in tried if candidate.crowd_timing]
    chosen = pareto_indices([(candidate.crowd_unit_us, candidate.cost) for candidate in measured])
    return sorted((measured[i] for i in chosen), key=lambda candidate: candidate.cost)


def best_candidates(tried: Iterable[AgentCandidate], need: FrameRequirement) -> list[AgentCandidate]:
    """Return the three best candidates, or fewer if fewer were measured with many units.

    Candidates are ranked by whether they fit (see `fit_level`), then by the cost of their walks. Of candidates
    that differ only in their budget, only the best is returned.
    """
    order = (FITS_AT_ONCE, FITS_ON_AVERAGE, DOES_NOT_FIT)
    measured = sorted(
        (c for c in tried if c.crowd_timing), key=lambda c: (order.index(need.fit_level(c)), c.cost, c.crowd_unit_us)
    )
    return list(_candidates_without_budget_duplicates(measured))[:3]


def _candidates_without_budget_duplicates(tried: Iterable[AgentCandidate]) -> Iterator[AgentCandidate]:
    seen: set[str] = set()
    for candidate in tried:
        key = f"{candidate.kind} {sorted(candidate.params.items())}"
        if key not in seen:
            seen.add(key)
            yield candidate
