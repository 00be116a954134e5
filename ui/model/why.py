"""Explanation of an agent's last move in a sentence, derived from the row of the tick in its log and from its state.

    why(snapshot, view, before)     `before`: the cell on which the agent was when that tick began

Nothing is stored between ticks; the cell that was best before is the first cell that the tick expanded. Facts that an
agent does not show are left out, so that every sentence is true. Algorithms without a function of their own here get a
general sentence.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.agent_api import PHASE_WORDS, AgentView, Status
from sim.counted import counted
from sim.grid import Grid
from sim.kernels import learned, log
from sim.kernels import search as kernels
from sim.kernels.octile import NOWHERE
from sim.walker import WalkerView
from sim.world import Snapshot
from ui.model.cell_values import values_of

NOBODY = -1


@dataclass(frozen=True)
class Why:
    """Explanation of a move as text, with the cells that the text names, so that they can be marked on the map."""

    text: str
    best: int = NOBODY  # cell that the agent heads for
    was: int = NOBODY  # cell that the agent headed for before this tick
    fork: int = NOBODY  # cell where the agent, walking back from parent to parent, reaches its path


@dataclass(frozen=True)
class _AgentMove:
    """Last move of an agent, to be explained: the agent after a tick, and what it did in that tick."""

    snapshot: Snapshot
    view: WalkerView
    before: int  # cell of the agent before the tick
    row: np.void  # row of the agent's log for the tick, of dtype log.ROW

    @property
    def grid(self) -> Grid:
        return self.snapshot.grid

    @property
    def agent(self) -> AgentView:
        return self.view.agent

    @property
    def here(self) -> int:
        return int(self.row["cell"])

    @property
    def phase(self) -> int:
        return int(self.row["phase"])

    @property
    def has_moved(self) -> bool:
        return self.here != self.before

    def is_marked(self, mark: int) -> bool:
        return bool(int(self.row["marks"]) & mark)

    def at(self, cell: int) -> str:
        return "({}, {})".format(*self.grid.xy(cell))

    def with_f(self, cell: int) -> str:
        """Return a cell with its f as text, such as "(12, 30), f 93.1"; f is left out for cells without a value."""
        if self.agent.search is None or not kernels.is_known(self.agent.search, cell):
            return self.at(cell)
        return f"{self.at(cell)}, f {_n(values_of(self.snapshot, self.view, cell)[2])}"

    def cost(self, a: int, b: int) -> float:
        (ax, ay), (bx, by) = self.grid.xy(a), self.grid.xy(b)
        return self.grid.diagonal if ax != bx and ay != by else 1.0


def _n(number: float) -> str:
    return f"{number:.1f}"


def why(snapshot: Snapshot, view: WalkerView, before: int) -> Why:
    """Return why an agent did its last move, or why it did not move.

    Args:
        snapshot: The world after the tick.
        view: The agent in this snapshot.
        before: Cell on which the agent was when the tick began.
    """
    if not view.rows.size or view.rows_tick + view.rows.size != snapshot.tick:
        return Why(_explain_end(view))
    case = _AgentMove(snapshot, view, before, view.rows[-1])
    if case.is_marked(log.TRIAL):
        return Why(
            f"It reached the goal; trial {view.metrics.trial} begins at the start, with everything learned so far."
        )
    found = _explainer_of_move(case)(case)
    if case.is_marked(log.RESTARTED):
        return Why(f"Its search restarted in this tick. {found.text}", found.best, found.was, found.fork)
    return found


def _explain_end(view: WalkerView) -> str:
    """Return why an agent did nothing in this tick."""
    if view.offence is not None:
        return f"It {view.offence.word} in tick {view.offence.tick:,}, and was stopped: {view.offence.what}."
    if view.status is Status.NO_PATH:
        return "It has proved that no path leads to the goal on this map; it waits for a change that may open one."
    if view.status is Status.AT_GOAL:
        return "It is at its goal."
    if view.status is Status.GAVE_UP:
        return "It has given up and will not continue, whatever changes."
    return "It has not done anything yet."


def _explainer_of_move(case: _AgentMove) -> Callable[[_AgentMove], Why]:
    if not case.has_moved:
        return _explain_staying
    key, family = case.view.spec.key, case.view.spec.family
    if key in _EXPLAINER_BY_KEY:
        return _EXPLAINER_BY_KEY[key]
    return _EXPLAINER_BY_FAMILY.get(family, _explain_destination)


# --- ticks without a move -------------------------------------------------------------------------


def _explain_staying(case: _AgentMove) -> Why:
    best = case.agent.best
    if case.view.status is Status.NO_PATH:
        return Why("Nothing is left to search: no path leads to the goal on this map.")
    if case.view.status is Status.AT_GOAL:
        return Why("It is at its goal; the next trial cannot begin, because its start is blocked.")
    if case.view.spec.key in _STAY_TEXT_BY_KEY:
        return Why(_STAY_TEXT_BY_KEY[case.view.spec.key](case), best)
    if case.phase == log.TRACING:
        return Why("It waits: the goal is found, and the path to it is still being traced back.")
    if case.phase == log.SEARCHING and best >= 0:
        return Why(f"It waits until its search is done; best open cell {case.with_f(best)}.", best)
    return Why(f"It stays where it is: {PHASE_WORDS[case.phase]}.")


def _ribs_staying_text(case: _AgentMove) -> str:
    return f"At the start, no cell was left to enter: the limit on f is now {_n(case.agent.numbers['limit'])}."


def _ida_staying_text(case: _AgentMove) -> str:
    if case.view.status is Status.GAVE_UP:
        return "It has given up: there were too many paths to try."
    limit, deep = case.agent.numbers["limit"], case.agent.tracing.size
    if not deep:
        return f"It waits: all paths with f up to {_n(limit)} have been tried, and the limit rises next."
    return f"It waits: it searches depth first along paths with f up to {_n(limit)}, now {_in_moves(deep - 1)} deep."


def _dstar_lite_staying_text(case: _AgentMove) -> str:
    left = int(case.agent.numbers["inconsistent"])
    return f"It waits until its path is sure: {counted(left, 'cell')} inconsistent, next {case.at(case.agent.best)}."


def _pra_staying_text(case: _AgentMove) -> str:
    if case.phase == log.WAITING:
        return "It waits while the regions of the changed map are rebuilt."
    level, inside = int(case.agent.numbers["level"]), case.agent.groups["corridor"]
    if level:
        return f"It waits: it searches for a path among the regions of level {level}."
    where = f"inside the {inside.size:,} cells of the chosen regions" if inside.size else "on the whole map"
    return f"It waits: it searches for the path {where}."


def _d_lrta_staying_text(case: _AgentMove) -> str:
    return "No path leads to its subgoal, so from now on it heads for the goal."


def _knn_lrta_staying_text(case: _AgentMove) -> str:
    return "No path leads to the next cell of its record, so it drops the record and chooses again."


# --- time-bounded search: on and off the path -----------------------------------------------------


def _time_bounded(case: _AgentMove) -> Why:
    if "shortcut" in case.agent.notes and not case.is_marked(log.BACK_MOVE):
        return Why(f"It has found a shortcut to its path: {_in_moves(_left(case))} left along it.", case.view.goal)
    if case.phase == log.SHUTTLING:
        return Why("It has no path yet, so it moves to and fro beside the start instead of standing still.")
    if case.is_marked(log.BACK_MOVE):
        return _explain_back_move(case)
    path = case.agent.path
    if not path.size:
        return _explain_destination(case)
    end, left = int(path[-1]), _left(case)
    if end == case.view.goal:
        along = f"it follows this path, {_in_moves(left)} left" if left else "this move was the last"
        return Why(f"The path to the goal is known: {along}.", end, _best_before_tick(case, end))
    return Why(
        f"{_heading(case, end)}; the path there passes through its cell: {_in_moves(left)} left along it.",
        end,
        _best_before_tick(case, end),
    )


def _left(case: _AgentMove) -> int:
    """Return the number of moves from the agent's cell to the end of its path."""
    places = np.flatnonzero(case.agent.path == case.here)
    return int(case.agent.path.size - 1 - places[-1]) if places.size else 0


def _in_moves(count: int) -> str:
    return counted(count, "move")


def _walking_on_text(way: str, left: int) -> str:
    return f"It follows {way}: {_in_moves(left)} left." if left else f"It has reached the end of {way}."


def _path_is_traced(case: _AgentMove) -> bool:
    """Return whether the path ends at the cell traced last (TBA*), which need not be the best open cell."""
    return case.view.spec.key == "tba"


def _best_before_tick(case: _AgentMove, end: int) -> int:
    """Return the open cell that was best when the tick began: the first cell that the tick expanded."""
    search = case.agent.search
    expanded = int(case.row["expanded"])
    if search is None or _path_is_traced(case) or not expanded or case.is_marked(log.RESTARTED):
        return end
    noted = int(search.control[0].noted)
    is_whole = noted >= expanded and noted < search.order.size and int(search.control[0].expansions) > expanded
    return int(search.order[noted - expanded]) if is_whole else end


def _heading(case: _AgentMove, end: int) -> str:
    """Return the first part of a sentence: the cell that the agent heads for, and whether that has changed."""
    was = _best_before_tick(case, end)
    if _path_is_traced(case):
        return f"The path traced last leads to {case.with_f(end)}"
    if was == end or end == case.view.goal:
        return f"Best open cell {case.with_f(end)}"
    return f"Best open cell changed from {case.with_f(was)}, to {case.with_f(end)}"


def _explain_back_move(case: _AgentMove) -> Why:
    path = case.agent.path
    on_path = np.flatnonzero(path == case.before)
    if on_path.size:  # TBA* at the end of its path, with no new path traced yet
        return Why(
            f"Its path is used up at {case.at(case.before)}, and no other is traced yet, so it walks back towards the "
            "root of its search."
        )
    end = int(path[-1]) if path.size else NOBODY
    fork, steps = _fork(case)
    if end < 0 or fork < 0:
        return Why("It is not on its path, so it walks back along the tree of its search.")
    back = (
        f"is now at the fork at {case.at(fork)}" if fork == case.here else f"walks back to the fork at {case.at(fork)}"
    )
    more = f", {_in_moves(steps - 1)} more" if steps > 1 else ""
    return Why(
        f"{_heading(case, end)}: the path there does not pass its cell; it {back}{more}.",
        end,
        _best_before_tick(case, end),
        fork,
    )


def _fork(case: _AgentMove) -> tuple[int, int]:
    """Return the cell where the parents of the cell just left meet the agent's path, and the moves to that cell."""
    search, on_path = case.agent.search, set(case.agent.path.tolist())
    if search is None:
        return NOBODY, 0
    came, step = search.nodes["came"], case.grid.ground.step
    number, is_of = search.control[0].search, search.nodes["search"]
    cell, steps = case.before, 0
    while cell not in on_path:
        # a parent from an earlier search may lead anywhere
        if is_of[cell] != number or came[cell] == NOWHERE:
            return NOBODY, 0
        cell -= int(step[came[cell]])
        steps += 1
    return cell, steps


# --- learning agents ------------------------------------------------------------------------------


def _lrta(case: _AgentMove) -> Why:
    """Explain a move of LRTA* of any depth: the best cell that it saw, and the h learned for the cell it left."""
    best, it = case.agent.best, case.agent.learned
    if best < 0 or it is None:
        return _explain_destination(case)
    taught = f"h of {case.at(case.before)} is {_n(float(it.h[case.before]))} now{_excess_text(case, case.before)}"
    if best == case.here:
        cost, h = case.cost(case.before, best), float(it.h[best])
        total = f"cost {_n(cost)} + h {_n(h)} = {_n(cost + h)}"
        text = f"The neighbour {case.at(best)} is most promising: {total}. {taught}."
        return Why(text, best)
    return Why(f"{_rim_text(case, best)}: one move towards it. {taught}.", best)


def _guided_lrta(case: _AgentMove) -> Why:
    """Explain a move of LRTA* whose depth or target is chosen by a database.

    Values learned toward a subgoal are not mentioned, because the agent does not show them.
    """
    best = case.agent.best
    if best < 0:
        return _explain_destination(case)
    if best == case.here:
        return Why(f"{_guide_text(case)} The neighbour {case.at(best)} is most promising.", best)
    return Why(f"{_guide_text(case)} {_rim_text(case, best)}: one move towards it.", best)


def _guide_text(case: _AgentMove) -> str:
    target, depth = case.agent.target, int(case.agent.numbers["depth"])
    looks = f"looking {_in_moves(depth)} ahead"
    if "reenter" in case.agent.notes:
        return f"{_reentered(case)}, {looks}."
    if case.agent.is_stale:
        return f"Its database belongs to another map, so it heads for the goal, {looks}."
    if target in (NOBODY, case.view.goal):
        return f"It heads for the goal, {looks}."
    return f"Its database says: head for {case.at(target)}, {looks}."


def _reentered(case: _AgentMove) -> str:
    """Return why the agent heads for its goal, as the first part of a sentence."""
    if "for good" in case.agent.notes:
        return "A subgoal has led it astray, so it heads for the goal for good"
    return f"It had been at {case.at(case.before)} before, so it heads for the goal instead of a subgoal"


def _dt_lrta(case: _AgentMove) -> Why:
    found = _lrta(case)
    return Why(f"The tree says: look {_in_moves(_depth_of_search(case))} ahead. {found.text}", found.best)


def _oracle_lrta(case: _AgentMove) -> Why:
    found, most = _lrta(case), int(case.view.params["dmax"])
    depth = _depth_of_search(case)
    which = f"Looking {_in_moves(most)} ahead" if depth == most else f"All depths from {depth} to {most}"
    return Why(f"{which} {'leads' if depth == most else 'lead'} to this move. {found.text}", found.best)


def _depth_of_search(case: _AgentMove) -> int:
    return int(case.agent.numbers["depth"])


def _knn_lrta(case: _AgentMove) -> Why:
    agent, target = case.agent, case.agent.target
    if target < 0 or agent.best < 0:
        return _explain_destination(case)
    step = f"the neighbour {case.at(case.here)} is most promising."
    return Why(f"{_record(case)}; {step}", case.here)


def _record(case: _AgentMove) -> str:
    agent, target = case.agent, case.agent.target
    if "direct" in agent.notes:
        return f"From {case.at(agent.chosen_at)} greedy steps lead to the goal, so it heads there"
    if "no record" in agent.notes:
        return "No record fits, so it heads for the goal for a while"
    if "choosing" in agent.notes:
        return f"It is still choosing a record, and heads for {_target(case, target)} meanwhile"
    return f"It heads for {_target(case, target)}, by record {int(agent.numbers['record'])}"


def _target(case: _AgentMove, cell: int) -> str:
    """Return a target cell as text: "the goal", or the subgoal with its coordinates."""
    return "the goal" if cell == case.view.goal else f"the subgoal {case.at(cell)}"


def _pr_lrta(case: _AgentMove) -> Why:
    """Explain a move of PR LRTA* along its path to the next region; without regions, explain it as LRTA*."""
    if case.phase != log.FOLLOWING:
        return _lrta(case)
    path = case.agent.path
    if not path.size:
        return Why(f"It moved to {case.at(case.here)}, where its next leg begins.", case.here)
    end, left = int(path[-1]), _left(case)
    if not int(case.row["expanded"]):
        return Why(_walking_on_text(f"its leg to {case.at(end)}", left), end)
    if end == case.view.goal:
        return Why(f"The goal is in its region: A* found the path inside it, {_in_moves(left)} left.", end)
    text = (
        f"LRTA* chose the next region, and A* the path to {case.at(end)} inside both regions: {_in_moves(left)} left."
    )
    why_goal = f"{_reentered_leg_text(case)} " if case.is_marked(log.REENTERED) else ""
    return Why(f"{why_goal}{text}", end)


def _reentered_leg_text(case: _AgentMove) -> str:
    return f"A leg began at {case.at(case.before)} before, so regions are chosen towards the goal, not a subgoal."


def _pra(case: _AgentMove) -> Why:
    if case.agent.path.size:
        return _explain_destination(case)
    return Why(f"It moved to {case.at(case.here)}, from where it continues to plan.", case.here)


def _rim_text(case: _AgentMove, best: int) -> str:
    inside = case.agent.groups.get("local space")
    seen = (
        f"Of all cells around the {len(inside):,} cells that it looked at"
        if inside is not None and len(inside)
        else "Of all cells that it looked at"
    )
    return f"{seen}, {case.at(best)} is most promising"


def _excess_text(case: _AgentMove, cell: int) -> str:
    assert case.agent.learned is not None
    more = float(learned.excess(case.agent.learned, cell))
    name = "octile" if case.grid.movement.has_diagonals else "Manhattan"
    return f", {_n(more)} above the {name} distance" if more > 0.05 else ""


def _explain_one_step(case: _AgentMove) -> Why:
    """Explain a move to the neighbour with least cost + h, for agents that update h of several cells."""
    return Why(f"The neighbour {case.at(case.here)} had the least cost + h.", case.here)


def _local_search(case: _AgentMove) -> Why:
    best = case.agent.best
    if best < 0 or not case.agent.path.size:
        return _explain_destination(case)
    left = _left(case)
    if case.phase != log.LEARNING:
        return Why(_walking_on_text(f"its plan to {case.at(best)}", left), best)
    n, key = int(case.row["expanded"]), case.view.spec.key
    rule = "where it has learned least" if key == "da-rtaa" and best != case.view.goal else "where cost + h is least"
    return Why(
        f"It searched {counted(n, 'cell')} around {case.at(case.before)}, raised their h, "
        f"and heads for the open cell {rule}, {case.at(best)}: {_in_moves(left)} left.",
        best,
    )


def _ribs(case: _AgentMove) -> Why:
    agent, limit = case.agent, case.agent.numbers["limit"]
    left, here = case.at(case.before), case.at(case.here)
    if not case.is_marked(log.BACK_MOVE):
        g, h, f = values_of(case.snapshot, case.view, case.here)
        raised = f"The limit rose to {_n(limit)}. " if int(case.row["expanded"]) > 1 else ""
        return Why(
            f"{raised}Depth first: {here} has f = {_n(g)} + {_n(h)} = {_n(f)}, within the limit of {_n(limit)}.",
            case.here,
        )
    if case.before in agent.groups["dead"]:
        reason = f"No cell is reached best through {left}: it is dead and never entered again"
    elif case.before in agent.groups["redundant"]:
        reason = f"All cells next to {left} are reached as well on other paths: it is redundant and never entered again"
    else:
        reason = f"No new cell can be entered from {left} within the limit of {_n(limit)} on f"
    return Why(f"{reason}. Back to its tree parent {here}.", case.here, fork=case.here)


# --- references and all other agents --------------------------------------------------------------


def _dstar_lite(case: _AgentMove) -> Why:
    search = case.agent.search
    if search is None or not kernels.is_known(search, case.here):
        return _explain_destination(case)
    cost, g = case.cost(case.before, case.here), float(search.nodes[case.here].g)
    return Why(
        f"Of its neighbours, {case.at(case.here)} is nearest to the goal: {_n(cost)} + g {_n(g)} = {_n(cost + g)}; "
        "the path there needs no repair.",
        case.here,
    )


def _explain_destination(case: _AgentMove) -> Why:
    """Return a sentence that is true of any agent: its destination, its path and its phase."""
    agent, here = case.agent, case.here
    if agent.path.size and here in agent.path:
        end = int(agent.path[-1])
        goal = "the goal" if end == case.view.goal else case.at(end)
        return Why(_walking_on_text(f"its path to {goal}", _left(case)), end)
    return Why(f"It moved to {case.at(here)}: {PHASE_WORDS[case.phase]}.", here)


_EXPLAINER_BY_KEY: dict[str, Callable[[_AgentMove], Why]] = {
    "lrta": _lrta,
    "p-lrta": _explain_one_step,
    "ribs": _ribs,
    "dstar-lite": _dstar_lite,
    "k-lrta": _local_search,
    "lss-lrta": _local_search,
    "rtaa": _local_search,
    "da-rtaa": _local_search,
    "d-lrta": _guided_lrta,
    "dt-lrta": _dt_lrta,
    "oracle-lrta": _oracle_lrta,
    "knn-lrta": _knn_lrta,
    "pr-lrta": _pr_lrta,
    "pra": _pra,
}
_EXPLAINER_BY_FAMILY: dict[str, Callable[[_AgentMove], Why]] = {"time-bounded": _time_bounded}
_STAY_TEXT_BY_KEY: dict[str, Callable[[_AgentMove], str]] = {
    "ribs": _ribs_staying_text,
    "ida": _ida_staying_text,
    "dstar-lite": _dstar_lite_staying_text,
    "pra": _pra_staying_text,
    "d-lrta": _d_lrta_staying_text,
    "knn-lrta": _knn_lrta_staying_text,
}
