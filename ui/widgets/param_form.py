"""Form with one row per parameter: slider and text field for a number, segments for a choice, check box for a boolean.

Changes are debounced: the form reports them after a short pause, not for every pixel of a drag or every digit of a
number, because each change may restart a search.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pygame

from sim.params import ConfigError, Param, Value
from ui.widgets.canvas import Canvas
from ui.widgets.controls import CheckBox, ChoiceControl, Control, PaintedArea, Slider
from ui.widgets.dialog_interfaces import WidgetDialog
from ui.widgets.scrolling import ScrollBar, ScrollingArea
from ui.widgets.text_field import TextField

_TYPING_DEBOUNCE_S, _DRAG_DEBOUNCE_S = 0.7, 0.12  # seconds without a change before a typed or dragged value is reported
# Heights in design units of the parts of a row: parameter name, control, line of help text, gap to the next row
_NAME_HEIGHT, _CONTROL_HEIGHT, _HELP_LINE_HEIGHT, _ROW_GAP = 24, 30, 17, 14
_HELP_FONT_SIZE = 12  # font size of the help text, in design units
_NUMBER_FIELD_WIDTH = 84  # width of a number's text field in design units
_MAX_SLIDER_STEPS = 400  # number of steps of a logarithmic slider, and maximum number of steps of a linear slider


class ParamForm:
    """Scrolling form with one row per parameter; `values` maps parameter names to current values."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        params: Sequence[Param],
        values: Mapping[str, Value],
        changed: Callable[[str, Value], None],
        *,
        gives_back: bool = False,
    ) -> None:
        """Create the form.

        Args:
            dialog: Dialog that contains the form.
            rect: Rectangle in the dialog, in pixels.
            params: Parameters, one row each.
            values: Initial values by name.
            changed: Callback that gets the name and the new value of a changed parameter.
            gives_back: Whether a field with an invalid text shows the current value again when it loses the focus.
                Set it for forms whose changes take effect at once. A form that is submitted by a button keeps the
                invalid text; otherwise the button would submit a value that the user did not enter.
        """
        self.dialog, self.rect, self.restores_invalid_fields = dialog, rect, gives_back
        self.values = dict(values)
        self.on_value_changed = changed
        self.param_rows: list[_ParamRow] = []
        self._build_rows(params)

    def _build_rows(self, params: Sequence[Param]) -> None:
        dialog, rect = self.dialog, self.rect
        pen = dialog.canvas
        width = rect.width - dialog.to_px(ScrollBar.BAR_WIDTH + 16)
        heights = [_ParamRow.height(pen, param, width) for param in params]
        self.scrolling_area = ScrollingArea(dialog, rect, sum(heights))
        y = 0
        for param, height in zip(params, heights, strict=True):
            row = pygame.Rect(dialog.to_px(4), y, width, height)
            self.param_rows.append(_ParamRow(self, param, row))
            y += height

    def controls(self) -> list[Control]:
        """Return the controls in the order in which the Tab key moves the focus."""
        return [self.scrolling_area, *(control for row in self.param_rows for control in row.controls)]

    def remove_controls(self) -> None:
        for row in self.param_rows:
            row.remove_controls()
        self.scrolling_area.remove()

    def update_rows(self, seconds: float) -> None:
        for row in self.param_rows:
            row.update_row(seconds)

    def report_pending_changes(self) -> None:
        """Report all pending changes to the callback `on_value_changed` now, without waiting for the pause."""
        for row in self.param_rows:
            row.report_pending_change()

    def show_values(self, values: Mapping[str, Value]) -> None:
        """Show values that changed outside the form; a row with an unreported change keeps its own value."""
        for row in self.param_rows:
            name = row.param.name
            if name in values and values[name] != self.values[name] and not row.has_unreported_change:
                row.show_value(values[name])

    @property
    def problem_texts(self) -> list[str]:
        """Return the error messages shown in the rows."""
        return [row.problem_text for row in self.param_rows if row.problem_text]

    def has_invalid_row(self) -> bool:
        """Report all pending changes and return whether any row is invalid; the first invalid row gets the focus."""
        self.report_pending_changes()
        wrong = next((row for row in self.param_rows if row.has_invalid_text), None)
        if wrong is not None:
            field = wrong.controls[-1]
            self.dialog.focus_control(field)
            self.scroll_to_control(field)
        return wrong is not None

    def invalid_texts(self) -> dict[str, str]:
        """Return parameter name -> text for all invalid fields, except texts that only contradict another row."""
        return {
            row.param.name: row.number_field.text
            for row in self.param_rows
            if row.has_invalid_text and not row.contradicts_other_row
        }

    def enter_texts(self, texts: Mapping[str, str]) -> None:
        """Enter texts into fields as if the user had typed them.

        Args:
            texts: Text by name of the parameter.
        """
        for row in self.param_rows:
            if row.param.name in texts:
                row.number_field.set_text(texts[row.param.name])
                row.parse_typed_text(texts[row.param.name])

    def refuse_value(self, name: str, value: Value, problem: str) -> bool:
        """Restore the earlier value of a parameter and show the reason in its row.

        Args:
            name: Name of the parameter.
            value: Value to show again.
            problem: Why the entered value was refused.

        Returns:
            Whether the whole description of the problem fits into the row.
        """
        row = self._row_of_param(name)
        row.show_value(value)
        row.show_problem(problem)
        return row.has_room_for_text(problem)

    def show_contradiction(self, name: str, problem: str) -> None:
        """Show or clear a contradiction between an entered value and the rest of the form.

        A row whose own text is invalid continues to show that problem.

        Args:
            name: Name of the parameter.
            problem: Description of the contradiction; "" to clear it.
        """
        row = self._row_of_param(name)
        # Whether the text is invalid even without the other rows.
        says_more = row.has_invalid_text and not row.contradicts_other_row
        if not says_more and problem != row.problem_text and (problem or row.contradicts_other_row):
            row.show_problem(problem, is_wrong=bool(problem))
            row.contradicts_other_row = bool(problem)

    def replace_choices(self, name: str, choices: Sequence[str], value: str, remark: str = "") -> None:
        """Replace the choices of a parameter.

        Args:
            name: Name of the parameter.
            choices: New choices.
            value: The current choice.
            remark: Text shown in place of the help text; "" for the help text.
        """
        row = self._row_of_param(name)
        row.replace_choices(choices)
        row.show_value(value)
        row.show_problem(remark)

    def _row_of_param(self, name: str) -> "_ParamRow":
        return next(row for row in self.param_rows if row.param.name == name)

    def scroll_to_control(self, control: Control) -> None:
        """Scroll the row of a control into view."""
        row = next((row for row in self.param_rows if control in row.controls), None)
        if row is not None:
            self.scrolling_area.scroll_into_view(row.rect.top, row.rect.bottom)


class _ParamRow:
    """Name, control and help text of one parameter."""

    def __init__(self, form: ParamForm, param: Param, rect: pygame.Rect) -> None:
        self.param_form, self.param, self.rect = form, param, rect
        self.problem_text = ""
        self.has_invalid_text = False  # whether the entered value is invalid
        self.contradicts_other_row = False  # whether the entered value is valid by itself but contradicts another row
        self.has_unreported_change = False  # whether a change has not been reported to the form's callback yet
        self._debounce_s = 0.0  # seconds until the pending change is reported
        self.controls: list[Control] = []
        self._entered_value: Value = form.values.get(param.name, param.default)
        px = form.dialog.to_px
        self.name_and_help = PaintedArea(form.dialog, rect, self._paint_row, form.scrolling_area.content_area)
        control_rect = pygame.Rect(rect.x, rect.y + px(_NAME_HEIGHT), rect.width - px(4), px(_CONTROL_HEIGHT))
        self._build_controls(control_rect)
        for control in self.controls:
            control.name = f"{param.name} {type(control).__name__}"

    @staticmethod
    def height(pen: Canvas, param: Param, width: int) -> int:
        lines = max(
            len(pen.wrap_text(text, width, _HELP_FONT_SIZE)) for text in (param.help, _longest_problem_text(param))
        )
        if param.kind is bool:
            return pen.to_px(_CONTROL_HEIGHT + _HELP_LINE_HEIGHT * lines + _ROW_GAP)
        return pen.to_px(_NAME_HEIGHT + _CONTROL_HEIGHT + 4 + _HELP_LINE_HEIGHT * max(1, lines) + _ROW_GAP)

    # --- controls -------------------------------------------------------------------------------------

    def _build_controls(self, control_rect: pygame.Rect) -> None:
        param, dialog = self.param, self.param_form.dialog
        inside = self.param_form.scrolling_area.content_area
        if param.kind is bool:
            control_rect.y = self.rect.y
            self.controls = [
                CheckBox(
                    dialog,
                    control_rect,
                    display_name_of_param(param),
                    bool(self._entered_value),
                    self._on_value_entered,
                    inside,
                )
            ]
        elif param.choices:
            options = [(choice, choice) for choice in param.choices]
            self.controls = [
                ChoiceControl(dialog, control_rect, options, str(self._entered_value), self._on_value_entered, inside)
            ]
        else:
            self._build_number_controls(control_rect)

    def _build_number_controls(self, control_rect: pygame.Rect) -> None:
        dialog, inside = self.param_form.dialog, self.param_form.scrolling_area.content_area
        field_width = dialog.to_px(_NUMBER_FIELD_WIDTH)
        self.slider_scale = _SliderScale(self.param) if has_slider_range(self.param) else None
        slider_width = control_rect.width - field_width - dialog.to_px(14)
        if self.slider_scale:
            track_height = dialog.to_px(18)
            track = pygame.Rect(control_rect.x, control_rect.centery - track_height // 2, slider_width, track_height)
            first_step = self.slider_scale.step_of_value(float(self._entered_value))
            slider = Slider(
                dialog,
                track,
                first_step,
                self.slider_scale.last_step,
                self._on_slider_moved,
                self._on_slider_stepped,
                inside,
            )
            self.value_slider: Slider | None = slider
            self.controls.append(slider)
        else:
            self.value_slider = None
        field_rect = pygame.Rect(control_rect.right - field_width, control_rect.y, field_width, control_rect.height)
        if not self.value_slider:
            field_rect.x = control_rect.x
        text = self._number_text(self._entered_value)
        self.number_field = TextField(
            dialog,
            field_rect,
            text,
            self.parse_typed_text,
            mono=True,
            longest=20,
            container=inside,
            finished=self._on_focus_lost,
        )
        self.controls.append(self.number_field)

    def _number_text(self, value: Value) -> str:
        return self.param.display_text(value) if self.param.zero_word and not value else param_number_text(value)

    def _on_slider_moved(self, slider_step: int) -> None:
        assert self.slider_scale is not None
        self._entered_value = self.slider_scale.value_at_step(slider_step)
        self.number_field.set_text(self._number_text(self._entered_value))
        self._schedule_change_report(_DRAG_DEBOUNCE_S)

    def _on_slider_stepped(self, steps: int) -> None:
        assert self.slider_scale is not None and self.value_slider is not None
        self._entered_value = self.slider_scale.value_after_steps(float(self._entered_value), steps)
        self._update_slider()
        self.number_field.set_text(self._number_text(self._entered_value))
        self._schedule_change_report(_DRAG_DEBOUNCE_S)

    def parse_typed_text(self, text: str) -> None:
        """Parse the text of the field; while the text is invalid, the slider shows the parameter's current value."""
        try:
            self._entered_value = self.param.parse_value(text.strip())
        except ConfigError as error:
            self.has_unreported_change = False
            self._entered_value = self.param_form.values.get(self.param.name, self.param.default)
            self._update_slider()
            self.show_problem(error.problems[0], is_wrong=True)
            return
        self._update_slider()
        self._schedule_change_report(_TYPING_DEBOUNCE_S)

    def _update_slider(self) -> None:
        if self.value_slider and self.slider_scale:
            self.value_slider.set_slider_step(self.slider_scale.step_of_value(float(self._entered_value)))

    def _on_focus_lost(self) -> None:
        """Report the pending change when the field loses the focus."""
        self.report_pending_change()
        if self.has_invalid_text and self.param_form.restores_invalid_fields:
            self.show_value(self.param_form.values.get(self.param.name, self.param.default))

    def _on_value_entered(self, value: Value) -> None:
        self._entered_value = value
        self._schedule_change_report(0.0)

    # --- reporting changes ----------------------------------------------------------------------------

    def _schedule_change_report(self, rest_s: float) -> None:
        self.has_unreported_change, self._debounce_s = True, rest_s
        if self.problem_text:
            self.show_problem("")
        if rest_s == 0.0:
            self.report_pending_change()

    def update_row(self, seconds: float) -> None:
        if self.has_unreported_change:
            self._debounce_s -= seconds
            if self._debounce_s <= 0.0:
                self.report_pending_change()

    def report_pending_change(self) -> None:
        if not self.has_unreported_change:
            return
        self.has_unreported_change = False
        if self._entered_value != self.param_form.values.get(self.param.name):
            self.param_form.values[self.param.name] = self._entered_value
            self.param_form.on_value_changed(self.param.name, self._entered_value)

    def show_value(self, value: Value) -> None:
        self.param_form.values[self.param.name] = value
        if self.problem_text:
            self.show_problem("")
        if value == self._entered_value and not self._does_value_differ_from_text():
            return
        self._entered_value = value
        control = self.controls[0]
        if isinstance(control, CheckBox):
            control.set_checked(bool(value))
        elif isinstance(control, ChoiceControl):
            control.set_chosen_value(str(value))
        else:
            self._update_slider()
            self.number_field.set_text(self._number_text(value))

    def _does_value_differ_from_text(self) -> bool:
        return hasattr(self, "number_field") and self.number_field.text != self._number_text(self._entered_value)

    def replace_choices(self, choices: Sequence[str]) -> None:
        self.param = replace(self.param, choices=tuple(choices))
        control = self.controls[0]
        assert isinstance(control, ChoiceControl)
        control.replace_options([(choice, choice) for choice in choices])

    def show_problem(self, problem: str, is_wrong: bool = False) -> None:
        self.problem_text, self.has_invalid_text, self.contradicts_other_row = problem, is_wrong, False
        if hasattr(self, "number_field"):
            self.number_field.set_problem(is_wrong)
        self.name_and_help.repaint()

    def has_room_for_text(self, problem: str) -> bool:
        pen, (width, height) = self.param_form.dialog.canvas, self.name_and_help.element.surface.get_size()
        lines = len(pen.wrap_text(problem, width, _HELP_FONT_SIZE))
        return lines * pen.to_px(_HELP_FONT_SIZE * 1.45) <= height - pen.to_px(self._help_text_top)

    def remove_controls(self) -> None:
        self.name_and_help.remove()
        for control in self.controls:
            control.remove()

    # --- drawing --------------------------------------------------------------------------------------

    def _paint_row(self, pen: Canvas) -> None:
        param, palette = self.param, pen.palette
        width = pen.surface.get_width()
        is_check = param.kind is bool
        if not is_check:
            used = pen.draw_text((0, pen.to_px(2)), display_name_of_param(param), size=14, width=width)
            if param.symbol:
                pen.draw_text(
                    (used + pen.to_px(8), pen.to_px(3)), param.symbol, size=12, face="mono", colour=palette.dim
                )
        top = pen.to_px(self._help_text_top)
        left = pen.to_px(28) if is_check else 0
        text, colour = (self.problem_text, palette.warning) if self.problem_text else (param.help, palette.dim)
        height = pen.surface.get_height() - top
        pen.draw_wrapped_text((left, top, width - left, height), text, size=_HELP_FONT_SIZE, colour=colour)

    @property
    def _help_text_top(self) -> int:
        return _CONTROL_HEIGHT if self.param.kind is bool else _NAME_HEIGHT + _CONTROL_HEIGHT + 4


class _SliderScale:
    """Mapping between slider steps and values of a number; logarithmic for a range over several powers of ten."""

    def __init__(self, param: Param) -> None:
        assert param.low is not None and param.high is not None
        self.param = param
        self.min_value, self.max_value = float(param.low), float(param.high)
        min_value = 1.0 if param.kind is int else 0.01
        self.min_log_value = max(self.min_value, min_value)
        self.is_log = self.max_value / self.min_log_value > 60 and self.max_value > 60
        self.value_step = param.step or (1.0 if param.kind is int else (self.max_value - self.min_value) / 100.0)
        counted = (self.max_value - self.min_value) / self.value_step
        self.last_step = _MAX_SLIDER_STEPS if self.is_log or counted > _MAX_SLIDER_STEPS else max(1, round(counted))
        # Number of steps reserved for the value 0, which has no logarithm: 0 or 1
        self._zero_steps = 1 if self.is_log and self.min_value <= 0 else 0

    def step_of_value(self, value: float) -> int:
        """Return the slider step that is closest to a value of the parameter."""
        if not self.is_log:
            return round((value - self.min_value) / (self.max_value - self.min_value) * self.last_step)
        if value < self.min_log_value:
            return 0
        share = math.log(value / self.min_log_value) / math.log(self.max_value / self.min_log_value)
        return round(self._zero_steps + share * (self.last_step - self._zero_steps))

    def value_at_step(self, index: int) -> Value:
        """Return the value at a slider step, rounded to a multiple of the parameter's step."""
        if not self.is_log:
            return self._rounded_and_clamped(
                self.min_value + index / self.last_step * (self.max_value - self.min_value), self.value_step
            )
        if index < self._zero_steps:
            return self._rounded_and_clamped(0.0, 1.0)
        share = (index - self._zero_steps) / (self.last_step - self._zero_steps)
        value = self.min_log_value * (self.max_value / self.min_log_value) ** share
        return self._rounded_and_clamped(value, self._step_size_at(value))

    def value_after_steps(self, value: float, steps: int) -> Value:
        """Return the value after a number of key presses.

        Each press adds or subtracts one step of the parameter. If the parameter has no step and the scale is
        logarithmic, the step grows with the value.
        """
        for _ in range(abs(steps)):
            step = self.param.step or (self._step_size_at(value) if self.is_log else self.value_step)
            value = float(self._rounded_and_clamped(value + math.copysign(step, steps), step))
        return self._rounded_and_clamped(value, 0.0)

    def _step_size_at(self, value: float) -> float:
        """Return the step size at a value: the largest power of ten up to a tenth of the value, at least 1 for int."""
        step = 10.0 ** (math.floor(math.log10(max(value, self.min_log_value))) - 1)
        return max(step, 1.0) if self.param.kind is int else step

    def _rounded_and_clamped(self, value: float, step: float) -> Value:
        """Round a value to a multiple of `step` (if `step` is not 0), and clamp it to the range of the parameter."""
        if step > 0:
            value = round(value / step) * step
        value = min(max(value, self.min_value), self.max_value)
        return round(value) if self.param.kind is int else float(f"{value:.10g}")


def _longest_problem_text(param: Param) -> str:
    """Return a text as long as the longest expected error message of a field, to reserve enough space in the row."""
    return "" if param.kind is bool or param.choices else f"expected {param.describe_legal_values()}, got '{'0' * 12}'"


def has_slider_range(param: Param) -> bool:
    return param.low is not None and param.high is not None and param.high > param.low and param.name != "seed"


def display_name_of_param(param: Param) -> str:
    """Return the name of a parameter for display: its label, or its name with spaces and a capital letter."""
    return param.label or param.name.replace("_", " ").replace("-", " ").capitalize()


def param_number_text(value: Value) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
