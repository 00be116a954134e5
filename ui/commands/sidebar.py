"""The sidebar and the comparison of all agents."""

from typing import TYPE_CHECKING

from ui.dialogs.comparison import ComparisonTable
from ui.model.command import Action, Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Sidebar")


def _tab(key: str) -> Action:
    def choose(app: "App") -> None:
        is_same = app.settings.sidebar_tab == key and app.settings.shows_sidebar
        app.settings.shows_sidebar = not is_same
        app.settings.sidebar_tab = key
        if app.settings.shows_sidebar and not app.is_bare and app.layout.sidebar is None:
            app.say("the window is too narrow for the sidebar at this text size")

    return choose


command("F2", "Sidebar: layers and legend", name="tab_layers")(_tab("layers"))
command("F3", "Sidebar: editing and switches", name="tab_edit")(_tab("edit"))
command("F4", "Sidebar: cell inspector", name="tab_inspect")(_tab("inspect"))
command("F5", "Sidebar: comparison and charts", name="tab_compare")(_tab("compare"))
command("F7", "Sidebar: branches and the script of edits", name="tab_time")(_tab("time"))


@command("Ctrl+I", "Pin the cell under the pointer, or the cell cursor, in the inspector")
def pin_cell(app: "App") -> None:
    point = app.pointer.hover or app.cursor
    if point is not None:
        app.pin(point)
    elif app.pinned is not None:
        app.pinned = None
    else:
        app.say("nothing to pin: point at a cell, or choose one with Ctrl and the arrow keys")


@command("Ctrl+T", "Comparison table of all agents")
def compare_table(app: "App") -> None:
    app.show(ComparisonTable(app))
