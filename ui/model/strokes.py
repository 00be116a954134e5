"""Edits of the map by whole strokes, with undo and redo without limit. No pygame here."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from sim import commands
from sim.commands import Command
from sim.world import World


@dataclass
class Stroke:
    """One undoable edit: what the cells were and what they became."""

    before: dict[int, int] = field(default_factory=dict)  # cell -> terrain character
    after: dict[int, int] = field(default_factory=dict)
    name: str = "edit"
    branch: int = 0
    goals: tuple[int, int] | None = None  # where the goal was and where it went, if that is what was done
    turns: tuple[Callable[[], None], Callable[[], None]] | None = None  # how to undo and redo a change of the script
    number: int = field(default_factory=count(1).__next__)


class Strokes(ABC):
    """The part of a session that edits. The session says what happens to its commands."""

    branch: int

    def forget_strokes(self) -> None:
        self.undone: list[Stroke] = []
        self.strokes: list[Stroke] = []
        self.current: Stroke | None = None

    @property
    @abstractmethod
    def world(self) -> World:
        """The world that is edited."""

    @abstractmethod
    def do(self, command: Command) -> None:
        """Apply a command now."""

    @abstractmethod
    def changed(self) -> None:
        """Something happened to the run."""

    @abstractmethod
    def _goes_to_branch_of(self, strokes: list[Stroke]) -> bool:
        """Go to the branch in which the last of these strokes was made; False when there is none."""

    def begin_stroke(self, name: str = "edit") -> None:
        self.current = Stroke(name=name, branch=self.branch)

    def paint(self, cells: Iterable[int], *, block: bool) -> None:
        """Block or free cells as part of the stroke that is going on, or as a stroke of their own."""
        wanted = [c for c in dict.fromkeys(cells) if self.world.grid.is_free(c) == block]
        if not wanted:
            return
        chosen = tuple(wanted)
        command = commands.EditCells(blocked=chosen) if block else commands.EditCells(freed=chosen)
        is_own = self.current is None
        if is_own:
            self.begin_stroke()
        self._noted(command, chosen)
        if is_own:
            self.end_stroke()

    def _noted(self, command: Command, cells: tuple[int, ...]) -> None:
        """Do an edit and remember in the current stroke what it changed."""
        assert self.current is not None
        flat = self.world.grid.terrain.reshape(-1)
        places = np.asarray(cells, np.int32)
        before = flat[places].copy()
        self.do(command)
        after = self.world.grid.terrain.reshape(-1)[places]
        for cell, old, new in zip(cells, before.tolist(), after.tolist(), strict=True):
            if old != new:
                self.current.before.setdefault(cell, old)
                self.current.after[cell] = new

    def end_stroke(self) -> None:
        if self.current is not None and self.current.before:
            self.strokes.append(self.current)
            self.undone.clear()
        self.current = None

    def cancel_stroke(self) -> None:
        """Take back the stroke that is going on."""
        stroke, self.current = self.current, None
        if stroke and stroke.before:
            self._put(stroke.before)

    def undo(self) -> bool:
        if not self._goes_to_branch_of(self.strokes):
            return False
        stroke = self.strokes.pop()
        self._turn(stroke, 0, stroke.before)
        self.undone.append(stroke)
        return True

    def redo(self) -> bool:
        if not self._goes_to_branch_of(self.undone):
            return False
        stroke = self.undone.pop()
        self._turn(stroke, 1, stroke.after)
        self.strokes.append(stroke)
        return True

    def _turn(self, stroke: Stroke, way: int, letters: dict[int, int]) -> None:
        """Take a stroke back (way 0), or do it again (way 1)."""
        if stroke.turns:
            stroke.turns[way]()
            self.changed()
        else:
            self._put(letters, stroke.goals and stroke.goals[way])

    def _put(self, letters: dict[int, int], goal: int | None = None) -> None:
        if letters:
            self.do(commands.SetTerrain(tuple(letters), bytes(letters.values()).decode("ascii")))
        if goal is not None:
            self.do(commands.MoveGoal(goal))

    def move_goal(self, cell: int) -> None:
        """Another goal; one stroke."""
        before = self.world.goal
        self.do(commands.MoveGoal(cell))
        if self.world.goal != before:
            self.strokes.append(Stroke(name="goal", branch=self.branch, goals=(before, self.world.goal)))
            self.undone.clear()

    def flip_switch(self, name: str) -> None:
        """Block a switch that is open, free one that is blocked; one stroke."""
        is_blocked = self.world.switch_states()[name]
        self.begin_stroke(name)
        self._noted(commands.SetSwitch(name, not is_blocked), tuple(self.world.switches[name]))
        self.end_stroke()

    def take_edits_back(self) -> None:
        """The map as it was opened; one stroke, so it can be undone."""
        grid = self.world.grid
        changed = np.flatnonzero(grid.terrain.reshape(-1) != grid.original.reshape(-1))
        if not changed.size:
            return
        letters = bytes(grid.original.reshape(-1)[changed].tolist()).decode("ascii")
        cells = tuple(int(c) for c in changed)
        self.begin_stroke("all edits")
        self._noted(commands.SetTerrain(cells, letters), cells)
        self.end_stroke()
