"""A scenario keeps every field, whatever way it goes: file, session, journal, picture, branch, film, R.

The test walks the dataclass, so a field that is added later cannot be forgotten on any of the ways.
"""

import os
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from agents.registry import BY_KEY
from sim.changes import RandomChanges
from sim.commands import AgentConfig, EditCells, SetChanges, SetTrials, TimedCommand
from sim.files.examples import EXAMPLES
from sim.files.journal import find_crashed, restore
from sim.files.map import write_map
from sim.files.map_source import MapFile, MapRows
from sim.files.png import png_bytes
from sim.files.scenario import Scenario, Until, load_scenario, save_scenario
from sim.files.session import with_original
from sim.grid import Grid
from sim.movement import CUT, Movement
from ui.film.pictures import picture_texts
from ui.film.replay import replay_of
from ui.model import branching, files, saving
from ui.model.keeper import AutosaveJournal
from ui.model.session import Session

ROWS = ["..........", "..T....W..", "....@@....", "....@.....", ".........."]


def full(folder: Path) -> Scenario:
    """A scenario in which no field is as it is by default."""
    path = folder / "pond.map"
    write_map(Grid.from_rows(ROWS), path)
    agents = (AgentConfig("lss-lrta", "learner", {"lookahead": 3}), AgentConfig("tb-wa", "second", {"weight": 2.5}, 9))
    return Scenario(
        map=MapFile(path.name, Path(os.path.realpath(path)), movement=Movement(CUT, 1.5)),
        start=(1, 0),
        goal=(9, 4),
        agents=agents,
        title="A title: with signs",
        caption="Two\nlines",
        seed=11,
        budget=5,
        switches={"gate": ((3, 2), (3, 3))},
        changes=RandomChanges(50, 2.0),
        edits=(TimedCommand(7, EditCells(blocked=(22, 23))),),
        view={"theme": "light", "layers": {"grid": True}},
        trials=40,
        tick_ms=2.5,
        listed_optimal=12.5,
        until=Until(70, "out of moves: 50"),
    )


def test_no_field_is_left_as_it_is_by_default(tmp_path: Path) -> None:
    usual = Scenario(full(tmp_path).map, (0, 0), (1, 1))
    for field in fields(Scenario):
        if field.name not in ("map", "grid"):
            assert getattr(full(tmp_path), field.name) != getattr(usual, field.name), field.name


def assert_same(found: Scenario, wanted: Scenario) -> None:
    for field in fields(Scenario):
        if field.name in ("grid", "view", "map"):
            continue
        assert getattr(found, field.name) == getattr(wanted, field.name), field.name
    assert np.array_equal(found.grid.terrain, wanted.grid.terrain)
    assert np.array_equal(found.grid.original, wanted.grid.original)
    assert found.grid.movement == wanted.grid.movement
    for key, value in wanted.view.items():
        assert found.view[key] == value, key
    assert found.map.movement == wanted.map.movement


# --- the ways -------------------------------------------------------------------------------------


def a_file(session: Session, folder: Path) -> Scenario:
    save_scenario(session.run.scenario, folder / "a.yaml")
    return load_scenario(folder / "a.yaml", BY_KEY)


def a_scenario_of_the_run(session: Session, folder: Path) -> Scenario:
    path = files.save_session_scenario(session, folder / "mine", session.run.scenario.view)
    return files.open_any(path).scenario


def a_session(session: Session, folder: Path) -> Scenario:
    path = saving.save(session, folder / "mine")
    other = Session(files.open_any(path).scenario)
    saved = files.open_any(path).saved
    assert saved is not None
    saving.restore(other, saved, path)
    return other.run.scenario


def a_journal(session: Session, folder: Path) -> Scenario:
    keeper = AutosaveJournal(session)
    keeper.keep()
    assert keeper.journal is not None
    for file in (keeper.journal._file, keeper.journal._lock):  # what a kill does
        os.close(file)
    other = Session(session.run.scenario)
    saving.restore(other, restore(find_crashed()[0].path, BY_KEY))
    return other.run.scenario


def a_picture(session: Session, folder: Path) -> Scenario:
    (folder / "a.png").write_bytes(png_bytes(np.zeros((4, 4), np.uint32), picture_texts(session.run, folder)))
    return files.open_any(folder / "a.png").scenario


def a_branch(session: Session, folder: Path) -> Scenario:
    session.advance(3)
    branching.branch_here(session)
    return session.run.scenario


def begun_again(session: Session, folder: Path) -> Scenario:
    session.advance(12)
    session.reset(keeps_map=False)
    return session.run.scenario


def a_film(session: Session, folder: Path) -> Scenario:
    return replay_of(session.run).begin().run.scenario


WAYS = [a_file, a_scenario_of_the_run, a_session, a_journal, a_picture, a_branch, begun_again, a_film]


@pytest.mark.parametrize("way", WAYS)
def test_every_field_is_kept(
    way: Callable[[Session, Path], Scenario], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    scenario = full(tmp_path)
    assert_same(way(Session(scenario), tmp_path), scenario)


@pytest.mark.parametrize("way", [a_session, a_journal, a_picture, a_film])
def test_the_map_as_it_was_opened_is_kept_beside_a_redrawn_one(
    way: Callable[[Session, Path], Scenario], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    scenario = with_original(full(tmp_path), ((3, 39), "TS"))
    assert_same(way(Session(scenario), tmp_path), scenario)


def test_begun_again_keeps_what_was_set_by_hand() -> None:
    session = Session(Scenario(MapRows(tuple(ROWS)), (0, 0), (9, 4), (AgentConfig("lrta"),)))
    session.advance(4)
    session.do(SetTrials(100))
    session.do(SetChanges(9, 3.0))
    session.reset(keeps_map=False)
    assert session.run.scenario.trials == session.run.world.trials == 100
    assert session.run.scenario.changes == session.run.world.random_changes == RandomChanges(9, 3.0)


def test_begun_again_leaves_to_the_script_what_the_script_does(tmp_path: Path) -> None:
    edits = (TimedCommand(2, SetTrials(70)), TimedCommand(2, SetChanges(8, 4.0)))
    session = Session(replace(full(tmp_path), edits=edits))
    session.advance(5)
    assert session.run.world.trials == 70
    session.reset(keeps_map=False)
    assert session.run.scenario == replace(full(tmp_path), edits=edits)
    assert session.run.world.trials == 40


def test_learning_saved_at_tick_600_goes_on_the_same(tmp_path: Path) -> None:
    """It came back with one trial in the place of a hundred, and another run."""
    session = Session(files.open_any(EXAMPLES / "learning.yaml").scenario)
    session.advance(600)
    opened = files.open_any(saving.save(session, tmp_path / "mine"))
    other = Session(opened.scenario)
    assert opened.saved is not None
    saving.restore(other, opened.saved)
    while not other.continue_seek():
        pass
    assert other.run.world.digest() == session.run.world.digest() and other.run.timeline.diverged is None
    assert other.run.world.trials == session.run.world.trials == 100
