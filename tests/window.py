"""Helpers for tests of the window: an app under the dummy driver, and events as a user makes them."""

from pathlib import Path
from typing import Any

import pygame
import pytest

from files.scenario import Scenario
from ui.app import App
from ui.draw.fonts import FontCache
from ui.model import background_job
from ui.model.session import Session
from ui.model.settings import Settings

ROOT = Path(__file__).resolve().parent.parent

_SIGNS = {
    ".": pygame.K_PERIOD,
    ",": pygame.K_COMMA,
    "-": pygame.K_MINUS,
    "_": pygame.K_MINUS,
    "=": pygame.K_EQUALS,
    "+": pygame.K_EQUALS,
    "<": pygame.K_COMMA,
    ">": pygame.K_PERIOD,
    "[": pygame.K_LEFTBRACKET,
    "]": pygame.K_RIGHTBRACKET,
    "?": pygame.K_SLASH,
}
# Work that takes longer than a frame is waited for, so that tests are the same on any machine.
background_job.PROGRESS_DELAY_S = 60.0

_NAMED = {
    "Space": pygame.K_SPACE,
    "Return": pygame.K_RETURN,
    "Tab": pygame.K_TAB,
    "Escape": pygame.K_ESCAPE,
    "Left": pygame.K_LEFT,
    "Right": pygame.K_RIGHT,
    "Up": pygame.K_UP,
    "Down": pygame.K_DOWN,
    "PageDown": pygame.K_PAGEDOWN,
    "PageUp": pygame.K_PAGEUP,
    "Home": pygame.K_HOME,
    "End": pygame.K_END,
    "Delete": pygame.K_DELETE,
    "Insert": pygame.K_INSERT,
    "Menu": pygame.K_MENU,
    **{f"F{n}": getattr(pygame, f"K_F{n}") for n in range(1, 13)},
}
_MODS = {"Ctrl": pygame.KMOD_LCTRL, "Shift": pygame.KMOD_LSHIFT, "Alt": pygame.KMOD_LALT}


def make_app(setup: Scenario, size: tuple[int, int] = (1280, 720), *, theme: str = "dark", scale: float = 1.0) -> App:
    pygame.display.init()
    pygame.font.init()
    window = pygame.display.set_mode(size)
    pygame.event.clear()
    app = App(Session(setup), Settings(theme=theme, ui_scale=scale, window_size=size), window)
    app.draw_window()
    return app


def settle(app: App) -> None:
    """One frame without time passing."""
    app.run_frame(0.0)


def tooltip_of(app: App, spot_id: str) -> str:
    """The tooltip of a control, which says what it does and why it is disabled."""
    region = app.window.canvas.hit_region_with_id(spot_id)
    assert region is not None, spot_id
    return app.window.view_context.tooltip_and_keys_of_region(region)[0]


def press(app: App, key: int, mod: int = 0, unicode: str = "") -> None:
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key, mod=mod, unicode=unicode, scancode=0))
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=key, mod=mod, unicode=unicode, scancode=0))
    settle(app)


def press_combination(app: App, combination: str) -> None:
    """Press a key as the table in commands writes it, such as 'Ctrl+Shift+Z', '?' or 'Ctrl++'."""
    if combination.endswith("++"):
        parts = [*combination[:-2].split("+"), "+"]
    elif combination == "+":
        parts = ["+"]
    else:
        parts = combination.split("+")
    *mods, name = parts
    mod = 0
    for word in mods:
        mod |= _MODS[word]
    if name in _NAMED:
        press(app, _NAMED[name], mod)
    elif name in _SIGNS:
        is_plain = not mods
        if is_plain and name in "+_<>?":
            mod |= pygame.KMOD_LSHIFT
        if name == "+" and mods:
            press(app, pygame.K_PLUS, mod)
        elif name == "_" and mods:
            press(app, pygame.K_UNDERSCORE, mod)
        else:
            press(app, _SIGNS[name], mod, name if is_plain else "")
    else:
        typed = "" if mods and mods != ["Shift"] else (name if mods else name.lower())
        press(app, getattr(pygame, f"K_{name.lower()}"), mod, typed)


def type_text(app: App, text: str) -> None:
    """Keys and letters as the system sends them to a field."""
    for letter in text:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=ord(letter), mod=0, unicode=letter, scancode=0))
        pygame.event.post(pygame.event.Event(pygame.TEXTINPUT, text=letter))
        settle(app)


def at_cell(app: App, x: int, y: int, panel: int = 0) -> tuple[int, int]:
    """Where the middle of a cell is in the window."""
    shown, boxes = app.window.map_view.panels_with_boxes()[panel]
    px, py = app.window.map_view.camera_of_panel(shown.key, boxes).map_to_px(x + 0.5, y + 0.5)
    return boxes.map_box[0] + int(px), boxes.map_box[1] + int(py)


def drag(app: App, start, end, *, button: int = 1, steps: int = 3, release: bool = True) -> None:
    post = pygame.event.post
    post(pygame.event.Event(pygame.MOUSEMOTION, pos=start, rel=(0, 0), buttons=(0, 0, 0)))
    post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=button, pos=start))
    for i in range(1, steps + 1):
        here = tuple(round(a + (b - a) * i / steps) for a, b in zip(start, end, strict=True))
        post(pygame.event.Event(pygame.MOUSEMOTION, pos=here, rel=(0, 0), buttons=(1, 0, 0)))
    if release:
        post(pygame.event.Event(pygame.MOUSEBUTTONUP, button=button, pos=end))
    settle(app)


def click(app: App, place: tuple[int, int], button: int = 1) -> None:
    drag(app, place, place, button=button)
    app.draw_window()


def middle_of(app: App, name: str) -> tuple[int, int]:
    x, y, width, height = app.window.canvas.hit_region_with_id(name).box
    return x + width // 2, y + height // 2


def choose(app: App, label: str) -> None:
    click(app, middle_of(app, f"menu:{label}"))


def open_app_files() -> list[Path]:
    """Every scenario that ships."""
    return sorted((ROOT / "assets" / "scenarios").glob("*.yaml"))


class DrawnTexts:
    """Collects what a user can read: texts of the window and its dialogs, tips, keys of controls, menus, messages.

    with DrawnTexts(app) as seen:
        seen.look("what is being done")     # draws a frame, and takes in what is on it
    """

    def __init__(self, app: App) -> None:
        self.app = app
        self.texts: dict[str, str] = {}  # each text, with what was going on when it was first seen
        self.keys: dict[str, str] = {}  # each key that a control names, with the control
        self.doing = ""
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> "DrawnTexts":
        render = FontCache.render_text

        def listen(fonts: FontCache, text: str, *how: Any) -> pygame.Surface:
            self.texts.setdefault(text, self.doing)
            return render(fonts, text, *how)

        self._patch.setattr(FontCache, "render_text", listen)
        return self

    def __exit__(self, *error: object) -> None:
        self._patch.undo()

    def look(self, doing: str) -> None:
        """Draw a frame and take in all of its texts."""
        self.doing = doing
        self.app.draw_window()
        window = self.app.window
        for spot in window.canvas.hit_regions:
            tooltip, keys = window.view_context.tooltip_and_keys_of_region(spot)
            self.texts.setdefault(tooltip, f"{doing}: {spot.id}")
            for key in keys.split():
                self.keys.setdefault(key, f"{doing}: {spot.id}")
        for text in window.ui_state.message_queue.queued_message_texts():
            self.texts.setdefault(text, doing)
        dialog = window.dialogs.current_dialog
        while dialog is not None:
            for control in dialog.controls:
                self.texts.setdefault(str(getattr(control, "tip", "")), f"{doing}: {type(dialog).__name__}")
            dialog = dialog.inner_dialog
