"""Option `--agent-file FILE`, which loads a user-defined agent; all commands accept it at any position."""

import sys
from collections.abc import Sequence
from pathlib import Path

from agents import own_files
from sim.params import ConfigError, escape_unprintable

AGENT_FILE_OPTION = "--agent-file"


def load_agent_files(arguments: Sequence[str]) -> list[str]:
    """Load the files of all `--agent-file` options and register their agents.

    Args:
        arguments: The arguments of the program.

    Returns:
        The other arguments.

    Raises:
        ConfigError: A file cannot be loaded, the user does not allow it to run, or two files have the same key.
    """
    files, remaining = _split_agent_file_arguments(arguments)
    paths: dict[str, Path] = {}
    for file in files:
        path = own_files.absolute_path(file)
        key = own_files.agent_key_of_file(path)
        if paths.setdefault(key, path) != path:
            raise ConfigError(f"{file}: got two files for the agent '{key}'; rename one, because its name is the key")
        ask_permission_to_run(file)
        own_files.load_agent_file(file)
    return remaining


def _split_agent_file_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files named by `--agent-file` options, and the other arguments."""
    files, remaining, words = [], [], iter(arguments)
    for word in words:
        option, is_joined, file = word.partition("=")
        if option != AGENT_FILE_OPTION:
            remaining.append(word)
            continue
        files.append(file if is_joined else next(words, ""))
        if not files[-1]:
            raise ConfigError(f"{AGENT_FILE_OPTION}: expected a file such as my_agent.py")
    return files, remaining


def ask_permission_to_run(file: str) -> None:
    """Ask the user for permission to run a file, unless this version of the file has been allowed before.

    Without a terminal the user cannot be asked; naming the file on the command line then counts as permission.

    Raises:
        ConfigError: The user did not allow the file to run.
    """
    if own_files.is_file_trusted(file):
        return
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        print(
            f"{escape_unprintable(file)} is a program: it can do anything on this computer that you can do.",
            file=sys.stderr,
        )
        print("Run it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise ConfigError(f"{file}: permission to run it was not given")
    own_files.store_file_trust(file)
