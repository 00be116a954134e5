"""What the user has switched, chosen, pinned and marked in the window, and what it tells: plain values. No pygame."""

import time
from dataclasses import dataclass, field

from sim.grid import Grid
from ui.model.keys import PanelKey
from ui.model.lesson import Playing
from ui.model.menu import Menu
from ui.model.notes import Notes
from ui.model.selection import Piece, Selection
from ui.model.study import Study
from ui.model.tools import BRUSH, MAX_BRUSH, SELECT, Point

LEAST_MESSAGE_S, MOST_MESSAGE_S = 2.0, 6.0
LETTERS_A_SECOND = 20  # that are read
MOST_MESSAGES = 3


@dataclass(frozen=True)
class Message:
    text: str
    until: float
    deed: int | None  # it is about the run, as this many deeds had left it


@dataclass
class Messages:
    """What the user is told, each text for as long as it takes to read it, and about the run until the next deed."""

    waiting: list[Message] = field(default_factory=list)

    def say(self, text: str, deed: int | None = None) -> None:
        """What is told already stays for longer."""
        seconds = min(MOST_MESSAGE_S, LEAST_MESSAGE_S + len(text) / LETTERS_A_SECOND)
        self.waiting = [told for told in self.waiting if told.text != text]
        self.waiting.append(Message(text, time.monotonic() + seconds, deed))

    def current(self, deeds: int) -> list[str]:
        """The latest that still stand, the newest last. What a deed has left behind may be otherwise after the next."""
        now = time.monotonic()
        standing = [told for told in self.waiting if told.until > now and told.deed in (None, deeds)]
        self.waiting = standing[-MOST_MESSAGES:]
        return self.texts()

    def texts(self) -> list[str]:
        return [told.text for told in self.waiting]


@dataclass
class State:
    is_editing: bool = False  # letters choose tools
    tool: str = BRUSH
    brush: int = 1  # cells across
    has_hand: bool = False  # a drag moves the map
    is_bare: bool = False  # nothing but the panels
    is_maximised: bool = False  # nothing but the focused panel
    hover: Point | None = None  # cell under the pointer
    cursor: Point | None = None  # the keyboard's own
    pinned: Point | None = None  # kept in the inspector
    selection: Selection | None = None  # cells chosen with the Select tool
    anchor: Point | None = None  # the corner of a selection that the cell cursor stretches
    piece: Piece | None = None  # copied; it stays when another map is opened
    held: Piece | None = None  # in the hand, to be put down
    held_at: Point | None = None  # the cell under its middle
    menu: Menu | None = None  # the one that is open
    time_bar: tuple[int, int, int, int] = (0, 0, 1, 1)  # where the line of time was drawn last
    carried_deed: tuple[int, int] | None = None  # a line of the script in the user's hand, and the tick it is over
    pointed_switch: str | None = None  # whose row is under the pointer
    mark_in: int | None = None  # the range of ticks to export, where the user has marked one
    mark_out: int | None = None
    change_rate: float = 5.0  # of random changes while there are none
    change_interval: int = 10
    notes: Notes | None = None  # on the first example, at a start without a file
    lesson: Playing | None = None  # the one that is being given
    study: Study | None = None  # the experiment beside the window
    preparing: tuple[str, ...] = ()  # kinds of agents that cannot walk yet
    messages: Messages = field(default_factory=Messages)
    sidebar_scroll: dict[str, int] = field(default_factory=dict)  # pixels by which each tab is scrolled
    sidebar_hidden: int = 0  # pixels of the shown tab that do not fit
    followed_focus: str | None = None  # the control that the sidebar has scrolled to
    whys: dict[PanelKey, tuple[object, int, str]] = field(default_factory=dict)  # of a snapshot and agent: why it moved

    def choose_tool(self, tool: str) -> None:
        """Selecting goes with edit mode, so that Delete means cells."""
        self.is_editing = self.is_editing or tool == SELECT
        self.tool = tool
        self.has_hand = False
        self.anchor = self.held = None

    def set_brush(self, size: int) -> None:
        self.brush = max(1, min(MAX_BRUSH, size))

    def put_tools_away(self) -> None:
        """Back to the brush: a tool that nobody can see chosen would surprise whoever draws next."""
        self.is_editing = self.has_hand = False
        self.tool = BRUSH
        self.deselect()

    def put_selection(self, selection: Selection | None) -> None:
        """As undo and redo do, too: outside edit mode there is none, where Delete would mean something else."""
        self.selection = selection if self.is_editing else None

    def deselect(self) -> None:
        self.selection = self.anchor = self.held = None

    def forget_places(self) -> None:
        """Another run: no cell and no tick of the one before means anything in it."""
        self.mark_in = self.mark_out = None
        self.pinned = self.cursor = self.hover = None
        self.deselect()

    def inspected_cell(self, grid: Grid) -> int | None:
        """The cell that the inspector tells about."""
        point = self.pinned or self.hover or self.cursor
        return grid.cell(*point) if point and grid.contains(*point) else None
