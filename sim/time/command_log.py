"""Command log of a timeline: the commands of the scenario's script and of the user, with their ticks. Plain data.

Entries are sorted by tick; entries of one tick are in the order in which they apply. An entry keeps its id when it or
another entry is moved to another tick. A stroke is the group of entries that one action of the user created.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from operator import attrgetter

from sim.time.agent_records import NO_AGENT, MarkKind
from sim.walker import Walker
from sim.world_commands import MAX_COMMAND_TICK, AddAgent, Command, LimitPlanners, RenameAgent, RunMessage
from sim.world_view import WalkerView


@dataclass(frozen=True)
class LogEntry:
    """Entry of a command log: a command and the tick at which it applies."""

    id: int
    tick: int
    command: Command
    is_scripted: bool = False  # whether the command comes from the scenario; otherwise the user gave it
    is_enabled: bool = True
    stroke_id: int = 0  # id of the first entry that the same user action created; 0: a scripted entry


def log_with_entry(entries: Iterable[LogEntry], entry: LogEntry) -> list[LogEntry]:
    """Return a copy of a log with `entry` added, or with `entry` in place of the entry that has the same id.

    An added or moved entry follows all others of its tick; an entry that replaces one at the same tick keeps its index.
    """
    log = list(entries)
    index = next((i for i, old in enumerate(log) if old.id == entry.id), None)
    if index is not None and log[index].tick == entry.tick:
        log[index] = entry
        return log
    if index is not None:
        del log[index]
    log.insert(index_after_tick(log, entry.tick), entry)
    return log


def index_after_tick(entries: Sequence[LogEntry], tick: int) -> int:
    """Return the number of entries at or before this tick, which is also the index after them."""
    return bisect_right(entries, tick, key=lambda entry: entry.tick)


def first_differing_tick(one: Sequence[LogEntry], other: Sequence[LogEntry]) -> int:
    """Return the first tick at which two logs differ; MAX_COMMAND_TICK if they are equal.

    LimitPlanners commands are ignored: each run records its own, because they depend on the speed of the machine.
    """
    if one == other:
        return MAX_COMMAND_TICK
    edit_logs = ([entry for entry in log if not isinstance(entry.command, LimitPlanners)] for log in (one, other))
    pairs = ((a, b) for a, b in zip_longest(*edit_logs) if a != b)
    return min((entry.tick for pair in pairs for entry in pair if entry is not None), default=MAX_COMMAND_TICK)


def last_enabled_tick(entries: Iterable[LogEntry]) -> int:
    return max((entry.tick for entry in entries if entry.is_enabled), default=0)


class EntryIds:
    """Source of consecutive ids for log entries, shared by all branches of a run."""

    def __init__(self) -> None:
        self._last_id = 0

    def next(self) -> int:
        self._last_id += 1
        return self._last_id

    def reserve_ids_up_to(self, number: int) -> None:
        """Reserve all ids up to `number`, so that `next` returns only larger ids."""
        self._last_id = max(self._last_id, number)


class CommandLog:
    """Command log of one timeline. It assigns ids to new entries and numbers to new agents."""

    def __init__(self, entry_ids: EntryIds, next_agent_number: int, entries: Iterable[LogEntry] = ()) -> None:
        self.entry_ids = entry_ids
        self.next_agent_number = next_agent_number  # number of the next agent to be added
        # Callback(new or altered entries, ids of removed entries), called after the log and its run have changed.
        self.on_changed: Callable[[list[LogEntry], list[int]], None] | None = None
        self._entries = list(entries)

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        """Return all entries by tick; entries of one tick are in the order in which they apply."""
        return tuple(self._entries)

    def copy(self) -> "CommandLog":
        """Return a copy for a fork of the timeline; both logs take ids of new entries from the same source."""
        return CommandLog(self.entry_ids, self.next_agent_number, self._entries)

    def replace_entries(self, entries: Iterable[LogEntry]) -> None:
        """Replace all entries. Only a timeline may do this, because it also discards what was recorded of the run."""
        self._entries = list(entries)

    def notify_changed(self, altered: list[LogEntry], removed_ids: list[int]) -> None:
        """Call `on_changed` with the new or altered entries and the ids of removed entries."""
        if self.on_changed:
            self.on_changed(altered, removed_ids)

    # --- new entries ------------------------------------------------------------------------------

    def load_setup_script(self, script: Iterable[tuple[int, Command]]) -> None:
        """Fill the log of a new timeline with the scripted commands of the scenario, in the order of the script."""
        self._entries = [
            LogEntry(self.entry_ids.next(), tick, self.with_agent_number(command), is_scripted=True)
            for tick, command in script
        ]

    def new_user_entry(self, tick: int, command: Command, stroke: int = 0) -> LogEntry:
        """Return a new entry for a command of the user, without adding it to the log.

        Args:
            tick: tick at which the command applies.
            command: the command.
            stroke: id of the stroke (one user action) to which the entry belongs; 0: the entry starts a new stroke.
        """
        number = self.entry_ids.next()
        return LogEntry(number, tick, self.with_agent_number(command), stroke_id=stroke or number)

    def add(self, entry: LogEntry) -> None:
        """Insert an entry after all other entries of its tick."""
        self._entries.insert(index_after_tick(self._entries, entry.tick), entry)

    def log_planner_limits(self, served: Iterable[tuple[int, int]]) -> list[LogEntry]:
        """Log how many agents planned in each tick under a time limit, so that replays let the same number plan.

        Args:
            served: pairs of a tick and the number of agents that planned in it.

        Returns:
            The new entries, which contain LimitPlanners commands.
        """
        entries = [LogEntry(self.entry_ids.next(), tick, LimitPlanners(agents)) for tick, agents in served]
        for entry in entries:
            self.add(entry)
        return entries

    def with_agent_number(self, command: Command) -> Command:
        """Return the command itself; for an AddAgent without an agent number, return a copy with the next number."""
        if not isinstance(command, AddAgent):
            return command
        number = self.next_agent_number if command.agent is None else command.agent
        self.next_agent_number = max(self.next_agent_number, number + 1)
        return command if command.agent is not None else replace(command, agent=number)

    def import_entries(self, entries: Iterable[LogEntry]) -> list[LogEntry]:
        """Return entries of a file or journal sorted by tick, with numbers for new agents and with unchanged ids."""
        found = []
        for entry in sorted(entries, key=attrgetter("tick")):
            command = self.with_agent_number(entry.command)
            found.append(entry if command is entry.command else replace(entry, command=command))
            self.entry_ids.reserve_ids_up_to(entry.id)
        return found

    def remove_user_commands(self, after: int, until: int) -> list[int]:
        """Remove the user's commands after tick `after` up to tick `until`, and return their ids.

        If a stroke (one user action) has an entry at or before `until`, all its entries after tick `after` are removed,
        even after `until`. Otherwise a stroke could be left without its beginning.
        """
        later = [entry for entry in self._entries if not entry.is_scripted and entry.tick > after]
        begun = {entry.stroke_id for entry in self._entries if entry.stroke_id and entry.tick <= until}
        removed_ids = (
            {entry.id for entry in later if entry.tick <= until or entry.stroke_id in begun} if until > after else set()
        )
        self._entries = [entry for entry in self._entries if entry.id not in removed_ids]
        return [entry.id for entry in later if entry.id in removed_ids]

    # --- queries ----------------------------------------------------------------------------------

    def entry_by_id(self, number: int) -> LogEntry:
        return next(entry for entry in self._entries if entry.id == number)

    def command_count_at(self, tick: int) -> int:
        return index_after_tick(self._entries, tick) - index_after_tick(self._entries, tick - 1)

    def has_edit_commands_at(self, tick: int) -> bool:
        """Return whether an enabled command other than LimitPlanners is due at this tick."""
        entries = self._entries[index_after_tick(self._entries, tick - 1) : index_after_tick(self._entries, tick)]
        return any(entry.is_enabled and not isinstance(entry.command, LimitPlanners) for entry in entries)

    def timed_commands_from(self, tick: int) -> list[tuple[int, Command]]:
        """Return the enabled commands from `tick` on, with their ticks."""
        return [(e.tick, e.command) for e in self._entries[index_after_tick(self._entries, tick - 1) :] if e.is_enabled]

    def names_of_agents(self) -> dict[int, str]:
        """Return the last name given to each agent, by number.

        The tick of the naming does not matter, because names have no effect on the simulation.
        """
        enabled = (entry.command for entry in self._entries if entry.is_enabled)
        return {command.agent: command.label for command in enabled if isinstance(command, RenameAgent)}

    def labels_of_agents(self, walkers: Iterable[Walker | WalkerView]) -> tuple[str, ...]:
        """Return the labels of agents: the last name given in the log, even at ticks before the renaming."""
        names = self.names_of_agents()
        return tuple([names.get(walker.id, walker.label) or walker.spec.name for walker in walkers])

    def rejection_reasons(self, notes: Iterable[RunMessage]) -> dict[int, str]:
        """Return the reason for each rejected command by the id of its entry; `notes` are messages of the world."""
        reasons: dict[int, list[str]] = {}
        for note in notes:
            reasons.setdefault(id(note.command), []).append(note.text)
        return {e.id: "; ".join(reasons[id(e.command)]) for e in self._entries if id(e.command) in reasons}

    def marks(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Return a timeline mark (tick, agent, kind) for each enabled command from tick `first` to `last` inclusive."""
        selected = slice(index_after_tick(self._entries, first - 1), index_after_tick(self._entries, last))
        return [
            (entry.tick, _agent_of_command(entry.command), int(MarkKind.EDIT))
            for entry in self._entries[selected]
            if entry.is_enabled and not isinstance(entry.command, LimitPlanners)
        ]


def _agent_of_command(command: Command) -> int:
    agent = getattr(command, "agent", None)
    return NO_AGENT if agent is None else int(agent)
