"""The stage: pictures that depend on the run, the look and the size alone; and what the look says."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pygame
import pytest

from sim import commands
from sim.commands import AgentConfig
from sim.params import ConfigError
from tests.filming import OPTIONS, SMALL, replay, setup, shown, stage_of
from tests.window import drag, make_app, press
from ui.app import App
from ui.draw.heat import scale_for
from ui.draw.layers import LAYER_BY_KEY
from ui.film.film import Film, picture
from ui.film.options import FilmOptions, Part, check_size, frames_between, parse_part, parse_ticks_per_frame
from ui.film.pictures import draw_panel, draw_window, surface_pixels
from ui.film.replay import Replay, replay_of
from ui.film.stage import Stage
from ui.model import branching, painting, turning
from ui.model.camera import Camera, fitted
from ui.model.keys import FIRST, PanelKey
from ui.model.layers import HeatSetting
from ui.model.look import Look, MapPart, look_from_view, part_of, view_of
from ui.panels.badges import BADGE_COLOURS

HEATS = ("off", "visits", "expansions", "learned", "g", "difference")


# --- pictures depend on the run alone -----------------------------------------------------------------


@pytest.mark.parametrize("heat", HEATS)
def test_the_way_to_a_tick_does_not_show(heat: str) -> None:
    """One tick after the other, in one go, or there and back: the same pixels."""
    look = Look(heat=HeatSetting(heat, is_log=False), visible={"tree": True})
    slow, fast, back = (replay().begin() for _ in range(3))
    stages = [stage_of(session, look=look) for session in (slow, fast, back)]
    for tick in range(19):
        slow.go_to(tick)
        stages[0].draw()
    fast.go_to(18)
    back.go_to(40)
    stages[2].draw()
    back.go_to(18)
    pictures = [shown(stage) for stage in stages]
    assert (pictures[0] == pictures[1]).all() and (pictures[0] == pictures[2]).all()


def test_window_and_stage_watch_one_session_without_disturbing_each_other() -> None:
    app, alone = make_app(setup(), (640, 480)), make_app(setup(), (640, 480))
    stage = Stage(app.session, SMALL, Part("panels"), app.window.dressing.look())
    for i in range(30):
        app.session.advance(1)
        if i % 3 == 0:
            app.draw()
        stage.draw()
    app.draw()
    in_company = surface_pixels(app.window.surface)
    picture_in_company = surface_pixels(stage.draw())
    alone.session.advance(30)
    alone.draw()
    assert (surface_pixels(alone.window.surface) == in_company).all()
    fresh = Stage(alone.session, SMALL, Part("panels"), alone.window.dressing.look())
    assert (surface_pixels(fresh.draw()) == picture_in_company).all()


def test_mouse_dialogs_messages_focus_and_window_size_do_not_show() -> None:
    app = make_app(setup(), (900, 600))
    app.session.advance(9)
    again = [replay_of(app.session.run).begin() for _ in range(2)]
    kinds = zip(again, ("panels", "window"), strict=True)
    stages = [Stage(rerun.run, SMALL, Part(kind), app.window.dressing.look()) for rerun, kind in kinds]
    for rerun in again:
        rerun.go_to(9)
    before = [surface_pixels(stage.draw()) for stage in stages]
    drag(app, (200, 200), (220, 220), button=2)
    press(app, pygame.K_F1)
    app.window.say("something")
    app.session.focus(PanelKey(0, 1))
    app.window.resized(pygame.display.set_mode((1000, 700)))
    app.frame(0.05)
    assert all((surface_pixels(stage.draw()) == old).all() for stage, old in zip(stages, before, strict=True))


def test_agents_glide_by_the_frame_not_by_a_clock() -> None:
    session = replay().begin()
    session.go_to(9)
    stage = stage_of(session)
    half, whole = shown(stage, 0.5), shown(stage, 1.0)
    assert (half != whole).any()
    assert (shown(stage, 0.5) == half).all()


def test_a_replay_has_the_digests_of_the_window_with_its_commands_and_branches() -> None:
    app = make_app(setup())
    session = app.session
    session.advance(5)
    painting.paint(session, [session.run.world.grid.cell(3, 9)], block=True)
    session.advance(4)
    session.do(commands.SetBudget(5))
    branch = branching.branch_here(session)
    session.do(commands.SetParam(0, "weight", 3.0))
    session.advance(6)
    again = replay_of(session.run).begin()
    again.go_to(15)
    own = [b.timeline.world.digest() for b in session.run.shown_branches]
    assert list(again.run.digests()) == own and len(set(own)) == 2
    assert [panel.branch for panel in again.run.panels] == [panel.branch for panel in session.run.panels]
    assert {branch.name, "run"} == {panel.branch for panel in again.run.panels}


# --- parts, sizes, captions ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(16, 16), (17, 33), (64, 48), (200, 1000), (641, 361), (1280, 720)])
@pytest.mark.parametrize("part", ["window", "panels", "panel:2"])
def test_every_part_can_be_drawn_at_every_size(size: tuple[int, int], part: str) -> None:
    session = replay().begin()
    session.go_to(7)
    stage = stage_of(session, size, part=parse_part(part))
    assert stage.draw(1.0, ["tick 6: door blocked"]).get_size() == size
    assert len(np.unique(surface_pixels(stage.surface))) > 1


def test_one_panel_shows_one_agent_and_branches_stand_side_by_side() -> None:
    app = make_app(setup())
    app.session.advance(5)
    branching.branch_here(app.session)
    session = replay_of(app.session.run).begin()
    session.go_to(5)
    assert len(stage_of(session).scene.shown_panels) == 4
    stage = stage_of(session, part=Part("panel", 3))
    assert [panel.branch for panel in stage.scene.shown_panels] == ["branch 1"]


def test_the_legend_names_only_layers_that_are_on() -> None:
    session = replay().begin()

    def names(look: Look) -> list[str]:
        return [name for row in stage_of(session, (1280, 720), look)._legend_rows() for _, name, _ in row]

    all_on = names(Look())
    assert "Back-moves" in all_on and "Parent tree" not in all_on
    hidden = Look(visible={"back_moves": False})
    assert set(all_on) - set(names(hidden)) == {"Back-moves"}
    for kind, words in (("visits", "visits "), ("scrub", "scrubbing "), ("learned", "learned h ")):
        assert any(name == words for name in names(Look(heat=HeatSetting(kind))))


def branched(agents: int = 2) -> App:
    """A window with a run and a branch in which the door stays open, the second agent of the branch focused."""
    app = make_app(setup(agents, script=()), (900, 600))
    app.session.advance(3)
    branch = branching.branch_here(app.session)
    turning.flip_switch(app.session, "door")
    app.session.advance(8)
    app.session.focus(PanelKey(branch.number, 1))
    app.window.scene.layers.show_heat("difference")
    app.draw()
    return app


def badges(stage: Stage) -> list[str]:
    """The letters in the corners of the maps of a picture, by their colours."""
    found = []
    for _, boxes in stage.scene.panels():
        x, y, width, _ = boxes.map
        at = tuple(stage.surface.get_at((x + width - stage.px(7), y + stage.px(16))))[:3]
        found += [letter for letter, colour in BADGE_COLOURS.items() if colour == at] or ["-"]
    return found


def test_a_minus_b_is_of_the_same_panels_in_videos_as_in_the_window() -> None:
    app = branched()
    pair = [panel.key for panel in app.window.scene.compared_panels()]
    assert pair == [PanelKey(1, 1), PanelKey(0, 1)]
    session = replay_of(app.session.run).begin()
    look = app.window.dressing.look()
    session.wear(look)
    session.go_to(app.session.tick)
    stage = Stage(session.run, (1280, 720), Part("panels"), look)
    stage.draw()
    assert [panel.key for panel in stage.scene.compared_panels()] == pair
    assert badges(stage) == ["-", "B", "-", "A"]
    for key, cells in app.window.scene.cells.items():
        assert stage.scene.cells[key].bands.tolist() == cells.bands.tolist()
    assert any("a1 (branch 1) - a1 (run)" in name for row in stage._legend_rows() for _, name, _ in row)


@pytest.mark.parametrize(
    ("number", "letter", "pair"), [(2, "B", [(1, 1), (0, 1)]), (4, "A", [(1, 1), (0, 1)]), (1, "A", [(0, 0), (1, 0)])]
)
def test_a_panel_alone_keeps_its_part_in_a_comparison_or_begins_one(number: int, letter: str, pair: list[int]) -> None:
    app = branched()
    stage = Stage(app.session, (720, 540), Part("panel", number), app.window.dressing.look())
    stage.draw()
    assert badges(stage) == [letter]
    assert [panel.key for panel in stage.scene.compared_panels()] == pair


def test_the_scale_of_a_picture_does_not_depend_on_pictures_before_it() -> None:
    session = replay().begin()
    session.go_to(9)
    stage = stage_of(session, look=Look(heat=HeatSetting("g")))
    first = shown(stage)
    stage.scene.heat_scale = scale_for(stage.look.heat, 5000.0)
    assert (shown(stage) == first).all()


def test_the_legend_leaves_out_what_heat_replaces() -> None:
    session = replay().begin()

    def keys(kind: str) -> set[str]:
        rows = stage_of(session, (1280, 720), Look(heat=HeatSetting(kind)))._legend_rows()
        return {key for row in rows for key, _, _ in row}

    assert {"closed", "open"} <= keys("off")
    assert not {"closed", "open"} & keys("visits")


def test_the_legend_leaves_out_what_no_agent_of_the_film_shows() -> None:
    """One panel of a film has its own agent alone."""
    base = setup()
    session = Replay(replace(base, agents=(*base.agents, AgentConfig("tba"), AgentConfig("ribs")))).begin()

    def keys(part: str) -> set[str]:
        rows = stage_of(session, (1920, 1080), part=parse_part(part))._legend_rows()
        return {key for row in rows for key, _, _ in row} & {"tracing", "detour", "groups", "waypoints", "contours"}

    assert keys("panels") == {"tracing", "detour", "groups"}
    assert keys("panel:1") == set()
    assert keys("panel:3") == {"tracing", "detour"}
    assert keys("panel:4") == {"groups"}


def test_edits_and_restarts_have_captions_with_their_ticks() -> None:
    session = replay().begin()
    session.go_to(20)
    told = [str(happening) for happening in session.happenings(0, 20)]
    assert told[0] == "tick 6: door blocked"
    assert "tick 12: door open" in told
    assert any("restart" in text for text in told)
    assert not session.happenings(12, 12)


def test_a_stroke_is_one_caption_and_a_branch_is_named() -> None:
    app = make_app(setup(script=()))
    session = app.session
    session.advance(4)
    branching.branch_here(session)
    session.history.begin(is_stroke=True)
    for x in range(3):
        painting.paint(session, [session.run.world.grid.cell(x, 11)], block=True)
    session.history.end()
    again = replay_of(session.run).begin()
    again.go_to(6)
    assert [str(h) for h in again.happenings(0, 6) if "restart" not in h.text] == ["tick 4: branch 1: 3 cells blocked"]


class Counter:
    """A recorder that only counts."""

    def __init__(self) -> None:
        self.frames = 0

    def add(self, picture: object) -> bool:
        self.frames += 1
        return True

    def repeat(self, times: int = 1) -> bool:
        self.frames += times
        return True


def film_of(options: FilmOptions) -> Film:
    session = replay().begin()
    return Film(session, stage_of(session, options.size), Counter(), options)


def test_holds_stand_still_once_for_what_happens_together() -> None:
    film = film_of(replace(OPTIONS, hold_s=1.0, fps=10))
    film.run_to(10)
    assert film.recorder.frames == 10 + 10  # type: ignore[attr-defined] # one second, for the door and the restarts


@pytest.mark.parametrize(("text", "frames"), [("1", 20), ("3", 7), ("1/4", 80)])
def test_ticks_per_frame(text: str, frames: int) -> None:
    options = replace(OPTIONS, ticks_per_frame=parse_ticks_per_frame(text))
    film = film_of(options)
    film.run_to(20)
    assert film.recorder.frames == frames == frames_between(0, 20, options)  # type: ignore[attr-defined]


def test_a_picture_shows_the_last_tick_of_a_range() -> None:
    film = picture(replay(), (0, 10), OPTIONS)
    session = replay().begin()
    session.go_to(9)
    assert film.tick == 9 and (surface_pixels(film.stage.surface) == shown(stage_of(session))).all()


# --- the look -----------------------------------------------------------------------------------------


def test_a_view_of_a_scenario_is_a_look() -> None:
    view = {
        "theme": "light",
        "layers": {"tree": True, "grid": False},
        "heat": {"kind": "visits", "is_log": False, "colours": "magma"},
        "camera": {"x": 12, "y": 6.5, "cells": 10},
        "cameras": {1: {"x": 3, "y": 4, "cells": 5}, "2": "fit"},
        "sidebar": "compare",
        "branches": [0],
    }
    look = look_from_view(view, LAYER_BY_KEY)
    assert look.own_parts == {PanelKey(0, 1): MapPart(3, 4, 5), PanelKey(0, 2): None}
    assert look.visible["tree"] and not look.visible["grid"] and look.part == MapPart(12, 6.5, 10)
    assert look_from_view(view_of(look), LAYER_BY_KEY) == look
    assert look_from_view({}, LAYER_BY_KEY) == Look() and view_of(Look()) == {}
    assert look_from_view({"camera": "follow"}, LAYER_BY_KEY).follows


def test_everything_wrong_with_a_view_is_said_at_once() -> None:
    view = {
        "theme": "lihgt",
        "layers": {"tre": True, "open": "often"},
        "heat": {"kind": "cold"},
        "camera": {"x": 1, "cells": 0},
        "sidbar": "compare",
    }
    with pytest.raises(ConfigError) as caught:
        look_from_view(view, LAYER_BY_KEY, "a.yaml: view")
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
            look_from_view(wrong if isinstance(wrong, dict) else {"camera": wrong}, LAYER_BY_KEY)


def test_a_look_keeps_the_part_of_the_map_at_any_size() -> None:
    assert part_of(fitted(24, 12, 300, 200), (300, 200), (24, 12)) is None
    camera = Camera(20.0, 2.0, 1.0)
    part = part_of(camera, (300, 200), (24, 12))
    assert part is not None and part.camera((300, 200)) == camera
    assert part.camera((600, 400)).zoom == 40.0
    assert part.camera((600, 400)).to_map(300, 200) == camera.to_map(150, 100)


def test_pictures_of_the_window_are_rendered_at_their_scale() -> None:
    app = make_app(setup(), (640, 480))
    app.session.advance(5)
    app.draw()
    once = surface_pixels(draw_window(app.window.dressing))
    twice = surface_pixels(draw_window(app.window.dressing, 2))
    assert twice.shape == (960, 1280)
    assert (np.repeat(np.repeat(once, 2, 0), 2, 1) != twice).any(), "not merely scaled up"
    whole = app.window.scene.panels()[0][1].whole
    assert draw_panel(app.window.dressing, FIRST, 4).get_size() == (4 * whole[2], 4 * whole[3])
    assert app.window.scene.scale == 1.0 and app.window.surface.get_size() == (640, 480)


# --- what may be asked for ----------------------------------------------------------------------------


def test_words_of_the_command_line() -> None:
    assert str(parse_part("panel:3")) == "panel:3" and parse_part("window") == Part("window")
    assert parse_ticks_per_frame(" 1 / 4 ") == Fraction(1, 4)
    for wrong in ("panel", "panel:0", "panel:9", "Window", ""):
        with pytest.raises(ConfigError, match="expected window, panels or panel:N"):
            parse_part(wrong)
    for wrong in ("0", "-1", "1/0", "2/3", "1/1000", "x", "", "1000000"):
        with pytest.raises(ConfigError, match="whole number of ticks"):
            parse_ticks_per_frame(wrong)
    for size in ((1, 1), (15, 100), (10_000, 100), (8192, 8192)):
        with pytest.raises(ConfigError, match="16x16"):
            check_size(size, None)
