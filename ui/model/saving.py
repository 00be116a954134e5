"""Saving and opening of session files, which contain a run with all its branches and commands.

This module does not use pygame.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.registry import BY_KEY
from sim.files import session as session_file
from sim.files.scenario import Scenario
from sim.files.session import FOCUS_KEY, ORDER_KEY, SHOWN_KEY, Saved
from ui.model import files
from ui.model.keys import PanelKey
from ui.model.run import Run, planted, with_versions, world_maker
from ui.model.session import Session

View = Mapping[str, Any]


def describe(run: Run, view: View | None = None, agent: int = 0) -> Saved:
    """Return the content of a session file for a run.

    Args:
        run: The run.
        view: Appearance of the window to save; None keeps the `view` of the scenario.
        agent: Focused agent of the front branch.
    """
    return session_file.describe(looking_at(run, view, agent), run.tree, run.front)


def looking_at(run: Run, view: View | None = None, agent: int = 0) -> Scenario:
    """Return the scenario of a run; its `view` also says which branches, panel order and agent are on screen."""
    shown = {SHOWN_KEY: list(run.shown), FOCUS_KEY: agent, ORDER_KEY: [list(key) for key in run.order]}
    return replace(run.scenario, view={**(run.scenario.view if view is None else view), **shown})


def text_of(run: Run, folder: Path, view: View | None = None, agent: int = 0) -> str:
    """Return the text of a session file; the path of the map is relative to `folder`."""
    return session_file.text_for(describe(run, view, agent), folder)


def save(session: Session, path: Path, view: View | None = None) -> Path:
    """Write the session as one file, with the appearance of the window, and return its path."""
    place = files.with_suffix(path, files.SCENARIO_SUFFIXES)
    session_file.save_session(describe(session.run, view, session.focused_key.agent), place)
    session.unsaved.mark_saved()
    return place


def restore(session: Session, saved: Saved, path: Path | None = None) -> None:
    """Replace the open run by a saved session, and begin to seek to the tick at which it was saved.

    Args:
        session: The open session.
        saved: The saved session.
        path: File that the session was read from; None for a journal, whose content counts as unsaved.
    """
    scenario, problems = with_versions(files.titled(saved.scenario, path)), list[str]()
    tree = saved.plant(BY_KEY, setup=world_maker(scenario, problems))
    shown = (*saved.shown, saved.branch)
    run = planted(scenario, tree, saved.branch, shown, session.told)
    run.arrange([PanelKey(*pair) for pair in saved.order])
    session.take(run, saved.focus)
    if path is None:
        session.unsaved.mark_unsaved()  # restored from a journal, which does not count as a file saved by the user
    session.told.messages.extend(dict.fromkeys(problems))
    session.told.alarms.extend(saved.warnings)
