"""Workers, those that die, drivers that are killed, a real scheduler: the table is always the same."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import main
from cli.experiment import engine as engine_module
from cli.experiment import pools, worker
from cli.experiment.engine import ExperimentEngine
from cli.progress import ProgressBar
from experiments.export import write_csv_tables
from experiments.plan import WorkerTask, iter_unfinished_tasks
from experiments.store import open_store_for_reading, open_store_for_writing
from sim.params import ConfigError

from .conftest import ROOT
from .experiments import SLOWER, TINY, engine_of, run_all, spec_of


@pytest.fixture(scope="module")
def reference_table(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of the slower experiment, made without any interruption."""
    return run_all(SLOWER, tmp_path_factory.mktemp("reference_table"))


def test_two_processes_give_the_same_table(tmp_path: Path, reference_table: bytes) -> None:
    assert run_all(SLOWER, tmp_path, jobs=2) == reference_table


# --- workers that die -----------------------------------------------------------------------------


class WorkerKillingEngine(ExperimentEngine):
    """Kills a worker now and then."""

    kills = 0

    def _collect_results(self) -> None:
        super()._collect_results()
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        if processes and self.kills < self.most and CHANCE.random() < 0.5 and self._running_tasks:
            CHANCE.choice(processes).kill()
            self.kills += 1

    most = 3


CHANCE = random.Random(4)


def run_with_killed_workers(folder: Path, most: int) -> tuple[WorkerKillingEngine, bytes]:
    store, spec = open_store_for_writing(folder), spec_of(SLOWER)
    store.store_plan(spec)
    driver = WorkerKillingEngine(
        store,
        pools.choose_executor_factory(None, 2, folder),
        ProgressBar(),
        iter_unfinished_tasks(spec, set()),
        spec.run_count,
    )
    driver.most = most
    driver.run_all_tasks()
    write_csv_tables(store)
    assert not store.failed_runs()
    store.close()
    return driver, (folder / "results.csv").read_bytes()


def test_work_of_killed_workers_is_redone(tmp_path: Path, reference_table: bytes) -> None:
    driver, table = run_with_killed_workers(tmp_path, 2)
    assert driver.kills and table == reference_table


@pytest.mark.slow
def test_ten_killed_workers_leave_the_table_unchanged(tmp_path: Path, reference_table: bytes) -> None:
    driver, table = run_with_killed_workers(tmp_path, 10)
    assert driver.kills == 10 and table == reference_table


def work_or_crash(task: WorkerTask) -> Any:
    """A worker that one problem kills every time."""
    if POISON in {job.start for job in task.jobs}:
        os._exit(3)
    return engine_module.worker.compute_task_pickled(task)


POISON = spec_of(TINY).parts[0].cases[5].start


def test_problem_that_crashes_every_worker_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class CrashingEngine(ExperimentEngine):
        def _submit_task(self, suspect: Any) -> None:
            self._running_tasks[self._executor.submit(work_or_crash, suspect.task)] = suspect

    text = TINY.replace('"tb-wa:weight=1", {kind: tb-wa, weight: [1.4, 3]}, ', "").replace("[1, 16]", "[16]")
    store, spec = open_store_for_writing(tmp_path), spec_of(text)
    store.store_plan(spec)
    driver = CrashingEngine(
        store,
        pools.choose_executor_factory(None, 2, tmp_path),
        ProgressBar(),
        iter_unfinished_tasks(spec, set()),
        spec.run_count,
    )
    driver.run_all_tasks()
    assert store.failed_runs() == [(5, "lost its worker 3 times")]
    assert store.progress_counts() == (11, 12)
    store.close()


def test_failure_reason_is_one_line() -> None:
    log = "Job (task=0) failed with trace:\n  File x\nValueError: nobody knows\n\nYou can check 'job.stderr(0)'\n"
    told = [engine_module._error_line(error) for error in (RuntimeError(log), ValueError("a b"), OSError())]
    assert told == ["ValueError: nobody knows", "ValueError: a b", "OSError: "]


def test_worker_without_the_program_gives_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*given: Any) -> Any:
        raise ModuleNotFoundError("No module named 'cli'")

    monkeypatch.setattr(engine_module.worker, "compute_task", missing)
    store = open_store_for_writing(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot load the program \(No module named 'cli'\).*PYTHONPATH="):
        engine_of(spec_of(TINY), store).run_all_tasks()
    store.close()


# --- drivers that are killed ----------------------------------------------------------------------


def start_driver(spec: Path, folder: Path, *more: str, at: Path = ROOT) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ROOT / "main.py"), "experiment", str(spec), "-o", str(folder), *more]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=at)


def count_finished_runs(folder: Path) -> int:
    try:
        store = open_store_for_reading(folder)
    except Exception:
        return 0
    try:
        return store.progress_counts()[0]
    finally:
        store.close()


def interrupt_at(folder: Path, process: "subprocess.Popen[str]", runs: int, sign: int) -> str:
    """Send a signal as soon as so many runs are done. Returns what the program has said."""
    while process.poll() is None and count_finished_runs(folder) < runs:
        time.sleep(0.02)
    if process.poll() is None:
        process.send_signal(sign)
    assert process.stderr
    said = process.stderr.read()
    process.stderr.close()
    process.wait(120)
    return said


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_driver_resumes_without_repeating_runs(tmp_path: Path, reference_table: bytes, count: int) -> None:
    spec, folder = tmp_path / "slower.yaml", tmp_path / "out"
    spec.write_text(SLOWER)
    chance, total = random.Random(count), spec_of(SLOWER).run_count
    for number in range(count):
        before = count_finished_runs(folder)
        aim = before + 1 + chance.randrange(max(1, (total - before) // (count - number + 1)))
        interrupt_at(folder, start_driver(spec, folder, "--jobs", "2"), aim, signal.SIGKILL)
        assert count_finished_runs(folder) >= min(aim, total)
    store = open_store_for_writing(folder)
    left = total - store.progress_counts()[0]
    driver = engine_of(spec_of(SLOWER), store)
    driver.run_all_tasks()
    assert driver.done == left
    write_csv_tables(store)
    store.close()
    assert (folder / "results.csv").read_bytes() == reference_table


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_driver_writes_a_table_of_finished_runs(
    tmp_path: Path, reference_table: bytes, sign: signal.Signals, code: int
) -> None:
    spec, folder = tmp_path / "slower.yaml", tmp_path / "out"
    spec.write_text(SLOWER)
    process = start_driver(spec, folder, "--jobs", "2")
    said = interrupt_at(folder, process, 10, sign)
    assert process.returncode in (code, 0)
    assert ("; stopped, run the same command to continue" in said) == (process.returncode == code)
    table = (folder / "results.csv").read_bytes().splitlines()
    assert table and set(table) <= set(reference_table.splitlines())
    assert run_all(SLOWER, folder) == reference_table


# --- clusters -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    address: str
    scheduler: "subprocess.Popen[bytes]"


@pytest.fixture(params=[True])
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Start a Dask scheduler, which does not know the program, and two workers, which do unless param is False."""
    pytest.importorskip("distributed")
    address = tmp_path / "scheduler.json"
    strange = {**os.environ, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}

    def started(program: str, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", str(address), *arguments]
        with open(tmp_path / f"{program}.log", "ab") as log:
            knows = request.param and program == "dask_worker"
            environment = strange | ({"PYTHONPATH": str(ROOT)} if knows else {})
            return subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, cwd=tmp_path, start_new_session=True
            )

    processes = [started("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
    processes += [started("dask_worker", "--nthreads", "1", "--no-dashboard", "--no-nanny") for _ in range(2)]
    found = ""
    deadline = time.monotonic() + 90
    while not found and time.monotonic() < deadline:
        time.sleep(0.1)
        with contextlib.suppress(OSError, ValueError):  # not there yet, or half of it
            found = json.loads(address.read_text())["address"]
    try:
        yield Cluster(found, processes[0])
    finally:
        for process in processes[::-1]:
            process.kill()
            process.wait()


@pytest.fixture
def scheduler(cluster: Cluster) -> str:
    """Return the address of a Dask scheduler with two workers."""
    return cluster.address


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_with_two_workers_gives_the_same_table(
    tmp_path: Path, scheduler: str, reference_table: bytes
) -> None:
    spec, folder = tmp_path / "slower.yaml", tmp_path / "out"
    spec.write_text(SLOWER)
    process = start_driver(spec, folder, "--cluster", scheduler)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert f"the scheduler at {scheduler}" in err
    assert (folder / "results.csv").read_bytes() == reference_table


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cluster", [False], indirect=True)
def test_workers_without_the_program_give_one_message_and_no_failed_run(tmp_path: Path, scheduler: str) -> None:
    spec, folder = tmp_path / "slower.yaml", tmp_path / "out"
    spec.write_text(SLOWER)
    process = start_driver(spec, folder, "--cluster", scheduler)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2 and f"start workers with PYTHONPATH={ROOT}" in err.splitlines()[-1], err


@pytest.mark.filterwarnings("ignore")
def test_lost_scheduler_gives_one_message_and_the_run_can_resume(
    tmp_path: Path, cluster: Cluster, reference_table: bytes
) -> None:
    spec, folder = tmp_path / "slower.yaml", tmp_path / "out"
    spec.write_text(SLOWER)
    process = start_driver(spec, folder, "--cluster", cluster.address)
    while process.poll() is None and count_finished_runs(folder) < 10:
        time.sleep(0.02)
    cluster.scheduler.kill()
    _, err = process.communicate(timeout=120)
    *before, lost, summary = err.splitlines()
    assert process.returncode == 1, err
    assert [line for line in before if "slower" not in line and "out: " not in line] == []
    assert lost.startswith(f"lost the scheduler at {cluster.address}"), err
    assert summary.endswith("; stopped, run the same command to continue"), err
    table = (folder / "results.csv").read_bytes().splitlines()
    assert 10 < len(table) < len(reference_table.splitlines()) and set(table) <= set(reference_table.splitlines())
    again = start_driver(spec, folder, "--jobs", "2")
    assert again.wait(300) == 0
    assert (folder / "results.csv").read_bytes() == reference_table


@pytest.mark.slow
def test_submitit_gives_the_same_table(tmp_path: Path, reference_table: bytes) -> None:
    pytest.importorskip("submitit")
    spec, folder = tmp_path / "slower.yaml", tmp_path / "out"
    spec.write_text(SLOWER.replace("slice: 2", "slice: 10"))
    process = start_driver(spec, folder, "--cluster", "slurm-local", at=tmp_path)  # jobs find the program from anywhere
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert (folder / "results.csv").read_bytes() == reference_table


@pytest.mark.parametrize(("cluster", "message"), [("slurm", "got one without srun"), ("here", "got 'here'")])
def test_unavailable_cluster_gives_one_message_and_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cluster: str, message: str
) -> None:
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    spec = tmp_path / "tiny.yaml"
    spec.write_text(TINY)
    assert main.main(["experiment", str(spec), "-o", str(tmp_path / "out"), "--cluster", cluster]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and err.startswith("experiment: --cluster") and message in err
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]


def test_unreachable_scheduler_gives_one_message(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    spec = tmp_path / "tiny.yaml"
    spec.write_text(TINY)
    words = ["experiment", str(spec), "-o", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:9"]
    hurried = (
        f"import main; from cli.experiment import pools; pools._CONNECT_S = 0.5; raise SystemExit(main.main({words}))"
    )
    ended = subprocess.run([sys.executable, "-c", hurried], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "no scheduler answers at tcp://127.0.0.1:9" in ended.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_each_kernel_is_warmed_up_once_before_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those in which only numbers differ, one; nobody twice in a process."""
    text = TINY.replace("lrta]", "lrta, {kind: tba, shortcut: [true, false]}]").replace("[1, 16]", "[16, 32]")
    done: list[str] = []

    def do_task(task: WorkerTask, *_: object) -> tuple[list[object], list[object]]:
        done.append("task")
        return [], []

    monkeypatch.setattr(worker, "_WARMED_KERNELS", set())
    monkeypatch.setattr(
        worker, "warm_up_agent", lambda config: done.append(f"{config.kind} {config.params.get('shortcut')}")
    )
    monkeypatch.setattr(worker, "run_task", do_task)
    for task in iter_unfinished_tasks(spec_of(text), set()):
        worker.compute_task(task)
    walks = [word for word in done if word != "task"]
    assert walks == ["tb-wa None", "lrta None", "tba True", "tba False"]
    assert all(done[done.index(word) + 1] == "task" for word in walks) and done.count("task") > 2 * len(walks)
