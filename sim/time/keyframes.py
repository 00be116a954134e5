"""Keyframes: a whole World set aside in memory, at the cost of what has changed since the one before.

    frame = take(world, work, like)             set a world aside; `like` is a keyframe from not long before
    world = restore(frame)                      an equal world with memory of its own
    restoring = Restoring(frame)                the same in pieces: restoring.step(bytes) until it says done

    store = KeyframeStore(budget)               holds the keyframes of all timelines, never more bytes than `budget`
    track = store.new_track()                   those of one timeline, in the order of their ticks
    track.add(frame)    track.at_or_before(tick)    track.forget_after(tick)    track.fork(tick)    track.close()

The object graph of a world is small and goes through pickle; its arrays are large and do not. Their memory is cut
into blocks, and blocks into parts, of fixed size; a part that equals the one of the keyframe before is the same
object in both. Blocks are there to be compared quickly, parts to be shared: a path that crosses the map touches all
of its rows, and little of each. (On rooms of 512 x 512, parts of 1 KB take half the memory of ones of 16 KB, and ones
of 256 bytes hardly less.)

Arrays that share memory (the moves of the grid, which every agent holds) share it again after a restore.

Nothing here is ever written to a file: a pickle is code, and what the program loads is data. What never changes
(classes, functions, commands, specs) is kept by reference, so a restore looks up no name and imports nothing.
"""

import io
import pickle
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from sim import commands
from sim.agent_api import AgentSpec
from sim.params import Param
from sim.prepared import Prepared
from sim.world import Note, World

PART = 1024
BLOCK = 64 * PART

BUDGET = 512 * 1024 * 1024

_ZERO_PART = bytes(PART)
_OVERHEAD = 56  # bytes that Python and malloc take for a part beside its content

_KEPT_TYPES = (
    type,
    FunctionType,
    np.dtype,
    AgentSpec,
    Param,
    Prepared,
    Note,
    commands.AgentConfig,
    commands.Command,
)

Memory = npt.NDArray[np.uint8]
Block = tuple[bytes, ...]
Blocks = tuple[Block, ...]

_ZERO: Block = (_ZERO_PART,) * (BLOCK // PART)  # memory nobody has touched, which is most of it
_ZERO_BYTES = bytes(BLOCK)


@dataclass(frozen=True, eq=False)
class Keyframe:
    """A world as it was at a tick. It is never altered, so timelines may share it."""

    tick: int
    work: float  # place on the scale by which keyframes are spread, see Timeline
    stream: bytes  # the pickled graph without its arrays
    kept: tuple[Any, ...]  # objects that the stream refers to by number
    memories: tuple[Blocks, ...]  # the content of the arrays' memories
    sizes: tuple[int, ...]  # bytes of each memory

    @property
    def own_bytes(self) -> int:
        """What it takes beside its blocks."""
        return len(self.stream) + 8 * (len(self.kept) + 2 * len(self.sizes)) + 300


# --- setting aside --------------------------------------------------------------------------------


def take(world: World, work: float = 0.0, like: Keyframe | None = None) -> Keyframe:
    """Set the world aside. What has not changed since `like` is shared with it and costs nothing."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(world)
    sizes = tuple(memory.size for memory in pickler.memories)
    # Memories come in the order in which the graph is walked; an agent more or less shifts some, once.
    before = dict(enumerate(zip(like.sizes, like.memories, strict=True))) if like else {}
    memories = []
    for i, memory in enumerate(pickler.memories):
        size, blocks = before.get(i, (-1, None))
        memories.append(_cut(memory, blocks if size == memory.size else None))
    return Keyframe(world.tick, work, file.getvalue(), tuple(pickler.kept), tuple(memories), sizes)


def _cut(memory: Memory, before: Blocks | None) -> Blocks:
    """The blocks of a memory. Blocks equal to those of `before` are those, and so is the whole if all are."""
    view = memory.data
    blocks = []
    is_changed = before is None
    for i, start in enumerate(range(0, memory.size, BLOCK)):
        data = view[start : start + BLOCK].tobytes()  # comparing bytes is one memcmp; comparing views is a slow loop
        old = before[i] if before is not None else _ZERO
        was = _ZERO_BYTES if old is _ZERO else b"".join(old)
        if data == was:
            blocks.append(old)
        else:
            blocks.append(_parts(data, old, was))
            is_changed = True
    return tuple(blocks) if before is None or is_changed else before


def _parts(data: bytes, old: Block, was: bytes) -> Block:
    """A block cut into parts. Parts equal to those of the block that was there before are those; `was` is its bytes."""
    if data == _ZERO_BYTES:
        return _ZERO
    if len(data) == len(was) == BLOCK:  # nearly always; a tenth of the time of the way below
        differs = np.frombuffer(data, np.uint64) != np.frombuffer(was, np.uint64)
        parts_now = list(old)
        for i in np.flatnonzero(differs.reshape(len(old), -1).any(axis=1)).tolist():
            parts_now[i] = data[i * PART : (i + 1) * PART]
        return tuple(parts_now)
    starts = range(0, len(data), PART)
    parts = (data[start : start + PART] for start in starts)
    return tuple(was if part == was else part for part, was in zip(parts, old, strict=False))


class _Kept:
    """Stands in the stream for memory number `place`."""

    def __init__(self, place: int) -> None:
        self.place = place


class _Pickler(pickle.Pickler):
    """Pickles a world, leaving out the memory of its arrays and everything that never changes."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.kept: list[Any] = []
        self.memories: list[Memory] = []
        self._numbers: dict[int, int] = {}  # id of a kept object -> its place in `kept`
        self._places: dict[int, _Kept] = {}  # address of a memory -> what stands for it
        self._owners: list[Any] = []  # keeps the addresses valid while this goes on

    def persistent_id(self, obj: Any) -> tuple[bool, int] | None:
        if isinstance(obj, _Kept):
            return True, obj.place
        if not isinstance(obj, _KEPT_TYPES) and not _is_plain_builtin(obj):
            return None
        number = self._numbers.get(id(obj))
        if number is None:
            number = self._numbers[id(obj)] = len(self.kept)
            self.kept.append(obj)
        return False, number

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, np.ndarray) and not obj.dtype.hasobject:
            return self._reduced(obj)
        # One record of an array is a view into it; pickled, it would come apart from its array without a word.
        assert not isinstance(obj, np.void), f"a record {obj} cannot be set aside: hold its array instead"
        return NotImplemented

    def _reduced(self, array: npt.NDArray[Any]) -> Any:
        is_records, is_fixed = isinstance(array, np.recarray), not array.flags.writeable
        if not array.size:  # no memory to speak of, and none to hold on to
            return _view, (None, array.dtype, array.shape, None, 0, is_records, is_fixed)
        owner = _owner_of(array)
        offset = array.ctypes.data - owner.ctypes.data
        kept = self._kept_memory(owner)
        return _view, (kept, array.dtype, array.shape, array.strides, offset, is_records, is_fixed)

    def _kept_memory(self, owner: npt.NDArray[Any]) -> _Kept:
        address = owner.ctypes.data
        if address not in self._places:
            assert owner.flags.forc, "an array whose memory has gaps cannot be set aside"
            self._places[address] = _Kept(len(self.memories))
            self._owners.append(owner)
            flat = np.ndarray((owner.nbytes,), np.uint8, buffer=owner.data)
            self.memories.append(flat)
        return self._places[address]


def _is_plain_builtin(obj: Any) -> bool:
    """A function of an extension module; a method of some object is none."""
    return isinstance(obj, BuiltinFunctionType) and isinstance(obj.__self__, ModuleType | None)


def _owner_of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array whose memory this one looks into; itself, mostly."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _view(
    memory: Memory | None,
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
        # Not kernels.memory.zeros: pages of 4 KB, one by one, take a seek from 9 ms to 25 ms.
        self._memories = [np.zeros(size, np.uint8) for size in frame.sizes]
        self._copying = self._copy()

    def step(self, most_bytes: int = 1 << 62) -> bool:
        """Copy about so many bytes; whether all are copied now."""
        copied = 0
        for length in self._copying:
            copied += length
            if copied >= most_bytes:
                return False
        return True

    def _copy(self) -> Iterator[int]:
        for memory, blocks in zip(self._memories, self.frame.memories, strict=True):
            view = memory.data
            for i, block in enumerate(blocks):
                if block is not _ZERO:  # fresh memory is zero, and costs nothing while nobody touches it
                    data = b"".join(block)
                    view[i * BLOCK : i * BLOCK + len(data)] = data
                    yield len(data)

    def result(self) -> World:
        world = _Unpickler(self.frame, self._memories).load()
        assert isinstance(world, World), world
        return world


class _Unpickler(pickle.Unpickler):
    def __init__(self, frame: Keyframe, memories: list[Memory]) -> None:
        super().__init__(io.BytesIO(frame.stream))
        self._kept, self._memories = frame.kept, memories

    def persistent_load(self, pid: tuple[bool, int]) -> Any:
        is_memory, number = pid
        return self._memories[number] if is_memory else self._kept[number]

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Nothing is looked up by name: whatever has a name is kept by reference."""
        raise pickle.UnpicklingError(f"{module_name}.{global_name} in a keyframe")


# --- holding many ---------------------------------------------------------------------------------


class KeyframeStore:
    """The keyframes of several timelines within one budget of bytes; what they share counts once."""

    def __init__(self, budget: int = BUDGET, most_frames: int = 4096) -> None:
        self.budget, self.most_frames = budget, most_frames
        self.held = 0  # bytes
        self.tracks: list[Track] = []
        self._holders: dict[int, int] = {}  # id of a keyframe, blocks, a block or a part -> how many hold it

    def new_track(self) -> "Track":
        track = Track(self)
        self.tracks.append(track)
        return track

    @property
    def count(self) -> int:
        """Keyframes on all tracks; one that two of them share counts twice."""
        return sum(len(track.frames) for track in self.tracks)

    def hold(self, frame: Keyframe) -> None:
        if self._is_first(frame):
            self.held += frame.own_bytes
            for blocks in frame.memories:
                if self._is_first(blocks):
                    self.held += _OVERHEAD + 8 * len(blocks) + sum(map(self._hold_block, blocks))

    def release(self, frame: Keyframe) -> None:
        if self._is_last(frame):
            self.held -= frame.own_bytes
            for blocks in frame.memories:
                if self._is_last(blocks):
                    self.held -= _OVERHEAD + 8 * len(blocks) + sum(map(self._release_block, blocks))

    def _hold_block(self, block: Block) -> int:
        """The bytes that are held for this block and were not before."""
        if not self._is_first(block):
            return 0
        return _OVERHEAD + 8 * len(block) + sum(len(part) + _OVERHEAD for part in block if self._is_first(part))

    def _release_block(self, block: Block) -> int:
        """The bytes that need not be held any more."""
        if not self._is_last(block):
            return 0
        return _OVERHEAD + 8 * len(block) + sum(len(part) + _OVERHEAD for part in block if self._is_last(part))

    def _is_first(self, thing: object) -> bool:
        count = self._holders.get(id(thing), 0)
        self._holders[id(thing)] = count + 1
        return count == 0

    def _is_last(self, thing: object) -> bool:
        count = self._holders[id(thing)] - 1
        if count:
            self._holders[id(thing)] = count
        else:
            del self._holders[id(thing)]  # its id may soon be that of something else
        return count == 0

    def make_room(self) -> None:
        """Give up the keyframes that are missed least until the rest fits."""
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
        self.store.hold(frame)
        self.frames.insert(place, frame)
        self.store.make_room()

    def _place(self, tick: int) -> int:
        return bisect_right(self.frames, tick, key=lambda frame: frame.tick)

    def at_or_before(self, tick: int) -> Keyframe | None:
        place = self._place(tick)
        return self.frames[place - 1] if place else None

    def forget_after(self, tick: int) -> None:
        """The run went another way after this tick."""
        for frame in self.frames[self._place(tick) :]:
            self.store.release(frame)
        del self.frames[self._place(tick) :]

    def fork(self, tick: int, store: KeyframeStore | None = None) -> "Track":
        """A track of another timeline that was the same up to this tick, in the same store or another one."""
        other = (self.store if store is None else store).new_track()
        other.playhead = self.playhead
        other.frames = self.frames[: self._place(tick)]
        for frame in other.frames:
            other.store.hold(frame)
        other.store.make_room()
        return other

    def close(self) -> None:
        self.forget_after(-1)
        self.store.tracks.remove(self)

    def least_loss(self) -> float:
        return min(self._losses())

    def give_up_least(self) -> None:
        losses = self._losses()
        self.store.release(self.frames.pop(losses.index(min(losses))))

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
