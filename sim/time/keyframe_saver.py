"""Keyframe saver: decides when a timeline saves a keyframe, and saves it at once or in another thread.

saver.save(cursor)                       save a keyframe of the cursor's world now
saver.save_if_due(cursor)                save one if the last one is too far back
saver.save_near(cursor)                  save an extra one near the target of a seek backwards
saver.save_in_background_if_due(cursor)  start to save one in another thread, while the window draws
saver.is_saving                          whether that thread is working; until it is done, the world must not change
saver.wait()                             wait for that thread; call this before the world changes
"""

from concurrent.futures import Future

from sim.time.keyframes import Keyframe, KeyframeStore, KeyframeTrack
from sim.time.work_estimates import estimated_restore_us, extra_keyframe_spacing
from sim.time.world_cursor import WorldCursor

KEYFRAME_SPACING = 100_000.0
"""Work between two keyframes (unit: about a microsecond): the most that a seek replays, unless memory runs short."""

MIN_NEAR_SPACING = 12_000.0
"""Minimum work between the extra keyframes that a seek backwards takes near its target (unit: about a microsecond).
Saving keyframes at shorter intervals would take longer than the replays that they save."""


class KeyframeSaver:
    """Saver of the keyframes of one timeline, see the module docstring."""

    def __init__(self, track: KeyframeTrack) -> None:
        self.keyframe_track, self.keyframe_store = track, track.keyframe_store
        # Keyframe that another thread is saving; None: no thread is saving one.
        self._pending_keyframe: Future[Keyframe | None] | None = None

    def fork(self, last_tick: int, shown_tick: int, store: KeyframeStore | None) -> "KeyframeSaver":
        """Return a saver for a copy of the timeline.

        Args:
            last_tick: last tick of the copy; it gets the keyframes up to this tick.
            shown_tick: tick that the copy shows.
            store: store for the copy, which gets only the keyframe for `shown_tick`; None: the store of this saver.
        """
        self.wait()
        if store is None:
            return KeyframeSaver(self.keyframe_track.fork_track(last_tick))
        return KeyframeSaver(self.keyframe_track.fork_track_into_store(store, shown_tick))

    def close(self) -> None:
        """Free the memory of the keyframes."""
        self.wait()
        self.keyframe_track.close()

    def latest_keyframe(self, tick: int) -> Keyframe | None:
        """Return the last keyframe at or before a tick; None if there is none."""
        return self.keyframe_track.keyframe_at_or_before(tick)

    def remove_keyframes_after(self, tick: int) -> None:
        """Remove all keyframes after this tick, because the run was edited at this tick."""
        self.wait()
        self.keyframe_track.remove_keyframes_after(tick)

    def set_playhead(self, cursor: WorldCursor) -> None:
        """Make this cursor the present of the run: keyframes near it are the last to be dropped."""
        self.keyframe_track.playhead_work_us = cursor.replay_work_us

    # --- saving at once ---------------------------------------------------------------------------

    def is_due(self, cursor: WorldCursor) -> bool:
        """Return whether to save a keyframe at the cursor's tick, so that later seeks do not replay too much.

        A keyframe is due when the estimated computing time since the last one has reached KEYFRAME_SPACING. The spacing
        is larger if keyframes of the world take long to save and to restore. A keyframe describes the moment before the
        commands of its tick.
        """
        if (
            not cursor.are_due_changes_pending
            or cursor.replay_work_us - cursor.last_keyframe_work_us < KEYFRAME_SPACING
        ):
            return False  # the usual case, tested first because finding the last keyframe takes longer
        last = self.latest_keyframe(cursor.tick)
        if last is not None and last.tick == cursor.tick:
            return False
        since = max(cursor.last_keyframe_work_us, last.replay_work_us if last else cursor.last_keyframe_work_us)
        spacing = KEYFRAME_SPACING + (estimated_restore_us(last) + extra_keyframe_spacing(last) if last else 0.0)
        return cursor.replay_work_us - since >= spacing

    def save_if_due(self, cursor: WorldCursor) -> None:
        """Save a keyframe if one is due at the cursor's tick."""
        if self.is_due(cursor):
            self.save(cursor)

    def save_near(self, cursor: WorldCursor) -> None:
        """Save an extra keyframe during a seek backwards, unless the last one is near."""
        if cursor.are_due_changes_pending and cursor.replay_work_us - cursor.last_keyframe_work_us >= MIN_NEAR_SPACING:
            self.save(cursor)

    def save(self, cursor: WorldCursor) -> None:
        """Save a keyframe of the cursor's world, unless the state of a user-defined agent cannot be stored."""
        self._begin_at(cursor)
        pending = self.keyframe_store.begin_keyframe(cursor.world, cursor.replay_work_us)
        if pending is not None:
            self._add(self.keyframe_store.finish_keyframe(pending, self.latest_keyframe(cursor.tick)))

    def _begin_at(self, cursor: WorldCursor) -> None:
        cursor.last_keyframe_work_us = cursor.replay_work_us
        self.set_playhead(cursor)

    def _add(self, frame: Keyframe | None) -> None:
        if frame is not None:
            self.keyframe_track.add(frame)

    # --- saving in another thread -----------------------------------------------------------------

    @property
    def saves_in_background(self) -> bool:
        """Return whether another thread saves keyframes while the window draws."""
        return self.keyframe_store.background_executor is not None

    def save_in_background_if_due(self, cursor: WorldCursor) -> None:
        """Start to save a keyframe in another thread if one became due in the window's last frame.

        The thread works while the window draws; during this time the world does not change. Saving starts one frame
        late, because keyframes mostly become due after a change of the map, and the frame of that change is slow.
        """
        if not self.saves_in_background or not self.is_due(cursor):
            return
        cursor.is_keyframe_due = not cursor.is_keyframe_due
        if not cursor.is_keyframe_due:
            self._begin_at(cursor)
            before = self.latest_keyframe(cursor.tick)
            # Views compute some values at first use, which would change the world while the thread reads it.
            for walker in cursor.world.walkers:
                walker.agent.materialize_view()
            pending = self.keyframe_store.begin_keyframe(cursor.world, cursor.replay_work_us)
            if pending is not None:
                self._pending_keyframe = self.keyframe_store.finish_keyframe_in_background(pending, before)

    @property
    def is_saving(self) -> bool:
        """Return whether another thread is saving a keyframe; until it has finished, the world must not change."""
        return self._pending_keyframe is not None and not self._pending_keyframe.done()

    def wait(self) -> None:
        """Wait for the keyframe that another thread is saving, if any. Call it before the world changes."""
        if self._pending_keyframe is not None:
            self.keyframe_store.stop_yielding()
            frame, self._pending_keyframe = self._pending_keyframe.result(), None
            self._add(frame)

    def discard_pending(self) -> None:
        """Discard the keyframe that another thread is saving, because its world may be broken."""
        self._pending_keyframe = None
