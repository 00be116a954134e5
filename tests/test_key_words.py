"""Every text that mentions a key has it from the table of commands: after a rebinding no old key is left anywhere."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from files.shipped_files import SCENARIOS_FOLDER
from tests.test_app import setup
from tests.window import ROOT, App, DrawnTexts, at_cell, click, make_app, middle_of
from ui.commands.command_table import COMMAND_TABLE
from ui.dialogs.command_palette import matching_commands
from ui.dialogs.help_overlay import help_lines
from ui.model import opened_files
from ui.model.key_placeholders import commands_mentioned_in, fill_in_key_placeholders
from ui.model.settings import SIDEBAR_TABS, load_settings, save_settings
from ui.model.tutorial_notes import TUTORIAL_NOTES, TutorialNotes

OLD = {key for command in COMMAND_TABLE for key in command.keys}
NEW = {command.id: f"Meta+{number}x" for number, command in enumerate(COMMAND_TABLE)}
LEFT_OUT = ("quit", "full_screen")

_WITH_MODIFIER = re.compile(r"(?:(?:Ctrl|Alt|Shift)\+)+[^\s,;:.)]+|(?:Ctrl|Alt|Shift)\+[.,+=-]")
_NAMED = re.compile(r"\b(?:F\d{1,2}|Space|Insert|PageUp|PageDown)\b")
_LETTER = re.compile(
    r"(?:^|[;:,.(] |\band |\bor |\bpress |\bKeys?: )([A-Z?]) "
    r"(?:adds|has|sets|makes|shows|stops|runs|for|says|lists|marks|removes|fits|puts|turns|lets|"
    r"brings|in edit|all keys)\b"
)
TITLE_WORDS = {"Left", "Right", "Down", "Home", "Menu", "Delete", "Insert", "Return", "Escape", "Space"}
OWN_KEYS = ("New seed  (F8)",)  # of a dialog: nobody can rebind them


def default_keys_in(text: str) -> list[str]:
    """Return the usual keys that a text mentions."""
    if text in OWN_KEYS:
        return []
    found = [*_WITH_MODIFIER.findall(text), *_NAMED.findall(text), *_LETTER.findall(text)]
    return [key for key in found if key in OLD]


@pytest.mark.parametrize(
    "text",
    [
        "no lesson is open; Shift+G lists them",
        "Space runs, F9 stops",
        "A adds an agent",
        "export on; Shift+I marks the end, Alt+E exports",
        "Keys: K and Shift+K",
        "remove one first (Alt+Delete)",
        "run it: Ctrl+.",
        "? all keys",
    ],
)
def test_default_key_in_a_sentence_is_found(text: str) -> None:
    assert default_keys_in(text)


@pytest.mark.parametrize(
    "text", ["A*", "Ctrl+Shift+drag: rectangle", "A - B", "Delete", "A leg began", "Alt+click pins"]
)
def test_text_without_a_command_key_has_no_match(text: str) -> None:
    assert not default_keys_in(text)


def rebind_every_command(app: App, folder: Path) -> App:
    """Start with a settings file in which the user has assigned another key to every command."""
    path = folder / "settings.yaml"
    assert save_settings(replace(app.window.settings, keys=NEW), path) is None
    settings, problem = load_settings(path)
    assert problem is None and settings.keys == NEW
    again = App(app.session, settings, app.window.surface)
    again.draw_window()
    return again


def draw_whole_interface(app: App, seen: DrawnTexts) -> None:
    """Draw every tab, note, menu, dialog and message that a user meets."""
    window = app.window
    for tab in SIDEBAR_TABS:
        window.settings.sidebar_tab = tab
        seen.look(f"tab {tab}")
        window.ui_state.is_editing = True
        seen.look(f"tab {tab}, edit mode")
        window.ui_state.leave_edit_mode()
    for pinned, cursor, hover in (((3, 3), None, None), (None, (3, 3), None), (None, None, (3, 3))):
        window.settings.sidebar_tab = "inspect"
        window.ui_state.pinned_cell, window.ui_state.cell_cursor, window.ui_state.hovered_cell = pinned, cursor, hover
        seen.look("a cell is inspected")
    for steps in (("select_all", "copy", "paste"), ("branch",)):
        window.settings.sidebar_tab = "edit" if len(steps) > 1 else "time"
        for command_id in steps:
            window.run_command(command_id)
            seen.look(command_id)
    window.ui_state.leave_edit_mode()
    for note in TUTORIAL_NOTES:
        window.ui_state.tutorial_notes = TutorialNotes([])
        window.ui_state.tutorial_notes.shown_note = note
        seen.look(f"note {note.key}")
    window.ui_state.tutorial_notes = None
    draw_context_menus(app, seen)
    for command in list(window.command_table):
        if command.id in LEFT_OUT:
            continue
        window.run_command(command.id)
        app.run_frame(0.0)
        seen.look(command.id)
        window.dialogs.close_dialog()
        window.ui_state.context_menu = None
        window.ui_state.message_queue.queued_messages.clear()
    window.ui_state.leave_edit_mode()


def draw_context_menus(app: App, seen: DrawnTexts) -> None:
    spots = [spot.id for spot in app.window.canvas.hit_regions if spot.id.startswith(("focus:", "switch:", "chart:"))]
    places = [at_cell(app, 3, 3), *(middle_of(app, name) for name in spots)]
    for place in places:
        app.draw_window()
        click(app, place, button=3)
        seen.look(f"menu at {place}")
        app.window.ui_state.context_menu = None


def assert_no_default_keys(seen: DrawnTexts) -> None:
    wrong = {text: (found, where) for text, where in seen.texts.items() if (found := default_keys_in(text))}
    assert not wrong
    unfilled = {text: where for text, where in seen.texts.items() if "{key:" in text}
    assert not unfilled
    assert not {key: where for key, where in seen.keys.items() if key not in NEW.values()}


def make_example_app(name: str) -> App:
    return make_app(opened_files.open_any_file(SCENARIOS_FOLDER / f"{name}.yaml").scenario, (1600, 900))


@pytest.mark.parametrize("name", ["scrubbing", "bridges", "crowd-bridge"])
def test_interface_shows_no_default_key_after_rebinding(name: str, tmp_path: Path) -> None:
    app = rebind_every_command(make_example_app(name), tmp_path)
    app.session.advance_by_ticks(60)
    with DrawnTexts(app) as seen:
        draw_whole_interface(app, seen)
    assert_no_default_keys(seen)
    assert len(seen.texts) > 500 and len(seen.keys) > 50, "it has looked around"


def test_lessons_show_no_default_key_after_rebinding(tmp_path: Path) -> None:
    app = rebind_every_command(make_app(setup(), (1600, 900)), tmp_path)
    for lesson in opened_files.lesson_files():
        app.window.document_opener.open_path(lesson)
        with DrawnTexts(app) as seen:
            for step in range(len(app.window.ui_state.lesson_player.lesson.steps)):
                app.window.ui_state.lesson_player.step_index = step
                app.run_frame(0.0)
                seen.look(f"{lesson.stem}, step {step + 1}")
        assert_no_default_keys(seen)


def test_commands_without_keys_show_no_key() -> None:
    app = make_app(setup(), (1600, 900))
    for command in COMMAND_TABLE:
        app.window.assign_keys_to_command(command.id, "")
    with DrawnTexts(app) as seen:
        for tab in SIDEBAR_TABS:
            app.window.settings.sidebar_tab = tab
            seen.look(tab)
        for command_id in ("problems", "lesson_end", "undo", "branch", "remove_agent", "mark_in"):
            app.window.run_command(command_id)
            seen.look(command_id)
    assert not seen.keys
    assert not {text for text in seen.texts if default_keys_in(text) or "{key:" in text}


def test_text_names_a_command_without_key_by_its_title() -> None:
    names = {"play": "Run or pause"}
    assert fill_in_key_placeholders("{key:play} runs", {"play": "Alt+F9"}, names) == "Alt+F9 runs"
    assert fill_in_key_placeholders("{key:play} runs", {"play": ""}, names) == '"Run or pause" runs'
    assert fill_in_key_placeholders("{key:pin_cell} pins", {"pin_cell": ""}, {}) == '"pin cell" pins', (
        "in a film there are no words"
    )
    assert fill_in_key_placeholders("{key:none} and {braces}", {}, names) == "{key:none} and {braces}"


def test_texts_mention_only_existing_commands() -> None:
    known = {command.id for command in COMMAND_TABLE} | {"command"}  # that stands for one in explanations
    for path in sorted((ROOT / "ui").rglob("*.py")):
        text = path.read_text(encoding="utf-8").replace("{{", "{").replace("}}", "}")
        assert set(commands_mentioned_in(text.replace("{place}", "1"))) <= known, path


def sentences_of(path: Path) -> Iterator[str]:
    """Return the texts of a module that have several words, but for docstrings and the keys that commands get."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    left_out |= {id(call.args[0]) for call in calls if isinstance(call.func, ast.Name) and call.func.id == "command"}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    yield from (str(node.value) for node in texts if id(node) not in left_out and " " in str(node.value).strip())


def test_source_texts_contain_no_hard_coded_keys() -> None:
    for path in sorted((ROOT / "ui").rglob("*.py")):
        assert not [text for text in sentences_of(path) if default_keys_in(text)], path


def test_shipped_yaml_files_contain_no_hard_coded_keys() -> None:
    for path in sorted((ROOT / "assets").rglob("*.yaml")):
        assert not [line for line in path.read_text(encoding="utf-8").splitlines() if default_keys_in(line)], path


def test_help_and_palette_show_no_default_key_after_rebinding() -> None:
    table = COMMAND_TABLE.with_assigned_keys(NEW)
    shown = {key for line in help_lines(table) if line.help_text for key in line.keys.split()}
    shown |= {key for command in matching_commands(table, "") for key in command.keys}
    assert shown == set(NEW.values())
    searched = " ".join(line.searchable_text for line in help_lines(table)).split()
    assert not {key.lower() for key in OLD if "+" in key or (len(key) > 3 and key not in TITLE_WORDS)} & set(searched)
