"""Header of a panel: the agent, its parameters, its state, and buttons."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import pygame

from agents.warm_up import CROWD_KIND
from sim.agent_api import Status
from sim.params import Param, Value
from sim.world_view import WalkerView
from ui.draw.theme import Colour, mix_colours
from ui.model import agent_edits, panel_texts, value_adjustments
from ui.model.crowds import arrival_count_text
from ui.model.layout import HEADER_HEIGHT, HEADER_ROW_HEIGHT, Box
from ui.model.panel_keys import PanelKey
from ui.model.run import Panel
from ui.panels import panel_mark
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import Canvas, HitRegion

# Side of an icon button and gap between them in design units, and number of buttons.
HEADER_ICON_SIDE, HEADER_ICON_GAP, HEADER_ICON_COUNT = 20, 2, 2
PREPARING_STATE_TEXT = "preparing"
_PREPARING_TOOLTIP = "The agent's kernels are being compiled, which happens only once; all agents wait"
# Padding left and right (together) of the text in the chip with the agent's state, in design units.
STATE_CHIP_PADDING = 16
STATE_CHIP_GAP = 8  # gap to the left of the chip with the agent's state, in design units
NAME_GAP = 7  # gap to the right of the agent's name, in design units
MIN_NAME_WIDTH = 24  # minimum width of a shortened name in design units; a narrower name is left out as unrecognisable
# Minimum width in design units of a shortened name if chips next to the name distinguish the agent from others
MIN_NAME_WIDTH_BESIDE_CHIPS = 40
# Maximum width in design units that is reserved for a name before buttons get the remaining width.
MAX_RESERVED_NAME_WIDTH = 110


@dataclass(frozen=True)
class _HeaderChip:
    """Budget or parameter of an agent, shown in its header."""

    hit_region_id: str
    label: str
    on_click: "partial[None]"
    on_wheel: "partial[None]"
    tooltip: str
    command_ids: tuple[str, ...] = ()
    is_on_by_default: bool = True
    is_distinguishing: bool = False  # whether the value in this chip distinguishes the agent from another agent


def draw_panel_header(desk: ViewContext, box: Box, panel: Panel, index: int) -> None:
    """Draw mark, name, parameters, state and buttons: in one row, or in two if the panel is narrow and high.

    The state is always visible, and nothing moves when it changes: space is reserved for the longest state. Next in
    priority is what distinguishes the agent from the others: its name, or if others have the same name, parameters such
    as its weight. Buttons are left out if there is no room for them; but while the pointer is over the header, the
    buttons are drawn and replace the name.
    """
    canvas = desk.canvas
    x, y, width, height = box
    px, row = canvas.to_px, canvas.to_px(HEADER_HEIGHT)
    right = x + width - px(8)
    left = panel_mark.draw_panel_mark(canvas, x + px(9), y + row // 2, index) + px(7)
    is_pointed = canvas.is_hovered(box)
    if height > row:
        _draw_header_in_two_rows(desk, panel, (x + px(9), left, right), (y, row), is_pointed)
    else:
        _draw_header_in_one_row(desk, panel, (left, right), (y, row), is_pointed)


def _draw_header_in_two_rows(
    desk: ViewContext, panel: Panel, edges: tuple[int, int, int], row: tuple[int, int], is_pointed: bool
) -> None:
    """Draw name and buttons in the first row, parameters and state in the second.

    Args:
        desk: View context.
        panel: Panel of the header.
        edges: Left edge of the second row, left edge of the first row (to the right of the mark), and right edge of
            both.
        row: Top and height of the first row.
        is_pointed: Whether the pointer is over the header.
    """
    canvas, px, (margin, left, right), middle = desk.canvas, desk.canvas.to_px, edges, row[0] + row[1] // 2
    second_middle, chips = middle + px(HEADER_ROW_HEIGHT), _header_chips(desk, panel)
    chips_width = sum(_chip_width(canvas, chip) for chip in chips if chip.is_distinguishing)
    fits_long = (
        margin + chips_width + px(STATE_CHIP_GAP) + _max_state_width(desk, panel, panel_texts.LONG_STATES) <= right
    )
    state_texts = panel_texts.LONG_STATES if fits_long else panel_texts.SHORT_STATES
    end = _draw_agent_state(desk, panel, margin, right, second_middle, state_texts) - px(STATE_CHIP_GAP)
    chips = _draw_chips(canvas, chips, margin, end, second_middle)
    # Draw chips that distinguish the agent, but do not fit into the second row, next to the name or instead of it.
    if chips and chips[0].is_distinguishing and _shares_name_with_other_agent(desk, panel):
        chips_width = _width_for_distinguishing_chips(desk, panel, chips, right - left, right)
        icons = (
            _icon_button_capacity(desk, right - left - chips_width - px(MIN_NAME_WIDTH + NAME_GAP)) if is_pointed else 0
        )
        right = _draw_icon_buttons(desk, right, middle, panel, icons)
        _draw_chips(canvas, chips, _draw_agent_name(desk, panel, left, right - chips_width, row), right, middle)
        return
    icons = _icon_button_count(desk, panel, right - left, is_pointed)
    _draw_agent_name(desk, panel, left, _draw_icon_buttons(desk, right, middle, panel, icons), row)


def _draw_header_in_one_row(
    desk: ViewContext, panel: Panel, edges: tuple[int, int], row: tuple[int, int], is_pointed: bool
) -> None:
    """Draw name, parameters, state and buttons in one row.

    Args:
        desk: View context.
        panel: Panel of the header.
        edges: Left and right edge of the row.
        row: Top and height of the row.
        is_pointed: Whether the pointer is over the header.
    """
    canvas, px, middle, (left, right) = desk.canvas, desk.canvas.to_px, row[0] + row[1] // 2, edges
    chips, name_width = _header_chips(desk, panel), _agent_label_width(canvas, panel.walker_view)
    short_state_width = _max_state_width(desk, panel, panel_texts.SHORT_STATES)
    free = right - left - short_state_width - px(STATE_CHIP_GAP)
    chips_width = _width_for_distinguishing_chips(
        desk, panel, chips, free, min(name_width, px(MAX_RESERVED_NAME_WIDTH))
    )
    icons = _icon_button_count(desk, panel, free - chips_width, is_pointed)
    are_icons_last = icons == _icon_button_count(desk, panel, free - chips_width, False)
    free -= chips_width + icons * px(HEADER_ICON_SIDE + HEADER_ICON_GAP)
    if are_icons_last:
        right = _draw_icon_buttons(desk, right, middle, panel, icons)
    fits_long = name_width + _max_state_width(desk, panel, panel_texts.LONG_STATES) - short_state_width <= free
    state_texts = panel_texts.LONG_STATES if fits_long else panel_texts.SHORT_STATES
    right = _draw_agent_state(desk, panel, left, right, middle, state_texts) - px(STATE_CHIP_GAP)
    if not are_icons_last:  # draw buttons that appear on hover in the name's place, so that the state does not move
        right = _draw_icon_buttons(desk, right, middle, panel, icons)
    left = _draw_agent_name(desk, panel, left, right - chips_width, row)
    _draw_chips(canvas, chips, left, right, middle)


def _width_for_distinguishing_chips(
    desk: ViewContext, panel: Panel, chips: list[_HeaderChip], free_width: int, name_width: int
) -> int:
    """Return the width to reserve for the chips that distinguish the agent from the others.

    The chips are placed next to the name. If another agent has the same name and there is no room for name and chips,
    the chips replace the name.

    Args:
        desk: View context.
        panel: Panel of the header.
        chips: All chips of the header.
        free_width: Width available for name and chips, in pixels.
        name_width: Width of the name, in pixels.
    """
    widths = [_chip_width(desk.canvas, chip) for chip in chips if chip.is_distinguishing]
    if not _shares_name_with_other_agent(desk, panel):
        return _longest_fitting_prefix_width(widths, free_width - name_width)
    return _longest_fitting_prefix_width(
        widths, free_width - desk.canvas.to_px(MIN_NAME_WIDTH_BESIDE_CHIPS)
    ) or _longest_fitting_prefix_width(widths, free_width)


def _longest_fitting_prefix_width(widths: list[int], max_width: int) -> int:
    """Return the total width of the longest prefix of `widths` that fits into `max_width`."""
    return max((total for total in accumulate(widths) if total <= max_width), default=0)


def _draw_chips(canvas: Canvas, chips: list[_HeaderChip], left: int, right: int, middle: int) -> list[_HeaderChip]:
    """Draw the chips that fit between `left` and `right`, and return the chips that do not fit."""
    for number, chip in enumerate(chips):
        if left + _chip_width(canvas, chip) > right:
            return chips[number:]
        left = _draw_chip(canvas, chip, left, middle)
    return []


def _shares_name_with_other_agent(desk: ViewContext, panel: Panel) -> bool:
    """Return whether another agent has the same name but differs in what its chips show."""
    view, others = panel.walker_view, (other.walker_view for other in desk.session.run.panels if other.key != panel.key)
    return any(
        other.label == view.label and _chip_values_of_agent(other) != _chip_values_of_agent(view) for other in others
    )


def _chip_values_of_agent(view: WalkerView) -> tuple[str, int, Mapping[str, Value]]:
    return view.spec.key, view.budget, view.params


def _agent_label_width(canvas: Canvas, view: WalkerView) -> int:
    return canvas.text_width(view.label, 15, "bold") + canvas.to_px(NAME_GAP)


def _draw_agent_name(desk: ViewContext, panel: Panel, left: int, right: int, row: tuple[int, int]) -> int:
    """Draw the agent's label, and return the left edge of the space to its right.

    A long label is shortened. If the label does not contain the name of the algorithm, and there is room, that name is
    drawn after the label.
    """
    canvas, view, middle = desk.canvas, panel.walker_view, row[0] + row[1] // 2
    max_width = right - left - canvas.to_px(NAME_GAP)
    if max_width < min(canvas.to_px(MIN_NAME_WIDTH), canvas.text_width(view.label, 15, "bold")):
        return left
    end = left + canvas.draw_text((left, middle), view.label, size=15, face="bold", width=max_width, middle=True)
    if (
        not panel_texts.has_algorithm_in_label(view)
        and end + canvas.to_px(NAME_GAP) + canvas.text_width(view.spec.name, 13) <= right
    ):
        end += canvas.to_px(NAME_GAP)
        end += canvas.draw_text((end, middle), view.spec.name, size=13, colour=canvas.palette.dim, middle=True)
    click = "Click: list its agents" if panel.crowd else "Click: rename"
    tip = f"{panel_texts.label_with_algorithm(view)}: {view.spec.summary} {click}, wheel: change the algorithm"
    action = partial(desk.open_agent_editor if panel.crowd else desk.open_rename_dialog, panel.key)
    canvas.add_hit_region(
        HitRegion(
            f"name:{panel.key}",
            (left, row[0], end - left, row[1]),
            action,
            tip,
            ("crowd" if panel.crowd else "rename_agent",),
            cursor=pygame.SYSTEM_CURSOR_IBEAM,
            on_wheel=partial(_change_algorithm_of_panel, desk, panel),
        )
    )
    return end + canvas.to_px(NAME_GAP)


def _icon_button_count(desk: ViewContext, panel: Panel, max_width: int, is_pointed: bool) -> int:
    """Return the number of icon buttons to draw in the header.

    Usually the buttons get the space that the name leaves. While the pointer is over the header, the name may be
    shortened to MIN_NAME_WIDTH_BESIDE_CHIPS to make room for buttons, or replaced by a single button.
    """
    px = desk.canvas.to_px
    usual_count = _icon_button_capacity(
        desk, max_width - min(_agent_label_width(desk.canvas, panel.walker_view), px(MAX_RESERVED_NAME_WIDTH))
    )
    if not is_pointed:
        return usual_count
    return max(
        usual_count,
        _icon_button_capacity(desk, max_width - px(MIN_NAME_WIDTH_BESIDE_CHIPS)),
        min(1, _icon_button_capacity(desk, max_width)),
    )


def _icon_button_capacity(desk: ViewContext, max_width: int) -> int:
    """Return the number of icon buttons that fit into a width; 0 in pictures, which have no buttons."""
    return (
        0
        if desk.draws_into_picture
        else min(HEADER_ICON_COUNT, max(0, max_width // desk.canvas.to_px(HEADER_ICON_SIDE + HEADER_ICON_GAP)))
    )


def _draw_icon_buttons(desk: ViewContext, right: int, middle: int, panel: Panel, count: int) -> int:
    """Draw the first `count` icon buttons right-aligned, and return the right edge of the space to their left."""
    edit = partial(desk.open_agent_editor, panel.key)
    icons = (
        ("edit", "dots", edit, "crowd" if panel.crowd else "edit_agent"),
        _last_icon_button_spec(desk, panel),
    )
    for name, shape, action, command in reversed(icons[:count]):
        right = _draw_icon_button(desk, f"{name}:{panel.key}", right, middle, shape, action, command)
    return right


def _last_icon_button_spec(desk: ViewContext, panel: Panel) -> "tuple[str, str, partial[None], str]":
    """Return the button at the right end: it removes the agent, or in a maximised panel shows all panels again.

    A maximised panel has no button to remove the agent, because users would click the cross to leave this view.
    """
    if desk.ui_state.is_maximised:
        return "restore", "restore", partial(desk.run_command, "maximise"), "maximise"
    return "remove", "close", partial(agent_edits.remove_agent, desk.session, panel.key), "remove_agent"


def _change_algorithm_of_panel(desk: ViewContext, panel: Panel, step: int) -> None:
    value_adjustments.cycle_agent_algorithm(desk.session, panel.key, -step)


def _draw_icon_button(
    desk: ViewContext, region_id: str, right: int, middle: int, shape: str, action: "partial[None]", command: str
) -> int:
    """Draw a small icon button whose right edge is `right`, and return the right edge for the next button."""
    canvas = desk.canvas
    side = canvas.to_px(HEADER_ICON_SIDE)
    box = (right - side, middle - side // 2, side, side)
    is_hovered = canvas.add_hit_region(HitRegion(region_id, box, action, desk.command_table[command].title, (command,)))
    if is_hovered:
        canvas.fill_box(box, canvas.shade_if_pressed(canvas.palette.hover, region_id, is_hovered), 5)
    ink = canvas.palette.text if is_hovered else canvas.palette.dim
    centre_x, centre_y = box[0] + side // 2, middle
    if shape == "dots":
        for offset in (-5, 0, 5):
            pygame.draw.circle(
                canvas.surface, ink, (centre_x + canvas.to_px(offset), centre_y), max(1, canvas.to_px(1.6))
            )
    elif shape == "restore":
        window, shift, line = canvas.to_px(8), canvas.to_px(3), max(1, canvas.to_px(1.6))
        front = pygame.Rect(
            centre_x - window // 2 - shift // 2, centre_y - window // 2 + shift // 2 + 1, window, window
        )
        back = front.move(shift, -shift)
        pygame.draw.lines(
            canvas.surface,
            ink,
            False,
            [
                (back.left, front.top),
                back.topleft,
                back.topright,
                back.bottomright,
                (front.right, back.bottom),
            ],
            line,
        )
        pygame.draw.rect(canvas.surface, ink, front, line)
    else:
        arm = canvas.to_px(4)
        for sign in (-1, 1):
            pygame.draw.line(
                canvas.surface,
                ink,
                (centre_x - arm, centre_y - sign * arm),
                (centre_x + arm, centre_y + sign * arm),
                max(1, canvas.to_px(1.6)),
            )
    return box[0] - canvas.to_px(2)


def agent_state_colour(canvas: Canvas, view: WalkerView) -> Colour:
    """Return the colour of an agent's state: one for arrived, one for warnings, else the accent colour."""
    palette = canvas.palette
    if view.status is Status.AT_GOAL:
        return palette.arrived
    if (
        view.status in (Status.NO_PATH, Status.GAVE_UP)
        or view.agent.is_stale
        or view.state_word in ("walking back", "to and fro")
    ):
        return palette.warning
    return palette.accent


def _shown_state_word(desk: ViewContext, panel: Panel) -> str:
    is_waiting = panel.walker_view.spec.key in desk.ui_state.kinds_in_preparation or (
        panel.crowd is not None and CROWD_KIND in desk.ui_state.kinds_in_preparation
    )
    return PREPARING_STATE_TEXT if is_waiting else panel.walker_view.state_word


def _displayed_state_text(desk: ViewContext, panel: Panel, state_texts: tuple[str, ...]) -> str:
    state = _shown_state_word(desk, panel)
    text = state if state_texts is panel_texts.LONG_STATES else panel_texts.short_state_text(state)
    return text + (", stale" if panel.walker_view.agent.is_stale else "")


def _max_state_width(desk: ViewContext, panel: Panel, state_texts: tuple[str, ...]) -> int:
    """Return the width in pixels that the chip needs for the longest of the given states and the current state."""
    canvas, current_text, crowd = desk.canvas, _displayed_state_text(desk, panel, state_texts), panel.crowd
    possible_texts = (
        state_texts if crowd is None else (arrival_count_text(crowd.counts.agent_count, crowd.counts.agent_count),)
    )
    return max(canvas.text_width(text, 12) for text in (*possible_texts, current_text)) + canvas.to_px(
        STATE_CHIP_PADDING
    )


def _draw_agent_state(
    desk: ViewContext, panel: Panel, left: int, right: int, middle: int, state_texts: tuple[str, ...]
) -> int:
    """Draw the agent's state in a rounded chip whose right edge is `right`.

    Returns:
        Left edge of the width that is reserved for the longest state.
    """
    canvas, text = desk.canvas, _displayed_state_text(desk, panel, state_texts)
    text_width = min(canvas.text_width(text, 12), right - left - canvas.to_px(STATE_CHIP_PADDING))
    if text_width <= 0:
        return right
    height, width = canvas.to_px(20), text_width + canvas.to_px(STATE_CHIP_PADDING)
    box = (right - width, middle - height // 2, width, height)
    colour = agent_state_colour(canvas, panel.walker_view)
    canvas.fill_box(box, mix_colours(canvas.palette.surface, colour, 0.16), 10)
    canvas.draw_text(
        (box[0] + width // 2, middle), text, size=12, colour=colour, align="centre", width=text_width + 1, middle=True
    )
    tip = (
        _PREPARING_TOOLTIP
        if _shown_state_word(desk, panel) == PREPARING_STATE_TEXT
        else _agent_state_tooltip(panel.walker_view)
    )
    canvas.add_hit_region(HitRegion(f"state:{panel.key}", box, None, tip))
    return max(left, right - _max_state_width(desk, panel, state_texts))


def _agent_state_tooltip(view: WalkerView) -> str:
    if view.status is Status.NO_PATH:
        return "The agent has proved that no path exists on this map; it waits for a change that may open one"
    over_budget_text = " Over budget: disqualified as a real-time agent." if view.metrics.over_budget else ""
    stale_text = " Its data was computed for another map, and is not used." if view.agent.is_stale else ""
    return f"What the agent did in the last tick: {view.state_word}.{over_budget_text}{stale_text}"


def _header_chips(desk: ViewContext, panel: Panel) -> list[_HeaderChip]:
    """Return budget and parameters as chips; chips that distinguish this agent from the others are first."""
    view, key = panel.walker_view, panel.key
    others = [other.walker_view for other in desk.session.run.panels if other.key != key]
    same_algorithm = [other for other in others if other.spec.key == view.spec.key]
    chips = [
        _HeaderChip(
            f"chip:{key}:budget",
            f"k {view.budget:,}",
            partial(desk.open_agent_editor, key),
            partial(value_adjustments.adjust_agent_budget, desk.session, key),
            f"Budget: {view.budget:,} expansions per tick. Wheel: change it for this agent",
            ("raise_budget",),
            is_distinguishing=any(other.budget != view.budget for other in others),
        )
    ]
    for param in view.spec.params:
        value = view.params[param.name]
        chips.append(
            _HeaderChip(
                f"chip:{key}:{param.name}",
                panel_texts.param_text(param, value),
                partial(_change_param_by_click, desk, key, param),
                partial(_adjust_param_of_panel, desk, key, param),
                _param_tooltip(param, value),
                ("raise_weight",) if param.name == "weight" else (),
                is_on_by_default=value is not False,
                is_distinguishing=any(other.params.get(param.name) != value for other in same_algorithm),
            )
        )
    return sorted(chips, key=lambda chip: not chip.is_distinguishing)


def _adjust_param_of_panel(desk: ViewContext, key: PanelKey, param: Param, step: int) -> None:
    value_adjustments.adjust_agent_param(desk.session, key, param, step)


def _change_param_by_click(desk: ViewContext, key: PanelKey, param: Param) -> None:
    """Handle a click on a parameter's chip: toggle a boolean, select the next choice, or open the agent editor."""
    if not value_adjustments.toggle_agent_param(desk.session, key, param):
        desk.open_agent_editor(key)


def _param_tooltip(param: Param, value: Value) -> str:
    mouse_help = "Click: edit, wheel: change" if param.kind in (int, float) else "Click: change"
    return f"{param.name.replace('_', ' ')} = {param.display_text(value)}: {param.help}. {mouse_help}"


def _chip_width(canvas: Canvas, chip: _HeaderChip) -> int:
    return canvas.text_width(chip.label, 12, "mono") + canvas.to_px(14)


def _draw_chip(canvas: Canvas, chip: _HeaderChip, left: int, middle: int) -> int:
    """Draw one chip and return the left edge of the next chip."""
    width, height = _chip_width(canvas, chip) - canvas.to_px(4), canvas.to_px(20)
    box = (left, middle - height // 2, width, height)
    is_hovered = canvas.add_hit_region(
        HitRegion(chip.hit_region_id, box, chip.on_click, chip.tooltip, chip.command_ids, on_wheel=chip.on_wheel)
    )
    ground = canvas.palette.hover if is_hovered else canvas.palette.raised
    canvas.fill_box(box, canvas.shade_if_pressed(ground, chip.hit_region_id, is_hovered), 5)
    ink = (
        canvas.palette.text if chip.is_on_by_default else mix_colours(canvas.palette.dim, canvas.palette.surface, 0.35)
    )
    canvas.draw_text(
        (left + width // 2, middle), chip.label, size=12, face="mono", colour=ink, align="centre", middle=True
    )
    return left + width + canvas.to_px(4)
