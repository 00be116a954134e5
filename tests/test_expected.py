"""What people expect of such a program (docs/expectations.md) and no other test shows."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pygame
import pytest

from files.scenario import Scenario
from sim.agent_api import GROUP_NAMES
from sim.agent_placing import RandomPlacing, place_group_members
from sim.grid import Grid
from sim.params import ConfigError
from sim.world_commands import AgentConfig
from tests.runs import scenario_on
from tests.test_palette import lab
from tests.window import App, at_cell, drag, make_app, press_combination, settle
from ui.draw.layers import LAYERS
from ui.draw.theme import PALETTES, Palette
from ui.film import video_encoding
from ui.film.film_options import Encoding
from ui.film.recorder import Recorder
from ui.maps.legend_swatches import draw_layer_swatch
from ui.model.camera import Camera
from ui.panels.map_legend import CELL_GROUP_MEANINGS, visible_legend_entries

SIDES = (40, 30)


def setup(*kinds: str, budget: int = 4, size: tuple[int, int] = SIDES, **more: object) -> Scenario:
    width, height = size
    rows = ["." * width for _ in range(height)]
    rows[height // 2] = "." + "@" * (width - 2) + "."
    grid = Grid.from_text_rows(rows)
    agents = tuple(AgentConfig(kind) for kind in kinds or ("tba", "tb-wa"))
    return replace(scenario_on(grid, width // 2, grid.cells - width // 2, agents, budget), **more)


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def rendered_texts_with_sizes(app: App, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every text of a frame and its size in pixels."""
    texts: list[tuple[str, int]] = []
    render = app.window.canvas.font_cache.render_text

    def listen(text: str, face: str, size: int, colour: object) -> pygame.Surface:
        texts.append((text, size))
        return render(text, face, size, colour)

    monkeypatch.setattr(app.window.canvas.font_cache, "render_text", listen)
    app.draw_window()
    monkeypatch.undo()
    return texts


def find_spot(app: App, name: str):  # type: ignore[no-untyped-def]
    found = app.window.canvas.hit_region_with_id(name)
    assert found is not None, name
    return found


def click(app: App, box: tuple[int, int, int, int]) -> None:
    middle = box[0] + box[2] // 2, box[1] + box[3] // 2
    drag(app, middle, middle)


# --- 7: the budget ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(800, 600), (1280, 720), (1920, 1080)])
def test_every_panel_shows_its_budget_and_expansions(size, monkeypatch) -> None:
    app = make_app(setup("tba", "tb-wa", "astar"), size)
    for _ in range(3):
        press_combination(app, "K")  # while it runs: from the next tick on
        for _ in range(3):
            app.session.advance_by_ticks(1)
            words = " ".join(text for text, _ in rendered_texts_with_sizes(app, monkeypatch))
            for panel in app.window.map_view.shown_panels:
                used, budget = int(panel.walker_view.log_rows[-1].expanded), app.session.run.world.budget
                assert used <= budget and f"{used} of {budget}" in words
                assert f"budget of {budget}" in find_spot(app, f"meter:{panel.key}").tooltip
    assert app.session.run.world.budget > 4


# --- 9: told apart without colours ------------------------------------------------------------------


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_marks_differ_in_greyscale_by_lightness_or_shape(palette: Palette) -> None:
    """For somebody who sees no colours: of any two marks a twentieth of the pixels differs by 10 of 100 in light."""
    keys = ("closed", "open", "tracing", "path", "trail", "back_moves", "best", "ends", "agent")
    greys = {layer.key: lightness(layer, palette) for layer in LAYERS if layer.key in keys}
    assert len(greys) == len(keys)
    for a, b in combinations(keys, 2):
        assert (np.abs(greys[a] - greys[b]) > 10).mean() >= 0.05, (a, b)


def lightness(layer, palette: Palette) -> npt.NDArray[np.float64]:  # type: ignore[no-untyped-def]
    surface = pygame.Surface((44, 28), 0, 32)
    draw_layer_swatch(surface, (0, 0, 44, 28), layer, palette, 2.0)
    pixels = pygame.surfarray.array3d(surface)
    colours, places = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True)
    return np.array([lab(tuple(colour))[0] for colour in colours])[places.reshape(-1)]


# --- 14: start and goal are dragged -----------------------------------------------------------------


@pytest.mark.parametrize("end", ["start", "goal"])
@pytest.mark.parametrize("aside", [(0, 0), (5, 0), (-6, 0)])
def test_start_and_goal_can_be_dragged_at_sub_pixel_cell_size(end: str, aside) -> None:
    app = make_app(setup("astar", size=(1000, 600)))
    world = app.session.run.world
    assert app.window.map_view.camera_of_panel(*first_panel(app)).zoom < 1.0
    x, y = at_cell(app, *world.grid.xy(getattr(world, end)))
    blocked = int((~world.grid.free_mask).sum())
    there = at_cell(app, 200, 150)
    drag(app, (x + aside[0], y + aside[1]), there)
    world = app.session.run.world
    moved = world.grid.xy(getattr(world, end))
    assert max(abs(moved[0] - 200), abs(moved[1] - 150)) <= 2
    assert int((~world.grid.free_mask).sum()) == blocked, "nothing was painted"


def first_panel(app: App):  # type: ignore[no-untyped-def]
    shown, boxes = app.window.map_view.panels_with_boxes()[0]
    return shown.key, boxes


# --- 15: a million cells ----------------------------------------------------------------------------


def test_large_map_is_redrawn_incrementally() -> None:
    """No clock here (the bench `frames` has the times): but in no frame of a running map is anything made anew."""
    app = make_app(setup(size=(1024, 1024), budget=64))
    app.window.player.step_clock.is_running = True
    for heat in ("off", "visits", "expansions"):
        app.window.map_view.layer_state.set_heat_kind(heat)
        app.run_frame(1 / 30)
        before = [cells.rebuild_count for cells in app.window.map_view.cells.values()]
        tick = app.session.tick
        for _ in range(5):
            app.run_frame(1 / 30)
        assert app.session.tick > tick and len(before) == 2
        assert [cells.rebuild_count for cells in app.window.map_view.cells.values()] == before


# --- 19: what is missing is said --------------------------------------------------------------------


def test_missing_encoder_is_reported_with_available_formats(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(
        video_encoding.av, "codecs_available", video_encoding.av.codecs_available - {"libx264", "libx264rgb"}
    )
    folder = tmp_path / "talks"
    folder.mkdir()
    with pytest.raises(ConfigError) as caught:
        Recorder(folder / "talk.mp4", (64, 48))
    assert str(caught.value) == ".mp4: the encoder libx264 is not installed; available formats: .webm, .png"
    assert not list(folder.iterdir()), "nothing half-made is left"
    recorder = Recorder(folder / "talk.webm", (64, 48))
    recorder.add(np.zeros((48, 64), np.uint32))
    assert Path(recorder.finish_file()).is_file()


@pytest.mark.parametrize("suffix", [".mp4", ".webm", ".gif"])
def test_every_video_encoder_is_installed(suffix: str) -> None:
    video_encoding.check_codec_available(Encoding(suffix))


# --- 23, 27: check boxes and keys -------------------------------------------------------------------


def test_every_layer_has_a_check_box_with_key_and_is_saved() -> None:
    app = make_app(setup("tba"), (1600, 1000))
    for layer in LAYERS:
        app.draw_window()
        box = find_spot(app, f"layer:{layer.key}")
        key = app.window.command_table.first_key_of(f"layer_{layer.key}")
        assert key and app.window.view_context.tooltip_and_keys_of_region(box)[1] == key
        click(app, box.box)
        assert app.window.map_view.layer_state.is_layer_on(layer) != layer.is_on_by_default
    app.window.copy_window_state_to_settings()
    assert not app.window.settings.layers, "what is switched belongs to this file"
    app.draw_window()
    click(app, find_spot(app, "keep_view").box)
    app.window.copy_window_state_to_settings()
    assert dict(app.window.settings.layers) == {layer.key: not layer.is_on_by_default for layer in LAYERS}
    app.draw_window()
    assert app.window.canvas.hit_region_with_id("keep_view") is None, "there is nothing more to keep"


@pytest.mark.parametrize("tab", ["layers", "edit", "inspect", "compare", "time"])
def test_every_button_has_a_tooltip_and_a_valid_key(tab: str) -> None:
    app = make_app(setup(), (1600, 900))
    app.window.settings.sidebar_tab = tab
    app.session.advance_by_ticks(5)
    app.draw_window()
    keys = {key for command in app.window.command_table for key in command.keys}
    for each in app.window.canvas.hit_regions:
        if each.id == "sidebar:bar" or (each.on_click is None and each.on_drag is None):
            continue  # a scroll bar says what it is
        tooltip, shortcuts = app.window.view_context.tooltip_and_keys_of_region(each)
        assert tooltip, f"{each.id} does not say what it does"
        assert set(shortcuts.split()) <= keys, f"{each.id} names {shortcuts}, which does nothing"
        if each.id.startswith(("top:", "transport:")):
            assert shortcuts, f"{each.id} does not name its key"


# --- 31: another size of the window -----------------------------------------------------------------


@pytest.mark.parametrize("size", [(800, 600), (1111, 699), (1920, 1080), (700, 1000)])
def test_resized_window_keeps_the_run_and_maps_clicks_correctly(size) -> None:
    """The pixels that a click changes on the map are around the pointer, whatever the window was before."""
    app = make_app(setup(budget=1))
    app.window.player.step_clock.is_running = True
    app.run_frame(0.2)
    app.window.map_view.layer_state.layer_visibility = {layer.key: layer.key == "terrain" for layer in LAYERS}
    tick, panels = app.session.tick, [panel.key for panel in app.session.run.panels]
    assert tick > 0
    app.window.surface = pygame.display.set_mode(size)
    pygame.event.post(pygame.event.Event(pygame.VIDEORESIZE, size=size, w=size[0], h=size[1]))
    app.run_frame(0.2)
    assert app.session.tick > tick and [panel.key for panel in app.session.run.panels] == panels
    app.window.player.step_clock.is_running = False
    shown, boxes = app.window.map_view.panels_with_boxes()[0]
    left, top, width, height = boxes.map_box
    for share in (0.3, 0.62):
        point = left + round(width * share), top + height // 2 + round(height * 0.2 * share)
        pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=point, rel=(0, 0), buttons=(0, 0, 0)))
        app.window.ui_state.message_queue.queued_messages.clear()  # those about the run go with the click
        settle(app)
        before = pygame.surfarray.array2d(app.window.surface)[left : left + width, top : top + height]
        blocked = int((~app.session.run.world.grid.free_mask).sum())
        drag(app, point, point)
        settle(app)
        assert int((~app.session.run.world.grid.free_mask).sum()) == blocked + 1
        after = pygame.surfarray.array2d(app.window.surface)[left : left + width, top : top + height]
        changed = np.argwhere(before != after) + np.array([left, top])
        side = app.window.map_view.camera_of_panel(shown.key, boxes).zoom
        assert len(changed) and np.abs(changed - point).max() <= 2 * side + 2
        assert (np.abs(changed - point).min(axis=0) <= side).all()


# --- 32: sizes of texts -----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("tab", ["layers", "edit", "inspect", "compare", "time"])
def test_text_has_a_minimum_size_at_any_scale(scale: float, tab: str, monkeypatch) -> None:
    app = make_app(setup(), (round(1280 * scale), round(720 * scale)), scale=scale)
    app.window.settings.sidebar_tab = tab
    app.session.advance_by_ticks(20)
    texts = rendered_texts_with_sizes(app, monkeypatch)
    assert len(texts) > 40
    assert min(size for _, size in texts) >= round(10 * scale)
    names = {text for text, _ in texts}
    assert {"Backmove", "TBA*", "tick", "speed", "run until"} <= names, "nothing is left out that fits at 100 %"


def test_text_scale_can_be_changed_by_mouse(monkeypatch) -> None:
    app = make_app(setup(), (1600, 900))
    small = dict(rendered_texts_with_sizes(app, monkeypatch))
    press_combination(app, "Ctrl+,")
    dialog = app.window.dialogs.current_dialog
    assert dialog is not None
    slider = next(control for control in dialog.controls if control.name.startswith("ui_scale"))
    box = slider.element.rect
    drag(app, (box.x + box.width // 4, box.centery), (box.right - 8, box.centery))
    for _ in range(30):
        app.run_frame(0.1)
    assert app.window.map_view.px_per_unit > 1.4 and app.window.settings.ui_scale == app.window.map_view.px_per_unit
    large = dict(rendered_texts_with_sizes(app, monkeypatch))
    assert large["TBA*"] == pytest.approx(small["TBA*"] * app.window.map_view.px_per_unit, abs=1)


# --- 21: numbers in cells on displays of high density -----------------------------------------------


def test_legend_explains_cell_numbers_only_when_visible() -> None:
    app = make_app(setup(), (1600, 900))
    app.session.advance_by_ticks(5)
    app.draw_window()
    assert "numbers" not in dict(visible_legend_entries(app.window.view_context))
    panel, boxes = app.window.map_view.panels_with_boxes()[0]
    size = boxes.map_box[2], boxes.map_box[3]
    app.window.cameras.store_camera_of_panel(panel.key, Camera(56.0).centred_on_point(20, 3, *size), size, SIDES)
    app.draw_window()
    assert "g at the upper left" in dict(visible_legend_entries(app.window.view_context))["numbers"]


# --- 30: the legend ---------------------------------------------------------------------------------


def legend_of(app: App) -> dict[str, str]:
    app.draw_window()
    return dict(visible_legend_entries(app.window.view_context))


def test_legend_lists_only_terrain_on_the_map() -> None:
    plain, wild = setup("astar"), Grid.from_text_rows(["......", ".TT.S.", "......", "..W...", "......"])
    assert not [key for key in legend_of(make_app(plain)) if key.startswith("terrain")]
    app = make_app(scenario_on(wild, 0, 29, [AgentConfig("astar")]))
    assert [key for key in legend_of(app) if key.startswith("terrain")] == [
        "terrain:trees",
        "terrain:swamp",
        "terrain:water",
    ]
    app.window.run_command("layer_terrain")
    assert not [key for key in legend_of(app) if key.startswith("terrain")], "they look like walls and floor now"


@pytest.mark.parametrize(
    ("kind", "names"),
    [("ribs", {"dead", "redundant"}), ("lss-lrta", {"local space"}), ("dstar-lite", {"inconsistent"}), ("tba", set())],
)
def test_legend_lists_the_cell_groups_of_visible_agents(kind: str, names: set[str]) -> None:
    app = make_app(setup(kind))
    for _ in range(3):
        app.session.advance_by_ticks(2)
        found = {key.removeprefix("groups:") for key in legend_of(app) if key.startswith("groups:")}
        assert found == names, "and does not come and go with them"


def test_every_cell_group_of_agents_has_a_legend_entry() -> None:
    assert set(CELL_GROUP_MEANINGS) == set(GROUP_NAMES)


def test_legend_explains_crowd_dots() -> None:
    grid = Grid.from_text_rows(["." * 12] * 12)
    crowd = place_group_members(AgentConfig("tb-wa", "units"), 5, RandomPlacing(1), grid)
    app = make_app(scenario_on(grid, 0, 143, crowd, 3))
    assert "crowd" in legend_of(app) and not {"closed", "open", "path", "best"} & set(legend_of(app))
    key = app.session.run.panels[0].key
    app.session.run.show_hovered_crowd_agent(key, app.session.run.world.walkers[1].id)
    assert app.session.run.panels[0].drawn_agent is not None
    assert "closed" not in legend_of(app), "the sidebar does not jump while the mouse passes over a crowd"
    app.session.run.follow_crowd_agent(key, app.session.run.world.walkers[1].id)
    assert {"closed", "open", "path", "best"} <= set(legend_of(app))
    assert "crowd" not in legend_of(make_app(setup("tb-wa")))
