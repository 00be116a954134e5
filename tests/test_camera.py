"""The camera: where the map appears, and what a zoom or a pan keeps where it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.model.camera import MAX_ZOOM, MIN_ZOOM, Camera, camera_fitting_map

zooms = st.floats(MIN_ZOOM, MAX_ZOOM)
places = st.floats(-2000, 2000)
cameras = st.builds(Camera, zooms, places, places)
pixels = st.floats(-4000, 4000)
sides = st.integers(1, 4000)


@given(cameras, pixels, pixels)
def test_to_map_and_to_px_are_inverse(camera, px, py):
    assert camera.map_to_px(*camera.px_to_map(px, py)) == pytest.approx((px, py), abs=1e-6)


@given(cameras, st.integers(0, 1900), st.integers(0, 1000))
def test_cell_at_returns_the_cell_covering_the_pixel_centre(camera, px, py):
    x, y = camera.cell_at(px, py)
    left, top = camera.map_to_px(x, y)
    right, bottom = camera.map_to_px(x + 1, y + 1)
    assert left - 1e-6 <= px + 0.5 <= right + 1e-6
    assert top - 1e-6 <= py + 0.5 <= bottom + 1e-6


@given(cameras, st.floats(0, 2000), st.floats(0, 2000), st.floats(0.2, 5))
def test_zooming_keeps_the_point_under_the_pointer(camera, px, py, factor):
    zoomed = camera.zoomed_at(px, py, factor)
    assert zoomed.px_to_map(px, py) == pytest.approx(camera.px_to_map(px, py), abs=1e-6)
    assert MIN_ZOOM <= zoomed.zoom <= MAX_ZOOM
    assert zoomed.zoom < 3 or zoomed.zoom == round(zoomed.zoom), "cells all look alike where they are large"


def test_every_zoom_step_changes_the_zoom():
    camera = Camera(MIN_ZOOM)
    seen = [camera.zoom]
    while camera.zoom < MAX_ZOOM:
        camera = camera.zoomed_at(100, 100, 1.25)
        assert camera.zoom > seen[-1]
        seen.append(camera.zoom)
    while camera.zoom > MIN_ZOOM:
        smaller = camera.zoomed_at(100, 100, 1 / 1.25)
        assert smaller.zoom < camera.zoom
        camera = smaller


@given(cameras, pixels, pixels)
def test_panning_moves_the_map_by_the_drag_distance(camera, dx, dy):
    x, y = camera.map_to_px(3, 5)
    assert camera.panned_by(dx, dy).map_to_px(3, 5) == pytest.approx((x + dx, y + dy), abs=1e-6)


@given(sides, sides, st.integers(1, 3840), st.integers(1, 2160))
def test_fitted_camera_shows_the_whole_map_centred(map_width, map_height, width, height):
    camera = camera_fitting_map(map_width, map_height, width, height)
    left, top = camera.map_to_px(0, 0)
    right, bottom = camera.map_to_px(map_width, map_height)
    assert left + right == pytest.approx(width, abs=1e-6)
    assert top + bottom == pytest.approx(height, abs=1e-6)
    if camera.zoom > MIN_ZOOM:
        assert left >= -1e-6
        assert top >= -1e-6


@given(cameras, sides, sides, st.integers(50, 3840), st.integers(50, 2160))
def test_kept_near_keeps_the_map_partly_visible(camera, map_width, map_height, width, height):
    near = camera.clamped_to_map(map_width, map_height, width, height)
    left, top = near.map_to_px(0, 0)
    right, bottom = near.map_to_px(map_width, map_height)
    assert left <= 0.75 * width + 1e-6
    assert right >= 0.25 * width - 1e-6
    assert top <= 0.75 * height + 1e-6
    assert bottom >= 0.25 * height - 1e-6
    assert near.zoom == camera.zoom


@given(cameras, places, places, sides, sides)
def test_centred_on_puts_the_point_in_the_middle(camera, x, y, width, height):
    assert camera.centred_on_point(x, y, width, height).map_to_px(x, y) == pytest.approx(
        (width / 2, height / 2), abs=1e-6
    )


@given(
    st.floats(1, 60), sides, sides, st.integers(50, 3840), st.integers(50, 2160), st.floats(0, 0.99), st.floats(0, 0.99)
)
def test_following_scrolls_only_along_axes_that_do_not_fit(zoom, map_width, map_height, width, height, x, y):
    cell = int(x * map_width), int(y * map_height)
    seen = Camera(zoom).centred_on_cell(cell, (map_width, map_height), (width, height)).px_to_map(width / 2, height / 2)
    for place, whole, room, middle in zip(cell, (map_width, map_height), (width, height), seen, strict=True):
        assert middle == pytest.approx(whole / 2 if whole * zoom <= room else place + 0.5, abs=1e-6)
