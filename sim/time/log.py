"""The command log of a timeline: what is applied at which tick, scripted or done by hand. Plain data.

Entries are kept by tick, those of one tick in the order in which they apply. Their numbers stay, whatever is moved.
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
    """A command of the log."""

    id: int
    tick: int
    command: Command
    is_scripted: bool = False  # it came with the scenario
    is_enabled: bool = True
    stroke: int = 0  # what was done at once has one number here, the id of its first entry; 0: of the script


def placed(entries: Iterable[Entry], entry: Entry) -> list[Entry]:
    """The log with an entry put in, or in the place of the one with its id; behind all others of its tick."""
    log = list(entries)
    place = next((i for i, old in enumerate(log) if old.id == entry.id), None)
    if place is not None and log[place].tick == entry.tick:
        log[place] = entry
        return log
    if place is not None:
        del log[place]
    log.insert(end_of(log, entry.tick), entry)
    return log


def end_of(entries: list[Entry], tick: int) -> int:
    """The place behind the last entry of this tick."""
    return bisect_right(entries, tick, key=lambda entry: entry.tick)


def first_tick_apart(one: list[Entry], other: list[Entry]) -> int:
    """Return the first tick at which two logs say something else; LAST_TICK where they are the same.

    What a clock has noted is left out: each run notes it for itself.
    """
    if one == other:
        return LAST_TICK
    said = ([entry for entry in log if not isinstance(entry.command, Serve)] for log in (one, other))
    pairs = ((a, b) for a, b in zip_longest(*said) if a != b)
    return min((entry.tick for pair in pairs for entry in pair if entry is not None), default=LAST_TICK)


def last_tick(entries: Iterable[Entry]) -> int:
    return max((entry.tick for entry in entries if entry.is_enabled), default=0)


class Numbers:
    """Numbers for entries, one after the other; the timelines of one tree share them."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last += 1
        return self._last

    def skip(self, number: int) -> None:
        """Give out only numbers above this one."""
        self._last = max(self._last, number)


@dataclass(eq=False)
class Log:
    """The commands of one timeline. It says which numbers new ones get, and the agents that they add."""

    numbers: Numbers
    next_agent: int  # the number of the next one that joins
    entries: list[Entry] = field(default_factory=list)

    def copy(self) -> "Log":
        """That of a timeline which has the same past."""
        return Log(self.numbers, self.next_agent, list(self.entries))

    # --- new entries ------------------------------------------------------------------------------

    def begin(self, script: Iterable[tuple[int, Command]]) -> None:
        """What comes with the scenario, in its order."""
        self.entries = [
            Entry(self.numbers.next(), tick, self.numbered(command), is_scripted=True) for tick, command in script
        ]

    def by_hand(self, tick: int, command: Command, stroke: int = 0) -> Entry:
        """An entry to be put in, as part of a stroke or (0) as one of its own."""
        number = self.numbers.next()
        return Entry(number, tick, self.numbered(command), stroke=stroke or number)

    def add(self, entry: Entry) -> None:
        """Put an entry in, behind the others of its tick."""
        self.entries.insert(end_of(self.entries, entry.tick), entry)

    def note_served(self, served: Iterable[tuple[int, int]]) -> list[Entry]:
        """How many had their turn, by tick, where a clock said so: then it can be repeated."""
        entries = [Entry(self.numbers.next(), tick, Serve(agents)) for tick, agents in served]
        for entry in entries:
            self.add(entry)
        return entries

    def numbered(self, command: Command) -> Command:
        """The same command; an agent to be added gets the number that it keeps from now on."""
        if not isinstance(command, AddAgent):
            return command
        number = self.next_agent if command.agent is None else command.agent
        self.next_agent = max(self.next_agent, number + 1)
        return command if command.agent is not None else replace(command, agent=number)

    def adopted(self, entries: Iterable[Entry]) -> list[Entry]:
        """The entries of a file or a journal, which keep their numbers, as this log would have them."""
        found = []
        for entry in sorted(entries, key=attrgetter("tick")):
            command = self.numbered(entry.command)
            found.append(entry if command is entry.command else replace(entry, command=command))
            self.numbers.skip(entry.id)
        return found

    def forget_by_hand(self, after: int, until: int) -> list[int]:
        """Remove the commands done by hand after one tick and up to another, and return their numbers.

        A stroke that begins by `until` is removed to its end, so that no stroke keeps its later pieces alone.
        """
        later = [entry for entry in self.entries if not entry.is_scripted and entry.tick > after]
        begun = {entry.stroke for entry in self.entries if entry.stroke and entry.tick <= until}
        gone = {entry.id for entry in later if entry.tick <= until or entry.stroke in begun} if until > after else set()
        self.entries = [entry for entry in self.entries if entry.id not in gone]
        return [entry.id for entry in later if entry.id in gone]

    # --- what it says -----------------------------------------------------------------------------

    def entry(self, number: int) -> Entry:
        return next(entry for entry in self.entries if entry.id == number)

    def count_at(self, tick: int) -> int:
        return end_of(self.entries, tick) - end_of(self.entries, tick - 1)

    def has_edits_at(self, tick: int) -> bool:
        """Return whether a command is due at this tick, other than what a clock has noted."""
        there = self.entries[end_of(self.entries, tick - 1) : end_of(self.entries, tick)]
        return any(entry.is_enabled and not isinstance(entry.command, Serve) for entry in there)

    def due(self, tick: int) -> list[tuple[int, Command]]:
        """The commands from `tick` on."""
        return [(e.tick, e.command) for e in self.entries[end_of(self.entries, tick - 1) :] if e.is_enabled]

    def given_names(self) -> dict[int, str]:
        """What agents were called last, by their numbers, whenever that was: a name is not part of what happens."""
        enabled = (entry.command for entry in self.entries if entry.is_enabled)
        return {command.agent: command.label for command in enabled if isinstance(command, NameAgent)}

    def complaints(self, notes: Iterable[Note]) -> dict[int, str]:
        """Why commands did not apply, by the id of their entry, from what a world has had to say."""
        said: dict[int, list[str]] = {}
        for note in notes:
            said.setdefault(id(note.command), []).append(note.text)
        return {e.id: "; ".join(said[id(e.command)]) for e in self.entries if id(e.command) in said}

    def marks(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """(tick, agent, kind) of the commands from tick `first` to tick `last`, both included."""
        places = slice(end_of(self.entries, first - 1), end_of(self.entries, last))
        return [
            (entry.tick, _agent_of(entry.command), int(MarkKind.EDIT))
            for entry in self.entries[places]
            if entry.is_enabled and not isinstance(entry.command, Serve)
        ]


def _agent_of(command: Command) -> int:
    agent = getattr(command, "agent", None)
    return NO_AGENT if agent is None else int(agent)
