"""Lessons: runs that are explained in steps. Each step has a text, and claims about the run that a test can check.

ticks = ticks_of_lesson_steps(lesson, specs)     the tick of each step, found by running the lesson
find_broken_claims(lesson, specs)         claims and answers marked as right or wrong that the run contradicts

A lesson is deterministic: each run of it has its steps at the same ticks. A measure is a quality measure of an agent
(sim/measures.py). A row (log.ROW) is the record of what one agent did in one tick.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from files.scenario import Scenario, build_world
from sim.agent_api import AgentSpec, Status
from sim.kernels import log
from sim.params import ConfigError
from sim.run_until import run_until
from sim.system.load_progress import report_load_progress
from sim.walker import Walker
from sim.world import World

MAX_LESSON_TICKS = 200_000
"""Maximum number of ticks in a lesson. A step that is not reached by this tick counts as unreachable."""

# Number of ticks between two progress reports; for a crowd, they take up to half a second.
_TICKS_PER_PROGRESS_REPORT = 1000

EVENT_MARKS: Mapping[str, int] = {"back_move": log.BACK_MOVE, "restart": log.RESTARTED, "arrival": log.ARRIVED}
"""Events that a step can wait for, with the bit (mark) that each sets in the row of its tick.

`_has_event_happened` finds the two events below in other ways, because no mark belongs to them."""
NO_PATH_EVENT, CONVERGED_EVENT = "no_path", "converged"


@dataclass(frozen=True)
class StepCondition:
    """Condition for a lesson's step to begin: a tick, an event of an agent, or a value that its measure reaches."""

    tick: int | None = None  # tick at which the step begins; None: it waits for the event or the measure
    agent: str = ""  # label of the agent whose event or measure the step waits for
    event_name: str = ""  # event to wait for: a key of EVENTS, NO_PATH_EVENT or CONVERGED; "": no event
    event_count: int = 1  # number of such events to wait for, counted from the previous step on
    measure_key: str = ""  # key of the measure to wait for; "": no measure
    measure_threshold: float = 0.0  # value that the measure must reach: the step begins once it is at least this


@dataclass(frozen=True)
class LessonClaim:
    """Statement of a step that a run can check: limits of a measure, a comparison of agents, or an agent's state."""

    agent: str  # label of the agent that the claim is about
    measure_key: str = ""  # key of the measure that the claim is about
    least: float | None = None  # claimed minimum of the measure; None: no minimum
    most: float | None = None  # claimed maximum of the measure; None: no maximum
    more_than: str = ""  # label of another agent that has a smaller value of the measure; "": no comparison
    less_than: str = ""  # label of another agent that has a larger value of the measure; "": no comparison
    state_word: str = ""  # claimed state of the agent, a word such as "arrived"; "": the claim is about a measure
    line: int = 0  # line of the claim in the lesson's file, for messages


@dataclass(frozen=True)
class LessonQuestion:
    """Multiple-choice question of a step."""

    text: str
    answers: tuple[str, ...]
    right_answer_index: int  # index of the right answer, from 0
    explanation: str  # explanation why the answer is right
    claims_by_answer: tuple[
        tuple["LessonClaim", ...], ...
    ] = ()  # for each answer, claims that are true only if that answer is right
    steps_until_answer_is_shown: int = 1  # number of steps after the question at which the run shows the right answer
    line: int = 0  # line of the key `right_answer_index` in the lesson's file, for error messages

    @property
    def has_claims(self) -> bool:
        """Return whether any answer has claims, so that a run can check which answer is marked as right."""
        return any(self.claims_by_answer)


@dataclass(frozen=True)
class StepHighlight:
    """Target to which a lesson's step points in the panel of an agent: a part of the panel, a measure, or cells."""

    agent: str  # label of the agent in whose panel the target is
    part_or_measure: str = ""  # one of PARTS, or the key of a measure; "": the step points to `cells`
    cells: tuple[tuple[int, int], ...] = ()  # cells (x, y) of the map to which the step points


PANEL_PARTS = ("agent", "best", "goal", "start", "panel")
"""Parts of a panel to which a step can point, in addition to measures."""


@dataclass(frozen=True)
class LessonStep:
    """One step of a lesson, at which the run stops and a text is shown."""

    text: str
    # Condition at which the run stops for this step; None: same tick as the previous step.
    begin_condition: StepCondition | None = None
    question: LessonQuestion | None = None
    highlights: tuple[StepHighlight, ...] = ()
    # Labels of agents whose panels are shown; None: as in the previous step.
    shown_agents: tuple[str, ...] | None = None
    heat_map_kind: str | None = None  # kind of heat map; None: as in the previous step
    camera: tuple[float, ...] | None = None  # (x, y of the centre, cells in view); (): whole map; None: unchanged
    ticks_per_second: int | None = None  # ticks per second until the run reaches this step; None: the lesson's speed
    claims: tuple[LessonClaim, ...] = ()
    line: int = 0  # line of the key `begin_condition` in the lesson's file, for error messages


@dataclass(frozen=True)
class Lesson:
    """Lesson: a scenario, and the steps in which its run is explained."""

    title: str
    description: str
    scenario: Scenario
    steps: tuple[LessonStep, ...]
    default_ticks_per_second: int = 30  # ticks per second for steps without a speed of their own
    ticks: tuple[int, ...] = ()  # tick of each step, as returned by `ticks_of_lesson_steps`; (): not computed yet

    def agents_shown_at_step(self, index: int) -> tuple[str, ...] | None:
        """Return the labels of the agents shown at the step with index `index`; None: no step so far names any."""
        return next(
            (step.shown_agents for step in reversed(self.steps[: index + 1]) if step.shown_agents is not None), None
        )

    def heat_map_kind_at_step(self, index: int) -> str:
        """Return the kind of heat map that is shown at the step with index `index`."""
        return next(
            (step.heat_map_kind for step in reversed(self.steps[: index + 1]) if step.heat_map_kind is not None), "off"
        )

    def camera_at_step(self, index: int) -> tuple[float, ...] | None:
        """Return the camera at the step with index `index`, in the form of Step.camera; None: the lesson sets none."""
        cameras = [step.camera for step in self.steps[: index + 1] if step.camera is not None]
        has_any = any(step.camera is not None for step in self.steps)
        return cameras[-1] if cameras else () if has_any else None

    def speed_at_step(self, index: int) -> int:
        """Return the speed at which the run approaches the step with index `index`, in ticks per second."""
        return self.steps[index].ticks_per_second or self.default_ticks_per_second


def ticks_of_lesson_steps(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> tuple[int, ...]:
    """Run a lesson and return the tick of each step.

    Raises:
        ConfigError: a step is never reached; the message begins with its line.
    """
    return tuple(world.tick for world, _ in _iter_lesson_steps(lesson, specs))


def find_broken_claims(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> list[str]:
    """Return an error message, with line and step, for each claim and each marked answer that the run contradicts."""
    messages = list[str]()
    for world, index in _iter_lesson_steps(lesson, specs):
        for claim in lesson.steps[index].claims:
            if problem := _false_claim_message(claim, world):
                messages.append(f"{claim.line}: step {index + 1}: {problem}")
        for question_index, step in enumerate(lesson.steps[:index]):
            if step.question is not None and question_index + step.question.steps_until_answer_is_shown == index:
                where = f"{step.question.line}: step {question_index + 1}"
                messages += [f"{where}: {problem}" for problem in _wrongly_marked_answers(step.question, world, index)]
    return messages


def _wrongly_marked_answers(question: LessonQuestion, world: World, index: int) -> Iterator[str]:
    """Yield an error message for each answer whose mark (right or wrong) contradicts the run at the step `index`."""
    for number, claims in enumerate(question.claims_by_answer, start=1):
        problem = next((text for claim in claims if (text := _false_claim_message(claim, world))), "")
        if number - 1 == question.right_answer_index and problem:
            yield f"answer {number} is marked as right, but in step {index + 1} {problem}"
        elif number - 1 != question.right_answer_index and claims and not problem:
            yield f"answer {number} is marked as wrong, but its claim is true in step {index + 1}"


def _iter_lesson_steps(lesson: Lesson, specs: Mapping[str, AgentSpec]) -> Iterator[tuple[World, int]]:
    """Run a lesson, and yield the world and the index of the step whenever a step is reached."""
    world = build_world(lesson.scenario, specs, watched=True)
    for index, step in enumerate(lesson.steps):
        if step.begin_condition is not None:
            try:
                _run_to_condition(world, step.begin_condition)
            except ConfigError as error:
                raise ConfigError(f"{step.line}: step {index + 1}: {error}") from None
        world.apply_due_changes()
        yield world, index


def _run_to_condition(world: World, when: StepCondition) -> None:
    """Advance the world until the condition of a step holds; raise a ConfigError if the condition never holds."""
    if when.tick is not None:
        _run_to_tick(world, when.tick)
        return
    left, ended = when.event_count, _early_end_phrase(world, when.agent)

    def has_happened() -> bool:
        return not left or bool(
            when.measure_key and _measure_value(world, when.agent, when.measure_key) >= when.measure_threshold
        )

    for passed in run_until(world, has_happened, max_ticks=MAX_LESSON_TICKS, next_step=lambda: 1):
        left -= bool(passed and when.event_name) and _has_event_happened(
            walker_with_label(world, when.agent), when.event_name
        )
        if not world.tick % _TICKS_PER_PROGRESS_REPORT:
            report_load_progress(world.tick / MAX_LESSON_TICKS)
    if not has_happened():
        raise ConfigError(
            f"what the step waits for never happens; {ended}{_timeout_phrase(world)} at tick {world.tick:,}"
        )


def _run_to_tick(world: World, tick: int) -> None:
    """Advance the world to a tick; raise a ConfigError if that tick is in the past or the run ends earlier."""
    if tick < world.tick:
        raise ConfigError(f"tick {tick:,} is before tick {world.tick:,}, the tick of the previous step")
    for _ in run_until(world, max_ticks=tick, next_step=lambda: _TICKS_PER_PROGRESS_REPORT):
        report_load_progress(world.tick / MAX_LESSON_TICKS)
    if world.tick < tick:
        raise ConfigError(f"the run is over at tick {world.tick:,}, before tick {tick:,}")


def _early_end_phrase(world: World, label: str) -> str:
    """Return a phrase for an error message which says that an agent is done already; "" if the agent is active."""
    walker = walker_with_label(world, label)
    is_over = walker.agent.status is not Status.ACTIVE
    return f"{label} was already done ({walker.state_word}) in tick {world.tick:,}; " if is_over else ""


def _timeout_phrase(world: World) -> str:
    return "the run is over" if world.is_over else "lessons end"


def _has_event_happened(walker: Walker, event: str) -> bool:
    """Return whether an event happened to the agent in the last tick."""
    if event == NO_PATH_EVENT:
        return walker.agent.status is Status.NO_PATH
    if event == CONVERGED_EVENT:
        return walker.is_converged
    return bool(walker.log_rows.size and int(walker.log_rows[-1].marks) & EVENT_MARKS[event])


def walker_with_label(world: World, label: str) -> Walker:
    """Return the walker with this label; raise a ConfigError if it has been removed during the run."""
    found = next((walker for walker in world.walkers if walker.label == label), None)
    if found is None:
        raise ConfigError(f"{label} no longer exists in tick {world.tick:,}: it was removed during the run")
    return found


def _measure_value(world: World, label: str, measure: str) -> float:
    value = getattr(world.metrics_of_walker(walker_with_label(world, label)), measure)
    return float("nan") if value is None else float(value)


def _false_claim_message(claim: LessonClaim, world: World) -> str:
    """Return an error message if a claim is false in the present state of the world, else ""."""
    try:
        return _claim_contradiction(claim, world)
    except ConfigError as error:  # the agent has been removed during the run
        return str(error)


def _claim_contradiction(claim: LessonClaim, world: World) -> str:
    """Return an error message if a claim is false, else ""; raise a ConfigError if its agent has been removed."""
    if claim.state_word:
        state = walker_with_label(world, claim.agent).state_word
        return "" if state == claim.state_word else f"{claim.agent} is claimed to be {claim.state_word}, but is {state}"
    value = _measure_value(world, claim.agent, claim.measure_key)
    if math.isnan(value):
        return f"{claim.agent} has no {claim.measure_key} yet"
    limits = [
        ("at least", claim.least, lambda limit: value >= limit),
        ("at most", claim.most, lambda limit: value <= limit),
        (
            f"more than {claim.more_than}, which has",
            _optional_measure_value(world, claim.more_than, claim),
            lambda limit: value > limit,
        ),
        (
            f"less than {claim.less_than}, which has",
            _optional_measure_value(world, claim.less_than, claim),
            lambda limit: value < limit,
        ),
    ]
    for relation, limit, holds in limits:
        if limit is not None and not holds(limit):
            return f"{claim.agent} is claimed to have {claim.measure_key} {relation} {limit:g}, but has {value:g}"
    return ""


def _optional_measure_value(world: World, label: str, claim: LessonClaim) -> float | None:
    return _measure_value(world, label, claim.measure_key) if label else None
