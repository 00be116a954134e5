"""Bar at the top: the title of the open file, and buttons that open something else."""

from collections.abc import Callable
from functools import partial

from sim.movement import DEFAULT_MOVEMENT
from ui.model.layout import Box
from ui.panels import command_button
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

TOP_BAR_COMMANDS = ("help", "theme", "record", "save_session", "generate", "gallery", "open")
"""Commands that have a button, from right to left."""

BUTTON_OMISSION_ORDER = ("theme", "generate", "record", "gallery", "save_session", "help")
"""Commands in the order in which their buttons are left out of a narrow window.

The keyboard shortcuts on the buttons are left out before any button; the button Open is always shown.
"""

MIN_TITLE_WIDTH = 90  # minimum width that the buttons leave for the title of the file, in design units


def draw_top_bar(desk: ViewContext, box: Box, indicator: Callable[[int, int], int] | None = None) -> None:
    """Draw the bar: program name, title of the open file, buttons, and the recording indicator if there is one.

    Args:
        desk: View context.
        box: Rectangle of the bar, in pixels.
        indicator: Callback that draws the recording indicator, right-aligned at x and centred at y, and returns its
            left edge.
    """
    canvas = desk.canvas
    x, y, width, height = box
    px, middle = canvas.to_px, y + height // 2
    canvas.fill_box(box, desk.palette.surface)
    canvas.draw_horizontal_line(x, y + height - 1, width)
    left = x + px(14)
    left += canvas.draw_text((left, middle), "Backmove", size=17, face="bold", middle=True) + px(12)
    right = _draw_top_buttons(desk, left, x + width - px(10), middle)
    right = indicator(right, middle) if indicator else right
    _draw_file_title(desk, left, right - px(12), box)


def _draw_file_title(desk: ViewContext, left: int, right: int, box: Box) -> None:
    """Draw the title of the open file and the beginning of its description; a click shows the whole description."""
    canvas = desk.canvas
    _, y, _, height = box
    px, middle = canvas.to_px, y + height // 2
    caption = desk.session.run.scenario.caption
    title = desk.session.run.scenario.title + (" *" if desk.session.has_unsaved_edits else "")
    movement = desk.session.run.world.grid.movement
    reserved_width = 0 if movement == DEFAULT_MOVEMENT else canvas.text_width(movement.rule) + px(14)
    title_width = canvas.draw_text(
        (left, middle), title, size=14, middle=True, width=max(0, right - left - reserved_width)
    )
    show_description = partial(desk.run_command, "about") if caption else None
    tip = f"{title}\n{desk.tooltip_of_command('about')}: click to read the whole text" if caption else title
    command_ids = ("about",) if caption else ()
    canvas.add_hit_region(HitRegion("title", (left, y, title_width, height), show_description, tip, command_ids))
    left += title_width + px(14)
    left = _draw_movement_rule(desk, left, right, box)
    left = _draw_divergence_warning(desk, left, right, box)
    if caption and title_width and right - left > px(108):
        title_box = (left, y, right - left, height)
        ink = (
            desk.palette.text
            if canvas.add_hit_region(HitRegion("caption", title_box, show_description, tip, command_ids))
            else desk.palette.dim
        )
        text = " ".join(caption.split())
        canvas.draw_text((left, middle), text, size=13, colour=ink, middle=True, width=right - left)


def _draw_movement_rule(desk: ViewContext, left: int, right: int, box: Box) -> int:
    """Draw the movement rule if it is not the default rule; if there is no room for its description, draw its name."""
    canvas, movement = desk.canvas, desk.session.run.world.grid.movement
    if movement == DEFAULT_MOVEMENT:
        return left
    text = movement.description if canvas.text_width(movement.description) <= right - left else movement.rule
    text_pos = (left, box[1] + box[3] // 2)
    text_width = canvas.draw_text(text_pos, text, colour=desk.palette.accent, middle=True, width=max(0, right - left))
    tip = f"Movement: {movement.description}. Click to change it; the run then starts over"
    action, text_box = partial(desk.run_command, "tab_edit"), (left, box[1], text_width, box[3])
    canvas.add_hit_region(HitRegion("title:movement", text_box, action, tip, ("tab_edit",)))
    return left + text_width + canvas.to_px(14)


def _draw_divergence_warning(desk: ViewContext, left: int, right: int, box: Box) -> int:
    """Draw a warning if the open run differs from the saved run."""
    canvas, divergence = desk.canvas, desk.session.run.focused_branch_timeline.run_history.divergence
    if divergence is None:
        return left
    text = f"DIVERGED at tick {divergence.tick:,}"
    text_width = canvas.draw_text(
        (left, box[1] + box[3] // 2),
        text,
        size=13,
        face="bold",
        colour=desk.palette.warning,
        middle=True,
        width=max(0, right - left),
    )
    agents_text = f": {', '.join(divergence.agent_labels)}" if divergence.agent_labels else ""
    digests = f"The digest was {divergence.recorded_digest}, now it is {divergence.replayed_digest}"
    tip = f"The replay does not match the saved run{agents_text}. {digests}"
    canvas.add_hit_region(
        HitRegion(
            "title:diverged",
            (left, box[1], text_width, box[3]),
            partial(desk.player.pause_and_seek, divergence.tick),
            tip,
        )
    )
    return left + text_width + canvas.to_px(14)


def _draw_top_buttons(desk: ViewContext, left: int, right: int, middle: int) -> int:
    """Draw the buttons of the bar that fit, right-aligned, and return the left edge of the leftmost button."""
    canvas = desk.canvas
    height = canvas.to_px(28)
    buttons, has_keys = _buttons_fitting_into(desk, right - left - canvas.to_px(MIN_TITLE_WIDTH))
    for command in buttons:
        width = _button_width(desk, command, has_keys)
        box = (right - width, middle - height // 2, width, height)
        command_button.draw_command_button(desk, command, box, area="top", shows_key=has_keys)
        right = box[0] - canvas.to_px(6)
    return right


def _buttons_fitting_into(desk: ViewContext, max_width: int) -> tuple[list[str], bool]:
    """Return the commands whose buttons fit into a width, and whether their shortcuts fit too."""
    buttons = list(TOP_BAR_COMMANDS)
    for has_keys, dropped in ((True, ""), (False, ""), *((False, command) for command in BUTTON_OMISSION_ORDER)):
        buttons = [command for command in buttons if command != dropped]
        if sum(_button_width(desk, command, has_keys) + desk.canvas.to_px(6) for command in buttons) <= max_width:
            return buttons, has_keys
    return buttons, False


def _button_width(desk: ViewContext, command: str, has_key: bool) -> int:
    canvas, label = desk.canvas, desk.command_table[command].button_label
    key = canvas.text_width(desk.shortcut_of_command(command), 11, "mono") + canvas.to_px(10) if has_key else 0
    return canvas.text_width(label, 13) + key + canvas.to_px(20)
