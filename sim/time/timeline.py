"""Timeline: a simulation run that can be rewound to any tick, edited there and replayed.

The setup, the log of commands and a tick determine the state of a run; all other data are caches.

    timeline = Timeline(setup)               setup() builds the world of tick 0 with its scripted commands queued
    timeline.world                           the world at the present tick; a different object after a seek backwards
    timeline.advance(n)                      run up to n ticks; returns the number of ticks run
    timeline.apply_command(command)          apply a command now, between two ticks, and log it
    timeline.seek(tick)                      move the present to another tick; returns the tick that was reached
    timeline.begin_seek(tick)                start a seek in time slices, for a window:
    timeline.continue_seek(work)             run a slice of about `work` microseconds; True once the seek is finished
    timeline.is_seeking                      while True, `world` is not yet at the target of the seek
    timeline.past_version                    version counter: incremented when `world` is replaced or the past edited
    timeline.continue_recomputation(work)    recompute ticks after an edit of the past, in the background; False: done
    timeline.fork(tick)                      another timeline with the same setup, commands and past

    timeline.insert_command(tick, command)   add a command at any tick: past, present or future
    timeline.set_command_enabled(id, yes), and .move_command, .delete_command, .duplicate_command, .change_command by id

    timeline.command_log                     CommandLog: all commands, from the scenario and from the user
    timeline.run_history                     RunHistory: where agents were, marks, digests; how far the run is recorded
    timeline.keyframe_saver                  KeyframeSaver: the keyframes, and whether another thread is saving one

An edit of the past starts a seek to the present tick through the new past, which the caller finishes. Methods that move
the present first finish a seek in progress; reading `world` does not.

Within a tick, the random change of the map comes first, then the commands, then the agents. `seek(t)` shows tick t with
its commands applied; a keyframe and a digest describe the moment before the commands. Work is computing time that is
estimated, not timed (work_estimates.py).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest

from sim import world_commands
from sim.kernels import log
from sim.time.command_log import CommandLog, EntryIds, LogEntry, last_enabled_tick, log_with_entry
from sim.time.keyframe_saver import KeyframeSaver
from sim.time.keyframes import KeyframeStore, PendingRestore
from sim.time.run_history import RunHistory
from sim.time.work_estimates import estimated_restore_us, restored_bytes_of_work
from sim.time.world_advancer import WorldAdvancer
from sim.time.world_cursor import WorldCursor
from sim.true_distances import MAX_EXPANSIONS_PER_TICK
from sim.walker import Walker
from sim.world import World
from sim.world_commands import Command


@dataclass(eq=False)
class _Seek:
    """Seek in progress. It restores a keyframe, unless a loaded world is near the target, and then replays ticks."""

    target_tick: int  # tick to reach
    world_cursor: WorldCursor | None = None  # world that the seek advances; None while a keyframe is being restored
    pending_restore: PendingRestore | None = None  # restore of a keyframe that is in progress, if any
    keyframe_stops: tuple[int, ...] = ()  # ticks before the target at which the seek saves extra keyframes
    is_background: bool = False  # whether the seek advances a separate world, not the one on screen

    def next_keyframe_stop(self, tick: int) -> int:
        """Return the first tick of `keyframe_stops` after `tick`, or the target if there is none."""
        return next((stop for stop in self.keyframe_stops if stop > tick), self.target_tick)


class Timeline:
    """Run that can be rewound, edited and replayed, see the module docstring."""

    _head_cursor: WorldCursor | None  # world at the present tick; None: a new fork whose world is not loaded yet

    def __init__(self, setup: Callable[[], World], store: KeyframeStore | None = None) -> None:
        """Create a timeline at tick 0.

        Args:
            setup: function that builds the world of tick 0 with its scripted commands queued.
            store: keyframe store, which timelines may share; None: a new one.
        """
        world = setup()
        store = KeyframeStore() if store is None else store
        log = CommandLog(EntryIds(), world.next_agent_id)
        self._initialise_fields(setup, KeyframeSaver(store.new_track()), log, RunHistory())
        log.load_setup_script(world.replace_queued_commands(()))
        self._head_cursor = self._advancer.queue_commands(WorldCursor(world))
        self.run_history.record_digest(world.compute_digest())
        self.keyframe_saver.save(self._head_cursor)
        self._advancer.apply_commands(self._head_cursor)

    def _initialise_fields(
        self, setup: Callable[[], World], keyframe_saver: KeyframeSaver, log: CommandLog, history: RunHistory
    ) -> None:
        """Initialise all fields of a new timeline or fork."""
        self.build_world, self.keyframe_saver, self.command_log, self.run_history = setup, keyframe_saver, log, history
        self._advancer = WorldAdvancer(setup, log, history, keyframe_saver)
        # Callback(timeline), called before a command overwrites the future; it may keep that future as a branch.
        self.on_future_lost: Callable[[Timeline], None] | None = None
        self.past_version = 0
        self._head_cursor = None
        self._foreground_seek: _Seek | None = None
        self._background_seek: _Seek | None = None  # recomputes the run after an edit of its past
        # Tick that was on screen before the last edit of the past, which may have shortened the run; 0: none.
        # If the next edit (such as an undo) makes the run long enough again, this tick is shown again.
        self._tick_before_edit = 0

    def fork(self, tick: int | None = None, store: KeyframeStore | None = None) -> "Timeline":
        """Return a copy of this timeline that runs identically until either of them gets new commands.

        Args:
            tick: tick that the copy shows; None: the present one.
            store: keyframe store for the copy; None: the copy uses the store of this timeline. A copy with a separate
                store may be used in another thread.
        """
        other = Timeline.__new__(Timeline)
        shown_tick = self.tick if tick is None else tick
        keyframe_saver = self.keyframe_saver.fork(self.run_history.recorded_end, shown_tick, store)
        other._initialise_fields(self.build_world, keyframe_saver, self.command_log.copy(), self.run_history.copy())
        other.begin_seek(shown_tick)
        return other

    def close(self) -> None:
        """Free the memory of the keyframes. The timeline must not be used afterwards."""
        self.keyframe_saver.close()

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
    def _present_and_seek_cursors(self) -> list[WorldCursor]:
        """Return the cursors (loaded worlds) of the present tick and of the seek in progress, without duplicates."""
        both = dict.fromkeys((self._head_cursor, self._foreground_seek.world_cursor if self._foreground_seek else None))
        return [cursor for cursor in both if cursor is not None]

    def _present_cursor(self) -> WorldCursor:
        """Return the cursor (loaded world) at the present tick.

        A new fork has no cursor yet. The first call then loads the world from which the fork's seek starts. It does not
        finish the seek, because a window reads the present in each frame, and the seek may replay the whole run.
        """
        if self._head_cursor is None:
            assert self._foreground_seek is not None
            self._head_cursor = self._cursor_of_seek(self._foreground_seek)
        return self._head_cursor

    def _cursor_of_seek(self, seek: _Seek) -> WorldCursor:
        """Return the cursor (world) that a seek advances; finish restoring its keyframe first if necessary."""
        while seek.pending_restore is not None:
            seek.pending_restore.copy_slice()
            frame = seek.pending_restore.keyframe
            world = self.keyframe_saver.keyframe_store.load_world(seek.pending_restore)
            if world is None:
                self._choose_seek_start(seek)
                continue
            cursor = WorldCursor(world, frame.replay_work_us, frame.replay_work_us)
            seek.world_cursor, seek.pending_restore = self._advancer.queue_commands(cursor), None
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
        passed = self._advancer.advance(cursor, ticks, begins_with_keyframe=not self.keyframe_saver.saves_in_background)
        self._tick_before_edit = 0 if passed else self._tick_before_edit
        if is_shown and self.command_log.has_edit_commands_at(cursor.tick):
            self._advancer.apply_commands(cursor)
        self.keyframe_saver.save_in_background_if_due(cursor)
        return passed

    def apply_due_commands(self) -> None:
        """Apply the commands that are due at the present tick, without running the tick."""
        self.finish_seek()
        self._advancer.apply_commands(self._present_cursor())

    def continue_measuring(self) -> bool:
        """Process pending measurements, with at most MAX_EXPANSIONS_PER_TICK expansions.

        Measurements check moves for optimality, and find the cost of the cheapest path on a map that was edited before
        any agent planned. Nothing is processed while another thread saves a keyframe, because the world must not change
        until the thread has finished.

        Returns:
            Whether a measurement was processed.
        """
        if self.keyframe_saver.is_saving or not self.world.optimality_tracker.has_pending_work:
            return False
        self.keyframe_saver.wait()
        self.world.optimality_tracker.continue_pending_work(self.world.walkers, self.tick)
        return True

    def poll_true_distance(self, cell: int) -> float | None:
        """Return the cost of the cheapest path from a cell to the goal; None if it needs further calls to compute."""
        if self.keyframe_saver.is_saving:
            return None
        self.keyframe_saver.wait()
        return self.world.optimality_tracker.true_distances.cost_to_goal_within_limit(cell, MAX_EXPANSIONS_PER_TICK)

    def compute_true_distance(self, cell: int) -> float:
        """Return the cost of the cheapest path from a cell to the goal; finish the search, even if it takes long."""
        self.keyframe_saver.wait()
        return self.world.optimality_tracker.true_distances.cost(cell)

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
        if now < self.run_history.end and not keeps_later and self.on_future_lost:
            self.on_future_lost(self)
        removed_ids = [] if keeps_later else self.command_log.remove_user_commands(now, self.run_history.end)
        self._truncate_history(now, keeps_now=True)
        if not keeps_later:
            self.run_history.furthest_tick = now
        self._advancer.apply_commands(cursor)
        entry = self.command_log.new_user_entry(now, command, stroke)
        self.command_log.add(entry)
        if removed_ids:
            cursor.world.replace_queued_commands(self.command_log.timed_commands_from(now + 1))
        cursor.world.submit(entry.command)
        self._advancer.apply_commands(cursor)
        self.command_log.notify_changed([entry], removed_ids)
        return entry

    def expected_digests(self) -> tuple[tuple[str, ...], tuple[int, str] | None, dict[int, str]]:
        """Return the digests to save with this run; `RunHistory.set_expected_digests` takes them after loading.

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
        self.keyframe_saver.wait()
        self._tick_before_edit = 0
        seek = _Seek(max(0, tick))
        self._choose_seek_start(seek)
        self._foreground_seek = seek

    def _choose_seek_start(self, seek: _Seek) -> None:
        """Choose where a seek starts: at a loaded world before the target, a keyframe, or a new world of tick 0."""
        seek.world_cursor, seek.pending_restore, seek.keyframe_stops = None, None, ()
        frame = self.keyframe_saver.latest_keyframe(seek.target_tick)
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
            seek.world_cursor = self._advancer.new_cursor_at_start()

    def recover_from_error(self) -> None:
        """Recover from an error within a tick by restoring an earlier state of the world.

        After such an error the state of the world is unknown, so all loaded worlds are discarded. The timeline seeks to
        the present tick, or to the last recorded tick if that is earlier.
        """
        tick = min(self.target_tick, self.run_history.recorded_end)
        self.keyframe_saver.discard_pending()
        self._background_seek = None
        for cursor in self._present_and_seek_cursors:
            cursor.is_stale = True
        self.begin_seek(tick)

    def _latest_usable_cursor(self, tick: int) -> WorldCursor | None:
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
        if seek.pending_restore is not None and not seek.pending_restore.copy_slice(restored_bytes_of_work(work)):
            return False
        cursor = self._cursor_of_seek(seek)
        if not self._replay_slice(seek, cursor, work):
            return False
        self._end_seek(cursor)
        return True

    def _replay_slice(self, seek: _Seek, cursor: WorldCursor, work: float) -> bool:
        """Replay for about `work` microseconds; return whether the target or the end of the run is reached."""
        begin = cursor.replay_work_us
        while cursor.tick < seek.target_tick:
            remaining_work = work - (cursor.replay_work_us - begin)
            if remaining_work <= 0:
                return False
            stop = seek.next_keyframe_stop(cursor.tick)
            if not self._advancer.advance(cursor, stop - cursor.tick, remaining_work):
                return True
            if cursor.tick == stop and stop < self.run_history.recorded_end:
                self.keyframe_saver.save_near(cursor)
        return True

    def _end_seek(self, cursor: WorldCursor) -> None:
        """End the seek: make its world the present one, apply the commands of its tick, and check its digest."""
        self._foreground_seek = None
        if cursor is not self._head_cursor:
            self._head_cursor = cursor
            self.past_version += 1
        self.keyframe_saver.set_playhead(cursor)
        self._advancer.apply_commands(cursor)
        self.run_history.check_last_digest(cursor.world)
        for walker in cursor.world.walkers:
            self._show_last_row(walker, cursor.tick)

    def _show_last_row(self, walker: Walker, tick: int) -> None:
        """Make an agent show only what it did in the last tick before `tick`.

        Otherwise the displayed actions would depend on the number of ticks that the seek replayed.
        """
        record = self.run_history.agent_records[walker.id]
        is_active = record.activity_end_before(tick) == tick
        rows = record.rows_before_tick(tick)[-1:] if is_active else log.new_tick_log(0)
        walker.replace_log_rows(rows.copy(), max(0, tick - 1))

    # --- recomputing after an edit of the past ----------------------------------------------------

    @property
    def is_recomputing(self) -> bool:
        """Return whether, after an edit of the past, ticks up to the old end remain to be recomputed."""
        return self.run_history.recorded_end < self.run_history.furthest_tick

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
        if self.is_seeking or self.keyframe_saver.is_saving:
            return True
        if self._background_seek is None:
            self._background_seek = _Seek(self.run_history.furthest_tick, is_background=True)
            self._choose_seek_start(self._background_seek)
        seek = self._background_seek
        seek.target_tick = self.run_history.furthest_tick
        if seek.pending_restore is None or seek.pending_restore.copy_slice(restored_bytes_of_work(work)):
            self._replay_slice(seek, self._cursor_of_seek(seek), work)
            self.keyframe_saver.set_playhead(self._present_cursor())
        return self.is_recomputing

    # --- editing the log --------------------------------------------------------------------------

    def insert_command(self, tick: int, command: Command, stroke: int = 0) -> LogEntry:
        """Insert a command into the log at any tick and return its entry; later commands stay in the log.

        The command applies after the other commands of its tick.
        """
        entry = self.command_log.new_user_entry(tick, command, stroke)
        self._replace_log_entries(log_with_entry(self.command_log.entries, entry), tick)
        self.command_log.notify_changed([entry], [])
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

    def delete_command(self, entry_id: int) -> None:
        deleted = self.command_log.entry_by_id(entry_id)
        self._replace_log_entries([entry for entry in self.command_log.entries if entry is not deleted], deleted.tick)
        self.command_log.notify_changed([], [entry_id])

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
            self.command_log.notify_changed([new], [])

    def _replace_log_entries(self, entries: list[LogEntry], tick: int) -> None:
        """Replace the log by entries that differ only from `tick` on, and start a seek to the present tick."""
        present = max(self.target_tick, self._tick_before_edit)
        last_before, last = last_enabled_tick(self.command_log.entries), last_enabled_tick(entries)
        if last < last_before:  # the run may end earlier, because a run lasts at least until its last command
            tick = min(tick, max(last, self.run_history.activity_end_before(tick)))
        self.command_log.replace_entries(entries)
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
        self._background_seek = None
        self.keyframe_saver.remove_keyframes_after(tick)
        self.run_history.discard_after_tick(tick, keeps_now)
