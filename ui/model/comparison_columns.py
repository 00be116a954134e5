"""Columns of the table that compares agents, on screen and in CSV files: measures and other facts about an agent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from files.csv_text import CsvCell
from sim.agent_api import AgentSpec, Status
from sim.measures import MEASURES, Measure
from sim.params import Param, Value
from sim.world_view import WalkerView
from ui.model.run import Panel, Run


@dataclass(frozen=True)
class ComparisonColumn:
    """One column of the table that compares agents, on screen and in CSV files."""

    key: str
    title: str
    help_text: str
    value_of_panel: Callable[[Run, Panel], CsvCell]
    decimal_places: int = 0  # number of digits shown after the decimal point
    width: float = 74.0  # width on screen in design units, which are pixels at 100 % UI scale
    is_shown: bool = True  # whether the column is shown on screen; False: it is only written to CSV files
    is_text: bool = False
    is_warning: Callable[[WalkerView], bool] = lambda view: False


def _column_of_measure(measure: Measure) -> ComparisonColumn:
    return ComparisonColumn(
        measure.key,
        measure.column_title,
        measure.description,
        lambda run, panel: measure.value_for_agent(panel.walker_view.metrics),
        measure.decimal_digits,
        measure.width,
        is_shown=measure.width > 0.0,
        is_warning=lambda view: measure.has_warning_for_agent(view.metrics),
    )


def arrival_tick(run: Run, panel: Panel) -> int | None:
    """Return the tick at which the agent of a panel reached its goal; None if it has not, or for a crowd."""
    trail = run.trail_by_panel.get(panel.key)
    if panel.walker_view.status is not Status.AT_GOAL or trail is None or panel.crowd is not None:
        return None
    return trail.last_tick


def params_text(spec: AgentSpec, params: Mapping[str, Value], separator: str = " ") -> str:
    """Return these parameters of an agent as typed on the command line, such as "weight=1.5 reopen=true"."""
    return separator.join(f"{name}={_param_value_text(spec.param(name), value)}" for name, value in params.items())


def _param_value_text(param: Param | None, value: Value) -> str:
    """Return a parameter value as typed on the command line, such as "true" or "1.5"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if param and param.zero_word and not value:
        return param.zero_word
    return f"{value:g}" if isinstance(value, float) else str(value)


COLUMNS: tuple[ComparisonColumn, ...] = (
    ComparisonColumn("agent", "Agent", "name of the agent", lambda _, p: p.walker_view.label, width=0.0, is_text=True),
    ComparisonColumn("kind", "Kind", "algorithm", lambda _, p: p.walker_view.spec.key, is_shown=False, is_text=True),
    ComparisonColumn(
        "params",
        "Parameters",
        "all parameters",
        lambda _, p: params_text(p.walker_view.spec, p.walker_view.params),
        is_shown=False,
        is_text=True,
    ),
    ComparisonColumn("budget", "k", "expansions allowed in a tick", lambda _, p: p.walker_view.budget, width=58.0),
    ComparisonColumn(
        "state", "State", "what the agent is doing", lambda _, p: p.walker_view.state_word, width=102.0, is_text=True
    ),
    *(_column_of_measure(measure) for measure in MEASURES),
    ComparisonColumn("arrived", "Arrived", "tick of the arrival", arrival_tick),
)
