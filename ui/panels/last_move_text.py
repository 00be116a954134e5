"""Sentence in the inspector that explains the last move of an agent."""

from ui.model.move_explanation import explain_move
from ui.model.run import Panel
from ui.panels.view_context import ViewContext

LAST_MOVE_TEXT_SIZE = 12.5  # font size in design units


def draw_last_move_text(desk: ViewContext, x: int, y: int, width: int, panel: Panel) -> int:
    """Draw the sentence below the agent's name and return its bottom; a crowd has one only if an agent is selected."""
    text = last_move_sentence(desk, panel)
    if not text:
        return y
    box = (x, y, width, desk.canvas.surface.get_height())
    return y + desk.canvas.draw_wrapped_text(box, text, size=LAST_MOVE_TEXT_SIZE) + desk.canvas.to_px(4)


def last_move_sentence(desk: ViewContext, panel: Panel) -> str:
    """Return the explanation of an agent's last move, cached until the snapshot or the shown agent changes.

    Finding the cell where an old and a new path fork takes as many steps as the paths have, too many for every frame.
    """
    mind = panel.drawn_agent
    if mind is None or desk.session.run.is_seeking:
        return ""
    known = desk.ui_state.move_explanations.get(panel.key)
    if known is None or known[0] is not panel.snapshot or known[1] != mind.id:
        records = desk.session.run.branch_tree[panel.key.branch].timeline.run_history.agent_records
        if mind.id not in records:
            return ""
        before = records[mind.id].cell_at_tick(panel.snapshot.tick - 1)
        known = desk.ui_state.move_explanations[panel.key] = (
            panel.snapshot,
            mind.id,
            explain_move(panel.snapshot, mind, before).text,
        )
    return known[2]
