"""Commands of the window: one description of each, which help, palette, menus, tooltips, buttons and README read."""

import ast
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

import ui.app
from files.shipped_files import SCENARIOS_FOLDER
from tests.test_app import setup
from tests.window import ROOT, App, at_cell, click, make_app, middle_of, press, press_combination, type_text
from tools import readme
from ui.commands import command_table, layer_commands, time_commands
from ui.commands.command_table import COMMAND_TABLE, COMMAND_TOPICS
from ui.dialogs.command_palette import CommandPalette, matching_commands
from ui.dialogs.help_overlay import help_lines
from ui.draw.layers import LAYERS
from ui.model import opened_files
from ui.model.context_menu import Menu
from ui.model.ui_command import (
    NO_COMMANDS,
    CommandTable,
    CommandTopic,
    ContextMenu,
    command_lines,
    first_reason,
    requires,
)
from ui.widgets.canvas import Canvas, HitRegion

GUIDE = ROOT / "docs" / "ui-guide.md"
each_command = pytest.mark.parametrize("command", list(COMMAND_TABLE), ids=lambda command: command.id)


def messages(app: App) -> list[str]:
    return app.window.ui_state.message_queue.queued_message_texts()


def menu_at(app: App, position: tuple[int, int]) -> Menu:
    click(app, position, button=3)
    menu, app.window.ui_state.context_menu = app.window.ui_state.context_menu, None
    assert menu is not None
    return menu


def without_agents() -> App:
    app = make_app(setup(1), (1280, 800))
    app.window.run_command("remove_agent")
    app.draw_window()
    assert not app.session.run.panels
    return app


# --- the recipe of the guide ------------------------------------------------------------------------


def table_with_command_of_the_guide() -> CommandTable:
    """Return the table with the command that the recipe adds to the topic of time."""
    assert GUIDE.read_text(encoding="utf-8").index("## How to add a command") == min(
        match.start() for match in re.finditer("^## ", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    ), "the guide begins with this recipe"
    code = (
        GUIDE.read_text(encoding="utf-8").split("<!-- recipe: command -->")[1].split("```python\n")[1].split("```")[0]
    )
    topic = CommandTopic("Time")
    exec(code, {**vars(time_commands), "command": topic})
    return CommandTable([*COMMAND_TABLE, *topic.commands], COMMAND_TABLE._load_in_other_process)


@pytest.fixture
def guided_app(monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(ui.app, "COMMAND_TABLE", table_with_command_of_the_guide())
    return make_app(setup(), (1280, 800))


def test_command_of_the_guide_runs_by_its_key_and_says_why_it_is_disabled(guided_app: App) -> None:
    press_combination(guided_app, "Alt+J")
    assert messages(guided_app)[-1] == "The run has no middle yet; Space runs it"
    guided_app.session.advance_by_ticks(10)
    press_combination(guided_app, "Alt+J")
    assert guided_app.session.tick == 5


def test_command_of_the_guide_is_in_help_and_palette(guided_app: App) -> None:
    table = guided_app.window.command_table
    assert ("Alt+J", "Go to the middle of the run") in {(line.keys, line.help_text) for line in help_lines(table)}
    assert [command.id for command in matching_commands(table, "half")] == ["seek_to_middle"]


def test_command_of_the_guide_is_in_the_menu_of_the_time_line(guided_app: App) -> None:
    guided_app.session.advance_by_ticks(10)
    guided_app.draw_window()
    item = menu_at(guided_app, middle_of(guided_app, "scrubber")).items[-1]
    assert (item.label, item.key, item.disabled_reason) == ("Go to the middle of the run", "Alt+J", "")


def test_command_of_the_guide_is_in_the_table_of_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_table, "COMMAND_TABLE", table_with_command_of_the_guide())
    assert "| `Alt+J` | Go to the middle of the run |" in readme.shortcut_table().splitlines()


def test_guide_describes_every_argument_of_a_command() -> None:
    described = re.findall(r"^\| `?(\w+)`? \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    arguments = set(CommandTopic.__call__.__annotations__) - {"return"}
    assert arguments <= set(described)
    assert {"box", "command_ids", "tooltip", "menu", "cursor", "id"} <= set(described)


# --- labels -----------------------------------------------------------------------------------------


@each_command
def test_labels_are_in_sentence_case(command) -> None:
    proper = {"Select", "SVG", "PNG", "CSV", "Posthoc", "A", "B"}
    assert command.title[0].isupper() and not command.title.endswith(".")
    assert not [word for word in re.findall(r"\b[A-Z]\w*", command.title[1:]) if word not in proper], command.title
    assert command.button_label[0].isupper()


def test_no_two_commands_have_the_same_title() -> None:
    assert len({command.title for command in COMMAND_TABLE}) == len(COMMAND_TABLE)


def test_synonyms_find_commands_that_do_not_contain_the_word() -> None:
    for word, expected in (("screenshot", "picture_window"), ("zoom", "fit"), ("exit", "quit"), ("fork", "branch")):
        assert expected in {command.id for command in matching_commands(COMMAND_TABLE, word)}, word
        assert word not in COMMAND_TABLE[expected].title.lower()


def test_matches_in_the_title_come_before_synonyms() -> None:
    found = [command.title for command in matching_commands(COMMAND_TABLE, "zoom")]
    assert found[:2] == ["Zoom in", "Zoom out"] and len(found) > 4


# --- disabled and on --------------------------------------------------------------------------------


def test_disabled_commands_do_nothing_but_say_why() -> None:
    app = without_agents()
    disabled = {
        c.id: reason for c in COMMAND_TABLE if (reason := app.window.view_context.disabled_reason_of_command(c.id))
    }
    assert {"remove_agent", "compare_table", "save_charts", "picture_svg", "lesson_next", "copy", "redo"} <= set(
        disabled
    )
    for command_id, reason in disabled.items():
        assert "{key:" not in reason and not reason.endswith("."), reason
        app.window.run_command(command_id)
        assert messages(app)[-1] == reason and app.window.dialogs.current_dialog is None
        assert reason in app.window.view_context.tooltip_of_command(command_id)


def test_every_command_runs_or_says_why_not_without_agents() -> None:
    app = without_agents()
    for command in COMMAND_TABLE:
        if command.id not in ("quit", "full_screen"):
            app.window.run_command(command.id)
            app.window.dialogs.close_dialog()
    app.run_frame(0.0)


def test_palette_shows_the_reason_of_the_selected_disabled_command() -> None:
    app = make_app(setup(), (1280, 800))
    press_combination(app, "Ctrl+K")
    palette = app.window.dialogs.current_dialog
    assert isinstance(palette, CommandPalette)
    type_text(app, "redo")
    assert palette.command_list.selected_row.is_dim and palette.reason_label.text == "There is nothing to redo"
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is palette, "a disabled command does not run"
    palette.search_field.set_text("")
    palette._on_query_typed("quit")
    assert palette.reason_label.text == "" and not palette.command_list.selected_row.is_dim


def test_palette_shows_which_commands_are_on() -> None:
    app = make_app(setup(), (1280, 800))

    def state_of(command_id: str) -> str:
        app.window.run_command("find_command")
        rows = app.window.dialogs.current_dialog._command_rows()
        return next(row.cells[1] for row in rows if row.value == command_id)

    assert state_of("slow_motion") == ""
    app.window.run_command("slow_motion")
    assert state_of("slow_motion") == "on"


def test_every_switching_command_changes_its_state() -> None:
    app = make_app(setup(), (1280, 800))
    for command in COMMAND_TABLE:
        if command.is_on is None or command.id.startswith(("until_", "tool_", "pin_")):
            continue
        before = app.window.view_context.is_command_on(command.id)
        app.window.run_command(command.id)
        assert app.window.view_context.is_command_on(command.id) != before, command.id
        app.window.run_command(command.id)


def test_menu_items_show_what_is_on_and_why_an_item_is_disabled() -> None:
    app = make_app(setup(2), (1280, 800))
    app.window.cameras.is_following_agents = True
    items = {item.label: item for item in menu_at(app, at_cell(app, 2, 9)).items}
    assert items["Follow the agents with the camera, or stop following"].is_on
    menu = menu_at(app, middle_of(app, f"panel:{app.session.run.panels[0].key}"))
    left = next(index for index, item in enumerate(menu.items) if item.label == "Move the panel left")
    assert menu.items[left].disabled_reason == "The panel is the first already"
    app.window.ui_state.context_menu, menu.selected_index = menu, left
    app.draw_window()
    region = app.window.canvas.hit_region_with_id("menu:Move the panel left")
    assert region.on_click is None and region.tooltip == "The panel is the first already"
    press(app, pygame.K_RETURN)
    assert messages(app)[-1] == "The panel is the first already" and app.window.ui_state.context_menu is menu


def test_reasons_are_combined_in_order() -> None:
    app = make_app(setup(1))
    never, always = requires(lambda view: False, "never"), requires(lambda view: True, "always")
    assert first_reason(always, never)(app.window.view_context) == "never"
    assert first_reason(always, always)(app.window.view_context) == ""


# --- menus and hit regions --------------------------------------------------------------------------


def test_every_menu_has_commands_in_a_defined_order() -> None:
    for menu in ContextMenu:
        commands = COMMAND_TABLE.commands_of_menu(menu)
        positions = [command.menus[menu] for command in commands]
        assert commands and positions == sorted(set(positions)), menu
    assert COMMAND_TABLE.commands_of_menu(ContextMenu.AGENT)[-1].id == "remove_agent"


@pytest.fixture
def bridges() -> App:
    scenario = opened_files.open_any_file(SCENARIOS_FOLDER / "bridges.yaml").scenario
    app = make_app(scenario, (1600, 900))
    app.session.advance_by_ticks(60)
    return app


def regions_with_menus(app: App) -> Iterator[tuple[str, HitRegion]]:
    for tab in ("layers", "edit", "compare", "time"):
        app.window.settings.sidebar_tab = tab
        app.draw_window()
        yield from ((tab, region) for region in app.window.canvas.hit_regions if region.menu is not None)


def menus_and_cursors(app: App) -> dict[tuple[str, int, int], tuple[str, int]]:
    """Return (tab, x, y) -> (title of the menu, cursor shape) of a position in each region that has a menu."""
    found = {}
    for tab, region in list(regions_with_menus(app)):
        app.window.settings.sidebar_tab = tab
        app.draw_window()
        x, y, _, height = region.box
        position = (x + 3, y + height - 3)
        found[tab, *position] = menu_at(app, position).title, app.mouse_dispatcher._cursor_shape(position)
    return found


def test_menus_open_even_if_ids_say_nothing(bridges: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every region is registered under a meaningless id; menus and cursors are the same as before."""
    named = menus_and_cursors(bridges)
    add = Canvas.add_hit_region
    monkeypatch.setattr(Canvas, "add_hit_region", lambda canvas, region: add(canvas, replace(region, id="nothing")))
    assert len(named) > 30 and menus_and_cursors(bridges) == named
    assert {"lazy", "eager", "north bridge", "Charts", "Tick 0"} <= {title for title, _ in named.values()}


def test_ids_of_hit_regions_are_never_parsed() -> None:
    parsing = {"startswith", "endswith", "partition", "rpartition", "split", "rsplit", "removeprefix", "removesuffix"}
    for path in sorted((ROOT / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in parsing:
                owner = ast.unparse(node.func.value)
                assert not re.search(r"(\.id|_id|\bkey)$", owner), f"{path}:{node.lineno}: {ast.unparse(node)}"


def test_every_command_of_a_hit_region_exists(bridges: App) -> None:
    for tab in ("layers", "edit", "inspect", "compare", "time"):
        bridges.window.settings.sidebar_tab = tab
        bridges.draw_window()
        for region in bridges.window.canvas.hit_regions:
            text, keys = bridges.window.view_context.tooltip_and_keys_of_region(region)
            assert not region.command_ids or text, region.id
            assert keys == " ".join(COMMAND_TABLE.first_key_of(command_id) for command_id in region.command_ids)


def test_name_of_an_agent_has_a_text_cursor(bridges: App) -> None:
    name = bridges.window.canvas.hit_region_with_id(f"name:{bridges.session.run.panels[0].key}")
    assert name.cursor == pygame.SYSTEM_CURSOR_IBEAM
    assert bridges.mouse_dispatcher._cursor_shape((name.box[0] + 3, name.box[1] + 3)) == pygame.SYSTEM_CURSOR_IBEAM


# --- lines of help and README -----------------------------------------------------------------------


def titles_by_keys(table: CommandTable, group: str) -> dict[tuple[str, ...], str]:
    return {line.keys: line.title for line in command_lines(table.commands_of_group(group))}


def test_families_share_a_line_until_a_key_is_changed() -> None:
    assert titles_by_keys(COMMAND_TABLE, "Panels")[("1 to 8",)] == "Focus panel 1 to 8"
    changed = titles_by_keys(COMMAND_TABLE.with_assigned_keys({"focus_3": "Q", "pan_up": "Z"}), "Panels")
    assert [title for title in changed.values() if title.startswith("Focus panel")] == [
        "Focus panel 1 to 2",
        "Focus panel 3",
        "Focus panel 4 to 8",
    ]
    assert ("1 to 2",) in changed and ("Q",) in changed and ("4 to 8",) in changed
    view = titles_by_keys(COMMAND_TABLE.with_assigned_keys({"pan_up": "Z"}), "View")
    assert (
        view[("Z",)] == "Pan the map up" and view[("Alt+Left",)] == "Pan the map left" and ("Alt+arrows",) not in view
    )


def test_family_with_another_modifier_keeps_its_line() -> None:
    keys = {f"pan_{arrow}": f"Ctrl+Alt+{arrow.title()}" for arrow in ("left", "right", "up", "down")}
    view = titles_by_keys(COMMAND_TABLE.with_assigned_keys(keys), "View")
    assert view[("Ctrl+Alt+arrows",)] == "Pan the map"


def test_second_key_of_a_family_member_is_shown() -> None:
    changed = titles_by_keys(COMMAND_TABLE.with_assigned_keys({"focus_1": "1 Q"}), "Panels")
    assert changed[("1", "Q")] == "Focus panel 1" and changed[("2 to 8",)] == "Focus panel 2 to 8"


# --- layers -----------------------------------------------------------------------------------------


def test_layers_after_the_27th_have_commands_without_keys() -> None:
    topic = CommandTopic("Layers")
    for position in range(1, 41):
        layer_commands.add_layer_command(
            topic, replace(LAYERS[0], key=f"extra_{position}", name=f"Extra {position}", list_position=position)
        )
    table = CommandTable(topic.commands)
    keys = [command.keys for command in table]
    prefixes = ("Ctrl+", "Ctrl+Shift+", "Ctrl+Alt+")
    assert keys[:27] == [(f"{prefix}{digit}",) for prefix in prefixes for digit in range(1, 10)]
    assert not any(keys[27:])
    assert table.first_key_of("layer_extra_28") == "" and table.command_for_key("", False) is None
    assert [line.keys for line in help_lines(table, "extra 40")] == ["Layers", ""]
    assert [command.id for command in matching_commands(table, "extra 28")] == ["layer_extra_28"]
    assert table.text_with_key_names("{key:layer_extra_28}") == '"Show or hide layer: extra 28"'


# --- other processes --------------------------------------------------------------------------------


def test_table_can_be_sent_to_another_process_with_the_keys_of_the_user() -> None:
    table = COMMAND_TABLE.with_assigned_keys({"play": "Q"})
    sent = pickle.loads(pickle.dumps(table))
    assert sent["play"].keys == ("Q",) and sent["play"].action is COMMAND_TABLE["play"].action
    assert [command.id for command in sent] == [command.id for command in COMMAND_TABLE]
    assert not len(pickle.loads(pickle.dumps(NO_COMMANDS)))


def test_every_topic_is_a_group_of_help() -> None:
    assert {topic.command.name for topic in COMMAND_TOPICS} == set(COMMAND_TABLE.group_names)
    modules = {path.stem for path in Path(command_table.__file__).parent.glob("*_commands.py")}
    assert {topic.__name__.rpartition(".")[2] for topic in COMMAND_TOPICS} == modules
