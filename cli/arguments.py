"""Arguments of the subcommands: errors come out as ConfigErrors, one line each, like any other bad input."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sim.movement import DIAGONAL, FOUR, RULE, WORDS, Movement
from sim.params import ConfigError, Param, did_you_mean
from sim.program import NAME


class Arguments(argparse.ArgumentParser):
    """An argument parser that raises instead of printing its usage and leaving."""

    def __init__(self, command: str, description: str, *, is_module: bool = False) -> None:
        """`is_module`: of a program for those who work on this one, begun as `python -m cli.<command>`."""
        prog = f"python -m cli.{command}" if is_module else f"{NAME} {command}"
        super().__init__(prog=prog, description=description, allow_abbrev=False)
        self._command = command

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"unrecognized arguments: (-\S*)", message)
        if unknown:
            message += did_you_mean(unknown.group(1), [o for a in self._actions for o in a.option_strings])
        raise ConfigError(f"{self._command}: {message}")


def run_module(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """What `python -m` does with a module of this folder: bad input is a line, as with the commands."""
    try:
        sys.exit(main(sys.argv[1:]))
    except ConfigError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def checked(param: Param) -> Callable[[str], Any]:
    """A converter for argparse that lets a Param decide."""

    def convert(text: str) -> Any:
        try:
            return param.parse(text)
        except ConfigError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def with_default(words: str, default: object) -> str:
    """The help of an option, and what holds where it is not given."""
    return f"{words} (default: {default:,})" if isinstance(default, int) else f"{words} (default: {default})"


def option(param: Param) -> dict[str, Any]:
    """What add_argument() takes for a parameter: its converter, its default and its help."""
    return {"type": checked(param), "default": param.default, "help": with_default(param.help, param.default)}


def folder(text: str) -> Path:
    """A folder to read from, which has to be there."""
    if not os.path.isdir(text):
        there = "a file" if os.path.exists(text) else "no such folder"
        raise argparse.ArgumentTypeError(f"expected a folder, got {there}: {text!r}")
    return Path(text)


MAPS = Path(__file__).resolve().parents[2] / "shared" / "maps"
"""Where benchmark maps lie beside a checkout: never copied into it, and they need not be there."""

FURTHER_MAPS = "a further folder of maps"


def add_maps(parser: Arguments, what: str) -> None:
    named = os.environ.get("BACKMOVE_MAPS", MAPS)
    words = f"{what}; the environment variable BACKMOVE_MAPS can name it, too"
    parser.add_argument("--maps", type=folder, default=named, metavar="DIR", help=words)


def add_movement(parser: Arguments) -> None:
    """The options that movement_of reads."""
    rules = "; ".join(f"{rule}: {words}" for rule, words in WORDS.items())
    parser.add_argument("--movement", type=checked(RULE), metavar="RULE", help=with_default(rules, RULE.default))
    diagonal = with_default(DIAGONAL.help, "the square root of 2")
    parser.add_argument("--diagonal", type=checked(DIAGONAL), metavar="C", help=diagonal)


def movement_of(given: argparse.Namespace) -> Movement:
    if given.movement == FOUR and given.diagonal is not None:
        raise ConfigError(f"--diagonal: goes with eight neighbours only, not with --movement {FOUR}")
    rule = RULE.default if given.movement is None else given.movement
    return Movement(str(rule), float(DIAGONAL.default if given.diagonal is None else given.diagonal))


def cell(text: str) -> tuple[int, int]:
    """A cell written X,Y."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*,\s*(\d{1,6})\s*", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a cell as X,Y, got {text!r}")
    return int(match[1]), int(match[2])
