"""Numbers and states as the panels print them."""

import math

from sim.params import Param, Value
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
            f"{whole(m.back_moves)}  {percent(m.back_move_share)}",
            "warning" if m.back_moves else "",
            "moves back along parents because the agent was off its path; share of the non-optimal moves",
        ),
        (
            "x optimal",
            ratio(m.suboptimality),
            "strong",
            "cost walked in this trial, over the optimal cost from the start",
        ),
        *trial,
        ("cost", cost(m.cost), "", "cost walked so far"),
        ("expanded", whole(m.expansions), "", "cells expanded so far"),
        ("revisits", whole(m.revisits), "", "moves onto cells that the agent had stood on before"),
        ("restarts", whole(m.restarts), "warning" if m.restarts else "", "searches begun again after a change"),
        (
            "non-optimal",
            or_nothing(m.nonoptimal_moves),
            "",
            "moves that did not bring the agent nearer to the goal by what they cost",
        ),
        ("first move", or_nothing(m.first_move), "", "tick of the first move"),
        ("max/tick", whole(m.max_expansions), "warning" if m.over_budget else "", "most cells expanded in one tick"),
    ]
