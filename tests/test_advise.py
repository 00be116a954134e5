"""What `advise` says of a map."""

import re
from pathlib import Path

import pygame
import pytest

import main
from agents.registry import BY_KEY
from sim.experiments.advice import Candidate, Need, best_three, candidates, front
from sim.experiments.totals import Totals
from sim.files.map import write_map
from sim.files.scenario import load_scenario
from sim.generate import generate
from sim.grid import Grid


def made(name: str, cost: float, tick_us: float, kind: str = "tba") -> Candidate:
    totals = Totals(1, 1, cost, 100, 5, 100, 400, 9, tick_us / 10)
    return Candidate(kind, {"name": len(name)}, 4, name, totals)


def test_the_front_and_what_fits() -> None:
    tried = [made("a", 1.1, 50), made("bb", 1.5, 10), made("ccc", 1.6, 20), made("dddd", 3.0, 2)]
    assert [c.name for c in front(tried)] == ["a", "bb", "dddd"]
    assert tried[0].tick_us == pytest.approx(50)
    assert [c.name for c in best_three(tried, Need(1, 1.0))] == ["a", "bb", "ccc"]
    assert [c.name for c in best_three(tried, Need(100, 1.0))] == ["bb", "dddd", "a"]
    tried[1].is_out = True
    assert [c.name for c in front(tried)] == ["a", "ccc", "dddd"]


def test_a_budget_keeps_only_what_it_allows() -> None:
    assert {c.budget for c in candidates(BY_KEY, 7)} == {7}
    assert all(BY_KEY[c.kind].check_budget(c.budget, c.params) is None for c in candidates(BY_KEY, None))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    write_map(generate("caves", {"width": 48, "height": 48, "seed": 3}).grid, "caves.map")
    assert main.main(["advise", "--map", "caves.map", "--units", "10", "--seconds", "0.5", "--budget-ms", "50"]) == 0
    out = capfd.readouterr().out
    assert re.search(r"Use .*: 10 units take [\d.e-]+ of 50 ms a frame in the mean; [\d,]+ would fit\.", out), out
    assert "cost / optimal" in out and "python main.py caves-advice/best.yaml" in out
    scenario = load_scenario("caves-advice/best.yaml", BY_KEY)
    assert len(scenario.agents) == 3 and len({agent.label for agent in scenario.agents}) == 3
    assert (tmp_path / "caves-advice" / "advice.svg").is_file()
    assert main.main(["run", "caves-advice/best.yaml"]) == 0
    arrived = capfd.readouterr().out.splitlines()
    assert len(arrived) == 3 and all('"outcome": "reached"' in line for line in arrived)


def test_nothing_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    write_map(generate("rooms", {"width": 32, "height": 32, "seed": 3}).grid, "rooms.map")
    more = ["--units", "1000000", "--budget-ms", "0.001", "--seconds", "0.5"]
    assert main.main(["advise", "--map", "rooms.map", *more]) == 0
    assert "Nothing fits 1,000,000 units into 0.001 ms" in capfd.readouterr().out


def test_a_map_without_any_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_map(Grid.from_rows([".@.", "@@@"]), tmp_path / "no.map")
    assert main.main(["advise", "--map", str(tmp_path / "no.map")]) == 2
    assert "some way leads" in capfd.readouterr().err


def test_a_map_may_be_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As everywhere that takes a map; and the scenario of the best opens it again."""
    monkeypatch.chdir(tmp_path)
    picture = pygame.Surface((24, 16))
    picture.fill("white")
    picture.fill("black", (10, 0, 2, 12))
    pygame.image.save(picture, "rooms.png")
    assert main.main(["advise", "--map", "rooms.png", "--seconds", "0.5", "--budget-ms", "50"]) == 0
    assert "random problems" in capfd.readouterr().out
    assert main.main(["run", "rooms-advice/best.yaml"]) == 0
