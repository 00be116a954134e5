"""Sidebar with tabs: layers, editing, inspector, comparison and time."""

from collections.abc import Callable
from functools import partial

import pygame

from ui.model.layout import Box
from ui.model.lesson_player import LessonPlayer
from ui.panels import lesson_card, pseudocode_card, tab_compare, tab_edit, tab_inspect, tab_layers, tab_time
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion
from ui.widgets.scrolling import MIN_THUMB_HEIGHT, ScrollBar

SCROLL_BAR_SPACE = 15  # width in design units that is kept free at the right, so that no text touches the scroll bar
SIDEBAR_TAB_DRAWERS = (
    ("layers", tab_layers.draw_layers_tab),
    ("edit", tab_edit.draw_edit_tab),
    ("inspect", tab_inspect.draw_inspect_tab),
    ("compare", tab_compare.draw_compare_tab),
    ("time", tab_time.draw_time_tab),
)
"""Key of each tab, and the function that draws it; the command `tab_KEY` shows the tab and has its name."""


def draw_sidebar(desk: ViewContext, box: Box) -> None:
    canvas, palette = desk.canvas, desk.palette
    canvas.fill_box(box, palette.surface, 8)
    canvas.draw_outline(box, palette.edge, 8)
    box = _draw_pseudocode_at_bottom(desk, box)
    x, y, width, height = box
    px = canvas.to_px
    if desk.ui_state.lesson_player is not None:
        _draw_lesson_in_sidebar(
            desk, (x + px(1), y + px(4), width - px(2), height - px(6)), desk.ui_state.lesson_player
        )
        return
    tab_height = px(36)
    names = [desk.command_table[f"tab_{key}"].button_label for key, _ in SIDEBAR_TAB_DRAWERS]
    gap = (width - px(12) - sum(canvas.text_width(name, 13, "bold") for name in names)) / len(SIDEBAR_TAB_DRAWERS)
    left: float = x + px(6.0)
    for name, (key, _) in zip(names, SIDEBAR_TAB_DRAWERS, strict=True):
        tab = (round(left), y, round(canvas.text_width(name, 13, "bold") + gap) - 1, tab_height)
        _draw_tab_button(desk, tab, key, name)
        left += canvas.text_width(name, 13, "bold") + gap
    canvas.draw_horizontal_line(x + px(1), y + tab_height, width - px(2))
    key = desk.settings.sidebar_tab
    draw_tab = next(function for name, function in SIDEBAR_TAB_DRAWERS if name == key)
    _draw_scrolling_content(
        desk, (x + px(1), y + tab_height + px(1), width - px(2), height - tab_height - px(3)), key, draw_tab
    )


def draw_sidebar_handle(desk: ViewContext, box: Box) -> None:
    """Draw the strip that shows the hidden sidebar again; its arrow points where the sidebar will open."""
    canvas, palette = desk.canvas, desk.palette
    command = f"tab_{desk.settings.sidebar_tab}"
    is_hovered = canvas.add_hit_region(
        HitRegion("sidebar:show", box, partial(desk.run_command, command), command_ids=(command,))
    )
    ground = palette.hover if is_hovered else palette.surface
    canvas.fill_box(box, canvas.shade_if_pressed(ground, "sidebar:show", is_hovered), 5)
    canvas.draw_outline(box, palette.edge, 5)
    x, y, arm = box[0] + box[2] // 2, box[1] + box[3] // 2, canvas.to_px(4)
    arrow = [(x + arm // 2, y - arm), (x - arm // 2, y), (x + arm // 2, y + arm)]
    pygame.draw.lines(canvas.surface, palette.text, False, arrow, max(2, canvas.to_px(2)))


def _draw_pseudocode_at_bottom(desk: ViewContext, box: Box) -> Box:
    """In slow motion, draw the focused agent's pseudocode at the bottom of a box; return the rest of the box."""
    panel_and_code = pseudocode_card.focused_panel_and_pseudocode(desk)
    if panel_and_code is None:
        return box
    panel, reading = panel_and_code
    x, y, width, height = box
    code_height = min(pseudocode_card.pseudocode_card_height(desk, reading), height * 2 // 3)
    code_box = (x, y + height - code_height, width, code_height)
    with desk.canvas.clip_drawing_to_box(code_box):
        pseudocode_card.draw_pseudocode_card(desk, code_box, panel, reading)
    return x, y, width, height - code_height


def _draw_tab_button(desk: ViewContext, box: Box, key: str, name: str) -> None:
    canvas, palette = desk.canvas, desk.palette
    x, y, width, height = box
    is_chosen = desk.settings.sidebar_tab == key
    command = f"tab_{key}"
    is_hovered = canvas.add_hit_region(
        HitRegion(command, box, partial(desk.run_command, command), command_ids=(command,))
    )
    ink = palette.text if is_chosen or is_hovered else palette.dim
    face = "bold" if is_chosen else "sans"
    canvas.draw_text(
        (x + width // 2, y + height // 2), name, size=13, face=face, colour=ink, align="centre", middle=True
    )
    if is_chosen:
        bar = canvas.to_px(2)
        canvas.fill_box((x + canvas.to_px(5), y + height - bar, width - canvas.to_px(10), bar), palette.accent)


def _draw_lesson_in_sidebar(desk: ViewContext, box: Box, playing: LessonPlayer) -> None:
    """Draw a lesson's step, and below it the buttons, which remain visible even if the text is too long and scrolls.

    After an answer, scroll to the end of the text, where the explanation is.
    """
    x, y, width, height = box
    buttons_height, key = lesson_card.lesson_buttons_height(desk), f"lesson {playing.step_index}"
    step = partial(lesson_card.draw_lesson_step, playing=playing)
    bottom = _draw_scrolling_content(desk, (x, y, width, height - buttons_height), key, step)
    if playing.must_show_explanation:
        desk.ui_state.sidebar_scroll_by_tab[key] = desk.ui_state.sidebar_hidden_height
        playing.must_show_explanation = False
    gap = desk.canvas.to_px(11)
    lesson_card.draw_lesson_buttons(desk, x + gap, min(bottom, y + height - buttons_height), width - 2 * gap, playing)


def _draw_scrolling_content(desk: ViewContext, box: Box, key: str, draw_tab: Callable[[ViewContext, Box], int]) -> int:
    """Draw the chosen tab or a lesson's step in a box, scrolled if it is higher than the box, and return its bottom."""
    canvas, px = desk.canvas, desk.canvas.to_px
    x, y, width, height = box
    canvas.add_hit_region(HitRegion("sidebar", box, None, on_wheel=partial(scroll_tab, desk, key)))
    offset = desk.ui_state.sidebar_scroll_by_tab.get(key, 0)
    inner = (x + px(11), y + px(8) - offset, width - px(11 + SCROLL_BAR_SPACE), height - px(16))
    with canvas.clip_drawing_to_box(box, scrolls=True):
        bottom = draw_tab(desk, inner)
    hidden = max(0, bottom + offset + px(8) - (y + height))
    desk.ui_state.sidebar_hidden_height = hidden
    desk.ui_state.sidebar_scroll_by_tab[key] = min(offset + _scroll_distance_to_focus(desk, box, offset), hidden)
    if hidden:
        _draw_scroll_bar(desk, key, box, offset, hidden)
    return bottom


def _scroll_distance_to_focus(desk: ViewContext, box: Box, offset: int) -> int:
    """Return how many pixels to scroll so that a control that has just got the keyboard focus is visible."""
    canvas, (_, y, _, height), margin = desk.canvas, box, desk.canvas.to_px(8)
    last_focus, desk.ui_state.last_revealed_control = desk.ui_state.last_revealed_control, canvas.focused_control_id
    control_box = canvas.boxes_in_scroll_areas.get(canvas.focused_control_id or "")
    if control_box is None or canvas.focused_control_id == last_focus:
        return 0
    above, below = control_box[1] - margin - y, control_box[1] + control_box[3] + margin - (y + height)
    return max(below, 0) if above >= 0 else max(above, -offset)


def scroll_tab(desk: ViewContext, key: str, steps: int) -> None:
    """Scroll a tab by a number of wheel steps, positive to scroll up."""
    moved = desk.ui_state.sidebar_scroll_by_tab.get(key, 0) - steps * desk.canvas.to_px(48)
    desk.ui_state.sidebar_scroll_by_tab[key] = max(0, min(desk.ui_state.sidebar_hidden_height, moved))


def _draw_scroll_bar(desk: ViewContext, key: str, box: Box, offset: int, hidden: int) -> None:
    """Draw a draggable scroll bar at the edge of the sidebar, in the style of lists in dialogs."""
    canvas = desk.canvas
    x, y, width, height = box
    bar = ScrollBar(height, height + hidden, offset)
    right, strip = x + width - canvas.to_px(1), canvas.to_px(ScrollBar.BAR_WIDTH)

    def drag(position: tuple[int, int]) -> None:
        bar.centre_thumb_on(position[1] - y, canvas.to_px(MIN_THUMB_HEIGHT))
        desk.ui_state.sidebar_scroll_by_tab[key] = round(bar.position)

    canvas.add_hit_region(HitRegion("sidebar:bar", (right - strip, y, strip, height), None, on_drag=drag))
    bar.paint_scroll_bar(canvas, right, y)
