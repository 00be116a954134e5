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

The state of an agent of the user's comes behind the rest of its world in the stream, stored and loaded under the guard
of that agent: a failure is a StateError, and the store then has no keyframe (KeyframeStore.begin, load). A run goes on
without: seeking to a tick takes longer.
"""

import copyreg
import io
import marshal
import mmap
import pickle
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from sim import commands
from sim.agent_api import AgentSpec, Specs
from sim.grid import Grid, sealed
from sim.kernels import stale
from sim.kernels.jit import bare
from sim.kernels.pace import hurried, new_pace
from sim.params import Param
from sim.prepared import Prepared
from sim.rules import AgentFailedError, AgentTooSlowError, UserAgent
from sim.time.failures import StateError, StateFailures, find_part
from sim.time.memories import Bytes, Memories, TouchedPages
from sim.time.pool import Content, Pool
from sim.world import World

T = TypeVar("T")

LEAST_BUDGET = 190_000_000
"""Bytes for keyframes where nobody has said how many; a world that takes more itself may have as much again."""

MOST_BUDGET = 1_000_000_000
"""What they get at most where nobody has said how many."""

_SPARE = 64 * 1024 * 1024  # room in a pool above its budget: a keyframe is set aside before others go for it
_SMALL = 64 * 1024  # bytes of a memory that is copied at once, rather than read in another thread

_KEPT_TYPES = (
    type,
    FunctionType,
    ModuleType,
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
    codes: frozenset[str] = frozenset()  # names of the user's code that runs in this world

    @property
    def own_bytes(self) -> int:
        """What it takes beside what lies in the pool."""
        return len(self.stream) + len(self.arrays) + 8 * len(self.kept) + self.content.own_bytes + 300


# --- setting aside --------------------------------------------------------------------------------


class Taking:
    """A world that is being set aside. It has to stay as it is until `read` has come to its end.

    Raises a StateError where an agent of the user's holds what cannot be stored, such as a generator.
    """

    def __init__(self, world: World, work: float = 0.0) -> None:
        self.tick, self.work, self._codes = world.tick, work, codes_of(world)
        file = io.BytesIO()
        pickler = _Pickler(file)
        with _Blaming(self._codes, is_loading=False) as blaming:
            pickler.dump(world)
            pickler.dump(pickler.user_agents)
            for agent in pickler.user_agents:
                blaming.run(agent, partial(pickler.dump, agent.agent))
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
        if content is None:
            return None
        return Keyframe(self.tick, self.work, self._stream, self._arrays, self._kept, content, self._codes)


def take(world: World, work: float = 0.0, like: Keyframe | None = None) -> Keyframe:
    """Set the world aside by itself, in the pool of `like` or one of its own."""
    taking = Taking(world, work)
    pool = like.content.pool if like else Pool(taking.size + _SPARE)
    frame = taking.read(pool, like) or taking.read(Pool(taking.size + _SPARE))
    assert frame is not None
    return frame


def codes_of(world: World) -> frozenset[str]:
    """Return the names of the user's code that runs in a world."""
    own = [walker for walker in world.walkers if walker.spec.is_own]
    return frozenset(w.agent.code if isinstance(w.agent, UserAgent) else w.spec.key for w in own)


class _Blaming:
    """Makes a StateError of a failure to store or to load, where code of the user's can be to blame for it."""

    def __init__(self, codes: frozenset[str], *, is_loading: bool) -> None:
        self.codes, self.is_loading = codes, is_loading

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self.codes and isinstance(error, Exception) and not isinstance(error, StateError):
            # An agent that was stopped leaves its last view in the world.
            raise StateError(min(self.codes), "something in its last view", is_loading=self.is_loading) from None

    def run(self, agent: UserAgent, do: Callable[[], T]) -> T:
        """Run code of the user's under the guard of its agent."""
        try:
            return agent.run_user_code(do)
        except AgentFailedError as error:
            is_final = isinstance(error, AgentTooSlowError)
            raise StateError(agent.code, str(error), is_loading=self.is_loading, is_final=is_final) from None


_IS_KEPT, _IS_ARRAY = 0, 1
"""What the stream refers to by number: an object that is kept as it is, or an array."""


class _Pickler(pickle.Pickler):
    """Pickles a world, leaving out its arrays and everything that never changes.

    Arrays are half of what there is to tell, and made up of numbers that each would be asked about: they are told of
    apart, in rows of plain values.
    """

    _PROTOCOL = 5

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=self._PROTOCOL)
        self.kept: list[Any] = []
        self.memories: list[Bytes] = []
        self.array_rows: list[tuple[Any, ...]] = []
        """Of each array: which memory it looks into (None: it is empty), which of the objects kept its type is, shape
        and strides, the offset of its first byte, whether it is a record array, how it may be written to."""
        self.user_agents: list[UserAgent] = []
        """In the order in which they were met. The user's own object of each comes behind the world in the stream."""
        self.owners: list[Any] = []  # keeps the addresses valid while this goes on
        self._numbers: dict[int, int] = {}  # id of a kept object or an array -> its place in `kept` or `array_rows`
        self.places: dict[int, int] = {}  # address of a memory -> its place in `memories`

    def persistent_id(self, obj: Any) -> tuple[int, int] | None:
        """Asked for every object, thousands of them; so the answer for most is one look at their type."""
        kind: Any = type(obj)
        if not _is_kept_kind(kind):
            return None
        if kind is np.ndarray or kind is np.recarray:
            return None if obj.dtype.hasobject else (_IS_ARRAY, self._array_number(obj))
        if kind is _ByReference:
            return _IS_KEPT, self._kept_number(obj.found)
        if isinstance(obj, BuiltinFunctionType) and not isinstance(obj.__self__, ModuleType | None):
            return None  # a method of some object
        return _IS_KEPT, self._kept_number(obj)

    def reducer_override(self, obj: Any) -> Any:
        kind: Any = type(obj)
        if not _has_own_reduce(kind):
            return NotImplemented
        # One record of an array is a view into it; pickled, it would come apart from its array without a word.
        assert not isinstance(obj, np.void), f"a record {obj} cannot be set aside: hold its array instead"
        if isinstance(obj, UserAgent):
            self.user_agents.append(obj)
            return _bare_user_agent, (kind,), {name: value for name, value in vars(obj).items() if name != "agent"}
        reduce = copyreg.dispatch_table.get(kind)
        reduced = reduce(obj) if reduce is not None else obj.__reduce_ex__(self._PROTOCOL)
        if isinstance(reduced, str):  # it has a name, and pickle would look it up when loading
            return _found, (_ByReference(obj),)
        return _reduced_error(obj, reduced) if isinstance(obj, BaseException) else reduced

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
        dtype, flags = self._kept_number(array.dtype), (isinstance(array, np.recarray), _access_to(array))
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
            self.memories.append(_bytes_of(owner))
        return number


@cache
def _is_kept_kind(kind: Any) -> bool:
    """Whether objects of this type may not go into the stream as they are."""
    return kind in (np.ndarray, np.recarray, _ByReference) or issubclass(kind, (BuiltinFunctionType, *_KEPT_TYPES))


@cache
def _has_own_reduce(kind: Any) -> bool:
    """Whether this type says itself how its objects are pickled, or may not be pickled as others are."""
    is_usual = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
    return not is_usual or kind in copyreg.dispatch_table or issubclass(kind, UserAgent)


class _ByReference:
    """Stands in a stream for an object that is kept as it is, though its type does not say so."""

    def __init__(self, found: Any) -> None:
        self.found = found


def _found(obj: Any) -> Any:
    return obj


def _bare_user_agent(kind: type[UserAgent]) -> UserAgent:
    agent = kind.__new__(kind)
    agent.agent = None  # loaded last
    return agent


def _reduced_error(error: BaseException, reduced: Any) -> Any:
    """Return how to store an exception. Pickle's own way would call the `__init__` of its class with `args`, which are
    the arguments of the `__init__` of a built-in class.
    """
    base = _built_in(type(error))
    if not isinstance(reduced, tuple) or type(error).__reduce__ is not base.__reduce__:
        return reduced
    return _new_error, (base, *reduced[:2]), *reduced[2:]


def _built_in(kind: type[BaseException]) -> type[BaseException]:
    return next(each for each in kind.__mro__ if each.__module__ == "builtins")


def _new_error(base: type[BaseException], kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    error = base.__new__(kind, *args)
    base.__init__(error, *args)
    return error


def _owner_of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array whose memory this one looks into; itself, mostly."""
    while isinstance(base := _base_of(array), np.ndarray):
        array = base
    return array


def _base_of(array: npt.NDArray[Any]) -> Any:
    """What an array is a view of, also through the memoryview by which it was sealed (sim/grid.py)."""
    base = array.base
    return base.obj if isinstance(base, memoryview) else base


def _bytes_of(owner: npt.NDArray[Any]) -> Bytes:
    try:
        return np.ndarray((owner.nbytes,), np.uint8, buffer=owner.data)
    except ValueError:  # a type that Python has no letter for, such as dates
        return owner.ravel("K").view(np.uint8)


_WRITEABLE, _LOCKED, _SEALED = 0, 1, 2
"""How an array may be written to; only after its flag was set again; never."""


def _access_to(array: npt.NDArray[Any]) -> int:
    if array.flags.writeable:
        return _WRITEABLE
    root: Any = array
    while isinstance(root, np.ndarray):
        root = root.base
    with suppress(TypeError):  # nothing that lends its memory
        return _SEALED if memoryview(root).readonly else _LOCKED
    return _LOCKED


def _array(
    memory: Bytes | None,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    offset: int,
    is_records: bool,
    access: int,
) -> npt.NDArray[Any]:
    """An array as it was, in its restored memory."""
    array: npt.NDArray[Any]
    array = np.empty(shape, dtype) if memory is None else np.ndarray(shape, dtype, memory, offset, strides)
    array = sealed(array) if access == _SEALED else array
    array = array.view(np.recarray) if is_records else array
    if access == _LOCKED:
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
        """Return the world. Raises a StateError where the state of an agent of the user's cannot be loaded."""
        frame = self.frame
        with _Blaming(frame.codes, is_loading=True) as blaming:
            unpickler = _Unpickler(frame.stream, marshal.loads(frame.arrays), frame.kept, self._memories)
            world, user_agents = unpickler.load(), unpickler.load()
            for agent in user_agents:
                agent.agent = blaming.run(agent, unpickler.load)
        assert isinstance(world, World), world
        return world


class _Unpickler(pickle.Unpickler):
    def __init__(
        self, stream: bytes, array_rows: list[tuple[Any, ...]], kept: Sequence[Any], memories: list[Bytes]
    ) -> None:
        super().__init__(io.BytesIO(stream))
        self._kept = kept
        self._arrays = [
            _array(None if number is None else memories[number], kept[dtype], *rest)
            for number, dtype, *rest in array_rows
        ]

    def persistent_load(self, pid: tuple[int, int]) -> Any:
        kind, number = pid
        return self._arrays[number] if kind == _IS_ARRAY else self._kept[number]

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Nothing is looked up by name: whatever has a name is kept by reference."""
        raise pickle.UnpicklingError(f"{module_name}.{global_name} in a keyframe")


# --- what of an agent cannot be stored or loaded --------------------------------------------------


def part_not_stored(agent: UserAgent) -> str:
    """Return the part of an agent's state that cannot be stored or loaded, such as `self.lock`; nothing if all can."""
    try:
        return agent.run_user_code(partial(find_part, agent.agent, _fails))
    except AgentFailedError:
        return "self"


class _TrialPickler(_Pickler):
    """Keeps some objects by reference, and maps: they can be stored."""

    def __init__(self, file: io.BytesIO, left_out: list[object]) -> None:
        super().__init__(file)
        self._left_out = {id(each) for each in left_out}

    def persistent_id(self, obj: Any) -> tuple[int, int] | None:
        if id(obj) in self._left_out or isinstance(obj, Grid):
            return _IS_KEPT, self._kept_number(obj)
        return super().persistent_id(obj)


def _fails(values: list[object], left_out: list[object]) -> bool:
    file = io.BytesIO()
    pickler = _TrialPickler(file, left_out)
    try:
        pickler.dump(values)
        memories = [memory.copy() for memory in pickler.memories]
        _Unpickler(file.getvalue(), pickler.array_rows, pickler.kept, memories).load()
    except (Exception, SystemExit):
        return True
    return False


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
        self.failures = StateFailures()
        self._failed_loads = 0  # since the last one that succeeded

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

    def begin(self, world: World, work: float) -> Taking | None:
        """Set a world aside, to be read; None where the state of an agent of the user's cannot be stored.

        Without a keyframe a seek only takes longer.
        """
        codes = codes_of(world)
        if not self.failures.may_store(codes):
            return None
        try:
            taking = Taking(world, work)
        except StateError as error:
            self.failures.note(error, partial(_part_of, world, error))
            return None
        self.failures.note_stored(codes)
        return taking

    def load(self, restoring: Restoring) -> World | None:
        """Return the world of a keyframe; None where the state of an agent of the user's cannot be loaded.

        The keyframe is given up then. Each further failure in a row gives up twice as many keyframes before it, which
        are probably no better, so that few are tried.
        """
        try:
            world = restoring.result()
        except StateError as error:
            self.failures.note(error, lambda: "")
            for track in self.tracks:
                track.give_up_before(restoring.frame, 2**self._failed_loads)
            self._failed_loads += 1
            return None
        self._failed_loads = 0
        return world

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


def _part_of(world: World, error: StateError) -> str:
    """Return the part of an agent's state that could not be stored."""
    if error.is_final:
        return ""  # it would take as long again
    agents = [walker.agent for walker in world.walkers if isinstance(walker.agent, UserAgent)]
    return next((part for agent in agents if agent.code == error.code and (part := part_not_stored(agent))), "")


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

    def give_up_before(self, frame: Keyframe, count: int) -> None:
        """Give up a keyframe, if it is one of these, and others before it, `count` in all."""
        if frame in self.frames:
            end = self.frames.index(frame) + 1
            del self.frames[max(0, end - count) : end]

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
