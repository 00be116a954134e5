"""Status file of the window, read by tests that drive a real window with xdotool.

If the environment has BACKMOVE_STATUS=FILE, the window keeps its state as one JSON object in that file.
"""

import json
import os
from pathlib import Path
from typing import Any

import pygame

from ui.app import App

STATUS_FILE_VARIABLE = "BACKMOVE_STATUS"  # environment variable with the path of the status file


def window_status(app: App) -> dict[str, Any]:
    window, session, grid = app.window, app.session, app.session.run.world.grid
    scene, dialog = window.map_view, window.dialogs.current_dialog
    return {
        "title": session.run.scenario.title,
        "tick": session.tick,
        "digest": session.run.world.compute_digest(),
        "running": window.player.step_clock.is_running,
        "longest_frame_ms": round(app.longest_frame_ms, 1),
        "dialog": type(dialog).__name__ if dialog else None,
        "size": list(window.surface.get_size()),
        "full_screen": bool(window.surface.get_flags() & pygame.FULLSCREEN),
        "theme": scene.palette.name,
        "editing": window.ui_state.is_editing,
        "tool": window.ui_state.selected_tool,
        "selection": str(window.ui_state.selected_cells) if window.ui_state.selected_cells is not None else None,
        "switches": session.run.world.switch_states(),
        "unsaved": session.has_unsaved_edits,
        "blocked": int((~grid.free_mask).sum()),
        "messages": window.ui_state.message_queue.queued_message_texts(),
        "agents": [
            {
                "label": w.label,
                "kind": w.spec.key,
                "params": w.params,
                "position": list(grid.xy(w.position)),
                "state": w.state_word,
                "restarts": int(w.counts_record[0].restarts),
            }
            for w in session.run.world.walkers
        ],
        "panels": [
            {"map": list(boxes.map_box), **vars(scene.camera_of_panel(panel.key, boxes))}
            for panel, boxes in scene.panels_with_boxes()
        ],
    }


class StatusFile:
    """Writer of the status file; without the environment variable it writes nothing."""

    def __init__(self) -> None:
        name = os.environ.get(STATUS_FILE_VARIABLE)
        self.path = Path(name) if name else None
        self.last_written_status = ""  # status written last, as JSON; an unchanged status is not written again

    def write_status(self, app: App) -> None:
        """Write the status to the file if it has changed since the last call."""
        if self.path is None:
            return
        text = json.dumps(window_status(app))
        if text != self.last_written_status:
            self.last_written_status = text
            part = self.path.with_suffix(".part")  # temporary name, so that no reader sees an incomplete file
            part.write_text(text)
            part.replace(self.path)
