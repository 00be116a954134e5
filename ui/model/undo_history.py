"""Undo history: all actions of the user in order, each as an entry that can be undone and redone.

    with history.combine_actions("agents swapped"): ...                everything done inside becomes one entry
    history.open_entry("stroke"), .close_entry(), .cancel()            an entry that stays open over many frames
    history.set("range begins", put, before, after) set a value of the window that undo should restore
    history.undo_last_entry(), .redo_last_entry()   undo or redo one entry
    history.go_to_history_entry(place)              undo or redo until `place` entries are done

A change of a run is kept as the difference of two states of that run, as plain values: logs of commands, names and
parents of branches, groups, the order of the panels. Undo restores the logs, and the run is then recomputed without the
undone commands, so that no trace of them is left on the map or in the script. If the user begins again at tick 0, the
replaced run is kept as a whole. This module does not use pygame.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from sim import world_commands
from sim.time.branches import BranchState
from sim.time.command_log import LogEntry
from sim.world_commands import Command, merge_commands
from ui.model.current_settings import command_restoring_current_value
from ui.model.panel_keys import PanelKey
from ui.model.panel_texts import RunNames
from ui.model.run import Run, RunState

MAX_MERGE_TICKS = 30
"""Maximum ticks between two changes of the same numeric setting that become one undo entry."""

T = TypeVar("T")


class UndoableChange(Protocol):
    """Change that can be undone and redone, such as a change of the run or of a setting."""

    def apply_change(self, forwards: bool) -> None:
        """Redo the change if `forwards`; otherwise undo it."""


@dataclass(frozen=True)
class UndoEntry:
    """Finished entry of the undo history: its description and how to undo it."""

    description: str
    undoable_change: UndoableChange
    tick: int
    branch_name: str = ""  # name of the branch that was focused, if the run had several branches; else ""

    def __str__(self) -> str:
        branch_text = f", {self.branch_name}" if self.branch_name else ""
        return f"{self.description} (tick {self.tick:,}{branch_text})"


class RunOwner(Protocol):
    """Owner of the open run and of the focus, whose actions the history undoes; Session implements this protocol."""

    @property
    def run(self) -> Run: ...

    @property
    def focused_key(self) -> PanelKey: ...

    def focus_panel(self, key: PanelKey) -> None: ...

    def update_after_change(self) -> None:
        """Update caches and focus after undo or redo has changed the run."""


@dataclass(eq=False)
class _OpenEntry:
    """Undo entry that is still being recorded: the state of the run before it, and its commands so far."""

    state_before: RunState
    focused_panel: PanelKey
    tick: int
    description: str
    is_stroke: bool  # whether all commands of the entry belong to one stroke of the mouse
    # key of the setting that the entry changes step by step (see _numeric_setting_key); None for other entries
    merge_key: object = None
    # Command that would restore the value of the setting `merge_key` before this entry.
    restoring_command: Command | None = None
    # Number of the stroke that the commands belong to; 0 before its first command and for no stroke.
    stroke_number: int = 0
    submitted_commands: list[Command] = field(default_factory=list)  # commands submitted in this entry so far
    # changed values of the window (such as the range to export) that are undone together with the commands
    value_changes: list["ValueChange[Any]"] = field(default_factory=list)
    noted: UndoEntry | None = None  # entry appended to `UndoHistory.done` when this one was closed


class UndoHistory:
    """Undo history of a session: the entries that can be undone, and those that can be redone."""

    def __init__(self, holder: RunOwner) -> None:
        self.done: list[UndoEntry] = []
        self.undone_entries: list[UndoEntry] = []  # undone entries; the last one is redone first
        # Counter of entries begun, undone or redone; a message may be outdated once it has changed.
        self.action_count = 0
        self._run_owner = holder
        self._open_entry: _OpenEntry | None = None
        # the last closed entry, if later steps of the same setting may be merged into it; else None
        self._mergeable_entry: _OpenEntry | None = None

    # --- entries ----------------------------------------------------------------------------------

    @property
    def is_entry_open(self) -> bool:
        """Return whether an action, such as a stroke of the mouse, is in progress."""
        return self._open_entry is not None

    @contextmanager
    def combine_actions(self, description: str = "", *, is_stroke: bool = False) -> Iterator[None]:
        """Combine all actions inside the `with` block into one undo entry; nested blocks join the outer entry."""
        if self._open_entry is not None:
            yield
            return
        self.open_entry(description, is_stroke=is_stroke)
        try:
            yield
        finally:
            self.close_entry()

    def open_entry(self, description: str = "", *, is_stroke: bool = False, merge_key: object = None) -> None:
        """Open an undo entry, which collects all commands until `close_entry` or `cancel` is called.

        Args:
            description: Description; by default it is made from the commands.
            is_stroke: Whether all commands belong to one stroke.
            merge_key: Setting that the commands change step by step; later steps may be merged into this entry.
        """
        self.close_entry()
        self.action_count += 1
        run, focused = self._run_owner.run, self._run_owner.focused_key
        self._open_entry = _OpenEntry(run.run_state(), focused, run.tick, description, is_stroke, merge_key)

    def submit(self, command: Command) -> None:
        """Submit a command to the front branch, in the open entry or in an entry of its own.

        A command that sets a setting to its current value is not recorded. It would have no effect, but at a past tick
        it would remove all later edits.
        """
        restoring_command = self._command_restoring_current_value(command)
        if restoring_command == command:
            return
        if self._open_entry is None:
            merge_key = _numeric_setting_key(self._run_owner.run.focused_branch_number, command)
            if merge_key is None or not self._reopen_matching_entry(merge_key):
                self.open_entry(is_stroke=merge_key is not None, merge_key=merge_key)
                self._require_open_entry().restoring_command = restoring_command
            self._apply_command(command)
            self._end_finished_value_steps(command)
        else:
            self._apply_command(command)

    def _apply_command(self, command: Command) -> None:
        """Apply a command to the run, and append it to the commands of the open entry."""
        entry = self._require_open_entry()
        stroke = self._run_owner.run.apply_command(command, entry.stroke_number)
        entry.stroke_number = stroke if entry.is_stroke else 0
        entry.submitted_commands.append(command)

    def _command_restoring_current_value(self, command: Command) -> Command | None:
        """Return the command that would set the setting changed by `command` to its current value.

        Returns:
            The command, valid for the front branch and all branches linked with it. None if `command` changes no
            setting, or if linked branches have different values or show different ticks.
        """
        run = self._run_owner.run
        timelines = [
            run.branch_tree[number].timeline for number in run.branch_tree.linked_branches(run.focused_branch_number)
        ]
        for timeline in timelines:
            timeline.finish_seek()
        current = [
            command_restoring_current_value(timeline.world, command)
            for timeline in timelines
            if timeline.tick == run.tick
        ]
        is_same = bool(current) and len(current) == len(timelines) and current.count(current[0]) == len(current)
        return current[0] if is_same else None

    def _require_open_entry(self) -> _OpenEntry:
        """Return the open undo entry, which must exist."""
        assert self._open_entry is not None
        return self._open_entry

    def _end_finished_value_steps(self, command: Command) -> None:
        """Close the entry of a stepped setting; cancel it if the setting is back at its old value in the same tick."""
        entry = self._require_open_entry()
        if (
            entry.merge_key is not None
            and command == entry.restoring_command
            and self._run_owner.run.tick == entry.tick
        ):
            self._mergeable_entry = None
            self.cancel()
        else:
            self.close_entry()

    def _reopen_matching_entry(self, merge_key: object) -> bool:
        """Reopen the last entry and return True if it changed this setting at most MAX_MERGE_TICKS before."""
        last_entry = self._mergeable_entry
        is_last = (
            last_entry is not None and bool(self.done) and self.done[-1] is last_entry.noted and not self.undone_entries
        )
        if (
            not is_last
            or last_entry is None
            or last_entry.merge_key != merge_key
            or self._run_owner.run.tick - last_entry.tick > MAX_MERGE_TICKS
        ):
            return False
        self.done.pop()
        self.action_count += 1
        self._open_entry = last_entry
        return True

    def close_entry(self) -> None:
        """Close the open entry, and append it to the undo history unless it changed nothing."""
        entry, self._open_entry = self._open_entry, None
        if entry is None:
            return
        self._mergeable_entry = None
        change = self._run_change_since(entry)
        if not change.run_change.is_empty:
            described = entry.submitted_commands if entry.merge_key is None else entry.submitted_commands[-1:]
            whole_change = CompositeChange((change, *entry.value_changes)) if entry.value_changes else change
            entry.noted = UndoEntry(
                entry.description or self._description_of_commands(described),
                whole_change,
                entry.tick,
                self._name_of_focused_branch(),
            )
            self.append_entry(entry.noted)
            self._mergeable_entry = entry if entry.merge_key is not None else None

    def cancel(self) -> None:
        """Revert the changes of the open entry, and discard the entry."""
        entry, self._open_entry = self._open_entry, None
        if entry is not None:
            CompositeChange((self._run_change_since(entry), *entry.value_changes)).apply_change(forwards=False)
            self._show_changed_run()

    def _run_change_since(self, entry: _OpenEntry) -> "OpenRunChange":
        """Return the changes of the run and of the focus since an entry was opened."""
        owner = self._run_owner
        change = RunChange.change_between_states(entry.state_before, owner.run.run_state())
        return OpenRunChange(owner, change, entry.focused_panel, owner.focused_key)

    def _description_of_commands(self, submitted: Sequence[Command]) -> str:
        """Return the description of an undo entry that consists of these commands."""
        names = RunNames(self._run_owner.run.focused_branch_timeline)
        return ", ".join(command.describe_change(names) for command in merge_commands(submitted))

    def _name_of_focused_branch(self) -> str:
        """Return the name of the front branch if the run has several branches, else ""."""
        tree = self._run_owner.run.branch_tree
        return tree[self._run_owner.run.focused_branch_number].name if len(tree.branches) > 1 else ""

    def set_undoable_value(self, description: str, setter: Callable[[T], None], before: T, after: T) -> None:
        """Set a value of the window as part of the open entry, or as an entry of its own.

        Args:
            description: Description of an entry of its own.
            setter: Function that sets the value.
            before: Value to restore on undo.
            after: Value to set now and on redo.
        """
        setter(after)
        if self._open_entry is not None:
            self._open_entry.value_changes.append(ValueChange(setter, before, after))
        elif before != after:
            self.append_entry(UndoEntry(description, ValueChange(setter, before, after), self._run_owner.run.tick))

    def append_entry(self, done: UndoEntry) -> None:
        self.done.append(done)
        self.undone_entries.clear()

    # --- undo and redo ----------------------------------------------------------------------------

    def undo_last_entry(self) -> UndoEntry | None:
        """Undo the last entry and return it; None if there is nothing to undo."""
        self.close_entry()
        done = self._apply_last_entry(self.done, self.undone_entries, forwards=False)
        self._show_changed_run()
        return done

    def redo_last_entry(self) -> UndoEntry | None:
        self.close_entry()
        done = self._apply_last_entry(self.undone_entries, self.done, forwards=True)
        self._show_changed_run()
        return done

    def _show_changed_run(self) -> None:
        """Replay the changed log, as far as the time of one frame allows, and update caches and focus."""
        self._run_owner.run.continue_seek()
        self._run_owner.update_after_change()

    def _apply_last_entry(self, source: list[UndoEntry], target: list[UndoEntry], forwards: bool) -> UndoEntry | None:
        """Undo or redo the last entry of `source` and move it to `target`; return None if `source` is empty."""
        if not source:
            return None
        self.action_count += 1
        source[-1].undoable_change.apply_change(forwards)
        target.append(source.pop())
        return target[-1]

    def go_to_history_entry(self, count: int) -> None:
        """Undo or redo entries until the first `count` entries of the history are done and the others undone."""
        self.close_entry()
        while len(self.done) > count and self._apply_last_entry(self.done, self.undone_entries, forwards=False):
            pass
        while len(self.done) < count and self._apply_last_entry(self.undone_entries, self.done, forwards=True):
            pass
        self._show_changed_run()


def _numeric_setting_key(branch: int, command: Command) -> object:
    """Return a key of the numeric setting that a command changes; None for other commands.

    Consecutive commands with the same key are merged into one undo entry.
    """
    match command:
        case world_commands.SetParam(agent, name, value) if not isinstance(value, bool | str):
            return branch, agent, name
        case world_commands.SetBudget(_, agent):
            return branch, agent, "budget"
        case world_commands.ApplyToGroup(group, group_command):
            key = _numeric_setting_key(branch, group_command)
            return None if key is None else (group, key)
        case world_commands.SetMaxTrials() | world_commands.SetRandomChanges() | world_commands.SetTickTimeLimit():
            return branch, type(command)
    return None


@dataclass(frozen=True)
class ValueChange(Generic[T]):
    """Undoable change of a value of the window, such as the range to export."""

    set_value: Callable[[T], None]
    value_before: T
    value_after: T

    def apply_change(self, forwards: bool) -> None:
        self.set_value(self.value_after if forwards else self.value_before)


@dataclass(frozen=True)
class CompositeChange:
    """Several changes that form one undo entry; undo reverts them in reverse order."""

    changes: tuple[UndoableChange, ...]

    def apply_change(self, forwards: bool) -> None:
        for change in self.changes if forwards else reversed(self.changes):
            change.apply_change(forwards)


# --- changes of a run -----------------------------------------------------------------------------


@dataclass(frozen=True)
class BranchChange:
    """Undoable change of one branch: its states before and after, and the log entries removed and inserted.

    `before` is None if the change created the branch, `after` if the change deleted it. `log_index` is the index in the
    log at which the entries `removed_entries` were removed and `inserted_entries` inserted; it does not
    count clock entries (see `_is_clock_entry`).
    """

    state_before: BranchState | None
    state_after: BranchState | None
    log_index: int
    removed_entries: tuple[LogEntry, ...]
    inserted_entries: tuple[LogEntry, ...]

    @classmethod
    def change_between_states(cls, before: BranchState | None, after: BranchState | None) -> "BranchChange":
        old, new = before.entries if before else (), after.entries if after else ()
        return cls(_branch_state_without_log(before), _branch_state_without_log(after), *_differing_entries(old, new))

    @property
    def is_empty(self) -> bool:
        before, after = self.state_before, self.state_after
        if before is None or after is None:
            return before is after
        is_same = (before.name, before.parent, before.split_tick) == (after.name, after.parent, after.split_tick)
        return is_same and not self.removed_entries and not self.inserted_entries

    @property
    def branch_number(self) -> int:
        state = self.state_before or self.state_after
        assert state is not None
        return state.number

    def target_state(self, forwards: bool) -> BranchState | None:
        return self.state_after if forwards else self.state_before

    def log_after_change(self, current_log: Sequence[LogEntry], forwards: bool) -> tuple[LogEntry, ...]:
        """Return the log of the branch after this change is redone or undone.

        Clock entries (see `_is_clock_entry`) recorded after the change are kept, except at ticks for which the inserted
        entries contain a clock entry.

        Args:
            current_log: The current log of the branch.
            forwards: Redo the change; False undoes it.
        """
        old, new = (
            (self.removed_entries, self.inserted_entries) if forwards else (self.inserted_entries, self.removed_entries)
        )
        removed_ids, clock_ticks = {entry.id for entry in old}, {entry.tick for entry in new if _is_clock_entry(entry)}
        user_entries, expected = (
            [entry for entry in part if not _is_clock_entry(entry)] for part in (current_log, old)
        )
        is_as_expected = user_entries[self.log_index : self.log_index + len(expected)] == expected
        assert is_as_expected, "the log of the branch was changed outside the undo history"
        index = current_log.index(user_entries[self.log_index - 1]) + 1 if self.log_index else 0
        kept_parts = [
            [
                entry
                for entry in part
                if entry.id not in removed_ids and not (_is_clock_entry(entry) and entry.tick in clock_ticks)
            ]
            for part in (current_log[:index], current_log[index:])
        ]
        return tuple(sorted((*kept_parts[0], *new, *kept_parts[1]), key=attrgetter("tick")))

    def updated_to_logs(
        self, log_before: Sequence[LogEntry], log_after: Sequence[LogEntry], forwards: bool
    ) -> "BranchChange":
        """Return this change, updated after an undo or redo so that the opposite step restores the log from before.

        Unlike this change, the result includes the clock entries that the undo or redo removed.

        Args:
            log_before: The log before the undo or redo.
            log_after: The log after the undo or redo.
            forwards: Whether it was a redo.
        """
        before, after = (log_before, log_after) if forwards else (log_after, log_before)
        index, removed, inserted = _differing_entries(before, after)
        return replace(self, log_index=index, removed_entries=removed, inserted_entries=inserted)


def _is_clock_entry(entry: LogEntry) -> bool:
    """Return whether an entry is a clock entry: the record of how many agents planned in the time slice of a tick."""
    return isinstance(entry.command, world_commands.LimitPlanners) and not entry.is_scripted


def _differing_entries(
    old: Sequence[LogEntry], new: Sequence[LogEntry]
) -> tuple[int, tuple[LogEntry, ...], tuple[LogEntry, ...]]:
    """Return the index at which two logs begin to differ, and the differing entries of the old and of the new log.

    The index does not count clock entries, because later ticks may add clock entries between the other entries.
    """
    prefix = _common_prefix_length(old, new)
    suffix = _common_prefix_length(
        old[: prefix - 1 if prefix else None : -1], new[: prefix - 1 if prefix else None : -1]
    )
    index = sum(not _is_clock_entry(entry) for entry in old[:prefix])
    return index, tuple(old[prefix : len(old) - suffix]), tuple(new[prefix : len(new) - suffix])


def _common_prefix_length(log: Sequence[LogEntry], other: Sequence[LogEntry]) -> int:
    """Return the length of the common prefix of two logs."""
    shorter = min(len(log), len(other))
    if log[:shorter] == other[:shorter]:
        return shorter  # fast path for the usual case, in which one log is a prefix of the other
    return next((i for i in range(shorter) if log[i] is not other[i] and log[i] != other[i]), shorter)


def _branch_state_without_log(state: BranchState | None) -> BranchState | None:
    """Return the state of a branch without the entries of its log."""
    return None if state is None else replace(state, entries=())


@dataclass(frozen=True)
class RunChange:
    """Undoable difference of two states of one run."""

    state_before: RunState  # state before the change, without its branches
    state_after: RunState  # state after the change, without its branches
    branch_changes: tuple[BranchChange, ...]

    @classmethod
    def change_between_states(cls, before: RunState, after: RunState) -> "RunChange":
        old, new = ({state.number: state for state in run.branch_states} for run in (before, after))
        changes = [
            BranchChange.change_between_states(old.get(number), new.get(number)) for number in sorted({*old, *new})
        ]
        differing = tuple(change for change in changes if not change.is_empty)
        return cls(replace(before, branch_states=()), replace(after, branch_states=()), differing)

    @property
    def is_empty(self) -> bool:
        """Return whether the two states have no difference that undo would restore.

        Which branches are on screen is ignored, and so are panels that appeared or disappeared because agents joined
        or left.
        """
        return (
            not self.branch_changes
            and self.state_before.linked_branch_groups == self.state_after.linked_branch_groups
            and not self._is_reordered
        )

    @property
    def _is_reordered(self) -> bool:
        """Return whether the panels that exist in both states have another order."""
        common_keys = set(self.state_before.panel_order) & set(self.state_after.panel_order)
        order_before, order_after = (
            [key for key in state.panel_order if key in common_keys] for state in (self.state_before, self.state_after)
        )
        return order_before != order_after

    def apply_to_run(self, run: Run, forwards: bool) -> "RunChange":
        """Change a run from the state `state_before` to the state `after` (forwards) or back, but keep its tick.

        Returns:
            The change to apply next time, in the opposite direction.
        """
        state_before, state_after = (
            (self.state_before, self.state_after) if forwards else (self.state_after, self.state_before)
        )
        was_shown = tuple(run.shown_branch_numbers)
        opposite_changes = []
        for change in self.branch_changes:
            state, existing = change.target_state(forwards), run.branch_tree.branches.get(change.branch_number)
            old_log = existing.timeline.command_log.entries if existing else ()
            new_log = change.log_after_change(old_log, forwards) if state is not None else ()
            if state is not None:
                run.branch_tree.restore_branch(replace(state, entries=new_log, tick=run.tick))
            opposite_changes.append(change.updated_to_logs(old_log, new_log, forwards))
        deleted = {change.branch_number for change in self.branch_changes if change.target_state(forwards) is None}
        still_shown = [
            n
            for n in (state_after.shown_branch_numbers if was_shown == state_before.shown_branch_numbers else was_shown)
            if n not in deleted
        ]
        shown_again = [
            n
            for n in state_after.shown_branch_numbers
            if n not in state_before.shown_branch_numbers and n not in still_shown
        ]
        shown_branches = [*still_shown, *shown_again] or state_after.shown_branch_numbers
        if tuple(shown_branches) != tuple(run.shown_branch_numbers):
            run.show_branches(shown_branches)
        for number in deleted:
            run.delete_branch(number)
        run.branch_tree.replace_branch_links(state_after.linked_branch_groups)
        run.order_panels(state_after.panel_order)
        return replace(self, branch_changes=tuple(opposite_changes))


@dataclass
class OpenRunChange:
    """Undoable change of the open run, with the keys of the focused panels before and after it."""

    run_owner: RunOwner
    run_change: RunChange
    focus_before: PanelKey
    focus_after: PanelKey

    def apply_change(self, forwards: bool) -> None:
        run = self.run_owner.run
        self.run_change = self.run_change.apply_to_run(run, forwards)
        focused = self.focus_after if forwards else self.focus_before
        if focused.branch in run.branch_tree.branches and focused.branch not in run.shown_branch_numbers:
            run.show_branches([*run.shown_branch_numbers, focused.branch])
        self.run_owner.focus_panel(focused)
