"""The log of a timeline as plain data, for session files and journals.

    {id: 7, tick: 40, block: [[3, 4], [4, 4]]}
    {id: 8, tick: 41, free: {runs: 3-40,4 3-40,5}}       many cells: runs along a row, in their order
    {id: 9, tick: 50, agent: 2, set: {weight: 3.0}}      agents by their numbers
    {id: 10, tick: 60, add: {kind: tba}, agent: 4}       the number that the new one gets
    {id: 2, tick: 70, block: south bridge, scripted: true, off: true}

A log says what somebody did, also where it came to nothing: a command for an agent that is gone, an agent that does
not exist. So reading only asks whether the data has the right form; what a command can do, the world says when it
applies. In contrast, commandfile.py reads what people write by hand, and is strict.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sim import commands
from sim.changes import RandomChanges
from sim.commands import AgentConfig, Command
from sim.files.commands import BUDGET, MAX_NAME, TICK, TRIALS, agent_data, changes_data, read_changes
from sim.files.fields import Field, require
from sim.files.yaml import Inline, InlineMap
from sim.grid import PASSABLE, SOLID
from sim.params import Param, Value
from sim.time.timeline import Entry

ID = Param("id", int, 0, "number of the entry", 1, (1 << 31) - 1)
AGENT = Param("agent", int, 0, "number of the agent", 0, (1 << 20) - 1)

KEYS = ("id", "tick", "scripted", "off", "agent")
KINDS = ("block", "free", "terrain", "switch", "goal", "budget", "set", "add", "remove", "changes", "trials")

_FEW = 8  # cells up to this number are written one by one
_RUN = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?,([0-9]{1,5})")


# --- writing --------------------------------------------------------------------------------------


def entry_data(entry: Entry, width: int) -> InlineMap:
    """An entry as plain data."""
    data = InlineMap(id=entry.id, tick=entry.tick, **_command_data(entry.command, width))
    if entry.is_scripted:
        data["scripted"] = True
    if not entry.is_enabled:
        data["off"] = True
    return data


def _command_data(command: Command, width: int) -> dict[str, Any]:
    match command:
        case commands.EditCells(blocked, freed):
            cells = {"block": blocked, "free": freed}
            return {key: cells_data(c, width) for key, c in cells.items() if c} or {"block": Inline()}
        case commands.SetTerrain(cells, letters):
            return {"terrain": InlineMap(cells=cells_data(cells, width), letters=letters)}
        case commands.SetSwitch(name, blocked):
            return {"switch": name, "block": blocked}
        case commands.MoveGoal(cell):
            return {"goal": _pair(cell, width)}
        case commands.SetBudget(budget, agent):
            return {"budget": budget} if agent is None else {"budget": budget, "agent": agent}
        case commands.SetParam(agent, name, value):
            return {"agent": agent, "set": InlineMap({name: value})}
        case commands.AddAgent(config, agent):
            return {"add": agent_data(config)} if agent is None else {"add": agent_data(config), "agent": agent}
        case commands.RemoveAgent(agent):
            return {"remove": agent}
        case commands.SetChanges(every, rate):
            return {"changes": changes_data(RandomChanges(every, rate))}
        case commands.SetTrials(count):
            return {"trials": count}


def _pair(cell: int, width: int) -> Inline:
    return Inline([int(cell) % width, int(cell) // width])


def cells_data(cells: Iterable[int], width: int) -> Inline | InlineMap:
    """Cells in their order: as pairs, or as runs along the rows when there are many."""
    flat = [int(cell) for cell in cells]
    if len(flat) <= _FEW:
        return Inline(_pair(cell, width) for cell in flat)
    return InlineMap(runs=" ".join(_run_text(first, last, width) for first, last in _runs(flat, width)))


def _runs(cells: list[int], width: int) -> list[tuple[int, int]]:
    """First and last cell of each run of neighbours along a row, in the order of the cells."""
    runs: list[tuple[int, int]] = []
    for cell in cells:
        if runs and cell == runs[-1][1] + 1 and cell % width:
            runs[-1] = (runs[-1][0], cell)
        else:
            runs.append((cell, cell))
    return runs


def _run_text(first: int, last: int, width: int) -> str:
    x = f"{first % width}-{last % width}" if last > first else f"{first % width}"
    return f"{x},{first // width}"


# --- reading --------------------------------------------------------------------------------------


class LogReader:
    """Reads entries of a log on a map of some size. Problems go to the document that the fields belong to."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height

    def entry(self, part: Field) -> Entry | None:
        """The entry that a mapping describes, or None after noting its problems."""
        fields = part.keys((*KEYS, *KINDS), "an entry such as {id: 7, tick: 40, block: [[3, 4]]}")
        number, tick = (require(fields, key, part, what) for key, what in (("id", "its number"), ("tick", "its tick")))
        if number is None or tick is None:
            return None
        found = number.integer(ID), tick.integer(TICK), self._command(part, fields)
        flags = [_flag(fields, key) for key in ("scripted", "off")]
        if found[0] is None or found[1] is None or found[2] is None or None in flags:
            return None
        return Entry(found[0], found[1], found[2], bool(flags[0]), not flags[1])

    def _command(self, part: Field, fields: Mapping[str, Field]) -> Command | None:
        kinds = [kind for kind in KINDS if kind in fields]
        if kinds and set(kinds) <= {"block", "free"}:
            return self._edit(fields)
        if kinds == ["block", "switch"]:
            return _switch(fields)
        if len(kinds) != 1:
            part.complain(f"expected one of {', '.join(KINDS)}, got {' and '.join(kinds) or 'none of them'}")
            return None
        field = fields[kinds[0]]
        match kinds[0]:
            case "terrain":
                return self._terrain(field)
            case "goal":
                pair = field.cell(self.width, self.height)
                return commands.MoveGoal(pair[1] * self.width + pair[0]) if pair else None
            case "budget":
                return _budget(field, fields)
            case "set":
                return _set(part, field, fields)
            case "add":
                return _add(field, fields)
            case "remove":
                agent = field.integer(AGENT)
                return None if agent is None else commands.RemoveAgent(agent)
            case "changes":
                changes = read_changes(field)
                return commands.SetChanges(changes.every, changes.rate) if changes else None
            case "trials":
                count = field.integer(TRIALS)
                return None if count is None else commands.SetTrials(count)
        field.complain("expected 'block: true' or 'block: false' beside it, got nothing")
        return None

    def _edit(self, fields: Mapping[str, Field]) -> Command | None:
        cells = [self.cells(fields[key]) if key in fields else () for key in ("block", "free")]
        return None if cells[0] is None or cells[1] is None else commands.EditCells(cells[0], cells[1])

    def _terrain(self, entry: Field) -> Command | None:
        found = self.letters(entry)
        return None if found is None else commands.SetTerrain(*found)

    def letters(self, entry: Field) -> tuple[tuple[int, ...], str] | None:
        """Cells and a terrain letter for each, written {cells: ..., letters: ...}."""
        fields = entry.keys(("cells", "letters"), "terrain such as {cells: [[3, 4]], letters: T}")
        cells_field = require(fields, "cells", entry, "cells")
        letters_field = require(fields, "letters", entry, "a terrain letter for each cell")
        if cells_field is None or letters_field is None:
            return None
        cells, letters = self.cells(cells_field), letters_field.value
        if not isinstance(letters, str) or not set(letters) <= set(PASSABLE + SOLID):
            letters_field.expect(f"letters of {' '.join(PASSABLE + SOLID)}")
            return None
        if cells is not None and len(cells) != len(letters):
            letters_field.complain(f"expected {len(cells):,} letters, one for each cell, got {len(letters):,}")
            return None
        return None if cells is None else (cells, letters)

    def cells(self, part: Field) -> tuple[int, ...] | None:
        """Flat cells from pairs or from runs."""
        if not isinstance(part.value, dict):
            pairs = part.cells(self.width, self.height)
            return None if pairs is None else tuple(y * self.width + x for x, y in pairs)
        fields = part.keys(("runs",), "cells such as [[3, 4]] or {runs: 3-9,4}")
        runs = require(fields, "runs", part, "runs of cells")
        if runs is None or not isinstance(runs.value, str):
            if runs is not None:
                runs.expect("runs of cells such as 3-9,4")
            return None
        return self._cells_of_runs(runs, runs.value)

    def _cells_of_runs(self, part: Field, text: str) -> tuple[int, ...] | None:
        cells: list[int] = []
        for word in text.split():
            match = _RUN.fullmatch(word)
            first, last, y = (int(match[1]), int(match[2] or match[1]), int(match[3])) if match else (1, 0, 0)
            if not (first <= last < self.width and y < self.height):
                part.complain(f"expected runs within the map, which is {self.width} x {self.height}, got {word[:40]!r}")
                return None
            # A few letters can name thousands of cells, but no edit names more than a map or two has.
            if len(cells) > 4 * self.width * self.height:
                part.complain(f"expected at most four times the {self.width} x {self.height} cells of the map")
                return None
            cells += range(y * self.width + first, y * self.width + last + 1)
        return tuple(cells)


def _flag(fields: Mapping[str, Field], key: str) -> bool | None:
    if key not in fields:
        return False
    if isinstance(fields[key].value, bool):
        return bool(fields[key].value)
    fields[key].expect("true or false")
    return None


def _switch(fields: Mapping[str, Field]) -> Command | None:
    name, is_blocked = fields["switch"].text(MAX_NAME), _flag(fields, "block")
    return None if name is None or is_blocked is None else commands.SetSwitch(name, is_blocked)


def _budget(field: Field, fields: Mapping[str, Field]) -> Command | None:
    agent = fields["agent"].integer(AGENT) if "agent" in fields else None
    budget = None if field.value is None else field.integer(BUDGET)
    if (agent is None) is ("agent" in fields) or (budget is None) is (field.value is not None):
        return None
    return commands.SetBudget(budget, agent)


def _set(part: Field, field: Field, fields: Mapping[str, Field]) -> Command | None:
    owner = require(fields, "agent", part, "the number of an agent")
    agent = owner.integer(AGENT) if owner else None
    values = _scalars(field, field.any_keys("a parameter such as {weight: 3.0}"))
    if agent is None or values is None:
        return None
    if len(values) != 1:
        field.expect("one parameter")
        return None
    ((name, value),) = values.items()
    return commands.SetParam(agent, name, value)


def _add(field: Field, fields: Mapping[str, Field]) -> Command | None:
    agent = fields["agent"].integer(AGENT) if "agent" in fields else None
    if agent is None and "agent" in fields:
        return None
    parts = field.any_keys("an agent such as {kind: tba}")
    kind_field = require(parts, "kind", field, "the key of an agent")
    kind = kind_field.text(MAX_NAME) if kind_field else None
    label = parts["label"].text(MAX_NAME) if "label" in parts else ""
    budget = parts["budget"].integer(BUDGET) if "budget" in parts else 0
    given = {key: part for key, part in parts.items() if key not in ("kind", "label", "budget")}
    params = _scalars(field, given)
    if kind is None or label is None or budget is None or params is None:
        return None
    return commands.AddAgent(AgentConfig(kind, label, params, budget or None), agent)


def _scalars(entry: Field, parts: Mapping[str, Field]) -> dict[str, Value] | None:
    """The values of these fields, each a plain one."""
    found: dict[str, Value] = {}
    for name, part in parts.items():
        if not isinstance(part.value, (bool, int, float, str)):
            part.expect("a number, true, false or a word")
            continue
        if isinstance(part.value, str) and part.text(MAX_NAME) is None:
            continue
        if Field(entry.problems, part.path, name).text(MAX_NAME) is not None:
            found[name] = part.value
    return found if len(found) == len(parts) else None
