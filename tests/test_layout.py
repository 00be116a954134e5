"""Nothing overlaps at any window size, UI scale and number of panels."""

from itertools import combinations

import pygame
import pytest

from ui.draw.theme import DARK
from ui.model.camera import camera_fitting_map
from ui.model.layout import (
    HEADER_HEIGHT,
    HUD_HEIGHT,
    HUD_ROW_HEIGHT,
    MIN_FILLED_SHARE,
    MIN_WIDTH_FOR_ONE_ROW,
    MIN_WIDTH_FOR_TWO_ROWS,
    Layout,
    lay_out_window,
    panel_tiles,
)
from ui.widgets.canvas import Canvas

SIZES = [(1280, 720), (1600, 900), (1920, 1080), (2560, 1440), (3840, 2160)]
SCALES = [0.75, 1.0, 1.25, 1.5, 2.0]


def boxes_overlap(a, b) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def main_boxes(plan: Layout):
    boxes = [plan.top_bar, plan.transport_bar, *(p.panel_box for p in plan.panel_boxes)]
    return boxes + ([plan.sidebar_box] if plan.sidebar_box else [])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("count", range(1, 9))
def test_boxes_do_not_overlap_and_fit_the_window(size, scale, count):
    plan = lay_out_window(size, scale, count)
    for a, b in combinations(main_boxes(plan), 2):
        assert not boxes_overlap(a, b), (a, b)
    for box in main_boxes(plan):
        assert box[0] >= 0 and box[1] >= 0 and box[0] + box[2] <= size[0] and box[1] + box[3] <= size[1], box


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", range(1, 9))
def test_panel_parts_are_stacked_vertically(size, count):
    for panel in lay_out_window(size, 1.0, count).panel_boxes:
        assert panel.header_box[1] + panel.header_box[3] == panel.map_box[1]
        assert panel.map_box[1] + panel.map_box[3] == panel.hud_box[1]
        assert panel.hud_box[1] + panel.hud_box[3] == panel.panel_box[1] + panel.panel_box[3]
        assert panel.header_box[3] == HEADER_HEIGHT


def test_panels_have_minimum_size_in_smallest_window():
    for count in range(1, 9):
        for panel in lay_out_window((1280, 720), 1.0, count).panel_boxes:
            assert panel.map_box[2] >= 150 and panel.map_box[3] >= 90, (count, panel.map_box)


def test_bare_layout_gives_panels_the_whole_window():
    plan = lay_out_window((1600, 900), 1.0, 1, is_bare=True)
    assert plan.sidebar_box is None
    assert plan.panel_boxes[0].panel_box[2] > 1570 and plan.panel_boxes[0].panel_box[3] > 870


def test_narrow_window_has_no_sidebar():
    assert lay_out_window((500, 700), 1.0, 1).sidebar_box is None


def test_tiles_fill_their_area():
    area = (10, 20, 1000, 600)
    boxes = panel_tiles(area, 4, 2, 8)
    assert max(b[0] + b[2] for b in boxes) == 1010
    assert max(b[1] + b[3] for b in boxes) == 620


@pytest.mark.parametrize(("size", "least"), [((1920, 1080), 390), ((1600, 900), 310), ((1280, 720), 190)])
def test_four_square_maps_use_the_available_space(size, least):
    """At 1920 x 1080 rows of two with the numbers below them gave 320 pixels."""
    for panel in lay_out_window(size, 1.0, 4, map_size=(64, 64)).panel_boxes:
        assert min(panel.map_box[2:]) >= least


def test_panel_arrangement_follows_the_map_shape():
    wide = lay_out_window((1920, 1080), 1.0, 3, map_size=(200, 40)).panel_boxes
    high = lay_out_window((1920, 1080), 1.0, 3, map_size=(40, 200)).panel_boxes
    assert len({panel.panel_box[0] for panel in wide}) == 1 and len({panel.panel_box[1] for panel in high}) == 1


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("count", range(1, 9))
def test_hud_is_below_or_beside_the_map_without_overlap(scale, count):
    for panel in lay_out_window((1920, 1080), scale, count, map_size=(64, 64)).panel_boxes:
        assert not any(
            boxes_overlap(a, b) for a, b in combinations((panel.header_box, panel.map_box, panel.hud_box), 2)
        )
        assert panel.has_side_hud == (panel.hud_box[0] > panel.map_box[0])


@pytest.mark.parametrize("map_size", [(64, 64), (200, 40), (40, 200), (31, 24)])
@pytest.mark.parametrize("count", range(1, 9))
def test_second_hud_row_is_added_only_if_map_zoom_is_unchanged(count, map_size):
    for size in [(800, 600), (1280, 800), (1366, 768), (1600, 900), (1920, 1080)]:
        for panel in lay_out_window(size, 1.0, count, map_size=map_size).panel_boxes:
            width, height = panel.map_box[2:]
            if (
                panel.has_side_hud
                or not MIN_WIDTH_FOR_TWO_ROWS <= width < MIN_WIDTH_FOR_ONE_ROW
                or panel.hud_box[3] < HUD_HEIGHT
            ):
                continue
            more = HUD_ROW_HEIGHT if panel.hud_box[3] > HUD_HEIGHT else 0
            one = camera_fitting_map(*map_size, width, height + more).zoom
            two = camera_fitting_map(*map_size, width, max(1, height + more - HUD_ROW_HEIGHT)).zoom
            assert (one == two) == (more > 0), (size, panel)


def test_two_square_maps_have_two_hud_rows():
    """At 1280 x 800 there were 190 black pixels above and below each map, and numbers crammed into lines."""
    for panel in lay_out_window((1280, 800), 1.0, 2, map_size=(96, 96)).panel_boxes:
        assert panel.hud_box[3] == HUD_HEIGHT + HUD_ROW_HEIGHT


def test_three_narrow_panels_fill_free_space_with_hud_rows():
    """At 1280 x 800 with the sidebar five numbers of thirteen were shown, between 130 black pixels and the foot."""
    for panel in lay_out_window((1280, 800), 1.0, 3, map_size=(64, 64)).panel_boxes:
        assert panel.panel_box[2] < MIN_WIDTH_FOR_TWO_ROWS and panel.hud_box[3] == HUD_HEIGHT + 2 * HUD_ROW_HEIGHT
        assert (
            camera_fitting_map(64, 64, *panel.map_box[2:]).zoom
            == camera_fitting_map(64, 64, panel.map_box[2], panel.map_box[3] + 2 * HUD_ROW_HEIGHT).zoom
        )


@pytest.mark.parametrize(("size", "count", "shows_sidebar"), [((1280, 720), 4, True), ((1366, 768), 6, False)])
def test_layout_prefers_less_empty_area_at_equal_map_size(size, count, shows_sidebar):
    """Four narrow columns, three fifths of each black, had the map of 64 x 64 no larger than two rows of two."""
    panels = lay_out_window(size, 1.0, count, map_size=(64, 64), shows_sidebar=shows_sidebar).panel_boxes
    zoom = camera_fitting_map(64, 64, *panels[0].map_box[2:]).zoom
    assert (zoom * 64) ** 2 >= MIN_FILLED_SHARE * panels[0].map_box[2] * panels[0].map_box[3]
    assert len({panel.panel_box[0] for panel in panels}) == count // 2


def test_layout_avoids_empty_tiles():
    panels = lay_out_window((1280, 800), 1.0, 3, map_size=(64, 64)).panel_boxes
    assert len({panel.panel_box[0] for panel in panels}) == 3


WORDS = ["off", "scrub", "visits", "expand", "learn", "g", "depth", "A - B"]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("width", [120, 180, 272, 400, 900])
def test_segmented_choices_wrap_into_enough_rows(scale, width):
    """No word is cut, however narrow the sidebar or large the text; nothing overlaps; rows are of equal length."""
    pygame.font.init()
    canvas = Canvas()
    canvas.begin_frame(pygame.Surface((2000, 900)), DARK, scale, (-1, -1))
    end = canvas.draw_segmented_control(
        "kind", (10, 20, round(width * scale), 25), [(w, w, "") for w in WORDS], "off", lambda _: None
    )
    boxes = [spot.box for spot in canvas.hit_regions]
    assert len(boxes) == len(WORDS) and end == max(y + height for _, y, _, height in boxes)
    assert not any(boxes_overlap(a, b) for a, b in combinations(boxes, 2))
    for word, (x, _, wide, _) in zip(WORDS, boxes, strict=True):
        assert canvas.text_width(word, 12) < wide and x + wide <= 10 + round(width * scale)
    rows = [sum(box[1] == y for box in boxes) for y in sorted({box[1] for box in boxes})]
    assert len(set(rows[:-1])) <= 1 and rows[-1] <= rows[0]
    assert width < 900 or len(rows) == 1


def test_text_is_measured_at_window_scale_before_first_draw():
    pygame.font.init()
    usual, large = Canvas(), Canvas(2.0)
    assert large.to_px(13) == 2 * usual.to_px(13) and large.text_width("waiting") > 1.8 * usual.text_width("waiting")
    assert len(large.wrap_text("as wide as before", 80)) > len(usual.wrap_text("as wide as before", 80))
