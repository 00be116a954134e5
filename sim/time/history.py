"""What is known of the past of a timeline: the one owner of what a past tick was.

history.records[agent]              Record: where an agent was after every tick (recorded.py)
history.end                         how far the run was ever recorded
history.observe(world)              commands were applied at the end: who is there now, and what was said
history.take_down(world, begin, before, now)    ticks that were never run before
history.check(world)                a replay has come to this tick: it must be what it was
history.truncate(tick, keeps_now)   the past was changed from this tick on
"""

from collections.abc import Iterable, Mapping

import numpy as np

from sim.agent_api import Status
from sim.time.recorded import MARK, MarkKind, Marks, Record, marks_of_rows
from sim.world import Note, Walker, World

DIGEST_EVERY = 100

_MARKED_STATUS = {Status.AT_GOAL: MarkKind.ARRIVAL, Status.NO_PATH: MarkKind.NO_PATH}


class History:
    def __init__(self) -> None:
        self.records: dict[int, Record] = {}
        self.end = 0
        self.digests: list[str] = []  # of ticks 0, DIGEST_EVERY and so on, each before its commands
        self.marks = Marks()
        self.notes: dict[tuple[int, str, int], Note] = {}
        self.diverged: int | None = None
        self.expected: list[str] = []  # digests of a saved run, to be met again
        self.expected_last: tuple[int, str] | None = None  # that of a tick with its commands applied

    def copy(self) -> "History":
        other = History()
        other.records = {agent: record.copy() for agent, record in self.records.items()}
        other.end, other.digests, other.marks = self.end, list(self.digests), self.marks.copy()
        other.notes, other.diverged = dict(self.notes), self.diverged
        other.expected, other.expected_last = list(self.expected), self.expected_last
        return other

    # --- taking down ------------------------------------------------------------------------------

    def observe(self, world: World) -> None:
        """Take down who is there and what the world had to say, its commands being applied."""
        for note in world.notes:
            self.notes.setdefault((note.tick, note.text, id(note.command)), note)
        there = {walker.id for walker in world.walkers}
        for walker in world.walkers:
            if walker.id not in self.records:
                record = Record(walker.id, walker.label, walker.spec.key, walker.joined, walker.position)
                self.records[walker.id] = record
        for record in self.records.values():
            if record.left is None and record.agent not in there:
                record.left = world.tick

    def take_down(self, world: World, begin: int, before: Mapping[int, Status], now: Mapping[int, Status]) -> None:
        """Take down the ticks from `begin` on; `before` is how the agents stood then, `now` how they stand."""
        found: list[tuple[int, int, int]] = []
        for walker in world.walkers:
            if walker.rows.size:
                self.records[walker.id].append(begin, walker.rows)
                found += marks_of_rows(walker.id, begin, walker.rows)
            found += _status_mark(walker, begin, before.get(walker.id, Status.ACTIVE), now[walker.id])
        if found:
            self.marks.append(np.array(sorted(found), MARK))
        self.end = world.tick
        if world.tick % DIGEST_EVERY == 0:
            self.note_digest(world.digest())

    def note_digest(self, digest: str) -> None:
        place = len(self.digests)
        if place < len(self.expected) and self.expected[place] != digest:
            self.report_divergence(place * DIGEST_EVERY)
        self.digests.append(digest)

    # --- whether it is what it was ----------------------------------------------------------------

    def expect(self, digests: Iterable[str], last: tuple[int, str] | None) -> None:
        """What the digests of this run are to be."""
        self.expected, self.expected_last = list(digests), last
        for place, pair in enumerate(zip(self.digests, self.expected, strict=False)):
            if pair[0] != pair[1]:
                self.report_divergence(place * DIGEST_EVERY)

    def check(self, world: World) -> None:
        """A replay must come to the same as the run. If it does not, there is a bug, and the user is to know."""
        place, rest = divmod(world.tick, DIGEST_EVERY)
        if not rest and place < len(self.digests) and world.digest() != self.digests[place]:
            self.report_divergence(world.tick)

    def check_last(self, world: World) -> None:
        """A saved run has come to the tick that was shown when it was saved."""
        if self.expected_last and self.expected_last[0] == world.tick:
            if self.expected_last[1] != world.digest():
                self.report_divergence(world.tick)
            self.expected_last = None

    def report_divergence(self, tick: int) -> None:
        """The run is not what it was when it was recorded."""
        self.diverged = tick if self.diverged is None else min(self.diverged, tick)

    # --- forgetting -------------------------------------------------------------------------------

    def truncate(self, tick: int, keeps_now: bool) -> None:
        """Forget what was recorded after `tick`; and, unless `keeps_now`, what the commands of `tick` did."""
        kept_to = tick if keeps_now else tick - 1
        self.notes = {key: note for key, note in self.notes.items() if note.tick <= kept_to}
        if tick < self.end or not keeps_now:
            self.records = {a: r for a, r in self.records.items() if r.joined <= kept_to}
            for record in self.records.values():
                record.truncate(tick)
        self.marks.truncate(tick)
        del self.digests[tick // DIGEST_EVERY + 1 :]
        del self.expected[tick // DIGEST_EVERY + 1 :]
        if self.expected_last and self.expected_last[0] >= tick:
            self.expected_last = None
        if self.diverged is not None and self.diverged > tick:
            self.diverged = None
        self.end = min(self.end, tick)

    def last_active(self, tick: int) -> int:
        """The end of the last tick before `tick` in which any agent did anything."""
        return max((record.last_active(tick) for record in self.records.values()), default=0)


def _status_mark(walker: Walker, begin: int, before: Status, status: Status) -> list[tuple[int, int, int]]:
    """The mark of an agent that has come to an end in the ticks from `begin` on, or just before them.

    The row of an arrival is marked as one; without a row, the goal has come to the agent.
    """
    kind = _MARKED_STATUS.get(status)
    has_rows, is_new = walker.rows.size > 0, status is not before
    is_due = is_new and not has_rows if kind is MarkKind.ARRIVAL else is_new or has_rows
    return [(begin + max(1, walker.rows.size), walker.id, int(kind))] if kind is not None and is_due else []
