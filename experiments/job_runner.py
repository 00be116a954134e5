"""Simulate the runs of an experiment in a worker process: one world after another, one result line per agent or trial.

A trial is one walk of an agent from start to goal; an agent that keeps what it learns walks several times in a run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.columns import MEASURED_COLUMNS, PROCESSOR_TIME_COLUMNS
from experiments.plan import AgentRun, WorkerTask, WorldJob
from sim.agent_api import AgentSpec, Status
from sim.agent_preparation import iter_data_preparation, needs_prepared_data
from sim.batching.batched_executor import BatchedExecutor
from sim.grid import Grid
from sim.prepared_data import PreparedData, Stopwatch
from sim.result_lines import (
    MOVE_LIMIT,
    STUCK,
    NoPathProofs,
    agent_result_line,
    outcome_of_walker,
    run_single_agent,
    trial_result_line,
)
from sim.run_until import run_until
from sim.walker import Walker
from sim.world import MAX_TICKS_PER_CALL, World
from sim.world_commands import AgentConfig

ResultLine = tuple[Any, ...]
"""Line of results of one run, or of one trial of a run: (key of the run, *columns.MEASURED, *columns.TIMES)."""


@dataclass(frozen=True)
class RunFailure:
    """Run without results, because its agent raised an exception or was stopped by the referee for a violation."""

    key: bytes  # key of the run, see plan.py
    reason: str


def run_task(
    task: WorkerTask,
    specs: Mapping[str, AgentSpec],
    stopwatch: Stopwatch,
    grid: Grid | None = None,
    data_stopwatch: Stopwatch | None = None,
) -> tuple[list[ResultLine], list[RunFailure]]:
    """Simulate all runs of a task and return their results. An exception in one world does not affect the other worlds.

    Args:
        task: The runs.
        specs: All agents by their keys.
        stopwatch: Clock in seconds that measures the planning of agents.
        grid: The map of the task, if the caller has already unpacked it.
        data_stopwatch: Clock in seconds for data that agents compute before the run.

    Returns:
        The lines of results, and a failure for each run that raised an exception or was stopped.
    """
    board = grid or task.packed_map.decompress()
    lines: list[ResultLine] = []
    failures: list[RunFailure] = []
    for job in task.jobs:
        try:
            found, offences = run_job(job, board, specs, stopwatch, data_stopwatch)
            lines += found
            failures += offences
        except Exception as error:  # report any error of an agent as a failure of its runs, and continue
            text = f"{type(error).__name__}: {error}"
            failures += [RunFailure(walk.key, text) for walk in job.agent_runs]
    return lines, failures


def run_job(
    job: WorldJob,
    grid: Grid,
    specs: Mapping[str, AgentSpec],
    stopwatch: Stopwatch,
    data_stopwatch: Stopwatch | None = None,
) -> tuple[list[ResultLine], list[RunFailure]]:
    """Simulate the world of one job until its end, and return the results of its agents.

    Args:
        job: The world and its agents.
        grid: The map.
        specs: All agents by their keys.
        stopwatch: Clock in seconds for the planning of agents.
        data_stopwatch: Clock in seconds for data that agents compute before the run.

    Returns:
        The lines of results, and a failure for each agent that the referee stopped.
    """
    _prepare_agent_data([agent_config_of_run(walk) for walk in job.agent_runs], job, grid, specs, data_stopwatch)
    world = build_job_world(job, grid, specs, stopwatch)
    walkers = tuple(world.walkers)
    is_plain = len(walkers) == 1 and job.changes is None
    lines = list(_run_single_agent(world, job) if is_plain else _run_all_agents(world, job))
    pairs = zip(walkers, job.agent_runs, strict=True)
    return lines, [
        RunFailure(walk.key, _violation_text(walker)) for walker, walk in pairs if walker.violation is not None
    ]


def _violation_text(walker: Walker) -> str:
    """Return the rule violation for which the referee stopped an agent, with its tick, as text for the user."""
    assert walker.violation is not None
    return f"tick {walker.violation.tick:,}: {walker.violation.message_for_agent(walker.label)}"


def _prepare_agent_data(
    configs: Sequence[AgentConfig],
    job: WorldJob,
    grid: Grid,
    specs: Mapping[str, AgentSpec],
    stopwatch: Stopwatch | None,
) -> None:
    """Compute the data that agents prepare before a run, such as databases, to measure its time separately."""
    if needs_prepared_data(configs, specs):
        for _ in iter_data_preparation(configs, specs, grid, (grid.cell(*job.start), grid.cell(*job.goal)), stopwatch):
            pass


def build_job_world(
    job: WorldJob, grid: Grid, specs: Mapping[str, AgentSpec], stopwatch: Stopwatch | None = None, **options: Any
) -> World:
    """Build the world of a job at tick 0, with all agents of the job on the start cell.

    If the map changes during the run, the world gets a copy of it, because other jobs use the same grid.
    """
    ground = Grid(grid.original_terrain.copy(), grid.movement, grid.name) if job.changes else grid
    world = World(
        ground,
        ground.cell(*job.start),
        ground.cell(*job.goal),
        specs,
        budget=job.agent_runs[0].budget,
        seed=job.seed,
        random_changes=job.changes,
        stopwatch=stopwatch,
        trials=job.max_trials,
        executor=BatchedExecutor,
        **{"measures": job.counts_nonoptimal_moves, **options},
    )
    for walk in job.agent_runs:
        world.add(agent_config_of_run(walk))
    return world


def agent_config_of_run(walk: AgentRun) -> AgentConfig:
    return AgentConfig(walk.kind, params=walk.params, budget=walk.budget)


def _run_single_agent(world: World, job: WorldJob) -> Iterator[ResultLine]:
    """Run the only agent of a world without random changes, and return the agent's lines of results."""
    walker, proofs = world.walkers[0], NoPathProofs()
    for _ in run_single_agent(world, walker, job.moves, max_ticks=job.ticks):
        proofs.record_proofs([walker])
    return _result_lines(world, walker, job.agent_runs[0], _outcome_of_active_agent(job, walker), proofs)


def _outcome_of_active_agent(job: WorldJob, walker: Walker) -> str:
    """Return why an agent that was still active had to end its run: MOVE_LIMIT or STUCK."""
    return MOVE_LIMIT if _moves_left(job, walker) <= 0 else STUCK


def _moves_left(job: WorldJob, walker: Walker) -> int:
    return job.moves - int(walker.counts_record[0].moves)


def _run_all_agents(world: World, job: WorldJob) -> Iterator[ResultLine]:
    """Run all agents of a world with several agents or with random changes, and yield their lines of results.

    Agents that have arrived or have no moves left are removed from the world, so that they are not notified of map
    changes. An agent moves at most once per tick. No agent can therefore exceed its limit of moves if the world
    advances by the smallest number of moves that any agent has left.
    """
    interval = job.changes.interval_ticks if job.changes else MAX_TICKS_PER_CALL
    everybody, proofs = list(world.walkers), NoPathProofs()

    def next_step() -> int:
        # A step ends at the next multiple of `interval`, where a random change may apply.
        # Which agents are present at a change then does not depend on the lengths of the steps.
        return min(interval - world.tick % interval, *(_moves_left(job, walker) for walker in world.walkers))

    for _ in run_until(world, lambda: not world.walkers, max_ticks=job.ticks, next_step=next_step):
        proofs.record_proofs(world.walkers)
        world.remove_agents(lambda walker: _is_agent_finished(job, walker))
    for walker, walk in zip(everybody, job.agent_runs, strict=True):
        yield from _result_lines(world, walker, walk, _outcome_of_active_agent(job, walker), proofs)


def _is_agent_finished(job: WorldJob, walker: Walker) -> bool:
    has_arrived_for_good = walker.agent.status is Status.AT_GOAL and walker.is_done
    return has_arrived_for_good or _moves_left(job, walker) <= 0


def _result_lines(
    world: World, walker: Walker, walk: AgentRun, if_active: str, proofs: NoPathProofs
) -> Iterator[ResultLine]:
    """Yield the result lines of an agent: one line, or a line for each trial if the agent may walk several times."""
    outcome = outcome_of_walker(world, walker, if_active)
    line = agent_result_line(world, walker, outcome, "", proofs.last_proof_tick(walker))
    if walker.spec.has_data:
        line |= _prepared_data_columns(walker.agent.view().prepared)
    if walker.max_trials == 1:
        yield _result_line(walk, {**line, "trial": 1})
        return
    for trial in walker.trials:
        yield _result_line(walk, trial_result_line(line, trial))
    if not walker.has_arrived:
        yield _result_line(walk, trial_result_line(line, world.referee.unfinished_trial(walker), outcome))


def _result_line(walk: AgentRun, found: Mapping[str, Any]) -> ResultLine:
    return (walk.key, *(found.get(column.name) for column in (*MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS)))


def _prepared_data_columns(prepared: Sequence[PreparedData]) -> dict[str, Any]:
    """Return the result columns with the size of the data prepared for a run and the cost of computing the data.

    A run computes only one column of a database. The numbers of this column are multiplied by the number of columns
    (`column_count`), which gives an estimate for the whole database.
    """
    times = [None if data.build_ms is None else data.column_count * data.build_ms for data in prepared]
    return {
        "entries": sum(data.column_count * data.entries for data in prepared),
        "build_expansions": sum(data.column_count * data.build_expansions for data in prepared),
        "build_ms": None if None in times else round(sum(filter(None, times)), 3),
    }
