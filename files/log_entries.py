"""Read and write the log entries of a timeline, for session files and journals.

    {id: 7, tick: 40, block: [[3, 4], [4, 4]], stroke: 7}      entries of one stroke share the id of its first entry
    {id: 8, tick: 41, block: [[5, 4]], stroke: 7}
    {id: 9, tick: 50, agent: 2, set: {weight: 3.0}, stroke: 9}       `agent`: the number of the agent
    {id: 10, tick: 60, add: {kind: tba}, agent: 4, stroke: 10}       `agent`: the number of the new agent
    {id: 2, tick: 70, block: south bridge, scripted: true, off: true}       from the scenario, and disabled

A stroke is the group of entries that one action of the user created. A log contains all commands of the user, even
commands without effect, such as one for a removed agent. So reading checks only the form of the data, and the world
reports problems when a command applies. In contrast, timed_commands.py reads files written by people, and is strict.
"""

from collections.abc import Iterable, Mapping

from files.agents import AGENT_KEYS
from files.cell_lists import cell_list_data
from files.commands import COMMAND_KEYS, CommandReader, CommandWriter, command_data, read_entry_commands
from files.document_fields import DocumentField, require_field
from files.yaml import InlineList, InlineMap
from sim.params import Param, Value
from sim.time.command_log import LogEntry
from sim.world_commands import AGENT_PARAM, BUDGET_PARAM, MAX_NAME_LENGTH, TICK_PARAM, AgentConfig, Command

ENTRY_ID_PARAM = Param("id", int, 0, "number of the entry", 1, (1 << 31) - 1)

_ENTRY_KEYS = ("id", "tick", "scripted", "off", "agent", "stroke")


class _LogEntryWriter(CommandWriter):
    def cells(self, cells: Iterable[int]) -> InlineList | InlineMap:
        return cell_list_data(cells, self.width)

    def agent(self, number: int) -> int:
        return number


def log_entry_data(entry: LogEntry, width: int) -> InlineMap:
    """Return a log entry as plain data for a file; `width` is the width of the map."""
    data = InlineMap(id=entry.id, tick=entry.tick, **command_data(entry.command, _LogEntryWriter(width)))
    if entry.is_scripted:
        data["scripted"] = True
    if not entry.is_enabled:
        data["off"] = True
    if entry.stroke_id:
        data["stroke"] = entry.stroke_id
    return data


class LogEntryReader(CommandReader):
    """Reader of log entries for a map of some size. Problems are added to the list of problems of the document."""

    def read_entry(self, part: DocumentField) -> LogEntry | None:
        """Return the log entry that a mapping describes; None after reporting its problems."""
        fields = part.read_known_keys(
            (*_ENTRY_KEYS, *COMMAND_KEYS), "an entry such as {id: 7, tick: 40, block: [[3, 4]]}"
        )
        number, tick = (
            require_field(fields, key, part, what) for key, what in (("id", "its number"), ("tick", "its tick"))
        )
        if number is None or tick is None:
            return None
        found = (
            number.read_integer(ENTRY_ID_PARAM),
            tick.read_integer(TICK_PARAM),
            self._read_entry_command(part, fields),
        )
        flags = [_read_flag(fields, key) for key in ("scripted", "off")]
        # an entry that no action of the user created, such as {serve: 3}, has no key `stroke_id`: it is its own stroke
        stroke = fields["stroke"].read_integer(ENTRY_ID_PARAM) if "stroke" in fields else found[0]
        if found[0] is None or found[1] is None or found[2] is None or stroke is None or None in flags:
            return None
        return LogEntry(found[0], found[1], found[2], bool(flags[0]), not flags[1], 0 if flags[0] else stroke)

    def _read_entry_command(self, part: DocumentField, fields: Mapping[str, DocumentField]) -> Command | None:
        found = read_entry_commands(part, fields, self)
        return found[0] if found else None

    def agent(self, part: DocumentField) -> int | None:
        return part.read_integer(AGENT_PARAM)

    def read_group_agent(self, part: DocumentField) -> int | None:
        return 0

    def read_switch_name(self, part: DocumentField) -> str | None:
        return part.read_text(MAX_NAME_LENGTH)

    def is_budget_valid(self, part: DocumentField, budget: int | None, agent: int | None) -> bool:
        return True

    def read_params(self, part: DocumentField, agent: int) -> dict[str, Value]:
        values = _scalar_values(part, part.read_mapping("a parameter such as {weight: 3.0}"))
        if values is not None and len(values) != 1:
            part.report_expected_value("one parameter")
            return {}
        return values or {}

    def read_new_agent(
        self, part: DocumentField, number: DocumentField | None
    ) -> tuple[AgentConfig, int | None] | None:
        assigned = number.read_integer(AGENT_PARAM) if number else None
        parts = part.read_mapping("an agent such as {kind: tba}")
        kind_field = require_field(parts, "kind", part, "the key of an agent")
        kind = kind_field.read_text(MAX_NAME_LENGTH) if kind_field else None
        label = parts["label"].read_text(MAX_NAME_LENGTH) if "label" in parts else ""
        budget = parts["budget"].read_integer(BUDGET_PARAM) if "budget" in parts else 0
        start, goal = (parts[key].cell(self.width, self.height) if key in parts else None for key in ("start", "goal"))
        group = parts["group"].read_text(MAX_NAME_LENGTH) if "group" in parts else ""
        given = {key: value for key, value in parts.items() if key not in AGENT_KEYS}
        params = _scalar_values(part, given)
        is_wrong = number is not None and assigned is None
        if is_wrong or kind is None or label is None or budget is None or params is None:
            return None
        return AgentConfig(kind, label, params, budget or None, start, goal, group or ""), assigned


def _read_flag(fields: Mapping[str, DocumentField], key: str) -> bool | None:
    """Return the truth value of an optional key, or False if the key is missing; None after reporting a problem."""
    if key not in fields:
        return False
    if isinstance(fields[key].value, bool):
        return bool(fields[key].value)
    fields[key].report_expected_value("true or false")
    return None


def _scalar_values(entry: DocumentField, parts: Mapping[str, DocumentField]) -> dict[str, Value] | None:
    """Return the values of fields by name, if each is a bool, number or short text; None after reporting problems."""
    found: dict[str, Value] = {}
    for name, part in parts.items():
        if not isinstance(part.value, (bool, int, float, str)):
            part.report_expected_value("a number, true, false or a word")
            continue
        if isinstance(part.value, str) and part.read_text(MAX_NAME_LENGTH) is None:
            continue
        if DocumentField(entry.problems, part.path, name).read_text(MAX_NAME_LENGTH) is not None:
            found[name] = part.value
    return found if len(found) == len(parts) else None
