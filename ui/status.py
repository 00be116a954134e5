"""Status file of the window, read by tests that drive a real window with xdotool.

If the environment has BACKMOVE_STATUS=FILE, the window keeps its state as one JSON object in that file.
"""

import json
import os
from pathlib import Path
from typing import Any

import pygame

from ui.app import App

STATUS_VARIABLE = "BACKMOVE_STATUS"  # environment variable with the path of the status file


def status_of_window(app: App) -> dict[str, Any]:
    window, session, grid = app.window, app.session, app.session.run.world.grid
    scene, dialog = window.map_view, window.dialogs.open_one
    return {
        "title": session.run.scenario.title,
        "tick": session.tick,
        "digest": session.run.world.compute_digest(),
        "running": window.player.clock.is_running,
        "longest_frame_ms": round(app.longest_frame_ms, 1),
        "dialog": type(dialog).__name__ if dialog else None,
        "size": list(window.surface.get_size()),
        "full_screen": bool(window.surface.get_flags() & pygame.FULLSCREEN),
        "theme": scene.palette.name,
        "editing": window.state.is_editing,
        "tool": window.state.tool,
        "selection": str(window.state.selection) if window.state.selection is not None else None,
        "switches": session.run.world.switch_states(),
        "unsaved": session.has_unsaved_edits,
        "blocked": int((~grid.free).sum()),
        "messages": window.state.messages.queued_message_texts(),
        "agents": [
            {
                "label": w.label,
                "kind": w.spec.key,
                "params": w.params,
                "position": list(grid.xy(w.position)),
                "state": w.state_text,
                "restarts": int(w.metrics[0].restarts),
            }
            for w in session.run.world.walkers
        ],
        "panels": [
            {"map": list(boxes.map), **vars(scene.camera_of_panel(panel.key, boxes))}
            for panel, boxes in scene.panels_with_boxes()
        ],
    }


class StatusFile:
    """Writer of the status file; without the environment variable it writes nothing."""

    def __init__(self) -> None:
        name = os.environ.get(STATUS_VARIABLE)
        self.path = Path(name) if name else None
        self.last_text = ""  # status written last, as JSON; an unchanged status is not written again

    def write_status(self, app: App) -> None:
        """Write the status to the file if it has changed since the last call."""
        if self.path is None:
            return
        text = json.dumps(status_of_window(app))
        if text != self.last_text:
            self.last_text = text
            part = self.path.with_suffix(".part")  # temporary name, so that no reader sees an incomplete file
            part.write_text(text)
            part.replace(self.path)
