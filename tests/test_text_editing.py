"""Model of a one-line text field: editing, selection, undo and input methods, and cuts between grapheme clusters."""

import re
import unicodedata
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sim.params import clean_typed_text
from ui.model.graphemes import boundary_at_or_after, boundary_at_or_before, cluster_boundaries
from ui.model.text_editing import (
    MAX_UNDO_STEPS,
    CaretMove,
    SelectionUnit,
    TextEditor,
    index_at_x,
    scroll_to_caret,
    word_end_after,
    word_span_at,
    word_start_before,
)

ACCENT, JOINER, GERMAN_FLAG, FAMILY = "\u0301", "\u200d", "\U0001f1e9\U0001f1ea", "👩\u200d👩\u200d👧"
HEBREW = "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd"  # consonants with points below and above
PIECES = (
    "a", "b", "Z", "7", "_", " ", ".", "/", "ä", ACCENT, "\u0323", JOINER, "\u200c", "\ufe0f", "👩", "👧", "\U0001f3fd",
    "\U0001f1e9", "\U0001f1ea", "\u05d0", "\u05b8", "\u0627", "\u064b", "\u1100", "\u1161", "\u11a8", "\uac00",
    "\uac01", "地", "\u0e01", "\u0e33", "\u202e", "\n", "\t", "\ud800",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


# --- a simple reference implementation -------------------------------------------------------------

_CLUSTER = re.compile("(?:RR|L*(?:V+|AV*|B)T*|L+|T+|.)(?:[EZ]|(?<=Z)S)*", re.DOTALL)


def letter_of_class(char: str) -> str:
    """Return a letter for the class of a character, so that a pattern of letters can describe clusters."""
    if char in f"{JOINER}\u200c":
        return "Z" if char == JOINER else "E"
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        return "R"
    if unicodedata.category(char)[0] == "M" or char in "\u0e33\U0001f3fd":
        return "E"
    if unicodedata.category(char)[0] == "S":
        return "S"
    return {"\u1100": "L", "\u1161": "V", "\u11a8": "T", "\uac00": "A", "\uac01": "B"}.get(char, "O")


def naive_clusters(text: str) -> list[str]:
    letters = "".join(map(letter_of_class, text))
    return [text[match.start() : match.end()] for match in _CLUSTER.finditer(letters)]


def naive_index(clusters: list[str], index: int) -> int:
    """Return how many clusters cover at least `index` characters."""
    count = 0
    while len("".join(clusters[:count])) < index:
        count += 1
    return count


@dataclass
class NaiveField:
    """Text field as a list of clusters; caret and anchor are numbers of clusters."""

    clusters: list[str] = field(default_factory=list)
    caret: int = 0
    anchor: int = 0

    def replace_selection(self, inserted: str) -> None:
        first, end = sorted((self.caret, self.anchor))
        head = "".join(self.clusters[:first]) + inserted
        self.clusters = naive_clusters(head + "".join(self.clusters[end:]))
        self.caret = self.anchor = naive_index(self.clusters, len(head))

    def insert(self, text: str, max_length: int) -> None:
        first, end = sorted((self.caret, self.anchor))
        room = max_length - len("".join(self.clusters[:first] + self.clusters[end:]))
        pieces = naive_clusters(clean_typed_text(text))
        while len("".join(pieces)) > max(0, room):
            pieces.pop()
        if pieces:
            self.replace_selection("".join(pieces))

    def target(self, move: CaretMove) -> int:
        if move in (CaretMove.LEFT, CaretMove.RIGHT):
            return min(max(0, self.caret + (-1 if move is CaretMove.LEFT else 1)), len(self.clusters))
        if move in (CaretMove.START, CaretMove.END):
            return 0 if move is CaretMove.START else len(self.clusters)
        step = -1 if move is CaretMove.WORD_LEFT else 1
        at = self.caret
        at = self.skip(at, step, {"space"})
        neighbour = at - 1 if step < 0 else at
        return self.skip(at, step, {self.kind(neighbour)}) if 0 <= neighbour < len(self.clusters) else at

    def skip(self, at: int, step: int, kinds: set[str]) -> int:
        while 0 <= (neighbour := at - 1 if step < 0 else at) < len(self.clusters) and self.kind(neighbour) in kinds:
            at += step
        return at

    def kind(self, index: int) -> str:
        char = self.clusters[index][0]
        return "space" if char.isspace() else "letter" if char.isalnum() or char == "_" else "other"

    def move(self, move: CaretMove, extends: bool) -> None:
        first, end = sorted((self.caret, self.anchor))
        if not extends and first != end and move in (CaretMove.LEFT, CaretMove.RIGHT):
            self.caret = first if move is CaretMove.LEFT else end
        else:
            self.caret = self.target(move)
        self.anchor = self.anchor if extends else self.caret

    def delete(self, move: CaretMove) -> None:
        if self.caret == self.anchor:
            self.anchor = self.target(move)
        self.replace_selection("")


moves = st.sampled_from(list(CaretMove))
steps = st.one_of(
    st.tuples(st.just("type"), texts),
    st.tuples(st.just("paste"), texts),
    st.tuples(st.just("delete"), moves),
    st.tuples(st.just("move"), moves, st.booleans()),
    st.tuples(st.just("all")),
    st.tuples(st.just("cut")),
    st.tuples(st.just("compose"), texts, st.integers(-2, 9)),
)


def apply_step(editor: TextEditor, naive: NaiveField, step: tuple) -> None:
    match step:
        case "type", text:
            editor.type_text(text)
            naive.insert(text, editor.max_length)
        case "paste", text:
            editor.paste_text(text)
            naive.insert(text, editor.max_length)
        case "delete", move:
            editor.delete(move)
            naive.delete(move)
        case "move", move, extends:
            editor.move_caret(move, extends=extends)
            naive.move(move, extends)
        case ("all",):
            editor.select_all()
            naive.anchor, naive.caret = 0, len(naive.clusters)
        case ("cut",):
            first, end = sorted((naive.caret, naive.anchor))
            assert editor.cut_text() == "".join(naive.clusters[first:end])
            naive.replace_selection("")
        case "compose", text, caret:
            editor.compose(text, caret)


@given(start=texts, done=st.lists(steps, max_size=12))
@example(start="\U0001f1ea", done=[("move", CaretMove.START, False), ("type", "\U0001f1e9")])  # joined to a flag
@example(start=ACCENT, done=[("move", CaretMove.START, False), ("type", "e")])
@example(start="\u1100.\u1161", done=[("move", CaretMove.LEFT, False), ("delete", CaretMove.LEFT)])
def test_editing_agrees_with_list_of_clusters(start: str, done: list[tuple]) -> None:
    editor = TextEditor(start, max_length=20)
    clusters = naive_clusters(clean_typed_text(start))
    naive = NaiveField(clusters, len(clusters), len(clusters))
    for step in done:
        apply_step(editor, naive, step)
        assert editor.text == "".join(naive.clusters)
        assert editor.caret == len("".join(naive.clusters[: naive.caret]))
        first, end = sorted((naive.caret, naive.anchor))
        assert editor.selected_text == "".join(naive.clusters[first:end])
        assert editor.text == clean_typed_text(editor.text) and len(editor.text) <= max(20, len(start))
        assert editor.composition.text in editor.shown_state.text


@given(start=texts, done=st.lists(steps, max_size=12))
def test_undo_returns_to_the_first_text_and_redo_to_the_last(start: str, done: list[tuple]) -> None:
    editor = TextEditor(start)
    clusters = naive_clusters(clean_typed_text(start))
    naive = NaiveField(clusters, len(clusters), len(clusters))
    for step in done:
        apply_step(editor, naive, step)
    last, count = editor.text, 0
    while editor.undo():
        count += 1
    assert editor.text == clean_typed_text(start)
    while editor.redo():
        count -= 1
    assert (editor.text, count) == (last, 0)


# --- clusters --------------------------------------------------------------------------------------


@given(texts)
@example("\uac01\u1161")  # a vowel does not join a syllable that has a trailing consonant
def test_clusters_agree_with_a_pattern(text: str) -> None:
    boundaries = cluster_boundaries(text)
    assert [text[a:b] for a, b in pairwise(boundaries)] == naive_clusters(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("abc", 3),
        (f"e{ACCENT}a", 2),
        (FAMILY, 1),
        ("👍\U0001f3fd!", 2),
        ("🏳\ufe0f\u200d🌈", 1),
        (GERMAN_FLAG * 2, 2),
        (f"{GERMAN_FLAG}\U0001f1eb", 2),
        (f"a{JOINER}b", 2),
        ("\u1112\u1161\u11ab\uae00", 2),  # Korean syllables, of three letters and of one
        (HEBREW, 4),
        ("\u0e01\u0e33\u0e01", 2),
    ],
)
def test_number_of_clusters(text: str, count: int) -> None:
    assert len(cluster_boundaries(text)) - 1 == count


@given(texts, st.integers(-3, 20))
def test_boundaries_around_an_index(text: str, index: int) -> None:
    clamped = min(max(index, 0), len(text))
    boundaries = cluster_boundaries(text)
    assert boundary_at_or_before(text, index) == max(b for b in boundaries if b <= clamped)
    assert boundary_at_or_after(text, index) == min(b for b in boundaries if b >= clamped)


# --- details of editing ------------------------------------------------------------------------------


def typed(editor: TextEditor, text: str) -> None:
    for char in text:
        editor.type_text(char)


def test_undo_steps_are_words_and_runs_of_deletions() -> None:
    editor = TextEditor()
    typed(editor, "two words")
    for _ in range(3):
        editor.delete(CaretMove.LEFT)
    for expected in ("two words", "two ", ""):
        assert editor.undo() and editor.text == expected
    assert not editor.undo()
    assert editor.redo() and editor.redo() and editor.text == "two words"
    typed(editor, "!")
    assert not editor.redo(), "an edit ends what could be redone"


def test_caret_movement_ends_an_undo_step() -> None:
    editor = TextEditor()
    typed(editor, "ac")
    editor.move_caret(CaretMove.LEFT)
    typed(editor, "b")
    assert editor.undo() and (editor.text, editor.caret) == ("ac", 1)


def test_undo_restores_the_selection() -> None:
    editor = TextEditor("one two")
    editor.select_range(4, 7)
    editor.paste_text("three")
    assert editor.text == "one three" and editor.undo()
    assert (editor.selected_text, editor.caret) == ("two", 7)


def test_number_of_undo_steps_is_limited() -> None:
    editor = TextEditor()
    for _ in range(MAX_UNDO_STEPS + 5):
        editor.paste_text("x")
    while editor.undo():
        pass
    assert editor.text == "x" * 5


def test_text_set_by_the_program_cannot_be_undone() -> None:
    editor = TextEditor("a")
    typed(editor, "b")
    editor.replace_text("from a\nslider")
    assert (editor.text, editor.caret, editor.undo()) == ("from a slider", 13, False)


def test_overlong_text_of_a_file_is_kept_but_does_not_grow() -> None:
    editor = TextEditor("12345", max_length=3)
    typed(editor, "6")
    assert editor.text == "12345"
    editor.select_range(1, 4)
    editor.paste_text("abcdef")
    assert editor.text == "1a5"


def test_limit_does_not_divide_a_cluster() -> None:
    editor = TextEditor("abc", max_length=4)
    editor.paste_text(f"e{ACCENT}")
    assert editor.text == "abc"
    editor.paste_text("e")
    assert editor.text == "abce"


def test_refused_text_keeps_the_selection() -> None:
    editor = TextEditor("keep")
    editor.select_all()
    editor.paste_text("\u200b\x00")
    editor.type_text("\u202e")
    assert (editor.text, editor.selected_text) == ("keep", "keep")


def test_selected_range_leaves_out_divided_clusters() -> None:
    editor = TextEditor(f"ae{ACCENT}x")
    for first, end, selected in ((0, 99, f"ae{ACCENT}x"), (-5, 2, "a"), (2, 4, "x"), (2, 2, "")):
        editor.select_range(first, end)
        assert editor.selected_text == selected
    assert editor.selection == (3, 3)


PATH = "/home/me/slow car.map"


@pytest.mark.parametrize(
    ("index", "start", "end", "span"),
    [
        (0, 0, 1, (0, 1)),
        (3, 1, 5, (1, 5)),
        (9, 8, 13, (9, 13)),
        (13, 9, 17, (9, 13)),
        (14, 9, 17, (14, 17)),
        (21, 18, 21, (18, 21)),
    ],
)
def test_words(index: int, start: int, end: int, span: tuple[int, int]) -> None:
    assert (word_start_before(PATH, index), word_end_after(PATH, index)) == (start, end)
    assert word_span_at(PATH, index) == span


def test_word_with_marks_is_one_word() -> None:
    assert word_span_at(f"a {HEBREW} b", 3) == (2, 2 + len(HEBREW))
    assert word_span_at("", 0) == (0, 0)


# --- mouse -------------------------------------------------------------------------------------------


def test_drag_selects_in_the_unit_of_the_press() -> None:
    editor = TextEditor("one two three")
    editor.begin_mouse_selection(5, SelectionUnit.CLUSTER)
    editor.drag_mouse_selection(2)
    assert (editor.selected_text, editor.caret) == ("e t", 2)
    editor.drag_mouse_selection(9)
    assert (editor.selected_text, editor.caret) == ("wo t", 9)
    editor.begin_mouse_selection(5, SelectionUnit.WORD)
    assert editor.selected_text == "two"
    editor.drag_mouse_selection(1)
    assert (editor.selected_text, editor.caret) == ("one two", 0)
    editor.drag_mouse_selection(10)
    assert (editor.selected_text, editor.caret) == ("two three", 13)
    editor.begin_mouse_selection(5, SelectionUnit.CLUSTER)
    editor.extend_mouse_selection(8)
    assert (editor.selected_text, editor.caret) == ("wo ", 8)
    editor.drag_mouse_selection(4)
    assert (editor.selected_text, editor.caret) == ("t", 4)
    editor.begin_mouse_selection(5, SelectionUnit.ALL)
    editor.drag_mouse_selection(0)
    assert editor.selected_text == editor.text


@given(texts, st.integers(-30, 250))
def test_index_at_x_is_the_nearest_boundary(text: str, x: int) -> None:
    def measure(beginning: str) -> int:
        return 7 * len(beginning) + sum(map(ord, beginning)) % 5

    index = index_at_x(text, x, measure)
    assert index in cluster_boundaries(text)
    nearest = min(abs(measure(text[:b]) - x) for b in cluster_boundaries(text))
    assert abs(measure(text[:index]) - x) == nearest


@given(texts, st.integers(-30, 250), st.randoms())
def test_index_at_x_is_a_boundary_for_any_measure(text: str, x: int, random) -> None:
    """Shaped Arabic letters can make a longer text narrower."""
    assert index_at_x(text, x, lambda beginning: random.randrange(200)) in cluster_boundaries(text)


@given(st.integers(0, 500), st.integers(0, 400), st.integers(0, 400), st.integers(1, 300))
def test_scrolling_shows_the_caret(offset: int, caret_x: int, more: int, view_width: int) -> None:
    text_width = caret_x + more
    scrolled = scroll_to_caret(offset, caret_x, text_width, view_width)
    assert scrolled <= caret_x <= scrolled + view_width
    assert scrolled == 0 or scrolled + view_width <= text_width, "no empty space at the end"
    assert scroll_to_caret(scrolled, caret_x, text_width, view_width) == scrolled


# --- input methods -----------------------------------------------------------------------------------


def test_composition_is_shown_but_not_part_of_the_text() -> None:
    editor = TextEditor("map")
    editor.select_all()
    editor.compose("に", 1)
    assert (editor.text, editor.shown_state.text, editor.composition_span) == ("map", "に", (0, 1))
    editor.compose("にほ", 2)
    assert (editor.shown_state.text, editor.shown_state.caret) == ("にほ", 2)
    editor.compose("", 0)
    assert (editor.selected_text, editor.is_composing) == ("map", False), "a cancelled composition loses nothing"
    editor.compose("にほん", 3)
    editor.type_text("日本")
    assert (editor.text, editor.is_composing) == ("日本", False)
    assert editor.undo() and editor.text == "map"
