"""The line at hand in slow motion, against the oracles that know nothing of it."""

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.agent_contract import parameter_sets
from agents.registry import AGENT_SPECS_BY_KEY
from sim.params import Value
from sim.world import World
from sim.world_commands import EditCells
from sim.world_view import WalkerView
from ui.model.executed_pseudocode import KINDS_WITH_EXECUTED_LINES, ExecutedPseudocode, executed_pseudocode
from ui.model.pseudocode_lines import KINDS_WITH_PSEUDOCODE, pseudocode_lines_of

from .conftest import board_of, drawn, make_world, problems, random_map_rows
from .naive import BestFirst, Board, DelayedAstar, Place, Row, Tba, TbBfs
from .naive_databases import DLrta, PrLrta
from .naive_knn import Knn
from .naive_ribs import Ribs
from .test_golden import M1
from .test_knn_lrta import make_naive_knn_lrta

Problem = tuple[list[str], int, int]
small = problems(side=9, water=False)


def current_line_key(reading: ExecutedPseudocode | None) -> str:
    assert reading is not None
    return reading.lines[reading.current_line_index].key if reading.current_line_index >= 0 else ""


def executed_line_keys(reading: ExecutedPseudocode | None) -> set[str]:
    assert reading is not None
    return {reading.lines[place].key for place in reading.done}


def iter_ticks(problem: Problem, kind: str, budget: int, **params: Value):
    rows, start, goal = problem
    world: World = make_world(rows, start, goal, (kind, params), budget=budget, watched=True)
    before = start
    while world.tick < 150 and world.advance(1):
        view: WalkerView = world.create_snapshot().walkers[0]
        yield view, before, world
        before = view.position


class NaiveWaitingAgent:
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
def test_waiting_agents_highlight_lines_of_their_naive_version(
    kind: str, problem: Problem, budget: int, mode: str
) -> None:
    wg, wh, params = WAITING[kind]
    board = board_of(make_world(*problem).grid)
    naive = NaiveWaitingAgent(board, board.at(problem[1]), board.at(problem[2]), wg, wh, bool(params.get("reopen")))
    for view, before, _ in iter_ticks(problem, kind, budget, mode=mode, **params):
        naive.expanded = 0
        did, reading = naive.tick(INSTANT if mode == "instant" else budget), executed_pseudocode(view, before)
        assert executed_line_keys(reading) == did and int(view.log_rows[-1].expanded) == naive.expanded
        assert naive.path or "no_path" in did or current_line_key(reading) == "expand"
        for shown in range(naive.expanded):
            assert executed_line_keys(executed_pseudocode(view, before, shown)) == {"expand"}


INSTANT = float("inf")


@given(small, st.sampled_from([10, 30]))
def test_delayed_astar_highlights_lines_of_its_naive_version(problem: Problem, budget: int) -> None:
    naive: DelayedAstar | None = None
    for view, before, world in iter_ticks(problem, "delayed-astar", budget):
        board, agent = board_of(world.grid), cast(Any, world.walkers[0].agent)
        aside = int(agent.state_record[0].aside)
        naive = naive or DelayedAstar(
            board, board.at(problem[1]), board.at(problem[2]), board.at(max(aside, 0)), budget
        )
        had_trace, had_path = bool(naive.trace), bool(naive.path)
        row, keys = naive.tick(), executed_line_keys(executed_pseudocode(view, before))
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
def test_restart_line_is_highlighted_if_a_change_restarts_the_search(
    kind: str, params: dict[str, Value], restarts: bool
) -> None:
    world = make_world(list(CHANGED), 0, 3, (kind, params), budget=10, watched=True)
    world.advance(1)
    assert "restart" not in executed_line_keys(executed_pseudocode(world.create_snapshot().walkers[0], 0))
    before = world.walkers[0].position
    world.submit(EditCells((11,)))  # far from any way
    world.advance(1)
    view = world.create_snapshot().walkers[0]
    for shown in (1, None):
        assert ("restart" in executed_line_keys(executed_pseudocode(view, before, shown))) == restarts


def test_give_up_line_is_highlighted_without_path() -> None:
    world = make_world([".@."], 0, 2, ("rtb-wa", {"no_path": "give-up"}), budget=10, watched=True)
    world.advance(1)
    reading = executed_pseudocode(world.create_snapshot().walkers[0], 0)
    assert current_line_key(reading) == "no_path" and executed_line_keys(reading) == {"expand", "no_path"}
    assert reading is not None and "gives up" in reading.lines[reading.current_line_index].text


@given(small, st.sampled_from([1, 3]))
def test_tb_wa_highlights_lines_of_its_naive_version(problem: Problem, budget: int) -> None:
    board = board_of(make_world(*problem).grid)
    naive = TbBfs(board, board.at(problem[1]), board.at(problem[2]), budget)
    for view, before, _ in iter_ticks(problem, "tb-wa", budget):
        stood, row = naive.loc, naive.tick()
        expected = "no_path" if naive.status == "no path" else "back" if row.back else "follow"
        if row.cell != stood or naive.status == "no path":
            assert current_line_key(executed_pseudocode(view, before)) == expected
        for shown in range(row.expanded):
            assert current_line_key(executed_pseudocode(view, before, shown)) == "expand"
        if row.expanded:
            assert current_line_key(executed_pseudocode(view, before, row.expanded)) == current_line_key(
                executed_pseudocode(view, before)
            )


@given(small)
def test_tba_star_highlights_bounce_like_its_naive_version(problem: Problem) -> None:
    board = board_of(make_world(*problem).grid)
    naive = Tba(board, board.at(problem[1]), board.at(problem[2]), 10)
    for view, before, _ in iter_ticks(problem, "tba", 10):
        stood, row = naive.loc, naive.tick()
        if naive.status != "no path" and row.cell != stood:
            expected = "bounce" if row.bounced else "back" if row.back else "follow"
            assert current_line_key(executed_pseudocode(view, before)) == expected


class RecordingTba(Tba):
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
def test_tba_star_highlights_trace_lines_like_its_naive_version(
    problem: Problem, budget: int, shortcut: bool, longer: bool
) -> None:
    board = board_of(make_world(*problem).grid)
    naive = RecordingTba(
        board, board.at(problem[1]), board.at(problem[2]), budget, shortcut=shortcut, keeps_longer=longer
    )
    params: dict[str, Value] = {"shortcut": shortcut, "switch": "longer" if longer else "any"}
    for view, before, _ in iter_ticks(problem, "tba", budget, **params):
        row, keys = naive.tick(), executed_line_keys(executed_pseudocode(view, before))
        if naive.status == "no path":
            assert keys == {"expand", "no_path"} if row.expanded else {"no_path"}
            continue
        assert keys & {"found", "trace", "path"} == naive.did & {"found", "trace", "path"}
        assert naive.did <= keys, "a shortcut that was found was looked for"


@given(small, st.sampled_from([1, 4]), st.booleans(), st.booleans())
def test_ribs_highlights_pruning_like_its_naive_version(
    problem: Problem, budget: int, dead: bool, redundant: bool
) -> None:
    board = board_of(make_world(*problem).grid)
    naive = Ribs(board, board.at(problem[1]), board.at(problem[2]), dead, redundant)
    for view, before, _ in iter_ticks(problem, "ribs", budget, dead=dead, redundant=redundant):
        stood, limits = naive.loc, len(naive.limits)
        row, reading = naive.tick(budget), executed_pseudocode(view, before)
        keys = executed_line_keys(reading)
        assert ("limit" in keys) == (len(naive.limits) > limits)
        if naive.status == "no path":
            assert current_line_key(reading) == "no_path"
        elif row.cell == stood:
            assert current_line_key(reading) == "limit"
        elif row.back:
            assert ("dead" in keys) == (stood in naive.dead_cells) and ("redundant" in keys) == (
                stood in naive.redundant_cells
            )
            assert current_line_key(reading) == "back", (
                "also a redundant cell is left by the way back, whatever could be entered"
            )
        else:
            assert current_line_key(reading) == "enter"


class RecordsLearning:
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


class RecordingDLrta(RecordsLearning, DLrta):
    pass


@pytest.mark.parametrize("goals, depths", FORMS)
@settings(max_examples=25)
@given(problems(side=10, low=3, water=False), st.sampled_from([1, 2, 3]))
def test_d_lrta_star_highlights_lookups_like_its_naive_version(
    goals: bool, depths: bool, problem: Problem, level: int
) -> None:
    board = board_of(make_world(*problem).grid)
    naive = RecordingDLrta(board, board.at(problem[1]), board.at(problem[2]), level, 2, 4, goals, depths)
    for view, before, _ in iter_ticks(problem, "d-lrta", 1, depth=2, level=level, **control(goals, depths)):
        stood, again = naive.loc, goals and naive.visits[naive.loc] > 1
        naive.learns = False
        row, keys = naive.tick(), executed_line_keys(executed_pseudocode(view, before))
        looked_up = {"look up"} if (goals or depths) and row.expanded else set()
        how = {"move"} if naive.loc != stood else {"no_path"}
        looks = {"expand", *({"choose", "learn"} if naive.learns else ())} if row.expanded else set()
        assert keys == looked_up | ({"reenter"} if again and row.expanded else set()) | how | looks
        for shown in range(row.expanded):
            assert current_line_key(executed_pseudocode(view, before, shown)) == "expand"
            assert looked_up <= executed_line_keys(executed_pseudocode(view, before, shown)), (
                "the database was asked before anything is expanded"
            )


class RecordingKnn(Knn):
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
def test_knn_lrta_star_highlights_choice_like_its_naive_version(problem: Problem, count: int, cap: int) -> None:
    naive: RecordingKnn | None = None
    for view, before, world in iter_ticks(problem, "knn-lrta", 1, records=count, cap=cap, similar=4):
        board = board_of(world.grid)
        if board.at(problem[2]) not in board.distances(board.at(problem[1])):
            return
        records: Any = world.walkers[0].agent
        naive = naive or RecordingKnn(
            **constructor_arguments(make_naive_knn_lrta(world, records.problem_records, 4, cap))
        )
        naive.tick()
        assert executed_line_keys(executed_pseudocode(view, before)) == naive.did | LOOKS | {"move"}
        assert current_line_key(executed_pseudocode(view, before, 0)) == "expand" and naive.did <= executed_line_keys(
            executed_pseudocode(view, before, 0)
        )


def make_problem_with_open_corners(seed: int, side: int) -> Problem:
    rows = random_map_rows(seed, side, side, 0.2)
    rows[0], rows[-1] = ".." + rows[0][2:], rows[-1][:-2] + ".."
    return rows, 0, side * side - 1


def constructor_arguments(naive: Knn) -> dict[str, Any]:
    return {
        "start" if name == "loc" else name: getattr(naive, name)
        for name in ("board", "loc", "goal", "records", "similar", "cap")
    }


def test_spread_choice_highlights_choosing_until_it_ends() -> None:
    problem = make_problem_with_open_corners(3, 20)
    chosen = {"straight", "take", "none fits"}
    at_once = executed_line_keys(
        executed_pseudocode(*next(iter_ticks(problem, "knn-lrta", 1, records=40, direct=False))[:2])
    )
    assert "choosing" not in at_once and at_once & chosen
    waited = 0
    for view, before, _ in iter_ticks(problem, "knn-lrta", 1, records=40, direct=False, spread=3):
        keys = executed_line_keys(executed_pseudocode(view, before))
        assert ("choosing" in keys) == (not keys & chosen) and ("select" in keys) == (waited == 0)
        if keys & chosen:
            break
        waited += 1
    assert waited > 2 and keys & chosen == at_once & chosen


class RecordingPr(PrLrta):
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
def test_pr_lrta_star_highlights_leg_planning_like_its_naive_version(
    goals: bool, depths: bool, problem: Problem, level: int, depth: int
) -> None:
    board = board_of(make_world(*problem).grid)
    ends = board.at(problem[1]), board.at(problem[2])
    naive = RecordingPr(board, *ends, level, depth, 4, goals, depths, 1.0, False)
    for view, before, _ in iter_ticks(problem, "pr-lrta", 1, depth=depth, level=level, **control(goals, depths)):
        row, keys = naive.tick(), executed_line_keys(executed_pseudocode(view, before))
        did = naive.did - (set() if goals or depths else {"look up"})
        assert keys == did | {"no_path" if naive.status == "no path" else "follow"}
        for shown in range(row.expanded):
            line = "inside" if "inside" in did else "expand" if shown < naive.among else "refine"
            assert current_line_key(executed_pseudocode(view, before, shown)) == line


@pytest.mark.parametrize("kind", ["d-lrta", "pr-lrta"])
def test_stale_data_line_is_highlighted_until_data_is_rebuilt(kind: str) -> None:
    """Also in the very tick after which it is there: what the agent shows then is new, what it did was not."""
    world = make_world(
        *make_problem_with_open_corners(3, 30), (kind, {"after_change": "rebuild"}), budget=200, watched=True
    )
    before, used, agent = 0, list[str](), cast(Any, world.walkers[0].agent)
    cells = [int(c) for c in np.flatnonzero(world.grid.free_mask)[150:154]]
    world.submit(EditCells(tuple(cells)), 3)
    while world.tick < 200:
        was_stale = agent.is_stale or world.tick == 3
        if not world.advance(1):
            break
        view = world.create_snapshot().walkers[0]
        keys = executed_line_keys(executed_pseudocode(view, before))
        used += [key for key in ("look up", "without data", "expand") if key in keys][:1]
        if int(view.log_rows[-1].expanded):
            assert ("without data" in keys) == was_stale
        before = view.position
    assert {"without data", used[0]} == set(used) and used[-1] == used[0], "with data, without, with data again"


def test_record_with_blocked_subgoal_is_dropped() -> None:
    world = make_world(
        *make_problem_with_open_corners(2, 24), ("knn-lrta", {"records": 60, "direct": False}), watched=True
    )
    world.advance(1)
    target = world.create_snapshot().walkers[0].agent.target
    world.submit(EditCells((target,)))
    before = world.walkers[0].position
    world.advance(1)
    assert {"lost", "select", "ask"} <= executed_line_keys(
        executed_pseudocode(world.create_snapshot().walkers[0], before)
    )


@pytest.mark.parametrize("kind, last, params", [("lrta", "move", {}), ("pr-lrta", "follow", {"level": 2})])
def test_first_tick_of_a_trial_and_finished_agent_have_no_line(kind: str, last: str, params: dict[str, Value]) -> None:
    world = make_world(*drawn(M1["map"]), (kind, params), watched=True, trials=2)
    before, keys = world.start, list[str]()
    while world.tick < 2000 and world.advance(1):
        view = world.create_snapshot().walkers[0]
        keys.append(current_line_key(executed_pseudocode(view, before, None, world.tick)))
        before = view.position
    assert keys.count("") == 1 and set(keys) == {"", last}
    reading = executed_pseudocode(view, before, None, world.tick + 1)
    assert reading is not None and (reading.current_line_index, reading.done) == (-1, frozenset()), (
        "it has arrived, and others go on"
    )


def test_every_shipped_agent_has_pseudocode() -> None:
    assert set(KINDS_WITH_PSEUDOCODE) == set(KINDS_WITH_EXECUTED_LINES) == set(AGENT_SPECS_BY_KEY)


def test_pseudocode_line_keys_are_unique() -> None:
    for kind in KINDS_WITH_PSEUDOCODE:
        for setting in parameter_sets(AGENT_SPECS_BY_KEY[kind]):
            lines = pseudocode_lines_of(kind, {p.name: p.default for p in AGENT_SPECS_BY_KEY[kind].params} | setting)
            keys = [line.key for line in lines if line.key]
            assert lines and len(keys) == len(set(keys)), kind


def test_pseudocode_lines_depend_on_parameters() -> None:
    def joined_lines(kind: str, **params: Value) -> str:
        spec = AGENT_SPECS_BY_KEY[kind]
        return " ".join(
            line.text for line in pseudocode_lines_of(kind, {p.name: p.default for p in spec.params} | params)
        )

    assert "g + w h" in joined_lines("tb-wa") and "g + w h" not in joined_lines("rtb-gbfs")
    assert "not closed" in joined_lines("astar") and "closed or not" in joined_lines("wastar", reopen=True)
    assert (
        "g + w h" in joined_lines("wastar") and "least h" in joined_lines("gbfs") and "g(t)" not in joined_lines("gbfs")
    )
    assert "in one tick" in joined_lines("astar", mode="instant") and "until then" not in joined_lines(
        "gbfs", mode="instant"
    )
    assert "open again" in joined_lines("tb-wa", reopen=True) and "open again" not in joined_lines("rtb-wa")
    assert "is gone," in joined_lines("rtb-wa") and "new arc" not in joined_lines("rtb-gbfs") + joined_lines(
        "rtb-wa", restart="eager"
    )
    assert "into the path" in joined_lines("rtb-wa", lazy_rule="printed")
    assert "gmax" in joined_lines("lrta", lookahead_by="cost") and "d moves" in joined_lines("lrta")
    assert "dead" not in joined_lines("ribs", dead=False) and "u is redundant" not in joined_lines(
        "ribs", redundant=False
    )
    assert "search from it to the agent" in joined_lines("tba", shortcut=True)
    assert "if not shorter" in joined_lines("tba", switch="longer")
    assert "subgoal and depth" in joined_lines("d-lrta") and "d := c" in joined_lines("d-lrta")
    assert "subgoal" not in joined_lines("d-lrta", **control(False, True)) and "database" in joined_lines(
        "d-lrta", **control(False, True)
    )
    assert "d := c" not in joined_lines("d-lrta", **control(True, False)) and "once no way" in joined_lines(
        "d-lrta", reentrance="never"
    )
    assert "d := its depth" in joined_lines("d-lrta", cap=0) and "d := c" in joined_lines(
        "d-lrta", cap=0, revisit="cap"
    )
    assert joined_lines("d-lrta", **control(False, False)) == joined_lines("lrta"), "LRTA*(F,G)"
    assert "no way is left" in joined_lines("lss-lrta") and "no way is left" not in joined_lines(
        "k-lrta"
    ) + joined_lines("rtaa", moves="one")
    assert (
        "g(t)" in joined_lines("rtaa")
        and "g(t)" not in joined_lines("lss-lrta")
        and "h - h0" in joined_lines("da-rtaa")
    )
    assert "greedy steps lead to the goal" not in joined_lines("knn-lrta", direct=False)
    assert "meanwhile" in joined_lines("knn-lrta", spread=9) and "meanwhile" not in joined_lines("knn-lrta")
    assert "its second" in joined_lines("knn-lrta", skip_first=True)
    assert "gamma" in joined_lines("pr-lrta", gamma=0.4) and "gamma" not in joined_lines("pr-lrta")
    assert "until then" not in joined_lines("ida", mode="instant") + joined_lines("pra", mode="instant")
    assert "after 1,000,000 expansions" in joined_lines("ida") and "until s is settled:" in joined_lines(
        "dstar-lite", mode="instant"
    )
    assert "at most Q, and" in joined_lines("p-lrta") and "at most 7, and" in joined_lines("p-lrta", updates=7)
    assert "neighbours" in joined_lines("pra") and "neighbours" not in joined_lines("pra", wide=False)
    assert "half the level" in joined_lines("pra") and "l := 3, but no more" in joined_lines("pra", level=3)
    assert "to their end" in joined_lines("pra", keep=2) and "sqrt" in joined_lines("pra", enough=True)
    assert "regions are rebuilt" in joined_lines("pra", after_change="rebuild") and "while the map" not in joined_lines(
        "pra", after_change="rebuild"
    )
    for kind in ("lrta", "p-lrta", "lss-lrta", "d-lrta", "dt-lrta", "knn-lrta", "pr-lrta"):
        assert "h kept" in joined_lines(kind) and "new arcs are in reach" in joined_lines(kind, on_unblock="reset")
    assert "way ahead is cut" in joined_lines("lss-lrta") + joined_lines("pr-lrta") and "is cut" not in joined_lines(
        "lss-lrta", moves="one"
    )
    assert "database" not in joined_lines("pr-lrta") and "toward y" in joined_lines("pr-lrta", **control(True, False))
