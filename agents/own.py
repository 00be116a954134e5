"""What an agent of your own is made from: a class in a file of its own, in plain Python (docs/your-own-agent.md).

    from agents.own import OwnAgent, Param

    class MyAgent(OwnAgent):
        def begin(self): ...        once, standing on self.start
        def step(self): ...         every tick: the cell to go to, or None to stay

The base class knows the map and counts: `expand` returns the neighbours of a cell and costs one expansion. What else
an agent may look at: position, start, goal, budget, left (expansions of this tick), grid, distance(a, b), and its
parameters by their names. It cannot write to the map; the referee judges its moves like anybody's.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import index

import numpy as np

from sim.agent_api import AgentView, Problem, Status
from sim.grid import Grid, MapChange
from sim.kernels import log, octile
from sim.metrics import OwnCounts
from sim.params import Param, Value, in_python

__all__ = ["OwnAgent", "Param"]

Arc = tuple[int, float]


class OwnAgent:
    """Subclass this one."""

    name = ""  # in panels; by default that of the file
    summary = ""  # one sentence
    params: tuple[Param, ...] = ()
    is_complete = False  # it reaches every goal that can be reached: `check-agent` then holds it to that
    proves_no_path = False  # it says so, by `no_path`, where there is none

    grid: Grid
    start: int
    goal: int
    position: int
    budget: int  # expansions a tick
    path: Sequence[int] = ()  # drawn as the path ahead of it

    # --- yours ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """It has been put on its start; also where it begins anew after the goal was moved."""

    def step(self) -> int | None:
        """One tick: plan within the budget; the cell to go to, or None to stay."""
        raise NotImplementedError("write a method step(self) that returns the cell to go to")

    def changed(self, cells: Sequence[int]) -> None:
        """These cells of the map were blocked or freed."""

    # --- for you ----------------------------------------------------------------------------------

    def expand(self, cell: int) -> list[Arc]:
        """The cells that one legal move leads to, each with its cost. Costs one expansion."""
        self._expanded.append(cell)
        grid = self.grid
        return [(cell + step, cost) for step, cost in _arcs_by_moves(grid.width, grid.diagonal)[grid.moves[cell]]]

    @property
    def left(self) -> int:
        """Expansions that are left of the budget of this tick."""
        return self.budget - len(self._expanded)

    def distance(self, a: int, b: int) -> float:
        """Octile distance: what the cheapest way would cost if nothing were blocked."""
        width = self.grid.width
        dx, dy = abs(a % width - b % width), abs(a // width - b // width)
        return max(dx, dy) + (self.grid.diagonal - 1.0) * min(dx, dy)

    def no_path(self) -> None:
        """Say that there is no path on the map as it is. A change of the map wakes the agent again."""
        self._has_no_path = True

    # --- what the world sees (sim/agent_api.py) ---------------------------------------------------

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        self.grid, self.budget = problem.grid, problem.budget
        self.start = self.position = problem.start
        self.goal = problem.goal
        self._expanded: list[int] = []
        self._has_no_path = False
        for name, value in params.items():
            setattr(self, name, value)
        self.begin()

    def advance(self, budget: int, rows: np.ndarray) -> int:
        self.budget = budget
        self._expanded = []
        target: object = self.step()
        cell = self.position if target is None else self._cell_of(target)
        log.write_row(rows[0], cell, len(self._expanded), 0, 0, log.SEARCHING)
        self.position = cell
        return 1

    def _cell_of(self, target: object) -> int:
        """The cell that a step returned, of the map or not: that the referee says."""
        if not isinstance(target, bool):
            with suppress(TypeError, OverflowError):
                return int(np.int32(index(target)))  # type: ignore[arg-type]
        code = getattr(self.step, "__code__", None)
        where = f", which begins in line {code.co_firstlineno}," if code else ""
        raise TypeError(
            f"{type(self).__name__}.step{where} returned {in_python(target)}; expected a cell, which is a number "
            "such as self.grid.cell(x, y), or None to stay"
        )

    def on_change(self, change: MapChange) -> None:
        self._has_no_path = False
        self.changed(change.cells.tolist())

    def set_goal(self, goal: int) -> None:
        self.goal, self._has_no_path = goal, False
        self.begin()

    def set_param(self, name: str, value: Value) -> None:
        setattr(self, name, value)

    def refused(self, cell: int) -> None:
        self.position = cell

    @property
    def status(self) -> Status:
        if self.position == self.goal:
            return Status.AT_GOAL
        return Status.NO_PATH if self._has_no_path else Status.ACTIVE

    def own_counts(self) -> OwnCounts:
        return OwnCounts()

    def view(self) -> AgentView:
        return AgentView(path=np.array(self.path, np.int32), groups={"local space": np.array(self._expanded, np.int32)})


@lru_cache(maxsize=64)
def _arcs_by_moves(width: int, diagonal: float) -> list[list[Arc]]:
    """For each byte of legal moves: by how much the number of the cell changes, and the cost."""
    steps = (octile.DY * width + octile.DX).tolist()
    costs = [1.0 if d < octile.FIRST_DIAGONAL else diagonal for d in range(8)]
    return [[(steps[d], costs[d]) for d in range(8) if moves >> d & 1] for moves in range(256)]
