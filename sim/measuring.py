"""Measuring: true distances to the shared goal, and the count of non-optimal moves based on them.

    measuring.walked(agent, metrics, position, rows)    judge moves made on the present map, or queue them
    measuring.spend(ticks)                  judge queued moves within the allowance for `ticks` ticks
    measuring.prepare_change()              call before the map or the goal changes: judges or drops queued moves
    measuring.changed(goal, aim)            call after the change; `aim` is a cell near those asked for next
    measuring.knows(agent)                  whether all moves of an agent have been judged
    measuring.will_know(agent)              whether all of them have been or can still be judged
    measuring.distance(cell)                the true distance
    measuring.distance_within(cell, expansions)     the true distance, or None if more expansions are needed

After a change of the map, the first distance takes an A* from the goal to the agents: 60 ms on 2048 x 2048. A run
without a window does this at once. A window limits the expansions per tick and shows "..." for a count until it is
known: moves are queued, and judged on the map on which they were made. If that map changes first, the count stays
unknown. A count that is shown always equals the one from a run without a window.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from sim.grid import Grid
from sim.kernels import distance, referee
from sim.kernels.jit import CachedDispatch, bare
from sim.kernels.search import begin, new_search, stamped_nodes
from sim.kernels.stale import GenerationTable

A_TICK = 20_000
"""Expansions for measuring that a window allows per tick: about 1 ms."""

_LAST_CHANCE = 2  # ticks' worth of expansions allowed just before the map changes; such a frame is long anyway

_UNLIMITED = int(distance.UNLIMITED)


_count = CachedDispatch(referee.count_nonoptimal)


@dataclass
class _Walk:
    """Queued moves of one agent that have not been judged yet."""

    agent: int  # agent id
    metrics: np.ndarray  # referee.METRICS of the agent, which get the count
    position: int  # cell before the first row
    rows: np.ndarray
    next: int = 0  # index of the first row that has not been judged


class OptimalityTracker:
    """Backward search from the shared goal, and the queue of moves that wait for its distances."""

    def __init__(self, grid: Grid, goal: int, aim: int, is_on: bool, *, is_watched: bool = False) -> None:
        self.is_on = is_on
        self.allowance: int | None = None  # expansions per tick; None: no limit, moves are judged at once
        self._grid, self.goal, self._aim = grid, goal, aim
        self._backward = bare(new_search(grid.cells if is_on else 0, is_bucketed=is_on, is_reused=not is_watched))
        self._is_old = True
        self._spent = 0  # expansions of earlier searches
        self._waiting: list[_Walk] = []
        self._lost: set[int] = set()  # ids of agents with moves that can never be judged

    @property
    def expansions(self) -> int:
        """Return the expansions that measuring has cost so far."""
        return self._spent + int(self._backward.control["expansions"][0])

    def stamped(self) -> GenerationTable:
        """Return the table of distances with the number of its present search, for keyframes."""
        return stamped_nodes(self._backward)

    @property
    def is_waiting(self) -> bool:
        """Return whether moves are queued."""
        return bool(self._waiting)

    def knows(self, agent: int) -> bool:
        """Return whether all moves of an agent have been judged."""
        if not self.is_on or agent in self._lost:
            return False
        return all(walk.agent != agent for walk in self._waiting)

    def will_know(self, agent: int) -> bool:
        """Return whether all moves of an agent have been judged or can still be judged."""
        return self.is_on and agent not in self._lost

    # --- judging moves ----------------------------------------------------------------------------

    def walked(self, agent: int, metrics: np.ndarray, position: int, rows: np.ndarray) -> None:
        """Judge the moves of an agent, or queue them if there is an `allowance`.

        Args:
            agent: agent id.
            metrics: referee.METRICS of the agent, which get the count of non-optimal moves.
            position: cell of the agent before the first row.
            rows: legal rows, all on the present map.
        """
        if not self.is_on or agent in self._lost:
            return
        if self.allowance is not None:
            self._waiting.append(_Walk(agent, metrics, position, rows))
            return
        self.finish()
        _count(self._grid.ground, rows, 0, position, metrics, self._fresh(), _UNLIMITED)

    def spend(self, ticks: int) -> None:
        """Judge queued moves within the allowance for `ticks` ticks."""
        if self._waiting:
            self._judge(_UNLIMITED if self.allowance is None else ticks * self.allowance)

    def finish(self) -> None:
        """Judge all queued moves, without a limit of expansions."""
        self._judge(_UNLIMITED)

    def prepare_change(self) -> None:
        """Judge queued moves before the map or the goal changes.

        Moves left over are dropped, and the counts of their agents stay unknown.
        """
        self.spend(_LAST_CHANCE)
        self._lost |= {walk.agent for walk in self._waiting}
        self._waiting.clear()

    def changed(self, goal: int, aim: int) -> None:
        """Invalidate all distances after a change of the map or the goal.

        Args:
            goal: shared goal from now on.
            aim: cell near those whose distances will be asked for, towards which the search heads.
        """
        assert not self._waiting
        self.goal, self._aim, self._is_old = goal, aim, True

    def _judge(self, allowed: int) -> None:
        """Judge queued moves with at most `allowed` expansions; moves left over remain in the queue."""
        is_limited = allowed < _UNLIMITED
        end = self.expansions + allowed if is_limited else 0
        while self._waiting:
            walk, backward = self._waiting[0], self._fresh()
            left = max(0, end - self.expansions) if is_limited else _UNLIMITED
            ground = self._grid.ground
            walk.next = int(_count(ground, walk.rows, walk.next, walk.position, walk.metrics, backward, left))
            if walk.next < walk.rows.size:
                return
            del self._waiting[0]

    # --- distances --------------------------------------------------------------------------------

    def distance(self, cell: int) -> float:
        """Return the cost of the cheapest path from a cell to the goal on the present map; infinity: there is none."""
        found = self.distance_within(cell, _UNLIMITED)
        assert found is not None
        return found

    def distance_within(self, cell: int, expansions: int) -> float | None:
        """Return the cost of the cheapest path, or None if the search needs more than `expansions` expansions.

        The next call continues the search.
        """
        return self._within(self._searching(cell), cell, expansions if self.is_on else _UNLIMITED)

    def cheapest_way(self, cell: int) -> tuple[float, int | None]:
        """Return cost and moves of the cheapest path from a cell to the goal; infinity and None: there is none."""
        backward = self._searching(cell)
        found = self._within(backward, cell, _UNLIMITED)
        assert found is not None
        return found, int(distance.moves_between(self._grid.ground, backward, cell)) if found < inf else None

    def _searching(self, cell: int) -> Any:
        """Return the search for distances; if measuring is off, a new search for this cell alone."""
        if self.is_on:
            return self._fresh()
        backward = new_search(self._grid.cells, is_bucketed=True, is_reused=True)
        begin(self._grid.ground, backward, self.goal, cell, cell)
        return backward

    def _within(self, backward: Any, cell: int, expansions: int) -> float | None:
        found = float(distance.true_distance(self._grid.ground, backward, cell, expansions))
        return None if found == distance.UNKNOWN else found

    def _fresh(self) -> Any:
        """Return the search for distances, restarted if the map or the goal has changed."""
        if self._is_old and self.is_on:
            self._spent += int(self._backward.control["expansions"][0])
            begin(self._grid.ground, self._backward, self.goal, -1, self._aim)
            self._is_old = False
        return self._backward
