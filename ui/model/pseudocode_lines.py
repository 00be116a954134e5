"""Pseudocode of all algorithms, for slow motion; pseudocode.py finds the lines that an agent executed in a tick.

The letters are those of the glossary: s is the agent's cell, b the best cell of the frontier, and y the cell that the
agent heads for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agents.d_lrta import uses_stored_depth
from sim.params import Value


@dataclass(frozen=True)
class PseudocodeLine:
    """One line of the pseudocode of an algorithm."""

    key: str  # id by which pseudocode.py marks the line as executed; "" for a line that is never marked
    text: str
    indent_level: int = 0  # indentation level of the line


def _lines_with_text_replaced(lines: tuple[PseudocodeLine, ...], old: str, new: str) -> tuple[PseudocodeLine, ...]:
    return tuple(replace(line, text=line.text.replace(old, new)) for line in lines)


_NO_PATH_LINE = PseudocodeLine("no_path", "if no cell is open: there is no path", 1)
_WALK_LINES = (
    PseudocodeLine("", "if the agent stands on the path, before its end", 1),
    PseudocodeLine("follow", "move to the next cell of the path", 2),
)
_WAIT_LINE = PseudocodeLine("", "until then: wait", 1)
_RESTART_LINES = (
    PseudocodeLine("", "when map, goal or parameters change:", 0),
    PseudocodeLine("restart", "restart the search at the agent", 1),
)
_LEARNER_RESTART_LINES = (
    PseudocodeLine("restart", "when the map or the goal changes: restart", 0),
    PseudocodeLine("", "if the goal has moved (all h is forgotten),", 1),
)
_PATH_MAY_OPEN_LINE = PseudocodeLine("", "or if a change may open a path (h kept)", 1)
_FORGET_H_LINE = PseudocodeLine("", "or if new arcs are in reach (h forgotten, too)", 1)
_CUT_PATH_LINE = PseudocodeLine("", "or if the way ahead is cut", 1)
_CHEAPER_NEIGHBOUR_LINES = (
    PseudocodeLine("", "for each neighbour t of s that is not closed:", 1),
    PseudocodeLine("", "if t is new, or g(s) + cost is less than g(t):", 2),
    PseudocodeLine("", "g(t) := that, parent of t := s, t is open", 3),
)
_NEW_NEIGHBOUR_LINES = (
    PseudocodeLine("", "for each neighbour t of s that is new:", 1),
    PseudocodeLine("", "t is open, and s its parent", 2),
)
_FOLLOW_PATH_LINES = (
    PseudocodeLine("", "every tick with a path:", 0),
    PseudocodeLine("follow", "move to the next cell of the path", 1),
)
_FOUND_GOAL_LINES = (
    _NO_PATH_LINE,
    PseudocodeLine("found", "if the best open cell is the goal:", 1),
    PseudocodeLine("path", "path := parents from the goal to the root", 2),
    _WAIT_LINE,
    *_FOLLOW_PATH_LINES,
    *_RESTART_LINES,
)
_DELAYED_ASTAR_LINES = (
    PseudocodeLine("", "every tick without a path, with R to spend:", 0),
    PseudocodeLine("expand", "expand cells with least g + h, for r of R", 1),
    _NO_PATH_LINE,
    PseudocodeLine("found", "if the best is the goal: the search is done", 1),
    PseudocodeLine("trace", "follow parents back from the goal: c steps", 1),
    PseudocodeLine("", "for each expansion that is left of R", 1),
    PseudocodeLine("path", "at the root: that is the path", 1),
    PseudocodeLine("bounce", "until then: to and fro beside the root", 1),
    PseudocodeLine("", "every tick with a path:", 0),
    PseudocodeLine("follow", "move to its next cell, first back to the root", 1),
    *_RESTART_LINES,
)
_TB_WA_LINES = (
    PseudocodeLine("", "every tick, k times:", 0),
    PseudocodeLine("expand", "expand the open cell with least g + w h", 1),
    _NO_PATH_LINE,
    PseudocodeLine("found", "if the best open one is the goal: it is done", 1),
    PseudocodeLine("", "then:", 0),
    PseudocodeLine("path", "path := from the root to the best open cell", 1),
    *_WALK_LINES,
    PseudocodeLine("back", "else move back to the parent of its cell", 1),
)
_SHORTER_PATH_LINES = (
    PseudocodeLine("", "or w times the estimate of a way by a new arc", 1),
    PseudocodeLine("", "is less than what is left to walk:", 1),
)
_REOPENING_LINE = PseudocodeLine("", "(closed cells open again by a cheaper way)", 1)
_TB_GBFS_LINES = _lines_with_text_replaced(_TB_WA_LINES, "g + w h", "h")
_TBA_LINES = (
    PseudocodeLine("", "every tick, with R to spend:", 0),
    PseudocodeLine("expand", "expand best open cells, for r of R", 1),
    _NO_PATH_LINE,
    PseudocodeLine("found", "if the best is the goal: the search is done", 1),
    PseudocodeLine("trace", "go on following parents back from the", 1),
    PseudocodeLine("", "best open cell, c steps for an expansion", 1),
    PseudocodeLine("path", "at the root or the agent: that is the new path", 1),
    *_WALK_LINES,
    PseudocodeLine("back", "else if it is not at the root: to the parent", 1),
    PseudocodeLine("bounce", "else: back to where it came from", 1),
    *_RESTART_LINES,
)
_NOT_SHORTER_PATH_LINE = PseudocodeLine("path", "at the root or agent: new path, if not shorter", 1)
_SHORTCUT_LINE = PseudocodeLine("shortcut", "off the goal's path: search from it to the agent", 1)
_HOPELESS_LINE = PseudocodeLine("no_path", "no way on, or h(s) above any path: no path", 1)
_LOOK_AHEAD_LINE = PseudocodeLine("expand", "look at all cells that d moves lead to", 1)
_CHOOSE_RIM_CELL_LINE = PseudocodeLine("choose", "b := the one of the rim with least cost + h", 1)
_MOVE_LINE = PseudocodeLine("move", "move one step towards b", 1)
_LRTA_LINES = (
    PseudocodeLine("", "every tick, standing on s:", 0),
    _LOOK_AHEAD_LINE,
    _CHOOSE_RIM_CELL_LINE,
    PseudocodeLine("learn", "h(s) := that cost + h, if it is more", 1),
    _HOPELESS_LINE,
    _MOVE_LINE,
)
_P_LRTA_LINES = (
    PseudocodeLine("", "every tick, standing on s:", 0),
    PseudocodeLine("expand", "m := least cost + h of a neighbour of s", 1),
    PseudocodeLine("learn", "h(s) := m, if it is more", 1),
    PseudocodeLine("", "and then queue the neighbours: the more it", 2),
    PseudocodeLine("", "rose, the more urgent (at most Q of them)", 2),
    PseudocodeLine("spread", "do the same for the most urgent of the queue,", 1),
    PseudocodeLine("", "until none is left (at most Q, and k - 1)", 2),
    _HOPELESS_LINE,
    PseudocodeLine("choose", "b := the neighbour with least cost + h", 1),
    PseudocodeLine("move", "move to b", 1),
)
_LEAVE_QUEUE_LINE = PseudocodeLine("", "(cells without moves leave the queue)", 1)
_DEPTH_FROM_TREE_LINES = (
    PseudocodeLine("probe", "look at all cells that q moves lead to", 1),
    PseudocodeLine("ask", "d := what the tree says of that, at most dmax", 1),
)
_DEPTH_FROM_ORACLE_LINES = (
    PseudocodeLine("ask", "try dmax, then less: d := the last depth that", 1),
    PseudocodeLine("", "leads to the same move (not charged for)", 2),
)
_COST_LIMITED_LOOKAHEAD_LINE = PseudocodeLine("expand", "look at all cells up to a cost of gmax", 1)
_RIBS_LINES = (
    PseudocodeLine("", "every tick, standing on u:", 0),
    PseudocodeLine("expand", "learn g of u's neighbours that are not pruned", 1),
    PseudocodeLine("dead", "if u leads best to none of them: u is dead", 1),
    PseudocodeLine("redundant", "if all have other best parents: u is redundant", 1),
    PseudocodeLine("enter", "if u is not, and some have f <= T and were not", 1),
    PseudocodeLine("", "entered yet: move to the best of them", 2),
    PseudocodeLine("back", "else if u is not the start: back to its parent", 1),
    PseudocodeLine("no_path", "else if no f lies beyond T: there is no path", 1),
    PseudocodeLine("limit", "else T := the least f beyond T", 1),
    *_RESTART_LINES,
)
_LOCAL_SEARCH_LINES = (
    PseudocodeLine("", "every tick, if no way is left, standing on s:", 0),
    PseudocodeLine("expand", "expand n cells by A* from s, with learned h", 1),
    PseudocodeLine("learn", "h of these := least cost + h of an open cell", 1),
    PseudocodeLine("no_path", "no cell open, or h(s) above any path: no path", 1),
    PseudocodeLine("choose", "b := the open cell with least f", 1),
    PseudocodeLine("path", "way := from s to b", 1),
    PseudocodeLine("", "every tick:", 0),
    PseudocodeLine("follow", "move to the next cell of the way", 1),
)
_ADAPTIVE_LEARN_LINE = PseudocodeLine("learn", "h(t) of these := least f of an open cell - g(t)", 1)
_MIN_LEARNED_CHOICE_LINE = PseudocodeLine("choose", "b := the goal if it is best, or least h - h0", 1)
_OUTDATED_DATABASE_LINE = PseudocodeLine("without data", "while the map is another: d := 1", 1)
_LOOK_UP_DEPTH_LINE = PseudocodeLine("look up", "else d := what the database has for s", 1)
_BLOCKED_OR_HOPELESS_LINE = PseudocodeLine("", "if no way leads on, or h(s) is above any path:", 1)
_NO_PATH_TO_GOAL_LINE = PseudocodeLine("no_path", "y is the goal: there is no path", 2)
_LEARN_H_LINE = PseudocodeLine("learn", "h(s), toward y, := that, if it is more", 1)
_D_LRTA_LINES = (
    PseudocodeLine("", "every tick, standing on s, in a region:", 0),
    PseudocodeLine("without data", "while the map is another: y := the goal, d := 1", 1),
    PseudocodeLine("look up", "else y, d := subgoal and depth of the region", 1),
    PseudocodeLine("", "(where it has no subgoal: y := the goal)", 1),
    PseudocodeLine("again", "if s was visited before, or once no way led", 1),
    PseudocodeLine("reenter", "to a subgoal: y := goal, d := c", 2),
    _LOOK_AHEAD_LINE,
    _CHOOSE_RIM_CELL_LINE,
    _LEARN_H_LINE,
    _BLOCKED_OR_HOPELESS_LINE,
    _NO_PATH_TO_GOAL_LINE,
    PseudocodeLine("drop", "else y := the goal from now on", 2),
    _MOVE_LINE,
)
_GOAL_AFTER_REVISIT_LINE = PseudocodeLine("again", "once s was visited before, or no way led", 1)
_GOAL_AFTER_FAILURE_LINE = PseudocodeLine("reenter", "once no way led to a subgoal: y := goal, d := c", 1)
_KNN_LRTA_LINES = (
    PseudocodeLine("", "every tick, standing on s, heading for y:", 0),
    PseudocodeLine("", "if, on a changed map, y is blocked or was not", 1),
    PseudocodeLine("lost", "reached in cap moves: drop the record", 2),
    PseudocodeLine("reached", "if s is y: y := the next cell of the record", 1),
    PseudocodeLine("select", "if none is left, or cap moves are over: choose", 1),
    PseudocodeLine("straight", "if greedy steps lead to the goal: y := goal", 2),
    PseudocodeLine("ask", "else try the M most similar records:", 2),
    PseudocodeLine("", "where greedy steps lead to its first, and", 3),
    PseudocodeLine("take", "from its last to the goal: y := its first", 3),
    PseudocodeLine("second", "(its second, if they lead even to that)", 3),
    PseudocodeLine("none fits", "if none fits: y := the goal, for cap moves", 2),
    PseudocodeLine("choosing", "(spread steps a tick; on to y meanwhile)", 2),
    PseudocodeLine("expand", "look at the neighbours of s", 1),
    PseudocodeLine("choose", "b := the one with least cost + h", 1),
    _LEARN_H_LINE,
    _BLOCKED_OR_HOPELESS_LINE,
    _NO_PATH_TO_GOAL_LINE,
    PseudocodeLine("drop", "else drop the record", 2),
    PseudocodeLine("move", "move to b", 1),
)
_TRY_RECORDS_LINE = PseudocodeLine("ask", "try the M most similar records:", 2)
_INITIAL_THRESHOLD_LINE = PseudocodeLine("", "at first: T := h of the root", 0)
_IDA_LINES = (
    PseudocodeLine("expand", "go on to the next neighbour with f <= T", 1),
    PseudocodeLine("", "that is not on the way from the root", 2),
    PseudocodeLine("found", "if that is the goal, the way is the path", 1),
    PseudocodeLine("back", "if none is left: back to the cell before", 1),
    PseudocodeLine("limit", "back before the root: T := least f beyond T", 1),
    PseudocodeLine("", "that was met, and begin at the root again", 2),
    PseudocodeLine("no_path", "if there was none: there is no path", 1),
    PseudocodeLine("give up", "after so many expansions: it gives up", 1),
    _WAIT_LINE,
    *_FOLLOW_PATH_LINES,
    *_RESTART_LINES,
)
_KEY_DEFINITION_LINE = PseudocodeLine("", "key of t: m + h(s, t) + km; m := min(g, rhs)", 0)
_DSTAR_LITE_LINES = (
    PseudocodeLine("expand", "u := the cell of U with the least key", 1),
    PseudocodeLine("lower", "if g(u) is more than rhs(u): g(u) := rhs(u)", 1),
    PseudocodeLine("raise", "else g(u) := infinity", 1),
    PseudocodeLine("", "rhs of its neighbours := least cost + g", 1),
    PseudocodeLine("", "U := all cells with g other than rhs", 1),
    PseudocodeLine("settled", "settled: rhs(s) <= g(s), no key in U below s's", 1),
    PseudocodeLine("no_path", "if rhs(s) is infinite then: there is no path", 1),
    PseudocodeLine("", "every tick with s settled:", 0),
    PseudocodeLine("follow", "move to the neighbour with least cost + g", 1),
    PseudocodeLine("", "when arcs of the map come or go:", 0),
    PseudocodeLine("change", "rhs of their cells := least cost + g; km grows", 1),
    PseudocodeLine("", "by h from where s was to where s is", 2),
    PseudocodeLine("", "when the goal moves:", 0),
    PseudocodeLine("restart", "restart the search, from the goal", 1),
)
_REBUILD_REGIONS_LINE = PseudocodeLine("rebuild", "on another map: wait, regions are rebuilt", 1)
_PRA_LINES = (
    PseudocodeLine("without data", "while the map is another: l := 0", 1),
    PseudocodeLine("begin", "else l := half the level on which one region", 1),
    PseudocodeLine("", "has both s and the goal, rounded down", 2),
    PseudocodeLine("no_path", "if none has both: there is no path", 1),
    PseudocodeLine("expand", "A* among regions of level l, to the goal's", 1),
    PseudocodeLine("refine", "found: l := l - 1, only inside the regions", 1),
    PseudocodeLine("", "of the way and their neighbours", 2),
    PseudocodeLine("cells", "where l = 0: A* among cells, to the goal", 1),
    PseudocodeLine("path", "found: that is the path", 1),
    _WAIT_LINE,
    *_FOLLOW_PATH_LINES,
    *_RESTART_LINES,
)
_PR_LRTA_LINES = (
    PseudocodeLine("", "every tick without a leg, on s in region r:", 0),
    PseudocodeLine("without data", "while the map is another: one step of LRTA*", 1),
    PseudocodeLine("no_path", "if no region has both s and the goal: no path", 1),
    PseudocodeLine("inside", "if r has the goal: leg := A* to it, inside r", 1),
    PseudocodeLine("look up", "else y, d := what the database has for s", 1),
    PseudocodeLine("reenter", "if a leg began on s before: y := goal's, d := c", 1),
    PseudocodeLine("expand", "look at all regions that d arcs lead to", 1),
    _CHOOSE_RIM_CELL_LINE,
    PseudocodeLine("learn", "h(r), toward y, := that, if it is more", 1),
    PseudocodeLine("refine", "leg := A* inside r and the next region to b", 1),
    PseudocodeLine("", "every tick:", 0),
    PseudocodeLine("follow", "move to the next cell of the leg", 1),
)


def pseudocode_lines_of(kind: str, params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    """Return the pseudocode of an algorithm with these parameters; () for an agent without pseudocode."""
    return _PSEUDOCODE_FUNCTION_BY_KIND[kind](params) if kind in _PSEUDOCODE_FUNCTION_BY_KIND else ()


def _lines_without_keys(lines: tuple[PseudocodeLine, ...], *keys: str) -> tuple[PseudocodeLine, ...]:
    return tuple(line for line in lines if line.key not in keys)


def _lines_inserted_before(
    key: str, lines: tuple[PseudocodeLine, ...], *others: PseudocodeLine
) -> tuple[PseudocodeLine, ...]:
    index = next(i for i, line in enumerate(lines) if line.key == key)
    return (*lines[:index], *others, *lines[index:])


def _lines_with_replacements(lines: tuple[PseudocodeLine, ...], *others: PseudocodeLine) -> tuple[PseudocodeLine, ...]:
    """Return `lines`, in which each of the `others` replaces the line with the same key."""
    by_key = {line.key: line for line in others}
    return tuple(by_key.get(line.key, line) for line in lines)


def _tb_wa_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    return (*_TB_WA_LINES[:2], _REOPENING_LINE, *_TB_WA_LINES[2:]) if params["reopen"] else _TB_WA_LINES


def _time_bounded_pseudocode(
    params: Mapping[str, Value], lines: tuple[PseudocodeLine, ...], is_greedy: bool = False
) -> tuple[PseudocodeLine, ...]:
    """Return the pseudocode of a time-bounded search with its reactions to a map change and to a missing path."""
    if params["no_path"] == "give-up":
        lines = _lines_with_text_replaced(lines, "there is no path", "it gives up")
    return (*lines, *(_RESTART_LINES if params["restart"] == "eager" else _lazy_reaction_pseudocode(params, is_greedy)))


def _lazy_reaction_pseudocode(params: Mapping[str, Value], is_greedy: bool) -> tuple[PseudocodeLine, ...]:
    """Return the pseudocode of a lazy reaction to a map change: it restarts only if the path is cut or not best.

    Greedy search guarantees nothing about costs, so it does not check for shorter paths.
    """
    arc_text = "of the way ahead" if params["lazy_rule"] == "arc" else "ahead, or one into the path,"
    return (
        PseudocodeLine("", "when the map changes:", 0),
        PseudocodeLine("", f"if an arc {arc_text} is gone{':' if is_greedy else ','}", 1),
        *(() if is_greedy else _SHORTER_PATH_LINES),
        PseudocodeLine("restart", "restart the search at the agent", 2),
        PseudocodeLine("", "(later too, if a path leads over such an arc)", 1),
        PseudocodeLine("", "(for another goal or parameter in any case)", 1),
    )


def _waiting_search_pseudocode(
    params: Mapping[str, Value], order: str, children: tuple[PseudocodeLine, ...] = _CHEAPER_NEIGHBOUR_LINES
) -> tuple[PseudocodeLine, ...]:
    """Return the pseudocode of a search whose agent waits until the search has ended.

    The lines `children` handle the neighbours of an expanded cell.
    """
    return _search_loop_pseudocode(
        params,
        (PseudocodeLine("expand", f"close s := the open cell with least {order}", 1), *children, *_FOUND_GOAL_LINES),
    )


def _search_loop_pseudocode(
    params: Mapping[str, Value], lines: tuple[PseudocodeLine, ...], end: str = "there is a path"
) -> tuple[PseudocodeLine, ...]:
    """Return the pseudocode of a search that runs either in one tick or, with a budget, over several ticks."""
    if params["mode"] == "instant":
        return PseudocodeLine("", f"in one tick, until {end}:", 0), *(line for line in lines if line != _WAIT_LINE)
    return PseudocodeLine("", f"every tick until {end}, k times:", 0), *lines


def _wastar_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    lines = _waiting_search_pseudocode(params, "g + w h")
    return _lines_with_text_replaced(lines, "s that is not closed:", "s, closed or not:") if params["reopen"] else lines


def _tba_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    lines = _lines_with_replacements(_TBA_LINES, _NOT_SHORTER_PATH_LINE) if params["switch"] == "longer" else _TBA_LINES
    index = lines.index(_WALK_LINES[0])
    return (*lines[:index], _SHORTCUT_LINE, *lines[index:]) if params["shortcut"] else lines


def _ida_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    lines = _lines_with_text_replaced(_IDA_LINES, "after so many expansions", f"after {params['most']:,} expansions")
    return _INITIAL_THRESHOLD_LINE, *_search_loop_pseudocode(params, lines)


def _dstar_lite_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    return _KEY_DEFINITION_LINE, *_search_loop_pseudocode(params, _DSTAR_LITE_LINES, "s is settled")


def _pra_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    lines: tuple[PseudocodeLine, ...] = _PRA_LINES
    if params["after_change"] == "rebuild":
        lines = (
            *_lines_with_text_replaced(_lines_without_keys(lines, "without data"), "else l :=", "l :="),
            _REBUILD_REGIONS_LINE,
        )
    if params["level"]:
        lines = _lines_with_text_replaced(
            lines, "half the level on which one region", f"{params['level']}, but no more than the level"
        )
        lines = _lines_with_text_replaced(
            lines, "has both s and the goal, rounded down", "with both s and the goal in one region"
        )
    if params["enough"]:
        lines = _lines_inserted_before(
            "no_path", lines, PseudocodeLine("", "or less, to have 2 sqrt(cells) regions", 2)
        )
    if not params["wide"]:
        lines = _lines_with_text_replaced(lines, "of the way and their neighbours", "of the way")
    if params["keep"]:
        lines = _lines_with_text_replaced(lines, "of the way", "of its first K steps")
        lines = _lines_with_text_replaced(
            _lines_with_text_replaced(lines, "to the goal's", "to their end"),
            "cells, to the goal",
            "cells, to their end",
        )
    return _search_loop_pseudocode(params, lines)


def _pseudocode_after_map_change(params: Mapping[str, Value], is_cut: bool = False) -> tuple[PseudocodeLine, ...]:
    """Return the pseudocode of a learning agent's reaction to changes of map and goal.

    `is_cut`: the agent follows a path, which a map change may block.
    """
    return (
        *_LEARNER_RESTART_LINES,
        _FORGET_H_LINE if params["on_unblock"] == "reset" else _PATH_MAY_OPEN_LINE,
        *((_CUT_PATH_LINE,) if is_cut else ()),
    )


def _lookahead_pseudocode(params: Mapping[str, Value], *control: PseudocodeLine) -> tuple[PseudocodeLine, ...]:
    """Return the pseudocode of LRTA*, with the lines `control` that choose its lookahead depth or its subgoal."""
    return (_LRTA_LINES[0], *control, *_LRTA_LINES[1:], *_pseudocode_after_map_change(params))


def _lrta_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    lines = _lookahead_pseudocode(params)
    return _lines_with_replacements(lines, _COST_LIMITED_LOOKAHEAD_LINE) if params["lookahead_by"] == "cost" else lines


def _p_lrta_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    max_updates = params["updates"] or "Q"
    lines = _lines_with_text_replaced(_P_LRTA_LINES, "(at most Q, and", f"(at most {max_updates}, and")
    return (*lines, *_pseudocode_after_map_change(params), _LEAVE_QUEUE_LINE)


def _local_search_pseudocode(params: Mapping[str, Value], *others: PseudocodeLine) -> tuple[PseudocodeLine, ...]:
    lines = _lines_with_replacements(_LOCAL_SEARCH_LINES, *others)
    walks_all = params.get("moves") == "all"
    if not walks_all:
        lines = _lines_with_text_replaced(lines, "every tick, if no way is left,", "every tick,")
    return (*lines, *_pseudocode_after_map_change(params, walks_all))


def _ribs_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    return _lines_without_keys(_RIBS_LINES, *(name for name in ("dead", "redundant") if not params[name]))


def _database_subgoal_and_depth_flags(params: Mapping[str, Value]) -> tuple[bool, bool]:
    """Return two flags: whether subgoals come from a database, and whether lookahead depths do."""
    return params["goal_control"] == "database", params["depth_control"] == "database"


def _d_lrta_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    has_goals, has_depths = _database_subgoal_and_depth_flags(params)
    if not has_goals:
        return _lookahead_pseudocode(params, *((_OUTDATED_DATABASE_LINE, _LOOK_UP_DEPTH_LINE) if has_depths else ()))
    lines = (
        _lines_with_replacements(_D_LRTA_LINES, _GOAL_AFTER_REVISIT_LINE)
        if params["reentrance"] == "for good"
        else _D_LRTA_LINES
    )
    if params["reentrance"] == "never":
        lines = _lines_with_replacements(_lines_without_keys(_D_LRTA_LINES, "again"), _GOAL_AFTER_FAILURE_LINE)
    lines = (*lines, *_pseudocode_after_map_change(params))
    if has_depths:
        return _lines_with_text_replaced(lines, "d := c", "d := its depth") if uses_stored_depth(params) else lines
    return _lines_with_text_replaced(
        _lines_with_text_replaced(lines, "y, d := subgoal and depth", "y := the subgoal"), ", d := c", ""
    )


def _knn_lrta_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    is_left_out = {
        "straight": not params["direct"],
        "second": not params["skip_first"],
        "choosing": not params["spread"],
    }
    lines = _lines_without_keys(_KNN_LRTA_LINES, *(key for key, is_out in is_left_out.items() if is_out))
    return (
        *(lines if params["direct"] else _lines_with_replacements(lines, _TRY_RECORDS_LINE)),
        *_pseudocode_after_map_change(params),
    )


def _pr_lrta_pseudocode(params: Mapping[str, Value]) -> tuple[PseudocodeLine, ...]:
    has_goals, has_depths = _database_subgoal_and_depth_flags(params)
    lines = (
        _PR_LRTA_LINES
        if params["gamma"] == 1.0
        else _lines_with_text_replaced(_PR_LRTA_LINES, " with least cost", ": least gamma cost")
    )
    lines = (*lines, *_pseudocode_after_map_change(params, is_cut=True))
    if not has_goals:
        lines = _lines_with_text_replaced(
            _lines_with_text_replaced(_lines_without_keys(lines, "reenter"), ", toward y,", ""), "y, d", "d"
        )
    if not has_depths:
        lines = _lines_with_text_replaced(_lines_with_text_replaced(lines, "y, d", "y"), ", d := c", "")
    if has_goals or has_depths:
        return lines
    return _lines_with_text_replaced(_lines_without_keys(lines, "look up"), "look at all", "else look at all")


_PSEUDOCODE_FUNCTION_BY_KIND: Mapping[str, Callable[[Mapping[str, Value]], tuple[PseudocodeLine, ...]]] = {
    "astar": lambda params: _waiting_search_pseudocode(params, "f = g + h"),
    "wastar": _wastar_pseudocode,
    "gbfs": lambda params: _waiting_search_pseudocode(params, "h", _NEW_NEIGHBOUR_LINES),
    "ida": _ida_pseudocode,
    "delayed-astar": lambda _: _DELAYED_ASTAR_LINES,
    "tb-wa": lambda params: (*_tb_wa_pseudocode(params), *_RESTART_LINES),
    "tb-gbfs": lambda _: (*_TB_GBFS_LINES, *_RESTART_LINES),
    "rtb-wa": lambda params: _time_bounded_pseudocode(params, _tb_wa_pseudocode(params)),
    "rtb-gbfs": lambda params: _time_bounded_pseudocode(params, _TB_GBFS_LINES, is_greedy=True),
    "tba": _tba_pseudocode,
    "lrta": _lrta_pseudocode,
    "p-lrta": _p_lrta_pseudocode,
    "k-lrta": _local_search_pseudocode,
    "lss-lrta": _local_search_pseudocode,
    "rtaa": lambda params: _local_search_pseudocode(params, _ADAPTIVE_LEARN_LINE),
    "da-rtaa": lambda params: _local_search_pseudocode(params, _ADAPTIVE_LEARN_LINE, _MIN_LEARNED_CHOICE_LINE),
    "ribs": _ribs_pseudocode,
    "dstar-lite": _dstar_lite_pseudocode,
    "d-lrta": _d_lrta_pseudocode,
    "dt-lrta": lambda params: _lookahead_pseudocode(params, *_DEPTH_FROM_TREE_LINES),
    "oracle-lrta": lambda params: _lookahead_pseudocode(params, *_DEPTH_FROM_ORACLE_LINES),
    "knn-lrta": _knn_lrta_pseudocode,
    "pra": _pra_pseudocode,
    "pr-lrta": _pr_lrta_pseudocode,
}
KINDS_WITH_PSEUDOCODE = tuple(_PSEUDOCODE_FUNCTION_BY_KIND)
"""Kinds of agents that have pseudocode."""
