"""Batched executor: advances agents of the same kind in one kernel call, the others one by one.

A batch plan (batch_plan.py) says which agents are in which batch (agent_batch.py). It is kept from tick to tick, since
forming it for hundreds of agents takes longer than a tick. What it gains: 500 TB-WA* agents take 1.2 ms per tick in one
batch, and 6 ms one by one (`make bench ARGS=crowd`).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from sim.agent_api import Status
from sim.agent_times import AgentTimes
from sim.batching.agent_batch import MIN_BATCH_SIZE, AgentBatch, prefault_search_pages
from sim.batching.batch_plan import BatchPlan
from sim.executor import AgentTiming, InvalidationReason, RunResult, StepBlock
from sim.grid import MapChange
from sim.kernels import log
from sim.log_rows import UnbatchedRows
from sim.referee import Referee
from sim.referee_rules import describe_broken_rule
from sim.sequential_executor import SequentialExecutor
from sim.walker import Walker
from sim.world_state import WorldState


class BatchedExecutor(SequentialExecutor):
    """Executor that advances batches of agents. Each agent gets exactly the result that it would get alone."""

    def __init__(self, referee: Referee, times: AgentTimes, min_batch_size: int = MIN_BATCH_SIZE) -> None:
        super().__init__(referee, times)
        self._min_batch_size = min_batch_size
        self._batch_plan: BatchPlan | None = None  # batch plan, which may be out of date
        self._needs_plan_refresh = False  # whether agents of the plan may act again, or have other arrays or budgets
        self._has_new_membership = False  # whether agents may have to join or leave a batch
        self._stop_count_of_plan = 0  # number of agents that the referee had stopped when the plan was formed
        # Plan at the beginning of the present advance, if all walkers of its batches read their rows from the batches:
        # such walkers need not be visited one by one. None: there was no such plan.
        self._plan_at_advance_begin: BatchPlan | None = None
        # Batches, and their rows in the last call of `run_ticks`.
        self._batches_in_run: list[tuple[AgentBatch, StepBlock]] = []

    def invalidate_caches(self, reason: InvalidationReason) -> None:
        if reason is InvalidationReason.MEMBERSHIP:
            self._has_new_membership = True
            return
        self._needs_plan_refresh = True
        if reason is InvalidationReason.GOALS and self._batch_plan is not None:
            self._batch_plan.invalidate_digest_columns()

    def prepare_first_tick(self, state: WorldState) -> None:
        """Form batches, and write to memory pages that searches will use. For hundreds of agents, this takes long."""
        self._up_to_date_plan(state)
        for walker in state.walkers:
            if walker.agent.as_batchable() is not None:
                prefault_search_pages(state.grid, walker, state.goal)

    # --- an advance -------------------------------------------------------------------------------

    def begin_advance(self, state: WorldState) -> None:
        """Discard the rows of the last advance. Rows that batches store need not be visited walker by walker."""
        self._plan_at_advance_begin = self._plan_with_stored_rows()
        for walker in (
            state.walkers if self._plan_at_advance_begin is None else self._plan_at_advance_begin.unbatched_walkers
        ):
            if isinstance(walker.recent_rows, UnbatchedRows):
                walker.recent_rows.discard_rows()
        for batch in self.batches:
            batch.discard_log_rows()
        self._agent_times.last_advance_s.clear()

    def run(self, state: WorldState, ticks: int) -> RunResult:
        plan = self._up_to_date_plan(state)
        blocks = [self._run_batch(state, batch, ticks) for batch in plan.batches]
        self._batches_in_run = list(zip(plan.batches, blocks, strict=True))
        self._acting_walkers, self._waiting_walkers = plan.runnable_walkers, plan.walkers_without_path
        self._acted_tick_counts = [self.run_walker(state, walker, ticks) for walker in plan.runnable_walkers]
        if not plan.has_runnable_walkers:
            return RunResult(ticks, has_activity=False)
        return self._build_run_result(state, max((int(block.done.max()) for block in blocks), default=0))

    def finish_run(self, passed: int) -> None:
        super().finish_run(passed)
        for batch, block in self._batches_in_run:
            for i in np.flatnonzero((block.done < passed) & (batch.agent_results["status"] == Status.NO_PATH)).tolist():
                batch.walkers[i].count_waits(passed - int(block.done[i]))
        if self._batch_plan is not None and min(self._acted_tick_counts, default=passed) < passed:
            self._batch_plan.refresh_runnable_walkers()

    def end_advance(self, state: WorldState) -> None:
        if self._batch_plan is not None and self._batch_plan is self._plan_at_advance_begin:
            self._collect_rows(self._batch_plan.unbatched_walkers)
            return
        for batch in self.batches:
            batch.return_rows_to_walkers_that_joined_late()
        self._collect_rows(state.walkers)

    def begin_partial_tick(self, state: WorldState) -> None:
        for batch in self._up_to_date_plan(state).batches:
            batch.prepare_ticks(state.budget, 1)

    def run_queue_front(self, state: WorldState, queue: Sequence[Walker]) -> int:
        """Let the first agents of a queue act. Agents with consecutive indices in a batch act in one call."""
        plan = self._batch_plan
        assert plan is not None
        count = plan.queue_prefix_length_for_one_call(queue)
        if not count:
            return super().run_queue_front(state, queue)
        batch, first = plan.batch_places[queue[0].id]
        batch.run_agents_in_slots(state.grid, state.tick, slice(first, first + count), self._agent_times.clock)
        return count

    def end_partial_tick(self, state: WorldState) -> None:
        for batch in self.batches:
            self._judge_batch(state, batch, batch.end(state.tick))

    def notify_map_change(self, state: WorldState, change: MapChange) -> None:
        notified = self._notify_batches(state, change)
        for walker in state.walkers:
            if walker.id not in notified:
                self._needs_plan_refresh = True  # the agent may replace arrays, whose addresses batches store
                self.notify_walker(walker, change)

    # --- what the last advance did ----------------------------------------------------------------

    def step_blocks(self) -> Iterator[StepBlock]:
        for batch in self.batches:
            yield from batch.step_blocks

    def agent_timings(self, state: WorldState) -> Iterator[AgentTiming]:
        for batch in self.batches:
            if batch.has_any_walker_acted:
                ticks = sum(block.log_rows.shape[1] for block in batch.step_blocks)
                yield AgentTiming(batch.walkers, batch.kernel_seconds, ticks)
        yield from super().agent_timings(state)

    def occupied_cells(self, state: WorldState) -> Sequence[int]:
        """Return the cells that agents occupy. One kernel call per batch is faster than reading each walker."""
        plan = self._plan_with_stored_rows()
        if plan is None:
            return super().occupied_cells(state)
        cells: list[int] = [cell for batch in plan.batches for cell in batch.walker_cells().tolist()]
        return [*cells, *(walker.position for walker in plan.unbatched_walkers)]

    def digest_bytes(self, state: WorldState) -> bytes:
        if self._batch_plan is None or self._needs_new_plan:
            return super().digest_bytes(state)
        return self._batch_plan.digest_columns.read_digest_bytes()

    # --- batches ----------------------------------------------------------------------------------

    @property
    def batches(self) -> Sequence[AgentBatch]:
        """Return the batches of the present plan; empty before the first plan is formed."""
        return self._batch_plan.batches if self._batch_plan is not None else ()

    def _run_batch(self, state: WorldState, batch: AgentBatch, ticks: int) -> StepBlock:
        """Let a batch plan and act for `ticks` ticks, and judge its moves; return its log rows without illegal ones."""
        return self._judge_batch(
            state, batch, batch.run_ticks(state.grid, state.tick, state.budget, ticks, self._agent_times.clock)
        )

    def _judge_batch(self, state: WorldState, batch: AgentBatch, block: StepBlock) -> StepBlock:
        """Stop the agents of a batch that broke a rule, and store the trials of the agents that arrived.

        Returns:
            `block`, whose field `done` then counts, for each agent, only the rows before its first broken rule.
        """
        for i in np.flatnonzero(batch.agent_results["legal"] < block.done).tolist():
            walker, row = batch.walkers[i], int(batch.agent_results["legal"][i])
            block.done[i] = row
            reason = describe_broken_rule(state.grid, walker.position, block.log_rows[i], row)
            self._referee.stop_agent(walker, reason, state.tick + row)
        for i in np.flatnonzero((batch.agent_results["status"] == Status.AT_GOAL) & (block.done > 0)).tolist():
            block.log_rows["marks"][i, block.done[i] - 1] |= log.ARRIVED
            self._referee.verify_agent_status(batch.walkers[i], state.tick + int(block.done[i]) - 1)
            self._referee.store_finished_trial(batch.walkers[i])
        return block

    def _notify_batches(self, state: WorldState, change: MapChange) -> set[int]:
        """Notify the agents of all batches of a map change by kernel calls; return the ids of the notified agents."""
        plan = self._valid_plan()
        if plan is None:
            return set()
        notified = [batch.agent_ids for batch in plan.batches if batch.notify_map_change(state.grid, change)]
        return {number for ids in notified for number in ids}

    # --- the plan ---------------------------------------------------------------------------------

    def _up_to_date_plan(self, state: WorldState) -> BatchPlan:
        """Return a plan for the present agents: the cached one, refreshed if necessary, or a new one."""
        if self._batch_plan is not None and not self._needs_plan_refresh and not self._needs_new_plan:
            return self._batch_plan
        plan = self._valid_plan()
        if plan is not None:
            plan.refresh_runnable_walkers()
        else:
            for walker in state.walkers:
                walker.take_unbatched_rows()  # rows that an old batch stores become rows of the walker
            plan = self._batch_plan = BatchPlan(state.walkers, self._batchable_walkers(state), self._min_batch_size)
        self._needs_plan_refresh = self._has_new_membership = False
        self._stop_count_of_plan = self._referee.stop_count
        return plan

    @property
    def _needs_new_plan(self) -> bool:
        """Return whether agents may have to join or leave a batch, such as agents that the referee has stopped."""
        return self._has_new_membership or self._stop_count_of_plan != self._referee.stop_count

    def _valid_plan(self) -> BatchPlan | None:
        """Return the cached plan, with up-to-date array addresses, if all of its batches are valid; else None.

        Its list of walkers that can act is not brought up to date.
        """
        if self._batch_plan is None or self._needs_new_plan:
            return None
        return self._batch_plan if not self._needs_plan_refresh or self._batch_plan.refresh_array_addresses() else None

    def _plan_with_stored_rows(self) -> BatchPlan | None:
        """Return the cached plan if it is up to date and its batches store the rows of all their walkers; else None."""
        if self._batch_plan is None or self._needs_plan_refresh or self._needs_new_plan:
            return None
        return self._batch_plan if all(batch.is_storing_rows for batch in self._batch_plan.batches) else None

    def _batchable_walkers(self, state: WorldState) -> list[Walker]:
        """Return the walkers that may be in a batch.

        A walker cannot be batched if its planning time is measured or its non-optimal moves are counted.
        """
        if self._agent_times.stopwatch is not None:
            return []
        return [w for w in state.walkers if w.own_goal is not None or not self._referee.judges_optimality]
