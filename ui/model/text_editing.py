"""Model of a text field of one line: text, caret, selection, text of an input method, undo and redo.

The model knows neither pygame nor fonts. Indices count the characters before a position, from 0 to the length of the
text. Caret and selection never divide a grapheme cluster, and the text contains only characters that
`clean_typed_text` accepts.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise

from sim.params import clean_typed_text
from ui.model.graphemes import boundary_at_or_after, boundary_at_or_before, cluster_boundaries

MAX_UNDO_STEPS = 200


class CaretMove(Enum):
    """Target of a movement of the caret, relative to its present position."""

    LEFT = auto()
    RIGHT = auto()
    WORD_LEFT = auto()
    WORD_RIGHT = auto()
    START = auto()
    END = auto()


class SelectionUnit(Enum):
    """Unit by which the mouse selects text."""

    CLUSTER = auto()
    WORD = auto()
    ALL = auto()


@dataclass(frozen=True)
class TextState:
    """Text with caret and selection."""

    text: str = ""
    caret: int = 0  # index of the caret, which is the end of the selection that moves
    anchor: int = 0  # index of the end of the selection that stays; equal to `caret` if nothing is selected

    @property
    def selection(self) -> tuple[int, int]:
        """Return first index and end of the selected text; both are equal if nothing is selected."""
        return min(self.caret, self.anchor), max(self.caret, self.anchor)

    def with_replaced_selection(self, inserted: str) -> "TextState":
        """Return the state after the selection was replaced by a text, with the caret behind that text."""
        first, end = self.selection
        text = self.text[:first] + inserted + self.text[end:]
        caret = boundary_at_or_after(text, first + len(inserted))
        return TextState(text, caret, caret)


@dataclass(frozen=True)
class Composition:
    """Text that an input method shows before the user accepts it; it is not part of the text of the field."""

    text: str = ""
    caret: int = 0  # index of the caret in the composition


class TextEditor:
    """Text of a field and its editing operations.

    Example:
        >>> editor = TextEditor("slow car")
        >>> editor.move_caret(CaretMove.WORD_LEFT, extends=True)
        >>> editor.selected_text
        'car'
        >>> editor.type_text("train")
        >>> editor.text
        'slow train'
        >>> editor.undo(), editor.text
        (True, 'slow car')
    """

    def __init__(self, text: str = "", max_length: int = 1000) -> None:
        """Create the model with the caret at the end of the text.

        Args:
            text: Initial text. It may be longer than `max_length`, so that no content of a file is lost.
            max_length: Maximum number of characters; typed and pasted text is cut to it.
        """
        self.max_length = max_length
        self.composition = Composition()
        self.replace_text(text)

    # --- content ----------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        return self._state.text

    @property
    def caret(self) -> int:
        return self._state.caret

    @property
    def selection(self) -> tuple[int, int]:
        """Return first index and end of the selected text; both are equal if nothing is selected."""
        return self._state.selection

    @property
    def selected_text(self) -> str:
        first, end = self.selection
        return self.text[first:end]

    def replace_text(self, text: str) -> None:
        """Replace the text on behalf of the program: the caret moves to the end, and undo is no longer possible."""
        text = clean_typed_text(text)
        self._state = TextState(text, len(text), len(text))
        self._undo_states: list[TextState] = []
        self._redo_states: list[TextState] = []
        self._merge_key = ""  # kind of the last edit; an edit of the same kind becomes part of the same undo step
        self._drag_unit, self._drag_span = SelectionUnit.CLUSTER, (len(text), len(text))
        self.composition = Composition()

    # --- editing ----------------------------------------------------------------------------------

    def type_text(self, text: str) -> None:
        """Insert typed text in place of the selection; consecutive characters of a word are one undo step."""
        self.composition = Composition()
        inserted = self._acceptable_part(text)
        if not inserted:
            return
        begins_word = not inserted[0].isspace() and self.text[: self.selection[0]][-1:].isspace()
        if begins_word or self.selected_text:
            self._merge_key = ""
        self._apply_edit(self._state.with_replaced_selection(inserted), "typing")

    def paste_text(self, text: str) -> None:
        """Insert a text from the clipboard in place of the selection."""
        self._merge_key = ""
        inserted = self._acceptable_part(text)
        if inserted:
            self._apply_edit(self._state.with_replaced_selection(inserted), "")

    def cut_text(self) -> str:
        """Delete the selected text and return it."""
        removed = self.selected_text
        self._merge_key = ""
        if removed:
            self._apply_edit(self._state.with_replaced_selection(""), "")
        return removed

    def delete(self, move: CaretMove) -> None:
        """Delete the selection; if nothing is selected, delete the text that the caret would pass in a movement."""
        if self.selected_text:
            self.cut_text()
            return
        state = replace(self._state, anchor=self._index_after_move(move))
        if state.anchor != state.caret:
            self._apply_edit(state.with_replaced_selection(""), f"deleting {move.name}")

    def _acceptable_part(self, text: str) -> str:
        """Return what a field accepts of a text: visible characters, as many whole clusters as there is room for."""
        text = clean_typed_text(text)
        room = max(0, self.max_length - len(self.text) + len(self.selected_text))
        return text[: boundary_at_or_before(text, room)]

    # --- undo -------------------------------------------------------------------------------------

    def _apply_edit(self, state: TextState, merge_key: str) -> None:
        """Make `state` the present state, in the undo step of the last edit if both have the same merge key."""
        if not merge_key or merge_key != self._merge_key:
            self._undo_states = [*self._undo_states, self._state][-MAX_UNDO_STEPS:]
        self._redo_states.clear()
        self._merge_key = merge_key
        self._state = state

    def undo(self) -> bool:
        """Restore the state before the last undo step, and return whether there was one."""
        return self._restore_state(self._undo_states, self._redo_states)

    def redo(self) -> bool:
        """Restore the state before the last call of `undo`, and return whether there was one."""
        return self._restore_state(self._redo_states, self._undo_states)

    def _restore_state(self, source: list[TextState], target: list[TextState]) -> bool:
        if not source:
            return False
        target.append(self._state)
        self._state, self._merge_key = source.pop(), ""
        return True

    # --- caret and selection ----------------------------------------------------------------------

    def move_caret(self, move: CaretMove, *, extends: bool = False) -> None:
        """Move the caret. Without `extends`, a movement to the left or right ends at the edge of the selection.

        Args:
            move: Where to.
            extends: Whether the passed text is added to the selection, as with the Shift key.
        """
        first, end = self.selection
        if not extends and first != end and move in (CaretMove.LEFT, CaretMove.RIGHT):
            target = first if move is CaretMove.LEFT else end
        else:
            target = self._index_after_move(move)
        self.place_caret(target, extends=extends)

    def place_caret(self, index: int, *, extends: bool = False) -> None:
        """Move the caret to an index, rounded down to a boundary between clusters.

        Args:
            index: Index in the text.
            extends: Whether the text between the anchor of the selection and the caret is selected.
        """
        caret = boundary_at_or_before(self.text, index)
        self._set_selection(self._state.anchor if extends else caret, caret)

    def select_range(self, first: int, end: int) -> None:
        """Select a part of the text, with the caret at its end; a cluster that it divides is not included."""
        first = boundary_at_or_after(self.text, first)
        self._set_selection(first, max(first, boundary_at_or_before(self.text, end)))

    def select_all(self) -> None:
        self._set_selection(0, len(self.text))

    def _set_selection(self, anchor: int, caret: int) -> None:
        self._state = replace(self._state, anchor=anchor, caret=caret)
        self._merge_key = ""

    def _index_after_move(self, move: CaretMove) -> int:
        text, caret = self.text, self.caret
        if move is CaretMove.LEFT:
            return boundary_at_or_before(text, caret - 1)
        if move is CaretMove.RIGHT:
            return boundary_at_or_after(text, caret + 1)
        if move is CaretMove.WORD_LEFT:
            return word_start_before(text, caret)
        if move is CaretMove.WORD_RIGHT:
            return word_end_after(text, caret)
        return 0 if move is CaretMove.START else len(text)

    # --- mouse ------------------------------------------------------------------------------------

    def begin_mouse_selection(self, index: int, unit: SelectionUnit) -> None:
        """Place the caret for a click, or select the word at the click or everything.

        Args:
            index: Index of the boundary nearest to the pointer.
            unit: Unit of the selection; a drag extends the selection by the same unit.
        """
        self._drag_unit, self._drag_span = unit, self._span_of_unit(index, unit)
        self._set_selection(*self._drag_span)

    def extend_mouse_selection(self, index: int) -> None:
        """Extend the selection from its anchor to a click with the Shift key; a drag extends it further.

        Args:
            index: Index of the boundary nearest to the pointer.
        """
        self._drag_unit, self._drag_span = SelectionUnit.CLUSTER, (self._state.anchor, self._state.anchor)
        self.drag_mouse_selection(index)

    def drag_mouse_selection(self, index: int) -> None:
        """Extend the selection from where the drag began to the pointer, in whole units.

        Args:
            index: Index of the boundary nearest to the pointer.
        """
        (first, end), span = self._drag_span, self._span_of_unit(index, self._drag_unit)
        if index < first:
            self._set_selection(end, span[0])
        else:
            self._set_selection(first, span[1])

    def _span_of_unit(self, index: int, unit: SelectionUnit) -> tuple[int, int]:
        if unit is SelectionUnit.ALL:
            return 0, len(self.text)
        index = boundary_at_or_before(self.text, index)
        return word_span_at(self.text, index) if unit is SelectionUnit.WORD else (index, index)

    # --- input methods ----------------------------------------------------------------------------

    def compose(self, text: str, caret: int) -> None:
        """Show the text of an input method in place of the selection; an empty text ends the composition.

        Args:
            text: Text that the user has not accepted yet.
            caret: Index of the caret in this text.
        """
        text = clean_typed_text(text)
        self.composition = Composition(text, boundary_at_or_before(text, caret))

    @property
    def is_composing(self) -> bool:
        return bool(self.composition.text)

    @property
    def shown_state(self) -> TextState:
        """Return the text to draw: the text of an input method replaces the selection of the field."""
        if not self.is_composing:
            return self._state
        first, end = self.selection
        caret = first + self.composition.caret
        return TextState(self.text[:first] + self.composition.text + self.text[end:], caret, caret)

    @property
    def composition_span(self) -> tuple[int, int]:
        """Return first index and end of the composition in the text of `shown_state`."""
        first = self.selection[0]
        return first, first + len(self.composition.text)


# --- words ----------------------------------------------------------------------------------------


class _CharKind(Enum):
    """Kinds of characters; consecutive characters of the same kind form a word."""

    SPACE = auto()
    LETTER = auto()  # also digits and the underscore
    OTHER = auto()


def _kind_of_cluster(text: str, index: int) -> _CharKind:
    """Return the kind of the first character of the cluster at an index."""
    char = text[index]
    if char.isspace():
        return _CharKind.SPACE
    return _CharKind.LETTER if char.isalnum() or char == "_" else _CharKind.OTHER


def _word_spans(text: str) -> list[tuple[int, int, _CharKind]]:
    """Return first index, end and kind of each longest run of clusters of the same kind."""
    spans: list[tuple[int, int, _CharKind]] = []
    for first, end in pairwise(cluster_boundaries(text)):
        kind = _kind_of_cluster(text, first)
        if spans and spans[-1][2] is kind:
            spans[-1] = (spans[-1][0], end, kind)
        else:
            spans.append((first, end, kind))
    return spans


def word_start_before(text: str, index: int) -> int:
    """Return the start of the last word that begins before an index, or 0."""
    starts = [first for first, _, kind in _word_spans(text) if kind is not _CharKind.SPACE and first < index]
    return starts[-1] if starts else 0


def word_end_after(text: str, index: int) -> int:
    """Return the end of the first word that ends after an index, or the length of the text."""
    ends = (end for _, end, kind in _word_spans(text) if kind is not _CharKind.SPACE and end > index)
    return next(ends, len(text))


def word_span_at(text: str, index: int) -> tuple[int, int]:
    """Return first index and end of the word that contains or touches an index; a word of letters is preferred."""
    touching = [span for span in _word_spans(text) if span[0] <= index <= span[1]]
    if not touching:
        return index, index
    first, end, _ = next((span for span in touching if span[2] is _CharKind.LETTER), touching[-1])
    return first, end


# --- positions in pixels --------------------------------------------------------------------------


def index_at_x(text: str, x: float, measure: Callable[[str], int]) -> int:
    """Return the boundary between clusters that is nearest to a horizontal position.

    The search halves the text in each step, so it measures at most ten beginnings of a text of 1,000 characters.

    Args:
        text: The text.
        x: Distance from the left edge of the text, in pixels.
        measure: Function that returns the width of a text in pixels.
    """
    boundaries = cluster_boundaries(text)
    right = bisect_left(boundaries, x, key=lambda index: measure(text[:index]))
    if right in (0, len(boundaries)):
        return boundaries[min(right, len(boundaries) - 1)]
    before, after = boundaries[right - 1], boundaries[right]
    is_nearer_to_left = x - measure(text[:before]) < measure(text[:after]) - x
    return before if is_nearer_to_left else after


def scroll_to_caret(offset: int, caret_x: int, text_width: int, view_width: int) -> int:
    """Return the horizontal scroll position, in pixels, at which the caret is visible.

    Args:
        offset: Present scroll position, which is kept if possible.
        caret_x: Distance of the caret from the left edge of the text.
        text_width: Width of the text.
        view_width: Width of the visible part.
    """
    offset = min(max(offset, caret_x - view_width), caret_x)
    return max(0, min(offset, text_width - view_width))
