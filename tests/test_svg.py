"""Drawings for papers: outlines that fill exactly their cells, lines, valid XML, and nothing of layers that are off."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.png import png_texts
from sim.grid import Grid
from sim.world_commands import AgentConfig
from tests.filming import replay, setup
from tests.window import make_app
from ui.draw.layers import LAYERS
from ui.draw.layers.back_moves import straight_back_move_runs
from ui.draw.layers.trail import walked_lines
from ui.draw.svg_paths import outline_path, path_through_points
from ui.draw.theme import DARK, LIGHT, PALETTES
from ui.film.picture_files import save_panel_picture, save_panel_svg, save_window_picture
from ui.film.recording_files import FOLDER_VARIABLE
from ui.film.replay import ReplaySpec
from ui.maps.svg_page import panel_svg
from ui.model import branch_actions
from ui.model.appearance import Appearance, MapPart
from ui.model.layer_state import HeatSetting
from ui.model.panel_keys import FIRST_PANEL, PanelKey
from ui.model.run import Run
from ui.model.trails import Trail

SVG = "{http://www.w3.org/2000/svg}"


def cells_in_path(data: str, width: int, height: int) -> npt.NDArray[np.bool_]:
    """The cells inside path data of M, h, v and z by the even-odd rule, found by counting crossings to the left."""
    crossings = np.zeros((height, width + 1), np.int64)
    for loop in re.findall(r"M(-?\d+) (-?\d+)([^M]*)z", data):
        x, y = start = int(loop[0]), int(loop[1])
        points = [start]
        for kind, text in re.findall(r"([hv])(-?\d+)", loop[2]):
            x, y = (x + int(text), y) if kind == "h" else (x, y + int(text))
            points.append((x, y))
        for (ax, ay), (bx, by) in zip(points, [*points[1:], start], strict=True):
            assert ax == bx or ay == by, "all lines are straight"
            if ax == bx:
                crossings[min(ay, by) : max(ay, by), ax] += 1
    return (np.cumsum(crossings, axis=1)[:, :width] % 2).astype(np.bool_)


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(1, 14), st.integers(1, 14), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_outline_path_encloses_exactly_its_cells(seed: int, width: int, height: int, density: float) -> None:
    mask = np.random.default_rng(seed).random((height, width)) < density
    assert (cells_in_path(outline_path(mask), width, height) == mask).all()


def test_outline_path_has_the_minimum_number_of_corners() -> None:
    assert outline_path(np.zeros((3, 3), np.bool_)) == ""
    assert outline_path(np.ones((40, 70), np.bool_)) == "M0 0h70v40h-70z"
    ring = np.ones((3, 3), np.bool_)
    ring[1, 1] = False
    assert outline_path(ring).count("M") == 2


def test_line_path_merges_collinear_segments() -> None:
    assert path_through_points([(1, 1), (2, 1), (3, 1), (4, 2), (5, 3), (5, 4)]) == "M1 1h2l2 2v1"
    assert path_through_points([(1, 1)]) == "" and path_through_points([]) == ""
    assert path_through_points([(0, 0), (1, 0), (0, 0)]) == "M0 0h1h-1"


def trail_of(cells: list[int], back: set[int], width: int = 10) -> Trail:
    from sim.kernels import log

    trail = Trail(cells[0], 0, Grid.from_text_rows(["." * width] * 4))
    rows = log.new_tick_log(len(cells) - 1)
    rows.cell = cells[1:]
    rows.marks = [log.BACK_MOVE if i in back else 0 for i in range(1, len(cells))]
    trail.append_rows(rows, 0)
    return trail


def test_walked_lines_contain_each_segment_once() -> None:
    to_and_fro = [0, 1, 2, 1, 0, 1, 2, 3]
    assert walked_lines(trail_of(to_and_fro, set()), 10) == [[(0, 0), (1, 0), (2, 0), (3, 0)]]
    assert walked_lines(trail_of([0, 1, 2, 2, 2, 3], set()), 10) == [[(0, 0), (1, 0), (2, 0), (3, 0)]]


def test_back_runs_are_separated_from_walked_lines() -> None:
    trail = trail_of([0, 1, 2, 3, 2, 1, 2, 1, 11], {4, 5, 7})
    assert straight_back_move_runs(trail, 10) == [((3, 0), (1, 0))]
    assert walked_lines(trail, 10) == [[(0, 0), (1, 0), (2, 0), (3, 0)], [(1, 0), (1, 1)]]


# --- whole drawings -----------------------------------------------------------------------------------


def run_at(tick: int, **more: object) -> Run:
    rerun = replay(**more).start_rerun()
    rerun.seek_to_tick(tick)
    return rerun.run


def panel_drawing(look: Appearance | None = None, tick: int = 14, **more: object) -> ElementTree.Element:
    return ElementTree.fromstring(panel_svg(run_at(tick), FIRST_PANEL, look or Appearance(), **more))  # type: ignore[arg-type]


def colours_of(root: ElementTree.Element) -> set[str]:
    return {value for e in root.iter() for name, value in e.attrib.items() if name in ("fill", "stroke")}


def to_hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def test_svg_is_valid_with_title_and_description() -> None:
    root = panel_drawing()
    assert root.tag == f"{SVG}svg" and re.fullmatch(r"0 0 800 [\d.]+", root.attrib["viewBox"])
    title, about = root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")
    assert title == "Box: a0, tick 14"
    assert about is not None and run_at(14).world.compute_digest() in about
    assert not [value for e in root.iter() for value in e.attrib.values() if "nan" in value or "inf" in value]


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_svg_draws_walls_and_terrain_at_their_cells(palette) -> None:
    session = run_at(14)
    grid = session.world.grid
    root = ElementTree.fromstring(panel_svg(session, FIRST_PANEL, Appearance(palette.name)))
    paths = {e.attrib["fill"]: e.attrib["d"] for e in root.iter(f"{SVG}path") if e.attrib.get("fill-rule")}
    for colour, letters in (
        (palette.outside, b"@"),
        (palette.trees, b"T"),
        (palette.swamp, b"S"),
        (palette.water, b"W"),
    ):
        expected = np.isin(grid.terrain, np.frombuffer(letters, np.uint8))
        assert (cells_in_path(paths[to_hex(colour)], grid.width, grid.height) == expected).all()


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_svg_walls_have_the_outside_colour_with_an_outline(palette) -> None:
    grid = Grid.from_text_rows(["......", ".@@@@@", ".@@@@@", ".@@@@@", "......"])
    session = run_at(0, grid=grid, start=(0, 0), goal=grid.xy(5), switches={}, script=())
    root = ElementTree.fromstring(panel_svg(session, FIRST_PANEL, Appearance(palette.name)))
    (path,) = (e for e in root.iter(f"{SVG}path") if e.attrib.get("fill") == to_hex(palette.outside))
    assert path.attrib["stroke"] == to_hex(palette.wall)
    assert (cells_in_path(path.attrib["d"], 6, 5) == ~grid.free_mask.reshape(5, 6)).all()


WITH_DATABASE = ("regions", "waypoints")
WITH_RECORDS = ("waypoints", "records", "candidates")
"""Layers of which only agents with a database have something to show."""
ELSEWHERE = (*WITH_DATABASE, *WITH_RECORDS, "control", "terrain", "grid", "tracing", "detour", "groups", "contours")


@pytest.mark.parametrize("layer", WITH_DATABASE)
def test_svg_draws_database_layers(layer: str) -> None:
    run = ReplaySpec(replace(setup(), agents=(AgentConfig("d-lrta", params={"level": 1}),)))
    shown = {key: key == layer for key in WITH_DATABASE}
    with_it = panel_svg(run.start_rerun().run, FIRST_PANEL, Appearance(layer_visibility=shown))
    without = panel_svg(
        run.start_rerun().run, FIRST_PANEL, Appearance(layer_visibility=dict.fromkeys(WITH_DATABASE, False))
    )
    assert len(without) < len(with_it) and ElementTree.fromstring(with_it) is not None


@pytest.mark.parametrize("layer", WITH_RECORDS)
def test_svg_draws_record_layers(layer: str) -> None:
    """Without trying the goal itself it asks for a record, and with a cap of one step every climb is refused."""
    params = {"records": 8, "direct": False, "similar": 3, "cap": 1 if layer == "candidates" else 250}
    run = ReplaySpec(replace(setup(), agents=(AgentConfig("knn-lrta", params=params),)))
    session = run.start_rerun().run
    session.advance_by_ticks(1)
    with_it = panel_svg(session, FIRST_PANEL, Appearance(layer_visibility={key: key == layer for key in WITH_RECORDS}))
    without = panel_svg(session, FIRST_PANEL, Appearance(layer_visibility=dict.fromkeys(WITH_RECORDS, False)))
    assert len(without) < len(with_it)


@pytest.mark.parametrize(
    "layer",
    [layer.key for layer in LAYERS if layer.key not in ELSEWHERE],
)
def test_svg_omits_hidden_layers(layer: str) -> None:
    shown = {"tree": True, "flow": True}  # those that are off at first
    with_it = panel_svg(run_at(14), FIRST_PANEL, Appearance(layer_visibility=shown), has_legend=False)
    without = panel_svg(run_at(14), FIRST_PANEL, Appearance(layer_visibility={**shown, layer: False}), has_legend=False)
    assert len(without) < len(with_it)


def test_svg_heat_replaces_closed_cells() -> None:
    plain, hot = colours_of(panel_drawing()), colours_of(panel_drawing(Appearance(heat_setting=HeatSetting("visits"))))
    assert to_hex(DARK.closed) in plain and to_hex(DARK.closed) not in hot
    assert len(hot) > len(plain)


def test_svg_difference_legend_names_both_agents() -> None:
    session = run_at(30)
    text = panel_svg(session, PanelKey(0, 1), Appearance(heat_setting=HeatSetting("difference")))
    texts = [e.text for e in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert any(re.fullmatch(r"a1 - a0, -[\d-]+ to \+[\d-]+", text or "") for text in texts)
    app = make_app(setup(), (640, 480))
    app.session.advance_by_ticks(6)
    branch = branch_actions.create_branch_at_current_tick(app.session)
    text = panel_svg(app.session.run, PanelKey(branch.number, 0), Appearance(heat_setting=HeatSetting("difference")))
    assert "a0 (branch 1) - a0 (run), " in text, "the same agent in the branch that it comes from"


def test_svg_heat_scale_ends_at_the_largest_value() -> None:
    session = run_at(30)
    session.world.walkers[0].visit_counts[3] = 500
    session.update_after_change()
    text = panel_svg(session, PanelKey(0, 1), Appearance(heat_setting=HeatSetting("visits")))
    assert "visits, 1 to 211-500" in text, "shared by all panels"


def test_svg_legend_and_title_are_optional() -> None:
    whole, bare = panel_drawing(), panel_drawing(has_legend=False, has_title=False)
    texts = [e.text for e in whole.iter(f"{SVG}text")]
    assert "Back-moves" in texts and "a0" in texts
    assert not list(bare.iter(f"{SVG}text"))


def test_svg_map_part_is_clipped() -> None:
    root = panel_drawing(Appearance(shared_map_part=MapPart(8, 5, 6)))
    clip = root.find(f".//{SVG}clipPath/{SVG}rect")
    assert clip is not None
    assert [float(clip.attrib[key]) for key in ("x", "y", "width", "height")] == [5, 2, 6, 6]


def test_svg_escapes_names() -> None:
    begin = setup(title="a < b & c")
    begin = replace(begin, agents=tuple(replace(config, label="<&\"'>") for config in begin.agents))
    session = ReplaySpec(begin).start_rerun().run
    session.seek_to_tick(3)
    root = ElementTree.fromstring(panel_svg(session, FIRST_PANEL, Appearance()))
    assert root.findtext(f"{SVG}title") == "a < b & c: <&\"'>, tick 3"


def test_svg_of_a_large_map_is_compact() -> None:
    rng = np.random.default_rng(3)
    grid = Grid(np.where(rng.random((256, 256)) < 0.1, ord("@"), ord(".")).astype(np.uint8))
    free = np.flatnonzero(grid.free_mask)
    session = run_at(
        200, grid=grid, start=grid.xy(int(free[0])), goal=grid.xy(int(free[-1])), switches={}, script=(), budget=50
    )
    text = panel_svg(session, FIRST_PANEL, Appearance())
    ElementTree.fromstring(text)
    assert len(text) < 24 * int((~grid.free_mask).sum()), "bytes for each single wall"


# --- files --------------------------------------------------------------------------------------------


def test_images_and_svg_are_saved_under_unique_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "deep" / "pictures"))
    app = make_app(setup(caption="Look → here"), (640, 480))
    app.session.advance_by_ticks(7)
    paths = [
        save_window_picture(app.window.view_overrides),
        save_panel_picture(app.window.view_overrides, PanelKey(0, 1), scale=2),
        save_panel_svg(app.window.view_overrides, FIRST_PANEL),
        save_panel_svg(app.window.view_overrides, FIRST_PANEL),
    ]
    assert [path.name for path in paths] == ["a0-vs-a1-tick-7.png", "a1-tick-7.png", "a0-tick-7.svg", "a0-tick-7-2.svg"]
    texts = png_texts(paths[0].read_bytes())
    assert (
        texts["Title"] == "Box" and texts["Tick"] == "7" and texts["Digest"] == app.session.run.world.compute_digest()
    )
    assert texts["Description"] == "Look → here" and "a1: rtb-wa budget=3 weight=2" in texts["Agents"]
    ElementTree.parse(paths[2])
    branch_actions.create_branch_at_current_tick(app.session)
    assert "run " in png_texts(save_window_picture(app.window.view_overrides).read_bytes())["Branches"]
    assert set(PALETTES) == {"dark", "light"}


def test_svg_draws_and_labels_ida_star_contours() -> None:
    run = ReplaySpec(replace(setup(), agents=(AgentConfig("ida"),), budget=50)).start_rerun().run
    run.advance_by_ticks(20)
    with_it = panel_svg(run, FIRST_PANEL, Appearance())
    without = panel_svg(run, FIRST_PANEL, Appearance(layer_visibility={"contours": False}))
    limits = run.world.walkers[0].agent.view().contours
    assert all(f">{limit:.1f}</text>" in with_it for limit in set(limits.tolist()) - {0.0})  # type: ignore[union-attr]
    assert len(without) < len(with_it)
