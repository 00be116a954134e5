"""Sidebar tab for editing: tools, undo, switches, random changes and rules of the run."""

from functools import partial

from sim.movement import CUT_ONE_CORNER, EIGHT_NEIGHBOURS, FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS
from ui.model import value_adjustments
from ui.model.context_menu import SwitchTarget
from ui.model.drawing_tools import MAX_BRUSH, SELECT, TOOL_NAMES
from ui.model.layout import Box
from ui.panels import command_button, selection_buttons, stepper, switch_names
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

MAX_SWITCHES_WITH_COMMAND = 9  # number of switches that a command each blocks and frees

_PAINTING_HELP = (
    "Drag: block or free; the first cell decides. Right drag: free. Shift+click: line from the last cell. "
    "Ctrl+Shift+drag: rectangle."
)
_SELECTING_HELP = (
    "Drag: select. Shift+drag: select more. Right drag: select less. Drag the selection to move it, Ctrl+drag to copy "
    "it. {key:select_from_cursor} selects from the cell cursor."
)


def draw_edit_tab(desk: ViewContext, box: Box) -> int:
    """Draw the tab and return the bottom of its content."""
    x, y, width, _ = box
    y = _draw_tool_buttons(desk, x, y, width)
    y = selection_buttons.draw_selection_buttons(desk, x, y, width)
    y = _draw_undo_buttons(desk, x, y, width)
    y = _draw_switch_list(desk, x, y, width)
    y = _draw_random_change_controls(desk, x, y, width)
    y = _draw_tick_time_limit(desk, x, y, width)
    y = _draw_movement_controls(desk, x, y, width)
    return _draw_map_and_mouse_help(desk, x, y, width)


def _draw_tool_buttons(desk: ViewContext, x: int, y: int, width: int) -> int:
    canvas = desk.canvas
    px = canvas.to_px
    height = px(28)
    command_button.draw_command_button(desk, "edit_mode", (x, y, width, height), shows_key=True)
    y += height + px(8)
    half = (width - px(6)) // 2
    for i, tool in enumerate(TOOL_NAMES):
        button_box = (x + (i % 2) * (half + px(6)), y + (i // 2) * (height + px(6)), half, height)
        command_button.draw_command_button(desk, f"tool_{tool}", button_box, shows_key=desk.ui_state.is_editing)
    hand_box = (x, y + 3 * (height + px(6)), half, height)
    command_button.draw_command_button(desk, "hand", hand_box, shows_key=True)
    y += 4 * (height + px(6)) + px(4)
    return y if desk.ui_state.selected_tool == SELECT else _draw_brush_size_slider(desk, x, y, width)


def _draw_brush_size_slider(desk: ViewContext, x: int, y: int, width: int) -> int:
    canvas = desk.canvas
    px = canvas.to_px
    canvas.draw_text((x, y), "Brush size", size=13, colour=desk.palette.dim)
    canvas.draw_text((x + width, y), f"{desk.ui_state.brush_size}", size=13, face="mono", align="right")
    y += px(18)
    share = (desk.ui_state.brush_size - 1) / (MAX_BRUSH - 1)

    def drag_to(new_share: float) -> None:
        desk.ui_state.set_brush_size(1 + round(new_share * (MAX_BRUSH - 1)))

    canvas.draw_slider(
        "brush",
        (x, y, width, px(20)),
        share**0.5,
        lambda s: drag_to(s * s),
        lambda step: desk.ui_state.set_brush_size(desk.ui_state.brush_size + step),
        "Brush size in cells",
        ("smaller_brush", "larger_brush"),
    )
    return y + px(30)


def _draw_undo_buttons(desk: ViewContext, x: int, y: int, width: int) -> int:
    canvas = desk.canvas
    px = canvas.to_px
    third = (width - px(12)) // 3
    history = desk.session.undo_history
    counts = {"undo": len(history.done), "redo": len(history.undone_entries), "clear_edits": 0}
    for i, (command, count) in enumerate(counts.items()):
        label, box = desk.command_table[command].button_label, (x + i * (third + px(6)), y, third, px(28))
        command_button.draw_command_button(desk, command, box, label=f"{label} {count}" if count else label)
    return y + px(40)


def _draw_switch_list(desk: ViewContext, x: int, y: int, width: int) -> int:
    states = desk.session.run.world.switch_states()
    if not states:
        return y
    canvas, palette = desk.canvas, desk.palette
    px = canvas.to_px
    y = desk.draw_section_heading(x, y, "Switches")
    desk.ui_state.hovered_switch = None
    for i, (name, is_blocked) in enumerate(states.items()):
        row = (x, y, width, px(28))
        command_ids = (f"switch_{i + 1}",) if i < MAX_SWITCHES_WITH_COMMAND else ()
        region_id = f"switch:{name}"
        is_hovered = canvas.add_hit_region(
            HitRegion(
                region_id,
                row,
                partial(switch_names.toggle_switch_and_notify, desk, name),
                f"{'Free' if is_blocked else 'Block'} {name}",
                command_ids,
                SwitchTarget(name),
            )
        )
        if is_hovered:
            desk.ui_state.hovered_switch = name
        ground = palette.hover if is_hovered else palette.raised
        canvas.fill_box(row, canvas.shade_if_pressed(ground, region_id, is_hovered), 6)
        middle = y + px(14)
        canvas.draw_text((x + px(10), middle), name, size=14, middle=True, width=width - px(140))
        canvas.draw_text(
            (x + width - px(66), middle),
            "blocked" if is_blocked else "open",
            size=13,
            align="right",
            colour=palette.warning if is_blocked else palette.dim,
            middle=True,
        )
        canvas.draw_text(
            (x + width - px(8), middle),
            desk.shortcuts_of_commands(*command_ids),
            size=12,
            face="mono",
            colour=palette.dim,
            align="right",
            middle=True,
        )
        y += px(33)
    return y + px(6)


def _draw_random_change_controls(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the controls of random changes of the map as in the papers: on or off, percentage of cells, interval."""
    canvas = desk.canvas
    px = canvas.to_px
    changes = desk.session.run.world.random_changes
    is_on = desk.is_command_on("random_changes")
    y = desk.draw_section_heading(x, y, "Random changes")
    gap, stepper_width = px(8), stepper.stepper_width(canvas)
    button_width = width - 2 * (stepper_width + gap)
    command_button.draw_command_button(desk, "random_changes", (x, y, button_width, px(28)))
    rate = changes.changed_percent if is_on else desk.ui_state.random_change_rate
    on_rate_step = partial(value_adjustments.adjust_random_change_rate, desk.session, desk.ui_state)
    on_interval_step = partial(value_adjustments.adjust_random_change_interval, desk.session, desk.ui_state)
    right = x + button_width + gap + stepper_width
    rate_tip, rate_commands = "Percentage of cells that each change affects", ("fewer_changes", "more_changes")
    stepper.draw_stepper(canvas, "rate", (right, y), f"{rate:g} %", on_rate_step, rate_tip, rate_commands)
    every = changes.interval_ticks if is_on else desk.ui_state.random_change_interval
    right += gap + stepper_width
    stepper.draw_stepper(canvas, "every", (right, y), f"/ {every}", on_interval_step, "Ticks between two changes")
    return y + px(40)


def _draw_tick_time_limit(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the control for the time limit per tick in milliseconds, which all agents share as in a game."""
    canvas, limit = desk.canvas, desk.session.run.world.tick_time_limit_ms
    px = canvas.to_px
    y = desk.draw_section_heading(x, y, "Milliseconds per tick, all agents together")
    tip = (
        "Agents plan one after another until this time is spent; the others wait. The measured times are kept in the "
        "script, so this run can be replayed exactly, but a run that starts over will be different"
    )
    on_step = partial(value_adjustments.adjust_tick_time_limit, desk.session)
    stepper.draw_stepper(
        canvas, "tick_ms", (x + stepper.stepper_width(canvas), y), f"{limit:g}" if limit else "off", on_step, tip
    )
    if limit:
        text = "not reproducible"
        canvas.draw_text(
            (x + stepper.stepper_width(canvas) + px(10), y + px(14)),
            text,
            size=12,
            colour=desk.palette.warning,
            middle=True,
        )
    return y + px(40)


MOVEMENT_RULE_LABELS = {
    FOUR_NEIGHBOURS: "four",
    EIGHT_NEIGHBOURS: "eight",
    CUT_ONE_CORNER: "cut corners",
    SQUEEZE_BETWEEN_CORNERS: "squeeze",
}
MOVEMENT_RULE_TOOLTIPS = {
    FOUR_NEIGHBOURS: "Four neighbours: no diagonal moves; the heuristic is Manhattan distance",
    EIGHT_NEIGHBOURS: "Eight neighbours; a diagonal move needs both adjacent cells free, as in the benchmarks",
    CUT_ONE_CORNER: "Eight neighbours; a diagonal move needs one adjacent cell free, and cuts the corner of the other",
    SQUEEZE_BETWEEN_CORNERS: (
        "Eight neighbours; a diagonal move may even pass between two blocked cells that touch at a corner"
    ),
}


def _draw_movement_controls(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw the controls for the movement rule and the cost of a diagonal move; a change of either restarts the run."""
    canvas, movement = desk.canvas, desk.session.run.world.grid.movement
    px = canvas.to_px
    canvas.draw_text((x + width, y), "starts over at tick 0", size=12, colour=desk.palette.dim, align="right")
    y = desk.draw_section_heading(x, y, "Movement")
    options = [(rule, label, MOVEMENT_RULE_TOOLTIPS[rule]) for rule, label in MOVEMENT_RULE_LABELS.items()]
    y = canvas.draw_segmented_control(
        "rule",
        (x, y, width, px(28)),
        options,
        movement.rule,
        partial(value_adjustments.set_movement_rule, desk.session),
    )
    if movement.has_diagonal_moves:
        y += px(6)
        tip = "Cost of a diagonal move; a straight move costs 1"
        on_step = partial(value_adjustments.adjust_diagonal_cost, desk.session)
        stepper.draw_stepper(
            canvas, "diagonal", (x + stepper.stepper_width(canvas), y), f"{movement.diagonal:.4g}", on_step, tip
        )
        text_pos = (x + stepper.stepper_width(canvas) + px(10), y + px(14))
        canvas.draw_text(text_pos, "cost of a diagonal move", size=12, colour=desk.palette.dim, middle=True)
        y += px(28)
    return y + px(12)


def _draw_map_and_mouse_help(desk: ViewContext, x: int, y: int, width: int) -> int:
    """Draw a text with name, size and movement rule of the map, and with help for editing by mouse."""
    grid = desk.session.run.world.grid
    canvas = desk.canvas
    canvas.draw_horizontal_line(x, y, width)
    text = (
        f"{grid.name}: {grid.width} x {grid.height}, {grid.movement.description}.\n"
        f"{_SELECTING_HELP if desk.ui_state.selected_tool == SELECT else _PAINTING_HELP} "
        "Alt+click or {key:pin_cell}: pin a cell in the inspector. Drag the start or the goal to move it."
    )
    y += canvas.to_px(8)
    return y + canvas.draw_wrapped_text(
        (x, y, width, canvas.to_px(400)), desk.text_with_shortcuts(text), size=12, colour=desk.palette.dim
    )
