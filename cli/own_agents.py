"""`--agent-file FILE` before, between or after the words of any command: agents of the user's own."""

import sys
from collections.abc import Sequence
from pathlib import Path

from agents import own_files
from sim.params import ConfigError, printable

OPTION = "--agent-file"


def take_in(arguments: Sequence[str]) -> list[str]:
    """Run the files that a person has named, and put their agents beside ours. Returns the other arguments."""
    files, rest = _parted(arguments)
    places: dict[str, Path] = {}
    for file in files:
        place = own_files.place_of(file)
        key = own_files.key_of(place)
        if places.setdefault(key, place) != place:
            raise ConfigError(f"{file}: got two files for the agent '{key}', which is called as its file is")
        ask(file)
        own_files.load(file)
    return rest


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files after each option, wherever it stands, and the rest."""
    files, rest, words = [], [], iter(arguments)
    for word in words:
        option, is_joined, file = word.partition("=")
        if option != OPTION:
            rest.append(word)
            continue
        files.append(file if is_joined else next(words, ""))
        if not files[-1]:
            raise ConfigError(f"{OPTION}: expected a file such as my_agent.py")
    return files, rest


def ask(file: str) -> None:
    """One question for each state of a file. Where nobody can answer, naming it on the command line is the answer."""
    if own_files.is_trusted(file):
        return
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        print(f"{printable(file)} is a program: it may do anything that you may do.", file=sys.stderr)
        print("Run it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise ConfigError(f"{file}: not run")
    own_files.trust(file)
