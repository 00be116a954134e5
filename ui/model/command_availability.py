"""Reasons why a command is not available now, which its disabled button and its tooltip show.

This module does not use pygame.
"""

from collections.abc import Callable, Mapping

from ui.model.session import Session
from ui.model.ui_state import UiState
from ui.model.value_adjustments import agents_with_shared_budget

ReasonFunction = Callable[[Session, UiState], str]
"""Function that returns the reason why a command is not available, or "" if it is."""


def disabled_reason(command: str, session: Session, state: UiState) -> str:
    reason = _REASON_BY_COMMAND.get(command)
    return reason(session, state) if reason is not None else ""


def _reason_function_for_condition(is_possible: Callable[[Session, UiState], object], reason: str) -> ReasonFunction:
    return lambda session, state: "" if is_possible(session, state) else reason


_NEEDS_SELECTION = _reason_function_for_condition(
    lambda _, state: state.selected_cells, "Nothing is selected: drag over the map with Select"
)
_NEEDS_SELECTION_OR_HELD_PIECE = _reason_function_for_condition(
    lambda _, state: state.selected_cells or state.pasted_piece, "Nothing is selected, and no cells are being pasted"
)
_NEEDS_SECOND_BRANCH = _reason_function_for_condition(
    lambda session, _: len(session.run.branch_tree.branches) > 1,
    "There is only one branch; {key:branch} creates another",
)

_NEEDS_SHARED_BUDGET = _reason_function_for_condition(
    lambda session, _: agents_with_shared_budget(session),
    "No agent shares this budget: each has its own, shown as k in its panel",
)

_REASON_BY_COMMAND: Mapping[str, ReasonFunction] = {
    "undo": _reason_function_for_condition(lambda session, _: session.undo_history.done, "There is nothing to undo"),
    "redo": _reason_function_for_condition(
        lambda session, _: session.undo_history.undone_entries, "There is nothing to redo"
    ),
    "copy": _NEEDS_SELECTION,
    "cut": _NEEDS_SELECTION,
    "block_selected": _NEEDS_SELECTION,
    "free_selected": _NEEDS_SELECTION,
    "name_switch": _NEEDS_SELECTION,
    "save_piece": _NEEDS_SELECTION,
    "paste": _reason_function_for_condition(lambda _, state: state.copied_piece, "Nothing was copied yet"),
    "mirror_left_right": _NEEDS_SELECTION_OR_HELD_PIECE,
    "mirror_top_bottom": _NEEDS_SELECTION_OR_HELD_PIECE,
    "turn_right": _NEEDS_SELECTION_OR_HELD_PIECE,
    "turn_left": _NEEDS_SELECTION_OR_HELD_PIECE,
    "raise_budget": _NEEDS_SHARED_BUDGET,
    "lower_budget": _NEEDS_SHARED_BUDGET,
    "compare_branch": _reason_function_for_condition(
        lambda session, _: (
            session.run.branch_tree[session.run.focused_branch_number].parent in session.run.branch_tree.branches
        ),
        "The focused branch has no parent to compare it with",
    ),
    "hide_branch": _reason_function_for_condition(
        lambda session, _: len(session.run.shown_branch_numbers) > 1, "The only branch on screen cannot be hidden"
    ),
    "delete_branch": _NEEDS_SECOND_BRANCH,
    "split_policy": _reason_function_for_condition(
        lambda session, _: session.focused_walker, "There is no agent whose settings can differ"
    ),
    "to_start": _reason_function_for_condition(lambda session, _: session.tick > 0, "The run is at tick 0 already"),
    "step_back": _reason_function_for_condition(lambda session, _: session.tick > 0, "The run is at tick 0 already"),
    "save_charts": _reason_function_for_condition(
        lambda session, _: session.run.panels, "There is no agent, so there are no charts"
    ),
    "export_csv": _reason_function_for_condition(
        lambda session, _: session.run.panels, "There is no agent, so there is nothing to export"
    ),
    "compare_table": _reason_function_for_condition(
        lambda session, _: session.run.panels, "There is no agent, so there is nothing to compare"
    ),
}
