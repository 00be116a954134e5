"""Command that shows or hides the minimap in panels that are zoomed in."""

from ui.commands.window import Window
from ui.model.command import Topic

command = Topic("View")


@command("Alt+I", "Minimap in panels that show a part of the map, or none")
def minimap(window: Window) -> None:
    window.settings.shows_minimap = not window.settings.shows_minimap
    window.say("minimap: on while zoomed in" if window.settings.shows_minimap else "minimap: off")
