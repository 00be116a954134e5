"""User-defined agents in the window: when their file is saved again, the run is repeated in a new branch.

The files are polled; a file that was saved without a change of its text has no effect. This module does not use pygame.
"""

import time
from contextlib import suppress

from agents import own_files
from agents.guarded import VERSION
from agents.registry import BY_KEY
from sim.commands import AgentConfig, SetParam
from sim.time.branches import Branch
from ui.model import agent_edits, branching
from ui.model.session import Session

_FILE_CHECK_INTERVAL_S = 0.4  # seconds between two checks of the files of user-defined agents


class OwnAgents:
    """Poller that checks whether the files of user-defined agents were saved again."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._looked_s = 0.0  # time of the last check of the files, in seconds (time.monotonic)
        # key of an agent -> modification time in ns and size in bytes of its file at the last check
        self._seen: dict[str, tuple[int, int]] = {}

    def look(self) -> None:
        """Repeat the run with the new version of an agent if its file has changed; called once a frame.

        Raises:
            ConfigError: The new version is not valid; the old version stays in use.
        """
        now = time.monotonic()
        if now - self._looked_s < _FILE_CHECK_INTERVAL_S:
            return
        self._looked_s = now
        for key in own_files.LOADED:
            if self._is_changed(key):
                self._replace_agents_of_file(key)

    def _is_changed(self, key: str) -> bool:
        """Return whether the file of an agent has changed since the last check."""
        with suppress(OSError):  # the file may be missing while an editor writes it
            about = own_files.LOADED[key].path.stat()
            before, self._seen[key] = self._seen.get(key), (about.st_mtime_ns, about.st_size)
            return before is not None and before != self._seen[key]
        return False

    def _replace_agents_of_file(self, key: str) -> None:
        """Read the file of an agent again, and repeat the run in a new branch if its version has changed."""
        spec = BY_KEY[key]
        before = spec.param(VERSION)
        path = own_files.LOADED[key].path
        spec = own_files.reload(key)
        own_files.trust(path)  # the user named this file, so saving it counts as consent to run it
        which = spec.param(VERSION)
        assert before is not None and which is not None
        if which.default != before.default:
            name = f"{path.name} {which.default}"
            branch = run_anew(self.session, key, str(which.default), name)
            if branch is not None:
                self.session.told.messages.append(
                    f"{path.name} was saved: the run is repeated in a new branch, next to the old one"
                )

    def take(self, path: str) -> None:
        """Load an agent file that the user dropped on the window or opened, and put its agent on the start cell."""
        spec = own_files.load(path)
        self._is_changed(spec.key)
        if agent_edits.add(self.session, AgentConfig(spec.key)):
            self.session.told.messages.append(
                f"{spec.name} was added at the start. Save its file to repeat the run with the new version."
            )

    def put_named(self) -> None:
        """Add the user-defined agents named on the command line, except those that the run has already."""
        there = {walker.spec.key for walker in self.session.run.world.walkers}
        for key in own_files.LOADED:
            self._is_changed(key)
            if key not in there:
                agent_edits.add(self.session, AgentConfig(key))


def run_anew(session: Session, key: str, version: str, name: str) -> Branch | None:
    """Repeat the focused run with another version of an agent, in a new branch from tick 0 to the current tick.

    Returns:
        The new branch; None if no agent of the run is of this kind with another version.
    """
    before, agent = session.run.tree[session.run.front], session.focused_key.agent
    walkers = [w for w in before.timeline.world.walkers if w.spec.key == key and w.params[VERSION] != version]
    if not walkers:
        return None

    def make() -> Branch:
        branch = session.run.tree.branch(before.number, 0, name)
        for walker in walkers:
            branch.timeline.insert(walker.joined, SetParam(walker.id, VERSION, version))
        branch.timeline.settle()
        return branch

    branch = branching.add(session, f"run repeated with {name}", make, agent)
    session.run.show([before.number, branch.number])
    return branch
