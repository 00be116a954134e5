"""Flow arrows: in each cell known to the search, an arrow towards its parent (the cell it was reached from)."""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.octile import NO_DIRECTION
from ui.draw.kernels.paint import first_pixel_of_cells, first_visible_cell, stamp_mask


@kernel
def stamp_parent_arrows(frame, nodes, number, masks, colour):
    """Paint an arrow towards the parent into each known cell in view, except roots. Writes: frame.pixels.

    masks[d] is the arrow for a cell that was reached by a move in direction d.
    """
    zoom, size = frame.zoom, masks.shape[1]
    for row in range(first_visible_cell(frame.top, zoom, frame.map_height), frame.map_height):
        y0 = first_pixel_of_cells(row, frame.top, zoom)
        if y0 >= frame.height:
            break
        y1 = first_pixel_of_cells(row + 1, frame.top, zoom)
        for column in range(first_visible_cell(frame.left, zoom, frame.map_width), frame.map_width):
            x0 = first_pixel_of_cells(column, frame.left, zoom)
            if x0 >= frame.width:
                break
            node = nodes[row * frame.map_width + column]
            if node.search == number and node.came != NO_DIRECTION:
                x = x0 + (first_pixel_of_cells(column + 1, frame.left, zoom) - x0 - size + 1) // 2
                y = y0 + (y1 - y0 - size + 1) // 2
                stamp_mask(frame, masks[np.int64(node.came)], x, y, colour)
