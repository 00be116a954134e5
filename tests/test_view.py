"""Each file begins with the user's defaults and its own view; what was switched for one file ends with it."""

from pathlib import Path

import pytest

from files.scenario import Scenario
from files.shipped_files import SCENARIOS_FOLDER
from tests.window import App, make_app, press_combination, settle
from ui.draw.layers import LAYER_BY_KEY
from ui.model import opened_files

PLAIN = SCENARIOS_FOLDER / "no-path.yaml"  # its view says nothing about layers, heat or cameras
HOT = SCENARIOS_FOLDER / "corner.yaml"  # its view asks for the heat of learned h
TABBED = SCENARIOS_FOLDER / "learning.yaml"  # its view asks for the tab of comparisons
LESSON = opened_files.LESSON_FOLDER / "why-agents-scrub.yaml"


def plain_scenario() -> Scenario:
    return opened_files.open_any_file(PLAIN).scenario


def open_file(app: App, path: Path) -> App:
    app.window.document_opener.open_path(path)
    settle(app)
    return app


@pytest.fixture
def app() -> App:
    return open_file(make_app(plain_scenario(), (1600, 900)), PLAIN)


def change_every_view_setting(app: App) -> None:
    """Switch whatever belongs to a file: a layer, heat with its scale and colours, the level of regions, cameras."""
    press_combination(app, "Ctrl+8")
    press_combination(app, "V")
    press_combination(app, "Shift+V")
    press_combination(app, "Ctrl+Shift+V")
    app.window.map_view.layer_state.region_level = 2
    press_combination(app, "C")
    press_combination(app, "L")
    press_combination(app, "Ctrl+=")


def view_state(app: App) -> tuple[object, ...]:
    layers, cameras = app.window.map_view.layer_state, app.window.cameras
    zooms = [
        round(app.window.map_view.camera_of_panel(panel.key, boxes).zoom, 3)
        for panel, boxes in app.window.map_view.panels_with_boxes()
    ]
    return (
        dict(layers.layer_visibility),
        layers.heat_setting,
        layers.region_level,
        cameras.is_following_agents,
        cameras.is_linked,
        zooms,
    )


@pytest.mark.parametrize("path", [PLAIN, HOT, LESSON], ids=lambda path: path.stem)
def test_view_changes_are_discarded_when_another_file_opens(path: Path) -> None:
    expected = view_state(open_file(make_app(plain_scenario(), (1600, 900)), path))
    app = open_file(make_app(plain_scenario(), (1600, 900)), PLAIN)
    before = view_state(app)
    change_every_view_setting(app)
    assert all(now != was for now, was in zip(view_state(app), before, strict=True)), "every one of them is switched"
    assert view_state(open_file(app, path)) == expected


@pytest.mark.parametrize("first", [HOT, TABBED, LESSON], ids=lambda path: path.stem)
def test_view_settings_of_a_file_end_with_the_file(app: App, first: Path) -> None:
    before, tab, speed = view_state(app), app.window.settings.sidebar_tab, app.window.view_overrides.users_speed
    open_file(app, first)
    open_file(app, PLAIN)
    assert (view_state(app), app.window.settings.sidebar_tab) == (before, tab)
    app.window.copy_window_state_to_settings()
    assert app.window.settings.speed == speed and app.window.settings.heat.kind == "off"
    assert app.window.settings.linked_cameras


def test_tab_chosen_by_the_user_persists_after_the_file(app: App) -> None:
    open_file(app, TABBED)
    assert app.window.settings.sidebar_tab == "compare"
    press_combination(app, "F7")
    open_file(app, PLAIN)
    assert app.window.settings.sidebar_tab == "time"


def test_saved_view_defaults_apply_to_files_without_view_settings(app: App) -> None:
    press_combination(app, "Ctrl+8")
    press_combination(app, "V")
    press_combination(app, "L")
    press_combination(app, "Alt+V")
    kept = app.window.map_view.layer_state.heat_setting
    open_file(app, HOT)
    assert app.window.map_view.layer_state.heat_setting.kind == "learned"
    assert app.window.map_view.layer_state.is_layer_on(LAYER_BY_KEY["tree"]) and not app.window.cameras.is_linked
    open_file(app, PLAIN)
    assert app.window.map_view.layer_state.heat_setting == kept and app.window.view_overrides.is_default_view


def test_view_is_kept_for_another_row_of_a_problem_list(app: App) -> None:
    change_every_view_setting(app)
    before = view_state(app)[:3]
    app.window.dialogs.open_scenario(plain_scenario(), keeps_view=True)
    settle(app)
    assert view_state(app)[:3] == before


def test_changing_the_theme_keeps_the_view(app: App) -> None:
    open_file(app, HOT)
    change_every_view_setting(app)
    before = view_state(app)
    app.window.settings.theme = "light"
    app.window.apply_settings()
    settle(app)
    assert view_state(app) == before
