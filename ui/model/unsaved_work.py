"""Detection of unsaved work, by comparison of all commands with those when the run was last saved.

This module does not use pygame.
"""

from sim import world_commands
from sim.time.command_log import LogEntry
from sim.time.timeline import Timeline
from sim.world_commands import Command, MapEdit
from ui.model.run import Run
from ui.model.start_over import user_commands

_AGENT_COMMANDS = (world_commands.AddAgent, world_commands.RemoveAgent, world_commands.RenameAgent)
COMMANDS_WORTH_SAVING = (MapEdit, world_commands.MoveGoal, world_commands.DefineSwitch, *_AGENT_COMMANDS)

RunContent = tuple[tuple[int, str, tuple[LogEntry, ...]], ...]
"""Number, name and commands of each branch."""


class UnsavedWork:
    """Comparison of a run with its state when it was last saved; a new run counts as saved.

    `saved_content` is the content of the run when it was last saved; None if the run counts as never saved.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.saved_content: RunContent | None = self._current_run_content()

    def _current_run_content(self) -> RunContent:
        return tuple(
            (b.number, b.name, b.timeline.command_log.entries) for b in self._run.branch_tree.branches.values()
        )

    def mark_saved(self) -> None:
        self.saved_content = self._current_run_content()

    def mark_unsaved(self) -> None:
        """Mark the run as never saved, for a run restored after a crash."""
        self.saved_content = None

    def mark_map_saved(self) -> None:
        """Mark the run as saved after its map was saved, if the user changed nothing but the map."""
        if self.has_only_map_edits:
            self.mark_saved()

    @property
    def has_only_map_edits(self) -> bool:
        """Return whether the user has changed nothing but the map."""
        done = user_commands(self._run.focused_branch_timeline)
        return len(self._run.branch_tree.branches) == 1 and all(isinstance(command, MapEdit) for _, command in done)

    @property
    def has_unsaved_changes(self) -> bool:
        """Return whether the run differs from its state when it was opened or last saved."""
        return self.saved_content != self._current_run_content()

    @property
    def has_work_worth_saving(self) -> bool:
        """Return whether to ask the user before the run is closed; changes of settings alone do not justify that."""
        if not self.has_unsaved_changes:
            return False
        branches = self._run.branch_tree.branches.values()
        done = [command for branch in branches for command in _user_commands(branch.timeline)]
        return self.saved_content is None or len(branches) > 1 or any(map(_is_worth_saving, done))


def _is_worth_saving(command: Command) -> bool:
    inner_command = command.command if isinstance(command, world_commands.ApplyToGroup) else command
    return isinstance(inner_command, COMMANDS_WORTH_SAVING)


def _user_commands(timeline: Timeline) -> list[Command]:
    """Return the commands of the user, including disabled ones."""
    return [entry.command for entry in timeline.command_log.entries if not entry.is_scripted]
