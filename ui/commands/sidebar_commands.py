"""Commands that show tabs of the sidebar, pin a cell, compare agents in a table, and save charts."""

from functools import partial
from pathlib import Path

from ui.commands.app_context import AppContext
from ui.dialogs.comparison_table import ComparisonTable
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.question import QuestionDialog
from ui.model.ui_command import Action, CommandTopic, ContextMenu, ToggledState, requires
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


def _is_tab_shown(key: str) -> ToggledState:
    return lambda view: view.settings.shows_sidebar and view.settings.sidebar_tab == key


_TABS = (
    ("F2", "layers", "Show or hide layers and legend in the sidebar", "Layers", ("heat",)),
    ("F3", "edit", "Show or hide editing and switches in the sidebar", "Edit", ("tools",)),
    ("F4", "inspect", "Show or hide the cell inspector in the sidebar", "Inspect", ("why",)),
    ("F5", "compare", "Show or hide comparison and charts in the sidebar", "Compare", ("table", "numbers")),
    ("F7", "time", "Show or hide branches and script in the sidebar", "Time", ("edits",)),
)
"""Key, tab, title, label and synonyms of the commands that show a tab of the sidebar, in the order of the tabs."""

for _key, _tab, _title, _label, _words in _TABS:
    command(_key, _title, button=_label, is_on=_is_tab_shown(_tab), synonyms=_words, name=f"tab_{_tab}")(
        _create_tab_action(_tab)
    )


@command(
    "Ctrl+I",
    "Pin or unpin the cell under the pointer or the cell cursor",
    disabled=requires(
        lambda view: view.ui_state.hovered_cell or view.ui_state.cell_cursor or view.ui_state.pinned_cell,
        "There is no cell to pin: point at a cell, or choose one with the cell cursor ({key:cursor_right})",
    ),
    is_on=lambda view: view.ui_state.pinned_cell is not None,
    synonyms=("inspect",),
    name="pin_cell",
)
def toggle_pinned_cell(window: AppContext) -> None:
    point = window.ui_state.hovered_cell or window.ui_state.cell_cursor
    if point is not None:
        window.toggle_pinned_cell(point)
    else:
        window.ui_state.pinned_cell = None


@command(
    "Ctrl+T",
    "Compare all agents in a table",
    button="All numbers",
    disabled=requires(lambda view: view.session.run.panels, "There is no agent, so there is nothing to compare"),
    synonyms=("measures", "metrics"),
    name="compare_table",
)
def open_comparison_table(window: AppContext) -> None:
    window.open_dialog(ComparisonTable(window.dialogs))


@command(
    "Ctrl+Shift+E",
    "Save the charts as SVG, PNG or CSV",
    button="Charts ...",
    disabled=requires(lambda view: view.session.run.panels, "There is no agent, so there are no charts"),
    menus={ContextMenu.CHART: 10},
    synonyms=("export", "plot", "diagram"),
)
def save_charts(window: AppContext) -> None:
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
