"""Commands for the tabs of the sidebar, the pinned cell, the comparison table and the charts."""

from functools import partial
from pathlib import Path

from ui.commands.window import Window
from ui.dialogs.comparison import ComparisonTable
from ui.dialogs.file_browser import SaveFile
from ui.dialogs.question import Question
from ui.model.command import Action, Topic
from ui.panels import chart_files
from ui.panels.chart_files import SUFFIXES

command = Topic("Sidebar")


def _tab(key: str) -> Action:
    """Return the function of the command that shows a tab of the sidebar."""

    def choose(window: Window) -> None:
        """Show the tab of the sidebar, or hide the sidebar if this tab is shown already."""
        is_same = window.settings.sidebar_tab == key and window.scene.layout.sidebar is not None
        window.settings.shows_sidebar = not is_same
        window.settings.sidebar_tab = key
        window.say_if_too_narrow()

    return choose


command("F2", "Sidebar: layers and legend", name="tab_layers")(_tab("layers"))
command("F3", "Sidebar: editing and switches", name="tab_edit")(_tab("edit"))
command("F4", "Sidebar: cell inspector", name="tab_inspect")(_tab("inspect"))
command("F5", "Sidebar: comparison and charts", name="tab_compare")(_tab("compare"))
command("F7", "Sidebar: branches and the script of edits", name="tab_time")(_tab("time"))


@command("Ctrl+I", "Pin the cell under the pointer, or the cell cursor, in the inspector")
def pin_cell(window: Window) -> None:
    point = window.state.hover or window.state.cursor
    if point is not None:
        window.pin(point)
    elif window.state.pinned is not None:
        window.state.pinned = None
    else:
        window.say("nothing to pin: point at a cell, or choose one with Ctrl and the arrow keys")


@command("Ctrl+T", "Comparison table of all agents")
def compare_table(window: Window) -> None:
    window.show(ComparisonTable(window.dialogs))


@command("Ctrl+Shift+E", "Save the charts as SVG, PNG or CSV")
def save_charts(window: Window) -> None:
    if not window.session.run.panels:
        window.say("there is no agent, and no chart of one")
        return
    name = f"{window.session.run.scenario.title} charts"

    def ask(suffix: str) -> None:
        window.show(SaveFile(window.dialogs, "Save the charts", suffix, name, save))

    def save(path: Path) -> None:
        chart_files.save(window.desk, path)
        window.say(f"wrote {path.name}")

    answers = [(suffix[1:].upper(), partial(ask, suffix), "main" * (suffix == ".svg")) for suffix in SUFFIXES]
    until = f" up to tick {window.session.tick:,}" if window.session.tick < window.session.run.recorded_end else ""
    text = f"All charts of the sidebar{until}: SVG for papers, PNG for slides, CSV with every value."
    window.show(Question(window.dialogs, "Save the charts", text, answers))
