"""Command that shows or hides the minimap in panels that are zoomed in."""

from ui.commands.window import Window
from ui.model.command import Topic

command = Topic("View")


@command("Alt+I", "Show or hide the minimap in zoomed panels", name="minimap")
def minimap(window: Window) -> None:
    window.settings.shows_minimap = not window.settings.shows_minimap
    window.say("Zoomed panels show the minimap" if window.settings.shows_minimap else "The minimap is hidden")
