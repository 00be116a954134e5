"""Stop rules: the events at which a run started with "run until" pauses."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.kernels import log
from ui.model.panel_keys import PanelKey
from ui.model.run import Run


@dataclass(frozen=True)
class AgentTick:
    """What an agent did in the last tick, as input of stop rules."""

    log_row: np.void  # row of the agent's log for that tick, of dtype log.ROW
    has_moved: bool
    is_focused: bool


@dataclass(frozen=True)
class StopRule:
    """Rule that pauses a run when an event happens to an agent."""

    name: str
    is_met: Callable[[AgentTick], bool]  # test for the event, called for every agent after every tick

    def is_met_in_run(self, run: Run, focused: PanelKey) -> bool:
        """Return whether the event of this rule happened to any agent on screen in the last tick."""
        for branch in run.shown_branches:
            history = branch.timeline.run_history
            for walker in branch.timeline.world.walkers:
                is_new = walker.log_rows.size and walker.recent_rows.tick + walker.log_rows.size == run.displayed_tick
                if is_new and history.has_record(walker.id):  # after undo, an agent may have no record yet
                    key = PanelKey(branch.number, walker.id)
                    record = history.record(walker.id)
                    has_moved = record.cell_at_tick(run.displayed_tick) != record.cell_at_tick(run.displayed_tick - 1)
                    if self.is_met(AgentTick(walker.log_rows[-1], has_moved, key == focused)):
                        return True
        return False


STOP_RULES = {
    "move": StopRule("next move", lambda step: step.is_focused and step.has_moved),
    "back_move": StopRule("next back-move", lambda step: bool(step.log_row["marks"] & log.BACK_MOVE)),
    "restart": StopRule("next restart", lambda step: bool(step.log_row["marks"] & log.RESTARTED)),
    "arrival": StopRule("next arrival", lambda step: bool(step.log_row["marks"] & log.ARRIVED)),
}


@dataclass(frozen=True)
class StopCondition:
    """Condition at which a "run until" pauses: an event of an agent, or a tick."""

    stop_rule: StopRule | None
    tick: int | None
    begin_tick: int  # tick at which the "run until" began; earlier events do not count

    @property
    def name(self) -> str:
        return self.stop_rule.name if self.stop_rule else f"tick {self.tick}"

    def is_condition_met(self, run: Run, focused: PanelKey, tick: int) -> bool:
        """Return whether the condition became true in the last tick."""
        if tick <= self.begin_tick:
            return False
        is_there = self.tick is not None and tick >= self.tick
        return is_there or (self.stop_rule is not None and self.stop_rule.is_met_in_run(run, focused))
