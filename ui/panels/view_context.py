"""View context: the state that bars, tabs and panels around the maps are drawn from and that their controls act on.

The window has one ViewContext. Each picture of a whole window, such as a screenshot or a frame of a video, has its own,
in which nothing can be clicked.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ui.draw.theme import Palette
from ui.maps.map_view import MapView
from ui.model.distance_cache import DistanceCache
from ui.model.layout import Layout, lay_out_window
from ui.model.panel_keys import PanelKey
from ui.model.player import Player
from ui.model.run import Panel
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.ui_command import NO_COMMANDS, CommandTable
from ui.model.ui_state import UiState
from ui.widgets.canvas import Canvas, HitRegion


def _ignore_command(command_id: str) -> None:
    """Ignore a command, because controls in a picture do nothing."""


def _is_always_default() -> bool:
    """Return True, so that a picture does not show the button that stores the view as the user's default."""
    return True


@dataclass
class ViewContext:
    """Everything that is needed to draw a view of a session: session, settings, state, player, scene and canvas."""

    session: Session
    settings: Settings
    ui_state: UiState
    player: Player
    map_view: MapView
    canvas: Canvas = field(default_factory=Canvas)
    run_command: Callable[[str], None] = _ignore_command  # callback that runs a command by its id
    # descriptions of all commands, with the user's keys; empty in pictures without buttons
    command_table: CommandTable = NO_COMMANDS
    # Branch number (for an agent with its own goal, the key of its panel) -> true distances from cells to the goal
    distance_caches: dict[object, DistanceCache] = field(default_factory=dict)
    # Callback that returns whether layers, heat map and linking of cameras have the user's default values
    is_default_view: Callable[[], bool] = _is_always_default
    # Whether the view is drawn into a picture (screenshot or film), not into the window.
    draws_into_picture: bool = False

    @property
    def palette(self) -> Palette:
        return self.map_view.palette

    def show_message(self, text: str) -> None:
        """Show a message to the user for a few seconds."""
        self.ui_state.message_queue.show_message(self.text_with_shortcuts(text))

    def show_message_until_edit(self, text: str) -> None:
        """Show a message about the current run until the user's next edit, undo or redo."""
        self.ui_state.message_queue.show_message(self.text_with_shortcuts(text), self.session.undo_history.action_count)

    def text_with_shortcuts(self, text: str) -> str:
        """Return a text in which each `{key:command}` is replaced by the keyboard shortcut of that command."""
        return self.command_table.text_with_key_names(text)

    def shortcuts_of_commands(self, *command_ids: str) -> str:
        """Return the keyboard shortcuts of several commands as one text, separated by spaces."""
        return " ".join(key for command_id in command_ids if (key := self.shortcut_of_command(command_id)))

    def draw_section_heading(self, x: int, y: int, text: str) -> int:
        """Draw the heading of a section of the sidebar and return the top of the section's content."""
        self.canvas.draw_text((x, y), text, size=12, face="bold", colour=self.palette.dim)
        return y + self.canvas.to_px(22)

    def shortcut_of_command(self, command_id: str) -> str:
        return self.command_table.first_key_of(command_id)

    def tooltip_of_command(self, command_id: str) -> str:
        """Return the tooltip of a command: its title and, if it is disabled, the reason."""
        tip, reason = self.command_table[command_id].title, self.disabled_reason_of_command(command_id)
        return f"{tip}. {reason}" if reason else tip

    def disabled_reason_of_command(self, command_id: str) -> str:
        """Return the reason why a command is disabled; "" if it is enabled."""
        return self.text_with_shortcuts(self.command_table[command_id].disabled_reason(self))

    def is_command_on(self, command_id: str) -> bool:
        """Return whether a command that switches something on and off has switched it on."""
        is_on = self.command_table[command_id].is_on
        return is_on is not None and is_on(self)

    def button_callback_of_command(self, command_id: str) -> Callable[[], None] | None:
        """Return the callback for the button of a command; None if the command is disabled."""
        return None if self.disabled_reason_of_command(command_id) else partial(self.run_command, command_id)

    def tooltip_and_keys_of_region(self, region: HitRegion) -> tuple[str, str]:
        """Return the tooltip of a hit region, or else of its command, and the keys that do the same."""
        ids = region.command_ids
        text = region.tooltip or (self.tooltip_of_command(ids[0]) if ids else "")
        return text, self.shortcuts_of_commands(*ids)

    def distance_cache_of_panel(self, panel: Panel) -> DistanceCache:
        """Return the true distances to the goal of a panel's agent.

        All agents of a branch that have the goal of the world share one Distances object. An agent with a different
        goal has its own object.
        """
        has_own = panel.displayed_agent.goal != panel.world.goal
        return self.distance_caches.setdefault(panel.key if has_own else panel.key.branch, DistanceCache())

    def true_distance_to_goal(self, panel: Panel, cell: int) -> float | None:
        """Return the true distance from a cell to the goal of a panel's agent; None while it is not known."""
        timeline = self.session.run.branch_tree[panel.key.branch].timeline
        return self.distance_cache_of_panel(panel).distance_from_cell(
            timeline, cell, self.session.picture_generation, panel.displayed_agent.goal
        )

    def inspected_cell(self) -> int | None:
        return self.ui_state.inspected_cell(self.session.run.world.grid)

    def open_agent_editor(self, key: PanelKey) -> None:
        """Focus an agent and open the dialog with all its parameters."""
        self.session.focus_panel(key)
        self.run_command("edit_agent")

    def open_rename_dialog(self, key: PanelKey) -> None:
        self.session.focus_panel(key)
        self.run_command("rename_agent")

    def player_activity_text(self) -> str:
        """Return the player's activity, such as "paused"; in edit mode return "edit mode" unless the player seeks."""
        doing = self.player.playback_state_text()
        return "edit mode" if self.ui_state.is_editing and doing != "seeking" else doing


def window_layout(
    size: tuple[int, int],
    scale: float,
    panels: int,
    map_size: tuple[int, int],
    settings: Settings,
    state: UiState,
    *,
    is_slow_motion: bool = False,
) -> Layout:
    """Return the layout of the window; a lesson or slow motion keeps the sidebar open in narrower windows."""
    return lay_out_window(
        size,
        scale,
        panels,
        map_size=map_size,
        shows_sidebar=settings.shows_sidebar,
        is_bare=state.are_bars_hidden,
        is_read=is_slow_motion or state.lesson_player is not None,
    )
