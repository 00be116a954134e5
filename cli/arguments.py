"""Parsing of command-line arguments. A mistake raises a ConfigError with one line of text, like mistakes in files."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sim.movement import DIAGONAL_PARAM, FOUR_NEIGHBOURS, RULE_DESCRIPTIONS, RULE_PARAM, Movement
from sim.params import ConfigError, Param, did_you_mean_hint
from sim.system.program import PROGRAM_COMMAND


class CommandParser(argparse.ArgumentParser):
    """Argument parser that raises a ConfigError instead of printing its usage and exiting."""

    def __init__(self, command: str, description: str, *, module: str = "") -> None:
        """Create a parser.

        Args:
            command: The name of the command.
            description: The first line of the help of the command.
            module: The module to start as `python -m <module>`, for developers; "": `command` is one of main.py.
        """
        prog = f"python -m {module}" if module else f"{PROGRAM_COMMAND} {command}"
        super().__init__(prog=prog, description=description, allow_abbrev=False)
        self._command = command

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"unrecognized arguments: (-\S*)", message)
        if unknown:
            message += did_you_mean_hint(unknown.group(1), [o for a in self._actions for o in a.option_strings])
        raise ConfigError(f"{self._command}: {message}")


def run_module(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run the main function of a module as a program; a ConfigError is printed as a line and exits with code 2."""
    try:
        sys.exit(main(sys.argv[1:]))
    except ConfigError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def param_converter(param: Param) -> Callable[[str], Any]:
    """Return a converter for argparse that parses an argument as a value of `param` and checks its range."""

    def convert(text: str) -> Any:
        try:
            return param.parse_value(text)
        except ConfigError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def help_with_default(text: str, default: object) -> str:
    """Return the help text of an option, followed by its default in brackets."""
    return f"{text} (default: {default:,})" if isinstance(default, int) else f"{text} (default: {default})"


def argparse_arguments_of_param(param: Param) -> dict[str, Any]:
    """Return the keyword arguments of `add_argument` for a parameter: its converter, its default and its help."""
    return {
        "type": param_converter(param),
        "default": param.default,
        "help": help_with_default(param.help, param.default),
    }


def parse_existing_folder(text: str) -> Path:
    """Convert an argument to the path of an existing folder."""
    if not os.path.isdir(text):
        actual = "a file" if os.path.exists(text) else "no such folder"
        raise argparse.ArgumentTypeError(f"expected a folder, got {actual}: {text!r}")
    return Path(text)


BENCHMARK_MAPS = Path(__file__).resolve().parents[2] / "shared" / "maps"
"""Folder of benchmark maps next to a checkout; it is not part of the program and may be missing."""

FURTHER_MAPS_HELP = "another folder to search for maps"


def add_maps_option(parser: CommandParser, description: str) -> None:
    named = os.environ.get("BACKMOVE_MAPS", BENCHMARK_MAPS)
    help_text = f"{description}; the environment variable BACKMOVE_MAPS sets it as well"
    parser.add_argument("--maps", type=parse_existing_folder, default=named, metavar="DIR", help=help_text)


def add_movement_options(parser: CommandParser) -> None:
    """Add the options --movement and --diagonal, from which `movement_of_arguments` builds a movement rule."""
    rules = "; ".join(f"{rule}: {description}" for rule, description in RULE_DESCRIPTIONS.items())
    parser.add_argument(
        "--movement",
        type=param_converter(RULE_PARAM),
        metavar="RULE",
        help=help_with_default(rules, RULE_PARAM.default),
    )
    diagonal = help_with_default(DIAGONAL_PARAM.help, "the square root of 2")
    parser.add_argument("--diagonal", type=param_converter(DIAGONAL_PARAM), metavar="C", help=diagonal)


def movement_of_arguments(args: argparse.Namespace) -> Movement:
    if args.movement == FOUR_NEIGHBOURS and args.diagonal is not None:
        raise ConfigError(f"--diagonal: goes with eight neighbours only, not with --movement {FOUR_NEIGHBOURS}")
    rule = RULE_PARAM.default if args.movement is None else args.movement
    return Movement(str(rule), float(DIAGONAL_PARAM.default if args.diagonal is None else args.diagonal))


def parse_cell(text: str) -> tuple[int, int]:
    """Convert an argument of the form X,Y to the coordinates of a cell."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*,\s*(\d{1,6})\s*", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a cell as X,Y, got {text!r}")
    return int(match[1]), int(match[2])
