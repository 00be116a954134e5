"""The line at hand in slow motion, against the oracles that know nothing of it."""

from hypothesis import given
from hypothesis import strategies as st

from sim.world import WalkerView, World
from ui.model.pseudocode import LINES, Reading, read

from .conftest import board_of, make_world, problems
from .naive import Tba, TbBfs
from .naive_learning import Lrta
from .naive_ribs import Ribs

Problem = tuple[list[str], int, int]
small = problems(side=9, water=False)


def key_of(reading: Reading | None) -> str:
    assert reading is not None
    return reading.lines[reading.at].key if reading.at >= 0 else ""


def ticks(problem: Problem, kind: str, budget: int):
    rows, start, goal = problem
    world: World = make_world(rows, start, goal, (kind, {}), budget=budget, watched=True)
    before = start
    while world.tick < 150 and world.advance(1):
        view: WalkerView = world.snapshot().walkers[0]
        yield view, before, world
        before = view.position


@given(small, st.sampled_from([1, 3]))
def test_time_bounded_search_follows_or_goes_back(problem: Problem, budget: int) -> None:
    board = board_of(make_world(*problem).grid)
    naive = TbBfs(board, board.at(problem[1]), board.at(problem[2]), budget)
    for view, before, _ in ticks(problem, "tb-wa", budget):
        stood, row = naive.loc, naive.tick()
        expected = "no_path" if naive.status == "no path" else "back" if row.back else "follow"
        if row.cell != stood or naive.status == "no path":
            assert key_of(read(view, before)) == expected
        for shown in range(row.expanded):
            assert key_of(read(view, before, shown)) == "expand"
        if row.expanded:
            assert key_of(read(view, before, row.expanded)) == key_of(read(view, before))


@given(small)
def test_tba_star_bounces_only_where_its_oracle_does(problem: Problem) -> None:
    board = board_of(make_world(*problem).grid)
    naive = Tba(board, board.at(problem[1]), board.at(problem[2]), 10)
    for view, before, _ in ticks(problem, "tba", 10):
        stood, row = naive.loc, naive.tick()
        if naive.status != "no path" and row.cell != stood:
            expected = "bounce" if row.bounced else "back" if row.back else "follow"
            assert key_of(read(view, before)) == expected


@given(small)
def test_ribs_prunes_where_its_oracle_does(problem: Problem) -> None:
    board = board_of(make_world(*problem).grid)
    naive = Ribs(board, board.at(problem[1]), board.at(problem[2]))
    for view, before, _ in ticks(problem, "ribs", 1):
        stood = naive.loc
        row, reading = naive.tick(), read(view, before)
        assert reading is not None
        keys = {reading.lines[place].key for place in reading.done}
        if naive.status == "no path":
            assert "no_path" in keys
        elif row.cell == stood:
            assert key_of(reading) == "limit"
        elif row.back:
            assert ("dead" in keys) == (stood in naive.dead) and ("redundant" in keys) == (stood in naive.redundant)
        else:
            assert key_of(reading) == "enter"


@given(small)
def test_lrta_star_learns_before_it_moves(problem: Problem) -> None:
    board = board_of(make_world(*problem).grid)
    naive = Lrta(board, board.at(problem[1]), board.at(problem[2]), 1)
    for view, before, _ in ticks(problem, "lrta", 1):
        stood = naive.loc
        naive.tick()
        if naive.loc != stood:
            assert key_of(read(view, before)) == "move"


def test_no_line_is_too_long_and_no_key_stands_twice() -> None:
    for kind, lines in LINES.items():
        keys = [line.key for line in lines if line.key]
        assert len(keys) == len(set(keys)), kind
        assert all(len(line.text) <= 56 for line in lines)


def test_agents_without_lines_have_none() -> None:
    for view, before, _ in ticks((["...."], 0, 3), "astar", 1):
        assert read(view, before) is None
