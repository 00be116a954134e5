"""Read lesson files, which a teacher can write without code (docs/lessons.md); all problems are reported at once.

format: backmove-lesson
version: 1
title: Why agents scrub
about: One sentence for the gallery.
speed: 12
run: {map: {rows: [...]}, start: [0, 0], goal: [9, 9], agents: [{kind: tb-wa, label: A}]}
steps:
  - text: What there is to see.
  - text: What happens, and why.
    to: {agent: A, event: back_move}
    claims: [{agent: A, measure: back_moves, least: 1}]
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from files.cell_lists import read_cells
from files.disk import read_file
from files.document_fields import DocumentField, DocumentProblems, require_field
from files.file_kinds import LESSON, check_file_kind
from files.lesson_claims import (
    CONVERGED_EVENT,
    EVENT_MARKS,
    MAX_LESSON_TICKS,
    NO_PATH_EVENT,
    PANEL_PARTS,
    Lesson,
    LessonClaim,
    LessonQuestion,
    LessonStep,
    StepCondition,
    StepHighlight,
    ticks_of_lesson_steps,
)
from files.map_source import open_map_folders
from files.scenario import SUFFIX, Scenario, ScenarioReader
from files.yaml import MAX_BYTES, read_yaml
from sim.agent_api import AgentSpec
from sim.measures import MEASURES
from sim.params import ConfigError, Param, did_you_mean_hint, value_as_in_files
from sim.walker import STATE_WORDS
from sim.world_commands import CellXY

FORMAT, VERSION = LESSON.format, 1
MAX_STEPS, MAX_ANSWERS = 60, 5
MAX_TEXT = 600

_SPEED_PARAM = Param("speed", int, 30, "ticks a second while it runs to a step", 1, 2000)
_TICK_PARAM = Param("tick", int, 0, "a tick", 0, MAX_LESSON_TICKS)
_CAMERA_PARAMS = {
    key: Param(key, float, 0.0, "", low, 10_000.0) for key, low in (("x", 0.0), ("y", 0.0), ("cells", 2.0))
}
_EVENT_COUNT_PARAM = Param("count", int, 1, "number of the event, counted from the step before", 1, 100_000)
_MEASURE_PARAM = Param("number", float, 0.0, "a number", -1e12, 1e12)
_RIGHT_ANSWER_PARAM = Param("right", int, 1, "number of the right answer, from 1", 1, MAX_ANSWERS)
_SEEN_AFTER_PARAM = Param(
    "seen_after", int, 1, "number of steps after which the run shows the right answer", 1, MAX_STEPS
)
_ANSWER_FORM = "an answer, or {text: It walks back, claims: [{agent: A, state: walking back}]}"
_UNKNOWN_MAP_SIZE = 1 << 20, 1 << 20
_MEASURE_KEYS = tuple(measure.key for measure in MEASURES)
_PANEL_MEASURE_KEYS = tuple(measure.key for measure in MEASURES if measure.panel_measure is not None)
_STEP_KEYS = (
    "text",
    "to",
    "question",
    "answers",
    "right",
    "because",
    "seen_after",
    "highlight",
    "show",
    "heat",
    "camera",
    "speed",
    "claims",
)


def is_lesson_data(data: bytes) -> bool:
    """Return whether a file that begins with these bytes declares the format of a lesson."""
    return any(line.split(b"#")[0].split() == [b"format:", FORMAT.encode()] for line in data.splitlines()[:40])


def load_lesson(
    path: str | os.PathLike[str],
    specs: Mapping[str, AgentSpec],
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
    heats: Iterable[str] = (),
    *,
    is_played: bool = True,
) -> Lesson:
    """Read a lesson file; see parse_lesson() for the arguments."""
    data = read_file(path, MAX_BYTES, SUFFIX)
    return parse_lesson(data, str(path), specs, Path(path).parent, allowed_folders, heats, is_played=is_played)


def parse_lesson(
    data: bytes | str,
    name: str,
    specs: Mapping[str, AgentSpec],
    folder: str | os.PathLike[str] | None = None,
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
    heats: Iterable[str] = (),
    *,
    is_played: bool = True,
) -> Lesson:
    """Parse the text of a lesson file.

    Args:
        data: the text.
        name: name of the file in messages.
        specs: known agents by key.
        folder: folder of the file; None: the map of the run may come only from `allowed_folders`.
        allowed_folders: further folders from which the map may come.
        heats: names of the heat maps of the window, which steps may select.
        is_played: whether to simulate the run once, to find the tick of each step and whether the step is reached.

    Returns:
        The lesson.

    Raises:
        ConfigError: The lesson is invalid, or one of its steps is not reached; the error lists all problems.
    """
    problems = DocumentProblems(read_yaml(data, name))
    check_file_kind(problems.document, LESSON)
    root = DocumentField(problems, (), problems.document.data)
    reader = _LessonReader(root, specs, tuple(heats))
    lesson = reader.read_lesson(
        lambda part: _LessonRunReader(part, specs, open_map_folders(folder, allowed_folders)).read_scenario()
    )
    problems.raise_if_any_problem()
    assert lesson is not None
    try:
        return replace(lesson, ticks=ticks_of_lesson_steps(lesson, specs)) if is_played else lesson
    except ConfigError as error:
        raise ConfigError([f"{name}:{text}" for text in error.problems]) from None


class _LessonRunReader(ScenarioReader):
    """Reader of the run of a lesson: a scenario without `format` and `version`."""

    def _check_format(self) -> None:
        for key in ("format", "version"):
            if key in self.fields:
                self.fields[key].report_problem("is not allowed in the run of a lesson")


class _LessonReader:
    """Reader of a lesson document. It reports problems and continues, so that all problems are found."""

    def __init__(self, root: DocumentField, specs: Mapping[str, AgentSpec], heats: tuple[str, ...]) -> None:
        self.root, self.agent_specs, self.heat_kinds = root, specs, heats
        keys = ("format", "version", "title", "about", "speed", "run", "steps")
        self.fields = root.read_known_keys(keys, f"a lesson, which begins with 'format: {FORMAT}'")
        # Labels of the agents; None: unknown, because the run is invalid.
        self.agent_labels: tuple[str, ...] | None = None
        self.size: tuple[int, int] | None = None  # width and height of the map; None: unknown, as the run is invalid

    def read_lesson(self, read_run: Callable[[DocumentField], Scenario | None]) -> Lesson | None:
        for key, expected in (("format", FORMAT), ("version", VERSION)):
            field = require_field(self.fields, key, self.root, str(expected))
            if field and (field.value != expected or isinstance(field.value, bool)):
                field.report_problem(f"expected {expected}, got {value_as_in_files(field.value)}")
        title = self._read_text(self.fields, self.root, "title", 80)
        about = self._read_text(self.fields, self.root, "about", 300)
        speed = self.fields["speed"].read_integer(_SPEED_PARAM) if "speed" in self.fields else None
        run = require_field(self.fields, "run", self.root, "a run: map, agents and so on, as in a scenario")
        scenario = read_run(run) if run else None
        if run and scenario is not None:
            self._store_agent_labels(run, scenario)
        steps = self._read_steps()
        if scenario is None or title is None or about is None:
            return None
        return Lesson(title, about, scenario, steps, speed or int(_SPEED_PARAM.default))

    def _store_agent_labels(self, run: DocumentField, scenario: Scenario) -> None:
        """Store the labels of the agents and the size of the map; report a problem for each label used twice."""
        self.agent_labels = tuple(config.label or self.agent_specs[config.kind].name for config in scenario.agents)
        self.size = scenario.grid.width, scenario.grid.height
        for label in sorted({label for label in self.agent_labels if self.agent_labels.count(label) > 1}):
            run.report_problem(
                f"expected a different label for each agent, got {value_as_in_files(label)} more than once"
            )

    def _read_text(
        self, fields: Mapping[str, DocumentField], owner: DocumentField, key: str, longest: int
    ) -> str | None:
        """Return the required text of a key as one line of at most `longest` characters; None after a problem."""
        field = require_field(fields, key, owner, "text")
        text = field.read_text(longest, lines=True) if field else None
        return " ".join(text.split()) if text is not None else None

    # --- steps ---

    def _read_steps(self) -> tuple[LessonStep, ...]:
        field = require_field(self.fields, "steps", self.root, "a list of steps such as [{text: Look here.}]")
        parts = field.items("a list of steps such as [{text: Look here.}]") if field else []
        if field and not 1 <= len(parts) <= MAX_STEPS:
            field.report_problem(f"expected 1 to {MAX_STEPS} steps, got {len(parts)}")
        steps = tuple(step for part in parts[:MAX_STEPS] if (step := self._read_step(part)) is not None)
        for index, (part, step) in enumerate(zip(parts, steps, strict=False)):
            question = step.question
            if (
                question is not None
                and question.has_claims
                and index + question.steps_until_answer_is_shown >= len(parts)
            ):
                part.report_problem(
                    f"expected a step {index + question.steps_until_answer_is_shown + 1}, "
                    "where the run shows the right answer"
                )
        return steps

    def _read_step(self, part: DocumentField) -> LessonStep | None:
        fields = part.read_known_keys(_STEP_KEYS, "a step such as {text: Look here.}")
        text_field = require_field(fields, "text", part, "what the step says")
        text = text_field.read_text(MAX_TEXT, lines=True) if text_field else None
        claims = fields["claims"].items("a list of claims") if "claims" in fields else []
        marks = fields["highlight"].items("a list such as [{agent: A, what: best}]") if "highlight" in fields else []
        speed = fields["speed"].read_integer(_SPEED_PARAM) if "speed" in fields else None
        step = LessonStep(
            " ".join((text or "").split()),
            self._read_step_condition(fields["to"]) if "to" in fields else None,
            self._read_question(part, fields),
            tuple(ring for mark in marks if (ring := self._read_highlight(mark)) is not None),
            self._read_shown_agents(fields["show"]) if "show" in fields else None,
            self._read_choice(fields["heat"], self.heat_kinds) if "heat" in fields else None,
            self._read_camera(fields["camera"]) if "camera" in fields else None,
            speed,
            tuple(found for claim in claims if (found := self._read_claim(claim)) is not None),
            part.problems.document.line_of_path(fields["to"].path if "to" in fields else part.path),
        )
        return step if text is not None else None

    def _read_step_condition(self, part: DocumentField) -> StepCondition | None:
        """Read the moment to which the run is advanced for a step: a tick, an event, or a value of a measure."""
        if not part.is_mapping:
            tick = part.read_integer(_TICK_PARAM)
            return None if tick is None else StepCondition(tick=tick)
        fields = part.read_known_keys(
            ("agent", "event", "count", "measure", "reaches"), "a tick, or {agent: A, event: back_move}"
        )
        agent = self._read_agent(fields, part)
        if ("event" in fields) == ("measure" in fields):
            part.report_problem("expected an event, or a measure with what it reaches")
            return None
        for key, of in (("count", "event"), ("reaches", "measure")):
            if key in fields and of not in fields:
                fields[key].report_problem(f"is allowed only with {'an' if of == 'event' else 'a'} {of}")
        if "event" in fields:
            event = self._read_choice(fields["event"], (*EVENT_MARKS, NO_PATH_EVENT, CONVERGED_EVENT))
            count = fields["count"].read_integer(_EVENT_COUNT_PARAM) if "count" in fields else 1
            return (
                StepCondition(agent=agent, event_name=event, event_count=count) if agent and event and count else None
            )
        measure = self._read_choice(fields["measure"], _MEASURE_KEYS)
        reaches = require_field(fields, "reaches", part, "the value of the measure at which the step begins")
        number = reaches.read_value(_MEASURE_PARAM) if reaches else None
        if agent is None or measure is None or number is None:
            return None
        return StepCondition(agent=agent, measure_key=measure, measure_threshold=float(number))

    def _read_question(self, part: DocumentField, fields: Mapping[str, DocumentField]) -> LessonQuestion | None:
        if "question" not in fields:
            for key in ("answers", "right", "because", "seen_after"):
                if key in fields:
                    fields[key].report_problem("is allowed only with a question")
            return None
        text = fields["question"].read_text(MAX_TEXT, lines=True)
        answers_field = require_field(fields, "answers", part, "a list of answers")
        parts = answers_field.items("a list of answers") if answers_field else []
        answers, claims = [self._read_answer(f) for f in parts], tuple(self._read_answer_claims(f) for f in parts)
        if answers_field and not 2 <= len(answers) <= MAX_ANSWERS:
            answers_field.report_problem(f"expected 2 to {MAX_ANSWERS} answers, got {len(answers)}")
        right_field = require_field(fields, "right", part, "the number of the right answer, from 1")
        right = right_field.read_integer(_RIGHT_ANSWER_PARAM) if right_field else None
        if right_field and right is not None and right > len(answers):
            right_field.report_problem(
                f"expected the number of an answer, of which there are {len(answers)}, got {right}"
            )
        because = self._read_text(fields, part, "because", MAX_TEXT)
        after = fields["seen_after"].read_integer(_SEEN_AFTER_PARAM) if "seen_after" in fields else 1
        if text is None or right is None or because is None or after is None or None in answers:
            return None
        line = part.problems.document.line_of_path(right_field.path) if right_field else 0
        texts = tuple(str(answer) for answer in answers)
        return LessonQuestion(" ".join(text.split()), texts, right - 1, because, claims, after, line)

    def _read_answer(self, part: DocumentField) -> str | None:
        """Read the text of an answer, which is written alone or as the key `read_text` next to the key `claims`."""
        if not part.is_mapping:
            return part.read_text(120)
        field = require_field(
            part.read_known_keys(("text", "claims"), _ANSWER_FORM), "text", part, "what the answer says"
        )
        return field.read_text(120) if field else None

    def _read_answer_claims(self, part: DocumentField) -> tuple[LessonClaim, ...]:
        field = part.read_mapping(_ANSWER_FORM).get("claims") if part.is_mapping else None
        claims = field.items("a list of claims") if field else []
        return tuple(found for claim in claims if (found := self._read_claim(claim)) is not None)

    def _read_highlight(self, part: DocumentField) -> StepHighlight | None:
        fields = part.read_known_keys(
            ("agent", "what", "cells"), "something to point at such as {agent: A, what: best}"
        )
        agent = self._read_agent(fields, part)
        what = self._read_choice(fields["what"], (*PANEL_PARTS, *_PANEL_MEASURE_KEYS)) if "what" in fields else ""
        cells = self._read_highlighted_cells(fields["cells"]) if "cells" in fields else ()
        if ("what" in fields) == ("cells" in fields):
            part.report_problem("expected either what to point at, or cells")
            return None
        return StepHighlight(agent, what, cells) if agent and what is not None and cells is not None else None

    def _read_highlighted_cells(self, part: DocumentField) -> tuple[CellXY, ...] | None:
        width, height = self.size or _UNKNOWN_MAP_SIZE
        cells = read_cells(part, width, height)
        return None if cells is None else tuple((cell % width, cell // width) for cell in cells)

    def _read_claim(self, part: DocumentField) -> LessonClaim | None:
        keys = ("agent", "measure", "least", "most", "more_than", "less_than", "state")
        fields = part.read_known_keys(keys, "a claim such as {agent: A, measure: back_moves, least: 1}")
        agent = self._read_agent(fields, part)
        line = part.problems.document.line_of_path(part.path)
        if "state" in fields:
            for key in fields.keys() - {"agent", "state"}:
                fields[key].report_problem("is not allowed with a state")
            state = self._read_choice(fields["state"], STATE_WORDS)
            return LessonClaim(agent, state_word=state, line=line) if agent and state else None
        measure_field = require_field(fields, "measure", part, "a measure, or a state")
        measure = self._read_choice(measure_field, _MEASURE_KEYS) if measure_field else None
        limits: dict[str, Any] = {
            key: fields[key].read_value(_MEASURE_PARAM) for key in ("least", "most") if key in fields
        }
        others: dict[str, Any] = {
            key: self._read_agent_label(fields[key]) for key in ("more_than", "less_than") if key in fields
        }
        if not limits and not others:
            part.report_problem("expected a limit: least, most, more_than or less_than")
        if agent is None or measure is None or None in limits.values() or None in others.values():
            return None
        return LessonClaim(agent, measure, **limits, **others, line=line)

    # --- parts of steps ---

    def _read_camera(self, part: DocumentField) -> tuple[float, ...] | None:
        """Return (x, y, number of visible cells) of a camera; () to fit the whole map on screen; None if invalid."""
        if part.value == "fit":
            return ()
        fields = part.read_known_keys(_CAMERA_PARAMS, "fit, or a part of the map such as {x: 9, y: 9, cells: 16}")
        found = [require_field(fields, key, part, "a number") for key in _CAMERA_PARAMS]
        numbers = [field.read_value(_CAMERA_PARAMS[str(field.path[-1])]) for field in found if field]
        camera = [float(number) for number in numbers if number is not None]
        return tuple(camera) if len(camera) == len(_CAMERA_PARAMS) else None

    def _read_shown_agents(self, part: DocumentField) -> tuple[str, ...]:
        found = [self._read_agent_label(item) for item in part.items("a list of the labels of agents")]
        if part.value == []:
            part.report_expected_value("at least one agent")
        return tuple(label for label in found if label is not None)

    def _read_agent(self, fields: Mapping[str, DocumentField], part: DocumentField) -> str | None:
        field = require_field(fields, "agent", part, "the label of an agent")
        return self._read_agent_label(field) if field else None

    def _read_agent_label(self, part: DocumentField) -> str | None:
        return str(part.value) if self.agent_labels is None else self._read_choice(part, self.agent_labels)

    def _read_choice(self, part: DocumentField, known: Iterable[str]) -> str | None:
        names = tuple(known)
        if part.value in names:
            return str(part.value)
        hint = (
            did_you_mean_hint(part.value, names)
            if isinstance(part.value, str)
            else f"; expected one of {', '.join(names)}"
        )
        part.report_problem(f"unknown name {value_as_in_files(part.value)}{hint}")
        return None
