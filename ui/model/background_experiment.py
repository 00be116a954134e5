"""Experiment in the background: another process performs the runs, and the window reads their results from a folder.

    study = begin_experiment(sketch, jobs)    write the experiment and start it, at the lowest priority
    study.poll()                              read new results: study.done, study.whole, study.points
    study.cancel()                            stop it; finished runs remain in its folder

This module does not use pygame.
"""

import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.registry import AGENT_SPECS_BY_KEY
from experiments import draft as sketches
from experiments.draft import BUDGET_AXIS, ExperimentDraft, SweepAxis
from experiments.plan import params_json
from experiments.rerun import scenario_of_row, stored_specification
from experiments.run_totals import RunTotals
from experiments.statistics import SettingScore, pareto_settings
from experiments.store import DATABASE_FILE, open_store_for_reading
from files.disk import file_error_reason
from files.scenario import Scenario
from sim.params import ConfigError, Value
from sim.system.user_folders import delete_old_folders, state_folder
from ui.model import subprocesses

MAX_EXPERIMENT_FOLDERS = 20  # number of the latest experiment folders that are kept
_COLUMNS = (
    *("row", "agent", "label", "params", "budget", "outcome", "suboptimality"),
    *("moves", "back_moves", "ticks", "expansions", "max_expansions", "planning_ms"),
)


@dataclass(frozen=True)
class SettingResults:
    """Results of one setting (agent, parameters and budget) on the problems finished so far."""

    agent_kind: str
    label: str
    params: Mapping[str, Value]
    budget: int
    run_totals: RunTotals
    representative_row: int  # row number, in the results, of the run whose cost is nearest to the mean cost

    @property
    def name(self) -> str:
        return self.label or AGENT_SPECS_BY_KEY[self.agent_kind].name

    @property
    def mean_cost_ratio(self) -> float:
        """Return the mean of cost / optimal; nan if no run arrived."""
        return self.run_totals.cost

    @property
    def median_and_max_cost_ratio_text(self) -> str:
        """Return the median and maximum of cost / optimal as text."""
        return f"median {self.run_totals.median_cost_ratio:.3f}, max {self.run_totals.max_cost_ratio:.3f}"

    @property
    def expansions_per_move(self) -> float:
        """Return the expansions per move of this setting, pooled over all its runs."""
        return self.run_totals.expansions_per_move

    @property
    def has_always_arrived(self) -> bool:
        """Return whether the agent arrived on every problem."""
        return self.run_totals.arrived_count == self.run_totals.run_count


def setting_name(point: SettingResults, points: Sequence[SettingResults]) -> str:
    """Return the name of a setting: its agent, and the parameters that differ from other settings of that name."""
    others = [other.params for other in points if other.name == point.name]
    differing = [name for name, value in point.params.items() if any(other.get(name) != value for other in others)]
    return " ".join([point.name, *(f"{name}={short_param_value_text(point.params[name])}" for name in differing)])


def short_param_value_text(value: Value) -> str:
    """Return a short text of a parameter value, for lists of settings."""
    return f"{value:g}" if isinstance(value, float) else params_json({"": value})[4:-1].strip('"')


class BackgroundExperiment:
    """Running or finished experiment, with the results read so far."""

    def __init__(self, draft: ExperimentDraft, folder: Path, process: "subprocess.Popen[bytes]") -> None:
        self.draft, self.experiment_folder, self.experiment_process = draft, folder, process
        self.done, self.run_count = 0, 0  # number of finished runs, and number of all runs
        self.setting_results: list[SettingResults] = []
        self.failed_run_count = 0
        self.was_cancelled = False
        self.start_s = time.monotonic()

    @property
    def results_folder(self) -> Path:
        return self.experiment_folder / "results"

    @property
    def is_running(self) -> bool:
        return self.experiment_process.poll() is None

    @property
    def estimated_remaining_s(self) -> float:
        """Return the estimated remaining time in seconds, if the remaining runs take as long as the finished ones."""
        return (time.monotonic() - self.start_s) * (self.run_count - self.done) / max(1, self.done)

    @property
    def error_output(self) -> str:
        """Return the last lines of the error output if the process failed; "" if it has not failed."""
        if self.is_running or self.was_cancelled or self.experiment_process.returncode in (0, 1):
            return ""
        with suppress(OSError):
            lines = (self.experiment_folder / "log").read_text(encoding="utf-8", errors="replace").split("\n")
            return "\n".join(line for line in lines if line.strip())[-400:]
        return "the process ended without a message"

    def read_new_results(self) -> bool:
        """Read new results of the experiment from its folder, and return whether there are any."""
        if not (self.results_folder / DATABASE_FILE).is_file():
            return False
        # The file of the results may be incomplete while it is being created.
        # If the file is damaged, the process that writes it reports that.
        with suppress(ConfigError), open_store_for_reading(self.results_folder) as store:
            before, (self.done, self.run_count) = self.done, store.progress_counts()
            if self.done != before:
                self.setting_results = _results_by_setting(store.iter_rows(_COLUMNS))
                self.failed_run_count = len(store.failed_runs())
                return True
        return False

    def pareto_front(self) -> list[int]:
        """Return the indices in `setting_results` of the Pareto-optimal settings, with respect to cost and work."""
        return pareto_settings(
            [
                SettingScore(
                    p.expansions_per_move, p.mean_cost_ratio, p.run_totals.arrived_count / p.run_totals.run_count
                )
                for p in self.setting_results
            ]
        )

    def sweep_table(self) -> list[list[SettingResults | None]]:
        """Return the results of a sweep: a row per value of the first parameter, a column per value of the second."""
        first, second = self.draft.sweep
        by_values = {
            (_param_value_on_axis(point, first), _param_value_on_axis(point, second)): point
            for point in self.setting_results
        }
        return [[by_values.get((a, b)) for b in second.values] for a in first.values]

    def scenario_of_row(self, row: int) -> Scenario:
        """Return the scenario of the run with this row number."""
        with open_store_for_reading(self.results_folder) as store:
            return scenario_of_row(store, stored_specification(store, AGENT_SPECS_BY_KEY), row)

    def cancel(self) -> None:
        """Stop the experiment; the results of finished runs are kept."""
        if self.is_running:
            self.was_cancelled = True
            self.experiment_process.terminate()


def begin_experiment(draft: ExperimentDraft, jobs: int | None = None) -> BackgroundExperiment:
    """Write an experiment into a folder of its own and start it.

    Args:
        draft: The experiment.
        jobs: Number of worker processes; None: one for each processor but one.

    Raises:
        ConfigError: The folder cannot be written.
    """
    above = state_folder() / "experiments"
    delete_old_folders(above, "*", MAX_EXPERIMENT_FOLDERS - 1)
    try:
        above.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=above))
        return _start_experiment_process(
            folder, sketches.write_experiment_files(draft, folder, AGENT_SPECS_BY_KEY), draft, jobs
        )
    except OSError as error:
        raise ConfigError(f"{above}: the experiment cannot be written: {file_error_reason(error)}") from error


def _start_experiment_process(
    folder: Path, path: Path, draft: ExperimentDraft, jobs: int | None
) -> BackgroundExperiment:
    workers = jobs or max(1, (os.cpu_count() or 1) - 1)  # one processor is left to the window
    arguments = ["experiment", str(path), "-o", str(folder / "results"), "--jobs", str(workers), "--nice", "19"]
    # The input is a pipe without a writer. It is closed when the window ends, even if the window is killed.
    arguments.append("--until-input-ends")
    with open(folder / "log", "wb") as log:
        process = subprocesses.start_detached_module(
            "main", *arguments, is_idle=True, stdin=subprocess.PIPE, stdout=log, stderr=log
        )
    return BackgroundExperiment(draft, folder, process)


def _param_value_on_axis(point: SettingResults, axis: SweepAxis) -> Value | None:
    """Return the value of a setting along an axis of a sweep; None if it has none."""
    return point.budget if axis.name == BUDGET_AXIS else point.params.get(axis.name)


def _results_by_setting(rows: Iterable[Sequence[Any]]) -> list[SettingResults]:
    """Return the results of each setting from the rows of finished runs, in the order of the plan."""
    by_setting: dict[tuple[Any, ...], list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        by_setting[tuple(row[1:5])].append(row)
    return [_results_of_runs(setting, setting_rows) for setting, setting_rows in by_setting.items()]


def _results_of_runs(setting: tuple[Any, ...], rows: Sequence[Sequence[Any]]) -> SettingResults:
    """Return the results of one setting from the rows of its runs."""
    kind, label, params, budget = setting
    runs = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    totals = RunTotals()
    for run in runs:
        totals.add(run)
    arrived = [run for run in runs if run["outcome"] == "reached" and run["suboptimality"] is not None]
    typical_run = min(arrived or runs, key=lambda run: abs(run["suboptimality"] - totals.cost) if arrived else 0.0)
    return SettingResults(kind, label or "", json.loads(params), int(budget), totals, int(typical_run["row"]))
