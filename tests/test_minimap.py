"""The minimap: there while a part of the map is out of sight, goes where it is clicked, paints nothing, can go."""

import pygame
import pytest

from tests.window import ROOT, at_cell, drag, make_app, press_combination, settle
from ui.app import App
from ui.draw.thumb import thumbnail
from ui.model import files, painting
from ui.model.beginning import done_by_hand
from ui.panels import minimap


@pytest.fixture
def app() -> App:
    made = make_app(files.open_any(ROOT / "assets" / "scenarios" / "scrubbing.yaml").scenario, (1600, 900))
    press_combination(made, "X")
    return made


def spot(app: App):
    return app.window.canvas.spot_named("minimap:0")


def zoom_in(app: App) -> None:
    for _ in range(4):
        press_combination(app, "Ctrl+=")


def middle(app: App) -> tuple[float, float]:
    panel, boxes = app.window.scene.panels()[0]
    return app.window.scene.camera(panel.key, boxes).to_map(boxes.map[2] / 2, boxes.map[3] / 2)


def test_it_is_there_while_a_part_of_the_map_is_out_of_sight(app: App) -> None:
    assert spot(app) is None
    zoom_in(app)
    assert spot(app) is not None
    press_combination(app, "F")
    assert spot(app) is None


def test_a_drag_on_it_goes_there_and_paints_nothing(app: App) -> None:
    zoom_in(app)
    x, y, width, height = spot(app).box
    drag(app, (x + width // 2, y + height // 2), (x + width - 12, y + 14))
    assert middle(app)[0] > 48 and middle(app)[1] < 16
    assert not done_by_hand(app.session.run.timeline)
    settle(app)
    drag(app, at_cell(app, 50, 10), at_cell(app, 52, 10))
    assert done_by_hand(app.session.run.timeline), "beside it the map is drawn on as ever"


def test_it_is_put_away_by_a_key_that_settings_keep(app: App) -> None:
    zoom_in(app)
    press_combination(app, "Alt+I")
    assert spot(app) is None and not app.window.settings.shows_minimap
    press_combination(app, "Alt+I")
    assert spot(app) is not None


def test_small_panels_have_none() -> None:
    small = make_app(files.open_any(ROOT / "assets" / "scenarios" / "weights.yaml").scenario, (800, 600))
    zoom_in(small)
    assert not [s for s in small.window.canvas.spots if s.id.startswith("minimap")]


def test_an_edit_shows_on_it(app: App) -> None:
    zoom_in(app)
    before = pygame.image.tobytes(app.window.dressing.desk.canvas.surface.subsurface(spot(app).box), "RGB")
    painting.paint(app.session, [c for c in range(64 * 20, 64 * 24) if app.session.run.world.grid.free[c]], block=True)
    for kept in app.minimap.kept.values():
        kept.at = -1.0
    settle(app)
    assert pygame.image.tobytes(app.window.canvas.surface.subsurface(spot(app).box), "RGB") != before


def test_panels_that_show_the_same_have_one_picture(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of them made anew in one frame took 56 ms on a large map."""
    made = []
    monkeypatch.setattr(minimap, "thumbnail", lambda *given: made.append(given) or thumbnail(*given))
    press_combination(app, "X")  # all panels again
    zoom_in(app)
    settle(app)
    boxes = [s for s in app.window.canvas.spots if s.id.startswith("minimap")]
    assert len(boxes) > 1 and len(made) == len(app.minimap.kept) == 1
    painting.paint(app.session, [c for c in range(64 * 20, 64 * 24) if app.session.run.world.grid.free[c]], block=True)
    app.minimap.kept[next(iter(app.minimap.kept))].at = -1.0
    app.draw()
    assert len(made) == 2
