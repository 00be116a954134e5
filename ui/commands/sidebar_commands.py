"""Commands that show tabs of the sidebar, pin a cell, compare agents in a table, and save charts."""

from functools import partial
from pathlib import Path

from ui.commands.app_context import AppContext
from ui.dialogs.comparison_table import ComparisonTable
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.question import QuestionDialog
from ui.model.ui_command import Action, CommandTopic
from ui.panels import chart_export
from ui.panels.chart_export import CHART_FILE_SUFFIXES

command = CommandTopic("Sidebar")


def _create_tab_action(key: str) -> Action:
    """Return the function of the command that shows a tab of the sidebar."""

    def choose(window: AppContext) -> None:
        """Show the tab of the sidebar, or hide the sidebar if this tab is shown already."""
        is_same = window.settings.sidebar_tab == key and window.map_view.layout.sidebar_box is not None
        window.settings.shows_sidebar = not is_same
        window.settings.sidebar_tab = key
        window.notify_if_sidebar_does_not_fit()

    return choose


command("F2", "Show layers and legend in the sidebar", name="tab_layers")(_create_tab_action("layers"))
command("F3", "Show editing and switches in the sidebar", name="tab_edit")(_create_tab_action("edit"))
command("F4", "Show the cell inspector in the sidebar", name="tab_inspect")(_create_tab_action("inspect"))
command("F5", "Show comparison and charts in the sidebar", name="tab_compare")(_create_tab_action("compare"))
command("F7", "Show branches and script in the sidebar", name="tab_time")(_create_tab_action("time"))


@command("Ctrl+I", "Pin or unpin the cell under the pointer or the cell cursor", name="pin_cell")
def toggle_pinned_cell(window: AppContext) -> None:
    point = window.ui_state.hovered_cell or window.ui_state.cell_cursor
    if point is not None:
        window.toggle_pinned_cell(point)
    elif window.ui_state.pinned_cell is not None:
        window.ui_state.pinned_cell = None
    else:
        window.notify_user("There is no cell to pin. Point at a cell, or choose one with Ctrl and the arrow keys.")


@command("Ctrl+T", "Compare all agents in a table", name="compare_table")
def open_comparison_table(window: AppContext) -> None:
    window.open_dialog(ComparisonTable(window.dialogs))


@command("Ctrl+Shift+E", "Save the charts as SVG, PNG or CSV")
def save_charts(window: AppContext) -> None:
    if not window.session.run.panels:
        window.notify_user("There is no agent, so there are no charts")
        return
    name = f"{window.session.run.scenario.title} charts"

    def ask(suffix: str) -> None:
        window.open_dialog(SaveFileDialog(window.dialogs, "Save the charts", suffix, name, save))

    def save(path: Path) -> None:
        chart_export.save_charts(window.view_context, path)
        window.notify_user(f"Saved {path.name}")

    answers = [
        (suffix[1:].upper(), partial(ask, suffix), "main" * (suffix == ".svg")) for suffix in CHART_FILE_SUFFIXES
    ]
    range_text = (
        f" up to tick {window.session.tick:,}" if window.session.tick < window.session.run.recorded_end_tick else ""
    )
    text = f"All charts of the sidebar{range_text}: SVG for papers, PNG for slides, CSV with every value."
    window.open_dialog(QuestionDialog(window.dialogs, "Save the charts", text, answers))
