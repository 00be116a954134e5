"""What is known of the past of a timeline: the one owner of what a past tick was.

history.records[agent]              Record: where an agent was after every tick (recorded.py)
history.record(agent)               the same of one agent, without looking after all others
history.cells(agents, first, last)  where many agents stood at each of these ticks
history.end                         how far the run was ever recorded
history.observe(world)              commands were applied at the end: who has come, and what was said
history.take_down(world, begin, before, now)    what agents did in ticks that were never run before
history.go_on_to(world)             these ticks have passed
history.check(world)                a replay has come to this tick: it must be what it was
history.truncate(tick, keeps_now)   the past was changed from this tick on
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sim.agent_api import Status
from sim.commands import Note
from sim.crew import Stint
from sim.kernels import log
from sim.time.recorded import MarkKind, Marks, Record, marks_of_all, marks_of_rows
from sim.walker import Walker
from sim.world import World

DIGEST_EVERY = 100

_MARKED_STATUS = {Status.AT_GOAL: MarkKind.ARRIVAL, Status.NO_PATH: MarkKind.NO_PATH}


Cells = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Divergence:
    """A run that is not what it was when it was recorded."""

    tick: int  # the first at which that was seen
    was: str = ""  # its digest as recorded
    now: str = ""  # and as computed now
    agents: tuple[str, ...] = ()  # labels of those that differ, where that is known


class History:
    def __init__(self) -> None:
        self._records: dict[int, Record] = {}
        self._stints: list[Stint] = []  # what crews did, not yet in the records
        self._taken: dict[int, int] = {}  # of an agent whose record was asked for: how many stints are in it
        self.end = 0
        self.digests: list[str] = []  # of ticks 0, DIGEST_EVERY and so on, each before its commands
        self.marks = Marks()
        self.notes: dict[tuple[int, str, int], Note] = {}
        self.divergence: Divergence | None = None
        self.expected: list[str] = []  # digests of a saved run, to be met again
        self.expected_last: tuple[int, str] | None = None  # that of a tick with its commands applied
        self.expected_agents: dict[int, str] = {}  # and those of the agents at that tick

    @property
    def records(self) -> dict[int, Record]:
        """Of all agents, up to date. For one of many, `record` is quicker."""
        if self._stints:
            for agent in self._records:
                self.record(agent)
            self._stints.clear()
            self._taken.clear()
        return self._records

    def knows(self, agent: int) -> bool:
        return agent in self._records

    def record(self, agent: int) -> Record:
        record, taken = self._records[agent], self._taken.get(agent, 0)
        if taken < len(self._stints):
            _append_stints(record, self._stints[taken:])
            self._taken[agent] = len(self._stints)
        return record

    def copy(self) -> "History":
        other = History()
        other._records = {agent: record.copy() for agent, record in self.records.items()}
        other.end, other.digests, other.marks = self.end, list(self.digests), self.marks.copy()
        other.notes, other.divergence = dict(self.notes), self.divergence
        other.expected, other.expected_last = list(self.expected), self.expected_last
        other.expected_agents = dict(self.expected_agents)
        return other

    # --- taking down ------------------------------------------------------------------------------

    def observe(self, world: World) -> None:
        """Take down who has come and what the world had to say, its commands being applied."""
        for note in world.notes:
            self.notes.setdefault((note.tick, note.text, id(note.command)), note)
        for walker in world.walkers:
            if walker.id not in self._records:
                record = Record(walker.id, walker.label, walker.spec.key, walker.joined, walker.position)
                self._records[walker.id] = record
                self._taken[walker.id] = len(self._stints)

    def take_down(self, world: World, begin: int, before: Mapping[int, Status], now: Mapping[int, Status]) -> None:
        """Take down the ticks from `begin` on; `before` is how the agents stood then, `now` how they stand."""
        found: list[tuple[int, int, int]] = []
        for crew in world.crews:
            self._stints += crew.stints
            for stint in crew.stints:
                found += marks_of_all(crew.ids, stint.begin, stint.rows)
        for walker in world.walked:
            rows = walker.bare_rows
            self.record(walker.id).append(begin, rows)
            found += marks_of_rows(walker.id, begin, rows)
        for walker in world.walkers if world.crews or now != before else world.walked:
            if (status := now[walker.id]) is not Status.ACTIVE:
                found += _status_mark(walker, begin, before.get(walker.id, Status.ACTIVE), status)
        if found:
            self.marks.append(sorted(found))

    def go_on_to(self, world: World) -> None:
        """The world stands at the end now, and what was done on the way is taken down."""
        self.end = world.tick
        if world.tick % DIGEST_EVERY == 0:
            self.note_digest(world.digest())

    def note_digest(self, digest: str) -> None:
        place = len(self.digests)
        if place < len(self.expected) and self.expected[place] != digest:
            self.report_divergence(Divergence(place * DIGEST_EVERY, self.expected[place], digest))
        self.digests.append(digest)

    def cells(self, agents: tuple[int, ...], first: int, last: int, at_first: Cells | None = None) -> Cells:
        """int32[agents, ticks]: where each stood when the clock showed `first`, and each tick after it up to `last`.

        Who knows where they stood at first says so: then it may follow from what a crew did last, in no time.
        """
        recent = None if at_first is None else self._recent_cells(agents, first, last, at_first)
        if recent is not None:
            return recent
        ticks = np.arange(first, last + 1)
        found = np.empty((len(agents), ticks.size), np.int32)
        records = self.records
        for place, agent in enumerate(agents):
            record = records[agent]
            rows = record.rows_before(last)["cell"]
            at = np.clip(ticks - record.joined, 0, rows.size)
            found[place] = np.where(at > 0, rows[np.maximum(at - 1, 0)] if rows.size else record.start, record.start)
        return found

    def _recent_cells(self, agents: tuple[int, ...], first: int, last: int, at_first: Cells) -> Cells | None:
        """The same from the stints of one crew, where those hold all of these ticks."""
        stints = [b for b in self._stints if b.end > first and b.begin < last and agents[0] in b.places]
        if not stints or stints[0].begin > first or stints[-1].end < last:
            return None
        if any(a.end != b.begin or a.places is not b.places for a, b in pairwise(stints)):
            return None
        order = [stints[0].places.get(agent, -1) for agent in agents]
        if -1 in order:
            return None
        found = [at_first[:, None]]
        for stint in stints:
            done = stint.done[order]
            cells = _held(stint.rows["cell"][order], done)
            cells[done == 0] = found[-1][done == 0, -1:]
            found.append(cells[:, max(0, first - stint.begin) : last - stint.begin])
        return np.concatenate(found, axis=1)

    # --- whether it is what it was ----------------------------------------------------------------

    def expect(self, digests: Iterable[str], last: tuple[int, str] | None, agents: Mapping[int, str]) -> None:
        """What the digests of this run are to be; those of the `agents` at the `last` tick."""
        self.expected, self.expected_last, self.expected_agents = list(digests), last, dict(agents)
        for place, (now, was) in enumerate(zip(self.digests, self.expected, strict=False)):
            if now != was:
                self.report_divergence(Divergence(place * DIGEST_EVERY, was, now))

    def check(self, world: World) -> None:
        """A replay must come to the same as the run. If it does not, there is a bug, and the user is to know."""
        place, rest = divmod(world.tick, DIGEST_EVERY)
        if not rest and place < len(self.digests) and (now := world.digest()) != self.digests[place]:
            self.report_divergence(Divergence(world.tick, self.digests[place], now))

    def check_last(self, world: World) -> None:
        """A saved run has come to the tick that was shown when it was saved."""
        if self.expected_last and self.expected_last[0] == world.tick:
            was, now = self.expected_last[1], world.digest()
            if was != now:
                expected = self.expected_agents
                others = (w.label for w in world.walkers if expected and expected.get(w.id) != world.walker_digest(w))
                self.report_divergence(Divergence(world.tick, was, now, tuple(others)))
            self.expected_last = None

    @property
    def diverged(self) -> int | None:
        """The first tick at which the run was seen not to be what it was."""
        return None if self.divergence is None else self.divergence.tick

    def report_divergence(self, found: Divergence) -> None:
        """The run is not what it was when it was recorded. The first tick counts; who differs may be seen later."""
        before = self.divergence
        if before is None or found.tick < before.tick:
            self.divergence = replace(found, agents=found.agents or (before.agents if before else ()))
        elif found.agents:
            self.divergence = replace(before, agents=found.agents)

    # --- forgetting -------------------------------------------------------------------------------

    def truncate(self, tick: int, keeps_now: bool) -> None:
        """Forget what was recorded after `tick`; and, unless `keeps_now`, what the commands of `tick` did."""
        kept_to = tick if keeps_now else tick - 1
        self.notes = {key: note for key, note in self.notes.items() if note.tick <= kept_to}
        if tick < self.end or not keeps_now:
            self._records = {a: r for a, r in self.records.items() if r.joined <= kept_to}
            for record in self._records.values():
                record.truncate(tick)
        self.marks.truncate(tick)
        del self.digests[tick // DIGEST_EVERY + 1 :]
        del self.expected[tick // DIGEST_EVERY + 1 :]
        if self.expected_last and self.expected_last[0] >= tick:
            self.expected_last = None
        if self.divergence is not None and self.divergence.tick > tick:
            self.divergence = None
        self.end = min(self.end, tick)

    def last_active(self, tick: int) -> int:
        """The end of the last tick before `tick` in which any agent did anything."""
        return max((record.last_active(tick) for record in self.records.values()), default=0)


def _status_mark(walker: Walker, begin: int, before: Status, status: Status) -> list[tuple[int, int, int]]:
    """The mark of an agent that has come to an end in the ticks from `begin` on, or just before them.

    The row of an arrival is marked as one; without a row, the goal has come to the agent.
    """
    kind = _MARKED_STATUS.get(status)
    is_new = status is not before
    if kind is None or (kind is MarkKind.ARRIVAL and not is_new):
        return []
    rows = walker.bare_rows.size
    is_due = not rows if kind is MarkKind.ARRIVAL else is_new or rows
    return [(begin + max(1, rows), walker.id, int(kind))] if is_due else []


def _append_stints(record: Record, stints: Sequence[Stint]) -> None:
    """Take in what an agent did in these stints, those that follow one another at once."""
    begin = 0
    rows: list[npt.NDArray[np.void]] = []
    for stint in stints:
        place = stint.places.get(record.agent)
        own = stint.rows[place, : stint.done[place]] if place is not None else _NOTHING
        if rows and (not own.size or begin + sum(part.size for part in rows) != stint.begin):
            record.append(begin, np.concatenate(rows))
            rows = []
        if own.size:
            begin = begin if rows else stint.begin
            rows.append(own)
    if rows:
        record.append(begin, np.concatenate(rows))


_NOTHING = np.zeros(0, log.ROW)


def _held(cells: Cells, done: npt.NDArray[np.int64]) -> Cells:
    """Cells of which only the first `done` of each row are said: the others are as the last one."""
    at = np.minimum(np.arange(cells.shape[1])[None, :], np.maximum(done - 1, 0)[:, None])
    return np.take_along_axis(cells, at, axis=1)
