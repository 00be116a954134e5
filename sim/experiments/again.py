"""Reconstruct the run behind a row of an experiment's results, so that it can be simulated again or saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.agent_api import AgentSpec
from sim.counted import counted
from sim.experiments.plan import Job, Keys, find_row, job_of
from sim.experiments.problems import Case
from sim.experiments.runs import config_of
from sim.experiments.spec import Specification, parse_experiment
from sim.experiments.store import Store
from sim.files.map_source import rows_of
from sim.files.scenario import Scenario, Until
from sim.params import ConfigError
from sim.results import MOVE_LIMIT, STUCK


def specification_of(store: Store, specs: Mapping[str, AgentSpec], maps: Sequence[Path] = ()) -> Specification:
    """Return the specification of stored results, parsed from the copy of its text in the results file.

    Args:
        store: The results.
        specs: All agents by their keys.
        maps: Folders in which map files are searched, after the folder of the specification.
    """
    folders = [Path(store.meta("folder") or "."), *maps]
    name = f"{store.meta('name')}.yaml"
    return parse_experiment(store.meta("specification"), name, specs, store.meta("size") or "full", folders)


@dataclass(frozen=True)
class Found:
    """Planned run of one row of the results: its problem, the job that simulates it, and the key of its results."""

    case: Case
    job: Job
    key: bytes


def found(spec: Specification, row: int) -> Found:
    """Return the planned run of a row of the results; raise a ConfigError if the experiment has no such row."""
    try:
        batch, case, setting = find_row(spec, row)
    except IndexError:
        raise ConfigError(f"replay: expected a row from 0 to {spec.count - 1:,}, got {row:,}") from None
    keys = Keys(batch).of(case)
    return Found(case, job_of(batch, case, keys), keys[batch.settings.index(setting)])


def found_as_it_was(store: Store, spec: Specification, row: int) -> Found:
    """Return the planned run of a row, after checking that the row still stands for the same problem.

    Raises:
        ConfigError: The map or the problem of the row has changed since the results were computed.
    """
    was = store.ends_of(row)
    boards = {case.board.name: case.board for part in spec.parts for case in part.cases}
    changed = [name for name, board in boards.items() if not store.is_planned_on(board)]
    if was is not None and was[0] in changed:
        raise ConfigError(f"row {row:,}: the map {was[0]} has changed since the results were computed")
    there = found(spec, row)
    case = there.case
    if was is not None and was != (case.board.name, *case.start, *case.goal):
        because = f", because the map {changed[0]} has changed" if changed else ""
        raise ConfigError(f"row {row:,}: the specification no longer describes the problem of these results{because}")
    return there


def scenario_of(store: Store, spec: Specification, row: int) -> Scenario:
    """Return the run of a results row as a scenario that contains the map, so its file can be sent to other people."""
    there = found_as_it_was(store, spec, row)
    grid, job = there.case.board.grid, there.job
    return Scenario(
        rows_of(grid, there.case.board.name),
        there.case.start,
        there.case.goal,
        tuple(config_of(walk) for walk in job.walks),
        title=f"Row {row:,} of {spec.name}",
        seed=job.seed,
        budget=job.walks[0].budget,
        changes=job.changes,
        trials=job.trials,
        until=_until_of(store, row, job),
    )


def _until_of(store: Store, row: int, job: Job) -> Until | None:
    """Return the tick at which a limit of moves or ticks ended the run of a row, or None if no limit ended it."""
    outcome, tick = store.end_of(row) or ("", 0)
    if outcome not in (MOVE_LIMIT, STUCK):
        return None
    if outcome == MOVE_LIMIT:
        why = f"at its limit of {counted(job.moves, 'move')}"
    else:
        why = f"at its limit of {counted(job.ticks, 'tick')}" if tick >= job.ticks else "because the agent was stuck"
    return Until(tick, f"row {row:,} ended here {why}")
