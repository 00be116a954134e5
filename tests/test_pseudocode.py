"""The line at hand in slow motion, against the oracles that know nothing of it."""

from hypothesis import given
from hypothesis import strategies as st

from agents.contract import settings_of
from agents.registry import BY_KEY
from sim.params import Value
from sim.walker import WalkerView
from sim.world import World
from ui.model.pseudocode import KINDS, Reading, lines_of, read

from .conftest import board_of, make_world, problems
from .naive import Row, Tba, TbBfs
from .naive_learning import Lrta
from .naive_ribs import Ribs

Problem = tuple[list[str], int, int]
small = problems(side=9, water=False)


def key_of(reading: Reading | None) -> str:
    assert reading is not None
    return reading.lines[reading.at].key if reading.at >= 0 else ""


def keys_in(reading: Reading | None) -> set[str]:
    assert reading is not None
    return {reading.lines[place].key for place in reading.done}


def ticks(problem: Problem, kind: str, budget: int, **params: Value):
    rows, start, goal = problem
    world: World = make_world(rows, start, goal, (kind, params), budget=budget, watched=True)
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


class NotingTba(Tba):
    """The oracle, with the lines that it came to."""

    def tick(self) -> Row:
        self.did: set[str] = set()
        found, adopted, shortcuts = self.found, len(self.adopted_g), len(self.shortcuts)
        row = super().tick()
        happened = {
            "found": self.found > found,
            "path": len(self.adopted_g) > adopted,
            "shortcut": len(self.shortcuts) > shortcuts,
        }
        self.did |= {key for key, is_so in happened.items() if is_so}
        return row

    def _trace_slice(self, room: int) -> int:
        self.did.add("trace")
        return super()._trace_slice(room)


@given(small, st.sampled_from([10, 20, 40]), st.booleans(), st.booleans())
def test_tba_star_traces_and_takes_a_path_where_its_oracle_does(
    problem: Problem, budget: int, shortcut: bool, longer: bool
) -> None:
    board = board_of(make_world(*problem).grid)
    naive = NotingTba(board, board.at(problem[1]), board.at(problem[2]), budget, shortcut=shortcut, keeps_longer=longer)
    params: dict[str, Value] = {"shortcut": shortcut, "switch": "longer" if longer else "any"}
    for view, before, _ in ticks(problem, "tba", budget, **params):
        row, keys = naive.tick(), keys_in(read(view, before))
        if naive.status == "no path":
            assert keys == {"expand", "no_path"} if row.expanded else {"no_path"}
            continue
        assert keys & {"found", "trace", "path"} == naive.did & {"found", "trace", "path"}
        assert naive.did <= keys, "a shortcut that was found was looked for"


@given(small, st.sampled_from([1, 4]), st.booleans(), st.booleans())
def test_ribs_prunes_where_its_oracle_does(problem: Problem, budget: int, dead: bool, redundant: bool) -> None:
    board = board_of(make_world(*problem).grid)
    naive = Ribs(board, board.at(problem[1]), board.at(problem[2]), dead, redundant)
    for view, before, _ in ticks(problem, "ribs", budget, dead=dead, redundant=redundant):
        stood, limits = naive.loc, len(naive.limits)
        row, reading = naive.tick(budget), read(view, before)
        keys = keys_in(reading)
        assert ("limit" in keys) == (len(naive.limits) > limits)
        if naive.status == "no path":
            assert key_of(reading) == "no_path"
        elif row.cell == stood:
            assert key_of(reading) == "limit"
        elif row.back:
            assert ("dead" in keys) == (stood in naive.dead) and ("redundant" in keys) == (stood in naive.redundant)
            assert key_of(reading) == "back", "also a redundant cell is left by the way back, whatever could be entered"
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
        elif naive.status == "no path":
            assert key_of(read(view, before)) == "no_path"


def test_no_line_is_too_long_and_no_key_stands_twice() -> None:
    for kind in KINDS:
        for setting in settings_of(BY_KEY[kind]):
            lines = lines_of(kind, {p.name: p.default for p in BY_KEY[kind].params} | setting)
            keys = [line.key for line in lines if line.key]
            assert len(keys) == len(set(keys)), kind
            assert lines and all(len(line.text) <= 48 for line in lines), "more is cut off in the sidebar"


def test_lines_are_those_of_the_parameters() -> None:
    def texts(kind: str, **params: Value) -> str:
        spec = BY_KEY[kind]
        return " ".join(line.text for line in lines_of(kind, {p.name: p.default for p in spec.params} | params))

    assert "g + w h" in texts("tb-wa") and "g + w h" not in texts("rtb-gbfs")
    assert "gmax" in texts("lrta", lookahead_by="cost") and "d moves" in texts("lrta")
    assert "dead" not in texts("ribs", dead=False) and "u is redundant" not in texts("ribs", redundant=False)
    assert "search from it to the agent" in texts("tba", shortcut=True)
    assert "if not shorter" in texts("tba", switch="longer")


def test_agents_without_lines_have_none() -> None:
    for view, before, _ in ticks((["...."], 0, 3), "astar", 1):
        assert read(view, before) is None
