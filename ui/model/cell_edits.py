"""Actions of the user on the map of the focused branch: blocking and freeing cells, moving the goal.

This module does not use pygame.
"""

from collections.abc import Iterable

import numpy as np

from sim import world_commands
from ui.model.session import Session


def block_or_free_cells(session: Session, cells: Iterable[int], *, block: bool) -> None:
    """Block or free cells. During a drag, they belong to its undo entry; otherwise they are an entry of their own."""
    world = session.run.world
    changed_cells = tuple(c for c in dict.fromkeys(cells) if world.grid.is_free(c) == block)
    label_by_cell = {walker.position: walker.label for walker in world.walkers}
    # cells under agents cannot be blocked
    if block and changed_cells and all(cell in label_by_cell for cell in changed_cells):
        session.user_messages.messages_until_next_edit.append(
            f"{world.grid.xy(changed_cells[0])} stays free: {label_by_cell[changed_cells[0]]} is on it"
        )
    elif changed_cells:
        session.submit_command(
            world_commands.EditCells(blocked_cells=changed_cells)
            if block
            else world_commands.EditCells(freed_cells=changed_cells)
        )


def move_shared_goal(session: Session, cell: int) -> None:
    world = session.run.world
    if not world.grid.is_free(cell):
        session.user_messages.messages_until_next_edit.append(
            f"The goal cannot be at {world.grid.xy(cell)}: that cell is blocked"
        )
    elif cell != world.goal:
        session.submit_command(world_commands.MoveGoal(cell))


def remove_map_edits(session: Session) -> bool:
    """Restore the map to what it was when it was opened; return False if it had no edits."""
    grid = session.run.world.grid
    changed = np.flatnonzero(grid.terrain.reshape(-1) != grid.original_terrain.reshape(-1))
    if changed.size:
        letters = bytes(grid.original_terrain.reshape(-1)[changed].tolist()).decode("ascii")
        with session.combine_actions("all map edits removed"):
            session.submit_command(world_commands.SetTerrain(tuple(changed.tolist()), letters))
    return bool(changed.size)
