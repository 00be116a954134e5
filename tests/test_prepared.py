"""Data computed before the run: made once, found again, never believed when it is damaged."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from sim import prepared
from sim.grid import Grid
from sim.prepared import Made, Making, Recipe, Shelf, Step

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
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    fresh = Shelf(tmp_path / "prepared")
    monkeypatch.setattr(prepared, "SHELF", fresh)
    yield fresh


def grid() -> Grid:
    return Grid.from_rows(ROWS)


def files(shelf: Shelf) -> list[Path]:
    assert shelf.folder is not None
    return sorted(shelf.folder.iterdir()) if shelf.folder.is_dir() else []


def test_made_once_and_the_same_object_for_all(shelf: Shelf) -> None:
    kitchen = Kitchen()
    first = prepared.fetch(kitchen.recipe(), grid())
    assert prepared.fetch(kitchen.recipe(), grid()) is first and kitchen.made == 1
    assert first.tables.twice.tolist() == (2.0 * first.tables.count).tolist()
    assert first.bytes == 11 * 4 + 11 * 8 and first.build_expansions == prepared.WORTH_KEEPING


def test_another_map_parameter_or_version_is_another_thing(shelf: Shelf) -> None:
    kitchen = Kitchen()
    other = grid()
    other.edit([0], [])
    cheap = Grid.from_rows(ROWS, diagonal=1.5)
    turned = Grid.from_rows(["...", "...", ".@.", "..."])
    for recipe, on in (
        (kitchen.recipe(), grid()),
        (kitchen.recipe(4), grid()),
        (kitchen.recipe(3, 2), grid()),
        (kitchen.recipe(), other),
        (kitchen.recipe(), cheap),
        (kitchen.recipe(), turned),
    ):
        prepared.fetch(recipe, on)
    assert kitchen.made == 6 == len(files(shelf))


def test_a_later_process_reads_the_file(shelf: Shelf) -> None:
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


def test_what_is_quick_to_make_leaves_no_file(shelf: Shelf) -> None:
    assert prepared.fetch(Kitchen(prepared.WORTH_KEEPING - 1).recipe(), grid()).disk_bytes == 0
    assert not files(shelf)


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_a_damaged_file_is_made_anew(shelf: Shelf, damage: bytes | None) -> None:
    kitchen = Kitchen()
    prepared.fetch(kitchen.recipe(), grid())
    path = files(shelf)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data) if damage is None else damage)
    shelf.held.clear()
    prepared.fetch(kitchen.recipe(), grid())
    assert kitchen.made == 2


def test_a_folder_that_cannot_be_written_costs_only_the_file(shelf: Shelf) -> None:
    assert shelf.folder is not None
    shelf.folder.write_text("a file stands where the folder should be")
    assert prepared.fetch(Kitchen().recipe(), grid()).disk_bytes == 0


def test_whoever_stops_asking_has_cancelled(shelf: Shelf) -> None:
    kitchen = Kitchen()
    making = prepared.obtain(kitchen.recipe(), grid())
    next(making)
    making.close()
    assert kitchen.made == 0 and not prepared.is_ready(kitchen.recipe(), grid())


def test_old_files_make_room(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    kitchen = Kitchen()
    prepared.fetch(kitchen.recipe(1), grid())
    monkeypatch.setattr(prepared, "_DISK", 3 * files(shelf)[0].stat().st_size)
    for level in range(2, 8):
        prepared.fetch(kitchen.recipe(level), grid())
    assert len(files(shelf)) == 3


def test_memory_keeps_the_latest(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    kitchen = Kitchen(0)
    monkeypatch.setattr(prepared, "_MEMORY", 300)
    for level in range(5):
        prepared.fetch(kitchen.recipe(level), grid())
    assert len(shelf.held) == 2
    prepared.fetch(kitchen.recipe(4), grid())
    assert kitchen.made == 5


def test_it_survives_pickling() -> None:
    first = prepared.fetch(Recipe("counted cells", (), Kitchen().make, Table), grid())
    assert pickle.loads(pickle.dumps(first)).tables.count.tolist() == first.tables.count.tolist()
