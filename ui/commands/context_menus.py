"""Context menus of a cell, a selection, a switch, an agent, the timeline, a script entry and a chart."""

from collections.abc import Callable
from functools import partial

from sim.world_commands import DefineSwitch
from ui.commands.app_context import AppContext
from ui.model import script_entries, value_adjustments
from ui.model.context_menu import (
    AgentTarget,
    ChartTarget,
    Menu,
    MenuItem,
    MenuTarget,
    ScriptEntryTarget,
    SwitchTarget,
    TimeLineTarget,
)
from ui.model.drawing_tools import Point
from ui.model.panel_texts import RunNames
from ui.model.run import Panel
from ui.model.script_entries import ScriptEntry
from ui.model.ui_command import ContextMenu
from ui.panels.time_line import tick_at_window_x

WindowPosition = tuple[int, int]  # x and y in the window, in pixels


def context_menu_at(window: AppContext, position: WindowPosition) -> Menu | None:
    """Return the context menu for a position in the window; None if there is no menu for it."""
    region = window.canvas.menu_region_at(position)
    if region is not None and region.menu is not None:
        return menu_of_target(window, region.menu, position)
    panel_with_boxes = window.map_view.panel_at_position(position)
    if panel_with_boxes is None:
        return None
    return cell_context_menu(
        window, panel_with_boxes[0], window.map_view.map_cell_at(*panel_with_boxes, position), position
    )


def menu_of_target(window: AppContext, target: MenuTarget, position: WindowPosition) -> Menu | None:
    """Return the context menu of an object in the window; None if the object has been removed since it was drawn."""
    match target:
        case AgentTarget(panel_key):
            panel_with_boxes = window.map_view.panel_with_key(panel_key)
            return agent_context_menu(window, panel_with_boxes[0], position) if panel_with_boxes is not None else None
        case SwitchTarget(name):
            return switch_context_menu(window, name, position)
        case ScriptEntryTarget(entry_id):
            entries = script_entries.script_entries(window.session.run)
            entry = next((entry for entry in entries if entry.first_log_entry_id == entry_id), None)
            return script_entry_context_menu(window, entry, position) if entry is not None else None
        case TimeLineTarget():
            return time_line_context_menu(window, position)
        case ChartTarget():
            return Menu("Charts", _menu_items(window, ContextMenu.CHART), position)


def context_menu_for_menu_key(window: AppContext) -> Menu | None:
    """Return the context menu that the menu key opens: of the cell at the cell cursor, else of the focused agent."""
    panel_with_boxes = window.map_view.panel_with_key(window.session.focused_key)
    if panel_with_boxes is None:
        return None
    panel, boxes = panel_with_boxes
    if window.ui_state.cell_cursor is None:
        return agent_context_menu(window, panel, (boxes.header_box[0], boxes.header_box[1] + boxes.header_box[3]))
    x, y = window.map_view.camera_of_panel(panel.key, boxes).map_to_px(*window.ui_state.cell_cursor)
    return cell_context_menu(
        window, panel, window.ui_state.cell_cursor, (boxes.map_box[0] + int(x), boxes.map_box[1] + int(y))
    )


def _do_nothing() -> None:
    """Do nothing before the command of a menu item runs."""


def _menu_items(window: AppContext, menu: ContextMenu, prepare: Callable[[], object] = _do_nothing) -> list[MenuItem]:
    """Return the items of all commands that belong to a menu.

    Args:
        window: Window that runs the commands.
        menu: Menu.
        prepare: Function that is called before the command runs, for example to focus a panel.
    """

    def run(command_id: str) -> None:
        prepare()
        window.run_command(command_id)

    desk = window.view_context
    return [
        MenuItem(
            command.title,
            partial(run, command.id),
            desk.shortcut_of_command(command.id),
            desk.disabled_reason_of_command(command.id),
            desk.is_command_on(command.id),
        )
        for command in window.command_table.commands_of_menu(menu)
    ]


def cell_context_menu(window: AppContext, panel: Panel, point: Point, position: WindowPosition) -> Menu | None:
    grid = window.session.run.world.grid
    if not grid.contains_point(*point):
        return None
    window.session.focus_panel(panel.key)
    editor = window.map_editor
    if window.ui_state.selected_cells is not None and window.ui_state.selected_cells.contains_point(point):
        return selection_context_menu(window, position)
    is_free = grid.is_free(grid.cell(*point))
    items = [MenuItem("Block this cell" if is_free else "Free this cell", partial(editor.toggle_cell, point))]
    if is_free:
        if not editor.has_crowd_goal:
            items.append(MenuItem("Move the goal here", partial(editor.move_goal_to, point)))
        if editor.edited_crowd is not None:
            of_all = f"Move the goal of all agents of {editor.edited_crowd.name} here"
            items.append(MenuItem(of_all, partial(editor.move_goal_of_crowd_to, point)))
        items.append(MenuItem("Move the start here (starts over at tick 0)", partial(editor.move_start_to, point)))
    is_pinned = window.ui_state.pinned_cell == point
    pin_label = "Unpin this cell" if is_pinned else "Pin this cell in the inspector"
    items.append(MenuItem(pin_label, partial(window.toggle_pinned_cell, point)))
    select = partial(_edit_and_notify_of_result, window, partial(editor.select_tool.select_connected_cells, point))
    items.append(MenuItem(f"Select all {'free' if is_free else 'blocked'} cells connected to it", select))
    if window.ui_state.copied_piece is not None:
        items.append(MenuItem("Paste here", partial(_paste_cells_at, window, point)))
    items += _menu_items(window, ContextMenu.CELL)
    return Menu(f"Cell ({point[0]}, {point[1]})", items, position)


def _edit_and_notify_of_result(window: AppContext, act: Callable[[], str]) -> None:
    """Call a function that edits the map or the selection, and show the message that it returns, unless empty."""
    if text := act():
        window.notify_until_next_edit(text)


def _paste_cells_at(window: AppContext, point: Point) -> None:
    """Paste the copied cells at a cell of the map."""
    window.map_editor.select_tool.paste_piece()
    _edit_and_notify_of_result(window, partial(window.map_editor.select_tool.put_down_piece, point))


def selection_context_menu(window: AppContext, position: WindowPosition) -> Menu:
    items = [*_menu_items(window, ContextMenu.SELECTION), MenuItem("Deselect", window.ui_state.clear_selection)]
    return Menu(f"Selected: {window.ui_state.selected_cells}", items, position)


def switch_context_menu(window: AppContext, name: str, position: WindowPosition) -> Menu | None:
    """Return the context menu of a switch; None if the switch has been removed since it was drawn."""
    session = window.session
    cells = session.run.world.switches.get(name)
    if cells is None:
        return None
    label = "Free its cells" if session.run.world.switch_states()[name] else "Block its cells"
    items = [
        MenuItem(
            label,
            partial(_edit_and_notify_of_result, window, partial(value_adjustments.toggle_map_switch, session, name)),
        ),
        MenuItem(
            "Select its cells",
            partial(_edit_and_notify_of_result, window, partial(window.map_editor.select_tool.select_cells, cells)),
        ),
        MenuItem("Remove the switch", partial(session.submit_command, DefineSwitch(name, ()))),
    ]
    return Menu(name, items, position)


def agent_context_menu(window: AppContext, panel: Panel, position: WindowPosition) -> Menu:
    window.session.focus_panel(panel.key)  # the commands of the menu concern the focused agent
    focus = partial(window.session.focus_panel, panel.key)
    return Menu(panel.walker_view.label, _menu_items(window, ContextMenu.AGENT, focus), position)


def time_line_context_menu(window: AppContext, position: WindowPosition) -> Menu:
    tick = tick_at_window_x(window.view_context, position[0])
    seek = partial(window.player.pause_and_seek, tick)
    items = [MenuItem("Go to this tick", seek), *_menu_items(window, ContextMenu.TIME_LINE, seek)]
    return Menu(f"Tick {tick:,}", items, position)


def script_entry_context_menu(window: AppContext, entry: ScriptEntry, position: WindowPosition) -> Menu:
    session = window.session
    items = [
        MenuItem("Go to its tick", partial(window.player.pause_and_seek, entry.tick)),
        MenuItem(
            "Disable" if entry.is_enabled else "Enable", partial(script_entries.toggle_script_entry, session, entry)
        ),
        MenuItem("Move ten ticks earlier", partial(script_entries.move_script_entry, session, entry, -10)),
        MenuItem("Move ten ticks later", partial(script_entries.move_script_entry, session, entry, 10)),
        MenuItem("Duplicate ten ticks later", partial(script_entries.duplicate_script_entry, session, entry)),
        MenuItem("Delete", partial(script_entries.delete_script_entry, session, entry)),
    ]
    return Menu(
        entry.representative_command.describe_change(RunNames(session.run.focused_branch_timeline)), items, position
    )
