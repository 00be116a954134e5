"""Actions of the user on agents: adding, replacing, removing, setting and naming them, and moving their panels.

A command to an agent of a crowd applies to the whole crowd. An agent that needs prepared data is added when the data is
available (`Session.call_when_prepared`). This module does not use pygame.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from agents.own_files import with_pinned_version
from sim import world_commands
from sim.params import ConfigError, Value
from sim.walker import Walker
from sim.world_commands import AgentConfig, Command
from ui.model.panel_keys import PanelKey
from ui.model.session import Session


def _do_nothing() -> None:
    """Do nothing: the default callback, for callers that need not know when the change is done."""


# --- adding and removing --------------------------------------------------------------------------


def add_agent(session: Session, config: AgentConfig) -> bool:
    """Put a new agent on its start cell as soon as the data that it needs is prepared.

    Returns:
        False if the configuration of the agent is not valid; the user then sees a message.
    """
    return _call_when_data_prepared(session, config, partial(_add_agent_to_run, session, config))


def _call_when_data_prepared(session: Session, config: AgentConfig, on_prepared: Callable[[], None]) -> bool:
    """Call `on_prepared` as soon as the data that a new agent needs is prepared.

    Returns:
        False if the configuration of the agent is not valid; the user then sees a message.
    """
    world = session.run.world
    try:
        world.check_agent_count()
        world.check_agent_config(config)
    except ConfigError as error:
        session.user_messages.messages_until_next_edit.extend(error.problems)
        return False
    session.call_when_prepared((config,), world.grid, on_prepared)
    return True


def _add_agent_to_run(session: Session, config: AgentConfig) -> None:
    """Add an agent to the run, as one undo entry."""
    with session.undo_history.combine_actions():
        session.submit_command(world_commands.AddAgent(with_pinned_version(config)))
        session.focus_panel(PanelKey(session.run.focused_branch_number, session.run.world.walkers[-1].id))


def replace_agent(session: Session, key: PanelKey, config: AgentConfig, then: Callable[[], None] = _do_nothing) -> bool:
    """Replace the agent of a panel by a new one, which begins at its start cell as soon as its data is prepared.

    Args:
        session: The open session.
        key: Panel of the agent.
        config: The new agent.
        then: Callback after the replacement.

    Returns:
        False if the configuration of the new agent is not valid; the user then sees a message.
    """
    session.focus_panel(key)
    return _call_when_data_prepared(session, config, partial(_replace_agent_in_run, session, key, config, then))


def _replace_agent_in_run(session: Session, key: PanelKey, config: AgentConfig, then: Callable[[], None]) -> None:
    """Replace the agent of a panel by a new one, as one undo entry, and call `then` afterwards."""
    session.focus_panel(key)
    index, old_agent = session.panel_index(key), session.focused_walker
    with session.combine_actions(f"{old_agent.label if old_agent else 'an agent'} replaced"):
        _add_agent_to_run(session, config)
        new = session.focused_key
        session.submit_command(world_commands.RemoveAgent(key.agent))
        _move_panel_to_index(session, new, index)
        session.focus_panel(new)
    then()


def remove_agent(session: Session, key: PanelKey) -> None:
    session.focus_panel(key)
    session.submit_command(_command_for_panel(session, key, world_commands.RemoveAgent(key.agent)))


# --- parameters, budgets, goals -------------------------------------------------------------------


def _command_for_panel(session: Session, key: PanelKey, command: world_commands.GroupCommand) -> Command:
    """Return the command for the agent of a panel, or for all agents if the panel shows a crowd."""
    walker = session.run.walker_of_panel(key)
    group = walker.config.group if walker else ""
    return world_commands.ApplyToGroup(group, replace(command, agent=0)) if group else command


def set_agent_param(
    session: Session, key: PanelKey, name: str, value: Value, then: Callable[[], None] = _do_nothing
) -> None:
    """Set a parameter of an agent as soon as the data that the agent needs for the new value is prepared.

    Args:
        session: The open session.
        key: Panel of the agent.
        name: Name of the parameter.
        value: New value.
        then: Callback after the change, and also if the value is not valid.
    """
    session.focus_panel(key)
    walker = session.run.walker_of_panel(key)
    param = walker.spec.param(name) if walker else None
    if walker is None or param is None:
        return
    try:
        legal = param.parse_value(value, f"{walker.label}: {name}")
    except ConfigError as error:
        session.user_messages.messages_until_next_edit.extend(error.problems)
        then()
        return
    if legal != walker.params[name]:
        config = replace(walker.config, params={**walker.params, name: legal})
        session.call_when_prepared(
            (config,), session.run.world.grid, partial(_set_param_after_preparation, session, key, name, legal, then)
        )


def _set_param_after_preparation(
    session: Session, key: PanelKey, name: str, value: Value, then: Callable[[], None]
) -> None:
    session.focus_panel(key)
    session.submit_command(_command_for_panel(session, key, world_commands.SetParam(key.agent, name, value)))
    then()


def set_agent_budget(session: Session, key: PanelKey, budget: int | None) -> None:
    """Give an agent its own budget (expansions per tick); None makes it use the shared budget again."""
    session.focus_panel(key)
    walker = session.run.walker_of_panel(key)
    command = _command_for_panel(session, key, world_commands.SetBudget(budget, key.agent))
    submit_budget_if_accepted(session, [walker] if walker else [], budget or session.run.world.budget, command)


def submit_budget_if_accepted(session: Session, agents: Iterable[Walker], budget: int, command: Command) -> None:
    """Submit a command that sets the budget of these agents; if one of them does not accept it, only show why."""
    problems = ((walker, walker.spec.check_budget(budget, walker.params)) for walker in agents)
    refusal = next((f"{walker.label}: {problem}" for walker, problem in problems if problem), "")
    if refusal:
        session.user_messages.messages_until_next_edit.append(refusal)
    else:
        session.submit_command(command)


def move_agent_goal(session: Session, key: PanelKey, cell: int) -> None:
    """Give the agent of a panel its own goal; in the panel of a crowd, give all its agents the same goal."""
    session.focus_panel(key)
    session.submit_command(_command_for_panel(session, key, world_commands.MoveGoal(cell, key.agent)))


# --- names and panels -----------------------------------------------------------------------------


def agent_label(session: Session, key: PanelKey) -> str:
    """Return the label of the agent of a panel."""
    walker = session.run.walker_of_panel(key)
    return (
        "" if walker is None else session.run.branch_tree[key.branch].timeline.command_log.labels_of_agents([walker])[0]
    )


def rename_agent(session: Session, key: PanelKey, label: str) -> None:
    """Set the label of an agent; an empty one restores the name of its algorithm."""
    session.focus_panel(key)
    walker, before = session.run.walker_of_panel(key), agent_label(session, key)
    if walker is not None and not walker.config.group and label != before:
        with session.combine_actions(f"{before} renamed to {label or walker.spec.name}"):
            session.submit_command(world_commands.RenameAgent(walker.id, "" if label == walker.spec.name else label))


def move_panel_by_positions(session: Session, key: PanelKey, positions: int) -> None:
    """Move a panel by some positions in the display order. The simulation does not depend on that order."""
    walker = session.run.walker_of_panel(key)
    with session.combine_actions(f"{walker.label if walker else 'a panel'} moved"):
        _move_panel_to_index(session, key, max(0, session.panel_index(key) + positions))


def _move_panel_to_index(session: Session, key: PanelKey, index: int) -> None:
    """Move a panel to an index in the display order, or to the end if there are fewer panels."""
    others = [panel.key for panel in session.run.panels if panel.key != key]
    session.run.order_panels([*others[:index], key, *others[index:]])
