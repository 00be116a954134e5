"""Lines of pseudocode that an agent executed in a tick, for slow motion. The pseudocode itself is in algorithms.py.

    executed_pseudocode(view, before, shown)    ExecutedPseudocode: all lines, the executed lines and the current line;
                                                None for an agent without pseudocode

`shown` is the number of expansions shown so far; None stands for all.

The executed lines are derived from the row of the tick in the agent's log and from the state that the agent shows.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sim.agent_api import Status
from sim.kernels import log
from sim.kernels.search import OPEN_LIST_EMPTY
from sim.world_view import WalkerView
from ui.model.pseudocode_lines import PseudocodeLine, pseudocode_lines_of


@dataclass(frozen=True)
class ExecutedPseudocode:
    """Pseudocode of an agent's algorithm, with the lines that the agent executed in a tick."""

    lines: tuple[PseudocodeLine, ...]
    current_line_index: int  # index in `lines` of the current line; -1: none
    done: frozenset[int]  # indices in `lines` of the lines executed in this tick so far


def executed_pseudocode(
    view: WalkerView, before: int, shown_expansions: int | None = None, tick: int | None = None
) -> ExecutedPseudocode | None:
    """Return the pseudocode of an agent with the lines executed in a tick; None for an agent without pseudocode.

    Args:
        view: The agent after the tick.
        before: Cell on which the agent was when the tick began.
        shown_expansions: Number of expansions of the tick shown so far; None: all.
        tick: Tick of the world, at which an agent that has finished does nothing; None: the agent's last tick.
    """
    lines = pseudocode_lines_of(view.spec.key, view.params)
    if not lines:
        return None
    has_acted = view.log_rows.size and tick in (None, view.first_row_tick + view.log_rows.size)
    keys = executed_line_keys(view, before) if has_acted else []
    if shown_expansions is not None:
        keys = _reached_line_keys(view, keys, shown_expansions)
    index_by_key = {line.key: index for index, line in enumerate(lines) if line.key}
    executed = [index_by_key[key] for key in keys if key in index_by_key]
    return ExecutedPseudocode(lines, executed[-1] if executed else -1, frozenset(executed))


def executed_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in the last tick, in order; the last key is that of the current line."""
    row = view.log_rows[-1]
    if int(row.marks) & log.TRIAL_BEGAN:
        return []  # the agent did nothing: it was put back to its start for the next trial
    restarted = ["restart"] if int(row.marks) & log.RESTARTED else []
    return [*restarted, *_KEYS_BY_KIND[view.spec.key](view, before)]


def _reached_line_keys(view: WalkerView, keys: list[str], shown_expansions: int) -> list[str]:
    """Return the keys of the lines that the tick has reached when `shown_expansions` of its expansions are shown."""
    expansion_count = 0
    for key, expansions in _expansions_by_line(view, keys):
        expansion_count += expansions
        if shown_expansions < expansion_count:
            return keys[: keys.index(key) + 1]
    return keys


def _expansions_by_line(view: WalkerView, keys: list[str]) -> list[tuple[str, int]]:
    """Return the executed lines that expand cells, as pairs (key of the line, number of its expansions)."""
    expanded = int(view.log_rows[-1].expanded) if view.log_rows.size else 0
    if view.spec.key in _AGENTS_WITH_TWO_EXPANDING_LINES and all(
        key in keys for key in _AGENTS_WITH_TWO_EXPANDING_LINES[view.spec.key][:2]
    ):
        first, second, share = _AGENTS_WITH_TWO_EXPANDING_LINES[view.spec.key]
        return [(first, share(view)), (second, expanded - share(view))]
    return [(key, expanded) for key in keys if key in ("expand", "cells", "inside", "without data")][-1:]


_AGENTS_WITH_TWO_EXPANDING_LINES: dict[str, tuple[str, str, Callable[[WalkerView], int]]] = {
    "p-lrta": ("expand", "spread", lambda _: 1),
    "dt-lrta": ("probe", "expand", lambda view: int(view.agent.numbers["of these for this move"])),
    "pra": ("expand", "cells", lambda view: int(view.agent.numbers["among regions in this tick"])),
    "pr-lrta": ("expand", "refine", lambda view: int(view.agent.numbers["of these for this leg"])),
}
"""By agent that may expand cells at two lines in a tick: the keys of both lines, the expansions at the first."""


def _expansion_line_keys(view: WalkerView) -> list[str]:
    """Return the key of the line that expands cells if the agent has expanded any in this tick, else an empty list."""
    return ["expand"] if int(view.log_rows[-1].expanded) else []


def _lrta_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of LRTA*.

    A tick with expansions but without a move has proved that there is no path to the goal or to the subgoal. In such a
    tick the agent may have seen no cell to choose.
    """
    if not int(view.log_rows[-1].expanded):
        return ["no_path"] if view.status is Status.NO_PATH else []
    how = "move" if view.position != before else "no_path" if view.status is Status.NO_PATH else "drop"
    return ["expand", *(["choose", "learn"] if view.agent.best >= 0 else []), how]


def _p_lrta_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of P LRTA*, which updates its own cell and then queued cells."""
    updates = int(view.log_rows[-1].expanded)
    if not updates:
        return ["no_path"] if view.status is Status.NO_PATH else []
    done = ["expand", "learn", *(["spread"] if updates > 1 else [])]
    return [*done, "no_path"] if view.status is Status.NO_PATH else [*done, "choose", "move"]


def _depth_lrta_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed by an LRTA* that chooses its lookahead depth in each tick.

    Only DT LRTA* expands cells for that choice.
    """
    depth_keys = ["probe", "ask"] if view.spec.key == "dt-lrta" else ["ask"]
    return [*(depth_keys if _expansion_line_keys(view) else []), *_lrta_line_keys(view, before)]


def _line_keys_noted_by_agent(view: WalkerView, *keys: str) -> list[str]:
    """Return those of the given line keys that the agent has noted as events of this tick."""
    return [key for key in keys if key in view.agent.notes]


def _d_lrta_line_keys(view: WalkerView, before: int) -> list[str]:
    controlled = (
        _line_keys_noted_by_agent(view, "without data", "look up", "reenter") if _expansion_line_keys(view) else []
    )
    return [*controlled, *_lrta_line_keys(view, before)]


def _reentry_line_keys(view: WalkerView) -> list[str]:
    """Return the key of the line for a re-entry if the tick is marked as one, else an empty list."""
    return ["reenter"] if int(view.log_rows[-1].marks) & log.REENTERED else []


def _knn_lrta_line_keys(view: WalkerView, before: int) -> list[str]:
    events = "lost", "reached", "select", "straight", "ask", "take", "none fits", "choosing"
    return [
        *(_line_keys_noted_by_agent(view, *events) if _expansion_line_keys(view) else []),
        *_lrta_line_keys(view, before),
    ]


def _pr_lrta_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of PR LRTA*.

    A tick that expands cells plans a leg and makes its first move. Without regions the agent moves by LRTA*.
    """
    row = view.log_rows[-1]
    ended = ["no_path"] if view.status is Status.NO_PATH else []
    if not int(row.expanded):
        return ended or _move_line_keys(view, before)
    if ended or int(row.phase) == log.LEARNING:
        return ["without data", *ended]
    return [*_leg_planning_line_keys(view), "follow"]


def _leg_planning_line_keys(view: WalkerView) -> list[str]:
    if not view.agent.numbers["of these for this leg"]:
        return ["inside"]
    return ["look up", *_reentry_line_keys(view), "expand", "choose", "learn", "refine"]


def _local_search_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of a local search, which learns unless no open cell is left."""
    is_over, search = view.status is Status.NO_PATH, view.agent.search
    if not int(view.log_rows[-1].expanded):
        return ["no_path"] if is_over else _move_line_keys(view, before)
    if is_over:
        is_empty = search is not None and int(search.control[0].status) == OPEN_LIST_EMPTY
        return ["expand", *([] if is_empty else ["learn"]), "no_path"]
    return ["expand", "learn", "choose", "path", "follow"]


def _ribs_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of RIBS.

    After an expansion that does not raise the limit, the agent moves. Therefore all expansions of a tick but the last
    have raised the limit.
    """
    row, groups = view.log_rows[-1], view.agent.groups
    limit_keys = ["limit"] if int(row.expanded) > 1 else []
    done = [*_expansion_line_keys(view), *limit_keys]
    if view.status is Status.NO_PATH:
        return [*done, "no_path"]
    if view.position == before:
        return [*_expansion_line_keys(view), "limit"]
    if not int(row.marks) & log.BACK_MOVE:
        return [*done, "enter"]
    pruned = [name for name in ("dead", "redundant") if before in groups[name]]
    return [*done, *pruned, "back"]


def _time_bounded_line_keys(view: WalkerView, before: int) -> list[str]:
    if view.status in (Status.NO_PATH, Status.GAVE_UP):
        return [*_expansion_line_keys(view), "no_path"]
    path_keys = ["path"] if int(view.log_rows[-1].expanded) else []
    found_keys = ["found"] if path_keys and view.agent.best == view.goal else []  # `path_keys` is empty in later ticks
    return [*_expansion_line_keys(view), *found_keys, *path_keys, *_move_line_keys(view, before)]


def _tba_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of TBA*.

    The agent notes those events that the row of its log does not show, such as the end of a trace.
    """
    if view.status is Status.NO_PATH:
        return [*_expansion_line_keys(view), "no_path"]
    noted_keys = _line_keys_noted_by_agent(view, "found", "trace", "path", "shortcut")
    bounce_keys = ["bounce"] if int(view.log_rows[-1].marks) & log.BOUNCED else []
    return [*_expansion_line_keys(view), *noted_keys, *(bounce_keys or _move_line_keys(view, before))]


def _waiting_search_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of an agent that waits until it has a path.

    The agent follows the parents in the tick that finds the goal. Delayed A* follows them over several ticks and moves
    to and fro until it has a path. In a tick without a move, the current line is the one that the search reached.
    """
    row, agent = view.log_rows[-1], view.agent
    if view.status is Status.NO_PATH:
        return [*_expansion_line_keys(view), "no_path"]
    found_keys = ["found"] if int(row.expanded) and (agent.path.size or agent.tracing.size) else []
    trace_keys = ["trace"] if int(row.traced) else []
    path_keys = ["path"] if trace_keys and agent.path.size else []
    move_keys = [] if view.position == before else ["follow" if agent.path.size else "bounce"]
    return [*_expansion_line_keys(view), *found_keys, *trace_keys, *path_keys, *move_keys]


def _line_keys_with_tick_end(view: WalkerView, done: list[str], move_keys: list[str]) -> list[str]:
    """Return the keys `done` and the key of the line that ended the tick: no path, a move, or a further expansion."""
    if view.status is Status.NO_PATH:
        return [*done, "no_path"]
    return [*done, *(move_keys or _expansion_line_keys(view))]


def _ida_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of IDA*.

    The agent notes whether the limit has risen, whether the search has backtracked, and whether the tick ended with
    that instead of an expansion.
    """
    done = [*_expansion_line_keys(view), *_line_keys_noted_by_agent(view, "limit", "back")]
    if view.status is Status.GAVE_UP:
        return [*done, "give up"]
    if view.agent.path.size:
        return [*done, *(["found"] if done else []), *_move_line_keys(view, before)]
    return _line_keys_with_tick_end(view, done, ["back"] if "ended back" in view.agent.notes else [])


def _dstar_lite_line_keys(view: WalkerView, before: int) -> list[str]:
    done = [
        *_line_keys_noted_by_agent(view, "change"),
        *_expansion_line_keys(view),
        *_line_keys_noted_by_agent(view, "lower", "raise", "settled"),
    ]
    return _line_keys_with_tick_end(view, done, _move_line_keys(view, before))


def _pra_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the keys of the lines executed in a tick of PRA*, which plans first among regions, then among cells.

    A plan can begin and end in one tick.
    """
    among = int(view.agent.numbers["among regions in this tick"])
    on_map = ["cells"] if int(view.log_rows[-1].expanded) > among else []
    on_regions = ["expand"] if among else []
    done = [
        *_line_keys_noted_by_agent(view, "rebuild", "without data", "begin"),
        *on_regions,
        *_line_keys_noted_by_agent(view, "refine"),
    ]
    if view.status is Status.NO_PATH:
        return [*done, *on_map, "no_path"]
    last = on_regions if "ended among" in view.agent.notes else []
    return [*done, *last, *on_map, *_line_keys_noted_by_agent(view, "path"), *_move_line_keys(view, before)]


def _move_line_keys(view: WalkerView, before: int) -> list[str]:
    """Return the key of the line that moved the agent, "back" or "follow"; an empty list if it did not move."""
    if view.position == before:
        return []
    return ["back"] if int(view.log_rows[-1].marks) & log.BACK_MOVE else ["follow"]


_KEYS_BY_KIND: dict[str, Callable[[WalkerView, int], list[str]]] = {
    "astar": _waiting_search_line_keys,
    "wastar": _waiting_search_line_keys,
    "gbfs": _waiting_search_line_keys,
    "ida": _ida_line_keys,
    "delayed-astar": _waiting_search_line_keys,
    "tba": _tba_line_keys,
    **dict.fromkeys(("tb-wa", "tb-gbfs", "rtb-wa", "rtb-gbfs"), _time_bounded_line_keys),
    "lrta": _lrta_line_keys,
    "p-lrta": _p_lrta_line_keys,
    "k-lrta": _local_search_line_keys,
    "lss-lrta": _local_search_line_keys,
    "rtaa": _local_search_line_keys,
    "da-rtaa": _local_search_line_keys,
    "ribs": _ribs_line_keys,
    "dstar-lite": _dstar_lite_line_keys,
    "d-lrta": _d_lrta_line_keys,
    "dt-lrta": _depth_lrta_line_keys,
    "oracle-lrta": _depth_lrta_line_keys,
    "knn-lrta": _knn_lrta_line_keys,
    "pra": _pra_line_keys,
    "pr-lrta": _pr_lrta_line_keys,
}
KINDS_WITH_EXECUTED_LINES = tuple(_KEYS_BY_KIND)
"""Kinds of agents for which `executed_pseudocode` finds the executed lines."""
