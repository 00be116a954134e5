"""List of the columns of an experiment's results: name, type and meaning of each column.

The results file, the exported files, the reports and the checks of claims all use this list.
"""

from dataclasses import dataclass

from sim.measures import MEASURES


@dataclass(frozen=True)
class Column:
    """Name, type and meaning of one column of an experiment's results."""

    name: str
    kind: type  # type of the values: int, float or str; a missing value is None
    help: str  # meaning, for the table of columns in docs/results.md


PLANNED = (
    Column("part", str, "the part of the specification"),
    Column("map", str, "the map"),
    Column("start_x", int, "x of the start cell, whose y is start_y"),
    Column("start_y", int, ""),
    Column("goal_x", int, "x of the goal cell, whose y is goal_y"),
    Column("goal_y", int, ""),
    Column("listed", float, "the optimal length that the `.scen` file states"),
    Column("states", int, "free cells of the map"),
    Column("movement", str, "the movement rule"),
    Column("diagonal", float, "cost of a diagonal move; 2 if there are no diagonal moves"),
    Column("agent", str, "the key of the agent"),
    Column("params", str, "all parameters of the agent"),
    Column("label", str, "the agent's label in the specification"),
    Column("budget", int, "expansions per tick"),
    Column("seed", int, "seed of the random changes and of randomised agents"),
    Column("every", int, "ticks between random changes of the map"),
    Column("rate", float, "percent of cells that a random change redraws"),
)
"""Columns whose values the specification determines before a run."""

_EXCLUDED_MEASURES = {"trial", "back_move_share", "mean_expansions"}
"""Measures in MEASURES that are not copied to MEASURED: `trial` is listed there, reports compute the others."""

MEASURED = (
    # a row of results is identified by the key of its run together with the number of its trial
    Column("trial", int, "number of the trial, for agents that keep what they learn"),
    Column(
        "outcome",
        str,
        "how the run ended: reached, no_path, waiting_no_path, move_limit, stuck, gave_up, broke_rules, failed",
    ),
    *(Column(m.key, m.kind, m.words) for m in MEASURES if m.key not in _EXCLUDED_MEASURES),
    Column("ticks", int, "number of ticks: moves and waits"),
    Column("no_path_tick", int, "tick of the proof that there is no path"),
    Column("h_changes", int, "number of learned values that the trial changed"),
    Column("entries", int, "size of the whole database: pairs of regions, or cells in records"),
    Column("build_expansions", int, "expansions to build the whole database"),
    Column("digest", str, "digest of every move and expansion"),
)
"""Columns that a run measures and that are the same on every machine."""

OF_WHO_ARRIVED = ("suboptimality", "game_time")
"""Columns that reports use only for runs that arrived: an unfinished walk may cost less than the cheapest path does."""

OF_WHOLE_RUNS = ("planning_ms", "changes_ms")
"""Columns that are measured for a whole run, not for each trial."""

TIMES = (
    Column("planning_ms", float, "processor time of planning, in milliseconds"),
    Column("changes_ms", float, "processor time of reacting to map changes, in milliseconds"),
    Column("build_ms", float, "milliseconds to build the whole database, estimated if only a part of it was built"),
)
"""Columns with processor times, which differ each time a run is computed."""

DERIVED = {
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

RATIOS = {
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

COST_RATIOS = ("suboptimality", "suboptimality_percent", "bound_share")
"""Columns that are a quotient of costs. In a few runs they may be a hundred times larger than usual, so reports show
their median and maximum next to their mean."""

AXES = {
    "optimal": "cost of the cheapest path",
    "expansions/moves": "expansions / move",
    "entries/states": "database entries / free cells",
    "memory_kb": "strictly on-line memory, KB",
    "database_kb": "database, KB",
    "cumulative_kb": "cumulative on-line memory, KB",
    "build_s": "seconds to build the database",
    "max_expansions": "most expansions in a tick",
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

NUMBERS = frozenset(
    [*(c.name for c in (*PLANNED, *MEASURED, *TIMES) if c.kind is not str), *DERIVED],
)
"""Names of all columns with numbers."""
WORDS = frozenset(c.name for c in (*PLANNED, *MEASURED) if c.kind is str)
"""Names of all columns with text."""

KIND_OF = {column.name: column.kind for column in (*PLANNED, *MEASURED, *TIMES)}
IN_EVERY_ROW = frozenset(
    {"row", "part", "map", "start_x", "start_y", "goal_x", "goal_y", "agent", "params", "budget", "seed"}
    | {"trial", "outcome", "moves", "expansions", "max_expansions"}
)
"""Columns that are never empty."""
