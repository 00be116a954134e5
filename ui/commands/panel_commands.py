"""Commands for panels and their agents: focus, add, remove, reorder, and set weight, budget and trials."""

from functools import partial

from sim.world_commands import MAX_NAME_LENGTH, AgentConfig
from ui.commands.app_context import AppContext
from ui.commands.conditions import NEEDS_AGENT, NEEDS_CROWD
from ui.dialogs.agent_editor import AgentEditor
from ui.dialogs.crowd_list import CrowdList
from ui.dialogs.dialog_base import WindowRectCallback
from ui.dialogs.text_prompt import TextPrompt
from ui.model import agent_edits, panel_texts, value_adjustments
from ui.model.layout import MAX_PANELS
from ui.model.ui_command import (
    RUN_MODE,
    Action,
    CommandContext,
    CommandTopic,
    ContextMenu,
    DisabledReason,
    first_reason,
    requires,
)

command = CommandTopic("Panels")

_NEEDS_SECOND_PANEL = requires(lambda view: len(view.session.run.panels) > 1, "There is no other panel")
_NEEDS_ROOM_FOR_PANEL = requires(
    lambda view: len(view.session.run.panels) < MAX_PANELS,
    f"There can be at most {MAX_PANELS} panels; remove one first ({{key:remove_agent}})",
)
_NEEDS_WEIGHT = requires(
    lambda view: view.session.focused_walker and view.session.focused_walker.spec.param("weight"),
    "The focused agent has no weight",
)
_NEEDS_SHARED_BUDGET = requires(
    lambda view: value_adjustments.agents_with_shared_budget(view.session),
    "No agent shares this budget: each has its own, shown as k in its panel",
)


def _needs_single_agent(reason_for_crowd: str) -> DisabledReason:
    """Return a function that gives a reason unless the focused panel shows one agent, not none and not a crowd."""
    no_crowd = requires(
        lambda view: view.session.run.crowd_of_panel(view.session.focused_key) is None, reason_for_crowd
    )
    return first_reason(NEEDS_AGENT, no_crowd)


def _index_of_focused_panel(view: CommandContext) -> int:
    return view.session.panel_index(view.session.focused_key)


def _needs_panel(number: int) -> DisabledReason:
    return requires(lambda view: number <= len(view.session.run.panels), f"There is no panel {number}")


def _create_focus_action(number: int) -> Action:
    def focus(window: AppContext) -> None:
        window.session.focus_panel(window.session.run.panels[number - 1].key)

    return focus


for _n in range(1, MAX_PANELS + 1):
    command(
        str(_n),
        f"Focus panel {_n}",
        disabled=_needs_panel(_n),
        synonyms=("choose",),
        family=("Focus panel", str(_n)),
        name=f"focus_{_n}",
    )(_create_focus_action(_n))


def _focus_neighbouring_panel(window: AppContext, step: int) -> None:
    """Focus the panel that is `step` panels after the focused one; the first panel follows the last."""
    panels, index = window.session.run.panels, window.session.panel_index(window.session.focused_key)
    window.session.focus_panel(panels[(index + step) % len(panels)].key)


@command("Tab", "Focus the next panel", disabled=_NEEDS_SECOND_PANEL, name="next_panel")
def focus_next_panel(window: AppContext) -> None:
    _focus_neighbouring_panel(window, 1)


@command("Shift+Tab", "Focus the previous panel", disabled=_NEEDS_SECOND_PANEL, name="previous_panel")
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


@command(
    "Alt+Shift+N",
    "Rename the focused agent",
    disabled=_needs_single_agent("A crowd cannot be renamed: its name comes from its scenario"),
    menus={ContextMenu.AGENT: 20},
    synonyms=("label",),
)
def rename_agent(window: AppContext) -> None:
    session, key = window.session, window.session.focused_key
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


@command(
    "E Return",
    "Edit the focused agent and its parameters",
    mode=RUN_MODE,
    disabled=NEEDS_AGENT,
    menus={ContextMenu.AGENT: 10},
    synonyms=("algorithm", "settings"),
)
def edit_agent(window: AppContext) -> None:
    """Open the editor of the focused agent, or the list of agents if the panel shows a crowd."""
    session = window.session
    if session.run.crowd_of_panel(session.focused_key) is not None:
        window.open_dialog(CrowdList(window.dialogs, session.focused_key))
    else:
        window.open_dialog(AgentEditor(window.dialogs, session.focused_key, _focused_panel_box_callback(window)))


@command("A Insert", "Add an agent", mode=RUN_MODE, disabled=_NEEDS_ROOM_FOR_PANEL, synonyms=("new", "panel"))
def add_agent(window: AppContext) -> None:
    window.open_dialog(AgentEditor(window.dialogs, None))


@command(
    "D",
    "Duplicate the focused agent",
    mode=RUN_MODE,
    disabled=first_reason(
        _needs_single_agent("A crowd cannot be duplicated: it comes from its scenario"), _NEEDS_ROOM_FOR_PANEL
    ),
    menus={ContextMenu.AGENT: 30},
    synonyms=("copy", "clone"),
)
def duplicate_agent(window: AppContext) -> None:
    walker = window.session.focused_walker
    if walker is not None:
        label = panel_texts.next_free_label(walker.label, {other.label for other in window.session.run.world.walkers})
        agent_edits.add_agent(window.session, AgentConfig(walker.spec.key, label, dict(walker.params), walker.budget))


@command(
    "Alt+U", "List the agents of the focused crowd", disabled=NEEDS_CROWD, synonyms=("find", "follow"), name="crowd"
)
def open_crowd_list(window: AppContext) -> None:
    edit_agent(window)


@command(
    "Delete",
    "Remove the focused agent",
    mode=RUN_MODE,
    disabled=NEEDS_AGENT,
    menus={ContextMenu.AGENT: 100},
    synonyms=("close", "panel"),
)
def remove_agent(window: AppContext) -> None:
    agent_edits.remove_agent(window.session, window.session.focused_key)


@command(
    "Ctrl+Shift+Left",
    "Move the panel left",
    disabled=requires(lambda view: _index_of_focused_panel(view) > 0, "The panel is the first already"),
    menus={ContextMenu.AGENT: 60},
)
def move_panel_left(window: AppContext) -> None:
    agent_edits.move_panel_by_positions(window.session, window.session.focused_key, -1)


@command(
    "Ctrl+Shift+Right",
    "Move the panel right",
    disabled=requires(
        lambda view: _index_of_focused_panel(view) < len(view.session.run.panels) - 1, "The panel is the last already"
    ),
    menus={ContextMenu.AGENT: 70},
)
def move_panel_right(window: AppContext) -> None:
    agent_edits.move_panel_by_positions(window.session, window.session.focused_key, 1)


@command(
    "X",
    "Maximise or restore the focused panel",
    mode=RUN_MODE,
    is_on=lambda view: view.ui_state.is_maximised,
    menus={ContextMenu.AGENT: 50},
    synonyms=("zoom", "single", "all panels"),
    name="maximise",
)
def toggle_maximised_panel(window: AppContext) -> None:
    window.ui_state.is_maximised = not window.ui_state.is_maximised


def _change_weight_by_steps(window: AppContext, step: int) -> None:
    """Change the weight of the focused agent by `step` steps of its parameter."""
    walker = window.session.focused_walker
    param = walker.spec.param("weight") if walker is not None else None
    assert param is not None, "the command is disabled for agents without a weight"
    value_adjustments.adjust_agent_param(window.session, window.session.focused_key, param, step)


@command("W", "Increase the weight of the focused agent", mode=RUN_MODE, repeats=True, disabled=_NEEDS_WEIGHT)
def raise_weight(window: AppContext) -> None:
    _change_weight_by_steps(window, 1)


@command("Shift+W", "Decrease the weight of the focused agent", mode=RUN_MODE, repeats=True, disabled=_NEEDS_WEIGHT)
def lower_weight(window: AppContext) -> None:
    _change_weight_by_steps(window, -1)


@command(
    "K",
    "Increase the shared budget",
    mode=RUN_MODE,
    repeats=True,
    disabled=_NEEDS_SHARED_BUDGET,
    synonyms=("expansions",),
)
def raise_budget(window: AppContext) -> None:
    value_adjustments.set_shared_budget(window.session, window.session.run.world.budget * 2)


@command(
    "Shift+K",
    "Decrease the shared budget",
    mode=RUN_MODE,
    repeats=True,
    disabled=_NEEDS_SHARED_BUDGET,
    synonyms=("expansions",),
)
def lower_budget(window: AppContext) -> None:
    value_adjustments.set_shared_budget(window.session, window.session.run.world.budget // 2)


@command("Alt+L", "Increase the number of trials", repeats=True, name="more_trials")
def increase_trial_count(window: AppContext) -> None:
    window.notify_until_next_edit(value_adjustments.adjust_trial_count(window.session, 1))


@command("Alt+Shift+L", "Decrease the number of trials", repeats=True, name="fewer_trials")
def decrease_trial_count(window: AppContext) -> None:
    window.notify_until_next_edit(value_adjustments.adjust_trial_count(window.session, -1))
