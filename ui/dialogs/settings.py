"""Settings: how the window looks, how much memory it may take, and which key does what. All of it works at once."""

from collections.abc import Callable

import pygame

from sim.params import Param, Value
from ui.dialogs.base import Dialog, Host, take_left, take_top
from ui.model.command import Command
from ui.model.settings import KEYFRAMES, LINKED, SHOWS_MINIMAP, THEME, UI_SCALE
from ui.widgets.controls import Button, Control
from ui.widgets.forms import ParamForm
from ui.widgets.key_names import combination
from ui.widgets.lists import Col, Item, Rows

FORM: tuple[Param, ...] = (THEME, UI_SCALE, KEYFRAMES, LINKED, SHOWS_MINIMAP)

_FORM_WIDTH, _BUTTONS = 330, 34
_BARE = (
    *(pygame.K_LSHIFT, pygame.K_RSHIFT, pygame.K_LCTRL, pygame.K_RCTRL, pygame.K_LALT, pygame.K_RALT),
    *(pygame.K_LMETA, pygame.K_RMETA, pygame.K_CAPSLOCK, pygame.K_NUMLOCK, pygame.K_MODE),
)

Rebind = Callable[[str, str | None], None]
"""Gives a command other keys; with None its usual ones."""


class SettingsDialog(Dialog):
    title = "Settings"
    hint = "what is changed works at once and is kept"
    size = (940, 620)
    command = "settings"

    def __init__(self, host: Host, apply: Callable[[], None], rebind: Rebind) -> None:
        self.apply, self.rebind = apply, rebind
        self.at = 0
        self.waits_for_key = False  # the next key press is the new key of the chosen command
        self._is_changed = False
        super().__init__(host)

    def build(self) -> None:
        area = self.area.copy()
        left = take_left(area, self.px(_FORM_WIDTH), self.px(24))
        values = {param.name: getattr(self.host.settings, param.name) for param in FORM}
        self.form = ParamForm(self, left, FORM, values, self._changed, gives_back=True)
        self.controls = self.form.controls()
        buttons = take_top(area, self.px(_BUTTONS), self.px(10))
        half = (buttons.width - self.px(8)) // 2
        for i, (label, action) in enumerate((("Another key ...", self._wait), ("Usual key", self._give_usual))):
            place = pygame.Rect(buttons.x + i * (half + self.px(8)), buttons.y, half, buttons.height)
            self.add(Button(self, place, label, action))
        columns = [Col("Command"), Col("Key", width=150, align="right", face="mono")]
        self.rows = Rows(self, area, columns, self._items(), place=self.at, chosen=self._wait, selected=self._selected)
        self.add(self.rows)
        self.add_footer(("Done", self.confirm, "main"))
        self.add_note()

    def _items(self) -> list[Item]:
        own = self.host.settings.keys
        return [
            Item((c.help, " ".join(c.keys)), c.id, is_dim=False, roles={1: "accent"} if c.id in own else {})
            for c in self.host.commands
        ]

    @property
    def chosen(self) -> Command:
        return self.host.commands[self.rows.items[self.rows.place].value]

    def _selected(self, place: int) -> None:
        self.at = place
        self.waits_for_key = False
        self.complain("")

    # --- how it looks -----------------------------------------------------------------------------

    def _changed(self, name: str, value: Value) -> None:
        setattr(self.host.settings, name, value)
        self._is_changed = True

    def update(self, seconds: float = 1 / 60) -> None:
        """Another theme or size makes this dialog anew, so that waits until no control is at work."""
        super().update(seconds)
        self.form.update(seconds)
        if self._is_changed:
            self._is_changed = False
            self.apply()

    # --- keys -------------------------------------------------------------------------------------

    def _wait(self) -> None:
        self.waits_for_key = True
        self.complain(f'Press the new key for "{self.chosen.help}"; Escape leaves it as it is')

    def _give_usual(self) -> None:
        self.rebind(self.chosen.id, None)
        self._show_keys("")

    def handle(self, event: pygame.event.Event) -> bool:
        if self.waits_for_key and event.type == pygame.KEYDOWN:
            if event.key not in _BARE:
                self._take(event)
            return True
        if self.waits_for_key and event.type == pygame.TEXTINPUT:
            return True
        return super().handle(event)

    def _take(self, event: pygame.event.Event) -> None:
        self.waits_for_key = False
        pressed = combination(event.key, event.mod, getattr(event, "unicode", ""))
        if pressed == "Escape":
            self.complain("")
            return
        other = self.host.commands.clash(self.chosen.id, pressed)
        if other is not None:
            self.complain(f'{pressed} is the key of "{other.help}" already: give that another one first')
            return
        self.rebind(self.chosen.id, pressed)
        self._show_keys("")

    def _show_keys(self, problem: str) -> None:
        self.rows.set(self._items(), self.at)
        self.complain(problem)

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event) if self.focused is self.rows else False

    def confirm(self) -> None:
        if self.focused is self.rows:
            self._wait()
        elif not self.form.stops():
            self.host.close_dialog()

    def _kill(self) -> None:
        if hasattr(self, "form"):
            self.form.kill()
        super()._kill()

    def reveal(self, control: object) -> None:
        if isinstance(control, Control) and control in self.form.controls():
            self.form.reveal(control)
