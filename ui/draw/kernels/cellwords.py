"""Cell words: the word of a cell is a byte of flags that determines how the cell is painted.

A pixel that represents several cells has the flags of all of them (or-ed), so it still shows that one of them is a
wall. No flag of a search is ever set on a blocked cell, so a wall always looks like a wall. A wall without a passable
cell around it has no flags at all. Such walls are called rock, and are invisible in a pixel that represents other cells
too.
"""

import numpy as np

from sim.kernels import log
from sim.kernels.jit import kernel
from sim.kernels.learned import excess
from sim.kernels.search import CLOSED as IS_CLOSED

FREE, SWAMP, WATER, TREES, WALL = 1, 2, 4, 8, 16  # flags of the terrain
CLOSED, OPEN, DETOUR = 32, 64, 128  # flags of a search: cell closed; cell open; cell closed in the detour search
TERRAIN = FREE | SWAMP | WATER | TREES | WALL
ROCK = 0  # word of a wall without a passable cell around it
BLOCKED = TREES | WALL
PASSABLE = FREE | SWAMP | WATER
KNOWN = CLOSED | OPEN
NOT_KNOWN, NOT_DETOUR = 255 & ~KNOWN, 255 & ~DETOUR  # masks that clear these flags of a word

MIN_G = 0.5  # value painted for a smaller g, so that the root, whose g is 0, has a heat band

BANDS = 8
"""Number of heat bands: a band is a range of values that is painted in one colour. Band 0 means no heat, and shows the
terrain."""


def _word_of_letter() -> np.ndarray:
    """Return the table WORD_OF_LETTER."""
    table = np.full(256, WALL, np.uint8)
    table[ord("T")] = TREES
    table[ord("S")] = SWAMP
    table[ord("W")] = WATER
    for char in ".GB":
        table[ord(char)] = FREE
    return table


WORD_OF_LETTER = _word_of_letter()
"""uint8[256]: for the code of each map character, the word of a cell with this character that no search knows."""


@kernel
def terrain_word(letters, width, s):
    """Return the word of a cell's terrain."""
    word = np.int64(WORD_OF_LETTER[letters[s]])
    if word != WALL:
        return word
    x, y = s % width, s // width
    for near_y in range(max(0, y - 1), min(letters.size // width, y + 2)):
        for near_x in range(max(0, x - 1), min(width, x + 2)):
            if WORD_OF_LETTER[letters[near_y * width + near_x]] & PASSABLE:
                return word
    return ROCK


@kernel
def translate(letters, width, words):
    """Compute the terrain words of all cells. Writes: words."""
    for s in range(letters.size):
        words[s] = terrain_word(letters, width, s)


@kernel
def translate_around(letters, width, cells, words, changed):
    """Update the words around cells whose letters changed, and list the cells whose words changed.

    `changed` must have room for nine cells for each of `cells`. Returns the number of changed words; no cell is listed
    twice. Writes: words, changed.
    """
    count = 0
    for i in range(cells.size):
        x, y = cells[i] % width, cells[i] // width
        for near_y in range(max(0, y - 1), min(letters.size // width, y + 2)):
            for near_x in range(max(0, x - 1), min(width, x + 2)):
                s = near_y * width + near_x
                word = terrain_word(letters, width, s)
                if word != words[s]:
                    words[s] = word
                    changed[count] = s
                    count += 1
    return count


@kernel
def renew(words, nodes, number, s):
    """Set the flags CLOSED and OPEN of cell s to its state in the search with this number. Writes: words[s]."""
    word = np.int64(words[s]) & ~KNOWN
    if word & PASSABLE and nodes.size:
        node = nodes[s]
        if node.search == number:
            word |= CLOSED if node.place == IS_CLOSED else OPEN
    words[s] = word


@kernel
def renew_all(words, terrain, nodes, number):
    """Compute the words of all cells from the terrain words and the search. Writes: words."""
    for s in range(words.size):
        word = np.int64(terrain[s])
        if nodes[s].search == number and word & PASSABLE:
            word |= CLOSED if nodes[s].place == IS_CLOSED else OPEN
        words[s] = word


@kernel
def renew_some(words, terrain, nodes, number, cells):
    """Compute the words of cells whose terrain changed, without the detour flag. Writes: words."""
    for i in range(cells.size):
        s = np.int64(cells[i])
        words[s] = terrain[s]
        renew(words, nodes, number, s)


@kernel
def renew_around(words, nodes, number, width, cells):
    """Update the flags of newly expanded cells and their neighbours. Writes: words.

    Expanding s changes the state of s and its neighbours in the search, nothing else. Each word is computed from the
    cell's present record, so several expansions may be processed in one call and in any order.
    """
    height = words.size // width
    for i in range(cells.size):
        x = np.int64(cells[i]) % width
        y = np.int64(cells[i]) // width
        for near_y in range(max(0, y - 1), min(height, y + 2)):
            for near_x in range(max(0, x - 1), min(width, x + 2)):
                renew(words, nodes, number, near_y * width + near_x)


@kernel
def mark_detour(words, nodes, number, cells):
    """Set the detour flag of every listed cell that is closed in the detour search. Writes: words."""
    for i in range(cells.size):
        s = cells[i]
        node = nodes[s]
        if node.search == number and node.place == IS_CLOSED and words[s] & PASSABLE:
            words[s] |= DETOUR


@kernel
def mark_whole_detour(words, nodes, number, found):
    """Set the detour flag of every closed cell of a search that has no list of expanded cells, and list these cells.

    Returns their number. Writes: words, found.
    """
    count = 0
    for s in range(words.size):
        node = nodes[s]
        if node.search == number and node.place == IS_CLOSED and words[s] & PASSABLE:
            words[s] |= DETOUR
            found[count] = s
            count += 1
    return count


@kernel
def clear_detour(words, cells):
    """Clear the detour flag of the listed cells. Writes: words."""
    for i in range(cells.size):
        words[cells[i]] &= NOT_DETOUR


@kernel
def take_back(words, moves, step, late, root):
    """Restore the words to the state before the search expanded the cells in `late`. Writes: words.

    An expansion generates every neighbour that a legal move leads to, so a cell was known before if it is the root or
    one of its neighbours was closed before. The result is exact if the map has not changed in between.
    """
    for i in range(late.size):
        words[late[i]] &= NOT_KNOWN
    for i in range(late.size):
        s = np.int64(late[i])
        settle(words, moves, step, s, root)
        for d in range(8):
            if moves[s] >> d & 1:
                settle(words, moves, step, s + step[d], root)


@kernel
def settle(words, moves, step, s, root):
    """Set cell s to open or unknown, unless it is closed: it is open if a neighbour is closed. Writes: words[s]."""
    if words[s] & CLOSED or not words[s] & PASSABLE:
        return
    word = np.int64(words[s]) & ~KNOWN
    if s == root:
        word |= OPEN
    for d in range(8):
        if moves[s] >> d & 1 and words[s + step[d]] & CLOSED:
            word |= OPEN
    words[s] = word


# --- heat ---------------------------------------------------------------------------------------------


@kernel
def band_of(value, limits):
    """Return the heat band of a value: the number of limits that it exceeds. `limits` has eight, in rising order.

    The sum is unrolled so that the compiler makes it branch-free and processes many cells at once.
    """
    band = np.uint8(value > limits[0]) + np.uint8(value > limits[1])
    band += np.uint8(value > limits[2]) + np.uint8(value > limits[3])
    band += np.uint8(value > limits[4]) + np.uint8(value > limits[5])
    return band + np.uint8(value > limits[6]) + np.uint8(value > limits[7])


@kernel
def count_bands(counts, limits, bands):
    """Compute the heat bands of all cells from their counts. Writes: bands."""
    for s in range(counts.size):
        bands[s] = band_of(counts[s], limits)


@kernel
def count_bands_at(counts, limits, bands, cells):
    """Compute the heat bands of some cells from their counts. Returns the largest of these counts. Writes: bands."""
    largest = np.int64(0)
    for i in range(cells.size):
        s = cells[i]
        bands[s] = band_of(counts[s], limits)
        largest = max(largest, np.int64(counts[s]))
    return largest


@kernel
def count_scrub(cells, marks, first, been, counts):
    """Count scrubbing for each cell: moves to it that are back-moves, or that come to it again.

    The moves are those from entry `first` of the trail on. `been` is true for cells visited before. Writes: been,
    counts.
    """
    for i in range(first, cells.size):
        s = cells[i]
        is_move = i > 0 and cells[i - 1] != s and not marks[i] & log.TRIAL
        if is_move and (been[s] or marks[i] & log.BACK_MOVE):
            counts[s] += 1
        been[s] = True


@kernel
def largest_of(counts):
    """Return the largest count."""
    largest = counts[0]
    for s in range(counts.size):
        largest = max(largest, counts[s])
    return np.int64(largest)


@kernel
def learned_bands(learned, limits, bands):
    """Compute the bands of h - h0 of all cells. Returns the largest difference. Writes: bands."""
    largest = 0.0
    for s in range(bands.size):
        value = excess(learned, s)
        bands[s] = band_of(value, limits)
        largest = max(largest, value)
    return largest


@kernel
def learned_bands_at(learned, limits, bands, first):
    """Compute the bands of cells whose h changed, from change number `first` on.

    Returns the largest h - h0 among them. Writes: bands.
    """
    largest = 0.0
    for change in range(first, learned.target[0].changes):
        s = learned.changed[change % learned.changed.size]
        value = excess(learned, s)
        bands[s] = band_of(value, limits)
        largest = max(largest, value)
    return largest


@kernel
def g_of(nodes, words, s):
    """Return the g of a known cell, at least MIN_G so that the root has a band too; return 0 for all other cells."""
    if not words[s] & KNOWN:
        return 0.0
    g = nodes[s].g
    return max(g, MIN_G) if g < np.inf else 0.0


@kernel
def g_bands(nodes, words, limits, bands):
    """Compute the bands of g of all cells. Returns the largest g. Writes: bands."""
    largest = 0.0
    for s in range(bands.size):
        value = g_of(nodes, words, s)
        bands[s] = band_of(value, limits)
        largest = max(largest, value)
    return largest


@kernel
def g_bands_around(nodes, words, width, limits, bands, cells):
    """Compute the bands of newly expanded cells and their neighbours. Returns the largest g of these. Writes: bands."""
    height = words.size // width
    largest = 0.0
    for i in range(cells.size):
        x = np.int64(cells[i]) % width
        y = np.int64(cells[i]) // width
        for near_y in range(max(0, y - 1), min(height, y + 2)):
            for near_x in range(max(0, x - 1), min(width, x + 2)):
                s = near_y * width + near_x
                value = g_of(nodes, words, s)
                bands[s] = band_of(value, limits)
                largest = max(largest, value)
    return largest


@kernel
def difference_bands(a, b, limits, bands):
    """Compute the bands of a - b: odd where b is larger, even where a is larger, higher for a larger difference.

    So the largest band of several cells is the band of the largest difference. Returns the largest difference, without
    its sign. Writes: bands.
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
def new_edges(cells, marks, first, width, seen, edge_cell, edge_way, count):
    """Append to a list, each once, the moves after entry `first` of a trail that were not made before.

    Args:
        cells: Cells of the trail.
        marks: Marks of the trail's entries, see log.py.
        first: Entry of the trail after which moves are new.
        width: Width of the map.
        seen: Bits of the moves already listed for each cell: bit d for a move in direction d, d + 8 for a back-move.
        edge_cell: List of the first cells of moves. Must have enough room.
        edge_way: List of the directions of moves, plus 8 for a back-move. Must have enough room.
        count: Number of moves already listed.

    Returns:
        The new number of listed moves.

    Writes: seen, edge_cell, edge_way.
    """
    for i in range(max(1, first), cells.size):
        s = np.int64(cells[i - 1])
        t = np.int64(cells[i])
        dx = t % width - s % width
        dy = t // width - s // width
        if s == t or abs(dx) > 1 or abs(dy) > 1 or marks[i] & log.TRIAL:
            continue
        way = way_of(dx, dy) + (8 if marks[i] & log.BACK_MOVE else 0)
        if np.int64(seen[s]) >> way & 1:
            continue
        seen[s] |= 1 << way
        edge_cell[count] = s
        edge_way[count] = way
        count += 1
    return count


@kernel
def way_of(dx, dy):
    """Return the direction, in the order of octile.DX and DY, of a step to a neighbour."""
    if dx == 0:
        return 0 if dy < 0 else 2
    if dy == 0:
        return 1 if dx > 0 else 3
    if dx > 0:
        return 4 if dy < 0 else 5
    return 7 if dy < 0 else 6
