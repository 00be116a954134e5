"""Experiment: the agents of the panels on many problems of this map, beside the window, with table and plot as results
come. Or a sweep: one agent with all combinations of two parameters, as a coloured table.
"""

from collections.abc import Callable
from itertools import accumulate
from math import isnan, log

import pygame

from sim.commands import AgentConfig
from sim.experiments.plan import params_text
from sim.experiments.sketch import Axis, Sketch, read_axis, read_budgets
from sim.params import ConfigError, Param, Value
from ui.dialogs.base import BUTTON_HEIGHT, FormDialog, Host, take_bottom, take_left, take_top
from ui.draw.theme import SERIES, Colour, heat_colours, mix
from ui.model import study as studies
from ui.model.state import State
from ui.model.study import Point, Study
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Field, Painted, Text
from ui.widgets.forms import ParamForm
from ui.widgets.holder import Holder
from ui.widgets.lists import Col, Item, Rows

LIST, PAIRS = "problem list", "random pairs"
COUNT = Param("problems", int, 40, "how many, each walked by every agent with every budget", 1, 5000)
SEED = Param("seed", int, 1, "which are drawn", 0, 10_000)
COLUMNS = (
    Col("Setting"),
    Col("k", 56, "right", "mono"),
    Col("Arrived", 76, "right", "mono"),
    Col("x optimal", 84, "right", "mono"),
    Col("exp / move", 96, "right", "mono"),
    Col("Most", 80, "right", "mono"),
    Col("us / move", 92, "right", "mono"),
)
LEAST_SETTING = 70
_REFRESH_S = 0.5
_EDGE = 52  # beside and below a plot, for its numbers


class ExperimentSheet(FormDialog):
    title = "Experiment"
    hint = "runs beside the window; what is done stays"
    size = (1120, 700)
    command = "experiment"

    def __init__(self, host: Host, state: State) -> None:
        self.state = state
        source = LIST if host.problems is not None else PAIRS
        self.values: dict[str, Value] = {"source": source, COUNT.name: COUNT.default, SEED.name: SEED.default}
        budget = host.session.world.budget
        self.budgets = " ".join(str(k) for k in sorted({1, max(1, budget // 4), budget, 4 * budget}))
        self.sweep = ["", ""]
        self._rest_s = 0.0
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
        self.meter = _Meter(self, take_top(area, self.px(6), self.px(8)), self)
        self.add(self.meter)
        plot = take_bottom(area, max(self.px(120), area.height * 11 // 20), self.px(12))
        columns = self._columns_within(area.width)
        items = self._items()
        self.rows = Rows(self, area, columns, items, chosen=self.confirm, selected=self._chose, empty="no results yet")
        self.add(self.rows)
        is_sweep = self.study is not None and bool(self.study.sketch.sweep)
        self.plot: _Chart = (_SweepTable if is_sweep else _Plot)(self, plot, self)
        self.add(self.plot)
        is_running = self.study is not None and self.study.is_running
        buttons: list[tuple[str, Callable[[], None], str]] = [("Close", self.cancel, "")]
        has_results = self.study is not None
        start = ("Start", self._start, "" if has_results else "main")
        buttons.append(("Stop", self._stop, "danger") if is_running else start)
        buttons.append(("Open run", self.confirm, "main" if has_results else ""))
        self.add_footer(*buttons)
        self.add_note()
        self._say()

    def _columns_within(self, width: int) -> list[Col]:
        """The first of them, as many as there is room for."""
        ends = accumulate(self.px(column.width or LEAST_SETTING) for column in COLUMNS)
        return [column for column, end in zip(COLUMNS, ends, strict=True) if end <= width] or [COLUMNS[0]]

    def _build_form(self, area: pygame.Rect) -> None:
        source = Param("source", str, PAIRS, "where starts and goals come from", choices=(PAIRS, LIST))
        sources = (source,) if self.host.problems is not None else ()
        fields = take_bottom(area, self.px(190), self.px(8))
        self.form = ParamForm(self, area, (*sources, COUNT, SEED), self.values, self._changed)
        for control in self.form.controls():
            self.add(control)
        walker = self.host.session.focused
        name = walker.label if walker is not None else "nobody"
        own = ", ".join(self._with_budgets())
        self._field(fields, f"Budgets, but not of {own}" if own else "Budgets", self.budgets, self._set_budgets)
        self._field(fields, f"Or sweep two of {name}, as weight: 1 1.4 3", self.sweep[0], self._set_first)
        self._field(fields, "... and as budget: 1 4 16 64", self.sweep[1], self._set_second)

    def _field(self, area: pygame.Rect, words: str, text: str, changed: Callable[[str], None]) -> None:
        self.add(Text(self, take_top(area, self.px(20)), words, role="dim", size=12))
        self.add(Field(self, take_top(area, self.px(BUTTON_HEIGHT), self.px(8)), text, changed, mono=True))

    def _changed(self, name: str, value: Value) -> None:
        self.values[name] = value

    def _set_budgets(self, text: str) -> None:
        self.budgets = text

    def _set_first(self, text: str) -> None:
        self.sweep[0] = text

    def _set_second(self, text: str) -> None:
        self.sweep[1] = text

    def reveal(self, control: object) -> None:
        self.form.reveal(control)  # type: ignore[arg-type]

    # --- what it runs -----------------------------------------------------------------------------

    def _start(self) -> None:
        if self.form.stops():
            return
        try:
            sketch = self._sketch()
            self.state.study = studies.begin(sketch)
        except ConfigError as error:
            self.complain("\n".join(error.problems))
            return
        except OSError as error:
            self.complain(f"the experiment cannot be started: {error.strerror or error}")
            return
        self.complain("")
        self.rebuild()

    def _sketch(self) -> Sketch:
        session, axes = self.host.session, self._axes()
        configs = [_bare(config) for config in session.configs()]
        if axes:
            walker = session.focused
            configs = [] if walker is None else [AgentConfig(walker.spec.key, params=dict(walker.params))]
        if not configs:
            raise ConfigError("there is no agent to experiment with")
        grid = session.scenario.grid
        rows = self.host.problems.rows if self.values["source"] == LIST and self.host.problems is not None else []
        return Sketch(
            f"{session.scenario.title}: experiment",
            grid,
            tuple(configs),
            read_budgets(self.budgets),
            int(self.values[COUNT.name]),
            int(self.values[SEED.name]),
            tuple(row for row in rows if row.is_readable and row.problem is None),
            axes,
        )

    def _with_budgets(self) -> list[str]:
        """Agents that have a budget of their own, and keep it."""
        configs = self.host.session.configs()
        return [f"{config.label or config.kind} ({config.budget:,})" for config in configs if config.budget is not None]

    def _axes(self) -> tuple[Axis, ...]:
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

    def _stop(self) -> None:
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
        if not self.study.is_running and self._says_running:
            self.study.poll()
            self.rebuild()
        self._say()

    _says_running = False  # the words and buttons are those of an experiment under way

    def _say(self) -> None:
        study = self.study
        self._says_running = study is not None and study.is_running
        if study is None:
            self.words.set("The agents of the panels, on problems of this map as it was at tick 0. Press Start.", "dim")
        elif study.complaint:
            self.words.set(study.complaint.splitlines()[-1], "warning")
        elif study.is_running and not study.whole:
            self.words.set("preparing: problems are drawn, kernels compiled", "text")
        else:
            state = "running" if study.is_running else "stopped" if study.was_cancelled else "done"
            failed = f", {study.failures:,} failed" if study.failures else ""
            left = f", about {study.left_s:.0f} s left" if study.is_running and study.done else ""
            self.words.set(f"{state}: {study.done:,} of {study.whole:,} runs{failed}{left}; {study.results}", "text")

    # --- what came out ----------------------------------------------------------------------------

    def _items(self) -> list[Item]:
        points = self.study.points if self.study is not None else []
        front = set(self.study.front()) if self.study is not None else set()
        return [_item(point, setting_of(point, points), i in front) for i, point in enumerate(points)]

    def _chose(self, place: int) -> None:
        if hasattr(self, "plot"):
            self.plot.refresh()

    def open(self, point: Point) -> None:
        """The run of a setting that is most like its mean, in a panel of its own."""
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
        item = self.rows.item
        if item is None:
            self.complain("no run is there to be opened yet")
        else:
            self.open(item.value)

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)


def _bare(config: AgentConfig) -> AgentConfig:
    """An agent without start and goal of its own: problems are the experiment's."""
    return AgentConfig(config.kind, config.label, dict(config.params), config.budget)


def setting_of(point: Point, points: list[Point]) -> str:
    """Its name, and those of its parameters in which settings of its name differ."""
    others = [other.params for other in points if other.name == point.name]
    differing = [name for name, value in point.params.items() if any(other.get(name) != value for other in others)]
    return " ".join([point.name, *(f"{name}={_short(point.params[name])}" for name in differing)])


def _short(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else params_text({"": value})[4:-1].strip('"')


def _item(point: Point, setting: str, is_on_front: bool) -> Item:
    cost = "-" if isnan(point.cost) else f"{point.cost:.3f}"
    totals = point.totals
    numbers = (
        f"{totals.arrived:,}/{totals.runs:,}",
        cost,
        f"{totals.work:.2f}",
        f"{totals.most:,}",
        f"{totals.move_us:.2f}",
    )
    cells = (setting, f"{point.budget:,}", *numbers)
    roles = {3: "accent", 4: "accent"} if is_on_front else {}
    if not point.is_whole:
        roles[2] = "warning"
    return Item(cells, point, roles=roles)


# --- pictures of the results ------------------------------------------------------------------------


class _Meter(Painted):
    """How much of it is done."""

    can_focus = False

    def __init__(self, dialog: Holder, rect: pygame.Rect, sheet: ExperimentSheet) -> None:
        self.sheet = sheet
        super().__init__(dialog, rect)

    def paint(self, pen: Canvas) -> None:
        study = self.sheet.study
        share = study.done / study.whole if study is not None and study.whole else 0.0
        pen.meter(self.box, share, pen.palette.accent)


class _Chart(Painted):
    """Results as a picture. A click on one opens its run."""

    can_focus = False

    def __init__(self, dialog: Holder, rect: pygame.Rect, sheet: ExperimentSheet) -> None:
        self.sheet = sheet
        self.hot: Point | None = None
        self.places: list[tuple[pygame.Rect, Point]] = []  # where each can be clicked on
        super().__init__(dialog, rect)

    def _at(self, position: tuple[int, int]) -> Point | None:
        if not self.is_under(position):
            return None
        x, y = position[0] - self.element.rect.x, position[1] - self.element.rect.y
        return next((point for box, point in reversed(self.places) if box.collidepoint(x, y)), None)

    def mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        point = self._at(position)
        if point is not self.hot:
            self.hot = point
            self.refresh()
        if point is not None and event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self.sheet.open(point)
            return True
        return False

    def words_of(self, point: Point) -> str:
        points = self.sheet.study.points if self.sheet.study is not None else []
        cost = "never arrived" if isnan(point.cost) else f"{point.cost:.3f} x optimal"
        return f"{setting_of(point, points)}, k = {point.budget:,}: {cost}, {point.work:.2f} expansions a move"


class _Plot(_Chart):
    """Cost / optimal against expansions a move, both logarithmic; a line through those that no other beats in both."""

    def paint(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        palette, study = pen.palette, self.sheet.study
        self.places = []
        pen.fill((0, 0, width, height), palette.raised, 4)
        points = [p for p in study.points if not isnan(p.cost) and p.work > 0.0] if study is not None else []
        if not points:
            words = "cost / optimal against expansions a move: here, as results come"
            pen.text((width // 2, height // 2), words, size=13, colour=palette.dim, align="centre", middle=True)
            return
        across, up = _Scale([p.work for p in points], 1.0), _Scale([p.cost for p in points], 1.0)
        edge = pen.px(_EDGE)
        box = pygame.Rect(edge, pen.px(24), width - edge - pen.px(16), height - edge - pen.px(24))
        self._draw_axes(pen, box, across, up)
        where = {
            id(p): (box.x + across.share(p.work) * box.width, box.bottom - up.share(p.cost) * box.height)
            for p in points
        }
        front = (
            sorted((study.points[i] for i in study.front() if study is not None), key=lambda p: p.work) if study else []
        )
        line = [where[id(p)] for p in front if id(p) in where]
        if len(line) > 1:
            pygame.draw.lines(pen.surface, mix(palette.accent, palette.raised, 0.4), False, line, max(1, pen.px(1.5)))
        names = list(dict.fromkeys(p.name for p in points))
        right = box.right
        for place, name in reversed(list(enumerate(names))):
            right -= pen.text((right, pen.px(11)), name, size=12, align="right", middle=True) + pen.px(10)
            pygame.draw.circle(pen.surface, SERIES[place % len(SERIES)], (right, pen.px(11)), pen.px(4))
            right -= pen.px(16)
        chosen = self.sheet.rows.item.value if self.sheet.rows.item is not None else None
        for point in points:
            self._draw_point(
                pen, point, where[id(point)], SERIES[names.index(point.name) % len(SERIES)], point is chosen
            )
        words = self.words_of(self.hot) if self.hot is not None else "a click on a point opens a run like it"
        pen.text(
            (box.x, pen.px(11)),
            words,
            size=12,
            colour=palette.text if self.hot else palette.dim,
            middle=True,
            width=max(1, right - box.x),
        )

    def _draw_point(
        self, pen: Canvas, point: Point, place: tuple[float, float], colour: Colour, is_chosen: bool
    ) -> None:
        x, y = round(place[0]), round(place[1])
        radius = pen.px(6 if point is self.hot or is_chosen else 4)
        if is_chosen:
            pygame.draw.circle(pen.surface, pen.palette.text, (x, y), radius + pen.px(2))
        pygame.draw.circle(pen.surface, colour, (x, y), radius)
        if not point.is_whole:
            pygame.draw.circle(pen.surface, pen.palette.raised, (x, y), max(1, radius - pen.px(2)))
        reach = pen.px(8)
        self.places.append((pygame.Rect(x - reach, y - reach, 2 * reach, 2 * reach), point))

    @staticmethod
    def _draw_axes(pen: Canvas, box: pygame.Rect, across: "_Scale", up: "_Scale") -> None:
        palette = pen.palette
        for value in across.ticks:
            x = box.x + round(across.share(value) * box.width)
            pen.fill((x, box.y, 1, box.height), palette.edge)
            pen.text(
                (x, box.bottom + pen.px(12)),
                f"{value:g}",
                size=11,
                face="mono",
                colour=palette.dim,
                align="centre",
                middle=True,
            )
        for value in up.ticks:
            y = box.bottom - round(up.share(value) * box.height)
            pen.fill((box.x, y, box.width, 1), palette.edge)
            pen.text(
                (box.x - pen.px(6), y),
                f"{value:g}",
                size=11,
                face="mono",
                colour=palette.dim,
                align="right",
                middle=True,
            )
        pen.text(
            (box.right, box.bottom + pen.px(30)),
            "expansions / move",
            size=12,
            colour=palette.dim,
            align="right",
            middle=True,
        )
        pen.text((box.x, box.bottom + pen.px(30)), "cost / optimal upwards", size=12, colour=palette.dim, middle=True)


class _Scale:
    """A logarithmic axis over some values, with round numbers on it."""

    def __init__(self, values: list[float], least: float) -> None:
        low, high = min(least, *values), max(values)
        high = max(high, 1.2 * low)
        self.low, self.high = log(low) - 0.04, log(high) + 0.04
        rounds = [m * 10.0**e for e in range(-2, 9) for m in (1, 1.5, 2, 3, 5)]
        inside = [value for value in rounds if self.low <= log(value) <= self.high]
        self.ticks = inside if len(inside) < 8 else [v for v in inside if f"{v:e}"[0] in "12" and f"{v:e}"[2] != "5"]

    def share(self, value: float) -> float:
        return (log(value) - self.low) / (self.high - self.low)


class _SweepTable(_Chart):
    """The mean of cost / optimal for all combinations of two parameters, the cheaper the darker."""

    def paint(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        palette, study = pen.palette, self.sheet.study
        self.places = []
        pen.fill((0, 0, width, height), palette.raised, 4)
        if study is None or len(study.sketch.sweep) != 2:
            return
        first, second = study.sketch.sweep
        left, top = pen.px(96), pen.px(52)
        wide, high = (width - left - pen.px(10)) // len(second.values), (height - top - pen.px(8)) // len(first.values)
        pen.text(
            (left, pen.px(14)), self._words(first, second), size=12, colour=palette.dim, middle=True, width=width - left
        )
        for j, value in enumerate(second.values):
            pen.text(
                (left + j * wide + wide // 2, top - pen.px(12)),
                _short(value),
                size=12,
                face="mono",
                align="centre",
                middle=True,
            )
        costs = [p.cost for p in study.points if not isnan(p.cost)]
        for i, line in enumerate(study.table()):
            y = top + i * high
            pen.text(
                (left - pen.px(10), y + high // 2),
                _short(first.values[i]),
                size=12,
                face="mono",
                align="right",
                middle=True,
            )
            for j, point in enumerate(line):
                self._draw_cell(pen, (left + j * wide, y, wide - pen.px(3), high - pen.px(3)), point, costs)

    def _words(self, first: Axis, second: Axis) -> str:
        if self.hot is not None:
            return self.words_of(self.hot)
        return f"cost / optimal; {first.name} down, {second.name} across; a click opens a run"

    def _draw_cell(self, pen: Canvas, box: tuple[int, int, int, int], point: Point | None, costs: list[float]) -> None:
        palette = pen.palette
        if point is None or isnan(point.cost):
            pen.fill(box, palette.surface, 3)
            words = "" if point is None else "never"
            pen.text(
                (box[0] + box[2] // 2, box[1] + box[3] // 2),
                words,
                size=12,
                colour=palette.dim,
                align="centre",
                middle=True,
            )
        else:
            colours = heat_colours("cividis", palette, 8)
            share = log(point.cost / min(costs)) / max(1e-9, log(max(costs) / min(costs)))
            colour = colours[min(len(colours) - 1, int(share * len(colours)))]
            pen.fill(box, colour, 3)
            ink = palette.casing_dark if sum(colour) > 380 else palette.casing_light
            face = "bold" if point is self.hot else "mono"
            pen.text(
                (box[0] + box[2] // 2, box[1] + box[3] // 2),
                f"{point.cost:.3f}",
                size=12,
                colour=ink,
                face=face,
                align="centre",
                middle=True,
            )
        if point is not None:
            self.places.append((pygame.Rect(box), point))
