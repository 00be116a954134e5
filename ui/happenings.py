"""What happened in a run, in words for captions and as cells for the marks of edits. No pygame here.

Everything is read off the commands of the run and the agents' trails, so it is the same in every replay.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim import commands
from sim.commands import Command
from sim.kernels import log
from ui.session import EDIT_SHOWN_TICKS

if TYPE_CHECKING:
    from ui.replay import ReplaySession

_MOST_NAMES = 3  # more agents than that are counted, not named


@dataclass(frozen=True)
class Happening:
    """Something worth a caption, at the tick at which it is first seen."""

    tick: int
    text: str
    is_edit: bool

    def __str__(self) -> str:
        return f"tick {self.tick:,}: {self.text}"


class Happenings:
    def __init__(self, session: "ReplaySession") -> None:
        self.session = session
        self._edited: tuple[int, int, dict[int, tuple[int, bool]]] = (-1, 0, {})  # tick, commands, result

    def between(self, after: int, until: int) -> list[Happening]:
        """What happened in the ticks after `after` up to `until`, edits before restarts."""
        found = [*self._edits(after, until), *self._restarts(after, until)]
        return sorted(found, key=lambda happening: happening.tick)

    # --- commands ---------------------------------------------------------------------------------

    def _commands(self, first: int, last: int) -> tuple[tuple[int, Command], ...]:
        script = self.session.setup.script
        begin = bisect_left(script, first, key=lambda entry: entry[0])
        return script[begin : bisect_right(script, last, key=lambda entry: entry[0])]

    def _edits(self, after: int, until: int) -> Iterable[Happening]:
        by_tick: dict[int, list[Command]] = {}
        for tick, command in self._commands(after + 1, until):
            by_tick.setdefault(tick, []).append(command)
        for tick, together in by_tick.items():
            for text in self._texts(together):
                yield Happening(tick, text, True)

    def _texts(self, together: list[Command]) -> list[str]:
        """The commands of one tick in words; the many pieces of a stroke count as one."""
        blocked = {cell for c in together if isinstance(c, commands.EditCells) for cell in c.blocked}
        freed = {cell for c in together if isinstance(c, commands.EditCells) for cell in c.freed}
        put = {cell for c in together if isinstance(c, commands.SetTerrain) for cell in c.cells}
        counts = ((blocked, "blocked"), (freed, "freed"), (put, "changed"))
        texts = [f"{_cells(len(cells))} {word}" for cells, word in counts if cells]
        cell_edits = (commands.EditCells, commands.SetTerrain)
        return texts + [self._text(command) for command in together if not isinstance(command, cell_edits)]

    def _text(self, command: Command) -> str:
        match command:
            case commands.SetSwitch(name, is_blocked):
                return f"{name} {'blocked' if is_blocked else 'open'}"
            case commands.MoveGoal(cell):
                x, y = self.session.world.grid.xy(cell)
                return f"goal moved to ({x}, {y})"
            case commands.SetBudget(budget, None):
                return f"budget {budget:,} a tick"
            case commands.SetBudget(budget, agent):
                return (
                    f"{self._label(agent)}: budget {budget:,} a tick"
                    if budget
                    else f"{self._label(agent)}: budget as all"
                )
            case commands.SetParam(agent, name, value):
                shown = ("on" if value else "off") if isinstance(value, bool) else f"{value}"
                return f"{self._label(agent)}: {name.replace('_', ' ')} {shown}"
            case commands.AddAgent(config):
                return f"{config.label or self.session.world.specs[config.kind].name} joins"
            case commands.RemoveAgent(agent):
                return f"{self._label(agent)} leaves"
            case commands.SetChanges(every, rate):
                return f"random changes: {rate:g} % every {every} ticks" if rate > 0 else "random changes end"
            case _:
                return type(command).__name__

    def _label(self, agent: int) -> str:
        walker = self.session.world.walker(agent)
        return walker.label if walker else f"agent {agent}"

    # --- agents -----------------------------------------------------------------------------------

    def _restarts(self, after: int, until: int) -> Iterable[Happening]:
        """Who began a new search, tick by tick."""
        by_tick: dict[int, list[str]] = {}
        for walker in self.session.world.walkers:
            trail = self.session.trails[walker.id]
            first = max(0, after + 1 - trail.first_tick)
            marks = trail.marks[first : max(first, until + 1 - trail.first_tick)]
            for place in np.flatnonzero(marks & log.RESTARTED).tolist():
                by_tick.setdefault(trail.first_tick + first + place, []).append(walker.label)
        for tick, labels in by_tick.items():
            who = ", ".join(labels) if len(labels) <= _MOST_NAMES else f"{len(labels)} agents"
            yield Happening(tick, f"{who} {'restarts' if len(labels) == 1 else 'restart'}", False)

    # --- cells ------------------------------------------------------------------------------------

    def edited_cells(self, now: int) -> dict[int, tuple[int, bool]]:
        """The cells edited lately: when, and whether they were blocked. An edit that was refused leaves no mark."""
        length = len(self.session.setup.script)
        if self._edited[:2] != (now, length):  # asked for by every panel of a picture
            self._edited = (now, length, self._find_edited(now))
        return self._edited[2]

    def _find_edited(self, now: int) -> dict[int, tuple[int, bool]]:
        recent = self._commands(max(0, now - EDIT_SHOWN_TICKS), now)
        if not recent:
            return {}
        free = self.session.world.grid.free
        edited: dict[int, tuple[int, bool]] = {}
        for tick, command in recent:
            for cell, is_blocked in self._cells_of(command, free):
                edited[cell] = (tick, is_blocked)
        return {cell: (tick, is_blocked) for cell, (tick, is_blocked) in edited.items() if free[cell] != is_blocked}

    def _cells_of(self, command: Command, free: np.ndarray) -> Iterable[tuple[int, bool]]:
        match command:
            case commands.EditCells(blocked, freed):
                yield from ((cell, True) for cell in blocked)
                yield from ((cell, False) for cell in freed)
            case commands.SetSwitch(name, is_blocked):
                yield from ((cell, is_blocked) for cell in self.session.world.switches.get(name, ()))
            case commands.SetTerrain(cells, _):
                yield from ((cell, not free[cell]) for cell in cells)


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"
