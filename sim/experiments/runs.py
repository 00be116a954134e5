"""Simulate the runs of an experiment in a worker process: one world after another, one result line per agent or trial.

A trial is one walk of an agent from start to goal; an agent that keeps what it learns walks several times in a run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim.agent_api import AgentSpec, Status
from sim.commands import AgentConfig
from sim.experiments.columns import MEASURED, TIMES
from sim.experiments.plan import Job, Task, Walk
from sim.grid import Grid
from sim.prepared import Prepared, Stopwatch
from sim.preparing import is_anything_needed, preparing
from sim.results import MOVE_LIMIT, STUCK, Proofs, outcome_of, result, steps_alone, trial_result
from sim.walker import Walker
from sim.world import BULK, World

Line = tuple[Any, ...]
"""Line of results of one run, or of one trial of a run: (key of the run, *columns.MEASURED, *columns.TIMES)."""


@dataclass(frozen=True)
class Failure:
    """Run without results, because its agent raised an exception or was stopped by the referee for a violation."""

    key: bytes  # key of the run, see plan.py
    text: str


def do_task(
    task: Task,
    specs: Mapping[str, AgentSpec],
    stopwatch: Stopwatch,
    grid: Grid | None = None,
    data_stopwatch: Stopwatch | None = None,
) -> tuple[list[Line], list[Failure]]:
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
    board = grid or task.board.unpack()
    lines: list[Line] = []
    failures: list[Failure] = []
    for job in task.jobs:
        try:
            found, offences = do_job(job, board, specs, stopwatch, data_stopwatch)
            lines += found
            failures += offences
        except Exception as error:  # report any error of an agent as a failure of its runs, and continue
            text = f"{type(error).__name__}: {error}"
            failures += [Failure(walk.key, text) for walk in job.walks]
    return lines, failures


def do_job(
    job: Job,
    grid: Grid,
    specs: Mapping[str, AgentSpec],
    stopwatch: Stopwatch,
    data_stopwatch: Stopwatch | None = None,
) -> tuple[list[Line], list[Failure]]:
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
    _prepare([config_of(walk) for walk in job.walks], job, grid, specs, data_stopwatch)
    world = world_of(job, grid, specs, stopwatch)
    walkers = tuple(world.walkers)
    is_plain = len(walkers) == 1 and job.changes is None
    lines = list(_alone(world, job) if is_plain else _together(world, job))
    pairs = zip(walkers, job.walks, strict=True)
    return lines, [Failure(walk.key, _told(walker)) for walker, walk in pairs if walker.offence is not None]


def _told(walker: Walker) -> str:
    """Return the rule violation for which the referee stopped an agent, with its tick, as text for the user."""
    assert walker.offence is not None
    return f"tick {walker.offence.tick:,}: {walker.offence.told(walker.label)}"


def _prepare(
    configs: Sequence[AgentConfig],
    job: Job,
    grid: Grid,
    specs: Mapping[str, AgentSpec],
    stopwatch: Stopwatch | None,
) -> None:
    """Compute the data that agents prepare before a run, such as databases, to measure its time separately."""
    if is_anything_needed(configs, specs):
        for _ in preparing(configs, specs, grid, (grid.cell(*job.start), grid.cell(*job.goal)), stopwatch):
            pass


def world_of(
    job: Job, grid: Grid, specs: Mapping[str, AgentSpec], stopwatch: Stopwatch | None = None, **options: Any
) -> World:
    """Build the world of a job at tick 0, with all agents of the job on the start cell.

    If the map changes during the run, the world gets a copy of it, because other jobs use the same grid.
    """
    ground = Grid(grid.original.copy(), grid.movement, grid.name) if job.changes else grid
    world = World(
        ground,
        ground.cell(*job.start),
        ground.cell(*job.goal),
        specs,
        budget=job.walks[0].budget,
        seed=job.seed,
        random_changes=job.changes,
        stopwatch=stopwatch,
        trials=job.trials,
        **{"measures": job.measures, **options},
    )
    for walk in job.walks:
        world.add(config_of(walk))
    return world


def config_of(walk: Walk) -> AgentConfig:
    return AgentConfig(walk.kind, params=walk.params, budget=walk.budget)


def _alone(world: World, job: Job) -> Iterator[Line]:
    """Run the only agent of a world without random changes, and return the agent's lines of results."""
    walker, proofs = world.walkers[0], Proofs()
    for _ in steps_alone(world, walker, job.moves, max_ticks=job.ticks):
        proofs.look([walker])
    return _lines(world, walker, job.walks[0], _active_outcome(job, walker), proofs)


def _active_outcome(job: Job, walker: Walker) -> str:
    """Return why an agent that was still active had to end its run: MOVE_LIMIT or STUCK."""
    return MOVE_LIMIT if _moves_left(job, walker) <= 0 else STUCK


def _moves_left(job: Job, walker: Walker) -> int:
    return job.moves - int(walker.metrics[0].moves)


def _together(world: World, job: Job) -> Iterator[Line]:
    """Run all agents of a world with several agents or with random changes, and yield their lines of results.

    Agents that have arrived or have no moves left are removed from the world, so that they are not notified of map
    changes. An agent moves at most once per tick. No agent can therefore exceed its limit of moves if the world
    advances by the smallest number of moves that any agent has left.
    """
    step = job.changes.every if job.changes else BULK
    everybody, proofs = list(world.walkers), Proofs()
    while world.walkers and world.tick < job.ticks and not world.is_over:
        moves = min(_moves_left(job, walker) for walker in world.walkers)
        # Stop each advance at the next multiple of `step`, where a random change may apply.
        # Which agents are present at a change then does not depend on the lengths of the advances.
        to_next_step = step - world.tick % step
        world.advance(min(to_next_step, job.ticks - world.tick, moves))
        proofs.look(world.walkers)
        world.walkers = [w for w in world.walkers if not _must_leave(job, w)]
    for walker, walk in zip(everybody, job.walks, strict=True):
        yield from _lines(world, walker, walk, _active_outcome(job, walker), proofs)


def _must_leave(job: Job, walker: Walker) -> bool:
    has_arrived_for_good = walker.agent.status is Status.AT_GOAL and walker.is_done
    return has_arrived_for_good or _moves_left(job, walker) <= 0


def _lines(world: World, walker: Walker, walk: Walk, if_active: str, proofs: Proofs) -> Iterator[Line]:
    """Yield the result lines of an agent: one line, or a line for each trial if the agent may walk several times."""
    outcome = outcome_of(world, walker, if_active)
    line = result(world, walker, outcome, "", proofs.tick_of(walker))
    if walker.spec.has_data:
        line |= _prepared_data_columns(walker.agent.view().prepared)
    if walker.most_trials == 1:
        yield _line(walk, {**line, "trial": 1})
        return
    for trial in walker.trials:
        yield _line(walk, trial_result(line, trial))
    if not walker.has_arrived:
        yield _line(walk, trial_result(line, world.referee.unfinished_trial(walker), outcome))


def _line(walk: Walk, found: Mapping[str, Any]) -> Line:
    return (walk.key, *(found.get(column.name) for column in (*MEASURED, *TIMES)))


def _prepared_data_columns(prepared: Sequence[Prepared]) -> dict[str, Any]:
    """Return the result columns with the size of the data prepared for a run and the cost of computing the data.

    A run computes only one column of a database. The numbers of this column are multiplied by the number of columns
    (`pieces`), which gives an estimate for the whole database.
    """
    times = [None if data.build_ms is None else data.pieces * data.build_ms for data in prepared]
    return {
        "entries": sum(data.pieces * data.entries for data in prepared),
        "build_expansions": sum(data.pieces * data.build_expansions for data in prepared),
        "build_ms": None if None in times else round(sum(filter(None, times)), 3),
    }
