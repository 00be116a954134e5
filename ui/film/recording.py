"""Recording of videos from the window: start and stop, indicators, background exports, recovery after a crash.

A recording follows the run while the window shows it; an export films a range of ticks of the run in the background.

Each recording and each export runs in a worker process, for which the window has a handle.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pygame

from sim.files.disk import make_folder
from sim.params import ConfigError, Value
from ui.dialogs.base import Host
from ui.dialogs.question import Question
from ui.draw.theme import RED
from ui.film import takes
from ui.film.forms import ExportDialog, RecordDialog, options_of
from ui.film.messages import Report
from ui.film.options import PICTURE
from ui.film.replay import replay_of
from ui.film.studio import Studio
from ui.panels.dressing import ViewOverrides
from ui.widgets.canvas import HitRegion

Values = dict[str, Value]


class Recording:
    """Controller of the recording and the exports of a window, with their indicators in the top bar."""

    def __init__(self, dressing: ViewOverrides, host: Host) -> None:
        self.dressing, self.desk, self.host = dressing, dressing.desk, host
        self.filming: Studio | None = None  # recording in progress
        self._record_dialog: RecordDialog | None = None  # record dialog that was opened last; may be closed
        self.exports: list[Studio] = []  # exports in progress
        self._finishing_studios: list[Studio] = []  # stopped recordings whose files are still being written
        self._unreaped_studios: list[Studio] = []  # finished recordings and exports whose processes are not reaped

    # --- recording --------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        return self.filming is not None

    @property
    def is_busy(self) -> bool:
        """Return whether any recording or export is running, or its process has not been reaped."""
        return self.is_on or bool(self.exports or self._finishing_studios or self._unreaped_studios)

    @property
    def must_wait(self) -> bool:
        """Return whether the run must wait, because the record dialog is open or the worker is too far behind."""
        return self._is_dialog_open or (self.filming is not None and self.filming.must_wait)

    @property
    def _is_dialog_open(self) -> bool:
        """Return whether the record dialog pauses the run: it is open, and no seek is in progress."""
        return self._record_dialog is not None and self._record_dialog.is_open and not self.desk.session.run.is_seeking

    def toggle(self) -> None:
        """Stop the recording in progress, or open the record dialog to start one (F9).

        At the end of a run the export dialog is opened instead, because no more ticks will follow.
        """
        state, session = self.desk.state, self.desk.session
        if self.filming is not None:
            self.stop()
        elif session.run.is_over and session.tick:
            self.ask_export(state.mark_in or 0, state.mark_out)
        else:
            self._record_dialog = RecordDialog(self.host, self.begin)
            self.host.show(self._record_dialog)

    def begin(self, values: Values) -> None:
        """Start recording at the current tick, with the options entered in the dialog."""
        desk = self.desk
        options = options_of(values, desk.scene.layout.size, desk.session.panel_of(desk.session.focused_key))
        target = self._target(values)
        self.filming = Studio.film(target, desk.session, options, self.dressing.look())
        keys = "{key:record} stops" if desk.player.clock.is_running else "{key:play} starts the run, {key:record} stops"
        desk.say(f"Recording to {target.name} in {target.parent}. {keys} the recording.")

    def _target(self, values: Values, last: int | None = None) -> Path:
        """Return an unused path in the recordings folder, named after the agents and ticks of the recording.

        Args:
            values: Values of the dialog, by parameter name.
            last: Last tick of an export; None for a recording.

        Raises:
            ConfigError: The folder or the file cannot be written.
        """
        desk = self.desk
        first = desk.session.tick if last is None else int(values["from_tick"])
        folder = takes.recordings_folder()
        make_folder(folder)
        suffix = "" if values["format"] == PICTURE[1:] else f".{values['format']}"
        labels = [panel.view.label for panel in desk.scene.shown_panels]
        # files that running workers will write, which may not exist on disk yet
        promised = {studio.report.path for studio in (*self.exports, *self._finishing_studios)}
        target = takes.free_name(folder / takes.default_name(labels, first, suffix, last), promised)
        takes.check_place(target)
        return target

    def stop(self) -> None:
        """Stop the recording; its worker finishes the file in the background."""
        if self.filming is not None:
            self.filming.follow(self.desk.session, self.dressing.look())
            self.filming.stop()
            self._finishing_studios.append(self.filming)
            self.filming = None

    def cut(self) -> None:
        """Make a cut in the video: continue at the target of the next seek, without the ticks in between."""
        if self.filming is not None:
            self.filming.cut()

    # --- exports ----------------------------------------------------------------------------------

    def ask_export(self, first: int = 0, last: int | None = None) -> None:
        """Open the export dialog.

        Args:
            first: Initial value of the first tick, such as a tick marked on the timeline.
            last: Initial value of the last tick; None: the last known tick of the run.
        """
        session = self.desk.session
        end = max(session.run.end, session.tick) if last is None else last
        parent = session.run.tree[session.run.front].parent
        self.host.show(ExportDialog(self.host, self.export, first, end, parent is not None))

    def export(self, values: Values) -> None:
        """Start exporting a range of ticks as a video, of the branches on screen or of a branch and its parent.

        Args:
            values: Values of the dialog, by parameter name.

        Raises:
            ConfigError: The range is empty or begins after the end of the run, or the file cannot be written.
        """
        desk, session = self.desk, self.desk.session
        first, last = int(values["from_tick"]), int(values["to_tick"])
        if last < first:
            raise ConfigError(f"to tick: expected {first:,} or later, got {last:,}")
        if session.run.is_over and first > session.tick:
            raise ConfigError(f"from tick: expected at most {session.tick:,}, the last tick of the run, got {first:,}")
        options = options_of(values, desk.scene.layout.size, session.panel_of(session.focused_key))
        branches = None
        parent = session.run.tree[session.run.front].parent
        look = self.dressing.look()
        if values.get("beside_parent") and parent is not None:
            branches = [parent, session.run.front]
            look = replace(look, order=())
        target = self._target(values, last)
        self.exports.append(Studio.export(target, replay_of(session.run, branches), (first, last + 1), options, look))
        what = f"ticks {first:,} to {last:,}" if last > first else f"tick {first:,}"
        desk.say(f"Exporting {what} to {target.name}")

    # --- updates once a frame ---------------------------------------------------------------------

    def keep(self) -> None:
        """Send changes of the run to the worker, and notify the user of finished files. Call this once per frame."""
        if self.filming is not None:
            self.filming.follow(self.desk.session, self.dressing.look())
            if self.filming.report.is_done:  # the worker has stopped by itself, for example because the disk is full
                self._tell(self.filming)
                self.filming = None
        self._finishing_studios = [studio for studio in self._finishing_studios if not self._is_told(studio)]
        self.exports = [studio for studio in self.exports if not self._is_told(studio)]
        self._unreaped_studios = [studio for studio in self._unreaped_studios if not studio.reap()]

    def _is_told(self, studio: Studio) -> bool:
        if studio.report.is_done:
            self._tell(studio)
        return studio.report.is_done

    def _tell(self, studio: Studio) -> None:
        """Notify the user of the result of a recording or export, whose process still has to be reaped."""
        report = studio.report
        self._unreaped_studios.append(studio)
        if report.problem:
            self.desk.say(report.problem)
        elif report.is_cancelled:
            self.desk.say("Export cancelled")
        else:
            length = "1 frame" if report.frames == 1 else f"{report.seconds:.1f} s"
            self.desk.say(f"Recorded {report.path}: {length}, {size_text(report.bytes)}")

    def close(self) -> None:
        """Stop the recording because the window closes; worker processes finish their files by themselves."""
        if self.filming is not None:
            self.stop()
        for studio in (*self._finishing_studios, *self.exports):
            studio.close()

    # --- interrupted recordings -------------------------------------------------------------------

    def offer_leftovers(self, is_busy: bool) -> None:
        """Offer to finish recordings that were interrupted because the program was killed. Call this at the start.

        Args:
            is_busy: Whether another dialog is open; then nothing is offered.
        """
        found = takes.recoverable()
        if not found or is_busy:
            return
        text = "A recording was interrupted because the program ended:\n" if len(found) == 1 else ""
        text = text or f"{len(found)} recordings were interrupted because the program ended:\n"
        text += "\n".join(str(leftover) for leftover in found[:5])
        parts = [leftover.part for leftover in found]
        answers = (
            ("Discard", partial(self._discard_parts, parts), "danger"),
            ("Later", _nothing, ""),
            ("Finish", partial(self._recover, parts), "main"),
        )
        self.host.show(Question(self.host, "Interrupted recordings", text, answers))

    def _recover(self, parts: list[Path]) -> None:
        """Finish the part files of interrupted recordings, and notify the user of each result."""
        from ui.film.sinks import recover  # a late import, because the codecs are slow to load

        for part in parts:
            try:
                self.desk.say(f"Finished {recover(part)}")
            except ConfigError as error:
                self.desk.say(error.problems[0])

    @staticmethod
    def _discard_parts(parts: list[Path]) -> None:
        for part in parts:
            takes.remove_part(part)

    # --- the indicator ----------------------------------------------------------------------------

    def draw(self, right: int, middle: int) -> int:
        """Draw the indicators of all recordings and exports in progress, right-aligned.

        A click on an indicator stops its recording or cancels its export.

        Args:
            right: Right edge in pixels.
            middle: Vertical centre in pixels.

        Returns:
            The right edge for the next element, to the left of the indicators.
        """
        for studio, action, command in self._shown():
            right = self._draw_one(studio, action, command, right, middle)
        return right

    def _shown(self) -> list[tuple[Studio, Callable[[], None] | None, str]]:
        """Return, for each indicator from right to left, its worker handle, click action, and name of its command."""
        shown: list[tuple[Studio, Callable[[], None] | None, str]] = [
            (studio, None, "record") for studio in self._finishing_studios
        ]
        shown += [(studio, studio.cancel, "export_video") for studio in self.exports]
        if self.filming is not None:
            shown.append((self.filming, self.stop, "record"))
        return shown

    def _draw_one(
        self, studio: Studio, action: Callable[[], None] | None, command: str, right: int, middle: int
    ) -> int:
        canvas, palette = self.desk.canvas, self.desk.palette
        px = canvas.px
        text = indicator_text(studio.report, is_export=studio in self.exports)
        width = canvas.text_width(text, 13, "mono") + px(34)
        box = (right - width, middle - px(13), width, px(26))
        is_filming = studio is self.filming
        tip = f"{studio.report.path}. " + ("Click to stop" if is_filming else "Click to cancel" if action else "")
        hot = canvas.spot(HitRegion(f"recording:{id(studio)}", box, action, tip, self.desk.key_of(command)))
        canvas.fill(box, palette.hover if hot else palette.raised, 6)
        dot = RED if is_filming else palette.dim
        pygame.draw.circle(canvas.surface, dot, (box[0] + px(13), middle), px(5))
        canvas.text((box[0] + px(25), middle), text, size=13, face="mono", middle=True)
        return box[0] - px(8)


def indicator_text(report: Report, is_export: bool = False) -> str:
    """Return the text of an indicator: length and size of a recording, or progress of an export or a conversion."""
    if report.phase == "starting":
        return "starting"
    if is_export or report.phase == "finishing":
        return f"{report.phase if report.phase == 'finishing' else 'export'} {report.share:.0%}"
    minutes, seconds = divmod(int(report.seconds), 60)
    return f"{minutes}:{seconds:02} {size_text(report.bytes)}"


def size_text(size: int) -> str:
    if size < 1_000_000:
        return f"{size / 1e3:.0f} kB"
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.2f} GB"


def _nothing() -> None:
    """Do nothing: the recordings are offered again at the next start."""
