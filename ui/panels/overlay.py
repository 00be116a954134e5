"""What lies over everything: messages, the dimming behind a dialog, the hint when there is no agent."""

import time
from functools import partial
from typing import TYPE_CHECKING

import pygame

from ui.model.layout import Box, Layout

if TYPE_CHECKING:
    from ui.app import App

MOST_TOASTS = 4


def draw_toasts(app: "App", plan: Layout) -> None:
    """The latest messages until their time is over: over the maps, never over numbers, headers or bars."""
    now = time.monotonic()
    app.toasts = [(text, until) for text, until in app.toasts if until > now][-MOST_TOASTS:]
    canvas, palette = app.canvas, app.palette
    px = canvas.px
    left, top, width, height = toast_area(plan)
    bottom = top + height - px(10)
    for text, _ in reversed(app.toasts):
        lines = canvas.wrap_lines(text, min(px(720), width - px(60)), 14)
        wide = max(canvas.text_width(line, 14) for line in lines) + px(28)
        high = len(lines) * px(20) + px(14)
        if bottom - high < top and text != app.toasts[-1][0]:
            return
        box = (left + (width - wide) // 2, bottom - high, wide, high)
        canvas.fill(box, palette.text, 8)
        for i, line in enumerate(lines):
            canvas.text((box[0] + px(14), box[1] + px(7) + i * px(20)), line, size=14, colour=palette.surface)
        bottom = box[1] - px(6)


def toast_area(plan: Layout) -> Box:
    """Where messages stand: over the maps of the lowest row of panels."""
    if not plan.panels:
        foot = plan.transport[1] or plan.size[1]
        return 0, 0, plan.size[0], foot
    left = min(panel.whole[0] for panel in plan.panels)
    right = max(panel.whole[0] + panel.whole[2] for panel in plan.panels)
    _, top, _, height = plan.panels[-1].map
    return left, top, right - left, height


def dim(app: "App") -> None:
    """A veil over the window behind a dialog."""
    veil = pygame.Surface(app.window_size)
    veil.fill(app.palette.window)
    veil.set_alpha(150)
    app.window.blit(veil, (0, 0))


def draw_no_agents(app: "App", plan: Layout) -> None:
    canvas = app.canvas
    x, y = plan.size[0] // 2, plan.size[1] // 2
    canvas.text((x, y - canvas.px(30)), "No agent on this map", size=18, face="bold", align="centre", middle=True)
    width = canvas.px(220)
    canvas.button(
        "empty:add_agent",
        (x - width // 2, y, width, canvas.px(34)),
        "Add an agent",
        partial(app.run, "add_agent"),
        key="A",
        shows_key=True,
        tip=app.tip_of("add_agent"),
    )
