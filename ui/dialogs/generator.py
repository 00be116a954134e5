"""Map generator: a kind of map, its parameters and its seed, with a preview."""

import random

import pygame

from sim.generate import GENERATORS, Generated, GeneratorSpec, generate
from sim.movement import DIAGONAL, RULE, Movement
from sim.params import ConfigError, Value
from ui.dialogs.base import BUTTON_HEIGHT, FormDialog, Host, take_bottom, take_left, take_right
from ui.draw.thumb import thumbnail
from ui.model import files
from ui.model.beginning import configs_of
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Button, Picture
from ui.widgets.forms import ParamForm
from ui.widgets.lists import Col, Item, Rows

LIVE_CELLS = 1 << 20
"""Maximum number of cells of a map with a live preview. Larger maps are generated only by Enter."""

_SEED_COUNT = 1_000_000  # the button "New seed" chooses a seed below this number
_MOVEMENT_PARAMS = (RULE, DIAGONAL)


class GenerateMap(FormDialog):
    title = "Generate a map"
    hint = "the same values give the same map; agents are kept, and crowds get new positions"
    size = (1040, 640)
    command = "generate"

    def __init__(self, host: Host) -> None:
        self.kind = 0  # index of the chosen kind of map in GENERATORS
        self.values: dict[str, dict[str, Value]] = {
            spec.kind: {param.name: param.default for param in spec.params} for spec in GENERATORS
        }
        # Parameter name -> value of the parameters in _MOVEMENT_PARAMS, which all kinds of maps share
        self.movement: dict[str, Value] = {param.name: param.default for param in _MOVEMENT_PARAMS}
        self.made: Generated | None = None
        self.problem = ""
        self.picture: Picture | None = None
        self._wants_map = True  # whether to generate the preview in the next frame
        super().__init__(host)

    @property
    def spec(self) -> GeneratorSpec:
        return GENERATORS[self.kind]

    # --- widgets ----------------------------------------------------------------------------------

    def build(self) -> None:
        area = self.area
        kinds = take_left(area, self.px(190), self.px(20))
        items = [Item((spec.name,), spec.kind) for spec in GENERATORS]
        self.rows = Rows(self, kinds, [Col()], items, place=self.kind, selected=self._chose)
        self.add(self.rows)
        preview = take_right(area, min(self.px(400), area.width // 2), self.px(20))
        self.form_rect = area
        self.picture = Picture(self, preview, self._paint)
        self._seed_rect = take_bottom(area, self.px(BUTTON_HEIGHT), self.px(8))
        self._fill_form()

    def _fill_form(self) -> None:
        """Create the form for the parameters of the chosen kind of map."""
        values = self.values[self.spec.kind] | self.movement
        self.form = ParamForm(self, self.form_rect, (*self.spec.params, *_MOVEMENT_PARAMS), values, self._changed)
        self.controls = [self.rows, *self.form.controls()]
        self.seed_button = Button(self, self._seed_rect.copy(), "New seed  (F8)", self.new_seed)
        self.seed_button.enable(self._has_seed)
        self.add(self.seed_button)
        self.add_footer(("Cancel", self.cancel, ""), ("Generate", self.confirm, "main"))
        if self.picture:
            self.add(self.picture)

    @property
    def _has_seed(self) -> bool:
        return "seed" in self.values[self.spec.kind]

    def _chose(self, index: int) -> None:
        if index == self.kind:
            return
        self.form.flush()
        self.kind = index
        for control in self.controls:
            if control is not self.rows and control is not self.picture:
                control.kill()
        self.form.kill()
        self._fill_form()
        self._focused = 0
        self._apply_focus()
        self._wants_map = True

    def reveal(self, control: object) -> None:
        self.form.reveal(control)  # type: ignore[arg-type]

    # --- values -----------------------------------------------------------------------------------

    def _changed(self, name: str, value: Value) -> None:
        values = self.movement if name in self.movement else self.values[self.spec.kind]
        values[name] = value
        self._wants_map = True

    def new_seed(self) -> None:
        if self._has_seed:
            seed = random.randrange(_SEED_COUNT)  # an unseeded generator is fine, because the form shows the seed
            self.values[self.spec.kind]["seed"] = seed
            self.form.show({"seed": seed})
            self._wants_map = True

    def update(self, seconds: float = 1 / 60) -> None:
        super().update(seconds)
        self.form.update(seconds)
        if self._wants_map:
            self._wants_map = False
            self._make(only_small=True)

    def _make(self, only_small: bool = False) -> None:
        """Generate a map from the values of the form; if that fails, set `problem` to the reason.

        Args:
            only_small: Whether to skip maps that are too large for a live preview.
        """
        values = self.values[self.spec.kind]
        self.made, self.problem = None, ""
        cells = int(values.get("width", values.get("size", 0))) * int(values.get("height", values.get("size", 0)))
        if only_small and cells > LIVE_CELLS:
            self.problem = f"A map of {cells:,} cells has no preview; Generate creates and opens it"
        else:
            try:
                self.made = generate(self.spec.kind, values, self.spec.kind, self._entered_movement())
            except ConfigError as error:
                self.problem = "\n".join(error.problems)
        if self.picture:
            self.picture.refresh()

    def _entered_movement(self) -> Movement:
        return Movement(str(self.movement[RULE.name]), float(self.movement[DIAGONAL.name]))

    def key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_F8:
            self.new_seed()
            return True
        return self._walk_key(event)

    def confirm(self) -> None:
        if self.form.stops():
            return
        if self._wants_map or self.made is None:
            self._wants_map = False
            self._make()
        if self.made is None:
            return
        session, made = self.host.session, self.made
        agents = configs_of(session.run) or list(files.DEFAULT_AGENTS)
        scenario = files.scenario_from_generated(made, agents, session.run.world.budget, session.run.scenario.seed)
        self.host.close_dialog()
        self.host.open_scenario(scenario)

    # --- the picture ------------------------------------------------------------------------------

    def _paint(self, pen: Canvas) -> None:
        width, height = pen.surface.get_size()
        if self.made is None:
            pen.wrapped((0, 0, width, height), self.problem or "...", size=13, colour=pen.palette.warning)
            return
        made = self.made
        grid = made.grid
        start, goal = grid.cell(*made.start), grid.cell(*made.goal)
        picture = thumbnail(grid, start, goal, (width, max(1, height - pen.px(108))), self.host.palette)
        pen.surface.blit(picture, (0, 0))
        y = picture.get_height() + pen.px(8)
        for line in _map_facts(made):
            pen.text((0, y), line, size=12, colour=pen.palette.dim, width=width)
            y += pen.px(18)
        pen.wrapped((0, y + pen.px(6), width, height - y), self.spec.help.capitalize(), size=13)


def _map_facts(made: Generated) -> list[str]:
    grid = made.grid
    switches = f", {len(made.switches)} switches" if made.switches else ""
    return [
        f"{grid.width} x {grid.height}, {int(grid.free.sum()):,} free cells{switches}",
        grid.movement.words,
        f"start [{made.start[0]}, {made.start[1]}], goal [{made.goal[0]}, {made.goal[1]}]",
    ]
