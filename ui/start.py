"""Start and main loop of the window: a splash screen while kernels are compiled, then frames at an even pace."""

import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pygame

from agents.warm import CROWD, world_part
from sim.commands import AddAgent
from sim.files.scenario import Scenario
from sim.kernels.ready import Part, make_ready
from sim.params import ConfigError
from sim.prepared import give_up_ahead
from sim.program import NAME, ROOT
from ui.app import App
from ui.draw.theme import PALETTES
from ui.model import files
from ui.model.job import Job, give_up_all
from ui.model.keeper import AutosaveJournal, SettingsKeeper
from ui.model.notes import Notes
from ui.model.preparing import agents_of, needs_data, prepare
from ui.model.session import Session
from ui.model.settings import Settings, load_settings
from ui.pace import Pace
from ui.status import StatusFile
from ui.warmup import Painter, first_parts
from ui.widgets.canvas import Canvas

_DESKTOP_RESERVE_PX = 72
"""Pixels of screen height reserved for the title bar of the window and the taskbar of the desktop."""

MIN_WINDOW = (480, 360)
"""Minimum width and height of the window in pixels; in a smaller window the text is unreadable."""

WINDOW_CLASS = "backmove"  # window class (WM_CLASS), by which desktops group windows and choose the icon
_REDRAW_EVENTS = (pygame.WINDOWEXPOSED, pygame.WINDOWSIZECHANGED)
"""Events after which the window has to be redrawn, because the system may have discarded its contents."""

TERMINATED = 128 + signal.SIGTERM
"""Exit code of the window after SIGTERM, equal to the exit code of the commands `solve` and `run` in that case."""

_SCREENLESS_DRIVERS = ("dummy", "offscreen")  # names of the video drivers that SDL falls back to without a screen
_WINDOWLESS_HINT = f"; `{NAME} run FILE` and `{NAME} record FILE` need no window"


def open_window(settings: Settings) -> pygame.Surface:
    """Open the window and return its surface.

    Args:
        settings: Settings with the size of the window, which is reduced to the size of the screen.

    Returns:
        The surface of the display.

    Raises:
        ConfigError: There is no screen, or SDL cannot open a window.
    """
    os.environ.setdefault("SDL_WINDOWS_DPI_AWARENESS", "permonitorv2")  # otherwise Windows scales the window, blurred
    _name_window_class()
    try:
        pygame.display.init()
    except pygame.error as error:
        raise ConfigError(f"the window cannot be opened: {error}{_WINDOWLESS_HINT}") from error
    if pygame.display.get_driver() in _SCREENLESS_DRIVERS and not os.environ.get("SDL_VIDEODRIVER"):
        raise ConfigError(f"the window cannot be opened: no screen was found (is DISPLAY set?){_WINDOWLESS_HINT}")
    pygame.font.init()
    pygame.key.set_repeat(300, 40)
    desktop = pygame.display.get_desktop_sizes()[0]
    room = desktop[0], desktop[1] - _DESKTOP_RESERVE_PX
    size = tuple(min(a, b) for a, b in zip(settings.window_size, room, strict=True))
    pygame.display.set_icon(pygame.image.load(ROOT / "assets" / "icon.png"))  # required before the window is created
    window = pygame.display.set_mode(size, pygame.RESIZABLE)
    _set_minimum_size((min(MIN_WINDOW[0], size[0]), min(MIN_WINDOW[1], size[1])))
    pygame.display.set_caption("Backmove")
    return window


def _name_window_class() -> None:
    """Set the window class, by which desktops group windows and choose icons, unless the user has set it.

    The name of the started file, which pygame sets by default, is replaced.
    """
    for system in ("X11", "WAYLAND"):
        variable = f"SDL_VIDEO_{system}_WMCLASS"
        if os.environ.get(variable) in (None, Path(sys.argv[0]).name):
            os.environ[variable] = WINDOW_CLASS


def _set_minimum_size(least: tuple[int, int]) -> None:
    """Ask the window manager for a minimum window size; it may ignore the request."""
    # from_display_module() is deprecated, but no other function returns the window of pygame.display.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pygame.Window.from_display_module().minimum_size = least


@dataclass
class Progress:
    """Progress of compiling the kernels of the opened run, written by the thread that compiles them."""

    done: int = 0  # number of kernel groups compiled so far
    total: int = 0  # number of kernel groups to compile
    title: str = ""  # name of the kernel group that is being compiled
    error: BaseException | None = None  # exception that ended the compiling thread

    def tell(self, part: Part, done: int, total: int) -> None:
        """Store the progress of the compilation, which `make_ready` reports before each group of kernels."""
        self.title, self.done, self.total = part.title, done, total

    def make(self, parts: Sequence[Part]) -> None:
        """Compile groups of kernels in a thread; store an exception for the main thread instead of raising it."""
        try:
            make_ready(parts, self.tell)
        except BaseException as error:
            self.error = error

    @property
    def text(self) -> str:
        """Return the text of the splash screen: which group of kernels is being compiled, such as "2 of 5".

        A single group is not numbered, because it is usually the one that is needed to read the file. How many groups
        follow is known only after that.
        """
        count = f": {self.done + 1} of {self.total}" if self.total > 1 else ""
        return f"Preparing {self.title}{count} (only the first time)" if self.total else ""

    @property
    def share(self) -> float | None:
        return self.done / self.total if self.total > 1 else None


def _draw_splash(window: pygame.Surface, canvas: Canvas, settings: Settings, text: str, share: float | None) -> None:
    """Draw and present the splash screen.

    Args:
        window: Surface of the display.
        canvas: Canvas to draw with.
        settings: Settings with the theme and the UI scale.
        text: Line below the name of the program.
        share: Completed fraction for the progress bar; None: no bar.
    """
    palette = PALETTES[settings.theme]
    canvas.begin(window, palette, settings.ui_scale, (-1, -1))
    window.fill(palette.window)
    width, height = window.get_size()
    canvas.text(
        (width // 2, height // 2 - canvas.px(24)), "Backmove", size=28, face="bold", align="centre", middle=True
    )
    canvas.text(
        (width // 2, height // 2 + canvas.px(14)),
        text,
        size=14,
        colour=palette.dim,
        align="centre",
        middle=True,
    )
    if share is not None:
        long, high = canvas.px(320), canvas.px(6)
        left, top = (width - long) // 2, height // 2 + canvas.px(38)
        canvas.fill((left, top, long, high), palette.surface, 3)
        canvas.fill((left, top, max(high, round(long * share)), high), palette.accent, 3)
    pygame.display.flip()


def _prepare(window: pygame.Surface, settings: Settings, parts: Sequence[Part]) -> None:
    """Compile the missing kernels in a thread while the window shows the splash screen and handles events.

    Raises:
        SystemExit: The user closed the window.
        BaseException: The exception that ended the thread.
    """
    canvas, progress = Canvas(), Progress()
    worker = threading.Thread(target=progress.make, args=(parts,), daemon=True)
    worker.start()
    shown = None
    while worker.is_alive():
        state = progress.text, progress.share
        if state != shown or pygame.event.get(_REDRAW_EVENTS):  # more frequent drawing would slow down the compilation
            _draw_splash(window, canvas, settings, *state)
            shown = state
        if any(event.type == pygame.QUIT for event in pygame.event.get(pygame.QUIT)):
            raise SystemExit(0)
        worker.join(0.05)
    if progress.error is not None:
        raise progress.error


def _compile_run_parts(window: pygame.Surface, settings: Settings, painter: Painter, kinds: Sequence[str]) -> None:
    """Compile the kernels that the first frames of a run with these kinds of agents call."""
    painter.want(kinds)
    _prepare(window, settings, first_parts(kinds))
    painter.end()


def made_data(window: pygame.Surface, settings: Settings, scenario: Scenario) -> bool:
    """Compute the prepared data (such as databases of the map) of the agents while a splash screen is shown.

    Returns:
        False if the user stopped the computation with Esc, else True.

    Raises:
        SystemExit: The user closed the window.
    """
    if not needs_data(agents_of(scenario)):
        return True
    canvas, job = Canvas(), Job(lambda job: prepare(scenario, job.told))
    while not job.wait(0.05):
        _draw_splash(window, canvas, settings, "Computing what the agents need (Esc cancels)", job.share or 0.0)
        for event in pygame.event.get((pygame.QUIT, pygame.KEYDOWN)):
            if event.type == pygame.QUIT:
                raise SystemExit(0)
            if event.key == pygame.K_ESCAPE:
                job.give_up()
                return False
    job.result()
    return True


def kinds_of(opened: "files.Opened") -> list[str]:
    """Return the kinds of all agents of a run, including agents that join later, and `CROWD` if there are groups."""
    joining = [edit.command.config.kind for edit in opened.scenario.edits if isinstance(edit.command, AddAgent)]
    has_crowds = any(config.group for config in opened.scenario.agents)
    return [*(config.kind for config in opened.scenario.agents), *joining, *([CROWD] if has_crowds else [])]


def first_setup(path: Path | None) -> "files.Opened":
    """Open the given file, or the first example of the gallery if none is given."""
    return files.open_any(path if path is not None else files.examples()[0])


def run(path: Path | None = None) -> int:
    """Open the window and run its main loop until it is closed.

    Args:
        path: File to open; None: the first example of the gallery.

    Returns:
        Exit code of the program: 0, 1 after repeated errors, or `TERMINATED` after SIGTERM.

    Raises:
        ConfigError: The window or the file cannot be opened.
    """
    settings, complaint = load_settings()
    surface = open_window(settings)  # opened before kernels are compiled, to show the splash screen meanwhile
    with _closing_on_sigterm():
        return _run(surface, settings, path, complaint)


def _run(surface: pygame.Surface, settings: Settings, path: Path | None, complaint: str | None) -> int:
    """Open the first file, run the main loop, and shut down cleanly; return the exit code."""
    try:
        opened, path, stopped = _open_first_run(surface, settings, path)
    except (ConfigError, SystemExit):
        pygame.quit()
        give_up_all()
        raise
    app = App(Session(opened.scenario), settings, surface)
    _begin(app, opened, path, stopped or complaint)
    kept_settings = SettingsKeeper(settings, app.window.collect_settings, say=app.window.say)
    try:
        _loop(app, kept_settings)
    except Exception as error:
        app.safety.caught("finishing a frame", error)
        return _exit_after_crash(app)
    except KeyboardInterrupt:  # Ctrl+C in the terminal: the journal stays on disk, so the session can be restored
        _close_background_work(app)
        raise
    if app.safety.should_abort:
        return _exit_after_crash(app)
    kept_settings.close()
    is_journal_needed = app.window.is_terminated and app.session.unsaved.is_any
    if app.keeper is not None and not is_journal_needed:
        app.keeper.close()
    _close_background_work(app)
    return TERMINATED if app.window.is_terminated else 0


@contextmanager
def _closing_on_sigterm() -> Iterator[None]:
    """Make SIGTERM close the window without a dialog.

    SDL's own handler would ask about unsaved work when there may be no user to answer. The event is handled between
    two frames, so every line of the journal is complete.
    """
    event = pygame.event.Event(pygame.QUIT, is_forced=True)
    before = signal.signal(signal.SIGTERM, lambda number, frame: pygame.event.post(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _open_first_run(
    surface: pygame.Surface, settings: Settings, path: Path | None
) -> tuple["files.Opened", Path | None, str]:
    """Open the first file and make its kernels and prepared data ready.

    Returns:
        The opened file, its path (None for an example), and a message that explains why another file than the given
        one was opened ("" if the given file was opened).
    """
    painter, stopped = Painter(), ""
    try:
        _prepare(surface, settings, [world_part()])  # kernels of the world, some of which are needed to open a file
        opened = first_setup(path)
        _compile_run_parts(surface, settings, painter, kinds_of(opened))
        if not made_data(surface, settings, opened.scenario):
            stopped = f"{opened.path.name} was not opened, because you cancelled the computation for its agents"
            path, opened = None, first_setup(None)
            _compile_run_parts(surface, settings, painter, kinds_of(opened))
            made_data(surface, settings, opened.scenario)
    finally:
        painter.end()
    return opened, path, stopped


def _begin(app: App, opened: "files.Opened", path: Path | None, complaint: str | None) -> None:
    """Prepare the opened run for the main loop: apply the file, offer unsaved work, start journal and compilation.

    Args:
        app: Window with the opened run.
        opened: Content of the opened file.
        path: File that was opened; None: an example, which is played at once with explanatory notes.
        complaint: Message to show; None or "": no message.
    """
    window, settings = app.window, app.window.settings
    window.documents.complete(opened)
    window.documents.own_agents.put_named()
    app.session.path = path
    if complaint:
        window.say(complaint)
    window.documents.offer_crashed()
    window.recording.offer_leftovers(is_busy=window.dialogs.dialog is not None)
    app.keeper = AutosaveJournal(app.session)
    if path is not None:
        settings.remember(path)
    elif window.dialogs.dialog is None:
        window.player.play()
        window.state.notes = Notes(settings.closed_notes)
    gc.collect()
    gc.freeze()  # else a full garbage collection, which visits the compiler's objects, takes 25 ms of a frame
    window.player.may_put_off = True
    app.preparation.begin()
    app.safety.begin()


def _exit_after_crash(app: App) -> int:
    """Report the errors of the failing frames, stop background work, and return exit code 1.

    The journal stays on disk, so that the next start offers to restore the session.
    """
    app.safety.last_words()
    _close_background_work(app)
    return 1


def _close_background_work(app: App) -> None:
    """Close the window and stop background work; the process of a recording finishes its file by itself."""
    in_background = app.preparation.close, app.window.stop_study, app.window.recording.close
    for end in (*in_background, pygame.quit, give_up_ahead, give_up_all):
        with suppress(Exception):  # the component that caused a crash may fail again while it is closed
            end()


def _loop(app: App, kept_settings: SettingsKeeper) -> None:
    """Run one frame after another until the window is closed or too many frames in a row have failed."""
    app.draw()  # the first drawing shows the run before its first tick
    pace, status = Pace(), StatusFile()
    while app.window.is_open and not app.safety.should_abort:
        app.frame(pace.begin_frame())
        status.write(app)
        kept_settings.keep()
        pygame.display.set_caption(
            f"Backmove - {app.session.run.scenario.title}{' *' if app.session.has_unsaved_edits else ''}"
        )
        app.present()
        pace.end_frame(is_idle=app.is_idle)
