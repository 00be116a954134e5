"""What `advise` says of a map."""

import itertools
import re
from pathlib import Path

import pygame
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import main
from agents.registry import AGENT_SPECS_BY_KEY
from experiments.advice import (
    DOES_NOT_FIT,
    FITS_AT_ONCE,
    FITS_ON_AVERAGE,
    MAX_MEASURED_UNITS,
    AgentCandidate,
    CrowdTiming,
    FrameRequirement,
    best_candidates,
    candidates_in_measurement_order,
    create_candidates,
    find_max_fitting_units,
    measure_crowd_timing,
    pareto_candidates,
)
from experiments.problems import ProblemInstance, create_map_data
from experiments.run_totals import RunTotals
from files.movingai import write_map
from files.scenario import load_scenario
from sim.grid import Grid
from sim.map_generators import generate_map


def make_candidate(name: str, cost: float, tick_us: float, kind: str = "tba") -> AgentCandidate:
    """Of a unit that takes as long among others as alone."""
    totals = RunTotals(1, 1, [cost], 100, 5, 100, 400, 9, tick_us / 10)
    return AgentCandidate(
        kind, {"name": len(name)}, 4, name, totals, crowd_timing=CrowdTiming(10, tick_us / 10, 100, tick_us)
    )


def test_front_excludes_dominated_candidates_and_best_three_fit_the_budget() -> None:
    tried = [
        make_candidate("a", 1.1, 50),
        make_candidate("bb", 1.5, 10),
        make_candidate("ccc", 1.6, 20),
        make_candidate("dddd", 3.0, 2),
    ]
    assert [c.name for c in pareto_candidates(tried)] == ["a", "bb", "dddd"]
    assert tried[0].single_unit_us == tried[0].crowd_unit_us == pytest.approx(50)
    assert [c.name for c in best_candidates(tried, FrameRequirement(1, 1.0))] == ["a", "bb", "ccc"]
    assert [c.name for c in best_candidates(tried, FrameRequirement(100, 1.0))] == ["bb", "dddd", "a"]
    tried[1].is_rejected, tried[1].crowd_timing = True, None
    assert [c.name for c in candidates_in_measurement_order(tried)] == ["a", "ccc", "dddd"]
    assert [c.name for c in pareto_candidates(tried)] == ["a", "ccc", "dddd"]


def test_need_uses_unit_times_measured_in_a_crowd() -> None:
    """Alone a unit is many times as quick: its memory stays at hand."""
    quick, slow = make_candidate("a", 1.1, 10), make_candidate("bb", 1.5, 20)
    assert candidates_in_measurement_order([slow, quick]) == [quick, slow]
    quick.crowd_timing = CrowdTiming(200, 6000.0, 100_000, 23.0)
    need = FrameRequirement(50, 2.0)
    assert quick.single_unit_us == pytest.approx(10) and quick.crowd_unit_us == pytest.approx(60)
    assert need.fit_level(quick) == DOES_NOT_FIT and best_candidates([quick, slow], need)[0] is slow
    assert need.mean_frame_ms(quick) == pytest.approx(3.0) and need.max_frame_ms(quick) == 23.0
    assert FrameRequirement(400, 2.0).max_frame_ms(quick) == 46.0, "twice as many as were measured"


def test_candidate_fits_only_if_its_longest_frame_fits() -> None:
    """Once "fits: yes" stood beside a longest frame of 14.9 ms of 2."""
    candidate, need = make_candidate("a", 1.1, 1), FrameRequirement(200, 2.0)
    for longest, mean, fits in ((1.9, 0.5, FITS_AT_ONCE), (14.9, 0.5, FITS_ON_AVERAGE), (14.9, 2.5, DOES_NOT_FIT)):
        candidate.crowd_timing = CrowdTiming(200, 100 * mean, 100 * 200, longest)
        assert need.mean_frame_ms(candidate) == pytest.approx(mean) and need.fit_level(candidate) == fits
    assert FrameRequirement(400, 2.0).fit_level(candidate) == DOES_NOT_FIT


@settings(max_examples=200)
@given(
    st.floats(0.0, 3.0),
    st.floats(1e-4, 5.0),
    st.floats(0.5, 1.5),
    st.floats(0.1, 10.0),
    st.integers(0, 5 * MAX_MEASURED_UNITS),
)
@example(2.4593349196232372, 0.0001, 0.99999, 5.414071928493982, 1)  # a long frame, whatever the number of units
def test_most_that_fit_returns_a_measured_unit_count(
    base_ms: float, unit_ms: float, power: float, budget_ms: float, guess: int
) -> None:
    """Once "about 136 would fit" where 522 did: a mean over frames with one unit left, times a number."""
    measured: dict[int, float] = {}

    def longest_ms(units: int) -> float:
        measured[units] = base_ms + unit_ms * units**power
        return measured[units]

    most = find_max_fitting_units(longest_ms, budget_ms, guess)
    true = max(
        (n for n in range(MAX_MEASURED_UNITS + 1) if not n or base_ms + unit_ms * n**power <= budget_ms), default=0
    )
    assert most <= true <= max(1.35 * most, most + 1), (most, true, measured)
    assert most in measured or most == 0
    assert len(measured) <= 10


@pytest.mark.parametrize("fitting", range(6))
def test_few_units_that_fit_are_counted_exactly(fitting: int) -> None:
    assert find_max_fitting_units(lambda units: 5.0 if units <= fitting else 20.0, 10.0, MAX_MEASURED_UNITS) == fitting


def test_crowd_timing_counts_only_ticks_of_active_units() -> None:
    """By a clock that strikes whenever somebody looks at it: every frame takes a second, whatever is in it."""
    grid = Grid.from_text_rows(["." * 9] * 3)
    cases = [ProblemInstance(create_map_data("a", grid), (0, 0), (x, 2), None, x) for x in (4, 8)]
    candidate, strikes = AgentCandidate("lrta", {}, 1, "LRTA*"), itertools.count()
    for units, frames, ticks in (
        (2, 16 * 8, 16 * (4 + 8)),  # sixteen walks, until the second unit arrives
        (5, 4 * 4 + 3 * 8, 4 * 4 * 5 + 3 * (4 * 5 + 4 * 3)),  # seven walks, in three of which two of the five are near
    ):
        found = measure_crowd_timing(candidate, cases, AGENT_SPECS_BY_KEY, units, lambda: float(next(strikes)))
        assert (found.units, found.max_frame_ms, found.total_frames_ms) == (units, 1000.0, frames * 1000.0)
        assert found.unit_ticks == ticks


def test_candidates_respect_the_given_budget() -> None:
    assert {c.budget for c in create_candidates(AGENT_SPECS_BY_KEY, 7)} == {7}
    assert all(
        AGENT_SPECS_BY_KEY[c.kind].check_budget(c.budget, c.params) is None
        for c in create_candidates(AGENT_SPECS_BY_KEY, None)
    )


def test_advise_command_writes_a_runnable_best_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_map(generate_map("caves", {"width": 48, "height": 48, "seed": 3}).grid, "caves.map")
    assert main.main(["advise", "--map", "caves.map", "--units", "10", "--seconds", "0.5", "--budget-ms", "50"]) == 0
    out = capfd.readouterr().out
    taken = r"10 units take [\d.e-]+ of 50 ms per frame on average, "
    taken += r"[\d.e-]+ ms in the longest frame, when all start at once"
    assert re.search(rf"Use .*: {taken}; (about )?[\d,]+ (or more )?would fit\.", out), out
    assert "times are for 10 units at once" in out
    assert re.search(r"cost / optimal, mean +median +maximum", out), out
    assert "python main.py caves-advice/best.yaml" in out
    wished = re.search(
        r"kNN LRTA\* was not tried\. ([\d.]+)% of pairs can be climbed: about ([\d.]+) of 1,000 .* about ([\d,]+) rec",
        out,
    )
    assert wished
    share = float(wished[1]) / 100
    assert int(wished[3].replace(",", "")) == pytest.approx(30 / share**2, rel=0.15), out
    assert float(wished[2]) == pytest.approx(1000 * share**2, rel=0.1), out
    scenario = load_scenario("caves-advice/best.yaml", AGENT_SPECS_BY_KEY)
    assert len(scenario.agents) == 3 and len({agent.label for agent in scenario.agents}) == 3
    assert (tmp_path / "caves-advice" / "advice.svg").is_file()
    assert main.main(["run", "caves-advice/best.yaml"]) == 0
    arrived = capfd.readouterr().out.splitlines()
    assert len(arrived) == 3 and all('"outcome": "reached"' in line for line in arrived)


def test_advise_reports_when_nothing_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_map(generate_map("rooms", {"width": 32, "height": 32, "seed": 3}).grid, "rooms.map")
    more = ["--units", "1000000", "--budget-ms", "0.001", "--seconds", "0.5"]
    assert main.main(["advise", "--map", "rooms.map", *more]) == 0
    assert "No setting fits 1,000,000 units into 0.001 ms" in capfd.readouterr().out


def test_advise_refuses_map_without_solvable_pairs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_map(Grid.from_text_rows([".@.", "@@@"]), tmp_path / "no.map")
    assert main.main(["advise", "--map", str(tmp_path / "no.map")]) == 2
    assert "expected a map with a path" in capfd.readouterr().err


def test_advise_accepts_map_image(
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
