"""Changes of a world by commands (commands.py). If a change is impossible, the user gets a message instead.

    WorldEditor(world).move_goal(cell, agent=None)

Commands call the methods of the interface `CommandTarget`. Every change of the map goes through `World.change_map`,
which notifies all agents; every other change that concerns agents calls `World.invalidate_executor_caches` with its
reason.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sim.agent_placing import cheapest_cost_and_moves, cheapest_costs_and_moves
from sim.changes import RandomChangeSchedule
from sim.executor import InvalidationReason
from sim.optimal_costs import Optimum
from sim.params import ConfigError, Value, did_you_mean_hint
from sim.walker import Walker
from sim.world_commands import MAX_SWITCHES, AgentConfig

if TYPE_CHECKING:
    from sim.world import World

_MAX_REFUSAL_MESSAGES = 3  # maximum number of occupied cells with a message each; of more, one message gives the number


class WorldEditor:
    """Editor of one world, with a method for every kind of change that commands make."""

    def __init__(self, world: "World") -> None:
        self._world = world

    # --- the map and its switches -----------------------------------------------------------------

    def block_and_free(self, blocked: Sequence[int], freed: Sequence[int]) -> None:
        """Block some cells and free others. A cell that an agent occupies stays free, and the user gets a message."""
        to_block, grid = np.asarray(blocked, np.int32), self._world.grid
        allowed = to_block[self._blockable_mask(to_block)]
        self._world.change_map(lambda: grid.block_and_free(allowed, np.asarray(freed, np.int32)))

    def set_terrain(self, cells: Sequence[int], letters: str) -> None:
        """Set the terrain character of each cell. Cells that agents occupy are not blocked; the user gets a message."""
        chosen, characters = np.asarray(cells, np.int32), np.frombuffer(letters.encode("ascii"), np.uint8)
        grid = self._world.grid
        allowed = grid.passable_letter_mask(characters)
        allowed[~allowed] = self._blockable_mask(chosen[~allowed])
        self._world.change_map(lambda: grid.set_terrain(chosen[allowed], characters[allowed]))

    def set_switch_blocked(self, name: str, is_blocked: bool) -> None:
        """Block or free all cells of a switch. If there is no switch of this name, only add a message for the user."""
        cells = self._world.switches.get(name)
        if cells is None:
            self._add_message(f"no switch '{name}'{did_you_mean_hint(name, self._world.switches)}")
        elif is_blocked:
            self.block_and_free(cells, ())
        else:
            self.block_and_free((), cells)

    def define_switch(self, name: str, cells: Sequence[int]) -> None:
        """Define or redefine a switch; without cells, delete it. If there are too many switches, add a message."""
        switches = self._world.switches
        if not cells:
            switches.pop(name, None)
        elif name in switches or len(switches) < MAX_SWITCHES:
            switches[name] = tuple(int(cell) for cell in cells)
        else:
            self._add_message(f"switch '{name}' was not added: there are already {MAX_SWITCHES} switches, the maximum")

    def _blockable_mask(self, cells: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return for each of `cells` whether no agent occupies it, so that it may be blocked; report occupied cells."""
        world = self._world
        refused = np.isin(cells, world.executor.occupied_cells(world))
        if refused.sum() > _MAX_REFUSAL_MESSAGES:
            self._add_message(f"{refused.sum():,} of {cells.size:,} cells stay free: agents are on them")
        for cell in cells[refused].tolist() if refused.sum() <= _MAX_REFUSAL_MESSAGES else ():
            label = [walker.label for walker in world.walkers if walker.position == cell][-1]
            x, y = world.grid.xy(cell)
            self._add_message(f"({x}, {y}) stays free: {label} is on it")
        if world.goal in cells:
            self._add_message("the goal is blocked: agents wait until it is free again")
        return ~refused

    # --- goals ------------------------------------------------------------------------------------

    def move_goal(self, cell: int, agent: int | None = None) -> None:
        """Move the shared goal, or give one agent a goal of its own.

        Args:
            cell: new goal. If it is blocked, the goal does not move, and a message is added for the user.
            agent: id of the agent; None: all agents without a goal of their own.
        """
        if not self._can_be_goal(cell):
            return
        if agent is None:
            self._move_shared_goal(cell)
        elif (walker := self._find_walker(agent)) is not None:
            self._move_own_goal(cell, walker, cheapest_cost_and_moves(self._world.grid, walker.start, cell))

    def move_goals(self, cell: int, agents: Sequence[int]) -> None:
        """Give several agents the same new goal. One search finds the cheapest paths of all these agents."""
        if not self._can_be_goal(cell):
            return
        chosen = set(agents)
        walkers = [walker for walker in self._world.walkers if walker.id in chosen]
        optima = cheapest_costs_and_moves(self._world.grid, [walker.start for walker in walkers], cell)
        for walker, optimum in zip(walkers, optima, strict=True):
            self._move_own_goal(cell, walker, optimum)

    def _can_be_goal(self, cell: int) -> bool:
        """Return whether a cell may become a goal: whether it is free. If it is blocked, add a message for the user."""
        grid = self._world.grid
        if not grid.is_free(cell):
            self._add_message(f"the goal cannot be at {grid.xy(cell)}: that cell is blocked")
            return False
        return True

    def _move_shared_goal(self, cell: int) -> None:
        world = self._world
        world.optimality_tracker.settle_queue_before_map_change()
        world.goal = cell
        world.invalidate_executor_caches(InvalidationReason.AGENTS)
        sharing = [walker for walker in world.walkers if walker.own_goal is None]
        # Optimal costs refer to the present map, because on the initial map the new goal may be blocked.
        world.optimality_tracker.move_shared_goal(cell, world.cell_near_agents, sharing, world.tick)
        for walker in sharing:
            walker.goal_tick = world.tick
            walker.agent.set_goal(cell)

    def _move_own_goal(self, cell: int, walker: Walker, optimum: Optimum) -> None:
        """Give a walker a new goal of its own. `optimum`: cost and moves of the cheapest path from its start to it."""
        world = self._world
        if walker.own_goal is None:
            # Queued moves are judged now, because moves of agents with a goal of their own are never judged.
            world.optimality_tracker.judge_whole_queue()
            # Agents with a goal of their own can be batched.
            world.invalidate_executor_caches(InvalidationReason.MEMBERSHIP)
        walker.own_goal, walker.own_optimum, walker.goal_tick = cell, optimum, world.tick
        world.optimality_tracker.optimal_costs.on_goal_set(world.tick)
        walker.config = replace(walker.config, goal=world.grid.xy(cell))
        walker.agent.set_goal(cell)
        world.invalidate_executor_caches(InvalidationReason.GOALS)

    # --- agents -----------------------------------------------------------------------------------

    def add_agent(self, config: AgentConfig, agent: int | None) -> None:
        """Add an agent. `agent`: its id; None: the next unused id."""
        try:
            self._world.add(config, agent)
        except ConfigError as error:
            for problem in error.problems:
                self._add_message(problem)

    def remove_agent(self, agent: int) -> None:
        if self._find_walker(agent) is not None:
            self._world.remove_agents(lambda walker: walker.id == agent)

    def rename_agent(self, agent: int, label: str) -> None:
        """Rename an agent. With the label "", the name of its algorithm is shown."""
        if (walker := self._find_walker(agent)) is not None:
            walker.config = replace(walker.config, label=label)

    def set_budget(self, budget: int | None, agent: int | None) -> None:
        """Set the shared budget, or the own budget of one agent.

        If the budget is invalid for the algorithm of an affected agent, no budget changes, and a message says why.

        Args:
            budget: expansions per tick; None: the agent uses the shared budget again.
            agent: id of the agent; None: set the shared budget.
        """
        world = self._world
        if agent is None:
            if self._is_budget_accepted(budget, [walker for walker in world.walkers if walker.budget is None]):
                world.budget = budget or world.budget
        elif (walker := self._find_walker(agent)) is not None and self._is_budget_accepted(budget, [walker]):
            walker.budget = budget

    def _is_budget_accepted(self, budget: int | None, walkers: Sequence[Walker]) -> bool:
        """Return whether all these agents accept a budget. If one does not, add a message that says why."""
        for walker in walkers:
            complaint = walker.spec.check_budget(budget or self._world.budget, walker.params)
            if complaint:
                self._add_message(f"{walker.label}: {complaint}")
                return False
        self._world.invalidate_executor_caches(InvalidationReason.AGENTS)
        return True

    def set_param(self, agent: int, name: str, value: Value) -> None:
        """Change a parameter of an agent. If its name or value is invalid, only add a message for the user."""
        walker = self._find_walker(agent)
        if walker is None:
            return
        param = walker.spec.param(name)
        if param is None:
            hint = did_you_mean_hint(name, [known.name for known in walker.spec.params])
            self._add_message(f"{walker.label} has no parameter '{name}'{hint}")
            return
        try:
            params = {**walker.params, name: param.parse_value(value, f"{walker.label}: {name}")}
        except ConfigError as error:
            self._add_message(str(error))
            return
        if complaint := walker.spec.check_budget(walker.budget or self._world.budget, params):
            self._add_message(f"{walker.label}: {complaint}")
            return
        walker.params = params
        self._world.invalidate_executor_caches(InvalidationReason.AGENTS)
        walker.agent.set_param(name, params[name])

    def agent_ids_of_group(self, group: str) -> Sequence[int]:
        """Return the ids of the members of a group. For an unknown group, return an empty list and add a message."""
        walkers = self._world.walkers
        found = [walker.id for walker in walkers if walker.config.group == group]
        if not found:
            hint = did_you_mean_hint(group, {walker.config.group for walker in walkers} - {""})
            self._add_message(f"no group '{group}'{hint}")
        return found

    # --- settings of the world --------------------------------------------------------------------

    def set_random_changes(self, changes: RandomChangeSchedule) -> None:
        """Replace the schedule of random map changes."""
        self._world.random_changes = changes

    def set_tick_time_limit_ms(self, milliseconds: float) -> None:
        """Set the time limit of a tick, in milliseconds for all agents together; 0: no limit."""
        self._world.tick_time_limit_ms = milliseconds

    def limit_planning_agents(self, agents: int) -> None:
        """Let only the next `agents` agents in round-robin order plan in the coming tick; the others wait."""
        self._world.planner_limit = agents

    def set_max_trials(self, count: int) -> None:
        """Set the maximum number of trials (walks from start to goal) of each agent that learns."""
        self._world.max_trials = count
        self._world.invalidate_executor_caches(InvalidationReason.MEMBERSHIP)
        for walker in self._world.walkers:
            walker.max_trials = count if walker.spec.keeps_h else 1

    # --- messages ---------------------------------------------------------------------------------

    def _find_walker(self, agent: int) -> Walker | None:
        """Return the walker of an agent. If there is no such agent, add a message for the user and return None."""
        walker = self._world.walker_with_id(agent)
        if walker is None:
            self._add_message(f"there is no agent {agent}")
        return walker

    def _add_message(self, text: str) -> None:
        self._world.add_message(text)
