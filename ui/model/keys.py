"""Keys of panels: a branch and an agent. They are not plain numbers, which could be mistaken for agent numbers."""

from typing import NamedTuple


class PanelKey(NamedTuple):
    """Key of a panel: the number of its branch, and the number of its agent or of the first agent of its crowd."""

    branch: int
    agent: int

    def __str__(self) -> str:
        """Return the key for the ids of controls: the agent's number, preceded by the branch unless it is the first."""
        return f"{self.branch}.{self.agent}" if self.branch else f"{self.agent}"


FIRST = PanelKey(0, 0)  # first agent of the first branch
NOBODY = PanelKey(-1, -1)
"""Key of the focused panel in a read-only session, as in a film."""
