"""What names a panel: an agent of a branch. Never a number, so that nobody takes one for the number of an agent."""

from typing import NamedTuple


class PanelKey(NamedTuple):
    branch: int
    agent: int

    def __str__(self) -> str:
        """For the names of controls: the agent's number in the first branch, and with its branch in others."""
        return f"{self.branch}.{self.agent}" if self.branch else f"{self.agent}"


FIRST = PanelKey(0, 0)
NOBODY = PanelKey(-1, -1)
"""The focused panel where nobody looks with a keyboard, as in a film."""
