"""Split policy: the same agent with several settings from this tick on, side by side."""

from collections.abc import Mapping

from sim.params import ConfigError, Param, Value
from ui.dialogs.base import Dialog, Host, take_top
from ui.model import branching
from ui.widgets.controls import Text
from ui.widgets.lists import Col, Item, Rows

_MOST = 4  # futures of one split

Variants = list[Mapping[str, Value | None]]


class SplitPolicy(Dialog):
    title = "Split"
    size = (620, 460)
    command = "split_policy"

    def __init__(self, host: Host) -> None:
        walker = host.session.focused
        assert walker is not None
        self.hint = f"{walker.label}, from the present tick on; later edits go to all"
        self.choices = choices_of(walker.spec.params, walker.params, walker.budget or host.session.run.world.budget)
        super().__init__(host)

    def build(self) -> None:
        area = self.area
        self.add(Text(self, take_top(area, self.px(26)), "One future for each value:", role="dim"))
        items = [Item((name, _shown_all(name, variants)), variants) for name, variants in self.choices]
        self.rows = Rows(self, area, [Col(width=150), Col(face="mono", role="dim")], items, chosen=self.confirm)
        self.add(self.rows)
        self.add_footer(("Cancel", self.cancel, ""), ("Split", self.confirm, "main"))
        self.add_note()

    def confirm(self) -> None:
        item = self.rows.item
        if item is None:
            return
        try:
            futures = branching.split(self.host.session, item.value)
        except ConfigError as error:
            self.complain("\n".join(error.problems))
            return
        self.host.close_dialog()
        self.host.tell(f"{len(futures)} futures from tick {self.host.session.tick:,} on; edits go to all of them")


def choices_of(params: tuple[Param, ...], now: Mapping[str, Value], budget: int) -> list[tuple[str, Variants]]:
    """What can be split: every choice and switch, a few values of every number, and the budget."""
    found: list[tuple[str, Variants]] = []
    for param in params:
        values = _values_of(param, now[param.name])
        if len(values) > 1:
            found.append((param.name, [{param.name: value} for value in values]))
    found.sort(key=lambda choice: choice[0] != "restart")  # what the split is asked for most
    budgets = sorted({max(1, budget // 4), budget, budget * 4})
    found.append(("budget", [{"budget": value} for value in budgets]))
    return found


def _values_of(param: Param, now: Value) -> list[Value]:
    """The values worth comparing with the present one, in order."""
    if param.kind is bool:
        return [False, True]
    if param.kind is str:
        return list(param.choices[:_MOST])
    if param.name == "weight":
        return list(sorted({1.0, 1.4, 3.0, float(now)})[:_MOST])
    return []


def _shown_all(name: str, variants: Variants) -> str:
    return ", ".join(_shown(name, variant) for variant in variants)


def _shown(name: str, variant: Mapping[str, Value | None]) -> str:
    value = variant[name]
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else f"{value}"
