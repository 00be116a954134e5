"""The movement rule in the window: seen, changed by hand and by key, taken back, saved; through the real event path."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.grid import Grid
from sim.kernels.octile import DIAGONAL
from sim.movement import (
    CUT_ONE_CORNER,
    DEFAULT_MOVEMENT,
    EIGHT_NEIGHBOURS,
    FOUR_NEIGHBOURS,
    RULE_DESCRIPTIONS,
    SQUEEZE_BETWEEN_CORNERS,
    Movement,
)
from sim.world_commands import AgentConfig, SetSwitch, TimedCommand
from ui.app import App
from ui.dialogs.map_generator_dialog import MapGeneratorDialog
from ui.model import branch_actions, cell_edits, opened_files, session_saving, value_adjustments
from ui.model.session import Session
from ui.panels.tab_edit import MOVEMENT_RULE_LABELS, MOVEMENT_RULE_TOOLTIPS
from ui.widgets.controls import ChoiceControl

from .runs import scenario_on
from .window import at_cell, drag, make_app, press_combination, settle

ROWS = [
    "....................",
    ".......@@...........",
    "......@.............",
    "....................",
    "....................",
]


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("BACKMOVE_RECORDINGS", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    yield


def begun(*kinds: str) -> Session:
    grid = Grid.from_text_rows(ROWS, "pond")
    agents = [AgentConfig(kind) for kind in kinds or ("tb-wa", "astar")]
    return Session(scenario_on(grid, 0, grid.cells - 1, agents, budget=3, title="Pond", listed_optimal=20.0))


@pytest.fixture
def app() -> App:
    made = make_app(begun().run.scenario)
    made.window.settings.sidebar_tab = "edit"
    settle(made)
    return made


def click(app: App, name: str) -> None:
    spot = app.window.canvas.hit_region_with_id(name)
    assert spot is not None, name
    place = spot.box[0] + spot.box[2] // 2, spot.box[1] + spot.box[3] // 2
    drag(app, place, place)
    settle(app)


def movement(app: App) -> Movement:
    return app.session.run.world.grid.movement


def test_clicking_a_rule_resets_under_it_and_undo_restores(app: App) -> None:
    app.session.advance_by_ticks(7)
    drag(app, at_cell(app, 12, 2), at_cell(app, 12, 2))
    edited, digest = app.session.run.world.grid.text_rows(), app.session.run.world.compute_digest()
    assert edited != ROWS
    click(app, "rule:four")
    assert (
        movement(app) == Movement(FOUR_NEIGHBOURS)
        and app.session.tick == 0
        and app.session.run.world.grid.text_rows() == edited
    )
    assert (
        app.session.run.scenario.map.movement == Movement(FOUR_NEIGHBOURS)
        and app.session.run.scenario.listed_optimal is None
    )
    app.session.advance_by_ticks(300)
    assert (
        app.session.run.world.optimal_cost
        == 23.0
        == app.session.run.world.metrics_of_walker(app.session.run.world.walkers[1]).cost
    )
    press_combination(app, "Ctrl+Z")
    while app.session.run.is_seeking:
        settle(app)
    assert (
        movement(app) == DEFAULT_MOVEMENT and app.session.tick == 7 and app.session.run.world.compute_digest() == digest
    )
    press_combination(app, "Ctrl+Y")
    assert movement(app) == Movement(FOUR_NEIGHBOURS) and app.session.run.scenario.listed_optimal is None


def test_changing_the_rule_does_not_bake_in_script_edits() -> None:
    """A bridge that the script closes at tick 5 is open at tick 0 of the run under another rule, as in the first."""
    session = begun()
    grid = session.run.scenario.grid
    edits = (TimedCommand(5, SetSwitch("bridge", True)),)
    session.open_scenario(replace(session.run.scenario, switches={"bridge": ((9, 3), (9, 4))}, timed_commands=edits))
    cell_edits.block_or_free_cells(session, [grid.cell(3, 4)], block=True)
    session.advance_by_ticks(8)
    cell_edits.block_or_free_cells(session, [grid.cell(15, 0)], block=True)
    assert session.run.world.switch_states() == {"bridge": True}
    session.set_movement(Movement(FOUR_NEIGHBOURS))
    assert session.run.world.switch_states() == {"bridge": False} and session.run.scenario.timed_commands == edits
    assert not session.run.world.grid.is_free(grid.cell(3, 4)) and not session.run.world.grid.is_free(grid.cell(15, 0))
    session.advance_by_ticks(8)
    assert session.run.world.switch_states() == {"bridge": True}


def test_title_shows_non_default_movement_rule(app: App) -> None:
    assert app.window.canvas.hit_region_with_id("title:movement") is None
    assert set(MOVEMENT_RULE_LABELS) == set(MOVEMENT_RULE_TOOLTIPS) == set(RULE_DESCRIPTIONS)
    for rule in (FOUR_NEIGHBOURS, CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS):
        click(app, f"rule:{rule}")
        spot = app.window.canvas.hit_region_with_id("title:movement")
        assert spot is not None and RULE_DESCRIPTIONS[rule] in spot.tooltip
        assert (app.window.canvas.hit_region_with_id("diagonal:more") is not None) == (rule != FOUR_NEIGHBOURS)
    click(app, "rule:eight")
    assert app.window.canvas.hit_region_with_id("title:movement") is None
    click(app, "diagonal:more")
    assert app.window.canvas.hit_region_with_id("title:movement") is not None, "another cost of a diagonal is told, too"


@pytest.mark.parametrize("size, scale", [((800, 600), 1.0), ((1280, 720), 2.0), ((1600, 900), 1.0)])
@pytest.mark.parametrize("rule", [FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS])
def test_title_has_room_for_the_rule_in_any_window(size: tuple[int, int], scale: float, rule: str) -> None:
    scenario = replace(begun().run.scenario, title="A title that is long enough to need cutting in a narrow window")
    app = make_app(scenario.with_movement(Movement(rule)), size, scale=scale)
    spot, opener = (app.window.canvas.hit_region_with_id(name) for name in ("title:movement", "top:open"))
    assert spot is not None and opener is not None
    assert app.window.canvas.text_width(rule) <= spot.box[2] and spot.box[0] + spot.box[2] <= opener.box[0]


def test_movement_key_cycles_through_all_rules(app: App) -> None:
    seen = []
    for _ in RULE_DESCRIPTIONS:
        press_combination(app, "Alt+G")
        seen.append(movement(app).rule)
    assert (
        seen == [CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS, FOUR_NEIGHBOURS, EIGHT_NEIGHBOURS]
        and movement(app) == DEFAULT_MOVEMENT
    )
    for _ in RULE_DESCRIPTIONS:
        press_combination(app, "Ctrl+Z")
    assert movement(app) == DEFAULT_MOVEMENT and not app.session.undo_history.done


def test_diagonal_cost_is_adjustable_and_kept_across_rules(app: App) -> None:
    click(app, "diagonal:more")
    assert movement(app) == Movement(EIGHT_NEIGHBOURS, 1.5)
    click(app, "rule:eight-cut")
    assert movement(app) == Movement(CUT_ONE_CORNER, 1.5)
    click(app, "diagonal:less")
    click(app, "diagonal:less")
    assert (
        app.session.run.scenario.map.movement == Movement(CUT_ONE_CORNER, 1.4)
        and f"{movement(app).diagonal:.4g}" == "1.4"
    )
    for _ in range(9):
        value_adjustments.adjust_diagonal_cost(app.session, 1)
    done = len(app.session.undo_history.done)
    value_adjustments.adjust_diagonal_cost(app.session, 1)
    assert movement(app).diagonal == 2.0 and len(app.session.undo_history.done) == done, (
        "at its end nothing is begun again"
    )
    click(app, "rule:four")
    value_adjustments.adjust_diagonal_cost(app.session, 1)
    assert movement(app) == Movement(FOUR_NEIGHBOURS)
    click(app, "rule:eight")
    assert movement(app) == Movement(EIGHT_NEIGHBOURS, DIAGONAL)


def test_selecting_the_same_rule_changes_nothing(app: App) -> None:
    app.session.advance_by_ticks(5)
    click(app, "rule:eight")
    assert app.session.tick == 5 and not app.session.undo_history.done


def test_undoing_a_rule_change_restores_branches(app: App) -> None:
    app.session.advance_by_ticks(4)
    branch_actions.create_branch_at_current_tick(app.session)
    cell_edits.block_or_free_cells(app.session, [30], block=True)
    app.session.advance_by_ticks(3)
    states = app.session.run.branch_tree.branch_states()
    app.session.set_movement(Movement(SQUEEZE_BETWEEN_CORNERS))
    assert len(app.session.run.branch_tree.branches) == 1
    app.session.undo_history.undo_last_entry()
    while not app.session.continue_seek():
        pass
    assert app.session.run.branch_tree.branch_states() == states and movement(app) == DEFAULT_MOVEMENT


def test_edits_during_the_run_obey_the_rule(app: App) -> None:
    """Under "four" and "squeeze" a wall with a diagonal gap shuts, or does not; all agents are told the right arcs."""
    for rule, is_shut in ((FOUR_NEIGHBOURS, True), (SQUEEZE_BETWEEN_CORNERS, False)):
        session = begun("rtb-wa", "dstar-lite", "lrta", "astar", "lss-lrta")
        session.set_movement(Movement(rule))
        session.advance_by_ticks(3)
        grid = session.run.world.grid
        wall = [grid.cell(14, y) for y in range(3)] + [grid.cell(15, y) for y in (3, 4)]
        cell_edits.block_or_free_cells(session, wall, block=True)
        session.advance_by_ticks(20_000)
        words = {walker.agent.status.name for walker in session.run.world.walkers}
        assert words == ({"NO_PATH"} if is_shut else {"AT_GOAL"})
        assert not any(walker.violation for walker in session.run.world.walkers)


def test_saved_session_and_scenario_keep_the_rule(app: App, tmp_path: Path) -> None:
    click(app, "rule:eight-squeeze")
    click(app, "diagonal:more")
    app.session.advance_by_ticks(9)
    digest = app.session.run.world.compute_digest()
    opened = opened_files.open_any_file(session_saving.save_session(app.session, tmp_path / "mine"))
    again = Session(opened.scenario)
    assert opened.saved_session is not None
    session_saving.restore_session(again, opened.saved_session)
    while not again.continue_seek():
        pass
    assert (
        again.run.world.grid.movement == Movement(SQUEEZE_BETWEEN_CORNERS, 1.5)
        and again.run.world.compute_digest() == digest
    )
    assert again.run.focused_branch_timeline.run_history.divergence_tick is None
    scenario = opened_files.open_any_file(opened_files.save_session_scenario(app.session, tmp_path / "plain")).scenario
    assert scenario.grid.movement == Movement(SQUEEZE_BETWEEN_CORNERS, 1.5)


def test_agent_data_is_recomputed_for_the_new_rule() -> None:
    app = make_app(begun("knn-lrta", "d-lrta", "pra").run.scenario)
    app.session.set_movement(Movement(FOUR_NEIGHBOURS))
    settle(app)
    while app.window.dialogs.current_dialog is not None:
        settle(app)
    assert movement(app) == Movement(FOUR_NEIGHBOURS)
    app.session.advance_by_ticks(500)
    assert all(walker.agent.status.name == "AT_GOAL" for walker in app.session.run.world.walkers)
    assert not any(getattr(walker.agent, "is_stale", False) for walker in app.session.run.world.walkers)


def test_inspector_counts_possible_moves_of_the_rule(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.window.settings.sidebar_tab = "inspect"
    app.window.ui_state.pinned_cell = (3, 3)
    drawn: list[str] = []
    text = app.window.canvas.draw_text
    monkeypatch.setattr(
        app.window.canvas, "draw_text", lambda at, words, **more: drawn.append(words) or text(at, words, **more)
    )
    for rule, words in ((EIGHT_NEIGHBOURS, "8 of 8"), (FOUR_NEIGHBOURS, "4 of 4")):
        value_adjustments.set_movement_rule(app.session, rule)
        drawn.clear()
        settle(app)
        assert words in drawn


def test_generator_dialog_makes_a_map_of_any_rule(app: App) -> None:
    press_combination(app, "Ctrl+N")
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, MapGeneratorDialog) and dialog.generated_map is not None
    rules = next(c for c in dialog.controls if isinstance(c, ChoiceControl))
    dialog.focus_control(rules)
    press_combination(app, "Right")
    for _ in range(30):
        app.run_frame(0.05)
    assert dialog.generated_map is not None and dialog.generated_map.grid.movement == Movement(CUT_ONE_CORNER)
    press_combination(app, "Return")
    settle(app)
    assert movement(app) == Movement(CUT_ONE_CORNER) == app.session.run.scenario.map.movement
    assert np.array_equal(
        app.session.run.world.grid.moves, app.session.run.scenario.grid.copy(Movement(CUT_ONE_CORNER)).moves
    )


def test_exported_drawing_names_the_rule(app: App, tmp_path: Path) -> None:
    click(app, "rule:four")
    press_combination(app, "Alt+F12")
    drawing = next(tmp_path.rglob("*.svg")).read_text()
    assert "four neighbours" in drawing
