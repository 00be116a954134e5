"""The clock owes what time and rate say, at any frame rate, and never races to catch up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.model.clock import AS_FAST_AS_POSSIBLE, MAX_LAG_S, SPEEDS, StepClock, faster, slower

FRAMES = st.lists(st.floats(0.0, MAX_LAG_S), min_size=1, max_size=200)


@given(rate=st.sampled_from(SPEEDS), frames=FRAMES)
def test_ticks_are_within_one_of_rate_times_time(rate: int, frames: list[float]) -> None:
    clock = StepClock(rate, is_running=True)
    ticks = sum(clock.advance(seconds) for seconds in frames)
    assert abs(ticks - rate * sum(frames)) <= 1.0 + 1e-6


@pytest.mark.parametrize("rate", SPEEDS)
def test_a_minute_of_even_frames_gives_a_minute_of_ticks(rate: int) -> None:
    clock = StepClock(rate, is_running=True)
    ticks = sum(clock.advance(1 / 60) for _ in range(3600))
    assert abs(ticks - rate * 60) <= 1


@given(rate=st.sampled_from(SPEEDS), held_up=st.floats(1.0, 1e6))
def test_a_program_that_was_held_up_does_not_race(rate: int, held_up: float) -> None:
    clock = StepClock(rate, is_running=True)
    assert clock.advance(held_up) <= rate * MAX_LAG_S + 1
    assert clock.advance(1 / 60) <= rate / 60 + 1


def test_paused_it_owes_nothing_and_forgets_what_it_owed() -> None:
    clock = StepClock(10, is_running=True)
    assert clock.advance(0.09) == 0
    clock.is_running = False
    assert clock.advance(100.0) == 0
    clock.is_running = True
    assert clock.advance(0.02) == 0
    assert clock.advance(0.09) == 1


def test_the_fraction_grows_through_a_tick() -> None:
    clock = StepClock(10, is_running=True)
    shares = []
    for _ in range(9):
        clock.advance(0.01)
        shares.append(clock.fraction)
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.1) and shares[-1] == pytest.approx(0.9)
    clock.is_running = False
    assert clock.fraction == 1.0


@given(rate=st.sampled_from(SPEEDS), frames=FRAMES)
def test_the_fraction_is_a_share(rate: int, frames: list[float]) -> None:
    clock = StepClock(rate, is_running=True)
    for seconds in frames:
        clock.advance(seconds)
        assert 0.0 <= clock.fraction <= 1.0


def test_speeds_go_up_and_down_in_the_same_steps() -> None:
    up = [SPEEDS[0]]
    while up[-1] != AS_FAST_AS_POSSIBLE:
        up.append(faster(up[-1]))
    assert up == [*SPEEDS, AS_FAST_AS_POSSIBLE]
    down = [AS_FAST_AS_POSSIBLE]
    while down[-1] != SPEEDS[0]:
        down.append(slower(down[-1]))
    assert down == up[::-1]
    assert faster(AS_FAST_AS_POSSIBLE) == AS_FAST_AS_POSSIBLE and slower(SPEEDS[0]) == SPEEDS[0]


@given(st.integers(1, 10_000))
def test_any_speed_has_neighbours(speed: int) -> None:
    assert faster(speed) > speed or faster(speed) == AS_FAST_AS_POSSIBLE
    assert slower(speed) < speed or slower(speed) == SPEEDS[0]
