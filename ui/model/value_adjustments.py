"""Step-by-step changes by wheel, key or button: parameters, budgets, random changes, trials, movement rule.

This module does not use pygame.
"""

from collections.abc import Sequence

from agents.registry import AGENT_SPECS
from sim import world_commands
from sim.kernels import octile
from sim.movement import RULE_DESCRIPTIONS, Movement
from sim.params import Param, Value
from sim.walker import Walker
from sim.world_commands import AgentConfig
from ui.model import agent_edits
from ui.model.panel_keys import PanelKey
from ui.model.session import Session
from ui.model.ui_state import UiState

RANDOM_CHANGE_RATES = (1.0, 2.0, 5.0, 10.0, 20.0)
RANDOM_CHANGE_INTERVALS = (1, 2, 5, 10, 20, 50, 100)
TRIAL_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
TICK_TIME_LIMITS_MS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
DIAGONAL_COSTS = (1.0, 1.2, 1.4, octile.DIAGONAL, 1.5, 1.75, 2.0)
UI_SCALES = (0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)


def neighbouring_value(values: Sequence[float], value: float, step: int) -> float:
    """Return the value `step` positions after the one nearest to `value`, at most the last (or first) of `values`."""
    nearest = min(range(len(values)), key=lambda i: abs(values[i] - value))
    return values[max(0, min(len(values) - 1, nearest + step))]


# --- one agent ------------------------------------------------------------------------------------


def cycle_agent_algorithm(session: Session, key: PanelKey, step: int) -> None:
    """Replace the agent of a panel by one with the next or previous algorithm, with default parameters.

    Args:
        session: The session.
        key: Panel of the agent.
        step: 1 for the next algorithm of the registry, -1 for the previous one.
    """
    walker = session.run.walker_of_panel(key)
    if walker is not None and not walker.config.group:
        order = [spec.key for spec in AGENT_SPECS]
        kind = order[(order.index(walker.spec.key) + step) % len(order)]
        agent_edits.replace_agent(session, key, AgentConfig(kind, budget=walker.budget))


def toggle_agent_param(session: Session, key: PanelKey, param: Param) -> bool:
    """Toggle a Boolean parameter, or set a text parameter to its next choice.

    Returns:
        False for a number, which has no next value; True otherwise, even if the parameter no longer exists.
    """
    walker = session.run.walker_of_panel(key)
    if walker is None or param.name not in walker.params:  # the agent may have been replaced since the last frame
        return True
    value = walker.params[param.name]
    if param.kind is bool:
        agent_edits.set_agent_param(session, key, param.name, not value)
    elif param.kind is str:
        choices = tuple(dict.fromkeys((*param.choices, str(value))))
        agent_edits.set_agent_param(session, key, param.name, choices[(choices.index(str(value)) + 1) % len(choices)])
    return param.kind in (bool, str)


def adjust_agent_param(session: Session, key: PanelKey, param: Param, step: int) -> None:
    """Change a number parameter by `step` times its step size, within its range; toggle any other parameter."""
    walker = session.run.walker_of_panel(key)
    if walker is None or param.name not in walker.params or toggle_agent_param(session, key, param):
        return
    step_size = param.step or (1.0 if param.kind is int else 0.1)
    value: Value = round(float(walker.params[param.name]) + step * step_size, 6)
    value = max(param.low if param.low is not None else value, min(param.high or value, value))
    agent_edits.set_agent_param(session, key, param.name, value)


def adjust_agent_budget(session: Session, key: PanelKey, step: int) -> None:
    """Double or halve the budget of one agent."""
    walker = session.run.walker_of_panel(key)
    if walker is not None:
        budget = walker.budget or session.run.branch_tree[key.branch].timeline.world.budget
        agent_edits.set_agent_budget(session, key, budget * 2 if step > 0 else max(1, budget // 2))


# --- the focused branch ---------------------------------------------------------------------------


def agents_with_shared_budget(session: Session) -> list[Walker]:
    """Return the agents of the focused branch that use the shared budget, because they have no own one."""
    return [walker for walker in session.run.world.walkers if walker.budget is None]


def set_shared_budget(session: Session, budget: int) -> None:
    """Set the shared budget; if an agent cannot work with it, only show the reason."""
    budget = max(1, budget)
    agent_edits.submit_budget_if_accepted(
        session, agents_with_shared_budget(session), budget, world_commands.SetBudget(budget)
    )


def toggle_map_switch(session: Session, name: str) -> str:
    """Block or free the cells of a switch, and return the message to show."""
    blocks = not session.run.world.switch_states()[name]
    session.submit_command(world_commands.SetSwitch(name, blocks))
    is_whole = session.run.world.switch_states()[name] == blocks
    state = ("blocked" if is_whole else "blocked, except under agents") if blocks else "free"
    return f"Tick {session.tick}: {name} {state}"


def adjust_random_change_rate(session: Session, state: UiState, step: int) -> None:
    changes = session.run.world.random_changes
    state.random_change_rate = neighbouring_value(
        RANDOM_CHANGE_RATES, changes.changed_percent or state.random_change_rate, step
    )
    if changes.changed_percent > 0:
        session.submit_command(world_commands.SetRandomChanges(changes.interval_ticks, state.random_change_rate))


def adjust_random_change_interval(session: Session, state: UiState, step: int) -> None:
    changes = session.run.world.random_changes
    is_on = changes.changed_percent > 0
    every = neighbouring_value(
        RANDOM_CHANGE_INTERVALS, changes.interval_ticks if is_on else state.random_change_interval, step
    )
    state.random_change_interval = int(every)
    if is_on:
        session.submit_command(world_commands.SetRandomChanges(state.random_change_interval, changes.changed_percent))


def adjust_trial_count(session: Session, step: int) -> str:
    """Change the number of trials of agents that learn, and return the message to show."""
    trials = int(neighbouring_value(TRIAL_COUNTS, session.run.world.max_trials, step))
    session.submit_command(world_commands.SetMaxTrials(trials))
    return f"Learning agents walk {f'up to {trials:,} times' if trials > 1 else 'once'}"


def adjust_tick_time_limit(session: Session, step: int) -> None:
    """Change the time limit in ms per tick of all agents together; the lowest choice, 0, means no limit."""
    session.submit_command(
        world_commands.SetTickTimeLimit(
            neighbouring_value(TICK_TIME_LIMITS_MS, session.run.world.tick_time_limit_ms, step)
        )
    )


def move_cell_cursor(session: Session, state: UiState, dx: int, dy: int) -> None:
    """Move the cell cursor by (dx, dy) cells; if it is not shown yet, show it at the focused agent."""
    grid = session.run.world.grid
    if state.cell_cursor is None:
        walker = session.focused_walker
        state.cell_cursor = grid.xy(walker.position if walker else session.run.world.start)
    else:
        x, y = state.cell_cursor[0] + dx, state.cell_cursor[1] + dy
        state.cell_cursor = (max(0, min(grid.width - 1, x)), max(0, min(grid.height - 1, y)))


# --- movement rule, whose change begins the run again ----------------------------------------------


def set_movement_rule(session: Session, rule: str) -> None:
    """Set another movement rule; the cost of diagonal moves is kept if the current rule has such moves."""
    now = session.run.world.grid.movement
    session.set_movement(Movement(rule, now.diagonal if now.has_diagonal_moves else octile.DIAGONAL))


def cycle_movement_rule(session: Session, step: int) -> None:
    rules = list(RULE_DESCRIPTIONS)
    set_movement_rule(session, rules[(rules.index(session.run.world.grid.movement.rule) + step) % len(rules)])


def adjust_diagonal_cost(session: Session, step: int) -> None:
    """Increase or decrease the cost of a diagonal move."""
    now = session.run.world.grid.movement
    if now.has_diagonal_moves:
        session.set_movement(Movement(now.rule, neighbouring_value(DIAGONAL_COSTS, now.diagonal, step)))
