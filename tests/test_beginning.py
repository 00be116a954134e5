"""Beginning again: what the user has done stays, what was refused, switched off or lies ahead does not."""

import random
from pathlib import Path

import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from sim import world_commands
from sim.grid import Grid
from sim.world_commands import AgentConfig, Command, TimedCommand
from tests.runs import changed, scenario_on
from tests.test_session import finish_seek, setup
from tests.test_session import stroke as painted
from ui.model import branch_actions, opened_files, script_entries
from ui.model.session import Session

from .conftest import random_map_rows

SIDE = 9
AGENTS = (
    AgentConfig("tba", budget=10),
    AgentConfig("rtb-wa", "lazy", {"weight": 2.0}),
    *(AgentConfig("tb-wa", f"crowd {i}", {"weight": 3.0}, group="crowd") for i in range(3)),
    AgentConfig("lrta", goal=(0, 0)),
)


def settings_of(session: Session) -> list[object]:
    """All that a run begins with but its map, as its world has it."""
    world, names = session.run.world, session.run.focused_branch_timeline.command_log.names_of_agents()
    agents = [
        (
            w.spec.key,
            names.get(w.id, w.config.label),
            w.params,
            w.budget,
            w.config.group,
            w.start,
            world.goal_of_walker(w),
        )
        for w in sorted(world.walkers, key=lambda walker: walker.id)
    ]
    changes = world.random_changes if world.random_changes.changed_percent else None
    return [agents, world.budget, world.goal, world.switches, changes, world.max_trials, world.tick_time_limit_ms]


def random_command(chance: random.Random, cells: int) -> Command:
    """One that means nothing for the map; half of those about an agent are refused."""
    agent, cell = chance.randrange(9), chance.randrange(cells)
    setting = chance.choice(
        [
            world_commands.SetBudget(chance.choice([None, 1, 12]), agent),
            world_commands.SetParam(agent, "weight", chance.choice([1.5, 4.0, 0.5])),
            world_commands.SetParam(agent, "restart", chance.choice(["eager", "lazy", "never"])),
            world_commands.RemoveAgent(agent),
            world_commands.MoveGoal(cell, agent),
        ]
    )
    return chance.choice(
        [
            setting,
            setting,
            world_commands.ApplyToGroup(chance.choice(["crowd", "nobody"]), setting),
            world_commands.MoveGoal(cell),
            world_commands.MoveGoal(cell, agent),
            world_commands.SetBudget(chance.choice([1, 2, 30])),
            world_commands.RenameAgent(agent, chance.choice(["", "other"])),
            world_commands.AddAgent(AgentConfig("tb-gbfs", start=chance.choice([None, (4, 4)]))),
            world_commands.DefineSwitch(chance.choice(["gate", "new"]), chance.choice([(), (cell,)])),
            world_commands.SetRandomChanges(4, chance.choice([0.0, 20.0])),
            world_commands.SetMaxTrials(chance.choice([1, 5])),
        ]
    )


@pytest.mark.parametrize("seed", range(40))
def test_reset_keeps_all_settings_of_the_world(seed: int) -> None:
    chance = random.Random(seed)
    rows = random_map_rows(seed, SIDE, SIDE, 0.2)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    session = Session(scenario_on(Grid.from_text_rows(rows), 0, SIDE * SIDE - 1, AGENTS, switches={"gate": (5, 6)}))
    for _ in range(chance.randint(1, 9)):
        session.advance_by_ticks(chance.randrange(3))
        session.submit_command(random_command(chance, SIDE * SIDE))
    for deed in script_entries.script_entries(session.run):
        if chance.random() < 0.2:
            script_entries.toggle_script_entry(session, deed)
    finish_seek(session)
    session.seek_to_tick(chance.randint(0, session.tick))
    want = settings_of(session)
    session.start_over(keeps_map=False)
    assert settings_of(session) == want
    scenario = session.run.scenario  # a file says only what matters
    assert scenario.changes is None or scenario.changes.changed_percent
    for config in scenario.agents:
        defaults = {param.name: param.default for param in AGENT_SPECS_BY_KEY[config.kind].params}
        assert not config.params.items() & defaults.items()


# --- what a script does -----------------------------------------------------------------------------------


def test_reset_drops_script_edits_of_agents_removed_by_the_user() -> None:
    edits = (
        (2, world_commands.AddAgent(AgentConfig("tba", "first"), 7)),
        (2, world_commands.AddAgent(AgentConfig("tba", "second"), 4)),
        (3, world_commands.AddAgent(AgentConfig("lrta", "third"))),
        (4, world_commands.SetBudget(9, 8)),
        (5, world_commands.ApplyToGroup("crowd", world_commands.SetBudget(9, 0))),
    )
    session = Session(changed(scenario_on(Grid.from_text_rows(["." * SIDE] * SIDE), 0, 80, AGENTS), edits))
    session.advance_by_ticks(6)
    assert {w.label: w.budget for w in session.run.world.walkers}["third"] == 9
    session.submit_command(world_commands.RemoveAgent(7))
    session.submit_command(world_commands.ApplyToGroup("crowd", world_commands.RemoveAgent(0)))
    session.start_over(keeps_map=False)
    session.advance_by_ticks(6)
    assert {w.label: w.budget for w in session.run.world.walkers} == {
        "TBA*": 10,
        "lazy": None,
        "LRTA*": None,
        "second": None,
        "third": 9,
    }
    assert not session.run.focused_branch_timeline.run_history.run_messages


def test_reset_keeps_order_of_agent_without_panel() -> None:
    """Before the next one by number: the script has removed it for now, and the user has moved the others."""
    edits = (TimedCommand(2, world_commands.RemoveAgent(1)),)
    session = Session(changed(setup(), [(edit.tick, edit.command) for edit in edits]))
    session.seek_to_tick(3)
    session.run.order_panels([panel.key for panel in session.run.panels[::-1]])
    session.start_over(keeps_map=False)
    assert [config.kind for config in session.run.scenario.agents] == ["rtb-wa", "tb-gbfs", "tba"]


# --- what would be lost -----------------------------------------------------------------------------------


def test_saving_the_map_leaves_branches_unsaved(tmp_path: Path) -> None:
    session = Session(setup())
    session.advance_by_ticks(3)
    branch_actions.create_branch_at_current_tick(session)
    painted(session, [100], True)
    opened_files.save_map(session, tmp_path / "mine")
    assert session.has_unsaved_edits


def test_recovered_session_asks_to_save_even_minor_settings() -> None:
    session = Session(setup(script=((1, world_commands.AddAgent(AgentConfig("tba"))),)))
    session.advance_by_ticks(3)
    session.submit_command(world_commands.SetBudget(9))
    assert session.unsaved_work.has_unsaved_changes and not session.unsaved_work.has_work_worth_saving
    session.unsaved_work.mark_unsaved()
    assert session.unsaved_work.has_work_worth_saving
