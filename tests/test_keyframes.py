"""Keyframes: a restored world goes on exactly as the one that was set aside, and memory stays within its budget."""

import mmap
import pickle
import subprocess
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from sim.grid import Grid
from sim.kernels.memory_parts import PART_BYTES, PARTS_PER_BLOCK
from sim.kernels.pages import IS_IN_USE
from sim.time import keyframes
from sim.time import memory_buffers as asked
from sim.time.keyframes import Keyframe, KeyframeStore, PendingKeyframe, PendingRestore, restore_world, take_keyframe
from sim.time.memory_buffers import BufferSet, TouchedPages
from sim.time.part_pool import PartPool
from sim.world import World
from sim.world_commands import AddAgent, AgentConfig, EditCells, MoveGoal, RemoveAgent, SetRandomChanges, SetSwitch

from .conftest import ROOT, random_map_rows, smallest_accepted_budget
from .runs import assert_equal, setups, some_command

BLOCK = PART_BYTES * PARTS_PER_BLOCK


def make_world_setup(*kinds: str, side: int = 128, budget: int = 8, watched: bool = True) -> World:
    rows = random_map_rows(5, side, side, 0.25)
    rows[0] = "." + rows[0][1:]
    rows[-1] = rows[-1][:-1] + "."
    world = World(Grid.from_text_rows(rows), 0, side * side - 1, AGENT_SPECS_BY_KEY, budget=budget, watched=watched)
    for kind in kinds:
        world.add(AgentConfig(kind, budget=smallest_accepted_budget(AGENT_SPECS_BY_KEY[kind], {}, budget)))
    return world


# --- one keyframe ---------------------------------------------------------------------------------


@settings(max_examples=40)
@given(setup=setups(), ticks=st.integers(0, 40), data=st.data())
def test_restored_world_advances_like_the_original(setup, ticks, data):
    world = setup()
    before = take_keyframe(world)
    world.advance(ticks)
    frame = take_keyframe(world, base=before)
    other = restore_world(frame)
    assert_equal(other, world)
    command = data.draw(some_command(world.grid.cells))
    for each in (world, other):
        each.submit(command)
        each.advance(25)
    assert_equal(other, world)
    assert other.compute_digest() == world.compute_digest()
    assert_equal(restore_world(before), setup())


@pytest.mark.parametrize("spec", AGENT_SPECS, ids=lambda spec: spec.key)
def test_every_agent_kind_survives_a_keyframe(spec):
    world = make_world_setup(spec.key, side=48)
    world.advance(60)
    world.submit(EditCells(tuple(range(300, 420))), 70)
    other = restore_world(take_keyframe(world))
    for each in (world, other):
        each.advance(200)
    assert_equal(other, world)


def test_restored_arrays_share_memory_as_before():
    world = restore_world(take_keyframe(make_world_setup("tba", "rtb-wa", side=32)))
    grid = world.grid
    for walker in world.walkers:
        assert walker.agent.problem.grid is grid
        assert walker.agent.map_arrays.moves is grid.moves
        assert walker.spec is AGENT_SPECS_BY_KEY[walker.config.kind]
    assert grid.map_arrays.moves is grid.moves
    world.submit(EditCells((40,)))
    world.advance(1)
    assert not grid.moves[40]


def test_restored_views_share_their_base_array():
    world = make_world_setup(side=8)
    whole = np.arange(5000, dtype=np.float64).reshape(50, 100)
    world.extra = {"whole": whole, "part": whole[3:20:2, ::-1], "turned": whole.T, "none": whole[:0]}
    world.fixed = np.arange(9)
    world.fixed.flags.writeable = False
    other = restore_world(take_keyframe(world))
    extra = other.extra
    assert np.array_equal(extra["part"], world.extra["part"])
    assert extra["part"].strides == world.extra["part"].strides
    extra["whole"][5, 0] = -1.0
    assert extra["part"][1, -1] == extra["turned"][0, 5] == -1.0
    assert whole[5, 0] == 500.0, "the first world is not touched"
    assert not other.fixed.flags.writeable
    assert extra["none"].shape == (0, 100)


@settings(max_examples=25)
@given(
    size=st.integers(1, 3 * BLOCK + 100) | st.sampled_from([PART_BYTES, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK]),
    changes=st.lists(
        st.lists(st.tuples(st.floats(0, 1), st.integers(1, 3000), st.integers(0, 255)), max_size=5), max_size=4
    ),
)
def test_delta_keyframes_restore_arrays_of_any_size(size, changes):
    world = make_world_setup(side=8)
    world.extra = np.zeros(size, np.uint8)
    frames, contents = [take_keyframe(world)], [world.extra.copy()]
    for change in changes:
        for place, length, value in change:
            begin = int(place * size)
            world.extra[begin : begin + length] = value
        frames.append(take_keyframe(world, base=frames[-1]))
        contents.append(world.extra.copy())
    for frame, content in zip(frames, contents, strict=True):
        assert np.array_equal(restore_world(frame).extra, content)


def test_keyframe_refuses_a_record_without_its_array():
    world = make_world_setup("tba", side=8)
    world.walkers[0].agent.record = world.walkers[0].agent.state_record[0]
    with pytest.raises(AssertionError, match="keep its array instead"):
        take_keyframe(world)


def test_incremental_restore_equals_the_world():
    world = make_world_setup("tba", "tb-wa")
    world.advance(100)
    restoring = PendingRestore(take_keyframe(world))
    steps = 0
    while not restoring.copy_slice(1):
        steps += 1
    assert steps > 5
    assert_equal(restoring.result(), world)


def test_cancelled_restore_allocates_no_memory():
    """Hundreds are, where a script gets a line for each agent of a crowd: each sets out for the present anew."""
    frame = take_keyframe(make_world_setup("tba", "tb-wa"))
    tracemalloc.start()
    try:
        given_up = [PendingRestore(frame) for _ in range(10)]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < sum(frame.array_contents.buffer_sizes) / 10
    assert_equal(restore_world(frame), restore_world(given_up[0].keyframe))


def test_restored_worlds_share_no_state():
    world = make_world_setup("tba")
    world.advance(50)
    frame = take_keyframe(world)
    one, other = restore_world(frame), restore_world(frame)
    one.advance(500)
    assert_equal(other, restore_world(frame))


def test_restore_refuses_to_unpickle_names():
    """A restore must not be able to run what a stream names."""
    frame = take_keyframe(make_world_setup("tba", side=8))
    evil = Keyframe(
        0, 0.0, pickle.dumps(subprocess.call), frame.array_headers, frame.kept_objects, frame.array_contents
    )
    with pytest.raises(pickle.UnpicklingError):
        restore_world(evil)


def test_only_keyframes_and_cache_use_pickle():
    """Files are data: whatever reads them could not run what they hold if it wanted to.

    The cache of compiled kernels is numba's own and holds code by its nature; its folder is private, its files sealed.
    """
    sources = {
        path.name: path.read_text(encoding="utf-8")
        for folder in ("sim", "files", "experiments")
        for path in (ROOT / folder).rglob("*.py")
    }
    pickling = {name for name, text in sources.items() if "import pickle" in text or "from pickle" in text}
    assert pickling == {"keyframes.py", "cache.py"}
    assert " open(" not in sources["keyframes.py"]


# --- what it costs --------------------------------------------------------------------------------


def test_keyframe_size_is_proportional_to_changes():
    world = make_world_setup("tba", "tb-wa", "rtb-wa", side=256, budget=1)
    world.advance(10)
    first = take_keyframe(world)
    whole, pool = sum(first.array_contents.buffer_sizes), first.array_contents.part_pool
    assert pool.used_bytes < whole // 5, "memory that nobody has touched is free"
    before = pool.used_bytes
    second = take_keyframe(world, base=first)
    assert pool.used_bytes == before, "nothing has changed"
    assert np.array_equal(second.array_contents.block_numbers, first.array_contents.block_numbers)
    world.advance(20)
    third = take_keyframe(world, base=second)
    assert 0 < pool.used_bytes - before < whole // 10
    assert_equal(restore_world(third), world)


def test_keyframe_stores_only_changed_chunks_and_frees_them():
    world = make_world_setup(side=256)
    first = take_keyframe(world)
    pool = first.array_contents.part_pool
    before = pool.used_bytes
    world.submit(EditCells(tuple(range(2000))))
    world.apply_due_changes()
    second = take_keyframe(world, base=first)
    assert 2 * PART_BYTES <= pool.used_bytes - before <= 60 * PART_BYTES
    world.submit(EditCells((), tuple(range(2000))))
    del second
    assert pool.used_bytes == before, "what nobody holds takes no room"


def test_keyframe_touches_no_unused_pages():
    """Looking at a page that nobody has used would make the system find memory for it."""
    world = make_world_setup("tba", side=512, budget=1)
    frame = take_keyframe(world)
    memories = PendingKeyframe(world)._buffer_set
    if not TouchedPages(memories).entries.size:
        pytest.skip("this system does not tell which pages were touched")
    before = touched_share_of_pages(memories)
    assert before < 0.1
    take_keyframe(world, base=frame)
    assert touched_share_of_pages(memories) == before


def touched_share_of_pages(memories):
    """Of the pages of the large ones."""
    return ((TouchedPages(memories).entries & IS_IN_USE) != 0).mean()


@pytest.mark.parametrize("knows_pages", [True, False])
def test_keyframe_is_the_same_without_page_map(monkeypatch, knows_pages):
    if not knows_pages:
        monkeypatch.setattr(asked, "_PAGEMAP_FILE", "/nowhere")
    world = make_world_setup("tba", "rtb-wa", side=128)
    frame = take_keyframe(world)
    for _ in range(3):
        world.advance(40)
        frame = take_keyframe(world, base=frame)
        assert_equal(restore_world(frame), world)


def test_small_array_on_last_page_of_a_large_one_is_copied_fully():
    """As the C library lays them out. Of the pages behind the large one nobody has asked."""
    page = mmap.PAGESIZE
    pages = np.frombuffer(mmap.mmap(-1, 400 * page), np.uint8)
    large, small = pages[: 17 * page + 512], pages[17 * page + 512 : 19 * page + 512]
    untouched = pages[300 * page : 317 * page]  # what is asked of next
    large[:10], small[-600:] = 1, 7
    held = PartPool(10_000_000).store_buffers(BufferSet([large, small, untouched]))
    copies = [np.zeros(memory.size, np.uint8) for memory in (large, small, untouched)]
    for _ in held.copy_into(copies):
        pass
    assert [copy.tolist() for copy in copies] == [memory.tolist() for memory in (large, small, untouched)]


def test_keyframe_exceeding_the_pool_is_none_and_frees_its_chunks():
    world = make_world_setup("tba", side=128, budget=50)
    world.advance(50)
    pool = PartPool(50_000)
    assert PendingKeyframe(world).copy_arrays(pool) is None
    assert pool.used_bytes == 0


def test_pool_shrinks_if_the_system_refuses_its_size(monkeypatch):
    def make_limited_pool(size):
        if size > 300_000_000:
            raise OSError(12, "Cannot allocate memory")
        return PartPool(size)

    monkeypatch.setattr(keyframes, "PartPool", make_limited_pool)
    world, store = make_world_setup("tba", side=128, budget=50), KeyframeStore(32_000_000_000)
    world.advance(50)
    frame = store.finish_keyframe(PendingKeyframe(world))
    assert_equal(restore_world(frame), world)
    assert 100_000_000 < store.budget_bytes < 300_000_000
    store.budget_bytes = 200_000_000
    assert store.budget_bytes == 200_000_000


def test_background_keyframe_equals_immediate_keyframe():
    world = make_world_setup("tba", "tb-wa")
    store = KeyframeStore()
    store.background_executor = ThreadPoolExecutor(1)
    world.advance(30)
    beside = store.finish_keyframe_in_background(PendingKeyframe(world)).result()
    assert_equal(restore_world(beside), world)
    world.advance(30)
    later = store.finish_keyframe_in_background(PendingKeyframe(world), beside).result()
    assert_equal(restore_world(later), world)


def test_delta_keyframe_is_right_after_adding_and_removing_agents():
    world = make_world_setup("tba", "tb-wa")
    world.advance(30)
    first = take_keyframe(world)
    for command in (AddAgent(AgentConfig("rtb-wa")), RemoveAgent(0)):
        world.submit(command)
        world.advance(20)
        first = take_keyframe(world, base=first)
        assert_equal(restore_world(first), world)


# --- many -----------------------------------------------------------------------------------------


def count_held_bytes(store: KeyframeStore) -> int:
    """Bytes of the different parts of all keyframes of a store, counted the slow way: from what they restore."""
    frames = {id(frame): frame for track in store.keyframe_tracks for frame in track.track_keyframes}
    kept: set[tuple[int, int, bytes]] = set()
    for frame in frames.values():
        memories = [np.zeros(size, np.uint8) for size in frame.array_contents.buffer_sizes]
        for _ in frame.array_contents.copy_into(memories):
            pass
        for number, memory in enumerate(memories):
            data = memory.tobytes()
            kept |= {
                (number, i, data[i : i + PART_BYTES])
                for i in range(0, len(data), PART_BYTES)
                if any(data[i : i + PART_BYTES])
            }
    return sum(len(frame.pickled_world) + len(frame.array_headers) for frame in frames.values()) + sum(
        len(part) for _, _, part in kept
    )


@settings(max_examples=15)
@given(budget=st.sampled_from([0, 200_000, 700_000, 3_000_000]), data=st.data())
def test_keyframe_store_stays_within_its_budget(budget, data):
    store = KeyframeStore(budget)
    tracks = [store.new_track()]
    world = make_world_setup("tba", "rtb-wa", side=64)
    for step in range(data.draw(st.integers(1, 25))):
        match data.draw(st.sampled_from(["add", "add", "add", "fork", "forget", "close"])):
            case "add":
                world.advance(7)
                if data.draw(st.booleans()):
                    world.submit(EditCells(tuple(range(64 * step, 64 * step + 9))))
                track = data.draw(st.sampled_from(tracks))
                track.add(take_keyframe(world, float(step), track.keyframe_at_or_before(world.tick)))
            case "fork":
                tracks.append(data.draw(st.sampled_from(tracks)).fork_track(data.draw(st.integers(0, 200))))
            case "forget":
                data.draw(st.sampled_from(tracks)).remove_keyframes_after(data.draw(st.integers(0, 200)))
            case "close" if len(tracks) > 1:
                tracks.pop().close()
        assert store.used_bytes <= budget
        assert count_held_bytes(store) <= store.used_bytes or not store.used_bytes
    for track in tracks:
        track.close()
    assert store.used_bytes == 0


EMPTY = PartPool(0).store_buffers(BufferSet([]))


def make_fake_keyframe(tick: int, size: int = 1000) -> Keyframe:
    return Keyframe(tick, float(tick), b"x" * size, b"", (), EMPTY)


def test_keyframes_are_spread_and_denser_near_the_playhead():
    store = KeyframeStore(budget=60 * 1400)
    track = store.new_track()
    for tick in range(3000):
        track.playhead_work_us = float(tick)
        track.add(make_fake_keyframe(tick))
    ticks = [frame.tick for frame in track.track_keyframes]
    assert ticks[0] == 0
    assert ticks[-1] == 2999
    gaps = np.diff(ticks)
    assert gaps.max() < 300, "no part of the run is far from a keyframe"
    assert gaps[-10:].mean() < gaps[10:20].mean() / 2
    assert 50 <= len(ticks) <= 70


def test_at_or_before_returns_nearest_keyframe():
    track = KeyframeStore().new_track()
    assert track.keyframe_at_or_before(5) is None
    for tick in (30, 10, 20, 10):
        track.add(make_fake_keyframe(tick))
    assert [frame.tick for frame in track.track_keyframes] == [10, 20, 30]
    assert [f.tick if (f := track.keyframe_at_or_before(t)) else None for t in (9, 10, 29, 99)] == [None, 10, 20, 30]
    other = track.fork_track(20)
    track.remove_keyframes_after(10)
    assert [frame.tick for frame in track.track_keyframes] == [10]
    assert [frame.tick for frame in other.track_keyframes] == [10, 20]


def test_fork_into_another_store_copies_only_its_first_keyframe():
    world, store = make_world_setup("tba"), KeyframeStore()
    world.submit(EditCells(), 500)  # so that time goes on
    track = store.new_track()
    for _ in range(4):
        track.add(store.finish_keyframe(PendingKeyframe(world, float(world.tick))))
        world.advance(30)
    other = KeyframeStore()
    frames = track.fork_track_into_store(other, 70).track_keyframes
    assert [frame.tick for frame in frames] == [60]
    assert frames[0].array_contents.part_pool is not track.track_keyframes[2].array_contents.part_pool
    assert_equal(restore_world(frames[0]), restore_world(track.track_keyframes[2]))
    assert len(track.track_keyframes) == 4
    assert not track.fork_track_into_store(KeyframeStore(1000), 70).track_keyframes, (
        "or where its budget is too small, nothing"
    )


def test_evicting_keyframes_leaves_the_others_intact():
    """Whatever order they go in: a part that two of them share stays until the last one goes."""
    world, store = make_world_setup("tba", "rtb-wa", side=64), KeyframeStore()
    world.submit(EditCells(), 500)  # so that time goes on
    track, states = store.new_track(), {}
    for step in range(20):
        world.submit(EditCells(tuple(range(64 * step, 64 * step + 9))))
        world.advance(7)
        track.add(store.finish_keyframe(PendingKeyframe(world, float(step)), track.keyframe_at_or_before(world.tick)))
        states[world.tick] = restore_world(track.track_keyframes[-1])
    assert len(track.track_keyframes) == 20
    for budget in (store.used_bytes * share // 10 for share in (9, 8, 7, 5, 3)):
        before, store.budget_bytes = len(track.track_keyframes), budget
        assert store.used_bytes <= budget
        assert len(track.track_keyframes) < before or not before
        for frame in track.track_keyframes:
            assert_equal(restore_world(frame), states[frame.tick])


def test_timeline_of_100000_ticks_stays_within_keyframe_budget(monkeypatch):
    """With everything going on that takes memory: edits, goals that move, random changes."""
    from sim.time import keyframe_saver
    from sim.time.timeline import Timeline

    monkeypatch.setattr(keyframe_saver, "KEYFRAME_SPACING", 2000.0)  # on so small a map there is little to do

    def setup() -> World:
        world = make_world_setup("rtb-wa", "tba", "tb-gbfs", side=64, budget=20)
        world.switches = {"s": tuple(range(700, 720))}
        return world

    budget = 1_500_000
    store = KeyframeStore(budget)
    timeline = Timeline(setup, store)
    free = np.flatnonzero(timeline.world.grid.free_mask)
    most = 0
    while timeline.tick < 100_000:
        step = timeline.tick // 2000
        timeline.apply_command(SetSwitch("s", step % 2 == 0))
        timeline.apply_command(MoveGoal(int(free[(step * 997) % free.size])))
        timeline.apply_command(SetRandomChanges(100, 2.0 if step % 5 == 0 else 0.0))
        timeline.insert_command(timeline.tick + 2000, EditCells((5,), (5,)))  # keeps time going when all have arrived
        assert timeline.advance(2000) == 2000
        most = max(most, count_held_bytes(store), store.used_bytes)
    assert most <= budget
    assert most > budget // 2, "the budget is used"
    digest = timeline.world.compute_digest()
    for tick in (99_000, 12_345, 50_000):
        timeline.seek(tick)
        assert timeline.tick == tick
    timeline.seek(100_000)
    assert timeline.world.compute_digest() == digest
    assert timeline.run_history.divergence_tick is None
