"""Which cells can be reached from one, by moves back and forth."""

import numpy as np

from sim.kernels.jit import kernel

MET = -1
NEVER_MET = -1
"""A label that no cell has, for a flood that nothing is to end."""


@kernel
def flood(ground, labels, queue, s, label, wanted):
    """Give all cells that can be reached from s this label. Cells that have one already are not entered.

    Returns how many, or MET as soon as one is met that is labelled `wanted`. Writes: labels, queue.
    """
    if labels[s] == wanted:
        return MET
    labels[s] = label
    queue[0] = s
    done, count = 0, 1
    while done < count:
        s = np.int64(queue[done])
        done += 1
        for d in range(8):
            if ground.moves[s] >> d & 1:
                t = s + ground.step[d]
                if labels[t] == wanted:
                    return MET
                if not labels[t]:
                    labels[t] = label
                    queue[count] = t
                    count += 1
    return count
