"""Frames come sixty times a second while anything moves, and five times while nothing does."""

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pygame
import pytest

from sim.grid import Grid
from sim.world_commands import AgentConfig, EditCells
from tests.runs import scenario_on
from tests.window import make_app, press_combination
from ui import frame_pacer as module
from ui.app import App
from ui.commands.command_table import COMMAND_TABLE
from ui.dialogs.progress_dialog import ProgressDialog
from ui.film.worker_handle import WorkerHandle
from ui.frame_pacer import FRAME_PERIOD_S, FULL_RATE_AFTER_ACTIVITY_S, IDLE_FRAME_PERIOD_S, FramePacer
from ui.model.background_job import BackgroundJob
from ui.model.selection import Selection
from ui.model.ui_state import MAX_MESSAGE_S
from ui.widgets.text_field import BLINK_S, BLINKING_S

AS_MANY_AS_TAKE_TURNS = 4  # frames after which all parts of a resting window have been drawn once more


class Clock:
    """Time passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "KernelLoader", lambda _: SimpleNamespace(load_next_overload=lambda: False))
    return clock


def frames(clock: Clock, pace: FramePacer, seconds: float, is_idle: Callable[[], bool]) -> list[tuple[float, float]]:
    """When each frame began, and how long it said that the one before was ago."""
    begun, end = [], clock.now + seconds
    while clock.now < end:
        since = pace.begin_frame()
        begun.append((clock.now, since))
        pace.end_frame(is_idle=is_idle())
    return begun


@pytest.fixture
def event_times(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When something happens, by the clock; nothing does where this is empty."""
    return []


@pytest.fixture
def pace(clock: Clock, event_times: list[float], monkeypatch: pytest.MonkeyPatch) -> FramePacer:
    monkeypatch.setattr(module.pygame.event, "peek", lambda: any(at <= clock.now for at in event_times))
    return FramePacer()


def test_active_window_runs_at_sixty_frames_per_second(clock: Clock, pace: FramePacer) -> None:
    assert len(frames(clock, pace, 10.0, lambda: False)) == pytest.approx(600, abs=1)


def test_idle_window_draws_few_frames_with_exact_elapsed_time(clock: Clock, pace: FramePacer) -> None:
    begun = frames(clock, pace, 10.0, lambda: True)
    assert len(begun) == pytest.approx(
        FULL_RATE_AFTER_ACTIVITY_S / FRAME_PERIOD_S + (10.0 - FULL_RATE_AFTER_ACTIVITY_S) / IDLE_FRAME_PERIOD_S, rel=0.1
    )
    assert sum(since for _, since in begun) == pytest.approx(begun[-1][0] - 100.0)
    assert max(since for _, since in begun) < IDLE_FRAME_PERIOD_S + 2 * FRAME_PERIOD_S


def test_input_wakes_idle_window_within_one_frame(clock: Clock, pace: FramePacer, event_times: list[float]) -> None:
    event_times.append(clock.now + 5.07)
    frames(clock, pace, 5.0, lambda: True)
    begun = frames(clock, pace, 0.2, lambda: False)
    assert 0.0 <= begun[0][0] - event_times[0] <= FRAME_PERIOD_S + 1e-6
    assert begun[0][1] <= FRAME_PERIOD_S + 1e-6, "a run that begins now must not begin with a leap"
    assert len(begun) == pytest.approx(0.2 / FRAME_PERIOD_S, abs=2), "from then on all of them come"


# --- what is idle -----------------------------------------------------------------------------------------


def make_idle_app() -> App:
    grid = Grid.from_text_rows(["........"] * 6)
    app = make_app(scenario_on(grid, 0, 47, [AgentConfig("tba"), AgentConfig("lrta")], budget=1))
    app.window.player.pause()
    still(app)
    return app


def still(app: App) -> bool:
    """Whether it comes to rest within a second of frames."""
    return any((app.run_frame(FRAME_PERIOD_S), app.is_idle)[1] for _ in range(60))


def test_paused_or_finished_window_is_idle() -> None:
    app = make_idle_app()
    assert app.is_idle
    press_combination(app, "Space")
    app.run_frame(FRAME_PERIOD_S)
    assert not app.is_idle, "it runs"
    for _ in range(600):
        app.run_frame(0.1)
    assert app.session.run.is_over and app.is_idle, "the run is at its end"
    press_combination(app, "Home")
    assert not app.is_idle, "it was touched"
    assert still(app)


def test_animations_keep_the_window_awake() -> None:
    app = make_idle_app()
    app.window.ui_state.is_editing = True
    app.window.ui_state.set_selection(Selection.from_points([(3, 0), (4, 0)], app.session.run.world.grid))
    app.run_frame(FRAME_PERIOD_S)
    assert not app.is_idle, "the outline of a selection moves"
    app.window.ui_state.clear_selection()
    assert still(app)


def test_caret_blinks_while_the_window_is_idle() -> None:
    app = make_idle_app()
    press_combination(app, "Ctrl+K")
    assert still(app), "the few frames of an idle window are enough for a caret"
    pictures = []
    for _ in range(round(2 * BLINK_S / IDLE_FRAME_PERIOD_S)):
        app.run_frame(IDLE_FRAME_PERIOD_S)
        pictures.append(pygame.image.tobytes(app.window.surface, "RGB"))
    assert len(set(pictures)) == 2
    assert app.is_idle


def test_background_work_keeps_the_window_awake() -> None:
    app, may_end = make_idle_app(), threading.Event()
    app.window.open_dialog(
        ProgressDialog(app.window.dialogs, "Reading", BackgroundJob(lambda _: may_end.wait()), lambda _: None)
    )
    app.run_frame(FRAME_PERIOD_S)
    assert not app.is_idle, "a bar sweeps"
    may_end.set()
    assert still(app)

    app.window.ui_state.kinds_in_preparation = ("tba",)
    assert not app.is_idle, "an agent is not ready yet"
    app.window.ui_state.kinds_in_preparation = ()
    app.window.recording_controller.active_exports.append(cast(WorkerHandle, object()))
    assert not app.is_idle, "an export says how far it is"
    app.window.recording_controller.active_exports.clear()
    app.session.run.world.optimality_tracker.expansion_limit = 0
    app.session.advance_by_ticks(1)
    assert app.session.run.is_measuring_optimality and not app.is_idle, "numbers are still to come"


def test_pending_optimum_search_keeps_the_window_awake() -> None:
    """What is drawn before the first tick belongs to the map by which cost is measured: a search in pieces."""
    grid = Grid.from_text_rows(["." * 300] * 300)
    app = make_app(scenario_on(grid, 0, grid.cells - 1, [AgentConfig("tba")]))
    assert still(app)
    app.session.submit_command(EditCells(tuple(range(100 * 300, 100 * 300 + 299))))
    app.session.run.world.optimality_tracker.expansion_limit = 0
    app.run_frame(FRAME_PERIOD_S)
    assert app.session.run.world.optimality_tracker.optimal_costs.are_optima_outdated and not app.is_idle, (
        "the length of the cheapest path is still to come"
    )
    assert still(app) and not app.session.run.world.optimality_tracker.optimal_costs.are_optima_outdated


OPENING = [
    command.id
    for command in COMMAND_TABLE
    if not command.id.startswith(("picture", "quit", "full_screen")) and command.id not in ("cancel", "begin_lesson")
]


def test_idle_window_does_not_change_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """After any command, with the dialog that it opens: while hours pass, nothing is drawn otherwise."""
    now, tried = [1000.0], 0
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for command in OPENING:
        app = make_idle_app()
        app.window.run_command(command)
        if not still(app) or not app.window.is_window_open:
            continue
        now[0] += MAX_MESSAGE_S
        app.run_frame(BLINKING_S)
        for _ in range(AS_MANY_AS_TAKE_TURNS):
            app.run_frame(FRAME_PERIOD_S)
        before = pygame.image.tobytes(app.window.surface, "RGB")
        for _ in range(AS_MANY_AS_TAKE_TURNS):
            now[0] += IDLE_FRAME_PERIOD_S
            app.run_frame(IDLE_FRAME_PERIOD_S)
        assert pygame.image.tobytes(app.window.surface, "RGB") == before, command
        app.window.dialogs.close_dialog()
        tried += 1
    assert tried > len(OPENING) // 2
