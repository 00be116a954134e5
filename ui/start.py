"""Opening the window and keeping it going: a splash while kernels are made ready, then frames at an even pace."""

import gc
import os
import threading
import time
from pathlib import Path

import pygame

from sim.params import ConfigError
from ui.app import FRAMES_PER_SECOND, App
from ui.draw.theme import PALETTES
from ui.model import files
from ui.model.keeper import Keeper, SettingsKeeper
from ui.model.session import Session
from ui.model.settings import Settings, load_settings
from ui.status import StatusFile
from ui.warmup import compile_all
from ui.widgets.canvas import Canvas

_FRAME_PX = 72
"""What the title bar of a window, and the panel of a desktop, take from the height of the screen."""

_UNSEEN = ("dummy", "offscreen")  # what SDL falls back to where there is no screen
_WITHOUT = "; `main.py run FILE` and `main.py record FILE` need no window"


def open_window(settings: Settings) -> pygame.Surface:
    try:
        pygame.display.init()
    except pygame.error as error:
        raise ConfigError(f"the window cannot be opened: {error}{_WITHOUT}") from error
    if pygame.display.get_driver() in _UNSEEN and not os.environ.get("SDL_VIDEODRIVER"):
        raise ConfigError(f"expected a screen for the window, found none (is DISPLAY set?){_WITHOUT}")
    pygame.font.init()
    pygame.key.set_repeat(300, 40)
    desktop = pygame.display.get_desktop_sizes()[0]
    room = desktop[0], desktop[1] - _FRAME_PX
    size = tuple(min(a, b) for a, b in zip(settings.window_size, room, strict=True))
    window = pygame.display.set_mode(size, pygame.RESIZABLE)
    pygame.display.set_caption("Backmove")
    return window


def _splash(window: pygame.Surface, canvas: Canvas, settings: Settings, text: str) -> None:
    """What the window shows while there is nothing else yet."""
    palette = PALETTES[settings.theme]
    canvas.begin(window, palette, settings.ui_scale, (-1, -1))
    window.fill(palette.window)
    width, height = window.get_size()
    canvas.text(
        (width // 2, height // 2 - canvas.px(24)), "Backmove", size=28, face="bold", align="centre", middle=True
    )
    canvas.text(
        (width // 2, height // 2 + canvas.px(14)), text, size=14, colour=palette.dim, align="centre", middle=True
    )
    pygame.display.flip()


def _prepare(window: pygame.Surface, settings: Settings) -> None:
    """Load or compile the kernels in the background while the window stays alive."""
    canvas = Canvas()
    worker = threading.Thread(target=compile_all, daemon=True)
    worker.start()
    started = time.monotonic()
    while worker.is_alive():
        waited = time.monotonic() - started
        text = "" if waited < 0.5 else f"Preparing the search kernels (first start only): {waited:.0f} s"
        _splash(window, canvas, settings, text)
        if any(event.type == pygame.QUIT for event in pygame.event.get(pygame.QUIT)):
            raise SystemExit(0)
        worker.join(0.05)


def first_setup(path: Path | None) -> "files.Opened":
    """What to begin with: the file given, or the first example of the gallery."""
    return files.open_any(path if path is not None else files.examples()[0])


def run(path: Path | None = None) -> int:
    """Open the window and stay until it is closed."""
    settings, complaint = load_settings()
    window = open_window(settings)  # before anything that may have to be compiled
    _prepare(window, settings)
    try:
        opened = first_setup(path)
    except ConfigError:
        pygame.quit()
        raise
    app = App(Session(opened.setup), settings, window)
    app.complete(opened)
    app.session.path = path
    if complaint:
        app.say(complaint)
    app.offer_crashed()
    app.recording.offer_leftovers()
    app.keeper = Keeper(app.session)
    if path is not None:
        settings.remember(path)
    elif app.dialog is None:
        app.play()
    gc.collect()
    gc.freeze()  # a full collection over the compiler's objects would cost 25 ms in the middle of a run
    kept_settings = SettingsKeeper(settings, app.collect_settings)
    _loop(app, kept_settings)
    app.recording.close()
    app.keeper.close()
    kept_settings.close()
    pygame.quit()
    return 0


def _loop(app: App, kept_settings: SettingsKeeper) -> None:
    """Frames at an even pace: sleep to a deadline, because Clock.tick rounds to whole milliseconds."""
    last = time.perf_counter()
    deadline = last
    status = StatusFile()
    while app.is_open:
        now = time.perf_counter()
        app.frame(now - last)
        last = now
        status.write(app)
        kept_settings.keep()
        pygame.display.set_caption(
            f"Backmove - {app.session.setup.title}{' *' if app.session.has_unsaved_edits else ''}"
        )
        pygame.display.flip()
        deadline = max(deadline + 1.0 / FRAMES_PER_SECOND, time.perf_counter())
        time.sleep(max(0.0, deadline - time.perf_counter()))
