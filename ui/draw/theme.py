"""Colours of the window and of the map, in a dark and a light palette. Each meaning has a colour of its own.

tests/test_palette.py checks that the map colours are distinguishable in greyscale and under three simulated colour
vision deficiencies. Orange is reserved for back-moves and edits, and the accent colour for clickable elements.
"""

from dataclasses import dataclass
from functools import lru_cache

Colour = tuple[int, int, int]


def colour_from_hex(code: str) -> Colour:
    """Return the colour of a hex code such as '#56B4E9'."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


RED = colour_from_hex("#E5484D")
"""Colour of the recording light, and of cells where a marker cannot be dropped; orange has other meanings."""


def pack_colour(colour: Colour) -> int:
    """Return the colour as one integer in the pixel format of the window, 0x00RRGGBB."""
    return colour[0] << 16 | colour[1] << 8 | colour[2]


def mix_colours(a: Colour, b: Colour, share_of_b: float) -> Colour:
    """Return a linear mixture of two colours."""
    return tuple(round(x + (y - x) * share_of_b) for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


@dataclass(frozen=True)
class Palette:
    """Colours of one theme, by role."""

    name: str
    # colours of windows and dialogs
    window: Colour
    surface: Colour  # background of panels and bars
    raised: Colour  # background of buttons and fields
    hover: Colour
    edge: Colour
    text: Colour
    dim: Colour  # secondary text, such as labels and shortcuts
    accent: Colour
    on_accent: Colour
    warning: Colour  # orange, for back-moves, edits and restarts
    arrived: Colour  # success, such as an agent that has reached its goal
    # colours of maps
    outside: Colour  # area around the map, and inside of walls that are drawn as outlines
    free: Colour
    wall: Colour
    trees: Colour
    swamp: Colour
    water: Colour
    closed: Colour
    open: Colour
    back_move: Colour
    path: Colour
    trail: Colour
    tracing: Colour
    tree: Colour
    agent: Colour
    best: Colour
    casing_dark: Colour
    casing_light: Colour
    grid_line: Colour


def _palette_from_hex(name: str, **codes: str) -> Palette:
    return Palette(name, **{role: colour_from_hex(code) for role, code in codes.items()})


DARK = _palette_from_hex(
    "dark",
    window="#0E1014",
    surface="#171A20",
    raised="#22262E",
    hover="#2D333D",
    edge="#2B303A",
    text="#E9ECF0",
    dim="#98A0AC",
    accent="#56B4E9",
    on_accent="#081017",
    warning="#FF8A3D",
    arrived="#D79BBF",
    outside="#050608",
    free="#20242B",
    wall="#A3AAB5",
    trees="#5D8762",
    swamp="#6E5332",
    water="#2C6362",
    closed="#433E81",
    open="#56B4E9",
    back_move="#FF8A3D",
    path="#FFFFFF",
    trail="#8F98A5",
    tracing="#F0B7DA",
    tree="#6E7787",
    agent="#FFE14D",
    best="#FFFFFF",
    casing_dark="#000000",
    casing_light="#FFFFFF",
    grid_line="#2E343E",
)

LIGHT = _palette_from_hex(
    "light",
    window="#DFE2E6",
    surface="#F7F8FA",
    raised="#E7EAEE",
    hover="#D9DEE5",
    edge="#CBD1D8",
    text="#191C21",
    dim="#555C67",
    accent="#0068A6",
    on_accent="#FFFFFF",
    warning="#A84100",
    arrived="#8A3F6C",
    outside="#D1D0D0",
    free="#FFFFFF",
    wall="#3A3F47",
    trees="#577C4C",
    swamp="#CBBE58",
    water="#75B2BF",
    closed="#CAE0FC",
    open="#0072B2",
    back_move="#D55E00",
    path="#111111",
    trail="#757E8A",
    tracing="#A3217A",
    tree="#8B95A3",
    agent="#FFD400",
    best="#111111",
    casing_dark="#000000",
    casing_light="#FFFFFF",
    grid_line="#E3E6EA",
)

PALETTES = {p.name: p for p in (DARK, LIGHT)}

# Colour maps for heat: name -> evenly spaced samples from dark to bright. Lightness rises evenly in all of them.
_COLOUR_RAMPS = {
    "inferno": "000004 0B0724 210C4A 3D0965 57106E 71196E 8A226A A32C61 BC3754 D24644 E45A31 F1731D F98E09 FCAC11 "
    "F9CB35 F2EA69 FCFFA4",
    "cividis": "00224E 002E6A 1A386F 32436D 434E6C 535A6D 61656F 6F7073 7D7C78 8C8878 9B9476 ABA072 BCAE6C CDBB63 "
    "DEC958 F0D846 FEE838",
    "viridis": "440154 48186A 472D7B 424086 3B528B 33638D 2C728E 26828E 21918C 1FA088 28AE80 3FBC73 5EC962 84D44B "
    "ADDC30 D8E219 FDE725",
    "greys": "141414 F5F5F5",
    "magma": "000004 0A0822 1D1147 36106B 51127C 6A1C81 832681 9C2E7F B73779 D0416F E75263 F56B5C FC8961 FEA772 "
    "FEC488 FDE2A3 FCFDBF",
}
HEAT_MAPS = tuple(_COLOUR_RAMPS)

_RAMP_ENDS = {"dark": (0.30, 0.98), "light": (0.90, 0.12)}
"""Positions of the lowest and the highest heat band on the colour map, 0 (dark) to 1 (bright), by palette.

Higher bands contrast more with free terrain, so in the light palette low bands are bright. The lowest band is still
distinguishable from free terrain.
"""

# like _RAMP_ENDS, for the colour map "greys" only, which must differ from the grey of free terrain
_GREY_RAMP_ENDS = {"dark": (0.28, 1.0), "light": (0.68, 0.0)}
# smallest number of heat bands that use the colour map up to its end; fewer bands omit the strongest colours
_MIN_BANDS = 3


@lru_cache(maxsize=256)
def heat_colours(name: str, palette: Palette, count: int) -> tuple[Colour, ...]:
    """Return the colours of heat bands, from the lowest to the highest.

    Args:
        name: Name of a colour map in HEAT_MAPS.
        palette: Theme; it determines which part of the colour map is used.
        count: Number of bands.
    """
    ramp = [colour_from_hex(f"#{code}") for code in _COLOUR_RAMPS[name].split()]
    low, high = (_GREY_RAMP_ENDS if name == "greys" else _RAMP_ENDS)[palette.name]
    steps = max(count, _MIN_BANDS) - 1
    return tuple(_colour_on_ramp(ramp, low + (high - low) * i / steps) for i in range(count))


def _colour_on_ramp(ramp: list[Colour], share: float) -> Colour:
    """Return the interpolated colour at a position on a colour map, 0 (first sample) to 1 (last sample)."""
    position = share * (len(ramp) - 1)
    below = min(int(position), len(ramp) - 2)
    return mix_colours(ramp[below], ramp[below + 1], position - below)


def _colours_from_hex(codes: str) -> tuple[Colour, ...]:
    return tuple(colour_from_hex(f"#{code}") for code in codes.split())


DIVERGING = {
    "dark": _colours_from_hex("A6DBFF 5FB0EE 2F7FC0 1D5C91 8A4717 C2651B F0913A FFC98A"),
    "light": _colours_from_hex("0B3F78 2273B5 5FA3D9 9CCBEE F5C08A E3903F BD5E12 7A3300"),
}
"""Colours of heat A - B by palette, from "B has most" (blue) to "A has most" (orange).

Cells without a difference have no fill. The larger the difference, the more it contrasts with the free terrain.
"""

SERIES = (
    colour_from_hex("#56B4E9"),
    colour_from_hex("#CC79A7"),
    colour_from_hex("#E69F00"),
    colour_from_hex("#009E73"),
    colour_from_hex("#0072B2"),
    colour_from_hex("#B8B8B8"),
    colour_from_hex("#8C6BB1"),
    colour_from_hex("#A6761D"),
)
"""Colours of the agents in charts, in the order of the panels."""
