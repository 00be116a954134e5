"""History: everything recorded of the past ticks of a timeline, and the only owner of that data.

history.records[agent]              Record: where an agent was after every tick (recorded.py)
history.record(agent)               the record of one agent, without updating all other records
history.cells(agents, first, last)  the cells of many agents at each of these ticks
history.end                         the last recorded tick
history.observe(world)              record new agents and messages after commands were applied at the end
history.record_steps(world, begin, before, now)    record what agents did in new ticks
history.advance_end(world)             advance the recorded end to the tick of the world
history.check(world)                compare a replay with the recorded digest of its tick
history.truncate(tick, keeps_now)   discard what was recorded from a tick on, after an edit of the past
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sim.agent_api import Status
from sim.commands import Note
from sim.crew import BatchSteps
from sim.kernels import log
from sim.time.recorded import MarkKind, Marks, Record, marks_of_all, marks_of_rows
from sim.walker import Walker
from sim.world import World

DIGEST_EVERY = 100  # ticks

_MARKED_STATUS = {Status.AT_GOAL: MarkKind.ARRIVAL, Status.NO_PATH: MarkKind.NO_PATH}


Cells = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Divergence:
    """First difference between a replay and the recorded run."""

    tick: int  # first tick at which the difference was seen
    was: str = ""  # digest of that tick as recorded
    now: str = ""  # digest of that tick as computed now
    agents: tuple[str, ...] = ()  # labels of the agents that differ, if known


class History:
    """Records, marks, messages and digests of the past of one timeline, see the module docstring."""

    def __init__(self) -> None:
        self._records: dict[int, Record] = {}  # by agent number
        self._stints: list[BatchSteps] = []  # steps of crews (agent batches) that are not yet in all records
        self._taken: dict[int, int] = {}  # by agent number, how many of `_stints` its record already contains
        self.end = 0  # last recorded tick
        self.digests: list[str] = []  # digests of ticks 0, DIGEST_EVERY and so on, each before its commands
        self.marks = Marks()
        self.notes: dict[tuple[int, str, int], Note] = {}  # messages by (tick, text, id() of the command)
        self.divergence: Divergence | None = None
        self.expected: list[str] = []  # digests of a saved run that a replay should reproduce
        self.expected_last: tuple[int, str] | None = None  # a tick and its expected digest with commands applied
        self.expected_agents: dict[int, str] = {}  # expected digests of the agents at that tick, by number

    @property
    def records(self) -> dict[int, Record]:
        """Return the records of all agents, up to date; `record` is faster for one agent of many."""
        if self._stints:
            for agent in self._records:
                self.record(agent)
            self._stints.clear()
            self._taken.clear()
        return self._records

    def knows(self, agent: int) -> bool:
        return agent in self._records

    def record(self, agent: int) -> Record:
        """Return the record of one agent, after adding to it what crews did in the meantime."""
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

    # --- recording --------------------------------------------------------------------------------

    def observe(self, world: World) -> None:
        """Record new agents and messages of a world at the recorded end, after its commands were applied."""
        for note in world.notes:
            self.notes.setdefault((note.tick, note.text, id(note.command)), note)
        for walker in world.walkers:
            if walker.id not in self._records:
                record = Record(walker.id, walker.label, walker.spec.key, walker.joined, walker.position)
                self._records[walker.id] = record
                self._taken[walker.id] = len(self._stints)

    def record_steps(self, world: World, begin: int, before: Mapping[int, Status], now: Mapping[int, Status]) -> None:
        """Record the ticks that the last advance of a world has added.

        Args:
            world: the world after the advance.
            begin: first tick of the advance.
            before: status of each agent before the advance, by number.
            now: status of each agent after it.
        """
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

    def advance_end(self, world: World) -> None:
        """Advance the recorded end to the tick of the world, whose rows are recorded, and note a digest if due."""
        self.end = world.tick
        if world.tick % DIGEST_EVERY == 0:
            self.note_digest(world.digest())

    def note_digest(self, digest: str) -> None:
        """Append the digest of the next multiple of DIGEST_EVERY, and compare it with the expected one."""
        place = len(self.digests)
        if place < len(self.expected) and self.expected[place] != digest:
            self.report_divergence(Divergence(place * DIGEST_EVERY, self.expected[place], digest))
        self.digests.append(digest)

    def cells(self, agents: tuple[int, ...], first: int, last: int, at_first: Cells | None = None) -> Cells:
        """Return the cells of agents at each tick from `first` to `last`.

        Args:
            agents: numbers of the agents.
            first: first tick; the cell of a tick is where the agent was when the clock showed that tick.
            last: last tick, included.
            at_first: cells of the agents at `first`, if known: with them, recent ticks of a crew are read directly from
                its steps, without updating the records.

        Returns:
            int32[agents, ticks].
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
        """Return the cells (see `cells`) from the stints of one crew; None if they lack some of the ticks or agents."""
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

    # --- comparing with the recorded run ----------------------------------------------------------

    def expect(self, digests: Iterable[str], last: tuple[int, str] | None, agents: Mapping[int, str]) -> None:
        """Set the expected digests and compare the recorded ones with them, see Timeline.expect."""
        self.expected, self.expected_last, self.expected_agents = list(digests), last, dict(agents)
        for place, (now, was) in enumerate(zip(self.digests, self.expected, strict=False)):
            if now != was:
                self.report_divergence(Divergence(place * DIGEST_EVERY, was, now))

    def check(self, world: World) -> None:
        """Compare a replay with the recorded digest of its tick; report a difference, which is a bug, to the user."""
        place, rest = divmod(world.tick, DIGEST_EVERY)
        if not rest and place < len(self.digests) and (now := world.digest()) != self.digests[place]:
            self.report_divergence(Divergence(world.tick, self.digests[place], now))

    def check_last(self, world: World) -> None:
        """Compare a restored run with the digest saved for its last tick, once the world has reached that tick."""
        if self.expected_last and self.expected_last[0] == world.tick:
            was, now = self.expected_last[1], world.digest()
            if was != now:
                expected = self.expected_agents
                others = (w.label for w in world.walkers if expected and expected.get(w.id) != world.walker_digest(w))
                self.report_divergence(Divergence(world.tick, was, now, tuple(others)))
            self.expected_last = None

    @property
    def diverged(self) -> int | None:
        """Return the first tick at which a replay differed from the recorded run; None if none did."""
        return None if self.divergence is None else self.divergence.tick

    def report_divergence(self, found: Divergence) -> None:
        """Note a difference from the recorded run: keep the earliest tick, and the agents from any report."""
        before = self.divergence
        if before is None or found.tick < before.tick:
            self.divergence = replace(found, agents=found.agents or (before.agents if before else ()))
        elif found.agents:
            self.divergence = replace(before, agents=found.agents)

    # --- discarding -------------------------------------------------------------------------------

    def truncate(self, tick: int, keeps_now: bool) -> None:
        """Discard what was recorded after `tick` and, unless `keeps_now`, the effects of the commands of `tick`."""
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
        """Return the end of the last tick before `tick` in which any agent was active; 0 if there is none."""
        return max((record.last_active(tick) for record in self.records.values()), default=0)


def _status_mark(walker: Walker, begin: int, before: Status, status: Status) -> list[tuple[int, int, int]]:
    """Return the mark for an agent that has arrived or found no path in the ticks from `begin` on, in a list.

    An arrival by a move is already marked in its row, so it gets no mark here. An agent that arrives without a row was
    reached by a moving goal, and gets one.
    """
    kind = _MARKED_STATUS.get(status)
    is_new = status is not before
    if kind is None or (kind is MarkKind.ARRIVAL and not is_new):
        return []
    rows = walker.bare_rows.size
    is_due = not rows if kind is MarkKind.ARRIVAL else is_new or rows
    return [(begin + max(1, rows), walker.id, int(kind))] if is_due else []


def _append_stints(record: Record, stints: Sequence[BatchSteps]) -> None:
    """Append the rows of an agent in these stints to its record, joining consecutive stints into one append."""
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


_NOTHING = np.zeros(0, log.ROW)  # no rows


def _held(cells: Cells, done: npt.NDArray[np.int64]) -> Cells:
    """Return cells with each row forward-filled: after its first `done` cells, the last of them is repeated."""
    at = np.minimum(np.arange(cells.shape[1])[None, :], np.maximum(done - 1, 0)[:, None])
    return np.take_along_axis(cells, at, axis=1)
