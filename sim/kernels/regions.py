"""Connected regions of a map, by union-find in one array of the map's size."""

from sim.jit.decorators import kernel
from sim.kernels.octile import FIRST_DIAGONAL


@kernel
def label_regions(across, down, label):
    """Label all cells of each region with the number of its first cell. Writes: label, int32[cells].

    `across[y, x]` is true if a cell is connected with its right neighbour, `down[y, x]` with the cell below.
    """
    height, width = down.shape[0] + 1, across.shape[1] + 1
    for y in range(height):
        for x in range(width):
            s = y * width + x
            label[s] = s
            if x > 0 and across[y, x - 1]:
                unite_regions(label, s, s - 1)
            if y > 0 and down[y - 1, x]:
                unite_regions(label, s, s - width)
    finalize_region_labels(label)


@kernel
def unite_diagonal_regions(ground, label):
    """Unite the regions that diagonal moves connect, after join(). Writes: label."""
    for s in range(label.size):
        for d in range(FIRST_DIAGONAL, 8):
            if ground.moves[s] >> d & 1:
                unite_regions(label, s, s + ground.step[d])
    finalize_region_labels(label)


@kernel
def finalize_region_labels(label):
    """Make the label of every cell final: the number of the first cell of its region.

    Labels point to smaller cells, whose labels are final already when they are read.
    """
    for s in range(label.size):
        label[s] = label[label[s]]


@kernel
def unite_regions(label, s, t):
    """Unite the regions of two cells; the smaller number becomes the label. Writes: label."""
    a, b = region_root(label, s), region_root(label, t)
    if a < b:
        label[b] = a
    else:
        label[a] = b


@kernel
def region_root(label, s):
    """Return the representative (smallest cell) of the set that contains s; halves the path to it. Writes: label."""
    while label[s] != s:
        label[s] = label[label[s]]
        s = label[s]
    return s


@kernel
def count_region_cells(label, counted, sizes):
    """Count the cells of each region for which `counted` is true. Writes: sizes (int32[cells], all zeros before)."""
    for s in range(label.size):
        if counted[s]:
            sizes[label[s]] += 1
