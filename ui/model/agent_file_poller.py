"""User-defined agents in the window: when their file is saved again, the run is repeated in a new branch.

The files are polled; a file that was saved without a change of its text has no effect. This module does not use pygame.
"""

import time
from contextlib import suppress

from agents import own_files
from agents.guarded_agent import VERSION_PARAM_NAME
from agents.registry import AGENT_SPECS_BY_KEY
from sim.time.branches import Branch
from sim.world_commands import AgentConfig, SetParam
from ui.model import agent_edits, branch_actions
from ui.model.session import Session

_FILE_CHECK_INTERVAL_S = 0.4  # seconds between two checks of the files of user-defined agents


class AgentFilePoller:
    """Poller that checks whether the files of user-defined agents were saved again."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._last_check_s = 0.0  # time of the last check of the files, in seconds (time.monotonic)
        # key of an agent -> modification time in ns and size in bytes of its file at the last check
        self._file_stats: dict[str, tuple[int, int]] = {}

    def check_agent_files(self) -> None:
        """Repeat the run with the new version of an agent if its file has changed; called once a frame.

        Raises:
            ConfigError: The new version is not valid; the old version stays in use.
        """
        now = time.monotonic()
        if now - self._last_check_s < _FILE_CHECK_INTERVAL_S:
            return
        self._last_check_s = now
        for key in own_files.LOADED_FILES:
            if self._has_file_changed(key):
                self._replace_agents_of_file(key)

    def _has_file_changed(self, key: str) -> bool:
        """Return whether the file of an agent has changed since the last check."""
        with suppress(OSError):  # the file may be missing while an editor writes it
            file_stat = own_files.LOADED_FILES[key].path.stat()
            before, self._file_stats[key] = self._file_stats.get(key), (file_stat.st_mtime_ns, file_stat.st_size)
            return before is not None and before != self._file_stats[key]
        return False

    def _replace_agents_of_file(self, key: str) -> None:
        """Read the file of an agent again, and repeat the run in a new branch if its version has changed."""
        spec = AGENT_SPECS_BY_KEY[key]
        before = spec.param(VERSION_PARAM_NAME)
        path = own_files.LOADED_FILES[key].path
        spec = own_files.reload_agent_file(key)
        own_files.store_file_trust(path)  # the user named this file, so saving it counts as consent to run it
        version_param = spec.param(VERSION_PARAM_NAME)
        assert before is not None and version_param is not None
        if version_param.default != before.default:
            name = f"{path.name} {version_param.default}"
            branch = repeat_run_with_version(self.session, key, str(version_param.default), name)
            if branch is not None:
                self.session.user_messages.messages_until_next_edit.append(
                    f"{path.name} was saved: the run is repeated in a new branch, next to the old one"
                )

    def load_and_add_agent(self, path: str) -> None:
        """Load an agent file that the user dropped on the window or opened, and put its agent on the start cell."""
        spec = own_files.load_agent_file(path)
        self._has_file_changed(spec.key)
        if agent_edits.add_agent(self.session, AgentConfig(spec.key)):
            self.session.user_messages.messages_until_next_edit.append(
                f"{spec.name} was added at the start. Save its file to repeat the run with the new version."
            )

    def add_named_agents(self) -> None:
        """Add the user-defined agents named on the command line, except those that the run has already."""
        existing_kinds = {walker.spec.key for walker in self.session.run.world.walkers}
        for key in own_files.LOADED_FILES:
            self._has_file_changed(key)
            if key not in existing_kinds:
                agent_edits.add_agent(self.session, AgentConfig(key))


def repeat_run_with_version(session: Session, key: str, version: str, name: str) -> Branch | None:
    """Repeat the focused run with another version of an agent, in a new branch from tick 0 to the current tick.

    Returns:
        The new branch; None if no agent of the run is of this kind with another version.
    """
    before, agent = session.run.branch_tree[session.run.focused_branch_number], session.focused_key.agent
    walkers = [
        w for w in before.timeline.world.walkers if w.spec.key == key and w.params[VERSION_PARAM_NAME] != version
    ]
    if not walkers:
        return None

    def make() -> Branch:
        branch = session.run.branch_tree.create_branch(before.number, 0, name)
        for walker in walkers:
            branch.timeline.insert_command(walker.added_tick, SetParam(walker.id, VERSION_PARAM_NAME, version))
        branch.timeline.finish_seek()
        return branch

    branch = branch_actions.create_and_show_branch(session, f"run repeated with {name}", make, agent)
    session.run.show_branches([before.number, branch.number])
    return branch
