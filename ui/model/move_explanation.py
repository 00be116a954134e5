"""Explanation of an agent's last move in a sentence, derived from the row of the tick in its log and from its state.

    explain_move(snapshot, view, before)    `cell_before`: the cell on which the agent was when that tick began

Nothing is stored between ticks; the cell that was best before is the first cell that the tick expanded. Facts that an
agent does not show are left out, so that every sentence is true. Algorithms without a function of their own here get a
general sentence.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.agent_api import PHASE_WORDS, AgentView, Status
from sim.grid import Grid
from sim.kernels import learned, log
from sim.kernels import search as kernels
from sim.kernels.octile import NO_DIRECTION
from sim.plurals import count_with_noun
from sim.walker import WalkerView
from sim.world import WorldSnapshot
from ui.model.cell_values import search_values_of_cell

NO_CELL = -1


@dataclass(frozen=True)
class MoveExplanation:
    """Explanation of a move as text, with the cells that the text names, so that they can be marked on the map."""

    text: str
    best: int = NO_CELL  # cell that the agent heads for
    previous_best: int = NO_CELL  # cell that the agent headed for before this tick
    fork: int = NO_CELL  # cell where the agent, walking back from parent to parent, reaches its path


@dataclass(frozen=True)
class _AgentMove:
    """Last move of an agent, to be explained: the agent after a tick, and what it did in that tick."""

    snapshot: WorldSnapshot
    view: WalkerView
    cell_before: int  # cell of the agent before the tick
    row: np.void  # row of the agent's log for the tick, of dtype log.ROW

    @property
    def grid(self) -> Grid:
        return self.snapshot.grid

    @property
    def agent(self) -> AgentView:
        return self.view.agent

    @property
    def cell_after(self) -> int:
        return int(self.row["cell"])

    @property
    def phase(self) -> int:
        return int(self.row["phase"])

    @property
    def has_moved(self) -> bool:
        return self.cell_after != self.cell_before

    def has_event_mark(self, mark: int) -> bool:
        return bool(int(self.row["marks"]) & mark)

    def at(self, cell: int) -> str:
        return "({}, {})".format(*self.grid.xy(cell))

    def cell_text_with_f(self, cell: int) -> str:
        """Return a cell with its f as text, such as "(12, 30), f 93.1"; f is left out for cells without a value."""
        if self.agent.search is None or not kernels.is_known(self.agent.search, cell):
            return self.at(cell)
        return f"{self.at(cell)}, f {_one_decimal_text(search_values_of_cell(self.snapshot, self.view, cell)[2])}"

    def move_cost(self, a: int, b: int) -> float:
        (ax, ay), (bx, by) = self.grid.xy(a), self.grid.xy(b)
        return self.grid.diagonal_cost if ax != bx and ay != by else 1.0


def _one_decimal_text(number: float) -> str:
    return f"{number:.1f}"


def explain_move(snapshot: WorldSnapshot, view: WalkerView, before: int) -> MoveExplanation:
    """Return why an agent did its last move, or why it did not move.

    Args:
        snapshot: The world after the tick.
        view: The agent in this snapshot.
        before: Cell on which the agent was when the tick began.
    """
    if not view.rows.size or view.first_row_tick + view.rows.size != snapshot.tick:
        return MoveExplanation(_why_agent_did_nothing(view))
    case = _AgentMove(snapshot, view, before, view.rows[-1])
    if case.has_event_mark(log.TRIAL):
        return MoveExplanation(
            f"It reached the goal; trial {view.metrics.trial} begins at the start, with everything learned so far."
        )
    found = _explainer_of_move(case)(case)
    if case.has_event_mark(log.RESTARTED):
        return MoveExplanation(
            f"Its search restarted in this tick. {found.text}", found.best, found.previous_best, found.fork
        )
    return found


def _why_agent_did_nothing(view: WalkerView) -> str:
    """Return why an agent did nothing in this tick."""
    if view.violation is not None:
        return (
            f"It {view.violation.state_text} in tick {view.violation.tick:,}, and was stopped: "
            f"{view.violation.description}."
        )
    if view.status is Status.NO_PATH:
        return "It has proved that no path leads to the goal on this map; it waits for a change that may open one."
    if view.status is Status.AT_GOAL:
        return "It is at its goal."
    if view.status is Status.GAVE_UP:
        return "It has given up and will not continue, whatever changes."
    return "It has not done anything yet."


def _explainer_of_move(case: _AgentMove) -> Callable[[_AgentMove], MoveExplanation]:
    if not case.has_moved:
        return _explain_staying
    key, family = case.view.spec.key, case.view.spec.family
    if key in _EXPLAINER_BY_KEY:
        return _EXPLAINER_BY_KEY[key]
    return _EXPLAINER_BY_FAMILY.get(family, _explain_destination)


# --- ticks without a move -------------------------------------------------------------------------


def _explain_staying(case: _AgentMove) -> MoveExplanation:
    best = case.agent.best
    if case.view.status is Status.NO_PATH:
        return MoveExplanation("Nothing is left to search: no path leads to the goal on this map.")
    if case.view.status is Status.AT_GOAL:
        return MoveExplanation("It is at its goal; the next trial cannot begin, because its start is blocked.")
    if case.view.spec.key in _STAY_TEXT_BY_KEY:
        return MoveExplanation(_STAY_TEXT_BY_KEY[case.view.spec.key](case), best)
    if case.phase == log.TRACING:
        return MoveExplanation("It waits: the goal is found, and the path to it is still being traced back.")
    if case.phase == log.SEARCHING and best >= 0:
        return MoveExplanation(
            f"It waits until its search is done; best open cell {case.cell_text_with_f(best)}.", best
        )
    return MoveExplanation(f"It stays where it is: {PHASE_WORDS[case.phase]}.")


def _ribs_staying_text(case: _AgentMove) -> str:
    return (
        "At the start, no cell was left to enter: the limit on f is now "
        f"{_one_decimal_text(case.agent.numbers['limit'])}."
    )


def _ida_staying_text(case: _AgentMove) -> str:
    if case.view.status is Status.GAVE_UP:
        return "It has given up: there were too many paths to try."
    limit, deep = case.agent.numbers["limit"], case.agent.tracing.size
    if not deep:
        return f"It waits: all paths with f up to {_one_decimal_text(limit)} have been tried, and the limit rises next."
    return (
        f"It waits: it searches depth first along paths with f up to {_one_decimal_text(limit)}, now "
        f"{_move_count_text(deep - 1)} deep."
    )


def _dstar_lite_staying_text(case: _AgentMove) -> str:
    left = int(case.agent.numbers["inconsistent"])
    return (
        f"It waits until its path is sure: {count_with_noun(left, 'cell')} inconsistent, next "
        f"{case.at(case.agent.best)}."
    )


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


def _explain_time_bounded(case: _AgentMove) -> MoveExplanation:
    if "shortcut" in case.agent.notes and not case.has_event_mark(log.BACK_MOVE):
        return MoveExplanation(
            f"It has found a shortcut to its path: {_move_count_text(_remaining_move_count(case))} left along it.",
            case.view.goal,
        )
    if case.phase == log.SHUTTLING:
        return MoveExplanation("It has no path yet, so it moves to and fro beside the start instead of standing still.")
    if case.has_event_mark(log.BACK_MOVE):
        return _explain_back_move(case)
    path = case.agent.path
    if not path.size:
        return _explain_destination(case)
    end, left = int(path[-1]), _remaining_move_count(case)
    if end == case.view.goal:
        along = f"it follows this path, {_move_count_text(left)} left" if left else "this move was the last"
        return MoveExplanation(f"The path to the goal is known: {along}.", end, _best_open_cell_before_tick(case, end))
    return MoveExplanation(
        f"{_destination_clause(case, end)}; the path there passes through its cell: {_move_count_text(left)} left "
        "along it.",
        end,
        _best_open_cell_before_tick(case, end),
    )


def _remaining_move_count(case: _AgentMove) -> int:
    """Return the number of moves from the agent's cell to the end of its path."""
    places = np.flatnonzero(case.agent.path == case.cell_after)
    return int(case.agent.path.size - 1 - places[-1]) if places.size else 0


def _move_count_text(count: int) -> str:
    return count_with_noun(count, "move")


def _walking_on_text(way: str, left: int) -> str:
    return f"It follows {way}: {_move_count_text(left)} left." if left else f"It has reached the end of {way}."


def _is_path_traced(case: _AgentMove) -> bool:
    """Return whether the path ends at the cell traced last (TBA*), which need not be the best open cell."""
    return case.view.spec.key == "tba"


def _best_open_cell_before_tick(case: _AgentMove, end: int) -> int:
    """Return the open cell that was best when the tick began: the first cell that the tick expanded."""
    search = case.agent.search
    expanded = int(case.row["expanded"])
    if search is None or _is_path_traced(case) or not expanded or case.has_event_mark(log.RESTARTED):
        return end
    noted = int(search.control[0].noted)
    is_whole = noted >= expanded and noted < search.order.size and int(search.control[0].expansions) > expanded
    return int(search.order[noted - expanded]) if is_whole else end


def _destination_clause(case: _AgentMove, end: int) -> str:
    """Return the first part of a sentence: the cell that the agent heads for, and whether that has changed."""
    was = _best_open_cell_before_tick(case, end)
    if _is_path_traced(case):
        return f"The path traced last leads to {case.cell_text_with_f(end)}"
    if was == end or end == case.view.goal:
        return f"Best open cell {case.cell_text_with_f(end)}"
    return f"Best open cell changed from {case.cell_text_with_f(was)}, to {case.cell_text_with_f(end)}"


def _explain_back_move(case: _AgentMove) -> MoveExplanation:
    path = case.agent.path
    on_path = np.flatnonzero(path == case.cell_before)
    if on_path.size:  # TBA* at the end of its path, with no new path traced yet
        return MoveExplanation(
            f"Its path is used up at {case.at(case.cell_before)}, and no other is traced yet, so it walks back "
            "towards the "
            "root of its search."
        )
    end = int(path[-1]) if path.size else NO_CELL
    fork, steps = _fork_cell_and_move_count(case)
    if end < 0 or fork < 0:
        return MoveExplanation("It is not on its path, so it walks back along the tree of its search.")
    back = (
        f"is now at the fork at {case.at(fork)}"
        if fork == case.cell_after
        else f"walks back to the fork at {case.at(fork)}"
    )
    more = f", {_move_count_text(steps - 1)} more" if steps > 1 else ""
    return MoveExplanation(
        f"{_destination_clause(case, end)}: the path there does not pass its cell; it {back}{more}.",
        end,
        _best_open_cell_before_tick(case, end),
        fork,
    )


def _fork_cell_and_move_count(case: _AgentMove) -> tuple[int, int]:
    """Return the cell where the parents of the cell just left meet the agent's path, and the moves to that cell."""
    search, on_path = case.agent.search, set(case.agent.path.tolist())
    if search is None:
        return NO_CELL, 0
    came, step = search.nodes["came"], case.grid.ground.step
    number, is_of = search.control[0].search, search.nodes["search"]
    cell, steps = case.cell_before, 0
    while cell not in on_path:
        # a parent from an earlier search may lead anywhere
        if is_of[cell] != number or came[cell] == NO_DIRECTION:
            return NO_CELL, 0
        cell -= int(step[came[cell]])
        steps += 1
    return cell, steps


# --- learning agents ------------------------------------------------------------------------------


def _explain_lrta(case: _AgentMove) -> MoveExplanation:
    """Explain a move of LRTA* of any depth: the best cell that it saw, and the h learned for the cell it left."""
    best, it = case.agent.best, case.agent.learned
    if best < 0 or it is None:
        return _explain_destination(case)
    taught = (
        f"h of {case.at(case.cell_before)} is {_one_decimal_text(float(it.h[case.cell_before]))} now"
        f"{_h_excess_text(case, case.cell_before)}"
    )
    if best == case.cell_after:
        cost, h = case.move_cost(case.cell_before, best), float(it.h[best])
        total = f"cost {_one_decimal_text(cost)} + h {_one_decimal_text(h)} = {_one_decimal_text(cost + h)}"
        text = f"The neighbour {case.at(best)} is most promising: {total}. {taught}."
        return MoveExplanation(text, best)
    return MoveExplanation(f"{_best_seen_cell_text(case, best)}: one move towards it. {taught}.", best)


def _explain_guided_lrta(case: _AgentMove) -> MoveExplanation:
    """Explain a move of LRTA* whose depth or target is chosen by a database.

    Values learned toward a subgoal are not mentioned, because the agent does not show them.
    """
    best = case.agent.best
    if best < 0:
        return _explain_destination(case)
    if best == case.cell_after:
        return MoveExplanation(f"{_database_guide_text(case)} The neighbour {case.at(best)} is most promising.", best)
    return MoveExplanation(
        f"{_database_guide_text(case)} {_best_seen_cell_text(case, best)}: one move towards it.", best
    )


def _database_guide_text(case: _AgentMove) -> str:
    target, depth = case.agent.target, int(case.agent.numbers["depth"])
    looks = f"looking {_move_count_text(depth)} ahead"
    if "reenter" in case.agent.notes:
        return f"{_reentry_reason_text(case)}, {looks}."
    if case.agent.is_stale:
        return f"Its database belongs to another map, so it heads for the goal, {looks}."
    if target in (NO_CELL, case.view.goal):
        return f"It heads for the goal, {looks}."
    return f"Its database says: head for {case.at(target)}, {looks}."


def _reentry_reason_text(case: _AgentMove) -> str:
    """Return why the agent heads for its goal, as the first part of a sentence."""
    if "for good" in case.agent.notes:
        return "A subgoal has led it astray, so it heads for the goal for good"
    return f"It had been at {case.at(case.cell_before)} before, so it heads for the goal instead of a subgoal"


def _explain_dt_lrta(case: _AgentMove) -> MoveExplanation:
    found = _explain_lrta(case)
    return MoveExplanation(
        f"The tree says: look {_move_count_text(_lookahead_depth(case))} ahead. {found.text}", found.best
    )


def _explain_oracle_lrta(case: _AgentMove) -> MoveExplanation:
    found, most = _explain_lrta(case), int(case.view.params["dmax"])
    depth = _lookahead_depth(case)
    which = f"Looking {_move_count_text(most)} ahead" if depth == most else f"All depths from {depth} to {most}"
    return MoveExplanation(f"{which} {'leads' if depth == most else 'lead'} to this move. {found.text}", found.best)


def _lookahead_depth(case: _AgentMove) -> int:
    return int(case.agent.numbers["depth"])


def _explain_knn_lrta(case: _AgentMove) -> MoveExplanation:
    agent, target = case.agent, case.agent.target
    if target < 0 or agent.best < 0:
        return _explain_destination(case)
    step = f"the neighbour {case.at(case.cell_after)} is most promising."
    return MoveExplanation(f"{_record_text(case)}; {step}", case.cell_after)


def _record_text(case: _AgentMove) -> str:
    agent, target = case.agent, case.agent.target
    if "direct" in agent.notes:
        return f"From {case.at(agent.chosen_at)} greedy steps lead to the goal, so it heads there"
    if "no record" in agent.notes:
        return "No record fits, so it heads for the goal for a while"
    if "choosing" in agent.notes:
        return f"It is still choosing a record, and heads for {_target_cell_text(case, target)} meanwhile"
    return f"It heads for {_target_cell_text(case, target)}, by record {int(agent.numbers['record'])}"


def _target_cell_text(case: _AgentMove, cell: int) -> str:
    """Return a target cell as text: "the goal", or the subgoal with its coordinates."""
    return "the goal" if cell == case.view.goal else f"the subgoal {case.at(cell)}"


def _explain_pr_lrta(case: _AgentMove) -> MoveExplanation:
    """Explain a move of PR LRTA* along its path to the next region; without regions, explain it as LRTA*."""
    if case.phase != log.FOLLOWING:
        return _explain_lrta(case)
    path = case.agent.path
    if not path.size:
        return MoveExplanation(f"It moved to {case.at(case.cell_after)}, where its next leg begins.", case.cell_after)
    end, left = int(path[-1]), _remaining_move_count(case)
    if not int(case.row["expanded"]):
        return MoveExplanation(_walking_on_text(f"its leg to {case.at(end)}", left), end)
    if end == case.view.goal:
        return MoveExplanation(
            f"The goal is in its region: A* found the path inside it, {_move_count_text(left)} left.", end
        )
    text = (
        f"LRTA* chose the next region, and A* the path to {case.at(end)} inside both regions: {_move_count_text(left)}"
        " left."
    )
    why_goal = f"{_leg_reentry_reason_text(case)} " if case.has_event_mark(log.REENTERED) else ""
    return MoveExplanation(f"{why_goal}{text}", end)


def _leg_reentry_reason_text(case: _AgentMove) -> str:
    return f"A leg began at {case.at(case.cell_before)} before, so regions are chosen towards the goal, not a subgoal."


def _explain_pra(case: _AgentMove) -> MoveExplanation:
    if case.agent.path.size:
        return _explain_destination(case)
    return MoveExplanation(f"It moved to {case.at(case.cell_after)}, from where it continues to plan.", case.cell_after)


def _best_seen_cell_text(case: _AgentMove, best: int) -> str:
    inside = case.agent.groups.get("local space")
    seen = (
        f"Of all cells around the {len(inside):,} cells that it looked at"
        if inside is not None and len(inside)
        else "Of all cells that it looked at"
    )
    return f"{seen}, {case.at(best)} is most promising"


def _h_excess_text(case: _AgentMove, cell: int) -> str:
    assert case.agent.learned is not None
    more = float(learned.learned_h_excess(case.agent.learned, cell))
    name = "octile" if case.grid.movement.has_diagonal_moves else "Manhattan"
    return f", {_one_decimal_text(more)} above the {name} distance" if more > 0.05 else ""


def _explain_one_step_lookahead(case: _AgentMove) -> MoveExplanation:
    """Explain a move to the neighbour with least cost + h, for agents that update h of several cells."""
    return MoveExplanation(f"The neighbour {case.at(case.cell_after)} had the least cost + h.", case.cell_after)


def _explain_local_search(case: _AgentMove) -> MoveExplanation:
    best = case.agent.best
    if best < 0 or not case.agent.path.size:
        return _explain_destination(case)
    left = _remaining_move_count(case)
    if case.phase != log.LEARNING:
        return MoveExplanation(_walking_on_text(f"its plan to {case.at(best)}", left), best)
    n, key = int(case.row["expanded"]), case.view.spec.key
    rule = "where it has learned least" if key == "da-rtaa" and best != case.view.goal else "where cost + h is least"
    return MoveExplanation(
        f"It searched {count_with_noun(n, 'cell')} around {case.at(case.cell_before)}, raised their h, "
        f"and heads for the open cell {rule}, {case.at(best)}: {_move_count_text(left)} left.",
        best,
    )


def _explain_ribs(case: _AgentMove) -> MoveExplanation:
    agent, limit = case.agent, case.agent.numbers["limit"]
    left, here = case.at(case.cell_before), case.at(case.cell_after)
    if not case.has_event_mark(log.BACK_MOVE):
        g, h, f = search_values_of_cell(case.snapshot, case.view, case.cell_after)
        raised = f"The limit rose to {_one_decimal_text(limit)}. " if int(case.row["expanded"]) > 1 else ""
        return MoveExplanation(
            f"{raised}Depth first: {here} has f = {_one_decimal_text(g)} + {_one_decimal_text(h)} = "
            f"{_one_decimal_text(f)}, within the limit of {_one_decimal_text(limit)}.",
            case.cell_after,
        )
    if case.cell_before in agent.groups["dead"]:
        reason = f"No cell is reached best through {left}: it is dead and never entered again"
    elif case.cell_before in agent.groups["redundant"]:
        reason = f"All cells next to {left} are reached as well on other paths: it is redundant and never entered again"
    else:
        reason = f"No new cell can be entered from {left} within the limit of {_one_decimal_text(limit)} on f"
    return MoveExplanation(f"{reason}. Back to its tree parent {here}.", case.cell_after, fork=case.cell_after)


# --- references and all other agents --------------------------------------------------------------


def _explain_dstar_lite(case: _AgentMove) -> MoveExplanation:
    search = case.agent.search
    if search is None or not kernels.is_known(search, case.cell_after):
        return _explain_destination(case)
    cost, g = case.move_cost(case.cell_before, case.cell_after), float(search.nodes[case.cell_after].g)
    return MoveExplanation(
        f"Of its neighbours, {case.at(case.cell_after)} is nearest to the goal: {_one_decimal_text(cost)} + g "
        f"{_one_decimal_text(g)} = {_one_decimal_text(cost + g)}; "
        "the path there needs no repair.",
        case.cell_after,
    )


def _explain_destination(case: _AgentMove) -> MoveExplanation:
    """Return a sentence that is true of any agent: its destination, its path and its phase."""
    agent, here = case.agent, case.cell_after
    if agent.path.size and here in agent.path:
        end = int(agent.path[-1])
        goal = "the goal" if end == case.view.goal else case.at(end)
        return MoveExplanation(_walking_on_text(f"its path to {goal}", _remaining_move_count(case)), end)
    return MoveExplanation(f"It moved to {case.at(here)}: {PHASE_WORDS[case.phase]}.", here)


_EXPLAINER_BY_KEY: dict[str, Callable[[_AgentMove], MoveExplanation]] = {
    "lrta": _explain_lrta,
    "p-lrta": _explain_one_step_lookahead,
    "ribs": _explain_ribs,
    "dstar-lite": _explain_dstar_lite,
    "k-lrta": _explain_local_search,
    "lss-lrta": _explain_local_search,
    "rtaa": _explain_local_search,
    "da-rtaa": _explain_local_search,
    "d-lrta": _explain_guided_lrta,
    "dt-lrta": _explain_dt_lrta,
    "oracle-lrta": _explain_oracle_lrta,
    "knn-lrta": _explain_knn_lrta,
    "pr-lrta": _explain_pr_lrta,
    "pra": _explain_pra,
}
_EXPLAINER_BY_FAMILY: dict[str, Callable[[_AgentMove], MoveExplanation]] = {"time-bounded": _explain_time_bounded}
_STAY_TEXT_BY_KEY: dict[str, Callable[[_AgentMove], str]] = {
    "ribs": _ribs_staying_text,
    "ida": _ida_staying_text,
    "dstar-lite": _dstar_lite_staying_text,
    "pra": _pra_staying_text,
    "d-lrta": _d_lrta_staying_text,
    "knn-lrta": _knn_lrta_staying_text,
}
