"""Reconstruct the run behind a row of an experiment's results, so that it can be simulated again or saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.job_runner import agent_config_of_run
from experiments.plan import RunKeyCalculator, WorldJob, create_world_job, find_planned_row
from experiments.problems import ProblemInstance
from experiments.specification import ExperimentSpecification, parse_experiment
from experiments.store import ResultStore
from files.map_source import map_rows_of_grid
from files.scenario import Scenario, StopTick
from sim.agent_api import AgentSpec
from sim.params import ConfigError
from sim.plurals import count_with_noun
from sim.result_lines import MOVE_LIMIT, STUCK


def stored_specification(
    store: ResultStore, specs: Mapping[str, AgentSpec], maps: Sequence[Path] = ()
) -> ExperimentSpecification:
    """Return the specification of stored results, parsed from the copy of its text in the results file.

    Args:
        store: The results.
        specs: All agents by their keys.
        maps: Folders in which map files are searched, after the folder of the specification.
    """
    folders = [Path(store.metadata_value("folder") or "."), *maps]
    name = f"{store.metadata_value('name')}.yaml"
    return parse_experiment(
        store.metadata_value("specification"), name, specs, store.metadata_value("size") or "full", folders
    )


@dataclass(frozen=True)
class PlannedRun:
    """Planned run of one row of the results: its problem, the job that simulates it, and the key of its results."""

    case: ProblemInstance
    job: WorldJob
    key: bytes


def find_planned_run(spec: ExperimentSpecification, row: int) -> PlannedRun:
    """Return the planned run of a row of the results; raise a ConfigError if the experiment has no such row."""
    try:
        batch, case, setting = find_planned_row(spec, row)
    except IndexError:
        raise ConfigError(f"replay: expected a row from 0 to {spec.run_count - 1:,}, got {row:,}") from None
    keys = RunKeyCalculator(batch).run_keys_for_problem(case)
    return PlannedRun(case, create_world_job(batch, case, keys), keys[batch.settings.index(setting)])


def find_unchanged_run(store: ResultStore, spec: ExperimentSpecification, row: int) -> PlannedRun:
    """Return the planned run of a row, after checking that its map and its problem are unchanged.

    Raises:
        ConfigError: The map or the problem of the row has changed since the results were computed.
    """
    was = store.map_start_goal(row)
    boards = {case.map_data.name: case.map_data for part in spec.parts for case in part.cases}
    changed = [name for name, board in boards.items() if not store.is_plan_for_map(board)]
    if was is not None and was[0] in changed:
        raise ConfigError(f"row {row:,}: the map {was[0]} has changed since the results were computed")
    planned_run = find_planned_run(spec, row)
    case = planned_run.case
    if was is not None and was != (case.map_data.name, *case.start, *case.goal):
        because = f", because the map {changed[0]} has changed" if changed else ""
        raise ConfigError(f"row {row:,}: the specification no longer describes the problem of these results{because}")
    return planned_run


def scenario_of_row(store: ResultStore, spec: ExperimentSpecification, row: int) -> Scenario:
    """Return the run of a results row as a scenario that contains the map, so its file can be sent to other people."""
    planned_run = find_unchanged_run(store, spec, row)
    grid, job = planned_run.case.map_data.grid, planned_run.job
    return Scenario(
        map_rows_of_grid(grid, planned_run.case.map_data.name),
        planned_run.case.start,
        planned_run.case.goal,
        tuple(agent_config_of_run(walk) for walk in job.agent_runs),
        title=f"Row {row:,} of {spec.name}",
        seed=job.seed,
        budget=job.agent_runs[0].budget,
        changes=job.changes,
        trials=job.max_trials,
        stop_tick=_stop_tick_of_row(store, row, job),
    )


def _stop_tick_of_row(store: ResultStore, row: int, job: WorldJob) -> StopTick | None:
    """Return the tick at which a limit of moves or ticks ended the run of a row, or None if no limit ended it."""
    outcome, tick = store.outcome_and_ticks(row) or ("", 0)
    if outcome not in (MOVE_LIMIT, STUCK):
        return None
    if outcome == MOVE_LIMIT:
        why = f"at its limit of {count_with_noun(job.moves, 'move')}"
    else:
        why = (
            f"at its limit of {count_with_noun(job.ticks, 'tick')}"
            if tick >= job.ticks
            else "because the agent was stuck"
        )
    return StopTick(tick, f"row {row:,} ended here {why}")
