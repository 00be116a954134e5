"""Regions of a map: which cells are connected. One pass, and one array of the map's size."""

from sim.kernels.jit import kernel
from sim.kernels.octile import FIRST_DIAGONAL


@kernel
def join(across, down, label):
    """Give all connected cells the number of the first of them. Writes: label, int32[cells].

    `across[y, x]`: a cell is connected with the next one to the right; `down[y, x]`: with the one below.
    """
    height, width = down.shape[0] + 1, across.shape[1] + 1
    for y in range(height):
        for x in range(width):
            s = y * width + x
            label[s] = s
            if x > 0 and across[y, x - 1]:
                unite(label, s, s - 1)
            if y > 0 and down[y - 1, x]:
                unite(label, s, s - width)
    settle(label)


@kernel
def join_diagonally(ground, label):
    """Make one region of those that diagonal moves connect, after join(). Writes: label."""
    for s in range(label.size):
        for d in range(FIRST_DIAGONAL, 8):
            if ground.moves[s] >> d & 1:
                unite(label, s, s + ground.step[d])
    settle(label)


@kernel
def settle(label):
    """Give every cell the number of its region's first cell, which comes first, so its label is final."""
    for s in range(label.size):
        label[s] = label[label[s]]


@kernel
def unite(label, s, t):
    """Make one region of two; the smaller number is its name. Writes: label."""
    a, b = root_of(label, s), root_of(label, t)
    if a < b:
        label[b] = a
    else:
        label[a] = b


@kernel
def root_of(label, s):
    """The first cell of the region as known so far; the way there is halved. Writes: label."""
    while label[s] != s:
        label[s] = label[label[s]]
        s = label[s]
    return s


@kernel
def count(label, counted, sizes):
    """How many of the `counted` cells each region has. Writes: sizes, int32[cells], zero before."""
    for s in range(label.size):
        if counted[s]:
            sizes[label[s]] += 1
