"""Flood fill: label the cells that can be reached from a cell."""

import numpy as np

from sim.jit.decorators import kernel

FLOOD_MET_TARGET = -1
"""Result of a flood that has met a cell with the wanted label, instead of the number of cells."""

NO_TARGET_LABEL = -1
"""Value of `wanted` for a flood that does not stop early: no cell has this label."""


@kernel
def flood_fill(ground, labels, queue, s, label, target_label):
    """Label all cells that can be reached from s without entering cells that have a label already.

    Returns the number of cells labelled, or MET as soon as the flood meets a cell labelled `target_label`.
    Writes: labels, queue.
    """
    if labels[s] == target_label:
        return FLOOD_MET_TARGET
    labels[s] = label
    queue[0] = s
    done, count = 0, 1
    while done < count:
        s = np.int64(queue[done])
        done += 1
        for d in range(8):
            if ground.moves[s] >> d & 1:
                t = s + ground.step[d]
                if labels[t] == target_label:
                    return FLOOD_MET_TARGET
                if not labels[t]:
                    labels[t] = label
                    queue[count] = t
                    count += 1
    return count
