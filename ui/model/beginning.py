"""A run as something to begin again: the scenario that it has become by what the user has set. No pygame here."""

from dataclasses import replace
from typing import Any

from agents.registry import BY_KEY
from sim import commands
from sim.commands import AgentConfig, Command
from sim.crowd import groups_of
from sim.files.scenario import Scenario
from sim.grid import Grid
from sim.time.timeline import Timeline
from ui.model.keys import PanelKey
from ui.model.run import Run


def scenario_of(run: Run, *, keeps_map: bool) -> Scenario:
    """A run as something to begin again: on its first map or as edited, with the agents as they are set now.

    What the user has set by hand in the branch in front stays. What the script has set stays out: the script will set
    it again.
    """
    world, pair = run.world, run.world.grid.xy
    changes = world.random_changes
    by_hand: dict[type[Command], dict[str, Any]] = {
        commands.MoveGoal: {"goal": pair(world.goal)},
        commands.SetBudget: {"budget": world.budget},
        commands.SetTrials: {"trials": world.trials},
        commands.SetTickMs: {"tick_ms": world.tick_ms},
        commands.SetChanges: {"changes": changes if changes.rate > 0 else None},
    }
    done = {type(command) for _, command in done_by_hand(run.timeline)}
    set_by_hand = {name: value for kind in by_hand if kind in done for name, value in by_hand[kind].items()}
    if commands.NameSwitch in done:
        set_by_hand["switches"] = _switches_by_hand(run)
    grid = world.grid.copy() if keeps_map else run.scenario.grid
    agents = tuple(_as_in_a_file(config) for config in configs_of(run))
    return replace(run.scenario, agents=agents, grid=grid, **set_by_hand)


def done_by_hand(timeline: Timeline) -> list[tuple[int, Command]]:
    """What was done by hand in a branch, with its ticks."""
    entries = (e for e in timeline.entries() if not e.is_scripted and e.is_enabled)
    return [(e.tick, e.command) for e in entries if not isinstance(e.command, commands.Serve)]


def configs_of(run: Run) -> list[AgentConfig]:
    """The agents of the branch in front as they are set now, in the order of the panels."""
    walkers, place = run.world.walkers, {key: i for i, key in enumerate(run.order)}
    first = {w.id: members[0].id for members in groups_of(walkers).values() for w in members}
    keys = {w.id: PanelKey(run.front, first.get(w.id, w.id)) for w in walkers}
    names = {w.id: w.config.label for w in walkers} | run.timeline.given_names()
    in_order = sorted(walkers, key=lambda w: place.get(keys[w.id], len(place)))
    return [replace(w.config, label=names[w.id], params=dict(w.params), budget=w.budget) for w in in_order]


def with_free_ends(scenario: Scenario) -> tuple[Scenario, list[str]]:
    """A run cannot begin with a start or a goal that was blocked in the meantime: frees them, and says which."""
    grid = scenario.grid.copy()
    letters, original = grid.terrain.reshape(-1), grid.original.reshape(-1)
    ends = {"start": scenario.start_cell, "goal": scenario.goal_cell}
    blocked = {name: cell for name, cell in ends.items() if not scenario.grid.is_free(cell)}
    for cell in blocked.values():
        letters[cell] = original[cell] if Grid.is_passable_letter(original[cell : cell + 1])[0] else ord(".")
    told = [f"the {name} is free again, for the run to begin" for name in blocked]
    return (replace(scenario, grid=grid.copy()), told) if blocked else (scenario, told)


def _switches_by_hand(run: Run) -> dict[str, tuple[commands.Pair, ...]]:
    """Those of the scenario, with what the user has named, renamed and ended."""
    switches, pair = dict(run.scenario.switches), run.world.grid.xy
    for _, command in done_by_hand(run.timeline):
        if isinstance(command, commands.NameSwitch):
            switches[command.name] = tuple(pair(cell) for cell in command.cells)
    return {name: cells for name, cells in switches.items() if cells}


def _as_in_a_file(config: AgentConfig) -> AgentConfig:
    """Only parameters that differ from their defaults, so that a file says what matters."""
    spec = BY_KEY[config.kind]
    params = {p.name: config.params[p.name] for p in spec.params if config.params.get(p.name, p.default) != p.default}
    return replace(config, params=params)
