"""What `advise` says of a map."""

import itertools
import re
from pathlib import Path

import pygame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import main
from agents.registry import BY_KEY
from sim.experiments.advice import (
    IN_TURN,
    MAX_MEASURED,
    NO,
    YES,
    Candidate,
    Need,
    Together,
    best_three,
    candidates,
    front,
    measured_together,
    most_that_fit,
    worth_a_crowd,
)
from sim.experiments.problems import Case, board_of
from sim.experiments.totals import Totals
from sim.files.map import write_map
from sim.files.scenario import load_scenario
from sim.generate import generate
from sim.grid import Grid


def made(name: str, cost: float, tick_us: float, kind: str = "tba") -> Candidate:
    """Of a unit that takes as long among others as alone."""
    totals = Totals(1, 1, [cost], 100, 5, 100, 400, 9, tick_us / 10)
    return Candidate(kind, {"name": len(name)}, 4, name, totals, together=Together(10, tick_us / 10, 100, tick_us))


def test_the_front_and_what_fits() -> None:
    tried = [made("a", 1.1, 50), made("bb", 1.5, 10), made("ccc", 1.6, 20), made("dddd", 3.0, 2)]
    assert [c.name for c in front(tried)] == ["a", "bb", "dddd"]
    assert tried[0].alone_us == tried[0].unit_us == pytest.approx(50)
    assert [c.name for c in best_three(tried, Need(1, 1.0))] == ["a", "bb", "ccc"]
    assert [c.name for c in best_three(tried, Need(100, 1.0))] == ["bb", "dddd", "a"]
    tried[1].is_out, tried[1].together = True, None
    assert [c.name for c in worth_a_crowd(tried)] == ["a", "ccc", "dddd"]
    assert [c.name for c in front(tried)] == ["a", "ccc", "dddd"]


def test_what_fits_is_what_units_take_among_others() -> None:
    """Alone a unit is many times as quick: its memory stays at hand."""
    quick, slow = made("a", 1.1, 10), made("bb", 1.5, 20)
    assert worth_a_crowd([slow, quick]) == [quick, slow]
    quick.together = Together(200, 6000.0, 100_000, 23.0)
    need = Need(50, 2.0)
    assert quick.alone_us == pytest.approx(10) and quick.unit_us == pytest.approx(60)
    assert need.fits(quick) == NO and best_three([quick, slow], need)[0] is slow
    assert need.frame_ms(quick) == pytest.approx(3.0) and need.longest_ms(quick) == 23.0
    assert Need(400, 2.0).longest_ms(quick) == 46.0, "twice as many as were measured"


def test_a_setting_fits_only_where_its_longest_frame_does() -> None:
    """Once "fits: yes" stood beside a longest frame of 14.9 ms of 2."""
    candidate, need = made("a", 1.1, 1), Need(200, 2.0)
    for longest, mean, fits in ((1.9, 0.5, YES), (14.9, 0.5, IN_TURN), (14.9, 2.5, NO)):
        candidate.together = Together(200, 100 * mean, 100 * 200, longest)
        assert need.frame_ms(candidate) == pytest.approx(mean) and need.fits(candidate) == fits
    assert Need(400, 2.0).fits(candidate) == NO


@settings(max_examples=200)
@given(
    st.floats(0.0, 3.0),
    st.floats(1e-4, 5.0),
    st.floats(0.5, 1.5),
    st.floats(0.1, 10.0),
    st.integers(0, 5 * MAX_MEASURED),
)
def test_the_number_of_units_that_would_fit_was_measured_to_fit(
    base_ms: float, unit_ms: float, power: float, budget_ms: float, guess: int
) -> None:
    """Once "about 136 would fit" where 522 did: a mean over frames with one unit left, times a number."""
    measured: dict[int, float] = {}

    def longest_ms(units: int) -> float:
        measured[units] = base_ms + unit_ms * units**power
        return measured[units]

    most = most_that_fit(longest_ms, budget_ms, guess)
    true = max((n for n in range(MAX_MEASURED + 1) if not n or base_ms + unit_ms * n**power <= budget_ms), default=0)
    assert most <= true <= max(1.35 * most, most + 1), (most, true, measured)
    assert most in measured or most == 0
    assert len(measured) <= 10


def test_units_at_once_are_counted_in_ticks_that_they_live() -> None:
    """By a clock that strikes whenever somebody looks at it: every frame takes a second, whatever is in it."""
    grid = Grid.from_rows(["." * 9] * 3)
    cases = [Case(board_of("a", grid), (0, 0), (x, 2), None, x) for x in (4, 8)]
    candidate, strikes = Candidate("lrta", {}, 1, "LRTA*"), itertools.count()
    for units, frames, ticks in (
        (2, 16 * 8, 16 * (4 + 8)),  # sixteen walks, until the second unit arrives
        (5, 4 * 4 + 3 * 8, 4 * 4 * 5 + 3 * (4 * 5 + 4 * 3)),  # seven walks, in three of which two of the five are near
    ):
        found = measured_together(candidate, cases, BY_KEY, units, lambda: float(next(strikes)))
        assert (found.units, found.longest_ms, found.frames_ms) == (units, 1000.0, frames * 1000.0)
        assert found.unit_ticks == ticks


def test_a_budget_keeps_only_what_it_allows() -> None:
    assert {c.budget for c in candidates(BY_KEY, 7)} == {7}
    assert all(BY_KEY[c.kind].check_budget(c.budget, c.params) is None for c in candidates(BY_KEY, None))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    write_map(generate("caves", {"width": 48, "height": 48, "seed": 3}).grid, "caves.map")
    assert main.main(["advise", "--map", "caves.map", "--units", "10", "--seconds", "0.5", "--budget-ms", "50"]) == 0
    out = capfd.readouterr().out
    taken = r"10 units take [\d.e-]+ of 50 ms per frame on average, "
    taken += r"[\d.e-]+ ms in the longest frame, when all start at once"
    assert re.search(rf"Use .*: {taken}; (about )?[\d,]+ (or more )?would fit\.", out), out
    assert "times are for 10 units at once" in out
    assert re.search(r"cost / optimal, mean +median +maximum", out), out
    assert "python main.py caves-advice/best.yaml" in out
    wished = re.search(
        r"kNN LRTA\* was not tried\. ([\d.]+)% of pairs can be climbed, .* needs about ([\d,]+) records", out
    )
    assert wished and int(wished[2].replace(",", "")) == pytest.approx(30 / (float(wished[1]) / 100) ** 2, rel=0.15), (
        out
    )
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
    assert "No setting fits 1,000,000 units into 0.001 ms" in capfd.readouterr().out


def test_a_map_without_any_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_map(Grid.from_rows([".@.", "@@@"]), tmp_path / "no.map")
    assert main.main(["advise", "--map", str(tmp_path / "no.map")]) == 2
    assert "expected a map with a path" in capfd.readouterr().err


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
