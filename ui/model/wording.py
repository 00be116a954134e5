"""Numbers and states as the panels print them."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

from sim.agent_api import STATUS_WORDS
from sim.metrics import Metrics
from sim.params import Param, Value
from sim.time.timeline import Timeline
from sim.world import WalkerView

NOTHING = "-"
_TRIAL_TIP = "the present walk from start to goal; it is the last when nothing was left to learn in it"


def whole(number: float) -> str:
    """A count with separators, shortened from ten million on."""
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


def or_nothing(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"


def param_chip(param: Param, value: Value) -> str:
    """A parameter and its value as a panel header shows it, such as 'w 1.4' or 'lazy'."""
    if param.kind is bool:
        return param.name.replace("_", " ")
    if param.kind is str:
        return str(value)
    number = f"{value:g}"
    return f"{param.symbol or param.name.replace('_', ' ')} {number}"


def full_name(view: WalkerView) -> str:
    """The label, and the algorithm where the label does not say it."""
    return view.label if names_algorithm(view) else f"{view.label} ({view.spec.name})"


def names_algorithm(view: WalkerView) -> bool:
    """Whether an agent is called after its algorithm, such as "TBA*" or "RTB-WA* lazy"."""
    return view.label.startswith(view.spec.name)


def next_label(label: str, taken: Collection[str]) -> str:
    """The next free name of this kind: after "lazy" comes "lazy 2", after "w = 3" comes "w = 3 (2)"."""
    bare = re.sub(r" (\d+|\(\d+\))$", "", label)
    base = bare if bare in taken else label
    numbered = f"{base} ({{}})" if base[-1:].isdigit() else f"{base} {{}}"
    return next(name for n in count(2) if (name := numbered.format(n)) not in taken)


_SHORT_STATES = {
    "waiting": "wait",
    "searching": "search",
    "tracing": "trace",
    "following": "follow",
    "walking back": "back",
    "to and fro": "to/fro",
    "learning": "learn",
    "converged": "learned",
}
LONG_STATES = (*_SHORT_STATES, *STATUS_WORDS.values())
SHORT_STATES = (*_SHORT_STATES.values(), *STATUS_WORDS.values())


def short_state(word: str) -> str:
    """What a state is called in a narrow panel."""
    return _SHORT_STATES.get(word, word)


_SHORT_FIELDS = {
    "back-moves": "back",
    "x optimal": "x opt",
    "revisits": "rev",
    "expanded": "exp",
    "non-optimal": "non-opt",
    "first move": "1st move",
}


def short_field(name: str) -> str:
    """What a number is called in a narrow panel."""
    return _SHORT_FIELDS.get(name, name)


def speed(ticks_per_second: int) -> str:
    return "full speed" if ticks_per_second <= 0 else f"{ticks_per_second:,} ticks/s"


def hud_fields(view: WalkerView) -> list[tuple[str, str, str, str]]:
    """What a panel's foot shows, most important first: (name, value, emphasis, explanation)."""
    own = [(name, own_number(value), "", f"counted by {view.spec.name}") for name, value in view.agent.numbers.items()]
    return [*_metric_fields(view), *own]


def own_number(value: float) -> str:
    return whole(value) if float(value).is_integer() else cost(value)


def _metric_fields(view: WalkerView) -> list[tuple[str, str, str, str]]:
    m = view.metrics
    trial = [("trial", f"{m.trial:,} / {view.most_trials:,}", "strong", _TRIAL_TIP)] if view.most_trials > 1 else []
    return [
        ("moves", whole(m.moves), "", "moves made; waiting in place is none"),
        (
            "back-moves",
            whole(m.back_moves),
            "warning" if m.back_moves else "",
            "moves back along parents because the agent was off its path",
        ),
        (
            "x optimal",
            ratio(m.suboptimality),
            "strong",
            "cost walked in this trial, over the optimal cost from the start",
        ),
        *trial,
        ("revisits", whole(m.revisits), "", "moves onto cells that the agent had stood on before"),
        ("expanded", whole(m.expansions), "", "cells expanded so far"),
        ("cost", cost(m.cost), "", "cost walked so far"),
        ("restarts", whole(m.restarts), "warning" if m.restarts else "", "searches begun again after a change"),
        ("non-optimal", *_nonoptimal(m)),
        ("first move", or_nothing(m.first_move), "", "tick of the first move"),
        ("max/tick", whole(m.max_expansions), "warning" if m.over_budget else "", "most cells expanded in one tick"),
    ]


def _nonoptimal(m: Metrics) -> tuple[str, str, str]:
    """The non-optimal moves, and with them the back-moves in percent of them, which beside "moves" would mislead."""
    tip = "moves that did not bring the agent nearer to the goal by what they cost"
    if not m.back_moves or m.back_move_share is None:
        return or_nothing(m.nonoptimal_moves), "", tip
    share = percent(m.back_move_share)
    tip += f"; back-moves are {share} of their number, the measure of the paper Time-Bounded Best-First Search"
    return f"{or_nothing(m.nonoptimal_moves)}, {share} back", "", tip


@dataclass(frozen=True)
class RunNames:
    """What cells and agents are called where commands are put into words."""

    timeline: Timeline

    def cell(self, cell: int) -> str:
        return f"{self.timeline.world.grid.xy(cell)}"

    def agent(self, agent: int) -> str:
        record = self.timeline.records.get(agent)
        return record.label if record else f"agent {agent}"

    def algorithm(self, kind: str) -> str:
        spec = self.timeline.world.specs.get(kind)
        return spec.name if spec else kind
