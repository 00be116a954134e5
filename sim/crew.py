"""Crews: agents of one kind that advance in one call of a kernel (sim/kernels/crew.py), each as it would alone."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.grid import Grid, MapChange
from sim.kernels import log
from sim.kernels.crew import RESULT, RULE
from sim.kernels.jit import JIT_ON

if TYPE_CHECKING:
    from sim.world import Walker

Clock = Callable[[], float]

FEWEST = 16
"""For fewer agents a call for all would save less than a millisecond, and cost the time to compile it."""


class Told(NamedTuple):
    """What an agent has done lately."""

    rows: npt.NDArray[Any] = log.new_bare_log(0)  # of the last advance
    tick: int = 0  # of the first of them
    phase: int = log.WAITING  # in its last row, whenever that was
    budget: int = 0  # the one of that row

    def with_rows(self, rows: npt.NDArray[Any]) -> "Told":
        """As _replace would do it, in a quarter of the time: it is done for every agent in every frame."""
        return Told(rows, self.tick, self.phase, self.budget)


@dataclass(frozen=True)
class Piece:
    """What a crew did in some ticks, in the order of its walkers."""

    tick: int  # the first
    rows: npt.NDArray[Any]  # log.ROW[walkers, ticks]
    done: npt.NDArray[np.int64]  # in how many of them each did something


class Seat(NamedTuple):
    """The place of a walker in a crew. What all do is kept together, and made out for one when somebody asks."""

    crew: "Crew"
    place: int

    def rows(self) -> npt.NDArray[Any]:
        own = [piece.rows[self.place, : piece.done[self.place]] for piece in self.crew.pieces if piece.done[self.place]]
        return own[0] if len(own) == 1 else np.concatenate(own) if own else log.new_bare_log(0)

    def told(self) -> Told:
        return Told(
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
        self._change = walkers[0].agent.crew_change  # type: ignore[attr-defined]
        self._rules = np.zeros(len(walkers), RULE)
        self._like = _memory_of(walkers[0])
        self._sizes = _sizes(parts[0])
        self._table = np.array([_addresses(own) for own in parts], np.int64)
        self.results = np.zeros(len(walkers), RESULT)
        self.ids = tuple(walker.id for walker in walkers)
        self.places = {number: place for place, number in enumerate(self.ids)}
        self.pieces: list[Piece] = []  # of the advance that is going on, or of the last one
        self.seconds = 0.0  # that these took, where somebody has a clock
        self.row_ticks = np.array([walker.rows_tick for walker in walkers], np.int64)
        self.phases = np.array([walker.last_phase for walker in walkers], np.int16)
        self.budgets = np.array([walker.last_budget for walker in walkers], np.int64)
        self._seats = [Seat(self, place) for place in range(len(walkers))]
        self._has_rows = np.zeros(len(walkers), np.bool_)
        self._own_budgets = np.zeros(len(walkers), np.int64)  # 0: the world's
        self._look_at_rules()
        self._memories = [walker.agent.arguments() for walker in walkers]  # type: ignore[attr-defined]

    def look_again(self) -> bool:
        """Note where the memory lies of those who have replaced some of it. Due after everything that may do that.

        Returns whether all still belong here: a parameter may ask for another kernel or for other memory.
        """
        self._look_at_rules()
        for i, walker in enumerate(self.walkers):
            arguments = walker.agent.arguments()  # type: ignore[attr-defined]
            if arguments is self._memories[i]:
                continue
            parts = _parts_of(walker)
            if walker.agent.crew_kernel is not self.kernel or _sizes(parts) != self._sizes:  # type: ignore[attr-defined]
                return False
            self._memories[i] = arguments
            self._table[i] = _addresses(parts)
        return True

    def _look_at_rules(self) -> None:
        self._own_budgets[:] = [walker.budget or 0 for walker in self.walkers]
        self._rules[:] = [walker.agent.crew_rule() for walker in self.walkers]  # type: ignore[attr-defined]

    def tell(self, grid: Grid, change: MapChange) -> bool:
        """Tell all of them of a change of the map, at once; False if each has to be told by itself."""
        if self._change is not None:
            arcs = change.tails, change.heads, change.rose
            self._change(grid.ground, self._like, self._table, self._rules, *arcs)
        return self._change is not None

    def forget_rows(self) -> None:
        """Another advance begins."""
        self.pieces.clear()
        self.seconds = 0.0
        self._has_rows[:] = False

    def run(self, grid: Grid, tick: int, budget: int, ticks: int, clock: Clock | None = None) -> Piece:
        """Let all of them plan and act; results say how far each came. `clock` times it, in `seconds`."""
        rows = self.begin(budget, ticks)
        before = clock() if clock else 0.0
        self.serve(grid, tick, rows, slice(None))
        self.seconds += clock() - before if clock else 0.0
        return self.end(tick, rows)

    def begin(self, budget: int, ticks: int) -> npt.NDArray[Any]:
        """Rows for some ticks in which nobody has done anything yet."""
        self.results["budget"] = np.where(self._own_budgets > 0, self._own_budgets, budget)
        self.results["done"] = self.results["legal"] = 0
        return np.zeros((len(self.walkers), ticks), log.ROW)

    def serve(self, grid: Grid, tick: int, rows: npt.NDArray[Any], places: slice) -> None:
        """Let some of them plan and act."""
        self.kernel(grid.ground, self._like, self._table[places], self.results[places], tick, rows[places])

    def end(self, tick: int, rows: npt.NDArray[Any]) -> Piece:
        """What all did that were served."""
        piece = Piece(tick, rows, self.results["done"].copy())
        self.pieces.append(piece)
        acted = np.flatnonzero(piece.done)
        self.row_ticks[acted[~self._has_rows[acted]]] = tick
        self._has_rows[acted] = True
        self.phases[acted] = rows["phase"][acted, piece.done[acted] - 1]
        self.budgets[acted] = self.results["budget"][acted]
        for walker, seat in zip(self.walkers, self._seats, strict=True):
            walker.seat = seat
        return piece


class Turns:
    """All walkers of a world: crews of those that are able to be in one, and the others, each alone."""

    def __init__(self, walkers: "Sequence[Walker]", able: "Iterable[Walker]") -> None:
        self._list, self._of = walkers, _signs(walkers)
        self.crews = _crews_of(able)
        joined = [walker for crew in self.crews for walker in crew.walkers]
        numbers = {walker.id for walker in joined}
        self.alone = [walker for walker in walkers if walker.id not in numbers]

    def are_of(self, walkers: "Sequence[Walker]") -> bool:
        """Whether these are the same walkers, with as many trials as they had."""
        is_same_list = walkers is self._list and len(walkers) == len(self._of)
        return is_same_list or self._of == _signs(walkers)

    def look_again(self) -> bool:
        """See where everybody's memory lies; whether the crews can stay as they are."""
        return all(crew.look_again() for crew in self.crews)


def _signs(walkers: "Iterable[Walker]") -> list[tuple[int, int]]:
    return [(id(walker), walker.most_trials) for walker in walkers]


def _crews_of(walkers: "Iterable[Walker]") -> list[Crew]:
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


def _sizes(parts: Sequence[Any]) -> tuple[int, ...]:
    return tuple([part if isinstance(part, int) else part.size for part in parts])


def _addresses(parts: Sequence[Any]) -> list[int]:
    return [part.ctypes.data for part in parts if not isinstance(part, int)]
