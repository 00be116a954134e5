"""Drawing of crowds: one kernel call draws the dots of hundreds of agents, another call draws their tails."""

import numpy as np

from sim.jit.decorators import kernel
from ui.draw.kernels.paint import stamp_mask_at_point
from ui.draw.kernels.strokes import stroke_between_cells


@kernel
def stroke_crowd_tails(frame, tails, width, colours):
    """Draw the tail of each agent, a line along its last moves. Writes: frame.pixels.

    `tails` has the cells of the agents: one row per agent and one column per tick, oldest first. `colours` is a colour
    gradient from the oldest to the newest move. Older moves are drawn first.
    """
    agents, ticks = tails.shape
    for j in range(1, ticks):
        colour = colours[(j - 1) * colours.size // (ticks - 1)]
        for i in range(agents):
            s, t = np.int64(tails[i, j - 1]), np.int64(tails[i, j])
            if s != t:
                stroke_between_cells(frame, s, t, width, colour)


@kernel
def stamp_agents_of_kind(frame, mask, tails, glide, states, wanted_state, colour):
    """Stamp an alpha mask at the position of each agent of a crowd that is in state `wanted_state`.

    Writes: frame.pixels.

    `glide`, from 0 to 1, interpolates the position from the agent's previous cell to its current one. After a jump the
    mask is stamped at the current cell.
    """
    last = tails.shape[1] - 1
    for i in range(states.size):
        if states[i] != wanted_state:
            continue
        s, t = np.int64(tails[i, max(0, last - 1)]), np.int64(tails[i, last])
        x, y = np.float64(t % frame.map_width), np.float64(t // frame.map_width)
        dx, dy = s % frame.map_width - x, s // frame.map_width - y
        if abs(dx) <= 1.0 and abs(dy) <= 1.0:
            x += dx * (1.0 - glide)
            y += dy * (1.0 - glide)
        stamp_mask_at_point(frame, mask, x + 0.5, y + 0.5, colour)
