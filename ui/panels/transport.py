"""Bar at the bottom with the controls of the run: play and step, time line, speed, budget, and "run until"."""

import math
from functools import partial

import pygame

from ui.draw.theme import mix
from ui.model import clock, turning, wording
from ui.model.layout import TIME_ROW, TRANSPORT, Box
from ui.panels import scrubber
from ui.panels.desk import ViewContext
from ui.widgets.canvas import HitRegion

UNTIL = (
    ("until_move", "move"),
    ("until_back_move", "back-move"),
    ("until_restart", "restart"),
    ("until_arrival", "arrival"),
    ("until_tick", "tick ..."),
)
MAX_BUDGET = 4096  # largest budget that the slider can set, in expansions per tick
MAX_NAMED = 3  # maximum number of agents that the tooltip of the budget names
SLIDER = 150  # width of a slider in design units
UNTIL_ROW = 26  # height of a row of "run until" buttons in design units
MIN_UNTIL = 130  # minimum width of the "run until" buttons in design units, if the time line has a row of its own
MIN_TIME = 220  # minimum width of the time line in design units; a slider that would narrow it further is left out


def draw(desk: ViewContext, box: Box) -> None:
    """Draw as many controls as fit, from left to right; controls that are left out still have keyboard shortcuts."""
    canvas = desk.canvas
    canvas.fill(box, desk.palette.surface, 8)
    canvas.outline(box, desk.palette.edge, 8)
    x, y, width, height = box
    px, right = canvas.px, x + width - canvas.px(12)
    has_time_row = height > px(TRANSPORT)
    if has_time_row:
        scrubber.draw(desk, (x + px(6), y + px(2), width - px(12), px(TIME_ROW)))
        y, height = y + px(TIME_ROW), height - px(TIME_ROW)
    left = _draw_buttons(desk, x + px(14), y + height // 2)
    left = _draw_tick(desk, left + px(16), y, height)
    kept = px(MIN_UNTIL if has_time_row else MIN_TIME)
    for part in (_draw_speed, _draw_budget):
        if left + px(22 + SLIDER) + kept > right:
            break
        left = part(desk, left + px(22), y, height)
    # If the time line has no row of its own, it is drawn below the "run until" buttons, which then have one row.
    rows = (height - px(6)) // px(UNTIL_ROW) if has_time_row else 1
    if right - left > px(90):
        _draw_until(desk, left + px(22), right, y, rows)
    if not has_time_row:
        scrubber.draw(desk, (left + px(14), y + px(30), right - left - px(14), height - px(32)))


def _draw_buttons(desk: ViewContext, left: int, middle: int) -> int:
    for command, radius in (("to_start", 13), ("step_back", 13), ("play", 20), ("step", 13), ("to_end", 13)):
        left = _draw_round_button(desk, command, left, middle, radius) + desk.canvas.px(6)
    return left - desk.canvas.px(6)


def _draw_round_button(desk: ViewContext, command: str, left: int, middle: int, radius: float) -> int:
    """Draw a round button with an icon and return its right edge."""
    canvas, palette = desk.canvas, desk.palette
    r = canvas.px(radius)
    centre = (left + r, middle)
    box = (left, middle - r, 2 * r, 2 * r)
    act = desk.doer_of(command)
    is_hovered = canvas.spot(HitRegion(f"transport:{command}", box, act, desk.tip_of(command), desk.key_of(command)))
    is_hovered = is_hovered and act is not None
    is_main = command == "play"
    ground = palette.accent if is_main else palette.hover if is_hovered else palette.raised
    if is_main and is_hovered:
        ground = mix(ground, palette.text, 0.12)
    pygame.draw.circle(canvas.surface, ground, centre, r)
    _icon(desk, command, centre, r, palette.on_accent if is_main else palette.text if act else palette.dim)
    return left + 2 * r


def _icon(desk: ViewContext, command: str, centre: tuple[int, int], radius: int, ink: tuple[int, int, int]) -> None:
    x, y = centre
    s = radius * 0.42
    surface = desk.canvas.surface
    bar = max(2, round(s * 0.5))
    if command == "play" and desk.player.clock.is_running:
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
            near, far = x + sign * s * offset, x + sign * s * (offset + 0.95)
            pygame.draw.polygon(surface, ink, [(near, y - s), (near, y + s), (far, y)])
        edge = x + sign * s
        pygame.draw.rect(surface, ink, (edge - (0 if sign > 0 else bar), y - s, bar, 2 * s))


def _draw_tick(desk: ViewContext, left: int, y: int, height: int) -> int:
    canvas = desk.canvas
    _label(desk, left, y, "tick")
    text = f"{desk.session.tick:,}"
    used = canvas.text((left, y + canvas.px(24)), text, size=20, face="mono")
    word = desk.mode_word()
    canvas.text(
        (left, y + height - canvas.px(17)),
        word,
        size=12,
        colour=desk.palette.warning if desk.state.is_editing else desk.palette.dim,
    )
    return left + max(used, canvas.text_width("00,000", 20, "mono"), canvas.text_width(word, 12))


def _label(desk: ViewContext, left: int, y: int, text: str) -> None:
    desk.canvas.text((left, y + desk.canvas.px(8)), text, size=12, colour=desk.palette.dim)


def _draw_speed(desk: ViewContext, left: int, y: int, height: int) -> int:
    canvas = desk.canvas
    width = canvas.px(SLIDER)
    _label(desk, left, y, "speed")
    canvas.text((left + width, y + canvas.px(7)), wording.speed(desk.player.speed), size=13, face="mono", align="right")
    places = [*clock.SPEEDS, clock.AS_FAST_AS_POSSIBLE]
    share = places.index(desk.player.speed) / (len(places) - 1)

    def drag_to(new_share: float) -> None:
        desk.player.set_speed(places[round(new_share * (len(places) - 1))])

    canvas.slider(
        "speed",
        (left, y + canvas.px(30), width, canvas.px(20)),
        share,
        drag_to,
        lambda step: desk.run("faster" if step > 0 else "slower"),
        desk.worded("Ticks per second; {key:full_speed}: as fast as possible"),
        desk.keys_of("slower", "faster"),
    )
    if height >= canvas.px(66):
        _draw_slow_motion(desk, left, y + height - canvas.px(24), width)
    return left + width


def _draw_slow_motion(desk: ViewContext, left: int, y: int, width: int) -> None:
    """Draw the button for slow motion; while slow motion is on, its label is the progress within the tick."""
    canvas, is_on = desk.canvas, desk.player.is_slow_motion
    label = "slow motion" if not is_on or desk.player.reveal is None else _slow_motion_progress(desk)
    canvas.button(
        "slow_motion",
        (left, y, min(width, canvas.text_width(label, 12) + canvas.px(16)), canvas.px(20)),
        label,
        partial(desk.run, "slow_motion"),
        tip=desk.tip_of("slow_motion"),
        key=desk.key_of("slow_motion"),
        is_on=is_on,
        size=12,
    )


def _slow_motion_progress(desk: ViewContext) -> str:
    """Return the progress of slow motion as text, for the agent with the most expansions in the tick."""
    most = desk.player.last_expansions
    return f"expansion {min(desk.player.reveal or 0, most):,} of {most:,}"


def _draw_budget(desk: ViewContext, left: int, y: int, height: int) -> int:
    canvas = desk.canvas
    width = canvas.px(SLIDER)
    budget = desk.session.run.world.budget
    _label(desk, left, y, "budget per tick")
    canvas.text((left + width, y + canvas.px(7)), f"{budget:,}", size=13, face="mono", align="right")

    def drag_to(share: float) -> None:
        turning.set_budget(desk.session, round(MAX_BUDGET**share))

    canvas.slider(
        "budget",
        (left, y + canvas.px(30), width, canvas.px(20)),
        math.log(budget) / math.log(MAX_BUDGET),
        drag_to,
        lambda step: desk.run("raise_budget" if step > 0 else "lower_budget"),
        _budget_tip(desk),
        desk.keys_of("raise_budget", "lower_budget"),
        is_enabled=not desk.disabled_reason("raise_budget"),
    )
    return left + width


def _budget_tip(desk: ViewContext) -> str:
    """Return the tooltip of the budget: which agents use the shared budget, or why it cannot be changed."""
    if reason := desk.disabled_reason("raise_budget"):
        return reason
    sharing = turning.sharing_budget(desk.session)
    if len(sharing) == len(desk.session.run.world.walkers):
        whose = "every agent"
    else:
        names = list(dict.fromkeys(walker.config.group or walker.label for walker in sharing))
        shown = [f'"{name}"' for name in names[:MAX_NAMED]]
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        whose = f"{', '.join(shown)}{more}; the other agents have their own budgets"
    return f"Expansions per tick, for {whose}"


def _draw_until(desk: ViewContext, left: int, right: int, y: int, rows: int) -> None:
    """Draw as many "run until" buttons as fit into `rows` rows."""
    canvas, px = desk.canvas, desk.canvas.px
    x, top, size = left, y + px(6), px(22)
    x += canvas.text((x, top + size // 2), "run until", size=12, colour=desk.palette.dim, middle=True) + px(8)
    for command, label in UNTIL:
        width = canvas.text_width(label, 12) + px(14)
        if x + width > right:
            x, top, rows = left, top + px(UNTIL_ROW), rows - 1
        if rows <= 0 or x + width > right:
            return
        canvas.button(
            f"transport:{command}",
            (x, top, width, size),
            label,
            partial(desk.run, command),
            tip=desk.tip_of(command),
            key=desk.key_of(command),
            is_on=desk.player.is_running_until(command),
        )
        x += width + px(5)
