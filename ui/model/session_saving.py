"""Saving and opening of session files, which contain a run with all its branches and commands.

This module does not use pygame.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.registry import AGENT_SPECS_BY_KEY
from files import session as session_file
from files.scenario import Scenario
from files.session import FOCUSED_AGENT_KEY, PANEL_ORDER_KEY, SHOWN_BRANCHES_KEY, SavedSession
from ui.model import opened_files
from ui.model.panel_keys import PanelKey
from ui.model.run import Run, run_from_tree, scenario_with_pinned_versions, world_builder
from ui.model.session import Session

ViewMapping = Mapping[str, Any]


def session_content(run: Run, view: ViewMapping | None = None, agent: int = 0) -> SavedSession:
    """Return the content of a session file for a run.

    Args:
        run: The run.
        view: Appearance of the window to save; None keeps the `view` of the scenario.
        agent: Focused agent of the front branch.
    """
    return session_file.create_saved_session(
        scenario_with_view(run, view, agent), run.branch_tree, run.focused_branch_number
    )


def scenario_with_view(run: Run, view: ViewMapping | None = None, agent: int = 0) -> Scenario:
    """Return the scenario of a run; its `view` also says which branches, panel order and agent are on screen."""
    shown_state = {
        SHOWN_BRANCHES_KEY: list(run.shown_branch_numbers),
        FOCUSED_AGENT_KEY: agent,
        PANEL_ORDER_KEY: [list(key) for key in run.panel_order],
    }
    return replace(run.scenario, view={**(run.scenario.view if view is None else view), **shown_state})


def session_text(run: Run, folder: Path, view: ViewMapping | None = None, agent: int = 0) -> str:
    """Return the text of a session file; the path of the map is relative to `folder`."""
    return session_file.session_text(session_content(run, view, agent), folder)


def save_session(session: Session, path: Path, view: ViewMapping | None = None) -> Path:
    """Write the session as one file, with the appearance of the window, and return its path."""
    file = opened_files.path_with_suffix(path, opened_files.SCENARIO_SUFFIXES)
    session_file.save_session(session_content(session.run, view, session.focused_key.agent), file)
    session.unsaved_work.mark_saved()
    return file


def restore_session(session: Session, saved: SavedSession, path: Path | None = None) -> None:
    """Replace the open run by a saved session, and begin to seek to the tick at which it was saved.

    Args:
        session: The open session.
        saved: The saved session.
        path: File that the session was read from; None for a journal, whose content counts as unsaved.
    """
    scenario, problems = (
        scenario_with_pinned_versions(opened_files.scenario_with_title(saved.scenario, path)),
        list[str](),
    )
    tree = saved.build_branch_tree(AGENT_SPECS_BY_KEY, setup=world_builder(scenario, problems))
    shown_branches = (*saved.shown_branches, saved.focused_branch)
    run = run_from_tree(scenario, tree, saved.focused_branch, shown_branches, session.user_messages)
    run.order_panels([PanelKey(*pair) for pair in saved.panel_order])
    session.open_run(run, saved.focused_agent)
    if path is None:
        session.unsaved_work.mark_unsaved()  # restored from a journal, which does not count as a file saved by the user
    session.user_messages.messages_until_next_edit.extend(dict.fromkeys(problems))
    session.user_messages.alert_messages.extend(saved.warnings)
