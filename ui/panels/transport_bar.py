"""Bar at the bottom with the controls of the run: play and step, time line, speed, budget, and "run until"."""

import math

import pygame

from ui.draw.theme import mix_colours
from ui.model import panel_texts, step_clock, value_adjustments
from ui.model.layout import TIME_ROW_HEIGHT, TRANSPORT_HEIGHT, Box
from ui.panels import command_button, time_line
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

RUN_UNTIL_COMMANDS = ("until_move", "until_back_move", "until_restart", "until_arrival", "until_tick")
"""Commands that have a button after the words "run until"."""
MAX_SLIDER_BUDGET = 4096  # largest budget that the slider can set, in expansions per tick
MAX_AGENTS_NAMED_IN_TOOLTIP = 3  # maximum number of agents that the tooltip of the budget names
SLIDER_WIDTH = 150  # width of a slider in design units
RUN_UNTIL_ROW_HEIGHT = 26  # height of a row of "run until" buttons in design units
# Minimum width of the "run until" buttons in design units, if the time line has a row of its own.
MIN_RUN_UNTIL_WIDTH = 130
# Minimum width of the time line in design units; a slider that would narrow it further is left out.
MIN_TIME_LINE_WIDTH = 220


def draw_transport_bar(desk: ViewContext, box: Box) -> None:
    """Draw as many controls as fit, from left to right; controls that are left out still have keyboard shortcuts."""
    canvas = desk.canvas
    canvas.fill_box(box, desk.palette.surface, 8)
    canvas.draw_outline(box, desk.palette.edge, 8)
    x, y, width, height = box
    px, right = canvas.to_px, x + width - canvas.to_px(12)
    has_time_row = height > px(TRANSPORT_HEIGHT)
    if has_time_row:
        time_line.draw_time_line(desk, (x + px(6), y + px(2), width - px(12), px(TIME_ROW_HEIGHT)))
        y, height = y + px(TIME_ROW_HEIGHT), height - px(TIME_ROW_HEIGHT)
    left = _draw_play_buttons(desk, x + px(14), y + height // 2)
    left = _draw_current_tick(desk, left + px(16), y, height)
    reserved_width = px(MIN_RUN_UNTIL_WIDTH if has_time_row else MIN_TIME_LINE_WIDTH)
    for part in (_draw_speed_slider, _draw_budget_slider):
        if left + px(22 + SLIDER_WIDTH) + reserved_width > right:
            break
        left = part(desk, left + px(22), y, height)
    # If the time line has no row of its own, it is drawn below the "run until" buttons, which then have one row.
    rows = (height - px(6)) // px(RUN_UNTIL_ROW_HEIGHT) if has_time_row else 1
    if right - left > px(90):
        _draw_run_until_buttons(desk, left + px(22), right, y, rows)
    if not has_time_row:
        time_line.draw_time_line(desk, (left + px(14), y + px(30), right - left - px(14), height - px(32)))


def _draw_play_buttons(desk: ViewContext, left: int, middle: int) -> int:
    for command, radius in (("to_start", 13), ("step_back", 13), ("play", 20), ("step", 13), ("to_end", 13)):
        left = _draw_round_button(desk, command, left, middle, radius) + desk.canvas.to_px(6)
    return left - desk.canvas.to_px(6)


def _draw_round_button(desk: ViewContext, command: str, left: int, middle: int, radius: float) -> int:
    """Draw a round button with an icon and return its right edge."""
    canvas, palette = desk.canvas, desk.palette
    r = canvas.to_px(radius)
    centre = (left + r, middle)
    box = (left, middle - r, 2 * r, 2 * r)
    act = desk.button_callback_of_command(command)
    region_id = f"transport:{command}"
    is_hovered = canvas.add_hit_region(HitRegion(region_id, box, act, command_ids=(command,)))
    is_hovered = is_hovered and act is not None
    is_main = command == "play"
    ground = palette.accent if is_main else palette.hover if is_hovered else palette.raised
    if is_main and is_hovered:
        ground = mix_colours(ground, palette.text, 0.12)
    pygame.draw.circle(canvas.surface, canvas.shade_if_pressed(ground, region_id, is_hovered), centre, r)
    _draw_play_icon(desk, command, centre, r, palette.on_accent if is_main else palette.text if act else palette.dim)
    return left + 2 * r


def _draw_play_icon(
    desk: ViewContext, command: str, centre: tuple[int, int], radius: int, ink: tuple[int, int, int]
) -> None:
    x, y = centre
    s = radius * 0.42
    surface = desk.canvas.surface
    bar = max(2, round(s * 0.5))
    if command == "play" and desk.player.step_clock.is_running:
        for offset in (-0.75, 0.25):
            pygame.draw.rect(surface, ink, (x + s * offset, y - s, s * 0.55, 2 * s))
    elif command == "play":
        pygame.draw.polygon(surface, ink, [(x - s * 0.7, y - s), (x - s * 0.7, y + s), (x + s, y)])
    elif command == "step_back":
        pygame.draw.polygon(surface, ink, [(x + s * 0.9, y - s), (x + s * 0.9, y + s), (x - s * 0.5, y)])
        pygame.draw.rect(surface, ink, (x - s * 0.6 - bar, y - s, bar, 2 * s))
    elif command == "step":
        pygame.draw.polygon(surface, ink, [(x - s * 0.9, y - s), (x - s * 0.9, y + s), (x + s * 0.5, y)])
        pygame.draw.rect(surface, ink, (x + s * 0.6, y - s, bar, 2 * s))
    else:
        sign = 1 if command == "to_end" else -1
        for offset in (-1.0, 0.0):
            back_x, tip_x = x + sign * s * offset, x + sign * s * (offset + 0.95)
            pygame.draw.polygon(surface, ink, [(back_x, y - s), (back_x, y + s), (tip_x, y)])
        edge = x + sign * s
        pygame.draw.rect(surface, ink, (edge - (0 if sign > 0 else bar), y - s, bar, 2 * s))


def _draw_current_tick(desk: ViewContext, left: int, y: int, height: int) -> int:
    canvas = desk.canvas
    _draw_control_label(desk, left, y, "tick")
    text = f"{desk.session.tick:,}"
    tick_width = canvas.draw_text((left, y + canvas.to_px(24)), text, size=20, face="mono")
    activity = desk.player_activity_text()
    canvas.draw_text(
        (left, y + height - canvas.to_px(17)),
        activity,
        size=12,
        colour=desk.palette.warning if desk.ui_state.is_editing else desk.palette.dim,
    )
    return left + max(tick_width, canvas.text_width("00,000", 20, "mono"), canvas.text_width(activity, 12))


def _draw_control_label(desk: ViewContext, left: int, y: int, text: str) -> None:
    desk.canvas.draw_text((left, y + desk.canvas.to_px(8)), text, size=12, colour=desk.palette.dim)


def _draw_speed_slider(desk: ViewContext, left: int, y: int, height: int) -> int:
    canvas = desk.canvas
    width = canvas.to_px(SLIDER_WIDTH)
    _draw_control_label(desk, left, y, "speed")
    canvas.draw_text(
        (left + width, y + canvas.to_px(7)),
        panel_texts.speed_text(desk.player.speed),
        size=13,
        face="mono",
        align="right",
    )
    speeds = [*step_clock.SPEEDS, step_clock.AS_FAST_AS_POSSIBLE]
    share = speeds.index(desk.player.speed) / (len(speeds) - 1)

    def drag_to(new_share: float) -> None:
        desk.player.set_speed(speeds[round(new_share * (len(speeds) - 1))])

    canvas.draw_slider(
        "speed",
        (left, y + canvas.to_px(30), width, canvas.to_px(20)),
        share,
        drag_to,
        lambda step: desk.run_command("faster" if step > 0 else "slower"),
        desk.text_with_shortcuts("Ticks per second; {key:full_speed}: as fast as possible"),
        ("slower", "faster"),
    )
    if height >= canvas.to_px(66):
        _draw_slow_motion_button(desk, left, y + height - canvas.to_px(24), width)
    return left + width


def _draw_slow_motion_button(desk: ViewContext, left: int, y: int, width: int) -> None:
    """Draw the button for slow motion; while slow motion is on, its label is the progress within the tick."""
    canvas, label = desk.canvas, desk.command_table["slow_motion"].button_label
    if desk.player.is_slow_motion and desk.player.slow_motion_expansions is not None:
        label = _slow_motion_progress(desk)
    box = (left, y, min(width, canvas.text_width(label, 12) + canvas.to_px(16)), canvas.to_px(20))
    command_button.draw_command_button(desk, "slow_motion", box, label=label, size=12)


def _slow_motion_progress(desk: ViewContext) -> str:
    """Return the progress of slow motion as text, for the agent with the most expansions in the tick."""
    max_expansions = desk.player.max_expansions_in_last_tick
    return f"expansion {min(desk.player.slow_motion_expansions or 0, max_expansions):,} of {max_expansions:,}"


def _draw_budget_slider(desk: ViewContext, left: int, y: int, height: int) -> int:
    canvas = desk.canvas
    width = canvas.to_px(SLIDER_WIDTH)
    budget = desk.session.run.world.budget
    _draw_control_label(desk, left, y, "budget per tick")
    canvas.draw_text((left + width, y + canvas.to_px(7)), f"{budget:,}", size=13, face="mono", align="right")

    def drag_to(share: float) -> None:
        value_adjustments.set_shared_budget(desk.session, round(MAX_SLIDER_BUDGET**share))

    canvas.draw_slider(
        "budget",
        (left, y + canvas.to_px(30), width, canvas.to_px(20)),
        math.log(budget) / math.log(MAX_SLIDER_BUDGET),
        drag_to,
        lambda step: desk.run_command("raise_budget" if step > 0 else "lower_budget"),
        _budget_tooltip(desk),
        ("raise_budget", "lower_budget"),
        is_enabled=not desk.disabled_reason_of_command("raise_budget"),
    )
    return left + width


def _budget_tooltip(desk: ViewContext) -> str:
    """Return the tooltip of the budget: which agents use the shared budget, or why it cannot be changed."""
    if reason := desk.disabled_reason_of_command("raise_budget"):
        return reason
    sharing = value_adjustments.agents_with_shared_budget(desk.session)
    if len(sharing) == len(desk.session.run.world.walkers):
        agents_text = "every agent"
    else:
        names = list(dict.fromkeys(walker.config.group or walker.label for walker in sharing))
        quoted_names = [f'"{name}"' for name in names[:MAX_AGENTS_NAMED_IN_TOOLTIP]]
        more = (
            f" and {len(names) - MAX_AGENTS_NAMED_IN_TOOLTIP} more" if len(names) > MAX_AGENTS_NAMED_IN_TOOLTIP else ""
        )
        agents_text = f"{', '.join(quoted_names)}{more}; the other agents have their own budgets"
    return f"Expansions per tick, for {agents_text}"


def _draw_run_until_buttons(desk: ViewContext, left: int, right: int, y: int, rows: int) -> None:
    """Draw as many "run until" buttons as fit into `rows` rows."""
    canvas, px = desk.canvas, desk.canvas.to_px
    x, top, size = left, y + px(6), px(22)
    x += canvas.draw_text((x, top + size // 2), "run until", size=12, colour=desk.palette.dim, middle=True) + px(8)
    for command in RUN_UNTIL_COMMANDS:
        label = desk.command_table[command].button_label
        width = canvas.text_width(label, 12) + px(12)
        if x + width > right:
            x, top, rows = left, top + px(RUN_UNTIL_ROW_HEIGHT), rows - 1
        if rows <= 0 or x + width > right:
            return
        command_button.draw_command_button(desk, command, (x, top, width, size), area="transport", size=12)
        x += width + px(5)
