"""Sidebar tab that compares the agents: a table of a few measures, and charts by tick or trial."""

from functools import partial
from itertools import accumulate

from sim.measures import MEASURE_BY_KEY, OPTIONAL_FORMAT, Measure
from sim.world_view import WalkerView
from ui.model import panel_texts, value_adjustments
from ui.model.layout import Box
from ui.model.run import Panel
from ui.panels import charts, command_button, panel_mark, stepper
from ui.panels.command_button import focus_command_ids
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import Canvas, HitRegion

COMPARED_MEASURE_KEYS = ("suboptimality", "back_moves", "revisits", "expansions")
"""Keys of the measures shown in the sidebar."""

COLUMN_GAP = 10  # gap between two columns of the table, in design units

# Height in design units of two lines of text, which say whose line a crowd has in the charts.
SHOWN_AGENT_TEXT_HEIGHT = 36


def draw_compare_tab(desk: ViewContext, box: Box) -> int:
    """Draw the tab and return the bottom of its content."""
    x, y, width, height = box
    px = desk.canvas.to_px
    y = _draw_comparison_table(desk, x, y, width)
    y = _draw_optimal_cost(desk, x, y, width)
    third = (width - px(12)) // 3
    for i, command in enumerate(("compare_table", "export_csv", "save_charts")):
        button_box = (x + i * (third + px(6)), y, third, px(28))
        command_button.draw_command_button(desk, command, button_box, area="compare")
    y += px(38)
    y = _draw_trial_count_stepper(desk, x, y, width)
    y = _draw_shown_agents(desk, x, y, width)
    shown_charts = charts.shown_charts(desk)
    free_height = box[1] + height - y
    chart_height = max(px(84), min(px(150), free_height // len(shown_charts)))
    for chart in shown_charts:
        charts.draw_chart(desk, (x, y, width, chart_height - px(8)), chart)
        y += chart_height
    return y - px(8)


def _draw_shown_agents(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw one sentence per crowd that says which agent of the crowd the charts show."""
    for text in charts.shown_agent_sentences(desk.session.run.panels):
        box = (x, y, width, desk.canvas.to_px(SHOWN_AGENT_TEXT_HEIGHT))
        y += desk.canvas.draw_wrapped_text(box, text, size=12, colour=desk.palette.dim) + desk.canvas.to_px(6)
    return y


def _draw_trial_count_stepper(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the stepper for the number of trials (walks from start to goal), if any agent keeps what it learned."""
    if not any(panel.walker_view.spec.keeps_h for panel in desk.session.run.panels):
        return y
    canvas = desk.canvas
    px = canvas.to_px
    canvas.draw_text((x, y + px(14)), "Trials", size=13, colour=desk.palette.dim, middle=True)
    tip = (
        "Walks from start to goal of agents that learn. Each walk uses what the earlier walks learned; they end when "
        "nothing new is learned"
    )
    stepper.draw_stepper(
        canvas,
        "trials",
        (x + width, y),
        f"{desk.session.run.world.max_trials:,}",
        partial(_change_trial_count, desk),
        tip,
        ("more_trials", "fewer_trials"),
    )
    return y + px(38)


def _change_trial_count(desk: ViewContext, step: int) -> None:
    desk.show_message_until_edit(value_adjustments.adjust_trial_count(desk.session, step))


def _draw_comparison_table(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the table; columns are as wide as their numbers, and names get the remaining width."""
    canvas, px, panels = desk.canvas, desk.canvas.to_px, desk.session.run.panels
    columns = [
        _MeasureColumn(canvas, MEASURE_BY_KEY[key], [panel.walker_view for panel in panels])
        for key in COMPARED_MEASURE_KEYS
    ]
    rights = _right_edges_of_columns([column.width for column in columns], px(COLUMN_GAP), x + width)
    names_end = rights[0] - columns[0].width - px(COLUMN_GAP)
    for right, column in zip(rights, columns, strict=True):
        canvas.draw_text((right, y), column.heading, size=12, colour=desk.palette.dim, align="right")
        head = (right - column.width, y, column.width, px(18))
        canvas.add_hit_region(HitRegion(f"column:{column.measure.key}", head, None, column.measure.description))
    y += px(21)
    for index, panel in enumerate(panels):
        _draw_agent_of_row(desk, panel, index, (x, y, width, px(22)), names_end)
        for right, column in zip(rights, columns, strict=True):
            canvas.draw_text((right, y), column.values[index], size=12, face="mono", align="right")
        y += px(22)
    return y + px(6)


def _draw_agent_of_row(desk: ViewContext, panel: Panel, index: int, row: Box, names_end: int) -> None:
    x, y = row[:2]
    left = panel_mark.draw_panel_mark(desk.canvas, x, y + desk.canvas.to_px(10), index) + desk.canvas.to_px(5)
    desk.canvas.draw_text((left, y), panel.walker_view.label, size=13, width=max(0, names_end - left))
    tip = f"{panel_texts.label_with_algorithm(panel.walker_view)}: {panel.walker_view.state_word}"
    if panel.crowd is not None:
        tip += f"; {panel_texts.crowd_costs_text(panel.crowd, panel.walker_view.metrics.suboptimality)}"
    desk.canvas.add_hit_region(
        HitRegion(
            f"compare:{panel.key}",
            row,
            partial(desk.session.focus_panel, panel.key),
            tip,
            focus_command_ids(index),
        )
    )


class _MeasureColumn:
    """Column of the table: a measure of all agents as text, and the width of the column in pixels."""

    def __init__(self, canvas: Canvas, measure: Measure, views: list[WalkerView]) -> None:
        self.measure, self.heading = measure, _measure_heading(measure)
        self.values = [_measure_value_text(measure, view) for view in views]
        widths = (canvas.text_width(value, 12, "mono") for value in self.values)
        self.width = max([canvas.text_width(self.heading, 12), *widths])


def _measure_heading(measure: Measure) -> str:
    return (
        (measure.panel_measure.short_name or measure.panel_measure.name)
        if measure.panel_measure
        else measure.column_title.lower()
    )


def _measure_value_text(measure: Measure, view: WalkerView) -> str:
    return panel_texts.measure_text(
        measure, measure.panel_measure.number_format if measure.panel_measure else OPTIONAL_FORMAT, view.metrics
    )


def _right_edges_of_columns(widths: list[int], gap: int, right: int) -> list[int]:
    """Return the right edges of the table's columns; the last column ends at `right`."""
    before = accumulate(reversed(widths[1:]), lambda end, wide: end - wide - gap, initial=right)
    return list(before)[::-1]


def _draw_optimal_cost(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the optimal cost by which the agents' costs are divided, and the optimal cost that a problem list states."""
    canvas = desk.canvas
    if all(panel.walker_view.has_own_start_or_goal for panel in desk.session.run.panels):
        text = "optimal: each agent's start to its goal"
        canvas.draw_text((x, y), text, size=12, colour=desk.palette.dim, width=width)
        return y + canvas.to_px(24)
    optimal = desk.session.run.world.optimal_cost
    listed_optimal = desk.session.run.scenario.listed_optimal
    text = f"optimal {panel_texts.cost_text(optimal)}" if optimal < float("inf") else "no path from start to goal"
    if listed_optimal is not None:
        text += f", listed {listed_optimal:g}"
    if desk.session.run.world.grid.version:
        text += " (on the map when the goal was set)"
    canvas.draw_text((x, y), text, size=12, colour=desk.palette.dim, width=width)
    return y + canvas.to_px(24)
