"""Experiment: runs of the panels' agents on many problems of this map, in the background, with a table and a plot.

A sweep runs one agent with all combinations of two parameters, and shows a coloured table instead of the plot.
"""

from collections.abc import Callable, Iterable
from itertools import accumulate
from math import isnan

import pygame

from agents.registry import BY_KEY
from sim.commands import AgentConfig
from sim.experiments import sketch as sketches
from sim.experiments.sketch import Axis, Sketch, read_axis, read_budgets
from sim.params import ConfigError, Param, Value
from ui.dialogs.base import BUTTON_HEIGHT, FormDialog, Host, take_bottom, take_left, take_top
from ui.dialogs.experiment_plots import Chart, Meter, Plot, SweepTable
from ui.model import study as studies
from ui.model.beginning import configs_of
from ui.model.state import State
from ui.model.study import Point, Study, setting_of
from ui.widgets.controls import Field, Text
from ui.widgets.forms import ParamForm
from ui.widgets.lists import Col, Item, Rows

LIST, PAIRS = "problem list", "random pairs"
COUNT = Param("problems", int, 40, "every agent solves each of them with every budget", 1, 5000)
SEED = Param("seed", int, 1, "another seed gives other problems", 0, 10_000)
COLUMNS = (
    Col("Setting"),
    Col("k", 56, "right", "mono"),
    Col("Arrived", 76, "right", "mono"),
    Col("Mean c / opt", 100, "right", "mono"),
    Col("Median", 72, "right", "mono"),
    Col("Max", 72, "right", "mono"),
    Col("Pooled exp / move", 136, "right", "mono"),
    Col("Max / tick", 82, "right", "mono"),
    Col("Pooled µs / move", 130, "right", "mono"),
)
MIN_SETTING = 70  # minimum width of the column "Setting", in design units
_EXAMPLE_FACTORS = (1, 2, 4)  # values in the hint for a sweep, as multiples of the parameter's default
_REFRESH_S = 0.5  # seconds between two updates of the results


class ExperimentSheet(FormDialog):
    title = "Experiment"
    hint = "runs in the background; finished runs are kept"
    size = (1240, 700)
    command = "experiment"

    def __init__(self, host: Host, state: State) -> None:
        self.state = state
        source = LIST if host.problems is not None else PAIRS
        self.values: dict[str, Value] = {"source": source, COUNT.name: COUNT.default, SEED.name: SEED.default}
        budget = host.session.run.world.budget
        self.budgets = " ".join(str(k) for k in sorted({1, max(1, budget // 4), budget, 4 * budget}))
        self.sweep = ["", ""]
        self._rest_s = 0.0  # seconds until the next update of the results
        super().__init__(host)

    @property
    def study(self) -> Study | None:
        return self.state.study

    # --- widgets ----------------------------------------------------------------------------------

    def build(self) -> None:
        area = self.area
        left = take_left(area, self.px(300), self.px(24))
        self._build_form(left)
        self.words = Text(self, take_top(area, self.px(24)), "", role="text")
        self.add(self.words)
        self.meter = Meter(self, take_top(area, self.px(6), self.px(4)))
        self.add(self.meter)
        self.left_out = Text(self, take_top(area, self.px(18), self.px(2)), "", role="warning", size=12)
        self.add(self.left_out)
        plot = take_bottom(area, max(self.px(120), area.height * 11 // 20), self.px(12))
        columns = self._columns_within(area.width)
        items = self._items()
        self.rows = Rows(self, area, columns, items, chosen=self.confirm, selected=self._chose, empty="No results yet")
        self.add(self.rows)
        is_sweep = self.study is not None and bool(self.study.sketch.sweep)
        self.plot: Chart = (SweepTable if is_sweep else Plot)(self, plot)
        self.add(self.plot)
        is_running = self.study is not None and self.study.is_running
        buttons: list[tuple[str, Callable[[], None], str]] = [("Close", self.cancel, "")]
        has_results = self.study is not None
        start = ("Start", self._start, "" if has_results else "main")
        buttons.append(("Stop", self._stop_experiment, "danger") if is_running else start)
        buttons.append(("Open run", self.confirm, "main" if has_results else ""))
        self.add_footer(*buttons)
        self.add_note()
        self._say()

    def _columns_within(self, width: int) -> list[Col]:
        """Return the columns that fit into a width in pixels, from left to right, but at least one."""
        ends = accumulate(self.px(column.width or MIN_SETTING) for column in COLUMNS)
        return [column for column, end in zip(COLUMNS, ends, strict=True) if end <= width] or [COLUMNS[0]]

    def _build_form(self, area: pygame.Rect) -> None:
        source = Param("source", str, PAIRS, "where starts and goals come from", choices=(PAIRS, LIST))
        sources = (source,) if self.host.problems is not None else ()
        fields = take_bottom(area, self.px(190), self.px(8))
        self.form = ParamForm(self, area, (*sources, COUNT, SEED), self.values, self._changed)
        for control in self.form.controls():
            self.add(control)
        walker = self.host.session.focused
        name = walker.label if walker is not None else "an agent"
        own = ", ".join(self._agents_with_budgets())
        self._words(fields, f"Budgets, except for {own}" if own else "Budgets")
        self._field(fields, self.budgets, self._set_budgets)
        self._words(fields, f"Or sweep two parameters of {name}")
        self._field(
            fields, self.sweep[0], self._set_first_axis, example_of(walker.spec.params if walker is not None else ())
        )
        self._field(fields, self.sweep[1], self._set_second_axis, "e.g. budget: 1 4 16 64")

    def _words(self, area: pygame.Rect, words: str) -> None:
        self.add(Text(self, take_top(area, self.px(20)), words, role="dim", size=12))

    def _field(self, area: pygame.Rect, text: str, changed: Callable[[str], None], hint: str = "") -> None:
        place = take_top(area, self.px(BUTTON_HEIGHT), self.px(8))
        self.add(Field(self, place, text, changed, mono=True, hint=hint))

    def _changed(self, name: str, value: Value) -> None:
        self.values[name] = value

    def _set_budgets(self, text: str) -> None:
        self.budgets = text
        self._say()

    def _set_first_axis(self, text: str) -> None:
        self.sweep[0] = text
        self._say()

    def _set_second_axis(self, text: str) -> None:
        self.sweep[1] = text
        self._say()

    def reveal(self, control: object) -> None:
        self.form.reveal(control)  # type: ignore[arg-type]

    # --- running ----------------------------------------------------------------------------------

    def _start(self) -> None:
        if self.form.stops():
            return
        try:
            sketch = self._entered_sketch()
            self.state.study = studies.begin(sketch)
        except ConfigError as error:
            self.complain("\n".join(error.problems))
            return
        except OSError as error:
            self.complain(f"The experiment could not be started: {error.strerror or error}")
            return
        self.complain("")
        self.rebuild()

    def _entered_sketch(self) -> Sketch:
        session, axes = self.host.session, self._entered_axes()
        configs = [_bare(config) for config in configs_of(session.run)]
        if axes:
            walker = session.focused
            configs = [] if walker is None else [AgentConfig(walker.spec.key, params=dict(walker.params))]
        if not configs:
            raise ConfigError("There is no agent to run; add one")
        grid = session.run.scenario.grid
        rows = self.host.problems.rows if self.values["source"] == LIST and self.host.problems is not None else []
        return Sketch(
            session.run.scenario.title,
            grid,
            tuple(configs),
            read_budgets(self.budgets),
            int(self.values[COUNT.name]),
            int(self.values[SEED.name]),
            tuple(row for row in rows if row.is_readable and row.problem is None),
            axes,
        )

    def _agents_with_budgets(self) -> list[str]:
        """Return name and budget of the agents that have their own budget, which the experiment does not vary."""
        configs = configs_of(self.host.session.run)
        return [f"{config.label or config.kind} ({config.budget:,})" for config in configs if config.budget is not None]

    def _entered_axes(self) -> tuple[Axis, ...]:
        given = [text for text in self.sweep if text.strip()]
        walker = self.host.session.focused
        if not given or walker is None:
            return ()
        if len(given) == 1:
            raise ConfigError("sweep: expected two parameters, got one")
        axes = tuple(read_axis(text, walker.spec) for text in given)
        if axes[0].name == axes[1].name:
            raise ConfigError(f"sweep: expected two different parameters, got {axes[0].name} twice")
        return axes

    def _stop_experiment(self) -> None:
        if self.study is not None:
            self.study.cancel()

    def update(self, seconds: float = 1 / 60) -> None:
        super().update(seconds)
        self.form.update(seconds)
        self._rest_s -= seconds
        if self._rest_s > 0.0 or self.study is None:
            return
        self._rest_s = _REFRESH_S
        if self.study.poll():
            self.meter.refresh()
            self.rows.set(self._items(), max(0, self.rows.place), tells=False)
            self.plot.refresh()
        if not self.study.is_running and self._shows_running_state:
            self.study.poll()
            self.rebuild()
        self._say()

    @property
    def is_still(self) -> bool:
        return super().is_still and not self._shows_running_state

    _shows_running_state = False  # whether the dialog shows the texts and buttons for a running experiment

    def _say(self) -> None:
        study = self.study
        self.left_out.set(self._left_out_message(), "warning")
        self._shows_running_state = study is not None and study.is_running
        if study is None:
            self.words.set("Start runs all agents on problems of the map at tick 0.", "dim")
        elif study.complaint:
            self.words.set(study.complaint.splitlines()[-1], "warning")
        elif study.is_running and not study.whole:
            self.words.set("Preparing: generating problems and compiling kernels", "text")
        else:
            state = "Running" if study.is_running else "Stopped" if study.was_cancelled else "Done"
            failed = f", {study.failures:,} failed" if study.failures else ""
            left = f", about {study.left_s:.0f} s left" if study.is_running and study.done else ""
            self.words.set(f"{state}: {study.done:,} of {study.whole:,} runs{failed}{left}; {study.results}", "text")

    def _left_out_message(self) -> str:
        """Return a message about agents that are not run because a budget is too small; "" if there are none.

        The message is about the present experiment, or about the input if none was started.
        """
        try:
            sketch = self._entered_sketch() if self.study is None else self.study.sketch
        except ConfigError:
            return ""  # the input is incomplete or invalid; a press of "Start" shows the problem
        found = sketches.too_small(sketch, BY_KEY)
        names = [
            f"{config.label or BY_KEY[config.kind].name} with k {' '.join(f'{k:,}' for k in budgets)}"
            for config, budgets in found
        ]
        return f"Not run, because the budget is too small: {', '.join(names)}" if names else ""

    # --- results ----------------------------------------------------------------------------------

    def _items(self) -> list[Item]:
        points = self.study.points if self.study is not None else []
        front = set(self.study.front()) if self.study is not None else set()
        return [_item(point, setting_of(point, points), i in front) for i, point in enumerate(points)]

    def _chose(self, index: int) -> None:
        if hasattr(self, "plot"):
            self.plot.refresh()

    def open(self, point: Point) -> None:
        """Close the dialog and open, of all runs with one setting, the run whose cost is closest to their mean."""
        study = self.study
        if study is None:
            return
        try:
            scenario = study.scenario(point.row)
        except ConfigError as error:
            self.complain(error.problems[0])
            return
        self.host.close_dialog()
        self.host.open_scenario(scenario)

    def confirm(self) -> None:
        """Do what the highlighted button does: start the experiment, or open a run if an experiment was started."""
        item = self.rows.item
        if self.study is None:
            self._start()
        elif item is None:
            self.complain("There is no run to open yet")
        else:
            self.open(item.value)

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)


def _bare(config: AgentConfig) -> AgentConfig:
    """Return a configuration without its own start and goal, because the experiment supplies them."""
    return AgentConfig(config.kind, config.label, dict(config.params), config.budget)


def _item(point: Point, setting: str, is_on_front: bool) -> Item:
    totals = point.totals
    costs = (point.cost, totals.median_cost, totals.largest_cost)
    numbers = (
        f"{totals.arrived:,}/{totals.runs:,}",
        *("-" if isnan(cost) else f"{cost:.3f}" for cost in costs),
        f"{totals.work:.2f}",
        f"{totals.most:,}",
        f"{totals.move_us:.2f}",
    )
    cells = (setting, f"{point.budget:,}", *numbers)
    roles = {3: "accent", 6: "accent"} if is_on_front else {}
    if not point.is_whole:
        roles[2] = "warning"
    return Item(cells, point, roles=roles)


def example_of(params: Iterable[Param]) -> str:
    """Return a hint such as "e.g. weight: 1 2 4" for the first numeric parameter; "" if there is none."""
    for param in params:
        if param.kind not in (int, float):
            continue
        values = [factor * (float(param.default) or 1.0) for factor in _EXAMPLE_FACTORS]
        values = [value for value in values if param.high is None or value <= param.high]
        if len(values) > 1:
            return f"e.g. {param.name}: {' '.join(f'{value:g}' for value in values)}"
    return ""
