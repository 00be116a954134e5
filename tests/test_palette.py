"""Colours: told apart in greyscale and by every kind of colour vision; text that can be read."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from ui.draw.heat_scale import heat_scale_for_peak
from ui.draw.map_colours import detour_colour, group_colours, heat_dot_colour
from ui.draw.marker_shapes import casing_colour_for
from ui.draw.theme import DIVERGING, HEAT_MAPS, PALETTES, Colour, Palette, heat_colours
from ui.model.layer_state import HEAT_COLOUR_NAMES, HeatSetting
from ui.model.settings import THEMES
from ui.panels.comparison_badges import BADGE_COLOURS, BADGE_TEXT_COLOUR

# Full severity, from "A Physiologically-based Model for Simulation of Color Vision Deficiency" by Machado, Oliveira
# and Fernandes, 2009; they apply to linear RGB.
DEFICIENCIES = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}

TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)  # from linear sRGB

NINE_ROLES = ("outside", "free", "wall", "trees", "swamp", "water", "closed", "open", "back_move")
MIN_PAIR_DISTANCE = {"light": 10.1, "dark": 13.8}  # OKLab; outside and free are excepted in dark, with 8.6
TRACED_AGAINST_WALL = {"light": 15.0, "dark": 20.7}


def linear(colour: Colour) -> np.ndarray:
    c = np.array(colour) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(colour: Colour, vision: str = "normal") -> tuple[float, float, float]:
    """CIE L*a*b* (D65) of a colour as somebody with this vision sees it."""
    rgb = np.clip(DEFICIENCIES[vision] @ linear(colour), 0, 1)
    x, y, z = TO_XYZ @ rgb / np.array([0.95047, 1.0, 1.08883])
    fx, fy, fz = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def ciede2000(one: tuple[float, float, float], two: tuple[float, float, float]) -> float:
    """The colour difference of Sharma, Wu and Dalal, 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean_c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    dh = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    if c1 * c2 == 0:
        mean_h = h1 + h2
    elif abs(h1 - h2) <= 180:
        mean_h = (h1 + h2) / 2
    else:
        mean_h = (h1 + h2 + (360 if h1 + h2 < 360 else -360)) / 2
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    cos = lambda degrees: np.cos(np.radians(degrees))  # noqa: E731
    t = 1 - 0.17 * cos(mean_h - 30) + 0.24 * cos(2 * mean_h) + 0.32 * cos(3 * mean_h + 6) - 0.20 * cos(4 * mean_h - 63)
    s_l = 1 + 0.015 * (mean_l - 50) ** 2 / np.sqrt(20 + (mean_l - 50) ** 2)
    s_c, s_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    turn = np.sin(np.radians(60 * np.exp(-(((mean_h - 275) / 25) ** 2))))
    r_t = -2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7)) * turn
    lightness, chroma = (l2 - l1) / s_l, (c2 - c1) / s_c
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh / 2)) / s_h
    return float(np.sqrt(lightness**2 + chroma**2 + hue**2 + r_t * chroma * hue))


def difference(a: Colour, b: Colour, vision: str = "normal") -> float:
    return ciede2000(lab(a, vision), lab(b, vision))


def min_difference(a: Colour, b: Colour) -> float:
    """For whoever tells the two apart worst."""
    return min(difference(a, b, vision) for vision in DEFICIENCIES)


def contrast(a: Colour, b: Colour) -> float:
    """WCAG contrast ratio."""
    low, high = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(c)) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def colours_of(palette: Palette) -> dict[str, Colour]:
    """Its colours by their roles."""
    return {role: colour for role, colour in vars(palette).items() if role != "name"}


@pytest.fixture(params=sorted(PALETTES))
def palette(request: pytest.FixtureRequest) -> Palette:
    return PALETTES[request.param]


# Pairs of L*a*b* and their difference from the test data of Sharma, Wu and Dalal.
@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, -1.3802, -84.2814), (50.0, 0.0, -82.7485), 1.0000),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (58.0, 24.0, 15.0), 19.4535),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_ciede2000_matches_published_test_data(one, two, expected):
    assert ciede2000(one, two) == pytest.approx(expected, abs=1e-4)
    assert ciede2000(two, one) == pytest.approx(expected, abs=1e-4)


def test_map_colours_differ_for_every_kind_of_vision(palette):
    colours = colours_of(palette)
    for a, b in combinations(NINE_ROLES, 2):
        limit = 8.6 if palette.name == "dark" and (a, b) == ("outside", "free") else MIN_PAIR_DISTANCE[palette.name]
        assert round(min_difference(colours[a], colours[b]), 1) >= limit, (palette.name, a, b)


def test_traced_path_contrasts_with_walls(palette):
    assert round(min_difference(palette.path, palette.wall), 1) >= TRACED_AGAINST_WALL[palette.name]


def test_light_theme_darkens_from_free_to_closed_to_wall():
    light = PALETTES["light"]
    free, closed, wall = (lab(c)[0] for c in (light.free, light.closed, light.wall))
    assert free - closed >= 10
    assert closed - wall >= 10


def test_shortcut_search_colour_differs_from_other_fills(palette):
    for role in ("free", "closed", "wall", "outside", "open"):
        assert min_difference(detour_colour(palette), colours_of(palette)[role]) >= 10, role


@pytest.mark.parametrize(
    ("mark", "ground", "light", "dark"),
    [("wall", "free", 10.6, 6.7), ("open", "free", 5.2, 6.8), ("back_move", "free", 3.9, 6.6)],
)
def test_marks_have_the_stated_contrast(palette, mark, ground, light, dark):
    colours = colours_of(palette)
    expected = light if palette.name == "light" else dark
    assert contrast(colours[mark], colours[ground]) >= expected - 0.06  # stated to one decimal


@pytest.mark.parametrize("ink", ["text", "dim", "accent", "warning", "arrived"])
@pytest.mark.parametrize("ground", ["window", "surface", "raised"])
def test_text_has_readable_contrast(palette, ink, ground):
    colours = colours_of(palette)
    assert contrast(colours[ink], colours[ground]) >= 4.5, (palette.name, ink, ground)


def test_text_on_the_accent_has_readable_contrast(palette):
    assert contrast(palette.on_accent, palette.accent) >= 4.5


MARKS = ("agent", "tracing", "path", "trail", "back_move", "best")


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_or_its_casing_contrasts_with_every_fill(palette, mark):
    """Either the mark or its casing contrasts with whatever it may lie on."""
    core = colours_of(palette)[mark]

    def shows(fill: Colour) -> float:
        return max(contrast(core, fill), contrast(casing_colour_for(palette, core), fill))

    assert contrast(core, casing_colour_for(palette, core)) >= 3.0
    assert min(shows(fill) for fill in (palette.free, palette.closed)) >= 2.8
    assert min(shows(fill) for fill in (palette.swamp, palette.water)) >= 2.0


def test_line_colours_differ_for_every_kind_of_vision(palette):
    colours = colours_of(palette)
    for a, b in combinations(("agent", "tracing", "path", "trail", "back_move"), 2):
        assert min_difference(colours[a], colours[b]) >= 10, (palette.name, a, b)


MIN_STEP = {"inferno": 5.0, "cividis": 5.0, "viridis": 3.0, "greys": 4.5, "magma": 4.5}


@pytest.mark.parametrize("name", HEAT_MAPS)
@pytest.mark.parametrize("count", range(1, 9))
def test_heat_bands_differ_for_every_kind_of_vision(palette, name, count):
    """From each other, from the floor and from walls; the higher, the farther from the floor."""
    bands = heat_colours(name, palette, count)
    assert len(set(bands)) == count
    away = [abs(lab(band)[0] - lab(palette.free)[0]) for band in bands]
    assert all(b > a + 2.5 for a, b in pairwise(away))
    assert all(min_difference(a, b) >= MIN_STEP[name] for a, b in pairwise(bands))
    for band in bands:
        assert min_difference(band, palette.free) >= 10, (band, "floor")
        assert min_difference(band, palette.outside) >= (2.4 if name == "greys" else 10), (band, "wall")


@pytest.mark.parametrize("name", HEAT_MAPS)
def test_lowest_heat_contrasts_with_free_cells(palette, name):
    assert contrast(heat_colours(name, palette, 8)[0], palette.free) >= 1.4


@pytest.mark.parametrize("name", HEAT_MAPS)
def test_visit_dots_contrast_with_free_cells(palette, name):
    """Two pixels of pale yellow on white had a contrast of 1.4."""
    assert (
        contrast(
            heat_dot_colour(palette, heat_scale_for_peak(HeatSetting("visits", colour_map=name), 30.0)), palette.free
        )
        >= 3.0
    )


def test_swamp_colour_differs_from_walls(palette):
    for solid in (palette.wall, palette.outside):
        assert min_difference(palette.swamp, solid) >= 10 and contrast(palette.swamp, solid) >= 1.2


def test_group_outlines_contrast_with_free_and_closed_cells(palette):
    for name, colour in group_colours(palette).items():
        assert min(min_difference(colour, ground) for ground in (palette.free, palette.closed)) >= 20, name


def test_difference_map_steps_are_distinguishable(palette):
    """The sides from each other at every step, the steps of a side from each other and from the floor."""
    colours = DIVERGING[palette.name]
    for side in (colours[3::-1], colours[4:]):
        assert min(min_difference(a, b) for a, b in pairwise(side)) >= 10
        away = [abs(lab(colour)[0] - lab(palette.free)[0]) for colour in side]
        assert all(b > a + 10 for a, b in pairwise(away)), "the larger, the farther from the floor"
        for colour in side:
            assert min_difference(colour, palette.free) >= 15 and contrast(colour, palette.free) >= 1.6
            assert min_difference(colour, palette.outside) >= 14
    assert min(min_difference(b, a) for b, a in zip(colours[:4], colours[:3:-1], strict=True)) >= 30


@pytest.mark.parametrize("letter", "AB")
def test_letters_on_comparison_badges_have_readable_contrast(palette, letter):
    """On their badge, and the badge on whatever is in the corner of a map."""
    assert contrast(BADGE_TEXT_COLOUR, BADGE_COLOURS[letter]) >= 4.5
    for ground in ("outside", "free", "wall"):
        assert min_difference(BADGE_COLOURS[letter], colours_of(palette)[ground]) >= 15, ground
    assert min_difference(BADGE_COLOURS["A"], BADGE_COLOURS["B"]) >= 20


def test_settings_list_all_themes_and_heat_colours() -> None:
    assert tuple(PALETTES) == THEMES and tuple(HEAT_MAPS) == HEAT_COLOUR_NAMES
