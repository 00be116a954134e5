"""Data computed before the run: made once, found again, never believed when it is damaged."""

import os
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import numpy as np
import pygame
import pytest

from agents.registry import BY_KEY
from sim import prepared
from sim.commands import AgentConfig, EditCells
from sim.files.map_source import MapRecipe
from sim.files.scenario import Scenario
from sim.generate import generate
from sim.grid import Grid
from sim.movement import CUT, FOUR, SQUEEZE, Movement
from sim.prepared import Made, Making, PreparedCache, Recipe, Step
from sim.preparing import preparing
from ui import start
from ui.model.job import GivenUpError, Job
from ui.model.preparing import agents_of, needs_data, prepare
from ui.model.session import Session
from ui.model.settings import Settings

from .conftest import make_world

ROWS = ["....", ".@..", "...."]


class Table(NamedTuple):
    count: np.ndarray
    twice: np.ndarray


class Kitchen:
    """Counts how often something was made."""

    def __init__(self, expansions: int = prepared.WORTH_KEEPING) -> None:
        self.made, self.expansions = 0, expansions

    def make(self, grid: Grid) -> Making:
        for i in range(4):
            yield Step("counting", i / 4)
        self.made += 1
        count = np.flatnonzero(grid.free).astype(np.int32)
        return Made(Table(count, 2.0 * count), self.expansions)

    def recipe(self, level: int = 3, version: int = 1) -> Recipe:
        return Recipe("counted cells", (("level", level),), self.make, Table, version)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PreparedCache]:
    fresh = PreparedCache(tmp_path / "prepared")
    monkeypatch.setattr(prepared, "SHELF", fresh)
    yield fresh


def grid() -> Grid:
    return Grid.from_rows(ROWS)


def files(shelf: PreparedCache) -> list[Path]:
    assert shelf.folder is not None
    return sorted(shelf.folder.iterdir()) if shelf.folder.is_dir() else []


def test_made_once_and_the_same_object_for_all(shelf: PreparedCache) -> None:
    kitchen = Kitchen()
    first = prepared.fetch(kitchen.recipe(), grid())
    assert prepared.fetch(kitchen.recipe(), grid()) is first and kitchen.made == 1
    assert first.tables.twice.tolist() == (2.0 * first.tables.count).tolist()
    assert first.bytes == 11 * 4 + 11 * 8 and first.build_expansions == prepared.WORTH_KEEPING


def test_another_map_parameter_or_version_is_another_thing(shelf: PreparedCache) -> None:
    kitchen = Kitchen()
    other = grid()
    other.edit([0], [])
    cheap = Grid.from_rows(ROWS, movement=Movement(diagonal=1.5))
    turned = Grid.from_rows(["...", "...", ".@.", "..."])
    rules = [grid().copy(Movement(rule)) for rule in (FOUR, CUT, SQUEEZE)]
    for recipe, on in (
        (kitchen.recipe(), grid()),
        (kitchen.recipe(4), grid()),
        (kitchen.recipe(3, 2), grid()),
        (kitchen.recipe(), other),
        (kitchen.recipe(), cheap),
        (kitchen.recipe(), turned),
        *((kitchen.recipe(), one) for one in rules),
    ):
        prepared.fetch(recipe, on)
    assert kitchen.made == 9 == len(files(shelf))


def test_a_later_process_reads_the_file(shelf: PreparedCache) -> None:
    kitchen, clock = Kitchen(), iter([10.0, 10.25])
    making = prepared.obtain(kitchen.recipe(), grid(), lambda: next(clock))
    assert [step.share for step in making] == [0.0, 0.25, 0.5, 0.75]
    first = prepared.fetch(kitchen.recipe(), grid())
    assert first.build_ms == 250.0 and first.disk_bytes == files(shelf)[0].stat().st_size
    shelf.held.clear()
    again = prepared.fetch(kitchen.recipe(), grid())
    assert kitchen.made == 1 and isinstance(again.tables, Table)
    assert (again.build_ms, again.build_expansions, again.disk_bytes) == (250.0, 50_000, first.disk_bytes)
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(again.tables, first.tables, strict=True))


def test_what_is_quick_to_make_leaves_no_file(shelf: PreparedCache) -> None:
    assert prepared.fetch(Kitchen(prepared.WORTH_KEEPING - 1).recipe(), grid()).disk_bytes == 0
    assert not files(shelf)


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_a_damaged_file_is_made_anew(shelf: PreparedCache, damage: bytes | None) -> None:
    kitchen = Kitchen()
    prepared.fetch(kitchen.recipe(), grid())
    path = files(shelf)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data) if damage is None else damage)
    shelf.held.clear()
    prepared.fetch(kitchen.recipe(), grid())
    assert kitchen.made == 2


def test_a_folder_that_cannot_be_written_costs_only_the_file(shelf: PreparedCache) -> None:
    assert shelf.folder is not None
    shelf.folder.write_text("a file stands where the folder should be")
    assert prepared.fetch(Kitchen().recipe(), grid()).disk_bytes == 0


def test_whoever_stops_asking_has_cancelled(shelf: PreparedCache) -> None:
    kitchen = Kitchen()
    making = prepared.obtain(kitchen.recipe(), grid())
    next(making)
    making.close()
    assert kitchen.made == 0 and not shelf.held


def test_old_files_make_room(shelf: PreparedCache) -> None:
    kitchen = Kitchen()
    prepared.fetch(kitchen.recipe(1), grid())
    shelf.disk = 3 * files(shelf)[0].stat().st_size
    for level in range(2, 8):
        prepared.fetch(kitchen.recipe(level), grid())
    assert len(files(shelf)) == 3


def test_what_the_disk_has_no_room_for_drives_nothing_out(shelf: PreparedCache) -> None:
    kitchen = Kitchen()
    prepared.fetch(kitchen.recipe(1), grid())
    before = files(shelf)
    shelf.disk = before[0].stat().st_size - 1
    assert prepared.fetch(kitchen.recipe(2), grid()).disk_bytes == 0
    shelf.disk = 0
    assert prepared.fetch(kitchen.recipe(3), grid()).disk_bytes == 0
    assert files(shelf) == before


def test_memory_keeps_the_latest(shelf: PreparedCache) -> None:
    kitchen = Kitchen(0)
    shelf.memory = 300
    for level in range(5):
        prepared.fetch(kitchen.recipe(level), grid())
    assert len(shelf.held) == 2
    prepared.fetch(kitchen.recipe(4), grid())
    assert kitchen.made == 5


def test_it_survives_pickling() -> None:
    first = prepared.fetch(Recipe("counted cells", (), Kitchen().make, Table), grid())
    assert pickle.loads(pickle.dumps(first)).tables.count.tolist() == first.tables.count.tolist()


# --- before a run -----------------------------------------------------------------------------------------


def scenario_of(*kinds: str) -> Scenario:
    recipe = MapRecipe("caves", {"width": 64, "height": 64, "seed": 77})
    made = generate(recipe.kind, recipe.values)
    return Scenario(recipe, made.start, made.goal, tuple(AgentConfig(kind) for kind in kinds), grid=made.grid)


def test_a_window_makes_the_data_in_a_job_and_opens_the_run_with_it(shelf: PreparedCache) -> None:
    scenario = scenario_of("lrta", "d-lrta", "pra")
    assert needs_data(agents_of(scenario)) and not needs_data(agents_of(scenario_of("lrta", "tb-wa")))
    shares: list[float] = []
    prepare(scenario, shares.append)
    assert len(shares) > 5 and all(0.0 <= share <= 1.0 for share in shares)
    before = list(shelf.held)
    session = Session(scenario)
    assert list(shelf.held) == before or set(shelf.held) == set(before)
    used = session.run.tree[0].timeline.world.walkers[1].agent.view().prepared
    assert all(any(data is held for held in shelf.held.values()) for data in used)


def test_given_up_it_stops_and_opens_nothing(shelf: PreparedCache) -> None:
    scenario = scenario_of("d-lrta")
    began = threading.Event()

    def told(job: Job[None], share: float) -> None:
        began.set()
        assert stop.wait(30)
        job.told(share)

    stop = threading.Event()
    job = Job(lambda job: prepare(scenario, lambda share: told(job, share)))
    assert began.wait(30)
    job.give_up()
    stop.set()
    assert job.wait(30)
    with pytest.raises(GivenUpError):
        job.result()
    assert not shelf.held


def test_a_window_that_begins_with_a_run_shows_how_far_its_data_is(
    shelf: PreparedCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stood still before, and could not be stopped but by killing it."""
    shares: list[float | None] = []
    monkeypatch.setattr(start, "_draw_splash", lambda *shown: shares.append(shown[-1]))
    pygame.display.init()
    window = pygame.display.set_mode((64, 64))
    pygame.event.clear()
    assert start.made_data(window, Settings(), scenario_of("lrta")) and not shares and not shelf.held
    slow = threading.Event()
    made = prepared.obtain

    def obtain(*given: Any) -> Any:
        making = made(*given)
        while True:
            try:
                yield next(making)
            except StopIteration as end:
                return end.value
            slow.wait(0.1)

    monkeypatch.setattr("agents.databased.obtain", obtain)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
    assert not start.made_data(window, Settings(), scenario_of("pra")) and not shelf.held, "Esc has stopped it"
    assert start.made_data(window, Settings(), scenario_of("pra"))
    assert len(shares) > 2 and all(0.0 <= share <= 1.0 for share in shares if share is not None)
    assert [data.build_ms for data in shelf.held.values()] != [None]
    shelf.held.clear()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    with pytest.raises(SystemExit):
        start.made_data(window, Settings(), scenario_of("pra"))


def test_solving_shows_that_it_computes(shelf: PreparedCache) -> None:
    scenario = scenario_of("d-lrta")
    ends = scenario.start_cell, scenario.goal_cell
    steps = list(preparing(scenario.agents, BY_KEY, scenario.grid, ends, lambda: 0.0))
    assert {step.text for step in steps} == {"D LRTA*: abstraction", "D LRTA*: subgoals", "D LRTA*: depths"}
    assert [data.build_ms for data in shelf.held.values()] == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["d-lrta", "knn-lrta", "pr-lrta", "pra"])
def test_where_somebody_looks_data_is_rebuilt_beside_the_agent(shelf: PreparedCache, kind: str) -> None:
    """It is there before the tick that takes it in; what is simulated is the same."""
    digests = []
    for watched in (True, False):
        params = {"after_change": "rebuild"} | ({"records": 20} if kind == "knn-lrta" else {})
        world = make_world(["." * 30] * 20, 0, 599, (kind, params), budget=1, watched=watched)
        world.advance(3)
        before = set(shelf.held)
        world.submit(EditCells(tuple(range(100, 118))))
        world.advance(1)
        prepared._PREFETCH_EXECUTOR.submit(lambda: None).result(30)  # whatever was wished for is made
        if watched:
            assert world.walkers[0].agent.view().is_stale and set(shelf.held) > before
            made = dict(shelf.held)
        world.advance(100_000)
        assert watched is False or all(shelf.held[key] is data for key, data in made.items())
        digests.append(world.digest())
    assert digests[0] == digests[1]


def test_only_the_last_wish_of_an_owner_is_made(shelf: PreparedCache) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def steps(number: int) -> Iterator[Step]:
        begun.append(number)
        yield Step("", 0.0)
        assert gate.wait(30)
        yield Step("", 0.5)
        begun.append(-number)
        yield Step("", 1.0)

    for number in (1, 2, 3):
        prepared.make_ahead(7, steps(number))
    gate.set()
    prepared._PREFETCH_EXECUTOR.submit(lambda: None).result(30)
    assert begun[-2:] == [3, -3] and 2 not in begun and -1 not in begun
