"""Judgement of moves as optimal or non-optimal. The tracker also owns all true distances and optimal costs of a world.

A move is non-optimal if it costs more than it brings the agent nearer to the goal. To judge a move is to find out, by
means of true distances, whether it is non-optimal.

    tracker.true_distances                      true distances to the shared goal, see true_distances.py
    tracker.optimal_costs                       optimal costs of all agents, see optimal_costs.py
    tracker.judge_or_queue_moves(agent, metrics, position, rows)    judge moves on the present map, or queue them
    tracker.judge_queue_with_limit(ticks)       judge queued moves; may use the expansions of `ticks` ticks
    tracker.settle_queue_before_map_change()    judge or drop queued moves, before the map or the goal changes
    tracker.invalidate_after_map_change(change, tick, near)    mark distances and optimal costs as outdated
    tracker.move_shared_goal(goal, near, walkers, tick)    the same after a change of the shared goal
    tracker.has_judged_all_moves(walker)        whether all moves of an agent have been judged
    tracker.can_judge_all_moves(walker)         whether all moves have been or can still be judged
    tracker.continue_pending_work(walkers, tick)    compute some of what is pending, between two ticks of a window

After a change of the map, the first true distance needs an A* search from the goal to the agents, which takes 60 ms
on a map of 2048 x 2048 cells. A run without a window makes this search at once. In a window, the search may use only
a limited number of expansions per tick (the allowance). So moves are queued, judged later on the map on which they were
made, and the window shows "..." as the number of non-optimal moves until then. If the map changes before a move has
been judged, the number stays unknown. A number that is shown always equals the number from a run without a window.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.grid import Grid, MapChange
from sim.jit.decorators import without_type_checks
from sim.kernels import referee
from sim.optimal_costs import OptimalCosts
from sim.true_distances import MAX_EXPANSIONS_PER_TICK, UNLIMITED_EXPANSIONS, TrueDistances
from sim.walker import Walker

# Queued moves are judged just before a map change with at most the expansions of this number of ticks. A frame with a
# map change is slow in any case.
_JUDGING_TICKS_BEFORE_CHANGE = 2


# Kernel that judges moves and counts the non-optimal moves.
_count_nonoptimal_moves = without_type_checks(referee.count_nonoptimal_moves)


@dataclass
class _QueuedMoves:
    """Queued moves of one agent, to be judged as optimal or non-optimal later."""

    agent: int  # agent id
    counts_record: np.ndarray  # counts of the agent (referee.METRICS), which include its non-optimal moves
    first_position: int  # cell of the agent before the first of these moves
    log_rows: np.ndarray  # log.ROW[ticks]: log rows of the agent, which contain its moves
    next: int = 0  # index in `log_rows` of the first move that has not been judged


class OptimalityTracker:
    """Counter of non-optimal moves, with a queue of moves to judge; owner of true distances and optimal costs."""

    def __init__(self, grid: Grid, start: int, goal: int, is_on: bool, *, is_watched: bool = False) -> None:
        """Create the tracker of a world.

        Args:
            grid: map of the world.
            start: shared start.
            goal: shared goal.
            is_on: whether to judge moves. True distances and optimal costs are computed in any case.
            is_watched: whether the world is shown in a window.
        """
        self.is_enabled = is_on
        self.expansion_limit: int | None = None  # maximum number of expansions per tick; None: no limit, and no queue
        self._grid = grid
        self.true_distances = TrueDistances(grid, goal, start, keeps_search=is_on, is_watched=is_watched)
        self.optimal_costs = OptimalCosts(grid, start, self.true_distances)
        self._move_queue: list[_QueuedMoves] = []
        # Ids of agents whose number of non-optimal moves is unknown, because some moves could not be judged.
        self._unmeasurable_ids: set[int] = set()

    @property
    def has_queued_moves(self) -> bool:
        """Return whether any moves are queued to be judged later."""
        return bool(self._move_queue)

    def has_judged_all_moves(self, walker: Walker) -> bool:
        """Return whether all moves that an agent has made have been judged as optimal or non-optimal.

        Moves of agents with a goal of their own are never judged, because each such goal would need a search.
        """
        if not self.can_judge_all_moves(walker):
            return False
        return all(moves.agent != walker.id for moves in self._move_queue)

    def can_judge_all_moves(self, walker: Walker) -> bool:
        """Return whether all moves of an agent either have been judged or can still be judged."""
        return self.is_enabled and walker.own_goal is None and walker.id not in self._unmeasurable_ids

    # --- judging moves ----------------------------------------------------------------------------

    def judge_or_queue_moves(self, agent: int, metrics: np.ndarray, position: int, rows: np.ndarray) -> None:
        """Judge moves of an agent and count the non-optimal moves; with an `expansion_limit`, queue them instead.

        Args:
            agent: agent id.
            metrics: counts of the agent (referee.METRICS), to which the number of non-optimal moves is added.
            position: cell of the agent before the first of these moves.
            rows: log rows with the moves, which must be legal and made on the present map.
        """
        if not self.is_enabled or agent in self._unmeasurable_ids:
            return
        if self.expansion_limit is not None:
            self._move_queue.append(_QueuedMoves(agent, metrics, position, rows))
            return
        self.judge_whole_queue()
        _count_nonoptimal_moves(
            self._grid.map_arrays,
            rows,
            0,
            position,
            metrics,
            self.true_distances.current_search(),
            UNLIMITED_EXPANSIONS,
        )

    def judge_queue_with_limit(self, ticks: int) -> None:
        """Judge queued moves, with at most `ticks` times the number of expansions that is allowed per tick."""
        if self._move_queue:
            self._judge_queued_moves(
                UNLIMITED_EXPANSIONS if self.expansion_limit is None else ticks * self.expansion_limit
            )

    def judge_whole_queue(self) -> None:
        """Judge all queued moves, with any number of expansions."""
        self._judge_queued_moves(UNLIMITED_EXPANSIONS)

    def settle_queue_before_map_change(self) -> None:
        """Judge queued moves, because the map or the goal is about to change.

        Moves that would need too many expansions are dropped. From then on, the number of non-optimal moves of their
        agents is unknown.
        """
        self.judge_queue_with_limit(_JUDGING_TICKS_BEFORE_CHANGE)
        self._unmeasurable_ids |= {walk.agent for walk in self._move_queue}
        self._move_queue.clear()

    def invalidate_after_map_change(self, change: MapChange, tick: int, near: int) -> None:
        """Mark true distances and optimal costs as outdated. `near`: cell near which distances will be needed next."""
        assert not self._move_queue
        self.true_distances.invalidate_distances(self.true_distances.goal, near)
        self.optimal_costs.on_map_change(change, tick)

    def move_shared_goal(self, goal: int, near: int, walkers: Sequence[Walker], tick: int) -> None:
        """Compute the optimal costs of all agents that share the goal, after it has moved.

        Args:
            goal: new shared goal.
            near: cell near which distances will be needed next.
            walkers: agents without a goal of their own.
            tick: present tick.
        """
        assert not self._move_queue
        self.true_distances.invalidate_distances(goal, near)
        self.optimal_costs.set_shared_goal(walkers, tick)

    @property
    def has_pending_work(self) -> bool:
        """Return whether moves are queued or optimal costs are outdated."""
        return bool(self._move_queue) or self.optimal_costs.are_optima_outdated

    def continue_pending_work(self, walkers: Sequence[Walker], tick: int) -> None:
        """Compute some of what is pending, with at most MAX_EXPANSIONS_PER_TICK expansions. `walkers`: all agents."""
        if not self.optimal_costs.refresh_outdated_optima(walkers, tick, MAX_EXPANSIONS_PER_TICK):
            self.judge_queue_with_limit(1)

    def _judge_queued_moves(self, allowed: int) -> None:
        """Judge queued moves with at most `allowed` expansions in total. Moves that need more stay in the queue."""
        is_limited = allowed < UNLIMITED_EXPANSIONS
        end = self.true_distances.expansions + allowed if is_limited else 0
        while self._move_queue:
            walk, backward = self._move_queue[0], self.true_distances.current_search()
            left = max(0, end - self.true_distances.expansions) if is_limited else UNLIMITED_EXPANSIONS
            ground = self._grid.map_arrays
            walk.next = int(
                _count_nonoptimal_moves(
                    ground, walk.log_rows, walk.next, walk.first_position, walk.counts_record, backward, left
                )
            )
            if walk.next < walk.log_rows.size:
                return
            del self._move_queue[0]
