"""Tells another program what the window is doing, for tests that drive a real one with xdotool.

With BACKMOVE_STATUS=FILE in the environment the window keeps one JSON object in that file.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pygame

if TYPE_CHECKING:
    from ui.app import App

VARIABLE = "BACKMOVE_STATUS"


def status_of(app: "App") -> dict[str, Any]:
    session, grid = app.session, app.session.world.grid
    panels = app.panels()
    return {
        "title": session.scenario.title,
        "tick": session.tick,
        "digest": session.world.digest(),
        "running": app.clock.is_running,
        "longest_frame_ms": round(app.longest_frame_ms, 1),
        "dialog": type(app.dialog).__name__ if app.dialog else None,
        "size": list(app.window_size),
        "full_screen": bool(app.window.get_flags() & pygame.FULLSCREEN),
        "theme": app.palette.name,
        "editing": app.is_editing,
        "switches": session.world.switch_states(),
        "unsaved": session.has_unsaved_edits,
        "blocked": int((~grid.free).sum()),
        "messages": [text for text, _ in app.toasts],
        "agents": [
            {
                "label": w.label,
                "kind": w.spec.key,
                "params": w.params,
                "position": list(grid.xy(w.position)),
                "state": w.state_word,
                "restarts": int(w.metrics[0].restarts),
            }
            for w in session.world.walkers
        ],
        "panels": [{"map": list(boxes.map), **vars(app.camera(panel.key, boxes))} for panel, boxes in panels],
    }


class StatusFile:
    """Writes the status whenever it changed. Does nothing unless the environment asks for it."""

    def __init__(self) -> None:
        name = os.environ.get(VARIABLE)
        self.path = Path(name) if name else None
        self.last = ""

    def write(self, app: "App") -> None:
        if self.path is None:
            return
        text = json.dumps(status_of(app))
        if text != self.last:
            self.last = text
            part = self.path.with_suffix(".part")
            part.write_text(text)
            part.replace(self.path)
