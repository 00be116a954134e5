"""The window: events in, commands to the session, ticks by the clock, a picture out.

One frame is `handle` every event, `pass_time`, `draw`. Tests drive the same three with events of their own.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")  # no GPU: presenting through llvmpipe costs 7 ms a frame

import pygame
import pygame_gui

from agents.registry import SPECS
from sim import commands
from sim.commands import AgentConfig
from sim.files.journal import find_crashed
from sim.files.map import ScenFile
from sim.files.scenario import Scenario
from sim.files.session import Saved
from sim.params import ConfigError, Param, Value, printable
from ui.commands.table import COMMANDS
from ui.dialogs.agent_editor import AgentEditor
from ui.dialogs.base import Dialog
from ui.dialogs.crashed import CrashedQuestion
from ui.dialogs.file_browser import SaveFile
from ui.dialogs.message import MessageBox
from ui.dialogs.unsaved import UnsavedQuestion
from ui.dialogs.working import Working
from ui.draw.cells import CellWords, Shown, update_all
from ui.draw.heat import HeatScale, scale_for
from ui.draw.renderer import MapRenderer
from ui.draw.theme import PALETTES
from ui.dressing import Dressing
from ui.film.recording import Recording
from ui.input.editor import Editor
from ui.input.keyboard import Keyboard
from ui.input.pointer import Pointer
from ui.model import files, layout, saving
from ui.model import job as job_module
from ui.model.camera import Camera
from ui.model.cameras import Cameras
from ui.model.clock import AS_FAST_AS_POSSIBLE, StepClock
from ui.model.job import Job
from ui.model.keeper import Keeper
from ui.model.keys import PanelKey
from ui.model.layers import LayerState
from ui.model.layout import Layout, PanelBoxes
from ui.model.preparing import needs_data, prepare
from ui.model.session import Panel, Session
from ui.model.settings import Settings
from ui.model.tools import MAX_BRUSH, Point, clipped
from ui.panels import agent_panel, badges, overlay, sidebar, top_bar, transport
from ui.preparation import Preparation
from ui.widgets.canvas import Canvas
from ui.widgets.gui_theme import make_manager

FRAMES_PER_SECOND = 60
TOAST_S = 6.0
MOST_PANELS = 8
TICKING_SHARE = 0.5  # part of a frame that ticks may take at full speed
TOOLTIP_DELAY_S = 0.5
CHANGE_RATES = (1.0, 2.0, 5.0, 10.0, 20.0)
CHANGE_INTERVALS = (1, 2, 5, 10, 20, 50, 100)
TRIAL_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
UI_SCALES = (0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)


T = TypeVar("T")


class App:
    """Everything there is while the window is open. It is also the host of dialogs (ui/dialogs/base.py)."""

    commands = COMMANDS
    is_picture = False  # whether nobody can click on what is drawn

    def __init__(self, session: Session, settings: Settings, window: pygame.Surface) -> None:
        self.session: Session = session
        session.limit_keyframes(settings.keyframe_mb)
        self.settings, self.window = settings, window
        self.palette = PALETTES[settings.theme]
        self.scale = settings.ui_scale
        self.layers = LayerState(dict(settings.layers), settings.heat)
        self.clock = StepClock()
        self.speed = self.last_speed = settings.speed
        self.cameras = Cameras()
        self.cameras.is_linked = settings.linked_cameras
        self.canvas = Canvas()
        self.renderer = MapRenderer()
        self.editor = Editor(session)
        self.cells: dict[PanelKey, CellWords] = {}
        self.cells_generation = -1
        self.heat_scale: HeatScale = scale_for(self.layers.heat)
        self.problems: ScenFile | None = None
        self.dialog: Dialog | None = None
        self.after_dialog: Callable[[], None] | None = None
        self.is_editing = self.has_hand = self.is_slow_motion = self.is_bare = self.is_maximised = False
        self.is_backwards = False
        self.until_command: str | None = None
        self.reveal: int | None = None
        self.change_rate, self.change_interval = 5.0, 10
        self.pinned: Point | None = None
        self.cursor: Point | None = None
        self.keeper: Keeper | None = None  # writes the journal, where there is one
        self.dressing = Dressing(self)
        self.recording = Recording(self)
        self.preparation = Preparation()
        self.mark_in: int | None = None  # the range of ticks to export, where the user has marked one
        self.mark_out: int | None = None
        self.keyboard = Keyboard(self)
        self.pointer = Pointer(self)
        self.toasts: list[tuple[str, float]] = []
        self.sidebar_scroll: dict[str, int] = {}  # pixels by which each tab is scrolled
        self.sidebar_hidden = 0  # pixels of the shown tab that do not fit
        self.is_open = True
        self.frame_ms = self.longest_frame_ms = 0.0
        self._hot_since: tuple[str, float] = ("", 0.0)
        self._hidden = 0  # panels for which there is no room
        self._rebuild()

    # --- the window ---------------------------------------------------------------------------------

    @property
    def window_size(self) -> tuple[int, int]:
        return self.window.get_size()

    def _rebuild(self) -> None:
        """New widgets for a new size, scale or theme; an open dialog is made again as it was."""
        self.renderer.ui_scale = self.scale
        self.gui: pygame_gui.UIManager = make_manager(self.window_size, self.palette, self.scale)
        if self.dialog is not None:
            self.dialog.rebuild()

    def set_theme(self, name: str) -> None:
        self.settings.theme = name
        self.palette = PALETTES[name]
        self._rebuild()

    def set_scale(self, scale: float) -> None:
        self.settings.ui_scale = self.scale = scale
        self._rebuild()

    def resized(self, window: pygame.Surface) -> None:
        self.window = window
        self._rebuild()

    @property
    def layout(self) -> Layout:
        return layout.lay_out(
            self.window_size,
            self.scale,
            len(self.shown_panels),
            shows_sidebar=self.settings.shows_sidebar,
            bare=self.is_bare,
        )

    @property
    def shown_panels(self) -> tuple[Panel, ...]:
        """The panels for which there is room on screen."""
        panels = self.session.panels
        if self.is_maximised:
            return tuple(panel for panel in panels if panel.key == self.session.focused_key)
        return panels[:MOST_PANELS]

    # --- a frame ------------------------------------------------------------------------------------

    def frame(self, seconds: float) -> None:
        for event in pygame.event.get():
            self.handle(event)
        before = time.perf_counter()
        self.pass_time(seconds)
        self.draw()
        self.frame_ms = (time.perf_counter() - before) * 1000.0
        self.longest_frame_ms = max(self.longest_frame_ms, self.frame_ms)

    def pass_time(self, seconds: float) -> None:
        """Let the ticks pass that are due, tell what happened, keep the dialog alive."""
        if self.recording.must_wait or self.unprepared():
            pass  # no frame of a video is dropped, and no agent begins before the others: time waits
        elif self.session.is_seeking:
            self.session.continue_seek()
        elif self.is_backwards:
            self._wind_back(self.clock.advance(seconds))
        elif self.is_slow_motion:
            for _ in range(self.clock.advance(seconds)):
                self.step_expansion()
        elif self.clock.is_running and self.speed == AS_FAST_AS_POSSIBLE:
            self.session.advance_for(TICKING_SHARE / FRAMES_PER_SECOND)
        else:
            self._advance(self.clock.advance(seconds))
        if not self.session.is_seeking:
            self.session.go_on_measuring()
        self._watch_stop_rule()
        if self.clock.is_running and not self.is_backwards and not self.session.is_seeking and self.session.is_over:
            self.pause()
        self.recording.keep()
        if self.keeper is not None:
            self.keeper.keep()
        self._tell_hidden()
        for text in self.session.messages:
            self.say(text)
        self.session.messages.clear()
        if self.dialog is not None:
            self.gui.update(seconds)
            self.dialog.update(seconds)

    def unprepared(self) -> list[str]:
        """The kinds of agents here that cannot walk yet."""
        return self.preparation.missing(panel.view.spec.key for panel in self.session.panels)

    def _tell_hidden(self) -> None:
        """Say it whenever there are more panels without room than before."""
        hidden = max(0, len(self.session.panels) - MOST_PANELS)
        if hidden > self._hidden:
            self.say(
                f"{hidden} of {MOST_PANELS + hidden} panels {'is' if hidden == 1 else 'are'} hidden: "
                "take a branch off the screen (Alt+H) or remove agents (Delete)"
            )
        self._hidden = hidden

    def _advance(self, ticks: int) -> None:
        """Due ticks, but never so many that a frame is lost; what is left over is dropped."""
        deadline = time.perf_counter() + TICKING_SHARE / FRAMES_PER_SECOND
        while ticks > 0 and time.perf_counter() < deadline:
            bulk = min(ticks, 64)
            if self.session.advance(bulk) < bulk:
                return
            ticks -= bulk

    def _wind_back(self, ticks: int) -> None:
        """Play backwards; at the start it ends."""
        if ticks and self.session.tick == 0:
            self.pause()
        elif ticks:
            self.session.begin_seek(self.session.tick - ticks)

    def _watch_stop_rule(self) -> None:
        session = self.session
        if not session.has_stop_rule:
            return
        rule, tick = session.stop_rule, session.stop_tick
        is_met = session.is_stopped_by_rule()
        if is_met or session.is_over:
            session.run_until(None)
            self.until_command = None
            self.pause()
            name = rule.name if rule else f"tick {tick}"
            self.say(f"stopped at tick {session.tick}: {name}" if is_met else f"the run ended before: {name}")

    def step_expansion(self) -> None:
        """Slow motion: show one expansion more of this tick, or go on to the next tick."""
        if self.reveal is not None and self.reveal < self.last_expansions:
            self.reveal += 1
        else:
            self.session.advance(1)
            self.reveal = 1

    @property
    def last_expansions(self) -> int:
        """Most expansions of an agent in the last tick."""
        return max((int(p.view.rows[-1].expanded) for p in self.session.panels if p.view.rows.size), default=0)

    # --- drawing ------------------------------------------------------------------------------------

    def draw(self) -> None:
        plan, canvas = self.layout, self.canvas
        canvas.takes_mouse = self.dialog is None or not self.dialog.veils
        canvas.begin(self.window, self.palette, self.scale, pygame.mouse.get_pos())
        self.window.fill(self.palette.window)
        self._refresh_cells()
        for panel, boxes in zip(self.shown_panels, plan.panels, strict=False):
            agent_panel.draw_background(self, boxes)
            self._draw_map(panel, boxes)
            agent_panel.draw(self, boxes, panel, self.session.panel_of(panel.key))
        if not self.shown_panels:
            overlay.draw_no_agents(self, plan)
        if not self.is_bare:
            top_bar.draw(self, plan.top_bar)
            transport.draw(self, plan.transport)
            if plan.sidebar:
                sidebar.draw(self, plan.sidebar)
        canvas.draw_focus()
        overlay.draw_toasts(self, plan)
        if self.dialog is not None:
            if self.dialog.veils:
                overlay.dim(self)
            self.gui.draw_ui(self.window)
        else:
            self._draw_tooltip()

    def _refresh_cells(self) -> None:
        """Bring the cell words of every agent up to the snapshot; another world begins new ones."""
        if self.cells_generation != self.session.generation:
            self.cells.clear()
            self.cells_generation = self.session.generation
        panels = self.session.panels
        for gone in set(self.cells) - {panel.key for panel in panels}:
            del self.cells[gone]
        shown = [
            Shown(self.cells.setdefault(p.key, CellWords()), p.snapshot, p.view, self.session.trails[p.key])
            for p in panels
        ]
        self.heat_scale = update_all(shown, self.layers.heat, self._compared())

    def _compared(self) -> tuple[int, int]:
        """The places of the panels that a heat map A - B compares."""
        return self.session.compared()

    def compared_panels(self) -> tuple[Panel, ...]:
        """The panels A and B while there is a heat map A - B, and none otherwise."""
        if self.layers.heat.kind != "difference":
            return ()
        a, b = self._compared()
        return (self.session.panels[a], self.session.panels[b]) if a != b else ()

    def _draw_map(self, panel: Panel, boxes: PanelBoxes) -> None:
        key, view = panel.key, panel.view
        self.renderer.draw(
            self.window,
            boxes.map,
            self.camera(key, boxes),
            panel.snapshot,
            view,
            self.session.trails[key],
            self.cells[key],
            self.layers,
            self.palette,
            scale=self.heat_scale,
            glide=1.0 if self.is_slow_motion else self.clock.fraction,
            edits=self.session.shown_edits(key),
            hover=self.inspected_cell(),
            preview_cells=self._preview(panel),
            reveal=self.reveal if self.is_slow_motion else None,
        )
        for letter, compared in zip("AB", self.compared_panels(), strict=False):
            if compared.key == key:
                badges.draw_map_badge(self.canvas, boxes.map, letter, panel.branch)

    def _preview(self, panel: Panel) -> list[int]:
        """The cells that the mouse would change in this panel."""
        if self.has_hand or self.dialog is not None or not self.pointer.edits_in(panel.key):
            return []
        grid = self.session.world.grid
        cells = clipped(self.editor.preview(self.pointer.hover), grid.width, grid.height)
        return [grid.cell(x, y) for x, y in cells]

    def camera(self, key: PanelKey, boxes: PanelBoxes) -> Camera:
        grid = self.session.world.grid
        size = (boxes.map[2], boxes.map[3])
        camera = self.cameras.of(key, size, (grid.width, grid.height))
        if self.cameras.follows and (walker := self.session.walker(key)):
            camera = camera.following(grid.xy(walker.position), (grid.width, grid.height), size)
        return camera

    def _draw_tooltip(self) -> None:
        spot = self.canvas.spot_at(self.canvas.mouse) if self.canvas.held is None else None
        now = time.monotonic()
        if spot is None or not spot.tip:
            self._hot_since = ("", now)
        elif self._hot_since[0] != spot.id:
            self._hot_since = (spot.id, now)
        elif now - self._hot_since[1] > TOOLTIP_DELAY_S:
            self.canvas.tooltip(spot)

    # --- events -------------------------------------------------------------------------------------

    def handle(self, event: pygame.event.Event) -> None:
        if event.type == pygame.QUIT:
            self.run("quit")
        elif event.type == pygame.VIDEORESIZE:
            self.resized(pygame.display.get_surface() or self.window)
        elif event.type == pygame.DROPFILE:
            self.open_path(Path(event.file))
        elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
            self.keyboard.handle(event)
        elif self.dialog is None or not self.dialog.handle(event):
            self.pointer.handle(event)

    # --- panels -------------------------------------------------------------------------------------

    def panels(self) -> list[tuple[Panel, PanelBoxes]]:
        return list(zip(self.shown_panels, self.layout.panels, strict=False))

    def panel_at(self, position: tuple[int, int]) -> tuple[Panel, PanelBoxes] | None:
        """The panel whose map lies under a position."""
        return next((p for p in self.panels() if layout.contains(p[1].map, position)), None)

    def panel_of(self, key: PanelKey) -> tuple[Panel, PanelBoxes] | None:
        return next((p for p in self.panels() if p[0].key == key), None)

    def point_at(self, panel: Panel, boxes: PanelBoxes, position: tuple[int, int]) -> Point:
        camera = self.camera(panel.key, boxes)
        return camera.cell_at(position[0] - boxes.map[0], position[1] - boxes.map[1])

    def move_camera(self, key: PanelKey, change: Callable) -> None:  # type: ignore[type-arg]
        panel = self.panel_of(key)
        if panel is None:
            return
        boxes = panel[1]
        grid = self.session.world.grid
        camera = change(self.camera(key, boxes))
        self.cameras.put(key, camera, (boxes.map[2], boxes.map[3]), (grid.width, grid.height))

    def zoom(self, factor: float) -> None:
        """Zoom about the middle of the focused panel, or about the cell cursor."""
        panel = self.panel_of(self.session.focused_key)
        if panel:
            width, height = panel[1].map[2:]
            self.move_camera(self.session.focused_key, lambda c: c.zoomed_at(width / 2, height / 2, factor))

    def pan(self, dx_px: int, dy_px: int) -> None:
        self.move_camera(self.session.focused_key, lambda c: c.panned(dx_px, dy_px))

    def pin(self, point: Point) -> None:
        """Keep a cell of the map in the inspector; the same cell again lets it go."""
        if not self.session.world.grid.contains(*point):
            return
        self.pinned = None if self.pinned == point else point
        self.settings.sidebar_tab = "inspect"
        self.settings.shows_sidebar = True

    def inspected_cell(self) -> int | None:
        point = self.pinned or self.pointer.hover or self.cursor
        grid = self.session.world.grid
        return grid.cell(*point) if point and grid.contains(*point) else None

    # --- commands -----------------------------------------------------------------------------------

    def run(self, command_id: str) -> None:
        """Carry out a command of the key table."""
        self.commands[command_id].act(self)

    @staticmethod
    def tip_of(command_id: str) -> str:
        return COMMANDS[command_id].help

    @staticmethod
    def key_of(command_id: str) -> str:
        return COMMANDS.key_of(command_id)

    def say(self, text: str) -> None:
        """Tell the user something for a few seconds; what is told already stays for longer."""
        self.toasts = [toast for toast in self.toasts if toast[0] != text]
        self.toasts.append((text, time.monotonic() + TOAST_S))

    def mode_word(self) -> str:
        if self.session.is_seeking:
            return "winding"
        if self.is_editing:
            return "edit mode"
        if self.session.is_over and self.session.tick:
            return "finished"
        if self.is_backwards:
            return "backwards"
        return "running" if self.clock.is_running else "paused"

    def play(self) -> None:
        self.clock.is_running = True
        self.is_backwards = False
        self.clock.ticks_per_second = max(1, self.speed)

    def pause(self) -> None:
        self.clock.is_running = self.is_backwards = False

    def play_backwards(self) -> None:
        self.play()
        self.is_backwards = True

    def seek(self, tick: int) -> None:
        """Show another tick; the replay goes on over some frames if it has to."""
        self.pause()
        self.reveal = None
        self.recording.cut()
        self.session.begin_seek(tick)

    def set_speed(self, speed: int) -> None:
        self.speed = self.settings.speed = speed
        self.clock.ticks_per_second = max(1, speed)

    def set_budget(self, budget: int) -> None:
        budget = max(1, budget)
        if budget != self.session.world.budget:
            self.session.do(commands.SetBudget(budget))

    def is_running_until(self, command_id: str) -> bool:
        return self.until_command == command_id and self.session.has_stop_rule

    def run_until(self, command_id: str, rule: str | None, tick: int | None = None) -> None:
        self.session.run_until(rule, tick)
        self.until_command = command_id
        self.play()

    def set_tool(self, tool: str) -> None:
        self.editor.tool = tool
        self.has_hand = False

    def leave_edit_mode(self) -> None:
        self.is_editing = self.has_hand = False
        self.editor.put_away()

    def set_brush(self, size: int) -> None:
        self.editor.size = max(1, min(MAX_BRUSH, size))

    def set_heat_kind(self, kind: str) -> None:
        self.layers.heat = replace(self.layers.heat, kind=kind)

    def flip_switch(self, name: str) -> None:
        blocks = not self.session.world.switch_states()[name]
        self.session.flip_switch(name)
        is_whole = self.session.world.switch_states()[name] == blocks
        state = ("blocked" if is_whole else "blocked, except where somebody stands") if blocks else "open"
        self.say(f"tick {self.session.tick}: {name} {state}")

    def step_change_rate(self, step: int) -> None:
        changes = self.session.world.random_changes
        self.change_rate = _neighbour(CHANGE_RATES, changes.rate or self.change_rate, step)
        if changes.rate > 0:
            self.session.do(commands.SetChanges(changes.every, self.change_rate))

    def step_change_interval(self, step: int) -> None:
        changes = self.session.world.random_changes
        is_on = changes.rate > 0
        self.change_interval = int(_neighbour(CHANGE_INTERVALS, changes.every if is_on else self.change_interval, step))
        if is_on:
            self.session.do(commands.SetChanges(self.change_interval, changes.rate))

    def step_trials(self, step: int) -> None:
        trials = int(_neighbour(TRIAL_COUNTS, self.session.world.trials, step))
        self.session.do(commands.SetTrials(trials))
        self.say(f"agents that learn walk {f'up to {trials:,} times' if trials > 1 else 'once'}")

    def move_cursor(self, dx: int, dy: int) -> None:
        """The cell cursor of the keyboard; it appears where the focused agent stands."""
        grid = self.session.world.grid
        if self.cursor is None:
            walker = self.session.focused
            self.cursor = grid.xy(walker.position if walker else self.session.world.start)
        else:
            x, y = self.cursor[0] + dx, self.cursor[1] + dy
            self.cursor = (max(0, min(grid.width - 1, x)), max(0, min(grid.height - 1, y)))

    def next_scale(self, step: int) -> float:
        return _neighbour(UI_SCALES, self.scale, step)

    def toggle_full_screen(self) -> None:
        is_full = bool(self.window.get_flags() & pygame.FULLSCREEN)
        if not is_full:
            self.settings.window_size = self.window_size
        size, mode = (self.settings.window_size, pygame.RESIZABLE) if is_full else ((0, 0), pygame.FULLSCREEN)
        self.resized(pygame.display.set_mode(size, mode))

    # --- agents -------------------------------------------------------------------------------------

    def edit_agent(self, key: PanelKey) -> None:
        self.session.focus(key)
        self.show(AgentEditor(self, key))

    def remove_agent(self, key: PanelKey) -> None:
        self.session.remove_agent(key)

    def cycle_kind(self, key: PanelKey, step: int) -> None:
        """Another algorithm in the same panel, from the start, with its default parameters."""
        walker = self.session.walker(key)
        if walker is not None:
            order = [spec.key for spec in SPECS]
            kind = order[(order.index(walker.spec.key) + step) % len(order)]
            self.session.replace_agent(key, AgentConfig(kind, budget=walker.budget))

    def flip_param(self, key: PanelKey, param: Param) -> None:
        """A click on a parameter: the other truth value, the next choice, or the editor for numbers."""
        walker = self.session.walker(key)
        if walker is None or param.name not in walker.params:  # what is drawn may be a frame old
            return
        value = walker.params[param.name]
        if param.kind is bool:
            self.session.set_param(key, param.name, not value)
        elif param.kind is str:
            after = (param.choices.index(str(value)) + 1) % len(param.choices)
            self.session.set_param(key, param.name, param.choices[after])
        else:
            self.edit_agent(key)

    def step_param(self, key: PanelKey, param: Param, step: int) -> None:
        """The wheel over a parameter: a bit more or less."""
        walker = self.session.walker(key)
        if walker is None or param.name not in walker.params:
            return
        if param.kind in (bool, str):
            self.flip_param(key, param)
            return
        by = param.step or (1.0 if param.kind is int else 0.1)
        value: Value = round(float(walker.params[param.name]) + step * by, 6)
        value = max(param.low if param.low is not None else value, min(param.high or value, value))
        self.session.set_param(key, param.name, value)

    def step_budget(self, key: PanelKey, step: int) -> None:
        """The wheel over an agent's budget: half or double, for this agent alone."""
        walker = self.session.walker(key)
        if walker is not None:
            budget = walker.budget or self.session.tree[key.branch].timeline.world.budget
            after = budget * 2 if step > 0 else max(1, budget // 2)
            self.session.set_budget(key, after)

    # --- dialogs and files --------------------------------------------------------------------------

    def show(self, dialog: Dialog) -> None:
        self.close_dialog()
        self.dialog = dialog

    def close_dialog(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.close()

    def complain(self, error: ConfigError, title: str = "That did not work") -> None:
        self.show(MessageBox(self, title, error.problems))

    def open_path(self, path: str | os.PathLike[str]) -> None:
        self.with_edits_kept(lambda: self._open_now(Path(path)))

    def work(self, title: str, job: Job[T], then: Callable[[T], None], failed: str = "That did not work") -> None:
        """Go on with the result of a job; where it takes a while, show how far it is, with a way to stop it."""

        def finish(done: Job[T]) -> None:
            try:
                result = done.result()
            except ConfigError as error:
                self.complain(error, failed)
            else:
                then(result)

        if job.wait(job_module.PATIENCE_S):
            finish(job)
        else:
            self.show(Working(self, title, job, finish))

    def _open_now(self, path: Path) -> None:
        name = printable(path.name)
        job = Job(lambda job: self._opened_with_data(path, job))
        self.work(f"Opening {name}", job, partial(self._opened, path), f"{name} could not be opened")

    @staticmethod
    def _opened_with_data(path: Path, job: Job[files.Opened]) -> files.Opened:
        opened = files.open_any(path)
        prepare(opened.scenario, job.told)
        return opened

    def _opened(self, path: Path, opened: files.Opened) -> None:
        self.close_dialog()
        self.take(opened)
        self.session.path = path
        self.settings.remember(path)
        if opened.problems is not None:
            self.run("problems")

    def take(self, opened: files.Opened) -> None:
        """Put what a file holds in place of the open run."""
        self._begin(opened.scenario)
        self.complete(opened)

    def complete(self, opened: files.Opened) -> None:
        """What a file holds beside the run that it begins, which is open already."""
        self.problems = opened.problems
        if opened.saved is not None:
            saving.restore(self.session, opened.saved, opened.path)
        self.dressing.put_on(opened.scenario.view)

    def open_scenario(self, scenario: Scenario) -> None:
        self.with_edits_kept(partial(self._begin_with_data, scenario))

    def _begin_with_data(self, scenario: Scenario) -> None:
        if needs_data(scenario):
            job = Job(lambda job: prepare(scenario, job.told))
            self.work("Computing what the agents need", job, lambda done: self._begin(scenario))
        else:
            self._begin(scenario)

    def _begin(self, scenario: Scenario) -> None:
        self.session.open(scenario)
        self.session.path = None
        self.cameras.forget()
        self.dressing.take_off()
        self.mark_in = self.mark_out = None
        self.pinned = self.cursor = self.pointer.hover = None
        self.editor.forget()
        self.reveal = None
        self.pause()

    def offer_crashed(self) -> None:
        """Ask whether to take up a session that was killed."""
        crashed = find_crashed()
        if crashed:
            self.show(CrashedQuestion(self, crashed))

    def restore(self, saved: Saved) -> None:
        """Take up a session as its journal left it."""
        saving.restore(self.session, saved)
        self.cameras.forget()
        self.pause()

    def with_edits_kept(self, go_on: Callable[[], None]) -> None:
        """Do something that would lose unsaved edits, after asking."""
        if self.session.would_lose_work:
            self.show(UnsavedQuestion(self, go_on))
        else:
            go_on()

    def save_session(self, then: Callable[[], None] = lambda: None) -> None:
        """Save everything, to the session file that is open or to a new one, and go on."""
        path = self.session.path
        if path is not None and not files.is_shipped(path) and files.is_session_file(path):
            try:
                self._save_session_to(path, then)
            except ConfigError as error:
                self.complain(error, "The session was not saved")
            return
        name = f"{self.session.scenario.title} session"
        suffix = files.SCENARIO_SUFFIXES[0]
        self.show(SaveFile(self, "Save the session", suffix, name, lambda place: self._save_session_to(place, then)))

    def _save_session_to(self, path: Path, then: Callable[[], None]) -> None:
        self.session.path = saving.save(self.session, path, self.dressing.as_view())
        self.settings.remember(self.session.path)
        self.say(f"saved {self.session.path.name}")
        then()

    def quit(self) -> None:
        self.with_edits_kept(self._close)

    def _close(self) -> None:
        self.is_open = False

    def collect_settings(self) -> None:
        """Bring the settings up to date with the window."""
        settings = self.settings
        settings.layers = dict(self.dressing.own.visible)
        settings.heat = self.dressing.own.heat
        settings.linked_cameras = self.cameras.is_linked
        settings.window_size = self.window_size


def _neighbour(values: tuple[float, ...], value: float, step: int) -> float:
    """The next value of a row of choices, from the nearest one."""
    nearest = min(range(len(values)), key=lambda i: abs(values[i] - value))
    return values[max(0, min(len(values) - 1, nearest + step))]
