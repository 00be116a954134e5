"""Slow, obvious versions of what databases.md describes: hill climbing, abstraction, subgoals. See naive.py."""

from .naive import Board, Place


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
