"""Checks of the output paths of a command, before it reads or writes any other file."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from agents.own_files import LOADED_FILES
from files.disk import check_file_writable, is_pipe_or_device
from sim.params import ConfigError

# displayed name of each standard stream -> its name in the module sys
_STREAMS = {"standard output": "stdout", "standard error": "stderr"}

FilePath = str | os.PathLike[str]


def check_output_paths(outputs: Mapping[str, str | None], inputs: Iterable[FilePath]) -> None:
    """Check the output paths of a command.

    Args:
        outputs: The path of each output by its option, such as "--trace"; None if the option is not given.
        inputs: The paths of the files that the command reads.

    Raises:
        ConfigError: An output is also an input or another output, or cannot be written; lists all problems.
    """
    named_outputs = [(option, path) for option, path in outputs.items() if path is not None]
    read = [*inputs, *(file.path for file in LOADED_FILES.values())]
    problems = []
    for number, (option, path) in enumerate(named_outputs):
        if any(_are_same_file(path, other) for other in read):
            problems.append(f"{option} {path}: expected a file that is not an input as well, got an input")
            continue
        owners = [other for other, earlier in named_outputs[:number] if _are_same_file(path, earlier)]
        owners += [name for name, stream in _STREAMS.items() if _is_file_of_stream(getattr(sys, stream), path)]
        if owners:
            problems.append(f"{option} {path}: expected a file of its own, got the file of {owners[0]}")
            continue
        try:
            check_file_writable(path)
        except ConfigError as error:
            problems += [f"{option} {text}" for text in error.problems]
    if problems:
        raise ConfigError(problems)


def _are_same_file(path: FilePath, other: FilePath) -> bool:
    """Return whether two paths lead to the same file, also through links.

    Devices and pipes never count as the same file, because several outputs may write to one of them.
    """
    if is_pipe_or_device(path):
        return False
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(path, other)
    except OSError:  # one of the files does not exist yet
        return False


def _is_file_of_stream(stream: TextIO, path: str) -> bool:
    try:
        return not is_pipe_or_device(path) and os.path.samestat(os.stat(path), os.fstat(stream.fileno()))
    except (OSError, ValueError):  # the file does not exist yet, or the stream has no file descriptor
        return False
