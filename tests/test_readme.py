"""README.md: its tables are those of the code, its example runs, and what it points to is there."""

import doctest
import re
from pathlib import Path

import pytest

from agents.registry import SPECS
from cli.readme import PAGES, README, file_of, made_anew

from .conftest import ROOT

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_generated_ones(page: Path) -> None:
    assert made_anew(page) == page.read_text(encoding="utf-8"), "the code has gone on: run `make readme`"


def test_the_example_runs() -> None:
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 5 and result.failed == 0


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.key)
def test_every_agent_has_the_file_that_the_table_names(spec: object) -> None:
    text = (ROOT / file_of(spec)).read_text(encoding="utf-8")  # type: ignore[arg-type]
    assert f'key="{spec.key}"' in text  # type: ignore[attr-defined]


def test_folders_of_the_map_exist() -> None:
    section = TEXT.split("## Map of the folders")[1].split("##")[0]
    names = re.findall(r"^ {4,}([a-z/.]+)  ", section, re.MULTILINE)
    assert {"main.py", "sim/", "agents/", "ui/", "cli/", "tests/", "docs/"} <= set(names)
    places = (ROOT, ROOT / "sim", ROOT / "ui")
    assert not [name for name in names if not any((place / name).exists() for place in places)]


def test_every_agent_that_points_to_the_deviations_has_a_section_there() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {name.strip() for heading in headings for name in heading.replace("\\", "").split(",")}
    names = {"RTB-WA*": "Repeated TB-WA*", "RTB-GBFS": "Repeated TB-GBFS"}
    for spec in SPECS:
        if "docs/deviations.md" in (ROOT / file_of(spec)).read_text(encoding="utf-8"):
            assert names.get(spec.name, spec.name) in named, spec.name


def test_every_word_of_a_deviation_note_is_explained() -> None:
    """A kernel that says "docs/deviations.md" must find its subject there."""
    notes = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
    for subject in ("`head`", "noted before the move", "trace ends early", "Closed cells stay closed"):
        assert subject in notes
    for subject in ("The path is not made anew", "verified before it is walked", "No path: the agent waits"):
        assert subject in notes
