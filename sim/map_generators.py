"""Map generators: a recipe (kind, parameters and seed) gives the same map on every machine and in every version.

Random numbers come from splitmix64 over the seed, implemented below: numpy guarantees stable numbers only for its raw
bit generators, and the ten lines of splitmix64 are easy to verify. All decisions are made with integers only, which are
the same on every machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.kernels import regions as kernel_regions
from sim.movement import DEFAULT_MOVEMENT, SQUEEZE_BETWEEN_CORNERS, Movement
from sim.params import ConfigError, Param, Value, did_you_mean_hint, parse_params, value_as_in_files

Point = tuple[int, int]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
# Bits for moves to the east and to the south in the masks of `Grid.moves`.
EAST_MOVE_BIT, SOUTH_MOVE_BIT = 1 << 1, 1 << 2

_WALL_LETTER, _FLOOR_LETTER = ord("@"), ord(".")


@dataclass(frozen=True)
class GeneratedMap:
    """Generated map with a problem (start and goal) on it, its switches and its complete recipe."""

    grid: Grid
    start: Point
    goal: Point
    switches: dict[str, list[Point]]  # switch name -> cells of the switch
    recipe: dict[str, Value]  # recipe from which the map can be generated again: kind, and all parameters by name


@dataclass(frozen=True)
class MapLayout:
    """Map drawn by a generator: blocked cells, start and goal, and switches."""

    blocked_mask: Mask  # [height, width] True: the cell is blocked
    start: Point
    goal: Point
    switches: dict[str, list[Point]] = field(default_factory=dict)


@dataclass(frozen=True)
class GeneratorSpec:
    """Declaration of one kind of generated map: its parameters, and the function that draws a map from their values."""

    kind: str
    name: str
    description: str
    params: tuple[Param, ...]
    draw_layout: Callable[..., MapLayout]


def generate_map(
    kind: object, values: Mapping[str, object], where: str = "generate", movement: Movement = DEFAULT_MOVEMENT
) -> GeneratedMap:
    """Generate the map of a recipe, and return it with its start, goal and switches.

    Args:
        kind: kind of the map.
        values: values of parameters by name; missing parameters get their defaults.
        where: text that begins each error message.
        movement: movement rule of the map.

    Raises:
        ConfigError: the kind is unknown or parameters are illegal. It lists all problems found.
    """
    spec = _SPEC_OF_KIND.get(kind) if isinstance(kind, str) else None
    if spec is None:
        raise ConfigError(
            f"{where}.kind: no generator {value_as_in_files(kind)}{did_you_mean_hint(kind, _SPEC_OF_KIND)}"
        )
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where}: expected parameters and their values, got {value_as_in_files(values)}")
    problems: list[str] = []
    chosen = parse_params(spec.params, values, where, problems)
    if problems:
        raise ConfigError(problems)
    try:
        layout = spec.draw_layout(**chosen)
    except ConfigError as error:  # each parameter alone is legal, but their combination is not
        raise ConfigError(f"{where}.{problem}" for problem in error.problems) from None
    grid = Grid(np.where(layout.blocked_mask, _WALL_LETTER, _FLOOR_LETTER).astype(np.uint8), movement, spec.kind)
    return GeneratedMap(grid, layout.start, layout.goal, layout.switches, {"kind": spec.kind, **chosen})


# --- random numbers and helpers -------------------------------------------------------------------------


class SplitMix64:
    """Random number generator splitmix64. Word i hashes seed + i * _GOLDEN_GAMMA, so numpy computes many at once.

    The sequence of numbers does not depend on how many of them each call returns.
    """

    _GOLDEN_GAMMA = 0x9E3779B97F4A7C15

    def __init__(self, seed: int) -> None:
        self._generator_state = seed

    def random_words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next `count` random words of 64 bits each."""
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(self._GOLDEN_GAMMA) + np.uint64(self._generator_state)
        self._generator_state = (self._generator_state + count * self._GOLDEN_GAMMA) % 2**64
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    def random_integers(self, limits: Sequence[int] | Numbers) -> Numbers:
        """Return for each limit a random integer from 0 to limit - 1, uniform except for a bias below limit / 2**32."""
        high = np.asarray(limits, np.uint64)
        return ((self.random_words(high.size) >> np.uint64(32)) * high.ravel() >> np.uint64(32)).astype(np.int64)

    def random_mask(self, percent: int, height: int, width: int) -> Mask:
        """Return a mask in which each cell is True with a probability of `percent` percent."""
        return (self.random_integers(np.full(height * width, 100)) < percent).reshape(height, width)


def largest_component_mask(free: Mask) -> Mask:
    """Return a mask of the largest connected set of free cells; of equally large sets, the one with the first cell."""
    label = _label_components(free[:, :-1] & free[:, 1:], free[:-1] & free[1:])
    sizes = np.zeros(label.size, np.int32)
    kernel_regions.count_region_cells(label, np.ascontiguousarray(free).reshape(-1), sizes)
    largest = sizes.argmax()
    region: Mask = free & (label == largest).reshape(free.shape)
    return region


def component_labels(grid: Grid) -> Numbers:
    """Return a label for each cell; two cells have the same label if a path of legal moves connects them."""
    moves = grid.moves.reshape(grid.height, grid.width)
    label = _label_components((moves[:, :-1] & EAST_MOVE_BIT) > 0, (moves[:-1] & SOUTH_MOVE_BIT) > 0)
    if grid.movement.rule == SQUEEZE_BETWEEN_CORNERS:
        kernel_regions.unite_diagonal_regions(grid.map_arrays, label)
    return label


def _label_components(across: Mask, down: Mask) -> Numbers:
    """Return a label for each cell; cells that straight moves connect have the same label.

    Diagonal moves need not be considered: a diagonal move past a free shoulder (one of the two cells next to it)
    connects no more cells than two straight moves over that shoulder.

    Args:
        across: [height, width - 1] whether each cell is connected with its right neighbour.
        down: [height - 1, width] whether each cell is connected with the one below.
    """
    label = np.empty(across.shape[0] * down.shape[1], np.int32)
    kernel_regions.label_regions(across, down, label)
    return label


def opposite_corner_cells(region: Mask) -> tuple[Point, Point]:
    """Return the two cells of a region that are nearest to the upper left and to the lower right corner of the map."""
    rows = np.flatnonzero(region.any(axis=1))
    left, right = region[rows].argmax(axis=1), region.shape[1] - 1 - region[rows, ::-1].argmax(axis=1)
    first, last = int((rows + left).argmin()), int((rows + right).argmax())
    return (int(left[first]), int(rows[first])), (int(right[last]), int(rows[last]))


# --- the kinds ------------------------------------------------------------------------------------------


def draw_rooms(width: int, height: int, seed: int, room: int) -> MapLayout:
    """Draw square rooms in rows and columns. Each wall between two rooms has one door, so all rooms are connected."""
    random = SplitMix64(seed)
    blocked = np.zeros((height, width), np.bool_)
    walls_x, rooms_x = _walls_and_rooms(width, room)
    walls_y, rooms_y = _walls_and_rooms(height, room)
    blocked[:, walls_x] = True
    blocked[walls_y, :] = True
    for x in walls_x:
        blocked[_door_positions(rooms_y, random), x] = False
    for y in walls_y:
        blocked[y, _door_positions(rooms_x, random)] = False
    return MapLayout(blocked, *opposite_corner_cells(~blocked))


def _walls_and_rooms(length: int, room: int) -> tuple[Numbers, Numbers]:
    """Return the positions of walls along one axis of the map, and the ranges [begin, end) of the rooms between them.

    The last room may differ in length.
    """
    walls = np.arange(room, length - 1, room + 1)  # not at the last cell, because no room would follow that wall
    return walls, np.stack([np.append(0, walls + 1), np.append(walls, length)])


def _door_positions(rooms: Numbers, random: SplitMix64) -> Numbers:
    """Return the positions of the doors in a wall along these rooms: one random position within each room."""
    begins, ends = rooms[0], rooms[1]
    positions: Numbers = begins + random.random_integers(ends - begins)
    return positions


def draw_random_obstacles(width: int, height: int, seed: int, density: int) -> MapLayout:
    """Draw single blocked cells at random. Start and goal are in the largest connected part of the map."""
    blocked = SplitMix64(seed).random_mask(density, height, width)
    return MapLayout(blocked, *opposite_corner_cells(largest_component_mask(~blocked)))


def draw_maze(width: int, height: int, seed: int, corridor: int) -> MapLayout:
    """Draw a perfect maze: corridors with exactly one path between any two points. All other cells are walls."""
    pitch = corridor + 1
    columns, rows = (width - 1) // pitch, (height - 1) // pitch
    if min(columns, rows) < 2:
        widest = (min(width, height) - 1) // 2 - 1
        raise ConfigError(f"corridor: expected at most {widest} on a map of {width} x {height}, got {corridor}")
    in_x, in_y = (np.arange(side) % pitch != 0 for side in (width, height))
    in_x[columns * pitch :] = False
    in_y[rows * pitch :] = False
    blocked = ~(in_y[:, None] & in_x)
    for first, second in _spanning_tree(columns, rows, SplitMix64(seed)):
        is_across = second[0] != first[0]
        x = max(first[0], second[0]) * pitch if is_across else first[0] * pitch + 1
        y = first[1] * pitch + 1 if is_across else max(first[1], second[1]) * pitch
        blocked[y : y + (corridor if is_across else 1), x : x + (1 if is_across else corridor)] = False
    return MapLayout(blocked, *opposite_corner_cells(~blocked))


def _spanning_tree(columns: int, rows: int, random: SplitMix64) -> list[tuple[Point, Point]]:
    """Return the pairs of neighbouring places of a maze between which the wall is opened, by a random depth-first walk.

    Such mazes have long corridors, and few but deep dead ends. A place is a square of the maze (column, row).
    """
    stride = columns + 1  # one extra column and row of places that count as taken: the border needs no test
    visited = bytearray(b"\x01") * (stride * (rows + 1))
    for y in range(rows):
        visited[y * stride : y * stride + columns] = bytes(columns)
    draws = iter((random.random_words(columns * rows) >> np.uint64(32)).tolist())
    walk, edges = [0], []
    visited[0] = 1
    while walk:
        current = walk[-1]
        # A negative index wraps around to the extra row at the end, whose places count as taken.
        choices = [t for t in (current - stride, current + 1, current + stride, current - 1) if not visited[t]]
        if not choices:
            walk.pop()
            continue
        chosen = choices[next(draws) * len(choices) >> 32]
        visited[chosen] = 1
        edges.append(((current % stride, current // stride), (chosen % stride, chosen // stride)))
        walk.append(chosen)
    return edges


def draw_caves(width: int, height: int, seed: int, fill: int, rounds: int, grain: int) -> MapLayout:
    """Draw noise smoothed by a cellular automaton, and keep the largest cave.

    With a `grain` above 1, the map is drawn smaller by that factor, enlarged and smoothed again.
    """
    noise = SplitMix64(seed).random_mask(fill, -(-height // grain), -(-width // grain))
    coarse = _smooth_mask(noise, rounds)
    blocked = _smooth_mask(coarse.repeat(grain, axis=0).repeat(grain, axis=1)[:height, :width], grain - 1)
    cave = largest_component_mask(~blocked)
    if np.count_nonzero(cave) < 2:  # a small map may consist of rock only
        cave[height // 2, 1:-1] = True
    return MapLayout(~cave, *opposite_corner_cells(cave))


def _smooth_mask(blocked: Mask, rounds: int) -> Mask:
    """Smooth a mask of rock: a cell becomes rock if five cells of its 3 x 3 block are rock or off the map."""
    for _ in range(rounds):
        walled = np.pad(blocked.astype(np.uint8), 1, constant_values=1)
        across = walled[:, :-2] + walled[:, 1:-1] + walled[:, 2:]
        blocked = across[:-2] + across[1:-1] + across[2:] >= 5
    return blocked


def draw_river(width: int, height: int, seed: int, river: int, bridges: int, bridge: int) -> MapLayout:
    """Draw a river from north to south that only bridges cross. Each bridge is a switch."""
    if 4 * river > width:
        raise ConfigError(f"river: expected at most {width // 4} on a map {width} cells wide, got {river}")
    max_bridges = height // (bridge + 2)
    if bridges > max_bridges:
        raise ConfigError(
            f"bridges: expected at most {max_bridges}, {bridge} wide, on a map {height} high, got {bridges}"
        )
    random = SplitMix64(seed)
    banks = _river_banks(width, height, river, random)
    x = np.arange(width)
    blocked = (x >= banks[:, None]) & (x < banks[:, None] + river)
    room = height // bridges
    tops = np.arange(bridges) * room + 1 + random.random_integers(np.full(bridges, room - bridge - 1))
    switches = {}
    for name, top in zip(_bridge_names(bridges), tops.tolist(), strict=True):
        y, x = np.nonzero(blocked[top : top + bridge])
        switches[name] = list(zip(x.tolist(), (y + top).tolist(), strict=True))
        blocked[top : top + bridge] = False
    return MapLayout(blocked, (width // 16, height // 2), (width - 1 - width // 16, height // 2), switches)


def _river_banks(width: int, height: int, river: int, random: SplitMix64) -> Numbers:
    """Return for each row of the map the x coordinate of the western bank of the river.

    The bank shifts by at most one cell from row to row, so that no diagonal move crosses the river. The exception is a
    river one cell wide under the movement rule `eight-squeeze`.
    """
    low, high = width // 4, width - width // 4 - river
    turn_draws = random.random_integers(np.full(height, 6)).tolist()
    slopes = random.random_integers(np.full(height, 3)).tolist()
    bank, slope, banks = (low + high) // 2, 0, []
    for turn_draw, new_slope in zip(turn_draws, slopes, strict=True):
        slope = new_slope - 1 if turn_draw == 0 else slope
        bank = min(max(bank + slope, low), high)
        banks.append(bank)
    return np.array(banks)


def _bridge_names(count: int) -> list[str]:
    """Return the names of the bridges from north to south."""
    if count == 1:
        return ["bridge"]
    middle = ["middle bridge"] if count == 3 else [f"bridge {number}" for number in range(2, count)]
    return ["north bridge", *middle, "south bridge"]


def draw_corner_trap(size: int) -> MapLayout:
    """Draw the map for comparing RIBS with LRTA*: the path with the least h leads into a dead end."""
    blocked = np.zeros((size, size), np.bool_)
    blocked[size - 2, 1 : size - 1] = True
    blocked[1 : size - 1, size - 2] = True
    return MapLayout(blocked, (0, 0), (size - 1, size - 1))


def draw_two_corridors(size: int) -> MapLayout:
    """Draw two corridors to the goal that an opening connects half-way, after figure 2 of the TBA* paper.

    The left corridor looks shorter, because it seems to reach the goal through a bay, which turns out to be closed.
    When A* has found the path along the right corridor, the agent is half-way up the left one: basic TBA* walks back
    to the start, and TBA* with shortcuts goes through the opening. With s = size and R expansions per tick:

    - The bay has 2 s * s cells with an f as low as the left corridor. A* expands them before the right corridor, which
      takes 2 s * s / 0.9 R ticks, in each of which the agent makes a move. The opening is s moves up, so with R = 2 s
      the agent has just come there.
    - Beyond the opening, the right corridor is a straight line except for its last two cells. A search from there back
      to the agent expands hardly more than the s cells of the opening: R = 1.5 s + 12 is enough for it.
    """
    left, start_x, goal_x = 1, 2, 1 + size
    right = goal_x + 2
    opening_y = 3 * size + 6
    start_y = opening_y + size
    y, x = np.mgrid[0 : start_y + 2, 0 : right + 2]
    free = np.zeros(x.shape, np.bool_)
    free[1 : start_y + 1, left] = True
    free[1, left : right + 1] = True
    free[1 : start_y - size, right] = True
    free |= _diagonal_corridor(x, y, (start_x, start_y), right)
    free |= _diagonal_corridor(x, y, (left, opening_y), right)
    is_above_opening = (opening_y - y) - (x - left) >= 3
    is_below_goal = (y - 1) - (goal_x - x) >= 2
    free |= is_above_opening & is_below_goal & (x > left) & (x < goal_x)
    return MapLayout(~free, (start_x, start_y), (goal_x, 1))


def _diagonal_corridor(x: Numbers, y: Numbers, foot: Point, right: int) -> Mask:
    """Return a mask of a corridor from the cell `foot` diagonally up to column `right`.

    The corridor is three cells high, because diagonal moves need free cells on both sides.
    """
    along, up = x - foot[0], foot[1] - y
    return (abs(along - up) <= 1) & (along >= 0) & (up >= 0) & (x <= right)


# --- the registry ---------------------------------------------------------------------------------------


def _map_side_param(name: str, default: int, help_text: str) -> Param:
    return Param(name, int, default, help_text, low=16, high=2048, step=16)


_WIDTH_PARAM = _map_side_param("width", 128, "cells from west to east")
_HEIGHT_PARAM = _map_side_param("height", 128, "cells from north to south")
_SEED_PARAM = Param(
    "seed",
    int,
    1,
    "seed of the random numbers; another seed gives another map of the same kind",
    low=0,
    high=999_999,
    step=1,
)

GENERATOR_SPECS: tuple[GeneratorSpec, ...] = (
    GeneratorSpec(
        "rooms",
        "Rooms",
        "square rooms, one door in each wall",
        (
            _WIDTH_PARAM,
            _HEIGHT_PARAM,
            _SEED_PARAM,
            Param("room", int, 8, "cells along one side of a room", low=2, high=256, step=1),
        ),
        draw_rooms,
    ),
    GeneratorSpec(
        "random",
        "Random obstacles",
        "single blocked cells, anywhere",
        (
            _WIDTH_PARAM,
            _HEIGHT_PARAM,
            _SEED_PARAM,
            Param(
                "density",
                int,
                20,
                "percent of blocked cells; above 40 the map falls into parts",
                low=0,
                high=45,
                step=5,
            ),
        ),
        draw_random_obstacles,
    ),
    GeneratorSpec(
        "maze",
        "Maze",
        "one path between any two points, and many dead ends",
        (
            _WIDTH_PARAM,
            _HEIGHT_PARAM,
            _SEED_PARAM,
            Param("corridor", int, 1, "width of the corridors", low=1, high=64, step=1),
        ),
        draw_maze,
    ),
    GeneratorSpec(
        "caves",
        "Caves",
        "one large cave with winding walls",
        (
            _WIDTH_PARAM,
            _HEIGHT_PARAM,
            _SEED_PARAM,
            Param("fill", int, 45, "percent of rock at first; more rock makes narrower caves", low=30, high=55, step=1),
            Param("rounds", int, 4, "number of times that walls are smoothed", low=1, high=12, step=1),
            Param("grain", int, 1, "factor by which caves are wider", low=1, high=16, step=1),
        ),
        draw_caves,
    ),
    GeneratorSpec(
        "river",
        "River with bridges",
        "a river between start and goal; its bridges are switches",
        (
            _WIDTH_PARAM,
            _HEIGHT_PARAM,
            _SEED_PARAM,
            Param("river", int, 4, "width of the river", low=1, high=256, step=1),
            Param("bridges", int, 2, "number of bridges", low=1, high=9, step=1),
            Param("bridge", int, 2, "width of a bridge", low=1, high=32, step=1),
        ),
        draw_river,
    ),
    GeneratorSpec(
        "corner",
        "Corner",
        "a free square whose inner corner traps agents that trust h",
        (Param("size", int, 40, "cells along one side", low=3, high=2048, symbol="n", step=8),),
        draw_corner_trap,
    ),
    GeneratorSpec(
        "two-corridors",
        "Two corridors",
        "two corridors with an opening half-way, where a shortcut beats walking back",
        (
            Param(
                "size",
                int,
                24,
                "moves from the start to the opening; designed for a budget of about twice this number",
                low=8,
                high=256,
                step=8,
            ),
        ),
        draw_two_corridors,
    ),
)
"""All kinds of generated maps, in the order in which menus list them."""

_SPEC_OF_KIND = {spec.kind: spec for spec in GENERATOR_SPECS}
