"""docs/: what it shows works, what it names is there, and nothing that files may say is left out."""

import re
from pathlib import Path

import pytest

from agents.registry import SPECS_BY_KEY
from sim.changes import EVERY_PARAM, RATE_PARAM, REPEAT_PARAM
from sim.files.agents import AGENT_KEYS, CROWD_KEYS
from sim.files.commands import COMMAND_KEYS as EDIT_KEYS
from sim.files.movement import MOVEMENT_KEYS
from sim.files.scenario import SCENARIO_KEYS as SCENARIO_KEYS
from sim.files.scenario import build_world, parse_scenario
from ui.draw.layers import LAYER_BY_KEY
from ui.model.appearance import VIEW_KEYS as VIEW_KEYS
from ui.model.appearance import appearance_from_view
from ui.model.layers import HEAT_KINDS
from ui.model.settings import HEAT_COLOURS

from .conftest import ROOT

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
SCENARIOS = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
CHANGES = (EVERY_PARAM.name, RATE_PARAM.name, REPEAT_PARAM.name)
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
    named = re.findall(r"(?<![\w/])((?:sim|agents|ui|cli|tests|assets|packaging)/[\w/.-]*\w)", text)
    assert not [name for name in named if not (ROOT / name).exists()]


def test_architecture_table_names_existing_owners() -> None:
    table = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("## Where rules are kept")[1].split("\n## ")[0]
    owners = re.findall(r"`([\w/]+\.py)`((?:,? `\w+`)+)", table)
    assert len(owners) > 35
    for path, names in owners:
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            assert re.search(rf"^\s*(def |class )?{name}\b( =|:|\(|, )", text, re.MULTILINE), f"{path}: {name}"


def test_every_page_is_within_three_links_of_the_readme() -> None:
    reached = {ROOT / "README.md"}
    for _ in range(3):
        links = [(page, link) for page in reached for link in re.findall(r"\]\(([^)#]+\.md)", page.read_text("utf-8"))]
        reached |= {(page.parent / link).resolve() for page, link in links if not link.startswith("http")}
    assert set(PAGES) <= reached


def test_documented_scenario_runs() -> None:
    lines = SCENARIOS.split("\n\n    format:")[1].split("\n\nCells")[0]
    text = "format:" + lines.replace("\n    ", "\n") + "\n"
    scenario = parse_scenario(text, "shown", SPECS_BY_KEY)
    appearance_from_view(scenario.view, LAYER_BY_KEY)
    assert build_world(scenario, SPECS_BY_KEY).advance(100) > 12, "all of its edits happen"


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
