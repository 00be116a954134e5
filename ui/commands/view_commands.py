"""Commands for the view: cameras, heat map, theme, text size and full screen."""

import os
from dataclasses import replace
from pathlib import Path

from ui.commands.app_context import AppContext
from ui.dialogs.settings_dialog import SettingsDialog
from ui.film.recording_files import FOLDER_VARIABLE, default_recordings_folder
from ui.model import value_adjustments
from ui.model.panel_cameras import PAN_STEP_PX
from ui.model.ui_command import RUN_MODE, Action, CommandTopic, ContextMenu
from ui.panels import tab_layers

command = CommandTopic("View")


@command(
    "F", "Fit the map into the panels", mode=RUN_MODE, menus={ContextMenu.CELL: 10}, synonyms=("zoom",), name="fit"
)
def fit_map_to_panel(window: AppContext) -> None:
    window.cameras.is_following_agents = False
    window.cameras.fit_map_to_panel(window.session.focused_key)


@command("Ctrl+= Ctrl++", "Zoom in", repeats=True)
def zoom_in(window: AppContext) -> None:
    window.zoom_focused_panel(1.25)


@command("Ctrl+-", "Zoom out", repeats=True)
def zoom_out(window: AppContext) -> None:
    window.zoom_focused_panel(0.8)


@command("Ctrl+0", "Fit the map into the panels (also in edit mode)", synonyms=("zoom",), name="zoom_reset")
def fit_map_in_any_mode(window: AppContext) -> None:
    fit_map_to_panel(window)


def _create_pan_action(dx: int, dy: int) -> Action:
    """Return the function of a command that pans the view; dx and dy are 1, 0 or -1."""

    def pan(window: AppContext) -> None:
        window.pan_focused_panel(-dx * PAN_STEP_PX, -dy * PAN_STEP_PX)

    return pan


for _arrow, _dx, _dy in (("Left", -1, 0), ("Right", 1, 0), ("Up", 0, -1), ("Down", 0, 1)):
    command(
        f"Alt+{_arrow}",
        f"Pan the map {_arrow.lower()}",
        repeats=True,
        synonyms=("scroll", "move"),
        family=("Pan the map", _arrow),
        name=f"pan_{_arrow.lower()}",
    )(_create_pan_action(_dx, _dy))


@command(
    "L",
    "Link or unlink the cameras of the panels",
    mode=RUN_MODE,
    is_on=lambda view: view.map_view.panel_cameras.is_linked,
    name="link_cameras",
)
def toggle_camera_link(window: AppContext) -> None:
    window.cameras.toggle_camera_link(window.session.focused_key)
    window.notify_user("The cameras are linked" if window.cameras.is_linked else "Each panel has its own camera")


@command(
    "C",
    "Follow the agents with the camera, or stop following",
    mode=RUN_MODE,
    is_on=lambda view: view.map_view.panel_cameras.is_following_agents,
    menus={ContextMenu.CELL: 20},
    synonyms=("track",),
    name="follow",
)
def toggle_camera_following(window: AppContext) -> None:
    window.cameras.is_following_agents = not window.cameras.is_following_agents
    window.notify_user(
        "The camera follows the agents" if window.cameras.is_following_agents else "The camera stays where it is"
    )


@command(
    "H",
    "Use the hand tool (drag to pan)",
    button="Hand",
    is_on=lambda view: view.ui_state.is_hand_tool_active,
    synonyms=("scroll", "move"),
    name="hand",
)
def toggle_hand_tool(window: AppContext) -> None:
    window.ui_state.is_hand_tool_active = not window.ui_state.is_hand_tool_active


@command("V", "Show the next heat map: scrubbing, visits, expansions, learned h, g, depth, A - B", name="next_heat")
def show_next_heat_map(window: AppContext) -> None:
    tab_layers.show_next_heat_map(window.view_context)


@command("Shift+V", "Switch the heat scale: logarithmic or linear", name="heat_scale")
def toggle_heat_scale(window: AppContext) -> None:
    window.map_view.layer_state.heat_setting = replace(
        window.map_view.layer_state.heat_setting, is_log=not window.map_view.layer_state.heat_setting.is_log
    )


@command("Ctrl+Shift+V", "Change the heat colours: inferno, cividis, viridis, greys, magma", name="heat_colours")
def change_heat_colours(window: AppContext) -> None:
    tab_layers.use_next_heat_colours(window.view_context)


@command(
    "Alt+V",
    "Make layers, heat map and camera links the default for new files",
    button="Use for every file",
    name="keep_view",
)
def save_default_view(window: AppContext) -> None:
    window.view_overrides.store_view_as_default()
    window.notify_user("New files open with these layers and this heat map, unless a file has its own view")


@command(
    "T",
    "Switch between dark and light theme",
    button="Theme",
    synonyms=("colours", "colors", "appearance", "mode"),
    name="theme",
)
def toggle_theme(window: AppContext) -> None:
    window.set_theme("light" if window.map_view.palette.name == "dark" else "dark")


@command(
    "Ctrl+Shift+= Ctrl+Shift++", "Make text and controls larger", synonyms=("font", "zoom", "scale"), name="ui_larger"
)
def enlarge_ui(window: AppContext) -> None:
    window.set_ui_scale(
        value_adjustments.neighbouring_value(value_adjustments.UI_SCALES, window.map_view.px_per_unit, 1)
    )


@command("Ctrl+Shift+- Ctrl+_", "Make text and controls smaller", synonyms=("font", "zoom", "scale"), name="ui_smaller")
def reduce_ui(window: AppContext) -> None:
    window.set_ui_scale(
        value_adjustments.neighbouring_value(value_adjustments.UI_SCALES, window.map_view.px_per_unit, -1)
    )


@command(
    "F10",
    "Hide or show everything but the panels",
    is_on=lambda view: view.ui_state.are_bars_hidden,
    synonyms=("presentation",),
    name="hide_ui",
)
def toggle_panels_only_view(window: AppContext) -> None:
    window.ui_state.are_bars_hidden = not window.ui_state.are_bars_hidden


@command("F11", "Turn full screen on or off", name="full_screen")
def toggle_full_screen(window: AppContext) -> None:
    window.toggle_full_screen()


@command(
    "Ctrl+,",
    "Open the settings: theme, text size, colours, folders, memory, keys",
    synonyms=("preferences", "options", "shortcuts"),
    name="settings",
)
def open_settings(window: AppContext) -> None:
    window.copy_window_state_to_settings()
    named = os.environ.get(FOLDER_VARIABLE)
    recordings = Path(named) if named else default_recordings_folder()
    fixed = f"The environment variable {FOLDER_VARIABLE} sets this folder: {named}" if named else None
    window.open_dialog(
        SettingsDialog(window.dialogs, window.apply_settings, window.assign_keys_to_command, recordings, fixed)
    )
