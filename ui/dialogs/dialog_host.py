"""Owner of the open dialog.

It implements the interface between dialogs and window (`DialogHost` in ui/dialogs/dialog_base.py).
"""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

import pygame

from files.movingai import ScenFile
from files.scenario import Scenario
from sim.params import ConfigError
from ui.dialogs.dialog_base import Dialog, DialogHost
from ui.dialogs.document_opener import DocumentOpener
from ui.dialogs.message_box import MessageBox
from ui.dialogs.progress_dialog import ProgressDialog
from ui.draw.theme import Palette
from ui.model import background_job as job_module
from ui.model.background_job import BackgroundJob
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.ui_command import CommandTable
from ui.panels.view_context import ViewContext
from ui.panels.view_overrides import ViewOverrides

T = TypeVar("T")


class WindowDialogs:
    """Owner of the open dialog, and host of all dialogs."""

    def __init__(self, desk: ViewContext, overrides: ViewOverrides, window_size: tuple[int, int]) -> None:
        self.view_context = desk
        self.window_size = window_size
        self.current_dialog: Dialog | None = None
        self.document_opener = DocumentOpener(desk, overrides, self)

    def rebuild_widgets(self, window_size: tuple[int, int]) -> None:
        """Recreate all widgets for a new size, scale or theme; an open dialog keeps its content."""
        self.window_size = window_size
        if self.current_dialog is not None:
            self.current_dialog.rebuild_widgets()

    # --- opening and closing ----------------------------------------------------------------------

    def open_dialog(self, dialog: Dialog) -> None:
        self.close_dialog()
        self.current_dialog = dialog

    def close_dialog(self) -> None:
        dialog, self.current_dialog = self.current_dialog, None
        if dialog is not None:
            dialog.close()

    def show_error(self, error: ConfigError, title: str = "That did not work") -> None:
        self.open_dialog(
            MessageBox(self, title, [self.command_table.text_with_key_names(problem) for problem in error.problems])
        )

    def create_message_box(self, host: DialogHost, title: str, problems: Sequence[str]) -> Dialog:
        return MessageBox(host, title, problems)

    def call_when_job_done(
        self, title: str, job: BackgroundJob[T], then: Callable[[T], None], failed: str = "That did not work"
    ) -> None:
        """Call `then` with the result of a job; if it takes long, show its progress and a button to cancel it."""

        def finish(done: BackgroundJob[T]) -> None:
            try:
                result = done.result()
            except ConfigError as error:
                self.show_error(error, failed)
            else:
                then(result)

        if job.wait_until_done(job_module.PROGRESS_DELAY_S):
            finish(job)
        else:
            self.open_dialog(ProgressDialog(self, title, job, finish))

    # --- a frame ----------------------------------------------------------------------------------

    @property
    def is_modal(self) -> bool:
        """Return whether a modal dialog is open, so that nothing else can be clicked."""
        return self.current_dialog is not None and self.current_dialog.is_modal

    @property
    def is_unchanging(self) -> bool:
        """Return whether no dialog is open, or the open dialog needs no redraw until the next event."""
        return self.current_dialog is None or self.current_dialog.is_unchanging

    def handle_event(self, event: pygame.event.Event) -> bool:
        """Pass an event to the open dialog; return whether the dialog consumed it."""
        return self.current_dialog is not None and self.current_dialog.handle_event(event)

    def update_open_dialog(self, seconds: float) -> None:
        if self.current_dialog is not None:
            self.current_dialog.update_dialog(seconds)

    # --- interface for dialogs --------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        return self.view_context.palette

    @property
    def ui_scale(self) -> float:
        return self.view_context.map_view.px_per_unit

    @property
    def session(self) -> Session:
        return self.view_context.session

    @property
    def settings(self) -> Settings:
        return self.view_context.settings

    @property
    def benchmark_problems(self) -> ScenFile | None:
        return self.document_opener.benchmark_problems

    @property
    def command_table(self) -> CommandTable:
        return self.view_context.command_table

    def run_command(self, command_id: str) -> None:
        self.view_context.run_command(command_id)

    def disabled_reason_of_command(self, command_id: str) -> str:
        return self.view_context.disabled_reason_of_command(command_id)

    def is_command_on(self, command_id: str) -> bool:
        return self.view_context.is_command_on(command_id)

    def show_message(self, text: str) -> None:
        self.view_context.show_message(text)

    def show_message_until_edit(self, text: str) -> None:
        self.view_context.show_message_until_edit(text)

    def open_path(self, path: str | os.PathLike[str]) -> None:
        self.document_opener.open_path(path)

    def open_example(self, path: str | os.PathLike[str]) -> None:
        self.document_opener.open_example(path)

    def open_scenario(self, scenario: Scenario, *, keeps_view: bool = False) -> None:
        self.document_opener.open_scenario(scenario, keeps_view=keeps_view)

    def save_session(self, then: Callable[[], None] = lambda: None) -> None:
        self.document_opener.save_session(then)
