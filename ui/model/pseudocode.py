"""Lines of pseudocode that an agent executed in a tick, for slow motion. The pseudocode itself is in algorithms.py.

    read(view, before, shown)       Reading: all lines, the executed lines, and the current line; None for an agent
                                    without pseudocode. `shown`: number of expansions shown so far, None: all

The executed lines are derived from the row of the tick in the agent's log and from the state that the agent shows.
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
    """Pseudocode of an agent's algorithm, with the lines that the agent executed in a tick."""

    lines: tuple[Line, ...]
    at: int  # index in `lines` of the current line; -1: none
    done: frozenset[int]  # indices in `lines` of the lines executed in this tick so far


def read(view: WalkerView, before: int, shown: int | None = None, tick: int | None = None) -> Reading | None:
    """Return the pseudocode of an agent with the lines executed in a tick; None for an agent without pseudocode.

    Args:
        view: The agent after the tick.
        before: Cell on which the agent was when the tick began.
        shown: Number of expansions of the tick shown so far; None: all.
        tick: Tick of the world, at which an agent that has finished does nothing; None: the agent's last tick.
    """
    lines = lines_of(view.spec.key, view.params)
    if not lines:
        return None
    has_acted = view.rows.size and tick in (None, view.rows_tick + view.rows.size)
    keys = keys_of(view, before) if has_acted else []
    if shown is not None:
        keys = _reached_keys(view, keys, shown)
    places = {line.key: place for place, line in enumerate(lines) if line.key}
    found = [places[key] for key in keys if key in places]
    return Reading(lines, found[-1] if found else -1, frozenset(found))


def keys_of(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in the last tick, in order; the last key is that of the current line."""
    row = view.rows[-1]
    if int(row.marks) & log.TRIAL:
        return []  # the agent did nothing: it was put back to its start for the next trial
    restarted = ["restart"] if int(row.marks) & log.RESTARTED else []
    return [*restarted, *_BY_KIND[view.spec.key](view, before)]


def _reached_keys(view: WalkerView, keys: list[str], shown: int) -> list[str]:
    """Return the keys of the lines that the tick has reached when `shown` of its expansions are shown."""
    seen = 0
    for key, expansions in _expanding_lines(view, keys):
        seen += expansions
        if shown < seen:
            return keys[: keys.index(key) + 1]
    return keys


def _expanding_lines(view: WalkerView, keys: list[str]) -> list[tuple[str, int]]:
    """Return the executed lines that expand cells, as pairs (key of the line, number of its expansions)."""
    expanded = int(view.rows[-1].expanded) if view.rows.size else 0
    if view.spec.key in _TWO_EXPANDING_LINES and all(key in keys for key in _TWO_EXPANDING_LINES[view.spec.key][:2]):
        first, second, share = _TWO_EXPANDING_LINES[view.spec.key]
        return [(first, share(view)), (second, expanded - share(view))]
    return [(key, expanded) for key in keys if key in ("expand", "cells", "inside", "without data")][-1:]


_TWO_EXPANDING_LINES: dict[str, tuple[str, str, Callable[[WalkerView], int]]] = {
    "p-lrta": ("expand", "spread", lambda _: 1),
    "dt-lrta": ("probe", "expand", lambda view: int(view.agent.numbers["of these for this move"])),
    "pra": ("expand", "cells", lambda view: int(view.agent.numbers["among regions in this tick"])),
    "pr-lrta": ("expand", "refine", lambda view: int(view.agent.numbers["of these for this leg"])),
}
"""By agent that may expand cells at two lines in a tick: the keys of both lines, the expansions at the first."""


def _expanded(view: WalkerView) -> list[str]:
    """Return the key of the line that expands cells if the agent has expanded any in this tick, else an empty list."""
    return ["expand"] if int(view.rows[-1].expanded) else []


def _lrta(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of LRTA*.

    A tick with expansions but without a move has proved that there is no path to the goal or to the subgoal. In such a
    tick the agent may have seen no cell to choose.
    """
    if not int(view.rows[-1].expanded):
        return ["no_path"] if view.status is Status.NO_PATH else []
    how = "move" if view.position != before else "no_path" if view.status is Status.NO_PATH else "drop"
    return ["expand", *(["choose", "learn"] if view.agent.best >= 0 else []), how]


def _p_lrta(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of P LRTA*, which updates its own cell and then queued cells."""
    updates = int(view.rows[-1].expanded)
    if not updates:
        return ["no_path"] if view.status is Status.NO_PATH else []
    done = ["expand", "learn", *(["spread"] if updates > 1 else [])]
    return [*done, "no_path"] if view.status is Status.NO_PATH else [*done, "choose", "move"]


def _depth_lrta_lines(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed by an LRTA* that chooses its lookahead depth in each tick.

    Only DT LRTA* expands cells for that choice.
    """
    asked = ["probe", "ask"] if view.spec.key == "dt-lrta" else ["ask"]
    return [*(asked if _expanded(view) else []), *_lrta(view, before)]


def _noted(view: WalkerView, *keys: str) -> list[str]:
    """Return those of the given line keys that the agent has noted as events of this tick."""
    return [key for key in keys if key in view.agent.notes]


def _d_lrta(view: WalkerView, before: int) -> list[str]:
    controlled = _noted(view, "without data", "look up", "reenter") if _expanded(view) else []
    return [*controlled, *_lrta(view, before)]


def _reentered(view: WalkerView) -> list[str]:
    """Return the key of the line for a re-entry if the tick is marked as one, else an empty list."""
    return ["reenter"] if int(view.rows[-1].marks) & log.REENTERED else []


def _knn_lrta(view: WalkerView, before: int) -> list[str]:
    events = "lost", "reached", "select", "straight", "ask", "take", "none fits", "choosing"
    return [*(_noted(view, *events) if _expanded(view) else []), *_lrta(view, before)]


def _pr_lrta(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of PR LRTA*.

    A tick that expands cells plans a leg and makes its first move. Without regions the agent moves by LRTA*.
    """
    row = view.rows[-1]
    ended = ["no_path"] if view.status is Status.NO_PATH else []
    if not int(row.expanded):
        return ended or _walk(view, before)
    if ended or int(row.phase) == log.LEARNING:
        return ["without data", *ended]
    return [*_leg_planning_lines(view), "follow"]


def _leg_planning_lines(view: WalkerView) -> list[str]:
    if not view.agent.numbers["of these for this leg"]:
        return ["inside"]
    return ["look up", *_reentered(view), "expand", "choose", "learn", "refine"]


def _local_search(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of a local search, which learns unless no open cell is left."""
    is_over, search = view.status is Status.NO_PATH, view.agent.search
    if not int(view.rows[-1].expanded):
        return ["no_path"] if is_over else _walk(view, before)
    if is_over:
        is_empty = search is not None and int(search.control[0].status) == EMPTY
        return ["expand", *([] if is_empty else ["learn"]), "no_path"]
    return ["expand", "learn", "choose", "path", "follow"]


def _ribs(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of RIBS.

    After an expansion that does not raise the limit, the agent moves. Therefore all expansions of a tick but the last
    have raised the limit.
    """
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
    found = ["found"] if made and view.agent.best == view.goal else []  # `made` is empty in later ticks
    return [*_expanded(view), *found, *made, *_walk(view, before)]


def _tba(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of TBA*.

    The agent notes those events that the row of its log does not show, such as the end of a trace.
    """
    if view.status is Status.NO_PATH:
        return [*_expanded(view), "no_path"]
    noted = _noted(view, "found", "trace", "path", "shortcut")
    bounced = ["bounce"] if int(view.rows[-1].marks) & log.BOUNCED else []
    return [*_expanded(view), *noted, *(bounced or _walk(view, before))]


def _waiting(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of an agent that waits until it has a path.

    The agent follows the parents in the tick that finds the goal. Delayed A* follows them over several ticks and moves
    to and fro until it has a path. In a tick without a move, the current line is the one that the search reached.
    """
    row, agent = view.rows[-1], view.agent
    if view.status is Status.NO_PATH:
        return [*_expanded(view), "no_path"]
    found = ["found"] if int(row.expanded) and (agent.path.size or agent.tracing.size) else []
    traced = ["trace"] if int(row.traced) else []
    made = ["path"] if traced and agent.path.size else []
    moved = [] if view.position == before else ["follow" if agent.path.size else "bounce"]
    return [*_expanded(view), *found, *traced, *made, *moved]


def _lines_with_end(view: WalkerView, done: list[str], walked: list[str]) -> list[str]:
    """Return the keys `done` and the key of the line that ended the tick: no path, a move, or a further expansion."""
    if view.status is Status.NO_PATH:
        return [*done, "no_path"]
    return [*done, *(walked or _expanded(view))]


def _ida(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of IDA*.

    The agent notes whether the limit has risen, whether the search has backtracked, and whether the tick ended with
    that instead of an expansion.
    """
    done = [*_expanded(view), *_noted(view, "limit", "back")]
    if view.status is Status.GAVE_UP:
        return [*done, "give up"]
    if view.agent.path.size:
        return [*done, *(["found"] if done else []), *_walk(view, before)]
    return _lines_with_end(view, done, ["back"] if "ended back" in view.agent.notes else [])


def _dstar_lite(view: WalkerView, before: int) -> list[str]:
    done = [*_noted(view, "change"), *_expanded(view), *_noted(view, "lower", "raise", "settled")]
    return _lines_with_end(view, done, _walk(view, before))


def _pra(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of PRA*, which plans first among regions, then among cells.

    A plan can begin and end in one tick.
    """
    among = int(view.agent.numbers["among regions in this tick"])
    on_map = ["cells"] if int(view.rows[-1].expanded) > among else []
    on_regions = ["expand"] if among else []
    done = [*_noted(view, "rebuild", "without data", "begin"), *on_regions, *_noted(view, "refine")]
    if view.status is Status.NO_PATH:
        return [*done, *on_map, "no_path"]
    last = on_regions if "ended among" in view.agent.notes else []
    return [*done, *last, *on_map, *_noted(view, "path"), *_walk(view, before)]


def _walk(view: WalkerView, before: int) -> list[str]:
    """Return the key of the line that moved the agent, "back" or "follow"; an empty list if it did not move."""
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
    "dt-lrta": _depth_lrta_lines,
    "oracle-lrta": _depth_lrta_lines,
    "knn-lrta": _knn_lrta,
    "pra": _pra,
    "pr-lrta": _pr_lrta,
}
READ_KINDS = tuple(_BY_KIND)
"""Kinds of agents for which `read` finds the executed lines."""
