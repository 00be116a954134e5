"""Lessons: runs that are shown in steps, with a text and claims for each step. No window, no files here.

ticks = settled(lesson, specs)      the tick of each step, found by one run; all runs of a lesson are equal
broken_claims(lesson, specs)        claims and marked answers that are false in the run
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

MAX_TICKS = 200_000
"""Maximum of ticks in a lesson. A step that has not been reached by then counts as unreachable."""

_TELL_EVERY = 1000  # ticks between two reports of progress; with a crowd up to half a second

EVENTS: Mapping[str, int] = {"back_move": log.BACK_MOVE, "restart": log.RESTARTED, "arrival": log.ARRIVED}
"""Events that a step can wait for, with the bit (mark) that each sets in the row of its tick.

`_has_event_happened` finds the two events below in other ways, because no mark belongs to them."""
NO_PATH, CONVERGED = "no_path", "converged"


@dataclass(frozen=True)
class When:
    """Condition for a step: a tick, an event of an agent, or a value that a measure of an agent reaches."""

    tick: int | None = None  # tick of the step; None: wait for the event or the measure
    agent: str = ""  # label of the agent
    event: str = ""  # key of EVENTS, NO_PATH or CONVERGED; "": none
    count: int = 1  # number of events to wait for, counted from the step before
    measure: str = ""  # key of a measure; "": none
    reaches: float = 0.0  # value that the measure has to reach


@dataclass(frozen=True)
class Claim:
    """Statement of a step about an agent: limits of a measure, a comparison with another agent, or a state."""

    agent: str  # label of the agent
    measure: str = ""  # key of the measure
    least: float | None = None
    most: float | None = None
    more_than: str = ""  # label of an agent with a smaller value; "": none
    less_than: str = ""  # label of an agent with a larger value; "": none
    state: str = ""  # `Walker.state_word` of the agent; "": the claim is about a measure
    line: int = 0  # line in the file, for messages


@dataclass(frozen=True)
class Question:
    """Multiple-choice question of a step."""

    text: str
    answers: tuple[str, ...]
    right: int  # index of the right answer, from 0
    because: str  # explanation
    claims: tuple[tuple["Claim", ...], ...] = ()  # per answer: what the run shows if, and only if, the answer is right
    seen_after: int = 1  # number of steps after which the run shows it
    line: int = 0  # line of `right` in the file, for messages

    @property
    def is_checked(self) -> bool:
        """Return whether the run can show that another answer than the one marked is right."""
        return any(self.claims)


@dataclass(frozen=True)
class Highlight:
    """Target to point at in the panel of an agent: a part of the panel, a measure, or cells."""

    agent: str  # label of the agent
    what: str = ""  # one of PARTS, or key of a measure
    cells: tuple[tuple[int, int], ...] = ()


PARTS = ("agent", "best", "goal", "start", "panel")
"""Parts of a panel that can be pointed at, in addition to measures."""


@dataclass(frozen=True)
class Step:
    """One stop of a lesson."""

    text: str
    when: When | None = None  # condition that ends the run to this step; None: the tick of the step before
    question: Question | None = None
    highlights: tuple[Highlight, ...] = ()
    shown: tuple[str, ...] | None = None  # labels of agents whose panels are shown; None: as in the step before
    heat: str | None = None  # kind of heat map; None: as in the step before
    camera: tuple[float, ...] | None = None  # x, y of the centre and cells in view; (): whole map; None: as before
    speed: int | None = None  # ticks per second up to this step; None: speed of the lesson
    claims: tuple[Claim, ...] = ()
    line: int = 0  # line in the file at which `when` is defined, for messages


@dataclass(frozen=True)
class Lesson:
    """Scenario with the steps in which it is explained."""

    title: str
    about: str
    scenario: Scenario
    steps: tuple[Step, ...]
    speed: int = 30  # ticks per second, for steps without a speed of their own
    ticks: tuple[int, ...] = ()  # tick of each step, as found by `settled`; empty before

    def shown_at(self, place: int) -> tuple[str, ...] | None:
        """Return the agents that are shown at step `place`; None: no step up to it names any."""
        return next((step.shown for step in reversed(self.steps[: place + 1]) if step.shown is not None), None)

    def heat_at(self, place: int) -> str:
        """Return the kind of heat map at step `place`."""
        return next((step.heat for step in reversed(self.steps[: place + 1]) if step.heat is not None), "off")

    def camera_at(self, place: int) -> tuple[float, ...] | None:
        """Return the camera at step `place`, in the form of Step.camera; None: the lesson leaves it to the user."""
        said = [step.camera for step in self.steps[: place + 1] if step.camera is not None]
        has_any = any(step.camera is not None for step in self.steps)
        return said[-1] if said else () if has_any else None

    def speed_at(self, place: int) -> int:
        """Return the speed at step `place`, in ticks per second."""
        return self.steps[place].speed or self.speed


def settled(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> tuple[int, ...]:
    """Return the tick of each step.

    Raises:
        ConfigError: a step is never reached; the message begins with its line.
    """
    return tuple(world.tick for world, _ in _run_steps(lesson, specs))


def broken_claims(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> list[str]:
    """Return the claims and the marked answers that the run contradicts, each with line and step."""
    found = list[str]()
    for world, index in _run_steps(lesson, specs):
        for claim in lesson.steps[index].claims:
            if problem := _claim_problem(claim, world):
                found.append(f"{claim.line}: step {index + 1}: {problem}")
        for asked, step in enumerate(lesson.steps[:index]):
            if step.question is not None and asked + step.question.seen_after == index:
                where = f"{step.question.line}: step {asked + 1}"
                found += [f"{where}: {problem}" for problem in _wrongly_marked_answers(step.question, world, index)]
    return found


def _wrongly_marked_answers(question: Question, world: World, index: int) -> Iterator[str]:
    """Yield which answers are marked right or wrong and are not, by what the run shows in the step with this index."""
    for number, claims in enumerate(question.claims, start=1):
        problem = next((text for claim in claims if (text := _claim_problem(claim, world))), "")
        if number - 1 == question.right and problem:
            yield f"answer {number} is marked as right; but in step {index + 1} {problem}"
        elif number - 1 != question.right and claims and not problem:
            yield f"answer {number} is marked as wrong; but what it claims is true in step {index + 1}"


def _run_steps(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> Iterator[tuple[World, int]]:
    """Run a lesson; yield the world and the index of the step at each step."""
    world = build_world(lesson.scenario, specs, watched=True)
    for place, step in enumerate(lesson.steps):
        if step.when is not None:
            try:
                _run_to_condition(world, step.when)
            except ConfigError as error:
                raise ConfigError(f"{step.line}: step {place + 1}: {error}") from None
        world.apply_now()
        yield world, place


def _run_to_condition(world: World, when: When) -> None:
    """Advance the world until the condition of a step holds; raise a ConfigError if it never does."""
    if when.tick is not None:
        _run_to_tick(world, when.tick)
        return
    left, ended = when.count, _early_end_phrase(world, when.agent)
    while left and not (when.measure and _measure(world, when.agent, when.measure) >= when.reaches):
        if world.tick >= MAX_TICKS or not world.advance(1):
            raise ConfigError(f"what it waits for never comes; {ended}{_timeout_phrase(world)} at tick {world.tick:,}")
        left -= bool(when.event) and _has_event_happened(named(world, when.agent), when.event)
        if not world.tick % _TELL_EVERY:
            tell(world.tick / MAX_TICKS)


def _run_to_tick(world: World, tick: int) -> None:
    """Advance the world to a tick; raise a ConfigError if it is in the past or the run ends before."""
    if tick < world.tick:
        raise ConfigError(f"tick {tick:,} is before tick {world.tick:,}, at which the step before stands")
    while world.tick < tick:
        if not world.advance(min(tick - world.tick, _TELL_EVERY)):
            raise ConfigError(f"the run is over at tick {world.tick:,}, before tick {tick:,}")
        tell(world.tick / MAX_TICKS)


def _early_end_phrase(world: World, label: str) -> str:
    """Return a phrase for the error message if the agent was done before a step began to wait for it; else ""."""
    walker = named(world, label)
    is_over = walker.agent.status is not Status.ACTIVE
    return f"{label} was at its end ({walker.state_word}) already in tick {world.tick:,}; " if is_over else ""


def _timeout_phrase(world: World) -> str:
    return "the run is over" if world.is_over else "nobody waits longer than"


def _has_event_happened(walker: Walker, event: str) -> bool:
    """Return whether an event happened to the agent in the last tick."""
    if event == NO_PATH:
        return walker.agent.status is Status.NO_PATH
    if event == CONVERGED:
        return walker.is_converged
    return bool(walker.rows.size and int(walker.rows[-1].marks) & EVENTS[event])


def named(world: World, label: str) -> Walker:
    """Return the walker with this label; raise a ConfigError if the run has removed it."""
    found = next((walker for walker in world.walkers if walker.label == label), None)
    if found is None:
        raise ConfigError(f"{label} is not there any more in tick {world.tick:,}: the run has removed it")
    return found


def _measure(world: World, label: str, measure: str) -> float:
    value = getattr(world.metrics(named(world, label)), measure)
    return float("nan") if value is None else float(value)


def _claim_problem(claim: Claim, world: World) -> str:
    """Return an error message if a claim is false, else ""."""
    try:
        return _contradiction_of(claim, world)
    except ConfigError as error:  # the run has removed the agent
        return str(error)


def _contradiction_of(claim: Claim, world: World) -> str:
    """Return an error message if a claim is false, else "". Raise a ConfigError if its agent is missing."""
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
