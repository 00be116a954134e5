"""History of a timeline: the records, marks, messages and digests of its past ticks, which are stored only here.

    history.records[agent]                      AgentRecord: where an agent was after every tick (recorded.py)
    history.record(agent)                       the record of one agent, without updating all other records
    history.cells(agents, first, last)          the cells of many agents at each of these ticks
    history.recorded_end, .furthest_tick        the last recorded tick; the last one before the past was edited
    history.end                                 the later of the two
    history.run_messages                        the messages of the world, each once for the whole run
    history.divergence                          the first difference between a replay and the recorded run, or None
    history.record_new_agents(world)            record new agents and messages, after commands at the last tick
    history.record_steps(world, begin, before, now)    record what agents did in new ticks
    history.advance_recorded_end(world)         advance the recorded end to the tick of the world
    history.check_replay_digest(world)          compare a replay with the recorded digest of its tick
    history.discard_after_tick(tick, keeps_now)    discard what was recorded from a tick on, after an edit of the past

A batch is a group of agents that one kernel advances together. Its StepBlock hold the rows (log.ROW) of its agents for
some ticks; they are merged into the records when a record is read, because merging at each tick would be slow.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sim.agent_api import Status
from sim.executor import StepBlock
from sim.kernels import log
from sim.time.agent_records import AgentRecord, MarkKind, MarkList, marks_of_batch, marks_of_rows
from sim.walker import Walker
from sim.world import World
from sim.world_commands import RunMessage

DIGEST_EVERY = 100  # ticks between two recorded digests of the world

_MARK_OF_STATUS = {Status.AT_GOAL: MarkKind.ARRIVAL, Status.NO_PATH: MarkKind.NO_PATH}


Cells = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Divergence:
    """First difference between a replay and the recorded run."""

    tick: int  # first tick at which the digests differ
    recorded_digest: str = ""  # digest of the recorded run at `tick`; "": unknown
    replayed_digest: str = ""  # digest of the replay at `tick`; "": unknown
    agent_labels: tuple[str, ...] = ()  # labels of the agents whose digests differ, if known


class RunHistory:
    """Everything that was recorded about the past of one timeline, see the module docstring."""

    def __init__(self) -> None:
        self._record_by_agent: dict[int, AgentRecord] = {}  # agent number -> record
        self._pending_steps: list[StepBlock] = []  # steps of batches (groups of agents) to be merged into the records
        self._merged_counts: dict[int, int] = {}  # agent number -> count of `_pending_steps` already in its record
        self.recorded_end = 0  # last recorded tick of the run with its present commands
        # The old end: last tick that was recorded before the past was edited. The timeline recomputes ticks up to it.
        self.furthest_tick = 0
        self.world_digests: list[str] = []  # world digests at ticks 0, DIGEST_EVERY, ..., before commands
        self.marks = MarkList()
        # (tick, text, id() of the command) -> message of the world
        self._message_by_key: dict[tuple[int, str, int], RunMessage] = {}
        self.divergence: Divergence | None = None
        self.expected_digests: list[str] = []  # digests of a saved run, which a replay must reproduce
        # Last tick of the saved run, and its expected digest after the commands of that tick; None: nothing to compare.
        self.expected_last_digest: tuple[int, str] | None = None
        self.expected_agent_digests: dict[int, str] = {}  # agent number -> expected digest after the last saved tick

    @property
    def agent_records(self) -> dict[int, AgentRecord]:
        """Return the records of all agents up to the last tick. To read the record of one agent, `record` is faster."""
        if self._pending_steps:
            for agent in self._record_by_agent:
                self.record(agent)
            self._pending_steps.clear()
            self._merged_counts.clear()
        return self._record_by_agent

    @property
    def end(self) -> int:
        """Return the last tick that the run has reached, now or before its past was edited."""
        return max(self.recorded_end, self.furthest_tick)

    @property
    def run_messages(self) -> tuple[RunMessage, ...]:
        """Return all messages of the run, without the duplicates that replays create."""
        return tuple(self._message_by_key.values())

    def has_record(self, agent: int) -> bool:
        return agent in self._record_by_agent

    def record(self, agent: int) -> AgentRecord:
        """Merge the pending steps of an agent into its record, and return the record."""
        record, merged_count = self._record_by_agent[agent], self._merged_counts.get(agent, 0)
        if merged_count < len(self._pending_steps):
            _append_batch_steps(record, self._pending_steps[merged_count:])
            self._merged_counts[agent] = len(self._pending_steps)
        return record

    def copy(self) -> "RunHistory":
        other = RunHistory()
        other._record_by_agent = {agent: record.copy() for agent, record in self.agent_records.items()}
        other.recorded_end, other.furthest_tick = self.recorded_end, self.furthest_tick
        other.world_digests, other.marks = list(self.world_digests), self.marks.copy()
        other._message_by_key, other.divergence = dict(self._message_by_key), self.divergence
        other.expected_digests, other.expected_last_digest = list(self.expected_digests), self.expected_last_digest
        other.expected_agent_digests = dict(self.expected_agent_digests)
        return other

    # --- recording --------------------------------------------------------------------------------

    def record_new_agents(self, world: World) -> None:
        """Record the world's new agents and messages; call this after the commands of its tick were applied."""
        for note in world.messages:
            self._message_by_key.setdefault((note.tick, note.text, id(note.command)), note)
        for walker in world.walkers:
            if walker.id not in self._record_by_agent:
                record = AgentRecord(walker.id, walker.label, walker.spec.key, walker.added_tick, walker.position)
                self._record_by_agent[walker.id] = record
                self._merged_counts[walker.id] = len(self._pending_steps)

    def record_steps(self, world: World, begin: int, before: Mapping[int, Status], now: Mapping[int, Status]) -> None:
        """Record what the agents did in the ticks of the world's last advance.

        Args:
            world: the world after the advance.
            begin: first tick of the advance.
            before: status of each agent before the advance, by number.
            now: status of each agent after the advance, by number.
        """
        found: list[tuple[int, int, int]] = []
        blocks = list(world.executor.step_blocks())
        self._pending_steps += blocks
        for block in blocks:
            found += marks_of_batch(tuple(block.index_by_id), block.first_tick, block.log_rows)
        for walker in world.executor.walkers_with_rows():
            rows = walker.recent_rows.rows
            self.record(walker.id).append(begin, rows)
            found += marks_of_rows(walker.id, begin, rows)
        for walker in world.walkers if blocks or now != before else world.executor.walkers_with_rows():
            if (status := now[walker.id]) is not Status.ACTIVE:
                found += _status_mark(walker, begin, before.get(walker.id, Status.ACTIVE), status)
        if found:
            self.marks.append(sorted(found))

    def advance_recorded_end(self, world: World) -> None:
        """Set the recorded end to the world's tick, and record a digest every DIGEST_EVERY ticks.

        If agents did something, call record_steps() first.
        """
        self.recorded_end = world.tick
        self.furthest_tick = max(self.furthest_tick, world.tick)
        if world.tick % DIGEST_EVERY == 0:
            self.record_digest(world.compute_digest())

    def end_run_at(self, tick: int) -> None:
        """Forget the old end of the run if the run, which cannot continue at `tick`, is recorded up to there."""
        if tick >= self.recorded_end:
            self.furthest_tick = self.recorded_end

    def record_digest(self, digest: str) -> None:
        """Record the next digest of the world, and compare it with the digest of the saved run, if any."""
        index = len(self.world_digests)
        if index < len(self.expected_digests) and self.expected_digests[index] != digest:
            self.report_divergence(Divergence(index * DIGEST_EVERY, self.expected_digests[index], digest))
        self.world_digests.append(digest)

    def cells(self, agents: tuple[int, ...], first: int, last: int, first_cells: Cells | None = None) -> Cells:
        """Return the cells on which agents were at each tick from `first` to `last`.

        Args:
            agents: numbers of the agents.
            first: first tick; the cell of a tick is where the agent was when the clock showed that tick.
            last: last tick, included.
            first_cells: cells of the agents at `first`, if known. With them, recent ticks can be read without first
                updating the records.

        Returns:
            The cells as int32[agents, ticks].
        """
        recent = None if first_cells is None else self._cells_from_pending_steps(agents, first, last, first_cells)
        if recent is not None:
            return recent
        ticks = np.arange(first, last + 1)
        found = np.empty((len(agents), ticks.size), np.int32)
        records = self.agent_records
        for index, agent in enumerate(agents):
            record = records[agent]
            rows = record.rows_before_tick(last)["cell"]
            at = np.clip(ticks - record.joined_tick, 0, rows.size)
            found[index] = np.where(
                at > 0, rows[np.maximum(at - 1, 0)] if rows.size else record.start_cell, record.start_cell
            )
        return found

    def _cells_from_pending_steps(
        self, agents: tuple[int, ...], first: int, last: int, first_cells: Cells
    ) -> Cells | None:
        """Return the result of `cells()` from the pending steps of one batch; None if a tick or an agent is missing."""
        all_steps = [
            b for b in self._pending_steps if b.end > first and b.first_tick < last and agents[0] in b.index_by_id
        ]
        if not all_steps or all_steps[0].first_tick > first or all_steps[-1].end < last:
            return None
        if any(a.end != b.first_tick or a.index_by_id is not b.index_by_id for a, b in pairwise(all_steps)):
            return None
        order = [all_steps[0].index_by_id.get(agent, -1) for agent in agents]
        if -1 in order:
            return None
        found = [first_cells[:, None]]
        for steps in all_steps:
            done = steps.done[order]
            cells = _forward_filled_cells(steps.log_rows["cell"][order], done)
            cells[done == 0] = found[-1][done == 0, -1:]
            found.append(cells[:, max(0, first - steps.first_tick) : last - steps.first_tick])
        return np.concatenate(found, axis=1)

    # --- comparing with the recorded run ----------------------------------------------------------

    def set_expected_digests(
        self, digests: Iterable[str], last: tuple[int, str] | None = None, agents: Mapping[int, str] | None = None
    ) -> None:
        """Set the digests (checksums of the state) of a saved run; a replay that differs sets `divergence`.

        Args:
            digests: digests at ticks 0, DIGEST_EVERY, 2 * DIGEST_EVERY, ..., each before the commands of its tick.
            last: the last tick of the saved run, and its digest after the commands of that tick.
            agents: digests of the agents, by number, at the tick of `last`.
        """
        self.expected_digests, self.expected_last_digest = list(digests), last
        self.expected_agent_digests = dict(agents or {})
        for index, (now, was) in enumerate(zip(self.world_digests, self.expected_digests, strict=False)):
            if now != was:
                self.report_divergence(Divergence(index * DIGEST_EVERY, was, now))

    def check_replay_digest(self, world: World) -> None:
        """Compare the digest of a replayed world with the digest recorded at its tick; a difference is a bug."""
        index, remainder = divmod(world.tick, DIGEST_EVERY)
        if (
            not remainder
            and index < len(self.world_digests)
            and (now := world.compute_digest()) != self.world_digests[index]
        ):
            self.report_divergence(Divergence(world.tick, self.world_digests[index], now))

    def check_last_digest(self, world: World) -> None:
        """If the world is at the last tick of the saved run, compare its digest with the saved digest of that tick."""
        if self.expected_last_digest and self.expected_last_digest[0] == world.tick:
            was, now = self.expected_last_digest[1], world.compute_digest()
            if was != now:
                expected = self.expected_agent_digests
                others = (w.label for w in world.walkers if expected and expected.get(w.id) != world.walker_digest(w))
                self.report_divergence(Divergence(world.tick, was, now, tuple(others)))
            self.expected_last_digest = None

    @property
    def divergence_tick(self) -> int | None:
        """Return the first tick at which a replay differed from the recorded run; None if none did."""
        return None if self.divergence is None else self.divergence.tick

    def report_divergence(self, found: Divergence) -> None:
        """Store a difference from the recorded run; of several differences, keep the earliest and any known agents."""
        before = self.divergence
        if before is None or found.tick < before.tick:
            self.divergence = replace(found, agent_labels=found.agent_labels or (before.agent_labels if before else ()))
        elif found.agent_labels:
            self.divergence = replace(before, agent_labels=found.agent_labels)

    # --- discarding -------------------------------------------------------------------------------

    def discard_after_tick(self, tick: int, keeps_now: bool) -> None:
        """Discard everything recorded after `tick`. `keeps_now`: whether effects of the commands at `tick` are kept."""
        last_kept_tick = tick if keeps_now else tick - 1
        self._message_by_key = {key: note for key, note in self._message_by_key.items() if note.tick <= last_kept_tick}
        if tick < self.recorded_end or not keeps_now:
            self._record_by_agent = {a: r for a, r in self.agent_records.items() if r.joined_tick <= last_kept_tick}
            for record in self._record_by_agent.values():
                record.remove_rows_from_tick(tick)
        self.marks.remove_marks_after(tick)
        del self.world_digests[tick // DIGEST_EVERY + 1 :]
        del self.expected_digests[tick // DIGEST_EVERY + 1 :]
        if self.expected_last_digest and self.expected_last_digest[0] >= tick:
            self.expected_last_digest = None
        if self.divergence is not None and self.divergence.tick > tick:
            self.divergence = None
        self.recorded_end = min(self.recorded_end, tick)

    def activity_end_before(self, tick: int) -> int:
        """Return 1 + the last tick before `tick` in which any agent was active; 0 if there is no such tick."""
        return max((record.activity_end_before(tick) for record in self.agent_records.values()), default=0)


def _status_mark(walker: Walker, begin: int, before: Status, status: Status) -> list[tuple[int, int, int]]:
    """Return the mark for an arrival or a proof of no path since tick `begin`, in a list; [] if there is no mark.

    An arrival by a move gets no mark here, because the row of the move has one. An agent that arrived without a row did
    not move: the goal was moved to its cell.
    """
    kind = _MARK_OF_STATUS.get(status)
    is_new = status is not before
    if kind is None or (kind is MarkKind.ARRIVAL and not is_new):
        return []
    rows = walker.recent_rows.rows.size
    is_due = not rows if kind is MarkKind.ARRIVAL else is_new or rows
    return [(begin + max(1, rows), walker.id, int(kind))] if is_due else []


def _append_batch_steps(record: AgentRecord, all_steps: Sequence[StepBlock]) -> None:
    """Append the rows of one agent from these batch steps to its record, one call per run of consecutive ticks."""
    begin = 0
    rows: list[npt.NDArray[np.void]] = []
    for steps in all_steps:
        index = steps.index_by_id.get(record.agent)
        own = steps.log_rows[index, : steps.done[index]] if index is not None else _NO_ROWS
        if rows and (not own.size or begin + sum(part.size for part in rows) != steps.first_tick):
            record.append(begin, np.concatenate(rows))
            rows = []
        if own.size:
            begin = begin if rows else steps.first_tick
            rows.append(own)
    if rows:
        record.append(begin, np.concatenate(rows))


_NO_ROWS = np.zeros(0, log.ROW)  # rows of an agent that has no batch steps


def _forward_filled_cells(cells: Cells, done: npt.NDArray[np.int64]) -> Cells:
    """Return a copy of cells[agents, ticks]; in each row, values after the first `done` repeat the last valid value."""
    at = np.minimum(np.arange(cells.shape[1])[None, :], np.maximum(done - 1, 0)[:, None])
    return np.take_along_axis(cells, at, axis=1)
