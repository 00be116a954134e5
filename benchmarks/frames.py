"""Bench `frames`: times of the frames of a window under normal conditions.

A frame includes everything between two pictures: events, a tick, drawing and presenting. The window runs at its normal
pace, on a real screen if there is one, with a map that changes every 10 ticks. Work between frames is done as usual.

Modules that draw are imported when the bench runs, because the other benches need no window.
"""

import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from files.map_source import map_rows_of_grid
from files.scenario import Scenario
from sim.agent_placing import RandomPlacing, place_group_members
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.jit.loading import KernelLoader
from sim.jit.ready import compile_missing_kernel_sets
from sim.map_generators import generate_map
from sim.world_commands import AgentConfig
from ui.model import cell_edits

if TYPE_CHECKING:
    from ui.app import App

FRAMES = 2000  # maximum number of measured frames per case
FRAME_MS = 1000.0 / 60.0  # milliseconds of a frame at 60 frames per second; a longer frame counts as lost
PAINTED_PER_SECOND = 1000  # cells that a stroke of the brush paints per second
BUDGET = 64  # expansions per tick
AGENTS = (
    AgentConfig("tba"),
    AgentConfig("tb-wa", params={"weight": 2.0}),
    AgentConfig("tb-gbfs"),
    AgentConfig("rtb-wa"),
)
CROWD = (AgentConfig("tb-wa", "units", {"weight": 2.5}, 25),)
LEARNERS = (AgentConfig("lss-lrta"), AgentConfig("rtaa"), AgentConfig("da-rtaa"), AgentConfig("lrta"))
_CHANGES = RandomChangeSchedule(10, 0.2)
_IS_MAC = sys.platform == "darwin"


@dataclass(frozen=True)
class FrameCase:
    """Measured window: its map, panels, size, agents and targets."""

    panel_count: int  # number of panels
    side: int  # side of the map in cells
    size: tuple[int, int]  # size of the window in pixels
    zoom: float | None = None  # pixels per cell, None if the whole map is shown
    heat: str = "off"
    agents: tuple[AgentConfig, ...] = AGENTS
    name_suffix: str = ""  # text added to the name of the case
    moves_mouse: bool = False  # whether the mouse moves over the map, with the inspector open
    dialog_name: str = ""  # command that opens a dialog during the measurement
    unit_count: int = 0  # size of the crowd that replaces each agent, 0 for single agents
    speed: int = 60  # ticks per second
    share: float = 1.0  # fraction of the bench's number of frames that this case measures
    median_ms: float | None = None  # target: maximum of the median time of a frame, in milliseconds
    p99_ms: float | None = None  # target: maximum of the 99th percentile, in milliseconds

    @property
    def name(self) -> str:
        view = "fit" if self.zoom is None else f"{self.zoom:g} px a cell"
        more = ("" if self.heat == "off" else f", heat {self.heat}") + (
            f", {self.name_suffix}" if self.name_suffix else ""
        )
        return f"{self.panel_count} x {self.side}^2 at {self.size[0]} x {self.size[1]}, {view}{more}"


HD, WIDE = (1920, 1080), (1600, 900)
CASES = (
    FrameCase(4, 512, WIDE, median_ms=5.0, p99_ms=10.0),
    FrameCase(8, 1024, HD, median_ms=8.0, p99_ms=14.0),
    FrameCase(4, 512, WIDE, zoom=3.0, share=0.2, median_ms=5.0, p99_ms=10.0),
    FrameCase(4, 512, WIDE, zoom=16.0, share=0.2, median_ms=5.0, p99_ms=10.0),
    FrameCase(4, 512, WIDE, heat="visits", share=0.2, median_ms=5.0, p99_ms=10.0),
    FrameCase(4, 512, WIDE, agents=LEARNERS, name_suffix="learning", share=0.2, median_ms=5.0, p99_ms=10.0),
    FrameCase(4, 512, WIDE, name_suffix="hover", moves_mouse=True, share=0.2, median_ms=5.0, p99_ms=10.0),
    FrameCase(
        4, 512, WIDE, name_suffix="a dialog open", dialog_name="compare_table", share=0.2, median_ms=5.0, p99_ms=10.0
    ),
    FrameCase(8, 1024, HD, zoom=16.0, share=0.2, median_ms=8.0, p99_ms=14.0),
    FrameCase(1, 512, HD, agents=CROWD, unit_count=500, speed=30, name_suffix="500 units", share=0.5, p99_ms=FRAME_MS),
    FrameCase(8, 1024, HD, heat="expansions", share=0.2, median_ms=8.0, p99_ms=14.0),
)


@dataclass
class FrameTimes:
    """Measured times of all frames, in milliseconds."""

    wall_clock_ms: list[float] = field(default_factory=list)  # elapsed time of each frame
    processor_ms: list[float] = field(default_factory=list)  # processor time of each frame in the thread that draws


def run(setup: BenchSetup, cases: tuple[FrameCase, ...] = CASES, frames: int = FRAMES) -> BenchTable:
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.name == "nt" or _IS_MAC):
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    table = BenchTable(
        f"frames: time for events, tick, drawing and presenting; up to {frames:,} frames, map changes every 10 ticks"
    )
    setup.progress.update_bar("frames: preparing")
    _compile_kernels_of_window()
    for case in cases:
        setup.progress.update_bar(f"frames: {case.name}")
        _add_frame_rows(table, case, measure_frames(case, max(20, int(frames * case.share))))
    setup.progress.update_bar("frames: painting")
    _add_painting_rows(table, setup.rounds, max(20, frames // 10))
    table.notes.append(
        "elapsed milliseconds; control: processor time of the same thread, which other programs do not disturb"
    )
    table.notes.append("lost: frames longer than 16.7 ms; control: frames with so much processor time")
    table.notes.append(
        f"painting: a frame with part of a stroke of {PAINTED_PER_SECOND:,} cells per second, a tick and drawing"
    )
    return table


def _compile_kernels_of_window() -> None:
    """Compile everything that a window compiles in the background while it shows "preparing".

    If a frame is lost to compilation in spite of this, a user would lose it as well.
    """
    from ui.warmup import all_kernel_sets

    compile_missing_kernel_sets(all_kernel_sets())


def _add_painting_rows(table: BenchTable, rounds: int, frames: int) -> None:
    """Add the rows about painting with the brush while four agents run."""
    case = FrameCase(4, 512, WIDE)
    app = create_app(case)
    ms = min((_painting_ms(app, frames) for _ in range(rounds)), key=np.median)
    name = f"{case.name}, painting"
    table.rows.append(BenchRow(f"{name}: median", float(np.median(ms)), "ms"))
    table.rows.append(BenchRow(f"{name}: longest", float(ms.max()), "ms"))
    lost_frames = float((ms > FRAME_MS).sum())
    table.rows.append(
        BenchRow(f"{name}: frames lost", lost_frames, "frames", target=BenchTarget(0.0, is_upper_limit=True))
    )


def _painting_ms(app: "App", frames: int) -> np.ndarray:
    """Return the milliseconds of each frame while the brush paints one stroke along the rows of the map."""
    app.session.start_over(keeps_map=False)
    width, each = app.session.run.world.grid.width, PAINTED_PER_SECOND // 60
    app.session.undo_history.open_entry(is_stroke=True)
    ms = np.zeros(frames)
    for frame in range(frames):
        watch, first = Stopwatch(), frame * each
        cells = [(first + i) // (width - 20) * 3 * width + (first + i) % (width - 20) + 10 for i in range(each)]

        def paint_and_draw(cells: list[int] = cells) -> None:
            cell_edits.block_or_free_cells(app.session, cells, block=True)
            app.session.advance_by_ticks(1)
            app.draw_window()

        watch.timed_function(paint_and_draw)()
        ms[frame] = watch.total_ms
    app.session.undo_history.close_entry()
    return ms


def _add_frame_rows(table: BenchTable, case: FrameCase, frames: FrameTimes) -> None:
    wall, processor = np.array(frames.wall_clock_ms), np.array(frames.processor_ms)
    for word, of, limit in (
        ("median", np.median, case.median_ms),
        ("p99", lambda ms: np.percentile(ms, 99), case.p99_ms),
        ("longest", np.max, FRAME_MS),
    ):
        target = BenchTarget(limit, is_upper_limit=True) if limit else None
        table.rows.append(BenchRow(f"{case.name}: {word}", float(of(wall)), "ms", float(of(processor)), target=target))
    lost_frames, by_processor = (float((ms > FRAME_MS).sum()) for ms in (wall, processor))
    name = f"{case.name}: lost of {wall.size:,}"
    table.rows.append(BenchRow(name, lost_frames, "frames", by_processor, target=BenchTarget(0.0, is_upper_limit=True)))


def measure_frames(case: FrameCase, frames: int) -> FrameTimes:
    """Measure a number of frames of a window at its normal pace; a run that ends is restarted between two frames."""
    app = create_app(case)
    try:
        return _measure_frames_of_run(app, case, frames)
    finally:
        app.window.dialogs.current_dialog = None


def _measure_frames_of_run(app: "App", case: FrameCase, frames: int) -> FrameTimes:
    from ui.frame_pacer import load_kernels_and_sleep_until

    times, loader = FrameTimes(), KernelLoader("ui.draw")
    app.window.player.set_speed(case.speed)
    app.window.player.may_postpone_ticks = True  # as in normal use, the player may defer work to a later frame
    _start_run_of_case(app, case)
    gc.collect()
    gc.freeze()  # as the program does, so that collections skip the compiler's objects
    app.draw_window()
    deadline = time.perf_counter()
    for frame in range(frames):
        if app.session.run.is_over:
            app.session.start_over(keeps_map=False)
            _start_run_of_case(app, case)
            deadline = time.perf_counter()
        _set_camera(app, case)
        _time_frame(app, case, frame, times)
        deadline = max(deadline + FRAME_MS / 1000.0, time.perf_counter())
        load_kernels_and_sleep_until(deadline, loader)
    return times


def _start_run_of_case(app: "App", case: FrameCase) -> None:
    """Open the dialog of the case, if any, and start the run."""
    if case.dialog_name and app.window.dialogs.current_dialog is None:
        app.window.run_command(case.dialog_name)
    app.window.player.play()


def _time_frame(app: "App", case: FrameCase, frame: int, times: FrameTimes) -> None:
    """Draw and present a frame, and append its times to `times`."""
    wall, processor = time.perf_counter(), time.thread_time()
    if case.moves_mouse:
        _move_mouse(app, frame)
    app.run_frame(FRAME_MS / 1000.0)
    app.present_frame()
    times.wall_clock_ms.append((time.perf_counter() - wall) * 1000.0)
    times.processor_ms.append((time.thread_time() - processor) * 1000.0)


def _move_mouse(app: "App", frame: int) -> None:
    """Move the mouse a few pixels over the map of the first panel."""
    import pygame

    left, top, width, height = app.window.map_view.layout.panel_boxes[0].map_box
    position = int(left + 7 * frame % width), int(top + 3 * frame % height)
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=position, rel=(7, 3), buttons=(0, 0, 0)))


class Stopwatch:
    """Sum of the processor time of the wrapped functions, in milliseconds."""

    def __init__(self) -> None:
        self.total_ms = 0.0

    def timed_function(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls `work` and adds its processor time."""

        def timed(*args: Any, **keywords: Any) -> Any:
            before = time.thread_time()
            result = work(*args, **keywords)
            self.total_ms += (time.thread_time() - before) * 1000.0
            return result

        return timed


def create_app(case: FrameCase) -> "App":
    """Return a window for a case, with its agents at the start of a map of caves."""
    import pygame

    from ui.app import App
    from ui.draw.layers import LAYER_BY_KEY
    from ui.model.layer_state import HeatSetting
    from ui.model.session import Session
    from ui.model.settings import Settings

    pygame.display.init()
    pygame.font.init()
    window = pygame.display.set_mode(case.size)
    generated = generate_map("caves", {"width": case.side, "height": case.side, "grain": 4, "seed": 3})
    grid: Grid = generated.grid
    agents = tuple(case.agents[i % len(case.agents)] for i in range(case.panel_count))
    if case.unit_count:
        agents = tuple(
            unit
            for agent in agents
            for unit in place_group_members(agent, case.unit_count, RandomPlacing(7, 100.0), grid)
        )
    changes = None if case.unit_count else _CHANGES
    run = Scenario(
        map_rows_of_grid(grid), generated.start, generated.goal, agents, budget=BUDGET, changes=changes, grid=grid
    )
    layers = dict.fromkeys(LAYER_BY_KEY, True)
    settings = Settings(layers=layers, heat=HeatSetting(case.heat), window_size=case.size)
    if case.moves_mouse:
        settings.sidebar_tab = "inspect"
    return App(Session(run), settings, window)


def _set_camera(app: "App", case: FrameCase) -> None:
    """Set the camera to the whole map, or to the surroundings of the first agent if the case has a zoom."""
    from ui.model.camera import Camera

    app.window.cameras.reset_views()
    if case.zoom is None:
        return
    panel, boxes = app.window.map_view.panels_with_boxes()[0]
    size, grid = (boxes.map_box[2], boxes.map_box[3]), panel.snapshot.grid
    x, y = grid.xy(panel.walker_view.position)
    app.window.cameras.store_camera_of_panel(
        panel.key, Camera(case.zoom).centred_on_point(x, y, *size), size, (grid.width, grid.height)
    )
