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

from agents.warm_up import CROWD_KIND, world_kernel_set
from files.scenario import Scenario
from sim.jit.ready import KernelSet, compile_missing_kernel_sets
from sim.params import ConfigError
from sim.prepared_data import cancel_prefetching
from sim.system.program import PROGRAM_COMMAND, PROGRAM_FOLDER
from sim.world_commands import AddAgent
from ui.app import App
from ui.draw.theme import PALETTES
from ui.frame_pacer import FramePacer
from ui.model import opened_files
from ui.model.autosave import AutosaveJournal, SettingsAutosave
from ui.model.background_job import BackgroundJob, cancel_all_jobs
from ui.model.data_preparation import agents_of_scenario, needs_prepared_data, prepare_data_of_scenario
from ui.model.session import Session
from ui.model.settings import Settings, load_settings
from ui.model.tutorial_notes import TutorialNotes
from ui.status_file import StatusFile
from ui.warmup import PictureKernelCompiler, first_frame_kernel_sets
from ui.widgets.canvas import Canvas

_DESKTOP_RESERVE_PX = 72
"""Pixels of screen height reserved for the title bar of the window and the taskbar of the desktop."""

MIN_WINDOW_SIZE = (480, 360)
"""Minimum width and height of the window in pixels; in a smaller window the text is unreadable."""

WINDOW_CLASS = "backmove"  # window class (WM_CLASS), by which desktops group windows and choose the icon
_REDRAW_EVENTS = (pygame.WINDOWEXPOSED, pygame.WINDOWSIZECHANGED)
"""Events after which the window has to be redrawn, because the system may have discarded its contents."""

SIGTERM_EXIT_CODE = 128 + signal.SIGTERM
"""Exit code of the window after SIGTERM, equal to that of the commands `solve` and `run`."""

_SCREENLESS_VIDEO_DRIVERS = ("dummy", "offscreen")  # names of the video drivers that SDL falls back to without a screen
_COMMANDS_WITHOUT_WINDOW_HINT = f"; `{PROGRAM_COMMAND} run FILE` and `{PROGRAM_COMMAND} record FILE` need no window"


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
    os.environ.setdefault("SDL_IME_SHOW_UI", "1")  # otherwise input methods do not show their list of candidates
    _set_window_class()
    try:
        pygame.display.init()
    except pygame.error as error:
        raise ConfigError(f"the window cannot be opened: {error}{_COMMANDS_WITHOUT_WINDOW_HINT}") from error
    if pygame.display.get_driver() in _SCREENLESS_VIDEO_DRIVERS and not os.environ.get("SDL_VIDEODRIVER"):
        raise ConfigError(
            f"the window cannot be opened: no screen was found (is DISPLAY set?){_COMMANDS_WITHOUT_WINDOW_HINT}"
        )
    pygame.font.init()
    pygame.key.set_repeat(300, 40)
    desktop = pygame.display.get_desktop_sizes()[0]
    usable_size = desktop[0], desktop[1] - _DESKTOP_RESERVE_PX
    size = tuple(min(a, b) for a, b in zip(settings.window_size, usable_size, strict=True))
    # Required before the window is created.
    pygame.display.set_icon(pygame.image.load(PROGRAM_FOLDER / "assets" / "icon.png"))
    window = pygame.display.set_mode(size, pygame.RESIZABLE)
    _set_minimum_window_size((min(MIN_WINDOW_SIZE[0], size[0]), min(MIN_WINDOW_SIZE[1], size[1])))
    pygame.display.set_caption("Backmove")
    return window


def _set_window_class() -> None:
    """Set the window class, by which desktops group windows and choose icons, unless the user has set it.

    The name of the started file, which pygame sets by default, is replaced.
    """
    for system in ("X11", "WAYLAND"):
        variable = f"SDL_VIDEO_{system}_WMCLASS"
        if os.environ.get(variable) in (None, Path(sys.argv[0]).name):
            os.environ[variable] = WINDOW_CLASS


def _set_minimum_window_size(min_size: tuple[int, int]) -> None:
    """Ask the window manager for a minimum window size; it may ignore the request."""
    # from_display_module() is deprecated, but no other function returns the window of pygame.display.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pygame.Window.from_display_module().minimum_size = min_size


@dataclass
class CompilationProgress:
    """Progress of compiling the kernels of the opened run, written by the thread that compiles them."""

    done: int = 0  # number of kernel groups compiled so far
    kernel_set_count: int = 0  # number of kernel groups to compile
    current_set_title: str = ""  # name of the kernel group that is being compiled
    compilation_error: BaseException | None = None  # exception that ended the compiling thread

    def store_progress(self, part: KernelSet, done: int, total: int) -> None:
        """Store the progress that `compile_missing_kernel_sets` reports before each group of kernels."""
        self.current_set_title, self.done, self.kernel_set_count = part.title, done, total

    def compile_kernel_sets(self, parts: Sequence[KernelSet]) -> None:
        """Compile groups of kernels in a thread; store an exception for the main thread instead of raising it."""
        try:
            compile_missing_kernel_sets(parts, self.store_progress)
        except BaseException as error:
            self.compilation_error = error

    @property
    def splash_text(self) -> str:
        """Return the text of the splash screen: which group of kernels is being compiled, such as "2 of 5".

        A single group is not numbered, because it is usually the one that is needed to read the file. How many groups
        follow is known only after that.
        """
        count = f": {self.done + 1} of {self.kernel_set_count}" if self.kernel_set_count > 1 else ""
        return f"Preparing {self.current_set_title}{count} (only the first time)" if self.kernel_set_count else ""

    @property
    def share(self) -> float | None:
        return self.done / self.kernel_set_count if self.kernel_set_count > 1 else None


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
    canvas.begin_frame(window, palette, settings.ui_scale, (-1, -1))
    window.fill(palette.window)
    width, height = window.get_size()
    canvas.draw_text(
        (width // 2, height // 2 - canvas.to_px(24)), "Backmove", size=28, face="bold", align="centre", middle=True
    )
    canvas.draw_text(
        (width // 2, height // 2 + canvas.to_px(14)),
        text,
        size=14,
        colour=palette.dim,
        align="centre",
        middle=True,
    )
    if share is not None:
        bar_width, bar_height = canvas.to_px(320), canvas.to_px(6)
        left, top = (width - bar_width) // 2, height // 2 + canvas.to_px(38)
        canvas.fill_box((left, top, bar_width, bar_height), palette.surface, 3)
        canvas.fill_box((left, top, max(bar_height, round(bar_width * share)), bar_height), palette.accent, 3)
    pygame.display.flip()


def _compile_with_splash(window: pygame.Surface, settings: Settings, parts: Sequence[KernelSet]) -> None:
    """Compile the missing kernels in a thread while the window shows the splash screen and handles events.

    Raises:
        SystemExit: The user closed the window.
        BaseException: The exception that ended the thread.
    """
    canvas, progress = Canvas(), CompilationProgress()
    worker = threading.Thread(target=progress.compile_kernel_sets, args=(parts,), daemon=True)
    worker.start()
    shown_share = None
    while worker.is_alive():
        state = progress.splash_text, progress.share
        if state != shown_share or pygame.event.get(
            _REDRAW_EVENTS
        ):  # more frequent drawing would slow down the compilation
            _draw_splash(window, canvas, settings, *state)
            shown_share = state
        if any(event.type == pygame.QUIT for event in pygame.event.get(pygame.QUIT)):
            raise SystemExit(0)
        worker.join(0.05)
    if progress.compilation_error is not None:
        raise progress.compilation_error


def _compile_run_kernels(
    window: pygame.Surface, settings: Settings, painter: PictureKernelCompiler, agent_kinds: Sequence[str]
) -> None:
    """Compile the kernels that the first frames of a run with these kinds of agents call."""
    painter.send_agent_kinds(agent_kinds)
    _compile_with_splash(window, settings, first_frame_kernel_sets(agent_kinds))
    painter.stop_compiler_process()


def prepare_agent_data(window: pygame.Surface, settings: Settings, scenario: Scenario) -> bool:
    """Compute the prepared data (such as databases of the map) of the agents while a splash screen is shown.

    Returns:
        False if the user stopped the computation with Esc, else True.

    Raises:
        SystemExit: The user closed the window.
    """
    if not needs_prepared_data(agents_of_scenario(scenario)):
        return True
    canvas, job = Canvas(), BackgroundJob(lambda job: prepare_data_of_scenario(scenario, job.report_progress))
    while not job.wait_until_done(0.05):
        _draw_splash(window, canvas, settings, "Computing what the agents need (Esc cancels)", job.share or 0.0)
        for event in pygame.event.get((pygame.QUIT, pygame.KEYDOWN)):
            if event.type == pygame.QUIT:
                raise SystemExit(0)
            if event.key == pygame.K_ESCAPE:
                job.cancel()
                return False
    job.result()
    return True


def agent_kinds_of_file(opened: "opened_files.OpenedFile") -> list[str]:
    """Return the kinds of all agents of a run, also of those that join later, and `CROWD_KIND` if there are groups."""
    joining_kinds = [
        edit.command.config.kind for edit in opened.scenario.timed_commands if isinstance(edit.command, AddAgent)
    ]
    has_crowds = any(config.group for config in opened.scenario.agents)
    return [*(config.kind for config in opened.scenario.agents), *joining_kinds, *([CROWD_KIND] if has_crowds else [])]


def open_first_file(path: Path | None) -> "opened_files.OpenedFile":
    """Open the given file, or the first example of the gallery if none is given."""
    return opened_files.open_any_file(path if path is not None else opened_files.example_files()[0])


def run_until_closed(path: Path | None = None) -> int:
    """Open the window and run its main loop until it is closed.

    Args:
        path: File to open; None: the first example of the gallery.

    Returns:
        Exit code of the program: 0, 1 after repeated errors, or `SIGTERM_EXIT_CODE` after SIGTERM.

    Raises:
        ConfigError: The window or the file cannot be opened.
    """
    settings, settings_problem = load_settings()
    surface = open_window(settings)  # opened before kernels are compiled, to show the splash screen meanwhile
    with _close_on_sigterm():
        return _run_on_surface(surface, settings, path, settings_problem)


def _run_on_surface(
    surface: pygame.Surface, settings: Settings, path: Path | None, settings_problem: str | None
) -> int:
    """Open the first file, run the main loop, and shut down cleanly; return the exit code."""
    try:
        opened, path, stopped = _open_first_run(surface, settings, path)
    except (ConfigError, SystemExit):
        pygame.quit()
        cancel_all_jobs()
        raise
    app = App(Session(opened.scenario), settings, surface)
    _begin_opened_run(app, opened, path, stopped or settings_problem)
    kept_settings = SettingsAutosave(
        settings, app.window.copy_window_state_to_settings, notify_user=app.window.notify_user
    )
    try:
        _run_main_loop(app, kept_settings)
    except Exception as error:
        app.error_recovery.handle_error("finishing a frame", error)
        return _exit_after_crash(app)
    except KeyboardInterrupt:  # Ctrl+C in the terminal: the journal stays on disk, so the session can be restored
        _close_background_work(app)
        raise
    if app.error_recovery.should_abort_program:
        return _exit_after_crash(app)
    kept_settings.close()
    is_journal_needed = app.window.is_terminated and app.session.unsaved_work.has_unsaved_changes
    if app.autosave_journal is not None and not is_journal_needed:
        app.autosave_journal.close()
    _close_background_work(app)
    return SIGTERM_EXIT_CODE if app.window.is_terminated else 0


@contextmanager
def _close_on_sigterm() -> Iterator[None]:
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
) -> tuple["opened_files.OpenedFile", Path | None, str]:
    """Open the first file and make its kernels and prepared data ready.

    Returns:
        The opened file, its path (None for an example), and a message that explains why another file than the given
        one was opened ("" if the given file was opened).
    """
    painter, stopped = PictureKernelCompiler(), ""
    try:
        # Kernels of the world, some of which are needed to open a file.
        _compile_with_splash(surface, settings, [world_kernel_set()])
        opened = open_first_file(path)
        _compile_run_kernels(surface, settings, painter, agent_kinds_of_file(opened))
        if not prepare_agent_data(surface, settings, opened.scenario):
            stopped = f"{opened.path.name} was not opened, because you cancelled the computation for its agents"
            path, opened = None, open_first_file(None)
            _compile_run_kernels(surface, settings, painter, agent_kinds_of_file(opened))
            prepare_agent_data(surface, settings, opened.scenario)
    finally:
        painter.stop_compiler_process()
    return opened, path, stopped


def _begin_opened_run(
    app: App, opened: "opened_files.OpenedFile", path: Path | None, settings_problem: str | None
) -> None:
    """Prepare the opened run for the main loop: apply the file, offer unsaved work, start journal and compilation.

    Args:
        app: Window with the opened run.
        opened: Content of the opened file.
        path: File that was opened; None: an example, which is played at once with explanatory notes.
        settings_problem: Message to show; None or "": no message.
    """
    window, settings = app.window, app.window.settings
    window.document_opener.apply_opened_file_parts(opened)
    window.document_opener.agent_file_poller.add_named_agents()
    app.session.path = path
    if settings_problem:
        window.notify_user(settings_problem)
    window.document_opener.offer_crashed_session()
    window.recording_controller.offer_interrupted_recordings(is_busy=window.dialogs.current_dialog is not None)
    app.autosave_journal = AutosaveJournal(app.session)
    if path is not None:
        settings.add_recent_file(path)
    elif window.dialogs.current_dialog is None:
        window.player.play()
        window.ui_state.tutorial_notes = TutorialNotes(settings.closed_notes)
    gc.collect()
    gc.freeze()  # else a full garbage collection, which visits the compiler's objects, takes 25 ms of a frame
    window.player.may_postpone_ticks = True
    app.kernel_preparation.start_compiling_process()
    app.error_recovery.switch_on_recovery()


def _exit_after_crash(app: App) -> int:
    """Report the errors of the failing frames, stop background work, and return exit code 1.

    The journal stays on disk, so that the next start offers to restore the session.
    """
    app.error_recovery.write_crash_report()
    _close_background_work(app)
    return 1


def _close_background_work(app: App) -> None:
    """Close the window and stop background work; the process of a recording finishes its file by itself."""
    in_background = (
        app.kernel_preparation.close,
        app.window.stop_background_experiment,
        app.window.recording_controller.close,
    )
    for end in (*in_background, pygame.quit, cancel_prefetching, cancel_all_jobs):
        with suppress(Exception):  # the component that caused a crash may fail again while it is closed
            end()


def _run_main_loop(app: App, kept_settings: SettingsAutosave) -> None:
    """Run one frame after another until the window is closed or too many frames in a row have failed."""
    app.draw_window()  # the first drawing shows the run before its first tick
    pace, status = FramePacer(), StatusFile()
    while app.window.is_window_open and not app.error_recovery.should_abort_program:
        app.run_frame(pace.begin_frame())
        status.write_status(app)
        kept_settings.save_settings_if_changed()
        pygame.display.set_caption(
            f"Backmove - {app.session.run.scenario.title}{' *' if app.session.has_unsaved_edits else ''}"
        )
        app.present_frame()
        pace.end_frame(is_idle=app.is_idle)
