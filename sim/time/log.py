"""Command log of a timeline: the commands of the scenario's script and of the user, with their ticks. Plain data.

Entries are sorted by tick; entries of one tick are in the order in which they apply. An entry keeps its id when it or
another entry is moved to another tick. A stroke is the group of entries that one action of the user created.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from operator import attrgetter

from sim.commands import LAST_TICK, AddAgent, Command, NameAgent, Note, Serve
from sim.time.recorded import NO_AGENT, MarkKind


@dataclass(frozen=True)
class Entry:
    """Entry of a command log: a command and the tick at which it applies."""

    id: int
    tick: int
    command: Command
    is_scripted: bool = False  # whether the command comes from the scenario; otherwise the user gave it
    is_enabled: bool = True
    stroke: int = 0  # id of the first entry that the same user action created; 0: a scripted entry


def placed(entries: Iterable[Entry], entry: Entry) -> list[Entry]:
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
    log.insert(end_of(log, entry.tick), entry)
    return log


def end_of(entries: list[Entry], tick: int) -> int:
    """Return the index after the last entry at or before this tick."""
    return bisect_right(entries, tick, key=lambda entry: entry.tick)


def first_tick_apart(one: list[Entry], other: list[Entry]) -> int:
    """Return the first tick at which two logs differ; LAST_TICK if they are equal.

    Serve commands are ignored: each run records its own, because they depend on the speed of the machine.
    """
    if one == other:
        return LAST_TICK
    said = ([entry for entry in log if not isinstance(entry.command, Serve)] for log in (one, other))
    pairs = ((a, b) for a, b in zip_longest(*said) if a != b)
    return min((entry.tick for pair in pairs for entry in pair if entry is not None), default=LAST_TICK)


def last_tick(entries: Iterable[Entry]) -> int:
    return max((entry.tick for entry in entries if entry.is_enabled), default=0)


class Numbers:
    """Source of consecutive ids for entries, shared by the timelines of one branch tree."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last += 1
        return self._last

    def skip(self, number: int) -> None:
        """Make `next` return only ids above this one from now on."""
        self._last = max(self._last, number)


@dataclass(eq=False)
class Log:
    """Command log of one timeline. It assigns ids to new entries, and numbers to agents that a command adds."""

    numbers: Numbers
    next_agent: int  # number of the next agent to be added
    entries: list[Entry] = field(default_factory=list)

    def copy(self) -> "Log":
        """Return a log with the same entries, for a fork of the timeline; both logs get new ids from one source."""
        return Log(self.numbers, self.next_agent, list(self.entries))

    # --- new entries ------------------------------------------------------------------------------

    def begin(self, script: Iterable[tuple[int, Command]]) -> None:
        """Fill the log of a new timeline with the scripted commands of the scenario, in the order of the script."""
        self.entries = [
            Entry(self.numbers.next(), tick, self.numbered(command), is_scripted=True) for tick, command in script
        ]

    def by_hand(self, tick: int, command: Command, stroke: int = 0) -> Entry:
        """Return a new entry for a command of the user, without adding it to the log.

        Args:
            tick: tick at which the command applies.
            command: the command.
            stroke: number of the stroke that the entry belongs to; 0: the entry starts a new stroke.
        """
        number = self.numbers.next()
        return Entry(number, tick, self.numbered(command), stroke=stroke or number)

    def add(self, entry: Entry) -> None:
        """Insert an entry after all other entries of its tick."""
        self.entries.insert(end_of(self.entries, entry.tick), entry)

    def note_served(self, served: Iterable[tuple[int, int]]) -> list[Entry]:
        """Log as Serve commands how many agents planned in each tick under a time limit, so that replays repeat it.

        Args:
            served: pairs of a tick and the number of agents that planned in it.

        Returns:
            The new entries.
        """
        entries = [Entry(self.numbers.next(), tick, Serve(agents)) for tick, agents in served]
        for entry in entries:
            self.add(entry)
        return entries

    def numbered(self, command: Command) -> Command:
        """Return a command with the number of its new agent assigned, if it is an AddAgent without a number."""
        if not isinstance(command, AddAgent):
            return command
        number = self.next_agent if command.agent is None else command.agent
        self.next_agent = max(self.next_agent, number + 1)
        return command if command.agent is not None else replace(command, agent=number)

    def adopted(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return entries of a file or journal for this log: sorted by tick, agents numbered, and with unchanged ids."""
        found = []
        for entry in sorted(entries, key=attrgetter("tick")):
            command = self.numbered(entry.command)
            found.append(entry if command is entry.command else replace(entry, command=command))
            self.numbers.skip(entry.id)
        return found

    def forget_by_hand(self, after: int, until: int) -> list[int]:
        """Remove the user's commands after tick `after` up to tick `until`, and return their ids.

        If a stroke has an entry at or before `until`, all its entries after tick `after` are removed, even those after
        `until`. Otherwise a stroke could be left without its beginning.
        """
        later = [entry for entry in self.entries if not entry.is_scripted and entry.tick > after]
        begun = {entry.stroke for entry in self.entries if entry.stroke and entry.tick <= until}
        gone = {entry.id for entry in later if entry.tick <= until or entry.stroke in begun} if until > after else set()
        self.entries = [entry for entry in self.entries if entry.id not in gone]
        return [entry.id for entry in later if entry.id in gone]

    # --- queries ----------------------------------------------------------------------------------

    def entry(self, number: int) -> Entry:
        return next(entry for entry in self.entries if entry.id == number)

    def count_at(self, tick: int) -> int:
        return end_of(self.entries, tick) - end_of(self.entries, tick - 1)

    def has_edits_at(self, tick: int) -> bool:
        """Return whether a command other than Serve is due at this tick."""
        there = self.entries[end_of(self.entries, tick - 1) : end_of(self.entries, tick)]
        return any(entry.is_enabled and not isinstance(entry.command, Serve) for entry in there)

    def due(self, tick: int) -> list[tuple[int, Command]]:
        """Return the enabled commands from `tick` on, with their ticks."""
        return [(e.tick, e.command) for e in self.entries[end_of(self.entries, tick - 1) :] if e.is_enabled]

    def given_names(self) -> dict[int, str]:
        """Return the last name given to each agent, by number.

        The tick of the naming does not matter, because names have no effect on the simulation.
        """
        enabled = (entry.command for entry in self.entries if entry.is_enabled)
        return {command.agent: command.label for command in enabled if isinstance(command, NameAgent)}

    def complaints(self, notes: Iterable[Note]) -> dict[int, str]:
        """Return the reasons why commands did not apply, by entry id, taken from the messages of a world."""
        said: dict[int, list[str]] = {}
        for note in notes:
            said.setdefault(id(note.command), []).append(note.text)
        return {e.id: "; ".join(said[id(e.command)]) for e in self.entries if id(e.command) in said}

    def marks(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Return a timeline mark (tick, agent, kind) for each enabled command from tick `first` to `last` inclusive."""
        selected = slice(end_of(self.entries, first - 1), end_of(self.entries, last))
        return [
            (entry.tick, _agent_of(entry.command), int(MarkKind.EDIT))
            for entry in self.entries[selected]
            if entry.is_enabled and not isinstance(entry.command, Serve)
        ]


def _agent_of(command: Command) -> int:
    agent = getattr(command, "agent", None)
    return NO_AGENT if agent is None else int(agent)
