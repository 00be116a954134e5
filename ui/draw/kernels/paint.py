"""Painting of cells into the pixels of a window: fills at any zoom, and symbols inside cells that are large enough.

Kernels write the memory of the window's surface, an array [row, column] of uint32 0x00RRGGBB. A cell covers the pixels
whose centres are in it; a single function computes them, so that fills and symbols agree at any zoom. The flags of a
cell (its word) are one byte with its terrain and search state; its heat band is a number from 0 to 8.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from ui.draw.kernels.cell_flags import PASSABLE, SWAMP, TREES, WATER


class Viewport(NamedTuple):
    """Target of the painting kernels: the area of the window that shows a map, and the visible part of that map."""

    pixels: np.ndarray  # uint32[window height, window width], the pixels of the whole window
    x: int  # left edge of the map area in the window, in pixels
    y: int  # upper edge of the map area in the window, in pixels
    width: int  # width of the map area, in pixels
    height: int  # height of the map area, in pixels
    zoom: float  # pixels per cell
    left: float  # map x at the left edge of the map area, in cells
    top: float  # map y at the upper edge of the map area, in cells
    map_width: int  # width of the whole map, in cells
    map_height: int  # height of the whole map, in cells


@kernel
def first_pixel_of_cells(cell, origin, zoom):
    """Return the first pixel of a column (or row) of cells, relative to the edge of the map area; may be negative."""
    return np.int64(np.ceil((cell - origin) * zoom - 0.5))


@kernel
def first_visible_cell(origin, zoom, cells):
    """Return the first column (or row) of cells that covers a pixel of the map area."""
    cell = max(np.int64(0), np.int64(np.floor(origin)) - 1)
    while cell < cells and first_pixel_of_cells(cell + 1, origin, zoom) <= 0:
        cell += 1
    return cell


@kernel
def cells_of_pixels(origin, zoom, cells, pixels, out):
    """Compute, for each pixel column (or row), the column (or row) of cells that it shows, at zoom >= 1.

    Returns the range of pixels that show the map, as (first, last + 1). Writes: out.
    """
    cell = first_visible_cell(origin, zoom, cells)
    from_x = min(max(np.int64(0), first_pixel_of_cells(cell, origin, zoom)), pixels)
    start = from_x
    while cell < cells and start < pixels:
        end = min(np.int64(pixels), first_pixel_of_cells(cell + 1, origin, zoom))
        for x in range(start, end):
            out[x] = cell
        start = max(start, end)
        cell += 1
    return from_x, start


@kernel
def paint_cell_colours(frame, flags, bands, lut, outside, columns, rows):
    """Fill every pixel of the map area with the colour of its cell, at zoom >= 1.

    A row of pixels that shows the same cells as the row above is copied from that row. Array indices are unsigned here
    and in the next kernels, because numba tests signed indices for being negative (counted from the end), which more
    than doubles the time.

    Args:
        frame: Part of the window to paint.
        flags: Flags of each cell.
        bands: Heat band of each cell; empty: no heat.
        lut: Look-up table of colours, indexed by the flags of a cell or, with heat, by band << 8 | flags.
        outside: Colour of pixels outside the map.
        columns: Temporary array with an entry for each pixel column: the column of cells that it shows.
        rows: Temporary array with an entry for each pixel row: the row of cells that it shows.

    Writes: frame.pixels, columns, rows.
    """
    width = frame.map_width
    from_x, to_x = cells_of_pixels(frame.left, frame.zoom, width, frame.width, columns)
    from_y, to_y = cells_of_pixels(frame.top, frame.zoom, frame.map_height, frame.height, rows)
    for y in range(frame.height):
        line = frame.pixels[frame.y + y, frame.x : frame.x + frame.width]
        if y < from_y or y >= to_y:
            line[:] = outside
        elif y > from_y and rows[y] == rows[y - 1]:
            above = frame.pixels[frame.y + y - 1, frame.x : frame.x + frame.width]
            for x in range(above.size):
                line[x] = above[x]
        else:
            line[:from_x] = outside
            line[to_x:] = outside
            start = np.int64(rows[y]) * width
            if bands.size:
                row_bands = bands[start : start + width]
                row = flags[start : start + width]
                for x in range(from_x, to_x):
                    line[x] = lut[np.uint32(row_bands[columns[x]]) << np.uint32(8) | row[columns[x]]]
            else:
                row = flags[start : start + width]
                for x in range(from_x, to_x):
                    line[x] = lut[row[columns[x]]]


@kernel
def paint_small_cells(frame, flags, bands, lut, outside, scratch, columns):
    """Fill every pixel of the map area with the combined colour of all cells that it covers, at zoom < 1.

    Each cell belongs to exactly one pixel, so that none is left out. The flags of the cells of a pixel are or-ed, and
    the largest heat band wins. Rows of cells are combined first, because the compiler then processes many cells at once
    (SIMD). The arguments are like those of paint_cell_colours(), but `scratch` is uint8[2, map width] and `columns` is
    uint32[3, pixels]. Writes: frame.pixels, scratch, columns.
    """
    width, step = frame.map_width, 1.0 / frame.zoom
    from_x, to_x = cells_of_small_pixels(frame.left, step, width, frame.width, columns)
    bottom = min(max(np.int64(np.floor(frame.top)), 0), frame.map_height)
    for y in range(frame.height):
        line = frame.pixels[frame.y + y, frame.x : frame.x + frame.width]
        top, bottom = bottom, min(max(np.int64(np.floor(frame.top + (y + 1) * step)), 0), frame.map_height)
        if top == bottom or from_x == to_x:
            line[:] = outside
            continue
        line[:from_x] = outside
        line[to_x:] = outside
        combine_flags_of_map_rows(flags, width, top, bottom, scratch[0])
        if bands.size:
            max_heat_band_of_map_rows(bands, width, top, bottom, scratch[1])
            paint_heat_pixel_row(line, scratch[0], scratch[1], lut, columns, from_x, to_x, step > 3.0)
        else:
            paint_pixel_row(line, scratch[0], lut, columns, from_x, to_x, step > 3.0)


@kernel
def cells_of_small_pixels(origin, step, cells, pixels, out):
    """Compute the first, middle and last column of cells that each pixel column covers, at zoom < 1.

    Returns the range of pixel columns that show the map, as (first, last + 1). Writes: out.
    """
    start, end = np.int64(pixels), np.int64(0)
    for x in range(pixels):
        first = max(np.int64(np.floor(origin + x * step)), 0)
        last = min(np.int64(np.floor(origin + (x + 1) * step)), cells) - 1
        if first <= last:
            out[0, x], out[1, x], out[2, x] = first, (first + last) // 2, last
            start, end = min(start, x), np.int64(x + 1)
    return min(start, end), end


@kernel
def combine_flags_of_map_rows(flags, width, top, bottom, out):
    """Compute, for each column of cells, the bitwise or of the flags in rows `top` to `bottom` - 1. Writes: out.

    The first three rows are combined in one pass.
    """
    second, third = min(top + 1, bottom - 1), min(top + 2, bottom - 1)
    a = flags[top * width : (top + 1) * width]
    b = flags[second * width : (second + 1) * width]
    c = flags[third * width : (third + 1) * width]
    for x in range(a.size):
        out[x] = a[x] | b[x] | c[x]
    for row in range(top + 3, bottom):
        a = flags[row * width : (row + 1) * width]
        for x in range(a.size):
            out[x] |= a[x]


@kernel
def max_heat_band_of_map_rows(bands, width, top, bottom, out):
    """Compute, for each column of cells, the largest heat band in rows `top` to `bottom` - 1. Writes: out."""
    second, third = min(top + 1, bottom - 1), min(top + 2, bottom - 1)
    a = bands[top * width : (top + 1) * width]
    b = bands[second * width : (second + 1) * width]
    c = bands[third * width : (third + 1) * width]
    for x in range(a.size):
        out[x] = max(max(a[x], b[x]), c[x])
    for row in range(top + 3, bottom):
        a = bands[row * width : (row + 1) * width]
        for x in range(a.size):
            out[x] = max(out[x], a[x])


@kernel
def paint_pixel_row(line, flags, lut, columns, from_x, to_x, are_many):
    """Fill a row of pixels with the colours of the combined flags of the cells in each pixel. Writes: line."""
    for x in range(from_x, to_x):
        pixel_flags = flags[columns[0, x]] | flags[columns[1, x]] | flags[columns[2, x]]
        if are_many:  # a pixel may cover more columns of cells than the first, the middle and the last
            for column in range(columns[0, x] + 1, columns[2, x]):
                pixel_flags |= flags[column]
        line[x] = lut[pixel_flags]


@kernel
def paint_heat_pixel_row(line, flags, bands, lut, columns, from_x, to_x, are_many):
    """Fill a row of pixels while heat is shown, from the combined flags and heat bands of the cells in each pixel.

    Writes: line.
    """
    for x in range(from_x, to_x):
        first, middle, last = columns[0, x], columns[1, x], columns[2, x]
        pixel_flags = flags[first] | flags[middle] | flags[last]
        band = max(max(bands[first], bands[middle]), bands[last])
        if are_many:
            for column in range(first + 1, last):
                pixel_flags |= flags[column]
                band = max(band, bands[column])
        line[x] = lut[np.uint32(band) << np.uint32(8) | np.uint32(pixel_flags)]


# --- pixels -------------------------------------------------------------------------------------------


@kernel
def blend_colour(under, colour, alpha):
    """Return the colour `under` with `colour` blended over it; alpha is from 0 (`under`) to 255 (`colour`)."""
    u, c = np.int64(under), np.int64(colour)
    red = ((u >> 16 & 255) * (255 - alpha) + (c >> 16 & 255) * alpha + 127) // 255
    green = ((u >> 8 & 255) * (255 - alpha) + (c >> 8 & 255) * alpha + 127) // 255
    blue = ((u & 255) * (255 - alpha) + (c & 255) * alpha + 127) // 255
    return red << 16 | green << 8 | blue


@kernel
def fill_rect(frame, x0, y0, x1, y1, colour):
    """Fill a rectangle given in pixels of the map area, without column x1 and row y1. Writes: frame.pixels."""
    low, high = max(np.int64(x0), 0) + frame.x, min(np.int64(x1), frame.width) + frame.x
    for y in range(max(np.int64(y0), 0) + frame.y, min(np.int64(y1), frame.height) + frame.y):
        for x in range(low, high):
            frame.pixels[y, x] = colour


@kernel
def stamp_mask(frame, mask, x0, y0, colour):
    """Blend a colour into pixels with an alpha mask whose upper left corner is at (x0, y0). Writes: frame.pixels."""
    height, width = mask.shape
    for row in range(max(0, -y0), min(height, frame.height - y0)):
        for column in range(max(0, -x0), min(width, frame.width - x0)):
            alpha = np.int64(mask[row, column])
            if alpha:
                y, x = frame.y + y0 + row, frame.x + x0 + column
                frame.pixels[y, x] = blend_colour(frame.pixels[y, x], colour, alpha)


@kernel
def stamp_mask_at_point(frame, mask, cell_x, cell_y, colour):
    """Stamp an alpha mask, centred at a point of the map that is given in cells. Writes: frame.pixels."""
    height, width = mask.shape
    x = np.int64(np.floor((cell_x - frame.left) * frame.zoom - 0.5 * width + 0.5))
    y = np.int64(np.floor((cell_y - frame.top) * frame.zoom - 0.5 * height + 0.5))
    stamp_mask(frame, mask, x, y, colour)


# --- marks inside cells -------------------------------------------------------------------------------


@kernel
def paint_cell_frames(frame, flags, bit, colour):
    """Paint a frame, 1 px wide, inside every cell that has the flag `bit`. Writes: frame.pixels."""
    zoom = frame.zoom
    for row in range(first_visible_cell(frame.top, zoom, frame.map_height), frame.map_height):
        y0 = first_pixel_of_cells(row, frame.top, zoom)
        if y0 >= frame.height:
            break
        y1 = first_pixel_of_cells(row + 1, frame.top, zoom)
        for column in range(first_visible_cell(frame.left, zoom, frame.map_width), frame.map_width):
            x0 = first_pixel_of_cells(column, frame.left, zoom)
            if x0 >= frame.width:
                break
            if np.int64(flags[row * frame.map_width + column]) & bit:
                paint_rect_outline(
                    frame, x0 + 1, y0 + 1, first_pixel_of_cells(column + 1, frame.left, zoom), y1, colour
                )


@kernel
def paint_wall_edges(frame, flags, bits, px, colour):
    """Paint the outlines of all cells with one of the flags `bits`, `px` wide, where they touch passable cells.

    Writes: frame.pixels.
    """
    zoom, width, height = frame.zoom, frame.map_width, frame.map_height
    for row in range(first_visible_cell(frame.top, zoom, height), height):
        y0, y1 = first_pixel_of_cells(row, frame.top, zoom), first_pixel_of_cells(row + 1, frame.top, zoom)
        if y0 >= frame.height:
            break
        for column in range(first_visible_cell(frame.left, zoom, width), width):
            x0, x1 = first_pixel_of_cells(column, frame.left, zoom), first_pixel_of_cells(column + 1, frame.left, zoom)
            if x0 >= frame.width:
                break
            if np.int64(flags[row * width + column]) & bits:
                paint_edges_of_wall(frame, flags, column, row, x0, y0, x1, y1, px, colour)


@kernel
def paint_edges_of_wall(frame, flags, column, row, x0, y0, x1, y1, px, colour):
    """Paint the outline of one blocked cell: a strip or a square at each side or corner with a passable neighbour.

    Writes: frame.pixels.
    """
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            if is_passable(frame, flags, column + dx, row + dy):
                left, right = x1 - px if dx > 0 else x0, x0 + px if dx < 0 else x1
                upper, lower = y1 - px if dy > 0 else y0, y0 + px if dy < 0 else y1
                fill_rect(frame, max(x0, left), max(y0, upper), min(x1, right), min(y1, lower), colour)


@kernel
def is_passable(frame, flags, column, row):
    """Return whether a cell is on the map and passable."""
    if not (0 <= column < frame.map_width and 0 <= row < frame.map_height):
        return False
    return np.int64(flags[row * frame.map_width + column]) & PASSABLE != 0


@kernel
def paint_heat_dots(frame, bands, band, size, colour):
    """Paint a square of `size` pixels in the middle of every cell of one heat band. Writes: frame.pixels."""
    zoom = frame.zoom
    for row in range(first_visible_cell(frame.top, zoom, frame.map_height), frame.map_height):
        y0, y1 = first_pixel_of_cells(row, frame.top, zoom), first_pixel_of_cells(row + 1, frame.top, zoom)
        if y0 >= frame.height:
            break
        for column in range(first_visible_cell(frame.left, zoom, frame.map_width), frame.map_width):
            if bands[row * frame.map_width + column] != band:
                continue
            x0, x1 = first_pixel_of_cells(column, frame.left, zoom), first_pixel_of_cells(column + 1, frame.left, zoom)
            x, y = x0 + (x1 - x0 - size + 1) // 2, y0 + (y1 - y0 - size + 1) // 2
            fill_rect(frame, x, y, x + size, y + size, colour)


@kernel
def paint_terrain_textures(frame, flags, masks, colours):
    """Paint the textures of trees, swamp and water; `masks` and `colours` are in this order.

    Writes: frame.pixels.
    """
    zoom = frame.zoom
    for row in range(first_visible_cell(frame.top, zoom, frame.map_height), frame.map_height):
        y0 = first_pixel_of_cells(row, frame.top, zoom)
        if y0 >= frame.height:
            break
        for column in range(first_visible_cell(frame.left, zoom, frame.map_width), frame.map_width):
            x0 = first_pixel_of_cells(column, frame.left, zoom)
            if x0 >= frame.width:
                break
            cell_flags = np.int64(flags[row * frame.map_width + column])
            if cell_flags & (TREES | SWAMP | WATER):
                kind = 0 if cell_flags & TREES else 1 if cell_flags & SWAMP else 2
                stamp_mask(frame, masks[kind], x0, y0, colours[kind])


@kernel
def paint_cell_symbols(frame, flags, bit, mask, colour):
    """Stamp an alpha mask into the middle of every cell that has the flag `bit`. Writes: frame.pixels."""
    zoom, size = frame.zoom, mask.shape[0]
    for row in range(first_visible_cell(frame.top, zoom, frame.map_height), frame.map_height):
        y0 = first_pixel_of_cells(row, frame.top, zoom)
        if y0 >= frame.height:
            break
        y1 = first_pixel_of_cells(row + 1, frame.top, zoom)
        for column in range(first_visible_cell(frame.left, zoom, frame.map_width), frame.map_width):
            x0 = first_pixel_of_cells(column, frame.left, zoom)
            if x0 >= frame.width:
                break
            if np.int64(flags[row * frame.map_width + column]) & bit:
                x = x0 + (first_pixel_of_cells(column + 1, frame.left, zoom) - x0 - size + 1) // 2
                y = y0 + (y1 - y0 - size + 1) // 2
                stamp_mask(frame, mask, x, y, colour)


@kernel
def paint_rect_outline(frame, x0, y0, x1, y1, colour):
    """Paint a frame, 1 px wide, along the inside of a rectangle without column x1 and row y1. Writes: frame.pixels."""
    fill_rect(frame, x0, y0, x1, y0 + 1, colour)
    fill_rect(frame, x0, y1 - 1, x1, y1, colour)
    fill_rect(frame, x0, y0 + 1, x0 + 1, y1 - 1, colour)
    fill_rect(frame, x1 - 1, y0 + 1, x1, y1 - 1, colour)


@kernel
def paint_grid_lines(frame, flags, colour):
    """Paint grid lines, 1 px wide, between passable cells; walls have outlines instead. Writes: frame.pixels."""
    zoom, width = frame.zoom, frame.map_width
    for row in range(first_visible_cell(frame.top, zoom, frame.map_height), frame.map_height):
        y0 = first_pixel_of_cells(row, frame.top, zoom)
        if y0 >= frame.height:
            break
        y1 = first_pixel_of_cells(row + 1, frame.top, zoom)
        for column in range(first_visible_cell(frame.left, zoom, width), width):
            x0 = first_pixel_of_cells(column, frame.left, zoom)
            if x0 >= frame.width:
                break
            s = row * width + column
            if not flags[s] & PASSABLE:
                continue
            if column > 0 and flags[s - 1] & PASSABLE:
                fill_rect(frame, x0, y0, x0 + 1, y1, colour)
            if row > 0 and flags[s - width] & PASSABLE:
                fill_rect(frame, x0, y0, first_pixel_of_cells(column + 1, frame.left, zoom), y0 + 1, colour)


@kernel
def paint_frames_of_listed_cells(frame, cells, px, colour):
    """Paint a frame, `px` wide, inside each listed cell, one pixel away from its border. Writes: frame.pixels."""
    for i in range(cells.size):
        column, row = np.int64(cells[i]) % frame.map_width, np.int64(cells[i]) // frame.map_width
        x0, y0 = (
            first_pixel_of_cells(column, frame.left, frame.zoom) + 1,
            first_pixel_of_cells(row, frame.top, frame.zoom) + 1,
        )
        x1, y1 = (
            first_pixel_of_cells(column + 1, frame.left, frame.zoom),
            first_pixel_of_cells(row + 1, frame.top, frame.zoom),
        )
        for inset in range(px):
            paint_rect_outline(frame, x0 + inset, y0 + inset, x1 - inset, y1 - inset, colour)


@kernel
def tint_cells(frame, cells, colour, alpha):
    """Blend a colour over the listed cells, for example the cells that a brush would change. Writes: frame.pixels."""
    for i in range(cells.size):
        column, row = np.int64(cells[i]) % frame.map_width, np.int64(cells[i]) // frame.map_width
        x0, y0 = first_pixel_of_cells(column, frame.left, frame.zoom), first_pixel_of_cells(row, frame.top, frame.zoom)
        x1 = max(x0 + 1, first_pixel_of_cells(column + 1, frame.left, frame.zoom))
        y1 = max(y0 + 1, first_pixel_of_cells(row + 1, frame.top, frame.zoom))
        for y in range(max(y0, 0) + frame.y, min(y1, frame.height) + frame.y):
            for x in range(max(x0, 0) + frame.x, min(x1, frame.width) + frame.x):
                frame.pixels[y, x] = blend_colour(frame.pixels[y, x], colour, alpha)
