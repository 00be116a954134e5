"""Dense lists of rows in columns; only visible rows are drawn, so a list of thousands of rows opens without delay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pygame

from ui.draw.theme import mix_colours
from ui.widgets.canvas import Canvas
from ui.widgets.controls import SHORTCUT_MODIFIERS, PaintedElement, selected_row_colour
from ui.widgets.dialog_interfaces import ClipArea, WidgetDialog
from ui.widgets.scrolling import ScrollBar, ScrollingControl

# Heights in design units of a row, a row with a second line, and the header.
ROW_HEIGHT, TALL_ROW_HEIGHT, LIST_HEADER_HEIGHT = 30, 48, 28
_CELL_PADDING = 10  # padding at the left and right of each text in a row, in design units
_PINNED_COLUMN_WIDTH = 150  # width of the first column in design units while it is pinned (see Rows._is_pinned)
_SCROLL_ARROW_WIDTH = 18  # width in design units of the header's arrows that scroll the columns
_DOUBLE_CLICK_MS = 500  # maximum milliseconds between the two clicks of a double click


@dataclass(frozen=True)
class ListColumn:
    """Column of a list."""

    title: str = ""  # text in the header of the list
    width: float = 0  # width in design units; columns with 0 share the width that the other columns leave equally
    text_align: str = "left"
    font_face: str = "sans"
    colour_name: str = "text"  # name of the colour of the text in the palette


@dataclass(frozen=True)
class ListRow:
    """Row of a list."""

    cells: tuple[str, ...]  # texts, one per column
    value: Any = None  # object that the row represents; only the caller uses it
    detail_text: str = ""  # text of the second line of the row, small and grey
    is_dim: bool = False
    # Column index -> name of the text colour in the palette, for texts whose colour differs from Col.role
    colour_names: dict[int, str] = field(default_factory=dict)


class RowList(ScrollingControl):
    """List with one selected row: arrow keys and clicks select, a double click calls `on_row_chosen`."""

    shows_focus_ring = False

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        columns: Sequence[ListColumn],
        items: Sequence[ListRow],
        *,
        index: int = 0,
        chosen: Callable[[], None] | None = None,
        selected: Callable[[int], None] | None = None,
        sort_by: tuple[int, bool] | None = None,
        sorted_by: Callable[[int, bool], None] | None = None,
        empty: str = "No entries",
        container: ClipArea | None = None,
        is_chosen_at_once: bool = False,
    ) -> None:
        """Create the list.

        Args:
            dialog: Dialog that contains the list.
            rect: Rectangle in the container, in pixels.
            columns: Columns; the list has a header if any column has a title.
            items: Rows.
            index: Index of the selected row.
            chosen: Callback of a double click.
            selected: Callback of a changed selection; it gets the index of the selected row.
            sort_by: (column, descending), with column -1 for unsorted; None if the list cannot be sorted.
            sorted_by: Callback that gets column and direction when the user changes the sort order.
            empty: Text shown if there are no rows.
            container: Container of the list; by default the container of the dialog.
            is_chosen_at_once: Whether a single click already calls `on_row_chosen`, as on a link.
        """
        super().__init__(dialog)
        self.columns, self.items = list(columns), list(items)
        self.on_row_chosen, self.on_row_selected, self.on_sort_order_changed = chosen, selected, sorted_by
        self.sort_order, self.empty_text, self.opens_on_single_click = sort_by, empty, is_chosen_at_once
        self.selected_index = index
        # Index of the first visible column after the pinned one, if not all columns fit.
        self._first_scrolled_column = 1
        self._hovered_index = -1  # index of the row under the pointer; -1 for none
        self._last_clicked_row_and_ms = (-1, -10_000)  # index of the row and time in milliseconds of the last click
        self.element = PaintedElement(dialog, rect, self._paint_list, container)
        self.set_rows(items, index, notifies=False)

    # --- contents ---------------------------------------------------------------------------------

    def set_rows(self, items: Sequence[ListRow], index: int = 0, notifies: bool = True) -> None:
        """Replace the rows and select one of them.

        Args:
            items: New rows.
            index: Index of the row to select.
            notifies: Whether to notify the caller of the selection by the callback `on_row_selected`.
        """
        self.items = list(items)
        self._row_height = self.dialog.to_px(
            TALL_ROW_HEIGHT if any(item.detail_text for item in self.items) else ROW_HEIGHT
        )
        self.header_height = (
            self.dialog.to_px(LIST_HEADER_HEIGHT) if any(column.title for column in self.columns) else 0
        )
        self.scroll_bar.set_viewport_and_content_heights(
            self.element.surface.get_height() - self.header_height, len(self.items) * self._row_height
        )
        self.selected_index = -1
        self.select_row(index, notifies=notifies)

    @property
    def selected_row(self) -> ListRow | None:
        """Return the selected row, or None if the list is empty."""
        return self.items[self.selected_index] if 0 <= self.selected_index < len(self.items) else None

    def select_row(self, index: int, notifies: bool = True) -> None:
        """Select a row by index, clamped to the list, and scroll it into view.

        Args:
            index: Index of the row.
            notifies: Whether to call the callback `on_row_selected` if the selection changes.
        """
        before = self.selected_index
        self.selected_index = min(max(index, 0), len(self.items) - 1)
        if self.selected_index >= 0:
            self.scroll_bar.scroll_into_view(
                self.selected_index * self._row_height, (self.selected_index + 1) * self._row_height
            )
        self.element.repaint()
        if notifies and self.selected_index != before and self.on_row_selected and self.selected_index >= 0:
            self.on_row_selected(self.selected_index)

    # --- keys and mouse ---------------------------------------------------------------------------

    def handle_key(self, event: pygame.event.Event) -> bool:
        if event.mod & SHORTCUT_MODIFIERS:
            return False
        page = max(1, self.scroll_bar.viewport_height // self._row_height - 1)
        steps = {pygame.K_UP: -1, pygame.K_DOWN: 1, pygame.K_PAGEUP: -page, pygame.K_PAGEDOWN: page}
        if event.key in steps:
            self.select_row(self.selected_index + steps[event.key])
            return True
        if event.key in (pygame.K_HOME, pygame.K_END):
            self.select_row(0 if event.key == pygame.K_HOME else len(self.items) - 1)
            return True
        return self._handle_sort_key(event)

    def _handle_sort_key(self, event: pygame.event.Event) -> bool:
        """Handle sort keys: Left and Right choose the column, Space reverses the direction."""
        if self.on_sort_order_changed is None or self.sort_order is None:
            return False
        column, is_descending = self.sort_order
        step = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1}.get(event.key)
        if step is not None:
            self._sort_by_column((column + step) % len(self.columns) if column >= 0 else 0, is_descending)
            return True
        if event.key == pygame.K_SPACE:
            self._sort_by_column(max(0, column), not is_descending)
            return True
        return False

    def _sort_by_column(self, column: int, is_descending: bool) -> None:
        self.sort_order = (column, is_descending)
        self._scroll_to_column(column)
        if self.on_sort_order_changed:
            self.on_sort_order_changed(column, is_descending)
        self.element.repaint()

    @property
    def line_height(self) -> int:
        return self._row_height

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if super().handle_mouse(event, position):
            return True
        x, y = position[0] - self.element.rect.x, position[1] - self.element.rect.y
        if event.type == pygame.MOUSEMOTION:
            self._set_hovered_row(
                self._row_index_at(y) if self.contains_point(position) and not self.is_on_scroll_bar(position) else -1
            )
        if event.type != pygame.MOUSEBUTTONDOWN or event.button != 1 or not self.contains_point(position):
            return False
        self._handle_press_on_list(x, y)
        return True

    def _set_hovered_row(self, row: int) -> None:
        if row != self._hovered_index:
            self._hovered_index = row
            self.element.repaint()

    def _handle_press_on_list(self, x: int, y: int) -> None:
        if y < self.header_height:
            if not self._handle_press_on_arrow(x):
                self._handle_press_on_header(x)
            return
        row, now = self._row_index_at(y), pygame.time.get_ticks()
        if row < 0:
            return
        last_row, last_time = self._last_clicked_row_and_ms
        self._last_clicked_row_and_ms = (row, now)
        self.select_row(row)
        is_second = row == last_row and now - last_time < _DOUBLE_CLICK_MS
        if self.on_row_chosen and (is_second or self.opens_on_single_click):
            self._last_clicked_row_and_ms = (-1, now)
            self.on_row_chosen()

    def _handle_press_on_header(self, x: int) -> None:
        if self.on_sort_order_changed is None:
            return
        for column, (left, width) in enumerate(self._column_spans()):
            if left <= x < left + width:
                sorted_column, is_descending = self.sort_order or (-1, False)
                self._sort_by_column(column, not is_descending if sorted_column == column else False)
                return

    # --- more columns than fit --------------------------------------------------------------------

    @property
    def _is_first_column_pinned(self) -> bool:
        """Return whether the first column is pinned while the others scroll sideways.

        This happens only in a sortable list whose columns do not all fit. The columns keep their widths, because
        numbers in narrower columns would be shortened.
        """
        needed = self.dialog.to_px(_PINNED_COLUMN_WIDTH) + sum(
            self.dialog.to_px(column.width) for column in self.columns
        )
        return self.sort_order is not None and not self.columns[0].width and needed > self._total_columns_width

    @property
    def _total_columns_width(self) -> int:
        px = self.dialog.to_px
        return int(self.element.surface.get_width()) - (
            px(ScrollBar.BAR_WIDTH + 6) if self.scroll_bar.is_scrolling_needed else 0
        )

    def _pinned_column_spans(self) -> list[tuple[int, int]]:
        """Return left edge and width of each column in pixels while the first column is pinned.

        Columns that are scrolled out of view have width 0.
        """
        px, left = self.dialog.to_px, self.dialog.to_px(_PINNED_COLUMN_WIDTH)
        boxes = [(0, left)]
        for index, column in enumerate(self.columns[1:], 1):
            has_room = left + px(column.width) <= self._total_columns_width - px(_SCROLL_ARROW_WIDTH)
            is_seen = (
                index >= self._first_scrolled_column
                and has_room
                and (index == self._first_scrolled_column or boxes[-1][1] > 0)
            )
            boxes.append((left, px(column.width) if is_seen else 0))
            left += boxes[-1][1]
        return boxes

    def _scroll_to_column(self, column: int) -> None:
        while self._is_first_column_pinned and 1 <= column < self._first_scrolled_column:
            self._first_scrolled_column -= 1
        while (
            self._is_first_column_pinned
            and column > self._first_scrolled_column
            and self._column_spans()[column][1] == 0
        ):
            self._first_scrolled_column += 1

    def _handle_press_on_arrow(self, x: int) -> bool:
        """Scroll the columns if a click at `x` hits an arrow in the header, and return whether it hits one."""
        if not self._is_first_column_pinned:
            return False
        visible = [index for index, (_, width) in enumerate(self._column_spans()) if width and index]
        if (
            x >= self._total_columns_width - self.dialog.to_px(_SCROLL_ARROW_WIDTH)
            and visible[-1] < len(self.columns) - 1
        ):
            self._first_scrolled_column = min(visible[-1], self._first_scrolled_column + max(1, len(visible) - 1))
        elif (
            self.dialog.to_px(_PINNED_COLUMN_WIDTH - _SCROLL_ARROW_WIDTH) <= x < self.dialog.to_px(_PINNED_COLUMN_WIDTH)
            and self._first_scrolled_column > 1
        ):
            self._first_scrolled_column = max(1, self._first_scrolled_column - max(1, len(visible) - 1))
        else:
            return False
        self.element.repaint()
        return True

    def _paint_scroll_arrows(self, pen: Canvas, boxes: list[tuple[int, int]]) -> None:
        middle, ink = self.header_height // 2, pen.palette.accent
        if self._first_scrolled_column > 1:
            _draw_sideways_arrow(pen, pen.to_px(_PINNED_COLUMN_WIDTH - _SCROLL_ARROW_WIDTH // 2), middle, -1, ink)
        if not boxes[-1][1]:
            _draw_sideways_arrow(pen, self._total_columns_width - pen.to_px(_SCROLL_ARROW_WIDTH // 2), middle, 1, ink)

    def _row_index_at(self, y: int) -> int:
        row = int((y - self.header_height + self.scroll_bar.position) // self._row_height)
        return row if y >= self.header_height and 0 <= row < len(self.items) else -1

    # --- drawing ----------------------------------------------------------------------------------

    def set_focused(self, has_focus: bool) -> None:
        if has_focus != self.has_focus:
            self.has_focus = has_focus
            self.element.repaint()

    def _column_spans(self) -> list[tuple[int, int]]:
        """Return left edge and width of each column, in pixels."""
        if self._is_first_column_pinned:
            return self._pinned_column_spans()
        px, total_width = self.dialog.to_px, self._total_columns_width
        fixed = sum(px(column.width) for column in self.columns)
        shares = sum(1 for column in self.columns if not column.width)
        if shares:
            share_width, stretch = max(px(60), (total_width - fixed) // shares), 1.0
        else:
            share_width, stretch = 0, total_width / max(1, fixed)
        if fixed + share_width * shares > total_width and shares:
            stretch = max(0.2, (total_width - share_width * shares) / max(1, fixed))
        boxes, left = [], 0.0
        for column in self.columns:
            width = px(column.width) * stretch if column.width else share_width
            boxes.append((round(left), max(1, round(left + width) - round(left))))
            left += width
        return boxes

    def _paint_list(self, pen: Canvas) -> None:
        width = self.element.surface.get_width()
        boxes = self._column_spans()
        if not self.items:
            pen.draw_text(
                (pen.to_px(_CELL_PADDING), self.header_height + pen.to_px(14)),
                self.empty_text,
                size=14,
                colour=pen.palette.dim,
            )
        first = int(self.scroll_bar.position // self._row_height)
        last = min(len(self.items), first + self.scroll_bar.viewport_height // self._row_height + 2)
        for index in range(first, last):
            self._paint_row(
                pen, index, self.header_height + index * self._row_height - round(self.scroll_bar.position), boxes
            )
        self.scroll_bar.paint_scroll_bar(pen, width, self.header_height)
        if self.header_height:
            self._paint_header(pen, boxes)

    def _paint_header(self, pen: Canvas, boxes: list[tuple[int, int]]) -> None:
        palette = pen.palette
        width = self.element.surface.get_width()
        pen.fill_box((0, 0, width, self.header_height), palette.surface)
        for index, (column, (left, cell_width)) in enumerate(zip(self.columns, boxes, strict=True)):
            if not cell_width:
                continue
            is_sorted = self.sort_order is not None and self.sort_order[0] == index
            colour = palette.accent if is_sorted else palette.dim
            mark_width = pen.to_px(12) if is_sorted else 0
            title_width = self._paint_cell(
                pen,
                column.title,
                left,
                cell_width - mark_width,
                self.header_height // 2,
                column.text_align,
                12,
                "sans",
                colour,
            )
            if is_sorted and self.sort_order:
                arrow_x = (
                    left + cell_width - pen.to_px(_CELL_PADDING) - mark_width + pen.to_px(6)
                    if column.text_align == "right"
                    else left + pen.to_px(_CELL_PADDING + 5) + title_width
                )
                _draw_sort_arrow(pen, arrow_x, self.header_height // 2, self.sort_order[1], colour)
        if self._is_first_column_pinned:
            self._paint_scroll_arrows(pen, boxes)
        pen.draw_horizontal_line(0, self.header_height - 1, width)

    def _paint_row(self, pen: Canvas, index: int, top: int, boxes: list[tuple[int, int]]) -> None:
        item, palette = self.items[index], pen.palette
        width = self._total_columns_width if self._is_first_column_pinned else boxes[-1][0] + boxes[-1][1]
        box = (0, top, width, self._row_height - 1)
        if index == self.selected_index:
            pen.fill_box(box, selected_row_colour(pen, 0.30 if self.has_focus else 0.18), 5)
            if self.has_focus:
                pen.fill_box(
                    (0, top + pen.to_px(4), pen.to_px(3), self._row_height - 1 - pen.to_px(8)), palette.accent, 1.5
                )
        elif index == self._hovered_index:
            pen.fill_box(box, mix_colours(palette.surface, palette.hover, 0.5), 5)
        middle = top + (pen.to_px(16) if item.detail_text else self._row_height // 2)
        for i, (column, (left, cell_width)) in enumerate(zip(self.columns, boxes, strict=True)):
            if not cell_width:
                continue
            role = "dim" if item.is_dim else item.colour_names.get(i, column.colour_name)
            text = item.cells[i] if i < len(item.cells) else ""
            self._paint_cell(
                pen, text, left, cell_width, middle, column.text_align, 14, column.font_face, getattr(palette, role)
            )
        if item.detail_text:
            position = (pen.to_px(_CELL_PADDING), top + pen.to_px(35))
            pen.draw_text(
                position,
                item.detail_text,
                size=12,
                colour=palette.dim,
                middle=True,
                width=width - pen.to_px(2 * _CELL_PADDING),
            )

    @staticmethod
    def _paint_cell(
        pen: Canvas, text: str, left: int, cell_width: int, middle: int, align: str, size: float, face: str, colour: Any
    ) -> int:
        pad = pen.to_px(_CELL_PADDING)
        if face == "mono":
            size -= 1  # the mono font (Fira Code) is taller than the sans font (Noto Sans) at the same font size
        if align == "right":
            position = (left + cell_width - pad, middle)
            return pen.draw_text(
                position, text, size=size, face=face, colour=colour, align="right", middle=True, width=cell_width - pad
            )
        return pen.draw_text(
            (left + pad, middle), text, size=size, face=face, colour=colour, middle=True, width=cell_width - pad
        )


def _draw_sideways_arrow(pen: Canvas, x: int, y: int, direction: int, colour: Any) -> None:
    a, b = pen.to_px(3) * direction, pen.to_px(5)
    pen.fill_polygon([(x - a, y - b), (x - a, y + b), (x + a, y)], colour)


def _draw_sort_arrow(pen: Canvas, x: int, y: int, points_down: bool, colour: Any) -> None:
    a, b = pen.to_px(4), pen.to_px(3) * (1 if points_down else -1)
    pen.fill_polygon([(x - a, y - b), (x + a, y - b), (x, y + b)], colour)
