"""Batches: agents of the same kind advance together, in one kernel call (sim/kernels/batch.py).

Each agent of a batch (class `AgentBatch`) gets exactly the result that it would get alone.

A kernel finds the arrays of all agents by a table of their memory addresses. So the table must be refreshed when an
agent replaces an array. The "memory" of an agent is the nested tuple of arrays and plain numbers that the kernel gets
for this agent; its "parts" are these arrays and numbers. A row is the record (log.ROW) of what one agent did in one
tick. The "ground" (octile.MapArrays) is the map in the form that kernels read; all agents share it.
"""

import mmap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sim.agent_api import Batchable
from sim.agent_times import Clock
from sim.executor import StepBlock
from sim.grid import Grid, MapChange
from sim.jit.decorators import HAS_INTRINSICS, without_type_checks
from sim.kernels import log
from sim.kernels.batch import (
    BATCH_RESULT,
    collect_agent_digests,
    collect_agent_positions,
)
from sim.kernels.tiled import TiledTable, log2_tile_side, prefault_table_entries
from sim.log_rows import NO_LOG_ROWS, UnbatchedRows
from sim.walker import Walker

_TILE_SIDE = 1 << log2_tile_side(16)  # side in cells of the smallest tiles, which are square blocks of a table
_PREFAULT_IN_TILES = (_TILE_SIDE, 6, np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]))
_PREFAULT_IN_ROWS = (1, 6 * _TILE_SIDE, np.zeros((1, 2), np.int64))
"""Arguments of `_cells_near_line` for tables stored in tiles and in rows: distance between neighbouring points in
cells, number of points, and offsets (dx, dy) of the cells around each point, in units of that distance."""

MIN_BATCH_SIZE = 16
"""Minimum number of agents in a batch. With fewer agents, one common call saves less than a millisecond per tick, which
is not worth compiling the kernel of the batch."""


class BatchSlot:
    """Place of a walker in a batch, which stores the walker's rows; an implementation of `RecentRows`."""

    __slots__ = ("_unbatched_rows", "batch", "index")

    def __init__(self, batch: "AgentBatch", index: int, own_rows: UnbatchedRows) -> None:
        self.batch, self.index = batch, index
        self._unbatched_rows = own_rows  # rows of the walker alone, before it joined the batch and after it leaves it

    @property
    def rows(self) -> npt.NDArray[Any]:
        index = self.index
        pieces = [block.log_rows[index, : block.done[index]] for block in self.batch.step_blocks if block.done[index]]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces) if pieces else NO_LOG_ROWS

    @property
    def tick(self) -> int:
        return int(self.batch.first_row_ticks[self.index])

    @property
    def phase(self) -> int:
        return int(self.batch.last_phases[self.index])

    @property
    def last_budget(self) -> int:
        return int(self.batch.last_budgets[self.index])

    def as_unbatched_rows(self) -> UnbatchedRows:
        """Return rows that belong to the walker alone, so that the batch no longer stores the rows of all walkers."""
        own, rows = self._unbatched_rows, self.rows
        self.batch.is_storing_rows = False
        if rows.size:
            own.append(rows, self.tick, self.last_budget)
        elif not own.row_arrays:
            own.tick = self.tick
        own.phase, own.last_budget = self.phase, self.last_budget
        return own

    @property
    def has_earlier_rows(self) -> bool:
        """Return whether the walker wrote rows in the present advance before it joined the batch."""
        return bool(self._unbatched_rows.row_arrays)


class AgentBatch:
    """Batch of walkers that advance in one kernel call. It stores the memory addresses of the walkers' arrays."""

    def __init__(self, kernel: Any, walkers: list[Walker], parts: list[list[Any]]) -> None:
        """Create a batch.

        Args:
            kernel: kernel that advances all agents of the batch.
            walkers: walkers of the batch.
            parts: for each walker, the arrays and numbers that the kernel gets (see `_flat_memory_arrays`).
        """
        self.batch_kernel, self.walkers = kernel, walkers
        self._unchecked_batch_kernel = without_type_checks(kernel)
        self._batchable_agents = [_batchable_agent(walker) for walker in walkers]
        self._map_change_kernel = self._batchable_agents[0].batch_map_change_kernel
        # Nested tuple of the first agent's arrays. Kernels take the array types of all agents from it.
        self._prototype_memory = _agent_kernel_arrays(walkers[0])
        self._part_sizes = _array_sizes(parts[0])
        # [agents, arrays] memory addresses by which the kernels access the arrays of all agents.
        self._address_table = np.array([_array_addresses(own) for own in parts], np.int64)
        self.agent_results = np.zeros(len(walkers), BATCH_RESULT)
        self.agent_ids = tuple(walker.id for walker in walkers)
        # Agent id -> index in this batch.
        self.index_by_id = {number: index for index, number in enumerate(self.agent_ids)}
        self.step_blocks: list[StepBlock] = []  # log rows of the present or last advance, in the order of ticks
        self.kernel_seconds = 0.0  # total duration of kernel calls in the present or last advance; 0.0 without a clock
        # [agents] world tick of the first log row that each agent wrote in the last advance.
        self.first_row_ticks = np.array([walker.recent_rows.tick for walker in walkers], np.int64)
        self.last_phases = np.array([walker.recent_rows.phase for walker in walkers], np.int16)
        self.last_budgets = np.array([walker.recent_rows.last_budget for walker in walkers], np.int64)
        self._row_slots = [BatchSlot(self, index, walker.take_unbatched_rows()) for index, walker in enumerate(walkers)]
        # log.ROW[agents, ticks]: log rows that the kernel writes in the ticks prepared by `prepare_ticks`.
        self._new_rows: npt.NDArray[Any] = np.zeros((len(walkers), 0), log.ROW)
        self._has_written_rows = np.zeros(len(walkers), np.bool_)
        self._own_budgets = np.zeros(len(walkers), np.int64)  # expansions per tick; 0: the world's budget
        self._refresh_own_budgets()
        self._agent_arguments = [agent.plain_kernel_arguments() for agent in self._batchable_agents]
        self.is_storing_rows = False  # whether all walkers of this batch read their log rows from this batch
        self._prototype_counts = (walkers[0].count_arrays[0],)
        # Memory addresses of each walker's counts, such as moves and cost (referee.METRICS). They never change.
        self._count_addresses = np.array([_array_addresses(walker.count_arrays[:1]) for walker in walkers], np.int64)
        self._digest_sums = np.zeros((len(walkers), 2), np.int64)
        self._position_cells = np.zeros(len(walkers), np.int64)

    def read_digest_halves(self) -> npt.NDArray[np.int64]:
        """Return an array [walkers, 2] with the two numbers that make up the digest of each walker."""
        collect_agent_digests(self._prototype_counts, self._count_addresses, self._digest_sums)
        return self._digest_sums

    def walker_cells(self) -> npt.NDArray[np.int64]:
        """Return an array [walkers] with the cell that each walker occupies."""
        collect_agent_positions(self._prototype_counts, self._count_addresses, self._position_cells)
        return self._position_cells

    def refresh_array_addresses(self) -> bool:
        """Update the budgets and the array addresses that are stored for the agents.

        Call this method after every change that may make an agent replace an array.

        Returns:
            Whether the batch is still valid. It is invalid if an agent needs another kernel, for example after a change
            of a parameter, or if the sizes of its arrays have changed.
        """
        self._refresh_own_budgets()
        for i, (walker, agent) in enumerate(zip(self.walkers, self._batchable_agents, strict=True)):
            is_replaced = cast(object, walker.agent) is not agent
            if (
                is_replaced or agent.batch_kernel is not self.batch_kernel
            ):  # the kernel can change while the arrays stay
                return False
            arguments = agent.plain_kernel_arguments()
            if arguments is self._agent_arguments[i]:
                continue
            parts = _flat_memory_arrays(walker)
            if _array_sizes(parts) != self._part_sizes:
                return False
            self._agent_arguments[i] = arguments
            self._address_table[i] = _array_addresses(parts)
        return True

    def _refresh_own_budgets(self) -> None:
        """Update the own budget stored for each agent."""
        self._own_budgets[:] = [walker.budget or 0 for walker in self.walkers]

    def notify_map_change(self, grid: Grid, change: MapChange) -> bool:
        """Notify all agents of a map change in one kernel call.

        Returns:
            Whether agents of this kind have such a kernel. If not, the caller has to notify each agent separately.
        """
        if self._map_change_kernel is not None:
            arcs = change.tails, change.heads, change.rose
            self._map_change_kernel(grid.map_arrays, self._prototype_memory, self._address_table, *arcs)
        return self._map_change_kernel is not None

    @property
    def has_any_walker_acted(self) -> bool:
        """Return whether any walker has acted in the present or last advance."""
        return bool(self._has_written_rows.any())

    def return_rows_to_walkers_that_joined_late(self) -> None:
        """Return the rows of walkers that have also rows of their own in this advance, from before they joined."""
        for walker, slot in zip(self.walkers, self._row_slots, strict=True):
            if slot.has_earlier_rows and walker.recent_rows is slot:
                walker.take_unbatched_rows()

    def discard_log_rows(self) -> None:
        """Discard the log rows of the last advance. Call this when the next advance begins."""
        self.step_blocks.clear()
        self.kernel_seconds = 0.0
        self._has_written_rows[:] = False

    def run_ticks(self, grid: Grid, tick: int, budget: int, ticks: int, clock: Clock | None = None) -> StepBlock:
        """Let all agents plan and act for `ticks` ticks from world tick `tick` on, and return their log rows.

        After this call, `agent_results` contains for each agent: number of ticks it acted, number of legal rows, and
        status.
        """
        self.prepare_ticks(budget, ticks)
        self.run_agents_in_slots(grid, tick, slice(None), clock)
        return self.end(tick)

    def prepare_ticks(self, budget: int, ticks: int) -> None:
        """Prepare the next `ticks` ticks: clear the results and set the budgets.

        Call this before `run_agents_in_slots`.
        """
        self.agent_results["budget"] = np.where(self._own_budgets > 0, self._own_budgets, budget)
        self.agent_results["done"] = self.agent_results["legal"] = 0
        self._new_rows = np.zeros((len(self.walkers), ticks), log.ROW)

    def run_agents_in_slots(self, grid: Grid, tick: int, indices: slice, clock: Clock | None = None) -> None:
        """Let the agents with indices in `indices` plan and act. With a clock, add the time to `kernel_seconds`."""
        before = clock() if clock else 0.0
        self._unchecked_batch_kernel(
            grid.map_arrays,
            self._prototype_memory,
            self._address_table[indices],
            self.agent_results[indices],
            tick,
            self._new_rows[indices],
        )
        self.kernel_seconds += clock() - before if clock else 0.0

    def end(self, tick: int) -> StepBlock:
        """Store and return the log rows of the prepared ticks. `tick`: world tick of the first row of each agent."""
        rows = self._new_rows
        steps = StepBlock(tick, self.index_by_id, rows, self.agent_results["done"].copy())
        self.step_blocks.append(steps)
        acted = np.flatnonzero(steps.done)
        self.first_row_ticks[acted[~self._has_written_rows[acted]]] = tick
        self._has_written_rows[acted] = True
        self.last_phases[acted] = rows["phase"][acted, steps.done[acted] - 1]
        self.last_budgets[acted] = self.agent_results["budget"][acted]
        if not self.is_storing_rows:
            self.is_storing_rows = True
            for walker, slot in zip(self.walkers, self._row_slots, strict=True):
                walker.recent_rows = slot
        return steps


def form_batches(walkers: Iterable[Walker], min_batch_size: int) -> list[AgentBatch]:
    """Return batches of the walkers whose agents are of the same kind. Some walkers may be in no batch.

    The agents of a batch belong to the same group, have the same kernel and array sizes, and make only one trial (walk
    to the goal). Without compiled kernels, or with an unsupported version of numba, there are no batches.
    """
    if not HAS_INTRINSICS:
        return []
    groups: dict[Any, tuple[list[Walker], list[list[Any]]]] = {}
    for walker in walkers:
        agent = walker.agent.as_batchable()
        if agent is not None and walker.max_trials == 1:
            parts = _flat_memory_arrays(walker)
            kind = walker.config.group, agent.batch_kernel, _array_sizes(parts)
            members, all_parts = groups.setdefault(kind, ([], []))
            members.append(walker)
            all_parts.append(parts)
    return [AgentBatch(kind[1], *members) for kind, members in groups.items() if len(members[0]) >= min_batch_size]


def _agent_kernel_arrays(walker: Walker) -> tuple[Any, ...]:
    """Return the nested tuple of arrays that a kernel gets for an agent: its own arrays, and the referee's counts."""
    return (_batchable_agent(walker).batch_arguments(), *walker.count_arrays)


def _batchable_agent(walker: Walker) -> Batchable:
    """Return the agent of a walker by the interface for batches, which it must have."""
    agent = walker.agent.as_batchable()
    assert agent is not None
    return agent


def _flat_memory_arrays(walker: Walker) -> list[Any]:
    """Return the arrays that the kernel gets for an agent, as a flat list in the order of the address table.

    The list also contains plain numbers that the kernel gets, such as the widths of tiles.
    """
    found: list[Any] = []
    _collect_nested_arrays(_agent_kernel_arrays(walker), found)
    return found


def _collect_nested_arrays(memory: tuple[Any, ...], found: list[Any]) -> None:
    """Append all arrays and numbers in a nested tuple to `found`, depth first."""
    for part in memory:
        if isinstance(part, tuple):
            _collect_nested_arrays(part, found)
        else:
            found.append(part)


def prefault_search_pages(grid: Grid, walker: Walker, goal: int) -> None:
    """Write to the memory pages that an agent's first searches will use, so that page faults happen now.

    Otherwise page faults would take as long as the searches of the first ticks. The first searches use the cells near
    the straight line to the agent's goal. `goal`: the shared goal, for agents without a goal of their own.
    """
    end = goal if walker.own_goal is None else walker.own_goal
    parts = list(_iter_nested_arrays(_agent_kernel_arrays(walker)))
    is_tiled = any(isinstance(part, TiledTable) for part in parts)
    cells = _cells_near_line(grid, walker.position, end, *(_PREFAULT_IN_TILES if is_tiled else _PREFAULT_IN_ROWS))
    for part in parts:
        if isinstance(part, TiledTable) or (not is_tiled and part.size == grid.cells and part.dtype != np.int32):
            prefault_table_entries(part, cells)
        elif part.nbytes > mmap.PAGESIZE:  # an array that fills from its beginning: write its first page
            first_byte = part.view(np.uint8)[:1]
            first_byte |= 0  # writes to the page without changing it; numpy would skip a copy of an array onto itself


def _cells_near_line(
    grid: Grid, start: int, goal: int, step: int, steps: int, around: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the cells near the beginning of the straight line between two cells.

    Args:
        grid: map.
        start: cell at the beginning of the line.
        goal: cell at the end of the line.
        step: distance between neighbouring points on the line, in cells.
        steps: number of points.
        around: offsets (dx, dy) from each point to the cells to return, in multiples of `step`.
    """
    begin, end = np.array(grid.xy(start)), np.array(grid.xy(goal))
    slope = (end - begin) / max(1, np.abs(end - begin).max())
    middles = begin + np.rint(step * np.arange(steps)[:, None] * slope).astype(np.int64)
    points = (middles[:, None] + step * around).reshape(-1, 2)
    x, y = np.clip(points, 0, (grid.width - 1, grid.height - 1)).T
    cells: npt.NDArray[np.int64] = np.unique(y * grid.width + x)
    return cells


def _iter_nested_arrays(memory: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the arrays in a nested tuple. A table stored in tiles is yielded as one array."""
    for part in memory:
        if isinstance(part, TiledTable | np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from _iter_nested_arrays(part)


def _array_sizes(parts: Sequence[Any]) -> tuple[int, ...]:
    """Return the size of each array and the value of each plain number. They are the same for all agents of a batch."""
    return tuple([part if isinstance(part, int) else part.size for part in parts])


def _array_addresses(parts: Sequence[Any]) -> list[int]:
    """Return the memory address of each array in `parts`, and nothing for plain numbers."""
    return [part.ctypes.data for part in parts if not isinstance(part, int)]
