"""The one table of commands and keys: dispatcher, help overlay, tooltips, command palette and README use it."""

from dataclasses import dataclass

import pygame

from ui.draw.layers import LAYERS

ANY, RUN, EDIT = "any", "run", "edit"


@dataclass(frozen=True)
class Command:
    """Something that a user can do. `action` in actions.py carries the same name as `id`."""

    id: str
    keys: tuple[str, ...]
    help: str
    group: str
    mode: str = ANY  # RUN: only outside edit mode; EDIT: only in it


COMMANDS: tuple[Command, ...] = (
    Command("play", ("Space", "P"), "Run or pause", "Time"),
    Command("step", (".", "Right", "O"), "One tick forward", "Time"),
    Command("step_10", ("Shift+Right",), "Ten ticks forward", "Time"),
    Command("step_100", ("PageDown",), "A hundred ticks forward", "Time"),
    Command("step_back", (",", "Left"), "One tick back", "Time"),
    Command("step_back_10", ("Shift+Left",), "Ten ticks back", "Time"),
    Command("step_back_100", ("PageUp",), "A hundred ticks back", "Time"),
    Command("to_start", ("Home",), "To tick 0", "Time"),
    Command("to_end", ("End",), "To the end of what was recorded", "Time"),
    Command("previous_mark", ("[",), "Back to the previous edit, restart or end", "Time", RUN),
    Command("next_mark", ("]",), "On to the next mark", "Time", RUN),
    Command("play_backwards", ("Shift+Space",), "Play backwards", "Time"),
    Command("slower", ("-", "<"), "Slower", "Time"),
    Command("faster", ("=", "+", ">"), "Faster", "Time"),
    Command("full_speed", ("U",), "As fast as possible, or back", "Time", RUN),
    Command("slow_motion", ("S",), "Slow motion, one expansion at a time", "Time", RUN),
    Command("step_expansion", ("Ctrl+.",), "One expansion forward (slow motion)", "Time"),
    Command("until_move", ("Alt+M",), "Run until the focused agent's next move", "Time"),
    Command("until_back_move", ("Alt+B",), "Run until any next back-move", "Time"),
    Command("until_restart", ("Alt+R",), "Run until any next restart", "Time"),
    Command("until_arrival", ("Alt+A",), "Run until the next arrival", "Time"),
    Command("until_tick", ("Alt+T",), "Run until a given tick", "Time"),
    Command("reset", ("R",), "Begin again at tick 0, on the map as it was then", "Time", RUN),
    Command("reset_keep_map", ("Ctrl+R",), "Begin again at tick 0, on the map as edited", "Time"),
    *(Command(f"focus_{n}", (str(n),), f"Focus panel {n}", "Panels") for n in range(1, 9)),
    Command("next_panel", ("Tab",), "Focus the next panel", "Panels"),
    Command("previous_panel", ("Shift+Tab",), "Focus the previous panel", "Panels"),
    Command("edit_agent", ("E", "Return"), "Agent and parameters of the focused panel", "Panels", RUN),
    Command("add_agent", ("A", "Insert"), "Add an agent", "Panels", RUN),
    Command("duplicate_agent", ("D",), "Duplicate the focused agent", "Panels", RUN),
    Command("remove_agent", ("Delete",), "Remove the focused agent", "Panels"),
    Command("move_panel_left", ("Ctrl+Shift+Left",), "Move the panel one place back", "Panels"),
    Command("move_panel_right", ("Ctrl+Shift+Right",), "Move the panel one place on", "Panels"),
    Command("maximise", ("X",), "Show only the focused panel, or all", "Panels", RUN),
    Command("raise_weight", ("W",), "More weight for the focused agent", "Panels", RUN),
    Command("lower_weight", ("Shift+W",), "Less weight for the focused agent", "Panels", RUN),
    Command("raise_budget", ("K",), "A larger budget for all", "Panels", RUN),
    Command("lower_budget", ("Shift+K",), "A smaller budget for all", "Panels", RUN),
    Command("more_trials", ("Alt+L",), "More trials for agents that learn", "Panels"),
    Command("fewer_trials", ("Alt+Shift+L",), "Fewer trials", "Panels"),
    Command("fit", ("F",), "Fit the map into the panels", "View", RUN),
    Command("zoom_in", ("Ctrl+=", "Ctrl++"), "Zoom in", "View"),
    Command("zoom_out", ("Ctrl+-",), "Zoom out", "View"),
    Command("zoom_reset", ("Ctrl+0",), "Fit the map", "View"),
    Command("pan_left", ("Alt+Left",), "Pan left", "View"),
    Command("pan_right", ("Alt+Right",), "Pan right", "View"),
    Command("pan_up", ("Alt+Up",), "Pan up", "View"),
    Command("pan_down", ("Alt+Down",), "Pan down", "View"),
    Command("link_cameras", ("L",), "Link the cameras, or free them", "View", RUN),
    Command("follow", ("C",), "Follow the agents with the camera", "View", RUN),
    Command("hand", ("H",), "Hand tool: drag to pan", "View"),
    Command("next_heat", ("V",), "Next heat map: visits, expansions, learned h, g, A - B", "View"),
    Command("heat_scale", ("Shift+V",), "Heat scale: logarithmic or linear", "View"),
    Command("heat_colours", ("Ctrl+Shift+V",), "Heat colours: cividis, viridis, greys, magma", "View"),
    Command("theme", ("T",), "Dark or light", "View"),
    Command("ui_larger", ("Ctrl+Shift+=", "Ctrl+Shift++"), "Larger text and controls", "View"),
    Command("ui_smaller", ("Ctrl+Shift+-", "Ctrl+_"), "Smaller text and controls", "View"),
    Command("hide_ui", ("F10",), "Hide everything but the panels", "View"),
    Command("full_screen", ("F11",), "Full screen", "View"),
    Command("tab_layers", ("F2",), "Sidebar: layers and legend", "Sidebar"),
    Command("tab_edit", ("F3",), "Sidebar: editing and switches", "Sidebar"),
    Command("tab_inspect", ("F4",), "Sidebar: cell inspector", "Sidebar"),
    Command("tab_compare", ("F5",), "Sidebar: comparison and charts", "Sidebar"),
    Command("tab_time", ("F7",), "Sidebar: branches and the script of edits", "Sidebar"),
    Command(
        "pin_cell",
        ("Ctrl+I",),
        "Pin the cell under the pointer, or the cell cursor, in the inspector",
        "Sidebar",
    ),
    Command("compare_table", ("Ctrl+T",), "Comparison table of all agents", "Sidebar"),
    Command("branch", ("B",), "Branch: a second future from this tick on, beside this one", "Branches", RUN),
    Command("branch_always", ("Ctrl+B",), "The same, in edit mode too", "Branches"),
    Command(
        "split_policy",
        ("Shift+B",),
        "Split: lazy and eager, several weights or budgets, from here",
        "Branches",
        RUN,
    ),
    Command("next_branch", ("N",), "Focus the next branch", "Branches", RUN),
    Command("compare_branch", ("Alt+P",), "The branch beside its parent, heat A - B", "Branches"),
    Command("hide_branch", ("Alt+H",), "Take the focused branch off the screen", "Branches"),
    Command("rename_branch", ("Alt+N",), "Rename the focused branch", "Branches"),
    Command("delete_branch", ("Alt+Delete",), "Delete the focused branch", "Branches"),
    Command("worst_block", ("Alt+W",), "Find the worst block: which switch or cell, and when, costs most", "Branches"),
    Command("edit_mode", ("M",), "Edit mode: letters choose tools", "Editing"),
    Command("tool_brush", ("B",), "Brush: first cell decides, block or free", "Editing", EDIT),
    Command("tool_eraser", ("E",), "Eraser: free cells", "Editing", EDIT),
    Command("tool_line", ("L",), "Line", "Editing", EDIT),
    Command("tool_rectangle", ("R",), "Rectangle", "Editing", EDIT),
    Command("tool_fill", ("F",), "Flood fill", "Editing", EDIT),
    Command("smaller_brush", ("[",), "Smaller brush", "Editing", EDIT),
    Command("larger_brush", ("]",), "Larger brush", "Editing", EDIT),
    Command("undo", ("Ctrl+Z",), "Undo the last stroke", "Editing"),
    Command("redo", ("Ctrl+Y", "Ctrl+Shift+Z"), "Redo", "Editing"),
    Command("clear_edits", ("Ctrl+Delete",), "Take all edits back (can be undone)", "Editing"),
    *(Command(f"switch_{n}", (f"Shift+{n}",), f"Block or free switch {n}", "Editing") for n in range(1, 10)),
    Command("cursor_left", ("Ctrl+Left",), "Cell cursor left", "Editing"),
    Command("cursor_right", ("Ctrl+Right",), "Cell cursor right", "Editing"),
    Command("cursor_up", ("Ctrl+Up",), "Cell cursor up", "Editing"),
    Command("cursor_down", ("Ctrl+Down",), "Cell cursor down", "Editing"),
    Command("paint_cursor", ("Ctrl+Return",), "Block or free the cell under the cursor", "Editing"),
    Command("start_here", ("Ctrl+Shift+Return",), "Start at the cell cursor (back to tick 0)", "Editing"),
    Command("goal_here", ("Alt+Return",), "Goal at the cell cursor", "Editing"),
    Command("random_changes", ("Alt+C",), "Random changes of the map on or off", "Editing"),
    Command("more_changes", ("Alt+=",), "Higher rate of random changes", "Editing"),
    Command("fewer_changes", ("Alt+-",), "Lower rate of random changes", "Editing"),
    Command("record", ("F9",), "Record a video, or stop", "Pictures"),
    Command("picture_window", ("F12", "Ctrl+P"), "Picture of the window as PNG", "Pictures"),
    Command("picture_panel", ("Shift+F12",), "Picture of the focused panel as PNG", "Pictures"),
    Command("picture_large", ("Ctrl+F12",), "Picture of the focused panel, four times as large", "Pictures"),
    Command("picture_svg", ("Alt+F12",), "The focused panel as SVG, for papers", "Pictures"),
    Command("mark_in", ("I",), "Mark the first tick to export", "Pictures", RUN),
    Command("mark_out", ("Shift+I",), "Mark the last tick to export", "Pictures", RUN),
    Command("export_video", ("Alt+E",), "Export the marked ticks as a video", "Pictures"),
    Command("gallery", ("G",), "Gallery of examples", "Files", RUN),
    Command("open", ("Ctrl+O",), "Open a scenario, a map or a problem list", "Files"),
    Command("recent", ("Ctrl+Shift+O",), "Recent files", "Files"),
    Command("problems", ("Ctrl+L",), "Problem list of the open .scen file", "Files"),
    Command("generate", ("Ctrl+N",), "Generate a map", "Files"),
    Command("save_map", ("Ctrl+S",), "Save the map as .map", "Files"),
    Command("save_map_as", ("Ctrl+Shift+S",), "Save the map under another name", "Files"),
    Command("save_session", ("Alt+S",), "Save the session: everything, with branches and edits", "Files"),
    Command("save_scenario", ("Ctrl+Alt+S",), "Save map, agents and settings as a scenario", "Files"),
    Command("export_csv", ("Ctrl+E",), "Export the comparison as CSV", "Files"),
    Command("find_command", ("Ctrl+K",), "Find a command by name", "Help"),
    Command("help", ("?", "F1"), "All keys", "Help"),
    Command("about", ("F8",), "What this example shows", "Help"),
    Command("cancel", ("Escape",), "Cancel the stroke, the dialog, the tool", "Help"),
    Command("quit", ("Ctrl+Q",), "Quit", "Files"),
    Command("next_control", ("Ctrl+Tab", "F6"), "Next control of the window", "Help"),
    Command("previous_control", ("Ctrl+Shift+Tab", "Shift+F6"), "Previous control", "Help"),
    *(Command(f"layer_{layer.key}", (layer.shortcut,), f"Layer: {layer.name.lower()}", "Layers") for layer in LAYERS),
)

BY_ID = {command.id: command for command in COMMANDS}
GROUPS = tuple(dict.fromkeys(command.group for command in COMMANDS))

REPEATING = frozenset(
    {"step", "step_10", "step_100", "step_expansion", "undo", "redo", "slower", "faster", "zoom_in", "zoom_out"}
    | {"pan_left", "pan_right", "pan_up", "pan_down", "cursor_left", "cursor_right", "cursor_up", "cursor_down"}
    | {"step_back", "step_back_10", "step_back_100", "step_100", "previous_mark", "next_mark"}
    | {
        "raise_weight",
        "lower_weight",
        "raise_budget",
        "lower_budget",
        "more_trials",
        "fewer_trials",
        "smaller_brush",
        "larger_brush",
    }
)
"""Commands that a held key repeats."""

_NAMES = {
    pygame.K_SPACE: "Space",
    pygame.K_RETURN: "Return",
    pygame.K_KP_ENTER: "Return",
    pygame.K_TAB: "Tab",
    pygame.K_ESCAPE: "Escape",
    pygame.K_LEFT: "Left",
    pygame.K_RIGHT: "Right",
    pygame.K_UP: "Up",
    pygame.K_DOWN: "Down",
    pygame.K_PAGEDOWN: "PageDown",
    pygame.K_PAGEUP: "PageUp",
    pygame.K_HOME: "Home",
    pygame.K_END: "End",
    pygame.K_DELETE: "Delete",
    pygame.K_INSERT: "Insert",
    **{getattr(pygame, f"K_F{n}"): f"F{n}" for n in range(1, 13)},
    **{getattr(pygame, f"K_{n}"): str(n) for n in range(10)},
    **{getattr(pygame, f"K_KP{n}"): str(n) for n in range(10)},
}


def combination(key: int, mod: int, typed: str) -> str:
    """The name of a key press as the table writes it, such as 'Ctrl+Shift+Z', '?' or 'Shift+1'.

    Signs are named by what they type, whatever the keyboard: Shift is then part of the sign. With Ctrl or Alt
    held the system types nothing useful, so the sign on the key counts.
    """
    parts = [name for name, bit in (("Ctrl", pygame.KMOD_CTRL), ("Alt", pygame.KMOD_ALT)) if mod & bit]
    has_shift = bool(mod & pygame.KMOD_SHIFT)
    if key in _NAMES:
        return "+".join([*parts, *(["Shift"] if has_shift else []), _NAMES[key]])
    if not parts and typed and typed.isprintable() and not typed.isalpha():
        return typed
    name = pygame.key.name(key)
    label = name.upper() if len(name) == 1 else name.title()
    return "+".join([*parts, *(["Shift"] if has_shift else []), label])


def command_for(pressed: str, is_editing: bool) -> Command | None:
    """The command of a key press in this mode."""
    wanted = EDIT if is_editing else RUN
    for mode in (wanted, ANY):
        for command in COMMANDS:
            if command.mode == mode and pressed in command.keys:
                return command
    return None


def shown_keys(command_id: str) -> str:
    """The first key of a command, for tooltips and menus."""
    keys = BY_ID[command_id].keys
    return keys[0] if keys else ""
