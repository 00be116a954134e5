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

from cli.bench.setup import Setup
from cli.bench.table import Row, Table, Target
from sim.changes import RandomChanges
from sim.commands import AgentConfig
from sim.files.map_source import rows_of
from sim.files.scenario import Scenario
from sim.generate import generate
from sim.grid import Grid
from sim.kernels.loading import Loader
from sim.kernels.ready import make_ready
from sim.placing import Drawn, spread
from ui.model import painting

if TYPE_CHECKING:
    from ui.app import App

FRAMES = 2000  # maximum number of measured frames per case
FRAME_MS = 1000.0 / 60.0  # milliseconds of a frame at 60 frames per second; a longer frame counts as lost
PAINTED_A_SECOND = 1000  # cells that a stroke of the brush paints per second
BUDGET = 64  # expansions per tick
AGENTS = (
    AgentConfig("tba"),
    AgentConfig("tb-wa", params={"weight": 2.0}),
    AgentConfig("tb-gbfs"),
    AgentConfig("rtb-wa"),
)
CROWD = (AgentConfig("tb-wa", "units", {"weight": 2.5}, 25),)
LEARNERS = (AgentConfig("lss-lrta"), AgentConfig("rtaa"), AgentConfig("da-rtaa"), AgentConfig("lrta"))
_CHANGES = RandomChanges(10, 0.2)
_IS_MAC = sys.platform == "darwin"


@dataclass(frozen=True)
class Case:
    """Measured window: its map, panels, size, agents and targets."""

    panels: int  # number of panels
    side: int  # side of the map in cells
    size: tuple[int, int]  # size of the window in pixels
    zoom: float | None = None  # pixels per cell, None if the whole map is shown
    heat: str = "off"
    agents: tuple[AgentConfig, ...] = AGENTS
    word: str = ""  # text added to the name of the case
    hovers: bool = False  # whether the mouse moves over the map, with the inspector open
    dialog: str = ""  # command that opens a dialog during the measurement
    units: int = 0  # size of the crowd that replaces each agent, 0 for single agents
    speed: int = 60  # ticks per second
    share: float = 1.0  # fraction of the bench's number of frames that this case measures
    median_ms: float | None = None  # target: maximum of the median time of a frame, in milliseconds
    p99_ms: float | None = None  # target: maximum of the 99th percentile, in milliseconds

    @property
    def name(self) -> str:
        view = "fit" if self.zoom is None else f"{self.zoom:g} px a cell"
        more = ("" if self.heat == "off" else f", heat {self.heat}") + (f", {self.word}" if self.word else "")
        return f"{self.panels} x {self.side}^2 at {self.size[0]} x {self.size[1]}, {view}{more}"


HD, WIDE = (1920, 1080), (1600, 900)
CASES = (
    Case(4, 512, WIDE, median_ms=5.0, p99_ms=10.0),
    Case(8, 1024, HD, median_ms=8.0, p99_ms=14.0),
    Case(4, 512, WIDE, zoom=3.0, share=0.2, median_ms=5.0, p99_ms=10.0),
    Case(4, 512, WIDE, zoom=16.0, share=0.2, median_ms=5.0, p99_ms=10.0),
    Case(4, 512, WIDE, heat="visits", share=0.2, median_ms=5.0, p99_ms=10.0),
    Case(4, 512, WIDE, agents=LEARNERS, word="learning", share=0.2, median_ms=5.0, p99_ms=10.0),
    Case(4, 512, WIDE, word="hover", hovers=True, share=0.2, median_ms=5.0, p99_ms=10.0),
    Case(4, 512, WIDE, word="a dialog open", dialog="compare_table", share=0.2, median_ms=5.0, p99_ms=10.0),
    Case(8, 1024, HD, zoom=16.0, share=0.2, median_ms=8.0, p99_ms=14.0),
    Case(1, 512, HD, agents=CROWD, units=500, speed=30, word="500 units", share=0.5, p99_ms=FRAME_MS),
    Case(8, 1024, HD, heat="expansions", share=0.2, median_ms=8.0, p99_ms=14.0),
)


@dataclass
class Frames:
    """Measured times of all frames, in milliseconds."""

    wall: list[float] = field(default_factory=list)  # elapsed time of each frame
    processor: list[float] = field(default_factory=list)  # processor time of each frame in the thread that draws


def run(setup: Setup, cases: tuple[Case, ...] = CASES, frames: int = FRAMES) -> Table:
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.name == "nt" or _IS_MAC):
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    table = Table(
        f"frames: time for events, tick, drawing and presenting; up to {frames:,} frames, map changes every 10 ticks"
    )
    setup.progress.show("frames: preparing")
    _prepare()
    for case in cases:
        setup.progress.show(f"frames: {case.name}")
        _add_rows(table, case, measured(case, max(20, int(frames * case.share))))
    setup.progress.show("frames: painting")
    _add_painting(table, setup.rounds, max(20, frames // 10))
    table.notes.append(
        "elapsed milliseconds; control: processor time of the same thread, which other programs do not disturb"
    )
    table.notes.append("lost: frames longer than 16.7 ms; control: frames with so much processor time")
    table.notes.append(
        f"painting: a frame with part of a stroke of {PAINTED_A_SECOND:,} cells per second, a tick and drawing"
    )
    return table


def _prepare() -> None:
    """Compile everything that a window compiles in the background while it shows "preparing".

    If a frame is lost to compilation in spite of this, a user would lose it as well.
    """
    from ui.warmup import all_parts

    make_ready(all_parts())


def _add_painting(table: Table, rounds: int, frames: int) -> None:
    """Add the rows about painting with the brush while four agents run."""
    case = Case(4, 512, WIDE)
    app = make_app(case)
    ms = min((_painting_ms(app, frames) for _ in range(rounds)), key=np.median)
    name = f"{case.name}, painting"
    table.rows.append(Row(f"{name}: median", float(np.median(ms)), "ms"))
    table.rows.append(Row(f"{name}: longest", float(ms.max()), "ms"))
    lost = float((ms > FRAME_MS).sum())
    table.rows.append(Row(f"{name}: frames lost", lost, "frames", target=Target(0.0, is_upper=True)))


def _painting_ms(app: "App", frames: int) -> np.ndarray:
    """Return the milliseconds of each frame while the brush paints one stroke along the rows of the map."""
    app.session.reset(keeps_map=False)
    width, each = app.session.run.world.grid.width, PAINTED_A_SECOND // 60
    app.session.history.begin(is_stroke=True)
    ms = np.zeros(frames)
    for frame in range(frames):
        watch, first = Stopwatch(), frame * each
        cells = [(first + i) // (width - 20) * 3 * width + (first + i) % (width - 20) + 10 for i in range(each)]

        def paint_and_draw(cells: list[int] = cells) -> None:
            painting.paint(app.session, cells, block=True)
            app.session.advance(1)
            app.draw()

        watch.around(paint_and_draw)()
        ms[frame] = watch.ms
    app.session.history.end()
    return ms


def _add_rows(table: Table, case: Case, frames: Frames) -> None:
    wall, processor = np.array(frames.wall), np.array(frames.processor)
    for word, of, limit in (
        ("median", np.median, case.median_ms),
        ("p99", lambda ms: np.percentile(ms, 99), case.p99_ms),
        ("longest", np.max, FRAME_MS),
    ):
        target = Target(limit, is_upper=True) if limit else None
        table.rows.append(Row(f"{case.name}: {word}", float(of(wall)), "ms", float(of(processor)), target=target))
    lost, by_processor = (float((ms > FRAME_MS).sum()) for ms in (wall, processor))
    name = f"{case.name}: lost of {wall.size:,}"
    table.rows.append(Row(name, lost, "frames", by_processor, target=Target(0.0, is_upper=True)))


def measured(case: Case, frames: int) -> Frames:
    """Measure a number of frames of a window at its normal pace; a run that ends is restarted between two frames."""
    app = make_app(case)
    try:
        return _run(app, case, frames)
    finally:
        app.window.dialogs.dialog = None


def _run(app: "App", case: Case, frames: int) -> Frames:
    from ui.pace import wait_until

    found, loader = Frames(), Loader("ui.draw")
    app.window.player.set_speed(case.speed)
    app.window.player.may_put_off = True  # as in normal use, the player may defer work to a later frame
    _begin(app, case)
    gc.collect()
    gc.freeze()  # as the program does, so that collections skip the compiler's objects
    app.draw()
    deadline = time.perf_counter()
    for frame in range(frames):
        if app.session.run.is_over:
            app.session.reset(keeps_map=False)
            _begin(app, case)
            deadline = time.perf_counter()
        _look(app, case)
        _time_frame(app, case, frame, found)
        deadline = max(deadline + FRAME_MS / 1000.0, time.perf_counter())
        wait_until(deadline, loader)
    return found


def _begin(app: "App", case: Case) -> None:
    """Open the dialog of the case, if any, and start the run."""
    if case.dialog and app.window.dialogs.dialog is None:
        app.window.run(case.dialog)
    app.window.player.play()


def _time_frame(app: "App", case: Case, frame: int, found: Frames) -> None:
    """Draw and present a frame, and append its times to `found`."""
    wall, processor = time.perf_counter(), time.thread_time()
    if case.hovers:
        _move_mouse(app, frame)
    app.frame(FRAME_MS / 1000.0)
    app.present()
    found.wall.append((time.perf_counter() - wall) * 1000.0)
    found.processor.append((time.thread_time() - processor) * 1000.0)


def _move_mouse(app: "App", frame: int) -> None:
    """Move the mouse a few pixels over the map of the first panel."""
    import pygame

    left, top, width, height = app.window.scene.layout.panels[0].map
    position = int(left + 7 * frame % width), int(top + 3 * frame % height)
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=position, rel=(7, 3), buttons=(0, 0, 0)))


class Stopwatch:
    """Sum of the processor time of the wrapped functions, in milliseconds."""

    def __init__(self) -> None:
        self.ms = 0.0

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls `work` and adds its processor time."""

        def timed(*args: Any, **keywords: Any) -> Any:
            before = time.thread_time()
            result = work(*args, **keywords)
            self.ms += (time.thread_time() - before) * 1000.0
            return result

        return timed


def make_app(case: Case) -> "App":
    """Return a window for a case, with its agents at the start of a map of caves."""
    import pygame

    from ui.app import App
    from ui.draw.layers import LAYER_BY_KEY
    from ui.model.layers import HeatSetting
    from ui.model.session import Session
    from ui.model.settings import Settings

    pygame.display.init()
    pygame.font.init()
    window = pygame.display.set_mode(case.size)
    made = generate("caves", {"width": case.side, "height": case.side, "grain": 4, "seed": 3})
    grid: Grid = made.grid
    agents = tuple(case.agents[i % len(case.agents)] for i in range(case.panels))
    if case.units:
        agents = tuple(unit for agent in agents for unit in spread(agent, case.units, Drawn(7, 100.0), grid))
    changes = None if case.units else _CHANGES
    run = Scenario(rows_of(grid), made.start, made.goal, agents, budget=BUDGET, changes=changes, grid=grid)
    layers = dict.fromkeys(LAYER_BY_KEY, True)
    settings = Settings(layers=layers, heat=HeatSetting(case.heat), window_size=case.size)
    if case.hovers:
        settings.sidebar_tab = "inspect"
    return App(Session(run), settings, window)


def _look(app: "App", case: Case) -> None:
    """Set the camera to the whole map, or to the surroundings of the first agent if the case has a zoom."""
    from ui.model.camera import Camera

    app.window.cameras.forget()
    if case.zoom is None:
        return
    panel, boxes = app.window.scene.panels()[0]
    size, grid = (boxes.map[2], boxes.map[3]), panel.snapshot.grid
    x, y = grid.xy(panel.view.position)
    app.window.cameras.put(panel.key, Camera(case.zoom).centred_on(x, y, *size), size, (grid.width, grid.height))
