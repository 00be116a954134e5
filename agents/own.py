"""Base class of user-defined agents, which are written in plain Python in a file (docs/your-own-agent.md).

    from agents.own import OwnAgent, Param

    class MyAgent(OwnAgent):
        def begin(self): ...        called once, when the agent is placed on self.start
        def step(self): ...         called every tick: return the cell to go to, or None to stay

The base class holds the map and counts expansions: `expand` returns the neighbours of a cell and costs one expansion.
An agent may also read position, start, goal, budget, left (remaining expansions of this tick), grid, distance(a, b),
and its parameters by their names. It cannot write to the map, and the referee (sim/referee_rules.py) checks its moves
like those of all agents.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import index

import numpy as np

from sim.agent_api import AgentDefaults, AgentView, Problem, Status
from sim.grid import Grid, MapChange
from sim.kernels import log, octile
from sim.metrics import OwnCounts
from sim.movement import Movement
from sim.params import Param, Value, value_as_in_python

__all__ = ["OwnAgent", "Param"]

Arc = tuple[int, float]  # legal move from a given cell: the cell that it leads to, and its cost


class OwnAgent(AgentDefaults):
    """Base class of user-defined agents. Subclasses override `step`, and `begin` and `changed` if they need them."""

    name = ""  # name of the agent in panels; "" means the name of its file
    summary = ""  # description of the agent in one sentence
    params: tuple[Param, ...] = ()  # parameters of the agent; each becomes an attribute with the parameter's name
    is_complete = False  # whether the agent reaches every reachable goal; `check-agent` checks this claim
    proves_no_path = False  # whether the agent calls `no_path` on every problem without a path

    grid: Grid
    start: int  # cell on which the agent begins
    goal: int  # cell that the agent must reach
    position: int  # cell on which the agent is now
    budget: int  # maximum number of expansions in a tick
    path: Sequence[int] = ()  # cells that the window draws as the path ahead of the agent

    # --- methods to override ----------------------------------------------------------------------

    def begin(self) -> None:
        """Initialise the agent. Called when it is placed on its start, and again each time the goal has been moved."""

    def step(self) -> int | None:
        """Plan one tick within the budget.

        Returns:
            The cell to go to, or None to stay.
        """
        raise NotImplementedError("write a method step(self) that returns the cell to go to")

    def changed(self, cells: Sequence[int]) -> None:
        """React to a change of the map.

        Args:
            cells: Cells that were blocked or freed.
        """

    # --- methods to use ---------------------------------------------------------------------------

    def expand(self, cell: int) -> list[Arc]:
        """Expand a cell, which costs one expansion.

        Args:
            cell: Cell to expand.

        Returns:
            The cells that are reached by one legal move, each with the cost of the move.
        """
        self._expanded.append(cell)
        grid = self.grid
        return [(cell + step, cost) for step, cost in _moves_by_mask(grid.width, grid.movement)[grid.moves[cell]]]

    @property
    def left(self) -> int:
        """Return the number of expansions that remain of the budget of this tick."""
        return self.budget - len(self._expanded)

    def distance(self, a: int, b: int) -> float:
        """Return the cost of the cheapest path from a to b on a map without blocked cells (octile distance)."""
        width = self.grid.width
        dx, dy = abs(a % width - b % width), abs(a // width - b // width)
        return max(dx, dy) + (self.grid.diagonal_cost - 1.0) * min(dx, dy)

    def no_path(self) -> None:
        """Report that there is no path to the goal. `step` is called again only after a change of the map."""
        self._has_no_path = True

    # --- the agent contract (sim/agent_api.py) ----------------------------------------------------

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
        cell = self.position if target is None else self._checked_step_cell(target)
        log.write_tick_row(rows[0], cell, len(self._expanded), 0, 0, log.SEARCHING)
        self.position = cell
        return 1

    def _checked_step_cell(self, target: object) -> int:
        """Return the cell returned by `step` as an int; the referee checks that it is on the map.

        Raises:
            TypeError: The value is no integer.
        """
        if not isinstance(target, bool):
            with suppress(TypeError, OverflowError):
                return int(np.int32(index(target)))  # type: ignore[arg-type]
        code = getattr(self.step, "__code__", None)
        where = f", which begins in line {code.co_firstlineno}," if code else ""
        raise TypeError(
            f"{type(self).__name__}.step{where} returned {value_as_in_python(target)}; expected a cell, a number "
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
def _moves_by_mask(width: int, movement: Movement) -> list[list[Arc]]:
    """Return a list that is indexed by a move mask (one bit for each legal direction) and contains lists of moves.

    A move is the difference between the numbers of the two cells, and the cost.
    """
    steps = (octile.DY * width + octile.DX).tolist()
    costs = movement.direction_costs.tolist()
    return [[(steps[d], costs[d]) for d in range(8) if moves >> d & 1] for moves in range(256)]
