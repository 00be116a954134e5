"""Write the maps in assets/maps from their recipes: `python -m tools.remake_maps [SHIPPED_MAPS_FOLDER]`."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from files.disk import write_file_atomically
from files.movingai import map_text
from sim.map_generators import GeneratedMap, Point, generate_map

SHIPPED_MAPS_FOLDER = Path(__file__).resolve().parent.parent / "assets" / "maps"

SHIPPED_MAP_RECIPES: dict[str, dict[str, int | str]] = {
    "rooms-32": {"kind": "rooms", "width": 32, "height": 32, "seed": 5, "room": 7},
    "rooms-64": {"kind": "rooms", "width": 64, "height": 64, "seed": 7, "room": 7},
    "rooms-256": {"kind": "rooms", "width": 256, "height": 256, "seed": 7, "room": 15},
    "maze-65": {"kind": "maze", "width": 65, "height": 65, "seed": 3, "corridor": 1},
    "maze-129": {"kind": "maze", "width": 129, "height": 129, "seed": 3, "corridor": 3},
    "random-128": {"kind": "random", "width": 128, "height": 128, "seed": 11, "density": 30},
    "caves-128": {"kind": "caves", "width": 128, "height": 128, "seed": 2, "fill": 45, "rounds": 4, "grain": 1},
    "caves-512": {"kind": "caves", "width": 512, "height": 512, "seed": 2, "fill": 48, "rounds": 4, "grain": 4},
    "river-96": {"kind": "river", "width": 96, "height": 96, "seed": 4, "river": 4, "bridges": 2, "bridge": 2},
    "corner-40": {"kind": "corner", "size": 40},
    "two-corridors": {"kind": "two-corridors", "size": 24},
}
"""Recipes of the shipped maps: file name without `.map` -> recipe."""

_INTRODUCTION = """\
# Where these maps come from

Made by `sim/map_generators.py` from these recipes, and published under the licence of the project; none are by others.
`python -m tools.remake_maps` writes the maps and this page; a test compares them. A scenario can have a recipe instead
of a map file: `map: {generate: {kind: ...}}`. Cells are `[x, y]`, from the upper left.
"""


def generate_shipped_map(name: str) -> GeneratedMap:
    """Generate the shipped map with this file name (without `.map`) from its recipe."""
    recipe: dict[str, object] = dict(SHIPPED_MAP_RECIPES[name])
    return generate_map(recipe.pop("kind"), recipe, name)


def iter_shipped_files() -> Iterator[tuple[str, str]]:
    """Yield name and text of every file that belongs in assets/maps."""
    sections = [_INTRODUCTION]
    for name in SHIPPED_MAP_RECIPES:
        generated = generate_shipped_map(name)
        yield f"{name}.map", map_text(generated.grid)
        sections.append(_describe_map(name, generated))
    yield "SOURCES.md", "\n".join(sections)


def _describe_map(name: str, generated: GeneratedMap) -> str:
    recipe = ", ".join(f"{key}: {value}" for key, value in generated.recipe.items())
    lines = [
        f"## {name}.map",
        "",
        f"{generated.grid.width} x {generated.grid.height}",
        "",
        "```yaml",
        f"map: {{generate: {{{recipe}}}}}",
        f"start: {list(generated.start)}",
        f"goal: {list(generated.goal)}",
    ]
    if generated.switches:
        lines += [
            "switches:",
            *(f"  {switch}: {_cells_as_lists(cells)}" for switch, cells in generated.switches.items()),
        ]
    return "\n".join([*lines, "```", ""])


def _cells_as_lists(cells: Sequence[Point]) -> list[list[int]]:
    return [list(cell) for cell in cells]


def main(arguments: Sequence[str]) -> None:
    """Write all maps and SOURCES.md into the folder `arguments[0]`, or into assets/maps without arguments."""
    folder = Path(arguments[0]) if arguments else SHIPPED_MAPS_FOLDER
    for name, text in iter_shipped_files():
        write_file_atomically(folder / name, text.encode("ascii"))
        print(folder / name, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
