"""Each file begins with the user's defaults and its own view; what was switched for one file ends with it."""

from pathlib import Path

import pytest

from sim.files.examples import EXAMPLES
from sim.files.scenario import Scenario
from tests.window import App, make_app, press_combination, settle
from ui.draw.layers import LAYER_BY_KEY
from ui.model import files

PLAIN = EXAMPLES / "no-path.yaml"  # its view says nothing about layers, heat or cameras
HOT = EXAMPLES / "corner.yaml"  # its view asks for the heat of learned h
TABBED = EXAMPLES / "learning.yaml"  # its view asks for the tab of comparisons
LESSON = files.LESSON_FOLDER / "why-agents-scrub.yaml"


def begun() -> Scenario:
    return files.open_any(PLAIN).scenario


def opened(app: App, path: Path) -> App:
    app.window.documents.open_path(path)
    settle(app)
    return app


@pytest.fixture
def app() -> App:
    return opened(make_app(begun(), (1600, 900)), PLAIN)


def switch_everything(app: App) -> None:
    """Switch whatever belongs to a file: a layer, heat with its scale and colours, the level of regions, cameras."""
    press_combination(app, "Ctrl+8")
    press_combination(app, "V")
    press_combination(app, "Shift+V")
    press_combination(app, "Ctrl+Shift+V")
    app.window.scene.layers.region_level = 2
    press_combination(app, "C")
    press_combination(app, "L")
    press_combination(app, "Ctrl+=")


def shown(app: App) -> tuple[object, ...]:
    layers, cameras = app.window.scene.layers, app.window.cameras
    zooms = [round(app.window.scene.camera(panel.key, boxes).zoom, 3) for panel, boxes in app.window.scene.panels()]
    return dict(layers.visible), layers.heat, layers.region_level, cameras.follows, cameras.is_linked, zooms


@pytest.mark.parametrize("path", [PLAIN, HOT, LESSON], ids=lambda path: path.stem)
def test_what_was_switched_for_one_file_ends_with_it(path: Path) -> None:
    expected = shown(opened(make_app(begun(), (1600, 900)), path))
    app = opened(make_app(begun(), (1600, 900)), PLAIN)
    before = shown(app)
    switch_everything(app)
    assert all(now != was for now, was in zip(shown(app), before, strict=True)), "every one of them is switched"
    assert shown(opened(app, path)) == expected


@pytest.mark.parametrize("first", [HOT, TABBED, LESSON], ids=lambda path: path.stem)
def test_what_a_file_asks_for_ends_with_it(app: App, first: Path) -> None:
    before, tab, speed = shown(app), app.window.settings.sidebar_tab, app.window.dressing.own_speed
    opened(app, first)
    opened(app, PLAIN)
    assert (shown(app), app.window.settings.sidebar_tab) == (before, tab)
    app.window.collect_settings()
    assert app.window.settings.speed == speed and app.window.settings.heat.kind == "off"
    assert app.window.settings.linked_cameras


def test_a_tab_that_the_user_chose_instead_of_the_files_stays(app: App) -> None:
    opened(app, TABBED)
    assert app.window.settings.sidebar_tab == "compare"
    press_combination(app, "F7")
    opened(app, PLAIN)
    assert app.window.settings.sidebar_tab == "time"


def test_defaults_are_kept_for_every_file_that_says_nothing_else(app: App) -> None:
    press_combination(app, "Ctrl+8")
    press_combination(app, "V")
    press_combination(app, "L")
    press_combination(app, "Alt+V")
    kept = app.window.scene.layers.heat
    opened(app, HOT)
    assert app.window.scene.layers.heat.kind == "learned"
    assert app.window.scene.layers.shows(LAYER_BY_KEY["tree"]) and not app.window.cameras.is_linked
    opened(app, PLAIN)
    assert app.window.scene.layers.heat == kept and app.window.dressing.is_default


def test_another_row_of_a_problem_list_is_seen_as_the_one_before(app: App) -> None:
    switch_everything(app)
    before = shown(app)[:3]
    app.window.dialogs.open_scenario(begun(), keeps_view=True)
    settle(app)
    assert shown(app)[:3] == before


def test_a_setting_that_is_none_of_the_view_leaves_what_the_file_shows(app: App) -> None:
    opened(app, HOT)
    switch_everything(app)
    before = shown(app)
    app.window.settings.theme = "light"
    app.window.apply_settings()
    settle(app)
    assert shown(app) == before
