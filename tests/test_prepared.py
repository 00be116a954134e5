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

from agents.registry import AGENT_SPECS_BY_KEY
from files.map_source import MapRecipe
from files.scenario import Scenario
from sim import prepared_data
from sim.agent_preparation import iter_data_preparation
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.movement import CUT_ONE_CORNER, FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS, Movement
from sim.prepared_data import BuildProgress, BuiltData, DataBuild, DataRecipe, PreparedCache
from sim.world_commands import AgentConfig, EditCells
from ui import start
from ui.model.background_job import BackgroundJob, JobCancelledError
from ui.model.data_preparation import agents_of_scenario, needs_prepared_data, prepare_data_of_scenario
from ui.model.session import Session
from ui.model.settings import Settings

from .conftest import make_world

ROWS = ["....", ".@..", "...."]


class Table(NamedTuple):
    count: np.ndarray
    twice: np.ndarray


class CountingBuilder:
    """Counts how often something was made."""

    def __init__(self, expansions: int = prepared_data.MIN_STORED_EXPANSIONS) -> None:
        self.made, self.expansions = 0, expansions

    def make(self, grid: Grid) -> DataBuild:
        for i in range(4):
            yield BuildProgress("counting", i / 4)
        self.made += 1
        count = np.flatnonzero(grid.free_mask).astype(np.int32)
        return BuiltData(Table(count, 2.0 * count), self.expansions)

    def recipe(self, level: int = 3, version: int = 1) -> DataRecipe:
        return DataRecipe("counted cells", (("level", level),), self.make, Table, version)


@pytest.fixture
def prepared_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PreparedCache]:
    fresh = PreparedCache(tmp_path / "prepared")
    monkeypatch.setattr(prepared_data, "DATA_CACHE", fresh)
    yield fresh


def grid() -> Grid:
    return Grid.from_text_rows(ROWS)


def files(prepared_cache: PreparedCache) -> list[Path]:
    assert prepared_cache.files_folder is not None
    return sorted(prepared_cache.files_folder.iterdir()) if prepared_cache.files_folder.is_dir() else []


def test_fetch_builds_once_and_returns_the_same_object(prepared_cache: PreparedCache) -> None:
    kitchen = CountingBuilder()
    first = prepared_data.fetch_data(kitchen.recipe(), grid())
    assert prepared_data.fetch_data(kitchen.recipe(), grid()) is first and kitchen.made == 1
    assert first.tables.twice.tolist() == (2.0 * first.tables.count).tolist()
    assert first.size_in_bytes == 11 * 4 + 11 * 8 and first.build_expansions == prepared_data.MIN_STORED_EXPANSIONS


def test_cache_key_includes_map_parameter_and_version(prepared_cache: PreparedCache) -> None:
    kitchen = CountingBuilder()
    other = grid()
    other.block_and_free([0], [])
    cheap = Grid.from_text_rows(ROWS, movement=Movement(diagonal=1.5))
    turned = Grid.from_text_rows(["...", "...", ".@.", "..."])
    rules = [grid().copy(Movement(rule)) for rule in (FOUR_NEIGHBOURS, CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS)]
    for recipe, on in (
        (kitchen.recipe(), grid()),
        (kitchen.recipe(4), grid()),
        (kitchen.recipe(3, 2), grid()),
        (kitchen.recipe(), other),
        (kitchen.recipe(), cheap),
        (kitchen.recipe(), turned),
        *((kitchen.recipe(), one) for one in rules),
    ):
        prepared_data.fetch_data(recipe, on)
    assert kitchen.made == 9 == len(files(prepared_cache))


def test_cleared_cache_is_reloaded_from_disk(prepared_cache: PreparedCache) -> None:
    kitchen, clock = CountingBuilder(), iter([10.0, 10.25])
    making = prepared_data.iter_fetch_data(kitchen.recipe(), grid(), lambda: next(clock))
    assert [step.share for step in making] == [0.0, 0.25, 0.5, 0.75]
    first = prepared_data.fetch_data(kitchen.recipe(), grid())
    assert first.build_ms == 250.0 and first.disk_bytes == files(prepared_cache)[0].stat().st_size
    prepared_cache.data_in_memory.clear()
    again = prepared_data.fetch_data(kitchen.recipe(), grid())
    assert kitchen.made == 1 and isinstance(again.tables, Table)
    assert (again.build_ms, again.build_expansions, again.disk_bytes) == (250.0, 50_000, first.disk_bytes)
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(again.tables, first.tables, strict=True))


def test_cheap_data_is_not_written_to_disk(prepared_cache: PreparedCache) -> None:
    assert (
        prepared_data.fetch_data(CountingBuilder(prepared_data.MIN_STORED_EXPANSIONS - 1).recipe(), grid()).disk_bytes
        == 0
    )
    assert not files(prepared_cache)


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_damaged_cache_file_is_rebuilt(prepared_cache: PreparedCache, damage: bytes | None) -> None:
    kitchen = CountingBuilder()
    prepared_data.fetch_data(kitchen.recipe(), grid())
    path = files(prepared_cache)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data) if damage is None else damage)
    prepared_cache.data_in_memory.clear()
    prepared_data.fetch_data(kitchen.recipe(), grid())
    assert kitchen.made == 2


def test_unwritable_cache_folder_skips_only_the_file(prepared_cache: PreparedCache) -> None:
    assert prepared_cache.files_folder is not None
    prepared_cache.files_folder.write_text("a file stands where the folder should be")
    assert prepared_data.fetch_data(CountingBuilder().recipe(), grid()).disk_bytes == 0


def test_closing_the_build_generator_cancels_the_build(prepared_cache: PreparedCache) -> None:
    kitchen = CountingBuilder()
    making = prepared_data.iter_fetch_data(kitchen.recipe(), grid())
    next(making)
    making.close()
    assert kitchen.made == 0 and not prepared_cache.data_in_memory


def test_old_cache_files_are_evicted(prepared_cache: PreparedCache) -> None:
    kitchen = CountingBuilder()
    prepared_data.fetch_data(kitchen.recipe(1), grid())
    prepared_cache.max_disk_bytes = 3 * files(prepared_cache)[0].stat().st_size
    for level in range(2, 8):
        prepared_data.fetch_data(kitchen.recipe(level), grid())
    assert len(files(prepared_cache)) == 3


def test_data_larger_than_the_disk_limit_evicts_nothing(prepared_cache: PreparedCache) -> None:
    kitchen = CountingBuilder()
    prepared_data.fetch_data(kitchen.recipe(1), grid())
    before = files(prepared_cache)
    prepared_cache.max_disk_bytes = before[0].stat().st_size - 1
    assert prepared_data.fetch_data(kitchen.recipe(2), grid()).disk_bytes == 0
    prepared_cache.max_disk_bytes = 0
    assert prepared_data.fetch_data(kitchen.recipe(3), grid()).disk_bytes == 0
    assert files(prepared_cache) == before


def test_memory_cache_keeps_the_latest_entries(prepared_cache: PreparedCache) -> None:
    kitchen = CountingBuilder(0)
    prepared_cache.max_memory_bytes = 300
    for level in range(5):
        prepared_data.fetch_data(kitchen.recipe(level), grid())
    assert len(prepared_cache.data_in_memory) == 2
    prepared_data.fetch_data(kitchen.recipe(4), grid())
    assert kitchen.made == 5


def test_prepared_data_can_be_pickled() -> None:
    first = prepared_data.fetch_data(DataRecipe("counted cells", (), CountingBuilder().make, Table), grid())
    assert pickle.loads(pickle.dumps(first)).tables.count.tolist() == first.tables.count.tolist()


# --- before a run -----------------------------------------------------------------------------------------


def scenario_of(*kinds: str) -> Scenario:
    recipe = MapRecipe("caves", {"width": 64, "height": 64, "seed": 77})
    made = generate_map(recipe.kind, recipe.values)
    return Scenario(recipe, made.start, made.goal, tuple(AgentConfig(kind) for kind in kinds), grid=made.grid)


def test_session_uses_data_prepared_in_a_job(prepared_cache: PreparedCache) -> None:
    scenario = scenario_of("lrta", "d-lrta", "pra")
    assert needs_prepared_data(agents_of_scenario(scenario)) and not needs_prepared_data(
        agents_of_scenario(scenario_of("lrta", "tb-wa"))
    )
    shares: list[float] = []
    prepare_data_of_scenario(scenario, shares.append)
    assert len(shares) > 5 and all(0.0 <= share <= 1.0 for share in shares)
    before = list(prepared_cache.data_in_memory)
    session = Session(scenario)
    assert list(prepared_cache.data_in_memory) == before or set(prepared_cache.data_in_memory) == set(before)
    used = session.run.branch_tree[0].timeline.world.walkers[1].agent.view().prepared
    assert all(any(data is held for held in prepared_cache.data_in_memory.values()) for data in used)


def test_cancelled_preparation_stops_without_caching_data(prepared_cache: PreparedCache) -> None:
    scenario = scenario_of("d-lrta")
    began = threading.Event()

    def told(job: BackgroundJob[None], share: float) -> None:
        began.set()
        assert stop.wait(30)
        job.report_progress(share)

    stop = threading.Event()
    job = BackgroundJob(lambda job: prepare_data_of_scenario(scenario, lambda share: told(job, share)))
    assert began.wait(30)
    job.cancel()
    stop.set()
    assert job.wait_until_done(30)
    with pytest.raises(JobCancelledError):
        job.result()
    assert not prepared_cache.data_in_memory


def test_splash_shows_preparation_progress_and_can_be_closed(
    prepared_cache: PreparedCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stood still before, and could not be stopped but by killing it."""
    shares: list[float | None] = []
    monkeypatch.setattr(start, "_draw_splash", lambda *shown: shares.append(shown[-1]))
    pygame.display.init()
    window = pygame.display.set_mode((64, 64))
    pygame.event.clear()
    assert (
        start.prepare_agent_data(window, Settings(), scenario_of("lrta"))
        and not shares
        and not prepared_cache.data_in_memory
    )
    slow = threading.Event()
    made = prepared_data.iter_fetch_data

    def obtain(*given: Any) -> Any:
        making = made(*given)
        while True:
            try:
                yield next(making)
            except StopIteration as end:
                return end.value
            slow.wait(0.1)

    monkeypatch.setattr("agents.prepared_data_mixins.iter_fetch_data", obtain)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
    assert not start.prepare_agent_data(window, Settings(), scenario_of("pra")) and not prepared_cache.data_in_memory, (
        "Esc has stopped it"
    )
    assert start.prepare_agent_data(window, Settings(), scenario_of("pra"))
    assert len(shares) > 2 and all(0.0 <= share <= 1.0 for share in shares if share is not None)
    assert [data.build_ms for data in prepared_cache.data_in_memory.values()] != [None]
    prepared_cache.data_in_memory.clear()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    with pytest.raises(SystemExit):
        start.prepare_agent_data(window, Settings(), scenario_of("pra"))


def test_preparation_steps_name_agent_and_phase(prepared_cache: PreparedCache) -> None:
    scenario = scenario_of("d-lrta")
    ends = scenario.start_cell, scenario.goal_cell
    steps = list(iter_data_preparation(scenario.agents, AGENT_SPECS_BY_KEY, scenario.grid, ends, lambda: 0.0))
    assert {step.work_name for step in steps} == {"D LRTA*: abstraction", "D LRTA*: subgoals", "D LRTA*: depths"}
    assert [data.build_ms for data in prepared_cache.data_in_memory.values()] == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["d-lrta", "knn-lrta", "pr-lrta", "pra"])
def test_instrumented_world_prefetches_rebuilt_data(prepared_cache: PreparedCache, kind: str) -> None:
    """It is there before the tick that takes it in; what is simulated is the same."""
    digests = []
    for watched in (True, False):
        params = {"after_change": "rebuild"} | ({"records": 20} if kind == "knn-lrta" else {})
        world = make_world(["." * 30] * 20, 0, 599, (kind, params), budget=1, watched=watched)
        world.advance(3)
        before = set(prepared_cache.data_in_memory)
        world.submit(EditCells(tuple(range(100, 118))))
        world.advance(1)
        prepared_data._PREFETCH_EXECUTOR.submit(lambda: None).result(30)  # whatever was wished for is made
        if watched:
            assert world.walkers[0].agent.view().is_stale and set(prepared_cache.data_in_memory) > before
            made = dict(prepared_cache.data_in_memory)
        world.advance(100_000)
        assert watched is False or all(prepared_cache.data_in_memory[key] is data for key, data in made.items())
        digests.append(world.compute_digest())
    assert digests[0] == digests[1]


def test_only_the_latest_prefetch_of_an_owner_is_finished(prepared_cache: PreparedCache) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def steps(number: int) -> Iterator[BuildProgress]:
        begun.append(number)
        yield BuildProgress("", 0.0)
        assert gate.wait(30)
        yield BuildProgress("", 0.5)
        begun.append(-number)
        yield BuildProgress("", 1.0)

    for number in (1, 2, 3):
        prepared_data.prefetch_data(7, steps(number))
    gate.set()
    prepared_data._PREFETCH_EXECUTOR.submit(lambda: None).result(30)
    assert begun[-2:] == [3, -3] and 2 not in begun and -1 not in begun
