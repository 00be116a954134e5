"""The desk: what the bars, tabs and panels around the maps are drawn from, and what their controls act on.

The window has one, and every picture of a whole window another, where nobody can click.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from ui.draw.scene import Scene
from ui.draw.theme import Palette
from ui.model.distances import Distances
from ui.model.key_words import worded
from ui.model.keys import PanelKey
from ui.model.layout import Layout, lay_out
from ui.model.player import Player
from ui.model.possible import why_not
from ui.model.run import Panel
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.state import State
from ui.widgets.canvas import Canvas


def _nothing_runs(command_id: str) -> None:
    """In a picture no control does anything."""


def _always() -> bool:
    """Return what is true of a picture, which keeps no defaults."""
    return True


@dataclass
class Desk:
    session: Session
    settings: Settings
    state: State
    player: Player
    scene: Scene
    canvas: Canvas = field(default_factory=Canvas)
    run: Callable[[str], None] = _nothing_runs  # carries out a command
    keys: Mapping[str, str] = field(default_factory=dict)  # by command
    tips: Mapping[str, str] = field(default_factory=dict)
    distances: dict[object, Distances] = field(default_factory=dict)  # see distances_of
    is_default_view: Callable[[], bool] = _always  # whether layers and heat are those that every file begins with
    is_picture: bool = False  # whether nobody can click on what is drawn

    @property
    def palette(self) -> Palette:
        return self.scene.palette

    def say(self, text: str) -> None:
        """Tell the user something for a few seconds."""
        self.state.messages.say(self.worded(text))

    def tell(self, text: str) -> None:
        """The same about the run as it is now, until something is done to it."""
        self.state.messages.say(self.worded(text), self.session.history.deeds)

    def worded(self, text: str) -> str:
        """Return a text with the keys of the commands that it mentions as `{key:command}`."""
        return worded(text, self.keys, self.tips)

    def keys_of(self, *command_ids: str) -> str:
        """Return the keys of a control that several commands turn, apart by spaces."""
        return " ".join(key for command_id in command_ids if (key := self.key_of(command_id)))

    def heading(self, x: int, y: int, text: str) -> int:
        """The name of a part of the sidebar; returns where that part begins."""
        self.canvas.text((x, y), text, size=12, face="bold", colour=self.palette.dim)
        return y + self.canvas.px(22)

    def key_of(self, command_id: str) -> str:
        return self.keys.get(command_id, "")

    def tip_of(self, command_id: str) -> str:
        """What it does, and where it cannot be done, why."""
        tip, reason = self.tips.get(command_id, ""), self.why_not(command_id)
        return f"{tip}. {reason}" if reason else tip

    def why_not(self, command_id: str) -> str:
        """Why a command cannot be done now; "" where it can."""
        return self.worded(why_not(command_id, self.session, self.state))

    def doer_of(self, command_id: str) -> Callable[[], None] | None:
        """What its button does: nothing, where the command cannot be done."""
        return None if self.why_not(command_id) else partial(self.run, command_id)

    def distances_of(self, panel: Panel) -> Distances:
        """True distances to the goal of an agent: of all in a branch that have the same, or of its panel."""
        has_own = panel.subject.goal != panel.world.goal
        return self.distances.setdefault(panel.key if has_own else panel.key.branch, Distances())

    def true_distance(self, panel: Panel, cell: int) -> float | None:
        """From a cell to the goal of an agent; None while it is not known."""
        timeline = self.session.run.tree[panel.key.branch].timeline
        return self.distances_of(panel).of_cell(timeline, cell, self.session.generation, panel.subject.goal)

    def inspected_cell(self) -> int | None:
        return self.state.inspected_cell(self.session.run.world.grid)

    def edit_agent(self, key: PanelKey) -> None:
        """Ask for all about an agent."""
        self.session.focus(key)
        self.run("edit_agent")

    def rename_agent(self, key: PanelKey) -> None:
        self.session.focus(key)
        self.run("rename_agent")

    def mode_word(self) -> str:
        doing = self.player.doing()
        return "edit mode" if self.state.is_editing and doing != "winding" else doing


def window_layout(
    size: tuple[int, int],
    scale: float,
    panels: int,
    map_size: tuple[int, int],
    settings: Settings,
    state: State,
    *,
    is_slow_motion: bool = False,
) -> Layout:
    return lay_out(
        size,
        scale,
        panels,
        map_size=map_size,
        shows_sidebar=settings.shows_sidebar,
        bare=state.is_bare,
        is_read=is_slow_motion or state.lesson is not None,
    )
