"""Charts of an experiment: a plot of path cost against expansions per move, and the coloured table of a sweep."""

from collections.abc import Mapping, Sequence
from math import isnan, log
from typing import Protocol

import pygame

from experiments.draft import SweepAxis
from ui.draw.theme import SERIES, Colour, heat_colours, mix_colours
from ui.model.background_experiment import BackgroundExperiment, SettingResults, setting_name, short_param_value_text
from ui.model.layout import Box
from ui.widgets.canvas import Canvas
from ui.widgets.controls import PaintedControl
from ui.widgets.dialog_interfaces import WidgetDialog
from ui.widgets.row_list import RowList

CHART_READING_HELP = "Line, and blue in the table: Pareto-optimal; hollow: not all agents arrived; click to open a run"
_PLOT_MARGIN = 52  # space for the labels of the axes at the left of a plot and below a plot, in design units


class ExperimentChartHost(WidgetDialog, Protocol):
    """Interface of the experiment dialog that its charts use."""

    result_list: RowList

    @property
    def current_experiment(self) -> BackgroundExperiment | None: ...

    def open_typical_run(self, point: SettingResults) -> None:
        """Open, of all runs with one setting (agent and parameters), the run whose cost is closest to their mean."""


class ExperimentProgressBar(PaintedControl):
    """Progress bar of the experiment."""

    can_focus = False

    def __init__(self, host: ExperimentChartHost, rect: pygame.Rect) -> None:
        self.chart_host = host
        super().__init__(host, rect)

    def paint_control(self, pen: Canvas) -> None:
        study = self.chart_host.current_experiment
        share = study.done / study.run_count if study is not None and study.run_count else 0.0
        pen.draw_meter_bar(self.local_box, share, pen.palette.accent)


class ExperimentChart(PaintedControl):
    """Base class of the charts. A click on a result (mean of one setting) opens a run with that setting."""

    can_focus = False

    def __init__(self, host: ExperimentChartHost, rect: pygame.Rect) -> None:
        self.chart_host = host
        # Result under the pointer; None if there is no result under it.
        self.hovered_result: SettingResults | None = None
        # (clickable rectangle in pixels from the upper left corner of the chart, result that a click opens)
        self.clickable_results: list[tuple[pygame.Rect, SettingResults]] = []
        super().__init__(host, rect)

    def _result_at(self, position: tuple[int, int]) -> SettingResults | None:
        if not self.contains_point(position):
            return None
        x, y = position[0] - self.element.rect.x, position[1] - self.element.rect.y
        return next((point for box, point in reversed(self.clickable_results) if box.collidepoint(x, y)), None)

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        point = self._result_at(position)
        if point is not self.hovered_result:
            self.hovered_result = point
            self.repaint()
        if point is not None and event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self.chart_host.open_typical_run(point)
            return True
        return False

    def result_text(self, point: SettingResults) -> str:
        points = (
            self.chart_host.current_experiment.setting_results if self.chart_host.current_experiment is not None else []
        )
        cost = (
            "never arrived"
            if isnan(point.mean_cost_ratio)
            else f"mean {point.mean_cost_ratio:.3f} x optimal ({point.median_and_max_cost_ratio_text})"
        )
        work = f"{point.expansions_per_move:.2f} expansions / move, pooled"
        return f"{setting_name(point, points)}, k = {point.budget:,}: {cost}, {work}"


class CostPlot(ExperimentChart):
    """Log-log plot of cost / optimal against expansions per move, with a line through the Pareto-optimal results."""

    def paint_control(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        study = self.chart_host.current_experiment
        self.clickable_results = []
        pen.fill_box((0, 0, width, height), pen.palette.raised, 4)
        points = (
            [p for p in study.setting_results if not isnan(p.mean_cost_ratio) and p.expansions_per_move > 0.0]
            if study is not None
            else []
        )
        if study is None or not points:
            text = "Cost / optimal against expansions / move will be shown here"
            _draw_label_text(pen, (width // 2, height // 2), text, "centre", size=13, face="sans")
            return
        x_axis, y_axis = (
            _LogAxis([p.expansions_per_move for p in points], 1.0),
            _LogAxis([p.mean_cost_ratio for p in points], 1.0),
        )
        edge = pen.to_px(_PLOT_MARGIN)
        box = pygame.Rect(edge, pen.to_px(24), width - edge - pen.to_px(16), height - edge - pen.to_px(24))
        _draw_plot_axes(pen, box, x_axis, y_axis)
        positions = {
            id(p): (
                box.x + x_axis.share(p.expansions_per_move) * box.width,
                box.bottom - y_axis.share(p.mean_cost_ratio) * box.height,
            )
            for p in points
        }
        self._draw_pareto_front(pen, study, positions)
        names = list(dict.fromkeys(p.name for p in points))
        right = _draw_plot_legend(pen, box, names)
        chosen = (
            self.chart_host.result_list.selected_row.value
            if self.chart_host.result_list.selected_row is not None
            else None
        )
        for point in points:
            colour = SERIES[names.index(point.name) % len(SERIES)]
            self._draw_result_point(pen, point, positions[id(point)], colour, point is chosen)
        text = self.result_text(self.hovered_result) if self.hovered_result is not None else CHART_READING_HELP
        ink = pen.palette.text if self.hovered_result else pen.palette.dim
        text_width = max(1, right - box.x)
        pen.draw_text((box.x, pen.to_px(11)), text, size=12, colour=ink, middle=True, width=text_width)

    def _draw_pareto_front(
        self, pen: Canvas, study: BackgroundExperiment, positions: Mapping[int, tuple[float, float]]
    ) -> None:
        """Draw a line through the Pareto-optimal results, which no other result beats in both cost and work."""
        front = sorted((study.setting_results[i] for i in study.pareto_front()), key=lambda p: p.expansions_per_move)
        line = [positions[id(p)] for p in front if id(p) in positions]
        if len(line) > 1:
            colour = mix_colours(pen.palette.accent, pen.palette.raised, 0.4)
            pygame.draw.lines(pen.surface, colour, False, line, max(1, pen.to_px(1.5)))

    def _draw_result_point(
        self, pen: Canvas, point: SettingResults, position: tuple[float, float], colour: Colour, is_chosen: bool
    ) -> None:
        x, y = round(position[0]), round(position[1])
        radius = pen.to_px(6 if point is self.hovered_result or is_chosen else 4)
        if is_chosen:
            pygame.draw.circle(pen.surface, pen.palette.text, (x, y), radius + pen.to_px(2))
        pygame.draw.circle(pen.surface, colour, (x, y), radius)
        if not point.has_always_arrived:
            pygame.draw.circle(pen.surface, pen.palette.raised, (x, y), max(1, radius - pen.to_px(2)))
        reach = pen.to_px(8)
        self.clickable_results.append((pygame.Rect(x - reach, y - reach, 2 * reach, 2 * reach), point))


def _draw_plot_legend(pen: Canvas, box: pygame.Rect, names: Sequence[str]) -> int:
    """Draw the legend of a plot, right-aligned: a dot and a name per series; return the left edge of the first dot."""
    right = box.right
    for index, name in reversed(list(enumerate(names))):
        right -= pen.draw_text((right, pen.to_px(11)), name, size=12, align="right", middle=True) + pen.to_px(10)
        pygame.draw.circle(pen.surface, SERIES[index % len(SERIES)], (right, pen.to_px(11)), pen.to_px(4))
        right -= pen.to_px(16)
    return right


def _draw_plot_axes(pen: Canvas, box: pygame.Rect, x_axis: "_LogAxis", y_axis: "_LogAxis") -> None:
    for value in x_axis.tick_mark_values:
        x = box.x + round(x_axis.share(value) * box.width)
        pen.fill_box((x, box.y, 1, box.height), pen.palette.edge)
        _draw_label_text(pen, (x, box.bottom + pen.to_px(12)), f"{value:g}", "centre", size=11)
    for value in y_axis.tick_mark_values:
        y = box.bottom - round(y_axis.share(value) * box.height)
        pen.fill_box((box.x, y, box.width, 1), pen.palette.edge)
        _draw_label_text(pen, (box.x - pen.to_px(6), y), f"{value:g}", "right", size=11)
    caption_y = box.bottom + pen.to_px(30)
    _draw_label_text(pen, (box.right, caption_y), "x: expansions / move", "right", face="sans")
    _draw_label_text(pen, (box.x, caption_y), "y: mean cost / optimal", "left", face="sans")


def _draw_label_text(
    pen: Canvas,
    position: tuple[int, int],
    text: str,
    align: str,
    *,
    size: float = 12,
    face: str = "mono",
    colour: Colour | None = None,
) -> None:
    """Write a label of a plot or a table, by default in grey."""
    pen.draw_text(position, text, size=size, face=face, colour=colour or pen.palette.dim, align=align, middle=True)


class _LogAxis:
    """Logarithmic axis over the range of some values, with tick marks at round numbers."""

    def __init__(self, values: list[float], lower_bound: float) -> None:
        low, high = min(lower_bound, *values), max(values)
        high = max(high, 1.2 * low)
        self.min_value, self.max_value = log(low) - 0.04, log(high) + 0.04
        rounds = [m * 10.0**e for e in range(-2, 9) for m in (1, 1.5, 2, 3, 5)]
        inside = [value for value in rounds if self.min_value <= log(value) <= self.max_value]
        self.tick_mark_values = (
            inside if len(inside) < 8 else [v for v in inside if f"{v:e}"[0] in "12" and f"{v:e}"[2] != "5"]
        )

    def share(self, value: float) -> float:
        return (log(value) - self.min_value) / (self.max_value - self.min_value)


class SweepTable(ExperimentChart):
    """Table of cost / optimal for each combination of values of two parameters, coloured by the mean like a heat map.

    Each cell shows the mean, and in brackets the median and the maximum if they fit.
    """

    def paint_control(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        palette, study = pen.palette, self.chart_host.current_experiment
        self.clickable_results = []
        pen.fill_box((0, 0, width, height), palette.raised, 4)
        if study is None or len(study.draft.sweep) != 2:
            return
        first, second = study.draft.sweep
        left, top = pen.to_px(96), pen.to_px(52)
        cell_width, cell_height = (
            (width - left - pen.to_px(10)) // len(second.values),
            (height - top - pen.to_px(8)) // len(first.values),
        )
        pen.draw_text(
            (left, pen.to_px(14)),
            self._table_heading_text(first, second),
            size=12,
            colour=palette.dim,
            middle=True,
            width=width - left,
        )
        ink = palette.text
        for j, value in enumerate(second.values):
            middle = left + j * cell_width + cell_width // 2
            _draw_label_text(pen, (middle, top - pen.to_px(12)), short_param_value_text(value), "centre", colour=ink)
        costs = [p.mean_cost_ratio for p in study.setting_results if not isnan(p.mean_cost_ratio)]
        for i, line in enumerate(study.sweep_table()):
            y = top + i * cell_height
            _draw_label_text(
                pen,
                (left - pen.to_px(10), y + cell_height // 2),
                short_param_value_text(first.values[i]),
                "right",
                colour=ink,
            )
            for j, point in enumerate(line):
                self._draw_table_cell(
                    pen, (left + j * cell_width, y, cell_width - pen.to_px(3), cell_height - pen.to_px(3)), point, costs
                )

    def _table_heading_text(self, first: SweepAxis, second: SweepAxis) -> str:
        if self.hovered_result is not None:
            return self.result_text(self.hovered_result)
        means = "Mean cost / optimal (median, maximum)"
        return f"{means}; rows: {first.name}, columns: {second.name}; click to open a run"

    def _draw_table_cell(self, pen: Canvas, box: Box, point: SettingResults | None, costs: list[float]) -> None:
        palette = pen.palette
        middle = box[0] + box[2] // 2, box[1] + box[3] // 2
        if point is None or isnan(point.mean_cost_ratio):
            pen.fill_box(box, palette.surface, 3)
            _draw_label_text(pen, middle, "" if point is None else "never", "centre", face="sans")
        else:
            colours = heat_colours("cividis", palette, 8)
            share = log(point.mean_cost_ratio / min(costs)) / max(1e-9, log(max(costs) / min(costs)))
            colour = colours[min(len(colours) - 1, int(share * len(colours)))]
            pen.fill_box(box, colour, 3)
            ink = palette.casing_dark if sum(colour) > 380 else palette.casing_light
            face = "bold" if point is self.hovered_result else "mono"
            mean = f"{point.mean_cost_ratio:.3f}"
            text = f"{mean} ({point.run_totals.median_cost_ratio:.2f}, {point.run_totals.max_cost_ratio:.2f})"
            if pen.text_width(text, 12, face) > box[2]:
                text = mean
            _draw_label_text(pen, middle, text, "centre", face=face, colour=ink)
        if point is not None:
            self.clickable_results.append((pygame.Rect(box), point))
