"""Selecting pieces of a map: geometry, the Select tool through the window's events, named switches and their files."""

from pathlib import Path

import numpy as np
import pygame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from files.movingai import read_map
from files.scenario import Scenario, load_scenario
from sim.grid import Grid
from sim.time.worst_block import switch_block_tasks
from sim.world_commands import MAX_SWITCHES, AgentConfig, DefineSwitch, EditCells, SetSwitch, SetTerrain
from sim.world_editor import WorldEditor
from tests.runs import scenario_on
from tests.window import App, at_cell, drag, make_app, press, press_combination, settle, tooltip_of
from ui.model import branch_actions, opened_files, script_entries, session_saving, value_adjustments
from ui.model.select_tool import SelectTool
from ui.model.selection import MIRROR_LEFT_RIGHT, MIRROR_TOP_BOTTOM, ROTATE_LEFT, ROTATE_RIGHT, MapPiece, Selection
from ui.model.session import Session
from ui.model.ui_state import UiState
from ui.panels import selection_drawing

ROWS = [
    "............",
    ".@@.........",
    ".@..........",
    ".T..........",
    "............",
    ".......SS...",
    ".......W....",
    "............",
]
WAYS = (MIRROR_LEFT_RIGHT, MIRROR_TOP_BOTTOM, ROTATE_RIGHT, ROTATE_LEFT)


def scenario() -> Scenario:
    grid = Grid.from_text_rows(ROWS, "piece")
    agents = (AgentConfig("tb-wa"), AgentConfig("tba"))
    gate = {"gate": (grid.cell(5, 0),)}
    return scenario_on(grid, grid.cell(0, 7), grid.cell(11, 0), agents, budget=2, title="Piece", switches=gate)


@pytest.fixture
def app(monkeypatch, tmp_path) -> App:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    made = make_app(scenario())
    press_combination(made, "M")
    press_combination(made, "S")
    return made


def rows(app: App) -> list[str]:
    return app.session.run.world.grid.text_rows()


def drag_selection(app: App, corner: tuple[int, int], opposite: tuple[int, int], button: int = 1) -> None:
    drag(app, at_cell(app, *corner), at_cell(app, *opposite), button=button)


def hold_modifiers(monkeypatch, mod: int) -> None:
    monkeypatch.setattr(pygame.key, "get_mods", lambda: mod)


def test_last_stroke_selection_follows_the_current_tick(app) -> None:
    grid, selecting = app.session.run.world.grid, app.window.map_editor.select_tool
    first, second = (2, 5), (3, 6)
    app.session.submit_command(EditCells((grid.cell(*first),)))
    app.session.advance_by_ticks(2)
    app.session.submit_command(EditCells((grid.cell(*second),)))
    for tick, wanted in ((2, second), (1, first), (2, second)):
        app.session.seek_to_tick(tick)
        selecting.select_last_stroke()
        assert app.window.ui_state.selected_cells.cells(grid).tolist() == [grid.cell(*wanted)]


# --- geometry ---------------------------------------------------------------------------------------

masks = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=1, max_size=6)
)
BOARD = Grid.from_text_rows(["." * 6] * 6)


def selection_of(mask: list[list[bool]]) -> Selection | None:
    return Selection.from_points([(x, y) for y, row in enumerate(mask) for x, is_in in enumerate(row) if is_in], BOARD)


def cells_of(selection: Selection | None) -> set[int]:
    return set() if selection is None else set(selection.cells(BOARD).tolist())


@given(masks, masks)
def test_selection_operations_match_set_operations(one: list[list[bool]], other: list[list[bool]]) -> None:
    a, b = selection_of(one), selection_of(other)
    assert cells_of(a) == {y * 6 + x for y, row in enumerate(one) for x, is_in in enumerate(row) if is_in}
    if a is None or b is None:
        return
    assert cells_of(a.union_with(b, BOARD)) == cells_of(a) | cells_of(b)
    assert cells_of(a.difference_from(b, BOARD)) == cells_of(a) - cells_of(b)
    assert all(a.contains_point(BOARD.xy(cell)) == (cell in cells_of(a)) for cell in range(36))


@given(masks, st.integers(-7, 7), st.integers(-7, 7))
def test_moved_selection_is_clipped_to_the_map(mask: list[list[bool]], dx: int, dy: int) -> None:
    chosen = selection_of(mask)
    if chosen is not None:
        there = [(x + dx, y + dy) for x, y in map(BOARD.xy, cells_of(chosen))]
        assert cells_of(chosen.moved_by(dx, dy)) == {y * 6 + x for x, y in there if 0 <= x < 6 and 0 <= y < 6}


@given(masks)
def test_turns_and_mirrors_are_invertible(mask: list[list[bool]]) -> None:
    chosen = selection_of(mask)
    if chosen is None:
        return
    letters = np.arange(chosen.mask.size, dtype=np.uint8).reshape(chosen.mask.shape)
    piece = MapPiece(letters, chosen.mask)
    for way, back in (
        (MIRROR_LEFT_RIGHT, MIRROR_LEFT_RIGHT),
        (MIRROR_TOP_BOTTOM, MIRROR_TOP_BOTTOM),
        (ROTATE_RIGHT, ROTATE_LEFT),
        (ROTATE_LEFT, ROTATE_RIGHT),
    ):
        there = piece.mirrored_or_rotated(way).mirrored_or_rotated(back)
        assert (there.terrain_letters == letters).all() and (there.mask == chosen.mask).all()
    assert (
        piece.mirrored_or_rotated(ROTATE_RIGHT).mirrored_or_rotated(ROTATE_RIGHT).terrain_letters
        == piece.mirrored_or_rotated(MIRROR_LEFT_RIGHT).mirrored_or_rotated(MIRROR_TOP_BOTTOM).terrain_letters
    ).all()
    assert piece.mirrored_or_rotated(ROTATE_RIGHT).terrain_letters[0, -1] == letters[0, 0], (
        "the upper left corner goes to the upper right"
    )


@given(masks)
def test_outline_separates_selected_from_other_cells(mask: list[list[bool]]) -> None:
    chosen = selection_of(mask)
    if chosen is None:
        return
    across, down = chosen.outline
    borders = {(x, y, "-") for y, first, end in across.tolist() for x in range(first, end)}
    borders |= {(x, y, "|") for x, first, end in down.tolist() for y in range(first, end)}
    expected = set()
    for x, y in map(BOARD.xy, cells_of(chosen)):
        for dx, dy, border in (
            (0, -1, (x, y, "-")),
            (0, 1, (x, y + 1, "-")),
            (-1, 0, (x, y, "|")),
            (1, 0, (x + 1, y, "|")),
        ):
            if not chosen.contains_point((x + dx, y + dy)):
                expected.add(border)
    assert borders == expected


def test_turned_selection_stays_on_the_map() -> None:
    grid = Grid.from_text_rows(["." * 8] * 3)
    long = Selection.from_corners((5, 0), (7, 0), grid)
    assert long is not None
    upright = long.mirrored_or_rotated(ROTATE_RIGHT, grid)
    assert upright is not None and (upright.left, upright.top, upright.width, upright.height) == (6, 0, 1, 3)
    whole = Selection.from_corners((0, 0), (7, 2), grid)
    assert whole is not None and whole.mirrored_or_rotated(ROTATE_RIGHT, grid) is None, "eight rows do not fit"


# --- with the mouse -----------------------------------------------------------------------------------


def test_drag_selects_and_dragging_the_selection_moves_it(app):
    before, digest = rows(app), app.session.run.world.compute_digest()
    drag_selection(app, (1, 1), (2, 3))
    assert str(app.window.ui_state.selected_cells) == "2 x 3" and rows(app) == before, "selecting changes nothing"
    drag_selection(app, (1, 2), (6, 3))
    assert [row[6:8] for row in rows(app)[2:5]] == ["@@", "@.", "T."], "five cells right, one down"
    assert all(row[1:3] == ".." for row in rows(app)[1:4]), "where it came from is free"
    assert app.window.ui_state.selected_cells.left == 6, "the selection has gone with it"
    assert len(app.session.undo_history.done) == 1 and len(script_entries.script_entries(app.session.run)) == 1
    press_combination(app, "Ctrl+Z")
    assert rows(app) == before and app.session.run.world.compute_digest() == digest
    assert app.window.ui_state.selected_cells.left == 1, "and it comes back with it"
    press_combination(app, "Ctrl+Y")
    assert rows(app)[2][6:8] == "@@" and app.window.ui_state.selected_cells.left == 6


def test_moving_a_piece_restores_original_terrain_below_it(app):
    """A wall drawn over swamp and moved away leaves swamp, not plain ground and not the wall."""
    grid = app.session.run.world.grid
    app.session.submit_command(EditCells(blocked_cells=(grid.cell(7, 5), grid.cell(7, 6))))
    settle(app)
    assert [row[7] for row in rows(app)[5:7]] == ["@", "@"]
    drag_selection(app, (7, 5), (7, 6))
    drag_selection(app, (7, 5), (10, 5))
    assert [row[7] for row in rows(app)[5:7]] == ["S", "W"]
    assert [row[10] for row in rows(app)[5:7]] == ["@", "@"]


def test_moved_piece_is_one_timeline_entry(app):
    app.session.advance_by_ticks(3)
    settle(app)
    drag_selection(app, (1, 1), (2, 3))
    drag_selection(app, (1, 2), (6, 3))
    app.session.advance_by_ticks(4)
    digest, after = app.session.run.world.compute_digest(), rows(app)
    app.session.seek_to_tick(2)
    assert rows(app) == ROWS
    app.session.seek_to_tick(7)
    assert app.session.run.world.compute_digest() == digest and rows(app) == after
    assert [(e.tick, type(e.command)) for e in app.session.run.focused_branch_timeline.command_log.entries] == [
        (3, SetTerrain)
    ]


def test_ctrl_drag_copies_and_shift_and_right_drag_change_selection(app, monkeypatch):
    drag_selection(app, (1, 1), (2, 3))
    hold_modifiers(monkeypatch, pygame.KMOD_LCTRL)
    drag_selection(app, (1, 1), (4, 1))
    assert rows(app)[1][:6] == ".@@.@@", "what was copied is still there"
    hold_modifiers(monkeypatch, pygame.KMOD_LSHIFT)
    drag_selection(app, (8, 5), (9, 6))
    assert (
        app.window.ui_state.selected_cells.cell_count == 6 + 4 and not app.window.ui_state.selected_cells.is_rectangle
    )
    hold_modifiers(monkeypatch, 0)
    drag_selection(app, (9, 5), (9, 7), button=3)
    assert app.window.ui_state.selected_cells.cell_count == 6 + 2
    assert len(app.session.undo_history.done) == 1, "of all that only the copy has changed the map"


def test_pasted_piece_follows_the_pointer_until_placed(app):
    drag_selection(app, (7, 5), (8, 6))
    press_combination(app, "Ctrl+C")
    press_combination(app, "Ctrl+V")
    press_combination(app, "X")  # what is in the hand is mirrored, not the map
    assert rows(app) == ROWS
    at = at_cell(app, 4, 5)
    drag(app, at, at)
    assert [row[3:5] for row in rows(app)[4:6]] == ["SS", ".W"]
    assert app.window.ui_state.pasted_piece is None and len(app.session.undo_history.done) == 1
    press_combination(app, "Ctrl+V")
    press_combination(app, "Escape")
    assert app.window.ui_state.pasted_piece is None and app.window.ui_state.selected_cells is not None, (
        "Escape lets go of one thing"
    )
    press_combination(app, "Escape")
    assert app.window.ui_state.selected_cells is None and app.window.ui_state.is_editing


def test_piece_is_cut_mirrored_and_turned(app):
    drag_selection(app, (1, 1), (2, 3))
    press_combination(app, "Y")
    assert [row[1:3] for row in rows(app)[1:4]] == ["T.", "@.", "@@"]
    press_combination(app, "Z")
    assert [row[1:4] for row in rows(app)[1:4]] == ["@@T", "@..", "..."]
    press_combination(app, "Shift+Z")
    assert [row[1:3] for row in rows(app)[1:4]] == ["T.", "@.", "@@"], "turned back, it is where it was"
    press_combination(app, "Ctrl+Z")
    press_combination(app, "Ctrl+Z")
    press_combination(app, "Ctrl+Z")
    assert rows(app) == ROWS
    press_combination(app, "Ctrl+X")
    assert all(row[1:3] == ".." for row in rows(app)[1:4])
    assert app.session.undo_history.done[-1].description == "piece of 2 x 3 cut"


def test_delete_key_clears_cells_in_edit_mode_and_agents_otherwise(app):
    drag_selection(app, (1, 1), (2, 3))
    press_combination(app, "Delete")
    assert all(row[1:3] == ".." for row in rows(app)[1:4]) and len(app.session.run.world.walkers) == 2
    press_combination(app, "Insert")
    assert all(row[1:3] in ("@@", "T@") for row in rows(app)[1:4])
    press_combination(app, "M")
    assert app.window.ui_state.selected_cells is None, "it goes with edit mode"
    press_combination(app, "Delete")
    assert len(app.session.run.world.walkers) == 1


def test_selection_can_be_edited_by_keyboard(app):
    press_combination(app, "Ctrl+Space")
    assert app.window.ui_state.selected_cells.contains_point(app.window.ui_state.cell_cursor)
    for key in ("Ctrl+Right", "Ctrl+Up"):
        press_combination(app, key)
    assert str(app.window.ui_state.selected_cells) == "2 x 2"
    press_combination(app, "Ctrl+Space")
    press_combination(app, "Ctrl+Up")
    assert str(app.window.ui_state.selected_cells) == "2 x 2", "the second time lets it be"
    press_combination(app, "Ctrl+A")
    press_combination(app, "Ctrl+C")
    press_combination(app, "Ctrl+V")
    press_combination(app, "Ctrl+Left")
    press(app, pygame.K_RETURN)
    assert app.window.ui_state.pasted_piece is None and rows(app) != ROWS


def test_cells_under_agents_stay_free(app):
    drag_selection(app, (1, 1), (1, 2))
    press_combination(app, "Ctrl+C")
    press_combination(app, "Ctrl+V")
    at = at_cell(app, 0, 7)
    drag(app, at, at)
    assert rows(app)[6][0] == "@" and rows(app)[7][0] == "."
    assert any("stays free" in text for text in app.window.ui_state.message_queue.queued_message_texts())


def test_last_stroke_and_connected_cells_can_be_selected(app):
    press_combination(app, "B")
    drag(app, at_cell(app, 4, 2), at_cell(app, 4, 5))
    press_combination(app, "Ctrl+Shift+A")
    chosen = app.window.ui_state.selected_cells
    assert (chosen.left, chosen.top, chosen.width, chosen.height) == (4, 2, 1, 4)
    app.window.map_editor.select_tool.select_connected_cells((1, 1))
    assert app.window.ui_state.selected_cells.cell_count == 4, "the walls joined to it, a tree among them"


def test_piece_is_pasted_at_map_centre_without_pointer_or_selection() -> None:
    """So it can be seen, and turned, before the pointer comes back to the map."""
    session = Session(scenario())
    selecting = SelectTool(session, UiState())
    assert selecting.select_whole_map() == "Selected: 12 x 8"
    assert str(selecting.state.selected_cells) == "12 x 8"
    selecting.set_selection(Selection.from_corners((1, 1), (2, 2), session.run.world.grid))
    selecting.copy_selection()
    selecting.set_selection(None)
    selecting.paste_piece()
    assert selecting.state.pasted_piece_cell == (6, 4)
    selecting.cancel()
    selecting.set_selection(Selection.from_corners((2, 1), (5, 3), session.run.world.grid))
    selecting.paste_piece()
    assert selecting.state.pasted_piece_cell == (4, 2), "that of the selection"


def test_opening_a_map_keeps_the_piece_and_clears_the_selection(app):
    drag_selection(app, (1, 1), (2, 3))
    press_combination(app, "Ctrl+C")
    app.window.document_opener.open_scenario(
        scenario_on(Grid.from_text_rows(["." * 4] * 4), 0, 3, (AgentConfig("tba"),))
    )
    settle(app)
    assert app.window.ui_state.selected_cells is None and app.window.ui_state.copied_piece is not None
    press_combination(app, "Ctrl+V")
    app.window.map_editor.select_tool.put_down_piece((2, 2))
    assert rows(app) == ["....", ".@@.", ".@..", ".T.."]


def test_selection_is_saved_as_a_map(app, tmp_path: Path):
    drag_selection(app, (1, 1), (2, 3))
    write = app.window.map_editor.select_tool.selection_save_function()
    assert write is not None
    assert read_map(write(tmp_path / "some piece")).text_rows() == ["@@", "@.", "T."]
    app.window.ui_state.selected_cells = app.window.ui_state.selected_cells.difference_from(
        Selection(2, 1, np.ones((1, 1), bool)), app.session.run.world.grid
    )
    write = app.window.map_editor.select_tool.selection_save_function()
    assert write is not None and read_map(write(tmp_path / "corner.map")).text_rows() == ["@@", "@.", "T."]


def test_selection_is_drawn_only_in_panels_of_its_branch(app):
    def pixels(panel: int):
        app.draw_window()
        return pygame.surfarray.array3d(
            app.window.surface.subsurface(app.window.map_view.panels_with_boxes()[panel][1].map_box)
        )

    plain = [pixels(0), pixels(1)]
    app.window.ui_state.selected_cells = Selection.from_corners((4, 2), (8, 6), app.session.run.world.grid)
    for panel in (0, 1):
        assert (pixels(panel) != plain[panel]).any()
    branch_actions.create_branch_at_current_tick(app.session)
    app.draw_window()
    other = next(
        i
        for i, (p, _) in enumerate(app.window.map_view.panels_with_boxes())
        if p.key.branch != app.session.run.focused_branch_number
    )
    shown = pixels(other)
    app.window.ui_state.selected_cells = None
    assert (pixels(other) == shown).all(), "what is done goes to the other branch"


def test_selection_with_long_outline_is_tinted(app, monkeypatch):
    monkeypatch.setattr(selection_drawing, "MAX_OUTLINE_SEGMENTS", 3)
    app.window.map_editor.select_tool.set_selection(Selection.from_corners((4, 2), (8, 6), app.session.run.world.grid))
    app.draw_window()
    tinted = app.window.surface.get_at(at_cell(app, 5, 3))
    app.window.ui_state.selected_cells = None
    app.draw_window()
    plain = app.window.surface.get_at(at_cell(app, 5, 3))
    accent = app.window.map_view.palette.accent
    assert tinted != plain and abs(tinted[2] - accent[2]) < abs(plain[2] - accent[2])


def test_disabled_buttons_explain_why(app):
    app.window.settings.sidebar_tab = "edit"
    app.draw_window()
    spot = app.window.canvas.hit_region_with_id("copy")
    assert spot.on_click is None and "Nothing is selected" in tooltip_of(app, "copy")
    drag_selection(app, (1, 1), (2, 3))
    assert app.window.canvas.hit_region_with_id("copy").on_click is not None
    assert "Nothing was copied" in tooltip_of(app, "paste")


# --- named switches -------------------------------------------------------------------------------------


def named(app: App, name: str = "my gate") -> None:
    """Select two cells and give them a name, as a user does."""
    drag_selection(app, (4, 6), (5, 6))
    press_combination(app, "Ctrl+G")
    dialog = app.window.dialogs.current_dialog
    dialog.text_field.set_text(name)
    dialog.text = name
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is None


def test_selection_becomes_a_named_switch(app):
    named(app)
    assert app.session.run.world.switch_states() == {"gate": False, "my gate": False}
    press_combination(app, "Shift+2")
    assert rows(app)[6][4:6] == "@@" and app.session.run.world.switch_states()["my gate"]
    app.window.settings.sidebar_tab = "edit"
    app.draw_window()
    assert app.window.canvas.hit_region_with_id("switch:my gate") is not None, "it is in the list"
    label = next(
        spot for spot in app.window.canvas.hit_regions if spot.id.startswith("bridge:") and spot.id.endswith(":my gate")
    )
    middle = label.box[0] + label.box[2] // 2, label.box[1] + label.box[3] // 2
    drag(app, middle, middle)
    assert rows(app)[6][4:6] == "..", "a click on its name on the map opens it"
    for _ in range(2):
        press_combination(app, "Ctrl+Z")
    press_combination(app, "Ctrl+Z")
    assert app.session.run.world.switch_states() == {"gate": False}


map_letters = st.lists(st.lists(st.sampled_from("..GSWB@OT"), min_size=5, max_size=5), min_size=2, max_size=4)


@settings(max_examples=100, deadline=None)
@given(map_letters, map_letters, st.sets(st.integers(5, 24), min_size=1), st.integers(1, 3))
def test_toggling_a_selection_switch_twice_restores_the_map(
    opened: list[list[str]], painted: list[list[str]], chosen: set[int], rounds: int
) -> None:
    """Whatever was drawn on the map before, and whatever is selected: walls, water, land."""
    grid = Grid.from_text_rows([".....", *map("".join, opened)])
    session = Session(scenario_on(grid, 0, 4, ()))
    letters = "".join(map("".join, painted))[: grid.cells - 5]
    session.submit_command(SetTerrain(tuple(range(5, 5 + len(letters))), letters))
    selecting, cells = SelectTool(session, UiState()), {cell for cell in chosen if cell < grid.cells} or {5}
    selecting.select_cells(cells)
    before = session.run.world.grid.text_rows()
    free = {cell for cell in cells if session.run.world.grid.is_free(cell)}
    if refused := selecting.switch_name_error("gate"):
        assert "None of the selected cells can be switched: " in refused
        return
    said = selecting.name_switch("gate")
    switched = set(session.run.world.switches["gate"])
    assert switched and switched <= free
    assert ("left out" in said) is (switched < cells)
    for _ in range(rounds):
        value_adjustments.toggle_map_switch(session, "gate")
        assert session.run.world.switch_states()["gate"], "blocked as a whole"
        value_adjustments.toggle_map_switch(session, "gate")
        assert session.run.world.grid.text_rows() == before


def test_selection_of_walls_cannot_become_a_switch(app):
    drag_selection(app, (1, 1), (2, 1))
    press_combination(app, "Ctrl+G")
    press(app, pygame.K_RETURN)
    assert list(app.session.run.world.switches) == ["gate"]


def test_worst_block_tries_switches_before_they_are_named(app):
    app.session.advance_by_ticks(5)
    app.session.submit_command(DefineSwitch("late", (60,)))
    tasks = {block.name: block.command for _, block in switch_block_tasks(app.session.run.focused_branch_timeline, [1])}
    assert tasks == {"gate": SetSwitch("gate", True), "late": EditCells((60,))}


def test_taken_switch_name_is_refused(app):
    drag_selection(app, (4, 6), (5, 6))
    press_combination(app, "Ctrl+G")
    dialog = app.window.dialogs.current_dialog
    assert dialog.text == "switch 1"
    dialog.text = "gate"
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is dialog and app.session.run.world.switches["gate"] == (5,)


def test_switch_is_refused_at_the_switch_limit(app):
    selecting = app.window.map_editor.select_tool
    while len(app.session.run.world.switches) < MAX_SWITCHES:
        assert selecting.switch_name_error("one more") is None
        WorldEditor(app.session.run.world).define_switch(selecting.unused_switch_name(), [1])
    assert selecting.switch_name_error("one more") == f"A map can have at most {MAX_SWITCHES} switches"


def test_naming_a_switch_changes_no_digest(app):
    other = make_app(scenario())
    named(app)
    for window in (app, other):
        window.session.advance_by_ticks(40)
    assert app.session.run.world.compute_digest() == other.session.run.world.compute_digest()


def test_named_switch_survives_saving_and_reset(app, tmp_path: Path):
    app.session.advance_by_ticks(2)
    settle(app)
    named(app)
    value_adjustments.toggle_map_switch(app.session, "my gate")
    assert app.session.unsaved_work.has_work_worth_saving
    saved = session_saving.save_session(app.session, tmp_path / "s.yaml", {})
    opened = opened_files.open_any_file(saved)
    again = make_app(opened.scenario)
    session_saving.restore_session(again.session, opened.saved_session, saved)
    assert again.session.run.world.switch_states()["my gate"]
    place = opened_files.save_session_scenario(app.session, tmp_path / "scenario.yaml")
    loaded = load_scenario(place, AGENT_SPECS_BY_KEY)
    assert loaded.switches["my gate"] == ((4, 6), (5, 6))
    assert load_scenario(place, AGENT_SPECS_BY_KEY).timed_commands[-1].command == SetTerrain((76, 77), "@@")
    app.session.start_over(keeps_map=False)
    assert app.session.run.world.switch_states() == {"gate": False, "my gate": False}


def test_removed_switch_keeps_its_blocked_cells(app, tmp_path: Path):
    named(app)
    value_adjustments.toggle_map_switch(app.session, "my gate")
    app.session.submit_command(DefineSwitch("my gate", ()))
    assert "my gate" not in app.session.run.world.switches and rows(app)[6][4:6] == "@@"
    loaded = load_scenario(
        opened_files.save_session_scenario(app.session, tmp_path / "scenario.yaml"), AGENT_SPECS_BY_KEY
    )
    assert "my gate" not in loaded.switches and loaded.timed_commands[-1].command == SetTerrain((76, 77), "@@")


def test_context_menus_mirror_selection_and_remove_switch(app):
    drag_selection(app, (1, 1), (2, 3))
    drag(app, at_cell(app, 1, 1), at_cell(app, 1, 1), button=3)
    menu = app.window.ui_state.context_menu
    assert menu.title == "Selected: 2 x 3"
    next(item for item in menu.items if item.label == "Mirror the selection left to right").action()
    assert rows(app)[1][1:3] == "@@" and rows(app)[2][1:3] == ".@"
    app.window.ui_state.context_menu = None
    app.draw_window()
    label = next(spot for spot in app.window.canvas.hit_regions if spot.id.startswith("bridge:"))
    drag(app, label.box[:2], label.box[:2], button=3)
    assert app.window.ui_state.context_menu.title == "gate"
    next(item for item in app.window.ui_state.context_menu.items if item.label == "Remove the switch").action()
    assert app.session.run.world.switches == {}


def test_script_can_name_switches(tmp_path: Path) -> None:
    text = """format: backmove-scenario
version: 1
map: {rows: ["....", "....", "...."]}
start: [0, 0]
goal: [3, 0]
agents: [{kind: tba}]
edits:
  - {tick: 2, switches: {"my: gate": [[1, 1], [2, 1]]}}
  - {tick: 3, block: "my: gate"}
  - {tick: 4, switches: {"my: gate": []}}
"""
    (tmp_path / "a.yaml").write_text(text)
    loaded = load_scenario(tmp_path / "a.yaml", AGENT_SPECS_BY_KEY)
    assert [edit.command for edit in loaded.timed_commands] == [
        DefineSwitch("my: gate", (5, 6)),
        SetSwitch("my: gate", True),
        DefineSwitch("my: gate", ()),
    ]


def test_undo_restores_selection_only_in_edit_mode(app):
    drag_selection(app, (1, 1), (2, 3))
    drag(app, at_cell(app, 1, 1), at_cell(app, 5, 1))
    assert app.window.ui_state.selected_cells is not None
    press_combination(app, "M")
    assert app.window.ui_state.selected_cells is None
    for combination in ("Ctrl+Z", "Ctrl+Y"):
        press_combination(app, combination)
        assert app.window.ui_state.selected_cells is None
    press_combination(app, "M")
    press_combination(app, "Ctrl+Z")
    assert app.window.ui_state.selected_cells is not None and rows(app) == ROWS


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_walls_of_a_dragged_piece_look_like_map_walls(theme):
    app = make_app(scenario(), theme=theme)
    for key in ("M", "S"):
        press_combination(app, key)
    drag_selection(app, (1, 1), (2, 3))
    drag(app, at_cell(app, 1, 1), at_cell(app, 7, 1), release=False)
    on_map, in_hand = (app.window.surface.get_at(at_cell(app, x, 1)) for x in (2, 8))
    assert sum(abs(a - b) for a, b in zip(on_map, in_hand, strict=True)) < 60, (on_map, in_hand)
