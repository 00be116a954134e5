"""Experiment: runs of the panels' agents on many problems of this map, in the background, with a table and a plot.

A sweep runs one agent with all combinations of two parameters, and shows a coloured table instead of the plot.
"""

from collections.abc import Callable, Iterable
from itertools import accumulate
from math import isnan

import pygame

from agents.registry import AGENT_SPECS_BY_KEY
from experiments import draft as sketches
from experiments.draft import ExperimentDraft, SweepAxis, parse_budgets, parse_sweep_axis
from sim.params import ConfigError, Param, Value
from sim.world_commands import AgentConfig
from ui.dialogs.dialog_base import (
    BUTTON_HEIGHT,
    DialogHost,
    FormDialog,
    cut_strip_from_bottom,
    cut_strip_from_left,
    cut_strip_from_top,
)
from ui.dialogs.experiment_plots import CostPlot, ExperimentChart, ExperimentProgressBar, SweepTable
from ui.model import background_experiment as studies
from ui.model.background_experiment import BackgroundExperiment, SettingResults, setting_name
from ui.model.start_over import current_agent_configs
from ui.model.ui_state import UiState
from ui.widgets.controls import TextLabel
from ui.widgets.param_form import ParamForm
from ui.widgets.row_list import ListColumn, ListRow, RowList
from ui.widgets.text_field import TextField

PROBLEM_LIST_SOURCE, RANDOM_PAIRS_SOURCE = "problem list", "random pairs"
PROBLEM_COUNT_PARAM = Param("problems", int, 40, "every agent solves each of them with every budget", 1, 5000)
PROBLEM_SEED_PARAM = Param("seed", int, 1, "another seed gives other problems", 0, 10_000)
RESULT_COLUMNS = (
    ListColumn("Setting"),
    ListColumn("k", 56, "right", "mono"),
    ListColumn("Arrived", 76, "right", "mono"),
    ListColumn("Mean c / opt", 100, "right", "mono"),
    ListColumn("Median", 72, "right", "mono"),
    ListColumn("Max", 72, "right", "mono"),
    ListColumn("Pooled exp / move", 136, "right", "mono"),
    ListColumn("Max / tick", 82, "right", "mono"),
    ListColumn("Pooled µs / move", 130, "right", "mono"),
)
MIN_SETTING_COLUMN_WIDTH = 70  # minimum width of the column "Setting", in design units
_SWEEP_EXAMPLE_FACTORS = (1, 2, 4)  # values in the hint for a sweep, as multiples of the parameter's default
_REFRESH_INTERVAL_S = 0.5  # seconds between two updates of the results


class ExperimentDialog(FormDialog):
    title = "Experiment"
    hint = "runs in the background; finished runs are kept"
    size = (1240, 700)
    command_id = "experiment"

    def __init__(self, host: DialogHost, state: UiState) -> None:
        self.ui_state = state
        source = PROBLEM_LIST_SOURCE if host.benchmark_problems is not None else RANDOM_PAIRS_SOURCE
        self.values: dict[str, Value] = {
            "source": source,
            PROBLEM_COUNT_PARAM.name: PROBLEM_COUNT_PARAM.default,
            PROBLEM_SEED_PARAM.name: PROBLEM_SEED_PARAM.default,
        }
        budget = host.session.run.world.budget
        self.budgets_text = " ".join(str(k) for k in sorted({1, max(1, budget // 4), budget, 4 * budget}))
        self.sweep_texts = ["", ""]
        self._refresh_timer_s = 0.0  # seconds until the next update of the results
        super().__init__(host)

    @property
    def current_experiment(self) -> BackgroundExperiment | None:
        return self.ui_state.background_experiment

    # --- widgets ----------------------------------------------------------------------------------

    def build_controls(self) -> None:
        area = self.content_rect
        left = cut_strip_from_left(area, self.to_px(300), self.to_px(24))
        self._build_form(left)
        self.progress_label = TextLabel(self, cut_strip_from_top(area, self.to_px(24)), "", role="text")
        self.add(self.progress_label)
        self.progress_bar = ExperimentProgressBar(self, cut_strip_from_top(area, self.to_px(6), self.to_px(4)))
        self.add(self.progress_bar)
        self.left_out_agents_label = TextLabel(
            self, cut_strip_from_top(area, self.to_px(18), self.to_px(2)), "", role="warning", size=12
        )
        self.add(self.left_out_agents_label)
        plot = cut_strip_from_bottom(area, max(self.to_px(120), area.height * 11 // 20), self.to_px(12))
        columns = self._columns_fitting_into(area.width)
        items = self._result_rows()
        self.result_list = RowList(
            self,
            area,
            columns,
            items,
            chosen=self.on_confirm,
            selected=self._on_result_selected,
            empty="No results yet",
        )
        self.add(self.result_list)
        is_sweep = self.current_experiment is not None and bool(self.current_experiment.draft.sweep)
        self.result_chart: ExperimentChart = (SweepTable if is_sweep else CostPlot)(self, plot)
        self.add(self.result_chart)
        is_running = self.current_experiment is not None and self.current_experiment.is_running
        buttons: list[tuple[str, Callable[[], None], str]] = [("Close", self.cancel, "")]
        has_results = self.current_experiment is not None
        start = ("Start", self._start_experiment, "" if has_results else "main")
        buttons.append(("Stop", self._stop_experiment, "danger") if is_running else start)
        buttons.append(("Open run", self.on_confirm, "main" if has_results else ""))
        self.add_footer_buttons(*buttons)
        self.add_problem_note()
        self._update_texts()

    def _columns_fitting_into(self, width: int) -> list[ListColumn]:
        """Return the columns that fit into a width in pixels, from left to right, but at least one."""
        right_edges = accumulate(self.to_px(column.width or MIN_SETTING_COLUMN_WIDTH) for column in RESULT_COLUMNS)
        return [
            column for column, right_edge in zip(RESULT_COLUMNS, right_edges, strict=True) if right_edge <= width
        ] or [RESULT_COLUMNS[0]]

    def _build_form(self, area: pygame.Rect) -> None:
        source = Param(
            "source",
            str,
            RANDOM_PAIRS_SOURCE,
            "where starts and goals come from",
            choices=(RANDOM_PAIRS_SOURCE, PROBLEM_LIST_SOURCE),
        )
        sources = (source,) if self.host.benchmark_problems is not None else ()
        fields = cut_strip_from_bottom(area, self.to_px(190), self.to_px(8))
        self.option_form = ParamForm(
            self, area, (*sources, PROBLEM_COUNT_PARAM, PROBLEM_SEED_PARAM), self.values, self._on_value_changed
        )
        for control in self.option_form.controls():
            self.add(control)
        walker = self.host.session.focused_walker
        name = walker.label if walker is not None else "an agent"
        own = ", ".join(self._agents_with_budgets())
        self._add_label(fields, f"Budgets, except for {own}" if own else "Budgets")
        self._add_text_field(fields, self.budgets_text, self._set_budgets_text)
        self._add_label(fields, f"Or sweep two parameters of {name}")
        self._add_text_field(
            fields,
            self.sweep_texts[0],
            self._set_first_axis_text,
            sweep_hint_text(walker.spec.params if walker is not None else ()),
        )
        self._add_text_field(fields, self.sweep_texts[1], self._set_second_axis_text, "e.g. budget: 1 4 16 64")

    def _add_label(self, area: pygame.Rect, text: str) -> None:
        self.add(TextLabel(self, cut_strip_from_top(area, self.to_px(20)), text, role="dim", size=12))

    def _add_text_field(self, area: pygame.Rect, text: str, changed: Callable[[str], None], hint: str = "") -> None:
        rect = cut_strip_from_top(area, self.to_px(BUTTON_HEIGHT), self.to_px(8))
        self.add(TextField(self, rect, text, changed, mono=True, hint=hint))

    def _on_value_changed(self, name: str, value: Value) -> None:
        self.values[name] = value

    def _set_budgets_text(self, text: str) -> None:
        self.budgets_text = text
        self._update_texts()

    def _set_first_axis_text(self, text: str) -> None:
        self.sweep_texts[0] = text
        self._update_texts()

    def _set_second_axis_text(self, text: str) -> None:
        self.sweep_texts[1] = text
        self._update_texts()

    def scroll_to_control(self, control: object) -> None:
        self.option_form.scroll_to_control(control)  # type: ignore[arg-type]

    # --- running ----------------------------------------------------------------------------------

    def _start_experiment(self) -> None:
        if self.option_form.has_invalid_row():
            return
        try:
            draft = self._entered_experiment_draft()
            self.ui_state.background_experiment = studies.begin_experiment(draft)
        except ConfigError as error:
            self.show_problem("\n".join(error.problems))
            return
        except OSError as error:
            self.show_problem(f"The experiment could not be started: {error.strerror or error}")
            return
        self.show_problem("")
        self.rebuild_widgets()

    def _entered_experiment_draft(self) -> ExperimentDraft:
        session, axes = self.host.session, self._entered_axes()
        configs = [_config_without_start_and_goal(config) for config in current_agent_configs(session.run)]
        if axes:
            walker = session.focused_walker
            configs = [] if walker is None else [AgentConfig(walker.spec.key, params=dict(walker.params))]
        if not configs:
            raise ConfigError("There is no agent to run; add one")
        grid = session.run.scenario.grid
        rows = (
            self.host.benchmark_problems.rows
            if self.values["source"] == PROBLEM_LIST_SOURCE and self.host.benchmark_problems is not None
            else []
        )
        return ExperimentDraft(
            session.run.scenario.title,
            grid,
            tuple(configs),
            parse_budgets(self.budgets_text),
            int(self.values[PROBLEM_COUNT_PARAM.name]),
            int(self.values[PROBLEM_SEED_PARAM.name]),
            tuple(row for row in rows if row.is_readable and row.problem is None),
            axes,
        )

    def _agents_with_budgets(self) -> list[str]:
        """Return name and budget of the agents that have their own budget, which the experiment does not vary."""
        configs = current_agent_configs(self.host.session.run)
        return [f"{config.label or config.kind} ({config.budget:,})" for config in configs if config.budget is not None]

    def _entered_axes(self) -> tuple[SweepAxis, ...]:
        given = [text for text in self.sweep_texts if text.strip()]
        walker = self.host.session.focused_walker
        if not given or walker is None:
            return ()
        if len(given) == 1:
            raise ConfigError("sweep: expected two parameters, got one")
        axes = tuple(parse_sweep_axis(text, walker.spec) for text in given)
        if axes[0].name == axes[1].name:
            raise ConfigError(f"sweep: expected two different parameters, got {axes[0].name} twice")
        return axes

    def _stop_experiment(self) -> None:
        if self.current_experiment is not None:
            self.current_experiment.cancel()

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        super().update_dialog(seconds)
        self.option_form.update_rows(seconds)
        self._refresh_timer_s -= seconds
        if self._refresh_timer_s > 0.0 or self.current_experiment is None:
            return
        self._refresh_timer_s = _REFRESH_INTERVAL_S
        if self.current_experiment.read_new_results():
            self.progress_bar.repaint()
            self.result_list.set_rows(self._result_rows(), max(0, self.result_list.selected_index), notifies=False)
            self.result_chart.repaint()
        if not self.current_experiment.is_running and self._shows_running_state:
            self.current_experiment.read_new_results()
            self.rebuild_widgets()
        self._update_texts()

    @property
    def is_unchanging(self) -> bool:
        return super().is_unchanging and not self._shows_running_state

    _shows_running_state = False  # whether the dialog shows the texts and buttons for a running experiment

    def _update_texts(self) -> None:
        study = self.current_experiment
        self.left_out_agents_label.set_text(self._left_out_agents_message(), "warning")
        self._shows_running_state = study is not None and study.is_running
        if study is None:
            self.progress_label.set_text("Start runs all agents on problems of the map at tick 0.", "dim")
        elif study.error_output:
            self.progress_label.set_text(study.error_output.splitlines()[-1], "warning")
        elif study.is_running and not study.run_count:
            self.progress_label.set_text("Preparing: generating problems and compiling kernels", "text")
        else:
            state = "Running" if study.is_running else "Stopped" if study.was_cancelled else "Done"
            failed = f", {study.failed_run_count:,} failed" if study.failed_run_count else ""
            left = f", about {study.estimated_remaining_s:.0f} s left" if study.is_running and study.done else ""
            self.progress_label.set_text(
                f"{state}: {study.done:,} of {study.run_count:,} runs{failed}{left}; {study.results_folder}", "text"
            )

    def _left_out_agents_message(self) -> str:
        """Return a message about agents that are not run because a budget is too small; "" if there are none.

        The message is about the present experiment, or about the input if none was started.
        """
        try:
            draft = (
                self._entered_experiment_draft() if self.current_experiment is None else self.current_experiment.draft
            )
        except ConfigError:
            return ""  # the input is incomplete or invalid; a press of "Start" shows the problem
        insufficient = sketches.insufficient_budgets(draft, AGENT_SPECS_BY_KEY)
        names = [
            f"{config.label or AGENT_SPECS_BY_KEY[config.kind].name} with k {' '.join(f'{k:,}' for k in budgets)}"
            for config, budgets in insufficient
        ]
        return f"Not run, because the budget is too small: {', '.join(names)}" if names else ""

    # --- results ----------------------------------------------------------------------------------

    def _result_rows(self) -> list[ListRow]:
        points = self.current_experiment.setting_results if self.current_experiment is not None else []
        front = set(self.current_experiment.pareto_front()) if self.current_experiment is not None else set()
        return [_result_row(point, setting_name(point, points), i in front) for i, point in enumerate(points)]

    def _on_result_selected(self, index: int) -> None:
        if hasattr(self, "result_chart"):
            self.result_chart.repaint()

    def open_typical_run(self, point: SettingResults) -> None:
        """Close the dialog and open, of all runs with one setting, the run whose cost is closest to their mean."""
        study = self.current_experiment
        if study is None:
            return
        try:
            scenario = study.scenario_of_row(point.representative_row)
        except ConfigError as error:
            self.show_problem(error.problems[0])
            return
        self.host.close_dialog()
        self.host.open_scenario(scenario)

    def on_confirm(self) -> None:
        """Do what the highlighted button does: start the experiment, or open a run if an experiment was started."""
        item = self.result_list.selected_row
        if self.current_experiment is None:
            self._start_experiment()
        elif item is None:
            self.show_problem("There is no run to open yet")
        else:
            self.open_typical_run(item.value)

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return self.result_list.handle_key(event)


def _config_without_start_and_goal(config: AgentConfig) -> AgentConfig:
    """Return a configuration without its own start and goal, because the experiment supplies them."""
    return AgentConfig(config.kind, config.label, dict(config.params), config.budget)


def _result_row(point: SettingResults, setting: str, is_on_front: bool) -> ListRow:
    totals = point.run_totals
    costs = (point.mean_cost_ratio, totals.median_cost_ratio, totals.max_cost_ratio)
    numbers = (
        f"{totals.arrived_count:,}/{totals.run_count:,}",
        *("-" if isnan(cost) else f"{cost:.3f}" for cost in costs),
        f"{totals.expansions_per_move:.2f}",
        f"{totals.max_tick_expansions:,}",
        f"{totals.us_per_move:.2f}",
    )
    cells = (setting, f"{point.budget:,}", *numbers)
    roles = {3: "accent", 6: "accent"} if is_on_front else {}
    if not point.has_always_arrived:
        roles[2] = "warning"
    return ListRow(cells, point, colour_names=roles)


def sweep_hint_text(params: Iterable[Param]) -> str:
    """Return a hint such as "e.g. weight: 1 2 4" for the first numeric parameter; "" if there is none."""
    for param in params:
        if param.kind not in (int, float):
            continue
        values = [factor * (float(param.default) or 1.0) for factor in _SWEEP_EXAMPLE_FACTORS]
        values = [value for value in values if param.high is None or value <= param.high]
        if len(values) > 1:
            return f"e.g. {param.name}: {' '.join(f'{value:g}' for value in values)}"
    return ""
