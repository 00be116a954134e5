"""Read maps of the editor Tiled (`.tmj`, `.json`): one cell for each tile.

Blocked cells are given by the first of these rules that applies:
1. the tiles of blocking layers, which have a name such as collision, walls, blocked, obstacles or solid, or the
   property `blocks: true`;
2. in all layers, tiles that have a property `blocks`, `blocked_mask`, `collides` or `solid` which is true;
3. the tiles of the only tile layer.
"""

import base64
import binascii
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from files.disk import read_file
from sim.grid import Grid, check_map_size
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import ConfigError, value_as_in_files

TILED_SUFFIXES = (".tmj", ".json")
MAX_BYTES = 1 << 28

_BLOCKING_NAME = re.compile(r"collisions?|walls?|block(?:s|ed|ing)?|obstacles?|solid", re.IGNORECASE)
_BLOCKING_PROPERTIES = {"blocks", "blocked", "collides", "solid"}
_TILE_NUMBER_MASK = 0x0FFFFFFF  # bit mask of the tile number; the higher bits are flags for flipping and rotation
_MAX_GROUP_LEVELS = 32  # maximum nesting depth of groups of layers

TileNumbers = npt.NDArray[np.uint32]  # tile numbers [height, width]; 0: no tile
_JsonObject = Mapping[str, Any]


def read_tiled_map(path: str | os.PathLike[str], movement: Movement = DEFAULT_MOVEMENT) -> Grid:
    """Read the grid of a Tiled map; raise a ConfigError if the file is not valid."""
    return parse_tiled(read_file(path, MAX_BYTES, ".tmj"), Path(path), movement)


def parse_tiled(data: bytes, path: Path, movement: Movement = DEFAULT_MOVEMENT) -> Grid:
    """Parse the bytes of a Tiled map; external tile sets are found relative to the folder of `path`."""
    reader = _TiledMapReader(_parse_json_object(data, str(path)), path)
    return Grid(np.where(reader.blocked_mask(), ord("@"), ord(".")).astype(np.uint8), movement, path.name)


def _parse_json_object(data: bytes, name: str) -> _JsonObject:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: expected a map of Tiled, got no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{name}: expected a map of Tiled, got no JSON object")
    return found


class _TiledMapReader:
    """Reader of one Tiled map; it raises a ConfigError at the first problem."""

    def __init__(self, root: _JsonObject, path: Path) -> None:
        self.root, self.path = root, path
        if root.get("type", "map") != "map" or "layers" not in root:
            raise self._config_error("expected a map of Tiled, which has 'layers'")
        if root.get("orientation", "orthogonal") not in ("orthogonal", "isometric"):
            kind = value_as_in_files(root["orientation"])
            raise self._config_error(f"orientation: expected square tiles (orthogonal or isometric), got {kind}")
        self.layers = list(self._tile_layers(root["layers"], 0))
        if not self.layers:
            raise self._config_error("layers: expected a layer of tiles, got none")
        self.left, self.top, self.width, self.height = self._map_extent()

    def _config_error(self, text: str) -> ConfigError:
        return ConfigError(f"{self.path}: {text}")

    def _tile_layers(self, layers: object, level: int) -> Iterator[_JsonObject]:
        """Yield all tile layers, including those inside groups."""
        if not isinstance(layers, list) or level > _MAX_GROUP_LEVELS:
            raise self._config_error("layers: expected a list of layers")
        for layer in layers:
            if not isinstance(layer, dict):
                raise self._config_error(f"layers: expected layers, got {value_as_in_files(layer)}")
            if layer.get("type") == "group":
                yield from self._tile_layers(layer.get("layers"), level + 1)
            elif layer.get("type") == "tilelayer":
                yield layer

    def _map_extent(self) -> tuple[int, int, int, int]:
        """Return left, top, width and height in tiles; an infinite map is the bounding box of its chunks."""
        pieces = [piece for layer in self.layers for piece in self._layer_chunks(layer)]
        if not self.root.get("infinite"):
            width, height = (self._read_integer(self.root, side) for side in ("width", "height"))
            check_map_size(width, height, str(self.path))
            return 0, 0, width, height
        if not pieces:
            raise self._config_error("expected a map with tiles, got an empty one")
        boxes = np.array([[self._read_integer(p, k) for k in ("x", "y", "width", "height")] for p in pieces])
        left, top = boxes[:, :2].min(axis=0)
        right, bottom = (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
        check_map_size(int(right - left), int(bottom - top), str(self.path))
        return int(left), int(top), int(right - left), int(bottom - top)

    def _layer_chunks(self, layer: _JsonObject) -> list[_JsonObject]:
        """Return the chunks of a layer of an infinite map, or else the layer itself; [] if it has no data."""
        chunks = layer.get("chunks")
        if chunks is None:
            return [layer] if "data" in layer else []
        if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
            raise self._config_error("chunks: expected a list of pieces of a layer")
        return chunks

    def _read_integer(self, part: _JsonObject, key: str) -> int:
        value = part.get(key, 0 if key in "xy" else None)
        if type(value) is not int or abs(value) >= 1 << 31:
            raise self._config_error(f"{key}: expected a whole number, got {value_as_in_files(value)}")
        return value

    # --- blocked cells ---

    def blocked_mask(self) -> npt.NDArray[np.bool_]:
        chosen = [layer for layer in self.layers if _is_blocking_layer(layer)]
        if not chosen and (numbers := self._blocking_tiles()):
            blocking_numbers = np.array(sorted(numbers), np.uint32)
            return self._cells_in_any_layer(self.layers, lambda tiles: np.isin(tiles, blocking_numbers))
        if not chosen and len(self.layers) > 1:
            names = ", ".join(value_as_in_files(layer.get("name", "")) for layer in self.layers[:8])
            raise self._config_error(
                "layers: expected one called 'collision' or 'walls', or tiles with the property 'blocks', "
                f"got layers {names}"
            )
        return self._cells_in_any_layer(chosen or self.layers, lambda tiles: tiles != 0)

    def _cells_in_any_layer(self, layers: list[_JsonObject], test: Any) -> npt.NDArray[np.bool_]:
        mask = np.zeros((self.height, self.width), np.bool_)
        for layer in layers:
            mask |= test(self._layer_tiles(layer))
        return mask

    def _blocking_tiles(self) -> set[int]:
        """Return the numbers of the tiles with a property that makes them blocking."""
        found = set()
        for entry in _json_objects_in(self.root.get("tilesets")):
            first = self._read_integer(entry, "firstgid")
            tiles = _json_objects_in(self._read_tile_set(entry).get("tiles"))
            found |= {first + self._read_integer(tile, "id") for tile in tiles if _has_blocking_property(tile)}
        return {number for number in found if 0 < number <= _TILE_NUMBER_MASK}

    def _read_tile_set(self, entry: _JsonObject) -> _JsonObject:
        """Return a tile set, which is in the map itself or in a JSON file; {} if that file cannot be opened."""
        source = entry.get("source")
        if not isinstance(source, str) or not source.lower().endswith((".tsj", ".json")):
            return entry
        if not source.isprintable():  # text that is not printable cannot be a file name
            return {}
        home = Path(os.path.realpath(self.path.parent))
        real_path = Path(os.path.realpath(home / source))
        if not real_path.is_relative_to(home.parent) or not os.path.isfile(real_path):
            return {}  # the file is missing or outside the allowed folder, but the layers of the map may suffice
        return _parse_json_object(read_file(real_path, MAX_BYTES, ".tsj"), str(real_path))

    # --- the tiles of a layer ---

    def _layer_tiles(self, layer: _JsonObject) -> TileNumbers:
        """Return the tile numbers of a layer in an array of the size of the map."""
        map_tiles = np.zeros((self.height, self.width), np.uint32)
        for piece in self._layer_chunks(layer):
            self._copy_layer_chunk(map_tiles, layer, piece)
        return map_tiles

    def _copy_layer_chunk(self, map_tiles: TileNumbers, layer: _JsonObject, piece: _JsonObject) -> None:
        """Copy the tiles of one piece (chunk) of a layer into the array of the whole map."""
        width, height = self._read_integer(piece, "width"), self._read_integer(piece, "height")
        check_map_size(width, height, f"{self.path}: layer {value_as_in_files(layer.get('name', ''))}")
        tiles = self._decoded_tile_numbers(layer, piece.get("data"), width * height).reshape(height, width)
        x, y = self._read_integer(piece, "x") - self.left, self._read_integer(piece, "y") - self.top
        if x < 0 or y < 0 or x + width > self.width or y + height > self.height:
            raise self._config_error(
                f"layer {value_as_in_files(layer.get('name', ''))}: expected the layer to be inside the map"
            )
        map_tiles[y : y + height, x : x + width] = tiles

    def _decoded_tile_numbers(self, layer: _JsonObject, data: object, count: int) -> TileNumbers:
        """Return the tile numbers of a layer from a list or from encoded, perhaps compressed, text."""
        found = self._tiles_from_text(layer, data, 4 * count) if isinstance(data, str) else self._tiles_from_list(data)
        if found.size != count:
            raise self._config_error(
                f"layer {value_as_in_files(layer.get('name', ''))}: expected {count:,} tiles, got {found.size:,}"
            )
        return found & np.uint32(_TILE_NUMBER_MASK)

    def _tiles_from_list(self, data: object) -> TileNumbers:
        """Return tile numbers that are given as a list."""
        if not isinstance(data, list):
            raise self._config_error(f"data: expected a list of tiles, got {value_as_in_files(data)}")
        if not all(type(tile) is int and 0 <= tile < 1 << 32 for tile in data):
            raise self._config_error("data: expected the numbers of tiles")
        return np.array(data, np.uint32)

    def _tiles_from_text(self, layer: _JsonObject, text: str, size: int) -> TileNumbers:
        """Return tile numbers that are given as base64 text, plain or compressed, of `size` bytes when decoded."""
        packing = layer.get("compression") or ""
        if layer.get("encoding") != "base64" or packing not in ("", "zlib", "gzip"):
            what = f"{layer.get('encoding')} {packing}".strip()
            raise self._config_error(
                f"data: expected a list, or base64 plain or packed by zlib or gzip, got {value_as_in_files(what)}"
            )
        try:
            data = base64.b64decode(text.encode("ascii"), validate=True)
            if packing:  # limit the size to that of the layer, because a small text can decompress to gigabytes
                data = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, size + 4)
        except (ValueError, binascii.Error, zlib.error) as error:
            raise self._config_error(f"data: cannot be unpacked: {error}") from None
        return np.frombuffer(data[: len(data) // 4 * 4], "<u4").astype(np.uint32)


def _json_objects_in(value: object) -> list[_JsonObject]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _is_blocking_layer(layer: _JsonObject) -> bool:
    return _BLOCKING_NAME.fullmatch(str(layer.get("name", ""))) is not None or _has_blocking_property(layer)


def _has_blocking_property(part: _JsonObject) -> bool:
    return any(
        str(entry.get("name", "")).lower() in _BLOCKING_PROPERTIES and entry.get("value") is True
        for entry in _json_objects_in(part.get("properties"))
    )
