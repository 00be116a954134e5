"""Owner of the open dialog. It implements the interface between dialogs and window (`Host` in ui/dialogs/base.py)."""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

import pygame
import pygame_gui

from sim.files.map import ScenFile
from sim.files.scenario import Scenario
from sim.params import ConfigError
from ui.dialogs.base import Dialog, Host
from ui.dialogs.documents import Documents
from ui.dialogs.message import MessageBox
from ui.dialogs.working import Working
from ui.draw.theme import Palette
from ui.model import job as job_module
from ui.model.command import CommandTable
from ui.model.job import Job
from ui.model.session import Session
from ui.model.settings import Settings
from ui.panels.desk import ViewContext
from ui.panels.dressing import ViewOverrides
from ui.widgets.gui_theme import make_manager

T = TypeVar("T")


class Dialogs:
    """Owner of the open dialog, and host of all dialogs."""

    def __init__(
        self, desk: ViewContext, dressing: ViewOverrides, commands: CommandTable, window_size: tuple[int, int]
    ) -> None:
        self.desk, self.commands = desk, commands
        self.window_size = window_size
        self.dialog: Dialog | None = None
        self.documents = Documents(desk, dressing, self)
        self.rebuild(window_size)

    def rebuild(self, window_size: tuple[int, int]) -> None:
        """Recreate all widgets for a new size, scale or theme; an open dialog keeps its content."""
        self.window_size = window_size
        self.gui: pygame_gui.UIManager = make_manager(window_size, self.palette, self.scale)
        if self.dialog is not None:
            self.dialog.rebuild()

    # --- opening and closing ----------------------------------------------------------------------

    def show(self, dialog: Dialog) -> None:
        self.close_dialog()
        self.dialog = dialog

    def close_dialog(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.close()

    def complain(self, error: ConfigError, title: str = "That did not work") -> None:
        self.show(MessageBox(self, title, [self.commands.worded(problem) for problem in error.problems]))

    def message(self, host: Host, title: str, problems: Sequence[str]) -> Dialog:
        return MessageBox(host, title, problems)

    def work(self, title: str, job: Job[T], then: Callable[[T], None], failed: str = "That did not work") -> None:
        """Call `then` with the result of a job; if the job takes long, show its progress and a button to cancel it.

        Args:
            title: Title of the progress dialog.
            job: Job that is already running.
            then: Called with the result, in the main thread.
            failed: Title of the message box if the job raises a ConfigError.
        """

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

    # --- a frame ----------------------------------------------------------------------------------

    @property
    def takes_all(self) -> bool:
        """Return whether a modal dialog is open, so that nothing else can be clicked."""
        return self.dialog is not None and self.dialog.veils

    @property
    def is_still(self) -> bool:
        """Return whether no dialog is open, or the open dialog needs no redraw until the next event."""
        return self.dialog is None or self.dialog.is_still

    def handle(self, event: pygame.event.Event) -> bool:
        """Pass an event to the open dialog; return whether the dialog consumed it."""
        return self.dialog is not None and self.dialog.handle(event)

    def update(self, seconds: float) -> None:
        if self.dialog is not None:
            self.gui.update(seconds)
            self.dialog.update(seconds)

    # --- interface for dialogs --------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return self.desk.palette

    @property
    def scale(self) -> float:
        return self.desk.scene.scale

    @property
    def session(self) -> Session:
        return self.desk.session

    @property
    def settings(self) -> Settings:
        return self.desk.settings

    @property
    def problems(self) -> ScenFile | None:
        return self.documents.problems

    def run(self, command_id: str) -> None:
        self.desk.run(command_id)

    def say(self, text: str) -> None:
        self.desk.say(text)

    def tell(self, text: str) -> None:
        self.desk.tell(text)

    def open_path(self, path: str | os.PathLike[str]) -> None:
        self.documents.open_path(path)

    def open_example(self, path: str | os.PathLike[str]) -> None:
        self.documents.open_example(path)

    def open_scenario(self, scenario: Scenario, *, keeps_view: bool = False) -> None:
        self.documents.open_scenario(scenario, keeps_view=keeps_view)

    def save_session(self, then: Callable[[], None] = lambda: None) -> None:
        self.documents.save_session(then)
