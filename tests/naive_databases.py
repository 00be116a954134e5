"""Slow, obvious versions of hill climbing, abstraction and subgoals, after their papers. See naive.py."""

import math
from collections.abc import Collection

from .naive import Board, Place, Row
from .naive_learning import Lrta


def climb(board: Board, a: Place, b: Place, cap: float = float("inf")) -> list[Place] | None:
    """The cells from a to b by hill climbing, None if it gives up: when no child is nearer by h."""
    way = [a]
    while way[-1] != b:
        s = way[-1]
        children = list(board.successors(s))
        if len(way) - 1 == cap or all(board.h(t, b) >= board.h(s, b) for t, _ in children):
            return None
        way.append(min(children, key=lambda child: (child[1] + board.h(child[0], b), -child[1], board.id(child[0])))[0])
    return way


# --- abstraction ----------------------------------------------------------------------------------------


class Abstraction:
    """Levels of nodes; a node is a number, its cells a sorted list. levels[0] are the free cells."""

    def __init__(self, board: Board) -> None:
        self.board = board
        places = sorted(board.land, key=board.id)
        self.cells: list[list[list[Place]]] = [[[place] for place in places]]
        number = {place: i for i, place in enumerate(places)}
        arcs = [{number[t] for t, _ in board.successors(s)} for s in places]
        self.arcs = [arcs]
        self.parents: list[list[int]] = []
        while any(arcs):
            parent = grouped(arcs)
            self.parents.append(parent)
            count = max(parent) + 1
            cells: list[list[Place]] = [[] for _ in range(count)]
            joined: list[set[int]] = [set() for _ in range(count)]
            for u, p in enumerate(parent):
                cells[p] += self.cells[-1][u]
                joined[p] |= {parent[v] for v in arcs[u]} - {p}
            self.cells.append([sorted(group, key=board.id) for group in cells])
            self.arcs.append(joined)
            arcs = joined

    def level(self, level: int) -> int:
        return min(level, len(self.cells) - 1)

    def node(self, place: Place, level: int) -> int:
        return next(i for i, cells in enumerate(self.cells[self.level(level)]) if place in cells)

    def middle(self, node: int, level: int) -> tuple[float, float]:
        cells = self.cells[self.level(level)][node]
        return sum(x for x, _ in cells) / len(cells), sum(y for _, y in cells) / len(cells)

    def rep(self, node: int, level: int) -> Place:
        """The cell nearest to the mean, compared in whole numbers: distances times the number of cells."""
        cells = self.cells[self.level(level)][node]
        n, sx, sy = len(cells), sum(x for x, _ in cells), sum(y for _, y in cells)
        return min(cells, key=lambda c: ((n * c[0] - sx) ** 2 + (n * c[1] - sy) ** 2, self.board.id(c)))


def grouped(arcs: list[set[int]]) -> list[int]:
    """The parent of every node, numbered in the order in which they are made."""
    parent: dict[int, int] = {}
    made = 0
    aside: list[int] = []

    def clique(members: list[int]) -> None:
        nonlocal made
        parent.update(dict.fromkeys(members, made))
        made += 1

    for u in range(len(arcs)):
        if u in parent:
            continue
        waiting = sorted(v for v in arcs[u] if v not in parent)
        pairs = [(x, y) for x in waiting for y in waiting if x < y and y in arcs[x]]
        triples = [(x, y, z) for x, y in pairs for z in waiting if y < z and z in arcs[x] and z in arcs[y]]
        if not arcs[u]:
            clique([u])
        elif len(arcs[u]) > 1 and triples:
            clique([u, *triples[0]])
        elif len(arcs[u]) > 1 and pairs:
            clique([u, *pairs[0]])
        else:
            aside.append(u)
    for u in reversed(aside):
        if u in parent:
            continue
        waiting = sorted(v for v in arcs[u] if v not in parent)
        if waiting:
            clique([u, waiting[0]])
        elif len(arcs[u]) == 1:
            parent[u] = parent[min(arcs[u])]
        else:
            clique([u])
    return [parent[u] for u in range(len(arcs))]


# --- the database ---------------------------------------------------------------------------------------


def subgoal(levels: Abstraction, level: int, a: int, b: int) -> Place | None:
    """Where a cheapest way from the middle of region a to that of region b first leaves a."""
    board = levels.board
    field = board.distances(levels.rep(b, level))
    s = levels.rep(a, level)
    if a == b or s not in field:
        return None
    inside = levels.cells[levels.level(level)][a]
    while s in inside:
        arcs = [(cost + field[t], -cost, board.id(t), t) for t, cost in board.successors(s)]
        s = min(arcs)[3]
    return s


def optimal_depth(board: Board, s: Place, y: Place, cap: int | None) -> int:
    """The least depth whose first move, with nothing learned, is on a cheapest way from s to y; at most `cap`.

    Without a cap the depth is as large as it must be. A lookahead over all cells sees a cheapest way.
    """
    field = board.distances(y)
    cap = len(board.land) + 1 if cap is None else cap
    for depth in range(1, cap):
        agent = Lrta(board, s, y, depth)
        agent.plan_and_act()
        cost = board.cost(s, agent.loc)
        if cost is not None and field[s] == cost + field[agent.loc]:
            return depth
    return cap


def far_depth(levels: Abstraction, level: int, a: int, b: int, cap: int | None) -> int:
    """The third database of appendix C. Where no way exists: the cap, or 0 without one."""
    s, z = levels.rep(a, level), levels.rep(b, level)
    if a == b:
        return 1
    return optimal_depth(levels.board, s, z, cap) if s in levels.board.distances(z) else cap or 0


def near_depth(levels: Abstraction, level: int, a: int, b: int, cap: int | None) -> int:
    y = subgoal(levels, level, a, b)
    if y is None:
        return 1 if a == b else cap or 0
    return optimal_depth(levels.board, levels.rep(a, level), y, cap)


class DLrta(Lrta):
    """LRTA* with dynamic control; a dictionary of h for each target.

    `stored`: a visited cell takes the depth for the goal of the third database (appendices C and D), else the cap.
    On another map than that of the database it heads for the goal with depth 1.
    """

    def __init__(
        self,
        board: Board,
        start: Place,
        goal: Place,
        level: int,
        depth: int,
        cap: int | None,
        goals: bool,
        depths: bool,
        stored: bool = False,
        resets: bool = False,
    ) -> None:
        super().__init__(board, start, goal, depth, resets=resets)
        self.levels, self.level, self.fixed, self.cap = Abstraction(board), level, depth, cap
        self.goals, self.depths, self.stored = goals, depths, stored
        self.real_goal = goal
        self.tables: dict[Place, dict[Place, float]] = {goal: self.learned}
        self.visits = {start: 1}
        self.targets: list[Place] = []
        self.is_astray = False  # no way led to a subgoal
        self.arcs = board.arcs()  # those of the map that the database is for

    def control(self) -> tuple[Place, int]:
        target, depth = self.looked_up()
        return target, depth or len(self.board.land)

    def looked_up(self) -> tuple[Place, int]:
        """The target and the depth; 0: no depth is enough, so all cells that can be reached."""
        if (self.goals or self.depths) and self.board.arcs() != self.arcs:
            return self.real_goal, 1
        if not (self.goals or self.depths):
            return self.real_goal, self.fixed
        a, b = self.levels.node(self.loc, self.level), self.levels.node(self.real_goal, self.level)
        if not self.goals:
            return self.real_goal, far_depth(self.levels, self.level, a, b, self.cap)
        if self.visits[self.loc] > 1 or self.is_astray:
            if not self.depths:
                return self.real_goal, self.fixed
            return self.real_goal, far_depth(self.levels, self.level, a, b, self.cap) if self.stored else self.cap or 0
        depth = near_depth(self.levels, self.level, a, b, self.cap) if self.depths else self.fixed
        return subgoal(self.levels, self.level, a, b) or self.real_goal, depth

    def plan_and_act(self) -> int:
        self.goal, self.depth = self.control()
        self.targets.append(self.goal)
        self.learned = self.tables.setdefault(self.goal, {})
        used = super().plan_and_act()
        if self.status == "no path" and self.goal != self.real_goal:
            self.status, self.is_astray = "active", True
        self.goal, self.learned = self.real_goal, self.tables[self.real_goal]
        return used

    def set_h(self, s: Place, value: float) -> None:
        """Only what was learned toward the goal says by how much h may be too high after arcs were added."""
        highest = self.highest
        super().set_h(s, value)
        if self.goal != self.real_goal:
            self.highest = highest

    def forget(self) -> None:
        super().forget()
        self.tables = {self.real_goal: self.learned}

    def move(self, t: Place) -> None:
        self.loc = t
        self.visits[t] = self.visits.get(t, 0) + 1
        self.status = "goal" if t == self.real_goal else "active"


# --- PR LRTA* -------------------------------------------------------------------------------------------


class PrLrta:
    """LRTA* among regions, each step refined by A* inside two of them; on a map that does not change."""

    def __init__(
        self,
        board: Board,
        start: Place,
        goal: Place,
        level: int,
        depth: int,
        cap: int,
        goals: bool,
        depths: bool,
        gamma: float,
        is_straight: bool,
    ) -> None:
        self.board, self.loc, self.goal = board, start, goal
        self.levels = Abstraction(board)
        self.level = self.levels.level(level)
        self.high = self.levels.level(self.level + 1 if goals else self.level)
        self.depth, self.cap, self.goals, self.depths = depth, cap, goals, depths
        self.gamma, self.is_straight = gamma, is_straight
        self.h: dict[tuple[int, int], float] = {}
        self.starts: dict[Place, int] = {}
        self.leg: list[Place] = []
        self.status = "goal" if start == goal else "active"
        self.middles = [self.levels.middle(u, self.level) for u in range(len(self.levels.cells[self.level]))]

    def length(self, u: int, v: int) -> float:
        (ux, uy), (vx, vy) = self.middles[u], self.middles[v]
        dx, dy = abs(ux - vx), abs(uy - vy)
        if self.is_straight:
            return math.sqrt(dx * dx + dy * dy)
        return max(dx, dy) + (self.board.diagonal - 1.0) * min(dx, dy)

    def tick(self) -> Row:
        used = 0
        if not any(True for _ in self.board.successors(self.loc)) or self.goal not in self.board.distances(self.loc):
            self.status = "no path"
            return Row(self.loc, 0)
        if not self.leg:
            used = self.plan()
        self.loc = self.leg.pop(0)
        if self.loc == self.goal:
            self.status = "goal"
        return Row(self.loc, used)

    def plan(self) -> int:
        self.starts[self.loc] = self.starts.get(self.loc, 0) + 1
        u, b = (self.levels.node(place, self.level) for place in (self.loc, self.goal))
        cells = self.levels.cells[self.level]
        if u == b:
            return self.refine(cells[u], [self.goal], self.goal)
        target, depth = self.control()
        used, fh, parent = self.look_ahead(u, target, depth, self.h, self.gamma)
        v = self.best(fh, parent, u, target)
        self.h[target, u] = max(self.h.get((target, u), self.length(u, target)), fh[v][0])
        while parent[v] != u:
            v = parent[v]
        return used + self.refine(cells[u] + cells[v], cells[v], self.levels.rep(v, self.level))

    def control(self) -> tuple[int, int]:
        goal_node = self.levels.node(self.goal, self.level)
        a, b = self.levels.node(self.loc, self.high), self.levels.node(self.goal, self.high)
        if self.goals and self.starts[self.loc] > 1:
            return goal_node, self.cap if self.depths else self.depth
        y = subgoal(self.levels, self.high, a, b) if self.goals else None
        target = goal_node if y is None else self.levels.node(y, self.level)
        if not self.depths:
            return target, self.depth
        if a == b:
            return target, 1
        if self.goals and y is None:
            return target, self.cap
        s = self.levels.node(self.levels.rep(a, self.high), self.level)
        z = self.levels.node(self.levels.rep(b, self.high), self.level)
        return target, self.optimal_depth(s, z if y is None else target)

    def look_ahead(
        self, root: int, target: int, depth: int, h: dict[tuple[int, int], float], gamma: float
    ) -> tuple[int, dict[int, tuple[float, float]], dict[int, int]]:
        """Expansions; f and g of the frontier; parents."""
        arcs = self.levels.arcs[self.level]
        layer, queue = {root: 0}, [root]
        for u in queue:
            if u != target and layer[u] < depth:
                for v in sorted(arcs[u]):
                    if v not in layer:
                        layer[v] = layer[u] + 1
                        queue.append(v)

        def value(u: int) -> float:
            return h.get((target, u), self.length(u, target))

        g, fh, parent = {root: 0.0}, {root: value(root)}, dict[int, int]()
        done: list[int] = []
        while waiting := [u for u in g if u not in done and u != target and layer[u] < depth]:
            u = min(waiting, key=lambda u: (g[u], u))
            done.append(u)
            for v in sorted(arcs[u]):
                new = g[u] + self.length(u, v)
                if new < g.get(v, float("inf")):
                    g[v], parent[v] = new, u
                    fh[v] = max(fh[u], gamma * new + value(v))
        return len(done), {v: (fh[v], g[v]) for v in g if v not in done}, parent

    @staticmethod
    def best(fh: dict[int, tuple[float, float]], parent: dict[int, int], root: int, target: int) -> int:
        return min(fh, key=lambda v: (fh[v][0], v != target, -fh[v][1], v))

    def optimal_depth(self, s: int, y: int) -> int:
        """Like optimal_depth() above, among regions."""
        if s == y:
            return 1
        field, arcs = {y: 0.0}, self.levels.arcs[self.level]
        for _ in arcs:  # Bellman and Ford
            for u in range(len(arcs)):
                for v in arcs[u]:
                    if u in field and field[u] + self.length(u, v) < field.get(v, float("inf")):
                        field[v] = field[u] + self.length(u, v)
        if s not in field:
            return self.cap
        for depth in range(1, self.cap):
            _, fh, parent = self.look_ahead(s, y, depth, {}, 1.0)
            if not fh:
                continue
            v = self.best(fh, parent, s, y)
            while parent[v] != s:
                v = parent[v]
            if self.length(s, v) + field[v] <= field[s] * (1 + 1e-9):
                return depth
        return self.cap

    def refine(self, inside: list[Place], ends: list[Place], aim: Place) -> int:
        """A* in these cells until one of the ends is on top. Returns the expansions; writes the leg."""
        used, way = way_inside(self.board, self.loc, inside, ends, aim)
        self.leg = way[1:]
        return used


def way_inside(
    board: Board, start: Place, inside: Collection[Place], ends: Collection[Place], aim: Place
) -> tuple[int, list[Place]]:
    """A* on the map in these cells until one of the ends is on top: its expansions and its path."""
    g, parent, done = {start: 0.0}, dict[Place, Place](), set[Place]()
    while True:
        top = min(set(g) - done, key=lambda s: (g[s] + board.h(s, aim), -g[s], board.id(s)))
        if top in ends:
            break
        done.add(top)
        for t, cost in board.successors(top):
            if t in inside and g[top] + cost < g.get(t, float("inf")):
                g[t], parent[t] = g[top] + cost, top
    way = [top]
    while way[0] in parent:
        way.insert(0, parent[way[0]])
    return len(done), way


# --- PRA* -----------------------------------------------------------------------------------------------


class Pra:
    """Partial refinement A*: a plan on a middle level, refined level by level; on a map that does not change."""

    def __init__(
        self,
        board: Board,
        start: Place,
        goal: Place,
        level: int = 0,
        is_wide: bool = True,
        keep: int = 0,
        is_straight: bool = False,
        has_enough: bool = False,
    ) -> None:
        self.board, self.goal, self.levels = board, goal, Abstraction(board)
        self.fixed, self.is_wide, self.keep = level, is_wide, keep or 10**9
        self.is_straight, self.has_enough = is_straight, has_enough
        self.walk, self.expansions = [start], 0

    def run(self) -> bool:
        """Walk to the goal. False: there is no path."""
        while self.walk[-1] != self.goal:
            way = self.plan(self.walk[-1])
            if way is None:
                return False
            self.walk += way[1:]
        return True

    def first_level(self, loc: Place) -> int | None:
        """On which to begin: half-way to the lowest node that holds both cells, 0 for plain A*."""
        tops = range(len(self.levels.cells))
        shared = [at for at in tops if self.levels.node(loc, at) == self.levels.node(self.goal, at)]
        if not shared:
            return None
        if shared[0] < 2:
            return 0
        level = min(self.fixed, shared[0]) if self.fixed else max(1, shared[0] // 2)
        least = 2 * math.sqrt(len(self.levels.cells[0]))
        while self.has_enough and level > 1 and len(self.levels.cells[level]) < least:
            level -= 1
        return level

    def plan(self, loc: Place) -> list[Place] | None:
        level = self.first_level(loc)
        if level is None:
            return None
        inside: set[int] | None = None  # nodes of the level above in which the search stays, None: everywhere
        end: int | None = None  # the node of the level above in any of whose children it ends, None: at the goal
        for at in range(level, 0, -1):
            way = self.way_among(at, loc, inside, end)
            kept = way[: self.keep + 1]
            end = None if kept[-1] == self.levels.node(self.goal, at) else kept[-1]
            inside = set(kept)
            if self.is_wide:
                inside |= {v for u in kept for v in self.levels.arcs[at][u]}
        cells = self.board.land if inside is None else [c for u in inside for c in self.levels.cells[1][u]]
        ends = [self.goal] if end is None else self.levels.cells[1][end]
        aim = self.goal if end is None else self.levels.rep(end, 1)
        used, path = way_inside(self.board, loc, set(cells), ends, aim)
        self.expansions += used
        return path

    def way_among(self, level: int, loc: Place, inside: set[int] | None, end: int | None) -> list[int]:
        """A* among the nodes of a level."""
        levels, parents = self.levels, self.levels.parents[level] if level < len(self.levels.parents) else []
        root, goal = levels.node(loc, level), levels.node(self.goal, level)
        aim = levels.middle(goal, level) if end is None else levels.middle(end, level + 1)

        def h(u: int) -> float:
            return self.length(levels.middle(u, level), aim)

        g, parent, done = {root: 0.0}, dict[int, int](), set[int]()
        while True:
            top = min(set(g) - done, key=lambda u: (g[u] + h(u) if u != root else 0.0, int(h(u) * 2**23), u))
            if top == goal or (end is not None and parents[top] == end):
                break
            done.add(top)
            for v in levels.arcs[level][top]:
                new = g[top] + self.length(levels.middle(top, level), levels.middle(v, level))
                if v not in done and (inside is None or parents[v] in inside) and new < g.get(v, float("inf")):
                    g[v], parent[v] = new, top
        self.expansions += len(done)
        way = [top]
        while way[0] in parent:
            way.insert(0, parent[way[0]])
        return way

    def length(self, a: tuple[float, float], b: tuple[float, float]) -> float:
        dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
        if self.is_straight:
            return math.sqrt(dx * dx + dy * dy)
        return max(dx, dy) + (self.board.diagonal - 1.0) * min(dx, dy)


# --- depths chosen on the run ---------------------------------------------------------------------------


class Hopeful(Lrta):
    """Moves on when its h says that there is no way: a lookahead that only asks for a move does not look at that."""

    def should_abort(self) -> bool:
        return False


class Chooser(Lrta):
    """LRTA* that is told its depth before each move, and remembers what the features of appendix A ask for."""

    def __init__(self, board: Board, start: Place, goal: Place, dmax: int, steps: int) -> None:
        super().__init__(board, start, goal, dmax)
        self.dmax, self.steps = dmax, steps
        self.past: list[tuple[Place, float]] = []  # states before this one, the latest last, and by how much h rose
        self.last_move_directions: dict[Place, Place] = {}

    def first_move(self, depth: int) -> tuple[Place | None, list[Place], int]:
        """Where a lookahead of this depth would go; its frontier; its expansions. Learns nothing."""
        twin = Hopeful(self.board, self.loc, self.goal, depth)
        twin.learned = dict(self.learned)
        layer = twin.layers()
        twin.plan_and_act()
        rim = [s for s in layer if s not in twin.last_plan]
        return (twin.loc if rim else None), rim, len(twin.last_plan)

    def label(self) -> int:
        move = self.first_move(self.dmax)[0]
        depth = self.dmax
        while depth > 1 and self.first_move(depth - 1)[0] == move:
            depth -= 1
        return depth

    def features(self, q: int) -> list[float]:
        move, rim, _ = self.first_move(q)
        last = self.past[-self.steps :]
        oldest = last[0][0] if last else self.loc
        raised = [s for s in rim if self.h(s) > self.board.h(s, self.goal)]
        f = [self.board.h(self.loc, self.goal), self.board.h(self.loc, oldest), len({s for s, _ in last})]
        f += [sum(by for _, by in last), len(rim) / (8 * q), len(raised) / len(rim) if rim else 0.0]
        f.append(self.loc in self.last_move_directions and self.last_move_directions[self.loc] == move)
        step = (self.loc[0] - last[-1][0][0], self.loc[1] - last[-1][0][1]) if last else None
        f.append(step is not None and move == (self.loc[0] + step[0], self.loc[1] + step[1]))
        if move is None:
            return [float(x) for x in [*f, 0, 0, 0]]
        h, h_next = self.h(self.loc), self.h(move)
        f.append(min(100.0, h / h_next) if h_next else 100.0)
        f += [h_next > self.board.h(move, self.goal), h > h_next]
        return [float(x) for x in f]

    def walk(self, depth: int) -> int:
        """One move with this depth. Returns the expansions."""
        s, before, self.depth = self.loc, self.h(self.loc), depth
        used = super().plan_and_act()
        if self.loc != s:
            self.past.append((s, self.h(s) - before))
            self.last_move_directions[s] = self.loc
        return used


def compressed(board: Board, path: list[Place]) -> list[Place]:
    """A path as a record of kNN LRTA*: the farthest cell along it that can be climbed to, again and again."""
    record, i = [path[0]], 0
    while climb(board, path[i], path[-1]) is None:
        i = max(j for j in range(i + 1, len(path)) if climb(board, path[i], path[j]) is not None)
        record.append(path[i])
    return [*record, path[-1]]
