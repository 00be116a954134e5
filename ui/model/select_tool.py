"""Select tool: choosing cells of a map, and copying, moving, mirroring, turning, naming and saving them.

Each change of the map is one stroke, recorded in the log like any other command and undone as a whole, together with
the selection. This module does not use pygame.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.plurals import count_with_noun
from sim.world_commands import MAX_NAME_LENGTH, MAX_SWITCHES, DefineSwitch, MapEdit, SetTerrain
from ui.model import cell_edits, drawing_tools, opened_files, script_entries
from ui.model.drawing_tools import SELECT, Point
from ui.model.selection import MapPiece, Selection
from ui.model.session import Session
from ui.model.ui_state import UiState

NOTHING_SELECTED_MESSAGE = (
    "Nothing is selected: drag over the map with the Select tool ({key:tool_select} in edit mode)"
)
_NOT_SWITCHABLE_MESSAGE = "a switch cannot restore walls, or terrain that was edited since the map was opened"
NOTHING_COPIED_MESSAGE = "Nothing was copied yet. Select cells and copy them first ({key:copy})."

SELECT_NEW, SELECT_MORE, SELECT_LESS, MOVE_PIECE, COPY_PIECE = "new", "more", "less", "move", "copy"


@dataclass
class _SelectDrag:
    """Drag with the Select tool in progress."""

    drag_kind: str  # NEW, MORE or LESS for a drag that selects cells; MOVE or COPY for a drag of selected cells
    first: Point  # cell at which the mouse button was pressed
    last_cell: Point  # cell under the pointer now
    dragged_piece: MapPiece | None = None  # piece of map that is dragged, for MOVE and COPY

    @property
    def drag_offset(self) -> Point:
        return self.last_cell[0] - self.first[0], self.last_cell[1] - self.first[1]


class SelectTool:
    """Select tool of a session: selects cells, and moves, copies, turns, names or saves them."""

    def __init__(self, session: Session, state: UiState) -> None:
        self.session, self.state = session, state
        self.current_drag: _SelectDrag | None = None

    @property
    def grid(self) -> Grid:
        return self.session.run.world.grid

    # --- mouse events -----------------------------------------------------------------------------

    def handle_press(self, point: Point, *, adds: bool = False, copies: bool = False, takes: bool = False) -> None:
        """Handle a mouse press: put down a piece that moves with the pointer, drag the selection, or begin a new one.

        Args:
            point: Cell under the pointer.
            adds: Begin a rectangle whose cells are added to the selection.
            copies: Drag a copy of the selection.
            takes: Begin a rectangle whose cells are removed from the selection.
        """
        if self.state.pasted_piece is not None:
            self.put_down_piece(point)
            return
        chosen = self.state.selected_cells
        is_on_it = chosen is not None and chosen.contains_point(point) and not adds and not takes
        kind = (
            SELECT_LESS
            if takes
            else SELECT_MORE
            if adds
            else SELECT_NEW
            if not is_on_it
            else COPY_PIECE
            if copies
            else MOVE_PIECE
        )
        on_map = chosen.clipped_to_map(self.grid) if is_on_it and chosen is not None else None
        self.current_drag = _SelectDrag(
            kind, point, point, None if on_map is None else MapPiece.copy_from_map(on_map, self.grid)
        )

    def handle_move(self, point: Point) -> None:
        if self.current_drag is not None:
            self.current_drag.last_cell = point

    def handle_release(self) -> None:
        drag = self.current_drag
        if drag is None:
            return
        chosen, self.current_drag = self._selection_after_drag(drag), None
        if drag.dragged_piece is None:
            self.state.selected_cells = chosen
        elif drag.drag_offset != (0, 0) and chosen is not None:
            source = self.state.selected_cells if drag.drag_kind == MOVE_PIECE else None
            self._write_piece_to_map(
                f"{drag.dragged_piece} {'moved' if drag.drag_kind == MOVE_PIECE else 'copied'}",
                drag.dragged_piece,
                chosen,
                source,
            )

    def cancel(self) -> bool:
        """Cancel the drag, or discard the piece that moves with the pointer; return False if there is neither."""
        was_doing = self.current_drag is not None or self.state.pasted_piece is not None
        self.current_drag = self.state.pasted_piece = None
        return was_doing

    def move_piece_to(self, point: Point | None) -> None:
        """Move the pasted piece, if it was not put down yet, to the cell under the pointer or to the cell cursor."""
        if point is not None:
            self.state.pasted_piece_cell = point

    def can_move_piece_from(self, point: Point | None) -> bool:
        """Return whether a press on this cell would put down a piece or begin to drag the selection."""
        if (
            self.state.pasted_piece is not None
            or self.state.selected_tool != SELECT
            or self.state.selected_cells is None
        ):
            return self.state.pasted_piece is not None
        return point is not None and self.state.selected_cells.contains_point(point)

    # --- display ----------------------------------------------------------------------------------

    @property
    def displayed_selection(self) -> Selection | None:
        """Return the cells to draw as selected, which during a drag are the cells that a release would select."""
        floating = self.floating_piece
        if floating is not None:
            return floating[1]
        return self.state.selected_cells if self.current_drag is None else self._selection_after_drag(self.current_drag)

    @property
    def floating_piece(self) -> tuple[MapPiece, Selection] | None:
        """Return the piece that moves with the pointer, and the cells that it covers; None if there is none."""
        piece, at = self.state.pasted_piece, self.state.pasted_piece_cell
        if piece is not None:
            return None if at is None else (piece, piece.selection_centred_on(at))
        if self.current_drag is None or self.current_drag.dragged_piece is None or self.state.selected_cells is None:
            return None
        return self.current_drag.dragged_piece, self.state.selected_cells.moved_by(*self.current_drag.drag_offset)

    def _selection_after_drag(self, drag: _SelectDrag) -> Selection | None:
        """Return what will be selected if the mouse button is released at the current cell."""
        chosen = self.state.selected_cells
        if drag.dragged_piece is not None:
            return None if chosen is None else chosen.moved_by(*drag.drag_offset)
        dragged = Selection.from_corners(drag.first, drag.last_cell, self.grid)
        if dragged is None or chosen is None or drag.drag_kind == SELECT_NEW:
            return chosen if dragged is None else None if drag.drag_kind == SELECT_LESS else dragged
        return (
            chosen.union_with(dragged, self.grid)
            if drag.drag_kind == SELECT_MORE
            else chosen.difference_from(dragged, self.grid)
        )

    # --- selecting --------------------------------------------------------------------------------

    def set_selection(self, selection: Selection | None) -> None:
        """Choose the Select tool and select these cells."""
        self.state.choose_tool(SELECT)
        self.state.selected_cells = selection

    def select_whole_map(self) -> str:
        self.set_selection(Selection.from_corners((0, 0), (self.grid.width - 1, self.grid.height - 1), self.grid))
        return self._selection_message()

    def select_cells(self, cells: Iterable[int]) -> str:
        self.set_selection(Selection.from_cells(tuple(cells), self.grid))
        return self._selection_message()

    def select_connected_cells(self, point: Point) -> str:
        """Select the connected area of free cells, or of blocked ones, around a cell; return the message to show."""
        self.set_selection(
            Selection.from_points(drawing_tools.connected_cells(self.grid.free_mask_2d, point), self.grid)
        )
        return self._selection_message()

    def select_last_stroke(self) -> str:
        """Select the cells that the user painted last; return the message to show."""
        map_edits = [
            entry
            for entry in script_entries.script_entries(self.session.run)
            if isinstance(entry.representative_command, MapEdit)
        ]
        user_edits = [
            entry for entry in map_edits if not entry.log_entries[0].is_scripted and entry.tick <= self.session.tick
        ]
        if not user_edits:
            return "Nothing was painted yet"
        last = max(user_edits, key=lambda entry: max(entry.log_entry_ids))
        return self.select_cells(self.session.run.cells_edited_by_command(last.representative_command))

    def extend_selection_to_cursor(self, cursor: Point) -> None:
        """Move the free corner of the selection, or a piece that was not put down yet, to the cell cursor."""
        self.move_piece_to(cursor)
        if self.state.selection_anchor is not None:
            self.state.selected_cells = Selection.from_corners(self.state.selection_anchor, cursor, self.grid)

    def _selection_message(self) -> str:
        """Return the message to show after a selection: its size, or that nothing was selected."""
        return (
            f"Selected: {self.state.selected_cells}"
            if self.state.selected_cells is not None
            else "There is nothing to select"
        )

    # --- copying ----------------------------------------------------------------------------------

    def copy_selection(self) -> str:
        chosen = self._selection_on_map()
        if chosen is None:
            return NOTHING_SELECTED_MESSAGE
        self.state.copied_piece = MapPiece.copy_from_map(chosen, self.grid)
        return f"Copied {chosen}"

    def cut_selection(self) -> str:
        message = self.copy_selection()
        if message is not NOTHING_SELECTED_MESSAGE:
            self._free_selected_cells(f"{self.state.copied_piece} cut")
        return message.replace("Copied", "Cut", 1)

    def paste_piece(self) -> str:
        """Let the copied piece move with the pointer until it is put down; return the message to show."""
        if self.state.copied_piece is None:
            return NOTHING_COPIED_MESSAGE
        self.state.choose_tool(SELECT)
        self.state.pasted_piece = self.state.copied_piece
        self.state.pasted_piece_cell = self.state.hovered_cell or self.state.cell_cursor or self._selection_centre()
        return "Click to place the cells, or press {key:put_down} at the cell cursor. {key:cancel} cancels."

    def _selection_centre(self) -> Point:
        """Return the centre of the selection, or of the map if nothing is selected."""
        chosen = self.state.selected_cells
        if chosen is None:
            return self.grid.width // 2, self.grid.height // 2
        return chosen.left + chosen.width // 2, chosen.top + chosen.height // 2

    def put_down_piece(self, point: Point | None = None) -> str:
        """Put down the piece that moves with the pointer, centred on `point` if given; return the message to show."""
        self.move_piece_to(point)
        floating, self.state.pasted_piece = self.floating_piece, None
        if floating is None:
            return "There are no pasted cells to place. Paste copied cells first ({key:paste})."
        piece, target = floating
        self._write_piece_to_map(f"{piece} placed", piece, target, None)
        return ""

    # --- changing the map -------------------------------------------------------------------------

    def mirror_or_rotate_selection(self, transform: str, participle: str) -> str:
        """Mirror or turn the piece that moves with the pointer, else the selected cells; return the message to show."""
        if self.state.pasted_piece is not None:
            self.state.pasted_piece = self.state.pasted_piece.mirrored_or_rotated(transform)
            return ""
        chosen = self._selection_on_map()
        if chosen is None:
            return NOTHING_SELECTED_MESSAGE
        target = chosen.mirrored_or_rotated(transform, self.grid)
        if target is None:
            return f"The selection ({chosen}) does not fit on the map when it is {participle}"
        piece = MapPiece.copy_from_map(chosen, self.grid)
        self._write_piece_to_map(f"{piece} {participle}", piece.mirrored_or_rotated(transform), target, chosen)
        return ""

    def fill_selection(self, *, block: bool) -> str:
        """Block or free all selected cells; return the message to show."""
        chosen = self._selection_on_map()
        if chosen is None:
            return NOTHING_SELECTED_MESSAGE
        cell_edits.block_or_free_cells(self.session, chosen.cells(self.grid).tolist(), block=block)
        return ""

    def _free_selected_cells(self, description: str) -> None:
        """Free the selected cells, as one undo entry."""
        with self.session.combine_actions(description):
            self.fill_selection(block=False)

    def _write_piece_to_map(
        self, description: str, piece: MapPiece, target: Selection, source: Selection | None
    ) -> None:
        """Write a piece to the map at `target` and select it; first free the cells `source` from which it was moved."""
        grid, clipped_target = self.grid, target.clipped_to_map(self.grid)
        old_letters = grid.terrain.reshape(-1)
        letters = old_letters.copy()
        if source is not None:
            source_cells = source.cells(grid)
            letters[source_cells] = grid.terrain_when_freed(source_cells)
        letters[target.cells(grid)] = piece.letters_for_target(target, grid)
        changed = np.flatnonzero(letters != old_letters)
        set_selection = self.state.set_selection
        if not changed.size:
            set_selection(clipped_target)
            return
        with self.session.combine_actions(description):
            self.session.submit_command(SetTerrain(tuple(changed.tolist()), bytes(letters[changed]).decode("ascii")))
            self.session.undo_history.set_undoable_value(
                "selection", set_selection, self.state.selected_cells, clipped_target
            )

    # --- naming and saving ------------------------------------------------------------------------

    def switch_name_error(self, name: str) -> str | None:
        """Return why the selected cells cannot become a switch of this name; None if they can."""
        switches = self.session.run.world.switches
        if self._selection_on_map() is not None and not self._switchable_cells().size:
            return f"None of the selected cells can be switched: {_NOT_SWITCHABLE_MESSAGE}"
        if len(name) > MAX_NAME_LENGTH:
            return f"Expected at most {MAX_NAME_LENGTH} characters, got {len(name)}"
        if name in switches:
            return f"There is already a switch named {name}"
        return f"A map can have at most {MAX_SWITCHES} switches" if len(switches) >= MAX_SWITCHES else None

    def name_switch(self, name: str) -> str:
        """Make the selected cells a switch; return the message to show.

        Cells that a switch could not restore after blocking and freeing them are left out.
        """
        chosen = self._selection_on_map()
        if chosen is None:
            return NOTHING_SELECTED_MESSAGE
        cells = self._switchable_cells().tolist()
        self.session.submit_command(DefineSwitch(name, tuple(cells)))
        switch_number = list(self.session.run.world.switches).index(name) + 1
        key = f", {{key:switch_{switch_number}}} blocks or frees them" if switch_number <= 9 else ""
        left_out = chosen.cell_count - len(cells)
        left_out_text = f"; {count_with_noun(left_out, 'cell')} left out: {_NOT_SWITCHABLE_MESSAGE}" if left_out else ""
        return f"{name} switches {count_with_noun(len(cells), 'cell')}{key}{left_out_text}"

    def _switchable_cells(self) -> npt.NDArray[np.int32]:
        """Return the selected cells whose terrain is the same as now after a switch has blocked and freed them."""
        chosen = self._selection_on_map()
        cells = np.empty(0, np.int32) if chosen is None else chosen.cells(self.grid)
        return cells[self.grid.restorable_mask(cells)]

    def unused_switch_name(self) -> str:
        """Return an unused name for a switch."""
        switches = self.session.run.world.switches
        return next(name for n in range(1, MAX_SWITCHES + 2) if (name := f"switch {n}") not in switches)

    def selection_save_function(self) -> Callable[[str | os.PathLike[str]], Path] | None:
        """Return a function that writes the selected cells to a .map file; None if nothing is selected."""
        chosen = self._selection_on_map()
        return (
            None if chosen is None else partial(opened_files.save_map_piece, MapPiece.copy_from_map(chosen, self.grid))
        )

    def _selection_on_map(self) -> Selection | None:
        """Return the part of the selection that is on the open map; None if there is none."""
        return None if self.state.selected_cells is None else self.state.selected_cells.clipped_to_map(self.grid)
