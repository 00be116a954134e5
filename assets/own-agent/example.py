"""Real-time A* (Korf 1990): looks at the neighbours, makes one step, and remembers what it has learned."""

from math import inf

from agents.own import OwnAgent, Param


class RealTimeAStar(OwnAgent):
    name = "real-time A*"
    summary = "Steps to the best neighbour, and remembers the cost of the second best."
    params = (Param("weight", float, 1.0, "weight of the heuristic", 1.0, 10.0),)
    is_complete = True  # the agent reaches every reachable goal
    weight: float

    def begin(self):
        """Forget everything that was learned. Called on the start, and again after the goal was moved."""
        self.h = {}  # learned values: cell -> estimated cost to the goal

    def value(self, cell):
        """Return the estimated cost from a cell to the goal."""
        return self.h.get(cell, self.weight * self.distance(cell, self.goal))

    def step(self):
        """Return the cell to move to in this tick, or None to stay."""
        best, second, target = inf, inf, None
        for cell, cost in self.expand(self.position):
            f = cost + self.value(cell)
            if f < best:
                best, second, target = f, best, cell
            elif f < second:
                second = f
        # If the agent comes back, it will take the second best way. With only one way, the value becomes infinite.
        self.h[self.position] = second
        return target

    def changed(self, cells):
        """Forget the learned values, because they may be too high after cells were freed."""
        self.h.clear()
