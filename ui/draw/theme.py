"""Colours: one palette for the window and one role per meaning on the map, in dark and light.

The map roles are checked by tests/test_palette.py: told apart in greyscale and under three simulated colour
deficiencies. Orange is kept for back-moves and edits, one accent for everything that can be acted on.
"""

from dataclasses import dataclass, fields

Colour = tuple[int, int, int]


def rgb(code: str) -> Colour:
    """The colour of a hex code such as '#56B4E9'."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def packed(colour: Colour) -> int:
    """The colour as the window's pixel format has it: 0x00RRGGBB."""
    return colour[0] << 16 | colour[1] << 8 | colour[2]


def mix(a: Colour, b: Colour, share_of_b: float) -> Colour:
    """A colour between two others."""
    return tuple(round(x + (y - x) * share_of_b) for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


@dataclass(frozen=True)
class Palette:
    name: str
    # the window
    window: Colour
    surface: Colour  # panels and bars
    raised: Colour  # buttons, fields
    hover: Colour
    edge: Colour
    text: Colour
    dim: Colour  # labels, keys
    accent: Colour
    on_accent: Colour
    warning: Colour  # orange: back-moves, edits, restarts
    arrived: Colour  # a third voice, for good ends
    # the map, ux.md 5.4
    outside: Colour
    free: Colour
    wall: Colour
    rock: Colour  # inside a block of walls: solid, but the edge is what counts
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

    def as_dict(self) -> dict[str, Colour]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "name"}


def _palette(name: str, **codes: str) -> Palette:
    return Palette(name, **{role: rgb(code) for role, code in codes.items()})


DARK = _palette(
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
    rock="#5F564E",
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

LIGHT = _palette(
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
    rock="#999FA1",
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

# Cividis in eight bands, from "The colour map for all" by Nunez, Anderton and Renslow: even steps in lightness
# for every kind of colour vision. Band 0 is "never" and shows the terrain.
CIVIDIS = tuple(
    rgb(code) for code in ("#00224E", "#24386E", "#4A4E6C", "#66666F", "#808078", "#9F9A72", "#C4B562", "#FEE838")
)
VIRIDIS = tuple(
    rgb(code) for code in ("#440154", "#46337E", "#365C8D", "#277F8E", "#1FA187", "#4AC16D", "#9FDA3A", "#FDE725")
)
GREYS = tuple(
    rgb(code) for code in ("#141414", "#323232", "#505050", "#6E6E6E", "#8C8C8C", "#AAAAAA", "#CDCDCD", "#F5F5F5")
)
MAGMA = tuple(
    rgb(code) for code in ("#0B0724", "#2C105C", "#58157E", "#822681", "#B5367A", "#E55064", "#FB8861", "#FCE2A3")
)
HEAT_MAPS = {"cividis": CIVIDIS, "viridis": VIRIDIS, "greys": GREYS, "magma": MAGMA}

# A minus B: blue where B has more, orange where A has more, nothing at zero.
DIVERGING = tuple(
    rgb(code) for code in ("#0B5FA5", "#3F8CC9", "#83B7E0", "#C3DBEF", "#F6D5B8", "#F0AC74", "#DF7B2F", "#A84A00")
)

SERIES = (
    rgb("#56B4E9"),
    rgb("#CC79A7"),
    rgb("#E69F00"),
    rgb("#009E73"),
    rgb("#0072B2"),
    rgb("#B8B8B8"),
    rgb("#8C6BB1"),
    rgb("#A6761D"),
)
"""Colours of the agents in charts, in the order of the panels."""
