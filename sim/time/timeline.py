"""Timeline: a simulation run that can be rewound to any tick, edited there and replayed.

The setup, the log of commands and a tick determine the state of a run; all other data are caches.

    timeline = Timeline(setup)               setup() builds the world of tick 0 with its scripted commands queued
    timeline.world                           the world at the present tick; a different object after a seek backwards
    timeline.advance(n)                      run up to n ticks; returns the number of ticks run
    timeline.do(command)                     apply a command now, between two ticks, and log it
    timeline.seek(tick)                      move the present to another tick; returns the tick that was reached
    timeline.begin_seek(tick)                start a seek in time slices, for a window:
    timeline.continue_seek(work)             run a slice of about `work` microseconds; True once the seek is finished
    timeline.is_seeking                      while True, `world` is not yet at the target of the seek
    timeline.past_version                    version counter: incremented when `world` is replaced or the past edited
    timeline.tick, .recorded_end             the present tick; the last recorded tick
    timeline.furthest_tick                   the old end: the last tick that was recorded before the past was edited
    timeline.end                             the later of `recorded_end` and `furthest_tick`
    timeline.continue_recomputation(work)    recompute ticks up to `furthest_tick` in the background; False at the end
    timeline.fork(tick)                      another timeline with the same setup, commands and past

    timeline.agent_records[agent]   AgentRecord: where an agent was after every tick, once per run
    timeline.marks(first, last)    edits, restarts, back-moves, proofs of no path, arrivals; sorted by tick
    timeline.next_mark_tick(tick), .previous_mark_tick(tick)
    timeline.divergence_tick       the first tick whose digest is not the expected one, or None
    timeline.notes()               the messages of the world, each once for the whole run

    timeline.entries()                all commands, from the scenario and from the user
    timeline.set_enabled(id, yes), and .move, .delete, .duplicate_command, .change by id
    timeline.insert(tick, command)    add a command at any tick: past, present or future
    timeline.rejection_reasons()      why some commands did not apply, by entry id

An edit of the past starts a seek to the present tick through the new past, which the caller finishes. Methods that move
the present first finish a seek in progress; reading `world` does not.

Within a tick, the random change of the map comes first, then the commands, then the agents. `seek(t)` shows tick t with
its commands applied; a keyframe and a digest describe the moment before the commands.

Work is an estimate of computing time. Its unit is about a microsecond of the machine on which the constants were tuned.
It is computed from numbers of ticks, expansions and map changes and never timed, so that it is deterministic.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from sim import world_commands
from sim.agent_api import Status
from sim.kernels import log
from sim.time.agent_records import MARK_DTYPE, AgentRecord, MarkKind
from sim.time.command_log import CommandLog, EntryIds, LogEntry, last_enabled_tick, log_with_entry
from sim.time.keyframes import Keyframe, KeyframeStore, KeyframeTrack, PendingRestore
from sim.time.run_history import DIGEST_EVERY, Divergence, RunHistory
from sim.true_distances import MAX_EXPANSIONS_PER_TICK
from sim.walker import Walker
from sim.world import MAX_TICKS_PER_CALL, World
from sim.world_commands import Command, RunMessage
from sim.world_view import WalkerView

KEYFRAME_SPACING = 100_000.0
"""Work between two keyframes (unit: about a microsecond): the most that a seek replays, unless memory runs short."""

MIN_NEAR_SPACING = 12_000.0
"""Minimum work between the extra keyframes that a seek backwards takes near its target (unit: about a microsecond).
Saving keyframes at shorter intervals would take longer than the replays that they save."""

# Constants of the estimate of computing time (work), in units of about a microsecond.
_ADVANCE_WORK = 1.0  # estimated microseconds of one call of World.advance, not counting its agents
# Estimated microseconds per tick of an agent that runs many ticks in one call, not counting its expansions.
_BULK_TICK_WORK = 0.5
# Estimated microseconds per tick of an agent that is called in every tick, not counting its expansions.
_SLOW_TICK_WORK = 20.0
_EXPANSION_WORK = 0.1  # estimated microseconds to expand one search node
_COMMAND_WORK = 100.0  # estimated microseconds to apply one command
_MAP_CELL_WORK = 0.012  # estimated microseconds per map cell of one random change of the map
_CHEAP_BUFFER_COUNT = 500  # a keyframe with at most this number of array buffers is saved in negligible time
# Microseconds to add to the interval between keyframes for each array buffer above _CHEAP_BUFFER_COUNT.
# Saving one buffer takes about 20 microseconds, so saving takes at most 5 % of the computing time.
_SPACING_PER_BUFFER = 20 * 20.0
_BYTES_PER_WORK = 5000  # estimated number of bytes that restoring a keyframe copies per microsecond


@dataclass(eq=False)
class _WorldCursor:
    """World that moves along a timeline, with the estimated computing time of the run up to its tick."""

    world: World
    replay_work_us: float = 0.0  # estimated computing time from tick 0 to the tick of the world, in microseconds
    # Value of `replay_work_us` when the last keyframe was taken or restored.
    last_keyframe_work_us: float = float("-inf")
    work_per_tick_us: float = 1000.0  # estimated computing time of a recent tick, in microseconds
    # Agent number -> status of the agent at `statuses_tick`, before the commands of this tick.
    agent_statuses: dict[int, Status] = field(default_factory=dict)
    statuses_tick: int = -1  # tick at which `agent_statuses` was read
    activity_version: int = -1  # value of World.activity_version when `agent_statuses` was read
    is_keyframe_due: bool = False  # whether the next frame of the window starts to save a keyframe
    is_stale: bool = False  # whether the past of this world was edited, so that the world must not be used any more

    def __post_init__(self) -> None:
        # Total number of expansions when `replay_work_us` was last updated.
        self.expansions = total_expansions(self.world)

    @property
    def tick(self) -> int:
        return self.world.tick

    @property
    def are_due_changes_pending(self) -> bool:
        return self.world.are_due_changes_pending

    def read_statuses(self) -> bool:
        """Read the statuses of all agents into `agent_statuses`, at most once per tick.

        A second read at the same tick would be wrong, because commands of the tick may have changed statuses since.

        Returns:
            Whether the state of any agent may have changed since the last read.
        """
        if self.statuses_tick == self.world.tick:
            return False
        self.statuses_tick = self.world.tick
        if self.activity_version == self.world.activity_version:
            return False
        self.activity_version = self.world.activity_version
        self.agent_statuses = {walker.id: walker.agent.status for walker in self.world.walkers}
        return True


@dataclass(eq=False)
class _Seek:
    """Seek in progress. It restores a keyframe, unless a loaded world is near the target, and then replays ticks."""

    target_tick: int  # tick to reach
    world_cursor: _WorldCursor | None = None  # world that the seek advances; None while a keyframe is being restored
    pending_restore: PendingRestore | None = None  # restore of a keyframe that is in progress, if any
    keyframe_stops: tuple[int, ...] = ()  # ticks before the target at which the seek saves extra keyframes
    is_background: bool = False  # whether the seek advances a separate world, not the one on screen

    def next_keyframe_stop(self, tick: int) -> int:
        """Return the first tick of `keyframe_stops` after `tick`, or the target if there is none."""
        return next((stop for stop in self.keyframe_stops if stop > tick), self.target_tick)


class Timeline:
    """Run that can be rewound, edited and replayed, see the module docstring."""

    _head_cursor: _WorldCursor | None  # world at the present tick; None: a new fork whose world is not loaded yet

    def __init__(self, setup: Callable[[], World], store: KeyframeStore | None = None) -> None:
        """Create a timeline at tick 0.

        Args:
            setup: function that builds the world of tick 0 with its scripted commands queued.
            store: keyframe store, which timelines may share; None: a new one.
        """
        world = setup()
        store = KeyframeStore() if store is None else store
        self._initialise_fields(setup, store.new_track(), CommandLog(EntryIds(), world.next_agent_id))
        self.command_log.load_setup_script(world.replace_queued_commands(()))
        self._head_cursor = self._queue_log_commands(_WorldCursor(world))
        self.run_history.record_digest(world.compute_digest())
        self._take_keyframe(self._head_cursor)
        self._apply_cursor_commands(self._head_cursor)

    def _initialise_fields(self, setup: Callable[[], World], track: KeyframeTrack, log: CommandLog) -> None:
        """Initialise all fields of a new timeline or fork."""
        self.build_world, self._keyframe_track, self.command_log = setup, track, log
        # Callback(timeline), called before a command overwrites the future; it may keep that future as a branch.
        self.on_future_lost: Callable[[Timeline], None] | None = None
        # Callback(timeline, new or altered entries, ids of removed entries), called after the log has changed.
        self.on_entries_changed: Callable[[Timeline, list[LogEntry], list[int]], None] | None = None
        self.run_history = RunHistory()
        self.furthest_tick = self.past_version = 0
        self._head_cursor = None
        self._foreground_seek: _Seek | None = None
        self._background_seek: _Seek | None = None  # recomputes the run after an edit of its past
        # Tick that was on screen before the last edit of the past, which may have shortened the run; 0: none.
        # If the next edit (such as an undo) makes the run long enough again, this tick is shown again.
        self._tick_before_edit = 0
        # Keyframe that another thread is saving; None: no thread is saving one.
        self._pending_keyframe: Future[Keyframe | None] | None = None

    def fork(self, tick: int | None = None, store: KeyframeStore | None = None) -> "Timeline":
        """Return a copy of this timeline that runs identically until either of them gets new commands.

        Args:
            tick: tick that the copy shows; None: the present one.
            store: keyframe store for the copy; None: the copy uses the store of this timeline. A copy with a separate
                store may be used in another thread.
        """
        other = Timeline.__new__(Timeline)
        shown_tick = self.tick if tick is None else tick
        self._wait_for_keyframe()
        track = (
            self._keyframe_track.fork_track(self.recorded_end)
            if store is None
            else self._keyframe_track.fork_track_into_store(store, shown_tick)
        )
        other._initialise_fields(self.build_world, track, self.command_log.copy())
        other.run_history, other.furthest_tick = self.run_history.copy(), self.furthest_tick
        other.begin_seek(shown_tick)
        return other

    def close(self) -> None:
        """Free the memory of the keyframes. The timeline must not be used afterwards."""
        self._wait_for_keyframe()
        self._keyframe_track.close()

    @property
    def agent_records(self) -> dict[int, AgentRecord]:
        """Return the records of all agents that were ever on the map, by agent number."""
        return self.run_history.agent_records

    @property
    def recorded_end(self) -> int:
        """Return the last recorded tick of the run with its present commands."""
        return self.run_history.end

    @property
    def end(self) -> int:
        """Return the last tick that the run has reached, now or before its past was edited."""
        return max(self.recorded_end, self.furthest_tick)

    @property
    def divergence_tick(self) -> int | None:
        """Return the first tick at which a replay differed from the recorded run; None if none did."""
        return self.run_history.divergence_tick

    @property
    def first_divergence(self) -> Divergence | None:
        """Return the first difference between a replay and the recorded run, with digests and agents; None if none."""
        return self.run_history.divergence

    def report_divergence(self, tick: int) -> None:
        """Record that a replay differed from the recorded run at `tick`."""
        self.run_history.report_divergence(Divergence(tick))

    def set_expected_digests(
        self, digests: Iterable[str], last: tuple[int, str] | None = None, agents: Mapping[int, str] | None = None
    ) -> None:
        """Set the digests (checksums of the state) of a saved run; a replay that differs sets `divergence_tick`.

        Args:
            digests: digests at ticks 0, DIGEST_EVERY, 2 * DIGEST_EVERY, ..., each before the commands of its tick.
            last: the last tick of the saved run, and its digest after the commands of that tick.
            agents: digests of the agents, by number, at the tick of `last`.
        """
        self.run_history.set_expected_digests(digests, last, agents or {})

    # --- the present ------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """Return the world at the present tick. During a seek, this world has not reached the target yet."""
        return self._present_cursor().world

    @property
    def tick(self) -> int:
        return self._present_cursor().tick

    @property
    def target_tick(self) -> int:
        """Return the target of the seek in progress, or else the present tick."""
        return self._foreground_seek.target_tick if self._foreground_seek else self.tick

    @property
    def is_over(self) -> bool:
        return self.world.is_over

    @property
    def keyframe_store(self) -> KeyframeStore:
        return self._keyframe_track.keyframe_store

    @property
    def _present_and_seek_cursors(self) -> list[_WorldCursor]:
        """Return the cursors (loaded worlds) of the present tick and of the seek in progress, without duplicates."""
        both = dict.fromkeys((self._head_cursor, self._foreground_seek.world_cursor if self._foreground_seek else None))
        return [cursor for cursor in both if cursor is not None]

    def _present_cursor(self) -> _WorldCursor:
        """Return the cursor (loaded world) at the present tick.

        A new fork has no cursor yet. The first call then loads the world from which the fork's seek starts. It does not
        finish the seek, because a window reads the present in each frame, and the seek may replay the whole run.
        """
        if self._head_cursor is None:
            assert self._foreground_seek is not None
            self._head_cursor = self._cursor_of_seek(self._foreground_seek)
        return self._head_cursor

    def _cursor_of_seek(self, seek: _Seek) -> _WorldCursor:
        """Return the cursor (world) that a seek advances; finish restoring its keyframe first if necessary."""
        while seek.pending_restore is not None:
            seek.pending_restore.copy_slice()
            frame, world = seek.pending_restore.keyframe, self.keyframe_store.load_world(seek.pending_restore)
            if world is not None:
                seek.world_cursor, seek.pending_restore = (
                    self._queue_log_commands(_WorldCursor(world, frame.replay_work_us, frame.replay_work_us)),
                    None,
                )
            else:
                self._choose_seek_start(seek)
        assert seek.world_cursor is not None
        return seek.world_cursor

    def advance(self, ticks: int, *, is_shown: bool = False) -> int:
        """Run up to `ticks` ticks and record what the agents do in them.

        Args:
            ticks: maximum number of ticks to run.
            is_shown: whether to apply the commands of the reached tick too, so that the window shows their effect.

        Returns:
            The number of ticks run: fewer than `ticks` if the world is over.
        """
        self.finish_seek()
        cursor = self._present_cursor()
        passed = self._advance_cursor(
            cursor, ticks, begins_with_keyframe=self.keyframe_store.background_executor is None
        )
        self._tick_before_edit = 0 if passed else self._tick_before_edit
        if is_shown and self.command_log.has_edit_commands_at(cursor.tick):
            self._apply_cursor_commands(cursor)
        self._take_keyframe_async(cursor)
        return passed

    def apply_due_commands(self) -> None:
        """Apply the commands that are due at the present tick, without running the tick."""
        self.finish_seek()
        self._apply_cursor_commands(self._present_cursor())

    def continue_measuring(self) -> bool:
        """Process pending measurements, with at most MAX_EXPANSIONS_PER_TICK expansions.

        Measurements check moves for optimality, and find the cost of the cheapest path on a map that was edited before
        any agent planned. Nothing is processed while another thread saves a keyframe, because the world must not change
        until the thread has finished.

        Returns:
            Whether a measurement was processed.
        """
        if self.is_snapshot_pending or not self.has_pending_measurements:
            return False
        self._wait_for_keyframe()
        self.world.optimality_tracker.continue_pending_work(self.world.walkers, self.tick)
        return True

    @property
    def has_pending_measurements(self) -> bool:
        """Return whether measurements are pending that can be processed without running a further tick."""
        return self.world.optimality_tracker.has_pending_work

    def poll_true_distance(self, cell: int) -> float | None:
        """Return the cost of the cheapest path from a cell to the goal; None if it needs further calls to compute."""
        if self.is_snapshot_pending:
            return None
        self._wait_for_keyframe()
        return self.world.optimality_tracker.true_distances.cost_to_goal_within_limit(cell, MAX_EXPANSIONS_PER_TICK)

    def compute_true_distance(self, cell: int) -> float:
        """Return the cost of the cheapest path from a cell to the goal; finish the search, even if it takes long."""
        self._wait_for_keyframe()
        return self.world.optimality_tracker.true_distances.cost(cell)

    @property
    def is_snapshot_pending(self) -> bool:
        """Return whether another thread is saving a keyframe; until it has finished, the world must not change."""
        return self._pending_keyframe is not None and not self._pending_keyframe.done()

    def apply_command(self, command: Command, keeps_later: bool = False, stroke: int = 0) -> LogEntry:
        """Apply a command at the present tick and log it.

        At a past tick this overwrites the future: later commands of the user are removed from this timeline, unless
        `keeps_later`. `on_future_lost` is called first, so that it can keep the old run as a branch. Commands up to
        `end` are removed, even after `recorded_end`, because an edit of the past shortens only the record.

        Args:
            command: the command.
            keeps_later: whether to keep later commands of the user.
            stroke: id of the stroke (entries of one user action) to which the command belongs; 0: a new stroke.

        Returns:
            The new log entry.
        """
        self.finish_seek()
        cursor = self._present_cursor()
        now, self._tick_before_edit = cursor.tick, 0
        if now < self.end and not keeps_later and self.on_future_lost:
            self.on_future_lost(self)
        removed_ids = [] if keeps_later else self.command_log.remove_user_commands(now, self.end)
        self._truncate_history(now, keeps_now=True)
        self.furthest_tick = self.furthest_tick if keeps_later else now
        self._apply_cursor_commands(cursor)
        entry = self.command_log.new_user_entry(now, command, stroke)
        self.command_log.add(entry)
        if removed_ids:
            cursor.world.replace_queued_commands(self.command_log.timed_commands_from(now + 1))
        cursor.world.submit(entry.command)
        self._apply_cursor_commands(cursor)
        self._notify_entries_changed([entry], removed_ids)
        return entry

    # --- running ----------------------------------------------------------------------------------

    def _advance_cursor(
        self, cursor: _WorldCursor, ticks: int, work: float = float("inf"), *, begins_with_keyframe: bool = True
    ) -> int:
        """Advance a world by at most `ticks` ticks and about `work` microseconds, and record the new ticks.

        Returns:
            The number of ticks run.
        """
        self._wait_for_keyframe()
        passed, begin = 0, cursor.replay_work_us
        while passed < ticks and cursor.replay_work_us - begin < work:
            if (passed or begins_with_keyframe) and cursor.are_due_changes_pending and self._is_keyframe_due(cursor):
                self._take_keyframe(cursor)
            self._apply_cursor_commands(cursor)
            remaining_work = min(work - (cursor.replay_work_us - begin), KEYFRAME_SPACING / 2)
            max_ticks = min(ticks - passed, max(1, int(remaining_work / cursor.work_per_tick_us)))
            # Do not call World.advance after the end of the run: it would clear the data of the last tick on screen.
            done = 0 if cursor.world.is_over else self._advance_segment(cursor, max_ticks)
            if not done:
                self._reset_furthest_tick(cursor)
                break
            passed += done
        return passed

    def _advance_segment(self, cursor: _WorldCursor, ticks: int) -> int:
        """Advance a world, at most to the next command, the next digest, or the end of the recorded ticks.

        Returns:
            The number of ticks run.
        """
        world, begin, end = cursor.world, cursor.world.tick, self.recorded_end
        is_new = begin >= end
        boundary = DIGEST_EVERY - begin % DIGEST_EVERY
        world.is_live = is_new and begin >= self.furthest_tick
        if not world.is_live:
            boundary = min(boundary, (self.furthest_tick if is_new else end) - begin)
        done = world.advance(min(ticks, boundary, world.ticks_to_next_event(), MAX_TICKS_PER_CALL))
        if not done:
            return 0
        before = cursor.agent_statuses
        has_stirred = cursor.read_statuses()
        self._add_estimated_work(cursor, done, has_stirred)
        if is_new:
            if has_stirred:
                self.run_history.record_steps(world, begin, before, cursor.agent_statuses)
            self.run_history.advance_recorded_end(world)
            self.furthest_tick = max(self.furthest_tick, world.tick)
            if world.planner_limited_ticks:
                self._notify_entries_changed(self.command_log.log_planner_limits(world.planner_limited_ticks), [])
                world.planner_limited_ticks.clear()
        else:
            self.run_history.check_replay_digest(world)
        return done

    def _add_estimated_work(self, cursor: _WorldCursor, ticks: int, has_stirred: bool) -> None:
        """Add the estimated computing time of the last ticks to `cursor.work`.

        `has_stirred` is whether any agent may have changed in these ticks.
        """
        work = _ADVANCE_WORK
        if has_stirred:
            before, cursor.expansions = cursor.expansions, total_expansions(cursor.world)
            work = estimated_work_of_ticks(cursor.world, ticks, max(0, cursor.expansions - before))
        cursor.replay_work_us += work
        # The rate (time per tick) rises at once but falls slowly, so that time slices seldom take too long.
        cursor.work_per_tick_us = max(work / ticks, cursor.work_per_tick_us / 2)

    def _apply_cursor_commands(self, cursor: _WorldCursor) -> None:
        """Apply the commands of the world's tick; at the last recorded tick, also record new agents and messages."""
        self._wait_for_keyframe()
        if cursor.are_due_changes_pending:
            cursor.read_statuses()
            if not cursor.world.ticks_to_next_event():
                cursor.replay_work_us += _COMMAND_WORK * self.command_log.command_count_at(cursor.tick)
        cursor.world.apply_due_changes()
        if cursor.tick >= self.recorded_end:
            self.run_history.record_new_agents(cursor.world)
        cursor.world.messages.clear()

    def expected_digests(self) -> tuple[tuple[str, ...], tuple[int, str] | None, dict[int, str]]:
        """Return the digests to save with this run; after loading, they are passed to `set_expected_digests`.

        If this run was itself loaded and is not replayed to its end yet, the digests of the ticks not yet replayed are
        the loaded ones.
        """
        history = self.run_history
        digests = (*history.world_digests, *history.expected_digests[len(history.world_digests) :])
        if self.is_seeking:
            return digests, history.expected_last_digest, history.expected_agent_digests
        self.apply_due_commands()
        world = self.world
        return digests, (self.tick, world.compute_digest()), {w.id: world.walker_digest(w) for w in world.walkers}

    def _reset_furthest_tick(self, cursor: _WorldCursor) -> None:
        """Set `furthest_tick` (the old end of the run) to the recorded end if the run now ends there."""
        if cursor.tick >= self.recorded_end:
            self.furthest_tick = self.recorded_end

    # --- keyframes --------------------------------------------------------------------------------

    def _is_keyframe_due(self, cursor: _WorldCursor) -> bool:
        """Return whether to save a keyframe at the cursor's tick, so that later seeks do not replay too much.

        A keyframe is due when the estimated computing time since the last one has reached KEYFRAME_SPACING. The spacing
        is larger if keyframes of the world take long to save and to restore.
        """
        if cursor.replay_work_us - cursor.last_keyframe_work_us < KEYFRAME_SPACING:
            return False  # the usual case, tested first because finding the last keyframe takes longer
        last = self._keyframe_track.keyframe_at_or_before(cursor.tick)
        if last is not None and last.tick == cursor.tick:
            return False
        since = max(cursor.last_keyframe_work_us, last.replay_work_us if last else cursor.last_keyframe_work_us)
        spacing = KEYFRAME_SPACING + (estimated_restore_us(last) + _extra_keyframe_spacing(last) if last else 0.0)
        return cursor.replay_work_us - since >= spacing

    def _take_keyframe(self, cursor: _WorldCursor) -> None:
        cursor.last_keyframe_work_us = self._keyframe_track.playhead_work_us = cursor.replay_work_us
        snapshot = self.keyframe_store.begin_snapshot(cursor.world, cursor.replay_work_us)
        frame = (
            self.keyframe_store.finish_snapshot(snapshot, self._keyframe_track.keyframe_at_or_before(cursor.tick))
            if snapshot is not None
            else None
        )
        if frame is not None:
            self._keyframe_track.add(frame)

    def _take_keyframe_async(self, cursor: _WorldCursor) -> None:
        """Start to save a keyframe in another thread if one became due in the window's last frame.

        The thread works while the window draws; during this time the world does not change. Saving starts one frame
        late, because keyframes mostly become due after a change of the map, and the frame of that change is slow.
        """
        if (
            self.keyframe_store.background_executor is None
            or not cursor.are_due_changes_pending
            or not self._is_keyframe_due(cursor)
        ):
            return
        cursor.is_keyframe_due = not cursor.is_keyframe_due
        if not cursor.is_keyframe_due:
            cursor.last_keyframe_work_us = self._keyframe_track.playhead_work_us = cursor.replay_work_us
            before = self._keyframe_track.keyframe_at_or_before(cursor.tick)
            # Views compute some values at first use, which would change the world while the thread reads it.
            for walker in cursor.world.walkers:
                walker.agent.materialize_view()
            snapshot = self.keyframe_store.begin_snapshot(cursor.world, cursor.replay_work_us)
            if snapshot is not None:
                self._pending_keyframe = self.keyframe_store.finish_snapshot_in_background(snapshot, before)

    def _wait_for_keyframe(self) -> None:
        """Wait for the keyframe that another thread is saving, if any. Call it before the world changes."""
        if self._pending_keyframe is not None:
            self.keyframe_store.stop_yielding()
            frame, self._pending_keyframe = self._pending_keyframe.result(), None
            if frame is not None:
                self._keyframe_track.add(frame)

    def _cursor_at_start(self) -> _WorldCursor:
        return self._queue_log_commands(_WorldCursor(self.build_world()))

    def _queue_log_commands(self, cursor: _WorldCursor) -> _WorldCursor:
        """Queue the commands of the log in the world of a new cursor, and return the cursor.

        The world must not have applied the commands of its tick yet.
        """
        cursor.world.replace_queued_commands(self.command_log.timed_commands_from(cursor.tick))
        cursor.world.prepare_first_tick()
        return cursor

    # --- seeking ----------------------------------------------------------------------------------

    @property
    def is_seeking(self) -> bool:
        return self._foreground_seek is not None

    def seek(self, tick: int) -> int:
        """Move the present to another tick; return the tick reached, which is earlier if the run ends before `tick`."""
        self.begin_seek(tick)
        self.finish_seek()
        return self.tick

    def finish_seek(self) -> None:
        """Finish the seek in progress, if any."""
        while not self.continue_seek(float("inf")):
            pass

    def begin_seek(self, tick: int) -> None:
        """Start a seek to another tick; it replaces a seek in progress."""
        self._wait_for_keyframe()
        self._tick_before_edit = 0
        seek = _Seek(max(0, tick))
        self._choose_seek_start(seek)
        self._foreground_seek = seek

    def _choose_seek_start(self, seek: _Seek) -> None:
        """Choose where a seek starts: at a loaded world before the target, a keyframe, or a new world of tick 0."""
        seek.world_cursor, seek.pending_restore, seek.keyframe_stops = None, None, ()
        frame = self._keyframe_track.keyframe_at_or_before(seek.target_tick)
        cursor = None if seek.is_background else self._latest_usable_cursor(seek.target_tick)
        if cursor is not None and (
            frame is None or frame.replay_work_us - cursor.replay_work_us <= estimated_restore_us(frame)
        ):
            seek.world_cursor = cursor
            return
        seek.keyframe_stops = self._keyframe_stops(frame.tick if frame is not None else 0, seek.target_tick)
        if frame is not None:
            seek.pending_restore = PendingRestore(frame)
        else:
            seek.world_cursor = self._cursor_at_start()

    def recover_from_error(self) -> None:
        """Recover from an error within a tick by restoring an earlier state of the world.

        After such an error the state of the world is unknown, so all loaded worlds are discarded. The timeline seeks to
        the present tick, or to the last recorded tick if that is earlier.
        """
        tick = min(self.target_tick, self.recorded_end)
        self._pending_keyframe = self._background_seek = None
        for cursor in self._present_and_seek_cursors:
            cursor.is_stale = True
        self.begin_seek(tick)

    def _latest_usable_cursor(self, tick: int) -> _WorldCursor | None:
        """Return the latest valid cursor (loaded world) at or before this tick; None if there is none."""
        usable = [cursor for cursor in self._present_and_seek_cursors if cursor.tick <= tick and not cursor.is_stale]
        return max(usable, key=lambda cursor: cursor.tick, default=None)

    def _keyframe_stops(self, begin: int, tick: int) -> tuple[int, ...]:
        """Return the ticks at which a seek backwards saves extra keyframes, so that a further step back is faster."""
        if self._head_cursor is None or tick >= self._head_cursor.tick:
            return ()
        return begin + (tick - begin) // 2, tick - (tick - begin) // 4

    def continue_seek(self, work: float = 4000.0) -> bool:
        """Continue the seek in progress for about `work` microseconds; return whether the seek is finished."""
        seek = self._foreground_seek
        if seek is None:
            return True
        if seek.pending_restore is not None and not seek.pending_restore.copy_slice(
            int(min(work * _BYTES_PER_WORK, 1 << 62))
        ):
            return False
        cursor = self._cursor_of_seek(seek)
        if not self._replay_slice(seek, cursor, work):
            return False
        self._end_seek(cursor)
        return True

    def _replay_slice(self, seek: _Seek, cursor: _WorldCursor, work: float) -> bool:
        """Replay for about `work` microseconds; return whether the target or the end of the run is reached."""
        begin = cursor.replay_work_us
        while cursor.tick < seek.target_tick:
            remaining_work = work - (cursor.replay_work_us - begin)
            if remaining_work <= 0:
                return False
            stop = seek.next_keyframe_stop(cursor.tick)
            if not self._advance_cursor(cursor, stop - cursor.tick, remaining_work):
                return True
            if cursor.tick == stop:
                self._take_near_keyframe(cursor)
        return True

    def _take_near_keyframe(self, cursor: _WorldCursor) -> None:
        if (
            cursor.tick < self.recorded_end
            and cursor.are_due_changes_pending
            and cursor.replay_work_us - cursor.last_keyframe_work_us >= MIN_NEAR_SPACING
        ):
            self._take_keyframe(cursor)

    def _end_seek(self, cursor: _WorldCursor) -> None:
        """End the seek: make its world the present one, apply the commands of its tick, and check its digest."""
        self._foreground_seek = None
        if cursor is not self._head_cursor:
            self._head_cursor = cursor
            self.past_version += 1
        self._keyframe_track.playhead_work_us = cursor.replay_work_us
        self._apply_cursor_commands(cursor)
        self.run_history.check_last_digest(cursor.world)
        for walker in cursor.world.walkers:
            self._show_last_row(walker, cursor.tick)

    def _show_last_row(self, walker: Walker, tick: int) -> None:
        """Make an agent show only what it did in the last tick before `tick`.

        Otherwise the displayed actions would depend on the number of ticks that the seek replayed.
        """
        record = self.agent_records[walker.id]
        is_active = record.activity_end_before(tick) == tick
        rows = record.rows_before_tick(tick)[-1:] if is_active else log.new_tick_log(0)
        walker.replace_log_rows(rows.copy(), max(0, tick - 1))

    # --- recomputing after an edit of the past ----------------------------------------------------

    @property
    def is_recomputing(self) -> bool:
        """Return whether, after an edit of the past, ticks up to the old end remain to be recomputed."""
        return self.recorded_end < self.furthest_tick

    def continue_recomputation(self, work: float = 4000.0) -> bool:
        """Recompute ticks towards the old end (`furthest_tick`) for about `work` microseconds.

        A separate world is used, so that the present tick does not change. Nothing is computed during a seek or while
        another thread saves a keyframe.

        Returns:
            Whether ticks remain to be recomputed.
        """
        if not self.is_recomputing:
            self._background_seek = None
            return False
        if self.is_seeking or self.is_snapshot_pending:
            return True
        if self._background_seek is None:
            self._background_seek = _Seek(self.furthest_tick, is_background=True)
            self._choose_seek_start(self._background_seek)
        seek = self._background_seek
        seek.target_tick = self.furthest_tick
        if seek.pending_restore is None or seek.pending_restore.copy_slice(int(work * _BYTES_PER_WORK)):
            self._replay_slice(seek, self._cursor_of_seek(seek), work)
            self._keyframe_track.playhead_work_us = self._present_cursor().replay_work_us
        return self.is_recomputing

    # --- editing the log --------------------------------------------------------------------------

    def entries(self) -> tuple[LogEntry, ...]:
        """Return all log entries by tick; entries of one tick are in the order in which they apply."""
        return tuple(self.command_log.entries)

    def labels_of_agents(self, walkers: Iterable[Walker | WalkerView]) -> tuple[str, ...]:
        """Return the labels of agents: the last name given in the log, even at ticks before the renaming."""
        names = self.command_log.names_of_agents()
        return tuple([names.get(walker.id, walker.label) or walker.spec.name for walker in walkers])

    def insert_command(self, tick: int, command: Command, stroke: int = 0) -> LogEntry:
        """Insert a command into the log at any tick and return its entry; later commands stay in the log.

        The command applies after the other commands of its tick.
        """
        entry = self.command_log.new_user_entry(tick, command, stroke)
        self._replace_log_entries(log_with_entry(self.command_log.entries, entry), tick)
        self._notify_entries_changed([entry], [])
        return entry

    def set_command_enabled(self, entry_id: int, is_enabled: bool) -> None:
        self._replace_log_entry(replace(self.command_log.entry_by_id(entry_id), is_enabled=is_enabled))

    def move_command(self, entry_id: int, tick: int) -> None:
        self._replace_log_entry(replace(self.command_log.entry_by_id(entry_id), tick=max(0, tick)))

    def change_command(self, entry_id: int, command: Command) -> None:
        self._replace_log_entry(
            replace(self.command_log.entry_by_id(entry_id), command=self.command_log.with_agent_number(command))
        )

    def duplicate_command(self, entry_id: int, tick: int, stroke: int = 0) -> LogEntry:
        """Insert a copy of a command at another tick and return its entry; a copied AddAgent adds a new agent."""
        command = self.command_log.entry_by_id(entry_id).command
        if isinstance(command, world_commands.AddAgent):
            return self.insert_command(max(0, tick), replace(command, agent=None), stroke)
        return self.insert_command(max(0, tick), replace(command), stroke)

    def restore_log_entry(self, entry: LogEntry) -> None:
        """Restore a deleted entry under its old id; do nothing if the log still has it."""
        if all(other.id != entry.id for other in self.command_log.entries):
            self._replace_log_entries(log_with_entry(self.command_log.entries, entry), entry.tick)
            self._notify_entries_changed([entry], [])

    def delete_command(self, entry_id: int) -> None:
        deleted = self.command_log.entry_by_id(entry_id)
        self._replace_log_entries([entry for entry in self.command_log.entries if entry is not deleted], deleted.tick)
        self._notify_entries_changed([], [entry_id])

    def replace_command_log(self, entries: Iterable[LogEntry]) -> None:
        """Replace all entries of the log by entries from a file or a journal, without changing their ids."""
        entries = self.command_log.import_entries(entries)
        pairs = zip_longest(self.command_log.entries, entries)
        differing = next(((a, b) for a, b in pairs if a is not b and a != b), None)
        if differing is not None:
            self._replace_log_entries(entries, min(entry.tick for entry in differing if entry is not None))

    def _replace_log_entry(self, new: LogEntry) -> None:
        old = self.command_log.entry_by_id(new.id)
        if new != old:
            self._replace_log_entries(log_with_entry(self.command_log.entries, new), min(old.tick, new.tick))
            self._notify_entries_changed([new], [])

    def _notify_entries_changed(self, altered: list[LogEntry], removed_ids: list[int]) -> None:
        """Call `on_entries_changed` with the new or altered log entries and the ids of removed entries."""
        if self.on_entries_changed:
            self.on_entries_changed(self, altered, removed_ids)

    def _replace_log_entries(self, entries: list[LogEntry], tick: int) -> None:
        """Replace the log by entries that differ only from `tick` on, and start a seek to the present tick."""
        present = max(self.target_tick, self._tick_before_edit)
        last_before, last = last_enabled_tick(self.command_log.entries), last_enabled_tick(entries)
        if last < last_before:  # the run may end earlier, because a run lasts at least until its last command
            tick = min(tick, max(last, self.run_history.activity_end_before(tick)))
        self.command_log.entries = entries
        self._truncate_history(tick, keeps_now=False)
        for cursor in self._present_and_seek_cursors:
            cursor.is_stale = (
                cursor.is_stale or cursor.tick > tick or (cursor.tick == tick and not cursor.are_due_changes_pending)
            )
            if not cursor.is_stale:
                cursor.world.replace_queued_commands(
                    self.command_log.timed_commands_from(cursor.tick + (not cursor.are_due_changes_pending))
                )
        self.past_version += 1
        self._foreground_seek = None
        self.begin_seek(present)
        self._tick_before_edit = present

    def _truncate_history(self, tick: int, keeps_now: bool) -> None:
        """Discard records and keyframes after `tick`; without `keeps_now`, also effects of the commands at `tick`."""
        self._wait_for_keyframe()
        self._background_seek = None
        self._keyframe_track.remove_keyframes_after(tick)
        self.run_history.discard_after_tick(tick, keeps_now)

    def rejection_reasons(self) -> dict[int, str]:
        """Return the reason for each rejected command, by the id of its log entry."""
        return self.command_log.rejection_reasons(self.run_history.run_messages.values())

    # --- recorded data ----------------------------------------------------------------------------

    def world_messages(self) -> tuple[RunMessage, ...]:
        """Return all messages of the run, without the duplicates that replays create."""
        return tuple(self.run_history.run_messages.values())

    def recorded_digests(self) -> tuple[str, ...]:
        """Return the recorded digests of the world at ticks 0, DIGEST_EVERY, 2 * DIGEST_EVERY and so on."""
        return tuple(self.run_history.world_digests)

    def marks(self, first: int, last: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> npt.NDArray[np.void]:
        """Return the marks (MARK_DTYPE) of these kinds from tick `first` to `last` inclusive, sorted by tick."""
        kind_numbers = [int(kind) for kind in kinds]
        marks = self.run_history.marks.marks_between(first, last)
        if len(set(kind_numbers)) < len(MarkKind):
            marks = marks[np.isin(marks["kind"], kind_numbers)]
        edits = self.command_log.marks(first, last) if MarkKind.EDIT in kind_numbers else []
        if not edits:
            return marks
        both = np.concatenate([np.array(edits, MARK_DTYPE), marks])
        return both[np.argsort(both["tick"], kind="stable")]

    def next_mark_tick(self, tick: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> int | None:
        """Return the tick of the first mark after `tick`; None if there is none."""
        marks = self.marks(tick + 1, 1 << 30, kinds)
        return int(marks["tick"][0]) if marks.size else None

    def previous_mark_tick(self, tick: int, kinds: Iterable[MarkKind] = tuple(MarkKind)) -> int | None:
        """Return the tick of the last mark before `tick`; None if there is none."""
        marks = self.marks(0, tick - 1, kinds)
        return int(marks["tick"][-1]) if marks.size else None


def estimated_work_of_ticks(world: World, ticks: int, expansions: int) -> float:
    """Return the estimated computing time of the last `ticks` ticks of a world, in microseconds.

    Args:
        world: the world after these ticks, which were run without a command in between.
        ticks: number of ticks.
        expansions: number of expansions in these ticks.
    """
    tick = sum([_BULK_TICK_WORK if walker.spec.runs_in_bulk else _SLOW_TICK_WORK for walker in world.walkers])
    event = _MAP_CELL_WORK * world.grid.cells if world.random_changes.is_change_due(world.tick - ticks) else 0.0
    return _ADVANCE_WORK + ticks * tick + expansions * _EXPANSION_WORK + event


def estimated_restore_us(frame: Keyframe) -> float:
    """Return the estimated time to restore a keyframe, in microseconds."""
    return frame.array_contents.restored_bytes / _BYTES_PER_WORK


def _extra_keyframe_spacing(frame: Keyframe) -> float:
    """Return by how many microseconds a large number of array buffers increases the keyframe spacing."""
    return _SPACING_PER_BUFFER * max(0, len(frame.array_contents.buffer_sizes) - _CHEAP_BUFFER_COUNT)


def total_expansions(world: World) -> int:
    """Return the number of expansions so far, by the agents on the map and by measurements of true distances."""
    return sum([walker.expansions for walker in world.walkers]) + world.optimality_tracker.true_distances.expansions
