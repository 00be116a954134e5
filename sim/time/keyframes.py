"""Keyframes: incremental in-memory copies of a whole World.

A new keyframe shares unchanged memory with an earlier one, so it only takes room for the memory that has changed since.
`replay_work_us` is the estimated computing time of a run from tick 0 on, in microseconds (work_estimates.py).

    frame = take_keyframe(world, work, like)    save a world; `like` is a recent keyframe as the base of the delta
    world = restore_world(frame)                build an equal world with memory of its own
    restoring = PendingRestore(frame)           restore in slices: restoring.copy_slice(bytes) until it returns True

    taking = PendingKeyframe(world, work)     save a world in two steps: first, quickly, the objects and small arrays,
    frame = taking.copy_arrays(pool, like)    then the large arrays, in any thread, while the world must not change

    store = KeyframeStore(budget)    the keyframes of all timelines, within `budget_bytes` bytes
    track = store.new_track()        the keyframes of one timeline, ordered by tick
    track.add(frame), .keyframe_at_or_before(tick), .remove_keyframes_after(tick), .fork(tick), .close()

The object graph of a world is small and goes through pickle; its arrays are large and do not. The memory of the arrays
is divided into chunks of fixed size, called parts; a part that is equal in successive keyframes is stored once
(pool.py). Example: four agents on a 512 x 512 map have 84 MB of arrays, of which 16 MB have been touched after 300
ticks, and 6 MB change in the next 150 ticks.

Arrays that share memory (such as the moves of the grid, which every agent holds) share it again after a restore.

Keyframes are never written to a file, because loading a pickle can run code, and files of this program contain only
data. Immutable objects (classes, functions, commands, specs) are kept by reference, so a restore looks up no names and
imports nothing.

The state of a user-defined agent follows the rest of its world in the stream. It is stored and loaded under the guard
of that agent, so a failure becomes a StateError and there is no keyframe (see KeyframeStore). The run continues
without it, but seeks take longer.
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

from sim import world_commands
from sim.agent_api import AgentSpec, AgentSpecTable
from sim.grid import Grid, read_only_view
from sim.jit.decorators import as_plain_arrays
from sim.jit.yield_flag import never_yield_flag, new_yield_flag
from sim.kernels import stale
from sim.params import Param
from sim.prepared_data import PreparedData
from sim.referee_rules import AgentFailedError, AgentTooSlowError, UserAgent
from sim.time.memory_buffers import BufferSet, Bytes, TouchedPages
from sim.time.part_pool import PartPool, StoredBuffers
from sim.time.state_failures import StateError, StateFailures, find_failing_part
from sim.world import World

T = TypeVar("T")

MIN_STORE_BYTES = 190_000_000
"""Lower bound of the default budget for keyframes, in bytes. The default is the size of the world's arrays."""

MAX_STORE_BYTES = 1_000_000_000
"""Upper bound of the default budget for keyframes, in bytes."""

# Bytes by which a pool exceeds the budget for keyframes, because new keyframes are saved before old ones are evicted.
_SPARE_POOL_BYTES = 64 * 1024 * 1024
# Array buffers of fewer bytes than this are copied when a keyframe is begun.
# Larger buffers are copied afterwards, possibly in another thread.
_SMALL_BUFFER_BYTES = 64 * 1024

_BY_REFERENCE_TYPES = (
    type,
    FunctionType,
    ModuleType,
    np.dtype,
    AgentSpec,
    AgentSpecTable,
    Param,
    PreparedData,
    world_commands.RunMessage,
    world_commands.AgentConfig,
    world_commands.Command,
)


@dataclass(frozen=True, eq=False)
class Keyframe:
    """Immutable copy of a world at one tick. Several timelines may share a keyframe."""

    tick: int
    replay_work_us: float  # estimated computing time from tick 0 to `tick`, in microseconds
    pickled_world: bytes  # pickled object graph of the world, without its arrays
    array_headers: bytes  # marshalled dtype, shape, ... of each array, see _Pickler.array_headers
    kept_objects: tuple[Any, ...]  # immutable objects, which are not pickled; `pickled_world` refers to them by index
    array_contents: StoredBuffers  # memory contents of all arrays, stored in a pool
    user_codes: frozenset[str] = frozenset()  # names of the user-defined agent code in this world

    @property
    def bytes_outside_pool(self) -> int:
        """Return the size of this keyframe in bytes, without the array contents, which are in the pool."""
        return (
            len(self.pickled_world)
            + len(self.array_headers)
            + 8 * len(self.kept_objects)
            + self.array_contents.bytes_outside_pool
            + 300
        )


# --- saving ---------------------------------------------------------------------------------------


def generation_tables_of_world(world: World) -> Iterator[stale.StampedTable]:
    """Yield tables with records of finished searches, so that keyframes can leave such records out.

    Tables of group members are not included, because they are many and small.
    """
    yield world.optimality_tracker.true_distances.generation_table()
    for walker in world.walkers:
        if not walker.config.group:
            yield from walker.agent.generation_tables()


class PendingKeyframe:
    """Keyframe in progress: the constructor saves objects and small arrays, `copy_arrays` saves the large arrays.

    The world must not change until `copy_arrays` has returned.

    Raises:
        StateError: The state of a user-defined agent cannot be stored; it holds a generator, for example.
    """

    def __init__(self, world: World, work: float = 0.0) -> None:
        self.tick, self.replay_work_us, self._user_codes = world.tick, work, user_code_names(world)
        file = io.BytesIO()
        pickler = _Pickler(file)
        with _StateErrorGuard(self._user_codes, is_loading=False) as blaming:
            pickler.dump(world)
            pickler.dump(pickler.user_agents)
            for agent in pickler.user_agents:
                blaming.run_user_code(agent, partial(pickler.dump, agent.agent))
        self._pickled_world, self._kept_objects = file.getvalue(), tuple(pickler.kept_objects)
        self._array_headers = marshal.dumps(pickler.array_headers)
        self._array_owners = pickler.array_owners
        self._stale_segments = stale.stamped_table_rows(generation_tables_of_world(world), _SMALL_BUFFER_BYTES)
        # Copy small buffers now, because displaying the world may change cached values in them.
        self._buffer_set = BufferSet(pickler.memory_buffers, _SMALL_BUFFER_BYTES, tuple(pickler.buffer_indices))
        self.size = self._buffer_set.size
        # The kernel that copies arrays does not yield to other threads, unless finish_keyframe_in_background() lets it
        # yield.
        self.yield_flag = never_yield_flag()

    def copy_arrays(self, pool: PartPool, base: Keyframe | None = None) -> Keyframe | None:
        """Copy the large arrays of the world into the pool and return the finished keyframe.

        Data left by earlier searches are first overwritten with zeros in the world (sim/kernels/stale.py). No kernel
        reads these data again, and the pool stores zeros without taking memory.

        Args:
            pool: pool that stores the contents of the arrays.
            base: earlier keyframe; memory equal to its memory is not stored again.

        Returns:
            The keyframe; None if the pool has no room for it.
        """
        touched = TouchedPages(self._buffer_set)
        self._stale_segments["page"] = touched.first_page_entry_indices(
            self._stale_segments["address"], self._stale_segments["length"]
        )
        stale.clear_stale_records_of_rows(
            as_plain_arrays(self._stale_segments), touched.entries, mmap.PAGESIZE, self.yield_flag
        )
        content = pool.store_buffers(self._buffer_set, base.array_contents if base else None, touched, self.yield_flag)
        if content is None:
            return None
        return Keyframe(
            self.tick,
            self.replay_work_us,
            self._pickled_world,
            self._array_headers,
            self._kept_objects,
            content,
            self._user_codes,
        )


def take_keyframe(world: World, work: float = 0.0, base: Keyframe | None = None) -> Keyframe:
    """Return a new keyframe of the world, which is not added to any KeyframeStore.

    Its array contents are stored in the pool of the keyframe `base`. A new pool is created if there is no `base` or its
    pool is full.
    """
    pending = PendingKeyframe(world, work)
    pool = base.array_contents.part_pool if base else PartPool(pending.size + _SPARE_POOL_BYTES)
    frame = pending.copy_arrays(pool, base) or pending.copy_arrays(PartPool(pending.size + _SPARE_POOL_BYTES))
    assert frame is not None
    return frame


def user_code_names(world: World) -> frozenset[str]:
    """Return the names of the user-defined agent code in a world."""
    own = [walker for walker in world.walkers if walker.spec.is_own]
    return frozenset(w.agent.user_code_label if isinstance(w.agent, UserAgent) else w.spec.key for w in own)


class _StateErrorGuard:
    """Context manager that turns an exception from saving or loading a world into a StateError.

    `user_codes` are the names of the user-defined agent code in the world. If `user_codes` is empty, exceptions pass
    unchanged, because user code cannot be the cause.
    """

    def __init__(self, codes: frozenset[str], *, is_loading: bool) -> None:
        self.user_codes, self.is_loading = codes, is_loading

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self.user_codes and isinstance(error, Exception) and not isinstance(error, StateError):
            # Probable cause: the last view (displayed data) of a stopped user-defined agent, which stays in the world.
            raise StateError(min(self.user_codes), "a value in its last view", is_loading=self.is_loading) from None

    def run_user_code(self, agent: UserAgent, do: Callable[[], T]) -> T:
        """Run code of a user-defined agent with a time limit, and raise a StateError if it fails."""
        try:
            return agent.run_user_code(do)
        except AgentFailedError as error:
            is_final = isinstance(error, AgentTooSlowError)
            raise StateError(agent.user_code_label, str(error), is_loading=self.is_loading, is_final=is_final) from None


_KEPT_REFERENCE, _ARRAY_REFERENCE = 0, 1
"""Kinds of references in the stream: to one of the kept objects, or to one of the arrays, each given by its index."""


class _Pickler(pickle.Pickler):
    """Pickler of a world. It collects arrays and immutable objects in lists, and pickles only their list indices.

    The headers of arrays (dtype, shape, ...) are about half of all data. They are collected as tuples of plain values
    and serialised separately, because pickle would call `persistent_id` for every number in them.
    """

    _PROTOCOL = 5

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=self._PROTOCOL)
        self.kept_objects: list[Any] = []
        self.memory_buffers: list[Bytes] = []
        self.array_headers: list[tuple[Any, ...]] = []
        """Header of each array: index of its buffer in `memory_buffers` (None: the array is empty), index of its dtype
        in `kept_objects`, shape, strides, byte offset in the buffer, whether it is a record array, and its access
        mode."""
        self.user_agents: list[UserAgent] = []
        """User-defined agents in the order in which the pickler met them. The instances of the users' classes are
        written to the stream after the world, in this order."""
        self.array_owners: list[Any] = []  # keeps arrays alive, so that no new object gets their id() or address
        # id() of an object or array -> its index in `kept_objects` or `array_headers`.
        self._object_indices: dict[int, int] = {}
        self.buffer_indices: dict[int, int] = {}  # address of a buffer -> its index in `memory_buffers`

    def persistent_id(self, obj: Any) -> tuple[int, int] | None:
        """Return the reference to pickle in place of an array or immutable object; None to pickle the object itself.

        Pickle calls this method for thousands of objects, so most calls return after a cached test of the type.
        """
        kind: Any = type(obj)
        if not _is_kept_by_reference(kind):
            return None
        if kind is np.ndarray or kind is np.recarray:
            return None if obj.dtype.hasobject else (_ARRAY_REFERENCE, self._index_of_array(obj))
        if kind is _ByReference:
            return _KEPT_REFERENCE, self._index_of_kept_object(obj.found)
        if isinstance(obj, BuiltinFunctionType) and not isinstance(obj.__self__, ModuleType | None):
            return None  # pickle a bound method such as `path.append`, because its object may change
        return _KEPT_REFERENCE, self._index_of_kept_object(obj)

    def reducer_override(self, obj: Any) -> Any:
        kind: Any = type(obj)
        if not _has_custom_pickling(kind):
            return NotImplemented
        # A single record (np.void) is a view into an array; pickling would silently turn it into a separate copy.
        assert not isinstance(obj, np.void), f"a record {obj} cannot be stored in a keyframe: keep its array instead"
        if isinstance(obj, UserAgent):
            self.user_agents.append(obj)
            return _empty_user_agent, (kind,), {name: value for name, value in vars(obj).items() if name != "agent"}
        # Libraries (such as tblib, used by Dask) register reducers for exceptions that `_reduce_exception` cannot use.
        reduce = None if isinstance(obj, BaseException) else copyreg.dispatch_table.get(kind)
        reduced = reduce(obj) if reduce is not None else obj.__reduce_ex__(self._PROTOCOL)
        if isinstance(reduced, str):  # a global name, which loading must not look up: keep the object
            return _return_kept_object, (_ByReference(obj),)
        return _reduce_exception(obj, reduced) if isinstance(obj, BaseException) else reduced

    def _index_of_kept_object(self, obj: Any) -> int:
        number = self._object_indices.get(id(obj))
        if number is None:
            number = self._object_indices[id(obj)] = len(self.kept_objects)
            self.kept_objects.append(obj)
        return number

    def _index_of_array(self, array: npt.NDArray[Any]) -> int:
        number = self._object_indices.get(id(array))
        if number is None:
            number = self._object_indices[id(array)] = len(self.array_headers)
            self.array_owners.append(array)
            self.array_headers.append(self._array_header(array))
        return number

    def _array_header(self, array: npt.NDArray[Any]) -> tuple[Any, ...]:
        """Return the header of an array for `array_headers`; add the memory buffer of the array to `memory_buffers`."""
        dtype, flags = (
            self._index_of_kept_object(array.dtype),
            (isinstance(array, np.recarray), _array_access_mode(array)),
        )
        if not array.size:  # an empty array has no memory to save
            return (None, dtype, array.shape, None, 0, *flags)
        owner = _memory_owner(array)
        address = owner.ctypes.data
        offset = 0 if owner is array else array.ctypes.data - address
        return (self._index_of_buffer(owner, address), dtype, array.shape, array.strides, offset, *flags)

    def _index_of_buffer(self, owner: npt.NDArray[Any], address: int) -> int:
        number = self.buffer_indices.get(address)
        if number is None:
            assert owner.flags.forc, "an array whose memory has gaps cannot be stored in a keyframe"
            number = self.buffer_indices[address] = len(self.memory_buffers)
            self.array_owners.append(owner)
            self.memory_buffers.append(_as_byte_array(owner))
        return number


@cache
def _is_kept_by_reference(kind: Any) -> bool:
    """Return whether the pickler may replace objects of this type by references."""
    return kind in (np.ndarray, np.recarray, _ByReference) or issubclass(
        kind, (BuiltinFunctionType, *_BY_REFERENCE_TYPES)
    )


@cache
def _has_custom_pickling(kind: Any) -> bool:
    """Return whether `reducer_override` must handle this type, because it customises pickling or is a UserAgent."""
    is_usual = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
    return not is_usual or kind in copyreg.dispatch_table or issubclass(kind, UserAgent)


class _ByReference:
    """Wrapper that makes the pickler keep an object by reference although its type is not in _BY_REFERENCE_TYPES."""

    def __init__(self, found: Any) -> None:
        self.found = found


def _return_kept_object(obj: Any) -> Any:
    return obj


def _empty_user_agent(kind: type[UserAgent]) -> UserAgent:
    agent = kind.__new__(kind)
    agent.agent = None  # PendingRestore sets it later, because the user's own object comes last in the stream
    return agent


def _reduce_exception(error: BaseException, reduced: Any) -> Any:
    """Return a reduce tuple (see pickle) that restores an exception without calling `__init__` of its class.

    Pickle would pass `error.args` to `__init__`, which fails if a subclass expects other arguments than its built-in
    base class.
    """
    base = _built_in_base(type(error))
    if not isinstance(reduced, tuple) or type(error).__reduce__ is not base.__reduce__:
        return reduced
    return _new_exception, (base, *reduced[:2]), *reduced[2:]


def _built_in_base(kind: type[BaseException]) -> type[BaseException]:
    return next(each for each in kind.__mro__ if each.__module__ == "builtins")


def _new_exception(base: type[BaseException], kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    error = base.__new__(kind, *args)
    base.__init__(error, *args)
    return error


def _memory_owner(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array that owns the memory of `array`: `array` itself, unless it is a view."""
    while isinstance(base := _array_base(array), np.ndarray):
        array = base
    return array


def _array_base(array: npt.NDArray[Any]) -> Any:
    """Return the object whose memory an array uses; None if the array owns its memory.

    A sealed (permanently read-only) array has a memoryview as its base. Return the object behind this memoryview.
    """
    base = array.base
    return base.obj if isinstance(base, memoryview) else base


def _as_byte_array(owner: npt.NDArray[Any]) -> Bytes:
    try:
        return np.ndarray((owner.nbytes,), np.uint8, buffer=owner.data)
    except ValueError:  # dtypes such as datetime64 cannot be exported as a buffer
        return owner.ravel("K").view(np.uint8)


_WRITEABLE, _LOCKED, _SEALED = 0, 1, 2
"""Access modes of an array: writeable; read-only, but the `writeable` flag can be set again; permanently read-only."""


def _array_access_mode(array: npt.NDArray[Any]) -> int:
    if array.flags.writeable:
        return _WRITEABLE
    root: Any = array
    while isinstance(root, np.ndarray):
        root = root.base
    with suppress(TypeError):  # raised if the root object has no buffer interface
        return _SEALED if memoryview(root).readonly else _LOCKED
    return _LOCKED


def _restored_array(
    memory: Bytes | None,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    offset: int,
    is_records: bool,
    access: int,
) -> npt.NDArray[Any]:
    """Return an array that uses a restored buffer; the other arguments are its header (_Pickler.array_headers)."""
    array: npt.NDArray[Any]
    array = np.empty(shape, dtype) if memory is None else np.ndarray(shape, dtype, memory, offset, strides)
    array = read_only_view(array) if access == _SEALED else array
    array = array.view(np.recarray) if is_records else array
    if access == _LOCKED:
        array.flags.writeable = False
    return array


# --- restoring ------------------------------------------------------------------------------------


def restore_world(frame: Keyframe) -> World:
    """Return a new world equal to the world saved in a keyframe."""
    restoring = PendingRestore(frame)
    restoring.copy_slice()
    return restoring.result()


class PendingRestore:
    """Restore of a keyframe in time slices, so that a window stays responsive while a large world is restored."""

    def __init__(self, frame: Keyframe) -> None:
        self.keyframe = frame
        self._restored_buffers: list[Bytes] = []
        # Iterator that copies one slice of memory per step and yields its size in bytes; None: copying has not started.
        self._copy_progress: Iterator[int] | None = None

    def copy_slice(self, max_bytes: int = 1 << 62) -> bool:
        """Copy about `max_bytes` more bytes of the keyframe; return whether the whole keyframe is copied."""
        if self._copy_progress is None:
            # A seek takes 9 ms with memory from np.zeros, and 25 ms with memory from kernels.memory.untouched_zeros.
            # untouched_zeros is slower because it maps memory in pages of 4 KB, and each page costs a page fault.
            self._restored_buffers = [np.zeros(size, np.uint8) for size in self.keyframe.array_contents.buffer_sizes]
            self._copy_progress = self.keyframe.array_contents.copy_into(self._restored_buffers)
        copied = 0
        for length in self._copy_progress:
            copied += length
            if copied >= max_bytes:
                return False
        return True

    def result(self) -> World:
        """Return the restored world; call this after `copy_slice` has returned True.

        Raises:
            StateError: The state of a user-defined agent cannot be loaded.
        """
        frame = self.keyframe
        with _StateErrorGuard(frame.user_codes, is_loading=True) as blaming:
            unpickler = _Unpickler(
                frame.pickled_world, marshal.loads(frame.array_headers), frame.kept_objects, self._restored_buffers
            )
            world, user_agents = unpickler.load(), unpickler.load()
            for agent in user_agents:
                agent.agent = blaming.run_user_code(agent, unpickler.load)
        assert isinstance(world, World), world
        return world


class _Unpickler(pickle.Unpickler):
    def __init__(
        self, stream: bytes, array_rows: list[tuple[Any, ...]], kept_objects: Sequence[Any], memories: list[Bytes]
    ) -> None:
        super().__init__(io.BytesIO(stream))
        self._kept_objects = kept_objects
        self._restored_arrays = [
            _restored_array(None if number is None else memories[number], kept_objects[dtype], *layout)
            for number, dtype, *layout in array_rows
        ]

    def persistent_load(self, pid: tuple[int, int]) -> Any:
        kind, number = pid
        return self._restored_arrays[number] if kind == _ARRAY_REFERENCE else self._kept_objects[number]

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Refuse to look up a global name, because all objects with global names are kept by reference."""
        raise pickle.UnpicklingError(f"{module_name}.{global_name} in a keyframe")


# --- finding the part of an agent that cannot be stored or loaded ---------------------------------


def unstorable_part(agent: UserAgent) -> str:
    """Return the part of an agent's state that cannot be stored or loaded, such as `self.lock`; "" if there is none."""
    try:
        return agent.run_user_code(partial(find_failing_part, agent.agent, _are_values_unstorable))
    except AgentFailedError:
        return "self"


class _TrialPickler(_Pickler):
    """Pickler for testing whether values can be stored. Grids and the objects in `left_out` are not tested."""

    def __init__(self, file: io.BytesIO, left_out: list[object]) -> None:
        super().__init__(file)
        self._left_out_ids = {id(each) for each in left_out}

    def persistent_id(self, obj: Any) -> tuple[int, int] | None:
        if id(obj) in self._left_out_ids or isinstance(obj, Grid):
            return _KEPT_REFERENCE, self._index_of_kept_object(obj)
        return super().persistent_id(obj)


def _are_values_unstorable(values: list[object], left_out: list[object]) -> bool:
    """Return True if storing the values, or loading them again, fails. Objects in `left_out` are not tested."""
    file = io.BytesIO()
    pickler = _TrialPickler(file, left_out)
    try:
        pickler.dump(values)
        memories = [memory.copy() for memory in pickler.memory_buffers]
        _Unpickler(file.getvalue(), pickler.array_headers, pickler.kept_objects, memories).load()
    except (Exception, SystemExit):
        return True
    return False


# --- stores and tracks ----------------------------------------------------------------------------


class KeyframeStore:
    """Store of the keyframes of several timelines. It evicts keyframes to stay within a budget in bytes.

    Memory that several keyframes share counts once. The default budget is the size of the world, but at least
    MIN_STORE_BYTES and at most MAX_STORE_BYTES. A window sets `background_executor` to an executor with one thread, so
    that keyframes can be saved in the background.
    """

    def __init__(self, budget: int | None = None, max_keyframes: int = 4096) -> None:
        self.max_keyframes = max_keyframes
        self.keyframe_tracks: list[KeyframeTrack] = []
        self._requested_budget = budget  # budget set by the caller, in bytes; None: the default budget
        self._budget_cap = sys.maxsize  # upper bound of the budget, in bytes: lowered when the system refuses memory
        self._world_size = 0  # size of all arrays of the largest world so far, in bytes
        self._part_pool: PartPool | None = None
        self.background_executor: Executor | None = None
        self._background_read: Future[Keyframe | None] | None = None  # keyframe that the background thread is saving
        # Flag that decides whether the background thread yields to other threads (sim/jit/yield_flag.py).
        self._background_yield_flag = new_yield_flag()
        self.state_failures = StateFailures()
        self._failed_loads = 0  # number of keyframes in a row that could not be loaded

    @property
    def budget_bytes(self) -> int:
        """Return the maximum number of bytes that the keyframes may take."""
        usual = max(MIN_STORE_BYTES, min(MAX_STORE_BYTES, self._world_size))
        return min(usual if self._requested_budget is None else self._requested_budget, self._budget_cap)

    @budget_bytes.setter
    def budget_bytes(self, budget: int | None) -> None:
        self._requested_budget, self._budget_cap = budget, sys.maxsize
        self.evict_to_budget()

    @property
    def used_bytes(self) -> int:
        """Return the number of bytes that all keyframes of the store take together."""
        frames = {id(frame): frame for track in self.keyframe_tracks for frame in track.track_keyframes}
        pools = {id(frame.array_contents.part_pool): frame.array_contents.part_pool for frame in frames.values()}
        return sum(frame.bytes_outside_pool for frame in frames.values()) + sum(
            pool.used_bytes for pool in pools.values()
        )

    @property
    def keyframe_count(self) -> int:
        """Return the number of keyframes on all tracks; a keyframe shared by two tracks counts twice."""
        return sum(len(track.track_keyframes) for track in self.keyframe_tracks)

    def new_track(self) -> "KeyframeTrack":
        track = KeyframeTrack(self)
        self.keyframe_tracks.append(track)
        return track

    def begin_keyframe(self, world: World, work: float) -> PendingKeyframe | None:
        """Start to save a keyframe of a world. Call `finish_keyframe` or `finish_keyframe_in_background` to finish it.

        Returns:
            The keyframe in progress; None if the state of a user-defined agent cannot be stored. The run can continue
            without a keyframe, but seeks take longer.
        """
        codes = user_code_names(world)
        if not self.state_failures.may_store_keyframe(codes):
            return None
        try:
            pending = PendingKeyframe(world, work)
        except StateError as error:
            self.state_failures.record_failure(error, partial(_find_unstorable_part, world, error))
            return None
        self.state_failures.clear_failures(codes)
        return pending

    def load_world(self, restoring: PendingRestore) -> World | None:
        """Return the world of a keyframe; None if the state of a user-defined agent cannot be loaded.

        A keyframe that cannot be loaded is removed. Keyframes before it would probably fail too, so the second failure
        in a row also removes the keyframe before the failed one, the third failure the three before it, and so on.
        """
        try:
            world = restoring.result()
        except StateError as error:
            self.state_failures.record_failure(error, lambda: "")
            for track in self.keyframe_tracks:
                track.remove_keyframes_up_to(restoring.keyframe, 2**self._failed_loads)
            self._failed_loads += 1
            return None
        self._failed_loads = 0
        return world

    def finish_keyframe(self, pending: PendingKeyframe, base: Keyframe | None = None) -> Keyframe | None:
        """Finish a keyframe and return it; None if this keyframe alone exceeds the budget."""
        self._wait_for_background_read()
        return self._finish_keyframe(pending, base)

    def finish_keyframe_in_background(
        self, pending: PendingKeyframe, base: Keyframe | None = None
    ) -> "Future[Keyframe | None]":
        """Finish a keyframe in the background thread; the world must not change until the future is done."""
        assert self.background_executor is not None
        self._wait_for_background_read()
        pending.yield_flag = self._background_yield_flag = new_yield_flag()
        self._background_read = self.background_executor.submit(self._finish_keyframe, pending, base)
        return self._background_read

    def stop_yielding(self) -> None:
        """Make the background thread save without yielding to other threads; call this before waiting for it."""
        self._background_yield_flag[0] = 1

    def _wait_for_background_read(self) -> None:
        """Wait until the background thread has saved its keyframe: only one thread at a time may write to the pool."""
        if self._background_read is not None:
            self.stop_yielding()
            self._background_read.exception()
            self._background_read = None

    def _finish_keyframe(self, pending: PendingKeyframe, base: Keyframe | None) -> Keyframe | None:
        """Finish a keyframe in the calling thread. If the pool is full, use a new one."""
        self._world_size = max(self._world_size, pending.size)
        if pending.size // 64 > self.budget_bytes:
            return None  # no keyframe can fit, because even a new world has touched more than 1/64 of its memory
        frame = pending.copy_arrays(self._current_pool(), base)
        if frame is None:  # the pool is full because the world or budget has grown: use a new pool
            self._part_pool = None
            frame = pending.copy_arrays(self._current_pool(), base)
        return frame

    def _current_pool(self) -> PartPool:
        """Return the pool for new keyframes, which is created if needed.

        While the system refuses the memory for a pool, the budget is halved.
        """
        while self._part_pool is None:
            try:
                self._part_pool = PartPool(self.budget_bytes + _SPARE_POOL_BYTES)
            except OSError:
                if self.budget_bytes < _SPARE_POOL_BYTES:
                    raise
                self._budget_cap = self.budget_bytes // 2
        return self._part_pool

    def import_keyframe(self, frame: Keyframe) -> Keyframe | None:
        """Copy a keyframe of another store into this store and return the copy; None if the pool is full."""
        memories = [np.zeros(size, np.uint8) for size in frame.array_contents.buffer_sizes]
        for _ in frame.array_contents.copy_into(memories):
            pass
        content = self._current_pool().store_buffers(BufferSet(memories))
        return replace(frame, array_contents=content) if content else None

    def evict_to_budget(self) -> None:
        """Evict the least useful keyframes until the others fit into the budget."""
        self._wait_for_background_read()
        while self.keyframe_count and (self.used_bytes > self.budget_bytes or self.keyframe_count > self.max_keyframes):
            chosen = min(
                (track for track in self.keyframe_tracks if track.track_keyframes),
                key=KeyframeTrack.lowest_eviction_score,
            )
            chosen.evict_keyframe()


def _find_unstorable_part(world: World, error: StateError) -> str:
    """Return the part of an agent's state that could not be stored, such as `self.lock`; "" if it is unknown."""
    if error.is_final:
        return ""  # storing took too long, and the search for the part would take as long again
    agents = [walker.agent for walker in world.walkers if isinstance(walker.agent, UserAgent)]
    return next(
        (
            part
            for agent in agents
            if agent.user_code_label == error.user_code_name and (part := unstorable_part(agent))
        ),
        "",
    )


@dataclass(eq=False)
class KeyframeTrack:
    """Keyframes of one timeline, sorted by tick."""

    keyframe_store: KeyframeStore
    track_keyframes: list[Keyframe] = field(default_factory=list)
    playhead_work_us: float = 0.0  # estimated computing time from tick 0 to the present tick, in microseconds

    def add(self, frame: Keyframe) -> None:
        """Add a keyframe, unless the track already has one at its tick. Other keyframes of the store may be evicted."""
        index = self._keyframe_index_after(frame.tick)
        if index and self.track_keyframes[index - 1].tick == frame.tick:
            return
        self.track_keyframes.insert(index, frame)
        self.keyframe_store.evict_to_budget()

    def _keyframe_index_after(self, tick: int) -> int:
        """Return the number of keyframes at or before `tick`, the index in `track_keyframes` of a later one."""
        return bisect_right(self.track_keyframes, tick, key=lambda frame: frame.tick)

    def keyframe_at_or_before(self, tick: int) -> Keyframe | None:
        """Return the last keyframe at or before a tick; None if there is none."""
        index = self._keyframe_index_after(tick)
        return self.track_keyframes[index - 1] if index else None

    def remove_keyframes_after(self, tick: int) -> None:
        """Remove all keyframes after this tick; they are invalid once the run was edited at this tick."""
        del self.track_keyframes[self._keyframe_index_after(tick) :]

    def remove_keyframes_up_to(self, frame: Keyframe, count: int) -> None:
        """Remove `frame` and the `count - 1` keyframes before it; do nothing if `frame` is not in the track."""
        if frame in self.track_keyframes:
            end = self.track_keyframes.index(frame) + 1
            del self.track_keyframes[max(0, end - count) : end]

    def fork_track(self, tick: int) -> "KeyframeTrack":
        """Return a new track with the same keyframes up to this tick, for a copy of the timeline."""
        other = self.keyframe_store.new_track()
        other.playhead_work_us = self.playhead_work_us
        other.track_keyframes = self.track_keyframes[: self._keyframe_index_after(tick)]
        return other

    def fork_track_into_store(self, store: KeyframeStore, tick: int) -> "KeyframeTrack":
        """Return a new track in another store, with a copy of the last keyframe at or before `tick`.

        The two stores share nothing, so another thread may use the new track.
        """
        other = store.new_track()
        frame = self.keyframe_at_or_before(tick)
        if frame is not None and (copy := store.import_keyframe(frame)) is not None:
            other.playhead_work_us = copy.replay_work_us
            other.add(copy)
        return other

    def close(self) -> None:
        """Remove all keyframes of the track, and remove the track from its store."""
        self.remove_keyframes_after(-1)
        self.keyframe_store.keyframe_tracks.remove(self)

    def lowest_eviction_score(self) -> float:
        """Return the lowest eviction score of the track's keyframes; the track must have a keyframe."""
        return min(self._eviction_scores())

    def evict_keyframe(self) -> None:
        """Evict the keyframe with the lowest eviction score."""
        scores = self._eviction_scores()
        del self.track_keyframes[scores.index(min(scores))]

    def _eviction_scores(self) -> list[float]:
        """Return the eviction score of each keyframe; the keyframe with the lowest score is evicted first.

        The score is the estimated time of the longest replay that a seek needs without the keyframe, divided by the
        fourth root of the distance between the keyframe and the present tick. The fourth root spreads keyframes over
        the whole run, but denser near the present tick.
        (With the square root, the median seek in a run under steady changes takes 102 ms instead of 84.)
        """
        works = [frame.replay_work_us for frame in self.track_keyframes]
        # Adding 1e9 keeps the first keyframe: without it, a seek to an early tick would have to set up the run again.
        # Adding 1e9 also keeps the last keyframe, because it is the base of the next keyframe.
        before, after = [works[0] - 1e9, *works], [*works[1:], works[-1] + 1e9]
        return [
            (right - left) / (1.0 + abs(self.playhead_work_us - work)) ** 0.25
            for left, work, right in zip(before, works, after, strict=False)
        ]
