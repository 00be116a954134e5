"""The slow, obvious oracles: dictionaries, pairs (x, y), no numpy, no numba, nothing imported from the project.

Written from the papers, not from the kernels. Where two readings are possible, the one taken is named. Never make
these fast: their worth is that one can see that they are right.
"""

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

SQRT2 = float.fromhex("0x1.6a09e6p0")
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0), (1, -1), (1, 1), (-1, 1), (-1, -1))

Place = tuple[int, int]
Arc = tuple[Place, Place]


class Board:
    """A map as a dictionary from (x, y) to the kind of land there; what is solid is not in it.

    `rule`: by "four", moves are straight only; else diagonal moves too, past two cells of the same land ("eight"), past
    one at least ("eight-cut"), or whatever lies beside them ("eight-squeeze").
    """

    def __init__(self, rows: list[str], diagonal: float = SQRT2, rule: str = "eight") -> None:
        self.diagonal, self.rule = diagonal, rule
        self.width, self.height = len(rows[0]), len(rows)
        self.land: dict[Place, str] = {}
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                self.put((x, y), letter)

    @property
    def dearest(self) -> float:
        """What the dearest move costs."""
        return 1.0 if self.rule == "four" else self.diagonal

    def put(self, place: Place, letter: str) -> None:
        self.land.pop(place, None)
        if letter in ".GSB":
            self.land[place] = "ground"
        elif letter == "W":
            self.land[place] = "water"

    def id(self, place: Place) -> int:
        return place[1] * self.width + place[0]

    def at(self, cell: int) -> Place:
        return cell % self.width, cell // self.width

    def cost(self, a: Place, b: Place) -> float | None:
        """The cost of the move from a to b, None when it is not legal."""
        (ax, ay), (bx, by) = a, b
        if max(abs(ax - bx), abs(ay - by)) != 1 or a not in self.land:
            return None
        if self.land.get(b) != self.land[a]:
            return None
        if ax == bx or ay == by:
            return 1.0
        open_sides = [(ax, by), (bx, ay)]
        open_sides = [side for side in open_sides if self.land.get(side) == self.land[a]]
        if self.rule == "four" or len(open_sides) < {"eight": 2, "eight-cut": 1, "eight-squeeze": 0}[self.rule]:
            return None
        return self.diagonal

    def successors(self, a: Place) -> Iterator[tuple[Place, float]]:
        for dx, dy in STEPS:
            b = (a[0] + dx, a[1] + dy)
            cost = self.cost(a, b)
            if cost is not None:
                yield b, cost

    def arcs(self) -> set[Arc]:
        return {(a, b) for a in self.land for b, _ in self.successors(a)}

    def h(self, a: Place, b: Place) -> float:
        """Octile distance: as many diagonals as possible, the rest straight; by "four", Manhattan distance."""
        dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
        if self.rule == "four":
            return float(dx + dy)
        diagonals = min(dx, dy)
        return diagonals * self.diagonal + (dx - diagonals) + (dy - diagonals)

    def distances(self, source: Place) -> dict[Place, float]:
        """Dijkstra from `source`; unreachable places are missing. (Moves are undirected.)"""
        done: dict[Place, float] = {}
        queue = [(0.0, source)] if source in self.land else []
        while queue:
            d, a = heapq.heappop(queue)
            if a not in done:
                done[a] = d
                for b, cost in self.successors(a):
                    heapq.heappush(queue, (d + cost, b))
        return done

    def length(self, walk: list[Place]) -> float:
        costs = [self.cost(a, b) for a, b in itertools.pairwise(walk)]
        assert None not in costs, walk
        return sum(c for c in costs if c is not None)


class BestFirst:
    """Section 0.7: f = wg * g + wh * h, ties by larger g, then smaller cell number; the goal wins every tie on f."""

    def __init__(
        self, board: Board, root: Place, goal: Place, wg: float = 1.0, wh: float = 1.0, reopen: bool = False
    ) -> None:
        self.board, self.root, self.goal = board, root, goal
        self.wg, self.wh, self.reopen = wg, wh, reopen
        self.g = {root: 0.0}
        self.parent: dict[Place, Place | None] = {root: None}
        self.open = {root}
        self.order: list[Place] = []  # every expansion, repetitions too
        self.popped_f: list[float] = []

    def f(self, a: Place) -> float:
        return self.wg * self.g[a] + self.wh * self.board.h(a, self.goal)

    def best(self) -> Place | None:
        if not self.open:
            return None
        top = min(self.open, key=lambda a: (self.f(a), -self.g[a], self.board.id(a)))
        if self.goal in self.open and self.f(self.goal) <= self.f(top):
            return self.goal
        return top

    def run(self, limit: float) -> str:
        """'goal', 'empty' or 'budget' after at most `limit` expansions."""
        for used in itertools.count():
            s = self.best()
            if s is None:
                return "empty"
            if s == self.goal:
                return "goal"
            if used >= limit:
                return "budget"
            self.expand(s)
        raise AssertionError

    def expand(self, s: Place) -> None:
        self.open.remove(s)
        self.order.append(s)
        self.popped_f.append(self.f(s))
        for t, cost in self.board.successors(s):
            g = self.g[s] + cost
            is_new = t not in self.g
            is_better = not is_new and self.wg > 0 and g < self.g[t]
            if is_new or (is_better and (t in self.open or self.reopen)):
                self.g[t], self.parent[t] = g, s
                self.open.add(t)

    def chain(self, s: Place) -> list[Place]:
        """From s back to the root."""
        chain = [s]
        while (before := self.parent[chain[-1]]) is not None:
            chain.append(before)
        return chain


@dataclass
class Row:
    """What an agent did in one tick."""

    cell: Place
    expanded: int
    back: bool = False
    restarted: bool = False
    bounced: bool = False
    traced: int = 0


class TbBfs:
    """Sections 1.10 to 1.13. `restart`: eager or lazy; `rule`: arc or printed (arc and the listing's own test)."""

    def __init__(
        self,
        board: Board,
        start: Place,
        goal: Place,
        k: int,
        wg: float = 1.0,
        wh: float = 1.0,
        reopen: bool = False,
        restart: str = "eager",
        rule: str = "arc",
    ) -> None:
        self.board, self.loc, self.goal, self.k = board, start, goal, k
        self.weights, self.reopen, self.restart_when, self.rule = (wg, wh), reopen, restart, rule
        self.status = "active"
        self.restarts = 0
        self.marked = False
        self._begin()

    def _begin(self) -> None:
        self.search = BestFirst(self.board, self.loc, self.goal, *self.weights, self.reopen)
        self.path: list[Place] = []
        self.found = False
        self.is_stale = False
        self.status = "goal" if self.loc == self.goal else "active"

    def _restart(self) -> None:
        self._begin()
        self.restarts += 1
        self.marked = True

    def way(self) -> list[Place]:
        """From the agent back along parents to the first place on the path, then along it."""
        way = []
        for a in self.search.chain(self.loc):
            if a in self.path:
                return way + self.path[self.path.index(a) :]
            way.append(a)
        return way

    def tick(self) -> Row:
        used = self._plan()
        row = self._act(used)
        row.restarted, self.marked = self.marked, False
        return row

    def _plan(self) -> int:
        used = 0
        while not self.found:
            before = len(self.search.order)
            end = self.search.run(self.k - used)
            used += len(self.search.order) - before
            if end == "empty" and not self.is_stale:
                self.status = "no path"
                break
            if end != "empty":
                best = self.search.best()
                assert best is not None
                self.found = end == "goal"
                self.path = self.search.chain(best)[::-1]
                if not self.is_stale or self._way_is_legal():
                    break
            self._restart()
        return used

    def _way_is_legal(self) -> bool:
        return all(self.board.cost(a, b) is not None for a, b in itertools.pairwise(self.way()))

    def _act(self, used: int) -> Row:
        if self.status != "active":
            return Row(self.loc, used)
        if self.loc in self.path[:-1]:
            self.loc = self.path[self.path.index(self.loc) + 1]
            self.status = "goal" if self.loc == self.goal else "active"
            return Row(self.loc, used)
        before = self.search.parent[self.loc]
        if before is None:
            return Row(self.loc, used)
        self.loc = before
        return Row(self.loc, used, back=True)

    def change(self, gone: set[Arc], came: set[Arc]) -> None:
        """The board has changed: these arcs are not there any more, these are new."""
        if self.status == "goal" or not (gone or came):
            return
        if self.status == "no path":
            if any(u in self.search.g for u, _ in came):
                self._restart()
            return
        if not self.search.order and not self.path:
            return
        self.is_stale = True
        if self.restart_when == "eager" or self.must_restart(gone, came):
            self._restart()

    def must_restart(self, gone: set[Arc], came: set[Arc]) -> bool:
        way = self.way()
        ahead = set(itertools.pairwise(way))
        if gone & ahead:
            return True
        if self.rule == "printed" and any(v in self.path for _, v in gone):
            return True
        wg, w = self.weights
        if wg == 0.0:
            return False  # Algorithm 3 is stated for weighted A* only
        left = self.board.length(way) + (0.0 if self.found else self.board.h(way[-1], self.goal))
        for u, v in came:
            cost = self.board.cost(u, v)
            assert cost is not None
            if w * (self.board.h(self.loc, u) + cost + self.board.h(v, self.goal)) < left:
                return True
        return False


@dataclass
class Tba:
    """Sections 1.6 to 1.8, with the traps resolved as written there."""

    board: Board
    loc: Place
    goal: Place
    R: int
    r: float = 0.9
    c: float = 10.0
    trace_check: bool = True
    keeps_longer: bool = False
    shortcut: bool = False
    shortcut_budget: int | None = None
    status: str = "active"
    adopted_g: list[float] = field(default_factory=list)
    adopted_f: list[float] = field(default_factory=list)
    shortcuts: list[tuple[Place, list[Place]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = self.loc
        self.search = BestFirst(self.board, self.start, self.goal)
        self.prev: Place | None = None
        self.found = self.has_goal_path = False
        self.first = self.trace_done = True
        self.trace: list[Place] = []
        self.follow: list[Place] = []
        self.head = 0
        self.end_g = 0.0
        if self.loc == self.goal:
            self.status = "goal"

    def tick(self) -> Row:
        used, traced = self._plan()
        row = Row(self.loc, used, traced=traced)
        if self.status == "active":
            self._act(row)
        return row

    def _plan(self) -> tuple[int, int]:
        used = steps = 0
        if not self.found:
            n_e = floor(self.R * self.r)
            limit = min(n_e, floor((self.R - n_e) * self.c)) if self.first else n_e
            self.first = False
            before = len(self.search.order)
            end = self.search.run(limit)
            used = len(self.search.order) - before
            if end == "empty":
                self.status = "no path"
                return used, 0
            self.found = end == "goal"
        room = floor((self.R - used) * self.c)
        if not self.has_goal_path:
            steps = self._trace_slice(room)
        if self.has_goal_path and self.shortcut and self.loc not in self.follow:
            more_used, more_steps = self._seek_shortcut(used, steps, room)
            used, steps = used + more_used, steps + more_steps
        return used, steps

    def _trace_slice(self, room: int) -> int:
        if self.trace_done:
            best = self.search.best()
            assert best is not None
            self.trace = [best]
        self.trace_done = False
        if self.trace_check and self.loc in self.trace:
            self.trace = self.trace[: self.trace.index(self.loc) + 1]
            self.trace_done = True
        steps = 0
        while not self.trace_done:
            if self.trace[-1] in (self.loc, self.start):
                self.trace_done = True
            elif steps == room:
                break
            else:
                before = self.search.parent[self.trace[-1]]
                assert before is not None
                self.trace.append(before)
                steps += 1
        if self.trace_done and self._accepts():
            self.follow, self.head = self.trace[::-1], 0
            self.end_g = self.search.g[self.trace[0]]
            self.adopted_g.append(self.end_g)
            self.adopted_f.append(self.search.f(self.trace[0]))
            self.has_goal_path = self.trace[0] == self.goal
        return steps

    def _accepts(self) -> bool:
        is_used_up = self.head >= len(self.follow)
        longer = self.search.g[self.trace[0]] >= self.end_g
        return not self.keeps_longer or is_used_up or self.trace[0] == self.goal or longer

    def _act(self, row: Row) -> None:
        i = self.follow.index(self.loc) if self.loc in self.follow else None
        new: Place | None
        if i is not None and i >= self.head and i + 1 < len(self.follow):
            new = self.follow[i + 1]
            self.head = i + 1
        else:
            if i is not None and i == len(self.follow) - 1:
                self.head = len(self.follow)
            if self.loc != self.start:
                new = self.search.parent[self.loc]
                row.back = True
            else:
                new = self.prev
                row.bounced = True
        assert new is not None, "the first slice leaves nothing to walk"
        self.prev, self.loc = self.loc, new
        row.cell = new
        if new == self.goal:
            self.status = "goal"

    def _seek_shortcut(self, used: int, steps: int, room: int) -> tuple[int, int]:
        """Seeds and the way to the junction cost trace steps; the expansions get what the tick has left."""
        chain = self.search.chain(self.loc)
        to_junction = next(i for i, a in enumerate(chain) if a in self.follow)
        seeds = self.follow[self.follow.index(chain[to_junction]) :]
        charged = to_junction + len(seeds)
        if steps + charged > room:
            return 0, min(to_junction, max(0, room - steps))
        left = self.R - used - math.ceil((steps + charged) / self.c - 1e-9)
        if self.shortcut_budget:
            left = min(left, self.shortcut_budget)
        search = BestFirst(self.board, seeds[-1], self.loc)
        search.open = set(seeds)
        for i, a in enumerate(seeds):
            search.g[a], search.parent[a] = self.board.length(seeds[i:]), None
        end = search.run(max(0, left))
        if end == "goal":
            branch = search.chain(self.loc)
            self.follow = branch + seeds[seeds.index(branch[-1]) + 1 :]
            self.head = 0
            self.shortcuts.append((self.loc, list(self.follow)))
        return len(search.order), charged


@dataclass
class DelayedAstar:
    """Section 1.5: to and fro between the start and `aside` until the whole path is traced."""

    board: Board
    loc: Place
    goal: Place
    aside: Place
    R: int
    r: float = 0.9
    c: float = 10.0
    status: str = "active"

    def __post_init__(self) -> None:
        self.start = self.loc
        self.search = BestFirst(self.board, self.start, self.goal)
        self.trace: list[Place] = []
        self.path: list[Place] = []
        if self.loc == self.goal:
            self.status = "goal"

    def tick(self) -> Row:
        used = steps = 0
        is_found = bool(self.trace)
        if not is_found:
            before = len(self.search.order)
            end = self.search.run(floor(self.R * self.r))
            used = len(self.search.order) - before
            if end == "empty":
                self.status = "no path"
                return Row(self.loc, used)
            is_found = end == "goal"
        if is_found and not self.path:
            self.trace = self.trace or [self.goal]
            room = floor((self.R - used) * self.c)
            while steps < room and self.trace[-1] != self.start:
                before_it = self.search.parent[self.trace[-1]]
                assert before_it is not None
                self.trace.append(before_it)
                steps += 1
            if self.trace[-1] == self.start:
                self.path = self.trace[::-1]
        if self.path and self.loc in self.path:
            self.loc = self.path[self.path.index(self.loc) + 1]
        else:
            self.loc = self.aside if self.loc == self.start else self.start
        if self.loc == self.goal:
            self.status = "goal"
        return Row(self.loc, used, traced=steps)


def floor(number: float) -> int:
    return math.floor(number + 1e-9)


def walk_numbers(boards: list[Board], goal: Place, walk: list[Place]) -> dict[str, float]:
    """The referee's numbers of a walk; boards[i] is the map when move i is executed."""
    cost = moves = waits = nonoptimal = 0.0
    for board, a, b in zip(boards, walk, walk[1:], strict=False):
        if a == b:
            waits += 1
            continue
        step = board.cost(a, b)
        assert step is not None, (a, b)
        d = board.distances(goal)
        cost, moves = cost + step, moves + 1
        is_optimal = a in d and d[a] == step + d[b]  # with no path left, no move is
        nonoptimal += not is_optimal
    most = max(walk.count(a) - sum(x == y == a for x, y in itertools.pairwise(walk)) for a in set(walk))
    return {
        "cost": cost,
        "moves": moves,
        "waits": waits,
        "nonoptimal_moves": nonoptimal,
        "revisits": moves + 1 - len(set(walk)),
        "longest_stay": most,
    }


def arc_difference(before: set[Arc], after: set[Arc]) -> tuple[set[Arc], set[Arc]]:
    """(arcs that went, arcs that came)."""
    return before - after, after - before


def astar_expansions(board: Board, start: Place, goal: Place, ties: Iterable[str]) -> dict[str, int]:
    """Expansions of a plain heapq A* on a whole benchmark map, for several ways to choose among equal f and g."""
    around: dict[Place, list[tuple[Place, float]]] = {}
    counts = {}
    for tie in ties:
        number = itertools.count()
        last = {
            "smaller id": board.id,
            "larger id": lambda a: -board.id(a),
            "first in": lambda a, number=number: next(number),
            "last in": lambda a, number=number: -next(number),
        }[tie]
        g = {start: 0.0}
        closed: set[Place] = set()
        queue = [(board.h(start, goal), 0.0, last(start), start)]
        while True:
            _, _, _, s = heapq.heappop(queue)
            if s == goal:
                break
            if s in closed:
                continue
            closed.add(s)
            if s not in around:
                around[s] = list(board.successors(s))
            for t, cost in around[s]:
                new = g[s] + cost
                if t not in closed and new < g.get(t, math.inf):
                    g[t] = new
                    heapq.heappush(queue, (new + board.h(t, goal), -new, last(t), t))
        counts[tie] = len(closed)
    return counts


def component(board: Board, start: Place) -> set[Place]:
    return set(board.distances(start))


def ids(board: Board, places: Iterable[Place]) -> list[int]:
    return [board.id(a) for a in places]
