"""What the files about the project say is so: pins, workflow, citation, hook."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import main

from .conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def pins(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-"))]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "requirements-cluster.txt"])
def test_requirements_pin_one_exact_version_per_python(name: str) -> None:
    counts: dict[str, list[str]] = {}
    for line in pins(name):
        match = re.fullmatch(r'([\w.-]+)==[\w.]+(?:; python_version (<|>=) "(\d\.\d+)")?', line)
        assert match, line
        minor = [int(python.split(".")[1]) for python in PYTHONS]
        at = int(match[3].split(".")[1]) if match[3] else 0
        chosen = [m for m in minor if not match[2] or (m < at if match[2] == "<" else m >= at)]
        counts.setdefault(match[1], []).extend(str(m) for m in chosen)
    for package, chosen in counts.items():
        assert sorted(chosen) == sorted(p.split(".")[1] for p in PYTHONS), package


def test_workflow_calls_only_existing_make_targets() -> None:
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    job = flow["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == PYTHONS
    assert {name.split("-")[0] for name in job["strategy"]["matrix"]["system"]} == {"ubuntu", "windows", "macos"}
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert [re.fullmatch(r"make (\w+) PYTHON=python", command)[1] for command in commands] == ["check", "test", "wheel"]  # type: ignore[index]
    assert {"check", "test", "wheel"} <= TARGETS
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(("system", "folder"), [("Windows_NT", "Scripts"), ("", "bin")])
def test_makefile_uses_venv_folder_of_the_system(system: str, folder: str) -> None:
    said = subprocess.run(
        ["make", "--dry-run", "--always-make", "test", f"OS={system}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f".venv/{folder}/python -m pytest" in said and f".venv/{'bin' if system else 'Scripts'}/" not in said


@pytest.mark.parametrize(
    ("schema", "file"),
    [("vendor.github-workflows", ".github/workflows/tests.yml"), ("vendor.citation-file-format", "CITATION.cff")],
)
def test_project_files_match_their_schemas(schema: str, file: str) -> None:
    """Neither can be tried here; the linter brings along the published schemas of what a forge takes."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_citation_matches_project_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == PROJECT["project"]["version"] and cited["license"] == PROJECT["project"]["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(cited)


def test_installed_plain_pygame_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pygame-2.6.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: pygame\nVersion: 2.6.1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main.main([]) == 2
    said = capsys.readouterr().err
    assert "in addition to pygame-ce" in said and "pip uninstall -y pygame pygame-ce" in said


def test_an_installation_prints_one_line_per_package() -> None:
    spec = importlib.util.spec_from_file_location("install", ROOT / "packaging" / "install.py")
    assert spec and spec.loader
    install = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(install)
    output = [
        "Ignoring numpy: markers 'python_version >= \"3.12\"' don't match your environment\n",
        "Collecting numba==0.68.1 (from -r requirements.txt (line 6))\n",
        "  Downloading numba-0.68.1-cp311-cp311-manylinux_2_28_x86_64.whl (3.8 MB)\n",
        "Collecting llvmlite<0.51,>=0.50.0dev0 (from numba==0.68.1->-r requirements.txt (line 6))\n",
        "Installing collected packages: llvmlite, numba\n",
    ]
    assert list(install.progress(output)) == ["  1: numba", "  2: llvmlite", "  installing 2 packages"]
    for name, (download_mb, disk_mb) in install.SIZES_MB.items():
        assert (ROOT / name).is_file() and download_mb < disk_mb
        assert f"packaging/install.py {name}" in MAKEFILE
        page = "README.md" if name == "requirements.txt" else "CONTRIBUTING.md"
        assert f"about {download_mb} MB" in (ROOT / page).read_text(encoding="utf-8")


def test_pre_commit_hook_runs_make_check() -> None:
    hook = ROOT / ".hooks" / "pre-commit"
    assert "make --no-print-directory check" in hook.read_text() and (os.name == "nt" or os.access(hook, os.X_OK))
    assert "core.hooksPath .hooks" in MAKEFILE


def test_contributing_names_existing_make_targets() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z]+)\b(?= )", text)) | set(re.findall(r"`make ([a-z]+)", text))
    assert named <= TARGETS | {"it"} and {"check", "test", "wheel", "hook"} <= named
    links = re.findall(r"\]\(([^)#]+)[)#]", text)
    assert links and all((ROOT / link).exists() for link in links)
