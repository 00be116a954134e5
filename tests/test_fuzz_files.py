"""Lessons and specifications of any text are read or refused in lines; experiments of any settings end in a report."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from cli.progress import ProgressBar
from cli.report import create_report, write_report
from cli.report.page import report_markdown_section
from experiments import report_figures as figures
from experiments.specification import parse_experiment
from experiments.store import open_store_for_reading
from files.lesson import parse_lesson
from files.lesson_claims import find_broken_claims
from files.yaml import write_yaml
from sim.params import ConfigError

from .conftest import ROOT
from .experiments import TINY, run_all
from .test_lessons import SMALL

LESSONS = [SMALL, *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "assets" / "lessons").glob("*.yaml")))]
SPECIFICATIONS = [
    TINY,
    TINY + "trials: 2\nchanges: {every: 10, rate: [1, 5]}\nclaims: [{claim: x, value: cost, falls: budget}]\n",
    TINY + "tables: [{rows: budget, values: [cost, moves]}]\nfigures: [{name: f, kind: lines, x: budget, y: cost}]\n",
    (ROOT / "assets" / "experiments" / "e6.yaml").read_text(encoding="utf-8"),
]
PIECES = st.text(max_size=6) | st.sampled_from(
    [
        " -1",
        "[]",
        "{}",
        ": ",
        "\n",
        "null",
        "99999",
        "[[0, 0]]",
        "1e400",
        "true",
        "'",
        "  - ",
        "{a: 1}",
        "&a",
        "\u202e",
        "\0",
    ]
)


@st.composite
def texts_with_random_changes(draw: st.DrawFn, texts: list[str]) -> str:
    """Draw a valid text with one to four changes."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = draw(st.integers(begin, min(len(text), begin + 12)))
        text = text[:begin] + draw(PIECES) + text[end:]
    return text


@st.composite
def texts_with_a_swapped_value(draw: st.DrawFn, texts: list[str]) -> str:
    """Draw a valid text in which one value of a key has become that of another key."""
    lines = draw(st.sampled_from(texts)).splitlines()
    values = [line.partition(": ")[2] for line in lines if ": " in line]
    place = draw(st.integers(0, len(lines) - 1))
    key, colon, _ = lines[place].partition(": ")
    if colon:
        lines[place] = f"{key}: {draw(st.sampled_from(values) | PIECES)}"
    return "\n".join(lines) + "\n"


def assert_problems_are_single_lines(error: ConfigError) -> None:
    assert error.problems
    for problem in error.problems:
        assert "x.yaml" in problem and "\n" not in problem and len(problem) < 1500, problem


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts_with_random_changes(LESSONS) | texts_with_a_swapped_value(LESSONS))
def test_mutated_lesson_parses_or_raises_config_error(text: str) -> None:
    try:
        lesson = parse_lesson(text, "x.yaml", AGENT_SPECS_BY_KEY, ROOT / "assets" / "lessons")
    except ConfigError as error:
        assert_problems_are_single_lines(error)
        return
    if len(text) < 2 * len(SMALL):  # the others walk for long
        assert all(isinstance(problem, str) for problem in find_broken_claims(lesson, AGENT_SPECS_BY_KEY))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts_with_random_changes(SPECIFICATIONS) | texts_with_a_swapped_value(SPECIFICATIONS))
def test_mutated_specification_parses_or_raises_config_error(text: str) -> None:
    try:
        parse_experiment(text, "x.yaml", AGENT_SPECS_BY_KEY)
    except ConfigError as error:
        assert_problems_are_single_lines(error)


@given(st.binary(max_size=120) | st.text(max_size=120))
def test_random_bytes_parse_or_raise_config_error(source: bytes | str) -> None:
    for data in (source, SMALL.encode() + (source if isinstance(source, bytes) else source.encode("utf-8", "replace"))):
        for read in (
            lambda d: parse_lesson(d, "x.yaml", AGENT_SPECS_BY_KEY),
            lambda d: parse_experiment(d, "x.yaml", AGENT_SPECS_BY_KEY),
        ):
            try:
                read(data)
            except ConfigError as error:
                assert_problems_are_single_lines(error)


# --- experiments ----------------------------------------------------------------------------------

KINDS = (
    "tba",
    "tb-wa",
    "tb-gbfs",
    "rtb-wa",
    "lrta",
    "p-lrta",
    "rtaa",
    "lss-lrta",
    "astar",
    "delayed-astar",
    "dstar-lite",
)
MEASURES = ("cost", "suboptimality", "expansions/moves", "most max_expansions", "sd moves", "h_changes", "arrived")


def random_experiment(chance: random.Random) -> dict[str, Any]:
    """Return a small experiment of any settings, whose runs may end in any way."""
    agents: list[Any] = [{"kind": kind} for kind in chance.sample(KINDS, chance.choice([1, 2, 4]))]
    for agent in agents:
        if agent["kind"] in ("tb-wa", "rtb-wa"):
            agent["weight"] = chance.sample([1.0, 1.4, 3.0], 2)
        if chance.random() < 0.3:
            agent["label"] = chance.choice(["a | b", "<i>", "*_`", "same", "$x$"])
    found: dict[str, Any] = {"format": "backmove-experiment", "version": 1}
    found["problems"] = {
        "generate": {"kind": chance.choice(["rooms", "caves"]), "width": 16, "height": 16, "seed": [1, 2]},
        "random": chance.choice([1, 3]),
        **({"sealed": True} if chance.random() < 0.2 else {}),
        **({"movement": chance.choice(["four", "cut"])} if chance.random() < 0.3 else {}),
    }
    found |= {"agents": agents, "budgets": chance.choice([[16], [16, 64], [16, 17, 1000]])}
    found |= {"ticks": chance.choice([1, 5, 40, 2000]), "moves": chance.choice([1, 10, 100_000])}
    for key, values in {
        "trials": [2, 4],
        "seeds": [[0, 1], [7]],
        "changes": [{"every": 5, "rate": 5}, {"every": 3, "rate": [1, 20], "repeat": False}],
        "together": [True],
        "measures": [False],
        "cutoff": [1, 50],
    }.items():
        if chance.random() < 0.3:
            found[key] = chance.choice(values)
    found["claims"] = [
        {"claim": "a", "value": chance.choice(MEASURES), "falls": "budget", "over": "agent"},
        {"claim": "b", "value": chance.choice(MEASURES), "power": "budget", "exponent": [0, 1]},
        {"claim": "c", "value": chance.choice(MEASURES), "less": [{"budget": 16}, {"budget": 16}], "over": ["map"]},
        {"claim": "d", "value": chance.choice(MEASURES), "between": [0, 1], "over": ["agent", "budget"]},
    ]
    found["tables"] = [
        {"rows": ["agent", "budget"], "values": chance.sample(MEASURES, 3)},
        {"rows": "map", "columns": "agent", "values": chance.choice(MEASURES)},
        {"limit": "most max_expansions", "values": "suboptimality"},
    ]
    found["figures"] = [
        {"name": "pareto", "x": chance.choice(MEASURES), "y": "cost", "log": "xy"},
        {"name": "b", "kind": "lines", "x": "budget", "y": chance.choice(MEASURES), "by": ["agent", "label"]},
        {"name": "c", "kind": "histogram", "x": "cost", "zoom": {"x": [0, 30]}, "log": "x"},
    ]
    return found


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 60))])
def test_random_experiment_produces_a_complete_report(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FORMATS", ("svg",))
    chance = random.Random(seed)
    while True:
        text = write_yaml(random_experiment(chance))
        try:
            parse_experiment(text, "x.yaml", AGENT_SPECS_BY_KEY)
            break
        except ConfigError as error:  # such as movement: an agent that a rule does not allow
            assert_problems_are_single_lines(error)
    run_all(text, tmp_path)
    with open_store_for_reading(tmp_path) as store:
        report = create_report(store)
        assert report_markdown_section(report)
    write_report(report, tmp_path / "report", ProgressBar())
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert not report.left_out_parts and "Left out" not in page and len(report.charts) >= 3
