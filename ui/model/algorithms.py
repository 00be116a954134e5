"""Algorithms in our own words, line by line, for slow motion; pseudocode.py says which lines a tick has come to.

Letters are those of the glossary: s, where the agent stands; b, the best cell of the frontier; y, what it heads for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sim.params import Value


@dataclass(frozen=True)
class Line:
    key: str  # what it does, "": nothing of its own
    text: str
    depth: int = 0  # how far it is set in


def _reworded(lines: tuple[Line, ...], old: str, new: str) -> tuple[Line, ...]:
    return tuple(replace(line, text=line.text.replace(old, new)) for line in lines)


_NO_PATH = Line("no_path", "if no cell is open: there is no path", 1)
_WALK = (
    Line("", "if the agent stands on the path, before its end", 1),
    Line("follow", "move to the next cell of the path", 2),
)
_TB_WA = (
    Line("", "every tick, k times:", 0),
    Line("expand", "expand the open cell with least g + w h", 1),
    _NO_PATH,
    Line("found", "if that is the goal: the search is done", 1),
    Line("", "then:", 0),
    Line("path", "path := from the root to the best open cell", 1),
    *_WALK,
    Line("back", "else move back to the parent of its cell", 1),
)
_TB_GBFS = _reworded(_TB_WA, "g + w h", "h")
_CHANGES = (
    Line("", "when the map changes:", 0),
    Line("", "eager: begin anew. lazy: only if the way", 1),
    Line("", "ahead is cut, or a shorter one may be open", 1),
    Line("restart", "begin the search anew at the agent", 1),
)
_TBA = (
    Line("", "every tick, with R to spend:", 0),
    Line("expand", "expand best open cells, for r of R", 1),
    _NO_PATH,
    Line("found", "if the best is the goal: the search is done", 1),
    Line("trace", "go on following parents back from the", 1),
    Line("", "best open cell, c steps for an expansion", 1),
    Line("path", "at the root or the agent: that is the new path", 1),
    *_WALK,
    Line("back", "else if it is not at the root: to the parent", 1),
    Line("bounce", "else: back to where it came from", 1),
)
_LONGER = Line("path", "at the root or agent: new path, if not shorter", 1)
_SHORTCUT = Line("shortcut", "off the goal's path: search from it to the agent", 1)
_LOOK = Line("expand", "look at all cells that d moves lead to", 1)
_CHOOSE = Line("choose", "b := the one of the rim with least cost + h", 1)
_MOVE = Line("move", "move one step towards b", 1)
_LRTA = (
    Line("", "every tick, standing on s:", 0),
    _LOOK,
    _CHOOSE,
    Line("learn", "h(s) := that cost + h, if it is more", 1),
    Line("no_path", "if h(s) is more than any path can cost: no path", 1),
    _MOVE,
)
_BY_COST = Line("expand", "look at all cells up to a cost of gmax", 1)
_RIBS = (
    Line("", "every tick, standing on u:", 0),
    Line("expand", "learn g of u's neighbours that are not pruned", 1),
    Line("dead", "if u leads best to none of them: u is dead", 1),
    Line("redundant", "if all have other best parents: u is redundant", 1),
    Line("enter", "if u is not, and some have f <= T and were not", 1),
    Line("", "entered yet: move to the best of them", 2),
    Line("back", "else if u is not the start: back to its parent", 1),
    Line("no_path", "else if no f lies beyond T: there is no path", 1),
    Line("limit", "else T := the least f beyond T", 1),
)
_LOCAL_SEARCH = (
    Line("", "every tick, if no way is left, standing on s:", 0),
    Line("expand", "expand n cells by A* from s, with learned h", 1),
    Line("learn", "h of these := least cost + h of an open cell", 1),
    Line("no_path", "no cell open, or h(s) above any path: no path", 1),
    Line("choose", "b := the open cell with least f", 1),
    Line("path", "way := from s to b", 1),
    Line("", "every tick:", 0),
    Line("follow", "move to the next cell of the way", 1),
)
_ADAPTIVE = Line("learn", "h(t) of these := least f of an open cell - g(t)", 1)
_LEAST_LEARNED = Line("choose", "b := the goal if it is best, or least h - h0", 1)
_STALE = Line("without data", "while the map is another: d := 1", 1)
_LOOK_UP = Line("look up", "else d := what the database has for s", 1)
_BEYOND = Line("", "if h(s) is more than any path can cost:", 1)
_NO_PATH_TO_GOAL = Line("no_path", "y is the goal: there is no path", 2)
_LEARN = Line("learn", "h(s), toward y, := that, if it is more", 1)
_D_LRTA = (
    Line("", "every tick, standing on s, in a region:", 0),
    Line("without data", "while the map is another: y := the goal, d := 1", 1),
    Line("look up", "else y, d := subgoal and depth of the region", 1),
    Line("", "(where it has no subgoal: y := the goal)", 1),
    Line("again", "if s was visited before, or once no way led", 1),
    Line("reenter", "to a subgoal: y := goal, d := c", 2),
    _LOOK,
    _CHOOSE,
    _LEARN,
    _BEYOND,
    _NO_PATH_TO_GOAL,
    Line("drop", "else y := the goal from now on", 2),
    _MOVE,
)
_FOR_GOOD = Line("again", "once s was visited before, or no way led", 1)
_NEVER = Line("reenter", "once no way led to a subgoal: y := goal, d := c", 1)
_KNN_LRTA = (
    Line("", "every tick, standing on s, heading for y:", 0),
    Line("", "if, on a changed map, y is blocked or was not", 1),
    Line("lost", "reached in cap moves: drop the record", 2),
    Line("reached", "if s is y: y := the next cell of the record", 1),
    Line("select", "if none is left, or cap moves are over: choose", 1),
    Line("straight", "if greedy steps lead to the goal: y := goal", 2),
    Line("ask", "else try the M most similar records:", 2),
    Line("", "where greedy steps lead to its first, and", 3),
    Line("take", "from its last to the goal: y := its first", 3),
    Line("second", "(its second, if they lead even to that)", 3),
    Line("none fits", "if none fits: y := the goal, for cap moves", 2),
    Line("choosing", "(spread steps a tick; on to y meanwhile)", 2),
    Line("expand", "look at the neighbours of s", 1),
    Line("choose", "b := the one with least cost + h", 1),
    _LEARN,
    _BEYOND,
    _NO_PATH_TO_GOAL,
    Line("drop", "else drop the record", 2),
    Line("move", "move to b", 1),
)
_ASK_AT_ONCE = Line("ask", "try the M most similar records:", 2)
_PR_LRTA = (
    Line("", "every tick without a leg, on s in region r:", 0),
    Line("without data", "while the map is another: one step of LRTA*", 1),
    Line("no_path", "if no region has both s and the goal: no path", 1),
    Line("inside", "if r has the goal: leg := A* to it, inside r", 1),
    Line("look up", "else y, d := what the database has for s", 1),
    Line("reenter", "if a leg began on s before: y := goal's, d := c", 1),
    Line("expand", "look at all regions that d arcs lead to", 1),
    _CHOOSE,
    Line("learn", "h(r), toward y, := that, if it is more", 1),
    Line("refine", "leg := A* inside r and the next region to b", 1),
    Line("", "every tick:", 0),
    Line("follow", "move to the next cell of the leg", 1),
)


def lines_of(kind: str, params: Mapping[str, Value]) -> tuple[Line, ...]:
    """The algorithm as it is with these parameters; () for other agents."""
    return _BY_KIND[kind](params) if kind in _BY_KIND else ()


def _without(lines: tuple[Line, ...], *keys: str) -> tuple[Line, ...]:
    return tuple(line for line in lines if line.key not in keys)


def _with(lines: tuple[Line, ...], *others: Line) -> tuple[Line, ...]:
    """The same with these in the place of those of their keys."""
    by_key = {line.key: line for line in others}
    return tuple(by_key.get(line.key, line) for line in lines)


def _tba(params: Mapping[str, Value]) -> tuple[Line, ...]:
    lines = _with(_TBA, _LONGER) if params["switch"] == "longer" else _TBA
    place = lines.index(_WALK[0])
    return (*lines[:place], _SHORTCUT, *lines[place:]) if params["shortcut"] else lines


def _lrta(params: Mapping[str, Value]) -> tuple[Line, ...]:
    return _with(_LRTA, _BY_COST) if params["lookahead_by"] == "cost" else _LRTA


def _local_search(params: Mapping[str, Value], *others: Line) -> tuple[Line, ...]:
    lines = _with(_LOCAL_SEARCH, *others)
    return lines if params.get("moves") == "all" else _reworded(lines, "every tick, if no way is left,", "every tick,")


def _ribs(params: Mapping[str, Value]) -> tuple[Line, ...]:
    return _without(_RIBS, *(name for name in ("dead", "redundant") if not params[name]))


def _controls(params: Mapping[str, Value]) -> tuple[bool, bool]:
    """Whether subgoals, and whether depths, come from a database."""
    return params["goal_control"] == "database", params["depth_control"] == "database"


def _d_lrta(params: Mapping[str, Value]) -> tuple[Line, ...]:
    has_goals, has_depths = _controls(params)
    if not has_goals:
        return (_LRTA[0], *((_STALE, _LOOK_UP) if has_depths else ()), *_LRTA[1:])
    lines = _with(_D_LRTA, _FOR_GOOD) if params["reentrance"] == "for good" else _D_LRTA
    if params["reentrance"] == "never":
        lines = _with(_without(_D_LRTA, "again"), _NEVER)
    if has_depths:
        return lines
    return _reworded(_reworded(lines, "y, d := subgoal and depth", "y := the subgoal"), ", d := c", "")


def _knn_lrta(params: Mapping[str, Value]) -> tuple[Line, ...]:
    left_out = {"straight": not params["direct"], "second": not params["skip_first"], "choosing": not params["spread"]}
    lines = _without(_KNN_LRTA, *(key for key, is_out in left_out.items() if is_out))
    return lines if params["direct"] else _with(lines, _ASK_AT_ONCE)


def _pr_lrta(params: Mapping[str, Value]) -> tuple[Line, ...]:
    has_goals, has_depths = _controls(params)
    lines = _PR_LRTA if params["gamma"] == 1.0 else _reworded(_PR_LRTA, " with least cost", ": least gamma cost")
    if not has_goals:
        lines = _reworded(_reworded(_without(lines, "reenter"), ", toward y,", ""), "y, d", "d")
    if not has_depths:
        lines = _reworded(_reworded(lines, "y, d", "y"), ", d := c", "")
    if has_goals or has_depths:
        return lines
    return _reworded(_without(lines, "look up"), "look at all", "else look at all")


_BY_KIND: Mapping[str, Callable[[Mapping[str, Value]], tuple[Line, ...]]] = {
    "tb-wa": lambda _: _TB_WA,
    "tb-gbfs": lambda _: _TB_GBFS,
    "rtb-wa": lambda _: (*_CHANGES, *_TB_WA),
    "rtb-gbfs": lambda _: (*_CHANGES, *_TB_GBFS),
    "tba": _tba,
    "lrta": _lrta,
    "k-lrta": _local_search,
    "lss-lrta": _local_search,
    "rtaa": lambda params: _local_search(params, _ADAPTIVE),
    "da-rtaa": lambda params: _local_search(params, _ADAPTIVE, _LEAST_LEARNED),
    "ribs": _ribs,
    "d-lrta": _d_lrta,
    "knn-lrta": _knn_lrta,
    "pr-lrta": _pr_lrta,
}
KINDS = tuple(_BY_KIND)
"""The agents that have lines."""
