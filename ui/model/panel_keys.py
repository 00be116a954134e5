"""Keys of panels: pairs of a branch and an agent, because plain numbers could be mistaken for agent numbers."""

from typing import NamedTuple


class PanelKey(NamedTuple):
    """Key of a panel: the number of its branch, and the number of its agent or of the first agent of its crowd."""

    branch: int
    agent: int

    def __str__(self) -> str:
        """Return the key as text, for ids of controls: "BRANCH.AGENT", or only "AGENT" in the first branch."""
        return f"{self.branch}.{self.agent}" if self.branch else f"{self.agent}"


FIRST_PANEL = PanelKey(0, 0)  # panel of the first agent in the first branch
NO_PANEL = PanelKey(-1, -1)
"""Key of the focused panel in a read-only session, as in a film."""
