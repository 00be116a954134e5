"""Movement rule of a map: which neighbours one move leads to, and what a diagonal move costs.

The rule is used only to compute the masks of legal moves (sim/kernels/terrain.py), so all code that reads these masks
follows it. The heuristic is the octile distance under every rule. It is admissible and consistent, because each move
leads to a neighbour and does not cost less than the octile distance to it. Without diagonal moves, the heuristic is
computed with a diagonal cost of 2, which makes it the Manhattan distance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.kernels import octile
from sim.params import Param

_Steps = npt.NDArray[np.signedinteger[Any]]  # differences of x or y, from -1 to 1

FOUR_NEIGHBOURS, EIGHT_NEIGHBOURS, CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS = (
    "four",
    "eight",
    "eight-cut",
    "eight-squeeze",
)

RULE_DESCRIPTIONS = {
    FOUR_NEIGHBOURS: "four neighbours",
    EIGHT_NEIGHBOURS: "eight neighbours, no corner cutting",
    CUT_ONE_CORNER: "eight neighbours, cutting one corner",
    SQUEEZE_BETWEEN_CORNERS: "eight neighbours, also between two blocked corners",
}
"""Description of each rule, from the strictest to the most permissive. Each rule allows all moves of earlier rules."""

_REQUIRED_SHOULDERS = {FOUR_NEIGHBOURS: 3, EIGHT_NEIGHBOURS: 2, CUT_ONE_CORNER: 1, SQUEEZE_BETWEEN_CORNERS: 0}

RULE_PARAM = Param(
    "movement",
    str,
    EIGHT_NEIGHBOURS,
    "neighbours to which a move may lead: the four straight ones; or all eight, diagonally only past two free cells, "
    "past one free cell (cutting the corner of the other), or past any cells",
    choices=tuple(RULE_DESCRIPTIONS),
)
DIAGONAL_PARAM = Param("diagonal", float, octile.DIAGONAL, "cost of a diagonal move", 1.0, 2.0)


@dataclass(frozen=True)
class Movement:
    """Movement rule of a map, and the cost of a diagonal move."""

    rule: str = EIGHT_NEIGHBOURS  # movement rule: FOUR, EIGHT, CUT or SQUEEZE
    diagonal: float = octile.DIAGONAL  # cost of a diagonal move; always 2 under the rule FOUR, which has none

    def __post_init__(self) -> None:
        assert self.rule in RULE_DESCRIPTIONS, self.rule
        if not self.has_diagonal_moves:
            object.__setattr__(self, "diagonal", 2.0)

    @property
    def has_diagonal_moves(self) -> bool:
        return self.rule != FOUR_NEIGHBOURS

    @property
    def required_shoulders(self) -> int:
        """Return how many of the two shoulders (cells adjacent to both ends) of a diagonal move must be passable.

        Shoulders must be of the same type (ground or water) as the cells of the move. The result 3 means that there are
        no diagonal moves, because there are only two shoulders.
        """
        return _REQUIRED_SHOULDERS[self.rule]

    def step_costs(self, dx: _Steps, dy: _Steps) -> npt.NDArray[np.float64]:
        """Return the cost of each step by (dx, dy) to a neighbour; 0 for a step that stays on its cell."""
        straight: npt.NDArray[np.float64] = np.abs(dx).astype(np.float64) + np.abs(dy)
        return np.where((dx != 0) & (dy != 0), self.diagonal, straight)

    @property
    def direction_costs(self) -> npt.NDArray[np.float64]:
        """Return the cost of a move in each direction, in the order of octile.DX and octile.DY."""
        return self.step_costs(octile.DX, octile.DY)

    @property
    def max_move_cost(self) -> float:
        """Return the cost of the most expensive move, diagonal or straight."""
        return self.diagonal if self.has_diagonal_moves else 1.0

    @property
    def description(self) -> str:
        """Return a description of the rule, with the cost of a diagonal move unless that is sqrt(2)."""
        is_usual = not self.has_diagonal_moves or self.diagonal == octile.DIAGONAL
        return (
            RULE_DESCRIPTIONS[self.rule]
            if is_usual
            else f"{RULE_DESCRIPTIONS[self.rule]}, a diagonal move costs {self.diagonal:.4g}"
        )


DEFAULT_MOVEMENT = Movement()
"""Movement rule and cost of the MovingAI benchmarks, and of every file that does not specify them."""
