"""A run as plain data, and the same run again: what a recording needs to draw it somewhere else.

A run is what it began with and its commands by tick; everything else follows. So a second process, or a command
without a window, makes the same pictures as the window, and the window need not wait for it. No pygame here.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim.commands import Command
from sim.grid import Grid
from ui.happenings import Happenings
from ui.session import Session, Setup

NOBODY = -1
"""The focused agent of a replay: nobody looks at it with a keyboard."""

TimedCommands = tuple[tuple[int, Command], ...]


@dataclass(frozen=True, eq=False)
class Replay:
    """What a run begins with; its commands, scripted ones and those given by hand, are its script."""

    setup: Setup
    name: str = ""  # of the branch, where several are shown side by side

    @property
    def commands(self) -> TimedCommands:
        return self.setup.script

    def with_commands(self, commands: TimedCommands) -> "Replay":
        return replace(self, setup=replace(self.setup, script=commands))

    def begin(self) -> "ReplaySession":
        return ReplaySession(self)


def replay_of(session: Session, name: str = "") -> Replay:
    """The run of a session, from tick 0 with all of its commands."""
    return Replay(replace(beginning_of(session), script=commands_of(session)), name)


def beginning_of(session: Session) -> Setup:
    """What the run of a session has begun with: the map and the agents as they were at tick 0."""
    setup = session.setup
    grid = Grid(session.first_terrain.copy(), setup.grid.diagonal, setup.grid.name)
    grid.original = setup.grid.original.copy()
    return replace(setup, grid=grid, agents=tuple(session.first_configs))


def commands_of(session: Session) -> TimedCommands:
    """All commands of a session by tick; those of one tick in the order in which they were applied."""
    timed = [*session.setup.script, *session.log]
    return tuple(sorted(timed, key=lambda entry: entry[0]))  # the sort is stable


class ReplaySession(Session):
    """A session that goes through a replay. Nobody edits it, nothing in it has the focus."""

    def __init__(self, replay: Replay) -> None:
        self.front = 0  # the panel that a heat map A - B takes for A
        super().__init__(replay.setup)
        self.happenings = Happenings(self)

    @property
    def focused_id(self) -> int:
        return NOBODY

    @focused_id.setter
    def focused_id(self, agent: int) -> None:
        """A session keeps the focus on an agent that is there; here it stays with nobody."""

    def panel_of(self, agent_id: int) -> int:
        return self.front if agent_id == NOBODY else super().panel_of(agent_id)

    def advance_to(self, tick: int) -> int:
        """Let time pass up to a tick, whose commands are then applied; returns the tick that was reached."""
        while self.tick < tick and self.advance(tick - self.tick):
            pass
        self.world.apply_now()
        self._snapshot = None
        self.after_commands()
        self.messages.clear()
        return self.tick

    def add_commands(self, commands: TimedCommands) -> None:
        """Further commands, none of them earlier than now."""
        for tick, command in commands:
            self.world.submit(command, max(tick, self.tick))
        self.setup = replace(self.setup, script=(*self.setup.script, *commands))

    @property
    def has_unsaved_edits(self) -> bool:
        return False

    def shown_edits(self, panel: int = 0) -> dict[int, tuple[int, bool]]:
        """The cells that commands have edited lately."""
        return self.happenings.edited_cells(self.tick)


def same_grid(a: Any, b: Any) -> bool:
    """Whether two maps have the same terrain, now and at first."""
    return a is b or (np.array_equal(a.terrain, b.terrain) and np.array_equal(a.original, b.original))
