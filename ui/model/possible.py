"""Reasons why a command is not available now, for its button and its tooltip.

This module does not use pygame.
"""

from collections.abc import Callable, Mapping

from ui.model.session import Session
from ui.model.state import State
from ui.model.turning import sharing_budget

Reason = Callable[[Session, State], str]
"""Function that returns the reason why a command is not available, or "" if it is."""


def disabled_reason(command: str, session: Session, state: State) -> str:
    reason = _REASONS.get(command)
    return reason(session, state) if reason is not None else ""


def _unless(can: Callable[[Session, State], object], why: str) -> Reason:
    return lambda session, state: "" if can(session, state) else why


_SELECTED = _unless(lambda _, state: state.selection, "Nothing is selected: drag over the map with Select")
_IN_HAND = _unless(lambda _, state: state.selection or state.held, "Nothing is selected, and nothing is in the hand")
_SECOND = _unless(
    lambda session, _: len(session.run.tree.branches) > 1, "There is one branch only; {key:branch} makes another"
)

_SHARED = _unless(
    lambda session, _: sharing_budget(session), "No agent shares this budget: each has its own, shown as k in its panel"
)

_REASONS: Mapping[str, Reason] = {
    "undo": _unless(lambda session, _: session.history.done, "Nothing was done yet"),
    "redo": _unless(lambda session, _: session.history.undone, "Nothing was taken back"),
    "copy": _SELECTED,
    "cut": _SELECTED,
    "block_selected": _SELECTED,
    "free_selected": _SELECTED,
    "name_switch": _SELECTED,
    "save_piece": _SELECTED,
    "paste": _unless(lambda _, state: state.piece, "Nothing was copied yet"),
    "mirror_left_right": _IN_HAND,
    "mirror_top_bottom": _IN_HAND,
    "turn_right": _IN_HAND,
    "turn_left": _IN_HAND,
    "raise_budget": _SHARED,
    "lower_budget": _SHARED,
    "compare_branch": _unless(
        lambda session, _: session.run.tree[session.run.front].parent in session.run.tree.branches,
        "The focused branch has no parent to be compared with",
    ),
    "hide_branch": _unless(lambda session, _: len(session.run.shown) > 1, "The only branch on screen stays there"),
    "delete_branch": _SECOND,
    "split_policy": _unless(lambda session, _: session.focused, "There is no agent to split"),
    "to_start": _unless(lambda session, _: session.tick > 0, "This is tick 0"),
    "step_back": _unless(lambda session, _: session.tick > 0, "This is tick 0"),
    "save_charts": _unless(lambda session, _: session.run.panels, "There is no agent, and no chart"),
    "export_csv": _unless(lambda session, _: session.run.panels, "There is no agent, and nothing to export"),
    "compare_table": _unless(lambda session, _: session.run.panels, "There is no agent, and nothing to compare"),
}
