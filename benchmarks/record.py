"""Bench `record`: speed of filming in 1080p without a window, and its cost for a window in which four panels run."""

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import numpy as np
import pygame

from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from files.map_source import map_rows_of_grid
from files.scenario import Scenario
from sim.map_generators import generate_map
from sim.world_commands import AgentConfig
from ui.app import App
from ui.film import video_encoding
from ui.film.film import Film, create_renderer, export_video
from ui.film.film_options import DRAFT, HIGH, NORMAL, WEBM, Encoding, FilmOptions
from ui.film.picture_files import copied_pixels
from ui.film.replay import ReplaySpec
from ui.film.worker_handle import WorkerHandle
from ui.film.worker_messages import WorkerReport
from ui.model.appearance import Appearance
from ui.model.session import Session
from ui.model.settings import Settings

SIDE = 512
SIZE = (1920, 1080)
FPS = 60
HEADLESS_TARGET = BenchTarget(100.0)  # minimum frames per second of filming without a window
FRAME_TIME_TARGET = BenchTarget(1.2, is_upper_limit=True)  # maximum ratio: frame time while recording / without
DROPPED_TARGET = BenchTarget(0.0, is_upper_limit=True)  # maximum number of dropped frames

_FRAME_COUNT = 240  # number of frames filmed without a window
_PROFILED_FRAMES = 60  # number of frames over which the steps of a frame are averaged
_FIRST_TICK = 400  # tick at which the measurement begins; by then the searches fill the panels
_WINDOW_SIZE = (1600, 900)  # size of the window in pixels
_WINDOW_S = 3.0  # seconds for which the window is measured, with and without recording
_PATIENCE_S = 120.0  # maximum seconds to wait for the file to be finished
_AGENTS = (
    AgentConfig("tba"),
    AgentConfig("tb-wa", params={"weight": 1.0}),
    AgentConfig("tb-wa", params={"weight": 3.0}),
    AgentConfig("tb-gbfs"),
)


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable(f"record: {SIZE[0]}x{SIZE[1]} at {FPS}, four panels of {SIDE} x {SIDE}")
    begin = create_cave_scenario()
    with tempfile.TemporaryDirectory() as folder:
        for name, suffix, preset, target in (
            ("headless, H.264 normal", ".mp4", NORMAL, HEADLESS_TARGET),
            ("headless, H.264 draft", ".mp4", DRAFT, None),
            ("headless, H.264 high", ".mp4", HIGH, None),
            ("headless, VP9 normal", WEBM, NORMAL, None),
        ):
            setup.progress.update_bar(f"record: {name}")
            rate = max(headless_frame_rate(begin, Path(folder), suffix, preset) for _ in range(setup.rounds))
            table.rows.append(BenchRow(name, rate, "frames/s", target=target))
        for part, milliseconds in frame_step_times(begin, Path(folder)).items():
            table.rows.append(BenchRow(f"of a frame: {part}", milliseconds, "ms"))
        setup.progress.update_bar("record: the window")
        window = best_window_times(begin, Path(folder), setup.rounds)
    ratio = window.recording_ms / window.not_recording_ms
    table.rows.append(
        BenchRow(
            "UI frame while recording", window.recording_ms, "ms", window.not_recording_ms, ratio, FRAME_TIME_TARGET
        )
    )
    table.rows.append(BenchRow("frames dropped", window.dropped_frames, "frames", target=DROPPED_TARGET))
    table.notes += [
        f"the window of {_WINDOW_SIZE[0]}x{_WINDOW_SIZE[1]} runs {FPS} ticks a second; "
        "a frame is ticks, drawing and recording,",
        f"the median of {_WINDOW_S:g} s with and without; the recording is drawn and encoded by another process",
        "of a frame: processor time of one thread; drawing is one thread's work, converting and encoding another's",
    ]
    return table


def create_cave_scenario() -> Scenario:
    """Return a scenario of a large cave with four agents, two of which still search at the end of the measurement."""
    generated = generate_map("caves", {"width": SIDE, "height": SIDE, "grain": 4, "seed": 1})
    grid = generated.grid
    return Scenario(map_rows_of_grid(grid), generated.start, generated.goal, _AGENTS, "Bench", budget=64, grid=grid)


# --- without a window -----------------------------------------------------------------------------


def headless_frame_rate(begin: Scenario, folder: Path, suffix: str, preset: str) -> float:
    """Return the frames per second of filming, measured from the first frame to the finished file."""
    times: list[float] = []

    def told(film: Film) -> None:
        if not times:
            times.append(time.perf_counter())

    options = FilmOptions(SIZE, FPS, quality_preset=preset)
    done = export_video(
        ReplaySpec(begin), folder / f"bench{suffix}", (_FIRST_TICK, _FIRST_TICK + _FRAME_COUNT), options, told=told
    )
    seconds = time.perf_counter() - times[0]
    done.path.unlink()
    return (done.frame_count - 1) / seconds


def frame_step_times(begin: Scenario, folder: Path) -> dict[str, float]:
    """Return the mean processor time of each step of a frame in milliseconds, summed over all threads."""
    options = FilmOptions(SIZE, FPS)
    replay = ReplaySpec(begin).start_rerun()
    replay.seek_to_tick(_FIRST_TICK)
    stage = create_renderer(replay, options, Appearance())
    stage.draw_picture()
    spent = dict.fromkeys(("simulating", "drawing", "copying", "converting", "converting and encoding"), 0.0)
    with open(folder / "parts.part", "wb", buffering=0) as file:
        encoder = video_encoding.VideoEncoder(file, SIZE, Encoding(fps=FPS))
        pixels = copied_pixels(stage.surface)
        steps: dict[str, Callable[[], object]] = {
            "simulating": lambda: replay.seek_to_tick(replay.tick + 1),
            "drawing": stage.draw_picture,
            "copying": lambda: np.copyto(pixels, copied_pixels(stage.surface)),
            "converting": lambda: encoder.to_codec_frame(pixels),
            "converting and encoding": lambda: encoder.add(pixels),
        }
        for _ in range(_PROFILED_FRAMES):
            for name, step in steps.items():
                before = time.process_time()
                step()
                spent[name] += time.process_time() - before
        encoder.close()
    spent["encoding"] = spent.pop("converting and encoding") - spent["converting"]
    return {name: 1000.0 * seconds / _PROFILED_FRAMES for name, seconds in spent.items()}


# --- with a window --------------------------------------------------------------------------------


@dataclass(frozen=True)
class WindowTimes:
    """Median milliseconds of a frame of the window with and without recording, and the number of dropped frames."""

    recording_ms: float
    not_recording_ms: float
    dropped_frames: int


def best_window_times(begin: Scenario, folder: Path, rounds: int) -> WindowTimes:
    """Return the fastest of several measurements, with the sum of the dropped frames of all measurements."""
    measured = [measure_window_times(begin, folder / f"window{i}.mp4") for i in range(rounds)]
    best = min(measured, key=lambda window: window.recording_ms + window.not_recording_ms)
    return replace(best, dropped_frames=sum(window.dropped_frames for window in measured))


def measure_window_times(begin: Scenario, path: Path) -> WindowTimes:
    app = _open_window(begin)
    app.session.advance_by_ticks(_FIRST_TICK)
    without = _median_frame_ms(app, None)
    studio = WorkerHandle.start_recording(
        path, app.session, FilmOptions(SIZE, FPS), app.window.view_overrides.current_appearance()
    )
    first = app.session.tick
    while studio.last_report.phase == "starting":  # wait until the recording process has loaded the kernels
        time.sleep(0.05)
    with_recording = _median_frame_ms(app, studio)
    studio.stop_recording()
    report: WorkerReport = studio.wait_until_done(_PATIENCE_S)
    return WindowTimes(with_recording, without, app.session.tick - first + 1 - report.frames)


def _open_window(begin: Scenario) -> App:
    pygame.display.init()
    pygame.font.init()
    window = pygame.display.set_mode(_WINDOW_SIZE)
    app = App(Session(begin), Settings(speed=FPS, window_size=_WINDOW_SIZE), window)
    app.window.player.set_speed(FPS)
    return app


def _median_frame_ms(app: App, studio: WorkerHandle | None) -> float:
    """Run the window at its normal pace and return the median milliseconds of a frame."""
    app.window.player.play()
    spent = []
    end = time.perf_counter() + _WINDOW_S
    deadline = time.perf_counter()
    while time.perf_counter() < end:
        before = time.perf_counter()
        app.run_frame(0.0 if studio is not None and studio.must_simulation_wait else 1.0 / FPS)
        if studio is not None:
            studio.send_window_changes(app.session, app.window.view_overrides.current_appearance())
        spent.append(time.perf_counter() - before)
        deadline = max(deadline + 1.0 / FPS, time.perf_counter())
        time.sleep(max(0.0, deadline - time.perf_counter()))
    app.window.player.pause()
    return 1000.0 * sorted(spent)[len(spent) // 2]
