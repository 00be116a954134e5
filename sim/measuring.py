"""Measuring: true distances to the goal, and which of the agents' moves were not optimal by them.

    measuring.walked(agent, metrics, position, rows)    moves that were made on the map as it is
    measuring.spend(ticks)                  judge what waits, as far as it is allowed for so many ticks
    measuring.prepare_change()              the map or the goal is about to change: judge what still waits, or never
    measuring.changed(goal, aim)            it has changed; `aim` is where those are who ask, more or less
    measuring.knows(agent)                  whether all its moves have been judged; will_know(agent): or will be
    measuring.distance(cell)                the true distance; distance_within(cell, expansions): that, or None

After a change of the map the first distance takes an A* from the goal to the agents: 60 ms on 2048 x 2048. Without a
window nobody minds. A window allows so many expansions a tick, and shows "..." for a number until it is known: moves
wait to be judged, and are judged on the map on which they were made. Where that map is gone before it was possible,
the number stays unknown. A number that is shown is always the one that a run without a window comes to.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from sim.grid import Grid
from sim.kernels import distance, referee
from sim.kernels.jit import Frequent, bare
from sim.kernels.search import begin, new_search, stamped_nodes
from sim.kernels.stale import Stamped

A_TICK = 20_000
"""Expansions for measuring that a window allows in a tick: about 1 ms."""

_LAST_CHANCE = 2  # times as many before the map changes, in a frame that has most to do anyway

_UNLIMITED = int(distance.UNLIMITED)


_count = Frequent(referee.count_nonoptimal)


@dataclass
class _Walk:
    """Moves of one agent that have not been judged."""

    agent: int
    metrics: np.ndarray  # its referee.METRICS
    position: int  # where it stood before the first row
    rows: np.ndarray
    next: int = 0  # the first row that has not been judged


class Measuring:
    def __init__(self, grid: Grid, goal: int, aim: int, is_on: bool, *, is_watched: bool = False) -> None:
        self.is_on = is_on
        self.allowance: int | None = None  # expansions a tick; None: as many as it takes, at once
        self._grid, self.goal, self._aim = grid, goal, aim
        self._backward = bare(new_search(grid.cells if is_on else 0, is_bucketed=is_on, is_reused=not is_watched))
        self._is_old = True
        self._spent = 0  # expansions of the searches before the present one
        self._waiting: list[_Walk] = []
        self._lost: set[int] = set()  # agents some of whose moves can never be judged

    @property
    def expansions(self) -> int:
        """What measuring has cost so far."""
        return self._spent + int(self._backward.control["expansions"][0])

    def stamped(self) -> Stamped:
        """Its table of distances as a keyframe sees it."""
        return stamped_nodes(self._backward)

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def knows(self, agent: int) -> bool:
        if not self.is_on or agent in self._lost:
            return False
        return all(walk.agent != agent for walk in self._waiting)

    def will_know(self, agent: int) -> bool:
        """Whether they have been or can still be."""
        return self.is_on and agent not in self._lost

    # --- judging moves ----------------------------------------------------------------------------

    def walked(self, agent: int, metrics: np.ndarray, position: int, rows: np.ndarray) -> None:
        """Take in the rows of an agent that stood at `position`. Those that are not judged at once wait."""
        if not self.is_on or agent in self._lost:
            return
        if self.allowance is not None:
            self._waiting.append(_Walk(agent, metrics, position, rows))
            return
        self.finish()
        _count(self._grid.ground, rows, 0, position, metrics, self._fresh(), _UNLIMITED)

    def spend(self, ticks: int) -> None:
        """Judge what waits, as far as so many ticks allow."""
        if self._waiting:
            self._judge(_UNLIMITED if self.allowance is None else ticks * self.allowance)

    def finish(self) -> None:
        """Judge all that waits, however long that takes."""
        self._judge(_UNLIMITED)

    def prepare_change(self) -> None:
        """The map or the goal is about to change: what cannot be judged now can never be."""
        self.spend(_LAST_CHANCE)
        self._lost |= {walk.agent for walk in self._waiting}
        self._waiting.clear()

    def changed(self, goal: int, aim: int) -> None:
        """Distances are others from now on."""
        assert not self._waiting
        self.goal, self._aim, self._is_old = goal, aim, True

    def _judge(self, allowed: int) -> None:
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
        """Cost of the cheapest path from a cell to the goal on the map as it is; infinity when there is none."""
        found = self.distance_within(cell, _UNLIMITED)
        assert found is not None
        return found

    def distance_within(self, cell: int, expansions: int) -> float | None:
        """The same, or None if so many expansions do not do; asked again, it goes on from there."""
        return self._within(self._searching(cell), cell, expansions if self.is_on else _UNLIMITED)

    def cheapest_way(self, cell: int) -> tuple[float, int | None]:
        """Cost and moves of the cheapest path from a cell to the goal; infinity and None when there is none."""
        backward = self._searching(cell)
        found = self._within(backward, cell, _UNLIMITED)
        assert found is not None
        return found, int(distance.moves_between(self._grid.ground, backward, cell)) if found < inf else None

    def _searching(self, cell: int) -> Any:
        """The search for distances; where nothing is measured, one for this cell alone."""
        if self.is_on:
            return self._fresh()
        backward = new_search(self._grid.cells, is_bucketed=True, is_reused=True)
        begin(self._grid.ground, backward, self.goal, cell, cell)
        return backward

    def _within(self, backward: Any, cell: int, expansions: int) -> float | None:
        found = float(distance.true_distance(self._grid.ground, backward, cell, expansions))
        return None if found == distance.UNKNOWN else found

    def _fresh(self) -> Any:
        """The search for distances, begun again if they have changed."""
        if self._is_old and self.is_on:
            self._spent += int(self._backward.control["expansions"][0])
            begin(self._grid.ground, self._backward, self.goal, -1, self._aim)
            self._is_old = False
        return self._backward
