"""All functions of the simulation and the agents that numba compiles, called kernels. sim/jit/ compiles them.

Parameters that mean the same in all kernels:
- `ground`: arrays of the map that kernels read (octile.MapArrays).
- `search`: memory of one search (search.Search); `control` is its record of numbers.
- `state`: array with the one record of an agent's variables; `st` is that record.
- `rows`: log.ROW records to fill, one for each tick; a row is what the agent reports to the referee about a tick.
- `marks`: bits of a row, such as log.BACK_MOVE.
- `tails`, `heads`, `rose`: arcs added or removed by a change of the map: the cell that each leaves, the cell that it
  enters, and whether its cost rose to infinity (true: the arc was removed, false: it was added).
- `came`: direction of the move by which a search reached a cell from the cell's parent.
"""
