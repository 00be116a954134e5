"""Conversion of a run into a scenario from which it can begin again at tick 0 with the settings made by the user.

This module does not use pygame.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, cast

from agents.registry import AGENT_SPECS_BY_KEY
from files.scenario import Scenario
from sim import world_commands
from sim.changes import RandomChangeSchedule
from sim.crowd import members_by_group
from sim.grid import Grid
from sim.params import Value
from sim.plurals import count_with_noun
from sim.time.command_log import LogEntry
from sim.time.timeline import Timeline
from sim.world_commands import (
    AddAgent,
    AgentConfig,
    ApplyToGroup,
    CellXY,
    Command,
    CommandTarget,
    MapEdit,
    RenameAgent,
    TimedCommand,
)
from ui.model.panel_keys import PanelKey
from ui.model.run import Run
from ui.model.user_map_edits import map_with_user_edits


def scenario_of_run(run: Run, *, keeps_map: bool, starts: Mapping[int, CellXY] = {}) -> Scenario:
    """Return the scenario of a run, changed by what the user did to the agents of the front branch.

    Effects of scripted commands are left out, because the script of the new run will repeat them. If agents get new
    numbers, the script is adapted.

    Args:
        run: The run.
        keeps_map: Begin on the map with the user's edits, not on the original one.
        starts: New start (x, y) of some agents, by number of the agent.
    """
    edited_world = _UserEditedWorld(run)
    for number, start in starts.items():
        edited_world.agent_configs[number] = replace(edited_world.agent_configs[number], start=start)
    agents = {number: _config_without_default_params(config) for number, config in edited_world.agent_configs.items()}
    scripted_agents = edited_world.scripted_agents
    first = _agents_in_panel_order(run, {n: config for n, config in agents.items() if n not in scripted_agents})
    numbers = {old: new for new, old in enumerate([*first, *(n for n in scripted_agents if n in agents)])}
    script = tuple(_renumbered_script(run.scenario.timed_commands, scripted_agents, numbers, agents))
    grid = map_with_user_edits(run) if keeps_map else run.scenario.grid
    return replace(
        run.scenario,
        agents=tuple(agents[n] for n in first),
        timed_commands=script,
        grid=grid,
        **edited_world.changed_settings,
    )


class _UserEditedWorld:
    """Stand-in for a world: the initial agents and settings of a run, changed by the user's commands up to now."""

    def __init__(self, run: Run) -> None:
        self._xy_of_cell = run.world.grid.xy
        self._switch_cells = dict(run.scenario.switches)
        # Scenario fields changed by the user: name of the field -> new value.
        self.changed_settings: dict[str, Any] = {}
        # Agents that the script adds: number -> configuration.
        self.scripted_agents = _agents_added_by_script(run.scenario)
        self.agent_configs = dict(enumerate(run.scenario.agents)) | self.scripted_agents
        refused = run.focused_branch_timeline.command_log.rejection_reasons(
            run.focused_branch_timeline.run_history.run_messages
        )
        for entry in run.focused_branch_timeline.command_log.entries:
            if _is_kept_command(entry, run.tick) and entry.id not in refused:
                entry.command.apply_to_world(cast(CommandTarget, self))  # the kept commands call only the methods below

    def move_goal(self, cell: int, agent: int | None) -> None:
        if agent is None:
            self.changed_settings["goal"] = self._xy_of_cell(cell)
        else:
            self._change_config(agent, goal=self._xy_of_cell(cell))

    def move_goals(self, cell: int, agents: Sequence[int]) -> None:
        for agent in agents:
            self.move_goal(cell, agent)

    def set_budget(self, budget: int | None, agent: int | None) -> None:
        if agent is not None:
            self._change_config(agent, budget=budget)
        elif budget is not None:
            self.changed_settings["budget"] = budget

    def set_param(self, agent: int, name: str, value: Value) -> None:
        if agent in self.agent_configs:
            self._change_config(agent, params={**self.agent_configs[agent].params, name: value})

    def rename_agent(self, agent: int, label: str) -> None:
        self._change_config(agent, label=label)

    def add_agent(self, config: AgentConfig, agent: int | None) -> None:
        assert agent is not None, config  # in the log of a run, each command AddAgent has a number
        self.agent_configs[agent] = config

    def remove_agent(self, agent: int) -> None:
        self.agent_configs.pop(agent, None)

    def agent_ids_of_group(self, group: str) -> Sequence[int]:
        return [number for number, config in self.agent_configs.items() if config.group == group]

    def define_switch(self, name: str, cells: Sequence[int]) -> None:
        self._switch_cells[name] = tuple(self._xy_of_cell(cell) for cell in cells)
        self.changed_settings["switches"] = {name: cells for name, cells in self._switch_cells.items() if cells}

    def set_random_changes(self, changes: RandomChangeSchedule) -> None:
        self.changed_settings["changes"] = changes if changes.changed_percent > 0 else None

    def set_max_trials(self, count: int) -> None:
        self.changed_settings["trials"] = count

    def set_tick_time_limit_ms(self, milliseconds: float) -> None:
        self.changed_settings["tick_ms"] = milliseconds

    def _change_config(self, agent: int, **changes: Any) -> None:
        """Change fields of an agent's configuration; do nothing if the agent was removed."""
        if agent in self.agent_configs:
            self.agent_configs[agent] = replace(self.agent_configs[agent], **changes)


def _is_kept_command(entry: LogEntry, tick: int) -> bool:
    """Return whether a log entry is a command of the user, up to `tick`, that does not edit the map.

    Commands that name an agent are kept at any tick.
    """
    command = entry.command
    is_user_command = (
        entry.is_enabled and not entry.is_scripted and not isinstance(command, (MapEdit, world_commands.LimitPlanners))
    )
    return is_user_command and (entry.tick <= tick or isinstance(command, RenameAgent))


def _agents_added_by_script(scenario: Scenario) -> dict[int, AgentConfig]:
    """Return the agents that the script adds during the run: number -> configuration."""
    added_agents: dict[int, AgentConfig] = {}
    next_number = len(scenario.agents)
    for edit in sorted(scenario.timed_commands, key=attrgetter("tick")):
        if isinstance(edit.command, AddAgent):
            number = next_number if edit.command.agent is None else edit.command.agent
            added_agents[number] = edit.command.config
            next_number = max(next_number, number + 1)
    return added_agents


def _renumbered_script(
    script: Iterable[TimedCommand],
    scripted_agents: Iterable[int],
    numbers: Mapping[int, int],
    agents: Mapping[int, AgentConfig],
) -> Iterator[TimedCommand]:
    """Yield the scripted commands with new agent numbers, without commands to agents that the user removed."""
    groups, new_agents = {config.group for config in agents.values()}, iter(scripted_agents)
    for edit in sorted(script, key=attrgetter("tick")):
        command, changes = edit.command, dict[str, Any]()
        if isinstance(command, ApplyToGroup):
            if command.group not in groups:
                continue
        elif isinstance(command, AddAgent):
            old = next(new_agents)
            if old not in numbers:
                continue
            changes = {"config": agents[old], "agent": None if command.agent is None else numbers[old]}
        elif (agent := getattr(command, "agent", None)) is not None:
            if agent not in numbers:
                continue
            changes = {"agent": numbers[agent]}
        yield replace(edit, command=replace(command, **changes)) if changes else edit


def _agents_in_panel_order(run: Run, agents: Mapping[int, AgentConfig]) -> list[int]:
    """Return the numbers of the agents in the order of their panels.

    If the user moved panels, the agents of a crowd become adjacent, and an agent without a panel is put before the
    agent with the next higher number.
    """
    panel_indices = {key.agent: i for i, key in enumerate(run.panel_order) if key.branch == run.focused_branch_number}
    if list(panel_indices) == sorted(panel_indices):
        return sorted(agents)
    first_members = {key: members[0].id for key, members in members_by_group(run.world.walkers).items()}
    indices = {n: panel_indices.get(first_members.get((config.group, config.kind), n)) for n, config in agents.items()}
    order = sorted((n for n in indices if indices[n] is not None), key=lambda n: (indices[n], n))
    for number in sorted(n for n in indices if indices[n] is None):
        order.insert(next((i for i, other in enumerate(order) if other > number), len(order)), number)
    return order


def user_commands(timeline: Timeline) -> list[tuple[int, Command]]:
    """Return the commands that the user gave in a branch, as pairs (tick, command)."""
    entries = (e for e in timeline.command_log.entries if not e.is_scripted and e.is_enabled)
    return [(e.tick, e.command) for e in entries if not isinstance(e.command, world_commands.LimitPlanners)]


def current_agent_configs(run: Run) -> list[AgentConfig]:
    """Return the agents of the front branch with their current settings, in the order of the panels."""
    walkers, panel_indices = run.world.walkers, {key: i for i, key in enumerate(run.panel_order)}
    crowd_leaders = {w.id: members[0].id for members in members_by_group(walkers).values() for w in members}
    keys = {w.id: PanelKey(run.focused_branch_number, crowd_leaders.get(w.id, w.id)) for w in walkers}
    names = {w.id: w.config.label for w in walkers} | run.focused_branch_timeline.command_log.names_of_agents()
    in_order = sorted(walkers, key=lambda w: panel_indices.get(keys[w.id], len(panel_indices)))
    return [replace(w.config, label=names[w.id], params=dict(w.params), budget=w.budget) for w in in_order]


def scenario_with_free_starts_and_goals(scenario: Scenario) -> tuple[Scenario, list[str]]:
    """Return the scenario with all starts and goals free, because a run cannot begin if one of them is blocked.

    Returns:
        The scenario, and messages for the user that name the freed cells.
    """
    grid = scenario.grid.copy()
    letters, original = grid.terrain.reshape(-1), grid.original_terrain.reshape(-1)
    shared = {"start": scenario.start_cell, "goal": scenario.goal_cell}
    used_cells = {
        grid.cell(*pair) for config in scenario.agents for pair in (config.start, config.goal) if pair is not None
    }
    blocked = [cell for cell in {*shared.values(), *used_cells} if not scenario.grid.is_free(cell)]
    for cell in blocked:
        letters[cell] = original[cell] if Grid.passable_letter_mask(original[cell : cell + 1])[0] else ord(".")
    reason = "so that the run can begin"
    messages = [f"The {name} was blocked and is now free, {reason}" for name, cell in shared.items() if cell in blocked]
    if count := len({*blocked} - {*shared.values()}):
        verbs = "was blocked and is" if count == 1 else "were blocked and are"
        messages.append(f"{count_with_noun(count, 'start or goal cell')} of agents {verbs} now free, {reason}")
    return (replace(scenario, grid=grid.copy()), messages) if blocked else (scenario, messages)


def _config_without_default_params(config: AgentConfig) -> AgentConfig:
    """Return an agent's configuration with only the parameters that differ from their defaults, for a short file."""
    spec = AGENT_SPECS_BY_KEY[config.kind]
    params = {p.name: config.params[p.name] for p in spec.params if config.params.get(p.name, p.default) != p.default}
    return replace(config, params=params)
