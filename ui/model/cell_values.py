"""Values g, h and f of a cell in an agent's search, for the texts in cells and for the inspector."""

from sim.kernels import learned, octile
from sim.walker import WalkerView
from sim.world import Snapshot


def values_of(snapshot: Snapshot, walker: WalkerView, cell: int) -> tuple[float, float, float]:
    """Return g, h and f of a known cell; h is the distance to the aim of the search, plus the learned excess."""
    search = walker.agent.search
    assert search is not None
    control = search.control[0]
    g = float(search.nodes[cell].g)
    x, y = snapshot.grid.xy(cell)
    h = float(octile.h0(x, y, int(control.aim_x), int(control.aim_y), snapshot.grid.diagonal))
    if walker.agent.learned is not None:
        h += float(learned.excess(walker.agent.learned, cell))
    return g, h, float(control.wg) * g + float(control.wh) * h
