"""Commands for the view: cameras, heat map, theme, text size and full screen."""

import os
from dataclasses import replace
from pathlib import Path

from ui.commands.window import Window
from ui.dialogs.settings import SettingsDialog
from ui.film.takes import FOLDER_VARIABLE, usual_folder
from ui.model import turning
from ui.model.cameras import PAN_STEP_PX
from ui.model.command import RUN, Topic
from ui.panels import tab_layers

command = Topic("View")


@command("F", "Fit the map into the panels", mode=RUN, name="fit")
def fit(window: Window) -> None:
    window.cameras.follows = False
    window.cameras.fit(window.session.focused_key)


@command("Ctrl+= Ctrl++", "Zoom in", repeats=True)
def zoom_in(window: Window) -> None:
    window.zoom(1.25)


@command("Ctrl+-", "Zoom out", repeats=True)
def zoom_out(window: Window) -> None:
    window.zoom(0.8)


@command("Ctrl+0", "Fit the map into the panels (also in edit mode)", name="zoom_reset")
def zoom_reset(window: Window) -> None:
    fit(window)


@command("Alt+Left", "Pan the map left", repeats=True)
def pan_left(window: Window) -> None:
    window.pan(PAN_STEP_PX, 0)


@command("Alt+Right", "Pan the map right", repeats=True)
def pan_right(window: Window) -> None:
    window.pan(-PAN_STEP_PX, 0)


@command("Alt+Up", "Pan the map up", repeats=True)
def pan_up(window: Window) -> None:
    window.pan(0, PAN_STEP_PX)


@command("Alt+Down", "Pan the map down", repeats=True)
def pan_down(window: Window) -> None:
    window.pan(0, -PAN_STEP_PX)


@command("L", "Link or unlink the cameras of the panels", mode=RUN, name="link_cameras")
def link_cameras(window: Window) -> None:
    window.cameras.toggle_link(window.session.focused_key)
    window.say("The cameras are linked" if window.cameras.is_linked else "Each panel has its own camera")


@command("C", "Follow the agents with the camera, or stop following", mode=RUN, name="follow")
def follow(window: Window) -> None:
    window.cameras.follows = not window.cameras.follows
    window.say("The camera follows the agents" if window.cameras.follows else "The camera stays where it is")


@command("H", "Use the hand tool (drag to pan)", name="hand")
def hand(window: Window) -> None:
    window.state.has_hand = not window.state.has_hand


@command("V", "Show the next heat map: scrubbing, visits, expansions, learned h, g, depth, A - B", name="next_heat")
def next_heat(window: Window) -> None:
    tab_layers.next_heat(window.desk)


@command("Shift+V", "Switch the heat scale: logarithmic or linear", name="heat_scale")
def heat_scale(window: Window) -> None:
    window.scene.layers.heat = replace(window.scene.layers.heat, is_log=not window.scene.layers.heat.is_log)


@command("Ctrl+Shift+V", "Change the heat colours: inferno, cividis, viridis, greys, magma", name="heat_colours")
def heat_colours(window: Window) -> None:
    tab_layers.next_colours(window.desk)


@command("Alt+V", "Make layers, heat map and camera links the default for new files", name="keep_view")
def keep_view(window: Window) -> None:
    window.dressing.keep_as_default()
    window.say("New files open with these layers and this heat map, unless a file has its own view")


@command("T", "Switch between dark and light theme", name="theme")
def theme(window: Window) -> None:
    window.set_theme("light" if window.scene.palette.name == "dark" else "dark")


@command("Ctrl+Shift+= Ctrl+Shift++", "Make text and controls larger", name="ui_larger")
def ui_larger(window: Window) -> None:
    window.set_scale(turning.neighbour(turning.UI_SCALES, window.scene.scale, 1))


@command("Ctrl+Shift+- Ctrl+_", "Make text and controls smaller", name="ui_smaller")
def ui_smaller(window: Window) -> None:
    window.set_scale(turning.neighbour(turning.UI_SCALES, window.scene.scale, -1))


@command("F10", "Hide or show everything but the panels", name="hide_ui")
def hide_ui(window: Window) -> None:
    window.state.is_bare = not window.state.is_bare


@command("F11", "Turn full screen on or off", name="full_screen")
def full_screen(window: Window) -> None:
    window.toggle_full_screen()


@command("Ctrl+,", "Open the settings: theme, text size, colours, folders, memory, keys", name="settings")
def settings(window: Window) -> None:
    window.collect_settings()
    named = os.environ.get(FOLDER_VARIABLE)
    recordings = Path(named) if named else usual_folder()
    fixed = f"The environment variable {FOLDER_VARIABLE} sets this folder: {named}" if named else None
    window.show(SettingsDialog(window.dialogs, window.apply_settings, window.rebind, recordings, fixed))
