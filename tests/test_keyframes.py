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

from agents.registry import BY_KEY, SPECS
from sim.commands import AddAgent, AgentConfig, EditCells, MoveGoal, RemoveAgent, SetChanges, SetSwitch
from sim.grid import Grid
from sim.kernels.pages import IS_THERE
from sim.kernels.parts import PART, PARTS
from sim.time import keyframes
from sim.time import memories as asked
from sim.time.keyframes import Keyframe, KeyframeStore, PendingSnapshot, Restoring, restore, take
from sim.time.memories import BufferSet, TouchedPages
from sim.time.pool import Pool
from sim.world import World

from .conftest import ROOT, budget_for, random_rows
from .runs import assert_equal, setups, some_command

BLOCK = PART * PARTS


def big_world(*kinds: str, side: int = 128, budget: int = 8, watched: bool = True) -> World:
    rows = random_rows(5, side, side, 0.25)
    rows[0] = "." + rows[0][1:]
    rows[-1] = rows[-1][:-1] + "."
    world = World(Grid.from_rows(rows), 0, side * side - 1, BY_KEY, budget=budget, watched=watched)
    for kind in kinds:
        world.add(AgentConfig(kind, budget=budget_for(BY_KEY[kind], {}, budget)))
    return world


# --- one keyframe ---------------------------------------------------------------------------------


@settings(max_examples=40)
@given(setup=setups(), ticks=st.integers(0, 40), data=st.data())
def test_a_restored_world_goes_on_as_the_first_one_does(setup, ticks, data):
    world = setup()
    before = take(world)
    world.advance(ticks)
    frame = take(world, like=before)
    other = restore(frame)
    assert_equal(other, world)
    command = data.draw(some_command(world.grid.cells))
    for each in (world, other):
        each.submit(command)
        each.advance(25)
    assert_equal(other, world)
    assert other.digest() == world.digest()
    assert_equal(restore(before), setup())


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.key)
def test_every_agent_survives(spec):
    world = big_world(spec.key, side=48)
    world.advance(60)
    world.submit(EditCells(tuple(range(300, 420))), 70)
    other = restore(take(world))
    for each in (world, other):
        each.advance(200)
    assert_equal(other, world)


def test_arrays_that_share_memory_share_it_again():
    world = restore(take(big_world("tba", "rtb-wa", side=32)))
    grid = world.grid
    for walker in world.walkers:
        assert walker.agent.problem.grid is grid
        assert walker.agent.ground.moves is grid.moves
        assert walker.spec is BY_KEY[walker.config.kind]
    assert grid.ground.moves is grid.moves
    world.submit(EditCells((40,)))
    world.advance(1)
    assert not grid.moves[40]


def test_views_of_one_array_stay_views_of_one_array():
    world = big_world(side=8)
    whole = np.arange(5000, dtype=np.float64).reshape(50, 100)
    world.extra = {"whole": whole, "part": whole[3:20:2, ::-1], "turned": whole.T, "none": whole[:0]}
    world.fixed = np.arange(9)
    world.fixed.flags.writeable = False
    other = restore(take(world))
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
    size=st.integers(1, 3 * BLOCK + 100) | st.sampled_from([PART, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK]),
    changes=st.lists(
        st.lists(st.tuples(st.floats(0, 1), st.integers(1, 3000), st.integers(0, 255)), max_size=5), max_size=4
    ),
)
def test_memory_of_any_size_comes_back_whatever_changed_in_it(size, changes):
    world = big_world(side=8)
    world.extra = np.zeros(size, np.uint8)
    frames, contents = [take(world)], [world.extra.copy()]
    for change in changes:
        for place, length, value in change:
            begin = int(place * size)
            world.extra[begin : begin + length] = value
        frames.append(take(world, like=frames[-1]))
        contents.append(world.extra.copy())
    for frame, content in zip(frames, contents, strict=True):
        assert np.array_equal(restore(frame).extra, content)


def test_a_single_record_is_refused_rather_than_torn_from_its_array():
    world = big_world("tba", side=8)
    world.walkers[0].agent.record = world.walkers[0].agent.state[0]
    with pytest.raises(AssertionError, match="hold its array instead"):
        take(world)


def test_restoring_in_pieces_gives_the_same():
    world = big_world("tba", "tb-wa")
    world.advance(100)
    restoring = Restoring(take(world))
    steps = 0
    while not restoring.step(1):
        steps += 1
    assert steps > 5
    assert_equal(restoring.result(), world)


def test_a_restore_that_is_given_up_before_it_began_takes_no_memory():
    """Hundreds are, where a script gets a line for each agent of a crowd: each sets out for the present anew."""
    frame = take(big_world("tba", "tb-wa"))
    tracemalloc.start()
    try:
        given_up = [Restoring(frame) for _ in range(10)]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < sum(frame.content.sizes) / 10
    assert_equal(restore(frame), restore(given_up[0].frame))


def test_a_world_that_was_restored_shares_nothing_with_another():
    world = big_world("tba")
    world.advance(50)
    frame = take(world)
    one, other = restore(frame), restore(frame)
    one.advance(500)
    assert_equal(other, restore(frame))


def test_nothing_is_looked_up_by_name_when_restoring():
    """A restore must not be able to run what a stream names."""
    frame = take(big_world("tba", side=8))
    evil = Keyframe(0, 0.0, pickle.dumps(subprocess.call), frame.arrays, frame.kept, frame.content)
    with pytest.raises(pickle.UnpicklingError):
        restore(evil)


def test_nothing_else_in_the_simulation_pickles():
    """Files are data: whatever reads them could not run what they hold if it wanted to.

    The cache of compiled kernels is numba's own and holds code by its nature; its folder is private, its files sealed.
    """
    sources = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "sim").rglob("*.py")}
    pickling = {name for name, text in sources.items() if "import pickle" in text or "from pickle" in text}
    assert pickling == {"keyframes.py", "cache.py"}
    assert " open(" not in sources["keyframes.py"]


# --- what it costs --------------------------------------------------------------------------------


def test_a_keyframe_costs_what_has_changed():
    world = big_world("tba", "tb-wa", "rtb-wa", side=256, budget=1)
    world.advance(10)
    first = take(world)
    whole, pool = sum(first.content.sizes), first.content.pool
    assert pool.held < whole // 5, "memory that nobody has touched is free"
    before = pool.held
    second = take(world, like=first)
    assert pool.held == before, "nothing has changed"
    assert np.array_equal(second.content.blocks, first.content.blocks)
    world.advance(20)
    third = take(world, like=second)
    assert 0 < pool.held - before < whole // 10
    assert_equal(restore(third), world)


def test_parts_that_are_equal_again_are_shared():
    world = big_world(side=256)
    first = take(world)
    pool = first.content.pool
    before = pool.held
    world.submit(EditCells(tuple(range(2000))))
    world.apply_now()
    second = take(world, like=first)
    assert 2 * PART <= pool.held - before <= 60 * PART
    world.submit(EditCells((), tuple(range(2000))))
    del second
    assert pool.held == before, "what nobody holds takes no room"


def test_memory_is_not_touched_by_setting_it_aside():
    """Looking at a page that nobody has used would make the system find memory for it."""
    world = big_world("tba", side=512, budget=1)
    frame = take(world)
    memories = PendingSnapshot(world)._memories
    if not TouchedPages(memories).entries.size:
        pytest.skip("this system does not tell which pages were touched")
    before = share_touched(memories)
    assert before < 0.1
    take(world, like=frame)
    assert share_touched(memories) == before


def share_touched(memories):
    """Of the pages of the large ones."""
    return ((TouchedPages(memories).entries & IS_THERE) != 0).mean()


@pytest.mark.parametrize("knows_pages", [True, False])
def test_a_keyframe_is_the_same_where_nobody_tells_which_pages_were_touched(monkeypatch, knows_pages):
    if not knows_pages:
        monkeypatch.setattr(asked, "_PAGEMAP_FILE", "/nowhere")
    world = big_world("tba", "rtb-wa", side=128)
    frame = take(world)
    for _ in range(3):
        world.advance(40)
        frame = take(world, like=frame)
        assert_equal(restore(frame), world)


def test_a_small_memory_that_begins_on_the_last_page_of_a_large_one_is_read_to_its_end():
    """As the C library lays them out. Of the pages behind the large one nobody has asked."""
    page = mmap.PAGESIZE
    pages = np.frombuffer(mmap.mmap(-1, 400 * page), np.uint8)
    large, small = pages[: 17 * page + 512], pages[17 * page + 512 : 19 * page + 512]
    untouched = pages[300 * page : 317 * page]  # what is asked of next
    large[:10], small[-600:] = 1, 7
    held = Pool(10_000_000).kept(BufferSet([large, small, untouched]))
    copies = [np.zeros(memory.size, np.uint8) for memory in (large, small, untouched)]
    for _ in held.copy_into(copies):
        pass
    assert [copy.tolist() for copy in copies] == [memory.tolist() for memory in (large, small, untouched)]


def test_a_keyframe_without_room_is_none_and_takes_none():
    world = big_world("tba", side=128, budget=50)
    world.advance(50)
    pool = Pool(50_000)
    assert PendingSnapshot(world).read(pool) is None
    assert pool.held == 0


def test_a_pool_larger_than_the_system_lends_becomes_smaller(monkeypatch):
    def lend(size):
        if size > 300_000_000:
            raise OSError(12, "Cannot allocate memory")
        return Pool(size)

    monkeypatch.setattr(keyframes, "Pool", lend)
    world, store = big_world("tba", side=128, budget=50), KeyframeStore(32_000_000_000)
    world.advance(50)
    frame = store.read(PendingSnapshot(world))
    assert_equal(restore(frame), world)
    assert 100_000_000 < store.budget < 300_000_000
    store.budget = 200_000_000
    assert store.budget == 200_000_000


def test_read_beside_is_the_same_as_read_at_once():
    world = big_world("tba", "tb-wa")
    store = KeyframeStore()
    store.beside = ThreadPoolExecutor(1)
    world.advance(30)
    beside = store.read_beside(PendingSnapshot(world)).result()
    assert_equal(restore(beside), world)
    world.advance(30)
    later = store.read_beside(PendingSnapshot(world), beside).result()
    assert_equal(restore(later), world)


def test_an_agent_more_or_less_does_not_spoil_a_keyframe():
    world = big_world("tba", "tb-wa")
    world.advance(30)
    first = take(world)
    for command in (AddAgent(AgentConfig("rtb-wa")), RemoveAgent(0)):
        world.submit(command)
        world.advance(20)
        first = take(world, like=first)
        assert_equal(restore(first), world)


# --- many -----------------------------------------------------------------------------------------


def really_held(store: KeyframeStore) -> int:
    """Bytes of the different parts of all keyframes of a store, counted the slow way: from what they restore."""
    frames = {id(frame): frame for track in store.tracks for frame in track.frames}
    kept: set[tuple[int, int, bytes]] = set()
    for frame in frames.values():
        memories = [np.zeros(size, np.uint8) for size in frame.content.sizes]
        for _ in frame.content.copy_into(memories):
            pass
        for number, memory in enumerate(memories):
            data = memory.tobytes()
            kept |= {(number, i, data[i : i + PART]) for i in range(0, len(data), PART) if any(data[i : i + PART])}
    return sum(len(frame.stream) + len(frame.arrays) for frame in frames.values()) + sum(
        len(part) for _, _, part in kept
    )


@settings(max_examples=15)
@given(budget=st.sampled_from([0, 200_000, 700_000, 3_000_000]), data=st.data())
def test_memory_stays_within_its_budget(budget, data):
    store = KeyframeStore(budget)
    tracks = [store.new_track()]
    world = big_world("tba", "rtb-wa", side=64)
    for step in range(data.draw(st.integers(1, 25))):
        match data.draw(st.sampled_from(["add", "add", "add", "fork", "forget", "close"])):
            case "add":
                world.advance(7)
                if data.draw(st.booleans()):
                    world.submit(EditCells(tuple(range(64 * step, 64 * step + 9))))
                track = data.draw(st.sampled_from(tracks))
                track.add(take(world, float(step), track.at_or_before(world.tick)))
            case "fork":
                tracks.append(data.draw(st.sampled_from(tracks)).fork(data.draw(st.integers(0, 200))))
            case "forget":
                data.draw(st.sampled_from(tracks)).forget_after(data.draw(st.integers(0, 200)))
            case "close" if len(tracks) > 1:
                tracks.pop().close()
        assert store.held <= budget
        assert really_held(store) <= store.held or not store.held
    for track in tracks:
        track.close()
    assert store.held == 0


EMPTY = Pool(0).kept(BufferSet([]))


def fake_frame(tick: int, size: int = 1000) -> Keyframe:
    return Keyframe(tick, float(tick), b"x" * size, b"", (), EMPTY)


def test_keyframes_stay_spread_and_are_denser_near_the_present():
    store = KeyframeStore(budget=60 * 1400)
    track = store.new_track()
    for tick in range(3000):
        track.playhead = float(tick)
        track.add(fake_frame(tick))
    ticks = [frame.tick for frame in track.frames]
    assert ticks[0] == 0
    assert ticks[-1] == 2999
    gaps = np.diff(ticks)
    assert gaps.max() < 300, "no part of the run is far from a keyframe"
    assert gaps[-10:].mean() < gaps[10:20].mean() / 2
    assert 50 <= len(ticks) <= 70


def test_the_nearest_keyframe_is_found():
    track = KeyframeStore().new_track()
    assert track.at_or_before(5) is None
    for tick in (30, 10, 20, 10):
        track.add(fake_frame(tick))
    assert [frame.tick for frame in track.frames] == [10, 20, 30]
    assert [f.tick if (f := track.at_or_before(t)) else None for t in (9, 10, 29, 99)] == [None, 10, 20, 30]
    other = track.fork(20)
    track.forget_after(10)
    assert [frame.tick for frame in track.frames] == [10]
    assert [frame.tick for frame in other.frames] == [10, 20]


def test_a_fork_into_another_store_has_what_it_begins_with_and_nothing_else():
    world, store = big_world("tba"), KeyframeStore()
    world.submit(EditCells(), 500)  # so that time goes on
    track = store.new_track()
    for _ in range(4):
        track.add(store.read(PendingSnapshot(world, float(world.tick))))
        world.advance(30)
    other = KeyframeStore()
    frames = track.fork_into(other, 70).frames
    assert [frame.tick for frame in frames] == [60]
    assert frames[0].content.pool is not track.frames[2].content.pool
    assert_equal(restore(frames[0]), restore(track.frames[2]))
    assert len(track.frames) == 4
    assert not track.fork_into(KeyframeStore(1000), 70).frames, "or where its budget is too small, nothing"


def test_thinned_keyframes_leave_the_others_as_they_were():
    """Whatever order they go in: a part that two of them share stays until the last one goes."""
    world, store = big_world("tba", "rtb-wa", side=64), KeyframeStore()
    world.submit(EditCells(), 500)  # so that time goes on
    track, states = store.new_track(), {}
    for step in range(20):
        world.submit(EditCells(tuple(range(64 * step, 64 * step + 9))))
        world.advance(7)
        track.add(store.read(PendingSnapshot(world, float(step)), track.at_or_before(world.tick)))
        states[world.tick] = restore(track.frames[-1])
    assert len(track.frames) == 20
    for budget in (store.held * share // 10 for share in (9, 8, 7, 5, 3)):
        before, store.budget = len(track.frames), budget
        assert store.held <= budget
        assert len(track.frames) < before or not before
        for frame in track.frames:
            assert_equal(restore(frame), states[frame.tick])


def test_a_hundred_thousand_ticks_stay_within_the_budget(monkeypatch):
    """With everything going on that takes memory: edits, goals that move, random changes."""
    from sim.time import timeline as timelines
    from sim.time.timeline import Timeline

    monkeypatch.setattr(timelines, "SPACING", 2000.0)  # on so small a map there is little to do

    def setup() -> World:
        world = big_world("rtb-wa", "tba", "tb-gbfs", side=64, budget=20)
        world.switches = {"s": tuple(range(700, 720))}
        return world

    budget = 1_500_000
    store = KeyframeStore(budget)
    timeline = Timeline(setup, store)
    free = np.flatnonzero(timeline.world.grid.free)
    most = 0
    while timeline.tick < 100_000:
        step = timeline.tick // 2000
        timeline.do(SetSwitch("s", step % 2 == 0))
        timeline.do(MoveGoal(int(free[(step * 997) % free.size])))
        timeline.do(SetChanges(100, 2.0 if step % 5 == 0 else 0.0))
        timeline.insert(timeline.tick + 2000, EditCells((5,), (5,)))  # keeps time going when all have arrived
        assert timeline.advance(2000) == 2000
        most = max(most, really_held(store), store.held)
    assert most <= budget
    assert most > budget // 2, "the budget is used"
    digest = timeline.world.digest()
    for tick in (99_000, 12_345, 50_000):
        timeline.seek(tick)
        assert timeline.tick == tick
    timeline.seek(100_000)
    assert timeline.world.digest() == digest
    assert timeline.diverged is None
