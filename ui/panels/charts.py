"""Small time charts with one line per agent, drawn with at most one point per two pixels; a click or drag seeks.

A crowd has one line: that of the agent whose search its panel shows, which is followed or under the pointer.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pygame

from sim.kernels import log
from sim.world_view import WalkerView
from ui.draw.theme import SERIES, mix_colours
from ui.model import panel_texts
from ui.model.context_menu import ChartTarget
from ui.model.crowds import Crowd
from ui.model.layout import Box
from ui.model.run import Panel
from ui.panels import panel_mark
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

ChartValues = npt.NDArray[np.float64]

_MAX_LINE_DOTS = 40  # maximum number of values of a line that are marked with dots; longer lines have no dots
# Width at the left of a plot for the labels of its grid lines (such as "10,000"), in design units.
GRID_LABEL_WIDTH = 44
MIN_GRID_LINE_DISTANCE = 18  # minimum distance between horizontal grid lines, in design units
MAX_GRID_LINES = 4  # maximum number of horizontal grid lines
_PLOT_PADDING = 4  # margin inside a plot, in design units


@dataclass(frozen=True)
class TimeChart:
    """Kind of chart: title, function that computes the values of an agent, and format of the values."""

    key: str
    title: str
    tooltip: str
    values: Callable[[ViewContext, Panel], ChartValues]
    format_value: Callable[[float], str]
    x_axis_unit: str = "tick"  # unit of the x axis, "tick" or "trial"; an agent has one value per tick or per trial
    first: int = 0  # number of the first tick or trial on the x axis
    has_dots: bool = False  # whether to mark each value with a dot, for charts with few values


def _suboptimality_values(desk: ViewContext, panel: Panel) -> ChartValues:
    """Return, for each tick, the cost of the walk so far divided by the optimal cost; each trial begins a new walk."""
    trail = desk.session.run.trail_by_panel[panel.key]
    begun = np.where(trail.marks & log.TRIAL_BEGAN, trail.total_costs, 0.0)
    return _cost_ratios_to_optimal(trail.total_costs - np.maximum.accumulate(begun), panel)


def _trial_cost_ratios(desk: ViewContext, panel: Panel) -> ChartValues:
    return _cost_ratios_to_optimal(np.array([trial.cost for trial in panel.displayed_agent.trials]), panel)


def _cost_ratios_to_optimal(cost: ChartValues, panel: Panel) -> ChartValues:
    """Return costs divided by the cost of the cheapest path between the agent's start and goal."""
    optimal = panel.displayed_agent.metrics.optimal
    return cost / optimal if 0 < optimal < np.inf else np.zeros(0)


def _goal_distance_values(desk: ViewContext, panel: Panel) -> ChartValues:
    session = desk.session
    timeline = session.run.branch_tree[panel.key.branch].timeline
    distances, cells = desk.distance_cache_of_panel(panel), session.run.trail_by_panel[panel.key].cells
    return distances.distances_from_cells(timeline, cells, session.picture_generation, panel.displayed_agent.goal)


def compute_missing_chart_values(desk: ViewContext) -> None:
    """Compute all missing values of the charts for an export, because each frame computes only a few distances."""
    session = desk.session
    for panel in session.run.panels:
        if panel.drawn_agent is not None:
            timeline, cells = (
                session.run.branch_tree[panel.key.branch].timeline,
                session.run.trail_by_panel[panel.key].cells,
            )
            desk.distance_cache_of_panel(panel).compute_all_distances(
                timeline, cells, session.picture_generation, panel.displayed_agent.goal
            )


TRIAL_CHART = TimeChart(
    "trials",
    "Cost / optimal by trial",
    "Cost / optimal of each walk from start to goal, for agents that keep what they learned. It falls to 1 when they "
    "converge, but not always steadily",
    _trial_cost_ratios,
    panel_texts.ratio_text,
    "trial",
    1,
    True,
)

TICK_CHARTS = (
    TimeChart(
        "cost",
        "Cost / optimal",
        "Cost of the walk so far / optimal cost, by tick",
        _suboptimality_values,
        panel_texts.ratio_text,
    ),
    TimeChart(
        "distance",
        "Distance to the goal",
        "True distance from the agent to the goal, by tick, on the map as it is now. It rises with back-moves",
        _goal_distance_values,
        panel_texts.cost_text,
    ),
    TimeChart(
        "expansions",
        "Expansions",
        "Cells expanded so far, by tick",
        lambda desk, panel: desk.session.run.trail_by_panel[panel.key].expanded.astype(np.float64),
        panel_texts.count_text,
    ),
    TimeChart(
        "revisits",
        "Revisits",
        "Moves onto cells that the agent visited before, by tick: flat is good, steep means scrubbing",
        lambda desk, panel: desk.session.run.trail_by_panel[panel.key].revisit_counts.astype(np.float64),
        panel_texts.count_text,
    ),
)


def shown_charts(desk: ViewContext) -> list[TimeChart]:
    """Return the charts to draw; the chart of costs by trial is included only if an agent may have several trials."""
    learns = any(panel.walker_view.max_trials > 1 for panel in desk.session.run.panels)
    return [*([TRIAL_CHART] if learns else []), *TICK_CHARTS]


@dataclass(frozen=True)
class ChartLine:
    """Line of one agent in a chart: the agent's values by tick or trial."""

    panel_index: int  # index of the agent's panel, which determines the colour of the line
    label: str
    first: int  # number of the tick or trial of the first value
    values: ChartValues

    @property
    def last_tick_or_trial(self) -> int:
        return self.first + self.values.size - 1

    def value_at_tick_or_trial(self, number: int) -> float | None:
        """Return the value at a tick or trial; None if the line has no finite value there."""
        if not self.first <= number <= self.last_tick_or_trial:
            return None
        value = float(self.values[number - self.first])
        return value if math.isfinite(value) else None


def chart_lines(desk: ViewContext, chart: TimeChart) -> list[ChartLine]:
    """Return the lines of a chart, one per panel whose agent has values."""
    lines = []
    for index, panel in enumerate(desk.session.run.panels):
        if panel.drawn_agent is None:
            continue
        values = chart.values(desk, panel)
        first = desk.session.run.trail_by_panel[panel.key].first_tick if chart.x_axis_unit == "tick" else chart.first
        if values.size:
            lines.append(ChartLine(index, panel.drawn_agent.label, first, values))
    return lines


def shown_agent_sentences(panels: Sequence[Panel]) -> list[str]:
    """Return one sentence per crowd, which names the agent of the crowd whose line the charts show."""
    crowds = [panel for panel in panels if panel.crowd is not None]
    if crowds and all(panel.drawn_agent is None for panel in crowds):
        return ["Crowds have no line yet: point at an agent, or click one"]
    return [
        _shown_agent_sentence(panel.crowd, panel.drawn_agent)
        for panel in crowds
        if panel.crowd is not None and panel.drawn_agent is not None
    ]


def _shown_agent_sentence(crowd: Crowd, agent: WalkerView) -> str:
    reason = "followed" if crowd.followed_agent == agent.id else "pointed at"
    return f"{crowd.name}: line of {agent.label}, which is {reason}"


# --- drawing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChartScale:
    """Conversion from ticks (or trials) and values to positions in a plot."""

    plot_box: Box  # rectangle of the plot, in pixels
    first: int  # number of the first tick or trial on the x axis
    last_tick_or_trial: int  # number of the last tick or trial on the x axis
    max_value: float  # largest value on the y axis, which begins at 0
    plot_padding: int  # margin inside the rectangle of the plot, in pixels

    def x(self, number: float) -> float:
        x, _, width, _ = self.plot_box
        return (
            x
            + self.plot_padding
            + (number - self.first) / max(1, self.last_tick_or_trial - self.first) * (width - 2 * self.plot_padding)
        )

    def y(self, value: float) -> float:
        _, y, _, height = self.plot_box
        return y + height - self.plot_padding - value / self.max_value * (height - 2 * self.plot_padding)

    def tick_or_trial_at_x(self, x: int) -> int:
        """Return the tick or trial at a horizontal position, clamped to the plot."""
        left, _, width, _ = self.plot_box
        share = (x - left - self.plot_padding) / max(1, width - 2 * self.plot_padding)
        return round(self.first + min(1.0, max(0.0, share)) * (self.last_tick_or_trial - self.first))


def draw_chart(desk: ViewContext, box: Box, chart: TimeChart) -> None:
    """Draw a chart: title, grid, lines of the agents, current tick, and the values at the tick under the pointer."""
    canvas, palette = desk.canvas, desk.palette
    x, y, width, height = box
    px = canvas.to_px
    canvas.draw_text((x, y), chart.title, size=13, colour=palette.dim)
    lines = chart_lines(desk, chart)
    plot = (x + px(GRID_LABEL_WIDTH), y + px(20), width - px(GRID_LABEL_WIDTH), height - px(36))
    canvas.fill_box(plot, mix_colours(palette.surface, palette.window, 0.7), 5)
    # Let the x axis of a chart by tick end at the same tick as the time line.
    recorded = desk.session.run.last_reached_tick if chart.x_axis_unit == "tick" else 0
    scale = chart_scale_of_lines(lines, plot, px(_PLOT_PADDING), recorded)
    can_seek = chart.x_axis_unit == "tick" and scale is not None
    drag = partial(_seek_to_chart_position, desk, scale) if can_seek and scale is not None else None
    tip = chart.tooltip + (". Click or drag: go to that tick" if can_seek else "")
    canvas.add_hit_region(HitRegion(f"chart:{chart.key}", box, None, tip, menu=ChartTarget(), on_drag=drag))
    if scale is None:
        return
    _draw_grid_lines(desk, chart, scale)
    for i, line in enumerate(lines):
        _draw_agent_line(desk, chart, scale, line, len(lines) - 1 - i)
    if chart.x_axis_unit == "tick" and scale.first <= desk.session.tick <= scale.last_tick_or_trial:
        tick_x = round(scale.x(desk.session.tick))
        pygame.draw.line(canvas.surface, palette.text, (tick_x, plot[1]), (tick_x, plot[1] + plot[3] - 1))
    end = f"{chart.x_axis_unit} {scale.last_tick_or_trial:,}"
    canvas.draw_text((x + width, y + height - px(15)), end, size=12, face="mono", colour=palette.dim, align="right")
    canvas.draw_text((plot[0], y + height - px(15)), f"{scale.first:,}", size=12, face="mono", colour=palette.dim)
    if canvas.is_hovered(plot):
        _draw_values_at_pointer(desk, chart, scale, lines)


def chart_scale_of_lines(lines: Sequence[ChartLine], plot: Box, pad: int, end: int = 0) -> ChartScale | None:
    """Return the scale of a chart, or None if no value is above 0.

    Args:
        lines: Lines of the chart.
        plot: Rectangle of the plot, in pixels.
        pad: Margin inside the plot, in pixels.
        end: Tick or trial up to which the x axis reaches even if the lines end earlier.
    """
    finite = [line.values[np.isfinite(line.values)] for line in lines]
    top = max((float(values.max()) for values in finite if values.size), default=0.0)
    if top <= 0:
        return None
    return ChartScale(
        plot, min(line.first for line in lines), max(end, *(line.last_tick_or_trial for line in lines)), top, pad
    )


def _seek_to_chart_position(desk: ViewContext, scale: ChartScale, position: tuple[int, int]) -> None:
    desk.player.pause_and_seek(scale.tick_or_trial_at_x(position[0]))


def _draw_grid_lines(desk: ViewContext, chart: TimeChart, scale: ChartScale) -> None:
    """Draw horizontal grid lines at round values with labels on the left, as many as the height allows."""
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    x, y, width, height = scale.plot_box
    ink = mix_colours(palette.surface, palette.edge, 0.8)
    max_lines = (height - 2 * scale.plot_padding) // px(MIN_GRID_LINE_DISTANCE)
    for value in grid_line_values(scale.max_value, max(1, min(MAX_GRID_LINES, max_lines))):
        at = round(scale.y(value))
        pygame.draw.line(canvas.surface, ink, (x, at), (x + width - 1, at))
        canvas.draw_text(
            (x - px(5), at),
            chart.format_value(value),
            size=11,
            face="mono",
            colour=palette.dim,
            align="right",
            middle=True,
        )
    top = chart.format_value(scale.max_value)
    canvas.draw_text((x + width, y - px(20)), top, size=12, face="mono", colour=palette.dim, align="right")


def grid_line_values(top: float, max_lines: int = MAX_GRID_LINES) -> list[float]:
    """Return round values up to `top`, for grid lines.

    The values are the multiples of a step, which is 1, 2 or 5 times a power of ten and at least `top` / `max_lines`,
    so that there are at most `max_lines` values. If that step exceeds `top`, return only the largest multiple of a
    smaller step.
    """
    power = 10.0 ** math.floor(math.log10(top / max_lines))
    steps = [factor * power for factor in (1, 2, 5, 10)]
    step = next(step for step in steps if top / step <= max_lines)
    if step <= top:
        return [i * step for i in range(1, int(top / step) + 1)]
    smaller = max(step for step in steps if step <= top)
    return [int(top / smaller) * smaller]


def _draw_agent_line(
    desk: ViewContext, chart: TimeChart, scale: ChartScale, line: ChartLine, later_line_count: int
) -> None:
    """Draw the line of an agent; lines drawn later are thinner, so that overlapping lines remain visible."""
    canvas, colour = desk.canvas, SERIES[line.panel_index % len(SERIES)]
    # Draw at most one point per two pixels of width.
    points = pixel_points_of_line(line, scale, max_points=max(2, (scale.plot_box[2] - 2 * scale.plot_padding) // 2))
    if len(points) > 1:
        pygame.draw.lines(
            canvas.surface, colour, False, points, max(1, canvas.to_px(1.3 + 1.5 * min(3, later_line_count)))
        )
    if chart.has_dots and len(points) <= _MAX_LINE_DOTS:
        for point in points:
            pygame.draw.circle(canvas.surface, colour, point, max(2, canvas.to_px(2.5)))


def pixel_points_of_line(
    line: ChartLine, scale: ChartScale, max_points: int | None = None
) -> list[tuple[float, float]]:
    """Return the finite values of an agent's line as positions in the plot, in pixels.

    Args:
        line: Values of an agent.
        scale: Conversion to pixels.
        max_points: Maximum number of points, spread evenly and including the first and the last value; None for all.
    """
    count = line.values.size
    indices = np.unique(
        np.linspace(0, count - 1, count if max_points is None else min(count, max_points)).astype(np.int64)
    )
    indices = indices[np.isfinite(line.values[indices])]
    return [(scale.x(line.first + i), scale.y(float(line.values[i]))) for i in indices.tolist()]


def _draw_values_at_pointer(desk: ViewContext, chart: TimeChart, scale: ChartScale, lines: Sequence[ChartLine]) -> None:
    """Draw a small box next to the pointer, with the values of all agents at the tick or trial under the pointer."""
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    number = scale.tick_or_trial_at_x(canvas.mouse_position[0])
    rows = [(line, value) for line in lines if (value := line.value_at_tick_or_trial(number)) is not None]
    at = round(scale.x(number))
    x, y, width, height = scale.plot_box
    pygame.draw.line(canvas.surface, palette.accent, (at, y), (at, y + height - 1))
    heading = f"{chart.x_axis_unit} {number:,}"
    box_width = max(
        [canvas.text_width(heading, 12)]
        + [canvas.text_width(chart.format_value(v), 12, "mono") + px(24) for _, v in rows]
    )
    box_width, box_height = box_width + px(12), px(18) * (1 + len(rows)) + px(6)
    left = at + px(6) if at + px(6) + box_width <= x + width else at - px(6) - box_width
    canvas.fill_box((left, y, box_width, box_height), palette.raised, 4)
    canvas.draw_text((left + px(6), y + px(2)), heading, size=12)
    for row, (line, value) in enumerate(rows, 1):
        middle = y + px(11) + row * px(18)
        end = panel_mark.draw_panel_mark(canvas, left + px(6), middle, line.panel_index)
        canvas.draw_text((end + px(6), middle), chart.format_value(value), size=12, face="mono", middle=True)
