"""Count of non-optimal moves, based on true distances to the shared goal.

A true distance is the cost of the cheapest path from a cell to the shared goal on the present map. A move is
non-optimal if it costs more than it brings the agent nearer to the goal. To judge a move is to find out, by means of
true distances, whether it is non-optimal.

    optimality.judge_or_queue_moves(agent, metrics, position, rows)  judge moves on the present map, or queue them
    optimality.judge_queue_with_limit(ticks)              judge queued moves; may use the expansions of `ticks` ticks
    optimality.judge_queue_before_map_change()            judge or drop queued moves, before the map or the goal changes
    optimality.invalidate_distances(goal, aim)            mark distances as outdated, after the map or goal has changed
    optimality.has_judged_all_moves(agent)                whether all moves of an agent have been judged
    optimality.can_judge_all_moves(agent)                 whether all moves have been or can still be judged
    optimality.true_distance(cell)                        true distance from a cell to the shared goal
    optimality.true_distance_within_limit(cell, expansions)  true distance; None: it takes more expansions

After a change of the map, the first true distance needs an A* search from the goal to the agents, which takes 60 ms
on a map of 2048 x 2048 cells. A run without a window makes this search at once. In a window, the search may use only
a limited number of expansions per tick (the allowance). So moves are queued, judged later on the map on which they were
made, and the window shows "..." as the number of non-optimal moves until then. If the map changes before a move has
been judged, the number stays unknown. A number that is shown always equals the number from a run without a window.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from sim.grid import Grid
from sim.kernels import distance, referee
from sim.kernels.jit import CachedDispatch, as_plain_arrays
from sim.kernels.search import begin_search, generation_table_of_nodes, new_search
from sim.kernels.stale import GenerationTable

MAX_EXPANSIONS_PER_TICK = 20_000
"""Maximum number of expansions per tick for true distances in a window; they take about 1 ms."""

# Just before a map change, queued moves may use the expansions of this many ticks: such a frame is slow anyway.
_TICKS_BEFORE_CHANGE = 2

_UNLIMITED = int(distance.UNLIMITED)


_count_nonoptimal_moves = CachedDispatch(
    referee.count_nonoptimal_moves
)  # kernel that judges moves and counts the non-optimal moves


@dataclass
class _QueuedMoves:
    """Queued moves of one agent, to be judged as optimal or non-optimal later."""

    agent: int  # agent id
    metrics: np.ndarray  # counts of the agent (referee.METRICS), which include its non-optimal moves
    position: int  # cell of the agent before the first of these moves
    rows: np.ndarray  # log.ROW[ticks]: log rows of the agent, which contain its moves
    next: int = 0  # index in `rows` of the first move that has not been judged


class OptimalityTracker:
    """Counter of non-optimal moves. Contains a search for true distances, and a queue of moves to judge."""

    def __init__(self, grid: Grid, goal: int, aim: int, is_on: bool, *, is_watched: bool = False) -> None:
        self.is_on = is_on
        self.expansion_limit: int | None = None  # maximum number of expansions per tick; None: no limit, and no queue
        self._grid, self.goal, self._aim_cell = grid, goal, aim
        self._backward_search = as_plain_arrays(
            new_search(grid.cells if is_on else 0, is_bucketed=is_on, is_reused=not is_watched)
        )
        self._is_search_stale = True
        self._earlier_expansions = 0  # number of expansions of all searches before the present search
        self._queue: list[_QueuedMoves] = []
        # Ids of agents whose number of non-optimal moves is unknown, because some moves could not be judged.
        self._unmeasurable_ids: set[int] = set()

    @property
    def expansions(self) -> int:
        """Return the number of expansions of all searches for true distances so far."""
        return self._earlier_expansions + int(self._backward_search.control["expansions"][0])

    def backward_search_table(self) -> GenerationTable:
        """Return the node table of the present search. Keyframes (saved states) leave out its outdated nodes."""
        return generation_table_of_nodes(self._backward_search)

    @property
    def has_queued_moves(self) -> bool:
        """Return whether any moves are queued to be judged later."""
        return bool(self._queue)

    def has_judged_all_moves(self, agent: int) -> bool:
        """Return whether all moves of an agent have been judged as optimal or non-optimal."""
        if not self.is_on or agent in self._unmeasurable_ids:
            return False
        return all(walk.agent != agent for walk in self._queue)

    def can_judge_all_moves(self, agent: int) -> bool:
        """Return whether all moves of an agent either have been judged or can still be judged."""
        return self.is_on and agent not in self._unmeasurable_ids

    # --- judging moves ----------------------------------------------------------------------------

    def judge_or_queue_moves(self, agent: int, metrics: np.ndarray, position: int, rows: np.ndarray) -> None:
        """Judge moves of an agent and count the non-optimal moves; with an `expansion_limit`, queue them instead.

        Args:
            agent: agent id.
            metrics: counts of the agent (referee.METRICS), to which the number of non-optimal moves is added.
            position: cell of the agent before the first of these moves.
            rows: log rows with the moves, which must be legal and made on the present map.
        """
        if not self.is_on or agent in self._unmeasurable_ids:
            return
        if self.expansion_limit is not None:
            self._queue.append(_QueuedMoves(agent, metrics, position, rows))
            return
        self.judge_whole_queue()
        _count_nonoptimal_moves(
            self._grid.ground, rows, 0, position, metrics, self._up_to_date_backward_search(), _UNLIMITED
        )

    def judge_queue_with_limit(self, ticks: int) -> None:
        """Judge queued moves, with at most `ticks` times the number of expansions that is allowed per tick."""
        if self._queue:
            self._judge_queued_moves(_UNLIMITED if self.expansion_limit is None else ticks * self.expansion_limit)

    def judge_whole_queue(self) -> None:
        """Judge all queued moves, with any number of expansions."""
        self._judge_queued_moves(_UNLIMITED)

    def judge_queue_before_map_change(self) -> None:
        """Judge queued moves, because the map or the goal is about to change.

        Moves that would need too many expansions are dropped. From then on, the number of non-optimal moves of their
        agents is unknown.
        """
        self.judge_queue_with_limit(_TICKS_BEFORE_CHANGE)
        self._unmeasurable_ids |= {walk.agent for walk in self._queue}
        self._queue.clear()

    def invalidate_distances(self, goal: int, aim: int) -> None:
        """Invalidate all true distances, because the map or the goal has changed.

        Args:
            goal: shared goal from now on.
            aim: cell near which distances will be needed next, such as the cell of an agent.
        """
        assert not self._queue
        self.goal, self._aim_cell, self._is_search_stale = goal, aim, True

    def _judge_queued_moves(self, allowed: int) -> None:
        """Judge queued moves with at most `allowed` expansions in total. Moves that need more stay in the queue."""
        is_limited = allowed < _UNLIMITED
        end = self.expansions + allowed if is_limited else 0
        while self._queue:
            walk, backward = self._queue[0], self._up_to_date_backward_search()
            left = max(0, end - self.expansions) if is_limited else _UNLIMITED
            ground = self._grid.ground
            walk.next = int(
                _count_nonoptimal_moves(ground, walk.rows, walk.next, walk.position, walk.metrics, backward, left)
            )
            if walk.next < walk.rows.size:
                return
            del self._queue[0]

    # --- distances --------------------------------------------------------------------------------

    def true_distance(self, cell: int) -> float:
        """Return the cost of the cheapest path from a cell to the goal (its true distance); infinity: no path."""
        found = self.true_distance_within_limit(cell, _UNLIMITED)
        assert found is not None
        return found

    def true_distance_within_limit(self, cell: int, expansions: int) -> float | None:
        """Return the true distance of a cell, or None if the search needs more than `expansions` expansions.

        If this method returns None, the next call continues the same search.
        """
        return self._distance_by_search(
            self._backward_search_for_cell(cell), cell, expansions if self.is_on else _UNLIMITED
        )

    def cheapest_cost_and_moves(self, cell: int) -> tuple[float, int | None]:
        """Return cost and number of moves of the cheapest path from a cell to the goal; no path: (infinity, None)."""
        backward = self._backward_search_for_cell(cell)
        found = self._distance_by_search(backward, cell, _UNLIMITED)
        assert found is not None
        return found, int(distance.moves_from_root(self._grid.ground, backward, cell)) if found < inf else None

    def _backward_search_for_cell(self, cell: int) -> Any:
        """Return a search from the goal: the present search if `is_on`, else a new search that is only for `cell`."""
        if self.is_on:
            return self._up_to_date_backward_search()
        backward = new_search(self._grid.cells, is_bucketed=True, is_reused=True)
        begin_search(self._grid.ground, backward, self.goal, cell, cell)
        return backward

    def _distance_by_search(self, backward: Any, cell: int, expansions: int) -> float | None:
        """Continue a search from the goal; return the true distance of a cell. None: `expansions` do not suffice."""
        found = float(distance.true_distance(self._grid.ground, backward, cell, expansions))
        return None if found == distance.UNKNOWN_DISTANCE else found

    def _up_to_date_backward_search(self) -> Any:
        """Return the search from the goal. If the map or the goal has changed, the search is restarted first."""
        if self._is_search_stale and self.is_on:
            self._earlier_expansions += int(self._backward_search.control["expansions"][0])
            begin_search(self._grid.ground, self._backward_search, self.goal, -1, self._aim_cell)
            self._is_search_stale = False
        return self._backward_search
