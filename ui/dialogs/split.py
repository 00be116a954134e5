"""Dialog that splits the run: it creates branches from the present tick with different settings of one agent."""

from collections.abc import Mapping

from sim.params import ConfigError, Param, Value
from ui.dialogs.base import Dialog, Host, take_top
from ui.model import branching
from ui.widgets.controls import Text
from ui.widgets.forms import named
from ui.widgets.lists import Col, Item, Rows

_MAX_VARIANTS = 4  # maximum number of branches of one split
_BUDGET = Param("budget", int, 1, "maximum expansions of this agent in one tick", symbol="k")

Variants = list[Mapping[str, Value | None]]


class SplitPolicy(Dialog):
    title = "Split"
    size = (620, 460)
    command = "split_policy"

    def __init__(self, host: Host) -> None:
        walker = host.session.focused
        assert walker is not None
        self.hint = f"{walker.label}, from the current tick on; later edits apply to all branches"
        self.choices = choices_of(walker.spec.params, walker.params, walker.budget or host.session.run.world.budget)
        super().__init__(host)

    def build(self) -> None:
        area = self.area
        self.add(Text(self, take_top(area, self.px(26)), "Create one branch for each value:", role="dim"))
        items = [Item((words, _variants_text(variants)), variants, detail) for words, detail, variants in self.choices]
        self.rows = Rows(self, area, [Col(width=190), Col(face="mono", role="dim")], items, chosen=self.confirm)
        self.add(self.rows)
        self.add_footer(("Cancel", self.cancel, ""), ("Split", self.confirm, "main"))
        self.add_note()

    def confirm(self) -> None:
        item = self.rows.item
        if item is None:
            return
        try:
            branches = branching.split(self.host.session, item.value)
        except ConfigError as error:
            self.complain("\n".join(error.problems))
            return
        self.host.close_dialog()
        self.host.tell(f"{len(branches)} branches from tick {self.host.session.tick:,} on; edits apply to all of them")


def choices_of(params: tuple[Param, ...], now: Mapping[str, Value], budget: int) -> list[tuple[str, str, Variants]]:
    """Return the parameters with values to split by, each as (name in forms, explanation, variants).

    These are all parameters with choices or on/off, the weight, and the budget. A variant is one value of the parameter
    and becomes one branch.
    """
    # List "restart" first, because users split by this parameter most often.
    asked_for = sorted(params, key=lambda param: param.name != "restart")
    budgets = sorted({max(1, budget // 4), budget, budget * 4})
    found = [(param, _values_to_compare(param, now[param.name])) for param in asked_for]
    found.append((_BUDGET, list(budgets)))
    return [
        (named(param), param.help, [{param.name: value} for value in values])
        for param, values in found
        if len(values) > 1
    ]


def _values_to_compare(param: Param, now: Value) -> list[Value]:
    """Return the values of a parameter to create branches for; empty if the parameter is not offered."""
    if param.kind is bool:
        return [False, True]
    if param.kind is str:
        return list(param.choices[:_MAX_VARIANTS])
    if param.name == "weight":
        return list(sorted({1.0, 1.4, 3.0, float(now)})[:_MAX_VARIANTS])
    return []


def _variants_text(variants: Variants) -> str:
    return ", ".join(_shown(value) for variant in variants for value in variant.values())


def _shown(value: Value | None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else f"{value}"
