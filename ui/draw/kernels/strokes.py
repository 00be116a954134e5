"""Lines between the middles of cells: paths, trails, back-moves, trees.

Callers draw important lines twice, first wider in the casing colour, then in their own colour, so that they are visible
on any background.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.octile import DX, DY, NO_DIRECTION
from ui.draw.kernels.cell_flags import KNOWN
from ui.draw.kernels.paint import fill_rect, first_pixel_of_cells, first_visible_cell

BACK_MOVE_OFFSET = 0.28
"""Offset of a back-move from the line of the forward move, in cells."""


@kernel
def stroke_line(frame, ax, ay, bx, by, width, colour):
    """Draw a straight line between two points given in pixels of the map area, ends included. Writes: frame.pixels."""
    half = 0.5 * width - 0.5
    x0, y0 = np.int64(np.floor(ax - half)), np.int64(np.floor(ay - half))
    x1, y1 = np.int64(np.floor(bx - half)), np.int64(np.floor(by - half))
    if max(x0, x1) + width < 0 or max(y0, y1) + width < 0 or min(x0, x1) > frame.width or min(y0, y1) > frame.height:
        return
    if x0 == x1 or y0 == y1:
        fill_rect(frame, min(x0, x1), min(y0, y1), max(x0, x1) + width, max(y0, y1) + width, colour)
        return
    steps = max(abs(x1 - x0), abs(y1 - y0))
    for i in range(steps + 1):
        x = x0 + (2 * i * (x1 - x0) + steps) // (2 * steps)
        y = y0 + (2 * i * (y1 - y0) + steps) // (2 * steps)
        fill_rect(frame, x, y, x + width, y + width, colour)


@kernel
def middle_pixel_of_cells(cell, origin, zoom):
    """Return the middle of a column (or row) of cells, in pixels of the map area; n + 0.5 is between two pixels."""
    if zoom < 1.0:
        return (cell + 0.5 - origin) * zoom - 0.5
    return 0.5 * (first_pixel_of_cells(cell, origin, zoom) + first_pixel_of_cells(cell + 1, origin, zoom) - 1)


@kernel
def cell_middle_x(frame, s):
    """Return the x of the middle of cell s, in pixels of the map area."""
    return middle_pixel_of_cells(s % frame.map_width, frame.left, frame.zoom)


@kernel
def cell_middle_y(frame, s):
    """Return the y of the middle of cell s, in pixels of the map area."""
    return middle_pixel_of_cells(s // frame.map_width, frame.top, frame.zoom)


@kernel
def stroke_between_cells(frame, s, t, width, colour):
    """Draw a line from the middle of cell s to the middle of cell t. Writes: frame.pixels."""
    ax, ay, bx, by = cell_middle_x(frame, s), cell_middle_y(frame, s), cell_middle_x(frame, t), cell_middle_y(frame, t)
    stroke_line(frame, ax, ay, bx, by, width, colour)


@kernel
def stroke_move(frame, s, dx, dy, width, colour):
    """Draw a line from the middle of cell s to the middle of its neighbour at (dx, dy). Writes: frame.pixels."""
    column, row = s % frame.map_width, s // frame.map_width
    ax, ay = middle_pixel_of_cells(column, frame.left, frame.zoom), middle_pixel_of_cells(row, frame.top, frame.zoom)
    bx, by = (
        middle_pixel_of_cells(column + dx, frame.left, frame.zoom),
        middle_pixel_of_cells(row + dy, frame.top, frame.zoom),
    )
    stroke_line(frame, ax, ay, bx, by, width, colour)


@kernel
def stroke_graph_arcs(frame, x, y, arcs, width, colour):
    """Draw the straight lines of a graph over the map. Writes: frame.pixels.

    `x` and `y` are the coordinates of its nodes in cells. Each row of `arcs` has the indices of two nodes to join.
    """
    for i in range(arcs.shape[0]):
        u, v = arcs[i, 0], arcs[i, 1]
        ax, ay = (x[u] + 0.5 - frame.left) * frame.zoom, (y[u] + 0.5 - frame.top) * frame.zoom
        bx, by = (x[v] + 0.5 - frame.left) * frame.zoom, (y[v] + 0.5 - frame.top) * frame.zoom
        stroke_line(frame, ax, ay, bx, by, width, colour)


@kernel
def stroke_cell_path(frame, cells, width, colour):
    """Draw a line that runs through the listed cells in their order. Writes: frame.pixels."""
    for i in range(1, cells.size):
        s, t = np.int64(cells[i - 1]), np.int64(cells[i])
        stroke_between_cells(frame, s, t, width, colour)


@kernel
def dash_cell_path(frame, cells, width, colour, dash, gap):
    """Draw a dashed line that runs through the listed cells in their order. Writes: frame.pixels.

    The dashes keep their positions when cells are appended to the end of the line.
    """
    at = 0.0  # distance from the start of the current dash, in pixels
    for i in range(1, cells.size):
        s, t = np.int64(cells[i - 1]), np.int64(cells[i])
        ax, ay = cell_middle_x(frame, s), cell_middle_y(frame, s)
        bx, by = cell_middle_x(frame, t), cell_middle_y(frame, t)
        length = max(abs(bx - ax), abs(by - ay))
        done = 0.0
        while done < length:
            left = (dash if at < dash else dash + gap) - at
            part = min(left, length - done)
            if at < dash:
                p, q = done / length, (done + part) / length
                stroke_line(
                    frame, ax + p * (bx - ax), ay + p * (by - ay), ax + q * (bx - ax), ay + q * (by - ay), width, colour
                )
            done += part
            at = at + part if at + part < dash + gap else 0.0


@kernel
def stroke_moves(frame, cells, directions, count, width, colour):
    """Draw a line for each of the first `count` moves of a list, except back-moves. Writes: frame.pixels.

    `cells` has the start cell of each move, and `directions` its direction, plus 8 for a back-move.
    """
    for i in range(count):
        direction = np.int64(directions[i])
        if direction < 8:
            stroke_move(frame, np.int64(cells[i]), DX[direction], DY[direction], width, colour)


@kernel
def stroke_moves_without_heat(frame, bands, cells, directions, count, width, colour):
    """Draw a line for each listed move between two cells without heat, except back-moves. Writes: frame.pixels."""
    for i in range(count):
        direction = np.int64(directions[i])
        if direction < 8:
            s = np.int64(cells[i])
            if not bands[s] and not bands[s + DX[direction] + DY[direction] * frame.map_width]:
                stroke_move(frame, s, DX[direction], DY[direction], width, colour)


@kernel
def stroke_recent_moves(frame, cells, marks, width, colour):
    """Draw a line along the last moves of a trail, except back-moves. Writes: frame.pixels."""
    for i in range(1, cells.size):
        s, t = np.int64(cells[i - 1]), np.int64(cells[i])
        if s != t and not marks[i] & (log.BACK_MOVE | log.TRIAL_BEGAN):
            stroke_between_cells(frame, s, t, width, colour)


@kernel
def stroke_back_moves(frame, cells, directions, count, listed_directions, width, extra, colour, arm):
    """Draw a dash for each listed back-move, shifted to the right of its direction.

    If cells are too small for one dash per cell, a straight run of back-moves is drawn as a dashed line. The last
    back-move of a run is always drawn, so that a single back-move is visible too.

    Args:
        frame: Part of the window that shows the map.
        cells: Start cell of each listed move.
        directions: Direction of each listed move, plus 8 for a back-move.
        count: Number of listed moves.
        listed_directions: Listed moves from each cell as bits: bit d for a move in direction d, bit d + 8 for a
            back-move.
        width: Width of the line in pixels.
        extra: Pixels added to the width for the casing.
        colour: Colour of the line.
        arm: Length of the arms of the chevron at the end of each dash, in pixels; 0: no chevrons.

    Writes: frame.pixels.
    """
    period = np.int64(max(1.0, np.ceil(3.0 / frame.zoom)))  # length of dashes and of gaps in small cells, in cells
    for i in range(count):
        direction = np.int64(directions[i]) - 8
        if direction < 0:
            continue
        s = np.int64(cells[i])
        dx, dy = DX[direction], DY[direction]
        position = s // frame.map_width if dx == 0 else s % frame.map_width
        is_continued = np.int64(listed_directions[s + dx + dy * frame.map_width]) >> (direction + 8) & 1
        if frame.zoom >= 3.0 or not position // period & 1 or not is_continued:
            stroke_back_move(frame, s, dx, dy, width, extra, colour, arm)


@kernel
def stroke_recent_back_moves(frame, cells, marks, width, extra, colour, arm):
    """Draw a dash for each back-move among the last entries of a trail. Writes: frame.pixels."""
    for i in range(1, cells.size):
        s, t = np.int64(cells[i - 1]), np.int64(cells[i])
        if s != t and marks[i] & log.BACK_MOVE:
            dx, dy = t % frame.map_width - s % frame.map_width, t // frame.map_width - s // frame.map_width
            stroke_back_move(frame, s, dx, dy, width, extra, colour, arm)


@kernel
def stroke_back_move(frame, s, dx, dy, width, extra, colour, arm):
    """Draw the dash of a back-move from cell s in direction (dx, dy), shifted to the right. Writes: frame.pixels."""
    zoom = frame.zoom
    gap = max(1.5, 0.25 * zoom) + width - 1.0
    end_share = 0.5 * gap / zoom if zoom >= 3.0 else 0.0
    shift = BACK_MOVE_OFFSET * zoom * (1.0 if dx == 0 or dy == 0 else 0.7)
    ax, ay = cell_middle_x(frame, s) - dy * shift, cell_middle_y(frame, s) + dx * shift
    px, py = ax + dx * zoom * end_share, ay + dy * zoom * end_share
    qx, qy = ax + dx * zoom * (1.0 - end_share), ay + dy * zoom * (1.0 - end_share)
    stroke_line(frame, px, py, qx, qy, width + extra, colour)
    if arm > 0.0:
        stroke_chevron(frame, qx, qy, dx, dy, arm, width + extra, colour)


@kernel
def stroke_chevron(frame, x, y, dx, dy, arm, width, colour):
    """Draw an arrow head with its tip at (x, y) that points in direction (dx, dy). Writes: frame.pixels."""
    if dx != 0 and dy != 0:
        stroke_line(frame, x, y, x - arm * dx, y, width, colour)
        stroke_line(frame, x, y, x, y - arm * dy, width, colour)
    else:
        stroke_line(frame, x, y, x - arm * (dx - dy), y - arm * (dy + dx), width, colour)
        stroke_line(frame, x, y, x - arm * (dx + dy), y - arm * (dy - dx), width, colour)


@kernel
def stroke_parent_tree(frame, flags, nodes, number, width, colour):
    """Draw a line from every cell in view that the search knows to its parent. Writes: frame.pixels."""
    zoom = frame.zoom
    for row in range(max(0, first_visible_cell(frame.top, zoom, frame.map_height) - 1), frame.map_height):
        if first_pixel_of_cells(row - 1, frame.top, zoom) >= frame.height:
            break
        for column in range(max(0, first_visible_cell(frame.left, zoom, frame.map_width) - 1), frame.map_width):
            if first_pixel_of_cells(column - 1, frame.left, zoom) >= frame.width:
                break
            s = row * frame.map_width + column
            if not flags[s] & KNOWN or nodes[s].search != number or nodes[s].came == NO_DIRECTION:
                continue
            direction = np.int64(nodes[s].came)
            stroke_move(frame, s, -DX[direction], -DY[direction], width, colour)


@kernel
def stroke_edit_marks(frame, cells, is_blocked, reach, width, colour):
    """Draw marks on edited cells: an x on a blocked cell, a dotted square on a freed cell. Writes: frame.pixels.

    `reach` is half the size of each mark, in pixels.
    """
    for i in range(cells.size):
        s = np.int64(cells[i])
        x, y = cell_middle_x(frame, s), cell_middle_y(frame, s)
        if is_blocked[i]:
            stroke_cross(frame, x, y, reach[i], width, colour)
        else:
            stroke_dotted_square(frame, x, y, reach[i], width, colour)


@kernel
def stroke_cross(frame, x, y, reach, width, colour):
    """Draw an x centred at a point of the map area. Writes: frame.pixels."""
    stroke_line(frame, x - reach, y - reach, x + reach, y + reach, width, colour)
    stroke_line(frame, x - reach, y + reach, x + reach, y - reach, width, colour)


@kernel
def stroke_dotted_square(frame, x, y, reach, width, colour):
    """Draw a dotted square centred at a point of the map area. Writes: frame.pixels."""
    count = max(1, np.int64(reach / (1.5 * width + 1.0)))
    for i in range(-count, count + 1):
        at = i * reach / count
        stroke_line(frame, x + at, y - reach, x + at, y - reach, width, colour)
        stroke_line(frame, x + at, y + reach, x + at, y + reach, width, colour)
        stroke_line(frame, x - reach, y + at, x - reach, y + at, width, colour)
        stroke_line(frame, x + reach, y + at, x + reach, y + at, width, colour)
