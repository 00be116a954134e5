"""Timeline: a simulation run that can be rewound to any tick, edited there and replayed.

The state of a run follows from a setup, the log of commands and a tick; everything else is a cache.

    timeline = Timeline(setup)          setup() builds the world of tick 0 with its scripted commands queued
    timeline.world                      the world at the present tick; a different object after a seek backwards
    timeline.advance(n)                 run up to n ticks; returns the number of ticks run
    timeline.do(command)                apply a command now, between two ticks, and log it
    timeline.seek(tick)                 move the present to another tick; returns the tick that was reached
    timeline.begin_seek(tick)           start a seek in time slices, for a window:
    timeline.continue_seek(work)          run a slice of about `work` microseconds; True once the seek is finished
    timeline.is_seeking                   while True, `world` is the world shown before, or the one being moved
    timeline.generation                 generation counter: incremented when `world` is replaced or the past edited
    timeline.tick, .recorded_end          the present tick; the last recorded tick
    timeline.horizon, .end                the last tick recorded before the past was edited; the later of both ends
    timeline.continue_recording(work)     recompute up to that end in the background; False when it is reached
    timeline.fork(tick)                 another timeline with the same setup, commands and past

    timeline.records[agent]             Record: where an agent was after every tick, kept once per run (recorded.py)
    timeline.marks(first, last)         edits, restarts, back-moves, proofs of no path, arrivals; sorted by tick
    timeline.next_mark(tick), .previous_mark(tick)
    timeline.diverged                   the first tick whose digest differs from the expected one (`expect`), or None
    timeline.notes()                    the messages of the world, each once for the whole run

    timeline.entries()                  all commands, from the scenario and from the user
    timeline.set_enabled(id, yes), .move(id, tick), .delete(id), .duplicate(id, tick), .change(id, command)
    timeline.insert(tick, command)      add a command at any tick: past, present or future
    timeline.complaints()               why some commands did not apply, by entry id

An edit of the past starts a seek to the present tick through the new past; finish it with continue_seek() or settle().
Methods that move the present (advance, do, apply_now) settle first; reading `world` does not.

Within a tick, the random change of the map comes first, then the commands, then the agents. `seek(t)` shows tick t with
its commands applied; a keyframe and a digest describe the moment before the commands.

Work is measured in the microseconds that a replay took on the machine on which the constants were tuned. It is counted
(ticks, expansions, changes of the map) and never timed, so that it is deterministic.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from sim import commands
from sim.agent_api import Status
from sim.commands import Command, Note
from sim.kernels import log
from sim.measuring import A_TICK
from sim.time.history import DIGEST_EVERY, Divergence, History
from sim.time.keyframes import Keyframe, KeyframeStore, Restoring, Track
from sim.time.log import Entry, Log, Numbers, last_tick, placed
from sim.time.recorded import MARK, MarkKind, Record
from sim.walker import Walker, WalkerView
from sim.world import BULK, World

SPACING = 100_000.0
"""Work between two keyframes, in microseconds: the most that a seek replays, unless memory runs short."""

NEAR_SPACING = 12_000.0
"""Minimum work between keyframes near the playhead when stepping back; closer ones would cost more than they save."""

_STEP = 1.0  # work of one call that advances the world, without the work of the agents
_TICK = 0.5  # work of one tick of one agent, without its expansions
_SLOW_TICK = 20.0  # work of one tick of an agent that is called once per tick instead of in bulk
_EXPANSION = 0.1  # work of one expansion
_COMMAND = 100.0  # work of applying one command
_MAP_CELL = 0.012  # work of a random change, per cell of the map
_FEW_MEMORIES = 500  # buffers of a world that a snapshot saves at no notable cost
# Extra spacing per further buffer: saving one takes a work of 20, and saving should be at most 5 % (1/20) of all work.
_FRAMING = 20 * 20.0
_BYTES_A_WORK = 5000  # bytes that can be copied per unit of work (microsecond)


@dataclass(eq=False)
class _Cursor:
    """Cursor on a timeline: a world at some tick, with the work it took to get there."""

    world: World
    work: float = 0.0  # work from tick 0 to the present tick
    framed: float = float("-inf")  # value of `work` when the last keyframe was taken or restored
    rate: float = 1000.0  # recent work per tick, see _count_work
    statuses: dict[int, Status] = field(default_factory=dict)  # status of each agent before the commands of the tick
    looked: int = -1  # tick at which `statuses` was read
    activity_version: int = -1  # activity counter of the world (World.activity_version) when `statuses` was read
    is_due: bool = False  # whether a keyframe is taken at the end of the next frame
    is_stale: bool = False  # whether the past was edited, so that no replay reaches the state of this world any more

    def __post_init__(self) -> None:
        self.expansions = expansions_of(self.world)  # total expansions when `work` was last updated

    @property
    def tick(self) -> int:
        return self.world.tick

    @property
    def is_before_commands(self) -> bool:
        return self.world.is_before_commands

    def look(self) -> bool:
        """Read the statuses of the agents, at most once per tick.

        A second read at the same tick would be wrong: commands of the tick may have woken agents in the meantime.

        Returns:
            Whether the state of any agent may have changed since the last read.
        """
        if self.looked == self.world.tick:
            return False
        self.looked = self.world.tick
        if self.activity_version == self.world.activity_version:
            return False
        self.activity_version = self.world.activity_version
        self.statuses = {walker.id: walker.agent.status for walker in self.world.walkers}
        return True


@dataclass(eq=False)
class _Seek:
    """Seek in progress: it restores a keyframe first, then replays ticks."""

    target: int  # tick to reach
    head: _Cursor | None = None  # cursor that the seek moves; None while a keyframe is being restored
    restoring: Restoring | None = None  # restore in progress
    stops: tuple[int, ...] = ()  # ticks before the target at which a keyframe is worth taking
    is_background: bool = False  # whether the seek moves a world of its own, never the one on screen

    def next_stop(self, tick: int) -> int:
        """Return the first stop after `tick`, or the target."""
        return next((stop for stop in self.stops if stop > tick), self.target)


class Timeline:
    """Run that can be rewound, edited and replayed, see the module docstring."""

    _head: _Cursor | None  # cursor at the present tick, see _present

    def __init__(self, setup: Callable[[], World], store: KeyframeStore | None = None) -> None:
        """Create a timeline at tick 0.

        Args:
            setup: function that builds the world of tick 0 with its scripted commands queued.
            store: keyframe store, which timelines may share; None: a new one.
        """
        world = setup()
        store = KeyframeStore() if store is None else store
        self._begin(setup, store.new_track(), Log(Numbers(), world.next_agent_id))
        self.log.begin(world.replace_queue(()))
        self._head = self._prepared(_Cursor(world))
        self.history.note_digest(world.digest())
        self._set_keyframe(self._head)
        self._apply(self._head)

    def _begin(self, setup: Callable[[], World], track: Track, log: Log) -> None:
        self.setup, self._track, self.log = setup, track, log
        # Callback before `do` overwrites a future, which it may keep as a branch.
        self.on_lost_future: Callable[[Timeline], None] | None = None
        # Callback after the log has changed: (timeline, new or altered entries, ids of removed entries).
        self.on_entries: Callable[[Timeline, list[Entry], list[int]], None] | None = None
        self.history = History()
        self.horizon = self.generation = 0
        self._head = None
        self._seek: _Seek | None = None
        self._recording: _Seek | None = None  # background seek that recomputes up to the old end after an edit
        # Tick that was shown before an edit of the past, which may end the run earlier. A further edit (such as an
        # undo) seeks back to it. 0: none.
        self._missed = 0
        self._taking: Future[Keyframe | None] | None = None  # keyframe that another thread is saving

    def fork(self, tick: int | None = None, store: KeyframeStore | None = None) -> "Timeline":
        """Return a copy of this timeline that runs identically until either of them gets new commands.

        Args:
            tick: tick that the copy shows; None: the present one.
            store: keyframe store for the copy; None: it shares the present store. A copy with a store of its own may
                be used in another thread.
        """
        other = Timeline.__new__(Timeline)
        shown = self.tick if tick is None else tick
        self._finish_keyframe()
        track = self._track.fork(self.recorded_end) if store is None else self._track.fork_into(store, shown)
        other._begin(self.setup, track, self.log.copy())
        other.history, other.horizon = self.history.copy(), self.horizon
        other.begin_seek(shown)
        return other

    def close(self) -> None:
        """Free the memory of the keyframes. The timeline must not be used afterwards."""
        self._finish_keyframe()
        self._track.close()

    @property
    def records(self) -> dict[int, Record]:
        """Return the records of all agents that were ever on the map, by number."""
        return self.history.records

    @property
    def recorded_end(self) -> int:
        """Return the last tick that is recorded with the present log."""
        return self.history.end

    @property
    def end(self) -> int:
        """Return the last tick that the run has reached, recorded now or before its past was edited."""
        return max(self.recorded_end, self.horizon)

    @property
    def diverged(self) -> int | None:
        """Return the first tick at which a replay differed from the recorded run; None if none did."""
        return self.history.diverged

    @property
    def divergence(self) -> Divergence | None:
        """Return the first difference between a replay and the recorded run, with digests and agents; None if none."""
        return self.history.divergence

    def report_divergence(self, tick: int) -> None:
        """Note that at `tick` a replay differed from the recorded run."""
        self.history.report_divergence(Divergence(tick))

    def expect(
        self, digests: Iterable[str], last: tuple[int, str] | None = None, agents: Mapping[int, str] | None = None
    ) -> None:
        """Set the digests that this run should have; a difference is reported in `diverged`.

        Args:
            digests: digests of ticks 0, DIGEST_EVERY, 2 * DIGEST_EVERY, ..., each before the commands of its tick.
            last: a tick and its digest with the commands of the tick applied.
            agents: digests of the agents, by number, at the tick of `last`.
        """
        self.history.expect(digests, last, agents or {})

    # --- the present ------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """Return the world at the present tick; during a seek, the world shown before, or the one being moved."""
        return self._present().world

    @property
    def tick(self) -> int:
        return self._present().tick

    @property
    def target(self) -> int:
        """Return the target of the seek in progress, or else the present tick."""
        return self._seek.target if self._seek else self.tick

    @property
    def is_over(self) -> bool:
        return self.world.is_over

    @property
    def store(self) -> KeyframeStore:
        return self._track.store

    @property
    def _heads(self) -> list[_Cursor]:
        """Return the cursor at the present tick and the one that a seek moves, without missing ones and duplicates."""
        both = dict.fromkeys((self._head, self._seek.head if self._seek else None))
        return [head for head in both if head is not None]

    def _present(self) -> _Cursor:
        """Return the cursor at the present tick.

        A new fork has no cursor: the first call takes the one with which its seek begins. It does not finish the seek,
        which may have to replay the whole run, because a window reads the present in each frame.
        """
        if self._head is None:
            assert self._seek is not None
            self._head = self._head_of(self._seek)
        return self._head

    def _head_of(self, seek: _Seek) -> _Cursor:
        """Return the cursor that a seek moves, after finishing the restore of its keyframe."""
        while seek.restoring is not None:
            seek.restoring.step()
            frame, world = seek.restoring.frame, self.store.load(seek.restoring)
            if world is not None:
                seek.head, seek.restoring = self._prepared(_Cursor(world, frame.work, frame.work)), None
            else:
                self._plan(seek)
        assert seek.head is not None
        return seek.head

    def advance(self, ticks: int, *, is_shown: bool = False) -> int:
        """Run up to `ticks` ticks and record their rows in `records`.

        Args:
            ticks: most ticks to run.
            is_shown: whether to apply the commands of the tick that is reached, as a seek does.

        Returns:
            The number of ticks run: fewer than `ticks` if the world is over.
        """
        self.settle()
        head = self._present()
        passed = self._advance(head, ticks, begins_with_keyframe=self.store.beside is None)
        self._missed = 0 if passed else self._missed
        if is_shown and self.log.has_edits_at(head.tick):
            self._apply(head)
        self._take_keyframe_beside(head)
        return passed

    def apply_now(self) -> None:
        """Apply the commands due at the present tick, without running it."""
        self.settle()
        self._apply(self._present())

    def go_on_measuring(self) -> bool:
        """Process pending measurements for as long as they may take in one tick.

        Measurements are the check of moves for optimality, and the cost of the cheapest path on a map that was edited
        before any agent planned. Nothing is done while another thread saves a keyframe, because the world must not
        change until it has finished.

        Returns:
            Whether there was something to process.
        """
        if self.is_being_read or not self.is_measuring:
            return False
        self._finish_keyframe()
        if not self.world.refresh_optima(A_TICK):
            self.world.measuring.spend(1)
        return True

    @property
    def is_measuring(self) -> bool:
        """Return whether measurements are pending that need no further tick."""
        return self.world.measuring.is_waiting or self.world.has_old_optima

    def true_distance(self, cell: int) -> float | None:
        """Return the cost of the cheapest path from a cell to the goal; None if unknown yet: call again next frame."""
        if self.is_being_read:
            return None
        self._finish_keyframe()
        return self.world.measuring.distance_within(cell, A_TICK)

    def distance(self, cell: int) -> float:
        """Return the cost of the cheapest path from a cell to the goal, however long the search for it takes."""
        self._finish_keyframe()
        return self.world.measuring.distance(cell)

    @property
    def is_being_read(self) -> bool:
        """Return whether the world must not be changed, because another thread is saving a keyframe of it."""
        return self._taking is not None and not self._taking.done()

    def do(self, command: Command, keeps_later: bool = False, stroke: int = 0) -> Entry:
        """Apply a command at the present tick and log it.

        At a past tick this overwrites the future: later commands of the user are removed from this timeline, unless
        `keeps_later`. `on_lost_future` is called first, so that it can keep the old run as a branch. The future extends
        to `end`, not only to `recorded_end`: an edit of the past shortens the record, but removes no commands.

        Args:
            command: the command.
            keeps_later: whether to keep later commands of the user.
            stroke: number of the stroke that the command belongs to; 0: it is a stroke by itself.

        Returns:
            The new log entry.
        """
        self.settle()
        head = self._present()
        now, self._missed = head.tick, 0
        if now < self.end and not keeps_later and self.on_lost_future:
            self.on_lost_future(self)
        lost = [] if keeps_later else self.log.forget_by_hand(now, self.end)
        self._truncate(now, keeps_now=True)
        self.horizon = self.horizon if keeps_later else now
        self._apply(head)
        entry = self.log.by_hand(now, command, stroke)
        self.log.add(entry)
        if lost:
            head.world.replace_queue(self.log.due(now + 1))
        head.world.submit(entry.command)
        self._apply(head)
        self._tell([entry], lost)
        return entry

    # --- running ----------------------------------------------------------------------------------

    def _advance(
        self, head: _Cursor, ticks: int, work: float = float("inf"), *, begins_with_keyframe: bool = True
    ) -> int:
        """Advance a cursor by up to `ticks` ticks within a limit of work, recording new ticks; return the ticks run."""
        self._finish_keyframe()
        passed, begin = 0, head.work
        while passed < ticks and head.work - begin < work:
            if (passed or begins_with_keyframe) and head.is_before_commands and self._wants_keyframe(head):
                self._set_keyframe(head)
            self._apply(head)
            left = min(work - (head.work - begin), SPACING / 2)
            most = min(ticks - passed, max(1, int(left / head.rate)))
            # World.advance would clear the rows of the last tick, which the window still shows.
            done = 0 if head.world.is_over else self._advance_segment(head, most)
            if not done:
                self._meet_end(head)
                break
            passed += done
        return passed

    def _advance_segment(self, head: _Cursor, ticks: int) -> int:
        """Advance up to the next command or digest, through ticks that are all new or all recorded.

        Returns:
            The number of ticks run.
        """
        world, begin, end = head.world, head.world.tick, self.recorded_end
        is_new = begin >= end
        boundary = DIGEST_EVERY - begin % DIGEST_EVERY
        world.is_live = is_new and begin >= self.horizon
        if not world.is_live:
            boundary = min(boundary, (self.horizon if is_new else end) - begin)
        done = world.advance(min(ticks, boundary, world.ticks_to_next_event(), BULK))
        if not done:
            return 0
        before = head.statuses
        has_stirred = head.look()
        self._count_work(head, done, has_stirred)
        if is_new:
            if has_stirred:
                self.history.record_steps(world, begin, before, head.statuses)
            self.history.advance_end(world)
            self.horizon = max(self.horizon, world.tick)
            if world.served:
                self._tell(self.log.note_served(world.served), [])
                world.served.clear()
        else:
            self.history.check(world)
        return done

    def _count_work(self, head: _Cursor, ticks: int, has_stirred: bool) -> None:
        work = _STEP
        if has_stirred:
            before, head.expansions = head.expansions, expansions_of(head.world)
            work = work_of(head.world, ticks, max(0, head.expansions - before))
        head.work += work
        head.rate = max(work / ticks, head.rate / 2)  # rises at once and falls slowly, so that slices seldom overrun

    def _apply(self, head: _Cursor) -> None:
        """Apply the commands of the cursor's tick; if the tick is new, record new agents and messages."""
        self._finish_keyframe()
        if head.is_before_commands:
            head.look()
            if not head.world.ticks_to_next_event():
                head.work += _COMMAND * self.log.count_at(head.tick)
        head.world.apply_now()
        if head.tick >= self.recorded_end:
            self.history.observe(head.world)
        head.world.notes.clear()

    def expectations(self) -> tuple[tuple[str, ...], tuple[int, str] | None, dict[int, str]]:
        """Return the arguments of `expect` for a run that is saved now.

        Digests of recorded ticks come from the record, digests of later ticks from an earlier call of `expect`.
        """
        history = self.history
        digests = (*history.digests, *history.expected[len(history.digests) :])
        if self.is_seeking:
            return digests, history.expected_last, history.expected_agents
        self.apply_now()
        world = self.world
        return digests, (self.tick, world.digest()), {w.id: world.walker_digest(w) for w in world.walkers}

    def _meet_end(self, head: _Cursor) -> None:
        """Set the end of the run after its world is over: ticks recorded before an edit do not exist any more."""
        if head.tick >= self.recorded_end:
            self.horizon = self.recorded_end

    # --- keyframes --------------------------------------------------------------------------------

    def _wants_keyframe(self, head: _Cursor) -> bool:
        """Return whether a keyframe is due at the cursor, so that later seeks do not replay too much.

        A keyframe is due when the work since the last one has reached SPACING, or more where keyframes take long to
        save and to restore.
        """
        if head.work - head.framed < SPACING:
            return False  # the usual case, tested first because finding the last keyframe takes longer
        last = self._track.at_or_before(head.tick)
        if last is not None and last.tick == head.tick:
            return False
        since = max(head.framed, last.work if last else head.framed)
        spacing = SPACING + (restoring_work(last) + _framing_work(last) if last else 0.0)
        return head.work - since >= spacing

    def _set_keyframe(self, head: _Cursor) -> None:
        head.framed = self._track.playhead = head.work
        taking = self.store.begin(head.world, head.work)
        frame = self.store.read(taking, self._track.at_or_before(head.tick)) if taking is not None else None
        if frame is not None:
            self._track.add(frame)

    def _take_keyframe_beside(self, head: _Cursor) -> None:
        """Save a keyframe in the background if one became due in the last frame.

        Another thread saves it while the window draws, because the world does not change before the next tick. It is
        delayed by one frame: a keyframe mostly becomes due by a change of the map, and that frame is the longest.
        """
        if self.store.beside is None or not head.is_before_commands or not self._wants_keyframe(head):
            return
        head.is_due = not head.is_due
        if not head.is_due:
            head.framed = self._track.playhead = head.work
            before = self._track.at_or_before(head.tick)
            head.world.materialize_views()
            taking = self.store.begin(head.world, head.work)
            if taking is not None:
                self._taking = self.store.read_beside(taking, before)

    def _finish_keyframe(self) -> None:
        """Wait for the keyframe that another thread is saving, if any. Call it before the world changes."""
        if self._taking is not None:
            self.store.hurry()
            frame, self._taking = self._taking.result(), None
            if frame is not None:
                self._track.add(frame)

    def _new_head(self) -> _Cursor:
        return self._prepared(_Cursor(self.setup()))

    def _prepared(self, head: _Cursor) -> _Cursor:
        """Return a cursor whose world is before the commands of its tick, after queueing the commands of this log."""
        head.world.replace_queue(self.log.due(head.tick))
        head.world.prepare()
        return head

    # --- seeking ----------------------------------------------------------------------------------

    @property
    def is_seeking(self) -> bool:
        return self._seek is not None

    def seek(self, tick: int) -> int:
        """Move the present to another tick and return the tick reached: an earlier one if the run ends before it."""
        self.begin_seek(tick)
        self.settle()
        return self.tick

    def settle(self) -> None:
        """Finish the seek in progress, if any."""
        while not self.continue_seek(float("inf")):
            pass

    def begin_seek(self, tick: int) -> None:
        """Start a seek to another tick; it replaces a seek in progress."""
        self._finish_keyframe()
        self._missed = 0
        seek = _Seek(max(0, tick))
        self._plan(seek)
        self._seek = seek

    def _plan(self, seek: _Seek) -> None:
        """Choose the start of a seek: a cursor before the target, a keyframe, or a new world of tick 0."""
        seek.head, seek.restoring, seek.stops = None, None, ()
        frame = self._track.at_or_before(seek.target)
        head = None if seek.is_background else self._nearest_head(seek.target)
        if head is not None and (frame is None or frame.work - head.work <= restoring_work(frame)):
            seek.head = head
            return
        seek.stops = self._stops(frame.tick if frame is not None else 0, seek.target)
        if frame is not None:
            seek.restoring = Restoring(frame)
        else:
            seek.head = self._new_head()

    def make_whole(self) -> None:
        """Recover from an error within a tick by restoring the world from before it.

        The world is in an unknown state then, so all cursors are discarded. The seek goes to the present tick, or to
        the last recorded one if that is earlier.
        """
        tick = min(self.target, self.recorded_end)
        self._taking = self._recording = None
        for head in self._heads:
            head.is_stale = True
        self.begin_seek(tick)

    def _nearest_head(self, tick: int) -> _Cursor | None:
        """Return the latest valid cursor at or before this tick, of the present or of a seek; None if there is none."""
        usable = [head for head in self._heads if head.tick <= tick and not head.is_stale]
        return max(usable, key=lambda head: head.tick, default=None)

    def _stops(self, begin: int, tick: int) -> tuple[int, ...]:
        """Return ticks at which a seek backwards takes more keyframes, so that the next step back replays less."""
        if self._head is None or tick >= self._head.tick:
            return ()
        return begin + (tick - begin) // 2, tick - (tick - begin) // 4

    def continue_seek(self, work: float = 4000.0) -> bool:
        """Run a slice of about `work` microseconds of the seek in progress; return whether no seek is left."""
        seek = self._seek
        if seek is None:
            return True
        if seek.restoring is not None and not seek.restoring.step(int(min(work * _BYTES_A_WORK, 1 << 62))):
            return False
        head = self._head_of(seek)
        if not self._replay(seek, head, work):
            return False
        self._arrive(head)
        return True

    def _replay(self, seek: _Seek, head: _Cursor, work: float) -> bool:
        """Replay towards the target within a limit of work; return whether the target or the end is reached."""
        begin = head.work
        while head.tick < seek.target:
            left = work - (head.work - begin)
            if left <= 0:
                return False
            stop = seek.next_stop(head.tick)
            if not self._advance(head, stop - head.tick, left):
                return True
            if head.tick == stop:
                self._set_near_keyframe(head)
        return True

    def _set_near_keyframe(self, head: _Cursor) -> None:
        if head.tick < self.recorded_end and head.is_before_commands and head.work - head.framed >= NEAR_SPACING:
            self._set_keyframe(head)

    def _arrive(self, head: _Cursor) -> None:
        self._seek = None
        if head is not self._head:
            self._head = head
            self.generation += 1
        self._track.playhead = head.work
        self._apply(head)
        self.history.check_last(head.world)
        for walker in head.world.walkers:
            self._show_last_row(walker, head.tick)

    def _show_last_row(self, walker: Walker, tick: int) -> None:
        """Give a walker its row of the last tick only, so that a world looks the same however a seek reached it."""
        record = self.records[walker.id]
        is_active = record.last_active(tick) == tick
        rows = record.rows_before(tick)[-1:] if is_active else log.new_log(0)
        walker.show_rows(rows.copy(), max(0, tick - 1))

    # --- recomputing after an edit of the past ----------------------------------------------------

    @property
    def is_recording(self) -> bool:
        """Return whether, after an edit of the past, ticks up to the old end remain to be recomputed."""
        return self.recorded_end < self.horizon

    def continue_recording(self, work: float = 4000.0) -> bool:
        """Recompute towards the old end for about `work` microseconds, in a separate world: the present stays.

        Nothing is done during a seek or while another thread saves a keyframe.

        Returns:
            Whether ticks remain to be recomputed.
        """
        if not self.is_recording:
            self._recording = None
            return False
        if self.is_seeking or self.is_being_read:
            return True
        if self._recording is None:
            self._recording = _Seek(self.horizon, is_background=True)
            self._plan(self._recording)
        seek = self._recording
        seek.target = self.horizon
        if seek.restoring is None or seek.restoring.step(int(work * _BYTES_A_WORK)):
            self._replay(seek, self._head_of(seek), work)
            self._track.playhead = self._present().work
        return self.is_recording

    # --- editing the log --------------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """Return all log entries by tick; entries of one tick are in the order in which they apply."""
        return tuple(self.log.entries)

    def labels_of(self, walkers: Iterable[Walker | WalkerView]) -> tuple[str, ...]:
        """Return the labels of agents: the name given last in the log, which also holds at earlier ticks."""
        names = self.log.given_names()
        return tuple([names.get(walker.id, walker.label) or walker.spec.name for walker in walkers])

    def insert(self, tick: int, command: Command, stroke: int = 0) -> Entry:
        """Log a command at any tick, after the commands already there, and return its entry; later commands stay."""
        entry = self.log.by_hand(tick, command, stroke)
        self._rewrite(placed(self.log.entries, entry), tick)
        self._tell([entry], [])
        return entry

    def set_enabled(self, entry_id: int, is_enabled: bool) -> None:
        self._alter(replace(self.log.entry(entry_id), is_enabled=is_enabled))

    def move(self, entry_id: int, tick: int) -> None:
        self._alter(replace(self.log.entry(entry_id), tick=max(0, tick)))

    def change(self, entry_id: int, command: Command) -> None:
        self._alter(replace(self.log.entry(entry_id), command=self.log.numbered(command)))

    def duplicate(self, entry_id: int, tick: int, stroke: int = 0) -> Entry:
        """Log a copy of a command at another tick and return its entry; a copied AddAgent adds a new agent."""
        command = self.log.entry(entry_id).command
        if isinstance(command, commands.AddAgent):
            return self.insert(max(0, tick), replace(command, agent=None), stroke)
        return self.insert(max(0, tick), replace(command), stroke)

    def put_back(self, entry: Entry) -> None:
        """Restore a deleted entry under its old id; do nothing if the log still has it."""
        if all(other.id != entry.id for other in self.log.entries):
            self._rewrite(placed(self.log.entries, entry), entry.tick)
            self._tell([entry], [])

    def delete(self, entry_id: int) -> None:
        gone = self.log.entry(entry_id)
        self._rewrite([entry for entry in self.log.entries if entry is not gone], gone.tick)
        self._tell([], [entry_id])

    def replace_log(self, entries: Iterable[Entry]) -> None:
        """Replace the whole log by entries from a file or a journal, which keep their ids."""
        entries = self.log.adopted(entries)
        pairs = zip_longest(self.log.entries, entries)
        differing = next(((a, b) for a, b in pairs if a is not b and a != b), None)
        if differing is not None:
            self._rewrite(entries, min(entry.tick for entry in differing if entry is not None))

    def _alter(self, new: Entry) -> None:
        old = self.log.entry(new.id)
        if new != old:
            self._rewrite(placed(self.log.entries, new), min(old.tick, new.tick))
            self._tell([new], [])

    def _tell(self, altered: list[Entry], gone: list[int]) -> None:
        if self.on_entries:
            self.on_entries(self, altered, gone)

    def _rewrite(self, entries: list[Entry], tick: int) -> None:
        """Replace the log by one that is equal before `tick`, and start a seek to the present tick through it."""
        present = max(self.target, self._missed)
        last_before, last = last_tick(self.log.entries), last_tick(entries)
        if last < last_before:  # the old run may have continued only because a later command was pending
            tick = min(tick, max(last, self.history.last_active(tick)))
        self.log.entries = entries
        self._truncate(tick, keeps_now=False)
        for head in self._heads:
            head.is_stale = head.is_stale or head.tick > tick or (head.tick == tick and not head.is_before_commands)
            if not head.is_stale:
                head.world.replace_queue(self.log.due(head.tick + (not head.is_before_commands)))
        self.generation += 1
        self._seek = None
        self.begin_seek(present)
        self._missed = present

    def _truncate(self, tick: int, keeps_now: bool) -> None:
        """Discard what was recorded after `tick` and, unless `keeps_now`, the effects of the commands of `tick`."""
        self._finish_keyframe()
        self._recording = None
        self._track.forget_after(tick)
        self.history.truncate(tick, keeps_now)

    def complaints(self) -> dict[int, str]:
        """Return the reasons why commands did not apply, by the id of their entry."""
        return self.log.complaints(self.history.notes.values())

    # --- recorded data ----------------------------------------------------------------------------

    def notes(self) -> tuple[Note, ...]:
        """Return the messages of the world, each once for the whole run."""
        return tuple(self.history.notes.values())

    def digests(self) -> tuple[str, ...]:
        """Return the digests of ticks 0, DIGEST_EVERY, 2 * DIGEST_EVERY and so on, as far as the run is recorded."""
        return tuple(self.history.digests)

    def marks(self, first: int, last: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> npt.NDArray[np.void]:
        """Return the marks (recorded.MARK) of these kinds from tick `first` to `last`, both included, by tick."""
        wanted = [int(kind) for kind in kinds]
        marks = self.history.marks.between(first, last)
        if len(set(wanted)) < len(MarkKind):
            marks = marks[np.isin(marks["kind"], wanted)]
        edits = self.log.marks(first, last) if MarkKind.EDIT in wanted else []
        if not edits:
            return marks
        both = np.concatenate([np.array(edits, MARK), marks])
        return both[np.argsort(both["tick"], kind="stable")]

    def next_mark(self, tick: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> int | None:
        """Return the tick of the first mark after `tick`; None if there is none."""
        found = self.marks(tick + 1, 1 << 30, kinds)
        return int(found["tick"][0]) if found.size else None

    def previous_mark(self, tick: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> int | None:
        """Return the tick of the last mark before `tick`; None if there is none."""
        found = self.marks(0, tick - 1, kinds)
        return int(found["tick"][-1]) if found.size else None


def work_of(world: World, ticks: int, expansions: int) -> float:
    """Return the estimated microseconds that the last `ticks` ticks of a world took.

    Args:
        world: the world after these ticks, which were run without a command in between.
        ticks: number of ticks.
        expansions: expansions in these ticks.
    """
    tick = sum([_TICK if walker.spec.runs_in_bulk else _SLOW_TICK for walker in world.walkers])
    event = _MAP_CELL * world.grid.cells if world.random_changes.is_due(world.tick - ticks) else 0.0
    return _STEP + ticks * tick + expansions * _EXPANSION + event


def restoring_work(frame: Keyframe) -> float:
    """Return the estimated microseconds that restoring a keyframe takes."""
    return frame.content.bytes / _BYTES_A_WORK


def _framing_work(frame: Keyframe) -> float:
    """Return the extra work between keyframes where saving one takes long, as with hundreds of agents."""
    return _FRAMING * max(0, len(frame.content.sizes) - _FEW_MEMORIES)


def expansions_of(world: World) -> int:
    """Return all expansions so far of the agents on the map, and of measuring true distances for them."""
    return sum([walker.expansions for walker in world.walkers]) + world.measuring.expansions
