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
    return [*restarted, *_BY_KIND.get(view.spec.key, _time_bounded)(view, before)]


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
    if view.spec.key == "pr-lrta" and "refine" in keys:
        among = int(view.agent.numbers["of these for this leg"])
        return [("expand", among), ("refine", expanded - among)]
    return [(key, expanded) for key in keys if key in ("expand", "inside", "without data")][-1:]


def _expanded(view: WalkerView) -> list[str]:
    return ["expand"] if int(view.rows[-1].expanded) else []


def _lrta(view: WalkerView, before: int) -> list[str]:
    """A tick that expands and does not move has proved that there is no path, or to its subgoal none."""
    if not int(view.rows[-1].expanded):
        return ["no_path"] if view.status is Status.NO_PATH else []
    how = "move" if view.position != before else "no_path" if view.status is Status.NO_PATH else "drop"
    return ["expand", "choose", "learn", how]


def _noted(view: WalkerView, *keys: str) -> list[str]:
    """Of these, which are lines as well as notes, those that the agent has noted."""
    return [key for key in keys if key in view.agent.notes]


def _d_lrta(view: WalkerView, before: int) -> list[str]:
    controlled = [*_noted(view, "without data", "look up"), *_reentered(view)] if _expanded(view) else []
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


def _walk(view: WalkerView, before: int) -> list[str]:
    if view.position == before:
        return []
    return ["back"] if int(view.rows[-1].marks) & log.BACK_MOVE else ["follow"]


_BY_KIND: dict[str, Callable[[WalkerView, int], list[str]]] = {
    "astar": _waiting,
    "wastar": _waiting,
    "gbfs": _waiting,
    "delayed-astar": _waiting,
    "tba": _tba,
    "lrta": _lrta,
    "k-lrta": _local_search,
    "lss-lrta": _local_search,
    "rtaa": _local_search,
    "da-rtaa": _local_search,
    "ribs": _ribs,
    "d-lrta": _d_lrta,
    "knn-lrta": _knn_lrta,
    "pr-lrta": _pr_lrta,
}
