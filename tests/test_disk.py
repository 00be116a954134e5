"""Files as a whole: what is read is a file and no pipe, what is written is there or not at all."""

import os
import socket
from pathlib import Path

import pytest

from files import disk
from files.disk import open_regular_file, read_file, write_file_atomically
from files.journal import restore_session
from sim.params import ConfigError
from ui.model.opened_files import KNOWN_SUFFIXES, open_any_file
from ui.model.settings import load_settings

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@needs_pipes
@pytest.mark.parametrize("suffix", [*KNOWN_SUFFIXES, ".journal"])
def test_reading_a_pipe_is_refused_without_blocking(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="got a device or a pipe"):
        restore_session(path, {}) if suffix == ".journal" else open_any_file(path)


@needs_pipes
def test_settings_file_that_is_a_pipe_gives_a_message(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    os.mkfifo(path)
    _, message = load_settings(path)
    assert message is not None and "a device or a pipe" in message


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no /dev/zero")
def test_reading_a_device_or_socket_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "endless.map"
    link.symlink_to("/dev/zero")
    for path in (link, "/dev/zero"):
        with pytest.raises(ConfigError, match="got a device or a pipe"):
            read_file(path, 1 << 20, ".map")
    address = tmp_path / "socket.map"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
        with pytest.raises(ConfigError, match="cannot be read"):
            read_file(address, 1 << 20, ".map")


def test_read_errors_give_the_reason(tmp_path: Path) -> None:
    (tmp_path / "river.map").write_bytes(b"x" * 100)
    for path, limit, complaint in (
        (tmp_path, 100, "got a folder"),
        (tmp_path / "rivr.map", 100, "got no such file; did you mean 'river.map'?"),
        (tmp_path / "river.map", 99, "of at most 99 bytes, got 100"),
        ("a\0b.map", 100, "got no such file"),
    ):
        with pytest.raises(ConfigError) as caught:
            read_file(path, limit, ".map")
        assert complaint in str(caught.value)
    assert read_file(tmp_path / "river.map", 100, ".map") == b"x" * 100
    with open_regular_file(tmp_path / "river.map", ".map") as file:
        assert file.read(3) == b"xxx"


def test_atomic_write_syncs_before_renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(disk.os, "fsync", lambda handle: (done.append("sync"), sync(handle)))
    monkeypatch.setattr(disk.os, "replace", lambda *names: (done.append("replace"), replace(*names)))
    write_file_atomically(tmp_path / "a.txt", b"new")
    assert done[:2] == ["sync", "replace"]
    assert (tmp_path / "a.txt").read_bytes() == b"new" and os.listdir(tmp_path) == ["a.txt"]
    done.clear()
    (tmp_path / "b.part").write_bytes(b"newer")
    disk.rename_file_synced(tmp_path / "b.part", tmp_path / "a.txt")
    assert done == ["sync", "replace", "sync"]
    assert (tmp_path / "a.txt").read_bytes() == b"newer" and os.listdir(tmp_path) == ["a.txt"]


def test_full_disk_leaves_only_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_file_atomically(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, "fsync", full)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        write_file_atomically(path, b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.txt"]


@needs_pipes
def test_writing_to_a_pipe_works_only_with_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "pipe.map"
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="cannot be written"):
        write_file_atomically(path, b"x")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_file_atomically(path, b"new")
    assert os.read(reader, 9) == b"new" and os.listdir(tmp_path) == ["pipe.map"]
    os.close(reader)
