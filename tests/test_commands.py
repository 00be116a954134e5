"""The table of commands: whatever can happen to a world can be written, read and said."""

from dataclasses import dataclass
from typing import Any

import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from files.commands import COMMAND_FORMS
from files.document_fields import DocumentField, DocumentProblems
from files.log_entries import LogEntryReader, log_entry_data
from files.timed_commands import TimedCommandReader, TrackedAgents, read_timed_commands, timed_commands_data
from files.yaml import read_yaml, write_yaml
from sim import world_commands
from sim.time.command_log import LogEntry
from sim.world_commands import AgentConfig, Command, TimedCommand, merge_commands

WIDTH = 20
LAZY = AgentConfig("rtb-wa", "lazy", group="units")
EXAMPLES: list[tuple[Command, str]] = [
    (world_commands.EditCells((23,), (45, 46)), "cell (3, 1) blocked, 2 cells freed"),
    (world_commands.EditCells((), tuple(range(40, 60))), "20 cells freed"),
    (world_commands.EditCells(), "nothing edited"),
    (world_commands.SetTerrain((3, 4), "T."), "2 cells changed"),
    (world_commands.SetSwitch("north bridge", True), "north bridge blocked"),
    (world_commands.SetSwitch("north bridge", False), "north bridge open"),
    (world_commands.DefineSwitch("gate: 1", (3, 4)), "2 cells named gate: 1"),
    (world_commands.DefineSwitch("gate: 1", ()), "switch gate: 1 removed"),
    (world_commands.RenameAgent(0, "w: 3"), "agent renamed to w: 3"),
    (world_commands.RenameAgent(0, ""), "agent renamed to its algorithm"),
    (world_commands.MoveGoal(41), "goal moved to (1, 2)"),
    (world_commands.MoveGoal(41, 0), "lazy: goal moved to (1, 2)"),
    (world_commands.SetBudget(1600), "budget 1,600 a tick"),
    (world_commands.SetBudget(4, 0), "lazy: budget 4 a tick"),
    (world_commands.SetBudget(None, 0), "lazy: shared budget"),
    (world_commands.SetParam(0, "weight", 3.0), "lazy: weight 3.0"),
    (world_commands.SetParam(0, "reopen", True), "lazy: reopen on"),
    (world_commands.AddAgent(AgentConfig("tba"), 7), "TBA* added"),
    (world_commands.AddAgent(AgentConfig("tba", "second")), "second added"),
    (world_commands.RemoveAgent(0), "lazy removed"),
    (world_commands.SetRandomChanges(10, 5.0), "random changes: 5 % every 10 ticks"),
    (world_commands.SetRandomChanges(1, 5.0), "random changes: 5 % every 1 tick"),
    (world_commands.SetRandomChanges(10, 0.0), "random changes stopped"),
    (world_commands.ApplyToGroup("units", world_commands.SetParam(0, "weight", 3.0)), "units: weight 3.0"),
    (world_commands.ApplyToGroup("units", world_commands.SetBudget(4, 0)), "units: budget 4 a tick"),
    (world_commands.ApplyToGroup("units", world_commands.SetBudget(None, 0)), "units: shared budget"),
    (world_commands.ApplyToGroup("units", world_commands.RemoveAgent(0)), "units removed"),
    (world_commands.ApplyToGroup("units", world_commands.MoveGoal(41, 0)), "units: goal moved to (1, 2)"),
    (world_commands.SetTickTimeLimit(2.5), "time limit 2.5 ms a tick"),
    (world_commands.SetTickTimeLimit(0.0), "no time limit of ticks"),
    (world_commands.LimitPlanners(120), "120 agents planned"),
    (world_commands.LimitPlanners(1), "1 agent planned"),
    (world_commands.SetMaxTrials(20), "20 trials"),
    (world_commands.SetMaxTrials(1), "one trial"),
]
each_example = pytest.mark.parametrize(("command", "said"), EXAMPLES)


@dataclass(frozen=True)
class ExampleNames:
    def cell(self, cell: int) -> str:
        return f"({cell % WIDTH}, {cell // WIDTH})"

    def agent_name(self, agent: int) -> str:
        return {0: "lazy"}.get(agent, f"agent {agent}")

    def algorithm_name(self, kind: str) -> str:
        return AGENT_SPECS_BY_KEY[kind].name


def make_field(data: Any) -> DocumentField:
    found = read_yaml(write_yaml(data), "x.yaml")
    return DocumentField(DocumentProblems(found), (), found.data)


def test_every_command_class_has_a_table_row_and_an_example() -> None:
    kinds = {*Command.__subclasses__(), *world_commands.MapEdit.__subclasses__()} - {world_commands.MapEdit}
    assert {row.kind for row in COMMAND_FORMS} == kinds == {type(command) for command, _ in EXAMPLES}


@each_example
def test_command_description_matches(command: Command, said: str) -> None:
    assert command.describe_change(ExampleNames()) == said


@each_example
def test_scenario_command_round_trips(command: Command, said: str) -> None:
    root = make_field(timed_commands_data([LAZY], [TimedCommand(5, command)], WIDTH))
    roster = TrackedAgents(AGENT_SPECS_BY_KEY, 16)
    roster.add_agent(LAZY)
    read = read_timed_commands(root, TimedCommandReader(WIDTH, WIDTH, {"north bridge": ()}, roster))
    root.problems.raise_if_any_problem()
    assert read == (TimedCommand(5, command),)


@each_example
def test_log_entry_round_trips(command: Command, said: str) -> None:
    entry = LogEntry(9, 5, command, is_scripted=True, is_enabled=False)
    root = make_field(log_entry_data(entry, WIDTH))
    read = LogEntryReader(WIDTH, WIDTH).read_entry(root)
    root.problems.raise_if_any_problem()
    assert read == entry


def test_log_entry_without_stroke_is_its_own_stroke() -> None:
    """Turns that the program records under a time limit are saved without a stroke."""
    root = make_field(log_entry_data(LogEntry(7, 3, world_commands.LimitPlanners(2)), WIDTH))
    assert "stroke" not in root.value
    assert LogEntryReader(WIDTH, WIDTH).read_entry(root) == LogEntry(7, 3, world_commands.LimitPlanners(2), stroke_id=7)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"trials": 3, "agent": 0}, "'trials' cannot be used with an agent"),
        ({"set": {"weight": 2}}, "agent: expected the label or number of an agent, got nothing"),
        ({"goal": [1, 1], "budget": 4}, "expected one of block, free, terrain"),
        ({"set": {"weight": 2}, "budget": 4, "agent": 0}, "expected one of block, free, terrain"),
        ({}, "got none of them"),
        ({"group": "units"}, "group: expected exactly one of goal, budget, set"),
        ({"group": "units", "agent": 1, "budget": 4}, "'group' cannot be used with an agent"),
        ({"group": "units", "remove": 3}, "remove: expected all, got 3"),
        ({"group": "units", "trials": 3}, "expected one of block, free, terrain"),
        ({"group": "units", "goal": [1, 1], "budget": 3}, "group: expected exactly one of goal"),
    ],
)
def test_invalid_command_is_refused(data: dict[str, Any], complaint: str) -> None:
    root = make_field({"id": 1, "tick": 2, **data})
    assert LogEntryReader(WIDTH, WIDTH).read_entry(root) is None
    assert complaint in "\n".join(root.problems.sorted_messages())


def test_commands_of_one_stroke_are_merged() -> None:
    pieces = [world_commands.EditCells((1, 2)), world_commands.MoveGoal(7), world_commands.EditCells((2, 3), (9,))]
    assert merge_commands(pieces) == [world_commands.EditCells((1, 2, 3), (9,)), world_commands.MoveGoal(7)]
    assert merge_commands([world_commands.SetTerrain((1, 2), "T."), world_commands.SetTerrain((2,), "@")]) == [
        world_commands.SetTerrain((1, 2), "T@")
    ]
