"""List of the columns of an experiment's results: name, type and meaning of each column.

The results file, the exported files, the reports and the checks of claims all use this list.
"""

from dataclasses import dataclass

from sim.measures import MEASURES


@dataclass(frozen=True)
class ResultColumn:
    """Name, type and meaning of one column of an experiment's results."""

    name: str
    kind: type  # type of the values: int, float or str; a missing value is None
    help: str  # meaning, for the table of columns in docs/results.md


PLANNED_COLUMNS = (
    ResultColumn("part", str, "the part of the specification"),
    ResultColumn("map", str, "the map"),
    ResultColumn("start_x", int, "x of the start cell, whose y is start_y"),
    ResultColumn("start_y", int, ""),
    ResultColumn("goal_x", int, "x of the goal cell, whose y is goal_y"),
    ResultColumn("goal_y", int, ""),
    ResultColumn("listed", float, "the optimal length that the `.scen` file states"),
    ResultColumn("states", int, "free cells of the map"),
    ResultColumn("movement", str, "the movement rule"),
    ResultColumn("diagonal", float, "cost of a diagonal move; 2 if there are no diagonal moves"),
    ResultColumn("agent", str, "the key of the agent"),
    ResultColumn("params", str, "all parameters of the agent"),
    ResultColumn("label", str, "the agent's label in the specification"),
    ResultColumn("budget", int, "expansions per tick"),
    ResultColumn("seed", int, "seed of the random changes and of randomised agents"),
    ResultColumn("every", int, "ticks between random changes of the map"),
    ResultColumn("rate", float, "percent of cells that a random change redraws"),
)
"""Columns whose values the specification determines before a run."""

_EXCLUDED_MEASURES = {"trial", "back_move_share", "mean_expansions"}
"""Measures in MEASURES that are not copied to MEASURED: `trial` is listed there, reports compute the others."""

MEASURED_COLUMNS = (
    # a row of results is identified by the key of its run together with the number of its trial
    ResultColumn("trial", int, "number of the trial, for agents that keep what they learn"),
    ResultColumn(
        "outcome",
        str,
        "how the run ended: reached, no_path, waiting_no_path, move_limit, stuck, gave_up, broke_rules, failed",
    ),
    *(ResultColumn(m.key, m.kind, m.description) for m in MEASURES if m.key not in _EXCLUDED_MEASURES),
    ResultColumn("ticks", int, "number of ticks: moves and waits"),
    ResultColumn("no_path_tick", int, "tick of the proof that there is no path"),
    ResultColumn("h_changes", int, "number of learned values that the trial changed"),
    ResultColumn("entries", int, "size of the whole database: pairs of regions, or cells in records"),
    ResultColumn("build_expansions", int, "expansions to build the whole database"),
    ResultColumn("digest", str, "digest of every move and expansion"),
)
"""Columns that a run measures and that are the same on every machine."""

ARRIVED_ONLY_COLUMNS = ("suboptimality", "game_time")
"""Columns that reports use only for runs that arrived: an unfinished walk may cost less than the cheapest path does."""

WHOLE_RUN_COLUMNS = ("planning_ms", "changes_ms")
"""Columns that are measured for a whole run, not for each trial."""

PROCESSOR_TIME_COLUMNS = (
    ResultColumn("planning_ms", float, "processor time of planning, in milliseconds"),
    ResultColumn("changes_ms", float, "processor time of reacting to map changes, in milliseconds"),
    ResultColumn(
        "build_ms", float, "milliseconds to build the whole database, estimated if only a part of it was built"
    ),
)
"""Columns with processor times, which differ each time a run is computed."""

DERIVED_COLUMNS = {
    "expansions_per_move": "expansions / moves of a run",
    "us_per_move": "microseconds of planning per move of a run",
    "suboptimality_percent": "cost above that of the cheapest path, in percent",
    "memory_kb": "strictly on-line memory at four bytes per cell",
    "database_kb": "the database at four bytes per entry",
    "cumulative_kb": "memory_kb + database_kb",
    "build_s": "build_ms in seconds",
    "bound_share": 'cost / the bound of theorem 2 of "Time-Bounded Best-First Search"; agents with a weight only',
    "back_move_share": "back-moves in percent of non-optimal moves",
    "total_ms": "planning_ms + changes_ms",
    "disqualified": "1 if a tick has more expansions than the specification's cut-off",
    "arrived": "1 if the run reached the goal",
    "last_trial": "1 in the last row of a run, which is its only row without `trials`",
    "converged": "1 if the trial changed no learned value",
}
"""Columns that reports compute from other columns, with their meanings; result files do not contain these columns."""

RATIO_COLUMNS = {
    "suboptimality": "cost / optimal",
    "suboptimality_percent": "suboptimality in %",
    "bound_share": "cost / bound of theorem 2",
    "game_time": "game time",
    "expansions_per_move": "expansions / move",
    "us_per_move": "us of planning / move",
    "back_move_share": "back-moves in % of non-optimal moves",
}
"""Columns that are a quotient computed for each run, with their displayed names.

The mean of such a column differs from the pooled quotient (the sum of the numerators of all runs divided by the sum of
their denominators).
"""

COST_RATIO_COLUMNS = ("suboptimality", "suboptimality_percent", "bound_share")
"""Columns that are a quotient of costs. In a few runs they may be a hundred times larger than usual, so reports show
their median and maximum next to their mean."""

AXIS_LABELS = {
    "optimal": "cost of the cheapest path",
    "expansions/moves": "expansions / move",
    "entries/states": "database entries / free cells",
    "memory_kb": "strictly on-line memory, KB",
    "database_kb": "database, KB",
    "cumulative_kb": "cumulative on-line memory, KB",
    "build_s": "seconds to build the database",
    "max_expansions": "expansions in the largest tick",
    "budget": "budget k (expansions per tick)",
    "weight": "weight w",
    "states": "free cells of the map",
    "rate": "percent of cells per random change",
    "planning_ms/moves": "planning ms / move",
    "planning_ms": "milliseconds of planning in a run",
    "total_ms": "milliseconds of planning in a run, changes included",
    "nonoptimal_moves": "non-optimal moves",
    "back_moves": "back-moves",
}
"""Displayed names of measures on axes and in headings, if they differ from the names of the columns."""

NUMERIC_COLUMNS = frozenset(
    [
        *(c.name for c in (*PLANNED_COLUMNS, *MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS) if c.kind is not str),
        *DERIVED_COLUMNS,
    ],
)
"""Names of all columns with numbers."""
TEXT_COLUMNS = frozenset(c.name for c in (*PLANNED_COLUMNS, *MEASURED_COLUMNS) if c.kind is str)
"""Names of all columns with text."""

COLUMN_TYPES = {column.name: column.kind for column in (*PLANNED_COLUMNS, *MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS)}
REQUIRED_COLUMNS = frozenset(
    {"row", "part", "map", "start_x", "start_y", "goal_x", "goal_y", "agent", "params", "budget", "seed"}
    | {"trial", "outcome", "moves", "expansions", "max_expansions"}
)
"""Columns that are never empty."""
