"""The stage: pictures that depend on the run, the look and the size alone; and what the look says."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pygame
import pytest

from sim import world_commands
from sim.params import ConfigError
from sim.world_commands import AgentConfig
from tests.filming import OPTIONS, SMALL, replay, setup, shown, stage_of
from tests.window import drag, make_app, press
from ui.app import App
from ui.draw.heat_scale import heat_scale_for_peak
from ui.draw.layers import LAYER_BY_KEY
from ui.film.film import Film, draw_last_film_frame
from ui.film.film_options import (
    FilmOptions,
    WindowPart,
    check_picture_size,
    frame_count_between,
    parse_ticks_per_frame,
    parse_window_part,
)
from ui.film.offscreen_renderer import OffscreenRenderer
from ui.film.picture_files import copied_pixels, draw_panel_picture, draw_window_picture
from ui.film.replay import ReplaySpec, replay_spec_of_run
from ui.model import branch_actions, cell_edits, value_adjustments
from ui.model.appearance import (
    Appearance,
    MapPart,
    appearance_from_view,
    map_part_of_camera,
    view_mapping_of_appearance,
)
from ui.model.camera import Camera, camera_fitting_map
from ui.model.layer_state import HeatSetting
from ui.model.panel_keys import FIRST_PANEL, PanelKey
from ui.panels.comparison_badges import BADGE_COLOURS

HEATS = ("off", "visits", "expansions", "learned", "g", "difference")


# --- pictures depend on the run alone -----------------------------------------------------------------


@pytest.mark.parametrize("heat", HEATS)
def test_picture_does_not_depend_on_seek_history(heat: str) -> None:
    """One tick after the other, in one go, or there and back: the same pixels."""
    look = Appearance(heat_setting=HeatSetting(heat, is_log=False), layer_visibility={"tree": True})
    slow, fast, back = (replay().start_rerun() for _ in range(3))
    stages = [stage_of(session, look=look) for session in (slow, fast, back)]
    for tick in range(19):
        slow.seek_to_tick(tick)
        stages[0].draw_picture()
    fast.seek_to_tick(18)
    back.seek_to_tick(40)
    stages[2].draw_picture()
    back.seek_to_tick(18)
    pictures = [shown(stage) for stage in stages]
    assert (pictures[0] == pictures[1]).all() and (pictures[0] == pictures[2]).all()


def test_window_and_stage_share_a_session_independently() -> None:
    app, alone = make_app(setup(), (640, 480)), make_app(setup(), (640, 480))
    stage = OffscreenRenderer(app.session, SMALL, WindowPart("panels"), app.window.view_overrides.current_appearance())
    for i in range(30):
        app.session.advance_by_ticks(1)
        if i % 3 == 0:
            app.draw_window()
        stage.draw_picture()
    app.draw_window()
    in_company = copied_pixels(app.window.surface)
    picture_in_company = copied_pixels(stage.draw_picture())
    alone.session.advance_by_ticks(30)
    alone.draw_window()
    assert (copied_pixels(alone.window.surface) == in_company).all()
    fresh = OffscreenRenderer(
        alone.session, SMALL, WindowPart("panels"), alone.window.view_overrides.current_appearance()
    )
    assert (copied_pixels(fresh.draw_picture()) == picture_in_company).all()


def test_picture_ignores_mouse_dialogs_focus_and_window_size() -> None:
    app = make_app(setup(), (900, 600))
    app.session.advance_by_ticks(9)
    again = [replay_spec_of_run(app.session.run).start_rerun() for _ in range(2)]
    kinds = zip(again, ("panels", "window"), strict=True)
    stages = [
        OffscreenRenderer(rerun.run, SMALL, WindowPart(kind), app.window.view_overrides.current_appearance())
        for rerun, kind in kinds
    ]
    for rerun in again:
        rerun.seek_to_tick(9)
    before = [copied_pixels(stage.draw_picture()) for stage in stages]
    drag(app, (200, 200), (220, 220), button=2)
    press(app, pygame.K_F1)
    app.window.notify_user("something")
    app.session.focus_panel(PanelKey(0, 1))
    app.window.on_window_resized(pygame.display.set_mode((1000, 700)))
    app.run_frame(0.05)
    assert all((copied_pixels(stage.draw_picture()) == old).all() for stage, old in zip(stages, before, strict=True))


def test_interpolation_depends_on_the_frame_not_on_the_clock() -> None:
    session = replay().start_rerun()
    session.seek_to_tick(9)
    stage = stage_of(session)
    half, whole = shown(stage, 0.5), shown(stage, 1.0)
    assert (half != whole).any()
    assert (shown(stage, 0.5) == half).all()


def test_replay_reproduces_digests_of_a_run_with_branches() -> None:
    app = make_app(setup())
    session = app.session
    session.advance_by_ticks(5)
    cell_edits.block_or_free_cells(session, [session.run.world.grid.cell(3, 9)], block=True)
    session.advance_by_ticks(4)
    session.submit_command(world_commands.SetBudget(5))
    branch = branch_actions.create_branch_at_current_tick(session)
    session.submit_command(world_commands.SetParam(0, "weight", 3.0))
    session.advance_by_ticks(6)
    again = replay_spec_of_run(session.run).start_rerun()
    again.seek_to_tick(15)
    own = [b.timeline.world.compute_digest() for b in session.run.shown_branches]
    assert list(again.run.world_digests()) == own and len(set(own)) == 2
    assert [panel.branch_name for panel in again.run.panels] == [panel.branch_name for panel in session.run.panels]
    assert {branch.name, "run"} == {panel.branch_name for panel in again.run.panels}


# --- parts, sizes, captions ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(16, 16), (17, 33), (64, 48), (200, 1000), (641, 361), (1280, 720)])
@pytest.mark.parametrize("part", ["window", "panels", "panel:2"])
def test_every_part_can_be_drawn_at_every_size(size: tuple[int, int], part: str) -> None:
    session = replay().start_rerun()
    session.seek_to_tick(7)
    stage = stage_of(session, size, part=parse_window_part(part))
    assert stage.draw_picture(1.0, ["tick 6: door blocked"]).get_size() == size
    assert len(np.unique(copied_pixels(stage.surface))) > 1


def test_stage_shows_all_branches_or_one_panel() -> None:
    app = make_app(setup())
    app.session.advance_by_ticks(5)
    branch_actions.create_branch_at_current_tick(app.session)
    session = replay_spec_of_run(app.session.run).start_rerun()
    session.seek_to_tick(5)
    assert len(stage_of(session).map_view.shown_panels) == 4
    stage = stage_of(session, part=WindowPart("panel", 3))
    assert [panel.branch_name for panel in stage.map_view.shown_panels] == ["branch 1"]


def test_legend_lists_only_visible_layers() -> None:
    session = replay().start_rerun()

    def names(look: Appearance) -> list[str]:
        return [name for row in stage_of(session, (1280, 720), look)._legend_rows() for _, name, _ in row]

    all_on = names(Appearance())
    assert "Back-moves" in all_on and "Parent tree" not in all_on
    hidden = Appearance(layer_visibility={"back_moves": False})
    assert set(all_on) - set(names(hidden)) == {"Back-moves"}
    for kind, words in (("visits", "visits "), ("scrub", "scrubbing "), ("learned", "learned h ")):
        assert any(name == words for name in names(Appearance(heat_setting=HeatSetting(kind))))


def make_branched_app(agents: int = 2) -> App:
    """A window with a run and a branch in which the door stays open, the second agent of the branch focused."""
    app = make_app(setup(agents, script=()), (900, 600))
    app.session.advance_by_ticks(3)
    branch = branch_actions.create_branch_at_current_tick(app.session)
    value_adjustments.toggle_map_switch(app.session, "door")
    app.session.advance_by_ticks(8)
    app.session.focus_panel(PanelKey(branch.number, 1))
    app.window.map_view.layer_state.set_heat_kind("difference")
    app.draw_window()
    return app


def badge_letters(stage: OffscreenRenderer) -> list[str]:
    """The letters in the corners of the maps of a picture, by their colours."""
    found = []
    for _, boxes in stage.map_view.panels_with_boxes():
        x, y, width, _ = boxes.map_box
        at = tuple(stage.surface.get_at((x + width - stage.to_pixels(7), y + stage.to_pixels(16))))[:3]
        found += [letter for letter, colour in BADGE_COLOURS.items() if colour == at] or ["-"]
    return found


def test_difference_heat_compares_the_same_panels_in_videos() -> None:
    app = make_branched_app()
    pair = [panel.key for panel in app.window.map_view.compared_panels()]
    assert pair == [PanelKey(1, 1), PanelKey(0, 1)]
    session = replay_spec_of_run(app.session.run).start_rerun()
    look = app.window.view_overrides.current_appearance()
    session.arrange_panels(look)
    session.seek_to_tick(app.session.tick)
    stage = OffscreenRenderer(session.run, (1280, 720), WindowPart("panels"), look)
    stage.draw_picture()
    assert [panel.key for panel in stage.map_view.compared_panels()] == pair
    assert badge_letters(stage) == ["-", "B", "-", "A"]
    for key, cells in app.window.map_view.cells.items():
        assert stage.map_view.cells[key].heat_bands.tolist() == cells.heat_bands.tolist()
    assert any("a1 (branch 1) - a1 (run)" in name for row in stage._legend_rows() for _, name, _ in row)


@pytest.mark.parametrize(
    ("number", "letter", "pair"), [(2, "B", [(1, 1), (0, 1)]), (4, "A", [(1, 1), (0, 1)]), (1, "A", [(0, 0), (1, 0)])]
)
def test_single_panel_keeps_or_starts_a_comparison(number: int, letter: str, pair: list[int]) -> None:
    app = make_branched_app()
    stage = OffscreenRenderer(
        app.session, (720, 540), WindowPart("panel", number), app.window.view_overrides.current_appearance()
    )
    stage.draw_picture()
    assert badge_letters(stage) == [letter]
    assert [panel.key for panel in stage.map_view.compared_panels()] == pair


def test_heat_scale_does_not_depend_on_earlier_pictures() -> None:
    session = replay().start_rerun()
    session.seek_to_tick(9)
    stage = stage_of(session, look=Appearance(heat_setting=HeatSetting("g")))
    first = shown(stage)
    stage.map_view.heat_scale = heat_scale_for_peak(stage.appearance.heat_setting, 5000.0)
    assert (shown(stage) == first).all()


def test_legend_omits_layers_replaced_by_heat() -> None:
    session = replay().start_rerun()

    def keys(kind: str) -> set[str]:
        rows = stage_of(session, (1280, 720), Appearance(heat_setting=HeatSetting(kind)))._legend_rows()
        return {key for row in rows for key, _, _ in row}

    assert {"closed", "open"} <= keys("off")
    assert not {"closed", "open"} & keys("visits")


def test_legend_omits_layers_of_absent_agents() -> None:
    """One panel of a film has its own agent alone."""
    base = setup()
    session = ReplaySpec(replace(base, agents=(*base.agents, AgentConfig("tba"), AgentConfig("ribs")))).start_rerun()

    def keys(part: str) -> set[str]:
        rows = stage_of(session, (1920, 1080), part=parse_window_part(part))._legend_rows()
        return {key for row in rows for key, _, _ in row} & {"tracing", "detour", "groups", "waypoints", "contours"}

    assert keys("panels") == {"tracing", "detour", "groups"}
    assert keys("panel:1") == set()
    assert keys("panel:3") == {"tracing", "detour"}
    assert keys("panel:4") == {"groups"}


def test_edits_and_restarts_have_tick_captions() -> None:
    session = replay().start_rerun()
    session.seek_to_tick(20)
    told = [str(happening) for happening in session.captions_between(0, 20)]
    assert told[0] == "tick 6: door blocked"
    assert "tick 12: door open" in told
    assert any("restart" in text for text in told)
    assert not session.captions_between(12, 12)


def test_stroke_is_one_caption_with_its_branch_name() -> None:
    app = make_app(setup(script=()))
    session = app.session
    session.advance_by_ticks(4)
    branch_actions.create_branch_at_current_tick(session)
    session.undo_history.open_entry(is_stroke=True)
    for x in range(3):
        cell_edits.block_or_free_cells(session, [session.run.world.grid.cell(x, 11)], block=True)
    session.undo_history.close_entry()
    again = replay_spec_of_run(session.run).start_rerun()
    again.seek_to_tick(6)
    assert [str(h) for h in again.captions_between(0, 6) if "restart" not in h.text] == [
        "tick 4: branch 1: 3 cells blocked"
    ]


class FrameCounter:
    """A recorder that only counts."""

    def __init__(self) -> None:
        self.frames = 0

    def add(self, picture: object) -> bool:
        self.frames += 1
        return True

    def repeat_frame(self, times: int = 1) -> bool:
        self.frames += times
        return True


def make_film(options: FilmOptions) -> Film:
    session = replay().start_rerun()
    return Film(session, stage_of(session, options.size), FrameCounter(), options)


def test_hold_is_shown_once_for_simultaneous_events() -> None:
    film = make_film(replace(OPTIONS, hold_s=1.0, fps=10))
    film.film_until_tick(10)
    assert film.recorder.frames == 10 + 10  # type: ignore[attr-defined] # one second, for the door and the restarts


@pytest.mark.parametrize(("text", "frames"), [("1", 20), ("3", 7), ("1/4", 80)])
def test_ticks_per_frame_determine_frame_count(text: str, frames: int) -> None:
    options = replace(OPTIONS, ticks_per_frame=parse_ticks_per_frame(text))
    film = make_film(options)
    film.film_until_tick(20)
    assert film.recorder.frames == frames == frame_count_between(0, 20, options)  # type: ignore[attr-defined]


def test_picture_of_a_range_shows_its_last_tick() -> None:
    film = draw_last_film_frame(replay(), (0, 10), OPTIONS)
    session = replay().start_rerun()
    session.seek_to_tick(9)
    assert film.tick == 9 and (copied_pixels(film.renderer.surface) == shown(stage_of(session))).all()


# --- the look -----------------------------------------------------------------------------------------


def test_scenario_view_round_trips_to_a_look() -> None:
    view = {
        "theme": "light",
        "layers": {"tree": True, "grid": False},
        "heat": {"kind": "visits", "is_log": False, "colours": "magma"},
        "camera": {"x": 12, "y": 6.5, "cells": 10},
        "cameras": {1: {"x": 3, "y": 4, "cells": 5}, "2": "fit"},
        "sidebar": "compare",
        "branches": [0],
    }
    look = appearance_from_view(view, LAYER_BY_KEY)
    assert look.map_part_by_panel == {PanelKey(0, 1): MapPart(3, 4, 5), PanelKey(0, 2): None}
    assert (
        look.layer_visibility["tree"]
        and not look.layer_visibility["grid"]
        and look.shared_map_part == MapPart(12, 6.5, 10)
    )
    assert appearance_from_view(view_mapping_of_appearance(look), LAYER_BY_KEY) == look
    assert appearance_from_view({}, LAYER_BY_KEY) == Appearance() and view_mapping_of_appearance(Appearance()) == {}
    assert appearance_from_view({"camera": "follow"}, LAYER_BY_KEY).is_following_agents


def test_view_reports_all_mistakes() -> None:
    view = {
        "theme": "lihgt",
        "layers": {"tre": True, "open": "often"},
        "heat": {"kind": "cold"},
        "camera": {"x": 1, "cells": 0},
        "sidbar": "compare",
    }
    with pytest.raises(ConfigError) as caught:
        appearance_from_view(view, LAYER_BY_KEY, "a.yaml: view")
    text = str(caught.value)
    for part in ("theme", "layers.tre:", "layers.open", "heat.kind", "camera.y", "camera.cells", "sidbar"):
        assert f"a.yaml: view.{part}" in text, part
    for wrong in (
        [],
        "near",
        {"camera": []},
        {"layers": 3},
        {"heat": []},
        {"cameras": {"x": "fit"}},
        {"cameras": {1: 3}},
    ):
        with pytest.raises(ConfigError):
            appearance_from_view(wrong if isinstance(wrong, dict) else {"camera": wrong}, LAYER_BY_KEY)


def test_look_keeps_the_map_section_at_any_size() -> None:
    assert map_part_of_camera(camera_fitting_map(24, 12, 300, 200), (300, 200), (24, 12)) is None
    camera = Camera(20.0, 2.0, 1.0)
    part = map_part_of_camera(camera, (300, 200), (24, 12))
    assert part is not None and part.to_camera((300, 200)) == camera
    assert part.to_camera((600, 400)).zoom == 40.0
    assert part.to_camera((600, 400)).px_to_map(300, 200) == camera.px_to_map(150, 100)


def test_window_pictures_are_rendered_at_their_scale() -> None:
    app = make_app(setup(), (640, 480))
    app.session.advance_by_ticks(5)
    app.draw_window()
    once = copied_pixels(draw_window_picture(app.window.view_overrides))
    twice = copied_pixels(draw_window_picture(app.window.view_overrides, 2))
    assert twice.shape == (960, 1280)
    assert (np.repeat(np.repeat(once, 2, 0), 2, 1) != twice).any(), "not merely scaled up"
    whole = app.window.map_view.panels_with_boxes()[0][1].panel_box
    assert draw_panel_picture(app.window.view_overrides, FIRST_PANEL, 4).get_size() == (4 * whole[2], 4 * whole[3])
    assert app.window.map_view.px_per_unit == 1.0 and app.window.surface.get_size() == (640, 480)


# --- what may be asked for ----------------------------------------------------------------------------


def test_part_and_ticks_per_frame_options_are_parsed() -> None:
    assert str(parse_window_part("panel:3")) == "panel:3" and parse_window_part("window") == WindowPart("window")
    assert parse_ticks_per_frame(" 1 / 4 ") == Fraction(1, 4)
    for wrong in ("panel", "panel:0", "panel:9", "Window", ""):
        with pytest.raises(ConfigError, match="expected window, panels or panel:N"):
            parse_window_part(wrong)
    for wrong in ("0", "-1", "1/0", "2/3", "1/1000", "x", "", "1000000"):
        with pytest.raises(ConfigError, match="whole number of ticks"):
            parse_ticks_per_frame(wrong)
    for size in ((1, 1), (15, 100), (10_000, 100), (8192, 8192)):
        with pytest.raises(ConfigError, match="16x16"):
            check_picture_size(size, None)
