"""Actions of the user on branches: creating, splitting, showing, renaming and deleting them.

This module does not use pygame.
"""

from collections.abc import Callable, Mapping, Sequence

from sim.params import Value
from sim.time.branches import Branch
from ui.model.keys import PanelKey
from ui.model.session import Session


def branch_here(session: Session) -> Branch:
    """Create a branch that begins at the current tick, and show it next to its parent branch."""
    agent = session.focused_key.agent
    with session.doing("branch created"):
        branch = session.run.tree.branch(session.run.front)
        branch.timeline.settle()
        _show_and_focus_branch(session, branch, agent)
    return branch


def add(session: Session, words: str, make: Callable[[], Branch], agent: int) -> Branch:
    """Create a branch by calling `make`, and show it next to the branches on screen.

    Args:
        session: The open session.
        words: Description of the undo entry.
        make: Function that creates the branch and returns it.
        agent: Agent to focus in the new branch.
    """
    with session.doing(words):
        branch = make()
        _show_and_focus_branch(session, branch, agent)
    return branch


def _show_and_focus_branch(session: Session, branch: Branch, agent: int) -> None:
    session.run.show([*session.run.shown, branch.number])
    session.focus(PanelKey(branch.number, agent))


def split(session: Session, variants: Sequence[Mapping[str, Value | None]]) -> list[Branch]:
    """Create a branch for each variant of the focused agent's parameters, and link these branches.

    Later commands apply to all linked branches.
    """
    run, agent = session.run, session.focused_key.agent
    with session.doing(f"split into {len(variants)} branches"):
        futures = run.tree.split_policy(run.front, agent, variants)
        for branch in futures:
            branch.timeline.settle()
        run.show(branch.number for branch in futures)
        first = [PanelKey(number, agent) for number in run.shown]
        others = [key for key in run.order if key not in first]
        run.arrange([*first, *others])  # panels of the new branches first, because the window may not have room for all
        session.focus(first[0])
    return futures


def show(session: Session, number: int) -> None:
    """Show a branch next to the branches on screen, at the same tick, and focus it."""
    run = session.run
    if number not in run.shown:
        run.show([*run.shown, number])
    run.front = number
    run.changed()
    first = next((panel.key for panel in run.panels if panel.key.branch == number), None)
    if first is not None:
        session.focus(first)


def hide(session: Session, number: int) -> None:
    """Take a branch off the screen, unless no other branch is shown."""
    shown = session.run.shown
    if len(shown) > 1 and number in shown:
        session.run.show(other for other in shown if other != number)
        session.keep_focus()


def rename(session: Session, number: int, name: str) -> None:
    if name.strip():
        with session.doing(f'"{session.run.tree[number].name}" renamed'):
            session.run.tree.rename(number, name.strip())


def delete(session: Session, number: int) -> None:
    with session.doing(f'"{session.run.tree[number].name}" deleted'):
        session.run.delete(number)


def compare_with_parent(session: Session) -> bool:
    """Show the focused branch and its parent side by side; return False if it has no parent."""
    run, focused_key = session.run, session.focused_key
    parent = run.tree[run.front].parent
    if parent is None:
        return False
    run.show([parent, run.front])
    run.arrange([])
    session.focus(focused_key)
    session.keep_focus()
    return True
