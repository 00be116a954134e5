"""The hook of `make hook` that reads commit messages."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import ROOT

HOOK = ROOT / ".hooks" / "commit-msg"


def run_hook(tmp_path: Path, message: str) -> str:
    """Return what the hook has to say about a message; nothing if it accepts the message."""
    if shutil.which("sh") is None or not HOOK.exists():
        pytest.skip("needs a checkout and sh")
    (tmp_path / "message").write_text(message, encoding="utf-8")
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["sh", str(HOOK), str(tmp_path / "message")], capture_output=True, text=True, env=env)
    assert (done.returncode == 0) == (not done.stderr)
    return done.stderr


@pytest.mark.parametrize(
    "message",
    [
        "layout: prefer plans with less empty area\n",
        "d-lrta: add the capless agent\n\nWhy, and what was measured.\n",
        "sim, agents: describe a tick\n# a comment of git\n",
        "Merge branch 'words'\n",
        'Revert "layout: prefer plans"\n',
    ],
)
def test_subject_with_area_is_accepted(tmp_path: Path, message: str) -> None:
    assert run_hook(tmp_path, message) == ""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Of plans with maps alike the one is taken that leaves less black\n", "area: imperative"),
        ("layout: " + "x" * 65 + "\n", "at most 72 characters, got 73"),
        ("layout: prefer plans.\n", "without a full stop"),
        ("layout: prefer plans\nwith less empty area\n", "empty line"),
        ("\n", "area: imperative"),
    ],
)
def test_subject_without_area_is_refused_with_example(tmp_path: Path, message: str, expected: str) -> None:
    said = run_hook(tmp_path, message)
    assert expected in said and "example: layout:" in said
