"""The columns of an experiment's results: the one list of them, from the store to files, reports and claims."""

from dataclasses import dataclass

from sim.measures import MEASURES


@dataclass(frozen=True)
class Column:
    name: str
    kind: type  # int, float or str; an empty cell is None whatever the kind
    help: str


PLANNED = (
    Column("part", str, "the part of the specification"),
    Column("map", str, "the map"),
    Column("start_x", int, "where agents start, with start_y"),
    Column("start_y", int, ""),
    Column("goal_x", int, "where they want to go, with goal_y"),
    Column("goal_y", int, ""),
    Column("listed", float, "the optimal length that the problem's file states"),
    Column("states", int, "free cells of the map"),
    Column("movement", str, "by which rule agents move on it"),
    Column("diagonal", float, "cost of a diagonal move; 2 where there are none"),
    Column("agent", str, "the key of the agent"),
    Column("params", str, "all of its parameters"),
    Column("label", str, "what the specification calls it"),
    Column("budget", int, "its expansions a tick"),
    Column("seed", int, "of the random changes and of agents that draw lots"),
    Column("every", int, "ticks between random changes of the map"),
    Column("rate", float, "percent of cells that one of them redraws"),
)
"""What a specification says of a run before it is done."""

_OF_REPORTS = {"trial", "back_move_share", "mean_expansions"}
"""Measures that stand elsewhere: the trial comes first, and those that follow from others reports compute (DERIVED)."""

MEASURED = (
    Column("trial", int, "number of the walk, of agents that keep what they learn"),  # with the key it names a line
    Column(
        "outcome",
        str,
        "how it ended: reached, no_path, waiting_no_path, move_limit, stuck, gave_up, broke_rules, failed",
    ),
    *(Column(m.key, m.kind, m.words) for m in MEASURES if m.key not in _OF_REPORTS),
    Column("ticks", int, "moves and waits"),
    Column("no_path_tick", int, "tick of the proof that there is no path"),
    Column("h_changes", int, "learned values that changed, by trial"),
    Column("entries", int, "size of the whole database: pairs of regions, or cells in records"),
    Column("build_expansions", int, "expansions that making all of it takes"),
    Column("digest", str, "depends on every move and expansion"),
)
"""What a run gives, the same on every machine."""

OF_WHO_ARRIVED = ("suboptimality", "game_time")
"""What reports take of no other run: a way that was broken off may be shorter than the cheapest one."""

OF_WHOLE_RUNS = ("planning_ms", "changes_ms")
"""What nobody measures trial by trial."""

TIMES = (
    Column("planning_ms", float, "processor time of planning"),
    Column("changes_ms", float, "processor time of taking in changes of the map"),
    Column("build_ms", float, "processor time of making the whole database, if necessary by what a part of it took"),
)
"""What a run takes; never the same twice."""

DERIVED = {
    "expansions_per_move": "expansions / moves of a run",
    "us_per_move": "microseconds of planning a move, of a run",
    "suboptimality_percent": "how much dearer than the cheapest path, in percent",
    "memory_kb": "strictly on-line memory at four bytes a cell",
    "database_kb": "the database at four bytes an entry",
    "cumulative_kb": "memory_kb + database_kb",
    "build_s": "build_ms in seconds",
    "bound_share": 'cost / the bound of theorem 2 of "Time-Bounded Best-First Search"; agents with a weight only',
    "back_move_share": "back-moves in percent of non-optimal moves",
    "total_ms": "planning_ms + changes_ms",
    "disqualified": "1 if some tick is above the specification's cut-off",
    "arrived": "1 if it reached the goal",
    "last_trial": "1 on the last line of a run, its only one without `trials`",
    "converged": "1 if the trial taught the agent nothing",
}
"""Numbers that follow from others; reports know them, files do not hold them."""

RATIOS = {
    "suboptimality": "cost / optimal",
    "suboptimality_percent": "suboptimality in %",
    "bound_share": "cost / bound of theorem 2",
    "game_time": "game time",
    "expansions_per_move": "expansions / move",
    "us_per_move": "us of planning / move",
    "back_move_share": "back-moves in % of non-optimal moves",
}
"""Quotients that each run has. Their mean is another number than the sum over all runs divided by the other sum."""

COST_RATIOS = ("suboptimality", "suboptimality_percent", "bound_share")
"""Quotients of costs. A few runs may have a hundred times the usual one: median and maximum go with their mean."""

AXES = {
    "optimal": "cost of the cheapest path",
    "expansions/moves": "expansions / move",
    "entries/states": "database entries / free cells",
    "memory_kb": "strictly on-line memory, KB",
    "database_kb": "database, KB",
    "cumulative_kb": "cumulative on-line memory, KB",
    "build_s": "s of making the database",
    "max_expansions": "expansions in the largest tick",
    "budget": "budget k (expansions a tick)",
    "weight": "weight w",
    "states": "free cells of the map",
    "rate": "percent of cells changed at a time",
    "planning_ms/moves": "planning ms / move",
    "planning_ms": "milliseconds of planning in a run",
    "total_ms": "milliseconds of planning in a run, changes included",
    "nonoptimal_moves": "non-optimal moves",
    "back_moves": "back-moves",
}
"""Names on axes and in headings where the name of a column, or of two, is not plain."""

NUMBERS = frozenset(
    [*(c.name for c in (*PLANNED, *MEASURED, *TIMES) if c.kind is not str), *DERIVED],
)
WORDS = frozenset(c.name for c in (*PLANNED, *MEASURED) if c.kind is str)

KIND_OF = {column.name: column.kind for column in (*PLANNED, *MEASURED, *TIMES)}
IN_EVERY_ROW = frozenset(
    {"row", "part", "map", "start_x", "start_y", "goal_x", "goal_y", "agent", "params", "budget", "seed"}
    | {"trial", "outcome", "moves", "expansions", "max_expansions"}
)
"""Columns that are never empty."""
