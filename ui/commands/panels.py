"""Commands for panels and their agents: focus, add, remove, reorder, and set weight, budget and trials."""

from functools import partial

from sim.commands import MAX_NAME, AgentConfig
from ui.commands.window import Window
from ui.dialogs.agent_editor import AgentEditor
from ui.dialogs.base import Where
from ui.dialogs.crowd import CrowdList
from ui.dialogs.text_prompt import TextPrompt
from ui.model import agent_edits, turning, wording
from ui.model.command import RUN, Action, Topic

command = Topic("Panels")


def _focus_command(number: int) -> Action:
    def focus(window: Window) -> None:
        panels = window.session.run.panels
        if number <= len(panels):
            window.session.focus(panels[number - 1].key)

    return focus


for _n in range(1, 9):
    command(str(_n), f"Focus panel {_n}", name=f"focus_{_n}")(_focus_command(_n))


def _focus_neighbour(window: Window, step: int) -> None:
    """Focus the panel that is `step` panels after the focused one; the first panel follows the last."""
    panels = window.session.run.panels
    if panels:
        index = window.session.panel_of(window.session.focused_key)
        window.session.focus(panels[(index + step) % len(panels)].key)


@command("Tab", "Focus the next panel", name="next_panel")
def next_panel(window: Window) -> None:
    _focus_neighbour(window, 1)


@command("Shift+Tab", "Focus the previous panel", name="previous_panel")
def previous_panel(window: Window) -> None:
    _focus_neighbour(window, -1)


def _header(window: Window) -> Where:
    """Return a callback that returns the header rectangle of the focused panel, or None if the panel is not shown."""
    return lambda: found[1].header if (found := window.scene.panel_of(window.session.focused_key)) else None


def _panel(window: Window) -> Where:
    """Return a callback that returns the rectangle of the focused panel, or None if the panel is not shown."""
    return lambda: found[1].whole if (found := window.scene.panel_of(window.session.focused_key)) else None


@command("Alt+Shift+N", "Rename the focused agent")
def rename_agent(window: Window) -> None:
    session, key = window.session, window.session.focused_key
    if session.focused is None:
        window.say("There is no agent to rename")
    elif session.run.crowd(key) is not None:
        window.say("A crowd cannot be renamed: its name comes from its scenario")
    else:
        name, label = partial(agent_edits.name_agent, session, key), agent_edits.label_of(session, key)
        window.show(TextPrompt(window.dialogs, "Rename the focused agent", label, name, _too_long, _header(window)))


def _too_long(name: str) -> str | None:
    """Return an error message if a name has too many characters, else None."""
    return None if len(name) <= MAX_NAME else f"Expected at most {MAX_NAME} characters, got {len(name)}"


@command("E Return", "Edit the focused agent and its parameters", mode=RUN)
def edit_agent(window: Window) -> None:
    """Open the editor of the focused agent, or the list of agents if the panel shows a crowd."""
    session = window.session
    if session.focused and session.run.crowd(session.focused_key) is not None:
        window.show(CrowdList(window.dialogs, session.focused_key))
    elif session.focused:
        window.show(AgentEditor(window.dialogs, session.focused_key, _panel(window)))


def _has_room(window: Window) -> bool:
    """Return whether another panel fits into the window; notify the user if not."""
    if len(window.session.run.panels) < 8:
        return True
    window.say("There can be at most eight panels. Remove one first ({key:remove_agent}).")
    return False


@command("A Insert", "Add an agent", mode=RUN)
def add_agent(window: Window) -> None:
    if _has_room(window):
        window.show(AgentEditor(window.dialogs, None))


@command("D", "Duplicate the focused agent", mode=RUN)
def duplicate_agent(window: Window) -> None:
    walker = window.session.focused
    if walker and walker.config.group:
        window.say("A crowd cannot be duplicated: it comes from its scenario")
    elif walker and _has_room(window):
        label = wording.next_label(walker.label, {other.label for other in window.session.run.world.walkers})
        agent_edits.add(window.session, AgentConfig(walker.spec.key, label, dict(walker.params), walker.budget))


@command("Alt+U", "List the agents of the focused crowd", name="crowd")
def list_crowd(window: Window) -> None:
    if window.session.run.crowd(window.session.focused_key) is None:
        window.say("The focused panel shows a single agent, not a crowd")
    else:
        edit_agent(window)


@command("Delete", "Remove the focused agent", mode=RUN)
def remove_agent(window: Window) -> None:
    if window.session.focused:
        agent_edits.remove(window.session, window.session.focused_key)


@command("Ctrl+Shift+Left", "Move the panel left")
def move_panel_left(window: Window) -> None:
    agent_edits.move_panel(window.session, window.session.focused_key, -1)


@command("Ctrl+Shift+Right", "Move the panel right")
def move_panel_right(window: Window) -> None:
    agent_edits.move_panel(window.session, window.session.focused_key, 1)


@command("X", "Maximise or restore the focused panel", mode=RUN, name="maximise")
def maximise(window: Window) -> None:
    window.state.is_maximised = not window.state.is_maximised


def _step_weight(window: Window, step: int) -> None:
    """Change the weight of the focused agent by `step` steps of its parameter."""
    walker = window.session.focused
    param = walker.spec.param("weight") if walker else None
    if walker is None or param is None:
        window.say("The focused agent has no weight")
        return
    turning.turn_param(window.session, window.session.focused_key, param, step)


@command("W", "Increase the weight of the focused agent", mode=RUN, repeats=True)
def raise_weight(window: Window) -> None:
    _step_weight(window, 1)


@command("Shift+W", "Decrease the weight of the focused agent", mode=RUN, repeats=True)
def lower_weight(window: Window) -> None:
    _step_weight(window, -1)


@command("K", "Increase the shared budget", mode=RUN, repeats=True)
def raise_budget(window: Window) -> None:
    _set_budget_if_enabled(window, "raise_budget", window.session.run.world.budget * 2)


@command("Shift+K", "Decrease the shared budget", mode=RUN, repeats=True)
def lower_budget(window: Window) -> None:
    _set_budget_if_enabled(window, "lower_budget", window.session.run.world.budget // 2)


def _set_budget_if_enabled(window: Window, command_id: str, budget: int) -> None:
    """Set the shared budget of the agents; if the command is disabled, notify the user of the reason instead."""
    if reason := window.desk.disabled_reason(command_id):
        window.say(reason)
    else:
        turning.set_budget(window.session, budget)


@command("Alt+L", "Increase the number of trials", repeats=True, name="more_trials")
def more_trials(window: Window) -> None:
    window.tell(turning.turn_trials(window.session, 1))


@command("Alt+Shift+L", "Decrease the number of trials", repeats=True, name="fewer_trials")
def fewer_trials(window: Window) -> None:
    window.tell(turning.turn_trials(window.session, -1))
