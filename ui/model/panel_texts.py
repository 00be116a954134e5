"""Numbers and states of agents as texts for the panels."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

from sim.agent_api import STATUS_WORDS, Status
from sim.measures import COST_FORMAT, PANEL_MEASURES, RATIO_FORMAT, SHARE_FORMAT, WHOLE_FORMAT, Measure, PanelMeasure
from sim.metrics import Metrics
from sim.params import Param, Value
from sim.time.timeline import Timeline
from sim.world_commands import name_with_suffix
from sim.world_view import WalkerView
from ui.model.crowds import MAX_RECORDED_TIMES, Crowd

NO_VALUE = "-"
SO_FAR = " so far"
LONGEST_TICK_NAME = "longest ms"
_MAX_TICK_TIP = (
    f"longest of the last {MAX_RECORDED_TIMES} ticks shown: computing time of all agents of this crowd together, in "
    "milliseconds"
)
PENDING_VALUE = "..."  # text shown in place of a number that is still being computed
TRIAL_INDEX = 3  # index of the trial among the numbers below a map: after moves, back-moves and cost / optimal
_TRIAL_TIP = "current walk from start to goal; the last one is the walk in which nothing was left to learn"


def count_text(number: float) -> str:
    """Return a count as text with thousands separators; from ten million on, in millions."""
    if number >= 10_000_000:
        return f"{number / 1e6:,.1f}M"
    return f"{number:,.0f}"


def ratio_text(number: float | None) -> str:
    if number is None or not math.isfinite(number):
        return NO_VALUE
    return f"{number:.2f}" if number < 100 else f"{number:,.0f}"


def cost_text(number: float) -> str:
    return f"{number:,.1f}" if number < 10_000 else f"{number:,.0f}"


def percent_text(number: float | None) -> str:
    return NO_VALUE if number is None else f"{number:.0f}%"


def param_text(param: Param, value: Value) -> str:
    """Return a parameter and its value as a panel header shows it, such as 'w 1.4' or 'lazy'."""
    if param.kind is bool:
        return param.name.replace("_", " ")
    if param.kind is str:
        return str(value)
    number = (
        f"{value:g}" if isinstance(value, float) else f"{value:,}" if value or not param.zero_word else param.zero_word
    )
    return f"{param.symbol or param.name.replace('_', ' ')} {number}"


def label_with_algorithm(view: WalkerView) -> str:
    """Return the label of an agent, followed by the name of its algorithm unless the label contains that."""
    return view.label if has_algorithm_in_label(view) else f"{view.label} ({view.spec.name})"


def has_algorithm_in_label(view: WalkerView) -> bool:
    """Return whether an agent's label begins with the name of its algorithm, such as "RTB-WA* lazy"."""
    return view.label.startswith(view.spec.name)


def next_free_label(label: str, used_labels: Collection[str]) -> str:
    """Return the label with the next number that is not taken: "lazy 2" for "lazy", "w = 3 (2)" for "w = 3"."""
    without_number = re.sub(r" (\d+|\(\d+\))$", "", label)
    base = without_number if without_number in used_labels else label
    end = " ({})" if base[-1:].isdigit() else " {}"
    return next(name for n in count(2) if (name := name_with_suffix(base, end.format(n))) not in used_labels)


_SHORT_STATE_WORDS = {
    "waiting": "wait",
    "searching": "search",
    "tracing": "trace",
    "following": "follow",
    "walking back": "back",
    "shuttling": "shuttle",
    "learning": "learn",
    "converged": "learned",
}
LONG_STATES = (*_SHORT_STATE_WORDS, *STATUS_WORDS.values())
END_STATUSES = (Status.AT_GOAL, Status.NO_PATH, Status.GAVE_UP)
SHORT_STATES = (*_SHORT_STATE_WORDS.values(), *STATUS_WORDS.values())


def short_state_text(state: str) -> str:
    """Return the text of an agent's state for a narrow panel, such as "wait" for "waiting"."""
    return _SHORT_STATE_WORDS.get(state, state)


def speed_text(ticks_per_second: int) -> str:
    return "full speed" if ticks_per_second <= 0 else f"{ticks_per_second:,} ticks/s"


@dataclass(frozen=True)
class PanelNumber:
    """Number below the map of a panel, as text with its name and tooltip."""

    name: str
    value_text: str
    tooltip: str
    is_warning: bool = False
    short_name: str = ""  # shorter name for narrow panels; "": `name` is used there as well
    name_remark: str = ""  # text shown after the name at present, such as " so far"
    can_have_name_remark: bool = False  # whether the number can have a `name_remark`, so that space is reserved for it

    @property
    def displayed_measure_name(self) -> str:
        return self.name + self.name_remark

    @property
    def short_measure_name(self) -> str:
        return self.short_name or self.name

    @property
    def longest_measure_name(self) -> str:
        return self.name + (SO_FAR if self.can_have_name_remark else "")


def has_arrived(view: WalkerView) -> bool:
    """Return whether the agent's walk is complete, so that its cost / optimal is final."""
    return view.status == Status.AT_GOAL


def agent_panel_numbers(view: WalkerView) -> list[PanelNumber]:
    """Return the numbers below the map in an agent's panel, the most important first."""
    measures = ((m, panel) for m, panel in PANEL_MEASURES if not panel.is_rare or m.value_for_agent(view.metrics))
    fields = [_panel_number_of_measure(measure, panel, view.metrics, has_arrived(view)) for measure, panel in measures]
    if view.max_trials > 1:
        fields.insert(TRIAL_INDEX, PanelNumber("trial", f"{view.metrics.trial:,} / {view.max_trials:,}", _TRIAL_TIP))
    agent_numbers = [
        PanelNumber(name, agent_number_text(value), f"counted by {view.spec.name}")
        for name, value in view.agent.numbers.items()
    ]
    return [*fields, *agent_numbers]


_ARRIVED_RATIO_TIP = "cost / optimal of the agents that have arrived"


def crowd_costs_text(crowd: Crowd, pooled: float | None) -> str:
    """Return the cost / optimal of a crowd as text: the pooled ratio, and mean, median and maximum of its agents.

    Args:
        crowd: The crowd.
        pooled: Total cost of the agents that arrived / their total optimal cost, as in tables of agents.
    """
    numbers = crowd.counts
    means = f"pooled {ratio_text(pooled)}, mean of agents {ratio_text(numbers.mean_cost_ratio)}"
    return (
        f"cost / optimal: {means}, median {ratio_text(numbers.median_cost_ratio)}, max "
        f"{ratio_text(numbers.max_cost_ratio)}"
    )


def crowd_panel_numbers(crowd: Crowd) -> list[PanelNumber]:
    """Return the numbers below the map in a crowd's panel: totals, means and maxima over its agents."""
    numbers = crowd.counts
    restarts, no_path_count = numbers.sum_of_count("restarts"), numbers.no_path_count
    max_expansions = int(numbers.counts_by_agent["max_expansions"].max())
    fields = [
        PanelNumber(
            "arrived",
            f"{numbers.arrived_count:,} / {numbers.agent_count:,}",
            "agents that have reached their goals, of all agents",
            short_name="arr.",
        ),
        PanelNumber(
            "mean cost / opt",
            ratio_text(numbers.mean_cost_ratio),
            f"mean of {_ARRIVED_RATIO_TIP}",
            short_name="mean c/o",
        ),
        PanelNumber("median", ratio_text(numbers.median_cost_ratio), f"median of {_ARRIVED_RATIO_TIP}"),
        PanelNumber("max", ratio_text(numbers.max_cost_ratio), f"maximum of {_ARRIVED_RATIO_TIP}"),
        PanelNumber(
            "back-moves",
            count_text(numbers.sum_of_count("back_moves")),
            "back-moves of all agents together",
            short_name="back",
        ),
        PanelNumber(LONGEST_TICK_NAME, f"{crowd.max_tick_ms:.1f}", _MAX_TICK_TIP, short_name="longest"),
        PanelNumber(
            "restarts",
            count_text(restarts),
            "searches restarted after a change, by all agents together",
            bool(restarts),
        ),
        PanelNumber(
            "expanded",
            count_text(numbers.sum_of_count("expansions")),
            "cells expanded by all agents together",
            short_name="exp",
        ),
        PanelNumber(
            "max/tick", count_text(max_expansions), "maximum number of cells that one agent expanded in a tick"
        ),
        PanelNumber("moves", count_text(numbers.sum_of_count("moves")), "moves of all agents together"),
    ]
    if not crowd.recent_tick_ms:  # the world has no clock, so tick times were not recorded
        fields = [field for field in fields if field.name != LONGEST_TICK_NAME]
    if no_path_count:
        fields.insert(
            1,
            PanelNumber(
                "no path",
                f"{no_path_count:,}",
                "agents that have proved that there is currently no path for them",
                True,
            ),
        )
    if numbers.stopped_count:
        fields.insert(
            1,
            PanelNumber(
                "stopped",
                f"{numbers.stopped_count:,}",
                "agents that failed, broke a rule or gave up, and no longer move",
                True,
            ),
        )
    return fields


def agent_number_text(value: float) -> str:
    return count_text(value) if float(value).is_integer() else cost_text(value)


def _panel_number_of_measure(measure: Measure, panel: PanelMeasure, metrics: Metrics, is_whole: bool) -> PanelNumber:
    value, tip = measure_text(measure, panel.number_format, metrics), measure.description
    if panel.number_format == SHARE_FORMAT and (share := _back_move_share_text(metrics)):
        value += f", {share} back"
        tip += f"; back-moves are {share} of their number, the measure of the paper Time-Bounded Best-First Search"
    grows = panel.number_format == RATIO_FORMAT
    remark = SO_FAR if grows and not is_whole else ""
    return PanelNumber(panel.name, value, tip, measure.has_warning_for_agent(metrics), panel.short_name, remark, grows)


def _back_move_share_text(metrics: Metrics) -> str:
    """Return the back-moves in percent of the non-optimal moves, or "" if unknown.

    The text belongs to the non-optimal moves: next to the number of all moves it would mislead.
    """
    has_share = metrics.back_moves and metrics.back_move_share is not None
    return percent_text(metrics.back_move_share) if has_share else ""


def measure_text(measure: Measure, form: str, metrics: Metrics) -> str:
    """Return the value of a measure as text, in the form (ratio, cost, whole number) in which panels show it."""
    number = measure.value_for_agent(metrics)
    if form == RATIO_FORMAT:
        return ratio_text(number)
    if number is None:
        return PENDING_VALUE if form == SHARE_FORMAT and metrics.is_being_measured else NO_VALUE
    if form == COST_FORMAT:
        return cost_text(number)
    return count_text(number) if form == WHOLE_FORMAT else f"{number:,}"


@dataclass(frozen=True)
class RunNames:
    """Names of cells, agents and algorithms of a run, for descriptions of commands."""

    timeline: Timeline

    def cell(self, cell: int) -> str:
        return f"{self.timeline.world.grid.xy(cell)}"

    def agent_name(self, agent: int) -> str:
        record, names = self.timeline.run_history.agent_records.get(agent), self.timeline.command_log.names_of_agents()
        if record is None:
            return names.get(agent) or f"agent {agent}"
        return names.get(agent, record.label) or self.algorithm_name(record.kind)

    def algorithm_name(self, kind: str) -> str:
        spec = self.timeline.world.agent_specs.get(kind)
        return spec.name if spec else kind
