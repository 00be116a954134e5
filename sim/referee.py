"""The referee: lets an agent that is in no crew plan and act, judges what it did, and stops who breaks a rule.

    referee.let_act(walker, tick, ticks, budget)    how many of these ticks it had something to do in; it has its rows
    referee.stop(walker, what, tick)                it stands still from now on
    referee.check_claim(walker, tick)               stop it if it says that it is at its end and cannot be
    referee.end_trial(walker)                       it stands at its goal

What is illegal a kernel finds (sim/kernels/referee.py), for crews in the call in which they act (sim/crew.py); what
that breaks in words stands in rules.py. An agent that learns is put back on its start by the referee.
"""

from collections.abc import Callable
from typing import cast

import numpy as np

from sim.agent_api import Learner, Status
from sim.commands import Note
from sim.grid import Grid
from sim.kernels import log, referee
from sim.kernels.distance import UNLIMITED
from sim.measuring import Measuring
from sim.metrics import Trial
from sim.placing import cheapest_way
from sim.rules import AgentFailedError, Offence, StoppedAgent, wrong_count, wrong_row
from sim.turns import Seating
from sim.walker import Walker


class Referee:
    def __init__(
        self,
        grid: Grid,
        measuring: Measuring,
        seating: Seating,
        notes: list[Note],
        stopwatch: Callable[[], float] | None = None,
    ) -> None:
        """`notes`: where it says what it did. `stopwatch` times the agents' planning, in `planning_s`."""
        self.grid, self.measuring, self.notes, self._seating = grid, measuring, notes, seating
        self.stopwatch = stopwatch
        self.planning_s: dict[int, float] = {}  # by agent: what its ticks took
        self.last_stop = -1  # the last tick in which it stopped somebody

    # --- asking and judging -----------------------------------------------------------------------

    def let_act(self, walker: Walker, tick: int, ticks: int, budget: int) -> int:
        """Let an agent plan and act from `tick` on; returns the ticks until it was done, `ticks` if it is not."""
        status = walker.agent.status
        if status is not Status.ACTIVE and walker.is_done:
            return 0
        rows = walker.new_log(ticks)
        done = 0
        step = ticks if walker.spec.runs_in_bulk else 1
        while done < ticks:
            if status is Status.AT_GOAL:
                self._begin_trial(walker, rows[done : done + 1])
                done += 1
                status = walker.agent.status
            else:
                done += self._ask_and_judge(walker, rows[done : done + step], tick + done, budget)
                status = walker.agent.status
                if status is Status.ACTIVE:
                    continue  # what is asked for below, of almost every tick, is known already
                if status is Status.AT_GOAL:
                    rows["marks"][done - 1] |= log.ARRIVED
            if status is Status.AT_GOAL:
                self.end_trial(walker)
            if walker.is_done:
                break
        if done:
            walker.keep_rows(rows[:done], tick, budget)
        return done

    def _ask_and_judge(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> int:
        """Have these rows written and counted; returns how many of them count."""
        count = self._timed(walker, rows, tick, budget) if self.stopwatch else self._ask(walker, rows, tick, budget)
        if count != rows.size and self._is_wrong(walker, count, rows.size, tick):
            return 0
        position = walker.position
        legal = walker.judge(self.grid.ground, rows, count, tick, budget, *walker.counts)
        if legal < count:
            count = self._refuse(walker, rows, int(legal), tick + int(legal), budget)
        if walker.spec.is_own and count:
            self._tell_first_excess(walker, rows, tick, budget)
        if walker.own_goal is None and count:
            self.measuring.walked(walker.id, walker.counts[0], position, rows[:count])
        if walker.agent.status is not Status.ACTIVE:
            self.check_claim(walker, tick + int(count) - 1)
        elif count < rows.size:
            self.stop(walker, f"did {count} of {rows.size} ticks, and is not at its end", tick + int(count) - 1)
        return int(count)

    def _timed(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> int:
        assert self.stopwatch is not None
        before = self.stopwatch()
        count = self._ask(walker, rows, tick, budget)
        self.planning_s[walker.id] = self.planning_s.get(walker.id, 0.0) + self.stopwatch() - before
        return count

    def _ask(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> int:
        """Ask an agent for these rows. The code of one of the user's may fail; what it does not write breaks a rule."""
        if not walker.spec.is_own:
            return walker.agent.advance(budget, rows)
        rows["cell"], rows["expanded"] = walker.position, -1
        try:
            return walker.agent.advance(budget, rows)
        except AgentFailedError as error:
            self.stop(walker, str(error), tick, is_failure=True)
            return 0

    # --- rules that were broken -------------------------------------------------------------------

    def _is_wrong(self, walker: Walker, count: int, asked: int, tick: int) -> bool:
        """Whether the number of ticks that an agent says it did cannot be; then it is stopped."""
        problem = None if walker.offence is not None else wrong_count(count, asked)
        if problem is not None:
            self.stop(walker, problem, tick)
        return walker.offence is not None

    def _tell_first_excess(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> None:
        """The first time that an agent of the user's is over its budget is told; all are counted."""
        if walker.metrics[0].over_budget == 1 and rows["expanded"][0] > budget:
            told = f"{walker.label} expanded {int(rows['expanded'][0])} cells, with a budget of {budget}"
            self.notes.append(Note(tick, told))

    def _refuse(self, walker: Walker, rows: np.ndarray, row: int, tick: int, budget: int) -> int:
        """A row that breaks a rule. Who does not know the map stays and is told, and the tick counts as a wait; all
        others are stopped. Returns how many rows count.
        """
        knows_map = walker.spec.runs_in_bulk or walker.spec.is_own
        if knows_map or min(rows["expanded"][row], rows["traced"][row]) < 0:
            self.stop(walker, wrong_row(self.grid, walker.position, rows, row), tick)
            return row
        rows["cell"][row] = walker.position
        walker.refusals += 1
        walker.agent.refused(walker.position)
        walker.judge(self.grid.ground, rows, 1, tick, budget, *walker.counts)
        return row + 1

    def check_claim(self, walker: Walker, tick: int) -> None:
        """An agent says that it is at its end; what the referee knows must not speak against it."""
        status, goal = walker.agent.status, self.goal_of(walker)
        if status is Status.AT_GOAL and walker.position != goal:
            self.stop(walker, f"says that it has arrived; its goal is {self.grid.xy(goal)}", tick)
        elif status is Status.NO_PATH and (length := self._known_distance(walker)) < np.inf:
            self.stop(walker, f"says that there is no path; there is one of cost {length:.6g}", tick)

    def goal_of(self, walker: Walker) -> int:
        """Where it wants to go: to its own goal, or to that of all who have none."""
        return self.measuring.goal if walker.own_goal is None else walker.own_goal

    def _known_distance(self, walker: Walker) -> float:
        """True cost from an agent to its goal; infinity where there is no path, or only a long search could tell."""
        if walker.own_goal is not None or not self.measuring.is_on:
            goal, is_own = self.goal_of(walker), walker.spec.is_own
            return cheapest_way(self.grid, walker.position, goal)[0] if is_own else float("inf")
        allowance = self.measuring.allowance
        known = self.measuring.distance_within(walker.position, int(UNLIMITED) if allowance is None else allowance)
        return float("inf") if known is None else known

    def stop(self, walker: Walker, what: str, tick: int, *, is_failure: bool = False) -> None:
        """From now on this agent stands still, and the others walk on."""
        walker.leave_seat()
        self.last_stop = max(self.last_stop, tick)
        walker.offence = Offence(what, tick, self.grid.xy(walker.position), is_failure)
        walker.agent = StoppedAgent(walker.agent)
        self._seating.is_void = True  # where it was in a crew, that goes on without it
        self.notes.append(Note(tick, walker.offence.told(walker.label)))

    # --- trials -----------------------------------------------------------------------------------

    def _begin_trial(self, walker: Walker, rows: np.ndarray) -> None:
        """Put an agent that has arrived back on the start, which takes a tick; it waits while that is blocked."""
        is_possible = self.grid.is_free(walker.start)
        cell = walker.start if is_possible else walker.position
        rows[0] = cell, 0, 0, log.TRIAL if is_possible else 0, log.WAITING
        referee.count_placing(rows, *walker.counts)
        if is_possible:
            cast(Learner, walker.agent).begin_trial(walker.start)
            walker.trial_began = walker.trial_counts(walker.trial + 1)

    def end_trial(self, walker: Walker) -> None:
        """An agent stands at the goal. If that was moved since it arrived, this trial was longer than it seemed."""
        if walker.spec.keeps_h:
            self.measuring.finish()  # what a trial comes to is kept, and the next one is counted from there
            del walker.trials[walker.trial - 1 :]
            walker.trials.append(self.unfinished_trial(walker))

    def unfinished_trial(self, walker: Walker) -> Trial:
        """The present trial as far as it has got."""
        return walker.trial_counts(walker.trial).since(walker.trial_began, self.has_judged(walker))

    def has_judged(self, walker: Walker) -> bool:
        """Whether it is known of all of its moves if they were optimal. Those of one with a goal of its own nobody
        judges: that would take a search over the map for each.
        """
        return walker.own_goal is None and self.measuring.knows(walker.id)
