"""Sidebar: how the agents compare, in a few numbers and over time."""

from functools import partial

from sim.measures import MEASURE_BY_KEY, OPTIONAL, Measure
from sim.walker import WalkerView
from ui.model import turning, wording
from ui.model.layout import Box
from ui.panels import charts, mark, stepper
from ui.panels.desk import Desk
from ui.widgets.canvas import HotSpot

COLUMNS = (("suboptimality", 40), ("back_moves", 44), ("revisits", 44), ("expansions", 58))
"""The measures that fit into the sidebar, and the widths of their columns."""

WHOSE = 36  # two lines of text


def draw(desk: Desk, box: Box) -> int:
    """Returns where the content ends."""
    x, y, width, height = box
    px = desk.canvas.px
    y = _draw_table(desk, x, y, width)
    y = _draw_reference(desk, x, y, width)
    third = (width - px(12)) // 3
    buttons = (("compare_table", "All numbers"), ("export_csv", "Export CSV"), ("save_charts", "Charts ..."))
    for i, (command, label) in enumerate(buttons):
        desk.canvas.button(
            f"compare:{command}",
            (x + i * (third + px(6)), y, third, px(28)),
            label,
            desk.doer_of(command),
            tip=desk.tip_of(command),
            key=desk.key_of(command),
        )
    y += px(38)
    y = _draw_trials(desk, x, y, width)
    y = _draw_whose(desk, x, y, width)
    shown = charts.shown_charts(desk)
    room = box[1] + height - y
    each = max(px(84), min(px(150), room // len(shown)))
    for chart in shown:
        charts.draw(desk, (x, y, width, each - px(8)), chart)
        y += each
    return y - px(8)


def _draw_whose(desk: Desk, x: int, y: int, width: int) -> int:
    """Whose lines the charts have, where that is one of a crowd."""
    for text in charts.whose(desk.session.panels):
        box = (x, y, width, desk.canvas.px(WHOSE))
        y += desk.canvas.wrapped(box, text, size=12, colour=desk.palette.dim) + desk.canvas.px(6)
    return y


def _draw_trials(desk: Desk, x: int, y: int, width: int) -> int:
    """How often agents that learn walk from start to goal."""
    if not any(panel.view.spec.keeps_h for panel in desk.session.panels):
        return y
    canvas = desk.canvas
    px = canvas.px
    canvas.text((x, y + px(14)), "Trials", size=13, colour=desk.palette.dim, middle=True)
    tip = (
        "Walks from start to goal of agents that learn, each with what those before have learned, until nothing is new"
    )
    keys = f"{desk.key_of('more_trials')}, {desk.key_of('fewer_trials')}"
    stepper.draw(
        canvas, "trials", (x + width, y), f"{desk.session.world.trials:,}", partial(_turn_trials, desk), tip, keys
    )
    return y + px(38)


def _turn_trials(desk: Desk, step: int) -> None:
    desk.tell(turning.turn_trials(desk.session, step))


def _draw_table(desk: Desk, x: int, y: int, width: int) -> int:
    canvas, palette = desk.canvas, desk.palette
    px = canvas.px
    rights = _column_ends(desk, x + width)
    names_width = rights[0] - px(COLUMNS[0][1]) - x
    for right, (key, wide) in zip(rights, COLUMNS, strict=True):
        measure = MEASURE_BY_KEY[key]
        canvas.text((right, y), _heading(measure), size=12, colour=palette.dim, align="right")
        canvas.spot(HotSpot(f"column:{key}", (right - px(wide), y, px(wide), px(18)), None, measure.words))
    y += px(21)
    for place, panel in enumerate(desk.session.panels):
        view = panel.view
        left = mark.draw(canvas, x, y + px(10), place) + px(5)
        canvas.text((left, y), view.label, size=13, width=x + names_width - left)
        canvas.spot(
            HotSpot(
                f"compare:{panel.key}",
                (x, y, width, px(22)),
                partial(desk.session.focus, panel.key),
                f"{wording.full_name(view)}: {view.state_word}",
            )
        )
        for right, (key, _) in zip(rights, COLUMNS, strict=True):
            canvas.text((right, y), _value(MEASURE_BY_KEY[key], view), size=12, face="mono", align="right")
        y += px(22)
    return y + px(6)


def _heading(measure: Measure) -> str:
    return (measure.panel.short or measure.panel.name) if measure.panel else measure.title.lower()


def _value(measure: Measure, view: WalkerView) -> str:
    return wording.in_form(measure, measure.panel.form if measure.panel else OPTIONAL, view.metrics)


def _column_ends(desk: Desk, right: int) -> list[int]:
    """Where each column ends, from the right edge of the table."""
    ends = []
    for _, wide in reversed(COLUMNS):
        ends.append(right)
        right -= desk.canvas.px(wide)
    return ends[::-1]


def _draw_reference(desk: Desk, x: int, y: int, width: int) -> int:
    """What the ratios are over: our own optimum, and the one a problem list states."""
    canvas = desk.canvas
    if all(panel.view.has_own_ends for panel in desk.session.panels):
        text = "optimal: between the ends of each agent"
        canvas.text((x, y), text, size=12, colour=desk.palette.dim, width=width)
        return y + canvas.px(24)
    optimal = desk.session.world.optimal
    listed = desk.session.scenario.listed_optimal
    text = f"optimal {wording.cost(optimal)}" if optimal < float("inf") else "no path from start to goal"
    if listed is not None:
        text += f", listed {listed:g}"
    if desk.session.world.grid.version:
        text += " (map as first opened)"
    canvas.text((x, y), text, size=12, colour=desk.palette.dim, width=width)
    return y + canvas.px(24)
