"""Optimal costs: cost and number of moves of the cheapest path from the start of each agent to its goal.

An optimum refers to the map on which the agent first plans for its goal. So an optimum is outdated if the map changes
in the tick in which the goal was set, after it was set: it is then computed again before any agent plans.

    costs.shared_optimum                       optimum of the agents without a start or goal of their own
    costs.optimum_of_walker(walker)            optimum of an agent
    costs.set_shared_goal(walkers, tick)       compute the optima of agents whose shared goal has moved
    costs.on_map_change(change, tick)          mark optima as outdated
    costs.refresh_outdated_optima(walkers, tick, expansions)    compute some outdated optima; False if none is left
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.agent_placing import cheapest_costs_and_moves, possibly_changed_path_mask
from sim.grid import Grid, MapChange
from sim.true_distances import TrueDistances
from sim.walker import Walker

Optimum = tuple[float, int | None]
"""Cost and number of moves of a cheapest path; (infinity, None): there is no path."""


class OptimalCosts:
    """Optima of all agents of a world. The optimum of an agent with its own start or goal is stored in its walker."""

    def __init__(self, grid: Grid, start: int, distances: TrueDistances) -> None:
        self._grid, self._shared_start, self._true_distances = grid, start, distances
        self.shared_optimum: Optimum = distances.cost_and_moves_to_goal(start)
        self._shared_goal_tick = 0  # tick in which the shared goal was last set
        self._is_shared_optimum_outdated = False
        self._last_goal_tick = 0  # last tick in which a goal was set, shared or own
        # Cells that changed in `_last_goal_tick` after a goal was set in that tick: one array per map change.
        self._changed_cells: list[npt.NDArray[np.int32]] = []
        self._outdated_ids: set[int] = set()  # ids of agents with an outdated optimum of their own

    def optimum_of_walker(self, walker: Walker) -> Optimum:
        return walker.own_optimum or self.shared_optimum

    def on_goal_set(self, tick: int) -> None:
        """Note that an agent got a goal of its own, or was added, in this tick. Its optimum has been computed."""
        self._last_goal_tick = tick

    def set_shared_goal(self, walkers: Sequence[Walker], tick: int) -> None:
        """Compute the optima of all agents that share the goal, after it has moved. `walkers`: these agents."""
        self._shared_goal_tick = self._last_goal_tick = tick
        self._update_shared_optimum()
        from_own_start = [walker for walker in walkers if walker.own_optimum is not None]
        starts = [walker.start for walker in from_own_start]
        optima = cheapest_costs_and_moves(self._grid, starts, self._true_distances.goal)
        for walker, optimum in zip(from_own_start, optima, strict=True):
            walker.own_optimum = optimum

    def on_map_change(self, change: MapChange, tick: int) -> None:
        """Mark the optima of goals that were set earlier in this tick as outdated, since the map changed after that."""
        if change.has_changed_arcs:
            self._is_shared_optimum_outdated |= self._shared_goal_tick == tick
            if self._last_goal_tick == tick:
                self._changed_cells.append(change.cells)

    @property
    def are_optima_outdated(self) -> bool:
        """Return whether any optimum may be outdated."""
        return self._is_shared_optimum_outdated or bool(self._changed_cells or self._outdated_ids)

    def refresh_outdated_optima(self, walkers: Sequence[Walker], tick: int, expansions: int) -> bool:
        """Compute some outdated optima again. Repeat the call until it returns False.

        Args:
            walkers: all agents of the world.
            tick: present tick.
            expansions: maximum number of expansions of this call for the shared optimum. Agents with a start or goal of
                their own are not limited: a call makes one complete search for all of them that have the same goal.

        Returns:
            Whether any optimum was outdated at the beginning of the call.
        """
        if not self.are_optima_outdated:
            return False
        if self._is_shared_optimum_outdated:
            if self._true_distances.cost_to_goal_within_limit(self._shared_start, expansions) is not None:
                self._update_shared_optimum()
            return True
        self._outdated_ids |= self._pop_ids_with_changed_optima(walkers, tick)
        self._refresh_for_first_goal([walker for walker in walkers if walker.id in self._outdated_ids])
        return True

    def _update_shared_optimum(self) -> None:
        self.shared_optimum, self._is_shared_optimum_outdated = (
            self._true_distances.cost_and_moves_to_goal(self._shared_start),
            False,
        )

    def _pop_ids_with_changed_optima(self, walkers: Sequence[Walker], tick: int) -> set[int]:
        """Return the ids of agents that got a goal in this tick, if their cheapest path may have changed since then.

        The list of changed cells is cleared, so that each change is considered only once.
        """
        if not self._changed_cells:
            return set()
        changed, self._changed_cells = np.concatenate(self._changed_cells), []
        own = [(w, w.own_optimum[0]) for w in walkers if w.goal_tick == tick and w.own_optimum]
        starts, goals = [w.start for w, _ in own], [w.goal(self._true_distances.goal) for w, _ in own]
        may_differ = possibly_changed_path_mask(self._grid, starts, goals, [cost for _, cost in own], changed)
        return {own[index][0].id for index in np.flatnonzero(may_differ).tolist()}

    def _refresh_for_first_goal(self, walkers: Sequence[Walker]) -> None:
        """Compute the optima of all walkers with the same goal as the first one, by a single search.

        The ids of walkers with other goals remain in `_outdated_ids`.
        """
        shared = self._true_distances.goal
        goal = walkers[0].goal(shared) if walkers else -1
        same = [walker for walker in walkers if walker.goal(shared) == goal]
        optima = cheapest_costs_and_moves(self._grid, [walker.start for walker in same], goal)
        for walker, optimum in zip(same, optima, strict=True):
            walker.own_optimum = optimum
        self._outdated_ids = {walker.id for walker in walkers} - {walker.id for walker in same}
