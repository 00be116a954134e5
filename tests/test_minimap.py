"""The minimap: there while a part of the map is out of sight, goes where it is clicked, paints nothing, can go."""

import pygame
import pytest

from tests.window import ROOT, at_cell, drag, make_app, press_combination, settle
from ui.app import App
from ui.draw.thumbnails import draw_thumbnail
from ui.model import cell_edits, opened_files
from ui.model.start_over import user_commands
from ui.panels import minimap_drawer


@pytest.fixture
def app() -> App:
    made = make_app(opened_files.open_any_file(ROOT / "assets" / "scenarios" / "scrubbing.yaml").scenario, (1600, 900))
    press_combination(made, "X")
    return made


def minimap_region(app: App):
    return app.window.canvas.hit_region_with_id("minimap:0")


def zoom_in(app: App) -> None:
    for _ in range(4):
        press_combination(app, "Ctrl+=")


def map_centre_in_view(app: App) -> tuple[float, float]:
    panel, boxes = app.window.map_view.panels_with_boxes()[0]
    return app.window.map_view.camera_of_panel(panel.key, boxes).px_to_map(boxes.map_box[2] / 2, boxes.map_box[3] / 2)


def test_minimap_is_shown_while_the_map_is_partly_hidden(app: App) -> None:
    assert minimap_region(app) is None
    zoom_in(app)
    assert minimap_region(app) is not None
    press_combination(app, "F")
    assert minimap_region(app) is None


def test_dragging_on_the_minimap_pans_without_painting(app: App) -> None:
    zoom_in(app)
    x, y, width, height = minimap_region(app).box
    drag(app, (x + width // 2, y + height // 2), (x + width - 12, y + 14))
    assert map_centre_in_view(app)[0] > 48 and map_centre_in_view(app)[1] < 16
    assert not user_commands(app.session.run.focused_branch_timeline)
    settle(app)
    drag(app, at_cell(app, 50, 10), at_cell(app, 52, 10))
    assert user_commands(app.session.run.focused_branch_timeline), "beside it the map is drawn on as ever"


def test_key_toggles_the_minimap_and_the_setting(app: App) -> None:
    zoom_in(app)
    press_combination(app, "Alt+I")
    assert minimap_region(app) is None and not app.window.settings.shows_minimap
    press_combination(app, "Alt+I")
    assert minimap_region(app) is not None


def test_small_panels_have_no_minimap() -> None:
    small = make_app(opened_files.open_any_file(ROOT / "assets" / "scenarios" / "weights.yaml").scenario, (800, 600))
    zoom_in(small)
    assert not [s for s in small.window.canvas.hit_regions if s.id.startswith("minimap")]


def test_minimap_shows_edits(app: App) -> None:
    zoom_in(app)
    before = pygame.image.tobytes(
        app.window.view_overrides.view_context.canvas.surface.subsurface(minimap_region(app).box), "RGB"
    )
    cell_edits.block_or_free_cells(
        app.session, [c for c in range(64 * 20, 64 * 24) if app.session.run.world.grid.free_mask[c]], block=True
    )
    for kept in app.minimap_drawer.cached_pictures.values():
        kept.drawn_at_s = -1.0
    settle(app)
    assert pygame.image.tobytes(app.window.canvas.surface.subsurface(minimap_region(app).box), "RGB") != before


def test_panels_with_the_same_map_share_one_minimap_image(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of them made anew in one frame took 56 ms on a large map."""
    made = []
    monkeypatch.setattr(minimap_drawer, "draw_thumbnail", lambda *given: made.append(given) or draw_thumbnail(*given))
    press_combination(app, "X")  # all panels again
    zoom_in(app)
    settle(app)
    boxes = [s for s in app.window.canvas.hit_regions if s.id.startswith("minimap")]
    assert len(boxes) > 1 and len(made) == len(app.minimap_drawer.cached_pictures) == 1
    cell_edits.block_or_free_cells(
        app.session, [c for c in range(64 * 20, 64 * 24) if app.session.run.world.grid.free_mask[c]], block=True
    )
    app.minimap_drawer.cached_pictures[next(iter(app.minimap_drawer.cached_pictures))].drawn_at_s = -1.0
    app.draw_window()
    assert len(made) == 2
