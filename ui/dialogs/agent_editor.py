"""Agent editor: algorithm, parameters and budget of an agent. Changes apply at once, while the run continues.

The dialog is modeless and placed at the side of the window, so that the effect of a change is visible on the map.
"""

from functools import partial

import pygame

from agents.registry import BY_KEY, SPECS
from sim.agent_api import AgentSpec
from sim.commands import BUDGET, AgentConfig
from sim.params import ConfigError, Param, Value
from sim.walker import Walker
from ui.dialogs.base import ENTER, FormDialog, Host, Where, nowhere, take_top
from ui.model import agent_edits
from ui.model.keys import NOBODY, PanelKey
from ui.model.layout import GAP, SIDEBAR
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Control, Field, Note
from ui.widgets.forms import ParamForm
from ui.widgets.lists import ROW, Col, Item, Rows

_LIST_SHARE = 0.5  # height of the list of algorithms, as a fraction of the height of list and form together
_MIN_LISTED = 2  # minimum number of algorithms that the list shows at once
_KIND_DEBOUNCE_S = 0.35  # seconds after the choice of an algorithm until the agent is replaced
_SUMMARY_HEIGHT = 72  # height of the summary of the algorithm, in design units
_LOW_HEIGHT = 330
"""Minimum height of the dialog's area, in design units, with a summary; a lower area has more room for the form."""

OWN_BUDGET = Param("own_budget", bool, False, "off: the agent uses the shared budget")


class AgentEditor(FormDialog):
    veils = False
    place = "right"
    size = (364, 2000)  # width and maximum height in design units; the window limits the height
    command = "edit_agent"

    def __init__(self, host: Host, panel: PanelKey | None, where: Where = nowhere) -> None:
        """Open the editor of an agent.

        Args:
            host: Window of the dialog.
            panel: Panel of the agent to edit; None to add a new agent.
            where: Callback that returns the rectangle of that panel, which the dialog should not cover.
        """
        self.panel_key, self.where = panel, where
        self.is_new = panel is None
        walker = self._walker_of(host)
        like = walker or host.session.focused
        self.kind = like.spec.key if like else SPECS[0].key
        self.values: dict[str, Value] = dict(like.params) if like else {}
        self.own_budget: int | None = like.budget if like else None
        self._kind_debounce_s: float | None = None  # seconds until the agent is replaced; None if no change is pending
        self._place = host.session.panel_of(panel) if panel is not None else 0
        self._generation = host.session.generation
        self.title = "Add an agent" if self.is_new else "Agent"
        self.hint = "" if self.is_new else f"panel {self._place + 1}; changes apply at once"
        super().__init__(host)

    def _card_rect(self) -> pygame.Rect:
        """Return a rectangle at the right of the window, narrow enough not to cover the agent's panel.

        If the rectangle must cover a part of the panel, and would cover less at the left of the window, return a
        rectangle at the left.
        """
        card, about = super()._card_rect(), pygame.Rect(self.where() or (0, 0, 0, 0))
        if about.right < card.right - self.px(SIDEBAR):
            beside = max(card.left, about.right + self.px(GAP))
            card.width, card.left = card.right - beside, beside
        covered = card.clip(about).width
        left = card.move(self.px(GAP) - card.left, 0)
        return left if left.clip(about).width < covered else card

    def _walker_of(self, host: Host) -> Walker | None:
        return host.session.run.walker(self.panel_key) if self.panel_key is not None else None

    @property
    def _key(self) -> PanelKey:
        """Return the key of the panel whose agent is edited."""
        return self.panel_key or NOBODY

    @property
    def walker(self) -> Walker | None:
        return self._walker_of(self.host)

    @property
    def spec(self) -> AgentSpec:
        return BY_KEY[self.kind]

    # --- widgets ----------------------------------------------------------------------------------

    def build(self) -> None:
        area = self.area
        summary = self.px(_SUMMARY_HEIGHT) if area.height >= self.px(_LOW_HEIGHT) else 0
        kinds = take_top(area, self.px(ROW) * self._listed(area.height - summary), self.px(10))
        place = [spec.key for spec in SPECS].index(self.kind)
        columns = [Col(), Col(width=120, align="right", role="dim")]
        items = [Item((spec.name, spec.family), spec.key) for spec in SPECS]
        self.rows = Rows(self, kinds, columns, items, place=place, selected=self._chose)
        self.about: Note | None = None
        if summary:
            self.about = Note(self, take_top(area, summary, self.px(10)), self.problem, self._paint_about)
        self.form_rect = area
        self._fill_form()

    def _listed(self, room: int) -> int:
        """Return the number of algorithms that fit into the list without scrolling.

        Args:
            room: Height of the list and the form together, in pixels.
        """
        return min(len(SPECS), max(_MIN_LISTED, int(room * _LIST_SHARE) // self.px(ROW)))

    def _fill_form(self) -> None:
        values = {p.name: self.values.get(p.name, p.default) for p in self.spec.params}
        values |= {"own_budget": self.own_budget is not None, "budget": self.own_budget or self.shared_budget}
        params = [*self.spec.params, OWN_BUDGET, *([BUDGET] if self.own_budget is not None else [])]
        self.form = ParamForm(self, self.form_rect, params, values, self._changed, gives_back=not self.is_new)
        self.controls = [self.rows, *self.form.controls()]
        if self.is_new:
            self.add_footer(("Cancel", self.cancel, ""), ("Add", self.confirm, "main"))
        else:
            self.add_footer(("Remove", self._remove_agent, "danger"), ("Done", self.confirm, "main"))
        if self.about is not None:  # show error messages in the summary, which has more room than the footer
            self.note = self.about
            self.add(self.about)
        else:
            self.add_note()

    def _refill(self) -> None:
        """Recreate the form, because its rows change with the algorithm and with the switch for an own budget."""
        here = self.focused
        kept = (self.rows, self.about)
        name = here.name if here else ""
        for control in self.controls:
            if control not in kept:
                control.kill()
        self.form.kill()
        self._fill_form()
        same = next((c for c in self.controls if name and c.name == name), self.rows)
        self._focused = self.controls.index(same)
        self._apply_focus()
        self.note.refresh()

    def reveal(self, control: Control) -> None:
        self.form.reveal(control)

    def _paint_about(self, pen: Canvas) -> None:
        width, height = pen.surface.get_size()
        line = pen.px(12 * 1.45)
        pen.wrapped((0, 0, width, height - line), self.spec.summary, size=13)
        pen.text((0, height - line), self.spec.paper, size=12, colour=pen.palette.dim, width=width)

    # --- input ------------------------------------------------------------------------------------

    @property
    def shared_budget(self) -> int:
        return self.host.session.run.world.budget

    def _chose(self, index: int) -> None:
        """Choose another algorithm.

        The agent is replaced after _KIND_DEBOUNCE_S, because a user who moves through the list with arrow keys selects
        many algorithms for a moment.
        """
        self.form.flush()
        self.kind = SPECS[index].key
        self._kind_debounce_s = None if self.is_new else _KIND_DEBOUNCE_S
        self.complain("")
        self._refill()

    def _changed(self, name: str, value: Value) -> None:
        self.complain("")
        if name == "own_budget":
            self.own_budget = self.shared_budget if value else None
            self._set_budget()
            self._refill()
        elif name == "budget":
            self.own_budget = int(value)
            self._set_budget()
        else:
            self.values[name] = value
            self._set_param(name, value)

    def _set_param(self, name: str, value: Value) -> None:
        walker = self.walker
        if walker is None or self._kind_debounce_s is not None:
            self._check()
            return
        session, said = self.host.session, len(self.host.session.told.messages)
        agent_edits.set_param(session, self._key, name, value, partial(self._show_result, name, value, said))

    def _show_result(self, name: str, value: Value, said: int) -> None:
        """Handle the result of a changed parameter: if the change was refused, restore the old value and show why.

        If another dialog has replaced the editor meanwhile, reopen the editor.
        """
        walker = self.walker
        if not self.is_open:
            self.host.run("edit_agent")
        elif walker is not None and walker.params[name] != value:
            self.values[name] = walker.params[name]
            self._refuse(name, walker.params[name], self._take_messages_since(said))

    def _set_budget(self) -> None:
        walker = self.walker
        if walker is None or self._kind_debounce_s is not None:
            self._check()
            return
        session, said = self.host.session, len(self.host.session.told.messages)
        if walker.budget != self.own_budget:
            agent_edits.set_budget(session, self._key, self.own_budget)
        if walker.budget != self.own_budget:
            self.own_budget = walker.budget
            problem = self._take_messages_since(said)
            if walker.budget is None:
                self.complain(problem)
            else:
                self._refuse("budget", walker.budget, problem)

    def _refuse(self, name: str, value: Value, problem: str) -> None:
        """Restore the old value in its row of the form, and show the reason in the row, or if too long, in the note."""
        if not self.form.refuse(name, value, problem):
            self.complain(problem)

    def _take_messages_since(self, said: int) -> str:
        """Take the messages from index `said` on out of the session's queue, and return them as one text.

        They are shown in this dialog instead of over the maps.
        """
        messages = self.host.session.told.messages
        problem = " ".join(messages[said:]) or "The change was refused"
        del messages[said:]
        return problem

    def _entered_config(self) -> AgentConfig:
        params = {p.name: self.values.get(p.name, p.default) for p in self.spec.params}
        label = ""
        walker = self.walker
        if walker is not None and walker.spec.key == self.kind:
            label = walker.config.label
        return AgentConfig(self.kind, label, params, self.own_budget)

    def _check(self) -> bool:
        """Return whether the input describes a valid agent; if it does not, show the first problem."""
        try:
            self.host.session.run.world.check_agent(self._entered_config(), self.spec.name)
        except ConfigError as error:
            self.complain(error.problems[0])
            return False
        self.complain("")
        return True

    def _replace(self) -> None:
        """Replace the agent of the panel by an agent with the chosen algorithm."""
        self._kind_debounce_s = None
        walker = self.walker
        if walker is None or walker.spec.key == self.kind or not self._check():
            return
        agent_edits.replace_agent(self.host.session, self._key, self._entered_config(), self._show_new_agent)

    def _show_new_agent(self) -> None:
        self.panel_key = self.host.session.focused_key
        if not self.is_open:
            self.host.run("edit_agent")

    def _remove_agent(self) -> None:
        walker = self.walker
        self.host.close_dialog()
        if walker is not None:
            agent_edits.remove(self.host.session, self._key)

    def confirm(self) -> None:
        if self.form.stops():
            return
        if self.is_new:
            if self._check() and agent_edits.add(self.host.session, self._entered_config()) and self.is_open:
                self.host.close_dialog()
            return
        if self._kind_debounce_s is not None:
            self.complain("")
            self._replace()
            if self.problem:
                return
        self.host.close_dialog()

    def key(self, event: pygame.event.Event) -> bool:
        if event.key in ENTER and not self.is_new and isinstance(self.focused, Field):
            # Apply the text but keep the focus in the field, because letters typed without a field run commands.
            if not self.form.stops():
                self.focused.place_cursor()
            return True
        # Use the arrow keys only if a control has the focus; otherwise they move the cell cursor on the map.
        return self.focused is not None and self._walk_key(event)

    # --- changes from elsewhere -------------------------------------------------------------------

    def update(self, seconds: float = 1 / 60) -> None:
        super().update(seconds)
        self.form.update(seconds)
        if self._kind_debounce_s is not None:
            self._kind_debounce_s -= seconds
            if self._kind_debounce_s <= 0.0:
                self._replace()
        if not self.is_new and self.is_open:
            self._follow_changes()

    def _follow_changes(self) -> None:
        """Update the dialog to changes made outside it: by shortcuts, by the script, or by a jump in time."""
        session = self.host.session
        if session.generation != self._generation:
            self._generation = session.generation
            panels = session.run.panels
            if self.walker is None:
                self.panel_key = panels[self._place].key if self._place < len(panels) else None
        walker = self.walker
        if walker is None:
            self.host.close_dialog()
            return
        self._place = session.panel_of(self._key)
        if self._kind_debounce_s is not None:
            return
        if walker.spec.key != self.kind:
            self.kind = walker.spec.key
            self.values, self.own_budget = dict(walker.params), walker.budget
            self.rows.select([spec.key for spec in SPECS].index(self.kind), tells=False)
            self._refill()
        elif walker.budget != self.own_budget:
            self.own_budget = walker.budget
            self._refill()
        self.values.update(walker.params)
        self.form.show(walker.params)
