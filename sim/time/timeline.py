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
    timeline.tick, .recorded_end, .horizon    now; how far it was ever run; how far before the past was changed
    timeline.catch_up(work)             run on in the background from recorded_end to horizon, in pieces
    timeline.fork(tick)                 another timeline with the same setup, commands and past

    timeline.records[agent]             Record: where an agent was after every tick, kept once (recorded.py)
    timeline.marks(first, last)         edits, restarts, back-moves, proofs of no path, arrivals; sorted by tick
    timeline.next_mark(tick), .previous_mark(tick)
    timeline.digest_at(tick)            of any recorded multiple of DIGEST_EVERY
    timeline.diverged                   the first tick whose digest is not the one expected (sessionfile.py), or None
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

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from sim import commands
from sim.agent_api import Status
from sim.commands import Command
from sim.kernels import log
from sim.measuring import A_TICK
from sim.time.keyframes import Keyframe, KeyframeStore, Restoring, Taking, Track
from sim.time.recorded import MARK, NO_AGENT, MarkKind, Marks, Record, marks_of_rows
from sim.world import BULK, Note, Walker, World

DIGEST_EVERY = 100

SPACING = 50_000.0
"""Work between two keyframes: what a seek replays at most, as long as the memory lasts."""

NEAR_SPACING = 12_000.0
PUT_OFF = 20.0  # so many times further apart may keyframes be while somebody paints: taking one costs half a frame
"""Work between keyframes around the playhead when stepping back; a denser row would cost more than it saves."""

_TICK = 0.5  # work of one tick of one agent, without its expansions
_SLOW_TICK = 20.0  # the same of an agent that is asked tick by tick
_EXPANSION = 0.1
_COMMAND = 100.0
_MAP_CELL = 0.012  # of a random change, for each cell of the map
_BYTES_A_WORK = 5000  # memory that is copied in the meantime

_MARKED_STATUS = {Status.AT_GOAL: MarkKind.ARRIVAL, Status.NO_PATH: MarkKind.NO_PATH}


@dataclass(frozen=True)
class Entry:
    """A command of the log."""

    id: int
    tick: int
    command: Command
    is_scripted: bool = False  # it came with the scenario
    is_enabled: bool = True


def placed(entries: Iterable[Entry], entry: Entry) -> list[Entry]:
    """The log with an entry put in, or in the place of the one with its id; behind all others of its tick."""
    log = list(entries)
    place = next((i for i, old in enumerate(log) if old.id == entry.id), None)
    if place is not None and log[place].tick == entry.tick:
        log[place] = entry
        return log
    if place is not None:
        del log[place]
    log.insert(_end_of(log, entry.tick), entry)
    return log


def _end_of(entries: list[Entry], tick: int) -> int:
    """The place behind the last entry of this tick."""
    return bisect_right(entries, tick, key=lambda entry: entry.tick)


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
class _Head:
    """A world on its way along the timeline."""

    world: World
    work: float = 0.0  # from tick 0 to here
    framed: float = float("-inf")  # work at which it was last set aside or restored
    rate: float = 1000.0  # work of a tick, lately
    statuses: dict[int, Status] = field(default_factory=dict)  # of the agents before the commands of the tick
    looked: int = -1  # tick of the statuses
    is_stale: bool = False  # the past was changed: it stands where no way leads any more

    def __post_init__(self) -> None:
        self.expansions = expansions_of(self.world)  # when its work was last counted

    @property
    def tick(self) -> int:
        return self.world.tick

    @property
    def is_before_commands(self) -> bool:
        return self.world.is_before_commands

    def look(self) -> None:
        """See how the agents stand, unless that has been seen at this tick: a command may have woken them since."""
        if self.looked != self.world.tick:
            self.looked = self.world.tick
            self.statuses = {walker.id: walker.agent.status for walker in self.world.walkers}


@dataclass(eq=False)
class _Seek:
    """A seek that is under way: first a restore, then a replay."""

    target: int
    head: _Head | None = None
    restoring: Restoring | None = None
    stops: tuple[int, ...] = ()  # ticks on the way at which a keyframe is worth it

    def next_stop(self, tick: int) -> int:
        return next((stop for stop in self.stops if stop > tick), self.target)


class Timeline:
    _entries: list[Entry]
    _head: _Head | None

    def __init__(self, setup: Callable[[], World], store: KeyframeStore | None = None) -> None:
        world = setup()
        store = KeyframeStore() if store is None else store
        self._begin(setup, store.new_track(), Numbers())
        self._next_agent = world.next_agent_id
        script = [(tick, self._numbered(command)) for tick, command in world.replace_queue(())]
        self._entries = [Entry(self._ids.next(), tick, command, True) for tick, command in script]
        self._head = self._prepared(_Head(world))
        self._digests.append(world.digest())
        self._set_keyframe(self._head)
        self._apply(self._head)

    def _begin(self, setup: Callable[[], World], track: Track, ids: Numbers) -> None:
        self.setup, self._track, self._ids = setup, track, ids
        self.puts_off_keyframes = False
        self.on_lost_future: Callable[[Timeline], None] | None = None  # asked to keep what `do` would overwrite
        self.on_entries: Callable[[Timeline, list[Entry], list[int]], None] | None = None  # new or altered, gone
        self.records: dict[int, Record] = {}
        self.recorded_end = self.horizon = self.generation = 0
        self.diverged: int | None = None
        self.expected: list[str] = []  # digests of a saved run, to be met again
        self._expected_last: tuple[int, str] | None = None
        self._entries = []
        self._digests: list[str] = []
        self._marks = Marks()
        self._notes: dict[tuple[int, str, int], Note] = {}
        self._head = None
        self._seek: _Seek | None = None
        self._scout: _Head | None = None
        self._taking: Future[Keyframe | None] | None = None  # a keyframe that is read in another thread

    def fork(self, tick: int | None = None, store: KeyframeStore | None = None) -> "Timeline":
        """Another timeline that was, and without new commands will be, the same; it shows `tick`.

        With a store of its own it may be used in another thread.
        """
        other = Timeline.__new__(Timeline)
        shown = self.tick if tick is None else tick
        self._finish_keyframe()
        track = self._track.fork(self.recorded_end) if store is None else self._track.fork_into(store, shown)
        other._begin(self.setup, track, self._ids)
        other._next_agent = self._next_agent
        other._entries = list(self._entries)
        other.records = {agent: record.copy() for agent, record in self.records.items()}
        other.recorded_end, other.horizon = self.recorded_end, self.horizon
        other.diverged, other.expected = self.diverged, list(self.expected)
        other._expected_last = self._expected_last
        other._digests, other._marks, other._notes = list(self._digests), self._marks.copy(), dict(self._notes)
        other.begin_seek(shown)
        return other

    def close(self) -> None:
        """Give the memory of its keyframes back; the timeline is not to be used any more."""
        self._finish_keyframe()
        self._track.close()

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
        if seek.restoring is not None:
            seek.restoring.step()
            seek.head, seek.restoring = self._restored(seek.restoring), None
        assert seek.head is not None
        return seek.head

    def advance(self, ticks: int) -> int:
        """Let up to `ticks` ticks pass; fewer when the world is over. Their rows are in `records`."""
        self.settle()
        head = self._present()
        passed = self._advance(head, ticks)
        self._take_keyframe_beside(head)
        return passed

    def apply_now(self) -> None:
        """Apply what is due at this tick without letting time pass."""
        self.settle()
        self._apply(self._present())

    def go_on_measuring(self) -> bool:
        """Judge moves that still wait for it, for about a tick's worth of time; whether there were any.

        Not while a keyframe is read: that would have to be waited for.
        """
        measuring = self.world.measuring
        if not measuring.is_waiting or self._is_being_read:
            return False
        self._finish_keyframe()
        measuring.spend(1)
        return True

    def true_distance(self, cell: int) -> float | None:
        """Cost of the cheapest path from a cell to the goal; None while it is not known: ask again a frame later."""
        if self._is_being_read:
            return None
        self._finish_keyframe()
        return self.world.measuring.distance_within(cell, A_TICK)

    @property
    def _is_being_read(self) -> bool:
        """Whether nobody may write to the world, because a keyframe of it is read in another thread."""
        return self._taking is not None and not self._taking.done()

    def do(self, command: Command, keeps_later: bool = False) -> Entry:
        """Apply a command now and log it.

        In the past this overwrites the future: commands done by hand later than now are gone from this timeline,
        unless `keeps_later`. `on_lost_future` is asked before, to keep the old run as a branch.
        """
        self.settle()
        head = self._present()
        now = head.tick
        if now < self.recorded_end and not keeps_later and self.on_lost_future:
            self.on_lost_future(self)
        lost = [] if keeps_later else self._lost_after(now)
        self._truncate(now, keeps_now=True)
        self.horizon = self.horizon if keeps_later else now
        self._apply(head)
        entry = Entry(self._ids.next(), now, self._numbered(command))
        self._entries.insert(_end_of(self._entries, now), entry)
        if lost:
            head.world.replace_queue(self._due(now + 1))
        head.world.submit(entry.command)
        self._apply(head)
        self._tell([entry], lost)
        return entry

    def _lost_after(self, now: int) -> list[int]:
        """Take out of the log what was done by hand between now and the end of the record."""
        if now >= self.recorded_end:
            return []
        lost = [e.id for e in self._entries if not e.is_scripted and now < e.tick <= self.recorded_end]
        self._entries = [e for e in self._entries if e.id not in lost]
        return lost

    def _numbered(self, command: Command) -> Command:
        """The same command; an agent to be added gets the number that it keeps from now on."""
        if not isinstance(command, commands.AddAgent):
            return command
        number = self._next_agent if command.agent is None else command.agent
        self._next_agent = max(self._next_agent, number + 1)
        return command if command.agent is not None else replace(command, agent=number)

    # --- running ----------------------------------------------------------------------------------

    def _advance(self, head: _Head, ticks: int, work: float = float("inf")) -> int:
        """Let ticks pass for a head, up to a limit of work; what was never run before is recorded."""
        self._finish_keyframe()
        passed, begin = 0, head.work
        while passed < ticks and head.work - begin < work:
            if head.is_before_commands and self._wants_keyframe(head):
                self._set_keyframe(head)
            self._apply(head)
            left = min(work - (head.work - begin), SPACING / 2)
            done = self._stretch(head, min(ticks - passed, max(1, int(left / head.rate))))
            if not done:
                self._meet_end(head)
                break
            passed += done
        return passed

    def _stretch(self, head: _Head, ticks: int) -> int:
        """Ticks without any command in between, all of them new or all of them recorded."""
        world = head.world
        begin, is_new = world.tick, world.tick >= self.recorded_end
        boundary = DIGEST_EVERY - begin % DIGEST_EVERY
        if not is_new:
            boundary = min(boundary, self.recorded_end - begin)
        done = world.advance(min(ticks, boundary, world.ticks_to_next_event(), BULK))
        if not done:
            return 0
        self._count_work(head, done)
        before = head.statuses
        head.look()
        if is_new:
            self._record(head, begin, before)
        else:
            self._check_digest(head)
        return done

    def _count_work(self, head: _Head, ticks: int) -> None:
        before, head.expansions = head.expansions, expansions_of(head.world)
        work = work_of(head.world, ticks, max(0, head.expansions - before))
        head.work += work
        head.rate = max(work / ticks, head.rate / 2)  # quick to fear the worst, slow to forget it

    def _apply(self, head: _Head) -> None:
        """Apply the commands of this tick, and see who is there now."""
        self._finish_keyframe()
        if head.is_before_commands:
            head.look()
            head.work += _COMMAND * (_end_of(self._entries, head.tick) - _end_of(self._entries, head.tick - 1))
        head.world.apply_now()
        if head.tick >= self.recorded_end:
            self._observe(head.world)
        head.world.notes.clear()

    def _observe(self, world: World) -> None:
        for note in world.notes:
            self._notes.setdefault((note.tick, note.text, id(note.command)), note)
        there = {walker.id for walker in world.walkers}
        for walker in world.walkers:
            if walker.id not in self.records:
                record = Record(walker.id, walker.label, walker.spec.key, walker.joined, walker.position)
                self.records[walker.id] = record
        for record in self.records.values():
            if record.left is None and record.agent not in there:
                record.left = world.tick

    def _record(self, head: _Head, begin: int, before: dict[int, Status]) -> None:
        """Take down the ticks from `begin` to now; `before` is how the agents stood at `begin`."""
        world = head.world
        found: list[tuple[int, int, int]] = []
        for walker in world.walkers:
            if walker.rows.size:
                self.records[walker.id].append(begin, walker.rows)
                found += marks_of_rows(walker.id, begin, walker.rows)
            statuses = before.get(walker.id, Status.ACTIVE), head.statuses[walker.id]
            found += _status_mark(walker, begin, *statuses)
        if found:
            self._marks.append(np.array(sorted(found), MARK))
        self.recorded_end = world.tick
        self.horizon = max(self.horizon, world.tick)
        if world.tick % DIGEST_EVERY == 0:
            self._note_digest(world.digest())

    def _note_digest(self, digest: str) -> None:
        place = len(self._digests)
        if place < len(self.expected) and self.expected[place] != digest:
            self.report_divergence(place * DIGEST_EVERY)
        self._digests.append(digest)

    def expect(self, digests: Iterable[str], last: tuple[int, str] | None = None) -> None:
        """What the digests of this run are to be; `last` is that of a tick with its commands applied.

        A run that comes to others is reported as `diverged`.
        """
        self.expected, self._expected_last = list(digests), last
        for place, pair in enumerate(zip(self._digests, self.expected, strict=False)):
            if pair[0] != pair[1]:
                self.report_divergence(place * DIGEST_EVERY)

    def expectations(self) -> tuple[tuple[str, ...], tuple[int, str] | None]:
        """What to expect of a run that is saved now: what was recorded, and beyond that what was expected before."""
        digests = (*self._digests, *self.expected[len(self._digests) :])
        if self.is_seeking:
            return digests, self._expected_last
        self.apply_now()
        return digests, (self.tick, self.world.digest())

    def report_divergence(self, tick: int) -> None:
        """The run is not what it was when it was recorded."""
        self.diverged = tick if self.diverged is None else min(self.diverged, tick)

    def _meet_end(self, head: _Head) -> None:
        """The world is over: there are no more ticks, whatever there was before the past was changed."""
        if head.tick >= self.recorded_end:
            self.horizon = self.recorded_end

    # --- keyframes --------------------------------------------------------------------------------

    def _wants_keyframe(self, head: _Head) -> bool:
        last = self._track.at_or_before(head.tick)
        if last is not None and last.tick == head.tick:
            return False
        since = max(head.framed, last.work if last else head.framed)
        spacing = SPACING + (restoring_work(last) if last else 0.0)
        return head.work - since >= spacing * (PUT_OFF if self.puts_off_keyframes else 1.0)

    def _set_keyframe(self, head: _Head) -> None:
        head.framed = self._track.playhead = head.work
        frame = self.store.read(Taking(head.world, head.work), self._track.at_or_before(head.tick))
        if frame is not None:
            self._track.add(frame)

    def _take_keyframe_beside(self, head: _Head) -> None:
        """If one is due, have it read while the window draws: the world stands still until the next tick."""
        if self.store.beside is not None and head.is_before_commands and self._wants_keyframe(head):
            head.framed = self._track.playhead = head.work
            before = self._track.at_or_before(head.tick)
            head.world.snapshot()  # agents make their way ahead only when it is looked at: not while it is read
            self._taking = self.store.read_beside(Taking(head.world, head.work), before)

    def _finish_keyframe(self) -> None:
        """Wait for the keyframe that is being read, if any: the world is about to move."""
        if self._taking is not None:
            frame, self._taking = self._taking.result(), None
            if frame is not None:
                self._track.add(frame)

    def _restored(self, restoring: Restoring) -> _Head:
        frame = restoring.frame
        return self._prepared(_Head(restoring.result(), frame.work, frame.work))

    def _new_head(self) -> _Head:
        return self._prepared(_Head(self.setup()))

    def _prepared(self, head: _Head) -> _Head:
        """Give a world that stands before the commands of its tick those of this timeline."""
        head.world.replace_queue(self._due(head.tick))
        return head

    def _due(self, tick: int) -> list[tuple[int, Command]]:
        """The commands from `tick` on."""
        return [(e.tick, e.command) for e in self._entries[_end_of(self._entries, tick - 1) :] if e.is_enabled]

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
        tick = max(0, tick)
        frame = self._track.at_or_before(tick)
        head = self._nearest_head(tick)
        if head is not None and (frame is None or frame.work - head.work <= restoring_work(frame)):
            self._seek = _Seek(tick, head)
        elif frame is not None:
            self._seek = _Seek(tick, None, Restoring(frame), self._stops(frame.tick, tick))
        else:
            self._seek = _Seek(tick, self._new_head(), None, self._stops(0, tick))

    def _nearest_head(self, tick: int) -> _Head | None:
        """A world that is on the way to this tick: the one shown, or the one a seek has got so far."""
        heads = [self._head, self._seek.head if self._seek else None]
        usable = [head for head in heads if head is not None and head.tick <= tick and not head.is_stale]
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
        if self._expected_last and self._expected_last[0] == head.tick:
            if self._expected_last[1] != head.world.digest():
                self.report_divergence(head.tick)
            self._expected_last = None
        for walker in head.world.walkers:
            self._show_last_row(walker, head.tick)

    def _show_last_row(self, walker: Walker, tick: int) -> None:
        """Whatever the way here, the rows of a world after a seek are those of its last tick."""
        record = self.records[walker.id]
        is_active = record.last_active(tick) == tick
        rows = record.rows_before(tick)[-1:] if is_active else log.new_log(0)
        walker.rows, walker.rows_tick = rows.copy().view(np.recarray), max(0, tick - 1)

    def _check_digest(self, head: _Head) -> None:
        """A replay must come to the same as the run. If it does not, there is a bug, and the user is to know."""
        place, rest = divmod(head.tick, DIGEST_EVERY)
        if rest or place >= len(self._digests):
            return
        if head.world.digest() != self._digests[place]:
            self.report_divergence(head.tick)

    def catch_up(self, work: float = 4000.0) -> bool:
        """Run on from recorded_end to the horizon without moving the present; whether that is done."""
        if self.recorded_end >= self.horizon:
            self._scout = None
            return True
        if self._scout is None:
            self._scout = self._scout_near(self.recorded_end)
        self._advance(self._scout, self.horizon - self._scout.tick, work)
        return self.recorded_end >= self.horizon

    def _scout_near(self, tick: int) -> _Head:
        frame = self._track.at_or_before(tick)
        if frame is None:
            return self._new_head()
        restoring = Restoring(frame)
        restoring.step()
        return self._restored(restoring)

    # --- the log as data --------------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """All commands by tick; those of one tick in the order in which they apply."""
        return tuple(self._entries)

    def entry(self, entry_id: int) -> Entry:
        return next(entry for entry in self._entries if entry.id == entry_id)

    def insert(self, tick: int, command: Command) -> Entry:
        """A command at any tick, behind those that are there. Later commands stay."""
        entry = Entry(self._ids.next(), tick, self._numbered(command))
        self._rewrite(placed(self._entries, entry), tick)
        self._tell([entry], [])
        return entry

    def set_enabled(self, entry_id: int, is_enabled: bool) -> None:
        self._alter(replace(self.entry(entry_id), is_enabled=is_enabled))

    def move(self, entry_id: int, tick: int) -> None:
        self._alter(replace(self.entry(entry_id), tick=max(0, tick)))

    def change(self, entry_id: int, command: Command) -> None:
        self._alter(replace(self.entry(entry_id), command=self._numbered(command)))

    def duplicate(self, entry_id: int, tick: int) -> Entry:
        """The same command once more at another tick; an agent is added as one of its own."""
        command = self.entry(entry_id).command
        if isinstance(command, commands.AddAgent):
            return self.insert(max(0, tick), replace(command, agent=None))
        return self.insert(max(0, tick), replace(command))

    def put_back(self, entry: Entry) -> None:
        """An entry that was deleted, as it was and with its number; nothing if it is there."""
        if all(other.id != entry.id for other in self._entries):
            self._rewrite(placed(self._entries, entry), entry.tick)
            self._tell([entry], [])

    def delete(self, entry_id: int) -> None:
        gone = self.entry(entry_id)
        self._rewrite([entry for entry in self._entries if entry is not gone], gone.tick)
        self._tell([], [entry_id])

    def replace_log(self, entries: Iterable[Entry]) -> None:
        """Another log altogether, as a file or a journal has it; entries keep their numbers."""
        entries = [self._with_number(entry) for entry in sorted(entries, key=lambda entry: entry.tick)]
        self._ids.skip(max((entry.id for entry in entries), default=0))
        pairs = zip_longest(self._entries, entries)
        differing = next(((a, b) for a, b in pairs if a is not b and a != b), None)
        if differing is not None:
            self._rewrite(entries, min(entry.tick for entry in differing if entry is not None))

    def _with_number(self, entry: Entry) -> Entry:
        command = self._numbered(entry.command)
        return entry if command is entry.command else replace(entry, command=command)

    def _alter(self, new: Entry) -> None:
        self._rewrite(placed(self._entries, new), min(self.entry(new.id).tick, new.tick))
        self._tell([new], [])

    def _tell(self, altered: list[Entry], gone: list[int]) -> None:
        if self.on_entries:
            self.on_entries(self, altered, gone)

    def _rewrite(self, entries: list[Entry], tick: int) -> None:
        """Another log, the same before `tick`; sets out for the present tick through what has become of it."""
        present = self.target
        last_before, last = _last_tick(self._entries), _last_tick(entries)
        if last < last_before:  # the run may have gone on only because a command was waiting
            tick = min(tick, max(last, self._last_active(tick)))
        self._entries = entries
        self._truncate(tick, keeps_now=False)
        for head in {self._head, self._seek.head if self._seek else None} - {None}:
            assert head is not None
            head.is_stale = head.is_stale or head.tick > tick or (head.tick == tick and not head.is_before_commands)
            if not head.is_stale:
                head.world.replace_queue(self._due(head.tick + (not head.is_before_commands)))
        self.generation += 1
        self._seek = None
        self.begin_seek(present)

    def _last_active(self, tick: int) -> int:
        """The end of the last tick before `tick` in which any agent did anything."""
        return max((record.last_active(tick) for record in self.records.values()), default=0)

    def _truncate(self, tick: int, keeps_now: bool) -> None:
        """Forget what was recorded after `tick`; and, unless `keeps_now`, what the commands of `tick` did."""
        self._scout = None
        self._finish_keyframe()
        self._track.forget_after(tick)
        kept_to = tick if keeps_now else tick - 1
        self._notes = {key: note for key, note in self._notes.items() if note.tick <= kept_to}
        if tick < self.recorded_end or not keeps_now:
            self.records = {a: r for a, r in self.records.items() if r.joined <= kept_to}
            for record in self.records.values():
                record.truncate(tick)
        self._marks.truncate(tick)
        del self._digests[tick // DIGEST_EVERY + 1 :]
        del self.expected[tick // DIGEST_EVERY + 1 :]
        if self._expected_last and self._expected_last[0] >= tick:
            self._expected_last = None
        if self.diverged is not None and self.diverged > tick:
            self.diverged = None
        self.recorded_end = min(self.recorded_end, tick)

    def complaints(self) -> dict[int, str]:
        """Why commands did not apply, by the id of their entry."""
        said: dict[int, list[str]] = {}
        for note in self._notes.values():
            said.setdefault(id(note.command), []).append(note.text)
        return {e.id: "; ".join(said[id(e.command)]) for e in self._entries if id(e.command) in said}

    # --- what was recorded ------------------------------------------------------------------------

    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes.values())

    def digest_at(self, tick: int) -> str | None:
        """The digest when the clock came to `tick`, if that is a multiple of DIGEST_EVERY and was recorded."""
        place, rest = divmod(tick, DIGEST_EVERY)
        return self._digests[place] if not rest and place < len(self._digests) else None

    def digests(self) -> tuple[str, ...]:
        """The digests of ticks 0, DIGEST_EVERY, 2 * DIGEST_EVERY and so on, as far as the run was recorded."""
        return tuple(self._digests)

    def marks(self, first: int, last: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> npt.NDArray[np.void]:
        """recorded.MARK of these kinds from tick `first` to tick `last`, both included, sorted by tick."""
        wanted = [int(kind) for kind in kinds]
        marks = self._marks.between(first, last)
        if len(set(wanted)) < len(MarkKind):
            marks = marks[np.isin(marks["kind"], wanted)]
        edits = self._edit_marks(first, last) if MarkKind.EDIT in wanted else []
        if not edits:
            return marks
        both = np.concatenate([np.array(edits, MARK), marks])
        return both[np.argsort(both["tick"], kind="stable")]

    def _edit_marks(self, first: int, last: int) -> list[tuple[int, int, int]]:
        places = (bisect_left(self._entries, first, key=lambda e: e.tick), _end_of(self._entries, last))
        return [
            (entry.tick, _agent_of(entry.command), int(MarkKind.EDIT))
            for entry in self._entries[slice(*places)]
            if entry.is_enabled
        ]

    def next_mark(self, tick: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> int | None:
        """The tick of the first mark after `tick`."""
        found = self.marks(tick + 1, 1 << 30, kinds)
        return int(found["tick"][0]) if found.size else None

    def previous_mark(self, tick: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> int | None:
        """The tick of the last mark before `tick`."""
        found = self.marks(0, tick - 1, kinds)
        return int(found["tick"][-1]) if found.size else None


def _status_mark(walker: Walker, begin: int, before: Status, status: Status) -> list[tuple[int, int, int]]:
    """The mark of an agent that has come to an end in the ticks from `begin` on, or just before them.

    The row of an arrival is marked as one; without a row, the goal has come to the agent.
    """
    kind = _MARKED_STATUS.get(status)
    has_rows, is_new = walker.rows.size > 0, status is not before
    is_due = is_new and not has_rows if kind is MarkKind.ARRIVAL else is_new or has_rows
    return [(begin + max(1, walker.rows.size), walker.id, int(kind))] if kind is not None and is_due else []


def work_of(world: World, ticks: int, expansions: int) -> float:
    """What it takes, in microseconds, to run the last `ticks` ticks of a world, after which no command was due."""
    tick = sum(_TICK if walker.spec.runs_in_bulk else _SLOW_TICK for walker in world.walkers)
    event = _MAP_CELL * world.grid.cells if world.random_changes.is_due(world.tick - ticks) else 0.0
    return 1.0 + ticks * tick + expansions * _EXPANSION + event


def restoring_work(frame: Keyframe) -> float:
    """What it takes, in microseconds, to restore a keyframe."""
    return frame.content.bytes / _BYTES_A_WORK


def expansions_of(world: World) -> int:
    """All expansions so far of those who are there, and of measuring them."""
    # Through plain arrays: reading a field of a record array takes ten times as long, and this is done every frame.
    counts = [walker.metrics.view(np.ndarray)["expansions"][0] for walker in world.walkers]
    return int(sum(counts)) + world.measuring.expansions


def _last_tick(entries: Iterable[Entry]) -> int:
    return max((entry.tick for entry in entries if entry.is_enabled), default=0)


def _agent_of(command: Command) -> int:
    agent = getattr(command, "agent", None)
    return NO_AGENT if agent is None else int(agent)
