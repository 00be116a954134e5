"""Command `check-lesson`: play lessons to their ends and report every claim that the run contradicts."""

import sys
from collections.abc import Sequence

from agents.registry import AGENT_SPECS_BY_KEY
from cli.arguments import CommandParser
from files.lesson import load_lesson
from files.lesson_claims import find_broken_claims
from files.shipped_files import LESSONS, require_shipped_file
from sim.params import ConfigError
from sim.plurals import count_with_noun
from sim.system.program import ASSETS_FOLDER
from ui.model.layer_state import HEAT_KINDS


def main(argv: Sequence[str]) -> int:
    parser = CommandParser("check-lesson", "Play lessons to the end, and report every claim that the run contradicts.")
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a lesson, see docs/lessons.md, or the name of a built-in lesson"
    )
    problems = [problem for name in parser.parse_args(argv).files for problem in _check_lesson_file(name)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 2 if problems else 0


def _check_lesson_file(name: str) -> list[str]:
    try:
        lesson = load_lesson(require_shipped_file(name, LESSONS), AGENT_SPECS_BY_KEY, (ASSETS_FOLDER,), HEAT_KINDS)
    except ConfigError as error:  # returned instead of raised, so that the remaining lessons are checked as well
        return list(error.problems)
    claims = sum(len(step.claims) for step in lesson.steps)
    questions = [step.question for step in lesson.steps if step.question is not None]
    unchecked = sum(not question.has_claims for question in questions)
    note = f", {unchecked} of them not checked, because no answer has claims" if unchecked else ""
    counts = (
        count_with_noun(len(lesson.steps), "step"),
        count_with_noun(claims, "claim"),
        count_with_noun(len(questions), "question"),
    )
    print(f"{name}: {', '.join(counts)}{note}")
    return [f"{name}:{problem}" for problem in find_broken_claims(lesson, AGENT_SPECS_BY_KEY)]
