"""Values g, h and f of a cell in an agent's search, for the numbers drawn in cells and for the cell inspector."""

from sim.kernels import learned, octile
from sim.world_view import WalkerView, WorldSnapshot


def search_values_of_cell(snapshot: WorldSnapshot, walker: WalkerView, cell: int) -> tuple[float, float, float]:
    """Return the values g, h and f of a cell that the agent's search has reached.

    h is the heuristic distance to the target of the search, plus what the agent has learned above that distance.
    """
    search = walker.agent.search
    assert search is not None
    control = search.control[0]
    g = float(search.nodes[cell].g)
    x, y = snapshot.grid.xy(cell)
    h = float(octile.h0(x, y, int(control.aim_x), int(control.aim_y), snapshot.grid.diagonal_cost))
    if walker.agent.learned is not None:
        h += float(learned.learned_h_excess(walker.agent.learned, cell))
    return g, h, float(control.wg) * g + float(control.wh) * h
