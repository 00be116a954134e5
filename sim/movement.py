"""The movement rule of a map: which neighbours one move leads to, and what a diagonal move costs.

The rule lives in the move masks (sim/kernels/terrain.py) and nowhere else: who asks a mask obeys it. The heuristic is
octile distance under every rule. It is admissible and consistent for each, as no move goes further than to a neighbour
and none costs less than octile distance says; without diagonals it is made with a diagonal of two straight moves, and
that is Manhattan distance.
"""

from dataclasses import dataclass

from sim.kernels import octile
from sim.params import Param

FOUR, EIGHT, CUT, SQUEEZE = "four", "eight", "eight-cut", "eight-squeeze"

WORDS = {
    FOUR: "four neighbours",
    EIGHT: "eight neighbours, no corner is cut",
    CUT: "eight neighbours, one corner may be cut",
    SQUEEZE: "eight neighbours, even between two blocked corners",
}
"""Each rule in words, from the strictest to the laxest: each allows all moves of those before it."""

_NEEDED = {FOUR: 3, EIGHT: 2, CUT: 1, SQUEEZE: 0}

RULE = Param(
    "movement",
    str,
    EIGHT,
    "which neighbours one move leads to: the four straight ones; all eight, diagonally only past two free cells; past "
    "one free cell, cutting the other's corner; past any",
    choices=tuple(WORDS),
)
DIAGONAL = Param("diagonal", float, octile.DIAGONAL, "cost of a diagonal move", 1.0, 2.0)


@dataclass(frozen=True)
class Movement:
    """How agents move on a map."""

    rule: str = EIGHT
    diagonal: float = octile.DIAGONAL  # without diagonal moves always 2: two straight ones lead as far

    def __post_init__(self) -> None:
        assert self.rule in WORDS, self.rule
        if not self.has_diagonals:
            object.__setattr__(self, "diagonal", 2.0)

    @property
    def has_diagonals(self) -> bool:
        return self.rule != FOUR

    @property
    def needed(self) -> int:
        """How many of the two cells beside a diagonal must be of its kind; 3, more than there are: no diagonals."""
        return _NEEDED[self.rule]

    @property
    def dearest(self) -> float:
        """What the dearest move costs."""
        return self.diagonal if self.has_diagonals else 1.0

    @property
    def words(self) -> str:
        """For whoever reads: the rule, and what a diagonal costs where that is not sqrt(2)."""
        is_usual = not self.has_diagonals or self.diagonal == octile.DIAGONAL
        return WORDS[self.rule] if is_usual else f"{WORDS[self.rule]}, a diagonal costs {self.diagonal:.4g}"


USUAL = Movement()
"""That of the benchmarks, and of every file that says nothing."""
