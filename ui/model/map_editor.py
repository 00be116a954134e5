"""Editing of the map with the mouse: which cells a press, a drag and a release change.

This module works with cells; pixels are converted in ui/input/mouse_dispatcher.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sim.grid import Grid
from sim.world_commands import MoveGoal
from ui.model import agent_edits, cell_edits, drawing_tools
from ui.model.crowds import Crowd
from ui.model.drawing_tools import BRUSH, ERASER, FILL, LINE, RECTANGLE, SELECT, Point
from ui.model.panel_keys import PanelKey
from ui.model.run import Panel
from ui.model.select_tool import SelectTool
from ui.model.session import Session
from ui.model.ui_state import UiState

MARKER_KINDS = ("start", "goal")


@dataclass
class EditDrag:
    """Drag with the mouse in progress: its tool, the cell where it began, and the cell under the pointer."""

    tool_or_marker: str  # name of the tool, or "start" or "goal" if that marker is dragged
    first: Point
    last_cell: Point
    is_blocking: bool


class MapEditor:
    """Mouse editing of the map: strokes, moved starts and goals, and the Select tool."""

    def __init__(self, session: Session, state: UiState) -> None:
        self.session, self.state = session, state
        self.select_tool = SelectTool(session, state)
        self.stroke_panel: PanelKey | None = None  # panel in which the mouse draws; None for edits by menu or keyboard
        self.current_drag: EditDrag | None = None
        # Last cell of the last stroke, from which Shift+click draws a line.
        self.last_painted_point: Point | None = None

    # --- mouse events -----------------------------------------------------------------------------

    def handle_press(
        self,
        point: Point,
        *,
        erases: bool = False,
        line: bool = False,
        rectangle: bool = False,
        is_right: bool = False,
    ) -> None:
        """Handle a press of a mouse button over the map.

        The first cell of a stroke decides whether the stroke blocks or frees cells.

        Args:
            point: Cell under the pointer.
            erases: Free cells, or copy with the Select tool.
            line: Draw a line from the last painted cell, or add to the selection with the Select tool.
            rectangle: Paint a rectangle, or add to the selection with the Select tool.
            is_right: Use the right button, which removes cells from the selection with the Select tool.
        """
        if not self._is_inside_map(point):
            return
        kind = self._kind_of_stroke_or_drag(point, erases, rectangle)
        if kind == SELECT:
            self.select_tool.handle_press(point, adds=line or rectangle, copies=erases, takes=is_right)
            return
        blocks = kind in MARKER_KINDS or (self._is_free_cell(point) and not erases and kind != ERASER)
        is_line = line and kind in (BRUSH, ERASER, LINE)  # drawn from the last painted cell
        start = self.last_painted_point if is_line and self.last_painted_point else point
        self.current_drag = EditDrag(kind, start, point, blocks)
        if kind in MARKER_KINDS:
            return
        self.session.undo_history.open_entry(is_stroke=True)
        if kind in (BRUSH, ERASER):
            self._block_or_free_cells(drawing_tools.stroke_cells(start, point, self.state.brush_size))
        elif kind == FILL:
            self._block_or_free_cells(drawing_tools.connected_cells(self.session.run.world.grid.free_mask_2d, point))

    def _kind_of_stroke_or_drag(self, point: Point, erases: bool, rectangle: bool) -> str:
        """Return what a press at a cell begins: a stroke of a tool, or a drag of the "start" or "goal" marker there."""
        if self.state.pasted_piece is not None:
            return SELECT
        world = self.session.run.world
        cell = world.grid.cell(*point)
        if not erases and not rectangle:
            start, goal = self._drawn_start_and_goal()
            if cell == goal:
                return "goal"
            if cell == start:
                return "start"
        if self.state.selected_tool == SELECT:
            return SELECT
        if rectangle:
            return RECTANGLE
        return ERASER if erases and self.state.selected_tool != FILL else self.state.selected_tool

    def _drawn_start_and_goal(self) -> tuple[int, int]:
        """Return the start and goal cells that are drawn in the panel; -1 for a start or goal that is not drawn."""
        panel = self._edited_panel()
        if panel is None:
            return self.session.run.world.start, self.session.run.world.goal
        start_and_goal = panel.displayed_agent.start, panel.displayed_agent.goal
        return (
            panel.crowd.drawn_start_and_goal(start_and_goal)
            if panel.drawn_agent is None and panel.crowd is not None
            else start_and_goal
        )

    def _edited_panel(self) -> Panel | None:
        """Return the panel to edit in: the panel of the current stroke, or the focused one for menu and keyboard."""
        key = self.session.focused_key if self.stroke_panel is None else self.stroke_panel
        return next((panel for panel in self.session.run.panels if panel.key == key), None)

    def _edited_agent_id(self) -> int | None:
        """Return the id of the agent whose own start and goal are drawn in the panel; None if there is none.

        For menu and keyboard, an agent of a crowd counts only if it is followed, not if the pointer merely hovers over
        it.
        """
        panel = self._edited_panel()
        if panel is not None and self.stroke_panel is None:
            followed = self.session.run.followed_walker(panel.key)
            return followed.id if followed is not None and followed.has_own_start_or_goal else None
        agent = panel.drawn_agent if panel is not None else None
        return agent.id if agent is not None and agent.has_own_start_or_goal else None

    @property
    def edited_crowd(self) -> Crowd | None:
        """Return the crowd shown in the panel, whose agents can get one common goal; None for a single agent."""
        panel = self._edited_panel()
        return panel.crowd if panel is not None else None

    @property
    def has_crowd_goal(self) -> bool:
        """Return whether a new goal applies to a whole crowd: its agents have own goals, and no agent is followed."""
        return self.edited_crowd is not None and self.edited_crowd.has_own_goals and self._edited_agent_id() is None

    def handle_move(self, point: Point) -> None:
        """Handle a pointer move with the button down; a stroke also covers the cells between two pointer positions."""
        self.select_tool.handle_move(point)
        drag = self.current_drag
        if drag is None or point == drag.last_cell:
            return
        if drag.tool_or_marker in (BRUSH, ERASER):
            self._block_or_free_cells(drawing_tools.stroke_cells(drag.last_cell, point, self.state.brush_size))
        drag.last_cell = point

    def handle_release(self) -> None:
        """Handle the release of the mouse button: finish the stroke, or move the dragged start or goal."""
        self.select_tool.handle_release()
        drag, self.current_drag = self.current_drag, None
        if drag is None:
            return
        if drag.tool_or_marker == "goal":
            self.move_goal_to(drag.last_cell)
        elif drag.tool_or_marker == "start":
            self.move_start_to(drag.last_cell)
        else:
            if drag.tool_or_marker in (LINE, RECTANGLE):
                self._block_or_free_cells(self._cells_of_dragged_shape(drag), drag.is_blocking)
            self.session.undo_history.close_entry()
            self.last_painted_point = drag.last_cell

    def abandon_drag(self) -> None:
        """Reset tool, drag and last painted cell, because their cells are meaningless after another run was opened."""
        self.state.selected_tool = BRUSH
        self.current_drag = self.last_painted_point = self.select_tool.current_drag = None

    def cancel(self) -> bool:
        """Revert the drag in progress and return True; return False if there is none."""
        drag, self.current_drag, self.stroke_panel = self.current_drag, None, None
        if drag is None:
            return self.select_tool.cancel()
        self.session.undo_history.cancel()
        return True

    # --- edits ------------------------------------------------------------------------------------

    def _block_or_free_cells(self, cells: list[Point], blocks: bool | None = None) -> None:
        """Block or free the given cells, except cells outside the map; None: block or free as the current drag does."""
        grid = self.session.run.world.grid
        if blocks is None:
            blocks = self.current_drag is not None and self.current_drag.is_blocking
        inside = drawing_tools.cells_clipped_to_map(cells, grid.width, grid.height)
        cell_edits.block_or_free_cells(self.session, [grid.cell(x, y) for x, y in inside], block=blocks)

    def _cells_of_dragged_shape(self, drag: EditDrag) -> list[Point]:
        """Return the cells of the line or rectangle of a drag."""
        if drag.tool_or_marker == LINE:
            return drawing_tools.stroke_cells(drag.first, drag.last_cell, self.state.brush_size)
        return drawing_tools.rectangle_cells(drag.first, drag.last_cell)

    def cells_to_preview(self, hover: Point | None) -> list[Point]:
        """Return the cells that a release would change during a drag, and that a press would change otherwise."""
        if self.current_drag and self.current_drag.tool_or_marker in (LINE, RECTANGLE):
            return self._cells_of_dragged_shape(self.current_drag)
        if hover is None or self.dragged_marker is not None or self.state.selected_tool == SELECT:
            return []
        return (
            drawing_tools.brush_cells(hover, self.state.brush_size)
            if self.state.selected_tool in (BRUSH, ERASER, LINE)
            else [hover]
        )

    @property
    def dragged_marker(self) -> tuple[str, Point] | None:
        """Return the dragged marker, "start" or "goal", with the cell under the pointer; None if neither is dragged."""
        drag = self.current_drag
        return (
            (drag.tool_or_marker, drag.last_cell) if drag is not None and drag.tool_or_marker in MARKER_KINDS else None
        )

    @property
    def is_dragging(self) -> bool:
        return self.current_drag is not None or self.select_tool.current_drag is not None

    def cannot_place_marker_at(self, point: Point) -> bool:
        """Return whether a start or goal cannot be placed on this cell."""
        return not self._is_inside_map(point) or not self._is_free_cell(point)

    def move_goal_to(self, point: Point) -> None:
        """Move the goal shown in the panel to a cell: the goal of one agent, of its crowd, or the shared goal."""
        world = self.session.run.world
        if self.cannot_place_marker_at(point):
            self._show_refusal_reason("goal", point)
        elif (agent := self._edited_agent_id()) is not None:
            self.session.submit_command(MoveGoal(int(world.grid.cell(*point)), agent))
        elif self.has_crowd_goal:
            self.move_goal_of_crowd_to(point)
        elif world.grid.cell(*point) != world.goal:
            cell_edits.move_shared_goal(self.session, int(world.grid.cell(*point)))

    def move_goal_of_crowd_to(self, point: Point) -> None:
        """Set the same goal for all agents of the crowd that the panel shows."""
        panel = self._edited_panel()
        if self.cannot_place_marker_at(point):
            self._show_refusal_reason("goal", point)
        elif panel is not None:
            agent_edits.move_agent_goal(self.session, panel.key, int(self.session.run.world.grid.cell(*point)))

    def move_start_to(self, point: Point) -> None:
        """Begin the run again with another start, on the map with the user's edits."""
        world = self.session.run.world
        if self.cannot_place_marker_at(point):
            self._show_refusal_reason("start", point)
        elif (agent := self._edited_agent_id()) is not None:
            self.session.start_over_with_start(agent, point)
        elif world.grid.cell(*point) != world.start:
            self.session.start_over_with_changes(start=point)

    def _show_refusal_reason(self, name: str, point: Point) -> None:
        """Show a message that says why the start or goal cannot be at a cell."""
        reason = "that cell is blocked" if self._is_inside_map(point) else "that is outside the map"
        self.session.user_messages.messages_until_next_edit.append(f"The {name} cannot be at {point}: {reason}")

    def toggle_cell(self, point: Point) -> None:
        """Block a free cell or free a blocked one, for the keyboard and the context menu."""
        if self._is_inside_map(point):
            cell = self.session.run.world.grid.cell(*point)
            cell_edits.block_or_free_cells(self.session, [cell], block=self._is_free_cell(point))

    def _is_inside_map(self, point: Point) -> bool:
        return self.session.run.world.grid.contains_point(*point)

    def _is_free_cell(self, point: Point) -> bool:
        grid = self.session.run.world.grid
        return grid.is_free(grid.cell(*point))

    def start_or_goal_near(self, x: float, y: float, max_distance: float) -> Point | None:
        """Return the start or goal cell of the panel that is nearest to (x, y), at most `max_distance` away."""
        return nearest_start_or_goal(self.session.run.world.grid, self._drawn_start_and_goal(), x, y, max_distance)


def nearest_start_or_goal(grid: Grid, cells: Iterable[int], x: float, y: float, max_distance: float) -> Point | None:
    """Return the start or goal cell nearest to the map coordinates (x, y); None if none is near enough.

    Args:
        grid: The map.
        cells: Start and goal cells; -1 for a start or goal that is not drawn.
        x: Map coordinate in cells.
        y: Map coordinate in cells.
        max_distance: Maximum distance in cells, in x and in y.
    """
    points = [grid.xy(end) for end in cells if end >= 0]
    distances = {point: max(abs(point[0] + 0.5 - x), abs(point[1] + 0.5 - y)) for point in points}
    near_points = [point for point in points if distances[point] <= max_distance]
    return min(near_points, key=lambda point: distances[point], default=None)
