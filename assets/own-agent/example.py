"""Real-time A* (Korf 1990): one look at the neighbours, one step, and a memory of where it has been."""

from math import inf

from agents.own import OwnAgent, Param


class RealTimeAStar(OwnAgent):
    name = "real-time A*"
    summary = "Steps to the best neighbour, and remembers what the second best would have cost."
    params = (Param("weight", float, 1.0, "weight of the heuristic", 1.0, 10.0),)
    is_complete = True  # it comes to every goal that can be reached
    weight: float

    def begin(self):
        """On the start, and again when the goal was moved: nothing is known yet."""
        self.h = {}  # what it has learned: cell -> estimated cost to the goal

    def value(self, cell):
        """Estimated cost from a cell to the goal."""
        return self.h.get(cell, self.weight * self.distance(cell, self.goal))

    def step(self):
        """One tick: the cell to go to, or None to stay."""
        best, second, target = inf, inf, None
        for cell, cost in self.expand(self.position):
            f = cost + self.value(cell)
            if f < best:
                best, second, target = f, best, cell
            elif f < second:
                second = f
        # Whoever comes back here will find the second best way; where there is only one, there is no reason to.
        self.h[self.position] = second
        return target

    def changed(self, cells):
        """Cells were blocked or freed: what was learned may be too much now."""
        self.h.clear()
