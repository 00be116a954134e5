"""A slow, obvious kNN LRTA*, after "Real-Time Heuristic Search for Pathfinding in Video Games": dictionaries, and every
record looked at. See naive.py.
"""

from collections.abc import Sequence

from .naive import Board, Place
from .naive_databases import climb

INF = float("inf")


class Knn:
    def __init__(
        self,
        board: Board,
        start: Place,
        goal: Place,
        records: Sequence[list[Place]],
        similar: int,
        cap: int,
        skips_first: bool = False,
    ):
        self.board, self.loc, self.goal, self.records = board, start, goal, records
        self.similar, self.cap, self.skips_first = similar, cap, skips_first
        self.h: dict[tuple[Place, Place], float] = {}
        self.queue: list[Place] = []
        self.quota = INF
        self.verdicts: list[tuple[int, str]] = []

    def dissimilarity(self, record: list[Place]) -> float:
        return max(self.board.h(self.loc, record[0]), self.board.h(record[-1], self.goal))

    def select(self) -> None:
        self.verdicts = []
        if climb(self.board, self.loc, self.goal, self.cap):
            self.queue, self.quota = [self.goal], INF
            return
        order = sorted(range(len(self.records)), key=lambda r: (self.dissimilarity(self.records[r]), r))
        for r in order[: self.similar]:
            record = self.records[r]
            if not climb(self.board, self.loc, record[0], self.cap):
                self.verdicts.append((r, "no way to it"))
            elif not climb(self.board, record[-1], self.goal, self.cap):
                self.verdicts.append((r, "no way from it"))
            else:
                self.verdicts.append((r, "accepted"))
                first = int(self.skips_first and bool(climb(self.board, self.loc, record[1], self.cap)))
                self.queue, self.quota = [*record[first:], self.goal], INF
                return
        self.queue, self.quota = [self.goal], self.cap

    def tick(self) -> None:
        while self.queue and self.queue[0] == self.loc:
            self.queue.pop(0)
        if not self.queue or self.quota == 0:
            self.select()
            while self.queue[0] == self.loc:
                self.queue.pop(0)
        target = self.queue[0]
        best = min(
            self.board.successors(self.loc),
            key=lambda arc: (arc[1] + self.h_to(target, arc[0]), arc[0] != target, -arc[1], self.board.id(arc[0])),
        )
        value = best[1] + self.h_to(target, best[0])
        if value > self.h_to(target, self.loc):
            self.h[target, self.loc] = value
        self.loc = best[0]
        self.quota -= 1

    def h_to(self, target: Place, s: Place) -> float:
        return self.h.get((target, s), self.board.h(s, target))
