"""Lessons: a run that is shown step by step, and what each step says of it. No window, no files here.

ticks = settled(lesson, specs)          at which tick each step stands: found by running once, as runs are the same
broken_claims(lesson, specs)            what the steps say that the run does not show
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sim.agent_api import AgentSpec, Status
from sim.files.scenario import Scenario, build_world
from sim.files.telling import tell
from sim.kernels import log
from sim.params import ConfigError
from sim.walker import Walker
from sim.world import World

MOST_TICKS = 200_000
"""A step that has not come by then never comes."""

_TELL_EVERY = 1000  # ticks; half a second at most, of a crowd

EVENTS: Mapping[str, int] = {"back_move": log.BACK_MOVE, "restart": log.RESTARTED, "arrival": log.ARRIVED}
"""What a step can wait for, by the marks of an agent's row; the two below are asked of the agent."""
NO_PATH, CONVERGED = "no_path", "converged"


@dataclass(frozen=True)
class When:
    """When a step has come: at a tick, at an event of an agent, or when a measure of it is large enough."""

    tick: int | None = None
    agent: str = ""
    event: str = ""
    count: int = 1  # which of the events since the step before
    measure: str = ""
    reaches: float = 0.0


@dataclass(frozen=True)
class Claim:
    """Something that a step says of an agent: a measure within limits or beside that of another one, or its state."""

    agent: str
    measure: str = ""
    least: float | None = None
    most: float | None = None
    more_than: str = ""
    less_than: str = ""
    state: str = ""
    line: int = 0  # of the file, for messages


@dataclass(frozen=True)
class Question:
    text: str
    answers: tuple[str, ...]
    right: int  # index of the right answer, from 0
    because: str
    claims: tuple[tuple["Claim", ...], ...] = ()  # per answer: what the run shows if, and only if, the answer is right
    seen_after: int = 1  # number of steps after which the run shows it
    line: int = 0  # of `right` in the file, for messages

    @property
    def is_checked(self) -> bool:
        """Return whether the run can show that another answer than the one marked is right."""
        return any(self.claims)


@dataclass(frozen=True)
class Highlight:
    """What to point at in the panel of an agent: a part of it, a measure below it, or cells."""

    agent: str
    what: str = ""
    cells: tuple[tuple[int, int], ...] = ()


PARTS = ("agent", "best", "goal", "start", "panel")
"""What of a panel can be pointed at, beside measures."""


@dataclass(frozen=True)
class Step:
    text: str
    when: When | None = None  # None: at the tick of the step before
    question: Question | None = None
    highlights: tuple[Highlight, ...] = ()
    shown: tuple[str, ...] | None = None  # the agents whose panels are shown; None: as in the step before
    heat: str | None = None
    camera: tuple[float, ...] | None = None  # the middle and the cells that are seen: x, y, cells; (): the whole map
    speed: int | None = None
    claims: tuple[Claim, ...] = ()
    line: int = 0  # of the file, where it says how far the run goes on


@dataclass(frozen=True)
class Lesson:
    title: str
    about: str
    scenario: Scenario
    steps: tuple[Step, ...]
    speed: int = 30
    ticks: tuple[int, ...] = ()  # at which each step stands, once it was settled

    def shown_at(self, place: int) -> tuple[str, ...] | None:
        """The agents that are shown in a step: as it says, or the last one before it that says so."""
        return next((step.shown for step in reversed(self.steps[: place + 1]) if step.shown is not None), None)

    def heat_at(self, place: int) -> str:
        return next((step.heat for step in reversed(self.steps[: place + 1]) if step.heat is not None), "off")

    def camera_at(self, place: int) -> tuple[float, ...] | None:
        """What is seen in a step, as Step.camera says; None: no step says it, and the user looks where they like."""
        said = [step.camera for step in self.steps[: place + 1] if step.camera is not None]
        has_any = any(step.camera is not None for step in self.steps)
        return said[-1] if said else () if has_any else None

    def speed_at(self, place: int) -> int:
        return self.steps[place].speed or self.speed


def settled(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> tuple[int, ...]:
    """The tick of each step. A ConfigError says which never comes, its line first."""
    return tuple(world.tick for world, _ in _walked(lesson, specs))


def broken_claims(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> list[str]:
    """Return the claims and the marked answers that the run contradicts, each with line and step."""
    found = list[str]()
    for world, index in _walked(lesson, specs):
        for claim in lesson.steps[index].claims:
            if problem := _problem_of(claim, world):
                found.append(f"{claim.line}: step {index + 1}: {problem}")
        for asked, step in enumerate(lesson.steps[:index]):
            if step.question is not None and asked + step.question.seen_after == index:
                where = f"{step.question.line}: step {asked + 1}"
                found += [f"{where}: {problem}" for problem in _wrong_marks(step.question, world, index)]
    return found


def _wrong_marks(question: Question, world: World, index: int) -> Iterator[str]:
    """Yield which answers are marked right or wrong and are not, by what the run shows in the step with this index."""
    for number, claims in enumerate(question.claims, start=1):
        problem = next((text for claim in claims if (text := _problem_of(claim, world))), "")
        if number - 1 == question.right and problem:
            yield f"answer {number} is marked as right; but in step {index + 1} {problem}"
        elif number - 1 != question.right and claims and not problem:
            yield f"answer {number} is marked as wrong; but what it claims is true in step {index + 1}"


def _walked(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> Iterator[tuple[World, int]]:
    """The world at each step, in their order."""
    world = build_world(lesson.scenario, specs, watched=True)
    for place, step in enumerate(lesson.steps):
        if step.when is not None:
            try:
                _run_to(world, step.when)
            except ConfigError as error:
                raise ConfigError(f"{step.line}: step {place + 1}: {error}") from None
        world.apply_now()
        yield world, place


def _run_to(world: World, when: When) -> None:
    if when.tick is not None:
        _run_to_tick(world, when.tick)
        return
    left, ended = when.count, _how_it_ended(world, when.agent)
    while left and not (when.measure and _measure(world, when.agent, when.measure) >= when.reaches):
        if world.tick >= MOST_TICKS or not world.advance(1):
            raise ConfigError(f"what it waits for never comes; {ended}{_how_far(world)} at tick {world.tick:,}")
        left -= bool(when.event) and _happens(named(world, when.agent), when.event)
        if not world.tick % _TELL_EVERY:
            tell(world.tick / MOST_TICKS)


def _run_to_tick(world: World, tick: int) -> None:
    if tick < world.tick:
        raise ConfigError(f"tick {tick:,} is before tick {world.tick:,}, at which the step before stands")
    while world.tick < tick:
        if not world.advance(min(tick - world.tick, _TELL_EVERY)):
            raise ConfigError(f"the run is over at tick {world.tick:,}, before tick {tick:,}")
        tell(world.tick / MOST_TICKS)


def _how_it_ended(world: World, label: str) -> str:
    """That an agent does nothing any more when a step begins to wait for it; "": it may yet."""
    walker = named(world, label)
    is_over = walker.agent.status is not Status.ACTIVE
    return f"{label} was at its end ({walker.state_word}) already in tick {world.tick:,}; " if is_over else ""


def _how_far(world: World) -> str:
    return "the run is over" if world.is_over else "nobody waits longer than"


def _happens(walker: Walker, event: str) -> bool:
    if event == NO_PATH:
        return walker.agent.status is Status.NO_PATH
    if event == CONVERGED:
        return walker.is_converged
    return bool(walker.rows.size and int(walker.rows[-1].marks) & EVENTS[event])


def named(world: World, label: str) -> Walker:
    found = next((walker for walker in world.walkers if walker.label == label), None)
    if found is None:
        raise ConfigError(f"{label} is not there any more in tick {world.tick:,}: the run has removed it")
    return found


def _measure(world: World, label: str, measure: str) -> float:
    value = getattr(world.metrics(named(world, label)), measure)
    return float("nan") if value is None else float(value)


def _problem_of(claim: Claim, world: World) -> str:
    """What is wrong with a claim, "": nothing."""
    try:
        return _what_speaks_against(claim, world)
    except ConfigError as error:  # an agent that the run has removed
        return str(error)


def _what_speaks_against(claim: Claim, world: World) -> str:
    if claim.state:
        state = named(world, claim.agent).state_word
        return "" if state == claim.state else f"{claim.agent} is said to be {claim.state}, and is {state}"
    value = _measure(world, claim.agent, claim.measure)
    if math.isnan(value):
        return f"{claim.agent} has no {claim.measure} yet"
    limits = [
        ("at least", claim.least, lambda limit: value >= limit),
        ("at most", claim.most, lambda limit: value <= limit),
        (f"more than {claim.more_than}, which has", _of(world, claim.more_than, claim), lambda limit: value > limit),
        (f"less than {claim.less_than}, which has", _of(world, claim.less_than, claim), lambda limit: value < limit),
    ]
    for words, limit, holds in limits:
        if limit is not None and not holds(limit):
            return f"{claim.agent} is said to have {claim.measure} {words} {limit:g}, and has {value:g}"
    return ""


def _of(world: World, label: str, claim: Claim) -> float | None:
    return _measure(world, label, claim.measure) if label else None
