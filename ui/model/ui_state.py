"""State of the window as plain values: tools, selection, pinned cells, marked ticks and messages.

This module does not use pygame.
"""

import time
from dataclasses import dataclass, field

from sim.grid import Grid
from ui.model.background_experiment import BackgroundExperiment
from ui.model.context_menu import Menu
from ui.model.drawing_tools import BRUSH, MAX_BRUSH, SELECT, Point
from ui.model.lesson_player import LessonPlayer
from ui.model.panel_keys import PanelKey
from ui.model.selection import MapPiece, Selection
from ui.model.tutorial_notes import TutorialNotes

MIN_MESSAGE_S, MAX_MESSAGE_S = 2.0, 6.0
LETTERS_A_SECOND = 20  # assumed reading speed, from which follows how long a message stays on screen
MAX_MESSAGES = 3


@dataclass(frozen=True)
class ShownMessage:
    """Message on screen, with the time at which it disappears."""

    text: str
    disappears_at_s: float  # value of `time.monotonic()` at which the message disappears, in seconds
    # `UndoHistory.action_count` when the message was shown, if the next edit makes it outdated; else None.
    action_count: int | None


@dataclass
class MessageQueue:
    """Messages to the user, each shown as long as it takes to read; messages about the run end with the next edit."""

    queued_messages: list[ShownMessage] = field(default_factory=list)

    def show_message(self, text: str, action_count: int | None = None) -> None:
        """Show a message. If a message with the same text is already shown, extend its time on screen.

        Args:
            text: Text of the message.
            action_count: Value of `UndoHistory.action_count`, for a message about the run that the next edit makes
                outdated.
        """
        seconds = min(MAX_MESSAGE_S, MIN_MESSAGE_S + len(text) / LETTERS_A_SECOND)
        self.queued_messages = [message for message in self.queued_messages if message.text != text]
        self.queued_messages.append(ShownMessage(text, time.monotonic() + seconds, action_count))

    def current_message_texts(self, action_count: int) -> list[str]:
        """Return the texts of the latest messages that are still shown, the newest last.

        Args:
            action_count: Current value of `UndoHistory.action_count`; messages about the run from before the last edit
                are dropped.
        """
        now = time.monotonic()
        current = [
            message
            for message in self.queued_messages
            if message.disappears_at_s > now and message.action_count in (None, action_count)
        ]
        self.queued_messages = current[-MAX_MESSAGES:]
        return self.queued_message_texts()

    def queued_message_texts(self) -> list[str]:
        return [message.text for message in self.queued_messages]


@dataclass
class UiState:
    """State of the user interface: tools, selection, menu, messages and scroll positions."""

    is_editing: bool = False  # whether edit mode is on, in which letter keys choose tools
    selected_tool: str = BRUSH
    brush_size: int = 1  # width of the brush in cells
    is_hand_tool_active: bool = False  # whether the hand tool is active, with which a drag moves the map
    are_bars_hidden: bool = False  # whether bars and sidebar are hidden, so that only the panels are shown
    is_maximised: bool = False  # whether only the focused panel is shown
    hovered_cell: Point | None = None  # cell under the pointer
    cell_cursor: Point | None = None  # cell cursor, which the keyboard moves; None: not shown
    pinned_cell: Point | None = None  # cell pinned in the inspector
    selected_cells: Selection | None = None  # cells chosen with the Select tool
    # Corner of the selection that stays fixed while the cell cursor moves the other corner.
    selection_anchor: Point | None = None
    copied_piece: MapPiece | None = None  # copied piece of a map, for Paste; kept when another map is opened
    pasted_piece: MapPiece | None = None  # pasted piece of a map, which moves with the pointer until it is put down
    pasted_piece_cell: Point | None = None  # map cell under the centre of the piece `pasted_piece`
    context_menu: Menu | None = None  # open context menu
    # rect (x, y, width, height) of the time line in the last frame, in pixels
    time_line_rect: tuple[int, int, int, int] = (0, 0, 1, 1)
    # Id of the script entry being dragged, and the tick under the pointer.
    dragged_script_entry: tuple[int, int] | None = None
    hovered_switch: str | None = None  # switch whose row is under the pointer
    mark_in: int | None = None  # first tick of the range to export; None if the user marked none
    mark_out: int | None = None  # last tick of the range to export; None if the user marked none
    # Percent of the cells that random changes will block or free when they are switched on.
    random_change_rate: float = 5.0
    random_change_interval: int = 10  # ticks between two random changes when they are switched on
    tutorial_notes: TutorialNotes | None = None  # notes on the first example, shown at a start without a file
    lesson_player: LessonPlayer | None = None  # lesson in progress
    background_experiment: BackgroundExperiment | None = None  # experiment in progress in the background
    kinds_in_preparation: tuple[str, ...] = ()  # kinds of agents whose data is still being prepared
    message_queue: MessageQueue = field(default_factory=MessageQueue)
    sidebar_scroll_by_tab: dict[str, int] = field(default_factory=dict)  # scroll offset of each tab, in pixels
    sidebar_hidden_height: int = 0  # height in pixels of the part of the shown tab that does not fit into the sidebar
    last_revealed_control: str | None = None  # id of the focused control that the sidebar last scrolled into view
    # panel -> cached explanation of the last move: the snapshot and agent that it is valid for, and its text
    move_explanations: dict[PanelKey, tuple[object, int, str]] = field(default_factory=dict)

    def choose_tool(self, tool: str) -> None:
        """Choose a tool; Select also turns on edit mode, in which Delete applies to cells."""
        self.is_editing = self.is_editing or tool == SELECT
        self.selected_tool = tool
        self.is_hand_tool_active = False
        self.selection_anchor = self.pasted_piece = None

    def set_brush_size(self, size: int) -> None:
        self.brush_size = max(1, min(MAX_BRUSH, size))

    def leave_edit_mode(self) -> None:
        """Leave edit mode and choose the brush again.

        Otherwise the next stroke would use a tool that the user no longer sees.
        """
        self.is_editing = self.is_hand_tool_active = False
        self.selected_tool = BRUSH
        self.clear_selection()

    def set_selection(self, selection: Selection | None) -> None:
        """Set the selected cells; undo and redo call this, too.

        Outside edit mode nothing is selected, because the Delete key has another meaning there.
        """
        self.selected_cells = selection if self.is_editing else None

    def clear_selection(self) -> None:
        self.selected_cells = self.selection_anchor = self.pasted_piece = None

    def clear_marked_cells_and_ticks(self) -> None:
        """Clear all stored cells and ticks, which are meaningless after another run was opened."""
        self.mark_in = self.mark_out = None
        self.pinned_cell = self.cell_cursor = self.hovered_cell = None
        self.clear_selection()

    def inspected_cell(self, grid: Grid) -> int | None:
        """Return the cell that the inspector shows: the pinned or hovered cell, or the cell cursor; None if none is."""
        point = self.pinned_cell or self.hovered_cell or self.cell_cursor
        return grid.cell(*point) if point and grid.contains_point(*point) else None
