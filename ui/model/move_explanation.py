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
from sim.world_view import WalkerView, WorldSnapshot
from ui.model.cell_values import search_values_of_cell

NO_CELL = -1


@dataclass(frozen=True)
class MoveExplanation:
    """Explanation of a move as text, with the cells that the text names, so that they can be marked on the map."""

    text: str
    best_cell: int = NO_CELL  # cell that the agent heads for
    previous_best_cell: int = NO_CELL  # cell that the agent headed for before this tick
    fork_cell: int = NO_CELL  # cell where the agent, walking back from parent to parent, reaches its path


@dataclass(frozen=True)
class _AgentMove:
    """Last move of an agent, to be explained: the agent after a tick, and what it did in that tick."""

    snapshot: WorldSnapshot
    walker_view: WalkerView
    cell_before: int  # cell of the agent before the tick
    log_row: np.void  # row of the agent's log for the tick, of dtype log.ROW

    @property
    def grid(self) -> Grid:
        return self.snapshot.grid

    @property
    def agent(self) -> AgentView:
        return self.walker_view.agent

    @property
    def cell_after(self) -> int:
        return int(self.log_row["cell"])

    @property
    def phase(self) -> int:
        return int(self.log_row["phase"])

    @property
    def has_moved(self) -> bool:
        return self.cell_after != self.cell_before

    def has_event_mark(self, mark: int) -> bool:
        return bool(int(self.log_row["marks"]) & mark)

    def cell_text(self, cell: int) -> str:
        return "({}, {})".format(*self.grid.xy(cell))

    def cell_text_with_f(self, cell: int) -> str:
        """Return a cell with its f as text, such as "(12, 30), f 93.1"; f is left out for cells without a value."""
        if self.agent.search is None or not kernels.is_known(self.agent.search, cell):
            return self.cell_text(cell)
        f = search_values_of_cell(self.snapshot, self.walker_view, cell)[2]
        return f"{self.cell_text(cell)}, f {_one_decimal_text(f)}"

    def cost_of_move_to(self, cell: int) -> float:
        """Return the cost of a move from the cell before this move to one of its neighbours."""
        x_and_y = np.array([self.grid.xy(self.cell_before), self.grid.xy(cell)])
        return float(self.grid.movement.step_costs(*np.diff(x_and_y, axis=0).T)[0])


def _one_decimal_text(number: float) -> str:
    return f"{number:.1f}"


def explain_move(snapshot: WorldSnapshot, view: WalkerView, before: int) -> MoveExplanation:
    """Return why an agent did its last move, or why it did not move.

    Args:
        snapshot: The world after the tick.
        view: The agent in this snapshot.
        before: Cell on which the agent was when the tick began.
    """
    if not view.log_rows.size or view.first_row_tick + view.log_rows.size != snapshot.tick:
        return MoveExplanation(_why_agent_did_nothing(view))
    move = _AgentMove(snapshot, view, before, view.log_rows[-1])
    if move.has_event_mark(log.TRIAL_BEGAN):
        return MoveExplanation(
            f"It reached the goal; trial {view.metrics.trial} begins at the start, with everything learned so far."
        )
    explanation = _explainer_of_move(move)(move)
    if move.has_event_mark(log.RESTARTED):
        return MoveExplanation(
            f"Its search restarted in this tick. {explanation.text}",
            explanation.best_cell,
            explanation.previous_best_cell,
            explanation.fork_cell,
        )
    return explanation


def _why_agent_did_nothing(view: WalkerView) -> str:
    """Return why an agent did nothing in this tick."""
    if view.violation is not None:
        return (
            f"It {view.violation.state_word} in tick {view.violation.tick:,}, and was stopped: "
            f"{view.violation.description}."
        )
    if view.status is Status.NO_PATH:
        return "It has proved that no path leads to the goal on this map; it waits for a change that may open one."
    if view.status is Status.AT_GOAL:
        return "It is at its goal."
    if view.status is Status.GAVE_UP:
        return "It has given up and will not continue, whatever changes."
    return "It has not done anything yet."


def _explainer_of_move(move: _AgentMove) -> Callable[[_AgentMove], MoveExplanation]:
    if not move.has_moved:
        return _explain_staying
    key, family = move.walker_view.spec.key, move.walker_view.spec.family
    if key in _EXPLAINER_BY_KEY:
        return _EXPLAINER_BY_KEY[key]
    return _EXPLAINER_BY_FAMILY.get(family, _explain_destination)


# --- ticks without a move -------------------------------------------------------------------------


def _explain_staying(move: _AgentMove) -> MoveExplanation:
    best = move.agent.best
    if move.walker_view.status is Status.NO_PATH:
        return MoveExplanation("Nothing is left to search: no path leads to the goal on this map.")
    if move.walker_view.status is Status.AT_GOAL:
        return MoveExplanation("It is at its goal; the next trial cannot begin, because its start is blocked.")
    if move.walker_view.spec.key in _STAY_TEXT_BY_KEY:
        return MoveExplanation(_STAY_TEXT_BY_KEY[move.walker_view.spec.key](move), best)
    if move.phase == log.TRACING:
        return MoveExplanation("It waits: the goal is found, and the path to it is still being traced back.")
    if move.phase == log.SEARCHING and best >= 0:
        return MoveExplanation(
            f"It waits until its search is done; best open cell {move.cell_text_with_f(best)}.", best
        )
    return MoveExplanation(f"It stays where it is: {PHASE_WORDS[move.phase]}.")


def _ribs_staying_text(move: _AgentMove) -> str:
    return (
        "At the start, no cell was left to enter: the limit on f is now "
        f"{_one_decimal_text(move.agent.numbers['limit'])}."
    )


def _ida_staying_text(move: _AgentMove) -> str:
    if move.walker_view.status is Status.GAVE_UP:
        return "It has given up: there were too many paths to try."
    limit, deep = move.agent.numbers["limit"], move.agent.tracing.size
    if not deep:
        return f"It waits: all paths with f up to {_one_decimal_text(limit)} have been tried, and the limit rises next."
    return (
        f"It waits: it searches depth first along paths with f up to {_one_decimal_text(limit)}, now "
        f"{_move_count_text(deep - 1)} deep."
    )


def _dstar_lite_staying_text(move: _AgentMove) -> str:
    left = int(move.agent.numbers["inconsistent"])
    return (
        f"It waits until its path is sure: {count_with_noun(left, 'cell')} inconsistent, next "
        f"{move.cell_text(move.agent.best)}."
    )


def _pra_staying_text(move: _AgentMove) -> str:
    if move.phase == log.WAITING:
        return "It waits while the regions of the changed map are rebuilt."
    level, inside = int(move.agent.numbers["level"]), move.agent.groups["corridor"]
    if level:
        return f"It waits: it searches for a path among the regions of level {level}."
    area_text = f"inside the {inside.size:,} cells of the chosen regions" if inside.size else "on the whole map"
    return f"It waits: it searches for the path {area_text}."


def _d_lrta_staying_text(move: _AgentMove) -> str:
    return "No path leads to its subgoal, so from now on it heads for the goal."


def _knn_lrta_staying_text(move: _AgentMove) -> str:
    return "No path leads to the next cell of its record, so it drops the record and chooses again."


# --- time-bounded search: on and off the path -----------------------------------------------------


def _explain_time_bounded(move: _AgentMove) -> MoveExplanation:
    if "shortcut" in move.agent.notes and not move.has_event_mark(log.BACK_MOVE):
        return MoveExplanation(
            f"It has found a shortcut to its path: {_move_count_text(_remaining_move_count(move))} left along it.",
            move.walker_view.goal,
        )
    if move.phase == log.SHUTTLING:
        return MoveExplanation("It has no path yet, so it moves to and fro beside the start instead of standing still.")
    if move.has_event_mark(log.BACK_MOVE):
        return _explain_back_move(move)
    path = move.agent.path
    if not path.size:
        return _explain_destination(move)
    end, left = int(path[-1]), _remaining_move_count(move)
    if end == move.walker_view.goal:
        along = f"it follows this path, {_move_count_text(left)} left" if left else "this move was the last"
        return MoveExplanation(f"The path to the goal is known: {along}.", end, _best_open_cell_before_tick(move, end))
    return MoveExplanation(
        f"{_destination_clause(move, end)}; the path there passes through its cell: {_move_count_text(left)} left "
        "along it.",
        end,
        _best_open_cell_before_tick(move, end),
    )


def _remaining_move_count(move: _AgentMove) -> int:
    """Return the number of moves from the agent's cell to the end of its path."""
    indices = np.flatnonzero(move.agent.path == move.cell_after)
    return int(move.agent.path.size - 1 - indices[-1]) if indices.size else 0


def _move_count_text(count: int) -> str:
    return count_with_noun(count, "move")


def _continued_walk_text(path_text: str, move_count: int) -> str:
    return (
        f"It follows {path_text}: {_move_count_text(move_count)} left."
        if move_count
        else f"It has reached the end of {path_text}."
    )


def _is_path_traced(move: _AgentMove) -> bool:
    """Return whether the path ends at the cell traced last (TBA*), which need not be the best open cell."""
    return move.walker_view.spec.key == "tba"


def _best_open_cell_before_tick(move: _AgentMove, end: int) -> int:
    """Return the open cell that was best when the tick began: the first cell that the tick expanded."""
    search = move.agent.search
    expanded = int(move.log_row["expanded"])
    if search is None or _is_path_traced(move) or not expanded or move.has_event_mark(log.RESTARTED):
        return end
    noted = int(search.control[0].noted)
    is_whole = noted >= expanded and noted < search.order.size and int(search.control[0].expansions) > expanded
    return int(search.order[noted - expanded]) if is_whole else end


def _destination_clause(move: _AgentMove, end: int) -> str:
    """Return the first part of a sentence: the cell that the agent heads for, and whether that has changed."""
    best_before = _best_open_cell_before_tick(move, end)
    if _is_path_traced(move):
        return f"The path traced last leads to {move.cell_text_with_f(end)}"
    if best_before == end or end == move.walker_view.goal:
        return f"Best open cell {move.cell_text_with_f(end)}"
    return f"Best open cell changed from {move.cell_text_with_f(best_before)}, to {move.cell_text_with_f(end)}"


def _explain_back_move(move: _AgentMove) -> MoveExplanation:
    path = move.agent.path
    on_path = np.flatnonzero(path == move.cell_before)
    if on_path.size:  # TBA* at the end of its path, with no new path traced yet
        return MoveExplanation(
            f"Its path is used up at {move.cell_text(move.cell_before)}, and no other is traced yet, so it walks back "
            "towards the "
            "root of its search."
        )
    end = int(path[-1]) if path.size else NO_CELL
    fork, steps = _fork_cell_and_move_count(move)
    if end < 0 or fork < 0:
        return MoveExplanation("It is not on its path, so it walks back along the tree of its search.")
    back = (
        f"is now at the fork at {move.cell_text(fork)}"
        if fork == move.cell_after
        else f"walks back to the fork at {move.cell_text(fork)}"
    )
    more = f", {_move_count_text(steps - 1)} more" if steps > 1 else ""
    return MoveExplanation(
        f"{_destination_clause(move, end)}: the path there does not pass its cell; it {back}{more}.",
        end,
        _best_open_cell_before_tick(move, end),
        fork,
    )


def _fork_cell_and_move_count(move: _AgentMove) -> tuple[int, int]:
    """Return the cell where the parents of the cell just left meet the agent's path, and the moves to that cell."""
    search, on_path = move.agent.search, set(move.agent.path.tolist())
    if search is None:
        return NO_CELL, 0
    came, step = search.nodes["came"], move.grid.map_arrays.step
    number, is_of = search.control[0].search, search.nodes["search"]
    cell, steps = move.cell_before, 0
    while cell not in on_path:
        # a parent from an earlier search may lead anywhere
        if is_of[cell] != number or came[cell] == NO_DIRECTION:
            return NO_CELL, 0
        cell -= int(step[came[cell]])
        steps += 1
    return cell, steps


# --- learning agents ------------------------------------------------------------------------------


def _explain_lrta(move: _AgentMove) -> MoveExplanation:
    """Explain a move of LRTA* of any depth: the best cell that it saw, and the h learned for the cell it left."""
    best, learned_h = move.agent.best, move.agent.learned
    if best < 0 or learned_h is None:
        return _explain_destination(move)
    learned_text = (
        f"h of {move.cell_text(move.cell_before)} is {_one_decimal_text(float(learned_h.h[move.cell_before]))} now"
        f"{_h_excess_text(move, move.cell_before)}"
    )
    if best == move.cell_after:
        cost, h = move.cost_of_move_to(best), float(learned_h.h[best])
        total = f"cost {_one_decimal_text(cost)} + h {_one_decimal_text(h)} = {_one_decimal_text(cost + h)}"
        text = f"The neighbour {move.cell_text(best)} is most promising: {total}. {learned_text}."
        return MoveExplanation(text, best)
    return MoveExplanation(f"{_best_seen_cell_text(move, best)}: one move towards it. {learned_text}.", best)


def _explain_guided_lrta(move: _AgentMove) -> MoveExplanation:
    """Explain a move of LRTA* whose depth or target is chosen by a database.

    Values learned toward a subgoal are not mentioned, because the agent does not show them.
    """
    best = move.agent.best
    if best < 0:
        return _explain_destination(move)
    if best == move.cell_after:
        return MoveExplanation(
            f"{_database_use_text(move)} The neighbour {move.cell_text(best)} is most promising.", best
        )
    return MoveExplanation(f"{_database_use_text(move)} {_best_seen_cell_text(move, best)}: one move towards it.", best)


def _database_use_text(move: _AgentMove) -> str:
    target, depth = move.agent.target, int(move.agent.numbers["depth"])
    looks = f"looking {_move_count_text(depth)} ahead"
    if "reenter" in move.agent.notes:
        return f"{_reentry_reason_text(move)}, {looks}."
    if move.agent.is_stale:
        return f"Its database belongs to another map, so it heads for the goal, {looks}."
    if target in (NO_CELL, move.walker_view.goal):
        return f"It heads for the goal, {looks}."
    return f"Its database says: head for {move.cell_text(target)}, {looks}."


def _reentry_reason_text(move: _AgentMove) -> str:
    """Return why the agent heads for its goal, as the first part of a sentence."""
    if "for good" in move.agent.notes:
        return "A subgoal has led it astray, so it heads for the goal for good"
    return f"It had been at {move.cell_text(move.cell_before)} before, so it heads for the goal instead of a subgoal"


def _explain_dt_lrta(move: _AgentMove) -> MoveExplanation:
    explanation = _explain_lrta(move)
    return MoveExplanation(
        f"The tree says: look {_move_count_text(_lookahead_depth(move))} ahead. {explanation.text}",
        explanation.best_cell,
    )


def _explain_oracle_lrta(move: _AgentMove) -> MoveExplanation:
    explanation, max_depth = _explain_lrta(move), int(move.walker_view.params["dmax"])
    depth = _lookahead_depth(move)
    depth_text = (
        f"Looking {_move_count_text(max_depth)} ahead"
        if depth == max_depth
        else f"All depths from {depth} to {max_depth}"
    )
    return MoveExplanation(
        f"{depth_text} {'leads' if depth == max_depth else 'lead'} to this move. {explanation.text}",
        explanation.best_cell,
    )


def _lookahead_depth(move: _AgentMove) -> int:
    return int(move.agent.numbers["depth"])


def _explain_knn_lrta(move: _AgentMove) -> MoveExplanation:
    agent, target = move.agent, move.agent.target
    if target < 0 or agent.best < 0:
        return _explain_destination(move)
    step = f"the neighbour {move.cell_text(move.cell_after)} is most promising."
    return MoveExplanation(f"{_similar_record_text(move)}; {step}", move.cell_after)


def _similar_record_text(move: _AgentMove) -> str:
    agent, target = move.agent, move.agent.target
    if "direct" in agent.notes:
        return f"From {move.cell_text(agent.chosen_at)} greedy steps lead to the goal, so it heads there"
    if "no record" in agent.notes:
        return "No record fits, so it heads for the goal for a while"
    if "choosing" in agent.notes:
        return f"It is still choosing a record, and heads for {_subgoal_or_goal_text(move, target)} meanwhile"
    return f"It heads for {_subgoal_or_goal_text(move, target)}, by record {int(agent.numbers['record'])}"


def _subgoal_or_goal_text(move: _AgentMove, cell: int) -> str:
    """Return a target cell as text: "the goal", or the subgoal with its coordinates."""
    return "the goal" if cell == move.walker_view.goal else f"the subgoal {move.cell_text(cell)}"


def _explain_pr_lrta(move: _AgentMove) -> MoveExplanation:
    """Explain a move of PR LRTA* along its path to the next region; without regions, explain it as LRTA*."""
    if move.phase != log.FOLLOWING:
        return _explain_lrta(move)
    path = move.agent.path
    if not path.size:
        return MoveExplanation(
            f"It moved to {move.cell_text(move.cell_after)}, where its next leg begins.", move.cell_after
        )
    end, left = int(path[-1]), _remaining_move_count(move)
    if not int(move.log_row["expanded"]):
        return MoveExplanation(_continued_walk_text(f"its leg to {move.cell_text(end)}", left), end)
    if end == move.walker_view.goal:
        return MoveExplanation(
            f"The goal is in its region: A* found the path inside it, {_move_count_text(left)} left.", end
        )
    text = (
        f"LRTA* chose the next region, and A* the path to {move.cell_text(end)} inside both regions: "
        f"{_move_count_text(left)} left."
    )
    why_goal = f"{_leg_reentry_reason_text(move)} " if move.has_event_mark(log.REENTERED) else ""
    return MoveExplanation(f"{why_goal}{text}", end)


def _leg_reentry_reason_text(move: _AgentMove) -> str:
    began = move.cell_text(move.cell_before)
    return f"A leg began at {began} before, so regions are chosen towards the goal, not a subgoal."


def _explain_pra(move: _AgentMove) -> MoveExplanation:
    if move.agent.path.size:
        return _explain_destination(move)
    return MoveExplanation(
        f"It moved to {move.cell_text(move.cell_after)}, from where it continues to plan.", move.cell_after
    )


def _best_seen_cell_text(move: _AgentMove, best: int) -> str:
    inside = move.agent.groups.get("local space")
    seen_text = (
        f"Of all cells around the {len(inside):,} cells that it looked at"
        if inside is not None and len(inside)
        else "Of all cells that it looked at"
    )
    return f"{seen_text}, {move.cell_text(best)} is most promising"


def _h_excess_text(move: _AgentMove, cell: int) -> str:
    assert move.agent.learned is not None
    more = float(learned.learned_h_excess(move.agent.learned, cell))
    name = "octile" if move.grid.movement.has_diagonal_moves else "Manhattan"
    return f", {_one_decimal_text(more)} above the {name} distance" if more > 0.05 else ""


def _explain_one_step_lookahead(move: _AgentMove) -> MoveExplanation:
    """Explain a move to the neighbour with least cost + h, for agents that update h of several cells."""
    return MoveExplanation(f"The neighbour {move.cell_text(move.cell_after)} had the least cost + h.", move.cell_after)


def _explain_local_search(move: _AgentMove) -> MoveExplanation:
    best = move.agent.best
    if best < 0 or not move.agent.path.size:
        return _explain_destination(move)
    left = _remaining_move_count(move)
    if move.phase != log.LEARNING:
        return MoveExplanation(_continued_walk_text(f"its plan to {move.cell_text(best)}", left), best)
    n, key = int(move.log_row["expanded"]), move.walker_view.spec.key
    rule = (
        "where it has learned least"
        if key == "da-rtaa" and best != move.walker_view.goal
        else "where cost + h is least"
    )
    return MoveExplanation(
        f"It searched {count_with_noun(n, 'cell')} around {move.cell_text(move.cell_before)}, raised their h, "
        f"and heads for the open cell {rule}, {move.cell_text(best)}: {_move_count_text(left)} left.",
        best,
    )


def _explain_ribs(move: _AgentMove) -> MoveExplanation:
    agent, limit = move.agent, move.agent.numbers["limit"]
    cell_before, cell_after = move.cell_text(move.cell_before), move.cell_text(move.cell_after)
    if not move.has_event_mark(log.BACK_MOVE):
        g, h, f = search_values_of_cell(move.snapshot, move.walker_view, move.cell_after)
        limit_text = f"The limit rose to {_one_decimal_text(limit)}. " if int(move.log_row["expanded"]) > 1 else ""
        return MoveExplanation(
            f"{limit_text}Depth first: {cell_after} has f = {_one_decimal_text(g)} + {_one_decimal_text(h)} = "
            f"{_one_decimal_text(f)}, within the limit of {_one_decimal_text(limit)}.",
            move.cell_after,
        )
    if move.cell_before in agent.groups["dead"]:
        reason = f"No cell is reached best through {cell_before}: it is dead and never entered again"
    elif move.cell_before in agent.groups["redundant"]:
        reason = (
            f"All cells next to {cell_before} are reached as well on other paths: it is redundant and never entered "
            "again"
        )
    else:
        reason = f"No new cell can be entered from {cell_before} within the limit of {_one_decimal_text(limit)} on f"
    return MoveExplanation(
        f"{reason}. Back to its tree parent {cell_after}.", move.cell_after, fork_cell=move.cell_after
    )


# --- references and all other agents --------------------------------------------------------------


def _explain_dstar_lite(move: _AgentMove) -> MoveExplanation:
    search = move.agent.search
    if search is None or not kernels.is_known(search, move.cell_after):
        return _explain_destination(move)
    cost, g = move.cost_of_move_to(move.cell_after), float(search.nodes[move.cell_after].g)
    return MoveExplanation(
        f"Of its neighbours, {move.cell_text(move.cell_after)} is nearest to the goal: {_one_decimal_text(cost)} + g "
        f"{_one_decimal_text(g)} = {_one_decimal_text(cost + g)}; "
        "the path there needs no repair.",
        move.cell_after,
    )


def _explain_destination(move: _AgentMove) -> MoveExplanation:
    """Return a sentence that is true of any agent: its destination, its path and its phase."""
    agent, cell = move.agent, move.cell_after
    if agent.path.size and cell in agent.path:
        end = int(agent.path[-1])
        goal = "the goal" if end == move.walker_view.goal else move.cell_text(end)
        return MoveExplanation(_continued_walk_text(f"its path to {goal}", _remaining_move_count(move)), end)
    return MoveExplanation(f"It moved to {move.cell_text(cell)}: {PHASE_WORDS[move.phase]}.", cell)


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
