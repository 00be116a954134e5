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

from agents.registry import BY_KEY
from sim.changes import RandomChanges
from sim.commands import AgentConfig
from sim.grid import Grid
from sim.kernels import memory
from sim.kernels.memory import POOL, Pool
from sim.kernels.search import begin, expand, is_known, new_search
from sim.kernels.tiled import Tiled
from sim.world import World

from .conftest import budget_for, problems, settings_of

Problem = tuple[list[str], int, int]


@contextmanager
def small_memories_too() -> Iterator[None]:
    """Small maps take their memory from the pool as well."""
    with patch.object(memory, "_SMALL", 1):
        gc.collect()  # what earlier tests have left in circles
        POOL.empty()
        yield
        gc.collect()
        POOL.empty()


def walked(problem: Problem, key: str, chance: random.Random, watched: bool) -> tuple[str, list[object]]:
    """The digest and all rows of some agents of one kind on a changing map."""
    rows, start, goal = problem
    world = World(
        Grid.from_rows(rows), start, goal, BY_KEY, watched=watched, random_changes=RandomChanges(5, 10.0), trials=2
    )
    log: list[object] = []
    for params in chance.choices(settings_of(BY_KEY[key]), k=2):
        world.add(AgentConfig(key, params=params, budget=budget_for(BY_KEY[key], params, 3)))
    for _ in range(40):
        world.advance(3)
        log += [walker.rows.tolist() for walker in world.walkers]
    return world.digest(), log


@settings(max_examples=30)
@given(problems(side=9), st.sampled_from(sorted(BY_KEY)), st.integers(0, 99))
def test_what_others_left_in_a_memory_changes_no_walk(problem: Problem, key: str, seed: int) -> None:
    with small_memories_too():
        fresh = walked(problem, key, random.Random(seed), watched=True)
        for _ in range(3):
            assert walked(problem, key, random.Random(seed), watched=False) == fresh
            walked((problem[0], problem[2], problem[1]), key, random.Random(seed + 1), watched=False)


def test_a_world_that_somebody_looks_at_has_memory_of_its_own() -> None:
    with small_memories_too():
        walked(([".." * 8] * 8, 0, 99), "tb-wa", random.Random(1), watched=True)
        gc.collect()
        assert not POOL.bytes


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
def test_only_tables_in_rows_that_are_used_again_ask_for_large_pages() -> None:
    """hg: large pages wanted, nh: refused. Tables of crowds and of worlds that are watched stay small."""
    side = 1024  # 16 MB of nodes
    reused = new_search(side * side, is_reused=True)
    assert "hg" in flags_of(reused.nodes)
    for search in (new_search(side * side), new_search(side * side, is_reused=True, tile_width=side)):
        nodes = search.nodes.records if isinstance(search.nodes, Tiled) else search.nodes
        assert "nh" in flags_of(nodes)
    for part in (reused.heap, *new_search(side * side, is_bucketed=True, is_reused=True).buckets[2:]):
        assert "nh" in flags_of(part)


@pytest.mark.parametrize("key", sorted(BY_KEY))
def test_memory_comes_back_when_its_world_goes(key: str) -> None:
    """Nothing is held in a circle, which would have to wait for the collector of garbage."""
    with small_memories_too():
        gc.disable()
        try:
            walked(([".." * 8] * 8, 0, 99), key, random.Random(1), watched=False)
            assert POOL.bytes > 0
        finally:
            gc.enable()


def test_a_reused_search_knows_nothing_and_counts_on() -> None:
    with small_memories_too():
        ground = Grid.from_rows(["...."] * 4).ground
        first = new_search(16, is_reused=True)
        for _ in range(7):
            begin(ground, first, 0, 15, 15)
        expand(ground, first, 99)
        address = first.nodes.ctypes.data
        del first
        second = new_search(16, is_reused=True)
        assert second.nodes.ctypes.data == address and second.nodes["search"].any()
        assert second.control[0].search == 7
        begin(ground, second, 5, 6, 6)
        assert [s for s in range(16) if is_known(second, s)] == [5]


def test_stamps_that_begin_again_wipe_the_whole_memory() -> None:
    with small_memories_too():
        ground = Grid.from_rows(["...."] * 4).ground
        first = new_search(16, is_reused=True)
        first.control[0].search = 65_534
        for root in (3, 7):
            begin(ground, first, root, 15, 15)
        assert first.control[0].search == 1 and np.count_nonzero(first.nodes["search"]) == 1


def test_memories_of_another_size_or_purpose_are_not_mixed_up() -> None:
    pool = Pool(1 << 20)
    with patch.object(memory, "_SMALL", 1):
        one = pool.take("a", 100, np.int32)
        one[:] = 7
        del one
        assert pool.bytes == 400
        assert not pool.take("a", 99, np.int32).any() and not pool.take("b", 100, np.int32).any()
        assert pool.take("a", 100, np.int32).all()


def test_a_pool_keeps_no_more_than_it_may() -> None:
    pool = Pool(1000)
    with patch.object(memory, "_SMALL", 1):
        kept = [pool.take("a", 100, np.int32) for _ in range(5)]
        kept.clear()
        assert pool.bytes == 800
        pool.empty()
        assert pool.bytes == 0 and not pool.take("a", 100, np.int32).any()
