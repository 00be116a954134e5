"""Actions of the user on branches: creating, splitting, showing, renaming and deleting them.

This module does not use pygame.
"""

from collections.abc import Callable, Mapping, Sequence

from sim.params import Value
from sim.time.branches import Branch
from ui.model.panel_keys import PanelKey
from ui.model.session import Session


def create_branch_at_current_tick(session: Session) -> Branch:
    """Create a branch that begins at the current tick, and show it next to its parent branch."""
    agent = session.focused_key.agent
    with session.combine_actions("branch created"):
        branch = session.run.branch_tree.create_branch(session.run.focused_branch_number)
        branch.timeline.finish_seek()
        _show_and_focus_branch(session, branch, agent)
    return branch


def create_and_show_branch(
    session: Session, description: str, build_branch: Callable[[], Branch], agent: int
) -> Branch:
    """Create a branch by calling `build_branch`, and show it next to the branches on screen.

    Args:
        session: The open session.
        description: Description of the undo entry.
        build_branch: Function that creates the branch and returns it.
        agent: Agent to focus in the new branch.
    """
    with session.combine_actions(description):
        branch = build_branch()
        _show_and_focus_branch(session, branch, agent)
    return branch


def _show_and_focus_branch(session: Session, branch: Branch, agent: int) -> None:
    session.run.show_branches([*session.run.shown_branch_numbers, branch.number])
    session.focus_panel(PanelKey(branch.number, agent))


def split_into_variants(session: Session, variants: Sequence[Mapping[str, Value | None]]) -> list[Branch]:
    """Create a branch for each variant of the focused agent's parameters, and link these branches.

    Later commands apply to all linked branches.
    """
    run, agent = session.run, session.focused_key.agent
    with session.combine_actions(f"split into {len(variants)} branches"):
        futures = run.branch_tree.create_variants(run.focused_branch_number, agent, variants)
        for branch in futures:
            branch.timeline.finish_seek()
        run.show_branches(branch.number for branch in futures)
        first = [PanelKey(number, agent) for number in run.shown_branch_numbers]
        others = [key for key in run.panel_order if key not in first]
        # Panels of the new branches first, because the window may not have room for all.
        run.order_panels([*first, *others])
        session.focus_panel(first[0])
    return futures


def show_branch(session: Session, number: int) -> None:
    """Show a branch next to the branches on screen, at the same tick, and focus it."""
    run = session.run
    if number not in run.shown_branch_numbers:
        run.show_branches([*run.shown_branch_numbers, number])
    run.focused_branch_number = number
    run.update_after_change()
    first = next((panel.key for panel in run.panels if panel.key.branch == number), None)
    if first is not None:
        session.focus_panel(first)


def hide_branch(session: Session, number: int) -> None:
    """Take a branch off the screen, unless no other branch is shown."""
    shown_branches = session.run.shown_branch_numbers
    if len(shown_branches) > 1 and number in shown_branches:
        session.run.show_branches(other for other in shown_branches if other != number)
        session.ensure_valid_focus()


def rename_branch(session: Session, number: int, name: str) -> None:
    if name.strip():
        with session.combine_actions(f'"{session.run.branch_tree[number].name}" renamed'):
            session.run.branch_tree.rename_branch(number, name.strip())


def delete_branch(session: Session, number: int) -> None:
    with session.combine_actions(f'"{session.run.branch_tree[number].name}" deleted'):
        session.run.delete_branch(number)


def show_beside_parent_branch(session: Session) -> bool:
    """Show the focused branch and its parent side by side; return False if it has no parent."""
    run, focused_key = session.run, session.focused_key
    parent = run.branch_tree[run.focused_branch_number].parent
    if parent is None:
        return False
    run.show_branches([parent, run.focused_branch_number])
    run.order_panels([])
    session.focus_panel(focused_key)
    session.ensure_valid_focus()
    return True
