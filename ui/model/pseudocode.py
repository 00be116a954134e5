"""Which line of its algorithm a tick has come to, for slow motion. The lines are in algorithms.py.

    read(view, before, shown)       Reading: the lines, those that were carried out, and the one at hand; None where
                                    there are none for this agent. `shown`: expansions that are seen, None: all

The line follows from what the agent reports of its tick (its row) and from what it shows of its mind.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sim.agent_api import Status
from sim.kernels import log
from sim.kernels.search import EMPTY
from sim.walker import WalkerView
from ui.model.algorithms import Line, lines_of


@dataclass(frozen=True)
class Reading:
    lines: tuple[Line, ...]
    at: int  # the line at hand, -1: none
    done: frozenset[int]  # lines carried out in this tick so far


def read(view: WalkerView, before: int, shown: int | None = None, tick: int | None = None) -> Reading | None:
    """`before`: the cell on which the agent stood when the tick began. `tick`: that of the world, in which an agent at
    its end does nothing any more; None: the agent's last.
    """
    lines = lines_of(view.spec.key, view.params)
    if not lines:
        return None
    has_acted = view.rows.size and tick in (None, view.rows_tick + view.rows.size)
    keys = keys_of(view, before) if has_acted else []
    if shown is not None:
        keys = _so_far(view, keys, shown)
    places = {line.key: place for place, line in enumerate(lines) if line.key}
    found = [places[key] for key in keys if key in places]
    return Reading(lines, found[-1] if found else -1, frozenset(found))


def keys_of(view: WalkerView, before: int) -> list[str]:
    """What the last tick did, in its order; the last of them is how it ended."""
    row = view.rows[-1]
    if int(row.marks) & log.TRIAL:
        return []  # put back on its start, it has done nothing itself
    restarted = ["restart"] if int(row.marks) & log.RESTARTED else []
    return [*restarted, *_BY_KIND[view.spec.key](view, before)]


def _so_far(view: WalkerView, keys: list[str], shown: int) -> list[str]:
    """Those that the tick has come to after so many expansions."""
    seen = 0
    for key, expansions in _expanding(view, keys):
        seen += expansions
        if shown < seen:
            return keys[: keys.index(key) + 1]
    return keys


def _expanding(view: WalkerView, keys: list[str]) -> list[tuple[str, int]]:
    """The lines that expand something, and how much."""
    expanded = int(view.rows[-1].expanded) if view.rows.size else 0
    if view.spec.key in _IN_TWO and all(key in keys for key in _IN_TWO[view.spec.key][:2]):
        first, second, share = _IN_TWO[view.spec.key]
        return [(first, share(view)), (second, expanded - share(view))]
    return [(key, expanded) for key in keys if key in ("expand", "cells", "inside", "without data")][-1:]


_IN_TWO: dict[str, tuple[str, str, Callable[[WalkerView], int]]] = {
    "p-lrta": ("expand", "spread", lambda _: 1),
    "dt-lrta": ("probe", "expand", lambda view: int(view.agent.numbers["of these for this move"])),
    "pra": ("expand", "cells", lambda view: int(view.agent.numbers["among regions in this tick"])),
    "pr-lrta": ("expand", "refine", lambda view: int(view.agent.numbers["of these for this leg"])),
}
"""Agents that may expand at two lines in a tick: both, and how much at the first."""


def _expanded(view: WalkerView) -> list[str]:
    return ["expand"] if int(view.rows[-1].expanded) else []


def _lrta(view: WalkerView, before: int) -> list[str]:
    """A tick that expands and does not move has proved that there is no path, or to its subgoal none; it may have seen
    no cell to choose.
    """
    if not int(view.rows[-1].expanded):
        return ["no_path"] if view.status is Status.NO_PATH else []
    how = "move" if view.position != before else "no_path" if view.status is Status.NO_PATH else "drop"
    return ["expand", *(["choose", "learn"] if view.agent.best >= 0 else []), how]


def _p_lrta(view: WalkerView, before: int) -> list[str]:
    """The first update is that of its own cell, all others are of cells that were queued."""
    updates = int(view.rows[-1].expanded)
    if not updates:
        return ["no_path"] if view.status is Status.NO_PATH else []
    done = ["expand", "learn", *(["spread"] if updates > 1 else [])]
    return [*done, "no_path"] if view.status is Status.NO_PATH else [*done, "choose", "move"]


def _choosing_depth(view: WalkerView, before: int) -> list[str]:
    """LRTA* that finds out first how deep to look; only the tree looks around for that, at a price."""
    asked = ["probe", "ask"] if view.spec.key == "dt-lrta" else ["ask"]
    return [*(asked if _expanded(view) else []), *_lrta(view, before)]


def _noted(view: WalkerView, *keys: str) -> list[str]:
    """Of these, which are lines as well as notes, those that the agent has noted."""
    return [key for key in keys if key in view.agent.notes]


def _d_lrta(view: WalkerView, before: int) -> list[str]:
    controlled = _noted(view, "without data", "look up", "reenter") if _expanded(view) else []
    return [*controlled, *_lrta(view, before)]


def _reentered(view: WalkerView) -> list[str]:
    return ["reenter"] if int(view.rows[-1].marks) & log.REENTERED else []


def _knn_lrta(view: WalkerView, before: int) -> list[str]:
    events = "lost", "reached", "select", "straight", "ask", "take", "none fits", "choosing"
    return [*(_noted(view, *events) if _expanded(view) else []), *_lrta(view, before)]


def _pr_lrta(view: WalkerView, before: int) -> list[str]:
    """A leg is planned, and its first move done, in the tick that expands; without regions it goes by LRTA*."""
    row = view.rows[-1]
    ended = ["no_path"] if view.status is Status.NO_PATH else []
    if not int(row.expanded):
        return ended or _walk(view, before)
    if ended or int(row.phase) == log.LEARNING:
        return ["without data", *ended]
    return [*_planned_leg(view), "follow"]


def _planned_leg(view: WalkerView) -> list[str]:
    if not view.agent.numbers["of these for this leg"]:
        return ["inside"]
    return ["look up", *_reentered(view), "expand", "choose", "learn", "refine"]


def _local_search(view: WalkerView, before: int) -> list[str]:
    """It learns from the open cells; where there is none left, there is nothing to learn from."""
    is_over, search = view.status is Status.NO_PATH, view.agent.search
    if not int(view.rows[-1].expanded):
        return ["no_path"] if is_over else _walk(view, before)
    if is_over:
        is_empty = search is not None and int(search.control[0].status) == EMPTY
        return ["expand", *([] if is_empty else ["learn"]), "no_path"]
    return ["expand", "learn", "choose", "path", "follow"]


def _ribs(view: WalkerView, before: int) -> list[str]:
    """All expansions of a tick but the last raised the limit: after any other, the agent moves."""
    row, groups = view.rows[-1], view.agent.groups
    raised = ["limit"] if int(row.expanded) > 1 else []
    done = [*_expanded(view), *raised]
    if view.status is Status.NO_PATH:
        return [*done, "no_path"]
    if view.position == before:
        return [*_expanded(view), "limit"]
    if not int(row.marks) & log.BACK_MOVE:
        return [*done, "enter"]
    pruned = [name for name in ("dead", "redundant") if before in groups[name]]
    return [*done, *pruned, "back"]


def _time_bounded(view: WalkerView, before: int) -> list[str]:
    if view.status in (Status.NO_PATH, Status.GAVE_UP):
        return [*_expanded(view), "no_path"]
    made = ["path"] if int(view.rows[-1].expanded) else []
    found = ["found"] if made and view.agent.best == view.goal else []  # no later tick expands anything
    return [*_expanded(view), *found, *made, *_walk(view, before)]


def _tba(view: WalkerView, before: int) -> list[str]:
    """What its row cannot tell, such as whether a trace came to its end, the agent notes itself."""
    if view.status is Status.NO_PATH:
        return [*_expanded(view), "no_path"]
    noted = _noted(view, "found", "trace", "path", "shortcut")
    bounced = ["bounce"] if int(view.rows[-1].marks) & log.BOUNCED else []
    return [*_expanded(view), *noted, *(bounced or _walk(view, before))]


def _waiting(view: WalkerView, before: int) -> list[str]:
    """It moves once it has a path, and then only along it; Delayed A* to and fro until then.

    Parents are followed in the tick that finds the goal, by Delayed A* in as many as they take. To wait is to do
    nothing: at hand is what the search came to.
    """
    row, agent = view.rows[-1], view.agent
    if view.status is Status.NO_PATH:
        return [*_expanded(view), "no_path"]
    found = ["found"] if int(row.expanded) and (agent.path.size or agent.tracing.size) else []
    traced = ["trace"] if int(row.traced) else []
    made = ["path"] if traced and agent.path.size else []
    moved = [] if view.position == before else ["follow" if agent.path.size else "bounce"]
    return [*_expanded(view), *found, *traced, *made, *moved]


def _ended(view: WalkerView, done: list[str], walked: list[str]) -> list[str]:
    """What was done, and how the tick ended: without a path, by a move, or at what there is to do on."""
    if view.status is Status.NO_PATH:
        return [*done, "no_path"]
    return [*done, *(walked or _expanded(view))]


def _ida(view: WalkerView, before: int) -> list[str]:
    """Its limit rises, and it goes back, between expansions: before the last one, unless it says otherwise."""
    done = [*_expanded(view), *_noted(view, "limit", "back")]
    if view.status is Status.GAVE_UP:
        return [*done, "give up"]
    if view.agent.path.size:
        return [*done, *(["found"] if done else []), *_walk(view, before)]
    return _ended(view, done, ["back"] if "ended back" in view.agent.notes else [])


def _dstar_lite(view: WalkerView, before: int) -> list[str]:
    done = [*_noted(view, "change"), *_expanded(view), *_noted(view, "lower", "raise", "settled")]
    return _ended(view, done, _walk(view, before))


def _pra(view: WalkerView, before: int) -> list[str]:
    """First among regions, then among cells; plans can begin and end in one tick."""
    among = int(view.agent.numbers["among regions in this tick"])
    on_map = ["cells"] if int(view.rows[-1].expanded) > among else []
    on_regions = ["expand"] if among else []
    done = [*_noted(view, "rebuild", "without data", "begin"), *on_regions, *_noted(view, "refine")]
    if view.status is Status.NO_PATH:
        return [*done, *on_map, "no_path"]
    last = on_regions if "ended among" in view.agent.notes else []
    return [*done, *last, *on_map, *_noted(view, "path"), *_walk(view, before)]


def _walk(view: WalkerView, before: int) -> list[str]:
    if view.position == before:
        return []
    return ["back"] if int(view.rows[-1].marks) & log.BACK_MOVE else ["follow"]


_BY_KIND: dict[str, Callable[[WalkerView, int], list[str]]] = {
    "astar": _waiting,
    "wastar": _waiting,
    "gbfs": _waiting,
    "ida": _ida,
    "delayed-astar": _waiting,
    "tba": _tba,
    **dict.fromkeys(("tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs"), _time_bounded),
    "lrta": _lrta,
    "p-lrta": _p_lrta,
    "k-lrta": _local_search,
    "lss-lrta": _local_search,
    "rtaa": _local_search,
    "da-rtaa": _local_search,
    "ribs": _ribs,
    "dstar-lite": _dstar_lite,
    "d-lrta": _d_lrta,
    "dt-lrta": _choosing_depth,
    "oracle-lrta": _choosing_depth,
    "knn-lrta": _knn_lrta,
    "pra": _pra,
    "pr-lrta": _pr_lrta,
}
READ_KINDS = tuple(_BY_KIND)
"""The agents whose ticks can be read."""
