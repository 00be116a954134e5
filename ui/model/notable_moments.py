"""Notable moments of the run on screen, as text for the list of moments and for "first difference".

The search in the records is in sim/time/run_moments.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sim.agent_api import PHASE_WORDS
from sim.kernels import log
from sim.plurals import count_with_noun
from sim.time.agent_records import AgentRecord
from sim.time.run_moments import (
    AgentDifference,
    BranchDifference,
    costliest_restart,
    costliest_tick,
    first_agent_difference,
    first_branch_difference,
    longest_scrub,
)
from ui.model.panel_keys import PanelKey
from ui.model.panel_texts import RunNames
from ui.model.run import Panel
from ui.model.session import Session

MIN_SCRUB = 3
"""Minimum number of moves of a scrub worth listing; stepping back and forth once is not."""

_MARK_TEXTS = {
    log.BACK_MOVE: "a back-move",
    log.RESTARTED: "a restart",
    log.BOUNCED: "a bounce",
    log.TRIAL_BEGAN: "the beginning of a trial",
    log.ARRIVED: "an arrival",
    log.CAP_HIT: "its largest lookahead",
    log.REENTERED: "a re-entry",
}


@dataclass(frozen=True)
class Moment:
    """Notable moment of the run in one panel, with its tick."""

    tick: int
    title: str
    text: str
    panel_key: PanelKey  # panel of the agent to which the moment belongs


def notable_moments(session: Session) -> list[Moment]:
    """Return the notable moments of the recorded run: for each kind, the most extreme one of all agents on screen."""
    moments = [
        _largest_scrub_moment(session),
        _costliest_tick_moment(session),
        _costliest_restart_moment(session),
        first_difference_moment(session),
    ]
    return [moment for moment in moments if moment is not None]


def first_difference_moment(session: Session) -> Moment | None:
    """Return the first tick at which the two compared panels (A and B) differ, as a moment; None if there is none.

    The panels show two agents of one branch, or belong to two branches, which are then compared as a whole.
    """
    a, b = session.compared_panel_indices()
    if a == b:
        return None
    panel_a, panel_b = session.run.panels[a], session.run.panels[b]
    if panel_a.key.branch != panel_b.key.branch:
        return _branch_difference_moment(session, panel_a, panel_b)
    last = session.run.recorded_end_tick
    difference = first_agent_difference(_record_of_panel(session, panel_a), _record_of_panel(session, panel_b), last)
    if difference is None:
        return None
    names = panel_a.walker_view.label, panel_b.walker_view.label
    return Moment(
        difference.tick,
        "First difference between A and B",
        _agent_difference_text(session, difference, names),
        panel_a.key,
    )


def _record_of_panel(session: Session, panel: Panel) -> AgentRecord:
    """Return the recorded ticks of the agent of a panel."""
    return session.run.branch_tree[panel.key.branch].timeline.run_history.agent_records[panel.key.agent]


def _panels_with_records(session: Session) -> Iterator[tuple[Panel, AgentRecord]]:
    """Yield each panel that shows a single agent, with the recorded ticks of the agent."""
    for panel in session.run.panels:
        if panel.crowd is None:
            yield panel, _record_of_panel(session, panel)


def _cell_text(session: Session, cell: int) -> str:
    """Return the coordinates of a cell as text."""
    return "({}, {})".format(*session.run.world.grid.xy(cell))


def _largest_scrub_moment(session: Session) -> Moment | None:
    last = session.run.recorded_end_tick
    scrubs = [
        (scrub, panel) for panel, record in _panels_with_records(session) if (scrub := longest_scrub(record, last))
    ]
    if not scrubs:
        return None
    scrub, panel = max(scrubs, key=lambda pair: pair[0].moves)
    if scrub.moves < MIN_SCRUB:
        return None
    cells_text = count_with_noun(scrub.cells, "cell")
    text = f"{panel.walker_view.label}: {scrub.moves:,} moves in a row onto cells visited before, over {cells_text}"
    return Moment(scrub.begin_tick, "Largest scrub", f"{text}, to tick {scrub.end:,}", panel.key)


def _costliest_tick_moment(session: Session) -> Moment | None:
    last = session.run.recorded_end_tick
    ticks_and_panels = [
        (tick, panel) for panel, record in _panels_with_records(session) if (tick := costliest_tick(record, last))
    ]
    if not ticks_and_panels:
        return None
    tick, panel = max(ticks_and_panels, key=lambda pair: pair[0].expansions)
    text = f"{panel.walker_view.label}: {count_with_noun(tick.expansions, 'cell')} expanded"
    return Moment(tick.tick, "Most expensive tick", text, panel.key)


def _costliest_restart_moment(session: Session) -> Moment | None:
    last = session.run.recorded_end_tick
    restarts = [
        (restart, panel)
        for panel, record in _panels_with_records(session)
        if (restart := costliest_restart(record, last))
    ]
    if not restarts:
        return None
    restart, panel = max(restarts, key=lambda pair: pair[0].expansions)
    expansions = count_with_noun(restart.expansions, "expansion")
    text = f"{panel.walker_view.label}: {expansions} until its next restart or its end"
    return Moment(restart.tick, "Most expensive restart", text, panel.key)


# --- differences ----------------------------------------------------------------------------------


def _agent_difference_text(session: Session, difference: AgentDifference, names: tuple[str, str]) -> str:
    values = (
        _field_value_text(session, difference.field_name, difference.first_value),
        _field_value_text(session, difference.field_name, difference.second_value),
    )
    verb = {"cell": "goes to", "start": "begins at", "expansions": "expands", "marks": "has", "phase": "is"}[
        difference.field_name
    ]
    return f"{names[0]} {verb} {values[0]}, {names[1]} {values[1]}"


def _field_value_text(session: Session, field: str, value: int) -> str:
    """Return a value in which two agents differ as text; `field` is the kind of value, such as "cell" or "phase"."""
    if field in ("cell", "start"):
        return _cell_text(session, value)
    if field == "phase":
        return PHASE_WORDS[value]
    return f"{value:,}" if field == "expansions" else _event_names_text(value)


def _event_names_text(marks: int) -> str:
    """Return the events marked in a tick as text, such as "a back-move and a restart"."""
    event_texts = [text for mark, text in _MARK_TEXTS.items() if marks & mark]
    return " and ".join(event_texts) or "no such event"


def _branch_difference_moment(session: Session, panel_a: Panel, panel_b: Panel) -> Moment | None:
    branches = session.run.branch_tree[panel_a.key.branch], session.run.branch_tree[panel_b.key.branch]
    last = min(branch.timeline.run_history.recorded_end for branch in branches)
    difference = first_branch_difference(branches[0].timeline, branches[1].timeline, last)
    if difference is None:
        return None
    names = branches[0].name, branches[1].name
    return Moment(
        difference.tick,
        "First difference between the branches",
        _branch_difference_text(session, difference, names, panel_a),
        panel_a.key,
    )


def _branch_difference_text(
    session: Session, difference: BranchDifference, names: tuple[str, str], panel: Panel
) -> str:
    timeline = session.run.branch_tree[panel.key.branch].timeline
    if difference.log_entry is not None:
        return (
            f"only in {names[0 if difference.is_in_first_branch else 1]}: "
            f"{difference.log_entry.command.describe_change(RunNames(timeline))}"
        )
    assert difference.agent_difference is not None
    label = timeline.run_history.agent_records[difference.agent].label
    return f"{label}: {_agent_difference_text(session, difference.agent_difference, names)}"
