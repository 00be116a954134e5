"""World advancer: moves worlds along one run. It applies the commands of the log and records the ticks in the history.

Ticks after the recorded end are recorded; earlier ticks are replays, whose digests are compared with the recorded ones.
"""

from collections.abc import Callable

from sim.time import keyframe_saver
from sim.time.command_log import CommandLog
from sim.time.keyframe_saver import KeyframeSaver
from sim.time.run_history import DIGEST_EVERY, RunHistory
from sim.time.work_estimates import COMMAND_WORK
from sim.time.world_cursor import WorldCursor
from sim.world import MAX_TICKS_PER_CALL, World


class WorldAdvancer:
    """Part of a timeline that advances its worlds, see the module docstring."""

    def __init__(
        self,
        build_world: Callable[[], World],
        command_log: CommandLog,
        run_history: RunHistory,
        keyframes: KeyframeSaver,
    ) -> None:
        self.build_world = build_world  # function that builds the world of tick 0
        self._command_log, self._run_history, self._keyframe_saver = command_log, run_history, keyframes

    def new_cursor_at_start(self) -> WorldCursor:
        """Return a cursor with a new world at tick 0."""
        return self.queue_commands(WorldCursor(self.build_world()))

    def queue_commands(self, cursor: WorldCursor) -> WorldCursor:
        """Queue the commands of the log in the world of a new cursor, and return the cursor.

        The world must not have applied the commands of its tick yet.
        """
        cursor.world.replace_queued_commands(self._command_log.timed_commands_from(cursor.tick))
        cursor.world.prepare_first_tick()
        return cursor

    def apply_commands(self, cursor: WorldCursor) -> None:
        """Apply the commands of the world's tick; at the last recorded tick, also record new agents and messages."""
        self._keyframe_saver.wait()
        if cursor.are_due_changes_pending:
            cursor.read_statuses()
            if not cursor.world.ticks_to_next_event():
                cursor.replay_work_us += COMMAND_WORK * self._command_log.command_count_at(cursor.tick)
        cursor.world.apply_due_changes()
        if cursor.tick >= self._run_history.recorded_end:
            self._run_history.record_new_agents(cursor.world)
        cursor.world.messages.clear()

    def advance(
        self, cursor: WorldCursor, ticks: int, work: float = float("inf"), *, begins_with_keyframe: bool = True
    ) -> int:
        """Advance a world by at most `ticks` ticks and about `work` microseconds, and record the new ticks.

        Returns:
            The number of ticks run.
        """
        self._keyframe_saver.wait()
        passed, begin = 0, cursor.replay_work_us
        while passed < ticks and cursor.replay_work_us - begin < work:
            if passed or begins_with_keyframe:
                self._keyframe_saver.save_if_due(cursor)
            self.apply_commands(cursor)
            remaining_work = min(work - (cursor.replay_work_us - begin), keyframe_saver.KEYFRAME_SPACING / 2)
            max_ticks = min(ticks - passed, max(1, int(remaining_work / cursor.work_per_tick_us)))
            # Do not call World.advance after the end of the run: it would clear the data of the last tick on screen.
            done = 0 if cursor.world.is_over else self._advance_segment(cursor, max_ticks)
            if not done:
                self._run_history.end_run_at(cursor.tick)
                break
            passed += done
        return passed

    def _advance_segment(self, cursor: WorldCursor, ticks: int) -> int:
        """Advance a world, at most to the next command, the next digest, or the end of the recorded ticks.

        Returns:
            The number of ticks run.
        """
        world, history, begin = cursor.world, self._run_history, cursor.world.tick
        is_new = begin >= history.recorded_end
        boundary = DIGEST_EVERY - begin % DIGEST_EVERY
        world.is_live = begin >= history.end
        if not world.is_live:
            boundary = min(boundary, (history.furthest_tick if is_new else history.recorded_end) - begin)
        done = world.advance(min(ticks, boundary, world.ticks_to_next_event(), MAX_TICKS_PER_CALL))
        if not done:
            return 0
        statuses_before = cursor.agent_statuses
        has_activity = cursor.read_statuses()
        cursor.add_work_of_ticks(done, has_activity)
        if not is_new:
            history.check_replay_digest(world)
            return done
        if has_activity:
            history.record_steps(world, begin, statuses_before, cursor.agent_statuses)
        history.advance_recorded_end(world)
        if world.planner_limited_ticks:
            self._command_log.notify_changed(self._command_log.log_planner_limits(world.planner_limited_ticks), [])
            world.planner_limited_ticks.clear()
        return done
