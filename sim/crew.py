"""Crews: agents of one kind that advance in one call of a kernel (sim/kernels/crew.py), each as it would alone."""

import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.grid import Grid, MapChange
from sim.kernels import log
from sim.kernels.crew import CHOSEN, RESULT, RULE, read_positions, read_sums
from sim.kernels.jit import JIT_ON, Frequent
from sim.kernels.tiled import Tiled, tile_bits, touch

if TYPE_CHECKING:
    from sim.walker import Walker

Clock = Callable[[], float]

_TILE = 1 << tile_bits(16)  # cells: no table has smaller tiles
_IN_TILES = (_TILE, 6, np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]))
_IN_ROWS = (1, 6 * _TILE, np.zeros((1, 2), np.int64))
"""Which cells are ahead, see _ahead: how far they are apart, how many of them, what lies around each."""

FEWEST = 16
"""For fewer agents a call for all would save less than a millisecond, and cost the time to compile it."""


class Lately(NamedTuple):
    """What an agent has done lately."""

    rows: npt.NDArray[Any] = log.new_bare_log(0)  # of the last advance
    tick: int = 0  # of the first of them
    phase: int = log.WAITING  # in its last row, whenever that was
    budget: int = 0  # the one of that row

    def with_rows(self, rows: npt.NDArray[Any]) -> "Lately":
        """As _replace would do it, in a quarter of the time: it is done for every agent in every frame."""
        return Lately(rows, self.tick, self.phase, self.budget)


@dataclass(frozen=True)
class Stint:
    """What a crew did in some ticks."""

    begin: int  # the first tick
    places: Mapping[int, int]  # of its agents, by their numbers
    rows: npt.NDArray[Any]  # log.ROW[agents, ticks]
    done: npt.NDArray[np.int64]  # in how many of them each did something

    @property
    def end(self) -> int:
        return self.begin + int(self.rows.shape[1])


class Seat(NamedTuple):
    """The place of a walker in a crew. What all do is kept together, and made out for one when somebody asks."""

    crew: "Crew"
    place: int

    def rows(self) -> npt.NDArray[Any]:
        own = [stint.rows[self.place, : stint.done[self.place]] for stint in self.crew.stints if stint.done[self.place]]
        return own[0] if len(own) == 1 else np.concatenate(own) if own else log.new_bare_log(0)

    def lately(self) -> Lately:
        return Lately(
            self.rows(),
            int(self.crew.row_ticks[self.place]),
            int(self.crew.phases[self.place]),
            int(self.crew.budgets[self.place]),
        )


class Crew:
    """Some walkers, and where their memory lies."""

    def __init__(self, kernel: Any, walkers: "list[Walker]", parts: list[list[Any]]) -> None:
        """`parts`: of the memory of each."""
        self.kernel, self.walkers = kernel, walkers
        self._run, self._read_sums = Frequent(kernel), Frequent(read_sums)
        self._change = walkers[0].agent.crew_change  # type: ignore[attr-defined]
        self._rules: Any = np.zeros(len(walkers), RULE)
        self._like = _memory_of(walkers[0])
        self._sizes = _sizes(parts[0])
        self._table = np.array([_addresses(own) for own in parts], np.int64)
        self.results = np.zeros(len(walkers), RESULT)
        self.ids = tuple(walker.id for walker in walkers)
        self.places = {number: place for place, number in enumerate(self.ids)}
        self.stints: list[Stint] = []  # of the advance that is going on, or of the last one
        self.seconds = 0.0  # that these took, where somebody has a clock
        self.row_ticks = np.array([walker.rows_tick for walker in walkers], np.int64)
        self.phases = np.array([walker.last_phase for walker in walkers], np.int16)
        self.budgets = np.array([walker.last_budget for walker in walkers], np.int64)
        self._seats = [Seat(self, place) for place in range(len(walkers))]
        self._rows: npt.NDArray[Any] = np.zeros((len(walkers), 0), log.ROW)  # of the ticks that are going on
        self._has_rows = np.zeros(len(walkers), np.bool_)
        self._own_budgets = np.zeros(len(walkers), np.int64)  # 0: the world's
        self._look_at_rules()
        self._memories = [walker.agent.arguments() for walker in walkers]  # type: ignore[attr-defined]
        self.are_seated = False  # whether what each does is looked for here
        self._counts = (walkers[0].counts[0],)
        self._counts_at = np.array([_addresses(walker.counts[:1]) for walker in walkers], np.int64)  # for good
        self._sums = np.zeros((len(walkers), 2), np.int64)
        self._cells = np.zeros(len(walkers), np.int64)

    def sums(self) -> npt.NDArray[np.int64]:
        """The two numbers of each in which everything is that it has done."""
        self._read_sums(self._counts, self._counts_at, self._sums)
        return self._sums

    def positions(self) -> npt.NDArray[np.int64]:
        """The cells on which they stand."""
        read_positions(self._counts, self._counts_at, self._cells)
        return self._cells

    def look_again(self) -> bool:
        """Note where the memory lies of those who have replaced some of it. Due after everything that may do that.

        Returns whether all still belong here: a parameter may ask for another kernel or for other memory.
        """
        self._look_at_rules()
        for i, walker in enumerate(self.walkers):
            agent: Any = walker.agent
            if agent.crew_kernel is not self.kernel:  # also where its memory is as it was
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
        self._rules[list(CHOSEN)] = [walker.agent.crew_rule() for walker in self.walkers]  # type: ignore[attr-defined]

    def tell(self, grid: Grid, change: MapChange) -> bool:
        """Tell all of them of a change of the map, at once; False if each has to be told by itself."""
        if self._change is not None:
            arcs = change.tails, change.heads, change.rose
            self._change(grid.ground, self._like, self._table, self._rules, *arcs)
        return self._change is not None

    @property
    def has_acted(self) -> bool:
        """Whether any of them had something to do in the advance that is going on, or in the last one."""
        return bool(self._has_rows.any())

    def forget_rows(self) -> None:
        """Another advance begins."""
        self.stints.clear()
        self.seconds = 0.0
        self._has_rows[:] = False

    def run(self, grid: Grid, tick: int, budget: int, ticks: int, clock: Clock | None = None) -> Stint:
        """Let all of them plan and act; results say how far each came."""
        self.begin(budget, ticks)
        self.serve(grid, tick, slice(None), clock)
        return self.end(tick)

    def begin(self, budget: int, ticks: int) -> None:
        """Some ticks begin, in which nobody has done anything yet."""
        self.results["budget"] = np.where(self._own_budgets > 0, self._own_budgets, budget)
        self.results["done"] = self.results["legal"] = 0
        self._rows = np.zeros((len(self.walkers), ticks), log.ROW)

    def serve(self, grid: Grid, tick: int, places: slice, clock: Clock | None = None) -> None:
        """Let some of them plan and act. `clock` times it, in `seconds`."""
        before = clock() if clock else 0.0
        self._run(grid.ground, self._like, self._table[places], self.results[places], tick, self._rows[places])
        self.seconds += clock() - before if clock else 0.0

    def end(self, tick: int) -> Stint:
        """What all did that were served since these ticks began, at `tick`."""
        rows = self._rows
        stint = Stint(tick, self.places, rows, self.results["done"].copy())
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


def crews_of(walkers: "Iterable[Walker]") -> list[Crew]:
    """Those among them who can advance together, as crews."""
    if not JIT_ON:
        return []
    groups: dict[Any, tuple[list[Walker], list[list[Any]]]] = {}
    for walker in walkers:
        kernel = getattr(walker.agent, "crew_kernel", None)
        if kernel is not None and walker.most_trials == 1:
            parts = _parts_of(walker)
            members, all_parts = groups.setdefault((walker.config.group, kernel, _sizes(parts)), ([], []))
            members.append(walker)
            all_parts.append(parts)
    return [Crew(kind[1], *members) for kind, members in groups.items() if len(members[0]) >= FEWEST]


def _memory_of(walker: "Walker") -> tuple[Any, ...]:
    """What the kernel takes for one agent: its own memory, ground left out, and the referee's numbers."""
    return (walker.agent.crew_memory(), *walker.counts)  # type: ignore[attr-defined]


def _parts_of(walker: "Walker") -> list[Any]:
    """The arrays of that, in the order in which the kernel comes by them, and the numbers that stand beside them, such
    as the width of tiles.
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


def touch_ahead(grid: Grid, walker: "Walker", goal: int) -> None:
    """Have memory ready where an agent will search first, on the way to its goal or the world's: first touches of pages
    take as long as the searches of the first ticks.
    """
    end = goal if walker.own_goal is None else walker.own_goal
    parts = list(_arrays_in(_memory_of(walker)))
    is_tiled = any(isinstance(part, Tiled) for part in parts)
    cells = _ahead(grid, walker.position, end, *(_IN_TILES if is_tiled else _IN_ROWS))
    for part in parts:
        if isinstance(part, Tiled) or (not is_tiled and part.size == grid.cells and part.dtype != np.int32):
            touch(part, cells)
        elif part.nbytes > mmap.PAGESIZE:  # lists of cells and other stacks, which are written from their beginning on
            first_byte = part.view(np.uint8)[:1]
            first_byte |= 0  # copied onto itself it would not be written to


def _ahead(
    grid: Grid, start: int, goal: int, step: int, steps: int, around: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Cells so many steps apart, and others around them, on the first stretch of the straight way between two cells."""
    begin, end = np.array(grid.xy(start)), np.array(grid.xy(goal))
    slope = (end - begin) / max(1, np.abs(end - begin).max())
    middles = begin + np.rint(step * np.arange(steps)[:, None] * slope).astype(np.int64)
    places = (middles[:, None] + step * around).reshape(-1, 2)
    x, y = np.clip(places, 0, (grid.width - 1, grid.height - 1)).T
    cells: npt.NDArray[np.int64] = np.unique(y * grid.width + x)
    return cells


def _arrays_in(memory: tuple[Any, ...]) -> "Iterator[Any]":
    """The arrays of a memory, tables in tiles as one each."""
    for part in memory:
        if isinstance(part, Tiled | np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from _arrays_in(part)


def _sizes(parts: Sequence[Any]) -> tuple[int, ...]:
    return tuple([part if isinstance(part, int) else part.size for part in parts])


def _addresses(parts: Sequence[Any]) -> list[int]:
    return [part.ctypes.data for part in parts if not isinstance(part, int)]
