"""The line at hand in slow motion, against the oracles that know nothing of it."""

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.contract import settings_of
from agents.registry import BY_KEY
from sim.commands import EditCells
from sim.params import Value
from sim.walker import WalkerView
from sim.world import World
from ui.model.algorithms import KINDS, lines_of
from ui.model.pseudocode import READ_KINDS, Reading, read

from .conftest import board_of, drawn, make_world, problems, random_rows
from .naive import BestFirst, Board, DelayedAstar, Place, Row, Tba, TbBfs
from .naive_databases import DLrta, PrLrta
from .naive_knn import Knn
from .naive_ribs import Ribs
from .test_golden import M1
from .test_knn_lrta import naive_of

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


class Waiting:
    """A search of which nothing is walked before it is done, with the lines that it came to."""

    def __init__(self, board: Board, start: Place, goal: Place, wg: float, wh: float, reopen: bool) -> None:
        self.search, self.path = BestFirst(board, start, goal, wg, wh, reopen), list[Place]()
        self.loc, self.goal, self.expanded = start, goal, 0

    def tick(self, room: float) -> set[str]:
        did = set() if self.path else self.plan(room)
        if self.path:
            self.loc = self.path[self.path.index(self.loc) + 1]
        return did | {"follow"} if self.path else did

    def plan(self, room: float) -> set[str]:
        before = len(self.search.order)
        end = self.search.run(room)
        self.expanded = len(self.search.order) - before
        self.path = self.search.chain(self.goal)[::-1] if end == "goal" else []
        did = {"expand"} if self.expanded else set()
        return did | {"goal": {"found", "path"}, "empty": {"no_path"}, "budget": set()}[end]


WAITING: dict[str, tuple[float, float, dict[str, Value]]] = {
    "astar": (1.0, 1.0, {}),
    "wastar": (1.0, 3.0, {"weight": 3.0, "reopen": True}),
    "gbfs": (0.0, 1.0, {}),
}


@pytest.mark.parametrize("kind", WAITING)
@settings(max_examples=40)
@given(small, st.sampled_from([1, 4, 20]), st.sampled_from(["sliced", "instant"]))
def test_those_that_wait_find_and_follow_their_path_where_their_oracle_does(
    kind: str, problem: Problem, budget: int, mode: str
) -> None:
    wg, wh, params = WAITING[kind]
    board = board_of(make_world(*problem).grid)
    naive = Waiting(board, board.at(problem[1]), board.at(problem[2]), wg, wh, bool(params.get("reopen")))
    for view, before, _ in ticks(problem, kind, budget, mode=mode, **params):
        naive.expanded = 0
        did, reading = naive.tick(INSTANT if mode == "instant" else budget), read(view, before)
        assert keys_in(reading) == did and int(view.rows[-1].expanded) == naive.expanded
        assert naive.path or "no_path" in did or key_of(reading) == "expand"
        for shown in range(naive.expanded):
            assert keys_in(read(view, before, shown)) == {"expand"}


INSTANT = float("inf")


@given(small, st.sampled_from([10, 30]))
def test_delayed_astar_traces_and_goes_to_and_fro_where_its_oracle_does(problem: Problem, budget: int) -> None:
    naive: DelayedAstar | None = None
    for view, before, world in ticks(problem, "delayed-astar", budget):
        board, agent = board_of(world.grid), cast(Any, world.walkers[0].agent)
        aside = int(agent.state[0].aside)
        naive = naive or DelayedAstar(
            board, board.at(problem[1]), board.at(problem[2]), board.at(max(aside, 0)), budget
        )
        had_trace, had_path = bool(naive.trace), bool(naive.path)
        row, keys = naive.tick(), keys_in(read(view, before))
        expected = {"expand"} if row.expanded else set()
        expected |= {"found"} if naive.trace and not had_trace else set()
        expected |= {"trace"} if row.traced else set()
        expected |= {"path"} if naive.path and not had_path else set()
        if naive.status == "no path":
            assert keys == expected | {"no_path"}
        else:
            assert keys == expected | {"follow" if naive.path else "bounce"}


CHANGED = "....", "....", "...."


@pytest.mark.parametrize(
    "kind, params, restarts",
    [
        *((kind, {}, True) for kind in ("astar", "wastar", "gbfs", "delayed-astar", "tba", "tb-wa", "tb-gbfs", "ribs")),
        *((kind, {"restart": "eager"}, True) for kind in ("rtb-wa", "rtb-gbfs")),
        *((kind, {"restart": "lazy"}, False) for kind in ("rtb-wa", "rtb-gbfs")),
    ],
)
def test_a_change_has_its_line_where_it_begins_a_search_anew(
    kind: str, params: dict[str, Value], restarts: bool
) -> None:
    world = make_world(list(CHANGED), 0, 3, (kind, params), budget=10, watched=True)
    world.advance(1)
    assert "restart" not in keys_in(read(world.snapshot().walkers[0], 0))
    before = world.walkers[0].position
    world.submit(EditCells((11,)))  # far from any way
    world.advance(1)
    view = world.snapshot().walkers[0]
    for shown in (1, None):
        assert ("restart" in keys_in(read(view, before, shown))) == restarts


def test_one_that_gives_up_says_so_at_its_line() -> None:
    world = make_world([".@."], 0, 2, ("rtb-wa", {"no_path": "give-up"}), budget=10, watched=True)
    world.advance(1)
    reading = read(world.snapshot().walkers[0], 0)
    assert key_of(reading) == "no_path" and keys_in(reading) == {"expand", "no_path"}
    assert reading is not None and "gives up" in reading.lines[reading.at].text


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


class Noting:
    """Of an oracle that learns: whether it had anything to learn from."""

    learns = False

    def set_h(self, s: Place, value: float) -> None:
        self.learns = True
        super().set_h(s, value)


# --- with data computed before the run --------------------------------------------------------------------

FORMS = [(True, True), (True, False), (False, True), (False, False)]  # goals and depths from the database
LOOKS = {"expand", "choose", "learn"}


def control(goals: bool, depths: bool) -> dict[str, Value]:
    return {
        "goal_control": "database" if goals else "global",
        "depth_control": "database" if depths else "fixed",
        "cap": 4,
    }


class NotingDLrta(Noting, DLrta):
    pass


@pytest.mark.parametrize("goals, depths", FORMS)
@settings(max_examples=25)
@given(problems(side=10, low=3, water=False), st.sampled_from([1, 2, 3]))
def test_d_lrta_star_looks_up_and_reenters_where_its_oracle_does(
    goals: bool, depths: bool, problem: Problem, level: int
) -> None:
    board = board_of(make_world(*problem).grid)
    naive = NotingDLrta(board, board.at(problem[1]), board.at(problem[2]), level, 2, 4, goals, depths)
    for view, before, _ in ticks(problem, "d-lrta", 1, depth=2, level=level, **control(goals, depths)):
        stood, again = naive.loc, goals and naive.visits[naive.loc] > 1
        naive.learns = False
        row, keys = naive.tick(), keys_in(read(view, before))
        looked_up = {"look up"} if (goals or depths) and row.expanded else set()
        how = {"move"} if naive.loc != stood else {"no_path"}
        looks = {"expand", *({"choose", "learn"} if naive.learns else ())} if row.expanded else set()
        assert keys == looked_up | ({"reenter"} if again and row.expanded else set()) | how | looks
        for shown in range(row.expanded):
            assert key_of(read(view, before, shown)) == "expand"
            assert looked_up <= keys_in(read(view, before, shown)), "the database was asked before anything is expanded"


class NotingKnn(Knn):
    """The oracle, with the lines that it came to."""

    def tick(self) -> None:
        self.did = {"reached"} if self.loc in self.queue[:1] else set[str]()
        super().tick()

    def select(self) -> None:
        super().select()
        self.did |= {"select"} | ({"reached"} if self.queue[0] == self.loc else set())
        if not self.verdicts and self.quota != self.cap:
            self.did.add("straight")
        else:
            taken = self.verdicts and self.verdicts[-1][1] == "accepted"
            self.did |= {"ask", "take" if taken else "none fits"}


@settings(max_examples=40)
@given(problems(side=14, low=4, water=False), st.sampled_from([1, 5, 30]), st.sampled_from([3, 250]))
def test_knn_lrta_star_chooses_where_its_oracle_does(problem: Problem, count: int, cap: int) -> None:
    naive: NotingKnn | None = None
    for view, before, world in ticks(problem, "knn-lrta", 1, records=count, cap=cap, similar=4):
        board = board_of(world.grid)
        if board.at(problem[2]) not in board.distances(board.at(problem[1])):
            return
        records: Any = world.walkers[0].agent
        naive = naive or NotingKnn(**vars_of(naive_of(world, records.records, 4, cap)))
        naive.tick()
        assert keys_in(read(view, before)) == naive.did | LOOKS | {"move"}
        assert key_of(read(view, before, 0)) == "expand" and naive.did <= keys_in(read(view, before, 0))


def open_at_its_corners(seed: int, side: int) -> Problem:
    rows = random_rows(seed, side, side, 0.2)
    rows[0], rows[-1] = ".." + rows[0][2:], rows[-1][:-2] + ".."
    return rows, 0, side * side - 1


def vars_of(naive: Knn) -> dict[str, Any]:
    return {
        "start" if name == "loc" else name: getattr(naive, name)
        for name in ("board", "loc", "goal", "records", "similar", "cap")
    }


def test_a_spread_choice_says_that_it_is_under_way_until_it_ends_as_one_at_once() -> None:
    problem = open_at_its_corners(3, 20)
    chosen = {"straight", "take", "none fits"}
    at_once = keys_in(read(*next(ticks(problem, "knn-lrta", 1, records=40, direct=False))[:2]))
    assert "choosing" not in at_once and at_once & chosen
    waited = 0
    for view, before, _ in ticks(problem, "knn-lrta", 1, records=40, direct=False, spread=3):
        keys = keys_in(read(view, before))
        assert ("choosing" in keys) == (not keys & chosen) and ("select" in keys) == (waited == 0)
        if keys & chosen:
            break
        waited += 1
    assert waited > 2 and keys & chosen == at_once & chosen


class NotingPr(PrLrta):
    """The oracle, with what it planned a leg with and what was expanded among regions."""

    def tick(self) -> Row:
        self.among, self.did = 0, set[str]()
        return super().tick()

    def plan(self) -> int:
        self.did.add("inside")
        return super().plan()

    def control(self) -> tuple[int, int]:
        again = self.goals and self.starts[self.loc] > 1
        self.did = LOOKS | {"refine", "look up"} | ({"reenter"} if again else set())
        return super().control()

    def look_ahead(
        self, root: int, target: int, depth: int, h: dict[tuple[int, int], float], gamma: float
    ) -> tuple[int, dict[int, tuple[float, float]], dict[int, int]]:
        found = super().look_ahead(root, target, depth, h, gamma)
        self.among = found[0]  # the last is that of the leg: databases look ahead before
        return found


@pytest.mark.parametrize("goals, depths", FORMS)
@settings(max_examples=25)
@given(problems(side=10, low=3, water=False), st.sampled_from([1, 2, 3]), st.sampled_from([1, 3]))
def test_pr_lrta_star_plans_its_legs_where_its_oracle_does(
    goals: bool, depths: bool, problem: Problem, level: int, depth: int
) -> None:
    board = board_of(make_world(*problem).grid)
    ends = board.at(problem[1]), board.at(problem[2])
    naive = NotingPr(board, *ends, level, depth, 4, goals, depths, 1.0, False)
    for view, before, _ in ticks(problem, "pr-lrta", 1, depth=depth, level=level, **control(goals, depths)):
        row, keys = naive.tick(), keys_in(read(view, before))
        did = naive.did - (set() if goals or depths else {"look up"})
        assert keys == did | {"no_path" if naive.status == "no path" else "follow"}
        for shown in range(row.expanded):
            line = "inside" if "inside" in did else "expand" if shown < naive.among else "refine"
            assert key_of(read(view, before, shown)) == line


@pytest.mark.parametrize("kind", ["d-lrta", "pr-lrta"])
def test_on_another_map_the_data_is_not_used_until_it_is_made_anew(kind: str) -> None:
    """Also in the very tick after which it is there: what the agent shows then is new, what it did was not."""
    world = make_world(*open_at_its_corners(3, 30), (kind, {"after_change": "rebuild"}), budget=200, watched=True)
    before, used, agent = 0, list[str](), cast(Any, world.walkers[0].agent)
    cells = [int(c) for c in np.flatnonzero(world.grid.free)[150:154]]
    world.submit(EditCells(tuple(cells)), 3)
    while world.tick < 200:
        was_stale = agent.is_stale or world.tick == 3
        if not world.advance(1):
            break
        view = world.snapshot().walkers[0]
        keys = keys_in(read(view, before))
        used += [key for key in ("look up", "without data", "expand") if key in keys][:1]
        if int(view.rows[-1].expanded):
            assert ("without data" in keys) == was_stale
        before = view.position
    assert {"without data", used[0]} == set(used) and used[-1] == used[0], "with data, without, with data again"


def test_a_record_whose_subgoal_is_blocked_is_dropped() -> None:
    world = make_world(*open_at_its_corners(2, 24), ("knn-lrta", {"records": 60, "direct": False}), watched=True)
    world.advance(1)
    target = world.snapshot().walkers[0].agent.target
    world.submit(EditCells((target,)))
    before = world.walkers[0].position
    world.advance(1)
    assert {"lost", "select", "ask"} <= keys_in(read(world.snapshot().walkers[0], before))


@pytest.mark.parametrize("kind, last, params", [("lrta", "move", {}), ("pr-lrta", "follow", {"level": 2})])
def test_the_first_tick_of_a_trial_has_no_line_nor_has_an_agent_at_its_end(
    kind: str, last: str, params: dict[str, Value]
) -> None:
    world = make_world(*drawn(M1["map"]), (kind, params), watched=True, trials=2)
    before, keys = world.start, list[str]()
    while world.tick < 2000 and world.advance(1):
        view = world.snapshot().walkers[0]
        keys.append(key_of(read(view, before, None, world.tick)))
        before = view.position
    assert keys.count("") == 1 and set(keys) == {"", last}
    assert key_of(read(view, before, None, world.tick + 1)) == "", "it has arrived, and others go on"


def test_every_agent_that_ships_has_lines() -> None:
    assert set(KINDS) == set(READ_KINDS) == set(BY_KEY)


def test_no_key_stands_twice() -> None:
    for kind in KINDS:
        for setting in settings_of(BY_KEY[kind]):
            lines = lines_of(kind, {p.name: p.default for p in BY_KEY[kind].params} | setting)
            keys = [line.key for line in lines if line.key]
            assert lines and len(keys) == len(set(keys)), kind


def test_lines_are_those_of_the_parameters() -> None:
    def texts(kind: str, **params: Value) -> str:
        spec = BY_KEY[kind]
        return " ".join(line.text for line in lines_of(kind, {p.name: p.default for p in spec.params} | params))

    assert "g + w h" in texts("tb-wa") and "g + w h" not in texts("rtb-gbfs")
    assert "not closed" in texts("astar") and "closed or not" in texts("wastar", reopen=True)
    assert "g + w h" in texts("wastar") and "least h" in texts("gbfs") and "g(t)" not in texts("gbfs")
    assert "in one tick" in texts("astar", mode="instant") and "until then" not in texts("gbfs", mode="instant")
    assert "open again" in texts("tb-wa", reopen=True) and "open again" not in texts("rtb-wa")
    assert "is gone," in texts("rtb-wa") and "new arc" not in texts("rtb-gbfs") + texts("rtb-wa", restart="eager")
    assert "into the path" in texts("rtb-wa", lazy_rule="printed")
    assert "gmax" in texts("lrta", lookahead_by="cost") and "d moves" in texts("lrta")
    assert "dead" not in texts("ribs", dead=False) and "u is redundant" not in texts("ribs", redundant=False)
    assert "search from it to the agent" in texts("tba", shortcut=True)
    assert "if not shorter" in texts("tba", switch="longer")
    assert "subgoal and depth" in texts("d-lrta") and "d := c" in texts("d-lrta")
    assert "subgoal" not in texts("d-lrta", **control(False, True)) and "database" in texts(
        "d-lrta", **control(False, True)
    )
    assert "d := c" not in texts("d-lrta", **control(True, False)) and "once no way" in texts(
        "d-lrta", reentrance="never"
    )
    assert "d := its depth" in texts("d-lrta", cap=0) and "d := c" in texts("d-lrta", cap=0, revisit="cap")
    assert texts("d-lrta", **control(False, False)) == texts("lrta"), "LRTA*(F,G)"
    assert "no way is left" in texts("lss-lrta") and "no way is left" not in texts("k-lrta") + texts(
        "rtaa", moves="one"
    )
    assert "g(t)" in texts("rtaa") and "g(t)" not in texts("lss-lrta") and "h - h0" in texts("da-rtaa")
    assert "greedy steps lead to the goal" not in texts("knn-lrta", direct=False)
    assert "meanwhile" in texts("knn-lrta", spread=9) and "meanwhile" not in texts("knn-lrta")
    assert "its second" in texts("knn-lrta", skip_first=True)
    assert "gamma" in texts("pr-lrta", gamma=0.4) and "gamma" not in texts("pr-lrta")
    assert "until then" not in texts("ida", mode="instant") + texts("pra", mode="instant")
    assert "after 1,000,000 expansions" in texts("ida") and "until s is settled:" in texts("dstar-lite", mode="instant")
    assert "at most Q, and" in texts("p-lrta") and "at most 7, and" in texts("p-lrta", updates=7)
    assert "neighbours" in texts("pra") and "neighbours" not in texts("pra", wide=False)
    assert "half the level" in texts("pra") and "l := 3, but no more" in texts("pra", level=3)
    assert "to their end" in texts("pra", keep=2) and "sqrt" in texts("pra", enough=True)
    assert "regions are rebuilt" in texts("pra", after_change="rebuild") and "while the map" not in texts(
        "pra", after_change="rebuild"
    )
    for kind in ("lrta", "p-lrta", "lss-lrta", "d-lrta", "dt-lrta", "knn-lrta", "pr-lrta"):
        assert "h kept" in texts(kind) and "new arcs are in reach" in texts(kind, on_unblock="reset")
    assert "way ahead is cut" in texts("lss-lrta") + texts("pr-lrta") and "is cut" not in texts("lss-lrta", moves="one")
    assert "database" not in texts("pr-lrta") and "toward y" in texts("pr-lrta", **control(True, False))
