"""Memory that goes from one world to the next: whatever was left in it, every walk is the same."""

import gc
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.kernels import memory
from sim.kernels.memory import BUFFER_POOL, BufferPool
from sim.kernels.search import begin_search, expand_best_cells, is_known, new_search
from sim.kernels.tiled import TiledTable
from sim.world import World
from sim.world_commands import AgentConfig

from .conftest import parameter_sets, problems, smallest_accepted_budget

Problem = tuple[list[str], int, int]


@contextmanager
def pool_small_buffers() -> Iterator[None]:
    """Small maps take their memory from the pool as well."""
    with patch.object(memory, "_MIN_MAPPED_BYTES", 1):
        gc.collect()  # what earlier tests have left in circles
        BUFFER_POOL.release_free_buffers()
        yield
        gc.collect()
        BUFFER_POOL.release_free_buffers()


def walk_digest_and_rows(problem: Problem, key: str, chance: random.Random, watched: bool) -> tuple[str, list[object]]:
    """The digest and all rows of some agents of one kind on a changing map."""
    rows, start, goal = problem
    world = World(
        Grid.from_text_rows(rows),
        start,
        goal,
        AGENT_SPECS_BY_KEY,
        watched=watched,
        random_changes=RandomChangeSchedule(5, 10.0),
        trials=2,
    )
    log: list[object] = []
    for params in chance.choices(parameter_sets(AGENT_SPECS_BY_KEY[key]), k=2):
        world.add(AgentConfig(key, params=params, budget=smallest_accepted_budget(AGENT_SPECS_BY_KEY[key], params, 3)))
    for _ in range(40):
        world.advance(3)
        log += [walker.log_rows.tolist() for walker in world.walkers]
    return world.compute_digest(), log


@settings(max_examples=30)
@given(problems(side=9), st.sampled_from(sorted(AGENT_SPECS_BY_KEY)), st.integers(0, 99))
def test_stale_buffer_contents_do_not_change_walks(problem: Problem, key: str, seed: int) -> None:
    with pool_small_buffers():
        fresh = walk_digest_and_rows(problem, key, random.Random(seed), watched=True)
        for _ in range(3):
            assert walk_digest_and_rows(problem, key, random.Random(seed), watched=False) == fresh
            walk_digest_and_rows((problem[0], problem[2], problem[1]), key, random.Random(seed + 1), watched=False)


def test_watched_world_does_not_use_the_pool() -> None:
    with pool_small_buffers():
        walk_digest_and_rows(([".." * 8] * 8, 0, 99), "tb-wa", random.Random(1), watched=True)
        gc.collect()
        assert not BUFFER_POOL.free_bytes


SMAPS = Path("/proc/self/smaps")  # what Linux tells of each mapping of this process


def flags_of(array: np.ndarray) -> list[str]:
    """What the system was asked for the pages in which an array lies."""
    address, is_there = array.ctypes.data, False
    for line in SMAPS.read_text(encoding="ascii").splitlines():
        if borders := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            is_there = int(borders[1], 16) <= address < int(borders[2], 16)
        elif is_there and line.startswith("VmFlags:"):
            return line.split()[1:]
    raise AssertionError("no such mapping")


@pytest.mark.skipif(
    not (SMAPS.is_file() and Path("/sys/kernel/mm/transparent_hugepage").is_dir()),
    reason="only Linux tells how pages were asked for, where it has large ones",
)
def test_only_reused_row_major_tables_use_large_pages() -> None:
    """hg: large pages wanted, nh: refused. Tables of crowds and of worlds that are watched stay small."""
    side = 1024  # 16 MB of nodes
    reused = new_search(side * side, is_reused=True)
    assert "hg" in flags_of(reused.nodes)
    for search in (new_search(side * side), new_search(side * side, is_reused=True, tile_width=side)):
        nodes = search.nodes.records if isinstance(search.nodes, TiledTable) else search.nodes
        assert "nh" in flags_of(nodes)
    for part in (reused.heap, *new_search(side * side, is_bucketed=True, is_reused=True).buckets[2:]):
        assert "nh" in flags_of(part)


@pytest.mark.parametrize("key", sorted(AGENT_SPECS_BY_KEY))
def test_buffers_return_to_the_pool_when_the_world_is_deleted(key: str) -> None:
    """Nothing is held in a circle, which would have to wait for the collector of garbage."""
    with pool_small_buffers():
        gc.disable()
        try:
            walk_digest_and_rows(([".." * 8] * 8, 0, 99), key, random.Random(1), watched=False)
            assert BUFFER_POOL.free_bytes > 0
        finally:
            gc.enable()


def test_reused_search_is_empty_and_continues_its_generation() -> None:
    with pool_small_buffers():
        ground = Grid.from_text_rows(["...."] * 4).map_arrays
        first = new_search(16, is_reused=True)
        for _ in range(7):
            begin_search(ground, first, 0, 15, 15)
        expand_best_cells(ground, first, 99)
        address = first.nodes.ctypes.data
        del first
        second = new_search(16, is_reused=True)
        assert second.nodes.ctypes.data == address and second.nodes["search"].any()
        assert second.control[0].search == 7
        begin_search(ground, second, 5, 6, 6)
        assert [s for s in range(16) if is_known(second, s)] == [5]


def test_generation_overflow_clears_the_buffer() -> None:
    with pool_small_buffers():
        ground = Grid.from_text_rows(["...."] * 4).map_arrays
        first = new_search(16, is_reused=True)
        first.control[0].search = 65_534
        for root in (3, 7):
            begin_search(ground, first, root, 15, 15)
        assert first.control[0].search == 1 and np.count_nonzero(first.nodes["search"]) == 1


def test_pool_reuses_buffers_only_of_same_size_and_key() -> None:
    pool = BufferPool(1 << 20)
    with patch.object(memory, "_MIN_MAPPED_BYTES", 1):
        one = pool.take_array("a", 100, np.int32)
        one[:] = 7
        del one
        assert pool.free_bytes == 400
        assert not pool.take_array("a", 99, np.int32).any() and not pool.take_array("b", 100, np.int32).any()
        assert pool.take_array("a", 100, np.int32).all()


def test_pool_respects_its_byte_limit() -> None:
    pool = BufferPool(1000)
    with patch.object(memory, "_MIN_MAPPED_BYTES", 1):
        kept = [pool.take_array("a", 100, np.int32) for _ in range(5)]
        kept.clear()
        assert pool.free_bytes == 800
        pool.release_free_buffers()
        assert pool.free_bytes == 0 and not pool.take_array("a", 100, np.int32).any()
