"""Gallery of examples, each for one phenomenon: a picture of the map, an explanation, and the agents."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pygame

from agents.registry import AGENT_SPECS_BY_KEY
from files.scenario import Scenario
from files.shipped_files import SCENARIOS_FOLDER
from sim.params import ConfigError
from sim.world_commands import AgentConfig
from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_right
from ui.draw.theme import SERIES, Palette, mix_colours
from ui.draw.thumbnails import draw_thumbnail, load_example_picture
from ui.model import opened_files
from ui.model.comparison_columns import params_text
from ui.widgets.canvas import Canvas
from ui.widgets.controls import PaintedArea, PaintedElement, selected_row_colour
from ui.widgets.scrolling import ScrollingControl

# In design units: gap between cards, padding inside a card.
_CARD_WIDTH, _CARD_HEIGHT, _CARD_GAP, _CARD_PADDING = 190, 192, 12, 10
_DETAIL_AREA_WIDTH = 348
"""Width of the area that shows the chosen example in detail, in design units."""


@dataclass(frozen=True)
class GalleryExample:
    """One example of the gallery, read from its file."""

    path: Path
    title: str
    caption: str
    agent_descriptions: tuple[str, ...]
    scenario: Scenario | None  # None if the file cannot be read; the caption then gives the reason


class Gallery(Dialog):
    title = "Gallery"
    hint = "each example shows one phenomenon; arrow keys select, Enter or a click opens; {key:lessons}: lessons"
    size = (1260, 700)
    command_id = "gallery"

    def __init__(self, host: DialogHost) -> None:
        self.selected_index = 0
        self.example_paths = opened_files.example_files()
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.content_rect.inflate(0, self.to_px(12))
        self.detail_area: PaintedArea | None = None
        if area.width > self.to_px(_DETAIL_AREA_WIDTH * 2):
            width = min(self.to_px(_DETAIL_AREA_WIDTH), area.width * 2 // 5)
            self.detail_area = PaintedArea(
                self, cut_strip_from_right(area, width, self.to_px(20)), self._paint_example_details
            )
            self.add(self.detail_area)
        self.card_grid = _CardGrid(self, area, self.example_paths, self.selected_index)
        self.add(self.card_grid)
        self.add_footer_buttons(("Lessons ...", self._show_lessons, ""), ("Open", self.on_confirm, "main"))

    def _show_lessons(self) -> None:
        self.host.close_dialog()
        self.host.run_command("lessons")

    def refresh_example_details(self) -> None:
        if self.detail_area:
            self.detail_area.repaint()

    def _paint_example_details(self, pen: Canvas) -> None:
        """Draw details of the example under the pointer, or of the selected example if the pointer is on no card."""
        example = self.card_grid.shown_example if hasattr(self, "card_grid") else None
        if example is None:
            return
        width, height = pen.surface.get_size()
        y = 0
        if example.scenario:
            side = min(width, height * 45 // 100)
            picture = _example_picture(example, example.scenario, (width, side), self.host.palette)
            pen.surface.blit(picture, ((width - picture.get_width()) // 2, 0))
            y = picture.get_height() + pen.to_px(14)
        pen.draw_text((0, y), example.title, size=17, face="bold", width=width)
        y += pen.to_px(30)
        ink = pen.palette.text if example.scenario else pen.palette.warning
        agents_height = pen.to_px(20) * len(example.agent_descriptions) + pen.to_px(10)
        y += pen.draw_wrapped_text(
            (0, y, width, max(pen.to_px(20), height - y - agents_height)), example.caption, size=13, colour=ink
        )
        y += pen.to_px(10)
        for i, agent in enumerate(example.agent_descriptions):
            dot = (pen.to_px(2), y + i * pen.to_px(20) + pen.to_px(6), pen.to_px(7), pen.to_px(7))
            pen.fill_box(dot, SERIES[i % len(SERIES)], 4)
            pen.draw_text(
                (pen.to_px(18), y + i * pen.to_px(20)),
                agent,
                size=13,
                colour=pen.palette.dim,
                width=width - pen.to_px(18),
            )

    def on_confirm(self) -> None:
        if self.example_paths:
            path = self.example_paths[self.card_grid.selected_index]
            self.host.close_dialog()
            self.host.open_example(path)


@lru_cache(maxsize=64)
def _read_example(path: Path, changed_ns: int) -> GalleryExample:
    """Read an example from its file; the result is cached by path and modification time (in ns)."""
    try:
        scenario = opened_files.open_any_file(path).scenario
    except ConfigError as error:
        return GalleryExample(path, path.stem, error.problems[0], (), None)
    agents = tuple(_agent_description(config, scenario.budget) for config in scenario.agents)
    return GalleryExample(path, scenario.title, " ".join(scenario.caption.split()), agents, scenario)


def _agent_description(config: AgentConfig, budget: int) -> str:
    """Return name, label, parameters and budget of an agent, such as 'TB-WA* (greedy): weight=3, k=1'."""
    name = AGENT_SPECS_BY_KEY[config.kind].name
    label = f" ({config.label})" if config.label and config.label != name else ""
    params = params_text(AGENT_SPECS_BY_KEY[config.kind], config.params, ", ")
    return f"{name}{label}: {params + ', ' if params else ''}k={config.budget or budget}"


def cached_example(path: Path) -> GalleryExample:
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _read_example(path, changed)


def _example_picture(
    example: GalleryExample, scenario: Scenario, size: tuple[int, int], palette: Palette
) -> pygame.Surface:
    """Return the picture that is stored for an example; if there is no picture, draw a thumbnail of its map."""
    stored = (
        load_example_picture(example.path.stem, size, palette) if opened_files.is_shipped_file(example.path) else None
    )
    return stored or draw_thumbnail(scenario.grid, scenario.start_cell, scenario.goal_cell, size, palette)


class _CardGrid(ScrollingControl):
    """Grid of cards, one per example. It reads one example file per frame, so that the gallery opens at once."""

    shows_focus_ring = False

    def __init__(self, dialog: Gallery, rect: pygame.Rect, paths: list[Path], index: int) -> None:
        super().__init__(dialog)
        self.gallery, self.example_paths, self.selected_index = dialog, paths, min(index, max(0, len(paths) - 1))
        self.loaded_examples: list[GalleryExample] = []
        self._scaled_pictures: dict[int, pygame.Surface] = {}
        self._hovered_index = -1  # index of the card under the pointer; -1 if there is no card under it
        gap = dialog.to_px(_CARD_GAP)
        self.column_count = max(1, (rect.width + gap) // (dialog.to_px(_CARD_WIDTH) + gap))
        self.row_height = dialog.to_px(_CARD_HEIGHT) + gap
        rows = -(-len(paths) // self.column_count)
        self.scroll_bar.set_viewport_and_content_heights(rect.height, rows * self.row_height - gap)
        cards_width = rect.width - (dialog.to_px(16) if self.scroll_bar.is_scrolling_needed else 0)
        self.card_width = (cards_width + gap) // self.column_count - gap
        self.element = PaintedElement(dialog, rect, self._paint_cards)
        self.select_card(self.selected_index)

    @property
    def line_height(self) -> int:
        return self.row_height // 6

    @property
    def _shown_index(self) -> int:
        return self._hovered_index if self._hovered_index >= 0 else self.selected_index

    @property
    def shown_example(self) -> GalleryExample | None:
        """Return the example under the pointer, or else the selected example; None if its file was not read yet."""
        index = self._shown_index
        return self.loaded_examples[index] if 0 <= index < len(self.loaded_examples) else None

    @property
    def is_animated(self) -> bool:
        return len(self.loaded_examples) < len(self.example_paths)

    def update_control(self, seconds: float) -> None:
        if self.is_animated:
            self.loaded_examples.append(cached_example(self.example_paths[len(self.loaded_examples)]))
            self.element.repaint()
            if len(self.loaded_examples) - 1 == self._shown_index:
                self.gallery.refresh_example_details()

    def select_card(self, index: int) -> None:
        self.selected_index = min(max(index, 0), len(self.example_paths) - 1)
        self.gallery.selected_index = max(0, self.selected_index)
        top = max(0, self.selected_index) // self.column_count * self.row_height
        self.scroll_bar.scroll_into_view(top, top + self.dialog.to_px(_CARD_HEIGHT))
        self._hovered_index = -1
        self.element.repaint()
        self.gallery.refresh_example_details()

    def handle_key(self, event: pygame.event.Event) -> bool:
        steps = {
            pygame.K_LEFT: -1,
            pygame.K_RIGHT: 1,
            pygame.K_UP: -self.column_count,
            pygame.K_DOWN: self.column_count,
            pygame.K_HOME: -len(self.example_paths),
            pygame.K_END: len(self.example_paths),
        }
        step = steps.get(event.key)
        if step is None:
            return False
        is_jump = event.key in (pygame.K_HOME, pygame.K_END)
        if is_jump or 0 <= self.selected_index + step < len(self.example_paths):
            self.select_card(self.selected_index + step)
        return True

    def set_focused(self, has_focus: bool) -> None:
        if has_focus != self.has_focus:
            self.has_focus = has_focus
            self.element.repaint()

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        index = self._card_index_at(position)
        if index != self._hovered_index:
            self._hovered_index = index
            self.element.repaint()
            self.gallery.refresh_example_details()
        if super().handle_mouse(event, position):
            return True
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and index >= 0:
            self.select_card(index)
            self.gallery.on_confirm()
            return True
        return False

    def _card_box(self, index: int) -> tuple[int, int, int, int]:
        row, column = divmod(index, self.column_count)
        left = column * (self.card_width + self.dialog.to_px(_CARD_GAP))
        return (
            left,
            row * self.row_height - round(self.scroll_bar.position),
            self.card_width,
            self.dialog.to_px(_CARD_HEIGHT),
        )

    def _card_index_at(self, position: tuple[int, int]) -> int:
        if not self.contains_point(position):
            return -1
        point = (position[0] - self.element.rect.x, position[1] - self.element.rect.y)
        return next(
            (i for i in range(len(self.example_paths)) if pygame.Rect(self._card_box(i)).collidepoint(point)), -1
        )

    def _paint_cards(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        for index in range(len(self.example_paths)):
            box = self._card_box(index)
            if box[1] < height and box[1] + box[3] > 0:
                self._paint_card(pen, index, box)
        if not self.example_paths:
            pen.draw_text((0, pen.to_px(8)), f"No examples in {SCENARIOS_FOLDER}", size=14, colour=pen.palette.dim)
        self.scroll_bar.paint_scroll_bar(pen, width, 0)

    def _paint_card(self, pen: Canvas, index: int, box: tuple[int, int, int, int]) -> None:
        palette = pen.palette
        is_chosen = index == self.selected_index
        ground = (
            selected_row_colour(pen, 0.16)
            if is_chosen
            else mix_colours(palette.surface, palette.raised, 1.0 if index == self._hovered_index else 0.5)
        )
        pen.fill_box(box, ground, 8)
        if is_chosen:
            pen.draw_outline(box, palette.accent, 8, 2 if self.has_focus else 1)
        if index >= len(self.loaded_examples):
            return
        example, pad = self.loaded_examples[index], pen.to_px(_CARD_PADDING)
        inner_width = box[2] - 2 * pad
        names = pen.to_px(40)
        picture = self._scaled_picture(index, example, (inner_width, box[3] - names - pad * 2))
        if picture:
            left = box[0] + (box[2] - picture.get_width()) // 2
            top = box[1] + pad + (box[3] - names - 2 * pad - picture.get_height()) // 2
            pen.surface.blit(picture, (left, top))
        lines = pen.wrap_text(example.title, inner_width, 13, "bold")[:2]
        y = box[1] + box[3] - names - pad // 2 + (pen.to_px(10) if len(lines) == 1 else pen.to_px(1))
        for i, line in enumerate(lines):
            ink = palette.text if example.scenario else palette.warning
            pen.draw_text(
                (box[0] + box[2] // 2, y + i * pen.to_px(18)),
                line,
                size=13,
                face="bold",
                align="centre",
                width=inner_width,
                colour=ink,
            )

    def _scaled_picture(self, index: int, example: GalleryExample, size: tuple[int, int]) -> pygame.Surface | None:
        scenario = example.scenario
        if scenario is None:
            return None
        if index not in self._scaled_pictures:
            self._scaled_pictures[index] = _example_picture(example, scenario, size, self.dialog.host.palette)
        return self._scaled_pictures[index]
