"""The user's folders: where they are, and that nobody else can write into those whose files are run."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.system import user_folders
from sim.system.user_folders import (
    cache_folder,
    config_folder,
    create_private_folder,
    is_private_folder,
    state_folder,
    temporary_folder,
)
from tests import conftest

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of folders differ by system")
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows keeps the folders of users apart by itself")

PLACES = [
    (cache_folder, "XDG_CACHE_HOME", ".cache"),
    (config_folder, "XDG_CONFIG_HOME", ".config"),
    (state_folder, "XDG_STATE_HOME", ".local/state"),
]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@linux_only
@pytest.mark.parametrize(("folder", "variable", "below_home"), PLACES)
def test_folders_follow_home_and_environment_variables(
    folder: Callable[[], Path], variable: str, below_home: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder() == home / below_home / "backmove"
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert folder() == home / "elsewhere" / "backmove"


@linux_only
@pytest.mark.parametrize(("folder", "variable", "below_home"), PLACES)
def test_missing_home_uses_a_private_temporary_folder(
    folder: Callable[[], Path], variable: str, below_home: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it is for a user without an entry anywhere
    assert folder() == temporary_folder() and is_private_folder(folder())
    monkeypatch.setenv(variable, "not/absolute")
    assert folder() == temporary_folder()


@posix_only
def test_temporary_folder_of_another_user_is_not_used(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = temporary_folder()
    assert usual == temporary_folder() and usual.stat().st_mode & 0o777 == 0o700
    usual.chmod(0o777)
    assert temporary_folder() != usual and is_private_folder(temporary_folder())
    usual.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: usual.stat().st_uid + 1)
    assert not is_private_folder(usual)


@posix_only
def test_symlink_is_not_accepted_as_private_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert not create_private_folder(tmp_path / "link") and create_private_folder(tmp_path / "real")


def test_make_private_fails_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not create_private_folder(tmp_path / "file") and not create_private_folder(tmp_path / "file" / "below")


def test_audit_hook_detects_writes_to_real_user_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path(conftest._USERS_OWN[0]) / "settings.yaml"
    sys.audit("open", str(real), "r", os.O_RDONLY)
    assert not conftest._touched
    sys.audit("open", str(real), "w", os.O_WRONLY)
    sys.audit("os.rename", "part", real, -1, -1)
    sys.audit("sqlite3.connect", str(real))
    sys.audit("os.truncate", str(real), 0)
    assert len(conftest._touched) == 4
    conftest._touched.clear()


def test_every_test_has_an_isolated_home(home: Path) -> None:
    assert home.is_dir() and not list(home.iterdir())
    assert user_folders.config_folder().is_relative_to(home) or sys.platform == "win32"
