"""Saving and opening whole sessions. No pygame here."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.registry import BY_KEY
from sim.commands import TimedCommand
from sim.files import session as session_file
from sim.files.scenario import MapRows, MapSource, Scenario
from sim.files.session import FOCUS_KEY, SHOWN_KEY, Saved
from ui.model import files
from ui.model.session import SPAN, Session
from ui.model.setup import Setup


def beginning_of(session: Session, view: Mapping[str, Any] | None = None) -> Scenario:
    """Tick 0 of a session as a scenario: map, agents and script, without what was done by hand."""
    setup = session.setup
    pair = setup.grid.xy
    changes = setup.changes
    return Scenario(
        _source_of(session),
        pair(setup.start),
        pair(setup.goal),
        tuple(files.config_as_file(config) for config in session.first_configs),
        setup.title,
        setup.caption,
        setup.seed,
        setup.budget,
        {name: tuple(pair(cell) for cell in cells) for name, cells in setup.switches.items()},
        changes if changes and changes.rate > 0 else None,
        tuple(TimedCommand(tick, command) for tick, command in setup.script),
        view={**(view or {}), SHOWN_KEY: list(session.shown), FOCUS_KEY: session.focused_id % SPAN},
        terrain=setup.grid.terrain if setup.source and not _is_redrawn(session) else None,
    )


def _is_redrawn(session: Session) -> bool:
    """Whether the map of tick 0 is another one than the file's."""
    return not np.array_equal(session.first_terrain, session.setup.grid.terrain)


def _source_of(session: Session) -> MapSource:
    """The file or recipe of the map, or its rows where there is none or the user has redrawn it."""
    setup = session.setup
    if setup.source is not None and not _is_redrawn(session):
        return setup.source
    rows = tuple(bytes(row).decode("ascii") for row in session.first_terrain)
    return MapRows(rows, setup.grid.diagonal)


def describe(session: Session, view: Mapping[str, Any] | None = None) -> Saved:
    return session_file.describe(beginning_of(session, view), session.tree, session.branch, session.setup.grid.original)


def save(session: Session, path: Path, view: Mapping[str, Any] | None = None) -> Path:
    """Write everything as one file, with how the window looks; returns where."""
    place = files.with_suffix(path, files.SCENARIO_SUFFIXES)
    session_file.save_session(describe(session, view), place)
    session.mark_saved()
    return place


def text_of(session: Session, folder: Path, view: Mapping[str, Any] | None = None) -> str:
    """Everything as text, for a file in this folder."""
    return session_file.text_for(describe(session, view), folder)


def setup_of(saved: Saved, path: Path | None = None) -> Setup:
    """What a saved session begins with."""
    setup = files.setup_from_scenario(saved.scenario, path)
    cells, letters = saved.original
    setup.grid.original.reshape(-1)[list(cells)] = np.frombuffer(letters.encode("ascii"), np.uint8)
    return setup


def restore(session: Session, saved: Saved, path: Path | None = None) -> None:
    """Put a saved session in place of the open one; its branches are on their way to their ticks."""
    setup = setup_of(saved, path)
    session.open(replace(setup, title=setup.title or "Session"))
    configs = list(setup.agents)
    tree = saved.plant(BY_KEY, setup=lambda: session.make_world(configs))
    session.focused_id = saved.focus
    session.plant(tree, saved.branch, list(dict.fromkeys([*saved.shown, saved.branch])))
    if path is None:
        session.mark_unsaved()  # from a journal: nowhere else is it kept
    else:
        session.mark_saved()
    session.messages += saved.warnings
