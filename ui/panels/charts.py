"""Small time charts: one line per agent, thinned to the width of the chart."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pygame

from ui.draw.theme import SERIES, mix
from ui.model import wording
from ui.model.layout import Box
from ui.model.session import Panel
from ui.panels.desk import Desk
from ui.widgets.canvas import HotSpot

Values = npt.NDArray[np.float64]

_MOST_POINTS = 40


@dataclass(frozen=True)
class Chart:
    key: str
    title: str
    tip: str
    values: Callable[[Desk, Panel], Values]
    shown: Callable[[float], str]
    unit: str = "tick"  # there is a value for each, from the first of the agent on
    first: int = 0  # the number of that first one
    has_points: bool = False  # few values, each worth a mark


def _suboptimality(desk: Desk, panel: Panel) -> Values:
    return _over_optimal(desk.session.trails[panel.key].cost, panel)


def _trial_costs(desk: Desk, panel: Panel) -> Values:
    return _over_optimal(np.array([trial.cost for trial in panel.view.trials]), panel)


def _over_optimal(cost: Values, panel: Panel) -> Values:
    """The cost over that of the cheapest path between the agent's ends; in a crowd, of the one that is shown."""
    optimal = panel.mind.metrics.optimal if panel.mind else 0.0
    return cost / optimal if 0 < optimal < np.inf else np.zeros(0)


TRIALS = Chart(
    "trials",
    "Cost / optimal by trial",
    "What each walk from start to goal cost, of agents that keep what they learned: down to 1 when they converge, "
    "though not always step by step",
    _trial_costs,
    wording.ratio,
    "trial",
    1,
    True,
)

CHARTS = (
    Chart("cost", "Cost / optimal", "Cost walked so far over the optimal cost, by tick", _suboptimality, wording.ratio),
    Chart(
        "expansions",
        "Expansions",
        "Cells expanded so far, by tick",
        lambda desk, panel: desk.session.trails[panel.key].expanded.astype(np.float64),
        wording.whole,
    ),
    Chart(
        "revisits",
        "Revisits",
        "Moves onto cells stood on before, by tick: flat is good, steep is scrubbing",
        lambda desk, panel: desk.session.trails[panel.key].revisits.astype(np.float64),
        wording.whole,
    ),
)


def draw(desk: Desk, box: Box, chart: Chart) -> None:
    """Title, frame, lines, and the two ends of both axes."""
    canvas, palette = desk.canvas, desk.palette
    x, y, width, height = box
    px = canvas.px
    canvas.text((x, y), chart.title, size=13, colour=palette.dim)
    canvas.spot(HotSpot(f"chart:{chart.key}", box, None, chart.tip))
    plot = (x, y + px(20), width, height - px(36))
    canvas.fill(plot, mix(palette.surface, palette.window, 0.7), 5)
    series = [(i, chart.values(desk, panel)) for i, panel in enumerate(desk.session.panels)]
    series = [(i, values) for i, values in series if values.size]
    top = max((float(values.max()) for _, values in series), default=0.0)
    last = max((values.size - 1 for _, values in series), default=0)
    end = f"{chart.unit} {last + chart.first:,}" if series else ""
    canvas.text((x + width, y), chart.shown(top), size=12, face="mono", colour=palette.dim, align="right")
    canvas.text((x, y + height - px(15)), "0", size=12, face="mono", colour=palette.dim)
    canvas.text((x + width, y + height - px(15)), end, size=12, face="mono", colour=palette.dim, align="right")
    if top <= 0:
        return
    for i, values in series:
        colour = SERIES[i % len(SERIES)]
        points = _points(values, plot, max(1, last), top, px(4))
        if len(points) > 1:
            pygame.draw.lines(canvas.surface, colour, False, points, max(1, px(1.5)))
        if chart.has_points and len(points) <= _MOST_POINTS:
            for point in points:
                pygame.draw.circle(canvas.surface, colour, point, max(2, px(2.5)))


def _points(values: Values, plot: Box, last: int, top: float, pad: int) -> list[tuple[float, float]]:
    """The line in pixels: at most one point per two pixels, the last value always among them."""
    x, y, width, height = plot
    count = values.size
    wanted = max(2, (width - 2 * pad) // 2)
    ticks = np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))
    across = x + pad + ticks / last * (width - 2 * pad)
    down = y + height - pad - values[ticks] / top * (height - 2 * pad)
    return list(zip(across.tolist(), down.tolist(), strict=True))
