"""Slow, obvious versions of the learning agents, after their papers: dictionaries and min() over everything.

They share nothing with the kernels but the tie rules: lower f, the goal, (LRTA* after one expansion: lower g + h,)
larger g, smaller cell number.
"""

from collections import deque

from .naive import Arc, Board, Place, Row

INF = float("inf")


class Learner:
    """What all have in common: h as a dictionary of what differs from h0, the bound that proves no path."""

    def __init__(self, board: Board, start: Place, goal: Place, resets: bool = False) -> None:
        self.board, self.loc, self.goal, self.resets = board, start, goal, resets
        self.learned: dict[Place, float] = {}
        self.highest = 0.0
        self.slack = 0.0
        self.marked = False
        self.status = "goal" if start == goal else "active"
        self.last_plan: list[Place] = []  # the cells expanded in the last plan, in their order

    def h(self, s: Place) -> float:
        return self.learned.get(s, self.board.h(s, self.goal))

    def set_h(self, s: Place, value: float) -> None:
        if value != self.h(s):
            self.learned[s] = value
            self.highest = max(self.highest, value)

    def should_abort(self) -> bool:
        return self.h(self.loc) > self.slack + len(self.board.land) * self.board.dearest

    def is_walled_in(self) -> bool:
        return not any(True for _ in self.board.successors(self.loc)) or not any(
            True for _ in self.board.successors(self.goal)
        )

    def move(self, t: Place) -> None:
        self.loc = t
        self.status = "goal" if t == self.goal else "active"

    def tick(self) -> Row:
        used = 0
        if self.is_walled_in():
            self.status = "no path"
        else:
            used = self.plan_and_act()
        row = Row(self.loc, used, restarted=self.marked)
        self.marked = False
        return row

    def plan_and_act(self) -> int:
        raise NotImplementedError

    def forget_plan(self) -> None:
        pass

    def is_cut(self) -> bool:
        return False

    def change(self, gone: set[Arc], came: set[Arc]) -> None:
        """The board has changed: these arcs are not there any more, these are new. Those out of reach say nothing."""
        reached = self.board.distances(self.loc)
        came = {arc for arc in came if arc[0] in reached}
        loses_h = bool(came) and self.resets
        if loses_h:
            self.forget()
        elif came:
            self.slack = self.highest
        wakes = bool(came) and self.status == "no path"
        if self.status != "goal" and (loses_h or wakes or self.is_cut()):
            self.forget_plan()
            self.status = "active"
            self.marked = True

    def forget(self) -> None:
        self.learned, self.highest, self.slack = {}, 0.0, 0.0

    def begin_trial(self, start: Place) -> None:
        self.forget_plan()
        self.loc = start
        self.status = "goal" if start == self.goal else "active"


class Lrta(Learner):
    """1.14 and, with `reach`, 1.15: cells with g <= reach (and the agent's own) are interior."""

    def __init__(
        self, board: Board, start: Place, goal: Place, depth: int = 1, reach: float | None = None, resets: bool = False
    ) -> None:
        super().__init__(board, start, goal, resets)
        self.depth, self.reach = depth, reach

    def layers(self) -> dict[Place, int]:
        layer = {self.loc: 0}
        queue = deque([self.loc])
        while queue:
            s = queue.popleft()
            if s != self.goal and layer[s] < self.depth:
                for t, _ in self.board.successors(s):
                    if t not in layer:
                        layer[t] = layer[s] + 1
                        queue.append(t)
        return layer

    def plan_and_act(self) -> int:
        layer = self.layers() if self.reach is None else {}
        g, fh, parent = {self.loc: 0.0}, {self.loc: self.h(self.loc)}, {}
        inside: list[Place] = []

        def is_inside(s: Place) -> bool:
            if s == self.goal:
                return False
            return s == self.loc or (layer[s] < self.depth if self.reach is None else g[s] <= self.reach)

        while waiting := [s for s in g if s not in inside and is_inside(s)]:
            s = min(waiting, key=lambda s: (g[s], self.board.id(s)))
            inside.append(s)
            for t, cost in self.board.successors(s):
                if g[s] + cost < g.get(t, INF):
                    g[t], parent[t] = g[s] + cost, s
                    fh[t] = max(fh[s], g[t] + self.h(t))
        frontier = [s for s in g if s not in inside]
        self.last_plan = inside
        if not frontier:
            self.status = "no path"
            return len(inside)
        sums = {t: g[t] + self.h(t) if len(inside) == 1 else 0.0 for t in frontier}
        b = min(frontier, key=lambda t: (fh[t], t != self.goal, sums[t], -g[t], self.board.id(t)))
        self.set_h(self.loc, max(self.h(self.loc), fh[b]))
        if self.should_abort():
            self.status = "no path"
            return len(inside)
        while parent[b] != self.loc:
            b = parent[b]
        self.move(b)
        return len(inside)


class PLrta(Learner):
    """1.16 with a queue of `room` cells and up to `updates` from it before each move."""

    def __init__(self, board: Board, start: Place, goal: Place, room: int, updates: int, resets: bool = False) -> None:
        super().__init__(board, start, goal, resets)
        self.room, self.updates = room, updates
        self.queue: dict[Place, float] = {}

    def urgency(self, s: Place) -> tuple[float, int]:
        return self.queue[s], -self.board.id(s)

    def update(self, u: Place) -> None:
        values = [cost + self.h(t) for t, cost in self.board.successors(u)]
        if u == self.goal or not values:
            return
        delta = min(values) - self.h(u)
        if delta > 0.0:
            self.set_h(u, min(values))
            for t, _ in self.board.successors(u):
                if t != self.goal:
                    self.enqueue(t, delta)

    def forget(self) -> None:
        super().forget()
        self.queue = {}

    def enqueue(self, t: Place, priority: float) -> None:
        if t in self.queue:
            self.queue[t] = max(self.queue[t], priority)
        elif len(self.queue) < self.room:
            self.queue[t] = priority
        else:
            last = min(self.queue, key=self.urgency)
            if priority > self.queue[last]:
                del self.queue[last]
                self.queue[t] = priority

    def plan_and_act(self) -> int:
        self.last_plan = [self.loc]
        self.update(self.loc)
        while len(self.last_plan) <= self.updates and self.queue:
            u = max(self.queue, key=self.urgency)
            del self.queue[u]
            self.last_plan.append(u)
            self.update(u)
        if self.should_abort():
            self.status = "no path"
        else:
            ways = [(cost + self.h(t), -cost, self.board.id(t), t) for t, cost in self.board.successors(self.loc)]
            self.move(min(ways)[3])
        return len(self.last_plan)

    def change(self, gone: set[Arc], came: set[Arc]) -> None:
        super().change(gone, came)
        self.queue = {s: p for s, p in self.queue.items() if any(True for _ in self.board.successors(s))}


class LocalSearch(Learner):
    """1.17 to 1.20. `backup`: dijkstra or adaptive; `exits`: f or excess; `walks_all`: or one step a plan."""

    def __init__(
        self,
        board: Board,
        start: Place,
        goal: Place,
        n: int,
        backup: str = "dijkstra",
        exits: str = "f",
        walks_all: bool = True,
        resets: bool = False,
    ) -> None:
        super().__init__(board, start, goal, resets)
        self.n, self.backup, self.exits, self.walks_all = n, backup, exits, walks_all
        self.path: list[Place] = []
        self.before: dict[Place, float] = {}  # h of the expanded cells before the last plan

    def forget_plan(self) -> None:
        self.path = []

    def is_cut(self) -> bool:
        is_cut = any(self.board.cost(a, b) is None for a, b in zip(self.path, self.path[1:], strict=False))
        if is_cut:
            self.path = []
        return is_cut and self.walks_all

    def plan_and_act(self) -> int:
        used = 0
        if len(self.path) < 2 or not self.walks_all:
            used = self.plan()
        if self.status == "active":
            self.path = self.path[1:]
            self.move(self.path[0])
        return used

    def plan(self) -> int:
        g: dict[Place, float] = {self.loc: 0.0}
        parent: dict[Place, Place] = {}
        opened, used = {self.loc}, 0

        def order(s: Place) -> tuple[float, bool, float, int]:
            return g[s] + self.h(s), s != self.goal, -g[s], self.board.id(s)

        self.last_plan = []
        while (
            opened and min(opened, key=order) != self.goal and used < min(self.n, self.board.width * self.board.height)
        ):
            s = min(opened, key=order)
            opened.remove(s)
            self.last_plan.append(s)
            used += 1
            for t, cost in self.board.successors(s):
                if g[s] + cost < g.get(t, INF):
                    g[t], parent[t] = g[s] + cost, s
                    opened.add(t)
        if not opened:
            self.status = "no path"
            return used
        top = min(opened, key=order)
        closed = {s for s in self.last_plan if s not in opened}
        self.before = {s: self.h(s) for s in closed}
        self.back_up(g, opened, closed, g[top] + self.h(top))
        if self.should_abort():
            self.status = "no path"
            return used
        b = top
        if self.exits == "excess" and top != self.goal:
            b = min(opened, key=lambda s: (self.h(s) - self.board.h(s, self.goal), order(s)))
        self.path = [b]
        while self.path[0] != self.loc:
            self.path.insert(0, parent[self.path[0]])
        return used

    def back_up(self, g: dict[Place, float], opened: set[Place], closed: set[Place], f: float) -> None:
        if self.backup == "adaptive":
            for s in closed:
                self.set_h(s, max(self.h(s), f - g[s]))
            return
        new = dict.fromkeys(closed, INF)  # Bellman-Ford: until nothing gets better any more
        while True:
            values = {
                s: min(cost + (new[t] if t in closed else self.h(t)) for t, cost in self.board.successors(s))
                for s in closed
            }
            if values == new:
                break
            new = values
        for s in closed:
            self.set_h(s, new[s])
