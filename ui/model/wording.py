"""Numbers and states of agents as texts for the panels."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

from sim.agent_api import STATUS_WORDS, Status
from sim.commands import with_end
from sim.measures import COST, IN_PANEL, RATIO, SHARE, WHOLE, InPanel, Measure
from sim.metrics import Metrics
from sim.params import Param, Value
from sim.time.timeline import Timeline
from sim.walker import WalkerView
from ui.model.crowds import TIMES, Crowd

NOTHING = "-"
SO_FAR = " so far"
LONGEST = "longest ms"
_MAX_TICK_TIP = (
    f"longest of the last {TIMES} ticks shown: computing time of all agents of this crowd together, in milliseconds"
)
NOT_YET = "..."  # text shown in place of a number that is still being computed
TRIAL_PLACE = 3  # index of the trial among the numbers below a map: after moves, back-moves and cost / optimal
_TRIAL_TIP = "current walk from start to goal; the last one is the walk in which nothing was left to learn"


def whole(number: float) -> str:
    """Return a count as text with thousands separators; from ten million on, in millions."""
    if number >= 10_000_000:
        return f"{number / 1e6:,.1f}M"
    return f"{number:,.0f}"


def ratio(number: float | None) -> str:
    if number is None or not math.isfinite(number):
        return NOTHING
    return f"{number:.2f}" if number < 100 else f"{number:,.0f}"


def cost(number: float) -> str:
    return f"{number:,.1f}" if number < 10_000 else f"{number:,.0f}"


def percent(number: float | None) -> str:
    return NOTHING if number is None else f"{number:.0f}%"


def param_chip(param: Param, value: Value) -> str:
    """Return a parameter and its value as a panel header shows it, such as 'w 1.4' or 'lazy'."""
    if param.kind is bool:
        return param.name.replace("_", " ")
    if param.kind is str:
        return str(value)
    number = f"{value:g}" if isinstance(value, float) else f"{value:,}" if value or not param.zero else param.zero
    return f"{param.symbol or param.name.replace('_', ' ')} {number}"


def full_name(view: WalkerView) -> str:
    """Return the label of an agent, followed by the name of its algorithm unless the label contains that."""
    return view.label if names_algorithm(view) else f"{view.label} ({view.spec.name})"


def names_algorithm(view: WalkerView) -> bool:
    """Return whether an agent's label begins with the name of its algorithm, such as "RTB-WA* lazy"."""
    return view.label.startswith(view.spec.name)


def next_label(label: str, taken: Collection[str]) -> str:
    """Return the label with the next number that is not taken: "lazy 2" for "lazy", "w = 3 (2)" for "w = 3"."""
    bare = re.sub(r" (\d+|\(\d+\))$", "", label)
    base = bare if bare in taken else label
    end = " ({})" if base[-1:].isdigit() else " {}"
    return next(name for n in count(2) if (name := with_end(base, end.format(n))) not in taken)


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
ENDED = (Status.AT_GOAL, Status.NO_PATH, Status.GAVE_UP)
SHORT_STATES = (*_SHORT_STATE_WORDS.values(), *STATUS_WORDS.values())


def short_state(word: str) -> str:
    """Return the text of an agent's state for a narrow panel, such as "wait" for "waiting"."""
    return _SHORT_STATE_WORDS.get(word, word)


def speed(ticks_per_second: int) -> str:
    return "full speed" if ticks_per_second <= 0 else f"{ticks_per_second:,} ticks/s"


@dataclass(frozen=True)
class Number:
    """Number below the map of a panel, as text with its name and tooltip."""

    name: str
    value: str
    tip: str
    is_warning: bool = False
    short: str = ""  # shorter name for narrow panels; "": `name` is used there as well
    remark: str = ""  # text shown after the name at present, such as " so far"
    remarks: bool = False  # whether the number can have a `remark`, so that space is reserved for it

    @property
    def shown_name(self) -> str:
        return self.name + self.remark

    @property
    def short_name(self) -> str:
        return self.short or self.name

    @property
    def longest_name(self) -> str:
        return self.name + (SO_FAR if self.remarks else "")


def has_arrived(view: WalkerView) -> bool:
    """Return whether the agent's walk is complete, so that its cost / optimal is final."""
    return view.status == Status.AT_GOAL


def hud_fields(view: WalkerView) -> list[Number]:
    """Return the numbers below the map in an agent's panel, the most important first."""
    shown = ((m, panel) for m, panel in IN_PANEL if not panel.is_rare or m.of(view.metrics))
    fields = [_measured(measure, panel, view.metrics, has_arrived(view)) for measure, panel in shown]
    if view.most_trials > 1:
        fields.insert(TRIAL_PLACE, Number("trial", f"{view.metrics.trial:,} / {view.most_trials:,}", _TRIAL_TIP))
    own = [
        Number(name, own_number(value), f"counted by {view.spec.name}") for name, value in view.agent.numbers.items()
    ]
    return [*fields, *own]


_ARRIVED_RATIO_TIP = "cost / optimal of the agents that have arrived"


def crowd_costs(crowd: Crowd, pooled: float | None) -> str:
    """Return the cost / optimal of a crowd as text: the pooled ratio, and mean, median and maximum of its agents.

    Args:
        crowd: The crowd.
        pooled: Total cost of the agents that arrived / their total optimal cost, as in tables of agents.
    """
    numbers = crowd.numbers
    means = f"pooled {ratio(pooled)}, mean of agents {ratio(numbers.mean_ratio)}"
    return f"cost / optimal: {means}, median {ratio(numbers.median_ratio)}, max {ratio(numbers.worst_ratio)}"


def crowd_fields(crowd: Crowd) -> list[Number]:
    """Return the numbers below the map in a crowd's panel: totals, means and maxima over its agents."""
    numbers = crowd.numbers
    restarts, stuck = numbers.total("restarts"), numbers.without_path
    most = int(numbers.counts["max_expansions"].max())
    fields = [
        Number(
            "arrived",
            f"{numbers.arrived:,} / {numbers.count:,}",
            "agents that have reached their goals, of all agents",
            short="arr.",
        ),
        Number("mean cost / opt", ratio(numbers.mean_ratio), f"mean of {_ARRIVED_RATIO_TIP}", short="mean c/o"),
        Number("median", ratio(numbers.median_ratio), f"median of {_ARRIVED_RATIO_TIP}"),
        Number("max", ratio(numbers.worst_ratio), f"maximum of {_ARRIVED_RATIO_TIP}"),
        Number("back-moves", whole(numbers.total("back_moves")), "back-moves of all agents together", short="back"),
        Number(LONGEST, f"{crowd.longest_ms:.1f}", _MAX_TICK_TIP, short="longest"),
        Number(
            "restarts", whole(restarts), "searches restarted after a change, by all agents together", bool(restarts)
        ),
        Number("expanded", whole(numbers.total("expansions")), "cells expanded by all agents together", short="exp"),
        Number("max/tick", whole(most), "maximum number of cells that one agent expanded in a tick"),
        Number("moves", whole(numbers.total("moves")), "moves of all agents together"),
    ]
    if not crowd.tick_ms:  # the world has no clock, so tick times were not recorded
        fields = [field for field in fields if field.name != LONGEST]
    if stuck:
        fields.insert(
            1, Number("no path", f"{stuck:,}", "agents that have proved that there is currently no path for them", True)
        )
    if numbers.stopped:
        fields.insert(
            1,
            Number(
                "stopped",
                f"{numbers.stopped:,}",
                "agents that failed, broke a rule or gave up, and no longer move",
                True,
            ),
        )
    return fields


def own_number(value: float) -> str:
    return whole(value) if float(value).is_integer() else cost(value)


def _measured(measure: Measure, panel: InPanel, metrics: Metrics, is_whole: bool) -> Number:
    value, tip = in_form(measure, panel.form, metrics), measure.words
    if panel.form == SHARE and (share := _back_move_share_text(metrics)):
        value += f", {share} back"
        tip += f"; back-moves are {share} of their number, the measure of the paper Time-Bounded Best-First Search"
    grows = panel.form == RATIO
    remark = SO_FAR if grows and not is_whole else ""
    return Number(panel.name, value, tip, measure.is_warning(metrics), panel.short, remark, grows)


def _back_move_share_text(metrics: Metrics) -> str:
    """Return the back-moves in percent of the non-optimal moves, or "" if unknown.

    The text belongs to the non-optimal moves: next to the number of all moves it would mislead.
    """
    has_share = metrics.back_moves and metrics.back_move_share is not None
    return percent(metrics.back_move_share) if has_share else ""


def in_form(measure: Measure, form: str, metrics: Metrics) -> str:
    """Return the value of a measure as text, in the form (ratio, cost, whole number) in which panels show it."""
    number = measure.of(metrics)
    if form == RATIO:
        return ratio(number)
    if number is None:
        return NOT_YET if form == SHARE and metrics.is_being_measured else NOTHING
    if form == COST:
        return cost(number)
    return whole(number) if form == WHOLE else f"{number:,}"


@dataclass(frozen=True)
class RunNames:
    """Names of cells, agents and algorithms of a run, for descriptions of commands."""

    timeline: Timeline

    def cell(self, cell: int) -> str:
        return f"{self.timeline.world.grid.xy(cell)}"

    def agent(self, agent: int) -> str:
        record, names = self.timeline.records.get(agent), self.timeline.log.given_names()
        if record is None:
            return names.get(agent) or f"agent {agent}"
        return names.get(agent, record.label) or self.algorithm(record.kind)

    def algorithm(self, kind: str) -> str:
        spec = self.timeline.world.specs.get(kind)
        return spec.name if spec else kind
