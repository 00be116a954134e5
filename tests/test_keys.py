"""The key table: no key means two things, every page that shows keys is made from it."""

from collections import Counter

import pygame
import pytest

from ui.commands.command_table import COMMAND_TABLE
from ui.dialogs.command_palette import matching_commands
from ui.dialogs.help_overlay import help_lines
from ui.model.ui_command import ANY_MODE, EDIT_MODE, RUN_MODE
from ui.widgets.key_names import key_press_name, modifiers_with_cmd_as_ctrl


def test_command_ids_are_unique() -> None:
    assert max(Counter(command.id for command in COMMAND_TABLE).values()) == 1


@pytest.mark.parametrize("mode", [RUN_MODE, EDIT_MODE])
def test_each_key_has_one_command_per_mode(mode: str) -> None:
    used = Counter(
        key for command in COMMAND_TABLE if command.available_mode in (mode, ANY_MODE) for key in command.keys
    )
    assert [key for key, count in used.items() if count > 1] == []


def test_every_command_has_a_working_key() -> None:
    for command in COMMAND_TABLE:
        assert command.keys and command.title and command.group in COMMAND_TABLE.group_names, command
        for key in command.keys:
            is_editing = command.available_mode == EDIT_MODE
            assert COMMAND_TABLE.command_for_key(key, is_editing) == command
            assert COMMAND_TABLE.first_key_of(command.id) == command.keys[0]


def test_keys_find_only_commands_of_the_current_mode() -> None:
    assert COMMAND_TABLE.command_for_key("E", is_editing=False) == COMMAND_TABLE["edit_agent"]
    assert COMMAND_TABLE.command_for_key("E", is_editing=True) == COMMAND_TABLE["tool_eraser"]
    assert COMMAND_TABLE.command_for_key("Space", is_editing=True) == COMMAND_TABLE["play"]
    assert COMMAND_TABLE.command_for_key("Ctrl+Alt+F12", is_editing=False) is None


def test_only_stepping_and_adjusting_commands_repeat_on_hold() -> None:
    repeating = {command.id for command in COMMAND_TABLE if command.repeats_while_held}
    assert {"step", "step_back", "undo", "raise_weight", "cursor_left", "next_mark"} <= repeating
    assert not {"play", "branch", "remove_agent", "save_session", "quit", "tool_brush", "theme"} & repeating


@pytest.mark.parametrize(
    ("key", "mod", "typed", "expected"),
    [
        (pygame.K_SPACE, 0, " ", "Space"),
        (pygame.K_p, 0, "p", "P"),
        (pygame.K_p, pygame.KMOD_LSHIFT, "P", "Shift+P"),
        (pygame.K_z, pygame.KMOD_LCTRL, "\x1a", "Ctrl+Z"),
        (pygame.K_z, pygame.KMOD_RCTRL | pygame.KMOD_LSHIFT, "\x1a", "Ctrl+Shift+Z"),
        (pygame.K_s, pygame.KMOD_LCTRL | pygame.KMOD_LALT, "", "Ctrl+Alt+S"),
        (pygame.K_RIGHT, pygame.KMOD_LSHIFT, "", "Shift+Right"),
        (pygame.K_KP_ENTER, 0, "\r", "Return"),
        (pygame.K_RETURN, pygame.KMOD_RALT, "\r", "Alt+Return"),
        (pygame.K_F1, 0, "", "F1"),
        (pygame.K_TAB, pygame.KMOD_LSHIFT, "\t", "Shift+Tab"),
        (pygame.K_1, pygame.KMOD_LSHIFT, "!", "Shift+1"),
        (pygame.K_KP5, 0, "5", "5"),
        # Signs are what they type, whatever key they are on.
        (pygame.K_SLASH, pygame.KMOD_LSHIFT, "?", "?"),
        (pygame.K_MINUS, pygame.KMOD_LSHIFT, "?", "?"),
        (pygame.K_EQUALS, 0, "=", "="),
        (pygame.K_PLUS, 0, "+", "+"),
        (pygame.K_PERIOD, 0, ".", "."),
        (pygame.K_COMMA, pygame.KMOD_LSHIFT, "<", "<"),
        (pygame.K_LEFTBRACKET, 0, "[", "["),
        # With Ctrl nothing useful is typed: the sign on the key counts.
        (pygame.K_EQUALS, pygame.KMOD_LCTRL, "", "Ctrl+="),
        (pygame.K_PERIOD, pygame.KMOD_LCTRL, "", "Ctrl+."),
        (pygame.K_MINUS, pygame.KMOD_LCTRL | pygame.KMOD_LSHIFT, "", "Ctrl+Shift+-"),
        # The right Alt key types signs on many keyboards; Windows reports it as Ctrl and Alt.
        (pygame.K_8, pygame.KMOD_RALT, "[", "["),
        (pygame.K_9, pygame.KMOD_RALT | pygame.KMOD_LCTRL, "]", "]"),
        (pygame.K_q, pygame.KMOD_MODE, "@", "@"),
        (pygame.K_m, pygame.KMOD_RALT, "m", "Alt+M"),
        (pygame.K_PERIOD, pygame.KMOD_RALT, ".", "Alt+."),
        (pygame.K_8, pygame.KMOD_LALT, "[", "Alt+8"),
        # The key of the system is none of ours.
        (pygame.K_s, pygame.KMOD_LMETA, "s", "Meta+S"),
        # Caps lock and num lock change nothing.
        (pygame.K_p, pygame.KMOD_CAPS | pygame.KMOD_NUM, "P", "P"),
    ],
)
def test_key_event_gives_the_expected_combination(key: int, mod: int, typed: str, expected: str) -> None:
    pygame.display.init()  # pygame knows the names of keys only then
    assert key_press_name(key, mod, typed) == expected


def test_combination_names_match_the_command_table() -> None:
    """A key press of every command's first key leads to that command."""
    assert (
        COMMAND_TABLE.command_for_key(key_press_name(pygame.K_SLASH, pygame.KMOD_SHIFT, "?"), False)
        == COMMAND_TABLE["help"]
    )
    assert (
        COMMAND_TABLE.command_for_key(key_press_name(pygame.K_o, pygame.KMOD_CTRL, ""), False) == COMMAND_TABLE["open"]
    )


def test_help_page_lists_every_command() -> None:
    page = help_lines(COMMAND_TABLE)
    shown_helps = " | ".join(line.help_text for line in page)
    searched = " | ".join(line.searchable_text for line in page)
    for command in COMMAND_TABLE:
        assert command.title.lower() in searched
        for key in command.keys:
            assert key.lower() in searched
        if command.family is None:
            assert command.title in shown_helps
    assert [line.keys for line in page if not line.help_text] == list(COMMAND_TABLE.group_names)


def test_help_page_groups_key_families_into_one_line() -> None:
    lines = {line.keys: line.help_text for line in help_lines(COMMAND_TABLE)}
    assert lines["1 to 8"] == "Focus panel 1 to 8"
    assert lines["Alt+arrows"] == "Pan the map"
    assert lines["Shift+1 to 9"] == "Block or free switch 1 to 9"


def test_help_page_search_finds_words_and_keys() -> None:
    assert [line.help_text for line in help_lines(COMMAND_TABLE, "frontier") if line.help_text] == [
        "Show or hide layer: open frontier"
    ]
    assert help_lines(COMMAND_TABLE, "no such words at all") == []
    by_key = [line.help_text for line in help_lines(COMMAND_TABLE, "ctrl+shift+z") if line.help_text]
    assert by_key == ["Redo the last undone action"]


def test_command_palette_finds_commands_by_words_and_keys() -> None:
    everything = {command.id for command in matching_commands(COMMAND_TABLE, "")}
    assert everything == {command.id for command in COMMAND_TABLE} - {"cancel", "find_command"}
    assert matching_commands(COMMAND_TABLE, "undo")[0].id == "undo"
    assert matching_commands(COMMAND_TABLE, "save scenario")[0].id == "save_scenario"
    assert "play" in {command.id for command in matching_commands(COMMAND_TABLE, "space")}
    assert matching_commands(COMMAND_TABLE, "zzz") == []


@pytest.mark.parametrize("meta", [pygame.KMOD_LMETA, pygame.KMOD_RMETA])
def test_cmd_key_acts_as_ctrl_only_on_macos(meta: int) -> None:
    pygame.display.init()
    assert key_press_name(pygame.K_s, modifiers_with_cmd_as_ctrl(meta, "darwin"), "s") == "Ctrl+S"
    assert (
        key_press_name(pygame.K_z, modifiers_with_cmd_as_ctrl(meta | pygame.KMOD_LSHIFT, "darwin"), "z")
        == "Ctrl+Shift+Z"
    )
    for platform in ("linux", "win32"):
        pressed = key_press_name(pygame.K_s, modifiers_with_cmd_as_ctrl(meta, platform), "s")
        assert COMMAND_TABLE.command_for_key(pressed, is_editing=False) is None
    for platform in ("darwin", "linux", "win32"):
        assert modifiers_with_cmd_as_ctrl(pygame.KMOD_RALT, platform) == pygame.KMOD_RALT
