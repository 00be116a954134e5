"""Referee: lets an agent act, judges the moves it reports, and stops an agent that breaks a rule.

    referee.run_walker(walker, tick, ticks, budget) let an agent act for up to `ticks` ticks
    referee.stop_agent(walker, what, tick)       stop an agent for the rest of the run
    referee.verify_agent_status(walker, tick)    stop an agent that reports a false status
    referee.store_finished_trial(walker)         store the results of a trial that has reached the goal

A kernel (sim/kernels/referee.py) finds illegal moves and adds up the counts of each agent, such as moves and cost. The
messages about broken rules are in rules.py.

A row (log.ROW) is the report of an agent about one tick: its cell, its expansions, and marks, which are bits for events
such as an arrival. A note is a message for the user. A trial is one walk from start to goal. After each trial, the
referee puts an agent that learns back on its start, where the next trial begins.
"""

from typing import cast

import numpy as np

from sim.agent_api import Learner, Status
from sim.agent_placing import cheapest_cost_and_moves
from sim.agent_times import AgentTimes
from sim.grid import Grid
from sim.kernels import log, referee
from sim.metrics import TrialResult
from sim.move_optimality import OptimalityTracker
from sim.referee_rules import AgentFailedError, StoppedAgent, Violation, describe_broken_rule, describe_wrong_tick_count
from sim.true_distances import UNLIMITED_EXPANSIONS
from sim.walker import Walker
from sim.world_commands import RunMessage


class Referee:
    """Judge of all agents of a world."""

    def __init__(self, grid: Grid, optimality: OptimalityTracker, notes: list[RunMessage], times: AgentTimes) -> None:
        """Create the referee of a world.

        Args:
            grid: true map, which agents may know only in part.
            optimality: tracker that counts non-optimal moves.
            notes: list to which messages for the user are appended.
            times: times of agents, and the stopwatch that measures them.
        """
        self._true_map, self._optimality_tracker, self._user_messages, self._agent_times = (
            grid,
            optimality,
            notes,
            times,
        )
        self.last_stop_tick = -1  # last world tick in which an agent was stopped; -1: never
        self.stop_count = 0  # number of agents that were stopped, from which executors see that caches are outdated

    @property
    def judges_optimality(self) -> bool:
        """Return whether moves of agents that share the goal are judged as optimal or non-optimal."""
        return self._optimality_tracker.is_enabled

    # --- running and judging agents ---------------------------------------------------------------

    def run_walker(self, walker: Walker, tick: int, ticks: int, budget: int) -> int:
        """Let an agent plan and act for up to `ticks` ticks from world tick `tick` on.

        Returns:
            The number of ticks in which it acted: `ticks`, or fewer if it has finished or was stopped.
        """
        status = walker.agent.status
        if status is not Status.ACTIVE and walker.is_done:
            return 0
        rows = walker.new_log_rows(ticks)
        done = 0
        step = ticks if walker.spec.runs_in_bulk else 1
        while done < ticks:
            if status is Status.AT_GOAL:
                self._begin_trial(walker, rows[done : done + 1])
                done += 1
                status = walker.agent.status
            else:
                done += self._run_and_judge_agent(walker, rows[done : done + step], tick + done, budget)
                status = walker.agent.status
                if status is Status.ACTIVE:
                    continue  # usual case: the checks below are only for agents that are no longer active
                if status is Status.AT_GOAL:
                    rows["marks"][done - 1] |= log.ARRIVED
            if status is Status.AT_GOAL:
                self.store_finished_trial(walker)
            if walker.is_done:
                break
        if done:
            walker.take_unbatched_rows().append(rows[:done], tick, budget)
        return done

    def _run_and_judge_agent(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> int:
        """Let an agent act and write `rows`; judge its moves and update its counts. Return the number of valid rows."""
        count = (
            self._call_agent_advance_timed(walker, rows, tick, budget)
            if self._agent_times.stopwatch
            else self._call_agent_advance(walker, rows, tick, budget)
        )
        if count != rows.size and self._stop_if_tick_count_is_wrong(walker, count, rows.size, tick):
            return 0
        position = walker.position
        legal = walker.judge_kernel(self._true_map.map_arrays, rows, count, tick, budget, *walker.count_arrays)
        if legal < count:
            count = self._handle_illegal_row(walker, rows, int(legal), tick + int(legal), budget)
        if walker.spec.is_own and count:
            self._report_first_budget_excess(walker, rows, tick, budget)
        if walker.own_goal is None and count:
            self._optimality_tracker.judge_or_queue_moves(walker.id, walker.count_arrays[0], position, rows[:count])
        if walker.agent.status is not Status.ACTIVE:
            self.verify_agent_status(walker, tick + int(count) - 1)
        elif count < rows.size:
            self.stop_agent(
                walker,
                f"acted in only {count} of {rows.size} ticks, although it is still active",
                tick + int(count) - 1,
            )
        return int(count)

    def _call_agent_advance_timed(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> int:
        """Let an agent act and write `rows`; add its planning time. Return the number of ticks done."""
        times = self._agent_times
        assert times.stopwatch is not None
        before = times.stopwatch()
        count = self._call_agent_advance(walker, rows, tick, budget)
        times.planning_s[walker.id] += times.stopwatch() - before
        return count

    def _call_agent_advance(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> int:
        """Let an agent act and write `rows`; return the number of ticks that it reports as done.

        An agent from a user's file is stopped if its code fails. If it leaves a row unwritten, this must count as a
        broken rule, so all rows are first filled with an invalid number of expansions.
        """
        if not walker.spec.is_own:
            return walker.agent.advance(budget, rows)
        rows["cell"], rows["expanded"] = walker.position, -1
        try:
            return walker.agent.advance(budget, rows)
        except AgentFailedError as error:
            self.stop_agent(walker, str(error), tick, is_failure=True)
            return 0

    # --- broken rules -----------------------------------------------------------------------------

    def _stop_if_tick_count_is_wrong(self, walker: Walker, count: int, requested: int, tick: int) -> bool:
        """Stop an agent that reports an impossible number of ticks. Return whether it is stopped, now or before.

        Args:
            walker: agent to check.
            count: number of ticks that it reported.
            requested: number of ticks for which it was asked to act.
            tick: first of these world ticks.
        """
        problem = None if walker.violation is not None else describe_wrong_tick_count(count, requested)
        if problem is not None:
            self.stop_agent(walker, problem, tick)
        return walker.violation is not None

    def _report_first_budget_excess(self, walker: Walker, rows: np.ndarray, tick: int, budget: int) -> None:
        """Add a message for the user when an agent from a user's file exceeds its budget for the first time."""
        if walker.counts_record[0].over_budget == 1 and rows["expanded"][0] > budget:
            text = f"{walker.label} expanded {int(rows['expanded'][0])} cells with a budget of {budget}"
            self._user_messages.append(RunMessage(tick, text))

    def _handle_illegal_row(self, walker: Walker, rows: np.ndarray, row: int, tick: int, budget: int) -> int:
        """Refuse the move in the first row that breaks a rule, or stop the agent; return the number of valid rows.

        The move is refused if it is illegal and the agent does not know the map: the agent stays on its cell and is
        notified, and the tick counts as a wait. A row with a refused move is valid. In all other cases the agent is
        stopped. `row`: index of the row that breaks a rule.
        """
        knows_map = walker.spec.runs_in_bulk or walker.spec.is_own
        if knows_map or min(rows["expanded"][row], rows["traced"][row]) < 0:
            self.stop_agent(walker, describe_broken_rule(self._true_map, walker.position, rows, row), tick)
            return row
        rows["cell"][row] = walker.position
        walker.refused_moves += 1
        walker.agent.refused(walker.position)
        walker.judge_kernel(self._true_map.map_arrays, rows, 1, tick, budget, *walker.count_arrays)
        return row + 1

    def verify_agent_status(self, walker: Walker, tick: int) -> None:
        """Stop an agent that reports a false status: AT_GOAL, but it is elsewhere; NO_PATH, but a path is known."""
        status, goal = walker.agent.status, walker.goal(self._optimality_tracker.true_distances.goal)
        if status is Status.AT_GOAL and walker.position != goal:
            self.stop_agent(walker, f"reported that it has arrived, but its goal is {self._true_map.xy(goal)}", tick)
        elif status is Status.NO_PATH and (length := self._known_distance_to_goal(walker)) < np.inf:
            self.stop_agent(walker, f"reported that there is no path, but there is one of cost {length:.6g}", tick)

    def _known_distance_to_goal(self, walker: Walker) -> float:
        """Return the cost of the cheapest path from an agent to its goal; infinity: there is no path, or none is known.

        No path is known if the search for it needs more expansions than `optimality.expansion_limit`. If non-optimal
        moves are not counted, or the agent has a goal of its own, the search is made only for agents from users' files.
        """
        if walker.own_goal is not None or not self._optimality_tracker.is_enabled:
            goal, is_own = walker.goal(self._optimality_tracker.true_distances.goal), walker.spec.is_own
            return cheapest_cost_and_moves(self._true_map, walker.position, goal)[0] if is_own else float("inf")
        allowance = self._optimality_tracker.expansion_limit
        known = self._optimality_tracker.true_distances.cost_to_goal_within_limit(
            walker.position, UNLIMITED_EXPANSIONS if allowance is None else allowance
        )
        return float("inf") if known is None else known

    def stop_agent(self, walker: Walker, what: str, tick: int, *, is_failure: bool = False) -> None:
        """Stop an agent for the rest of the run; the other agents continue.

        Args:
            walker: agent to stop.
            what: text that says what it did wrong, without a subject, such as "moved from ...".
            tick: world tick of the violation.
            is_failure: True if its code failed; False if it broke a rule.
        """
        walker.take_unbatched_rows()
        self.last_stop_tick = max(self.last_stop_tick, tick)
        walker.violation = Violation(what, tick, self._true_map.xy(walker.position), is_failure)
        walker.agent = StoppedAgent(walker.agent)
        self.stop_count += 1
        self._user_messages.append(RunMessage(tick, walker.violation.message_for_agent(walker.label)))

    # --- trials -----------------------------------------------------------------------------------

    def _begin_trial(self, walker: Walker, rows: np.ndarray) -> None:
        """Move an agent from its goal to its start for its next trial. It waits while its start is blocked.

        `rows`: array for one log row. The referee writes this row, because the agent does not act in this tick.
        """
        is_possible = self._true_map.is_free(walker.start)
        cell = walker.start if is_possible else walker.position
        rows[0] = cell, 0, 0, log.TRIAL_BEGAN if is_possible else 0, log.WAITING
        referee.count_world_row(rows, *walker.count_arrays)
        if is_possible:
            cast(Learner, walker.agent).begin_trial(walker.start)
            walker.trial_start_counts = walker.current_trial_counts(walker.trial_number + 1)

    def store_finished_trial(self, walker: Walker) -> None:
        """Store the results of the present trial of an agent that learns, when it has reached its goal.

        If the goal was moved after an earlier arrival, the trial continued, and the results stored at that arrival are
        replaced.
        """
        if walker.spec.keeps_h:
            self._optimality_tracker.judge_whole_queue()  # so that the results of this trial are final
            del walker.trials[walker.trial_number - 1 :]
            walker.trials.append(self.unfinished_trial(walker))

    def unfinished_trial(self, walker: Walker) -> TrialResult:
        """Return the results of the present trial of an agent up to now."""
        return walker.current_trial_counts(walker.trial_number).trial_since_counts(
            walker.trial_start_counts, self._optimality_tracker.has_judged_all_moves(walker)
        )
