"""The clock owes what time and rate say, at any frame rate, and never races to catch up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.model.step_clock import AS_FAST_AS_POSSIBLE, MAX_LAG_S, SPEEDS, StepClock, next_higher_speed, next_lower_speed

FRAMES = st.lists(st.floats(0.0, MAX_LAG_S), min_size=1, max_size=200)


@given(rate=st.sampled_from(SPEEDS), frames=FRAMES)
def test_tick_count_is_within_one_of_rate_times_time(rate: int, frames: list[float]) -> None:
    clock = StepClock(rate, is_running=True)
    ticks = sum(clock.take_due_ticks(seconds) for seconds in frames)
    assert abs(ticks - rate * sum(frames)) <= 1.0 + 1e-6


@pytest.mark.parametrize("rate", SPEEDS)
def test_one_minute_of_even_frames_gives_one_minute_of_ticks(rate: int) -> None:
    clock = StepClock(rate, is_running=True)
    ticks = sum(clock.take_due_ticks(1 / 60) for _ in range(3600))
    assert abs(ticks - rate * 60) <= 1


@given(rate=st.sampled_from(SPEEDS), held_up=st.floats(1.0, 1e6))
def test_clock_limits_catch_up_after_a_long_frame(rate: int, held_up: float) -> None:
    clock = StepClock(rate, is_running=True)
    assert clock.take_due_ticks(held_up) <= rate * MAX_LAG_S + 1
    assert clock.take_due_ticks(1 / 60) <= rate / 60 + 1


def test_paused_clock_discards_accumulated_time() -> None:
    clock = StepClock(10, is_running=True)
    assert clock.take_due_ticks(0.09) == 0
    clock.is_running = False
    assert clock.take_due_ticks(100.0) == 0
    clock.is_running = True
    assert clock.take_due_ticks(0.02) == 0
    assert clock.take_due_ticks(0.09) == 1


def test_fraction_grows_during_a_tick() -> None:
    clock = StepClock(10, is_running=True)
    shares = []
    for _ in range(9):
        clock.take_due_ticks(0.01)
        shares.append(clock.tick_fraction)
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(0.1) and shares[-1] == pytest.approx(0.9)
    clock.is_running = False
    assert clock.tick_fraction == 1.0


@given(rate=st.sampled_from(SPEEDS), frames=FRAMES)
def test_fraction_is_between_0_and_1(rate: int, frames: list[float]) -> None:
    clock = StepClock(rate, is_running=True)
    for seconds in frames:
        clock.take_due_ticks(seconds)
        assert 0.0 <= clock.tick_fraction <= 1.0


def test_faster_and_slower_use_the_same_steps() -> None:
    up = [SPEEDS[0]]
    while up[-1] != AS_FAST_AS_POSSIBLE:
        up.append(next_higher_speed(up[-1]))
    assert up == [*SPEEDS, AS_FAST_AS_POSSIBLE]
    down = [AS_FAST_AS_POSSIBLE]
    while down[-1] != SPEEDS[0]:
        down.append(next_lower_speed(down[-1]))
    assert down == up[::-1]
    assert next_higher_speed(AS_FAST_AS_POSSIBLE) == AS_FAST_AS_POSSIBLE and next_lower_speed(SPEEDS[0]) == SPEEDS[0]


@given(st.integers(1, 10_000))
def test_any_speed_can_be_made_faster_and_slower(speed: int) -> None:
    assert next_higher_speed(speed) > speed or next_higher_speed(speed) == AS_FAST_AS_POSSIBLE
    assert next_lower_speed(speed) < speed or next_lower_speed(speed) == SPEEDS[0]
