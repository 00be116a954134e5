"""docs/: what it shows works, what it names is there, and nothing that files may say is left out."""

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from files.agents import AGENT_KEYS, CROWD_KEYS
from files.commands import COMMAND_KEYS as EDIT_KEYS
from files.movement import MOVEMENT_KEYS
from files.scenario import SCENARIO_KEYS as SCENARIO_KEYS
from files.scenario import build_world, parse_scenario
from sim.changes import CHANGE_INTERVAL_PARAM, CHANGE_RATE_PARAM, CHANGES_REPEAT_PARAM
from ui.draw.layers import LAYER_BY_KEY
from ui.model.appearance import VIEW_KEYS as VIEW_KEYS
from ui.model.appearance import appearance_from_view
from ui.model.layer_state import HEAT_KINDS
from ui.model.settings import HEAT_COLOURS

from .conftest import ROOT

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
SCENARIOS = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
CHANGES = (CHANGE_INTERVAL_PARAM.name, CHANGE_RATE_PARAM.name, CHANGES_REPEAT_PARAM.name)
PLACING = ("pairs", "seed", "min_cost", "from", "to", "scen", "rows")
MAPS = ("file", "rows", "name", "generate", "swamp", "threshold", *MOVEMENT_KEYS)


def anchors_of(page: Path) -> set[str]:
    """The places on a page that a link can name, as public forges call them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.exists(), link
            assert not anchor or anchor in anchors_of(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_source_files_exist(page: Path) -> None:
    text = re.sub(r"\\([_*`])", r"\1", page.read_text(encoding="utf-8"))  # without Markdown's escapes
    named = re.findall(r"(?<![\w/])((?:sim|agents|ui|cli|benchmarks|tools|tests|assets|packaging)/[\w/.-]*\w)", text)
    assert not [name for name in named if not (ROOT / name).exists()]


def test_architecture_table_names_existing_owners() -> None:
    table = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("## Where rules are kept")[1].split("\n## ")[0]
    owners = re.findall(r"`([\w/]+\.py)`((?:,? `\w+`)+)", table)
    assert len(owners) > 35
    for path, names in owners:
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            assert re.search(rf"^\s*(def |class )?{name}\b( =|:|\(|, )", text, re.MULTILINE), f"{path}: {name}"


FOLDERS = ("sim", "files", "experiments", "agents", "ui", "cli", "benchmarks", "tools", "packaging")
IMAGINED = {"SomeDialog", "MyAgent", "prepare", "process_events"}  # names that examples give to the reader's own code
LIBRARY_METHODS = {"draw_ui"}


def parsed_modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def names_in(tree: ast.AST) -> set[str]:
    """Return all identifiers of a program, those of keyword arguments and imports included."""
    found = [getattr(node, field, None) for node in ast.walk(tree) for field in ("id", "attr", "arg", "name")]
    return {part for name in found if isinstance(name, str) for part in name.split(".")}


def names_in_examples(docstring: str) -> Iterator[str]:
    """Yield the functions and attributes that the indented lines of a docstring use in their first column."""
    for line in re.findall(r"^ {4}(\S.*)$", docstring, re.MULTILINE):
        code = re.split(r" {2,}", line)[0]
        if re.match(r"[\w.]+\(|\w+ = \w|\w+\.[a-z_]+|(with|for|if|while) ", code):
            code = re.sub(r'"[^"]*"', "", code)
            yield from (
                name for pair in re.findall(r"\.([a-z]\w+)\b|\b([A-Za-z_]\w*)\(", code) for name in pair if name
            )


def test_examples_in_module_docstrings_name_what_the_program_defines() -> None:
    modules = [(path, tree, ast.get_docstring(tree) or "") for path, tree in parsed_modules()]
    known = set.union(IMAGINED, LIBRARY_METHODS, dir(builtins), *(names_in(tree) for _, tree, _ in modules))
    used = [(path.name, name) for path, _, docstring in modules for name in names_in_examples(docstring)]
    assert len(used) > 150
    assert not [(path, name) for path, name in used if name not in known]


@pytest.mark.parametrize("page", ["architecture.md", "glossary.md"])
def test_pages_for_developers_name_classes_and_members_that_exist(page: str) -> None:
    members: dict[str, set[str]] = {}
    known: set[str] = set()
    for _, tree in parsed_modules():
        known |= names_in(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                members.setdefault(node.name, set()).update(names_in(node))
    for code in re.findall(r"`([^`\n]+)`", (ROOT / "docs" / page).read_text(encoding="utf-8")):
        if match := re.fullmatch(r"([A-Z][a-z]\w+)(?:\.(\w+))?(\(.*\))?", code):
            assert match[1] in known, code
            assert not match[2] or match[2] in members.get(match[1], known), code
        elif match := re.fullmatch(r"\.?([a-z]\w*_\w+)(\(\))?", code):
            assert match[1] in known, code


def test_every_page_is_within_three_links_of_the_readme() -> None:
    reached = {ROOT / "README.md"}
    for _ in range(3):
        links = [(page, link) for page in reached for link in re.findall(r"\]\(([^)#]+\.md)", page.read_text("utf-8"))]
        reached |= {(page.parent / link).resolve() for page, link in links if not link.startswith("http")}
    assert set(PAGES) <= reached


def test_documented_scenario_runs() -> None:
    lines = SCENARIOS.split("\n\n    format:")[1].split("\n\nCells")[0]
    text = "format:" + lines.replace("\n    ", "\n") + "\n"
    scenario = parse_scenario(text, "shown", AGENT_SPECS_BY_KEY)
    appearance_from_view(scenario.view, LAYER_BY_KEY)
    assert build_world(scenario, AGENT_SPECS_BY_KEY).advance(100) > 12, "all of its edits happen"


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("# Scenario files", (*SCENARIO_KEYS, *CHANGES)),
        ("## `map`", MAPS),
        ("## `agents`", (*AGENT_KEYS, *CROWD_KEYS, *PLACING)),
        ("## `edits`", ("tick", "agent", *EDIT_KEYS)),
        ("## `view`", (*VIEW_KEYS, *LAYER_BY_KEY, *HEAT_KINDS, *HEAT_COLOURS.choices)),
    ],
)
def test_every_scenario_key_is_documented(section: str, keys: tuple[str, ...]) -> None:
    text = SCENARIOS.split(f"{section}\n")[1].split("\n## ")[0]
    code = " ".join(re.findall(r"`([^`]+)`", text))
    assert not [key for key in keys if not re.search(rf"\b{re.escape(key)}\b", code)]
