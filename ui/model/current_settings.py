"""Detection of commands that would set a setting to its current value, which need not be recorded."""

from sim import world_commands
from sim.world import World
from sim.world_commands import Command


def command_restoring_current_value(world: World, command: Command) -> Command | None:
    """Return the command that would set the setting changed by `command` to its current value.

    Returns:
        The command; None if `command` does not change a setting (but the map, for example) or its agent does not exist.
    """
    match command:
        case world_commands.SetBudget(_, None):
            return world_commands.SetBudget(world.budget)
        case world_commands.SetBudget(_, int(agent)) if walker := world.walker_with_id(agent):
            return world_commands.SetBudget(walker.budget, agent)
        case world_commands.SetParam(agent, name) if (walker := world.walker_with_id(agent)) and name in walker.params:
            return world_commands.SetParam(agent, name, walker.params[name])
        case world_commands.SetRandomChanges():
            return world_commands.SetRandomChanges(
                world.random_changes.interval_ticks, world.random_changes.changed_percent
            )
        case world_commands.SetMaxTrials():
            return world_commands.SetMaxTrials(world.max_trials)
        case world_commands.SetTickTimeLimit():
            return world_commands.SetTickTimeLimit(world.tick_time_limit_ms)
        case world_commands.ApplyToGroup(group, group_command):
            return _command_restoring_group_value(world, group, group_command)
    return None


def _command_restoring_group_value(
    world: World, group: str, group_command: world_commands.GroupCommand
) -> Command | None:
    """Return the command that would set a setting of a group to its current value; None if its agents differ in it."""
    match group_command:
        case world_commands.SetBudget():
            budgets = {walker.budget for walker in world.walkers if walker.config.group == group}
            return (
                world_commands.ApplyToGroup(group, world_commands.SetBudget(budgets.pop(), group_command.agent))
                if len(budgets) == 1
                else None
            )
        case world_commands.SetParam(agent, name):
            values = {walker.params.get(name) for walker in world.walkers if walker.config.group == group}
            value = values.pop() if len(values) == 1 else None
            return (
                None
                if value is None
                else world_commands.ApplyToGroup(group, world_commands.SetParam(agent, name, value))
            )
    return None
