"""Script of a branch as the user sees it: a mouse stroke is one entry, even if it consists of several commands."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from sim import world_commands
from sim.time.command_log import LogEntry
from sim.world_commands import Command
from ui.model.panel_texts import RunNames
from ui.model.run import Run
from ui.model.session import Session

_DUPLICATE_DELAY_TICKS = 10  # ticks between a script entry and its duplicate


@dataclass(frozen=True)
class ScriptEntry:
    """Entry of the script: a single log entry, or all log entries of one stroke of the mouse."""

    log_entries: tuple[LogEntry, ...]

    @property
    def first_log_entry_id(self) -> int:
        return self.log_entries[0].id

    @property
    def log_entry_ids(self) -> tuple[int, ...]:
        return tuple(entry.id for entry in self.log_entries)

    @property
    def tick(self) -> int:
        return self.log_entries[0].tick

    @property
    def last_tick(self) -> int:
        return self.log_entries[-1].tick

    @property
    def is_enabled(self) -> bool:
        return self.log_entries[0].is_enabled

    @property
    def representative_command(self) -> Command:
        """Return one command that represents the entry: all cells edited by a stroke, or the last command."""
        last = self.log_entries[-1].command
        if len(self.log_entries) == 1 or not isinstance(last, world_commands.EditCells):
            return last
        pieces = [entry.command for entry in self.log_entries if isinstance(entry.command, world_commands.EditCells)]
        blocked = dict.fromkeys(cell for piece in pieces for cell in piece.blocked_cells)
        freed = dict.fromkeys(cell for piece in pieces for cell in piece.freed_cells)
        return world_commands.EditCells(tuple(blocked), tuple(freed))


def script_entries_of(entries: Iterable[LogEntry]) -> list[ScriptEntry]:
    """Return log entries as script entries: the log entries of a stroke are combined into one script entry."""
    entries_by_stroke: dict[tuple[int, int, bool], list[LogEntry]] = {}
    for entry in entries:
        single_id = 0 if entry.stroke_id else entry.id
        entries_by_stroke.setdefault((entry.stroke_id, single_id, entry.is_enabled), []).append(entry)
    return [ScriptEntry(tuple(log_entries)) for log_entries in entries_by_stroke.values()]


def script_entries(run: Run) -> list[ScriptEntry]:
    """Return the script of the front branch: the commands of the scenario and the commands of the user."""
    return script_entries_of(
        entry
        for entry in run.focused_branch_timeline.command_log.entries
        if not isinstance(entry.command, world_commands.LimitPlanners)
    )


# --- changes of the script, after which the run is recomputed -------------------------------------


def move_script_entry(session: Session, script_entry: ScriptEntry, ticks: int) -> None:
    """Move a script entry by some ticks; the commands of a stroke keep their distances, and no tick gets negative."""
    with _rewrite_script_entry(session, script_entry, "moved in time") as log_entries:
        offset = max(ticks, -next((entry.tick for entry in log_entries), 0))
        for entry in log_entries:
            session.run.focused_branch_timeline.move_command(entry.id, entry.tick + offset)


def toggle_script_entry(session: Session, script_entry: ScriptEntry) -> None:
    with _rewrite_script_entry(
        session, script_entry, "disabled" if script_entry.is_enabled else "enabled"
    ) as log_entries:
        for entry in log_entries:
            session.run.focused_branch_timeline.set_command_enabled(entry.id, not script_entry.is_enabled)


def delete_script_entry(session: Session, script_entry: ScriptEntry) -> None:
    with _rewrite_script_entry(session, script_entry, "deleted") as log_entries:
        for entry in log_entries:
            session.run.focused_branch_timeline.delete_command(entry.id)


def duplicate_script_entry(session: Session, script_entry: ScriptEntry) -> None:
    """Repeat an entry of the script 10 ticks later."""
    stroke = 0
    with _rewrite_script_entry(session, script_entry, "duplicated") as log_entries:
        for entry in log_entries:
            stroke = session.run.focused_branch_timeline.duplicate_command(
                entry.id, entry.tick + _DUPLICATE_DELAY_TICKS, stroke
            ).stroke_id


@contextmanager
def _rewrite_script_entry(
    session: Session, script_entry: ScriptEntry, change_text: str
) -> Iterator[tuple[LogEntry, ...]]:
    """Yield the log entries of a script entry that still exist; changes inside the block become one undo entry."""
    timeline = session.run.focused_branch_timeline
    existing_ids = {entry.id for entry in timeline.command_log.entries}
    log_entries = tuple(entry for entry in script_entry.log_entries if entry.id in existing_ids)
    with (
        session.combine_actions(
            f"{script_entry.representative_command.describe_change(RunNames(timeline))}: {change_text}"
        )
        if log_entries
        else nullcontext()
    ):
        yield log_entries
