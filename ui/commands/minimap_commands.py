"""Command that shows or hides the minimap in panels that are zoomed in."""

from ui.commands.app_context import AppContext
from ui.model.ui_command import CommandTopic

command = CommandTopic("View")


@command(
    "Alt+I",
    "Show or hide the minimap in zoomed panels",
    is_on=lambda view: view.settings.shows_minimap,
    synonyms=("overview",),
    name="minimap",
)
def toggle_minimap(window: AppContext) -> None:
    window.settings.shows_minimap = not window.settings.shows_minimap
    window.notify_user("Zoomed panels show the minimap" if window.settings.shows_minimap else "The minimap is hidden")
