"""Contract that every agent must satisfy, checked by naive code that is independent of the checked code.

`check_agent_contract(spec)` checks all rules and yields the name of each rule with a description of its violation (""
if there is none). The tests of Backmove's agents (tests/test_contract.py) and `main.py check-agent FILE` use it.
"""

import heapq
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import GROUP_NAMES, AgentSpec, Status
from sim.grid import Grid
from sim.movement import (
    CUT_ONE_CORNER,
    DEFAULT_MOVEMENT,
    EIGHT_NEIGHBOURS,
    FOUR_NEIGHBOURS,
    SQUEEZE_BETWEEN_CORNERS,
    Movement,
)
from sim.params import Value
from sim.referee_rules import UserAgent
from sim.time.keyframes import restore_world, take_keyframe, unstorable_part
from sim.time.state_failures import StateError
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, Command, EditCells, MoveGoal, SetBudget, SetParam

CellPoint = tuple[int, int]
Params = Mapping[str, Value]

REQUIRED_PARAMS: dict[str, dict[str, Value]] = {"gmax": {"lookahead_by": "cost"}, "shortcut_budget": {"shortcut": True}}
"""Parameters that have an effect only if another parameter has a certain value; that parameter and its value."""


class ContractError(AssertionError):
    """Raised if an agent violates a rule of the contract; the text describes the violation."""


def require_condition(holds: object, what: str) -> None:
    """Raise a ContractError unless the condition holds.

    Args:
        holds: Condition.
        what: Description of the violation if the condition does not hold, such as "shows a path with gaps".
    """
    if not holds:
        raise ContractError(what)


class NaiveMap:
    """Map for naive checks: a dictionary from (x, y) to the kind of terrain, without entries for blocked cells."""

    def __init__(self, rows: list[str], movement: Movement) -> None:
        self.width, self.height, self.movement = len(rows[0]), len(rows), movement
        land_kinds = {**dict.fromkeys(".GSB", "ground"), "W": "water"}
        self.terrain_by_point = {
            (x, y): land_kinds[c] for y, row in enumerate(rows) for x, c in enumerate(row) if c in land_kinds
        }

    def point_of_cell(self, cell: int) -> CellPoint:
        return cell % self.width, cell // self.width

    def move_cost(self, a: CellPoint, b: CellPoint) -> float | None:
        """Return the cost of the move from a to b, or None if the move is illegal."""
        (ax, ay), (bx, by) = a, b
        if max(abs(ax - bx), abs(ay - by)) != 1 or a not in self.terrain_by_point:
            return None
        if self.terrain_by_point.get(b) != self.terrain_by_point[a]:
            return None
        if ax == bx or ay == by:
            return 1.0
        same_land = [self.terrain_by_point.get(point) == self.terrain_by_point[a] for point in ((ax, by), (bx, ay))]
        is_legal = {
            FOUR_NEIGHBOURS: False,
            EIGHT_NEIGHBOURS: all(same_land),
            CUT_ONE_CORNER: any(same_land),
            SQUEEZE_BETWEEN_CORNERS: True,
        }[self.movement.rule]
        return self.movement.diagonal if is_legal else None

    def distances_from(self, source: CellPoint) -> dict[CellPoint, float]:
        """Return the distance of every cell that is reachable from `source`, by Dijkstra's algorithm."""
        done: dict[CellPoint, float] = {}
        queue = [(0.0, source)] if source in self.terrain_by_point else []
        while queue:
            d, a = heapq.heappop(queue)
            if a not in done:
                done[a] = d
                around = ((a[0] + dx, a[1] + dy) for dx, dy in itertools.product((-1, 0, 1), repeat=2))
                for b in around:
                    if (cost := self.move_cost(a, b)) is not None:
                        heapq.heappush(queue, (d + cost, b))
        return done


def naive_map_of_grid(grid: Grid) -> NaiveMap:
    return _build_naive_map(tuple(grid.text_rows()), grid.movement)


@lru_cache(maxsize=16)
def _build_naive_map(rows: tuple[str, ...], movement: Movement) -> NaiveMap:
    return NaiveMap(list(rows), movement)


# --- checks of one tick and of the final status ---------------------------------------------------


def advance_and_check_tick(world: World) -> bool:
    """Advance a world with one agent by one tick, and check the move and the counts that the agent reports.

    Returns:
        False if no tick was possible, because the run is over.

    Raises:
        ContractError: The agent violated a rule, or its counts are wrong.
    """
    walker = world.walkers[0]
    stood, metrics = walker.position, world.metrics_of_walker(walker)
    if not world.advance(1):
        check_violations(walker)
        return False
    check_violations(walker)
    board, budget = naive_map_of_grid(world.grid), walker.budget or world.budget
    needed = walker.spec.needed(walker.params)
    after = world.metrics_of_walker(walker)
    origin, target, step = board.point_of_cell(stood), board.point_of_cell(walker.position), 0.0
    if walker.position != stood:
        cost = board.move_cost(origin, target)
        require_condition(
            cost is not None, f"moved from {origin} to {target}, which is not a legal move, in tick {world.tick - 1}"
        )
        step = cost or 0.0
    is_counted = after.cost == metrics.cost + step and after.moves == metrics.moves + (walker.position != stood)
    require_condition(is_counted, "reports cost or moves that differ from its walk")
    for row in walker.log_rows:
        require_condition(row.cell == walker.position, "reports a cell that it is not on")
        is_within = not walker.spec.is_real_time or row.expanded <= max(budget, needed)
        require_condition(
            is_within, f"expanded {row.expanded} cells in tick {world.tick - 1}, with a budget of {budget}"
        )
    is_marked = after.over_budget == metrics.over_budget or not walker.spec.is_real_time or needed > budget
    require_condition(is_marked, f"exceeded its budget in tick {world.tick - 1}")
    check_agent_view(walker, board)
    return True


def check_violations(walker: Walker) -> None:
    """Raise a ContractError if the referee has found a violation of the simulation's rules by the agent."""
    if walker.violation is not None:
        require_condition(
            False, f"{walker.violation.message_for_agent(walker.label)}, in tick {walker.violation.tick:,}"
        )


def check_agent_view(walker: Walker, board: NaiveMap) -> None:
    """Check that the agent's view is consistent with the map, so that it can be drawn."""
    view, cells = walker.agent.view(), board.width * board.height
    for path in (view.path, view.tracing):
        points = [board.point_of_cell(int(c)) for c in path]
        require_condition(len(set(points)) == len(points), "shows a path that crosses itself")
        is_connected = all(max(abs(ax - bx), abs(ay - by)) == 1 for (ax, ay), (bx, by) in itertools.pairwise(points))
        require_condition(is_connected, "shows a path with gaps")
    require_condition(
        all(-1 <= cell < cells for cell in (view.best, view.root, view.target)), "shows cells that are not on the map"
    )
    require_condition(0 <= view.head <= view.path.size, "shows a path whose head is beyond its end")
    points_ahead = [board.point_of_cell(int(c)) for c in view.path[view.head :]]
    if (
        points_ahead
        and points_ahead[0] == board.point_of_cell(walker.position)
        and walker.agent.status is Status.ACTIVE
    ):
        is_legal = all(board.move_cost(a, b) is not None for a, b in itertools.pairwise(points_ahead))
        require_condition(is_legal, "shows a path ahead that is not legal")
    for search in (view.search, view.detour):
        require_condition(search is None or search.nodes.size in (cells, 1), "shows a search of another map")
    require_condition(view.learned is None or view.learned.h.size == cells, "shows values of another map")
    for name, group in view.groups.items():
        require_condition(
            name in GROUP_NAMES and np.all((group >= 0) & (group < cells)),
            f"shows '{name}', which is no group name, or has cells off the map",
        )
    require_condition(
        np.all((view.waypoints >= 0) & (view.waypoints < cells)), "shows subgoals that are not on the map"
    )
    if view.regions is not None:
        in_regions = np.concatenate(view.regions.cells)
        is_sound = len(
            set(in_regions.tolist())
        ) == in_regions.size and view.regions.x.size > view.regions.neighbour_pairs.max(initial=-1)
        require_condition(is_sound, "shows regions that overlap")
    require_condition(
        all(math.isfinite(number) for number in view.numbers.values()), "shows numbers that are not finite"
    )


def check_final_status(world: World) -> None:
    """Check the agent's final status: AT_GOAL if there is a path to its goal, and NO_PATH only if there is none."""
    walker, board = world.walkers[0], naive_map_of_grid(world.grid)
    check_violations(walker)
    status = walker.agent.status
    is_reachable = board.point_of_cell(walker.position) in board.distances_from(board.point_of_cell(world.goal))
    if is_reachable:
        is_complete = walker.spec.is_complete and not walker.spec.may_loop(walker.params)
        require_condition(
            not is_complete or status is Status.AT_GOAL, f"did not reach its goal in {world.tick:,} ticks"
        )
        require_condition(status is not Status.NO_PATH, "reports that there is no path, although there is one")
    elif walker.spec.proves_no_path:
        require_condition(status in (Status.NO_PATH, Status.GAVE_UP), "does not report that there is no path")
    require_condition(
        (status is Status.AT_GOAL) == (walker.position == world.goal),
        "reports to be at its goal when it is not, or the reverse",
    )


# --- problems and settings ------------------------------------------------------------------------


def parameter_sets(spec: AgentSpec) -> list[dict[str, Value]]:
    """Return parameter sets to test: the defaults, then sets in which one parameter has a limit or another choice.

    A parameter in `REQUIRED_PARAMS` comes with the value that the other parameter needs.
    """
    chosen: list[dict[str, Value]] = [{}]
    for param in spec.params:
        values: list[Value]
        if param.kind is bool:
            values = [not param.default]
        elif param.choices:
            values = [c for c in param.choices if c != param.default]
        else:
            low, high = param.low, param.high
            values = [param.kind(v) for v in (low, high) if v is not None]
            values.append(param.kind((low or 0.0) + (1 if param.kind is int else 0.37)))
        required = REQUIRED_PARAMS.get(param.name, {})
        chosen += [{param.name: v, **required} for v in dict.fromkeys(values) if v != param.default]
    return chosen


def smallest_accepted_budget(spec: AgentSpec, params: Params, min_budget: int = 1) -> int:
    """Return the smallest budget, at least `min_budget`, that the agent accepts with these parameters."""
    all_params = {p.name: p.default for p in spec.params} | dict(params)
    return next(b for b in range(min_budget, 100_000) if spec.check_budget(b, all_params) is None)


TRAP_MAP = (".........", ".@@@@@@..", "......@..", "......@..", "......@..", ".@@@@@@..", ".........")
_TEST_BUDGETS = (1, 5, 9, 3000)


def random_map_rows(seed: int, width: int, height: int, density: float) -> list[str]:
    solid = np.random.default_rng(seed).random((height, width)) < density
    return ["".join("@" if cell else "." for cell in row) for row in solid]


@dataclass(frozen=True)
class ContractCase:
    """Small test problem, which may have no path."""

    map_rows: tuple[str, ...]
    start: int
    goal: int
    movement: Movement = DEFAULT_MOVEMENT


def _random_contract_case(seed: int) -> ContractCase:
    rows = random_map_rows(seed, 4 + seed, 12 - seed, 0.1 * (seed % 4) + 0.05)
    free = [i for i, letter in enumerate("".join(rows)) if letter == "."]
    chance = random.Random(seed)
    return ContractCase(tuple(rows), chance.choice(free), chance.choice(free))


CONTRACT_CASES = (
    ContractCase(TRAP_MAP, 27, 35),
    ContractCase(("...@..",), 0, 5),
    ContractCase(("..",), 0, 1),
    ContractCase((".",), 0, 0),
    ContractCase((".@.", "@@.", "..."), 0, 8),
    *(_random_contract_case(seed) for seed in range(6)),
    *(ContractCase(TRAP_MAP, 27, 35, Movement(rule)) for rule in (FOUR_NEIGHBOURS, CUT_ONE_CORNER)),
    ContractCase(("..@", "@@.", ".@."), 0, 8, Movement(SQUEEZE_BETWEEN_CORNERS)),
)


def build_world_of_case(case: ContractCase, spec: AgentSpec, params: Params, min_budget: int = 1, **more: Any) -> World:
    """Return a world with one agent on a test problem.

    Args:
        case: Test problem.
        spec: Kind of the agent.
        params: Parameters of the agent.
        min_budget: Lower limit of the budget. The budget is the smallest one from this limit on that the agent accepts.
        more: Further arguments of `World`.
    """
    budget = smallest_accepted_budget(spec, params, min_budget)
    grid = Grid.from_text_rows(list(case.map_rows), movement=case.movement)
    world = World(grid, case.start, case.goal, AGENT_SPECS_BY_KEY, budget=budget, **more)
    world.add(AgentConfig(spec.key, params=params))
    return world


# Number of ticks for which an agent that cannot prove that there is no path is run on a problem without a path.
_TICKS_WITHOUT_PROOF = 100


def _max_ticks(world: World) -> int:
    return 60 * world.grid.cells + 500


def _check_whole_walk(world: World) -> None:
    """Advance a world and check every tick, until the run is over or a maximum number of ticks is reached."""
    walker, board = world.walkers[0], naive_map_of_grid(world.grid)
    may_end = walker.spec.proves_no_path or board.point_of_cell(walker.position) in board.distances_from(
        board.point_of_cell(world.goal)
    )
    for _ in range(_max_ticks(world) if may_end else _TICKS_WITHOUT_PROOF):
        if not advance_and_check_tick(world):
            return


# --- the rules ------------------------------------------------------------------------------------


def check_legal_walks(spec: AgentSpec) -> None:
    for params in parameter_sets(spec):
        for number, case in enumerate(CONTRACT_CASES):
            world = build_world_of_case(case, spec, params, _TEST_BUDGETS[number % len(_TEST_BUDGETS)])
            _check_whole_walk(world)
            check_final_status(world)


def check_map_changes(spec: AgentSpec) -> None:
    for seed in range(3):
        world = build_world_of_case(_random_contract_case(seed + 1), spec, {}, 1 + 3 * seed)
        chance = random.Random(seed)
        for _ in range(25):
            cells = chance.sample(range(world.grid.cells), 2)
            free = tuple(c for c in cells if world.grid.is_free(c))
            world.submit(EditCells(blocked_cells=free, freed_cells=tuple(set(cells) - set(free))), world.tick)
            advance_and_check_tick(world)
        if world.walkers[0].agent.status is not Status.GAVE_UP:
            world.submit(EditCells(freed_cells=(world.goal,)))
            _check_whole_walk(world)
            check_final_status(world)


def check_goal_and_parameter_changes(spec: AgentSpec) -> None:
    world = build_world_of_case(CONTRACT_CASES[0], spec, {}, 30)
    walker = world.walkers[0]
    for number, setting in enumerate(parameter_sets(spec)):
        advance_and_check_tick(world)
        for name, value in setting.items():
            world.submit(SetParam(walker.id, name, value))
        world.submit(MoveGoal((world.start, 8, 62, 35)[number % 4]))
    _check_whole_walk(world)
    check_final_status(world)


def check_walk_is_reproducible(spec: AgentSpec) -> None:
    """Check that the walk is the same if it is repeated, run tick by tick, displayed, or restored from a keyframe."""
    case = _random_contract_case(4)
    chance = random.Random(1)
    cells = len("".join(case.map_rows))
    script: list[tuple[int, Command]] = [(9, SetBudget(40)), (14, MoveGoal(case.start))]
    script += [(t, EditCells(tuple(chance.sample(range(cells), 2)), ())) for t in (2, 5, 7, 12)]

    def fresh(**more: object) -> World:
        world = build_world_of_case(case, spec, {}, 2, seed=3, **more)
        world.queue_commands(sorted(script, key=lambda timed: timed[0]))
        return world

    def end_of(world: World) -> tuple[object, ...]:
        world.advance(300 - world.tick)
        return world.compute_digest(), world.tick, world.walkers[0].position, world.walkers[0].agent.status

    once = end_of(fresh())
    require_condition(
        end_of(fresh()) == once, "walks differently when it is run again, so it depends on something that changes"
    )
    require_condition(end_of(fresh(watched=True)) == once, "walks differently when it is displayed")
    single = fresh()
    while single.tick < 300 and single.advance(1):
        single.apply_due_changes()
    require_condition(end_of(single) == once, "walks differently when it is run tick by tick")
    for save_tick in (3, 8):
        world = fresh()
        world.advance(save_tick)
        with suppress(
            StateError
        ):  # an agent whose state cannot be stored is allowed; `unstorable_state_warning` warns of it
            copy = restore_world(take_keyframe(world))
            require_condition(
                end_of(copy) == once, f"walks differently when it is saved in tick {save_tick} and restored"
            )


def unstorable_state_warning(spec: AgentSpec) -> str:
    """Return a warning if part of the agent's state cannot be stored in a keyframe or loaded again; "" if all can."""
    world = build_world_of_case(_random_contract_case(4), spec, {}, 9)
    for _ in range(20):
        try:
            restore_world(take_keyframe(world))
        except StateError as error:
            agent = world.walkers[0].agent
            part = unstorable_part(agent) if isinstance(agent, UserAgent) and not error.is_final else ""
            verb = "loaded again" if error.is_loading else "stored"
            return f"{part or 'its state'} cannot be {verb} in tick {world.tick}: {error}"
        world.submit(EditCells(blocked_cells=(7 + world.tick,)))
        world.advance(1)
    return ""


CONTRACT_RULES: tuple[tuple[str, Callable[[AgentSpec], None]], ...] = (
    ("makes legal moves within the budget, and reaches the goal if it promises to", check_legal_walks),
    ("does so while cells are blocked and freed", check_map_changes),
    ("does so when the goal is moved and parameters change", check_goal_and_parameter_changes),
    ("makes the same walk every time", check_walk_is_reproducible),
)


def check_agent_contract(spec: AgentSpec) -> Iterator[tuple[str, str]]:
    """Check all rules.

    Yields:
        The name of each rule, and the description of its violation; "" if the agent satisfies it.
    """
    for name, rule in CONTRACT_RULES:
        try:
            rule(spec)
        except ContractError as error:
            yield name, str(error)
        else:
            yield name, ""
