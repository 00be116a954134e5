"""RIBS on dictionaries: the paper's listing line by line, with sets of places for sets of parents.

Like naive.py: slow, obvious, and nothing imported from the project.
"""

import math

from .naive import STEPS, Board, Place, Row


class Ribs:
    """`parents` is op, `back` is par, `entered` is lastT; where the text says "any of op[t]", the first direction."""

    def __init__(self, board: Board, start: Place, goal: Place, dead: bool = True, redundant: bool = True) -> None:
        self.board, self.goal = board, goal
        self.prunes_dead, self.prunes_redundant = dead, redundant
        self.marked = False
        self.begin(start)

    def begin(self, start: Place) -> None:
        self.start = self.loc = start
        self.limit = self.board.h(start, self.goal)
        self.next_limit = math.inf
        self.limits = [self.limit]
        self.g = {start: 0.0}
        self.entered = {start: self.limit}
        self.back: dict[Place, Place] = {}
        self.parents: dict[Place, set[Place]] = {start: set()}
        self.dead_cells: set[Place] = set()
        self.redundant_cells: set[Place] = set()
        self.status = "goal" if start == self.goal else "active"

    def change(self) -> None:
        """The board has changed."""
        self.begin(self.loc)
        self.marked = True

    def tick(self, budget: int = 1) -> Row:
        row = Row(self.loc, 0, restarted=self.marked)
        self.marked = False
        while row.expanded < budget and self.status == "active" and self.loc == row.cell:
            row.expanded += 1
            row.back = self.step()
        row.cell = self.loc
        return row

    def step(self) -> bool:
        """One expansion. Whether it ended with a move to the tree parent."""
        u = self.loc
        live, required, candidates = self.look_around(u)
        if not live and u != self.start and self.prunes_dead:
            self.dead_cells.add(u)
        if live and not required and u != self.start and self.prunes_redundant:
            self.make_redundant(u)
            self.loc = self.back[u]
            return True
        if candidates:
            best = min(candidates, key=lambda t: (self.f(t), -self.g[t], self.board.id(t)))
            self.entered[best] = self.limit
            self.back[best] = u
            self.loc = best
            self.status = "goal" if best == self.goal else "active"
            return False
        if u != self.start:
            self.loc = self.back[u]
            return True
        if self.next_limit == math.inf:
            self.status = "no path"
        else:
            assert self.next_limit > self.limit
            self.limit, self.next_limit = self.next_limit, math.inf
            self.limits.append(self.limit)
        return False

    def f(self, t: Place) -> float:
        return self.g[t] + self.board.h(t, self.goal)

    def look_around(self, u: Place) -> tuple[bool, bool, list[Place]]:
        live = required = False
        candidates = []
        for t, cost in self.board.successors(u):
            if t in self.dead_cells or t in self.redundant_cells:
                continue
            new = self.g[u] + cost
            assert t not in self.g or self.g[t] + cost >= self.g[u], "no neighbour ever knows a cheaper way to u"
            if t in self.g and new > self.g[t]:
                continue
            live = True
            is_candidate = self.entered.get(t) != self.limit
            if t not in self.g or new < self.g[t]:
                self.g[t], self.back[t], self.parents[t] = new, u, set()
                is_candidate = True
            self.parents[t].add(u)
            required = required or self.parents[t] == {u}
            if is_candidate and self.f(t) <= self.limit:
                candidates.append(t)
            elif is_candidate:
                self.next_limit = min(self.next_limit, self.f(t))
        return live, required, candidates

    def make_redundant(self, u: Place) -> None:
        self.redundant_cells.add(u)
        for t, _ in self.board.successors(u):
            if u in self.parents.get(t, ()) and len(self.parents[t]) > 1:
                self.parents[t].remove(u)
                if self.back[t] == u:
                    self.back[t] = min(self.parents[t], key=lambda p: STEPS.index((t[0] - p[0], t[1] - p[1])))

    def is_dead_by_the_paper(self, u: Place) -> bool:
        """Not the goal, and no live neighbour has a larger known g (unknown counts as larger)."""
        around = [t for t, _ in self.board.successors(u) if t not in self.dead_cells]
        return u != self.goal and all(t in self.g and self.g[u] >= self.g[t] for t in around)
