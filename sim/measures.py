"""Table of the quality measures, with their names and meanings, for panels, CSV files, results and docs/.

A new measure needs one row here, and its number in sim/metrics.py.
"""

from dataclasses import dataclass

from sim.metrics import Metrics

MeasureValue = int | float | None

WHOLE_FORMAT, RATIO_FORMAT, COST_FORMAT, OPTIONAL_FORMAT, SHARE_FORMAT = "whole", "ratio", "cost", "optional", "share"
"""Formats of a measure in a panel (ui/model/panel_texts.py).

SHARE: the number, then the share of back-moves in percent.
"""


@dataclass(frozen=True)
class PanelMeasure:
    """Position and format of a measure in the footer of a panel.

    If space is short, measures with high positions are left out first.
    """

    footer_position: int  # position among the measures of the footer, from 1; high positions are left out first
    name: str  # name of the measure in the footer
    short_name: str = ""  # shorter name for narrow panels, or if the window shows many panels; "": `name`
    number_format: str = WHOLE_FORMAT  # format of the number: WHOLE, RATIO, COST, OPTIONAL or SHARE
    is_rare: bool = False  # whether to hide the measure while its value is 0 or None, as for most agents


@dataclass(frozen=True)
class Measure:
    """Declaration of one quality measure: its names, its meaning and its formats."""

    key: str  # attribute of sim.metrics.Metrics with the value, and name of the measure in results and in CSV files
    column_title: str  # heading of the measure's column in the comparison of agents
    description: str  # description of what the measure counts
    decimal_digits: int = 0  # digits after the decimal point in the comparison of agents; 0: a whole number
    width: float = 74.0  # width of the measure's column in design units; 0: no column, only CSV files contain it
    panel_measure: PanelMeasure | None = None  # position and format in the footers of panels; None: not shown there
    # Key of a measure: while its value is not zero, this measure is shown in orange; "": never.
    warning_measure_key: str = ""

    @property
    def kind(self) -> type:
        """Return the type of the measure's values, int or float."""
        return float if self.decimal_digits else int

    def value_for_agent(self, metrics: Metrics) -> MeasureValue:
        """Return the value of this measure for an agent."""
        value: MeasureValue = getattr(metrics, self.key)
        return value

    def has_warning_for_agent(self, metrics: Metrics) -> bool:
        """Return whether to show the value of this measure for an agent in orange."""
        return bool(self.warning_measure_key and getattr(metrics, self.warning_measure_key))


MEASURES: tuple[Measure, ...] = (
    Measure("trial", "Trial", "number of the present walk from start to goal"),
    Measure(
        "cost",
        "Cost",
        "cost of the path walked so far, in all trials",
        2,
        panel_measure=PanelMeasure(6, "cost", number_format=COST_FORMAT),
    ),
    Measure("optimal", "Optimal", "cost of the cheapest path on the map on which the goal was set", 2, 0.0),
    Measure(
        "suboptimality",
        "Cost / opt.",
        "cost walked in the present trial / optimal",
        3,
        86.0,
        PanelMeasure(3, "cost / optimal", "c / opt", RATIO_FORMAT),
    ),
    Measure(
        "moves",
        "Moves",
        "moves to another cell; waiting does not count",
        width=64.0,
        panel_measure=PanelMeasure(1, "moves"),
    ),
    Measure(
        "back_moves",
        "Back",
        "moves back along parents, because the agent was off its path",
        width=58.0,
        panel_measure=PanelMeasure(2, "back-moves", "back"),
        warning_measure_key="back_moves",
    ),
    Measure("back_move_share", "Back %", "back-moves in percent of non-optimal moves", 1, 66.0),
    Measure(
        "nonoptimal_moves",
        "Non-opt.",
        "moves that brought the agent nearer to the goal by less than their cost",
        panel_measure=PanelMeasure(8, "non-optimal", "non-opt", SHARE_FORMAT),
    ),
    Measure(
        "revisits",
        "Revisits",
        "moves onto cells that the agent had visited before",
        panel_measure=PanelMeasure(4, "revisits", "rev"),
    ),
    Measure("longest_stay", "Stays", "maximum number of visits to one cell"),
    Measure("waits", "Waits", "ticks without a move", width=0.0),
    Measure(
        "expansions",
        "Expanded",
        "cells expanded in total",
        width=84.0,
        panel_measure=PanelMeasure(5, "expanded", "exp"),
    ),
    Measure("mean_expansions", "/ move", "cells expanded for each move", 1),
    Measure("traced", "Traced", "parent pointers followed to trace paths"),
    Measure(
        "max_expansions",
        "Max",
        "maximum number of cells expanded in one tick",
        width=56.0,
        panel_measure=PanelMeasure(10, "max/tick"),
        warning_measure_key="over_budget",
    ),
    Measure("over_budget", "Over", "ticks above the budget", width=0.0),
    Measure(
        "restarts",
        "Restarts",
        "searches restarted after a change",
        panel_measure=PanelMeasure(7, "restarts"),
        warning_measure_key="restarts",
    ),
    Measure("bounces", "Bounces", "TBA*: moves back and forth next to the start", width=0.0),
    Measure(
        "first_move",
        "First move",
        "tick of the first move",
        width=84.0,
        panel_measure=PanelMeasure(9, "first move", "1st move", OPTIONAL_FORMAT),
    ),
    Measure(
        "twentieth_move",
        "20 moves",
        "tick of the twentieth move",
        width=78.0,
        panel_measure=PanelMeasure(12, "20 moves", "20 mv", OPTIONAL_FORMAT),
    ),
    Measure("optimal_moves", "Optimal moves", "moves of the cheapest path", width=0.0),
    Measure(
        "game_time",
        "Time",
        "ticks of the present trial / moves of the cheapest path; waiting counts, too",
        3,
        66.0,
        PanelMeasure(11, "game time", "time", RATIO_FORMAT),
    ),
    Measure(
        "memory",
        "Memory",
        "maximum number of cells open or closed at once, plus cells with learned h",
        width=78.0,
        panel_measure=PanelMeasure(13, "memory", "mem"),
    ),
    Measure(
        "database",
        "Database",
        "bytes of the data computed before the run",
        width=88.0,
        panel_measure=PanelMeasure(16, "database", "data", is_rare=True),
    ),
    Measure("climbed", "Climbed", "steps of hill climbing", panel_measure=PanelMeasure(17, "climbed", is_rare=True)),
    Measure(
        "max_climbed",
        "Max climbed",
        "maximum number of steps of hill climbing in one tick",
        width=0.0,
        panel_measure=PanelMeasure(18, "climbed/tick", "cl/tick", is_rare=True),
    ),
    Measure(
        "cap_hits",
        "Cap hits",
        "ticks with the maximum depth of lookahead, or with a climb of the maximum length",
        panel_measure=PanelMeasure(14, "cap hits", "caps", is_rare=True),
    ),
    Measure(
        "reentries",
        "Re-entries",
        "ticks on a revisited cell, from which the agent heads for its goal and not for a subgoal",
        width=84.0,
        panel_measure=PanelMeasure(15, "re-entries", "re-ent", is_rare=True),
    ),
)
MEASURE_BY_KEY = {measure.key: measure for measure in MEASURES}

PANEL_MEASURES: tuple[tuple[Measure, PanelMeasure], ...] = tuple(
    sorted(
        ((m, m.panel_measure) for m in MEASURES if m.panel_measure is not None),
        key=lambda pair: pair[1].footer_position,
    )
)
