"""README.md: its tables are those of the code, its example runs, and what it points to is there."""

import doctest
import re
from pathlib import Path

import pytest

import main
from agents.registry import AGENT_SPECS
from files.shipped_files import MAPS, resolve_shipped_file
from tools.readme import PAGES, README, agent_source_path, page_with_updated_tables

from .conftest import ROOT

TEXT = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_tables_are_up_to_date(page: Path) -> None:
    assert page_with_updated_tables(page) == page.read_text(encoding="utf-8"), "the code has gone on: run `make readme`"


def test_readme_example_passes_doctest() -> None:
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 5 and result.failed == 0


@pytest.mark.parametrize("spec", AGENT_SPECS, ids=lambda spec: spec.key)
def test_agent_table_names_the_right_files(spec: object) -> None:
    text = (ROOT / agent_source_path(spec)).read_text(encoding="utf-8")
    assert f'key="{spec.key}"' in text  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", [README, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name)
def test_documented_commands_and_options_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = page.read_text(encoding="utf-8")
    for line in re.findall(r"python main\.py ([^`#\n]+)", text):
        words = line.replace("--agent-file my_agent.py", "").split()
        if not words or words[0] not in (*main.COMMANDS, *main.OWN):
            assert not words or words[0].startswith("-") or resolve_shipped_file(words[0]) != words[0], line
            continue
        main.main([words[0], "--help"])
        helped = capsys.readouterr().out
        for option in (word for word in words if word.startswith("--")):
            assert re.search(rf"{option}\b", helped), line
        for name in re.findall(r"--map (\S+)", line):
            assert Path(resolve_shipped_file(name, MAPS)).is_file(), line


def test_folders_listed_in_the_readme_exist() -> None:
    section = TEXT.split("## Map of the folders")[1].split("##")[0]
    names = re.findall(r"^ {4,}([a-z/.]+)  ", section, re.MULTILINE)
    assert {"main.py", "sim/", "agents/", "ui/", "cli/", "tests/", "docs/"} <= set(names)
    places = (ROOT, ROOT / "sim", ROOT / "ui")
    assert not [name for name in names if not any((place / name).exists() for place in places)]


def test_agents_referring_to_deviations_have_a_section() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {name.strip() for heading in headings for name in heading.replace("\\", "").split(",")}
    names = {"RTB-WA*": "Repeated TB-WA*", "RTB-GBFS": "Repeated TB-GBFS"}
    for spec in AGENT_SPECS:
        if "docs/deviations.md" in (ROOT / agent_source_path(spec)).read_text(encoding="utf-8"):
            assert names.get(spec.name, spec.name) in named, spec.name


def test_deviations_page_explains_every_referenced_subject() -> None:
    """A kernel that says "docs/deviations.md" must find its subject there."""
    notes = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
    for subject in ("`head`", "noted before the move", "trace ends early", "Closed cells stay closed"):
        assert subject in notes
    for subject in ("The path is not rebuilt", "verified before it is walked", "No path: the agent waits"):
        assert subject in notes
