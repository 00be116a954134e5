"""Map generator: a kind of map, its parameters and its seed, with a preview."""

import random

import pygame

from sim.map_generators import GENERATOR_SPECS, GeneratedMap, GeneratorSpec, generate_map
from sim.movement import DIAGONAL_PARAM, RULE_PARAM, Movement
from sim.params import ConfigError, Value
from ui.dialogs.dialog_base import (
    BUTTON_HEIGHT,
    DialogHost,
    FormDialog,
    cut_strip_from_bottom,
    cut_strip_from_left,
    cut_strip_from_right,
)
from ui.draw.thumbnails import draw_thumbnail
from ui.model import opened_files
from ui.model.start_over import current_agent_configs
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Button, PaintedArea
from ui.widgets.param_form import ParamForm
from ui.widgets.row_list import ListColumn, ListRow, RowList

MAX_PREVIEW_CELLS = 1 << 20
"""Maximum number of cells of a map with a live preview. Larger maps are generated only by Enter."""

_RANDOM_SEED_COUNT = 1_000_000  # the button "New seed" chooses a seed below this number
_MOVEMENT_PARAMS = (RULE_PARAM, DIAGONAL_PARAM)


class MapGeneratorDialog(FormDialog):
    title = "Generate a map"
    hint = "the same values give the same map; agents are kept, and crowds get new positions"
    size = (1040, 640)
    command_id = "generate"

    def __init__(self, host: DialogHost) -> None:
        self.map_kind_index = 0  # index of the chosen kind of map in GENERATORS
        self.values: dict[str, dict[str, Value]] = {
            spec.kind: {param.name: param.default for param in spec.params} for spec in GENERATOR_SPECS
        }
        # Parameter name -> value of the parameters in _MOVEMENT_PARAMS, which all kinds of maps share
        self.movement_values: dict[str, Value] = {param.name: param.default for param in _MOVEMENT_PARAMS}
        self.generated_map: GeneratedMap | None = None
        self.problem = ""
        self.preview_area: PaintedArea | None = None
        self._needs_preview = True  # whether to generate the preview in the next frame
        super().__init__(host)

    @property
    def chosen_generator_spec(self) -> GeneratorSpec:
        return GENERATOR_SPECS[self.map_kind_index]

    # --- widgets ----------------------------------------------------------------------------------

    def build_controls(self) -> None:
        area = self.content_rect
        list_rect = cut_strip_from_left(area, self.to_px(190), self.to_px(20))
        items = [ListRow((spec.name,), spec.kind) for spec in GENERATOR_SPECS]
        self.map_kind_list = RowList(
            self, list_rect, [ListColumn()], items, index=self.map_kind_index, selected=self._on_kind_selected
        )
        self.add(self.map_kind_list)
        preview = cut_strip_from_right(area, min(self.to_px(400), area.width // 2), self.to_px(20))
        self.form_rect = area
        self.preview_area = PaintedArea(self, preview, self._paint_preview)
        self._seed_rect = cut_strip_from_bottom(area, self.to_px(BUTTON_HEIGHT), self.to_px(8))
        self._build_form()

    def _build_form(self) -> None:
        """Create the form for the parameters of the chosen kind of map."""
        values = self.values[self.chosen_generator_spec.kind] | self.movement_values
        self.option_form = ParamForm(
            self,
            self.form_rect,
            (*self.chosen_generator_spec.params, *_MOVEMENT_PARAMS),
            values,
            self._on_value_changed,
        )
        self.controls = [self.map_kind_list, *self.option_form.controls()]
        self.seed_button = Button(self, self._seed_rect.copy(), "New seed  (F8)", self.choose_new_seed)
        self.seed_button.set_enabled(self._has_seed_param)
        self.add(self.seed_button)
        self.add_footer_buttons(("Cancel", self.cancel, ""), ("Generate", self.on_confirm, "main"))
        if self.preview_area:
            self.add(self.preview_area)

    @property
    def _has_seed_param(self) -> bool:
        return "seed" in self.values[self.chosen_generator_spec.kind]

    def _on_kind_selected(self, index: int) -> None:
        if index == self.map_kind_index:
            return
        self.option_form.report_pending_changes()
        self.map_kind_index = index
        before = list(self.controls)
        for control in self.controls:
            if control is not self.map_kind_list and control is not self.preview_area:
                control.remove()
        self.option_form.remove_controls()
        self._build_form()
        self._focused_index = 0
        self._notify_of_focus()
        self.continue_from_controls(before)
        self._needs_preview = True

    def scroll_to_control(self, control: object) -> None:
        self.option_form.scroll_to_control(control)  # type: ignore[arg-type]

    # --- values -----------------------------------------------------------------------------------

    def _on_value_changed(self, name: str, value: Value) -> None:
        values = self.movement_values if name in self.movement_values else self.values[self.chosen_generator_spec.kind]
        values[name] = value
        self._needs_preview = True

    def choose_new_seed(self) -> None:
        if self._has_seed_param:
            # An unseeded generator is fine, because the form shows the seed.
            seed = random.randrange(_RANDOM_SEED_COUNT)
            self.values[self.chosen_generator_spec.kind]["seed"] = seed
            self.option_form.show_values({"seed": seed})
            self._needs_preview = True

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        super().update_dialog(seconds)
        self.option_form.update_rows(seconds)
        if self._needs_preview:
            self._needs_preview = False
            self._generate_map(only_small=True)

    def _generate_map(self, only_small: bool = False) -> None:
        """Generate a map from the values of the form; if that fails, set `problem` to the reason.

        Args:
            only_small: Whether to skip maps that are too large for a live preview.
        """
        values = self.values[self.chosen_generator_spec.kind]
        self.generated_map, self.problem = None, ""
        cells = int(values.get("width", values.get("size", 0))) * int(values.get("height", values.get("size", 0)))
        if only_small and cells > MAX_PREVIEW_CELLS:
            self.problem = f"A map of {cells:,} cells has no preview; Generate creates and opens it"
        else:
            try:
                self.generated_map = generate_map(
                    self.chosen_generator_spec.kind, values, self.chosen_generator_spec.kind, self._entered_movement()
                )
            except ConfigError as error:
                self.problem = "\n".join(error.problems)
        if self.preview_area:
            self.preview_area.repaint()

    def _entered_movement(self) -> Movement:
        return Movement(str(self.movement_values[RULE_PARAM.name]), float(self.movement_values[DIAGONAL_PARAM.name]))

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_F8:
            self.choose_new_seed()
            return True
        return self._move_focus_by_key(event)

    def on_confirm(self) -> None:
        if self.option_form.has_invalid_row():
            return
        if self._needs_preview or self.generated_map is None:
            self._needs_preview = False
            self._generate_map()
        if self.generated_map is None:
            return
        session, generated = self.host.session, self.generated_map
        agents = current_agent_configs(session.run) or list(opened_files.DEFAULT_AGENTS)
        scenario = opened_files.scenario_from_generated(
            generated, agents, session.run.world.budget, session.run.scenario.seed
        )
        self.host.close_dialog()
        self.host.open_scenario(scenario)

    # --- the picture ------------------------------------------------------------------------------

    def _paint_preview(self, pen: Canvas) -> None:
        width, height = pen.surface.get_size()
        if self.generated_map is None:
            pen.draw_wrapped_text((0, 0, width, height), self.problem or "...", size=13, colour=pen.palette.warning)
            return
        generated = self.generated_map
        grid = generated.grid
        start, goal = grid.cell(*generated.start), grid.cell(*generated.goal)
        picture = draw_thumbnail(grid, start, goal, (width, max(1, height - pen.to_px(108))), self.host.palette)
        pen.surface.blit(picture, (0, 0))
        y = picture.get_height() + pen.to_px(8)
        for line in _map_fact_texts(generated):
            pen.draw_text((0, y), line, size=12, colour=pen.palette.dim, width=width)
            y += pen.to_px(18)
        pen.draw_wrapped_text(
            (0, y + pen.to_px(6), width, height - y), self.chosen_generator_spec.description.capitalize(), size=13
        )


def _map_fact_texts(generated: GeneratedMap) -> list[str]:
    grid = generated.grid
    switches = f", {len(generated.switches)} switches" if generated.switches else ""
    return [
        f"{grid.width} x {grid.height}, {int(grid.free_mask.sum()):,} free cells{switches}",
        grid.movement.description,
        f"start [{generated.start[0]}, {generated.start[1]}], goal [{generated.goal[0]}, {generated.goal[1]}]",
    ]
