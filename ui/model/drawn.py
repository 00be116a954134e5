"""Map edits by the user, separated from edits by the script, by scripted switches and by random changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.commands import MapEdit, NameSwitch, SetChanges
from sim.grid import Grid
from ui.model.run import Run


def drawn_by_hand(run: Run) -> Grid:
    """Return the original map with all edits by the user in the front branch, at any tick."""
    grid, letters = run.scenario.grid.copy(), letters_by_hand(run)
    grid.put_terrain(list(letters), np.array(list(letters.values()), np.uint8))
    return grid


def letters_by_hand(run: Run) -> dict[int, int]:
    """Return the map letter of each cell that the user edited in the front branch, also before the run was saved.

    An edit of a cell that an agent occupied had no effect, which the commands do not show. Letters are therefore read
    from the current map, except where the script, random changes or commands at later ticks may affect them; those
    letters are computed from the commands.
    """
    bare = _BareWorld(run.scenario.grid.copy(), dict(run.scenario.switch_cells))
    commands = [entry for entry in run.timeline.entries() if entry.is_enabled]
    cells: dict[int, None] = {}
    for entry in commands:
        if isinstance(entry.command, NameSwitch):
            entry.command.apply(bare)
        elif not entry.is_scripted and isinstance(entry.command, MapEdit):
            entry.command.apply(bare)
            cells |= dict.fromkeys(entry.command.drawn(bare.switches))
    is_calm = run.scenario.changes is None and not any(isinstance(e.command, SetChanges) for e in commands)
    is_calm = is_calm and all(entry.tick <= run.tick for entry in commands)
    restless = {cell for entry in commands if entry.is_scripted for cell in run.cells_of(entry.command)}
    drawn, now, first = (grid.terrain.reshape(-1) for grid in (bare.grid, run.world.grid, run.scenario.grid))
    chosen = {cell: int(now[cell] if is_calm and cell not in restless else drawn[cell]) for cell in cells}
    return {cell: letter for cell, letter in chosen.items() if letter != first[cell] or cell in restless}


@dataclass
class _BareWorld:
    """Map without agents, to which the edits of a run are applied again to find the letters of edited cells."""

    grid: Grid
    switches: dict[str, Sequence[int]]

    def edit_cells(self, blocked: Sequence[int], freed: Sequence[int]) -> None:
        self.grid.edit(np.asarray(blocked, np.int32), np.asarray(freed, np.int32))

    def put_terrain(self, cells: Sequence[int], letters: str) -> None:
        self.grid.put_terrain(np.asarray(cells, np.int32), np.frombuffer(letters.encode("ascii"), np.uint8))

    def set_switch(self, name: str, is_blocked: bool) -> None:
        cells = self.switches.get(name, ())
        self.edit_cells(*((cells, ()) if is_blocked else ((), cells)))

    def name_switch(self, name: str, cells: Sequence[int]) -> None:
        self.switches[name] = cells
