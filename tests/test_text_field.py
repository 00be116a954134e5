"""The text field of dialogs: keys, mouse, clipboard, input methods and drawing, by events as the system sends them."""

from collections.abc import Callable, Iterator

import pygame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.world_commands import EditCells
from tests.test_app import setup
from tests.window import App, make_app, press, settle
from ui.dialogs.dialog_base import Dialog
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.question import QuestionDialog
from ui.dialogs.text_prompt import TextPrompt
from ui.draw.theme import DARK, LIGHT
from ui.model.graphemes import cluster_boundaries
from ui.widgets import text_field
from ui.widgets.clipboard import copy_text_to_clipboard, text_of_clipboard
from ui.widgets.text_field import BLINK_S, BLINKING_S, MULTIPLE_CLICK_MS

CTRL, SHIFT, ALT = pygame.KMOD_LCTRL, pygame.KMOD_LSHIFT, pygame.KMOD_LALT


class Prompt(TextPrompt):
    """Dialog with one text field, and the texts that it has reported."""

    def __init__(self, app: App, text: str) -> None:
        self.reported: list[str] = []
        self.entered: list[str] = []
        super().__init__(app.window.dialogs, "Name", text, self.entered.append)

    def _on_text_typed(self, text: str) -> None:
        super()._on_text_typed(text)
        self.reported.append(text)


class Typist:
    """A user of a text field in the window."""

    def __init__(self, app: App, text: str = "") -> None:
        self.app = app
        self.dialog = Prompt(app, text)
        app.window.dialogs.open_dialog(self.dialog)
        self.field = self.dialog.text_field
        self.press(pygame.K_END)

    def press(self, *keys: int, mod: int = 0) -> "Typist":
        for key in keys:
            press(self.app, key, mod)
        return self

    def send(self, kind: int, **attributes: object) -> "Typist":
        pygame.event.post(pygame.event.Event(kind, attributes))
        settle(self.app)
        return self

    def type(self, text: str) -> "Typist":
        for char in text:
            self.send(pygame.TEXTINPUT, text=char)
        return self

    def compose(self, text: str, start: int = 0) -> "Typist":
        return self.send(pygame.TEXTEDITING, text=text, start=start, length=0)

    def x_of(self, index: int) -> int:
        """The x in the window of a boundary in the text."""
        field = self.field
        return field.element.rect.x + field._text_box[0] - field._scroll_px + field._measure(field.text[:index])

    def mouse(self, kind: int, x: int, y: int | None = None, button: int = 1) -> "Typist":
        position = (x, self.field.element.rect.centery if y is None else y)
        if kind == pygame.MOUSEMOTION:
            return self.send(kind, pos=position, rel=(0, 0), buttons=(1, 0, 0))
        return self.send(kind, pos=position, button=button)

    def click(self, x: int, times: int = 1, button: int = 1) -> "Typist":
        for _ in range(times):
            self.mouse(pygame.MOUSEBUTTONDOWN, x, button=button).mouse(pygame.MOUSEBUTTONUP, x, button=button)
        return self

    @property
    def selected(self) -> str:
        return self.field.editor.selected_text

    @property
    def picture(self) -> bytes:
        return pygame.image.tobytes(self.field.element.surface, "RGB")


@pytest.fixture
def app() -> App:
    return make_app(setup())


@pytest.fixture
def typist(app: App) -> Typist:
    return Typist(app)


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The clock that counts multiple clicks, in milliseconds."""
    milliseconds = [10_000]
    monkeypatch.setattr(text_field.pygame.time, "get_ticks", lambda: milliseconds[0])
    yield milliseconds


# --- keys --------------------------------------------------------------------------------------------


def test_typing_reports_every_change(typist: Typist) -> None:
    typist.type("ab").press(pygame.K_LEFT).press(pygame.K_BACKSPACE)
    assert typist.field.text == "b" and typist.dialog.reported == ["a", "ab", "b"]
    typist.press(pygame.K_RIGHT, pygame.K_DELETE)
    assert typist.dialog.reported == ["a", "ab", "b"], "a key that changes nothing reports nothing"


@pytest.mark.parametrize(
    ("key", "mod", "text", "selected"),
    [
        (pygame.K_LEFT, SHIFT, "one two", "o"),
        (pygame.K_LEFT, SHIFT | CTRL, "one two", "two"),
        (pygame.K_HOME, SHIFT, "one two", "one two"),
        (pygame.K_BACKSPACE, 0, "one tw", ""),
        (pygame.K_BACKSPACE, CTRL, "one ", ""),
        (pygame.K_a, CTRL, "one two", "one two"),
        (pygame.K_LEFT, ALT, "one two", ""),
        (pygame.K_z, CTRL, "one two", ""),
        (pygame.K_BACKSPACE, ALT, "one two", ""),
    ],
)
def test_keys_at_the_end_of_a_text(app: App, key: int, mod: int, text: str, selected: str) -> None:
    typist = Typist(app, "one two").press(key, mod=mod)
    assert (typist.field.text, typist.selected) == (text, selected)


def test_delete_removes_the_next_word(app: App) -> None:
    typist = Typist(app, "one two").press(pygame.K_HOME).press(pygame.K_DELETE, mod=CTRL)
    assert typist.field.text == " two"


def test_undo_and_redo_by_keys(typist: Typist) -> None:
    typist.type("one").press(pygame.K_z, mod=CTRL)
    assert typist.field.text == ""
    typist.press(pygame.K_y, mod=CTRL)
    assert typist.field.text == "one"
    typist.press(pygame.K_z, mod=CTRL).press(pygame.K_z, mod=CTRL | SHIFT)
    assert typist.field.text == "one" and typist.dialog.reported == ["o", "on", "one", "", "one", "", "one"]


def test_undo_in_a_field_leaves_the_run_alone(app: App) -> None:
    app.window.session.submit_command(EditCells((3,)))
    blocked = app.session.run.world.grid.free_mask.tolist()
    Typist(app).press(pygame.K_z, mod=CTRL)
    assert isinstance(app.window.dialogs.current_dialog, Prompt)
    assert app.session.run.world.grid.free_mask.tolist() == blocked


def test_text_after_the_release_of_the_opening_key_is_typed(app: App) -> None:
    dialog = Prompt(app, "")
    app.window.dialogs.open_dialog(dialog)
    for event in (
        pygame.event.Event(pygame.KEYUP, key=pygame.K_r, mod=0, unicode="", scancode=0),
        pygame.event.Event(pygame.TEXTINPUT, text="日"),
    ):
        pygame.event.post(event)
        settle(app)
    assert dialog.text_field.text == "日"


def test_key_that_opens_a_dialog_is_not_typed_but_an_input_method_is(app: App) -> None:
    dialog = Prompt(app, "")
    app.window.dialogs.open_dialog(dialog)
    pygame.event.post(pygame.event.Event(pygame.TEXTINPUT, text="r"))
    settle(app)
    assert dialog.text_field.text == ""
    for event in (
        pygame.event.Event(pygame.TEXTEDITING, text="に", start=1, length=0),
        pygame.event.Event(pygame.TEXTINPUT, text="日"),
    ):
        pygame.event.post(event)
        settle(app)
    assert dialog.text_field.text == "日", "an input method sends no key events"


# --- clipboard -----------------------------------------------------------------------------------------


def test_cut_copy_and_paste(app: App) -> None:
    typist = Typist(app, "one two").press(pygame.K_LEFT, mod=SHIFT | CTRL).press(pygame.K_x, mod=CTRL)
    assert (typist.field.text, text_of_clipboard()) == ("one ", "two")
    typist.press(pygame.K_HOME).press(pygame.K_v, mod=CTRL).press(pygame.K_INSERT, mod=SHIFT)
    assert typist.field.text == "twotwoone "
    typist.press(pygame.K_a, mod=CTRL).press(pygame.K_c, mod=CTRL)
    assert text_of_clipboard() == "twotwoone "
    typist.press(pygame.K_DELETE, mod=SHIFT)
    assert typist.field.text == ""
    typist.press(pygame.K_c, mod=CTRL).press(pygame.K_x, mod=CTRL)
    assert text_of_clipboard() == "twotwoone ", "nothing selected leaves the clipboard as it is"


def test_system_without_clipboard_loses_nothing(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise pygame.error("no clipboard")

    monkeypatch.setattr(pygame.scrap, "put_text", fail)
    monkeypatch.setattr(pygame.scrap, "get_text", fail)
    typist = Typist(app, "keep").press(pygame.K_a, mod=CTRL).press(pygame.K_x, mod=CTRL).press(pygame.K_v, mod=CTRL)
    assert typist.field.text == "keep"


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "日本 \U0001f1e9\U0001f1ea"])
def test_any_text_can_be_copied(typist: Typist, text: str) -> None:
    assert copy_text_to_clipboard(text)
    assert text_of_clipboard().startswith(text[0]) and text_of_clipboard().endswith(text[-1])


# --- mouse ---------------------------------------------------------------------------------------------


def test_click_drag_double_and_triple_click(app: App, now: list[int]) -> None:
    typist = Typist(app, "one two three")
    typist.mouse(pygame.MOUSEBUTTONDOWN, typist.x_of(2)).mouse(pygame.MOUSEMOTION, typist.x_of(9))
    assert typist.selected == "e two t"
    typist.mouse(pygame.MOUSEBUTTONUP, typist.x_of(9)).mouse(pygame.MOUSEMOTION, typist.x_of(0))
    assert typist.selected == "e two t", "the drag is over"
    now[0] += MULTIPLE_CLICK_MS
    typist.click(typist.x_of(5))
    assert (typist.selected, typist.field.editor.caret) == ("", 5)
    typist.click(typist.x_of(5))
    assert typist.selected == "two"
    typist.click(typist.x_of(5))
    assert typist.selected == "one two three"
    typist.click(typist.x_of(5))
    assert typist.selected == ""
    now[0] += MULTIPLE_CLICK_MS
    typist.click(typist.x_of(5)).click(typist.x_of(12))
    assert typist.selected == "", "two clicks at different places are no double click"
    now[0] += MULTIPLE_CLICK_MS
    typist.click(typist.x_of(12))
    assert typist.selected == "", "two slow clicks are no double click"


def test_click_into_a_field_without_focus_places_the_caret(app: App, now: list[int]) -> None:
    typist = Typist(app, "one two").press(pygame.K_TAB)
    assert not typist.field.has_focus
    typist.click(typist.x_of(3))
    assert typist.field.has_focus and (typist.selected, typist.field.editor.caret) == ("", 3)


def test_shift_click_extends_the_selection(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    typist = Typist(app, "one two")
    monkeypatch.setattr(pygame.key, "get_mods", lambda: SHIFT)
    typist.click(typist.x_of(4))
    assert typist.selected == "two"


def test_drag_beyond_the_end_scrolls_on(app: App) -> None:
    typist = Typist(app, "x" * 80).press(pygame.K_HOME)
    right = typist.field.element.rect.right
    typist.mouse(pygame.MOUSEBUTTONDOWN, typist.x_of(1)).mouse(pygame.MOUSEMOTION, right + 30)
    before = typist.field.editor.caret
    for _ in range(40):
        app.run_frame(0.02)
    assert not typist.dialog.is_unchanging and typist.field.editor.caret > before + 10
    typist.mouse(pygame.MOUSEBUTTONUP, right + 30)
    assert typist.dialog.is_unchanging


def test_context_menu_acts_on_the_selection(app: App) -> None:
    copy_text_to_clipboard("new")
    typist = Typist(app, "one two").press(pygame.K_LEFT, mod=SHIFT | CTRL)
    typist.click(typist.x_of(5), button=3)
    menu = typist.dialog.menu
    assert menu is not None and typist.selected == "two"
    assert [item.label for item in menu.menu.items] == ["Cut", "Copy", "Paste", "Select all"]
    app.draw_window()
    region = menu.canvas.hit_region_with_id("menu:Paste")
    assert region is not None
    x, y, width, height = region.box
    typist.mouse(pygame.MOUSEBUTTONDOWN, x + width // 2, y - height // 2)
    typist.mouse(pygame.MOUSEBUTTONUP, x + width // 2, y + height // 2)
    assert typist.field.text == "one two", "the press was on another item"
    typist.mouse(pygame.MOUSEBUTTONDOWN, x + width // 2, y + height // 2)
    assert typist.field.text == "one two", "an item acts when the button is released"
    typist.mouse(pygame.MOUSEBUTTONUP, x + width // 2, y + height // 2)
    assert typist.field.text == "one new" and typist.dialog.menu is None


def test_context_menu_by_keys(app: App) -> None:
    typist = Typist(app, "one").press(pygame.K_a, mod=CTRL)
    typist.click(typist.x_of(1), button=3).type("x").press(pygame.K_DOWN, pygame.K_RETURN)
    assert text_of_clipboard() == "one" and typist.field.text == "one" and typist.dialog.menu is None
    typist.click(typist.x_of(1), button=3).press(pygame.K_ESCAPE)
    assert typist.dialog.menu is None and app.window.dialogs.current_dialog is typist.dialog
    typist.click(typist.x_of(1), button=3).click(typist.dialog.card_rect.left + 2)
    assert typist.dialog.menu is None and app.window.dialogs.current_dialog is typist.dialog


def test_right_click_outside_the_selection_places_the_caret(app: App) -> None:
    typist = Typist(app, "one two").press(pygame.K_LEFT, mod=SHIFT | CTRL)
    typist.click(typist.x_of(1), button=3)
    assert (typist.selected, typist.field.editor.caret) == ("", 1)


def test_right_click_gives_the_field_the_focus(app: App) -> None:
    typist = Typist(app, "one two").press(pygame.K_TAB)
    typist.click(typist.x_of(1), button=3)
    assert typist.field.has_focus and typist.selected == "one two"


def test_empty_field_has_no_context_menu(typist: Typist) -> None:
    copy_text_to_clipboard("")
    typist.click(typist.x_of(0), button=3)
    assert typist.dialog.menu is None


# --- input methods -------------------------------------------------------------------------------------


def test_japanese_by_an_input_method(typist: Typist) -> None:
    typist.type("a").compose("に", 1).compose("にほん", 3)
    assert typist.field.text == "a" and typist.dialog.reported == ["a"]
    for key in (pygame.K_RETURN, pygame.K_ESCAPE, pygame.K_TAB, pygame.K_BACKSPACE, pygame.K_LEFT):
        typist.press(key)
    assert typist.app.window.dialogs.current_dialog is typist.dialog and typist.field.has_focus
    typist.send(pygame.TEXTINPUT, text="日本").compose("")
    assert typist.field.text == "a日本" and typist.dialog.reported == ["a", "a日本"]
    typist.press(pygame.K_RETURN)
    assert typist.dialog.entered == ["a日本"]


def test_composition_is_drawn_underlined_and_can_be_cancelled(typist: Typist) -> None:
    typist.type("ab")
    before = typist.picture
    typist.compose("にほ", 1)
    with_caret_inside = typist.picture
    typist.compose("にほ", 2)
    assert len({before, with_caret_inside, typist.picture}) == 3
    typist.compose("")
    assert typist.picture == before


def test_window_of_the_input_method_is_placed_at_the_caret(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    rects: list[pygame.Rect] = []
    monkeypatch.setattr(pygame.key, "set_text_input_rect", rects.append)
    typist = Typist(app, "one two").press(pygame.K_LEFT, mod=CTRL)
    assert rects[-1].x == typist.x_of(4) and typist.field.element.rect.contains(rects[-1])
    typist.type("a long text " * 6)
    assert typist.field._scroll_px > 0 and typist.field.element.rect.contains(rects[-1])


# --- appearance ----------------------------------------------------------------------------------------


def test_caret_blinks_for_a_while_and_then_stays(typist: Typist) -> None:
    def look(seconds: float) -> bytes:
        typist.field.update_control(seconds)
        return typist.picture

    visible, hidden = look(0.0), look(BLINK_S)
    assert visible != hidden
    assert look(BLINK_S) == visible and look(BLINK_S) == hidden
    typist.type("a").press(pygame.K_BACKSPACE)
    assert look(0.0) == visible, "the caret is visible after every input"
    assert look(BLINKING_S) == visible and look(BLINK_S) == visible
    assert typist.dialog.is_unchanging


def test_field_without_focus_shows_no_caret_and_no_selection(app: App) -> None:
    typist = Typist(app, "one").press(pygame.K_a, mod=CTRL)
    focused = typist.picture
    typist.press(pygame.K_TAB)
    empty = typist.picture
    typist.field.update_control(BLINK_S)
    assert empty != focused and typist.picture == empty
    typist.field.select_range(0, 0)
    assert typist.picture == empty


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
@pytest.mark.parametrize("scale", [0.75, 1.0, 1.5, 2.0, 3.0])
def test_states_look_different_in_both_themes_and_all_scales(palette, scale: float) -> None:
    app = make_app(setup(), (1600, 900), theme=palette.name, scale=scale)
    typist = Typist(app, "one")
    states: dict[str, Callable[[], None]] = {
        "caret": lambda: None,
        "selection": typist.field.select_all_text,
        "problem": lambda: typist.field.set_problem(True),
        "no focus": lambda: typist.press(pygame.K_TAB) and None,
        "disabled": lambda: typist.field.set_enabled(False),
        "empty": lambda: typist.field.set_text(""),
    }
    pictures = []
    for change in states.values():
        change()
        pictures.append(typist.picture)
    assert len(set(pictures)) == len(states)
    assert not typist.field.can_focus
    typist.mouse(pygame.MOUSEBUTTONDOWN, typist.x_of(0))
    assert not typist.field.has_focus and not typist.field.is_mouse_pressed


def test_placeholder_is_shown_only_in_an_empty_field(app: App) -> None:
    typist = Typist(app)
    typist.field.placeholder = "hint"
    empty = typist.picture
    typist.field.repaint()
    assert typist.picture != empty
    typist.type("x")
    with_text = typist.picture
    typist.field.placeholder = ""
    typist.field.repaint()
    assert typist.picture == with_text


def test_long_text_scrolls_to_the_caret(app: App) -> None:
    typist = Typist(app, "".join(chr(97 + n % 26) for n in range(80)))
    view = typist.field._text_box[2]
    assert typist.field._scroll_px > 0
    typist.press(pygame.K_HOME)
    assert typist.field._scroll_px == 0
    for _ in range(80):
        typist.press(pygame.K_RIGHT)
        assert 0 <= typist.x_of(typist.field.editor.caret) - typist.x_of(0) - typist.field._scroll_px <= view
    typist.press(pygame.K_BACKSPACE, mod=CTRL)
    assert typist.field._scroll_px == 0


def test_visible_part_of_a_long_text_is_drawn_in_its_place(app: App) -> None:
    typist = Typist(app, "mnu" * 26)
    field = typist.field
    typist.press(pygame.K_END)
    field.update_control(BLINK_S)  # without the caret
    x, y, width, height = field._text_box
    canvas = typist.dialog.canvas
    image = canvas.font_cache.load_font("sans", canvas.to_px(14)).render(field.text, True, DARK.text)
    expected = pygame.Surface((width, height))
    expected.fill(DARK.raised)
    expected.blit(image, (-field._scroll_px, (height - image.get_height()) // 2))
    shown = field.element.surface.subsurface((x, y, width, height))
    assert field._scroll_px > 200
    assert pygame.image.tobytes(shown, "RGB") == pygame.image.tobytes(expected, "RGB")


ODD_CHARS = "ab \u0301\u200d👩\U0001f1e9\u05d0\u05b8\u0627\u064b\u1100\u1161地\u202e"


@given(
    text=st.text(st.sampled_from(ODD_CHARS), max_size=20),
    keys=st.lists(st.sampled_from([pygame.K_LEFT, pygame.K_RIGHT, pygame.K_BACKSPACE, pygame.K_DELETE]), max_size=6),
    mod=st.sampled_from([0, SHIFT, CTRL]),
    x=st.integers(-20, 500),
)
@settings(max_examples=60)
def test_any_text_can_be_typed_drawn_and_selected(text: str, keys: list[int], mod: int, x: int) -> None:
    typist = typist_for_properties()
    typist.field.set_text("")
    typist.send(pygame.TEXTINPUT, text=text).compose(text, 3).compose("")
    typist.press(*keys, mod=mod)
    typist.mouse(pygame.MOUSEBUTTONDOWN, typist.field.element.rect.x + 5)
    typist.mouse(pygame.MOUSEMOTION, typist.field.element.rect.x + x).mouse(pygame.MOUSEBUTTONUP, 0)
    typist.app.draw_window()
    boundaries = cluster_boundaries(typist.field.text)
    assert set(typist.field.editor.selection) <= set(boundaries)


_typists: list[Typist] = []


def typist_for_properties() -> Typist:
    """One window for all examples, because opening a window takes longer than an example."""
    if not _typists or _typists[0].app.window.surface is not pygame.display.get_surface():
        _typists[:] = [Typist(make_app(setup()))]
    return _typists[0]


# --- dialogs -------------------------------------------------------------------------------------------


def test_resizing_keeps_caret_selection_and_undo(app: App) -> None:
    typist = Typist(app, "").type("one").press(pygame.K_LEFT, mod=SHIFT)
    typist.dialog.rebuild_widgets()
    field = typist.dialog.text_field
    assert field is not typist.field and field.editor.selected_text == "e"
    typist.press(pygame.K_z, mod=CTRL)
    assert field.text == ""


def test_rebuilt_dialog_shows_a_text_changed_by_the_program(app: App) -> None:
    typist = Typist(app, "one")
    typist.dialog.text = "two"
    typist.dialog.rebuild_widgets()
    assert typist.dialog.text_field.text == "two"


def question_of(dialog: Dialog) -> QuestionDialog:
    assert isinstance(dialog.inner_dialog, QuestionDialog)
    return dialog.inner_dialog


def test_enter_does_not_confirm_overwriting(app: App, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.map").write_text("before")
    dialog = SaveFileDialog(app.window.dialogs, "Save", ".map", "a", lambda path: path.write_text("after") and None)
    dialog.shown_folder = tmp_path
    app.window.dialogs.open_dialog(dialog)
    press(app, pygame.K_RETURN)
    assert question_of(dialog).title == "Overwrite file?"
    assert not dialog.path_field.has_focus, "only one control has the focus"
    press(app, pygame.K_RETURN)
    assert dialog.inner_dialog is None and dialog.path_field.has_focus
    assert (tmp_path / "a.map").read_text() == "before"
    press(app, pygame.K_RETURN)
    press(app, pygame.K_LEFT)
    press(app, pygame.K_RETURN)
    assert (tmp_path / "a.map").read_text() == "after"
