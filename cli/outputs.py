"""Places that a command is to write to, looked at before it reads or writes anything else."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from agents.own_files import LOADED
from sim.files.disk import check_place, is_stream
from sim.params import ConfigError

_STREAMS = {"standard output": "stdout", "standard error": "stderr"}

Place = str | os.PathLike[str]


def check_outputs(outputs: Mapping[str, str | None], inputs: Iterable[Place]) -> None:
    """A ConfigError where an output is a file that the command reads, or another output, or cannot be written.

    `outputs`: the places by the options that name them; None where an option is not given.
    """
    given = [(option, path) for option, path in outputs.items() if path is not None]
    read = [*inputs, *(file.path for file in LOADED.values())]
    problems = []
    for number, (option, path) in enumerate(given):
        if any(_are_one(path, other) for other in read):
            problems.append(f"{option} {path}: expected a file that is not read here, got one that is")
            continue
        taken = [other for other, place in given[:number] if _are_one(path, place)]
        taken += [name for name, stream in _STREAMS.items() if _is_file_of(getattr(sys, stream), path)]
        if taken:
            problems.append(f"{option} {path}: expected a place of its own, got that of {taken[0]}")
            continue
        try:
            check_place(path)
        except ConfigError as error:
            problems += [f"{option} {text}" for text in error.problems]
    if problems:
        raise ConfigError(problems)


def _are_one(path: Place, other: Place) -> bool:
    """Whether two names lead to one file, by links too. Devices and pipes take from many."""
    if is_stream(path):
        return False
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(path, other)
    except OSError:  # one of them is not there yet
        return False


def _is_file_of(stream: TextIO, path: str) -> bool:
    try:
        return not is_stream(path) and os.path.samestat(os.stat(path), os.fstat(stream.fileno()))
    except (OSError, ValueError):  # it is not there yet, or the stream is no file of the system
        return False
