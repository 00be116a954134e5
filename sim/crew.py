"""Batches (class `AgentBatch`) of agents of one kind that advance in one kernel call (sim/kernels/crew.py).

Each agent of a batch gets exactly the result that it would have alone.
"""

import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.grid import Grid, MapChange
from sim.kernels import log
from sim.kernels.crew import CHOSEN, RESULT, RULE, read_positions, read_sums
from sim.kernels.jit import JIT_ON, CachedDispatch
from sim.kernels.tiled import Tiled, tile_bits, touch

if TYPE_CHECKING:
    from sim.walker import Walker

Clock = Callable[[], float]

_TILE = 1 << tile_bits(16)  # cells along the side of the smallest tiles that any table has
_IN_TILES = (_TILE, 6, np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]))
_IN_ROWS = (1, 6 * _TILE, np.zeros((1, 2), np.int64))
"""Arguments of `_ahead`: distance between points in cells, number of points, and offsets (dx, dy) of the cells around
each point, in units of that distance."""

MIN_BATCH_SIZE = 16
"""Minimum of agents in a batch. With fewer, one common call saves less than a millisecond but has to be compiled."""


class RecentRows(NamedTuple):
    """Rows of a walker in the last advance, and the state of its last row."""

    rows: npt.NDArray[Any] = log.new_bare_log(0)  # log.ROW per tick of the last advance
    tick: int = 0  # world tick of the first row
    phase: int = log.WAITING  # phase of the last row, which may belong to an earlier advance
    budget: int = 0  # budget in the tick of the last row, in expansions

    def with_rows(self, rows: npt.NDArray[Any]) -> "RecentRows":
        """Return a copy with other rows.

        `_replace` would take four times as long, and this runs for every agent in every frame.
        """
        return RecentRows(rows, self.tick, self.phase, self.budget)


@dataclass(frozen=True)
class BatchSteps:
    """Rows of a batch for some consecutive ticks."""

    begin: int  # first world tick
    places: Mapping[int, int]  # index in the batch by agent id
    rows: npt.NDArray[Any]  # log.ROW[agents, ticks]
    done: npt.NDArray[np.int64]  # number of ticks in which each agent acted, by index

    @property
    def end(self) -> int:
        """Return the world tick after the last one."""
        return self.begin + int(self.rows.shape[1])


class BatchSlot(NamedTuple):
    """Index of a walker in a batch. The batch stores the rows of all its walkers; this class extracts one walker's."""

    crew: "AgentBatch"
    place: int

    def rows(self) -> npt.NDArray[Any]:
        """Return the rows of this walker in the last advance."""
        own = [stint.rows[self.place, : stint.done[self.place]] for stint in self.crew.stints if stint.done[self.place]]
        return own[0] if len(own) == 1 else np.concatenate(own) if own else log.new_bare_log(0)

    def lately(self) -> RecentRows:
        """Return what `Walker.lately` would be if the walker stored its own rows."""
        return RecentRows(
            self.rows(),
            int(self.crew.row_ticks[self.place]),
            int(self.crew.phases[self.place]),
            int(self.crew.budgets[self.place]),
        )


class AgentBatch:
    """Batch of walkers that advance in one kernel call, with the addresses of their memory."""

    def __init__(self, kernel: Any, walkers: "list[Walker]", parts: list[list[Any]]) -> None:
        """Create a batch for a kernel. `parts`: for each walker, what `_parts_of` returns."""
        self.kernel, self.walkers = kernel, walkers
        self._run, self._read_sums = CachedDispatch(kernel), CachedDispatch(read_sums)
        self._change = walkers[0].agent.batch_change  # type: ignore[attr-defined]
        self._rules: Any = np.zeros(len(walkers), RULE)
        self._like = _memory_of(walkers[0])
        self._sizes = _sizes(parts[0])
        self._table = np.array([_addresses(own) for own in parts], np.int64)
        self.results = np.zeros(len(walkers), RESULT)
        self.ids = tuple(walker.id for walker in walkers)
        self.places = {number: place for place, number in enumerate(self.ids)}
        self.stints: list[BatchSteps] = []  # rows of the present advance, or of the last one
        self.seconds = 0.0  # duration of the kernel calls for these rows; 0.0 without a clock
        self.row_ticks = np.array([walker.rows_tick for walker in walkers], np.int64)
        self.phases = np.array([walker.last_phase for walker in walkers], np.int16)
        self.budgets = np.array([walker.last_budget for walker in walkers], np.int64)
        self._seats = [BatchSlot(self, place) for place in range(len(walkers))]
        self._rows: npt.NDArray[Any] = np.zeros((len(walkers), 0), log.ROW)  # rows written since `begin`
        self._has_rows = np.zeros(len(walkers), np.bool_)
        self._own_budgets = np.zeros(len(walkers), np.int64)  # expansions per tick; 0: the world's budget
        self._look_at_rules()
        self._memories = [walker.agent.arguments() for walker in walkers]  # type: ignore[attr-defined]
        self.are_seated = False  # whether all walkers read their rows from this batch, by `Walker.seat`
        self._counts = (walkers[0].counts[0],)
        # Addresses of the referee's numbers. They never change, so `refresh_addresses` does not refresh them.
        self._counts_at = np.array([_addresses(walker.counts[:1]) for walker in walkers], np.int64)
        self._sums = np.zeros((len(walkers), 2), np.int64)
        self._cells = np.zeros(len(walkers), np.int64)

    def sums(self) -> npt.NDArray[np.int64]:
        """Return the two digest numbers of each walker, by index."""
        self._read_sums(self._counts, self._counts_at, self._sums)
        return self._sums

    def positions(self) -> npt.NDArray[np.int64]:
        """Return the cell that each walker occupies, by index."""
        read_positions(self._counts, self._counts_at, self._cells)
        return self._cells

    def refresh_addresses(self) -> bool:
        """Refresh budgets, rules and the addresses of agents that have replaced some of their memory.

        Call this after everything that may replace memory.

        Returns:
            Whether all walkers still fit into this batch. A parameter may require another kernel, or memory of another
            size; then the batch is invalid.
        """
        self._look_at_rules()
        for i, walker in enumerate(self.walkers):
            agent: Any = walker.agent
            if agent.batch_kernel is not self.kernel:  # possible even if its memory has not changed
                return False
            arguments = agent.arguments()
            if arguments is self._memories[i]:
                continue
            parts = _parts_of(walker)
            if _sizes(parts) != self._sizes:
                return False
            self._memories[i] = arguments
            self._table[i] = _addresses(parts)
        return True

    def _look_at_rules(self) -> None:
        self._own_budgets[:] = [walker.budget or 0 for walker in self.walkers]
        self._rules[list(CHOSEN)] = [walker.agent.batch_rule() for walker in self.walkers]  # type: ignore[attr-defined]

    def tell(self, grid: Grid, change: MapChange) -> bool:
        """Notify all agents of a map change in one kernel call.

        Returns:
            False if these agents have no such kernel; then the caller has to notify each agent.
        """
        if self._change is not None:
            arcs = change.tails, change.heads, change.rose
            self._change(grid.ground, self._like, self._table, self._rules, *arcs)
        return self._change is not None

    @property
    def has_acted(self) -> bool:
        """Return whether any walker has acted in the present advance, or in the last one if none is under way."""
        return bool(self._has_rows.any())

    def forget_rows(self) -> None:
        """Discard the rows of the last advance, because another one begins."""
        self.stints.clear()
        self.seconds = 0.0
        self._has_rows[:] = False

    def run(self, grid: Grid, tick: int, budget: int, ticks: int, clock: Clock | None = None) -> BatchSteps:
        """Let all agents plan and act for `ticks` ticks from `tick` on, and return their rows.

        Afterwards `results` has the ticks done, the legal ones among them and the status of each agent.
        """
        self.begin(budget, ticks)
        self.serve(grid, tick, slice(None), clock)
        return self.end(tick)

    def begin(self, budget: int, ticks: int) -> None:
        """Prepare `ticks` ticks: clear the results and set the budgets. Call `serve` next, then `end`."""
        self.results["budget"] = np.where(self._own_budgets > 0, self._own_budgets, budget)
        self.results["done"] = self.results["legal"] = 0
        self._rows = np.zeros((len(self.walkers), ticks), log.ROW)

    def serve(self, grid: Grid, tick: int, places: slice, clock: Clock | None = None) -> None:
        """Let the agents at the indices `places` plan and act. A `clock` measures the time, added to `seconds`."""
        before = clock() if clock else 0.0
        self._run(grid.ground, self._like, self._table[places], self.results[places], tick, self._rows[places])
        self.seconds += clock() - before if clock else 0.0

    def end(self, tick: int) -> BatchSteps:
        """Return the rows written since `begin`; `tick` is the first of their ticks."""
        rows = self._rows
        stint = BatchSteps(tick, self.places, rows, self.results["done"].copy())
        self.stints.append(stint)
        acted = np.flatnonzero(stint.done)
        self.row_ticks[acted[~self._has_rows[acted]]] = tick
        self._has_rows[acted] = True
        self.phases[acted] = rows["phase"][acted, stint.done[acted] - 1]
        self.budgets[acted] = self.results["budget"][acted]
        if not self.are_seated:
            self.are_seated = True
            for walker, seat in zip(self.walkers, self._seats, strict=True):
                walker.seat = seat
        return stint


def crews_of(walkers: "Iterable[Walker]") -> list[AgentBatch]:
    """Return the batches that can be formed from these walkers; walkers that fit in no batch are left out.

    The agents of a batch have the same group, kernel and sizes of memory, and walk one trial only. Without compiled
    kernels there are no batches.
    """
    if not JIT_ON:
        return []
    groups: dict[Any, tuple[list[Walker], list[list[Any]]]] = {}
    for walker in walkers:
        kernel = getattr(walker.agent, "batch_kernel", None)
        if kernel is not None and walker.most_trials == 1:
            parts = _parts_of(walker)
            members, all_parts = groups.setdefault((walker.config.group, kernel, _sizes(parts)), ([], []))
            members.append(walker)
            all_parts.append(parts)
    return [AgentBatch(kind[1], *members) for kind, members in groups.items() if len(members[0]) >= MIN_BATCH_SIZE]


def _memory_of(walker: "Walker") -> tuple[Any, ...]:
    """Return the arguments of the kernel for one agent: its memory without the ground, and the referee's numbers."""
    return (walker.agent.batch_memory(), *walker.counts)  # type: ignore[attr-defined]


def _parts_of(walker: "Walker") -> list[Any]:
    """Return the arrays of `_memory_of`, in the order in which the kernel visits them.

    Numbers stored between the arrays, such as widths of tiles, are included.
    """
    found: list[Any] = []
    _add_parts(_memory_of(walker), found)
    return found


def _add_parts(memory: tuple[Any, ...], found: list[Any]) -> None:
    for part in memory:
        if isinstance(part, tuple):
            _add_parts(part, found)
        else:
            found.append(part)


def prefault_pages(grid: Grid, walker: "Walker", goal: int) -> None:
    """Prefault the pages that an agent's first searches will write, on the way to its own or the shared goal.

    The page faults would take as long as the searches of the first ticks.
    """
    end = goal if walker.own_goal is None else walker.own_goal
    parts = list(_arrays_in(_memory_of(walker)))
    is_tiled = any(isinstance(part, Tiled) for part in parts)
    cells = _ahead(grid, walker.position, end, *(_IN_TILES if is_tiled else _IN_ROWS))
    for part in parts:
        if isinstance(part, Tiled) or (not is_tiled and part.size == grid.cells and part.dtype != np.int32):
            touch(part, cells)
        elif part.nbytes > mmap.PAGESIZE:  # lists of cells and other stacks, which fill from their beginning
            first_byte = part.view(np.uint8)[:1]
            first_byte |= 0  # writes the page; numpy skips copying an array onto itself


def _ahead(
    grid: Grid, start: int, goal: int, step: int, steps: int, around: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return cells on the first part of the straight line between two cells, and around it.

    Args:
        grid: map.
        start: cell at which the line begins.
        goal: cell to which it leads.
        step: distance between neighbouring points on the line, in cells.
        steps: number of points.
        around: offsets (dx, dy) of the cells to return for each point, in units of `step`.
    """
    begin, end = np.array(grid.xy(start)), np.array(grid.xy(goal))
    slope = (end - begin) / max(1, np.abs(end - begin).max())
    middles = begin + np.rint(step * np.arange(steps)[:, None] * slope).astype(np.int64)
    places = (middles[:, None] + step * around).reshape(-1, 2)
    x, y = np.clip(places, 0, (grid.width - 1, grid.height - 1)).T
    cells: npt.NDArray[np.int64] = np.unique(y * grid.width + x)
    return cells


def _arrays_in(memory: tuple[Any, ...]) -> "Iterator[Any]":
    """Yield the arrays in nested tuples; a table in tiles counts as one."""
    for part in memory:
        if isinstance(part, Tiled | np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from _arrays_in(part)


def _sizes(parts: Sequence[Any]) -> tuple[int, ...]:
    return tuple([part if isinstance(part, int) else part.size for part in parts])


def _addresses(parts: Sequence[Any]) -> list[int]:
    return [part.ctypes.data for part in parts if not isinstance(part, int)]
