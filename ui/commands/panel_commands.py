"""Commands for panels and their agents: focus, add, remove, reorder, and set weight, budget and trials."""

from functools import partial

from sim.world_commands import MAX_NAME_LENGTH, AgentConfig
from ui.commands.app_context import AppContext
from ui.dialogs.agent_editor import AgentEditor
from ui.dialogs.crowd_list import CrowdList
from ui.dialogs.dialog_base import WindowRectCallback
from ui.dialogs.text_prompt import TextPrompt
from ui.model import agent_edits, panel_texts, value_adjustments
from ui.model.ui_command import RUN_MODE, Action, CommandTopic

command = CommandTopic("Panels")


def _create_focus_action(number: int) -> Action:
    def focus(window: AppContext) -> None:
        panels = window.session.run.panels
        if number <= len(panels):
            window.session.focus_panel(panels[number - 1].key)

    return focus


for _n in range(1, 9):
    command(str(_n), f"Focus panel {_n}", name=f"focus_{_n}")(_create_focus_action(_n))


def _focus_neighbouring_panel(window: AppContext, step: int) -> None:
    """Focus the panel that is `step` panels after the focused one; the first panel follows the last."""
    panels = window.session.run.panels
    if panels:
        index = window.session.panel_index(window.session.focused_key)
        window.session.focus_panel(panels[(index + step) % len(panels)].key)


@command("Tab", "Focus the next panel", name="next_panel")
def focus_next_panel(window: AppContext) -> None:
    _focus_neighbouring_panel(window, 1)


@command("Shift+Tab", "Focus the previous panel", name="previous_panel")
def focus_previous_panel(window: AppContext) -> None:
    _focus_neighbouring_panel(window, -1)


def _focused_header_box_callback(window: AppContext) -> WindowRectCallback:
    """Return a callback that returns the header rectangle of the focused panel, or None if the panel is not shown."""
    return lambda: (
        panel_with_boxes[1].header_box
        if (panel_with_boxes := window.map_view.panel_with_key(window.session.focused_key))
        else None
    )


def _focused_panel_box_callback(window: AppContext) -> WindowRectCallback:
    """Return a callback that returns the rectangle of the focused panel, or None if the panel is not shown."""
    return lambda: (
        panel_with_boxes[1].panel_box
        if (panel_with_boxes := window.map_view.panel_with_key(window.session.focused_key))
        else None
    )


@command("Alt+Shift+N", "Rename the focused agent")
def rename_agent(window: AppContext) -> None:
    session, key = window.session, window.session.focused_key
    if session.focused_walker is None:
        window.notify_user("There is no agent to rename")
    elif session.run.crowd_of_panel(key) is not None:
        window.notify_user("A crowd cannot be renamed: its name comes from its scenario")
    else:
        name, label = partial(agent_edits.rename_agent, session, key), agent_edits.agent_label(session, key)
        window.open_dialog(
            TextPrompt(
                window.dialogs,
                "Rename the focused agent",
                label,
                name,
                _name_length_error,
                _focused_header_box_callback(window),
            )
        )


def _name_length_error(name: str) -> str | None:
    """Return an error message if a name has too many characters, else None."""
    return None if len(name) <= MAX_NAME_LENGTH else f"Expected at most {MAX_NAME_LENGTH} characters, got {len(name)}"


@command("E Return", "Edit the focused agent and its parameters", mode=RUN_MODE)
def edit_agent(window: AppContext) -> None:
    """Open the editor of the focused agent, or the list of agents if the panel shows a crowd."""
    session = window.session
    if session.focused_walker and session.run.crowd_of_panel(session.focused_key) is not None:
        window.open_dialog(CrowdList(window.dialogs, session.focused_key))
    elif session.focused_walker:
        window.open_dialog(AgentEditor(window.dialogs, session.focused_key, _focused_panel_box_callback(window)))


def _has_room_for_panel(window: AppContext) -> bool:
    """Return whether another panel fits into the window; notify the user if not."""
    if len(window.session.run.panels) < 8:
        return True
    window.notify_user("There can be at most eight panels. Remove one first ({key:remove_agent}).")
    return False


@command("A Insert", "Add an agent", mode=RUN_MODE)
def add_agent(window: AppContext) -> None:
    if _has_room_for_panel(window):
        window.open_dialog(AgentEditor(window.dialogs, None))


@command("D", "Duplicate the focused agent", mode=RUN_MODE)
def duplicate_agent(window: AppContext) -> None:
    walker = window.session.focused_walker
    if walker and walker.config.group:
        window.notify_user("A crowd cannot be duplicated: it comes from its scenario")
    elif walker and _has_room_for_panel(window):
        label = panel_texts.next_free_label(walker.label, {other.label for other in window.session.run.world.walkers})
        agent_edits.add_agent(window.session, AgentConfig(walker.spec.key, label, dict(walker.params), walker.budget))


@command("Alt+U", "List the agents of the focused crowd", name="crowd")
def open_crowd_list(window: AppContext) -> None:
    if window.session.run.crowd_of_panel(window.session.focused_key) is None:
        window.notify_user("The focused panel shows a single agent, not a crowd")
    else:
        edit_agent(window)


@command("Delete", "Remove the focused agent", mode=RUN_MODE)
def remove_agent(window: AppContext) -> None:
    if window.session.focused_walker:
        agent_edits.remove_agent(window.session, window.session.focused_key)


@command("Ctrl+Shift+Left", "Move the panel left")
def move_panel_left(window: AppContext) -> None:
    agent_edits.move_panel_by_positions(window.session, window.session.focused_key, -1)


@command("Ctrl+Shift+Right", "Move the panel right")
def move_panel_right(window: AppContext) -> None:
    agent_edits.move_panel_by_positions(window.session, window.session.focused_key, 1)


@command("X", "Maximise or restore the focused panel", mode=RUN_MODE, name="maximise")
def toggle_maximised_panel(window: AppContext) -> None:
    window.ui_state.is_maximised = not window.ui_state.is_maximised


def _change_weight_by_steps(window: AppContext, step: int) -> None:
    """Change the weight of the focused agent by `step` steps of its parameter."""
    walker = window.session.focused_walker
    param = walker.spec.param("weight") if walker else None
    if walker is None or param is None:
        window.notify_user("The focused agent has no weight")
        return
    value_adjustments.adjust_agent_param(window.session, window.session.focused_key, param, step)


@command("W", "Increase the weight of the focused agent", mode=RUN_MODE, repeats=True)
def raise_weight(window: AppContext) -> None:
    _change_weight_by_steps(window, 1)


@command("Shift+W", "Decrease the weight of the focused agent", mode=RUN_MODE, repeats=True)
def lower_weight(window: AppContext) -> None:
    _change_weight_by_steps(window, -1)


@command("K", "Increase the shared budget", mode=RUN_MODE, repeats=True)
def raise_budget(window: AppContext) -> None:
    _set_budget_if_enabled(window, "raise_budget", window.session.run.world.budget * 2)


@command("Shift+K", "Decrease the shared budget", mode=RUN_MODE, repeats=True)
def lower_budget(window: AppContext) -> None:
    _set_budget_if_enabled(window, "lower_budget", window.session.run.world.budget // 2)


def _set_budget_if_enabled(window: AppContext, command_id: str, budget: int) -> None:
    """Set the shared budget of the agents; if the command is disabled, notify the user of the reason instead."""
    if reason := window.view_context.disabled_reason_of_command(command_id):
        window.notify_user(reason)
    else:
        value_adjustments.set_shared_budget(window.session, budget)


@command("Alt+L", "Increase the number of trials", repeats=True, name="more_trials")
def increase_trial_count(window: AppContext) -> None:
    window.notify_until_next_edit(value_adjustments.adjust_trial_count(window.session, 1))


@command("Alt+Shift+L", "Decrease the number of trials", repeats=True, name="fewer_trials")
def decrease_trial_count(window: AppContext) -> None:
    window.notify_until_next_edit(value_adjustments.adjust_trial_count(window.session, -1))
