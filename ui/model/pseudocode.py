"""Algorithms in our own words, and which line of them a tick has come to, for slow motion.

    read(view, before, shown)       Reading: the lines, those that were carried out, and the one at hand; None where
                                    there are none for this agent. `shown`: expansions that are seen, None: all

The line follows from what the agent reports of its tick (its row) and from what it shows of its mind.
"""

from dataclasses import dataclass

from sim.agent_api import Status
from sim.kernels import log
from sim.world import WalkerView


@dataclass(frozen=True)
class Line:
    key: str  # what it does, "": nothing of its own
    text: str
    depth: int = 0  # how far it is set in


@dataclass(frozen=True)
class Reading:
    lines: tuple[Line, ...]
    at: int  # the line at hand, -1: none
    done: frozenset[int]  # lines carried out in this tick so far


_WALK = (
    Line("", "if the agent stands on the path, before its end", 1),
    Line("follow", "move to the next cell of the path", 2),
)
_SEARCH = (
    Line("", "every tick, k times:", 0),
    Line("expand", "expand the open cell with least g + w h", 1),
    Line("found", "if that is the goal: the search is done", 1),
    Line("", "then:", 0),
    Line("path", "path := from the root to the best open cell", 1),
    *_WALK,
    Line("back", "else move back to the parent of its cell", 1),
)
_TB_WA = (*_SEARCH, Line("no_path", "if no cell is open: there is no path", 1))
_RTB_WA = (
    Line("", "when the map changes:", 0),
    Line("", "eager: begin anew. lazy: only if the way ahead is cut,", 1),
    Line("", "or a shorter one may have opened", 1),
    Line("restart", "begin the search anew at the agent", 1),
    *_TB_WA,
)
_TBA = (
    Line("", "every tick, with R to spend:", 0),
    Line("expand", "expand best open cells, for r of R", 1),
    Line("found", "if the best is the goal: the search is done", 1),
    Line("trace", "go on following parents back from the", 1),
    Line("", "best open cell, c steps for an expansion", 1),
    Line("path", "at the root or the agent: that is the new path", 1),
    *_WALK,
    Line("back", "else if it is not at the root: to the parent", 1),
    Line("bounce", "else: back to where it came from", 1),
    Line("no_path", "if no cell is open: there is no path", 1),
)
_LRTA = (
    Line("", "every tick, standing on s:", 0),
    Line("expand", "look at all cells that d moves lead to", 1),
    Line("choose", "b := the one of the rim with least cost + h", 1),
    Line("learn", "h(s) := that cost + h, if it is more", 1),
    Line("move", "move one step towards b", 1),
    Line("no_path", "if h(s) is more than any path can cost: no path", 1),
)
_RIBS = (
    Line("", "every tick, standing on u:", 0),
    Line("expand", "learn g of the neighbours of u", 1),
    Line("dead", "if u leads best to none of them: u is dead", 1),
    Line("redundant", "if all have other best parents: u is redundant", 1),
    Line("enter", "if some have f <= T and were not entered: move to", 1),
    Line("", "the best of them", 2),
    Line("back", "else if u is not the start: back to its parent", 1),
    Line("limit", "else T := the least f beyond T", 1),
    Line("no_path", "if there is none: there is no path", 1),
)
LINES = {
    "tb-wa": _TB_WA,
    "tb-gbfs": _TB_WA,
    "rtb-wa": _RTB_WA,
    "rtb-gbfs": _RTB_WA,
    "tba": _TBA,
    "lrta": _LRTA,
    "ribs": _RIBS,
}


def read(view: WalkerView, before: int, shown: int | None = None) -> Reading | None:
    """`before`: the cell on which the agent stood when the tick began."""
    lines = LINES.get(view.spec.key)
    if lines is None:
        return None
    keys = keys_of(view, before) if view.rows.size else []
    if shown is not None and view.rows.size and shown < int(view.rows[-1].expanded):
        keys = [key for key in keys if key == "restart"] + ["expand"]
    places = {line.key: place for place, line in enumerate(lines) if line.key}
    found = [places[key] for key in keys if key in places]
    return Reading(lines, found[-1] if found else -1, frozenset(found))


def keys_of(view: WalkerView, before: int) -> list[str]:
    """What the last tick did, in its order; the last of them is how it ended."""
    row = view.rows[-1]
    done = ["restart"] if int(row.marks) & log.RESTARTED else []
    done += ["expand"] if int(row.expanded) else []
    if view.status is Status.NO_PATH:
        return [*done, "no_path"]
    how = {"ribs": _ribs, "lrta": _lrta, "tba": _tba}.get(view.spec.key, _time_bounded)
    return [*done, *how(view, before)]


def _lrta(view: WalkerView, before: int) -> list[str]:
    return ["choose", "learn", "move"] if view.position != before else []


def _ribs(view: WalkerView, before: int) -> list[str]:
    if view.position == before:
        return ["limit"]
    groups = view.agent.groups
    if not int(view.rows[-1].marks) & log.BACK_MOVE:
        return ["enter"]
    if before in groups["redundant"]:
        return ["redundant"]
    return ["dead", "back"] if before in groups["dead"] else ["back"]


def _time_bounded(view: WalkerView, before: int) -> list[str]:
    made = ["path"] if int(view.rows[-1].expanded) else []
    return [*_found(view), *made, *_walk(view, before)]


def _tba(view: WalkerView, before: int) -> list[str]:
    traced = ["trace"] if int(view.rows[-1].traced) else []
    made = ["path"] if traced and not view.agent.tracing.size else []
    bounced = ["bounce"] if int(view.rows[-1].marks) & log.BOUNCED else []
    return [*_found(view), *traced, *made, *(bounced or _walk(view, before))]


def _found(view: WalkerView) -> list[str]:
    """The tick in which the goal came on top of the open list, and no later one, which expands nothing."""
    return ["found"] if view.agent.best == view.goal and int(view.rows[-1].expanded) else []


def _walk(view: WalkerView, before: int) -> list[str]:
    if view.position == before:
        return []
    return ["back"] if int(view.rows[-1].marks) & log.BACK_MOVE else ["follow"]
