"""The installed program: what is in the packages, and that `backmove` does what main.py does, from anywhere."""

import json
import os
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from pathlib import Path

import pytest

import main
from files.shipped_files import EXPERIMENTS, LESSONS, MAPS, SCENARIOS, resolve_openable_file, resolve_shipped_file
from sim.jit import kernel_archive
from sim.jit.sources import all_sources_stamp

from .conftest import ROOT

pytest.importorskip("hatchling", reason="builds packages with hatchling, see requirements-dev.txt")


def build(folder: Path, *targets: str, **environment: str) -> list[Path]:
    words = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *words, "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (made,) = build(tmp_path_factory.mktemp("dist"), "wheel")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked, as an installer would; what it needs is that of the tests."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def backmove(installed: Path, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(installed), "SDL_VIDEODRIVER": "dummy"}
    command = [sys.executable, "-W", "error", "-m", "backmove", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_wheel_contains_only_backmove(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"backmove", "backmove-0.2.0.dist-info"}
    assert {name.split("/")[2] for name in names if name.startswith("backmove/_app/")} == {
        *("main.py", "sim", "files", "experiments", "agents", "ui", "cli", "assets")
    }
    assert wheel.name == "backmove-0.2.0-py3-none-any.whl"


def test_wheel_requires_the_pinned_requirements(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        about = archive.read("backmove-0.2.0.dist-info/METADATA").decode()
    needed = [line.split(": ", 1)[1] for line in about.splitlines() if line.startswith("Requires-Dist")]
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins = [line.split(";")[0].strip().lower() for line in lines if line and not line.startswith("#")]
    kept = [n.split(";")[0].strip().lower() for n in needed if "extra" not in n]
    assert sorted(pin.replace("_", "-") for pin in pins) == sorted(kept)
    assert "Requires-Python: <3.15,>=3.11" in about


def test_source_archive_is_small(tmp_path: Path) -> None:
    (archive,) = build(tmp_path, "sdist")
    with tarfile.open(archive) as tar:
        names = [name.split("/", 1)[1] for name in tar.getnames()]
    assert archive.stat().st_size < 2_500_000
    assert "packaging/backmove/__init__.py" in names and "requirements.txt" in names
    assert not [name for name in names if name.startswith(("tests/", "docs/shots/"))]


def test_installed_command_runs_from_another_folder(installed: Path, tmp_path: Path) -> None:
    listed = backmove(installed, tmp_path, "agents", "--json")
    assert listed.returncode == 0 and len(json.loads(listed.stdout)) > 15
    told = backmove(installed, tmp_path, "--help").stdout
    assert told.count("backmove ") == 4 and "main.py" not in told and "\n    solve " in told
    ran = backmove(installed, tmp_path, "run", "bridges")
    assert ran.returncode == 0 and ran.stderr == ""
    assert [json.loads(line)["outcome"] for line in ran.stdout.splitlines()] == ["reached", "reached"]
    wrong = backmove(installed, tmp_path, "run", "brigdes")
    assert wrong.returncode == 2 and "Traceback" not in wrong.stderr


def test_installed_command_records_from_another_folder(installed: Path, tmp_path: Path) -> None:
    made = backmove(installed, tmp_path, "record", "bridges", "-o", "b.gif", "--ticks", "0:5", "--size", "320x200")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "b.gif").read_bytes()[:3] == b"GIF"


def test_installed_window_opens_from_another_folder(installed: Path, tmp_path: Path) -> None:
    status = tmp_path / "status.json"
    environment = {**os.environ, "PYTHONPATH": str(installed), "SDL_VIDEODRIVER": "dummy"}
    environment["BACKMOVE_STATUS"] = str(status)
    with subprocess.Popen([sys.executable, "-m", "backmove", "bridges"], cwd=tmp_path, env=environment) as window:
        while not status.exists() and window.poll() is None:
            time.sleep(0.05)
        window.kill()
    assert json.loads(status.read_text())["title"] == "Lazy and eager at the bridges"


# --- examples by name -------------------------------------------------------------------------------------


def test_examples_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in (SCENARIOS, MAPS, EXPERIMENTS, LESSONS):
        assert kind.names()
        for name in kind.names():
            file = resolve_shipped_file(name, kind)
            assert Path(file).is_file() and resolve_shipped_file(f"{name}{kind.suffix}", kind) == file
    for name in ("nothing", "", ".", "..", "../scenarios/bridges", "a/bridges"):
        assert resolve_shipped_file(name) == name
    assert (
        resolve_openable_file("rooms-64") == resolve_shipped_file("rooms-64", MAPS)
        and resolve_openable_file("nothing") == "nothing"
    )
    assert resolve_openable_file("why-agents-scrub") == resolve_shipped_file("why-agents-scrub", LESSONS)
    assert resolve_openable_file("two-corridors") == resolve_shipped_file("two-corridors")  # a map has that name, too
    (tmp_path / "e6").mkdir()
    assert resolve_shipped_file("e6", EXPERIMENTS) != "e6"
    (tmp_path / "bridges").touch()
    assert resolve_shipped_file("bridges") == "bridges"


def test_misspelt_example_name_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["brigdes"]) == 2
    assert capsys.readouterr().err == "brigdes: no such command or file; did you mean 'bridges'?\n"


# --- compiled kernels -------------------------------------------------------------------------------------


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "kernels-1234"
    (cache / "sim.kernels.a").mkdir(parents=True)
    (cache / "sim.kernels.a" / "f.nbc").write_bytes(b"code")
    (cache / "a.ready").write_bytes(b"ready")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    return kernel_archive.pack_kernel_cache(str(tmp_path))


def file_contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_packed_kernels_are_unpacked_only_once(archive: Path, tmp_path: Path) -> None:
    assert archive.name == f"kernels-1234-{all_sources_stamp()}.tar.xz"
    cache = tmp_path / "cache"
    cache.mkdir()
    kernel_archive.unpack_kernel_archive(archive, cache)
    assert file_contents(cache) == file_contents(tmp_path / "kernels-1234") | {f"{archive.name}.unpacked": b""}
    (cache / "sim.kernels.a" / "f.nbc").unlink()
    kernel_archive.unpack_kernel_archive(archive, cache)
    assert not (cache / "sim.kernels.a" / "f.nbc").exists()
    assert [path.name for path in cache.iterdir() if path.name.startswith(".")] == []


def test_truncated_kernel_archive_is_ignored(archive: Path, tmp_path: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:100])
    cache = tmp_path / "cache"
    cache.mkdir()
    kernel_archive.unpack_kernel_archive(archive, cache)
    assert not any(path.suffix in (".nbc", ".ready") for path in cache.rglob("*"))


@pytest.mark.slow
def test_wheel_with_kernels_compiles_nothing(tmp_path: Path) -> None:
    """Built, installed into a clean environment, and run on an empty cache: the cache is as it was packed."""
    command = [sys.executable, "packaging/compile.py", str(tmp_path / "build")]
    packing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (made,) = build(tmp_path / "dist", "wheel", BACKMOVE_KERNELS=packing.stdout.strip())
    assert "-py3-none-any" not in made.name
    venv.create(tmp_path / "clean", with_pip=True)
    scripts = tmp_path / "clean" / ("Scripts" if os.name == "nt" else "bin")
    done = subprocess.run([scripts / "python", "-m", "pip", "install", "-q", str(made)], capture_output=True, text=True)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("needs the network")
    assert done.returncode == 0, done.stderr
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "SDL_VIDEODRIVER": "dummy"}
    digests = []
    for words in (["agents"], ["run", "bridges"], ["record", "bridges", "-o", "b.gif", "--ticks", "0:5"]):
        ran = subprocess.run(
            [scripts / "backmove", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        if words[0] == "run":
            digests += [json.loads(line)["digest"] for line in ran.stdout.splitlines()]
    (cache,) = (tmp_path / "cache" / "backmove").glob("kernels-*")
    with tarfile.open(packing.stdout.strip()) as tar:
        packed_names = {entry.name for entry in tar if entry.isfile()}
    assert {name for name in file_contents(cache) if not name.endswith(".unpacked")} == packed_names
    here = subprocess.run(
        [sys.executable, "main.py", "run", "bridges"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert digests == [json.loads(line)["digest"] for line in here.stdout.splitlines()]
