"""Algorithms in our own words, and which line of them a tick has come to, for slow motion.

    read(view, before, shown)       Reading: the lines, those that were carried out, and the one at hand; None where
                                    there are none for this agent. `shown`: expansions that are seen, None: all

The line follows from what the agent reports of its tick (its row) and from what it shows of its mind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sim.agent_api import Status
from sim.kernels import log
from sim.params import Value
from sim.walker import WalkerView


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
_TB_GBFS = tuple(replace(line, text=line.text.replace("g + w h", "h")) for line in _TB_WA)
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
_LRTA = (
    Line("", "every tick, standing on s:", 0),
    Line("expand", "look at all cells that d moves lead to", 1),
    Line("choose", "b := the one of the rim with least cost + h", 1),
    Line("learn", "h(s) := that cost + h, if it is more", 1),
    Line("no_path", "if h(s) is more than any path can cost: no path", 1),
    Line("move", "move one step towards b", 1),
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
KINDS = ("tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs", "tba", "lrta", "ribs")
"""The agents that have lines."""


def lines_of(kind: str, params: Mapping[str, Value]) -> tuple[Line, ...]:
    """The algorithm as it is with these parameters; () for other agents."""
    if kind in ("tb-wa", "rtb-wa", "tb-gbfs", "rtb-gbfs"):
        return (*_CHANGES[: 4 if kind.startswith("r") else 0], *(_TB_WA if kind.endswith("wa") else _TB_GBFS))
    if kind == "tba":
        return _tba_lines(params["switch"] == "longer", bool(params["shortcut"]))
    if kind == "lrta":
        return tuple(_BY_COST if line.key == "expand" and params["lookahead_by"] == "cost" else line for line in _LRTA)
    if kind == "ribs":
        return tuple(line for line in _RIBS if params.get(line.key, True))
    return ()


def _tba_lines(keeps_longer: bool, seeks_shortcut: bool) -> tuple[Line, ...]:
    lines = [_LONGER if line.key == "path" and keeps_longer else line for line in _TBA]
    if seeks_shortcut:
        lines.insert(lines.index(_WALK[0]), _SHORTCUT)
    return tuple(lines)


def read(view: WalkerView, before: int, shown: int | None = None) -> Reading | None:
    """`before`: the cell on which the agent stood when the tick began."""
    lines = lines_of(view.spec.key, view.params)
    if not lines:
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
    how = {"ribs": _ribs, "lrta": _lrta, "tba": _tba}.get(view.spec.key, _time_bounded)
    return [*done, *how(view, before)]


def _lrta(view: WalkerView, before: int) -> list[str]:
    if view.status is Status.NO_PATH:
        return ["choose", "learn", "no_path"] if int(view.rows[-1].expanded) else ["no_path"]
    return ["choose", "learn", "move"] if view.position != before else []


def _ribs(view: WalkerView, before: int) -> list[str]:
    """All expansions of a tick but the last raised the limit: after any other, the agent moves."""
    row, groups = view.rows[-1], view.agent.groups
    raised = ["limit"] if int(row.expanded) > 1 else []
    if view.status is Status.NO_PATH:
        return [*raised, "no_path"]
    if view.position == before:
        return ["limit"]
    if not int(row.marks) & log.BACK_MOVE:
        return [*raised, "enter"]
    pruned = [name for name in ("dead", "redundant") if before in groups[name]]
    return [*raised, *pruned, "back"]


def _time_bounded(view: WalkerView, before: int) -> list[str]:
    if view.status is Status.NO_PATH:
        return ["no_path"]
    made = ["path"] if int(view.rows[-1].expanded) else []
    found = ["found"] if made and view.agent.best == view.goal else []  # no later tick expands anything
    return [*found, *made, *_walk(view, before)]


def _tba(view: WalkerView, before: int) -> list[str]:
    """What its row cannot tell, such as whether a trace came to its end, the agent notes itself."""
    if view.status is Status.NO_PATH:
        return ["no_path"]
    noted = [key for key in ("found", "trace", "path", "shortcut") if key in view.agent.notes]
    bounced = ["bounce"] if int(view.rows[-1].marks) & log.BOUNCED else []
    return [*noted, *(bounced or _walk(view, before))]


def _walk(view: WalkerView, before: int) -> list[str]:
    if view.position == before:
        return []
    return ["back"] if int(view.rows[-1].marks) & log.BACK_MOVE else ["follow"]
