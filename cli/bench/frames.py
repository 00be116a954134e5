"""Bench `frames`: time of one picture of the window while agents walk, and the maps' share of it.

Everything that draws is imported when the bench runs: the other benches need no window.
"""

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cli.bench.setup import Setup
from cli.bench.table import Row, Table, Target
from sim.changes import RandomChanges
from sim.commands import AgentConfig
from sim.files.scenario import Scenario, rows_of
from sim.generate import generate
from sim.grid import Grid

if TYPE_CHECKING:
    from ui.app import App

FRAMES = 200
FRAME_MS = 1000.0 / 60.0
PAINTED_A_SECOND = 1000
WARM_FRAMES = 20
BUDGET = 64
AGENTS = (
    AgentConfig("tba"),
    AgentConfig("tb-wa", params={"weight": 2.0}),
    AgentConfig("tb-gbfs"),
    AgentConfig("rtb-wa"),
)
_CHANGES = RandomChanges(10, 0.2)


@dataclass(frozen=True)
class Case:
    """A window with some panels; `zoom` None shows the whole map."""

    panels: int
    side: int
    size: tuple[int, int]
    zoom: float | None = None
    heat: str = "off"
    median_ms: float | None = None  # targets
    p99_ms: float | None = None

    @property
    def name(self) -> str:
        view = "fit" if self.zoom is None else f"{self.zoom:g} px a cell"
        heat = "" if self.heat == "off" else f", heat {self.heat}"
        return f"{self.panels} x {self.side}^2 at {self.size[0]} x {self.size[1]}, {view}{heat}"


HD, WIDE = (1920, 1080), (1600, 900)
CASES = (
    Case(4, 512, WIDE, median_ms=4.0, p99_ms=8.0),
    Case(4, 512, WIDE, zoom=3.0, median_ms=4.0, p99_ms=8.0),
    Case(4, 512, WIDE, zoom=16.0, median_ms=4.0, p99_ms=8.0),
    Case(4, 512, WIDE, heat="visits", median_ms=4.0, p99_ms=8.0),
    Case(8, 1024, HD, median_ms=6.0),
    Case(8, 1024, HD, zoom=16.0, median_ms=6.0),
    Case(8, 1024, HD, heat="expansions", median_ms=6.0),
)
_SHARE_OF_MAPS = {4: 2.0, 8: 4.0}  # ms that the maps alone may take, by the number of panels


def run(setup: Setup, cases: tuple[Case, ...] = CASES, frames: int = FRAMES) -> Table:
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    table = Table(f"frames: every layer on, a tick before each of {frames} pictures, changes of the map each 10 ticks")
    for case in cases:
        setup.progress.show(f"frames: {case.name}")
        whole, maps = measured(case, setup.rounds, frames)
        _add_rows(table, case, "whole window", whole, case.median_ms, case.p99_ms)
        _add_rows(table, case, "of that the maps", maps, _SHARE_OF_MAPS.get(case.panels), None)
    setup.progress.show("frames: painting")
    _add_painting(table, setup.rounds, frames)
    table.notes.append("processor time of the drawing thread, ticks not counted; best round; presenting costs more")
    table.notes.append(
        f"painting: a frame with a piece of a stroke of {PAINTED_A_SECOND:,} cells a second, a tick and a picture"
    )
    return table


def _add_painting(table: Table, rounds: int, frames: int) -> None:
    """Whether the brush costs frames while four agents run."""
    case = Case(4, 512, WIDE)
    app = make_app(case)
    ms = min((_painting(app, frames) for _ in range(rounds)), key=np.median)
    name = f"{case.name}, painting"
    table.rows.append(Row(f"{name}: median", float(np.median(ms)), "ms"))
    table.rows.append(Row(f"{name}: longest", float(ms.max()), "ms"))
    lost = float((ms > FRAME_MS).sum())
    table.rows.append(Row(f"{name}: frames lost", lost, "frames", target=Target(0.0, is_upper=True)))


def _painting(app: "App", frames: int) -> np.ndarray:
    """Milliseconds of each frame of a stroke that winds over the map."""
    app.session.reset(keeps_map=False)
    width, each = app.session.world.grid.width, PAINTED_A_SECOND // 60
    app.session.begin_stroke()
    ms = np.zeros(frames)
    for frame in range(frames):
        watch, first = Stopwatch(), frame * each
        cells = [(first + i) // (width - 20) * 3 * width + (first + i) % (width - 20) + 10 for i in range(each)]

        def paint_and_draw(cells: list[int] = cells) -> None:
            app.session.paint(cells, block=True)
            app.session.advance(1)
            app.draw()

        watch.around(paint_and_draw)()
        ms[frame] = watch.ms
    app.session.end_stroke()
    return ms


def _add_rows(
    table: Table, case: Case, part: str, ms: np.ndarray, median_ms: float | None, p99_ms: float | None
) -> None:
    for word, value, limit in (("median", np.median(ms), median_ms), ("p99", np.percentile(ms, 99), p99_ms)):
        target = Target(limit, is_upper=True) if limit else None
        table.rows.append(Row(f"{case.name}: {part}, {word}", float(value), "ms", target=target))


def measured(case: Case, rounds: int, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Milliseconds of each picture in the best round: the whole window, and the maps' part of it."""
    from ui import app as window_module

    app = make_app(case)
    gc.collect()
    gc.freeze()  # as the window does
    watch = Stopwatch()
    window = vars(window_module)
    update_all = window["update_all"]
    app.renderer.draw = watch.around(app.renderer.draw)  # type: ignore[method-assign]
    window["update_all"] = watch.around(update_all)
    try:
        results = [_round(app, case, frames, watch) for _ in range(rounds)]
    finally:
        window["update_all"] = update_all
    return min((whole for whole, _ in results), key=np.median), min((maps for _, maps in results), key=np.median)


class Stopwatch:
    """Adds up the processor time that some functions take."""

    def __init__(self) -> None:
        self.ms = 0.0

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, timed."""

        def timed(*args: Any, **keywords: Any) -> Any:
            before = time.thread_time()
            result = work(*args, **keywords)
            self.ms += (time.thread_time() - before) * 1000.0
            return result

        return timed


def make_app(case: Case) -> "App":
    """The window with the case's agents, about to start at one corner of a map of caves."""
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
    agents = tuple(AGENTS[i % len(AGENTS)] for i in range(case.panels))
    run = Scenario(rows_of(grid), made.start, made.goal, agents, budget=BUDGET, changes=_CHANGES, grid=grid)
    layers = dict.fromkeys(LAYER_BY_KEY, True)
    settings = Settings(layers=layers, heat=HeatSetting(case.heat), window_size=case.size)
    return App(Session(run), settings, window)


def _round(app: "App", case: Case, frames: int, maps_watch: Stopwatch) -> tuple[np.ndarray, np.ndarray]:
    """Pictures from the start of the run on."""
    app.session.reset(keeps_map=False)
    whole, maps = np.zeros(frames), np.zeros(frames)
    for frame in range(-WARM_FRAMES, frames):
        app.session.advance(1)
        _look(app, case)
        whole_watch, maps_watch.ms = Stopwatch(), 0.0
        whole_watch.around(app.draw)()
        if frame >= 0:
            whole[frame], maps[frame] = whole_watch.ms, maps_watch.ms
    return whole, maps


def _look(app: "App", case: Case) -> None:
    """The whole map, or the surroundings of the first agent."""
    from ui.model.camera import Camera

    app.cameras.forget()
    if case.zoom is None:
        return
    panel, boxes = app.panels()[0]
    size, grid = (boxes.map[2], boxes.map[3]), panel.snapshot.grid
    x, y = grid.xy(panel.view.position)
    app.cameras.put(panel.key, Camera(case.zoom).centred_on(x, y, *size), size, (grid.width, grid.height))
