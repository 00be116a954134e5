"""Prompt for a whole number."""

from collections.abc import Callable

import pygame

from sim.params import ConfigError, Param
from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_top
from ui.widgets.controls import TextLabel
from ui.widgets.text_field import TextField


class NumberPrompt(Dialog):
    size = (420, 214)

    def __init__(
        self, host: DialogHost, title: str, value: int, on_number_entered: Callable[[int], None], *, low: int
    ) -> None:
        self.title, self.on_number_entered, self.min_value = title, on_number_entered, low
        self.number_param = Param("number", int, value, "", low)
        self.text = str(value)
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.content_rect
        self.number_field = TextField(
            self,
            cut_strip_from_top(area, self.to_px(36), self.to_px(8)),
            self.text,
            self._on_text_typed,
            mono=True,
            longest=15,
        )
        self.add(self.number_field)
        self.help_label = TextLabel(
            self, cut_strip_from_top(area, self.to_px(20)), self._expected_values_text(), role="dim"
        )
        self.add(self.help_label)
        self.add_footer_buttons(("Cancel", self.cancel, ""), ("OK", self.on_confirm, "main"))

    def _expected_values_text(self) -> str:
        return f"{self.number_param.describe_legal_values()}; the Up and Down keys change it"

    def _on_text_typed(self, text: str) -> None:
        self.text = text
        self._parse_entered_number()

    def _parse_entered_number(self) -> int | None:
        """Return the entered number; if the text is not a valid number, show a message and return None."""
        try:
            value = int(self.number_param.parse_value(self.text.strip().replace(",", "")))
        except ConfigError:
            self.number_field.set_problem(True)
            self.help_label.set_text(f"expected {self.number_param.describe_legal_values()}", "warning")
            return None
        self.number_field.set_problem(False)
        self.help_label.set_text(self._expected_values_text(), "dim")
        return value

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        step = {pygame.K_UP: 1, pygame.K_DOWN: -1, pygame.K_PAGEUP: 100, pygame.K_PAGEDOWN: -100}.get(event.key)
        if step is None:
            return False
        value = self._parse_entered_number()
        if value is not None:
            step *= 10 if event.mod & pygame.KMOD_SHIFT else 1
            self.text = str(max(self.min_value, value + step))
            self.number_field.set_text(self.text)

        return True

    def on_confirm(self) -> None:
        value = self._parse_entered_number()
        if value is None:
            self.focus_control(self.number_field)
            return
        self.host.close_dialog()
        self.on_number_entered(value)
