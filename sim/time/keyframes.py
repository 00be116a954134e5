"""Keyframes: a whole World set aside in memory, at the cost of what has changed since the one before.

    frame = take(world, work, like)             set a world aside; `like` is a keyframe from not long before
    world = restore(frame)                      an equal world with memory of its own
    restoring = Restoring(frame)                the same in pieces: restoring.step(bytes) until it says done

    taking = Taking(world, work)                the same as take, in two steps: what is quick, and
    frame = taking.read(pool, like)             what is not: in any thread, while nothing moves the world

    store = KeyframeStore(budget)               holds the keyframes of all timelines, never more bytes than `budget`
    track = store.new_track()                   those of one timeline, in the order of their ticks
    track.add(frame)    track.at_or_before(tick)    track.forget_after(tick)    track.fork(tick)    track.close()

The object graph of a world is small and goes through pickle; its arrays are large and do not. Their memory is cut
into parts of fixed size, and a part that equals the one of the keyframe before is kept once for both (pool.py). Of
four agents on 512 x 512, 84 MB of arrays, 16 MB have been touched after 300 ticks, and 6 MB change in the next 150.

Arrays that share memory (the moves of the grid, which every agent holds) share it again after a restore.

Nothing here is ever written to a file: a pickle is code, and what the program loads is data. What never changes
(classes, functions, commands, specs) is kept by reference, so a restore looks up no name and imports nothing.
"""

import io
import marshal
import mmap
import pickle
import sys
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from sim import commands
from sim.agent_api import AgentSpec, Specs
from sim.kernels import stale
from sim.kernels.jit import bare
from sim.kernels.pace import hurried, new_pace
from sim.params import Param
from sim.prepared import Prepared
from sim.time.memories import Bytes, Memories, TouchedPages
from sim.time.pool import Content, Pool
from sim.world import World

LEAST_BUDGET = 190_000_000
"""Bytes for keyframes where nobody has said how many; a world that takes more itself may have as much again."""

MOST_BUDGET = 1_000_000_000
"""What they get at most where nobody has said how many."""

_SPARE = 64 * 1024 * 1024  # room in a pool above its budget: a keyframe is set aside before others go for it
_SMALL = 64 * 1024  # bytes of a memory that is copied at once, rather than read in another thread

_KEPT_TYPES = (
    type,
    FunctionType,
    np.dtype,
    AgentSpec,
    Specs,
    Param,
    Prepared,
    commands.Note,
    commands.AgentConfig,
    commands.Command,
)


@dataclass(frozen=True, eq=False)
class Keyframe:
    """A world as it was at a tick. It is never altered, so timelines may share it."""

    tick: int
    work: float  # place on the scale by which keyframes are spread, see Timeline
    stream: bytes  # the pickled graph without its arrays
    arrays: bytes  # what they are like, see _Pickler.array_rows
    kept: tuple[Any, ...]  # objects that the stream and the arrays refer to by number
    content: Content  # of the arrays' memories

    @property
    def own_bytes(self) -> int:
        """What it takes beside what lies in the pool."""
        return len(self.stream) + len(self.arrays) + 8 * len(self.kept) + self.content.own_bytes + 300


# --- setting aside --------------------------------------------------------------------------------


class Taking:
    """A world that is being set aside. It has to stay as it is until `read` has come to its end."""

    def __init__(self, world: World, work: float = 0.0) -> None:
        self.tick, self.work = world.tick, work
        file = io.BytesIO()
        pickler = _Pickler(file)
        pickler.dump(world)
        self._stream, self._kept = file.getvalue(), tuple(pickler.kept)
        self._arrays = marshal.dumps(pickler.array_rows)
        self._owners = pickler.owners
        self._stale = stale.rows_of(world.stamped(), _SMALL)
        # Small ones are copied at once: who looks at the world meanwhile may change a number in them.
        self._memories = Memories(pickler.memories, _SMALL, tuple(pickler.places))
        self.size = self._memories.size
        self.pace = hurried()  # nobody reads it beside a window, unless they say so

    def read(self, pool: Pool, like: Keyframe | None = None) -> Keyframe | None:
        """Put into the pool what is not there since `like`; None when there is no room.

        What no kernel would read again is written over with zeros first, also in the world itself.
        """
        touched = TouchedPages(self._memories)
        self._stale["page"] = touched.places(self._stale["address"], self._stale["size"])
        stale.wipe_rows(bare(self._stale), touched.entries, mmap.PAGESIZE, self.pace)
        content = pool.kept(self._memories, like.content if like else None, touched, self.pace)
        return Keyframe(self.tick, self.work, self._stream, self._arrays, self._kept, content) if content else None


def taking_of(world: World, work: float) -> Taking | None:
    """The same, or None where an agent of the user's holds what cannot be set aside, such as a generator.

    Without a keyframe the way to a tick is only longer.
    """
    try:
        return Taking(world, work)
    except (TypeError, AttributeError, AssertionError, RecursionError, pickle.PicklingError):
        if any(walker.spec.is_own for walker in world.walkers):
            return None
        raise


def take(world: World, work: float = 0.0, like: Keyframe | None = None) -> Keyframe:
    """Set the world aside by itself, in the pool of `like` or one of its own."""
    taking = Taking(world, work)
    pool = like.content.pool if like else Pool(taking.size + _SPARE)
    frame = taking.read(pool, like) or taking.read(Pool(taking.size + _SPARE))
    assert frame is not None
    return frame


_IS_KEPT, _IS_ARRAY = 0, 1
"""What the stream refers to by number: an object that is kept as it is, or an array."""


class _Pickler(pickle.Pickler):
    """Pickles a world, leaving out its arrays and everything that never changes.

    Arrays are half of what there is to tell, and made up of numbers that each would be asked about: they are told of
    apart, in rows of plain values.
    """

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.kept: list[Any] = []
        self.memories: list[Bytes] = []
        self.array_rows: list[tuple[Any, ...]] = []
        """Of each array: which memory it looks into (None: it is empty), which of the objects kept its type is, shape
        and strides, the offset of its first byte, whether it is a record array, whether it must not be written to."""
        self.owners: list[Any] = []  # keeps the addresses valid while this goes on
        self._numbers: dict[int, int] = {}  # id of a kept object or an array -> its place in `kept` or `array_rows`
        self.places: dict[int, int] = {}  # address of a memory -> its place in `memories`

    def persistent_id(self, obj: Any) -> tuple[int, int] | None:
        """Asked for every object, thousands of them; so the answer for most is one look at their type."""
        kind: Any = type(obj)
        if not _is_kept_kind(kind):
            return None
        if issubclass(kind, np.ndarray):
            return None if obj.dtype.hasobject else (_IS_ARRAY, self._array_number(obj))
        if isinstance(obj, BuiltinFunctionType) and not isinstance(obj.__self__, ModuleType | None):
            return None  # a method of some object
        return _IS_KEPT, self._kept_number(obj)

    def reducer_override(self, obj: Any) -> Any:
        # One record of an array is a view into it; pickled, it would come apart from its array without a word.
        assert not isinstance(obj, np.void), f"a record {obj} cannot be set aside: hold its array instead"
        return NotImplemented

    def _kept_number(self, obj: Any) -> int:
        number = self._numbers.get(id(obj))
        if number is None:
            number = self._numbers[id(obj)] = len(self.kept)
            self.kept.append(obj)
        return number

    def _array_number(self, array: npt.NDArray[Any]) -> int:
        number = self._numbers.get(id(array))
        if number is None:
            number = self._numbers[id(array)] = len(self.array_rows)
            self.owners.append(array)
            self.array_rows.append(self._row(array))
        return number

    def _row(self, array: npt.NDArray[Any]) -> tuple[Any, ...]:
        dtype, flags = self._kept_number(array.dtype), (isinstance(array, np.recarray), not array.flags.writeable)
        if not array.size:  # no memory to speak of, and none to hold on to
            return (None, dtype, array.shape, None, 0, *flags)
        owner = _owner_of(array)
        address = owner.ctypes.data
        offset = 0 if owner is array else array.ctypes.data - address
        return (self._memory_number(owner, address), dtype, array.shape, array.strides, offset, *flags)

    def _memory_number(self, owner: npt.NDArray[Any], address: int) -> int:
        number = self.places.get(address)
        if number is None:
            assert owner.flags.forc, "an array whose memory has gaps cannot be set aside"
            number = self.places[address] = len(self.memories)
            self.owners.append(owner)
            self.memories.append(np.ndarray((owner.nbytes,), np.uint8, buffer=owner.data))
        return number


@cache
def _is_kept_kind(kind: Any) -> bool:
    """Whether objects of this type may not go into the stream as they are."""
    return issubclass(kind, (np.ndarray, BuiltinFunctionType, *_KEPT_TYPES))


def _owner_of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array whose memory this one looks into; itself, mostly."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _array(
    memory: Bytes | None,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    offset: int,
    is_records: bool,
    is_fixed: bool,
) -> npt.NDArray[Any]:
    """An array as it was, in its restored memory."""
    array: npt.NDArray[Any]
    array = np.empty(shape, dtype) if memory is None else np.ndarray(shape, dtype, memory, offset, strides)
    array = array.view(np.recarray) if is_records else array
    if is_fixed:
        array.flags.writeable = False
    return array


# --- restoring ------------------------------------------------------------------------------------


def restore(frame: Keyframe) -> World:
    """A world equal to the one set aside."""
    restoring = Restoring(frame)
    restoring.step()
    return restoring.result()


class Restoring:
    """A restore in pieces, so that a window stays alive beside a large one."""

    def __init__(self, frame: Keyframe) -> None:
        self.frame = frame
        self._memories: list[Bytes] = []
        self._copying: Iterator[int] | None = None  # None: not begun, and it costs nothing to give it up

    def step(self, most_bytes: int = 1 << 62) -> bool:
        """Copy about so many bytes; whether all are copied now."""
        if self._copying is None:
            # Not kernels.memory.zeros: pages of 4 KB, one by one, take a seek from 9 ms to 25 ms.
            self._memories = [np.zeros(size, np.uint8) for size in self.frame.content.sizes]
            self._copying = self.frame.content.copy_into(self._memories)
        copied = 0
        for length in self._copying:
            copied += length
            if copied >= most_bytes:
                return False
        return True

    def result(self) -> World:
        world = _Unpickler(self.frame, self._memories).load()
        assert isinstance(world, World), world
        return world


class _Unpickler(pickle.Unpickler):
    def __init__(self, frame: Keyframe, memories: list[Bytes]) -> None:
        super().__init__(io.BytesIO(frame.stream))
        self._kept = frame.kept
        self._arrays = [
            _array(None if number is None else memories[number], frame.kept[dtype], *rest)
            for number, dtype, *rest in marshal.loads(frame.arrays)
        ]

    def persistent_load(self, pid: tuple[int, int]) -> Any:
        kind, number = pid
        return self._arrays[number] if kind == _IS_ARRAY else self._kept[number]

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Nothing is looked up by name: whatever has a name is kept by reference."""
        raise pickle.UnpicklingError(f"{module_name}.{global_name} in a keyframe")


# --- holding many ---------------------------------------------------------------------------------


class KeyframeStore:
    """The keyframes of several timelines within one budget of bytes; what they share counts once.

    Without a budget it is as much as the world takes itself, LEAST_BUDGET at least and MOST_BUDGET at most. `beside` is
    what a window gives to have keyframes read beside its frames: an executor with one thread.
    """

    def __init__(self, budget: int | None = None, most_frames: int = 4096) -> None:
        self.most_frames = most_frames
        self.tracks: list[Track] = []
        self._wanted = budget
        self._lent = sys.maxsize  # the most that the system has not refused
        self._world_size = 0
        self._pool: Pool | None = None
        self.beside: Executor | None = None
        self._under_way: Future[Keyframe | None] | None = None
        self._pace = new_pace()  # of what is under way

    @property
    def budget(self) -> int:
        """The most bytes that keyframes may take."""
        usual = max(LEAST_BUDGET, min(MOST_BUDGET, self._world_size))
        return min(usual if self._wanted is None else self._wanted, self._lent)

    @budget.setter
    def budget(self, budget: int | None) -> None:
        self._wanted, self._lent = budget, sys.maxsize
        self.make_room()

    @property
    def held(self) -> int:
        """The bytes that they take."""
        frames = {id(frame): frame for track in self.tracks for frame in track.frames}
        pools = {id(frame.content.pool): frame.content.pool for frame in frames.values()}
        return sum(frame.own_bytes for frame in frames.values()) + sum(pool.held for pool in pools.values())

    @property
    def count(self) -> int:
        """Keyframes on all tracks; one that two of them share counts twice."""
        return sum(len(track.frames) for track in self.tracks)

    def new_track(self) -> "Track":
        track = Track(self)
        self.tracks.append(track)
        return track

    def read(self, taking: Taking, like: Keyframe | None = None) -> Keyframe | None:
        """The keyframe that is being taken; None when it has no room even by itself."""
        self._wait()
        return self._read(taking, like)

    def read_beside(self, taking: Taking, like: Keyframe | None = None) -> "Future[Keyframe | None]":
        """The same in another thread. The world must not move meanwhile."""
        assert self.beside is not None
        self._wait()
        taking.pace = self._pace = new_pace()
        self._under_way = self.beside.submit(self._read, taking, like)
        return self._under_way

    def hurry(self) -> None:
        """Whoever reads beside is waited for: nobody else comes before it from now on."""
        self._pace[0] = 1

    def _wait(self) -> None:
        """One at a time: the pool does not know two that write to it."""
        if self._under_way is not None:
            self.hurry()
            self._under_way.exception()
            self._under_way = None

    def _read(self, taking: Taking, like: Keyframe | None) -> Keyframe | None:
        self._world_size = max(self._world_size, taking.size)
        if taking.size // 64 > self.budget:
            return None  # not a try: even a fresh world has touched more
        frame = taking.read(self._current_pool(), like)
        if frame is None:  # the world has grown, or the budget: what is in the old pool stays there
            self._pool = None
            frame = taking.read(self._current_pool(), like)
        return frame

    def _current_pool(self) -> Pool:
        """The pool for what comes now. A system may refuse one as large as a user wants: then half of it."""
        while self._pool is None:
            try:
                self._pool = Pool(self.budget + _SPARE)
            except OSError:
                if self.budget < _SPARE:
                    raise
                self._lent = self.budget // 2
        return self._pool

    def copied(self, frame: Keyframe) -> Keyframe | None:
        """A keyframe of another store, in this one."""
        memories = [np.zeros(size, np.uint8) for size in frame.content.sizes]
        for _ in frame.content.copy_into(memories):
            pass
        content = self._current_pool().kept(Memories(memories))
        return replace(frame, content=content) if content else None

    def make_room(self) -> None:
        """Give up the keyframes that are missed least until the rest fits."""
        self._wait()
        while self.count and (self.held > self.budget or self.count > self.most_frames):
            chosen = min((track for track in self.tracks if track.frames), key=Track.least_loss)
            chosen.give_up_least()


@dataclass(eq=False)
class Track:
    """The keyframes of one timeline by tick."""

    store: KeyframeStore
    frames: list[Keyframe] = field(default_factory=list)
    playhead: float = 0.0  # place of the present on the scale of `Keyframe.work`

    def add(self, frame: Keyframe) -> None:
        """Take a keyframe in, unless there is one of that tick; others may have to go for it."""
        place = self._place(frame.tick)
        if place and self.frames[place - 1].tick == frame.tick:
            return
        self.frames.insert(place, frame)
        self.store.make_room()

    def _place(self, tick: int) -> int:
        return bisect_right(self.frames, tick, key=lambda frame: frame.tick)

    def at_or_before(self, tick: int) -> Keyframe | None:
        place = self._place(tick)
        return self.frames[place - 1] if place else None

    def forget_after(self, tick: int) -> None:
        """The run went another way after this tick."""
        del self.frames[self._place(tick) :]

    def fork(self, tick: int) -> "Track":
        """A track of another timeline that was the same up to this tick."""
        other = self.store.new_track()
        other.playhead = self.playhead
        other.frames = self.frames[: self._place(tick)]
        return other

    def fork_into(self, store: KeyframeStore, tick: int) -> "Track":
        """A track in another store, to be used in another thread: with the keyframe to begin from for this tick."""
        other = store.new_track()
        frame = self.at_or_before(tick)
        if frame is not None and (copy := store.copied(frame)) is not None:
            other.playhead = copy.work
            other.add(copy)
        return other

    def close(self) -> None:
        self.forget_after(-1)
        self.store.tracks.remove(self)

    def least_loss(self) -> float:
        return min(self._losses())

    def give_up_least(self) -> None:
        losses = self._losses()
        del self.frames[losses.index(min(losses))]

    def _losses(self) -> list[float]:
        """What each keyframe is worth: the longest replay without it, the more the nearer it is to the present.

        The fourth root of the distance spreads them over the whole run and still sets them denser around the playhead.
        (With the square root a seek in a run under steady changes takes 102 ms instead of 84, by the median.)
        """
        places = [frame.work for frame in self.frames]
        # Without the first one the run would have to be built anew; the last one is what the next is compared to.
        before, after = [places[0] - 1e9, *places], [*places[1:], places[-1] + 1e9]
        return [
            (right - left) / (1.0 + abs(self.playhead - place)) ** 0.25
            for left, place, right in zip(before, places, after, strict=False)
        ]
