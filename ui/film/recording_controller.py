"""Recording of videos from the window: start and stop, indicators, background exports, recovery after a crash.

A recording follows the run while the window shows it; an export films a range of ticks of the run in the background.

Each recording and each export runs in a worker process, for which the window has a handle.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pygame

from files.disk import create_folder
from sim.params import ConfigError, Value
from ui.dialogs.dialog_base import DialogHost
from ui.dialogs.question import QuestionDialog
from ui.draw.theme import RED
from ui.film import recording_files
from ui.film.film_options import PICTURE
from ui.film.record_dialogs import ExportDialog, RecordDialog, film_options_of
from ui.film.replay import replay_spec_of_run
from ui.film.worker_handle import WorkerHandle
from ui.film.worker_messages import WorkerReport
from ui.panels.view_overrides import ViewOverrides
from ui.widgets.canvas import HitRegion

Values = dict[str, Value]


class RecordingController:
    """Controller of the recording and the exports of a window, with their indicators in the top bar."""

    def __init__(self, overrides: ViewOverrides, host: DialogHost) -> None:
        self.view_overrides, self.view_context, self.dialog_host = overrides, overrides.view_context, host
        self.active_recording: WorkerHandle | None = None  # recording in progress
        self._record_dialog: RecordDialog | None = None  # record dialog that was opened last; may be closed
        self.active_exports: list[WorkerHandle] = []  # exports in progress
        self._finishing_workers: list[WorkerHandle] = []  # stopped recordings whose files are still being written
        # Finished recordings and exports whose processes are not reaped.
        self._unreaped_workers: list[WorkerHandle] = []

    # --- recording --------------------------------------------------------------------------------

    @property
    def is_recording(self) -> bool:
        return self.active_recording is not None

    @property
    def is_recording_or_exporting(self) -> bool:
        """Return whether any recording or export is running, or its process has not been reaped."""
        return self.is_recording or bool(self.active_exports or self._finishing_workers or self._unreaped_workers)

    @property
    def must_run_wait(self) -> bool:
        """Return whether the run must wait, because the record dialog is open or the worker is too far behind."""
        return self._is_record_dialog_open or (
            self.active_recording is not None and self.active_recording.must_simulation_wait
        )

    @property
    def _is_record_dialog_open(self) -> bool:
        """Return whether the record dialog pauses the run: it is open, and no seek is in progress."""
        return (
            self._record_dialog is not None
            and self._record_dialog.is_open
            and not self.view_context.session.run.is_seeking
        )

    def toggle_recording(self) -> None:
        """Stop the recording in progress, or open the record dialog to start one (F9).

        At the end of a run the export dialog is opened instead, because no more ticks will follow.
        """
        state, session = self.view_context.ui_state, self.view_context.session
        if self.active_recording is not None:
            self.stop_recording()
        elif session.run.is_over and session.tick:
            self.open_export_dialog(state.mark_in or 0, state.mark_out)
        else:
            self._record_dialog = RecordDialog(self.dialog_host, self.start_recording)
            self.dialog_host.open_dialog(self._record_dialog)

    def start_recording(self, values: Values) -> None:
        """Start recording at the current tick, with the options entered in the dialog."""
        desk = self.view_context
        options = film_options_of(values, desk.map_view.layout.size, desk.session.panel_index(desk.session.focused_key))
        target = self._unused_target_path(values)
        self.active_recording = WorkerHandle.start_recording(
            target, desk.session, options, self.view_overrides.current_appearance()
        )
        keys = (
            "{key:record} stops"
            if desk.player.step_clock.is_running
            else "{key:play} starts the run, {key:record} stops"
        )
        desk.show_message(f"Recording to {target.name} in {target.parent}. {keys} the recording.")

    def _unused_target_path(self, values: Values, last: int | None = None) -> Path:
        """Return an unused path in the recordings folder, named after the agents and ticks of the recording.

        Args:
            values: Values of the dialog, by parameter name.
            last: Last tick of an export; None for a recording.

        Raises:
            ConfigError: The folder or the file cannot be written.
        """
        desk = self.view_context
        first = desk.session.tick if last is None else int(values["from_tick"])
        folder = recording_files.recordings_folder()
        create_folder(folder)
        suffix = "" if values["format"] == PICTURE[1:] else f".{values['format']}"
        labels = [panel.walker_view.label for panel in desk.map_view.shown_panels]
        # files that running workers will write, which may not exist on disk yet
        reserved = {worker.last_report.path for worker in (*self.active_exports, *self._finishing_workers)}
        target = recording_files.unused_path(
            folder / recording_files.recording_file_name(labels, first, suffix, last), reserved
        )
        recording_files.check_path_is_writable(target)
        return target

    def stop_recording(self) -> None:
        """Stop the recording; its worker finishes the file in the background."""
        if self.active_recording is not None:
            self.active_recording.send_window_changes(
                self.view_context.session, self.view_overrides.current_appearance()
            )
            self.active_recording.stop_recording()
            self._finishing_workers.append(self.active_recording)
            self.active_recording = None

    def cut_at_next_seek(self) -> None:
        """Make a cut in the video: continue at the target of the next seek, without the ticks in between."""
        if self.active_recording is not None:
            self.active_recording.cut_at_next_seek()

    # --- exports ----------------------------------------------------------------------------------

    def open_export_dialog(self, first: int = 0, last: int | None = None) -> None:
        """Open the export dialog.

        Args:
            first: Initial value of the first tick, such as a tick marked on the timeline.
            last: Initial value of the last tick; None: the last known tick of the run.
        """
        session = self.view_context.session
        end = max(session.run.last_reached_tick, session.tick) if last is None else last
        parent = session.run.branch_tree[session.run.focused_branch_number].parent
        self.dialog_host.open_dialog(ExportDialog(self.dialog_host, self.start_export, first, end, parent is not None))

    def start_export(self, values: Values) -> None:
        """Start exporting a range of ticks as a video, of the branches on screen or of a branch and its parent.

        Args:
            values: Values of the dialog, by parameter name.

        Raises:
            ConfigError: The range is empty or begins after the end of the run, or the file cannot be written.
        """
        desk, session = self.view_context, self.view_context.session
        first, last = int(values["from_tick"]), int(values["to_tick"])
        if last < first:
            raise ConfigError(f"to tick: expected {first:,} or later, got {last:,}")
        if session.run.is_over and first > session.tick:
            raise ConfigError(f"from tick: expected at most {session.tick:,}, the last tick of the run, got {first:,}")
        options = film_options_of(values, desk.map_view.layout.size, session.panel_index(session.focused_key))
        branches = None
        parent = session.run.branch_tree[session.run.focused_branch_number].parent
        appearance = self.view_overrides.current_appearance()
        if values.get("beside_parent") and parent is not None:
            branches = [parent, session.run.focused_branch_number]
            appearance = replace(appearance, panel_order=())
        target = self._unused_target_path(values, last)
        self.active_exports.append(
            WorkerHandle.start_export(
                target, replay_spec_of_run(session.run, branches), (first, last + 1), options, appearance
            )
        )
        ticks_text = f"ticks {first:,} to {last:,}" if last > first else f"tick {first:,}"
        desk.show_message(f"Exporting {ticks_text} to {target.name}")

    # --- updates once a frame ---------------------------------------------------------------------

    def update_workers(self) -> None:
        """Send changes of the run to the worker, and notify the user of finished files. Call this once per frame."""
        if self.active_recording is not None:
            self.active_recording.send_window_changes(
                self.view_context.session, self.view_overrides.current_appearance()
            )
            if (
                self.active_recording.last_report.is_done
            ):  # the worker has stopped by itself, for example because the disk is full
                self._notify_of_worker_result(self.active_recording)
                self.active_recording = None
        self._finishing_workers = [
            worker for worker in self._finishing_workers if not self._notify_if_worker_done(worker)
        ]
        self.active_exports = [worker for worker in self.active_exports if not self._notify_if_worker_done(worker)]
        self._unreaped_workers = [worker for worker in self._unreaped_workers if not worker.reap_process()]

    def _notify_if_worker_done(self, worker: WorkerHandle) -> bool:
        if worker.last_report.is_done:
            self._notify_of_worker_result(worker)
        return worker.last_report.is_done

    def _notify_of_worker_result(self, worker: WorkerHandle) -> None:
        """Notify the user of the result of a recording or export, whose process still has to be reaped."""
        report = worker.last_report
        self._unreaped_workers.append(worker)
        if report.problem:
            self.view_context.show_message(report.problem)
        elif report.is_cancelled:
            self.view_context.show_message("Export cancelled")
        else:
            length = "1 frame" if report.frames == 1 else f"{report.seconds:.1f} s"
            self.view_context.show_message(f"Recorded {report.path}: {length}, {file_size_text(report.bytes)}")

    def close(self) -> None:
        """Stop the recording because the window closes; worker processes finish their files by themselves."""
        if self.active_recording is not None:
            self.stop_recording()
        for worker in (*self._finishing_workers, *self.active_exports):
            worker.close()

    # --- interrupted recordings -------------------------------------------------------------------

    def offer_interrupted_recordings(self, is_busy: bool) -> None:
        """Offer to finish recordings that were interrupted because the program was killed. Call this at the start.

        Args:
            is_busy: Whether another dialog is open; then nothing is offered.
        """
        recordings = recording_files.interrupted_recordings()
        if not recordings or is_busy:
            return
        text = "A recording was interrupted because the program ended:\n" if len(recordings) == 1 else ""
        text = text or f"{len(recordings)} recordings were interrupted because the program ended:\n"
        text += "\n".join(str(recording) for recording in recordings[:5])
        parts = [recording.part_path for recording in recordings]
        answers = (
            ("Discard", partial(self._delete_part_files, parts), "danger"),
            ("Later", _keep_part_files_for_next_start, ""),
            ("Finish", partial(self._finish_part_files, parts), "main"),
        )
        self.dialog_host.open_dialog(QuestionDialog(self.dialog_host, "Interrupted recordings", text, answers))

    def _finish_part_files(self, parts: list[Path]) -> None:
        """Finish the part files of interrupted recordings, and notify the user of each result."""
        from ui.film.recorder import recover_recording  # a late import, because the codecs are slow to load

        for part in parts:
            try:
                self.view_context.show_message(f"Finished {recover_recording(part)}")
            except ConfigError as error:
                self.view_context.show_message(error.problems[0])

    @staticmethod
    def _delete_part_files(parts: list[Path]) -> None:
        for part in parts:
            recording_files.remove_part_file(part)

    # --- the indicator ----------------------------------------------------------------------------

    def draw_recording_indicators(self, right: int, middle: int) -> int:
        """Draw the indicators of all recordings and exports in progress, right-aligned.

        A click on an indicator stops its recording or cancels its export.

        Args:
            right: Right edge in pixels.
            middle: Vertical centre in pixels.

        Returns:
            The right edge for the next element, to the left of the indicators.
        """
        for worker, action, command in self._recording_indicators():
            right = self._draw_recording_indicator(worker, action, command, right, middle)
        return right

    def _recording_indicators(self) -> list[tuple[WorkerHandle, Callable[[], None] | None, str]]:
        """Return, for each indicator from right to left, its worker handle, click action, and name of its command."""
        indicators: list[tuple[WorkerHandle, Callable[[], None] | None, str]] = [
            (worker, None, "record") for worker in self._finishing_workers
        ]
        indicators += [(worker, worker.cancel, "export_video") for worker in self.active_exports]
        if self.active_recording is not None:
            indicators.append((self.active_recording, self.stop_recording, "record"))
        return indicators

    def _draw_recording_indicator(
        self, worker: WorkerHandle, action: Callable[[], None] | None, command: str, right: int, middle: int
    ) -> int:
        canvas, palette = self.view_context.canvas, self.view_context.palette
        px = canvas.to_px
        text = indicator_text(worker.last_report, is_export=worker in self.active_exports)
        width = canvas.text_width(text, 13, "mono") + px(34)
        box = (right - width, middle - px(13), width, px(26))
        is_filming = worker is self.active_recording
        tip = f"{worker.last_report.path}. " + ("Click to stop" if is_filming else "Click to cancel" if action else "")
        region_id = f"recording:{id(worker)}"
        is_hovered = canvas.add_hit_region(HitRegion(region_id, box, action, tip, (command,)))
        ground = palette.hover if is_hovered else palette.raised
        canvas.fill_box(box, canvas.shade_if_pressed(ground, region_id, is_hovered), 6)
        dot = RED if is_filming else palette.dim
        pygame.draw.circle(canvas.surface, dot, (box[0] + px(13), middle), px(5))
        canvas.draw_text((box[0] + px(25), middle), text, size=13, face="mono", middle=True)
        return box[0] - px(8)


def indicator_text(report: WorkerReport, is_export: bool = False) -> str:
    """Return the text of an indicator: length and size of a recording, or progress of an export or a conversion."""
    if report.phase == "starting":
        return "starting"
    if is_export or report.phase == "finishing":
        return f"{report.phase if report.phase == 'finishing' else 'export'} {report.share:.0%}"
    minutes, seconds = divmod(int(report.seconds), 60)
    return f"{minutes}:{seconds:02} {file_size_text(report.bytes)}"


def file_size_text(size: int) -> str:
    if size < 1_000_000:
        return f"{size / 1e3:.0f} kB"
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.2f} GB"


def _keep_part_files_for_next_start() -> None:
    """Do nothing: the recordings are offered again at the next start."""
