"""How maps are seen: cameras, heat, theme, size of texts."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ui.model.cameras import PAN_STEP_PX
from ui.model.command import RUN, Topic
from ui.panels import tab_layers

if TYPE_CHECKING:
    from ui.app import App

command = Topic("View")


@command("F", "Fit the map into the panels", mode=RUN)
def fit(app: "App") -> None:
    app.cameras.follows = False
    app.cameras.fit(app.session.focused_key)


@command("Ctrl+= Ctrl++", "Zoom in", repeats=True)
def zoom_in(app: "App") -> None:
    app.zoom(1.25)


@command("Ctrl+-", "Zoom out", repeats=True)
def zoom_out(app: "App") -> None:
    app.zoom(0.8)


@command("Ctrl+0", "Fit the map")
def zoom_reset(app: "App") -> None:
    fit(app)


@command("Alt+Left", "Pan left", repeats=True)
def pan_left(app: "App") -> None:
    app.pan(PAN_STEP_PX, 0)


@command("Alt+Right", "Pan right", repeats=True)
def pan_right(app: "App") -> None:
    app.pan(-PAN_STEP_PX, 0)


@command("Alt+Up", "Pan up", repeats=True)
def pan_up(app: "App") -> None:
    app.pan(0, PAN_STEP_PX)


@command("Alt+Down", "Pan down", repeats=True)
def pan_down(app: "App") -> None:
    app.pan(0, -PAN_STEP_PX)


@command("L", "Link the cameras, or free them", mode=RUN)
def link_cameras(app: "App") -> None:
    app.cameras.toggle_link(app.session.focused_key)
    app.say("cameras linked" if app.cameras.is_linked else "every panel has its own camera")


@command("C", "Follow the agents with the camera", mode=RUN)
def follow(app: "App") -> None:
    app.cameras.follows = not app.cameras.follows
    app.say("the camera follows the agents" if app.cameras.follows else "the camera stays")


@command("H", "Hand tool: drag to pan")
def hand(app: "App") -> None:
    app.has_hand = not app.has_hand


@command("V", "Next heat map: scrubbing, visits, expansions, learned h, g, A - B")
def next_heat(app: "App") -> None:
    tab_layers.next_heat(app)


@command("Shift+V", "Heat scale: logarithmic or linear")
def heat_scale(app: "App") -> None:
    app.layers.heat = replace(app.layers.heat, is_log=not app.layers.heat.is_log)


@command("Ctrl+Shift+V", "Heat colours: inferno, cividis, viridis, greys, magma")
def heat_colours(app: "App") -> None:
    tab_layers.next_colours(app)


@command("T", "Dark or light")
def theme(app: "App") -> None:
    app.set_theme("light" if app.palette.name == "dark" else "dark")


@command("Ctrl+Shift+= Ctrl+Shift++", "Larger text and controls")
def ui_larger(app: "App") -> None:
    app.set_scale(app.next_scale(1))


@command("Ctrl+Shift+- Ctrl+_", "Smaller text and controls")
def ui_smaller(app: "App") -> None:
    app.set_scale(app.next_scale(-1))


@command("F10", "Hide everything but the panels")
def hide_ui(app: "App") -> None:
    app.is_bare = not app.is_bare


@command("F11", "Full screen")
def full_screen(app: "App") -> None:
    app.toggle_full_screen()
