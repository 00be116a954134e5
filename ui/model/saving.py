"""Saving and opening whole sessions. No pygame here."""

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
    """All there is to save. `view` is how the window looks; without one that of the scenario stays."""
    return session_file.describe(looking_at(run, view, agent), run.tree, run.front)


def looking_at(run: Run, view: View | None = None, agent: int = 0) -> Scenario:
    """What the run began with, and in its view what is on screen, in which order, and which agent has the focus."""
    shown = {SHOWN_KEY: list(run.shown), FOCUS_KEY: agent, ORDER_KEY: [list(key) for key in run.order]}
    return replace(run.scenario, view={**(run.scenario.view if view is None else view), **shown})


def text_of(run: Run, folder: Path, view: View | None = None, agent: int = 0) -> str:
    """Everything as text, for a file in this folder."""
    return session_file.text_for(describe(run, view, agent), folder)


def save(session: Session, path: Path, view: View | None = None) -> Path:
    """Write everything as one file, with how the window looks; returns where."""
    place = files.with_suffix(path, files.SCENARIO_SUFFIXES)
    session_file.save_session(describe(session.run, view, session.focused_key.agent), place)
    session.unsaved.mark_saved()
    return place


def restore(session: Session, saved: Saved, path: Path | None = None) -> None:
    """Put a saved session in place of the open one; its branches are on their way to their ticks."""
    scenario, problems = with_versions(files.titled(saved.scenario, path)), list[str]()
    tree = saved.plant(BY_KEY, setup=world_maker(scenario, problems))
    shown = (*saved.shown, saved.branch)
    run = planted(scenario, tree, saved.branch, shown, session.told)
    run.arrange([PanelKey(*pair) for pair in saved.order])
    session.take(run, saved.focus)
    if path is None:
        session.unsaved.mark_unsaved()  # from a journal: nowhere else is it kept
    session.told.messages.extend(dict.fromkeys(problems))
    session.told.alarms.extend(saved.warnings)
