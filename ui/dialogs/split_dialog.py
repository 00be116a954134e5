"""Dialog that splits the run: it creates branches from the present tick with different settings of one agent."""

from collections.abc import Mapping

from sim.params import ConfigError, Param, Value
from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_top
from ui.model import branch_actions
from ui.widgets.controls import TextLabel
from ui.widgets.param_form import display_name_of_param
from ui.widgets.row_list import ListColumn, ListRow, RowList

_MAX_VARIANTS = 4  # maximum number of branches of one split
_BUDGET_PARAM = Param("budget", int, 1, "maximum expansions of this agent in one tick", symbol="k")

ParamVariants = list[Mapping[str, Value | None]]


class SplitDialog(Dialog):
    title = "Split"
    size = (620, 460)
    command_id = "split_policy"

    def __init__(self, host: DialogHost) -> None:
        walker = host.session.focused_walker
        assert walker is not None
        self.hint = f"{walker.label}, from the current tick on; later edits apply to all branches"
        self.split_choices = split_choices_of_params(
            walker.spec.params, walker.params, walker.budget or host.session.run.world.budget
        )
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.content_rect
        self.add(
            TextLabel(self, cut_strip_from_top(area, self.to_px(26)), "Create one branch for each value:", role="dim")
        )
        items = [
            ListRow((name, _variant_values_text(variants)), variants, detail)
            for name, detail, variants in self.split_choices
        ]
        self.choice_list = RowList(
            self,
            area,
            [ListColumn(width=190), ListColumn(font_face="mono", colour_name="dim")],
            items,
            chosen=self.on_confirm,
        )
        self.add(self.choice_list)
        self.add_footer_buttons(("Cancel", self.cancel, ""), ("Split", self.on_confirm, "main"))
        self.add_problem_note()

    def on_confirm(self) -> None:
        item = self.choice_list.selected_row
        if item is None:
            return
        try:
            branches = branch_actions.split_into_variants(self.host.session, item.value)
        except ConfigError as error:
            self.show_problem("\n".join(error.problems))
            return
        self.host.close_dialog()
        self.host.show_message_until_edit(
            f"{len(branches)} branches from tick {self.host.session.tick:,} on; edits apply to all of them"
        )


def split_choices_of_params(
    params: tuple[Param, ...], now: Mapping[str, Value], budget: int
) -> list[tuple[str, str, ParamVariants]]:
    """Return the parameters with values to split by, each as (name in forms, explanation, variants).

    These are all parameters with choices or on/off, the weight, and the budget. A variant is one value of the parameter
    and becomes one branch.
    """
    # List "restart" first, because users split by this parameter most often.
    ordered_params = sorted(params, key=lambda param: param.name != "restart")
    budgets = sorted({max(1, budget // 4), budget, budget * 4})
    params_with_values = [(param, _values_to_split_by(param, now[param.name])) for param in ordered_params]
    params_with_values.append((_BUDGET_PARAM, list(budgets)))
    return [
        (display_name_of_param(param), param.help, [{param.name: value} for value in values])
        for param, values in params_with_values
        if len(values) > 1
    ]


def _values_to_split_by(param: Param, now: Value) -> list[Value]:
    """Return the values of a parameter to create branches for; empty if the parameter is not offered."""
    if param.kind is bool:
        return [False, True]
    if param.kind is str:
        return list(param.choices[:_MAX_VARIANTS])
    if param.name == "weight":
        return list(sorted({1.0, 1.4, 3.0, float(now)})[:_MAX_VARIANTS])
    return []


def _variant_values_text(variants: ParamVariants) -> str:
    return ", ".join(_value_text(value) for variant in variants for value in variant.values())


def _value_text(value: Value | None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else f"{value}"
