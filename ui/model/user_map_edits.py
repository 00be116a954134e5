"""Map edits by the user, separated from edits by the script, by scripted switches and by random changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.grid import Grid
from sim.world_commands import DefineSwitch, MapEdit, SetRandomChanges
from ui.model.run import Run


def map_with_user_edits(run: Run) -> Grid:
    """Return the original map with all edits by the user in the front branch, at any tick."""
    grid, letters = run.scenario.grid.copy(), letters_of_user_edits(run)
    grid.set_terrain(list(letters), np.array(list(letters.values()), np.uint8))
    return grid


def letters_of_user_edits(run: Run) -> dict[int, int]:
    """Return the map letter of each cell that the user edited in the front branch, also before the run was saved.

    An edit of a cell that an agent occupied had no effect, which the commands do not show. Letters are therefore read
    from the current map, except where the script, random changes or commands at later ticks may affect them; those
    letters are computed from the commands.
    """
    edited_world = _WorldWithoutAgents(run.scenario.grid.copy(), dict(run.scenario.switch_cells))
    commands = [entry for entry in run.focused_branch_timeline.command_log.entries if entry.is_enabled]
    cells: dict[int, None] = {}
    for entry in commands:
        if isinstance(entry.command, DefineSwitch):
            entry.command.apply_to_world(edited_world)
        elif not entry.is_scripted and isinstance(entry.command, MapEdit):
            entry.command.apply_to_world(edited_world)
            cells |= dict.fromkeys(entry.command.edited_cells(edited_world.switch_cells))
    is_unchanged_by_run = run.scenario.changes is None and not any(
        isinstance(e.command, SetRandomChanges) for e in commands
    )
    is_unchanged_by_run = is_unchanged_by_run and all(entry.tick <= run.tick for entry in commands)
    scripted_cells = {
        cell for entry in commands if entry.is_scripted for cell in run.cells_edited_by_command(entry.command)
    }
    edited, current, saved = (
        grid.terrain.reshape(-1) for grid in (edited_world.grid, run.world.grid, run.scenario.grid)
    )
    chosen = {
        cell: int(current[cell] if is_unchanged_by_run and cell not in scripted_cells else edited[cell])
        for cell in cells
    }
    return {cell: letter for cell, letter in chosen.items() if letter != saved[cell] or cell in scripted_cells}


@dataclass
class _WorldWithoutAgents:
    """Map without agents, to which the edits of a run are applied again to find the letters of edited cells."""

    grid: Grid
    switch_cells: dict[str, Sequence[int]]

    def block_and_free(self, blocked: Sequence[int], freed: Sequence[int]) -> None:
        self.grid.block_and_free(np.asarray(blocked, np.int32), np.asarray(freed, np.int32))

    def set_terrain(self, cells: Sequence[int], letters: str) -> None:
        self.grid.set_terrain(np.asarray(cells, np.int32), np.frombuffer(letters.encode("ascii"), np.uint8))

    def set_switch_blocked(self, name: str, is_blocked: bool) -> None:
        cells = self.switch_cells.get(name, ())
        self.block_and_free(*((cells, ()) if is_blocked else ((), cells)))

    def define_switch(self, name: str, cells: Sequence[int]) -> None:
        self.switch_cells[name] = cells
