"""A scenario keeps every field, whatever way it goes: file, session, journal, picture, branch, film, R.

The test walks the dataclass, so a field that is added later cannot be forgotten on any of the ways.
"""

import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from files.journal import find_crashed_journals, restore_session
from files.map_source import MapFile, MapRows
from files.movingai import write_map
from files.png import png_bytes
from files.scenario import Scenario, StopTick, load_scenario, save_scenario
from files.session import with_original_letters
from files.shipped_files import SCENARIOS_FOLDER
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.movement import CUT_ONE_CORNER, Movement
from sim.world_commands import AgentConfig, EditCells, SetMaxTrials, SetRandomChanges, TimedCommand
from ui.film.picture_files import png_text_chunks
from ui.film.replay import replay_spec_of_run
from ui.model import branch_actions, opened_files, session_saving
from ui.model.autosave import AutosaveJournal
from ui.model.session import Session

ROWS = ["..........", "..T....W..", "....@@....", "....@.....", ".........."]


def make_full_scenario(folder: Path) -> Scenario:
    """A scenario in which no field is as it is by default."""
    path = folder / "pond.map"
    write_map(Grid.from_text_rows(ROWS), path)
    agents = (AgentConfig("lss-lrta", "learner", {"lookahead": 3}), AgentConfig("tb-wa", "second", {"weight": 2.5}, 9))
    return Scenario(
        map=MapFile(path.name, Path(os.path.realpath(path)), movement=Movement(CUT_ONE_CORNER, 1.5)),
        start=(1, 0),
        goal=(9, 4),
        agents=agents,
        title="A title: with signs",
        caption="Two\nlines",
        seed=11,
        budget=5,
        switches={"gate": ((3, 2), (3, 3))},
        changes=RandomChangeSchedule(50, 2.0),
        timed_commands=(TimedCommand(7, EditCells(blocked_cells=(22, 23))),),
        view={"theme": "light", "layers": {"grid": True}},
        trials=40,
        tick_ms=2.5,
        listed_optimal=12.5,
        stop_tick=StopTick(70, "out of moves: 50"),
    )


def test_full_scenario_has_no_default_values(tmp_path: Path) -> None:
    usual = Scenario(make_full_scenario(tmp_path).map, (0, 0), (1, 1))
    for field in fields(Scenario):
        if field.name not in ("map", "grid"):
            assert getattr(make_full_scenario(tmp_path), field.name) != getattr(usual, field.name), field.name


def assert_same_fields(found: Scenario, wanted: Scenario) -> None:
    for field in fields(Scenario):
        if field.name in ("grid", "view", "map"):
            continue
        assert getattr(found, field.name) == getattr(wanted, field.name), field.name
    assert np.array_equal(found.grid.terrain, wanted.grid.terrain)
    assert np.array_equal(found.grid.original_terrain, wanted.grid.original_terrain)
    assert found.grid.movement == wanted.grid.movement
    for key, value in wanted.view.items():
        assert found.view[key] == value, key
    assert found.map.movement == wanted.map.movement


# --- the ways -------------------------------------------------------------------------------------


def through_scenario_file(session: Session, folder: Path) -> Scenario:
    save_scenario(session.run.scenario, folder / "a.yaml")
    return load_scenario(folder / "a.yaml", AGENT_SPECS_BY_KEY)


def through_session_scenario(session: Session, folder: Path) -> Scenario:
    path = opened_files.save_session_scenario(session, folder / "mine", session.run.scenario.view)
    return opened_files.open_any_file(path).scenario


def through_session_file(session: Session, folder: Path) -> Scenario:
    path = session_saving.save_session(session, folder / "mine")
    other = Session(opened_files.open_any_file(path).scenario)
    saved = opened_files.open_any_file(path).saved_session
    assert saved is not None
    session_saving.restore_session(other, saved, path)
    return other.run.scenario


def through_journal(session: Session, folder: Path) -> Scenario:
    keeper = AutosaveJournal(session)
    keeper.update_journal()
    assert keeper.journal is not None
    for file in (keeper.journal._journal_descriptor, keeper.journal._lock_descriptor):  # what a kill does
        os.close(file)
    other = Session(session.run.scenario)
    session_saving.restore_session(other, restore_session(find_crashed_journals()[0].path, AGENT_SPECS_BY_KEY))
    return other.run.scenario


def through_picture(session: Session, folder: Path) -> Scenario:
    (folder / "a.png").write_bytes(png_bytes(np.zeros((4, 4), np.uint32), png_text_chunks(session.run, folder)))
    return opened_files.open_any_file(folder / "a.png").scenario


def through_branch(session: Session, folder: Path) -> Scenario:
    session.advance_by_ticks(3)
    branch_actions.create_branch_at_current_tick(session)
    return session.run.scenario


def through_reset(session: Session, folder: Path) -> Scenario:
    session.advance_by_ticks(12)
    session.start_over(keeps_map=False)
    return session.run.scenario


def through_replay(session: Session, folder: Path) -> Scenario:
    return replay_spec_of_run(session.run).start_rerun().run.scenario


WAYS = [
    through_scenario_file,
    through_session_scenario,
    through_session_file,
    through_journal,
    through_picture,
    through_branch,
    through_reset,
    through_replay,
]


@pytest.mark.parametrize("way", WAYS)
def test_round_trip_keeps_every_scenario_field(
    way: Callable[[Session, Path], Scenario], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    scenario = make_full_scenario(tmp_path)
    assert_same_fields(way(Session(scenario), tmp_path), scenario)


@pytest.mark.parametrize("way", [through_session_file, through_journal, through_picture, through_replay])
def test_round_trip_keeps_original_and_edited_map(
    way: Callable[[Session, Path], Scenario], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    scenario = with_original_letters(make_full_scenario(tmp_path), ((3, 39), "TS"))
    assert_same_fields(way(Session(scenario), tmp_path), scenario)


def test_reset_keeps_user_settings() -> None:
    session = Session(Scenario(MapRows(tuple(ROWS)), (0, 0), (9, 4), (AgentConfig("lrta"),)))
    session.advance_by_ticks(4)
    session.submit_command(SetMaxTrials(100))
    session.submit_command(SetRandomChanges(9, 3.0))
    session.start_over(keeps_map=False)
    assert session.run.scenario.trials == session.run.world.max_trials == 100
    assert session.run.scenario.changes == session.run.world.random_changes == RandomChangeSchedule(9, 3.0)


def test_reset_does_not_bake_in_script_settings(tmp_path: Path) -> None:
    edits = (TimedCommand(2, SetMaxTrials(70)), TimedCommand(2, SetRandomChanges(8, 4.0)))
    session = Session(replace(make_full_scenario(tmp_path), timed_commands=edits))
    session.advance_by_ticks(5)
    assert session.run.world.max_trials == 70
    session.start_over(keeps_map=False)
    assert session.run.scenario == replace(make_full_scenario(tmp_path), timed_commands=edits)
    assert session.run.world.max_trials == 40


def test_learning_session_saved_at_tick_600_continues_identically(tmp_path: Path) -> None:
    """It came back with one trial in the place of a hundred, and another run."""
    session = Session(opened_files.open_any_file(SCENARIOS_FOLDER / "learning.yaml").scenario)
    session.advance_by_ticks(600)
    opened = opened_files.open_any_file(session_saving.save_session(session, tmp_path / "mine"))
    other = Session(opened.scenario)
    assert opened.saved_session is not None
    session_saving.restore_session(other, opened.saved_session)
    while not other.continue_seek():
        pass
    assert (
        other.run.world.compute_digest() == session.run.world.compute_digest()
        and other.run.focused_branch_timeline.run_history.divergence_tick is None
    )
    assert other.run.world.max_trials == session.run.world.max_trials == 100
