"""The window under the dummy driver, driven by events: every command of the key table, mouse editing, layout."""

from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pygame
import pytest

from agents.agent_contract import parameter_sets
from agents.registry import AGENT_SPECS_BY_KEY
from files.scenario import Scenario, build_world, load_scenario
from sim.agent_api import Status
from sim.agent_placing import cheapest_path_cost
from sim.grid import Grid
from sim.kernels import log
from sim.walker import Walker
from sim.world_commands import AgentConfig, DefineSwitch, SetBudget, SetSwitch
from tests.runs import scenario_on
from tests.window import (
    ROOT,
    App,
    at_cell,
    choose,
    click,
    drag,
    make_app,
    middle_of,
    open_app_files,
    press,
    press_combination,
    settle,
    tooltip_of,
)
from ui.commands.command_table import COMMAND_TABLE
from ui.draw.layers import LAYERS
from ui.draw.theme import RED, SERIES
from ui.model import (
    agent_edits,
    branch_actions,
    cell_edits,
    opened_files,
    script_entries,
    session_saving,
    value_adjustments,
)
from ui.model.csv_export import export_agents_csv
from ui.model.layout import SIDEBAR_WIDTH, lay_out_window
from ui.model.panel_keys import FIRST_PANEL, PanelKey
from ui.model.panel_texts import agent_panel_numbers, next_free_label
from ui.model.player import MAX_POSTPONED_FRAMES, MAX_YIELDING_FRAMES, Player
from ui.model.pseudocode_lines import pseudocode_lines_of
from ui.model.run import Run
from ui.model.session import Session
from ui.model.settings import Settings, load_settings, save_settings
from ui.model.start_over import current_agent_configs, user_commands
from ui.model.ui_command import EDIT_MODE
from ui.model.value_adjustments import adjust_agent_budget
from ui.panels import (
    agent_panel,
    charts,
    map_legend,
    overlay,
    pseudocode_card,
    sidebar,
    tab_layers,
    top_bar,
    transport_bar,
)
from ui.panels.comparison_badges import BADGE_COLOURS
from ui.widgets.canvas import MIN_REDRAW_INTERVAL_FRAMES
from ui.widgets.text_field import TextField

ROWS = [
    "........................",
    "........................",
    "......@@@@@@@@..........",
    "......@......@..........",
    "......@......@..........",
    "......@......@....TT....",
    "......@......@....TT....",
    ".............@..........",
    "......@@@@@@@@..........",
    "........................",
    "........................",
    "........................",
]


def setup(agents: int = 2, **more) -> Scenario:
    grid = Grid.from_text_rows(ROWS, "box")
    configs = tuple(AgentConfig("tb-wa", params={"weight": 1.0 + i}) for i in range(agents))
    bridge = {"door": (grid.cell(5, 7), grid.cell(6, 7)), "gate": (grid.cell(2, 2),)}
    more = {"budget": 4, "switches": bridge, "title": "Box", **more}
    return scenario_on(grid, grid.cell(8, 4), grid.cell(20, 9), configs, **more)


@pytest.fixture
def app():
    return make_app(setup())


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path, monkeypatch):
    """Pictures and settings of a test stay in a folder of its own."""
    monkeypatch.setenv("BACKMOVE_RECORDINGS", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def saved_picture_name(app: App) -> str:
    """Where a picture was saved, if it is there."""
    path = Path(app.window.ui_state.message_queue.queued_message_texts()[-1].removeprefix("Saved "))
    assert path.is_file() and path.stat().st_size > 500, app.window.ui_state.message_queue.queued_messages
    return path.name


def nothing_selected(app: App) -> bool:
    return "Nothing is selected" in app.window.ui_state.message_queue.queued_message_texts()[-1]


# --- every command ----------------------------------------------------------------------------------

RUNNING_COMMANDS = {
    "play": lambda a: a.window.player.step_clock.is_running,
    "step": lambda a: a.session.tick == 1,
    "step_10": lambda a: a.session.tick == 10,
    "step_100": lambda a: a.session.tick >= 20 and a.session.run.is_over,
    "step_back": lambda a: (
        a.session.tick == 0 and "tick 0" in a.window.ui_state.message_queue.queued_message_texts()[-1]
    ),
    "step_back_10": lambda a: a.session.tick == 0,
    "step_back_100": lambda a: a.session.tick == 0,
    "to_start": lambda a: a.session.tick == 0,
    "to_end": lambda a: a.session.tick == a.session.run.recorded_end_tick,
    "previous_mark": lambda a: "No further" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "next_mark": lambda a: "No further" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "play_backwards": lambda a: a.window.player.is_backwards or a.session.tick == 0,
    "branch": lambda a: len(a.session.run.branch_tree.branches) == 2 and len(a.session.run.panels) == 4,
    "branch_always": lambda a: len(a.session.run.branch_tree.branches) == 2,
    "split_policy": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SplitDialog",
    "next_branch": lambda a: a.session.run.focused_branch_number == 0,
    "compare_branch": lambda a: "no parent" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "hide_branch": lambda a: a.session.run.shown_branch_numbers == [0],
    "rename_branch": lambda a: type(a.window.dialogs.current_dialog).__name__ == "TextPrompt",
    "delete_branch": lambda a: "only one branch" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "worst_block": lambda a: type(a.window.dialogs.current_dialog).__name__ == "WorstBlockDialog",
    "record": lambda a: type(a.window.dialogs.current_dialog).__name__ == "RecordDialog",
    "export_video": lambda a: type(a.window.dialogs.current_dialog).__name__ == "ExportDialog",
    "picture_window": lambda a: saved_picture_name(a).endswith(".png"),
    "picture_panel": lambda a: saved_picture_name(a).endswith(".png"),
    "picture_large": lambda a: saved_picture_name(a).endswith(".png"),
    "picture_svg": lambda a: saved_picture_name(a).endswith(".svg"),
    "mark_in": lambda a: a.window.ui_state.mark_in == 0,
    "mark_out": lambda a: a.window.ui_state.mark_out == 0,
    "slower": lambda a: a.window.player.speed == 20,
    "faster": lambda a: a.window.player.speed == 45,
    "full_speed": lambda a: a.window.player.speed == 0,
    "slow_motion": lambda a: a.window.player.is_slow_motion,
    "step_expansion": lambda a: (
        a.window.player.is_slow_motion and a.window.player.slow_motion_expansions == 1 and a.session.tick == 1
    ),
    "until_move": lambda a: a.session.stop_condition.name == "next move",
    "until_back_move": lambda a: a.session.stop_condition.name == "next back-move",
    "until_restart": lambda a: a.session.stop_condition.name == "next restart",
    "until_arrival": lambda a: a.session.stop_condition.name == "next arrival",
    "until_tick": lambda a: type(a.window.dialogs.current_dialog).__name__ == "NumberPrompt",
    "reset": lambda a: a.session.tick == 0 and len(a.session.archived_runs) == 1,
    "reset_keep_map": lambda a: a.session.tick == 0 and len(a.session.archived_runs) == 1,
    "lessons": lambda a: type(a.window.dialogs.current_dialog).__name__ == "LessonList",
    "lesson_next": lambda a: "No lesson" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "lesson_back": lambda a: "No lesson" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "lesson_end": lambda a: "No lesson" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    **{
        f"answer_{n}": lambda a: "No lesson" in a.window.ui_state.message_queue.queued_message_texts()[-1]
        for n in range(1, 6)
    },
    "minimap": lambda a: not a.window.settings.shows_minimap,
    "moments": lambda a: type(a.window.dialogs.current_dialog).__name__ == "MomentList",
    "first_difference": lambda a: "do not differ" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "next_panel": lambda a: a.session.panel_index(a.session.focused_key) == 1,
    "previous_panel": lambda a: a.session.panel_index(a.session.focused_key) == 1,
    "edit_agent": lambda a: type(a.window.dialogs.current_dialog).__name__ == "AgentEditor",
    "rename_agent": lambda a: type(a.window.dialogs.current_dialog).__name__ == "TextPrompt",
    "add_agent": lambda a: type(a.window.dialogs.current_dialog).__name__ == "AgentEditor",
    "duplicate_agent": lambda a: len(a.session.run.world.walkers) == 3,
    "crowd": lambda a: "not a crowd" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "remove_agent": lambda a: [w.id for w in a.session.run.world.walkers] == [1],
    "move_panel_left": lambda a: [p.key for p in a.session.run.panels] == [PanelKey(0, 0), PanelKey(0, 1)],
    "move_panel_right": lambda a: [p.key for p in a.session.run.panels] == [PanelKey(0, 1), PanelKey(0, 0)],
    "maximise": lambda a: len(a.window.map_view.shown_panels) == 1,
    "raise_weight": lambda a: a.session.run.world.walkers[0].params["weight"] == 1.2,
    "lower_weight": lambda a: a.session.run.world.walkers[0].params["weight"] == 1.0,
    "more_trials": lambda a: a.session.run.world.max_trials == 2,
    "fewer_trials": lambda a: a.session.run.world.max_trials == 1,
    "raise_budget": lambda a: a.session.run.world.budget == 8,
    "lower_budget": lambda a: a.session.run.world.budget == 2,
    "fit": lambda a: a.window.cameras._shared_view is None,
    "zoom_reset": lambda a: a.window.cameras._shared_view is None,
    "zoom_in": lambda a: a.window.cameras._shared_view.zoom > fitted_zoom_of(a),
    "zoom_out": lambda a: a.window.cameras._shared_view.zoom < fitted_zoom_of(a),
    "pan_left": lambda a: a.window.cameras._shared_view.x < 12,
    "pan_right": lambda a: a.window.cameras._shared_view.x > 12,
    "pan_up": lambda a: a.window.cameras._shared_view.y < 6,
    "pan_down": lambda a: a.window.cameras._shared_view.y > 6,
    "link_cameras": lambda a: not a.window.cameras.is_linked,
    "follow": lambda a: a.window.cameras.is_following_agents,
    "hand": lambda a: a.window.ui_state.is_hand_tool_active,
    "next_heat": lambda a: a.window.map_view.layer_state.heat_setting.kind == "scrub",
    "heat_scale": lambda a: not a.window.map_view.layer_state.heat_setting.is_log,
    "heat_colours": lambda a: a.window.map_view.layer_state.heat_setting.colour_map == "cividis",
    "keep_view": lambda a: a.window.view_overrides.is_default_view,
    "theme": lambda a: a.window.map_view.palette.name == "light",
    "ui_larger": lambda a: a.window.map_view.px_per_unit > 1.0,
    "ui_smaller": lambda a: a.window.map_view.px_per_unit < 1.0,
    "hide_ui": lambda a: a.window.ui_state.are_bars_hidden,
    "full_screen": lambda a: bool(a.window.surface.get_flags() & pygame.FULLSCREEN),
    "tab_layers": lambda a: not a.window.settings.shows_sidebar,  # it was the tab shown: the key hides the bar
    "tab_edit": lambda a: a.window.settings.sidebar_tab == "edit",
    "tab_inspect": lambda a: a.window.settings.sidebar_tab == "inspect",
    "tab_compare": lambda a: a.window.settings.sidebar_tab == "compare",
    "tab_time": lambda a: a.window.settings.sidebar_tab == "time",
    "pin_cell": lambda a: (
        a.window.ui_state.pinned_cell is None
        and "no cell to pin" in a.window.ui_state.message_queue.queued_message_texts()[-1]
    ),
    "compare_table": lambda a: type(a.window.dialogs.current_dialog).__name__ == "ComparisonTable",
    "edit_mode": lambda a: a.window.ui_state.is_editing,
    "undo": lambda a: a.window.ui_state.message_queue.queued_message_texts()[-1] == "There is nothing to undo",
    "redo": lambda a: a.window.ui_state.message_queue.queued_message_texts()[-1] == "There is nothing to redo",
    "history": lambda a: type(a.window.dialogs.current_dialog).__name__ == "HistoryList",
    "clear_edits": lambda a: not a.session.undo_history.done,
    "switch_1": lambda a: a.session.run.world.switch_states() == {"door": True, "gate": False},
    "switch_2": lambda a: a.session.run.world.switch_states() == {"door": False, "gate": True},
    "cursor_left": lambda a: a.window.ui_state.cell_cursor == (8, 4),
    "cursor_right": lambda a: a.window.ui_state.cell_cursor == (8, 4),
    "cursor_up": lambda a: a.window.ui_state.cell_cursor == (8, 4),
    "cursor_down": lambda a: a.window.ui_state.cell_cursor == (8, 4),
    "paint_cursor": lambda a: a.session.tick == 0,
    "start_here": lambda a: a.session.tick == 0,
    "goal_here": lambda a: a.session.tick == 0,
    "goal_of_crowd_here": lambda a: "not a crowd" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "next_rule": lambda a: a.session.run.world.grid.movement.rule == "eight-cut",
    "random_changes": lambda a: a.session.run.world.random_changes.changed_percent == 5.0,
    "more_changes": lambda a: a.window.ui_state.random_change_rate == 10.0,
    "fewer_changes": lambda a: a.window.ui_state.random_change_rate == 2.0,
    "select_all": lambda a: (
        str(a.window.ui_state.selected_cells) == "24 x 12" and a.window.ui_state.selected_tool == "select"
    ),
    "select_stroke": lambda a: "Nothing was painted" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    **dict.fromkeys(("copy", "cut", "name_switch", "save_piece"), nothing_selected),
    "paste": lambda a: "Nothing was copied" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "gallery": lambda a: type(a.window.dialogs.current_dialog).__name__ == "Gallery",
    "open": lambda a: type(a.window.dialogs.current_dialog).__name__ == "OpenFileDialog",
    "recent": lambda a: type(a.window.dialogs.current_dialog).__name__ == "RecentFiles",
    "problems": lambda a: "No problem list" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "generate": lambda a: type(a.window.dialogs.current_dialog).__name__ == "MapGeneratorDialog",
    "save_map": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SaveFileDialog",
    "save_map_as": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SaveFileDialog",
    "save_session": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SaveFileDialog",
    "save_scenario": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SaveFileDialog",
    "experiment": lambda a: type(a.window.dialogs.current_dialog).__name__ == "ExperimentDialog",
    "open_menu": lambda a: a.window.ui_state.context_menu is not None,
    "settings": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SettingsDialog",
    "save_charts": lambda a: type(a.window.dialogs.current_dialog).__name__ == "QuestionDialog",
    "export_csv": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SaveFileDialog",
    "export_posthoc": lambda a: type(a.window.dialogs.current_dialog).__name__ == "SaveFileDialog",
    "find_command": lambda a: type(a.window.dialogs.current_dialog).__name__ == "CommandPalette",
    "about": lambda a: a.window.ui_state.message_queue.queued_message_texts()[-1].startswith(
        "This run has no description"
    ),
    "help": lambda a: type(a.window.dialogs.current_dialog).__name__ == "HelpOverlay",
    "cancel": lambda a: a.window.is_window_open,
    "quit": lambda a: not a.window.is_window_open,
    "next_control": lambda a: a.window.canvas.focused_control_id is not None,
    "previous_control": lambda a: a.window.canvas.focused_control_id is not None,
    **{f"focus_{n}": lambda a, n=n: a.session.focused_key == PanelKey(0, n - 1 if n <= 2 else 0) for n in range(1, 9)},
    **{
        f"switch_{n}": lambda a: "no switch" in a.window.ui_state.message_queue.queued_message_texts()[-1]
        for n in range(3, 10)
    },
    **{
        f"layer_{k.key}": lambda a, k=k: a.window.map_view.layer_state.is_layer_on(k) != k.is_on_by_default
        for k in LAYERS
    },
}
EDITING_COMMANDS = {
    f"tool_{name}": lambda a, name=name: a.window.ui_state.selected_tool == name
    for name in ("brush", "eraser", "line", "rectangle", "fill", "select")
} | {
    "select_from_cursor": lambda a: a.window.ui_state.selected_cells.contains_point(a.window.ui_state.cell_cursor),
    "put_down": lambda a: "no pasted cells" in a.window.ui_state.message_queue.queued_message_texts()[-1],
    "mirror_left_right": nothing_selected,
    "mirror_top_bottom": nothing_selected,
    "turn_right": nothing_selected,
    "turn_left": nothing_selected,
    "free_selected": nothing_selected,
    "block_selected": nothing_selected,
    "smaller_brush": lambda a: a.window.ui_state.brush_size == 1,
    "larger_brush": lambda a: a.window.ui_state.brush_size == 2,
}


def fitted_zoom_of(app: App) -> float:
    from ui.model.camera import camera_fitting_map

    _, boxes = app.window.map_view.panels_with_boxes()[0]
    return camera_fitting_map(24, 12, *boxes.map_box[2:]).zoom


def test_every_command_has_a_check_in_this_file():
    assert set(RUNNING_COMMANDS) | set(EDITING_COMMANDS) == {command.id for command in COMMAND_TABLE}


@pytest.mark.parametrize("command", list(COMMAND_TABLE), ids=lambda c: c.id)
def test_every_shortcut_runs_its_command(command):
    for combination in command.keys:
        app = make_app(setup())
        if command.available_mode == EDIT_MODE:
            app.window.ui_state.is_editing = True
        press_combination(app, combination)
        check = RUNNING_COMMANDS.get(command.id) or EDITING_COMMANDS[command.id]
        assert check(app), (command.id, combination)
        app.draw_window()
        if app.window.dialogs.current_dialog is not None:
            press(app, pygame.K_ESCAPE)
            assert app.window.dialogs.current_dialog is None, "Escape closes every dialog"
        assert app.window.is_window_open or command.id == "quit"


def free_combinations() -> list[str]:
    """Key combinations that no command has by default, as many as there are commands."""
    taken = {key for command in COMMAND_TABLE for key in command.keys}
    names = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", *(f"F{n}" for n in range(1, 13))]
    prefixes = ("Ctrl+Alt+Shift+", "Ctrl+Alt+", "Alt+Shift+", "Ctrl+Shift+", "Ctrl+", "Alt+")
    free = [combination for prefix in prefixes for name in names if (combination := prefix + name) not in taken]
    assert len(free) > len(COMMAND_TABLE)
    return free


@pytest.mark.parametrize(
    ("command", "combination"),
    list(zip(COMMAND_TABLE, free_combinations(), strict=False)),
    ids=lambda each: getattr(each, "id", ""),
)
def test_every_command_runs_by_its_new_key_after_all_keys_were_changed(command, combination):
    app = make_app(setup())
    for other, key in zip(COMMAND_TABLE, free_combinations(), strict=False):
        app.window.settings.keys[other.id] = key
    app.window.assign_keys_to_command(command.id, combination)
    app.window.ui_state.is_editing = command.available_mode == EDIT_MODE
    press_combination(app, command.keys[0])
    assert app.window.dialogs.current_dialog is None and not app.session.tick, "the old key does nothing"
    press_combination(app, combination)
    check = RUNNING_COMMANDS.get(command.id) or EDITING_COMMANDS[command.id]
    assert check(app), (command.id, combination)


def hud_values(view) -> dict[str, str]:
    return {field.name: field.value_text for field in agent_panel_numbers(view)}


def test_trials_can_be_set_and_appear_in_the_trials_chart():
    app = make_app(replace(setup(), agents=(AgentConfig("lss-lrta", "learns"), AgentConfig("tb-wa", "walks"))))
    press_combination(app, "F5")
    assert not any(spot.id == "chart:trials" for spot in app.window.canvas.hit_regions)
    for _ in range(4):
        press_combination(app, "Alt+L")
    assert app.session.run.world.max_trials == 20
    app.session.advance_by_ticks(5000)
    settle(app)
    learns, walks = (panel.walker_view for panel in app.session.run.panels)
    assert learns.is_converged and learns.state_word == "converged" and 1 < len(learns.trials) <= 20
    assert hud_values(learns)["trial"] == f"{len(learns.trials)} / 20"
    assert "trial" not in hud_values(walks)
    x, y, width, height = next(spot.box for spot in app.window.canvas.hit_regions if spot.id == "chart:trials")
    plot = pygame.surfarray.array3d(app.window.surface.subsurface((x, y, width, height)))
    assert (plot == np.array(SERIES[0])).all(axis=2).sum() > 4 * len(learns.trials), "a dot for each trial"
    assert not (plot == np.array(SERIES[1])).all(axis=2).any()


def test_escape_never_quits(app):
    for _ in range(8):
        press(app, pygame.K_ESCAPE)
    assert app.window.is_window_open


def test_letter_keys_choose_tools_only_in_edit_mode(app):
    press(app, pygame.K_l, unicode="l")
    assert app.window.ui_state.selected_tool == "brush" and not app.window.cameras.is_linked
    press(app, pygame.K_m, unicode="m")
    press(app, pygame.K_l, unicode="l")
    assert app.window.ui_state.selected_tool == "line"


# --- a window that nobody touches ---------------------------------------------------------------------


def pixels(app):
    return pygame.surfarray.array3d(app.window.surface)


def spots(app):
    return [(spot.id, spot.box) for spot in app.window.canvas.hit_regions]


def run_idle_frames(app, frames, seconds=0.016):
    for _ in range(frames):
        app.run_frame(seconds)


def test_partial_redraw_converges_to_the_full_redraw():
    app = make_app(setup(budget=1))
    app.window.player.play()
    run_idle_frames(app, 40)
    app.window.player.pause()
    run_idle_frames(app, MIN_REDRAW_INTERVAL_FRAMES)
    at_rest, spots_at_rest = pixels(app), spots(app)
    app.draw_window()
    assert (pixels(app) == at_rest).all()
    assert sorted(spots(app)) == sorted(spots_at_rest)


def record_bars(monkeypatch: pytest.MonkeyPatch, drawn: list[str]) -> None:
    """Append the name of a bar's module to `drawn` whenever the bar is drawn."""
    for module, name in ((top_bar, "draw_top_bar"), (transport_bar, "draw_transport_bar"), (sidebar, "draw_sidebar")):
        monkeypatch.setattr(module, name, partial(record_draw, drawn, module.__name__, getattr(module, name)))


def test_partial_redraw_alternates_bars_and_always_presents_maps(monkeypatch):
    app = make_app(setup(budget=1))
    drawn = []
    record_bars(monkeypatch, drawn)
    run_idle_frames(app, 2)
    drawn.clear()
    frames = []
    for _ in range(2 * MIN_REDRAW_INTERVAL_FRAMES):
        app.run_frame(0.016)
        frames.append(len(drawn))
        maps = {boxes.map_box for _, boxes in app.window.map_view.panels_with_boxes()}
        assert maps <= set(app.window.canvas.dirty_rects), "what is shown anew holds every map"
    assert sorted(drawn) == sorted([module.__name__ for module in (top_bar, transport_bar, sidebar)] * 2)
    assert max(b - a for a, b in pairwise(frames)) == 1, "never two bars in one frame"


def test_partial_redraw_updates_all_huds_and_transport_in_one_frame(monkeypatch):
    app = make_app(setup(8, budget=1), (1920, 1080))
    drawn = []
    record_bars(monkeypatch, drawn)
    around = agent_panel.draw_panel_header_and_numbers
    monkeypatch.setattr(
        agent_panel,
        "draw_panel_header_and_numbers",
        lambda desk, boxes, *rest: record_draw(drawn, boxes.panel_box, partial(around, desk, boxes), *rest),
    )
    app.window.player.set_speed(60)  # at full speed, a run on a busy machine might end within these frames
    app.window.player.play()
    run_idle_frames(app, 2)
    frames = []
    for _ in range(6):
        drawn.clear()
        app.run_frame(0.016)
        frames.append(list(drawn))
    counts = sorted(len(frame) for frame in frames)
    assert counts == [0, 0, 0, 1, 1, 9], "each part has one turn in six frames"
    together = max(frames, key=len)
    assert transport_bar.__name__ in together and len(set(together)) == 9


def test_partial_redraw_skips_bars_in_the_frame_of_a_map_change(monkeypatch):
    """It has enough to do; but where the map changes in every frame there is nothing to wait for."""
    app = make_app(setup(budget=1))
    run_idle_frames(app, 2 * MIN_REDRAW_INTERVAL_FRAMES)
    drawn = []
    record_bars(monkeypatch, drawn)

    def frames(changes):
        drawn.clear()
        counts = []
        for changed in changes:
            app.session.run.world.grid.version += changed
            app.run_frame(0.016)
            counts.append(len(drawn))
        return counts

    assert frames([True] + [False] * MIN_REDRAW_INTERVAL_FRAMES) == [0, 1, 2, 3]
    assert frames([True] * 2 * MIN_REDRAW_INTERVAL_FRAMES) == [0, 1, 2, 3, 4, 5]
    assert frames([False] * MIN_REDRAW_INTERVAL_FRAMES) == [1, 2, 3]


def record_draw(drawn, name, draw, *given):
    drawn.append(name)
    return draw(*given)


def test_player_defers_ticks_during_keyframe_read_and_catches_up(monkeypatch):
    """The frame would have to wait for it; but not for ever, and not where frames are counted."""
    player = Player(Session(setup(budget=1)), 60)
    player.play()
    is_being_read = True
    hurried = []
    monkeypatch.setattr(Run, "is_reading_keyframe", property(lambda run: is_being_read))
    monkeypatch.setattr(Run, "stop_reader_yielding", lambda run: hurried.append(run.tick))
    player.update_frame(1 / 60, 1.0)
    assert player.session.tick == 1, "a test, a film"
    player.may_postpone_ticks = True
    for frame in range(3):
        player.update_frame(1 / 60, 1.0)
        assert player.session.tick == 1
        assert len(hurried) == max(0, frame + 2 - MAX_YIELDING_FRAMES), "it is not told at once"
    is_being_read = False
    player.update_frame(1 / 60, 1.0)
    assert player.session.tick == 5
    is_being_read = True
    for _ in range(2 * MAX_POSTPONED_FRAMES):
        player.update_frame(1 / 60, 1.0)
    assert player.session.tick > 5


def test_partial_redraw_under_tooltip_leaves_no_residue(monkeypatch):
    app = make_app(setup(budget=1))
    app.window.ui_state.message_queue.queued_messages.clear()
    monkeypatch.setattr(overlay, "TOOLTIP_DELAY_S", -1.0)
    run_idle_frames(app, 2)
    header = next(spot for spot in app.window.canvas.hit_regions if spot.tooltip and spot.id.startswith("panel:"))
    middle = header.box[0] + header.box[2] // 2, header.box[1] + header.box[3] // 2
    monkeypatch.setattr(pygame.mouse, "get_pos", lambda: middle)
    run_idle_frames(app, 2 + MIN_REDRAW_INTERVAL_FRAMES)
    assert app.tooltip_drawer.visible_box in app.window.canvas.dirty_rects and not app._was_full_redraw
    at_rest = pixels(app)
    app.draw_window()
    assert (pixels(app) == at_rest).all()
    monkeypatch.setattr(overlay, "TOOLTIP_DELAY_S", 1e9)  # it goes, though nobody has moved the mouse
    run_idle_frames(app, 2)
    without = pixels(app)
    assert app.tooltip_drawer.visible_box is None and (without != at_rest).any()
    app.draw_window()
    assert (pixels(app) == without).all()


@pytest.mark.parametrize("command", ["compare_table", "settings", "gallery", "help"])
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_partial_redraw_behind_dialog_equals_full_redraw(command, theme):
    """A veil and the corners of a card let something through: what stands must not get another one."""
    app = make_app(setup(budget=1), theme=theme)
    app.window.ui_state.message_queue.queued_messages.clear()
    app.window.player.play()
    app.window.run_command(command)
    run_idle_frames(app, 20)
    app.window.player.pause()
    run_idle_frames(app, 3 * MIN_REDRAW_INTERVAL_FRAMES)
    assert app.window.canvas._may_reuse_pixels
    at_rest = pixels(app)
    app.draw_window()
    assert (pixels(app) == at_rest).all()


def test_command_redraws_the_window_in_the_same_frame(monkeypatch):
    app = make_app(setup(budget=1))
    app.window.ui_state.message_queue.queued_messages.clear()
    run_idle_frames(app, 4)
    before = pixels(app)
    press(app, pygame.K_F5)
    settled = pixels(app)
    assert (settled != before).any()
    app.draw_window()
    assert (pixels(app) == settled).all()


def test_only_plain_mouse_motion_over_maps_skips_the_bars():
    app = make_app(setup(budget=1))
    first, second = at_cell(app, 2, 2), at_cell(app, 4, 3)
    app.window.canvas.mouse_position = first

    def move(position, buttons=(0, 0, 0)):
        return pygame.event.Event(pygame.MOUSEMOTION, pos=position, rel=(1, 1), buttons=buttons)

    assert app._is_motion_over_maps(move(second))
    assert not app._is_motion_over_maps(move(second, (1, 0, 0)))
    assert not app._is_motion_over_maps(move((5, 5))), "onto the bar at the top"
    assert not app._is_motion_over_maps(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_a))


# --- the simulation does not know about the window --------------------------------------------------


def test_any_frame_pacing_gives_the_headless_digest(app):
    begin = setup()
    world = build_world(begin, AGENT_SPECS_BY_KEY)
    world.advance(10_000)
    app.window.player.play()
    for seconds in [0.001, 0.2, 0.016, 0.05, 0.011] * 400:
        app.run_frame(seconds)
        if app.session.run.is_over:
            break
    assert app.session.run.world.compute_digest() == world.compute_digest()
    assert app.session.tick == world.tick


def test_space_at_the_end_replays_the_run_and_keeps_branches():
    app = make_app(setup())
    session = app.session
    session.advance_by_ticks(4)
    session.submit_command(SetSwitch("gate", True))
    session.advance_by_ticks(2)
    branch_actions.create_branch_at_current_tick(session)
    session.submit_command(SetBudget(3))
    while session.advance_by_ticks(1000):
        pass
    ends = [branch.timeline.tick for branch in session.run.shown_branches]
    states = [replace(state, tick=0) for state in session.run.branch_tree.branch_states()]
    digests, acts = session.run.world_digests(), len(session.undo_history.done)
    press_combination(app, "Space")
    settle(app)
    assert session.tick < max(ends) and app.window.player.step_clock.is_running
    assert [replace(state, tick=0) for state in session.run.branch_tree.branch_states()] == states
    assert len(session.undo_history.done) == acts and len(session.run.shown_branch_numbers) == 2
    for _ in range(4000):
        app.run_frame(0.05)
        if not app.window.player.step_clock.is_running:
            break
    assert [branch.timeline.tick for branch in session.run.shown_branches] == ends
    assert session.run.world_digests() == digests
    press_combination(app, "R")
    assert len(session.run.branch_tree.branches) == 1 and session.tick == 0, "only this begins a new run"


def test_moved_edit_is_recomputed_to_the_old_end_while_paused():
    app = make_app(setup(script=[(2, SetSwitch("gate", True))]))
    session = app.session
    session.advance_by_ticks(1000)
    end = session.run.last_reached_tick
    press_combination(app, "Home")
    script_entries.move_script_entry(session, script_entries.script_entries(session.run)[0], 1)
    assert session.run.recorded_end_tick < session.run.last_reached_tick == end and not app.is_idle
    for _ in range(200):
        settle(app)
    assert session.run.recorded_end_tick == session.run.last_reached_tick and session.tick == 0
    assert not session.run.is_rerecording_ticks


def test_window_tick_is_that_of_the_longest_running_branch(tmp_path):
    app = make_app(setup(1))
    session = app.session
    session.advance_by_ticks(4)
    session.seek_to_tick(3)
    branch_actions.create_branch_at_current_tick(session)
    session.focus_panel(PanelKey(0, 0))
    session.submit_command(SetBudget(1))  # the slower one is the parent
    session.focus_panel(PanelKey(1, 0))
    session.submit_command(SetBudget(500))
    run = session.run
    while not run.branch_tree[1].timeline.world.is_over:
        session.advance_by_ticks(1)
    end = session.tick
    assert not run.is_over and run.branch_tree[0].timeline.tick == end
    session.advance_by_ticks(5)
    assert (run.branch_tree[1].timeline.tick, session.tick) == (end, end + 5)
    assert [
        row.split(",")[2] for row in export_agents_csv(session, tmp_path / "ticks").read_text().splitlines()[1:]
    ] == [str(panel.world.tick) for panel in run.panels]
    press_combination(app, ",")
    while session.run.is_seeking:
        settle(app)
    assert session.tick == run.branch_tree[0].timeline.tick == end + 4, "one tick back, for the branch that walks"
    assert run.branch_tree[1].timeline.tick == end


def test_full_speed_gives_the_same_digest_and_pauses_at_the_end():
    slow, fast = make_app(setup()), make_app(setup())
    slow.session.advance_by_ticks(10_000)
    press(fast, pygame.K_u, unicode="u")
    fast.window.player.play()
    for _ in range(200):
        fast.run_frame(0.016)
    assert fast.session.run.world.compute_digest() == slow.session.run.world.compute_digest()
    assert not fast.window.player.step_clock.is_running, "a run that is over pauses"


def test_run_until_back_move_stops_at_the_first_back_move():
    app = make_app(setup(budget=1))
    app.window.run_command("until_back_move")
    for _ in range(400):
        app.run_frame(0.1)
        if not app.window.player.step_clock.is_running:
            break
    counts = [int(w.counts_record[0].back_moves) for w in app.session.run.world.walkers]
    assert max(counts) == 1, counts
    assert "next back-move" in app.window.ui_state.message_queue.queued_message_texts()[-1]


# --- editing with the mouse -------------------------------------------------------------------------


def blocked_cells(app: App) -> set[tuple[int, int]]:
    grid = app.session.run.world.grid
    start = Grid.from_text_rows(ROWS).free_mask
    return {grid.xy(int(c)) for c in range(grid.cells) if start[c] and not grid.is_free(c)}


def test_click_blocks_a_cell_for_every_agent(app):
    drag(app, at_cell(app, 1, 1), at_cell(app, 1, 1))
    assert blocked_cells(app) == {(1, 1)}
    assert len(app.session.undo_history.done) == 1


def test_fast_drag_paints_a_connected_line(app):
    drag(app, at_cell(app, 0, 0), at_cell(app, 11, 1), steps=1)
    cells = sorted(blocked_cells(app))
    assert len(cells) == 12
    assert all(abs(a[0] - b[0]) <= 1 and abs(a[1] - b[1]) <= 1 for a, b in pairwise(cells))


def test_first_cell_decides_whether_the_stroke_blocks_or_frees(app):
    drag(app, at_cell(app, 6, 3), at_cell(app, 2, 3))  # begins on a wall: frees
    assert app.session.run.world.grid.is_free(app.session.run.world.grid.cell(6, 3))
    assert blocked_cells(app) == set()


def test_undo_and_redo_apply_to_whole_strokes(app):
    drag(app, at_cell(app, 0, 0), at_cell(app, 5, 0))
    drag(app, at_cell(app, 0, 1), at_cell(app, 5, 1))
    press_combination(app, "Ctrl+Z")
    assert blocked_cells(app) == {(x, 0) for x in range(6)}
    press_combination(app, "Ctrl+Y")
    assert len(blocked_cells(app)) == 12
    press_combination(app, "Ctrl+Z")
    press_combination(app, "Ctrl+Z")
    assert blocked_cells(app) == set()


def test_right_drag_frees_cells(app):
    drag(app, at_cell(app, 13, 2), at_cell(app, 13, 8), button=3)
    grid = app.session.run.world.grid
    assert all(grid.is_free(grid.cell(13, y)) for y in range(2, 9))


def test_rectangle_tool_previews_before_painting_on_release(app):
    app.window.ui_state.choose_tool("rectangle")
    drag(app, at_cell(app, 15, 1), at_cell(app, 17, 3), release=False)
    assert blocked_cells(app) == set()
    assert len(app.window.map_editor.cells_to_preview(app.window.ui_state.hovered_cell)) == 9
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONUP, button=1, pos=at_cell(app, 17, 3)))
    settle(app)
    assert len(blocked_cells(app)) == 9


def test_modifier_rectangle_starts_at_the_drag_start(app, monkeypatch):
    drag(app, at_cell(app, 0, 0), at_cell(app, 1, 0))
    monkeypatch.setattr(pygame.key, "get_mods", lambda: pygame.KMOD_LCTRL | pygame.KMOD_LSHIFT)
    drag(app, at_cell(app, 15, 1), at_cell(app, 17, 3))
    assert blocked_cells(app) == {(0, 0), (1, 0)} | {(x, y) for x in (15, 16, 17) for y in (1, 2, 3)}


def test_shift_click_draws_a_line_from_the_last_painted_cell(app, monkeypatch):
    drag(app, at_cell(app, 15, 1), at_cell(app, 15, 1))
    monkeypatch.setattr(pygame.key, "get_mods", lambda: pygame.KMOD_LSHIFT)
    for tool, end in (("brush", (18, 1)), ("line", (21, 1))):
        app.window.ui_state.choose_tool(tool)
        drag(app, at_cell(app, *end), at_cell(app, *end))
    assert blocked_cells(app) == {(x, 1) for x in range(15, 22)}


@pytest.mark.parametrize("leave", ["M", "Escape"])
def test_leaving_edit_mode_resets_the_tool_to_brush(app, leave):
    press_combination(app, "M")
    press_combination(app, "R")
    assert app.window.ui_state.selected_tool == "rectangle"
    press_combination(app, leave)
    assert app.window.ui_state.selected_tool == "brush" and not app.window.ui_state.is_editing
    drag(app, at_cell(app, 15, 1), at_cell(app, 17, 3))
    assert len(blocked_cells(app)) < 9, "a stroke, not a rectangle"


def test_opening_a_run_resets_tool_and_last_painted_cell(app):
    app.window.ui_state.choose_tool("rectangle")
    drag(app, at_cell(app, 15, 1), at_cell(app, 17, 3))
    assert app.window.map_editor.last_painted_point == (17, 3)
    app.session.unsaved_work.mark_saved()
    app.window.document_opener.open_scenario(setup())
    assert app.window.ui_state.selected_tool == "brush" and app.window.map_editor.last_painted_point is None


def test_key_pins_the_cell_under_pointer_or_cursor(app):
    app.window.settings.shows_sidebar = False
    press_combination(app, "Ctrl+Right")
    press_combination(app, "Ctrl+I")
    assert (
        app.window.ui_state.pinned_cell == (8, 4)
        and app.window.settings.sidebar_tab == "inspect"
        and app.window.settings.shows_sidebar
    )
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=at_cell(app, 3, 2), rel=(0, 0), buttons=(0, 0, 0)))
    settle(app)
    press_combination(app, "Ctrl+I")
    assert app.window.ui_state.pinned_cell == (3, 2), "the pointer comes first"
    press_combination(app, "Ctrl+I")
    assert app.window.ui_state.pinned_cell is None
    app.window.toggle_pinned_cell((99, 99))
    assert app.window.ui_state.pinned_cell is None, "outside the map there is nothing to tell"


def test_escape_cancels_the_current_stroke(app):
    drag(app, at_cell(app, 0, 0), at_cell(app, 5, 0), release=False)
    assert blocked_cells(app)
    press(app, pygame.K_ESCAPE)
    assert blocked_cells(app) == set() and not app.session.undo_history.done


def test_the_goal_can_be_dragged(app):
    drag(app, at_cell(app, 20, 9), at_cell(app, 22, 1))
    assert app.session.run.world.goal == app.session.run.world.grid.cell(22, 1)
    assert blocked_cells(app) == set()


def test_dragging_the_start_restarts_the_run(app):
    app.session.advance_by_ticks(5)
    drag(app, at_cell(app, 8, 4), at_cell(app, 9, 6))
    assert app.session.tick == 0
    assert {w.position for w in app.session.run.world.walkers} == {app.session.run.world.grid.cell(9, 6)}


def test_painting_under_an_agent_is_refused_with_a_message(app):
    while app.session.run.world.walkers[0].position == app.session.run.world.start:
        app.session.advance_by_ticks(1)
    grid = app.session.run.world.grid
    x, y = grid.xy(app.session.run.world.walkers[0].position)
    drag(app, at_cell(app, x, y), at_cell(app, x, y))
    assert grid.is_free(grid.cell(x, y))
    settle(app)
    assert any("is on it" in text for text in app.window.ui_state.message_queue.queued_message_texts())


def test_many_painted_and_undone_cells_leave_the_map_unchanged(app):
    app.window.player.play()
    for i in range(60):
        drag(app, at_cell(app, 0, 10), at_cell(app, 17, 10 + i % 2), steps=4)
        press_combination(app, "Ctrl+Z")
    assert blocked_cells(app) == set()


# --- time travel ------------------------------------------------------------------------------------


def run_frames_until_seek_ends(app: App) -> None:
    """Frames until a seek has got where it goes."""
    for _ in range(1000):
        settle(app)
        if not app.session.run.is_seeking:
            return
    raise AssertionError("the seek never arrived")


def test_stepping_back_restores_digests_positions_and_trails():
    app = make_app(setup(budget=1))
    seen = {}
    for _ in range(40):
        seen[app.session.tick] = (
            app.session.run.world.compute_digest(),
            [w.position for w in app.session.run.world.walkers],
        )
        press_combination(app, ".")
    for tick in range(39, -1, -1):
        press_combination(app, ",")
        run_frames_until_seek_ends(app)
        now = (app.session.run.world.compute_digest(), [w.position for w in app.session.run.world.walkers])
        assert (app.session.tick, now) == (tick, seen[tick])
        assert all(len(trail) == tick + 1 for trail in app.session.run.trail_by_panel.values())
    app.draw_window()


def test_clicking_the_scrubber_seeks_to_that_tick():
    app = make_app(setup(budget=1), (1600, 900))
    app.session.advance_by_ticks(120)
    app.draw_window()
    spot = app.window.canvas.hit_region_with_id("scrubber")
    end = app.session.run.recorded_end_tick
    position = (spot.box[0] + spot.box[2] // 2, spot.box[1] + 12)
    drag(app, position, position)
    run_frames_until_seek_ends(app)
    assert abs(app.session.tick - end / 2) <= 1


def test_unedited_branch_has_the_digests_of_its_parent(app):
    app.session.advance_by_ticks(10)
    press_combination(app, "B")
    for _ in range(30):
        app.session.advance_by_ticks(1)
        digests = {b.timeline.world.compute_digest() for b in app.session.run.shown_branches}
        assert len(digests) == 1
    app.draw_window()


def test_edits_affect_only_the_focused_branch(app):
    app.session.advance_by_ticks(5)
    press_combination(app, "B")
    value_adjustments.toggle_map_switch(app.session, "gate")
    states = [b.timeline.world.switch_states()["gate"] for b in app.session.run.shown_branches]
    assert states == [False, True]
    app.session.focus_panel(app.session.run.panels[0].key)
    assert app.session.run.world.switch_states()["gate"] is False


def test_edit_in_the_past_keeps_old_future_as_branch(app):
    app.session.advance_by_ticks(20)
    before = app.session.run.world.compute_digest()
    app.session.seek_to_tick(8)
    value_adjustments.toggle_map_switch(app.session, "gate")
    assert app.session.tick == 8
    kept = [
        b for b in app.session.run.branch_tree.branches.values() if b.number != app.session.run.focused_branch_number
    ]
    assert len(kept) == 1
    kept[0].timeline.seek(20)
    assert kept[0].timeline.world.compute_digest() == before
    assert any("is kept as the branch" in text for text in app.session.user_messages.messages_until_next_edit)


def test_moving_an_edit_in_time_changes_the_tick_it_applies(app):
    app.session.advance_by_ticks(12)
    value_adjustments.toggle_map_switch(app.session, "gate")
    app.session.advance_by_ticks(5)
    script_entries.move_script_entry(app.session, script_entries.script_entries(app.session.run)[-1], -10)
    while app.session.run.is_seeking:
        app.session.continue_seek()
    assert app.session.run.focused_branch_timeline.command_log.entries[0].tick == 2
    app.session.seek_to_tick(2)
    assert app.session.run.world.switch_states()["gate"] is True
    app.session.seek_to_tick(1)
    assert app.session.run.world.switch_states()["gate"] is False


def test_run_until_next_move_follows_the_focused_panel_of_a_branch(app):
    app.session.advance_by_ticks(4)
    press_combination(app, "B")
    assert app.session.focused_key.branch > 0
    for _ in range(3):
        tick, cell = app.session.tick, app.session.focused_walker.position
        press_combination(app, "Alt+M")
        for _ in range(60):
            app.run_frame(0.05)
        assert (
            not app.window.player.step_clock.is_running
            and app.session.tick > tick
            and app.session.focused_walker.position != cell
        )


def test_every_command_is_safe_without_agents(app):
    for _ in range(2):
        press(app, pygame.K_DELETE)
    assert not app.session.run.panels
    for command in COMMAND_TABLE:
        if command.id not in ("quit", "full_screen"):
            press_combination(app, command.keys[0])
            press(app, pygame.K_ESCAPE)
    assert app.window.is_window_open


def test_stroke_over_many_ticks_is_one_script_entry(app):
    """Painted while the run goes on: a command a tick, one line in the list, moved and switched off as one."""
    press_combination(app, "F7")
    app.session.advance_by_ticks(3)
    cells = [app.session.run.world.grid.cell(x, 10) for x in range(2, 9)]
    app.session.undo_history.open_entry(is_stroke=True)
    for cell in cells:
        cell_edits.block_or_free_cells(app.session, [cell], block=True)
        app.session.advance_by_ticks(2)
    app.session.undo_history.close_entry()
    for weight in (1.4, 1.8):
        agent_edits.set_agent_param(app.session, app.session.focused_key, "weight", weight)
    settle(app)
    stroke, turn = script_entries.script_entries(app.session.run)
    entries = app.session.run.focused_branch_timeline.command_log.entries
    assert len(entries) == 9 and (stroke.tick, stroke.last_tick) == (3, 15)
    assert stroke.representative_command.blocked_cells == tuple(cells) and turn.representative_command.value == 1.8
    assert sum(spot.id.startswith("deed_text:") for spot in app.window.canvas.hit_regions) == 2
    script_entries.move_script_entry(app.session, stroke, -10)
    (moved, _) = script_entries.script_entries(app.session.run)
    assert (moved.tick, moved.last_tick) == (0, 12)
    script_entries.toggle_script_entry(app.session, moved)
    app.session.seek_to_tick(app.session.tick)
    assert all(app.session.run.world.grid.is_free(cell) for cell in cells)
    script_entries.toggle_script_entry(app.session, script_entries.script_entries(app.session.run)[0])
    script_entries.duplicate_script_entry(app.session, script_entries.script_entries(app.session.run)[0])
    assert len(app.session.run.focused_branch_timeline.command_log.entries) == 16
    script_entries.delete_script_entry(app.session, script_entries.script_entries(app.session.run)[0])
    app.session.seek_to_tick(5)
    assert all(app.session.run.world.grid.is_free(cell) for cell in cells)
    scripts = []
    while len(scripts) < 5:  # deleted, done again, on, off, moved: all of it can be undone
        scripts.append(
            [(deed.tick, deed.last_tick, deed.is_enabled) for deed in script_entries.script_entries(app.session.run)]
        )
        assert app.session.undo_history.undo_last_entry()
    assert (
        script_entries.script_entries(app.session.run)[0].tick,
        script_entries.script_entries(app.session.run)[0].last_tick,
    ) == (
        3,
        15,
    )
    for told in reversed(scripts):
        assert app.session.undo_history.redo_last_entry()
        assert [
            (deed.tick, deed.last_tick, deed.is_enabled) for deed in script_entries.script_entries(app.session.run)
        ] == told


def test_stroke_across_walls_and_scripted_edits_is_one_script_entry():
    session = make_app(setup(script=((4, SetSwitch("gate", True)),))).session
    session.advance_by_ticks(3)
    session.undo_history.open_entry(is_stroke=True)
    for x in (1, 2, 15, 16):  # as if walls lay between
        cell_edits.block_or_free_cells(session, [session.run.world.grid.cell(x, 10)], block=True)
        session.advance_by_ticks(1)
    session.undo_history.close_entry()
    assert [len(deed.log_entries) for deed in script_entries.script_entries(session.run)] == [4, 1]


def test_separate_edits_stay_separate_script_entries():
    session = make_app(setup()).session
    for cells, block in (([0], True), ([20], True), ([21], True), ([21], False)):
        cell_edits.block_or_free_cells(session, cells, block=block)
        session.advance_by_ticks(1)
    agent_edits.set_agent_param(session, PanelKey(0, 0), "weight", 1.5)
    agent_edits.set_agent_param(session, PanelKey(0, 1), "weight", 1.5)
    assert [len(deed.log_entries) for deed in script_entries.script_entries(session.run)] == [1, 1, 1, 1, 1, 1]


def test_splitting_a_policy_opens_one_branch_per_weight(app):
    app.session.advance_by_ticks(6)
    press_combination(app, "Shift+B")
    press(app, pygame.K_RETURN)
    weights = [b.timeline.world.walker_with_id(0).params["weight"] for b in app.session.run.shown_branches]
    assert weights == [1.0, 1.4, 3.0]
    value_adjustments.toggle_map_switch(app.session, "gate")
    assert all(b.timeline.world.switch_states()["gate"] for b in app.session.run.shown_branches)
    app.draw_window()


# --- heat, legend -----------------------------------------------------------------------------------


def written(app: App, monkeypatch) -> list[tuple[str, tuple[int, int, int]]]:
    """What the next frame writes with the canvas: (text, (left, right, top)) in the order of drawing."""
    texts = []
    draw_text = app.window.canvas.draw_text

    def text(position, text, **more):
        before = more.get("align", "left")
        used = draw_text(position, text, **more)
        left = position[0] - (used if before == "right" else used // 2 if before == "centre" else 0)
        texts.append((text, (left, left + used, position[1])))
        return used

    monkeypatch.setattr(app.window.canvas, "draw_text", text)
    app.draw_window()
    monkeypatch.undo()
    return texts


def badge_colour(app: App, panel: int) -> tuple[int, int, int]:
    """The upper right corner of a map, where a badge would be."""
    x, y, width, _ = app.window.map_view.panels_with_boxes()[panel][1].map_box
    return tuple(app.window.surface.get_at((x + width - 10, y + 9)))[:3]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_difference_heat_compares_branch_agent_with_its_parent(theme):
    app = make_app(setup(), theme=theme)
    app.session.advance_by_ticks(12)
    press_combination(app, "B")
    value_adjustments.toggle_map_switch(app.session, "door")
    app.session.advance_by_ticks(20)
    app.session.focus_panel(app.session.run.panels[3].key)  # the second agent of the branch
    press_combination(app, "Alt+P")
    assert [panel.key for panel in app.window.map_view.compared_panels()] == [(1, 1), (0, 1)]
    own = [panel.walker_view.visit_counts for panel in app.session.run.panels]
    shown = [app.window.map_view.cells[panel.key].heat_bands for panel in app.session.run.panels]
    assert not shown[0].size and not shown[2].size, "nothing is drawn in the other panels"
    apart = own[3].astype(int) - own[1].astype(int)
    for bands in (shown[1], shown[3]):
        assert ((bands > 0) == (apart != 0)).all() and (bands[apart < 0] % 2 == 1).all()
        assert (bands[apart > 0] % 2 == 0).all() and (apart != 0).any()
    corners = [badge_colour(app, panel) for panel in range(4)]
    assert corners[1] == BADGE_COLOURS["B"] and corners[3] == BADGE_COLOURS["A"]
    assert not {corners[0], corners[2]} & set(BADGE_COLOURS.values())


def test_sidebar_names_compared_agents_and_truncates_long_names(monkeypatch):
    agents = (AgentConfig("tb-wa", "one cell a tick"), AgentConfig("tb-wa", "sixteen"))
    app = make_app(replace(setup(), agents=agents))
    app.window.settings.sidebar_tab = "layers"
    app.window.map_view.layer_state.set_heat_kind("difference")
    texts = [text for text, _ in written(app, monkeypatch)]
    at = texts.index("visits, A - B")
    assert texts[at + 1 : at + 6] == ["A", "one cell a tick", " - ", "B", "sixteen"]
    branch_actions.create_branch_at_current_tick(app.session)
    texts = [text for text, _ in written(app, monkeypatch)]
    assert "one cell a tick (branch 1)" in texts and "one cell a tick (run)" in texts
    branch_actions.rename_branch(
        app.session, app.session.run.focused_branch_number, "a name that is far too long for the sidebar of any window"
    )
    places = written(app, monkeypatch)
    at = [text for text, _ in places].index("visits, A - B")
    line = [place for _, place in places[at + 1 : at + 6]]
    right = app.window.map_view.layout.sidebar_box[0] + app.window.map_view.layout.sidebar_box[2]
    assert all(a[1] <= b[0] + 12 for a, b in pairwise(line)) and line[-1][1] < right, "cut, and not over each other"
    assert line[-1][1] - line[-1][0] > 60, "the other name keeps its room"


def test_long_branch_name_does_not_overlap_the_badge():
    app = make_app(setup())
    app.session.advance_by_ticks(5)
    branch_actions.create_branch_at_current_tick(app.session)
    branch_actions.rename_branch(
        app.session, app.session.run.focused_branch_number, "a name that is far too long for the corner of any map"
    )
    app.window.map_view.layer_state.set_heat_kind("difference")
    app.draw_window()
    place = app.session.panel_index(app.session.focused_key)
    x, y, width, _ = app.window.map_view.panels_with_boxes()[place][1].map_box
    chip = app.window.canvas.hit_region_with_id(f"branch_of:{app.session.focused_key}").box
    inked = [
        (px, py)
        for px in range(x, x + width)
        for py in range(y, y + 60)
        if tuple(app.window.surface.get_at((px, py)))[:3] == BADGE_COLOURS["A"]
    ]
    assert len(inked) > 200
    assert not any(inside((*pixel, 1, 1), chip) for pixel in inked)


@pytest.mark.parametrize("size", [(1280, 720), (1600, 900)])
@pytest.mark.parametrize("heat", ["off", "visits", "difference"])
def test_whole_legend_can_be_scrolled_into_view(size, heat, monkeypatch):
    app = make_app(setup(), size)
    app.window.settings.sidebar_tab = "layers"
    app.window.map_view.layer_state.set_heat_kind(heat)
    app.draw_window()
    x, y, width, height = app.window.map_view.layout.sidebar_box
    for _ in range(50):
        sidebar.scroll_tab(app.window.view_context, "layers", -1)
    lines = [(text, place) for text, place in written(app, monkeypatch) if x <= place[0] < x + width]
    words = " ".join(text for text, _ in lines)
    for key, meaning in map_legend.visible_legend_entries(app.window.view_context):
        assert meaning in words, key
    assert [text for text, _ in lines][-2:] == [
        LAYERS[-1].name,
        COMMAND_TABLE.first_key_of(f"layer_{LAYERS[-1].key}"),
    ], "layers of other agents"
    foot = lines[-1][1][2]
    is_scrolled = "sidebar:bar" in {each.id for each in app.window.canvas.hit_regions}
    assert foot < y + height - 6 and (foot > y + height - 40 or not is_scrolled), "the end is in sight"
    keys = [key for key, _ in map_legend.visible_legend_entries(app.window.view_context)]
    assert ("heat" in keys) == (heat != "off")
    assert ("closed" in keys) == (heat == "off"), "heat takes its place"


def test_legend_keeps_closed_if_any_panel_has_no_heat():
    app = make_app(setup(3))
    app.window.map_view.layer_state.set_heat_kind("difference")
    app.draw_window()
    assert "closed" in dict(map_legend.visible_legend_entries(app.window.view_context))


@pytest.mark.parametrize(
    ("kind", "heat", "hint"),
    [
        ("tb-wa", "learned", "None of these agents learns"),
        ("lrta", "learned", None),
        ("lrta", "g", "No search has started yet"),
        ("lrta", "expansions", "No search has started yet"),
        ("tb-wa", "g", None),
        ("tb-wa", "expansions", None),
        ("tb-wa", "difference", "There is only one panel"),
        ("tb-wa", "visits", None),
    ],
)
def test_empty_heat_map_shows_a_hint_instead_of_a_scale(kind, heat, hint, monkeypatch):
    """At tick 0, where LRTA* has not looked ahead yet."""
    app = make_app(replace(setup(), agents=(AgentConfig(kind),)))
    app.window.settings.sidebar_tab = "layers"
    app.window.map_view.layer_state.set_heat_kind(heat)
    texts = [text for text, _ in written(app, monkeypatch)]
    assert [text for text in texts if text in tab_layers.EMPTY_HEAT_REASONS.values()] == ([hint] if hint else [])
    has_bar = any(spot.id == "band:0" for spot in app.window.canvas.hit_regions)
    assert has_bar == (hint is None), "a scale only for what is there"


def test_heat_scale_ends_at_the_largest_value_shown_even_after_a_seek():
    """Also after a jump back: a picture of a run does not depend on what was shown before."""
    app = make_app(setup())
    app.session.advance_by_ticks(10)
    app.window.map_view.layer_state.set_heat_kind("g")
    app.draw_window()
    late = app.window.map_view.heat_scale.upper_end
    app.session.seek_to_tick(2)
    app.draw_window()
    early = app.window.map_view.heat_scale.upper_end
    app.session.seek_to_tick(10)
    app.draw_window()
    assert early < late == app.window.map_view.heat_scale.upper_end


# --- parameters, panels, files ----------------------------------------------------------------------


def test_wheel_over_weight_chip_changes_the_weight(app):
    spot = app.window.canvas.hit_region_with_id("chip:0:weight")
    position = (spot.box[0] + 3, spot.box[1] + 3)
    pygame.event.post(pygame.event.Event(pygame.MOUSEWHEEL, y=1, x=0, pos=position))
    settle(app)
    assert app.session.run.world.walkers[0].params["weight"] == 1.2


def test_quitting_with_unsaved_edits_asks_first(app):
    drag(app, at_cell(app, 1, 1), at_cell(app, 1, 1))
    assert app.session.has_unsaved_edits
    press_combination(app, "Ctrl+Q")
    assert app.window.is_window_open and type(app.window.dialogs.current_dialog).__name__ == "UnsavedQuestion"
    press(app, pygame.K_ESCAPE)
    assert app.window.is_window_open and app.window.dialogs.current_dialog is None


@pytest.mark.parametrize("command", ["save_map_as", "save_scenario", "save_session", "export_csv"])
def test_failed_save_keeps_its_dialog_open_with_the_reason(app, tmp_path, command):
    app.window.settings.add_recent_file(tmp_path / "a.map")
    app.window.run_command(command)
    dialog = app.window.dialogs.current_dialog
    name = dialog.name = f"mine{dialog.suffix}"
    folder = tmp_path / f"gone{dialog.suffix}"
    folder.mkdir()
    dialog._save_and_close(folder)
    assert (
        app.window.dialogs.current_dialog is dialog
        and dialog.name == name
        and not app.window.ui_state.message_queue.queued_messages
    )
    assert str(folder) in dialog.problem and "cannot be written" in dialog.problem
    press(app, pygame.K_RETURN)
    assert (
        app.window.dialogs.current_dialog is None
        and (tmp_path / name).is_file()
        and "mine" in app.window.ui_state.message_queue.queued_message_texts()[-1]
    )


def test_failed_save_during_agent_editing_shows_a_message_box(app, tmp_path):
    app.session.path = tmp_path / "gone" / "a.map"
    app.window.run_command("edit_agent")
    app.window.run_command("save_map")
    assert (
        type(app.window.dialogs.current_dialog).__name__ == "MessageBox"
        and "cannot be written" in app.window.dialogs.current_dialog.problems[0]
    )


def test_dropped_map_file_is_opened(app, tmp_path):
    target = tmp_path / "small.map"
    target.write_text("type octile\nheight 3\nwidth 4\nmap\n....\n.@@.\n....\n")
    pygame.event.post(pygame.event.Event(pygame.DROPFILE, file=str(target)))
    settle(app)
    assert app.session.run.world.grid.width == 4
    assert len(app.session.run.world.walkers) == 4


def test_broken_file_shows_a_message_box_and_keeps_the_run(app, tmp_path):
    target = tmp_path / "broken.map"
    target.write_text("type octile\nheight 3\nwidth 4\nmap\n....\n.?@.\n....\n")
    before = app.session.run.world
    pygame.event.post(pygame.event.Event(pygame.DROPFILE, file=str(target)))
    settle(app)
    assert app.session.run.world is before
    assert type(app.window.dialogs.current_dialog).__name__ == "MessageBox"


@pytest.mark.parametrize("path", open_app_files(), ids=lambda p: p.stem)
def test_every_example_opens_and_runs(path):
    from ui.model import opened_files

    app = make_app(opened_files.open_any_file(path).scenario)
    app.session.advance_by_ticks(60)
    app.run_frame(0.016)
    assert app.session.tick >= 1


@pytest.mark.parametrize("path", open_app_files(), ids=lambda p: p.stem)
def test_example_caption_matches_its_view(path):
    from ui.model import opened_files

    opened = opened_files.open_any_file(path)
    caption, tab = opened.scenario.caption, opened.scenario.view.get("sidebar")
    assert "heat" not in caption.split() or opened.scenario.view.get("heat"), "there is no heat to look at"
    assert not tab or COMMAND_TABLE.first_key_of(f"tab_{tab}") not in caption, (
        "the key would close the tab that is open"
    )


# --- what panels say --------------------------------------------------------------------------------


def rendered_texts(app: App, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All texts of a frame as they come out, cut ones with their dots."""
    texts: list[str] = []
    render = app.window.canvas.font_cache.render_text

    def listen(text, *more):
        texts.append(text)
        return render(text, *more)

    monkeypatch.setattr(app.window.canvas.font_cache, "render_text", listen)
    app.draw_window()
    monkeypatch.undo()
    return texts


def test_budget_meter_keeps_the_budget_of_the_last_tick():
    app = make_app(setup(1, budget=16))
    app.session.advance_by_ticks(3)
    adjust_agent_budget(app.session, PanelKey(0, 0), -1)
    adjust_agent_budget(app.session, PanelKey(0, 0), -1)
    view = app.session.run.panels[0].walker_view
    assert view.budget == 4
    assert agent_panel.last_tick_expansions_and_budget(app.window.view_context, view) == (
        int(view.log_rows[-1].expanded),
        16,
    )
    app.session.advance_by_ticks(1)
    assert (
        agent_panel.last_tick_expansions_and_budget(app.window.view_context, app.session.run.panels[0].walker_view)[1]
        == 4
    )


def test_budget_meter_keeps_the_budget_of_the_last_tick_after_a_split():
    app = make_app(setup(1, budget=16))
    app.session.advance_by_ticks(3)
    branch_actions.split_into_variants(app.session, [{"budget": 2}, {"budget": 16}])
    assert [
        agent_panel.last_tick_expansions_and_budget(app.window.view_context, panel.walker_view)[1]
        for panel in app.session.run.panels
    ] == [
        16,
        16,
    ]


def test_panel_header_shows_label_and_algorithm_without_repetition(monkeypatch):
    agents = (AgentConfig("tb-wa", "sixteen"), AgentConfig("astar"), AgentConfig("rtb-wa", "RTB-WA* lazy"))
    app = make_app(replace(setup(), agents=agents), (1600, 900))
    texts = rendered_texts(app, monkeypatch)
    assert {"sixteen", "TB-WA*", "A*", "RTB-WA* lazy"} <= set(texts)
    assert texts.count("A*") == 1 and "RTB-WA*" not in texts
    app.window.settings.sidebar_tab = "compare"
    app.draw_window()
    assert app.window.canvas.hit_region_with_id("compare:0").tooltip.startswith("sixteen (TB-WA*)")


@pytest.mark.parametrize(("size", "least"), [((1600, 900), 6), ((1280, 720), 5)])
def test_eight_panels_show_the_most_important_metrics(size, least):
    app = make_app(setup(8, budget=1), size)
    app.session.advance_by_ticks(40)
    app.draw_window()
    wanted = ["moves", "back-moves", "cost / optimal", "revisits", "expanded", "cost"]
    for panel in app.window.map_view.shown_panels:
        assert all(app.window.canvas.hit_region_with_id(f"hud:{panel.key}:{name}") for name in wanted[:least])
        assert app.window.canvas.hit_region_with_id(f"meter:{panel.key}")


def test_back_move_share_is_shown_with_nonoptimal_moves():
    app = make_app(setup(1, budget=1))
    app.session.advance_by_ticks(40)
    view = app.session.run.panels[0].walker_view
    fields = {field.name: (field.value_text, field.tooltip) for field in agent_panel_numbers(view)}
    assert fields["back-moves"][0] == f"{view.metrics.back_moves}"
    share = f"{view.metrics.back_move_share:.0f}%"
    assert fields["non-optimal"][0] == f"{view.metrics.nonoptimal_moves}, {share} back"
    assert share in fields["non-optimal"][1]


@pytest.mark.parametrize("scale", [1.75, 2.0])
def test_state_words_are_not_truncated_at_large_scales(scale, monkeypatch):
    app = make_app(setup(3, budget=1), (1600, 900), scale=scale)
    for _ in range(30):
        app.session.advance_by_ticks(1)
        texts = rendered_texts(app, monkeypatch)
        for panel in app.window.map_view.shown_panels:
            assert app.window.canvas.hit_region_with_id(f"state:{panel.key}")
            assert (
                agent_panel.panel_texts.short_state_text(panel.walker_view.state_word) in texts
                or panel.walker_view.state_word in texts
            )


def test_every_panel_shows_its_number(monkeypatch):
    app = make_app(setup(8), theme="light")
    texts = rendered_texts(app, monkeypatch)
    assert {str(n) for n in range(1, 9)} <= set(texts)
    assert [
        app.window.view_context.tooltip_and_keys_of_region(app.window.canvas.hit_region_with_id(f"panel:{panel.key}"))[
            1
        ]
        for panel in app.window.map_view.shown_panels
    ] == [*"12345678"]


def test_duplicated_agent_gets_a_unique_label():
    app = make_app(replace(setup(), agents=(AgentConfig("tb-wa", "lazy"),)))
    for _ in range(3):
        press_combination(app, "D")
    assert [walker.label for walker in app.session.run.world.walkers] == ["lazy", "lazy 2", "lazy 3", "lazy 4"]
    assert next_free_label("w = 3", {"w = 3", "w = 3 (2)"}) == "w = 3 (3)"
    assert next_free_label("w = 3 (2)", {"w = 3", "w = 3 (2)"}) == "w = 3 (3)"


# --- messages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("agents", [0, 1, 4, 8])
@pytest.mark.parametrize(("size", "scale"), [((1280, 720), 1.0), ((1600, 900), 1.0), ((1600, 900), 2.0)])
def test_messages_do_not_cover_headers_huds_or_bars(agents, size, scale):
    app = make_app(setup(agents), size, scale=scale)
    for i in range(4):
        app.window.notify_user(
            f"message number {i}, long enough to need a line and a half where the window is small, as it may be"
        )
    plan = app.window.map_view.layout
    kept = [
        plan.top_bar,
        plan.transport_bar,
        *(box for panel in plan.panel_boxes for box in (panel.header_box, panel.hud_box)),
    ]
    before = [pygame.surfarray.array2d(app.window.surface.subsurface(box)) for box in kept]
    overlay.draw_messages(app.window.view_context, plan)
    for box, picture in zip(kept, before, strict=True):
        assert (pygame.surfarray.array2d(app.window.surface.subsurface(box)) == picture).all(), box
    left, top, width, height = overlay.message_area(plan)
    if plan.sidebar_box and agents:
        assert left + width <= plan.sidebar_box[0]
    if agents and height > 240 * scale:
        upper = (left, top, width, height // 2)
        before = pygame.surfarray.array2d(app.window.surface.subsurface(upper))
        overlay.draw_messages(app.window.view_context, plan)
        assert (pygame.surfarray.array2d(app.window.surface.subsurface(upper)) == before).all(), "the map is seen"


def test_repeated_message_is_shown_once(app):
    for text in ("one", "two", "one"):
        app.window.notify_user(text)
    app.session.user_messages.messages_until_next_edit.extend(["two", "two"])
    settle(app)
    assert app.window.ui_state.message_queue.queued_message_texts() == ["one", "two"]


def test_hidden_panels_are_counted_in_a_message():
    app = make_app(setup(3))
    app.session.advance_by_ticks(2)
    press_combination(app, "B")
    assert not any("hidden" in text for text in app.window.ui_state.message_queue.queued_message_texts())
    press_combination(app, "B")
    assert app.window.ui_state.message_queue.queued_message_texts()[-1].startswith("1 of 9 panels is hidden")
    press_combination(app, "B")
    assert app.window.ui_state.message_queue.queued_message_texts()[-1].startswith("4 of 12 panels are hidden")
    for place in (11, 0, 9, 5):
        app.session.focus_panel(app.session.run.panels[place].key)
        settle(app)
        keys = [panel.key for panel in app.window.map_view.shown_panels]
        assert app.session.focused_key in keys and len(keys) == 8, "nobody edits what is not to be seen"


# --- slow motion, cameras, captions -----------------------------------------------------------------


@pytest.mark.parametrize("size", [(800, 600), (1280, 720)])
def test_slow_motion_reports_a_window_too_narrow_for_pseudocode(size):
    app = make_app(setup(1), size, scale=1.5)
    press_combination(app, "S")
    settle(app)
    has_room = app.window.map_view.layout.sidebar_box is not None
    assert has_room == (size[0] > 800)
    assert any(
        "too narrow for the pseudocode" in text for text in app.window.ui_state.message_queue.queued_message_texts()
    ) == (not has_room)


@pytest.mark.parametrize(("scale", "can_be_smaller"), [(2.0, True), (0.75, False)])
def test_window_too_narrow_for_sidebar_suggests_a_smaller_scale(scale, can_be_smaller):
    app = make_app(setup(1), (320, 400), scale=scale)
    press_combination(app, "F3")
    settle(app)
    text = next(
        text
        for text in app.window.ui_state.message_queue.queued_message_texts()
        if "too narrow for the sidebar" in text
    )
    assert ("Ctrl+Shift+- reduces it" in text) == can_be_smaller


def test_slow_motion_shows_its_expansion_number(monkeypatch):
    app = make_app(setup(1, budget=16))
    for n in (1, 2, 3):
        press_combination(app, "Ctrl+.")
        view = app.session.run.panels[0].walker_view
        most = int(view.log_rows[-1].expanded)
        assert most > 3
        assert agent_panel.last_tick_expansions_and_budget(app.window.view_context, view) == (n, 16)
        drawn = rendered_texts(app, monkeypatch)
        assert f"expansion {n} of {most}" in drawn and any(text.startswith(f"{n} of 16") for text in drawn)


def test_follow_mode_moves_the_camera_only_if_the_map_does_not_fit(app):
    panel, boxes = app.window.map_view.panels_with_boxes()[0]
    still = app.window.map_view.camera_of_panel(panel.key, boxes)
    press_combination(app, "C")
    assert app.window.map_view.camera_of_panel(panel.key, boxes) == still
    for _ in range(8):
        press_combination(app, "Ctrl+=")
    camera = app.window.map_view.camera_of_panel(panel.key, boxes)
    x, y = app.session.run.world.grid.xy(panel.walker_view.position)
    assert camera.px_to_map(boxes.map_box[2] / 2, boxes.map_box[3] / 2) == pytest.approx((x + 0.5, y + 0.5))


def test_click_on_title_or_caption_shows_the_full_caption():
    caption = "A long caption. " * 20
    app = make_app(setup(caption=caption), (1600, 900))
    for name in ("title", "caption"):
        x, y, width, height = app.window.canvas.hit_region_with_id(name).box
        drag(app, (x + width // 2, y + height // 2), (x + width // 2, y + height // 2))
        assert type(
            app.window.dialogs.current_dialog
        ).__name__ == "MessageBox" and app.window.dialogs.current_dialog.problems == [caption]
        press_combination(app, "F8")
        assert app.window.dialogs.current_dialog is None, "the key that opens it closes it"


# --- nothing overlaps -------------------------------------------------------------------------------


def overlap_partially(a, b) -> bool:
    """Two boxes that overlap without one holding the other."""
    if not (a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]):
        return False
    return not (inside(a, b) or inside(b, a))


def inside(a, b) -> bool:
    return b[0] <= a[0] and b[1] <= a[1] and a[0] + a[2] <= b[0] + b[2] and a[1] + a[3] <= b[1] + b[3]


@pytest.mark.parametrize("size", [(1280, 720), (1600, 900), (3840, 2160)])
@pytest.mark.parametrize("scale", [0.75, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("agents", [1, 4, 8])
@pytest.mark.parametrize("tab", ["layers", "edit", "inspect", "compare", "time"])
def test_controls_do_not_overlap_or_leave_the_window(size, scale, agents, tab):
    app = make_app(setup(agents, caption="A caption that is long enough to need cutting somewhere"), size, scale=scale)
    app.window.settings.sidebar_tab = tab
    app.window.ui_state.cell_cursor = (8, 4)
    app.session.advance_by_ticks(30)
    app.draw_window()
    window = (0, 0, *size)
    for spot in app.window.canvas.hit_regions:
        assert inside(spot.box, window), spot
    for a, b in combinations(app.window.canvas.hit_regions, 2):
        assert not overlap_partially(a.box, b.box), (a.id, a.box, b.id, b.box)


# --- what is never left out -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "scale"),
    [((800, 600), 1.0), ((800, 600), 1.25), ((1280, 720), 2.0), ((1280, 720), 1.5), ((3840, 2160), 2.0)],
)
def test_open_button_and_scrubber_work_in_narrow_windows(size, scale):
    app = make_app(setup(), size, scale=scale)
    app.session.advance_by_ticks(30)
    app.draw_window()
    bar, opener = (app.window.canvas.hit_region_with_id(name) for name in ("scrubber", "top:open"))
    assert opener is not None and bar is not None and bar.box[2] >= 150 * scale
    x, y, width, height = bar.box
    drag(app, (x + width - 20, y + height // 2), (x + 1, y + height // 2))
    assert app.session.tick == 0
    drag(app, (opener.box[0] + 5, opener.box[1] + 5), (opener.box[0] + 5, opener.box[1] + 5))
    assert type(app.window.dialogs.current_dialog).__name__ == "OpenFileDialog"


@pytest.mark.parametrize("size", [(1280, 720), (1600, 900), (1920, 1080)])
def test_differing_parameter_is_the_first_chip_and_always_visible(size, monkeypatch):
    agents = tuple(AgentConfig("tb-wa", params={"weight": w, "reopen": True}) for w in (1.1, 1.2, 1.3, 1.4))
    app = make_app(replace(setup(), agents=agents), size)
    texts = rendered_texts(app, monkeypatch)
    assert {"w 1.1", "w 1.2", "w 1.3", "w 1.4"} <= set(texts)
    for panel in app.window.map_view.shown_panels:
        chips = [spot for spot in app.window.canvas.hit_regions if spot.id.startswith(f"chip:{panel.key}:")]
        assert min(chips, key=lambda spot: spot.box[0]).id == f"chip:{panel.key}:weight"


def test_chips_and_hud_values_keep_their_position_while_states_change():
    app = make_app(setup(3, budget=1), (1280, 720))
    places: dict[str, set[tuple[int, int]]] = {}
    states = set()
    for _ in range(60):
        app.session.advance_by_ticks(1)
        app.draw_window()
        states |= {panel.walker_view.state_word for panel in app.session.run.panels}
        for spot in app.window.canvas.hit_regions:
            if spot.id.startswith(("chip:", "hud:")) and spot.id.split(":")[2] in ("budget", "weight", "moves"):
                places.setdefault(spot.id, set()).add(spot.box[:2])
    assert len(states) > 2 and places
    assert all(len(found) == 1 for found in places.values())


def test_cost_ratio_is_labelled_so_far_until_arrival(monkeypatch):
    app = make_app(setup(1, budget=16), (1920, 1080))
    app.session.advance_by_ticks(5)
    assert "cost / optimal so far" in rendered_texts(app, monkeypatch)
    app.session.advance_by_ticks(10_000)
    texts = rendered_texts(app, monkeypatch)
    assert "cost / optimal" in texts and "cost / optimal so far" not in texts


def test_cost_ratio_stays_labelled_so_far_if_there_is_no_path(monkeypatch):
    """An agent that had proved that there is no path, and never moved, had 0.00: better than the cheapest way."""
    grid = Grid.from_text_rows(["..@.", "..@.", "..@."])
    app = make_app(scenario_on(grid, 0, grid.cell(3, 0), (AgentConfig("astar"),), budget=50), (1920, 1080))
    app.session.advance_by_ticks(100)
    assert app.session.run.panels[0].walker_view.status == Status.NO_PATH
    texts = rendered_texts(app, monkeypatch)
    assert "cost / optimal so far" in texts and "cost / optimal" not in texts


# --- hands that never doubt -------------------------------------------------------------------------


def colours_around(app: App, position: tuple[int, int], reach: int = 6) -> set[tuple[int, ...]]:
    x, y = position
    surface = app.window.surface
    return {tuple(surface.get_at((x + i, y + j)))[:3] for i in range(-reach, reach) for j in range(-reach, reach)}


@pytest.mark.parametrize("end", ["start", "goal"])
def test_dragging_start_or_goal_to_a_blocked_cell_changes_nothing(app, end):
    world = app.session.run.world
    begin = world.grid.xy(getattr(world, end))
    blocked = world.grid.xy(int(np.flatnonzero(~world.grid.free_mask)[0]))
    log, digest = len(user_commands(app.session.run.focused_branch_timeline)), world.compute_digest()
    drag(app, at_cell(app, *begin), at_cell(app, *blocked), release=False)
    hand = app.mouse_dispatcher.tool_preview(app.session.run.panels[0])
    assert (
        hand.dragged_marker is not None
        and hand.dragged_marker.is_refused
        and hand.dragged_marker.cell == world.grid.cell(*blocked)
    )
    assert RED in colours_around(app, at_cell(app, *blocked))
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONUP, button=1, pos=at_cell(app, *blocked)))
    settle(app)
    assert (
        len(user_commands(app.session.run.focused_branch_timeline)) == log
        and app.session.run.world.compute_digest() == digest
    )
    assert "cannot be" in app.window.ui_state.message_queue.queued_message_texts()[-1]
    assert RED not in colours_around(app, at_cell(app, *blocked))


def test_focusing_click_does_not_paint_but_a_drag_does():
    app = make_app(setup(2))
    free = app.session.run.world.grid.free_mask.copy()
    place = at_cell(app, 8, 6, panel=1)
    drag(app, place, place)
    assert app.session.focused_key == PanelKey(0, 1) and (app.session.run.world.grid.free_mask == free).all()
    drag(app, place, place)
    assert (app.session.run.world.grid.free_mask != free).sum() == 1, "the second click is no choice any more"
    press_combination(app, "Ctrl+Z")
    drag(app, at_cell(app, 5, 6, panel=0), at_cell(app, 9, 6, panel=0))
    assert app.session.focused_key == PanelKey(0, 0) and (app.session.run.world.grid.free_mask != free).sum() > 2


def test_tool_shortcuts_are_shown_only_in_edit_mode(monkeypatch):
    app = make_app(setup(1), (1600, 900))
    app.window.settings.sidebar_tab = "edit"
    assert not {"B", "E", "L", "R", "F"} & set(rendered_texts(app, monkeypatch))
    press_combination(app, "M")
    assert {"E", "L", "R", "F"} <= set(rendered_texts(app, monkeypatch))


def run_frames_until(app, is_so):
    """A real screen answers when it likes; the time allowed is only a limit."""
    for _ in range(200):
        settle(app)
        if is_so():
            return
        pygame.time.wait(10)
    raise AssertionError("it never came to that")


def test_leaving_full_screen_restores_the_window_size():
    pygame.display.quit()  # a window that another test has left in full screen remembers a size of its own
    app = make_app(setup(1), (1111, 699))
    app.window.toggle_full_screen()
    run_frames_until(app, lambda: app.window.surface.get_size() != (1111, 699))
    app.window.copy_window_state_to_settings()  # as it happens all the time
    app.window.toggle_full_screen()
    run_frames_until(app, lambda: app.window.surface.get_size() == (1111, 699))
    assert app.window.surface.get_size() == app.window.settings.window_size == (1111, 699)


def test_mouse_cursor_matches_the_hovered_action(monkeypatch):
    app = make_app(setup(1), (1280, 720))
    app.window.settings.sidebar_tab = "edit"
    place = [(0, 0)]
    monkeypatch.setattr(pygame.mouse, "get_pos", lambda: place[0])
    shown = []
    monkeypatch.setattr(pygame.mouse, "set_cursor", shown.append)
    app.draw_window()  # away from where other tests have left the mouse: a shape is set when it changes

    def over(position: tuple[int, int]) -> int:
        place[0] = position
        pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=position, rel=(0, 0), buttons=(0, 0, 0)))
        settle(app)
        return shown[-1]

    def middle(name: str) -> tuple[int, int]:
        x, y, width, height = app.window.canvas.hit_region_with_id(name).box
        return x + width // 2, y + height // 2

    assert over(at_cell(app, 8, 6)) == pygame.SYSTEM_CURSOR_CROSSHAIR
    assert over(at_cell(app, *app.session.run.world.grid.xy(app.session.run.world.goal))) == pygame.SYSTEM_CURSOR_HAND
    assert over(middle("scrubber")) == pygame.SYSTEM_CURSOR_SIZEWE
    assert over(middle("top:open")) == pygame.SYSTEM_CURSOR_HAND
    assert over((2, 300)) == pygame.SYSTEM_CURSOR_ARROW


def test_click_on_a_switch_name_on_the_map_flips_the_switch(monkeypatch):
    app = make_app(opened_files.open_any_file(ROOT / "assets" / "scenarios" / "bridges.yaml").scenario, (1600, 900))
    names = list(app.session.run.world.switch_states())
    assert set(names) <= set(rendered_texts(app, monkeypatch))
    key = app.session.run.panels[1].key
    x, y, _, height = app.window.canvas.hit_region_with_id(f"bridge:{key}:{names[0]}").box
    free = int(app.session.run.world.grid.free_mask.sum())
    drag(app, (x + 3, y + height // 2), (x + 3, y + height // 2))
    assert app.session.run.world.switch_states()[names[0]] and int(app.session.run.world.grid.free_mask.sum()) < free
    app.window.settings.sidebar_tab = "edit"
    app.draw_window()
    x, y = app.window.canvas.hit_region_with_id(f"switch:{names[1]}").box[:2]
    monkeypatch.setattr(pygame.mouse, "get_pos", lambda: (x + 5, y + 5))
    settle(app)
    assert app.window.ui_state.hovered_switch == names[1]


def test_marked_tick_range_is_drawn_on_the_scrubber(app):
    app.session.advance_by_ticks(30)
    app.window.player.pause_and_seek(10)
    press_combination(app, "I")
    app.window.player.pause_and_seek(20)
    press_combination(app, "Shift+I")
    bar = app.window.canvas.hit_region_with_id("scrubber").box
    x, y, width, height = bar
    places = [(x + i, y + j) for i in range(width) for j in range(height)]
    row = [tuple(app.window.surface.get_at(place))[:3] for place in places]
    assert app.window.map_view.palette.arrived in row


# --- charts -----------------------------------------------------------------------------------------


def make_comparing_app(size: tuple[int, int] = (1600, 900)) -> App:
    app = make_app(setup(2, budget=1), size)
    app.window.settings.sidebar_tab = "compare"
    app.session.advance_by_ticks(60)
    for _ in range(30):  # distances are measured a little in each frame
        app.run_frame(0.0)
    return app


def test_click_on_a_chart_seeks_and_moves_the_playhead():
    app = make_comparing_app()
    x, y, width, height = app.window.canvas.hit_region_with_id("chart:cost").box
    x, width = x + charts.GRID_LABEL_WIDTH, width - charts.GRID_LABEL_WIDTH
    drag(app, (x + 2, y + height // 2), (x + width // 2, y + height // 2))
    assert abs(app.session.tick - app.session.run.recorded_end_tick / 2) <= 1
    app.draw_window()
    column = [tuple(app.window.surface.get_at((x + width // 2, y + j)))[:3] for j in range(height)]
    near = [tuple(app.window.surface.get_at((x + width // 2 + i, y + 30)))[:3] for i in range(-4, 5)]
    assert app.window.map_view.palette.text in column + near


@pytest.mark.parametrize("agents", [2, 8])
def test_chart_axis_labels_do_not_overlap(agents, monkeypatch):
    app = make_app(setup(agents), (1280, 800))
    app.window.settings.sidebar_tab = "compare"
    app.session.advance_by_ticks(200)
    app.draw_window()
    numbers, canvas = [], app.window.canvas
    write = type(canvas).draw_text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            type(canvas), "draw_text", lambda *a, **k: (k.get("size") == 11 and numbers.append(a[1])) or write(*a, **k)
        )
        app.draw_window()
    plots = [s.box for s in canvas.hit_regions if s.id.startswith("chart:")]
    assert len(numbers) >= len(plots)
    for x, y, _, height in plots:
        here = sorted(at for right, at in numbers if y <= at < y + height and right == x + charts.GRID_LABEL_WIDTH - 5)
        assert here and all(b - a >= 14 for a, b in pairwise(here))


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_round_axis_values_respect_the_maximum_count(most):
    for top in (0.31, 1.0, 4.99, 7.65, 61.4, 1416.0, 9_999_999.0):
        values = charts.grid_line_values(top, most)
        assert 1 <= len(values) <= most and values[-1] <= top
        assert len(values) == 1 or values[0] >= top / most


def test_charts_show_the_hovered_tick(monkeypatch):
    app = make_comparing_app()
    x, y, width, height = app.window.canvas.hit_region_with_id("chart:expansions").box
    monkeypatch.setattr(pygame.mouse, "get_pos", lambda: (x + width // 2, y + height // 2))
    texts = rendered_texts(app, monkeypatch)
    assert any(text.startswith("tick ") and text != f"tick {app.session.tick:,}" for text in texts)


def test_charts_and_inspector_use_each_agents_own_goal():
    grid = setup().grid
    lone = AgentConfig("tb-wa", start=(3, 3), goal=(12, 3))
    app = make_app(replace(setup(1), agents=(AgentConfig("tb-wa"), lone)), (1600, 900))
    app.window.settings.sidebar_tab = "compare"
    app.session.advance_by_ticks(200)
    for _ in range(60):
        app.run_frame(0.0)
    walker = app.session.run.world.walkers[1]
    assert walker.has_arrived
    lines = {chart.key: charts.chart_lines(app.window.view_context, chart)[1].values for chart in charts.TICK_CHARTS}
    assert lines["cost"][-1] == pytest.approx(app.session.run.world.metrics_of_walker(walker).suboptimality)
    assert lines["distance"][-1] == 0.0
    assert lines["distance"][0] == pytest.approx(cheapest_path_cost(grid, walker.start, walker.own_goal))
    cell = grid.cell(14, 5)
    told = [app.window.view_context.true_distance_to_goal(panel, cell) for panel in app.session.run.panels]
    assert told == [cheapest_path_cost(grid, cell, goal) for goal in (app.session.run.world.goal, walker.own_goal)]


def test_cost_chart_shows_the_current_trial():
    app = make_app(replace(setup(1), agents=(AgentConfig("lrta"),), trials=5), (1600, 900))
    for _ in range(40):
        app.session.advance_by_ticks(20)
        chart = next(chart for chart in charts.TICK_CHARTS if chart.key == "cost")
        app.run_frame(0.0)
        line, shown = (
            charts.chart_lines(app.window.view_context, chart)[0],
            app.session.run.panels[0].walker_view.metrics,
        )
        assert line.values[-1] == pytest.approx(shown.suboptimality)
    assert shown.trial > 1


def test_distance_chart_shows_true_distances():
    app = make_comparing_app()
    chart = next(chart for chart in charts.TICK_CHARTS if chart.key == "distance")
    line = charts.chart_lines(app.window.view_context, chart)[0]
    world, trail = app.session.run.world, app.session.run.trail_by_panel[FIRST_PANEL]
    for cell, value in list(zip(trail.cells.tolist(), line.values.tolist(), strict=True))[::7]:
        assert value == pytest.approx(world.optimality_tracker.true_distances.cost(cell))
    assert (np.diff(line.values) > 0).any() or not (trail.marks & log.BACK_MOVE).any()


@pytest.mark.parametrize("suffix", [".svg", ".png", ".csv"])
def test_charts_can_be_saved_as_svg_png_and_csv(tmp_path, suffix):
    app = make_comparing_app()
    app.window.settings.add_recent_file(tmp_path / "any.map")
    press_combination(app, "Ctrl+Shift+E")
    dialog = app.window.dialogs.current_dialog
    next(control for control in dialog.controls if getattr(control, "label", "") == suffix[1:].upper()).press_button()
    press(app, pygame.K_RETURN)
    (path,) = tmp_path.glob(f"*{suffix}")
    data = path.read_bytes()
    assert len(data) > 500
    if suffix == ".csv":
        rows = data.decode().splitlines()
        assert rows[0] == "chart,panel,agent,tick,value" and len(rows) > 4 * 60


def test_letters_typed_in_the_agent_editor_trigger_no_commands():
    app = make_app(setup(1))
    app.window.run_command("edit_agent")
    dialog = app.window.dialogs.current_dialog
    field = next(control for control in dialog.controls if isinstance(control, TextField))
    dialog.focus_control(field)
    field.set_text("")
    for letter in "3":
        press(app, getattr(pygame, f"K_{letter}"), unicode=letter)
        pygame.event.post(pygame.event.Event(pygame.TEXTINPUT, text=letter))
        settle(app)
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is dialog and dialog.focused_control is field
    tick, theme = app.session.tick, app.window.settings.theme
    press(app, pygame.K_t, unicode="t")
    press(app, pygame.K_PERIOD, unicode=".")
    assert (app.session.tick, app.window.settings.theme) == (tick, theme)


# --- menus ------------------------------------------------------------------------------------------


def test_right_click_on_a_cell_opens_its_menu(app):
    world = app.session.run.world
    free = world.grid.free_mask.copy()
    click(app, at_cell(app, 8, 6), button=3)
    assert (
        app.window.ui_state.context_menu.title == "Cell (8, 6)" and (app.session.run.world.grid.free_mask == free).all()
    )
    choose(app, "Move the goal here")
    assert app.window.ui_state.context_menu is None and app.session.run.world.goal == world.grid.cell(8, 6)
    click(app, at_cell(app, 9, 7), button=3)
    choose(app, "Pin this cell in the inspector")
    assert app.window.ui_state.pinned_cell == (9, 7)


def test_click_outside_a_menu_only_closes_it(app):
    free = app.session.run.world.grid.free_mask.copy()
    click(app, at_cell(app, 8, 6), button=3)
    click(app, at_cell(app, 2, 9))
    assert app.window.ui_state.context_menu is None and (app.session.run.world.grid.free_mask == free).all()
    click(app, at_cell(app, 8, 6), button=3)
    press_combination(app, "Escape")
    assert app.window.ui_state.context_menu is None


def test_agent_menu_opens_by_right_click_and_by_key():
    app = make_app(setup(2))
    app.draw_window()
    click(app, middle_of(app, f"panel:{PanelKey(0, 1)}"), button=3)
    assert app.window.ui_state.context_menu.title == app.session.run.panels[1].walker_view.label
    choose(app, "Duplicate the focused agent")
    assert len(app.session.run.panels) == 3
    press_combination(app, "Menu")
    menu = app.window.ui_state.context_menu
    for _ in range([item.label for item in menu.items].index("Remove the focused agent")):
        press(app, pygame.K_DOWN)
    press(app, pygame.K_RETURN)
    assert app.window.ui_state.context_menu is None and len(app.session.run.panels) == 2


def test_scrubber_has_a_context_menu(app):
    app.session.advance_by_ticks(30)
    app.draw_window()
    x, y, width, height = app.window.canvas.hit_region_with_id("scrubber").box
    click(app, (x + width // 2, y + height - 8), button=3)
    tick = int(app.window.ui_state.context_menu.title.removeprefix("Tick "))
    assert abs(tick - app.session.run.recorded_end_tick / 2) <= 1
    choose(app, "Create a branch at the current tick")
    assert [branch.first_differing_tick for branch in app.session.run.branch_tree.branches.values()][-1] == tick


def test_script_marker_can_be_dragged_and_has_a_context_menu(app):
    app.session.advance_by_ticks(10)
    drag(app, at_cell(app, 5, 9), at_cell(app, 8, 9))
    app.session.advance_by_ticks(20)
    app.draw_window()
    (deed,) = [deed for deed in script_entries.script_entries(app.session.run) if deed.tick == 10]
    begin = middle_of(app, f"mark:{deed.first_log_entry_id}")
    x, _, width, _ = app.window.ui_state.time_line_rect
    drag(app, begin, (x + width // 2, begin[1]))
    moved = script_entries.script_entries(app.session.run)[-1]
    assert moved.tick > 12 and app.window.ui_state.dragged_script_entry is None
    app.window.settings.sidebar_tab = "time"
    app.draw_window()
    click(
        app,
        middle_of(app, f"deed_text:{script_entries.script_entries(app.session.run)[-1].first_log_entry_id}"),
        button=3,
    )
    choose(app, "Delete")
    assert not [deed for deed in script_entries.script_entries(app.session.run) if deed.tick == moved.tick]


# --- settings ---------------------------------------------------------------------------------------


def test_rebound_command_ignores_its_old_key(app):
    press_combination(app, "Ctrl+,")
    dialog = app.window.dialogs.current_dialog
    ids = [command.id for command in app.window.command_table]
    dialog.command_key_list.select_row(ids.index("step"))
    dialog.focus_control(dialog.command_key_list)
    press(app, pygame.K_RETURN)
    press_combination(app, "T")
    assert (
        "Switch between dark and light theme" in dialog.problem
        and app.window.command_table["step"].keys == COMMAND_TABLE["step"].keys
    )
    press(app, pygame.K_RETURN)
    press_combination(app, "Alt+F9")
    assert (
        app.window.settings.keys == {"step": "Alt+F9"}
        and app.window.view_context.shortcut_of_command("step") == "Alt+F9"
    )
    press_combination(app, "Escape")
    tick = app.session.tick
    press_combination(app, ".")
    assert app.session.tick == tick
    press_combination(app, "Alt+F9")
    assert app.session.tick == tick + 1
    app.window.assign_keys_to_command("step", None)
    press_combination(app, ".")
    assert app.session.tick == tick + 2 and COMMAND_TABLE["step"].keys[0] == "."


def test_rebound_keys_are_saved_and_work_after_restart(tmp_path):
    kept = Settings(keys={"step": "Alt+F9"})
    assert save_settings(kept, tmp_path / "settings.yaml") is None
    read, complaint = load_settings(tmp_path / "settings.yaml")
    assert complaint is None and read.keys == kept.keys
    app = App(Session(setup(1)), read, pygame.display.set_mode((1280, 720)))
    press_combination(app, "Alt+F9")
    assert app.session.tick == 1


def test_theme_and_scale_apply_while_the_settings_dialog_is_open(app):
    press_combination(app, "Ctrl+,")
    dialog = app.window.dialogs.current_dialog
    choice = next(control for control in dialog.controls if control.name == "theme ChoiceControl")
    choice.choose_value("light")
    app.run_frame(0.1)
    assert app.window.map_view.palette.name == "light" and app.window.dialogs.current_dialog is dialog
    app.window.settings.ui_scale = 1.5
    app.window.apply_settings()
    app.run_frame(0.1)
    assert app.window.map_view.px_per_unit == 1.5 and app.window.dialogs.current_dialog is dialog


def test_switch_label_of_a_closed_run_does_nothing(app):
    bridges = opened_files.open_any_file(ROOT / "assets" / "scenarios" / "bridges.yaml").scenario
    app.window.document_opener.open_scenario(bridges)
    app.draw_window()
    spots = [spot for spot in app.window.canvas.hit_regions if spot.id.startswith("bridge:")]
    app.session.open_scenario(setup())
    digest = app.session.run.world.compute_digest()
    for spot in spots:
        spot.on_click()
    assert spots and app.session.run.world.compute_digest() == digest


# --- names ------------------------------------------------------------------------------------------


def test_renaming_an_agent_applies_to_every_tick():
    app = make_app(setup(2))
    key = app.session.run.panels[1].key
    app.session.advance_by_ticks(5)
    settle(app)
    x, y, _, height = app.window.canvas.hit_region_with_id(f"name:{key}").box
    drag(app, (x + 3, y + height // 2), (x + 3, y + height // 2))
    dialog = app.window.dialogs.current_dialog
    assert type(dialog).__name__ == "TextPrompt" and dialog.text == app.session.run.panels[1].walker_view.label
    digest = app.session.run.world.compute_digest()
    dialog.text = "hasty"
    press(app, pygame.K_RETURN)
    assert [panel.walker_view.label for panel in app.session.run.panels][1] == "hasty"
    assert app.session.run.world.compute_digest() == digest, "a name changes nothing that happens"
    app.session.seek_to_tick(2)
    assert app.session.run.panels[1].walker_view.label == "hasty", "also before it was given"
    assert current_agent_configs(app.session.run)[1].label == "hasty"
    app.session.seek_to_tick(5)
    press_combination(app, "Ctrl+Z")
    assert app.session.run.panels[1].walker_view.label == "TB-WA*"


def test_agent_name_survives_saving_and_loading(tmp_path):
    app = make_app(setup(2))
    agent_edits.rename_agent(app.session, app.session.run.panels[0].key, "w: 1")
    saved = session_saving.save_session(app.session, tmp_path / "s.yaml", {})
    opened = opened_files.open_any_file(saved)
    again = make_app(opened.scenario)
    session_saving.restore_session(again.session, opened.saved_session, saved)
    assert again.session.run.panels[0].walker_view.label == "w: 1"
    place = opened_files.save_session_scenario(app.session, tmp_path / "b.yaml")
    assert load_scenario(place, AGENT_SPECS_BY_KEY).agents[0].label == "w: 1"


def test_narrow_header_shows_differing_parameter_instead_of_shared_name(monkeypatch):
    agents = tuple(AgentConfig("tb-wa", params={"weight": w}) for w in (1.1, 1.2, 1.3, 1.4))
    app = make_app(replace(setup(), agents=agents), (800, 600), scale=1.75)
    assert {"w 1.1", "w 1.2", "w 1.3", "w 1.4"} <= set(rendered_texts(app, monkeypatch))


def test_unique_label_is_not_truncated_for_a_redundant_chip(monkeypatch):
    agents = tuple(AgentConfig("tb-wa", f"w = {w}", {"weight": w}) for w in (1.0, 1.8, 3.0, 4.0))
    app = make_app(replace(setup(), agents=agents), (700, 420))
    assert {"w = 1.0", "w = 1.8", "w = 3.0", "w = 4.0"} <= set(rendered_texts(app, monkeypatch))


def test_disabled_buttons_have_no_action_and_give_a_reason(app):
    spots = app.window.canvas
    app.window.settings.sidebar_tab = "time"
    app.draw_window()
    for name, reason in (("time:delete_branch", "only one branch"), ("time:compare_branch", "no parent")):
        assert spots.hit_region_with_id(name).on_click is None and reason in tooltip_of(app, name)
    assert spots.hit_region_with_id("transport:step_back").on_click is None
    press_combination(app, "B")
    app.session.advance_by_ticks(1)
    app.draw_window()
    for name in ("time:delete_branch", "time:compare_branch", "transport:step_back"):
        assert spots.hit_region_with_id(name).on_click is not None


@pytest.mark.parametrize("size", [(1400, 800), (1000, 700)])
@pytest.mark.parametrize("panel", [0, 1])
@pytest.mark.parametrize("has_sidebar", [True, False])
def test_agent_editor_does_not_cover_the_edited_panel(size, panel, has_sidebar):
    app = make_app(setup(2), size)
    app.window.settings.shows_sidebar = has_sidebar
    app.session.focus_panel(app.session.run.panels[panel].key)
    app.window.run_command("edit_agent")
    whole = app.window.map_view.panels_with_boxes()[panel][1].panel_box
    assert not app.window.dialogs.current_dialog.card_rect.colliderect(whole)


def test_switch_labels_do_not_overlap(app):
    for n in range(3):
        app.session.submit_command(DefineSwitch(f"door {n}", (app.session.run.world.grid.cell(10, 10 - n),)))
    app.draw_window()
    boxes = [pygame.Rect(s.box) for s in app.window.canvas.hit_regions if s.id.startswith(f"bridge:{FIRST_PANEL}:")]
    assert len(boxes) == 5
    assert all(not a.colliderect(b) for a, b in combinations(boxes, 2))


@pytest.mark.parametrize(
    ("agents", "size"), [(3, (1280, 800)), (8, (1280, 800)), (3, (800, 600)), (8, (800, 600)), (4, (1920, 1080))]
)
@pytest.mark.parametrize("label", ["", "a name of forty characters, as it may be"])
def test_state_word_fits_next_to_any_label(agents, size, label):
    configs = tuple(AgentConfig("tb-wa", label, {"weight": 1.0 + i}) for i in range(agents))
    app = make_app(replace(setup(), agents=configs), size)
    canvas = app.window.canvas
    for word in ("waiting", "arrived", "walking back"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Walker, "state_word", word)
            app.session.advance_by_ticks(1)
            app.draw_window()
        least = canvas.text_width(agent_panel.panel_texts.short_state_text(word), 12)
        for panel in app.window.map_view.shown_panels:
            state = canvas.hit_region_with_id(f"state:{panel.key}")
            assert state is not None and state.box[2] > least
            assert canvas.hit_region_with_id(f"name:{panel.key}") or canvas.hit_region_with_id(
                f"chip:{panel.key}:weight"
            )


def test_shared_label_is_shown_with_the_differing_parameter(monkeypatch):
    configs = tuple(AgentConfig("tb-wa", "my_agent.py", {"weight": 1.0 + i}) for i in range(8))
    app = make_app(replace(setup(), agents=configs), (1280, 800))
    texts = rendered_texts(app, monkeypatch)
    assert sum(text.startswith("my_") for text in texts) == 8 and "w 8" in texts


@pytest.mark.parametrize("start", [(0, 0), (0, 11), (23, 0), (23, 11)])
@pytest.mark.parametrize("size", [(1280, 720), (800, 600)])
def test_branch_label_does_not_cover_start_goal_or_agent(start, size):
    goal = (23 - start[0], start[1])
    app = make_app(replace(setup(), start=start, goal=goal), size)
    app.window.run_command("branch")
    app.window.run_command("branch")
    for _ in range(12):
        app.session.advance_by_ticks(1)
        app.draw_window()
        for place, (panel, boxes) in enumerate(app.window.map_view.panels_with_boxes()):
            chip = pygame.Rect(app.window.canvas.hit_region_with_id(f"branch_of:{panel.key}").box)
            assert pygame.Rect(boxes.map_box).contains(chip)
            grid = app.session.run.world.grid
            for cell in (panel.walker_view.start, panel.walker_view.goal, panel.walker_view.position):
                assert not chip.collidepoint(at_cell(app, *grid.xy(cell), place)), (chip, grid.xy(cell))


@pytest.mark.parametrize(
    ("size", "scale"), [((800, 600), 1.0), ((800, 600), 1.25), ((640, 480), 1.0), ((760, 600), 1.0)]
)
def test_small_window_shows_all_run_until_buttons_and_mark_names(size, scale, monkeypatch):
    app = make_app(setup(), size, scale=scale)
    texts = rendered_texts(app, monkeypatch)
    assert all(
        app.window.canvas.hit_region_with_id(f"transport:{command}") for command in transport_bar.RUN_UNTIL_COMMANDS
    )
    assert {"edit", "restart", "back-move", "no path", "arrival"} <= set(texts)


def test_messages_about_the_run_disappear_after_the_next_edit(app):
    def told() -> list[str]:
        settle(app)
        return app.window.ui_state.message_queue.current_message_texts(app.session.undo_history.action_count)

    press_combination(app, "B")
    assert "begins at tick" in told()[-1]
    press_combination(app, "Shift+1")
    assert len(told()) == 1 and "door blocked" in told()[-1]
    app.window.notify_user("saved a picture")
    assert len(told()) == 2
    press_combination(app, "Ctrl+Z")
    assert [text.split(":")[0] for text in told()] == ["saved a picture", "Undid"]
    press_combination(app, "Ctrl+Y")
    assert [text.split(":")[0] for text in told()] == ["saved a picture", "Redid"]
    cell_edits.block_or_free_cells(app.session, [app.session.run.world.goal], block=True)
    assert any("the goal is blocked" in text for text in told())
    cell_edits.block_or_free_cells(app.session, [app.session.run.world.goal], block=False)
    assert told() == ["saved a picture"]


def test_message_area_does_not_overlap_side_huds():
    plan = lay_out_window((1280, 800), 1.0, 4, map_size=(64, 64))
    assert plan.panel_boxes[0].has_side_hud
    area = pygame.Rect(overlay.message_area(plan))
    assert not any(area.colliderect(panel.hud_box) or area.colliderect(panel.header_box) for panel in plan.panel_boxes)


@pytest.mark.parametrize("tab", ["layers", "compare", "edit", "time", "inspect"])
def test_sidebar_content_does_not_overlap_its_scroll_bar(tab):
    app = make_app(setup(8), (1280, 600))
    app.session.advance_by_ticks(60)
    app.window.settings.sidebar_tab = tab
    app.draw_window()
    side, canvas = app.window.map_view.layout.sidebar_box, app.window.canvas
    right = side[0] + side[2] - sidebar.SCROLL_BAR_SPACE
    controls = [
        spot for spot in canvas.hit_regions if inside(spot.box, side) and not spot.id.startswith(("sidebar", "tab_"))
    ]
    assert all(spot.box[0] + spot.box[2] <= right for spot in controls)
    bar = canvas.hit_region_with_id("sidebar:bar")
    if bar is not None:
        x, y, _, height = bar.box
        strip = pygame.surfarray.array2d(app.window.surface.subsurface((x - 2, y, 2, height)))
        assert len(np.unique(strip)) == 1


def test_undo_entry_of_a_rename_names_the_agent(app):
    old = app.session.run.panels[0].walker_view.label
    agent_edits.rename_agent(app.session, app.session.run.panels[0].key, "careful")
    assert str(app.session.undo_history.done[-1]).startswith(f"{old} renamed to careful")


def test_empty_hint_is_centred_in_the_panel_area(monkeypatch):
    app = make_app(setup(0))
    plan = app.window.map_view.layout
    button = app.window.canvas.hit_region_with_id("empty:add_agent").box
    assert abs(button[0] + button[2] / 2 - plan.sidebar_box[0] / 2) <= 2


def test_long_switch_name_is_truncated_with_dots_inside_the_panel(monkeypatch):
    app = make_app(setup(2), (1280, 720))
    name = "a name with " + "W" * 48
    app.session.submit_command(DefineSwitch(name, (app.session.run.world.grid.cell(20, 10),)))
    texts = rendered_texts(app, monkeypatch)
    assert any(text.startswith("a name with W") and text.endswith("...") for text in texts)
    for panel, boxes in app.window.map_view.panels_with_boxes():
        assert inside(app.window.canvas.hit_region_with_id(f"bridge:{panel.key}:{name}").box, boxes.map_box)


@pytest.mark.parametrize("size", [(1280, 800), (800, 600)])
def test_scrubber_tooltip_covers_no_button(size):
    app = make_app(setup(2), size)
    app.session.advance_by_ticks(30)
    app.draw_window()
    canvas = app.window.canvas
    region = canvas.hit_region_with_id("scrubber")
    tip = pygame.Rect(canvas.draw_tooltip(region, *app.window.view_context.tooltip_and_keys_of_region(region)))
    buttons = [spot for spot in canvas.hit_regions if spot.id.startswith("transport:until")]
    assert len(buttons) == 5 and not any(tip.colliderect(button.box) for button in buttons)
    assert app.window.surface.get_rect().contains(tip)


def test_recovered_session_keeps_speed_and_heat_of_its_file(tmp_path):
    crashed = make_app(setup(view={"speed": 15, "heat": "visits"}))
    saved = session_saving.session_content(crashed.session.run)
    app = make_app(setup())
    app.window.document_opener.restore_session(saved, tmp_path / "one.journal")
    assert app.window.player.speed == 15 and app.window.map_view.layer_state.heat_setting.kind == "visits"
    app.window.copy_window_state_to_settings()
    assert app.window.settings.speed != 15, "the user's own stays"


def test_pseudocode_scrolls_to_the_current_line(monkeypatch):
    app = make_app(replace(setup(), agents=(AgentConfig("knn-lrta", params={"records": 5}),)), (800, 600))
    app.session.advance_by_ticks(1)
    app.window.run_command("slow_motion")
    texts = rendered_texts(app, monkeypatch)
    assert "move to b" in texts and "every tick, standing on s, heading for y:" not in texts


@pytest.mark.parametrize("scale", [0.75, 1.0, 1.5, 2.0])
def test_every_pseudocode_line_fits_into_the_sidebar(scale):
    canvas = make_app(setup(), (1280, 800), scale=scale).window.canvas
    for kind, spec in AGENT_SPECS_BY_KEY.items():
        for setting in parameter_sets(spec):
            for line in pseudocode_lines_of(kind, {p.name: p.default for p in spec.params} | setting):
                room = (
                    canvas.to_px(SIDEBAR_WIDTH)
                    - pseudocode_card.line_indentation(canvas, line)
                    - canvas.to_px(pseudocode_card.CARD_MARGIN)
                )
                assert canvas.text_width(line.text, pseudocode_card.CODE_FONT_SIZE) <= room, f"{kind}: {line.text}"


def test_algorithm_name_appears_once_above_its_pseudocode(monkeypatch):
    app = make_app(replace(setup(), agents=(AgentConfig("lrta"),)), (1280, 800))
    app.session.advance_by_ticks(1)
    app.window.run_command("slow_motion")
    app.window.run_command("step_expansion")
    assert not any("LRTA*: LRTA*" in text for text in rendered_texts(app, monkeypatch))


def test_slow_motion_replaces_the_heat_of_the_first_example(monkeypatch):
    app = make_app(opened_files.open_any_file(opened_files.example_files()[0]).scenario, (1600, 900))
    app.window.document_opener.apply_opened_file_parts(opened_files.open_any_file(opened_files.example_files()[0]))
    app.session.advance_by_ticks(60)
    layers, key = app.window.map_view.layer_state, app.session.run.panels[0].key
    assert layers.heat_setting.kind == "scrub"
    box = app.window.map_view.panels_with_boxes()[0][1].map_box

    def drawn() -> bytes:
        app.window.ui_state.message_queue.queued_messages.clear()
        app.draw_window()
        return pygame.image.tobytes(app.window.surface.subsurface(box), "RGB")

    hot = drawn()
    press_combination(app, "S")
    in_slow_motion = drawn()
    assert in_slow_motion != hot and app.window.map_view.cells[key].heat_bands.size == 0
    assert tab_layers.HEAT_HIDDEN_IN_SLOW_MOTION in rendered_texts(app, monkeypatch), (
        "the sidebar says where the heat is"
    )
    layers.set_heat_kind("off")
    assert drawn() == in_slow_motion, "all that the search has done is seen"
    layers.set_heat_kind("scrub")
    press_combination(app, "S")
    assert drawn() == hot, "it comes back"


def test_budget_slider_without_affected_agents_is_disabled():
    app = make_app(
        replace(setup(1), agents=(AgentConfig("tb-wa", budget=4), AgentConfig("tba", budget=8))), (1600, 900)
    )
    before = app.session.run.world.budget
    spot = app.window.canvas.hit_region_with_id("budget")
    assert spot.on_drag is None and spot.on_wheel is None and "own" in spot.tooltip
    drag(app, middle_of(app, "budget"), (spot.box[0] + spot.box[2], spot.box[1] + 5))
    press_combination(app, "K")
    assert app.session.run.world.budget == before and not app.session.undo_history.done
    assert any("own" in text for text in app.window.ui_state.message_queue.queued_message_texts())


def test_budget_slider_tooltip_names_the_affected_agents():
    app = make_app(
        replace(setup(1), agents=(AgentConfig("tb-wa", "slow"), AgentConfig("tba", "fast", budget=8))), (1600, 900)
    )
    spot = app.window.canvas.hit_region_with_id("budget")
    assert "slow" in spot.tooltip and "fast" not in spot.tooltip
    drag(app, middle_of(app, "budget"), (spot.box[0] + spot.box[2], spot.box[1] + 5))
    slow, fast = (panel.walker_view.budget for panel in app.session.run.panels)
    assert slow == transport_bar.MAX_SLIDER_BUDGET and fast == 8 and len(app.session.undo_history.done) == 1


def test_shared_budget_invalid_for_an_agent_is_refused():
    spec = next(
        spec for spec in AGENT_SPECS_BY_KEY.values() if spec.check_budget(1, {p.name: p.default for p in spec.params})
    )
    app = make_app(replace(setup(1), agents=(AgentConfig(spec.key),), budget=100))
    value_adjustments.set_shared_budget(app.session, 1)
    assert app.session.run.world.budget == 100 and not app.session.undo_history.done
    assert app.session.user_messages.messages_until_next_edit
