"""Notable moments of a run, found in its records without running it again.

    longest_scrub(record, last)         the longest run of moves onto cells that the agent had visited before
    costliest_tick(record, last)          the tick with the most expansions
    costliest_restart(record, last)       the restart followed by the most expansions before the next restart
    first_agent_difference(one, other, last)    the first tick at which two agents differ, in their cells or otherwise
    first_branch_difference(timeline, other, last)     the first command or agent in which two branches differ

`last` is the last tick to consider; ticks that are not recorded are ignored. What an agent did during tick t - 1 is
reported with tick t, because the clock of the window shows t just afterwards.
"""

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from sim.kernels import log
from sim.time.agent_records import AgentRecord
from sim.time.command_log import LogEntry
from sim.time.timeline import Timeline

Cells = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Scrub:
    """Sequence of moves onto cells that the agent had visited before in the same trial."""

    begin_tick: int  # tick shown by the clock before the first move
    end: int  # tick shown by the clock after the last move
    moves: int  # number of moves in the sequence
    cells: int  # number of different cells that the moves enter


@dataclass(frozen=True)
class CostliestMoment:
    """Tick with the most expansions, or the restart with the most expansions before the next restart."""

    tick: int  # tick shown by the clock just after the expansions or the restart
    expansions: int  # number of expansions in the tick, or from the restart to the next one


@dataclass(frozen=True)
class AgentDifference:
    """First difference between the records of two agents."""

    tick: int  # tick shown by the clock just after the difference
    field_name: str  # value that differs: "cell", "expansions", "marks", "phase", or "start" (the start cell)
    first_value: int  # differing value of the first agent
    second_value: int  # differing value of the second agent


@dataclass(frozen=True)
class BranchDifference:
    """First difference between two branches: a command that only one of them has, or an agent."""

    tick: int
    log_entry: LogEntry | None = None  # command that only one branch has; None: the difference is in an agent
    is_in_first_branch: bool = False  # whether the first branch is the one with the command
    agent: int = -1  # number of the agent that differs; -1: the difference is a command
    # Difference of the agent between the two branches; None: the difference is a command.
    agent_difference: AgentDifference | None = None


# --- moments of one agent -------------------------------------------------------------------------


def longest_scrub(record: AgentRecord, last: int) -> Scrub | None:
    """Return the longest run of moves onto cells visited before in the same trial; None without such a move."""
    rows = record.rows_before_tick(last)
    if not rows.size:
        return None
    cells = np.concatenate([[record.start_cell], rows["cell"]])
    begins = np.concatenate([[False], (rows["marks"] & log.TRIAL_BEGAN) != 0])
    is_new = _first_visit_mask(cells, np.cumsum(begins))
    moves = 1 + np.flatnonzero((cells[1:] != cells[:-1]) & ~begins[1:])
    begin, end = _longest_true_run(~is_new[moves])
    if begin == end:
        return None
    first, final = int(moves[begin]), int(moves[end - 1])
    different = np.unique(cells[moves[begin:end]]).size
    return Scrub(record.joined_tick + first - 1, record.joined_tick + final, end - begin, int(different))


def _first_visit_mask(cells: Cells, trials: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return, for each visit, whether it is the first visit of that cell in its trial.

    Args:
        cells: cell of each visit, in order of time.
        trials: number of the trial of each visit.
    """
    found = np.zeros(cells.size, bool)
    _, firsts = np.unique(np.stack([trials, cells]), axis=1, return_index=True)
    found[firsts] = True
    return found


def _longest_true_run(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Return begin and end (exclusive) of the longest run of true values; (0, 0) if no value is true.

    Of several runs with that length, return the first.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    begins, ends = edges[::2], edges[1::2]
    if not begins.size:
        return 0, 0
    longest = int(np.argmax(ends - begins))
    return int(begins[longest]), int(ends[longest])


def costliest_tick(record: AgentRecord, last: int) -> CostliestMoment | None:
    """Return the tick with the most expansions up to tick `last`; None if nothing was expanded."""
    expanded = record.rows_before_tick(last)["expanded"]
    if not expanded.size or not expanded.max():
        return None
    index = int(np.argmax(expanded))
    return CostliestMoment(record.joined_tick + index + 1, int(expanded[index]))


def costliest_restart(record: AgentRecord, last: int) -> CostliestMoment | None:
    """Return the restart followed by the most expansions before the next restart or `last`; None without a restart."""
    rows = record.rows_before_tick(last)
    indices = np.flatnonzero(rows["marks"] & log.RESTARTED)
    if not indices.size:
        return None
    sums = np.add.reduceat(rows["expanded"].astype(np.int64), indices)
    dearest = int(np.argmax(sums))
    return CostliestMoment(record.joined_tick + int(indices[dearest]) + 1, int(sums[dearest]))


# --- differences between two agents or branches ---------------------------------------------------

_COMPARED_FIELDS = (("cell", "cell"), ("expanded", "expansions"), ("marks", "marks"), ("phase", "phase"))


def first_agent_difference(
    one: AgentRecord, other: AgentRecord, last: int, *, in_cells_first: bool = True
) -> AgentDifference | None:
    """Return the first difference between the records of two agents.

    Args:
        one: record of the first agent.
        other: record of the second agent.
        last: last tick to consider.
        in_cells_first: whether a difference in cells takes precedence over earlier differences in other values. Set it
            to False to compare an agent in two branches, where the first difference of any kind is the cause.

    Returns:
        The difference; None if there is none.
    """
    begin = max(one.joined_tick, other.joined_tick)
    if one.cell_at_tick(begin) != other.cell_at_tick(begin):
        return AgentDifference(begin, "start", one.cell_at_tick(begin), other.cell_at_tick(begin))
    found = [
        p for name, what in _COMPARED_FIELDS if (p := _first_field_difference(one, other, begin, last, name, what))
    ]
    if not found:
        return None
    return found[0] if in_cells_first else min(found, key=lambda parting: parting.tick)


def _first_field_difference(
    one: AgentRecord, other: AgentRecord, begin: int, last: int, name: str, what: str
) -> AgentDifference | None:
    """Return the first difference of two agents in one field of their rows; None if there is none.

    `name` is the name of the field in the rows; `what` is its name in the result.
    """
    a, b = (_row_field_values(record, begin, last, name) for record in (one, other))
    indices = np.flatnonzero(a != b)
    if not indices.size:
        return None
    index = int(indices[0])
    return AgentDifference(begin + index + 1, what, int(a[index]), int(b[index]))


def _row_field_values(record: AgentRecord, begin: int, last: int, name: str) -> npt.NDArray[np.int64]:
    """Return the value of a row field at each tick from `begin` to `last` - 1.

    An agent that is done has no more rows. At later ticks its cell is its last cell, and all other fields are 0.
    """
    rows = record.rows_before_tick(last)[max(0, begin - record.joined_tick) :]
    values = np.zeros(max(0, last - begin), np.int64)
    values[: rows.size] = rows[name]
    if name == "cell":
        values[rows.size :] = record.cell_at_tick(last)
    return values


def first_branch_difference(timeline: Timeline, other: Timeline, last: int) -> BranchDifference | None:
    """Return the first difference between two branches up to tick `last`; None if there is none.

    If a command and an agent differ at the same tick, return the command, because it applies before agents act.
    """
    found = [_first_command_difference(timeline, other, last), *_agent_differences(timeline, other, last)]
    return min((d for d in found if d is not None), key=lambda d: (d.tick, d.log_entry is None), default=None)


def _first_command_difference(timeline: Timeline, other: Timeline, last: int) -> BranchDifference | None:
    logs = [[e for e in line.command_log.entries if e.is_enabled and e.tick < last] for line in (timeline, other)]
    for own, theirs in zip_longest(*logs):
        if own is None or theirs is None or (own.tick, own.command) != (theirs.tick, theirs.command):
            return _difference_of_commands(own, theirs)
    return None


def _difference_of_commands(own: LogEntry | None, theirs: LogEntry | None) -> BranchDifference:
    """Return the difference between two logs, given the first pair of entries that differ.

    The entry with the earlier tick is the difference: only one log has it, because logs are sorted by tick.
    """
    is_own = theirs is None or (own is not None and own.tick <= theirs.tick)
    entry = own if is_own else theirs
    assert entry is not None
    return BranchDifference(entry.tick, entry, is_own)


def _agent_differences(timeline: Timeline, other: Timeline, last: int) -> list[BranchDifference]:
    differences = []
    for agent in timeline.run_history.agent_records.keys() & other.run_history.agent_records.keys():
        found = first_agent_difference(
            timeline.run_history.agent_records[agent],
            other.run_history.agent_records[agent],
            last,
            in_cells_first=False,
        )
        if found is not None:
            differences.append(BranchDifference(found.tick, agent=agent, agent_difference=found))
    return sorted(differences, key=lambda difference: (difference.tick, difference.agent))
