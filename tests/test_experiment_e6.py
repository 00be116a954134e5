"""E6 of algorithms.md: on the corner map RIBS grows linearly, LRTA* by a power of 1.5; they cross near 1,500 states."""

import pytest

from cli.experiments import e6


def check_growth(sizes: tuple[int, ...]) -> None:
    points = {kind: [e6.expansions(kind, size) for size in sizes] for kind in ("ribs", "lrta")}
    fits = {kind: e6.fit(values) for kind, values in points.items()}
    print(fits)
    assert 0.95 < fits["ribs"][1] < 1.06
    assert 1.4 < fits["lrta"][1] < 1.6
    states, lrta = points["lrta"][-1]
    assert 0.12 < lrta / states**1.5 < 0.21  # printed 0.14; the order of equal cells moves it
    states, ribs = points["ribs"][-1]
    assert 7.0 < ribs / states < 10.0  # printed about 10


def test_growth_at_test_size() -> None:
    check_growth(e6.SMALL)


@pytest.mark.slow
def test_growth_at_full_size() -> None:
    check_growth(e6.LARGE)


def test_the_curves_cross_near_1500_states() -> None:
    assert 1000 <= e6.crossing() <= 2500


@pytest.mark.parametrize("size, lrta", [(40, 12_210), (160, 748_247)])
def test_lrta_as_measured_with_ties_by_cell(size: int, lrta: int) -> None:
    """algorithms.md 0.2 has 12,210 for n = 40 with our order of ties (by direction: 10,645)."""
    assert e6.expansions("lrta", size)[1] == lrta
