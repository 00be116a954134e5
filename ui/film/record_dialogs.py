"""Dialogs with the options of a video recording or export. The values are remembered until the program ends."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pygame

from sim.params import ConfigError, Param, Value
from ui.dialogs.dialog_base import DialogHost, FormDialog
from ui.film.film_options import (
    GIF,
    GIF_RATES,
    HOLD,
    PRESET,
    WINDOW,
    FilmOptions,
    WindowPart,
    nearest_gif_rate,
    parse_ticks_per_frame,
    size_with_even_sides,
)
from ui.widgets.param_form import ParamForm

PANEL = "focused panel"
AS_WINDOW = "window size"

FORMAT = Param(
    "format",
    str,
    "mp4",
    "mp4 for talks and chats, webm for the web, gif for reports, png for a folder of pictures",
    choices=("mp4", "webm", "gif", "png"),
)
PART = Param("part", str, "panels", "part of the window to record", choices=(WINDOW, "panels", PANEL))
SIZE = Param(
    "size",
    str,
    "1280 x 720",
    "in pixels; it does not change when the window is resized",
    choices=(AS_WINDOW, "640 x 360", "1280 x 720", "1920 x 1080"),
)
RATE = Param(
    "frames_per_second",
    str,
    "30",
    "of the video; a gif supports 10, 20, 25 or 50",
    choices=("10", "20", "25", "30", "50", "60"),
)
TICKS = Param(
    "ticks_per_frame",
    str,
    "1",
    "speed of the run in the video; 1/4 means four frames per tick, with smooth moves",
    choices=("1/4", "1/2", "1", "2", "5", "10", "100"),
)
CAPTIONS = Param("captions", bool, False, "show captions for edits and restarts, with their ticks")
LEGEND = Param("legend", bool, True, "show a legend of the visible layers")
EXACT = Param(
    "exact_colours", bool, False, "lossless colours; files are larger, and many browsers and phones cannot play them"
)
FIRST = Param("from_tick", int, 0, "the first tick of the video", 0)
LAST = Param("to_tick", int, 0, "the last tick of the video", 0)
WITH_PARENT = Param("beside_parent", bool, False, "show the branch and its parent side by side")

PARAMS = (
    FORMAT,
    RATE,
    PART,
    SIZE,
    TICKS,
    CAPTIONS,
    Param("hold", float, 0.0, HOLD.help, 0.0, 5.0),
    LEGEND,
    PRESET,
    EXACT,
)

Values = dict[str, Value]  # parameter name -> value of a form

_remembered_values: Values = {param.name: param.default for param in PARAMS}


def film_options_of(values: Mapping[str, Value], window_size: tuple[int, int], panel: int) -> FilmOptions:
    """Return the options of a video from the values of a form.

    Args:
        values: Values by parameter name.
        window_size: Size of the window in pixels, for the choice "window size".
        panel: Index of the focused panel, from 0.
    """
    size = size_with_even_sides(window_size)
    if values["size"] != AS_WINDOW:
        width, height = str(values["size"]).split(" x ")
        size = int(width), int(height)
    return FilmOptions(
        size,
        int(str(values["frames_per_second"])),
        parse_ticks_per_frame(str(values["ticks_per_frame"])),
        WindowPart("panel", panel + 1) if values["part"] == PANEL else WindowPart(str(values["part"])),
        str(values["preset"]),
        bool(values["exact_colours"]),
        bool(values["captions"]),
        float(values["hold"]),
        bool(values["legend"]),
    )


def is_gif_chosen(values: Mapping[str, Value]) -> bool:
    return values[FORMAT.name] == GIF[1:]


def possible_frame_rates(values: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the frame rates that are possible for the format chosen in a form."""
    return tuple(rate for rate in RATE.choices if not is_gif_chosen(values) or int(rate) in GIF_RATES)


class RecordDialog(FormDialog):
    """Dialog that starts a recording at the current tick. The run is paused while the dialog is open."""

    title = "Record a video"
    size = (720, 640)
    command_id = "record"
    confirm_label = "Record"

    def __init__(self, host: DialogHost, begin: Callable[[Values], None]) -> None:
        self.begin_recording = begin
        self.hint = self._title_hint(host)
        self.values: Values = dict(_remembered_values)
        self.option_params: tuple[Param, ...] = PARAMS
        super().__init__(host)

    def build_controls(self) -> None:
        params = [
            replace(param, choices=possible_frame_rates(self.values)) if param is RATE else param
            for param in self.option_params
        ]
        self.option_form = ParamForm(self, self.content_rect, params, self.values, self._on_value_changed)
        for control in self.option_form.controls():
            self.add(control)
        self.add_footer_buttons(("Cancel", self.cancel, ""), (self.confirm_label, self.on_confirm, "main"))
        self.add_problem_note()

    def _on_value_changed(self, name: str, value: Value) -> None:
        self.values[name] = value
        self.show_problem("")
        if name == FORMAT.name:
            self._update_frame_rates()

    def _update_frame_rates(self) -> None:
        """Offer only frame rates that the format supports; replace an unsupported rate and show a remark about it."""
        current = str(self.values[RATE.name])
        rates = possible_frame_rates(self.values)
        chosen = current if current in rates else str(nearest_gif_rate(int(current)))
        remark = "" if chosen == current else f"a gif does not support {current}; {chosen} is the nearest rate"
        self.values[RATE.name] = chosen
        self.option_form.replace_choices(RATE.name, rates, chosen, remark)

    def _title_hint(self, host: DialogHost) -> str:
        """Return the text that follows the title of the dialog: which ticks will be recorded."""
        hint = "; {key:record} stops it. For past ticks, use {key:export_video}"
        return f"starts at tick {host.session.tick:,}" + host.command_table.text_with_key_names(hint)

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        super().update_dialog(seconds)
        self.option_form.update_rows(seconds)
        if self.hint != (hint := self._title_hint(self.host)):  # a seek in progress changes the tick
            self.set_title(self.title, hint)

    def scroll_to_control(self, control: object) -> None:
        self.option_form.scroll_to_control(control)  # type: ignore[arg-type]

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return self._move_focus_by_key(event)

    def on_confirm(self) -> None:
        if self.option_form.has_invalid_row():
            return
        try:
            self.begin_recording(self.values)
        except ConfigError as error:
            self.show_problem("\n".join(error.problems))
            return
        _remembered_values.update({name: value for name, value in self.values.items() if name in _remembered_values})
        self.host.close_dialog()


class ExportDialog(RecordDialog):
    """Dialog that exports a range of ticks as a video; the ticks may be in the future."""

    title = "Export a video"
    command_id = "export_video"
    confirm_label = "Export"

    def __init__(
        self, host: DialogHost, begin: Callable[[Values], None], first: int, last: int, has_parent: bool = False
    ) -> None:
        self._tick_range_values: Values = {FIRST.name: first, LAST.name: last, WITH_PARENT.name: False}
        self._has_parent = has_parent
        super().__init__(host, begin)

    def _title_hint(self, host: DialogHost) -> str:
        return "any ticks of the run; you can continue to work meanwhile"

    def build_controls(self) -> None:
        if FIRST not in self.option_params:
            self.option_params = (FIRST, LAST, *((WITH_PARENT,) if self._has_parent else ()), *PARAMS)
            self.values |= self._tick_range_values
        super().build_controls()
        self._check_entered_tick_range()

    def _on_value_changed(self, name: str, value: Value) -> None:
        super()._on_value_changed(name, value)
        self._check_entered_tick_range()

    def on_confirm(self) -> None:
        self.option_form.report_pending_changes()
        self._check_entered_tick_range()
        super().on_confirm()

    def _check_entered_tick_range(self) -> None:
        first, last = int(self.values[FIRST.name]), int(self.values[LAST.name])
        self.option_form.show_contradiction(
            LAST.name, f"expected {first:,} or later, got {last:,}" if last < first else ""
        )
