"""Agent editor: algorithm, parameters and budget of an agent. Changes apply at once, while the run continues.

The dialog is modeless and placed at the side of the window, so that the effect of a change is visible on the map.
"""

from functools import partial

import pygame

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from sim.agent_api import AgentSpec
from sim.params import ConfigError, Param, Value
from sim.walker import Walker
from sim.world_commands import BUDGET_PARAM, AgentConfig
from ui.dialogs.dialog_base import (
    ENTER_KEYS,
    DialogHost,
    FormDialog,
    WindowRectCallback,
    cut_strip_from_top,
    no_rect_to_keep_visible,
)
from ui.model import agent_edits
from ui.model.layout import PANEL_GAP, SIDEBAR_WIDTH
from ui.model.panel_keys import NO_PANEL, PanelKey
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Control, ProblemNote
from ui.widgets.param_form import ParamForm
from ui.widgets.row_list import ROW_HEIGHT, ListColumn, ListRow, RowList
from ui.widgets.text_field import TextField

_ALGORITHM_LIST_SHARE = 0.5  # height of the list of algorithms, as a fraction of the height of list and form together
_MIN_LISTED_ALGORITHMS = 2  # minimum number of algorithms that the list shows at once
_ALGORITHM_DEBOUNCE_S = 0.35  # seconds after the choice of an algorithm until the agent is replaced
_SUMMARY_HEIGHT = 72  # height of the summary of the algorithm, in design units
_MIN_HEIGHT_WITH_SUMMARY = 330
"""Minimum height of the dialog's area, in design units, with a summary; a lower area has more room for the form."""

OWN_BUDGET_PARAM = Param("own_budget", bool, False, "off: the agent uses the shared budget")


class AgentEditor(FormDialog):
    is_modal = False
    card_position = "right"
    size = (364, 2000)  # width and maximum height in design units; the window limits the height
    command_id = "edit_agent"

    def __init__(
        self, host: DialogHost, panel: PanelKey | None, panel_rect: WindowRectCallback = no_rect_to_keep_visible
    ) -> None:
        """Open the editor of an agent.

        Args:
            host: Window of the dialog.
            panel: Panel of the agent to edit; None to add a new agent.
            panel_rect: Callback that returns the rectangle of that panel, which the dialog should not cover.
        """
        self.panel_key, self.panel_rect_callback = panel, panel_rect
        self.adds_new_agent = panel is None
        walker = self._walker_of_host(host)
        template = walker or host.session.focused_walker
        self.algorithm_key = template.spec.key if template else AGENT_SPECS[0].key
        self.values: dict[str, Value] = dict(template.params) if template else {}
        self.own_budget: int | None = template.budget if template else None
        # Seconds until the agent is replaced; None if no change is pending.
        self._algorithm_debounce_s: float | None = None
        self._panel_index = host.session.panel_index(panel) if panel is not None else 0
        self._shown_picture_generation = host.session.picture_generation
        self.title = "Add an agent" if self.adds_new_agent else "Agent"
        self.hint = "" if self.adds_new_agent else f"panel {self._panel_index + 1}; changes apply at once"
        super().__init__(host)

    def _compute_card_rect(self) -> pygame.Rect:
        """Return a rectangle at the right of the window, narrow enough not to cover the agent's panel.

        If the rectangle must cover a part of the panel, and would cover less at the left of the window, return a
        rectangle at the left.
        """
        card, panel_rect = super()._compute_card_rect(), pygame.Rect(self.panel_rect_callback() or (0, 0, 0, 0))
        if panel_rect.right < card.right - self.to_px(SIDEBAR_WIDTH):
            left_edge = max(card.left, panel_rect.right + self.to_px(PANEL_GAP))
            card.width, card.left = card.right - left_edge, left_edge
        covered = card.clip(panel_rect).width
        card_at_left = card.move(self.to_px(PANEL_GAP) - card.left, 0)
        return card_at_left if card_at_left.clip(panel_rect).width < covered else card

    def _walker_of_host(self, host: DialogHost) -> Walker | None:
        return host.session.run.walker_of_panel(self.panel_key) if self.panel_key is not None else None

    @property
    def _edited_panel_key(self) -> PanelKey:
        """Return the key of the panel whose agent is edited."""
        return self.panel_key or NO_PANEL

    @property
    def edited_walker(self) -> Walker | None:
        return self._walker_of_host(self.host)

    @property
    def chosen_agent_spec(self) -> AgentSpec:
        return AGENT_SPECS_BY_KEY[self.algorithm_key]

    # --- widgets ----------------------------------------------------------------------------------

    def build_controls(self) -> None:
        area = self.content_rect
        summary = self.to_px(_SUMMARY_HEIGHT) if area.height >= self.to_px(_MIN_HEIGHT_WITH_SUMMARY) else 0
        list_rect = cut_strip_from_top(
            area, self.to_px(ROW_HEIGHT) * self._visible_algorithm_count(area.height - summary), self.to_px(10)
        )
        index = [spec.key for spec in AGENT_SPECS].index(self.algorithm_key)
        columns = [ListColumn(), ListColumn(width=120, text_align="right", colour_name="dim")]
        items = [ListRow((spec.name, spec.family), spec.key) for spec in AGENT_SPECS]
        self.algorithm_list = RowList(
            self, list_rect, columns, items, index=index, selected=self._on_algorithm_selected
        )
        self.summary_note: ProblemNote | None = None
        if summary:
            self.summary_note = ProblemNote(
                self, cut_strip_from_top(area, summary, self.to_px(10)), self.problem, self._paint_summary
            )
        self.form_rect = area
        self._build_form()

    def _visible_algorithm_count(self, height: int) -> int:
        """Return the number of algorithms that fit into the list without scrolling.

        Args:
            height: Height of the list and the form together, in pixels.
        """
        return min(
            len(AGENT_SPECS), max(_MIN_LISTED_ALGORITHMS, int(height * _ALGORITHM_LIST_SHARE) // self.to_px(ROW_HEIGHT))
        )

    def _build_form(self) -> None:
        values = {p.name: self.values.get(p.name, p.default) for p in self.chosen_agent_spec.params}
        values |= {"own_budget": self.own_budget is not None, "budget": self.own_budget or self.shared_budget}
        params = [
            *self.chosen_agent_spec.params,
            OWN_BUDGET_PARAM,
            *([BUDGET_PARAM] if self.own_budget is not None else []),
        ]
        self.option_form = ParamForm(
            self, self.form_rect, params, values, self._on_value_changed, gives_back=not self.adds_new_agent
        )
        self.controls = [self.algorithm_list, *self.option_form.controls()]
        if self.adds_new_agent:
            self.add_footer_buttons(("Cancel", self.cancel, ""), ("Add", self.on_confirm, "main"))
        else:
            self.add_footer_buttons(("Remove", self._remove_agent, "danger"), ("Done", self.on_confirm, "main"))
        if self.summary_note is not None:  # show error messages in the summary, which has more room than the footer
            self.problem_note = self.summary_note
            self.add(self.summary_note)
        else:
            self.add_problem_note()

    def _rebuild_form(self) -> None:
        """Recreate the form, because its rows change with the algorithm and with the switch for an own budget."""
        before, focused = list(self.controls), self.focused_control
        kept_controls = (self.algorithm_list, self.summary_note)
        name = focused.name if focused else ""
        for control in self.controls:
            if control not in kept_controls:
                control.remove()
        self.option_form.remove_controls()
        self._build_form()
        same_control = next((c for c in self.controls if name and c.name == name), self.algorithm_list)
        self._focused_index = self.controls.index(same_control)
        self._notify_of_focus()
        self.continue_from_controls(before)
        self.problem_note.repaint()

    def scroll_to_control(self, control: Control) -> None:
        self.option_form.scroll_to_control(control)

    def _paint_summary(self, pen: Canvas) -> None:
        width, height = pen.surface.get_size()
        line = pen.to_px(12 * 1.45)
        pen.draw_wrapped_text((0, 0, width, height - line), self.chosen_agent_spec.summary, size=13)
        pen.draw_text((0, height - line), self.chosen_agent_spec.paper, size=12, colour=pen.palette.dim, width=width)

    # --- input ------------------------------------------------------------------------------------

    @property
    def shared_budget(self) -> int:
        return self.host.session.run.world.budget

    def _on_algorithm_selected(self, index: int) -> None:
        """Choose another algorithm.

        The agent is replaced after _ALGORITHM_DEBOUNCE_S, because a user who moves through the list with arrow keys
        selects many algorithms for a moment.
        """
        self.option_form.report_pending_changes()
        self.algorithm_key = AGENT_SPECS[index].key
        self._algorithm_debounce_s = None if self.adds_new_agent else _ALGORITHM_DEBOUNCE_S
        self.show_problem("")
        self._rebuild_form()

    def _on_value_changed(self, name: str, value: Value) -> None:
        self.show_problem("")
        if name == "own_budget":
            self.own_budget = self.shared_budget if value else None
            self._apply_entered_budget()
            self._rebuild_form()
        elif name == "budget":
            self.own_budget = int(value)
            self._apply_entered_budget()
        else:
            self.values[name] = value
            self._apply_changed_param(name, value)

    def _apply_changed_param(self, name: str, value: Value) -> None:
        walker = self.edited_walker
        if walker is None or self._algorithm_debounce_s is not None:
            self._check_entered_config()
            return
        session, message_count = self.host.session, len(self.host.session.user_messages.messages_until_next_edit)
        agent_edits.set_agent_param(
            session, self._edited_panel_key, name, value, partial(self._show_change_result, name, value, message_count)
        )

    def _show_change_result(self, name: str, value: Value, message_count: int) -> None:
        """Handle the result of a changed parameter: if the change was refused, restore the old value and show why.

        If another dialog has replaced the editor meanwhile, reopen the editor.
        """
        walker = self.edited_walker
        if not self.is_open:
            self.host.run_command("edit_agent")
        elif walker is not None and walker.params[name] != value:
            self.values[name] = walker.params[name]
            self._show_refusal_reason(name, walker.params[name], self._take_messages_since(message_count))

    def _apply_entered_budget(self) -> None:
        walker = self.edited_walker
        if walker is None or self._algorithm_debounce_s is not None:
            self._check_entered_config()
            return
        session, message_count = self.host.session, len(self.host.session.user_messages.messages_until_next_edit)
        if walker.budget != self.own_budget:
            agent_edits.set_agent_budget(session, self._edited_panel_key, self.own_budget)
        if walker.budget != self.own_budget:
            self.own_budget = walker.budget
            problem = self._take_messages_since(message_count)
            if walker.budget is None:
                self.show_problem(problem)
            else:
                self._show_refusal_reason("budget", walker.budget, problem)

    def _show_refusal_reason(self, name: str, value: Value, problem: str) -> None:
        """Restore the old value in its row of the form, and show the reason in the row, or if too long, in the note."""
        if not self.option_form.refuse_value(name, value, problem):
            self.show_problem(problem)

    def _take_messages_since(self, message_count: int) -> str:
        """Take the messages from index `message_count` on out of the session's queue, and return them as one text.

        They are shown in this dialog instead of over the maps.
        """
        messages = self.host.session.user_messages.messages_until_next_edit
        problem = " ".join(messages[message_count:]) or "The change was refused"
        del messages[message_count:]
        return problem

    def _entered_config(self) -> AgentConfig:
        params = {p.name: self.values.get(p.name, p.default) for p in self.chosen_agent_spec.params}
        label = ""
        walker = self.edited_walker
        if walker is not None and walker.spec.key == self.algorithm_key:
            label = walker.config.label
        return AgentConfig(self.algorithm_key, label, params, self.own_budget)

    def _check_entered_config(self) -> bool:
        """Return whether the input describes a valid agent; if it does not, show the first problem."""
        try:
            self.host.session.run.world.check_agent_config(self._entered_config(), self.chosen_agent_spec.name)
        except ConfigError as error:
            self.show_problem(error.problems[0])
            return False
        self.show_problem("")
        return True

    def _replace_agent(self) -> None:
        """Replace the agent of the panel by an agent with the chosen algorithm."""
        self._algorithm_debounce_s = None
        walker = self.edited_walker
        if walker is None or walker.spec.key == self.algorithm_key or not self._check_entered_config():
            return
        agent_edits.replace_agent(
            self.host.session, self._edited_panel_key, self._entered_config(), self._show_new_agent
        )

    def _show_new_agent(self) -> None:
        self.panel_key = self.host.session.focused_key
        if not self.is_open:
            self.host.run_command("edit_agent")

    def _remove_agent(self) -> None:
        walker = self.edited_walker
        self.host.close_dialog()
        if walker is not None:
            agent_edits.remove_agent(self.host.session, self._edited_panel_key)

    def on_confirm(self) -> None:
        if self.option_form.has_invalid_row():
            return
        if self.adds_new_agent:
            if (
                self._check_entered_config()
                and agent_edits.add_agent(self.host.session, self._entered_config())
                and self.is_open
            ):
                self.host.close_dialog()
            return
        if self._algorithm_debounce_s is not None:
            self.show_problem("")
            self._replace_agent()
            if self.problem:
                return
        self.host.close_dialog()

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        if event.key in ENTER_KEYS and not self.adds_new_agent and isinstance(self.focused_control, TextField):
            # Apply the text but keep the focus in the field, because letters typed without a field run commands.
            if not self.option_form.has_invalid_row():
                self.focused_control.select_all_text()
            return True
        # Use the arrow keys only if a control has the focus; otherwise they move the cell cursor on the map.
        return self.focused_control is not None and self._move_focus_by_key(event)

    # --- changes from elsewhere -------------------------------------------------------------------

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        super().update_dialog(seconds)
        self.option_form.update_rows(seconds)
        if self._algorithm_debounce_s is not None:
            self._algorithm_debounce_s -= seconds
            if self._algorithm_debounce_s <= 0.0:
                self._replace_agent()
        if not self.adds_new_agent and self.is_open:
            self._apply_outside_changes()

    def _apply_outside_changes(self) -> None:
        """Update the dialog to changes made outside it: by shortcuts, by the script, or by a jump in time."""
        session = self.host.session
        if session.picture_generation != self._shown_picture_generation:
            self._shown_picture_generation = session.picture_generation
            panels = session.run.panels
            if self.edited_walker is None:
                self.panel_key = panels[self._panel_index].key if self._panel_index < len(panels) else None
        walker = self.edited_walker
        if walker is None:
            self.host.close_dialog()
            return
        self._panel_index = session.panel_index(self._edited_panel_key)
        if self._algorithm_debounce_s is not None:
            return
        if walker.spec.key != self.algorithm_key:
            self.algorithm_key = walker.spec.key
            self.values, self.own_budget = dict(walker.params), walker.budget
            self.algorithm_list.select_row([spec.key for spec in AGENT_SPECS].index(self.algorithm_key), notifies=False)
            self._rebuild_form()
        elif walker.budget != self.own_budget:
            self.own_budget = walker.budget
            self._rebuild_form()
        self.values.update(walker.params)
        self.option_form.show_values(walker.params)
