"""Panels and the agents in them: focus, adding and removing, weight, budget, trials."""

from typing import TYPE_CHECKING

from sim.commands import AgentConfig
from ui.dialogs.agent_editor import AgentEditor
from ui.model import wording
from ui.model.command import RUN, Action, Topic

if TYPE_CHECKING:
    from ui.app import App

command = Topic("Panels")


def _focus_number(number: int) -> Action:
    def focus(app: "App") -> None:
        panels = app.session.panels
        if number <= len(panels):
            app.session.focus(panels[number - 1].key)

    return focus


for _n in range(1, 9):
    command(str(_n), f"Focus panel {_n}", name=f"focus_{_n}")(_focus_number(_n))


def _focus_by(app: "App", step: int) -> None:
    panels = app.session.panels
    if panels:
        here = app.session.panel_of(app.session.focused_key)
        app.session.focus(panels[(here + step) % len(panels)].key)


@command("Tab", "Focus the next panel")
def next_panel(app: "App") -> None:
    _focus_by(app, 1)


@command("Shift+Tab", "Focus the previous panel")
def previous_panel(app: "App") -> None:
    _focus_by(app, -1)


@command("E Return", "Agent and parameters of the focused panel", mode=RUN)
def edit_agent(app: "App") -> None:
    if app.session.focused:
        app.edit_agent(app.session.focused_key)


def _has_room(app: "App") -> bool:
    if len(app.session.panels) < 8:
        return True
    app.say("eight panels are the most; remove one first (Delete)")
    return False


@command("A Insert", "Add an agent", mode=RUN)
def add_agent(app: "App") -> None:
    if _has_room(app):
        app.show(AgentEditor(app, None))


@command("D", "Duplicate the focused agent", mode=RUN)
def duplicate_agent(app: "App") -> None:
    walker = app.session.focused
    if walker and _has_room(app):
        label = wording.next_label(walker.label, {other.label for other in app.session.world.walkers})
        app.session.add_agent(AgentConfig(walker.spec.key, label, dict(walker.params), walker.budget))


@command("Delete", "Remove the focused agent")
def remove_agent(app: "App") -> None:
    if app.session.focused:
        app.remove_agent(app.session.focused_key)


@command("Ctrl+Shift+Left", "Move the panel one place back")
def move_panel_left(app: "App") -> None:
    app.session.move_panel(app.session.focused_key, -1)


@command("Ctrl+Shift+Right", "Move the panel one place on")
def move_panel_right(app: "App") -> None:
    app.session.move_panel(app.session.focused_key, 1)


@command("X", "Show only the focused panel, or all", mode=RUN)
def maximise(app: "App") -> None:
    app.is_maximised = not app.is_maximised


def _step_weight(app: "App", step: int) -> None:
    walker = app.session.focused
    param = walker.spec.param("weight") if walker else None
    if walker is None or param is None:
        app.say("the focused agent has no weight")
        return
    app.step_param(app.session.focused_key, param, step)


@command("W", "More weight for the focused agent", mode=RUN, repeats=True)
def raise_weight(app: "App") -> None:
    _step_weight(app, 1)


@command("Shift+W", "Less weight for the focused agent", mode=RUN, repeats=True)
def lower_weight(app: "App") -> None:
    _step_weight(app, -1)


@command("K", "A larger budget for all", mode=RUN, repeats=True)
def raise_budget(app: "App") -> None:
    app.set_budget(app.session.world.budget * 2)


@command("Shift+K", "A smaller budget for all", mode=RUN, repeats=True)
def lower_budget(app: "App") -> None:
    app.set_budget(app.session.world.budget // 2)


@command("Alt+L", "More trials for agents that learn", repeats=True)
def more_trials(app: "App") -> None:
    app.step_trials(1)


@command("Alt+Shift+L", "Fewer trials", repeats=True)
def fewer_trials(app: "App") -> None:
    app.step_trials(-1)
