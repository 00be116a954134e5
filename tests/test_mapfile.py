"""MovingAI files: what is read is what was written, what is broken is named, and nothing else ever happens."""

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from files import movingai as map_file
from files.disk import write_file_atomically
from files.movingai import (
    ScenFile,
    ScenRow,
    are_path_lengths_equal,
    find_map_of_scen,
    map_text,
    parse_map,
    parse_scen,
    read_map,
    read_scen,
    row_problem_on_grid,
    scen_text,
    write_map,
)
from sim.grid import Grid
from sim.movement import Movement
from sim.params import ConfigError

ROOT = Path(__file__).resolve().parent.parent
BAD = ROOT / "tests" / "bad"
BENCHMARKS = ROOT.parent / "shared" / "maps"
needs_benchmarks = pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason=f"the benchmark maps are not at {BENCHMARKS}; they are no part of the project"
)

POND = b"type octile\nheight 3\nwidth 5\nmap\n..@WW\n.TT.G\nS.B.O\n"
POND_ROWS = ["..@WW", ".TT.G", "S.B.O"]

grids = (
    st.integers(1, 12)
    .flatmap(lambda width: st.lists(st.text("@OT.GSWB", min_size=width, max_size=width), min_size=1, max_size=12))
    .map(Grid.from_text_rows)
)


def problems_of(call, *arguments) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        call(*arguments)
    return caught.value.problems


# --- maps -----------------------------------------------------------------------------------------------


def test_map_rows_are_read_from_the_top_left():
    grid = parse_map(POND, "maps/pond.map")
    assert (grid.width, grid.height, grid.name) == (5, 3, "pond.map")
    assert grid.text_rows() == POND_ROWS
    assert [grid.is_free(grid.cell(x, 0)) for x in range(5)] == [True, True, False, True, True]
    assert grid.is_free(grid.cell(0, 2)), "swamp is passable"
    assert grid.is_free(grid.cell(2, 2)), "blight is ground"


@pytest.mark.parametrize(
    "data",
    [
        POND.replace(b"\n", b"\r\n"),
        POND.replace(b"\n", b"\r"),
        POND.lower(),
        POND.rstrip(),
        POND + b"\n \n\r\n",
        POND.replace(b"G\n", b"G \t\n"),
        b"\xef\xbb\xbf" + POND,
        POND.replace(b"type octile\nheight 3\nwidth 5\n", b"width 5\n\n  height\t3 type octile "),
        POND.replace(b"type octile\nheight 3\nwidth 5\nmap", b"Width 5 Type Octile Height 3 Map"),
    ],
    ids=["crlf", "cr", "lower", "no-last-line-end", "blank-end", "blanks-behind", "mark", "one-line", "capitals"],
)
def test_map_format_variants_give_the_same_map(data):
    assert parse_map(data, "pond.map").text_rows() == POND_ROWS


def test_water_connects_only_to_water():
    grid = parse_map(POND, "pond.map")
    assert grid.free_neighbours(grid.cell(3, 0)) == [grid.cell(4, 0)]
    assert grid.free_neighbours(grid.cell(3, 1)) == [grid.cell(4, 1), grid.cell(3, 2)]


def test_swamp_can_be_blocked():
    grid = parse_map(POND, "pond.map", swamp="blocked")
    assert grid.text_rows() == ["..@WW", ".TT.G", "T.B.O"]
    assert not grid.is_free(grid.cell(0, 2))
    assert problems_of(parse_map, POND, "pond.map", "blockd") == [
        "pond.map: swamp: expected one of passable, blocked, got 'blockd'; did you mean 'blocked'?"
    ]


def test_diagonal_cost_is_taken_from_the_movement():
    assert parse_map(POND, "pond.map", movement=Movement(diagonal=1.5)).diagonal_cost == 1.5


@given(grids)
def test_written_map_is_read_back_unchanged(grid):
    again = parse_map(map_text(grid).encode("ascii"), grid.name)
    assert np.array_equal(again.terrain, grid.terrain)
    assert np.array_equal(again.moves, grid.moves)
    assert map_text(again) == map_text(grid)


def test_writing_keeps_terrain_letters_and_edits(tmp_path):
    grid = parse_map(POND, "pond.map")
    grid.block_and_free(blocked=[grid.cell(3, 0), grid.cell(0, 1)], freed=[grid.cell(2, 0)])
    grid.block_and_free(blocked=[], freed=[grid.cell(3, 0)])
    write_map(grid, tmp_path / "edited.map")
    data = (tmp_path / "edited.map").read_bytes()
    assert data == b"type octile\nheight 3\nwidth 5\nmap\n...WW\n@TT.G\nS.B.O\n"


BAD_FILES = sorted([*BAD.glob("*.map"), *BAD.glob("*.scen")])


@pytest.mark.parametrize("path", BAD_FILES, ids=lambda path: path.name)
def test_broken_file_gives_its_expected_message(path):
    expected = path.with_name(f"{path.name}.expected").read_text("utf-8").splitlines()
    data = path.read_bytes()
    if path.suffix == ".map":
        assert problems_of(parse_map, data, path.name) == expected
        return
    try:
        rows = parse_scen(data, path.name).rows
    except ConfigError as error:
        assert error.problems == expected
    else:
        assert [f"{path.name}:{row.line}: {row.problem}" for row in rows if row.problem] == expected


def test_corpus_of_bad_files_exists():
    assert len(BAD_FILES) > 30


def test_map_header_allocates_no_memory_for_missing_rows():
    data = b"type octile\nheight 4096\nwidth 8192\nmap\n" + b"." * 8192 + b"\n"
    tracemalloc.start()
    try:
        problems = problems_of(parse_map, data, "promise.map")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert problems == ["promise.map:6: expected row 2 of 4096, got the end of the file"]
    assert peak < 1_000_000


def test_huge_map_file_is_refused_unread(tmp_path):
    path = tmp_path / "huge.map"
    with open(path, "wb") as file:
        file.truncate(1 << 33)  # a hole on the disk, 8 GB to whoever reads it
    tracemalloc.start()
    try:
        problems = problems_of(read_map, path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert problems == [f"{path}: expected a .map file of at most 33,574,912 bytes, got 8,589,934,592"]
    assert peak < 1_000_000


def test_missing_file_folder_and_pipe_are_refused(tmp_path):
    (tmp_path / "arena.map").write_bytes(POND)
    assert problems_of(read_map, tmp_path / "arenas.map") == [
        f"{tmp_path / 'arenas.map'}: expected a .map file, got no such file; did you mean 'arena.map'?"
    ]
    assert "no such file" in problems_of(read_map, tmp_path / ("x" * 5000))[0]
    assert "no such file" in problems_of(read_map, "a\0b")[0]
    assert problems_of(read_map, tmp_path) == [f"{tmp_path}: expected a .map file, got a folder"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.map")
        assert "device" in problems_of(read_map, tmp_path / "pipe.map")[0]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_map_file_is_refused(tmp_path):
    path = tmp_path / "secret.map"
    path.write_bytes(POND)
    path.chmod(0)
    assert "cannot be read" in problems_of(read_map, path)[0]


# --- bytes at random ------------------------------------------------------------------------------------

headers = st.lists(
    st.sampled_from(
        [b"type", b"octile", b"height", b"width", b"map", b"3", b"5", b"0", b"-1", b"\n", b"99999999", b"x"]
    )
).map(b" ".join)
rows_of_bytes = st.lists(st.binary(max_size=7), max_size=5).map(b"\n".join)
map_bytes = st.one_of(
    st.binary(),
    st.tuples(headers, st.binary(max_size=40)).map(b"\n".join),
    rows_of_bytes.map(lambda rows: POND[: POND.index(b"..@")] + rows),
    st.tuples(st.integers(0, len(POND)), st.integers(0, len(POND)), st.binary(max_size=3)).map(
        lambda cut: POND[: cut[0]] + cut[2] + POND[cut[1] :]
    ),
)


@settings(max_examples=400)
@given(map_bytes, st.sampled_from(["passable", "blocked"]))
def test_any_bytes_give_a_map_or_a_clear_error(data, swamp):
    try:
        grid = parse_map(data, "any.map", swamp)
    except ConfigError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.startswith("any.map:") and "\n" not in problem and "got" in problem
    else:
        assert grid.terrain.shape == (grid.height, grid.width)
        assert set(map_text(grid)) <= set("@OT.GSWB typeoctileheightwidthmap0123456789\n")


SCEN = b"version 1\n0\ta.map\t5\t3\t0\t0\t4\t1\t4.41421\n12\tb c.map\t5\t3\t0\t0\t4\t1\t49\n"
fields = st.one_of(
    st.integers(-9, 9).map(str), st.floats().map(str), st.text(max_size=5), st.sampled_from(["version", "1.0", "a.map"])
)
scen_lines = st.lists(fields, max_size=10).flatmap(
    lambda line: st.sampled_from([" ", "\t"]).map(lambda s: s.join(line))
)
scen_bytes = st.one_of(
    st.binary(),
    st.lists(scen_lines, max_size=6).map(lambda lines: "\n".join(lines).encode("utf-8", "replace")),
    st.lists(scen_lines, max_size=6).map(lambda lines: SCEN + "\n".join(lines).encode("utf-8", "replace")),
    st.tuples(st.integers(0, len(SCEN)), st.integers(0, len(SCEN)), st.binary(max_size=3)).map(
        lambda cut: SCEN[: cut[0]] + cut[2] + SCEN[cut[1] :]
    ),
)


@settings(max_examples=400)
@given(scen_bytes)
def test_any_bytes_give_scen_rows_or_a_clear_error(data):
    try:
        scen = parse_scen(data, "any.scen")
    except ConfigError as error:
        assert all(problem.startswith("any.scen:") and "\n" not in problem for problem in error.problems)
        return
    assert [row.row_index for row in scen.rows] == list(range(len(scen.rows)))
    assert all(row.is_readable or (row.problem and "\n" not in row.problem) for row in scen.rows)
    checked = scen.with_problems_on_grid(parse_map(POND, "pond.map"))
    assert all(row.problem is None or "\n" not in row.problem for row in checked.rows)


@settings(max_examples=300)
@given(scen_bytes)
def test_scen_file_survives_writing(data):
    try:
        scen = parse_scen(data, "any.scen")
        text = scen_text(scen.rows)
    except ConfigError:  # not a scenario file, or a name of control characters, which cannot be written
        return
    if scen.rows:
        again = parse_scen(text.encode("utf-8"), "any.scen")
        assert [without_line(row) for row in again.rows] == [without_line(row) for row in scen.rows]


def without_line(row: ScenRow) -> tuple[object, ...]:
    return (row.row_index, row.bucket, row.map_name, row.width, row.height, row.start, row.goal, row.optimal, row.text)


# --- scenarios ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [b"version 1", b"version 1.0", b"Version  1"])
@pytest.mark.parametrize("blank", [b"\t", b" ", b" \t "])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_scen_row_has_width_before_height(version, blank, line_end):
    row = blank.join([b"15", b"maps/dao/arena.map", b"49", b"50", b"1", b"7", b"47", b"44", b"61.3259"])
    scen = parse_scen(line_end.join([version, b"", row, b""]), "arena.scen")
    assert scen.rows == [ScenRow(0, 15, "maps/dao/arena.map", 49, 50, (1, 7), (47, 44), 61.3259, line=3)]
    assert scen.map_names() == ["maps/dao/arena.map"]


def test_old_scen_format_has_no_version_and_sizes():
    scen = parse_scen(b"0 a.map 1 2 3 4 5.5\n", "old.scen")
    assert scen.rows == [ScenRow(0, 0, "a.map", 0, 0, (1, 2), (3, 4), 5.5, line=1)]
    assert row_problem_on_grid(scen.rows[0], Grid.from_text_rows(["....."] * 5)) is None
    assert scen_text(scen.rows) == "0\ta.map\t1\t2\t3\t4\t5.5\n"


def test_tab_separated_scen_row_may_have_blanks_in_map_name():
    (row,) = parse_scen(b"version 1\n0\tmy maps/a b.map\t5\t3\t0\t1\t4\t2\t5\n", "blanks.scen").rows
    assert (row.map_name, row.start, row.problem) == ("my maps/a b.map", (0, 1), None)


def test_bad_scen_row_keeps_its_index():
    scen = parse_scen(b"version 1\n1 a.map 5 3 0 0 4 1 4.4\nnonsense\n2 a.map 5 3 0 0 4 1 4.4\n", "some.scen")
    assert [(row.row_index, row.line, row.is_readable) for row in scen.rows] == [
        (0, 2, True),
        (1, 3, False),
        (2, 4, True),
    ]
    assert "9 fields" in scen.rows[1].problem and "'nonsense'" in scen.rows[1].problem
    assert scen.with_problems_on_grid(parse_map(POND, "pond.map")).rows[1].problem == scen.rows[1].problem


@pytest.mark.parametrize(
    ("start", "goal", "expected"),
    [
        ((0, 0), (4, 1), None),
        ((3, 0), (4, 0), None),
        ((0, 0), (5, 0), "goal: expected a cell of the 5 x 3 map, got (5, 0) outside it"),
        ((0, -1), (4, 1), "start: expected a cell of the 5 x 3 map, got (0, -1) outside it"),
        ((1, 1), (4, 1), "start: expected a free cell, got (1, 1) on trees 'T', which is blocked"),
        ((0, 0), (2, 0), "goal: expected a free cell, got (2, 0) on '@', which is blocked"),
        (
            (0, 2),
            (3, 0),
            "expected start and goal both on ground or both in water, "
            "got ground 'S' and water 'W': no move connects them",
        ),
    ],
)
def test_scen_rows_unfit_for_the_map_give_a_reason(start, goal, expected):
    row = ScenRow(0, 0, "pond.map", 5, 3, start, goal, 1.0)
    assert row_problem_on_grid(row, parse_map(POND, "pond.map")) == expected


def test_scen_row_for_another_map_size_explains_scaling():
    row = ScenRow(0, 61, "pond.map", 512, 512, (210, 395), (87, 201), 244.95)
    assert row_problem_on_grid(row, parse_map(POND, "pond.map")) == (
        "expected a map of 512 x 512, got 5 x 3: the row is for this map scaled to that size; open the scaled copy"
    )


def test_scen_file_with_too_many_or_too_long_lines_is_refused(monkeypatch):
    monkeypatch.setattr(map_file, "MAX_SCEN_ROWS", 3)
    rows = b"0 a.map 5 3 0 0 4 1 4.4\n"
    assert len(parse_scen(b"version 1\n" + 3 * rows, "some.scen").rows) == 3
    assert problems_of(parse_scen, b"version 1\n" + 4 * rows, "many.scen") == [
        "many.scen:5: expected at most 3 rows, got more"
    ]
    long = parse_scen(b"version 1\n" + b"1 " * 3000, "long.scen").rows[0]
    assert long.problem == "expected a row of 9 fields, got a line of 5,999 characters"


def test_scen_files_are_written_and_read(tmp_path):
    rows = [
        ScenRow(0, 1, "a.map", 5, 3, (0, 0), (4, 1), 4.41421, 2),
        ScenRow(1, 0, "b c.map", 5, 3, (0, 0), (1, 0), 1.0, 3),
    ]
    (tmp_path / "a.scen").write_bytes(scen_text(rows).encode())
    assert (tmp_path / "a.scen").read_bytes() == (
        b"version 1\n1\ta.map\t5\t3\t0\t0\t4\t1\t4.41421\n0\tb c.map\t5\t3\t0\t0\t1\t0\t1\n"
    )
    assert read_scen(tmp_path / "a.scen") == ScenFile(str(tmp_path / "a.scen"), rows)
    assert read_scen(tmp_path / "a.scen", Grid.from_text_rows(["...."])).rows[0].problem is not None
    with pytest.raises(ConfigError, match="row 7: map: expected a file name"):
        scen_text([ScenRow(7, 1, "a\tb", 5, 3, (0, 0), (4, 1), 4.4)])


def test_listed_lengths_are_compared_with_tolerance():
    assert are_path_lengths_equal(244.9533, 244.95)
    assert are_path_lengths_equal(1000.1, 1000.0)
    assert not are_path_lengths_equal(1000.2, 1000.0)
    assert not are_path_lengths_equal(5.0, 5.0110)
    assert not are_path_lengths_equal(float("inf"), 5.0)


# --- finding and writing files --------------------------------------------------------------------------


def write_maps(folder: Path, *names: str) -> list[Path]:
    places = [folder / name for name in names]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(POND)
    return places


def test_find_map_searches_folders_in_order(tmp_path):
    scen = tmp_path / "set" / "arena.map.scen"
    named = "maps/dao/arena2.map"
    library = tmp_path / "library"
    order = write_maps(
        tmp_path,
        "set/maps/dao/arena2.map",
        "set/arena.map.map",
        "set/arena.map",
        "set/arena2.map",
        "library/maps/dao/arena2.map",
        "library/arena2.map",
    )
    for place in order:
        assert find_map_of_scen(scen, named, [library]) == place
        place.unlink()
    problem = problems_of(find_map_of_scen, scen, named, [library])
    assert problem == [f"{scen}: expected the map '{named}', found none at {', '.join(str(place) for place in order)}"]


def test_find_map_accepts_absolute_and_windows_paths(tmp_path):
    (place,) = write_maps(tmp_path, "maps/arena.map")
    assert find_map_of_scen(tmp_path / "a.scen", str(place)) == place
    assert find_map_of_scen(tmp_path / "a.scen", "maps\\arena.map") == place


def test_find_map_refuses_maps_outside_the_folder(tmp_path):
    outside, inside = write_maps(tmp_path, "private/arena.map", "set/other.map")
    for named in (str(outside), "../private/arena.map"):
        problem = problems_of(find_map_of_scen, inside.with_name("a.scen"), named)[0]
        assert f"{outside} (not opened: outside the folder of this file)" in problem
        assert find_map_of_scen(inside.with_name("a.scen"), named, [outside.parent]) == outside


def test_find_map_follows_links_outside_only_to_benchmark_files(tmp_path):
    """A stranger's archive may hold links: none of them makes the program read, and quote, a private file."""
    outside, secret, inside = write_maps(tmp_path, "shared/arena.map", "private/secret.txt", "set/other.map")
    scen = inside.with_name("a.scen")
    inside.with_name("way_out.map").symlink_to(outside)
    inside.with_name("folder").symlink_to(outside.parent)
    inside.with_name("way_in.map").symlink_to(inside)
    inside.with_name("secret.map").symlink_to(secret)
    inside.with_name("device.map").symlink_to("/dev/zero")
    inside.with_name("private").symlink_to(secret.parent)
    for named in ("way_out.map", "folder/arena.map", "way_in.map"):
        assert find_map_of_scen(scen, named) == inside.parent / named
    for named in ("secret.map", "device.map"):
        assert "must lead to a .map file, got /" in problems_of(find_map_of_scen, scen, named)[0]
    for named in ("private/secret.txt", "folder/../../private/secret.txt"):
        assert "not opened: " in problems_of(find_map_of_scen, scen, named)[0]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "list.scen").symlink_to(scen)
    assert find_map_of_scen(tmp_path / "mine" / "list.scen", "other.map") == inside, (
        "beside the list that the link leads to"
    )
    (tmp_path / "also_set").symlink_to(inside.parent)  # the folder itself may be reached by a link
    assert find_map_of_scen(tmp_path / "also_set" / "a.scen", "other.map").samefile(inside)


def test_missing_map_suggests_the_nearest_name(tmp_path):
    write_maps(tmp_path, "arena2.map")
    assert problems_of(find_map_of_scen, tmp_path / "a.scen", "maps/arena.map")[0].endswith(
        "; did you mean 'arena2.map'?"
    )
    for name in ("", "a\0b", "\n"):
        assert "expected a file name" in problems_of(find_map_of_scen, tmp_path / "a.scen", name)[0]
    for name in (".", "..", "/", "x" * 5000):
        assert "found none at" in problems_of(find_map_of_scen, tmp_path / "a.scen", name)[0]


def test_failed_write_keeps_the_old_file_only(tmp_path, monkeypatch):
    path = tmp_path / "kept.map"
    write_file_atomically(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert problems_of(write_file_atomically, path, b"new") == [f"{path}: cannot be written: No space left on device"]
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.map"]


def test_write_atomically_replaces_and_follows_links(tmp_path):
    (tmp_path / "real.map").write_bytes(b"old")
    (tmp_path / "link.map").symlink_to("real.map")
    write_file_atomically(tmp_path / "link.map", b"new")
    assert (tmp_path / "real.map").read_bytes() == b"new"
    assert (tmp_path / "link.map").is_symlink()
    assert "cannot be written" in problems_of(write_file_atomically, tmp_path / "no" / "folder.map", b"")[0]


# --- the benchmark maps ---------------------------------------------------------------------------------


@needs_benchmarks
def test_all_benchmark_maps_and_scenarios_open():
    paths = sorted(BENCHMARKS.glob("*/*.map"))
    assert len(paths) == 11
    for path in paths:
        grid = read_map(path)
        side = 1024 if path.name == "TheFrozenSea.map" else 512
        assert (grid.width, grid.height) == (side, side)
        assert grid.text_rows() == path.read_text("ascii").upper().split()[7:]  # behind the words of the header
        scen = read_scen(f"{path}.scen")
        assert len(scen.rows) == len(Path(f"{path}.scen").read_bytes().splitlines()) - 1
        assert all(row.is_readable and (row.width, row.height) == (side, side) for row in scen.rows)
        assert {find_map_of_scen(f"{path}.scen", name) for name in scen.map_names()} == {path}


@needs_benchmarks
def test_benchmark_rows_on_blocked_cells_are_known():
    counts = {}
    for path in sorted(BENCHMARKS.glob("*/*.map")):
        problems = [row.problem for row in read_scen(f"{path}.scen", read_map(path)).rows if row.problem]
        assert all("which is blocked" in problem for problem in problems)
        starts = sum(problem.startswith("start") for problem in problems)
        if problems:
            counts[path.name] = (starts, len(problems) - starts)
    assert counts == {"battleground.map": (5, 2), "riverrun.map": (9, 0)}


def shortest_length(row: ScenRow, grid: Grid) -> float:
    """By Dijkstra over the grid's moves, with the true root of 2: the listed lengths have it."""
    tails, heads, costs = [], [], []
    for d in range(8):
        s = np.flatnonzero(grid.moves >> d & 1)
        tails.append(s)
        heads.append(s + grid.map_arrays.step[d])
        costs.append(np.full(s.size, 1.0 if d < 4 else 2**0.5))
    arcs = (np.concatenate(tails), np.concatenate(heads))
    graph = csr_matrix((np.concatenate(costs), arcs), shape=(grid.cells, grid.cells))
    limit = row.optimal + 2
    return float(dijkstra(graph, indices=grid.cell(*row.start), limit=limit)[grid.cell(*row.goal)])


@needs_benchmarks
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("bg512/AR0011SR", 300),
        ("random/random512-10-0", 1200),
        ("rooms/16room_000", 900),
        ("sc1/Aftershock", 1300),
        ("wc3maps512/riverrun", 0),  # through swamp
        ("wc3maps512/riverrun", 304),  # in water
        ("wc3maps512/battleground", 1057),  # through swamp
    ],
)
def test_listed_lengths_confirm_corner_swamp_and_water_rules(name, number):
    path = BENCHMARKS / f"{name}.map"
    row = read_scen(f"{path}.scen").rows[number]
    assert are_path_lengths_equal(shortest_length(row, read_map(path)), row.optimal)


@needs_benchmarks
def test_blocked_swamp_makes_a_listed_problem_unsolvable():
    path = BENCHMARKS / "wc3maps512" / "riverrun.map"
    assert shortest_length(read_scen(f"{path}.scen").rows[0], read_map(path, swamp="blocked")) == float("inf")
