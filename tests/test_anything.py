"""Anything at all: random keys, clicks, drags, sizes and jumps in time leave the window alive and its run sound. So do
texts of any letters and any length, dropped files of any kind, keys that are held, other keys for commands, and edits
that are dragged along the line of time.

The short runs are small enough for every check; `make slow` goes through long ones: thousands of ticks, eight agents,
maps of all examples. A run is sound when every branch comes to the same again from tick 0, when all that was done can
be taken back until nothing is left of it, and done again.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

from files.scenario import Scenario
from sim.params import ConfigError
from sim.world_commands import AgentConfig
from tests.test_app import setup
from tests.test_history import ACTS as ACTS_OF_HISTORY
from tests.window import App, drag, make_app, open_app_files, press, press_combination, settle
from ui.commands.command_table import COMMAND_TABLE as TABLE
from ui.model import script_entries
from ui.model.value_adjustments import UI_SCALES

LEFT_OUT = {"quit", "full_screen", "record", "export_video"}  # they end the test, or begin another process
OTHER_RUNS = {"gallery", "open", "recent", "problems", "generate"}  # what was done before cannot be taken back then
COMMANDS = [command for command in TABLE if command.id not in LEFT_OUT]
OWN_COMMANDS = [
    command for command in COMMANDS if command.id not in OTHER_RUNS and not command.id.startswith("picture")
]
DIALOG_KEYS = (
    pygame.K_TAB,
    pygame.K_DOWN,
    pygame.K_RIGHT,
    pygame.K_RETURN,
    pygame.K_SPACE,
    pygame.K_9,
    pygame.K_DELETE,
)
SIZES = ((640, 400), (800, 500), (420, 300), (1000, 420), (200, 150), (1280, 720))
KINDS = ("tba", "tb-wa", "rtb-wa", "tb-gbfs", "lss-lrta", "dstar-lite", "rtaa", "astar")

TEXT_COMMANDS = (
    "rename_agent",
    "rename_branch",
    "find_command",
    "help",
    "open",
    "save_map_as",
    "save_session",
    "until_tick",
    "settings",
    "generate",
)
HELD = (
    pygame.K_RETURN,
    pygame.K_SPACE,
    pygame.K_ESCAPE,
    pygame.K_TAB,
    pygame.K_DOWN,
    pygame.K_RIGHT,
    pygame.K_BACKSPACE,
    pygame.K_PERIOD,
    pygame.K_COMMA,
    pygame.K_w,
    pygame.K_DELETE,
)
OTHER_KEYS = ("Ctrl+Alt+Q", "Ctrl+F7", "Shift+Z", "Alt+F3", "Ctrl+Space", "Return", "Space", "Ctrl+Alt+Up", "7", "")
SUFFIXES = (".map", ".yaml", ".yml", ".scen", ".png", ".pgm", ".tmj", ".py", ".txt", "", ".MAP", ".csv", ".mp4")
ODD_LETTERS = (
    "\u200b\u202e\u2066\ufeff\u00ad\ufe0f\u034f\u0301\u00a0\u2028\t\n\0\x1b\ud800\ue000\uffff\U000e0001\U0001f600"
)
MAP_TEXT = "type octile\nheight 10\nwidth 16\nmap\n" + 5 * "................\n..@@....SS..TT..\n"

Act = Callable[["Chaos"], None]


class Chaos:
    """Somebody who does anything."""

    def __init__(self, app: App, seed: int, commands: list[object], far: int) -> None:
        self.app, self.chance, self.commands, self.far = app, random.Random(seed), commands, far
        self.done: list[str] = []  # for whoever wants to know what led to it

    def random_position(self) -> tuple[int, int]:
        width, height = self.app.window.surface.get_size()
        return self.chance.randrange(width), self.chance.randrange(height)

    def go_on(self, acts: int) -> None:
        for _ in range(acts):
            name = self.chance.choice(ACTS)
            self.done.append(name)
            DO[name](self)

    def key(self) -> None:
        combination = self.chance.choice(self.chance.choice(self.commands).keys)  # type: ignore[attr-defined]
        self.done[-1] += f" {combination}"
        press_combination(self.app, combination)

    def drag(self) -> None:
        drag(self.app, self.random_position(), self.random_position(), button=self.chance.choice([1, 1, 2, 3]))

    def stroke(self) -> None:
        """A drag that goes on while time passes."""
        drag(self.app, self.random_position(), self.random_position(), release=False)
        for _ in range(self.chance.randrange(4)):
            self.app.run_frame(0.1)
            pygame.event.post(
                pygame.event.Event(pygame.MOUSEMOTION, pos=self.random_position(), rel=(0, 0), buttons=(1, 0, 0))
            )
        if self.chance.random() < 0.3:
            self.key()
        pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONUP, button=1, pos=self.random_position()))
        settle(self.app)

    def click(self) -> None:
        spots = [spot for spot in self.app.window.canvas.hit_regions if spot.on_click and "record" not in spot.id]
        if self.app.window.dialogs.current_dialog is None and spots:
            spot = self.chance.choice(spots)
            self.done[-1] += f" {spot.id}"
            x, y, width, height = spot.box
            drag(self.app, (x + width // 2, y + height // 2), (x + width // 2, y + height // 2), steps=1)

    def wheel(self) -> None:
        place = self.random_position()
        pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=place, rel=(0, 0), buttons=(0, 0, 0)))
        pygame.event.post(pygame.event.Event(pygame.MOUSEWHEEL, y=self.chance.choice([-2, 1]), x=0, pos=place))
        settle(self.app)

    def dialog(self) -> None:
        if self.app.window.dialogs.current_dialog is not None:
            for _ in range(self.chance.randrange(4)):
                press(self.app, self.chance.choice(DIALOG_KEYS), 0, "9")
            press(self.app, pygame.K_ESCAPE)

    def text(self) -> None:
        """Text in a field of the open dialog, or of one that is opened for it: typed, or pasted."""
        if self.app.window.dialogs.current_dialog is None:
            allowed = {command.id for command in self.commands}  # type: ignore[attr-defined]
            command = self.chance.choice([name for name in TEXT_COMMANDS if name in allowed])
            self.done[-1] += f" {command}"
            self.app.window.run_command(command)
            settle(self.app)
        for _ in range(self.chance.randrange(1, 4)):
            text = self.random_text()
            self.done[-1] += f" {text[:20]!r}"
            if self.chance.random() < 0.5:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("ui.widgets.text_field.text_of_clipboard", lambda text=text: text)
                    press(self.app, pygame.K_v, pygame.KMOD_LCTRL)
            else:
                typed = text[:40].encode(errors="ignore").decode()
                pygame.event.post(pygame.event.Event(pygame.TEXTINPUT, text=typed))
                settle(self.app)
            key = self.chance.choice([pygame.K_LEFT, pygame.K_HOME, pygame.K_END, pygame.K_DELETE, pygame.K_BACKSPACE])
            press(self.app, key, self.chance.choice([0, pygame.KMOD_LSHIFT, pygame.KMOD_LCTRL]))
        self.app.run_frame(0.05)
        press(self.app, self.chance.choice([pygame.K_RETURN, pygame.K_ESCAPE, pygame.K_TAB]))

    def random_text(self) -> str:
        """Letters of all kinds, from none to thousands. No slash: a name with one may be of a folder of the machine."""
        length = self.chance.choice([0, 1, 2, 5, 20, 81, 300, 3000])
        kinds = [
            lambda: self.chance.choice(ODD_LETTERS),
            lambda: chr(self.chance.randrange(0x110000)),
            lambda: chr(self.chance.randrange(32, 0x500)),
            lambda: self.chance.choice("0123456789.,:-e "),
        ]
        if self.chance.random() < 0.5:
            kinds = [self.chance.choice(kinds)]
        return "".join(self.chance.choice(kinds)() for _ in range(length)).translate({47: None, 92: None, 126: None})

    def drop(self) -> None:
        """Files that are dropped onto the window: of any kind, with any name, some not there."""
        for _ in range(self.chance.choice([1, 1, 1, 2, 3])):
            path = self.make_random_file()
            self.done[-1] += f" {path.name[:30]!r}"
            pygame.event.post(pygame.event.Event(pygame.DROPFILE, file=str(path)))
        for _ in range(3):
            settle(self.app)

    def make_random_file(self) -> Path:
        names = ["plain", "two words", "\u202eodd\u200b", "n" * 240, "n" * 300, "ä\u0301 地图", "-", ".hidden", "a\nb"]
        path = Path.cwd() / f"{self.chance.choice(names)}{self.chance.choice(SUFFIXES)}"
        texts = [
            b"",
            MAP_TEXT.encode(),
            MAP_TEXT.replace("width 16", "width 19").encode(),
            b"version 1\n0\tplain.map\t16\t10\t0\t0\t4\t4\t5.0\n",
            b"format: backmove-scenario\nversion: 1\n",
            b"key = 1 / 0\n",
            bytes(self.chance.randrange(256) for _ in range(self.chance.choice([3, 300]))),
        ]
        try:
            if self.chance.random() < 0.15:
                path.mkdir()
            elif self.chance.random() < 0.85:
                path.write_bytes(self.chance.choice(texts))
        except OSError:
            pass  # a name that is too long, or one that a folder has: dropped as it is
        return path

    def held(self) -> None:
        """Keys that are held for a while, perhaps two at once; what comes of it is seen in the frames."""
        keys = self.chance.sample(HELD, self.chance.choice([1, 1, 2]))
        self.done[-1] += f" {[pygame.key.name(key) for key in keys]}"
        for _ in range(self.chance.randrange(2, 12)):
            for key in keys:
                pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key, mod=0, unicode="", scancode=0))
            if self.chance.random() < 0.5:
                self.app.run_frame(0.04)
        for key in keys:
            pygame.event.post(pygame.event.Event(pygame.KEYUP, key=key, mod=0, unicode="", scancode=0))
        settle(self.app)

    def rebind(self) -> None:
        """Another key for a command, one that may be another's, or its usual one again."""
        command = self.chance.choice(self.commands).id  # type: ignore[attr-defined]
        keys = self.chance.choice([*OTHER_KEYS, None])
        self.done[-1] += f" {command} {keys}"
        self.app.window.assign_keys_to_command(command, keys)
        if keys:
            press_combination(self.app, keys)
        settle(self.app)

    def carry(self) -> None:
        """An edit of the script is dragged to another tick, and dropped there, or undone."""
        marks = [spot for spot in self.app.window.canvas.hit_regions if spot.id.startswith("mark:")]
        if self.app.window.dialogs.current_dialog is None and marks:
            x, y, width, height = self.chance.choice(marks).box
            left, top, bar, deep = self.app.window.ui_state.time_line_rect
            to = left + self.chance.randrange(-20, max(1, bar) + 20), top + self.chance.randrange(-10, deep + 10)
            drag(self.app, (x + width // 2, y + height // 2), to, steps=self.chance.randrange(1, 6))
            for _ in range(self.chance.randrange(4)):
                self.app.run_frame(0.02)
            if self.chance.random() < 0.3:
                press_combination(self.app, "Ctrl+Z")

    def time(self) -> None:
        for _ in range(self.chance.randrange(1, 6)):
            self.app.run_frame(0.05)

    def ahead(self) -> None:
        """Far ahead, all branches on screen; those that are not stay where they were."""
        self.app.session.advance_by_ticks(self.chance.randrange(1, self.far))
        settle(self.app)

    def jump(self) -> None:
        """To any tick; and perhaps on to something else before it has arrived."""
        self.app.window.player.pause_and_seek(self.chance.randrange(self.far))
        for _ in range(self.chance.randrange(4)):
            settle(self.app)

    def deed(self) -> None:
        """One of the things that the history is there for, whatever dialog is open."""
        session = self.app.session
        left_out = {"map as opened", *(() if "gate" in session.run.scenario.switches else ("switch",))}
        name = self.chance.choice([name for name in ACTS_OF_HISTORY if name not in left_out])
        agents = {
            panel.key.agent for panel in session.run.panels if panel.key.branch == session.run.focused_branch_number
        }
        if (
            len(session.run.branch_tree.branches) < 6
            and {0, 1} <= agents
            and (script_entries.script_entries(session.run) or "script" not in name)
        ):
            if len(session.run.panels) > 8 and name in ("branch", "split", "add"):
                name = "remove"
            self.done[-1] += f" {name}"
            session.undo_history.close_entry()
            with suppress(ConfigError):  # such as at the end of a seek to where the agent is not there
                ACTS_OF_HISTORY[name](session)
        settle(self.app)

    def undo(self) -> None:
        for _ in range(self.chance.randrange(1, 5)):
            press_combination(self.app, self.chance.choice(["Ctrl+Z", "Ctrl+Z", "Ctrl+Y"]))

    def history(self) -> None:
        session = self.app.session
        session.undo_history.go_to_history_entry(
            self.chance.randrange(len(session.undo_history.done) + len(session.undo_history.undone_entries) + 1)
        )
        settle(self.app)

    def branch(self) -> None:
        press_combination(self.app, self.chance.choice(["Ctrl+B", "Alt+H", "N", "Alt+Delete", "Alt+P"]))

    def size(self) -> None:
        self.app.window.on_window_resized(pygame.display.set_mode(self.chance.choice(SIZES)))
        settle(self.app)

    def scale(self) -> None:
        self.app.window.set_ui_scale(self.chance.choice(UI_SCALES))
        settle(self.app)


DO: dict[str, Act] = {
    "key": Chaos.key,
    "drag": Chaos.drag,
    "stroke": Chaos.stroke,
    "click": Chaos.click,
    "wheel": Chaos.wheel,
    "dialog": Chaos.dialog,
    "time": Chaos.time,
    "ahead": Chaos.ahead,
    "jump": Chaos.jump,
    "deed": Chaos.deed,
    "undo": Chaos.undo,
    "history": Chaos.history,
    "branch": Chaos.branch,
    "size": Chaos.size,
    "scale": Chaos.scale,
    "text": Chaos.text,
    "drop": Chaos.drop,
    "held": Chaos.held,
    "rebind": Chaos.rebind,
    "carry": Chaos.carry,
}
RARE = ("history", "size", "scale", "wheel", "drop", "rebind")
ACTS = (
    *DO,
    *(2 * [act for act in DO if act not in RARE]),
    *(8 * ["key"]),
    *(3 * ["stroke", "dialog", "click", "deed"]),
)


def close_dialogs_and_finish_seek(app: App) -> None:
    app.window.dialogs.close_dialog()
    app.window.player.pause()
    app.session.undo_history.close_entry()
    settle(app)
    while app.session.run.is_seeking:
        app.session.continue_seek(1e9)
        app.run_frame(0.0)


def assert_every_branch_replays_exactly(app: App) -> None:
    """Every branch comes to the same again."""
    session = app.session
    for branch in session.run.branch_tree.branches.values():
        line = branch.timeline
        line.apply_due_commands()
        tick, digest = line.tick, line.world.compute_digest()
        line.seek(0)
        line.seek(tick)
        assert (line.tick, line.world.compute_digest(), line.run_history.divergence_tick) == (tick, digest, None)
    session.update_after_change()
    shown = {branch.number for branch in session.run.shown_branches}
    assert shown <= set(session.run.branch_tree.branches) and session.run.focused_branch_number in shown
    assert all(
        session.run.trail_by_panel[panel.key].last_tick <= session.run.max_shown_tick for panel in session.run.panels
    )


def logs_by_branch(app: App) -> object:
    tree = app.session.run.branch_tree
    return app.session.run.scenario, [
        (b.number, b.name, b.parent, b.timeline.command_log.entries) for b in tree.branches.values()
    ]


def assert_undo_and_redo_restore_logs(app: App) -> None:
    session, done = app.session, len(app.session.undo_history.done)
    before = logs_by_branch(app)
    session.undo_history.go_to_history_entry(0)
    close_dialogs_and_finish_seek(app)
    assert len(session.run.branch_tree.branches) == 1
    assert all(
        entry.is_scripted and entry.is_enabled for entry in session.run.focused_branch_timeline.command_log.entries
    )
    assert_every_branch_replays_exactly(app)
    session.undo_history.go_to_history_entry(done)
    close_dialogs_and_finish_seek(app)
    assert logs_by_branch(app) == before
    assert_every_branch_replays_exactly(app)


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "BACKMOVE_RECORDINGS"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.mark.parametrize("seed", range(20))
def test_anything(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.model.run.SEEK_WORK", 20.0)  # a seek takes many frames
    chance = random.Random(seed)
    app = make_app(make_learning_scenario(chance), chance.choice(SIZES[:4]))
    app.window.settings.keyframe_mb = 1
    chaos = Chaos(app, seed, OWN_COMMANDS, far=60)
    chaos.go_on(60)
    close_dialogs_and_finish_seek(app)
    assert_every_branch_replays_exactly(app)
    assert_undo_and_redo_restore_logs(app)


def make_learning_scenario(chance: random.Random) -> Scenario:
    """A small run that goes on for long: some of its agents walk again and again."""
    kinds = ("tb-wa", *(chance.choice(KINDS) for _ in range(chance.choice([0, 1, 1, 3]))))
    return replace(setup(), agents=tuple(AgentConfig(kind) for kind in kinds), trials=20)


def many(scenario: Scenario, chance: random.Random) -> Scenario:
    """The same with eight agents."""
    return replace(scenario, agents=tuple(AgentConfig(chance.choice(KINDS)) for _ in range(8)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_random_input_keeps_shipped_files_reproducible(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1000 + seed)
    monkeypatch.setattr("ui.model.run.SEEK_WORK", chance.choice([20.0, 500.0, 8000.0]))
    app = make_app(setup(), chance.choice(SIZES))
    documents = app.window.document_opener
    documents.open_path(chance.choice(open_app_files()))
    if chance.random() < 0.5:
        documents.open_scenario(many(app.session.run.scenario, chance))
    Chaos(app, seed, COMMANDS if seed % 2 else OWN_COMMANDS, far=chance.choice([100, 1000, 4000])).go_on(120)
    close_dialogs_and_finish_seek(app)
    assert_every_branch_replays_exactly(app)
    assert_undo_and_redo_restore_logs(app)
