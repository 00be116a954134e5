"""Detection of commands that would set a setting to its current value, which need not be recorded."""

from sim import commands
from sim.commands import Command
from sim.world import World


def command_for_current_value(world: World, command: Command) -> Command | None:
    """Return the command that would set the setting changed by `command` to its current value.

    Returns:
        The command; None if `command` does not change a setting (but the map, for example) or its agent does not exist.
    """
    match command:
        case commands.SetBudget(_, None):
            return commands.SetBudget(world.budget)
        case commands.SetBudget(_, int(agent)) if walker := world.walker(agent):
            return commands.SetBudget(walker.budget, agent)
        case commands.SetParam(agent, name) if (walker := world.walker(agent)) and name in walker.params:
            return commands.SetParam(agent, name, walker.params[name])
        case commands.SetRandomChanges():
            return commands.SetRandomChanges(world.random_changes.every, world.random_changes.rate)
        case commands.SetTrials():
            return commands.SetTrials(world.trials)
        case commands.SetTickMs():
            return commands.SetTickMs(world.tick_ms)
        case commands.ApplyToGroup(group, group_command):
            return _command_for_group_value(world, group, group_command)
    return None


def _command_for_group_value(world: World, group: str, group_command: commands.GroupCommand) -> Command | None:
    """Return the command that would set a setting of a group to its current value; None if its agents differ in it."""
    match group_command:
        case commands.SetBudget():
            budgets = {walker.budget for walker in world.walkers if walker.config.group == group}
            return (
                commands.ApplyToGroup(group, commands.SetBudget(budgets.pop(), group_command.agent))
                if len(budgets) == 1
                else None
            )
        case commands.SetParam(agent, name):
            values = {walker.params.get(name) for walker in world.walkers if walker.config.group == group}
            value = values.pop() if len(values) == 1 else None
            return None if value is None else commands.ApplyToGroup(group, commands.SetParam(agent, name, value))
    return None
