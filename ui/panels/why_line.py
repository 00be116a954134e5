"""Sentence in the inspector that explains the last move of an agent."""

from ui.model.run import Panel
from ui.model.why import why
from ui.panels.desk import ViewContext

SIZE = 12.5  # font size in design units


def draw(desk: ViewContext, x: int, y: int, width: int, panel: Panel) -> int:
    """Draw the sentence below the agent's name and return its bottom; a crowd has one only if an agent is selected."""
    text = sentence(desk, panel)
    if not text:
        return y
    box = (x, y, width, desk.canvas.surface.get_height())
    return y + desk.canvas.wrapped(box, text, size=SIZE) + desk.canvas.px(4)


def sentence(desk: ViewContext, panel: Panel) -> str:
    """Return the explanation of an agent's last move, cached until the snapshot or the shown agent changes.

    Finding the cell where an old and a new path fork takes as many steps as the paths have, too many for every frame.
    """
    mind = panel.mind
    if mind is None or desk.session.run.is_seeking:
        return ""
    known = desk.state.whys.get(panel.key)
    if known is None or known[0] is not panel.snapshot or known[1] != mind.id:
        records = desk.session.run.tree[panel.key.branch].timeline.records
        if mind.id not in records:
            return ""
        before = records[mind.id].cell_at(panel.snapshot.tick - 1)
        known = desk.state.whys[panel.key] = (panel.snapshot, mind.id, why(panel.snapshot, mind, before).text)
    return known[2]
