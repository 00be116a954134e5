"""Timeline: a run that can be wound back. A state is a setup, the commands and a tick; everything else is memory.

    timeline = Timeline(setup)          setup() makes the world of tick 0, its scripted commands in the queue
    timeline.world                      the world at the present tick; another object after a seek backwards
    timeline.advance(n)                 let ticks pass; the number that did
    timeline.do(command)                apply a command now, between two ticks, and log it
    timeline.seek(tick)                 the same world at another tick; the tick that was reached
    timeline.begin_seek(tick)           the same in pieces, for a window:
    timeline.continue_seek(work)          goes on for about `work` microseconds, says whether it is there
    timeline.is_seeking                   until it is, `world` is the old one, or the one that is on its way
    timeline.generation                 rises whenever `world` became another object or the past was changed
    timeline.tick, .recorded_end          the present tick; the last tick on record
    timeline.horizon, .end                the last tick on record before the past was changed; the later of both
    timeline.continue_recording(work)     compute on to that end in the background; False when nothing is left
    timeline.fork(tick)                 another timeline with the same setup, commands and past

    timeline.records[agent]             Record: where an agent was after every tick, kept once (recorded.py)
    timeline.marks(first, last)         edits, restarts, back-moves, proofs of no path, arrivals; sorted by tick
    timeline.next_mark(tick), .previous_mark(tick)
    timeline.diverged                   the first tick whose digest is not the one expected (`expect`), or None
    timeline.notes()                    what the world has had to say, once for the whole run

    timeline.entries()                  all commands, those of the scenario and those done by hand
    timeline.set_enabled(id, yes), .move(id, tick), .delete(id), .duplicate(id, tick), .change(id, command)
    timeline.insert(tick, command)      a command at any tick, past, present or future
    timeline.complaints()               why some of them did not apply, by id

A change of the past begins a seek to the present tick through the new past: go on with continue_seek, or settle().
What moves the present (advance, do, apply_now) settles first; looking at `world` does not.

At a tick, the random change comes first, then its commands, then the agents. `seek(t)` shows tick t with its
commands applied; a keyframe and a digest are of the moment before them.

Work is measured in the microseconds that a replay took on the machine on which this was tuned. It is counted, never
timed: ticks, expansions, changes of the map.
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
"""Work between two keyframes: what a seek replays at most, as long as the memory lasts."""

NEAR_SPACING = 12_000.0
"""Work between keyframes around the playhead when stepping back; a denser row would cost more than it saves."""

_STEP = 1.0  # work of ticks that are run at once, without what agents do in them
_TICK = 0.5  # work of one tick of one agent, without its expansions
_SLOW_TICK = 20.0  # the same of an agent that is asked tick by tick
_EXPANSION = 0.1
_COMMAND = 100.0
_MAP_CELL = 0.012  # of a random change, for each cell of the map
_FEW_MEMORIES = 500
_FRAMING = 20 * 20.0  # setting a world aside takes 20 for each memory beyond the first few, and 5 % of all at most
_BYTES_A_WORK = 5000  # memory that is copied in the meantime


@dataclass(eq=False)
class _Head:
    """A world on its way along the timeline."""

    world: World
    work: float = 0.0  # from tick 0 to here
    framed: float = float("-inf")  # work at which it was last set aside or restored
    rate: float = 1000.0  # work of a tick, lately
    statuses: dict[int, Status] = field(default_factory=dict)  # of the agents before the commands of the tick
    looked: int = -1  # tick of the statuses
    stirs: int = -1  # of the world then
    is_due: bool = False  # whether it is set aside at the end of the next frame
    is_stale: bool = False  # the past was changed: it stands where no way leads any more

    def __post_init__(self) -> None:
        self.expansions = expansions_of(self.world)  # when its work was last counted

    @property
    def tick(self) -> int:
        return self.world.tick

    @property
    def is_before_commands(self) -> bool:
        return self.world.is_before_commands

    def look(self) -> bool:
        """See how the agents stand, unless that has been seen at this tick: a command may have woken them since.

        Returns whether any of them did something or was told something since the last look.
        """
        if self.looked == self.world.tick:
            return False
        self.looked = self.world.tick
        if self.stirs == self.world.stirs:
            return False
        self.stirs = self.world.stirs
        self.statuses = {walker.id: walker.agent.status for walker in self.world.walkers}
        return True


@dataclass(eq=False)
class _Seek:
    """A seek that is under way: first a restore, then a replay."""

    target: int
    head: _Head | None = None
    restoring: Restoring | None = None
    stops: tuple[int, ...] = ()  # ticks on the way at which a keyframe is worth it
    is_background: bool = False  # whether it moves a world of its own, never one that is shown

    def next_stop(self, tick: int) -> int:
        return next((stop for stop in self.stops if stop > tick), self.target)


class Timeline:
    _head: _Head | None

    def __init__(self, setup: Callable[[], World], store: KeyframeStore | None = None) -> None:
        world = setup()
        store = KeyframeStore() if store is None else store
        self._begin(setup, store.new_track(), Log(Numbers(), world.next_agent_id))
        self.log.begin(world.replace_queue(()))
        self._head = self._prepared(_Head(world))
        self.history.note_digest(world.digest())
        self._set_keyframe(self._head)
        self._apply(self._head)

    def _begin(self, setup: Callable[[], World], track: Track, log: Log) -> None:
        self.setup, self._track, self.log = setup, track, log
        self.on_lost_future: Callable[[Timeline], None] | None = None  # asked to keep what `do` would overwrite
        self.on_entries: Callable[[Timeline, list[Entry], list[int]], None] | None = None  # new or altered, gone
        self.history = History()
        self.horizon = self.generation = 0
        self._head = None
        self._seek: _Seek | None = None
        self._recording: _Seek | None = None  # computes on to the old end after a change of the past
        self._missed = 0  # tick shown before a change of the past after which the run ends earlier; 0: none
        self._taking: Future[Keyframe | None] | None = None  # a keyframe that is read in another thread

    def fork(self, tick: int | None = None, store: KeyframeStore | None = None) -> "Timeline":
        """Another timeline that was, and without new commands will be, the same; it shows `tick`.

        With a store of its own it may be used in another thread.
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
        """Give the memory of its keyframes back; the timeline is not to be used any more."""
        self._finish_keyframe()
        self._track.close()

    @property
    def records(self) -> dict[int, Record]:
        return self.history.records

    @property
    def recorded_end(self) -> int:
        """How far the run was ever recorded."""
        return self.history.end

    @property
    def end(self) -> int:
        """The last tick that the run has reached, on record now or before its past was changed."""
        return max(self.recorded_end, self.horizon)

    @property
    def diverged(self) -> int | None:
        return self.history.diverged

    @property
    def divergence(self) -> Divergence | None:
        """The same with what differs."""
        return self.history.divergence

    def report_divergence(self, tick: int) -> None:
        """The run is not what it was when it was recorded."""
        self.history.report_divergence(Divergence(tick))

    def expect(
        self, digests: Iterable[str], last: tuple[int, str] | None = None, agents: Mapping[int, str] | None = None
    ) -> None:
        """What the digests of this run are to be; `last` is that of a tick with its commands applied, `agents` those
        of the agents at that tick.

        A run that comes to others is reported as `diverged`.
        """
        self.history.expect(digests, last, agents or {})

    # --- the present ------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        return self._present().world

    @property
    def tick(self) -> int:
        return self._present().tick

    @property
    def target(self) -> int:
        """The tick that is shown, or that a seek is under way to."""
        return self._seek.target if self._seek else self.tick

    @property
    def is_over(self) -> bool:
        return self.world.is_over

    @property
    def store(self) -> KeyframeStore:
        return self._track.store

    @property
    def _heads(self) -> list[_Head]:
        """The one that is shown and the one that a seek moves, as far as they are there: mostly it is the same."""
        both = dict.fromkeys((self._head, self._seek.head if self._seek else None))
        return [head for head in both if head is not None]

    def _present(self) -> _Head:
        """The head that is shown. A fork has none before it is looked at: then it is the one its seek begins with.

        Looking never makes the seek arrive. It may have a whole run ahead of it, and a window asks for each picture.
        """
        if self._head is None:
            assert self._seek is not None
            self._head = self._head_of(self._seek)
        return self._head

    def _head_of(self, seek: _Seek) -> _Head:
        """The head that a seek moves, restored to the end if that is still going on."""
        while seek.restoring is not None:
            seek.restoring.step()
            frame, world = seek.restoring.frame, self.store.load(seek.restoring)
            if world is not None:
                seek.head, seek.restoring = self._prepared(_Head(world, frame.work, frame.work)), None
            else:
                self._plan(seek)
        assert seek.head is not None
        return seek.head

    def advance(self, ticks: int, *, is_shown: bool = False) -> int:
        """Let up to `ticks` ticks pass; fewer when the world is over. Their rows are in `records`.

        `is_shown`: apply the commands of the tick that is reached, so that it looks as it does after a seek.
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
        """Apply what is due at this tick without letting time pass."""
        self.settle()
        self._apply(self._present())

    def go_on_measuring(self) -> bool:
        """For about a tick's worth of time judge moves that still wait for it, and look for the optimum of a map that
        was drawn on before anybody planned; whether there was anything.

        Not while a keyframe is read: that would have to be waited for.
        """
        if self.is_being_read or not self.is_measuring:
            return False
        self._finish_keyframe()
        if not self.world.renew_optima(A_TICK):
            self.world.measuring.spend(1)
        return True

    @property
    def is_measuring(self) -> bool:
        """Whether there are numbers to come that no tick is needed for."""
        return self.world.measuring.is_waiting or self.world.has_old_optima

    def true_distance(self, cell: int) -> float | None:
        """Cost of the cheapest path from a cell to the goal; None while it is not known: ask again a frame later."""
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
        """Whether nobody may write to the world, because a keyframe of it is read in another thread."""
        return self._taking is not None and not self._taking.done()

    def do(self, command: Command, keeps_later: bool = False, stroke: int = 0) -> Entry:
        """Apply a command now and log it, as part of a stroke or (0) as one of its own.

        In the past this overwrites the future: commands done by hand later than now are gone from this timeline,
        unless `keeps_later`. `on_lost_future` is asked before, to keep the old run as a branch. The future reaches to
        `end`, not to `recorded_end`: a change of the past shortens the record, but nothing that was done.
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
        self, head: _Head, ticks: int, work: float = float("inf"), *, begins_with_keyframe: bool = True
    ) -> int:
        """Let ticks pass for a head, up to a limit of work; what was never run before is recorded."""
        self._finish_keyframe()
        passed, begin = 0, head.work
        while passed < ticks and head.work - begin < work:
            if (passed or begins_with_keyframe) and head.is_before_commands and self._wants_keyframe(head):
                self._set_keyframe(head)
            self._apply(head)
            left = min(work - (head.work - begin), SPACING / 2)
            most = min(ticks - passed, max(1, int(left / head.rate)))
            done = 0 if head.world.is_over else self._stretch(head, most)  # the rows of the last tick stay to be seen
            if not done:
                self._meet_end(head)
                break
            passed += done
        return passed

    def _stretch(self, head: _Head, ticks: int) -> int:
        """Ticks without any command in between, all of them new or all of them recorded."""
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
                self.history.take_down(world, begin, before, head.statuses)
            self.history.go_on_to(world)
            self.horizon = max(self.horizon, world.tick)
            if world.served:
                self._tell(self.log.note_served(world.served), [])
                world.served.clear()
        else:
            self.history.check(world)
        return done

    def _count_work(self, head: _Head, ticks: int, has_stirred: bool) -> None:
        work = _STEP
        if has_stirred:
            before, head.expansions = head.expansions, expansions_of(head.world)
            work = work_of(head.world, ticks, max(0, head.expansions - before))
        head.work += work
        head.rate = max(work / ticks, head.rate / 2)  # quick to fear the worst, slow to forget it

    def _apply(self, head: _Head) -> None:
        """Apply the commands of this tick, and see who is there now."""
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
        """What to expect of a run that is saved now: what was recorded, and beyond that what was expected before."""
        history = self.history
        digests = (*history.digests, *history.expected[len(history.digests) :])
        if self.is_seeking:
            return digests, history.expected_last, history.expected_agents
        self.apply_now()
        world = self.world
        return digests, (self.tick, world.digest()), {w.id: world.walker_digest(w) for w in world.walkers}

    def _meet_end(self, head: _Head) -> None:
        """The world is over: there are no more ticks, whatever there was before the past was changed."""
        if head.tick >= self.recorded_end:
            self.horizon = self.recorded_end

    # --- keyframes --------------------------------------------------------------------------------

    def _wants_keyframe(self, head: _Head) -> bool:
        """Whether a seek would replay too much without one here: the work since the last keyframe has come to SPACING,
        or to more where keyframes take long to make and to read.
        """
        if head.work - head.framed < SPACING:
            return False  # nearly always; finding the last keyframe takes longer than this test
        last = self._track.at_or_before(head.tick)
        if last is not None and last.tick == head.tick:
            return False
        since = max(head.framed, last.work if last else head.framed)
        spacing = SPACING + (restoring_work(last) + _framing_work(last) if last else 0.0)
        return head.work - since >= spacing

    def _set_keyframe(self, head: _Head) -> None:
        head.framed = self._track.playhead = head.work
        taking = self.store.begin(head.world, head.work)
        frame = self.store.read(taking, self._track.at_or_before(head.tick)) if taking is not None else None
        if frame is not None:
            self._track.add(frame)

    def _take_keyframe_beside(self, head: _Head) -> None:
        """If one is due, have it read while the window draws: the world stands still until the next tick.

        One frame after it became due. What makes it due is mostly a tick with a change of the map, and that is the
        most work that a frame has without it.
        """
        if self.store.beside is None or not head.is_before_commands or not self._wants_keyframe(head):
            return
        head.is_due = not head.is_due
        if not head.is_due:
            head.framed = self._track.playhead = head.work
            before = self._track.at_or_before(head.tick)
            head.world.settle_views()
            taking = self.store.begin(head.world, head.work)
            if taking is not None:
                self._taking = self.store.read_beside(taking, before)

    def _finish_keyframe(self) -> None:
        """Wait for the keyframe that is being read, if any: the world is about to move."""
        if self._taking is not None:
            self.store.hurry()
            frame, self._taking = self._taking.result(), None
            if frame is not None:
                self._track.add(frame)

    def _new_head(self) -> _Head:
        return self._prepared(_Head(self.setup()))

    def _prepared(self, head: _Head) -> _Head:
        """Give a world that stands before the commands of its tick those of this timeline."""
        head.world.replace_queue(self.log.due(head.tick))
        head.world.prepare()
        return head

    # --- seeking ----------------------------------------------------------------------------------

    @property
    def is_seeking(self) -> bool:
        return self._seek is not None

    def seek(self, tick: int) -> int:
        """The world at another tick. Returns the tick reached: less than asked for when the world is over."""
        self.begin_seek(tick)
        self.settle()
        return self.tick

    def settle(self) -> None:
        """Finish the seek that is under way, if any."""
        while not self.continue_seek(float("inf")):
            pass

    def begin_seek(self, tick: int) -> None:
        """Set out for another tick; a seek that is under way goes there instead."""
        self._finish_keyframe()
        self._missed = 0
        seek = _Seek(max(0, tick))
        self._plan(seek)
        self._seek = seek

    def _plan(self, seek: _Seek) -> None:
        """Choose what a seek begins with: a world that is on the way, a keyframe, or a world of tick 0."""
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
        """After an error in the middle of a tick: nobody knows how far its world got, so it is made anew from before.

        The tick is the present one, or the last that was recorded.
        """
        tick = min(self.target, self.recorded_end)
        self._taking = self._recording = None
        for head in self._heads:
            head.is_stale = True
        self.begin_seek(tick)

    def _nearest_head(self, tick: int) -> _Head | None:
        """A world that is on the way to this tick: the one shown, or the one a seek has got so far."""
        usable = [head for head in self._heads if head.tick <= tick and not head.is_stale]
        return max(usable, key=lambda head: head.tick, default=None)

    def _stops(self, begin: int, tick: int) -> tuple[int, ...]:
        """Where more keyframes are set on the way back, so that the next step back has less to replay."""
        if self._head is None or tick >= self._head.tick:
            return ()
        return begin + (tick - begin) // 2, tick - (tick - begin) // 4

    def continue_seek(self, work: float = 4000.0) -> bool:
        """Go on with a seek for about so many microseconds; whether it has arrived."""
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

    def _replay(self, seek: _Seek, head: _Head, work: float) -> bool:
        """Go towards the target for a while; whether it, or the end of the run, is reached."""
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

    def _set_near_keyframe(self, head: _Head) -> None:
        if head.tick < self.recorded_end and head.is_before_commands and head.work - head.framed >= NEAR_SPACING:
            self._set_keyframe(head)

    def _arrive(self, head: _Head) -> None:
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
        """Whatever the way here, the rows of a world after a seek are those of its last tick."""
        record = self.records[walker.id]
        is_active = record.last_active(tick) == tick
        rows = record.rows_before(tick)[-1:] if is_active else log.new_log(0)
        walker.show_rows(rows.copy(), max(0, tick - 1))

    # --- the old end ------------------------------------------------------------------------------

    @property
    def is_recording(self) -> bool:
        """Whether a change of the past has left ticks to compute up to the old end."""
        return self.recorded_end < self.horizon

    def continue_recording(self, work: float = 4000.0) -> bool:
        """Compute on to the old end for about `work` microseconds, in a world of its own: the present stays.

        Returns whether ticks are left. Nothing is done while a seek is under way or a keyframe is read.
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

    # --- the log as data --------------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """All commands by tick; those of one tick in the order in which they apply."""
        return tuple(self.log.entries)

    def labels_of(self, walkers: Iterable[Walker | WalkerView]) -> tuple[str, ...]:
        """What agents are called: by the name that each was given last, also at ticks before that."""
        names = self.log.given_names()
        return tuple([names.get(walker.id, walker.label) or walker.spec.name for walker in walkers])

    def insert(self, tick: int, command: Command, stroke: int = 0) -> Entry:
        """A command at any tick, behind those that are there. Later commands stay."""
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
        """The same command once more at another tick; an agent is added as one of its own."""
        command = self.log.entry(entry_id).command
        if isinstance(command, commands.AddAgent):
            return self.insert(max(0, tick), replace(command, agent=None), stroke)
        return self.insert(max(0, tick), replace(command), stroke)

    def put_back(self, entry: Entry) -> None:
        """An entry that was deleted, as it was and with its number; nothing if it is there."""
        if all(other.id != entry.id for other in self.log.entries):
            self._rewrite(placed(self.log.entries, entry), entry.tick)
            self._tell([entry], [])

    def delete(self, entry_id: int) -> None:
        gone = self.log.entry(entry_id)
        self._rewrite([entry for entry in self.log.entries if entry is not gone], gone.tick)
        self._tell([], [entry_id])

    def replace_log(self, entries: Iterable[Entry]) -> None:
        """Another log altogether, as a file or a journal has it; entries keep their numbers."""
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
        """Another log, the same before `tick`; sets out for the present tick through what has become of it."""
        present = max(self.target, self._missed)
        last_before, last = last_tick(self.log.entries), last_tick(entries)
        if last < last_before:  # the run may have gone on only because a command was waiting
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
        """Forget what was recorded after `tick`; and, unless `keeps_now`, what the commands of `tick` did."""
        self._finish_keyframe()
        self._recording = None
        self._track.forget_after(tick)
        self.history.truncate(tick, keeps_now)

    def complaints(self) -> dict[int, str]:
        """Why commands did not apply, by the id of their entry."""
        return self.log.complaints(self.history.notes.values())

    # --- what was recorded ------------------------------------------------------------------------

    def notes(self) -> tuple[Note, ...]:
        return tuple(self.history.notes.values())

    def digests(self) -> tuple[str, ...]:
        """The digests of ticks 0, DIGEST_EVERY, 2 * DIGEST_EVERY and so on, as far as the run was recorded."""
        return tuple(self.history.digests)

    def marks(self, first: int, last: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> npt.NDArray[np.void]:
        """recorded.MARK of these kinds from tick `first` to tick `last`, both included, sorted by tick."""
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
        """The tick of the first mark after `tick`."""
        found = self.marks(tick + 1, 1 << 30, kinds)
        return int(found["tick"][0]) if found.size else None

    def previous_mark(self, tick: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> int | None:
        """The tick of the last mark before `tick`."""
        found = self.marks(0, tick - 1, kinds)
        return int(found["tick"][-1]) if found.size else None


def work_of(world: World, ticks: int, expansions: int) -> float:
    """What it takes, in microseconds, to run the last `ticks` ticks of a world, after which no command was due."""
    tick = sum([_TICK if walker.spec.runs_in_bulk else _SLOW_TICK for walker in world.walkers])
    event = _MAP_CELL * world.grid.cells if world.random_changes.is_due(world.tick - ticks) else 0.0
    return _STEP + ticks * tick + expansions * _EXPANSION + event


def restoring_work(frame: Keyframe) -> float:
    """What it takes, in microseconds, to restore a keyframe."""
    return frame.content.bytes / _BYTES_A_WORK


def _framing_work(frame: Keyframe) -> float:
    """What keyframes must be apart beyond the usual where setting one aside takes long, as with hundreds of agents."""
    return _FRAMING * max(0, len(frame.content.sizes) - _FEW_MEMORIES)


def expansions_of(world: World) -> int:
    """All expansions so far of those who are there, and of measuring them."""
    return sum([walker.expansions for walker in world.walkers]) + world.measuring.expansions
