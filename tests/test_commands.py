"""The table of commands: whatever can happen to a world can be written, read and said."""

from dataclasses import dataclass
from typing import Any

import pytest

from agents.registry import BY_KEY
from sim import commands
from sim.commands import AgentConfig, Command, TimedCommand, together
from sim.files.commands import TABLE
from sim.files.edits import EditReader, Roster, edits_data, read_edits
from sim.files.fields import Field, Problems
from sim.files.log import UNKNOWN, LogReader, entry_data
from sim.files.yaml import read_yaml, write_yaml
from sim.time.log import Entry

WIDTH = 20
LAZY = AgentConfig("rtb-wa", "lazy", group="units")
EXAMPLES: list[tuple[Command, str]] = [
    (commands.EditCells((23,), (45, 46)), "cell (3, 1) blocked, 2 cells freed"),
    (commands.EditCells((), tuple(range(40, 60))), "20 cells freed"),
    (commands.EditCells(), "nothing edited"),
    (commands.SetTerrain((3, 4), "T."), "2 cells changed"),
    (commands.SetSwitch("north bridge", True), "north bridge blocked"),
    (commands.SetSwitch("north bridge", False), "north bridge open"),
    (commands.NameSwitch("gate: 1", (3, 4)), "2 cells named gate: 1"),
    (commands.NameSwitch("gate: 1", ()), "switch gate: 1 removed"),
    (commands.NameAgent(0, "w: 3"), "agent renamed to w: 3"),
    (commands.NameAgent(0, ""), "agent renamed to its algorithm"),
    (commands.MoveGoal(41), "goal moved to (1, 2)"),
    (commands.MoveGoal(41, 0), "lazy: goal moved to (1, 2)"),
    (commands.SetBudget(1600), "budget 1,600 a tick"),
    (commands.SetBudget(4, 0), "lazy: budget 4 a tick"),
    (commands.SetBudget(None, 0), "lazy: shared budget"),
    (commands.SetParam(0, "weight", 3.0), "lazy: weight 3.0"),
    (commands.SetParam(0, "reopen", True), "lazy: reopen on"),
    (commands.AddAgent(AgentConfig("tba"), 7), "TBA* added"),
    (commands.AddAgent(AgentConfig("tba", "second")), "second added"),
    (commands.RemoveAgent(0), "lazy removed"),
    (commands.SetChanges(10, 5.0), "random changes: 5 % every 10 ticks"),
    (commands.SetChanges(1, 5.0), "random changes: 5 % every 1 tick"),
    (commands.SetChanges(10, 0.0), "random changes stopped"),
    (commands.ToGroup("units", commands.SetParam(0, "weight", 3.0)), "units: weight 3.0"),
    (commands.ToGroup("units", commands.SetBudget(4, 0)), "units: budget 4 a tick"),
    (commands.ToGroup("units", commands.SetBudget(None, 0)), "units: shared budget"),
    (commands.ToGroup("units", commands.RemoveAgent(0)), "units removed"),
    (commands.ToGroup("units", commands.MoveGoal(41, 0)), "units: goal moved to (1, 2)"),
    (commands.SetTickMs(2.5), "time limit 2.5 ms a tick"),
    (commands.SetTickMs(0.0), "no time limit of ticks"),
    (commands.Serve(120), "120 agents planned"),
    (commands.Serve(1), "1 agent planned"),
    (commands.SetTrials(20), "20 trials"),
    (commands.SetTrials(1), "one trial"),
]
each_example = pytest.mark.parametrize(("command", "said"), EXAMPLES)


@dataclass(frozen=True)
class SomeNames:
    def cell(self, cell: int) -> str:
        return f"({cell % WIDTH}, {cell // WIDTH})"

    def agent(self, agent: int) -> str:
        return {0: "lazy"}.get(agent, f"agent {agent}")

    def algorithm(self, kind: str) -> str:
        return BY_KEY[kind].name


def document(data: Any) -> Field:
    found = read_yaml(write_yaml(data), "x.yaml")
    return Field(Problems(found), (), found.data)


def test_every_command_has_a_row_and_an_example() -> None:
    kinds = {*Command.__subclasses__(), *commands.MapEdit.__subclasses__()} - {commands.MapEdit}
    assert {row.kind for row in TABLE} == kinds == {type(command) for command, _ in EXAMPLES}


@each_example
def test_a_command_is_said(command: Command, said: str) -> None:
    assert command.say(SomeNames()) == said


@each_example
def test_a_command_of_a_scenario_reads_back_equal(command: Command, said: str) -> None:
    root = document(edits_data([LAZY], [TimedCommand(5, command)], WIDTH))
    roster = Roster(BY_KEY, 16)
    roster.join(LAZY)
    read = read_edits(root, EditReader(WIDTH, WIDTH, {"north bridge": ()}, roster))
    root.problems.raise_any()
    assert read == (TimedCommand(5, command),)


@each_example
def test_a_command_of_a_log_reads_back_equal(command: Command, said: str) -> None:
    entry = Entry(9, 5, command, is_scripted=True, is_enabled=False)
    root = document(entry_data(entry, WIDTH))
    read = LogReader(WIDTH, WIDTH).entry(root)
    root.problems.raise_any()
    assert read == entry


@pytest.mark.parametrize("is_blocked", [True, False])
def test_a_log_of_an_older_version_says_switches_otherwise(is_blocked: bool) -> None:
    root = document({"id": 1, "tick": 2, "switch": "bridge", "block": is_blocked})
    read = LogReader(WIDTH, WIDTH).entry(root)
    assert read == Entry(1, 2, commands.SetSwitch("bridge", is_blocked), stroke=UNKNOWN)


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
        ({"switch": "bridge"}, "block: expected true or false, got nothing"),
    ],
)
def test_what_is_no_command_is_refused(data: dict[str, Any], complaint: str) -> None:
    root = document({"id": 1, "tick": 2, **data})
    assert LogReader(WIDTH, WIDTH).entry(root) is None
    assert complaint in "\n".join(root.problems.texts())


def test_pieces_of_a_stroke_are_one_thing() -> None:
    pieces = [commands.EditCells((1, 2)), commands.MoveGoal(7), commands.EditCells((2, 3), (9,))]
    assert together(pieces) == [commands.EditCells((1, 2, 3), (9,)), commands.MoveGoal(7)]
    assert together([commands.SetTerrain((1, 2), "T."), commands.SetTerrain((2,), "@")]) == [
        commands.SetTerrain((1, 2), "T@")
    ]
