"""Maps that people bring: pictures, ROS map_server files, Tiled maps."""

import base64
import gzip
import json
import tracemalloc
import zlib
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import solve
from files.map_files import is_map_file, open_map
from files.movingai import write_map
from files.picture_map import is_ros_map
from files.scenario import load_scenario, save_scenario
from files.tiled import parse_tiled
from sim.grid import Grid
from sim.params import ConfigError
from ui.model import opened_files

from .conftest import random_map_rows

ROWS = ["....@", ".@@..", "....."]


def blocked(grid: Grid) -> list[str]:
    return ["".join(".@"[not free] for free in row) for row in grid.free_mask.reshape(grid.height, grid.width)]


def pgm(shades: list[list[int]], head: str = "P5", most: int = 255) -> bytes:
    text = f"{head}\n# made by hand\n{len(shades[0])} {len(shades)}\n{most}\n".encode()
    flat = [shade for row in shades for shade in row]
    return text + (bytes(flat) if head == "P5" else " ".join(map(str, flat)).encode())


def error_of_opening(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        open_map(path)
    return str(caught.value)


# --- pictures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [8, 24, 32])
def test_dark_pixels_of_an_image_map_are_blocked(tmp_path: Path, depth: int) -> None:
    rows = random_map_rows(3, 31, 17, 0.4)
    surface = pygame.Surface((31, 17), pygame.SRCALPHA if depth == 32 else 0, depth)
    if depth == 8:
        surface.set_palette([(0, 0, 0), (250, 240, 255)])
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            colour = (10, 20, 30) if letter == "@" else (250, 240, 255)
            surface.set_at((x, y), int(letter != "@") if depth == 8 else colour)
    pygame.image.save(surface, tmp_path / "a.png")
    assert blocked(open_map(tmp_path / "a.png")) == rows


def test_transparent_pixels_are_free(tmp_path: Path) -> None:
    surface = pygame.Surface((3, 1), pygame.SRCALPHA)
    surface.set_at((1, 0), (0, 0, 0, 255))
    pygame.image.save(surface, tmp_path / "a.png")
    assert blocked(open_map(tmp_path / "a.png")) == [".@."]


@pytest.mark.parametrize("head", ["P5", "P2"])
def test_shades_from_the_threshold_on_are_free(tmp_path: Path, head: str) -> None:
    path = tmp_path / "a.pgm"
    path.write_bytes(pgm([list(range(256))], head))
    for threshold in (1, 100, 128, 255):
        assert blocked(open_map(path, threshold=threshold)) == ["@" * threshold + "." * (256 - threshold)]


def test_scenario_with_image_map_and_threshold_round_trips(tmp_path: Path) -> None:
    (tmp_path / "a.pgm").write_bytes(pgm([[90, 90, 90], [10, 90, 10]]))
    text = "format: backmove-scenario\nversion: 1\nmap: {file: a.pgm, threshold: 80}\nstart: [0, 0]\ngoal: [1, 1]\n"
    (tmp_path / "a.yaml").write_text(text + "agents: [{kind: astar}]\n")
    scenario = load_scenario(tmp_path / "a.yaml", opened_files.AGENT_SPECS_BY_KEY)
    save_scenario(scenario, tmp_path / "b.yaml")
    again = load_scenario(tmp_path / "b.yaml", opened_files.AGENT_SPECS_BY_KEY)
    assert again == scenario and "threshold: 80" in (tmp_path / "b.yaml").read_text()


@pytest.mark.parametrize(
    ("file", "setting", "message"),
    [
        ("a.map", "threshold: 80", "map.threshold: is allowed only with a picture (.png or .pgm), got 'a.map'"),
        ("a.map", "threshold: 128", "map.threshold: is allowed only with a picture (.png or .pgm), got 'a.map'"),
        ("a.yml", "threshold: 80", "map.threshold: is allowed only with a picture (.png or .pgm), got 'a.yml'"),
        ("a.yml", "swamp: blocked", "map.swamp: is allowed only with a MovingAI .map, got 'a.yml'"),
        ("a.pgm", "swamp: blocked", "map.swamp: is allowed only with a MovingAI .map, got 'a.pgm'"),
    ],
)
def test_inapplicable_map_setting_is_refused(tmp_path: Path, file: str, setting: str, message: str) -> None:
    (tmp_path / "a.pgm").write_bytes(pgm([[250, 250], [250, 250]]))
    (tmp_path / "a.yml").write_text("image: a.pgm\n")
    (tmp_path / "a.map").write_text("type octile\nheight 2\nwidth 2\nmap\n..\n..\n")
    text = f"format: backmove-scenario\nversion: 1\nmap: {{file: {file}, {setting}}}\nstart: [0, 0]\ngoal: [1, 1]\n"
    (tmp_path / "a.yaml").write_text(text + "agents: [{kind: astar}]\n")
    with pytest.raises(ConfigError) as caught:
        load_scenario(tmp_path / "a.yaml", opened_files.AGENT_SPECS_BY_KEY)
    assert caught.value.problems == [f"{tmp_path / 'a.yaml'}:3: {message}"]


def test_bad_images_are_refused_in_one_line(tmp_path: Path) -> None:
    surface = pygame.Surface((40, 40))
    pygame.image.save(surface, tmp_path / "good.png")
    good = (tmp_path / "good.png").read_bytes()
    huge = bytearray(good)
    huge[16:20] = (1 << 31).to_bytes(4, "big")
    for name, data, words in (
        ("cut.png", good[:60], "damaged or cut short"),
        ("text.png", b"not a picture", "expected a PNG or PGM picture"),
        ("huge.png", bytes(huge), "expected"),
        ("huge.pgm", b"P5 99999 99999 255\n", "expected"),
        ("short.pgm", b"P5 3 3 255\nab", "damaged or cut short"),
        ("empty.pgm", b"", "expected a PNG or PGM picture"),
    ):
        (tmp_path / name).write_bytes(data)
        assert words in error_of_opening(tmp_path / name) and "\n" not in error_of_opening(tmp_path / name)


@settings(max_examples=60)
@given(data=st.binary(max_size=200), head=st.sampled_from([b"", b"P5 4 4 255\n", b"P2 2 2 3\n", b"\x89PNG\r\n\x1a\n"]))
def test_random_bytes_are_an_image_map_or_refused(
    data: bytes, head: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.pgm"
    path.write_bytes(head + data)
    with suppress(ConfigError):
        assert open_map(path).cells > 0


# --- ROS ------------------------------------------------------------------------------------------


def naive_ros_cell(shade: int, negate: bool, mode: str, occupied: str, free: str) -> str:
    if mode == "raw":
        if shade > 100:
            return "O"
        p = Fraction(shade, 100)
    else:
        p = Fraction(shade if negate else 255 - shade, 255)
    return "@" if p > Fraction(occupied) else "." if p < Fraction(free) else "O"


@pytest.mark.parametrize("mode", ["trinary", "scale", "raw", None])
@pytest.mark.parametrize("negate", [0, 1])
@pytest.mark.parametrize(("occupied", "free"), [("0.65", "0.196"), ("0.65", "0.25"), ("0.501", "0.4")])
def test_every_shade_of_a_ros_map_matches_naive_version(
    tmp_path: Path, mode: str | None, negate: int, occupied: str, free: str
) -> None:
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "office.pgm").write_bytes(pgm([list(range(256))]))
    text = f"image: maps/office.pgm\nresolution: 0.05\norigin: [-1.0, 2.0, 0.0]\nnegate: {negate}\n"
    text += f"occupied_thresh: {occupied}\nfree_thresh: {free}\n" + (f"mode: {mode}\n" if mode else "")
    path = tmp_path / "office.yaml"
    path.write_text(text)
    expected = "".join(naive_ros_cell(shade, bool(negate), mode or "trinary", occupied, free) for shade in range(256))
    assert open_map(path).text_rows() == [expected]
    assert is_map_file(path) and is_ros_map(path.read_bytes())


def test_wrong_ros_map_reports_all_problems(tmp_path: Path) -> None:
    path = tmp_path / "office.yaml"
    path.write_text("image: ../secret.pgm\nnegate: 2\nmode: rwa\nfree_thresh: 1.5\nimges: 1\n")
    text = error_of_opening(path)
    for words in ("which is outside", "negate: expected 0 or 1", "did you mean 'raw'?", "free_thresh", "no such key"):
        assert words in text
    path.write_text("image: a.pgm\noccupied_thresh: 0.2\nfree_thresh: 0.3\n")
    assert "free_thresh: expected at most occupied_thresh" in error_of_opening(path)
    path.write_text("image: a.pgm\noccupied_thresh: 0.1\n")
    assert "occupied_thresh: expected at least free_thresh, 0.196 when not given, got 0.1" in error_of_opening(path)
    (tmp_path / "way_out").symlink_to(tmp_path.parent)
    path.write_text("image: way_out/a.pgm\n")
    assert "which is outside" in error_of_opening(path)


def test_scenario_is_not_detected_as_ros_map() -> None:
    for path in opened_files.example_files():
        assert not is_map_file(path)


# --- Tiled ----------------------------------------------------------------------------------------


def encode_tiles(tiles: list[int], how: str) -> dict[str, Any]:
    raw = np.array(tiles, "<u4").tobytes()
    data = {"zlib": zlib.compress, "gzip": gzip.compress, "": bytes}.get(how, bytes)(raw)
    if how == "list":
        return {"data": tiles}
    return {"encoding": "base64", "compression": how, "data": base64.b64encode(data).decode()}


def layer(name: str, tiles: list[int], how: str = "list", **more: Any) -> dict[str, Any]:
    return {"type": "tilelayer", "name": name, "width": 5, "height": 3, **encode_tiles(tiles, how), **more}


def tiled(*layers: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"type": "map", "width": 5, "height": 3, "layers": layers, **more}).encode()


TILES = [9 if letter == "@" else 0 for row in ROWS for letter in row]
GROUND = [1] * 15
PATH = Path("/nowhere/a.tmj")


@pytest.mark.parametrize("how", ["list", "", "zlib", "gzip"])
def test_tile_layer_marked_as_collision_blocks(how: str) -> None:
    turned = [tile | 0xA0000000 if tile else 0 for tile in TILES]
    group = {"type": "group", "layers": [layer("Collision", turned, how)]}
    assert blocked(parse_tiled(tiled(layer("ground", GROUND, how), group), PATH)) == ROWS
    marked = layer("x", TILES, how, properties=[{"name": "blocks", "type": "bool", "value": True}])
    assert blocked(parse_tiled(tiled(layer("ground", GROUND, how), marked), PATH)) == ROWS
    assert blocked(parse_tiled(tiled(layer("any name", TILES, how)), PATH)) == ROWS


@pytest.mark.parametrize("is_external", [False, True])
def test_tiles_marked_as_colliding_block_in_all_layers(tmp_path: Path, is_external: bool) -> None:
    tiles = {"tiles": [{"id": 2, "properties": [{"name": "collides", "value": True}]}, {"id": 1, "properties": []}]}
    (tmp_path / "set.tsj").write_text(json.dumps(tiles))
    entry = {"firstgid": 7, **({"source": "set.tsj"} if is_external else tiles)}
    (tmp_path / "a.tmj").write_bytes(tiled(layer("a", GROUND), layer("b", [t or 8 for t in TILES]), tilesets=[entry]))
    assert blocked(open_map(tmp_path / "a.tmj")) == ROWS


@pytest.mark.parametrize(
    "source", ["a\0.tsj", "\ud800.json", "none.tsj", "../../../../etc/a.json", "x" * 5000 + ".tsj"]
)
def test_unreadable_tile_set_is_ignored(source: str) -> None:
    entry = {"firstgid": 7, "source": source}
    assert blocked(parse_tiled(tiled(layer("walls", TILES), layer("b", GROUND), tilesets=[entry]), PATH)) == ROWS
    assert blocked(parse_tiled(tiled(layer("b", TILES), tilesets=[entry]), PATH)) == ROWS


def test_infinite_tiled_map_has_the_size_of_its_chunks() -> None:
    chunks = [
        {"x": -2, "y": 3, "width": 2, "height": 1, "data": [1, 0]},
        {"x": 0, "y": 4, "width": 2, "height": 2, "data": [1, 1, 0, 1]},
    ]
    data = tiled({"type": "tilelayer", "name": "walls", "chunks": chunks}, infinite=True)
    assert blocked(parse_tiled(data, PATH)) == ["@...", "..@@", "...@"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[]", "got no JSON object"),
        (b"{", "got no JSON"),
        (b"[" * 100_000, "got no JSON"),
        (b"{}", "which has 'layers'"),
        (tiled(), "expected a layer of tiles"),
        (tiled(layer("a", GROUND), layer("b", TILES)), "expected one called 'collision'"),
        (tiled(layer("a", TILES), orientation="hexagonal"), "expected square tiles"),
        (tiled(layer("a", TILES[1:])), "expected 15 tiles, got 14"),
        (tiled(layer("a", TILES) | {"data": ["x"] * 15}), "expected the numbers of tiles"),
        (tiled(layer("a", TILES, "zlib") | {"compression": "zstd"}), "got 'base64 zstd'"),
        (tiled(layer("a", TILES, "zlib") | {"data": "!!"}), "cannot be unpacked"),
        (tiled(layer("a", TILES), width=10**9), "expected"),
        (tiled(layer("a", TILES), width=4), "expected the layer to be inside the map"),
        (tiled(layer("a", TILES), height="3"), "height: expected a whole number, got '3'"),
    ],
)
def test_invalid_tiled_map_is_refused_in_one_line(data: bytes, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_tiled(data, PATH)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_compressed_tile_data_is_unpacked_with_a_size_limit() -> None:
    bomb = base64.b64encode(zlib.compress(bytes(1 << 28), 9)).decode()
    data = tiled(layer("a", TILES) | {"encoding": "base64", "compression": "zlib", "data": bomb})
    tracemalloc.start()
    with pytest.raises(ConfigError, match="expected 15 tiles"):
        parse_tiled(data, PATH)
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()


# --- everywhere a map can be given ----------------------------------------------------------------


def test_every_map_format_gives_the_same_digest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = random_map_rows(4, 30, 20, 0.2)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    write_map(Grid.from_text_rows(rows), tmp_path / "a.map")
    shades = [[0 if letter == "@" else 255 for letter in row] for row in rows]
    (tmp_path / "a.pgm").write_bytes(pgm(shades))
    (tmp_path / "a.yaml").write_text("image: a.pgm\n")
    surface = pygame.Surface((30, 20))
    pygame.surfarray.blit_array(surface, np.array(shades).T * 0x010101)
    pygame.image.save(surface, tmp_path / "a.png")
    tiles = {"type": "tilelayer", "width": 30, "height": 20, "data": [int(s == 0) for row in shades for s in row]}
    (tmp_path / "a.tmj").write_text(json.dumps({"width": 30, "height": 20, "layers": [tiles]}))
    digests = set()
    for name in ("a.map", "a.pgm", "a.yaml", "a.png", "a.tmj"):
        path = tmp_path / name
        assert solve.main(["--map", str(path), "--from", "0,0", "--to", "29,19", "--agent", "tba"]) == 0
        digests.add(json.loads(capsys.readouterr().out)["digest"])
        setup = opened_files.open_any_file(path).scenario
        assert blocked(setup.grid) == rows and setup.title == "a"
    assert len(digests) == 1
