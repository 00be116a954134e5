"""What a user does with agents: adding, replacing, removing, setting and naming them, moving their panels.

What an agent is told, all of its crowd are. An agent that needs prepared data comes when that is there
(`Session.when_ready`). No pygame here.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from agents.own_files import pinned
from sim import commands
from sim.commands import AgentConfig, Command
from sim.params import ConfigError, Value
from sim.walker import Walker
from ui.model.keys import PanelKey
from ui.model.session import Session


def _nothing() -> None:
    """There is nothing to go on with."""


# --- which there are ------------------------------------------------------------------------------


def add(session: Session, config: AgentConfig) -> bool:
    """Put another agent on the start; False (and a message) when it is not legal."""
    return _put(session, config, partial(_add, session, config))


def _put(session: Session, config: AgentConfig, put: Callable[[], None]) -> bool:
    """Do this as soon as what the agent needs is there; False (and a message) when it is not legal."""
    world = session.run.world
    try:
        world.check_room()
        world.check_agent(config)
    except ConfigError as error:
        session.told.messages.extend(error.problems)
        return False
    session.when_ready((config,), world.grid, put)
    return True


def _add(session: Session, config: AgentConfig) -> None:
    with session.history.doing():
        session.do(commands.AddAgent(pinned(config)))
        session.focus(PanelKey(session.run.front, session.run.world.walkers[-1].id))


def replace_agent(session: Session, key: PanelKey, config: AgentConfig, then: Callable[[], None] = _nothing) -> bool:
    """Another agent in the same panel; it begins at the start as soon as what it needs is there."""
    session.focus(key)
    return _put(session, config, partial(_replace, session, key, config, then))


def _replace(session: Session, key: PanelKey, config: AgentConfig, then: Callable[[], None]) -> None:
    session.focus(key)
    place, gone = session.panel_of(key), session.focused
    with session.doing(f"{gone.label if gone else 'an agent'} replaced"):
        _add(session, config)
        new = session.focused_key
        session.do(commands.RemoveAgent(key.agent))
        _put_panel(session, new, place)
        session.focus(new)
    then()


def remove(session: Session, key: PanelKey) -> None:
    session.focus(key)
    session.do(_told_to(session, key, commands.RemoveAgent(key.agent)))


# --- what they are told ---------------------------------------------------------------------------


def _told_to(session: Session, key: PanelKey, command: commands.Told) -> Command:
    """What the agent of a panel is told, or all of its crowd."""
    walker = session.run.walker(key)
    group = walker.config.group if walker else ""
    return commands.ToGroup(group, replace(command, agent=0)) if group else command


def set_param(session: Session, key: PanelKey, name: str, value: Value, then: Callable[[], None] = _nothing) -> None:
    """Change a parameter as soon as what the agent then needs is there; `then` also hears of a refusal."""
    session.focus(key)
    walker = session.run.walker(key)
    param = walker.spec.param(name) if walker else None
    if walker is None or param is None:
        return
    try:
        legal = param.parse(value, f"{walker.label}: {name}")
    except ConfigError as error:
        session.told.messages.extend(error.problems)
        then()
        return
    if legal != walker.params[name]:
        config = replace(walker.config, params={**walker.params, name: legal})
        session.when_ready((config,), session.run.world.grid, partial(_set_param, session, key, name, legal, then))


def _set_param(session: Session, key: PanelKey, name: str, value: Value, then: Callable[[], None]) -> None:
    session.focus(key)
    session.do(_told_to(session, key, commands.SetParam(key.agent, name, value)))
    then()


def set_budget(session: Session, key: PanelKey, budget: int | None) -> None:
    """A budget of its own for one agent, or the shared one again."""
    session.focus(key)
    walker = session.run.walker(key)
    told = _told_to(session, key, commands.SetBudget(budget, key.agent))
    do_if_allowed(session, [walker] if walker else [], budget or session.run.world.budget, told)


def do_if_allowed(session: Session, agents: Iterable[Walker], budget: int, command: Command) -> None:
    """Do a command that gives these agents a budget, unless one of them cannot have it: then say why."""
    complaints = ((walker, walker.spec.check_budget(budget, walker.params)) for walker in agents)
    refused = next((f"{walker.label}: {complaint}" for walker, complaint in complaints if complaint), "")
    if refused:
        session.told.messages.append(refused)
    else:
        session.do(command)


def move_goal(session: Session, key: PanelKey, cell: int) -> None:
    """Another goal for the agent of a panel, or one for all of its crowd; theirs alone from then on."""
    session.focus(key)
    session.do(_told_to(session, key, commands.MoveGoal(cell, key.agent)))


# --- names and places -----------------------------------------------------------------------------


def label_of(session: Session, key: PanelKey) -> str:
    """What the agent of a panel is called."""
    walker = session.run.walker(key)
    return "" if walker is None else session.run.tree[key.branch].timeline.labels_of([walker])[0]


def name_agent(session: Session, key: PanelKey, label: str) -> None:
    """Another name for an agent; none at all: that of its algorithm."""
    session.focus(key)
    walker, before = session.run.walker(key), label_of(session, key)
    if walker is not None and not walker.config.group and label != before:
        with session.doing(f"{before} named {label or walker.spec.name}"):
            session.do(commands.NameAgent(walker.id, "" if label == walker.spec.name else label))


def move_panel(session: Session, key: PanelKey, by: int) -> None:
    """Another place among the panels. Agents do not meet, so their order changes nothing else."""
    walker = session.run.walker(key)
    with session.doing(f"{walker.label if walker else 'a panel'} moved"):
        _put_panel(session, key, max(0, session.panel_of(key) + by))


def _put_panel(session: Session, key: PanelKey, place: int) -> None:
    """Give a panel this place among the others, or the last one if there are fewer."""
    others = [panel.key for panel in session.run.panels if panel.key != key]
    session.run.arrange([*others[:place], key, *others[place:]])
