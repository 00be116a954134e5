"""D* Lite on dictionaries: the optimized listing of its authors line by line, with a set for the queue.

Like naive.py: slow, obvious, and nothing imported from the project.
"""

import math

from .naive import Arc, Board, Place, Row

Key = tuple[float, float]


class DstarLite:
    def __init__(self, board: Board, start: Place, goal: Place) -> None:
        self.board, self.loc, self.goal = board, start, goal
        self.g: dict[Place, float] = {}
        self.rhs = {goal: 0.0}
        self.last, self.km = start, 0.0
        self.queue: dict[Place, Key] = {goal: self.key(goal)}
        self.found = False
        self.status = "goal" if start == goal else "active"

    def value(self, s: Place) -> float:
        return min(self.g.get(s, math.inf), self.rhs.get(s, math.inf))

    def key(self, s: Place) -> Key:
        return self.value(s) + self.board.h(self.loc, s) + self.km, self.value(s)

    def is_consistent(self, s: Place) -> bool:
        return self.g.get(s, math.inf) == self.rhs.get(s, math.inf)

    def fix(self, u: Place) -> None:
        if self.is_consistent(u):
            self.queue.pop(u, None)
        else:
            self.queue[u] = self.key(u)

    def redo(self, p: Place) -> None:
        if p != self.goal:
            terms = [cost + self.g.get(t, math.inf) for t, cost in self.board.successors(p)]
            self.rhs[p] = min(terms, default=math.inf)
        self.fix(p)

    def top(self) -> Place | None:
        return min(self.queue, key=lambda s: (self.queue[s], self.board.id(s)), default=None)

    def compute(self, budget: float) -> int:
        used = 0
        while True:
            u = self.top()
            is_settled = self.rhs.get(self.loc, math.inf) <= self.g.get(self.loc, math.inf)
            if u is None or (self.queue[u] >= self.key(self.loc) and is_settled):
                self.found = True
                return used
            if used == budget:
                return used
            if self.queue[u] < self.key(u):
                self.queue[u] = self.key(u)
                continue
            used += 1
            if self.g.get(u, math.inf) > self.rhs[u]:
                self.g[u] = self.rhs[u]
                self.fix(u)
            else:
                self.g[u] = math.inf
                self.redo(u)
            for p, _ in self.board.successors(u):
                self.redo(p)

    def tick(self, budget: float) -> Row:
        used = 0 if self.found else self.compute(budget)
        if self.found and self.rhs.get(self.loc, math.inf) == math.inf:
            self.status = "no path"
        elif self.found:
            ways = [
                (cost + self.g.get(t, math.inf), -cost, self.board.id(t), t)
                for t, cost in self.board.successors(self.loc)
            ]
            self.loc = min(ways)[3]
            self.status = "goal" if self.loc == self.goal else "active"
        return Row(self.loc, used)

    def change(self, gone: set[Arc], came: set[Arc]) -> None:
        if self.status == "goal" or not (gone or came):
            return
        self.km += self.board.h(self.last, self.loc)
        self.last = self.loc
        for u in sorted({arc[0] for arc in gone | came}):
            self.redo(u)
        self.found = False
        if self.status == "no path" and came:
            self.status = "active"
