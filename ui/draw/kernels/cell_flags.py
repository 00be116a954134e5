"""Cell flags: one byte per cell with the flags that determine how the cell is painted.

A pixel that covers several cells has the flags of all of them (bitwise or), so that it still shows a single wall. No
flag of a search is ever set on a blocked cell, so a wall always looks like a wall. A wall without a passable cell
around it has no flags at all. Such walls are called rock; they are invisible in a pixel that covers other cells too.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.learned import learned_h_excess
from sim.kernels.search import CLOSED as IS_CLOSED

FREE, SWAMP, WATER, TREES, WALL = 1, 2, 4, 8, 16  # flags for the terrain of a cell
CLOSED, OPEN, DETOUR = 32, 64, 128  # flags of the search; DETOUR: closed in the shortcut search of TBA*
TERRAIN = FREE | SWAMP | WATER | TREES | WALL
ROCK = 0  # flags of a wall without a passable cell around it
BLOCKED = TREES | WALL
PASSABLE = FREE | SWAMP | WATER
KNOWN = CLOSED | OPEN
NOT_KNOWN, NOT_DETOUR = 255 & ~KNOWN, 255 & ~DETOUR  # bit masks that clear the flags KNOWN and DETOUR

MIN_G = 0.5  # lower bound of g in the heat map of g, so that the root of the search, with g = 0, has a heat band

BANDS = 8
"""Number of heat bands: a band is a range of values that is painted in one colour. Band 0 means no heat, and shows the
terrain."""


def _create_flag_table() -> np.ndarray:
    """Return the table from character codes of map files to terrain flags."""
    table = np.full(256, WALL, np.uint8)
    table[ord("T")] = TREES
    table[ord("S")] = SWAMP
    table[ord("W")] = WATER
    for char in ".GB":
        table[ord(char)] = FREE
    return table


FLAGS_OF_LETTER = _create_flag_table()
"""uint8[256]: code of a map character -> terrain flags of a cell with this character."""


@kernel
def terrain_flags_of_cell(letters, width, s):
    """Return the terrain flags of cell s; ROCK for a wall without a passable cell around it."""
    cell_flags = np.int64(FLAGS_OF_LETTER[letters[s]])
    if cell_flags != WALL:
        return cell_flags
    x, y = s % width, s // width
    for near_y in range(max(0, y - 1), min(letters.size // width, y + 2)):
        for near_x in range(max(0, x - 1), min(width, x + 2)):
            if FLAGS_OF_LETTER[letters[near_y * width + near_x]] & PASSABLE:
                return cell_flags
    return ROCK


@kernel
def set_terrain_flags(letters, width, flags):
    """Compute the terrain flags of all cells from their map characters. Writes: flags."""
    for s in range(letters.size):
        flags[s] = terrain_flags_of_cell(letters, width, s)


@kernel
def update_terrain_flags(letters, width, cells, flags, changed):
    """Update the terrain flags around cells whose map character changed, and list the cells whose flags changed.

    `changed` must have room for nine cells for each of `cells`. Returns the number of cells with changed flags; no cell
    is listed twice. Writes: flags, changed.
    """
    count = 0
    for i in range(cells.size):
        x, y = cells[i] % width, cells[i] // width
        for near_y in range(max(0, y - 1), min(letters.size // width, y + 2)):
            for near_x in range(max(0, x - 1), min(width, x + 2)):
                s = near_y * width + near_x
                cell_flags = terrain_flags_of_cell(letters, width, s)
                if cell_flags != flags[s]:
                    flags[s] = cell_flags
                    changed[count] = s
                    count += 1
    return count


@kernel
def update_search_flags(flags, nodes, number, s):
    """Set the flags CLOSED and OPEN of cell s from its node in the current search. Writes: flags[s]."""
    cell_flags = np.int64(flags[s]) & ~KNOWN
    if cell_flags & PASSABLE and nodes.size:
        node = nodes[s]
        if node.search == number:
            cell_flags |= CLOSED if node.place == IS_CLOSED else OPEN
    flags[s] = cell_flags


@kernel
def compute_flags_of_all_cells(flags, terrain, nodes, number):
    """Compute the flags of all cells from their terrain flags and the current search. Writes: flags."""
    for s in range(flags.size):
        cell_flags = np.int64(terrain[s])
        if nodes[s].search == number and cell_flags & PASSABLE:
            cell_flags |= CLOSED if nodes[s].place == IS_CLOSED else OPEN
        flags[s] = cell_flags


@kernel
def recompute_flags_of_cells(flags, terrain, nodes, number, cells):
    """Compute the flags of cells whose terrain changed; their flag DETOUR is cleared. Writes: flags."""
    for i in range(cells.size):
        s = np.int64(cells[i])
        flags[s] = terrain[s]
        update_search_flags(flags, nodes, number, s)


@kernel
def update_flags_around_cells(flags, nodes, number, width, cells):
    """Update the flags of newly expanded cells and of their neighbours. Writes: flags.

    An expansion changes the search only at the expanded cell and its neighbours. The flags are computed from the
    current nodes of the search, so several expansions may be processed in one call and in any order.
    """
    height = flags.size // width
    for i in range(cells.size):
        x = np.int64(cells[i]) % width
        y = np.int64(cells[i]) // width
        for near_y in range(max(0, y - 1), min(height, y + 2)):
            for near_x in range(max(0, x - 1), min(width, x + 2)):
                update_search_flags(flags, nodes, number, near_y * width + near_x)


@kernel
def set_detour_flags(flags, nodes, number, cells):
    """Set the flag DETOUR of every listed cell that is closed in the shortcut search. Writes: flags."""
    for i in range(cells.size):
        s = cells[i]
        node = nodes[s]
        if node.search == number and node.place == IS_CLOSED and flags[s] & PASSABLE:
            flags[s] |= DETOUR


@kernel
def find_detour_cells(flags, nodes, number, detour_cells):
    """Set the flag DETOUR of all cells that are closed in the shortcut search, and list these cells in `detour_cells`.

    Used if the search has no complete list of expanded cells. Returns the number of listed cells.
    Writes: flags, detour_cells.
    """
    count = 0
    for s in range(flags.size):
        node = nodes[s]
        if node.search == number and node.place == IS_CLOSED and flags[s] & PASSABLE:
            flags[s] |= DETOUR
            detour_cells[count] = s
            count += 1
    return count


@kernel
def clear_detour_flags(flags, cells):
    """Clear the flag DETOUR of the listed cells. Writes: flags."""
    for i in range(cells.size):
        flags[cells[i]] &= NOT_DETOUR


@kernel
def undo_flags_of_expansions(flags, moves, step, hidden_cells, root):
    """Restore the flags to the state before the search expanded the cells in `hidden_cells`. Writes: flags.

    An expansion generates every neighbour that a legal move leads to. So a cell was known to the search before if it is
    the root, or if one of its neighbours was closed before. The result is exact unless the map has changed since then.
    """
    for i in range(hidden_cells.size):
        flags[hidden_cells[i]] &= NOT_KNOWN
    for i in range(hidden_cells.size):
        s = np.int64(hidden_cells[i])
        restore_open_flag(flags, moves, step, s, root)
        for d in range(8):
            if moves[s] >> d & 1:
                restore_open_flag(flags, moves, step, s + step[d], root)


@kernel
def restore_open_flag(flags, moves, step, s, root):
    """Set the flag OPEN of a cell that is not closed if it is the root or has a closed neighbour, else clear the flag.

    Writes: flags[s].
    """
    if flags[s] & CLOSED or not flags[s] & PASSABLE:
        return
    cell_flags = np.int64(flags[s]) & ~KNOWN
    if s == root:
        cell_flags |= OPEN
    for d in range(8):
        if moves[s] >> d & 1 and flags[s + step[d]] & CLOSED:
            cell_flags |= OPEN
    flags[s] = cell_flags


# --- heat ---------------------------------------------------------------------------------------------


@kernel
def heat_band_of_value(value, limits):
    """Return the heat band of a value: how many of the eight limits it exceeds. Limits are in ascending order.

    The sum is unrolled so that the compiler makes it branch-free and processes many cells at once (SIMD).
    """
    band = np.uint8(value > limits[0]) + np.uint8(value > limits[1])
    band += np.uint8(value > limits[2]) + np.uint8(value > limits[3])
    band += np.uint8(value > limits[4]) + np.uint8(value > limits[5])
    return band + np.uint8(value > limits[6]) + np.uint8(value > limits[7])


@kernel
def compute_count_bands(counts, limits, bands):
    """Compute the heat bands of all cells from their counts, such as visits. Writes: bands."""
    for s in range(counts.size):
        bands[s] = heat_band_of_value(counts[s], limits)


@kernel
def update_count_bands(counts, limits, bands, cells):
    """Compute the heat bands of the listed cells from their counts. Returns their largest count. Writes: bands."""
    largest = np.int64(0)
    for i in range(cells.size):
        s = cells[i]
        bands[s] = heat_band_of_value(counts[s], limits)
        largest = max(largest, np.int64(counts[s]))
    return largest


@kernel
def count_scrubbing_moves(cells, marks, first, is_visited, counts):
    """Count scrubbing moves per cell: back-moves to the cell, and moves to it after an earlier visit.

    Moves before entry `first` of the trail are skipped. `is_visited` is true for cells visited so far.
    Writes: is_visited, counts.
    """
    for i in range(first, cells.size):
        s = cells[i]
        is_move = i > 0 and cells[i - 1] != s and not marks[i] & log.TRIAL_BEGAN
        if is_move and (is_visited[s] or marks[i] & log.BACK_MOVE):
            counts[s] += 1
        is_visited[s] = True


@kernel
def largest_count(counts):
    """Return the largest element of an array of counts."""
    largest = counts[0]
    for s in range(counts.size):
        largest = max(largest, counts[s])
    return np.int64(largest)


@kernel
def compute_learned_bands(learned, limits, bands):
    """Compute the heat bands of all cells from h - h0 (learned minus initial h). Returns its maximum. Writes: bands."""
    largest = 0.0
    for s in range(bands.size):
        value = learned_h_excess(learned, s)
        bands[s] = heat_band_of_value(value, limits)
        largest = max(largest, value)
    return largest


@kernel
def update_learned_bands(learned, limits, bands, first):
    """Compute the heat bands of the cells whose learned h changed, from change number `first` on.

    Returns the largest h - h0 (learned minus initial h) of these cells. Writes: bands.
    """
    largest = 0.0
    for change in range(first, learned.target[0].changes):
        s = learned.changed[change % learned.changed.size]
        value = learned_h_excess(learned, s)
        bands[s] = heat_band_of_value(value, limits)
        largest = max(largest, value)
    return largest


@kernel
def g_for_heat_map(nodes, flags, s):
    """Return g of cell s for the heat map: at least MIN_G if the search knows the cell, otherwise 0 (no heat)."""
    if not flags[s] & KNOWN:
        return 0.0
    g = nodes[s].g
    return max(g, MIN_G) if g < np.inf else 0.0


@kernel
def compute_g_bands(nodes, flags, limits, bands):
    """Compute the heat bands of all cells from their g. Returns the largest g. Writes: bands."""
    largest = 0.0
    for s in range(bands.size):
        value = g_for_heat_map(nodes, flags, s)
        bands[s] = heat_band_of_value(value, limits)
        largest = max(largest, value)
    return largest


@kernel
def update_g_bands(nodes, flags, width, limits, bands, cells):
    """Compute the heat bands of newly expanded cells and their neighbours from g. Returns their largest g.

    Writes: bands.
    """
    height = flags.size // width
    largest = 0.0
    for i in range(cells.size):
        x = np.int64(cells[i]) % width
        y = np.int64(cells[i]) // width
        for near_y in range(max(0, y - 1), min(height, y + 2)):
            for near_x in range(max(0, x - 1), min(width, x + 2)):
                s = near_y * width + near_x
                value = g_for_heat_map(nodes, flags, s)
                bands[s] = heat_band_of_value(value, limits)
                largest = max(largest, value)
    return largest


@kernel
def compute_difference_bands(a, b, limits, bands):
    """Compute the heat bands of all cells from the difference of the counts a and b.

    Bands are odd where b is larger, even where a is larger, and higher for larger differences. So if a pixel covers
    several cells, their largest band shows the largest difference. Returns the largest absolute difference. Writes:
    bands.
    """
    largest = np.int64(0)
    for s in range(a.size):
        value = np.int64(a[s]) - np.int64(b[s])
        size = abs(value)
        step = np.uint8(size > limits[0]) + np.uint8(size > limits[1])
        step += np.uint8(size > limits[2]) + np.uint8(size > limits[3])
        bands[s] = 2 * step - np.uint8(value < 0)
        largest = max(largest, size)
    return largest


# --- trail of the agent -------------------------------------------------------------------------------


@kernel
def append_new_moves(cells, marks, first, width, listed_directions, edge_cell, edge_direction, count):
    """Append the moves of a trail that are not listed yet to a list of distinct moves.

    Args:
        cells: Cells of the trail.
        marks: Event bits of the entries of the trail, see log.py.
        first: Number of trail entries that have been processed before.
        width: Width of the map.
        listed_directions: Listed moves from each cell as bits: bit d for a move in direction d, bit d + 8 for a
            back-move.
        edge_cell: Cells from which the listed moves start; must be long enough for the new moves.
        edge_direction: Directions of the listed moves, plus 8 for a back-move; must be long enough for the new moves.
        count: Number of moves listed before.

    Returns:
        The new number of listed moves.

    Writes: listed_directions, edge_cell, edge_direction.
    """
    for i in range(max(1, first), cells.size):
        s = np.int64(cells[i - 1])
        t = np.int64(cells[i])
        dx = t % width - s % width
        dy = t // width - s // width
        if s == t or abs(dx) > 1 or abs(dy) > 1 or marks[i] & log.TRIAL_BEGAN:
            continue
        direction = direction_of_step(dx, dy) + (8 if marks[i] & log.BACK_MOVE else 0)
        if np.int64(listed_directions[s]) >> direction & 1:
            continue
        listed_directions[s] |= 1 << direction
        edge_cell[count] = s
        edge_direction[count] = direction
        count += 1
    return count


@kernel
def direction_of_step(dx, dy):
    """Return the direction of a step (dx, dy) to a neighbour, as an index into octile.DX and DY."""
    if dx == 0:
        return 0 if dy < 0 else 2
    if dy == 0:
        return 1 if dx > 0 else 3
    if dx > 0:
        return 4 if dy < 0 else 5
    return 7 if dy < 0 else 6
